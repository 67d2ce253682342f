/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - access to the state of a blocked task by another task
 *
 * For clients that are built in.
 */
#ifndef _KERNEL_UTRACE_BLOCKED_H
#define _KERNEL_UTRACE_BLOCKED_H

#include "task_data.h"

typedef void (*utrace_covered_fn)(struct task_struct *task, u64 slot,
				  void *arg);
void utrace_visit_covered(struct utrace_engine *engine, utrace_covered_fn fn,
			  void *arg);
bool utrace_blocked_in_report(struct task_struct *task);
bool utrace_blocked_in_call(struct task_struct *task, u64 slot);
struct utrace_task_data *utrace_blocked_data(struct task_struct *task,
					     const void *owner);

#endif /* _KERNEL_UTRACE_BLOCKED_H */
