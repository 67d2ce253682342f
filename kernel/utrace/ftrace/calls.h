/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: system calls from entry to exit
 *
 * The time of an entry is stored, and the call is counted at its exit.
 * Inlined, since two of these functions run for each system call.
 */
#ifndef _KERNEL_UTRACE_FTRACE_CALLS_H
#define _KERNEL_UTRACE_FTRACE_CALLS_H

#include <linux/sched/cputime.h>
#include <linux/timekeeping.h>

#include <asm/syscall.h>

#include "../syscall_current.h"
#include "instance.h"
#include "stat.h"

/*
 * Store that the current task enters call @nr, a result of
 * utrace_current_asked().  Return the data of the task; NULL: no memory.
 */
static __always_inline struct process_task *
process_enter(struct process_trace *pt, u64 nr)
{
	struct process_task *task = process_find_task(pt);
	unsigned long events = READ_ONCE(pt->settings.events);

	if (unlikely(!task)) {
		task = utrace_ftrace_new_task(pt);
		if (!task)
			return NULL;
	}
	task->counting = events & BIT(PROCESS_STAT) ? PROCESS_COUNT_CALL :
						      PROCESS_COUNT_NOT;
	if (unlikely(events & BIT(PROCESS_CPU) && task->counting)) {
		task->counting = PROCESS_COUNT_CPU;
		task->cpu_since = task_sched_runtime(current);
	}
	WRITE_ONCE(task->nr, nr);
	WRITE_ONCE(task->since, ktime_get_ns());
	return task;
}

/* Count the call that the current task leaves. */
static __always_inline void process_count(struct process_trace *pt,
					  struct process_task *task,
					  unsigned int nr, long ret,
					  u64 duration)
{
	s64 cpu = UTRACE_COUNT_NO_CPU;

	if (unlikely(task->counting == PROCESS_COUNT_CPU))
		cpu = task_sched_runtime(current) - task->cpu_since;
	utrace_count_call(&pt->counts, &task->count, nr, ret, duration, cpu);
}

/*
 * The current task leaves a call; count it.  @action is that of
 * utrace_ftrace_sys_exit().  Return the duration; -1: the instance has not seen
 * the entry, so the duration is unknown, and the call is not counted.
 */
static __always_inline s64 process_leave(struct process_trace *pt,
					 struct process_task *task, u32 action,
					 struct pt_regs *regs)
{
	u64 nr = task->nr;
	s64 duration;

	if (unlikely(nr == PROCESS_IN_NO_CALL ||
		     action & UTRACE_SYSCALL_UNPAIRED)) {
		WRITE_ONCE(task->nr, PROCESS_IN_NO_CALL);
		return -1;
	}
	duration = ktime_get_ns() - task->since;
	WRITE_ONCE(task->nr, PROCESS_IN_NO_CALL);
	if (unlikely(task->counting))
		process_count(pt, task, nr,
			      syscall_get_return_value(current, regs),
			      duration);
	return duration;
}

/*
 * Fast path of process_enter() for a call that is not recorded: it is counted
 * without its CPU time, and the data of the task is the first in its list.
 * False: nothing was done.
 */
static __always_inline bool process_enter_usual(const struct process_trace *pt,
						u32 action,
						struct pt_regs *regs)
{
	const unsigned long how = BIT(PROCESS_STAT) | BIT(PROCESS_CPU);
	unsigned long nr = syscall_get_nr(current, regs);
	struct utrace_task_data *data;
	struct process_task *task;

	if ((READ_ONCE(pt->settings.events) & how) != BIT(PROCESS_STAT) ||
	    unlikely(action != UTRACE_RESUME || nr >= PROCESS_CALLS / 2 ||
		     utrace_in_ia32_syscall() ||
		     !utrace_task_data_first(pt, &data)))
		return false;
	task = container_of(data, struct process_task, data);
	task->counting = PROCESS_COUNT_CALL;
	WRITE_ONCE(task->nr, nr);
	WRITE_ONCE(task->since, ktime_get_ns());
	return true;
}

/*
 * Fast path for the exit, if process_enter_usual() was used at the entry.  The
 * exit is not recorded.  False: nothing was done.
 */
static __always_inline bool process_exit_usual(struct process_trace *pt,
					       u32 action,
					       struct pt_regs *regs)
{
	struct utrace_task_data *data;
	struct process_task *task;
	u64 duration;
	long ret;
	u64 nr;

	if (unlikely(action != UTRACE_RESUME ||
		     !utrace_task_data_first(pt, &data)))
		return false;
	task = container_of(data, struct process_task, data);
	if (unlikely(task->nr == PROCESS_IN_NO_CALL ||
		     task->counting != PROCESS_COUNT_CALL))
		return false;
	duration = ktime_get_ns() - task->since;
	nr = task->nr;
	ret = syscall_get_return_value(current, regs);
	WRITE_ONCE(task->nr, PROCESS_IN_NO_CALL);
	if (unlikely(!utrace_count_usual(&pt->counts, &task->count, nr, ret,
					 duration)))
		utrace_count_call(&pt->counts, &task->count, nr, ret, duration,
				  UTRACE_COUNT_NO_CPU);
	return true;
}

#endif /* _KERNEL_UTRACE_FTRACE_CALLS_H */
