// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - further tracers follow a task to the tasks that it creates
 *
 * Like a first tracer, a further one traces a new task from the moment at which
 * others can see the task: nobody can attach before, and no event is missed.
 *
 *	prepare	before copy_process(): all that needs memory, so that clone(2)
 *		fails if there is none
 *	fork	in copy_process(), with tasklist_lock held: enter the lists
 *	born	before the new task runs: attach the engines
 *
 * Between the first and the last step the new ptracers are in utrace::newborn
 * of the creator, or in the lists with ->newborn set.  The creator is not in a
 * stop during that time, so its tracers neither leave nor change their options,
 * but they may die.
 *
 * A followed task counts against no limit of its tracer's user.  It counts
 * against the limits of its own user, as does its end until the tracer has read
 * it.
 */
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>

#include "follow.h"
#include "ptracer.h"

/**
 * ptracer_clone_event() - get the event that a clone is for a tracer
 * @clone_flags: flags of the clone, with the exit signal in CSIGNAL
 *
 * The rules are those of kernel_clone().
 *
 * Context: Any.
 * Return: PTRACE_EVENT_*.
 */
int ptracer_clone_event(unsigned long clone_flags)
{
	if (clone_flags & CLONE_VFORK)
		return PTRACE_EVENT_VFORK;
	if ((clone_flags & CSIGNAL) != SIGCHLD)
		return PTRACE_EVENT_CLONE;
	return PTRACE_EVENT_FORK;
}

static bool ptracer_follows(struct ptracer *p, unsigned long clone_flags)
{
	if (clone_flags & CLONE_PTRACE)
		return true;
	return !(clone_flags & CLONE_UNTRACED) &&
	       ptracer_wants(p, ptracer_clone_event(clone_flags));
}

/* Get references to the tracers of the current task that follow it. */
static unsigned int ptracer_get_followers(unsigned long clone_flags,
					  struct ptracer *ps[PTRACER_MAX])
{
	struct ptracer *p;
	unsigned int n = 0;

	guard(rcu)();
	ptracer_for_each(p, current)
		if (n < PTRACER_MAX && ptracer_lives(p) &&
		    ptracer_follows(p, clone_flags) && ptracer_tryget(p))
			ps[n++] = p;
	return n;
}

/* Allocate a ptracer for a new task, for a tracer of the current task. */
static struct ptracer *ptracer_for_newborn(struct ptracer *parent)
{
	struct utrace_engine *engine;
	struct ptracer *p;

	p = ptracer_new(parent->tracer, parent->cred, parent->flags);
	if (!p)
		return NULL;
	engine = utrace_engine_like(parent->engine, p);
	if (IS_ERR(engine)) {
		ptracer_free(p);
		return NULL;
	}
	p->engine = engine;
	scoped_guard(rcu)
		utrace_set_owner(engine, task_tgid(p->tracer));
	p->newborn = true;
	/* The first stop: PTRACE_EVENT_STOP, or SIGSTOP without PTRACE_SEIZE. */
	if (p->flags & PT_SEIZED)
		p->trap = true;
	else
		p->made = BIT(SIGSTOP);
	return p;
}

/**
 * __utrace_ptrace_unprepare() - free prepared ptracers that were not used
 *
 * Context: Process context, sleeps.
 */
void __utrace_ptrace_unprepare(void)
{
	struct hlist_node *next;
	struct ptracer *p;

	hlist_for_each_entry_safe(p, next, utrace_newborn_tracers(), by_task) {
		hlist_del_init(&p->by_task);
		utrace_engine_abandon(p->engine);
		ptracer_free(p);
	}
}

/**
 * __utrace_ptrace_prepare() - prepare to follow the current task to a new one
 * @args: what kernel_clone() was called with
 *
 * Context: Process context, sleeps.
 * Return: 0, or -ENOMEM.
 */
int __utrace_ptrace_prepare(const struct kernel_clone_args *args)
{
	unsigned long clone_flags = args->flags | args->exit_signal;
	struct ptracer *ps[PTRACER_MAX], *p;
	unsigned int n = ptracer_get_followers(clone_flags, ps);
	int ret = 0;

	/* In reverse order, since each is added to the head of the list. */
	while (n--) {
		p = ret ? NULL : ptracer_for_newborn(ps[n]);
		if (p)
			hlist_add_head(&p->by_task, utrace_newborn_tracers());
		else
			ret = -ENOMEM;
		ptracer_put(ps[n]);
	}
	if (ret)
		__utrace_ptrace_unprepare();
	return ret;
}

/**
 * __utrace_ptrace_fork() - make the tracers that follow trace a new task
 * @child: the task, with its pid, a struct utrace, and no tracer yet
 *
 * A tracer that exits is left out, and __utrace_ptrace_born() frees its
 * ptracer.  The task gets all others, even if kernel.ptrace_max_tracers was
 * reduced.
 *
 * Context: copy_process(), with tasklist_lock held for writing, without siglock.
 */
void __utrace_ptrace_fork(struct task_struct *child)
{
	struct hlist_node *next;
	struct ptracer *p;

	/* All tracers of the parent have left since __utrace_ptrace_prepare(). */
	if (!child->utrace)
		return;
	hlist_for_each_entry_safe(p, next, utrace_newborn_tracers(), by_task) {
		hlist_del_init(&p->by_task);
		ptracer_set_task(p, child);
		utrace_engine_set_task(p->engine, child);
		if (ptracer_enter(p, PTRACER_ALL))
			hlist_add_head(&p->by_task, utrace_newborn_tracers());
		else
			/*
			 * Not the last reference: the lists hold one, which
			 * cannot be dropped while tasklist_lock is held.
			 */
			ptracer_put(p);
	}
}

static bool ptracer_is_newborn(struct ptracer *p, void *arg)
{
	return p->newborn;
}

/**
 * __utrace_ptrace_born() - attach the engines of the tracers of a new task
 * @child: the task, which does not run yet
 *
 * An attach fails only if the task has no free slot, or if the creator gets a
 * fatal signal while it waits.  The tracer then does not trace the task, and a
 * warning is logged.
 *
 * Context: Process context, sleeps.
 */
void __utrace_ptrace_born(struct task_struct *child)
{
	struct ptracer *p;
	int ret;

	while ((p = ptracer_of_task(child, ptracer_is_newborn, NULL))) {
		p->newborn = false;
		ret = utrace_attach_newborn(p->engine) ?: ptracer_set_events(p);
		if (!ret) {
			utrace_ask_report(child);
		} else {
			ptracer_end_quietly(p, child);
			ptracer_control(p, UTRACE_DETACH);
		}
		if (ret && ret != -ESRCH)
			pr_warn_ratelimited("ptrace: tracer %d cannot follow new task %d of %d: error %d\n",
					    task_pid_nr(p->tracer),
					    task_pid_nr(child), current->pid,
					    ret);
		ptracer_put(p);
	}
	__utrace_ptrace_unprepare();
}
