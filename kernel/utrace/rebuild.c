// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a task brings its set up to date
 *
 * Whoever changes what an engine wants sets UTRACE_WORD_REBUILD in the words of
 * its tasks, and each of them takes the latest set of its cast at its next event,
 * if it ever has one.  Only then the matches of engines are asked, under no lock;
 * the verdicts are kept beside the set (utrace::muted), so that tasks with the
 * same engines share a set whatever becomes of them.
 *
 * Nothing here waits for another task.  Something may change between the first
 * look and the moment when the set is published; then the work is done once more,
 * and if that fails too, or there is no memory, the event at hand is reported by
 * what engines want now, see utrace_pass_begin(), and the bit stays.
 */
#include <linux/sched/mm.h>

#include "internal.h"

/**
 * utrace_ask - ask the matches of a set about the current task
 * @set: the set, or NULL
 * @old: the set of the verdicts that the task has
 *
 * A task without memory, on its way to the end, cannot be asked any more and keeps
 * those.
 *
 * Context: The task itself.  May take task_lock().
 * Return: the slots of @set that reject the task.
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

/* The verdicts have changed and the set has not. */
static void utrace_mute(struct utrace *u, const struct utrace_set *set,
			u64 muted)
{
	u->fresh |= u->muted & ~muted;
	if (u->muted != muted)
		u->flags |= UTRACE_TASK_SLOW;
	u->muted = muted;
	if (current->utrace_events & UTRACE_WORD_REBUILD ||
	    !utrace_set_is_current(set))
		utrace_set_word(current, utrace_word_now(current, u));
	else
		utrace_set_word(current, utrace_word_of(set, muted));
}

/*
 * Publish @set, whose reference passes on, if the task still has @old; no pass is
 * running, so nothing has to be deferred.
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
					     utrace_set_same(old, set), muted, false);
			deferred = utrace_take_deferred(u);
			done = true;
		}
	}
	smp_mb(); /* The set before the flags of its engines; see utrace_heavy(). */
	utrace_set_put(drop);
	utrace_set_put(deferred);
	return done;
}

/* One try; true if the task has what is wanted now, or as good as that. */
static bool utrace_renew_once(struct utrace *u, bool *nomem)
{
	struct utrace_set *old, *set;
	bool done = false;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return true;
		/* Changes from here on set it again. */
		WRITE_ONCE(current->utrace_events,
			   current->utrace_events & ~UTRACE_WORD_REBUILD);
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
 * utrace_renew - bring the set of the current task up to date
 *
 * Context: The task itself, which has a struct utrace and no set pinned.  May
 * sleep for memory.
 * Return: false if that did not succeed; UTRACE_WORD_REBUILD is still set then.
 */
bool utrace_renew(void)
{
	bool kthread = current->flags & PF_KTHREAD, done, nomem = false;
	unsigned int noio = 0, tries = 2;

	/* Memory may wait for a kernel thread. */
	if (kthread)
		noio = memalloc_noio_save();
	do {
		done = utrace_renew_once(current->utrace, &nomem);
	} while (!done && !nomem && --tries);
	if (kthread)
		memalloc_noio_restore(noio);
	return done;
}
