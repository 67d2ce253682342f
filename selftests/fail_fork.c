// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - forks that fail
 *
 * Forks are made to fail at each place where they can, with engines of all
 * scopes on the parent.  No child may be reported, and the parent keeps its
 * engines.
 */
#include <linux/sched.h>
#include <sys/resource.h>

#include "cgroup.h"
#include "fail_nth.h"
#include "fixture.h"

static struct {
	int thread, process, tree;
} ids;

static bool attach_three(struct ut_target *t, __u32 nolog)
{
	int *id[] = { &ids.thread, &ids.process, &ids.tree };
	static const __u32 scope[] = {
		0, UT_ATTACH_PROCESS, UT_ATTACH_TREE,
	};
	int i;

	for (i = 0; i < 3; i++) {
		*id[i] = ut_attach_full(t->pid, scope[i], UT_OPS_FULL, nolog);
		if (*id[i] < 0 ||
		    ut_events(*id[i], 0, UT_BIT(CLONE) | UT_BIT(EXIT) |
			      UT_BIT(QUIESCE)))
			return false;
	}
	return true;
}

/* The engines of the parent work as before, and see its end. */
static void check_parent(struct __test_metadata *_metadata,
			 struct ut_target *t, long forks)
{
	int status;

	EXPECT_EQ(forks, ut_count(ids.thread, UT_EV_CLONE));
	EXPECT_EQ(forks, ut_count(ids.process, UT_EV_CLONE));
	EXPECT_EQ(forks, ut_count(ids.tree, UT_EV_CLONE));
	ASSERT_EQ(0, ut_control(ids.thread, 0, UT_REPORT));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, ut_matches(0, ids.process, UT_EV_QUIESCE, t->pid, 0));
	EXPECT_EQ(1, ut_count(ids.thread, UT_EV_EXIT));
	EXPECT_EQ(1, ut_count(ids.process, UT_EV_EXIT));
	EXPECT_EQ(forks + 1, ut_count(ids.tree, UT_EV_EXIT));
}

/*
 * Fork t->arg times.  value[0] counts the forks that worked, value[1] those
 * that failed; value[2] is the last errno.
 */
static void fork_many(struct ut_target *t)
{
	int i;

	for (i = 0; i < t->arg; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0) {
			t->sh->value[1]++;
			t->sh->value[2] = errno;
			continue;
		}
		t->sh->value[0]++;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static int without_processes(struct ut_target *t)
{
	struct rlimit limit = { 0, 0 };

	ut_await(t);
	/* The limit of processes does not bind root. */
	if (setrlimit(RLIMIT_NPROC, &limit) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return 1;
	fork_many(t);
	ut_say(t);
	ut_await(t);
	return 0;
}

TEST_F(utrace, rlimit_nproc)
{
	struct ut_target *t = &self->t;

	t->arg = 50;
	ASSERT_TRUE(ut_spawn(t, without_processes));
	ASSERT_TRUE(attach_three(t, 0));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_hear(t));
	EXPECT_EQ(0, t->sh->value[0]);
	EXPECT_EQ(50, t->sh->value[1]);
	EXPECT_EQ(EAGAIN, t->sh->value[2]);
	check_parent(_metadata, t, 0);
}

static int just_fork(struct ut_target *t)
{
	ut_await(t);
	fork_many(t);
	ut_say(t);
	ut_await(t);
	return 0;
}

TEST_F(utrace, pids_max)
{
	struct ut_target *t = &self->t;
	const char *why = ut_cg_make("+pids");

	if (why) {
		ut_cg_remove();
		SKIP(return, "%s", why);
	}
	t->arg = 50;
	EXPECT_TRUE(ut_spawn(t, just_fork));
	EXPECT_EQ(0, ut_cg_write("pids.max", "1"));
	EXPECT_EQ(0, ut_cg_add(t->pid));
	EXPECT_TRUE(attach_three(t, 0));
	EXPECT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_hear(t));
	EXPECT_EQ(50, t->sh->value[1]);
	EXPECT_EQ(EAGAIN, t->sh->value[2]);
	check_parent(_metadata, t, 0);
	ut_cg_remove();
}

/* Arguments that clone() refuses early and late. */
static int bad_clones(struct ut_target *t)
{
	pid_t taken[] = { 1 };
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long)taken, .set_tid_size = 1,
	};
	int i;

	ut_await(t);
	for (i = 0; i < 20; i++) {
		/* Flags that exclude each other. */
		if (syscall(SYS_clone, CLONE_THREAD | SIGCHLD, 0, 0, 0, 0) < 0)
			t->sh->value[1]++;
		if (syscall(SYS_clone, CLONE_NEWNS | CLONE_FS | SIGCHLD, 0, 0,
			    0, 0) < 0)
			t->sh->value[1]++;
		/*
		 * A pid that is in use makes copy_process() fail near its end.
		 */
		if (syscall(SYS_clone3, &args, sizeof(args)) < 0) {
			t->sh->value[1]++;
			t->sh->value[2] = errno;
		}
		/* An address where the pidfd cannot be stored. */
		if (syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, 8, 0, 0) < 0)
			t->sh->value[1]++;
	}
	ut_say(t);
	ut_await(t);
	return 0;
}

TEST_F(utrace, bad_arguments)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(ut_spawn(t, bad_clones));
	ASSERT_TRUE(attach_three(t, 0));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_hear(t));
	EXPECT_EQ(80, t->sh->value[1]);
	EXPECT_EQ(EEXIST, t->sh->value[2]);
	check_parent(_metadata, t, 0);
}

/* The target that forks, of which the test is the parent. */
static struct ut_target *forking;
static pid_t forked;

static int fork_here(void)
{
	forked = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!forked)
		syscall(SYS_exit_group, 0);
	return forked < 0 ? -errno : 0;
}

/* value[] is as in fork_many(), and value[3] is the last try. */
static bool check_fork(int ret)
{
	forking->sh->value[ret ? 1 : 0]++;
	while (!ret && waitpid(forked, NULL, 0) < 0 && errno == EINTR)
		;
	forking->sh->value[3] = failing.n;
	return true;
}

static int fork_failing(struct ut_target *t)
{
	static const struct fail_case c = {
		"fork", NULL, fork_here, check_fork, .may = -EAGAIN, .least = 6,
	};

	forking = t;
	ut_await(t);
	if (!fail_one(&c))
		return 1;
	ut_say(t);
	ut_await(t);
	return 0;
}

TEST_F(utrace, each_allocation)
{
	const char *why = fail_nth_begin(false);
	struct ut_target *t = &self->t;

	if (why)
		SKIP(return, "%s", why);
	EXPECT_TRUE(ut_spawn(t, fork_failing));
	EXPECT_TRUE(attach_three(t, 0));
	EXPECT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->value[3] > 0));
	EXPECT_TRUE(ut_hear(t));
	check_parent(_metadata, t, t->sh->value[0]);
	fail_nth_end();
}

/*
 * A bare parent needs memory for its report: a CLONE of a fork that worked is
 * reported or counted as lost, a fork that failed has none.
 */
TEST_F(utrace, each_allocation_under_a_system_engine)
{
	const char *why = fail_nth_begin(false);
	struct ut_target *t = &self->t;
	long lost, told;
	int id;

	if (why)
		SKIP(return, "%s", why);
	EXPECT_TRUE(ut_spawn(t, fork_failing));
	lost = ut_ioctl(UT_IOC_LOST, NULL);
	id = ut_attach(0, UT_ATTACH_SYSTEM, UT_BIT(CLONE));
	EXPECT_LT(0, id);
	EXPECT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->value[3] > 0));
	EXPECT_TRUE(ut_hear(t));
	fail_nth_end();
	lost = ut_ioctl(UT_IOC_LOST, NULL) - lost;
	told = ut_matches(0, id, UT_EV_CLONE, t->pid, UT_ANY);
	TH_LOG("%ld forks worked, %ld reported, %ld lost", t->sh->value[0],
	       told, lost);
	EXPECT_LE(told, t->sh->value[0]);
	EXPECT_LE(t->sh->value[0], told + lost);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
}

/* The target of the attach, and the engine of the last try, which stays. */
static pid_t threaded;
static int engine;

static int attach_tree(void)
{
	engine = ut_attach_full(threaded, UT_ATTACH_TREE, UT_OPS_FULL, 0);
	return engine < 0 ? engine : 0;
}

static bool check_attach(int ret)
{
	if (!ret && !failing.left)
		ut_detach(engine);
	return true;
}

/* An attach that fails for lack of memory leaves nothing behind. */
TEST_F(utrace, each_allocation_of_an_attach)
{
	static const struct fail_case c = {
		"attach", NULL, attach_tree, check_attach, .least = 1,
	};
	const char *why = fail_nth_begin(false);
	struct ut_target *t = &self->t;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn_threads(t, 3));
	threaded = t->pid;
	EXPECT_TRUE(fail_one(&c));
	fail_nth_end();
	ASSERT_LT(0, engine);
	ASSERT_EQ(0, ut_events(engine, 0, UT_BIT(EXIT)));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(3, ut_count(engine, UT_EV_EXIT));
}

TEST_HARNESS_MAIN
