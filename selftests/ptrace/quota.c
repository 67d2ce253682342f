// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - what a tracee can cost its tracer and other processes
 *
 * A tracee decides how many children it has.  A further tracer of another user
 * follows all of them, and can still attach to other tracees as before.
 */
#include <sys/resource.h>

#include "two.h"

#define ENGINES		"/proc/sys/user/max_utrace_engines"
#define ENGINES_MAX	6
#define CHILDREN	8	/* of each kind */
#define UNREAD		40
#define OWNER		(TWO_NOBODY - 5)	/* the user of the tracee */
#define OTHER		(TWO_NOBODY - 6)

/* Elements of ut_shared.value of the tracee. */
enum { MADE, FAILED, OVER };

FIXTURE(quota) {
	struct two_data two;
	struct ut_target another;
	char engines[16];	/* the limit before the test */
};

FIXTURE_SETUP(quota)
{
	/* A kernel that has no such file has no TWO_SYSCTL either. */
	ut_read_file(self->engines, sizeof(self->engines), ENGINES);
	ASSERT_TRUE(actor_spawn(&self->another));
	tracers_setup(_metadata, &self->two, NULL);
}

FIXTURE_TEARDOWN(quota)
{
	EXPECT_EQ(0, ut_write_file(ENGINES, self->engines));
	tracers_teardown(_metadata, &self->two, NULL);
}

static bool set_engines(int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	return !ut_write_file(ENGINES, text);
}

static void count(struct ut_shared *sh, bool made)
{
	sh->value[made ? MADE : FAILED]++;
}

static struct ut_shared *of_tracee;

static void *lasts(void *arg)
{
	while (!of_tracee->quit)
		usleep(10000);
	return arg;
}

static void child_lasts(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lasts(NULL);
	_exit(0);
}

static bool begin(struct ut_target *t)
{
	of_tracee = t->sh;
	two_block(SIGCHLD);
	if (!two_become(OWNER))
		return false;
	ut_say(t);
	while (!t->sh->go[0] && !t->sh->quit)
		t->sh->counter++;
	return true;
}

/* Function of a target: make children and threads, which stay. */
static int has_children(struct ut_target *t)
{
	pthread_t thread;
	pid_t pid;
	int i;

	if (!begin(t))
		return 97;
	for (i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (!pid)
			child_lasts();
		count(t->sh, pid > 0);
		count(t->sh, !pthread_create(&thread, NULL, lasts, NULL));
		/* The child of vfork() ends, and is not reaped. */
		pid = vfork();
		if (!pid)
			_exit(0);
		count(t->sh, pid > 0);
	}
	t->sh->value[OVER] = 1;
	return ut_spin(t);
}

/* Function of a target: make children, which end and are reaped. */
static int had_children(struct ut_target *t)
{
	pid_t pid;
	int i;

	if (!begin(t))
		return 97;
	for (i = 0; i < UNREAD; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		count(t->sh, pid > 0);
		if (pid > 0)
			waitpid(pid, NULL, __WALL);
	}
	t->sh->value[OVER] = 1;
	return ut_spin(t);
}

/* The events and children that a tracer has read of the tracee. */
struct told {
	int events;
	int children;	/* that have stopped for the tracer */
};

/* Resume one task from one stop; false if there is none. */
static bool follow_once(struct two_tracer *tr, struct told *told)
{
	long status = two_pass(tr, -1, false);

	if (status < 0)
		return false;
	if (status == TWO_TRAP)
		told->children++;
	else if (status >> 16)
		told->events++;
	return true;
}

/* Resume all until the tracee has done what it does. */
static bool follow(struct two_tracer **tr, struct told *told, int n,
		   struct ut_target *t)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	bool over, busy;
	int i;

	t->sh->go[0] = 1;
	do {
		over = t->sh->value[OVER];
		busy = false;
		for (i = 0; i < n; i++)
			busy = follow_once(tr[i], &told[i]) || busy;
		if (over && !busy)
			return true;
	} while (ut_now_ms() < end);
	return false;
}

/* Resume the tracee and its children, and leave the ends unread. */
static bool ends_unread(struct two_tracer *tr, struct ut_target *t)
{
	long end = ut_now_ms() + UT_DEADLINE_MS, status;
	pid_t child;

	t->sh->go[0] = 1;
	while (!t->sh->value[OVER] && ut_now_ms() < end) {
		status = two_poll(tr, t->pid);
		if (status < 0)
			continue;
		child = two_message(tr, t->pid);
		if (two_wait(tr, child) != TWO_TRAP || two_cont(tr, child, 0))
			return false;
		two_cont(tr, t->pid, 0);
	}
	return t->sh->value[OVER];
}

/* Let @s follow the tracee as a further tracer alone, after @first. */
static bool begin_to_follow(struct ut_target *t, int (*fn)(struct ut_target *t),
			    struct two_tracer *first, struct two_tracer *s)
{
	return ut_spawn(t, fn) && ut_hear(t) && ut_runs(t) &&
	       !two_seize(first, t->pid, 0) &&
	       !two_seize(s, t->pid, PASS_FOLLOWS) && two_leave(first, t->pid);
}

/* Check that the tracers can seize a task as its first and a further tracer. */
static bool can_trace(struct two_tracer *first, struct two_tracer *further,
		      pid_t pid)
{
	long one = two_seize(first, pid, 0), two = two_seize(further, pid, 0);

	if (!one && !two)
		return true;
	printf("# first %ld, further %ld\n", one, two);
	return false;
}

TEST_F(quota, all_children_are_followed)
{
	struct two_tracer *p = &self->two.p, *s = &self->two.s;
	struct ut_target *t = &self->two.t;
	struct told told = {};

	ASSERT_TRUE(begin_to_follow(t, has_children, p, s));
	ASSERT_TRUE(set_engines(ENGINES_MAX));
	ASSERT_TRUE(follow(&s, &told, 1, t));
	EXPECT_EQ(0, t->sh->value[FAILED]);
	EXPECT_EQ(3 * CHILDREN, t->sh->value[MADE]);
	EXPECT_EQ(3 * CHILDREN, told.events);
	EXPECT_EQ(3 * CHILDREN, told.children);
	/* The tracer and other tracers of its user can attach as before. */
	EXPECT_TRUE(can_trace(p, &self->two.s2, self->another.pid));
}

/* As above, beside a first tracer that follows, too. */
TEST_F(quota, all_children_are_followed_by_both)
{
	struct two_tracer *tr[] = { &self->two.p, &self->two.s };
	struct ut_target *t = &self->two.t;
	struct told told[2] = {};

	ASSERT_TRUE(ut_spawn(t, has_children));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(tr[0], t->pid, PASS_FOLLOWS));
	ASSERT_EQ(0, two_seize(tr[1], t->pid, PASS_FOLLOWS));
	ASSERT_TRUE(set_engines(ENGINES_MAX));
	ASSERT_TRUE(follow(tr, told, 2, t));
	EXPECT_EQ(0, t->sh->value[FAILED]);
	EXPECT_EQ(3 * CHILDREN, told[0].events);
	EXPECT_EQ(3 * CHILDREN, told[0].children);
	EXPECT_EQ(3 * CHILDREN, told[1].events);
	EXPECT_EQ(3 * CHILDREN, told[1].children);
	EXPECT_TRUE(can_trace(tr[0], &self->two.s2, self->another.pid));
}

/* Let OWNER fork with a limit of UNREAD processes; 0, the errno, or -1. */
static int owner_fork(void)
{
	struct rlimit limit = { UNREAD, UNREAD };
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (setrlimit(RLIMIT_NPROC, &limit) || !two_become(OWNER))
			_exit(97);
		pid = fork();
		_exit(pid < 0 ? errno : 0);
	}
	return ut_waitpid(pid, &status, 0) == 1 && WIFEXITED(status) ?
		WEXITSTATUS(status) : -1;
}

/*
 * An unread end keeps the pid and memory.  RLIMIT_NPROC of the tracee's user is
 * charged.
 */
TEST_F(quota, unread_ends_cost_others_nothing)
{
	struct two_tracer own[2] = {}, other[2] = {};
	struct ut_target *t = &self->two.t, of_other = {};
	int i;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(two_start_as(&own[i], OWNER));
		ASSERT_TRUE(two_start_as(&other[i], OTHER));
	}
	ASSERT_TRUE(actor_spawn_as(&of_other, OTHER));
	ASSERT_TRUE(begin_to_follow(t, had_children, &own[0], &own[1]));
	ASSERT_TRUE(set_engines(ENGINES_MAX));
	ASSERT_TRUE(ends_unread(&own[1], t));
	EXPECT_EQ(UNREAD, t->sh->value[MADE]);
	EXPECT_EQ(EAGAIN, owner_fork());
	EXPECT_TRUE(can_trace(&other[0], &other[1], of_other.pid));
	EXPECT_TRUE(can_trace(&self->two.p, &self->two.s2, self->another.pid));
	ASSERT_TRUE(two_leave(&other[1], of_other.pid));
	ASSERT_TRUE(two_leave(&other[0], of_other.pid));
	actor_do(&of_other, ACTOR_FORKS);
	of_other.sh->go[1] = 1;
	EXPECT_TRUE(actor_did(&of_other, 1));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), of_other.sh->value[ACTOR_STATUS]);
	/* The ends go with their tracer, and nothing stays charged. */
	ASSERT_EQ(0, kill(own[1].t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&own[1].t, &self->two.status));
	EXPECT_TRUE(ut_until(!owner_fork()));
	memset(&own[1], 0, sizeof(own[1]));
	ASSERT_TRUE(two_start_as(&own[1], OWNER));
	ASSERT_EQ(0, two_seize(&own[0], t->pid, 0));
	EXPECT_TRUE(ut_until(!two_seize(&own[1], t->pid, 0)));
}

TEST_HARNESS_MAIN
