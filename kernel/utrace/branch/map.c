// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: rings that programs map
 *
 * The area of the rings is the shmem file of the ring: a page that the kernel
 * writes for the program, then the records.  The area of the tails is one page.
 * The program may write anything there, so the kernel accepts from it only a
 * number of records that the program can have read.
 *
 * Mappings stay valid after close(2).  A mapping of the tails keeps the
 * consumer, since it refers to the consumer's file.
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
#include "consumer.h"
#include "ring.h"

static struct utrace_map_ring *ring_head(const struct branch_ring *ring)
{
	return (void *)(ring->shared + 1);
}

/**
 * utrace_branch_ring_sync() - read the tail that a program has written
 * @ring: the ring, mapped or not
 *
 * A tail before the current one, or beyond the head, is ignored.
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_branch_ring_sync(struct branch_ring *ring)
{
	u64 tail;

	if (!ring->tail_page)
		return;
	/* The program has read all records before it, see above. */
	tail = smp_load_acquire(&ring->tail_page->tail);
	if (tail - ring->tail > ring->head - ring->tail)
		return;
	WRITE_ONCE(ring->tail, tail);
	WRITE_ONCE(ring->next, tail);
}

/**
 * utrace_branch_ring_publish() - show a program the new head of the ring
 * @ring: the ring, mapped or not
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_branch_ring_publish(struct branch_ring *ring)
{
	if (!ring->shared)
		return;
	WRITE_ONCE(ring_head(ring)->lost, ring->lost);
	/* After the records; pairs with the program's acquire, see above. */
	smp_store_release(&ring_head(ring)->head, ring->head);
}

/* Get the first page of the file, with a reference that keeps it in memory. */
static struct page *ring_header(struct branch_ring *ring)
{
	struct mem_cgroup *old = set_active_memcg(ring->memcg);
	struct page *page;

	/* Not in high memory, and not where it would block page migration. */
	page = shmem_read_mapping_page_gfp(ring->pages->f_mapping, 0,
					   GFP_KERNEL);
	set_active_memcg(old);
	return page;
}

/**
 * utrace_branch_ring_share() - allow programs to map a ring
 * @ring: a continuous ring, which is still empty
 *
 * Context: Process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int utrace_branch_ring_share(struct branch_ring *ring)
{
	struct utrace_map_tail *tail_page;
	struct page *page;

	tail_page = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!tail_page)
		return -ENOMEM;
	page = ring_header(ring);
	if (IS_ERR(page)) {
		free_page((unsigned long)tail_page);
		return -ENOMEM;
	}
	set_page_dirty_lock(page);
	ring->shared = page_address(page);
	ring->tail_page = tail_page;
	utrace_map_init(ring->shared, 1, sizeof(struct utrace_branch),
			BRANCH_RING_DATA,
			ring->size * sizeof(struct utrace_branch));
	return 0;
}

/**
 * utrace_branch_ring_unshare() - free the pages for programs that map a ring
 * @ring: a ring that nobody uses; existing mappings keep their pages
 *
 * Context: Any.
 */
void utrace_branch_ring_unshare(struct branch_ring *ring)
{
	if (!ring->shared)
		return;
	put_page(virt_to_page(ring->shared));
	free_page((unsigned long)ring->tail_page);
}

/**
 * utrace_branch_ring_map_size() - size of the area of the rings, in bytes
 * @ring: the ring
 *
 * Context: Any.
 * Return: a multiple of the page size; 0 if no program may map the ring.
 */
u64 utrace_branch_ring_map_size(const struct branch_ring *ring)
{
	if (!ring->shared)
		return 0;
	return BRANCH_RING_DATA + ring->size * sizeof(struct utrace_branch);
}

/*
 * Map the file.  VM_SHARED is cleared since remap_file_pages(2), which refuses
 * mappings without it, would map the file again without the checks here.
 */
static int ring_map_file(struct branch_ring *ring, struct vm_area_struct *vma)
{
	vm_flags_clear(vma, VM_SHARED);
	vma_set_file(vma, ring->pages);
	return call_mmap(ring->pages, vma);
}

/**
 * utrace_branch_ring_map() - map an area of a ring
 * @consumer: the consumer that owns the ring
 * @vma: the new mapping
 *
 * Context: Process context, under mmap_lock; may sleep.
 * Return:
 * * 0 - the area is mapped
 * * -EINVAL - there is no such area, the mapping has another size or is
 *   private, the tail is not writable, or the consumer was made without
 *   %UTRACE_BRANCHES_F_MAPPED
 * * -EPERM - the mapping of the records is writable, or a mapping is executable
 * * -ENOMEM - out of memory
 */
int utrace_branch_ring_map(struct bts_consumer *consumer,
			   struct vm_area_struct *vma)
{
	struct branch_ring *ring = &consumer->ring;
	int area;

	if (!ring->shared)
		return -EINVAL;
	area = utrace_map_area(vma, utrace_branch_ring_map_size(ring),
			       PAGE_SIZE);
	if (area < 0)
		return area;
	if (area == UTRACE_AREA_RINGS)
		return ring_map_file(ring, vma);
	return vm_insert_page(vma, vma->vm_start,
			      virt_to_page(ring->tail_page));
}
