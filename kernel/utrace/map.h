/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the areas of a descriptor that programs map
 */
#ifndef _KERNEL_UTRACE_MAP_H
#define _KERNEL_UTRACE_MAP_H

#include <linux/types.h>

struct utrace_map;
struct vm_area_struct;

/**
 * enum utrace_area - an area that programs map
 * @UTRACE_AREA_RINGS: %UTRACE_MAP_RINGS, to read
 * @UTRACE_AREA_TAILS: %UTRACE_MAP_TAILS, to write
 */
enum utrace_area {
	UTRACE_AREA_RINGS,
	UTRACE_AREA_TAILS,
};

void utrace_map_init(struct utrace_map *map, u32 rings, u32 unit,
		     u64 data_offset, u64 data_size);
int utrace_map_area(struct vm_area_struct *vma, u64 rings_size, u64 tails_size);

#endif /* _KERNEL_UTRACE_MAP_H */
