// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - steps of a program that makes traps of its own
 *
 * The program sets the trap flag, runs into a breakpoint, or has a handler of
 * SIGTRAP.  Its own traps are signals, which each tracer sees.  Where a trap
 * ends a step too, there is one stop and not two.
 */
#include "step.h"

/* The trap flag */

/* The tracer drops the traps, so the program runs on. */
STEP_SCENE(flag_of_the_program, step_sets_flag, SIGHUP, .has_traps = true,
	   .move = {
	{ 0, 0, two_stop(SIGHUP), step_flags },
	{ PTRACE_CONT, SIGHUP, STEP_TRAP, step_set + 1, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_set + 2, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_set + 3, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_set + 10, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_cleared, STEP_DONE },
	{ PTRACE_CONT },
})

/*
 * There is no step over the instruction that clears the flag: the unpatched
 * kernel takes the flag for the program's own after such a step.
 */
STEP_SCENE(over_the_change_of_the_flag, step_sets_flag, SIGHUP,
	   .has_traps = true, .move = {
	{ 0, 0, two_stop(SIGHUP), step_flags },
	{ PTRACE_SINGLESTEP, SIGHUP, STEP_TRAP, step_flags + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_flags + 8, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_set, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_set + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_set + 2, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_set + 3, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_set + 10, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_cleared, STEP_DONE },
	{ PTRACE_CONT },
})

/* The tracer steps while the program has the flag set, and then no longer. */
STEP_SCENE(some_steps_with_the_flag_set, step_sets_flag, SIGHUP,
	   .has_traps = true, .move = {
	{ 0, 0, two_stop(SIGHUP), step_flags },
	{ PTRACE_CONT, SIGHUP, STEP_TRAP, step_set + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_set + 2, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_set + 3, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_set + 10, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_cleared, STEP_DONE },
	{ PTRACE_CONT },
})

/* A handler of SIGTRAP */

STEP_SCENE(handler_of_the_traps, step_sets_flag, SIGHUP, .handles_trap = true,
	   .has_traps = true, .traps = 5, .move = {
	{ 0, 0, two_stop(SIGHUP), step_flags },
	{ PTRACE_CONT, SIGHUP, STEP_TRAP, step_set + 1, STEP_DONE },
	{ PTRACE_CONT, SIGTRAP, STEP_TRAP, step_set + 2, STEP_DONE },
	{ PTRACE_CONT, SIGTRAP, STEP_TRAP, step_set + 3, STEP_DONE },
	{ PTRACE_CONT, SIGTRAP, STEP_TRAP, step_set + 10, STEP_DONE },
	{ PTRACE_CONT, SIGTRAP, STEP_TRAP, step_cleared, STEP_DONE },
	{ PTRACE_CONT, SIGTRAP },
})

STEP_SCENE(into_the_handler_of_the_traps, step_sets_flag, SIGHUP,
	   .handles_trap = true, .has_traps = true, .traps = 2, .move = {
	{ 0, 0, two_stop(SIGHUP), step_flags },
	{ PTRACE_CONT, SIGHUP, STEP_TRAP, step_set + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, SIGTRAP, STEP_TRAP, (const char *)step_on_trap,
	  STEP_FRAME },
	{ PTRACE_CONT, 0, STEP_TRAP, step_set + 2, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_set + 3, STEP_DONE },
	{ PTRACE_CONT, SIGTRAP, STEP_TRAP, step_set + 10, STEP_DONE },
	{ PTRACE_CONT, 0, STEP_TRAP, step_cleared, STEP_DONE },
	{ PTRACE_CONT },
})

/* The steps of the tracer do not call the handler of the program. */
STEP_SCENE(steps_beside_a_handler_of_traps, step_calls, SIGHUP, SYS_getppid,
	   .handles_trap = true, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 2, STEP_DONE },
	{ PTRACE_CONT },
})

/* A breakpoint */

STEP_SCENE(onto_a_breakpoint, step_breaks, SIGHUP, .has_traps = true, .move = {
	{ 0, 0, two_stop(SIGHUP), step_break },
	{ PTRACE_SINGLESTEP, SIGHUP, STEP_TRAP, step_break + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_broken, SI_KERNEL },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_broken + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* The trap of the breakpoint ends the step. */
STEP_SCENE(continued_at_a_breakpoint, step_breaks, SIGHUP, .has_traps = true,
	   .move = {
	{ 0, 0, two_stop(SIGHUP), step_break },
	{ PTRACE_SINGLESTEP, SIGHUP, STEP_TRAP, step_break + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_broken, SI_KERNEL },
	{ PTRACE_CONT },
})

STEP_SCENE(into_the_handler_of_a_breakpoint, step_breaks, SIGHUP,
	   .handles_trap = true, .has_traps = true, .traps = 1, .move = {
	{ 0, 0, two_stop(SIGHUP), step_break },
	{ PTRACE_CONT, SIGHUP, STEP_TRAP, step_broken, SI_KERNEL },
	{ PTRACE_SINGLESTEP, SIGTRAP, STEP_TRAP, (const char *)step_on_trap,
	  STEP_FRAME },
	{ PTRACE_CONT },
})

/* Other signals */

/* A signal that is dropped does not end a step. */
STEP_SCENE(step_drops_the_signal, step_calls, SIGUSR1, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGUSR1), step_called },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* The tracer puts a signal with a handler in the place of another one. */
STEP_SCENE(step_replaces_the_signal, step_calls, SIGHUP, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SINGLESTEP, SIGUSR1, STEP_TRAP, step_handler, STEP_FRAME },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_handler + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* The program blocks SIGUSR2, which is queued again. */
STEP_SCENE(step_with_a_blocked_signal, step_calls, SIGHUP, SYS_getppid,
	   .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SINGLESTEP, SIGUSR2, STEP_TRAP, step_called + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 2, STEP_DONE },
	{ PTRACE_CONT },
})

/* Ends */

/* Two steps.  The tracer is to act after the second one. */
static const struct step_scene two_steps = {
	step_calls, SIGHUP, SYS_getppid, .move = {
		{ 0, 0, two_stop(SIGHUP), step_called },
		{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 1, STEP_DONE },
		{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 2, STEP_DONE },
	},
}, entry_of_a_call = {
	step_calls, SIGHUP, SYS_getppid, .move = {
		{ 0, 0, two_stop(SIGHUP), step_called },
		{ PTRACE_SYSCALL, 0, TWO_SYSGOOD, step_behind },
	},
};

/* Play @sc up to the last stop, and return the tracer that steps. */
static struct two_tracer *play_to(struct two_data *self,
				  const struct two_variant *variant,
				  const struct step_scene *sc)
{
	struct step_tracer other = { place_tracer(self, variant->other) };
	struct step_tracer one = {
		place_tracer(self, variant->one), sc->move
	};

	if (!step_start(self, variant, sc) ||
	    !step_play(&self->t, &one, &other))
		return NULL;
	return one.tr;
}

/* A detach takes the step back: no SIGTRAP kills the tracee. */
TEST_F(tracers, detach_after_a_step)
{
	struct ut_target *t = &self->t;
	struct two_tracer *one = play_to(self, variant, &two_steps);

	ASSERT_NE(NULL, one);
	ASSERT_EQ(0, two_ptrace(one, PTRACE_DETACH, t->pid, 0));
	EXPECT_TRUE(ut_until(t->sh->value[STEP_OVER]));
	EXPECT_EQ(0, t->sh->value[STEP_FLAGS] & STEP_TF);
	EXPECT_TRUE(ut_runs(t));
}

/* A detach before the tracer has read its step: no SIGTRAP kills the tracee. */
TEST_F(tracers, detach_before_a_step_is_read)
{
	struct ut_target *t = &self->t;
	struct two_tracer *one = play_to(self, variant, &two_steps);

	ASSERT_NE(NULL, one);
	ASSERT_EQ(0, two_ptrace(one, PTRACE_SINGLESTEP, t->pid, 0));
	ASSERT_TRUE(ut_until(two_has(one, t->pid)));
	ASSERT_EQ(0, two_ptrace(one, PTRACE_DETACH, t->pid, 0));
	EXPECT_TRUE(ut_until(t->sh->value[STEP_OVER]));
	EXPECT_EQ(0, t->sh->value[STEP_FLAGS] & STEP_TF);
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, detach_at_the_entry_of_a_call)
{
	struct ut_target *t = &self->t;
	struct two_tracer *one = play_to(self, variant, &entry_of_a_call);

	ASSERT_NE(NULL, one);
	ASSERT_EQ(0, two_ptrace(one, PTRACE_DETACH, t->pid, 0));
	EXPECT_TRUE(ut_until(t->sh->value[STEP_OVER]));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, killed_after_a_step)
{
	struct ut_target *t = &self->t;
	struct two_tracer *one = play_to(self, variant, &two_steps);

	ASSERT_NE(NULL, one);
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_end_of(one, t->pid));
}

/* The kill comes while a step is under way, or at the stop after it. */
TEST_F(tracers, killed_in_a_step)
{
	struct ut_target *t = &self->t;
	struct two_tracer *one = play_to(self, variant, &two_steps);

	ASSERT_NE(NULL, one);
	ASSERT_EQ(0, two_ptrace(one, PTRACE_SINGLESTEP, t->pid, 0));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_end_of(one, t->pid));
	EXPECT_NE(1, t->sh->value[STEP_OVER]);
}

TEST_F(tracers, killed_in_a_step_of_a_call)
{
	struct ut_target *t = &self->t;
	struct two_tracer *one = play_to(self, variant, &entry_of_a_call);

	ASSERT_NE(NULL, one);
	ASSERT_EQ(0, two_ptrace(one, PTRACE_SINGLESTEP, t->pid, 0));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_end_of(one, t->pid));
	EXPECT_NE(1, t->sh->value[STEP_OVER]);
}

TEST_HARNESS_MAIN
