// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_count_task: tasks that are counted, the
 * room for counts, and readers that continue after a pause
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "fixture.h"

/* Count one call of each of the numbers from 0 on. */
static void call_each(struct count_test *t, struct utrace_count_task *task,
		      unsigned int n)
{
	unsigned int nr;

	for (nr = 0; nr < n; nr++)
		utrace_count_call(&t->counts, task, nr, 0, 1,
				  UTRACE_COUNT_NO_CPU);
}

/* Functions of threads, which add themselves, count, and exit. */

static void add_none(struct count_test *t)
{
	utrace_count_put_task(count_new_task(t));
}

static void add_two(struct count_test *t)
{
	struct utrace_count_task *task = count_new_task(t);

	call_each(t, task, 2);
	utrace_count_put_task(task);
}

static void exit_with_none(struct count_test *t)
{
	struct utrace_count_task *task = count_new_task(t);

	utrace_count_task_exits(&t->counts, task);
	utrace_count_put_task(task);
}

static void exit_with_two(struct count_test *t)
{
	struct utrace_count_task *task = count_new_task(t);

	call_each(t, task, 2);
	set_task_comm(current, "renamed");
	utrace_count_task_exits(&t->counts, task);
	utrace_count_put_task(task);
}

static void limit_holds(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_task *task;

	count_limit(test, 5);
	task = count_new_task(t);
	KUNIT_ASSERT_NOT_NULL(test, task);
	call_each(t, task, 7);
	call_each(t, task, 7);
	KUNIT_EXPECT_EQ(test, count_rows(test, 10), 5U);
	KUNIT_EXPECT_EQ(test, t->counts.ncounts, 5U);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->counts.lost), 4L);
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 0UL);
	KUNIT_EXPECT_EQ(test, count_row_of(test, task_pid(current), 4)->numbers.calls,
			2ULL);
	utrace_counts_clear(&t->counts);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->counts.lost), 0L);
	utrace_count_put_task(task);
}

static void dead_tasks_stay(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct pid *pid = count_thread(test, exit_with_two);

	KUNIT_EXPECT_EQ(test, count_rows(test, 1), 2U);
	KUNIT_EXPECT_STREQ(test, count_row_of(test, pid, 0)->comm, "renamed");
	KUNIT_EXPECT_EQ(test, count_row_of(test, pid, 1)->tgid, pid_nr(pid));
	KUNIT_EXPECT_EQ(test, count_row_of(test, pid, 1)->alive, 0U);
	utrace_counts_clear(&t->counts);
	KUNIT_EXPECT_EQ(test, count_rows(test, 1), 0U);
	KUNIT_EXPECT_EQ(test, t->counts.ncounts, 0U);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, atomic_read(&t->freed), 1);
	put_pid(pid);
}

static void oldest_dead_make_room(struct kunit *test)
{
	struct count_test *t = test->priv;
	const struct utrace_count_row *row;
	struct utrace_count_task *task;
	struct pid *pid[4];
	unsigned int i;

	count_limit(test, 8);
	for (i = 0; i < 4; i++)
		pid[i] = count_thread(test, add_two);
	KUNIT_EXPECT_EQ(test, count_rows(test, 4), 8U);
	task = count_new_task(t);
	KUNIT_ASSERT_NOT_NULL(test, task);
	call_each(t, task, 3);
	/* The second and the third are added to the first. */
	KUNIT_EXPECT_EQ(test, count_rows(test, 2), 7U);
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 3UL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->counts.lost), 0L);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->forgotten), 2);
	row = count_row_of(test, NULL, 1);
	KUNIT_EXPECT_PTR_EQ(test, row, &t->rows[1]);
	KUNIT_EXPECT_EQ(test, row->numbers.calls, 3ULL);
	KUNIT_EXPECT_EQ(test, row->tgid, 0);
	KUNIT_EXPECT_EQ(test, row->alive, 0U);
	KUNIT_EXPECT_STREQ(test, row->comm, "");
	count_row_of(test, pid[3], 0);
	count_row_of(test, pid[3], 1);
	count_row_of(test, task_pid(current), 2);
	utrace_counts_clear(&t->counts);
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 0UL);
	KUNIT_EXPECT_EQ(test, count_rows(test, 2), 0U);
	for (i = 0; i < 4; i++)
		put_pid(pid[i]);
	utrace_count_put_task(task);
}

/*
 * Count calls with distinct numbers: a thread of call N has the errors N to N +
 * 4, each one time more often than the previous one.
 */
static void add_failing(struct count_test *t)
{
	struct utrace_count_task *task = count_new_task(t);
	unsigned int i, k, first = 1 + t->counts.next_id % 5;

	for (i = 0; i < 5; i++)
		for (k = 0; k <= i; k++)
			utrace_count_call(&t->counts, task, 0,
					  -(long)(first + i), 1ULL << first,
					  first);
	utrace_count_call(&t->counts, task, 10 + first, 7, 100 * first,
			  UTRACE_COUNT_NO_CPU);
	utrace_count_put_task(task);
}

/* The sum over many dead tasks includes the numbers of each of them. */
static void sums_are_exact(struct kunit *test)
{
	const struct utrace_count_numbers *numbers;
	struct count_test *t = test->priv;
	unsigned int i;
	u64 errors = 0;

	count_limit(test, 12);
	/*
	 * The last three tasks keep the remaining room: the sum has 6 counts.
	 */
	for (i = 0; i < 53; i++)
		put_pid(count_thread(test, add_failing));
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 50UL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->counts.lost), 0L);
	KUNIT_EXPECT_EQ(test, count_rows(test, 5), 12U);
	numbers = &count_row_of(test, NULL, 0)->numbers;
	KUNIT_EXPECT_EQ(test, numbers->calls, 50 * 15ULL);
	KUNIT_EXPECT_EQ(test, numbers->errors, 50 * 15ULL);
	KUNIT_EXPECT_EQ(test, numbers->total,
			10 * 15 * (2 + 4 + 8 + 16 + 32ULL));
	KUNIT_EXPECT_EQ(test, numbers->min, 2ULL);
	KUNIT_EXPECT_EQ(test, numbers->max, 32ULL);
	KUNIT_EXPECT_EQ(test, numbers->cpu, 10 * 15 * (1 + 2 + 3 + 4 + 5ULL));
	KUNIT_EXPECT_EQ(test, numbers->cpu_calls, 50 * 15ULL);
	for (i = 2; i <= 6; i++)
		KUNIT_EXPECT_EQ(test, numbers->bucket[i], 10 * 15U);
	/*
	 * There are nine errnos for seven entries, so two are in ->errno_other.
	 */
	for (i = 0; i < UTRACE_COUNT_ERRNOS; i++)
		errors += numbers->errno_calls[i];
	KUNIT_EXPECT_EQ(test, errors + numbers->errno_other, 50 * 15ULL);
	KUNIT_EXPECT_GT(test, numbers->errno_other, 0U);
	for (i = 0; i < UTRACE_COUNT_ERRNOS; i++)
		if (numbers->err[i] == 5)
			KUNIT_EXPECT_EQ(test, numbers->errno_calls[i],
					10 * (1 + 2 + 3 + 4 + 5U));
	numbers = &count_row_of(test, NULL, 13)->numbers;
	KUNIT_EXPECT_EQ(test, numbers->calls, 10ULL);
	KUNIT_EXPECT_EQ(test, numbers->total, 3000ULL);
	KUNIT_EXPECT_EQ(test, numbers->cpu_calls, 0ULL);
}

/*
 * Tasks make room between two reads: they may be missing, but not appear twice.
 */
static void cursor_sees_none_twice(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_cursor cursor = {};
	struct utrace_count_task *task;
	unsigned int i, n;
	u64 calls = 0;

	count_limit(test, 12);
	for (i = 0; i < 6; i++)
		put_pid(count_thread(test, add_two));
	task = count_new_task(t);
	KUNIT_ASSERT_NOT_NULL(test, task);
	call_each(t, task, 1);
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 2UL);
	n = utrace_count_read(&t->counts, &init_pid_ns, &cursor, t->rows, 3);
	KUNIT_EXPECT_EQ(test, n, 3U);
	call_each(t, task, 5);
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 4UL);
	n += utrace_count_read(&t->counts, &init_pid_ns, &cursor, &t->rows[n],
			       COUNT_ROWS - n);
	for (i = 0; i < n; i++)
		calls += t->rows[i].alive ? 0 : t->rows[i].numbers.calls;
	/* One of the two tasks was half read before they made room. */
	KUNIT_EXPECT_EQ(test, calls, 12 - 3ULL);
	utrace_count_put_task(task);
}

/* A task dies after the walk for dead tasks has passed it. */
static void dead_behind_the_walk_make_room(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_task *first, *last;
	struct pid *pid;

	count_limit(test, 6);
	first = count_new_task(t);
	KUNIT_ASSERT_NOT_NULL(test, first);
	call_each(t, first, 2);
	put_pid(count_thread(test, add_two));
	put_pid(count_thread(test, add_two));
	last = count_new_task(t);
	KUNIT_ASSERT_NOT_NULL(test, last);
	call_each(t, last, 2);
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 2UL);
	/* Give it the pid of a dead task, as if it had died. */
	pid = first->pid;
	first->pid = count_thread(test, exit_with_none);
	call_each(t, last, 3);
	KUNIT_EXPECT_EQ(test, t->counts.nmerged, 3UL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->counts.lost), 0L);
	KUNIT_EXPECT_EQ(test, count_rows(test, 3), 5U);
	utrace_count_put_task(first);
	utrace_count_put_task(last);
	put_pid(pid);
}

/* The observations of a thread that takes the lock repeatedly. */
struct lock_watch {
	struct count_test *t;
	bool merging;
	bool clearing;
	bool ending;
};

static int watch_lock(void *data)
{
	struct lock_watch *watch = data;
	struct utrace_counts *counts = &watch->t->counts;
	struct utrace_count_task *task;

	while (!kthread_should_stop()) {
		scoped_guard(spinlock, &counts->lock) {
			task = list_first_entry_or_null(&counts->tasks,
							struct utrace_count_task,
							list);
			if (counts->at[UTRACE_COUNT_MERGE] != &counts->tasks)
				WRITE_ONCE(watch->merging, true);
			if (counts->at[UTRACE_COUNT_CLEAR] != &counts->tasks)
				WRITE_ONCE(watch->clearing, true);
			if (task && task->id != 1)
				WRITE_ONCE(watch->ending, true);
		}
		cond_resched();
	}
	return 0;
}

/*
 * Add many tasks, all alive, and walk over them.  Returns early without memory.
 */
static void walk_many(struct count_test *t)
{
	struct utrace_count_task *task = NULL;
	unsigned int i;

	utrace_counts_end(&t->counts);
	rcu_barrier();
	scoped_guard(spinlock, &t->counts.lock) {
		t->counts.next_id = 1;
		t->counts.next_scan = 0;
	}
	for (i = 0; i < 4000; i++) {
		if (task)
			utrace_count_put_task(task);
		task = count_new_task(t);
		if (!task)
			return;
	}
	call_each(t, task, 2);
	utrace_counts_clear(&t->counts);
	utrace_count_put_task(task);
	utrace_counts_end(&t->counts);
}

/* A walk drops the lock between pieces, since users choose its length. */
static void long_lists_are_walked_in_pieces(struct kunit *test)
{
	struct lock_watch watch = { .t = test->priv };
	struct task_struct *watcher;
	unsigned int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "one CPU only");
	count_limit(test, 1);
	watcher = kthread_run(watch_lock, &watch, "count-watch");
	KUNIT_ASSERT_FALSE(test, IS_ERR(watcher));
	for (i = 0; i < 50; i++) {
		walk_many(watch.t);
		if (READ_ONCE(watch.merging) && READ_ONCE(watch.clearing) &&
		    READ_ONCE(watch.ending))
			break;
	}
	kthread_stop(watcher);
	KUNIT_EXPECT_TRUE(test, watch.merging);
	KUNIT_EXPECT_TRUE(test, watch.clearing);
	KUNIT_EXPECT_TRUE(test, watch.ending);
}

static void uncounted_dead_are_swept(struct kunit *test)
{
	struct count_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < 40; i++)
		put_pid(count_thread(test, add_none));
	KUNIT_EXPECT_GE(test, atomic_read(&t->forgotten), 30);
	put_pid(count_thread(test, exit_with_none));
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, atomic_read(&t->freed),
			atomic_read(&t->forgotten));
	KUNIT_EXPECT_EQ(test, count_rows(test, 1), 0U);
}

static void exit_without_counts_removes(struct kunit *test)
{
	struct count_test *t = test->priv;

	put_pid(count_thread(test, exit_with_none));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->forgotten), 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->counts.tasks));
}

static void exec_with_another_pid_begins_anew(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_task *task = count_new_task(t);
	struct pid *pid;

	KUNIT_ASSERT_NOT_NULL(test, task);
	call_each(t, task, 4);
	KUNIT_EXPECT_TRUE(test, utrace_count_task_execs(&t->counts, task));
	KUNIT_EXPECT_TRUE(test, utrace_count_is_current(task));
	KUNIT_EXPECT_EQ(test, count_rows(test, 4), 4U);
	/* After de_thread(), the counts have a pid that no task has. */
	pid = task->pid;
	task->pid = count_thread(test, exit_with_none);
	KUNIT_EXPECT_FALSE(test, utrace_count_is_current(task));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->forgotten), 1);
	KUNIT_EXPECT_FALSE(test, utrace_count_task_execs(&t->counts, task));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->forgotten), 2);
	KUNIT_EXPECT_EQ(test, count_rows(test, 4), 4U);
	KUNIT_EXPECT_EQ(test, count_row_of(test, task->pid, 3)->alive, 0U);
	utrace_counts_clear(&t->counts);
	/* Counts that no reader would see get no room. */
	call_each(t, task, 6);
	KUNIT_EXPECT_EQ(test, t->counts.ncounts, 0U);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->counts.lost), 2L);
	utrace_count_put_task(task);
	put_pid(pid);
}

/* Tasks are added and exit between two rows. */
static void cursor_goes_on(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_cursor cursor = {};
	struct utrace_count_task *task;
	struct pid *pid[3];
	unsigned int i, n;

	for (i = 0; i < 2; i++)
		pid[i] = count_thread(test, add_two);
	task = count_new_task(t);
	KUNIT_ASSERT_NOT_NULL(test, task);
	call_each(t, task, 1);
	for (n = 0; n < 2; n++)
		KUNIT_EXPECT_EQ(test, utrace_count_read(&t->counts,
							&init_pid_ns, &cursor,
							&t->rows[n], 1), 1U);
	/*
	 * Add a call to the first chain, a task, and a call to the last chain.
	 */
	utrace_count_call(&t->counts, task, UTRACE_COUNT_CHAINS, 0, 1, 0);
	pid[2] = count_thread(test, add_two);
	utrace_count_call(&t->counts, task, UTRACE_COUNT_CHAINS - 1, 0, 1, 0);
	while (utrace_count_read(&t->counts, &init_pid_ns, &cursor,
				 &t->rows[n], 1))
		n++;
	KUNIT_EXPECT_EQ(test, n, 9U);
	for (i = 0; i < 3; i++) {
		count_row_of(test, pid[i], 0);
		count_row_of(test, pid[i], 1);
		put_pid(pid[i]);
	}
	count_row_of(test, task_pid(current), 0);
	count_row_of(test, task_pid(current), UTRACE_COUNT_CHAINS);
	count_row_of(test, task_pid(current), UTRACE_COUNT_CHAINS - 1);
	utrace_count_put_task(task);
}

/* The task at the cursor is removed, or the cursor is invalid. */
static void cursor_survives(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_cursor cursor = {};
	struct utrace_count_task *task;
	struct pid *pid;

	put_pid(count_thread(test, add_two));
	task = count_new_task(t);
	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_EXPECT_EQ(test, utrace_count_read(&t->counts, &init_pid_ns,
						&cursor, t->rows, 1), 1U);
	utrace_counts_clear(&t->counts);
	call_each(t, task, 1);
	pid = count_thread(test, add_two);
	KUNIT_EXPECT_EQ(test, utrace_count_read(&t->counts, &init_pid_ns,
						&cursor, t->rows, 9), 3U);
	count_row_of(test, task_pid(current), 0);
	count_row_of(test, pid, 1);
	cursor = (struct utrace_count_cursor){ .row = U32_MAX };
	KUNIT_EXPECT_EQ(test, utrace_count_read(&t->counts, &init_pid_ns,
						&cursor, t->rows, 9), 3U);
	cursor.task = U64_MAX;
	KUNIT_EXPECT_EQ(test, utrace_count_read(&t->counts, &init_pid_ns,
						&cursor, t->rows, 9), 0U);
	utrace_count_put_task(task);
	put_pid(pid);
}

static int count_until_stopped(void *data)
{
	struct count_test *t = data;
	struct utrace_count_task *task = count_new_task(t);
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 100; i++)
			utrace_count_call(&t->counts, task, 2, 0, 1, 0);
		cond_resched();
	}
	utrace_count_put_task(task);
	return 0;
}

/*
 * Read the row of the writer @times times.  Returns how often there was one.
 * If one row had numbers of two epochs, it would show more calls than the sum
 * of their durations, which is read later, and which is 1 ns for each call.
 */
static unsigned int read_unmixed(struct kunit *test, unsigned int times)
{
	struct count_test *t = test->priv;
	const struct utrace_count_numbers *numbers = &t->rows[0].numbers;
	unsigned int n = 0;

	while (times--) {
		struct utrace_count_cursor cursor = {};

		if (!utrace_count_read(&t->counts, &init_pid_ns, &cursor,
				       t->rows, 1))
			continue;
		KUNIT_EXPECT_LE(test, numbers->calls, numbers->total + 1);
		KUNIT_EXPECT_LE(test, numbers->max, 1ULL);
		n++;
	}
	return n;
}

static void epochs_are_not_mixed(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct task_struct *writer;
	unsigned int round, n = 0;

	writer = kthread_run(count_until_stopped, t, "count-writer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(writer));
	for (round = 0; round < 100; round++) {
		usleep_range(1000, 2000);
		n += read_unmixed(test, 20);
		utrace_counts_clear(&t->counts);
		n += read_unmixed(test, 200);
	}
	kthread_stop(writer);
	KUNIT_EXPECT_GT(test, n, 0U);
}

static struct kunit_case count_task_cases[] = {
	KUNIT_CASE(limit_holds),
	KUNIT_CASE(dead_tasks_stay),
	KUNIT_CASE(oldest_dead_make_room),
	KUNIT_CASE(sums_are_exact),
	KUNIT_CASE(cursor_sees_none_twice),
	KUNIT_CASE(dead_behind_the_walk_make_room),
	KUNIT_CASE_SLOW(long_lists_are_walked_in_pieces),
	KUNIT_CASE(uncounted_dead_are_swept),
	KUNIT_CASE(exit_without_counts_removes),
	KUNIT_CASE(exec_with_another_pid_begins_anew),
	KUNIT_CASE(cursor_goes_on),
	KUNIT_CASE(cursor_survives),
	KUNIT_CASE_SLOW(epochs_are_not_mixed),
	{}
};

static struct kunit_suite count_task_suite = {
	.name = "utrace_count_task",
	.init = count_init,
	.exit = count_exit,
	.test_cases = count_task_cases,
};

kunit_test_suite(count_task_suite);

MODULE_DESCRIPTION("KUnit suite for tasks whose system calls are counted");
MODULE_LICENSE("GPL");
