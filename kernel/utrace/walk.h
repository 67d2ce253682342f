/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - walks and batches, which attach and detach share
 *
 * An attach looks for tasks of its scope that do not have the engine, a detach
 * for tasks that still have it.  A struct utrace_walk collects the tasks.  They
 * get sets of new domains in batches of up to UTRACE_BATCH tasks, and
 * utrace_change_mutex is held for one batch at a time.  All memory that a batch
 * may need is allocated before the first of its tasks gets another set.
 */
#ifndef _KERNEL_UTRACE_WALK_H
#define _KERNEL_UTRACE_WALK_H

#include "change.h"

/* The largest number of tasks in a batch. */
#define UTRACE_BATCH		1024

/* Objects in one bulk allocation, which runs with interrupts off. */
#define UTRACE_BULK		8

/**
 * struct utrace_pool - preallocated memory for updates
 * @nu: number of unused elements of @u
 * @nmembers: number of unused elements of @member
 * @u: spare struct utrace
 * @member: spare struct utrace_member
 *
 * Belongs to one walk; utrace_walk_destroy() frees the unused elements.
 */
struct utrace_pool {
	unsigned int nu;
	unsigned int nmembers;
	struct utrace *u[UTRACE_BULK];
	struct utrace_member *member[UTRACE_BULK];
};

/**
 * struct utrace_walk - state of adding an engine to tasks or removing it
 * @change: the engine, and the successors of domains
 * @target: for an attach, the task where the scope begins; the caller has a
 *	reference
 * @found_one: for an attach, called under RCU for each task that lacks the
 *	engine
 * @may: permission check for each element of @task before the engine is added;
 *	may sleep.  NULL: every task is permitted
 * @data: second argument of @may
 * @task: the tasks found, each with a reference
 * @found: number of tasks found; those above @max are not in @task
 * @max: number of elements of @task
 * @known: cache of a set that has the engine, or NULL; only compared, and valid
 *	during one walk under RCU
 * @update: the updates of the current batch
 * @nupdates: number of elements of @update
 * @nspares: for the last batch of an attach, number of elements of @update with
 *	spare memory
 * @taken: number of these elements that were used
 * @missed: for the last batch of an attach, number of tasks for which there was
 *	no spare memory or no successor
 * @covered: number of tasks that got another set so far
 * @pool: spare memory for updates
 *
 * Lives on the stack of the task that attaches or detaches.
 */
struct utrace_walk {
	struct utrace_change change;
	struct task_struct *target;
	void (*found_one)(struct utrace_walk *walk, struct task_struct *task);
	bool (*may)(struct task_struct *task, void *data);
	void *data;
	struct task_struct **task;
	unsigned int found;
	unsigned int max;
	struct utrace_set *known;
	struct utrace_update *update;
	unsigned int nupdates;
	unsigned int nspares;
	unsigned int taken;
	unsigned int missed;
	unsigned int covered;
	struct utrace_pool pool;
};

void utrace_walk_init(struct utrace_walk *walk, struct utrace_engine *engine);
void utrace_walk_drop_tasks(struct utrace_walk *walk);
void utrace_walk_destroy(struct utrace_walk *walk);
int utrace_walk_alloc_updates(struct utrace_walk *walk, unsigned int n);
void utrace_batch_finish(struct utrace_walk *walk, unsigned int n);
int utrace_run_batches(struct utrace_walk *walk, bool killable);
int utrace_update_init(struct utrace_walk *walk, struct utrace_update *update,
		       struct task_struct *task, unsigned int more);
struct utrace_member *utrace_walk_member(struct utrace_walk *walk,
					 unsigned int more);
struct utrace_domain *utrace_domain_of(struct task_struct *task);
void utrace_drop_spares(struct utrace_update *update, unsigned int n);

#endif /* _KERNEL_UTRACE_WALK_H */
