// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: structures of another size
 *
 * Programs may have been compiled with smaller or larger structures than those
 * of this kernel.  The file also tests ioctls that do not exist.
 */
#include "dev.h"

/* An ioctl with a structure of another size. */
#define RESIZED(cmd, size)	_IOC(_IOC_DIR(cmd), 0xBC, _IOC_NR(cmd), size)

TEST_F(dev, unknown)
{
	char buffer[64] = {};
	int fd = session();

	is(-ENOTTY,
	   command(fd, _IOWR(0xBC, 0x1f, struct utrace_ioc_info), buffer),
	   "a number that is not there is ENOTTY");
	is(-ENOTTY, command(fd, _IOW(0xBC, 0xff, __u32), buffer),
	   "the last one too");
	is(-ENOTTY,
	   command(fd, _IOR(0xBD, 0x00, struct utrace_ioc_info), buffer),
	   "another type is ENOTTY");
	is(-EINVAL, command(fd, _IO(0xBC, 0x00), buffer),
	   "no size is EINVAL");
	is(0, command(fd, _IOW(0xBC, 0x01, struct utrace_ioc_setup), buffer),
	   "the direction is of no matter");
	close(fd);
}

/*
 * The ioctls of a session.  @zeros: the result if the argument is zero, also if it is
 * longer than the structure.  @reads and @writes: the kernel reads or writes it.
 */
static const struct ioctl_size {
	const char *name;
	unsigned long cmd;
	unsigned int first;
	int zeros;
	bool reads, writes;
} sizes[] = {
#define SIZE(name, zeros, reads, writes) { #name, UTRACE_IOC_##name,	\
		UTRACE_IOC_##name##_SIZE_VER0, zeros, reads, writes }
	SIZE(INFO, 0, false, true),
	SIZE(SETUP, 0, true, false),
	SIZE(ATTACH, -EINVAL, true, true),
	SIZE(DETACH, -ENOENT, true, false),
	SIZE(EVENTS, 0, true, true),
	SIZE(COUNTS, -EINVAL, true, true),
	SIZE(IN_FLIGHT, 0, true, true),
};

static void test_size(const struct ioctl_size *io)
{
	char buffer[4096 + 16] __attribute__((aligned(8))) = {};
	unsigned int size = _IOC_SIZE(io->cmd), more;
	const char none[16] = {};
	int fd = session();

	holds(command(fd, RESIZED(io->cmd, io->first - 4), buffer) == -EINVAL &&
	      command(fd, RESIZED(io->cmd, 0), buffer) == -EINVAL,
	      "%s: too small is EINVAL", io->name);
	holds(command(fd, RESIZED(io->cmd, 4096 + 8), buffer) == -E2BIG,
	      "%s: too large is E2BIG", io->name);
	holds(command(fd, io->cmd, NULL) == -EFAULT,
	      "%s: a bad pointer is EFAULT", io->name);
	for (more = 4; more <= 16; more += 4) {
		buffer[size + more - 1] = 1;
		holds(command(fd, RESIZED(io->cmd, size + more), buffer) ==
		      (io->reads ? -E2BIG : 0), "%s: what is not known %s",
		      io->name, io->reads ? "is E2BIG" : "is not read");
		buffer[size + more - 1] = 0;
	}
	buffer[size + 16] = 0x55;
	holds(command(fd, RESIZED(io->cmd, size + 16), buffer) == io->zeros,
	      "%s: larger, with 0 behind, is taken", io->name);
	if (io->writes && !io->zeros)
		holds(!memcmp(buffer + size, none, 16) &&
		      buffer[size + 16] == 0x55,
		      "%s: what is not known is 0 there", io->name);
	close(fd);
}

TEST_F(dev, sizes)
{
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		test_size(&sizes[i]);
}

/* Elements of an array may be smaller or larger than those of the kernel. */
TEST_F(dev, elements)
{
	enum { SIZE = sizeof(struct utrace_call_count) };
	static char rows[8][SIZE + 16] __attribute__((aligned(8)));
	struct utrace_ioc_counts arg = { .rows.at = (uintptr_t)rows };
	struct utrace_ioc_events count = { .count = UTRACE_COUNT_CALLS };
	const struct utrace_call_count *row = (void *)rows;
	const char none[16] = {};
	struct target target;
	int fd = session();

	start(&target);
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!command(fd, UTRACE_IOC_EVENTS, &count), "EVENTS");
	have(&target, SELF, mark, 3);
	settle(&target, SELF);
	arg.rows.n = 8;
	arg.rows.size = UTRACE_CALL_COUNT_SIZE_VER0 - 8;
	is(-EINVAL, command(fd, UTRACE_IOC_COUNTS, &arg), "too small is EINVAL");
	arg.rows.size = 4096 + 8;
	is(-E2BIG, command(fd, UTRACE_IOC_COUNTS, &arg), "too large is E2BIG");
	arg.rows.size = SIZE + 16;
	arg.rows.reserved = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_COUNTS, &arg), "a reserved member");
	is(8, arg.rows.n, "an error changes no member");
	arg.rows.reserved = 0;
	arg.reserved = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_COUNTS, &arg),
	   "a reserved member of the argument");
	arg.reserved = 0;
	memset(rows, 0x55, sizeof(rows));
	is(0, command(fd, UTRACE_IOC_COUNTS, &arg), "larger is taken");
	holds(arg.rows.n >= 2 && arg.rows.n < 8, "some elements");
	is(arg.rows.n, arg.rows.total, "which are all");
	holds(!memcmp(rows[0] + SIZE, none, 16) &&
	      !memcmp(rows[1] + SIZE, none, 16),
	      "what is not known is 0 behind each");
	holds(rows[arg.rows.n][0] == 0x55, "nothing is written behind the last");
	for (row = (void *)rows; row->nr != MARK_NR;)
		row = (void *)row + arg.rows.size;
	is(3, row->calls, "and each element is at its place");
	close(fd);
	stop(&target);
}

/* A program that was compiled before a structure grew still works. */
TEST_F(dev, first_version)
{
	struct utrace_ioc_info arg;
	unsigned char *bytes = (void *)&arg;
	int fd = session();

	need(!setup(fd, 1 << 20), "setup");
	memset(&arg, 0x55, sizeof(arg));
	is(0,
	   command(fd, RESIZED(UTRACE_IOC_INFO, UTRACE_IOC_INFO_SIZE_VER0),
		   &arg),
	   "INFO: its first version is taken");
	is(1 << 20, arg.ring_size * arg.rings, "INFO: and filled in");
	/* So far no structure has grown. */
	holds(sizeof(arg) == UTRACE_IOC_INFO_SIZE_VER0 ||
	      bytes[UTRACE_IOC_INFO_SIZE_VER0] == 0x55,
	      "INFO: nothing is written behind it");
	close(fd);
}

TEST_HARNESS_MAIN
