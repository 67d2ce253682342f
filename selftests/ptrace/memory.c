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
	unsigned long addr;
};

static struct user_regs_struct regs;
static siginfo_t info;
static unsigned char call_info[88];
static long message;
static unsigned char xstate[16 << 10];
static struct iovec xstate_iov = { xstate, sizeof(xstate) };

static const struct op ops[] = {
	{ "PTRACE_SEIZE", true, false, PTRACE_SEIZE,
	  PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXIT },
	{ "PTRACE_ATTACH", true, false, PTRACE_ATTACH, 0 },
	{ "PTRACE_INTERRUPT", false, true, PTRACE_INTERRUPT, 0 },
	{ "PTRACE_GETREGS", false, false, PTRACE_GETREGS, (long)&regs },
	{ "PTRACE_GETSIGINFO", false, false, PTRACE_GETSIGINFO, (long)&info },
	{ "PTRACE_GETEVENTMSG", false, false, PTRACE_GETEVENTMSG,
	  (long)&message },
	{ "PTRACE_GET_SYSCALL_INFO", false, false, 0x420e, (long)call_info,
	  sizeof(call_info) },
	{ "PTRACE_GETREGSET", false, false, PTRACE_GETREGSET,
	  (long)&xstate_iov, NT_X86_XSTATE },
	{ "PTRACE_SETREGSET", false, false, PTRACE_SETREGSET,
	  (long)&xstate_iov, NT_X86_XSTATE },
	{ "PTRACE_POKEUSER of an address", false, false, PTRACE_POKEUSER,
	  (long)actor_break, offsetof(struct user, u_debugreg[0]) },
	/* The address that goes with it is 0, where the actor never writes. */
	{ "PTRACE_POKEUSER of DR7", false, false, PTRACE_POKEUSER, 0x90001,
	  offsetof(struct user, u_debugreg[7]) },
	{ "PTRACE_SETOPTIONS", false, false, PTRACE_SETOPTIONS,
	  PTRACE_O_TRACEEXIT | PTRACE_O_TRACEVFORKDONE },
	{ "PTRACE_SYSCALL", false, false, PTRACE_SYSCALL, 0 },
	{ "PTRACE_SINGLESTEP", false, false, PTRACE_SINGLESTEP, 0 },
	{ "PTRACE_SINGLEBLOCK", false, false, PTRACE_SINGLEBLOCK, 0 },
	{ "PTRACE_LISTEN", false, false, PTRACE_LISTEN, 0 },
	{ "PTRACE_CONT", false, false, PTRACE_CONT, 0 },
	{ "PTRACE_CONT with a signal", false, false, PTRACE_CONT, SIGUSR1 },
	{ "PTRACE_DETACH", false, false, PTRACE_DETACH, 0 },
	{}
};

static long ask_at(long request, pid_t pid, unsigned long addr,
		   unsigned long data)
{
	return syscall(SYS_ptrace, request, pid, addr, data) < 0 ? -errno : 0;
}

static long ask(long request, pid_t pid, unsigned long data)
{
	return ask_at(request, pid, 0, data);
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

/*
 * Read the extended state, of which the actor uses nothing, so that it may be
 * written at any time.  Without such a state the requests for it get ENODEV.
 */
static bool read_xstate(pid_t pid)
{
	long ret = -ESRCH;

	if (seize(pid))
		ret = ask_at(PTRACE_GETREGSET, pid, NT_X86_XSTATE,
			     (long)&xstate_iov);
	if (ret == -ENODEV)
		xstate_iov.iov_len = 0;
	return leave(pid) && (!ret || ret == -ENODEV);
}

static bool is_void(const struct op *op)
{
	return op->addr == NT_X86_XSTATE && !xstate_iov.iov_len;
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
	ret = ask_at(op->request, pid, op->addr, op->data);
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
	ASSERT_TRUE(read_xstate(t->pid));
	for (op = ops; op->name; op++) {
		if (is_void(op))
			continue;
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

/*
 * Pass all stops on until the actor has done something more than @done, and see
 * whether a child of the actor has stopped.
 */
static bool serve(struct ut_target *t, int done, bool *followed)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	int status;
	pid_t pid;

	*followed = false;
	while (t->sh->value[ACTOR_DONE] == done) {
		pid = waitpid(-1, &status, __WALL | WNOHANG);
		if (pid > 0 && WIFSTOPPED(status)) {
			*followed |= pid != t->pid;
			pass_stop(pid, status);
		}
		if (ut_now_ms() > end)
			return false;
	}
	return true;
}

/* Check whether the actor made a child in its last action. */
static bool made_child(struct ut_target *t, int action)
{
	return action == ACTOR_CLONES ? !t->sh->value[ACTOR_RESULT] :
					t->sh->value[ACTOR_CHILD] > 0;
}

/*
 * A clone fails, or makes a child that is followed.  In both cases the task
 * goes on.
 */
static void follow(struct __test_metadata *_metadata, struct two_data *self,
		   int action, long options)
{
	const char *why = fail_nth_why_not();
	struct ut_target *t = &self->t;
	bool used = true, followed;
	int fd, n;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, ask(PTRACE_SEIZE, t->pid, options));
	fd = fail_nth_open(t->pid);
	ASSERT_LE(0, fd);
	ASSERT_TRUE(fail_nth_enable(true));
	for (n = 1; n < FAIL_NTH_MOST && used; n++) {
		t->sh->go[1] = 1;
		ASSERT_TRUE(fail_nth_arm(fd, n));
		actor_do(t, action);
		ASSERT_TRUE(serve(t, n - 1, &followed));
		EXPECT_EQ(made_child(t, action), followed) {
			TH_LOG("allocation %d", n);
		}
		used = !fail_nth_left(fd);
	}
	printf("# %d allocations\n", n - 2);
	fail_nth_enable(false);
	close(fd);
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

TEST_F(tracers, fork)
{
	follow(_metadata, self, ACTOR_FORKS, PTRACE_O_TRACEFORK);
}

TEST_F(tracers, vfork)
{
	follow(_metadata, self, ACTOR_VFORKS,
	       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE);
}

TEST_F(tracers, clone)
{
	follow(_metadata, self, ACTOR_CLONES, PTRACE_O_TRACECLONE);
}

/* What value[] of a target that asks for a tracing is for. */
enum { ASK_RESULT, ASK_LEFT, ASK_DONE };

/* Function of a target: go[0] is the allocation that fails. */
static int asks(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	int fd = fail_nth_open(0);
	int n;

	ut_say(t);
	while (!sh->quit) {
		sh->counter++;
		n = sh->go[0];
		if (!n)
			continue;
		sh->go[0] = 0;
		if (!fail_nth_arm(fd, n))
			return 1;
		sh->value[ASK_RESULT] = ask(PTRACE_TRACEME, 0, 0);
		sh->value[ASK_LEFT] = fail_nth_left(fd);
		sh->value[ASK_DONE]++;
	}
	return 0;
}

/* A tracer without PTRACE_SEIZE leaves in the stop of a signal. */
static bool leave_at_signal(struct two_tracer *first, pid_t pid)
{
	return !kill(pid, SIGUSR1) &&
	       two_wait(first, pid) == two_stop(SIGUSR1) &&
	       !two_cont(first, pid, SIGUSR1) && stops(pid) &&
	       !ask(PTRACE_DETACH, pid, 0);
}

/* The child asks the test to be a further tracer. */
TEST_F(tracers, traceme)
{
	const char *why = fail_nth_why_not();
	struct ut_target *t = &self->t;
	bool used = true;
	int n;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn(t, asks));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_TRUE(fail_nth_enable(true));
	for (n = 1; n < FAIL_NTH_MOST && used; n++) {
		t->sh->go[0] = n;
		ASSERT_TRUE(ut_until(t->sh->value[ASK_DONE] == n));
		used = !t->sh->value[ASK_LEFT];
		if (t->sh->value[ASK_RESULT]) {
			EXPECT_TRUE(used);
			EXPECT_EQ(-ENOMEM, t->sh->value[ASK_RESULT]);
			EXPECT_FALSE(is_attached(t->pid));
		} else {
			EXPECT_TRUE(is_attached(t->pid));
			ASSERT_TRUE(leave_at_signal(&self->p, t->pid));
			EXPECT_FALSE(is_attached(t->pid));
		}
	}
	printf("# PTRACE_TRACEME: %d allocations\n", n - 2);
	fail_nth_enable(false);
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

TEST_HARNESS_MAIN
