// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - an observer of a whole tree, which does nothing
 *
 * After "insmod utrace_noop.ko pid=N" any program that process N runs must give
 * the results that it gives without the module.  /proc/N/utrace shows how often
 * the engine was called.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/utrace.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process whose tree is watched");

static struct utrace_engine *engine;

static u32 noop_quiesce(u32 action, struct utrace_engine *engine,
			unsigned long event)
{
	return UTRACE_RESUME;
}

static u32 noop_signal(u32 action, struct utrace_engine *engine,
		       struct pt_regs *regs, kernel_siginfo_t *info,
		       const struct k_sigaction *orig_ka,
		       struct k_sigaction *return_ka)
{
	return UTRACE_RESUME | utrace_signal_action(action);
}

static u32 noop_clone(u32 action, struct utrace_engine *engine,
		      unsigned long clone_flags, struct task_struct *child)
{
	return UTRACE_RESUME;
}

static u32 noop_jctl(u32 action, struct utrace_engine *engine, int type,
		     int notify)
{
	return UTRACE_RESUME;
}

static u32 noop_exec(u32 action, struct utrace_engine *engine,
		     const struct linux_binfmt *fmt,
		     const struct linux_binprm *bprm, struct pt_regs *regs)
{
	return UTRACE_RESUME;
}

static u32 noop_syscall_entry(u32 action, struct utrace_engine *engine,
			      struct pt_regs *regs)
{
	return UTRACE_RESUME | utrace_syscall_action(action);
}

static u32 noop_syscall_exit(u32 action, struct utrace_engine *engine,
			     struct pt_regs *regs)
{
	return UTRACE_RESUME;
}

static u32 noop_exit(u32 action, struct utrace_engine *engine, long orig_code,
		     long *code)
{
	return UTRACE_RESUME;
}

static u32 noop_death(struct utrace_engine *engine, bool group_dead, int signal)
{
	return UTRACE_RESUME;
}

static void noop_reap(struct utrace_engine *engine, struct task_struct *task)
{
}

static u32 noop_vfork_done(u32 action, struct utrace_engine *engine,
			   pid_t child_pid)
{
	return UTRACE_RESUME;
}

static u32 noop_creds(u32 action, struct utrace_engine *engine,
		      const struct linux_binprm *bprm)
{
	return UTRACE_RESUME;
}

static const struct utrace_engine_ops noop_ops = {
	.report_quiesce		= noop_quiesce,
	.report_signal		= noop_signal,
	.report_clone		= noop_clone,
	.report_jctl		= noop_jctl,
	.report_exec		= noop_exec,
	.report_syscall_entry	= noop_syscall_entry,
	.report_syscall_exit	= noop_syscall_exit,
	.report_exit		= noop_exit,
	.report_death		= noop_death,
	.report_reap		= noop_reap,
	.report_vfork_done	= noop_vfork_done,
	.report_creds		= noop_creds,
	.owner			= THIS_MODULE,
	.name			= "utrace_noop",
};

static int __init noop_init(void)
{
	struct pid *target = find_get_pid(pid);
	int ret;

	if (!target)
		return -ESRCH;
	engine = utrace_attach_pid(target, UTRACE_ATTACH_CREATE |
				   UTRACE_ATTACH_TREE |
				   UTRACE_ATTACH_OBSERVER, &noop_ops, NULL);
	put_pid(target);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	/*
	 * SIGNAL_IGN is left out: an ignored signal is queued only if an engine
	 * wants that event, which the program can notice.
	 */
	ret = utrace_set_events(NULL, engine, UTRACE_EVENT_ALL &
				~UTRACE_EVENT(SIGNAL_IGN));
	if (ret)
		utrace_engine_shutdown(engine);
	return ret;
}

static void __exit noop_exit_module(void)
{
	utrace_engine_shutdown(engine);
}

module_init(noop_init);
module_exit(noop_exit_module);
MODULE_DESCRIPTION("utrace tests: watch everything, do nothing");
MODULE_LICENSE("GPL");
