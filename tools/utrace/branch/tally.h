/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - statistics of recorded branches
 */
#ifndef UTRACE_BRANCH_TALLY_H
#define UTRACE_BRANCH_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/types.h>

#include "lib/pairs.h"
#include "stack.h"

/* Statistics of a task; @id is that of UTRACE_BRANCH_TASK. */
struct tally_task {
	struct pair id;
	struct stack stack;
	__u64 branches;
};

/* Statistics of a function. */
struct tally_function {
	__u64 branches;
	__u64 calls;
};

/**
 * struct tally_edge - a branch from one place to another
 * @places: the places
 * @kind: enum utrace_branch_kind
 * @taken: number of times that it was taken
 */
struct tally_edge {
	struct places places;
	unsigned int kind;
	__u64 taken;
};

/**
 * struct tally - all statistics
 * @tree: branches by the stack of calls
 * @task_ids: numbers of tasks
 * @tasks: the tasks
 * @tasks_size: allocated elements
 * @edge_pairs: numbers of edges, by the numbers of their places
 * @edges: the edges
 * @edges_size: allocated elements
 * @functions: by the numbers of functions
 * @nfunctions: number of elements of @functions
 * @task: number of the task of the current records, PAIRS_NONE at first
 * @branches: records of branches
 * @lost: branches that were lost, by the records
 * @gaps: number of gaps in the records
 * @hidden: how often a task was hidden
 */
struct tally {
	struct tree tree;
	struct pairs task_ids;
	struct tally_task *tasks;
	size_t tasks_size;
	struct pairs edge_pairs;
	struct tally_edge *edges;
	size_t edges_size;
	struct tally_function *functions;
	size_t nfunctions;
	unsigned int task;
	__u64 branches;
	__u64 lost;
	__u64 gaps;
	__u64 hidden;
};

void tally_begin(struct tally *tally);
void tally_take(struct tally *tally, const struct utrace_branch *record);

#endif /* UTRACE_BRANCH_TALLY_H */
