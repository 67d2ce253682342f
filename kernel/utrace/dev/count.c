// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: counts of system calls
 *
 * A session may count the calls of its targets, with or without records
 * (utrace_ioc_events.count).  The counts of a task are in a struct
 * utrace_count_task, which the task creates at its first call; count/ does the
 * counting.  UTRACE_IOC_COUNTS reads the counts piece by piece, so that no lock
 * is held during accesses to user memory.
 */
#include <linux/sched.h>
#include <linux/sched/cputime.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include <asm/syscall.h>

#include "../syscall_current.h"
#include "count.h"

/*
 * Maximum number of counts of a session, each for one task and one call.  A
 * count takes 256 bytes, so this is 4 MiB.
 */
#define SESSION_MAX_COUNTS	16384

/* Rows that are copied to user memory at a time. */
#define SESSION_ROWS		16

static_assert(UTRACE_CALL_DURATIONS == UTRACE_COUNT_BUCKETS);
static_assert(UTRACE_CALL_ERRORS == UTRACE_COUNT_ERRNOS);

static void session_count_free(struct utrace_count_task *count)
{
	kfree(count);
}

static const struct utrace_count_ops session_count_ops = {
	.free	= session_count_free,
};

/**
 * utrace_dev_counts_init() - initialize the counts of a new session
 * @session: the session
 *
 * Context: Any.
 */
void utrace_dev_counts_init(struct utrace_session *session)
{
	utrace_counts_init(&session->counts, SESSION_MAX_COUNTS,
			   &session_count_ops);
}

/**
 * utrace_dev_count_put() - drop the counts of a task
 * @task: the session's state of the task
 *
 * Context: Any but NMI.
 */
void utrace_dev_count_put(struct session_task *task)
{
	if (task->count)
		utrace_count_put_task(task->count);
	task->count = NULL;
}

/* Create the counts of the current task.  NULL: out of memory. */
static noinline struct utrace_count_task *
session_count_new(struct session_task *task)
{
	struct utrace_count_task *count = kzalloc(sizeof(*count),
					      GFP_KERNEL_ACCOUNT);

	utrace_dev_count_put(task);
	if (!count)
		return NULL;
	utrace_count_add_task(&task->session->counts, count);
	task->count = count;
	return count;
}

/*
 * Get the counts of the current task.  Creates them at its first call, and
 * after an execve() that has changed its pid.  Only these two cases are
 * checked: no other living task is taken out of utrace_counts.tasks.  NULL: out
 * of memory.
 */
static __always_inline struct utrace_count_task *
session_count_current(struct session_task *task)
{
	struct utrace_count_task *count = task->count;

	if (likely(count && utrace_count_is_current(count)))
		return count;
	return session_count_new(task);
}

/**
 * utrace_dev_count_call() - count a call that has ended
 * @task: the session's state of the current task
 * @regs: registers of the task
 * @took: duration in ns
 * @cpu: CPU time in ns, or UTRACE_COUNT_NO_CPU
 *
 * Context: report_syscall_exit, in the task itself; may sleep.
 */
void utrace_dev_count_call(struct session_task *task, struct pt_regs *regs,
			   u64 took, s64 cpu)
{
	struct utrace_count_task *count = session_count_current(task);

	if (unlikely(!count)) {
		atomic_long_inc(&task->session->counts.lost);
		return;
	}
	utrace_count_call(&task->session->counts, count,
			  utrace_current_call(regs),
			  syscall_get_return_value(current, regs), took, cpu);
}

/**
 * utrace_dev_count_exit() - count a call of the current task
 * @task: the session's state of the task
 * @action: may have UTRACE_SYSCALL_UNPAIRED
 * @now: session_target.now
 * @regs: registers of the task
 *
 * Leaves out a call whose entry was not counted, since its duration is not
 * known.
 *
 * Context: report_syscall_exit, in the task itself; may sleep.
 */
void utrace_dev_count_exit(struct session_task *task, u32 action, u64 now,
			   struct pt_regs *regs)
{
	u64 since = task->since, took;
	s64 cpu = UTRACE_COUNT_NO_CPU;

	task->since = 0;
	if (!since || action & UTRACE_SYSCALL_UNPAIRED)
		return;
	took = ktime_get_ns() - since;
	if (now & SESSION_COUNT_CPU && task->cpu_since)
		cpu = task_sched_runtime(current) - task->cpu_since;
	utrace_dev_count_call(task, regs, took, cpu);
}

/**
 * utrace_dev_count_death() - mark the counts of the current task, which dies
 * @task: the session's state of the task
 *
 * Context: A callback, in the task itself.
 */
void utrace_dev_count_death(struct session_task *task)
{
	if (task->count)
		utrace_count_task_exits(&task->session->counts,
					task->count);
}

static void session_fill_row(struct utrace_call_count *to,
			     const struct utrace_count_row *row)
{
	const struct utrace_count_numbers *n = &row->numbers;

	*to = (struct utrace_call_count){
		.task = row->ino,
		.pid = row->tgid,
		.tid = row->tid,
		.nr = row->nr,
		.alive = row->alive,
		.calls = n->calls,
		.errors = n->errors,
		.total = n->total,
		.min = n->min,
		.max = n->max,
		.cpu = n->cpu,
		.cpu_calls = n->cpu_calls,
		.errno_other = n->errno_other,
	};
	memcpy(to->comm, row->comm, sizeof(to->comm));
	memcpy(to->durations, n->bucket, sizeof(to->durations));
	memcpy(to->errno_calls, n->errno_calls, sizeof(to->errno_calls));
	memcpy(to->err, n->err, sizeof(to->err));
}

/* Copy @n rows to user memory, one after the other. */
static int session_copy_rows(const struct utrace_rows *to, unsigned int at,
			     const struct utrace_count_row *rows,
			     unsigned int n)
{
	struct utrace_call_count row;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		session_fill_row(&row, &rows[i]);
		ret = utrace_dev_put_rows(to, at + i, &row, 1, sizeof(row));
	}
	return ret;
}

/**
 * utrace_dev_read_counts() - %UTRACE_IOC_COUNTS
 * @session: the session
 * @arg: struct utrace_ioc_counts; filled in for the program
 *
 * Context: Process context without locks; may fault and sleep.
 * Return: 0, or an error of UTRACE_IOC_COUNTS.
 */
int utrace_dev_read_counts(struct utrace_session *session, void *arg)
{
	struct utrace_ioc_counts *counts = arg;
	struct utrace_count_cursor cursor = {
		counts->cursor, counts->cursor_row,
	};
	struct utrace_count_row *rows;
	unsigned int done = 0, want, got;
	int ret;

	ret = utrace_dev_check_rows(&counts->rows, UTRACE_CALL_COUNT_SIZE_VER0);
	if (ret || counts->reserved)
		return ret ?: -EINVAL;
	rows = kmalloc_array(SESSION_ROWS, sizeof(*rows), GFP_KERNEL_ACCOUNT);
	if (!rows)
		return -ENOMEM;
	do {
		want = min_t(u32, counts->rows.n - done, SESSION_ROWS);
		got = utrace_count_read(&session->counts, session->ns, &cursor,
					rows, want);
		ret = session_copy_rows(&counts->rows, done, rows, got);
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		done += got;
		cond_resched();
	} while (!ret && got && got == want && done < counts->rows.n);
	kfree(rows);
	counts->rows.n = done;
	counts->rows.total = READ_ONCE(session->counts.ncounts);
	counts->cursor = cursor.task;
	counts->cursor_row = cursor.row;
	counts->lost = atomic_long_read(&session->counts.lost);
	counts->merged = READ_ONCE(session->counts.nmerged);
	return ret;
}
