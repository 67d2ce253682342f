// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the stops at system calls of several tracers
 *
 * At the entry the first tracer gets its stop before the further tracers, which
 * get theirs all at once; at the exit the order is reversed.  So each tracer
 * sees the call as the task makes it, or as the tracers before it have changed
 * it.
 */
#include "two.h"

/* The stop without TRACESYSGOOD is none for PTRACE_GET_SYSCALL_INFO. */
#define PLAIN	two_stop(SIGTRAP)

/*
 * Start an actor whose tracers @p and @s get the stops of system calls.  The
 * actor makes none before actor_do().
 */
static bool trace_calls(struct ut_target *t, struct two_tracer *p,
			struct two_tracer *s, long options)
{
	return actor_spawn(t) && !two_seize(p, t->pid, options) &&
	       !two_seize(s, t->pid, options) && two_wants_calls(s, t->pid) &&
	       two_wants_calls(p, t->pid) && ut_runs(t);
}

static long info_of(struct two_tracer *tr, pid_t pid,
		    struct __ptrace_syscall_info *info)
{
	memset(info, 0, sizeof(*info));
	return two_copy(tr, PTRACE_GET_SYSCALL_INFO, pid, sizeof(*info), info,
			sizeof(*info));
}

/* Check that the tracer is in the stop at the entry of the marker call. */
static bool at_entry(struct two_tracer *tr, pid_t pid)
{
	struct __ptrace_syscall_info info;

	return info_of(tr, pid, &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY &&
	       info.entry.nr == UT_MARK_NR &&
	       info.entry.args[0] == ACTOR_MARK &&
	       info.entry.args[5] == ACTOR_MARK + 5;
}

static bool at_exit(struct two_tracer *tr, pid_t pid)
{
	struct __ptrace_syscall_info info;

	return info_of(tr, pid, &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_EXIT &&
	       info.exit.rval == getpid() && !info.exit.is_error;
}

TEST_F(tracers, order_of_two)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(trace_calls(t, p, s, PTRACE_O_TRACESYSGOOD));
	actor_do(t, ACTOR_MARKS);

	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	EXPECT_TRUE(at_entry(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	ASSERT_EQ(0, two_next(p, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	EXPECT_TRUE(at_entry(s, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	ASSERT_EQ(0, two_next(s, t->pid));

	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	EXPECT_TRUE(at_exit(s, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	ASSERT_EQ(0, two_next(s, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	EXPECT_TRUE(at_exit(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_EQ(0, t->sh->value[ACTOR_DONE]);
	ASSERT_EQ(0, two_next(p, t->pid));

	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_EQ(getpid(), t->sh->value[ACTOR_RESULT]);
	EXPECT_TRUE(ut_runs(t));
}

/* The further tracers do not wait for each other. */
TEST_F(tracers, order_of_three)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(trace_calls(t, p, s, PTRACE_O_TRACESYSGOOD));
	ASSERT_EQ(0, two_seize(s2, t->pid, PTRACE_O_TRACESYSGOOD));
	ASSERT_TRUE(two_wants_calls(s2, t->pid));
	actor_do(t, ACTOR_MARKS);

	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_TRUE(two_quiet(s2, t->pid));
	ASSERT_EQ(0, two_next(p, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(s2, t->pid));
	EXPECT_TRUE(at_entry(s2, t->pid));
	ASSERT_EQ(0, two_next(s, t->pid));
	/* The second tracer still holds the task. */
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_TRUE(at_entry(s2, t->pid));
	ASSERT_EQ(0, two_next(s2, t->pid));

	ASSERT_EQ(TWO_SYSGOOD, two_wait(s2, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	EXPECT_TRUE(at_exit(s, t->pid));
	ASSERT_EQ(0, two_next(s2, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	ASSERT_EQ(0, two_next(s, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	EXPECT_TRUE(at_exit(p, t->pid));
	EXPECT_EQ(0, t->sh->value[ACTOR_DONE]);
	ASSERT_EQ(0, two_next(p, t->pid));
	EXPECT_TRUE(actor_did(t, 1));
}

/* One tracer wants calls, the other does not. */
TEST_F(tracers, only_one_wants_calls)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(tr[0], t->pid, PTRACE_O_TRACESYSGOOD));
	ASSERT_EQ(0, two_seize(tr[1], t->pid, PTRACE_O_TRACESYSGOOD));
	for (i = 0; i < 2; i++) {
		struct two_tracer *one = tr[i], *other = tr[1 - i];

		ASSERT_TRUE(two_wants_calls(one, t->pid));
		actor_do(t, ACTOR_MARKS);
		ASSERT_EQ(TWO_SYSGOOD, two_wait(one, t->pid));
		EXPECT_TRUE(at_entry(one, t->pid));
		EXPECT_FALSE(two_has(other, t->pid));
		ASSERT_EQ(0, two_next(one, t->pid));
		ASSERT_EQ(TWO_SYSGOOD, two_wait(one, t->pid));
		EXPECT_TRUE(at_exit(one, t->pid));
		ASSERT_EQ(0, two_cont(one, t->pid, 0));
		ASSERT_TRUE(actor_did(t, 2 * i + 1));
		EXPECT_TRUE(two_quiet(other, t->pid));
		/* Neither tracer wants the next call. */
		actor_do(t, ACTOR_MARKS);
		ASSERT_TRUE(actor_did(t, 2 * i + 2));
		EXPECT_TRUE(two_quiet(one, t->pid));
		EXPECT_TRUE(two_quiet(other, t->pid));
	}
}

/* A tracer that uses PTRACE_CONT at the entry gets no stop at the exit. */
TEST_F(tracers, cont_at_the_entry)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	const struct two_step entry[] = {
		{ PLAIN, PTRACE_CONT }, TWO_END
	}, both[] = {
		{ PLAIN, PTRACE_SYSCALL }, { PLAIN, PTRACE_SYSCALL }, TWO_END
	};
	int i;

	ASSERT_TRUE(trace_calls(t, tr[0], tr[1], 0));
	for (i = 0; i < 2; i++) {
		struct two_tracer *one = tr[i], *other = tr[1 - i];

		actor_do(t, ACTOR_MARKS);
		ASSERT_TRUE(two_play(t->pid, one, entry, other, both));
		ASSERT_TRUE(actor_did(t, i + 1));
		EXPECT_TRUE(two_quiet(one, t->pid));
		ASSERT_TRUE(two_wants_calls(one, t->pid));
	}
}

TEST_F(tracers, sysgood_is_of_one_tracer)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	const struct two_step plain[] = {
		{ PLAIN, PTRACE_SYSCALL }, { PLAIN, PTRACE_CONT }, TWO_END
	}, good[] = {
		{ TWO_SYSGOOD, PTRACE_SYSCALL },
		{ TWO_SYSGOOD, PTRACE_CONT },
		TWO_END
	};

	ASSERT_TRUE(trace_calls(t, p, s, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_SETOPTIONS, t->pid,
				PTRACE_O_TRACESYSGOOD));
	ASSERT_EQ(0, two_next(s, t->pid));
	actor_do(t, ACTOR_MARKS);
	ASSERT_TRUE(two_play(t->pid, p, plain, s, good));
	EXPECT_TRUE(actor_did(t, 1));
}

/*
 * The first tracer changes an argument, the further tracer the number; the
 * further tracer changes the result, and the first tracer changes it again.
 */
TEST_F(tracers, changes_are_seen_by_the_next_one)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct __ptrace_syscall_info info;
	struct user_regs_struct regs;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(trace_calls(t, p, s, PTRACE_O_TRACESYSGOOD));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	ASSERT_EQ(0, two_regs(p, t->pid, &regs));
	regs.rdi = 4242;
	ASSERT_EQ(0, two_copy(p, PTRACE_SETREGS, t->pid, 0, &regs,
			      sizeof(regs)));
	ASSERT_EQ(0, two_next(p, t->pid));

	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	ASSERT_LT(0, info_of(s, t->pid, &info));
	EXPECT_EQ(UT_MARK_NR, info.entry.nr);
	EXPECT_EQ(4242, info.entry.args[0]);
	ASSERT_EQ(0, two_full(s, PTRACE_POKEUSER, t->pid,
			      offsetof(struct user, regs.orig_rax), -1));
	ASSERT_EQ(0, two_next(s, t->pid));

	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	ASSERT_LT(0, info_of(s, t->pid, &info));
	EXPECT_EQ(PTRACE_SYSCALL_INFO_EXIT, info.op);
	EXPECT_EQ(-ENOSYS, info.exit.rval);
	ASSERT_EQ(0, two_full(s, PTRACE_POKEUSER, t->pid,
			      offsetof(struct user, regs.rax), 77));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));

	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	ASSERT_LT(0, info_of(p, t->pid, &info));
	EXPECT_EQ(77, info.exit.rval);
	ASSERT_EQ(0, two_full(p, PTRACE_POKEUSER, t->pid,
			      offsetof(struct user, regs.rax), 78));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(78, t->sh->value[ACTOR_RESULT]);
}

/* A request of a tracer in the stop of another tracer. */
TEST_F(tracers, not_in_the_stop_of_another)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct __ptrace_syscall_info info;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(trace_calls(t, p, s, PTRACE_O_TRACESYSGOOD));
	actor_do(t, ACTOR_MARKS);
	ASSERT_EQ(TWO_SYSGOOD, two_wait(p, t->pid));
	EXPECT_EQ(-ESRCH, two_next(s, t->pid));
	EXPECT_EQ(-ESRCH, info_of(s, t->pid, &info));
	EXPECT_TRUE(at_entry(p, t->pid));
	ASSERT_EQ(0, two_next(p, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	EXPECT_EQ(-ESRCH, two_next(p, t->pid));
	EXPECT_EQ(-ESRCH, info_of(p, t->pid, &info));
	EXPECT_TRUE(at_entry(s, t->pid));
}

/* A stop that is none of a system call has no information on one. */
TEST_F(tracers, no_information_elsewhere)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct __ptrace_syscall_info info;
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(trace_calls(t, tr[0], tr[1], PTRACE_O_TRACESYSGOOD));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(TWO_TRAP, two_interrupt(tr[i], t->pid));
		ASSERT_LT(0, info_of(tr[i], t->pid, &info));
		EXPECT_EQ(PTRACE_SYSCALL_INFO_NONE, info.op);
		EXPECT_NE(0, info.instruction_pointer);
		ASSERT_EQ(0, two_next(tr[i], t->pid));
	}
}

/* No call is lost, and none is reported twice. */
TEST_F(tracers, many_calls)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	const struct two_step steps[] = {
		{ TWO_SYSGOOD, PTRACE_SYSCALL },
		{ TWO_SYSGOOD, PTRACE_SYSCALL },
		TWO_END
	};
	int i;

	ASSERT_TRUE(trace_calls(t, p, s, PTRACE_O_TRACESYSGOOD));
	for (i = 1; i <= 50; i++) {
		actor_do(t, ACTOR_MARKS);
		ASSERT_TRUE(two_play(t->pid, p, steps, s, steps));
		ASSERT_TRUE(actor_did(t, i));
	}
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

TEST_HARNESS_MAIN
