// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: how much of an argument is captured
 *
 * string_size and buffer_size of UTRACE_IOC_EVENTS, up to paths of PATH_MAX
 * bytes, in rings that have room for few of such records.
 */
#include <limits.h>

#include "dev.h"

/* The smallest rings. */
#define SMALL		(64 << 10)

/* Calls whose records fill these rings several times. */
#define MANY		60

/* The longest path, without its NUL. */
#define LONGEST		(PATH_MAX - 1)

static char path_a[PATH_MAX], path_b[PATH_MAX], bytes[2 * PATH_MAX];

/* Rename a file that does not exist, several times. */
static long rename_nothing(long times)
{
	while (times-- > 0)
		if (!syscall(SYS_rename, path_a, path_b))
			_exit(1);
	return 0;
}

static long write_bytes(long n)
{
	int fd = open("/dev/null", O_WRONLY);

	if (write(fd, bytes, n) != n)
		_exit(1);
	return close(fd);
}

static long read_bytes(long n)
{
	int fd = open("/dev/zero", O_RDONLY);

	if (read(fd, bytes, n) != n)
		_exit(1);
	return close(fd);
}

/* Try to execute a file that does not exist, with an argument of @n bytes. */
static long execute_nothing(long n)
{
	static char * const argv[] = { "program", path_b, NULL };
	static char * const envp[] = { path_b, NULL };

	path_b[n] = '\0';
	return syscall(SYS_execve, path_a, argv, envp);
}

/* Start a target with paths of LONGEST bytes and memory to write. */
static void start_long(struct target *target)
{
	memset(path_a, 'a', LONGEST);
	memset(path_b, 'b', LONGEST);
	memset(bytes, 'w', sizeof(bytes));
	start(target);
}

static int choose_sizes(int fd, __u64 events, __u32 strings, __u32 buffers)
{
	static const __u32 calls[] = {
		SYS_rename, SYS_read, SYS_write, SYS_execve,
	};
	struct utrace_ioc_events arg = {
		.events = events,
		.capture = UTRACE_CAPTURE_STRINGS | UTRACE_CAPTURE_BUFFERS,
		.calls = (uintptr_t)calls,
		.ncalls = 4,
		.string_size = strings,
		.buffer_size = buffers,
	};

	return command(fd, UTRACE_IOC_EVENTS, &arg);
}

#define APART	(UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT))

/* The item at this place of a record, from 0, or NULL. */
static struct utrace_item *item_of(struct utrace_rec *rec, int n)
{
	size_t at = rec && rec->items ? rec->items : SIZE_MAX;
	struct utrace_item *item;

	for (; at != SIZE_MAX && at < rec->size; n--) {
		item = (void *)((char *)rec + at);
		if (!n)
			return item;
		at += sizeof(*item) + ((item->len + 7) & ~7);
	}
	return NULL;
}

/* The last record of a type about a call with items. */
static struct utrace_rec *last_of(int type, __u32 nr)
{
	struct utrace_rec *rec, *last = NULL;

	/* The number of a call is at one place in all these records. */
	for_each_record(rec)
		if (rec->type == type && rec->items &&
		    ((struct utrace_rec_sys_enter *)rec)->nr == nr)
			last = rec;
	return last;
}

static bool has(struct utrace_rec *rec, int n, const void *data, size_t len,
		__u64 whole, int flags)
{
	struct utrace_item *item = item_of(rec, n);

	if (item && item->len == len && item->whole == whole &&
	    item->flags == flags && !memcmp(item->data, data, len))
		return true;
	return false;
}

/* Check whether a record of @type has such an item first. */
static bool any(int type, const void *data, size_t len, __u64 whole, int flags)
{
	struct utrace_rec *rec;

	for_each_record(rec)
		if (rec->type == type &&
		    has(rec, 0, data, len, whole, flags))
			return true;
	return false;
}

static struct utrace_rec *record_of(int fd, struct target *target,
				    order_fn *call,
				    long n, int type, __u32 nr)
{
	have(target, SELF, call, n);
	settle(target, SELF);
	take(fd);
	return last_of(type, nr);
}

TEST_F(dev, sizes_are_checked)
{
	int fd = session();

	is(0, choose_sizes(fd, APART, 4096, 4096), "the most");
	is(0, choose_sizes(fd, APART, 1, 1), "the least");
	is(-EINVAL, choose_sizes(fd, APART, 4097, 0), "a string of 4097 bytes");
	is(-EINVAL, choose_sizes(fd, APART, 0, 4097), "memory of 4097 bytes");
	is(-EINVAL, choose_sizes(fd, APART, ~0U, 0), "a string of ~0 bytes");
	is(-EINVAL, choose_sizes(fd, APART, 0, ~0U), "memory of ~0 bytes");
	close(fd);
}

TEST_F(dev, entries_and_exits)
{
	static const char zeros[4096];
	struct utrace_rec *rec;
	struct target target;
	int fd;

	start_long(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_sizes(fd, APART, 4096, 4096), "choose");
	rec = record_of(fd, &target, rename_nothing, 1, UTRACE_REC_SYS_ENTER,
			SYS_rename);
	holds(has(rec, 0, path_a, LONGEST, LONGEST, 0), "the old path is whole");
	holds(has(rec, 1, path_b, LONGEST, LONGEST, 0), "so is the new one");
	holds(rec && !rec->flags, "nothing is missing");
	need(!choose_sizes(fd, APART, 0, 4096), "choose");
	have(&target, SELF, write_bytes, 4096);
	have(&target, SELF, write_bytes, 4097);
	have(&target, SELF, read_bytes, 4096);
	settle(&target, SELF);
	take(fd);
	holds(any(UTRACE_REC_SYS_ENTER, bytes, 4096, 4096, 0),
	      "4096 bytes that are written");
	holds(any(UTRACE_REC_SYS_ENTER, bytes, 4096, 4097,
		  UTRACE_ITEM_F_TRUNCATED),
	      "4096 of 4097 bytes that are written");
	holds(any(UTRACE_REC_SYS_EXIT, zeros, 4096, 4096, UTRACE_ITEM_F_OUT),
	      "4096 bytes that are read");
	rec = record_of(fd, &target, rename_nothing, 1, UTRACE_REC_SYS_ENTER,
			SYS_rename);
	holds(has(rec, 0, path_a, 488, 488, UTRACE_ITEM_F_TRUNCATED) &&
	      has(rec, 1, path_b, 488, 488, UTRACE_ITEM_F_TRUNCATED),
	      "488 bytes of each path by default");
	need(!choose_sizes(fd, APART, 33, 1), "choose");
	rec = record_of(fd, &target, rename_nothing, 1, UTRACE_REC_SYS_ENTER,
			SYS_rename);
	holds(has(rec, 0, path_a, 33, 33, UTRACE_ITEM_F_TRUNCATED),
	      "33 bytes of a path");
	have(&target, SELF, write_bytes, 4096);
	settle(&target, SELF);
	take(fd);
	/* The target has read zeros into these bytes before. */
	holds(any(UTRACE_REC_SYS_ENTER, zeros, 1, 4096,
		  UTRACE_ITEM_F_TRUNCATED),
	      "1 byte that is written");
	close(fd);
	stop(&target);
}

/* The words of an array, each with its NUL. */
static size_t words(char *to, const char *one, const char *two)
{
	size_t len = strlen(one) + 1;

	memcpy(to, one, len);
	memcpy(to + len, two, strlen(two) + 1);
	return len + strlen(two) + 1;
}

TEST_F(dev, arguments_of_a_program)
{
	char argv[2 * PATH_MAX];
	struct utrace_rec *rec;
	struct target target;
	size_t len;
	int fd;

	start_long(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_sizes(fd, APART, 4096, 0), "choose");
	rec = record_of(fd, &target, execute_nothing, 3000,
			UTRACE_REC_SYS_ENTER,
			SYS_execve);
	path_b[3000] = '\0';
	len = words(argv, "program", path_b);
	holds(has(rec, 0, path_a, LONGEST, LONGEST, 0), "the program");
	holds(has(rec, 1, argv, len, len, 0), "its arguments");
	holds(has(rec, 2, path_b, 3001, 3001, 0), "its environment");
	holds(rec && !rec->flags, "nothing is missing");
	close(fd);
	stop(&target);
}

/* Whole calls of few long records, which the target waits for. */
TEST_F(dev, nothing_lost)
{
	struct target target;
	struct utrace_rec *rec;
	int fd, good = 0, done = 0, i;
	bool parked = false;

	start_long(&target);
	fd = session();
	need(!setup_full(fd, SMALL, UTRACE_FULL_DEFAULT), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_sizes(fd, UTRACE_REC_BIT(SYS_CALL), 4096, 4096), "choose");
	tell(&target, SELF, rename_nothing, MANY);
	for (i = 0; i < DEADLINE_MS / 2 && !parked; i++) {
		usleep(2000);
		parked = info(fd).parked;
	}
	holds(parked, "the target waits for the reader");
	for (i = 0; i < DEADLINE_MS / 2 && done < MANY; i++) {
		take(fd);
		for_each_record(rec) {
			if (((struct utrace_rec_sys_call *)rec)->nr !=
			    SYS_rename)
				continue;
			done++;
			good += has(rec, 0, path_a, LONGEST, LONGEST, 0) &&
				has(rec, 1, path_b, LONGEST, LONGEST, 0);
		}
		usleep(2000);
	}
	is(MANY, done, "all calls");
	is(MANY, good, "with both paths whole");
	is(0, info(fd).lost, "none is lost");
	is(0, info(fd).uncaptured, "no item is missing");
	holds(is_answered(&target, SELF), "the target goes on");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
