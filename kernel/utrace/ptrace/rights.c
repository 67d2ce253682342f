// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - permission to share a task with other tracers, and their number
 *
 * A further tracer needs permission to trace the task, which kernel/ptrace.c
 * checks, and also permission to trace each tracer that the task already has:
 * what one tracer reads and writes, the others see and can undo.  A tracer that
 * keeps its task in a sandbox relies on being alone, and shares it only with
 * programs that have CAP_SYS_PTRACE.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <linux/thread_info.h>
#include <linux/user_namespace.h>

#include "ptracer.h"
#include "rights.h"

DEFINE_STATIC_KEY_FALSE(utrace_ptracers);

/* The sysctl: maximum number of tracers of a task, including the first one. */
int ptrace_max_tracers = 1;

/**
 * __utrace_ptrace_show() - show all tracers in /proc/PID/status
 * @m: the file
 * @ns: the pid namespace of the mount
 * @task: the task
 *
 * The line is shown only if the task has two tracers or more.
 *
 * Context: Process context.
 */
void __utrace_ptrace_show(struct seq_file *m, struct pid_namespace *ns,
			  struct task_struct *task)
{
	struct task_struct *tracers[PTRACER_ALL];
	unsigned int i, n = ptracer_get_all(task, tracers);

	if (n >= 2)
		seq_puts(m, "\nTracers:");
	for (i = 0; n >= 2 && i < n; i++)
		seq_put_decimal_ull(m, i ? " " : "\t",
				    task_pid_nr_ns(tracers[i], ns));
	ptracer_put_all(tracers, n);
}

/* Permission */

/* Check whether the caller may trace a tracer, and so share a task with it. */
static bool ptracer_may_share(struct task_struct *tracer)
{
	return ptrace_may_access(tracer, PTRACE_MODE_ATTACH_REALCREDS |
				 PTRACE_MODE_NOAUDIT);
}

/* Options of a first tracer that keeps its task in a sandbox. */
#define PTRACER_SANDBOX		(PT_TRACE_SECCOMP | PT_SUSPEND_SECCOMP)

/* Check whether the first tracer of the task keeps it in a sandbox. */
static bool ptracer_is_sandboxed(struct task_struct *task)
{
	if (READ_ONCE(task->ptrace) & PTRACER_SANDBOX)
		return true;
#ifdef CONFIG_GENERIC_ENTRY
	return test_task_syscall_work(task, SYSCALL_EMU);
#else
	return false;
#endif
}

static struct user_namespace *ptracer_get_user_ns(struct task_struct *task)
{
	guard(rcu)();
	return get_user_ns(__task_cred(task)->user_ns);
}

/**
 * __utrace_ptrace_may_join() - check whether a task may get one more tracer
 * @task: the task, which the caller may trace, or the current task
 * @flags: for task_struct::ptrace, if the tracer becomes the first one
 *
 * Context: Process context, sleeps.  cred_guard_mutex of @task is held.
 * Return: 0, or -EPERM if @task has as many tracers as
 * kernel.ptrace_max_tracers allows, if the caller may not share @task with one
 * of them, or if one of them may not share it with a caller that keeps @task in
 * a sandbox.
 */
int __utrace_ptrace_may_join(struct task_struct *task, unsigned int flags)
{
	struct user_namespace *ns = ptracer_get_user_ns(task);
	struct task_struct *tracers[PTRACER_ALL];
	unsigned int i, n;
	bool may;

	/*
	 * The task may have been found while it was being created, see
	 * __utrace_ptrace_fork().
	 */
	utrace_tasklist_barrier();
	n = ptracer_get_all(task, tracers);
	may = n < READ_ONCE(ptrace_max_tracers);
	if (ptracer_is_sandboxed(task))
		may = may && ns_capable(ns, CAP_SYS_PTRACE);
	if (flags & PTRACER_SANDBOX)
		may = may && !__utrace_ptrace_sandbox(task);
	for (i = 0; may && i < n; i++)
		may = ptracer_may_share(tracers[i]);
	ptracer_put_all(tracers, n);
	put_user_ns(ns);
	return may ? 0 : -EPERM;
}

/**
 * __utrace_ptrace_ask() - call a function for each further tracer of current
 * @fn: returns 0 to continue
 * @arg: second argument of @fn
 *
 * Context: Process context.  @fn may sleep.
 * Return: 0, or the first result of @fn that is not 0.
 */
int __utrace_ptrace_ask(int (*fn)(struct task_struct *tracer, void *arg),
			void *arg)
{
	struct task_struct *tracers[PTRACER_MAX];
	unsigned int i, n = ptracer_get_further(current, tracers);
	int ret = 0;

	for (i = 0; !ret && i < n; i++)
		ret = fn(tracers[i], arg);
	ptracer_put_all(tracers, n);
	return ret;
}

static bool ptracer_lacks_cap(struct ptracer *p, void *ns)
{
	return security_capable(p->cred, ns, CAP_SYS_PTRACE, CAP_OPT_NOAUDIT);
}

/**
 * __utrace_ptrace_capable() - check all further tracers for CAP_SYS_PTRACE
 * @task: the traced task
 * @ns: the user namespace in which they need it
 *
 * Context: Any.
 * Return: true if all tracers have it, or if there is none.
 */
bool __utrace_ptrace_capable(struct task_struct *task, struct user_namespace *ns)
{
	return !ptracer_any_of_task(task, ptracer_lacks_cap, ns);
}

/**
 * __utrace_ptrace_caller_capable() - check the caller for CAP_SYS_PTRACE
 * @task: a task that the caller may be a further tracer of
 * @ns: the user namespace in which the caller needs it
 *
 * Context: Any.
 * Return: true if the caller is a further tracer of @task, and had the
 * capability when it attached.
 */
bool __utrace_ptrace_caller_capable(struct task_struct *task,
				    struct user_namespace *ns)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	return p && !ptracer_lacks_cap(p, ns);
}

/**
 * __utrace_ptrace_sandbox() - check whether a first tracer may use a sandbox
 * @task: the task
 *
 * The caller has marked the task.  So if a first tracer checks here while a
 * further one checks in ptracer_intrudes(), at least one of them sees the
 * other.  Or the caller holds cred_guard_mutex of the task, so that no further
 * tracer can attach.
 *
 * Context: Process context.
 * Return: 0, or -EPERM if a further tracer is not privileged.
 */
int __utrace_ptrace_sandbox(struct task_struct *task)
{
	struct user_namespace *ns = ptracer_get_user_ns(task);
	bool capable;

	/* After the mark of the caller; pairs with ptracer_intrudes(). */
	smp_mb();
	capable = __utrace_ptrace_capable(task, ns);
	put_user_ns(ns);
	return capable ? 0 : -EPERM;
}

/**
 * ptracer_intrudes() - check whether a tracer may not share a sandboxed task
 * @p: the ptracer, which is in the lists
 *
 * Context: Process context.
 * Return: true if the tracer must leave.
 */
bool ptracer_intrudes(struct ptracer *p)
{
	struct user_namespace *ns = ptracer_get_user_ns(p->task);
	bool intrudes;

	/* After @p was listed; pairs with __utrace_ptrace_sandbox(). */
	smp_mb();
	intrudes = ptracer_is_sandboxed(p->task) && ptracer_lacks_cap(p, ns);
	put_user_ns(ns);
	return intrudes;
}

/* The sysctl */

#ifdef CONFIG_SYSCTL
static int ptracer_one = 1;
static int ptracer_most = PTRACER_MAX;

static int ptracer_sysctl(const struct ctl_table *table, int write,
			  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret = proc_dointvec_minmax(table, write, buffer, lenp, ppos);

	/* The key is never disabled: tasks may keep their further tracers. */
	if (!ret && write && READ_ONCE(ptrace_max_tracers) > 1)
		static_branch_enable(&utrace_ptracers);
	return ret;
}

static struct ctl_table ptracer_sysctls[] = {
	{
		.procname	= "ptrace_max_tracers",
		.data		= &ptrace_max_tracers,
		.maxlen		= sizeof(ptrace_max_tracers),
		.mode		= 0644,
		.proc_handler	= ptracer_sysctl,
		.extra1		= &ptracer_one,
		.extra2		= &ptracer_most,
	},
};

static int __init ptracer_sysctl_init(void)
{
	register_sysctl_init("kernel", ptracer_sysctls);
	return 0;
}
late_initcall(ptracer_sysctl_init);
#endif /* CONFIG_SYSCTL */
