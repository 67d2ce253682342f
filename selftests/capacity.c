// SPDX-License-Identifier: GPL-2.0
/*
 * How many engines a task can have: what tasks have of their own takes nothing
 * from engines of the system, and the other way round.
 */
#include "fixture.h"

/* Engines of the system; a task has so many slots for them. */
#define SYSTEM_MOST	16
/* Its own: for everybody, and with those kept for who has the right to all. */
#define OWN_MOST	40
#define OWN_KEPT	8

static int attach_marker(pid_t pid, __u32 flags)
{
	static const int mark[] = { UT_MARK_NR };
	int id = ut_attach_full(pid, flags, UT_OPS_FULL, 0);

	if (id > 0 && (ut_filter(id, mark, 1) ||
		       ut_events(id, 0, UT_BIT(SYSCALL_ENTRY))))
		return -EINVAL;
	return id;
}

/* Own engines of all scopes until there is no room; how many, or the error. */
static int fill(pid_t pid, int *error)
{
	static const __u32 scopes[] = { 0, UT_ATTACH_PROCESS, UT_ATTACH_TREE };
	int n, id;

	for (n = 0; n < 200; n++) {
		id = ut_attach_full(pid, scopes[n % 3], UT_OPS_FULL, ~0U);
		if (id < 0)
			break;
	}
	*error = id;
	return n;
}

/* Did the engine see each of the target's marks? */
static long marks_seen(int id, pid_t tid)
{
	return ut_matches(0, id, UT_EV_SYSCALL_ENTRY, tid, UT_MARK_NR);
}

TEST_F(utrace, own_engines)
{
	struct ut_target *t = &self->t;
	int n, error;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	n = fill(t->pid, &error);
	EXPECT_EQ(-ENOSPC, error);
	EXPECT_TRUE(n == OWN_MOST || n == OWN_MOST + OWN_KEPT) {
		TH_LOG("%d engines", n);
	}
	EXPECT_EQ(-ENOSPC, ut_attach_full(t->pid, UT_ATTACH_TREE, 0, 0));
	/* What is given back can be had again. */
	ASSERT_LE(0, ut_detach(1));
	EXPECT_LT(0, ut_attach_full(t->pid, 0, 0, 0));
	EXPECT_EQ(-ENOSPC, ut_attach_full(t->pid, 0, 0, 0));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, system_engine_comes_later)
{
	struct ut_target *t = &self->t;
	int id, error;

	ASSERT_TRUE(ut_spawn_marks(t, 7));
	ASSERT_LE(OWN_MOST, fill(t->pid, &error));
	ASSERT_EQ(-ENOSPC, error);
	id = attach_marker(t->pid, UT_ATTACH_SYSTEM);
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(7, marks_seen(id, t->pid));
}

static int marking_child(struct ut_target *t)
{
	pid_t pid;

	ut_await(t);
	pid = fork();
	if (!pid) {
		t->sh->value[0] = getpid();
		ut_mark(1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

/* A child inherits what its parent has, and that much. */
TEST_F(utrace, system_engine_and_children)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, marking_child));
	for (i = 0; i < OWN_MOST; i++)
		ASSERT_LT(0, ut_attach_full(t->pid, UT_ATTACH_TREE, UT_OPS_FULL,
					    ~0U));
	while (ut_attach_full(t->pid, UT_ATTACH_TREE, UT_OPS_FULL, ~0U) > 0)
		;
	id = attach_marker(t->pid, UT_ATTACH_SYSTEM);
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(1, marks_seen(id, t->sh->value[0]));
}

/* Those of the system have their own limit, and it is nobody else's. */
TEST_F(utrace, system_engines)
{
	struct ut_target *t = &self->t;
	int id[SYSTEM_MOST], i, n, error;

	ASSERT_TRUE(ut_spawn_marks(t, 7));
	for (i = 0; i < SYSTEM_MOST; i++) {
		id[i] = attach_marker(t->pid, UT_ATTACH_SYSTEM);
		ASSERT_LT(0, id[i]);
	}
	EXPECT_EQ(-ENOSPC, ut_attach_full(t->pid, UT_ATTACH_SYSTEM, 0, 0));
	n = fill(t->pid, &error);
	EXPECT_LE(OWN_MOST, n);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	for (i = 0; i < SYSTEM_MOST; i++)
		EXPECT_EQ(7, marks_seen(id[i], t->pid));
	ASSERT_LE(0, ut_detach(id[0]));
	EXPECT_LT(0, ut_attach_full(getpid(), UT_ATTACH_SYSTEM, 0, 0));
}

/* An engine of the system that goes leaves its slot to the next one. */
TEST_F(utrace, system_engines_come_and_go)
{
	struct ut_target *t = &self->t;
	int round, id, error;

	/* The target logs faster than anybody reads; it is its first record that counts. */
	ut_may_miss = true;
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	ASSERT_LE(OWN_MOST, fill(t->pid, &error));
	for (round = 0; round < 3 * SYSTEM_MOST; round++) {
		ut_drain();
		id = ut_attach_full(t->pid, UT_ATTACH_SYSTEM, UT_OPS_FULL, 0);
		ASSERT_LT(0, id);
		ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
		ASSERT_LE(0, ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_ANY));
		error = ut_detach(id);
		ASSERT_TRUE(!error || error == -EINPROGRESS);
	}
}

TEST_HARNESS_MAIN
