// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a tracer detaches or dies
 *
 * The task is released from the stops of that tracer, and from no other stop.
 * With PTRACE_O_EXITKILL the task ends with the tracer.
 */
#include "either.h"

static bool two_kill(struct two_tracer *tr)
{
	int status;

	return !kill(tr->t.pid, SIGKILL) && ut_reap(&tr->t, &status) &&
	       status == SIGKILL;
}

static long detach(struct two_tracer *tr, pid_t pid, int sig)
{
	return two_ptrace(tr, PTRACE_DETACH, pid, sig);
}

/* After the detach the tracer is a stranger, and may attach again. */
TEST_F(either, detaches)
{
	struct two_tracer *one = self->one, *other = self->other;
	struct ut_target *t = self->t;

	ASSERT_TRUE(either_seize(self, 0));
	EXPECT_EQ(-ESRCH, detach(one, t->pid, 0));
	ASSERT_TRUE(two_leave(one, t->pid));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(other->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(-ECHILD, two_poll(one, t->pid));
	EXPECT_EQ(-ESRCH, two_ptrace(one, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_TRUE(two_quiet(other, t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(other, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(other, t->pid, 0));
	ASSERT_EQ(0, two_seize(one, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(one, t->pid));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * A tracer that detaches passes its signal to the later tracers, or drops it.
 */
static void detach_with(struct __test_metadata *_metadata,
			struct two_data *self, int sig)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;
	siginfo_t info;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, two_seize(s2, t->pid, 0));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s, t->pid));
	ASSERT_EQ(0, detach(s, t->pid, sig));
	EXPECT_EQ(-ECHILD, two_poll(s, t->pid));
	if (!sig) {
		EXPECT_TRUE(ut_runs(t));
		EXPECT_TRUE(two_quiet(s2, t->pid));
		EXPECT_EQ(0, t->sh->value[ACTOR_USR1]);
		return;
	}
	ASSERT_EQ(two_stop(sig), two_wait(s2, t->pid));
	ASSERT_EQ(0, two_siginfo(s2, t->pid, &info));
	EXPECT_EQ(sig == SIGUSR1 ? getpid() : s->t.pid, info.si_pid);
	ASSERT_EQ(0, two_cont(s2, t->pid, sig));
	EXPECT_TRUE(ut_until(t->sh->value[sig == SIGUSR1 ? ACTOR_USR1 :
							   ACTOR_USR2] == 1));
	EXPECT_TRUE(two_quiet(p, t->pid));
}

TEST_F(tracers, detach_drops_the_signal)
{
	detach_with(_metadata, self, 0);
}

TEST_F(tracers, detach_passes_the_signal)
{
	detach_with(_metadata, self, SIGUSR1);
}

TEST_F(tracers, detach_replaces_the_signal)
{
	detach_with(_metadata, self, SIGUSR2);
}

/* The first tracer detaches in its stop, and the further tracer is next. */
TEST_F(tracers, first_detaches_with_a_signal)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(&self->p, t->pid));
	ASSERT_EQ(0, detach(&self->p, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(&self->s, t->pid));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
}

/* One tracer detaches at the entry of a call: the other gets the exit. */
TEST_F(tracers, detach_at_a_system_call)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_TRUE(two_wants_calls(s, t->pid));
	ASSERT_TRUE(two_wants_calls(p, t->pid));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_next(p, t->pid));
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(s, t->pid));
	ASSERT_EQ(0, detach(s, t->pid, 0));
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(getpid(), t->sh->value[ACTOR_RESULT]);
}

/*
 * The tracer @s leaves in its stop for a signal, and @s2 has the thread in a stop, too.
 * The end of the process waits for neither.
 */
TEST_F(tracers, detach_before_the_process_ends)
{
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 2));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(&self->p, tid, 0));
	ASSERT_EQ(0, two_seize(&self->s, tid, PTRACE_O_TRACEEXIT));
	ASSERT_EQ(0, two_seize(&self->s2, tid, 0));
	ASSERT_TRUE(two_leave(&self->p, tid));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, tid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(&self->s, tid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s2, tid));
	ASSERT_EQ(0, detach(&self->s, tid, 0));
	EXPECT_TRUE(ut_held(tid));
	t->sh->go[0] = UT_GO_EXIT_GROUP;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(two_exit(7), self->status);
	EXPECT_EQ(two_exit(7), two_wait(&self->s2, tid));
}

/* The task runs, and a tracer dies. */
static void one_dies(struct __test_metadata *_metadata, struct ut_target *t,
		     struct two_tracer *one, struct two_tracer *other)
{
	ASSERT_TRUE(two_kill(one));
	EXPECT_TRUE(ut_until(ut_status(t->pid, "TracerPid:") ==
			     other->t.pid));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(other, t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(other, t->pid));
	ASSERT_EQ(0, two_cont(other, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(other, t->pid));
}

TEST_F(either, dies)
{
	ASSERT_TRUE(either_seize(self, 0));
	one_dies(_metadata, self->t, self->one, self->other);
}

TEST_F(either, dies_in_its_stop)
{
	ASSERT_TRUE(either_seize(self, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(self->one, self->t->pid));
	one_dies(_metadata, self->t, self->one, self->other);
}

/* One tracer dies in a stop of the other tracer, which does not end. */
TEST_F(either, dies_in_the_stop_of_the_other)
{
	struct two_tracer *one = self->one, *other = self->other;
	struct ut_target *t = self->t;

	ASSERT_TRUE(either_seize(self, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(other, t->pid));
	ASSERT_TRUE(two_kill(one));
	EXPECT_TRUE(ut_until(ut_status(t->pid, "TracerPid:") ==
			     other->t.pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(two_has(other, t->pid));
	ASSERT_EQ(0, two_cont(other, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

/* Two further tracers have the task in one stop, and one of them is killed. */
TEST_F(tracers, one_of_two_dies_in_their_stop)
{
	struct two_tracer *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, two_seize(s2, t->pid, 0));
	ASSERT_TRUE(two_wants_calls(s, t->pid));
	ASSERT_TRUE(two_wants_calls(s2, t->pid));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(s, t->pid));
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(s2, t->pid));
	ASSERT_TRUE(two_kill(s));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(two_has(s2, t->pid));
	ASSERT_EQ(0, two_cont(s2, t->pid, 0));
	EXPECT_TRUE(actor_did(t, 1));
}

/* The task dies where one further tracer has gone on and another has not. */
TEST_F(tracers, task_is_killed_in_what_is_left_of_a_stop)
{
	struct two_tracer *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, two_seize(s2, t->pid, 0));
	ASSERT_TRUE(two_wants_calls(s, t->pid));
	ASSERT_TRUE(two_wants_calls(s2, t->pid));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(s, t->pid));
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(s2, t->pid));
	ASSERT_EQ(0, two_next(s, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(&self->p, t->pid));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(s, t->pid));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(s2, t->pid));
}

/* PTRACE_O_EXITKILL of a tracer that dies; the task runs or is in a stop. */
static void exitkill(struct __test_metadata *_metadata,
		     struct either_data *self, struct two_tracer *stop)
{
	struct ut_target *t = self->t;
	int status;

	ASSERT_TRUE(either_seize(self, PTRACE_O_EXITKILL));
	if (stop)
		ASSERT_EQ(TWO_TRAP, two_interrupt(stop, t->pid));
	ASSERT_TRUE(two_kill(self->one));
	EXPECT_EQ(two_killed(SIGKILL), two_end_of(self->other, t->pid));
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(two_killed(SIGKILL), status);
}

TEST_F(either, exitkill)
{
	exitkill(_metadata, self, NULL);
}

TEST_F(either, exitkill_in_its_stop)
{
	exitkill(_metadata, self, self->one);
}

TEST_F(either, exitkill_in_the_stop_of_the_other)
{
	exitkill(_metadata, self, self->other);
}

/* The option is of one tracer: the death of the other does not matter. */
TEST_F(tracers, exitkill_of_another_tracer)
{
	ASSERT_TRUE(two_seize_both(self, PTRACE_O_EXITKILL, 0));
	one_dies(_metadata, &self->t, &self->s, &self->p);
}

TEST_F(tracers, exitkill_ends_with_the_detach)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, PTRACE_O_EXITKILL));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	ASSERT_TRUE(two_kill(&self->s));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

TEST_HARNESS_MAIN
