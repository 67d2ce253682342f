// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a session of /dev/utrace, by system calls
 *
 * A session has one ring of records and any number of targets.  The functions
 * return -1 with errno where a call fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session.h"

/* Open a session.  Returns its descriptor, or -1 with errno. */
int session_open(size_t ring_size)
{
	/*
	 * If the user may not lock that much: the kernel's default, or 64 KiB.
	 */
	const size_t sizes[] = { ring_size, 0, 64 << 10 };
	struct utrace_ioc_setup setup = {};
	int session = open("/dev/utrace", O_RDONLY | O_CLOEXEC), error;
	unsigned int i;

	if (session < 0)
		return -1;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		setup.ring_size = sizes[i];
		if (!ioctl(session, UTRACE_IOC_SETUP, &setup))
			return session;
		if (errno != EPERM && errno != ENOMEM)
			break;
	}
	error = errno;
	close(session);
	errno = error;
	return -1;
}

/* Add a target: process @pid.  Returns 0, or -1 with errno. */
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
		.scope = UTRACE_SCOPE_SYSTEM,
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

/* A text that says what an errno of these functions means, and what to do. */
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
	case EUSERS:
		return "you have too many engines; end other traces, or raise "
		       "/proc/sys/user/max_utrace_engines";
	case ENOMEM:
		return "there is not enough memory, or you may not lock more (ulimit -l)";
	case ESRCH:
		return "there is no such process";
	case EINVAL:
		return "the kernel does not know the request: it may be older than this command";
	case ENOSPC:
		return "too many engines trace this process; /proc/PID/utrace shows them";
	default:
		return strerror(error);
	}
}
