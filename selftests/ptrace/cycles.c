// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - tracers that trace each other
 *
 * A secondary does not close a circle.  Whatever circles there are, SIGKILL
 * ends all that are in them.
 */
#include "two.h"

#define MOST	3

/*
 * Each of @n processes seizes the next one, with @options.  Those of the mask
 * @traced have a primary before, so the new tracer is a secondary.
 */
FIXTURE_VARIANT(tracers) {
	int n;
	int traced;
	long options;
};

FIXTURE_VARIANT_ADD(tracers, two_primaries)
{
	.n = 2,
	.traced = 0,
};

FIXTURE_VARIANT_ADD(tracers, primary_and_secondary)
{
	.n = 2,
	.traced = 1,
};

FIXTURE_VARIANT_ADD(tracers, two_secondaries)
{
	.n = 2,
	.traced = 3,
};

FIXTURE_VARIANT_ADD(tracers, three_primaries)
{
	.n = 3,
	.traced = 0,
};

FIXTURE_VARIANT_ADD(tracers, one_of_three_is_a_secondary)
{
	.n = 3,
	.traced = 2,
};

FIXTURE_VARIANT_ADD(tracers, three_secondaries)
{
	.n = 3,
	.traced = 7,
};

FIXTURE_VARIANT_ADD(tracers, primary_and_secondary_event_exit)
{
	.n = 2,
	.traced = 1,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(tracers, two_secondaries_event_exit)
{
	.n = 2,
	.traced = 3,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(tracers, one_of_three_is_a_secondary_event_exit)
{
	.n = 3,
	.traced = 2,
	.options = PTRACE_O_TRACEEXIT,
};

FIXTURE_VARIANT_ADD(tracers, three_secondaries_event_exit)
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

TEST_F(tracers, circle_is_killed)
{
	int n = variant->n, i, refused = 0;
	struct two_tracer tr[MOST] = {};

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(two_start(&tr[i]));
		if (variant->traced & (1 << i))
			ASSERT_EQ(0, two_seize(&self->p, tr[i].t.pid, 0));
	}
	for (i = 0; i < n; i++) {
		long ret = two_seize(&tr[i], tr[(i + 1) % n].t.pid,
				     variant->options);

		/* Only the last one closes the circle. */
		ASSERT_TRUE(!ret || (i == n - 1 && ret == -EDEADLK)) {
			TH_LOG("number %d: %ld", i, ret);
		}
		refused += ret == -EDEADLK;
	}
	/* The last one wants the first one. */
	if (variant->traced & 1)
		EXPECT_EQ(1, refused);
	/* The primary of the others would keep them from being reaped. */
	ASSERT_EQ(0, kill(self->p.t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&self->p.t, &self->status));
	EXPECT_EQ(0, left_after_kill(tr, n));
}

/* The same without a primary's death; the tracees are those of a primary. */
TEST_F(tracers, circle_is_killed_beside_a_tracer)
{
	int n = variant->n, i;
	struct two_tracer tr[MOST] = {};

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(two_start(&tr[i]));
		if (variant->traced & (1 << i))
			ASSERT_EQ(0, two_seize(&self->p, tr[i].t.pid, 0));
	}
	for (i = 0; i < n; i++)
		two_seize(&tr[i], tr[(i + 1) % n].t.pid, variant->options);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, kill(tr[i].t.pid, SIGKILL));
	/* Those that have the primary are zombies until it reads the status. */
	for (i = 0; i < n; i++) {
		if (!(variant->traced & (1 << i)))
			continue;
		EXPECT_EQ(two_killed(SIGKILL),
			  two_wait(&self->p, tr[i].t.pid));
	}
	EXPECT_EQ(0, left_after_kill(tr, n));
}

/* What has left the circle does not matter. */
TEST_F(tracers, circle_is_open_again)
{
	struct two_tracer *a = &self->s, *b = &self->s2;

	/* The variants do not matter. */
	if (variant->n != 2 || variant->traced != 3 || variant->options)
		return;
	ASSERT_EQ(0, two_seize(&self->p, a->t.pid, 0));
	ASSERT_EQ(0, two_seize(&self->p, b->t.pid, 0));
	ASSERT_EQ(0, two_seize(a, b->t.pid, 0));
	EXPECT_EQ(-EDEADLK, two_seize(b, a->t.pid, 0));
	EXPECT_STREQ("", two_tracers(a->t.pid));
	/* The tracee runs: it waits for the test to tell it what to do. */
	ASSERT_EQ(TWO_TRAP, two_interrupt(a, b->t.pid));
	ASSERT_EQ(0, two_ptrace(a, PTRACE_DETACH, b->t.pid, 0));
	EXPECT_EQ(0, two_seize(b, a->t.pid, 0));
	EXPECT_EQ(-EDEADLK, two_seize(a, b->t.pid, 0));
}

TEST_HARNESS_MAIN
