// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a kept signal beside ptrace and job control
 */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "keep.h"

/* A debugger attaches and gets its stops, while the signal stays kept. */
TEST_F(keep, debugger_is_served)
{
	struct ut_target *t = &self->t;
	struct user_regs_struct regs;
	int i, status;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
		ASSERT_EQ(1, ut_waitpid(t->pid, &status, __WALL));
		ASSERT_EQ(PTRACE_EVENT_STOP, status >> 16);
		EXPECT_EQ(0, ptrace(PTRACE_GETREGS, t->pid, 0, &regs));
		ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
		EXPECT_TRUE(ut_still(t));
	}
	ut_pull(0);
	EXPECT_EQ(1, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR1));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
	ASSERT_EQ(1, ut_waitpid(t->pid, &status, __WALL));
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_runs(t));
}

/* The SIGSTOP of PTRACE_ATTACH is a signal, and comes after the kept one. */
TEST_F(keep, debugger_attaches)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_stays(!waitpid(t->pid, NULL, WNOHANG | __WALL)));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 0));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	ASSERT_TRUE(WIFSTOPPED(self->status));
	EXPECT_EQ(SIGSTOP, WSTOPSIG(self->status));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	/* The frame of the handler is set up, and no more. */
	EXPECT_EQ(0, t->sh->value[0]);
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(ut_runs(t));
}

/* Function of a tracer, which stops the task t->arg and detaches later. */
static int trace(struct ut_target *t)
{
	int status;

	if (ptrace(PTRACE_SEIZE, t->arg, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, t->arg, 0, 0) ||
	    waitpid(t->arg, &status, __WALL) != t->arg ||
	    status >> 16 != PTRACE_EVENT_STOP)
		return 1;
	ut_say(t);
	ut_await(t);
	return ptrace(PTRACE_DETACH, t->arg, 0, 0) ? 2 : 0;
}

/* Start a tracer that has the task @pid in a stop. */
static bool start_tracer(struct ut_target *tracer, pid_t pid)
{
	tracer->arg = pid;
	return ut_spawn(tracer, trace) && ut_hear(tracer);
}

/* Check that the signal of the fixture is still kept, without a tracer. */
static bool is_kept_alone(struct keep_data *self)
{
	struct ut_target *t = &self->t;

	return ut_until(!ut_status(t->pid, "TracerPid:")) && ut_held(t->pid) &&
	       ut_still(t) && had_signal(self->id, SIGUSR1, 1) &&
	       had_signal(self->after, SIGUSR1, 0);
}

TEST_F(keep, tracer_detaches)
{
	struct ut_target *t = &self->t, tracer = {};

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_TRUE(start_tracer(&tracer, t->pid));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	ASSERT_TRUE(ut_go(&tracer));
	ASSERT_TRUE(ut_reap(&tracer, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_TRUE(is_kept_alone(self));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(ut_runs(t));
}

/* The stop for the tracer ends with the tracer. */
TEST_F(keep, tracer_dies)
{
	struct ut_target *t = &self->t, tracer = {};

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_TRUE(start_tracer(&tracer, t->pid));
	ASSERT_EQ(0, kill(tracer.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&tracer, &self->status));
	EXPECT_TRUE(is_kept_alone(self));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * The engine ends its hold before the tracer does: the tracer holds the task.
 */
TEST_F(keep, tracer_dies_after_the_engine_has_let_go)
{
	struct ut_target *t = &self->t, tracer = {};

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_TRUE(start_tracer(&tracer, t->pid));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	ASSERT_EQ(0, kill(tracer.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&tracer, &self->status));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	EXPECT_TRUE(ut_runs(t));
}

/* The task is stopped for the engine and for job control at once. */
TEST_F(keep, stop_of_job_control)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(set_rule(self->id, UT_EV_JCTL, CLD_STOPPED, 1, KEEPS));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(self->status));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_EQ(0, ut_control(self->id, 0, UT_STOP));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

/* Function of a target of two threads; the leader has the handlers, too. */
static int group(struct ut_target *t)
{
	shared = t->sh;
	signal(SIGUSR1, on_signal);
	return ut_threaded(t);
}

/* A signal of the leader is kept.  The other thread can take signals. */
FIXTURE(keep_group) {
	struct ut_target t;
	int status;
	int id;
};

FIXTURE_SETUP(keep_group)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	self->t.arg = 2;
	ASSERT_TRUE(ut_spawn(&self->t, group));
	ASSERT_TRUE(ut_hear(&self->t));
	self->id = ut_attach(self->t.pid, 0, UT_SIGNAL_ALL | UT_BIT(JCTL));
	ASSERT_LT(0, self->id);
	ASSERT_TRUE(keep(self->id, self->t.pid, UT_EV_SIGNAL, SIGUSR1));
}

FIXTURE_TEARDOWN(keep_group)
{
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

/* Check that the signal of the leader is still kept. */
static bool leader_is_kept(struct group_data *self)
{
	return ut_held(self->t.pid) && ut_thread_still(&self->t, 0) &&
	       had_signal(self->id, SIGUSR1, 1);
}

/* Check that wait4() returns this status within the deadline. */
static bool told(pid_t pid, int options, int status)
{
	int got = 0;

	if (ut_waitpid(pid, &got, options) == 1 && got == status)
		return true;
	printf("# status %#x, not %#x\n", got, status);
	return false;
}

#define GROUP_STOP	(SIGSTOP << 8 | 0x7f)
#define CONTINUED	0xffff
#define TRAP(sig)	(PTRACE_EVENT_STOP << 16 | (sig) << 8 | 0x7f)

/* The leader takes part in a group stop, and its signal is still kept. */
TEST_F(keep_group, stop_and_sigcont)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told(t->pid, WUNTRACED, GROUP_STOP));
	EXPECT_TRUE(leader_is_kept(self));
	EXPECT_TRUE(ut_until(ut_state(t->sh->tid[1]) == 'T'));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(told(t->pid, WCONTINUED, CONTINUED));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_TRUE(leader_is_kept(self));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(ut_thread_runs(t, 0));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
}

/*
 * End the hold of the leader: it must join the stop and handle the signal
 * later.
 */
static bool stops_with_group(struct group_data *self)
{
	struct ut_target *t = &self->t;

	return !ut_control(self->id, 0, UT_RESUME) &&
	       ut_until(ut_state(t->pid) == 'T') && ut_thread_still(t, 0) &&
	       !t->sh->value[0] && had_signal(self->id, SIGUSR1, 2) &&
	       !kill(t->pid, SIGCONT) && handled_once(t) &&
	       ut_thread_runs(t, 0);
}

TEST_F(keep_group, let_go_in_the_stop)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told(t->pid, WUNTRACED, GROUP_STOP));
	EXPECT_TRUE(leader_is_kept(self));
	EXPECT_TRUE(stops_with_group(self));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/* A tracer of the leader gets the stop and its end. */
TEST_F(keep_group, stop_under_a_tracer)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	EXPECT_TRUE(leader_is_kept(self));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told(t->pid, __WALL, TRAP(SIGSTOP)));
	EXPECT_TRUE(leader_is_kept(self));
	ASSERT_EQ(0, ptrace(PTRACE_LISTEN, t->pid, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_TRUE(told(t->pid, __WALL, TRAP(SIGTRAP)));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_TRUE(leader_is_kept(self));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
	ASSERT_TRUE(told(t->pid, __WALL, TRAP(SIGTRAP)));
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_thread_runs(t, 0));
}

/* The leader counts as stopped with its group when the tracer is gone. */
TEST_F(keep_group, tracer_leaves_in_the_stop)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told(t->pid, __WALL, TRAP(SIGSTOP)));
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(leader_is_kept(self));
	EXPECT_TRUE(stops_with_group(self));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

TEST_HARNESS_MAIN
