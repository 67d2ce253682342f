// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - counts of system calls: counting a call
 *
 * This runs at the exit of every counted call.  The counts that a task used
 * last are cached in utrace_count_task.recent; the others are looked up in the
 * table of the task.
 */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "../decode/table.h"
#include "../syscall_current.h"
#include "count.h"

/* A count is one object of kmalloc-256. */
static_assert(sizeof(struct utrace_count) <= 256);

/* The numbers are cleared and copied as an array. */
static_assert(sizeof(struct utrace_count_numbers) % sizeof(u64) == 0);

/**
 * utrace_count_clear() - clear the numbers of an old epoch
 * @count: a count of the current task, or of utrace_counts.merged
 * @epoch: the new epoch
 *
 * Context: The task itself, or utrace_counts.lock held.
 */
void utrace_count_clear(struct utrace_count *count, unsigned int epoch)
{
	u64 *numbers = (u64 *)&count->numbers;
	unsigned int i;

	/*
	 * The caller has read @epoch before.  Pairs with smp_rmb() in
	 * count_copy(): a reader that sees a cleared number then also sees the
	 * new utrace_counts.epoch, and discards what it has read.
	 */
	smp_mb();
	for (i = 0; i < sizeof(count->numbers) / sizeof(u64); i++)
		WRITE_ONCE(numbers[i], 0);
	WRITE_ONCE(count->numbers.min, U64_MAX);
	/*
	 * Pairs with smp_load_acquire() in count_copy(): a reader that sees the
	 * new epoch does not see the old numbers.
	 */
	smp_store_release(&count->epoch, epoch);
}

/**
 * utrace_count_alloc() - allocate a count without calls
 * @nr: number of the call
 * @epoch: epoch of the count
 * @gfp: flags of the allocation
 *
 * Context: Depends on @gfp.
 * Return:
 * * the new count - not yet in a table
 * * NULL - out of memory
 */
struct utrace_count *utrace_count_alloc(unsigned int nr, unsigned int epoch,
					gfp_t gfp)
{
	struct utrace_count *count = kzalloc(sizeof(*count),
					     gfp | __GFP_ACCOUNT);

	if (!count)
		return NULL;
	count->nr = nr;
	count->epoch = epoch;
	count->numbers.min = U64_MAX;
	return count;
}

/* Create the count of call @nr.  Returns NULL without memory or room. */
static struct utrace_count *count_new(struct utrace_counts *counts,
				      struct utrace_count_task *task,
				      unsigned int nr)
{
	struct utrace_count *count = NULL;

	if (utrace_count_reserve(counts, task)) {
		count = utrace_count_alloc(nr, READ_ONCE(counts->epoch),
					   GFP_KERNEL);
		if (!count)
			utrace_count_unreserve(counts, task);
	}
	if (!count) {
		atomic_long_inc(&counts->lost);
		return NULL;
	}
	hlist_add_tail_rcu(&count->node, utrace_count_chain(task, nr));
	return count;
}

/**
 * utrace_count_look_up() - find the count of a call
 * @task: counts of the current task, or utrace_counts.merged
 * @nr: number of the call
 *
 * Context: The task itself, or utrace_counts.lock held.
 * Return: the count, which may be of an old epoch, or NULL.
 */
struct utrace_count *utrace_count_look_up(struct utrace_count_task *task,
					  unsigned int nr)
{
	struct utrace_count *count;

	hlist_for_each_entry(count, utrace_count_chain(task, nr), node)
		if (count->nr == nr)
			return count;
	return NULL;
}

/*
 * Find the count of call @nr and clear it if its epoch is old, or create it.
 * Returns NULL without memory or room.
 */
static struct utrace_count *count_find(struct utrace_counts *counts,
				       struct utrace_count_task *task,
				       unsigned int nr)
{
	unsigned int epoch = READ_ONCE(counts->epoch);
	struct utrace_count *count = utrace_count_look_up(task, nr);

	/* A program may use any number.  All invalid ones share one count. */
	if (!count && !utrace_call_of(nr)) {
		nr = UTRACE_SYSCALL_NONE;
		count = utrace_count_look_up(task, nr);
	}
	if (!count)
		count = count_new(counts, task, nr);
	else if (count->epoch != epoch)
		utrace_count_clear(count, epoch);
	return count;
}

/* Count a call whose count is not cached, by utrace_count_call(). */
static noinline void count_other(struct utrace_counts *counts,
				 struct utrace_count_task *task,
				 unsigned int nr, long ret, u64 duration,
				 s64 cpu)
{
	struct utrace_count *count = count_find(counts, task, nr);

	if (!count)
		return;
	*utrace_count_recent(task, count->nr) = count;
	utrace_count_call(counts, task, count->nr, ret, duration, cpu);
}

/**
 * utrace_count_call() - count a completed system call
 * @counts: the counts
 * @task: counts of the current task
 * @nr: number of the call, as for utrace_call_of()
 * @ret: result of the call
 * @duration: time between entry and exit, in ns
 * @cpu: CPU time used between entry and exit, in ns, or UTRACE_COUNT_NO_CPU
 *
 * A call without room or memory for its count is counted in @counts->lost.
 *
 * Context: The task itself; may sleep.  Takes utrace_counts.lock for the first
 * call with each number.
 */
void utrace_count_call(struct utrace_counts *counts,
		       struct utrace_count_task *task, unsigned int nr,
		       long ret, u64 duration, s64 cpu)
{
	struct utrace_count *count = utrace_count_cached(counts, task, nr);
	struct utrace_count_numbers *numbers;

	if (unlikely(!count)) {
		count_other(counts, task, nr, ret, duration, cpu);
		return;
	}
	numbers = &count->numbers;
	if (unlikely(duration < numbers->min))
		WRITE_ONCE(numbers->min, duration);
	if (unlikely(duration > numbers->max))
		WRITE_ONCE(numbers->max, duration);
	if (unlikely(cpu >= 0)) {
		WRITE_ONCE(numbers->cpu, numbers->cpu + cpu);
		WRITE_ONCE(numbers->cpu_calls, numbers->cpu_calls + 1);
	}
	utrace_count_add(numbers, min(fls64(duration), UTRACE_COUNT_BUCKETS - 1),
			 duration);
	if (IS_ERR_VALUE(ret)) {
		WRITE_ONCE(numbers->errors, numbers->errors + 1);
		utrace_count_errno(numbers, -ret, 1);
	}
}
