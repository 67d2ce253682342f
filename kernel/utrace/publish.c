// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - publishing: tasks get another set by the hand of somebody else
 *
 * The barrier that the pass of a task leaves out is made up for here, once for a
 * whole round of tasks, and only by CPUs that run a traced task.
 */
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "internal.h"

#ifdef CONFIG_SMP
static void utrace_heavy_ipi(void *unused)
{
	smp_mb(); /* Between a task's store and its look, wherever it was hit. */
}

/*
 * A task that is switched out before cpu_curr_snapshot() has the run queue's lock
 * made its stores before the unlock that this lock follows; one that is switched in
 * after it sees what was stored before utrace_heavy().
 */
static bool utrace_cpu_is_meant(int cpu, void *engine)
{
	struct task_struct *curr;
	struct utrace *u;

	guard(rcu)();	/* Neither the task nor its set goes away meanwhile. */
	curr = cpu_curr_snapshot(cpu);
	u = READ_ONCE(curr->utrace);
	if (!u)
		return false;
	if (READ_ONCE(u->flags) & UTRACE_TASK_DEFERRED)
		return true;
	return engine && utrace_set_slot(READ_ONCE(curr->utrace_set), engine) >= 0;
}
#endif

/**
 * utrace_heavy - a full barrier in every running task that may be in a pass
 * @engine: in a pass over a set with this engine, which has not left the casts of
 *	its tasks; NULL: over a set that was replaced, and is deferred
 *
 * What the caller stored before is seen by such a task in all it loads after, or
 * what the task stored before its load is seen by the caller after this.  CPUs with
 * other tasks get no interrupt.  A task that has a deferred set may have any engine
 * pinned.  One that has just given itself a set with the engine has a full barrier
 * after that, see utrace_renew().
 *
 * Context: Process context, interrupts and preemption enabled, no spinlock held.
 */
void utrace_heavy(struct utrace_engine *engine)
{
	smp_mb(); /* The caller's store before the look at the CPUs. */
#ifdef CONFIG_SMP
	on_each_cpu_cond(utrace_cpu_is_meant, utrace_heavy_ipi, engine, true);
#endif
	smp_mb(); /* The answers before the caller's look. */
}

/* The struct utrace of a task, the spare one if it has none; NULL without. */
static struct utrace *utrace_turn_utrace(struct utrace_turn *turn)
{
	struct utrace *u = READ_ONCE(turn->task->utrace);

	if (u || !turn->u)
		return u;
	if (!utrace_install(turn->task, turn->u))
		return READ_ONCE(turn->task->utrace);
	u = turn->u;
	turn->u = NULL;
	return u;
}

/* With @u->lock: the set changes, and the old one is left to a pass over it. */
static void utrace_turn_locked(struct utrace_turn *turn, struct utrace *u,
			       struct utrace_set *set)
{
	u64 same = utrace_set_same(turn->task->utrace_set, set);
	/* Engines that the task has not been asked about do not hear of it yet. */
	u64 unasked = set ? set->matched & ~same : 0;

	/* In the list of the new cast before it leaves that of the old. */
	if (set && turn->member)
		utrace_member_join(turn->member, turn->task, set->cast);
	/*
	 * The membership comes before a look at what is wanted, see
	 * utrace_visit_casts(); ->utrace comes before a first set, see
	 * utrace_init_task().
	 */
	smp_mb();
	turn->old = utrace_switch(turn->task, u, utrace_set_get(set), same,
				  (u->muted & same) | unasked, unasked);
	swap(u->member, turn->member);
	turn->done = true;
	/* A pass over an earlier one still runs: this one was never pinned. */
	if (!turn->old || u->flags & UTRACE_TASK_DEFERRED)
		return;
	u->deferred = turn->old;
	u->flags |= UTRACE_TASK_DEFERRED;
	turn->pinned = true;
}

/**
 * utrace_turn - give a task another set
 * @turn: the task, and spares for it; filled in for utrace_sweep()
 * @set: the set, on which the caller keeps its reference; NULL for none
 *
 * Does nothing if the task was reaped, or if there is no struct utrace.
 *
 * Context: Any but NMI, without siglock.  utrace_change_mutex is held until
 * utrace_sweep().
 */
void utrace_turn(struct utrace_turn *turn, struct utrace_set *set)
{
	struct utrace *u = utrace_turn_utrace(turn);
	u64 held = 0;

	lockdep_assert_held(&utrace_change_mutex);

	if (!u)
		return;
	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return;
		held = u->hold;
		utrace_turn_locked(turn, u, set);
		held &= ~u->hold;
	}
	if (turn->member)
		utrace_member_leave(turn->member);
	if (held)
		utrace_wake(turn->task, u);
}

/* Does the pass that may have pinned the old set drop it? */
static bool utrace_turn_is_deferred(struct utrace_turn *turn)
{
	struct utrace *u = turn->task->utrace;

	guard(spinlock_irqsave)(&u->lock);
	if (u->deferred != turn->old)
		return true;
	if (READ_ONCE(u->pinned) == turn->old)
		return true;
	utrace_take_deferred(u);
	return false;
}

/**
 * utrace_sweep - the end of a round
 * @turns: after utrace_turn()
 * @n: how many
 *
 * Context: Process context, no spinlock held.  utrace_change_mutex is held.
 */
void utrace_sweep(struct utrace_turn *turns, unsigned int n)
{
	bool heavy = false;
	unsigned int i;

	lockdep_assert_held(&utrace_change_mutex);

	for (i = 0; i < n; i++)
		heavy |= turns[i].pinned;
	if (heavy)
		utrace_heavy(NULL);
	for (i = 0; i < n; i++) {
		struct utrace_turn *turn = &turns[i];

		if (!turn->pinned || !utrace_turn_is_deferred(turn))
			utrace_set_put(turn->old);
		if (turn->member)
			kfree_rcu(turn->member, rcu);
		turn->member = NULL;
	}
}
