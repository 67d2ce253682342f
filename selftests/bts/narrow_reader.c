// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: a reader of 32 bits
 *
 * Usage: narrow_reader PID read|map
 * Attaches a consumer to the process, writes a byte to descriptor 3, and writes
 * all records to standard output.
 */
#define _GNU_SOURCE

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/utrace.h>
#include <linux/utrace_branch.h>

static int attach(pid_t pid, bool mapped)
{
	struct utrace_ioc_branches arg = {
		.where.scope = UTRACE_SCOPE_PROCESS,
		.full = UTRACE_FULL_DEFAULT,
		.capacity = 1024,
		.flags = mapped ? UTRACE_BRANCHES_F_MAPPED : 0,
	};
	int dev = open("/dev/utrace", O_RDWR), fd;

	arg.where.fd = syscall(SYS_pidfd_open, pid, 0);
	fd = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	if (dev < 0 || arg.where.fd < 0 || fd < 0)
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
	struct pollfd more = { .fd = fd, .events = POLLIN };
	struct utrace_ioc_branch_info info = {};
	const struct utrace_branch *records;
	const struct utrace_map_ring *ring;
	const struct utrace_map *area;
	struct utrace_map_tail *tail;
	__u64 at;

	if (ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info))
		err(1, "info");
	area = map(fd, info.map_size, PROT_READ, UTRACE_MAP_RINGS);
	tail = map(fd, info.tails_size, PROT_READ | PROT_WRITE, UTRACE_MAP_TAILS);
	ring = (const void *)area + area->header_size;
	records = (const void *)area + area->data_offset;

	do {
		poll(&more, 1, -1);
		for (at = tail->tail; at != ring->head; at++)
			put(&records[at & (info.capacity - 1)],
			    sizeof(*records));
		tail->tail = at;
	} while (!(more.revents & POLLHUP) || at != ring->head);
}

int main(int argc, char **argv)
{
	bool mapped = argc == 3 && !strcmp(argv[2], "map");
	int fd = attach(argc == 3 ? atoi(argv[1]) : 0, mapped);

	if (write(3, "", 1) != 1)
		err(1, "ready");
	if (mapped)
		by_map(fd);
	else
		by_read(fd);
	return 0;
}
