// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a session of /dev/utrace
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session.h"

/* The session, or -1 with errno. */
int session_open(size_t ring_size, enum utrace_clock clock)
{
	struct utrace_ioc_setup setup = {
		.ring_size = ring_size,
		.clock = clock,
	};
	int session = open("/dev/utrace", O_RDONLY | O_CLOEXEC);

	if (session < 0 || !ioctl(session, UTRACE_IOC_SETUP, &setup))
		return session;
	/* Who may not have so much has the kernel's default. */
	setup.ring_size = 0;
	if (errno == EPERM && !ioctl(session, UTRACE_IOC_SETUP, &setup))
		return session;
	close(session);
	return -1;
}

/* 0, or -1 with errno. */
int session_attach(int session, pid_t pid, enum utrace_scope scope)
{
	struct utrace_ioc_attach attach = { .scope = scope };
	int ret, error;

	attach.fd = syscall(SYS_pidfd_open, pid, 0);
	if (attach.fd < 0)
		return -1;
	ret = ioctl(session, UTRACE_IOC_ATTACH, &attach);
	error = errno;
	close(attach.fd);
	errno = error;
	return ret;
}

int session_attach_system(int session)
{
	struct utrace_ioc_attach attach = {
		.fd = -1,
		.scope = UTRACE_F_SYSTEM,
	};

	return ioctl(session, UTRACE_IOC_ATTACH, &attach);
}

int session_choose(int session, const struct utrace_ioc_events *events)
{
	return ioctl(session, UTRACE_IOC_EVENTS, events);
}

/* How many records had no room in the ring. */
unsigned long long session_lost(int session)
{
	struct utrace_ioc_info info = {};

	ioctl(session, UTRACE_IOC_INFO, &info);
	return info.lost;
}

/* What an error of the functions here means, and what to do. */
const char *session_why_not(int error)
{
	switch (error) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return "there is no /dev/utrace: boot a kernel with CONFIG_UTRACE_DEV";
	case EPERM:
	case EACCES:
		return "not allowed: trace your own processes, or as root (see also "
		       "/proc/sys/kernel/utrace/unprivileged and "
		       "/proc/sys/kernel/yama/ptrace_scope)";
	case ESRCH:
		return "there is no such process";
	case EINVAL:
		return "the kernel does not understand it: it may be older than this command";
	case ENOSPC:
		return "there are too many engines on it; /proc/PID/utrace shows whose";
	default:
		return strerror(error);
	}
}
