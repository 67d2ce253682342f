// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: the engine of an instance
 *
 * An instance of ftrace whose current tracer is "process" has one system-wide
 * engine, with a match for its targets.  This file has the callbacks of the
 * engine; the rest is in ftrace/.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/utrace.h>

#include "ftrace/instance.h"
#include "ftrace/record.h"
#include "ftrace/stat.h"

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
	/* Record a stop only once, however often it is reported. */
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
