/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: which events of an owner a process has armed */
#ifndef _KERNEL_UTRACE_MARKER_FOLLOW_H
#define _KERNEL_UTRACE_MARKER_FOLLOW_H

#include <linux/bits.h>
#include <linux/types.h>

struct marker_mm;
struct marker_owner;

/* Return value of utrace_marker_todo(). */
#define MARKER_FOLLOW	BIT(0)	/* events of the owner */
#define MARKER_SETTLE	BIT(1)	/* words of the address space, of any owner */

/* State of a walk of the events of an owner. */
struct marker_walk {
	u64 from;	/* number up to which the process had followed before */
	u64 unfollowed;	/* marker_mm.unfollowed when the walk began */
};

unsigned int utrace_marker_todo(const struct marker_owner *owner);
void utrace_marker_unfollow(struct marker_mm *memory,
			    const struct marker_owner *owner);
void utrace_marker_begin_walk(const struct marker_owner *owner,
			      struct marker_walk *walk);
void utrace_marker_end_walk(const struct marker_owner *owner,
			    const struct marker_walk *walk, u64 number);

#endif /* _KERNEL_UTRACE_MARKER_FOLLOW_H */
