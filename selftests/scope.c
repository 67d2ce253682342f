// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the tasks that an engine covers
 *
 * Thread, process and tree engines cover all tasks of their scope, and no event
 * of a task is reported twice.
 */
#include <linux/sched.h>

#include "fixture.h"
#include "ring.h"

static bool saw_mark(int id, pid_t tid)
{
	return ut_wait(0, id, UT_EV_SYSCALL_ENTRY, tid, UT_MARK_NR) >= 0;
}

TEST_F(utrace, thread_is_one_thread)
{
	struct ut_target *t = &self->t;
	int id, whole;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->sh->tid[1], 0, UT_BIT(SYSCALL_ENTRY));
	whole = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, id);
	ASSERT_LT(0, whole);
	t->sh->go[0] = UT_GO_MARK;
	t->sh->go[1] = UT_GO_MARK;
	t->sh->go[2] = UT_GO_MARK;
	EXPECT_TRUE(saw_mark(whole, t->sh->tid[0]));
	EXPECT_TRUE(saw_mark(whole, t->sh->tid[1]));
	EXPECT_TRUE(saw_mark(whole, t->sh->tid[2]));
	EXPECT_TRUE(saw_mark(id, t->sh->tid[1]));
	EXPECT_EQ(1, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
}

/* A process engine attaches by any thread of the process. */
TEST_F(utrace, process_by_another_thread)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->sh->tid[2], UT_ATTACH_PROCESS,
		       UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, id);
	t->sh->go[0] = UT_GO_MARK;
	EXPECT_TRUE(saw_mark(id, t->sh->tid[0]));
}

static void *late_thread(void *arg)
{
	struct ut_target *t = arg;

	t->sh->value[1] = ut_gettid();
	ut_mark(1);
	return NULL;
}

static int thread_and_child(struct ut_target *t)
{
	pthread_t thread;
	pid_t pid;

	ut_await(t);
	pthread_create(&thread, NULL, late_thread, t);
	pthread_join(thread, NULL);
	pid = fork();
	if (!pid) {
		ut_mark(2);
		_exit(0);
	}
	t->sh->value[2] = pid;
	waitpid(pid, NULL, 0);
	return 0;
}

TEST_F(utrace, process_takes_new_threads_not_children)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, thread_and_child));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(SYSCALL_ENTRY) |
		       UT_BIT(REAP));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->sh->value[1],
				UT_MARK_NR));
	EXPECT_EQ(0, ut_matches(0, id, UT_ANY, t->sh->value[2], UT_ANY));
	/* Both threads are reaped, and the engine has ended then. */
	EXPECT_EQ(2, ut_matches(0, id, UT_EV_REAP, UT_ANY, UT_ANY));
	EXPECT_EQ(-ESRCH, ut_control(id, 0, UT_RESUME));
}

/* Clone a child with flags; the child makes the marker call and exits. */
static pid_t clone_marks(unsigned long flags)
{
	pid_t pid = syscall(SYS_clone, flags, 0, 0, 0, 0);

	if (!pid) {
		ut_mark(3);
		syscall(SYS_exit_group, 0);
	}
	return pid;
}

static int clone_flags_target(struct ut_target *t)
{
	ut_await(t);
	t->sh->value[0] = clone_marks(t->arg);
	/*
	 * With CLONE_PARENT the child is not ours, and wait() fails with
	 * ECHILD.
	 */
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return t->sh->value[0] < 0;
}

FIXTURE_LIKE(utrace, flags)

/* The flags of clone(2). */
FIXTURE_VARIANT(flags) {
	unsigned long flags;
};

FIXTURE_VARIANT_ADD(flags, fork) { SIGCHLD };
FIXTURE_VARIANT_ADD(flags, untraced) { SIGCHLD | CLONE_UNTRACED };
FIXTURE_VARIANT_ADD(flags, parent) { SIGCHLD | CLONE_PARENT };
FIXTURE_VARIANT_ADD(flags, without_signal) { CLONE_UNTRACED | CLONE_VFORK };

TEST_F(flags, tree_follows)
{
	struct ut_target *t = &self->base.t;
	pid_t child;
	int id;

	t->arg = variant->flags;
	ASSERT_TRUE(ut_spawn(t, clone_flags_target));
	id = ut_attach(t->pid, UT_ATTACH_TREE,
		       UT_BIT(CLONE) | UT_BIT(SYSCALL_ENTRY) | UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(t->sh->value[0]));
	child = t->sh->value[0];
	ASSERT_LT(0, child);
	EXPECT_LE(0, ut_wait(0, id, UT_EV_EXIT, child, UT_ANY));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, child,
				UT_MARK_NR));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_CLONE, t->pid, UT_ANY));
	EXPECT_LT(ut_find(0, id, UT_EV_CLONE, t->pid, UT_ANY),
		  ut_find(0, id, UT_ANY, child, UT_ANY));
	if (variant->flags & CLONE_PARENT)
		waitpid(child, NULL, __WALL);
}

/*
 * A daemon: the middle process ends, so that the grandchild gets another
 * parent.  The grandchild leaves the session and forks again.
 */
static int daemon_target(struct ut_target *t)
{
	pid_t pid;

	ut_await(t);
	pid = fork();
	if (!pid) {
		pid_t old = getpid();

		pid = fork();
		if (pid)
			_exit(0);
		while (getppid() == old)
			sched_yield();
		setsid();
		t->sh->value[1] = getpid();
		t->sh->value[2] = getppid();
		pid = fork();
		if (!pid) {
			t->sh->value[3] = getpid();
			while (!t->sh->quit)
				sched_yield();
			ut_mark(4);
			_exit(0);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

static void follows_daemon(struct __test_metadata *_metadata,
			   struct ut_target *t)
{
	int id;

	ASSERT_TRUE(ut_spawn(t, daemon_target));
	id = ut_attach(t->pid, UT_ATTACH_TREE, UT_BIT(CLONE) |
		       UT_BIT(EXIT) | UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, id);
	/* Pull the log at the end only, and read only counts until then. */
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(t->sh->value[3]));
	EXPECT_NE(t->pid, t->sh->value[2]);
	ut_reap(t, &(int){ 0 });
	t->sh->quit = 1;
	/*
	 * The last process ends long after the one that the engine attached to.
	 */
	EXPECT_LE(0, ut_wait(0, id, UT_EV_EXIT, t->sh->value[3], UT_ANY));
	/* The parent of the last process may end after it. */
	EXPECT_LE(0, ut_wait(0, id, UT_EV_EXIT, t->sh->value[1], UT_ANY));
	EXPECT_EQ(3, ut_count(id, UT_EV_CLONE));
	EXPECT_EQ(4, ut_count(id, UT_EV_EXIT));
}

TEST_F(utrace, tree_follows_a_daemon)
{
	follows_daemon(_metadata, &self->t);
}

TEST_F(utrace, tree_follows_into_a_subreaper)
{
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	follows_daemon(_metadata, &self->t);
	EXPECT_EQ(getpid(), self->t.sh->value[2]);
	/* Two processes have become children of the test. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* A tree that exists before the attach: children and their threads. */
static int standing_tree(struct ut_target *t)
{
	pid_t pid, grandchild;

	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		grandchild = fork();
		if (!grandchild) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			t->arg = 3;
			ut_threaded(t);
			_exit(0);
		}
		t->sh->value[2] = grandchild;
		waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	t->sh->value[1] = pid;
	waitpid(pid, NULL, 0);
	return 0;
}

TEST_F(utrace, tree_takes_living_descendants)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, standing_tree));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_TRUE(ut_until(t->sh->value[2]));
	id = ut_attach(t->pid, UT_ATTACH_TREE,
		       UT_BIT(SYSCALL_ENTRY) | UT_BIT(EXIT));
	ASSERT_LT(0, id);
	t->sh->go[1] = UT_GO_MARK;
	EXPECT_TRUE(saw_mark(id, t->sh->tid[1]));
	kill(t->sh->value[2], SIGKILL);
	EXPECT_LE(0, ut_wait(0, id, UT_EV_EXIT, t->sh->value[2], UT_ANY));
	EXPECT_LE(0, ut_wait(0, id, UT_EV_EXIT, t->sh->value[1], UT_ANY));
	EXPECT_LE(0, ut_wait(0, id, UT_EV_EXIT, t->pid, UT_ANY));
	/* Three threads and two processes exit. */
	EXPECT_EQ(5, ut_count(id, UT_EV_EXIT));
}

TEST_F(utrace, subtree_only)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, standing_tree));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_TRUE(ut_until(t->sh->value[2]));
	id = ut_attach(t->sh->value[2], UT_ATTACH_TREE, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	kill(t->sh->value[2], SIGKILL);
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(3, ut_count(id, UT_EV_EXIT));
	EXPECT_EQ(0, ut_matches(0, id, UT_ANY, t->pid, UT_ANY));
	EXPECT_EQ(0, ut_matches(0, id, UT_ANY, t->sh->value[1], UT_ANY));
}

TEST_F(utrace, target_within_the_scope)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_stop(id, t->sh->tid[1]));
	ASSERT_TRUE(ut_held(t->sh->tid[1]));
	EXPECT_TRUE(ut_thread_runs(t, 0));
	EXPECT_TRUE(ut_thread_runs(t, 2));
	EXPECT_TRUE(ut_thread_still(t, 1));
	EXPECT_EQ(-ESRCH, ut_control(id, getpid(), UT_STOP));
	EXPECT_EQ(-ESRCH, ut_events(id, getpid(), 0));
	/* Stop all threads, then resume one. */
	ASSERT_EQ(0, ut_stop(id, 0));
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(ut_held(t->sh->tid[i]));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, ut_control(id, t->sh->tid[2], UT_RESUME));
	EXPECT_TRUE(ut_thread_runs(t, 2));
	EXPECT_TRUE(ut_thread_still(t, 0));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(ut_thread_runs(t, i));
}

/*
 * A stop of the whole tree includes tasks that are born during the stop.  Each
 * task of the family increments a counter until the end of the round, so that a
 * task that is not held is noticed.
 *
 * value[0] is the round, value[1] the number of children that were forked,
 * value[2] the number of children that have begun to run.
 */
#define FAMILY	12

static void breed(struct ut_target *t, long round, int generations)
{
	struct ut_shared *sh = t->sh;
	pid_t pid = fork();

	if (pid) {
		sh->value[1] += pid > 0;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sh->value[2]++;
	if (generations > 1)
		breed(t, round, generations - 1);
	while (sh->value[0] == round)
		sh->counter++;
	while (wait(NULL) > 0 || errno == EINTR)
		;
	_exit(0);
}

static int forks_all_the_time(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	int i;

	while (!sh->quit) {
		long round = sh->value[0];

		for (i = 0; i < FAMILY && sh->value[0] == round; i++)
			breed(t, round, 2);
		while (sh->value[0] == round)
			sh->counter++;
		while (wait(NULL) > 0 || errno == EINTR)
			;
	}
	return 0;
}

TEST_F(utrace, stop_of_a_forking_tree)
{
	struct ut_target *t = &self->t;
	struct ut_shared *sh;
	int id, i;
	long ran;

	ASSERT_TRUE(ut_spawn(t, forks_all_the_time));
	sh = t->sh;
	id = ut_attach(t->pid, UT_ATTACH_TREE, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	for (i = 0; i < 10; i++) {
		/* Stop during the forks, a bit later in each round. */
		ran = sh->value[2];
		sh->value[0]++;
		ASSERT_TRUE(ut_until(sh->value[2] > ran + i));
		ASSERT_EQ(0, ut_stop(id, 0));
		/*
		 * A running task may take a moment to stop; a new task must not
		 * run at all.
		 */
		ASSERT_TRUE(ut_until(ut_still(t)));
		ran = sh->value[2];
		EXPECT_TRUE(ut_still(t));
		EXPECT_EQ(ran, sh->value[2]);
		ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
		EXPECT_TRUE(ut_runs(t));
	}
	sh->quit = 1;
	sh->value[0]++;
	/*
	 * The target waits for its whole family, of which no task is held now.
	 */
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_LT(10, sh->value[1]);
	EXPECT_EQ(sh->value[1], sh->value[2]);
}

/* Every task of a storm of forks is reported exactly once. */
#define STORM_WIDTH	8
#define STORM_DEPTH	3
#define STORM_ROUNDS	4

static void storm(struct ut_target *t, int depth)
{
	int i;

	t->sh->value[0]++;
	ut_mark(depth);
	for (i = 0; depth && i < STORM_WIDTH >> (STORM_DEPTH - depth); i++) {
		unsigned long flags = SIGCHLD;
		pid_t pid;

		if (i & 1)
			flags |= CLONE_UNTRACED;
		pid = syscall(SYS_clone, flags, 0, 0, 0, 0);
		if (!pid) {
			storm(t, depth - 1);
			syscall(SYS_exit_group, 0);
		}
		if (pid > 0)
			t->sh->value[1]++;
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static int storm_target(struct ut_target *t)
{
	int i;

	ut_await(t);
	for (i = 0; i < STORM_ROUNDS; i++)
		storm(t, STORM_DEPTH);
	return 0;
}

TEST_F(utrace, fork_storm)
{
	static const int mark_only[] = { UT_MARK_NR };
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, storm_target));
	/* The events are counted and not logged, as the ring is too small. */
	id = ut_attach_full(t->pid, UT_ATTACH_TREE, UT_OPS_FULL, ~0U);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_filter(id, mark_only, 1));
	ASSERT_EQ(0, ut_events(id, 0, UT_ALL & ~UT_BIT(QUIESCE)));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	ASSERT_LT(STORM_ROUNDS, t->sh->value[1]);
	EXPECT_EQ(t->sh->value[1], ut_count(id, UT_EV_CLONE));
	EXPECT_EQ(t->sh->value[0], ut_count(id, UT_EV_SYSCALL_ENTRY));
	EXPECT_EQ(t->sh->value[0], ut_count(id, UT_EV_SYSCALL_EXIT));
	EXPECT_EQ(t->sh->value[1] + 1, ut_count(id, UT_EV_EXIT));
	EXPECT_EQ(t->sh->value[1] + 1, ut_count(id, UT_EV_DEATH));
	EXPECT_EQ(t->sh->value[1] + 1, ut_count(id, UT_EV_REAP));
}

/* After an attach in the middle of a storm no task is missed, either. */
TEST_F(utrace, attach_to_a_running_storm)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, storm_target));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(t->sh->value[0] > 10));
	id = ut_attach(t->pid, UT_ATTACH_TREE, UT_BIT(CLONE) | UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_reap(t, &self->status));
	ut_pull(0);
	ASSERT_EQ(0, ut_lost());
	/* A child whose CLONE was reported reports its EXIT. */
	for (i = 0; i < ut_nrec; i++) {
		pid_t child = ut_rec[i].val[1];

		if (ut_rec[i].event != UT_EV_CLONE)
			continue;
		ASSERT_LT(i, ut_find(i, id, UT_EV_EXIT, child, UT_ANY));
	}
	EXPECT_LE(0, ut_find(0, id, UT_EV_CLONE, UT_ANY, UT_ANY));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_EXIT, t->pid, UT_ANY));
}

/*
 * A process engine ends with the last thread of its process, when that is
 * reaped, and not with the thread that it was attached by.
 */
TEST_F(utrace, process_engine_ends_with_the_last_thread)
{
	const __u64 more = UT_BIT(REAP) | UT_BIT(EXIT);
	struct ut_target *t = &self->t;
	int id, tree;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->sh->tid[1], UT_ATTACH_PROCESS, UT_BIT(REAP));
	tree = ut_attach(t->pid, UT_ATTACH_TREE, UT_BIT(REAP));
	ASSERT_LT(0, id);
	ASSERT_LT(0, tree);
	t->sh->go[1] = UT_GO_END;
	ASSERT_LE(0, ut_wait(0, id, UT_EV_REAP, t->sh->tid[1], UT_ANY));
	EXPECT_EQ(0, ut_events(id, 0, more));
	t->sh->go[2] = UT_GO_EXIT_GROUP;
	ASSERT_LE(0, ut_wait(0, id, UT_EV_REAP, t->sh->tid[2], UT_ANY));
	/* The leader waits for its parent. */
	EXPECT_EQ(0, ut_events(id, 0, more));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_REAP, t->pid, UT_ANY));
	EXPECT_EQ(-ESRCH, ut_events(id, 0, more));
	EXPECT_EQ(-ESRCH, ut_events(id, 0, 0));
	EXPECT_EQ(-ESRCH, ut_filter(id, (int []) { UT_MARK_NR }, 1));
	/* A tree engine stays until it is detached. */
	EXPECT_EQ(0, ut_events(tree, 0, more));
}

/* Function of a target: make a ring, and then a thread of its own. */
static int polled(struct ut_target *t)
{
	ut_await(t);
	ring_setup_polled(t);
	ut_await(t);
	if (!ut_threads(t, 2))
		return 98;
	ut_spin(t);
	return 0;
}

/*
 * Start a target in the scope of @id, whose threads to come are held and whose
 * leader is not, and let it make a ring.  Returns the thread that the kernel
 * has made for the ring; 0 for none, or < 0.
 */
static pid_t worker_to_be_held(struct ut_target *t, struct ring *r, int *id)
{
	if (!r || !ut_spawn(t, polled) ||
	    !ut_until(ut_asleep_in(t->pid, SYS_read)))
		return -1;
	*id = ut_attach(t->pid, UT_ATTACH_PROCESS, 0);
	if (*id < 0 || ut_stop(*id, 0) ||
	    ut_control(*id, t->pid, UT_RESUME) || !ut_go(t) || !ut_hear(t))
		return -1;
	if (r->fd < 0)
		return 0;
	return ring_take(r, t->pid) ? ring_thread(t->pid, 0) ?: -1 : -1;
}

/* A thread that never runs user code has no place to stop at. */
TEST_F(utrace, hold_passes_over_workers_of_io_uring)
{
	struct ut_target *t = &self->t;
	struct ut_examine exam = {};
	struct ring *r = ring_new(t);
	pid_t worker, thread = 0;
	int id;

	worker = worker_to_be_held(t, r, &id);
	if (!worker)
		SKIP(return, "no ring with a thread (IO_URING): %s",
		     strerror(-r->fd));
	ASSERT_LT(0, worker);
	EXPECT_TRUE(ring_serves(r));
	/* The engine does not hold it. */
	exam.id = id;
	exam.tid = worker;
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	EXPECT_EQ(-EINVAL, exam.prepare);
	/* A thread of the program starts stopped. */
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until((thread = ring_thread(t->pid, worker))));
	ASSERT_TRUE(ut_held(thread));
	exam.tid = thread;
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	EXPECT_EQ(0, exam.prepare);
	EXPECT_TRUE(ring_serves(r));

	EXPECT_EQ(-ESRCH, ut_control(id, worker, UT_STOP));
	EXPECT_TRUE(ring_serves(r));
	EXPECT_EQ(0, ut_control(id, worker, UT_INTERRUPT));
	EXPECT_TRUE(ring_serves(r));
	/* A stop of all tasks does not include the worker. */
	EXPECT_EQ(-EINPROGRESS, ut_control(id, 0, UT_STOP));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	EXPECT_TRUE(ring_serves(r));
	EXPECT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_HARNESS_MAIN
