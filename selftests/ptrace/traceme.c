// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - PTRACE_TRACEME of a task that has a tracer
 *
 * The real parent becomes a further tracer, without PTRACE_SEIZE.  The task
 * that asks needs the right to trace the tracers that are there.
 */
#include "two.h"

#define ENDED	two_exit(ACTOR_CODE)
#define PARENT	"PPid:"

/* The real parent of the target. */
static struct two_tracer parent;

/* Start a child of @parent, which waits before PTRACE_TRACEME. */
static bool start(struct ut_target *t, uid_t uid)
{
	return two_start_parent(&parent, uid, t, actor);
}

/* Start a child of @parent whose tracer is @p. */
static bool start_traced(struct two_data *self)
{
	return start(&self->t, 0) && !two_seize(&self->p, self->t.pid, 0);
}

/* Start an actor whose tracers are @p and then @parent. */
static bool start_further(struct two_data *self)
{
	return start_traced(self) && !two_traceme(&self->t) &&
	       two_begin(&self->t);
}

/* Start an actor whose tracers are @p, @parent and @s2, in this order. */
static bool start_three(struct two_data *self)
{
	return start_further(self) && !two_seize(&self->s2, self->t.pid, 0);
}

/* Send the task a signal that @p passes on; the task stops for @parent. */
static bool stop_for_parent(struct two_data *self, int sig)
{
	pid_t pid = self->t.pid;

	return !kill(pid, sig) && two_wait(&self->p, pid) == two_stop(sig) &&
	       !two_cont(&self->p, pid, sig) &&
	       two_wait(&parent, pid) == two_stop(sig);
}

/* The parent is a tracer, and has no stop. */
TEST_F(tracers, no_stop_by_itself)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_traced(self));
	EXPECT_EQ(TWO_NONE, two_poll(&parent, t->pid));
	EXPECT_EQ(-ESRCH, two_ptrace(&parent, PTRACE_INTERRUPT, t->pid, 0));
	ASSERT_EQ(0, two_traceme(t));
	EXPECT_STREQ(two_pair(p->t.pid, parent.t.pid), two_tracers(t->pid));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
	ASSERT_TRUE(two_begin(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(&parent, t->pid));
	EXPECT_TRUE(ut_runs(t));
}

/* With one tracer all is as on a kernel without the feature. */
TEST_F(tracers, as_the_first)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, two_limit(1));
	ASSERT_TRUE(start(t, 0));
	ASSERT_EQ(0, two_traceme(t));
	EXPECT_EQ(parent.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_EQ(-EPERM, two_seize(&self->p, t->pid, 0));
	ASSERT_TRUE(two_begin(t));
	EXPECT_TRUE(two_quiet(&parent, t->pid));
}

/* Requests that are for a tracer with PTRACE_SEIZE, or for a new one. */
TEST_F(tracers, no_interrupt_no_listen)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_further(self));
	EXPECT_EQ(-EIO, two_ptrace(&parent, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(&parent, PTRACE_ATTACH, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&parent, t->pid, 0));
	ASSERT_TRUE(stop_for_parent(self, SIGUSR1));
	EXPECT_EQ(-EIO, two_ptrace(&parent, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_EQ(-EIO, two_ptrace(&parent, PTRACE_LISTEN, t->pid, 0));
	ASSERT_EQ(0, two_cont(&parent, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&parent, t->pid));
}

/*
 * The order is that in which the tracers came: @p, @parent and @s2.  The first
 * drops SIGHUP, and the parent puts SIGUSR2 in the place of SIGUSR1.
 */
TEST_F(tracers, signals)
{
	struct two_tracer *p = &self->p, *s2 = &self->s2;
	struct ut_target *t = &self->t;
	siginfo_t info;

	ASSERT_TRUE(start_three(self));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	ASSERT_EQ(two_stop(SIGHUP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	EXPECT_TRUE(two_quiet(&parent, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(p, t->pid));
	EXPECT_EQ(TWO_NONE, two_poll(&parent, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(&parent, t->pid));
	ASSERT_EQ(0, two_siginfo(&parent, t->pid, &info));
	EXPECT_EQ(getpid(), info.si_pid);
	EXPECT_TRUE(ut_still(t));
	EXPECT_EQ(TWO_NONE, two_poll(s2, t->pid));
	ASSERT_EQ(0, two_cont(&parent, t->pid, SIGUSR2));
	ASSERT_EQ(two_stop(SIGUSR2), two_wait(s2, t->pid));
	ASSERT_EQ(0, two_siginfo(s2, t->pid, &info));
	EXPECT_EQ(parent.t.pid, info.si_pid);
	ASSERT_EQ(0, two_cont(s2, t->pid, SIGUSR2));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR2] == 1));
	EXPECT_EQ(0, t->sh->value[ACTOR_USR1]);
	EXPECT_TRUE(two_quiet(p, t->pid));
}

/* The SIGTRAP of execve() is for the tracer without PTRACE_SEIZE alone. */
TEST_F(tracers, exec)
{
	struct two_tracer *p = &self->p, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_three(self));
	actor_do(t, ACTOR_EXECS);
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(&parent, t->pid));
	EXPECT_TRUE(two_has(&parent, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s2, t->pid));
	ASSERT_EQ(0, two_cont(&parent, t->pid, 0));
	EXPECT_EQ(ENDED, two_wait(p, t->pid));
	EXPECT_EQ(ENDED, two_wait(&parent, t->pid));
	EXPECT_EQ(ENDED, two_wait(s2, t->pid));
}

/* A signal in the place of SIGTRAP is for the later tracers and the task. */
TEST_F(tracers, exec_delivers_a_signal)
{
	struct two_tracer *p = &self->p, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_three(self));
	actor_do(t, ACTOR_EXECS);
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(&parent, t->pid));
	ASSERT_EQ(0, two_cont(&parent, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s2, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	ASSERT_EQ(0, two_cont(s2, t->pid, SIGUSR1));
	/* The new program has no handler. */
	EXPECT_EQ(two_killed(SIGUSR1), two_wait(p, t->pid));
	EXPECT_EQ(two_killed(SIGUSR1), two_wait(&parent, t->pid));
	EXPECT_EQ(two_killed(SIGUSR1), two_wait(s2, t->pid));
}

/* The parent reads the end once, though it is a tracer, too. */
TEST_F(tracers, parent_reads_the_end_once)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_further(self));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(ENDED, two_wait(p, t->pid));
	ASSERT_EQ(ENDED, two_wait(&parent, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&parent, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&parent, -1));
	EXPECT_EQ(-ECHILD, two_poll(p, t->pid));
	EXPECT_EQ(0, ut_state(t->pid));
}

TEST_F(tracers, parent_reads_sigkill_once)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_further(self));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_EQ(two_killed(SIGKILL), two_wait(p, t->pid));
	ASSERT_EQ(two_killed(SIGKILL), two_wait(&parent, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&parent, t->pid));
}

TEST_F(tracers, no_more_than_the_limit)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_traced(self));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	ASSERT_EQ(0, two_limit(1));
	EXPECT_EQ(-EPERM, two_traceme(t));
	ASSERT_EQ(0, two_limit(2));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_STREQ(two_pair(p->t.pid, s->t.pid), two_tracers(t->pid));
	EXPECT_EQ(-ESRCH, two_ptrace(&parent, PTRACE_INTERRUPT, t->pid, 0));
	/* The first tracer detaches, and the parent takes its place. */
	ASSERT_TRUE(two_leave(s, t->pid));
	EXPECT_EQ(0, two_traceme(t));
	EXPECT_STREQ(two_pair(p->t.pid, parent.t.pid), two_tracers(t->pid));
	EXPECT_EQ(-EPERM, two_seize(s, t->pid, 0));
	ASSERT_TRUE(two_begin(t));
}

/* The present tracer is of root; the parent and the task are nobody. */
TEST_F(tracers, task_needs_the_right)
{
	struct two_tracer *p = &self->p, nobody = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	ASSERT_TRUE(start(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(TWO_NONE, two_poll(&parent, t->pid));
	EXPECT_EQ(-ESRCH, two_ptrace(&parent, PTRACE_INTERRUPT, t->pid, 0));
	/* The task has that right over a tracer of its own user. */
	ASSERT_TRUE(two_leave(p, t->pid));
	ASSERT_EQ(0, two_seize(&nobody, t->pid, 0));
	EXPECT_EQ(0, two_traceme(t));
	EXPECT_STREQ(two_pair(nobody.t.pid, parent.t.pid), two_tracers(t->pid));
	ASSERT_TRUE(two_begin(t));
}

/* The right is needed over each tracer, be it the first or not. */
TEST_F(tracers, task_needs_the_right_over_all)
{
	struct two_tracer *s = &self->s, nobody = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	ASSERT_TRUE(start(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(&nobody, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	EXPECT_EQ(-EPERM, two_traceme(t));
	/*
	 * The parent would now be the first tracer, beside a tracer that stays.
	 */
	ASSERT_TRUE(two_leave(&nobody, t->pid));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_EQ(s->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	ASSERT_TRUE(two_leave(s, t->pid));
	EXPECT_EQ(0, two_traceme(t));
	EXPECT_EQ(parent.t.pid, ut_status(t->pid, "TracerPid:"));
	ASSERT_TRUE(two_begin(t));
}

/* The first tracer has left: the parent gets stops before the other tracer. */
TEST_F(tracers, first_beside_a_tracer_that_stays)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_traced(self));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	ASSERT_TRUE(two_leave(p, t->pid));
	ASSERT_EQ(0, two_limit(1));
	EXPECT_EQ(-EPERM, two_traceme(t));
	ASSERT_EQ(0, two_limit(2));
	ASSERT_EQ(0, two_traceme(t));
	EXPECT_EQ(parent.t.pid, ut_status(t->pid, "TracerPid:"));
	ASSERT_TRUE(two_begin(t));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(&parent, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	ASSERT_EQ(0, two_cont(&parent, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
}

TEST_F(tracers, parent_is_the_first)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start(t, 0));
	ASSERT_EQ(0, two_seize(&parent, t->pid, 0));
	EXPECT_EQ(-EPERM, two_traceme(t));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_STREQ(two_pair(parent.t.pid, s->t.pid), two_tracers(t->pid));
	/* The parent's tracing has not changed. */
	EXPECT_EQ(TWO_TRAP, two_interrupt(&parent, t->pid));
}

TEST_F(tracers, parent_is_a_further_one)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_traced(self));
	ASSERT_EQ(0, two_seize(&parent, t->pid, 0));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_STREQ(two_pair(p->t.pid, parent.t.pid), two_tracers(t->pid));
	EXPECT_EQ(TWO_TRAP, two_interrupt(&parent, t->pid));
	/* The first tracer has left, and the parent stays. */
	ASSERT_EQ(0, two_cont(&parent, t->pid, 0));
	ASSERT_TRUE(two_leave(p, t->pid));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_EQ(parent.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
}

/* End the real parent; the test is the real parent then. */
static void parent_dies(struct __test_metadata *_metadata, pid_t pid)
{
	int status;

	ASSERT_EQ(0, kill(parent.t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&parent.t, &status));
	EXPECT_TRUE(ut_until(ut_status(pid, PARENT) == getpid()));
}

/* The tracing ends with the parent, and the other tracer goes on. */
static void dies_as_a_tracer(struct __test_metadata *_metadata,
			     struct two_data *self)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	parent_dies(_metadata, t->pid);
	EXPECT_TRUE(ut_until(!strcmp("", two_tracers(t->pid))));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	actor_do(t, ACTOR_EXITS);
	EXPECT_EQ(ENDED, two_wait(p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
}

TEST_F(tracers, parent_dies)
{
	ASSERT_TRUE(start_further(self));
	dies_as_a_tracer(_metadata, self);
}

TEST_F(tracers, parent_dies_in_its_stop)
{
	ASSERT_TRUE(start_further(self));
	ASSERT_TRUE(stop_for_parent(self, SIGUSR1));
	dies_as_a_tracer(_metadata, self);
}

/* The parent dies before it is a tracer; the next parent becomes a tracer. */
TEST_F(tracers, parent_dies_before)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_traced(self));
	parent_dies(_metadata, t->pid);
	ASSERT_EQ(0, two_traceme(t));
	EXPECT_STREQ(two_pair(p->t.pid, getpid()), two_tracers(t->pid));
	ASSERT_TRUE(two_begin(t));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(ENDED, two_wait(p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
	EXPECT_EQ(-ECHILD, ut_waitpid(t->pid, &self->status, __WALL));
}

/* After the detach the parent is no tracer. */
TEST_F(tracers, detach)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_further(self));
	ASSERT_TRUE(stop_for_parent(self, SIGUSR1));
	ASSERT_EQ(0, two_ptrace(&parent, PTRACE_DETACH, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_EQ(TWO_NONE, two_poll(&parent, t->pid));
	EXPECT_EQ(-ESRCH, two_cont(&parent, t->pid, 0));
	EXPECT_TRUE(two_quiet(p, t->pid));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(ENDED, two_wait(p, t->pid));
	EXPECT_EQ(ENDED, two_wait(&parent, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&parent, t->pid));
}

/* The parent detaches, and the task asks again. */
TEST_F(tracers, detach_and_again)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_traced(self));
	ASSERT_EQ(0, two_traceme(t));
	EXPECT_EQ(-EPERM, two_traceme(t));
	/* The task ignores this signal by default. */
	ASSERT_TRUE(stop_for_parent(self, SIGWINCH));
	ASSERT_EQ(0, two_ptrace(&parent, PTRACE_DETACH, t->pid, 0));
	EXPECT_STREQ("", two_tracers(t->pid));
	ASSERT_EQ(0, two_traceme(t));
	EXPECT_STREQ(two_pair(p->t.pid, parent.t.pid), two_tracers(t->pid));
	ASSERT_TRUE(two_begin(t));
	EXPECT_TRUE(two_quiet(&parent, t->pid));
}

TEST_HARNESS_MAIN
