// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_system: engines that cover every user task
 *
 * Bare tasks, tasks with engines of their own, and their children.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "../internal.h"
#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)
#define EXIT	UTRACE_EVENT(SYSCALL_EXIT)

/* Attach a probe of system scope. */
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
		KUNIT_EXPECT_EQ(test,
				probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY),
				1U);
	}
}

/* A task without a wanted event stays bare. */
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
	/* The thread has both engines that cover it, in one set. */
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

/* Make a few calls, and return how many entries a probe gets. */
static unsigned int hears(struct probe *p, struct user_task *t)
{
	probe_forget(p);
	user_task_syscall(t, __NR_getppid);
	user_task_syscall(t, __NR_getuid);
	return probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY);
}

/*
 * A change of events of the engine of the system applies to bare tasks, and to
 * tasks that got a set for another engine before or after it.
 */
static void changes_reach_all_tasks(struct kunit *test)
{
	static const int nrs[] = { __NR_getppid, __NR_getuid };
	struct user_task *t[3];
	struct probe *p;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		t[i] = user_task_start(test);
	probe_attach(t[1], 0, UTRACE_EVENT(EXEC));
	p = attach_system(test, UTRACE_EVENT(JCTL));
	probe_attach(t[2], 0, UTRACE_EVENT(EXEC));
	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ(test, hears(p, t[i]), 0U);
	KUNIT_EXPECT_NULL(test, t[0]->task->utrace);

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, nrs, 2), 0);
	p->nr = PROBE_ANY_NR;
	probe_set_events(p, ENTRY);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ(test, hears(p, t[i]), 2U);
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, nrs, 1), 0);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ(test, hears(p, t[i]), 1U);
	/* The commands of the test cause calls, too. */
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, NULL, 0), 0);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_GT(test, hears(p, t[i]), 2U);
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, nrs, 2), 0);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ(test, hears(p, t[i]), 2U);
	probe_set_events(p, UTRACE_EVENT(JCTL));
	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ(test, hears(p, t[i]), 0U);
}

/* Make a handler run while the task sleeps in pause(). */
static void handle_signal(struct user_task *t)
{
	user_task_do_syscall(t, __NR_pause);
	KUNIT_ASSERT_TRUE(t->test, user_task_wait_asleep(t));
	user_task_kill(t, SIGUSR1);
	KUNIT_EXPECT_EQ(t->test, user_task_result(t), (long)-EINTR);
}

static struct user_task *start_with_handler(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_do(t, .op = USER_HANDLE, .arg = { SIGUSR1, 0 });
	KUNIT_ASSERT_EQ(test, user_task_result(t), 0L);
	return t;
}

/*
 * The engine detaches at its first signal; the signal and other engines stay.
 */
static void detach_by_answer_to_signal(struct kunit *test)
{
	struct user_task *t = start_with_handler(test);
	struct probe *p[3], *q;
	unsigned int i;

	p[0] = attach_system(test, 0);
	p[1] = probe_attach(t, 0, 0);
	p[2] = probe_attach(t, UTRACE_ATTACH_PROCESS, 0);
	q = attach_system(test, UTRACE_EVENT(SIGNAL));
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i]->answer[_UTRACE_EVENT_SIGNAL] = UTRACE_DETACH | PROBE_KEEP;
		probe_set_events(p[i], UTRACE_EVENT(SIGNAL));
	}
	handle_signal(t);
	handle_signal(t);
	KUNIT_EXPECT_EQ(test, q->calls, 2U);
	KUNIT_EXPECT_EQ(test,
			user_task_peek(t, offsetof(struct user_area, handled)),
			2UL);
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		KUNIT_EXPECT_EQ(test, p[i]->calls, 1U);
		KUNIT_EXPECT_TRUE(test, probe_put(p[i]));
	}
}

/*
 * After the only engine detaches this way, the task has no set and no events.
 */
static void only_one_detaches_at_signal(struct kunit *test)
{
	struct user_task *t = start_with_handler(test);
	struct probe *p = attach_system(test, 0);

	p->answer[_UTRACE_EVENT_SIGNAL] = UTRACE_DETACH | PROBE_KEEP;
	probe_set_events(p, UTRACE_EVENT(SIGNAL));
	handle_signal(t);
	KUNIT_EXPECT_TRUE(test, probe_put(p));
	handle_signal(t);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
	KUNIT_EXPECT_EQ(test, t->task->utrace_events, 0UL);
	KUNIT_EXPECT_NULL(test, t->task->utrace_set);
	KUNIT_EXPECT_EQ(test,
			user_task_peek(t, offsetof(struct user_area, handled)),
			2UL);
}

/*
 * execve() by a thread: the old leader is reaped once, and the thread has one
 * engine.
 */
static void expect_exec_by_thread(struct kunit *test, bool traced)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = attach_system(test, ENTRY | UTRACE_EVENT(EXEC) |
					UTRACE_EVENT(REAP));

	if (traced) {
		probe_attach(t, 0, UTRACE_EVENT(EXEC));
		probe_attach(thread, 0, UTRACE_EVENT(EXEC));
		probe_attach(t, UTRACE_ATTACH_PROCESS, UTRACE_EVENT(EXEC));
	}
	user_task_do(thread, .op = USER_EXEC);
	/* The new image serves channel 0. */
	user_task_hello(t);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
	KUNIT_EXPECT_EQ(test, probe_call(p, _UTRACE_EVENT_REAP, 0).arg[0],
			(long)t->task);
	KUNIT_EXPECT_PTR_EQ(test, probe_call(p, _UTRACE_EVENT_EXEC, 0).task,
			    thread->task);
	probe_forget(p);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
	KUNIT_EXPECT_PTR_EQ(test,
			    probe_call(p, _UTRACE_EVENT_SYSCALL_ENTRY, 0).task,
			    thread->task);
	probe_detach(p);
}

static void exec_by_thread_is_covered(struct kunit *test)
{
	expect_exec_by_thread(test, false);
}

static void exec_by_traced_thread_is_covered(struct kunit *test)
{
	expect_exec_by_thread(test, true);
}

/*
 * A dead task gets no set, which would also contain the engines of the system.
 */
static void reaped_gets_no_set(struct kunit *test)
{
	static const int scope[] = {
		0, UTRACE_ATTACH_PROCESS, UTRACE_ATTACH_TREE
	};
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	struct probe *p = attach_system(test, UTRACE_EVENT(JCTL));
	long pid = task_pid_nr(child->task);
	unsigned int i;

	user_task_kill(child, SIGKILL);
	KUNIT_ASSERT_EQ(test,
			user_task_syscall(t, __NR_wait4, pid, 0, 0, 0), pid);
	KUNIT_EXPECT_NULL(test, child->task->utrace);
	for (i = 0; i < ARRAY_SIZE(scope); i++)
		KUNIT_EXPECT_EQ(test,
				probe_try_attach(probe_new(test), child->task,
						 scope[i]),
				-ESRCH);
	KUNIT_ASSERT_NULL(test, child->task->utrace_set);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_DETACH), 0);
	KUNIT_EXPECT_TRUE(test, probe_put(p));
}

#define COMINGS	50

/**
 * struct comer - a kernel thread that attaches and ends engines in a loop
 * @test: the test that the thread belongs to
 * @task: the task to attach to; NULL: the system
 * @shut: end engines by utrace_engine_shutdown()
 * @thread: the kernel thread
 * @ret: the first error
 * @released: number of engines that were released
 * @done: the thread has finished its loop
 */
struct comer {
	struct kunit *test;
	struct task_struct *task;
	bool shut;
	struct task_struct *thread;
	int ret;
	atomic_t released;
	struct completion done;
};

static u32 comer_entry(u32 action, struct utrace_engine *engine,
		       struct pt_regs *regs)
{
	return UTRACE_RESUME | utrace_syscall_action(action);
}

static void comer_release(void *data)
{
	struct comer *c = data;

	atomic_inc(&c->released);
}

static const struct utrace_engine_ops comer_ops = {
	.report_syscall_entry	= comer_entry,
	.release		= comer_release,
	.name			= "comer",
};

static int come_and_go(struct comer *c)
{
	struct utrace_engine *engine;
	int ret;

	if (c->task)
		engine = utrace_attach_task(c->task, UTRACE_ATTACH_CREATE,
					    &comer_ops, c);
	else
		engine = utrace_attach_system(0, &comer_ops, c);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	ret = utrace_set_events(c->task, engine, ENTRY);
	cond_resched();
	if (c->shut) {
		utrace_engine_shutdown(engine);
		return ret;
	}
	ret = ret ?: utrace_control(c->task, engine, UTRACE_DETACH);
	if (ret == -EINPROGRESS)
		ret = 0;
	utrace_barrier_sync(engine);
	utrace_engine_put(engine);
	return ret;
}

static int comer_fn(void *data)
{
	struct comer *c = data;
	unsigned int i;

	for (i = 0; i < COMINGS && !c->ret; i++)
		c->ret = come_and_go(c);
	complete_all(&c->done);
	/* Run until kthread_stop(). */
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void comer_collect(void *data)
{
	struct comer *c = data;

	KUNIT_EXPECT_TRUE_MSG(c->test,
			      wait_for_completion_timeout(&c->done,
							  3 * USER_DEADLINE),
			      "an engine is not released");
	kthread_stop(c->thread);
}

static struct comer *comer_start(struct kunit *test, struct task_struct *task,
				 bool shut)
{
	struct comer *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->test = test;
	c->task = task;
	c->shut = shut;
	init_completion(&c->done);
	c->thread = kthread_run(comer_fn, c, "utrace_comer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(c->thread));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, comer_collect, c),
			0);
	return c;
}

/* Sets are built all the time, and none of them keeps a detached engine. */
static void many_come_and_go(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *bare = user_task_start(test);
	struct comer *c[4];
	unsigned int i;

	user_task_do(t, .op = USER_REPEAT, .nr = __NR_getppid);
	user_task_do(bare, .op = USER_REPEAT, .nr = __NR_getppid);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(bare));
	for (i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = comer_start(test, i < 2 ? NULL : t->task, i % 2);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		KUNIT_ASSERT_TRUE_MSG(test,
				      wait_for_completion_timeout(&c[i]->done,
								  3 * USER_DEADLINE),
				      "an engine is not released");
		KUNIT_EXPECT_EQ(test, c[i]->ret, 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&c[i]->released), COMINGS);
	}
	user_task_go(t, 1);
	user_task_go(bare, 1);
	user_task_result(t);
	user_task_result(bare);
	KUNIT_EXPECT_EQ(test, t->task->utrace_events, 0UL);
	KUNIT_EXPECT_EQ(test, bare->task->utrace_events, 0UL);
}

/*
 * The answers of an engine of the system have no effect, and it cannot use
 * utrace_control().
 */
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

/* The number of EXIT reports of one task. */
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

	KUNIT_ASSERT_EQ(test,
			probe_try_attach_system(all, UTRACE_ATTACH_KTHREAD), 0);
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
	struct probe *p[UTRACE_MAX_SYSTEM];
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
	KUNIT_CASE(changes_reach_all_tasks),
	KUNIT_CASE(detach_by_answer_to_signal),
	KUNIT_CASE(only_one_detaches_at_signal),
	KUNIT_CASE(exec_by_thread_is_covered),
	KUNIT_CASE(exec_by_traced_thread_is_covered),
	KUNIT_CASE(reaped_gets_no_set),
	KUNIT_CASE_SLOW(many_come_and_go),
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
