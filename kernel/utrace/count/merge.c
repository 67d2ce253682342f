// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - counts of system calls: merging of dead tasks
 *
 * The number of counts is bounded.  To make room, the counts of the tasks that
 * died first are added up in one of these tasks, utrace_counts.merged, which
 * represents all of them from then on.  So a sum over all tasks stays exact for
 * any number of tasks.
 */
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "count.h"

/* Add to a number of 32 bits, saturating at its maximum. */
static void merge_u32(u32 *to, u32 from)
{
	WRITE_ONCE(*to, (u32)min_t(u64, (u64)*to + from, U32_MAX));
}

/**
 * utrace_count_errno() - count errors by their errno
 * @to: numbers of the current task, or of utrace_counts.merged
 * @err: the errno
 * @calls: number of the errors
 *
 * Context: The task itself, or utrace_counts.lock held.
 */
void utrace_count_errno(struct utrace_count_numbers *to, u16 err, u32 calls)
{
	unsigned int i;

	for (i = 0; i < UTRACE_COUNT_ERRNOS; i++) {
		if (!to->err[i])
			WRITE_ONCE(to->err[i], err);
		if (to->err[i] == err) {
			merge_u32(&to->errno_calls[i], calls);
			return;
		}
	}
	merge_u32(&to->errno_other, calls);
}

/* Add the numbers of a dead task.  Readers may read @to concurrently. */
static void merge_numbers(struct utrace_count_numbers *to,
			  const struct utrace_count_numbers *from)
{
	unsigned int i;

	WRITE_ONCE(to->calls, to->calls + from->calls);
	WRITE_ONCE(to->errors, to->errors + from->errors);
	WRITE_ONCE(to->total, to->total + from->total);
	WRITE_ONCE(to->min, min(to->min, from->min));
	WRITE_ONCE(to->max, max(to->max, from->max));
	WRITE_ONCE(to->cpu, to->cpu + from->cpu);
	WRITE_ONCE(to->cpu_calls, to->cpu_calls + from->cpu_calls);
	for (i = 0; i < UTRACE_COUNT_BUCKETS; i++)
		merge_u32(&to->bucket[i], from->bucket[i]);
	for (i = 0; i < UTRACE_COUNT_ERRNOS && from->err[i]; i++)
		utrace_count_errno(to, from->err[i], from->errno_calls[i]);
	merge_u32(&to->errno_other, from->errno_other);
}

/*
 * Find or create the count of call @nr in utrace_counts.merged.  Returns NULL
 * if out of memory.
 */
static struct utrace_count *merge_count(struct utrace_counts *counts,
					unsigned int nr)
{
	struct utrace_count_task *task =
		rcu_dereference_protected(counts->merged,
					  lockdep_is_held(&counts->lock));
	struct utrace_count *count = utrace_count_look_up(task, nr);

	if (!count) {
		count = utrace_count_alloc(nr, counts->epoch, GFP_NOWAIT);
		if (!count)
			return NULL;
		hlist_add_tail_rcu(&count->node, utrace_count_chain(task, nr));
		task->ncounts++;
		WRITE_ONCE(counts->ncounts, counts->ncounts + 1);
	} else if (count->epoch != counts->epoch) {
		utrace_count_clear(count, counts->epoch);
	}
	return count;
}

/**
 * utrace_count_merge() - merge the counts of a dead task
 * @counts: the counts
 * @task: a dead task in the list, with counts
 *
 * The first task for which this is called becomes utrace_counts.merged.  The
 * caller can remove each later one.
 *
 * Context: Any but interrupts, with utrace_counts.lock held.
 * Return: true if the caller can remove @task; false if it has become
 * utrace_counts.merged.
 */
bool utrace_count_merge(struct utrace_counts *counts,
			struct utrace_count_task *task)
{
	struct utrace_count *from, *to;
	unsigned int i;

	lockdep_assert_held(&counts->lock);

	WRITE_ONCE(counts->nmerged, counts->nmerged + 1);
	if (!rcu_access_pointer(counts->merged)) {
		rcu_assign_pointer(counts->merged, task);
		/*
		 * Pairs with smp_rmb() in count_copy(): a reader that sees
		 * numbers of two tasks also sees that @task is
		 * utrace_counts.merged.
		 */
		smp_wmb();
		return false;
	}
	for (i = 0; i < UTRACE_COUNT_CHAINS; i++) {
		hlist_for_each_entry(from, &task->table[i], node) {
			if (from->epoch != counts->epoch)
				continue;
			to = merge_count(counts, from->nr);
			if (to)
				merge_numbers(&to->numbers, &from->numbers);
			else
				atomic_long_add(from->numbers.calls,
						&counts->lost);
		}
	}
	return true;
}
