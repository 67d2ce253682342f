// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the memory of rings, which programs may map
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include <asm/shmparam.h>

#include "../map.h"
#include "session.h"

/**
 * utrace_dev_data_offset() - get the offset of the data of the first ring
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
 * utrace_dev_rings_size() - get the size of the area of the rings
 * @session: a session with utrace_session.ring_size
 *
 * Context: Any.
 * Return: bytes, a multiple of the size of a page.
 */
size_t utrace_dev_rings_size(const struct utrace_session *session)
{
	return utrace_dev_data_offset() + nr_cpu_ids * session->ring_size;
}

/**
 * utrace_dev_tails_size() - get the size of the area of the tails
 *
 * Context: Any.
 * Return: bytes, a multiple of the size of a page.
 */
size_t utrace_dev_tails_size(void)
{
	return PAGE_ALIGN(nr_cpu_ids * sizeof(struct utrace_map_tail));
}

/* Like vmalloc_user(), but charged to the memory cgroup of the caller. */
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
 * * 0 - utrace_session.shared and .tails are set, and the rings are empty
 * * -ENOMEM - out of memory
 */
int utrace_dev_shared_make(struct utrace_session *session)
{
	session->shared = session_shared_alloc(utrace_dev_rings_size(session));
	session->tails = session_shared_alloc(utrace_dev_tails_size());
	if (!session->shared || !session->tails) {
		utrace_dev_shared_free(session);
		return -ENOMEM;
	}
	utrace_map_init(session->shared, nr_cpu_ids, 1, utrace_dev_data_offset(),
			session->ring_size);
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

/**
 * utrace_dev_mmap() - map an area of a session
 * @session: the session
 * @vma: the new mapping
 *
 * Context: Process context, under mmap_lock; may sleep.
 * Return:
 * * 0 - the area is mapped
 * * -EINVAL - there is no such area, its size differs, the mapping is private,
 *   the tails are not mapped writable, or the session lacks
 *   %UTRACE_SETUP_F_MAPPED
 * * -ENXIO - the session has no rings yet
 * * -EPERM - the program asks for rings that are writable, or to execute
 * * -ENOMEM - out of memory
 */
int utrace_dev_mmap(struct utrace_session *session, struct vm_area_struct *vma)
{
	int area;

	/* Pairs with utrace_dev_ring_make(). */
	if (!smp_load_acquire(&session->ring))
		return -ENXIO;
	if (!session->mapped)
		return -EINVAL;
	area = utrace_map_area(vma, utrace_dev_rings_size(session),
			       utrace_dev_tails_size());
	if (area < 0)
		return area;
	return remap_vmalloc_range(vma, area == UTRACE_AREA_RINGS ?
				   session->shared : session->tails, 0);
}
