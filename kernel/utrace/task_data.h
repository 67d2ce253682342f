/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - data that clients keep for a task
 *
 * For a client that looks up its data at every event: the lookup takes a few
 * instructions, and the task drops the data when it ends.
 */
#ifndef _KERNEL_UTRACE_TASK_DATA_H
#define _KERNEL_UTRACE_TASK_DATA_H

#include <linux/compiler.h>
#include <linux/sched.h>

#include "internal.h"

/**
 * struct utrace_task_data - head of the data that a client keeps for a task
 * @next: the next entry in the list of the task; used only by the task, except
 *	by utrace_blocked_data() and utrace_task_data_of()
 * @owner: the owner of the entry, which is only compared.  The owner may set it
 *	to NULL at any time, after which the task does not find the entry
 * @key: identifies the entry for an inlined path of the owner.  No two owners
 *	use the same number; 0 is no key
 * @put: called when the task drops the entry, after which the task does not use
 *	it; may be called from softirqs
 *
 * The entry is in the list of the task from utrace_task_data_add() to @put.
 */
struct utrace_task_data {
	struct utrace_task_data *next;
	const void *owner;
	u64 key;
	void (*put)(struct utrace_task_data *data);
};

struct utrace_task_data *utrace_task_data_search(const void *owner);
struct utrace_task_data *utrace_task_data_of(struct task_struct *task,
					     const void *owner);
bool utrace_task_data_advance(const void *owner);
void utrace_task_data_add(struct utrace_task_data *data);
void utrace_task_data_drop(struct utrace *u);

extern struct utrace_task_data utrace_task_data_end;

/**
 * utrace_task_data_find() - find the entry of an owner for the current task
 * @owner: the owner, which is only compared
 *
 * Context: A callback in the task itself.
 * Return:
 * * the entry
 * * NULL - the task has no entry of @owner
 */
static inline struct utrace_task_data *utrace_task_data_find(const void *owner)
{
	struct utrace_task_data *data = current->utrace->task_data;

	if (likely(READ_ONCE(data->owner) == owner))
		return data;
	return utrace_task_data_search(owner);
}

/**
 * utrace_task_data_first() - check the owner of the first entry in the list
 * @owner: the owner, which is only compared
 * @data: set to the first entry
 *
 * Context: A callback in the task itself.
 * Return: true if @data is of @owner; else see utrace_task_data_advance().
 */
static __always_inline bool
utrace_task_data_first(const void *owner, struct utrace_task_data **data)
{
	*data = current->utrace->task_data;
	return likely(READ_ONCE((*data)->owner) == owner);
}

/**
 * utrace_task_data_keyed() - check the key of the first entry in the list
 * @key: a key, not 0
 * @data: set to the first entry
 *
 * Context: A callback in the task itself.
 * Return: true if @data has @key; else see utrace_task_data_advance().
 */
static __always_inline bool
utrace_task_data_keyed(u64 key, struct utrace_task_data **data)
{
	*data = current->utrace->task_data;
	return likely((*data)->key == key);
}

#endif /* _KERNEL_UTRACE_TASK_DATA_H */
