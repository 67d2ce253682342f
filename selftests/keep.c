// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - engines that keep a signal until they have decided
 *
 * The first engine answers UTRACE_STOP_HERE.  The task stops with the signal in
 * its hands, the second engine is called when the first one has let go and was
 * called again.
 */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "fixture.h"

static struct ut_shared *shared;

static void on_signal(int sig)
{
	shared->value[sig == SIGUSR1 ? 0 : 1]++;
}

static int target(struct ut_target *t)
{
	shared = t->sh;
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	ut_say(t);
	ut_spin(t);
	return 0;
}

FIXTURE(keep) {
	struct ut_target t;
	int status;
	int id;		/* keeps signals */
	int after;	/* is called after it */
};

FIXTURE_SETUP(keep)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn(&self->t, target));
	ASSERT_TRUE(ut_hear(&self->t));
	self->id = ut_attach(self->t.pid, 0, UT_SIGNAL_ALL | UT_BIT(JCTL));
	ASSERT_LT(0, self->id);
	self->after = ut_attach(self->t.pid, 0, UT_SIGNAL_ALL);
	ASSERT_LT(0, self->after);
}

FIXTURE_TEARDOWN(keep)
{
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

/* Have the engine keep the next signal of this kind, and send the signal. */
static bool keep(int id, pid_t pid, enum ut_event event, int sig)
{
	struct ut_rule rule = {
		.id = id, .event = event, .match = sig, .count = 1,
		.answer = UT_STOP | UT_PASS | UT_STOP_HERE,
	};

	return !ut_ioctl(UT_IOC_RULE, &rule) && !kill(pid, sig) && ut_held(pid);
}

TEST_F(keep, is_told_again_and_then_the_next)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ut_pull(0);
	EXPECT_EQ(1, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR1));
	EXPECT_EQ(0, ut_matches(0, self->after, UT_ANY, UT_ANY, SIGUSR1));
	EXPECT_EQ(0, t->sh->value[0]);
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	i = ut_wait(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].action & UT_SIGNAL_RESUMED);
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
	EXPECT_EQ(2, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR1));
	i = ut_find(0, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1);
	EXPECT_EQ(0, ut_rec[i].action & UT_SIGNAL_RESUMED);
	i = ut_find(i + 1, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_NE(0, ut_rec[i].action & UT_SIGNAL_RESUMED);
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(keep, second_answer_drops_it)
{
	struct ut_target *t = &self->t;
	struct ut_rule rule = {
		.id = self->id, .event = UT_EV_SIGNAL, .match = SIGUSR1,
		.answer = UT_RESUME | UT_SIGNAL_IGN,
	};
	int i;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ut_ioctl(UT_IOC_RULE, &rule));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	/* The module names the event by what the engines before have said. */
	i = ut_wait(0, self->after, UT_EV_SIGNAL_IGN, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_IGN, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, t->sh->value[0]);
}

/* The answer that keeps the signal says nothing about it yet. */
TEST_F(keep, first_answer_does_not_drop_it)
{
	struct ut_target *t = &self->t;
	struct ut_rule rule = {
		.id = self->id, .event = UT_EV_SIGNAL, .match = SIGUSR1,
		.count = 1,
		.answer = UT_STOP | UT_STOP_HERE | UT_SIGNAL_IGN,
	};
	int i;

	ASSERT_EQ(0, ut_ioctl(UT_IOC_RULE, &rule));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	i = ut_wait(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_DELIVER, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
}

/* Another signal is not taken before, and neither is lost. */
TEST_F(keep, another_signal_comes_after)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ut_pull(0);
	EXPECT_EQ(0, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR2));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1 && t->sh->value[1] == 1));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(keep, keeper_detaches)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ut_detach(self->id));
	EXPECT_LE(0, ut_wait(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
}

TEST_F(keep, two_keepers_one_after_the_other)
{
	struct ut_target *t = &self->t;
	struct ut_rule rule = {
		.id = self->after, .event = UT_EV_SIGNAL, .match = SIGUSR1,
		.count = 1, .answer = UT_STOP | UT_PASS | UT_STOP_HERE,
	};

	ASSERT_EQ(0, ut_ioctl(UT_IOC_RULE, &rule));
	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_LE(0, ut_wait(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR1));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	EXPECT_EQ(0, t->sh->value[0]);
	ASSERT_EQ(0, ut_control(self->after, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
	ut_pull(0);
	EXPECT_EQ(2, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR1));
	EXPECT_EQ(2, ut_matches(0, self->after, UT_ANY, UT_ANY, SIGUSR1));
}

TEST_F(keep, fatal_signal)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL_TERM, SIGTERM));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
	EXPECT_LE(0, ut_seen(0, self->after, UT_EV_SIGNAL_TERM, t->pid,
			     SIGTERM));
}

TEST_F(keep, kill_ends_it)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
}

/* A debugger that comes meanwhile gets its stop, and the signal stays kept. */
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

/* The task is stopped for the engine and for job control at once. */
TEST_F(keep, stop_of_job_control)
{
	struct ut_target *t = &self->t;
	struct ut_rule rule = {
		.id = self->id, .event = UT_EV_JCTL, .match = CLD_STOPPED,
		.count = 1, .answer = UT_STOP | UT_PASS | UT_STOP_HERE,
	};

	ASSERT_EQ(0, ut_ioctl(UT_IOC_RULE, &rule));
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

TEST_HARNESS_MAIN
