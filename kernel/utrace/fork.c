// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - fork: the engines that a new task inherits
 *
 * A thread inherits the process and tree engines of the task that creates it, a
 * process inherits the tree engines; no clone flag but CLONE_THREAD matters.
 * The set for the child is part of the parent's set (utrace_set::inherited), so
 * nothing has to be built under the locks of copy_process(), which are
 * tasklist_lock for writing and the parent's siglock.
 */
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "set.h"
#include "task.h"

/* CLONE_THREAD alone decides, not whether memory or files are shared. */
static enum utrace_child utrace_child_of_flags(u64 clone_flags)
{
	return clone_flags & CLONE_THREAD ? UTRACE_CHILD_THREAD :
					    UTRACE_CHILD_PROCESS;
}

/*
 * Get the set that a child of the current task inherits, NULL for none.  The
 * current task's utrace->lock is held.
 */
static struct utrace_set *utrace_inherited_set(u64 clone_flags)
{
	struct utrace_set *set = current->utrace_set;

	lockdep_assert_held(&current->utrace->lock);

	if (!set)
		return NULL;
	set = set->inherited[utrace_child_of_flags(clone_flags)];
	/*
	 * An engine of this domain is detached: take the set that replaces it.
	 * Read the flag before ->next; pairs with utrace_domain_replace().
	 */
	while (set && set->domain && smp_load_acquire(&set->domain->replaced))
		set = set->domain->next;
	/* A child that only engines of the system cover starts bare. */
	return set && set->domain ? set : NULL;
}

static bool utrace_child_inherits(u64 clone_flags)
{
	if (!current->utrace)
		return false;
	guard(spinlock_irqsave)(&current->utrace->lock);
	return utrace_inherited_set(clone_flags);
}

/*
 * Check whether further tracers by ptrace(2) follow the current task to the
 * child.
 */
static bool utrace_is_followed(void)
{
	return current->utrace && !hlist_empty(&current->utrace->newborn);
}

/* Allocate a struct utrace with a member for a child.  NULL without memory. */
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

/**
 * __utrace_init_task() - clear the state that a child copied from its parent
 * @child: a copy of the current task that is not visible yet
 *
 * __utrace_fork() must not sleep, so memory for what the child may inherit is
 * allocated here.  The clone flags are not known yet: a thread inherits
 * whatever a process would, so the test is for a thread.  If the allocation
 * fails, __utrace_fork() tries again.
 *
 * Context: dup_task_struct(), may sleep.
 */
void __utrace_init_task(struct task_struct *child)
{
	child->utrace_events = 0;
	child->utrace_set = NULL;
	child->utrace = NULL;
	clear_task_syscall_work(child, SYSCALL_UTRACE);

	if (utrace_child_inherits(CLONE_THREAD) || utrace_is_followed())
		child->utrace = utrace_alloc_child(GFP_KERNEL_ACCOUNT);
}

/*
 * With the child's utrace->lock held: an engine that holds its whole scope, see
 * utrace_control(), holds the child too.
 */
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
 * Compute the word of a child from the events that its engines want now, and
 * not from the parent's word.  The child is a member of its domain already:
 * either the walk of an engine that changes its events finds the child, or this
 * function sees the change.  An attach or a detach may already have given the
 * child another set.
 */
static void utrace_inherit_word(struct task_struct *child)
{
	struct utrace *u = child->utrace;
	struct utrace_set *set;

	/*
	 * Write the membership before reading the numbers, flags and HOLD_ALL
	 * of the engines; pairs with utrace_visit_domains().
	 */
	smp_mb();
	guard(spinlock_irqsave)(&u->lock);
	set = child->utrace_set;
	if (!set) {
		utrace_set_word(child, utrace_bare_events(child));
		return;
	}
	/* The child evaluates the matches at its first event. */
	if (set->asked || !utrace_set_is_current(set))
		utrace_set_word(child, utrace_word_now(child, u));
	else
		utrace_set_word(child, utrace_word_of(set, u->muted));
	utrace_inherit_hold(child, set);
}

/*
 * Allocate a struct utrace for the child, without sleeping, if it has none.
 * Returns false if there is no memory.
 */
static bool utrace_child_is_ready(struct task_struct *child)
{
	if (!child->utrace)
		child->utrace = utrace_alloc_child(GFP_ATOMIC | __GFP_NOWARN);
	return child->utrace;
}

/**
 * __utrace_fork() - let a child inherit engines, and write its event word
 * @child: the child, which is about to become visible
 * @clone_flags: flags of the clone
 *
 * An attach or a detach may replace the set of the parent at any time.  The
 * parent's utrace->lock is held from the read of its set until the child is a
 * member of the domain of the inherited set.  So a child that inherits from the
 * parent's old set is a member before the parent gets the new one, and the walk
 * finds it.
 *
 * An attach may add the parent's first engine that a child inherits after
 * utrace_child_inherits() has found none.  The child then does not inherit that
 * engine.  A later walk of the attach finds the child, since the walk waits for
 * tasklist_lock.
 *
 * Context: copy_process(), with tasklist_lock held for writing, and the
 * parent's siglock.  Interrupts are off.
 * Return:
 * * 0 - done
 * * -ENOMEM - the child inherits an engine, or a further tracer follows it, but
 *   __utrace_init_task() allocated no struct utrace, and there is no memory for
 *   one without sleeping
 */
int __utrace_fork(struct task_struct *child, u64 clone_flags)
{
	struct utrace_set *set = NULL;

	lockdep_assert_held(&current->sighand->siglock);

	if ((utrace_child_inherits(clone_flags) || utrace_is_followed()) &&
	    !utrace_child_is_ready(child))
		return -ENOMEM;
	if (child->utrace && current->utrace) {
		guard(spinlock_irqsave)(&current->utrace->lock);
		set = utrace_set_get(utrace_inherited_set(clone_flags));
		if (set) {
			child->utrace_set = set;
			child->utrace->muted = set->matched;
			utrace_member_join(child->utrace->member, child,
					   set->domain);
		}
	}
	if (set) {
		utrace_inherit_word(child);
		return 0;
	}
	if (!utrace_is_followed()) {
		if (child->utrace)
			utrace_free(child->utrace);
		child->utrace = NULL;
	}
	utrace_set_word(child, utrace_bare_events(child));
	return 0;
}
