/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what a client keeps for a task
 *
 * For clients that look it up at every event: it is found in a few
 * instructions, and it goes with the task.
 */
#ifndef _KERNEL_UTRACE_TASK_DATA_H
#define _KERNEL_UTRACE_TASK_DATA_H

#include <linux/compiler.h>

/**
 * struct utrace_task_data - head of what a client keeps for a task
 * @next: what others keep; the task's own
 * @owner: whose it is, to be compared only; set to NULL by the owner when it
 *	will not look for it any more
 * @put: the task lets go of it; may be called from softirqs
 */
struct utrace_task_data {
	struct utrace_task_data *next;
	const void *owner;
	void (*put)(struct utrace_task_data *data);
};

struct utrace_task_data *utrace_task_data_find(const void *owner);
void utrace_task_data_add(struct utrace_task_data *data);

#endif /* _KERNEL_UTRACE_TASK_DATA_H */
