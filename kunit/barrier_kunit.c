// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_barrier: barriers, examination and
 * interrupts
 *
 * The target is in a callback that ends on a command of the test, while a
 * kernel thread calls a barrier.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)
#define EXIT	UTRACE_EVENT(SYSCALL_EXIT)
#define QUIESCE	UTRACE_EVENT(QUIESCE)

/* A kernel thread that calls a barrier. */
struct waiter {
	struct probe *p;
	struct task_struct *thread;
	bool sync;
	int ret;
	struct completion done;
};

static int waiter_fn(void *data)
{
	struct waiter *w = data;

	if (w->sync)
		utrace_barrier_sync(w->p->engine);
	else
		w->ret = utrace_barrier(w->p->target, w->p->engine);
	complete_all(&w->done);
	/* Run until kthread_stop(). */
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Check whether the thread sleeps in its barrier, and has not returned. */
static bool waiter_waits(struct waiter *w)
{
	unsigned long end = jiffies + USER_DEADLINE;

	do {
		if (completion_done(&w->done))
			return false;
		if (wait_task_inactive(w->thread, TASK_NORMAL))
			return !completion_done(&w->done);
		schedule_timeout_uninterruptible(1);
	} while (time_before(jiffies, end));
	return false;
}

static bool waiter_ends(struct waiter *w)
{
	return wait_for_completion_timeout(&w->done, USER_DEADLINE);
}

static void waiter_collect(void *data)
{
	struct waiter *w = data;

	KUNIT_EXPECT_TRUE_MSG(w->p->test, waiter_ends(w),
			      "a barrier does not return");
	kthread_stop(w->thread);
}

static struct waiter *waiter_start(struct probe *p, bool sync)
{
	struct waiter *w = kunit_kzalloc(p->test, sizeof(*w), GFP_KERNEL);
	struct task_struct *thread;

	KUNIT_ASSERT_NOT_NULL(p->test, w);
	w->p = p;
	w->sync = sync;
	init_completion(&w->done);
	thread = kthread_create(waiter_fn, w, "utrace_waiter");
	KUNIT_ASSERT_FALSE(p->test, IS_ERR(thread));
	w->thread = thread;
	wake_up_process(thread);
	KUNIT_ASSERT_EQ(p->test, kunit_add_action_or_reset(p->test,
							   waiter_collect, w),
			0);
	return w;
}

/* Attach a probe, and wait until the task is in its callback. */
static struct probe *enter_slow(struct user_task *t, u32 answer)
{
	struct probe *p = probe_attach(t, 0, 0);

	p->nr = __NR_getpid;
	p->word[0] = answer;
	p->hook = probe_take_long;
	probe_set_events(p, ENTRY);
	user_task_do_syscall(t, __NR_getpid);
	KUNIT_ASSERT_TRUE(t->test,
			  wait_for_completion_timeout(&p->begun,
						      USER_DEADLINE));
	return p;
}

static void wait_for_callback(struct kunit *test, bool sync)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = enter_slow(t, UTRACE_RESUME);
	struct waiter *w = waiter_start(p, sync);

	KUNIT_EXPECT_TRUE(test, waiter_waits(w));
	complete(&p->end);
	KUNIT_EXPECT_TRUE(test, waiter_ends(w));
	KUNIT_EXPECT_EQ(test, w->ret, 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)task_pid_nr(t->task));
}

static void barrier_waits(struct kunit *test)
{
	wait_for_callback(test, false);
}

static void barrier_sync_waits(struct kunit *test)
{
	wait_for_callback(test, true);
}

/* A barrier returns at once if no callback runs. */
static void barrier_of_idle(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, ENTRY | QUIESCE);
	struct probe *q = probe_attach(t, UTRACE_ATTACH_PROCESS, ENTRY);

	KUNIT_EXPECT_EQ(test, utrace_barrier(t->task, p->engine), 0);
	KUNIT_EXPECT_EQ(test, utrace_barrier(NULL, q->engine), 0);
	/* The task is stopped, so no callback runs. */
	user_task_do_syscall(t, __NR_getpid);
	probe_stop(p, t);
	KUNIT_EXPECT_EQ(test, utrace_barrier(t->task, p->engine), 0);
	KUNIT_EXPECT_EQ(test, utrace_barrier(NULL, q->engine), 0);
}

/* When the barrier returns, the answer of the callback is applied. */
static void barrier_waits_for_answer(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = enter_slow(t, UTRACE_STOP);
	struct waiter *w = waiter_start(p, false);

	KUNIT_EXPECT_TRUE(test, waiter_waits(w));
	complete(&p->end);
	KUNIT_ASSERT_TRUE(test, waiter_ends(w));
	KUNIT_EXPECT_EQ(test, w->ret, 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_TRUE(test, user_task_is_silent(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), 0);
}

static void detach_during_callback(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = enter_slow(t, UTRACE_STOP);
	struct waiter *w;

	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_DETACH), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_DETACH), -ESRCH);
	w = waiter_start(p, true);
	KUNIT_EXPECT_TRUE(test, waiter_waits(w));
	KUNIT_EXPECT_EQ(test, p->released, 0U);
	complete(&p->end);
	KUNIT_EXPECT_TRUE(test, waiter_ends(w));
	/*
	 * The engine was detached before it answered STOP, so there is no hold.
	 */
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)task_pid_nr(t->task));
}

static void set_events_during_callback(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = enter_slow(t, UTRACE_RESUME);

	/* Only the removal of events has to wait. */
	KUNIT_EXPECT_EQ(test, utrace_set_events(t->task, p->engine,
						ENTRY | UTRACE_EVENT(EXEC)),
			0);
	KUNIT_EXPECT_EQ(test, utrace_set_events(t->task, p->engine, 0),
			-EINPROGRESS);
	KUNIT_EXPECT_EQ(test, p->engine->flags, 0UL);
	complete(&p->end);
	utrace_barrier_sync(p->engine);
	user_task_result(t);
	/* The task's read() of the next command is another call. */
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, utrace_set_events(t->task, p->engine, ENTRY), 0);
	KUNIT_EXPECT_EQ(test, utrace_set_events(t->task, p->engine, 0), 0);
}

static u32 barrier_inside(struct probe *p, struct probe_call *c)
{
	p->word[0] = utrace_barrier(current, p->engine);
	return UTRACE_RESUME | PROBE_KEEP;
}

/* A barrier in the engine's own callback does not wait for that callback. */
static void barrier_in_callback(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	p->nr = __NR_getpid;
	p->word[0] = 1;
	p->hook = barrier_inside;
	probe_set_events(p, ENTRY);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
	KUNIT_EXPECT_EQ(test, p->word[0], 0L);
}

static u32 detach_inside(struct probe *p, struct probe_call *c)
{
	p->word[0] = probe_control(p, UTRACE_DETACH);
	p->word[1] = utrace_barrier(NULL, p->engine);
	return UTRACE_RESUME;
}

/* A barrier in report_reap does not wait for the reaper, which calls it. */
static void barrier_of_the_reaper(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	struct probe *p = probe_attach(child, 0, 0);
	long pid = task_pid_nr(child->task);

	p->word[1] = 1;
	p->hook = detach_inside;
	probe_set_events(p, UTRACE_EVENT(REAP));
	user_task_kill(child, SIGTERM);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_wait4, pid, 0, 0, 0),
			pid);
	KUNIT_EXPECT_EQ(test, p->word[0], 0L);
	KUNIT_EXPECT_EQ(test, p->word[1], 0L);
}

static void examine_errno(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *other = probe_attach(t, 0, 0);
	struct utrace_examiner exam;

	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), -EINVAL);
	/* The engine has asked for a stop, but the task is not stopped yet. */
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), -EAGAIN);
	user_task_do_syscall(t, __NR_getpid);
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, other->engine,
						     &exam), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), 0);
	KUNIT_EXPECT_EQ(test, utrace_finish_examine(t->task, p->engine,
						    &exam), 0);
	/* An engine may examine the task repeatedly. */
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), 0);
	KUNIT_EXPECT_EQ(test, utrace_finish_examine(t->task, other->engine,
						    &exam), -EINVAL);
}

/* The task ran in between, so what was read is not valid. */
static void examine_notices_run(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct utrace_examiner exam;

	user_task_do(t, .op = USER_SPIN);
	probe_stop(p, t);
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), 0);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	probe_stop(p, t);
	KUNIT_EXPECT_EQ(test, utrace_finish_examine(t->task, p->engine,
						    &exam), -EAGAIN);
}

/*
 * After its detach an engine may not finish, though another engine holds the
 * task.
 */
static void examine_after_detach(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *other = probe_attach(t, 0, 0);
	struct utrace_examiner exam;

	user_task_do(t, .op = USER_SPIN);
	probe_stop(p, t);
	probe_stop(other, t);
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), 0);
	probe_detach(p);
	KUNIT_EXPECT_EQ(test, utrace_finish_examine(t->task, p->engine,
						    &exam), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), -ESRCH);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
}

static void examine_of_dead(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(REAP));
	struct utrace_examiner exam;
	int ret;

	user_task_do(t, .op = USER_SPIN);
	probe_stop(p, t);
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), 0);
	user_task_kill(t, SIGKILL);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_REAP, 1));
	utrace_barrier_sync(p->engine);
	ret = utrace_finish_examine(t->task, p->engine, &exam);
	KUNIT_EXPECT_TRUE_MSG(test, ret == -EAGAIN || ret == -ESRCH,
			      "finish: %d", ret);
	KUNIT_EXPECT_EQ(test, utrace_prepare_examine(t->task, p->engine,
						     &exam), -ESRCH);
}

/* epoll_wait() is not restarted, so the program sees an EINTR. */
static void interrupt_breaks_sleep(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, QUIESCE | UTRACE_EVENT_SIGNAL_ALL);
	long fd = user_task_syscall(t, __NR_epoll_create1, 0);
	struct probe_call c;

	KUNIT_ASSERT_GE(test, fd, 0L);
	user_task_do_syscall(t, __NR_epoll_wait, fd, user_task_scratch(t), 1,
			     -1);
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_INTERRUPT), 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)-EINTR);
	c = probe_call(p, _UTRACE_EVENT_SIGNAL, 0);
	KUNIT_EXPECT_EQ(test, utrace_signal_action(c.action),
			UTRACE_SIGNAL_REPORT);
	KUNIT_EXPECT_EQ(test, c.arg[1], 0L);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_SIGNAL), 1U);
}

/* A call that can be restarted continues, and the program sees no effect. */
static void interrupt_is_transparent(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, QUIESCE | UTRACE_EVENT_SIGNAL_ALL);

	user_task_do_syscall(t, __NR_pause);
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_INTERRUPT), 0);
	KUNIT_EXPECT_TRUE(test, probe_wait(p, _UTRACE_EVENT_SIGNAL, 1));
	KUNIT_EXPECT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_TRUE(test, user_task_is_silent(t));
}

static void interrupt_of_running(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, QUIESCE | UTRACE_EVENT_SIGNAL_ALL);

	user_task_do(t, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_INTERRUPT), 0);
	KUNIT_EXPECT_TRUE(test, probe_wait(p, _UTRACE_EVENT_SIGNAL, 1));
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_SIGNAL), 1U);
}

/* The engine answers STOP to the report of the interrupt. */
static void interrupt_then_stop(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	p->answer[_UTRACE_EVENT_SIGNAL] = UTRACE_STOP | UTRACE_SIGNAL_IGN;
	probe_set_events(p, QUIESCE | UTRACE_EVENT_SIGNAL_ALL);
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_INTERRUPT), 0);
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_SIGNAL), 1U);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	/* The read() continues as if there had been no interrupt. */
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
}

static struct kunit_case barrier_cases[] = {
	KUNIT_CASE(barrier_waits),
	KUNIT_CASE(barrier_sync_waits),
	KUNIT_CASE(barrier_of_idle),
	KUNIT_CASE(barrier_waits_for_answer),
	KUNIT_CASE(barrier_in_callback),
	KUNIT_CASE(barrier_of_the_reaper),
	KUNIT_CASE(detach_during_callback),
	KUNIT_CASE(set_events_during_callback),
	KUNIT_CASE(examine_errno),
	KUNIT_CASE(examine_notices_run),
	KUNIT_CASE(examine_after_detach),
	KUNIT_CASE(examine_of_dead),
	KUNIT_CASE(interrupt_breaks_sleep),
	KUNIT_CASE(interrupt_is_transparent),
	KUNIT_CASE(interrupt_of_running),
	KUNIT_CASE(interrupt_then_stop),
	{}
};

static struct kunit_suite barrier_suite = {
	.name = "utrace_barrier",
	.test_cases = barrier_cases,
};

kunit_test_suite(barrier_suite);

MODULE_DESCRIPTION("KUnit suite for barriers, examination and interruption");
MODULE_LICENSE("GPL");
