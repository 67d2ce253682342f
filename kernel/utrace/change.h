/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - changes: tasks get another domain when an engine is added or removed
 *
 * Domains are immutable.  To add or remove an engine, an attach or a detach
 * makes a successor for each domain that it finds, and gives each task a set of
 * the successor.  A struct utrace_change keeps the successors.  A struct
 * utrace_update describes the change of one task's set.
 */
#ifndef _KERNEL_UTRACE_CHANGE_H
#define _KERNEL_UTRACE_CHANGE_H

#include "domain.h"

/**
 * struct utrace_successor - what replaces a domain
 * @list: entry in utrace_change::list
 * @domain: the domain that is replaced, counted; NULL for tasks without a
 *	domain
 * @kthread: the tasks are kernel threads; only without @domain
 * @set: a set of the new domain, counted; NULL if no engine is left
 *
 * Used under utrace_change_mutex.  Freed by the walk that made it.
 */
struct utrace_successor {
	struct list_head list;
	struct utrace_domain *domain;
	bool kthread;
	struct utrace_set *set;
};

/**
 * struct utrace_change - successors of domains for one added or removed engine
 * @engine: the engine that is added to domains, or removed from them if it is
 *	detached; the caller has a reference
 * @list: a struct utrace_successor for each domain found so far
 * @bare: the successors for user tasks and for kernel threads without a domain,
 *	which are in @list too; NULL if not made yet
 * @going: a detached engine that still occupies a slot, with a count in
 *	utrace_engine_info::core; or NULL.  See utrace_change_make_room()
 * @noio: for memalloc_noio_restore(), during a batch
 *
 * Belongs to one walk.  Used under utrace_change_mutex during a batch.
 */
struct utrace_change {
	struct utrace_engine *engine;
	struct list_head list;
	struct utrace_successor *bare[2];
	struct utrace_engine *going;
	unsigned int noio;
};

/* domain.c */
extern struct mutex utrace_change_mutex;
int utrace_change_begin(struct utrace_change *change, bool killable);
void utrace_change_end(struct utrace_change *change);
void utrace_change_destroy(struct utrace_change *change);
struct utrace_successor *utrace_change_make(struct utrace_change *change,
					    struct utrace_domain *domain,
					    bool kthread);
struct utrace_successor *utrace_change_find(struct utrace_change *change,
					    struct utrace_domain *domain,
					    bool kthread);

/**
 * struct utrace_update - change of the set of one task, in a batch
 * @task: the task; the caller has a reference
 * @u: a spare struct utrace for a task without one, or NULL; the caller frees
 *	it if it was not used
 * @member: a spare struct utrace_member, or NULL.  utrace_update_task()
 *	exchanges it for the one that the task had, which
 *	utrace_update_drop_old() frees.  The caller frees it if @done is not set
 * @set: the new set of the task; the caller has a reference
 * @old: the old set, with the reference that the task had; or NULL
 * @pinned: @old is in utrace::deferred, since a pass may have it pinned
 * @done: the task got the new set
 *
 * Used under utrace_change_mutex, except for @u.
 */
struct utrace_update {
	struct task_struct *task;
	struct utrace *u;
	struct utrace_member *member;
	struct utrace_set *set;
	struct utrace_set *old;
	bool pinned;
	bool done;
};

/* publish.c */
void utrace_update_task(struct utrace_update *update, struct utrace_set *set);
void utrace_update_drop_old(struct utrace_update *updates, unsigned int n);

#endif /* _KERNEL_UTRACE_CHANGE_H */
