// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: rings that programs map
 *
 * There are two areas.  One is the file of the ring: a page that the kernel writes
 * for the program, then the records.  The other one is a page that the program
 * writes, at any time and whatever it likes, so the kernel takes from it only a
 * number of records that the program may have read.
 *
 * The areas are not copied by fork(), so that a child does not move the tail of
 * its parent.  They stay after close(2), and with the page of the tail the consumer.
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
	*ring->shared = (struct utrace_map){
		.header_size = sizeof(struct utrace_map),
		.ring_stride = sizeof(struct utrace_map_ring),
		.rings = 1,
		.unit = sizeof(struct utrace_branch),
		.data_offset = BTS_RING_DATA,
		.data_size = ring->size * sizeof(struct utrace_branch),
	};
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
 * Map the file; no later mprotect() makes it writable.  remap_file_pages(2) would map it
 * anew without coming here, and is refused without VM_SHARED.
 */
static int ring_map_file(struct bts_ring *ring, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (vma->vm_end - vma->vm_start != utrace_bts_ring_map_size(ring))
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTCOPY, VM_SHARED | VM_MAYWRITE | VM_MAYEXEC);
	vma_set_file(vma, ring->pages);
	return call_mmap(ring->pages, vma);
}

static int ring_map_tail(struct bts_ring *ring, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (!(vma->vm_flags & VM_WRITE) ||
	    vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	/* madvise() does not have fork() copy it, see dev/map.c. */
	vm_flags_mod(vma, VM_DONTCOPY | VM_IO, VM_MAYEXEC);
	return vm_insert_page(vma, vma->vm_start, virt_to_page(ring->told_by));
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
 *   private, the tail is not to be written, or the consumer does without
 * * -EPERM - the program wants to write to the records, or to execute
 * * -ENOMEM - there is no memory
 */
int utrace_bts_ring_map(struct bts_consumer *consumer,
			struct vm_area_struct *vma)
{
	struct bts_ring *ring = &consumer->ring;

	if (!(vma->vm_flags & VM_MAYSHARE) || !ring->shared)
		return -EINVAL;
	/* The records of a large ring are where the tails of others would be. */
	switch (vma->vm_pgoff) {
	case UTRACE_MAP_RINGS >> PAGE_SHIFT:
		return ring_map_file(ring, vma);
	case UTRACE_MAP_TAILS >> PAGE_SHIFT:
		return ring_map_tail(ring, vma);
	default:
		return -EINVAL;
	}
}
