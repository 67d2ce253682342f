// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - engine sets: what a task must call
 *
 * A set is built once, never changed and shared by all tasks with the same
 * engines.  Whoever wants a task to call something else builds another set
 * and publishes it.  The task may be in the middle of a pass over the old
 * one, whose callbacks sleep, so it pins the set it walks:
 *
 *	task (utrace_pin)		publisher (utrace_publish)
 *	pinned = set			task->utrace_set = new
 *	smp_mb				smp_mb
 *	still task->utrace_set?		is the old set pinned?
 *
 * At least one of the two sees the other's store.  If the publisher finds the
 * old set pinned, it leaves its reference to the task (->deferred), which
 * drops it when it unpins.  A task that sees a newer set starts over under
 * the lock, where no publisher can be.
 */
#include <linux/bitops.h>
#include <linux/slab.h>
#include <linux/sched/task.h>

#include "internal.h"

/* Whoever publishes a set holds this. */
DEFINE_MUTEX(utrace_mutex);

static struct kmem_cache *utrace_cache __ro_after_init;

static int __init utrace_set_init(void)
{
	utrace_cache = KMEM_CACHE(utrace, SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(utrace_set_init);

/* A task's struct utrace. */

struct utrace *utrace_alloc(gfp_t gfp)
{
	struct utrace *u = kmem_cache_zalloc(utrace_cache, gfp);

	if (u) {
		spin_lock_init(&u->lock);
		init_waitqueue_head(&u->wait);
		u->resume = UTRACE_RESUME;
		u->flags = UTRACE_TASK_LONG;
	}
	return u;
}

void utrace_free(struct utrace *u)
{
	kmem_cache_free(utrace_cache, u);
}

void __utrace_free_task(struct task_struct *task)
{
	WARN_ON_ONCE(task->utrace_set);
	utrace_free(task->utrace);
	task->utrace = NULL;
}

/* Sets. */

int utrace_set_slot(const struct utrace_set *set,
		    const struct utrace_engine *engine)
{
	unsigned int slot;

	for (slot = 0; set && slot < set->nslots; slot++)
		if (set->engine[slot] == engine)
			return slot;
	return -1;
}

struct utrace_set *utrace_set_get(struct utrace_set *set)
{
	if (set)
		refcount_inc(&set->ref);
	return set;
}

void utrace_set_put(struct utrace_set *set)
{
	unsigned int i;

	if (!set || !refcount_dec_and_test(&set->ref))
		return;

	for (i = 0; i < UTRACE_NHEIRS; i++)
		if (set->heir[i] != set)
			utrace_set_put(set->heir[i]);
	for (i = 0; i < set->nslots; i++)
		if (set->engine[i])
			utrace_core_put(set->engine[i]);
	kfree(set);
}

static unsigned int utrace_engine_rank(struct utrace_engine *engine)
{
	/* By class: mutator, observer, enforcer, last resort. */
	static const u8 rank[] = { 1, 0, 2, 3 };

	return rank[utrace_engine_state(engine) >> UTRACE_STATE_CLASS_SHIFT];
}

static bool utrace_lists(struct utrace_engine *engine, unsigned int event)
{
	unsigned long wants = READ_ONCE(engine->flags);

	if (wants & BIT(event))
		return true;
	/* Told before the events of others, except when nothing is left. */
	return event != _UTRACE_EVENT_REAP &&
	       (wants & UTRACE_EVENT(QUIESCE)) &&
	       !(utrace_engine_state(engine) & UTRACE_STATE_OWN_EVENTS);
}

/* Write the list of one event to set->order from @n on; where does it end? */
static unsigned int utrace_set_list(struct utrace_set *set, unsigned int event,
				    unsigned int n)
{
	unsigned int nall = hweight64(set->members);
	const u8 *all = set->order;
	bool newest_first = event == _UTRACE_EVENT_SYSCALL_ENTRY;
	const u8 *ranks = event == _UTRACE_EVENT_SYSCALL_EXIT ?
			  (const u8 []){ 2, 1, 0, 3 } :
			  (const u8 []){ 0, 1, 2, 3 };
	unsigned int rank, i;

	set->start[UTRACE_LIST(event)] = n;
	if (!(set->events & BIT(event)))
		return n;

	for (rank = 0; rank < 4; rank++) {
		for (i = 0; i < nall; i++) {
			u8 slot = all[newest_first ? nall - 1 - i : i];
			struct utrace_engine *engine = set->engine[slot];

			if (utrace_engine_rank(engine) == ranks[rank] &&
			    utrace_lists(engine, event))
				set->order[n++] = slot;
		}
	}
	return n;
}

/* The slots in the list of one event. */
static u64 utrace_set_slots(const struct utrace_set *set, unsigned int event)
{
	unsigned int i, list = UTRACE_LIST(event);
	u64 slots = 0;

	for (i = set->start[list]; i < set->start[list + 1]; i++)
		slots |= BIT_ULL(set->order[i]);
	return slots;
}

/*
 * What the short pass over a system call does not look at.  A missing callback
 * by the lists of the set: the flags may have changed since they were made.
 */
static bool utrace_needs_long_pass(const struct utrace_set *set,
				   unsigned int slot)
{
	struct utrace_engine *engine = set->engine[slot];

	return (READ_ONCE(engine->flags) & UTRACE_EVENT(QUIESCE)) ||
	       rcu_access_pointer(engine->filter) ||
	       ((set->entry & BIT_ULL(slot)) &&
		!engine->ops->report_syscall_entry) ||
	       ((set->exit & BIT_ULL(slot)) &&
		!engine->ops->report_syscall_exit);
}

/* Spares the short pass a test. */
static struct utrace_engine utrace_nobody;

static struct utrace_engine *utrace_sole(const struct utrace_set *set, u64 slots)
{
	if (hweight64(slots) != 1)
		return &utrace_nobody;
	return set->engine[__ffs64(slots)];
}

static void utrace_set_fill(struct utrace_set *set, const u8 *all,
			    unsigned int nall)
{
	unsigned int event, i, n = nall;

	set->start[UTRACE_LIST_ALL] = 0;
	memcpy(set->order, all, nall);

	for (i = 0; i < nall; i++) {
		struct utrace_engine *engine = set->engine[all[i]];

		set->events |= READ_ONCE(engine->flags);
		if (READ_ONCE(engine->flags) & UTRACE_EVENT_SYSCALL)
			set->events |= utrace_filter_calls(engine);
	}
	for (event = 0; event < _UTRACE_NEVENTS; event++)
		n = utrace_set_list(set, event, n);
	set->start[UTRACE_NLISTS] = n;
	set->entry = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_ENTRY);
	set->exit = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_EXIT);
	/* Who wants exits only has them without an entry. */
	if (set->exit & ~set->entry)
		set->events |= UTRACE_WORD_LONG;
	for (i = 0; i < nall; i++)
		if (utrace_needs_long_pass(set, all[i]))
			set->events |= UTRACE_WORD_LONG;
	set->sole_entry = utrace_sole(set, set->entry);
	set->sole_exit = utrace_sole(set, set->exit);
	/* Every task with engines is to pass the hook that drops them. */
	set->events |= UTRACE_EVENT(REAP);
}

static bool utrace_inherits(struct utrace_engine *engine,
			    enum utrace_heir heir)
{
	unsigned int scope = heir == UTRACE_HEIR_THREAD ?
			     UTRACE_STATE_SCOPE : UTRACE_STATE_TREE;

	return utrace_engine_state(engine) & scope;
}

/* The engines of @from named by @all[], in that order, as a set of its own. */
static struct utrace_set *utrace_set_alloc(struct utrace_engine **from,
					   const u8 *all, unsigned int nall)
{
	unsigned int i, nslots = 0;
	struct utrace_set *set;

	for (i = 0; i < nall; i++)
		nslots = max(nslots, all[i] + 1U);

	set = kzalloc(struct_size(set, engine, nslots) + UTRACE_NLISTS * nall,
		      GFP_KERNEL_ACCOUNT);
	if (!set)
		return ERR_PTR(-ENOMEM);
	refcount_set(&set->ref, 1);
	set->nslots = nslots;
	set->order = (u8 *)&set->engine[nslots];
	for (i = 0; i < nall; i++) {
		utrace_core_get(from[all[i]]);
		set->engine[all[i]] = from[all[i]];
		set->members |= BIT_ULL(all[i]);
	}
	utrace_set_fill(set, all, nall);
	return set;
}

/* Give @set its subsets for children. */
static int utrace_set_heirs(struct utrace_set *set, const u8 *all,
			    unsigned int nall)
{
	u8 some[UTRACE_MAX_ENGINES];
	unsigned int heir, i, n;

	for (heir = 0; heir < UTRACE_NHEIRS; heir++) {
		struct utrace_set *child;

		for (i = n = 0; i < nall; i++)
			if (utrace_inherits(set->engine[all[i]], heir))
				some[n++] = all[i];
		if (!n)
			continue;
		if (n == nall) {
			set->heir[heir] = set;
			continue;
		}
		child = utrace_set_alloc(set->engine, some, n);
		if (!IS_ERR(child) && utrace_set_heirs(child, some, n)) {
			utrace_set_put(child);
			child = ERR_PTR(-ENOMEM);
		}
		if (IS_ERR(child))
			return PTR_ERR(child);
		set->heir[heir] = child;
	}
	return 0;
}

/**
 * utrace_set_build - make the set that follows another
 * @old: the set to start from, or NULL
 * @add: an engine to add behind the others, or NULL
 *
 * Takes over the engines that are not detached and what each of them wants
 * now.
 *
 * Context: May sleep.  utrace_mutex is held.
 * Return: a set with one reference for the caller; NULL if no engine is left;
 * -ENOSPC if there is no slot for @add; -ENOMEM.
 */
struct utrace_set *utrace_set_build(const struct utrace_set *old,
				    struct utrace_engine *add)
{
	struct utrace_engine *engine[UTRACE_MAX_ENGINES];
	u8 all[UTRACE_MAX_ENGINES];
	struct utrace_set *set;
	unsigned int i, slot, n = 0;
	u64 used = 0;

	lockdep_assert_held(&utrace_mutex);

	if (old) {
		struct utrace_engine *one;

		utrace_for_each(old, UTRACE_LIST_ALL, i, slot, one) {
			if (utrace_engine_detached(one))
				continue;
			engine[slot] = one;
			all[n++] = slot;
			used |= BIT_ULL(slot);
		}
	}
	if (add) {
		if (n == UTRACE_MAX_ENGINES)
			return ERR_PTR(-ENOSPC);
		slot = ffz(used);
		engine[slot] = add;
		all[n++] = slot;
	}
	if (!n)
		return NULL;

	set = utrace_set_alloc(engine, all, n);
	if (!IS_ERR(set) && utrace_set_heirs(set, all, n)) {
		utrace_set_put(set);
		set = ERR_PTR(-ENOMEM);
	}
	return set;
}

/* What a task is given to do. */

/*
 * The work bit is a function of the event word and nothing else, so that
 * attach and detach cannot race about it.
 */
void utrace_set_word(struct task_struct *task, unsigned long events)
{
	/* These threads never see user mode, only their end is reported. */
	if (task->flags & PF_USER_WORKER)
		events &= UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH) |
			  UTRACE_EVENT(REAP) | UTRACE_WORD_REBUILD;

	WRITE_ONCE(task->utrace_events, events);
	if (events & UTRACE_EVENT_SYSCALL)
		set_task_syscall_work(task, SYSCALL_UTRACE);
	else
		clear_task_syscall_work(task, SYSCALL_UTRACE);
}

/* Slots of @old that hold the same engine in @new. */
u64 utrace_set_same(const struct utrace_set *old,
		    const struct utrace_set *new)
{
	u64 same = 0;
	unsigned int slot;

	if (!old || !new)
		return 0;
	for (slot = 0; slot < min(old->nslots, new->nslots); slot++)
		if (old->engine[slot] && old->engine[slot] == new->engine[slot])
			same |= BIT_ULL(slot);
	return same;
}

/* Slots of @old whose engines are in @set as well and not detached. */
u64 utrace_set_present(const struct utrace_set *old,
		       const struct utrace_set *set)
{
	u64 same = utrace_set_same(old, set);
	u64 left;

	for (left = same; left; left &= left - 1)
		if (utrace_engine_detached(set->engine[__ffs64(left)]))
			same &= ~(left & -left);
	return same;
}

/*
 * Leave the last reference to a replaced set to the pass that walks it, if one
 * does.  The set whose reference is to be dropped, or NULL.
 */
static struct utrace_set *utrace_defer(struct utrace *u, struct utrace_set *old)
{
	lockdep_assert_held(&u->lock);

	smp_mb(); /* Pairs with utrace_pin(): the set before the pin. */
	if (!old || READ_ONCE(u->pinned) != old)
		return old;
	WARN_ON_ONCE(u->deferred);
	u->deferred = old;
	u->flags |= UTRACE_TASK_DEFERRED;
	smp_mb(); /* Pairs with utrace_unpin(): the flag or the pin. */
	if (READ_ONCE(u->pinned) == old)
		return NULL;
	u->deferred = NULL;
	u->flags &= ~UTRACE_TASK_DEFERRED;
	return old;
}

/**
 * utrace_publish - give a task another set
 * @task: the task
 * @u: its struct utrace
 * @set: the set, with a reference that passes to the task; NULL for none
 *
 * Context: Process context.  Takes @u->lock.  utrace_mutex is held, and
 * tasklist_lock unless @task is current or dead; not @task's siglock.
 * Return: a set whose reference the caller has to drop, without locks; that
 * is @set itself if the task was reaped.
 */
struct utrace_set *utrace_publish(struct task_struct *task, struct utrace *u,
				  struct utrace_set *set)
{
	unsigned long events = set ? set->events : 0;
	struct utrace_set *old;
	unsigned long flags;
	u64 same, held;

	lockdep_assert_held(&utrace_mutex);

	spin_lock_irqsave(&u->lock, flags);
	if (u->flags & UTRACE_TASK_REAPED) {
		spin_unlock_irqrestore(&u->lock, flags);
		return set;
	}
	old = task->utrace_set;
	same = utrace_set_same(old, set);
	held = u->hold;
	u->hold &= same;
	u->step &= same;
	u->block &= same;
	u->fresh |= set ? set->members & ~same : U64_MAX;
	u->flags |= UTRACE_TASK_LONG;
	/* Wishes that came while this set was built. */
	if (set && (task->utrace_events & UTRACE_WORD_REBUILD))
		events |= task->utrace_events;
	/* Pairs with utrace_pin_short(): the flag before the set. */
	smp_store_release(&task->utrace_set, set);
	utrace_set_word(task, events);
	old = utrace_defer(u, old);
	held &= ~u->hold;
	spin_unlock_irqrestore(&u->lock, flags);
	if (held)
		utrace_wake(task, u);
	return old;
}

/*
 * The last renewal, so that tasks which shared a set before share one after.
 * Holds a reference on both.  Under utrace_mutex.  Dropped when an engine goes,
 * when no rebuild finds a set with it any more: a walk has taken it out of all
 * of them, or the last task that had one was reaped.
 */
static struct {
	struct utrace_set *old;
	struct utrace_set *set;
	long generation;
} utrace_memo;

/* Counts the changes of what engines want; a set is newer than its number. */
atomic_long_t utrace_generation = ATOMIC_LONG_INIT(0);

/* Takes over the references of the caller, and gives it those of before. */
static void utrace_memo_swap(struct utrace_set **old, struct utrace_set **set,
			     long generation)
{
	lockdep_assert_held(&utrace_mutex);

	swap(utrace_memo.old, *old);
	swap(utrace_memo.set, *set);
	utrace_memo.generation = generation;
}

void utrace_memo_drop(void)
{
	struct utrace_set *old = NULL, *set = NULL;

	if (!READ_ONCE(utrace_memo.old))
		return;
	scoped_guard(mutex, &utrace_mutex)
		utrace_memo_swap(&old, &set, 0);
	/* Without the mutex: the last put calls ->release(). */
	utrace_set_put(old);
	utrace_set_put(set);
}

/* The set that takes the place of @old with what its engines want now. */
static struct utrace_set *utrace_set_renew(struct utrace_set *old)
{
	if (utrace_memo.old == old &&
	    utrace_memo.generation == atomic_long_read(&utrace_generation))
		return utrace_set_get(utrace_memo.set);
	return utrace_set_build(old, NULL);
}

/**
 * utrace_rebuild - bring the set of a task up to date
 * @task: a task with a struct utrace
 *
 * Context: May sleep.  Takes utrace_mutex.
 */
void utrace_rebuild(struct task_struct *task)
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
	set = old ? utrace_set_renew(old) : NULL;
	if (IS_ERR(set)) {
		/* Keep the word as it is and try again at the next event. */
		scoped_guard(spinlock_irqsave, &u->lock)
			utrace_set_word(task, task->utrace_events |
					UTRACE_WORD_REBUILD |
					UTRACE_WORD_CALLS);
		mutex_unlock(&utrace_mutex);
		utrace_set_put(old);
		return;
	}
	drop = utrace_publish(task, u, utrace_set_get(set));
	last_old = utrace_set_get(old);
	last_set = utrace_set_get(set);
	utrace_memo_swap(&last_old, &last_set, generation);
	mutex_unlock(&utrace_mutex);

	/* Without the mutex: the last put calls ->release(). */
	utrace_set_put(last_old);
	utrace_set_put(last_set);
	utrace_set_put(drop);
	utrace_set_put(set);
	utrace_set_put(old);
}

/**
 * utrace_pin - the set that this pass walks
 * @u: of the current task
 *
 * Context: The task itself.
 * Return: the published set, valid until utrace_unpin(); NULL if none.
 */
struct utrace_set *utrace_pin(struct utrace *u)
{
	struct utrace_set *set = READ_ONCE(current->utrace_set), *drop;
	unsigned long flags;

	/* The full barrier pairs with the one in utrace_publish(). */
	smp_store_mb(u->pinned, set);
	if (likely(set == READ_ONCE(current->utrace_set)))
		return set;

	spin_lock_irqsave(&u->lock, flags);
	set = current->utrace_set;
	WRITE_ONCE(u->pinned, set);
	drop = u->deferred;
	u->deferred = NULL;
	u->flags &= ~UTRACE_TASK_DEFERRED;
	spin_unlock_irqrestore(&u->lock, flags);
	utrace_set_put(drop);
	return set;
}

/**
 * utrace_unpin_told - what others wait for at the end of a walk
 * @u: of the current task, or of the one it reaps
 *
 * Context: The task itself or its reaper.  May call ->release() of an engine
 * that was detached meanwhile.
 */
void utrace_unpin_told(struct utrace *u)
{
	struct utrace_set *drop;
	unsigned long flags;

	spin_lock_irqsave(&u->lock, flags);
	drop = u->deferred;
	u->deferred = NULL;
	u->flags &= ~UTRACE_TASK_DEFERRED;
	spin_unlock_irqrestore(&u->lock, flags);
	utrace_set_put(drop);

	spin_lock_irqsave(&u->lock, flags);
	if (u->flags & UTRACE_TASK_WAITER) {
		u->flags &= ~UTRACE_TASK_WAITER;
		u->passes++;
		wake_up_all(&u->wait);
	}
	spin_unlock_irqrestore(&u->lock, flags);
}
