// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - becoming a further tracer by ptrace(2)
 *
 * In a circle of tracers each process could wait for the next one for ever.  If
 * tasks may have several tracers, an attach that would close a circle fails,
 * whether its tracer is the first one of the task or a further one.
 *
 * The search and the new link are made under one mutex.  A link is made without
 * the mutex only if a tracer follows its task to a new one, which traces
 * nobody.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>

#include "engine.h"
#include "ptracer.h"
#include "rights.h"

/* Circles */

/* Maximum number of processes that the search for a circle visits. */
#define PTRACER_CIRCLE		32

/*
 * Held from the search for a circle until the tracer is linked to its task.
 * Inside of cred_guard_mutex of the task, outside of tasklist_lock.
 */
DEFINE_MUTEX(utrace_ptrace_link_mutex);

/* The processes that trace a process, directly or indirectly. */
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

/**
 * __utrace_ptrace_closes_circle() - check whether a tracer would close a circle
 * @tracer: the tracer; NULL for the parent of @task
 * @task: the task to trace
 *
 * It would if the process of @task traces that of @tracer, directly or
 * indirectly.  A chain of more than %PTRACER_CIRCLE processes counts as a
 * circle.  If kernel.ptrace_max_tracers is 1, circles are not searched.
 *
 * Context: Process context, with utrace_ptrace_link_mutex held.
 * Return: true if the attach must fail.
 */
bool __utrace_ptrace_closes_circle(struct task_struct *tracer,
				   struct task_struct *task)
{
	struct ptracer_above above = {};
	struct task_struct *t;
	struct ptracer *p;
	unsigned int i;

	guard(read_lock)(&tasklist_lock);
	guard(rcu)();
	if (!tracer)
		tracer = rcu_dereference_protected(task->real_parent,
						   lockdep_is_held(&tasklist_lock));
	/* If the process is gone, its leader may be gone, too. */
	if (READ_ONCE(ptrace_max_tracers) == 1 || !pid_alive(tracer))
		return false;
	ptracer_add_above(&above, tracer);
	for (i = 0; i < above.n && i < PTRACER_CIRCLE; i++) {
		for_each_thread(above.leader[i], t) {
			if (t->ptrace)
				ptracer_add_above(&above, t->parent);
			ptracer_for_each(p, t)
				ptracer_add_above(&above, p->tracer);
		}
	}
	if (above.n > PTRACER_CIRCLE)
		return true;
	for (i = 1; i < above.n; i++)
		if (above.leader[i] == task->group_leader)
			return true;
	return false;
}

/* Attaching */

/* Under the mutex no tracer is linked after the search for a circle. */
static int ptracer_link(struct ptracer *p)
{
	guard(mutex)(&utrace_ptrace_link_mutex);
	if (__utrace_ptrace_closes_circle(p->tracer, p->task))
		return -EDEADLK;
	/* A task gets a first tracer only with the lock held for writing. */
	guard(read_lock)(&tasklist_lock);
	return ptracer_enter(p, READ_ONCE(ptrace_max_tracers));
}

/*
 * Attach the engine of a ptracer, and add it to the lists; the core owns the
 * ptracer from here on.  cred_guard_mutex of the task may be held.  Returns
 * -ESRCH if the task or the tracer is exiting, or an error of
 * __utrace_ptrace_attach().
 */
static int ptracer_start(struct ptracer *p)
{
	struct utrace_engine *engine;
	int ret;

	engine = utrace_attach_for(p->cred, p->task, UTRACE_ATTACH_CREATE |
				   UTRACE_ATTACH_MUTATOR |
				   UTRACE_ATTACH_OWN_EVENTS,
				   &ptracer_ops, p, NULL, NULL);
	if (IS_ERR(engine)) {
		ptracer_free(p);
		return PTR_ERR(engine);
	}
	p->engine = engine;
	scoped_guard(rcu)
		utrace_set_owner(engine, task_tgid(p->tracer));
	ret = ptracer_link(p);
	if (!ret && ptracer_intrudes(p))
		ret = -EPERM;
	if (!ret)
		ret = ptracer_set_events(p);
	if (ret) {
		ptracer_forget(p);
		ptracer_control(p, UTRACE_DETACH);
	}
	utrace_engine_put(engine);
	return ret;
}

/**
 * __utrace_ptrace_attach() - become a further tracer of a task
 * @task: the task
 * @flags: for task_struct::ptrace: PT_PTRACED, PT_SEIZED and options
 *
 * The caller has checked that the process may trace @task, and share it with
 * its tracers (__utrace_ptrace_may_join()).
 *
 * Context: Process context, sleeps.  cred_guard_mutex of @task is held.
 * Return:
 * * 0 - success
 * * -EPERM - @task has as many tracers as kernel.ptrace_max_tracers allows, or
 *   the caller is one of them, or @task is in a sandbox of the first tracer, or
 *   a worker of the kernel for a program
 * * -EDEADLK - @task traces the caller, directly or indirectly
 * * -EINVAL - an option is for the first tracer only
 * * -ESRCH - @task is exiting
 * * -ENOMEM - out of memory
 * * or an error of utrace_attach_for()
 */
int __utrace_ptrace_attach(struct task_struct *task, unsigned int flags)
{
	struct ptracer *p;

	if (flags & (PTRACER_ONLY_FIRST << PT_OPT_FLAG_SHIFT))
		return -EINVAL;
	/* Such a thread makes no reports, so it could not report stops. */
	if (task->flags & PF_USER_WORKER)
		return -EPERM;
	p = ptracer_new(current, current_cred(), flags);
	if (!p)
		return -ENOMEM;
	ptracer_set_task(p, task);
	if (!(flags & PT_SEIZED))
		p->made = BIT(SIGSTOP);
	return ptracer_start(p);
}

/* Get the parent of the current task. */
static struct task_struct *ptracer_get_parent(void)
{
	guard(rcu)();
	return get_task_struct(rcu_dereference(current->real_parent));
}

/**
 * __utrace_ptrace_traceme() - make the parent a further tracer
 *
 * The caller has checked __utrace_ptrace_may_join().  The attach uses the
 * credentials of the current task, as for a first tracer: the parent gets no
 * more than what the task could do for the parent.
 *
 * Context: Process context, sleeps.
 * Return:
 * * 0 - success, or the parent is exiting
 * * -EDEADLK, -ENOMEM - as for __utrace_ptrace_attach()
 * * -EPERM - as for __utrace_ptrace_attach(), or the parent may not trace
 * * or an error of security_ptrace_traceme() or utrace_attach_for()
 */
int __utrace_ptrace_traceme(void)
{
	struct task_struct *parent = ptracer_get_parent();
	struct ptracer *p;
	int ret;

	ret = security_ptrace_traceme(parent);
	if (ret)
		goto out;
	ret = -ENOMEM;
	p = ptracer_new(parent, current_cred(), PT_PTRACED);
	if (p) {
		ptracer_set_task(p, current);
		ret = ptracer_start(p);
	}
	if (ret == -ESRCH)
		ret = 0;
out:
	put_task_struct(parent);
	return ret;
}
