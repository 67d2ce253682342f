// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - data that clients keep for a task
 *
 * Each task has a list of entries.  Only the task itself walks and changes the
 * list, and the function that frees the task; so no lock is needed.  An owner
 * that ends before the task sets ->owner of its entries to NULL, and the task
 * drops such entries when it adds another one.
 */
#include "internal.h"
#include "task_data.h"

/**
 * utrace_task_data_find() - find the entry of an owner for the current task
 * @owner: the owner, which is only compared
 *
 * Context: A callback in the task itself.
 * Return:
 * * the entry
 * * NULL - the task has none of @owner
 */
struct utrace_task_data *utrace_task_data_find(const void *owner)
{
	struct utrace_task_data *data = current->utrace->task_data;

	while (data && READ_ONCE(data->owner) != owner)
		data = data->next;
	return data;
}

/**
 * utrace_task_data_add() - add an entry for the current task
 * @data: the entry, with ->owner and ->put set; the task has none of this owner
 *	yet
 *
 * Drops the entries of owners that have ended.
 *
 * Context: A callback in the task itself.  May call ->put() of other entries.
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
 * utrace_task_data_drop() - drop all entries of a task
 * @u: struct utrace of a task that is being freed, or of no task
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
