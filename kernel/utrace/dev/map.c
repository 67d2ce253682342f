// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the memory of rings, which programs may map
 *
 * There are two areas.  The rings and what the kernel tells of them can be
 * mapped to read only.  The tails can be mapped to write, and the kernel takes
 * what stands there for no more than a hint of what the program has read.
 * Neither area is copied by fork(), so that a child does not move the tails of
 * its parent.  For the tails VM_IO has madvise(MADV_DOFORK) refused, which would
 * undo that.  It is not for the rings: it would have direct I/O refuse to write
 * the records to a file.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include <asm/shmparam.h>

#include "session.h"

/**
 * utrace_dev_data_offset() - where the data of the first ring begins
 *
 * Context: Any.
 * Return: bytes from the begin of utrace_session.shared.
 */
size_t utrace_dev_data_offset(void)
{
	return PAGE_ALIGN(sizeof(struct utrace_map) +
			  nr_cpu_ids * sizeof(struct utrace_map_ring));
}

/**
 * utrace_dev_rings_size() - bytes of the area that can be mapped to read
 * @session: a session with utrace_session.ring_size
 *
 * Context: Any.
 * Return: a multiple of the size of a page.
 */
size_t utrace_dev_rings_size(const struct utrace_session *session)
{
	return utrace_dev_data_offset() + nr_cpu_ids * session->ring_size;
}

/**
 * utrace_dev_tails_size() - bytes of the area that can be mapped to write
 *
 * Context: Any.
 * Return: a multiple of the size of a page.
 */
size_t utrace_dev_tails_size(void)
{
	return PAGE_ALIGN(nr_cpu_ids * sizeof(struct utrace_map_tail));
}

/* As vmalloc_user(), but charged to the memory cgroup of the caller. */
static void *session_shared_alloc(size_t size)
{
	return __vmalloc_node_range(size, SHMLBA, VMALLOC_START, VMALLOC_END,
				    GFP_KERNEL_ACCOUNT | __GFP_ZERO,
				    PAGE_KERNEL, VM_USERMAP, NUMA_NO_NODE,
				    __builtin_return_address(0));
}

/**
 * utrace_dev_shared_make() - allocate both areas of a session
 * @session: a session with utrace_session.ring_size
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - utrace_session.shared and .tails are set, and no ring has a record
 * * -ENOMEM - there is no memory
 */
int utrace_dev_shared_make(struct utrace_session *session)
{
	session->shared = session_shared_alloc(utrace_dev_rings_size(session));
	session->tails = session_shared_alloc(utrace_dev_tails_size());
	if (!session->shared || !session->tails) {
		utrace_dev_shared_free(session);
		return -ENOMEM;
	}
	*(struct utrace_map *)session->shared = (struct utrace_map){
		.header_size = sizeof(struct utrace_map),
		.ring_stride = sizeof(struct utrace_map_ring),
		.rings = nr_cpu_ids,
		.unit = 1,
		.data_offset = utrace_dev_data_offset(),
		.data_size = session->ring_size,
	};
	return 0;
}

/**
 * utrace_dev_shared_free() - free both areas of a session
 * @session: the session; its file is gone, and with it every mapping
 *
 * Context: Any but interrupts; see vfree().
 */
void utrace_dev_shared_free(struct utrace_session *session)
{
	vfree(session->shared);
	vfree(session->tails);
	session->shared = NULL;
	session->tails = NULL;
}

/* Map the rings; no later mprotect() makes them writable. */
static int session_map_rings(struct utrace_session *session,
			     struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (vma->vm_end - vma->vm_start != utrace_dev_rings_size(session))
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYWRITE | VM_MAYEXEC);
	return remap_vmalloc_range(vma, session->shared, 0);
}

/*
 * Map the tails.  A mapping by which the program could not tell how far it has
 * read is refused.
 */
static int session_map_tails(struct utrace_session *session,
			     struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (!(vma->vm_flags & VM_WRITE) ||
	    vma->vm_end - vma->vm_start != utrace_dev_tails_size())
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTCOPY | VM_IO, VM_MAYEXEC);
	return remap_vmalloc_range(vma, session->tails, 0);
}

/**
 * utrace_dev_mmap() - map an area of a session
 * @session: the session
 * @vma: the mapping to be
 *
 * Context: Process context, under mmap_lock; may sleep.
 * Return:
 * * 0 - the area is mapped
 * * -EINVAL - there is no such area, its size is another one, the mapping is
 *   private, the tails are not to be written, or the session does without
 * * -ENXIO - the session has no rings yet
 * * -EPERM - the program wants to write to the rings, or to execute
 * * -ENOMEM - there is no memory
 */
int utrace_dev_mmap(struct utrace_session *session, struct vm_area_struct *vma)
{
	/* Of a file that is open to read only, VM_SHARED is taken away. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	/* Pairs with utrace_dev_ring_make(). */
	if (!smp_load_acquire(&session->ring))
		return -ENXIO;
	if (!session->mapped)
		return -EINVAL;
	switch (vma->vm_pgoff) {
	case UTRACE_MAP_RINGS >> PAGE_SHIFT:
		return session_map_rings(session, vma);
	case UTRACE_MAP_TAILS >> PAGE_SHIFT:
		return session_map_tails(session, vma);
	default:
		return -EINVAL;
	}
}
