// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - who may share a task with whom, and how many may
 *
 * A further tracer needs the right to trace the task, as kernel/ptrace.c asks
 * for, and beside that the right to trace each tracer that is there: what one
 * tracer reads and writes, the others see and can undo.  A tracer that keeps
 * its task in a sandbox relies on being alone, and shares it only with
 * programs that have CAP_SYS_PTRACE.
 *
 * No circle of tracers comes about by a further tracer: in a circle each one
 * could wait for the next.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <linux/thread_info.h>
#include <linux/user_namespace.h>

#include "ptracer.h"

/* How many processes the search for a circle looks at. */
#define PTRACER_CIRCLE		32

DEFINE_STATIC_KEY_FALSE(utrace_ptracers);

/* The sysctl: how many tracers a task may have, the first one included. */
int ptrace_max_tracers = 1;

/* Who traces */

static bool ptracer_any(struct ptracer *p, void *arg)
{
	return true;
}

/**
 * __utrace_ptrace_traces() - is a thread a further tracer of a task?
 * @tracer: the thread
 * @task: the task
 *
 * Context: Any.
 */
bool __utrace_ptrace_traces(struct task_struct *tracer, struct task_struct *task)
{
	struct ptracer *p = ptracer_find(tracer, task);

	if (p)
		ptracer_put(p);
	return p;
}

/**
 * __utrace_ptrace_traced() - has a task a further tracer?
 * @task: the task
 *
 * Context: Any.
 */
bool __utrace_ptrace_traced(struct task_struct *task)
{
	struct ptracer *p = ptracer_of_task(task, ptracer_any, NULL);

	if (p)
		ptracer_put(p);
	return p;
}

static bool ptracer_is_of_group(struct ptracer *p, void *thread)
{
	return same_thread_group(p->tracer, thread);
}

/**
 * __utrace_ptrace_traces_group() - does a process further trace a task?
 * @thread: a thread of the process
 * @task: the task
 *
 * Context: Any.
 */
bool __utrace_ptrace_traces_group(struct task_struct *thread,
				  struct task_struct *task)
{
	struct ptracer *p = ptracer_of_task(task, ptracer_is_of_group, thread);

	if (p)
		ptracer_put(p);
	return p;
}

struct ptracer_nth {
	unsigned int n;
	struct task_struct *tracer;
};

static bool ptracer_is_nth(struct ptracer *p, void *arg)
{
	struct ptracer_nth *nth = arg;

	if (nth->n--)
		return false;
	nth->tracer = p->tracer;
	return true;
}

/**
 * __utrace_ptrace_next() - one of the further tracers of a task
 * @task: the task
 * @n: which one, counted from 0
 *
 * A tracer leaves the lists before it is dead, so its task_struct stays until
 * the end of the RCU section.
 *
 * Context: Under RCU.
 * Return: the tracer, or NULL if there are not so many.
 */
struct task_struct *__utrace_ptrace_next(struct task_struct *task,
					 unsigned int n)
{
	struct ptracer_nth nth = { .n = n };
	struct ptracer *p = ptracer_of_task(task, ptracer_is_nth, &nth);

	if (p)
		ptracer_put(p);
	return nth.tracer;
}

/**
 * __utrace_ptrace_show() - show all tracers in /proc/PID/status
 * @m: the file
 * @ns: the pid namespace of the mount
 * @task: the task
 *
 * The line is there if the task has two tracers or more.
 *
 * Context: Process context.
 */
void __utrace_ptrace_show(struct seq_file *m, struct pid_namespace *ns,
			  struct task_struct *task)
{
	struct task_struct *tracer;
	unsigned int n = 0;

	guard(rcu)();
	tracer = ptrace_parent(task) ?: __utrace_ptrace_next(task, n++);
	if (!tracer || !__utrace_ptrace_next(task, n))
		return;
	seq_put_decimal_ull(m, "\nTracers:\t", task_pid_nr_ns(tracer, ns));
	while ((tracer = __utrace_ptrace_next(task, n++)))
		seq_put_decimal_ull(m, " ", task_pid_nr_ns(tracer, ns));
}

/* Rights */

/* May the caller trace this tracer, and so share a task with it? */
static bool ptracer_may_share(struct task_struct *tracer)
{
	return ptrace_may_access(tracer, PTRACE_MODE_ATTACH_REALCREDS |
				 PTRACE_MODE_NOAUDIT);
}

/*
 * The tracer number @n of @task, counted from 0, with a reference, or NULL.  If a
 * tracer leaves, the numbers of those behind it go down, so a walk from the
 * highest number to the lowest passes over none.  Where none must be missed, no
 * tracer comes meanwhile: cred_guard_mutex of the task is held, or the task is
 * the current one.
 */
static struct task_struct *ptracer_get_nth(struct task_struct *task,
					   unsigned int n)
{
	struct task_struct *tracer;

	guard(rcu)();
	tracer = n ? __utrace_ptrace_next(task, n - 1) : ptrace_parent(task);
	return tracer ? get_task_struct(tracer) : NULL;
}

/* Options of a first tracer that keeps its task in a sandbox. */
#define PTRACER_SANDBOX		(PT_TRACE_SECCOMP | PT_SUSPEND_SECCOMP)

/* Does the first tracer of the task keep the task in a sandbox? */
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
 * __utrace_ptrace_may_join() - may a task have one more tracer?
 * @task: the task, which the caller may trace, or the current task
 * @flags: for task_struct::ptrace, if the tracer becomes the first one
 *
 * Context: Process context, sleeps.  cred_guard_mutex of @task is held.
 * Return: 0, or -EPERM if @task has as many tracers as kernel.ptrace_max_tracers
 * allows, or if the caller may not share @task with one of them, or one of them
 * not with a caller that keeps @task in a sandbox.
 */
int __utrace_ptrace_may_join(struct task_struct *task, unsigned int flags)
{
	unsigned int n, count = 0, max = READ_ONCE(ptrace_max_tracers);
	struct user_namespace *ns = ptracer_get_user_ns(task);
	bool may = !ptracer_is_sandboxed(task) ||
		   ns_capable(ns, CAP_SYS_PTRACE);

	put_user_ns(ns);
	if (flags & PTRACER_SANDBOX)
		may = may && !__utrace_ptrace_sandbox(task);
	for (n = PTRACER_MAX + 1; may && n; n--) {
		struct task_struct *tracer = ptracer_get_nth(task, n - 1);

		if (!tracer)
			continue;
		may = ptracer_may_share(tracer);
		put_task_struct(tracer);
		count++;
	}
	return may && count < max ? 0 : -EPERM;
}

/**
 * __utrace_ptrace_ask() - ask about each further tracer of the current task
 * @fn: returns 0 for a tracer that may go on
 * @arg: second argument of @fn
 *
 * Context: Process context.  @fn may sleep.
 * Return: 0, or the first result of @fn that is not 0.
 */
int __utrace_ptrace_ask(int (*fn)(struct task_struct *tracer, void *arg),
			void *arg)
{
	unsigned int n;
	int ret = 0;

	for (n = PTRACER_MAX; !ret && n; n--) {
		struct task_struct *tracer = ptracer_get_nth(current, n);

		if (!tracer)
			continue;
		ret = fn(tracer, arg);
		put_task_struct(tracer);
	}
	return ret;
}

static bool ptracer_lacks_cap(struct ptracer *p, void *ns)
{
	return security_capable(p->cred, ns, CAP_SYS_PTRACE, CAP_OPT_NOAUDIT);
}

/**
 * __utrace_ptrace_capable() - have all further tracers CAP_SYS_PTRACE?
 * @task: the task that they trace
 * @ns: the user namespace in which they need it
 *
 * Context: Any.
 * Return: true if all have, or if there is none.
 */
bool __utrace_ptrace_capable(struct task_struct *task, struct user_namespace *ns)
{
	struct ptracer *p = ptracer_of_task(task, ptracer_lacks_cap, ns);

	if (p)
		ptracer_put(p);
	return !p;
}

/**
 * __utrace_ptrace_sandbox() - the first tracer relies on being alone
 * @task: the task
 *
 * The caller has set its mark on the task, so that one sees the other of a first
 * tracer that looks here and a further one in ptracer_intrudes().  Or the caller
 * holds cred_guard_mutex of the task, and no further tracer comes.
 *
 * Context: Process context.
 * Return: 0, or -EPERM if another tracer is not privileged.
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
 * ptracer_intrudes() - has a tracer come into the sandbox of the first one?
 * @p: the ptracer, which is in the lists
 *
 * Context: Process context.
 */
bool ptracer_intrudes(struct ptracer *p)
{
	struct user_namespace *ns = ptracer_get_user_ns(p->task);
	bool intrudes;

	/* @p is listed before; pairs with __utrace_ptrace_sandbox(). */
	smp_mb();
	intrudes = ptracer_is_sandboxed(p->task) && ptracer_lacks_cap(p, ns);
	put_user_ns(ns);
	return intrudes;
}

/* Circles */

/* The processes that trace a process, directly or by way of others. */
struct ptracer_above {
	unsigned int n;
	struct task_struct *leader[PTRACER_CIRCLE];
};

static void ptracer_add_above(struct ptracer_above *above,
			      struct task_struct *tracer)
{
	struct task_struct *leader = tracer->group_leader;
	unsigned int i;

	for (i = 0; i < above->n; i++)
		if (above->leader[i] == leader)
			return;
	if (above->n < PTRACER_CIRCLE)
		above->leader[above->n] = leader;
	above->n++;
}

static bool ptracer_add_second(struct ptracer *p, void *above)
{
	ptracer_add_above(above, p->tracer);
	return false;
}

/**
 * ptracer_in_circle() - is a process traced by another, maybe indirectly?
 * @process: a thread of the process
 * @tracer: a thread of the other one
 *
 * A chain that is longer than %PTRACER_CIRCLE processes counts as a circle.
 *
 * Context: Process context.
 */
bool ptracer_in_circle(struct task_struct *process, struct task_struct *tracer)
{
	struct ptracer_above above = {};
	struct task_struct *t;
	unsigned int i;

	guard(read_lock)(&tasklist_lock);
	/* The leader of a process that is gone may be gone, too. */
	if (!pid_alive(process))
		return false;
	ptracer_add_above(&above, process);
	for (i = 0; i < above.n && i < PTRACER_CIRCLE; i++) {
		for_each_thread(above.leader[i], t) {
			if (t->ptrace)
				ptracer_add_above(&above, t->parent);
			ptracer_of_task(t, ptracer_add_second, &above);
		}
	}
	if (above.n > PTRACER_CIRCLE)
		return true;
	for (i = 1; i < above.n; i++)
		if (above.leader[i] == tracer->group_leader)
			return true;
	return false;
}

/* The end of a tracer */

/**
 * __utrace_ptrace_exit() - the current task exits, and traces nobody any more
 *
 * Context: The task itself, in do_exit(), with PF_EXITING set.
 */
void __utrace_ptrace_exit(void)
{
	struct ptracer *p;

	while ((p = ptracer_of_tracer(current, ptracer_any, NULL))) {
		if (READ_ONCE(p->flags) & PT_EXITKILL &&
		    READ_ONCE(p->state) != PTRACER_DEAD)
			send_sig_info(SIGKILL, SEND_SIG_PRIV, p->task);
		ptracer_forget(p);
		ptracer_control(p, UTRACE_DETACH);
		ptracer_put(p);
	}
}

#ifdef CONFIG_SYSCTL
static int ptracer_one = 1;
static int ptracer_most = PTRACER_MAX;

static int ptracer_sysctl(const struct ctl_table *table, int write,
			  void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret = proc_dointvec_minmax(table, write, buffer, lenp, ppos);

	/* It stays on: tasks may have further tracers from now on. */
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
