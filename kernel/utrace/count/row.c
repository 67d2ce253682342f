// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - counts of system calls: reading
 *
 * A task adds a count at the end of a chain of its table and removes none.  So
 * the number of the chain and the index in the chain identify the position of a
 * reader in a task, and utrace_count_task.id identifies the task.  A reader may
 * leave the RCU section between two rows, and write to user memory there.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "count.h"

/* A position is chain * COUNT_PLACES + index in the chain. */
#define COUNT_PLACES	BIT(16)

/*
 * Find the count at position *@at or the next one after it, and set *@at to its
 * position.  Returns NULL if there are no more.
 */
static struct utrace_count *count_at(const struct utrace_count_task *task,
				     u32 *at)
{
	u32 chain = *at / COUNT_PLACES, place = *at % COUNT_PLACES, i;
	struct utrace_count *count;

	for (; chain < UTRACE_COUNT_CHAINS; chain++, place = 0) {
		i = 0;
		hlist_for_each_entry_rcu(count, &task->table[chain], node) {
			if (i++ < place)
				continue;
			*at = chain * COUNT_PLACES + i - 1;
			return count;
		}
	}
	return NULL;
}

/*
 * Copy the numbers of @count.  Returns false if its epoch is old, if it was
 * cleared during the copy, or if it has no calls.
 */
static bool count_copy(const struct utrace_counts *counts,
		       const struct utrace_count *count,
		       struct utrace_count_numbers *to)
{
	const u64 *from = (const u64 *)&count->numbers;
	unsigned int epoch = READ_ONCE(counts->epoch), i;

	/*
	 * Pairs with smp_store_release() in utrace_count_clear(): the numbers
	 * read below are not older than this epoch.
	 */
	if (smp_load_acquire(&count->epoch) != epoch)
		return false;
	for (i = 0; i < sizeof(*to) / sizeof(u64); i++)
		((u64 *)to)[i] = READ_ONCE(from[i]);
	/*
	 * Pairs with smp_mb() in utrace_count_clear(): if a number read above
	 * was cleared, this reads the new epoch.  Also pairs with smp_wmb() in
	 * utrace_count_merge(): if a number is a sum, the caller sees that the
	 * task is utrace_counts.merged.
	 */
	smp_rmb();
	if (READ_ONCE(counts->epoch) != epoch)
		return false;
	/* The writer may be in the middle of its first call. */
	to->min = min(to->min, to->max);
	return to->calls;
}

/* Fill in the task of a row; @alive is the task, or NULL if it is dead. */
static void count_name_row(const struct utrace_counts *counts,
			   const struct utrace_count_task *task,
			   const struct task_struct *alive,
			   struct pid_namespace *ns,
			   struct utrace_count_row *row)
{
	row->alive = !!alive;
	if (task == rcu_access_pointer(counts->merged)) {
		row->ino = 0;
		row->tid = 0;
		row->tgid = 0;
		memset(row->comm, 0, sizeof(row->comm));
		return;
	}
	row->ino = task->pid->ino;
	row->tid = pid_nr_ns(task->pid, ns);
	row->tgid = pid_nr_ns(task->tgid, ns);
	strscpy_pad(row->comm, alive ? alive->comm : task->comm);
}

/**
 * utrace_count_next_row() - read the next row of a task
 * @counts: the counts
 * @task: a task in utrace_counts.tasks
 * @ns: pid namespace of the reader
 * @at: position in the table of the task, 0 at first; advanced
 * @row: gets the row
 *
 * Context: Any, in an RCU section.
 * Return: false if the task has no more rows.
 */
bool utrace_count_next_row(const struct utrace_counts *counts,
			   const struct utrace_count_task *task,
			   struct pid_namespace *ns, u32 *at,
			   struct utrace_count_row *row)
{
	const struct task_struct *alive = pid_task(task->pid, PIDTYPE_PID);
	struct utrace_count *count;

	while ((count = count_at(task, at))) {
		(*at)++;
		if (!count_copy(counts, count, &row->numbers))
			continue;
		count_name_row(counts, task, alive, ns, row);
		row->nr = count->nr;
		return true;
	}
	return false;
}

/* Read at most @n rows of a task.  Returns their number. */
static unsigned int count_read_task(const struct utrace_counts *counts,
				    const struct utrace_count_task *task,
				    struct pid_namespace *ns, u32 *at,
				    struct utrace_count_row *rows,
				    unsigned int n)
{
	unsigned int i = 0;

	while (i < n && utrace_count_next_row(counts, task, ns, at, &rows[i]))
		i++;
	return i;
}

/**
 * utrace_count_read() - read some rows
 * @counts: the counts
 * @ns: pid namespace of the reader
 * @cursor: where to continue, all zeros at first; advanced
 * @rows: gets the rows; kernel memory
 * @n: number of elements in @rows
 *
 * Between two calls the caller may sleep and access user memory.  Tasks and
 * counts that are added in between may or may not be among the next rows; no
 * row is returned twice.  The sums over dead tasks come first, so tasks that
 * are merged after that are missing.  utrace_counts.nmerged changes in this
 * case.
 *
 * Context: Any.  Takes RCU, for a walk over the tasks.
 * Return: number of rows; fewer than @n if there are no more.
 */
unsigned int utrace_count_read(const struct utrace_counts *counts,
			       struct pid_namespace *ns,
			       struct utrace_count_cursor *cursor,
			       struct utrace_count_row *rows, unsigned int n)
{
	const struct utrace_count_task *task, *merged;
	unsigned int i = 0;

	guard(rcu)();
	merged = rcu_dereference(counts->merged);
	if (!cursor->task) {
		if (merged)
			i = count_read_task(counts, merged, ns, &cursor->row,
					    rows, n);
		if (i == n)
			return i;
		*cursor = (struct utrace_count_cursor){ .task = 1 };
	}
	list_for_each_entry_rcu(task, &counts->tasks, list) {
		if (task->id < cursor->task || task == merged)
			continue;
		if (task->id > cursor->task)
			*cursor = (struct utrace_count_cursor){ task->id, 0 };
		i += count_read_task(counts, task, ns, &cursor->row, &rows[i],
				     n - i);
		if (i == n)
			break;
	}
	return i;
}
