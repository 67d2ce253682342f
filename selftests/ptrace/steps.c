// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - steps from signals, system calls and events
 *
 * A step that begins inside a system call ends at the end of the call, before
 * the next instruction of the program.  A step that delivers a signal to a
 * handler ends before the first instruction of the handler.
 */
#include "step.h"

/* Two tracers step at once.  Each of them gets the stops of the scene. */
FIXTURE_VARIANT_ADD(tracers, both_first_and_further)
{
	.attach = 2, .one = 0, .other = 1, .both = true,
};

FIXTURE_VARIANT_ADD(tracers, both_of_two_further)
{
	.attach = 3, .leaves = true, .one = 1, .other = 2, .both = true,
};

/* Instructions */

TEST_F(tracers, instructions)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGHUP), step_called, SI_TKILL },
			{ PTRACE_SINGLESTEP, SIGHUP, STEP_TRAP,
			  step_called + 1, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called + 2, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called + 5, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* The step over the instruction of a system call ends behind it. */
TEST_F(tracers, over_a_system_call)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SINGLESTEP, SIGHUP, STEP_TRAP,
			  step_called + 1, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called + 2, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called + 5, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called + 8, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called + 11, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_call2, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind, STEP_CALL },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* Signals */

TEST_F(tracers, into_a_handler)
{
	static const struct step_scene scene = {
		step_calls, SIGUSR1, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGUSR1), step_called },
			{ PTRACE_SINGLESTEP, SIGUSR1, STEP_TRAP,
			  step_handler, STEP_FRAME },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_handler + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* After the step nothing is left of it. */
TEST_F(tracers, into_a_handler_and_on)
{
	static const struct step_scene scene = {
		step_calls, SIGUSR1, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGUSR1), step_called },
			{ PTRACE_SINGLESTEP, SIGUSR1, STEP_TRAP,
			  step_handler, STEP_FRAME },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

TEST_F(tracers, block_into_a_handler)
{
	static const struct step_scene scene = {
		step_calls, SIGUSR1, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGUSR1), step_called },
			{ PTRACE_SINGLEBLOCK, SIGUSR1, STEP_TRAP,
			  step_handler, STEP_FRAME },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_handler + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* The end of rt_sigreturn() is the end of a system call. */
TEST_F(tracers, out_of_a_handler)
{
	static const struct step_scene scene = {
		step_calls, SIGUSR1, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGUSR1), step_called },
			{ PTRACE_SINGLESTEP, SIGUSR1, STEP_TRAP,
			  step_handler, STEP_FRAME },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_handler + 1, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_handler + 2, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_restorer, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_restorer + 5, STEP_DONE },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called, STEP_CALL },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_called + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* System calls */

TEST_F(tracers, from_the_entry_of_a_call)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind, STEP_CALL },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

TEST_F(tracers, block_from_the_entry_of_a_call)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
			{ PTRACE_SINGLEBLOCK, 0, STEP_TRAP,
			  step_behind, STEP_CALL },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* The call has come to its end, so the step makes an instruction. */
TEST_F(tracers, from_the_exit_of_a_call)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_getppid, .move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
			{ PTRACE_SYSCALL, 0, TWO_SYSGOOD, step_behind },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* Events */

/* Step from the stop of an event in the system call @nr. */
static void from_event(struct __test_metadata *_metadata,
		       struct two_data *self,
		       const struct two_variant *variant, long nr,
		       int event)
{
	const struct step_scene scene = {
		step_calls, SIGHUP, nr, .options = 1 << event, .move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_CONT, SIGHUP, two_event(event), step_behind },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind, STEP_CALL },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

TEST_F(tracers, from_fork)
{
	from_event(_metadata, self, variant, SYS_fork, PTRACE_EVENT_FORK);
}

TEST_F(tracers, from_vfork)
{
	from_event(_metadata, self, variant, SYS_vfork, PTRACE_EVENT_VFORK);
}

TEST_F(tracers, from_vfork_done)
{
	from_event(_metadata, self, variant, SYS_vfork,
		   PTRACE_EVENT_VFORK_DONE);
}

/* The child has no exit signal. */
TEST_F(tracers, from_clone)
{
	from_event(_metadata, self, variant, SYS_clone, PTRACE_EVENT_CLONE);
}

/* Each of the two stops is the end of a step. */
TEST_F(tracers, from_vfork_to_vfork_done)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_vfork,
		.options = PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_VFORK),
			  step_behind },
			{ PTRACE_SINGLESTEP, 0,
			  two_event(PTRACE_EVENT_VFORK_DONE), step_behind },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind, STEP_CALL },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* PTRACE_CONT at a later stop of the call takes the step back. */
TEST_F(tracers, continued_at_vfork_done)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_vfork,
		.options = PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_VFORK),
			  step_behind },
			{ PTRACE_SINGLESTEP, 0,
			  two_event(PTRACE_EVENT_VFORK_DONE), step_behind },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

TEST_F(tracers, continued_at_fork_after_the_entry)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_fork, .options = PTRACE_O_TRACEFORK,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
			{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_FORK),
			  step_behind },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* PTRACE_SYSCALL takes the step back, too: the next stop is the exit. */
TEST_F(tracers, continued_at_the_exit_after_fork)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_fork, .options = PTRACE_O_TRACEFORK,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
			{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_FORK),
			  step_behind },
			{ PTRACE_SYSCALL, 0, TWO_SYSGOOD, step_behind },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* The call stops for the other tracer before the step ends. */
TEST_F(tracers, event_of_the_other_tracer)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_vfork,
		.of_other = PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind, STEP_CALL },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  step_behind + 1, STEP_DONE },
			{ PTRACE_CONT },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* execve() */

/* The step ends before the first instruction of the new program. */
TEST_F(tracers, from_exec)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_execve, .options = PTRACE_O_TRACEEXEC,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_EXEC),
			  STEP_AT_EXEC },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  STEP_AT_EXEC, STEP_CALL },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  STEP_ANYWHERE, STEP_DONE },
			{ PTRACE_CONT, 0, two_exit(ACTOR_CODE) },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

TEST_F(tracers, block_from_exec)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_execve, .options = PTRACE_O_TRACEEXEC,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_EXEC),
			  STEP_AT_EXEC },
			{ PTRACE_SINGLEBLOCK, 0, STEP_TRAP,
			  STEP_AT_EXEC, STEP_CALL },
			{ PTRACE_CONT, 0, two_exit(ACTOR_CODE) },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

/* The step begins in the old program. */
TEST_F(tracers, from_the_entry_of_execve)
{
	static const struct step_scene scene = {
		step_calls, SIGHUP, SYS_execve, .options = PTRACE_O_TRACEEXEC,
		.move = {
			{ 0, 0, two_stop(SIGHUP), step_called },
			{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
			{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_EXEC),
			  STEP_AT_EXEC },
			{ PTRACE_SINGLESTEP, 0, STEP_TRAP,
			  STEP_AT_EXEC, STEP_CALL },
			{ PTRACE_CONT, 0, two_exit(ACTOR_CODE) },
		},
	};

	step_scene(_metadata, self, variant, &scene);
}

TEST_HARNESS_MAIN
