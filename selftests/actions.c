// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - what an engine can do to a system call and to an exit
 *
 * Answers abort calls, change their number, arguments and results, and change
 * the status of an exit.  The file also tests the results of the interface's
 * functions.
 */
#include "fixture.h"

static int attach_to_marks(struct ut_target *t, int n, __u64 events)
{
	if (!ut_spawn_marks(t, n) ||
	    !ut_until(ut_asleep_in(t->pid, SYS_read)))
		return -EAGAIN;
	return ut_attach(t->pid, 0, events);
}

TEST_F(utrace, abort_is_enosys)
{
	struct ut_target *t = &self->t;
	int id, in, out;

	id = attach_to_marks(t, 2, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(-1, t->sh->value[0]);
	EXPECT_EQ(ENOSYS, t->sh->value[1]);
	/* The exit is reported although the call was aborted. */
	in = ut_seen(0, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	out = ut_find(in, id, UT_EV_SYSCALL_EXIT, t->pid, UT_MARK_NR);
	ASSERT_EQ(in + 1, out);
	EXPECT_EQ(-ENOSYS, ut_rec[out].val[0]);
	EXPECT_EQ(0, ut_rec[out].action & UT_SYSCALL_UNPAIRED);
	/* No rule is left for the second call, so it is made. */
	EXPECT_EQ(getpid(), t->sh->value[2]);
}

TEST_F(utrace, abort_with_result)
{
	struct ut_target *t = &self->t;
	int id;

	id = attach_to_marks(t, 2, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT,
			     .change = UT_CHANGE_RESULT, .result = 123456));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT,
			     .change = UT_CHANGE_RESULT, .result = -EXDEV));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(123456, t->sh->value[0]);
	EXPECT_EQ(0, t->sh->value[1]);
	EXPECT_EQ(-1, t->sh->value[2]);
	EXPECT_EQ(EXDEV, t->sh->value[3]);
}

/* An engine without an answer of its own leaves an earlier abort in force. */
TEST_F(utrace, abort_survives_a_neighbour_with_quiesce)
{
	struct ut_target *t = &self->t;
	int id, older, newer;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	older = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	id = ut_attach(t->pid, 0, UT_SYSCALL | UT_BIT(QUIESCE));
	newer = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, older);
	ASSERT_LT(0, id);
	ASSERT_LT(0, newer);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENOSYS, t->sh->value[1]);
	EXPECT_LE(0, ut_seen(0, older, UT_EV_QUIESCE, t->pid,
			     UT_BIT(SYSCALL_ENTRY)));
	EXPECT_LE(0, ut_find(0, newer, UT_EV_QUIESCE, t->pid,
			     UT_BIT(SYSCALL_ENTRY)));
}

TEST_F(utrace, other_number)
{
	struct ut_target *t = &self->t;
	int id;

	id = attach_to_marks(t, 2, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_NR,
			     .nr = SYS_gettid));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_NR,
			     .nr = -1));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(t->pid, t->sh->value[0]);
	EXPECT_EQ(ENOSYS, t->sh->value[3]);
}

static int pipe_target(struct ut_target *t)
{
	int fds[2];
	char buf[16] = "";

	if (pipe(fds))
		return 1;
	ut_await(t);
	t->sh->value[0] = syscall(SYS_write, fds[1], "abcdefgh", 8);
	t->sh->value[1] = syscall(SYS_read, fds[0], buf, sizeof(buf));
	return 0;
}

TEST_F(utrace, other_argument)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, pipe_target));
	id = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = SYS_write, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_ARG,
			     .argi = 2, .arg = 5));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(5, t->sh->value[0]);
	EXPECT_EQ(5, t->sh->value[1]);
}

TEST_F(utrace, other_result)
{
	struct ut_target *t = &self->t;
	int id;

	id = attach_to_marks(t, 3, UT_BIT(SYSCALL_EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_EXIT,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME,
			     .change = UT_CHANGE_RESULT, .result = 4242));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_EXIT,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME,
			     .change = UT_CHANGE_RESULT, .result = -ENOLCK));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(4242, t->sh->value[0]);
	EXPECT_EQ(ENOLCK, t->sh->value[3]);
	EXPECT_EQ(getpid(), t->sh->value[4]);
}

static int exit_target(struct ut_target *t)
{
	ut_await(t);
	return 3;
}

TEST_F(utrace, other_exit_code)
{
	struct ut_target *t = &self->t;
	int id, next, i;

	ASSERT_TRUE(ut_spawn(t, exit_target));
	id = ut_attach(t->pid, 0, UT_BIT(EXIT));
	next = ut_attach(t->pid, 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_LT(0, next);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_CODE,
			     .code = 9 << 8));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, next, UT_EV_EXIT, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(3 << 8, ut_rec[i].val[0]);
	EXPECT_EQ(9 << 8, ut_rec[i].val[1]);
}

TEST_F(utrace, other_exit_code_is_told_to_the_parent)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, exit_target));
	id = ut_attach(t->pid, 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_CODE,
			     .code = 9 << 8));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFEXITED(self->status));
	EXPECT_EQ(9, WEXITSTATUS(self->status));
}

/* An engine of the system gets a copy of the status. */
TEST_F(utrace, exit_code_stays_for_an_engine_of_the_system)
{
	struct ut_target *t = &self->t;
	int id, next, i;

	ASSERT_TRUE(ut_spawn(t, exit_target));
	id = ut_attach(0, UT_ATTACH_SYSTEM, UT_BIT(EXIT));
	next = ut_attach(t->pid, 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_LT(0, next);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT, .tid = t->pid,
			     .answer = UT_RESUME, .change = UT_CHANGE_CODE,
			     .code = 9 << 8));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFEXITED(self->status));
	EXPECT_EQ(3, WEXITSTATUS(self->status));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_EXIT, t->pid, UT_ANY));
	i = ut_find(0, next, UT_EV_EXIT, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(3 << 8, ut_rec[i].val[1]);
}

TEST_F(utrace, answer_detach)
{
	struct ut_target *t = &self->t;
	int id;

	id = attach_to_marks(t, 3, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_DETACH));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(getpid(), t->sh->value[4]);
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
				UT_MARK_NR));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid,
				UT_MARK_NR));
	EXPECT_EQ(-ESRCH, ut_control(id, 0, UT_RESUME));
	EXPECT_EQ(-ESRCH, ut_events(id, 0, 0));
}

TEST_F(utrace, control_from_callback)
{
	struct ut_target *t = &self->t;
	int id;

	id = attach_to_marks(t, 2, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME,
			     .change = UT_CHANGE_CONTROL,
			     .control = UT_DETACH));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
				UT_MARK_NR));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid,
				UT_MARK_NR));
}

TEST_F(utrace, answer_report)
{
	struct ut_target *t = &self->t;
	int id, i;

	id = attach_to_marks(t, 1, UT_SYSCALL | UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_EXIT,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_REPORT));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, id, UT_EV_SYSCALL_EXIT, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	EXPECT_EQ(i + 1, ut_find(i, id, UT_EV_QUIESCE, t->pid, 0));
}

TEST_F(utrace, answer_interrupt)
{
	struct ut_target *t = &self->t;
	int id, i;

	id = attach_to_marks(t, 1, UT_BIT(SYSCALL_EXIT) | UT_BIT(QUIESCE) |
			     UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_EXIT,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_INTERRUPT));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, id, UT_EV_SYSCALL_EXIT, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	i = ut_find(i, id, UT_EV_REPORT, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(1, ut_rec[i].val[2]);
}

/*
 * Ask for a report by @action, and have the engine answer @answer to all
 * reports.  @event is the one that @action asks for.
 */
static void reports_once(struct __test_metadata *_metadata, struct ut_target *t,
			 __u32 action, enum ut_event event, __u32 answer)
{
	int id, i;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_TRUE(ut_runs(t));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_QUIESCE,
			     .answer = answer));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_REPORT,
			     .answer = answer | UT_PASS));
	ASSERT_EQ(0, ut_control(id, 0, action));
	/* The safe point may report QUIESCE before the task is interrupted. */
	i = ut_wait(0, id, event, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	ASSERT_TRUE(ut_runs(t));
	EXPECT_TRUE(ut_stays(!ut_matches(i + 1, id, UT_ANY, UT_ANY, UT_ANY)));
}

/*
 * An engine that always gives this answer does not make its task report for
 * ever.
 */
TEST_F(utrace, answer_report_to_report)
{
	reports_once(_metadata, &self->t, UT_REPORT, UT_EV_QUIESCE, UT_REPORT);
}

TEST_F(utrace, answer_interrupt_to_report)
{
	reports_once(_metadata, &self->t, UT_REPORT, UT_EV_QUIESCE,
		     UT_INTERRUPT);
}

TEST_F(utrace, answer_report_to_interrupt)
{
	reports_once(_metadata, &self->t, UT_INTERRUPT, UT_EV_REPORT,
		     UT_REPORT);
}

TEST_F(utrace, answer_interrupt_to_interrupt)
{
	reports_once(_metadata, &self->t, UT_INTERRUPT, UT_EV_REPORT,
		     UT_INTERRUPT);
}

/* A child whose own engine stops it before its first instruction. */
static int fork_target(struct ut_target *t)
{
	pid_t pid;
	int status = 0;

	ut_await(t);
	pid = fork();
	if (!pid) {
		t->sh->value[1] = 1;
		_exit(0);
	}
	t->sh->value[0] = pid;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST_F(utrace, newborn_stopped_from_report_clone)
{
	struct ut_target *t = &self->t;
	struct ut_follow follow = {
		.on = 1, .control = UT_STOP,
		.events = UT_BIT(QUIESCE) | UT_BIT(EXIT),
	};
	int i, child;

	ASSERT_TRUE(ut_spawn(t, fork_target));
	follow.id = ut_attach(t->pid, 0, UT_BIT(CLONE));
	ASSERT_LT(0, follow.id);
	ASSERT_EQ(0, ut_ioctl(UT_IOC_FOLLOW, &follow));
	ASSERT_TRUE(ut_go(t));
	i = ut_wait(0, follow.id, UT_EV_CLONE, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].val[4]);
	child = ut_rec[i].val[3];
	ASSERT_LT(0, child);
	ASSERT_TRUE(ut_held(ut_rec[i].val[1]));
	EXPECT_EQ(0, t->sh->value[1]);
	ASSERT_EQ(0, ut_control(child, 0, UT_RESUME));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(1, t->sh->value[1]);
	EXPECT_LE(0, ut_seen(i, child, UT_EV_EXIT, ut_rec[i].val[1], UT_ANY));
}

TEST_F(utrace, attach_errors)
{
	struct ut_attach find = { .flags = UT_ATTACH_MATCH_OPS };
	struct ut_target *t = &self->t;
	int id, kthreadd = 2;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	find.pid = t->pid;
	EXPECT_EQ(-ENOENT, ut_ioctl(UT_IOC_ATTACH, &find));
	id = ut_attach(t->pid, 0, 0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_ioctl(UT_IOC_ATTACH, &find));
	EXPECT_EQ(id, find.id);
	EXPECT_EQ(-EEXIST, ut_attach_full(t->pid, UT_ATTACH_MATCH_OPS |
					  UT_ATTACH_EXCLUSIVE, 0, 0));
	/* An engine of another scope is found only with UT_ATTACH_ANY_SCOPE. */
	find.flags |= UT_ATTACH_PROCESS;
	EXPECT_EQ(-ENOENT, ut_ioctl(UT_IOC_ATTACH, &find));
	find.flags |= UT_ATTACH_ANY_SCOPE;
	EXPECT_EQ(0, ut_ioctl(UT_IOC_ATTACH, &find));
	EXPECT_EQ(id, find.id);
	EXPECT_EQ(-ESRCH, ut_attach_full(INT_MAX, 0, 0, 0));
	EXPECT_EQ(-EINVAL, ut_attach_full(t->pid, 0x8000000, 0, 0));
	if (ut_status(kthreadd, "PPid:") == 0 &&
	    ut_status(kthreadd, "Kthread:") == 1)
		EXPECT_EQ(-EPERM, ut_attach_full(kthreadd, 0, 0, 0));
}

TEST_F(utrace, limit_of_engines)
{
	struct ut_target *t = &self->t;
	int i, id = 0;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	for (i = 0; i < 48; i++) {
		id = ut_attach(t->pid, 0, UT_BIT(EXIT));
		ASSERT_LT(0, id);
	}
	EXPECT_EQ(-ENOSPC, ut_attach_full(t->pid, 0, 0, 0));
	EXPECT_EQ(-ENOSPC, ut_attach_full(t->pid, UT_ATTACH_TREE, 0, 0));
	ASSERT_EQ(0, ut_detach(id));
	EXPECT_LT(0, ut_attach(t->pid, 0, UT_BIT(EXIT)));
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(48, ut_matches(0, UT_ANY, UT_EV_EXIT, t->pid, UT_ANY));
}

TEST_F(utrace, control_errors)
{
	struct ut_target *t = &self->t;
	int id, ret;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	EXPECT_EQ(-EINVAL, ut_control(id, 0, UT_DETACH + 1));
	EXPECT_EQ(-EINVAL, ut_control(id, 0, UT_REPORT));
	EXPECT_EQ(-EINVAL, ut_control(id, 0, UT_SINGLESTEP));
	EXPECT_EQ(-EINVAL, ut_control(id, 0, UT_BLOCKSTEP));
	EXPECT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_EQ(-ESRCH, ut_control(id, getpid(), UT_STOP));
	EXPECT_EQ(-EINVAL, ut_events(id, 0, 1UL << 31));
	EXPECT_EQ(-ESRCH, ut_events(id, getpid(), UT_BIT(EXIT)));
	EXPECT_EQ(0, ut_barrier(id, 0));
	EXPECT_EQ(0, ut_control(id, 0, UT_DETACH));
	EXPECT_EQ(-ESRCH, ut_control(id, 0, UT_DETACH));
	EXPECT_EQ(-ESRCH, ut_control(id, 0, UT_STOP));
	EXPECT_EQ(-ESRCH, ut_events(id, 0, UT_BIT(EXIT)));
	/*
	 * This barrier completes the detach, or finds that a worker has done
	 * so.
	 */
	ret = ut_barrier(id, 0);
	EXPECT_TRUE(ret == 0 || ret == -ESRCH);
	EXPECT_EQ(-ESRCH, ut_barrier(id, 0));
	EXPECT_EQ(0, ut_barrier_sync(id));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * While the callback sleeps, the functions return -EINPROGRESS, and a barrier
 * waits for the end of the callback.
 */
TEST_F(utrace, in_progress_and_barrier)
{
	struct ut_target *t = &self->t;
	int id, entry;

	id = attach_to_marks(t, 1, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME, .delay_ms = 3000));
	ASSERT_TRUE(ut_go(t));
	entry = ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, entry);
	EXPECT_EQ(-EINPROGRESS, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
	/* These events take none from the engine, so there is no wait. */
	EXPECT_EQ(0, ut_events(id, 0, UT_SYSCALL));
	EXPECT_EQ(-1, ut_seen(0, id, UT_EV_RETURN, t->pid, UT_ANY));
	EXPECT_EQ(0, ut_barrier(id, 0));
	EXPECT_LT(entry, ut_seen(0, id, UT_EV_RETURN, t->pid, UT_ANY));
	ASSERT_TRUE(ut_reap(t, &self->status));
}

TEST_F(utrace, detach_in_progress)
{
	struct ut_target *t = &self->t;
	int id;

	id = attach_to_marks(t, 1, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME, .delay_ms = 3000));
	ASSERT_TRUE(ut_go(t));
	ASSERT_LE(0, ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
			     UT_MARK_NR));
	EXPECT_EQ(-EINPROGRESS, ut_control(id, 0, UT_DETACH));
	EXPECT_EQ(-1, ut_seen(0, id, UT_EV_RETURN, t->pid, UT_ANY));
	EXPECT_EQ(0, ut_barrier_sync(id));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_RETURN, t->pid, UT_ANY));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid,
				UT_MARK_NR));
	EXPECT_EQ(-ESRCH, ut_detach(id));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_RELEASE, UT_ANY, UT_ANY));
}

TEST_F(utrace, detach_of_a_sleeper_is_at_once)
{
	struct ut_target *t = &self->t;
	int id;

	id = attach_to_marks(t, 1, UT_ALL);
	ASSERT_LT(0, id);
	/* The target sleeps in read() until the end of the test. */
	EXPECT_EQ(0, ut_detach(id));
	EXPECT_TRUE(ut_asleep_in(t->pid, SYS_read));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_RELEASE, UT_ANY, UT_ANY));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(getpid(), t->sh->value[0]);
	EXPECT_EQ(1, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
}

TEST_HARNESS_MAIN
