// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - allocations that fail in every call and every event
 *
 * Only documented results may come, nothing may be left half done, and each
 * event is either reported or counted as lost.  dev/memory.c does the same for
 * /dev/utrace.
 */
#include "fail_nth.h"
#include "fixture.h"
#include "storm.h"

/* The target, and the number of the engine that the current call is about. */
static struct ut_target *t;
static int id;

static bool has_none(void)
{
	char buf[8192];

	return ut_read_file(buf, sizeof(buf), "/proc/%d/utrace", t->pid) > 0 &&
	       !strstr(buf, "test_engine ");
}

/* Check that the engine sees the target's calls. */
static bool works(int ret)
{
	long before = ut_count(id, UT_EV_SYSCALL_ENTRY);

	return before >= 0 &&
	       ut_until(ut_count(id, UT_EV_SYSCALL_ENTRY) > before);
}

/* -EINPROGRESS is a success: the target has yet to see the change. */
static int begun(int ret)
{
	return ret == -EINPROGRESS ? 0 : ret;
}

static int attach(void)
{
	id = ut_attach_full(t->pid, failing.c->arg, UT_OPS_FULL, ~0U);
	return id < 0 ? id : 0;
}

static bool check_attach(int ret)
{
	if (!ret)
		ut_detach(id);
	return has_none();
}

static const struct fail_case attaches[] = {
	{ "attach to a thread", NULL, attach, check_attach, .least = 1 },
	{ "attach to a process", NULL, attach, check_attach, .least = 1,
	  .arg = UT_ATTACH_PROCESS },
	{ "attach to a tree", NULL, attach, check_attach, .least = 1,
	  .arg = UT_ATTACH_TREE },
	{ "attach to the system", NULL, attach, check_attach, .least = 1,
	  .arg = UT_ATTACH_SYSTEM },
	{ "attach if alone", NULL, attach, check_attach, .least = 1,
	  .arg = UT_ATTACH_EXCLUSIVE | UT_ATTACH_MATCH_OPS },
};

static int find(void)
{
	struct ut_attach arg = { .pid = t->pid, .flags = UT_ATTACH_ANY_SCOPE };

	return ut_ioctl(UT_IOC_ATTACH, &arg);
}

static int set_events(void)
{
	return begun(ut_events(id, 0, failing.c->arg));
}

static bool check_events(int ret)
{
	if (!ret)
		ut_events(id, 0, UT_SYSCALL | UT_BIT(QUIESCE));
	return works(ret);
}

static int filter(void)
{
	static const int some[] = { UT_MARK_NR, SYS_read, SYS_write };

	return ut_filter(id, some, 3);
}

static bool check_filter(int ret)
{
	if (!ret)
		ut_filter(id, NULL, 0);
	return works(ret);
}

static int stop(void)
{
	return begun(ut_control(id, 0, UT_STOP));
}

static bool check_stop(int ret)
{
	if (!ret)
		ut_control(id, 0, UT_RESUME);
	return works(ret);
}

/* UT_REPORT or UT_INTERRUPT */
static int control(void)
{
	return ut_control(id, 0, failing.c->arg);
}

static int barrier(void)
{
	return ut_barrier(id, 0);
}

static int barrier_sync(void)
{
	return ut_barrier_sync(id);
}

static int examine(void)
{
	struct ut_examine arg = { .id = id, .tid = t->pid };

	return ut_ioctl(UT_IOC_EXAMINE, &arg);
}

static int rule(void)
{
	return ut_rule(.id = id, .event = UT_EV_EXIT, .answer = UT_RESUME);
}

static int log_read(void)
{
	struct ut_log arg = { .max = 0 };

	return ut_ioctl(UT_IOC_LOG, &arg);
}

static int proc_read(void)
{
	char buf[4096];
	int ret = ut_read_file(buf, sizeof(buf), "/proc/%d/utrace", t->pid);

	return ret < 0 ? ret : 0;
}

static const struct fail_case others[] = {
	{ "find", NULL, find, works },
	{ "set_events, more", NULL, set_events, check_events,
	  .arg = UT_ALL & ~UT_BIT(SIGNAL_IGN) },
	{ "set_events, fewer", NULL, set_events, check_events,
	  .arg = UT_BIT(EXEC) },
	{ "set_syscall_filter", NULL, filter, check_filter },
	{ "stop", NULL, stop, check_stop },
	{ "report", NULL, control, works, .arg = UT_REPORT },
	{ "interrupt", NULL, control, works, .arg = UT_INTERRUPT },
	{ "barrier", NULL, barrier, works },
	{ "barrier_sync", NULL, barrier_sync, works },
	{ "examine", NULL, examine, works },
	{ "a rule", NULL, rule, works },
	{ "the log", NULL, log_read, works },
	{ "/proc", NULL, proc_read, works },
};

/* Begin, with a target that makes marker calls; NULL, or why not. */
static const char *begin(struct ut_target *target)
{
	const char *why = fail_nth_begin(false);

	t = target;
	return why ?: ut_spawn(t, ut_calls) ? NULL : "no target";
}

TEST_F(utrace, attaching)
{
	const char *why = begin(&self->t);

	if (why)
		SKIP(return, "%s", why);
	EXPECT_TRUE(fail_each(attaches));
	fail_nth_end();
}

static void fail_others(struct __test_metadata *_metadata,
			struct ut_target *target, __u32 scope)
{
	const char *why = begin(target);

	if (why)
		SKIP(return, "%s", why);
	id = ut_attach_full(t->pid, scope, UT_OPS_FULL, ~0U);
	ASSERT_LT(0, id);
	ut_events(id, 0, UT_SYSCALL | UT_BIT(QUIESCE));
	EXPECT_TRUE(fail_each(others));
	fail_nth_end();
}

TEST_F(utrace, thread_calls)
{
	fail_others(_metadata, &self->t, 0);
}

TEST_F(utrace, tree_calls)
{
	fail_others(_metadata, &self->t, UT_ATTACH_TREE);
}

static void prepare_detach(void)
{
	id = ut_attach_full(t->pid, failing.c->arg, UT_OPS_FULL,
			    (__u32)~UT_BIT(RELEASE));
	fail_need(id > 0 && !ut_events(id, 0, UT_SYSCALL), "attach");
}

static int detach(void)
{
	return begun(ut_detach(id));
}

static bool check_detach(int ret)
{
	bool good = ut_wait(0, id, UT_EV_RELEASE, UT_ANY, UT_ANY) >= 0;

	ut_nrec = 0;
	/* After the last try no engine is left. */
	return good && (!failing.left || has_none());
}

static void prepare_held(void)
{
	prepare_detach();
	fail_need(!ut_stop(id, 0) && ut_held(t->pid), "stop");
}

/* The engine has held the target. */
static bool check_released(int ret)
{
	return ut_runs(t) && check_detach(ret);
}

static const struct fail_case detaches[] = {
	{ "detach from a thread", prepare_detach, detach, check_detach,
	  .never_fails = true },
	{ "detach from a process", prepare_detach, detach, check_detach,
	  .never_fails = true, .arg = UT_ATTACH_PROCESS },
	{ "detach from a tree", prepare_detach, detach, check_detach,
	  .never_fails = true, .arg = UT_ATTACH_TREE },
	{ "detach from the system", prepare_detach, detach, check_detach,
	  .never_fails = true, .arg = UT_ATTACH_SYSTEM },
	{ "detach from a thread that is held", prepare_held, detach,
	  check_released, .never_fails = true },
	{ "detach from a process that is held", prepare_held, detach,
	  check_released, .never_fails = true, .arg = UT_ATTACH_PROCESS },
	{ "detach from a tree that is held", prepare_held, detach,
	  check_released, .never_fails = true, .arg = UT_ATTACH_TREE },
};

/*
 * A detach never fails: no later pass calls the engine, short of memory or not.
 */
TEST_F(utrace, detaching)
{
	const char *why = begin(&self->t);

	if (why)
		SKIP(return, "%s", why);
	EXPECT_TRUE(fail_each(detaches));
	fail_nth_end();
}

/*
 * Function of a target: spin in user mode, and make one marker call whenever
 * the test changes value[1].
 */
static int mark_when_told(struct ut_target *t)
{
	long told = 0;

	t->sh->value[0] = 1;
	for (;;) {
		while (t->sh->value[1] == told && !t->sh->quit)
			t->sh->counter++;
		if (t->sh->quit)
			return 0;
		told = t->sh->value[1];
		ut_mark(told);
		t->sh->value[2] = told;
	}
}

/* A target for each try, the engines beside the new one, and lost events. */
static struct ut_target first;
static int beside;
static long lost_before, lost;

static void prepare_first(void)
{
	static const int mark[] = { UT_MARK_NR };
	int i;

	first = (struct ut_target){};
	if (!fail_need(ut_spawn(&first, mark_when_told) &&
		       ut_until(first.sh->value[0]), "a target"))
		return;
	for (i = 0; i < beside; i++)
		fail_need(ut_attach(first.pid, i % 2 ? UT_ATTACH_PROCESS : 0,
				    UT_BIT(EXEC)) > 0, "attach");
	id = ut_attach_full(first.pid, failing.c->arg, UT_OPS_FULL, ~0U);
	fail_need(id > 0 && !ut_filter(id, mark, 1) &&
		  !ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)), "attach");
	lost_before = ut_ioctl(UT_IOC_LOST, NULL);
}

/* Have the target make its @n-th call. */
static bool has_marked(int n)
{
	first.sh->value[1] = n;
	return ut_until(first.sh->value[2] == n);
}

static int mark_first(void)
{
	fail_need(has_marked(1), "the first call");
	return 0;
}

/* The event is reported or counted as lost, and the next one is reported. */
static bool check_first(int ret)
{
	int reported = ut_count(id, UT_EV_SYSCALL_ENTRY), status, i;
	bool good = reported + ut_ioctl(UT_IOC_LOST, NULL) > lost_before;

	if (!good)
		printf("# lost and not counted\n");
	lost += !reported;
	if (!fail_need(has_marked(2), "the next call"))
		return false;
	good = ut_count(id, UT_EV_SYSCALL_ENTRY) == reported + 1 && good;
	first.sh->quit = 1;
	fail_need(ut_reap(&first, &status), "the end of the target");
	fail_need(!ut_ioctl(UT_IOC_DETACH_ALL, NULL), "detach");
	munmap(first.sh, sizeof(*first.sh));
	for (i = 0; i < 2; i++) {
		close(first.to[i]);
		close(first.from[i]);
	}
	ut_npids = 0;
	return good;
}

/*
 * The first event of a task under a new engine, when the task gets what it
 * needs for the pass.
 */
static void first_events(struct __test_metadata *_metadata, __u32 flags,
			 int others)
{
	const struct fail_case c = {
		"the first event", prepare_first, mark_first, check_first,
		.of = &first.pid, .arg = flags,
	};
	const char *why = fail_nth_begin(false);

	if (why)
		SKIP(return, "%s", why);
	beside = others;
	EXPECT_TRUE(fail_one(&c));
	fail_nth_end();
	/* A bare task allocates at its first event. */
	EXPECT_TRUE(failing.allocations > 0 || flags != UT_ATTACH_SYSTEM);
	TH_LOG("%ld events lost", lost);
}

TEST_F(utrace, first_event_under_a_system_engine)
{
	first_events(_metadata, UT_ATTACH_SYSTEM, 0);
}

TEST_F(utrace, first_event_beside_own_engines)
{
	first_events(_metadata, UT_ATTACH_SYSTEM, 2);
}

TEST_F(utrace, first_event_of_an_own_engine)
{
	first_events(_metadata, UT_ATTACH_PROCESS, 2);
}

/*
 * The child that executes the helper, which makes one marker call; its exit
 * status, -1 if a signal ended the child; and the children with status 0.
 */
static pid_t child;
static int child_status, worked;

/*
 * A copy of the helper in memory.  A failing allocation may break the root file
 * system for good: 9p cannot open any file after that (EINVAL).
 */
static int helper_fd = -1;

static bool copy_helper(void)
{
	int from = open(ut_helper(), O_RDONLY | O_CLOEXEC);
	int to = memfd_create("helper", MFD_CLOEXEC);
	char path[64], buf[65536];
	bool good = from >= 0 && to >= 0;
	ssize_t n = 0;

	while (good && (n = read(from, buf, sizeof(buf))) > 0)
		good = write(to, buf, n) == n;
	/* A file that is open for writing cannot be executed, so reopen it. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	helper_fd = open(path, O_RDONLY | O_CLOEXEC);
	close(from);
	close(to);
	return good && !n && helper_fd >= 0;
}

static void prepare_exec(void)
{
	ut_drain();
	lost_before = ut_ioctl(UT_IOC_LOST, NULL);
}

/* Run the helper with an allocation failing. */
static int run_helper(void)
{
	char * const argv[] = { (char *)"helper", (char *)"mark", NULL };
	char * const envp[] = { NULL };
	siginfo_t info = {};
	int status = 0, nth;

	/* fork() would take half a second on a debug kernel. */
	child = vfork();
	if (!child) {
		/* Drop what the helper prints when it fails. */
		close(STDERR_FILENO);
		nth = fail_nth_open(0);
		if (fail_nth_arm(nth, failing.n))
			syscall(SYS_execveat, helper_fd, "", argv, envp, AT_EMPTY_PATH);
		fail_nth_left(nth);
		_exit(50);
	}
	if (!fail_need(child > 0 &&
		       ut_until(!waitid(P_PID, child, &info,
					WEXITED | WNOHANG | WNOWAIT) &&
				info.si_pid == child), "the end of the helper"))
		return 0;
	nth = fail_nth_open(child);
	failing.left = fail_nth_left(nth);
	close(nth);
	fail_need(waitpid(child, &status, 0) == child, "wait");
	child_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return 0;
}

/*
 * If the program ran, its EXEC and its marker call were reported or counted as
 * lost; if not, each was reported at most once.  Without a failure it ran.
 */
static bool check_exec(int ret)
{
	int execs = ut_matches(0, id, UT_EV_EXEC, child, UT_ANY);
	int marks = ut_matches(0, id, UT_EV_SYSCALL_ENTRY, child, UT_MARK_NR);
	long now = ut_ioctl(UT_IOC_LOST, NULL) - lost_before;

	worked += !child_status;
	lost += now;
	if (execs <= 1 && marks <= 1 &&
	    (child_status ? !failing.left : execs + marks + now >= 2))
		return true;
	printf("# status %d, %d EXEC, %d marks, %ld lost\n", child_status,
	       execs, marks, now);
	return false;
}

/*
 * Let each GFP_KERNEL allocation between the execve() and the end of the
 * program fail; pages of user space do not fail.
 */
static void fail_exec(struct __test_metadata *_metadata, __u32 scope)
{
	static const struct fail_case c = {
		"execve", prepare_exec, run_helper, check_exec,
		.elsewhere = true,
	};
	static const int mark[] = { UT_MARK_NR };
	const char *why = fail_nth_begin(false);

	if (why)
		SKIP(return, "%s", why);
	id = ut_attach_full(0, scope, UT_OPS_FULL, 0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_filter(id, mark, 1));
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(EXEC) | UT_BIT(SYSCALL_ENTRY)));
	ASSERT_TRUE(copy_helper());
	EXPECT_TRUE(fail_one(&c));
	EXPECT_LT(0, failing.allocations);
	fail_nth_end();
	close(helper_fd);
	TH_LOG("%d programs ran, %ld events lost", worked, lost);
}

/* In seconds: about 150 programs of up to a second each on a debug kernel. */
#define EXECS_S		(600 * ut_patience())

TEST_F_TIMEOUT(utrace, exec_in_a_tree, EXECS_S)
{
	fail_exec(_metadata, UT_ATTACH_TREE);
}

TEST_F_TIMEOUT(utrace, exec_under_a_system_engine, EXECS_S)
{
	fail_exec(_metadata, UT_ATTACH_SYSTEM);
}

/* The process tracer. */

static int tracer_on(void)
{
	return storm_tracer(true);
}

static bool check_on(int ret)
{
	if (!ret)
		storm_tracer(false);
	return ut_runs(t);
}

static int tracer_comms(void)
{
	return storm_write("process/comms", "someone else\n", O_APPEND);
}

static int tracer_events(void)
{
	return storm_write("process/events", "fork exec\n", O_TRUNC);
}

static int tracer_syscalls(void)
{
	return storm_write("process/syscalls", "openat\n", O_TRUNC);
}

static bool check_runs(int ret)
{
	return ut_runs(t);
}

static const struct fail_case tracer_start = {
	"tracer: on", NULL, tracer_on, check_on,
};

static const struct fail_case tracer_files[] = {
	{ "tracer: comms", NULL, tracer_comms, check_runs },
	{ "tracer: events", NULL, tracer_events, check_runs },
	{ "tracer: syscalls", NULL, tracer_syscalls, check_runs },
};

TEST_F(utrace, tracer)
{
	const char *why = fail_nth_begin(false);

	if (why)
		SKIP(return, "%s", why);
	if (storm_match("comms", "nobody", 1))
		SKIP(return, "no process tracer");
	t = &self->t;
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	EXPECT_TRUE(fail_one(&tracer_start));
	EXPECT_EQ(0, tracer_on());
	EXPECT_TRUE(fail_each(tracer_files));
	fail_nth_end();
	storm_unmatch();
}

TEST_HARNESS_MAIN
