// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - parse files in a child process
 *
 * libelf and libdw are not hardened against malicious files, and a mapped file
 * may be truncated at any time.  So a child process parses the files.  If a
 * signal kills it, only one file has failed.  The child has no descriptors but
 * a socket and the file, and its memory and time are limited.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart.h"
#include "children.h"
#include "fail.h"
#include "memory.h"

/* Limits of a child: memory, and seconds of processor time for each file. */
#define MEMORY		(4ULL << 30)
#define SECONDS		300

/* Close all descriptors but the standard ones and two others. */
static void close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low < 3)
		low = high;
	close_range(3, low - 1, 0);
	if (low + 1 < high)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

/* Restart the time limit of the child for the next file. */
void apart_more_time(void)
{
	struct rlimit limit;
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	getrlimit(RLIMIT_CPU, &limit);
	limit.rlim_cur = used.ru_utime.tv_sec + used.ru_stime.tv_sec + SECONDS;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CPU, &limit);
}

/* Signals that end the command must not reach the child, which ends with it. */
static void be_apart(pid_t parent)
{
	const struct rlimit none = {}, memory = { MEMORY, MEMORY };
	sigset_t signals;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	sigfillset(&signals);
	sigdelset(&signals, SIGXCPU);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_DATA, &memory);
	apart_more_time();
}

/**
 * apart_start() - start a child
 * @apart: filled in
 * @keep: a descriptor that stays open in the child, or -1
 * @function: the function of the child
 * @data: argument of @function
 *
 * The command ends with a message if this fails.
 */
void apart_start(struct apart *apart, int keep, apart_function *function,
		 void *data)
{
	pid_t parent = getpid();
	FILE *in, *out;
	int fds[2];

	/* A child that calls exit() must not write this again. */
	fflush(stdout);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		fail("a child to parse files", strerror(errno));
	apart->pid = fork();
	if (apart->pid < 0)
		fail("a child to parse files", strerror(errno));
	if (!apart->pid) {
		close_others(fds[1], keep);
		be_apart(parent);
		in = fdopen(fds[1], "r");
		out = fdopen(dup(fds[1]), "w");
		if (in && out)
			function(in, out, data);
		_exit(!in || !out || fflush(out));
	}
	child_keep(apart->pid);
	close(fds[1]);
	apart->fd = fds[0];
	apart->from = checked(fdopen(fds[0], "r"));
}

/* Send data to the child.  Returns false if it did not accept them. */
bool apart_send(const struct apart *apart, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	while (size) {
		n = send(apart->fd, at, size, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= n;
	}
	return true;
}

/**
 * apart_end() - wait for the end of a child
 * @apart: the child, which exits when its socket is closed
 *
 * Return: NULL if it has exited normally; else why a file was not parsed.
 */
const char *apart_end(struct apart *apart)
{
	int status;

	fclose(apart->from);
	status = child_wait(apart->pid);
	apart->pid = 0;
	if (!status)
		return NULL;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return "reading it takes too long";
	if (WIFSIGNALED(status))
		return "the file is damaged: reading it has crashed";
	return "reading it has failed";
}
