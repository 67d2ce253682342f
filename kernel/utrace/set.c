// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - engine sets: what a task must call
 *
 * A set is built once, never changed and shared by all tasks with the same
 * engines.  It is made from a cast, the engines of the system, and what all of
 * them want at the moment.  A change of wishes makes it old, which is seen by the
 * numbers it keeps (->seq, ->sysgen); the next event of each task has it take a
 * newer one, see rebuild.c.  The task may be in the middle of a pass over the old
 * one then, whose callbacks sleep, so it pins the set it walks:
 *
 *	task (utrace_pin)		controller (utrace_turn, utrace_sweep)
 *	pinned = set			lock
 *	(compiler barrier)		task->utrace_set = new, deferred = old
 *	still task->utrace_set?		unlock
 *					utrace_heavy(), once for a round
 *	...				lock
 *	pinned = NULL			is the old set pinned?  else take it back
 *	(compiler barrier)		unlock
 *	deferred?
 *
 * At least one of the two sees the other's store.  If the controller finds the old
 * set pinned, it leaves its reference to the task, which drops it when it unpins.
 * A task that sees a newer set when it pins starts over under the lock.
 */
#include <linux/bitops.h>
#include <linux/slab.h>
#include <linux/sched/task.h>
#include <linux/wait_bit.h>

#include "internal.h"

static struct kmem_cache *utrace_cache __ro_after_init;

static int __init utrace_set_init(void)
{
	utrace_cache = KMEM_CACHE(utrace, SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(utrace_set_init);

/* A task's struct utrace. */

static void utrace_init(struct utrace *u)
{
	*u = (struct utrace) { .resume = UTRACE_RESUME, .flags = UTRACE_TASK_SLOW };
	spin_lock_init(&u->lock);
}

struct utrace *utrace_alloc(gfp_t gfp)
{
	struct utrace *u = kmem_cache_alloc(utrace_cache, gfp);

	if (u)
		utrace_init(u);
	return u;
}

/* @n at a time; returns @n, or 0 without memory. */
unsigned int utrace_alloc_bulk(gfp_t gfp, unsigned int n, struct utrace **u)
{
	unsigned int i;

	n = kmem_cache_alloc_bulk(utrace_cache, gfp, n, (void **)u);
	for (i = 0; i < n; i++)
		utrace_init(u[i]);
	return n;
}

void utrace_free(struct utrace *u)
{
	utrace_task_data_drop(u);
	kfree(u->member);
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
	u64 left;

	if (!set)
		return -1;
	for (left = set->members; left; left &= left - 1)
		if (set->engine[__ffs64(left)] == engine)
			return __ffs64(left);
	return -1;
}

struct utrace_set *utrace_set_get(struct utrace_set *set)
{
	if (set)
		refcount_inc(&set->ref);
	return set;
}

/*
 * The sets that were made last for tasks which only the system's engines cover:
 * user tasks and kernel threads.  Not counted, as utrace_cast::latest.
 */
static struct utrace_set __rcu *utrace_latest_bare[2];

static struct utrace_set __rcu **utrace_latest_of(struct utrace_cast *cast,
						  bool kthread)
{
	return cast ? &cast->latest : &utrace_latest_bare[kthread];
}

/* Slots of the system's engines. */
#define UTRACE_SYSTEM_SLOTS	GENMASK_ULL(UTRACE_NSLOTS - 1, UTRACE_SYSTEM_SLOT)

/* Free a set; its reference to the cast passes to the caller. */
static struct utrace_cast *utrace_set_free(struct utrace_set *set)
{
	struct utrace_cast *cast = set->cast;
	unsigned int i;
	u64 left;

	for (i = 0; i < UTRACE_NHEIRS; i++)
		if (set->heir[i] != set)
			utrace_set_put(set->heir[i]);
	for (left = set->members & UTRACE_SYSTEM_SLOTS; left; left &= left - 1)
		utrace_shell_put(set->engine[__ffs64(left)]);
	kfree_rcu(set, rcu);
	return cast;
}

/**
 * utrace_set_put - drop a reference
 * @set: the set, or NULL
 *
 * Context: Any but NMI, without utrace_engine_lock and those inside of it.
 */
void utrace_set_put(struct utrace_set *set)
{
	struct utrace_set __rcu **latest;

	while (set && refcount_dec_and_test(&set->ref)) {
		latest = utrace_latest_of(set->cast, set->kthread);
		cmpxchg((struct utrace_set **)latest, set, NULL);
		set = utrace_cast_drop(utrace_set_free(set));
	}
}

/* In which order the classes are called. */
static unsigned int utrace_engine_rank(struct utrace_engine *engine)
{
	static const u8 rank[] = {
		[UTRACE_CLASS_OBSERVER]		= 0,
		[UTRACE_CLASS_MUTATOR]		= 1,
		[UTRACE_CLASS_ENFORCER]		= 2,
		[UTRACE_CLASS_LAST_RESORT]	= 3,
	};

	return rank[utrace_engine_class(engine)];
}

static bool utrace_lists(struct utrace_engine *engine, unsigned long wants,
			 unsigned int event)
{
	if (wants & BIT(event))
		return true;
	/* Told before the events of others, except when nothing is left. */
	return event != _UTRACE_EVENT_REAP &&
	       (wants & UTRACE_EVENT(QUIESCE)) &&
	       !(utrace_engine_state(engine) & UTRACE_STATE_OWN_EVENTS);
}

/**
 * utrace_order - the slots that are called for an event, in the order of the calls
 * @set: the set
 * @event: number of the event
 * @wants: what each engine wants, by slot; NULL: what it wants now
 * @order: filled in
 *
 * Context: Any; the caller has @set pinned or builds it.
 * Return: how many.
 */
unsigned int utrace_order(const struct utrace_set *set, unsigned int event,
			  const u16 *wants, u8 *order)
{
	bool newest_first = event == _UTRACE_EVENT_SYSCALL_ENTRY;
	const u8 *ranks = event == _UTRACE_EVENT_SYSCALL_EXIT ?
			  (const u8 []){ 2, 1, 0, 3 } :
			  (const u8 []){ 0, 1, 2, 3 };
	unsigned int nall = hweight64(set->members);
	unsigned int rank, i, n = 0;

	for (rank = 0; rank < 4; rank++) {
		for (i = 0; i < nall; i++) {
			u8 slot = set->order[newest_first ? nall - 1 - i : i];
			struct utrace_engine *engine = set->engine[slot];
			unsigned long events = wants ? wants[slot] :
					       READ_ONCE(engine->flags);

			if (utrace_engine_rank(engine) == ranks[rank] &&
			    utrace_lists(engine, events, event))
				order[n++] = slot;
		}
	}
	return n;
}

/* Write the list of one event to set->order from @n on; where does it end? */
static unsigned int utrace_set_list(struct utrace_set *set, unsigned int event,
				    const u16 *wants, unsigned int n)
{
	set->start[UTRACE_LIST(event)] = n;
	if (!(set->events & BIT(event)))
		return n;
	return n + utrace_order(set, event, wants, &set->order[n]);
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

/* What the fast pass over a system call does not look at. */
static bool utrace_needs_long_pass(const struct utrace_set *set,
				   unsigned int slot, unsigned long wants)
{
	struct utrace_engine *engine = set->engine[slot];
	unsigned int state = utrace_engine_state(engine);

	return (wants & UTRACE_EVENT(QUIESCE)) ||
	       rcu_access_pointer(engine->filter) ||
	       ((set->entry & BIT_ULL(slot)) &&
		!(state & UTRACE_STATE_HAS_ENTRY)) ||
	       ((set->exit & BIT_ULL(slot)) &&
		!(state & UTRACE_STATE_HAS_EXIT));
}

/* Wants nothing; stands in where a list has no single engine. */
static struct utrace_engine utrace_nobody;

static struct utrace_engine *utrace_sole(const struct utrace_set *set, u64 slots)
{
	if (hweight64(slots) != 1)
		return &utrace_nobody;
	return set->engine[__ffs64(slots)];
}

/* Can the system calls of tasks with this set do with the fast pass? */
static bool utrace_set_is_short(const struct utrace_set *set, const u16 *wants)
{
	u64 left;

	/* An exit without an entry is reported by the slow pass only. */
	if (set->exit & ~set->entry)
		return false;
	for (left = set->members; left; left &= left - 1)
		if (utrace_needs_long_pass(set, __ffs64(left),
					   wants[__ffs64(left)]))
			return false;
	return true;
}

/* The engines are there; now what they want, and what follows from that. */
static void utrace_set_fill(struct utrace_set *set)
{
	unsigned int event, n = hweight64(set->members);
	u16 wants[UTRACE_NSLOTS];
	u64 left, calls = 0;

	for (left = set->members; left; left &= left - 1) {
		unsigned int slot = __ffs64(left);
		struct utrace_engine *engine = set->engine[slot];
		unsigned long events;

		/* Pairs with utrace_engine_touch(): the number first. */
		set->seq[slot] = smp_load_acquire(&engine->seq);
		wants[slot] = READ_ONCE(engine->flags);
		events = utrace_engine_word(engine, wants[slot]);
		set->events |= events;
		if (rcu_access_pointer(engine->info->match)) {
			set->matched |= BIT_ULL(slot);
			set->asked |= events;
		}
		if (wants[slot] & UTRACE_EVENT_SYSCALL)
			calls |= utrace_filter_calls(engine);
	}
	set->start[UTRACE_LIST_ALL] = 0;
	for (event = 0; event < _UTRACE_NEVENTS; event++)
		n = utrace_set_list(set, event, wants, n);
	set->start[UTRACE_NLISTS] = n;
	set->entry = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_ENTRY);
	set->exit = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_EXIT);
	if (set->events & UTRACE_EVENT_SYSCALL)
		set->events |= UTRACE_WORD_UNWANTED & ~calls;
	if (utrace_set_is_short(set, wants))
		set->events |= UTRACE_WORD_FAST;
	set->sole_entry = utrace_sole(set, set->entry);
	set->sole_exit = utrace_sole(set, set->exit);
	/* Every task with engines is to pass the hook at which children inherit. */
	set->events |= UTRACE_EVENT(REAP);
}

/**
 * struct utrace_census - the engines a set is made of
 * @engine: by slot
 * @all: slots in the order of attach, those of the system last
 * @n: elements of @all
 * @sysgen: of utrace_system_gen, before the engines of the system were looked at;
 *	there is a reference on the memory of each of these
 */
struct utrace_census {
	struct utrace_engine *engine[UTRACE_NSLOTS];
	u8 all[UTRACE_NSLOTS];
	unsigned int n;
	unsigned int sysgen;
};

static void utrace_census_take(struct utrace_census *census,
			       const struct utrace_cast *cast, bool kthread)
{
	const struct utrace_system *system;
	unsigned int i;

	census->n = 0;
	for (i = 0; cast && i < cast->nroles; i++) {
		u8 slot = cast->role[i].slot;

		census->engine[slot] = cast->role[i].engine;
		census->all[census->n++] = slot;
	}
	/* The number first; pairs with utrace_system_replace(). */
	census->sysgen = smp_load_acquire(&utrace_system_gen);
	guard(rcu)();
	system = rcu_dereference(utrace_system);
	for (i = 0; i < system->n; i++) {
		struct utrace_engine *engine = system->engine[system->all[i]];
		u8 slot = UTRACE_SYSTEM_SLOT + system->all[i];

		if (!utrace_system_reaches(engine, kthread) ||
		    !utrace_shell_tryget(engine))
			continue;
		census->engine[slot] = engine;
		census->all[census->n++] = slot;
	}
}

static void utrace_census_drop(struct utrace_census *census)
{
	unsigned int i;

	for (i = 0; i < census->n; i++)
		if (census->all[i] >= UTRACE_SYSTEM_SLOT)
			utrace_shell_put(census->engine[census->all[i]]);
}

/*
 * A set of the engines that were found, whose references it takes over.  Tasks of
 * many share it, so nobody's memory cgroup pays.
 */
static struct utrace_set *utrace_set_make(const struct utrace_census *census,
					  struct utrace_cast *cast, bool kthread)
{
	unsigned int i, nslots = 0;
	struct utrace_set *set;

	for (i = 0; i < census->n; i++)
		nslots = max(nslots, census->all[i] + 1U);
	set = kzalloc(struct_size(set, engine, nslots) +
		      nslots * sizeof(*set->seq) + UTRACE_NLISTS * census->n,
		      GFP_KERNEL);
	if (!set)
		return NULL;
	refcount_set(&set->ref, 1);
	set->nslots = nslots;
	set->seq = (u32 *)&set->engine[nslots];
	set->order = (u8 *)&set->seq[nslots];
	set->sysgen = census->sysgen;
	set->kthread = kthread;
	set->cast = utrace_cast_get(cast);
	for (i = 0; i < census->n; i++) {
		u8 slot = census->all[i];

		set->engine[slot] = census->engine[slot];
		set->order[i] = slot;
		set->members |= BIT_ULL(slot);
	}
	utrace_set_fill(set);
	return set;
}

/* Give @set its sets for children. */
static int utrace_set_heirs(struct utrace_set *set)
{
	struct utrace_cast *cast = set->cast;
	unsigned int i;

	for (i = 0; cast && i < UTRACE_NHEIRS; i++) {
		struct utrace_set *heir;

		if (cast->heir[i] == cast) {
			set->heir[i] = set;
		} else if (cast->heir[i]) {
			heir = utrace_set_latest(cast->heir[i], false);
			if (IS_ERR(heir))
				return PTR_ERR(heir);
			set->heir[i] = heir;
		}
	}
	return 0;
}

static struct utrace_set *utrace_set_build(struct utrace_cast *cast, bool kthread)
{
	struct utrace_census census;
	struct utrace_set *set;

	utrace_census_take(&census, cast, kthread);
	if (!census.n)
		return NULL;
	set = utrace_set_make(&census, cast, kthread);
	if (!set) {
		utrace_census_drop(&census);
		return ERR_PTR(-ENOMEM);
	}
	if (utrace_set_heirs(set)) {
		utrace_set_put(set);
		return ERR_PTR(-ENOMEM);
	}
	return set;
}

/**
 * utrace_set_is_current - does a set say what its engines want?
 * @set: the set
 *
 * Context: Any; the caller has a reference, or the lock of a task that has it.
 * Return: false if one of them wants something else since it was made, or there
 * are other engines of the system.
 */
bool utrace_set_is_current(const struct utrace_set *set)
{
	u64 left;

	/*
	 * Old for an instant after the table changed: utrace_system_tell() comes
	 * later, and takes the lock of each task.
	 */
	if (set->sysgen != READ_ONCE(utrace_system_gen))
		return false;
	for (left = set->members; left; left &= left - 1) {
		unsigned int slot = __ffs64(left);

		/* Pairs with utrace_engine_touch(). */
		if (smp_load_acquire(&set->engine[slot]->seq) != set->seq[slot])
			return false;
	}
	return true;
}

/**
 * utrace_set_latest - the set for a cast, with what its engines want now
 * @cast: the cast, on which the caller has a reference; NULL for tasks that only
 *	the system's engines cover
 * @kthread: without @cast: for kernel threads
 *
 * The one that was made last if that is good still; so tasks with the same engines
 * have the same set.
 *
 * Context: May sleep for memory.
 * Return: a set with one reference for the caller; NULL if there are no engines;
 * -ENOMEM.
 */
struct utrace_set *utrace_set_latest(struct utrace_cast *cast, bool kthread)
{
	struct utrace_set __rcu **latest = utrace_latest_of(cast, kthread);
	struct utrace_set *set;

	scoped_guard(rcu) {
		set = rcu_dereference(*latest);
		if (set && !refcount_inc_not_zero(&set->ref))
			set = NULL;
	}
	if (set && utrace_set_is_current(set))
		return set;
	utrace_set_put(set);
	set = utrace_set_build(cast, kthread);
	if (!IS_ERR_OR_NULL(set))
		rcu_assign_pointer(*latest, set);
	return set;
}

/* What a task is given to do. */

/* What there is of a word for threads that run in the kernel only. */
static unsigned long utrace_kernel_events(struct task_struct *task)
{
	unsigned long events = UTRACE_EVENT_KTHREAD;

	/* These never see user mode, only their end is reported. */
	if (task->flags & PF_USER_WORKER)
		events &= ~UTRACE_EVENT(CLONE);
	return events | UTRACE_WORD_REBUILD | UTRACE_WORD_REJECTED;
}

/**
 * utrace_set_word - write the event word of a task
 * @task: the task
 * @events: the word, of which some bits do not go with others, or with @task
 *
 * Context: The task's utrace->lock is held, or utrace_bare_lock.
 */
void utrace_set_word(struct task_struct *task, unsigned long events)
{
	if (unlikely(task->flags & (PF_USER_WORKER | PF_KTHREAD)))
		events &= utrace_kernel_events(task);

	/* What is still to be built may need more, and want more. */
	if (events & UTRACE_WORD_REBUILD)
		events &= ~(UTRACE_WORD_FAST | UTRACE_WORD_UNWANTED);

	utrace_write_word(task, events);
}

/* Slots of @old that hold the same engine in @new. */
u64 utrace_set_same(const struct utrace_set *old,
		    const struct utrace_set *new)
{
	u64 same, left;

	if (!old || !new)
		return 0;
	same = old->members & new->members;
	for (left = same; left; left &= left - 1)
		if (old->engine[__ffs64(left)] != new->engine[__ffs64(left)])
			same &= ~(left & -left);
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

/* What of a word is left when some engines of the set are not to be called. */
static noinline unsigned long utrace_word_muted(const struct utrace_set *set, u64 muted)
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
 * utrace_word_of - the event word that goes with a set
 * @set: the set
 * @muted: slots that are not to be called
 *
 * Context: Any; the caller has a reference, or the lock of a task that has it.
 * Return: the word.
 */
unsigned long utrace_word_of(const struct utrace_set *set, u64 muted)
{
	muted &= set->members;
	return likely(!muted) ? set->events : utrace_word_muted(set, muted);
}

/**
 * utrace_word_now - the event word by what engines want now
 * @task: the task
 * @u: its struct utrace
 *
 * Context: @u->lock is held.
 * Return: the word of a task whose set is to be renewed.
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
	return events | UTRACE_WORD_REBUILD;
}

/**
 * utrace_switch - give a task another set
 * @task: the task
 * @u: its struct utrace
 * @set: the set, with a reference that passes to the task; NULL for none
 * @same: utrace_set_same() of the set of before and @set
 * @muted: slots of @set whose engines reject the task
 * @ask: they have yet to be asked
 *
 * Context: @u->lock is held, and the task is not reaped.
 * Return: the set of before, with the reference to it.  The task may have it
 * pinned.
 */
struct utrace_set *utrace_switch(struct task_struct *task, struct utrace *u,
				 struct utrace_set *set, u64 same, u64 muted,
				 bool ask)
{
	struct utrace_set *old = task->utrace_set;
	bool rebuild = ask || task->utrace_events & UTRACE_WORD_REBUILD;

	lockdep_assert_held(&u->lock);

	u->hold &= same;
	u->step &= same;
	u->block &= same;
	u->fresh |= set ? set->members & ~same : U64_MAX;
	/* An engine that was muted saw no entry either. */
	u->fresh |= u->muted & ~muted & same;
	u->muted = set ? muted & set->members : 0;
	u->flags |= UTRACE_TASK_SLOW;
	/* Whoever asked for a report is gone. */
	if (!set)
		u->resume = UTRACE_RESUME;
	/* Pairs with utrace_pin_try(): the flag before the set. */
	smp_store_release(&task->utrace_set, set);
	/* Wishes that came while this set was made, and questions. */
	if (set && (rebuild || !utrace_set_is_current(set)))
		utrace_set_word(task, utrace_word_now(task, u));
	else
		utrace_set_word(task, set ? utrace_word_of(set, u->muted) :
				      utrace_bare_events(task));
	return old;
}

/**
 * utrace_take_deferred - drop what was left for a pass to drop
 * @u: of a task that has no set pinned, or another one
 *
 * Context: @u->lock is held.  The task itself, its reaper, or utrace_sweep() after
 * utrace_heavy() if the set is not pinned.
 * Return: a set whose reference the caller has to drop; NULL if there is none.
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
 * utrace_pin - the set that this pass walks
 * @u: of the current task
 *
 * Context: The task itself.
 * Return: the published set, valid until utrace_unpin(); NULL if none.
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
 * utrace_told - what others left for the end of a callback, or of a walk
 * @u: of the current task, or of the one it reaps
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
		/* What the callback did is done for those who see it. */
		smp_store_release(&u->passes, u->passes + waited);
		left = u->left;
		u->left = NULL;
	}
	utrace_set_put(drop);
	if (waited) {
		smp_mb(); /* Pairs with the one in prepare_to_wait_event(). */
		wake_up_var(&u->passes);
	}
	if (left)
		utrace_core_put(left);
}
