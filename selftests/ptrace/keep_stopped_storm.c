// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - stops and registers of a task that signals wake
 *
 * A tracer stops and resumes the task, or writes its registers in one stop, as
 * fast as it can, while another process sends signals.  No stop may end by
 * itself, and no write may be lost.
 *
 * All processes have the rights of nobody.
 */
#include <cpuid.h>

#include "sole.h"

#define STORM_MS	(ut_is_slow() ? 4000 : 2000)
#define CPU		0	/* of stops_late() */
#define XSTATE_SIZE	16384
#define XSTATE_BV	512	/* offset of the mask of components */
#define PKRU		9	/* number of the component */

/* Elements of ut_shared.value of a tracer. */
enum { RAN, LOST, FAILED };

FIXTURE_VARIANT_ADD(tracers, beside) { .further = true, .beside = true };

static struct ut_shared *tracee;	/* memory of the tracee */

static void on_signal(int sig)
{
}

/* Function of a target: the tracee. */
static int counts(struct ut_target *t)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGCONT, &act, NULL);
	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	return ut_spin(t);
}

static bool seize(pid_t pid)
{
	return two_become(TWO_NOBODY) && !ptrace(PTRACE_SEIZE, pid, 0, 0);
}

/* Read a stop of @pid; false if there is none. */
static bool wait_stop(pid_t pid, int *sig)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return false;
	*sig = pass_signal(status);
	return true;
}

/* Function of a target: the first tracer of t->arg resumes it always. */
static int passes(struct ut_target *t)
{
	int sig;

	if (!seize(t->arg))
		return 97;
	ut_say(t);
	while (wait_stop(t->arg, &sig))
		ptrace(PTRACE_CONT, t->arg, 0, sig);
	return 0;
}

/* Function of a target: stop and resume t->arg. */
static int stops(struct ut_target *t)
{
	struct user_regs_struct regs;
	struct ut_shared *sh = t->sh;
	long old;
	int sig;

	if (!seize(t->arg))
		return 97;
	ut_say(t);
	ut_await(t);
	for (;;) {
		ptrace(PTRACE_INTERRUPT, t->arg, 0, 0);
		if (!wait_stop(t->arg, &sig))
			return 0;
		old = tracee->counter;
		if (ptrace(PTRACE_GETREGS, t->arg, 0, &regs))
			sh->value[FAILED]++;
		if (tracee->counter != old)
			sh->value[RAN]++;
		if (ptrace(PTRACE_CONT, t->arg, 0, sig))
			sh->value[FAILED]++;
		sh->counter++;
	}
}

/* Function of a target: stops() by a task that hardly gets the CPU. */
static int stops_late(struct ut_target *t)
{
	struct sched_param param = {};

	ut_pin_to(CPU);
	sched_setscheduler(0, SCHED_IDLE, &param);
	return stops(t);
}

/* Function of a target: write registers of t->arg in one stop of it. */
static int writes_bases(struct ut_target *t)
{
	struct user_regs_struct regs, now;
	struct ut_shared *sh = t->sh;
	int sig;

	if (!seize(t->arg))
		return 97;
	ut_say(t);
	ut_await(t);
	if (ptrace(PTRACE_INTERRUPT, t->arg, 0, 0) ||
	    !wait_stop(t->arg, &sig) ||
	    ptrace(PTRACE_GETREGS, t->arg, 0, &regs))
		return 98;
	while (!sh->quit) {
		sh->counter++;
		regs.fs_base = 0x100000 + sh->counter % 65536 * 16;
		regs.gs_base = 0x200000 + sh->counter % 65536 * 16;
		if (ptrace(PTRACE_SETREGS, t->arg, 0, &regs) ||
		    ptrace(PTRACE_GETREGS, t->arg, 0, &now))
			sh->value[FAILED]++;
		else if (now.fs_base != regs.fs_base ||
			 now.gs_base != regs.gs_base)
			sh->value[LOST]++;
	}
	return 0;
}

/* Where the register is in the XSAVE area, 0: this CPU has no PKRU. */
static unsigned int pkru_offset(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
	    !(ecx & bit_OSPKE) ||
	    !__get_cpuid_count(0xd, PKRU, &eax, &ebx, &ecx, &edx))
		return 0;
	return eax ? ebx : 0;
}

static long xstate(long request, pid_t pid, void *buf, size_t *size)
{
	struct iovec iov = { buf, *size };
	long ret = ptrace(request, pid, NT_X86_XSTATE, &iov);

	*size = iov.iov_len;
	return ret;
}

/* Function of a target: write PKRU of t->arg in one stop of it. */
static int writes_pkru(struct ut_target *t)
{
	static char set[XSTATE_SIZE], now[XSTATE_SIZE];
	unsigned int offset = pkru_offset(), *of_set, *of_now;
	size_t size = sizeof(set), other = sizeof(now);
	struct ut_shared *sh = t->sh;
	int sig;

	if (!seize(t->arg))
		return 97;
	ut_say(t);
	ut_await(t);
	if (ptrace(PTRACE_INTERRUPT, t->arg, 0, 0) ||
	    !wait_stop(t->arg, &sig) ||
	    xstate(PTRACE_GETREGSET, t->arg, set, &size))
		return 98;
	of_set = (void *)set + offset;
	of_now = (void *)now + offset;
	*(unsigned long *)(set + XSTATE_BV) |= 1UL << PKRU;
	while (!sh->quit) {
		sh->counter++;
		/* Key 0 is that of all memory here. */
		*of_set = 0x55555554 ^ (sh->counter % 4096 << 8);
		if (xstate(PTRACE_SETREGSET, t->arg, set, &size) ||
		    xstate(PTRACE_GETREGSET, t->arg, now, &other))
			sh->value[FAILED]++;
		else if (*of_now != *of_set)
			sh->value[LOST]++;
	}
	return 0;
}

/* Function of a target: wake t->arg, with SIGUSR1 too if go[0] is set. */
static int signals(struct ut_target *t)
{
	int i;

	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	while (!t->sh->quit) {
		t->sh->counter += !kill(t->arg, SIGCONT);
		if (t->sh->go[0])
			kill(t->arg, SIGUSR1);
		for (i = two_any(1024); i > 0; i--)
			asm volatile ("pause");
	}
	return 0;
}

/* Start the tracee and its tracers, of which @tr comes last. */
static bool start(struct two_data *self, const sole_variant *variant,
		  struct ut_target *tr, int (*fn)(struct ut_target *t))
{
	static struct two_tracer before;
	static struct ut_target first;
	struct ut_target *t = &self->t;
	bool begun;

	if (!two_start_as(&before, TWO_NOBODY) || !ut_spawn(t, counts) ||
	    !ut_hear(t))
		return false;
	tracee = t->sh;
	first.arg = t->pid;
	tr->arg = t->pid;
	begun = variant->beside ? ut_spawn(&first, passes) && ut_hear(&first) :
				  sole_begin(variant, &before, t->pid);
	return begun && ut_spawn(tr, fn) && ut_hear(tr) &&
	       sole_end(variant, &before, t->pid) && ut_go(tr);
}

/* Check that the tracer makes rounds until the time is over. */
static bool makes_rounds(struct ut_target *tr)
{
	long end = ut_now_ms() + STORM_MS;

	do {
		if (!ut_runs(tr))
			return false;
	} while (ut_now_ms() < end);
	return true;
}

static void storm(struct __test_metadata *_metadata, struct two_data *self,
		  const sole_variant *variant, int (*fn)(struct ut_target *t),
		  bool handled)
{
	struct ut_target tr = {}, other = {};

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(start(self, variant, &tr, fn));
	other.arg = self->t.pid;
	ASSERT_TRUE(ut_spawn(&other, signals));
	other.sh->go[0] = handled;
	ASSERT_TRUE(ut_hear(&other));
	EXPECT_TRUE(makes_rounds(&tr)) {
		TH_LOG("the tracer is stuck");
	}
	other.sh->quit = 1;
	EXPECT_LT(0, other.sh->counter);
	EXPECT_EQ(0, tr.sh->value[RAN]);
	EXPECT_EQ(0, tr.sh->value[LOST]);
	EXPECT_EQ(0, tr.sh->value[FAILED]);
	TH_LOG("%ld rounds, %ld signals", tr.sh->counter, other.sh->counter);
}

TEST_F(tracers, stops)
{
	storm(_metadata, self, variant, stops, true);
}

/* The tracer is preempted at any place of the request that resumes. */
TEST_F(tracers, stops_late)
{
	struct ut_target hog = { .arg = CPU };

	ASSERT_TRUE(ut_spawn(&hog, ut_hog));
	storm(_metadata, self, variant, stops_late, true);
}

TEST_F(tracers, writes_bases)
{
	storm(_metadata, self, variant, writes_bases, false);
}

TEST_F(tracers, writes_pkru)
{
	if (!pkru_offset())
		SKIP(return, "the CPU has no protection keys");
	storm(_metadata, self, variant, writes_pkru, false);
}

TEST_HARNESS_MAIN
