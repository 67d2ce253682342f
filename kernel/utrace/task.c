// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - struct utrace: what a task has
 *
 * A task that an engine covers has a struct utrace, an event word that says
 * which hooks call utrace, and a set.
 *
 * A controller, which is a task that attaches or detaches an engine, may
 * replace the set of a task that is in a pass.  Callbacks sleep, so a task pins
 * the set that it walks:
 *
 *	task (utrace_pin)		controller (utrace_turn, utrace_sweep)
 *	pinned = set			lock
 *	(compiler barrier)		task->utrace_set = new, deferred = old
 *	still task->utrace_set?		unlock
 *					utrace_heavy(), once for a round
 *	...				lock
 *	pinned = NULL			is the old set pinned? else take it back
 *	(compiler barrier)		unlock
 *	deferred?
 *
 * At least one of the two sees the other's store.  If the controller finds the
 * old set pinned, the reference stays in ->deferred, and the task drops that
 * reference when it unpins the set.  If the task has pinned the old set and
 * then finds a newer one, the task pins the newer set under utrace->lock.
 */
#include <linux/bitops.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "builtin.h"
#include "internal.h"

static struct kmem_cache *utrace_cache __ro_after_init;

static int __init utrace_task_init(void)
{
	utrace_cache = KMEM_CACHE(utrace, SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(utrace_task_init);

/* Memory */

static void utrace_init(struct utrace *u)
{
	*u = (struct utrace) { .resume = UTRACE_RESUME,
			       .flags = UTRACE_TASK_SLOW,
			       .task_data = &utrace_task_data_end };
	spin_lock_init(&u->lock);
}

/**
 * utrace_alloc() - allocate a struct utrace
 * @gfp: how to allocate it
 *
 * Context: As @gfp says.
 * Return:
 * * the struct utrace, which the caller installs, or frees with utrace_free()
 * * NULL - no memory
 */
struct utrace *utrace_alloc(gfp_t gfp)
{
	struct utrace *u = kmem_cache_alloc(utrace_cache, gfp);

	if (u)
		utrace_init(u);
	return u;
}

/**
 * utrace_alloc_bulk() - allocate several struct utrace
 * @gfp: how to allocate them
 * @n: number of them
 * @u: filled in; see utrace_alloc()
 *
 * Context: As @gfp says.
 * Return:
 * * @n - done
 * * 0 - no memory, nothing is allocated
 */
unsigned int utrace_alloc_bulk(gfp_t gfp, unsigned int n, struct utrace **u)
{
	unsigned int i;

	n = kmem_cache_alloc_bulk(utrace_cache, gfp, n, (void **)u);
	for (i = 0; i < n; i++)
		utrace_init(u[i]);
	return n;
}

/* The list of a task without a struct utrace. */
static struct hlist_head utrace_no_tracers;

/**
 * utrace_tracers_of() - the list of the further tracers of a task by ptrace(2)
 * @task: the task; the caller has a reference, or is under RCU
 *
 * Context: Any.  The list is changed under utrace_tracers_lock(), and read under RCU.
 * Return: the list, which is empty if @task has no struct utrace.
 */
struct hlist_head *utrace_tracers_of(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	return u ? &u->tracers : &utrace_no_tracers;
}

/**
 * utrace_tracers_lock() - the lock of utrace_tracers_of()
 * @task: a task that has a struct utrace; the caller has a reference
 *
 * Context: Any.
 * Return: utrace->lock of @task, which is taken with interrupts off.
 */
spinlock_t *utrace_tracers_lock(struct task_struct *task)
{
	return &task->utrace->lock;
}

/**
 * utrace_newborn_tracers() - the list of the tracers of a task that current creates
 *
 * Context: A task that has a struct utrace.
 * Return: the list, which only the current task uses.
 */
struct hlist_head *utrace_newborn_tracers(void)
{
	return &current->utrace->newborn;
}

/**
 * utrace_free() - free a struct utrace, and what it has for its task
 * @u: a struct utrace that no task has, or whose task is being freed
 *
 * Context: Any.  May call utrace_task_data::put.
 */
void utrace_free(struct utrace *u)
{
	utrace_task_data_drop(u);
	kfree(u->member);
	kmem_cache_free(utrace_cache, u);
}

/**
 * __utrace_free_task() - free the struct utrace of a task
 * @task: a task that is being freed, and has no set
 *
 * Context: Any.
 */
void __utrace_free_task(struct task_struct *task)
{
	WARN_ON_ONCE(task->utrace_set);
	utrace_free(task->utrace);
	task->utrace = NULL;
}

/* Event words */

/*
 * The bits of a word that make sense for a thread that runs in the kernel only.
 */
static unsigned long utrace_kernel_events(struct task_struct *task)
{
	unsigned long events = UTRACE_EVENT_KTHREAD;

	/* For a worker that never sees user mode, only its end is reported. */
	if (task->flags & PF_USER_WORKER)
		events &= ~UTRACE_EVENT(CLONE);
	return events | UTRACE_WORD_RENEW | UTRACE_WORD_REJECTED;
}

/**
 * utrace_set_word() - write the event word of a task
 * @task: the task
 * @events: the word; bits that do not suit @task, or do not go with
 *	UTRACE_WORD_RENEW, are left out
 *
 * Context: utrace->lock of the task is held, or utrace_bare_lock for a bare
 * task; or the task is not visible yet.
 */
void utrace_set_word(struct task_struct *task, unsigned long events)
{
	if (unlikely(task->flags & (PF_USER_WORKER | PF_KTHREAD)))
		events &= utrace_kernel_events(task);

	/*
	 * The set to come may have engines that need the slow pass, or that
	 * want calls which this set does not.
	 */
	if (events & UTRACE_WORD_RENEW)
		events &= ~(UTRACE_WORD_FAST | UTRACE_WORD_UNWANTED);

	utrace_write_word(task, events);
}

/*
 * The event word that goes with @set if the engines in @muted are not called.
 */
static noinline unsigned long utrace_word_muted(const struct utrace_set *set,
						u64 muted)
{
	unsigned long events = UTRACE_EVENT(REAP);
	u64 left, calls = 0;

	for (left = set->members & ~muted; left; left &= left - 1) {
		struct utrace_engine *engine = set->engine[__ffs64(left)];
		unsigned long wants = READ_ONCE(engine->flags);

		events |= utrace_engine_word(engine, wants);
		if (wants & UTRACE_EVENT_SYSCALL)
			calls |= utrace_filter_calls(engine);
	}
	if (events & UTRACE_EVENT_SYSCALL)
		events |= UTRACE_WORD_UNWANTED & ~calls;
	if (!(muted & (set->entry | set->exit)))
		events |= set->events & UTRACE_WORD_FAST;
	return events;
}

/**
 * utrace_word_of() - the event word that goes with a set
 * @set: the set; the caller has a reference, or utrace->lock of a task that has
 *	it
 * @muted: slots whose engines reject the task
 *
 * Context: Any.
 * Return: the word.
 */
unsigned long utrace_word_of(const struct utrace_set *set, u64 muted)
{
	muted &= set->members;
	return likely(!muted) ? set->events : utrace_word_muted(set, muted);
}

/**
 * utrace_word_now() - the event word of a task whose set is to be renewed
 * @task: the task
 * @u: struct utrace of @task
 *
 * Context: @u->lock is held.
 * Return: all that engines of the set and of the system want now, muted or not,
 * with UTRACE_WORD_RENEW.
 */
unsigned long utrace_word_now(struct task_struct *task, struct utrace *u)
{
	const struct utrace_set *set = task->utrace_set;
	unsigned long events = utrace_bare_events(task);
	u64 left;

	lockdep_assert_held(&u->lock);

	for (left = set ? set->members : 0; left; left &= left - 1) {
		struct utrace_engine *engine = set->engine[__ffs64(left)];

		events |= utrace_engine_word(engine, READ_ONCE(engine->flags));
	}
	if (set)
		events |= UTRACE_EVENT(REAP);
	return events | UTRACE_WORD_RENEW;
}

/* The published set, and the pin */

/**
 * utrace_switch() - publish another set for a task
 * @task: the task
 * @u: struct utrace of @task
 * @set: the set, with a reference that passes to the task; NULL for none
 * @same: utrace_set_same() of the set that the task has and @set
 * @muted: slots of @set whose engines reject the task
 * @ask: some engines of @set have a match that the task has yet to be asked
 *	about
 *
 * Holds and steps of engines that are not in @set are dropped.
 *
 * Context: @u->lock is held, and the reaper has not claimed the task.
 * Return:
 * * the set that the task had, with the reference of the task; a pass may have
 *   this set pinned
 * * NULL - the task had no set
 */
struct utrace_set *utrace_switch(struct task_struct *task, struct utrace *u,
				 struct utrace_set *set, u64 same, u64 muted,
				 bool ask)
{
	struct utrace_set *old = task->utrace_set;
	bool renew = ask || task->utrace_events & UTRACE_WORD_RENEW;

	lockdep_assert_held(&u->lock);

	u->step &= same;
	u->block &= same;
	utrace_end_hold(u, ~same);
	u->fresh |= set ? set->members & ~same : U64_MAX;
	/* A muted engine saw no entry of the present system call either. */
	u->fresh |= u->muted & ~muted & same;
	u->muted = set ? muted & set->members : 0;
	u->flags |= UTRACE_TASK_SLOW;
	/* No engine is left that could have asked for a report. */
	if (!set)
		u->resume = UTRACE_RESUME;
	/* SLOW before the set; pairs with utrace_pin_try(). */
	smp_store_release(&task->utrace_set, set);
	/*
	 * RENEW stays if events or verdicts changed while the set was made.
	 */
	if (set && (renew || !utrace_set_is_current(set)))
		utrace_set_word(task, utrace_word_now(task, u));
	else
		utrace_set_word(task, set ? utrace_word_of(set, u->muted) :
				      utrace_bare_events(task));
	return old;
}

/**
 * utrace_take_deferred() - take the deferred set of a task
 * @u: struct utrace of a task that does not have the deferred set pinned
 *
 * Context: @u->lock is held.  Called by the task itself, by its reaper, or by
 * utrace_sweep() when a look after utrace_heavy() has shown no pin.
 * Return:
 * * the set, whose reference passes to the caller
 * * NULL - no set is deferred
 */
struct utrace_set *utrace_take_deferred(struct utrace *u)
{
	struct utrace_set *drop = u->deferred;

	lockdep_assert_held(&u->lock);

	u->deferred = NULL;
	u->flags &= ~UTRACE_TASK_DEFERRED;
	return drop;
}

/**
 * utrace_pin() - pin the set of the current task
 * @u: struct utrace of the current task
 *
 * An attach or a detach changes the set under @u->lock.  If that happened
 * between the load and the pin, the set is pinned again under this lock; an
 * older set that was deferred in between is not pinned any more and is dropped.
 *
 * Context: The task itself, with no set pinned.
 * Return:
 * * the set, valid until utrace_unpin()
 * * NULL - the task has no set
 */
struct utrace_set *utrace_pin(struct utrace *u)
{
	struct utrace_set *set = READ_ONCE(current->utrace_set), *drop;

	if (likely(utrace_pin_try(&u->pinned, set, &current->utrace_set)))
		return set;

	scoped_guard(spinlock_irqsave, &u->lock) {
		set = current->utrace_set;
		WRITE_ONCE(u->pinned, set);
		drop = utrace_take_deferred(u);
	}
	utrace_set_put(drop);
	return set;
}

/**
 * utrace_told() - do what others left for the end of a callback or of a walk
 * @u: struct utrace of the current task, or of the task that it reaps
 *
 * Drops a deferred set if the walk is over, wakes tasks that wait for the end
 * of a callback, and drops the count that utrace_count_inside() left in ->left.
 *
 * Context: The task itself or its reaper.  May call ->release() of an engine
 * that was detached meanwhile.
 */
void utrace_told(struct utrace *u)
{
	struct utrace_set *drop = NULL;
	struct utrace_engine *left;
	bool waited;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (!u->pinned)
			drop = utrace_take_deferred(u);
		waited = u->flags & UTRACE_TASK_WAITER;
		u->flags &= ~UTRACE_TASK_WAITER;
		/*
		 * The callback before the number; pairs with
		 * utrace_wait_over().
		 */
		smp_store_release(&u->passes, u->passes + waited);
		left = u->left;
		u->left = NULL;
	}
	utrace_set_put(drop);
	if (waited) {
		smp_mb(); /* Number before waiters, see wait_var_event(). */
		wake_up_var(&u->passes);
	}
	if (left)
		utrace_core_put(left);
}
