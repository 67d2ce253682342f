// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - /proc/PID/utrace: the engines that trace a task
 *
 * The file has one line for each engine, and one for ptrace.  No engine
 * is hidden: each process that may read the state of the task, as
 * ptrace_may_access() says, may read this file.  The sysctl kernel.utrace.stats
 * turns the statistics on.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "engine.h"
#include "pass.h"
#include "scope_system.h"

/*
 * The data of an engine's line.  Copied under utrace->lock or RCU and printed
 * later, so that no reference to the engine is kept.
 */
struct utrace_row {
	char name[UTRACE_NAME_LEN];
	char owner[MODULE_NAME_LEN];
	const struct utrace_engine *engine;	/* only compared */
	unsigned int state;
	unsigned long events;
	bool holds;
	struct utrace_engine *holder;	/* with one of the core's references */
	pid_t awaited;			/* -1: not known */
	u64 calls;
	u64 nsec;
};

static const char * const utrace_event_names[] = {
	[_UTRACE_EVENT_QUIESCE]		= "quiesce",
	[_UTRACE_EVENT_REAP]		= "reap",
	[_UTRACE_EVENT_CLONE]		= "clone",
	[_UTRACE_EVENT_EXEC]		= "exec",
	[_UTRACE_EVENT_EXIT]		= "exit",
	[_UTRACE_EVENT_DEATH]		= "death",
	[_UTRACE_EVENT_SYSCALL_ENTRY]	= "syscall_entry",
	[_UTRACE_EVENT_SYSCALL_EXIT]	= "syscall_exit",
	[_UTRACE_EVENT_SIGNAL]		= "signal",
	[_UTRACE_EVENT_SIGNAL_IGN]	= "signal_ign",
	[_UTRACE_EVENT_SIGNAL_STOP]	= "signal_stop",
	[_UTRACE_EVENT_SIGNAL_TERM]	= "signal_term",
	[_UTRACE_EVENT_SIGNAL_CORE]	= "signal_core",
	[_UTRACE_EVENT_JCTL]		= "jctl",
	[_UTRACE_EVENT_VFORK_DONE]	= "vfork_done",
	[_UTRACE_EVENT_CREDS]		= "creds",
};

static_assert(ARRAY_SIZE(utrace_event_names) == _UTRACE_NEVENTS);

static const char * const utrace_class_names[] = {
	[UTRACE_CLASS_MUTATOR]		= "mutator",
	[UTRACE_CLASS_OBSERVER]		= "observer",
	[UTRACE_CLASS_ENFORCER]		= "enforcer",
	[UTRACE_CLASS_LAST_RESORT]	= "last-resort",
};

static const char *utrace_scope_name(unsigned int state)
{
	if (state & UTRACE_STATE_SYSTEM)
		return "system";
	if (state & UTRACE_STATE_TREE)
		return "tree";
	return state & UTRACE_STATE_PROCESS ? "process" : "thread";
}

/* Show the names of the bits that are set in @bits. */
static void utrace_show_bits(struct seq_file *m, unsigned long bits,
			     const char * const *names)
{
	unsigned int bit;
	char sep = ' ';

	if (!bits)
		seq_puts(m, " -");
	for_each_set_bit(bit, &bits, BITS_PER_LONG) {
		seq_printf(m, "%c%s", sep, names[bit]);
		sep = ',';
	}
}

static void utrace_show_row(struct seq_file *m, const struct utrace_row *row,
			    u32 since)
{
	/* A name that contains blanks must stay one field. */
	seq_escape(m, row->name, " \t\n\\");
	seq_printf(m, " %s %s %s", row->owner,
		   utrace_scope_name(row->state),
		   utrace_class_names[utrace_state_class(row->state)]);
	utrace_show_bits(m, row->events & UTRACE_EVENT_ALL, utrace_event_names);
	/* The seconds that the task has been stopped; 0 if it is not. */
	if (!row->holds)
		seq_puts(m, " -");
	else
		seq_printf(m, " %u", !since ? 0 :
			   (u32)ktime_get_seconds() - since);
	if (static_key_enabled(&utrace_stats))
		seq_printf(m, " %llu %llu", row->calls,
			   div_u64(row->nsec, NSEC_PER_USEC));
	else
		seq_puts(m, " - -");
	if (row->awaited < 0)
		seq_puts(m, " -\n");
	else
		seq_printf(m, " pid:%d\n", row->awaited);
}

/* Fill in the row of an engine, whose memory the caller keeps. */
static void utrace_get_row(struct utrace_row *row, struct utrace_engine *engine,
			   struct pid_namespace *ns, bool holds, bool rejects)
{
	/*
	 * Set once.  Read the pointer before the pid; pairs with
	 * utrace_set_owner().
	 */
	struct pid *process = smp_load_acquire(&engine->info->on_behalf);

	strscpy(row->name, engine->info->name);
	if (process)
		snprintf(row->owner, sizeof(row->owner), "pid:%d",
			 pid_nr_ns(process, ns));
	else
		strscpy(row->owner, engine->info->owner);
	row->engine = engine;
	row->state = utrace_engine_state(engine);
	row->events = rejects ? 0 : READ_ONCE(engine->flags);
	row->holds = holds;
	row->holder = holds && utrace_core_tryget(engine) ? engine : NULL;
	row->awaited = -1;
	row->calls = atomic64_read(&engine->info->calls);
	row->nsec = atomic64_read(&engine->info->nsec);
}

/*
 * Add rows for engines of the system that are not in the set of the task yet.
 * @n rows are filled in before.  Returns the number of rows.
 */
static unsigned int utrace_get_system_rows(struct task_struct *task,
					   struct pid_namespace *ns,
					   struct utrace_row *row,
					   unsigned int n)
{
	bool rejected = READ_ONCE(task->utrace_events) & UTRACE_WORD_REJECTED;
	const struct utrace_system *system;
	struct utrace_engine *engine;
	unsigned int i, k;

	guard(rcu)();
	system = rcu_dereference(utrace_system);
	for (i = 0; i < system->n && n < UTRACE_NSLOTS; i++) {
		engine = system->engine[system->all[i]];
		if (!utrace_system_reaches(engine, task->flags & PF_KTHREAD) ||
		    !utrace_shell_tryget(engine))
			continue;
		for (k = 0; k < n && row[k].engine != engine; k++)
			;
		if (k == n)
			utrace_get_row(&row[n++], engine, ns, false, rejected);
		utrace_shell_put(engine);
	}
	return n;
}

/*
 * Fill in rows for the engines in the set of the task.  Returns their number.
 */
static unsigned int utrace_get_rows(struct task_struct *task,
				    struct pid_namespace *ns,
				    struct utrace_row *row, u32 *since)
{
	struct utrace *u = READ_ONCE(task->utrace);
	unsigned int n = 0;

	if (!u)
		return 0;
	guard(spinlock_irqsave)(&u->lock);
	*since = READ_ONCE(u->held_since);
	if (!task->utrace_set)
		return 0;
	utrace_set_for_each(task->utrace_set, UTRACE_LIST_ALL, at)
		if (!utrace_engine_detached(at.engine))
			utrace_get_row(&row[n++], at.engine, ns,
				       u->hold & BIT_ULL(at.slot),
				       u->muted & BIT_ULL(at.slot));
	return n;
}

/*
 * Ask an engine that holds the task whom it waits for, and drop the reference
 * to the engine.  Called without locks.
 */
static void utrace_ask_holder(struct utrace_row *row, struct pid_namespace *ns)
{
	struct utrace_engine *holder = row->holder;
	struct pid *process = NULL;

	if (!holder)
		return;
	if (holder->ops->held_for)
		process = holder->ops->held_for(holder);
	if (process)
		row->awaited = pid_nr_ns(process, ns);
	put_pid(process);
	utrace_core_put(holder);
}

/* By the number of the bit, for the bits of PTRACE_O_MASK. */
static const char * const utrace_ptrace_options[] = {
	[0]			 = "sysgood",
	[PTRACE_EVENT_FORK]	 = "fork",
	[PTRACE_EVENT_VFORK]	 = "vfork",
	[PTRACE_EVENT_CLONE]	 = "clone",
	[PTRACE_EVENT_EXEC]	 = "exec",
	[PTRACE_EVENT_VFORK_DONE] = "vfork_done",
	[PTRACE_EVENT_EXIT]	 = "exit",
	[PTRACE_EVENT_SECCOMP]	 = "seccomp",
	[20]			 = "exitkill",
	[21]			 = "suspend_seccomp",
};

static_assert(BIT(0) == PTRACE_O_TRACESYSGOOD &&
	      BIT(20) == PTRACE_O_EXITKILL &&
	      BIT(21) == PTRACE_O_SUSPEND_SECCOMP);

/*
 * The code that wait4(2) returns to the first tracer for a stop: the number of
 * the signal, or the code made by ptrace_do_notify(), which wait4(2) shifts by
 * 8 bits.  siglock is held.
 */
static unsigned int utrace_ptrace_code(struct task_struct *task)
{
	const kernel_siginfo_t *info = task->last_siginfo;

	/* A group stop without PTRACE_SEIZE has no info. */
	if (!info)
		return task->jobctl & JOBCTL_STOP_SIGMASK;
	if (info->si_code > 0 && (info->si_code & 0x7f) == info->si_signo)
		return info->si_code;
	return info->si_signo;
}

/*
 * The code of the present stop for the tracer; 0 if there is none.  A group
 * stop in which the tracer listens has none, see task_stopped_code().
 */
static unsigned int utrace_ptrace_stop(struct task_struct *task)
{
	unsigned int code = 0;
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return 0;
	if (task_is_traced(task) && !(task->jobctl & JOBCTL_LISTENING))
		code = utrace_ptrace_code(task);
	unlock_task_sighand(task, &flags);
	return code;
}

/* The line of the tracer, which has no engine. */
static void utrace_show_ptrace(struct seq_file *m, struct pid_namespace *ns,
			       struct task_struct *task)
{
	struct task_struct *tracer;
	unsigned int flags = 0, code;
	pid_t pid = 0;

	scoped_guard(rcu) {
		tracer = ptrace_parent(task);
		if (tracer) {
			pid = task_tgid_nr_ns(tracer, ns);
			flags = READ_ONCE(task->ptrace);
		}
	}
	if (!tracer)
		return;
	seq_printf(m, "ptrace pid:%d thread %s", pid,
		   flags & PT_SEIZED ? "seized" : "attached");
	utrace_show_bits(m, flags >> PT_OPT_FLAG_SHIFT & PTRACE_O_MASK,
			 utrace_ptrace_options);
	code = utrace_ptrace_stop(task);
	if (code)
		seq_printf(m, " %#x - - -\n", code);
	else
		seq_puts(m, " - - - -\n");
}

/**
 * proc_pid_utrace() - show /proc/PID/utrace and /proc/PID/task/TID/utrace
 * @m: the file
 * @ns: the pid namespace of the mount
 * @pid: not used
 * @task: the task; the caller has a reference
 *
 * Context: Process context, may sleep.
 * Return:
 * * 0 - done
 * * -EACCES - the reader may not access the task
 * * -ENOMEM - no memory
 */
int proc_pid_utrace(struct seq_file *m, struct pid_namespace *ns,
		    struct pid *pid, struct task_struct *task)
{
	struct utrace_row *rows __free(kfree) = NULL;
	unsigned int i, n;
	u32 since = 0;

	if (!ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS))
		return -EACCES;
	rows = kcalloc(UTRACE_NSLOTS, sizeof(*rows), GFP_KERNEL);
	if (!rows)
		return -ENOMEM;

	seq_puts(m, "NAME OWNER SCOPE CLASS EVENTS HOLD CALLS TIME_US AWAITS\n");
	utrace_show_ptrace(m, ns, task);
	n = utrace_get_rows(task, ns, rows, &since);
	n = utrace_get_system_rows(task, ns, rows, n);
	for (i = 0; i < n; i++) {
		utrace_ask_holder(&rows[i], ns);
		utrace_show_row(m, &rows[i], since);
	}
	return 0;
}

#ifdef CONFIG_SYSCTL
/* Keeps the static key consistent with utrace_stats_value. */
static DEFINE_MUTEX(utrace_stats_mutex);
static int utrace_stats_value;

static int utrace_stats_sysctl(const struct ctl_table *table, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret;

	guard(mutex)(&utrace_stats_mutex);
	ret = proc_dointvec_minmax(table, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;
	if (utrace_stats_value)
		static_branch_enable(&utrace_stats);
	else
		static_branch_disable(&utrace_stats);
	return 0;
}

static struct ctl_table utrace_sysctls[] = {
	{
		.procname	= "stats",
		.data		= &utrace_stats_value,
		.maxlen		= sizeof(utrace_stats_value),
		.mode		= 0644,
		.proc_handler	= utrace_stats_sysctl,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init utrace_sysctl_init(void)
{
	register_sysctl_init("kernel/utrace", utrace_sysctls);
	return 0;
}
late_initcall(utrace_sysctl_init);
#endif /* CONFIG_SYSCTL */
