// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - execve() in a process with several threads
 *
 * The thread that calls execve() lives on with the id of the leader, all other
 * threads end.
 */
#include "fixture.h"

#define EXEC_EVENTS	(UT_BIT(EXEC) | UT_BIT(EXIT) | UT_BIT(DEATH) |	\
			 UT_BIT(REAP) | UT_BIT(QUIESCE))

TEST_F(utrace, by_the_leader)
{
	struct ut_target *t = &self->t;
	int leader, other, i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	leader = ut_attach(t->pid, 0, EXEC_EVENTS);
	other = ut_attach(t->sh->tid[1], 0, EXEC_EVENTS);
	ASSERT_LT(0, leader);
	ASSERT_LT(0, other);
	t->sh->go[0] = UT_GO_EXEC;
	ASSERT_TRUE(ut_became_helper(t->pid));
	i = ut_wait(0, leader, UT_EV_EXEC, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_STREQ("helper", ut_rec[i].comm);
	EXPECT_EQ(t->pid, ut_rec[i].tgid);
	/* The other thread is reaped before the EXEC report. */
	EXPECT_GT(i, ut_find(0, other, UT_EV_EXIT, t->sh->tid[1], UT_ANY));
	EXPECT_LE(0, ut_find(0, other, UT_EV_REAP, t->sh->tid[1], UT_ANY));
	EXPECT_EQ(-1, ut_find(0, other, UT_EV_EXEC, UT_ANY, UT_ANY));
	EXPECT_EQ(-ESRCH, ut_control(other, 0, UT_RESUME));
	EXPECT_EQ(0, ut_control(leader, t->pid, UT_REPORT));
}

TEST_F(utrace, by_another_thread)
{
	struct ut_target *t = &self->t;
	int leader, other, i, reap;
	pid_t caller;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	caller = t->sh->tid[1];
	leader = ut_attach(t->pid, 0, EXEC_EVENTS);
	other = ut_attach(caller, 0, EXEC_EVENTS);
	ASSERT_LT(0, leader);
	ASSERT_LT(0, other);
	t->sh->go[1] = UT_GO_EXEC;
	ASSERT_TRUE(ut_became_helper(t->pid));
	/* The caller keeps its engine under its new id. */
	i = ut_wait(0, other, UT_EV_EXEC, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(t->pid, ut_rec[i].tgid);
	EXPECT_EQ(0, ut_matches(0, other, UT_EV_EXIT, UT_ANY, UT_ANY));
	EXPECT_EQ(0, ut_control(other, t->pid, UT_REPORT));
	EXPECT_EQ(-ESRCH, ut_control(other, caller, UT_REPORT));
	/* The old leader ends like any thread, and the caller reaps it. */
	EXPECT_LE(0, ut_find(0, leader, UT_EV_EXIT, t->pid, UT_ANY));
	EXPECT_LE(0, ut_find(0, leader, UT_EV_DEATH, UT_ANY, UT_ANY));
	reap = ut_find(0, leader, UT_EV_REAP, UT_ANY, UT_ANY);
	ASSERT_LE(0, reap);
	EXPECT_LT(reap, i);
	EXPECT_EQ(t->pid, ut_rec[reap].runner);
	EXPECT_EQ(0, ut_matches(0, leader, UT_EV_EXEC, UT_ANY, UT_ANY));
	EXPECT_EQ(-ESRCH, ut_control(leader, 0, UT_REPORT));
	/*
	 * The engine stays to the end: the survivor's exit is that of the
	 * process.
	 */
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(1, ut_matches(0, other, UT_EV_EXIT, t->pid, UT_ANY));
	EXPECT_EQ(1, ut_matches(0, other, UT_EV_REAP, t->pid, UT_ANY));
}

TEST_F(utrace, process_and_tree_engines_stay)
{
	struct ut_target *t = &self->t;
	int process, tree;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	process = ut_attach(t->pid, UT_ATTACH_PROCESS, EXEC_EVENTS);
	tree = ut_attach(t->pid, UT_ATTACH_TREE, EXEC_EVENTS);
	ASSERT_LT(0, process);
	ASSERT_LT(0, tree);
	t->sh->go[2] = UT_GO_EXEC;
	ASSERT_TRUE(ut_became_helper(t->pid));
	EXPECT_LE(0, ut_wait(0, process, UT_EV_EXEC, t->pid, UT_ANY));
	EXPECT_LE(0, ut_wait(0, tree, UT_EV_EXEC, t->pid, UT_ANY));
	EXPECT_EQ(0, ut_control(process, t->pid, UT_REPORT));
	EXPECT_EQ(0, ut_control(tree, 0, UT_REPORT));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	/* Three exits: two threads at the execve(), the survivor at its end. */
	EXPECT_EQ(3, ut_matches(0, process, UT_EV_EXIT, UT_ANY, UT_ANY));
	EXPECT_EQ(3, ut_matches(0, tree, UT_EV_REAP, UT_ANY, UT_ANY));
	EXPECT_EQ(-ESRCH, ut_control(process, 0, UT_REPORT));
}

/* A held thread does not delay the execve() of another thread. */
TEST_F(utrace, with_the_leader_held)
{
	struct ut_target *t = &self->t;
	int leader;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	leader = ut_attach(t->pid, 0, EXEC_EVENTS);
	ASSERT_LT(0, leader);
	ASSERT_EQ(0, ut_stop(leader, 0));
	ASSERT_TRUE(ut_held(t->pid));
	t->sh->go[1] = UT_GO_EXEC;
	ASSERT_TRUE(ut_became_helper(t->pid));
	EXPECT_LE(0, ut_wait(0, leader, UT_EV_REAP, UT_ANY, UT_ANY));
}

TEST_F(utrace, stop_at_exec_by_another_thread)
{
	struct ut_target *t = &self->t;
	struct ut_examine exam = {};
	int id, i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->sh->tid[1], 0, UT_BIT(EXEC) | UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXEC,
			     .answer = UT_STOP));
	t->sh->go[1] = UT_GO_EXEC;
	i = ut_wait(0, id, UT_EV_EXEC, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	ASSERT_TRUE(ut_held(t->pid));
	exam.id = id;
	exam.tid = t->pid;
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	ASSERT_EQ(0, exam.prepare);
	EXPECT_EQ(ut_rec[i].val[0], exam.ip);
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_pause)));
}

/* An engine keeps its events and filter over an execve(). */
static int exec_marks(struct ut_target *t)
{
	ut_await(t);
	execl(ut_helper(), "helper", "mark", NULL);
	return 97;
}

TEST_F(utrace, events_and_filter_stay)
{
	static const int mark_only[] = { UT_MARK_NR };
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, exec_marks));
	id = ut_attach(t->pid, 0, 0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_filter(id, mark_only, 1));
	ASSERT_EQ(0, ut_events(id, 0, UT_SYSCALL));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	i = ut_seen(0, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	EXPECT_EQ(7, ut_rec[i].val[0]);
	EXPECT_EQ(2, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
}

TEST_HARNESS_MAIN
