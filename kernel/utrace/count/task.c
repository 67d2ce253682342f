// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - counts of system calls: tasks, and the room for counts
 *
 * The list of tasks has a reference to each task, so the counts of a task
 * remain after its death.  The number of counts is bounded, and the oldest dead
 * tasks make room for new counts (merge.c).  The number of tasks without counts
 * has no limit, but each new task removes a few dead ones, so there are not
 * many more than living tasks.
 */
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "count.h"

/* Number of tasks that a new task checks, see count_sweep(). */
#define COUNT_SWEEP	4

/*
 * Number of tasks that a walk visits before it drops utrace_counts.lock.  The
 * list may have any length, and preemption is off under the lock.
 */
#define COUNT_STEPS	64

/**
 * utrace_counts_init() - initialize the counts of a client
 * @counts: the counts
 * @limit: maximum number of counts, each for one task and one call
 * @ops: callbacks of the client
 *
 * A count takes 256 bytes, and a task the structure of the client.
 *
 * Context: Any.
 */
void utrace_counts_init(struct utrace_counts *counts, unsigned int limit,
			const struct utrace_count_ops *ops)
{
	unsigned int i;

	*counts = (struct utrace_counts){
		.ops = ops,
		.limit = limit,
		.next_id = 1,
	};
	INIT_LIST_HEAD(&counts->tasks);
	spin_lock_init(&counts->lock);
	for (i = 0; i < UTRACE_COUNT_WALKS; i++)
		counts->at[i] = &counts->tasks;
}

/* Advance a walk.  Returns the next task, or NULL at the end of the list. */
static struct utrace_count_task *count_next(struct utrace_counts *counts,
					    enum utrace_count_walk walk)
{
	lockdep_assert_held(&counts->lock);

	counts->at[walk] = counts->at[walk]->next;
	if (counts->at[walk] == &counts->tasks)
		return NULL;
	return list_entry(counts->at[walk], struct utrace_count_task, list);
}

static void count_free_task(struct rcu_head *rcu)
{
	struct utrace_count_task *task =
		container_of(rcu, struct utrace_count_task, rcu);
	struct utrace_count *count;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < UTRACE_COUNT_CHAINS; i++)
		hlist_for_each_entry_safe(count, next, &task->table[i], node)
			kfree(count);
	put_pid(task->pid);
	put_pid(task->tgid);
	task->ops->free(task);
}

/* Free a task after a grace period, since readers may still use it. */
static void count_release_task(struct kref *ref)
{
	struct utrace_count_task *task =
		container_of(ref, struct utrace_count_task, ref);

	call_rcu(&task->rcu, count_free_task);
}

/**
 * utrace_count_put_task() - drop the client's reference to a task
 * @task: the task; the reference is consumed
 *
 * Context: Any.
 */
void utrace_count_put_task(struct utrace_count_task *task)
{
	kref_put(&task->ref, count_release_task);
}

/* Remove @task from the list unless it was removed before. */
static void count_remove_task(struct utrace_counts *counts,
			      struct utrace_count_task *task)
{
	unsigned int i;

	lockdep_assert_held(&counts->lock);

	if (!task->listed)
		return;
	task->listed = false;
	if (rcu_access_pointer(counts->merged) == task)
		RCU_INIT_POINTER(counts->merged, NULL);
	for (i = 0; i < UTRACE_COUNT_WALKS; i++)
		if (counts->at[i] == &task->list)
			counts->at[i] = task->list.prev;
	list_del_rcu(&task->list);
	WRITE_ONCE(counts->ncounts, counts->ncounts - task->ncounts);
	if (task->ops->forget)
		task->ops->forget(task);
	utrace_count_put_task(task);
}

static bool count_is_dead(const struct utrace_count_task *task)
{
	return !pid_has_task(task->pid, PIDTYPE_PID);
}

/**
 * utrace_counts_end() - remove all tasks from counts
 * @counts: the counts; there are no tasks that count and no readers left
 *
 * Context: May sleep.  Takes utrace_counts.lock, for one task at a time.
 */
void utrace_counts_end(struct utrace_counts *counts)
{
	struct utrace_count_task *task;

	do {
		scoped_guard(spinlock, &counts->lock) {
			task = list_first_entry_or_null(&counts->tasks,
							struct utrace_count_task,
							list);
			if (task)
				count_remove_task(counts, task);
		}
		cond_resched();
	} while (task);
}

/*
 * Remove some dead tasks with ids below @end.  If ->merged is set, it was set
 * after utrace_counts_clear() began, so it stays.  Returns true if there may be
 * more.
 */
static bool count_clear_some(struct utrace_counts *counts, u64 end)
{
	struct utrace_count_task *task;
	unsigned int i;

	guard(spinlock)(&counts->lock);
	for (i = 0; i < COUNT_STEPS; i++) {
		task = count_next(counts, UTRACE_COUNT_CLEAR);
		if (!task || task->id >= end)
			return false;
		if (task != rcu_access_pointer(counts->merged) &&
		    count_is_dead(task))
			count_remove_task(counts, task);
	}
	return true;
}

/**
 * utrace_counts_clear() - reset all counts
 * @counts: the counts
 *
 * Removes dead tasks, including one that dies during the call.  Living tasks
 * clear their numbers at their next call; until then readers ignore the old
 * numbers.
 *
 * Context: May sleep; one caller at a time.  Takes utrace_counts.lock, for some
 * tasks at a time.
 */
void utrace_counts_clear(struct utrace_counts *counts)
{
	u64 end;

	scoped_guard(spinlock, &counts->lock) {
		WRITE_ONCE(counts->epoch, counts->epoch + 1);
		WRITE_ONCE(counts->nmerged, 0);
		RCU_INIT_POINTER(counts->merged, NULL);
		atomic_long_set(&counts->lost, 0);
		counts->at[UTRACE_COUNT_CLEAR] = &counts->tasks;
		end = counts->next_id;
	}
	while (count_clear_some(counts, end))
		cond_resched();
}

/*
 * Check some tasks and remove those that are dead and have no counts.  A client
 * need not call utrace_count_task_exits(), so such tasks may be left.  Every
 * new task checks several tasks, so dead tasks cannot outnumber living ones for
 * long.
 */
static void count_sweep(struct utrace_counts *counts)
{
	struct utrace_count_task *task;
	unsigned int i;

	lockdep_assert_held(&counts->lock);

	for (i = 0; i < COUNT_SWEEP; i++) {
		task = count_next(counts, UTRACE_COUNT_SWEEP);
		if (!task)
			return;
		if (!task->ncounts && count_is_dead(task))
			count_remove_task(counts, task);
	}
}

/**
 * utrace_count_add_task() - begin to count the calls of the current task
 * @counts: the counts
 * @task: zeroed, inside a structure of the client.  The caller gets a
 *	reference, which it must drop by utrace_count_put_task().
 *
 * Context: The task itself.  Takes utrace_counts.lock.
 */
void utrace_count_add_task(struct utrace_counts *counts,
			   struct utrace_count_task *task)
{
	kref_init(&task->ref);
	kref_get(&task->ref);
	task->ops = counts->ops;
	task->pid = get_pid(task_pid(current));
	task->tgid = get_pid(task_tgid(current));
	get_task_comm(task->comm, current);
	guard(spinlock)(&counts->lock);
	count_sweep(counts);
	task->id = counts->next_id++;
	task->listed = true;
	list_add_tail_rcu(&task->list, &counts->tasks);
}

/**
 * utrace_count_task_exits() - handle the exit of the current task
 * @counts: the counts
 * @task: counts of the current task; the client holds its reference
 *
 * Context: The task itself.  Takes utrace_counts.lock.
 */
void utrace_count_task_exits(struct utrace_counts *counts,
			     struct utrace_count_task *task)
{
	get_task_comm(task->comm, current);
	guard(spinlock)(&counts->lock);
	if (!task->ncounts)
		count_remove_task(counts, task);
}

/**
 * utrace_count_task_execs() - handle an execve() of the current task
 * @counts: the counts
 * @task: counts of the current task; the client holds its reference
 *
 * execve() gives a thread other than the leader the pid of the leader.  The
 * counts of the thread have the old pid, which no task has now.  So they remain
 * as those of a dead task, and the client adds another structure at the next
 * system call.
 *
 * Context: The task itself.  Takes utrace_counts.lock.
 * Return:
 * * true - @task still belongs to the current task
 * * false - the client's look-up no longer finds @task, and the client must
 *   drop it
 */
bool utrace_count_task_execs(struct utrace_counts *counts,
			     struct utrace_count_task *task)
{
	get_task_comm(task->comm, current);
	if (utrace_count_is_current(task))
		return true;
	guard(spinlock)(&counts->lock);
	if (!task->ncounts)
		count_remove_task(counts, task);
	else if (task->ops->forget)
		task->ops->forget(task);
	return false;
}

/*
 * Check some tasks for a dead one, merge its counts, and remove it.  Continues
 * where the previous call stopped, so that a full list of living tasks is not
 * walked for each dead one.  Returns false if a walk over the whole list has
 * found no dead task.
 */
static bool count_merge_some(struct utrace_counts *counts)
{
	struct utrace_count_task *task;
	unsigned int i;

	lockdep_assert_held(&counts->lock);

	for (i = 0; i < COUNT_STEPS; i++) {
		task = count_next(counts, UTRACE_COUNT_MERGE);
		if (!task && !counts->again) {
			/*
			 * Walk at most once a second, or every call would walk
			 * a long list of living tasks.
			 */
			counts->next_scan = (jiffies + HZ) ?: 1;
			return false;
		}
		if (!task) {
			counts->again = false;
			continue;
		}
		if (task == rcu_access_pointer(counts->merged) ||
		    !task->ncounts || !count_is_dead(task) ||
		    !utrace_count_merge(counts, task))
			continue;
		count_remove_task(counts, task);
		return true;
	}
	return true;
}

/**
 * utrace_count_reserve() - reserve room for one more count of the current task
 * @counts: the counts
 * @task: counts of the current task
 *
 * A task that is not in the list gets none, since no reader would see its
 * count.
 *
 * Context: The task itself; may sleep.  Takes utrace_counts.lock, for one dead
 * task or some living ones at a time.
 * Return: true if there is room, which the caller must use or return by
 * utrace_count_unreserve().
 */
bool utrace_count_reserve(struct utrace_counts *counts,
			  struct utrace_count_task *task)
{
	bool more;

	do {
		scoped_guard(spinlock, &counts->lock) {
			if (!task->listed)
				return false;
			if (counts->ncounts < counts->limit) {
				counts->again = true;
				task->ncounts++;
				WRITE_ONCE(counts->ncounts,
					   counts->ncounts + 1);
				return true;
			}
			if (counts->next_scan &&
			    time_before(jiffies, counts->next_scan))
				return false;
			more = count_merge_some(counts);
		}
		cond_resched();
	} while (more);
	return false;
}

/**
 * utrace_count_unreserve() - return the room of utrace_count_reserve()
 * @counts: the counts
 * @task: counts of the current task
 *
 * Context: The task itself.  Takes utrace_counts.lock.
 */
void utrace_count_unreserve(struct utrace_counts *counts,
			    struct utrace_count_task *task)
{
	guard(spinlock)(&counts->lock);
	task->ncounts--;
	if (task->listed)
		WRITE_ONCE(counts->ncounts, counts->ncounts - 1);
}
