// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - call stacks, rebuilt from branches
 *
 * A call pushes a frame.  A return pops the innermost frame whose call is
 * directly before the target of the return, and all frames above it, however
 * they were left.  A jump to a function further down on the stack is a
 * longjmp() or an exception.  Any other jump between functions is a tail call.
 * A return without a matching call is handled as such a jump: the caller
 * replaces a function whose call was not seen.
 */
#include <stdlib.h>

#include <linux/utrace_branch.h>

#include "lib/memory.h"
#include "places.h"
#include "stack.h"

/* Maximum bytes of an instruction. */
#define INSN_MAX	15

static unsigned int child_of(struct tree *tree, unsigned int parent,
			     unsigned int function)
{
	unsigned int n = tree->pairs.n;
	unsigned int i = pairs_add(&tree->pairs, parent, function);

	if (i < n)
		return i;
	tree->nodes = grow(tree->nodes, n, &tree->size, sizeof(*tree->nodes));
	tree->nodes[n] = (struct node){
		.parent = parent == PAIRS_NONE ? n : parent,
		.function = function,
	};
	return n;
}

static struct frame *top(struct stack *stack)
{
	return &stack->frames[stack->n - 1];
}

static unsigned int function_at(const struct stack *stack, size_t i)
{
	return stack->tree->nodes[stack->frames[i].node].function;
}

static void push(struct stack *stack, unsigned int function, __u64 call,
		 bool signal)
{
	unsigned int parent;

	if (stack->n == STACK_MAX) {
		stack->beyond++;
		return;
	}
	parent = stack->n ? top(stack)->node :
		 child_of(stack->tree, PAIRS_NONE, stack->root);
	stack->frames = grow(stack->frames, stack->n, &stack->size,
			     sizeof(*stack->frames));
	stack->frames[stack->n++] = (struct frame){
		.node = child_of(stack->tree, parent, function),
		.call = call,
		.signal = signal,
	};
}

/* Pop all frames but @n. */
static void cut(struct stack *stack, size_t n)
{
	if (n < stack->n)
		stack->beyond = 0;
	stack->n = n;
}

/* Replace the innermost function by @function. */
static void become(struct stack *stack, unsigned int function)
{
	struct frame old = {};

	if (stack->n && function_at(stack, stack->n - 1) == function)
		return;
	if (stack->n)
		old = stack->frames[--stack->n];
	push(stack, function, old.call, old.signal);
}

/* Handle a jump, or any branch that is neither call nor return. */
static void jump(struct stack *stack, unsigned int function, bool entry)
{
	size_t i;

	if (function_at(stack, stack->n - 1) == function)
		return;
	for (i = stack->n - 1; !entry && i--;) {
		if (function_at(stack, i) != function)
			continue;
		cut(stack, i + 1);
		return;
	}
	become(stack, function);
}

static void take_return(struct stack *stack, __u64 to, unsigned int function,
			bool entry)
{
	size_t i;

	for (i = stack->n; i--;) {
		__u64 call = stack->frames[i].call;

		if (!call || to <= call || to - call > INSN_MAX)
			continue;
		/* A call beyond the last frame may be from the same place. */
		if (i == stack->n - 1 && stack->beyond &&
		    function_at(stack, i) == function)
			break;
		cut(stack, i);
		if (!stack->n)
			push(stack, function, 0, false);
		become(stack, function);
		return;
	}
	if (stack->beyond)
		stack->beyond--;
	else
		jump(stack, function, entry);
}

static void take_sigreturn(struct stack *stack, unsigned int function)
{
	size_t i;

	for (i = stack->n; i--;) {
		if (!stack->frames[i].signal)
			continue;
		cut(stack, i);
		break;
	}
	if (!stack->n)
		push(stack, function, 0, false);
	jump(stack, function, false);
}

/* Handle a branch from the kernel. */
static void take_entry(struct stack *stack, const struct utrace_branch *record,
		       unsigned int function)
{
	switch (record->from) {
	case UTRACE_PC_SIGNAL:
		push(stack, function, 0, true);
		break;
	case UTRACE_PC_SIGRETURN:
		take_sigreturn(stack, function);
		break;
	default:
		jump(stack, function, false);
	}
}

/* Reset the stack of a task that runs @program. */
void stack_reset(struct stack *stack, unsigned int program)
{
	cut(stack, 0);
	stack->root = program;
}

/**
 * stack_take() - update the stack for a branch, and count the branch
 * @stack: the stack of the task
 * @record: the branch
 * @places: the places of the branch
 */
void stack_take(struct stack *stack, const struct utrace_branch *record,
		const struct places *places)
{
	unsigned int from = place_get(places->from)->function;
	unsigned int to = place_get(places->to)->function;
	bool entry = place_is_entry(place_get(places->to));

	if (!stack->n)
		push(stack, record->from < UTRACE_PC_BASE ? from : to, 0, false);
	if (record->from < UTRACE_PC_BASE && !stack->beyond)
		become(stack, from);
	stack->tree->nodes[top(stack)->node].weight++;
	if (record->to >= UTRACE_PC_BASE)
		return;
	if (record->from >= UTRACE_PC_BASE) {
		take_entry(stack, record, to);
		return;
	}
	switch (UTRACE_BRANCH_KIND(record->info)) {
	case UTRACE_BR_CALL:
	case UTRACE_BR_IND_CALL:
		push(stack, to, record->from, false);
		break;
	case UTRACE_BR_RET:
		take_return(stack, record->to, to, entry);
		break;
	default:
		if (!stack->beyond)
			jump(stack, to, entry);
	}
}
