// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace, asked for anything
 *
 * A generator makes calls on several sessions in any order: each ioctl,
 * read(2), poll(2), mmap(2), stores to mapped tails, dup(2), fork(2), close(2).
 * Arguments are right at first, and then sometimes one member, the size or the
 * address is not.  Meanwhile the targets fork, execute a program, get signals,
 * exit and change their credentials, and a second thread makes calls on the
 * sessions that the first one closes.  Where the kernel can inject faults, some
 * calls are repeated with their first allocation failing, then the second, and
 * so on.
 *
 * Each call has to return in time, with 0 or an error that is documented for
 * it.  In the end nothing may be left of the sessions: no engine, and nothing
 * that the user is charged with.  Complaints of the kernel are found by the
 * runner.
 *
 * From the environment: SEED=N repeats the calls of a run, as far as they do
 * not depend on what the targets and the second thread have done, and
 * DURATION=N is how long it takes, in seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/utrace.h>

#include "../fail_nth.h"
#include "left.h"

#define N_OF(array)	(sizeof(array) / sizeof(*(array)))

/* A call that takes longer hangs. */
#define LIMIT_SECONDS	20

#define SESSIONS	6
#define TARGETS		4

/* Calls after which targets are started anew. */
#define ROUND		2000

/* More allocations than a call makes that succeeds. */
#define MOST_FAILURES	200

/* What is mapped of a session; @size is 0 if nothing is. */
struct area {
	void *at;
	size_t size;
	bool writable;
};

static int session[SESSIONS];
static struct area rings[SESSIONS], tails[SESSIONS];
static pid_t target[TARGETS];
static int pidfd[TARGETS], cgroup = -1, exe = -1, null = -1;
static unsigned long long seed, step;
static bool is_over;

/* An operation, and the errors that its call may give; see <linux/utrace.h>. */
struct operation {
	const char *name;
	void (*function)(int s);
	unsigned int weight;
	int errors[20];
};

/* Each thread has its own generator; only the first one has failures. */
static __thread __u64 state;
static __thread int nth = -1;
static __thread const struct operation *doing;
static __thread bool is_rival;

static void fail(const char *why)
{
	printf("# SEED=%llu step %llu, %s%s: %s\n", seed, step,
	       is_rival ? "second thread, " : "", doing ? doing->name : "end",
	       why);
	printf("not ok 1 fuzz\n");
	fflush(stdout);
	_exit(1);
}

static void on_alarm(int sig)
{
	(void)sig;
	fail("the call did not return in time");
}

/* The generator */

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

	/* The first thread may have closed the session. */
	if (is_rival && error == EBADF)
		return true;
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
static void command_fails(int fd, unsigned long request, void *argument)
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

/* Make an ioctl, now and then with another size, or a bad address. */
static void command(int s, unsigned long request, void *argument)
{
	unsigned int size = _IOC_SIZE(request);

	if (one_in(16))
		size = below(2 * size + 8);
	request = _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request),
		       size);
	if (one_in(32))
		argument = (void *)odd_number();
	if (nth >= 0 && one_in(8))
		command_fails(session[s], request, argument);
	else
		check("the ioctl", ioctl(session[s], request, argument));
}

/* Room for an argument that is said to be larger than it is. */
union argument {
	struct utrace_ioc_setup setup;
	struct utrace_ioc_attach attach;
	struct utrace_ioc_events events;
	struct utrace_ioc_info info;
	struct utrace_ioc_counts counts;
	struct utrace_ioc_in_flight in_flight;
	__u32 id;
	char room[512];
};

static void do_setup(int s)
{
	union argument a = { .setup = {
		.ring_size = one_in(2) ? SMALL_RINGS : 0,
		.delay = below(3) * 1000000,
		.full = below(3),
	} };

	spoil(&a, sizeof(a.setup));
	/* Larger rings take the memory of the guest, and time. */
	if (a.setup.ring_size <= 1 << 20 || a.setup.ring_size > 64 << 20)
		command(s, UTRACE_IOC_SETUP, &a);
}

static int fd_for(unsigned int scope)
{
	if (one_in(16))
		return one_in(2) ? null : session[below(SESSIONS)];
	if (scope == UTRACE_SCOPE_CGROUP)
		return cgroup;
	if (scope == UTRACE_SCOPE_EXE)
		return exe;
	return scope == UTRACE_SCOPE_SYSTEM ? -1 : pidfd[below(TARGETS)];
}

static void do_attach(int s)
{
	static const __u32 scopes[] = {
		UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
		UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
		UTRACE_SCOPE_CGROUP, UTRACE_SCOPE_EXE, UTRACE_SCOPE_SYSTEM,
	};
	union argument a = { .attach.scope = scopes[below(N_OF(scopes))] };

	a.attach.fd = fd_for(a.attach.scope);
	spoil(&a, sizeof(a.attach));
	command(s, UTRACE_IOC_ATTACH, &a);
}

static void do_detach(int s)
{
	union argument a = { .id = 1 + below(8) };

	spoil(&a, sizeof(a.id));
	command(s, UTRACE_IOC_DETACH, &a);
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

		ioctl(session[s], UTRACE_IOC_INFO, &info);
		a.events.events &= info.events;
	}
	spoil(&a, sizeof(a.events));
	command(s, UTRACE_IOC_EVENTS, &a);
}

static void do_info(int s)
{
	union argument a = {};

	command(s, UTRACE_IOC_INFO, &a);
}

static void do_counts(int s)
{
	static __thread struct utrace_call_count rows[64];
	union argument a = { .counts = {
		.rows = (uintptr_t)rows,
		.n = below(N_OF(rows) + 1),
		.place = one_in(4) ? odd_number() : 0,
		.task = one_in(4) ? odd_number() : 0,
	} };

	if (one_in(16))
		a.counts.rows = odd_number();
	command(s, UTRACE_IOC_COUNTS, &a);
}

static void do_in_flight(int s)
{
	union argument a = { .in_flight.target = one_in(2) ? 1 + below(8) : 0 };

	spoil(&a, sizeof(a.in_flight));
	command(s, UTRACE_IOC_IN_FLIGHT, &a);
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
		    rec->size > n - at || rec->type >= UTRACE_REC_TYPES)
			fail("read(2) gave a broken record");
	}
}

static void do_read(int s)
{
	static __thread __u64 room[1 << 13];
	char *buffer = (char *)room;
	size_t size = one_in(8) ? below(sizeof(room)) : sizeof(room);
	ssize_t n = read(session[s], one_in(32) ? (void *)odd_number() : buffer,
			 size);

	check("read(2)", n);
	if (n > 0)
		check_records(buffer, n);
}

static void do_poll(int s)
{
	struct pollfd fd = { .fd = session[s], .events = POLLIN };

	check("poll(2)", poll(&fd, 1, below(3)));
}

static void unmap(struct area *area)
{
	if (area->size)
		munmap(area->at, area->size);
	area->size = 0;
}

static void map(int s, struct area *area, size_t size, int prot, off_t offset)
{
	void *at;

	unmap(area);
	if (one_in(8))
		size = odd_number() % (1 << 24);
	if (one_in(8))
		prot ^= 1 << below(3);
	at = mmap(NULL, size, prot, one_in(16) ? MAP_PRIVATE : MAP_SHARED,
		  session[s], offset);
	check("mmap(2)", at == MAP_FAILED ? -1 : 0);
	if (at != MAP_FAILED)
		*area = (struct area){ at, size, prot & PROT_WRITE };
}

static void do_map(int s)
{
	size_t page = sysconf(_SC_PAGESIZE), head;
	struct utrace_ioc_info info = {};

	ioctl(session[s], UTRACE_IOC_INFO, &info);
	head = (64 + 64 * info.cpus + page - 1) / page * page;
	if (one_in(2))
		map(s, &rings[s], head + info.cpus * info.ring_size, PROT_READ,
		    UTRACE_MAP_RINGS);
	else
		map(s, &tails[s], (64 * info.cpus + page - 1) / page * page,
		    PROT_READ | PROT_WRITE, UTRACE_MAP_TAILS);
}

/* Store anything where the kernel reads how far the program has read. */
static void do_tails(int s)
{
	struct utrace_ring_tail *tail = tails[s].at;

	if (tails[s].size && tails[s].writable)
		__atomic_store_n(&tail[below(2)].tail, odd_number(),
				 __ATOMIC_RELAXED);
}

static void do_close(int s)
{
	close(session[s]);
	unmap(&rings[s]);
	unmap(&tails[s]);
	session[s] = open("/dev/utrace", (one_in(4) ? O_RDONLY : O_RDWR) |
			  O_CLOEXEC | O_NONBLOCK);
	check("open(2)", session[s]);
	if (session[s] < 0)
		session[s] = dup(null);
}

/* Another descriptor of one session takes the place of another session. */
static void do_dup(int s)
{
	int other = below(SESSIONS);

	if (other == s)
		return;
	unmap(&rings[s]);
	unmap(&tails[s]);
	dup3(session[other], session[s], O_CLOEXEC);
}

/* A child reads, and dies with the descriptors. */
static void do_fork(int s)
{
	char buffer[4096];
	pid_t pid = fork();

	if (!pid) {
		if (read(session[s], buffer, sizeof(buffer)) < 0 && one_in(2))
			raise(SIGKILL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* A target gets a signal; if it is killed, the next round has a new one. */
static void do_signal(int s)
{
	static const int signals[] = {
		SIGUSR1, SIGUSR1, SIGSTOP, SIGCONT, SIGCONT, SIGTSTP, SIGKILL,
	};

	(void)s;
	kill(target[below(TARGETS)], signals[below(N_OF(signals))]);
}

/* What the targets do */

static void on_signal(int sig)
{
	(void)sig;
}

static void *be_thread(void *arg)
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

	switch (below(9)) {
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
		prctl(PR_SET_DUMPABLE, below(2));
		break;
	case 4:
		usleep(below(2000));
		break;
	case 5:
		close(open("/etc/passwd", O_RDONLY));
		break;
	case 6:
		if (!pthread_create(&thread, NULL, be_thread, NULL))
			pthread_join(thread, NULL);
		break;
	default:
		for (int i = below(200); i; i--)
			syscall(SYS_getppid);
	}
}

static void close_sessions(void)
{
	int i;

	for (i = 0; i < SESSIONS; i++)
		close(session[i]);
}

/* Some targets have the sessions open that there are when they begin. */
static bool inherits(int i)
{
	return i % 2;
}

static void start_targets(void)
{
	int i;

	for (i = 0; i < TARGETS; i++) {
		if (target[i]) {
			kill(target[i], SIGKILL);
			waitpid(target[i], NULL, 0);
			close(pidfd[i]);
		}
		target[i] = fork();
		if (!target[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			signal(SIGALRM, SIG_DFL);
			signal(SIGUSR1, on_signal);
			alarm(0);
			state += i + 1;
			if (!inherits(i))
				close_sessions();
			for (;;)
				act();
		}
		pidfd[i] = syscall(SYS_pidfd_open, target[i], 0);
	}
}

static const struct operation operations[] = {
	{ "setup", do_setup, 4,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBUSY, ENOMEM, EPERM } },
	{ "attach", do_attach, 12,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, EDEADLK, EEXIST, ENOENT,
	    ENOMEM, ENOSPC, EOPNOTSUPP, EPERM, ESRCH, EUSERS } },
	{ "detach", do_detach, 6, { E2BIG, EFAULT, EINTR, EINVAL, ENOENT } },
	{ "events", do_events, 10,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT, ENOMEM, ESRCH } },
	{ "info", do_info, 3, { E2BIG, EFAULT, EINTR, EINVAL } },
	{ "counts", do_counts, 4, { E2BIG, EFAULT, EINTR, EINVAL, ENOMEM } },
	{ "in_flight", do_in_flight, 4,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT, ENOMEM, EOPNOTSUPP } },
	{ "read", do_read, 20, { EAGAIN, EFAULT, EINVAL } },
	{ "poll", do_poll, 6, {} },
	{ "map", do_map, 4, { EACCES, EINVAL, ENOMEM, ENXIO, EPERM } },
	{ "tails", do_tails, 4, {} },
	{ "close", do_close, 3, {} },
	{ "dup", do_dup, 2, {} },
	{ "fork", do_fork, 2, {} },
	{ "signal", do_signal, 4, {} },
};

static const struct operation *any_operation(void)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < N_OF(operations); i++)
		sum += operations[i].weight;
	at = below(sum);
	for (i = 0; at >= operations[i].weight; i++)
		at -= operations[i].weight;
	return &operations[i];
}

static void one_step(void)
{
	doing = any_operation();
	alarm(LIMIT_SECONDS * ut_patience());
	doing->function(below(SESSIONS));
	step++;
}

/* The second thread only uses what there is. */
static bool is_use(const struct operation *operation)
{
	void (*function)(int s) = operation->function;

	return function == do_attach || function == do_detach ||
	       function == do_events || function == do_info ||
	       function == do_counts || function == do_in_flight ||
	       function == do_read || function == do_poll;
}

static void *be_rival(void *arg)
{
	(void)arg;
	is_rival = true;
	state = seed * 0x9e3779b97f4a7c15ULL + 2;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		doing = any_operation();
		if (is_use(doing))
			doing->function(below(SESSIONS));
	}
	return NULL;
}

/* Let the rings count against RLIMIT_MEMLOCK. */
static void drop_ipc_lock(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		fail("capget");
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &head, data) || prctl(PR_SET_DUMPABLE, 1))
		fail("capset");
}

static void set_up(void)
{
	int i;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	exe = open("/bin/true", O_RDONLY | O_CLOEXEC);
	cgroup = open("/sys/fs/cgroup", O_RDONLY | O_CLOEXEC);
	if (!fail_nth_why_not() && fail_nth_enable(true))
		nth = fail_nth_open(0);
	for (i = 0; i < SESSIONS; i++)
		session[i] = dup(null);
	for (i = 0; i < SESSIONS; i++)
		do_close(i);
	start_targets();
}

/* Are the sessions, which are closed, gone from the targets that are alive? */
static void check_targets(void)
{
	siginfo_t info;
	int i;

	for (i = 0; i < TARGETS; i++) {
		kill(target[i], inherits(i) ? SIGKILL : SIGCONT);
		if (inherits(i))
			waitid(P_PID, target[i], NULL, WEXITED | WNOWAIT);
	}
	for (i = 0; i < TARGETS; i++) {
		info.si_pid = 0;
		waitid(P_PID, target[i], &info, WEXITED | WNOWAIT | WNOHANG);
		if (!info.si_pid && !left_no_engine(target[i]))
			fail("an engine is left on a target");
	}
}

static void tear_down(rlim_t least)
{
	int i;

	doing = NULL;
	for (i = 0; i < SESSIONS; i++) {
		unmap(&rings[i]);
		unmap(&tails[i]);
	}
	close_sessions();
	alarm(0);
	check_targets();
	if (!left_no_engine(getpid()))
		fail("an engine is left");
	if (!left_no_rings(least))
		fail("the user is charged with rings that are gone");
	start_targets();
	if (!left_no_charge(pidfd[0]))
		fail("the user is charged with engines that are gone");
	for (i = 0; i < TARGETS; i++) {
		kill(target[i], SIGKILL);
		waitpid(target[i], NULL, 0);
	}
	if (nth >= 0)
		fail_nth_enable(false);
}

int main(void)
{
	const char *given = getenv("SEED"), *limit = getenv("DURATION");
	time_t end = time(NULL) + (limit ? atoi(limit) : 10);
	pthread_t rival;
	rlim_t least;

	printf("TAP version 13\n1..1\n");
	if (access("/dev/utrace", R_OK | W_OK)) {
		printf("ok 1 fuzz # SKIP no /dev/utrace\n");
		return 0;
	}
	seed = given ? strtoull(given, NULL, 0) : 1;
	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	signal(SIGALRM, on_alarm);
	drop_ipc_lock();
	least = left_memlock();
	set_up();
	if (pthread_create(&rival, NULL, be_rival, NULL))
		fail("pthread_create");
	while (time(NULL) < end) {
		one_step();
		if (!(step % ROUND))
			start_targets();
	}
	doing = NULL;
	alarm(LIMIT_SECONDS * ut_patience());
	is_over = true;
	pthread_join(rival, NULL);
	tear_down(least);
	printf("# SEED=%llu: %llu calls%s\n", seed, step,
	       nth < 0 ? "" : ", some without memory");
	printf("ok 1 fuzz\n");
	return 0;
}
