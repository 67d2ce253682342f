// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a session of /dev/utrace, by system calls
 *
 * A session has one ring of records and any number of targets.  The functions
 * return -1 with errno if a call fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/array_size.h>

#include "session.h"

/* A flag of pidfd_open(2), whose header conflicts with <fcntl.h>. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD	O_EXCL
#endif

/*
 * The size of the rings in bytes by default.  Tasks that wait for the reader
 * need only as much for each CPU as keeps the wake-ups few, and the start pays
 * for all of it.  If the user may not lock so much memory, the smaller sizes are
 * tried.
 */
#define CPU_SIZE	(1UL << 20)
#define MOST_SIZE	(16UL << 20)

static const size_t smaller[] = { 1 << 20, 64 << 10 };

static size_t default_size(bool drop)
{
	size_t size = sysconf(_SC_NPROCESSORS_CONF) * CPU_SIZE;

	return drop || size > MOST_SIZE ? MOST_SIZE : size;
}

/*
 * Open a session.  @size is the number of bytes of its rings, 0 for the
 * default; stream_open() maps them.  With @drop, records are lost if the rings
 * are full, else the tasks wait for this command.  Returns its descriptor, or
 * -1 with errno.
 */
int session_open(size_t size, bool drop)
{
	struct utrace_ioc_setup setup = {
		.rings_size = size ? size : default_size(drop),
		.full = drop ? UTRACE_FULL_DROP : UTRACE_FULL_DEFAULT,
		.flags = UTRACE_SETUP_F_MAPPED,
	};
	int session = open("/dev/utrace", O_RDWR | O_CLOEXEC), error;
	unsigned int i = 0;

	if (session < 0)
		return -1;
	while (ioctl(session, UTRACE_IOC_SETUP, &setup)) {
		if (size || (errno != EPERM && errno != ENOMEM) ||
		    i == ARRAY_SIZE(smaller))
			goto fail;
		setup.rings_size = smaller[i++];
	}
	return session;

fail:
	error = errno;
	close(session);
	errno = error;
	return -1;
}

/* Add the target of @fd, and close @fd.  If @fd is -1, fail with its errno. */
static int attach_fd(int session, int fd, enum utrace_scope scope)
{
	struct utrace_ioc_attach attach = {
		.where = { .scope = scope, .fd = fd },
	};
	int ret, error;

	if (fd < 0)
		return -1;
	ret = ioctl(session, UTRACE_IOC_ATTACH, &attach);
	error = errno;
	close(fd);
	errno = error;
	return ret;
}

/* Add a target: task @tid, or its process.  Returns 0, or -1 with errno. */
int session_attach(int session, pid_t tid, enum utrace_scope scope)
{
	return attach_fd(session, syscall(SYS_pidfd_open, tid, PIDFD_THREAD),
			 scope);
}

/* Add a target: all tasks but those of this process. */
int session_attach_all(int session)
{
	struct utrace_ioc_attach attach = {
		.where = { .scope = UTRACE_SCOPE_SYSTEM, .fd = -1 },
	};

	return ioctl(session, UTRACE_IOC_ATTACH, &attach);
}

/* Add a target: all processes that execute the file @path. */
int session_attach_exe(int session, const char *path)
{
	return attach_fd(session, open(path, O_CLOEXEC | O_PATH),
			 UTRACE_SCOPE_EXE);
}

/* Add a target: all processes in the cgroup whose folder is @path. */
int session_attach_cgroup(int session, const char *path)
{
	return attach_fd(session, open(path, O_CLOEXEC | O_RDONLY),
			 UTRACE_SCOPE_CGROUP);
}

int session_choose(int session, const struct utrace_ioc_events *events)
{
	return ioctl(session, UTRACE_IOC_EVENTS, events);
}

/* Record the calls in which tasks of the targets are blocked. */
int session_in_flight(int session)
{
	struct utrace_ioc_in_flight in_flight = {};

	return ioctl(session, UTRACE_IOC_IN_FLIGHT, &in_flight);
}

/* Return the number of lost records. */
unsigned long long session_lost(int session)
{
	struct utrace_ioc_info info = {};

	ioctl(session, UTRACE_IOC_INFO, &info);
	return info.lost;
}

/* Explain an errno of these functions, and what the user can do. */
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
	case EDEADLK:
		return "this command is among the targets and would wait for "
		       "itself; exclude it";
	case E2BIG:
	case EINVAL:
		return "the kernel does not know the request: it may be older than this command";
	case ENOSPC:
		return "too many engines trace this process; /proc/PID/utrace shows them";
	default:
		return strerror(error);
	}
}

/* Explain an errno for a target that is not a task. */
const char *session_why_not_all(int error)
{
	if (error == EPERM)
		return "this needs root, or CAP_PERFMON and CAP_SYS_PTRACE";
	return session_why_not(error);
}

/*
 * Explain an errno for a target that is given as a path.  @wrong: how to say
 * that the path is of another kind.
 */
static const char *why_not_path(int error, const char *wrong)
{
	switch (error) {
	case ENOENT:
		return "there is no such file or directory";
	case EACCES:
		return strerror(error);
	case EBADF:
	case EINVAL:
		return wrong;
	default:
		return session_why_not_all(error);
	}
}

const char *session_why_not_exe(int error)
{
	return why_not_path(error, "it is not an executable file");
}

const char *session_why_not_cgroup(int error)
{
	return why_not_path(error, "it is not a directory of a version 2 cgroup");
}
