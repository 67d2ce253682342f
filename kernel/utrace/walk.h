/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what attach and detach share: tasks that are found, and rounds
 */
#ifndef _KERNEL_UTRACE_WALK_H
#define _KERNEL_UTRACE_WALK_H

#include "internal.h"

/* Tasks that get another set together. */
#define UTRACE_ROUND		1024

/* Objects that are allocated together, with interrupts off. */
#define UTRACE_BULK		8

/**
 * struct utrace_pool - memory for tasks that get their first set, or another one
 * @nu: elements of @u that are there
 * @nmembers: elements of @member that are there
 * @u: each for one task
 * @member: each for one task
 */
struct utrace_pool {
	unsigned int nu;
	unsigned int nmembers;
	struct utrace *u[UTRACE_BULK];
	struct utrace_member *member[UTRACE_BULK];
};

/**
 * struct utrace_walk - an engine comes to its tasks, or goes from them
 * @change: what becomes of their casts
 * @target: where the scope begins
 * @found_one: what is done with each task that is found to want the engine
 * @may: asked about each task that is found, with @data; or NULL
 * @data: for @may
 * @task: what was found, counted
 * @found: how many; may be more than @max
 * @max: elements of @task
 * @known: a set that has the engine, for the length of one look
 * @turn: of a round
 * @nturns: elements of @turn
 * @nspares: of @turn, those that have spares, for the last round
 * @taken: of those, turns that were taken
 * @missed: tasks that found no spares in the last round, or no successor
 * @covered: tasks that have got the engine
 * @kthread: for kernel threads that an engine of the system leaves, counted
 * @pool: what turns are given
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
	struct utrace_turn *turn;
	unsigned int nturns;
	unsigned int nspares;
	unsigned int taken;
	unsigned int missed;
	unsigned int covered;
	struct utrace_set *kthread;
	struct utrace_pool pool;
};

void utrace_walk_init(struct utrace_walk *walk, struct utrace_engine *engine);
void utrace_walk_drop_tasks(struct utrace_walk *walk);
void utrace_walk_destroy(struct utrace_walk *walk);
int utrace_walk_turns(struct utrace_walk *walk, unsigned int n);
void utrace_walk_settle(struct utrace_walk *walk, unsigned int n);
int utrace_rounds(struct utrace_walk *walk, bool killable);
int utrace_turn_init(struct utrace_walk *walk, struct utrace_turn *turn,
		     struct task_struct *task, unsigned int more);
struct utrace_member *utrace_walk_member(struct utrace_walk *walk, gfp_t gfp,
					 unsigned int more);
struct utrace_cast *utrace_cast_of(struct task_struct *task);
void utrace_drop_spares(struct utrace_turn *turn, unsigned int n);
void utrace_drop_members(struct utrace_turn *turn, unsigned int n);

#endif /* _KERNEL_UTRACE_WALK_H */
