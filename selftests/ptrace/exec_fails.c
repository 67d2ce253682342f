// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - an execve() of a thread that fails when it is the leader
 *
 * The kernel forces SIGSEGV on the thread.  The tracers are told that and the
 * end under the number of the leader.
 */
#include "exec_thread.h"

#define ROUNDS	20

static const struct scene alone = { .further = 1 };
static const struct scene beside = { .further = 2, .leader = true };
static const struct scene both = {
	.further = 2, .stays = true, .leader = true,
};

static void fails(struct __test_metadata *_metadata, struct ut_target *t,
		  const struct scene *sc)
{
	const char *why = setup();
	pid_t tid, child;
	int status;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(start(t));
	tid = t->sh->tid[1];
	ASSERT_NE(t->pid, tid);
	ASSERT_TRUE(attach(t, sc));
	t->sh->go[1] = BAD_FILE;
	/* The tracers have been told nothing yet. */
	child = child_when_free(tid);
	ASSERT_LT(0, child);
	EXPECT_TRUE(is_there(child));
	/* The kernel forces the signal on the thread, which is the leader. */
	ASSERT_TRUE(all_pass(sc, t->pid, SIGSEGV));
	EXPECT_TRUE(all_are_told_end(sc, t->pid, SIGSEGV));
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(two_killed(SIGSEGV), status);
	EXPECT_TRUE(is_there(child));
	EXPECT_TRUE(is_free(t->pid));
	EXPECT_TRUE(is_there(child));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(1, ut_waitpid(child, NULL, 0));
	EXPECT_TRUE(is_free(tid));
}

/* What everything below is compared with: a kernel without further tracers. */
TEST_F(tracers, fails_under_the_first)
{
	static const struct scene sc = { .stays = true };

	fails(_metadata, &self->t, &sc);
}

TEST_F(tracers, fails_under_a_further)
{
	fails(_metadata, &self->t, &alone);
}

TEST_F(tracers, fails_under_both)
{
	static const struct scene sc = { .further = 1, .stays = true };

	fails(_metadata, &self->t, &sc);
}

TEST_F(tracers, fails_under_two_further)
{
	static const struct scene sc = { .further = 2 };

	fails(_metadata, &self->t, &sc);
}

/* The end of the leader is none, since its number lives on. */
TEST_F(tracers, fails_beside_a_traced_leader)
{
	fails(_metadata, &self->t, &beside);
}

TEST_F(tracers, fails_beside_a_traced_leader_under_both)
{
	fails(_metadata, &self->t, &both);
}

/* Function of a target: the init of a pid namespace. */
static int sleeps(struct ut_target *t)
{
	ut_say(t);
	while (!t->sh->quit)
		pause();
	return 0;
}

/*
 * The init of a pid namespace ends when all numbers of the namespace have been
 * freed, each once.
 */
TEST_F(tracers, numbers_do_not_leak)
{
	const struct scene *scenes[] = { &alone, &beside, &both };
	struct ut_target init = {};
	const char *why = setup();
	int i, status;

	if (why)
		SKIP(return, "%s", why);
	if (unshare(CLONE_NEWPID))
		SKIP(return, "no pid namespace: %s", strerror(errno));
	ASSERT_TRUE(ut_spawn(&init, sleeps));
	ASSERT_TRUE(ut_hear(&init));
	for (i = 0; i < ROUNDS; i++) {
		const struct scene *sc = scenes[i % 3];

		ASSERT_TRUE(start(&self->t));
		ASSERT_TRUE(attach(&self->t, sc));
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
