// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a task brings its set up to date
 *
 * Whoever changes what an engine wants sets UTRACE_WORD_REBUILD in the words of
 * its tasks, and each of them builds a new set at its next event, if it ever
 * has one.  Only then the matches of engines are asked: a set says which of
 * its engines the task was rejected by (->muted), and that is how verdicts are
 * kept.
 */
#include <linux/sched/mm.h>

#include "internal.h"

/*
 * The last renewal, so that tasks which shared a set before share one after.
 * Holds a reference on both.  Under utrace_mutex.  Dropped when an engine goes,
 * when no rebuild finds a set with it any more: a walk has taken it out of all
 * of them, or the last task that had one was reaped.
 */
struct utrace_memo {
	struct utrace_set *old;
	struct utrace_set *set;
	u64 muted;
	long generation;
};

/* For tasks with a set; for those without, which the system's engines cover. */
static struct utrace_memo utrace_memos[3];

static struct utrace_memo *utrace_memo_of(const struct utrace_set *old,
					  bool kthread)
{
	return &utrace_memos[old ? 0 : 1 + kthread];
}

/* Counts the changes of what engines want; a set is newer than its number. */
atomic_long_t utrace_generation = ATOMIC_LONG_INIT(0);

/* Takes over the references of the caller, and gives it those of before. */
static void utrace_memo_swap(struct utrace_memo *memo, struct utrace_set **old,
			     struct utrace_set **set, long generation)
{
	lockdep_assert_held(&utrace_mutex);

	swap(memo->old, *old);
	swap(memo->set, *set);
	memo->muted = memo->set ? memo->set->muted : 0;
	memo->generation = generation;
}

void utrace_memo_drop(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(utrace_memos); i++) {
		struct utrace_set *old = NULL, *set = NULL;

		if (!READ_ONCE(utrace_memos[i].set) &&
		    !READ_ONCE(utrace_memos[i].old))
			continue;
		/* No generation is -1. */
		scoped_guard(mutex, &utrace_mutex)
			utrace_memo_swap(&utrace_memos[i], &old, &set, -1);
		/* Without the mutex: the last put calls ->release(). */
		utrace_set_put(old);
		utrace_set_put(set);
	}
}

/*
 * Ask the matches.  A task answers for itself, and not once its memory is
 * gone: then it keeps the verdicts it has.
 */
static void utrace_roster_ask(struct utrace_roster *roster,
			      struct task_struct *task)
{
	bool ask = task == current &&
		   (task->mm || !(task->flags & PF_EXITING));
	unsigned int i;

	for (i = 0; i < roster->n; i++) {
		u64 bit = BIT_ULL(roster->all[i]);
		struct utrace_engine *engine = roster->engine[roster->all[i]];

		if (!engine->info->match)
			roster->muted &= ~bit;
		else if (ask && utrace_rejects(engine))
			roster->muted |= bit;
		else if (ask)
			roster->muted &= ~bit;
	}
}

/* The set that takes the place of @old with what its engines want now. */
static struct utrace_set *utrace_set_renew(struct utrace_set *old,
					   struct task_struct *task)
{
	bool kthread = task->flags & PF_KTHREAD;
	const struct utrace_memo *memo = utrace_memo_of(old, kthread);
	struct utrace_roster roster;

	utrace_roster_fill(&roster, old, NULL, kthread);
	utrace_roster_ask(&roster, task);
	if (memo->old == old && memo->muted == roster.muted &&
	    memo->generation == atomic_long_read(&utrace_generation))
		return utrace_set_get(memo->set);
	return utrace_set_make(&roster);
}

static void utrace_rebuild_noio(struct task_struct *task)
{
	struct utrace_set *old, *set, *drop, *last_old, *last_set;
	struct utrace *u = task->utrace;
	long generation;

	mutex_lock(&utrace_mutex);
	scoped_guard(spinlock_irqsave, &u->lock) {
		WRITE_ONCE(task->utrace_events,
			   task->utrace_events & ~UTRACE_WORD_REBUILD);
		old = utrace_set_get(task->utrace_set);
	}
	/* Changes from here on set the bit again. */
	generation = atomic_long_read(&utrace_generation);
	set = utrace_set_renew(old, task);
	if (IS_ERR(set)) {
		utrace_count_lost();
		/* Keep the word as it is and try again at the next event. */
		scoped_guard(spinlock_irqsave, &u->lock)
			utrace_set_word(task, task->utrace_events |
					UTRACE_WORD_REBUILD);
		mutex_unlock(&utrace_mutex);
		utrace_set_put(old);
		return;
	}
	drop = utrace_publish(task, u, utrace_set_get(set));
	last_old = utrace_set_get(old);
	last_set = utrace_set_get(set);
	utrace_memo_swap(utrace_memo_of(old, task->flags & PF_KTHREAD),
			 &last_old, &last_set, generation);
	mutex_unlock(&utrace_mutex);

	/* Without the mutex: the last put calls ->release(). */
	utrace_set_put(last_old);
	utrace_set_put(last_set);
	utrace_set_put(drop);
	utrace_set_put(set);
	utrace_set_put(old);
}

/**
 * utrace_rebuild - bring the set of a task up to date
 * @task: a task with a struct utrace
 *
 * Everybody's rebuilds wait for this one, so it does not wait for a file system
 * to write, which may be one in user space.
 *
 * Context: May sleep.  Takes utrace_mutex.
 */
void utrace_rebuild(struct task_struct *task)
{
	unsigned int noio = memalloc_noio_save();

	utrace_rebuild_noio(task);
	memalloc_noio_restore(noio);
}
