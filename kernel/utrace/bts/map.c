// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: rings that programs map
 *
 * There are three areas: the records, which are the pages of the ring itself, and
 * a page each for what the kernel and the program tell one another.  The program
 * writes its page at any time and whatever it likes, so the kernel takes from it
 * only a number of records that the program may have read.
 *
 * The areas are not copied by fork(), so that a child does not move the tail of
 * its parent.  They stay after close(2), and with the two pages the consumer.
 *
 *	kernel (bts_consumer.lock)	program
 *	write records			load @head, acquire
 *	store @head, release		read records up to @head
 *	load @tail, acquire		store @tail, release
 *	write records up to @tail
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>

#include "bts.h"

static_assert(sizeof(struct utrace_branch_head) == 64);
static_assert(sizeof(struct utrace_branch_tail) == 64);

/**
 * utrace_bts_ring_is_mapped() - does a program read the ring from memory?
 * @ring: the ring
 *
 * Context: Any.
 * Return: true if so; then it is true for good.
 */
bool utrace_bts_ring_is_mapped(const struct bts_ring *ring)
{
	return READ_ONCE(ring->told_by);
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
	WRITE_ONCE(ring->shared->lost, ring->lost);
	/* Behind the records.  See above. */
	smp_store_release(&ring->shared->head, ring->head);
}

/* Make the pages of @shared and @told_by. */
static int ring_share(struct bts_ring *ring)
{
	struct utrace_branch_head *shared;
	struct utrace_branch_tail *told_by;

	if (ring->shared)
		return 0;
	shared = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	told_by = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!shared || !told_by) {
		free_page((unsigned long)shared);
		free_page((unsigned long)told_by);
		return -ENOMEM;
	}
	shared->records = ring->size;
	told_by->tail = ring->tail;
	ring->shared = shared;
	WRITE_ONCE(ring->told_by, told_by);
	utrace_bts_ring_publish(ring);
	return 0;
}

/**
 * utrace_bts_ring_unshare() - free the pages of a ring that may be mapped
 * @ring: a ring that nobody uses any more; a mapping keeps the page it has
 *
 * Context: Any.
 */
void utrace_bts_ring_unshare(struct bts_ring *ring)
{
	free_page((unsigned long)ring->shared);
	free_page((unsigned long)ring->told_by);
}

/* Bytes of an area, 0 if there is no such area; and whether it is to be written. */
static u64 ring_area(const struct bts_ring *ring, u64 offset, bool *write)
{
	*write = offset == UTRACE_MAP_BRANCH_TAIL;
	switch (offset) {
	case UTRACE_MAP_BRANCHES:
		return ring->size * sizeof(struct utrace_branch);
	case UTRACE_MAP_BRANCH_HEAD:
	case UTRACE_MAP_BRANCH_TAIL:
		return PAGE_SIZE;
	default:
		return 0;
	}
}

static int ring_check_area(const struct bts_ring *ring,
			   const struct vm_area_struct *vma)
{
	u64 size;
	bool write;

	size = ring_area(ring, (u64)vma->vm_pgoff << PAGE_SHIFT, &write);
	/* Records that are overwritten meanwhile could not be told from others. */
	if (!(vma->vm_flags & VM_MAYSHARE) || ring->overwrite || !size)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC || (!write && vma->vm_flags & VM_WRITE))
		return -EPERM;
	if (vma->vm_end - vma->vm_start != size ||
	    (write && !(vma->vm_flags & VM_WRITE)))
		return -EINVAL;
	return 0;
}

static int ring_map_area(struct bts_ring *ring, struct vm_area_struct *vma)
{
	void *page = ring->shared;

	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYEXEC);
	switch ((u64)vma->vm_pgoff << PAGE_SHIFT) {
	case UTRACE_MAP_BRANCH_TAIL:
		/* madvise() does not have fork() copy it, see dev/map.c. */
		vm_flags_set(vma, VM_IO);
		page = ring->told_by;
		break;
	case UTRACE_MAP_BRANCH_HEAD:
		vm_flags_clear(vma, VM_MAYWRITE);
		break;
	default:
		/* No later mprotect() makes the records writable. */
		vm_flags_clear(vma, VM_MAYWRITE);
		vma_set_file(vma, ring->pages);
		return call_mmap(ring->pages, vma);
	}
	return vm_insert_page(vma, vma->vm_start, virt_to_page(page));
}

/**
 * utrace_bts_ring_map() - map an area of a ring
 * @consumer: the consumer that has the ring
 * @vma: the mapping to be
 *
 * Context: Process context, under mmap_lock; may sleep.  Takes
 * bts_consumer.lock.
 * Return:
 * * 0 - the area is mapped, and read(2) gives nothing any more
 * * -EINVAL - there is no such area, its size is another one, the mapping is
 *   private, the ring keeps the last records, or is that of a CPU
 * * -EPERM - the program wants to write what it may not, or to execute
 * * -ENOMEM - there is no memory
 * * -EINTR - the caller is killed
 */
int utrace_bts_ring_map(struct bts_consumer *consumer,
			struct vm_area_struct *vma)
{
	struct bts_ring *ring = &consumer->ring;
	int ret;

	if (consumer->cpu)
		return -EINVAL;
	ret = ring_check_area(ring, vma);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&consumer->lock);
	if (ret)
		return ret;
	ret = ring_share(ring);
	mutex_unlock(&consumer->lock);
	return ret ?: ring_map_area(ring, vma);
}
