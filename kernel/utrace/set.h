/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sets: the engines of a task, in lists by event
 *
 * A set has the engines of a domain and the system engines, and for each event
 * the list of engines to call.  Each engine of a set has a slot, a number that
 * is a bit in the bitmaps of struct utrace.
 */
#ifndef _KERNEL_UTRACE_SET_H
#define _KERNEL_UTRACE_SET_H

#include "domain.h"

/*
 * Engines of domains have the slots below UTRACE_SYSTEM_SLOT, system engines
 * have the slots from there on, so neither kind can exhaust the slots of the
 * other.  In each domain UTRACE_KEPT_SLOTS slots are reserved for privileged
 * engines, see utrace_is_crowded().
 */
#define UTRACE_NSLOTS		64
#define UTRACE_SYSTEM_SLOT	UTRACE_MAX_ENGINES
#define UTRACE_KEPT_SLOTS	8

static_assert(UTRACE_MAX_ENGINES + UTRACE_MAX_SYSTEM == UTRACE_NSLOTS);

/*
 * Lists of a set: the first has all slots in the order of attach, system
 * engines last.  Each other list has the slots to call for one event, in the
 * order of the calls.
 */
#define UTRACE_LIST_ALL		0
#define UTRACE_LIST(event)	((event) + 1)
#define UTRACE_NLISTS		(_UTRACE_NEVENTS + 1)

/**
 * struct utrace_set - the engines of a task, in lists by event
 * @ref: references: one for each task whose ->utrace_set or utrace::deferred
 *	points to the set, one for each other set whose @inherited points to it,
 *	one for each utrace_domain::next, one for each utrace_successor, and
 *	those of functions that use it
 * @nslots: number of elements of @engine and @seq
 * @start: by list, the index in @order where the list begins; the list ends
 *	where the next one begins
 * @events: the event word of a task with the set, if no engine rejects the task
 * @asked: the events that engines with a match want
 * @sysgen: utrace_system_gen, read before the table of system engines
 * @kthread: the set is for kernel threads; such a set has no @domain
 * @members: slots that have an engine
 * @matched: slots whose engine has a match
 * @entry: slots in the list of SYSCALL_ENTRY
 * @exit: slots in the list of SYSCALL_EXIT
 * @sole_entry: the engine in the list of SYSCALL_ENTRY if there is exactly one,
 *	else a dummy engine that wants no event, so that the fast pass needs no
 *	NULL check
 * @sole_exit: the engine in the list of SYSCALL_EXIT if there is exactly one,
 *	else the dummy engine
 * @domain: the domain that the set was made for, counted; NULL if the set has
 *	system engines only
 * @inherited: by enum utrace_child, the set of a child, counted; NULL if a
 *	child inherits no engine; the set itself, not counted, if a child
 *	inherits all engines of @domain
 * @rcu: frees the set when readers under RCU are done
 * @order: the slots of all lists, list after list
 * @seq: by slot, utrace_engine::seq, read before the flags of the engine
 * @engine: by slot, the engine.  @domain has a reference to the memory of its
 *	engines, the set has one to the memory of each system engine
 *
 * Immutable except for @ref.  A newer set for the same domain may exist if an
 * engine has changed its events, filter or match.  An engine keeps its slot in
 * all sets of all successors of the domain.
 *
 * A task that has the set pinned reads it without a lock.  Any other reader has
 * a reference, or holds utrace->lock of a task that has the set.  A reader that
 * is only under RCU may compare engines and try to take a reference.
 */
struct utrace_set {
	refcount_t ref;
	unsigned int nslots;
	u16 start[UTRACE_NLISTS + 1];
	unsigned long events;
	unsigned long asked;
	unsigned int sysgen;
	bool kthread;
	u64 members;
	u64 matched;
	u64 entry;
	u64 exit;
	struct utrace_engine *sole_entry;
	struct utrace_engine *sole_exit;
	struct utrace_domain *domain;
	struct utrace_set *inherited[UTRACE_NCHILDREN];
	struct rcu_head rcu;
	u8 *order;
	u32 *seq;
	struct utrace_engine *engine[] __counted_by(nslots);
};

struct utrace_set *utrace_set_get(struct utrace_set *set);
void utrace_set_put(struct utrace_set *set);
int utrace_set_slot(const struct utrace_set *set,
		    const struct utrace_engine *engine);
u64 utrace_set_same(const struct utrace_set *old,
		    const struct utrace_set *new);
u64 utrace_set_present(const struct utrace_set *old,
		       const struct utrace_set *set);
struct utrace_set *utrace_set_latest(struct utrace_domain *domain,
				     bool kthread);
bool utrace_set_is_current(const struct utrace_set *set);
unsigned int utrace_order(const struct utrace_set *set, unsigned int event,
			  const u16 *wants, u8 *order);

/**
 * struct utrace_place - the position of a walk over a list of engines
 * @i: index in the list
 * @slot: the slot at that index
 * @engine: the engine in that slot, kept by the set
 */
struct utrace_place {
	unsigned int i;
	unsigned int slot;
	struct utrace_engine *engine;
};

static __always_inline bool utrace_place_in(const struct utrace_set *set,
					    const u8 *order, unsigned int n,
					    struct utrace_place *at)
{
	if (at->i >= n)
		return false;
	at->slot = order[at->i];
	at->engine = set->engine[at->slot];
	return true;
}

/* Walk a list of a set.  The loop declares @at, a struct utrace_place. */
#define utrace_set_for_each(set, list, at)				\
	for (struct utrace_place at = { .i = (set)->start[list] };	\
	     utrace_place_in(set, (set)->order,				\
			     (set)->start[(list) + 1], &at);		\
	     at.i++)

#endif /* _KERNEL_UTRACE_SET_H */
