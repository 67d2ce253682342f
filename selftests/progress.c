// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - tasks and attaches go on
 *
 * A task delays no other task by what it does, whatever engine is attached, and
 * an attach ends whatever the tasks do.
 *
 * Times are compared with times of the same boot, taken without the engine or
 * the load, and the best of a few tries counts: a defect makes an operation
 * take for ever, or grow with a number that it should not depend on.
 */
#include "storm.h"

#include "target.h"

#define TRIES		3
#define WORST_FACTOR	3
/* For an operation that only waits for its turn on a busy machine. */
#define DONE_MS		(60000 * ut_patience())
/* The limit of a test in seconds, which is reached only if something hangs. */
#define TEST_S		(240 * ut_patience())

FIXTURE(progress) {
	struct storm s;
	struct ut_target t;
};

FIXTURE_SETUP(progress)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(storm_init(&self->s));
}

/* End the storm first, since the detach may have to wait for it. */
FIXTURE_TEARDOWN(progress)
{
	EXPECT_EQ(0, storm_end(&self->s));
	if (self->t.sh)
		self->t.sh->quit = 1;
	ut_kill_targets();
	storm_unmatch();
	EXPECT_EQ(0, ut_close());
}

/* An operation in a child, so that the test goes on if it hangs. */
struct run {
	pid_t pid;
	long began;
};

static bool run_begin(struct storm *s, struct run *run, int (*fn)(void *arg),
		      void *arg)
{
	run->began = storm_us();
	run->pid = storm_fork(s);
	if (!run->pid)
		_exit(fn(arg));
	return run->pid > 0;
}

/* Exit status of the child, or -1 if it does not end in time. */
static int run_end(struct run *run, long ms)
{
	long end = ut_now_ms() + ms;
	int status;
	pid_t pid;

	while (!(pid = waitpid(run->pid, &status, WNOHANG)) && ut_now_ms() < end)
		ut_sleep_ms(2);
	return pid == run->pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * The bystander's worst round beside a storm, with or without the engine.  Each
 * call makes a storm of its own, since a storm with the engine may have to be
 * killed before the engine can be detached.
 */
static long worst_of(struct __test_metadata *_metadata, struct storm *s,
		     bool engine, bool (*begin)(struct storm *s))
{
	long ms = storm_slow() ? 5000 : 3000, worst, forks;
	pid_t victim;

	/*
	 * If the storm keeps the test itself from running, the storm ends after
	 * this.
	 */
	s->seconds = 20 * ut_patience();
	ASSERT_TRUE(storm_bystander(s));
	ASSERT_TRUE(begin(s));
	ut_sleep_ms(500);
	/* Turning the tracer on counts, too. */
	s->sh->worst = 0;
	if (engine)
		ASSERT_EQ(0, storm_tracer(true));
	ut_sleep_ms(ms);
	worst = storm_worst(s);
	/* The workers still run. */
	forks = s->sh->done[STORM_FORK];
	EXPECT_TRUE(ut_until(s->sh->done[STORM_FORK] > forks));
	/* A worker can be killed while the other workers go on. */
	victim = s->pid[0];
	EXPECT_EQ(0, kill(victim, SIGKILL));
	EXPECT_TRUE(ut_until(waitpid(victim, NULL, WNOHANG) == victim));
	ASSERT_EQ(0, storm_end(s));
	if (engine)
		ASSERT_EQ(0, storm_tracer(false));
	return worst;
}

static void bystander_is_left_alone(struct __test_metadata *_metadata,
				    struct storm *s,
				    bool (*begin)(struct storm *s))
{
	long with = 0, without = 0;
	int i;

	for (i = 0; i < TRIES; i++) {
		without = worst_of(_metadata, s, false, begin);
		with = worst_of(_metadata, s, true, begin);
		TH_LOG("worst fork, exec and wait: %ld us, %ld without the engine",
		       with, without);
		if (with <= WORST_FACTOR * without)
			return;
	}
	EXPECT_LE(with, WORST_FACTOR * without);
}

static bool rename_and_fork(struct storm *s)
{
	return storm_add(s, STORM_RENAME_ONE, 1) && storm_add(s, STORM_FORK, 2);
}

/*
 * Four threads rename a fifth one, which makes calls and which no engine wants.
 * So the fifth must ask the match again all the time; each answer takes a
 * while, and needs the lock that the renamers take.
 */
TEST_F_TIMEOUT(progress, renamers, TEST_S)
{
	int ret = storm_match("comms", "nobody", 500);

	if (ret)
		SKIP(return, "no process tracer: %s", strerror(-ret));
	bystander_is_left_alone(_metadata, &self->s, rename_and_fork);
}

static bool rename_exec_fork(struct storm *s)
{
	return storm_add(s, STORM_RENAME_SELF, 1) &&
	       storm_add(s, STORM_EXEC, 1) && storm_add(s, STORM_FORK, 1) &&
	       storm_add(s, STORM_THREADS, 1);
}

TEST_F_TIMEOUT(progress, everything, TEST_S)
{
	int ret = storm_match("comms", "nobody", 20);

	if (ret)
		SKIP(return, "no process tracer: %s", strerror(-ret));
	bystander_is_left_alone(_metadata, &self->s, rename_exec_fork);
}

/* Attach to @pid with each scope and detach, 100 times. */
static int attach_often(void *arg)
{
	static const __u32 scopes[] = { 0, UT_ATTACH_PROCESS, UT_ATTACH_TREE };
	pid_t pid = *(pid_t *)arg;
	int i, id;

	for (i = 0; i < 100; i++) {
		id = ut_attach_full(pid, scopes[i % 3], UT_OPS_FULL, ~0U);
		if (id < 0 || ut_events(id, 0, UT_SYSCALL))
			return 1;
		id = ut_detach(id);
		if (id && id != -EINPROGRESS)
			return 2;
	}
	return 0;
}

/*
 * Threads whose sets are out of date all the time, more often than a walk over
 * the tree takes, do not keep an attach from completing.
 */
TEST_F_TIMEOUT(progress, attach_to_renamers, TEST_S)
{
	int ret = storm_match("comms", "nobody", 1), id;
	struct storm *s = &self->s;
	struct run run;
	pid_t pid;

	if (ret)
		SKIP(return, "no process tracer: %s", strerror(-ret));
	s->crowd = storm_slow() ? 500 : 3000;
	ASSERT_TRUE(storm_add(s, STORM_RENAME_SELF, 1));
	pid = s->pid[0];
	ASSERT_TRUE(ut_until(s->sh->done[STORM_RENAME_SELF]));
	/* The threads have sets, which they have to renew. */
	id = ut_attach_full(pid, UT_ATTACH_PROCESS, UT_OPS_FULL, ~0U);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
	ASSERT_EQ(0, storm_tracer(true));
	ASSERT_TRUE(ut_until(s->sh->done[STORM_RENAME_SELF] > 100));
	ASSERT_TRUE(run_begin(s, &run, attach_often, &pid));
	EXPECT_EQ(0, run_end(&run, DONE_MS));
	TH_LOG("100 attaches beside %d processes in %ld ms, %ld renames", s->crowd,
	       (storm_us() - run.began) / 1000, s->sh->done[STORM_RENAME_SELF]);
	EXPECT_EQ(0, storm_end(s));
}

#define LINK_STACK	(16 << 10)

/*
 * A chain of processes, each the child of the one before; all wait.  They share
 * their memory, since copies of copies of it would make fork() slower and
 * slower.
 */
static int chain_link(void *arg)
{
	struct ut_target *t = arg;
	static char *stacks;
	static long depth;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!stacks)
		stacks = mmap(NULL, LINK_STACK * t->arg, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		return 1;
	if (++depth == t->arg) {
		t->sh->value[0] = getpid();
		ut_say(t);
	} else if (clone(chain_link, stacks + LINK_STACK * depth,
			 CLONE_VM | SIGCHLD, t) < 0) {
		return 1;
	}
	for (;;)
		pause();
}

static int chain(struct ut_target *t)
{
	return chain_link(t);
}

/* The shortest of a few attaches of a tree engine to @pid, in microseconds. */
static long attach_time(struct __test_metadata *_metadata, pid_t pid)
{
	long best = 0, took, end = ut_now_ms() + 8000;
	int i, id;

	for (i = 0; i < 10 && (!i || ut_now_ms() < end); i++) {
		took = storm_us();
		id = ut_attach_full(pid, UT_ATTACH_TREE, UT_OPS_FULL, ~0U);
		took = storm_us() - took;
		ASSERT_LT(0, id);
		ut_detach(id);
		if (!i || took < best)
			best = took;
	}
	return best;
}

static int attach_trees(void *arg)
{
	int id;

	for (;;) {
		id = ut_attach_full(*(pid_t *)arg, UT_ATTACH_TREE, UT_OPS_FULL,
				    ~0U);
		if (id < 0)
			return 1;
		ut_detach(id);
	}
}

/* The bystander's worst round while tree engines of @pid attach and detach. */
static long worst_beside_attach(struct __test_metadata *_metadata,
				struct storm *s, pid_t pid)
{
	struct run run;
	long worst;

	ASSERT_TRUE(storm_bystander(s));
	ASSERT_TRUE(run_begin(s, &run, attach_trees, &pid));
	s->sh->worst = 0;
	ut_sleep_ms(storm_slow() ? 5000 : 3000);
	worst = storm_worst(s);
	ASSERT_EQ(0, storm_end(s));
	return worst;
}

/*
 * An attach to the last process of a long chain takes no longer than one to a
 * single process.  A factor of ten and some clock ticks allow for the
 * measurement.
 */
#define TICKS	20000	/* microseconds */

TEST_F_TIMEOUT(progress, chain, TEST_S)
{
	struct storm *s = &self->s;
	struct ut_target lone = {};
	long alone, inside = 0, worst_alone, worst_inside = 0;
	pid_t leaf;
	int i;

	ASSERT_TRUE(ut_spawn(&lone, ut_marks));
	alone = attach_time(_metadata, lone.pid);
	worst_alone = worst_beside_attach(_metadata, s, lone.pid);

	self->t.arg = storm_slow() ? 1000 : 4000;
	ASSERT_TRUE(ut_spawn(&self->t, chain));
	for (i = 0; i < 4 && !self->t.sh->value[0]; i++)
		ut_hear(&self->t);
	leaf = self->t.sh->value[0];
	ASSERT_LT(0, leaf);
	for (i = 0; i < TRIES; i++) {
		inside = attach_time(_metadata, leaf);
		TH_LOG("attach: %ld us, in a chain of %ld processes %ld us",
		       alone, self->t.arg, inside);
		if (inside <= 10 * alone + TICKS)
			break;
	}
	EXPECT_LE(inside, 10 * alone + TICKS);

	for (i = 0; i < TRIES; i++) {
		worst_inside = worst_beside_attach(_metadata, s, leaf);
		TH_LOG("worst fork, exec and wait beside attach: %ld us, in a chain %ld us",
		       worst_alone, worst_inside);
		if (worst_inside <= WORST_FACTOR * worst_alone)
			break;
	}
	EXPECT_LE(worst_inside, WORST_FACTOR * worst_alone);
	/*
	 * For comparison: a tree engine on the whole chain, with that many
	 * members.
	 */
	alone = attach_time(_metadata, self->t.pid);
	TH_LOG("attach to all of them: %ld us", alone);
	lone.sh->quit = 1;
}

/* Make a copy of the helper that changes the user of its caller. */
static bool make_setid(char *path)
{
	char command[3 * PATH_MAX];
	struct stat st;
	int fd = mkstemp(path);

	if (fd < 0)
		return false;
	close(fd);
	snprintf(command, sizeof(command),
		 "cp '%s' %s && chown 12345:12345 %s && chmod 6755 %s",
		 ut_helper(), path, path, path);
	return !system(command) && !stat(path, &st) && st.st_mode & S_ISUID;
}

/* Attach tree engines to the workers of a storm, in a session of its own. */
static int control_trees(void *arg)
{
	struct storm *s = arg;
	unsigned int i;

	if (ut_open())
		return 1;
	for (i = 0; ; i++) {
		int id = ut_attach_full(s->pid[i % 3], UT_ATTACH_TREE,
					UT_OPS_FULL, ~0U);

		if (id < 0)
			return 2;
		if (ut_events(id, 0, UT_BIT(EXEC) | UT_BIT(CREDS) | UT_SYSCALL))
			return 3;
		id = ut_detach(id);
		if (id && id != -EINPROGRESS)
			return 4;
		s->sh->done[STORM_THREADS]++;
	}
}

/*
 * Programs that change their user run under a match by user, while three
 * controllers attach and detach tree engines.  All of them make progress and
 * can be killed.
 */
TEST_F_TIMEOUT(progress, setid_and_controllers, TEST_S)
{
	char path[] = "/tmp/utrace_setid_XXXXXX";
	struct storm *s = &self->s;
	struct run run[3];
	long before[2];
	int ret, i;

	ret = storm_match("uids", "4321", 1);
	if (ret)
		SKIP(return, "no process tracer: %s", strerror(-ret));
	ret = make_setid(path);
	s->setid = path;
	if (!ret) {
		unlink(path);
		SKIP(return, "no set-id programs here");
	}
	ASSERT_EQ(0, storm_tracer(true));
	EXPECT_TRUE(storm_add(s, STORM_SETID, 2));
	EXPECT_TRUE(storm_add(s, STORM_FORK, 1));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(run_begin(s, &run[i], control_trees, s));
	ut_sleep_ms(storm_slow() ? 10000 : 5000);
	before[0] = s->sh->done[STORM_SETID];
	before[1] = s->sh->done[STORM_THREADS];
	EXPECT_LT(0, before[0]);
	EXPECT_LT(0, before[1]);
	EXPECT_TRUE(ut_until(s->sh->done[STORM_SETID] > before[0]));
	EXPECT_TRUE(ut_until(s->sh->done[STORM_THREADS] > before[1]));
	TH_LOG("%ld executions, %ld attaches", s->sh->done[STORM_SETID],
	       s->sh->done[STORM_THREADS]);
	for (i = 0; i < 3; i++) {
		long killed = ut_now_ms();
		int status = 0;

		EXPECT_EQ(0, kill(run[i].pid, SIGKILL));
		EXPECT_TRUE(ut_until(waitpid(run[i].pid, &status, WNOHANG) ==
				     run[i].pid));
		/* The controller was killed, and did not fail before. */
		EXPECT_EQ(SIGKILL, status);
		TH_LOG("controller %d killed in %ld ms", i,
		       ut_now_ms() - killed);
	}
	EXPECT_EQ(0, s->sh->failed);
	EXPECT_EQ(0, storm_end(s));
	unlink(path);
}

TEST_HARNESS_MAIN
