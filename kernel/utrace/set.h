/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sets: what a task must call
 */
#ifndef _KERNEL_UTRACE_SET_H
#define _KERNEL_UTRACE_SET_H

#include "domain.h"

/*
 * Slots of a set.  Engines of domains have the slots below UTRACE_SYSTEM_SLOT,
 * engines of the system have the others, so that neither kind can take the
 * slots of the other.  A domain whose engines leave no more than
 * UTRACE_KEPT_SLOTS slots takes privileged engines only, see
 * utrace_is_crowded().
 */
#define UTRACE_NSLOTS		64
#define UTRACE_SYSTEM_SLOT	UTRACE_MAX_ENGINES
#define UTRACE_KEPT_SLOTS	8

static_assert(UTRACE_MAX_ENGINES + UTRACE_MAX_SYSTEM == UTRACE_NSLOTS);

/*
 * Lists of a set: the first has all slots in the order of attach, those of the
 * system last; each other list has, for one event, the slots to be called in
 * the order of the calls.
 */
#define UTRACE_LIST_ALL		0
#define UTRACE_LIST(event)	((event) + 1)
#define UTRACE_NLISTS		(_UTRACE_NEVENTS + 1)

/**
 * struct utrace_set - what a task must call, in lists for its passes
 * @ref: references: one for each task that has the set as ->utrace_set or as
 *	utrace::deferred, for each set that has it as @inherited, for each domain that
 *	has it as @next, for each utrace_successor, and those that functions
 *	hold while they work on it
 * @nslots: number of elements of @engine and @seq
 * @start: by list, the index in @order where the list begins and where the list
 *	before it ends
 * @events: the event word of a task with the set, if no engine rejects the task
 * @asked: the events that engines with a match want
 * @sysgen: utrace_system_gen, read before the engines of the system were
 * @kthread: the set is for kernel threads; such a set has no @domain
 * @members: slots that have an engine
 * @matched: slots whose engine has a match
 * @entry: slots in the list of SYSCALL_ENTRY
 * @exit: slots in the list of SYSCALL_EXIT
 * @sole_entry: the one engine in the list of SYSCALL_ENTRY.  If there is none
 *	or more than one, an engine that wants nothing, so that the fast pass
 *	needs no NULL check
 * @sole_exit: likewise for SYSCALL_EXIT
 * @domain: the domain that the set was made for, counted; NULL if the set has
 *	engines of the system only
 * @inherited: by enum utrace_child, the set of a child, counted; NULL if a child
 *	inherits no engine; the set itself, not counted, if @domain is its own
 *	heir
 * @rcu: frees the set when readers under RCU are done
 * @order: slots, list after list
 * @seq: by slot, utrace_engine::seq, read before the flags of the engine
 * @engine: by slot, the engine; @domain has a reference to the memory of its
 *	engines, the set has one to that of each engine of the system
 *
 * Immutable except for @ref.  A newer set for the same domain may exist, made
 * from what its engines want now.  An engine keeps its slot in every set of
 * every domain that follows.
 *
 * A task that has the set pinned reads it without a lock.  Any other reader has
 * a reference, or holds utrace->lock of a task that has the set.  Under RCU
 * alone a reader may compare engines and try to take a reference, no more.
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

/*
 * Walk a list of a set in the order of the calls.  The loop declares @at, a
 * struct utrace_place.
 */
#define utrace_set_for_each(set, list, at)				\
	for (struct utrace_place at = { .i = (set)->start[list] };	\
	     utrace_place_in(set, (set)->order,				\
			     (set)->start[(list) + 1], &at);		\
	     at.i++)

#endif /* _KERNEL_UTRACE_SET_H */
