/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what a client keeps for a task
 *
 * For clients that look it up at every event: it is found in a few
 * instructions, and it goes with the task.
 */
#ifndef _KERNEL_UTRACE_LOCAL_H
#define _KERNEL_UTRACE_LOCAL_H

#include <linux/compiler.h>

/**
 * struct utrace_local - head of what a client keeps for a task
 * @next: what others keep; the task's own
 * @owner: whose it is, to be compared only; set to NULL by the owner when it
 *	will not look for it any more
 * @put: the task lets go of it; may be called from softirqs
 */
struct utrace_local {
	struct utrace_local *next;
	const void *owner;
	void (*put)(struct utrace_local *local);
};

struct utrace_local *utrace_local_find(const void *owner);
void utrace_local_add(struct utrace_local *local);

#endif /* _KERNEL_UTRACE_LOCAL_H */
