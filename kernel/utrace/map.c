// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the areas of a descriptor that programs map
 *
 * There are two areas.  The rings, with the header that the kernel writes, can
 * only be mapped read-only.  The tails can be mapped writable; the kernel does
 * not trust their values.  fork() copies neither area, so a child cannot change
 * the tails of its parent.  The tails have VM_IO, so madvise(MADV_DOFORK),
 * which would undo that, fails.  The rings do not have VM_IO, since direct I/O
 * cannot write records from a VM_IO mapping to a file.
 */
#include <linux/mm.h>
#include <uapi/linux/utrace.h>

#include "map.h"

/**
 * utrace_map_init() - fill in the header of the area of the rings
 * @map: the start of the area of the rings
 * @rings: number of rings
 * @unit: see &utrace_map.unit
 * @data_offset: see &utrace_map.data_offset
 * @data_size: see &utrace_map.data_size
 *
 * Context: Any; no program has mapped the area yet.
 */
void utrace_map_init(struct utrace_map *map, u32 rings, u32 unit,
		     u64 data_offset, u64 data_size)
{
	*map = (struct utrace_map){
		.header_size = sizeof(struct utrace_map),
		.ring_stride = sizeof(struct utrace_map_ring),
		.rings = rings,
		.unit = unit,
		.data_offset = data_offset,
		.data_size = data_size,
	};
}

/* Clears VM_MAYWRITE, so a later mprotect() cannot make the rings writable. */
static int map_rings(struct vm_area_struct *vma, u64 size)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (vma->vm_end - vma->vm_start != size)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYWRITE | VM_MAYEXEC);
	return UTRACE_AREA_RINGS;
}

/* The tails must be writable: a program stores there how far it has read. */
static int map_tails(struct vm_area_struct *vma, u64 size)
{
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (!(vma->vm_flags & VM_WRITE) || vma->vm_end - vma->vm_start != size)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTCOPY | VM_IO, VM_MAYEXEC);
	return UTRACE_AREA_TAILS;
}

/**
 * utrace_map_area() - check a requested mapping, and set its flags
 * @vma: the new mapping
 * @rings_size: bytes of the area of the rings
 * @tails_size: bytes of the area of the tails
 *
 * Context: Process context, under mmap_lock.
 * Return:
 * * enum utrace_area - the area that the caller must map
 * * -EINVAL - there is no such area, its size differs, the mapping is private,
 *   or the tails are not mapped writable
 * * -EPERM - the program asks for rings that are writable, or to execute
 */
int utrace_map_area(struct vm_area_struct *vma, u64 rings_size, u64 tails_size)
{
	/* A file opened read-only loses VM_SHARED, but not VM_MAYSHARE. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	/* Exact offsets only: a large area of rings overlaps the tails. */
	switch (vma->vm_pgoff) {
	case UTRACE_MAP_RINGS >> PAGE_SHIFT:
		return map_rings(vma, rings_size);
	case UTRACE_MAP_TAILS >> PAGE_SHIFT:
		return map_tails(vma, tails_size);
	default:
		return -EINVAL;
	}
}
