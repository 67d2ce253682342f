// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_syscall_deny
 *
 * Makes one system call fail, with the error of your choice, in a process and
 * in all tasks that it creates. The engine is an enforcer: it is called after
 * every engine that might change the call, so it decides about the final call.
 * ::
 *
 *	modprobe utrace_syscall_deny pid=1234 nr=83 errno=1	# mkdir: EPERM
 *
 * Because of the engine's syscall filter all other calls run at full speed. The
 * call works again once the module is unloaded.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/utrace.h>

#include <asm/syscall.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process whose tree is denied the call");

static int nr = -1;
module_param(nr, int, 0444);
MODULE_PARM_DESC(nr, "number of the call in the native table");

static int errno = EPERM;
module_param(errno, int, 0444);
MODULE_PARM_DESC(errno, "error that the call gives");

static struct utrace_engine *engine;

static u32 deny_entry(u32 action, struct utrace_engine *engine,
		      struct pt_regs *regs)
{
	/*
	 * The filter passes only nr.  With ABORT the result is the one in regs.
	 */
	syscall_set_return_value(current, regs, -errno, 0);
	return UTRACE_SYSCALL_ABORT | UTRACE_RESUME;
}

static const struct utrace_engine_ops deny_ops = {
	.report_syscall_entry	= deny_entry,
	.owner			= THIS_MODULE,
	.name			= "utrace_syscall_deny",
};

static int __init deny_init(void)
{
	struct pid *target;
	int ret;

	if (nr < 0 || errno <= 0 || errno > MAX_ERRNO)
		return -EINVAL;
	target = find_get_pid(pid);
	if (!target)
		return -ESRCH;
	engine = utrace_attach_pid(target, UTRACE_ATTACH_CREATE |
				   UTRACE_ATTACH_ENFORCER |
				   UTRACE_ATTACH_TREE, &deny_ops, NULL);
	put_pid(target);
	if (IS_ERR(engine))
		return PTR_ERR(engine);

	/* Set the filter before events, so that no other call is denied. */
	ret = utrace_set_syscall_filter(engine, &nr, 1);
	if (!ret)
		ret = utrace_set_events(NULL, engine,
					UTRACE_EVENT(SYSCALL_ENTRY));
	if (ret)
		utrace_engine_shutdown(engine);
	return ret;
}

static void __exit deny_exit(void)
{
	utrace_engine_shutdown(engine);
}

module_init(deny_init);
module_exit(deny_exit);
MODULE_DESCRIPTION("utrace sample: make a system call fail in a tree");
MODULE_LICENSE("GPL");
