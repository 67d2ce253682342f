// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_rude
 *
 * Breaks the rules for engines on purpose, so that tests can check that the
 * core and the traced program survive it.  Not an example to follow. ::
 *
 *	modprobe utrace_rude pid=1234 mode=garbage
 *
 * * mode=slow: every callback sleeps for delay= milliseconds
 * * mode=garbage: every return value has all bits set
 * * mode=attach: every callback attaches one more engine to its own task
 * * mode=stop: every callback returns UTRACE_STOP, and the engine never resumes
 *   the task
 * * mode=detach: every callback detaches twice by call and once by its return
 *   value
 *
 * The parameter engines counts the engines attached so far, refused the calls
 * that failed.  Unloading the module detaches all engines, which resumes a
 * stopped task.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/utrace.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "thread to be rude to");

static char *mode = "slow";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "slow, garbage, attach, stop or detach");

static unsigned int delay = 100;
module_param(delay, uint, 0444);
MODULE_PARM_DESC(delay, "milliseconds that mode=slow sleeps");

static unsigned int engines, refused;
module_param(engines, uint, 0444);
module_param(refused, uint, 0444);

/* Protects engines, refused, attached and unloading. */
static DEFINE_MUTEX(rude_lock);
/* One more engine than a task can have, so that mode=attach fails. */
static struct utrace_engine *attached[UTRACE_MAX_ENGINES + 1];
static bool unloading;
static const struct utrace_engine_ops rude_ops;

static int rude_attach(struct task_struct *task)
{
	struct utrace_engine *engine;

	if (engines == ARRAY_SIZE(attached))
		return -ENOSPC;
	engine = utrace_attach_task(task, UTRACE_ATTACH_CREATE, &rude_ops,
				    NULL);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	attached[engines++] = engine;
	return utrace_set_events(task, engine, UTRACE_EVENT(QUIESCE) |
				 UTRACE_EVENT_SYSCALL);
}

static void rude_detach(struct utrace_engine *engine)
{
	if (utrace_control(current, engine, UTRACE_DETACH))
		refused++;
}

static u32 rude_answer(struct utrace_engine *engine)
{
	u32 answer = UTRACE_RESUME;

	if (!strcmp(mode, "slow"))
		msleep(delay);
	if (!strcmp(mode, "garbage"))
		answer = ~0U;
	if (!strcmp(mode, "stop"))
		answer = UTRACE_STOP;

	guard(mutex)(&rude_lock);
	if (!strcmp(mode, "attach") && !unloading && rude_attach(current))
		refused++;
	if (!strcmp(mode, "detach")) {
		answer = UTRACE_DETACH;
		rude_detach(engine);
		rude_detach(engine);
	}
	return answer;
}

static u32 rude_quiesce(u32 action, struct utrace_engine *engine,
			unsigned long event)
{
	return rude_answer(engine);
}

static u32 rude_syscall(u32 action, struct utrace_engine *engine,
			struct pt_regs *regs)
{
	return rude_answer(engine);
}

static const struct utrace_engine_ops rude_ops = {
	.report_quiesce		= rude_quiesce,
	.report_syscall_entry	= rude_syscall,
	.report_syscall_exit	= rude_syscall,
	.owner			= THIS_MODULE,
	.name			= "utrace_rude",
};

static void rude_exit(void)
{
	unsigned int i;

	scoped_guard(mutex, &rude_lock)
		unloading = true;
	for (i = 0; i < engines; i++)
		utrace_engine_shutdown(attached[i]);
}

static int __init rude_init(void)
{
	struct pid *id = find_get_pid(pid);
	struct task_struct *task = get_pid_task(id, PIDTYPE_PID);
	int ret;

	put_pid(id);
	if (!task)
		return -ESRCH;
	scoped_guard(mutex, &rude_lock)
		ret = rude_attach(task);
	put_task_struct(task);
	if (ret)
		rude_exit();
	return ret;
}

module_init(rude_init);
module_exit(rude_exit);
MODULE_DESCRIPTION("utrace sample: a misbehaving engine, for tests");
MODULE_LICENSE("GPL");
