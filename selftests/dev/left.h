/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - sessions that have ended hold nothing
 *
 * The end of a session waits for no task, so each function polls until nothing
 * is left, for at most five seconds.
 */
#ifndef UTRACE_DEV_LEFT_H
#define UTRACE_DEV_LEFT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/utrace.h>

#include "../patience.h"

/* The smallest rings in bytes, and the limits that are tried for them. */
#define SMALL_RINGS	(64 << 10)
#define LEFT_STEP	4096
#define LEFT_MOST	(8 << 20)

#define LEFT_SYSCTL	"/proc/sys/user/max_utrace_engines"

static inline bool left_again(int *tries)
{
	usleep(10000);
	return ++*tries < 500 * ut_patience();
}

/* Check whether a process has an engine of a session, a consumer or words. */
static inline bool left_has_engine(pid_t pid)
{
	char path[64], text[8192] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/utrace", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && (strstr(text, "\ndev ") || strstr(text, "\nwords ") ||
			 strstr(text, "\nbranches "));
}

/*
 * Wait until the process has no engine of a session.  A process that has died
 * keeps its engines until it is reaped.
 */
static inline bool left_no_engine(pid_t pid)
{
	int tries = 0;

	while (left_has_engine(pid))
		if (!left_again(&tries))
			return false;
	return true;
}

/* Check whether the caller can have rings with RLIMIT_MEMLOCK set to @most. */
static inline bool left_room_for_rings(rlim_t most)
{
	struct utrace_ioc_setup setup = { .rings_size = SMALL_RINGS };
	int fd = open("/dev/utrace", O_RDWR | O_CLOEXEC);
	struct rlimit limit, old;
	bool good;

	getrlimit(RLIMIT_MEMLOCK, &old);
	limit = (struct rlimit){ most, old.rlim_max };
	good = !setrlimit(RLIMIT_MEMLOCK, &limit) &&
	       !ioctl(fd, UTRACE_IOC_SETUP, &setup);
	setrlimit(RLIMIT_MEMLOCK, &old);
	close(fd);
	return good;
}

/*
 * The least limit by which the caller may have rings.  The caller has no
 * CAP_IPC_LOCK.
 */
static inline rlim_t left_memlock(void)
{
	rlim_t most = SMALL_RINGS;

	while (most < LEFT_MOST && !left_room_for_rings(most))
		most += LEFT_STEP;
	return most;
}

/* Wait until the user is charged no more than at left_memlock(), with @least. */
static inline bool left_no_rings(rlim_t least)
{
	int tries = 0;

	while (!left_room_for_rings(least))
		if (!left_again(&tries))
			return false;
	return true;
}

static inline bool left_room_for_engine(int pidfd)
{
	struct utrace_ioc_attach attach = {
		.where = { .scope = UTRACE_SCOPE_PROCESS, .fd = pidfd },
	};
	int fd = open("/dev/utrace", O_RDWR | O_CLOEXEC);
	bool good = !ioctl(fd, UTRACE_IOC_ATTACH, &attach);

	close(fd);
	return good;
}

static inline bool left_set_most(const char *text)
{
	int fd = open(LEFT_SYSCTL, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 &&
		    write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

/*
 * Wait until the user is charged with no engine: with a limit of one, the
 * process of @pidfd can be attached.
 */
static inline bool left_no_charge(int pidfd)
{
	int fd = open(LEFT_SYSCTL, O_RDONLY | O_CLOEXEC), tries = 0;
	char most[32] = "";
	bool good;

	good = fd >= 0 && read(fd, most, sizeof(most) - 1) > 0 &&
	       left_set_most("1");
	close(fd);
	while (good && !left_room_for_engine(pidfd))
		good = left_again(&tries);
	left_set_most(most);
	return good;
}

#endif /* UTRACE_DEV_LEFT_H */
