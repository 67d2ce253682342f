// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what a client keeps for a task
 *
 * A list that only the task itself walks and changes, and whoever frees the
 * task.  Owners may end before it does: they set ->owner to NULL, and the task
 * drops such entries when it gets a new one.
 */
#include "internal.h"
#include "task_data.h"

/**
 * utrace_task_data_find - what an owner keeps for the current task
 * @owner: the owner
 *
 * Context: A callback, in the task itself.
 * Return: what utrace_task_data_add() was given, NULL if there is nothing.
 */
struct utrace_task_data *utrace_task_data_find(const void *owner)
{
	struct utrace_task_data *data = current->utrace->task_data;

	while (data && READ_ONCE(data->owner) != owner)
		data = data->next;
	return data;
}

/**
 * utrace_task_data_add - keep something for the current task
 * @data: with @owner and @put; there is none of this owner yet
 *
 * Context: A callback, in the task itself.  May call ->put() of others.
 */
void utrace_task_data_add(struct utrace_task_data *data)
{
	struct utrace_task_data **p = &current->utrace->task_data, *old;

	while ((old = *p)) {
		if (READ_ONCE(old->owner)) {
			p = &old->next;
			continue;
		}
		*p = old->next;
		old->put(old);
	}
	data->next = NULL;
	*p = data;
}

/**
 * utrace_task_data_drop - the end of a task
 * @u: of the task, which nobody has any more
 *
 * Context: Any.
 */
void utrace_task_data_drop(struct utrace *u)
{
	struct utrace_task_data *data = u->task_data, *next;

	for (; data; data = next) {
		next = data->next;
		data->put(data);
	}
}
