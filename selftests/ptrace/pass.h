/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a tracer that lets everything through
 *
 * Programs without the harness include this file, too.
 */
#ifndef UTRACE_PASS_H
#define UTRACE_PASS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

/* The options of a tracer that traces all that its tracees start. */
#define PASS_FOLLOWS	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
			 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

/* Check whether @status is a group stop for a tracer with PTRACE_SEIZE. */
static inline bool pass_is_group_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
}

/* The signal to resume with: that of the stop, 0 if the stop is an event. */
static inline int pass_signal(int status)
{
	return status >> 16 ? 0 : WSTOPSIG(status);
}

/* Resume a task from a stop as if the stop had not been. */
static inline void pass_stop(pid_t pid, int status)
{
	if (pass_is_group_stop(status))
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, pass_signal(status));
}

#endif /* UTRACE_PASS_H */
