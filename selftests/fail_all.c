// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that fails: each call of the interface, and each event, with the first
 * allocation that it makes failing, then with the second one, until there is
 * none with that number.
 *
 * What is asserted: only the documented results come, nothing is left half
 * done, and each event is either told of or counted as lost.  What leaks, the
 * kernel's leak detector tells.  /dev/utrace has this in dev/memory.c.
 */
#include "fail_nth.h"
#include "fixture.h"
#include "storm.h"

/* Of the caller: opened before, so that nothing else fails. */
static int own_nth = -1;

/* NULL, or why nothing can be made to fail. */
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

/**
 * struct op - one call
 * @name: for what is printed
 * @call: what is to be done, the failing allocations being armed
 * @undo: puts things back after a call that succeeded
 * @check: whether nothing is left after one that failed
 * @may: another documented result than 0 and -ENOMEM
 */
struct op {
	const char *name;
	int (*call)(struct ut_target *t);
	void (*undo)(struct ut_target *t);
	bool (*check)(struct ut_target *t);
	int may;
};

/* The engine at hand. */
static int id;

static bool has_none(struct ut_target *t)
{
	char buf[8192];

	return ut_read_file(buf, sizeof(buf), "/proc/%d/utrace", t->pid) > 0 &&
	       !strstr(buf, "test_engine ");
}

/* The target's engine is told of all that is asked for. */
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

/* A detach cannot fail; who is detached is not called, memory or not. */
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

/* Spins in user mode, then makes one mark for each go. */
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

/* Until it was told of, or counted. */
static bool accounted(int engine, long lost)
{
	return ut_count(engine, UT_EV_SYSCALL_ENTRY) +
	       ut_ioctl(UT_IOC_LOST, NULL) - lost > 0;
}

/*
 * The first event of a task under an engine: that is where the task gets what
 * it needs for it.  It is told of or counted, and the next one is told of.
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
	/* An engine of the system has got nothing for the task before. */
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

/**
 * struct execution - the helper, which makes one mark, executed by a child
 * @pid: the child
 * @status: its exit status, -1 if a signal ended it
 * @left: what is left of its fail-nth when it is dead
 * @execs: EXECs of it
 * @marks: and marks
 * @lost: events that were counted as lost meanwhile
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
 * A copy of the helper in memory, to be executed only.  A root file system may not
 * get over a failure of its own: that of 9p opens no file any more (EINVAL).
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
	/* What may be written is busy. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	helper_fd = open(path, O_RDONLY | O_CLOEXEC);
	close(from);
	close(to);
	return good && !n && helper_fd >= 0;
}

/* Let it run with the n-th allocation failing; false if it does not end. */
static bool exec_with(struct execution *exec, int n)
{
	char * const argv[] = { (char *)"helper", (char *)"mark", NULL };
	char * const envp[] = { NULL };
	siginfo_t info = {};
	int status = 0, nth;

	/* A copy of this process takes the kernel debug half a second. */
	exec->pid = vfork();
	if (!exec->pid) {
		/* What the program says of its failure is for nobody. */
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
 * Each allocation of the kernel for itself, from execve() to the end of the program;
 * pages of user space do not fail.  If it ran, its EXEC and its mark have come or are
 * counted as lost; if not there is one of each at most.
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
	/* The last one had all that it wanted, and those before had not. */
	EXPECT_LT(0, exec.left);
	EXPECT_LT(2, n);
	EXPECT_EQ(0, exec.status);
	TH_LOG("%d allocations: %d programs ran, %d events lost", n - 2, worked, lost);
}

/* In seconds: some 150 programs, each up to a second on the kernel debug. */
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

/* The process tracer */

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
