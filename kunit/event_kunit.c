// SPDX-License-Identifier: GPL-2.0
/* utrace tests - KUnit suite utrace_event: every event, and its arguments */
#include <kunit/test.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "probe.h"

#define SIGNALS	UTRACE_EVENT_SIGNAL_ALL

static void clone_is_reported(struct kunit *test)
{
	static const unsigned long flags[] = {
		USER_FORK, USER_THREAD, USER_FORK | CLONE_UNTRACED,
	};
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(CLONE));
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct user_task *child = user_task_clone(t, flags[i], i + 1);
		struct probe_call c = probe_call(p, _UTRACE_EVENT_CLONE, i);

		KUNIT_EXPECT_PTR_EQ(test, c.task, t->task);
		KUNIT_EXPECT_EQ(test, c.arg[0] & ~(long)CSIGNAL,
				(long)(flags[i] & ~CSIGNAL));
		KUNIT_EXPECT_EQ(test, c.arg[1], (long)task_pid_nr(child->task));
	}
	KUNIT_EXPECT_EQ(test, p->calls, 3U);
}

static u32 attach_to_child(struct probe *p, struct probe_call *c)
{
	p->child = get_task_struct(c->child);
	p->word[0] = probe_try_attach(p->other, c->child, 0);
	if (!p->word[0])
		p->word[0] = utrace_set_events(c->child, p->other->engine,
					       UTRACE_EVENT(SYSCALL_ENTRY));
	return UTRACE_RESUME;
}

/*
 * An engine that attaches from the CLONE report misses no event of the child.
 */
static void clone_lets_attach(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *other = probe_new(test);
	struct user_task *child;
	struct probe_call c;

	p->other = other;
	p->hook = attach_to_child;
	probe_set_events(p, UTRACE_EVENT(CLONE));
	child = user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_EQ(test, p->word[0], 0L);
	c = probe_call(other, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_PTR_EQ(test, c.task, child->task);
	/* The first call of the program in a new task is gettid(). */
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)__NR_gettid);
}

static void vfork_is_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(CLONE) |
				       UTRACE_EVENT(VFORK_DONE));
	struct user_task *child = user_task_clone(t, USER_VFORK, 1);
	struct probe_call c;

	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_CLONE), 1U);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_VFORK_DONE), 0U);
	user_task_do_syscall(child, __NR_exit_group, 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t),
			(long)task_pid_nr(child->task));
	c = probe_call(p, _UTRACE_EVENT_VFORK_DONE, 0);
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)task_pid_nr(child->task));
	KUNIT_EXPECT_PTR_EQ(test, c.task, t->task);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
}

/* A child that does not share the memory causes no VFORK_DONE. */
static void fork_is_no_vfork(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(VFORK_DONE));
	struct user_task *child = user_task_clone(t, USER_FORK, 1);

	user_task_kill(child, SIGKILL);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(child));
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

static void exec_is_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(EXEC));
	struct probe_call c;

	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_ASSERT_EQ(test, p->calls, 1U);
	c = probe_call(p, _UTRACE_EVENT_EXEC, 0);
	KUNIT_EXPECT_PTR_EQ(test, c.task, t->task);
	/* This kernel passes no format, only a program. */
	KUNIT_EXPECT_EQ(test, c.arg[0], 1L);
	KUNIT_EXPECT_EQ(test, c.arg[1], 1L);
}

/* CREDS is reported before EXEC, while no task can access the new image. */
static void creds_are_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(CREDS) |
				       UTRACE_EVENT(EXEC));

	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_ASSERT_EQ(test, p->calls, 2U);
	KUNIT_EXPECT_LT(test, probe_call(p, _UTRACE_EVENT_CREDS, 0).order,
			probe_call(p, _UTRACE_EVENT_EXEC, 0).order);
	KUNIT_EXPECT_EQ(test, probe_call(p, _UTRACE_EVENT_CREDS, 0).arg[0], 1L);
}

static u32 detach_at_creds(struct probe *p, struct probe_call *c)
{
	return UTRACE_DETACH;
}

/* An engine that detaches at CREDS gets no EXEC. */
static void creds_let_detach(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	p->hook = detach_at_creds;
	probe_set_events(p, UTRACE_EVENT(CREDS) | UTRACE_EVENT(EXEC));
	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_RESUME), -ESRCH);
}

static void failed_exec_is_not(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(EXEC));

	/* The empty name. */
	KUNIT_EXPECT_EQ(test,
			user_task_syscall(t, __NR_execve, user_task_scratch(t),
					  0, 0), (long)-ENOENT);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

/* A thread other than the leader calls execve(): the process engine stays. */
static void exec_by_thread(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *process = probe_attach(t, UTRACE_ATTACH_PROCESS,
					     UTRACE_EVENT(EXEC));
	struct probe *leader = probe_attach(t, 0, UTRACE_EVENT(REAP));
	struct probe *self = probe_attach(thread, 0, UTRACE_EVENT(EXEC));
	struct probe_call c;
	long tgid = task_tgid_nr(t->task);

	user_task_do(thread, .op = USER_EXEC);
	/* The new image serves channel 0. */
	user_task_hello(t);
	KUNIT_EXPECT_EQ(test, process->calls, 1U);
	KUNIT_EXPECT_EQ(test, self->calls, 1U);
	KUNIT_EXPECT_EQ(test, probe_count(leader, _UTRACE_EVENT_REAP), 1U);
	c = probe_call(self, _UTRACE_EVENT_EXEC, 0);
	KUNIT_EXPECT_PTR_EQ(test, c.task, thread->task);
	/* The thread now has the id of the leader. */
	KUNIT_EXPECT_EQ(test, (long)c.tid, tgid);
	KUNIT_EXPECT_EQ(test, probe_control(process, UTRACE_RESUME), 0);
	utrace_barrier_sync(leader->engine);
	KUNIT_EXPECT_EQ(test, probe_control(leader, UTRACE_RESUME), -ESRCH);
	KUNIT_EXPECT_EQ(test, probe_control(self, UTRACE_RESUME), 0);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid), tgid);
}

/* EXIT, DEATH and REAP come in this order, once each, and no event follows. */
static void end_is_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(EXIT) |
				       UTRACE_EVENT(DEATH) |
				       UTRACE_EVENT(REAP));
	struct probe_call exit, death, reap;

	user_task_do_syscall(t, __NR_exit_group, 7);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_REAP, 1));
	KUNIT_ASSERT_EQ(test, p->calls, 3U);
	exit = probe_call(p, _UTRACE_EVENT_EXIT, 0);
	death = probe_call(p, _UTRACE_EVENT_DEATH, 0);
	reap = probe_call(p, _UTRACE_EVENT_REAP, 0);
	KUNIT_EXPECT_LT(test, exit.order, death.order);
	KUNIT_EXPECT_LT(test, death.order, reap.order);
	KUNIT_EXPECT_EQ(test, exit.arg[0], 7L << 8);
	KUNIT_EXPECT_EQ(test, exit.arg[1], 7L << 8);
	KUNIT_EXPECT_EQ(test, death.arg[0], 1L);
	/* kthreadd ignores SIGCHLD, so the task reaps itself. */
	KUNIT_EXPECT_EQ(test, death.arg[1], -1L);
	KUNIT_EXPECT_EQ(test, reap.arg[0], (long)t->task);
}

/* A waiting parent gets a signal and reaps the child. */
static void end_of_child_is_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	struct probe *p = probe_attach(child, 0, UTRACE_EVENT(DEATH) |
				       UTRACE_EVENT(REAP));
	long pid = task_pid_nr(child->task);
	struct probe_call c;

	user_task_kill(child, SIGTERM);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_DEATH, 1));
	c = probe_call(p, _UTRACE_EVENT_DEATH, 0);
	KUNIT_EXPECT_PTR_EQ(test, c.task, child->task);
	KUNIT_EXPECT_EQ(test, c.arg[0], 1L);
	KUNIT_EXPECT_EQ(test, c.arg[1], (long)SIGCHLD);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_REAP), 0U);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_wait4, pid, 0, 0, 0),
			pid);
	c = probe_call(p, _UTRACE_EVENT_REAP, 0);
	KUNIT_EXPECT_PTR_EQ(test, c.task, t->task);
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)child->task);
}

/* A leader that dies first is reaped only after its threads. */
static void end_of_leader_is_delayed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(DEATH) |
				       UTRACE_EVENT(REAP));
	struct probe *q = probe_attach(thread, 0, UTRACE_EVENT(DEATH) |
				       UTRACE_EVENT(REAP));
	struct probe_call c;

	user_task_do_syscall(t, __NR_exit, 0);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_DEATH, 1));
	c = probe_call(p, _UTRACE_EVENT_DEATH, 0);
	KUNIT_EXPECT_EQ(test, c.arg[0], 0L);
	KUNIT_EXPECT_EQ(test, c.arg[1], -2L);
	KUNIT_EXPECT_EQ(test, user_task_syscall(thread, __NR_getppid),
			user_task_syscall(thread, __NR_getppid));
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_REAP), 0U);

	user_task_do_syscall(thread, __NR_exit, 0);
	KUNIT_ASSERT_TRUE(test, probe_wait(q, _UTRACE_EVENT_REAP, 1));
	KUNIT_EXPECT_TRUE(test, probe_wait(p, _UTRACE_EVENT_REAP, 1));
	c = probe_call(q, _UTRACE_EVENT_DEATH, 0);
	KUNIT_EXPECT_EQ(test, c.arg[0], 1L);
}

/* Signals, and the event of each of them. */
static const struct signal_row {
	const char *name;
	int signo;
	enum utrace_events event;
	enum utrace_signal_action action;
	bool handler;
} signal_rows[] = {
	{ "SIGUSR1 with handler", SIGUSR1, _UTRACE_EVENT_SIGNAL,
	  UTRACE_SIGNAL_DELIVER, true },
	{ "SIGCHLD", SIGCHLD, _UTRACE_EVENT_SIGNAL_IGN, UTRACE_SIGNAL_IGN },
	{ "SIGWINCH", SIGWINCH, _UTRACE_EVENT_SIGNAL_IGN, UTRACE_SIGNAL_IGN },
	{ "SIGSTOP", SIGSTOP, _UTRACE_EVENT_SIGNAL_STOP, UTRACE_SIGNAL_STOP },
	{ "SIGTSTP", SIGTSTP, _UTRACE_EVENT_SIGNAL_STOP, UTRACE_SIGNAL_TSTP },
	{ "SIGTERM", SIGTERM, _UTRACE_EVENT_SIGNAL_TERM, UTRACE_SIGNAL_TERM },
	{ "SIGUSR2", SIGUSR2, _UTRACE_EVENT_SIGNAL_TERM, UTRACE_SIGNAL_TERM },
	{ "SIGQUIT", SIGQUIT, _UTRACE_EVENT_SIGNAL_CORE, UTRACE_SIGNAL_CORE },
	{ "SIGSEGV", SIGSEGV, _UTRACE_EVENT_SIGNAL_CORE, UTRACE_SIGNAL_CORE },
};

static void signal_row_desc(const struct signal_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(signal_row, signal_rows, signal_row_desc);

static void signal_is_classified(struct kunit *test)
{
	const struct signal_row *row = test->param_value;
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, BIT(row->event));
	struct probe *q = probe_attach(t, 0, SIGNALS & ~BIT(row->event));
	struct probe_call c;

	if (row->handler) {
		user_task_do(t, .op = USER_HANDLE, .arg = { row->signo });
		KUNIT_ASSERT_EQ(test, user_task_result(t), 0L);
	}
	p->answer[_UTRACE_EVENT_SIGNAL] = UTRACE_RESUME | UTRACE_SIGNAL_IGN;
	user_task_kill(t, row->signo);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_SIGNAL, 1));
	c = probe_call(p, _UTRACE_EVENT_SIGNAL, 0);
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)row->signo);
	KUNIT_EXPECT_EQ(test, utrace_signal_action(c.action), row->action);
	KUNIT_EXPECT_EQ(test, c.arg[1], 1L);
	KUNIT_EXPECT_PTR_EQ(test, c.task, t->task);
	/* The signal was dropped: the task lives, and no handler ran. */
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
	KUNIT_EXPECT_EQ(test,
			user_task_peek(t, offsetof(struct user_area, handled)),
			0UL);
	KUNIT_EXPECT_EQ(test, q->calls, 0U);
}

/* An engine that changes nothing lets the handler run. */
static void signal_runs_handler(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, SIGNALS);

	user_task_do(t, .op = USER_HANDLE, .arg = { SIGUSR1, 0 });
	KUNIT_ASSERT_EQ(test, user_task_result(t), 0L);
	user_task_do_syscall(t, __NR_pause);
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	user_task_kill(t, SIGUSR1);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)-EINTR);
	KUNIT_EXPECT_EQ(test,
			user_task_peek(t, offsetof(struct user_area, handled)),
			1UL);
	KUNIT_EXPECT_EQ(test, probe_call(p, _UTRACE_EVENT_SIGNAL, 0).arg[0],
			(long)SIGUSR1);
}

static u32 change_signal(struct probe *p, struct probe_call *c)
{
	if (utrace_signal_action(c->action) < UTRACE_SIGNAL_REPORT)
		c->info->si_signo = p->word[0];
	return UTRACE_RESUME | p->word[1];
}

/* The program gets another signal than the one that was sent. */
static void signal_is_changed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	user_task_do(t, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	p->word[0] = SIGBUS;
	p->word[1] = UTRACE_SIGNAL_TERM;
	p->hook = change_signal;
	probe_set_events(p, UTRACE_EVENT(SIGNAL_TERM));
	user_task_kill(t, SIGTERM);
	KUNIT_ASSERT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, t->task->exit_code & 0x7f, SIGBUS);
}

/* A fatal signal is sent to the process; the engine is on another thread. */
static void signal_to_thread_is_seen(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *thread = user_task_clone(t, USER_THREAD, 1);
	struct probe *p = probe_attach(thread, 0, 0);

	p->answer[_UTRACE_EVENT_SIGNAL] = UTRACE_RESUME | UTRACE_SIGNAL_IGN;
	probe_set_events(p, UTRACE_EVENT(SIGNAL_TERM));
	KUNIT_ASSERT_EQ(test, send_sig(SIGTERM, thread->task, 1), 0);
	KUNIT_EXPECT_TRUE(test, probe_wait(p, _UTRACE_EVENT_SIGNAL, 1));
	KUNIT_EXPECT_EQ(test, user_task_syscall(thread, __NR_getpid),
			(long)task_tgid_nr(t->task));
}

/* The first report puts the signal back, so it is reported again. */
static u32 hold_first(struct probe *p, struct probe_call *c)
{
	if (utrace_signal_action(c->action) < UTRACE_SIGNAL_REPORT &&
	    !p->word[0]++)
		return UTRACE_RESUME | UTRACE_SIGNAL_IGN | UTRACE_SIGNAL_HOLD;
	return UTRACE_RESUME | UTRACE_SIGNAL_IGN;
}

static void signal_is_held(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	p->hook = hold_first;
	probe_set_events(p, UTRACE_EVENT(SIGNAL_TERM));
	user_task_kill(t, SIGTERM);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_SIGNAL, 2));
	KUNIT_EXPECT_EQ(test, probe_call(p, _UTRACE_EVENT_SIGNAL, 1).arg[0],
			(long)SIGTERM);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
}

static void sigkill_is_not_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, SIGNALS);

	p->answer[_UTRACE_EVENT_SIGNAL] = UTRACE_STOP | UTRACE_SIGNAL_IGN;
	user_task_kill(t, SIGKILL);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, t->task->exit_code, SIGKILL);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

static void jctl_is_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, UTRACE_EVENT(JCTL));
	struct probe_call c;

	user_task_do(t, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	user_task_kill(t, SIGSTOP);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_JCTL, 1));
	KUNIT_EXPECT_TRUE(test, user_task_wait_jobctl(t));
	c = probe_call(p, _UTRACE_EVENT_JCTL, 0);
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)CLD_STOPPED);
	user_task_kill(t, SIGCONT);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_JCTL, 2));
	c = probe_call(p, _UTRACE_EVENT_JCTL, 1);
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)CLD_CONTINUED);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(clone_is_reported),
	KUNIT_CASE(clone_lets_attach),
	KUNIT_CASE(vfork_is_reported),
	KUNIT_CASE(fork_is_no_vfork),
	KUNIT_CASE(exec_is_reported),
	KUNIT_CASE(creds_are_reported),
	KUNIT_CASE(creds_let_detach),
	KUNIT_CASE(failed_exec_is_not),
	KUNIT_CASE(exec_by_thread),
	KUNIT_CASE(end_is_reported),
	KUNIT_CASE(end_of_child_is_reported),
	KUNIT_CASE(end_of_leader_is_delayed),
	KUNIT_CASE_PARAM(signal_is_classified, signal_row_gen_params),
	KUNIT_CASE(signal_runs_handler),
	KUNIT_CASE(signal_is_changed),
	KUNIT_CASE(signal_to_thread_is_seen),
	KUNIT_CASE(signal_is_held),
	KUNIT_CASE(sigkill_is_not_reported),
	KUNIT_CASE(jctl_is_reported),
	{}
};

static struct kunit_suite event_suite = {
	.name = "utrace_event",
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);

MODULE_DESCRIPTION("KUnit suite for the events of utrace");
MODULE_LICENSE("GPL");
