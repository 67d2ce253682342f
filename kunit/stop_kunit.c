// SPDX-License-Identifier: GPL-2.0
/* utrace tests - KUnit suite utrace_stop: tasks are held, resumed and killed */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "../change.h"
#include "../internal.h"
#include "probe.h"

#define QUIESCE	UTRACE_EVENT(QUIESCE)

static struct user_task *start_spinning(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_do(t, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	return t;
}

static void stop_of_running(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, 0);

	/* The engine has no QUIESCE, so the task stops without a report. */
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), 0);
	/* The stop must not look like one of ptrace. */
	KUNIT_EXPECT_EQ(test, t->task->ptrace, 0U);
	KUNIT_EXPECT_FALSE(test, t->task->jobctl & JOBCTL_TRACED);

	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

/* A stop does not end a sleep, but no user code runs after the sleep. */
static void stop_of_sleeping(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);
	KUNIT_EXPECT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);

	user_task_do_syscall(t, __NR_getpid);
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_TRUE(test, user_task_is_silent(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)task_pid_nr(t->task));
}

/* A request for a stop can be withdrawn before the task stops. */
static void stop_is_taken_back(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
}

/*
 * An engine resumes the task in a callback, and another engine takes its slot
 * before the end of the pass.  The hold of the new engine must stay.
 */
static void hold_is_not_anothers(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(SYSCALL_EXIT));
	struct probe *q = probe_attach(t, 0, 0);
	struct probe *r;
	long in_time;

	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);
	q->hook = probe_take_long;
	q->word[0] = UTRACE_RESUME | PROBE_KEEP;
	q->nr = __NR_read;
	probe_set_events(q, UTRACE_EVENT(SYSCALL_EXIT));
	user_task_do_syscall(t, __NR_getpid);
	in_time = wait_for_completion_timeout(&q->begun, USER_DEADLINE);
	KUNIT_EXPECT_GT(test, in_time, 0L);
	/* The task is in a callback of another engine. */
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_DETACH), 0);
	/* The slot is free when the work item has run. */
	flush_work(&p->engine->info->uncover);
	r = probe_attach(t, 0, 0);
	KUNIT_EXPECT_EQ(test, probe_control(r, UTRACE_STOP), -EINPROGRESS);
	complete_all(&q->end);
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, probe_control(r, UTRACE_RESUME), 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)task_pid_nr(t->task));
}

/* An engine with QUIESCE is called before the stop, and may decline. */
static void stop_is_declined(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, QUIESCE);

	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_QUIESCE, 1));
	utrace_barrier_sync(p->engine);
	KUNIT_EXPECT_EQ(test, probe_call(p, _UTRACE_EVENT_QUIESCE, 0).arg[0],
			0L);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));

	/* Asked again, the engine answers STOP. */
	probe_stop(p, t);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
}

static void every_action_resumes(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	enum utrace_resume_action action;

	for (action = UTRACE_INTERRUPT; action < UTRACE_RESUME_MAX; action++) {
		struct probe *p;

		if ((action == UTRACE_SINGLESTEP ||
		     action == UTRACE_BLOCKSTEP) && !arch_has_single_step())
			continue;
		p = probe_attach(t, 0, QUIESCE);
		probe_stop(p, t);
		KUNIT_EXPECT_FALSE(test, user_task_runs(t));
		KUNIT_EXPECT_EQ_MSG(test, probe_control(p, action), 0,
				    "action %d", action);
		KUNIT_EXPECT_TRUE_MSG(test, user_task_wait_running(t),
				      "action %d", action);
		probe_detach(p);
	}
}

/* The task runs when the last engine resumes it. */
static void several_hold(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *a = probe_attach(t, 0, 0);
	struct probe *b = probe_attach(t, UTRACE_ATTACH_PROCESS, 0);
	struct probe *c = probe_attach(t, UTRACE_ATTACH_OBSERVER, QUIESCE);

	probe_stop(a, t);
	KUNIT_EXPECT_EQ(test, probe_control(b, UTRACE_STOP), 0);
	KUNIT_EXPECT_EQ(test, probe_control(c, UTRACE_STOP), 0);

	KUNIT_EXPECT_EQ(test, probe_control(a, UTRACE_RESUME), 0);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	KUNIT_EXPECT_EQ(test, probe_control(c, UTRACE_REPORT), 0);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	/*
	 * A second resume by one engine does not end the hold of another one.
	 */
	KUNIT_EXPECT_EQ(test, probe_control(a, UTRACE_INTERRUPT), 0);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, probe_control(b, UTRACE_DETACH), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
}

static void detach_lets_go(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, 0);

	probe_stop(p, t);
	/* No callback runs, so the detach need not wait. */
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_DETACH), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
}

/* End the engine of a probe as a module does; the probe keeps its reference. */
static int shut_down(void *data)
{
	struct probe *p = data;

	utrace_engine_get(p->engine);
	utrace_engine_shutdown(p->engine);
	complete(&p->end);
	return 0;
}

/*
 * The task does not wait until it has another set: here the mutex delays that,
 * elsewhere a lack of memory may.
 */
static void shutdown_lets_go_first(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct task_struct *thread;

	probe_stop(p, t);
	thread = kthread_create(shut_down, p, "utrace_shutdown");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	scoped_guard(mutex, &utrace_change_mutex) {
		wake_up_process(thread);
		KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
		KUNIT_EXPECT_FALSE(test, completion_done(&p->end));
	}
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&p->end,
							    USER_DEADLINE));
}

/* Two steps, each reported to the engine that asked, as an ignored SIGTRAP. */
static void steps_are_reported(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, QUIESCE | UTRACE_EVENT_SIGNAL_ALL);
	struct probe *q = probe_attach(t, 0, QUIESCE | UTRACE_EVENT_SIGNAL_ALL);
	unsigned int i;

	if (!arch_has_single_step())
		kunit_skip(test, "this machine cannot step");
	for (i = 1; i <= 2; i++) {
		struct probe_call c;

		probe_stop(p, t);
		KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_SINGLESTEP), 0);
		KUNIT_ASSERT_TRUE(test,
				  probe_wait(p, _UTRACE_EVENT_SIGNAL, i));
		c = probe_call(p, _UTRACE_EVENT_SIGNAL, i - 1);
		KUNIT_EXPECT_EQ(test, c.arg[0], (long)SIGTRAP);
		KUNIT_EXPECT_EQ(test, utrace_signal_action(c.action),
				UTRACE_SIGNAL_IGN);
		KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
	}
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_SIGNAL), 2U);
	KUNIT_EXPECT_EQ(test, probe_count(q, _UTRACE_EVENT_SIGNAL), 0U);
}

static u32 stop_in_a_stepped_pass(struct probe *p, struct probe_call *c)
{
	if (c->event == _UTRACE_EVENT_SYSCALL_ENTRY)
		return UTRACE_SINGLESTEP | utrace_syscall_action(c->action);
	if (c->event == _UTRACE_EVENT_SYSCALL_EXIT)
		p->word[0] = utrace_control(current, p->engine, UTRACE_STOP);
	return UTRACE_RESUME;
}

/*
 * An engine asks for a stop while the task is in a callback of that engine.
 * The answer RESUME withdraws the step that the engine requested before, and
 * not the stop.
 */
static void stop_outlasts_answer(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	if (!arch_has_single_step())
		kunit_skip(test, "this machine cannot step");
	p->nr = __NR_getppid;
	p->hook = stop_in_a_stepped_pass;
	probe_set_events(p, UTRACE_EVENT_SYSCALL);
	user_task_do(t, .op = USER_SYSCALL, .nr = __NR_getppid);
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, p->word[0], (long)-EINPROGRESS);
	probe_set_events(p, 0);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	user_task_result(t);
}

static u32 single_after_block(struct probe *p, struct probe_call *c)
{
	if (c->event == _UTRACE_EVENT_QUIESCE)
		return c->arg[0] == UTRACE_EVENT(SYSCALL_ENTRY) ?
		       UTRACE_BLOCKSTEP : UTRACE_RESUME;
	if (c->event == _UTRACE_EVENT_SYSCALL_ENTRY)
		return UTRACE_SINGLESTEP | utrace_syscall_action(c->action);
	if (c->event == _UTRACE_EVENT_SYSCALL_EXIT) {
		p->word[0] = READ_ONCE(current->utrace->step) != 0;
		p->word[1] = READ_ONCE(current->utrace->block) != 0;
	}
	return UTRACE_RESUME;
}

/*
 * An engine answers BLOCKSTEP to QUIESCE and SINGLESTEP to the event that
 * follows: the smaller action counts, so the task makes a single step.
 */
static void single_step_wins(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	if (!arch_has_single_step())
		kunit_skip(test, "this machine cannot step");
	p->nr = __NR_getppid;
	p->word[1] = -1;
	p->hook = single_after_block;
	probe_set_events(p, UTRACE_EVENT_SYSCALL | UTRACE_EVENT(QUIESCE));
	user_task_do(t, .op = USER_SYSCALL, .nr = __NR_getppid);
	user_task_result(t);
	KUNIT_EXPECT_EQ(test, p->word[0], 1L);
	KUNIT_EXPECT_EQ(test, p->word[1], 0L);
}

static u32 count_reports(struct probe *p, struct probe_call *c)
{
	bool real = utrace_signal_action(c->action) != UTRACE_SIGNAL_REPORT;

	if (c->event == _UTRACE_EVENT_QUIESCE)
		p->word[0] += !c->arg[0];
	if (c->event != _UTRACE_EVENT_SIGNAL)
		return UTRACE_RESUME;
	p->word[0] += !real;
	return UTRACE_RESUME | utrace_signal_action(c->action);
}

/*
 * At the end of a step over a system call, request the action in word[0] for
 * another engine, and turn the step into a signal that is ignored.
 */
static u32 make_signal_of_step(struct probe *p, struct probe_call *c)
{
	if (p->word[1])
		return UTRACE_RESUME | utrace_signal_action(c->action);
	if (c->event == _UTRACE_EVENT_QUIESCE)
		return UTRACE_SINGLESTEP;
	if (c->event == _UTRACE_EVENT_SYSCALL_EXIT) {
		p->word[2] = utrace_control(current, p->other->engine,
					    p->word[0]);
		p->word[3] = true;
	}
	if (c->event != _UTRACE_EVENT_SIGNAL || !p->word[3])
		return UTRACE_SINGLESTEP | utrace_signal_action(c->action);
	p->word[1] = true;
	c->info->si_signo = SIGURG;
	return UTRACE_RESUME | UTRACE_SIGNAL_DELIVER;
}

static const enum utrace_resume_action reports[] = {
	UTRACE_REPORT,
	UTRACE_INTERRUPT,
};

static void report_name(const enum utrace_resume_action *action, char *name)
{
	strscpy(name, *action == UTRACE_REPORT ? "REPORT" : "INTERRUPT",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(report, reports, report_name);

/*
 * One engine turns its step into a signal while another one awaits a report.
 * The signal is delivered first, and the report before the task runs user code
 * again.
 */
static void report_outlasts_stepped_signal(struct kunit *test)
{
	const enum utrace_resume_action *action = test->param_value;
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *q = probe_attach(t, 0, QUIESCE);

	if (!arch_has_single_step())
		kunit_skip(test, "this machine cannot step");
	p->nr = __NR_getppid;
	p->other = q;
	p->word[0] = *action;
	p->hook = make_signal_of_step;
	q->hook = count_reports;
	probe_set_events(p, UTRACE_EVENT(SYSCALL_EXIT) | QUIESCE);
	KUNIT_ASSERT_EQ(test, probe_control(p, UTRACE_SINGLESTEP), 0);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, p->word[1], 1L);
	KUNIT_EXPECT_EQ(test, p->word[2], 0L);
	KUNIT_EXPECT_EQ(test, q->word[0], 1L);
}

/**
 * struct stop_point - a callback that can hold the task
 * @name: name of the place
 * @event: the event whose answer is STOP
 * @command: the command that brings the task there
 * @signal: the signal that brings the task there, if not 0
 */
struct stop_point {
	const char *name;
	enum utrace_events event;
	struct user_command command;
	int signal;
};

static const struct stop_point stop_points[] = {
	{
		.name = "syscall entry",
		.event = _UTRACE_EVENT_SYSCALL_ENTRY,
		.command = { .op = USER_SYSCALL, .nr = __NR_getppid },
	}, {
		.name = "syscall exit",
		.event = _UTRACE_EVENT_SYSCALL_EXIT,
		.command = { .op = USER_SYSCALL, .nr = __NR_getppid },
	}, {
		.name = "clone",
		.event = _UTRACE_EVENT_CLONE,
		.command = { .op = USER_CLONE, .arg = { USER_FORK, 1 } },
	}, {
		.name = "thread",
		.event = _UTRACE_EVENT_CLONE,
		.command = { .op = USER_CLONE, .arg = { USER_THREAD, 1 } },
	}, {
		.name = "vfork",
		.event = _UTRACE_EVENT_CLONE,
		.command = { .op = USER_CLONE, .arg = { USER_VFORK, 1 } },
	}, {
		.name = "exec",
		.event = _UTRACE_EVENT_EXEC,
		.command = { .op = USER_EXEC },
	}, {
		.name = "exit",
		.event = _UTRACE_EVENT_EXIT,
		.command = { .op = USER_SYSCALL, .nr = __NR_exit_group },
	}, {
		.name = "fault",
		.event = _UTRACE_EVENT_SIGNAL,
		.command = { .op = USER_FAULT },
	}, {
		.name = "fatal signal",
		.event = _UTRACE_EVENT_SIGNAL,
		.command = { .op = USER_SPIN },
		.signal = SIGTERM,
	}, {
		.name = "ignored signal",
		.event = _UTRACE_EVENT_SIGNAL,
		.command = { .op = USER_SPIN },
		.signal = SIGCHLD,
	},
};

static void stop_point_desc(const struct stop_point *at, char *desc)
{
	strscpy(desc, at->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(stop_point, stop_points, stop_point_desc);

/* The signal events are several bits with one callback. */
static unsigned long point_events(const struct stop_point *at)
{
	if (at->event == _UTRACE_EVENT_SIGNAL)
		return UTRACE_EVENT_SIGNAL_ALL;
	return BIT(at->event);
}

/* Bring the task to the point of the test's parameter, and hold it there. */
static struct probe *stop_at_point(struct user_task *t)
{
	const struct stop_point *at = t->test->param_value;
	struct probe *p = probe_attach(t, 0, 0);

	p->nr = __NR_getppid;
	p->answer[at->event] = UTRACE_STOP | PROBE_KEEP;
	probe_set_events(p, point_events(at));
	user_task_send(t, &at->command);
	if (at->signal) {
		KUNIT_ASSERT_TRUE(t->test, user_task_wait_running(t));
		user_task_kill(t, at->signal);
	}
	KUNIT_ASSERT_TRUE(t->test, probe_wait(p, at->event, 1));
	KUNIT_ASSERT_TRUE(t->test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(t->test, READ_ONCE(t->task->exit_state), 0);
	return p;
}

static void stop_point_holds(struct kunit *test)
{
	const struct stop_point *at = test->param_value;
	struct user_task *t = user_task_start(test);
	struct probe *p = stop_at_point(t);

	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), 0);
	if (at->signal)
		KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	else
		KUNIT_EXPECT_TRUE(test, user_task_is_silent(t));
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, probe_count(p, at->event), 1U);
}

static void stop_point_is_killable(struct kunit *test)
{
	const struct stop_point *at = test->param_value;
	struct user_task *t = user_task_start(test);

	stop_at_point(t);
	user_task_kill(t, SIGKILL);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
	/* A task in its exit has an exit code already. */
	KUNIT_EXPECT_EQ(test, t->task->exit_code,
			at->event == _UTRACE_EVENT_EXIT ? 0 : SIGKILL);
}

/* After EXIT and fatal signals the task dies, otherwise it survives. */
static void stop_point_resumes(struct kunit *test)
{
	const struct stop_point *at = test->param_value;
	struct user_task *t = user_task_start(test);
	struct probe *p = stop_at_point(t);
	long result;

	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	if (at->event == _UTRACE_EVENT_EXIT ||
	    at->command.op == USER_FAULT || at->signal == SIGTERM) {
		KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
		return;
	}
	if (at->signal)
		user_task_go(t, 1);
	if (at->command.arg[0] == USER_VFORK) {
		/* The end of the child ends the wait of the vfork(). */
		struct user_task child = *t;

		child.channel = 1;
		user_task_do_syscall(&child, __NR_exit_group, 0);
	}
	KUNIT_EXPECT_EQ(test, user_task_answer(t, &result), 0);
}

/* exit_group() by another thread ends a stop; EXIT can hold the task again. */
static void stop_ends_with_group(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = probe_attach(thread, 0, 0);

	p->answer[_UTRACE_EVENT_EXIT] = UTRACE_STOP;
	probe_set_events(p, UTRACE_EVENT(EXIT));
	user_task_do(thread, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(thread));
	probe_stop(p, thread);
	user_task_do_syscall(t, __NR_exit_group, 0);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_EXIT, 1));
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(thread));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(thread));
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_EXIT), 1U);
}

/* An execve() by another thread ends a stop, and EXIT cannot hold the task. */
static void stop_ends_with_exec(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = probe_attach(thread, 0, 0);

	p->answer[_UTRACE_EVENT_EXIT] = UTRACE_STOP;
	probe_set_events(p, UTRACE_EVENT(EXIT));
	user_task_do(thread, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(thread));
	probe_stop(p, thread);
	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(thread));
}

static void process_stops_whole(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = probe_attach(t, UTRACE_ATTACH_PROCESS, 0);

	user_task_do(t, .op = USER_REPEAT, .nr = __NR_getppid);
	user_task_do(thread, .op = USER_REPEAT, .nr = __NR_getppid);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), -EINPROGRESS);
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(thread));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), 0);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));

	/* Resume one thread only. */
	KUNIT_EXPECT_EQ(test, utrace_control(thread->task, p->engine,
					     UTRACE_RESUME), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(thread));
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, utrace_control(t->task, p->engine, UTRACE_STOP),
			0);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	user_task_go(t, 1);
	/* The loop may have ended before its first pass. */
	KUNIT_EXPECT_GE(test, user_task_result(t), 0L);
	KUNIT_EXPECT_GT(test, user_task_result(thread), 0L);
}

static u32 hold_newborn(struct probe *p, struct probe_call *c)
{
	p->child = get_task_struct(c->child);
	p->word[0] = probe_try_attach(p->other, c->child, 0);
	if (!p->word[0])
		p->word[0] = probe_control(p->other, UTRACE_STOP);
	return UTRACE_RESUME;
}

/* An engine can hold a child before its first instruction. */
static void newborn_is_held(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *holder = probe_new(test);
	struct user_task *child;

	p->other = holder;
	p->hook = hold_newborn;
	probe_set_events(p, UTRACE_EVENT(CLONE));
	user_task_do(t, .op = USER_CLONE, .arg = { USER_FORK, 1 });
	KUNIT_EXPECT_GT(test, user_task_result(t), 0L);
	KUNIT_ASSERT_NOT_NULL(test, p->child);
	child = user_task_adopt(t, p->child, 1);
	KUNIT_ASSERT_EQ(test, p->word[0], (long)-EINPROGRESS);
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(child));
	KUNIT_EXPECT_TRUE(test, user_task_is_silent(child));
	KUNIT_EXPECT_EQ(test, probe_control(holder, UTRACE_RESUME), 0);
	user_task_hello(child);
}

static u32 stop_scope(struct probe *p, struct probe_call *c)
{
	p->child = get_task_struct(c->child);
	p->word[0] = probe_control(p->other, UTRACE_STOP);
	return UTRACE_RESUME;
}

/*
 * A stop of all tasks includes a child that is being created, and later
 * children.
 */
static void created_child_is_held(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *holder = probe_attach(t, UTRACE_ATTACH_TREE, 0);
	struct user_task *child;

	p->other = holder;
	p->hook = stop_scope;
	probe_set_events(p, UTRACE_EVENT(CLONE));
	user_task_do(t, .op = USER_CLONE, .arg = { USER_FORK, 1 });
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_ASSERT_NOT_NULL(test, p->child);
	child = user_task_adopt(t, p->child, 1);
	KUNIT_EXPECT_EQ(test, p->word[0], (long)-EINPROGRESS);
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(child));
	KUNIT_EXPECT_TRUE(test, user_task_is_silent(t));
	KUNIT_EXPECT_TRUE(test, user_task_is_silent(child));
	KUNIT_EXPECT_EQ(test, probe_control(holder, UTRACE_RESUME), 0);
	user_task_hello(child);
	KUNIT_EXPECT_EQ(test, user_task_result(t),
			(long)task_pid_nr(child->task));
}

/* A task in a group stop counts as stopped. */
static void jobctl_stop_counts(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, 0);

	user_task_kill(t, SIGSTOP);
	KUNIT_ASSERT_TRUE(test, user_task_wait_jobctl(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_STOP), 0);
	/* The hold continues when SIGCONT ends the group stop. */
	user_task_kill(t, SIGCONT);
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
}

/* A group stop that begins during a hold stops the task after the hold. */
static void jobctl_stop_outlasts_hold(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, 0);

	probe_stop(p, t);
	user_task_kill(t, SIGSTOP);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_jobctl(t));
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	user_task_kill(t, SIGCONT);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
}

/* SIGCONT does not end a hold. */
static void sigcont_keeps_hold(struct kunit *test)
{
	struct user_task *t = start_spinning(test);
	struct probe *p = probe_attach(t, 0, 0);

	probe_stop(p, t);
	user_task_kill(t, SIGSTOP);
	user_task_kill(t, SIGCONT);
	KUNIT_EXPECT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
}

static struct kunit_case stop_cases[] = {
	KUNIT_CASE(stop_of_running),
	KUNIT_CASE(stop_of_sleeping),
	KUNIT_CASE(stop_is_taken_back),
	KUNIT_CASE(hold_is_not_anothers),
	KUNIT_CASE(stop_is_declined),
	KUNIT_CASE(every_action_resumes),
	KUNIT_CASE(several_hold),
	KUNIT_CASE(detach_lets_go),
	KUNIT_CASE(shutdown_lets_go_first),
	KUNIT_CASE(steps_are_reported),
	KUNIT_CASE(stop_outlasts_answer),
	KUNIT_CASE(single_step_wins),
	KUNIT_CASE_PARAM(report_outlasts_stepped_signal, report_gen_params),
	KUNIT_CASE_PARAM(stop_point_holds, stop_point_gen_params),
	KUNIT_CASE_PARAM(stop_point_is_killable, stop_point_gen_params),
	KUNIT_CASE_PARAM(stop_point_resumes, stop_point_gen_params),
	KUNIT_CASE(stop_ends_with_group),
	KUNIT_CASE(stop_ends_with_exec),
	KUNIT_CASE(process_stops_whole),
	KUNIT_CASE(newborn_is_held),
	KUNIT_CASE(created_child_is_held),
	KUNIT_CASE(jobctl_stop_counts),
	KUNIT_CASE(jobctl_stop_outlasts_hold),
	KUNIT_CASE(sigcont_keeps_hold),
	{}
};

static struct kunit_suite stop_suite = {
	.name = "utrace_stop",
	.test_cases = stop_cases,
};

kunit_test_suite(stop_suite);

MODULE_DESCRIPTION("KUnit suite for stops made by utrace engines");
MODULE_LICENSE("GPL");
