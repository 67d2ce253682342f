// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a task renews its set
 *
 * A change of events, filter or match sets UTRACE_WORD_RENEW in the words of
 * the engine's tasks.  Each task takes the latest set of its cast at its next
 * event, and only then asks the matches of the engines, under no lock.  The
 * verdicts are kept beside the set, in utrace::muted, so that tasks with the
 * same engines share a set whatever the verdicts are.
 *
 * Renewing waits for no other task.  If an attach or a detach gave the task
 * another set meanwhile, the task tries once more.  If that fails too, or if
 * memory is short, UTRACE_WORD_RENEW stays, and utrace_pass_begin() calls
 * those engines of the present set that want the event now.
 */
#include <linux/sched/mm.h>

#include "internal.h"

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
	smp_mb(); /* Set before engines' flags; pairs with utrace_heavy(). */
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
	set = utrace_set_latest(old ? old->cast : NULL,
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
