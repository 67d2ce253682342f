// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: the engine of an instance
 *
 * An instance of ftrace whose current tracer is "process" has an engine on the
 * whole system, with a match for its targets.  Here are the callbacks of that
 * engine, and how the settings of the instance reach it; ftrace/ has the rest.
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
 * A thread other than the first has another pid now, and ftrace looks at it only
 * when tasks are switched: until then it would drop records by the old one.
 */
static void process_refresh_pid(struct process_trace *pt)
{
	struct trace_array *tr;

	guard(preempt_notrace)();
	tr = rcu_dereference_sched(pt->tr);
	if (tr)
		this_cpu_write(tr->array_buffer.data->ignore_pid,
			       trace_ignore_this_task(rcu_dereference_sched(tr->filtered_pids),
						      rcu_dereference_sched(tr->filtered_no_pids),
						      current));
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

/* What the engine has to be told of for the instance to record its events. */
static unsigned long process_engine_events(const struct process_trace *pt)
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

	for_each_set_bit(i, &pt->events, PROCESS_NEVENTS)
		all |= events[i];
	/* What is known of a task is given up at its end. */
	if (all & UTRACE_EVENT_SYSCALL)
		all |= UTRACE_EVENT(EXIT);
	/* Its pid may be another one. */
	if (all)
		all |= UTRACE_EVENT(EXEC);
	return all;
}

/* The system calls that were chosen, for the core to leave out the others. */
static int process_set_filter(struct process_trace *pt,
			      struct utrace_engine *engine)
{
	int *nrs __free(kfree) = kmalloc_array(PROCESS_CALLS, sizeof(*nrs),
					       GFP_KERNEL);
	unsigned int bit, n = 0;

	if (!nrs)
		return -ENOMEM;
	if (pt->chosen)
		for_each_set_bit(bit, pt->calls, PROCESS_CALLS)
			nrs[n++] = process_call_nr(bit);
	return utrace_set_syscall_filter(engine, nrs, n);
}

/**
 * utrace_ftrace_apply - have the engine of an instance do what its settings say
 * @pt: the instance, whose current tracer may be another one
 *
 * Context: Process context.  utrace_ftrace_mutex is held.
 * Return: 0; -ENOSPC: too many targets; -ENOMEM.  Not all of it is done then.
 */
int utrace_ftrace_apply(struct process_trace *pt)
{
	struct utrace_engine *engine = utrace_ftrace_engine(pt);
	struct utrace_match *match;
	int ret;

	match = utrace_ftrace_make_match(pt);
	if (IS_ERR(match))
		return PTR_ERR(match);
	utrace_match_chooser(match, utrace_ftrace_choose, pt);
	ret = engine ? process_set_filter(pt, engine) : 0;
	if (!ret && engine)
		ret = utrace_set_match(engine, match);
	if (ret) {
		utrace_match_put(match);
		return ret;
	}
	utrace_match_put(pt->match);
	pt->match = match;
	if (!engine)
		return 0;
	ret = utrace_set_events(NULL, engine, process_engine_events(pt));
	/* Callbacks that run now may record by the settings of before. */
	return ret == -EINPROGRESS ? 0 : ret;
}
