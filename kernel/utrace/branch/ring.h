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

/* Offset of the records in branch_ring.pages, in bytes. */
#define BRANCH_RING_DATA	PAGE_SIZE

/**
 * struct branch_ring - the records of a consumer
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
 * @owner_read: the reader has read @owner
 * @lost: records that threads could not write before they exited, and that were
 *	not reported to the reader yet
 * @lost_ever: records that were lost, whether reported or not
 * @dropped: records ever overwritten
 * @failed: the last write failed for lack of memory
 * @shared: the first page of @pages, counted, which the kernel writes for a
 *	program that maps the ring.  NULL: no program may map it.  Constant
 * @tail_page: a page that this program may write at any time; constant
 *
 * Members that are not constant are written under bts_consumer.lock.
 */
struct branch_ring {
	struct file *pages;
	struct mem_cgroup *memcg;
	u64 size;
	bool overwrite;
	u64 head;
	u64 tail;
	u64 next;
	struct utrace_branch owner;
	bool owner_read;
	u64 lost;
	u64 lost_ever;
	u64 dropped;
	bool failed;
	struct utrace_map *shared;
	struct utrace_map_tail *tail_page;
};

/**
 * enum branch_piece_kind - kinds of records that one read returns
 * @BRANCH_PIECE_GAP: the number of records that were overwritten
 * @BRANCH_PIECE_OWNER: the task that the following records belong to
 * @BRANCH_PIECE_RECORDS: records
 * @BRANCH_PIECE_LOST: the number of lost records, after all records
 */
enum branch_piece_kind {
	BRANCH_PIECE_GAP,
	BRANCH_PIECE_OWNER,
	BRANCH_PIECE_RECORDS,
	BRANCH_PIECE_LOST,
};

/**
 * struct branch_piece - records that a reader copies in one step
 * @records: memory for BRANCH_PIECE records
 * @n: number of records that were copied
 * @kind: enum branch_piece_kind
 * @tail: branch_ring.tail when they were copied
 * @cursor: for a consumer of a CPU, used instead of @kind and @tail
 */
struct branch_piece {
	struct utrace_branch *records;
	unsigned int n;
	u8 kind;
	u64 tail;
	struct branch_cursor cursor;
};

/* One page of records. */
#define BRANCH_PIECE	170U

/* ring.c */
int utrace_branch_ring_init(struct branch_ring *ring, u64 records,
			    bool overwrite);
void utrace_branch_ring_free(struct branch_ring *ring);
unsigned int utrace_branch_ring_write(struct branch_ring *ring,
				      const struct utrace_branch *records,
				      unsigned int n);
bool utrace_branch_ring_has(const struct branch_ring *ring);
int utrace_branch_ring_copy(struct branch_ring *ring,
			    struct branch_piece *piece, unsigned int n);
void utrace_branch_ring_take(struct branch_ring *ring,
			     const struct branch_piece *piece);
void utrace_branch_ring_lose(struct branch_ring *ring, u64 n);

/* map.c */
int utrace_branch_ring_map(struct bts_consumer *consumer,
			   struct vm_area_struct *vma);
void utrace_branch_ring_unshare(struct branch_ring *ring);
int utrace_branch_ring_share(struct branch_ring *ring);
u64 utrace_branch_ring_map_size(const struct branch_ring *ring);
void utrace_branch_ring_sync(struct branch_ring *ring);
void utrace_branch_ring_publish(struct branch_ring *ring);

#endif /* _KERNEL_UTRACE_BRANCH_RING_H */
