// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - no circle of tracers
 *
 * In a circle each process could wait for the next one, and none would go on.
 * If tasks may have several tracers, an attach that closes a circle fails, be
 * its tracer the first one of the task or a further one.
 *
 * The search and the new link are under one mutex.  A link comes about without
 * the mutex only where a tracer follows its task to a new one, which traces
 * nobody.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>

#include "ptracer.h"

/* How many processes the search for a circle looks at. */
#define PTRACER_CIRCLE		32

/*
 * Held from the search for a circle until the tracer is linked to its task.
 * Inside of cred_guard_mutex of the task, outside of tasklist_lock.
 */
DEFINE_MUTEX(utrace_ptrace_link_mutex);

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

/**
 * __utrace_ptrace_closes_circle() - test whether a tracer would close a circle
 * @tracer: the tracer; NULL for the parent of @task
 * @task: the task that is to be traced
 *
 * It would if the process of @task traces that of @tracer, maybe by way of
 * others.  A chain that is longer than %PTRACER_CIRCLE processes counts as a
 * circle.  With kernel.ptrace_max_tracers at 1, none is looked for.
 *
 * Context: Process context, with utrace_ptrace_link_mutex held.
 * Return: true if it would.
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
	/* The leader of a process that is gone may be gone, too. */
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
