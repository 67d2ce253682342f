// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the ring of a consumer
 *
 * The ring is an unlinked shmem file, which begins with a page for map.c.
 * Traced threads write it and readers read it page by page, where both may
 * sleep.  So its pages can be swapped out, and a user may have a large ring
 * without locking memory.  The pages are charged to the memory cgroup of the
 * process that made the consumer, whichever thread writes.  A program may map
 * the ring (map.c).
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include "ring.h"

/* Default and largest number of records of a ring: 1.5 MiB, 24 GiB. */
#define BRANCH_RING_DEFAULT	(1ULL << 16)
#define BRANCH_RING_MAX		(1ULL << 30)
/* At least two stages, so that a thread that has waited finds room. */
#define BRANCH_RING_MIN		(1ULL << 9)

/**
 * utrace_branch_ring_init() - initialize a ring
 * @ring: filled in
 * @records: number of records, 0 for the default
 * @overwrite: a full ring overwrites its oldest records
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - success
 * * -EINVAL - @records is too large
 * * -ENOMEM - out of memory
 */
int utrace_branch_ring_init(struct branch_ring *ring, u64 records,
			    bool overwrite)
{
	struct file *pages;

	if (records > BRANCH_RING_MAX)
		return -EINVAL;
	records = roundup_pow_of_two(max(records ?: BRANCH_RING_DEFAULT,
					 BRANCH_RING_MIN));
	pages = shmem_kernel_file_setup("utrace-branches",
					BRANCH_RING_DATA + records *
					sizeof(struct utrace_branch),
					VM_NORESERVE);
	if (IS_ERR(pages))
		return PTR_ERR(pages);
	*ring = (struct branch_ring){
		.pages = pages,
		.memcg = get_mem_cgroup_from_mm(current->mm),
		.size = records,
		.overwrite = overwrite,
		.owner_read = true,
	};
	return 0;
}

/**
 * utrace_branch_ring_free() - free a ring
 * @ring: a ring that nobody uses
 *
 * Context: Any but interrupts.
 */
void utrace_branch_ring_free(struct branch_ring *ring)
{
	utrace_branch_ring_unshare(ring);
	mem_cgroup_put(ring->memcg);
	fput(ring->pages);
}

/* Copy @size bytes at byte @at of the file, within one page. */
static int ring_copy_page(struct branch_ring *ring, loff_t at, void *mem,
			  size_t size, bool write)
{
	struct page *page = shmem_read_mapping_page(ring->pages->f_mapping,
						    at >> PAGE_SHIFT);

	if (IS_ERR(page))
		return PTR_ERR(page);
	if (write) {
		memcpy_to_page(page, offset_in_page(at), mem, size);
		set_page_dirty_lock(page);
	} else {
		memcpy_from_page(mem, page, offset_in_page(at), size);
	}
	put_page(page);
	return 0;
}

/* Copy @n records from or to the ring, starting with number @first. */
static int ring_copy(struct branch_ring *ring, u64 first,
		     struct utrace_branch *records, unsigned int n, bool write)
{
	loff_t end = BRANCH_RING_DATA + ring->size * sizeof(*records);
	loff_t at = BRANCH_RING_DATA +
		    (first & (ring->size - 1)) * sizeof(*records);
	size_t left = n * sizeof(*records), size;
	struct mem_cgroup *old;
	void *mem = records;
	int ret = 0;

	old = set_active_memcg(ring->memcg);
	while (left && !ret) {
		size = min3(left, PAGE_SIZE - offset_in_page(at),
			    (size_t)(end - at));
		ret = ring_copy_page(ring, at, mem, size, write);
		mem += size;
		left -= size;
		at = at + size == end ? BRANCH_RING_DATA : at + size;
	}
	set_active_memcg(old);
	return ret;
}

/* Find the last TASK record in @records; NULL if there is none. */
static const struct utrace_branch *
ring_find_owner(const struct utrace_branch *records, unsigned int n)
{
	while (n--)
		if (UTRACE_BRANCH_TYPE(records[n].info) == UTRACE_BRANCH_TASK)
			return &records[n];
	return NULL;
}

/* Drop the oldest @n records, and remember the owner of the next one. */
static int ring_drop(struct branch_ring *ring, u64 n)
{
	const struct utrace_branch *owner;
	struct utrace_branch some[16];
	unsigned int part;
	int ret;

	for (; n; n -= part) {
		part = min(n, ARRAY_SIZE(some));
		ret = ring_copy(ring, ring->tail, some, part, false);
		if (ret)
			return ret;
		owner = ring_find_owner(some, part);
		if (owner) {
			ring->owner = *owner;
			ring->owner_read = false;
		}
		WRITE_ONCE(ring->tail, ring->tail + part);
		ring->dropped += part;
	}
	return 0;
}

/**
 * utrace_branch_ring_write() - write records
 * @ring: the ring
 * @records: the records
 * @n: number of records, less than the size of the ring
 *
 * Context: Process context, with bts_consumer.lock held; may sleep for memory.
 * Return: number of records that were written; less than @n if the ring is
 * full, 0 if there is no memory.
 */
unsigned int utrace_branch_ring_write(struct branch_ring *ring,
				      const struct utrace_branch *records,
				      unsigned int n)
{
	u64 room;

	utrace_branch_ring_sync(ring);
	room = ring->size - (ring->head - ring->tail);
	ring->failed = false;
	if (n > room && ring->overwrite)
		ring->failed = ring_drop(ring, n - room);
	else
		n = min(n, room);
	if (!n)
		return 0;
	if (!ring->failed)
		ring->failed = ring_copy(ring, ring->head, (void *)records, n,
					 true);
	if (ring->failed)
		return 0;
	WRITE_ONCE(ring->head, ring->head + n);
	utrace_branch_ring_publish(ring);
	return n;
}

/**
 * utrace_branch_ring_lose() - count records that were not written
 * @ring: the ring
 * @n: number of records
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_branch_ring_lose(struct branch_ring *ring, u64 n)
{
	WRITE_ONCE(ring->lost, ring->lost + n);
	ring->lost_ever += n;
	utrace_branch_ring_publish(ring);
}

/**
 * utrace_branch_ring_has() - check whether there is something to read
 * @ring: the ring
 *
 * Context: Any.
 * Return: true if utrace_branch_ring_copy() would return something.
 */
bool utrace_branch_ring_has(const struct branch_ring *ring)
{
	u64 next = READ_ONCE(ring->next);

	return READ_ONCE(ring->head) != next ||
	       (READ_ONCE(ring->lost) && !ring->shared);
}

static enum branch_piece_kind ring_next_kind(const struct branch_ring *ring)
{
	if (ring->next != ring->tail)
		return BRANCH_PIECE_GAP;
	if (!ring->owner_read)
		return BRANCH_PIECE_OWNER;
	return ring->head != ring->tail ? BRANCH_PIECE_RECORDS :
					  BRANCH_PIECE_LOST;
}

/**
 * utrace_branch_ring_copy() - copy the next records without consuming them
 * @ring: the ring
 * @piece: filled in except for the pointer to its memory
 * @n: maximum number of records, at least 1
 *
 * Context: Process context, with bts_consumer.lock held; may sleep for memory.
 * Return: number of records, or -ENOMEM or -EIO if they cannot be swapped in.
 */
int utrace_branch_ring_copy(struct branch_ring *ring,
			    struct branch_piece *piece, unsigned int n)
{
	int ret = 0;

	piece->kind = ring_next_kind(ring);
	piece->tail = ring->tail;
	piece->n = 1;
	switch (piece->kind) {
	case BRANCH_PIECE_GAP:
		piece->records[0] =
			utrace_branch_loss_record(UTRACE_BRANCH_LOST,
						  ring->tail - ring->next,
						  UTRACE_LOSS_OVERWRITTEN);
		break;
	case BRANCH_PIECE_OWNER:
		piece->records[0] = ring->owner;
		break;
	case BRANCH_PIECE_RECORDS:
		piece->n = min3((u64)n, (u64)BRANCH_PIECE,
				ring->head - ring->tail);
		ret = ring_copy(ring, ring->tail, piece->records, piece->n,
				false);
		break;
	case BRANCH_PIECE_LOST:
		piece->records[0] =
			utrace_branch_loss_record(UTRACE_BRANCH_LOST,
						  ring->lost, UTRACE_LOSS_FULL);
		piece->n = !!ring->lost;
		break;
	}
	return ret ?: (int)piece->n;
}

/* Consume records, some of which may have been overwritten since the copy. */
static void ring_take_records(struct branch_ring *ring,
			      const struct branch_piece *piece)
{
	const struct utrace_branch *owner;

	WRITE_ONCE(ring->next, piece->tail + piece->n);
	if (ring->tail > ring->next)
		return;
	WRITE_ONCE(ring->tail, ring->next);
	if (!ring->overwrite)
		return;
	owner = ring_find_owner(piece->records, piece->n);
	if (!owner)
		return;
	ring->owner = *owner;
	ring->owner_read = true;
}

/**
 * utrace_branch_ring_take() - consume the records that were copied
 * @ring: the ring
 * @piece: from utrace_branch_ring_copy(); threads may have written since then
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_branch_ring_take(struct branch_ring *ring,
			     const struct branch_piece *piece)
{
	switch (piece->kind) {
	case BRANCH_PIECE_GAP:
		WRITE_ONCE(ring->next, piece->tail);
		break;
	case BRANCH_PIECE_OWNER:
		ring->owner_read = !memcmp(&ring->owner, piece->records,
					   sizeof(ring->owner));
		break;
	case BRANCH_PIECE_RECORDS:
		ring_take_records(ring, piece);
		break;
	case BRANCH_PIECE_LOST:
		WRITE_ONCE(ring->lost, ring->lost - piece->records[0].from);
		break;
	}
}
