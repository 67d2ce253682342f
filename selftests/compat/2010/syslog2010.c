// SPDX-License-Identifier: GPL-2.0
/*
 * Log the system calls of a thread and of all that it creates.
 *
 * Written to the utrace documentation of 2010 (UTRACE_API_VERSION 20091216,
 * Linux 2.6.32). What Linux 6.12 needs changed is in syslog2010.diff.
 */
#include <linux/binfmts.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/utrace.h>
#include <asm/syscall.h>

#if !defined(UTRACE_API_VERSION) || UTRACE_API_VERSION < 20091216
#error this module wants ops->release
#endif

static int pid;
module_param(pid, int, 0);
MODULE_PARM_DESC(pid, "thread to log");

/* One for each traced thread. */
struct record {
	struct list_head list;
	struct utrace_engine *engine;
	struct pid *pid;
	long nr;
	unsigned long args[6];
};

static LIST_HEAD(records);
static DEFINE_SPINLOCK(records_lock);
static atomic_t n_records = ATOMIC_INIT(0);

static const struct utrace_engine_ops syslog_ops;

#define SYSLOG_EVENTS (UTRACE_EVENT_SYSCALL | UTRACE_EVENT(CLONE) | \
		       UTRACE_EVENT(EXEC) | UTRACE_EVENT(EXIT) | \
		       UTRACE_EVENT(DEATH))

/* Attach to a thread that cannot go away: a child in report_clone. */
static int syslog_attach(struct pid *target)
{
	struct record *rec;
	int ret;

	rec = kzalloc(sizeof(*rec), GFP_KERNEL);
	if (!rec)
		return -ENOMEM;
	rec->pid = get_pid(target);
	rec->nr = -1;
	rec->engine = utrace_attach_pid(target, UTRACE_ATTACH_CREATE |
					UTRACE_ATTACH_EXCLUSIVE |
					UTRACE_ATTACH_MATCH_OPS,
					&syslog_ops, rec);
	if (IS_ERR(rec->engine)) {
		ret = PTR_ERR(rec->engine);
		put_pid(rec->pid);
		kfree(rec);
		return ret;
	}
	atomic_inc(&n_records);
	spin_lock(&records_lock);
	list_add(&rec->list, &records);
	spin_unlock(&records_lock);

	ret = utrace_set_events_pid(target, rec->engine, SYSLOG_EVENTS);
	/* Already dead: nothing to log, the list takes care of the rest */
	if (ret == -ESRCH || ret == -EALREADY)
		ret = 0;
	return ret;
}

static u32 syslog_syscall_entry(u32 action, struct utrace_engine *engine,
				struct pt_regs *regs)
{
	struct record *rec = engine->data;

	/* Already reported: the task was stopped in between */
	if (action & UTRACE_SYSCALL_RESUMED)
		return UTRACE_SYSCALL_RUN | UTRACE_RESUME;
	rec->nr = syscall_get_nr(current, regs);
	syscall_get_arguments(current, regs, 0, 6, rec->args);
	return UTRACE_SYSCALL_RUN | UTRACE_RESUME;
}

static u32 syslog_syscall_exit(u32 action, struct utrace_engine *engine,
			       struct pt_regs *regs)
{
	struct record *rec = engine->data;
	long error = syscall_get_error(current, regs);

	/* Attached in the middle of the call */
	if (rec->nr < 0)
		return UTRACE_RESUME;
	pr_info("syslog2010: %d: %ld(%lx, %lx, %lx) = %ld\n", current->pid,
		rec->nr, rec->args[0], rec->args[1], rec->args[2],
		error ? error : syscall_get_return_value(current, regs));
	rec->nr = -1;
	return UTRACE_RESUME;
}

static u32 syslog_clone(u32 action, struct utrace_engine *engine,
			unsigned long clone_flags, struct task_struct *child)
{
	int ret = syslog_attach(task_pid(child));

	pr_info("syslog2010: %d: created %d: %d\n", current->pid, child->pid,
		ret);
	return UTRACE_RESUME;
}

static u32 syslog_exec(u32 action, struct utrace_engine *engine,
		       const struct linux_binfmt *fmt,
		       const struct linux_binprm *bprm, struct pt_regs *regs)
{
	pr_info("syslog2010: %d: runs %s\n", current->pid, bprm->filename);
	return UTRACE_RESUME;
}

static u32 syslog_exit(u32 action, struct utrace_engine *engine,
		       long orig_code, long *code)
{
	pr_info("syslog2010: %d: exits with %#lx\n", current->pid, *code);
	return UTRACE_RESUME;
}

static u32 syslog_death(struct utrace_engine *engine, bool group_dead,
			int signal)
{
	return UTRACE_DETACH;
}

/* The last reference is gone: nobody uses the record. */
static void syslog_release(void *data)
{
	struct record *rec = data;

	put_pid(rec->pid);
	kfree(rec);
	atomic_dec(&n_records);
}

static const struct utrace_engine_ops syslog_ops = {
	.report_syscall_entry	= syslog_syscall_entry,
	.report_syscall_exit	= syslog_syscall_exit,
	.report_clone		= syslog_clone,
	.report_exec		= syslog_exec,
	.report_exit		= syslog_exit,
	.report_death		= syslog_death,
	.release		= syslog_release,
};

static int __init syslog_init(void)
{
	struct pid *target = find_get_pid(pid);
	int ret = -ESRCH;

	if (target)
		ret = syslog_attach(target);
	put_pid(target);
	return ret;
}

/* Detach one, and wait until its callbacks have returned. */
static void syslog_detach(struct record *rec)
{
	int ret = utrace_control_pid(rec->pid, rec->engine, UTRACE_DETACH);

	if (ret && ret != -ESRCH && ret != -EALREADY && ret != -EINPROGRESS)
		pr_err("syslog2010: detach: %d\n", ret);
	/* A signal to rmmod does not end the wait */
	do {
		ret = utrace_barrier_pid(rec->pid, rec->engine);
	} while (ret == -ERESTARTSYS);
	utrace_engine_put(rec->engine);
}

static void __exit syslog_unload(void)
{
	struct record *rec;

	/* A thread may have added a child before its detach */
	spin_lock(&records_lock);
	while (!list_empty(&records)) {
		rec = list_first_entry(&records, struct record, list);
		list_del(&rec->list);
		spin_unlock(&records_lock);
		syslog_detach(rec);
		spin_lock(&records_lock);
	}
	spin_unlock(&records_lock);
	while (atomic_read(&n_records))
		schedule_timeout_uninterruptible(1);
}

module_init(syslog_init);
module_exit(syslog_unload);
MODULE_DESCRIPTION("log system calls (utrace of 2010)");
MODULE_LICENSE("GPL");
