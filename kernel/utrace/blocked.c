// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - access to the state of a blocked task by another task
 *
 * Some members of struct utrace are for the task itself only.  Another task may
 * read them while the task cannot run: the task has left its CPU and its run
 * queue, and the reader holds its pi_lock, without which nobody wakes it.
 * task_call_func() takes this lock; it also orders the reads behind all that
 * the task has stored before it was blocked.
 */
#include "blocked.h"
#include "scope.h"
#include "task_data.h"

/*
 * Arguments of utrace_visit_covered(), passed through utrace_visit_members().
 */
struct utrace_each {
	utrace_covered_fn fn;
	void *arg;
};

static unsigned int utrace_each_member(struct utrace_engine *engine,
				       struct task_struct *task,
				       struct utrace *u, u64 bit, void *arg)
{
	const struct utrace_each *each = arg;

	each->fn(task, bit, each->arg);
	return 0;
}

/**
 * utrace_visit_covered() - call a function for the tasks that an engine covers
 * @engine: the engine, which is not one of the system; the caller has a
 *	reference
 * @fn: called with the task, the slot of @engine in the set of the task, as a
 *	bit, and @arg.  The slot stays as it is until @engine is detached.  May
 *	be called twice for a task
 * @arg: last argument of @fn
 *
 * Visits dead tasks, too.  See utrace_visit_members() for tasks that are
 * created or exit during the call.
 *
 * Context: Any but NMI, without siglock.  @fn is called under RCU and the
 * task's utrace->lock.
 */
void utrace_visit_covered(struct utrace_engine *engine, utrace_covered_fn fn,
			  void *arg)
{
	struct utrace_each each = { .fn = fn, .arg = arg };

	utrace_visit_members(engine, NULL, utrace_each_member, &each);
}

/**
 * utrace_blocked_in_report() - check whether a task is blocked in a report
 * @task: a task that an engine covers; it is blocked, and its pi_lock is held
 *
 * Context: Any but NMI.
 * Return: true if @task walks a set, and so is in the report of an event.
 */
bool utrace_blocked_in_report(struct task_struct *task)
{
	return READ_ONCE(task->utrace->pinned);
}

/**
 * utrace_blocked_in_call() - check whether an engine saw a call's entry
 * @task: a task that the engine covers; it is blocked, and its pi_lock is held
 * @slot: the slot of the engine, from utrace_visit_covered()
 *
 * Context: Any but NMI.
 * Return:
 * * true - the entry of the present system call was reported to the engine, and
 *   neither the exit of the call nor that of the task has been reported
 * * false - otherwise; the engine may have been attached after the entry
 */
bool utrace_blocked_in_call(struct task_struct *task, u64 slot)
{
	struct utrace *u = task->utrace;

	return READ_ONCE(u->entered) & ~READ_ONCE(u->fresh) & slot;
}

/**
 * utrace_blocked_data() - find the data that an owner keeps for a task
 * @task: a task that an engine covers; it is blocked, and its pi_lock is held
 * @owner: the owner, which is only compared
 *
 * Context: Any but NMI.
 * Return:
 * * the entry - valid as long as @task stays blocked
 * * NULL - @owner has no data for the task
 */
struct utrace_task_data *utrace_blocked_data(struct task_struct *task,
					     const void *owner)
{
	struct utrace_task_data *data = task->utrace->task_data;

	while (data && READ_ONCE(data->owner) != owner)
		data = data->next;
	return data;
}
