// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - several tracers of a task in another namespace
 *
 * A tracer reads the numbers of its own pid namespace.  A user namespace gives
 * no rights over a task that came from outside, however many tracers the task
 * has.
 */
#include <dirent.h>
#include <sys/mount.h>

#include "setid.h"

#define CHILD_ENDED	two_exit(ACTOR_CHILD_CODE)

/* Pid namespaces */

/* Find out both numbers of a thread, which is in a namespace of its own. */
static bool numbers_of(pid_t tid, int *outer, int *inner)
{
	char buf[8192], *line;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/status", tid) <= 0)
		return false;
	line = strstr(buf, "\nNSpid:");
	return line && sscanf(line, "\nNSpid: %d %d", outer, inner) == 2;
}

/* The number outside of a thread of @pid that is @tid inside, or -1. */
static pid_t outer_tid(pid_t pid, pid_t tid)
{
	char path[64];
	struct dirent *entry;
	pid_t found = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int outer = 0, inner = 0;

		if (numbers_of(atoi(entry->d_name), &outer, &inner) &&
		    inner == tid)
			found = outer;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A tracer reads the event FORK; the message, or -errno. */
static long forked(struct two_tracer *tr, pid_t pid)
{
	long status = two_wait(tr, pid), message;

	if (status != two_event(PTRACE_EVENT_FORK))
		return -EPROTO;
	message = two_message(tr, pid);
	return two_cont(tr, pid, 0) ?: message;
}

/* wait(2) for any child gives the tracer @pid and @status; it resumes @pid. */
static bool is_told(struct two_tracer *tr, pid_t pid, long status)
{
	return two_wait(tr, -1) == status && tr->call->pid == pid &&
	       (!WIFSTOPPED(status) || !two_cont(tr, pid, 0));
}

/* Both tracers are outside, and read the numbers that are valid there. */
TEST_F(tracers, tracers_outside)
{
	struct two_tracer *p = &self->p, *s = &self->s, *one;
	struct ut_target *t = &self->t;
	int outer = 0, inner = 0;
	long child;

	if (!ut_has_pid_ns())
		SKIP(return, "no pid namespaces");
	ASSERT_TRUE(ut_spawn_in_new(t, actor, 0));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(p, t->pid, PTRACE_O_TRACEFORK));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACEFORK));
	EXPECT_STREQ(two_pair(p->t.pid, s->t.pid), two_tracers(t->pid));
	actor_do(t, ACTOR_FORKS);
	one = two_first(t->pid, two_event(PTRACE_EVENT_FORK), p, s);
	ASSERT_NE(NULL, one);
	child = two_message(one, t->pid);
	ASSERT_LT(0, child);
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	EXPECT_EQ(child, forked(one == p ? s : p, t->pid));
	EXPECT_TRUE(numbers_of(child, &outer, &inner));
	EXPECT_EQ(child, outer);
	EXPECT_NE(child, inner);
	EXPECT_EQ(t->pid, ut_status(child, "PPid:"));

	EXPECT_TRUE(is_told(p, child, TWO_TRAP));
	EXPECT_TRUE(is_told(s, child, TWO_TRAP));
	ASSERT_TRUE(ut_until(t->sh->value[ACTOR_CHILD]));
	EXPECT_EQ(inner, t->sh->value[ACTOR_CHILD]);
	t->sh->go[1] = 1;
	ASSERT_EQ(0, two_waitid(s, P_ALL, 0, WEXITED | WNOWAIT));
	EXPECT_EQ(child, s->call->info.si_pid);
	EXPECT_TRUE(is_told(s, child, CHILD_ENDED));
	EXPECT_TRUE(is_told(p, child, CHILD_ENDED));
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_EQ(CHILD_ENDED, t->sh->value[ACTOR_STATUS]);
}

/* Function of a target: ut_threaded() with three threads. */
static int three_threads(struct ut_target *t)
{
	t->arg = 3;
	return ut_threaded(t);
}

/* The message of the exec is the number that the thread had outside. */
TEST_F(tracers, exec_of_a_thread)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct two_step steps[] = {
		{ two_event(PTRACE_EVENT_EXEC), PTRACE_CONT }, TWO_END
	};
	struct ut_target *t = &self->t;
	pid_t tid;

	if (!ut_has_pid_ns())
		SKIP(return, "no pid namespaces");
	ASSERT_TRUE(ut_spawn_in_new(t, three_threads, 0));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_TRUE(ut_until(t->sh->tid[0]));
	EXPECT_EQ(1, t->sh->tid[0]);
	tid = outer_tid(t->pid, t->sh->tid[1]);
	ASSERT_LT(0, tid);
	ASSERT_NE(tid, t->sh->tid[1]);
	ASSERT_EQ(0, two_seize(p, t->pid, PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_seize(p, tid, PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_seize(s, tid, PTRACE_O_TRACEEXEC));
	steps[0].message = tid;
	t->sh->go[1] = UT_GO_EXEC;
	ASSERT_TRUE(two_play(t->pid, p, steps, s, steps));
	EXPECT_TRUE(ut_became_helper(t->pid));
	EXPECT_EQ(-ECHILD, two_poll(p, tid));
	EXPECT_EQ(-ECHILD, two_poll(s, tid));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(p, t->pid));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(s, t->pid));
}

/* What the task read of itself, in memory that it shares with the test. */
static char *own_status;

#define OWN_SIZE	8192

/* Function of a target: read its status in a /proc of its own namespace. */
static int reads_own_status(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL))
		sh->value[0] = errno;
	ut_say(t);
	while (!sh->quit) {
		sh->counter++;
		if (!sh->go[0])
			continue;
		sh->go[0] = 0;
		sh->value[1] = ut_read_file(own_status, OWN_SIZE,
					    "/proc/self/status");
		ut_say(t);
	}
	return 0;
}

/* Check whether the task has read this line in its own file. */
static bool has_found(struct ut_target *t, const char *line)
{
	return strstr(own_status, line);
}

/* Tracers outside of the namespace have the number 0 in it. */
TEST_F(tracers, tracers_have_no_number_inside)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	own_status = mmap(NULL, OWN_SIZE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, own_status);
	if (!ut_has_pid_ns())
		SKIP(return, "no pid namespaces");
	ASSERT_TRUE(ut_spawn_in_new(t, reads_own_status, CLONE_NEWNS));
	ASSERT_TRUE(ut_hear(t));
	if (t->sh->value[0])
		SKIP(return, "no /proc: %s", strerror(t->sh->value[0]));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	t->sh->go[0] = 1;
	ASSERT_TRUE(ut_hear(t));
	ASSERT_LT(0, t->sh->value[1]);
	EXPECT_TRUE(has_found(t, "\nPid:\t1\n"));
	EXPECT_TRUE(has_found(t, "\nTracerPid:\t0\n"));
	EXPECT_FALSE(has_found(t, "\nTracers:"));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	t->sh->go[0] = 1;
	ASSERT_TRUE(ut_hear(t));
	ASSERT_LT(0, t->sh->value[1]);
	EXPECT_TRUE(has_found(t, "\nTracerPid:\t0\n"));
	EXPECT_TRUE(has_found(t, "\nTracers:\t0 0\n"));
	EXPECT_STREQ(two_pair(p->t.pid, s->t.pid), two_tracers(t->pid));
}

/* Start a tracer in the pid namespace of @pid. */
static bool start_inside(struct two_tracer *tr, pid_t pid)
{
	int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC), other;
	char path[64];
	bool started;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	other = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0 || other < 0 || setns(other, CLONE_NEWPID))
		return false;
	started = two_start(tr);
	/* The children to come are those of the namespace of the test again. */
	return !setns(own, CLONE_NEWPID) && !close(own) && !close(other) &&
	       started;
}

/* A further tracer inside reads the numbers that are valid inside. */
TEST_F(tracers, further_tracer_inside)
{
	struct two_tracer *p = &self->p, inside = {};
	struct ut_target *t = &self->t;
	long child;

	if (!ut_has_pid_ns())
		SKIP(return, "no pid namespaces");
	ASSERT_TRUE(ut_spawn_in_new(t, actor, 0));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_TRUE(start_inside(&inside, t->pid));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	EXPECT_EQ(0, two_seize(&inside, 1, PTRACE_O_TRACEFORK));
	EXPECT_STREQ(two_pair(p->t.pid, inside.t.pid), two_tracers(t->pid));
	actor_do(t, ACTOR_FORKS);
	child = forked(&inside, 1);
	EXPECT_LT(1, child);
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_CHILD]));
	EXPECT_EQ(child, t->sh->value[ACTOR_CHILD]);
	EXPECT_TRUE(is_told(&inside, child, TWO_TRAP));
	t->sh->go[1] = 1;
	EXPECT_EQ(0, two_waitid(&inside, P_ALL, 0, WEXITED | WNOWAIT));
	EXPECT_EQ(child, inside.call->info.si_pid);
	EXPECT_TRUE(is_told(&inside, child, CHILD_ENDED));
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(two_quiet(p, t->pid));
	/* The first process of a namespace is reaped as the last one. */
	ASSERT_EQ(0, kill(inside.t.pid, SIGKILL));
	EXPECT_TRUE(ut_reap(&inside.t, &self->status));
}

/* User namespaces */

/* The ways to attach to @pid that do not fail with EPERM, as bits. */
static int ways_in(pid_t pid)
{
	int ways = 0;

	if (!ptrace(PTRACE_SEIZE, pid, 0, 0) || errno != EPERM)
		ways |= 1;
	if (!ptrace(PTRACE_ATTACH, pid, 0, 0) || errno != EPERM)
		ways |= 2;
	return ways;
}

/*
 * Function of a target: root of a user namespace, but nobody outside.  value[0]
 * says whether there is one, and value[1] what it could do with tid[0].
 */
static int is_root_inside(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	char map[32];

	if (!two_become(TWO_NOBODY))
		return 97;
	snprintf(map, sizeof(map), "0 %d 1", TWO_NOBODY);
	if (unshare(CLONE_NEWUSER)) {
		sh->value[0] = -errno;
	} else {
		prctl(PR_SET_DUMPABLE, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sh->value[0] = ut_write_file("/proc/self/uid_map", map) ?:
			       (geteuid() ? -EINVAL : 1);
	}
	ut_say(t);
	for (;;) {
		ut_await(t);
		sh->value[1] = ways_in(sh->tid[0]);
		ut_say(t);
	}
}

/* Function of a target: root enters the user namespace of t->arg. */
static int enters(struct ut_target *t)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/ns/user", t->arg);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWUSER))
		t->sh->value[0] = -errno;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ut_say(t);
	return ut_spin(t);
}

/*
 * CVE-2015-8709: a task of root that enters the user namespace of somebody else
 * still has the memory and the files of root, which the root of the namespace
 * must not get at, alone or beside a tracer that may.
 */
TEST_F(tracers, task_that_enters_a_user_namespace)
{
	struct ut_target *t = &self->t, root = {};
	int i;

	ASSERT_TRUE(ut_spawn(&root, is_root_inside));
	ASSERT_TRUE(ut_hear(&root));
	if (root.sh->value[0] != 1)
		SKIP(return, "no user namespace for nobody: %s",
		     strerror(-root.sh->value[0]));
	t->arg = root.pid;
	ASSERT_TRUE(ut_spawn(t, enters));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, t->sh->value[0]);
	root.sh->tid[0] = t->pid;
	for (i = 0; i < 2; i++) {
		root.sh->value[1] = -1;
		ASSERT_TRUE(ut_go(&root));
		ASSERT_TRUE(ut_hear(&root));
		EXPECT_EQ(0, root.sh->value[1]) {
			TH_LOG("beside %d tracers", i);
		}
		EXPECT_EQ(i ? self->p.t.pid : 0,
			  ut_status(t->pid, "TracerPid:"));
		EXPECT_STREQ("", two_tracers(t->pid));
		if (!i)
			ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	}
	/* A further tracer that has the right may come. */
	EXPECT_EQ(0, two_seize(&self->s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

/* Function of a target: nobody, who executes the set-id program. */
static int unshares_and_executes(struct ut_target *t)
{
	char * const argv[] = { program, (char *)"pause", NULL };
	char * const envp[] = { NULL };
	struct ut_shared *sh = t->sh;

	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	while (!sh->go[0] && !sh->quit)
		sh->counter++;
	sh->value[0] = unshare(CLONE_NEWUSER) ? -errno : 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!sh->go[1] && !sh->quit)
		sh->counter++;
	execve(program, argv, envp);
	return 99;
}

/* Check that, seen from outside, all ids of the process are nobody's. */
static bool is_plain(pid_t pid)
{
	int uid[4] = {}, i;
	char buf[8192], *line;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/status", pid) <= 0)
		return false;
	line = strstr(buf, "\nUid:");
	if (!line || sscanf(line, "\nUid: %d %d %d %d", &uid[0], &uid[1],
			    &uid[2], &uid[3]) != 4)
		return false;
	for (i = 0; i < 4; i++)
		if (uid[i] != TWO_NOBODY)
			return false;
	return true;
}

static bool has_and_resumes(struct two_tracer *tr, pid_t pid)
{
	return two_interrupt(tr, pid) == TWO_TRAP && two_has(tr, pid) &&
	       !two_cont(tr, pid, 0);
}

/*
 * A namespace that the task makes takes no rights from its tracers and adds
 * none.
 */
TEST_F(tracers, set_id_program_in_a_user_namespace)
{
	static const struct two_step exec[] = {
		{ two_event(PTRACE_EVENT_EXEC), PTRACE_CONT }, TWO_END
	};
	struct two_tracer p = {}, s = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(make_setid());
	if (setid_is_void()) {
		remove_setid();
		SKIP(return, "/tmp is a file system without set-id");
	}
	ASSERT_TRUE(two_start_nobodies(&p, &s));
	ASSERT_TRUE(ut_spawn(t, unshares_and_executes));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(&p, t->pid, PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_seize(&s, t->pid, PTRACE_O_TRACEEXEC));
	t->sh->go[0] = 1;
	ASSERT_TRUE(ut_until(t->sh->value[0]));
	if (t->sh->value[0] < 0) {
		remove_setid();
		SKIP(return, "no user namespace for nobody: %s",
		     strerror(-t->sh->value[0]));
	}
	ASSERT_TRUE(ut_runs(t));
	EXPECT_TRUE(has_and_resumes(&p, t->pid));
	EXPECT_TRUE(has_and_resumes(&s, t->pid));
	EXPECT_TRUE(is_plain(t->pid));
	t->sh->go[1] = 1;
	ASSERT_TRUE(two_play(t->pid, &p, exec, &s, exec));
	EXPECT_TRUE(is_plain(t->pid));
	EXPECT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_pause)));
	EXPECT_TRUE(is_plain(t->pid));
	remove_setid();
	EXPECT_STREQ(two_pair(p.t.pid, s.t.pid), two_tracers(t->pid));
	EXPECT_TRUE(has_and_resumes(&p, t->pid));
	EXPECT_TRUE(has_and_resumes(&s, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(&p, t->pid));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(&s, t->pid));
}

TEST_HARNESS_MAIN
