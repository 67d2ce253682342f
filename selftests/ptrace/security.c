// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - old holes of ptrace(2), tried with several tracers
 *
 * A test is about a mistake that ptrace once had, or that a second way to a
 * task invites.  Those about registers and system calls are in entry.c and
 * sysret.c.
 */
#include <dirent.h>

#include "setid.h"

#define CORE_PATTERN	"/proc/sys/kernel/core_pattern"
#define ENGINES		"/proc/sys/user/max_utrace_engines"

#define RACE_MS		3000
#define VISITS		20000
#define VISITS_MS	7000	/* for fewer visits on a slow machine */
#define LEAK_KB		(20 << 10)
#define LIMITED		(TWO_NOBODY - 2)	/* user with few engines */

/* Become a program of nobody, or end. */
static void be_nobody(void)
{
	if (!two_become(TWO_NOBODY))
		_exit(97);
}

/* The number of tracers in /proc/PID/utrace, of which one is the first one. */
static int listed(pid_t pid)
{
	char buf[8192], *line = buf;
	int n = 0;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/utrace", pid) <= 0)
		return -1;
	while ((line = strstr(line, "\nptrace "))) {
		line++;
		n++;
	}
	return n;
}

/* The processes of a round: one executes, the other processes attach to it. */
struct race {
	_Atomic int ready;
	_Atomic int go;
	_Atomic int wait_for;	/* tracers, before the exec */
	_Atomic int attached;	/* tracers, each of which stays */
};

static struct race *race;

static void start(unsigned int delay_us)
{
	race->ready++;
	while (!race->go)
		sched_yield();
	usleep(delay_us);
}

static pid_t fork_runner(unsigned int delay_us)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	ut_be_child();
	be_nobody();
	start(delay_us);
	ut_until(race->attached >= race->wait_for);
	exec_setid("euid");
}

static pid_t fork_tracer(pid_t pid, long request, unsigned int delay_us)
{
	pid_t tracer = fork();
	int status;

	if (tracer)
		return tracer;
	ut_be_child();
	be_nobody();
	start(delay_us);
	if (ptrace(request, pid, 0, 0))
		_exit(0);
	race->attached++;
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, 0, 0);
	_exit(0);
}

/*
 * One round; the status of the program, or -1.  In some rounds the tracers
 * attach before the exec, in other rounds at any time.
 */
static int one_round(int n)
{
	long one = n & 1 ? PTRACE_SEIZE : PTRACE_ATTACH;
	long other = n & 2 ? PTRACE_SEIZE : PTRACE_ATTACH;
	pid_t runner, tracer[2];
	int status = -1, ended;
	bool good;

	race->ready = 0;
	race->go = 0;
	race->attached = 0;
	race->wait_for = n % 5 ? 0 : 2;
	runner = fork_runner(two_any(3000));
	tracer[0] = fork_tracer(runner, one, two_any(6000));
	tracer[1] = fork_tracer(runner, other, two_any(6000));
	good = ut_until(race->ready == 3);
	race->go = 1;
	good &= ut_waitpid(runner, &status, __WALL) == 1;
	good &= ut_waitpid(tracer[0], &ended, __WALL) == 1 && !ended;
	good &= ut_waitpid(tracer[1], &ended, __WALL) == 1 && !ended;
	return good ? status : -1;
}

/*
 * CVE-2001-1384 and similar bugs let a process control a set-user-id program by
 * attaching before or during the execve().  So a program with a tracer without
 * rights gets no rights, and a program with rights gets no such tracer: no
 * tracer that stays until the end may read that its program was root.
 */
TEST_F(tracers, race_with_set_id)
{
	int n, status = PLAIN, elevated[3] = {}, plain[3] = {};
	const char *why = setid_why_not();
	long end;

	if (why)
		SKIP(return, "%s", why);
	race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, race);
	end = ut_now_ms() + RACE_MS;
	for (n = 0; n == 0 || ut_now_ms() < end; n++) {
		status = one_round(n);
		if (status == ELEVATED)
			elevated[race->attached]++;
		else if (status == PLAIN)
			plain[race->attached]++;
		else
			break;
	}
	EXPECT_TRUE(status == ELEVATED || status == PLAIN) {
		TH_LOG("round %d: status %#x", n, status);
	}
	EXPECT_EQ(0, elevated[1]);
	EXPECT_EQ(0, elevated[2]);
	EXPECT_LT(0, plain[2]);
	/* A tracer that was refused takes nothing from the program. */
	EXPECT_EQ(0, plain[0]);
	TH_LOG("tracers 0, 1, 2: %d, %d, %d elevated, %d, %d, %d not",
	       elevated[0], elevated[1], elevated[2], plain[0], plain[1],
	       plain[2]);
	remove_setid();
}

/* Function of a target: the set-id program that waits. */
static int waits_as_root(struct ut_target *t)
{
	be_nobody();
	ut_say(t);
	exec_setid("pause");
}

/*
 * A program of root's rights is closed to a tracer without rights, alone and
 * beside a tracer that has the right: the first tracer @p.
 */
static void is_closed(struct __test_metadata *_metadata, struct two_tracer *p,
		      struct two_tracer *nobody, pid_t pid)
{
	int i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EPERM, two_seize(nobody, pid, 0));
		EXPECT_EQ(-EPERM, two_ptrace(nobody, PTRACE_ATTACH, pid, 0));
		EXPECT_EQ(-ECHILD, two_poll(nobody, pid));
		EXPECT_EQ(i, listed(pid));
		EXPECT_EQ(i ? -EPERM : 0, two_seize(p, pid, 0));
	}
	EXPECT_EQ(p->t.pid, ut_status(pid, "TracerPid:"));
}

/*
 * CVE-2001-1384: the user that started a set-user-id program is refused once
 * the program has its rights.
 */
TEST_F(tracers, elevated_program)
{
	const char *why = setid_why_not();
	struct two_tracer nobody = {};
	struct ut_target *t = &self->t;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	ASSERT_TRUE(ut_spawn(t, waits_as_root));
	ASSERT_TRUE(ut_hear(t));
	EXPECT_TRUE(ut_until(is_elevated(t->pid)));
	remove_setid();
	is_closed(_metadata, &self->p, &nobody, t->pid);
}

/* Function of a target: nobody, whose core the kernel dumps. */
static int crashes(struct ut_target *t)
{
	be_nobody();
	signal(SIGSEGV, SIG_DFL);
	ut_say(t);
	ut_await(t);
	raise(SIGSEGV);
	return 96;
}

/* The process that runs the set-id program; 0 for none. */
static pid_t program_pid(void)
{
	char path[300], exe[sizeof(program) + 1];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t pid = 0;
	ssize_t n;

	while (proc && !pid && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/exe", entry->d_name);
		n = readlink(path, exe, sizeof(exe) - 1);
		exe[n < 0 ? 0 : n] = '\0';
		if (!strcmp(exe, program))
			pid = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return pid;
}

/*
 * CVE-2003-0127: a program that the kernel had started with root's rights for a
 * user, a usermode helper, was open to that user.  This one gets the core of a
 * process of nobody.
 */
TEST_F(tracers, usermode_helper)
{
	const char *why = setid_why_not();
	struct ut_target *t = &self->t, guard = {};
	struct two_tracer nobody = {};
	char before[256], pattern[128];
	pid_t pid = 0;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	ASSERT_TRUE(ut_spawn(t, crashes));
	ASSERT_TRUE(ut_hear(t));
	snprintf(pattern, sizeof(pattern), "|%s pause", program);
	if (ut_read_file(before, sizeof(before), CORE_PATTERN) <= 0 ||
	    ut_write_file(CORE_PATTERN, pattern)) {
		remove_setid();
		SKIP(return, "no kernel.core_pattern that can be written");
	}
	EXPECT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until((pid = program_pid()) != 0));
	EXPECT_EQ(0, ut_write_file(CORE_PATTERN, before));
	remove_setid();
	ASSERT_LT(0, pid);
	/* No other process ends the program. */
	guard.arg = pid;
	ASSERT_TRUE(ut_spawn(&guard, two_guard));
	ASSERT_TRUE(ut_hear(&guard));
	is_closed(_metadata, &self->p, &nobody, pid);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_end_of(&self->p, pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(two_killed(SIGSEGV), self->status & ~0x80);
}

/* Function of a target: attach to t->arg until it has to end. */
static int is_refused(struct ut_target *t)
{
	be_nobody();
	ut_say(t);
	while (!t->sh->quit) {
		bool seizes = t->sh->counter++ & 1;

		errno = 0;
		if (!ptrace(seizes ? PTRACE_SEIZE : PTRACE_ATTACH, t->arg, 0,
			    0) || errno != EPERM)
			t->sh->value[0]++;
	}
	return 0;
}

/*
 * CVE-2008-2365: refused attaches in a loop met the detach of an engine that
 * each of them had made before it asked for the right, and the kernel crashed.
 */
TEST_F(tracers, refused_attaches)
{
	struct two_tracer *p = &self->p;
	struct ut_target other[2] = {};
	struct ut_target *t = &self->t;
	long end;
	int i;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	for (i = 0; i < 2; i++) {
		other[i].arg = t->pid;
		ASSERT_TRUE(ut_spawn(&other[i], is_refused));
		ASSERT_TRUE(ut_hear(&other[i]));
	}
	end = ut_now_ms() + RACE_MS;
	while (ut_now_ms() < end) {
		ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
		ASSERT_EQ(0, two_cont(p, t->pid, 0));
		ASSERT_TRUE(ut_runs(t));
	}
	for (i = 0; i < 2; i++) {
		other[i].sh->quit = 1;
		ASSERT_TRUE(ut_reap(&other[i], &self->status));
		EXPECT_EQ(0, self->status);
		EXPECT_EQ(0, other[i].sh->value[0]);
		EXPECT_LT(10, other[i].sh->counter);
	}
	EXPECT_EQ(1, listed(t->pid));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_TRUE(ut_runs(t));
}

/* Who asks for PTRACE_TRACEME; who the parent is then, and at the exec. */
struct asking {
	uid_t child;
	uid_t before;
	uid_t after;
	long status;		/* of the set-id program */
};

enum { GO_ASK = 1, GO_CHANGE, GO_EXEC };
enum { HAS_ASKED, HAS_CHANGED };

static void await_go(struct ut_target *t, int i)
{
	while (!t->sh->go[i])
		usleep(1000);
}

static void asks(struct ut_target *t, const struct asking *a)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (a->child)
		be_nobody();
	t->sh->tid[0] = getpid();
	await_go(t, GO_ASK);
	t->sh->value[HAS_ASKED] = ptrace(PTRACE_TRACEME, 0, 0, 0) ? -errno : 1;
	await_go(t, GO_EXEC);
	be_nobody();
	exec_setid("euid");
}

/* Function of a target: a parent of other rights, then and at the exec. */
static int is_asked(struct ut_target *t)
{
	const struct asking *a = (void *)t->arg;
	pid_t pid = fork();
	int status;

	if (!pid)
		asks(t, a);
	if (seteuid(a->before))
		return 97;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ut_say(t);
	await_go(t, GO_CHANGE);
	if (a->after ? setresuid(a->after, a->after, a->after) : seteuid(0))
		return 97;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	t->sh->value[HAS_CHANGED] = 1;
	while (waitpid(pid, &status, __WALL) == pid) {
		if (!WIFSTOPPED(status))
			return WIFEXITED(status) ? WEXITSTATUS(status) : 96;
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	return 95;
}

/*
 * The status of the set-id program of a child that asks for a tracing.  @first
 * traces the child when it asks, and is gone before the exec.
 */
static long asking_status(struct ut_target *t, const struct asking *a,
			  struct two_tracer *first)
{
	int status = -1;
	pid_t pid;

	t->arg = (long)a;
	if (!ut_spawn(t, is_asked) || !ut_hear(t) || !ut_until(t->sh->tid[0]))
		return -1;
	pid = t->sh->tid[0];
	if (first && two_seize(first, pid, 0))
		return -2;
	t->sh->go[GO_ASK] = 1;
	if (!ut_until(t->sh->value[HAS_ASKED]) || t->sh->value[HAS_ASKED] != 1)
		return -3;
	if (first && listed(pid) != 2)
		return -4;
	if (first && !two_leave(first, pid))
		return -5;
	t->sh->go[GO_CHANGE] = 1;
	if (!ut_until(t->sh->value[HAS_CHANGED]))
		return -6;
	t->sh->go[GO_EXEC] = 1;
	return ut_reap(t, &status) ? status : -7;
}

/*
 * CVE-2019-13272: PTRACE_TRACEME recorded the rights of the parent, so a child
 * without rights got a tracer that counted as privileged, and its set-user-id
 * program had rights under a tracer of no rights.  What counts are the rights
 * of the child that asks, for the first tracer and for a further one.
 */
TEST_F(tracers, traceme)
{
	static const struct asking asking[] = {
		/* Here the program is elevated, which shows that it can be. */
		{ 0, 0, 0, ELEVATED },
		{ TWO_NOBODY, 0, 0, PLAIN },
		{ TWO_NOBODY, 0, TWO_NOBODY, PLAIN },
		{ TWO_NOBODY, TWO_NOBODY, 0, PLAIN },
	};
	const char *why = setid_why_not();
	struct two_tracer nobody = {};
	unsigned int i;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	for (i = 0; i < ARRAY_SIZE(asking); i++) {
		const struct asking *a = &asking[i];
		struct two_tracer *first = a->child ? &nobody : &self->p;

		EXPECT_EQ(a->status, asking_status(&self->t, a, NULL)) {
			TH_LOG("alone, case %d", i);
		}
		EXPECT_EQ(a->status, asking_status(&self->t, a, first)) {
			TH_LOG("as a further tracer, case %d", i);
		}
	}
	remove_setid();
}

/* Check that both ways to attach to @pid fail with EPERM. */
static bool no_way(pid_t pid)
{
	long seize = ptrace(PTRACE_SEIZE, pid, 0, 0) ? errno : 0;
	long attach = ptrace(PTRACE_ATTACH, pid, 0, 0) ? errno : 0;

	return seize == EPERM && attach == EPERM;
}

/*
 * Function of a target: value[0] says whether there is a namespace.  The exit
 * code has a bit for each task that is open.
 */
static int is_root_of_a_namespace(struct ut_target *t)
{
	char map[32];

	be_nobody();
	snprintf(map, sizeof(map), "0 %d 1", TWO_NOBODY);
	if (!unshare(CLONE_NEWUSER)) {
		prctl(PR_SET_DUMPABLE, 1);
		if (ut_write_file("/proc/self/uid_map", map) || geteuid())
			return 96;
		t->sh->value[0] = 1;
	}
	ut_say(t);
	ut_await(t);
	return (no_way(t->sh->tid[0]) ? 0 : 1) |
	       (no_way(t->sh->tid[1]) ? 0 : 2);
}

/*
 * Root of a user namespace has no right outside of it, and cannot join the
 * tracers of a task there, not even of a task of its own user.
 */
TEST_F(tracers, root_of_a_namespace)
{
	struct ut_target roots = {}, *nobodys = &self->t, other = {};
	struct two_tracer p = {}, s = {};

	ASSERT_TRUE(two_start_nobodies(&p, &s));
	ASSERT_TRUE(actor_spawn(&roots));
	ASSERT_TRUE(actor_spawn_as(nobodys, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(&self->p, roots.pid, 0));
	if (two_seize(&p, nobodys->pid, 0))
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(ut_spawn(&other, is_root_of_a_namespace));
	ASSERT_TRUE(ut_hear(&other));
	if (!other.sh->value[0])
		SKIP(return, "no user namespace for nobody");
	other.sh->tid[0] = roots.pid;
	other.sh->tid[1] = nobodys->pid;
	ASSERT_TRUE(ut_go(&other));
	ASSERT_TRUE(ut_reap(&other, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(1, listed(roots.pid));
	EXPECT_EQ(1, listed(nobodys->pid));
	/* Outside of the namespace that user may attach. */
	EXPECT_EQ(0, two_seize(&s, nobodys->pid, 0));
}

/* A kernel thread has no tracers, however many a task may have. */
TEST_F(tracers, kernel_thread)
{
	char comm[32] = "";

	ut_read_file(comm, sizeof(comm), "/proc/2/comm");
	if (strcmp(comm, "kthreadd\n"))
		SKIP(return, "process 2 is not kthreadd");
	EXPECT_EQ(-EPERM, two_seize(&self->s, 2, 0));
	EXPECT_EQ(-EPERM, two_ptrace(&self->s, PTRACE_ATTACH, 2, 0));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, 2));
	EXPECT_EQ(0, ut_status(2, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(2));
}

/* The number of KiB in the line @key of /proc/meminfo, or -1. */
static long kib_of(const char *key)
{
	char buf[4096], *line;

	if (ut_read_file(buf, sizeof(buf), "/proc/meminfo") <= 0)
		return -1;
	line = strstr(buf, key);
	return line ? strtol(line + strlen(key), NULL, 10) : -1;
}

/* Wait for a stop of the tracee for the test, without a pause. */
static bool stops(pid_t pid)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	int status = 0;
	pid_t got;

	do {
		got = waitpid(pid, &status, __WALL | WNOHANG);
	} while (!got && ut_now_ms() < end);
	return got == pid && WIFSTOPPED(status);
}

/* The test is the tracer: it attaches and detaches; 0 or -errno. */
static long visit(pid_t pid, bool seizes)
{
	if (ptrace(seizes ? PTRACE_SEIZE : PTRACE_ATTACH, pid, 0, 0))
		return -errno;
	if (seizes && ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		return -errno;
	if (!stops(pid))
		return -ETIMEDOUT;
	return ptrace(PTRACE_DETACH, pid, 0, 0) ? -errno : 0;
}

/* A tracer that attaches and detaches leaves no memory and no charge. */
TEST_F(tracers, many_visits)
{
	struct ut_target *t = &self->t;
	int visits = 0, waits = 0;
	long before, end, ret = 0;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, visit(t->pid, true));
	before = kib_of("\nSUnreclaim:");
	ASSERT_LT(0, before);
	end = ut_now_ms() + VISITS_MS;
	while (visits < VISITS && ut_now_ms() < end) {
		ret = visit(t->pid, visits & 1);
		if (!ret) {
			visits++;
			continue;
		}
		/* An engine counts until it is freed, which is later. */
		if (ret != -EUSERS)
			break;
		waits++;
		ut_sleep_ms(5);
	}
	EXPECT_TRUE(!ret || ret == -EUSERS) {
		TH_LOG("visit %d: %ld", visits, ret);
	}
	EXPECT_TRUE(ut_until(!visit(t->pid, true)));
	EXPECT_TRUE(ut_until(kib_of("\nSUnreclaim:") < before + LEAK_KB));
	TH_LOG("%d visits, %d waits, %ld KiB more", visits, waits,
	       kib_of("\nSUnreclaim:") - before);
	EXPECT_EQ(1, listed(t->pid));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

/* One user may have so many further tracings, and a detach makes room. */
TEST_F(tracers, limit_of_a_user)
{
	struct ut_target *t = &self->t, other = {};
	struct two_tracer p = {}, s = {};
	char limit[16];

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_LT(0, ut_read_file(limit, sizeof(limit), ENGINES));
	ASSERT_TRUE(two_start_as(&p, LIMITED));
	ASSERT_TRUE(two_start_as(&s, LIMITED));
	ASSERT_TRUE(actor_spawn_as(t, LIMITED));
	ASSERT_TRUE(actor_spawn_as(&other, LIMITED));
	ASSERT_EQ(0, ut_write_file(ENGINES, "1"));
	/* The first tracers do not count. */
	EXPECT_EQ(0, two_seize(&p, t->pid, 0));
	EXPECT_EQ(0, two_seize(&p, other.pid, 0));
	EXPECT_EQ(0, two_seize(&s, t->pid, 0));
	EXPECT_EQ(-EUSERS, two_seize(&s, other.pid, 0));
	EXPECT_EQ(-EUSERS, two_ptrace(&s, PTRACE_ATTACH, other.pid, 0));
	EXPECT_EQ(1, listed(other.pid));
	EXPECT_STREQ("", two_tracers(other.pid));
	EXPECT_EQ(-ECHILD, two_poll(&s, other.pid));
	EXPECT_TRUE(ut_runs(&other));
	EXPECT_TRUE(two_leave(&s, t->pid));
	EXPECT_TRUE(ut_until(!two_seize(&s, other.pid, 0)));
	EXPECT_EQ(0, ut_write_file(ENGINES, limit));
	EXPECT_EQ(0, two_seize(&s, t->pid, 0));
}

TEST_HARNESS_MAIN
