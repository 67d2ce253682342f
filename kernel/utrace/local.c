// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what a client keeps for a task
 *
 * A list that only the task itself walks and changes, and whoever frees the
 * task.  Owners may end before it does: they set ->owner to NULL, and the task
 * drops such entries when it gets a new one.
 */
#include "internal.h"
#include "local.h"

/**
 * utrace_local_find - what an owner keeps for the current task
 * @owner: the owner
 *
 * Context: A callback, in the task itself.
 * Return: what utrace_local_add() was given, NULL if there is nothing.
 */
struct utrace_local *utrace_local_find(const void *owner)
{
	struct utrace_local *local = current->utrace->local;

	while (local && READ_ONCE(local->owner) != owner)
		local = local->next;
	return local;
}

/**
 * utrace_local_add - keep something for the current task
 * @local: with @owner and @put; there is none of this owner yet
 *
 * Context: A callback, in the task itself.  May call ->put() of others.
 */
void utrace_local_add(struct utrace_local *local)
{
	struct utrace_local **p = &current->utrace->local, *old;

	while ((old = *p)) {
		if (READ_ONCE(old->owner)) {
			p = &old->next;
			continue;
		}
		*p = old->next;
		old->put(old);
	}
	local->next = NULL;
	*p = local;
}

/**
 * utrace_local_drop - the end of a task
 * @u: of the task, which nobody has any more
 *
 * Context: Any.
 */
void utrace_local_drop(struct utrace *u)
{
	struct utrace_local *local = u->local, *next;

	for (; local; local = next) {
		next = local->next;
		local->put(local);
	}
}
