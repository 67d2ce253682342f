// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_crash_suspend
 *
 * Stops a program that is about to die of a signal that dumps core, so that a
 * debugger can attach to the program in the state of the crash. ::
 *
 *	modprobe utrace_crash_suspend pid=1234
 *	cat /sys/kernel/debug/utrace_crash_suspend/crashes  # "pid signal name"
 *	gdb -p 5678
 *	kill -CONT 5678					    # the crash goes on
 *
 * The engine is one of last resort, so every other engine that handles the
 * signal is called before this one. The engine puts the signal back and stops
 * the process by job control, which every debugger and shell understands. When
 * the process is continued, the task dequeues the signal again, and the engine
 * ignores it.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "utrace_sample_lib.h"

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process whose tree is suspended at a crash");

/*
 * A thread that was stopped at a crash and has not ended yet.  There is an
 * entry for each thread: if two threads crash together, the second must be
 * stopped as well, or its crash would end the process.
 */
struct crash {
	struct list_head list;
	struct task_struct *task;	/* no reference, only compared */
	pid_t tgid;
	int signo;
	char comm[TASK_COMM_LEN];
};

static LIST_HEAD(crashes);
static DEFINE_MUTEX(crashes_lock);

static struct crash *crash_find(void)
{
	struct crash *crash;

	list_for_each_entry(crash, &crashes, list)
		if (crash->task == current)
			return crash;
	return NULL;
}

/* Note a crash of the current thread; false if it has crashed before. */
static bool crash_add(int signo)
{
	struct crash *crash;

	guard(mutex)(&crashes_lock);
	if (crash_find())
		return false;
	crash = kzalloc(sizeof(*crash), GFP_KERNEL);
	if (!crash)
		return false;
	crash->task = current;
	crash->tgid = current->tgid;
	crash->signo = signo;
	get_task_comm(crash->comm, current);
	list_add_tail(&crash->list, &crashes);
	return true;
}

static u32 crash_signal(u32 action, struct utrace_engine *engine,
			struct pt_regs *regs, kernel_siginfo_t *info,
			const struct k_sigaction *orig_ka,
			struct k_sigaction *return_ka)
{
	/* Another engine may have changed the action of the signal. */
	if (utrace_signal_action(action) != UTRACE_SIGNAL_CORE ||
	    !crash_add(info->si_signo))
		return UTRACE_RESUME | utrace_signal_action(action);
	return UTRACE_RESUME | UTRACE_SIGNAL_STOP | UTRACE_SIGNAL_HOLD;
}

static u32 crash_exit(u32 action, struct utrace_engine *engine,
		      long orig_code, long *code)
{
	struct crash *crash;

	guard(mutex)(&crashes_lock);
	crash = crash_find();
	if (crash)
		list_del(&crash->list);
	kfree(crash);
	return UTRACE_RESUME;
}

static const struct utrace_engine_ops crash_ops = {
	.report_signal	= crash_signal,
	.report_exit	= crash_exit,
	.owner		= THIS_MODULE,
	.name		= "utrace_crash_suspend",
};

static int crashes_show(struct seq_file *m, void *unused)
{
	struct crash *crash;

	guard(mutex)(&crashes_lock);
	list_for_each_entry(crash, &crashes, list)
		seq_printf(m, "%d %d %s\n", crash->tgid, crash->signo,
			   crash->comm);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(crashes);

static struct utrace_sample crash_suspend = {
	.ops	= &crash_ops,
	.events	= UTRACE_EVENT(SIGNAL_CORE) | UTRACE_EVENT(EXIT),
	.flags	= UTRACE_ATTACH_LAST_RESORT | UTRACE_ATTACH_TREE,
	.file	= "crashes",
	.fops	= &crashes_fops,
};

static int __init crash_suspend_init(void)
{
	return utrace_sample_init(&crash_suspend, pid);
}

static void __exit crash_suspend_exit(void)
{
	struct crash *crash, *next;

	utrace_sample_exit(&crash_suspend);
	list_for_each_entry_safe(crash, next, &crashes, list)
		kfree(crash);
}

module_init(crash_suspend_init);
module_exit(crash_suspend_exit);
MODULE_DESCRIPTION("utrace sample: a crashing program waits for a debugger");
MODULE_LICENSE("GPL");
