// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_set: engines and events that change during
 * a pass
 */
#include <kunit/test.h>

#include <asm/unistd.h>

#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)
#define EXIT	UTRACE_EVENT(SYSCALL_EXIT)
#define CLONE	UTRACE_EVENT(CLONE)
#define QUIESCE	UTRACE_EVENT(QUIESCE)

/*
 * Attach a probe for getppid() only, which the program never calls by itself.
 */
static struct probe *attach_getppid(struct user_task *t, int flags,
				    unsigned long events)
{
	struct probe *p = probe_attach(t, flags, 0);

	p->nr = __NR_getppid;
	probe_set_events(p, events);
	return p;
}

static void call_getppid(struct user_task *t)
{
	user_task_syscall(t, __NR_getppid);
}

/* Words of a probe whose callback changes another engine once. */
#define EVENTS	0
#define RET	1
#define ORDER	2

static u32 detach_other(struct probe *p, struct probe_call *c)
{
	if (p->other) {
		p->word[RET] = probe_control(p->other, UTRACE_DETACH);
		p->other = NULL;
	}
	return UTRACE_RESUME;
}

static u32 change_other(struct probe *p, struct probe_call *c)
{
	if (p->other) {
		p->word[RET] = utrace_set_events(current, p->other->engine,
						 p->word[EVENTS]);
		p->other = NULL;
	}
	return UTRACE_RESUME;
}

static void detach_from_callback_of_earlier(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	/* The newest engine is called first. */
	struct probe *second = attach_getppid(t, 0, ENTRY);
	struct probe *first = attach_getppid(t, 0, 0);

	first->other = second;
	first->hook = detach_other;
	probe_set_events(first, ENTRY);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, probe_count(first, _UTRACE_EVENT_SYSCALL_ENTRY),
			1U);
	KUNIT_EXPECT_EQ(test, second->calls, 0U);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, first->calls, 2U);
	KUNIT_EXPECT_EQ(test, second->calls, 0U);
	KUNIT_EXPECT_TRUE(test, !first->word[RET] ||
			  first->word[RET] == -EINPROGRESS);
}

static void detach_from_callback_of_later(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *second = attach_getppid(t, 0, 0);
	struct probe *first = attach_getppid(t, 0, ENTRY | EXIT);

	second->other = first;
	second->hook = detach_other;
	probe_set_events(second, ENTRY);
	call_getppid(t);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, second->calls, 2U);
	/* The engine was called for the one entry before, and for no exit. */
	KUNIT_EXPECT_EQ(test, first->calls, 1U);
}

static void detach_from_own_callback(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *a = attach_getppid(t, 0, ENTRY | EXIT);
	struct probe *self = attach_getppid(t, 0, 0);

	self->other = self;
	self->hook = detach_other;
	probe_set_events(self, ENTRY | EXIT);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, self->calls, 1U);
	KUNIT_EXPECT_EQ(test, a->calls, 2U);
	KUNIT_EXPECT_EQ(test, probe_control(self, UTRACE_RESUME), -ESRCH);
}

static void detach_by_answer(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *a = attach_getppid(t, 0, ENTRY | EXIT);
	struct probe *self = attach_getppid(t, 0, 0);

	self->answer[_UTRACE_EVENT_SYSCALL_ENTRY] = UTRACE_DETACH;
	probe_set_events(self, ENTRY | EXIT);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, self->calls, 1U);
	KUNIT_EXPECT_EQ(test, a->calls, 2U);
	KUNIT_EXPECT_EQ(test, probe_control(self, UTRACE_RESUME), -ESRCH);
}

static u32 attach_other(struct probe *p, struct probe_call *c)
{
	if (!p->other->engine) {
		p->word[RET] = probe_try_attach(p->other, current, 0);
		if (!p->word[RET])
			p->word[RET] = utrace_set_events(current,
							 p->other->engine,
							 p->word[EVENTS]);
		p->word[ORDER] = c->order;
	}
	return UTRACE_RESUME;
}

/* The new engine would be called after the engine that attaches it. */
static void attach_from_callback(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_getppid(t, UTRACE_ATTACH_OBSERVER, 0);
	struct probe *new = probe_new(test);
	struct probe_call c;

	new->nr = __NR_getppid;
	p->other = new;
	p->word[EVENTS] = ENTRY;
	p->word[RET] = 1;
	p->hook = attach_other;
	probe_set_events(p, ENTRY);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, p->word[RET], 0L);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
	KUNIT_EXPECT_EQ(test, new->calls, 0U);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
	KUNIT_EXPECT_EQ(test, new->calls, 1U);
	c = probe_call(new, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_GT(test, (long)c.order, p->word[ORDER]);
}

/*
 * If utrace_set_events() returns 0, callbacks of the removed events no longer
 * run, not even in the current pass.
 */
static void events_taken_from_later(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *second = attach_getppid(t, 0, ENTRY);
	struct probe *first = attach_getppid(t, 0, 0);

	first->other = second;
	first->word[EVENTS] = CLONE;
	first->word[RET] = 1;
	first->hook = change_other;
	probe_set_events(first, ENTRY);
	call_getppid(t);
	KUNIT_EXPECT_TRUE(test, !first->word[RET] ||
			  first->word[RET] == -EINPROGRESS);
	if (!first->word[RET])
		KUNIT_EXPECT_EQ(test, second->calls, 0U);
	probe_forget(second);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, second->calls, 0U);
	KUNIT_EXPECT_EQ(test, second->engine->flags, CLONE);
}

static void events_given_to_other(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *second = attach_getppid(t, 0, CLONE);
	struct probe *first = attach_getppid(t, 0, 0);

	first->other = second;
	first->word[EVENTS] = EXIT;
	first->word[RET] = 1;
	first->hook = change_other;
	probe_set_events(first, ENTRY);
	call_getppid(t);
	KUNIT_EXPECT_EQ(test, first->word[RET], 0L);
	/* The exit is another pass of the same call. */
	KUNIT_EXPECT_EQ(test, probe_count(second, _UTRACE_EVENT_SYSCALL_EXIT),
			1U);
	KUNIT_EXPECT_EQ(test, probe_count(second, _UTRACE_EVENT_SYSCALL_ENTRY),
			0U);
}

static u32 opt_in(struct probe *p, struct probe_call *c)
{
	unsigned long events = p->word[EVENTS];

	if (c->event == _UTRACE_EVENT_QUIESCE && c->arg[0] == events)
		p->word[RET] = utrace_set_events(current, p->engine,
						 QUIESCE | events);
	return UTRACE_RESUME | PROBE_KEEP;
}

/* An engine may still ask for an event in report_quiesce. */
static void opt_in_from_quiesce(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *a = attach_getppid(t, 0, CLONE);
	struct probe *p = attach_getppid(t, 0, 0);

	p->word[EVENTS] = CLONE;
	p->word[RET] = 1;
	p->hook = opt_in;
	probe_set_events(p, QUIESCE);
	user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_EQ(test, p->word[RET], 0L);
	KUNIT_EXPECT_EQ(test, probe_count(a, _UTRACE_EVENT_CLONE), 1U);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_CLONE), 1U);
}

static void limit_is_enforced(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p[UTRACE_MAX_ENGINES], *more = probe_new(test);
	unsigned int i, order = 0;

	for (i = 0; i < UTRACE_MAX_ENGINES; i++)
		p[i] = attach_getppid(t, 0, EXIT);
	KUNIT_EXPECT_EQ(test, probe_try_attach(more, t->task, 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test,
			probe_try_attach(more, t->task, UTRACE_ATTACH_TREE),
			-ENOSPC);

	call_getppid(t);
	for (i = 0; i < UTRACE_MAX_ENGINES; i++) {
		struct probe_call c;

		c = probe_call(p[i], _UTRACE_EVENT_SYSCALL_EXIT, 0);
		KUNIT_EXPECT_GT(test, c.order, order);
		order = c.order;
	}

	/* A detach frees room for one engine. */
	probe_detach(p[10]);
	KUNIT_EXPECT_EQ(test, probe_try_attach(more, t->task, 0), 0);
}

/* Check whether a probe sees the getppid() of a task. */
static void expect_seen(struct user_task *t, struct probe *p, bool seen,
			const char *what)
{
	unsigned int before = probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY);

	call_getppid(t);
	KUNIT_EXPECT_EQ_MSG(t->test,
			    probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY) -
			    before, seen ? 1U : 0U, "%s", what);
}

static void scope_covers_existing(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct user_task *child = user_task_clone(t, USER_FORK, 2);
	struct user_task *grandchild = user_task_clone(child, USER_FORK, 3);
	struct probe *p = attach_getppid(t, 0, ENTRY);
	struct probe *q = attach_getppid(t, UTRACE_ATTACH_PROCESS, ENTRY);
	struct probe *r = attach_getppid(t, UTRACE_ATTACH_TREE, ENTRY);

	expect_seen(t, p, true, "thread scope, itself");
	expect_seen(thread, p, false, "thread scope, other thread");
	expect_seen(child, p, false, "thread scope, child");
	expect_seen(t, q, true, "process scope, itself");
	expect_seen(thread, q, true, "process scope, other thread");
	expect_seen(child, q, false, "process scope, child");
	expect_seen(t, r, true, "tree scope, itself");
	expect_seen(thread, r, true, "tree scope, other thread");
	expect_seen(child, r, true, "tree scope, child");
	expect_seen(grandchild, r, true, "tree scope, grandchild");
}

static void scope_covers_created(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_getppid(t, 0, ENTRY);
	struct probe *q = attach_getppid(t, UTRACE_ATTACH_PROCESS, ENTRY);
	struct probe *r = attach_getppid(t, UTRACE_ATTACH_TREE, ENTRY);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct user_task *child = user_task_clone(t, USER_FORK, 2);
	struct user_task *grandchild = user_task_clone(child, USER_FORK, 3);

	expect_seen(thread, p, false, "thread scope, other thread");
	expect_seen(child, p, false, "thread scope, child");
	expect_seen(thread, q, true, "process scope, other thread");
	expect_seen(child, q, false, "process scope, child");
	expect_seen(thread, r, true, "tree scope, other thread");
	expect_seen(child, r, true, "tree scope, child");
	expect_seen(grandchild, r, true, "tree scope, grandchild");

	/*
	 * The task in the middle of the tree ends; its child stays in the tree.
	 */
	user_task_kill(child, SIGKILL);
	KUNIT_ASSERT_TRUE(test, user_task_wait_dead(child));
	expect_seen(grandchild, r, true, "tree scope, orphan");
}

/* Flags that hide a child from ptrace, or give it another parent. */
static void tree_has_no_escape(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_getppid(t, UTRACE_ATTACH_TREE, ENTRY);
	struct user_task *a, *b;

	a = user_task_clone(t, USER_FORK | CLONE_UNTRACED, 1);
	b = user_task_clone(t, USER_FORK | CLONE_PARENT, 2);
	expect_seen(a, p, true, "CLONE_UNTRACED");
	expect_seen(b, p, true, "CLONE_PARENT");
}

/* The very first system call of a child is reported. */
static void child_is_seen_from_birth(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, UTRACE_ATTACH_TREE, ENTRY);
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	struct probe_call c = {};
	unsigned int i = 0;

	while (probe_find(p, _UTRACE_EVENT_SYSCALL_ENTRY, i, &c) &&
	       c.task != child->task)
		i++;
	KUNIT_ASSERT_PTR_EQ(test, c.task, child->task);
	/* The first call of the program in a new task is gettid(). */
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)__NR_gettid);
}

static void tree_outlives_members(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, UTRACE_ATTACH_TREE,
				       UTRACE_EVENT(REAP) |
				       UTRACE_EVENT(DEATH));
	struct probe_call c;
	int ret;

	user_task_do_syscall(t, __NR_exit_group, 0);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_REAP, 1));
	c = probe_call(p, _UTRACE_EVENT_DEATH, 0);
	KUNIT_EXPECT_EQ(test, c.arg[0], 1L);
	/* The reaper may still run the callback. */
	ret = utrace_set_events(NULL, p->engine, 0);
	KUNIT_EXPECT_TRUE(test, !ret || ret == -EINPROGRESS);
	ret = probe_control(p, UTRACE_DETACH);
	KUNIT_EXPECT_TRUE(test, !ret || ret == -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_DETACH), -ESRCH);
}

/* A detach detects a callback that the reaper runs, too. */
static void detach_sees_the_reaper(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, UTRACE_ATTACH_TREE, 0);
	long in_time;
	int ret;

	p->hook = probe_take_long;
	probe_set_events(p, UTRACE_EVENT(REAP));
	user_task_do_syscall(t, __NR_exit_group, 0);
	in_time = wait_for_completion_timeout(&p->begun, USER_DEADLINE);
	ret = probe_control(p, UTRACE_DETACH);
	complete(&p->end);
	KUNIT_EXPECT_GT(test, in_time, 0L);
	KUNIT_EXPECT_EQ(test, ret, -EINPROGRESS);
}

static void expect_entry(struct probe *p)
{
	KUNIT_ASSERT_TRUE(p->test,
			  probe_wait(p, _UTRACE_EVENT_SYSCALL_ENTRY, 1));
}

/* After a detach and a barrier no callback runs, however busy the task is. */
static void detach_under_load(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_new(test);
	unsigned int i, seen = 0;

	user_task_do(t, .op = USER_REPEAT, .nr = __NR_getppid);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	for (i = 0; i < 100; i++) {
		struct utrace_engine *engine;
		unsigned int calls;

		KUNIT_ASSERT_EQ(test, probe_try_attach(p, t->task, 0), 0);
		probe_set_events(p, UTRACE_EVENT_SYSCALL | QUIESCE);
		/* Let the engine be called in every fourth round. */
		if (i % 4 == 0)
			expect_entry(p);
		engine = p->engine;
		probe_detach(p);
		calls = READ_ONCE(p->calls);
		seen += !!calls;
		p->engine = NULL;
		utrace_engine_put(engine);
		KUNIT_ASSERT_EQ(test, p->released, i + 1);
		KUNIT_ASSERT_EQ(test, READ_ONCE(p->calls), calls);
		probe_forget(p);
	}
	KUNIT_EXPECT_GE(test, seen, 25U);
	user_task_go(t, 1);
	user_task_result(t);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

/* After utrace_set_events() and a barrier no removed event is reported. */
static void set_events_under_load(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	unsigned int i;

	user_task_do(t, .op = USER_REPEAT, .nr = __NR_getppid);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	for (i = 0; i < 100; i++) {
		unsigned int calls;

		probe_set_events(p, ENTRY);
		if (i % 4 == 0)
			expect_entry(p);
		probe_set_events(p, CLONE);
		calls = READ_ONCE(p->calls);
		KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
		KUNIT_ASSERT_EQ(test, READ_ONCE(p->calls), calls);
		probe_forget(p);
	}
	user_task_go(t, 1);
	user_task_result(t);
}

static struct kunit_case set_cases[] = {
	KUNIT_CASE(detach_from_callback_of_earlier),
	KUNIT_CASE(detach_from_callback_of_later),
	KUNIT_CASE(detach_from_own_callback),
	KUNIT_CASE(detach_by_answer),
	KUNIT_CASE(attach_from_callback),
	KUNIT_CASE(events_taken_from_later),
	KUNIT_CASE(events_given_to_other),
	KUNIT_CASE(opt_in_from_quiesce),
	KUNIT_CASE(limit_is_enforced),
	KUNIT_CASE(scope_covers_existing),
	KUNIT_CASE(scope_covers_created),
	KUNIT_CASE(tree_has_no_escape),
	KUNIT_CASE(child_is_seen_from_birth),
	KUNIT_CASE(tree_outlives_members),
	KUNIT_CASE(detach_sees_the_reaper),
	KUNIT_CASE(detach_under_load),
	KUNIT_CASE_SLOW(set_events_under_load),
	{}
};

static struct kunit_suite set_suite = {
	.name = "utrace_set",
	.test_cases = set_cases,
};

kunit_test_suite(set_suite);

MODULE_DESCRIPTION("KUnit suite for sets of utrace engines");
MODULE_LICENSE("GPL");
