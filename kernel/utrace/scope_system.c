// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system scope: one engine for every user task, present and future
 *
 * Nothing is allocated for a task until it has an event: the event word of a
 * bare task says what the engines of the system want (task.c).  At its first
 * event a bare task takes a struct utrace in its own context (utrace_adopt(),
 * renew.c).  Every set that is made contains the engines of the system, in slots
 * of their own behind those of the domain.
 *
 * A change of events or of the table is told by one walk over all tasks
 * (utrace_system_refresh()).  A removed engine is in no new set; the sets that
 * still have it keep its memory, and no pass calls it.
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
 * Number of changes of the table, which a set remembers (utrace_set::sysgen).
 * Written under utrace_engine_lock.
 */
unsigned int utrace_system_gen __read_mostly;

/**
 * utrace_tasklist_barrier() - wait until tasklist_lock is not held for writing
 *
 * A section that held the lock for writing before is over when this returns,
 * and the caller sees all that was stored there.  A section that takes the lock
 * later sees all that the caller has stored before.
 *
 * copy_process() makes the event word and the set of a child and adds the child
 * to the lists of tasks in one such section.  So if a walk begins after this
 * barrier, a child is either in the lists already, or is made later from what
 * the caller has changed.
 *
 * A walk under RCU meets each task that stays in the lists from its begin to
 * its end: a task that is removed, or replaced by de_thread(), keeps its
 * pointer to the next one.  An attach also relies on new threads being added to
 * the end of their list, see utrace_walk_process().
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 */
void utrace_tasklist_barrier(void)
{
	read_lock(&tasklist_lock);
	read_unlock(&tasklist_lock);
}

/*
 * The cost, in bare tasks, of what utrace_system_refresh() does in one hold of
 * utrace_bare_lock, with interrupts off.
 */
#define UTRACE_BARE_RUN		64
/* The cost of any other task. */
#define UTRACE_OTHER		8

/**
 * utrace_system_refresh() - tell all tasks what the engines of the system want
 *
 * One walk over all tasks, with a few instructions for each that is bare.  A
 * child that is born meanwhile is met by the walk or has its word made from the
 * new events, see utrace_tasklist_barrier().
 *
 * The events are read anew in each hold of utrace_bare_lock: where two walks
 * run at the same time, the later change stays.
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
 * utrace_system_recount() - compute what the engines of the system want
 *
 * Called after a change of the table or of what one of the engines wants.
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
 * utrace_system_reaches() - does an engine of the system cover a kind of task?
 * @engine: the engine; the caller has a reference, or is under RCU
 * @kthread: the kind is kernel threads, else user tasks
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
 * utrace_system_change() - add an engine of the system to the table, or remove it
 * @engine: the engine to be added, which wants no event yet, or removed if it is
 *	detached; the caller has a reference
 *
 * Sets that are made after a removal do not have the engine.  A removal does not
 * fail.
 *
 * Context: May sleep.  Takes utrace_engine_lock.
 * Return:
 * * 0 - done
 * * -ENOSPC - there are %UTRACE_MAX_SYSTEM engines of the system
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
			/*
			 * The table before the number; pairs with
			 * utrace_snapshot_take().
			 */
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
