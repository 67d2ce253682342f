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
	is(-ENOTTY, command(fd, _IO(0xBC, 0x00), buffer),
	   "no direction is ENOTTY");
	is(-ENOTTY,
	   command(fd, _IOWR(0xBC, 0x01, struct utrace_ioc_setup), buffer),
	   "another direction is ENOTTY");
	close(fd);
}

TEST_F(dev, sizes)
{
	static const struct {
		const char *name;
		unsigned long cmd;
		unsigned int first;
		bool in;
	} cmds[] = {
		{ "INFO", UTRACE_IOC_INFO, UTRACE_IOC_INFO_SIZE_VER0, false },
		{ "SETUP", UTRACE_IOC_SETUP, UTRACE_IOC_SETUP_SIZE_VER0,
		  true },
		{ "ATTACH", UTRACE_IOC_ATTACH, UTRACE_IOC_ATTACH_SIZE_VER0,
		  true },
		{ "DETACH", UTRACE_IOC_DETACH, UTRACE_IOC_DETACH_SIZE_VER0,
		  true },
		{ "EVENTS", UTRACE_IOC_EVENTS, UTRACE_IOC_EVENTS_SIZE_VER0,
		  true },
		{ "COUNTS", UTRACE_IOC_COUNTS, UTRACE_IOC_COUNTS_SIZE_VER0,
		  true },
		{ "IN_FLIGHT", UTRACE_IOC_IN_FLIGHT,
		  UTRACE_IOC_IN_FLIGHT_SIZE_VER0, true },
	};
	/*
	 * The result of each ioctl for zeros, with or without more zeros
	 * behind.
	 */
	const int zeros[] = { 0, 0, -EBADF, -ENOENT, 0, 0, 0 };
	const char none[16] = {};
	char buffer[4096] __attribute__((aligned(8)));
	unsigned int size, i;
	int fd, other;

	for (i = 0; i < sizeof(cmds) / sizeof(*cmds); i++) {
		unsigned long cmd = cmds[i].cmd;

		fd = session();
		/*
		 * The zeros name descriptor 0, which may be anything; use
		 * /dev/null.
		 */
		other = open("/dev/null", O_RDONLY | O_CLOEXEC);
		size = _IOC_SIZE(cmd);
		memset(buffer, 0, sizeof(buffer));
		if (cmd == UTRACE_IOC_ATTACH)
			memcpy(buffer, &other, sizeof(other));
		holds(command(fd, RESIZED(cmd, cmds[i].first - 4), buffer) ==
				      -EINVAL &&
			      command(fd, RESIZED(cmd, 0), buffer) == -EINVAL,
		      "%s: too small is EINVAL", cmds[i].name);
		holds(command(fd, RESIZED(cmd, 4096 + 8), buffer) == -E2BIG,
		      "%s: too large is E2BIG", cmds[i].name);
		holds(command(fd, cmd, NULL) == -EFAULT,
		      "%s: a bad pointer is EFAULT", cmds[i].name);
		if (cmds[i].in) {
			buffer[size + 8] = 1;
			holds(command(fd, RESIZED(cmd, size + 16), buffer) ==
				      -E2BIG,
			      "%s: what is not known is E2BIG", cmds[i].name);
			buffer[size + 8] = 0;
		} else {
			memset(buffer, 0x55, sizeof(buffer));
		}
		holds(command(fd, RESIZED(cmd, size + 16), buffer) == zeros[i],
		      "%s: larger, with 0 behind, is taken", cmds[i].name);
		if (_IOC_DIR(cmd) & _IOC_READ && !zeros[i])
			holds(!memcmp(buffer + size, none, 16) &&
			      (cmds[i].in || buffer[size + 16] == 0x55),
			      "%s: what is not known is 0 there", cmds[i].name);
		close(other);
		close(fd);
	}
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
	is(1 << 20, arg.ring_size * arg.cpus, "INFO: and filled in");
	/* So far no structure has grown. */
	holds(sizeof(arg) == UTRACE_IOC_INFO_SIZE_VER0 ||
	      bytes[UTRACE_IOC_INFO_SIZE_VER0] == 0x55,
	      "INFO: nothing is written behind it");
	close(fd);
}

TEST_HARNESS_MAIN
