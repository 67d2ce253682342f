// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system scope: one engine for every user task, present and future
 *
 * Nothing is allocated for a task.  Its event word says what the engines of the
 * system want, and that its set is to be renewed; a task that never has such an
 * event never gets a struct utrace.  One that has takes it in its own context
 * (utrace_adopt()), and every set that is made from then on contains these
 * engines, in slots of their own, behind those that cover the task for reasons of
 * its own.  An engine that has gone is in no new set; the sets that have it keep
 * its memory until their tasks have an event, but never call it.
 *
 * A task without a struct utrace is called bare here.  Its word follows from
 * utrace_system_events, or says that all engines reject the task
 * (utrace_is_rejected()).  It is written by walks, after the events changed or an
 * engine was removed, by whoever has the task asked again, and by copy_process()
 * under tasklist_lock for writing.  The events change before the walk begins, so
 * a child is born with the new word or is there for the walk, which is made under
 * RCU; see utrace_tasklist_barrier().
 *
 * Kernel threads are covered by those engines only that asked for them.  The user
 * tasks that they start get their word in copy_process(), as every child does while
 * utrace_system_events is not 0.
 */
#include <linux/export.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "internal.h"

static struct utrace_system utrace_system_empty;
struct utrace_system __rcu *utrace_system =
	RCU_INITIALIZER(&utrace_system_empty);

/* Changes of the table.  Written under utrace_engine_lock. */
unsigned int utrace_system_gen __read_mostly;

/* What they want, together.  Written under utrace_engine_lock. */
unsigned long utrace_system_events __read_mostly;
/* Of that, what is wanted of kernel threads. */
static unsigned long utrace_kthread_events __read_mostly;

/* Events that did not come to engines, each counted for itself. */
static atomic_long_t utrace_lost;

/*
 * The words of bare tasks, and who gives a task its struct utrace.  Interrupts
 * off; outside utrace->lock, inside all others.
 */
static DEFINE_SPINLOCK(utrace_bare_lock);

/**
 * utrace_install - give a bare task a struct utrace
 * @task: the task
 * @u: its struct utrace
 *
 * Context: Any but NMI.
 * Return: false if it has one already.
 */
bool utrace_install(struct task_struct *task, struct utrace *u)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	/* The contents of @u are written before the pointer to it. */
	smp_store_release(&task->utrace, u);
	return true;
}

static unsigned long utrace_bare_events_of(unsigned int task_flags)
{
	unsigned long events = READ_ONCE(utrace_system_events);

	if (!events)
		return 0;
	if (task_flags & PF_KTHREAD)
		events = READ_ONCE(utrace_kthread_events);
	return events | UTRACE_WORD_REBUILD;
}

/**
 * utrace_bare_events - the word of a task without a set
 * @task: the task
 *
 * Context: Any.
 * Return: what the engines of the system want of it, and to rebuild; 0 without
 * them.
 */
unsigned long utrace_bare_events(struct task_struct *task)
{
	return utrace_bare_events_of(task->flags);
}

/**
 * utrace_refresh_bare - bring the word of a bare task up to date
 * @task: the task
 *
 * Context: tasklist_lock is held, or rcu_read_lock() and @task is visible, or
 * it is current.
 * Return: false if the task is not bare.
 */
bool utrace_refresh_bare(struct task_struct *task)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	utrace_set_word(task, utrace_bare_events(task));
	return true;
}

/* What a walk does with interrupts off, in bare tasks. */
#define UTRACE_BARE_RUN		64
/* Any other task takes as long as eight of them. */
#define UTRACE_OTHER		8

/* A task that is not bare takes a newer set at its next event. */
static void utrace_want_rebuild(struct task_struct *task)
{
	struct utrace *u = task->utrace;

	guard(spinlock_irqsave)(&u->lock);
	if (u->flags & UTRACE_TASK_REAPED)
		return;
	utrace_set_word(task, utrace_bare_events(task) |
			(task->utrace_set ?
			 task->utrace_events | UTRACE_WORD_REBUILD : 0));
}

/**
 * utrace_system_tell - what the engines of the system want has changed
 *
 * One walk over all tasks, with a few instructions for each that is bare.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 */
void utrace_system_tell(void)
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
			utrace_want_rebuild(t);
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

/* What all of them want, after a change in what one wants. */
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
 * utrace_system_reaches - is an engine of the system for tasks of a kind?
 * @engine: the engine
 * @kthread: the task is a kernel thread
 *
 * Context: Any.
 * Return: false also for one that is detached.
 */
bool utrace_system_reaches(struct utrace_engine *engine, bool kthread)
{
	unsigned int state = utrace_engine_state(engine);

	return !(state & UTRACE_STATE_DETACHED) &&
	       (!kthread || state & UTRACE_STATE_KTHREAD);
}

/* Take @next, a copy that was changed, as the table; utrace_engine_lock is held. */
static struct utrace_system *utrace_system_replace(struct utrace_system *next)
{
	struct utrace_system *old;

	old = rcu_dereference_protected(utrace_system,
					lockdep_is_held(&utrace_engine_lock));
	rcu_assign_pointer(utrace_system, next);
	/* After the table; pairs with utrace_census_take(). */
	smp_store_release(&utrace_system_gen, utrace_system_gen + 1);
	utrace_system_recount();
	return old;
}

static void utrace_system_free(struct utrace_system *old)
{
	if (old != &utrace_system_empty)
		kfree_rcu(old, rcu);
}

static void utrace_system_copy(struct utrace_system *next)
{
	*next = *rcu_dereference_protected(utrace_system,
					   lockdep_is_held(&utrace_engine_lock));
}

/* Take an engine out of a copy of the table, and all that are detached. */
static void utrace_system_leave_out(struct utrace_system *next,
				    struct utrace_engine *engine)
{
	unsigned int i, n = 0;

	for (i = 0; i < next->n; i++) {
		u8 slot = next->all[i];

		if (next->engine[slot] == engine ||
		    utrace_engine_detached(next->engine[slot]))
			next->slots &= ~BIT(slot);
		else
			next->all[n++] = slot;
	}
	next->n = n;
}

/**
 * utrace_system_add - the next engine of the system
 * @engine: it wants no event yet
 *
 * Context: May sleep.
 * Return: 0; -ENOSPC: there are %UTRACE_MAX_SYSTEM; -ENOMEM.
 */
int utrace_system_add(struct utrace_engine *engine)
{
	struct utrace_system *next = kmalloc(sizeof(*next), GFP_KERNEL), *old;
	unsigned int slot;

	if (!next)
		return -ENOMEM;
	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		utrace_system_copy(next);
		utrace_system_leave_out(next, NULL);
		old = next;
		if (next->n < UTRACE_MAX_SYSTEM) {
			slot = ffz(next->slots);
			next->slots |= BIT(slot);
			next->engine[slot] = engine;
			next->all[next->n++] = slot;
			old = utrace_system_replace(next);
		}
	}
	if (old == next) {
		kfree(next);
		return -ENOSPC;
	}
	utrace_system_free(old);
	return 0;
}

/**
 * utrace_system_remove - a detached engine is in no new set any more
 * @engine: the engine, on which the caller has a reference
 *
 * Context: May sleep.
 */
void utrace_system_remove(struct utrace_engine *engine)
{
	struct utrace_system *next, *old;

	/* Two hundred bytes; a detach does not fail. */
	next = kmalloc(sizeof(*next), GFP_KERNEL | __GFP_NOFAIL);
	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		utrace_system_copy(next);
		utrace_system_leave_out(next, engine);
		old = utrace_system_replace(next);
	}
	utrace_system_free(old);
}

/**
 * utrace_count_lost - an event does not come to engines of the system
 * @set: the set by which it is reported, or NULL
 * @events: bits of which one is the event
 *
 * Counts for each engine that wants it and is not in the set.  Whether its match
 * would have rejected the task is not known.
 *
 * Context: The task itself, or its reaper.
 */
void utrace_count_lost(const struct utrace_set *set, unsigned long events)
{
	bool kthread = set ? set->kthread : current->flags & PF_KTHREAD;
	const struct utrace_system *system;
	unsigned int i;

	guard(rcu)();
	system = rcu_dereference(utrace_system);
	for (i = 0; i < system->n; i++) {
		struct utrace_engine *engine = system->engine[system->all[i]];

		if (!(READ_ONCE(engine->flags) & events) ||
		    !utrace_system_reaches(engine, kthread) ||
		    utrace_set_slot(set, engine) >= 0)
			continue;
		atomic_long_inc(&engine->info->lost);
		atomic_long_inc(&utrace_lost);
	}
}

/* The engine in a slot, if it may want current; with a reference to its memory. */
static struct utrace_engine *utrace_system_get(unsigned int slot)
{
	struct utrace_system *system;
	struct utrace_engine *engine;

	guard(rcu)();
	system = rcu_dereference(utrace_system);
	if (!(system->slots & BIT(slot)))
		return NULL;
	engine = system->engine[slot];
	if (!READ_ONCE(engine->flags) ||
	    !utrace_system_reaches(engine, current->flags & PF_KTHREAD) ||
	    !utrace_shell_tryget(engine))
		return NULL;
	return engine;
}

/* Does any engine of the system want to hear of the current task? */
static bool utrace_is_wanted(void)
{
	bool wanted = false;
	unsigned int slot;

	for (slot = 0; slot < UTRACE_MAX_SYSTEM && !wanted; slot++) {
		struct utrace_engine *engine = utrace_system_get(slot);

		if (!engine)
			continue;
		wanted = !rcu_access_pointer(engine->info->match) ||
			 !utrace_rejects(engine);
		utrace_shell_put(engine);
	}
	return wanted;
}

/*
 * A bare task that is rejected by all engines needs no struct utrace.  Asked once,
 * under no lock: whatever happens meanwhile sets UTRACE_WORD_REBUILD, and the next
 * event asks again.
 */
static bool utrace_is_rejected(void)
{
	bool wanted;

	scoped_guard(spinlock_irqsave, &utrace_bare_lock) {
		if (current->utrace)
			return false;
		WRITE_ONCE(current->utrace_events,
			   current->utrace_events & ~UTRACE_WORD_REBUILD);
	}
	wanted = utrace_is_wanted();
	scoped_guard(spinlock_irqsave, &utrace_bare_lock) {
		if (current->utrace)
			return false;
		if (wanted)
			utrace_set_word(current, current->utrace_events |
					UTRACE_WORD_REBUILD);
		else if (!(current->utrace_events & UTRACE_WORD_REBUILD))
			utrace_set_word(current, UTRACE_WORD_REJECTED);
	}
	return !wanted;
}

/* The current task is wanted, and is to have a struct utrace. */
static bool utrace_adopt_wanted(unsigned long events)
{
	bool kthread = current->flags & PF_KTHREAD;
	unsigned int noio = 0;
	struct utrace *u;

	/* Memory may wait for a kernel thread. */
	if (kthread)
		noio = memalloc_noio_save();
	u = utrace_alloc(GFP_KERNEL_ACCOUNT);
	if (kthread)
		memalloc_noio_restore(noio);
	if (!u) {
		utrace_count_lost(NULL, events);
		return current->utrace;
	}
	if (!utrace_install(current, u))
		utrace_free(u);
	return true;
}

/**
 * utrace_adopt - take a struct utrace for the current task
 * @events: what it is for; without memory that is lost, and counted
 *
 * Context: The task itself, may sleep.
 * Return: false if there is none.
 */
bool utrace_adopt(unsigned long events)
{
	if (current->utrace)
		return true;
	/*
	 * Nobody wants anything of it any more; or it was born with a work bit
	 * that is older than its word, both being copied one after the other.
	 */
	if (!(READ_ONCE(current->utrace_events) & UTRACE_EVENT_ALL)) {
		utrace_refresh_bare(current);
		return false;
	}
	return !utrace_is_rejected() && utrace_adopt_wanted(events);
}

/**
 * utrace_engine_lost - how many events did not come to an engine of the system
 * @engine: the engine; the caller has a reference
 *
 * Context: Any.
 * Return: how many since it was attached.
 */
unsigned long utrace_engine_lost(const struct utrace_engine *engine)
{
	return atomic_long_read(&engine->info->lost);
}

/**
 * utrace_lost_events - how many events did not come to engines of the system
 *
 * For want of memory, most likely.  Each engine counts for itself.
 *
 * Context: Any.
 * Return: how many since the machine was started.
 */
unsigned long utrace_lost_events(void)
{
	return atomic_long_read(&utrace_lost);
}
EXPORT_SYMBOL_GPL(utrace_lost_events);
