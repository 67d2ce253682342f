// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system scope: one engine for all existing and future user tasks
 *
 * No memory is allocated for a task until it has an event: the event word of a
 * bare task has the events that the system engines want (task.c).  At its first
 * event a bare task allocates a struct utrace (utrace_adopt(), renew.c).  Every
 * set contains the system engines, in slots after those of the domain.
 *
 * After a change of events or of the table, utrace_system_refresh() updates the
 * words of all tasks in one walk.  A removed engine is in no new set.  The sets
 * that still have it keep its memory, and no pass calls it.
 */
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "engine.h"
#include "scope_system.h"
#include "task.h"

static struct utrace_system utrace_system_empty;
struct utrace_system __rcu *utrace_system =
	RCU_INITIALIZER(&utrace_system_empty);

/*
 * Generation of the table, see utrace_set::sysgen.  Written under
 * utrace_engine_lock.
 */
unsigned int utrace_system_gen __read_mostly;

/**
 * utrace_tasklist_barrier() - wait until tasklist_lock is not held for writing
 *
 * When this returns, each section that held the lock for writing before is
 * over, and the caller sees its stores.  A section that takes the lock later
 * sees all previous stores of the caller.
 *
 * In one such section copy_process() makes the event word and the set of a
 * child and adds the child to the lists of tasks.  So if a walk begins after
 * this barrier, a child is already in the lists, or is made later and sees what
 * the caller has changed.
 *
 * A walk under RCU visits each task that stays in the lists during the whole
 * walk: a task that is removed, or replaced by de_thread(), keeps its pointer
 * to the next one.  An attach also relies on new threads being added at the end
 * of their list, see utrace_walk_process().
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 */
void utrace_tasklist_barrier(void)
{
	read_lock(&tasklist_lock);
	read_unlock(&tasklist_lock);
}

/*
 * Number of bare tasks that utrace_system_refresh() updates before it drops
 * utrace_bare_lock and enables interrupts.
 */
#define UTRACE_BARE_RUN		64
/* Any other task takes as long as this number of bare tasks. */
#define UTRACE_OTHER		8

/**
 * utrace_system_refresh() - update the event words of all tasks
 *
 * Walks once over all tasks, with a few instructions for each bare task.  A
 * child that is created during the walk is visited, or its word is made from
 * the new events, see utrace_tasklist_barrier().
 *
 * The events are read again each time utrace_bare_lock is taken, so that of two
 * concurrent walks the later change stays.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 */
void utrace_system_refresh(void)
{
	unsigned long user, flags;
	struct task_struct *p, *t;
	unsigned int run = 0;

	utrace_tasklist_barrier();
	guard(rcu)();
	spin_lock_irqsave(&utrace_bare_lock, flags);
	user = utrace_bare_events_of(0);
	for_each_process_thread(p, t) {
		if (unlikely(t->utrace)) {
			utrace_want_renewal(t);
			run += UTRACE_OTHER;
		} else if (unlikely(t->flags & (PF_KTHREAD | PF_USER_WORKER))) {
			utrace_set_word(t, utrace_bare_events(t));
			run += UTRACE_OTHER;
		} else {
			utrace_write_word(t, user);
			run++;
		}
		if (unlikely(run >= UTRACE_BARE_RUN)) {
			spin_unlock_irqrestore(&utrace_bare_lock, flags);
			run = 0;
			spin_lock_irqsave(&utrace_bare_lock, flags);
			user = utrace_bare_events_of(0);
		}
	}
	spin_unlock_irqrestore(&utrace_bare_lock, flags);
}

/**
 * utrace_system_recount() - compute the events that system engines want
 *
 * Called after a change of the table or of the events of a system engine.
 *
 * Context: utrace_engine_lock is held.
 */
void utrace_system_recount(void)
{
	unsigned long events = 0, kthread = 0;
	struct utrace_system *system;
	unsigned int i;

	system = rcu_dereference_protected(utrace_system,
					   lockdep_is_held(&utrace_engine_lock));
	for (i = 0; i < system->n; i++) {
		struct utrace_engine *engine = system->engine[system->all[i]];

		events |= READ_ONCE(engine->flags);
		if (utrace_engine_state(engine) & UTRACE_STATE_KTHREAD)
			kthread |= READ_ONCE(engine->flags);
	}
	WRITE_ONCE(utrace_kthread_events, kthread & UTRACE_EVENT_KTHREAD);
	WRITE_ONCE(utrace_system_events, events);
}

/**
 * utrace_system_reaches() - check whether a system engine covers a kind of task
 * @engine: the engine; the caller has a reference, or is under RCU
 * @kthread: true for kernel threads, false for user tasks
 *
 * Context: Any.
 * Return: false if @engine does not cover such tasks, or is detached.
 */
bool utrace_system_reaches(struct utrace_engine *engine, bool kthread)
{
	unsigned int state = utrace_engine_state(engine);

	return !(state & UTRACE_STATE_DETACHED) &&
	       (!kthread || state & UTRACE_STATE_KTHREAD);
}

/* Remove all detached engines from a copy of the table. */
static void utrace_system_leave_out(struct utrace_system *next)
{
	unsigned int i, n = 0;

	for (i = 0; i < next->n; i++) {
		u8 slot = next->all[i];

		if (utrace_engine_detached(next->engine[slot]))
			next->slots &= ~BIT(slot);
		else
			next->all[n++] = slot;
	}
	next->n = n;
}

/* Add an engine to a copy of the table.  Returns false if there is no slot. */
static bool utrace_system_add(struct utrace_system *next,
			      struct utrace_engine *engine)
{
	unsigned int slot = ffz(next->slots);

	if (next->n == UTRACE_MAX_SYSTEM)
		return false;
	next->slots |= BIT(slot);
	next->engine[slot] = engine;
	next->all[next->n++] = slot;
	return true;
}

/**
 * utrace_system_change() - add a system engine to the table, or remove it
 * @engine: the engine to be added, which wants no event yet, or removed if it
 *	is detached; the caller has a reference
 *
 * Sets that are made after a removal do not have the engine.  A removal does
 * not fail.
 *
 * Context: May sleep.  Takes utrace_engine_lock.
 * Return:
 * * 0 - done
 * * -ENOSPC - there are %UTRACE_MAX_SYSTEM system engines
 * * -ENOMEM - no memory
 */
int utrace_system_change(struct utrace_engine *engine)
{
	bool remove = utrace_engine_detached(engine), done;
	struct utrace_system *next, *old;

	/* Less than two hundred bytes. */
	next = kmalloc(sizeof(*next),
		       GFP_KERNEL | (remove ? __GFP_NOFAIL : 0));
	if (!next)
		return -ENOMEM;
	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		old = rcu_dereference_protected(utrace_system,
						lockdep_is_held(&utrace_engine_lock));
		*next = *old;
		utrace_system_leave_out(next);
		done = remove || utrace_system_add(next, engine);
		if (done) {
			rcu_assign_pointer(utrace_system, next);
			/* Table before number, for utrace_snapshot_take(). */
			smp_store_release(&utrace_system_gen,
					  utrace_system_gen + 1);
			utrace_system_recount();
		}
	}
	if (!done)
		kfree(next);
	else if (old != &utrace_system_empty)
		kfree_rcu(old, rcu);
	return done ? 0 : -ENOSPC;
}
