// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - allocations that fail in requests of a further tracer
 *
 * The test itself is the further tracer.  A request that fails leaves a tracing
 * that works, and an attach that fails leaves none.
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

/* The request at hand, and the tracee. */
static const struct op *op;
static struct ut_target *t;

static void prepare_request(void)
{
	if (op->attaches)
		return;
	fail_need(seize(t->pid) &&
		  (!op->runs || !ask(PTRACE_CONT, t->pid, 0)), "PTRACE_SEIZE");
}

static int request(void)
{
	return ask_at(op->request, t->pid, op->addr, op->data);
}

/* A tracer that is attached can leave. */
static bool check_request(int ret)
{
	if (op->request == PTRACE_ATTACH && !ret && !stops(t->pid))
		return false;
	if ((op->attaches && ret) || (op->request == PTRACE_DETACH && !ret))
		return !is_attached(t->pid);
	return is_attached(t->pid) && leave(t->pid);
}

TEST_F(tracers, requests)
{
	struct fail_case c = { NULL, prepare_request, request, check_request };
	const char *why = fail_nth_begin(false);

	if (why)
		SKIP(return, "%s", why);
	t = &self->t;
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_TRUE(read_xstate(t->pid));
	for (op = ops; op->name; op++) {
		if (is_void(op))
			continue;
		c.name = op->name;
		EXPECT_TRUE(fail_one(&c));
	}
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
	fail_nth_end();
}

/*
 * Pass all stops on until the actor has done something more than @done, and see
 * whether a child of the actor has stopped.
 */
static bool serve(int done, bool *followed)
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
static bool made_child(void)
{
	return failing.c->arg == ACTOR_CLONES ? !t->sh->value[ACTOR_RESULT] :
					t->sh->value[ACTOR_CHILD] > 0;
}

static bool followed;

static void prepare_child(void)
{
	t->sh->go[1] = 1;
}

static int make_child(void)
{
	actor_do(t, failing.c->arg);
	fail_need(serve(failing.n - 1, &followed), "the actor");
	return 0;
}

/* A clone fails, or makes a child that is followed. */
static bool check_child(int ret)
{
	return made_child() == followed;
}

/* In both cases the task goes on. */
static void follow(struct __test_metadata *_metadata, struct two_data *self,
		   int action, long options)
{
	const struct fail_case c = {
		"a clone of the actor", prepare_child, make_child, check_child,
		.of = &self->t.pid, .arg = action,
	};
	const char *why = fail_nth_begin(false);

	if (why)
		SKIP(return, "%s", why);
	t = &self->t;
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, ask(PTRACE_SEIZE, t->pid, options));
	EXPECT_TRUE(fail_one(&c));
	fail_nth_end();
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

/* Elements of ut_shared.value of a target that asks for a tracing. */
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
static bool leave_at_signal(struct two_tracer *tr, pid_t pid)
{
	return !kill(pid, SIGUSR1) &&
	       two_wait(tr, pid) == two_stop(SIGUSR1) &&
	       !two_cont(tr, pid, SIGUSR1) && stops(pid) &&
	       !ask(PTRACE_DETACH, pid, 0);
}

/* The first tracer. */
static struct two_tracer *first;

static int traceme(void)
{
	t->sh->go[0] = failing.n;
	fail_need(ut_until(t->sh->value[ASK_DONE] == failing.n), "the request");
	failing.left = t->sh->value[ASK_LEFT];
	return t->sh->value[ASK_RESULT];
}

static bool check_traceme(int ret)
{
	bool good = is_attached(t->pid) == !ret;

	if (!ret)
		fail_need(leave_at_signal(first, t->pid), "the detach");
	return !is_attached(t->pid) && good;
}

/* The child asks the test to be a further tracer. */
TEST_F(tracers, traceme)
{
	static const struct fail_case c = {
		"PTRACE_TRACEME", NULL, traceme, check_traceme,
		.elsewhere = true,
	};
	const char *why = fail_nth_begin(false);

	if (why)
		SKIP(return, "%s", why);
	t = &self->t;
	first = &self->p;
	ASSERT_TRUE(ut_spawn(t, asks));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(first, t->pid, 0));
	EXPECT_TRUE(fail_one(&c));
	fail_nth_end();
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(first, t->pid));
}

TEST_HARNESS_MAIN
