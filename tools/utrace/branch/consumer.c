// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a consumer of branches of /dev/utrace
 *
 * All system calls about branches are here.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "consumer.h"
#include "dev/session.h"

/* A flag of pidfd_open(2), whose header conflicts with <fcntl.h>. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD	O_EXCL
#endif

static int open_by(int dev, int pidfd, const struct utrace_ioc_branches *how)
{
	struct utrace_ioc_branches arg = *how;

	if (pidfd < 0)
		return -1;
	arg.where.fd = pidfd;
	return ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
}

/**
 * consumer_open() - make a consumer
 * @pid: the process, or a thread of it
 * @how: what to record; @where.fd is set here
 *
 * Return: its non-blocking descriptor, or -1 with errno.
 */
int consumer_open(pid_t pid, const struct utrace_ioc_branches *how)
{
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), pidfd, fd, error;

	if (dev < 0)
		return -1;
	pidfd = syscall(SYS_pidfd_open, pid, PIDFD_THREAD);
	fd = open_by(dev, pidfd, how);
	error = errno;
	if (pidfd >= 0)
		close(pidfd);
	close(dev);
	if (fd >= 0)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	errno = error;
	return fd;
}

/**
 * consumer_read() - read the available records
 * @consumer: descriptor of consumer_open()
 * @records: buffer
 * @n: maximum number of records
 *
 * Return: number of records; 0 at the end, -1 with errno, EAGAIN if there are
 * none now.
 */
ssize_t consumer_read(int consumer, struct utrace_branch *records, size_t n)
{
	ssize_t got;

	do
		got = read(consumer, records, n * sizeof(*records));
	while (got < 0 && errno == EINTR);
	return got < 0 ? got : got / (ssize_t)sizeof(*records);
}

/* Explain an errno of consumer_open(), and what the user can do. */
const char *consumer_why_not(int error)
{
	switch (error) {
	case ENOTTY:
		return "the kernel records no branches: boot one with CONFIG_UTRACE_BTS";
	case EOPNOTSUPP:
		return "this machine cannot record branches";
	case EINVAL:
		return "the kernel refuses the number of records, or is older than this command";
	default:
		return session_why_not(error);
	}
}
