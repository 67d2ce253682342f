// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that is about to die of a signal with a core dump is stopped, and
 * stays so until this module is unloaded: then the signal takes its course.
 *
 * Written to the utrace documentation of 2010 (UTRACE_API_VERSION 20091216,
 * Linux 2.6.32). What Linux 6.12 needs changed is in suspend2010.diff.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/utrace.h>

static int pid;
module_param(pid, int, 0);
MODULE_PARM_DESC(pid, "thread to watch");

static struct pid *target;
static struct utrace_engine *engine;

/* Value of engine->data when the task has been stopped. */
#define SUSPENDED	((void *)1UL)

static u32 suspend_signal(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs, siginfo_t *info,
			  const struct k_sigaction *orig_ka,
			  struct k_sigaction *return_ka)
{
	/* A report without a signal: somebody asked for one */
	if (!orig_ka)
		return UTRACE_SIGNAL_IGN | UTRACE_RESUME;
	if (utrace_signal_action(action) != UTRACE_SIGNAL_CORE)
		return utrace_signal_action(action) | UTRACE_RESUME;
	if (engine->data == SUSPENDED)
		return UTRACE_SIGNAL_CORE | UTRACE_RESUME;

	engine->data = SUSPENDED;
	pr_info("suspend2010: %d stopped by signal %d (code %d)\n",
		current->pid, info->si_signo, info->si_code);
	/* Not now; the signal goes back to the queue, the thread stops */
	return UTRACE_SIGNAL_IGN | UTRACE_SIGNAL_HOLD | UTRACE_STOP;
}

/*
 * Called at every stop on the way, as long as the thread shall not run:
 * whatever else is reported, the answer is the same.
 */
static u32 suspend_quiesce(u32 action, struct utrace_engine *engine,
			   unsigned long event)
{
	return engine->data == SUSPENDED ? UTRACE_STOP : UTRACE_RESUME;
}

static u32 suspend_death(struct utrace_engine *engine, bool group_dead,
			 int signal)
{
	pr_info("suspend2010: %d is dead, signal %d\n", current->pid, signal);
	return UTRACE_DETACH;
}

static void suspend_reap(struct utrace_engine *engine,
			 struct task_struct *task)
{
	pr_info("suspend2010: reaped\n");
}

static const struct utrace_engine_ops suspend_ops = {
	.report_signal	= suspend_signal,
	.report_quiesce	= suspend_quiesce,
	.report_death	= suspend_death,
	.report_reap	= suspend_reap,
};

static int __init suspend_init(void)
{
	int ret;

	target = find_get_pid(pid);
	if (!target)
		return -ESRCH;
	engine = utrace_attach_pid(target, UTRACE_ATTACH_CREATE, &suspend_ops,
				   NULL);
	if (IS_ERR(engine)) {
		put_pid(target);
		return PTR_ERR(engine);
	}
	ret = utrace_set_events_pid(target, engine,
				    UTRACE_EVENT(SIGNAL_CORE) |
				    UTRACE_EVENT(QUIESCE) |
				    UTRACE_EVENT(DEATH) | UTRACE_EVENT(REAP));
	/* Bits were added only: the rest means that it is dead already */
	if (ret)
		pr_info("suspend2010: %d is gone: %d\n", pid, ret);
	return 0;
}

static void __exit suspend_exit(void)
{
	int ret = utrace_control_pid(target, engine, UTRACE_DETACH);

	if (ret && ret != -ESRCH && ret != -EALREADY && ret != -EINPROGRESS)
		pr_err("suspend2010: detach: %d\n", ret);
	do {
		ret = utrace_barrier_pid(target, engine);
	} while (ret == -ERESTARTSYS);
	utrace_engine_put(engine);
	put_pid(target);
}

module_init(suspend_init);
module_exit(suspend_exit);
MODULE_DESCRIPTION("stop crashing programs (utrace of 2010)");
MODULE_LICENSE("GPL");
