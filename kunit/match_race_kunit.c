// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_match_race: names that change during a
 * match
 *
 * A task is renamed, or an engine detached, while the matches are asked about
 * the task.  The verdict about the last name must be used.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "match_fixture.h"

/**
 * struct renaming - a name that a task gets while a match is asked about it
 * @task: the task; the match is asked about other tasks too
 * @name: the new name; NULL after the change
 */
struct renaming {
	struct task_struct *task;
	const char *name;
};

/* A chooser that renames the task after other matches were asked. */
static bool rename_when_asked(struct task_struct *task, void *data)
{
	struct renaming *r = data;
	const char *name;

	if (task != READ_ONCE(r->task))
		return false;
	name = xchg(&r->name, NULL);
	if (name)
		set_task_comm(task, name);
	return false;
}

static void rename_next_time(struct probe *q, struct renaming *r,
			     struct user_task *t, const char *name)
{
	WRITE_ONCE(r->task, t->task);
	WRITE_ONCE(r->name, name);
	ask_all_again(q);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_NULL(q->test, READ_ONCE(r->name));
}

/* A set that is built with the old verdict must not stay in use. */
static void rename_while_asked(struct kunit *test)
{
	static struct renaming r;
	struct user_task *bare = user_task_start(test);
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "wanted");
	struct probe *q;

	r.task = NULL;
	q = attach_match(test, new_chooser(test, rename_when_asked, &r));
	KUNIT_EXPECT_FALSE(test, hears(p, bare));
	expect_nothing(bare);
	rename_next_time(q, &r, bare, "wanted");
	KUNIT_EXPECT_TRUE(test, hears(p, bare));

	probe_attach(t, 0, ENTRY);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	rename_next_time(q, &r, t, "wanted");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	rename_next_time(q, &r, t, "other");
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	probe_detach(q);
}

/*
 * A set that is built for another engine must not keep the old verdict, either.
 */
static void rename_before_another_set(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "wanted"), *q;

	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	set_task_comm(t->task, "wanted");
	q = probe_attach(t, 0, 0);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	set_task_comm(t->task, "other");
	probe_detach(q);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	set_task_comm(t->task, "wanted");
	probe_attach(t, 0, UTRACE_EVENT(EXEC));
	KUNIT_EXPECT_TRUE(test, hears(p, t));
}

/**
 * struct renamer - a kernel thread that renames a task again and again
 * @task: the task
 * @thread: the kernel thread
 * @wanted: the match accepts the last name
 * @usec: the time between the last two names, in microseconds
 * @begun: @thread runs
 */
struct renamer {
	struct task_struct *task;
	struct task_struct *thread;
	bool wanted;
	unsigned int usec;
	struct completion begun;
};

static const char *name_of(bool wanted)
{
	return wanted ? "wanted" : "other";
}

static int rename_fn(void *data)
{
	struct renamer *r = data;

	/* kthread_stop() before the thread runs would skip this function. */
	complete(&r->begun);
	while (!kthread_should_stop()) {
		set_task_comm(r->task, name_of(r->wanted));
		set_task_comm(r->task, name_of(!r->wanted));
		schedule_timeout_interruptible(1);
	}
	/* The match may be asked about this name when the last name is set. */
	set_task_comm(r->task, name_of(!r->wanted));
	udelay(r->usec);
	set_task_comm(r->task, name_of(r->wanted));
	return 0;
}

static void renamer_stop(void *data)
{
	struct renamer *r = data;

	if (r->thread)
		kthread_stop(r->thread);
	r->thread = NULL;
}

static void renamer_start(struct kunit *test, struct renamer *r)
{
	init_completion(&r->begun);
	r->thread = kthread_run(rename_fn, r, "utrace_renamer");
	if (IS_ERR(r->thread))
		r->thread = NULL;
	KUNIT_ASSERT_NOT_NULL(test, r->thread);
	KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&r->begun,
							    USER_DEADLINE));
}

/* The verdict about the last name is used, whatever sets were built before. */
static void rename_under_load(struct kunit *test)
{
	struct renamer *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "wanted");
	unsigned int round;

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->task = t->task;
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, renamer_stop, r), 0);
	for (round = 0; round < 40; round++) {
		struct probe *q;

		r->wanted = round % 2;
		r->usec = round * 5;
		user_task_go(t, 0);
		user_task_do(t, .op = USER_REPEAT, .nr = __NR_getuid);
		renamer_start(test, r);
		q = probe_attach(t, 0, EXIT);
		KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
		probe_detach(q);
		renamer_stop(r);
		user_task_go(t, 1);
		user_task_result(t);
		KUNIT_ASSERT_STREQ(test, t->task->comm, name_of(r->wanted));
		KUNIT_EXPECT_EQ(test, hears(p, t), r->wanted);
	}
}

/**
 * struct detaching - an engine that is detached while its match is asked
 * @task: the task; other tasks are rejected
 * @p: the engine's probe
 * @before: how often the match is asked about @task before the detach
 * @ret: what the detach returned
 */
struct detaching {
	struct task_struct *task;
	struct probe *p;
	unsigned int before;
	int ret;
};

static bool detach_when_asked(struct task_struct *task, void *data)
{
	struct detaching *d = data;

	if (task != d->task)
		return false;
	if (!d->before--)
		d->ret = utrace_control(NULL, d->p->engine, UTRACE_DETACH);
	return true;
}

/* An engine that is detached while a set with it is built is still released. */
static void detached_while_asked(struct kunit *test)
{
	static struct detaching d;
	unsigned int i;

	/* A bare task that gets a struct utrace is asked once more. */
	for (i = 0; i < 2; i++) {
		struct user_task *t = user_task_start(test);
		struct probe *p = probe_new(test);
		struct utrace_match *match;

		d = (struct detaching){ t->task, p, i, -EAGAIN };
		match = new_chooser(test, detach_when_asked, &d);
		KUNIT_ASSERT_EQ(test, probe_try_attach_system(p, 0), 0);
		KUNIT_ASSERT_EQ(test, utrace_set_match(p->engine, match), 0);
		probe_set_events(p, ENTRY);
		user_task_syscall(t, __NR_getppid);
		user_task_syscall(t, __NR_getppid);
		KUNIT_EXPECT_EQ(test, d.ret, 0);
		KUNIT_EXPECT_TRUE(test, probe_put(p));
		KUNIT_EXPECT_EQ(test, p->calls, 0U);
		KUNIT_EXPECT_EQ(test, t->task->utrace_events, 0UL);
	}
}

static struct kunit_case match_race_cases[] = {
	KUNIT_CASE(rename_while_asked),
	KUNIT_CASE(rename_before_another_set),
	KUNIT_CASE(rename_under_load),
	KUNIT_CASE(detached_while_asked),
	{}
};

static struct kunit_suite match_race_suite = {
	.name = "utrace_match_race",
	.test_cases = match_race_cases,
};

kunit_test_suite(match_race_suite);

MODULE_DESCRIPTION("KUnit suite for matches whose tasks change");
MODULE_LICENSE("GPL");
