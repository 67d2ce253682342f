// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_engine: an engine's life
 *
 * Attach, find, control, detach and release, without regard to events.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ptrace.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "probe.h"

#define CREATE		UTRACE_ATTACH_CREATE
#define MATCH_BOTH	(UTRACE_ATTACH_MATCH_OPS | UTRACE_ATTACH_MATCH_DATA)

/* Find an engine without creating one; returns 0 or an errno. */
static int look_up(struct task_struct *task, int flags, void *data,
		   const struct utrace_engine *expected)
{
	struct utrace_engine *found;
	int ret = 0;

	found = utrace_attach_task(task, flags, &probe_ops, data);
	if (IS_ERR(found))
		return PTR_ERR(found);
	if (found != expected)
		ret = 1;
	utrace_engine_put(found);
	return ret;
}

static void attach_gives_engine(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_EXPECT_PTR_EQ(test, p->engine->ops, &probe_ops);
	KUNIT_EXPECT_PTR_EQ(test, p->engine->data, (void *)p);
	KUNIT_EXPECT_EQ(test, p->engine->flags, 0UL);
	KUNIT_EXPECT_LE(test, sizeof(*p->engine), 64UL);
	/* The engine wants no events, so it is not called. */
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

static void look_up_finds_match(struct kunit *test)
{
	static const struct utrace_engine_ops other_ops;
	struct user_task *t = user_task_start(test);
	struct utrace_engine *found;
	struct probe *p;

	KUNIT_EXPECT_EQ(test, look_up(t->task, MATCH_BOTH, NULL, NULL),
			-ENOENT);
	p = probe_attach(t, 0, 0);
	KUNIT_EXPECT_EQ(test, look_up(t->task, MATCH_BOTH, p, p->engine), 0);
	KUNIT_EXPECT_EQ(test, look_up(t->task, MATCH_BOTH, test, NULL),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, look_up(t->task, UTRACE_ATTACH_MATCH_OPS, NULL,
				      p->engine), 0);
	KUNIT_EXPECT_EQ(test, look_up(t->task, UTRACE_ATTACH_MATCH_DATA, p,
				      p->engine), 0);
	/* Without MATCH_OPS and MATCH_DATA any engine is found. */
	KUNIT_EXPECT_EQ(test, look_up(t->task, 0, NULL, p->engine), 0);

	found = utrace_attach_task(t->task, UTRACE_ATTACH_MATCH_OPS,
				   &other_ops, p);
	KUNIT_EXPECT_PTR_EQ(test, found, ERR_PTR(-ENOENT));

	probe_detach(p);
	KUNIT_EXPECT_EQ(test, look_up(t->task, MATCH_BOTH, p, NULL), -ENOENT);
}

static void look_up_finds_first(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *a = probe_attach(t, 0, 0);
	struct probe *b = probe_attach(t, 0, 0);

	KUNIT_EXPECT_EQ(test, look_up(t->task, UTRACE_ATTACH_MATCH_OPS, NULL,
				      a->engine), 0);
	KUNIT_EXPECT_EQ(test, look_up(t->task, MATCH_BOTH, b, b->engine), 0);
	probe_detach(a);
	KUNIT_EXPECT_EQ(test, look_up(t->task, UTRACE_ATTACH_MATCH_OPS, NULL,
				      b->engine), 0);
}

static void attach_rejects_nonsense(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_new(test);

	KUNIT_EXPECT_PTR_EQ(test,
			    utrace_attach_task(t->task, CREATE, NULL, NULL),
			    ERR_PTR(-EINVAL));
	KUNIT_EXPECT_EQ(test, probe_try_attach(p, t->task, 0x8000), -EINVAL);
	KUNIT_EXPECT_EQ(test, probe_try_attach(p, t->task, 0x0004), -EINVAL);
	KUNIT_EXPECT_EQ(test,
			probe_try_attach(p, t->task,
					 UTRACE_ATTACH_SCOPE_MASK), -EINVAL);
}

/* The suite runs in a kernel thread. */
static void attach_refuses_kthread(struct kunit *test)
{
	struct probe *p = probe_new(test);

	KUNIT_EXPECT_EQ(test, probe_try_attach(p, current, 0), -EPERM);
	KUNIT_EXPECT_EQ(test,
			probe_try_attach(p, current, UTRACE_ATTACH_PROCESS),
			-EPERM);
	KUNIT_EXPECT_EQ(test,
			probe_try_attach(p, current, UTRACE_ATTACH_TREE),
			-EPERM);
}

static void exclusive_refuses_second(struct kunit *test)
{
	const int exclusive = UTRACE_ATTACH_EXCLUSIVE;
	struct user_task *t = user_task_start(test);
	struct probe *a = probe_attach(t, exclusive, 0);
	struct probe *b = probe_new(test);

	KUNIT_EXPECT_EQ(test, probe_try_attach(b, t->task, exclusive), -EEXIST);
	KUNIT_EXPECT_EQ(test,
			probe_try_attach(b, t->task, exclusive |
					 UTRACE_ATTACH_MATCH_OPS), -EEXIST);
	/* An engine with other data does not exclude a new one. */
	KUNIT_EXPECT_EQ(test, probe_try_attach(b, t->task,
					       exclusive | MATCH_BOTH), 0);
	/* Without UTRACE_ATTACH_EXCLUSIVE a second engine may attach. */
	probe_attach(t, 0, 0);
	probe_detach(a);
}

static void exclusive_forgets_detached(struct kunit *test)
{
	const int exclusive = UTRACE_ATTACH_EXCLUSIVE | UTRACE_ATTACH_MATCH_OPS;
	struct user_task *t = user_task_start(test);
	struct probe *a = probe_attach(t, exclusive, 0);

	probe_detach(a);
	probe_attach(t, exclusive, 0);
}

static void look_up_minds_scope(struct kunit *test)
{
	const int any = MATCH_BOTH | UTRACE_ATTACH_ANY_SCOPE;
	const int process = MATCH_BOTH | UTRACE_ATTACH_PROCESS;
	const int tree = MATCH_BOTH | UTRACE_ATTACH_TREE;
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = probe_attach(t, UTRACE_ATTACH_PROCESS, 0);
	struct probe *q = probe_attach(t, 0, 0);

	KUNIT_EXPECT_EQ(test, look_up(t->task, MATCH_BOTH, p, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, look_up(t->task, tree, p, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, look_up(t->task, process, p, p->engine), 0);
	KUNIT_EXPECT_EQ(test, look_up(thread->task, process, p, p->engine), 0);
	KUNIT_EXPECT_EQ(test, look_up(t->task, any, p, p->engine), 0);
	KUNIT_EXPECT_EQ(test, look_up(thread->task, any, p, p->engine), 0);

	KUNIT_EXPECT_EQ(test, look_up(t->task, process, q, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, look_up(thread->task, MATCH_BOTH, q, NULL),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, look_up(thread->task, any, q, NULL), -ENOENT);
}

static void attach_by_pid(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_new(test);
	struct utrace_engine *engine;

	engine = utrace_attach_pid(t->pid, CREATE, &probe_ops, p);
	KUNIT_ASSERT_FALSE(test, IS_ERR(engine));
	p->engine = engine;
	p->attached++;
	p->target = t->task;
	KUNIT_EXPECT_EQ(test, look_up(t->task, MATCH_BOTH, p, engine), 0);
	KUNIT_EXPECT_EQ(test, utrace_set_events_pid(t->pid, engine,
						    UTRACE_EVENT(REAP)), 0);
	KUNIT_EXPECT_EQ(test, utrace_control_pid(t->pid, engine,
						 UTRACE_RESUME), 0);
	KUNIT_EXPECT_EQ(test, utrace_barrier_pid(t->pid, engine), 0);

	user_task_kill(t, SIGKILL);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_REAP, 1));
	utrace_barrier_sync(engine);
	KUNIT_EXPECT_EQ(test, utrace_control_pid(t->pid, engine,
						 UTRACE_DETACH), -ESRCH);
	KUNIT_EXPECT_EQ(test, utrace_set_events_pid(t->pid, engine, 0),
			-ESRCH);
	KUNIT_EXPECT_PTR_EQ(test,
			    utrace_attach_pid(t->pid, CREATE, &probe_ops, p),
			    ERR_PTR(-ESRCH));
}

static void set_events_replaces_mask(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	probe_set_events(p, UTRACE_EVENT(CLONE) | UTRACE_EVENT(EXEC));
	KUNIT_EXPECT_EQ(test, p->engine->flags,
			UTRACE_EVENT(CLONE) | UTRACE_EVENT(EXEC));
	probe_set_events(p, UTRACE_EVENT(REAP));
	KUNIT_EXPECT_EQ(test, p->engine->flags, UTRACE_EVENT(REAP));
	probe_set_events(p, UTRACE_EVENT_ALL);
	KUNIT_EXPECT_EQ(test, p->engine->flags, UTRACE_EVENT_ALL);
	probe_set_events(p, 0);
	KUNIT_EXPECT_EQ(test, p->engine->flags, 0UL);
}

static void set_events_rejects_unknown(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(EXEC));

	KUNIT_EXPECT_EQ(test, utrace_set_events(t->task, p->engine,
						BIT(_UTRACE_NEVENTS)), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_set_events(t->task, p->engine, ~0UL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, p->engine->flags, UTRACE_EVENT(EXEC));
}

/* A detached engine has no events, and its flags are 0. */
static void detach_clears_events(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT_SYSCALL);

	probe_detach(p);
	KUNIT_EXPECT_EQ(test, p->engine->flags, 0UL);
	probe_forget(p);
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

static void target_is_compared(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct user_task *child = user_task_clone(t, USER_FORK, 2);
	const struct {
		int scope;
		bool self, thread, child;
	} rows[] = {
		{ 0,			 true, false, false },
		{ UTRACE_ATTACH_PROCESS, true, true,  false },
		{ UTRACE_ATTACH_TREE,	 true, true,  true  },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct probe *p = probe_attach(t, rows[i].scope, 0);
		const struct {
			struct task_struct *task;
			bool ok;
		} to[] = {
			{ NULL,		true },
			{ t->task,	rows[i].self },
			{ thread->task,	rows[i].thread },
			{ child->task,	rows[i].child },
			{ current,	false },
		};
		unsigned int j;

		for (j = 0; j < ARRAY_SIZE(to); j++) {
			int want = to[j].ok ? 0 : -ESRCH;

			KUNIT_EXPECT_EQ_MSG(test, want,
					    utrace_set_events(to[j].task,
							      p->engine, 0),
					    "set_events, row %u, task %u",
					    i, j);
			KUNIT_EXPECT_EQ_MSG(test, want,
					    utrace_control(to[j].task,
							   p->engine,
							   UTRACE_RESUME),
					    "control, row %u, task %u", i, j);
			/*
			 * A barrier reads its target, but does not change it.
			 */
			KUNIT_EXPECT_EQ_MSG(test, 0,
					    utrace_barrier(to[j].task,
							   p->engine),
					    "barrier, row %u, task %u", i, j);
		}
	}
}

static void control_rejects_nonsense(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, probe_control(p, -1), -EINVAL);
	/* An engine without QUIESCE would not get the report or the step. */
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_REPORT), -EINVAL);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_SINGLESTEP), -EINVAL);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_BLOCKSTEP), -EINVAL);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
}

/* Another reference keeps the engine, even when it is detached. */
static void last_put_releases(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(EXEC));

	utrace_engine_get(p->engine);
	probe_detach(p);
	utrace_engine_put(p->engine);
	KUNIT_EXPECT_EQ(test, p->released, 0U);
	utrace_engine_put(p->engine);
	p->engine = NULL;
	KUNIT_EXPECT_EQ(test, p->released, 1U);
}

/* The detach may drop the last reference. */
static void detach_releases(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(EXEC));
	struct utrace_engine *engine = p->engine;

	p->engine = NULL;
	utrace_engine_put(engine);
	KUNIT_EXPECT_EQ(test, p->released, 0U);
	KUNIT_EXPECT_EQ(test, utrace_control(t->task, engine, UTRACE_DETACH),
			0);
	KUNIT_EXPECT_TRUE(test, probe_wait_released(p));
	KUNIT_EXPECT_EQ(test, p->released, 1U);
}

static void reap_releases(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(REAP));
	struct probe *q = probe_attach(t, UTRACE_ATTACH_PROCESS, 0);

	utrace_engine_put(p->engine);
	utrace_engine_put(q->engine);
	p->engine = NULL;
	q->engine = NULL;
	user_task_kill(t, SIGKILL);
	KUNIT_EXPECT_TRUE(test, probe_wait_released(p));
	KUNIT_EXPECT_TRUE(test, probe_wait_released(q));
	KUNIT_EXPECT_EQ(test, p->released, 1U);
	KUNIT_EXPECT_EQ(test, q->released, 1U);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_REAP), 1U);
}

/* A thread engine ends with its thread, a process engine does not. */
static void scope_ends_engine(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = probe_attach(thread, 0, UTRACE_EVENT(REAP));
	struct probe *q = probe_attach(thread, UTRACE_ATTACH_PROCESS,
				       UTRACE_EVENT(REAP));

	user_task_do_syscall(thread, __NR_exit, 0);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_REAP, 1));
	KUNIT_ASSERT_TRUE(test, probe_wait(q, _UTRACE_EVENT_REAP, 1));
	utrace_barrier_sync(p->engine);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), -ESRCH);
	KUNIT_EXPECT_EQ(test, probe_control(q, UTRACE_RESUME), 0);

	user_task_kill(t, SIGKILL);
	KUNIT_ASSERT_TRUE(test, probe_wait(q, _UTRACE_EVENT_REAP, 2));
	utrace_barrier_sync(q->engine);
	KUNIT_EXPECT_EQ(test, probe_control(q, UTRACE_RESUME), -ESRCH);
}

/* Attach an engine, detach it, and wait for its release. */
static void come_and_go(struct kunit *test, struct user_task *t)
{
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_EXPECT_FALSE(test, static_key_enabled(&utrace_unused));
	probe_detach(p);
	utrace_engine_put(p->engine);
	KUNIT_EXPECT_TRUE(test, probe_wait_released(p));
	p->engine = NULL;
}

/*
 * The static key enables the safe point from the first engine until a second
 * after the last engine was freed.
 */
static void key_follows_engines(struct kunit *test)
{
	unsigned long end = jiffies + 20 * HZ;
	struct user_task *t = user_task_start(test);

	come_and_go(test, t);
	/* The next engine restarts the second. */
	msleep(800);
	come_and_go(test, t);
	msleep(500);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&utrace_unused));
	while (!static_key_enabled(&utrace_unused) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&utrace_unused));
	/* The end of an engine has no effect while there is another one. */
	probe_attach(t, 0, 0);
	come_and_go(test, t);
	msleep(1500);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&utrace_unused));
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(attach_gives_engine),
	KUNIT_CASE(look_up_finds_match),
	KUNIT_CASE(look_up_finds_first),
	KUNIT_CASE(attach_rejects_nonsense),
	KUNIT_CASE(attach_refuses_kthread),
	KUNIT_CASE(exclusive_refuses_second),
	KUNIT_CASE(exclusive_forgets_detached),
	KUNIT_CASE(look_up_minds_scope),
	KUNIT_CASE(attach_by_pid),
	KUNIT_CASE(set_events_replaces_mask),
	KUNIT_CASE(set_events_rejects_unknown),
	KUNIT_CASE(detach_clears_events),
	KUNIT_CASE(target_is_compared),
	KUNIT_CASE(control_rejects_nonsense),
	KUNIT_CASE(last_put_releases),
	KUNIT_CASE(detach_releases),
	KUNIT_CASE(reap_releases),
	KUNIT_CASE(scope_ends_engine),
	KUNIT_CASE_SLOW(key_follows_engines),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "utrace_engine",
	.test_cases = engine_cases,
};

kunit_test_suite(engine_suite);

MODULE_DESCRIPTION("KUnit suite for the life of utrace engines");
MODULE_LICENSE("GPL");
