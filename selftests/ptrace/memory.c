// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - allocations that fail in requests of a further tracer
 *
 * The test itself is the further tracer.  Each request is repeated: the first
 * allocation fails, then the second, until the request makes fewer.  A request
 * that fails leaves a tracing that works, and an attach that fails leaves none.
 */
#include "../fail_nth.h"
#include "two.h"

struct op {
	const char *name;
	bool attaches;		/* else the task is in a stop before */
	bool runs;		/* the task runs before */
	long request;
	unsigned long data;
};

static struct user_regs_struct regs;
static siginfo_t info;
static unsigned char call_info[88];
static long message;

static const struct op ops[] = {
	{ "PTRACE_SEIZE", true, false, PTRACE_SEIZE,
	  PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXIT },
	{ "PTRACE_ATTACH", true, false, PTRACE_ATTACH, 0 },
	{ "PTRACE_INTERRUPT", false, true, PTRACE_INTERRUPT, 0 },
	{ "PTRACE_GETREGS", false, false, PTRACE_GETREGS, (long)&regs },
	{ "PTRACE_GETSIGINFO", false, false, PTRACE_GETSIGINFO, (long)&info },
	{ "PTRACE_GETEVENTMSG", false, false, PTRACE_GETEVENTMSG,
	  (long)&message },
	{ "PTRACE_GET_SYSCALL_INFO", false, false, 0x420e, (long)call_info },
	{ "PTRACE_SETOPTIONS", false, false, PTRACE_SETOPTIONS,
	  PTRACE_O_TRACEEXIT | PTRACE_O_TRACEVFORKDONE },
	{ "PTRACE_SYSCALL", false, false, PTRACE_SYSCALL, 0 },
	{ "PTRACE_SINGLESTEP", false, false, PTRACE_SINGLESTEP, 0 },
	{ "PTRACE_LISTEN", false, false, PTRACE_LISTEN, 0 },
	{ "PTRACE_CONT", false, false, PTRACE_CONT, 0 },
	{ "PTRACE_CONT with a signal", false, false, PTRACE_CONT, SIGUSR1 },
	{ "PTRACE_DETACH", false, false, PTRACE_DETACH, 0 },
	{}
};

static long ask(long request, pid_t pid, unsigned long data)
{
	unsigned long addr = request == 0x420e ? sizeof(call_info) : 0;

	return syscall(SYS_ptrace, request, pid, addr, data) < 0 ? -errno : 0;
}

/* Wait for a stop of the tracee for the test. */
static bool stops(pid_t pid)
{
	int status = 0;

	return ut_waitpid(pid, &status, __WALL) == 1 && WIFSTOPPED(status);
}

static bool seize(pid_t pid)
{
	return !ask(PTRACE_SEIZE, pid, 0) && !ask(PTRACE_INTERRUPT, pid, 0) &&
	       stops(pid);
}

/* End the tracing, whatever state it is in. */
static bool leave(pid_t pid)
{
	int status;

	while (ask(PTRACE_DETACH, pid, 0)) {
		if (ask(PTRACE_INTERRUPT, pid, 0) == -ESRCH)
			return false;
		ut_until(waitpid(pid, &status, __WALL | WNOHANG) == pid);
	}
	return true;
}

static bool is_attached(pid_t pid)
{
	char own[16];
	const char *last = strrchr(two_tracers(pid), ' ');

	snprintf(own, sizeof(own), " %d", getpid());
	return last && !strcmp(last, own);
}

/* One request; false if its result is wrong, or it leaves something behind. */
static bool one(const struct op *op, int fd, int n, pid_t pid, bool *used)
{
	bool before = !op->attaches;
	long ret;

	if (before && (!seize(pid) || (op->runs && ask(PTRACE_CONT, pid, 0))))
		return false;
	if (!fail_nth_arm(fd, n))
		return false;
	ret = ask(op->request, pid, op->data);
	*used = !fail_nth_left(fd);
	if (ret && (!*used || ret != -ENOMEM)) {
		printf("# %s, allocation %d: %ld\n", op->name, n, ret);
		return false;
	}
	if (op->request == PTRACE_ATTACH && !ret && !stops(pid))
		return false;
	if ((op->attaches && ret) || (op->request == PTRACE_DETACH && !ret))
		return !is_attached(pid);
	return is_attached(pid) && leave(pid);
}

TEST_F(tracers, requests)
{
	const char *why = fail_nth_why_not();
	struct ut_target *t = &self->t;
	const struct op *op;
	bool used;
	int fd, n;

	if (why)
		SKIP(return, "%s", why);
	fd = fail_nth_open(0);
	ASSERT_LE(0, fd);
	ASSERT_TRUE(fail_nth_enable(true));
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	for (op = ops; op->name; op++) {
		used = true;
		for (n = 1; n < FAIL_NTH_MOST && used; n++) {
			EXPECT_TRUE(one(op, fd, n, t->pid, &used)) {
				TH_LOG("%s, allocation %d", op->name, n);
				used = false;
			}
		}
		printf("# %s: %d allocations\n", op->name, n - 2);
	}
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
	fail_nth_enable(false);
	close(fd);
}

/* Pass all stops on until the actor has done something more than @done. */
static bool serve(struct ut_target *t, int done)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	int status;
	pid_t pid;

	while (t->sh->value[ACTOR_DONE] == done) {
		pid = waitpid(-1, &status, __WALL | WNOHANG);
		if (pid > 0 && WIFSTOPPED(status))
			ask(PTRACE_CONT, pid,
			    status >> 16 ? 0 : WSTOPSIG(status));
		if (ut_now_ms() > end)
			return false;
	}
	return true;
}

/*
 * A fork fails, or makes a child that is followed or, as the log says, is not.
 * In any case the task goes on.
 */
TEST_F(tracers, fork)
{
	const char *why = fail_nth_why_not();
	struct ut_target *t = &self->t;
	bool used = true;
	int fd, n;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, ask(PTRACE_SEIZE, t->pid, PTRACE_O_TRACEFORK));
	fd = fail_nth_open(t->pid);
	ASSERT_LE(0, fd);
	ASSERT_TRUE(fail_nth_enable(true));
	for (n = 1; n < FAIL_NTH_MOST && used; n++) {
		t->sh->go[1] = 1;
		ASSERT_TRUE(fail_nth_arm(fd, n));
		actor_do(t, ACTOR_FORKS);
		ASSERT_TRUE(serve(t, n - 1));
		used = !fail_nth_left(fd);
	}
	printf("# a fork: %d allocations\n", n - 2);
	fail_nth_enable(false);
	close(fd);
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

TEST_HARNESS_MAIN
