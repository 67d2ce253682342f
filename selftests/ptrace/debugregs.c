// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the debug registers of x86 under several tracers
 *
 * A thread has one set.  The tracer that sets a register owns the set until it
 * detaches; for other tracers the set is empty and cannot be used.  The
 * exception is the first tracer: its set is free when nothing in DR7 is
 * enabled.
 *
 * A hit of a register is a SIGTRAP, which goes from tracer to tracer as any
 * signal.
 */
#include "two.h"

/* DR7: DR0 names an instruction, or 8 bytes that are written. */
#define EXECUTES	0x1
#define WRITES		0x90001

static const int regs[] = { 0, 1, 2, 3, 6, 7 };

/* The word that the actor writes when it makes the marker call. */
static long word(struct ut_target *t)
{
	return (long)&t->sh->value[ACTOR_RESULT];
}

static long poke(struct two_tracer *tr, pid_t pid, int n, long value)
{
	return two_full(tr, PTRACE_POKEUSER, pid,
			offsetof(struct user, u_debugreg[n]), value);
}

/* The register, or -errno. */
static long peek(struct two_tracer *tr, pid_t pid, int n)
{
	long value = 0;

	return two_copy(tr, PTRACE_PEEKUSER, pid,
			offsetof(struct user, u_debugreg[n]), &value,
			sizeof(value)) ?: value;
}

/* Write a register in a stop that the tracer asks for; 0 or -errno. */
static long set(struct two_tracer *tr, pid_t pid, int n, long value)
{
	long ret;

	if (two_interrupt(tr, pid) != TWO_TRAP)
		return -EPROTO;
	ret = poke(tr, pid, n, value);
	return two_cont(tr, pid, 0) ?: ret;
}

/* Watch the address in a stop that the tracer asks for; 0 or -errno. */
static long watch(struct two_tracer *tr, pid_t pid, long addr, long control)
{
	return set(tr, pid, 0, addr) ?: set(tr, pid, 7, control);
}

/* Check that the tracer reads back what it has written to the registers. */
static bool has(struct two_tracer *tr, pid_t pid, long addr, long control)
{
	bool same;

	if (two_interrupt(tr, pid) != TWO_TRAP)
		return false;
	same = peek(tr, pid, 0) == addr && peek(tr, pid, 7) == control;
	return !two_cont(tr, pid, 0) && same;
}

/* The set is empty for @tr, which may clear it and may not use it. */
static void blocked(struct __test_metadata *_metadata, struct two_tracer *tr,
		    pid_t pid, long addr)
{
	unsigned int i;

	ASSERT_EQ(TWO_TRAP, two_interrupt(tr, pid));
	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		long value = regs[i] == 7 ? WRITES : regs[i] == 6 ? 1 : addr;

		EXPECT_EQ(0, peek(tr, pid, regs[i]));
		EXPECT_EQ(0, poke(tr, pid, regs[i], 0));
		EXPECT_EQ(-EBUSY, poke(tr, pid, regs[i], value));
		EXPECT_EQ(0, peek(tr, pid, regs[i]));
	}
	ASSERT_EQ(0, two_cont(tr, pid, 0));
}

/* A further tracer owns the set, and the first tracer cannot use it. */
TEST_F(tracers, further_takes_the_set)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(s, t->pid, word(t), WRITES));
	blocked(_metadata, p, t->pid, word(t));
	blocked(_metadata, s2, t->pid, word(t));
	EXPECT_TRUE(has(s, t->pid, word(t), WRITES));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, first_has_the_set)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(p, t->pid, word(t), WRITES));
	blocked(_metadata, s, t->pid, word(t));
	blocked(_metadata, s2, t->pid, word(t));
	EXPECT_TRUE(has(p, t->pid, word(t), WRITES));
	EXPECT_TRUE(ut_runs(t));
}

/* A further tracer may take what the first tracer has disabled. */
TEST_F(tracers, first_disables_its_set)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(p, t->pid, word(t), WRITES));
	EXPECT_EQ(-EBUSY, set(s, t->pid, 0, word(t)));
	ASSERT_EQ(0, set(p, t->pid, 7, 0));
	ASSERT_EQ(0, watch(s, t->pid, word(t) + 8, WRITES));
	blocked(_metadata, p, t->pid, word(t));
	blocked(_metadata, s2, t->pid, word(t));
	EXPECT_TRUE(has(s, t->pid, word(t) + 8, WRITES));
}

/* A tracer that writes 0 takes nothing. */
TEST_F(tracers, zero_takes_nothing)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;
	unsigned int i;

	ASSERT_TRUE(two_seize_all(self));
	for (i = 0; i < ARRAY_SIZE(regs); i++)
		EXPECT_EQ(0, set(s, t->pid, regs[i], 0));
	ASSERT_EQ(0, watch(s2, t->pid, word(t), WRITES));
	blocked(_metadata, s, t->pid, word(t));
	ASSERT_TRUE(two_leave(s2, t->pid));
	for (i = 0; i < ARRAY_SIZE(regs); i++)
		EXPECT_EQ(0, set(s, t->pid, regs[i], 0));
	ASSERT_EQ(0, watch(p, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(p, t->pid, word(t), WRITES));
}

/* A set that the owner has cleared still belongs to the owner. */
TEST_F(tracers, clear_does_not_give_the_set_away)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	ASSERT_EQ(0, set(s, t->pid, 7, 0));
	ASSERT_EQ(0, set(s, t->pid, 0, 0));
	EXPECT_TRUE(has(s, t->pid, 0, 0));
	blocked(_metadata, p, t->pid, word(t));
	blocked(_metadata, s2, t->pid, word(t));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(s, t->pid, word(t), WRITES));
}

TEST_F(tracers, owner_detaches)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	ASSERT_TRUE(two_leave(s, t->pid));
	ASSERT_EQ(0, watch(s2, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(s2, t->pid, word(t), WRITES));
	blocked(_metadata, p, t->pid, word(t));
	ASSERT_TRUE(two_leave(s2, t->pid));
	ASSERT_EQ(0, watch(p, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(p, t->pid, word(t), WRITES));
	/* The old owner attaches again, and no longer owns the set. */
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	blocked(_metadata, s, t->pid, word(t));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, owner_dies)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	ASSERT_EQ(0, kill(s->t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&s->t, &self->status));
	ASSERT_TRUE(ut_until(!strcmp(two_pair(p->t.pid, s2->t.pid),
				     two_tracers(t->pid))));
	ASSERT_EQ(0, watch(s2, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(s2, t->pid, word(t), WRITES));
	blocked(_metadata, p, t->pid, word(t));
}

/* The first tracer no longer owns the set after its detach. */
TEST_F(tracers, first_leaves)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(p, t->pid, word(t), WRITES));
	EXPECT_EQ(-EBUSY, set(s, t->pid, 0, word(t)));
	ASSERT_TRUE(two_leave(p, t->pid));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(s, t->pid, word(t), WRITES));
	blocked(_metadata, s2, t->pid, word(t));
	/* A new first tracer finds the set taken. */
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	blocked(_metadata, p, t->pid, word(t));
	ASSERT_TRUE(two_leave(s, t->pid));
	ASSERT_EQ(0, watch(p, t->pid, word(t), WRITES));
	EXPECT_TRUE(has(p, t->pid, word(t), WRITES));
}

/* Each thread has a set of its own. */
TEST_F(tracers, one_set_for_a_thread)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	long addr;
	int i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	addr = word(t);
	for (i = 1; i < 3; i++) {
		ASSERT_EQ(0, two_seize(p, t->sh->tid[i], 0));
		ASSERT_EQ(0, two_seize(s, t->sh->tid[i], 0));
	}
	ASSERT_EQ(0, watch(p, t->sh->tid[1], addr, WRITES));
	ASSERT_EQ(0, watch(s, t->sh->tid[2], addr, WRITES));
	blocked(_metadata, s, t->sh->tid[1], addr);
	blocked(_metadata, p, t->sh->tid[2], addr);
	EXPECT_TRUE(has(p, t->sh->tid[1], addr, WRITES));
	EXPECT_TRUE(has(s, t->sh->tid[2], addr, WRITES));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_TRUE(ut_thread_runs(t, 2));
}

/* Check that the tracer gets the SIGTRAP of a debug register. */
static bool told_of_a_hit(struct two_tracer *tr, pid_t pid)
{
	siginfo_t info;

	return two_wait(tr, pid) == two_stop(SIGTRAP) &&
	       !two_siginfo(tr, pid, &info) && info.si_code == TRAP_HWBKPT;
}

/* DR6 says what was caught, and only the owner of the set sees that. */
TEST_F(tracers, watchpoint_of_a_further_one)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	for (i = 1; i <= 3; i++) {
		actor_do(t, ACTOR_MARKS);
		ASSERT_TRUE(told_of_a_hit(p, t->pid));
		EXPECT_EQ(0, peek(p, t->pid, 6));
		EXPECT_EQ(TWO_NONE, two_poll(s, t->pid));
		ASSERT_EQ(0, two_cont(p, t->pid, SIGTRAP));
		ASSERT_TRUE(told_of_a_hit(s, t->pid));
		EXPECT_EQ(1, peek(s, t->pid, 6) & 0xf);
		EXPECT_EQ(0, poke(s, t->pid, 6, 0));
		EXPECT_EQ(i - 1, t->sh->value[ACTOR_DONE]);
		ASSERT_EQ(0, two_cont(s, t->pid, 0));
		ASSERT_TRUE(actor_did(t, i));
	}
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s2, t->pid));
}

/* The instruction runs when the trap is over. */
TEST_F(tracers, breakpoint_of_a_further_one)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct user_regs_struct user;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(s, t->pid, (long)actor_break, EXECUTES));
	actor_do(t, ACTOR_BREAKS);
	ASSERT_TRUE(told_of_a_hit(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGTRAP));
	ASSERT_TRUE(told_of_a_hit(s, t->pid));
	ASSERT_EQ(0, two_regs(s, t->pid, &user));
	EXPECT_EQ((long)actor_break, (long)user.rip);
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(two_quiet(&self->s2, t->pid));
}

/* The first tracer drops the signal, and the owner does not see it. */
TEST_F(tracers, first_drops_the_hit)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(s, t->pid, word(t), WRITES));
	actor_do(t, ACTOR_MARKS);
	ASSERT_TRUE(told_of_a_hit(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_TRUE(has(s, t->pid, word(t), WRITES));
}

/* The first tracer drops one hit, and passes the next one on. */
TEST_F(tracers, watchpoint_of_the_first)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, watch(p, t->pid, word(t), WRITES));
	actor_do(t, ACTOR_MARKS);
	ASSERT_TRUE(told_of_a_hit(p, t->pid));
	EXPECT_EQ(1, peek(p, t->pid, 6) & 0xf);
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(two_quiet(s, t->pid));
	actor_do(t, ACTOR_MARKS);
	ASSERT_TRUE(told_of_a_hit(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGTRAP));
	ASSERT_TRUE(told_of_a_hit(s, t->pid));
	EXPECT_EQ(0, peek(s, t->pid, 6));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 2));
	EXPECT_TRUE(two_quiet(s2, t->pid));
}

/* Without a first tracer the further tracers get the SIGTRAP in their order. */
TEST_F(tracers, watchpoint_without_a_first)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_TRUE(two_leave(p, t->pid));
	ASSERT_EQ(0, watch(s2, t->pid, word(t), WRITES));
	actor_do(t, ACTOR_MARKS);
	ASSERT_TRUE(told_of_a_hit(s, t->pid));
	EXPECT_EQ(TWO_NONE, two_poll(s2, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGTRAP));
	ASSERT_TRUE(told_of_a_hit(s2, t->pid));
	ASSERT_EQ(0, two_cont(s2, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
}

TEST_HARNESS_MAIN
