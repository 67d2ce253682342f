// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the ring of a consumer
 *
 * The ring is a file in memory (shmem) that no program has a name of.  Traced
 * threads write and readers read it page by page, where both may sleep.  So its
 * pages can be swapped out, and a user may have a large ring without locking
 * memory.  The pages are charged to the memory cgroup of the process that made
 * the consumer, whichever thread writes.
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

#include "bts.h"

/* Records of a ring by default, and at most: 1.5 MiB, 24 GiB. */
#define BTS_RING_DEFAULT	(1ULL << 16)
#define BTS_RING_MAX		(1ULL << 30)
/* At least two stages, so that a thread that waits for room finds some. */
#define BTS_RING_MIN		(1ULL << 9)

/**
 * utrace_bts_ring_init() - make a ring
 * @ring: filled in
 * @records: number of records, 0 for the default
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the ring is there
 * * -EINVAL - there are too many records
 * * -ENOMEM - there is no memory
 */
int utrace_bts_ring_init(struct bts_ring *ring, u64 records)
{
	struct file *pages;

	if (records > BTS_RING_MAX)
		return -EINVAL;
	records = roundup_pow_of_two(max(records ?: BTS_RING_DEFAULT,
					 BTS_RING_MIN));
	pages = shmem_kernel_file_setup("utrace-branches",
					records * sizeof(struct utrace_branch),
					VM_NORESERVE);
	if (IS_ERR(pages))
		return PTR_ERR(pages);
	*ring = (struct bts_ring){
		.pages = pages,
		.memcg = get_mem_cgroup_from_mm(current->mm),
		.size = records,
	};
	return 0;
}

/**
 * utrace_bts_ring_free() - free a ring
 * @ring: a ring that nobody uses any more
 *
 * Context: Any but interrupts.
 */
void utrace_bts_ring_free(struct bts_ring *ring)
{
	mem_cgroup_put(ring->memcg);
	fput(ring->pages);
}

/* Copy @size bytes at byte @at of the file, within one page. */
static int ring_copy_page(struct bts_ring *ring, loff_t at, void *mem,
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

/* Copy @n records from or to the ring at number @first. */
static int ring_copy(struct bts_ring *ring, u64 first,
		     struct utrace_branch *records, unsigned int n, bool write)
{
	loff_t end = ring->size * sizeof(*records);
	loff_t at = (first & (ring->size - 1)) * sizeof(*records);
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
		at = at + size == end ? 0 : at + size;
	}
	set_active_memcg(old);
	return ret;
}

/**
 * utrace_bts_ring_write() - write records
 * @ring: the ring
 * @overwrite: the oldest records make room
 * @records: the records
 * @n: number of records, less than the ring has room for in all
 *
 * Context: Process context, with bts_consumer.lock held; may sleep for memory.
 * Return: number of records that were written; less than @n if there is no more
 * room, 0 if there is no memory.
 */
unsigned int utrace_bts_ring_write(struct bts_ring *ring, bool overwrite,
				   const struct utrace_branch *records,
				   unsigned int n)
{
	u64 room = ring->size - (ring->head - ring->tail);

	if (!overwrite)
		n = min_t(u64, n, room);
	if (!n)
		return 0;
	ring->failed = ring_copy(ring, ring->head, (void *)records, n, true);
	if (ring->failed)
		return 0;
	WRITE_ONCE(ring->head, ring->head + n);
	if (n > room)
		WRITE_ONCE(ring->tail, ring->head - ring->size);
	return n;
}

/**
 * utrace_bts_ring_look() - copy the next records out of the ring
 * @ring: the ring
 * @records: memory of the kernel
 * @n: number of records at most
 *
 * Context: Process context, with bts_consumer.lock held; may sleep for memory.
 * Return: number of records, or -ENOMEM or -EIO if they cannot be read.
 */
int utrace_bts_ring_look(struct bts_ring *ring, struct utrace_branch *records,
			 unsigned int n)
{
	int ret;

	n = min_t(u64, n, ring->head - ring->tail);
	if (!n)
		return 0;
	ret = ring_copy(ring, ring->tail, records, n, false);
	return ret ?: (int)n;
}

/**
 * utrace_bts_ring_take() - the reader has got records
 * @ring: the ring
 * @end: number of the record behind the last one; others may have been written
 *	over some of these meanwhile
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_bts_ring_take(struct bts_ring *ring, u64 end)
{
	WRITE_ONCE(ring->tail, max(ring->tail, end));
}
