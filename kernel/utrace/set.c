// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - engine sets: the engines of a task, in lists by event
 *
 * A set is made from a domain, the system engines, and the events, filters and
 * matches of all of them.  It is immutable, and tasks with the same engines
 * share it.  A change of an engine invalidates the set: the sequence numbers in
 * the set (->seq, ->sysgen) no longer match.  Each task then takes a newer set
 * at its next event, see renew.c.
 */
#include <linux/bitops.h>
#include <linux/slab.h>

#include "engine.h"
#include "scope_system.h"
#include "set.h"
#include "syscall_filter.h"

/* References */

/**
 * utrace_set_slot() - find the slot of an engine
 * @set: the set, or NULL; the caller has a reference, a lock or a pin, or is
 *	under RCU
 * @engine: the engine, which is only compared
 *
 * Context: Any.
 * Return:
 * * the slot
 * * -1 - @engine is not in @set
 */
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

/**
 * utrace_set_get() - take a reference
 * @set: the set, or NULL; another reference or a lock of the caller keeps it
 *
 * Context: Any.
 * Return: @set.
 */
struct utrace_set *utrace_set_get(struct utrace_set *set)
{
	if (set)
		refcount_inc(&set->ref);
	return set;
}

/*
 * Cache of the latest sets for user tasks and for kernel threads without a
 * domain, which only system engines cover.  Not counted, like
 * utrace_domain::latest.
 */
static struct utrace_set __rcu *utrace_latest_bare[2];

static struct utrace_set __rcu **utrace_latest_of(struct utrace_domain *domain,
						  bool kthread)
{
	return domain ? &domain->latest : &utrace_latest_bare[kthread];
}

/* The slots of system engines. */
#define UTRACE_SYSTEM_SLOTS	GENMASK_ULL(UTRACE_NSLOTS - 1, UTRACE_SYSTEM_SLOT)

/* Free a set.  Returns its domain with the reference of the set. */
static struct utrace_domain *utrace_set_free(struct utrace_set *set)
{
	struct utrace_domain *domain = set->domain;
	unsigned int i;
	u64 left;

	for (i = 0; i < UTRACE_NCHILDREN; i++)
		if (set->inherited[i] != set)
			utrace_set_put(set->inherited[i]);
	for (left = set->members & UTRACE_SYSTEM_SLOTS; left; left &= left - 1)
		utrace_shell_put(set->engine[__ffs64(left)]);
	kfree_rcu(set, rcu);
	return domain;
}

/**
 * utrace_set_put() - drop a reference
 * @set: the set, or NULL
 *
 * The last put frees the set.  If it frees the domain too, a loop drops the
 * reference of the domain to the next set.
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 */
void utrace_set_put(struct utrace_set *set)
{
	struct utrace_set __rcu **latest;

	while (set && refcount_dec_and_test(&set->ref)) {
		latest = utrace_latest_of(set->domain, set->kthread);
		cmpxchg((struct utrace_set **)latest, set, NULL);
		set = utrace_domain_drop(utrace_set_free(set));
	}
}

/* Check whether an engine belongs in the list of an event. */
static bool utrace_lists(struct utrace_engine *engine, unsigned long wants,
			 unsigned int event)
{
	if (wants & BIT(event))
		return true;
	/*
	 * QUIESCE is reported before each event of any engine, unless the
	 * engine was attached with OWN_EVENTS.  Not before REAP: the task is
	 * gone.
	 */
	return event != _UTRACE_EVENT_REAP &&
	       (wants & UTRACE_EVENT(QUIESCE)) &&
	       !(utrace_engine_state(engine) & UTRACE_STATE_OWN_EVENTS);
}

/**
 * utrace_order() - list the slots to call for an event
 * @set: the set, which the caller has pinned or is making
 * @event: the number of the event, _UTRACE_EVENT_*
 * @wants: by slot, the events that each engine wants; NULL: read
 *	utrace_engine::flags
 * @order: filled in, in the order of the calls; has room for all slots of @set
 *
 * Context: Any.
 * Return: the number of slots in @order.
 */
unsigned int utrace_order(const struct utrace_set *set, unsigned int event,
			  const u16 *wants, u8 *order)
{
	static const u8 classes[2][4] = {
		{ UTRACE_CLASS_OBSERVER, UTRACE_CLASS_MUTATOR,
		  UTRACE_CLASS_ENFORCER, UTRACE_CLASS_LAST_RESORT },
		/* At SYSCALL_EXIT. */
		{ UTRACE_CLASS_ENFORCER, UTRACE_CLASS_MUTATOR,
		  UTRACE_CLASS_OBSERVER, UTRACE_CLASS_LAST_RESORT },
	};
	const u8 *class = classes[event == _UTRACE_EVENT_SYSCALL_EXIT];
	bool newest_first = event == _UTRACE_EVENT_SYSCALL_ENTRY;
	unsigned int nall = hweight64(set->members);
	unsigned int k, i, n = 0;

	for (k = 0; k < 4; k++) {
		for (i = 0; i < nall; i++) {
			u8 slot = set->order[newest_first ? nall - 1 - i : i];
			struct utrace_engine *engine = set->engine[slot];
			unsigned long events = wants ? wants[slot] :
					       READ_ONCE(engine->flags);

			if (utrace_engine_class(engine) == class[k] &&
			    utrace_lists(engine, events, event))
				order[n++] = slot;
		}
	}
	return n;
}

/*
 * Write the list of one event to set->order from index @n on.  Returns the
 * index where the list ends.
 */
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

/* Check whether an engine needs something that only the slow pass does. */
static bool utrace_needs_slow_pass(const struct utrace_set *set,
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

/* Wants no event.  See utrace_set::sole_entry. */
static struct utrace_engine utrace_dummy_engine;

static struct utrace_engine *utrace_sole(const struct utrace_set *set,
					 u64 slots)
{
	if (hweight64(slots) != 1)
		return &utrace_dummy_engine;
	return set->engine[__ffs64(slots)];
}

/* Check whether tasks with the set can take the fast pass over system calls. */
static bool utrace_set_is_fast(const struct utrace_set *set, const u16 *wants)
{
	u64 left;

	/*
	 * An engine that wants exits but no entries gets unpaired exits, which
	 * only the slow pass reports.
	 */
	if (set->exit & ~set->entry)
		return false;
	for (left = set->members; left; left &= left - 1)
		if (utrace_needs_slow_pass(set, __ffs64(left),
					   wants[__ffs64(left)]))
			return false;
	return true;
}

/* wants[] has the events of an engine in a u16. */
static_assert(_UTRACE_NEVENTS <= 16);

/*
 * Read what the engines of the set want.  Fills in their sequence numbers, the
 * event word without UNWANTED, and the events by slot in @wants.  Returns the
 * bits of the system calls that an engine may want, at the position of
 * UTRACE_WORD_UNWANTED.
 */
static u64 utrace_set_read_wants(struct utrace_set *set, u16 *wants)
{
	u64 left, calls = 0;

	for (left = set->members; left; left &= left - 1) {
		unsigned int slot = __ffs64(left);
		struct utrace_engine *engine = set->engine[slot];
		unsigned long events;

		/* Number before flags; pairs with utrace_engine_touch(). */
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
	return calls;
}

/* Fill in the members that depend on what the engines of the set want. */
static void utrace_set_fill(struct utrace_set *set)
{
	unsigned int event, n = hweight64(set->members);
	u16 wants[UTRACE_NSLOTS];
	u64 calls = utrace_set_read_wants(set, wants);

	set->start[UTRACE_LIST_ALL] = 0;
	for (event = 0; event < _UTRACE_NEVENTS; event++)
		n = utrace_set_list(set, event, wants, n);
	set->start[UTRACE_NLISTS] = n;
	set->entry = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_ENTRY);
	set->exit = utrace_set_slots(set, _UTRACE_EVENT_SYSCALL_EXIT);
	if (set->events & UTRACE_EVENT_SYSCALL)
		set->events |= UTRACE_WORD_UNWANTED & ~calls;
	if (utrace_set_is_fast(set, wants))
		set->events |= UTRACE_WORD_FAST;
	set->sole_entry = utrace_sole(set, set->entry);
	set->sole_exit = utrace_sole(set, set->exit);
	/* A word is never 0 with a set: utrace_fork() tests it for any bit. */
	set->events |= UTRACE_EVENT(REAP);
}

/**
 * struct utrace_snapshot - the engines of a set that is being made
 * @engine: by slot, the engine.  The domain keeps its engines; the snapshot has
 *	a reference to the memory of each system engine
 * @all: the slots in use, in the order of attach, system engines last
 * @n: number of elements of @all
 * @sysgen: utrace_system_gen, read before the table of system engines
 *
 * Lives on the stack of the task that makes the set.
 */
struct utrace_snapshot {
	struct utrace_engine *engine[UTRACE_NSLOTS];
	u8 all[UTRACE_NSLOTS];
	unsigned int n;
	unsigned int sysgen;
};

static void utrace_snapshot_take(struct utrace_snapshot *snapshot,
				 const struct utrace_domain *domain,
				 bool kthread)
{
	const struct utrace_system *system;
	unsigned int i;

	snapshot->n = 0;
	for (i = 0; domain && i < domain->nlinks; i++) {
		u8 slot = domain->link[i].slot;

		snapshot->engine[slot] = domain->link[i].engine;
		snapshot->all[snapshot->n++] = slot;
	}
	/* Number before table; pairs with utrace_system_change(). */
	snapshot->sysgen = smp_load_acquire(&utrace_system_gen);
	guard(rcu)();
	system = rcu_dereference(utrace_system);
	for (i = 0; i < system->n; i++) {
		struct utrace_engine *engine = system->engine[system->all[i]];
		u8 slot = UTRACE_SYSTEM_SLOT + system->all[i];

		if (!utrace_system_reaches(engine, kthread) ||
		    !utrace_shell_tryget(engine))
			continue;
		snapshot->engine[slot] = engine;
		snapshot->all[snapshot->n++] = slot;
	}
}

static void utrace_snapshot_drop(struct utrace_snapshot *snapshot)
{
	unsigned int i;

	for (i = 0; i < snapshot->n; i++)
		if (snapshot->all[i] >= UTRACE_SYSTEM_SLOT)
			utrace_shell_put(snapshot->engine[snapshot->all[i]]);
}

/*
 * Make a set of the engines of a snapshot.  Consumes its references.  The
 * memory is charged to the caller: the first task that needs the set, or the
 * task that attaches.  Returns NULL without memory.
 */
static struct utrace_set *
utrace_set_make(const struct utrace_snapshot *snapshot,
		struct utrace_domain *domain, bool kthread)
{
	unsigned int i, nslots = 0;
	struct utrace_set *set;

	for (i = 0; i < snapshot->n; i++)
		nslots = max(nslots, snapshot->all[i] + 1U);
	set = kzalloc(struct_size(set, engine, nslots) +
		      nslots * sizeof(*set->seq) + UTRACE_NLISTS * snapshot->n,
		      GFP_KERNEL_ACCOUNT);
	if (!set)
		return NULL;
	refcount_set(&set->ref, 1);
	set->nslots = nslots;
	set->seq = (u32 *)&set->engine[nslots];
	set->order = (u8 *)&set->seq[nslots];
	set->sysgen = snapshot->sysgen;
	set->kthread = kthread;
	set->domain = utrace_domain_get(domain);
	for (i = 0; i < snapshot->n; i++) {
		u8 slot = snapshot->all[i];

		set->engine[slot] = snapshot->engine[slot];
		set->order[i] = slot;
		set->members |= BIT_ULL(slot);
	}
	utrace_set_fill(set);
	return set;
}

/* Fill in the sets that children inherit.  Returns 0 or -ENOMEM. */
static int utrace_set_add_inherited(struct utrace_set *set)
{
	struct utrace_domain *domain = set->domain;
	unsigned int i;

	for (i = 0; domain && i < UTRACE_NCHILDREN; i++) {
		struct utrace_set *inherited;

		if (domain->inherited[i] == domain) {
			set->inherited[i] = set;
		} else if (domain->inherited[i]) {
			inherited = utrace_set_latest(domain->inherited[i],
						      false);
			if (IS_ERR(inherited))
				return PTR_ERR(inherited);
			set->inherited[i] = inherited;
		}
	}
	return 0;
}

static struct utrace_set *utrace_set_build(struct utrace_domain *domain,
					   bool kthread)
{
	struct utrace_snapshot snapshot;
	struct utrace_set *set;

	utrace_snapshot_take(&snapshot, domain, kthread);
	if (!snapshot.n)
		return NULL;
	set = utrace_set_make(&snapshot, domain, kthread);
	if (!set) {
		utrace_snapshot_drop(&snapshot);
		return ERR_PTR(-ENOMEM);
	}
	if (utrace_set_add_inherited(set)) {
		utrace_set_put(set);
		return ERR_PTR(-ENOMEM);
	}
	return set;
}

/**
 * utrace_set_is_current() - check whether a set is up to date
 * @set: the set; the caller has a reference, or utrace->lock of a task that has
 *	it
 *
 * Context: Any.
 * Return: false if the events, filter or match of an engine of the set, or the
 * table of system engines, have changed since the set was made.
 */
bool utrace_set_is_current(const struct utrace_set *set)
{
	u64 left;

	/*
	 * The load may return the number from before a change of the table.
	 * utrace_system_refresh() then runs later, and sets UTRACE_WORD_RENEW
	 * under utrace->lock of each task.
	 */
	if (set->sysgen != READ_ONCE(utrace_system_gen))
		return false;
	for (left = set->members; left; left &= left - 1) {
		unsigned int slot = __ffs64(left);

		/* Number before flags; pairs with utrace_engine_touch(). */
		if (smp_load_acquire(&set->engine[slot]->seq) != set->seq[slot])
			return false;
	}
	return true;
}

/**
 * utrace_set_latest() - get an up-to-date set for a domain
 * @domain: the domain, to which the caller has a reference; NULL for tasks that
 *	only system engines cover
 * @kthread: the set is for kernel threads; only without @domain
 *
 * Returns the cached set if it is current, so that tasks with the same engines
 * share it, else makes a new one.
 *
 * Context: May sleep for memory.
 * Return:
 * * the set, with a reference for the caller
 * * NULL - there are no engines
 * * -ENOMEM - no memory
 */
struct utrace_set *utrace_set_latest(struct utrace_domain *domain, bool kthread)
{
	struct utrace_set __rcu **latest = utrace_latest_of(domain, kthread);
	struct utrace_set *set;

	scoped_guard(rcu) {
		set = rcu_dereference(*latest);
		if (set && !refcount_inc_not_zero(&set->ref))
			set = NULL;
	}
	if (set && utrace_set_is_current(set))
		return set;
	utrace_set_put(set);
	set = utrace_set_build(domain, kthread);
	if (!IS_ERR_OR_NULL(set))
		rcu_assign_pointer(*latest, set);
	return set;
}

/**
 * utrace_set_same() - find the slots that have the same engine in two sets
 * @old: a set, or NULL
 * @new: a set, or NULL; references or locks of the caller keep both sets
 *
 * Context: Any.
 * Return: a bitmap of slots.
 */
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

/**
 * utrace_set_present() - find the slots whose engines are in two sets, attached
 * @old: a set that the task had, or NULL
 * @set: the set that the task has now, or NULL; references or locks of the
 *	caller keep both sets
 *
 * Context: Any.
 * Return: the slots of utrace_set_same() whose engines are not detached.
 */
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
