// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - how many engines a task can have
 *
 * Engines of thread, process and tree scope ("own" engines) and engines of the
 * system have slots of their own, so neither kind takes room from the other.
 */
#include "fixture.h"

/* Slots for engines of the system. */
#define SYSTEM_MOST	16
/*
 * Slots for own engines: those for every user, and those for privileged ones.
 */
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

/*
 * Attach own engines of all scopes until there is no room; returns their
 * number, and the error of the last attach.
 */
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

/* The number of the target's marker calls that the engine has seen. */
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
	/* A detach makes room for one engine. */
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

/* A child inherits all engines of its parent, and gets those of the system. */
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

/* Engines of the system have a limit of their own. */
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

/* A detached engine of the system leaves its slot to the next one. */
TEST_F(utrace, system_engines_come_and_go)
{
	struct ut_target *t = &self->t;
	int round, id, error;

	/* The log overflows, but only the target's first record counts here. */
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
