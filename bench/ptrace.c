// SPDX-License-Identifier: GPL-2.0
/*
 * Benchmark of utrace - ptrace(2): one tracer, two, and a process that waits
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* Be stopped for each call until the calls are made. */
static void be_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	*shared = per_op(getppids, 100, 50);
	_exit(0);
}

/* Resume @pid from each stop, up to its end. */
static void trace_calls(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_SYSCALL, pid, 0, 0);
}

/* A call with two stops for one tracer. */
void ptrace_row(const char *name)
{
	pid_t pid = fork();

	if (!pid)
		be_traced();
	trace_calls(pid);
	say(name, *shared);
}

/* A call with two stops for each of two tracers. */
static void two_tracers_row(void)
{
	pid_t pid = fork(), second;
	int status, ready[2];
	char c;

	if (!pid)
		be_traced();
	must(!pipe(ready), "pipe");
	must(waitpid(pid, &status, 0) == pid, "wait");
	second = fork();
	if (!second) {
		must(!ptrace(PTRACE_SEIZE, pid, 0, 0), "second tracer");
		must(!ptrace(PTRACE_INTERRUPT, pid, 0, 0), "interrupt");
		must(write(ready[1], "", 1) == 1, "write");
		trace_calls(pid);
		_exit(0);
	}
	must(read(ready[0], &c, 1) == 1, "read");
	ptrace(PTRACE_SYSCALL, pid, 0, 0);
	trace_calls(pid);
	waitpid(second, &status, 0);
	close(ready[0]);
	close(ready[1]);
	say("ptrace_two", *shared);
}

static void waits(long n)
{
	int status;

	while (n--)
		waitpid(-1, &status, WNOHANG);
}

/* wait(2) of a process that has a child and traces nobody. */
void wait_row(const char *name)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	say(name, per_op(waits, 100, 50));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The cost of allowing several tracers, and of a second tracer. */
void ptracers_rows(void)
{
	write_file("/proc/sys/kernel/ptrace_max_tracers", "2");
	wait_row("wait_many");
	ptrace_row("ptrace_many");
	two_tracers_row();
}
