/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: the ring of a consumer
 */
#ifndef _KERNEL_UTRACE_BRANCH_RING_H
#define _KERNEL_UTRACE_BRANCH_RING_H

#include <linux/types.h>
#include <linux/utrace_branch.h>

#include <asm/page.h>

#include "buffer.h"

struct bts_consumer;
struct file;
struct mem_cgroup;
struct utrace_map;
struct utrace_map_tail;
struct vm_area_struct;

/* Offset of the records in bts_ring.pages, in bytes. */
#define BTS_RING_DATA	PAGE_SIZE

/**
 * struct bts_ring - the records of a consumer
 * @pages: an unlinked shmem file, whose pages can be swapped out: one page for
 *	@shared, then @size records; constant
 * @memcg: memory cgroup that is charged for @pages, counted; constant
 * @size: number of records, a power of 2; constant
 * @overwrite: a full ring overwrites its oldest records; constant
 * @head: records ever written
 * @tail: number of the oldest record that was neither read nor overwritten
 * @next: number of the next record for the reader; less than @tail if records
 *	were overwritten
 * @owner: if @overwrite, the last %UTRACE_BRANCH_TASK before @tail
 * @told: the reader has read @owner
 * @lost: records that threads could not write before they exited, and that were
 *	not reported to the reader yet
 * @lost_ever: records that were lost, whether reported or not
 * @dropped: records ever overwritten
 * @failed: the last write failed for lack of memory
 * @shared: the first page of @pages, counted, which the kernel writes for a
 *	program that maps the ring.  NULL: no program may map it.  Constant
 * @told_by: a page that this program may write at any time; constant
 *
 * Members that are not constant are written under bts_consumer.lock.
 */
struct bts_ring {
	struct file *pages;
	struct mem_cgroup *memcg;
	u64 size;
	bool overwrite;
	u64 head;
	u64 tail;
	u64 next;
	struct utrace_branch owner;
	bool told;
	u64 lost;
	u64 lost_ever;
	u64 dropped;
	bool failed;
	struct utrace_map *shared;
	struct utrace_map_tail *told_by;
};

/**
 * enum bts_piece_kind - kinds of records that one read returns
 * @BTS_PIECE_GAP: the number of records that were overwritten
 * @BTS_PIECE_OWNER: the task that the following records belong to
 * @BTS_PIECE_RECORDS: records
 * @BTS_PIECE_LOST: the number of lost records, after all records
 */
enum bts_piece_kind {
	BTS_PIECE_GAP,
	BTS_PIECE_OWNER,
	BTS_PIECE_RECORDS,
	BTS_PIECE_LOST,
};

/**
 * struct bts_piece - records that a reader copies in one step
 * @records: memory for BTS_PIECE records
 * @n: number of records that were copied
 * @kind: enum bts_piece_kind
 * @tail: bts_ring.tail when they were copied
 * @look: for a consumer of a CPU, used instead of @kind and @tail
 */
struct bts_piece {
	struct utrace_branch *records;
	unsigned int n;
	u8 kind;
	u64 tail;
	struct bts_look look;
};

/* One page of records. */
#define BTS_PIECE	170U

/* ring.c */
int utrace_bts_ring_init(struct bts_ring *ring, u64 records, bool overwrite);
void utrace_bts_ring_free(struct bts_ring *ring);
unsigned int utrace_bts_ring_write(struct bts_ring *ring,
				   const struct utrace_branch *records,
				   unsigned int n);
bool utrace_bts_ring_has(const struct bts_ring *ring);
int utrace_bts_ring_look(struct bts_ring *ring, struct bts_piece *piece,
			 unsigned int n);
void utrace_bts_ring_take(struct bts_ring *ring, const struct bts_piece *piece);
void utrace_bts_ring_lose(struct bts_ring *ring, u64 n);

/* map.c */
int utrace_bts_ring_map(struct bts_consumer *consumer,
			struct vm_area_struct *vma);
void utrace_bts_ring_unshare(struct bts_ring *ring);
int utrace_bts_ring_share(struct bts_ring *ring);
u64 utrace_bts_ring_map_size(const struct bts_ring *ring);
void utrace_bts_ring_sync(struct bts_ring *ring);
void utrace_bts_ring_publish(struct bts_ring *ring);

#endif /* _KERNEL_UTRACE_BRANCH_RING_H */
