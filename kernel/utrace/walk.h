/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - walks and batches, which attach and detach share
 *
 * An attach looks for the tasks of its scope that are not covered, a detach for
 * the tasks that still have the engine.  Both keep what they find in a struct
 * utrace_walk and give these tasks the successors of their domains, in batches of
 * up to UTRACE_BATCH tasks.  The memory that tasks may need is allocated before
 * the first task of a batch gets another set.
 */
#ifndef _KERNEL_UTRACE_WALK_H
#define _KERNEL_UTRACE_WALK_H

#include "change.h"

/* The largest number of tasks in a batch. */
#define UTRACE_BATCH		1024

/* Objects in one bulk allocation, which runs with interrupts off. */
#define UTRACE_BULK		8

/**
 * struct utrace_pool - spare memory for the tasks of later updates
 * @nu: number of elements of @u that are left
 * @nmembers: number of elements of @member that are left
 * @u: spare struct utrace
 * @member: spare struct utrace_member
 *
 * Belongs to one walk; utrace_walk_destroy() frees what is left.
 */
struct utrace_pool {
	unsigned int nu;
	unsigned int nmembers;
	struct utrace *u[UTRACE_BULK];
	struct utrace_member *member[UTRACE_BULK];
};

/**
 * struct utrace_walk - state of bringing an engine to tasks or of removing it
 * @change: the engine, and the successors of domains
 * @target: the task where the scope begins, for an attach; the caller has a
 *	reference
 * @found_one: called under RCU for each task that is not covered yet
 * @may: asks about each task in @task before it is covered; may sleep.  NULL:
 *	every task may be covered
 * @data: second argument of @may
 * @task: the tasks that were found, each with a reference
 * @found: number of tasks that were found; if it is more than @max, the rest is
 *	not in @task
 * @max: number of elements of @task
 * @known: a set that has the engine, only compared, valid during one look under
 *	RCU; or NULL
 * @update: the updates of the present batch
 * @nupdates: number of elements of @update
 * @nspares: number of elements of @update that were given spares for the last
 *	batch
 * @taken: number of elements of @update that tasks took in the last batch
 * @missed: number of tasks for which the last batch had no spares or no
 *	successor
 * @covered: number of tasks that got the engine so far
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
