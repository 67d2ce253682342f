// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - which events an engine wants
 *
 * utrace_set_events() never sleeps, so it makes no set.  Events that are taken
 * away end at once, since each pass reads the flags of the engine.  Events that
 * are added go into the words of the engine's tasks together with
 * UTRACE_WORD_RENEW; each task renews its set at its next event.
 */
#include <linux/export.h>
#include <linux/sched.h>

#include "internal.h"

static unsigned int utrace_add_to_member(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg)
{
	if (!(u->flags & UTRACE_TASK_REAPED))
		utrace_set_word(task, task->utrace_events |
				*(unsigned long *)arg | UTRACE_WORD_RENEW);
	return 0;
}

/**
 * utrace_engine_changed() - have the tasks of an engine renew their sets
 * @engine: the engine, after utrace_engine_touch()
 * @added: bits to be or-ed into the words of its tasks
 *
 * For an engine of the system the bits come from utrace_system_recount(), and
 * @added is not used.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock for an engine of
 * the system.
 */
void utrace_engine_changed(struct utrace_engine *engine, unsigned long added)
{
	if (utrace_engine_is_system(engine))
		utrace_system_tell();
	else
		utrace_visit_members(engine, NULL, utrace_add_to_member,
				     &added);
}

/* The events that a thread engine cannot add when its task is dead. */
#define UTRACE_EVENT_LATE	(UTRACE_EVENT(DEATH) | UTRACE_EVENT(QUIESCE))

/*
 * With utrace_engine_lock held: is it too late for a thread engine to change
 * its events to @events, because its task is dead?
 */
static bool utrace_too_late(struct utrace_engine *engine, unsigned long events)
{
	const unsigned long late = UTRACE_EVENT_LATE;
	unsigned long changed = engine->flags ^ events;
	struct task_struct *task = engine->task;

	if (utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		return false;
	if (!utrace_is_dead(task))
		return false;
	if (changed & events & late)
		return true;
	/*
	 * Another task must not take DEATH or QUIESCE away during the report.
	 */
	return (changed & late) &&
	       (READ_ONCE(task->utrace->flags) & UTRACE_TASK_DYING) &&
	       task != current;
}

/*
 * Write added events into the word of a thread engine's task, which may die at
 * any time.  __utrace_report_death() looks for DEATH in the word and sets
 * UTRACE_TASK_DEAD in one hold of utrace->lock.  So the task finds what is
 * written here, or this function finds DEAD and returns false.  The caller has
 * written the flags of the engine before, since the pass reads them.
 */
static bool utrace_add_late(struct utrace_engine *engine, unsigned long added)
{
	struct task_struct *task = engine->task;
	struct utrace *u;

	if ((utrace_engine_state(engine) & UTRACE_STATE_SCOPE) ||
	    !(added & UTRACE_EVENT_LATE))
		return true;
	u = task->utrace;
	guard(spinlock_irqsave)(&u->lock);
	if (u->flags & UTRACE_TASK_DEAD)
		return false;
	utrace_add_to_member(engine, task, u, 0, &added);
	return true;
}

/**
 * utrace_set_events() - choose the events that an engine is told of
 * @target: NULL, or any task of the engine, which is only checked: the events
 *	are those of all tasks of the engine.  The caller has a reference
 * @engine: the engine; the caller has a reference, or is a callback of it
 * @events: UTRACE_EVENT() bits, which replace the former ones
 *
 * The change applies to passes that begin later; in report_quiesce also to the
 * event that is about to be reported.
 *
 * Bits that are taken away with -EINPROGRESS are gone as well: no later pass
 * makes these callbacks.  Only a callback that runs already is still to be
 * waited for, with utrace_barrier().  In atomic context, and always on SMP
 * without PREEMPT_COUNT, it is not known whether one runs, and -EINPROGRESS
 * stands for that too.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.  Callbacks may call
 * it.  Takes tasklist_lock for an engine of the system.
 * Return:
 * * 0 - done; no other task is in a callback for an event that was taken away
 * * -EINPROGRESS - done; a callback of the engine may be running in another
 *   task, or the engine is being detached at the same time
 * * -EALREADY - nothing is changed: the task of a thread engine is dead and
 *   @events would add DEATH or QUIESCE, or its death report is running and
 *   another task would take one of them away
 * * -EINVAL - @events has an unknown bit, or SIGNAL_IGN for an observer or an
 *   engine of the system, since a signal that is queued although it is ignored
 *   breaks off sleeps
 * * -ESRCH - the engine is detached, or @target is not in its scope
 */
int utrace_set_events(struct task_struct *target, struct utrace_engine *engine,
		      unsigned long events)
{
	unsigned long old, added, gone;

	if (events & ~UTRACE_EVENT_ALL ||
	    (utrace_engine_observes(engine) &&
	     events & UTRACE_EVENT(SIGNAL_IGN)))
		return -EINVAL;
	if (!utrace_addresses(engine, target))
		return -ESRCH;

	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		if (utrace_engine_detached(engine))
			return -ESRCH;
		if (utrace_too_late(engine, events))
			return -EALREADY;
		old = engine->flags;
		added = utrace_engine_word(engine, events & ~old);
		gone = old & ~events;
		WRITE_ONCE(engine->flags, events);
		if (!utrace_add_late(engine, added)) {
			WRITE_ONCE(engine->flags, old);
			return -EALREADY;
		}
		if (added | gone)
			utrace_engine_touch(engine);
		if (utrace_engine_is_system(engine))
			utrace_system_recount();
	}
	/*
	 * Sets that still list the engine for events that are gone cost time
	 * only; the next set that is made leaves it out.
	 */
	if (added)
		utrace_engine_changed(engine, added);
	if (!gone)
		return 0;
	/* A detach at the same time hides tasks from utrace_is_running(). */
	return utrace_is_running(engine) || utrace_engine_detached(engine) ?
	       -EINPROGRESS : 0;
}
EXPORT_SYMBOL_GPL(utrace_set_events);
