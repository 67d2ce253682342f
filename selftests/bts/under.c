// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - run a program under a consumer of all its branches
 *
 * Usage: under FILE PROGRAM [ARG...]
 * The consumer follows the program and the processes that it starts, and drops
 * what finds no room.  FILE gets the number of records.  The status is that of
 * the program, or 128 + N if signal N has killed it, or 99 without a consumer.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/utrace.h>
#include <linux/utrace_branch.h>

#define NO_CONSUMER	99

/* The child: wait until it is followed, then execute the program. */
static void become(char **argv, int go)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(NO_CONSUMER);
	execvp(argv[0], argv);
	err(NO_CONSUMER, "%s", argv[0]);
}

static int consumer(pid_t pid)
{
	struct utrace_ioc_branches arg = {
		.where.fd = syscall(SYS_pidfd_open, pid, 0),
		.where.scope = UTRACE_SCOPE_TREE,
		.full = UTRACE_FULL_DROP,
	};
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), fd;

	if (dev < 0)
		err(NO_CONSUMER, "/dev/utrace");
	fd = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	if (fd < 0)
		err(NO_CONSUMER, "UTRACE_IOC_BRANCHES");
	close(dev);
	return fd;
}

int main(int argc, char **argv)
{
	static struct utrace_branch records[4096];
	unsigned long long n = 0;
	int go[2], fd, status;
	ssize_t got;
	FILE *file;
	pid_t pid;

	if (argc < 3 || pipe2(go, O_CLOEXEC))
		errx(NO_CONSUMER, "usage: under FILE PROGRAM [ARG...]");
	pid = fork();
	if (pid < 0)
		err(NO_CONSUMER, "fork");
	if (!pid)
		become(argv + 2, go[0]);
	fd = consumer(pid);
	if (write(go[1], "", 1) != 1)
		err(NO_CONSUMER, "pipe");
	while ((got = read(fd, records, sizeof(records))) > 0)
		n += got / sizeof(records[0]);
	file = fopen(argv[1], "w");
	if (got < 0 || !file || fprintf(file, "%llu\n", n) < 0 || fclose(file))
		err(NO_CONSUMER, "%s", argv[1]);
	if (waitpid(pid, &status, 0) != pid)
		err(NO_CONSUMER, "wait");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	       WEXITSTATUS(status);
}
