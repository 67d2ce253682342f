/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - changes: tasks get another domain, because an engine comes or goes
 *
 * A change knows which domain follows each domain that it meets.  A update gives one
 * task the set of that domain.
 */
#ifndef _KERNEL_UTRACE_CHANGE_H
#define _KERNEL_UTRACE_CHANGE_H

#include "domain.h"

/**
 * struct utrace_successor - the set that tasks of a domain get in its place
 * @list: entry in utrace_change::list
 * @domain: the domain that is replaced, counted; NULL stands for tasks without a
 *	domain
 * @kthread: these tasks are kernel threads; only without @domain
 * @set: a set of the domain that follows, counted; NULL if no engine is left
 *
 * Used under utrace_change_mutex, and freed by the walk that made it.
 */
struct utrace_successor {
	struct list_head list;
	struct utrace_domain *domain;
	bool kthread;
	struct utrace_set *set;
};

/**
 * struct utrace_change - successors of domains when an engine comes or goes
 * @engine: the engine that is added to domains, or removed if it is detached; the
 *	caller has a reference
 * @list: the struct utrace_successor of each domain that was met
 * @bare: the successors for user tasks and for kernel threads without a domain,
 *	which are in @list too; or NULL
 * @going: a detached engine that takes a slot, with a count in
 *	utrace_engine_info::core; or NULL.  See utrace_change_make_room()
 * @noio: for memalloc_noio_restore(), in a batch
 *
 * Belongs to one walk.  Each batch uses it under utrace_change_mutex.
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
 * struct utrace_update - one task in a batch
 * @task: the task; the caller has a reference
 * @u: a spare struct utrace for a task that has none, or NULL; the caller frees
 *	it if it is left over
 * @member: a spare struct utrace_member, or NULL; after utrace_update_task() the one
 *	that the task had before, which utrace_update_drop_old() frees.  The caller frees
 *	the spare of a update that was not taken
 * @set: the set that the task is to get; the caller has a reference
 * @old: the set that the task had, with the reference of the task; or NULL
 * @pinned: @old is in utrace::deferred, since a pass may have it pinned
 * @done: the task got the set
 *
 * Used under utrace_change_mutex, but for @u.
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
