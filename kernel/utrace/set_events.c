// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - which events, system calls and tasks an engine wants
 *
 * utrace_set_events() does not sleep, so it makes no set.  Removed events stop
 * at once, since each pass reads the flags of the engine.  Added events are set
 * in the words of the engine's tasks together with UTRACE_WORD_RENEW; each task
 * renews its set at its next event.
 *
 * The functions that set a filter of system calls (syscall_filter.c) and a
 * match (match.c) are here as well, since a change of events, filter or match
 * invalidates the sets of the engine.
 */
#include <linux/export.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "barrier.h"
#include "builtin.h"
#include "engine.h"
#include "match.h"
#include "scope.h"
#include "scope_system.h"
#include "syscall_filter.h"
#include "task.h"

static unsigned int utrace_add_to_member(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg)
{
	if (!(u->flags & UTRACE_TASK_REAPED))
		utrace_set_word(task, task->utrace_events |
				*(unsigned long *)arg | UTRACE_WORD_RENEW);
	return 0;
}

/*
 * Have the tasks of an engine renew their sets, and set the bits @added in
 * their words.  Called after utrace_engine_touch().  For a system engine the
 * bits come from utrace_system_recount(), and @added is not used.
 */
static void utrace_engine_changed(struct utrace_engine *engine, unsigned long added)
{
	if (utrace_engine_is_system(engine))
		utrace_system_refresh();
	else
		utrace_visit_members(engine, NULL, utrace_add_to_member,
				     &added);
}

/* The events that a thread engine cannot add when its task is dead. */
#define UTRACE_EVENT_LATE	(UTRACE_EVENT(DEATH) | UTRACE_EVENT(QUIESCE))

/*
 * Check whether a thread engine can no longer change its events to @events,
 * because its task is dead.  utrace_engine_lock is held.
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
	/* Another task must not remove DEATH or QUIESCE during the report. */
	return (changed & late) &&
	       (READ_ONCE(task->utrace->flags) & UTRACE_TASK_DYING) &&
	       task != current;
}

/*
 * Set added events in the word of a thread engine's task, which may die at any
 * time.  __utrace_report_death() tests DEATH in the word and sets
 * UTRACE_TASK_DEAD without dropping utrace->lock.  So either the task sees the
 * events, or this function sees DEAD and returns false.  The caller must write
 * the flags of the engine first, since the pass reads them.
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
 * utrace_set_events() - set the events that are reported to an engine
 * @target: NULL, or any task of the engine, to which the caller has a
 *	reference.  Only checked: the events are set for all tasks of the engine
 * @engine: the engine; the caller has a reference, or is a callback of it
 * @events: UTRACE_EVENT() bits, which replace the previous ones
 *
 * The change applies to passes that begin later; in report_quiesce it also
 * applies to the event that is about to be reported.
 *
 * -EINPROGRESS does not delay the removal of events: no later pass makes these
 * callbacks.  Only a callback that is running may continue, and
 * utrace_barrier() waits for it.  In atomic context, and always on SMP without
 * PREEMPT_COUNT, the function cannot find out whether a callback is running,
 * and returns -EINPROGRESS.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.  Callbacks may call
 * it.  Takes tasklist_lock for a system engine.
 * Return:
 * * 0 - done; no other task is in a callback for a removed event
 * * -EINPROGRESS - done; a callback of the engine may be running in another
 *   task, or the engine is being detached concurrently
 * * -EALREADY - nothing is changed: the task of a thread engine is dead and
 *   @events would add DEATH or QUIESCE, or its death report is running and
 *   another task would remove one of them
 * * -EINVAL - @events has an unknown bit, or has SIGNAL_IGN for an observer or
 *   a system engine, since an ignored signal that is queued for SIGNAL_IGN
 *   interrupts sleeps
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
	 * Sets that still list the engine for removed events only cost time;
	 * the next set that is made does not list it.
	 */
	if (added)
		utrace_engine_changed(engine, added);
	if (!gone)
		return 0;
	/* A concurrent detach hides tasks from utrace_is_running(). */
	return utrace_is_running(engine) || utrace_engine_detached(engine) ?
	       -EINPROGRESS : 0;
}
EXPORT_SYMBOL_GPL(utrace_set_events);

/**
 * utrace_set_syscall_filter() - set the system calls reported to an engine
 * @engine: the engine; the caller has a reference
 * @nrs: numbers of the native table, or of the 32-bit table if or-ed with
 *	%UTRACE_SYSCALL_IA32; or %UTRACE_SYSCALL_NONE.  The flag of the x32 ABI
 *	is ignored
 * @n: number of elements of @nrs; 0 removes the filter
 *
 * The filter applies to entries that are reported later.  If an engine wants
 * entries, an exit is reported to it if and only if the entry was.  If the
 * filter was not applied at the entry, because the engine wants only exits or
 * was attached during the call, it is applied at the exit.
 *
 * Context: May sleep for memory, no spinlock held.  Takes tasklist_lock for a
 * system engine.
 * Return:
 * * 0 - done
 * * -EINVAL - a number is outside its table and not %UTRACE_SYSCALL_NONE, or
 *   this kernel has no 32-bit table; nothing is changed
 * * -ESRCH - the engine is detached
 * * -ENOMEM - no memory; nothing is changed
 */
int utrace_set_syscall_filter(struct utrace_engine *engine, const int *nrs,
			      unsigned int n)
{
	struct utrace_syscall_filter *filter = NULL;
	unsigned int i;

	if (utrace_check_calls(nrs, n))
		return -EINVAL;
	if (utrace_engine_detached(engine))
		return -ESRCH;
	if (n) {
		filter = kzalloc(sizeof(*filter), GFP_KERNEL_ACCOUNT);
		if (!filter)
			return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		__set_bit(utrace_chosen_bit(nrs[i]), filter->calls);
	filter = unrcu_pointer(xchg(&engine->filter, RCU_INITIALIZER(filter)));
	utrace_filter_free(filter);
	/* Sets depend on filters, so the tasks must renew theirs. */
	scoped_guard(spinlock_irqsave, &utrace_engine_lock)
		utrace_engine_touch(engine);
	utrace_engine_changed(engine, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(utrace_set_syscall_filter);

#ifdef CONFIG_UTRACE_MATCH
/**
 * utrace_set_match() - select the tasks of its scope that an engine accepts
 * @engine: the engine; the caller has a reference
 * @match: the match, to which the engine takes a reference.  The match that the
 *	engine already has is evaluated again for all tasks.  NULL: the engine
 *	accepts all tasks
 *
 * Applies to events that begin after the return.  An event whose callbacks are
 * running is reported according to the old verdict.
 *
 * Context: May sleep.  Takes tasklist_lock for a system engine.
 * Return:
 * * 0 - done
 * * -ESRCH - the engine is detached
 */
int utrace_set_match(struct utrace_engine *engine, struct utrace_match *match)
{
	struct utrace_match *old;

	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		if (utrace_engine_detached(engine))
			return -ESRCH;
		old = rcu_dereference_protected(engine->info->match, true);
		if (old != match)
			rcu_assign_pointer(engine->info->match,
					   utrace_match_get(match));
		utrace_engine_touch(engine);
	}
	/* Words of tasks that the engine has rejected lack all its events. */
	utrace_engine_changed(engine, READ_ONCE(engine->flags));
	if (old != match)
		utrace_match_put(old);
	return 0;
}
#endif
