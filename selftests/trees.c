// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a tree engine covers every descendant of its target
 *
 * Engines attach and detach while processes of the tree are born and die,
 * change their parents and lose them.  The target is a subreaper, so no process
 * leaves its tree alive.  After each attach the tree pauses for a moment, and
 * the test checks all its tasks.
 */
#include <dirent.h>
#include <linux/sched.h>

#include "target.h"

#define STORM_MS	(ut_is_slow() ? 8000 : 4000)
/* The most processes of the tree at one time. */
#define MOST		60

/* Elements of ut_shared.value. */
enum {
	V_LIVE,			/* processes alive */
	V_BORN,			/* processes that have been born */
	V_STILL,		/* 1: no process may be born or die */
};

FIXTURE(trees) {
	struct ut_target t;
};

FIXTURE_SETUP(trees)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	if (access("/proc/self/task/1/children", F_OK) &&
	    access("/proc/thread-self/children", F_OK))
		SKIP(return, "no /proc/TID/children");
}

FIXTURE_TEARDOWN(trees)
{
	if (self->t.sh) {
		self->t.sh->quit = 1;
		self->t.sh->value[V_STILL] = 0;
	}
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

static struct ut_shared *sh;

static void rest(void)
{
	while (sh->value[V_STILL] && !sh->quit)
		ut_sleep_ms(1);
}

/* The life of a process that has nothing to do. */
static void live(unsigned int n)
{
	prctl(PR_SET_PDEATHSIG, 0);
	alarm(60);
	ut_sleep_ms(1 + n % 7 * 3);
	rest();
	sh->value[V_LIVE]--;
	_exit(0);
}

/* Count one more process if there is room for it; else false. */
static bool birth(void)
{
	rest();
	if (sh->quit)
		_exit(0);
	if (sh->value[V_LIVE]++ < MOST) {
		sh->value[V_BORN]++;
		return true;
	}
	sh->value[V_LIVE]--;
	ut_sleep_ms(1);
	return false;
}

/* Make a grandchild whose parent ends. */
static void orphan(unsigned int n)
{
	pid_t pid;

	if (!birth())
		return;
	pid = fork();
	if (!pid) {
		if (!fork())
			live(n);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Make a sibling instead of a child. */
static void sibling(unsigned int n)
{
	if (birth() &&
	    !syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0))
		live(n);
}

static void *forking_thread(void *arg)
{
	if (birth() && !fork())
		live((long)arg);
	/* The child gets another thread of the process as its parent. */
	return NULL;
}

static void threads(unsigned int n)
{
	pthread_t thread[3];
	long i;

	for (i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, forking_thread,
				   (void *)(i + n)))
			_exit(1);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/*
 * Make a subreaper that ends, so that its children go to the subreaper above.
 */
static void reaper(unsigned int n)
{
	pid_t pid = fork();
	int i;

	if (!pid) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		for (i = 0; i < 4; i++)
			orphan(n + i);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *survivor(void *arg)
{
	int i;

	for (i = 0; i < 3; i++)
		if (birth() && !fork())
			live((long)arg);
	ut_sleep_ms(3);
	rest();
	_exit(0);
	return NULL;
}

/* Make a process whose leader is a zombie and whose other thread forks. */
static void headless(unsigned int n)
{
	pthread_t thread;
	pid_t pid = fork();

	if (!pid) {
		if (!pthread_create(&thread, NULL, survivor, (void *)(long)n))
			syscall(SYS_exit, 0);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void (* const deeds[])(unsigned int n) = {
	orphan, sibling, threads, reaper, headless,
};

static void *reap_all(void *arg)
{
	while (!sh->quit) {
		if (waitpid(-1, NULL, __WALL) <= 0)
			ut_sleep_ms(2);
	}
	return arg;
}

/* Start one worker for each deed; a worker does some of the other deeds too. */
static int family(struct ut_target *t)
{
	pthread_t thread;
	unsigned int i, n;

	sh = t->sh;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < ARRAY_SIZE(deeds); i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (n = 0; ; n++)
			deeds[n % 3 ? i : (i + n) % ARRAY_SIZE(deeds)](n);
	}
	if (pthread_create(&thread, NULL, reap_all, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

struct found {
	int tasks;
	int without;
	int with;
	int alive;		/* living tasks of @with */
	pid_t who;		/* one task of @without */
};

/*
 * Check whether the task has an engine of the test's module.  1: yes, 0: no, 2:
 * yes, but the task is dead, -1: no, and the task is dead or gone.
 */
static int has_engine(pid_t pid, pid_t tid)
{
	char buf[8192];
	char path[64], state;

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	if (ut_read_file(buf, sizeof(buf), "%s/utrace", path) <= 0)
		return -1;
	state = ut_state(tid);
	if (!state || state == 'Z' || state == 'X')
		return strstr(buf, "test_engine ") ? 2 : -1;
	return strstr(buf, "test_engine ") ? 1 : 0;
}

static void look_at(struct found *f, pid_t pid, pid_t tid)
{
	int has = has_engine(pid, tid);

	f->tasks++;
	f->with += has > 0;
	f->alive += has == 1;
	if (has)
		return;
	f->without++;
	f->who = tid;
}

/* Call @fn for each thread of a process. */
static void each_task(pid_t pid, struct found *f,
		      void (*fn)(struct found *f, pid_t pid, pid_t tid))
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((d = readdir(dir)))
		if (atoi(d->d_name) > 0)
			fn(f, pid, atoi(d->d_name));
	closedir(dir);
}

static void look_below(struct found *f, pid_t pid, pid_t tid)
{
	char buf[16384], *p = buf;
	pid_t child;
	int n;

	look_at(f, pid, tid);
	if (ut_read_file(buf, sizeof(buf), "/proc/%d/task/%d/children", pid,
			 tid) <= 0)
		return;
	while (sscanf(p, "%d%n", &child, &n) == 1) {
		each_task(child, f, look_below);
		p += n;
	}
}

static struct found look_everywhere(void)
{
	struct found f = {};
	struct dirent *d;
	DIR *dir = opendir("/proc");

	while (dir && (d = readdir(dir)))
		if (atoi(d->d_name) > 0)
			each_task(atoi(d->d_name), &f, look_at);
	if (dir)
		closedir(dir);
	return f;
}

static struct found look_at_tree(pid_t pid)
{
	struct found f = {};

	each_task(pid, &f, look_below);
	return f;
}

static void attach_and_look(struct __test_metadata *_metadata,
			    struct ut_target *t, int settle_ms)
{
	long end, tasks = 0;
	int rounds = 0;

	ASSERT_TRUE(ut_spawn(t, family));
	ASSERT_TRUE(ut_until(t->sh->value[V_BORN] > 50));
	end = ut_now_ms() + STORM_MS;
	/* A slow kernel makes a few rounds at least. */
	while (ut_now_ms() < end || rounds < 4) {
		struct found f;
		int id = ut_attach_full(t->pid, UT_ATTACH_TREE, UT_OPS_FULL, ~0U);

		if (settle_ms)
			ut_sleep_ms(settle_ms);
		t->sh->value[V_STILL] = 1;
		ASSERT_LT(0, id);
		f = look_at_tree(t->pid);
		ASSERT_EQ(0, f.without) {
			TH_LOG("round %d: %d of %d lack an engine, one is %d",
			       rounds, f.without, f.tasks, f.who);
		}
		EXPECT_LT(5, f.with);
		tasks += f.with;
		t->sh->value[V_STILL] = 0;

		ut_sleep_ms(rounds % 5 * 2);
		id = ut_detach(id);
		ASSERT_TRUE(!id || id == -EINPROGRESS);
		t->sh->value[V_STILL] = 1;
		f = look_everywhere();
		ASSERT_EQ(0, f.with) {
			TH_LOG("round %d: left on %d tasks", rounds, f.with);
		}
		t->sh->value[V_STILL] = 0;
		rounds++;
	}
	TH_LOG("%d rounds, %ld tasks checked, %ld born", rounds, tasks,
	       t->sh->value[V_BORN]);
}

/* The attach misses no task that exists when it is over. */
TEST_F(trees, nobody_is_missed)
{
	attach_and_look(_metadata, &self->t, 0);
}

/* No task that is born after the attach is missed. */
TEST_F(trees, nobody_gets_out)
{
	attach_and_look(_metadata, &self->t, 50);
}

/*
 * utrace_set_events() reaches all tasks, and those that join while it runs:
 * each task that ends reports its EXIT.
 */
TEST_F(trees, set_events_reaches_all)
{
	struct ut_target *t = &self->t;
	long before, told;
	int id;

	ASSERT_TRUE(ut_spawn(t, family));
	ASSERT_TRUE(ut_until(t->sh->value[V_BORN] > 50));
	id = ut_attach_full(t->pid, UT_ATTACH_TREE, UT_OPS_FULL, ~0U);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(EXIT)));
	t->sh->value[V_STILL] = 1;
	/* Tasks in the middle of a deed need time to finish it. */
	ut_sleep_ms(200);
	before = look_at_tree(t->pid).alive;
	told = ut_count(id, UT_EV_EXIT);
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	t->sh->quit = 1;
	t->sh->value[V_STILL] = 0;
	EXPECT_TRUE(ut_until(ut_count(id, UT_EV_EXIT) - told >= before)) {
		TH_LOG("%ld of %ld ends were reported",
		       ut_count(id, UT_EV_EXIT) - told, before);
	}
	EXPECT_TRUE(ut_until(look_everywhere().alive == 0));
}

TEST_HARNESS_MAIN
