// SPDX-License-Identifier: GPL-2.0
/*
 * The files of the process tracer where memory fails: a write that is refused changes
 * neither its file nor what is recorded.
 *
 * Without fault injection, which only the kernel debug has, the tests are skipped.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../fail_nth.h"
#include "../harness.h"

#define INSTANCE	"/sys/kernel/tracing/instances/memory"

/* Room for what is read of a file; the rest of a longer file is ignored. */
#define TEXT_SIZE	16384

/* 0 or -errno */
static int write_file(const char *file, const char *text, int flags)
{
	char path[128];
	int fd, ret = 0;

	snprintf(path, sizeof(path), INSTANCE "/%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

static bool read_file(const char *file, char *text)
{
	char path[128];
	int fd, len = 0, got = 0;

	snprintf(path, sizeof(path), INSTANCE "/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (len < TEXT_SIZE - 1 &&
	       (got = read(fd, text + len, TEXT_SIZE - 1 - len)) > 0)
		len += got;
	text[len] = '\0';
	close(fd);
	return got >= 0;
}

FIXTURE(memory) {
};

/* An instance that follows two system calls of this task, and no other task. */
FIXTURE_SETUP(memory)
{
	const char *why = fail_nth_begin(false);
	char pid[16];

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(!mkdir(INSTANCE, 0700) || errno == EEXIST);
	snprintf(pid, sizeof(pid), "%d", (int)syscall(SYS_gettid));
	ASSERT_EQ(0, write_file("set_event_pid", pid, O_TRUNC));
	ASSERT_EQ(0, write_file("process/syscalls", "getppid getuid", O_TRUNC));
	ASSERT_EQ(0, write_file("current_tracer", "process", O_TRUNC));
}

FIXTURE_TEARDOWN(memory)
{
	write_file("current_tracer", "nop", O_TRUNC);
	fail_nth_end();
	rmdir(INSTANCE);
}

/*
 * Make three system calls.  Return a bit for each call that was recorded:
 * getppid, getuid and getpgrp.
 */
static int recorded(void)
{
	static char trace[TEXT_SIZE];
	static const char * const calls[] = { "getppid(", "getuid(", "getpgrp(" };
	int i, seen = 0;

	if (write_file("trace", "", O_TRUNC))
		return -1;
	syscall(SYS_getppid);
	syscall(SYS_getuid);
	syscall(SYS_getpgrp);
	if (!read_file("trace", trace))
		return -1;
	for (i = 0; i < 3; i++)
		if (strstr(trace, calls[i]))
			seen |= 1 << i;
	return seen;
}

/**
 * struct change - a write, and the one that takes it back
 * @file: the file
 * @text: is appended to the file
 * @undo: restores the former list, which it replaces
 * @recorded: what recorded() returns after the change
 */
struct change {
	const char *file;
	const char *text;
	const char *undo;
	int recorded;
};

static const struct change changes[] = {
	{ "process/syscalls", "getpgrp", "getppid getuid", 7 },
	{ "process/syscalls", "!getuid", "getppid getuid", 1 },
	{ "process/syscalls", "!getuid !getppid", "getppid getuid", 7 },
	{ "process/events", "!sys_enter !sys_exit",
	  "sys_enter sys_exit fork exec exit signal jobctl", 0 },
	{ "process/args", "buffers files", "strings", 3 },
	{ "process/stacks", "raw", "none", 3 },
	{ "process/comms", "another-name", "", 0 },
	{ "process/exes", "/bin/true /bin/cat", "", 0 },
	{ "process/uids", "4711", "", 0 },
	{ "process/cgroups", "/", "", 3 },
};

/* The change at hand, and its file before the first write. */
static const struct change *change;
static char before[TEXT_SIZE];

static void read_before(void)
{
	if (failing.n == 1)
		fail_need(read_file(change->file, before), change->file);
}

static int append(void)
{
	return write_file(change->file, change->text, O_APPEND);
}

static bool check_write(int ret)
{
	static char after[TEXT_SIZE];
	int seen;

	if (!fail_need(read_file(change->file, after), change->file))
		return false;
	seen = recorded();
	if (ret)
		return !strcmp(before, after) && seen == 3;
	return !write_file(change->file, change->undo, O_TRUNC) &&
	       strcmp(before, after) && seen == change->recorded;
}

TEST_F(memory, writes)
{
	struct fail_case c = {
		NULL, read_before, append, check_write, .least = 1,
	};

	ASSERT_EQ(3, recorded());
	for (change = changes; change < changes + ARRAY_SIZE(changes); change++) {
		c.name = change->file;
		EXPECT_TRUE(fail_one(&c)) {
			TH_LOG("%s, %s", change->file, change->text);
		}
		EXPECT_EQ(3, recorded());
	}
}

static void turn_off(void)
{
	fail_need(!write_file("current_tracer", "nop", O_TRUNC), "off");
}

static int turn_on(void)
{
	return write_file("current_tracer", "process", O_TRUNC);
}

static bool check_tracer(int ret)
{
	return recorded() == (ret ? 0 : 3);
}

/* The tracer is on as a whole, or off. */
TEST_F(memory, start)
{
	static const struct fail_case c = {
		"current_tracer", turn_off, turn_on, check_tracer, .least = 1,
	};

	EXPECT_TRUE(fail_one(&c));
}

TEST_HARNESS_MAIN
