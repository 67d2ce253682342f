/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - visiting the tasks that an engine covers
 */
#ifndef _KERNEL_UTRACE_SCOPE_H
#define _KERNEL_UTRACE_SCOPE_H

#include "internal.h"

/* What utrace_visit_members() does when it has released utrace->lock. */
#define UTRACE_AFTER_NOTIFY	BIT(0)	/* make the task pass the safe point */
#define UTRACE_AFTER_INTERRUPT	BIT(1)	/* report from get_signal() */
#define UTRACE_AFTER_STOPPED	BIT(2)	/* report after a group stop */
#define UTRACE_AFTER_WAKE	BIT(3)	/* wake the task unless it is held */

typedef unsigned int (*utrace_member_fn)(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg);
bool utrace_addresses(struct utrace_engine *engine, struct task_struct *target);
void utrace_visit_members(struct utrace_engine *engine,
			  struct task_struct *target, utrace_member_fn fn,
			  void *arg);
void utrace_visit_tasks(struct utrace_engine *engine, utrace_member_fn fn,
			void *arg);

#endif /* _KERNEL_UTRACE_SCOPE_H */
