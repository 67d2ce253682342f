// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_syscount
 *
 * Counts the system calls of a process and of all tasks that it creates, by
 * number, from the attach on. This is a minimal engine, an observer with one
 * event. ::
 *
 *	modprobe utrace_syscount pid=1234
 *	cat /sys/kernel/debug/utrace_syscount/counts	# lines "nr count"
 *	echo 1 > /sys/kernel/debug/utrace_syscount/reset
 *	echo 5678 > /sys/kernel/debug/utrace_syscount/attach
 *
 * Calls that are not in the native table are counted under the number -1.
 */
#include <linux/atomic.h>
#include <linux/compat.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/utrace.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "utrace_sample_lib.h"

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process whose tree is counted");

/* The last element counts calls whose numbers are not in the native table. */
static atomic64_t counts[__NR_syscalls + 1];

static u32 syscount_entry(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs)
{
	unsigned int nr = syscall_get_nr(current, regs);

	if (nr > __NR_syscalls || in_compat_syscall())
		nr = __NR_syscalls;
	/* RESUMED: reported again after a stop, and counted before. */
	if (!(action & UTRACE_SYSCALL_RESUMED))
		atomic64_inc(&counts[nr]);
	/* An observer returns the action of the earlier engines. */
	return UTRACE_RESUME | utrace_syscall_action(action);
}

static const struct utrace_engine_ops syscount_ops = {
	.report_syscall_entry	= syscount_entry,
	.owner			= THIS_MODULE,
	.name			= "utrace_syscount",
};

static int counts_show(struct seq_file *m, void *unused)
{
	unsigned int nr;
	s64 n;

	for (nr = 0; nr <= __NR_syscalls; nr++) {
		n = atomic64_read(&counts[nr]);
		if (n)
			seq_printf(m, "%d %lld\n",
				   nr < __NR_syscalls ? (int)nr : -1, n);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int reset_set(void *data, u64 unused)
{
	unsigned int nr;

	for (nr = 0; nr <= __NR_syscalls; nr++)
		atomic64_set(&counts[nr], 0);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(reset_fops, NULL, reset_set, "%llu\n");

static struct utrace_sample syscount = {
	.ops	= &syscount_ops,
	.events	= UTRACE_EVENT(SYSCALL_ENTRY),
	.flags	= UTRACE_ATTACH_OBSERVER | UTRACE_ATTACH_TREE,
	.file	= "counts",
	.fops	= &counts_fops,
};

static int __init syscount_init(void)
{
	int ret = utrace_sample_init(&syscount, pid);

	if (!ret)
		debugfs_create_file_unsafe("reset", 0200, syscount.dir, NULL,
					   &reset_fops);
	return ret;
}

static void __exit syscount_exit(void)
{
	utrace_sample_exit(&syscount);
}

module_init(syscount_init);
module_exit(syscount_exit);
MODULE_DESCRIPTION("utrace sample: count the system calls of a tree");
MODULE_LICENSE("GPL");
