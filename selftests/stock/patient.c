// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - calls of user_events that wait until an event is gone
 *
 * A user_event without users goes once RCU and a work queue are done with it.
 * The kernel's own tests register the name again at once, with other fields or
 * flags, or delete the event, and some fail in a guest, where that takes long.
 * So scripts/stock-suites links the tests with --wrap=ioctl and --wrap=write:
 * each ioctl of user_events waits for RCU and for a moment before, and a call
 * that fails because of the former event is made again for up to a second.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <linux/user_events.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "patient.h"

#define TRIES	100
#define PAUSE	10000	/* microseconds */

static void pause_once(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	usleep(PAUSE);
}

/* Check whether the error is that of an old event with this name. */
static bool is_in_the_way(void)
{
	return errno == EADDRINUSE || errno == EBUSY || errno == EEXIST;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	int i, ret = -1;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	for (i = 0; i < TRIES; i++) {
		if (i || _IOC_TYPE(request) == DIAG_IOC_MAGIC)
			pause_once();
		ret = __real_ioctl(fd, request, arg);
		if (ret != -1 || !is_in_the_way())
			break;
	}
	return ret;
}

ssize_t __wrap_write(int fd, const void *buf, size_t count)
{
	ssize_t ret = -1;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (i)
			pause_once();
		ret = __real_write(fd, buf, count);
		if (ret != -1 || !is_in_the_way())
			break;
	}
	return ret;
}
