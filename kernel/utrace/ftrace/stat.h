/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: its tasks and their counts
 */
#ifndef _KERNEL_UTRACE_FTRACE_STAT_H
#define _KERNEL_UTRACE_FTRACE_STAT_H

#include <linux/container_of.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "../count/count.h"
#include "../task_data.h"

struct process_trace;

/* How a call is counted. */
enum process_counting {
	PROCESS_COUNT_NOT,
	PROCESS_COUNT_CALL,
	PROCESS_COUNT_CPU,	/* with its CPU time */
};

/* No number of a call: it uses the upper half without UTRACE_SYSCALL_NONE. */
#define PROCESS_IN_NO_CALL	U64_MAX

/**
 * struct process_task - data of an instance about a task
 * @data: entry in the task data of the task.  Its owner is the process_trace;
 *	NULL once the structure is out of the list (under utrace_counts.lock).
 * @count: entry in process_trace.counts, with the counts
 * @saved: name of the task that ftrace has saved last.  Only the task uses it.
 * @nr: number of the current system call, as utrace_current_asked() returns it;
 *	PROCESS_IN_NO_CALL: none.  Only the task writes it.
 * @since: ktime_get_ns() at the entry of @nr.  Only the task writes it.
 * @counting: how @nr is counted at its exit.  Only the task uses it.
 * @cpu_since: CPU time of the task at @since, in ns, if it is measured.  Only
 *	the task uses it.
 *
 * The task allocates the structure at its first system call, and a new one when
 * execve() gives the thread the pid of its leader.
 *
 * struct utrace_count_task describes when the structure leaves the list and is
 * freed: @data holds the client's reference.  The task drops it when it exits
 * or adds other data (utrace_task_data_add()).
 */
struct process_task {
	struct utrace_task_data data;
	struct utrace_count_task count;
	char saved[TASK_COMM_LEN];
	u64 nr;
	u64 since;
	enum process_counting counting;
	u64 cpu_since;
};

/*
 * Find the data of an instance about the current task; NULL: none.  The caller
 * is a callback of the task.
 */
static inline struct process_task *process_find_task(struct process_trace *pt)
{
	struct utrace_task_data *data = utrace_task_data_find(pt);

	return data ? container_of(data, struct process_task, data) : NULL;
}

/*
 * Time in ns since the task entered its call.  Another task may read the clock
 * before the task itself does; the result is 0 then.
 */
static inline u64 process_since(const struct process_task *task)
{
	return max_t(s64, ktime_get_ns() - READ_ONCE(task->since), 0);
}

extern const struct file_operations utrace_ftrace_stat_fops;

void utrace_ftrace_init_tasks(struct process_trace *pt);
struct process_task *utrace_ftrace_new_task(struct process_trace *pt);
void utrace_ftrace_task_ends(struct process_trace *pt);
void utrace_ftrace_task_execs(struct process_trace *pt);

#endif /* _KERNEL_UTRACE_FTRACE_STAT_H */
