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

static bool utrace_has_heir(u64 clone_flags)
{
	if (!current->utrace)
		return false;
	guard(spinlock_irqsave)(&current->utrace->lock);
	return utrace_heir(clone_flags);
}

/*
 * Nothing of the parent's is the child's.  Memory for what it may inherit is
 * had here, where that may sleep, if any engine goes to children at all.
 */
void __utrace_init_task(struct task_struct *child)
{
	child->utrace_events = 0;
	child->utrace_set = NULL;
	child->utrace = NULL;
	clear_task_syscall_work(child, SYSCALL_UTRACE);

	/* What a process inherits a thread inherits too. */
	if (utrace_has_heir(CLONE_THREAD))
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
 * Return: 0; -ENOMEM: the first engine came after __utrace_init_task(), or
 * that found no memory, and there is none in reserve either.
 */
int __utrace_fork(struct task_struct *child, u64 clone_flags)
{
	unsigned long events, parent_events;
	struct utrace_set *set;

	lockdep_assert_held(&current->sighand->siglock);

	/* That stays so: nobody publishes without tasklist_lock. */
	if (!utrace_has_heir(clone_flags)) {
		if (child->utrace)
			utrace_free(child->utrace);
		child->utrace = NULL;
		utrace_set_word(child, utrace_bare_events(child));
		return 0;
	}
	if (!child->utrace)
		child->utrace = utrace_alloc(GFP_ATOMIC | __GFP_NOWARN);
	if (!child->utrace)
		return -ENOMEM;
	scoped_guard(spinlock_irqsave, &current->utrace->lock) {
		set = utrace_set_get(utrace_heir(clone_flags));
		parent_events = current->utrace_events;
	}
	events = set->events;
	/* It is asked for itself. */
	if (set->asked)
		events |= set->asked | UTRACE_WORD_REBUILD;
	if (parent_events & UTRACE_WORD_REBUILD)
		events |= parent_events;
	child->utrace_set = set;
	utrace_set_word(child, events);
	utrace_inherit_hold(child, set);
	return 0;
}
