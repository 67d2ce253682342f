// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - an execve() of a thread that fails when it is the leader
 *
 * The kernel forces SIGSEGV on the thread.  The tracers read the signal and the
 * end under the number of the leader.
 */
#include "exec_thread.h"

#define ROUNDS	20

FIXTURE_LIKE(tracers, fails)

FIXTURE_VARIANT(fails) {
	struct scene sc;
};

/* The reference for the other variants: no further tracer. */
FIXTURE_VARIANT_ADD(fails, under_the_first) { .sc = { .stays = true } };
FIXTURE_VARIANT_ADD(fails, under_a_further) { .sc = { .further = 1 } };

FIXTURE_VARIANT_ADD(fails, under_both) {
	.sc = { .further = 1, .stays = true },
};

FIXTURE_VARIANT_ADD(fails, under_two_further) { .sc = { .further = 2 } };

/* The leader has no end to report, since its number lives on. */
FIXTURE_VARIANT_ADD(fails, beside_a_traced_leader) {
	.sc = { .further = 2, .leader = true },
};

FIXTURE_VARIANT_ADD(fails, beside_a_traced_leader_under_both) {
	.sc = { .further = 2, .stays = true, .leader = true },
};

TEST_F(fails, in_a_thread)
{
	const struct scene *sc = &variant->sc;
	struct ut_target *t = &self->base.t;
	pid_t tid, child;
	int status;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(exec_setup());
	ASSERT_TRUE(exec_start(t));
	tid = t->sh->tid[1];
	ASSERT_NE(t->pid, tid);
	ASSERT_TRUE(exec_attach(t, sc));
	t->sh->go[1] = BAD_FILE;
	/* No tracer has had a report yet. */
	child = child_when_free(tid);
	ASSERT_LT(0, child);
	EXPECT_TRUE(is_there(child));
	/* The kernel forces the signal on the thread, which is the leader. */
	ASSERT_TRUE(all_pass(sc, t->pid, SIGSEGV));
	EXPECT_TRUE(all_are_told_end(sc, t->pid, SIGSEGV));
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(two_killed(SIGSEGV), status & ~0x80);
	EXPECT_TRUE(is_there(child));
	EXPECT_TRUE(is_free(t->pid));
	EXPECT_TRUE(is_there(child));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(1, ut_waitpid(child, NULL, 0));
	EXPECT_TRUE(is_free(tid));
}

/*
 * The init of a pid namespace ends when all numbers of the namespace have been
 * freed, each once.
 */
TEST_F(tracers, numbers_do_not_leak)
{
	static const struct scene scenes[] = {
		{ .further = 1 },
		{ .further = 2, .leader = true },
		{ .further = 2, .stays = true, .leader = true },
	};
	struct ut_target init = {};
	int i, status;

	if (!ut_has_pid_ns())
		SKIP(return, "no pid namespaces");
	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(exec_setup());
	/* All children from here on belong to the namespace. */
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	ASSERT_TRUE(ut_spawn(&init, ut_pauses));
	ASSERT_TRUE(ut_hear(&init));
	for (i = 0; i < ROUNDS; i++) {
		const struct scene *sc = &scenes[i % 3];

		ASSERT_TRUE(exec_start(&self->t));
		ASSERT_TRUE(exec_attach(&self->t, sc));
		self->t.sh->go[1] = BAD_FILE;
		ASSERT_TRUE(all_pass(sc, self->t.pid, SIGSEGV));
		ASSERT_TRUE(all_are_told_end(sc, self->t.pid, SIGSEGV));
		ASSERT_TRUE(ut_reap(&self->t, &status));
	}
	EXPECT_EQ(0, kill(init.pid, SIGKILL));
	EXPECT_TRUE(ut_reap(&init, &status));
	EXPECT_EQ(two_killed(SIGKILL), status);
}

TEST_HARNESS_MAIN
