// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a further tracer that lets everything through
 *
 * second PID: trace the process and all that it starts, as a further tracer, so
 * that the place of the first tracer stays free for the programs of PID.  A child
 * takes that place until this process has attached.  kernel.ptrace_max_tracers is
 * at least 2.
 *
 * SIGTERM ends the tracing; the number of stops is then printed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLLOW	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
		 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

static volatile sig_atomic_t over;

static void end(int sig)
{
	over = 1;
}

static int die(const char *what)
{
	perror(what);
	return 1;
}

/* Be the first tracer of @pid until a byte comes by @gate. */
static int hold_the_place(pid_t pid, int said, int gate)
{
	char c = 0;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return die("first tracer");
	/* The end of this process ends the tracing. */
	return write(said, &c, 1) != 1 || read(gate, &c, 1) != 1;
}

static int attach(pid_t pid)
{
	int said[2], gate[2], ret;
	pid_t child;
	char c = 0;

	if (pipe(said) || pipe(gate))
		return die("pipe");
	child = fork();
	if (!child)
		_exit(hold_the_place(pid, said[1], gate[0]));
	close(said[1]);
	if (read(said[0], &c, 1) != 1)
		return die("the first tracer did not attach");
	ret = ptrace(PTRACE_SEIZE, pid, 0, FOLLOW);
	if (ret)
		return die("second tracer");
	if (write(gate[1], &c, 1) != 1 || waitpid(child, NULL, 0) != child)
		return die("child");
	return 0;
}

/* Resume a task from a stop as if the stop had not been. */
static void pass(pid_t pid, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, event ? 0 : sig);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = end };
	long stops = 0;
	int status;
	pid_t pid;

	if (argc != 2 || attach(atoi(argv[1])))
		return 1;
	sigaction(SIGTERM, &act, NULL);
	printf("second: attached\n");
	fflush(stdout);
	while (!over) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno != EINTR)
			break;
		if (pid <= 0 || !WIFSTOPPED(status))
			continue;
		stops++;
		pass(pid, status);
	}
	printf("second: %ld stops\n", stops);
	return 0;
}
