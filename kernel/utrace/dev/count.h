/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - sessions of /dev/utrace: counts of system calls */
#ifndef _KERNEL_UTRACE_DEV_COUNT_H
#define _KERNEL_UTRACE_DEV_COUNT_H

#include <linux/sched/cputime.h>
#include <linux/sched/stat.h>
#include <linux/timekeeping.h>

#include "../syscall_current.h"
#include "session.h"

/*
 * The inlined paths leave calls from this number on, which are in no table, to
 * the slow path.
 */
#define SESSION_PLAIN_CALLS	512

void utrace_dev_counts_init(struct utrace_session *session);
void utrace_dev_count_put(struct session_task *task);
void utrace_dev_count_exit(struct session_task *task, u32 action, u64 now,
			   struct pt_regs *regs);
void utrace_dev_count_call(struct session_task *task, struct pt_regs *regs,
			   u64 took, s64 cpu);
void utrace_dev_count_death(struct session_task *task);
int utrace_dev_read_counts(struct utrace_session *session, void *arg);

/* Store the begin of a call of the current task. */
static inline void utrace_dev_count_enter(struct session_task *task, u64 now)
{
	task->cpu_since = 0;
	if (now & SESSION_COUNT_CPU)
		task->cpu_since = task_sched_runtime(current);
	task->since = ktime_get_ns();
}

/* Count a call of the current task, whose begin is in @task. */
static __always_inline void utrace_dev_count_plain(struct session_task *task,
						   struct pt_regs *regs)
{
	u64 took = ktime_get_ns() - task->since;
	struct utrace_count_task *count = task->count;
	unsigned long nr = syscall_get_nr(current, regs);

	task->since = 0;
	if (unlikely(!count || !utrace_count_is_current(count) ||
		     nr >= SESSION_PLAIN_CALLS || utrace_in_ia32_syscall() ||
		     !utrace_count_usual(&task->session->counts, count,
					 nr, syscall_get_return_value(current, regs),
					 took)))
		utrace_dev_count_call(task, regs, took, UTRACE_COUNT_NO_CPU);
}

#endif /* _KERNEL_UTRACE_DEV_COUNT_H */
