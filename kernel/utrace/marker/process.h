/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: arming words of an owner's process */
#ifndef _KERNEL_UTRACE_MARKER_PROCESS_H
#define _KERNEL_UTRACE_MARKER_PROCESS_H

#include <linux/types.h>

struct marker_mm;
struct marker_owner;
struct marker_place;
struct mm_struct;

struct marker_mm *utrace_marker_begin(struct marker_owner *owner,
				      struct mm_struct **mm);
void utrace_marker_finish(struct marker_owner *owner, struct marker_mm *memory,
			  struct mm_struct *mm);
int utrace_marker_arm(struct marker_owner *owner, struct marker_place *place,
		      u32 *state, int *error);
int utrace_marker_arm_current(struct marker_owner *owner,
			      const struct marker_place *place);

#endif /* _KERNEL_UTRACE_MARKER_PROCESS_H */
