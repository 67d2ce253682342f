/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sessions of /dev/utrace: calls that are counted
 */
#ifndef _KERNEL_UTRACE_DEV_COUNT_H
#define _KERNEL_UTRACE_DEV_COUNT_H

#include <linux/sched/cputime.h>
#include <linux/sched/stat.h>
#include <linux/timekeeping.h>

#include "session.h"

/**
 * struct session_count - what a session counts of a task
 * @task: the counts
 * @forgotten: @task is out of utrace_session.counts; the task makes another
 *	structure at its next call
 *
 * Freed by RCU when the session's list and the session_task have dropped their
 * references.
 */
struct session_count {
	struct utrace_count_task task;
	bool forgotten;
};

void utrace_dev_counts_init(struct utrace_session *session);
void utrace_dev_count_put(struct session_task *task);
void utrace_dev_count_exit(struct session_task *task, u64 now,
			   struct pt_regs *regs);
void utrace_dev_count_death(struct session_task *task);
int utrace_dev_read_counts(struct utrace_session *session,
			   struct utrace_ioc_counts *counts);

/* The current task, of which the session knows @task, enters a call. */
static __always_inline void utrace_dev_count_enter(struct session_task *task,
						   u64 now)
{
	task->counting = true;
	task->cpu_since = 0;
	if (now & SESSION_COUNT_CPU)
		task->cpu_since = task_sched_runtime(current);
	task->since = ktime_get_ns();
}

#endif /* _KERNEL_UTRACE_DEV_COUNT_H */
