// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - scopes: which tasks an engine covers
 *
 * A thread engine points to its task.  A process or tree engine points to the
 * struct pid of its thread group, which stays with the group when a thread
 * other than the leader calls execve().  Such an engine covers the tasks whose
 * sets have the engine; these tasks are the members of its domains.
 *
 * Another task works on the tasks of an engine by utrace_visit_members(), which
 * looks up the engine's slot and uses it without dropping utrace->lock.  So
 * another engine cannot get the slot in between.
 */
#include <linux/rculist.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "builtin.h"
#include "match.h"
#include "scope.h"
#include "set.h"
#include "wake.h"

/**
 * utrace_covers() - check whether an engine is in the set of a task
 * @engine: the engine; the caller has a reference
 * @task: the task; the caller has a reference
 *
 * Context: Any but NMI.  Takes @task's utrace->lock.
 * Return: true if @engine is in the published set of @task.
 */
bool utrace_covers(struct utrace_engine *engine, struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	if (!u)
		return false;
	guard(spinlock_irqsave)(&u->lock);
	return utrace_set_slot(task->utrace_set, engine) >= 0;
}

/**
 * utrace_reports_to() - check whether a task reports its events to an engine
 * @engine: the engine; the caller has a reference
 * @task: the task; the caller has a reference, or is under RCU
 *
 * Context: Any but NMI, without utrace->lock.
 * Return:
 * * true - the set of @task has @engine, which does not reject the task
 * * false - @engine does not cover @task, the last verdict of its match
 *   rejected @task, or it is a system engine and @task had no event since the
 *   attach
 */
bool utrace_reports_to(struct utrace_engine *engine, struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);
	int slot;

	if (!u)
		return false;
	guard(spinlock_irqsave)(&u->lock);
	slot = utrace_set_slot(task->utrace_set, engine);
	return slot >= 0 && !(u->muted & BIT_ULL(slot));
}

static bool utrace_in_scope(struct utrace_engine *engine,
			    struct task_struct *task)
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
 * utrace_addresses() - check the target that a client passed for an engine
 * @engine: the engine; the caller has a reference, or is a callback of it
 * @target: a task to which the client has a reference, or NULL for all tasks of
 *	the engine
 *
 * Context: Any but NMI.  Takes @target's utrace->lock.
 * Return:
 * * true - @target is NULL or in the scope of @engine
 * * false - @target is not in the scope, or @engine is detached
 */
bool utrace_addresses(struct utrace_engine *engine, struct task_struct *target)
{
	if (utrace_engine_detached(engine))
		return false;
	return !target || utrace_in_scope(engine, target);
}

/*
 * Do what a utrace_member_fn has asked for by UTRACE_AFTER_* bits.  Called
 * without utrace->lock, since siglock, which most of these take, is outside of
 * that lock.
 */
static noinline void utrace_after(struct task_struct *task, struct utrace *u,
				  unsigned int after)
{
	if (after & UTRACE_AFTER_INTERRUPT)
		utrace_interrupt(task);
	if (after & UTRACE_AFTER_STOPPED)
		utrace_trap_group_stopped(task);
	if (after & UTRACE_AFTER_NOTIFY)
		set_notify_resume(task);
	if (after & UTRACE_AFTER_WAKE)
		utrace_wake_unheld(task, u);
}

/* Call @fn for a task if its published set has the engine. */
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

/*
 * Call @fn for a task whatever its published set is; see utrace_visit_tasks().
 */
static void utrace_task(struct utrace_engine *engine, struct task_struct *task,
			utrace_member_fn fn, void *arg)
{
	struct utrace *u = READ_ONCE(task->utrace);

	if (!u)
		return;
	guard(spinlock_irqsave)(&u->lock);
	fn(engine, task, u, 0, arg);
}

/* Visit the members of all domains of an engine of process or tree scope. */
static void utrace_visit_domains(struct utrace_engine *engine,
				 utrace_task_fn each, utrace_member_fn fn,
				 void *arg)
{
	struct utrace_member *member;
	struct utrace_link *link;

	/*
	 * The caller's change before the reads of the lists: a task that joins
	 * a domain too late for this walk sees the change.  Pairs with
	 * utrace_inherit_word() and utrace_update_locked().
	 */
	smp_mb();
	guard(rcu)();
	list_for_each_entry_rcu(link, &engine->info->links, list) {
		/*
		 * A task joins the list of a newer domain before it leaves the
		 * old one.  If it had left the previous list, one of the next
		 * lists has it.  Pairs with utrace_update_locked().
		 */
		smp_rmb();
		list_for_each_entry_rcu(member, &link->domain->members, list)
			each(engine, member->task, fn, arg);
	}
}

/*
 * Visit all tasks.  A task that is created after the barrier sees what the
 * caller changed before, see utrace_tasklist_barrier().
 */
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
		utrace_visit_domains(engine, each, fn, arg);
	else
		utrace_visit_all(engine, each, fn, arg);
}

/**
 * utrace_visit_members() - call a function for the tasks that an engine covers
 * @engine: the engine; the caller has a reference
 * @target: one task of the engine, to which the caller has a reference; NULL
 *	for all its tasks
 * @fn: called under the task's utrace->lock, with the engine's slot as a bit;
 *	returns UTRACE_AFTER_* bits for what to do after that lock is released.
 *	May be called twice for a task that moves to a newer domain during the
 *	call
 * @arg: last argument of @fn
 *
 * May miss a task that gets the engine by an attach, or loses it by a detach,
 * during the call.  A child that inherits the engine during the call is
 * visited, or sees what the caller changed before the call.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock for a system
 * engine.
 */
void utrace_visit_members(struct utrace_engine *engine,
			  struct task_struct *target, utrace_member_fn fn,
			  void *arg)
{
	if (target)
		utrace_member(engine, target, fn, arg);
	else
		utrace_visit(engine, utrace_member, fn, arg);
}

/* Walk over the tasks of an engine until one is not dead. */
static bool utrace_meets_living(struct utrace_engine *engine)
{
	struct utrace_member *member;
	struct utrace_link *link;

	if (!(utrace_engine_state(engine) & UTRACE_STATE_SCOPE))
		return !utrace_is_dead(engine->task);
	guard(rcu)();
	list_for_each_entry_rcu(link, &engine->info->links, list) {
		/* As in utrace_visit_domains(). */
		smp_rmb();
		list_for_each_entry_rcu(member, &link->domain->members, list)
			if (!utrace_is_dead(member->task))
				return true;
	}
	return false;
}

/**
 * utrace_has_living() - check whether an engine covers a task that is not dead
 * @engine: the engine, which is not a system engine; the caller has a
 *	reference, and @engine is not being attached
 *
 * Only a living task of the engine creates new ones, so false is final.  A walk
 * may pass the place of a child in a list before the child is added, and visit
 * the parent when it is already dead.  So if a walk finds no living task, it is
 * repeated with tasklist_lock held, which excludes forks.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 * Return: true if a task that @engine covers has not begun its death report.
 */
bool utrace_has_living(struct utrace_engine *engine)
{
	if (utrace_meets_living(engine))
		return true;
	guard(read_lock)(&tasklist_lock);
	return utrace_meets_living(engine);
}

/* Set the CPU that runs a task in @arg, a struct cpumask. */
static unsigned int utrace_note_cpu(struct utrace_engine *engine,
				    struct task_struct *task, struct utrace *u,
				    u64 bit, void *arg)
{
	if (task_curr(task))
		cpumask_set_cpu(task_cpu(task), arg);
	return 0;
}

static void utrace_nothing(void *unused)
{
}

/**
 * utrace_interrupt_cpus() - interrupt the CPUs that run tasks of an engine
 * @engine: the engine; the caller has a reference
 *
 * Called after utrace_control() has sent the tasks to the safe point.  When
 * this returns, no task still runs user code that it entered before: each task
 * was interrupted, or has been switched in since.
 *
 * Context: Process context, without siglock; sleeps for memory.
 */
void utrace_interrupt_cpus(struct utrace_engine *engine)
{
	cpumask_var_t cpus;

	/*
	 * The requests to the tasks before the loads of cpu_curr; pairs with
	 * the barrier in a context switch.
	 */
	smp_mb();
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL)) {
		on_each_cpu(utrace_nothing, NULL, true);
		return;
	}
	utrace_visit_members(engine, NULL, utrace_note_cpu, cpus);
	on_each_cpu_mask(cpus, utrace_nothing, NULL, true);
	free_cpumask_var(cpus);
}

/**
 * utrace_visit_tasks() - call a function for tasks that may be in a callback
 * @engine: the engine; if it is detached, utrace_uncover() has not begun to
 *	move its tasks to other domains
 * @fn: called under the task's utrace->lock with 0 for the slot, also if the
 *	published set of the task does not have the engine, since the pinned set
 *	may have it.  The return value is not used
 * @arg: last argument of @fn
 *
 * Context: Any but NMI.  Takes tasklist_lock for a system engine.
 */
void utrace_visit_tasks(struct utrace_engine *engine, utrace_member_fn fn,
			void *arg)
{
	utrace_visit(engine, utrace_task, fn, arg);
}
