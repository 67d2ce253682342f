// SPDX-License-Identifier: GPL-2.0
/* utrace selftests - SIGKILL ends every stop, whatever sends it */
#include "cgroup.h"
#include "fixture.h"
#include "stoppoint.h"

/* Check that SIGKILL ended the target.  An exiting target keeps its status. */
static bool died_of_it(enum ut_point at, int status)
{
	if (ut_point_is_exit(at))
		return WIFEXITED(status) &&
		       WEXITSTATUS(status) == UT_POINT_CODE;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST_F(point, by_signal)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(died_of_it(variant->at, self->status));
	EXPECT_LE(0, ut_wait(0, id, UT_EV_DEATH, t->pid, UT_ANY));
}

/* SIGKILL wins although the engine answers UTRACE_STOP from now on. */
TEST_F(point, engine_that_always_stops)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);
	unsigned int ev;

	ASSERT_LT(0, id);
	for (ev = 0; ev < UT_EV_RELEASE; ev++)
		ASSERT_EQ(0, ut_rule(.id = id, .event = ev,
				     .answer = UT_STOP | UT_PASS));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(died_of_it(variant->at, self->status));
}

TEST_F(point, by_cgroup_kill)
{
	struct ut_target *t = &self->t;
	const char *why = ut_cg_make(NULL);

	if (why) {
		ut_cg_remove();
		SKIP(return, "%s", why);
	}
	EXPECT_EQ(0, ut_cg_add(t->pid));
	EXPECT_LT(0, ut_point_stop(t, variant->at));
	EXPECT_EQ(0, ut_cg_write("cgroup.kill", "1"));
	EXPECT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(died_of_it(variant->at, self->status));
	ut_cg_remove();
}

TEST_F(point, by_death_of_the_tracing_program)
{
	struct ut_target *t = &self->t;
	int status;
	pid_t pid;

	/* A process with a session of its own holds a target, and is killed. */
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		ut_be_child();
		if (ut_open() || ut_point_stop(t, variant->at) < 0)
			_exit(1);
		ut_say(t);
		for (;;)
			pause();
	}
	EXPECT_TRUE(ut_hear(t));
	EXPECT_EQ('t', ut_state(t->pid));
	ut_point_let_end(t);
	kill(pid, SIGKILL);
	ASSERT_EQ(1, ut_waitpid(pid, &status, 0));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(ut_point_ended_well(variant->at, self->status));
}

/*
 * Init of a pid namespace, of which the target is a child; value[10] is its
 * pid.
 */
static int ns_parent(struct ut_target *t)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID)) {
		t->sh->value[11] = errno;
		ut_say(t);
		return 99;
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pid = fork();
		if (!pid)
			_exit(ut_point_target(t));
		for (;;)
			pause();
	}
	t->sh->value[10] = pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

TEST_F(point, by_death_of_its_pid_namespace)
{
	struct ut_target ns = { .arg = variant->at }, in_ns;
	char children[64];
	pid_t init;

	ASSERT_TRUE(ut_spawn(&ns, ns_parent));
	ASSERT_TRUE(ut_hear(&ns));
	if (ns.sh->value[11])
		SKIP(return, "no pid namespaces: %s",
		     strerror(ns.sh->value[11]));
	ASSERT_TRUE(ut_until(ns.sh->value[10]));
	init = ns.sh->value[10];
	if (ut_read_file(children, sizeof(children),
			 "/proc/%d/task/%d/children", init, init) <= 0)
		SKIP(return, "no /proc/PID/task/TID/children");
	in_ns = ns;
	in_ns.pid = atoi(children);
	ASSERT_LT(0, ut_point_stop(&in_ns, variant->at));
	ASSERT_EQ(0, kill(init, SIGKILL));
	/* The init ends after all other tasks of its namespace. */
	ASSERT_TRUE(ut_reap(&ns, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, ut_state(in_ns.pid));
}

#define MIB	(1024 * 1024L)

static bool use_memory(long size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long i;

	if (p == MAP_FAILED)
		return false;
	for (i = 0; i < size; i += 4096)
		p[i] = 1;
	return true;
}

/* Function of the victim: join the cgroup first, which pays for the memory. */
static int oom_victim(struct ut_target *t)
{
	ut_await(t);
	if (ut_write_file("/proc/self/oom_score_adj", "1000") ||
	    !use_memory(32 * MIB))
		return 99;
	return ut_point_target(t);
}

/*
 * Function of the hog.  The OOM killer must not choose the hog while a child of
 * the victim still gives back the pages that both shared; the fault is then
 * repeated.
 */
static int oom_hog(struct ut_target *t)
{
	ut_await(t);
	if (ut_write_file("/proc/self/oom_score_adj", "-1000"))
		return 99;
	return use_memory(36 * MIB) ? 5 : 99;
}

static const char *oom_cgroup(void)
{
	const char *why = ut_cg_make("+memory");

	if (!why && ut_cg_write("memory.max", "50331648"))
		why = "cannot set memory.max";
	if (!why)
		ut_cg_write("memory.swap.max", "0");
	return why;
}

TEST_F(point, by_oom)
{
	struct ut_target victim = { .arg = variant->at }, hog = {};
	const char *why;

	if (variant->at == UT_AT_EXEC || variant->at == UT_AT_CREDS ||
	    variant->at == UT_HERE_EXEC)
		SKIP(return, "an exec gives the memory back itself");
	why = oom_cgroup();
	if (why) {
		ut_cg_remove();
		SKIP(return, "%s", why);
	}
	EXPECT_TRUE(ut_spawn(&victim, oom_victim));
	EXPECT_TRUE(ut_spawn(&hog, oom_hog));
	EXPECT_EQ(0, ut_cg_add(victim.pid));
	EXPECT_EQ(0, ut_cg_add(hog.pid));
	EXPECT_TRUE(ut_go(&victim));
	EXPECT_TRUE(ut_hear(&victim));
	EXPECT_LT(0, ut_point_stop(&victim, variant->at));
	EXPECT_TRUE(ut_go(&hog));
	/*
	 * The hog gets its memory only if the victim is killed and frees its
	 * own.
	 */
	EXPECT_TRUE(ut_reap(&hog, &self->status));
	EXPECT_TRUE(WIFEXITED(self->status));
	EXPECT_EQ(5, WEXITSTATUS(self->status));
	EXPECT_TRUE(ut_reap(&victim, &self->status));
	EXPECT_TRUE(died_of_it(variant->at, self->status));
	ut_cg_remove();
}

/* Thread 1 is held, thread 2 ends the process. */
TEST_F(utrace, exit_group)
{
	struct ut_target *t = &self->t;

	ASSERT_LT(0, ut_hold_thread(t));
	t->sh->go[2] = UT_GO_EXIT_GROUP;
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFEXITED(self->status));
	EXPECT_EQ(7, WEXITSTATUS(self->status));
}

TEST_F(utrace, exec)
{
	struct ut_target *t = &self->t;

	ASSERT_LT(0, ut_hold_thread(t));
	t->sh->go[2] = UT_GO_EXEC;
	EXPECT_TRUE(ut_became_helper(t->pid));
	EXPECT_EQ(0, ut_state(t->sh->tid[1]));
}

TEST_F(utrace, fatal_signal)
{
	struct ut_target *t = &self->t;

	ASSERT_LT(0, ut_hold_thread(t));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
}

/*
 * The thread that calls exit_group() and the threads that this ends can be held
 * at EXIT.  SIGKILL ends these stops.
 */
TEST_F(utrace, exit_stop_of_all_threads)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT,
			     .answer = UT_STOP));
	t->sh->go[2] = UT_GO_EXIT_GROUP;
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(ut_held(t->sh->tid[i]));
	EXPECT_EQ(3, ut_matches(0, id, UT_EV_EXIT, UT_ANY, UT_ANY));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFEXITED(self->status));
	EXPECT_EQ(7, WEXITSTATUS(self->status));
}

/* A thread that ends alone can be held at its exit while other threads run. */
TEST_F(utrace, exit_stop_of_one_thread)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->sh->tid[1], 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT,
			     .answer = UT_STOP));
	t->sh->go[1] = UT_GO_END;
	ASSERT_TRUE(ut_held(t->sh->tid[1]));
	EXPECT_TRUE(ut_thread_runs(t, 0));
	EXPECT_TRUE(ut_thread_runs(t, 2));
	/* The held thread does not keep the process from its end. */
	t->sh->go[2] = UT_GO_EXIT_GROUP;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(7, WEXITSTATUS(self->status));
}

/*
 * Thread 2 calls execve(), and an engine wants to hold the threads that the
 * execve() ends at EXIT: they report, and do not stop.
 */
TEST_F(utrace, exec_lets_nobody_stop_at_exit)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT,
			     .answer = UT_STOP));
	t->sh->go[2] = UT_GO_EXEC;
	ASSERT_TRUE(ut_became_helper(t->pid));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(1, ut_matches(0, id, UT_EV_EXIT, t->sh->tid[i],
					UT_ANY));
	EXPECT_EQ(0, ut_state(t->sh->tid[1]));
}

/*
 * A thread that ends alone is held at EXIT when another thread calls execve().
 */
TEST_F(utrace, exec_ends_a_stop_at_exit)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->sh->tid[1], 0, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT,
			     .answer = UT_STOP));
	t->sh->go[1] = UT_GO_END;
	ASSERT_TRUE(ut_held(t->sh->tid[1]));
	t->sh->go[2] = UT_GO_EXEC;
	EXPECT_TRUE(ut_became_helper(t->pid));
	EXPECT_EQ(0, ut_state(t->sh->tid[1]));
}

/* SIGKILL races with the stop. */
TEST_F(utrace, kill_while_it_stops)
{
	struct ut_target t;
	int i, id;

	for (i = 0; i < 100; i++) {
		memset(&t, 0, sizeof(t));
		ut_npids = 0;
		ASSERT_TRUE(ut_spawn(&t, ut_spin));
		id = ut_attach(t.pid, 0, UT_BIT(QUIESCE) | UT_BIT(EXIT));
		ASSERT_LT(0, id);
		ut_rule(.id = id, .event = UT_EV_EXIT, .answer = UT_STOP);
		ASSERT_EQ(0, ut_stop(id, 0));
		ASSERT_EQ(0, kill(t.pid, SIGKILL));
		ASSERT_TRUE(ut_reap(&t, &self->status));
		EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
		ut_detach(id);
		munmap(t.sh, sizeof(*t.sh));
		close(t.to[0]);
		close(t.to[1]);
		close(t.from[0]);
		close(t.from[1]);
	}
}

TEST_HARNESS_MAIN
