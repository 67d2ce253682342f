// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the calls of SystemTap's task finder, in its order
 *
 * The task finder looks for a program wherever it is started.  An engine is on
 * every user thread, on new ones by report_clone.  Threads of the program get a
 * second engine, which is brought to the safe point by UTRACE_INTERRUPT before
 * its events are switched on.  Both engines are looked up by their ops to be
 * detached.
 *
 *	insmod taskfinder.ko match=NAME
 *
 * Counts of what happened are in /sys/module/taskfinder/parameters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utrace.h>

static char *match = "sleep";
module_param(match, charp, 0444);
MODULE_PARM_DESC(match, "name of the program to find");

static atomic_t threads, targets, quiesced, calls, deaths, errors;

static int count_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops count_ops = {
	.get = count_get,
};

module_param_cb(threads, &count_ops, &threads, 0444);
module_param_cb(targets, &count_ops, &targets, 0444);
module_param_cb(quiesced, &count_ops, &quiesced, 0444);
module_param_cb(calls, &count_ops, &calls, 0444);
module_param_cb(deaths, &count_ops, &deaths, 0444);
module_param_cb(errors, &count_ops, &errors, 0444);

#define BASE_EVENTS	(UTRACE_EVENT(CLONE) | UTRACE_EVENT(EXEC) | \
			 UTRACE_EVENT(DEATH))
#define QUIESCE_EVENTS	(UTRACE_EVENT(DEATH) | UTRACE_EVENT(QUIESCE))
#define TARGET_EVENTS	(UTRACE_EVENT(DEATH) | UTRACE_EVENT(EXEC) | \
			 UTRACE_EVENT_SYSCALL)

static const struct utrace_engine_ops base_ops, target_ops;

static bool is_target(struct task_struct *task)
{
	char comm[TASK_COMM_LEN];

	return !strcmp(get_task_comm(comm, task), match);
}

/* An error because the task ends is ignored. */
static int forgive(int ret)
{
	return ret == -ESRCH || ret == -EALREADY ? 0 : ret;
}

static int finder_attach(struct task_struct *task,
			 const struct utrace_engine_ops *ops,
			 unsigned long events,
			 enum utrace_resume_action action)
{
	struct utrace_engine *engine;
	int ret;

	engine = utrace_attach_task(task, UTRACE_ATTACH_CREATE, ops, NULL);
	if (IS_ERR(engine))
		return forgive(PTR_ERR(engine));
	ret = utrace_set_events(task, engine, events);
	while (ret == -EINPROGRESS || ret == -ERESTARTSYS)
		ret = utrace_barrier(task, engine);
	if (!ret && action != UTRACE_RESUME) {
		ret = utrace_control(task, engine, action);
		/* The task may stop later; the report comes in any case. */
		if (ret == -EINPROGRESS)
			ret = 0;
	}
	utrace_engine_put(engine);
	return forgive(ret);
}

/* Detach the engine of @ops, if the task has one; returns whether it has. */
static bool finder_detach(struct task_struct *task,
			  const struct utrace_engine_ops *ops)
{
	struct utrace_engine *engine;
	int ret;

	engine = utrace_attach_task(task, UTRACE_ATTACH_MATCH_OPS, ops, NULL);
	if (IS_ERR(engine))
		return false;
	ret = utrace_control(task, engine, UTRACE_DETACH);
	do {
		if (ret && ret != -EINPROGRESS && forgive(ret))
			atomic_inc(&errors);
		ret = utrace_barrier(task, engine);
	} while (ret == -ERESTARTSYS);
	utrace_engine_put(engine);
	return true;
}

static void note(int ret)
{
	if (ret)
		atomic_inc(&errors);
}

static u32 base_clone(u32 action, struct utrace_engine *engine,
		      unsigned long clone_flags, struct task_struct *child)
{
	atomic_inc(&threads);
	note(finder_attach(child, &base_ops, BASE_EVENTS, UTRACE_RESUME));
	if (is_target(child)) {
		atomic_inc(&targets);
		/* The child has not run yet, so it needs no interrupt. */
		note(finder_attach(child, &target_ops, TARGET_EVENTS,
				   UTRACE_RESUME));
	}
	return UTRACE_RESUME;
}

static u32 base_exec(u32 action, struct utrace_engine *engine,
		     const struct linux_binfmt *fmt,
		     const struct linux_binprm *bprm, struct pt_regs *regs)
{
	if (!is_target(current))
		return UTRACE_RESUME;
	atomic_inc(&targets);
	note(finder_attach(current, &target_ops, QUIESCE_EVENTS,
			   UTRACE_INTERRUPT));
	return UTRACE_RESUME;
}

static u32 finder_death(struct utrace_engine *engine, bool group_dead,
			int signal)
{
	atomic_inc(&deaths);
	return UTRACE_DETACH;
}

static const struct utrace_engine_ops base_ops = {
	.report_clone	= base_clone,
	.report_exec	= base_exec,
	.report_death	= finder_death,
};

/* At the safe point the task finder would read the memory map. */
static u32 target_safe(struct utrace_engine *engine)
{
	int ret = utrace_set_events(current, engine, TARGET_EVENTS);

	atomic_inc(&quiesced);
	note(forgive(ret));
	return UTRACE_RESUME;
}

static u32 target_quiesce(u32 action, struct utrace_engine *engine,
			  unsigned long event)
{
	/* A report before an event is not at the safe point yet. */
	return event ? UTRACE_RESUME : target_safe(engine);
}

static u32 target_signal(u32 action, struct utrace_engine *engine,
			 struct pt_regs *regs, kernel_siginfo_t *info,
			 const struct k_sigaction *orig_ka,
			 struct k_sigaction *return_ka)
{
	/* The interrupt gives a signal report without a signal. */
	if (utrace_signal_action(action) != UTRACE_SIGNAL_REPORT)
		return UTRACE_RESUME | utrace_signal_action(action);
	return UTRACE_SIGNAL_IGN | target_safe(engine);
}

/* The task executes another program. */
static u32 target_exec(u32 action, struct utrace_engine *engine,
		       const struct linux_binfmt *fmt,
		       const struct linux_binprm *bprm, struct pt_regs *regs)
{
	return UTRACE_DETACH;
}

static u32 target_syscall(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs)
{
	atomic_inc(&calls);
	return UTRACE_RESUME;
}

static const struct utrace_engine_ops target_ops = {
	.report_quiesce		= target_quiesce,
	.report_signal		= target_signal,
	.report_exec		= target_exec,
	.report_syscall_entry	= target_syscall,
	.report_syscall_exit	= target_syscall,
	.report_death		= finder_death,
};

/* Call @visit for every user thread, with no lock held, as @visit may sleep. */
static void visit_user_threads(void (*visit)(struct task_struct *task))
{
	struct task_struct *process, *task, **found;
	unsigned int n = 0, room = 0;

	rcu_read_lock();
	for_each_process_thread(process, task)
		room++;
	rcu_read_unlock();
	room += 64;
	found = kvmalloc_array(room, sizeof(*found), GFP_KERNEL);
	if (!found)
		return;
	rcu_read_lock();
	for_each_process_thread(process, task)
		if (n < room && !(task->flags & PF_KTHREAD))
			found[n++] = get_task_struct(task);
	rcu_read_unlock();
	while (n--) {
		visit(found[n]);
		put_task_struct(found[n]);
	}
	kvfree(found);
}

static void visit_attach(struct task_struct *task)
{
	atomic_inc(&threads);
	note(finder_attach(task, &base_ops, BASE_EVENTS, UTRACE_RESUME));
	if (!is_target(task))
		return;
	atomic_inc(&targets);
	note(finder_attach(task, &target_ops, QUIESCE_EVENTS,
			   UTRACE_INTERRUPT));
}

static atomic_t found_attached;

static void visit_detach(struct task_struct *task)
{
	/* Make both calls, since a thread may have both engines. */
	if (finder_detach(task, &target_ops) + finder_detach(task, &base_ops))
		atomic_inc(&found_attached);
}

static int __init taskfinder_init(void)
{
	visit_user_threads(visit_attach);
	return 0;
}

static void __exit taskfinder_exit(void)
{
	/*
	 * A thread may have created a thread before its detach.
	 */
	do {
		atomic_set(&found_attached, 0);
		visit_user_threads(visit_detach);
	} while (atomic_read(&found_attached));
}

module_init(taskfinder_init);
module_exit(taskfinder_exit);
MODULE_DESCRIPTION("utrace test: SystemTap's task finder sequence");
MODULE_LICENSE("GPL");
