// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a program that has user_events
 *
 * Usage: user [-w] TIMES EVENT...
 * Register each EVENT, a name with fields as in <linux/user_events.h>, and write
 * the first one TIMES times, while it is enabled: with u32 0 to TIMES - 1, s64 minus
 * that, and the string "hello".  With -w the program says "waiting" and waits until
 * the event is enabled, and at its end until its standard input ends.  "+EVENT" may
 * have several formats.
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/types.h>
#include <linux/user_events.h>

#define EVENTS		8
#define DATA		"/sys/kernel/tracing/user_events_data"

static __u32 words[EVENTS];

/* What is written: the fields "u32 count; s64 minus; __rel_loc char[] text". */
struct payload {
	__u32 count;
	__s64 minus;
	__u32 text;
	char bytes[6];
} __attribute__((packed));

static __u32 add(int fd, int n, const char *event)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = 31,
		.enable_size = sizeof(words[n]),
		.enable_addr = (uintptr_t)&words[n],
		.flags = *event == '+' ? USER_EVENT_REG_MULTI_FORMAT : 0,
		.name_args = (uintptr_t)event + (*event == '+'),
	};

	if (ioctl(fd, DIAG_IOCSREG, &reg))
		err(1, "registering %s", event);
	return reg.write_index;
}

/* The function is traced, too. */
__attribute__((noinline))
static void write_event(int fd, __u32 index, __u32 count)
{
	struct payload payload = {
		.count = count,
		.minus = -(__s64)count,
		.text = sizeof(payload.bytes) << 16,
		.bytes = "hello",
	};
	struct iovec iov[] = {
		{ &index, sizeof(index) },
		{ &payload, sizeof(payload) },
	};

	if (writev(fd, iov, 2) < 0)
		err(1, "writing");
}

static bool is_enabled(void)
{
	return __atomic_load_n(&words[0], __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	bool wait = argc > 1 && !strcmp(argv[1], "-w");
	int fd = open(DATA, O_RDWR | O_CLOEXEC), i;
	__u32 first = 0, index;

	argc -= wait;
	argv += wait;
	if (argc < 3 || argc - 2 > EVENTS)
		errx(1, "usage: user [-w] TIMES EVENT...");
	if (fd < 0)
		err(1, DATA);
	for (i = 2; i < argc; i++) {
		index = add(fd, i - 2, argv[i]);
		if (i == 2)
			first = index;
	}
	if (wait)
		puts("waiting");
	fflush(stdout);
	while (wait && !is_enabled())
		usleep(1000);
	for (i = 0; i < atoi(argv[1]) && is_enabled(); i++)
		write_event(fd, first, i);
	if (wait)
		while (getchar() >= 0)
			;
	return 0;
}
