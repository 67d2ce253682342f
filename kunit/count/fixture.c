// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - a client that counts, and tasks that it counts
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "fixture.h"

/* Time limit for the end of a thread, in ms. */
#define PATIENCE	30000

static struct count_client_task *client_task(struct utrace_count_task *count)
{
	return container_of(count, struct count_client_task, count);
}

static void forget_client_task(struct utrace_count_task *count)
{
	atomic_inc(&client_task(count)->t->forgotten);
}

static void free_client_task(struct utrace_count_task *count)
{
	atomic_inc(&client_task(count)->t->freed);
	kfree(client_task(count));
}

static const struct utrace_count_ops count_test_ops = {
	.forget	= forget_client_task,
	.free	= free_client_task,
};

int count_init(struct kunit *test)
{
	struct count_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	utrace_counts_init(&t->counts, 1000, &count_test_ops);
	return 0;
}

/* Free the structures of the tasks before the client. */
void count_exit(struct kunit *test)
{
	struct count_test *t = test->priv;

	if (!t)
		return;
	utrace_counts_end(&t->counts);
	rcu_barrier();
}

/* Restart with another limit; the client has no tasks yet. */
void count_limit(struct kunit *test, unsigned int limit)
{
	struct count_test *t = test->priv;

	KUNIT_ASSERT_TRUE(test, list_empty(&t->counts.tasks));
	utrace_counts_init(&t->counts, limit, &count_test_ops);
}

/*
 * Add the current task.  Returns NULL if out of memory.  The caller must put
 * it.
 */
struct utrace_count_task *count_new_task(struct count_test *t)
{
	struct count_client_task *task = kzalloc(sizeof(*task), GFP_KERNEL);

	if (!task)
		return NULL;
	task->t = t;
	utrace_count_add_task(&t->counts, &task->count);
	return &task->count;
}

struct count_job {
	struct count_test *t;
	void (*run)(struct count_test *t);
};

static int count_thread_main(void *data)
{
	struct count_job *job = data;

	job->run(job->t);
	return 0;
}

/* Run @run in a thread and wait for its death.  Returns its pid, counted. */
struct pid *count_thread(struct kunit *test, void (*run)(struct count_test *t))
{
	struct count_job job = { .t = test->priv, .run = run };
	struct task_struct *task;
	unsigned int ms;
	struct pid *pid;

	task = kthread_create(count_thread_main, &job, "count-thread");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	pid = get_pid(task_pid(task));
	wake_up_process(task);
	for (ms = 0; pid_has_task(pid, PIDTYPE_PID) && ms < PATIENCE; ms++)
		usleep_range(1000, 2000);
	KUNIT_ASSERT_FALSE(test, pid_has_task(pid, PIDTYPE_PID));
	return pid;
}

/* Read all rows, at most @piece at a time.  Returns their number. */
unsigned int count_rows(struct kunit *test, unsigned int piece)
{
	struct count_test *t = test->priv;
	struct utrace_count_cursor cursor = {};
	unsigned int n = 0, got;

	do {
		got = utrace_count_read(&t->counts, &init_pid_ns, &cursor,
					&t->rows[n],
					min(piece, COUNT_ROWS - n));
		n += got;
	} while (got == piece && n < COUNT_ROWS);
	memset(&t->rows[n], 0, (COUNT_ROWS - n) * sizeof(t->rows[0]));
	return n;
}

/*
 * Find the row of a task and a call among the rows that were read, which must
 * contain it exactly once.  Without a pid, find the row of the merged dead
 * tasks.
 */
const struct utrace_count_row *count_row_of(struct kunit *test, struct pid *pid,
					    unsigned int nr)
{
	struct count_test *t = test->priv;
	const struct utrace_count_row *row = NULL;
	unsigned int i;

	for (i = 0; i < COUNT_ROWS && t->rows[i].numbers.calls; i++) {
		if (t->rows[i].ino != (pid ? pid->ino : 0) ||
		    t->rows[i].nr != nr)
			continue;
		KUNIT_EXPECT_NULL_MSG(test, row, "call %u has two rows", nr);
		row = &t->rows[i];
	}
	KUNIT_ASSERT_NOT_NULL_MSG(test, row, "call %u has no row", nr);
	KUNIT_EXPECT_EQ(test, row->tid, pid ? pid_nr(pid) : 0);
	return row;
}
