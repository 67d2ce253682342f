// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - old holes of ptrace(2): registers and system calls
 *
 * What a tracer writes into a task meets the code by which the kernel enters
 * and leaves that task.  A further tracer must get no farther there than the
 * first tracer.  The tests about the return to user mode are in sysret.c.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "two.h"

#define RACE_MS		(ut_is_slow() ? 3000 : 1500)

static long set_nr(struct two_tracer *tr, pid_t pid, unsigned long nr)
{
	return two_full(tr, PTRACE_POKEUSER, pid,
			offsetof(struct user, regs.orig_rax), nr);
}

/* The result of the call at whose exit the task is; LONG_MIN for an error. */
static long result_of(struct two_tracer *tr, pid_t pid)
{
	long word = 0;

	return two_copy(tr, PTRACE_PEEKUSER, pid,
			offsetof(struct user, regs.rax), &word, sizeof(word)) ?
	       LONG_MIN : word;
}

/* Resume from the entry of a call with another number. */
static bool change(struct two_tracer *tr, pid_t pid, unsigned long nr)
{
	return two_wait(tr, pid) == TWO_SYSGOOD && !set_nr(tr, pid, nr) &&
	       !two_next(tr, pid);
}

/* EINVAL, or EPERM for want of rights. */
static bool is_no(long ret)
{
	return ret == -EINVAL || ret == -EPERM;
}

/* CVE-2013-0871: the registers of a task that dies. */

/*
 * The processes of a round: one is killed, the other processes set its
 * registers.
 */
struct race {
	_Atomic int ready;
	_Atomic int over;
	_Atomic long written;
};

static struct race *race;

/* Set all registers, with a number in one that the task does not use. */
static bool set_registers(pid_t pid, long n)
{
	struct user_fpregs_struct fpregs;
	struct user_regs_struct regs;

	if (n & 1)
		return !ptrace(PTRACE_GETFPREGS, pid, 0, &fpregs) &&
		       !ptrace(PTRACE_SETFPREGS, pid, 0, &fpregs);
	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return false;
	regs.r15 = n;
	return !ptrace(PTRACE_SETREGS, pid, 0, &regs);
}

/* A tracer that sets registers until the task is killed. */
static pid_t fork_setter(pid_t pid)
{
	int status = two_stop(SIGTRAP);
	pid_t setter = fork();
	long n;

	if (setter)
		return setter;
	ut_be_child();
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
	    waitpid(pid, &status, __WALL) != pid)
		_exit(1);
	race->ready++;
	for (n = 1; WIFSTOPPED(status) && set_registers(pid, n); n++) {
		race->written++;
		if (n % 64)
			continue;
		if (ptrace(PTRACE_CONT, pid, 0, 0) ||
		    ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
		    waitpid(pid, &status, __WALL) != pid)
			break;
	}
	/* No request fails before the task is killed. */
	if (!race->over)
		_exit(2);
	while (WIFSTOPPED(status) && waitpid(pid, &status, __WALL) == pid)
		;
	_exit(status != two_killed(SIGKILL));
}

static pid_t fork_victim(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	ut_be_child();
	for (;;)
		asm volatile ("" ::: "memory");
}

static bool kill_round(void)
{
	int i, status, ended = -1;
	pid_t victim, setter[2];
	bool good;

	race->ready = 0;
	race->over = 0;
	victim = fork_victim();
	for (i = 0; i < 2; i++)
		setter[i] = fork_setter(victim);
	good = ut_until(race->ready == 2);
	usleep(two_any(3000));
	race->over = 1;
	kill(victim, SIGKILL);
	for (i = 0; i < 2; i++)
		good &= ut_waitpid(setter[i], &status, __WALL) == 1 && !status;
	return ut_waitpid(victim, &ended, __WALL) == 1 &&
	       ended == two_killed(SIGKILL) && good;
}

/*
 * CVE-2013-0871: SIGKILL woke a task while its tracer wrote to the task's stack
 * in the kernel.  Two tracers write here, and the kernel must log nothing.
 */
TEST_F(tracers, registers_of_the_killed)
{
	int rounds = 0;
	bool good = true;
	long end;

	race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, race);
	end = ut_now_ms() + RACE_MS;
	while (good && ut_now_ms() < end) {
		good = kill_round();
		rounds++;
	}
	EXPECT_TRUE(good);
	EXPECT_LT(0, race->written);
	TH_LOG("%d rounds, registers set %ld times", rounds, race->written);
}

/* CVE-2007-4573: the number of a call of 32 bits. */

#define IA32_NR_GETPID	20

static long int80(long nr)
{
	long ret;

	asm volatile ("int $0x80" : "=a" (ret) : "a" (nr)
		      : "r8", "r9", "r10", "r11", "memory", "cc");
	return ret;
}

/* Function of a target: is killed if there are no calls of 32 bits. */
static int has_int80(struct ut_target *t)
{
	t->sh->value[0] = int80(IA32_NR_GETPID);
	return t->sh->value[0] != getpid();
}

/* Function of a target: an actor with one action. */
static int int80_actor(struct ut_target *t)
{
	ut_say(t);
	while (!t->sh->quit) {
		t->sh->counter++;
		if (!t->sh->go[0])
			continue;
		t->sh->go[0] = 0;
		t->sh->value[ACTOR_RESULT] = int80(IA32_NR_GETPID);
		t->sh->value[ACTOR_DONE]++;
	}
	return 0;
}

/* The result of a call of 32 bits that the tracer gives the number @nr. */
static long int80_as(struct two_tracer *tr, struct ut_target *t,
		     unsigned long nr)
{
	long done = t->sh->value[ACTOR_DONE], result;

	actor_do(t, ACTOR_MARKS);
	if (!change(tr, t->pid, nr) || two_wait(tr, t->pid) != TWO_SYSGOOD)
		return LONG_MIN;
	result = result_of(tr, t->pid);
	if (two_next(tr, t->pid) || !actor_did(t, done + 1) ||
	    t->sh->value[ACTOR_RESULT] != result)
		return LONG_MIN;
	return result;
}

/*
 * CVE-2007-4573, and CVE-2010-3301 again: a number of more than 32 bits passed
 * the check of its lower half, and chose a function outside of the table.
 */
TEST_F(tracers, number_of_more_than_32_bits)
{
	static const unsigned long numbers[] = {
		IA32_NR_GETPID | 1UL << 32, IA32_NR_GETPID | 1UL << 63,
		IA32_NR_GETPID | ~0U * (1UL << 32), IA32_NR_GETPID | 1UL << 31,
		IA32_NR_GETPID | 1UL << 30, 1UL << 32 | 0xffff, 0x7fffffff,
		~0U, ~0UL,
	};
	struct two_tracer *p = &self->p, *s = &self->s;
	long alone[ARRAY_SIZE(numbers)];
	struct ut_target *t = &self->t;
	unsigned int i;

	ASSERT_TRUE(ut_spawn(t, has_int80));
	ASSERT_TRUE(ut_reap(t, &self->status));
	if (self->status)
		SKIP(return, "no calls by int $0x80");
	ASSERT_TRUE(ut_spawn(t, int80_actor));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(p, t->pid, PTRACE_O_TRACESYSGOOD));
	ASSERT_TRUE(two_wants_calls(p, t->pid));
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		alone[i] = int80_as(p, t, numbers[i]);
		EXPECT_TRUE(alone[i] == t->pid || alone[i] == -ENOSYS) {
			TH_LOG("%#lx: %ld", numbers[i], alone[i]);
		}
	}
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACESYSGOOD));
	ASSERT_TRUE(two_wants_calls(s, t->pid));
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		EXPECT_EQ(alone[i], int80_as(s, t, numbers[i]));
	EXPECT_TRUE(two_quiet(p, t->pid));
}

/* CVE-2017-15537: the header of the extended state. */

#define XSTATE_MOST	(16 << 10)
#define XMM0		160	/* offsets in the extended state */
#define MXCSR		24
#define HEADER		512

static const struct { const char *name; size_t offset; __u64 bits; } bad[] = {
	{ "a feature that does not exist", HEADER, 1ULL << 62 },
	{ "all features", HEADER, ~0ULL },
	{ "the compacted format", HEADER + 8, 1ULL << 63 },
	{ "a feature in the compacted format", HEADER + 8, 2 },
	{ "a reserved word", HEADER + 16, 1 },
	{ "the last reserved word", HEADER + 56, 1ULL << 63 },
	{ "bits of MXCSR that are none", MXCSR, 0xffff0000 },
};

/* The test is the tracer.  Returns the size or -errno. */
static long xstate(long request, pid_t pid, void *buf, size_t size)
{
	struct iovec iov = { buf, size };

	return ptrace(request, pid, NT_X86_XSTATE, &iov) ?
	       -errno : (long)iov.iov_len;
}

static void set_bits(unsigned char *buf, size_t offset, __u64 bits)
{
	__u64 word;

	memcpy(&word, buf + offset, sizeof(word));
	word |= bits;
	memcpy(buf + offset, &word, sizeof(word));
}

/* Each bad state is refused and changes nothing, and a good one is taken. */
static void set_xstates(struct __test_metadata *_metadata, pid_t pid)
{
	static unsigned char old[XSTATE_MOST], new[XSTATE_MOST];
	static unsigned char now[XSTATE_MOST];
	unsigned int i;
	long size;

	size = xstate(PTRACE_GETREGSET, pid, old, sizeof(old));
	if (size == -ENODEV)
		SKIP(return, "no extended state");
	ASSERT_LT(HEADER, size);
	for (i = 0; i <= ARRAY_SIZE(bad); i++) {
		memcpy(new, old, size);
		/* The state has the registers of SSE, and one is another. */
		set_bits(new, HEADER, 3);
		memset(new + XMM0, 0x5a + i, 16);
		if (i == ARRAY_SIZE(bad))
			break;
		set_bits(new, bad[i].offset, bad[i].bits);
		EXPECT_EQ(-EINVAL, xstate(PTRACE_SETREGSET, pid, new, size)) {
			TH_LOG("%s", bad[i].name);
		}
		ASSERT_EQ(size, xstate(PTRACE_GETREGSET, pid, now, size));
		EXPECT_EQ(0, memcmp(old, now, size)) {
			TH_LOG("%s", bad[i].name);
		}
	}
	ASSERT_EQ(size, xstate(PTRACE_SETREGSET, pid, new, size));
	ASSERT_EQ(size, xstate(PTRACE_GETREGSET, pid, now, size));
	EXPECT_EQ(0, memcmp(new + XMM0, now + XMM0, 16));
	ASSERT_EQ(size, xstate(PTRACE_SETREGSET, pid, old, size));
}

/*
 * CVE-2017-15537: a header that the processor would refuse was stored, and the
 * task went on with registers of other tasks.
 */
TEST_F(tracers, header_of_the_extended_state)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(actor_spawn(t));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
		ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
		ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
		ASSERT_EQ(TWO_TRAP, self->status);
		set_xstates(_metadata, t->pid);
		ASSERT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
		EXPECT_TRUE(ut_runs(t));
		/* The second time is beside a first tracer. */
		if (!i)
			ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	}
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

/* CVE-2018-1000199: a breakpoint in the kernel. */

static const unsigned long in_kernel[] = {
	0xffffffff81000000,	/* code */
	0xffff888000000000,	/* all memory */
	0xfffffe0000000000,	/* the table of interrupts */
};

/* The results of a tracer that sets breakpoints. */
struct told {
	long fresh[ARRAY_SIZE(in_kernel)];	/* nothing is set before */
	long address;				/* of user space */
	long control;
	long changed[ARRAY_SIZE(in_kernel)];	/* while that one is set */
	long left;				/* address that is left */
};

static unsigned long debug_register(int n)
{
	return offsetof(struct user, u_debugreg) + n * sizeof(long);
}

static long set_debug(struct two_tracer *tr, pid_t pid, int n,
		      unsigned long value)
{
	return two_full(tr, PTRACE_POKEUSER, pid, debug_register(n), value);
}

/* Leave a breakpoint at actor_break(), in spite of bad addresses. */
static void set_breakpoint(struct two_tracer *tr, pid_t pid, struct told *told)
{
	unsigned int i;

	memset(told, 0, sizeof(*told));
	for (i = 0; i < ARRAY_SIZE(in_kernel); i++)
		told->fresh[i] = set_debug(tr, pid, 0, in_kernel[i]);
	told->address = set_debug(tr, pid, 0, (long)actor_break);
	told->control = set_debug(tr, pid, 7, 1);
	for (i = 0; i < ARRAY_SIZE(in_kernel); i++)
		told->changed[i] = set_debug(tr, pid, 0, in_kernel[i]);
	if (two_copy(tr, PTRACE_PEEKUSER, pid, debug_register(0), &told->left,
		     sizeof(told->left)))
		told->left = -1;
}

/* Check that the actor stops for @s at the breakpoint.  @p passes signals. */
static bool breaks(struct ut_target *t, struct two_tracer *p,
		   struct two_tracer *s)
{
	struct user_regs_struct regs = {};
	long status = 0;

	actor_do(t, ACTOR_BREAKS);
	ut_until(({
		if (two_poll(p, t->pid) == two_stop(SIGTRAP))
			two_cont(p, t->pid, SIGTRAP);
		status = two_poll(s, t->pid);
		status != TWO_NONE;
	}));
	return status == two_stop(SIGTRAP) && !two_regs(s, t->pid, &regs) &&
	       (long)regs.rip == (long)actor_break;
}

/*
 * CVE-2018-1000199: a change to a bad address failed and left a breakpoint for
 * which the kernel and the processor had different addresses.  A further tracer
 * gets the results that a sole tracer gets, and its good breakpoint works.
 */
TEST_F(tracers, breakpoint_in_the_kernel)
{
	struct ut_target *t = &self->t;
	struct two_tracer p = {}, s = {};
	struct told alone, beside;
	unsigned int i;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_nobodies(&p, &s));
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(&p, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&p, t->pid));
	set_breakpoint(&p, t->pid, &alone);
	for (i = 0; i < ARRAY_SIZE(in_kernel); i++) {
		EXPECT_TRUE(is_no(alone.fresh[i]));
		EXPECT_TRUE(is_no(alone.changed[i]));
	}
	EXPECT_EQ(0, alone.address);
	EXPECT_EQ(0, alone.control);
	EXPECT_EQ((long)actor_break, alone.left);
	/* The first tracer lets the further one have the registers. */
	ASSERT_EQ(0, set_debug(&p, t->pid, 7, 0));
	ASSERT_EQ(0, two_cont(&p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&s, t->pid));
	set_breakpoint(&s, t->pid, &beside);
	EXPECT_EQ(0, memcmp(&alone, &beside, sizeof(alone)));
	ASSERT_EQ(0, two_cont(&s, t->pid, 0));
	EXPECT_TRUE(breaks(t, &p, &s));
	ASSERT_EQ(0, set_debug(&s, t->pid, 7, 0));
	ASSERT_EQ(0, two_cont(&s, t->pid, 0));
	EXPECT_TRUE(actor_did(t, 1));
}

/* CVE-2022-30594: filters of system calls. */

/* The call that the filter of filtered_actor() denies, and how. */
static int denied;
static unsigned int verdict = SECCOMP_RET_ERRNO | EDOM;

/* Function of a target. */
static int filtered_actor(struct ut_target *t)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return 96;
	return actor(t);
}

/* Start an actor of user @uid whose filter denies the call @nr. */
static bool spawn_filtered(struct ut_target *t, uid_t uid, int nr)
{
	denied = nr;
	t->arg = uid;
	return ut_spawn(t, filtered_actor) && ut_hear(t) && ut_runs(t);
}

/* Check whether the @n-th call of the actor is denied. */
static bool is_denied(struct ut_target *t, long n)
{
	actor_do(t, ACTOR_MARKS);
	return actor_did(t, n) && t->sh->value[ACTOR_RESULT] == -1;
}

static const long seccomp_options[] = {
	PTRACE_O_SUSPEND_SECCOMP, PTRACE_O_TRACESECCOMP,
	PTRACE_O_SUSPEND_SECCOMP | PTRACE_O_TRACESECCOMP,
};

/*
 * CVE-2022-30594: the options of PTRACE_SEIZE were not checked as those of
 * PTRACE_SETOPTIONS, and switched the filters of a task off.  A further tracer
 * has none of these options by either way, not even with all rights.
 */
TEST_F(tracers, filter_stays_on)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	unsigned int i;
	long done = 0;

	ASSERT_TRUE(spawn_filtered(t, 0, UT_MARK_NR));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	for (i = 0; i < ARRAY_SIZE(seccomp_options); i++) {
		EXPECT_EQ(-EINVAL, two_seize(s, t->pid, seccomp_options[i]));
		EXPECT_STREQ("", two_tracers(t->pid));
		EXPECT_TRUE(is_denied(t, ++done));
	}
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	for (i = 0; i < ARRAY_SIZE(seccomp_options); i++) {
		ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
		EXPECT_EQ(-EINVAL, two_ptrace(s, PTRACE_SETOPTIONS, t->pid,
					      seccomp_options[i]));
		ASSERT_EQ(0, two_cont(s, t->pid, 0));
		EXPECT_TRUE(is_denied(t, ++done));
	}
	EXPECT_TRUE(two_quiet(s, t->pid));
}

/* CVE-2022-30594: neither has these options a tracer without rights. */
TEST_F(tracers, filter_stays_on_without_rights)
{
	struct two_tracer p = {}, s = {};
	struct ut_target *t = &self->t;
	unsigned int i;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_nobodies(&p, &s));
	ASSERT_TRUE(spawn_filtered(t, TWO_NOBODY, UT_MARK_NR));
	ASSERT_EQ(0, two_seize(&p, t->pid, 0));
	for (i = 0; i < ARRAY_SIZE(seccomp_options); i++)
		EXPECT_TRUE(is_no(two_seize(&s, t->pid, seccomp_options[i])));
	EXPECT_STREQ("", two_tracers(t->pid));
	ASSERT_EQ(0, two_seize(&s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&s, t->pid));
	for (i = 0; i < ARRAY_SIZE(seccomp_options); i++)
		EXPECT_TRUE(is_no(two_ptrace(&s, PTRACE_SETOPTIONS, t->pid,
					     seccomp_options[i])));
	ASSERT_EQ(0, two_cont(&s, t->pid, 0));
	/* Beside such a tracer the first tracer cannot be a sandbox either. */
	ASSERT_EQ(TWO_TRAP, two_interrupt(&p, t->pid));
	for (i = 0; i < ARRAY_SIZE(seccomp_options); i++)
		EXPECT_EQ(-EPERM, two_ptrace(&p, PTRACE_SETOPTIONS, t->pid,
					     seccomp_options[i]));
	EXPECT_EQ(-EPERM, two_ptrace(&p, PTRACE_SYSEMU, t->pid, 0));
	ASSERT_EQ(0, two_cont(&p, t->pid, 0));
	EXPECT_TRUE(is_denied(t, 1));
}

/*
 * The result of a call that the first tracer changes to @first, and then the
 * further tracer to @second; LONG_MIN for an error.
 */
static long changed_call(struct two_data *self, long first, long second)
{
	long done = self->t.sh->value[ACTOR_DONE], result;
	pid_t pid = self->t.pid;

	actor_do(&self->t, ACTOR_MARKS);
	if (!change(&self->p, pid, first) || !change(&self->s, pid, second) ||
	    two_wait(&self->s, pid) != TWO_SYSGOOD)
		return LONG_MIN;
	result = result_of(&self->s, pid);
	if (two_next(&self->s, pid) || two_wait(&self->p, pid) != TWO_SYSGOOD ||
	    two_next(&self->p, pid) || !actor_did(&self->t, done + 1))
		return LONG_MIN;
	return result;
}

/*
 * The filter sees what both tracers have made of a call.  It runs after all
 * tracers, so a further tracer cannot bypass it, as a first tracer cannot.
 */
TEST_F(tracers, filter_decides_last)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(spawn_filtered(t, 0, SYS_getpgrp));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, two_seize(tr[i], t->pid, PTRACE_O_TRACESYSGOOD));
		ASSERT_TRUE(two_wants_calls(tr[i], t->pid));
	}
	EXPECT_EQ(getpid(), changed_call(self, SYS_getppid, SYS_getppid));
	EXPECT_EQ(-EDOM, changed_call(self, SYS_getppid, SYS_getpgrp));
	EXPECT_EQ(-EDOM, changed_call(self, SYS_getpgrp, SYS_getpgrp));
	EXPECT_EQ(getpid(), changed_call(self, SYS_getpgrp, SYS_getppid));
	/* A call that is skipped is no call. */
	EXPECT_EQ(-ENOSYS, changed_call(self, SYS_getppid, -1));
	EXPECT_EQ(-ENOSYS, changed_call(self, SYS_getpgrp, -1));
}

/*
 * The filter kills a task because a further tracer has changed its call.  The
 * signal is forced and no tracer can cancel it: both tracers read the end.
 */
TEST_F(tracers, filter_kills)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	int i;

	verdict = SECCOMP_RET_KILL_PROCESS;
	ASSERT_TRUE(spawn_filtered(t, 0, SYS_getpgrp));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, PTRACE_O_TRACESYSGOOD));
	ASSERT_TRUE(two_wants_calls(&self->s, t->pid));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(TWO_SYSGOOD, two_wait(&self->s, t->pid));
	ASSERT_EQ(0, set_nr(&self->s, t->pid, SYS_getpgrp));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	/* There may be a core dump. */
	for (i = 0; i < 2; i++)
		EXPECT_EQ(two_killed(SIGSYS), two_wait(tr[i], t->pid) & ~0x80);
	EXPECT_EQ(0, t->sh->value[ACTOR_DONE]);
	EXPECT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(two_killed(SIGSYS), self->status & ~0x80);
}

TEST_HARNESS_MAIN
