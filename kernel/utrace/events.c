// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - which events an engine wants
 *
 * What is taken away holds at once, as passes read the engine's flags.  What is added
 * goes into the words of its tasks, which take a set that says so at their next event.
 */
#include <linux/export.h>
#include <linux/sched.h>

#include "internal.h"

/**
 * utrace_engine_touch - what an engine wants has changed
 * @engine: the engine
 *
 * Whoever makes a set reads the number first and what the engine wants after it.
 *
 * Context: utrace_engine_lock is held.
 */
void utrace_engine_touch(struct utrace_engine *engine)
{
	lockdep_assert_held(&utrace_engine_lock);

	/* After the change; pairs with utrace_set_fill(). */
	smp_store_release(&engine->seq, engine->seq + 1);
}

static unsigned int utrace_add_to_member(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg)
{
	if (!(u->flags & UTRACE_TASK_REAPED))
		utrace_set_word(task, task->utrace_events |
				*(unsigned long *)arg | UTRACE_WORD_REBUILD);
	return 0;
}

/**
 * utrace_engine_changed - an engine wants something else than its sets say
 * @engine: the engine
 * @added: event bits that are new
 *
 * Every task with such a set takes another one at its next event.
 *
 * Context: Any but NMI, without siglock.
 */
void utrace_engine_changed(struct utrace_engine *engine, unsigned long added)
{
	if (utrace_engine_is_system(engine))
		utrace_system_tell();
	else
		utrace_visit_members(engine, NULL, utrace_add_to_member, &added);
}

/* What a thread engine cannot newly ask for when its task is dead. */
#define UTRACE_EVENT_LATE	(UTRACE_EVENT(DEATH) | UTRACE_EVENT(QUIESCE))

/* Too late for a thread engine to change what its dying task reports? */
static bool utrace_too_late(struct utrace_engine *engine, unsigned long events)
{
	const unsigned long late = UTRACE_EVENT_LATE;
	unsigned long changed = engine->flags ^ events;
	struct task_struct *task = engine->task;

	if (utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		return false;
	if (!task->exit_state)
		return false;
	if (changed & events & late)
		return true;
	/* Taking it away while the death report runs. */
	return (changed & late) &&
	       (READ_ONCE(task->utrace->flags) & UTRACE_TASK_DYING) &&
	       task != current;
}

/*
 * The task of a thread engine may die at any time.  It looks for DEATH in its
 * word under its utrace->lock, once, and sets DEAD there; so either it finds
 * what is written here, or the caller is told that it came too late.  The
 * engine's flags are written before: the pass reads them.
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
 * utrace_set_events - choose the events an engine is told of
 * @target: one task of the engine, or NULL; the events are those of all
 * @engine: the engine; the caller has a reference, or is its callback
 * @events: UTRACE_EVENT() bits, in place of the former ones
 *
 * Acts on all tasks of the engine.  Holds from the next pass on; in
 * report_quiesce for the event that is about to be reported.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.  May be called from
 * callbacks.
 * Return: 0: and where bits were taken away, their callbacks do not run any
 * more; -EINPROGRESS: done, but a callback of the engine is running in another
 * task, or may be where that cannot be known (in atomic context, everywhere on SMP
 * without PREEMPT_COUNT, and while the engine is detached by somebody else);
 * utrace_barrier() waits for it; -EALREADY: nothing
 * changed, because the task is dead and DEATH or QUIESCE would be newly set, or its death
 * report is running; -EINVAL: unknown bits, or SIGNAL_IGN for an observer or
 * an engine of the system: a signal that is queued although it is ignored
 * breaks off sleeps; -ESRCH: the engine is detached or @target is not in its
 * scope.
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
	 * Sets with too many engines in a list only cost time, so for events
	 * that are gone nothing is done; the next new set leaves them out.
	 */
	if (added)
		utrace_engine_changed(engine, added);
	if (!gone)
		return 0;
	/* Of one that is detached meanwhile not all tasks can be found any more. */
	return utrace_is_running(engine) || utrace_engine_detached(engine) ?
	       -EINPROGRESS : 0;
}
EXPORT_SYMBOL_GPL(utrace_set_events);
