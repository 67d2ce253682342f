// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: rings that programs map
 *
 * The area of the rings is the file of the ring: a page that the kernel writes for
 * the program, then the records.  That of the tails is a page.  The program writes
 * there whatever it likes, so the kernel takes from it only a number of records that
 * the program may have read.
 *
 * The areas stay after close(2), and with the page of the tail the consumer.
 *
 *	kernel (bts_consumer.lock)	program
 *	write records			load @head, acquire
 *	store @head, release		read records up to @head
 *	load @tail, acquire		store @tail, release
 *	write records up to @tail
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include "../map.h"
#include "bts.h"

static struct utrace_map_ring *ring_head(const struct bts_ring *ring)
{
	return (void *)(ring->shared + 1);
}

/**
 * utrace_bts_ring_sync() - learn how far a program has read
 * @ring: the ring, mapped or not
 *
 * A tail that is older than the last one, or beyond the head, is no tail.
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_bts_ring_sync(struct bts_ring *ring)
{
	u64 tail;

	if (!ring->told_by)
		return;
	/* The program has read all before it.  See above. */
	tail = smp_load_acquire(&ring->told_by->tail);
	if (tail - ring->tail > ring->head - ring->tail)
		return;
	WRITE_ONCE(ring->tail, tail);
	WRITE_ONCE(ring->next, tail);
}

/**
 * utrace_bts_ring_publish() - tell a program what there is to read
 * @ring: the ring, mapped or not
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_bts_ring_publish(struct bts_ring *ring)
{
	if (!ring->shared)
		return;
	WRITE_ONCE(ring_head(ring)->lost, ring->lost);
	/* Behind the records.  See above. */
	smp_store_release(&ring_head(ring)->head, ring->head);
}

/* The first page of the file, with a reference: it stays in memory. */
static struct page *ring_header(struct bts_ring *ring)
{
	struct mem_cgroup *old = set_active_memcg(ring->memcg);
	struct page *page;

	/* Neither in high memory nor where it could hinder migration. */
	page = shmem_read_mapping_page_gfp(ring->pages->f_mapping, 0,
					   GFP_KERNEL);
	set_active_memcg(old);
	return page;
}

/**
 * utrace_bts_ring_share() - let programs map a ring
 * @ring: a ring that keeps all records, and has none yet
 *
 * Context: Process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int utrace_bts_ring_share(struct bts_ring *ring)
{
	struct utrace_map_tail *told_by = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	struct page *page;

	if (!told_by)
		return -ENOMEM;
	page = ring_header(ring);
	if (IS_ERR(page)) {
		free_page((unsigned long)told_by);
		return -ENOMEM;
	}
	set_page_dirty_lock(page);
	ring->shared = page_address(page);
	ring->told_by = told_by;
	utrace_map_init(ring->shared, 1, sizeof(struct utrace_branch),
			BTS_RING_DATA, ring->size * sizeof(struct utrace_branch));
	return 0;
}

/**
 * utrace_bts_ring_unshare() - drop the pages of a ring that may be mapped
 * @ring: a ring that nobody uses any more; a mapping keeps the pages it has
 *
 * Context: Any.
 */
void utrace_bts_ring_unshare(struct bts_ring *ring)
{
	if (!ring->shared)
		return;
	put_page(virt_to_page(ring->shared));
	free_page((unsigned long)ring->told_by);
}

/**
 * utrace_bts_ring_map_size() - bytes of the area that can be mapped to read
 * @ring: the ring
 *
 * Context: Any.
 * Return: a multiple of the size of a page; 0: no program may map the ring.
 */
u64 utrace_bts_ring_map_size(const struct bts_ring *ring)
{
	if (!ring->shared)
		return 0;
	return BTS_RING_DATA + ring->size * sizeof(struct utrace_branch);
}

/*
 * Map the file.  remap_file_pages(2) would map the file again without the checks here.
 * It refuses a mapping without VM_SHARED.
 */
static int ring_map_file(struct bts_ring *ring, struct vm_area_struct *vma)
{
	vm_flags_clear(vma, VM_SHARED);
	vma_set_file(vma, ring->pages);
	return call_mmap(ring->pages, vma);
}

/**
 * utrace_bts_ring_map() - map an area of a ring
 * @consumer: the consumer that has the ring
 * @vma: the mapping to be
 *
 * Context: Process context, under mmap_lock; may sleep.
 * Return:
 * * 0 - the area is mapped
 * * -EINVAL - there is no such area, its size is another one, the mapping is
 *   private, the tail is not to be written, or the consumer has no
 *   %UTRACE_BRANCHES_F_MAPPED
 * * -EPERM - the program wants to write to the records, or to execute
 * * -ENOMEM - there is no memory
 */
int utrace_bts_ring_map(struct bts_consumer *consumer,
			struct vm_area_struct *vma)
{
	struct bts_ring *ring = &consumer->ring;
	int area;

	if (!ring->shared)
		return -EINVAL;
	area = utrace_map_area(vma, utrace_bts_ring_map_size(ring), PAGE_SIZE);
	if (area < 0)
		return area;
	if (area == UTRACE_AREA_RINGS)
		return ring_map_file(ring, vma);
	return vm_insert_page(vma, vma->vm_start, virt_to_page(ring->told_by));
}
