// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - every event but signals
 *
 * Each event must come at the right time, once, and with the right arguments.
 */
#include <sys/prctl.h>

#include "fixture.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#define PR_SYS_DISPATCH_ON		1
#define SYSCALL_DISPATCH_FILTER_ALLOW	0
#endif

TEST_F(utrace, syscall_pair)
{
	struct ut_target *t = &self->t;
	int id, in, out, i;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	in = ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, in);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(1000 + i, ut_rec[in].val[i]);
	EXPECT_EQ(UT_SYSCALL_RUN, ut_rec[in].action & UT_SYSCALL_MASK);
	EXPECT_EQ(0, ut_rec[in].action & UT_SYSCALL_RESUMED);
	out = ut_wait(in, id, UT_EV_SYSCALL_EXIT, t->pid, UT_MARK_NR);
	ASSERT_LE(0, out);
	EXPECT_EQ(in + 1, out);
	EXPECT_EQ(getpid(), ut_rec[out].val[0]);
	EXPECT_EQ(0, ut_rec[out].action & UT_SYSCALL_UNPAIRED);
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(getpid(), t->sh->value[0]);
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, UT_ANY,
				UT_MARK_NR));
}

TEST_F(utrace, syscall_exit_without_entry)
{
	struct ut_target *t = &self->t;
	int id, out;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	out = ut_wait(0, id, UT_EV_SYSCALL_EXIT, t->pid, SYS_read);
	ASSERT_LE(0, out);
	EXPECT_EQ(1, ut_rec[out].val[0]);
	EXPECT_EQ(UT_SYSCALL_UNPAIRED,
		  ut_rec[out].action & UT_SYSCALL_UNPAIRED);
	EXPECT_EQ(-1, ut_find(0, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_read));
	/* The engine sees both ends of the next call. */
	out = ut_wait(out, id, UT_EV_SYSCALL_EXIT, t->pid, UT_MARK_NR);
	ASSERT_LE(0, out);
	EXPECT_EQ(0, ut_rec[out].action & UT_SYSCALL_UNPAIRED);
}

/*
 * A call that ends the task has no exit, and the task's EXIT says so to an
 * engine that wants exits.
 */
TEST_F(utrace, syscall_entry_without_exit)
{
	struct ut_target *t = &self->t;
	int id, only, i;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_SYSCALL | UT_BIT(EXIT));
	only = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY) | UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_LT(0, only);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_wait(0, id, UT_EV_EXIT, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SYSCALL_UNPAIRED, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
	/* An engine that wants no exits misses none. */
	i = ut_wait(0, only, UT_EV_EXIT, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
}

static int marks_then_waits(struct ut_target *t)
{
	ut_await(t);
	ut_mark(1000);
	t->sh->value[0] = 1;
	while (!t->sh->value[1])
		;
	syscall(SYS_gettid);
	ut_mark(2000);
	return 0;
}

/* The engine does not want exits when the exit of the first call comes. */
TEST_F(utrace, next_entry_tells_of_a_lost_exit)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, marks_then_waits));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .answer = UT_RESUME,
			     .count = 1, .change = UT_CHANGE_EVENTS,
			     .events = UT_BIT(SYSCALL_ENTRY)));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(t->sh->value[0]));
	ASSERT_EQ(0, ut_events(id, 0, UT_SYSCALL));
	t->sh->value[1] = 1;
	i = ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_gettid);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SYSCALL_UNPAIRED, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
	i = ut_wait(i + 1, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
	EXPECT_LE(i, ut_wait(i, id, UT_EV_SYSCALL_EXIT, t->pid, UT_MARK_NR));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid,
				UT_MARK_NR));
}

/*
 * As above, but another engine's answer sends the pass to the slow path before
 * the pass comes to the engine that does not want the exit.
 */
TEST_F(utrace, next_entry_tells_of_a_lost_exit_that_another_answered)
{
	struct ut_target *t = &self->t;
	int id, other, i;

	ASSERT_TRUE(ut_spawn(t, marks_then_waits));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	other = ut_attach(t->pid, 0, UT_SYSCALL);
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, other);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .answer = UT_RESUME,
			     .count = 1, .change = UT_CHANGE_EVENTS,
			     .events = UT_BIT(SYSCALL_ENTRY)));
	ASSERT_EQ(0, ut_rule(.id = other, .event = UT_EV_SYSCALL_EXIT,
			     .match = UT_MARK_NR, .answer = UT_REPORT,
			     .count = 1));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(t->sh->value[0]));
	ASSERT_EQ(0, ut_events(id, 0, UT_SYSCALL));
	t->sh->value[1] = 1;
	i = ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_gettid);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SYSCALL_UNPAIRED, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
}

/* At the entry the engine does not want entries; another engine answers. */
TEST_F(utrace, exit_tells_of_a_lost_entry_that_another_answered)
{
	struct ut_target *t = &self->t;
	int id, other, i;

	ASSERT_TRUE(ut_spawn(t, marks_then_waits));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	other = ut_attach(t->pid, 0, UT_SYSCALL);
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, other);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = other, .event = UT_EV_SYSCALL_ENTRY,
			     .match = SYS_gettid, .answer = UT_REPORT,
			     .count = 1));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(t->sh->value[0]));
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_EXIT)));
	t->sh->value[1] = 1;
	i = ut_wait(0, id, UT_EV_SYSCALL_EXIT, t->pid, SYS_gettid);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SYSCALL_UNPAIRED, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
}

/*
 * Function of a target: a selector that is neither ALLOW nor BLOCK makes
 * syscall user dispatch end the process at its next call.
 */
static int dispatches_badly(struct ut_target *t)
{
	static char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

	ut_await(t);
	ut_mark(1000);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		  &selector))
		return 1;
	ut_mark(2000);
	selector = 2;
	syscall(SYS_gettid);
	return 0;
}

/* Syscall user dispatch ends the entry before engines are called. */
TEST_F(utrace, exit_of_a_call_that_dispatch_refused)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, dispatches_badly));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGSYS, WTERMSIG(self->status));
	i = ut_wait(0, id, UT_EV_SYSCALL_EXIT, t->pid, SYS_gettid);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SYSCALL_UNPAIRED, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
	EXPECT_EQ(-1, ut_find(0, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_gettid));
}

TEST_F(utrace, no_events_no_callbacks)
{
	struct ut_target *t = &self->t;
	int id, other;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	id = ut_attach(t->pid, 0, 0);
	ASSERT_LT(0, id);
	other = ut_attach(t->pid, 0, UT_BIT(REAP));
	ASSERT_LT(0, other);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_LE(0, ut_wait(0, other, UT_EV_REAP, t->pid, UT_ANY));
	EXPECT_EQ(0, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
}

static int fork_target(struct ut_target *t)
{
	pid_t pid;
	int status;

	ut_await(t);
	pid = fork();
	if (!pid)
		_exit(5);
	t->sh->value[0] = pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WEXITSTATUS(status);
}

TEST_F(utrace, clone_process)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, fork_target));
	id = ut_attach(t->pid, UT_ATTACH_TREE, UT_ALL & ~UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(5, WEXITSTATUS(self->status));
	i = ut_seen(0, id, UT_EV_CLONE, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(SIGCHLD, ut_rec[i].val[0] & 0xff);
	EXPECT_EQ(0, ut_rec[i].val[0] & (CLONE_THREAD | CLONE_VFORK));
	EXPECT_EQ(t->sh->value[0], ut_rec[i].val[1]);
	EXPECT_EQ(t->sh->value[0], ut_rec[i].val[2]);
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_CLONE, UT_ANY, UT_ANY));
	/*
	 * The CLONE report of the parent comes before any event of the child.
	 */
	EXPECT_LT(i, ut_find(0, id, UT_ANY, t->sh->value[0], UT_ANY));
}

static void *thread_fn(void *arg)
{
	struct ut_target *t = arg;

	t->sh->value[1] = ut_gettid();
	return NULL;
}

static int thread_target(struct ut_target *t)
{
	pthread_t thread;

	ut_await(t);
	pthread_create(&thread, NULL, thread_fn, t);
	pthread_join(thread, NULL);
	return 0;
}

TEST_F(utrace, clone_thread)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, thread_target));
	id = ut_attach(t->pid, 0, UT_BIT(CLONE) | UT_BIT(DEATH));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, id, UT_EV_CLONE, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_NE(0, ut_rec[i].val[0] & CLONE_THREAD);
	EXPECT_EQ(t->sh->value[1], ut_rec[i].val[1]);
	EXPECT_EQ(t->pid, ut_rec[i].val[2]);
	/* The engine has thread scope, so the new thread has no engine. */
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_DEATH, UT_ANY, UT_ANY));
}

static int vfork_target(struct ut_target *t)
{
	pid_t pid;
	int status;

	ut_await(t);
	pid = vfork();
	if (!pid) {
		execl(ut_helper(), "helper", "exit", "3", NULL);
		_exit(97);
	}
	t->sh->value[0] = pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WEXITSTATUS(status);
}

TEST_F(utrace, vfork_done)
{
	struct ut_target *t = &self->t;
	int id, clone, done, exec;
	pid_t child;

	ASSERT_TRUE(ut_spawn(t, vfork_target));
	id = ut_attach(t->pid, UT_ATTACH_TREE,
		       UT_BIT(CLONE) | UT_BIT(VFORK_DONE) | UT_BIT(EXEC));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(3, WEXITSTATUS(self->status));
	child = t->sh->value[0];
	clone = ut_seen(0, id, UT_EV_CLONE, t->pid, UT_ANY);
	ASSERT_LE(0, clone);
	EXPECT_NE(0, ut_rec[clone].val[0] & CLONE_VFORK);
	EXPECT_EQ(child, ut_rec[clone].val[1]);
	exec = ut_find(0, id, UT_EV_EXEC, child, UT_ANY);
	EXPECT_LT(clone, exec);
	done = ut_find(0, id, UT_EV_VFORK_DONE, t->pid, UT_ANY);
	ASSERT_LT(clone, done);
	EXPECT_EQ(child, ut_rec[done].val[0]);
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_VFORK_DONE, UT_ANY, UT_ANY));
}

static int plain_fork_then_vfork_exit(struct ut_target *t)
{
	pid_t pid;

	ut_await(t);
	ut_fork_wait(0);
	pid = vfork();
	if (!pid)
		_exit(0);
	t->sh->value[0] = pid;
	waitpid(pid, NULL, 0);
	return 0;
}

TEST_F(utrace, vfork_done_only_for_vfork)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, plain_fork_then_vfork_exit));
	id = ut_attach(t->pid, 0, UT_BIT(CLONE) | UT_BIT(VFORK_DONE));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(2, ut_matches(0, id, UT_EV_CLONE, UT_ANY, UT_ANY));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_VFORK_DONE, UT_ANY, UT_ANY));
	i = ut_find(0, id, UT_EV_VFORK_DONE, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(t->sh->value[0], ut_rec[i].val[0]);
}

static int exec_target(struct ut_target *t)
{
	ut_await(t);
	execl("/nonexistent/program", "program", NULL);
	t->sh->value[0] = errno;
	execl(ut_helper(), "helper", "exit", "6", NULL);
	return 97;
}

TEST_F(utrace, exec)
{
	struct ut_target *t = &self->t;
	int id, i, in, out;

	ASSERT_TRUE(ut_spawn(t, exec_target));
	id = ut_attach(t->pid, 0, UT_BIT(EXEC) | UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(6, WEXITSTATUS(self->status));
	EXPECT_EQ(ENOENT, t->sh->value[0]);
	/* One execve() failed, one worked; only the latter is an event. */
	EXPECT_EQ(2, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, UT_ANY,
				SYS_execve));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_EXEC, UT_ANY, UT_ANY));
	i = ut_find(0, id, UT_EV_EXEC, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_STREQ("helper", ut_rec[i].comm);
	EXPECT_NE(0, ut_rec[i].val[0]);
	EXPECT_EQ(1, ut_rec[i].val[1]);
	in = ut_find(0, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_execve);
	in = ut_find(in + 1, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_execve);
	out = ut_find(i, id, UT_EV_SYSCALL_EXIT, t->pid, SYS_execve);
	EXPECT_EQ(in + 1, i);
	ASSERT_EQ(i + 1, out);
	EXPECT_EQ(0, ut_rec[out].val[0]);
}

TEST_F(utrace, creds_before_exec)
{
	struct ut_target *t = &self->t;
	int id, creds, exec;

	ASSERT_TRUE(ut_spawn(t, exec_target));
	id = ut_attach(t->pid, 0, UT_BIT(CREDS) | UT_BIT(EXEC));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(6, WEXITSTATUS(self->status));
	creds = ut_seen(0, id, UT_EV_CREDS, t->pid, UT_ANY);
	exec = ut_find(0, id, UT_EV_EXEC, t->pid, UT_ANY);
	ASSERT_LE(0, creds);
	EXPECT_EQ(creds + 1, exec);
	/* The execve() that failed has no CREDS. */
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_CREDS, UT_ANY, UT_ANY));
}

/* An engine that detaches at CREDS gets no EXEC. */
TEST_F(utrace, detach_at_creds)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, exec_target));
	id = ut_attach(t->pid, 0, UT_ALL & ~UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_CREDS,
			     .answer = UT_DETACH));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(6, WEXITSTATUS(self->status));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_CREDS, UT_ANY, UT_ANY));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_EXEC, UT_ANY, UT_ANY));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_EXIT, UT_ANY, UT_ANY));
}

static int exit_target(struct ut_target *t)
{
	ut_await(t);
	return t->arg;
}

TEST_F(utrace, exit_death_reap)
{
	struct ut_target *t = &self->t;
	int id, exit, death, reap;

	t->arg = 7;
	ASSERT_TRUE(ut_spawn(t, exit_target));
	id = ut_attach(t->pid, 0,
		       UT_BIT(EXIT) | UT_BIT(DEATH) | UT_BIT(REAP));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	death = ut_wait(0, id, UT_EV_DEATH, t->pid, UT_ANY);
	ASSERT_LE(0, death);
	exit = ut_find(0, id, UT_EV_EXIT, t->pid, UT_ANY);
	ASSERT_LE(0, exit);
	EXPECT_EQ(exit + 1, death);
	EXPECT_EQ(7 << 8, ut_rec[exit].val[0]);
	EXPECT_EQ(7 << 8, ut_rec[exit].val[1]);
	EXPECT_EQ(1, ut_rec[death].val[0]);
	EXPECT_EQ(SIGCHLD, ut_rec[death].val[1]);
	/* A zombie is not reaped before its parent waits for it. */
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'Z'));
	EXPECT_EQ(-1, ut_seen(0, id, UT_EV_REAP, t->pid, UT_ANY));
	ASSERT_TRUE(ut_reap(t, &self->status));
	reap = ut_seen(0, id, UT_EV_REAP, t->pid, UT_ANY);
	ASSERT_LE(0, reap);
	EXPECT_EQ(getpid(), ut_rec[reap].runner);
	EXPECT_EQ(3, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
	/*
	 * The engine ended with its task, but the module still knows its
	 * number.
	 */
	EXPECT_EQ(-ESRCH, ut_events(id, 0, UT_BIT(REAP)));
	EXPECT_EQ(-ESRCH, ut_control(id, 0, UT_RESUME));
}

TEST_F(utrace, exit_by_signal)
{
	struct ut_target *t = &self->t;
	int id, exit;

	ASSERT_TRUE(ut_spawn(t, exit_target));
	id = ut_attach(t->pid, 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
	exit = ut_seen(0, id, UT_EV_EXIT, t->pid, UT_ANY);
	ASSERT_LE(0, exit);
	EXPECT_EQ(SIGTERM, ut_rec[exit].val[0]);
}

static int parent_ignores(struct ut_target *t)
{
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	ut_await(t);
	pid = fork();
	if (!pid)
		_exit(0);
	t->sh->value[0] = pid;
	/*
	 * Since SIGCHLD is ignored, wait() returns when all children are gone.
	 */
	while (wait(NULL) >= 0 || errno == EINTR)
		;
	return errno == ECHILD ? 0 : 1;
}

TEST_F(utrace, death_self_reaping)
{
	struct ut_target *t = &self->t;
	int id, death, reap;
	pid_t child;

	ASSERT_TRUE(ut_spawn(t, parent_ignores));
	id = ut_attach(t->pid, UT_ATTACH_TREE, UT_BIT(DEATH) | UT_BIT(REAP));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	child = t->sh->value[0];
	death = ut_wait(0, id, UT_EV_DEATH, child, UT_ANY);
	ASSERT_LE(0, death);
	EXPECT_EQ(1, ut_rec[death].val[0]);
	EXPECT_EQ(-1, ut_rec[death].val[1]);
	reap = ut_wait(0, id, UT_EV_REAP, child, UT_ANY);
	EXPECT_LT(death, reap);
	EXPECT_EQ(child, ut_rec[reap].runner);
}

static void *outlive(void *arg)
{
	struct ut_target *t = arg;

	t->sh->value[1] = ut_gettid();
	while (!t->sh->quit)
		sched_yield();
	return NULL;
}

static int delayed_leader(struct ut_target *t)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outlive, t);
	ut_await(t);
	syscall(SYS_exit, 0);
	return 1;
}

TEST_F(utrace, death_delayed_leader)
{
	struct ut_target *t = &self->t;
	int id, leader, last, reap;

	ASSERT_TRUE(ut_spawn(t, delayed_leader));
	ASSERT_TRUE(ut_until(t->sh->value[1]));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS,
		       UT_BIT(DEATH) | UT_BIT(REAP));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	leader = ut_wait(0, id, UT_EV_DEATH, t->pid, UT_ANY);
	ASSERT_LE(0, leader);
	EXPECT_EQ(0, ut_rec[leader].val[0]);
	EXPECT_EQ(-2, ut_rec[leader].val[1]);
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &self->status));
	last = ut_wait(0, id, UT_EV_DEATH, t->sh->value[1], UT_ANY);
	ASSERT_LE(0, last);
	EXPECT_EQ(1, ut_rec[last].val[0]);
	EXPECT_EQ(-1, ut_rec[last].val[1]);
	/* The thread reaps itself, the test reaps the leader. */
	reap = ut_wait(0, id, UT_EV_REAP, t->sh->value[1], UT_ANY);
	ASSERT_LE(0, reap);
	EXPECT_EQ(t->sh->value[1], ut_rec[reap].runner);
	reap = ut_wait(0, id, UT_EV_REAP, t->pid, UT_ANY);
	ASSERT_LE(0, reap);
	EXPECT_EQ(getpid(), ut_rec[reap].runner);
}

TEST_F(utrace, attach_to_zombie)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, exit_target));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'Z'));
	id = ut_attach(t->pid, 0, UT_BIT(REAP));
	ASSERT_LT(0, id);
	EXPECT_EQ(-EALREADY, ut_events(id, 0, UT_BIT(REAP) | UT_BIT(DEATH)));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_REAP, t->pid, UT_ANY));
	EXPECT_EQ(1, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
}

TEST_F(utrace, quiesce_report)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_TRUE(ut_runs(t));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	EXPECT_EQ(-1, ut_seen(0, id, UT_ANY, UT_ANY, UT_ANY));
	ASSERT_EQ(0, ut_control(id, 0, UT_REPORT));
	i = ut_wait(0, id, UT_EV_QUIESCE, t->pid, 0);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].val[0]);
	EXPECT_TRUE(ut_runs(t));
	/* One request gives one report. */
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_QUIESCE, t->pid, 0));
}

TEST_F(utrace, quiesce_report_reaches_all)
{
	struct ut_target *t = &self->t;
	int a, b, c;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_TRUE(ut_runs(t));
	a = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	b = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(QUIESCE));
	c = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, a);
	ASSERT_LT(0, b);
	ASSERT_LT(0, c);
	ASSERT_EQ(0, ut_control(a, 0, UT_REPORT));
	EXPECT_LE(0, ut_wait(0, a, UT_EV_QUIESCE, t->pid, 0));
	EXPECT_LE(0, ut_wait(0, b, UT_EV_QUIESCE, t->pid, 0));
	EXPECT_EQ(-1, ut_seen(0, c, UT_ANY, UT_ANY, UT_ANY));
}

TEST_F(utrace, quiesce_before_others_events)
{
	struct ut_target *t = &self->t;
	int asks, any, own, i;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	asks = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	any = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	own = ut_attach(t->pid, UT_ATTACH_OWN_EVENTS,
			UT_BIT(QUIESCE) | UT_BIT(EXIT));
	ASSERT_LT(0, asks);
	ASSERT_LT(0, any);
	ASSERT_LT(0, own);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, any, UT_EV_QUIESCE, t->pid, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_BIT(SYSCALL_ENTRY), ut_rec[i].val[0]);
	EXPECT_LE(0, ut_find(0, any, UT_EV_QUIESCE, t->pid, UT_BIT(EXIT)));
	EXPECT_EQ(-1, ut_find(0, own, UT_EV_QUIESCE, t->pid,
			      UT_BIT(SYSCALL_ENTRY)));
	i = ut_find(0, own, UT_EV_QUIESCE, t->pid, UT_BIT(EXIT));
	ASSERT_LE(0, i);
	EXPECT_LT(i, ut_find(0, own, UT_EV_EXIT, t->pid, UT_ANY));
	/* No report was asked for, so QUIESCE never comes with event 0. */
	EXPECT_EQ(-1, ut_find(0, any, UT_EV_QUIESCE, t->pid, 0));
}

TEST_F(utrace, quiesce_opts_in)
{
	struct ut_target *t = &self->t;
	int other, id, quiesce, entry;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	other = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, other);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_QUIESCE,
			     .match = UT_BIT(SYSCALL_ENTRY), .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_EVENTS,
			     .events = UT_BIT(QUIESCE) |
				       UT_BIT(SYSCALL_ENTRY)));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	quiesce = ut_seen(0, id, UT_EV_QUIESCE, t->pid,
			  UT_BIT(SYSCALL_ENTRY));
	ASSERT_LE(0, quiesce);
	/* The first call after the request is reported. */
	entry = ut_find(0, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_ANY);
	ASSERT_LT(quiesce, entry);
	EXPECT_EQ(UT_MARK_NR, ut_rec[entry].nr);
}

TEST_HARNESS_MAIN
