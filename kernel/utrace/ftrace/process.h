/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: what its parts share
 *
 * Lock order, outermost first: event_mutex and trace_types_lock of ftrace,
 * utrace_ftrace_mutex, utrace_change_mutex.  Callbacks take none of them: they may be kept
 * waiting by a page fault, and whoever holds these must not wait for them.
 */
#ifndef _KERNEL_UTRACE_FTRACE_PROCESS_H
#define _KERNEL_UTRACE_FTRACE_PROCESS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/clock.h>
#include <linux/sched/cputime.h>
#include <linux/utrace.h>

#include "../../trace/trace.h"

#include "../task_data.h"
#include "../decode/table.h"

struct seq_buf;
struct utrace_match;

/**
 * enum process_event - what is recorded
 * @PROCESS_SYS_ENTER: utrace_sys_enter
 * @PROCESS_SYS_EXIT: utrace_sys_exit
 * @PROCESS_FORK: utrace_fork
 * @PROCESS_EXEC: utrace_exec
 * @PROCESS_EXIT: utrace_exit
 * @PROCESS_SIGNAL: utrace_signal
 * @PROCESS_JOBCTL: utrace_jobctl
 * @PROCESS_NRECORDS: of these there are records
 * @PROCESS_STAT: no record, counted in process/stat
 * @PROCESS_NEVENTS: one more than the last
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
	PROCESS_NEVENTS
};

/* Kinds of targets that have a file of their own, see targets.c. */
enum process_target {
	PROCESS_COMMS,
	PROCESS_EXES,
	PROCESS_UIDS,
	PROCESS_CGROUPS,
	PROCESS_NTARGETS
};

enum process_stack {
	PROCESS_STACK_NONE,
	PROCESS_STACK_FRAMES,
	PROCESS_STACK_RAW,
	PROCESS_NSTACKS
};

/* Numbers of system calls: those of the native table, then the 32-bit one's. */
#define PROCESS_CALLS	1024

/**
 * struct process_trace - the tracer in one instance
 * @ref: one for the instance, one for the engine
 * @tr: the instance, NULL once it is gone or while the tracer is not its
 *	current one; read under RCU by callbacks
 * @active: in the list of instances whose current tracer this is; RCU
 * @engine: the engine, while it is active
 * @match: what @engine has
 * @file: of the instance, one for each event
 * @events: what is recorded, bits of enum process_event
 * @args: UTRACE_CAPTURE_* of arguments
 * @stack: enum process_stack
 * @chosen: are @calls the only ones?
 * @calls: system calls that are followed if @chosen
 * @entry_args: system calls whose entry has something to capture, all with
 *	@stack
 * @exit_args: whose exit has
 * @targets: struct process_target_item
 * @task_list: struct process_task in the order of their first call; RCU
 * @task_lock: guards @task_list and what follows up to @sweep
 * @ncounts: struct utrace_ftrace_count that there are
 * @next_scan: when to look for dead tasks again, in jiffies
 * @sweep: up to where dead tasks were looked for in @task_list
 * @started: when the tracer began or what it follows was last changed,
 *	local_clock(): calls that tasks entered before may be over
 * @epoch: what was counted under another number is over
 * @dropped: dead tasks that made room for others
 * @lost: events and calls for which there was no memory or room
 *
 * What has no other lock here is written under utrace_ftrace_mutex; callbacks read it
 * as it is at the moment.
 */
struct process_trace {
	struct kref ref;
	struct trace_array __rcu *tr;
	struct list_head active;
	struct utrace_engine __rcu *engine;
	struct utrace_match *match;
	struct trace_event_file *file[PROCESS_NRECORDS];
	unsigned long events;
	unsigned int args;
	enum process_stack stack;
	bool chosen;
	DECLARE_BITMAP(calls, PROCESS_CALLS);
	DECLARE_BITMAP(entry_args, PROCESS_CALLS);
	DECLARE_BITMAP(exit_args, PROCESS_CALLS);
	struct list_head targets[PROCESS_NTARGETS];
	struct list_head task_list;
	spinlock_t task_lock;	/* a leaf */
	unsigned int ncounts;
	unsigned long next_scan;
	struct list_head *sweep;
	u64 started;
	unsigned int epoch;
	atomic_long_t dropped;
	atomic_long_t lost;
};

/**
 * struct process_task - what the tracer of an instance knows of a task
 * @data: how the task finds it
 * @list: in process_trace.task_list
 * @ref: one for the task, one for the list
 * @rcu: for readers of the list
 * @pid: of the task, counted
 * @comm: its name when it was last looked at, for when it is dead
 * @saved: the name that ftrace was told; the task's own
 * @nr: the call it is in, -1 if in none; with @since its own to write
 * @since: when it entered it, local_clock()
 * @counting: what it enters is to be counted
 * @cpu_since: CPU time it had used at @since, in ns
 * @ncounts: how many are in @counts; under process_trace.task_lock
 * @counts: struct utrace_ftrace_count by the number of the call; RCU
 *
 * Made by the task at its first system call, and anew when execve() gives a thread
 * the pid of its leader.  Freed when the task exits if nothing was counted of it,
 * by a sweep soon after if it was not followed any more then, or else when the
 * room is needed, and with the process_trace.
 */
struct process_task {
	struct utrace_task_data data;
	struct list_head list;
	struct kref ref;
	struct rcu_head rcu;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
	char saved[TASK_COMM_LEN];
	int nr;
	u64 since;
	bool counting;
	u64 cpu_since;
	unsigned int ncounts;
	struct hlist_head counts[16];
};

extern struct mutex utrace_ftrace_mutex;
extern const char * const utrace_ftrace_event_names[PROCESS_NEVENTS];

static inline bool process_wants(const struct process_trace *pt,
				 enum process_event event)
{
	return READ_ONCE(pt->events) & BIT(event);
}

/* Position of a call in the bitmaps of calls; @nr as utrace_call_of() has it. */
static inline unsigned int process_call_bit(unsigned int nr)
{
	unsigned int bit = nr & ~(UTRACE_SYSCALL_IA32 | UTRACE_X32_BIT);

	if (bit >= PROCESS_CALLS / 2)
		bit = PROCESS_CALLS / 2 - 1;
	return nr & UTRACE_SYSCALL_IA32 ? PROCESS_CALLS / 2 + bit : bit;
}

/* The number that stands for a bit. */
static inline unsigned int process_call_nr(unsigned int bit)
{
	return bit < PROCESS_CALLS / 2 ? bit :
	       (bit - PROCESS_CALLS / 2) | UTRACE_SYSCALL_IA32;
}

/* Is the tracer the current one of an instance?  Under RCU. */
static inline bool process_is_active(const struct trace_array *tr)
{
	return tr->process && rcu_access_pointer(tr->process->tr);
}

static inline struct utrace_engine *utrace_ftrace_engine(const struct process_trace *pt)
{
	return rcu_dereference_protected(pt->engine,
					 lockdep_is_held(&utrace_ftrace_mutex));
}

/* ftrace_engine.c */
extern const struct utrace_engine_ops utrace_ftrace_ops;
int utrace_ftrace_apply(struct process_trace *pt);

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
			       struct task_struct *child, unsigned long clone_flags);
void utrace_ftrace_record_exec(struct utrace_engine *engine,
			       const struct linux_binprm *bprm, struct pt_regs *regs);
void utrace_ftrace_record_end(struct utrace_engine *engine, long code);
void utrace_ftrace_record_signal(struct utrace_engine *engine,
				 const struct kernel_siginfo *info,
				 const struct k_sigaction *ka, struct pt_regs *regs);
void utrace_ftrace_record_jobctl(struct utrace_engine *engine, int type, int notify);
bool utrace_ftrace_is_record(const struct trace_entry *entry);
void utrace_ftrace_print_record(struct seq_buf *s, const struct trace_entry *entry);

/* print.c */
void utrace_ftrace_print_entry(struct seq_buf *s, unsigned int nr,
			       const unsigned long *args, const void *items,
			       size_t used);
void utrace_ftrace_print_exit(struct seq_buf *s, unsigned int nr, long ret,
			      s64 duration, const void *items, size_t used);
void utrace_ftrace_print_fork(struct seq_buf *s, pid_t child, unsigned long flags);
void utrace_ftrace_print_exec(struct seq_buf *s, const char *filename,
			      const void *items, size_t used);
void utrace_ftrace_print_end(struct seq_buf *s, int code);
void utrace_ftrace_print_signal(struct seq_buf *s, int sig, int code, pid_t sender,
				const void *items, size_t used);
void utrace_ftrace_print_jobctl(struct seq_buf *s, int type);
enum print_line_t utrace_ftrace_print_line(struct trace_iterator *iter);

/* files.c */
void utrace_ftrace_create_files(struct trace_array *tr, struct dentry *dir);
void utrace_ftrace_update_captures(struct process_trace *pt);

/* targets.c */
struct utrace_match *utrace_ftrace_make_match(struct process_trace *pt);
void utrace_ftrace_free_targets(struct process_trace *pt);

/* stat.c */
void utrace_ftrace_init_tasks(struct process_trace *pt);
void utrace_ftrace_free_tasks(struct process_trace *pt);
struct process_task *utrace_ftrace_new_task(struct process_trace *pt);
void utrace_ftrace_count(struct process_trace *pt, struct process_task *task,
			 unsigned int nr, long ret, u64 duration);
void utrace_ftrace_task_ends(struct process_trace *pt);
void utrace_ftrace_task_execs(struct process_trace *pt);
extern const struct file_operations utrace_ftrace_stat_fops;

/* What an instance knows of the current task; NULL if nothing. */
static inline struct process_task *process_find_task(struct process_trace *pt)
{
	struct utrace_task_data *data = utrace_task_data_find(pt);

	return data ? container_of(data, struct process_task, data) : NULL;
}

/* How long ago did it enter?  The clocks of two CPUs may differ a little. */
static inline u64 process_since(const struct process_task *task)
{
	return max_t(s64, local_clock() - READ_ONCE(task->since), 0);
}

#endif /* _KERNEL_UTRACE_FTRACE_PROCESS_H */
