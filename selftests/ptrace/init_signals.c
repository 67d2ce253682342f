// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - signals of a traced init of a pid namespace
 *
 * No process of the namespace can kill init by a signal that init does not
 * handle.  A tracer is told a signal that the kernel forces on init, and
 * decides what becomes of it; init stays protected.
 */
#include "sole.h"

#define PASSES	3	/* stops at a fault that the tracer passes on */

/* What go[0] of init is, and go[1] of the other process of the namespace. */
enum { INIT_BREAKS = 1, INIT_SEGV, INIT_ILL, INIT_FPE, INIT_BUS };

/* What value[] is for: results of kill(), and of faults. */
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

/* Set what becomes of a signal; go[2] is the signal and go[3] this. */
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

/* Start init under the tracer; NULL, or why that is not possible. */
static const char *start(struct two_data *self, const sole_variant *variant)
{
	struct ut_target *t = &self->t;

	if (unshare(CLONE_NEWPID))
		return "no pid namespace";
	if (!ut_spawn(t, init) || !ut_hear(t) || !ut_runs(t))
		return "no init of a pid namespace";
	return sole_seize(self, variant, t->pid, 0) ? "no tracer" : NULL;
}

/* Has the member sent a signal to init? */
static bool member_kills(struct ut_target *t, int sig)
{
	t->sh->value[KILL_RESULT] = 0;
	t->sh->go[1] = sig;
	return ut_until(t->sh->value[KILL_RESULT]) &&
	       t->sh->value[KILL_RESULT] == 1;
}

/* Pass what the tracer is told of @sig, until init runs for a while. */
static bool survives(struct two_data *self, int sig)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	long end, status;

	if (!member_kills(t, sig))
		return false;
	for (end = ut_now_ms() + 5 * UT_QUIET_MS; ut_now_ms() < end; ) {
		status = two_poll(s, t->pid);
		if (status == two_stop(sig))
			two_cont(s, t->pid, sig);
		else if (status != TWO_NONE && status != -ECHILD)
			return false;
	}
	return ut_runs(t);
}

/* Is init protected from within, though its tracer passes all signals? */
static bool is_protected(struct two_data *self)
{
	return survives(self, SIGTERM) && survives(self, SIGKILL) &&
	       survives(self, SIGSEGV) && survives(self, SIGUSR1);
}

/* Resume from a fault behind the instruction, without the signal. */
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
	const char *why = start(self, variant);

	if (why)
		SKIP(return, "%s", why);
	EXPECT_TRUE(is_protected(self));
	ASSERT_TRUE(two_leave(&self->s, self->t.pid));
	EXPECT_TRUE(is_protected(self));
}

/* The parent can kill it. */
TEST_F(tracers, killed_from_outside)
{
	const char *why = start(self, variant);

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, kill(self->t.pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(&self->s, self->t.pid));
	EXPECT_TRUE(ut_reap(&self->t, &self->status));
}

/* ptrace(2): the tracee stops for a signal that it ignores, too. */
TEST_F(tracers, signal_that_init_ignores)
{
	const char *why = start(self, variant);
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(member_kills(t, SIGTERM));
	ASSERT_EQ(two_stop(SIGTERM), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGTERM));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

TEST_F(tracers, breakpoint)
{
	const char *why = start(self, variant);
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	int disposition;

	if (why)
		SKIP(return, "%s", why);
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
	const char *why = start(self, variant);
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	int disposition, i;

	if (why)
		SKIP(return, "%s", why);
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
	const char *why = start(self, variant);
	struct ut_target *t = &self->t;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	t->sh->go[0] = INIT_SEGV;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(self->status));
}

/* Threads of init that come and go, and a signal for each before it runs. */

#define THREADS	200
#define LAST	2	/* in value[]: the newest thread, by its number in the namespace */

static void *ends(void *arg)
{
	struct ut_shared *sh = arg;

	sh->value[LAST] = ut_gettid();
	return NULL;
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
	pthread_t thread;
	pid_t pid = fork();

	if (!pid)
		guesses(t->sh);
	if (pid < 0)
		return 97;
	ut_say(t);
	ut_await(t);
	while (!pthread_create(&thread, NULL, ends, t->sh)) {
		pthread_join(thread, NULL);
		t->sh->counter++;
	}
	return 96;
}

/* Function of a target: a tracer of go[0], which follows, and passes all. */
static int follower(struct ut_target *t)
{
	int status;
	pid_t pid;

	ut_await(t);
	t->sh->value[0] = ptrace(PTRACE_SEIZE, t->sh->go[0], 0,
				 PTRACE_O_TRACECLONE) ? -errno : 0;
	ut_say(t);
	while ((pid = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, pid, 0,
			       status >> 16 ? 0 : WSTOPSIG(status));
	return 0;
}

TEST_F(tracers, threads_that_are_followed)
{
	struct ut_target *t = &self->t, tracer = {};

	ASSERT_TRUE(ut_spawn(&tracer, follower));
	if (unshare(CLONE_NEWPID))
		SKIP(return, "no pid namespace");
	ASSERT_TRUE(ut_spawn(t, threaded_init));
	ASSERT_TRUE(ut_hear(t));
	if (variant->further)
		ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	tracer.sh->go[0] = t->pid;
	ASSERT_TRUE(ut_go(&tracer));
	ASSERT_TRUE(ut_hear(&tracer));
	ASSERT_EQ(0, tracer.sh->value[0]);
	if (variant->further)
		ASSERT_TRUE(two_leave(&self->p, t->pid));
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->counter > THREADS ||
			     ut_state(t->pid) == 'Z'));
	EXPECT_LT(THREADS, t->sh->counter);
}

TEST_HARNESS_MAIN
