// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite utrace_system: engines that cover every user task
 */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)
#define EXIT	UTRACE_EVENT(SYSCALL_EXIT)

/* A probe on the whole system. */
static struct probe *attach_system(struct kunit *test, unsigned long events)
{
	struct probe *p = probe_new(test);

	KUNIT_ASSERT_EQ(test, probe_try_attach_system(p, 0), 0);
	p->nr = __NR_getppid;
	if (events)
		probe_set_events(p, events);
	return p;
}

static void task_of_before_is_covered(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_system(test, ENTRY | EXIT);
	struct probe_call c;

	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_PTR_EQ(test, c.task, t->task);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_FALSE(test, c.action & UTRACE_SYSCALL_UNPAIRED);
}

static void task_of_later_is_covered(struct kunit *test)
{
	struct probe *p = attach_system(test, ENTRY);
	struct user_task *t = user_task_start(test);

	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
}

static void children_are_covered(struct kunit *test)
{
	static const unsigned long flags[] = { USER_FORK, USER_THREAD };
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_system(test, ENTRY);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct user_task *child = user_task_clone(t, flags[i], i + 1);

		probe_forget(p);
		user_task_syscall(child, __NR_getppid);
		KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY), 1U);
	}
}

/* No event it wants, no memory. */
static void others_have_nothing(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_system(test, UTRACE_EVENT(JCTL));
	struct user_task *child;

	user_task_syscall(t, __NR_getppid);
	child = user_task_clone(t, USER_FORK, 1);
	user_task_syscall(child, __NR_getppid);
	KUNIT_EXPECT_NULL(test, t->task->utrace);
	KUNIT_EXPECT_NULL(test, child->task->utrace);
	KUNIT_EXPECT_TRUE(test, t->task->utrace_events & UTRACE_EVENT(JCTL));
	KUNIT_EXPECT_TRUE(test, child->task->utrace_events & UTRACE_EVENT(JCTL));
	probe_detach(p);
	KUNIT_EXPECT_EQ(test, t->task->utrace_events, 0UL);
	KUNIT_EXPECT_EQ(test, child->task->utrace_events, 0UL);
}

static void nothing_after_detach(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_system(test, ENTRY);

	user_task_syscall(t, __NR_getppid);
	probe_detach(p);
	KUNIT_EXPECT_EQ(test, p->released, 0U);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
	KUNIT_EXPECT_EQ(test, t->task->utrace_events, 0UL);
	KUNIT_EXPECT_NULL(test, t->task->utrace_set);
}

static void works_beside_others(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *first = probe_attach(t, 0, 0);
	struct probe *system = attach_system(test, ENTRY);
	struct probe *second = probe_attach(t, UTRACE_ATTACH_PROCESS, 0);
	struct user_task *child;

	first->nr = __NR_getppid;
	second->nr = __NR_getppid;
	probe_set_events(first, ENTRY);
	probe_set_events(second, ENTRY);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, first->calls, 1U);
	KUNIT_EXPECT_EQ(test, system->calls, 1U);
	KUNIT_EXPECT_EQ(test, second->calls, 1U);
	/* A thread has the two that go to it, in one set. */
	child = user_task_clone(t, USER_THREAD, 1);
	user_task_syscall(child, __NR_getppid);
	KUNIT_EXPECT_EQ(test, first->calls, 1U);
	KUNIT_EXPECT_EQ(test, system->calls, 2U);
	KUNIT_EXPECT_EQ(test, second->calls, 2U);
	probe_detach(second);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, system->calls, 3U);
	KUNIT_EXPECT_EQ(test, second->calls, 2U);
	probe_detach(system);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, first->calls, 3U);
	KUNIT_EXPECT_EQ(test, system->calls, 3U);
}

static void two_of_the_system(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *entries = attach_system(test, ENTRY);
	struct probe *both;

	user_task_syscall(t, __NR_getppid);
	both = attach_system(test, ENTRY | EXIT);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, entries->calls, 2U);
	KUNIT_EXPECT_EQ(test, both->calls, 2U);
	probe_detach(entries);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, entries->calls, 2U);
	KUNIT_EXPECT_EQ(test, both->calls, 4U);
}

static void events_are_changed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_system(test, ENTRY);

	user_task_syscall(t, __NR_getppid);
	probe_set_events(p, EXIT);
	user_task_syscall(t, __NR_getppid);
	probe_set_events(p, 0);
	user_task_syscall(t, __NR_getppid);
	probe_set_events(p, ENTRY);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY), 2U);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_SYSCALL_EXIT), 1U);
}

/* Its answers do nothing, and it controls nothing. */
static void it_observes(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_system(test, 0);
	long ppid = user_task_syscall(t, __NR_getppid);
	enum utrace_resume_action action;

	p->answer[_UTRACE_EVENT_SYSCALL_ENTRY] =
		UTRACE_STOP | UTRACE_SYSCALL_ABORT;
	probe_set_events(p, ENTRY);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid), ppid);
	for (action = UTRACE_STOP; action < UTRACE_DETACH; action++)
		KUNIT_EXPECT_EQ(test, utrace_control(NULL, p->engine, action),
				-EOPNOTSUPP);
}

static void lifecycle_is_told(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_system(test, UTRACE_EVENT(CLONE) |
					UTRACE_EVENT(EXIT) |
					UTRACE_EVENT(DEATH) |
					UTRACE_EVENT(REAP));
	struct user_task *child = user_task_clone(t, USER_THREAD, 1);

	/* A thread is reaped at once. */
	user_task_do_syscall(child, __NR_exit, 0);
	KUNIT_EXPECT_TRUE(test, probe_wait(p, _UTRACE_EVENT_DEATH, 1));
	KUNIT_EXPECT_TRUE(test, probe_wait(p, _UTRACE_EVENT_REAP, 1));
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_CLONE), 1U);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_EXIT), 1U);
}

static int end_at_once(void *unused)
{
	return 0;
}

/* How often did a probe see this task exit? */
static unsigned int exits_of(struct probe *p, struct task_struct *task)
{
	unsigned int i, n = 0;
	struct probe_call c;

	for (i = 0; probe_find(p, _UTRACE_EVENT_EXIT, i, &c); i++)
		n += c.task == task;
	return n;
}

static void kernel_threads_on_request(struct kunit *test)
{
	struct probe *all = probe_new(test), *user;
	struct task_struct *thread;

	KUNIT_ASSERT_EQ(test, probe_try_attach_system(all, UTRACE_ATTACH_KTHREAD), 0);
	probe_set_events(all, UTRACE_EVENT(EXIT) | UTRACE_EVENT(SIGNAL));
	user = attach_system(test, UTRACE_EVENT(EXIT));

	thread = kthread_create(end_at_once, NULL, "utrace_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	get_task_struct(thread);
	KUNIT_EXPECT_EQ(test, thread->utrace_events & UTRACE_EVENT_ALL,
			UTRACE_EVENT(EXIT));
	wake_up_process(thread);
	KUNIT_EXPECT_TRUE(test, probe_wait(all, _UTRACE_EVENT_EXIT, 1));
	KUNIT_EXPECT_EQ(test, exits_of(all, thread), 1U);
	KUNIT_EXPECT_EQ(test, exits_of(user, thread), 0U);
	put_task_struct(thread);
	probe_detach(all);
	probe_detach(user);
}

static void nonsense_is_refused(struct kunit *test)
{
	struct probe *p = probe_new(test);

	KUNIT_EXPECT_EQ(test, probe_try_attach_system(p, UTRACE_ATTACH_PROCESS),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, probe_try_attach_system(p, UTRACE_ATTACH_CREATE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(utrace_attach_system(0, NULL, NULL)),
			-EINVAL);
}

static void as_many_as_there_are_slots(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p[UTRACE_MAX_ENGINES];
	struct probe *one_more = probe_new(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(p); i++)
		p[i] = attach_system(test, ENTRY);
	KUNIT_EXPECT_EQ(test, probe_try_attach_system(one_more, 0), -ENOSPC);
	user_task_syscall(t, __NR_getppid);
	for (i = 0; i < ARRAY_SIZE(p); i++)
		KUNIT_EXPECT_EQ(test, p[i]->calls, 1U);
	for (i = 0; i < ARRAY_SIZE(p); i++)
		probe_detach(p[i]);
	KUNIT_EXPECT_EQ(test, probe_try_attach_system(one_more, 0), 0);
}

static struct kunit_case system_cases[] = {
	KUNIT_CASE(task_of_before_is_covered),
	KUNIT_CASE(task_of_later_is_covered),
	KUNIT_CASE(children_are_covered),
	KUNIT_CASE(others_have_nothing),
	KUNIT_CASE(nothing_after_detach),
	KUNIT_CASE(works_beside_others),
	KUNIT_CASE(two_of_the_system),
	KUNIT_CASE(events_are_changed),
	KUNIT_CASE(it_observes),
	KUNIT_CASE(lifecycle_is_told),
	KUNIT_CASE(kernel_threads_on_request),
	KUNIT_CASE(nonsense_is_refused),
	KUNIT_CASE(as_many_as_there_are_slots),
	{}
};

static struct kunit_suite system_suite = {
	.name = "utrace_system",
	.test_cases = system_cases,
};

kunit_test_suite(system_suite);

MODULE_DESCRIPTION("KUnit suite for engines of the whole system");
MODULE_LICENSE("GPL");
