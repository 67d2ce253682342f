// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - tracers that trace each other
 *
 * A tracer that would close a circle is refused, be it the first one of its
 * task or a further one, if tasks may have several tracers.  Whatever circles
 * there are, SIGKILL ends all that are in them.
 */
#include "two.h"

#define MOST		3
#define CHAIN		32	/* tracers, of which each traces the next one */
#define RACE_MS		(ut_is_slow() ? 3000 : 1500)

FIXTURE_LIKE(tracers, circles)

/*
 * Each of @n processes seizes the next one, with @options.  Those of the mask
 * @traced have a first tracer before, so the new tracer is a further tracer.
 */
FIXTURE_VARIANT(circles) {
	int n;
	int traced;
	long options;
};

FIXTURE_VARIANT_ADD(circles, two_first_tracers) { .n = 2, .traced = 0 };
FIXTURE_VARIANT_ADD(circles, first_and_further) { .n = 2, .traced = 1 };
FIXTURE_VARIANT_ADD(circles, two_further_tracers) { .n = 2, .traced = 3 };
FIXTURE_VARIANT_ADD(circles, three_first_tracers) { .n = 3, .traced = 0 };
FIXTURE_VARIANT_ADD(circles, one_of_three_is_further) { .n = 3, .traced = 2 };
FIXTURE_VARIANT_ADD(circles, three_further_tracers) { .n = 3, .traced = 7 };

FIXTURE_VARIANT_ADD(circles, two_first_tracers_event_exit)
{
	.n = 2,
	.traced = 0,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(circles, first_and_further_event_exit)
{
	.n = 2,
	.traced = 1,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(circles, two_further_tracers_event_exit)
{
	.n = 2,
	.traced = 3,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(circles, three_first_tracers_event_exit)
{
	.n = 3,
	.traced = 0,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(circles, one_of_three_is_further_event_exit)
{
	.n = 3,
	.traced = 2,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(circles, three_further_tracers_event_exit)
{
	.n = 3,
	.traced = 7,
	.options = PTRACE_O_TRACEEXIT,
};

/* Kill all, again and again, until the test has reaped them. */
static int left_after_kill(struct two_tracer *tr, int n)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	bool gone[MOST] = {};
	int i, left = n;

	while (left && ut_now_ms() < end) {
		for (i = 0; i < n; i++)
			if (!gone[i])
				kill(tr[i].t.pid, SIGKILL);
		ut_sleep_ms(10);
		for (i = 0; i < n; i++) {
			if (gone[i] || !waitpid(tr[i].t.pid, NULL, WNOHANG))
				continue;
			gone[i] = true;
			left--;
		}
	}
	return left;
}

/* Start the processes of a circle, and trace those that the mask names. */
static bool start_all(struct two_tracer *tr, int n, struct two_tracer *first,
		      int traced)
{
	int i;

	for (i = 0; i < n; i++)
		if (!two_start(&tr[i]) ||
		    (traced & (1 << i) &&
		     two_seize(first, tr[i].t.pid, 0)))
			return false;
	return true;
}

TEST_F(circles, circle_is_killed)
{
	struct two_tracer *p = &self->base.p, tr[MOST] = {};
	int n = variant->n, i, status;

	ASSERT_TRUE(start_all(tr, n, p, variant->traced));
	for (i = 0; i < n; i++) {
		long ret = two_seize(&tr[i], tr[(i + 1) % n].t.pid,
				     variant->options);

		/* The last process closes the circle. */
		ASSERT_EQ(i == n - 1 ? -EDEADLK : 0, ret) {
			TH_LOG("number %d", i);
		}
	}
	EXPECT_EQ(-EDEADLK, two_ptrace(&tr[n - 1], PTRACE_ATTACH,
				       tr[0].t.pid, 0));
	EXPECT_EQ(-ECHILD, two_poll(&tr[n - 1], tr[0].t.pid));
	/*
	 * The first tracer of the other processes would keep them as zombies.
	 */
	ASSERT_EQ(0, kill(p->t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&p->t, &status));
	EXPECT_EQ(0, left_after_kill(tr, n));
}

/* As above, but the first tracer lives, and reads all ends. */
TEST_F(circles, circle_is_killed_beside_a_tracer)
{
	struct two_tracer *p = &self->base.p, tr[MOST] = {};
	int n = variant->n, i;

	ASSERT_TRUE(start_all(tr, n, p, variant->traced));
	for (i = 0; i < n; i++)
		two_seize(&tr[i], tr[(i + 1) % n].t.pid, variant->options);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, kill(tr[i].t.pid, SIGKILL));
	/* Its tracees are zombies until it reads the status. */
	for (i = 0; i < n; i++) {
		if (!(variant->traced & (1 << i)))
			continue;
		EXPECT_EQ(two_killed(SIGKILL), two_wait(p, tr[i].t.pid));
	}
	EXPECT_EQ(0, left_after_kill(tr, n));
}

/* With a limit of one, circles are as on a kernel without the feature. */
static void circle_of_one_tracer_each(struct __test_metadata *_metadata, int n)
{
	struct two_tracer tr[MOST] = {};
	int i;

	ASSERT_EQ(0, two_limit(1));
	ASSERT_TRUE(start_all(tr, n, NULL, 0));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, two_seize(&tr[i], tr[(i + 1) % n].t.pid, 0));
	for (i = 0; i < n; i++)
		EXPECT_EQ(tr[i].t.pid,
			  ut_status(tr[(i + 1) % n].t.pid, "TracerPid:"));
	EXPECT_EQ(0, left_after_kill(tr, n));
}

TEST_F(tracers, circle_of_two_with_one_tracer_each)
{
	circle_of_one_tracer_each(_metadata, 2);
}

TEST_F(tracers, circle_of_three_with_one_tracer_each)
{
	circle_of_one_tracer_each(_metadata, 3);
}

/* After a tracer has left the circle, the other tracer may attach. */
static void is_open_again(struct __test_metadata *_metadata,
			  struct two_data *self, bool further)
{
	struct two_tracer *a = &self->s, *b = &self->s2;

	if (further) {
		ASSERT_EQ(0, two_seize(&self->p, a->t.pid, 0));
		ASSERT_EQ(0, two_seize(&self->p, b->t.pid, 0));
	}
	ASSERT_EQ(0, two_seize(a, b->t.pid, 0));
	EXPECT_EQ(-EDEADLK, two_seize(b, a->t.pid, 0));
	EXPECT_STREQ("", two_tracers(a->t.pid));
	EXPECT_EQ(further ? self->p.t.pid : 0,
		  ut_status(a->t.pid, "TracerPid:"));
	/* The tracee runs: it waits for a call from the test. */
	ASSERT_TRUE(two_leave(a, b->t.pid));
	EXPECT_EQ(0, two_seize(b, a->t.pid, 0));
	EXPECT_EQ(-EDEADLK, two_seize(a, b->t.pid, 0));
}

TEST_F(tracers, circle_of_first_tracers_is_open_again)
{
	is_open_again(_metadata, self, false);
}

TEST_F(tracers, circle_of_further_tracers_is_open_again)
{
	is_open_again(_metadata, self, true);
}

/* A chain that is too long counts as a circle, for any tracer. */
TEST_F(tracers, long_chain)
{
	struct two_tracer tr[CHAIN + 1] = {};
	struct two_tracer *last = &tr[CHAIN];
	struct ut_target *t = &self->t, other = {};
	int i;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_TRUE(actor_spawn(&other));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	for (i = 0; i <= CHAIN; i++)
		ASSERT_TRUE(two_start(&tr[i]));
	for (i = 0; i < CHAIN; i++) {
		ASSERT_EQ(0, two_seize(&tr[i], tr[i + 1].t.pid, 0)) {
			TH_LOG("number %d", i);
		}
	}
	EXPECT_EQ(0, two_seize(&tr[CHAIN - 1], t->pid, 0));
	/* This one makes the chain one process longer than the kernel visits. */
	EXPECT_EQ(-EDEADLK, two_seize(last, t->pid, 0));
	EXPECT_EQ(-EDEADLK, two_seize(last, other.pid, 0));
	EXPECT_STREQ(two_pair(self->p.t.pid, tr[CHAIN - 1].t.pid),
		     two_tracers(t->pid));
	EXPECT_EQ(0, ut_status(other.pid, "TracerPid:"));
	ASSERT_TRUE(two_leave(&tr[0], tr[1].t.pid));
	EXPECT_EQ(0, two_seize(last, t->pid, 0));
	EXPECT_EQ(0, two_seize(last, other.pid, 0));
}

/* Two processes that seize each other, in each round at the same time. */
struct pair {
	_Atomic int round;	/* in which they seize */
	_Atomic int leave;	/* the round in which they may detach */
	_Atomic int over;
	_Atomic int tried[2];	/* the last round in which each did that */
	_Atomic int left[2];
	_Atomic long ret[2];
	pid_t pid[2];
};

static struct pair *pair;

/* Function of a target: the tracer number t->arg of the pair. */
static int seizes_in_rounds(struct ut_target *t)
{
	int i = t->arg, round = 0, status;
	pid_t pid;

	two_block(SIGCHLD);
	ut_say(t);
	while (!pair->over) {
		if (pair->round == round) {
			sched_yield();
			continue;
		}
		round = pair->round;
		pid = pair->pid[!i];
		pair->ret[i] = ptrace(PTRACE_SEIZE, pid, 0, 0) ? -errno : 0;
		pair->tried[i] = round;
		while (pair->leave != round && !pair->over)
			sched_yield();
		if (!pair->ret[i] && !pair->over &&
		    (ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
		     waitpid(pid, &status, __WALL) != pid ||
		     ptrace(PTRACE_DETACH, pid, 0, 0)))
			return 1;
		pair->left[i] = round;
	}
	return 0;
}

/* Wait until both numbers are @round.  Rounds are short. */
static bool both_at(_Atomic int *number, int round)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;

	while (number[0] != round || number[1] != round) {
		if (ut_now_ms() > end)
			return false;
		usleep(50);
	}
	return true;
}

/* Of two attaches that close a circle together, at most one succeeds. */
static void circles_at_once(struct __test_metadata *_metadata,
			    struct two_data *self, int traced)
{
	struct ut_target t[2] = {};
	int i, won[2] = {}, none = 0;
	long end;

	pair = mmap(NULL, sizeof(*pair), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, pair);
	for (i = 0; i < 2; i++) {
		t[i].arg = i;
		ASSERT_TRUE(ut_spawn(&t[i], seizes_in_rounds));
		ASSERT_TRUE(ut_hear(&t[i]));
		pair->pid[i] = t[i].pid;
		if (traced & (1 << i))
			ASSERT_EQ(0, two_seize(&self->p, t[i].pid, 0));
	}
	end = ut_now_ms() + RACE_MS;
	do {
		int round = pair->round + 1;

		pair->round = round;
		ASSERT_TRUE(both_at(pair->tried, round));
		for (i = 0; i < 2; i++) {
			/* The last tracing may be charged for a while yet. */
			ASSERT_TRUE(!pair->ret[i] ||
				    pair->ret[i] == -EDEADLK ||
				    pair->ret[i] == -EUSERS) {
				TH_LOG("round %d: %ld", round, pair->ret[i]);
			}
			won[i] += !pair->ret[i];
		}
		ASSERT_TRUE(pair->ret[0] || pair->ret[1]) {
			TH_LOG("round %d: a circle", round);
		}
		none += pair->ret[0] && pair->ret[1];
		pair->leave = round;
		ASSERT_TRUE(both_at(pair->left, round));
	} while (ut_now_ms() < end);
	pair->over = 1;
	EXPECT_LT(0, won[0] + won[1]);
	TH_LOG("%d rounds: %d and %d successes, %d without any", pair->round,
	       won[0], won[1], none);
	for (i = 0; i < 2; i++) {
		if (traced & (1 << i))
			EXPECT_EQ(0, two_end_of(&self->p, t[i].pid));
		ASSERT_TRUE(ut_reap(&t[i], &self->status));
		EXPECT_EQ(0, self->status);
	}
}

TEST_F(tracers, first_tracers_at_once)
{
	circles_at_once(_metadata, self, 0);
}

TEST_F(tracers, first_and_further_at_once)
{
	circles_at_once(_metadata, self, 1);
}

TEST_F(tracers, further_tracers_at_once)
{
	circles_at_once(_metadata, self, 3);
}

TEST_HARNESS_MAIN
