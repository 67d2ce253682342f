/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - functions that the tests of user_events share
 *
 * A target registers words for the events of the test, by order.  The test
 * enables the events for all processes by their files in tracefs, or for one
 * process by a session.  The names of the events are those of the
 * test, so that no test meets an event of another one.
 */
#ifndef UTRACE_EVENTS_H
#define UTRACE_EVENTS_H

#include "words.h"

#include <sys/mount.h>
#include <sys/uio.h>

#include <linux/user_events.h>

#define TRACING		"/sys/kernel/tracing"
#define PROCESSES	TRACING "/user_events_processes"

/* The bit that most tests register, and a word of it. */
#define BIT		31
#define BIT_SET		0x80000000
#define WORD		(area + PAGE)

/**
 * struct event - an event of the test
 * @name: its name in tracefs
 * @index: the index for write(2), in a process that has registered it
 */
struct event {
	char name[96];
	__u32 index;
};

#define EVENTS		3
static struct event event[EVENTS];

/* user_events_data, opened by each target when it first needs it. */
static int data_fd = -1;

/* Files */

/* Write a text to a file; returns 0 or -errno. */
static inline int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Write a number to a file; returns the old number, or -1. */
static inline int set_number(const char *path, int number)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC), before = -1;

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) > 0)
		before = atoi(text);
	close(fd);
	snprintf(text, sizeof(text), "%d", number);
	if (before >= 0 && before != number)
		write_file(path, text);
	return before;
}

/* Read a file of any size to its end; returns the size or -errno. */
static inline long read_all(const char *path)
{
	char bytes[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long n, sum = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		sum += n;
	n = n < 0 ? -errno : sum;
	close(fd);
	return n;
}

/* Functions of processes that have events */

static inline int data_file(void)
{
	if (data_fd < 0)
		data_fd = open(TRACING "/user_events_data", O_RDWR | O_CLOEXEC);
	return data_fd;
}

/* Register a word; returns 0 or -errno. */
static inline int register_word(int n, const void *at, int size, int bit)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = bit,
		.enable_size = size,
		.enable_addr = (uintptr_t)at,
		.name_args = (uintptr_t)event[n].name,
	};
	int ret = command(data_file(), DIAG_IOCSREG, &reg);

	if (!ret)
		event[n].index = reg.write_index;
	return ret;
}

static inline int unregister_word(const void *at, int bit)
{
	struct user_unreg reg = {
		.size = sizeof(reg),
		.disable_bit = bit,
		.disable_addr = (uintptr_t)at,
	};

	return command(data_file(), DIAG_IOCSUNREG, &reg);
}

/* Write an event; returns the bytes of the payload, or -errno. */
static inline long write_event(int n, const void *payload, size_t size)
{
	struct iovec iov[] = {
		{ &event[n].index, sizeof(event[n].index) },
		{ (void *)payload, size },
	};
	ssize_t ret = writev(data_file(), iov, size ? 2 : 1);

	return ret < 0 ? -errno : ret - (long)sizeof(event[n].index);
}

/* What each payload has. */
static inline unsigned char payload_byte(size_t i)
{
	return i * 7 + 3;
}

static inline void *make_payload(void)
{
	static unsigned char payload[2 * PAGE];
	size_t i;

	for (i = 0; i < sizeof(payload); i++)
		payload[i] = payload_byte(i);
	return payload;
}

/*
 * Orders about event @n and bit shared::value of the word at shared::at.  Each
 * returns 0 or -errno, and stores in shared::seen the word that the program
 * sees next.
 */

static inline long register_ordered(long n)
{
	long ret = register_word(n, ordered_word(), shared->size, shared->value);

	shared->seen = load(ordered_word(), shared->size);
	return ret;
}

static inline long unregister_ordered(long unused)
{
	long ret = unregister_word(ordered_word(), shared->value);

	shared->seen = load(ordered_word(), shared->size);
	return ret;
}

/* Write event @n with shared::size bytes; returns that number, or -errno. */
static inline long write_ordered(long n)
{
	return write_event(n, make_payload(), shared->size);
}

/* Functions of the test, for targets */

static inline int order_event(struct target *target, enum who who, order_fn *function,
			      int n, const void *at, int size, int bit)
{
	shared->at = (uintptr_t)at;
	shared->size = size;
	shared->value = bit;
	return have(target, who, function, n);
}

static inline void have_registered(struct target *target, int n, const void *at,
				   int size, int bit)
{
	int ret = order_event(target, SELF, register_ordered, n, at, size, bit);

	errno = -ret;
	need(!ret, "DIAG_IOCSREG");
}

static inline void have_unregistered(struct target *target, const void *at,
				     int size, int bit)
{
	int ret = order_event(target, SELF, unregister_ordered, 0, at, size, bit);

	errno = -ret;
	need(!ret, "DIAG_IOCSUNREG");
}

/* Register the bit of the word that most tests have. */
static inline void have_word(struct target *target, int n)
{
	have_registered(target, n, WORD, 4, BIT);
}

/* Have the target write a payload of @size bytes; returns the size, or -errno. */
static inline int have_written(struct target *target, enum who who, int n,
			       int size)
{
	return order_event(target, who, write_ordered, n, NULL, size, 0);
}

/* Enabling for all processes */

static inline void path_of_enable(int n, char *path, size_t size)
{
	snprintf(path, size, TRACING "/events/user_events/%s/enable",
		 event[n].name);
}

/* The file of a registered event, for those who switch often. */
static inline int open_enable(int n)
{
	char path[512];
	int fd;

	path_of_enable(n, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	need(fd >= 0, path);
	return fd;
}

static inline int switch_event(int fd, bool on)
{
	return write(fd, on ? "1" : "0", 1) == 1 ? 0 : -errno;
}

static inline void enable(int n, bool on)
{
	int fd = open_enable(n), ret = switch_event(fd, on);

	errno = -ret;
	need(!ret, "a switch");
	close(fd);
}

/*
 * Enable an event and disable it; the phase is as with toggle() of words.h.
 * Returns 0 or -errno.
 */
static inline int toggle_event(int fd, enum wait wait)
{
	int ret;

	need(shared->phase % 4 == OUT, "an event that is not enabled");
	shared->phase++;
	ret = switch_event(fd, true);
	if (ret) {
		shared->phase--;
		return ret;
	}
	shared->phase++;
	if (wait == FOR_A_LOOK)
		need(until(is_watched()), "a look at the enabled event");
	shared->phase++;
	ret = switch_event(fd, false);
	shared->phase++;
	if (!ret && wait == FOR_A_LOOK)
		need(until(is_watched()), "a look at the disabled event");
	return ret;
}

/*
 * Return the time when a test has toggled enough.  Enabling an event that was
 * disabled waits for RCU, so the number of toggles depends on the machine.
 */
static inline long end_of_toggles(void)
{
	return now_ms() + times(8000);
}

/* The file user_events_processes */

enum process_state { IS_OFF, IS_ENABLED, IS_PENDING, IS_FAILED };

static inline int parse_state(const char *text, int error)
{
	static const char * const names[] = {
		"off", "enabled", "pending", "failed",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i]))
			return (i == IS_FAILED) == (error > 0) ? (int)i :
			       -EPROTO;
	return -EPROTO;
}

/*
 * The lines of event @n and process @pid, 0 for any process: returns their
 * number, and the state and the pid of the last one.  The reason of a failure
 * is in word_error.
 */
static inline int process_lines(int n, pid_t pid, int *state, pid_t *whose)
{
	char line[512], name[256], text[32];
	FILE *file = fopen(PROCESSES, "re");
	int lines = 0, error, of, got;

	need(file, PROCESSES);
	while (fgets(line, sizeof(line), file)) {
		error = 0;
		got = sscanf(line, "%255s %d %31s %d", name, &of, text, &error);
		if (got < 3 || strcmp(name, event[n].name) ||
		    (pid && of != pid))
			continue;
		*state = parse_state(text, error);
		*whose = of;
		word_error = error;
		lines++;
	}
	fclose(file);
	return lines;
}

/* The state of the only registration of this event in a process, or -errno. */
static inline int process_state(int n, pid_t pid)
{
	int state = -EPROTO;
	pid_t whose;

	switch (process_lines(n, pid, &state, &whose)) {
	case 0:
		return -ENOENT;
	case 1:
		return state;
	default:
		return -EEXIST;
	}
}

/* Check whether the word is written, or pending until the process writes it. */
static inline bool is_enabled(int n, pid_t pid)
{
	int state = process_state(n, pid);

	return state == IS_ENABLED || state == IS_PENDING;
}

/* Tracers */

/**
 * struct tracer - a session with one target
 * @session: descriptor of the session
 * @target: id of the target, WORD_TARGET
 */
struct tracer {
	int session;
	__u32 target;
};

static inline void trace(struct tracer *tracer, pid_t pid, __u32 scope)
{
	int ret;

	tracer->session = session();
	need(!setup(tracer->session, 1 << 20), "setup");
	ret = attach(tracer->session, pid, scope);
	errno = -ret;
	need(ret == WORD_TARGET, "attach");
	tracer->target = ret;
}

static inline void untrace(struct tracer *tracer)
{
	close(tracer->session);
}

/* Cookies have all 64 bits. */
#define COOKIE(n)	(0xfedc000000000000ULL + (n))

/* The argument of ARM; members that the kernel does not read have junk. */
static inline struct utrace_ioc_arm arm_of(const struct utrace_user_event *spec)
{
	return (struct utrace_ioc_arm){
		.target = WORD_TARGET,
		.type = UTRACE_ARM_USER_EVENT,
		.id = 0x5a5a5a5a,
		.spec = (uintptr_t)spec,
		.spec_size = sizeof(*spec),
		.state = 0x5a5a5a5a,
		.error = 0x5a5a5a5a,
	};
}

/* Arm an event for the first target; returns 0 or -errno.  The id is written to @id. */
static inline int try_arm_name(int fd, const char *name, __u64 cookie,
			       __u32 flags, __u32 *id)
{
	struct utrace_user_event spec = { .name = (uintptr_t)name };
	struct utrace_ioc_arm arg = arm_of(&spec);
	int ret;

	arg.cookie = cookie;
	arg.flags = flags;
	ret = command(fd, UTRACE_IOC_ARM, &arg);
	if (ret)
		return ret;
	need(arg.id && arg.state == UTRACE_ARM_STATE_ARMED && !arg.error,
	     "what ARM writes");
	*id = arg.id;
	return 0;
}

/* The ids of what was armed last, by session and event. */
static __u32 event_ids[256][EVENTS];

static inline __u32 *event_id(int fd, int n)
{
	need((size_t)fd < ARRAY_SIZE(event_ids), "a low descriptor");
	return &event_ids[fd][n];
}

static inline int try_arm_event(int fd, int n, __u32 flags)
{
	return try_arm_name(fd, event[n].name, COOKIE(n), flags,
			    event_id(fd, n));
}

static inline int try_disarm_event(int fd, int n)
{
	return disarm_id(fd, *event_id(fd, n));
}

static inline void arm_event(int fd, int n, __u32 flags)
{
	int ret = try_arm_event(fd, n, flags);

	errno = -ret;
	need(!ret, "UTRACE_IOC_ARM");
}

static inline void disarm_event(int fd, int n)
{
	int ret = try_disarm_event(fd, n);

	errno = -ret;
	need(!ret, "UTRACE_IOC_DISARM");
}

/* The counts of the first target; returns how many there are, or -errno. */
static inline int counts_of(int fd, struct utrace_hit_count *counts, __u32 n)
{
	struct utrace_ioc_hits arg = {
		.rows = {
			.at = (uintptr_t)counts,
			.n = n,
			.size = sizeof(*counts),
			.total = 0x5a5a5a5a,
		},
		.target = WORD_TARGET,
		.what = UTRACE_HITS_COUNT,
	};
	int ret = command(fd, UTRACE_IOC_HITS, &arg);

	return ret ?: (int)arg.rows.total;
}

/* Records of events */

/* Read until there are so many events, and what else there is. */
static inline int gather(struct tracer *tracer, int events)
{
	ssize_t n = 0;

	records_size = 0;
	until(({
		while ((n = read(tracer->session, records + records_size,
				 sizeof(records) - records_size)) > 0)
			records_size += n;
		count(UTRACE_REC_USER_EVENT, 0) >= events;
	}));
	return count(UTRACE_REC_USER_EVENT, 0);
}

/* Check that the record is that of a write of @size bytes by this task. */
static inline bool is_good(struct tracer *tracer,
			   struct utrace_rec_user_event *rec, pid_t pid,
			   pid_t tid, int n, __u32 size)
{
	__u32 i, copied = size;

	if (copied > UTRACE_USER_EVENT_MAX)
		copied = UTRACE_USER_EVENT_MAX;
	if (rec->head.type != UTRACE_REC_USER_EVENT || rec->head.pid != pid ||
	    rec->head.tid != tid || rec->head.target != tracer->target ||
	    rec->head.items || rec->cookie != COOKIE(n) || rec->size != size ||
	    rec->data_size != copied || rec->head.size % 8 ||
	    rec->data_offset < sizeof(*rec) ||
	    rec->head.size < rec->data_offset + copied)
		return false;
	for (i = 0; i < copied; i++)
		if (((__u8 *)rec)[rec->data_offset + i] != payload_byte(i))
			return false;
	return true;
}

/* The only event that is not read yet is this one. */
static inline void is_event(struct tracer *tracer, pid_t pid, pid_t tid, int n,
			    __u32 size, const char *text)
{
	struct utrace_rec_user_event *rec;

	is(1, gather(tracer, 1), text);
	rec = (void *)find(UTRACE_REC_USER_EVENT, 0);
	if (!rec || holds(is_good(tracer, rec, pid, tid, n, size), "  right"))
		return;
	printf("#     size %u pid %d tid %d target %u cookie %llx, %u of %u\n",
	       rec->head.size, rec->head.pid, rec->head.tid, rec->head.target,
	       rec->cookie, rec->data_size, rec->size);
}

static inline void are_none(struct tracer *tracer, const char *text)
{
	is(0, gather(tracer, 0), text);
}

/* Fixtures */

static int record_cmd_before = -1, expedited_before = -1;

/* The setup of a fixture: NULL, or why its tests are to be skipped. */
static inline const char *events_begin(struct __test_metadata *test)
{
	int i;

	dev_test = test;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (geteuid())
		return "not root";
	if (access(TRACING "/README", F_OK))
		mount(NULL, TRACING, "tracefs", 0, NULL);
	if (access(TRACING "/user_events_data", F_OK))
		return "no user_events (USER_EVENTS)";
	for (i = 0; i < EVENTS; i++)
		snprintf(event[i].name, sizeof(event[i].name),
			 "ut_%s_%d_%d", test->name, getpid(), i);
	/* Each first enabling would patch the code of the scheduler. */
	record_cmd_before = set_number(TRACING "/options/record-cmd", 0);
	expedited_before = set_number("/sys/kernel/rcu_expedited", 1);
	return NULL;
}

static inline void events_end(void)
{
	char path[512];
	int i;

	for (i = 0; i < EVENTS; i++) {
		path_of_enable(i, path, sizeof(path));
		write_file(path, "0");
	}
	if (record_cmd_before > 0)
		set_number(TRACING "/options/record-cmd", record_cmd_before);
	if (expedited_before >= 0)
		set_number("/sys/kernel/rcu_expedited", expedited_before);
}

static inline bool has_utrace(void)
{
	return !access("/dev/utrace", F_OK);
}

/* Tests for any kernel that has user_events. */
FIXTURE(events) {
};

FIXTURE_SETUP(events)
{
	const char *why = events_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(events)
{
	events_end();
}

/* Tests that need the device, too. */
FIXTURE(traced) {
};

FIXTURE_SETUP(traced)
{
	const char *why = has_utrace() ? events_begin(_metadata) :
			  "no /dev/utrace (UTRACE_DEV)";

	if (why)
		SKIP(return, "%s", why);
	set_unprivileged("0");
}

FIXTURE_TEARDOWN(traced)
{
	events_end();
	dev_end();
}

#endif /* UTRACE_EVENTS_H */
