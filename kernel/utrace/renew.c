// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a task renews its set, or takes its first one
 *
 * A change of events, filter or match sets UTRACE_WORD_RENEW in the words of
 * the engine's tasks.  Each task takes the latest set of its domain at its next
 * event, and only then asks the matches of the engines, under no lock.  The
 * verdicts are kept beside the set, in utrace::muted, so that tasks with the
 * same engines share a set whatever the verdicts are.
 *
 * Renewing waits for no other task.  If an attach or a detach gave the task
 * another set meanwhile, the task tries once more.  If that fails too, or if
 * memory is short, UTRACE_WORD_RENEW stays, and utrace_pass_begin() calls
 * those engines of the present set that want the event now.
 *
 * A bare task takes a struct utrace at its first event, unless all engines of the
 * system reject the task.  Events of bare tasks that are lost for want of memory
 * are counted here.
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
 * utrace_ask() - ask the matches of a set about the current task
 * @set: the set, or NULL; the caller has a reference or has it pinned
 * @old: the set that utrace::muted of the task belongs to, or NULL
 *
 * A task that is exiting and has no mm any more cannot be asked.  It keeps the
 * verdicts of engines that are in both sets, and counts as rejected by the
 * others that have a match.
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

/* With @u->lock held: the task keeps @set and has new verdicts. */
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
 * Publish @set, and consume its reference, if the task still has @old.  The
 * task is not in a pass, so no pass can have @old pinned.  Returns false if an
 * attach or a detach gave the task another set.
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
	smp_mb(); /* Set before engines' flags; pairs with utrace_membarrier(). */
	utrace_set_put(drop);
	utrace_set_put(deferred);
	return done;
}

/*
 * One try.  Returns false if an attach or a detach gave the task another set
 * meanwhile, or if there was no memory (@nomem).
 */
static bool utrace_renew_once(struct utrace *u, bool *nomem)
{
	struct utrace_set *old, *set;
	bool done = false;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return true;
		/*
		 * From here on a change of events or verdicts sets RENEW
		 * anew.
		 */
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
 * * false - there was no memory, or an attach or a detach gave the task another
 *   set twice meanwhile; UTRACE_WORD_RENEW is set
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

/* Number of events that engines of the system missed, counted per engine. */
static atomic_long_t utrace_lost;

/**
 * utrace_count_lost() - count an event for the engines that miss it
 * @set: the set that reports the event, which the caller has pinned; NULL if
 *	there is none
 * @events: UTRACE_EVENT() bits, of which the event is one
 *
 * An engine of the system misses the event if it wants one of @events and is
 * not in @set.  It counts as missed also where a match would have rejected the
 * task.
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
 * utrace_engine_lost() - how many events did an engine of the system miss?
 * @engine: the engine; the caller has a reference
 *
 * Context: Any.
 * Return: number of events that did not come to @engine since it was attached.
 */
unsigned long utrace_engine_lost(const struct utrace_engine *engine)
{
	return atomic_long_read(&engine->info->lost);
}

/**
 * utrace_lost_events() - how many events did engines of the system miss?
 *
 * An event is lost if there is no memory for the struct utrace or the set of a
 * task, or if the set cannot be renewed because of attaches and detaches.  An
 * event that two engines miss counts twice.
 *
 * Context: Any.
 * Return: number of lost events since the machine was started.
 */
unsigned long utrace_lost_events(void)
{
	return atomic_long_read(&utrace_lost);
}
EXPORT_SYMBOL_GPL(utrace_lost_events);

/*
 * Get a reference to the memory of the engine in a slot.  NULL if the slot has
 * none, or one that wants no event or does not cover current.
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

/* Does an engine of the system want events and not reject the current task? */
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
 * Do all engines of the system reject the current task?  Such a task stays
 * bare.
 *
 * RENEW is cleared before the matches are asked, which happens under no lock.
 * A change that comes meanwhile sets RENEW again; then REJECTED is not
 * written, and the next event asks again.
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
 * Give the current task a struct utrace.  Returns false if there is none for
 * want of memory, after counting the event as lost.
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
		utrace_count_lost(NULL, events);
		return current->utrace;
	}
	if (!utrace_install(current, u))
		utrace_free(u);
	return true;
}

/**
 * __utrace_adopt() - give the current task a struct utrace if an engine wants it
 * @events: UTRACE_EVENT() bits, of which the event to be reported is one;
 *	without memory it is counted as lost
 *
 * Context: The task itself, which has no struct utrace; may sleep.
 * Return: as utrace_adopt() does.
 */
bool __utrace_adopt(unsigned long events)
{
	/*
	 * The engines that wanted its events are gone.  Or its work bit is
	 * older than its word, since dup_task_struct() copied the two one after
	 * the other.  Writing the word sets the work bit right.
	 */
	if (!(READ_ONCE(current->utrace_events) & UTRACE_EVENT_ALL)) {
		utrace_refresh_bare(current);
		return false;
	}
	return !utrace_is_rejected() && utrace_adopt_wanted(events);
}

/**
 * utrace_adopt_current() - make sure that the current task has a struct utrace
 *
 * For a client that has data for the task (utrace_task_data_add()).
 *
 * Context: The task itself, which is a user task; may sleep.
 * Return: true; or false if there is no memory, which is not counted as a lost event.
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
