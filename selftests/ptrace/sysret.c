// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - registers with which a task leaves the kernel
 *
 * SYSRET is the fast way out of a system call.  It takes the instruction
 * pointer from RCX and the flags from R11, and faults in the kernel if the
 * pointer is no address.  After a stop in which a tracer, the first one or a
 * further one, has set these registers, the kernel must leave another way.
 */
#include "two.h"

#define NOWHERE		(1UL << 63)	/* is no address for any processor */
/* SYSRET would put the instruction pointer into the first one. */
#define RCX		0x1234
#define R11		0x246

enum kind {
	IN_FORK, IN_VFORK, IN_CLONE, IN_EXEC, IN_EXIT, IN_ENTRY, IN_SYSEXIT,
	IN_SIGNAL, IN_HANDLER, IN_INTERRUPT,
};

/* A stop at an event: the option, the action of the actor, the status. */
static const struct { long option; int action; long status; } at[] = {
	[IN_FORK] = { PTRACE_O_TRACEFORK, ACTOR_FORKS,
		      two_event(PTRACE_EVENT_FORK) },
	[IN_VFORK] = { PTRACE_O_TRACEVFORK, ACTOR_VFORKS,
		       two_event(PTRACE_EVENT_VFORK) },
	[IN_CLONE] = { PTRACE_O_TRACECLONE, ACTOR_CLONES,
		       two_event(PTRACE_EVENT_CLONE) },
	[IN_EXEC] = { PTRACE_O_TRACEEXEC, ACTOR_EXECS,
		      two_event(PTRACE_EVENT_EXEC) },
	[IN_EXIT] = { PTRACE_O_TRACEEXIT, ACTOR_EXITS,
		      two_event(PTRACE_EVENT_EXIT) },
};

/* Bring the actor to the stop of the further tracer. */
static bool bring(struct two_data *self, enum kind kind)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	switch (kind) {
	case IN_INTERRUPT:
		return two_interrupt(s, t->pid) == TWO_TRAP;
	case IN_SIGNAL:
	case IN_HANDLER:
		return !kill(t->pid, SIGUSR1) &&
		       two_wait(p, t->pid) == two_stop(SIGUSR1) &&
		       !two_cont(p, t->pid, SIGUSR1) &&
		       two_wait(s, t->pid) == two_stop(SIGUSR1);
	case IN_ENTRY:
	case IN_SYSEXIT:
		if (!two_wants_calls(s, t->pid))
			return false;
		actor_do(t, ACTOR_MARKS);
		return two_wait(s, t->pid) == TWO_SYSGOOD &&
		       (kind == IN_ENTRY ||
			(!two_next(s, t->pid) &&
			 two_wait(s, t->pid) == TWO_SYSGOOD));
	default:
		actor_do(t, at[kind].action);
		return two_wait(s, t->pid) == at[kind].status;
	}
}

/* Let the task go on at @rip with these registers. */
static bool set_start(struct two_tracer *tr, pid_t pid, unsigned long rip,
		      unsigned long rcx, unsigned long r11)
{
	struct user_regs_struct regs;

	if (two_regs(tr, pid, &regs))
		return false;
	regs.rip = rip;
	regs.rcx = rcx;
	regs.r11 = r11;
	return !two_copy(tr, PTRACE_SETREGS, pid, 0, &regs, sizeof(regs));
}

/* See the child or the thread to its end, which is not that of the actor. */
static bool child_ends(struct two_data *self, pid_t child)
{
	struct two_tracer *s = &self->s;

	self->t.sh->go[1] = 1;
	return two_wait(s, child) == TWO_TRAP && !two_cont(s, child, 0) &&
	       two_end_of(s, child) >= 0;
}

/* Both tracers see SIGSEGV, and let it kill the task. */
static bool is_killed(struct two_data *self)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	pid_t pid = self->t.pid;
	int i;

	for (i = 0; i < 2; i++)
		if (two_wait(tr[i], pid) != two_stop(SIGSEGV) ||
		    two_cont(tr[i], pid, SIGSEGV))
			return false;
	/* There may be a core dump. */
	for (i = 0; i < 2; i++)
		if ((two_wait(tr[i], pid) & ~0x80) != two_killed(SIGSEGV))
			return false;
	return true;
}

/* Bring the actor to a stop of the further tracer, with its options. */
static bool stop_in(struct two_data *self, enum kind kind)
{
	return two_seize_both(self, 0, PTRACE_O_TRACESYSGOOD |
			      (kind <= IN_EXIT ? at[kind].option : 0)) &&
	       bring(self, kind);
}

/* Let the actor go on from that stop, and its child to the end. */
static bool go_on(struct two_data *self, enum kind kind)
{
	struct two_tracer *s = &self->s;
	pid_t pid = self->t.pid;
	long child = 0;

	if (kind <= IN_CLONE) {
		child = two_message(s, pid);
		if (child <= 0)
			return false;
	}
	return !two_cont(s, pid, kind == IN_HANDLER ? SIGUSR1 : 0) &&
	       (!child || child_ends(self, child));
}

/*
 * CVE-2014-4699: after a stop at fork() and its like the kernel left by SYSRET,
 * which faults in the kernel if the address is none.  The further tracer sets
 * one in each kind of stop, and the other registers as SYSRET wants them.
 */
static void go_nowhere(struct __test_metadata *_metadata,
		       struct two_data *self, enum kind kind)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct user_regs_struct regs;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(stop_in(self, kind));
	ASSERT_EQ(0, two_regs(s, t->pid, &regs));
	ASSERT_TRUE(set_start(s, t->pid, NOWHERE, NOWHERE, regs.eflags));
	ASSERT_TRUE(go_on(self, kind));
	if (kind == IN_EXIT) {
		/* A task that ends does not come back from the kernel. */
		EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(p, t->pid));
		EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(s, t->pid));
	} else {
		EXPECT_TRUE(is_killed(self));
	}
	EXPECT_EQ(kind == IN_HANDLER, t->sh->value[ACTOR_USR1]);
	EXPECT_TRUE(ut_reap(t, &self->status));
}

TEST_F(tracers, nowhere)
{
	enum kind kind;

	for (kind = IN_FORK; kind <= IN_INTERRUPT; kind++) {
		TH_LOG("kind of stop %d", kind);
		go_nowhere(_metadata, self, kind);
	}
}

/* What an actor has stored that went on at landing(). */
enum { LANDED_RCX = ACTOR_DONE + 1, LANDED_R11, LANDED };

static __attribute__((used, noinline)) void landed(long rcx, long r11)
{
	actor_sh->value[LANDED_RCX] = rcx;
	actor_sh->value[LANDED_R11] = r11;
	actor_sh->value[LANDED] = 1;
	for (;;)
		actor_sh->counter++;
}

/* Code that a tracer lets the actor go on with; there is no way back. */
static __attribute__((naked, used)) void landing(void)
{
	asm volatile ("mov %rcx, %rdi\n\t"
		      "mov %r11, %rsi\n\t"
		      "and $-16, %rsp\n\t"
		      "call landed");
}

/* Kill the actor, and have all see that. */
static bool end_actor(struct two_data *self)
{
	pid_t pid = self->t.pid;

	return !kill(pid, SIGKILL) &&
	       two_end_of(&self->p, pid) == two_killed(SIGKILL) &&
	       two_end_of(&self->s, pid) == two_killed(SIGKILL) &&
	       ut_reap(&self->t, &self->status);
}

/*
 * A return by SYSRET would put other values into RCX and R11 than those that
 * the tracer has set.  The actor stores the values that it finds in user mode.
 */
TEST_F(tracers, rcx_and_r11_arrive)
{
	static const enum kind kinds[] = {
		IN_FORK, IN_VFORK, IN_CLONE, IN_ENTRY, IN_SYSEXIT, IN_SIGNAL,
		IN_HANDLER, IN_INTERRUPT,
	};
	struct ut_target *t = &self->t;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool good = stop_in(self, kinds[i]) &&
			    set_start(&self->s, t->pid, (long)landing, RCX,
				      R11) &&
			    go_on(self, kinds[i]) &&
			    ut_until(t->sh->value[LANDED]);

		ASSERT_TRUE(good) {
			TH_LOG("kind of stop %d", kinds[i]);
		}
		EXPECT_EQ(RCX, t->sh->value[LANDED_RCX]);
		EXPECT_EQ(R11, t->sh->value[LANDED_R11]);
		EXPECT_TRUE(ut_runs(t)) {
			TH_LOG("kind of stop %d", kinds[i]);
		}
		EXPECT_EQ(kinds[i] == IN_HANDLER, t->sh->value[ACTOR_USR1]);
		EXPECT_EQ(TWO_NONE, two_poll(&self->p, t->pid));
		EXPECT_EQ(TWO_NONE, two_poll(&self->s, t->pid));
		ASSERT_TRUE(end_actor(self));
	}
}

/* Put a breakpoint at the address. */
static bool break_at(struct two_tracer *tr, pid_t pid, unsigned long addr)
{
	unsigned long word = 0;

	return !two_copy(tr, PTRACE_PEEKTEXT, pid, addr, &word,
			 sizeof(word)) &&
	       !two_full(tr, PTRACE_POKETEXT, pid, addr,
			 (word & ~0xffUL) | 0xcc);
}

/* The new program has no landing(), but a breakpoint at its begin. */
TEST_F(tracers, rcx_and_r11_arrive_after_exec)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct user_regs_struct regs;
	pid_t pid;
	long rip;
	int i;

	ASSERT_TRUE(stop_in(self, IN_EXEC));
	pid = self->t.pid;
	ASSERT_EQ(0, two_regs(&self->s, pid, &regs));
	rip = regs.rip;
	ASSERT_TRUE(break_at(&self->s, pid, rip));
	ASSERT_TRUE(set_start(&self->s, pid, rip, RCX, R11));
	ASSERT_TRUE(go_on(self, IN_EXEC));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(two_stop(SIGTRAP), two_wait(tr[i], pid));
		ASSERT_EQ(0, two_regs(tr[i], pid, &regs));
		EXPECT_EQ(rip + 1, (long)regs.rip);
		EXPECT_EQ(RCX, (long)regs.rcx);
		EXPECT_EQ(R11, (long)regs.r11);
		ASSERT_EQ(0, two_cont(tr[i], pid, SIGTRAP));
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(two_killed(SIGTRAP), two_end_of(tr[i], pid) & ~0x80);
}

TEST_HARNESS_MAIN
