// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_branches
 *
 * Counts the function calls of a process with its threads, or the branches of a
 * CPU in the kernel, whose kind the processor does not report.  This is an
 * in-kernel consumer of branches, which is notified of records and reads them
 * in a work item. ::
 *
 *	modprobe utrace_branches pid=1234
 *	cat /sys/kernel/debug/utrace_branches/counts
 *	modprobe -r utrace_branches
 *	modprobe utrace_branches cpu=0
 *
 * The process waits if the work item is slow, so no call is missed. A CPU does
 * not wait. ``source=3`` selects the emulated source, for tests.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/utrace_branches.h>
#include <linux/workqueue.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process whose calls are counted");

static int cpu = -1;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "CPU whose branches in the kernel are counted");

static uint source;
module_param(source, uint, 0444);
MODULE_PARM_DESC(source, "enum utrace_branch_source");

static struct bts_consumer *consumer;
static struct dentry *dir;

/*
 * Number of records of each kind of branch, and of all other records.  Written
 * by the work.
 */
static u64 kinds[UTRACE_BR_SYSRET + 1], others;

static void count(const struct utrace_branch *record)
{
	unsigned int kind = UTRACE_BRANCH_KIND(record->info);

	if (UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH &&
	    kind < ARRAY_SIZE(kinds))
		kinds[kind]++;
	else
		others++;
}

static void read_records(struct work_struct *work)
{
	/* The work runs on one CPU at a time. */
	static struct utrace_branch records[512];
	int i, n;

	while ((n = utrace_branches_read(consumer, records,
					 ARRAY_SIZE(records))) > 0)
		for (i = 0; i < n; i++)
			count(&records[i]);
}

static DECLARE_WORK(work, read_records);

/* Records are available.  Called under a spinlock. */
static void ready(struct bts_consumer *from, void *data)
{
	WRITE_ONCE(consumer, from);
	schedule_work(&work);
}

static int counts_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "calls %llu\nindirect calls %llu\nreturns %llu\n",
		   kinds[UTRACE_BR_CALL], kinds[UTRACE_BR_IND_CALL],
		   kinds[UTRACE_BR_RET]);
	seq_printf(m, "jumps %llu\nconditional jumps %llu\nsystem calls %llu\n",
		   kinds[UTRACE_BR_UNCOND] + kinds[UTRACE_BR_IND],
		   kinds[UTRACE_BR_COND], kinds[UTRACE_BR_SYSCALL]);
	seq_printf(m, "of unknown kind %llu\nother records %llu\nended %d\n",
		   kinds[UTRACE_BR_UNKNOWN], others,
		   utrace_branches_over(consumer));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static struct bts_consumer *attach(struct utrace_branches_want *want)
{
	struct pid *target = find_get_pid(pid);
	struct task_struct *task = get_pid_task(target, PIDTYPE_PID);
	struct bts_consumer *made;

	put_pid(target);
	if (!task)
		return ERR_PTR(-ESRCH);
	made = utrace_branches_attach(task, UTRACE_SCOPE_PROCESS, want);
	put_task_struct(task);
	return made;
}

static struct bts_consumer *attach_cpu(struct utrace_branches_want *want)
{
	want->levels = UTRACE_LEVEL_KERNEL;
	return utrace_branches_attach_cpu(cpu, want);
}

static int __init branches_init(void)
{
	struct utrace_branches_want want = {
		.source = source,
		.ready = ready,
	};

	consumer = cpu >= 0 ? attach_cpu(&want) : attach(&want);
	if (IS_ERR(consumer))
		return PTR_ERR(consumer);
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counts", 0400, dir, NULL, &counts_fops);
	return 0;
}

static void __exit branches_exit(void)
{
	debugfs_remove(dir);
	utrace_branches_detach(consumer);
	/* After the detach, no record queues the work. */
	cancel_work_sync(&work);
	utrace_branches_put(consumer);
}

module_init(branches_init);
module_exit(branches_exit);
MODULE_DESCRIPTION("utrace sample: count the calls of a process");
MODULE_LICENSE("GPL");
