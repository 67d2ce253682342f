// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - scopes: which tasks an engine covers
 *
 * A thread engine names its task, a process engine the struct pid of the
 * thread group, which moves to the survivor of an execve().  Whether a task
 * belongs to a process or tree engine is said by the cast of its set, and nothing
 * else; the engine finds its tasks as the members of its casts.
 */
#include <linux/rculist.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "internal.h"

/**
 * utrace_covers - is an engine in the set of a task?
 * @engine: the engine
 * @task: the task; the caller has a reference
 *
 * Context: Any but NMI.  Takes @task's utrace->lock.
 * Return: true if so.
 */
bool utrace_covers(struct utrace_engine *engine, struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	if (!u)
		return false;
	guard(spinlock_irqsave)(&u->lock);
	return utrace_set_slot(task->utrace_set, engine) >= 0;
}

static bool utrace_in_scope(struct utrace_engine *engine, struct task_struct *task)
{
	unsigned int state = utrace_engine_state(engine);

	if (state & UTRACE_STATE_SYSTEM)
		return !(task->flags & PF_KTHREAD) ||
		       state & UTRACE_STATE_KTHREAD;
	if (state & UTRACE_STATE_SCOPE)
		return utrace_covers(engine, task);
	return task == engine->task;
}

/**
 * utrace_addresses - does this pair of arguments name tasks of an engine?
 * @engine: the engine
 * @target: what the client gave: a task on which it has a reference, or NULL
 *
 * Context: Any but NMI.  Takes @target's utrace->lock.
 * Return: false if the engine is detached, or @target is not in its scope.
 */
bool utrace_addresses(struct utrace_engine *engine, struct task_struct *target)
{
	if (utrace_engine_detached(engine))
		return false;
	return !target || utrace_in_scope(engine, target);
}

/* What a function wanted done when the lock is released. */
static noinline void utrace_after(struct task_struct *task, struct utrace *u,
				  unsigned int after)
{
	if (after & UTRACE_AFTER_INTERRUPT)
		utrace_interrupt(task);
	if (after & UTRACE_AFTER_STOPPED)
		utrace_interrupt_stopped(task);
	if (after & UTRACE_AFTER_NOTIFY)
		set_notify_resume(task);
	if (after & UTRACE_AFTER_WAKE)
		utrace_wake(task, u);
}

/* Call @fn for a task if the engine is in its set. */
static void utrace_member(struct utrace_engine *engine,
			  struct task_struct *task, utrace_member_fn fn,
			  void *arg)
{
	struct utrace *u = READ_ONCE(task->utrace);
	unsigned int after = 0;

	if (!u)
		return;
	scoped_guard(spinlock_irqsave, &u->lock) {
		int slot = utrace_set_slot(task->utrace_set, engine);

		if (slot >= 0)
			after = fn(engine, task, u, BIT_ULL(slot), arg);
	}
	if (after)
		utrace_after(task, u, after);
}

typedef void (*utrace_task_fn)(struct utrace_engine *engine,
			       struct task_struct *task, utrace_member_fn fn,
			       void *arg);

/* Call @fn for a task, whatever its set. */
static void utrace_task(struct utrace_engine *engine, struct task_struct *task,
			utrace_member_fn fn, void *arg)
{
	struct utrace *u = READ_ONCE(task->utrace);

	if (!u)
		return;
	guard(spinlock_irqsave)(&u->lock);
	fn(engine, task, u, 0, arg);
}

/* Members of an engine of process or tree scope. */
static void utrace_visit_casts(struct utrace_engine *engine,
			       utrace_task_fn each, utrace_member_fn fn,
			       void *arg)
{
	struct utrace_member *member;
	struct utrace_role *role;

	smp_mb(); /* What has changed before the lists; pairs with __utrace_fork(). */
	guard(rcu)();
	list_for_each_entry_rcu(role, &engine->info->roles, list) {
		/* One cast before the next; pairs with utrace_turn_locked(). */
		smp_rmb();
		list_for_each_entry_rcu(member, &role->cast->members, list)
			each(engine, member->task, fn, arg);
	}
}

/**
 * utrace_tasklist_barrier - wait for who holds tasklist_lock for writing
 *
 * A section that held the lock before is seen as a whole after this barrier, and a
 * later section sees all that the caller has written before.
 *
 * copy_process() makes the event word and the set of a child and adds the child to
 * the lists of tasks in one such section.  A child of a section before this barrier is
 * in the lists when a walk begins after it; a child of a later section is made from
 * what the caller has changed before.
 *
 * A walk under RCU meets each task that stays in the lists from its begin to its end:
 * a task that is removed, or replaced by de_thread(), keeps its pointer to the next.
 * An attach also relies on children being added to the end, see attach.c.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 */
void utrace_tasklist_barrier(void)
{
	read_lock(&tasklist_lock);
	read_unlock(&tasklist_lock);
}

/* All tasks that there are; one that is born from here on knows what has changed. */
static void utrace_visit_all(struct utrace_engine *engine, utrace_task_fn each,
			     utrace_member_fn fn, void *arg)
{
	struct task_struct *p, *t;

	utrace_tasklist_barrier();
	guard(rcu)();
	for_each_process_thread(p, t)
		each(engine, t, fn, arg);
}

static void utrace_visit(struct utrace_engine *engine, utrace_task_fn each,
			 utrace_member_fn fn, void *arg)
{
	unsigned int scope = utrace_engine_state(engine) & UTRACE_STATE_SCOPE;

	if (!scope)
		each(engine, engine->task, fn, arg);
	else if (scope != UTRACE_STATE_SYSTEM)
		utrace_visit_casts(engine, each, fn, arg);
	else
		utrace_visit_all(engine, each, fn, arg);
}

/**
 * utrace_visit_members - call a function for the tasks of a scope
 * @engine: the engine
 * @target: one task of it, or NULL for all
 * @fn: called under the task's utrace->lock with the engine's slot as a bit;
 *	returns what is to be done when the lock is released, UTRACE_AFTER_*.
 *	It may be called twice for a task.
 * @arg: for @fn
 *
 * A task that the engine joins or leaves meanwhile may be missed.  One that
 * inherits it is met, or sees itself what the caller changed before.
 *
 * Context: Any but NMI.  Takes tasklist_lock for system scope.
 */
void utrace_visit_members(struct utrace_engine *engine,
			  struct task_struct *target, utrace_member_fn fn,
			  void *arg)
{
	if (target && utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		utrace_member(engine, target, fn, arg);
	else
		utrace_visit(engine, utrace_member, fn, arg);
}

/**
 * utrace_visit_tasks - call a function for tasks that may be in a callback
 * @engine: the engine, of which uncover has not begun if it is detached
 * @fn: as for utrace_visit_members(), without a slot and without an answer: the
 *	set that the task has pinned counts, not the published one
 * @arg: for @fn
 *
 * Context: Any but NMI.  Takes tasklist_lock for system scope.
 */
void utrace_visit_tasks(struct utrace_engine *engine, utrace_member_fn fn,
			void *arg)
{
	utrace_visit(engine, utrace_task, fn, arg);
}
