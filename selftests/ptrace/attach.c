// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - PTRACE_ATTACH by a further tracer
 *
 * The SIGSTOP of the attach is a stop of that tracer, and not a signal that
 * other tracers could see or drop.
 */
#include "two.h"

#define ATTACHED	two_stop(SIGSTOP)

static long attach(struct two_tracer *tr, pid_t pid)
{
	return two_ptrace(tr, PTRACE_ATTACH, pid, 0) ?: two_wait(tr, pid);
}

/* Start an actor that @p seized and @s attached to; it is stopped for @s. */
static bool seize_and_attach(struct two_data *self)
{
	return actor_spawn(&self->t) && !two_seize(&self->p, self->t.pid, 0) &&
	       attach(&self->s, self->t.pid) == ATTACHED;
}

TEST_F(tracers, attach_look_detach)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_and_attach(self));
	EXPECT_STREQ(two_pair(p->t.pid, s->t.pid), two_tracers(t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(two_has(s, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	/* The group is not stopped. */
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | WUNTRACED));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_DETACH, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(s, t->pid));
}

/* Requests that are for a tracer with PTRACE_SEIZE. */
TEST_F(tracers, no_interrupt_no_listen)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_and_attach(self));
	EXPECT_EQ(-EIO, two_ptrace(s, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_EQ(-EIO, two_ptrace(s, PTRACE_LISTEN, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(s, PTRACE_ATTACH, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(s, t->pid, 0));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(-EIO, two_ptrace(s, PTRACE_INTERRUPT, t->pid, 0));
}

/* The attach returns, and the stop may come after that of the first tracer. */
TEST_F(tracers, attach_in_the_stop_of_the_first)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_ATTACH, t->pid, 0));
	EXPECT_TRUE(two_has(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_EQ(ATTACHED, two_wait(s, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
}

/*
 * The stop of the attach was reported while the task was in a stop for another
 * tracer, in which no signal is being delivered.  So the signal with which the
 * tracer resumes the task is sent to the task, and all tracers see it.
 */
TEST_F(tracers, signal_from_the_stop_of_the_first)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	ASSERT_EQ(ATTACHED, attach(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGUSR1));
	EXPECT_TRUE(two_has(p, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(p, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s, t->pid));
	EXPECT_EQ(0, t->sh->value[ACTOR_USR1]);
	ASSERT_EQ(0, two_cont(s, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

/* The status of a stop, from which the tracer resumes the task, or < 0. */
static long pass_on(struct two_tracer *tr, pid_t pid)
{
	long status = two_poll(tr, pid);

	if (status >= 0)
		two_cont(tr, pid, status == two_stop(SIGCONT) ? SIGCONT : 0);
	return status;
}

/*
 * The SIGSTOP of an attach is in no queue, out of which SIGCONT would take it.
 * The order of the two stops of the further tracer does not matter.
 */
TEST_F(tracers, sigcont_before_the_stop)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	int stops = 0, conts = 0, others = 0, of_p = 0;
	long status;

	ASSERT_TRUE(actor_spawn(t));
	/* SIGCONT makes no trap for a tracer without PTRACE_SEIZE. */
	ASSERT_EQ(ATTACHED, attach(p, t->pid));
	ASSERT_EQ(0, two_ptrace(p, PTRACE_SETOPTIONS, t->pid,
				PTRACE_O_TRACESYSGOOD));
	ASSERT_EQ(0, two_next(p, t->pid));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_ATTACH, t->pid, 0));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(two_has(p, t->pid));
	EXPECT_EQ(TWO_NONE, two_poll(s, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	EXPECT_TRUE(ut_until(({
		of_p += pass_on(p, t->pid) == two_stop(SIGCONT);
		status = pass_on(s, t->pid);
		if (status == ATTACHED)
			stops++;
		else if (status == two_stop(SIGCONT))
			conts++;
		else if (status != TWO_NONE)
			others++;
		stops && conts;
	})));
	EXPECT_EQ(1, stops);
	EXPECT_EQ(1, conts);
	EXPECT_EQ(0, others);
	EXPECT_EQ(1, of_p);
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

/* A system call that sleeps goes on after the attach. */
TEST_F(tracers, attach_to_a_sleeping_task)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	actor_do(t, ACTOR_READS);
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	ASSERT_EQ(ATTACHED, attach(&self->s, t->pid));
	ASSERT_EQ(0, two_ptrace(&self->s, PTRACE_DETACH, t->pid, 0));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(actor_did(t, 1));
}

/* All three attach, and each has its own stop. */
TEST_F(tracers, all_attach)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(actor_spawn(t));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(ATTACHED, attach(tr[i], t->pid));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, 0));
		EXPECT_TRUE(ut_runs(t));
	}
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(two_quiet(tr[i], t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(two_stop(SIGUSR1), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, SIGUSR1));
	}
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
}

/*
 * A SIGSTOP that is sent stops the task for both tracers, besides the stop of
 * the attach.
 */
TEST_F(tracers, sigstop_is_sent)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_and_attach(self));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
}

/* A group stop is a plain stop without siginfo. */
TEST_F(tracers, group_stop)
{
	const struct two_step of_p[] = {
		{ two_group(SIGSTOP), PTRACE_LISTEN }, TWO_END
	}, of_s[] = {
		{ two_stop(SIGSTOP) }, TWO_END
	};
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	siginfo_t info;

	ASSERT_TRUE(seize_and_attach(self));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(s, t->pid));
	EXPECT_EQ(0, two_siginfo(s, t->pid, &info));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGSTOP));
	ASSERT_TRUE(two_play(t->pid, p, of_p, s, of_s));
	EXPECT_EQ(-EINVAL, two_siginfo(s, t->pid, &info));
}

/* The SIGSTOP of the attach stops the group if the tracer passes it on. */
TEST_F(tracers, sigstop_is_passed_on)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_and_attach(self));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGSTOP));
	ASSERT_EQ(two_group(SIGSTOP), two_wait(p, t->pid));
	EXPECT_EQ(two_stop(SIGSTOP), two_wait(s, t->pid));
}

/* An exec without the option is SIGTRAP for the tracer by PTRACE_ATTACH. */
TEST_F(tracers, exec)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_and_attach(self));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	actor_do(t, ACTOR_EXECS);
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(&self->s, t->pid));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(&self->p, t->pid));
	EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(&self->s, t->pid));
}

/* A child that is followed begins with SIGSTOP. */
TEST_F(tracers, fork)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	long child;

	ASSERT_TRUE(seize_and_attach(self));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_SETOPTIONS, t->pid,
				PTRACE_O_TRACEFORK));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	actor_do(t, ACTOR_FORKS);
	ASSERT_EQ(two_event(PTRACE_EVENT_FORK), two_wait(s, t->pid));
	child = two_message(s, t->pid);
	ASSERT_LT(0, child);
	ASSERT_EQ(ATTACHED, two_wait(s, child));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(0, two_cont(s, child, 0));
	t->sh->go[1] = 1;
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), two_wait(s, child));
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

/* The tracer dies before it has seen the stop. */
TEST_F(tracers, death_after_the_attach)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_ptrace(&self->s, PTRACE_ATTACH, t->pid, 0));
	ASSERT_EQ(0, kill(self->s.t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&self->s.t, &self->status));
	EXPECT_TRUE(ut_until(!strcmp(two_tracers(t->pid), "")));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
}

/* Replace one byte of the tracee; the old one, or -1. */
static int poke_byte(struct two_tracer *tr, pid_t pid, long addr, int byte)
{
	unsigned long word = 0;

	if (two_copy(tr, PTRACE_PEEKTEXT, pid, addr, &word, sizeof(word)) ||
	    two_full(tr, PTRACE_POKETEXT, pid, addr, (word & ~0xffUL) | byte))
		return -1;
	return word & 0xff;
}

/* Take the breakpoint out, step over its place, and put it in again. */
static bool step_over(struct two_tracer *tr, pid_t pid, long addr, int byte)
{
	struct user_regs_struct regs;

	if (two_regs(tr, pid, &regs) || (long)regs.rip != addr + 1)
		return false;
	regs.rip = addr;
	return !two_copy(tr, PTRACE_SETREGS, pid, 0, &regs, sizeof(regs)) &&
	       poke_byte(tr, pid, addr, byte) == 0xcc &&
	       !two_ptrace(tr, PTRACE_SINGLESTEP, pid, 0) &&
	       two_wait(tr, pid) == two_stop(SIGTRAP) &&
	       poke_byte(tr, pid, addr, 0xcc) == byte;
}

/* A debugger beside a tracer that passes all signals on, as strace does. */
TEST_F(tracers, breakpoint)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	long addr = (long)actor_break;
	struct ut_target *t = &self->t;
	int byte, i;

	ASSERT_TRUE(seize_and_attach(self));
	byte = poke_byte(s, t->pid, addr, 0xcc);
	ASSERT_LE(0, byte);
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	for (i = 1; i <= 3; i++) {
		actor_do(t, ACTOR_BREAKS);
		ASSERT_EQ(two_stop(SIGTRAP), two_wait(p, t->pid));
		ASSERT_EQ(0, two_cont(p, t->pid, SIGTRAP));
		ASSERT_EQ(two_stop(SIGTRAP), two_wait(s, t->pid));
		ASSERT_TRUE(step_over(s, t->pid, addr, byte));
		EXPECT_EQ(TWO_NONE, two_poll(p, t->pid));
		ASSERT_EQ(0, two_cont(s, t->pid, 0));
		ASSERT_TRUE(actor_did(t, i));
	}
}

/* The debugger is the first tracer, and keeps its traps for itself. */
TEST_F(tracers, breakpoint_of_the_first)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	long addr = (long)actor_break;
	struct ut_target *t = &self->t;
	int byte;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(ATTACHED, attach(p, t->pid));
	byte = poke_byte(p, t->pid, addr, 0xcc);
	ASSERT_LE(0, byte);
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	actor_do(t, ACTOR_BREAKS);
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(p, t->pid));
	ASSERT_TRUE(step_over(p, t->pid, addr, byte));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

TEST_HARNESS_MAIN
