/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - orphans, which the first process of the machine reaps
 */
#ifndef UTRACE_DEV_ORPHANS_H
#define UTRACE_DEV_ORPHANS_H

#include "dev.h"

/* Check that the first process gets orphans: no subreaper is above the test. */
static inline bool orphans_go_to_first(void)
{
	pid_t parent = 0, pid;
	int fds[2];

	need(!pipe(fds), "pipe");
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		pid = getpid();
		if (fork())
			_exit(0);
		while ((parent = getppid()) == pid)
			usleep(1000);
		_exit(write(fds[1], &parent, sizeof(parent)) < 0);
	}
	need(waitpid(pid, NULL, 0) == pid, "wait");
	close(fds[1]);
	need(read(fds[0], &parent, sizeof(parent)) == sizeof(parent),
	     "an orphan");
	close(fds[0]);
	return parent == 1;
}

/*
 * End a process that has @n dead children, and wait until these are reaped.
 * Their process group exists as long as one of them is not.
 */
static inline bool orphans_are_reaped(int n)
{
	pid_t pid = fork();
	int i;

	need(pid >= 0, "fork");
	if (!pid) {
		setpgid(0, 0);
		while (n--)
			if (!vfork())
				_exit(0);
		_exit(0);
	}
	need(waitpid(pid, NULL, 0) == pid, "wait");
	for (i = 0; i < DEADLINE_MS / 2 && !kill(-pid, 0); i++)
		usleep(2000);
	return kill(-pid, 0) && errno == ESRCH;
}

#endif /* UTRACE_DEV_ORPHANS_H */
