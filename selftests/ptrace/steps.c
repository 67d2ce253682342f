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

STEP_SCENE(instructions, step_calls, SIGHUP, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called, SI_TKILL },
	{ PTRACE_SINGLESTEP, SIGHUP, STEP_TRAP, step_called + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 2, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 5, STEP_DONE },
	{ PTRACE_CONT },
})

/* The step over the instruction of a system call ends after it. */
STEP_SCENE(over_a_system_call, step_calls, SIGHUP, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SINGLESTEP, SIGHUP, STEP_TRAP, step_called + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 2, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 5, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 8, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 11, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_call2, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind, STEP_CALL },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* Signals */

STEP_SCENE(into_a_handler, step_calls, SIGUSR1, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGUSR1), step_called },
	{ PTRACE_SINGLESTEP, SIGUSR1, STEP_TRAP, step_handler, STEP_FRAME },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_handler + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* After the step nothing is left of it. */
STEP_SCENE(into_a_handler_and_on, step_calls, SIGUSR1, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGUSR1), step_called },
	{ PTRACE_SINGLESTEP, SIGUSR1, STEP_TRAP, step_handler, STEP_FRAME },
	{ PTRACE_CONT },
})

STEP_SCENE(block_into_a_handler, step_calls, SIGUSR1, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGUSR1), step_called },
	{ PTRACE_SINGLEBLOCK, SIGUSR1, STEP_TRAP, step_handler, STEP_FRAME },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_handler + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* The end of rt_sigreturn() is the end of a system call. */
STEP_SCENE(out_of_a_handler, step_calls, SIGUSR1, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGUSR1), step_called },
	{ PTRACE_SINGLESTEP, SIGUSR1, STEP_TRAP, step_handler, STEP_FRAME },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_handler + 1, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_handler + 2, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_restorer, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_restorer + 5, STEP_DONE },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called, STEP_CALL },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_called + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* System calls */

STEP_SCENE(from_the_entry_of_a_call, step_calls, SIGHUP, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind, STEP_CALL },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind + 1, STEP_DONE },
	{ PTRACE_CONT },
})

STEP_SCENE(block_from_the_entry_of_a_call, step_calls, SIGHUP, SYS_getppid,
	   .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
	{ PTRACE_SINGLEBLOCK, 0, STEP_TRAP, step_behind, STEP_CALL },
	{ PTRACE_CONT },
})

/* The call has come to its end, so the step makes an instruction. */
STEP_SCENE(from_the_exit_of_a_call, step_calls, SIGHUP, SYS_getppid, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
	{ PTRACE_SYSCALL, 0, TWO_SYSGOOD, step_behind },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* Events */

/* Step from the stop of an event in the system call @nr. */
#define FROM_EVENT(test_name, nr, event)				\
	STEP_SCENE(test_name, step_calls, SIGHUP, nr,			\
		.options = 1 << event, .move = {			\
		{ 0, 0, two_stop(SIGHUP), step_called },		\
		{ PTRACE_CONT, SIGHUP, two_event(event), step_behind },	\
		{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind, STEP_CALL }, \
		{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind + 1, STEP_DONE }, \
		{ PTRACE_CONT },					\
	})

FROM_EVENT(from_fork, SYS_fork, PTRACE_EVENT_FORK)
FROM_EVENT(from_vfork, SYS_vfork, PTRACE_EVENT_VFORK)
FROM_EVENT(from_vfork_done, SYS_vfork, PTRACE_EVENT_VFORK_DONE)
/* The child has no exit signal. */
FROM_EVENT(from_clone, SYS_clone, PTRACE_EVENT_CLONE)

/* Each of the two stops is the end of a step. */
STEP_SCENE(from_vfork_to_vfork_done, step_calls, SIGHUP, SYS_vfork,
	   .options = PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_VFORK), step_behind },
	{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_VFORK_DONE),
	  step_behind },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind, STEP_CALL },
	{ PTRACE_CONT },
})

/* PTRACE_CONT at a later stop of the call takes the step back. */
STEP_SCENE(continued_at_vfork_done, step_calls, SIGHUP, SYS_vfork,
	   .options = PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_VFORK), step_behind },
	{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_VFORK_DONE),
	  step_behind },
	{ PTRACE_CONT },
})

STEP_SCENE(continued_at_fork_after_the_entry, step_calls, SIGHUP, SYS_fork,
	   .options = PTRACE_O_TRACEFORK, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
	{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_FORK), step_behind },
	{ PTRACE_CONT },
})

/* PTRACE_SYSCALL takes the step back, too: the next stop is the exit. */
STEP_SCENE(continued_at_the_exit_after_fork, step_calls, SIGHUP, SYS_fork,
	   .options = PTRACE_O_TRACEFORK, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
	{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_FORK), step_behind },
	{ PTRACE_SYSCALL, 0, TWO_SYSGOOD, step_behind },
	{ PTRACE_CONT },
})

/* The call stops for the other tracer before the step ends. */
STEP_SCENE(event_of_the_other_tracer, step_calls, SIGHUP, SYS_vfork,
	   .of_other = PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind, STEP_CALL },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, step_behind + 1, STEP_DONE },
	{ PTRACE_CONT },
})

/* execve() */

/* The step ends before the first instruction of the new program. */
STEP_SCENE(from_exec, step_calls, SIGHUP, SYS_execve,
	   .options = PTRACE_O_TRACEEXEC, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_EXEC), STEP_AT_EXEC },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, STEP_AT_EXEC, STEP_CALL },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, STEP_ANYWHERE, STEP_DONE },
	{ PTRACE_CONT, 0, two_exit(ACTOR_CODE) },
})

STEP_SCENE(block_from_exec, step_calls, SIGHUP, SYS_execve,
	   .options = PTRACE_O_TRACEEXEC, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_CONT, SIGHUP, two_event(PTRACE_EVENT_EXEC), STEP_AT_EXEC },
	{ PTRACE_SINGLEBLOCK, 0, STEP_TRAP, STEP_AT_EXEC, STEP_CALL },
	{ PTRACE_CONT, 0, two_exit(ACTOR_CODE) },
})

/* The step begins in the old program. */
STEP_SCENE(from_the_entry_of_execve, step_calls, SIGHUP, SYS_execve,
	   .options = PTRACE_O_TRACEEXEC, .move = {
	{ 0, 0, two_stop(SIGHUP), step_called },
	{ PTRACE_SYSCALL, SIGHUP, TWO_SYSGOOD, step_behind },
	{ PTRACE_SINGLESTEP, 0, two_event(PTRACE_EVENT_EXEC), STEP_AT_EXEC },
	{ PTRACE_SINGLESTEP, 0, STEP_TRAP, STEP_AT_EXEC, STEP_CALL },
	{ PTRACE_CONT, 0, two_exit(ACTOR_CODE) },
})

TEST_HARNESS_MAIN
