// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - PTRACE_CONT out of a group stop
 *
 * On a kernel without utrace, the tracer of a task in a group stop
 * may let the task run: ptrace_resume() wakes it from its trap, and
 * SIGNAL_STOP_STOPPED stays set.  Another tracer that listens
 * (PTRACE_LISTEN) does not prevent that.
 */
#include "places.h"

/* The other tracer listens in a group stop. */
static bool listening;

/*
 * Serve a tracer that listens in each group stop, and passes on each
 * signal.
 */
static void listens(struct two_tracer *tr, pid_t pid)
{
	if (tr && two_pass(tr, pid, true) == TWO_STOPPED)
		listening = true;
}

/* The next status of the tracer @one, while @other listens. */
static long wait_beside(struct two_tracer *one, struct two_tracer *other,
			pid_t pid)
{
	long status;

	ut_until((listens(other, pid),
		  status = two_poll(one, pid)) != TWO_NONE);
	return status;
}

/* Wait until the other tracer listens.  False if it does not. */
static bool comes_to_listen(struct two_tracer *other, pid_t pid)
{
	return !other || ut_until((listens(other, pid), listening));
}

/* Check that the task runs while the other tracer passes and listens. */
static bool runs_beside(struct ut_target *t, struct two_tracer *other)
{
	long old = t->sh->counter;

	return ut_until((listens(other, t->pid), t->sh->counter) != old);
}

/* Check that wait(2) of the real parent reports no change for a while. */
static bool parent_sees_nothing(pid_t pid)
{
	int status;

	return ut_stays(!waitpid(pid, &status,
				 WNOHANG | WUNTRACED | WCONTINUED));
}

/* Stop the group by SIGSTOP.  @one is in the stop then, @other listens. */
static bool stop_group(struct ut_target *t, struct two_tracer *one,
		       struct two_tracer *other)
{
	listening = false;
	return !kill(t->pid, SIGSTOP) &&
	       wait_beside(one, other, t->pid) == two_stop(SIGSTOP) &&
	       !two_cont(one, t->pid, SIGSTOP) &&
	       wait_beside(one, other, t->pid) == TWO_STOPPED &&
	       comes_to_listen(other, t->pid);
}

/* Start an actor that is in a group stop, and resume it by @request. */
static bool resume_stopped(struct two_data *self,
			   const struct two_variant *variant, long request)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	return actor_spawn(t) &&
	       place_seize(self, variant, PTRACE_O_TRACESYSGOOD, 0) &&
	       stop_group(t, one, other) && two_parent_sees(t->pid, SIGSTOP) &&
	       ut_still(t) && !two_ptrace(one, request, t->pid, 0);
}

/*
 * SIGCONT traps a tracer that listens, and also one that has resumed the task:
 * prepare_signal() calls ptrace_trap_notify() for a task with PTRACE_SEIZE.
 */
static bool sigcont(struct ut_target *t, struct two_tracer *one,
		    struct two_tracer *other)
{
	return !kill(t->pid, SIGCONT) &&
	       wait_beside(one, other, t->pid) == TWO_TRAP &&
	       !two_cont(one, t->pid, 0) &&
	       wait_beside(one, other, t->pid) == two_stop(SIGCONT) &&
	       !two_cont(one, t->pid, SIGCONT) && runs_beside(t, other);
}

/* wait(2) does not report that the task runs: the group stop is not over. */
TEST_F(tracers, runs)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_CONT));
	ASSERT_TRUE(ut_runs(t));
	EXPECT_EQ('R', ut_state(t->pid));
	EXPECT_FALSE(two_has(one, t->pid));
	EXPECT_TRUE(two_quiet(one, t->pid));
	if (other) {
		EXPECT_TRUE(two_quiet(other, t->pid));
		EXPECT_FALSE(two_has(other, t->pid));
	}
	EXPECT_TRUE(parent_sees_nothing(t->pid));
	EXPECT_TRUE(ut_runs(t));
}

/* A system call and a signal are reported as usual. */
TEST_F(tracers, is_traced_as_ever)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_SYSCALL));
	ASSERT_TRUE(ut_runs(t));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(TWO_SYSGOOD, wait_beside(one, other, t->pid));
	ASSERT_EQ(0, two_next(one, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, wait_beside(one, other, t->pid));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), wait_beside(one, other, t->pid));
	ASSERT_EQ(0, two_cont(one, t->pid, SIGUSR1));
	EXPECT_TRUE(runs_beside(t, other));
	EXPECT_TRUE(ut_until((listens(other, t->pid),
			      t->sh->value[ACTOR_USR1])));
}

TEST_F(tracers, steps)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_SINGLESTEP));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(two_stop(SIGTRAP), wait_beside(one, other, t->pid));
		ASSERT_EQ(0, two_ptrace(one, i < 2 ? PTRACE_SINGLESTEP :
					PTRACE_CONT, t->pid, 0));
	}
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, then_sigcont)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;
	int status;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_CONT));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_TRUE(sigcont(t, one, other));
	EXPECT_TRUE(two_quiet(one, t->pid));
	if (other)
		EXPECT_TRUE(two_quiet(other, t->pid));
	/* The stop ends for the real parent now. */
	ASSERT_EQ(1, ut_waitpid(t->pid, &status, WCONTINUED));
	EXPECT_TRUE(WIFCONTINUED(status));
}

/*
 * do_signal_stop() begins another stop, though SIGNAL_STOP_STOPPED is set.  The
 * parent gets no report of that one.
 */
TEST_F(tracers, then_sigstop)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_CONT));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_TRUE(stop_group(t, one, other));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(parent_sees_nothing(t->pid));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_TRUE(sigcont(t, one, other));
}

/* do_jobctl_trap() reports the group stop. */
TEST_F(tracers, then_interrupt)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_CONT));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_EQ(0, two_ptrace(one, PTRACE_INTERRUPT, t->pid, 0));
	ASSERT_EQ(TWO_STOPPED, wait_beside(one, other, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

/* The tracer listens in the same group stop, and SIGCONT ends that. */
TEST_F(tracers, then_listen)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_CONT));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_EQ(0, two_ptrace(one, PTRACE_INTERRUPT, t->pid, 0));
	ASSERT_EQ(TWO_STOPPED, wait_beside(one, other, t->pid));
	ASSERT_EQ(0, two_ptrace(one, PTRACE_LISTEN, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(two_quiet(one, t->pid));
	ASSERT_TRUE(sigcont(t, one, other));
}

/* Check that the task is in the group stop, and that SIGCONT ends it. */
static void is_in_job_control(struct __test_metadata *_metadata,
			      struct ut_target *t)
{
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(ut_still(t));
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

/* Detach a tracer in the group stop. */
static bool detach(struct two_tracer *tr, pid_t pid)
{
	return two_interrupt(tr, pid) == TWO_STOPPED &&
	       !two_ptrace(tr, PTRACE_DETACH, pid, 0);
}

/* __ptrace_unlink() sets JOBCTL_STOP_PENDING if SIGNAL_STOP_STOPPED is set. */
TEST_F(tracers, last_detach_stops)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_CONT));
	ASSERT_TRUE(ut_runs(t));
	if (other)
		ASSERT_TRUE(detach(other, t->pid));
	EXPECT_TRUE(ut_runs(t));
	ASSERT_TRUE(detach(one, t->pid));
	is_in_job_control(_metadata, t);
}

TEST_F(tracers, last_death_stops)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(resume_stopped(self, variant, PTRACE_CONT));
	ASSERT_TRUE(ut_runs(t));
	if (other)
		ASSERT_EQ(0, kill(other->t.pid, SIGKILL));
	ASSERT_EQ(0, kill(one->t.pid, SIGKILL));
	is_in_job_control(_metadata, t);
}

/*
 * Start an actor that is in a group stop, and let all tracers of the variant but
 * one listen.  The place of the first tracer is free if @one is to have it.
 */
static bool start_stopped(struct two_data *self,
			  const struct two_variant *variant)
{
	struct ut_target *t = &self->t;
	bool again = variant->one == 0 && variant->attach > 1;
	struct two_tracer *tr;
	int i;

	if (!actor_spawn(t) || kill(t->pid, SIGSTOP) ||
	    !two_parent_sees(t->pid, SIGSTOP))
		return false;
	for (i = 0; i < variant->attach; i++) {
		tr = place_tracer(self, i);
		if (i == variant->one && !again)
			continue;
		listening = false;
		if (two_seize(tr, t->pid, 0) || !comes_to_listen(tr, t->pid))
			return false;
	}
	return !again || detach(&self->p, t->pid);
}

/* Resume the task from stops by SIGSTOP until it runs. */
static bool drops_sigstop(struct ut_target *t, struct two_tracer *one,
			  struct two_tracer *other)
{
	long old = t->sh->counter;

	return ut_until((listens(other, t->pid),
			 two_poll(one, t->pid) == two_stop(SIGSTOP) &&
				two_cont(one, t->pid, 0),
			 t->sh->counter) != old);
}

/*
 * So gdb attaches to a process in a group stop: its own SIGSTOP makes sure that
 * wait() has a stop to report.  That SIGSTOP and the one of PTRACE_ATTACH may
 * be one stop or two.
 */
TEST_F(tracers, debugger_attaches)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_stopped(self, variant));
	ASSERT_EQ(0, two_ptrace(one, PTRACE_ATTACH, t->pid, 0));
	if (variant->leaves)
		ASSERT_TRUE(detach(&self->p, t->pid));
	ASSERT_EQ(0, syscall(SYS_tkill, t->pid, SIGSTOP));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	ASSERT_EQ(two_stop(SIGSTOP), wait_beside(one, other, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	ASSERT_TRUE(drops_sigstop(t, one, other));
	EXPECT_TRUE(ut_runs(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_EQ(two_stop(SIGCONT), wait_beside(one, other, t->pid));
	ASSERT_EQ(0, two_cont(one, t->pid, SIGCONT));
	EXPECT_TRUE(runs_beside(t, other));
}

/* PTRACE_SEIZE of a task that is stopped traps it (ptrace_set_stopped()). */
TEST_F(tracers, seized_in_the_stop)
{
	struct two_tracer *other = place_tracer(self, variant->other);
	struct two_tracer *one = place_tracer(self, variant->one);
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_stopped(self, variant));
	ASSERT_EQ(0, two_seize(one, t->pid, 0));
	if (variant->leaves)
		ASSERT_TRUE(detach(&self->p, t->pid));
	ASSERT_EQ(TWO_STOPPED, wait_beside(one, other, t->pid));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_TRUE(sigcont(t, one, other));
}

TEST_HARNESS_MAIN
