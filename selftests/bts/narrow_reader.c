// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: a reader of 32 bits
 *
 * Usage: narrow_reader PID read|map
 * Attaches a consumer to the process, writes a byte to descriptor 3, and writes
 * all records to standard output.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/utrace.h>
#include <linux/utrace_branch.h>

static int attach(pid_t pid)
{
	struct utrace_ioc_branches arg = {
		.scope = UTRACE_SCOPE_PROCESS,
		.mode = UTRACE_BRANCHES_ALL,
		.records = 1024,
	};
	int dev = open("/dev/utrace", O_RDWR), fd;

	arg.pidfd = syscall(SYS_pidfd_open, pid, 0);
	fd = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	if (dev < 0 || arg.pidfd < 0 || fd < 0)
		err(1, "attach");
	return fd;
}

static void put(const void *data, size_t size)
{
	if (write(STDOUT_FILENO, data, size) != (ssize_t)size)
		err(1, "write");
}

static void by_read(int fd)
{
	static struct utrace_branch some[100];
	ssize_t got;

	while ((got = read(fd, some, sizeof(some))) > 0)
		put(some, got);
	if (got)
		err(1, "read");
}

static void *map(int fd, size_t size, int prot, off_t offset)
{
	void *area = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	if (area == MAP_FAILED)
		err(1, "mmap");
	return area;
}

static void by_map(int fd)
{
	const struct utrace_branch_head *head =
		map(fd, 4096, PROT_READ, UTRACE_MAP_BRANCH_HEAD);
	struct utrace_branch_tail *tail =
		map(fd, 4096, PROT_READ | PROT_WRITE, UTRACE_MAP_BRANCH_TAIL);
	const struct utrace_branch *records =
		map(fd, head->records * sizeof(*records), PROT_READ,
		    UTRACE_MAP_BRANCHES);
	struct pollfd more = { .fd = fd, .events = POLLIN };
	__u64 at;

	do {
		poll(&more, 1, -1);
		for (at = tail->tail; at != head->head; at++)
			put(&records[at & (head->records - 1)],
			    sizeof(*records));
		tail->tail = at;
	} while (!(more.revents & POLLHUP) || at != head->head);
}

int main(int argc, char **argv)
{
	int fd = attach(argc == 3 ? atoi(argv[1]) : 0);

	if (write(3, "", 1) != 1)
		err(1, "ready");
	if (!strcmp(argv[2], "map"))
		by_map(fd);
	else
		by_read(fd);
	return 0;
}
