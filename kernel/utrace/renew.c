// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a task renews its set, or takes its first one
 *
 * A change of events, filter or match sets UTRACE_WORD_RENEW in the words of
 * the engine's tasks.  At its next event each task takes the latest set of its
 * domain and evaluates the matches of the engines, without a lock.  The
 * verdicts are stored in utrace::muted and not in the set, so tasks with
 * different verdicts can share a set.
 *
 * A task does not wait for other tasks while it renews its set.  If an attach
 * or a detach concurrently gives the task another set, the task tries once
 * more.  If that fails too, or if there is no memory, UTRACE_WORD_RENEW stays
 * set, and utrace_pass_begin() calls those engines of the old set that want the
 * event.
 *
 * A bare task gets a struct utrace at its first event, unless all system
 * engines reject the task.  This file also counts events that are lost because
 * there is no memory.
 */
#include <linux/export.h>
#include <linux/sched/mm.h>

#include "builtin.h"
#include "engine.h"
#include "match.h"
#include "publish.h"
#include "renew.h"
#include "scope_system.h"
#include "set.h"
#include "task.h"

/**
 * utrace_ask() - evaluate the matches of a set for the current task
 * @set: the set, or NULL; the caller has a reference or has it pinned
 * @old: the set that utrace::muted of the task belongs to, or NULL
 *
 * Matches are not evaluated for an exiting task without an mm, since the
 * executable is gone.  Such a task keeps the verdicts of engines that are in
 * both sets; all other engines with a match reject it.
 *
 * Context: The task itself.  May take task_lock().
 * Return: the slots of @set whose engines reject the task.
 */
u64 utrace_ask(const struct utrace_set *set, const struct utrace_set *old)
{
	u64 same = utrace_set_same(old, set);
	u64 left, muted = 0;

	if (!set)
		return 0;
	if (!current->mm && current->flags & PF_EXITING)
		return (current->utrace->muted | ~same) & set->matched;
	for (left = set->matched; left; left &= left - 1)
		if (utrace_rejects(set->engine[__ffs64(left)]))
			muted |= left & -left;
	return muted;
}

/* Store new verdicts for a task that keeps @set.  @u->lock is held. */
static void utrace_mute(struct utrace *u, const struct utrace_set *set,
			u64 muted)
{
	u->fresh |= u->muted & ~muted;
	if (u->muted != muted)
		u->flags |= UTRACE_TASK_SLOW;
	u->muted = muted;
	if (current->utrace_events & UTRACE_WORD_RENEW ||
	    !utrace_set_is_current(set))
		utrace_set_word(current, utrace_word_now(current, u));
	else
		utrace_set_word(current, utrace_word_of(set, muted));
}

/*
 * Publish @set if the task still has @old.  Consumes the reference to @set.
 * The task is not in a pass, so @old is not pinned.  Returns false if an attach
 * or a detach has given the task another set.
 */
static bool utrace_renew_publish(struct utrace *u, struct utrace_set *old,
				 struct utrace_set *set, u64 muted)
{
	struct utrace_set *drop = set, *deferred = NULL;
	bool done = false;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED) {
			done = true;
		} else if (current->utrace_set != old) {
			utrace_set_word(current, utrace_word_now(current, u));
		} else if (set && set == old) {
			utrace_mute(u, set, muted);
			done = true;
		} else {
			drop = utrace_switch(current, u, set,
					     utrace_set_same(old, set), muted,
					     false);
			deferred = utrace_take_deferred(u);
			done = true;
		}
	}
	/* Set before engines' flags; pairs with utrace_membarrier(). */
	smp_mb();
	utrace_set_put(drop);
	utrace_set_put(deferred);
	return done;
}

/*
 * Try once to renew the set.  Returns false if an attach or a detach has given
 * the task another set, or if there is no memory; *@nomem is set then.
 */
static bool utrace_renew_once(struct utrace *u, bool *nomem)
{
	struct utrace_set *old, *set;
	bool done = false;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return true;
		/* A later change of events or verdicts sets RENEW again. */
		WRITE_ONCE(current->utrace_events,
			   current->utrace_events & ~UTRACE_WORD_RENEW);
		old = utrace_set_get(current->utrace_set);
	}
	set = utrace_set_latest(old ? old->domain : NULL,
				current->flags & PF_KTHREAD);
	*nomem = IS_ERR(set);
	if (*nomem) {
		guard(spinlock_irqsave)(&u->lock);
		if (!(u->flags & UTRACE_TASK_REAPED))
			utrace_set_word(current, utrace_word_now(current, u));
	} else {
		done = utrace_renew_publish(u, old, set, utrace_ask(set, old));
	}
	utrace_set_put(old);
	return done;
}

/**
 * utrace_renew() - bring the set of the current task up to date
 *
 * Context: The task itself, with a struct utrace and with no set pinned.  May
 * sleep for memory.
 * Return:
 * * true - the set and the verdicts are up to date, or the reaper has claimed
 *   the task
 * * false - there is no memory, or during both tries an attach or a detach gave
 *   the task another set; UTRACE_WORD_RENEW is set
 */
bool utrace_renew(void)
{
	bool kthread = current->flags & PF_KTHREAD, done, nomem = false;
	unsigned int noio = 0, tries = 2;

	/* Memory reclaim may wait for this kernel thread. */
	if (kthread)
		noio = memalloc_noio_save();
	do {
		done = utrace_renew_once(current->utrace, &nomem);
	} while (!done && !nomem && --tries);
	if (kthread)
		memalloc_noio_restore(noio);
	return done;
}

/* Bare tasks, and lost events */

/* Number of events that system engines missed, counted per engine. */
static atomic_long_t utrace_lost;

/**
 * utrace_count_lost() - count an event for the engines that miss it
 * @set: the set that reports the event, which the caller has pinned; NULL if
 *	there is none
 * @events: UTRACE_EVENT() bits that include the event
 *
 * A system engine misses the event if it wants one of @events and is not in
 * @set.  The event is counted even if a match would have rejected the task.
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

/**
 * utrace_engine_lost() - number of events that a system engine has missed
 * @engine: the engine; the caller has a reference
 *
 * Context: Any.
 * Return: the number of events since @engine was attached.
 */
unsigned long utrace_engine_lost(const struct utrace_engine *engine)
{
	return atomic_long_read(&engine->info->lost);
}

/**
 * utrace_lost_events() - number of events that all system engines have missed
 *
 * An event is lost if there is no memory for the struct utrace or the set of a
 * task, or if concurrent attaches and detaches keep the task from renewing its
 * set.  An event that two engines miss counts twice.
 *
 * Context: Any.
 * Return: the number of lost events since the machine was started.
 */
unsigned long utrace_lost_events(void)
{
	return atomic_long_read(&utrace_lost);
}
EXPORT_SYMBOL_GPL(utrace_lost_events);

/*
 * Get a reference to the memory of the engine in a slot.  NULL if the slot is
 * empty, or if its engine wants no event or does not cover current.
 */
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

/* Check for a system engine that wants events and accepts the current task. */
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
 * Check whether all system engines reject the current task, which then stays
 * bare.
 *
 * RENEW is cleared before the matches are evaluated, which needs no lock.  A
 * concurrent change sets RENEW again; then REJECTED is not written, and the
 * matches are evaluated again at the next event.
 */
static bool utrace_is_rejected(void)
{
	bool wanted;

	scoped_guard(spinlock_irqsave, &utrace_bare_lock) {
		if (current->utrace)
			return false;
		WRITE_ONCE(current->utrace_events,
			   current->utrace_events & ~UTRACE_WORD_RENEW);
	}
	wanted = utrace_is_wanted();
	scoped_guard(spinlock_irqsave, &utrace_bare_lock) {
		if (current->utrace)
			return false;
		if (wanted)
			utrace_set_word(current, current->utrace_events |
					UTRACE_WORD_RENEW);
		else if (!(current->utrace_events & UTRACE_WORD_RENEW))
			utrace_set_word(current, UTRACE_WORD_REJECTED);
	}
	return !wanted;
}

/*
 * Give the current task a struct utrace.  Returns false if there is no memory;
 * the event is counted as lost then.  If an attach has given the task one in
 * the meantime, the pass reports the event, or counts it.
 */
static bool utrace_adopt_wanted(unsigned long events)
{
	bool kthread = current->flags & PF_KTHREAD;
	unsigned int noio = 0;
	struct utrace *u;

	/* Memory reclaim may wait for this kernel thread. */
	if (kthread)
		noio = memalloc_noio_save();
	u = utrace_alloc(GFP_KERNEL_ACCOUNT);
	if (kthread)
		memalloc_noio_restore(noio);
	if (!u) {
		if (READ_ONCE(current->utrace))
			return true;
		utrace_count_lost(NULL, events);
		return false;
	}
	if (!utrace_install(current, u))
		utrace_free(u);
	return true;
}

/**
 * __utrace_adopt() - slow path of utrace_adopt()
 * @events: UTRACE_EVENT() bits that include the event to be reported, which is
 *	counted as lost if there is no memory
 *
 * Context: The task itself, which has no struct utrace; may sleep.
 * Return: see utrace_adopt().
 */
bool __utrace_adopt(unsigned long events)
{
	/*
	 * The engines that wanted the events are gone.  Or the work bit is
	 * older than the word, since dup_task_struct() does not copy both at
	 * once.  Writing the word corrects the work bit.
	 */
	if (!(READ_ONCE(current->utrace_events) & UTRACE_EVENT_ALL)) {
		utrace_refresh_bare(current);
		return false;
	}
	return !utrace_is_rejected() && utrace_adopt_wanted(events);
}

/**
 * utrace_adopt_current() - give the current task a struct utrace if it has none
 *
 * For a client that adds data to the task (utrace_task_data_add()).
 *
 * Context: The task itself, which is a user task; may sleep.
 * Return: true; or false if there is no memory, which is not counted as a lost
 * event.
 */
bool utrace_adopt_current(void)
{
	if (current->utrace)
		return true;
	if (!utrace_adopt_wanted(0))
		return false;
	/* No event follows that would renew the word of the bare task. */
	utrace_want_renewal(current);
	return true;
}
