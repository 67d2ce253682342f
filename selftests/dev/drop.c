// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a session that loses records, for a program that does not
 * ask for it
 *
 * Linked with --wrap=open.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/utrace.h>

int __wrap_open(const char *path, int flags);

int __wrap_open(const char *path, int flags)
{
	struct utrace_ioc_setup setup = {
		.rings_size = 64 << 10,
		.full = UTRACE_FULL_DROP,
	};
	int fd = syscall(SYS_openat, AT_FDCWD, path, flags);

	return ioctl(fd, UTRACE_IOC_SETUP, &setup) ? -1 : fd;
}
