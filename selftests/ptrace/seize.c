// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - PTRACE_SEIZE of a task that has a tracer
 *
 * The limit says how many tracers a task can have, and the file status of the
 * task names them.
 */
#include "two.h"

/* Without the setting all is as on a kernel without the feature. */
TEST_F(tracers, one_tracer_is_the_default)
{
	struct ut_target *t = &self->t;

	if (self->before != 1)
		SKIP(return, "the limit was set to %d before", self->before);
	ASSERT_EQ(0, two_limit(1));
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&self->s, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(&self->s, PTRACE_ATTACH, t->pid, 0));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, t->pid));
	EXPECT_EQ(self->p.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, limit_is_from_one_to_sixteen)
{
	char text[16];

	EXPECT_EQ(-EINVAL, two_limit(0));
	EXPECT_EQ(-EINVAL, two_limit(-1));
	EXPECT_EQ(-EINVAL, two_limit(17));
	ASSERT_LT(0, ut_read_file(text, sizeof(text), TWO_SYSCTL));
	EXPECT_EQ(TWO_LIMIT, atoi(text));
	EXPECT_EQ(0, two_limit(1));
	EXPECT_EQ(0, two_limit(16));
	ASSERT_LT(0, ut_read_file(text, sizeof(text), TWO_SYSCTL));
	EXPECT_EQ(16, atoi(text));
}

TEST_F(tracers, status_names_all_tracers)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	EXPECT_STREQ("", two_tracers(t->pid));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	EXPECT_EQ(self->p.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ(two_pids(tr, 2), two_tracers(t->pid));
	ASSERT_EQ(0, two_seize(&self->s2, t->pid, 0));
	EXPECT_EQ(self->p.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ(two_pids(tr, 3), two_tracers(t->pid));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
	EXPECT_TRUE(two_quiet(&self->s, t->pid));

	ASSERT_TRUE(two_leave(&self->s, t->pid));
	tr[1] = tr[2];
	EXPECT_STREQ(two_pids(tr, 2), two_tracers(t->pid));
	ASSERT_TRUE(two_leave(&self->s2, t->pid));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(self->p.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_TRUE(ut_runs(t));
}

/* Without a first tracer, TracerPid is the oldest further tracer. */
TEST_F(tracers, first_leaves)
{
	struct two_tracer *tr[] = { &self->s, &self->s2 };
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s2, t->pid, 0));
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	EXPECT_EQ(self->s.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ(two_pids(tr, 2), two_tracers(t->pid));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	EXPECT_EQ(self->s2.t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	ASSERT_TRUE(two_leave(&self->s2, t->pid));
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, no_more_than_the_limit)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, two_limit(2));
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&self->s2, t->pid, 0));
	EXPECT_EQ(-ECHILD, two_poll(&self->s2, t->pid));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	EXPECT_EQ(0, two_seize(&self->s2, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&self->s, t->pid, 0));
	/* The first tracer's place counts as one of the two. */
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	EXPECT_EQ(0, two_seize(&self->s, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&self->p, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, sixteen_tracers)
{
	struct two_tracer more[14] = {};
	struct two_tracer *tr[17] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_EQ(0, two_limit(16));
	ASSERT_TRUE(actor_spawn(t));
	for (i = 0; i < 14; i++) {
		tr[3 + i] = &more[i];
		ASSERT_TRUE(two_start(&more[i]));
	}
	for (i = 0; i < 16; i++)
		ASSERT_EQ(0, two_seize(tr[i], t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(tr[16], t->pid, 0));
	EXPECT_STREQ(two_pids(tr, 16), two_tracers(t->pid));
	for (i = 0; i < 16; i++) {
		EXPECT_EQ(TWO_TRAP, two_interrupt(tr[i], t->pid));
		EXPECT_EQ(0, two_cont(tr[i], t->pid, 0));
	}
	EXPECT_TRUE(ut_runs(t));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	for (i = 0; i < 16; i++)
		EXPECT_EQ(two_killed(SIGKILL), two_wait(tr[i], t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
}

/* Attached tracers stay when the limit is lowered. */
TEST_F(tracers, lower_limit_drops_no_tracer)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	ASSERT_EQ(0, two_limit(1));
	EXPECT_EQ(-EPERM, two_seize(&self->s2, t->pid, 0));
	EXPECT_STREQ(two_pids(tr, 2), two_tracers(t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, each_tracer_once)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EPERM, two_seize(tr[i], t->pid, 0));
		EXPECT_EQ(-EPERM, two_ptrace(tr[i], PTRACE_ATTACH, t->pid, 0));
	}
	EXPECT_STREQ(two_pids(tr, 2), two_tracers(t->pid));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	EXPECT_STREQ("", two_tracers(t->pid));
}

/* The tracee here is a tracer, which has a second thread for the call. */
TEST_F(tracers, not_the_own_group)
{
	pid_t pid = self->s.t.pid;

	ASSERT_EQ(0, two_seize(&self->p, pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&self->s, pid, 0));
	EXPECT_EQ(-EPERM, two_other_ptrace(&self->s, PTRACE_SEIZE, pid, 0));
	EXPECT_EQ(-EPERM, two_other_ptrace(&self->s, PTRACE_ATTACH, pid, 0));
	EXPECT_STREQ("", two_tracers(pid));
	EXPECT_EQ(0, two_seize(&self->s2, pid, 0));
}

TEST_F(tracers, bad_arguments)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	EXPECT_EQ(-EIO, two_full(&self->s, PTRACE_SEIZE, t->pid, 1, 0));
	EXPECT_GT(0, two_seize(&self->s, t->pid, 1L << 30));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, t->pid));
	EXPECT_EQ(-ESRCH, two_ptrace(&self->s, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_EQ(-ESRCH, two_ptrace(&self->s, PTRACE_DETACH, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, two_seize(&self->s, t->pid, 0));
}

TEST_F(tracers, not_a_dead_task)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	actor_do(t, ACTOR_EXITS);
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'Z'));
	EXPECT_GT(0, two_seize(&self->s, t->pid, 0));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, t->pid));
	EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(&self->p, t->pid));
}

/* A thread's tracers are not those of its process. */
TEST_F(tracers, one_thread)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(&self->p, tid, 0));
	ASSERT_EQ(0, two_seize(&self->s, tid, 0));
	EXPECT_STREQ(two_pids(tr, 2), two_tracers(tid));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s, tid));
	EXPECT_TRUE(ut_thread_still(t, 1));
	EXPECT_TRUE(ut_thread_runs(t, 2));
	ASSERT_EQ(0, two_cont(&self->s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

TEST_HARNESS_MAIN
