// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - prevention of circles of tracers
 *
 * In a circle each process could wait for the next one for ever.  If tasks may
 * have several tracers, an attach that would close a circle fails, whether its
 * tracer is the first one of the task or a further one.
 *
 * The search and the new link are made under one mutex.  A link is made without
 * the mutex only if a tracer follows its task to a new one, which traces
 * nobody.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>

#include "ptracer.h"

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
