// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - allocations that fail in every call and every event
 *
 * A test repeats a call or an event: the first allocation fails, then the
 * second, until fewer allocations are made.  It asserts that only documented
 * results come, that nothing is left half done, and that each event is either
 * reported or counted as lost.  Leaks are left to the kernel's leak detector.
 * dev/memory.c does the same for /dev/utrace.
 */
#include "fail_nth.h"
#include "fixture.h"
#include "storm.h"

/* The test's own fail-nth, opened early so that the open cannot fail. */
static int own_nth = -1;

/* NULL, or why allocations cannot be made to fail. */
static const char *begin_failing(void)
{
	const char *why = fail_nth_why_not();

	if (why)
		return why;
	own_nth = fail_nth_open(0);
	return fail_nth_enable(true) ? NULL : "debugfs is read-only";
}

static void end_failing(void)
{
	fail_nth_enable(false);
	close(own_nth);
}

/*
 * One call of the interface.
 *
 * @name: for messages
 * @call: makes the call, with fail-nth armed
 * @undo: takes back a call that succeeded
 * @check: check that a failed call leaves nothing behind
 * @may: a documented result other than 0 and -ENOMEM
 */
struct op {
	const char *name;
	int (*call)(struct ut_target *t);
	void (*undo)(struct ut_target *t);
	bool (*check)(struct ut_target *t);
	int may;
};

/* Number of the engine that the current call is about. */
static int id;

static bool has_none(struct ut_target *t)
{
	char buf[8192];

	return ut_read_file(buf, sizeof(buf), "/proc/%d/utrace", t->pid) > 0 &&
	       !strstr(buf, "test_engine ");
}

/* Check that the engine sees the target's calls. */
static bool works(struct ut_target *t)
{
	long before = ut_count(id, UT_EV_SYSCALL_ENTRY);

	return before >= 0 &&
	       ut_until(ut_count(id, UT_EV_SYSCALL_ENTRY) > before);
}

static int attach(struct ut_target *t, __u32 flags)
{
	id = ut_attach_full(t->pid, flags, UT_OPS_FULL, ~0U);
	return id < 0 ? id : 0;
}

static int attach_thread(struct ut_target *t)
{
	return attach(t, 0);
}

static int attach_process(struct ut_target *t)
{
	return attach(t, UT_ATTACH_PROCESS);
}

static int attach_tree(struct ut_target *t)
{
	return attach(t, UT_ATTACH_TREE);
}

static int attach_system(struct ut_target *t)
{
	return attach(t, UT_ATTACH_SYSTEM);
}

static int attach_exclusive(struct ut_target *t)
{
	return attach(t, UT_ATTACH_EXCLUSIVE | UT_ATTACH_MATCH_OPS);
}

static void undo_attach(struct ut_target *t)
{
	ut_detach(id);
}

static const struct op attaches[] = {
	{ "attach to a thread", attach_thread, undo_attach, has_none },
	{ "attach to a process", attach_process, undo_attach, has_none },
	{ "attach to a tree", attach_tree, undo_attach, has_none },
	{ "attach to the system", attach_system, undo_attach, has_none },
	{ "attach if alone", attach_exclusive, undo_attach, has_none },
};

static int find(struct ut_target *t)
{
	struct ut_attach arg = { .pid = t->pid, .flags = UT_ATTACH_ANY_SCOPE };

	return ut_ioctl(UT_IOC_ATTACH, &arg);
}

static int events(struct ut_target *t)
{
	return ut_events(id, 0, UT_ALL & ~UT_BIT(SIGNAL_IGN));
}

static int no_events(struct ut_target *t)
{
	return ut_events(id, 0, UT_BIT(EXEC));
}

static void undo_events(struct ut_target *t)
{
	ut_events(id, 0, UT_SYSCALL | UT_BIT(QUIESCE));
}

static int filter(struct ut_target *t)
{
	static const int some[] = { UT_MARK_NR, SYS_read, SYS_write };

	return ut_filter(id, some, 3);
}

static void undo_filter(struct ut_target *t)
{
	ut_filter(id, NULL, 0);
}

static int stop(struct ut_target *t)
{
	return ut_control(id, 0, UT_STOP);
}

static void resume(struct ut_target *t)
{
	ut_control(id, 0, UT_RESUME);
}

static int report(struct ut_target *t)
{
	return ut_control(id, 0, UT_REPORT);
}

static int interrupt(struct ut_target *t)
{
	return ut_control(id, 0, UT_INTERRUPT);
}

static int barrier(struct ut_target *t)
{
	return ut_barrier(id, 0);
}

static int barrier_sync(struct ut_target *t)
{
	return ut_barrier_sync(id);
}

static int examine(struct ut_target *t)
{
	struct ut_examine arg = { .id = id, .tid = t->pid };

	return ut_ioctl(UT_IOC_EXAMINE, &arg);
}

static int rule(struct ut_target *t)
{
	return ut_rule(.id = id, .event = UT_EV_EXIT, .answer = UT_RESUME);
}

static int log_read(struct ut_target *t)
{
	struct ut_log arg = { .max = 0 };

	return ut_ioctl(UT_IOC_LOG, &arg);
}

static int proc_read(struct ut_target *t)
{
	char buf[4096];
	int ret = ut_read_file(buf, sizeof(buf), "/proc/%d/utrace", t->pid);

	return ret < 0 ? ret : 0;
}

static void nothing(struct ut_target *t)
{
}

static const struct op others[] = {
	{ "find", find, nothing, works },
	{ "set_events, more", events, undo_events, works, -EINPROGRESS },
	{ "set_events, fewer", no_events, undo_events, works, -EINPROGRESS },
	{ "set_syscall_filter", filter, undo_filter, works },
	{ "stop", stop, resume, works, -EINPROGRESS },
	{ "report", report, nothing, works },
	{ "interrupt", interrupt, nothing, works },
	{ "barrier", barrier, nothing, works },
	{ "barrier_sync", barrier_sync, nothing, works },
	{ "examine", examine, nothing, works },
	{ "a rule", rule, nothing, works },
	{ "the log", log_read, nothing, works },
	{ "/proc", proc_read, nothing, works },
};

static void fail_each(struct __test_metadata *_metadata, struct ut_target *t,
		      const struct op *op)
{
	int n, ret, failed = 0;
	bool used = true;

	for (n = 1; n < FAIL_NTH_MOST && used; n++) {
		ASSERT_TRUE(fail_nth_arm(own_nth, n));
		ret = op->call(t);
		used = fail_nth_left(own_nth) <= 0;
		EXPECT_TRUE(!ret || (used && ret == -ENOMEM) || ret == op->may) {
			TH_LOG("%s: allocation %d: %d", op->name, n, ret);
		}
		failed += ret == -ENOMEM;
		if (!ret || ret == op->may)
			op->undo(t);
		EXPECT_TRUE(op->check(t)) {
			TH_LOG("%s: after allocation %d: %d", op->name, n, ret);
		}
	}
	EXPECT_FALSE(used) {
		TH_LOG("%s: no end of it", op->name);
	}
	TH_LOG("%s: %d allocations, %d failures", op->name, n - 2, failed);
}

TEST_F(utrace, attaching)
{
	const char *why = begin_failing();
	unsigned int i;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn(&self->t, ut_calls));
	for (i = 0; i < ARRAY_SIZE(attaches); i++)
		fail_each(_metadata, &self->t, &attaches[i]);
	end_failing();
}

static void fail_others(struct __test_metadata *_metadata, struct ut_target *t,
			__u32 scope)
{
	const char *why = begin_failing();
	unsigned int i;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	id = ut_attach_full(t->pid, scope, UT_OPS_FULL, ~0U);
	ASSERT_LT(0, id);
	undo_events(t);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		fail_each(_metadata, t, &others[i]);
	end_failing();
}

TEST_F(utrace, thread_calls)
{
	fail_others(_metadata, &self->t, 0);
}

TEST_F(utrace, tree_calls)
{
	fail_others(_metadata, &self->t, UT_ATTACH_TREE);
}

/*
 * A detach never fails: no later pass calls the engine, short of memory or not.
 */
TEST_F(utrace, detaching)
{
	static const __u32 scopes[] = {
		0, UT_ATTACH_PROCESS, UT_ATTACH_TREE, UT_ATTACH_SYSTEM,
	};
	const char *why = begin_failing();
	unsigned int i;
	int n, ret;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn(&self->t, ut_calls));
	for (i = 0; i < ARRAY_SIZE(scopes); i++) {
		bool used = true;

		for (n = 1; n < FAIL_NTH_MOST && used; n++) {
			id = ut_attach_full(self->t.pid, scopes[i], UT_OPS_FULL,
					    (__u32)~UT_BIT(RELEASE));
			ASSERT_LT(0, id);
			ASSERT_EQ(0, ut_events(id, 0, UT_SYSCALL));
			ASSERT_TRUE(fail_nth_arm(own_nth, n));
			ret = ut_detach(id);
			used = fail_nth_left(own_nth) <= 0;
			EXPECT_TRUE(!ret || ret == -EINPROGRESS);
			EXPECT_LE(0, ut_wait(0, id, UT_EV_RELEASE, UT_ANY,
					     UT_ANY));
			ut_nrec = 0;
		}
		EXPECT_TRUE(has_none(&self->t));
		TH_LOG("scope %#x: %d allocations", scopes[i], n - 2);
	}
	end_failing();
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

/* Check that the event was reported or counted as lost. */
static bool accounted(int engine, long lost)
{
	return ut_count(engine, UT_EV_SYSCALL_ENTRY) +
	       ut_ioctl(UT_IOC_LOST, NULL) - lost > 0;
}

/*
 * The first event of a task under a new engine, when the task gets what it
 * needs for the pass.  The event is reported or counted as lost, and the next
 * one is reported.
 */
static void first_events(struct __test_metadata *_metadata, __u32 flags,
			 int others)
{
	static const int mark[] = { UT_MARK_NR };
	const char *why = begin_failing();
	int n, i, nth, left = 0, status, lost = 0;

	if (why)
		SKIP(return, "%s", why);
	for (n = 1; n < FAIL_NTH_MOST && !left; n++) {
		struct ut_target t = {};
		long lost_before;

		ASSERT_TRUE(ut_spawn(&t, mark_when_told));
		ASSERT_TRUE(ut_until(t.sh->value[0]));
		for (i = 0; i < others; i++)
			ASSERT_LT(0, ut_attach(t.pid, i % 2 ? UT_ATTACH_PROCESS :
					       0, UT_BIT(EXEC)));
		id = ut_attach_full(t.pid, flags, UT_OPS_FULL, ~0U);
		ASSERT_LT(0, id);
		ASSERT_EQ(0, ut_filter(id, mark, 1));
		ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
		lost_before = ut_ioctl(UT_IOC_LOST, NULL);
		nth = fail_nth_open(t.pid);
		ASSERT_TRUE(fail_nth_arm(nth, n));
		t.sh->value[1] = 1;
		ASSERT_TRUE(ut_until(t.sh->value[2] == 1));
		left = fail_nth_left(nth);
		close(nth);
		ASSERT_LE(0, left);
		EXPECT_TRUE(accounted(id, lost_before)) {
			TH_LOG("allocation %d: lost and not counted", n);
		}
		lost += !ut_count(id, UT_EV_SYSCALL_ENTRY);
		i = ut_count(id, UT_EV_SYSCALL_ENTRY);
		t.sh->value[1] = 2;
		ASSERT_TRUE(ut_until(t.sh->value[2] == 2));
		EXPECT_EQ(i + 1, ut_count(id, UT_EV_SYSCALL_ENTRY)) {
			TH_LOG("allocation %d: the next event is lost too", n);
		}
		t.sh->quit = 1;
		ASSERT_TRUE(ut_reap(&t, &status));
		ASSERT_EQ(0, ut_ioctl(UT_IOC_DETACH_ALL, NULL));
		munmap(t.sh, sizeof(*t.sh));
		for (i = 0; i < 2; i++) {
			close(t.to[i]);
			close(t.from[i]);
		}
		ut_npids = 0;
	}
	end_failing();
	EXPECT_LT(0, left);
	/* A bare task allocates at its first event. */
	EXPECT_TRUE(n > 2 || flags != UT_ATTACH_SYSTEM);
	TH_LOG("%d allocations, %d events lost", n - 2, lost);
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
 * A child that executes the helper, which makes one marker call.
 *
 * @pid: the child
 * @status: exit status, -1 if a signal ended the child
 * @left: what fail_nth_left() says when the child is dead
 * @execs: number of EXEC reports of the child
 * @marks: number of reports of its marker call
 * @lost: events that were counted as lost during the test
 */
struct execution {
	pid_t pid;
	int status;
	int left;
	int execs;
	int marks;
	long lost;
};

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

/*
 * Run the helper with its @n-th allocation failing; false if it does not end in
 * time.
 */
static bool exec_with(struct execution *exec, int n)
{
	char * const argv[] = { (char *)"helper", (char *)"mark", NULL };
	char * const envp[] = { NULL };
	siginfo_t info = {};
	int status = 0, nth;

	/* fork() would take half a second on a debug kernel. */
	exec->pid = vfork();
	if (!exec->pid) {
		/* Drop what the helper prints when it fails. */
		close(STDERR_FILENO);
		nth = fail_nth_open(0);
		if (fail_nth_arm(nth, n))
			syscall(SYS_execveat, helper_fd, "", argv, envp, AT_EMPTY_PATH);
		fail_nth_left(nth);
		_exit(50);
	}
	if (exec->pid < 0 ||
	    !ut_until(!waitid(P_PID, exec->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
		      info.si_pid == exec->pid))
		return false;
	nth = fail_nth_open(exec->pid);
	exec->left = fail_nth_left(nth);
	close(nth);
	if (waitpid(exec->pid, &status, 0) != exec->pid)
		return false;
	exec->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return true;
}

/*
 * Let each GFP_KERNEL allocation between the execve() and the end of the
 * program fail; pages of user space do not fail.  If the program ran, its EXEC
 * and its marker call were reported or counted as lost; if not, each was
 * reported at most once.
 */
static void fail_exec(struct __test_metadata *_metadata, __u32 scope)
{
	static const int mark[] = { UT_MARK_NR };
	struct execution exec = {};
	int n, worked = 0, lost = 0;
	const char *why = begin_failing();

	if (why)
		SKIP(return, "%s", why);
	id = ut_attach_full(0, scope, UT_OPS_FULL, 0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_filter(id, mark, 1));
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(EXEC) | UT_BIT(SYSCALL_ENTRY)));
	ASSERT_TRUE(copy_helper());
	for (n = 1; n < FAIL_NTH_MOST && !exec.left; n++) {
		ut_drain();
		exec.lost = ut_ioctl(UT_IOC_LOST, NULL);
		ASSERT_TRUE(exec_with(&exec, n));
		exec.lost = ut_ioctl(UT_IOC_LOST, NULL) - exec.lost;
		exec.execs = ut_matches(0, id, UT_EV_EXEC, exec.pid, UT_ANY);
		exec.marks = ut_matches(0, id, UT_EV_SYSCALL_ENTRY, exec.pid, UT_MARK_NR);
		worked += !exec.status;
		lost += exec.lost;
		EXPECT_TRUE(exec.execs <= 1 && exec.marks <= 1 &&
			    (exec.status || exec.execs + exec.marks + exec.lost >= 2)) {
			TH_LOG("allocation %d: status %d, %d EXEC, %d marks, %ld lost",
			       n, exec.status, exec.execs, exec.marks, exec.lost);
		}
	}
	end_failing();
	close(helper_fd);
	/*
	 * In the last round no allocation failed; earlier rounds had one that
	 * did.
	 */
	EXPECT_LT(0, exec.left);
	EXPECT_LT(2, n);
	EXPECT_EQ(0, exec.status);
	TH_LOG("%d allocations: %d programs ran, %d events lost", n - 2, worked, lost);
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

static bool fine(struct ut_target *t)
{
	return ut_runs(t);
}

/* The process tracer. */

static int tracer_make(struct ut_target *t)
{
	return storm_match("comms", "nobody", 1);
}

static void tracer_unmake(struct ut_target *t)
{
	storm_unmatch();
}

static int tracer_on(struct ut_target *t)
{
	return storm_tracer(true);
}

static void tracer_off(struct ut_target *t)
{
	storm_tracer(false);
}

static int tracer_comms(struct ut_target *t)
{
	return storm_write("process/comms", "someone else\n", O_APPEND);
}

static int tracer_events(struct ut_target *t)
{
	return storm_write("process/events", "fork exec\n", O_TRUNC);
}

static int tracer_syscalls(struct ut_target *t)
{
	return storm_write("process/syscalls", "openat\n", O_TRUNC);
}

static const struct op tracer_ops[] = {
	{ "tracer: on", tracer_on, tracer_off, fine },
	{ "tracer: comms", tracer_comms, nothing, fine },
	{ "tracer: events", tracer_events, nothing, fine },
	{ "tracer: syscalls", tracer_syscalls, nothing, fine },
};

TEST_F(utrace, tracer)
{
	const char *why = begin_failing();
	struct ut_target *t = &self->t;
	unsigned int i;

	if (why)
		SKIP(return, "%s", why);
	if (tracer_make(t))
		SKIP(return, "no process tracer");
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	fail_each(_metadata, t, &tracer_ops[0]);
	EXPECT_EQ(0, tracer_on(t));
	for (i = 1; i < ARRAY_SIZE(tracer_ops); i++)
		fail_each(_metadata, t, &tracer_ops[i]);
	end_failing();
	tracer_unmake(t);
}

TEST_HARNESS_MAIN
