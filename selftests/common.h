/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the test module's device, its log, and polling
 *
 * The tests drive <linux/utrace.h> through the device of module/, whose ioctls
 * attach engines and set rules for their callbacks.  Every callback is a record
 * in the log of the session; ut_pull() moves records to ut_rec[].
 *
 * A test never sleeps a fixed time to let something happen.  It polls until
 * UT_DEADLINE_MS, which is long because the programs also run under an emulated
 * CPU with KASAN, and which PATIENCE in the environment multiplies on a busy
 * machine.  A test sleeps UT_QUIET_MS only to see that something does not
 * happen.
 */
#ifndef UTRACE_COMMON_H
#define UTRACE_COMMON_H

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "module/utrace_test_ioctl.h"

#define UT_DEADLINE_MS		(30000 * ut_patience())
#define UT_QUIET_MS		60
#define UT_MAX_RECORDS		65536

static int ut_fd = -1;
static struct ut_record *ut_rec;
static int ut_nrec;
/*
 * Records that the module's ring had lost when ut_rec[] was last filled.  A
 * record that a test does not find in ut_rec[] may be one of those, so
 * ut_close() reports -ENOBUFS, unless the test sets ut_may_miss because lost
 * records do not matter to it.
 */
static long ut_missing;
static bool ut_may_miss;

static inline long ut_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static inline void ut_sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Wait until @cond holds; the result is the last value of @cond. */
#define ut_until(cond)							\
({									\
	long __end = ut_now_ms() + UT_DEADLINE_MS;			\
	bool __met;							\
									\
	while (!(__met = !!(cond)) && ut_now_ms() < __end)		\
		ut_sleep_ms(2);						\
	__met;								\
})

/* Check whether @cond is true for the whole of UT_QUIET_MS. */
#define ut_stays(cond)							\
({									\
	long __end = ut_now_ms() + UT_QUIET_MS;				\
	bool __met;							\
									\
	while ((__met = !!(cond)) && ut_now_ms() < __end)		\
		ut_sleep_ms(2);						\
	__met;								\
})

/* Read the file that @fmt names into @buf; returns its length or -errno. */
static inline int ut_read_file(char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int fd, n;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	buf[n < 0 ? 0 : n] = '\0';
	close(fd);
	return n;
}

static inline int ut_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* The state letter of a thread, 0 if the thread is gone. */
static inline char ut_state(pid_t tid)
{
	char buf[1024], *p;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/stat", tid) <= 0)
		return 0;
	p = strrchr(buf, ')');
	return p ? p[2] : 0;
}

/* The number on line @key ("TracerPid:") of a thread's status, -1 if none. */
static inline long ut_status(pid_t tid, const char *key)
{
	char buf[8192], *p;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/status", tid) <= 0)
		return -1;
	p = strstr(buf, key);
	return p ? strtol(p + strlen(key), NULL, 0) : -1;
}

/* Check whether the thread is in system call @nr, with state letter @state. */
static inline bool ut_in_call(pid_t tid, long nr, char state)
{
	char buf[256];

	if (ut_state(tid) != state)
		return false;
	if (ut_read_file(buf, sizeof(buf), "/proc/%d/syscall", tid) <= 0)
		return false;
	return strtol(buf, NULL, 0) == nr && buf[0] >= '0' && buf[0] <= '9';
}

static inline bool ut_asleep_in(pid_t tid, long nr)
{
	return ut_in_call(tid, nr, 'S');
}

/*
 * waitpid() with a deadline: 1 for a change of state, 0 if none came, or
 * -errno.
 */
static inline int ut_waitpid(pid_t pid, int *status, int options)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	pid_t ret;

	for (;;) {
		ret = waitpid(pid, status, options | WNOHANG);
		if (ret || ut_now_ms() >= end)
			break;
		ut_sleep_ms(2);
	}
	if (!ret)
		return 0;
	return ret < 0 ? -errno : 1;
}

/* The directory of this program, which has the helper and the module too. */
static inline const char *ut_dir(void)
{
	static char dir[PATH_MAX];
	ssize_t n;

	if (dir[0])
		return dir;
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	dir[n < 0 ? 0 : n] = '\0';
	dirname(dir);
	return dir;
}

static inline const char *ut_helper(void)
{
	static char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/helper", ut_dir());
	return path;
}

/*
 * Open the module's file: $UTRACE_TEST_KO, or else in the folder module/ of
 * this program's directory, or in that directory.
 */
static inline int ut_module_open(void)
{
	static const char * const names[] = {
		"module/utrace_test.ko", "utrace_test.ko",
	};
	const char *env = getenv("UTRACE_TEST_KO");
	char path[PATH_MAX + 32];
	size_t i;
	int fd;

	if (env)
		return open(env, O_RDONLY | O_CLOEXEC);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", ut_dir(), names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static inline int ut_module_load(void)
{
	int fd = ut_module_open();
	int ret;

	if (fd < 0)
		return system("modprobe -q utrace_test") ? -ENOENT : 0;
	ret = syscall(SYS_finit_module, fd, "", 0);
	if (ret)
		ret = errno == EEXIST ? 0 : -errno;
	close(fd);
	return ret;
}

/* Open the device, after loading its module if need be; returns 0 or -errno. */
static inline int ut_open(void)
{
	int ret;

	ut_fd = open(UT_DEVICE, O_RDWR | O_CLOEXEC);
	if (ut_fd < 0 && (errno == ENOENT || errno == ENXIO ||
			  errno == ENODEV)) {
		ret = ut_module_load();
		if (ret)
			return ret;
		/*
		 * devtmpfs makes the node before init returns; udev may make it
		 * later.
		 */
		ut_until((ut_fd = open(UT_DEVICE, O_RDWR | O_CLOEXEC)) >= 0);
	}
	if (ut_fd < 0)
		return -errno;
	if (!ut_rec)
		ut_rec = mmap(NULL, UT_MAX_RECORDS * sizeof(*ut_rec),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ut_nrec = 0;
	return ut_rec == MAP_FAILED ? -ENOMEM : 0;
}

/* ut_open() for a fixture: returns NULL, or why to skip the tests. */
static inline const char *ut_begin(void)
{
	static char why[128];
	int ret = ut_open();

	if (!ret)
		return NULL;
	snprintf(why, sizeof(why), "no %s: %s (load utrace_test.ko)",
		 UT_DEVICE, strerror(-ret));
	return why;
}

static inline int ut_ioctl(unsigned long cmd, void *arg)
{
	int ret = ioctl(ut_fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

/*
 * Attach a new engine, with every member of struct ut_attach that matters;
 * returns the engine's number or -errno.
 */
static inline int ut_attach_full(pid_t pid, __u32 flags, __u32 ops,
				 __u32 nolog)
{
	struct ut_attach arg = {
		.pid = pid,
		.flags = flags | UT_ATTACH_CREATE,
		.ops = ops,
		.nolog = nolog,
	};
	int ret = ut_ioctl(UT_IOC_ATTACH, &arg);

	return ret ?: (int)arg.id;
}

static inline int ut_events(int id, pid_t tid, __u64 events)
{
	struct ut_events arg = { .id = id, .tid = tid, .events = events };

	return ut_ioctl(UT_IOC_EVENTS, &arg);
}

static inline int ut_detach(int id)
{
	struct ut_detach arg = { .id = id };

	return ut_ioctl(UT_IOC_DETACH, &arg) ?: arg.ret;
}

/* Attach an engine of scope and class @flags that wants @events. */
static inline int ut_attach(pid_t pid, __u32 flags, __u64 events)
{
	int id = ut_attach_full(pid, flags, UT_OPS_FULL, 0);
	int ret;

	if (id < 0)
		return id;
	ret = ut_events(id, 0, events);
	if (!ret)
		return id;
	ut_detach(id);
	return ret;
}

static inline int ut_control(int id, pid_t tid, __u32 action)
{
	struct ut_control arg = { .id = id, .tid = tid, .action = action };

	return ut_ioctl(UT_IOC_CONTROL, &arg);
}

/* Ask for a stop of @tid; 0 also if the task has not stopped yet. */
static inline int ut_stop(int id, pid_t tid)
{
	int ret = ut_control(id, tid, UT_STOP);

	return ret == -EINPROGRESS ? 0 : ret;
}

static inline int ut_barrier(int id, pid_t tid)
{
	struct ut_barrier arg = { .id = id, .tid = tid };

	return ut_ioctl(UT_IOC_BARRIER, &arg);
}

static inline int ut_barrier_sync(int id)
{
	struct ut_barrier arg = { .id = id, .kind = UT_BARRIER_SYNC };

	return ut_ioctl(UT_IOC_BARRIER, &arg);
}

static inline int ut_barrier_killable(int id)
{
	struct ut_barrier arg = { .id = id, .kind = UT_BARRIER_KILLABLE };

	return ut_ioctl(UT_IOC_BARRIER, &arg);
}

static inline int ut_filter(int id, const int *nrs, unsigned int n)
{
	struct ut_filter arg = {
		.id = id, .n = n, .nrs = (unsigned long)nrs,
	};

	return ut_ioctl(UT_IOC_FILTER, &arg);
}

static inline int ut_norules(int id)
{
	__u32 arg = id;

	return ut_ioctl(UT_IOC_NORULES, &arg);
}

/* The number of times that an engine got @event, or -errno. */
static inline long ut_count(int id, enum ut_event event)
{
	struct ut_counts arg = { .id = id };
	int ret = ut_ioctl(UT_IOC_COUNTS, &arg);

	return ret ?: (long)arg.count[event];
}

/*
 * Open or close the gate: callbacks with UT_CHANGE_GATE wait while it is
 * closed.
 */
static inline int ut_gate(bool open)
{
	__u32 arg = open;

	return ut_ioctl(UT_IOC_OPEN, &arg);
}

/*
 * Set a rule: ut_rule(.id = ..., ...).  Without .match any event number fits.
 */
#define ut_rule(...)							\
({									\
	struct ut_rule __rule = { .match = UT_ANY, __VA_ARGS__ };	\
									\
	ut_ioctl(UT_IOC_RULE, &__rule);					\
})

/* Move the module's log to ut_rec[]; false if ut_rec[] is full. */
static inline bool ut_pull(int timeout_ms)
{
	struct ut_log arg = {
		.buf = (unsigned long)(ut_rec + ut_nrec),
		.max = UT_MAX_RECORDS - ut_nrec,
		.timeout_ms = timeout_ms,
	};

	if (!arg.max) {
		printf("# ut_rec[] is full; the rest of the log is not read\n");
		return false;
	}
	if (!ioctl(ut_fd, UT_IOC_LOG, &arg)) {
		ut_nrec += arg.n;
		ut_missing = arg.lost;
	}
	return true;
}

/* Forget the records that have been logged by now. */
static inline void ut_drain(void)
{
	do {
		ut_nrec = 0;
		ut_pull(0);
	} while (ut_nrec);
}

/* The number of records that were lost since the module's ring was full. */
static inline long ut_lost(void)
{
	struct ut_log arg = { .max = 0 };

	return ut_ioctl(UT_IOC_LOG, &arg) ?: (long)arg.lost;
}

/* The number that the next record gets; lost records have numbers too. */
static inline long ut_seq(void)
{
	struct ut_log arg = { .max = 0 };

	return ut_ioctl(UT_IOC_LOG, &arg) ?: (long)arg.seq;
}

/* The first record from @from on that fits, or -1; UT_ANY fits everything. */
static inline int ut_find(int from, int id, int event, pid_t tid, int nr)
{
	int i;

	for (i = from; i < ut_nrec; i++) {
		struct ut_record *r = &ut_rec[i];

		if ((id == UT_ANY || id == (int)r->id) &&
		    (event == UT_ANY || event == (int)r->event) &&
		    (tid == UT_ANY || tid == r->tid) &&
		    (nr == UT_ANY || nr == r->nr))
			return i;
	}
	return -1;
}

/* ut_find() after a pull of the records that have been logged by now. */
static inline int ut_seen(int from, int id, int event, pid_t tid, int nr)
{
	ut_pull(0);
	return ut_find(from, id, event, tid, nr);
}

/* ut_find() that waits for the record until the deadline. */
static inline int ut_wait(int from, int id, int event, pid_t tid, int nr)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	int i;

	while ((i = ut_find(from, id, event, tid, nr)) < 0 &&
	       ut_now_ms() < end && ut_pull(50))
		;
	return i;
}

/* The number of fitting records, after a pull of what is logged by now. */
static inline int ut_matches(int from, int id, int event, pid_t tid, int nr)
{
	int n = 0, i = from;

	ut_pull(0);
	while ((i = ut_find(i, id, event, tid, nr)) >= 0) {
		n++;
		i++;
	}
	return n;
}

/*
 * Detach all engines and close the device.  Returns the number of engines that
 * were not released, which must be 0, or -errno: -ENOBUFS if records were lost
 * before the test's last read of the log.
 */
static inline int ut_close(void)
{
	int left = 0;

	if (ut_fd >= 0) {
		left = ut_ioctl(UT_IOC_DETACH_ALL, NULL);
		close(ut_fd);
		ut_fd = -1;
	}
	if (!left && ut_missing && !ut_may_miss) {
		printf("# %ld records were lost before the last read\n", ut_missing);
		left = -ENOBUFS;
	}
	return left;
}

#endif /* UTRACE_COMMON_H */
