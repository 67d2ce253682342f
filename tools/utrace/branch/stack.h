/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - call stacks, rebuilt from branches
 */
#ifndef UTRACE_BRANCH_STACK_H
#define UTRACE_BRANCH_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "lib/pairs.h"

/**
 * struct node - a function that was called by a certain chain of callers
 * @parent: the node of its caller; a root is its own parent
 * @function: the function
 * @weight: number of branches that were taken in it
 */
struct node {
	unsigned int parent;
	unsigned int function;
	__u64 weight;
};

/**
 * struct tree - all chains of calls of functions
 * @pairs: numbers of nodes, by their parent and their function
 * @nodes: the nodes; a parent has a smaller number than its children
 * @size: allocated elements
 */
struct tree {
	struct pairs pairs;
	struct node *nodes;
	size_t size;
};

/**
 * struct frame - a function that was called and has not returned
 * @node: its node, which knows the function
 * @call: address of the call; 0: the function was entered without a call
 * @signal: the function is the handler of a signal
 */
struct frame {
	unsigned int node;
	__u64 call;
	bool signal;
};

/**
 * struct stack - the stack of a task
 * @tree: the tree
 * @root: function at the root: the program
 * @frames: the frames, the innermost one last
 * @n: number of frames; 0: the stack is not known
 * @size: allocated elements
 * @beyond: number of calls beyond STACK_MAX frames
 */
struct stack {
	struct tree *tree;
	unsigned int root;
	struct frame *frames;
	size_t n;
	size_t size;
	__u64 beyond;
};

/* Maximum number of frames of a stack. */
#define STACK_MAX	1000

struct utrace_branch;

/* The numbers of the places of a record. */
struct places {
	unsigned int from;
	unsigned int to;
};

void stack_reset(struct stack *stack, unsigned int program);
void stack_take(struct stack *stack, const struct utrace_branch *record,
		const struct places *places);

#endif /* UTRACE_BRANCH_STACK_H */
