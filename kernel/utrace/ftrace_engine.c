// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: the engine of an instance
 *
 * An instance of ftrace whose current tracer is "process" has one system-wide
 * engine, with a match for its targets.  This file has the callbacks of the
 * engine and applies the settings of the instance to it; the rest is in
 * ftrace/.
 */
#include <linux/err.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "ftrace/process.h"
#include "match.h"

static u32 process_clone(u32 action, struct utrace_engine *engine,
			 unsigned long clone_flags, struct task_struct *child)
{
	utrace_ftrace_record_fork(engine, child, clone_flags);
	return UTRACE_RESUME;
}

/*
 * execve() gives a thread other than the leader the pid of the leader.  ftrace
 * checks the pid of a task only at context switches, and until then it would
 * filter records on this CPU by the old pid.
 */
static void process_refresh_pid(struct process_trace *pt)
{
	struct trace_pid_list *no_pids, *pids;
	struct trace_array *tr;

	guard(preempt_notrace)();
	tr = rcu_dereference_sched(pt->tr);
	if (!tr)
		return;
	no_pids = rcu_dereference_sched(tr->filtered_no_pids);
	pids = rcu_dereference_sched(tr->filtered_pids);
	this_cpu_write(tr->array_buffer.data->ignore_pid,
		       trace_ignore_this_task(pids, no_pids, current));
}

static u32 process_exec(u32 action, struct utrace_engine *engine,
			const struct linux_binfmt *fmt,
			const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;

	process_refresh_pid(pt);
	utrace_ftrace_task_execs(pt);
	if (process_wants(pt, PROCESS_EXEC))
		utrace_ftrace_record_exec(engine, bprm, regs);
	return UTRACE_RESUME;
}

static u32 process_exit(u32 action, struct utrace_engine *engine,
			long orig_code, long *code)
{
	struct process_trace *pt = engine->data;

	if (process_wants(pt, PROCESS_EXIT))
		utrace_ftrace_record_end(engine, *code);
	utrace_ftrace_task_ends(pt);
	return UTRACE_RESUME;
}

static u32 process_signal(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs, kernel_siginfo_t *info,
			  const struct k_sigaction *orig_ka,
			  struct k_sigaction *return_ka)
{
	if (orig_ka)
		utrace_ftrace_record_signal(engine, info, orig_ka, regs);
	return UTRACE_RESUME | utrace_signal_action(action);
}

static u32 process_jobctl(u32 action, struct utrace_engine *engine, int type,
			  int notify)
{
	/* Record a stop once, however often it is reported. */
	if (!(action & UTRACE_JCTL_AGAIN))
		utrace_ftrace_record_jobctl(engine, type, notify);
	return UTRACE_RESUME;
}

const struct utrace_engine_ops utrace_ftrace_ops = {
	.name			= "ftrace",
	.report_syscall_entry	= utrace_ftrace_sys_enter,
	.report_syscall_exit	= utrace_ftrace_sys_exit,
	.report_clone		= process_clone,
	.report_exec		= process_exec,
	.report_exit		= process_exit,
	.report_signal		= process_signal,
	.report_jctl		= process_jobctl,
	.release		= utrace_ftrace_put,
};

/* Get the events that the engine must report for these settings. */
static unsigned long
process_engine_events(const struct process_settings *settings)
{
	static const unsigned long events[PROCESS_NEVENTS] = {
		[PROCESS_SYS_ENTER]	= UTRACE_EVENT_SYSCALL,
		[PROCESS_SYS_EXIT]	= UTRACE_EVENT_SYSCALL,
		[PROCESS_FORK]		= UTRACE_EVENT(CLONE),
		[PROCESS_EXEC]		= UTRACE_EVENT(EXEC),
		[PROCESS_EXIT]		= UTRACE_EVENT(EXIT),
		[PROCESS_SIGNAL]	= UTRACE_EVENT(SIGNAL) |
					  UTRACE_EVENT(SIGNAL_STOP) |
					  UTRACE_EVENT(SIGNAL_TERM) |
					  UTRACE_EVENT(SIGNAL_CORE),
		[PROCESS_JOBCTL]	= UTRACE_EVENT(JCTL),
		[PROCESS_STAT]		= UTRACE_EVENT_SYSCALL,
	};
	unsigned long all = 0;
	unsigned int i;

	for_each_set_bit(i, &settings->events, PROCESS_NEVENTS)
		all |= events[i];
	/* The process_task of a task is dropped when the task exits. */
	if (all & UTRACE_EVENT_SYSCALL)
		all |= UTRACE_EVENT(EXIT);
	/* execve() may change the pid of a thread; see process_exec(). */
	if (all)
		all |= UTRACE_EVENT(EXEC);
	return all;
}

/*
 * Make the chosen system calls the filter of the engine, so that the core does
 * not report the others.  Return 0 or -ENOMEM.
 */
static int process_set_filter(struct utrace_engine *engine,
			      const struct process_settings *settings)
{
	int *nrs __free(kfree) = kmalloc_array(PROCESS_CALLS, sizeof(*nrs),
					       GFP_KERNEL);
	unsigned int bit, n = 0;

	if (!nrs)
		return -ENOMEM;
	if (settings->chosen)
		for_each_set_bit(bit, settings->calls, PROCESS_CALLS)
			nrs[n++] = process_call_nr(bit);
	return utrace_set_syscall_filter(engine, nrs, n);
}

/*
 * Make @engine follow the settings; @match was made from them.  The steps that
 * may fail come first: after -ENOMEM the engine follows the old settings.
 */
static int process_set_engine(struct utrace_engine *engine,
			      struct utrace_match *match,
			      const struct process_settings *settings)
{
	int ret = utrace_match_arm(match);

	if (!ret)
		ret = process_set_filter(engine, settings);
	if (ret)
		return ret;
	WARN_ON_ONCE(utrace_set_match(engine, match));
	/*
	 * -EINPROGRESS: a running callback may still record by the old
	 * settings.
	 */
	ret = utrace_set_events(NULL, engine, process_engine_events(settings));
	WARN_ON_ONCE(ret && ret != -EINPROGRESS);
	return 0;
}

/**
 * utrace_ftrace_apply() - make the engine of an instance follow settings
 * @pt: the instance.  It has no engine while it uses another tracer, and then
 *	only the match is made.
 * @settings: the settings
 *
 * Context: Process context; may sleep.  utrace_ftrace_mutex is held.
 * Return:
 * * 0 - the engine follows @settings
 * * -ENOSPC - there are too many targets; nothing has changed
 * * -ENOMEM - out of memory; nothing has changed
 */
int utrace_ftrace_apply(struct process_trace *pt,
			const struct process_settings *settings)
{
	struct utrace_engine *engine = utrace_ftrace_engine(pt);
	struct utrace_match *match;
	int ret;

	match = utrace_ftrace_make_match(settings);
	if (IS_ERR(match))
		return PTR_ERR(match);
	utrace_match_chooser(match, utrace_ftrace_choose, pt);
	ret = engine ? process_set_engine(engine, match, settings) : 0;
	/* From here on @match is the old one, or after an error the new one. */
	if (!ret)
		swap(pt->match, match);
	utrace_match_put(match);
	return ret;
}
