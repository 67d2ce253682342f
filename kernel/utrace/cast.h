/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - casts: which engines cover a task
 *
 * Only an attach or a detach makes casts, see change.h.
 */
#ifndef _KERNEL_UTRACE_CAST_H
#define _KERNEL_UTRACE_CAST_H

#include "internal.h"

struct utrace_set;
struct utrace_successor;

/* The part of a cast that a new thread or process inherits. */
enum utrace_heir {
	UTRACE_HEIR_THREAD,	/* process and tree scope */
	UTRACE_HEIR_PROCESS,	/* tree scope */
	UTRACE_NHEIRS
};

/**
 * struct utrace_role - an engine's place in a cast
 * @list: entry in utrace_engine_info::roles; changed under utrace_engine_lock,
 *	read under RCU
 * @engine: the engine; the cast has a reference to its memory
 * @cast: the cast that has this role
 * @slot: the slot of @engine in every set that is made for @cast
 */
struct utrace_role {
	struct list_head list;
	struct utrace_engine *engine;
	struct utrace_cast *cast;
	u8 slot;
};

/**
 * struct utrace_cast - the engines that cover a task, without the system's
 * @ref: references: one for each set made for the cast, for each cast that has
 *	it as @heir, for each utrace_successor of it, and those that functions
 *	hold while they work on it
 * @lock: protects changes of @members
 * @members: a struct utrace_member for each task that has a set of the cast;
 *	empty unless @listed.  Changed under @lock, read under RCU
 * @latest: the last set made for the cast, not counted.  Read under RCU by
 *	utrace_set_latest(), cleared by the last utrace_set_put() of that set
 * @heir: by enum utrace_heir, the cast of a child, counted; NULL if a child
 *	inherits no engine; the cast itself, not counted, if a child inherits
 *	all
 * @next: a set of the cast that replaces this one, counted; NULL if no engine
 *	is left.  Valid once @replaced is set, until utrace_uncover_casts()
 *	drops it when no task has the cast any more.  Changed under
 *	utrace_change_mutex
 * @replaced: an engine of the cast is detached, and children get @next.  Set
 *	once, under utrace_change_mutex; utrace_heir() reads it with acquire
 * @listed: an engine of the cast has process or tree scope, so that its tasks
 *	are in @members
 * @succ: the successor of the cast in the round that is going on, else NULL;
 *	under utrace_change_mutex
 * @rcu: frees the cast when readers of @members and of utrace_role::list are
 *	done
 * @nroles: number of elements of @role
 * @role: the engines, in the order of attach
 *
 * Immutable except for @ref, @members, @latest, @next, @replaced and @succ.
 * Attach and detach make casts, a fork hands them on; no other event makes one.
 */
struct utrace_cast {
	refcount_t ref;
	spinlock_t lock;	/* innermost lock, interrupts off */
	struct list_head members;
	struct utrace_set __rcu *latest;
	struct utrace_cast *heir[UTRACE_NHEIRS];
	struct utrace_set *next;
	bool replaced;
	bool listed;
	struct utrace_successor *succ;
	struct rcu_head rcu;
	unsigned int nroles;
	struct utrace_role role[] __counted_by(nroles);
};

/**
 * struct utrace_member - a task's entry in the list of its cast
 * @list: entry in utrace_cast::members, or empty if the cast is not listed;
 *	changed under utrace_cast::lock, read under RCU
 * @task: the task, not counted: the entry leaves the list when the task is
 *	reaped
 * @cast: the cast whose list has the entry; the set of the task has a reference
 *	to it
 * @rcu: frees the entry when readers of the list are done
 */
struct utrace_member {
	struct list_head list;
	struct task_struct *task;
	struct utrace_cast *cast;
	struct rcu_head rcu;
};

struct utrace_cast *utrace_cast_get(struct utrace_cast *cast);
struct utrace_set * __must_check utrace_cast_drop(struct utrace_cast *cast);
void utrace_cast_put(struct utrace_cast *cast);
struct utrace_member *utrace_member_alloc(gfp_t gfp);
unsigned int utrace_member_alloc_bulk(gfp_t gfp, unsigned int n,
				      struct utrace_member **member);
void utrace_member_join(struct utrace_member *member, struct task_struct *task,
			struct utrace_cast *cast);
void utrace_member_leave(struct utrace_member *member);

#endif /* _KERNEL_UTRACE_CAST_H */
