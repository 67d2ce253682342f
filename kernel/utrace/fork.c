// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what a new task inherits
 *
 * A thread inherits the process and tree engines of the task that creates it,
 * a process the tree engines; CLONE_PARENT and CLONE_UNTRACED make no
 * difference.  The set that says so is part of the parent's set, so that
 * nothing has to be built under the locks of copy_process().
 */
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "internal.h"

/* Thread or process?  Only the thread group counts, not what is shared. */
static enum utrace_heir utrace_heir_of(u64 clone_flags)
{
	return clone_flags & CLONE_THREAD ? UTRACE_HEIR_THREAD :
					    UTRACE_HEIR_PROCESS;
}

/* What the current task hands on to a child; its utrace->lock is held. */
static struct utrace_set *utrace_heir(u64 clone_flags)
{
	lockdep_assert_held(&current->utrace->lock);

	if (!current->utrace_set)
		return NULL;
	return current->utrace_set->heir[utrace_heir_of(clone_flags)];
}

/**
 * __utrace_fork_prepare - allocate for a child that will have engines
 * @child: not visible yet
 * @clone_flags: of the clone
 *
 * An engine that covers the parent between this and __utrace_fork() finds
 * nothing prepared; __utrace_fork_done() then makes up for it.
 */
void __utrace_fork_prepare(struct task_struct *child, u64 clone_flags)
{
	struct utrace *u = READ_ONCE(current->utrace);
	bool inherits;

	if (!u)
		return;
	scoped_guard(spinlock_irqsave, &u->lock)
		inherits = utrace_heir(clone_flags);
	if (inherits)
		child->utrace = utrace_alloc(GFP_KERNEL);
}

/* Engines that are to stop their whole scope stop its newest member too. */
static void utrace_inherit_hold(struct task_struct *child,
				struct utrace_set *set)
{
	struct utrace_engine *engine;
	unsigned int i, slot;

	if (child->flags & PF_USER_WORKER)
		return;
	utrace_for_each(set, UTRACE_LIST_ALL, i, slot, engine)
		if (utrace_engine_state(engine) & UTRACE_STATE_HOLD_ALL)
			child->utrace->hold |= BIT_ULL(slot);
	if (child->utrace->hold)
		set_tsk_thread_flag(child, TIF_NOTIFY_RESUME);
}

/**
 * __utrace_fork - the child inherits
 * @child: about to become visible
 * @clone_flags: of the clone
 *
 * The event word is made from the set, never from the parent's word, save
 * for wishes that the parent's set does not contain yet.
 *
 * Context: tasklist_lock is held for writing, and the parent's siglock.
 */
void __utrace_fork(struct task_struct *child, u64 clone_flags)
{
	struct utrace *u = READ_ONCE(current->utrace);
	unsigned long events, parent_events;
	struct utrace_set *set;

	lockdep_assert_held(&current->sighand->siglock);

	if (!u)
		return;
	scoped_guard(spinlock_irqsave, &u->lock) {
		set = utrace_heir(clone_flags);
		if (!set)
			return;
		refcount_inc(&set->ref);
		parent_events = current->utrace_events;
	}
	events = set->events;
	if (parent_events & UTRACE_WORD_REBUILD)
		events |= parent_events;
	child->utrace_set = set;
	utrace_set_word(child, events);
	if (child->utrace)
		utrace_inherit_hold(child, set);
}

/* What its engines want of a task by now. */
static unsigned long utrace_wanted(struct utrace_set *set)
{
	unsigned long events = UTRACE_WORD_REBUILD;
	struct utrace_engine *engine;
	unsigned int i, slot;

	utrace_for_each(set, UTRACE_LIST_ALL, i, slot, engine)
		events |= READ_ONCE(engine->flags);
	return events;
}

/**
 * __utrace_fork_done - see that a child with engines has a struct utrace
 * @child: visible, and not yet run
 *
 * Without one it could not be reached by control() and set_events(), so what
 * they did since the child inherited its set is made up for.
 *
 * Context: May sleep.
 */
void __utrace_fork_done(struct task_struct *child)
{
	struct utrace *u;

	if (likely(READ_ONCE(child->utrace)))
		return;
	u = utrace_of(child);
	guard(spinlock_irqsave)(&u->lock);
	if (!child->utrace_set)
		return;
	utrace_set_word(child, child->utrace_events |
			utrace_wanted(child->utrace_set));
	utrace_inherit_hold(child, child->utrace_set);
}
