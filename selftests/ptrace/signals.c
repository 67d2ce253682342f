// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the signal stops of several tracers
 *
 * A signal goes from tracer to tracer, in the order of attach, and to the task
 * at last.  Each of them passes it on, drops it, or replaces it.
 */
#include "either.h"

/* Check that the task runs and no handler does. */
static bool no_handler(struct ut_target *t)
{
	return ut_runs(t) && ut_stays(!t->sh->value[ACTOR_USR1] &&
				      !t->sh->value[ACTOR_USR2]);
}

TEST_F(tracers, all_pass)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	siginfo_t info;
	int i, k;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(two_stop(SIGUSR1), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_siginfo(tr[i], t->pid, &info));
		EXPECT_EQ(SIGUSR1, info.si_signo);
		EXPECT_EQ(SI_USER, info.si_code);
		EXPECT_EQ(getpid(), info.si_pid);
		for (k = 0; k < 3; k++)
			EXPECT_EQ(TWO_NONE, two_poll(tr[k], t->pid));
		EXPECT_TRUE(ut_still(t));
		EXPECT_EQ(0, t->sh->value[ACTOR_USR1]);
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGUSR1));
	}
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
	EXPECT_EQ(SI_USER, t->sh->value[ACTOR_SI_CODE]);
	EXPECT_EQ(getpid(), t->sh->value[ACTOR_SI_PID]);
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(two_quiet(tr[i], t->pid));
	EXPECT_EQ(1, t->sh->value[ACTOR_USR1]);
}

FIXTURE_LIKE(tracers, place)

/* The number of the tracer that does not just pass the signal on. */
FIXTURE_VARIANT(place) {
	int one;
};

FIXTURE_VARIANT_ADD(place, first) { 0 };
FIXTURE_VARIANT_ADD(place, further) { 1 };
FIXTURE_VARIANT_ADD(place, last) { 2 };

/* The tracer drops the signal, and the later ones do not see it. */
TEST_F(place, drops)
{
	struct two_data *two = &self->base;
	struct two_tracer *tr[] = { &two->p, &two->s, &two->s2 };
	struct ut_target *t = &two->t;
	int i, one = variant->one;

	ASSERT_TRUE(two_seize_all(two));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	for (i = 0; i <= one; i++) {
		ASSERT_EQ(two_stop(SIGUSR1), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, i == one ? 0 : SIGUSR1));
	}
	EXPECT_TRUE(no_handler(t));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(two_quiet(tr[i], t->pid));
}

/* The tracer replaces the signal; it is the sender of the new one. */
TEST_F(place, replaces)
{
	struct two_data *two = &self->base;
	struct two_tracer *tr[] = { &two->p, &two->s, &two->s2 };
	int i, one = variant->one, sig = SIGUSR1;
	struct ut_target *t = &two->t;
	siginfo_t info;

	ASSERT_TRUE(two_seize_all(two));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(two_stop(sig), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_siginfo(tr[i], t->pid, &info));
		EXPECT_EQ(sig, info.si_signo);
		EXPECT_EQ(SI_USER, info.si_code);
		EXPECT_EQ(i > one ? tr[one]->t.pid : getpid(), info.si_pid);
		if (i == one)
			sig = SIGUSR2;
		ASSERT_EQ(0, two_cont(tr[i], t->pid, sig));
	}
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR2] == 1));
	EXPECT_EQ(0, t->sh->value[ACTOR_USR1]);
	EXPECT_EQ(SI_USER, t->sh->value[ACTOR_SI_CODE]);
	EXPECT_EQ(tr[one]->t.pid, t->sh->value[ACTOR_SI_PID]);
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(two_quiet(tr[i], t->pid));
}

/* What a tracer stores with PTRACE_SETSIGINFO is what comes after it. */
TEST_F(tracers, siginfo_is_changed)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int i, sender = getpid();
	siginfo_t info;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(two_stop(SIGUSR1), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_siginfo(tr[i], t->pid, &info));
		EXPECT_EQ(i ? SI_QUEUE : SI_USER, info.si_code);
		EXPECT_EQ(sender, info.si_pid);
		info.si_code = SI_QUEUE;
		sender = 1000 + i;
		info.si_pid = sender;
		ASSERT_EQ(0, two_copy(tr[i], PTRACE_SETSIGINFO, t->pid, 0,
				      &info, sizeof(info)));
		ASSERT_EQ(0, two_siginfo(tr[i], t->pid, &info));
		EXPECT_EQ(1000 + i, info.si_pid);
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGUSR1));
	}
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
	EXPECT_EQ(SI_QUEUE, t->sh->value[ACTOR_SI_CODE]);
	EXPECT_EQ(1002, t->sh->value[ACTOR_SI_PID]);
}

/* The bit of a signal in a mask of the kernel. */
#define MASK_OF(sig)	(1UL << ((sig) - 1))

static long set_mask(struct two_tracer *tr, pid_t pid, unsigned long mask)
{
	return two_copy(tr, PTRACE_SETSIGMASK, pid, sizeof(mask), &mask,
			sizeof(mask));
}

/*
 * A tracer blocks the very signal that it passes on: the signal waits in its
 * queue, and is reported to all tracers when it is not blocked any longer.
 */
TEST_F(either, blocks)
{
	struct two_tracer *tr[] = { &self->two.p, &self->two.s };
	struct two_tracer *blocks = self->one;
	struct ut_target *t = self->t;
	siginfo_t info;
	int i;

	ASSERT_TRUE(either_seize(self, 0));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(two_stop(SIGUSR1), two_wait(tr[i], t->pid));
		if (tr[i] == blocks)
			ASSERT_EQ(0, set_mask(blocks, t->pid,
					      MASK_OF(SIGUSR1)));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGUSR1));
		if (tr[i] == blocks)
			break;
	}
	EXPECT_TRUE(no_handler(t));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(TWO_NONE, two_poll(tr[i], t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(blocks, t->pid));
	ASSERT_EQ(0, set_mask(blocks, t->pid, 0));
	ASSERT_EQ(0, two_cont(blocks, t->pid, 0));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(two_stop(SIGUSR1), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_siginfo(tr[i], t->pid, &info));
		EXPECT_EQ(SI_USER, info.si_code);
		EXPECT_EQ(getpid(), info.si_pid);
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGUSR1));
	}
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(two_quiet(tr[i], t->pid));
	EXPECT_EQ(1, t->sh->value[ACTOR_USR1]);
}

/* A signal that the task ignores is reported nevertheless. */
TEST_F(tracers, ignored_signal)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(two_stop(SIGHUP), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGHUP));
	}
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, ignored_signal_without_the_first)
{
	struct two_tracer *tr[] = { &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(two_stop(SIGHUP), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGHUP));
	}
	EXPECT_TRUE(ut_runs(t));
}

/* The default action comes after the last tracer. */
TEST_F(tracers, fatal_signal)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(two_stop(SIGTERM), two_wait(tr[i], t->pid));
		EXPECT_TRUE(ut_still(t));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGTERM));
	}
	for (i = 0; i < 3; i++)
		EXPECT_EQ(two_killed(SIGTERM), two_wait(tr[i], t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(two_killed(SIGTERM), self->status);
}

/* A further tracer may even save the task. */
TEST_F(tracers, fatal_signal_is_dropped)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_EQ(two_stop(SIGTERM), two_wait(&self->p, t->pid));
	ASSERT_EQ(0, two_cont(&self->p, t->pid, SIGTERM));
	ASSERT_EQ(two_stop(SIGTERM), two_wait(&self->s, t->pid));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->s2, t->pid));
}

/* One after another: the second signal waits until the first is through. */
TEST_F(tracers, two_signals)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	const struct two_step steps[] = {
		{ two_stop(SIGUSR1), PTRACE_CONT, SIGUSR1 },
		{ two_stop(SIGUSR2), PTRACE_CONT, SIGUSR2 },
		TWO_END
	};

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_TRUE(two_play(t->pid, p, steps, s, steps));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1 &&
			     t->sh->value[ACTOR_USR2] == 1));
}

/*
 * A tracer that has passed a signal on interrupts the task, which is in a stop
 * of another tracer and has not acted on the signal yet.
 */
TEST_F(tracers, interrupt_behind_a_decision)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s, t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s2, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGUSR1));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_INTERRUPT, t->pid, 0));
	ASSERT_EQ(0, two_cont(s2, t->pid, 0));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s2, t->pid));
	ASSERT_EQ(0, two_cont(s2, t->pid, SIGUSR1));
	ASSERT_EQ(TWO_TRAP, two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
}

/* SIGKILL makes no stop for any tracer. */
TEST_F(tracers, sigkill)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(two_killed(SIGKILL), two_wait(tr[i], t->pid));
}

/* The tracer's SIGCHLD names the task, as that of a first tracer does. */
TEST_F(tracers, sigchld_to_each_tracer)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_all(self));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, two_ptrace(tr[i], PTRACE_INTERRUPT, t->pid, 0));
		tr[i]->call->op = TWO_SIGCHLD;
		ASSERT_EQ(SIGCHLD, two_run(tr[i]));
		EXPECT_EQ(t->pid, tr[i]->call->info.si_pid);
		EXPECT_EQ(CLD_STOPPED, tr[i]->call->info.si_code);
		ASSERT_EQ(TWO_TRAP, two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, 0));
	}
}

TEST_HARNESS_MAIN
