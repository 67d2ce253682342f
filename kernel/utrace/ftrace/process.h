/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: shared declarations
 *
 * An instance of ftrace whose tracer is "process" has a struct process_trace
 * with its settings and one system-wide engine.  It has a struct process_task
 * for each task that it follows.
 *
 * Lock order, outermost first: event_mutex and trace_types_lock of ftrace,
 * utrace_ftrace_mutex, utrace_change_mutex.  Callbacks take none of them: a
 * page fault that user space serves may delay a callback.  For the same reason
 * a holder of these locks must not wait for callbacks.
 */
#ifndef _KERNEL_UTRACE_FTRACE_PROCESS_H
#define _KERNEL_UTRACE_FTRACE_PROCESS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/cputime.h>
#include <linux/timekeeping.h>
#include <linux/utrace.h>

#include "../../trace/trace.h"

#include "../task_data.h"
#include "../count/count.h"
#include "../decode/table.h"

struct process_targets;
struct seq_buf;
struct utrace_match;

/**
 * enum process_event - events that an instance may record or count
 * @PROCESS_SYS_ENTER: trace event utrace_sys_enter
 * @PROCESS_SYS_EXIT: trace event utrace_sys_exit
 * @PROCESS_FORK: trace event utrace_fork
 * @PROCESS_EXEC: trace event utrace_exec
 * @PROCESS_EXIT: trace event utrace_exit
 * @PROCESS_SIGNAL: trace event utrace_signal
 * @PROCESS_JOBCTL: trace event utrace_jobctl
 * @PROCESS_NRECORDS: number of the events above, which have records
 * @PROCESS_STAT: system calls are counted in process/stat; has no record
 * @PROCESS_CPU: the CPU time of the counted calls is measured; has no record
 * @PROCESS_NEVENTS: number of all events
 */
enum process_event {
	PROCESS_SYS_ENTER,
	PROCESS_SYS_EXIT,
	PROCESS_FORK,
	PROCESS_EXEC,
	PROCESS_EXIT,
	PROCESS_SIGNAL,
	PROCESS_JOBCTL,
	PROCESS_NRECORDS,
	PROCESS_STAT = PROCESS_NRECORDS,
	PROCESS_CPU,
	PROCESS_NEVENTS
};

/* Kinds of targets; each is a row of the table in targets.c. */
enum process_target_type {
	PROCESS_COMMS,
	PROCESS_EXES,
	PROCESS_UIDS,
	PROCESS_CGROUPS,
	PROCESS_NTARGETS
};

/* Words of the file stacks. */
enum process_stack {
	PROCESS_STACK_NONE,
	PROCESS_STACK_FRAMES,
	PROCESS_STACK_RAW,
	PROCESS_NSTACKS
};

/*
 * Size of a bitmap of system calls.  Its first half is for the numbers of the
 * native table, its second half for those of the 32-bit table.
 */
#define PROCESS_CALLS	1024

/**
 * struct process_settings - what an instance follows and records
 * @events: BIT() of enum process_event
 * @args: UTRACE_CAPTURE_ bits for the arguments of system calls
 * @stack: kind of stack that is captured
 * @chosen: only the system calls in @calls are followed
 * @calls: system calls that are followed if @chosen
 * @entry_args: system calls with something to capture at the entry; all calls
 *	if a stack is captured.  Derived from @args and @stack.
 * @exit_args: system calls with something to capture at the exit.  Derived from
 *	@args.
 * @targets: the targets of each kind, counted; NULL: none
 *
 * A write to a file of the folder process/ changes a copy of the settings.  The
 * copy replaces the settings once the engine follows it; see settings.c.
 */
struct process_settings {
	unsigned long events;
	unsigned int args;
	enum process_stack stack;
	bool chosen;
	DECLARE_BITMAP(calls, PROCESS_CALLS);
	DECLARE_BITMAP(entry_args, PROCESS_CALLS);
	DECLARE_BITMAP(exit_args, PROCESS_CALLS);
	struct process_targets *targets[PROCESS_NTARGETS];
};

/**
 * struct process_trace - state of the tracer in one instance
 * @ref: one reference for the instance, one for each engine until its release()
 * @tr: the instance; NULL while it uses another tracer.  Written
 *	under utrace_ftrace_mutex, read under RCU.
 * @active: entry in process_active while the tracer is current.  Written under
 *	utrace_ftrace_mutex, read under RCU.
 * @engine: the engine, counted, while the tracer is current; else NULL.
 *	Written under utrace_ftrace_mutex.  Callbacks read it under RCU or with
 *	preemption off.
 * @match: match of the settings, counted; the engine uses the same one.  Under
 *	utrace_ftrace_mutex.
 * @file: the instance's file of each event.  Set before @engine; a callback
 *	uses it with preemption off, after it has found its engine in @engine.
 * @settings: the settings in force.  Callbacks read all but the targets without
 *	a lock, at any time.
 * @counts: the tasks, each in a struct process_task, and their counts
 * @started: ktime_get_ns() at the start of the tracer, or at the last change of
 *	the events or system calls that it follows.  A call that a task entered
 *	before may have ended without a report to the instance.
 * @lost: captures and tasks that were lost for lack of memory or room; lost
 *	counts of calls are in @counts
 *
 * @settings and @started are written under utrace_ftrace_mutex, and read
 * without a lock.
 */
struct process_trace {
	struct kref ref;
	struct trace_array __rcu *tr;
	struct list_head active;
	struct utrace_engine __rcu *engine;
	struct utrace_match *match;
	struct trace_event_file *file[PROCESS_NRECORDS];
	struct process_settings settings;
	struct utrace_counts counts;
	u64 started;
	atomic_long_t lost;
};

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

/* instance.c, files.c */
extern struct mutex utrace_ftrace_mutex;
extern const char * const utrace_ftrace_event_names[PROCESS_NEVENTS];

static inline bool process_wants(const struct process_trace *pt,
				 enum process_event event)
{
	return READ_ONCE(pt->settings.events) & BIT(event);
}

/*
 * Index of a call in the bitmaps of calls; @nr is as for utrace_call_of().
 * Numbers without their own bit share the last bit of their half, which no call
 * uses.
 */
static inline unsigned int process_call_bit(unsigned int nr)
{
	unsigned int bit = nr & ~(UTRACE_SYSCALL_IA32 | UTRACE_X32_BIT);

	if (bit >= PROCESS_CALLS / 2)
		bit = PROCESS_CALLS / 2 - 1;
	return nr & UTRACE_SYSCALL_IA32 ? PROCESS_CALLS / 2 + bit : bit;
}

/* Number of the call of a bit. */
static inline unsigned int process_call_nr(unsigned int bit)
{
	return bit < PROCESS_CALLS / 2 ? bit :
	       (bit - PROCESS_CALLS / 2) | UTRACE_SYSCALL_IA32;
}

/* Check whether @tr uses the tracer "process"; the caller holds RCU. */
static inline bool process_is_active(const struct trace_array *tr)
{
	return tr->process && rcu_access_pointer(tr->process->tr);
}

static inline struct utrace_engine *
utrace_ftrace_engine(const struct process_trace *pt)
{
	return rcu_dereference_protected(pt->engine,
					 lockdep_is_held(&utrace_ftrace_mutex));
}

/* ftrace_engine.c */
extern const struct utrace_engine_ops utrace_ftrace_ops;
int utrace_ftrace_apply(struct process_trace *pt,
			const struct process_settings *settings);

/* instance.c */
void utrace_ftrace_put(void *pt);
bool utrace_ftrace_choose(struct task_struct *task, void *data);
bool utrace_ftrace_follows(struct process_trace *pt, struct task_struct *task);
bool utrace_ftrace_is_first(struct process_trace *pt, enum process_event event,
			    unsigned int nr);

/* record.c */
u32 utrace_ftrace_sys_enter(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs);
u32 utrace_ftrace_sys_exit(u32 action, struct utrace_engine *engine,
			   struct pt_regs *regs);
void utrace_ftrace_record_fork(struct utrace_engine *engine,
			       struct task_struct *child,
			       unsigned long clone_flags);
void utrace_ftrace_record_exec(struct utrace_engine *engine,
			       const struct linux_binprm *bprm,
			       struct pt_regs *regs);
void utrace_ftrace_record_end(struct utrace_engine *engine, long code);
void utrace_ftrace_record_signal(struct utrace_engine *engine,
				 const struct kernel_siginfo *info,
				 const struct k_sigaction *ka,
				 struct pt_regs *regs);
void utrace_ftrace_record_jobctl(struct utrace_engine *engine, int type,
				 int notify);
bool utrace_ftrace_is_record(const struct trace_entry *entry);
void utrace_ftrace_print_record(struct seq_buf *s,
				const struct trace_entry *entry);

/* print.c */
void utrace_ftrace_print_entry(struct seq_buf *s, u64 nr,
			       const unsigned long *args, const void *items,
			       size_t used);
void utrace_ftrace_print_exit(struct seq_buf *s, u64 nr, long ret,
			      s64 duration, const void *items, size_t used);
void utrace_ftrace_print_fork(struct seq_buf *s, pid_t child,
			      unsigned long flags);
void utrace_ftrace_print_exec(struct seq_buf *s, const char *filename,
			      const void *items, size_t used);
void utrace_ftrace_print_end(struct seq_buf *s, int code, pid_t exec_pid);
void utrace_ftrace_print_signal(struct seq_buf *s, int sig, int code,
				pid_t sender, const void *items, size_t used);
void utrace_ftrace_print_jobctl(struct seq_buf *s, int type, int sig);
enum print_line_t utrace_ftrace_print_line(struct trace_iterator *iter);

/* files.c */
void utrace_ftrace_create_files(struct trace_array *tr, struct dentry *dir);

/* settings.c */
void utrace_ftrace_init_settings(struct process_settings *settings);
void utrace_ftrace_free_settings(struct process_settings *settings);

/* targets.c */
struct utrace_match *
utrace_ftrace_make_match(const struct process_settings *settings);
void utrace_ftrace_get_targets(struct process_targets *targets);
void utrace_ftrace_put_targets(struct process_targets *targets);

/* stat.c */
void utrace_ftrace_init_tasks(struct process_trace *pt);
struct process_task *utrace_ftrace_new_task(struct process_trace *pt);
void utrace_ftrace_task_ends(struct process_trace *pt);
void utrace_ftrace_task_execs(struct process_trace *pt);
extern const struct file_operations utrace_ftrace_stat_fops;

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

#endif /* _KERNEL_UTRACE_FTRACE_PROCESS_H */
