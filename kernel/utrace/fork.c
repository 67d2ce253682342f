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
	struct utrace_set *set = current->utrace_set;

	lockdep_assert_held(&current->utrace->lock);

	if (!set)
		return NULL;
	set = set->heir[utrace_heir_of(clone_flags)];
	/* An engine of it is being removed; pairs with utrace_cast_replace(). */
	while (set && set->cast && smp_load_acquire(&set->cast->replaced))
		set = set->cast->next;
	/* For the engines of the system alone a child needs none. */
	return set && set->cast ? set : NULL;
}

static bool utrace_has_heir(u64 clone_flags)
{
	if (!current->utrace)
		return false;
	guard(spinlock_irqsave)(&current->utrace->lock);
	return utrace_heir(clone_flags);
}

/* A struct utrace for a child, ready to be a member; or NULL. */
static struct utrace *utrace_alloc_child(gfp_t gfp)
{
	struct utrace *u = utrace_alloc(gfp);

	if (!u)
		return NULL;
	u->member = utrace_member_alloc(gfp);
	if (u->member)
		return u;
	utrace_free(u);
	return NULL;
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
		child->utrace = utrace_alloc_child(GFP_KERNEL_ACCOUNT);
}

/* Engines that are to stop their whole scope stop its newest member too. */
static void utrace_inherit_hold(struct task_struct *child,
				struct utrace_set *set)
{
	if (child->flags & PF_USER_WORKER)
		return;
	utrace_set_for_each(set, UTRACE_LIST_ALL, at)
		if (utrace_engine_state(at.engine) & UTRACE_STATE_HOLD_ALL &&
		    !utrace_engine_detached(at.engine))
			child->utrace->hold |= BIT_ULL(at.slot);
	if (child->utrace->hold)
		set_tsk_thread_flag(child, TIF_NOTIFY_RESUME);
}

/*
 * The child has the set and is a member of its cast: from here on whoever changes
 * what an engine wants meets it, or has made the change before.  Its word is made
 * from that, never from the parent's.  Somebody may have given it another set by now.
 */
static void utrace_inherit_word(struct task_struct *child)
{
	struct utrace *u = child->utrace;
	struct utrace_set *set;

	smp_mb(); /* The list before the numbers; pairs with utrace_visit_casts(). */
	guard(spinlock_irqsave)(&u->lock);
	set = child->utrace_set;
	if (!set) {
		utrace_set_word(child, utrace_bare_events(child));
		return;
	}
	/* It is asked for itself. */
	if (set->asked || !utrace_set_is_current(set))
		utrace_set_word(child, utrace_word_now(child, u));
	else
		utrace_set_word(child, utrace_word_of(set, u->muted));
	utrace_inherit_hold(child, set);
}

/* Has the child what it needs if there is something to inherit? */
static bool utrace_child_is_ready(struct task_struct *child)
{
	if (!child->utrace)
		child->utrace = utrace_alloc_child(GFP_ATOMIC | __GFP_NOWARN);
	return child->utrace;
}

/**
 * __utrace_fork - the child inherits
 * @child: about to become visible
 * @clone_flags: of the clone
 *
 * The parent may get another set at any time.  One lock is held from the look at
 * what it has until the child is a member of the same, so that a walk which took
 * the parent along finds the child.
 *
 * Context: tasklist_lock is held for writing, and the parent's siglock.
 * Return: 0; -ENOMEM: the first engine came after __utrace_init_task(), or
 * that found no memory, and there is none in reserve either.
 */
int __utrace_fork(struct task_struct *child, u64 clone_flags)
{
	struct utrace_set *set = NULL;

	lockdep_assert_held(&current->sighand->siglock);

	if (utrace_has_heir(clone_flags) && !utrace_child_is_ready(child))
		return -ENOMEM;
	if (child->utrace && current->utrace) {
		guard(spinlock_irqsave)(&current->utrace->lock);
		set = utrace_set_get(utrace_heir(clone_flags));
		if (set) {
			child->utrace_set = set;
			child->utrace->muted = set->matched;
			utrace_member_join(child->utrace->member, child,
					   set->cast);
		}
	}
	if (set) {
		utrace_inherit_word(child);
		return 0;
	}
	if (child->utrace)
		utrace_free(child->utrace);
	child->utrace = NULL;
	utrace_set_word(child, utrace_bare_events(child));
	return 0;
}
