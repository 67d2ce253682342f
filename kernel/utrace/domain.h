/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - domains: which engines cover a task
 *
 * An engine covers a task if the events of the task are reported to it.  A
 * domain is a counted list of the engines that cover a task, except system
 * engines, which are in no domain.  Tasks with the same engines share a domain.
 * A child inherits the domain of its parent, or one with some of these engines.
 * Only an attach or a detach makes domains, see change.h.
 */
#ifndef _KERNEL_UTRACE_DOMAIN_H
#define _KERNEL_UTRACE_DOMAIN_H

#include "internal.h"

struct utrace_set;
struct utrace_successor;

/* Kinds of child, each with the scopes of the engines that it inherits. */
enum utrace_child {
	UTRACE_CHILD_THREAD,	/* process and tree scope */
	UTRACE_CHILD_PROCESS,	/* tree scope */
	UTRACE_NCHILDREN
};

/**
 * struct utrace_link - link between an engine and a domain that lists it
 * @list: entry in utrace_engine_info::links; changed under utrace_engine_lock,
 *	read under RCU
 * @engine: the engine; the domain has a reference to its memory
 * @domain: the domain that contains this link
 * @slot: the slot of @engine in every set that is made for @domain
 */
struct utrace_link {
	struct list_head list;
	struct utrace_engine *engine;
	struct utrace_domain *domain;
	u8 slot;
};

/**
 * struct utrace_domain - the engines that cover a task, without system engines
 * @ref: references: one for each set made for the domain, one for each other
 *	domain whose @inherited points to it, one for each utrace_successor that
 *	replaces it, and those of functions that use it
 * @lock: protects changes of @members
 * @members: a struct utrace_member for each task that has a set of the domain;
 *	empty unless @listed.  Changed under @lock, read under RCU
 * @latest: cache of the set that was made last for the domain, not counted.
 *	Read under RCU by utrace_set_latest(), cleared by the last
 *	utrace_set_put() of that set
 * @inherited: by enum utrace_child, the domain of a child, counted; NULL if a
 *	child inherits no engine; the domain itself, not counted, if a child
 *	inherits all engines
 * @next: a set of the domain that replaces this one, counted; NULL if no engine
 *	is left.  Valid once @replaced is set, until utrace_uncover_domains()
 *	drops it, when no task uses the domain.  Changed under
 *	utrace_change_mutex
 * @replaced: an engine of the domain is detached, and children get @next.  Set
 *	once, under utrace_change_mutex; utrace_inherited_set() reads it with
 *	acquire semantics
 * @listed: an engine of the domain has process or tree scope, so the tasks of
 *	the domain are in @members
 * @succ: the successor of the domain during a batch, else NULL; under
 *	utrace_change_mutex
 * @rcu: frees the domain when readers of @members and of utrace_link::list are
 *	done
 * @nlinks: number of elements of @link
 * @link: the engines, in the order of attach
 *
 * Immutable except for @ref, @members, @latest, @next, @replaced and @succ.
 */
struct utrace_domain {
	refcount_t ref;
	spinlock_t lock;	/* innermost lock, interrupts off */
	struct list_head members;
	struct utrace_set __rcu *latest;
	struct utrace_domain *inherited[UTRACE_NCHILDREN];
	struct utrace_set *next;
	bool replaced;
	bool listed;
	struct utrace_successor *succ;
	struct rcu_head rcu;
	unsigned int nlinks;
	struct utrace_link link[] __counted_by(nlinks);
};

/**
 * struct utrace_member - entry of a task in the list of its domain
 * @list: entry in utrace_domain::members, or empty if the domain is not listed;
 *	changed under utrace_domain::lock, read under RCU
 * @task: the task, not counted: the entry leaves the list when the task is
 *	reaped
 * @domain: the domain that lists the task; the set of the task has a reference
 *	to it
 * @rcu: frees the entry when readers of the list are done
 */
struct utrace_member {
	struct list_head list;
	struct task_struct *task;
	struct utrace_domain *domain;
	struct rcu_head rcu;
};

struct utrace_domain *utrace_domain_get(struct utrace_domain *domain);
struct utrace_set * __must_check
utrace_domain_drop(struct utrace_domain *domain);
void utrace_domain_put(struct utrace_domain *domain);
struct utrace_member *utrace_member_alloc(gfp_t gfp);
unsigned int utrace_member_alloc_bulk(gfp_t gfp, unsigned int n,
				      struct utrace_member **member);
void utrace_member_join(struct utrace_member *member, struct task_struct *task,
			struct utrace_domain *domain);
void utrace_member_leave(struct utrace_member *member);

#endif /* _KERNEL_UTRACE_DOMAIN_H */
