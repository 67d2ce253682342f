// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - an engine of a module beside two tracers
 *
 * ptrace_coexist.c has these tests for a task with one tracer.  Here a further
 * tracer, itself an engine, stops a task that an engine of the test module
 * holds, and neither ends the hold of the other.
 */
#include "two.h"

/*
 * An engine holds the actor that @p and @s trace.  @s may stop it there, and
 * the actor does not run before both the engine and @s have resumed it.
 */
static void stop_held(struct __test_metadata *_metadata, struct two_data *self,
		      int id)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
		EXPECT_TRUE(two_has(s, t->pid));
		EXPECT_FALSE(two_has(p, t->pid));
		ASSERT_EQ(0, two_cont(s, t->pid, 0));
		EXPECT_TRUE(ut_held(t->pid));
		EXPECT_TRUE(ut_still(t));
		EXPECT_FALSE(two_has(s, t->pid));
	}
	EXPECT_EQ(TWO_NONE, two_poll(p, t->pid));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	/* The engine holds it again, and ends that hold in the stop of @s. */
	ASSERT_EQ(0, ut_stop(id, 0));
	ASSERT_TRUE(ut_held(t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(two_has(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_EQ(0, ut_close());
}

TEST_F(tracers, held_after_two_tracers_came)
{
	const char *why = ut_begin();
	int id;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(two_seize_both(self, 0, 0));
	id = ut_attach_hold(self->t.pid);
	ASSERT_LT(0, id);
	stop_held(_metadata, self, id);
}

TEST_F(tracers, held_before_two_tracers_come)
{
	const char *why = ut_begin();
	int id;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(actor_spawn(&self->t));
	id = ut_attach_hold(self->t.pid);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, two_seize(&self->p, self->t.pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, self->t.pid, 0));
	EXPECT_TRUE(ut_still(&self->t));
	stop_held(_metadata, self, id);
}

TEST_HARNESS_MAIN
