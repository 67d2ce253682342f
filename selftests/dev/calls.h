/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - random calls on sessions, and the errors that they may give
 *
 * A process has several sessions, and makes calls on them in any order: each
 * ioctl, read(2), poll(2), mmap(2), stores to mapped tails, dup(2), fork(2),
 * close(2).  Arguments are right at first, and then sometimes one member, the
 * size or the address is not.  Each call has to return in time, with 0 or an
 * error that is documented for it.
 *
 * A second thread uses the sessions that the first one closes.  A descriptor
 * keeps its number: what is closed is replaced at once, in the same call.  So
 * the second thread never uses a number that something else has got.
 */
#ifndef UTRACE_DEV_CALLS_H
#define UTRACE_DEV_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/utrace.h>
#include <linux/utrace_branch.h>
#include <linux/utrace_marker.h>

#include "../fail_nth.h"
#include "left.h"

#define N_OF(array)	(sizeof(array) / sizeof(*(array)))

/* A call that takes longer hangs. */
#define LIMIT_SECONDS	20

#define SESSIONS	6
#define TARGETS		4

/* More allocations than a call makes that succeeds. */
#define MOST_FAILURES	200

/* What is mapped of a descriptor; @size is 0 if nothing is. */
struct area {
	void *at;
	size_t size;
	bool writable;
};

static int sessions[SESSIONS];
static struct area ring_areas[SESSIONS], tail_areas[SESSIONS];
static int pidfds[TARGETS], cgroup = -1, exe = -1, null = -1;
static unsigned long long seed, step;

/**
 * struct caller - shared state of a process that makes calls
 * @over: the process begins no more calls
 * @calling: by thread, its id while it makes a call; else 0
 */
struct caller {
	_Atomic bool over;
	_Atomic pid_t calling[2];
};

static struct caller own_caller, *caller = &own_caller;

/**
 * struct operation - a kind of calls
 * @name: for messages
 * @function: make a call, on session number @s if it is one on a session
 * @weight: how often, compared with other operations
 * @is_use: the second thread may do this, too: it closes and maps nothing
 * @errors: what the call may give; see <linux/utrace.h>
 */
struct operation {
	const char *name;
	void (*function)(int s);
	unsigned int weight;
	bool is_use;
	int errors[20];
};

/* Each thread has its own generator; only one thread has failures. */
static __thread __u64 state;
static __thread int nth = -1;
static __thread const struct operation *doing;
static __thread bool is_rival;

/* What each test has of its own. */

/* End this process, since a call has done what it must not. */
static void fail(const char *why);
/* The operation that comes next. */
static const struct operation *any_operation(void);
/* A target that may get a signal, or 0. */
static pid_t pid_to_signal(int i);

static void on_alarm(int sig)
{
	(void)sig;
	fail("the call did not return in time");
}

/* The generator */

static void take_seed(void)
{
	const char *given = getenv("SEED");

	seed = given ? strtoull(given, NULL, 0) : 1;
}

/* Begin the random numbers number @n, from 1. */
static void begin_numbers(__u64 n)
{
	state = seed * 0x9e3779b97f4a7c15ULL + n * 0xbf58476d1ce4e5b9ULL;
}

/* xorshift64*, by Vigna */
static __u64 any(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

static unsigned int below(unsigned int n)
{
	return (any() >> 32) % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

/* A number at the edge of something. */
static __u64 odd_number(void)
{
	static const __u64 numbers[] = {
		0, 1, 2, 3, 7, 8, 16, 31, 32, 63, 64, 4095, 4096, 0x7fff,
		0xffff, 1 << 16, 1 << 20, 1 << 26, (1 << 26) + 1, INT32_MAX,
		UINT32_MAX, 1ULL << 32, 1ULL << 63, UINT64_MAX - 7, UINT64_MAX,
	};

	return one_in(4) ? any() : numbers[below(N_OF(numbers))];
}

/* Spoil one 32-bit member of an argument now and then. */
static void spoil(void *argument, size_t size)
{
	__u32 *member = argument;

	if (one_in(4))
		member[below(size / sizeof(*member))] = odd_number();
}

/* The calls */

static bool is_documented(int error)
{
	const int *known;

	for (known = doing->errors; *known; known++)
		if (*known == error)
			return true;
	return false;
}

static void check(const char *what, long ret)
{
	char text[64];

	if (ret != -1 || is_documented(errno))
		return;
	snprintf(text, sizeof(text), "%s gave %s", what,
		 strerrorname_np(errno));
	fail(text);
}

/* Repeat an ioctl until no allocation of it fails. */
static void repeat_failing(int fd, unsigned long request, void *argument)
{
	int n;

	for (n = 1; n <= MOST_FAILURES; n++) {
		fail_nth_arm(nth, n);
		check("the ioctl without memory",
		      ioctl(fd, request, argument));
		if (fail_nth_left(nth))
			return;
	}
	fail("the ioctl has no end of allocations");
}

/*
 * Make an ioctl, now and then with another size, or a bad address.  Returns what
 * it returned, -1 if its allocations have failed.
 */
static int make_ioctl(int fd, unsigned long request, void *argument)
{
	unsigned int size = _IOC_SIZE(request);
	int ret;

	if (one_in(16))
		size = below(2 * size + 8);
	request = _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request),
		       size);
	if (one_in(32))
		argument = (void *)odd_number();
	if (nth >= 0 && one_in(8)) {
		repeat_failing(fd, request, argument);
		return -1;
	}
	ret = ioctl(fd, request, argument);
	check("the ioctl", ret);
	return ret;
}

/* Room for an argument that is said to be larger than it is. */
union argument {
	struct utrace_ioc_setup setup;
	struct utrace_ioc_attach attach;
	struct utrace_ioc_detach detach;
	struct utrace_ioc_events events;
	struct utrace_ioc_info info;
	struct utrace_ioc_counts counts;
	struct utrace_ioc_in_flight in_flight;
	struct utrace_ioc_branches branches;
	struct utrace_ioc_branch_info branch_info;
	struct utrace_ioc_arm arm;
	struct utrace_ioc_disarm disarm;
	struct utrace_ioc_list list;
	struct utrace_ioc_hits hits;
	char room[512];
};

static void do_setup(int s)
{
	union argument a = { .setup = {
		.rings_size = one_in(2) ? SMALL_RINGS : 0,
		.delay = below(3) * 1000000,
		.full = below(3),
		.flags = below(2) * UTRACE_SETUP_F_MAPPED,
	} };

	spoil(&a, sizeof(a.setup));
	/* Larger rings take the memory of the guest, and time. */
	if (a.setup.rings_size <= 1 << 20 || a.setup.rings_size > 64 << 20)
		make_ioctl(sessions[s], UTRACE_IOC_SETUP, &a);
}

static int fd_for(unsigned int scope)
{
	if (one_in(16))
		return one_in(2) ? null : sessions[below(SESSIONS)];
	if (scope == UTRACE_SCOPE_CGROUP)
		return cgroup;
	if (scope == UTRACE_SCOPE_EXE)
		return exe;
	return scope == UTRACE_SCOPE_SYSTEM ? -1 : pidfds[below(TARGETS)];
}

static void do_attach(int s)
{
	static const __u32 scopes[] = {
		UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
		UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
		UTRACE_SCOPE_CGROUP, UTRACE_SCOPE_EXE, UTRACE_SCOPE_SYSTEM,
	};
	union argument a = {
		.attach.where.scope = scopes[below(N_OF(scopes))],
	};

	a.attach.where.fd = fd_for(a.attach.where.scope);
	spoil(&a, sizeof(a.attach));
	make_ioctl(sessions[s], UTRACE_IOC_ATTACH, &a);
}

static void do_detach(int s)
{
	union argument a = { .detach.id = 1 + below(8) };

	spoil(&a, sizeof(a.detach));
	make_ioctl(sessions[s], UTRACE_IOC_DETACH, &a);
}

static void do_events(int s)
{
	__u32 calls[8] = { 39, 110, 0, 1, 61, 56, 59, 231 };
	union argument a = { .events = {
		.events = any() & 0xffff,
		.capture = any() & 0x3f,
		.target = one_in(3) ? 1 + below(8) : 0,
		.count = below(4),
		.string_size = one_in(2) ? below(4097) : 0,
		.buffer_size = one_in(2) ? below(4097) : 0,
	} };

	if (one_in(2)) {
		a.events.calls = (uintptr_t)calls;
		a.events.ncalls = 1 + below(N_OF(calls));
		spoil(calls, sizeof(calls));
	}
	if (one_in(2)) {
		struct utrace_ioc_info info = {};

		ioctl(sessions[s], UTRACE_IOC_INFO, &info);
		a.events.events &= info.events;
	}
	spoil(&a, sizeof(a.events));
	make_ioctl(sessions[s], UTRACE_IOC_EVENTS, &a);
}

static void do_info(int s)
{
	union argument a = {};

	make_ioctl(sessions[s], UTRACE_IOC_INFO, &a);
}

static void do_counts(int s)
{
	static __thread struct utrace_call_count rows[64];
	union argument a = { .counts = {
		.rows.at = (uintptr_t)rows,
		.rows.n = below(N_OF(rows) + 1),
		.rows.size = sizeof(*rows) - below(2) * 8,
		.cursor_row = one_in(4) ? odd_number() : 0,
		.cursor = one_in(4) ? odd_number() : 0,
	} };

	if (one_in(16))
		a.counts.rows.at = odd_number();
	make_ioctl(sessions[s], UTRACE_IOC_COUNTS, &a);
}

static void do_in_flight(int s)
{
	union argument a = { .in_flight.target = one_in(2) ? 1 + below(8) : 0 };

	spoil(&a, sizeof(a.in_flight));
	make_ioctl(sessions[s], UTRACE_IOC_IN_FLIGHT, &a);
}

/* Records are whole, and each is as long as it says. */
static void check_records(const char *buffer, ssize_t n)
{
	const struct utrace_rec *rec;
	ssize_t at;

	for (at = 0; at < n; at += rec->size) {
		rec = (const void *)(buffer + at);
		if (n - at < (ssize_t)sizeof(*rec) ||
		    rec->size < sizeof(*rec) || rec->size % 8 ||
		    rec->size > n - at || rec->type > UTRACE_REC_USER_EVENT)
			fail("read(2) gave a broken record");
	}
}

static void do_read(int s)
{
	static __thread __u64 room[1 << 13];
	char *buffer = (char *)room;
	size_t size = one_in(8) ? below(sizeof(room)) : sizeof(room);
	ssize_t n = read(sessions[s], one_in(32) ? (void *)odd_number() : buffer,
			 size);

	check("read(2)", n);
	if (n > 0)
		check_records(buffer, n);
}

static void do_poll(int s)
{
	struct pollfd fd = { .fd = sessions[s], .events = POLLIN | POLLPRI };

	check("poll(2)", poll(&fd, 1, below(3)));
}

static void unmap(struct area *area)
{
	if (area->size)
		munmap(area->at, area->size);
	area->size = 0;
}

static void map(int fd, struct area *area, size_t size, int prot, off_t offset)
{
	void *at;

	unmap(area);
	if (one_in(8))
		size = odd_number() % (1 << 24);
	if (one_in(8))
		prot ^= 1 << below(3);
	at = mmap(NULL, size, prot, one_in(16) ? MAP_PRIVATE : MAP_SHARED, fd,
		  offset);
	check("mmap(2)", at == MAP_FAILED ? -1 : 0);
	if (at != MAP_FAILED)
		*area = (struct area){ at, size, prot & PROT_WRITE };
}

static void do_map(int s)
{
	struct utrace_ioc_info info = {};

	ioctl(sessions[s], UTRACE_IOC_INFO, &info);
	if (one_in(2))
		map(sessions[s], &ring_areas[s], info.map_size, PROT_READ,
		    UTRACE_MAP_RINGS);
	else
		map(sessions[s], &tail_areas[s], info.tails_size,
		    PROT_READ | PROT_WRITE, UTRACE_MAP_TAILS);
}

/* Store anything where the kernel reads how far the program has read. */
static void do_tails(int s)
{
	struct utrace_map_tail *tail = tail_areas[s].at;

	if (tail_areas[s].size && tail_areas[s].writable)
		__atomic_store_n(&tail[below(2)].tail, odd_number(),
				 __ATOMIC_RELAXED);
}

static void unmap_session(int s)
{
	unmap(&ring_areas[s]);
	unmap(&tail_areas[s]);
}

/* Give a new descriptor the number of another one, which is closed. */
static void replace(int old, int new)
{
	dup3(new, old, O_CLOEXEC);
	close(new);
}

static int open_session(void)
{
	int fd = open("/dev/utrace", (one_in(4) ? O_RDONLY : O_RDWR) |
		      O_CLOEXEC | O_NONBLOCK);

	check("open(2)", fd);
	return fd;
}

static void do_close(int s)
{
	replace(sessions[s], open_session());
	unmap_session(s);
}

/* Another descriptor of one session takes the place of another session. */
static void do_dup(int s)
{
	int other = below(SESSIONS);

	if (other == s)
		return;
	unmap_session(s);
	dup3(sessions[other], sessions[s], O_CLOEXEC);
}

/* A child reads, and dies with the descriptors. */
static void do_fork(int s)
{
	char buffer[4096];
	pid_t pid = fork();

	if (!pid) {
		if (read(sessions[s], buffer, sizeof(buffer)) < 0 && one_in(2))
			raise(SIGKILL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* A target gets a signal; if it is killed, another one takes its place later. */
static void do_signal(int s)
{
	static const int signals[] = {
		SIGUSR1, SIGUSR1, SIGSTOP, SIGCONT, SIGCONT, SIGTSTP, SIGKILL,
	};
	pid_t pid = pid_to_signal(below(TARGETS));

	(void)s;
	if (pid > 0)
		kill(pid, signals[below(N_OF(signals))]);
}

static const struct operation session_operations[] = {
	{ "setup", do_setup, 4, false,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBUSY, ENOMEM, EPERM } },
	{ "attach", do_attach, 12, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, EDEADLK, EEXIST, ENOENT,
	    ENOMEM, ENOSPC, EOPNOTSUPP, EPERM, ESRCH, EUSERS } },
	{ "detach", do_detach, 6, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT } },
	{ "events", do_events, 10, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT, ENOMEM, ESRCH } },
	{ "info", do_info, 3, true, { E2BIG, EFAULT, EINTR, EINVAL } },
	{ "counts", do_counts, 4, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOMEM } },
	{ "in_flight", do_in_flight, 4, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT, ENOMEM, EOPNOTSUPP } },
	{ "read", do_read, 20, true, { EAGAIN, EFAULT, EINVAL } },
	{ "poll", do_poll, 6, true, {} },
	{ "map", do_map, 4, false, { EACCES, EINVAL, ENOMEM, ENXIO, EPERM } },
	{ "tails", do_tails, 4, false, {} },
	{ "close", do_close, 3, false, {} },
	{ "dup", do_dup, 2, false, {} },
	{ "fork", do_fork, 2, false, {} },
	{ "signal", do_signal, 4, false, {} },
};

/* One of some operations, by their weights. */
static const struct operation *pick(const struct operation *operations,
				    unsigned int n)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < n; i++)
		sum += operations[i].weight;
	at = below(sum);
	for (i = 0; at >= operations[i].weight; i++)
		at -= operations[i].weight;
	return &operations[i];
}

static void make_call(void)
{
	doing = any_operation();
	if (is_rival && !doing->is_use)
		return;
	caller->calling[is_rival] = gettid();
	doing->function(below(SESSIONS));
	caller->calling[is_rival] = 0;
}

static void one_step(void)
{
	alarm(LIMIT_SECONDS * ut_patience());
	make_call();
	step++;
}

/* The second thread, whose random numbers are number *@arg. */
static void *be_rival(void *arg)
{
	is_rival = true;
	begin_numbers(*(__u64 *)arg);
	while (!caller->over)
		make_call();
	return NULL;
}

static void open_sessions(void)
{
	static const struct operation opening = { .name = "open" };
	int s;

	doing = &opening;
	for (s = 0; s < SESSIONS; s++)
		sessions[s] = open_session();
}

/* Files that sessions are attached to, and one that they cannot be. */
static void open_files(void)
{
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	exe = open("/bin/true", O_RDONLY | O_CLOEXEC);
	cgroup = open("/sys/fs/cgroup", O_RDONLY | O_CLOEXEC);
}

/* What the targets do */

static void on_signal(int sig)
{
	(void)sig;
}

static void *call_as_thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void act(void)
{
	pthread_t thread;
	pid_t pid;

	switch (below(8)) {
	case 0:
		pid = fork();
		if (!pid)
			_exit(below(3));
		waitpid(pid, NULL, 0);
		break;
	case 1:
		pid = vfork();
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		break;
	case 2:
		raise(SIGUSR1);
		break;
	case 3:
		usleep(below(2000));
		break;
	case 4:
		close(open("/etc/passwd", O_RDONLY));
		break;
	case 5:
		if (!pthread_create(&thread, NULL, call_as_thread, NULL))
			pthread_join(thread, NULL);
		break;
	default:
		for (int i = below(200); i; i--)
			syscall(SYS_getppid);
	}
}

#endif /* UTRACE_DEV_CALLS_H */
