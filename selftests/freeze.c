// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - holds and freezers
 *
 * Neither a hold nor a freezer waits for the other, and neither lets a task run
 * that the other stops.
 */
#include "cgroup.h"
#include "target.h"

FIXTURE(freeze) {
	struct ut_target t;
	int status;
	int id;
};

FIXTURE_SETUP(freeze)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	why = ut_cg_make(NULL);
	if (why) {
		ut_cg_remove();
		SKIP(return, "%s", why);
	}
	ASSERT_TRUE(ut_spawn(&self->t, ut_spin));
	ASSERT_EQ(0, ut_cg_add(self->t.pid));
	self->id = ut_attach(self->t.pid, 0,
			     UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, self->id);
	ASSERT_TRUE(ut_runs(&self->t));
}

FIXTURE_TEARDOWN(freeze)
{
	EXPECT_EQ(0, ut_close());
	ut_cg_remove();
	ut_kill_targets();
}

static bool frozen(bool want)
{
	return ut_until(ut_cg_is("cgroup.events", "frozen", want));
}

static bool hold(struct ut_target *t, int id)
{
	return !ut_stop(id, 0) && ut_held(t->pid);
}

/*
 * An engine kills a frozen target, by a signal that is not fatal.  The dead
 * task must no longer count in its cgroup, or the cgroup would never be frozen
 * again.
 */
TEST_F(freeze, killed_by_an_engine_while_frozen)
{
	struct ut_target *t = &self->t, other = {};

	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	ASSERT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_REPORT, .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_TERM,
			     .change = UT_CHANGE_SIGNO, .signo = SIGWINCH));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_INTERRUPT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGWINCH, WTERMSIG(self->status));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	ASSERT_TRUE(ut_spawn(&other, ut_spin));
	ASSERT_EQ(0, ut_cg_add(other.pid));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(ut_runs(&other));
}

TEST_F(freeze, held_then_frozen)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(hold(t, self->id));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	/* A held task counts as frozen. */
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(frozen(false));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(freeze, let_go_while_frozen)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(hold(t, self->id));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(freeze, detach_while_frozen)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(hold(t, self->id));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_detach(self->id));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(freeze, stop_of_a_frozen_task)
{
	struct ut_target *t = &self->t;
	long old;

	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	ASSERT_TRUE(frozen(true));
	old = t->sh->counter;
	EXPECT_EQ(0, ut_stop(self->id, 0));
	EXPECT_TRUE(ut_stays(ut_cg_is("cgroup.events", "frozen", 1)));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(ut_held(t->pid));
	/* The task runs no instruction between the freeze and the hold. */
	EXPECT_EQ(old, t->sh->counter);
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(freeze, interrupt_of_a_frozen_task)
{
	struct ut_target *t = &self->t;
	long old;

	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	ASSERT_TRUE(frozen(true));
	old = t->sh->counter;
	ASSERT_EQ(0, ut_control(self->id, 0, UT_INTERRUPT));
	/*
	 * The report may come now or after the thaw; the task does not run
	 * before.
	 */
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(frozen(true));
	EXPECT_EQ(old, t->sh->counter);
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_LE(0, ut_wait(0, self->id, UT_EV_REPORT, t->pid, UT_ANY));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(freeze, detach_of_a_frozen_task)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	ASSERT_TRUE(frozen(true));
	/*
	 * The task sleeps in the freezer.  A detach does not wait for the thaw.
	 */
	EXPECT_EQ(0, ut_detach(self->id));
	EXPECT_EQ(1, ut_matches(0, self->id, UT_EV_RELEASE, UT_ANY, UT_ANY));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(freeze, kill_of_a_held_and_frozen_task)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(hold(t, self->id));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
}

TEST_F(freeze, held_at_exit)
{
	struct ut_target *t = &self->t;
	int id;

	id = ut_attach(t->pid, 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT,
			     .answer = UT_STOP));
	t->sh->quit = 1;
	ASSERT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	EXPECT_TRUE(frozen(true));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
}

TEST_F(freeze, storm)
{
	long end = ut_now_ms() + 5000;
	struct ut_target *t = &self->t;
	int rounds = 0;

	while (ut_now_ms() < end) {
		ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
		ASSERT_EQ(0, ut_stop(self->id, 0));
		if (rounds % 2)
			ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
		ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
		if (rounds % 2 == 0)
			ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
		rounds++;
	}
	EXPECT_TRUE(frozen(false));
	EXPECT_TRUE(ut_runs(t));
	/* Holds and freezes still work. */
	ASSERT_TRUE(hold(t, self->id));
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	EXPECT_TRUE(frozen(true));
}

/* The freezer of system sleep, in the test mode of /sys/power. */
TEST_F(freeze, system_sleep)
{
	struct ut_target *t = &self->t;

	if (access("/sys/power/pm_test", W_OK))
		SKIP(return, "no /sys/power/pm_test (PM_DEBUG)");
	ASSERT_TRUE(hold(t, self->id));
	ASSERT_EQ(0, ut_write_file("/sys/power/pm_test", "freezer"));
	/* The write fails if some task cannot be frozen. */
	EXPECT_EQ(0, ut_write_file("/sys/power/state", "freeze"));
	ut_write_file("/sys/power/pm_test", "none");
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_HARNESS_MAIN
