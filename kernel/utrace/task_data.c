// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - data that clients keep for a task
 *
 * Each task has a list of entries.  Only the task itself walks and changes the
 * list, and the function that frees the task; so no lock is needed.  While the
 * task cannot run, another task may search the list (utrace_blocked_data()).
 * The scheduler may search it after preempting the task at any point in this
 * file, so every entry can be found at all times, except the one that is being
 * advanced.  An owner that ends before the task sets ->owner of its entries to
 * NULL, and the task drops such entries when it adds another one.
 */
#include "task_data.h"

/*
 * The last entry of each list, without an owner: the list is never empty, so
 * the first entry can be read without a check for NULL.
 */
struct utrace_task_data utrace_task_data_end;

/**
 * utrace_task_data_search() - utrace_task_data_find() for any place in the list
 * @owner: see utrace_task_data_find()
 *
 * Context: See utrace_task_data_find().
 * Return: See utrace_task_data_find().
 */
struct utrace_task_data *utrace_task_data_search(const void *owner)
{
	struct utrace_task_data *data = current->utrace->task_data;

	while (data && READ_ONCE(data->owner) != owner)
		data = data->next;
	return data;
}

/**
 * utrace_task_data_of() - find the entry of an owner for a task that is off CPU
 * @task: the task, which is about to run on this CPU
 * @owner: the owner, which is only compared; its entries must not be advanced
 *
 * Context: In the scheduler.
 * Return:
 * * the entry
 * * NULL - the task has no entry of @owner
 */
struct utrace_task_data *utrace_task_data_of(struct task_struct *task,
					     const void *owner)
{
	struct utrace *u = READ_ONCE(task->utrace);
	struct utrace_task_data *data = u ? READ_ONCE(u->task_data) : NULL;

	while (data && READ_ONCE(data->owner) != owner)
		data = READ_ONCE(data->next);
	return data;
}

/**
 * utrace_task_data_add() - add an entry for the current task
 * @data: the entry, with ->owner and ->put set; the task has no entry of this
 *	owner
 *
 * Drops the entries of owners that have ended.
 *
 * Context: A callback in the task itself.  May call ->put() of other entries.
 */
void utrace_task_data_add(struct utrace_task_data *data)
{
	struct utrace_task_data **list = &current->utrace->task_data;
	struct utrace_task_data **p = list, *old;

	while ((old = *p) != &utrace_task_data_end) {
		if (READ_ONCE(old->owner)) {
			p = &old->next;
			continue;
		}
		*p = old->next;
		old->put(old);
	}
	/* To the front, where utrace_task_data_find() checks first. */
	data->next = *list;
	barrier();	/* For utrace_task_data_of(). */
	WRITE_ONCE(*list, data);
}

/**
 * utrace_task_data_advance() - move an entry to the front of the list
 * @owner: the owner of the entry, which is only compared
 *
 * Afterwards utrace_task_data_keyed() finds the entry.
 *
 * Context: A callback in the task itself.
 * Return: false if the entry is already at the front, or does not exist.
 */
bool utrace_task_data_advance(const void *owner)
{
	struct utrace_task_data **list = &current->utrace->task_data;
	struct utrace_task_data **p = list, *data;

	while (*p && READ_ONCE((*p)->owner) != owner)
		p = &(*p)->next;
	if (!*p || p == list)
		return false;
	data = *p;
	WRITE_ONCE(*p, data->next);
	barrier();	/* For utrace_task_data_of(). */
	data->next = *list;
	barrier();	/* For utrace_task_data_of(). */
	WRITE_ONCE(*list, data);
	return true;
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

	for (; data != &utrace_task_data_end; data = next) {
		next = data->next;
		data->put(data);
	}
}
