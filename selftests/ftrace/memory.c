// SPDX-License-Identifier: GPL-2.0
/*
 * The files of the process tracer where memory fails: a write is repeated with its
 * first allocation failing, then with its second one, until there is none with that
 * number.  A write that is refused changes neither its file nor what is recorded.
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
	int nth;
	char before[TEXT_SIZE];
	char after[TEXT_SIZE];
	char trace[TEXT_SIZE];
};

/* An instance that follows two system calls of this task, and no other task. */
FIXTURE_SETUP(memory)
{
	const char *why_not = fail_nth_why_not();
	char pid[16];

	if (why_not)
		SKIP(return, "%s", why_not);
	ASSERT_TRUE(!mkdir(INSTANCE, 0700) || errno == EEXIST);
	ASSERT_TRUE(fail_nth_enable(true));
	self->nth = fail_nth_open(0);
	ASSERT_LE(0, self->nth);
	snprintf(pid, sizeof(pid), "%d", (int)syscall(SYS_gettid));
	ASSERT_EQ(0, write_file("set_event_pid", pid, O_TRUNC));
	ASSERT_EQ(0, write_file("process/syscalls", "getppid getuid", O_TRUNC));
	ASSERT_EQ(0, write_file("current_tracer", "process", O_TRUNC));
}

FIXTURE_TEARDOWN(memory)
{
	write_file("current_tracer", "nop", O_TRUNC);
	fail_nth_enable(false);
	rmdir(INSTANCE);
	close(self->nth);
}

/*
 * Make three system calls.  Return a bit for each one that was recorded: getppid,
 * getuid and getpgrp.
 */
static int recorded(char *trace)
{
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

/* Return how many of the write's allocations made it fail, or -1. */
static int fail_each(struct __test_metadata *_metadata,
		     struct _test_data_memory *self,
		     const struct change *change)
{
	int n, ret, left = 0, failed = 0;

	EXPECT_TRUE(read_file(change->file, self->before));
	for (n = 1; n < FAIL_NTH_MOST && !left; n++) {
		if (!fail_nth_arm(self->nth, n))
			return -1;
		ret = write_file(change->file, change->text, O_APPEND);
		left = fail_nth_left(self->nth);
		if (left < 0 || !read_file(change->file, self->after))
			return -1;
		if (ret) {
			failed++;
			EXPECT_EQ(0, left);
			EXPECT_EQ(-ENOMEM, ret);
			EXPECT_STREQ(self->before, self->after);
			EXPECT_EQ(3, recorded(self->trace));
			continue;
		}
		EXPECT_STRNE(self->before, self->after);
		EXPECT_EQ(change->recorded, recorded(self->trace));
		EXPECT_EQ(0, write_file(change->file, change->undo, O_TRUNC));
	}
	EXPECT_LT(0, left);
	return failed;
}

TEST_F(memory, writes)
{
	unsigned int i;
	int failed;

	ASSERT_EQ(3, recorded(self->trace));
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		failed = fail_each(_metadata, self, &changes[i]);
		TH_LOG("%s, %s: %d allocations make the write fail",
		       changes[i].file, changes[i].text, failed);
		EXPECT_LT(0, failed);
		EXPECT_EQ(3, recorded(self->trace));
	}
}

/* The tracer is on as a whole, or off. */
TEST_F(memory, start)
{
	int n, ret, left = 0, failed = 0;

	for (n = 1; n < FAIL_NTH_MOST && !left; n++) {
		ASSERT_EQ(0, write_file("current_tracer", "nop", O_TRUNC));
		ASSERT_TRUE(fail_nth_arm(self->nth, n));
		ret = write_file("current_tracer", "process", O_TRUNC);
		left = fail_nth_left(self->nth);
		ASSERT_LE(0, left);
		if (ret) {
			failed++;
			EXPECT_EQ(0, left);
			EXPECT_EQ(-ENOMEM, ret);
		}
		EXPECT_EQ(ret ? 0 : 3, recorded(self->trace));
	}
	TH_LOG("%d allocations make the start fail", failed);
	EXPECT_LT(0, left);
	EXPECT_LT(0, failed);
}

TEST_HARNESS_MAIN
