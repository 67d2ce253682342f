// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - run a command beside a tracer that lets everything through
 *
 * passer PLACE COMMAND [ARG]...: run the command.  This process is the tracer,
 * and PLACE is its place among the tracers of a task:
 *
 *   ahead	the first tracer of the command and of all that it starts.  A tracer
 *		in the command is a further one.
 *   gone	as ahead, and detaches from a task that gets a second tracer.  The
 *		task then has no first tracer.
 *   behind	a further tracer of each task that gets a tracer
 *
 * The status is that of the command.  The last line on stderr has the numbers of
 * stops, of tasks that the passer has detached from, and of those that it has missed:
 * it has waited for their new tracer in vain, since that attach failed or took too
 * long, or could not take its place.
 *
 * A task that traces other tasks stays traced in "ahead" and "gone", so that
 * its next children are traced from their begin.  A signal that it ignores may
 * end its system calls with EINTR then, as under any tracer.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../patience.h"
#include "pass.h"

#define INSTANCE	"/sys/kernel/tracing/instances/passer"

/* An attach takes less time than this. */
#define ATTACH_MS	(50 * ut_patience())

static enum { AHEAD, GONE, BEHIND } place;
static long stops, detached, missed;

/*
 * Return the number of tracers of @pid, or -1 if there is no such task, or if
 * the passer has taken its place: it has left the task, or traces it already as
 * a further tracer.
 */
static int tracers_of(pid_t pid)
{
	char path[32], line[256], *word;
	int first = 0, n = 0;
	bool taken = false;
	FILE *file;

	sprintf(path, "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "TracerPid: %d", &first) == 1 ||
		    strncmp(line, "Tracers:", 8))
			continue;
		for (word = strtok(line + 8, " \t\n"); word;
		     word = strtok(NULL, " \t\n")) {
			taken |= place == BEHIND && atoi(word) == getpid();
			n++;
		}
	}
	fclose(file);
	taken |= (first == getpid()) == (place == BEHIND);
	return taken ? -1 : n ?: !!first;
}

/* Resume a task from a stop as if the stop had not been. */
static void pass(pid_t pid, int status)
{
	stops++;
	if (place == GONE && tracers_of(pid) > 1)
		detached += !ptrace(PTRACE_DETACH, pid, 0, pass_signal(status));
	else
		pass_stop(pid, status);
}

/*
 * Attach when @pid has got its new tracer; if the place is "gone", interrupt
 * the task, which is then detached.  The event of ftrace comes before the
 * attach is done.
 */
static void meet(pid_t pid)
{
	int i, n, want = place == GONE ? 2 : 1;
	long ret;

	for (i = 0; (n = tracers_of(pid)) < want; i++) {
		if (n < 0)
			return;
		if (i == ATTACH_MS) {
			missed++;
			return;
		}
		usleep(1000);
	}
	ret = place == GONE ? ptrace(PTRACE_INTERRUPT, pid, 0, 0) :
			      ptrace(PTRACE_SEIZE, pid, 0, PASS_FOLLOWS);
	/* The task may have ended. */
	if (ret && errno != ESRCH)
		missed++;
}

/*
 * Read an event: "COMM-PID [CPU] FLAGS TIME: sys_ptrace(request: N, pid: N, ...".
 * The numbers of the call are hexadecimal.
 */
static void read_event(char *line)
{
	char *call = strstr(line, ": sys_ptrace(request: "), *p;
	unsigned int request, pid;

	if (!call || sscanf(call, ": sys_ptrace(request: %x, pid: %x",
			    &request, &pid) != 2)
		return;
	if (request == PTRACE_TRACEME) {
		*call = 0;
		p = strrchr(line, '[');
		if (!p)
			return;
		*p = 0;
		p = strrchr(line, '-');
		pid = p ? atoi(p + 1) : 0;
	}
	meet(pid);
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(125, "%s", path);
	close(fd);
}

/* Have ftrace report each attach, and return the descriptor of the reports. */
static int open_events(void)
{
	char filter[128];
	int fd;

	sprintf(filter,
		"common_pid != %d && (request == %d || request == %d || request == %d)",
		getpid(), PTRACE_TRACEME, PTRACE_ATTACH, PTRACE_SEIZE);
	if (mkdir(INSTANCE, 0700) && errno != EEXIST)
		err(125, INSTANCE);
	/* poll() returns at the first event, not when half the buffer is full. */
	write_to(INSTANCE "/buffer_percent", "0");
	write_to(INSTANCE "/events/syscalls/sys_enter_ptrace/filter", filter);
	write_to(INSTANCE "/events/syscalls/sys_enter_ptrace/enable", "1");
	fd = open(INSTANCE "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		err(125, INSTANCE "/trace_pipe");
	return fd;
}

/* A read can end within a line. */
static void read_events(int fd)
{
	static char text[4096];
	static size_t left;
	ssize_t size = read(fd, text + left, sizeof(text) - 1 - left);
	char *line = text, *end;

	if (size <= 0)
		return;
	text[left + size] = 0;
	while ((end = strchr(line, '\n'))) {
		*end = 0;
		read_event(line);
		line = end + 1;
	}
	left = strlen(line);
	memmove(text, line, left);
}

/* Start the command, and trace it if this is its first tracer. */
static pid_t start(char **argv)
{
	char c = 0;
	int gate[2];
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC))
		err(125, "pipe");
	pid = fork();
	if (pid < 0)
		err(125, "fork");
	if (!pid) {
		sigset_t set;

		sigemptyset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
		if (read(gate[0], &c, 1) == 1)
			execvp(*argv, argv);
		err(127, "%s", *argv);
	}
	if (place != BEHIND && ptrace(PTRACE_SEIZE, pid, 0, PASS_FOLLOWS))
		err(125, "PTRACE_SEIZE");
	if (write(gate[1], &c, 1) != 1)
		err(125, "write");
	close(gate[0]);
	close(gate[1]);
	return pid;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "ahead", "gone", "behind" };
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info;
	pid_t command, pid;
	int status, end = -1;
	sigset_t set;

	while (argc > 2 && place <= BEHIND && strcmp(argv[1], names[place]))
		place++;
	if (argc < 3 || place > BEHIND)
		errx(125, "usage: passer ahead|gone|behind COMMAND [ARG]...");

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fds[0].fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fds[0].fd < 0)
		err(125, "signalfd");
	/* poll() takes no notice of a negative descriptor. */
	fds[1].fd = place == AHEAD ? -1 : open_events();

	command = start(argv + 2);
	while (end < 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			err(125, "poll");
		while (read(fds[0].fd, &info, sizeof(info)) > 0)
			;
		if (fds[1].revents)
			read_events(fds[1].fd);
		while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
			if (WIFSTOPPED(status))
				pass(pid, status);
			else if (pid == command)
				end = WIFEXITED(status) ? WEXITSTATUS(status) :
							  128 + WTERMSIG(status);
		}
	}
	fprintf(stderr, "passer: %ld stops, %ld detached, %ld missed\n", stops,
		detached, missed);
	return end;
}
