// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - publishing: tasks get another set
 *
 * A task that renews its set publishes the new set itself (renew.c), while it
 * has no set pinned.
 *
 * An attach or a detach gives each task of a batch its new set with
 * utrace_update_task(), while the task may be in a pass over the old set.  A
 * pass has no full barrier, so utrace_membarrier() executes it by IPI, once for
 * the whole batch, on those CPUs whose current task may be in such a pass.
 * Then utrace_update_drop_old() drops the old sets that no pass has pinned.
 */
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "change.h"
#include "publish.h"
#include "set.h"
#include "task.h"
#include "wake.h"

#ifdef CONFIG_SMP
static void utrace_membarrier_ipi(void *unused)
{
	smp_mb(); /* Between the store and the load of a pass. */
}

/*
 * Check whether a CPU needs the IPI.  If a task was switched out before
 * cpu_curr_snapshot() took the lock of the run queue, the previous unlock has
 * made its stores visible.  A task that is switched in later sees all stores
 * before utrace_membarrier().
 */
static bool utrace_cpu_needs_ipi(int cpu, void *engine)
{
	struct task_struct *curr;
	struct utrace *u;

	guard(rcu)();	/* Keeps the task and its set. */
	curr = cpu_curr_snapshot(cpu);
	u = READ_ONCE(curr->utrace);
	if (!u)
		return false;
	if (READ_ONCE(u->flags) & UTRACE_TASK_DEFERRED)
		return true;
	return engine &&
	       utrace_set_slot(READ_ONCE(curr->utrace_set), engine) >= 0;
}
#endif

/**
 * utrace_membarrier() - execute a full barrier on CPUs that may be in a pass
 * @engine: an engine that is still in the domains of its tasks: CPUs whose
 *	current task has a set with this engine get an IPI.  NULL: no such CPUs
 *
 * CPUs whose current task has a deferred set get an IPI too, since such a set
 * may have any engine.  No other CPU is interrupted.
 *
 * Pairs with the compiler barriers of a pass, each between a store and a load
 * of the task.  Either the load sees what the caller stored before this call,
 * or the caller sees the task's store in its loads after this call.
 *
 * A task that gives itself a set with @engine has a full barrier between the
 * store of the set and the load of the engine's flags, see
 * utrace_renew_publish().
 *
 * Context: Process context, interrupts and preemption enabled, no spinlock
 * held.
 */
void utrace_membarrier(struct utrace_engine *engine)
{
	smp_mb(); /* The caller's stores before the loads of cpu_curr. */
#ifdef CONFIG_SMP
	on_each_cpu_cond(utrace_cpu_needs_ipi, utrace_membarrier_ipi, engine,
			 true);
#endif
	smp_mb(); /* The IPIs before the caller's loads. */
}

/**
 * utrace_switch() - publish another set for a task
 * @task: the task
 * @u: struct utrace of @task
 * @set: the set, or NULL for none; the call consumes the reference
 * @same: utrace_set_same() of the old set and @set
 * @muted: slots of @set whose engines reject the task
 * @ask: the task has not evaluated the matches of some engines of @set yet
 *
 * Drops holds and steps of engines that are not in @set.
 *
 * Context: @u->lock is held, and the reaper has not claimed the task.
 * Return: the old set, with the reference of the task, which a pass may have
 * pinned; or NULL if the task had no set.
 */
struct utrace_set *utrace_switch(struct task_struct *task, struct utrace *u,
				 struct utrace_set *set, u64 same, u64 muted,
				 bool ask)
{
	struct utrace_set *old = task->utrace_set;
	bool renew = ask || task->utrace_events & UTRACE_WORD_RENEW;

	lockdep_assert_held(&u->lock);

	u->step &= same;
	u->block &= same;
	utrace_end_hold(u, ~same);
	u->fresh |= set ? set->members & ~same : U64_MAX;
	/* A muted engine saw no entry of the current system call either. */
	u->fresh |= u->muted & ~muted & same;
	u->muted = set ? muted & set->members : 0;
	u->flags |= UTRACE_TASK_SLOW;
	/* No engine is left that wants a report. */
	if (!set)
		u->resume = UTRACE_RESUME;
	/* SLOW before the set; pairs with utrace_pin_try(). */
	smp_store_release(&task->utrace_set, set);
	/* RENEW stays if events or verdicts changed while the set was made. */
	if (set && (renew || !utrace_set_is_current(set)))
		utrace_set_word(task, utrace_word_now(task, u));
	else
		utrace_set_word(task, set ? utrace_word_of(set, u->muted) :
				      utrace_bare_events(task));
	return old;
}

/* Get the struct utrace of a task, or install the spare one.  NULL if none. */
static struct utrace *utrace_update_utrace(struct utrace_update *update)
{
	struct utrace *u = READ_ONCE(update->task->utrace);

	if (u || !update->u)
		return u;
	if (!utrace_install(update->task, update->u))
		return READ_ONCE(update->task->utrace);
	u = update->u;
	update->u = NULL;
	return u;
}

/*
 * Publish @set.  A pass may have the old set pinned, so its reference goes to
 * utrace::deferred, and utrace_update_drop_old() decides who drops it.
 * @u->lock is held.
 */
static void utrace_update_locked(struct utrace_update *update, struct utrace *u,
				 struct utrace_set *set)
{
	u64 same = utrace_set_same(update->task->utrace_set, set);
	/* New engines with a match are muted until the task evaluates it. */
	u64 unasked = set ? set->matched & ~same : 0;

	/*
	 * The task joins the list of the new domain here, and leaves the old
	 * list in utrace_update_task() later, so a walk under RCU finds it.
	 */
	if (set && update->member)
		utrace_member_join(update->member, update->task, set->domain);
	/*
	 * The list entry before the loads of what engines want; pairs with
	 * utrace_visit_domains().  And ->utrace before a first set; pairs with
	 * utrace_init_task().
	 */
	smp_mb();
	update->old = utrace_switch(update->task, u, utrace_set_get(set), same,
				    (u->muted & same) | unasked, unasked);
	swap(u->member, update->member);
	update->done = true;
	/*
	 * While DEFERRED is set, the task is still in its pass over the set in
	 * ->deferred, so it cannot have update->old pinned.
	 */
	if (!update->old || u->flags & UTRACE_TASK_DEFERRED)
		return;
	u->deferred = update->old;
	u->flags |= UTRACE_TASK_DEFERRED;
	update->pinned = true;
}

/**
 * utrace_update_task() - give a task another set
 * @update: the task and spare memory; filled in for utrace_update_drop_old()
 * @set: the set, of which the caller keeps its reference; NULL for none
 *
 * Does nothing if the reaper has claimed the task, or if neither the task nor
 * @update has a struct utrace.  Wakes the task if only engines that are not in
 * @set held it.
 *
 * Context: Any but NMI, without siglock.  The caller holds utrace_change_mutex
 * until utrace_update_drop_old() has returned.
 */
void utrace_update_task(struct utrace_update *update, struct utrace_set *set)
{
	struct utrace *u = utrace_update_utrace(update);
	u64 held = 0;

	lockdep_assert_held(&utrace_change_mutex);

	if (!u)
		return;
	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return;
		held = u->hold;
		utrace_update_locked(update, u, set);
		held &= ~u->hold;
	}
	if (update->member)
		utrace_member_leave(update->member);
	if (held)
		utrace_wake_unheld(update->task, u);
}

/*
 * Check after utrace_membarrier() whether the task drops the old set at the end
 * of its pass.  If not, the caller has the reference again.
 */
static bool utrace_update_is_deferred(struct utrace_update *update)
{
	struct utrace *u = update->task->utrace;

	guard(spinlock_irqsave)(&u->lock);
	if (u->deferred != update->old)
		return true;
	if (READ_ONCE(u->pinned) == update->old)
		return true;
	utrace_take_deferred(u);
	return false;
}

/**
 * utrace_update_drop_old() - drop the old sets and list entries of a batch
 * @updates: the updates, after utrace_update_task()
 * @n: number of @updates
 *
 * Old sets that a pass has pinned stay in utrace::deferred of the task.
 *
 * Context: Process context, no spinlock held.  utrace_change_mutex is held.
 */
void utrace_update_drop_old(struct utrace_update *updates, unsigned int n)
{
	bool pinned = false;
	unsigned int i;

	lockdep_assert_held(&utrace_change_mutex);

	for (i = 0; i < n; i++)
		pinned |= updates[i].pinned;
	if (pinned)
		utrace_membarrier(NULL);
	for (i = 0; i < n; i++) {
		struct utrace_update *update = &updates[i];

		if (!update->pinned || !utrace_update_is_deferred(update))
			utrace_set_put(update->old);
		if (update->member)
			kfree_rcu(update->member, rcu);
		update->member = NULL;
	}
}
