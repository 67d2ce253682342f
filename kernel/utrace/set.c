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
	utrace_local_drop(u);
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

			if (!(set->muted & BIT_ULL(slot)) &&
			    utrace_engine_rank(engine) == ranks[rank] &&
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

	if (set->muted & BIT_ULL(slot))
		return false;
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
	bool is_short = true;
	u64 wanted = 0;

	set->start[UTRACE_LIST_ALL] = 0;
	memcpy(set->order, all, nall);

	for (i = 0; i < nall; i++) {
		struct utrace_engine *engine = set->engine[all[i]];
		unsigned long events = READ_ONCE(engine->flags);

		if (engine->info->match)
			set->asked |= events;
		if (set->muted & BIT_ULL(all[i]))
			continue;
		set->events |= events;
		if (events & UTRACE_EVENT_SYSCALL)
			wanted |= utrace_filter_calls(engine);
	}
	if (set->events & UTRACE_EVENT_SYSCALL)
		set->events |= UTRACE_WORD_UNWANTED & ~wanted;
	for (event = 0; event < _UTRACE_NEVENTS; event++)
		n = utrace_set_list(set, event, n);
	set->start[UTRACE_NLISTS] = n;
	set->entry = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_ENTRY);
	set->exit = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_EXIT);
	/* Who wants exits only has them without an entry. */
	if (set->exit & ~set->entry)
		is_short = false;
	for (i = 0; i < nall; i++)
		if (utrace_needs_long_pass(set, all[i]))
			is_short = false;
	if (is_short)
		set->events |= UTRACE_WORD_SHORT;
	set->sole_entry = utrace_sole(set, set->entry);
	set->sole_exit = utrace_sole(set, set->exit);
	/* Every task with engines is to pass the hook at which children inherit. */
	set->events |= UTRACE_EVENT(REAP);
}

static bool utrace_inherits(struct utrace_engine *engine,
			    enum utrace_heir heir)
{
	unsigned int scope = UTRACE_STATE_TREE | UTRACE_STATE_SYSTEM;

	if (heir == UTRACE_HEIR_THREAD)
		scope |= UTRACE_STATE_PROCESS;

	return utrace_engine_state(engine) & scope;
}

/* One more engine, in a slot of its own; false if there is none. */
static bool utrace_roster_add(struct utrace_roster *roster,
			      struct utrace_engine *engine)
{
	unsigned int slot;

	if (roster->n == UTRACE_MAX_ENGINES)
		return false;
	slot = ffz(roster->used);
	roster->used |= BIT_ULL(slot);
	roster->engine[slot] = engine;
	roster->all[roster->n++] = slot;
	return true;
}

/*
 * Engines of the system that are not in @old go behind the others.  For who
 * finds no slot the events of these tasks are lost.
 */
static void utrace_roster_add_system(struct utrace_roster *roster,
				     const struct utrace_set *old)
{
	struct utrace_engine *one;
	unsigned int i;

	for (i = 0; (one = utrace_system_engine(i)); i++) {
		unsigned int state = utrace_engine_state(one);

		if (state & UTRACE_STATE_DETACHED ||
		    (roster->kthread && !(state & UTRACE_STATE_KTHREAD)) ||
		    utrace_set_slot(old, one) >= 0)
			continue;
		if (!utrace_roster_add(roster, one))
			utrace_count_lost();
		else if (one->info->match)	/* until it is asked */
			roster->muted |= BIT_ULL(roster->all[roster->n - 1]);
	}
}

/**
 * utrace_roster_fill - who is to be in the set that follows another
 * @roster: filled in
 * @old: the set to start from, or NULL
 * @add: an engine to add behind the others, or NULL
 * @kthread: without @old: is it for kernel threads?
 *
 * Takes over the engines that are not detached, and those of the system.  Those
 * that were muted stay so.
 *
 * Context: utrace_mutex is held.
 * Return: 0; -ENOSPC if there is no slot for @add.
 */
int utrace_roster_fill(struct utrace_roster *roster,
		       const struct utrace_set *old, struct utrace_engine *add,
		       bool kthread)
{
	struct utrace_engine *engine;
	unsigned int i, slot;

	lockdep_assert_held(&utrace_mutex);

	roster->n = 0;
	roster->used = 0;
	roster->muted = 0;
	roster->kthread = old ? old->kthread : kthread;
	if (old) {
		utrace_for_each(old, UTRACE_LIST_ALL, i, slot, engine) {
			if (utrace_engine_detached(engine))
				continue;
			roster->engine[slot] = engine;
			roster->all[roster->n++] = slot;
			roster->used |= BIT_ULL(slot);
		}
		roster->muted = old->muted & roster->used;
	}
	if (add && !utrace_roster_add(roster, add))
		return -ENOSPC;
	utrace_roster_add_system(roster, old);
	return 0;
}

/*
 * The engines of @roster named by @all[], in that order, as a set of its own.
 * Tasks of many share it, so nobody's memory cgroup pays.
 */
static struct utrace_set *utrace_set_alloc(const struct utrace_roster *roster,
					   const u8 *all, unsigned int nall)
{
	unsigned int i, nslots = 0;
	struct utrace_set *set;

	for (i = 0; i < nall; i++)
		nslots = max(nslots, all[i] + 1U);

	set = kzalloc(struct_size(set, engine, nslots) + UTRACE_NLISTS * nall,
		      GFP_KERNEL);
	if (!set)
		return ERR_PTR(-ENOMEM);
	refcount_set(&set->ref, 1);
	set->kthread = roster->kthread;
	set->nslots = nslots;
	set->order = (u8 *)&set->engine[nslots];
	for (i = 0; i < nall; i++) {
		utrace_core_get(roster->engine[all[i]]);
		set->engine[all[i]] = roster->engine[all[i]];
		set->members |= BIT_ULL(all[i]);
	}
	set->muted = roster->muted & set->members;
	utrace_set_fill(set, all, nall);
	return set;
}

/* Give @set its subsets for children. */
static int utrace_set_heirs(struct utrace_set *set,
			    const struct utrace_roster *roster, const u8 *all,
			    unsigned int nall)
{
	u8 some[UTRACE_MAX_ENGINES];
	unsigned int heir, i, n;

	for (heir = 0; heir < UTRACE_NHEIRS; heir++) {
		struct utrace_set *child;
		bool bare = true;

		for (i = n = 0; i < nall; i++) {
			struct utrace_engine *engine = set->engine[all[i]];

			if (!utrace_inherits(engine, heir))
				continue;
			some[n++] = all[i];
			bare &= utrace_engine_is_system(engine);
		}
		/* For these alone a child needs no set. */
		if (bare)
			continue;
		if (n == nall) {
			set->heir[heir] = set;
			continue;
		}
		child = utrace_set_alloc(roster, some, n);
		if (!IS_ERR(child) && utrace_set_heirs(child, roster, some, n)) {
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
 * utrace_set_make - make a set
 * @roster: who is to be in it, and who is muted
 *
 * Takes over what each engine wants now.
 *
 * Context: May sleep.  utrace_mutex is held.
 * Return: a set with one reference for the caller; NULL if there are no
 * engines; -ENOMEM.
 */
struct utrace_set *utrace_set_make(const struct utrace_roster *roster)
{
	struct utrace_set *set;

	if (!roster->n)
		return NULL;
	set = utrace_set_alloc(roster, roster->all, roster->n);
	if (!IS_ERR(set) &&
	    utrace_set_heirs(set, roster, roster->all, roster->n)) {
		utrace_set_put(set);
		set = ERR_PTR(-ENOMEM);
	}
	return set;
}

/**
 * utrace_set_build - make the set that follows another
 * @old: the set to start from, or NULL, for a user task
 * @add: an engine to add behind the others, or NULL
 *
 * Context: May sleep.  utrace_mutex is held.
 * Return: a set with one reference for the caller; NULL if no engine is left;
 * -ENOSPC if there is no slot for @add; -ENOMEM.
 */
struct utrace_set *utrace_set_build(const struct utrace_set *old,
				    struct utrace_engine *add)
{
	struct utrace_roster roster;
	int ret = utrace_roster_fill(&roster, old, add, false);

	return ret ? ERR_PTR(ret) : utrace_set_make(&roster);
}

/* What a task is given to do. */

/**
 * utrace_set_word - write the event word of a task
 * @task: the task
 * @events: the word, of which some bits do not go with others, or with @task
 *
 * Context: The task's utrace->lock is held, or utrace_bare_lock.
 */
void utrace_set_word(struct task_struct *task, unsigned long events)
{
	/* These threads never see user mode, only their end is reported. */
	if (task->flags & PF_USER_WORKER)
		events &= UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH) |
			  UTRACE_EVENT(REAP) | UTRACE_WORD_REBUILD |
			  UTRACE_WORD_REJECTED;
	if (task->flags & PF_KTHREAD)
		events &= UTRACE_EVENT_KTHREAD | UTRACE_WORD_REBUILD |
			  UTRACE_WORD_REJECTED;

	/* What is still to be built may need more, and want more. */
	if (events & UTRACE_WORD_REBUILD)
		events &= ~(UTRACE_WORD_SHORT | UTRACE_WORD_UNWANTED);

	utrace_write_word(task, events);
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

/**
 * utrace_defer - leave the reference to a replaced set to the pass that walks it
 * @u: of a task
 * @old: the set that was its, or NULL; ->utrace_set is another one now
 *
 * Context: @u->lock is held.
 * Return: the set whose reference the caller has to drop; NULL if there is none,
 * or if a pass does that.
 */
struct utrace_set *utrace_defer(struct utrace *u, struct utrace_set *old)
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
	unsigned long events;
	struct utrace_set *old;
	unsigned long flags;
	u64 same, held;

	lockdep_assert_held(&utrace_mutex);

	spin_lock_irqsave(&u->lock, flags);
	if (u->flags & UTRACE_TASK_REAPED) {
		spin_unlock_irqrestore(&u->lock, flags);
		return set;
	}
	/* Not of the time when this set was built, or when there was to be none. */
	events = set ? set->events : utrace_bare_events(task);
	old = task->utrace_set;
	same = utrace_set_same(old, set);
	held = u->hold;
	u->hold &= same;
	u->step &= same;
	u->block &= same;
	u->fresh |= set ? set->members & ~same : U64_MAX;
	/* Who was muted saw no entry either. */
	if (old && set)
		u->fresh |= old->muted & ~set->muted & same;
	u->flags |= UTRACE_TASK_LONG;
	/* Wishes that came while this set was built, and a bare task's verdict. */
	if (set && (task->utrace_events &
		    (UTRACE_WORD_REBUILD | UTRACE_WORD_REJECTED)))
		events |= (task->utrace_events & ~UTRACE_WORD_REJECTED) |
			  set->asked | UTRACE_WORD_REBUILD;
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
