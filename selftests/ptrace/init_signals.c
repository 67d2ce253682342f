// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - signals of a traced init of a pid namespace
 *
 * No process of the namespace can kill init by a signal that init does not
 * handle.  A tracer gets a signal that the kernel forces on init, and decides
 * whether to pass it; init stays protected.
 */
#include "sole.h"

/* The container of a user, with a namespace of users of its own. */
FIXTURE_VARIANT_ADD(tracers, container_of_a_user)
{
	.further = true, .user = true,
};

#define PASSES	3	/* stops at a fault that the tracer passes on */

/* Orders: go[0] of init, and go[1] of the other process of the namespace. */
enum { INIT_BREAKS = 1, INIT_SEGV, INIT_ILL, INIT_FPE, INIT_BUS };

/* Elements of ut_shared.value: results of kill(), and of faults. */
enum { KILL_RESULT, PAST };

enum disposition { IS_DEFAULT, IS_BLOCKED, IS_IGNORED };

/* The member kills init, by its number in the namespace. */
static void member(struct ut_shared *sh)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		while (!sh->go[1])
			usleep(1000);
		sh->value[KILL_RESULT] = kill(1, sh->go[1]) ? -errno : 1;
		sh->go[1] = 0;
	}
}

/* Each of these instructions has two bytes, but int3 has one. */
static void fault(int what, void *bus)
{
	switch (what) {
	case INIT_BREAKS:
		asm volatile ("int3");
		break;
	case INIT_SEGV:
		asm volatile ("mov %%al, (%%rax)" : : "a" (0L) : "memory");
		break;
	case INIT_ILL:
		asm volatile ("ud2");
		break;
	case INIT_FPE:
		asm volatile ("div %%ecx" : : "a" (1), "d" (0), "c" (0));
		break;
	case INIT_BUS:
		asm volatile ("mov %%al, (%%rax)" : : "a" (bus) : "memory");
		break;
	}
}

/*
 * Set the disposition of a signal; go[2] is the signal, go[3] the disposition.
 */
static void dispose(int sig, int disposition)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(disposition == IS_BLOCKED ? SIG_BLOCK : SIG_UNBLOCK, &set,
		    NULL);
	signal(sig, disposition == IS_IGNORED ? SIG_IGN : SIG_DFL);
}

/* Function of a target: init. */
static int init(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	int what, empty = memfd_create("empty", 0);
	void *bus = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, empty, 0);
	pid_t pid = fork();

	if (!pid)
		member(sh);
	if (pid < 0 || bus == MAP_FAILED)
		return 97;
	ut_say(t);
	for (;;) {
		sh->counter++;
		what = sh->go[0];
		if (!what)
			continue;
		sh->go[0] = 0;
		if (sh->go[2])
			dispose(sh->go[2], sh->go[3]);
		fault(what, bus);
		sh->value[PAST]++;
	}
}

static int (*container_init)(struct ut_target *t);

/* Function of a target: a user makes the namespaces, and ends. */
static int makes_container(struct ut_target *t)
{
	pid_t pid;

	if (!two_become(TWO_NOBODY) || unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return 97;
	pid = fork();
	if (!pid)
		_exit(container_init(t));
	t->sh->tid[0] = pid;
	return pid < 0 ? 98 : 0;
}

/* Init becomes a child of the test when the process that made it has ended. */
static bool start_container(struct two_data *self)
{
	struct ut_target *t = &self->t, guard = {};

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || !ut_spawn(t, makes_container) ||
	    !ut_reap(t, &self->status) || self->status)
		return false;
	t->pid = t->sh->tid[0];
	ut_pids[ut_npids - 1] = t->pid;
	guard.arg = t->pid;
	return ut_spawn(&guard, two_guard) && ut_hear(&guard);
}

static bool has_namespaces(const sole_variant *variant)
{
	return ut_has_pid_ns() &&
	       (!variant->user || !access("/proc/self/ns/user", F_OK));
}

/* Start @fn as init of a pid namespace. */
static bool start_init(struct two_data *self, const sole_variant *variant,
		       int (*fn)(struct ut_target *t))
{
	struct ut_target *t = &self->t;

	container_init = fn;
	return (variant->user ? start_container(self) :
				ut_spawn_in_new(t, fn, 0)) && ut_hear(t);
}

/* Start init under the tracer. */
static bool start(struct two_data *self, const sole_variant *variant)
{
	struct ut_target *t = &self->t;

	return start_init(self, variant, init) && ut_runs(t) &&
	       !sole_seize(self, variant, t->pid, 0);
}

/* Let the member send a signal to init. */
static bool member_kills(struct ut_target *t, int sig)
{
	t->sh->value[KILL_RESULT] = 0;
	t->sh->go[1] = sig;
	return ut_until(t->sh->value[KILL_RESULT]) &&
	       t->sh->value[KILL_RESULT] == 1;
}

/* Pass each signal of the member, until init runs for a while. */
static bool passes(struct two_data *self)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	long end, status;

	for (end = ut_now_ms() + 5 * UT_QUIET_MS; ut_now_ms() < end; ) {
		status = two_poll(s, t->pid);
		if (status == two_stop(SIGTERM) ||
		    status == two_stop(SIGSEGV) || status == two_stop(SIGUSR1))
			two_cont(s, t->pid, WSTOPSIG(status));
		else if (status != TWO_NONE && status != -ECHILD)
			return false;
	}
	return ut_runs(t);
}

/*
 * Check that init survives the signals of its member, which its tracer passes.
 * All signals share one wait, since each wait takes 300 ms.
 */
static bool is_protected(struct two_data *self)
{
	struct ut_target *t = &self->t;

	return member_kills(t, SIGTERM) && member_kills(t, SIGKILL) &&
	       member_kills(t, SIGSEGV) && member_kills(t, SIGUSR1) &&
	       passes(self);
}

/* Resume from a fault after the instruction, without the signal. */
static bool skip(struct two_tracer *tr, pid_t pid)
{
	struct user_regs_struct regs;

	if (two_regs(tr, pid, &regs))
		return false;
	regs.rip += 2;
	return !two_copy(tr, PTRACE_SETREGS, pid, 0, &regs, sizeof(regs)) &&
	       !two_cont(tr, pid, 0);
}

TEST_F(tracers, protected)
{
	if (!has_namespaces(variant))
		SKIP(return, "no namespaces of pids or of users");
	ASSERT_TRUE(start(self, variant));
	EXPECT_TRUE(is_protected(self));
	ASSERT_TRUE(two_leave(&self->s, self->t.pid));
	EXPECT_TRUE(is_protected(self));
}

/* The parent can kill it. */
TEST_F(tracers, killed_from_outside)
{
	if (!has_namespaces(variant))
		SKIP(return, "no namespaces of pids or of users");
	ASSERT_TRUE(start(self, variant));
	ASSERT_EQ(0, kill(self->t.pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(&self->s, self->t.pid));
	EXPECT_TRUE(ut_reap(&self->t, &self->status));
}

/* ptrace(2): the tracee stops for a signal that it ignores, too. */
TEST_F(tracers, signal_that_init_ignores)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	if (!has_namespaces(variant))
		SKIP(return, "no namespaces of pids or of users");
	ASSERT_TRUE(start(self, variant));
	ASSERT_TRUE(member_kills(t, SIGTERM));
	ASSERT_EQ(two_stop(SIGTERM), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGTERM));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

TEST_F(tracers, breakpoint)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	int disposition;

	if (!has_namespaces(variant))
		SKIP(return, "no namespaces of pids or of users");
	ASSERT_TRUE(start(self, variant));
	for (disposition = IS_DEFAULT; disposition <= IS_IGNORED;
	     disposition++) {
		t->sh->go[2] = SIGTRAP;
		t->sh->go[3] = disposition;
		t->sh->go[0] = INIT_BREAKS;
		ASSERT_EQ(two_stop(SIGTRAP), two_wait(s, t->pid)) {
			TH_LOG("disposition %d", disposition);
		}
		ASSERT_EQ(0, two_cont(s, t->pid, 0));
		ASSERT_TRUE(ut_until(t->sh->value[PAST] == disposition + 1));
		ASSERT_TRUE(is_protected(self)) {
			TH_LOG("disposition %d", disposition);
		}
	}
	ASSERT_TRUE(two_leave(s, t->pid));
	EXPECT_TRUE(is_protected(self));
}

/* A fault that the tracer passes on comes again, and does not kill init. */
static void faults(struct __test_metadata *_metadata, struct two_data *self,
		   const sole_variant *variant, int what, int sig)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	int disposition, i;

	if (!has_namespaces(variant))
		SKIP(return, "no namespaces of pids or of users");
	ASSERT_TRUE(start(self, variant));
	for (disposition = IS_DEFAULT; disposition <= IS_IGNORED;
	     disposition++) {
		t->sh->go[2] = sig;
		t->sh->go[3] = disposition;
		t->sh->go[0] = what;
		for (i = 0; i <= PASSES; i++) {
			ASSERT_EQ(two_stop(sig), two_wait(s, t->pid)) {
				TH_LOG("disposition %d, pass %d", disposition,
				       i);
			}
			if (i < PASSES)
				ASSERT_EQ(0, two_cont(s, t->pid, sig));
		}
		ASSERT_TRUE(skip(s, t->pid));
		ASSERT_TRUE(ut_until(t->sh->value[PAST] == disposition + 1));
		ASSERT_TRUE(is_protected(self)) {
			TH_LOG("disposition %d", disposition);
		}
	}
}

TEST_F(tracers, sigsegv)
{
	faults(_metadata, self, variant, INIT_SEGV, SIGSEGV);
}

TEST_F(tracers, sigill)
{
	faults(_metadata, self, variant, INIT_ILL, SIGILL);
}

TEST_F(tracers, sigfpe)
{
	faults(_metadata, self, variant, INIT_FPE, SIGFPE);
}

TEST_F(tracers, sigbus)
{
	faults(_metadata, self, variant, INIT_BUS, SIGBUS);
}

/* Without a tracer, the fault of an init is the end of it. */
TEST_F(tracers, fault_after_the_tracer)
{
	struct ut_target *t = &self->t;

	if (!has_namespaces(variant))
		SKIP(return, "no namespaces of pids or of users");
	ASSERT_TRUE(start(self, variant));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	t->sh->go[0] = INIT_SEGV;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(self->status));
}

/* Threads of init that come and go, and a signal for each before it runs. */

#define THREADS	200
#define LAST	2	/* in value[]: the newest thread, by its number in the namespace */

static int ends(void *arg)
{
	struct ut_shared *sh = arg;

	sh->value[LAST] = syscall(SYS_gettid);
	return 0;
}

/*
 * Run ends() in a thread that a signal can kill from its start.
 * pthread_create() would block all signals while it starts the thread.
 */
static bool run_thread(struct ut_shared *sh)
{
	static char stack[0x4000] __attribute__((aligned(16)));
	static pid_t tid;

	tid = 1;
	if (clone(ends, stack + sizeof(stack), CLONE_VM | CLONE_FS |
		  CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		  CLONE_CHILD_CLEARTID, sh, NULL, NULL, &tid) < 0)
		return false;
	while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		sched_yield();
	return true;
}

/* A member of the namespace that guesses the numbers of the next threads. */
static void guesses(struct ut_shared *sh)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!sh->value[LAST])
		usleep(1000);
	for (;;) {
		syscall(SYS_tgkill, 1, sh->value[LAST] + 1, SIGTERM);
		syscall(SYS_tgkill, 1, sh->value[LAST] + 2, SIGTERM);
	}
}

/* Function of a target: init, which makes thread after thread. */
static int threaded_init(struct ut_target *t)
{
	pid_t pid = fork();

	if (!pid)
		guesses(t->sh);
	if (pid < 0)
		return 97;
	ut_say(t);
	ut_await(t);
	while (run_thread(t->sh))
		t->sh->counter++;
	return 96;
}

TEST_F(tracers, threads_that_are_followed)
{
	struct ut_target *t = &self->t, follower = {};

	if (!has_namespaces(variant))
		SKIP(return, "no namespaces of pids or of users");
	ASSERT_TRUE(start_init(self, variant, threaded_init));
	ASSERT_TRUE(sole_follow(self, variant, &follower));
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->counter > THREADS ||
			     ut_state(t->pid) == 'Z'));
	EXPECT_LT(THREADS, t->sh->counter);
	EXPECT_LT(0, follower.sh->value[SOLE_SIGNALS]);
}

TEST_HARNESS_MAIN
