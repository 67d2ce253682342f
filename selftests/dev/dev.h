/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - functions that the tests of /dev/utrace share
 *
 * A test opens sessions, starts targets that carry out its orders, and checks
 * the records that it has read.  One test has several results, which holds()
 * and is() print as comments of the harness's output.
 */
#ifndef UTRACE_DEV_H
#define UTRACE_DEV_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/utrace.h>

#include "../harness.h"

#define DEADLINE_MS	(20000 * ut_patience())

/* Results of one test */

/* The running test; children of the test share this object. */
static struct __test_metadata *dev_test;

/* Print a result with a formatted name; the test fails unless @good. */
static inline bool holds(bool good, const char *format, ...)
{
	va_list args;

	if (!good)
		dev_test->exit_code = KSFT_FAIL;
	printf("#   %sok ", good ? "" : "not ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return good;
}

static inline bool is(long want, long got, const char *text)
{
	if (!holds(want == got, "%s", text))
		printf("#     %ld instead of %ld\n", got, want);
	fflush(stdout);
	return want == got;
}

/*
 * Check a precondition, which is not a result: if it fails, the process exits, and
 * the test fails.
 */
static inline void need(bool good, const char *what)
{
	if (good)
		return;
	printf("# %s: %s\n", what, strerror(errno));
	exit(KSFT_FAIL);
}

/* Sessions */

/* Open a session; returns its descriptor or -errno. */
static inline int try_session(void)
{
	int fd = open("/dev/utrace", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static inline int session(void)
{
	int fd = try_session();

	need(fd >= 0, "/dev/utrace");
	return fd;
}

/* An ioctl; returns 0 or -errno. */
static inline int command(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

/*
 * Rings of @ring_size bytes together.  Their size and the policy of a full ring
 * are apart, so that few tests have to read while the target runs.
 */
static inline int setup_full(int fd, __u64 ring_size, __u32 full)
{
	struct utrace_ioc_setup arg = {.rings_size = ring_size, .full = full};

	return command(fd, UTRACE_IOC_SETUP, &arg);
}

/* Bytes of the smallest rings of a session, of which each CPU has one. */
static inline long small_rings(void)
{
	long least = UTRACE_RING_MIN * sysconf(_SC_NPROCESSORS_CONF);

	return least > 64 << 10 ? least : 64 << 10;
}

/* As setup_full(), with rings that the test maps. */
static inline int setup_mapped(int fd, __u64 ring_size, __u32 full)
{
	struct utrace_ioc_setup arg = {
		.rings_size = ring_size,
		.full = full,
		.flags = UTRACE_SETUP_F_MAPPED,
	};

	return command(fd, UTRACE_IOC_SETUP, &arg);
}

static inline int setup(int fd, __u64 ring_size)
{
	return setup_full(fd, ring_size, UTRACE_FULL_DROP);
}

static inline struct utrace_ioc_info info(int fd)
{
	struct utrace_ioc_info arg = {};

	need(!command(fd, UTRACE_IOC_INFO, &arg), "UTRACE_IOC_INFO");
	return arg;
}

/* Bytes of all rings together; the number of CPUs is a power of 2. */
static inline __u64 rings(int fd)
{
	struct utrace_ioc_info arg = info(fd);

	return arg.ring_size * arg.rings;
}

/* Flag of pidfd_open(2): the pidfd is of a thread. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD	O_EXCL
#endif

static inline int pidfd_of(pid_t pid, unsigned int flags)
{
	int fd = syscall(SYS_pidfd_open, pid, flags);

	need(fd >= 0, "pidfd_open");
	return fd;
}

/* Attach to the task of @pidfd; returns the id of the target or -errno. */
static inline int attach_fd(int fd, int pidfd, __u32 scope)
{
	struct utrace_ioc_attach arg = {
		.where = { .scope = scope, .fd = pidfd },
	};

	return command(fd, UTRACE_IOC_ATTACH, &arg) ?: (int)arg.id;
}

static inline int attach(int fd, pid_t pid, __u32 scope)
{
	int pidfd = pidfd_of(pid, 0);
	int ret = attach_fd(fd, pidfd, scope);

	close(pidfd);
	return ret;
}

static inline int attach_system(int fd)
{
	return attach_fd(fd, -1, UTRACE_SCOPE_SYSTEM);
}

static inline int detach(int fd, __u32 id)
{
	struct utrace_ioc_detach arg = { .id = id };

	return command(fd, UTRACE_IOC_DETACH, &arg);
}

static inline int choose(int fd, __u64 events, __u64 capture,
			 const __u32 *calls, __u32 ncalls)
{
	struct utrace_ioc_events arg = {
		.events = events,
		.capture = capture,
		.calls = (uintptr_t)calls,
		.ncalls = ncalls,
	};

	return command(fd, UTRACE_IOC_EVENTS, &arg);
}

/* All events, with entries and exits of calls; and everything that can be captured. */
#define ALL_EVENTS	(UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT) | \
			 UTRACE_REC_BIT(FORK) | UTRACE_REC_BIT(EXEC) | \
			 UTRACE_REC_BIT(EXIT) | UTRACE_REC_BIT(SIGNAL) | \
			 UTRACE_REC_BIT(JOBCTL))
#define ALL_CAPTURES	(UTRACE_CAPTURE_STRINGS | UTRACE_CAPTURE_BUFFERS | \
			 UTRACE_CAPTURE_SOCKETS | UTRACE_CAPTURE_FILES | \
			 UTRACE_CAPTURE_STACK | UTRACE_CAPTURE_RAW_STACK | \
			 UTRACE_CAPTURE_STRUCTS)

/* The marker: a system call that targets make for no other purpose. */
#define MARK_NR		SYS_getppid

/* Choose entries and exits of the marker call only. */
static inline int choose_marks(int fd)
{
	static const __u32 mark[] = { MARK_NR };

	return choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
		      0, mark, 1);
}

/* Records that the last take() has read. */

static char records[32 << 20] __attribute__((aligned(8)));
static size_t records_size;

static inline struct utrace_rec *next_record(struct utrace_rec *rec)
{
	char *next = rec ? (char *)rec + rec->size : records;

	return next < records + records_size ? (void *)next : NULL;
}

#define for_each_record(rec) \
	for ((rec) = next_record(NULL); (rec); (rec) = next_record(rec))

/* The item behind @item, or the first one of the record if that is NULL. */
static inline struct utrace_item *next_item(struct utrace_rec *rec,
					    struct utrace_item *item)
{
	char *at = item ? (char *)item + sizeof(*item) +
			  ((item->len + 7) & ~7) : (char *)rec + rec->items;

	return rec->items && at < (char *)rec + rec->size ? (void *)at : NULL;
}

/*
 * Read all records that there are; returns their number, without the records of
 * type TARGET_END.
 */
static inline int take(int fd)
{
	struct utrace_rec *rec;
	ssize_t n;
	int count = 0;

	records_size = 0;
	while ((n = read(fd, records + records_size,
			 sizeof(records) - records_size)) > 0)
		records_size += n;
	for_each_record(rec)
		count += rec->type != UTRACE_REC_TARGET_END;
	return count;
}

/*
 * The number of records of one type about the marker call, by task @tid or, if
 * 0, by any task.
 */
static inline int marks(int type, pid_t tid)
{
	struct utrace_rec_sys_enter *enter;
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec) {
		enter = (void *)rec;
		n += rec->type == type && (!tid || rec->tid == tid) &&
		     enter->nr == MARK_NR;
	}
	return n;
}

static inline struct utrace_rec *find(int type, pid_t tid)
{
	struct utrace_rec *rec;

	for_each_record(rec)
		if (rec->type == type && (!tid || rec->tid == tid))
			return rec;
	return NULL;
}

static inline int count(int type, pid_t tid)
{
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec)
		n += rec->type == type && (!tid || rec->tid == tid);
	return n;
}

/* Targets */

/* A target has up to three tasks; each has pipes of its own. */
enum who { SELF, THREAD, CHILD, NWHO };

/*
 * An order is a function that a task of the target calls with one number; what
 * the function returns is the answer.  A target is forked from the test, so
 * functions and static variables have the same addresses in both processes.
 * After execve(2) they have not: an order that executes a program is the last
 * one, and the program reads its arguments to know what to do.
 */
typedef long order_fn(long n);

struct order {
	order_fn *function;
	long n;
};

/**
 * struct target - a process that carries out orders
 * @pid: the process
 * @tid: by enum who, the tasks that have been started
 * @to: by enum who, the pipe of orders
 * @from: by enum who, the pipe of answers
 */
struct target {
	pid_t pid;
	pid_t tid[NWHO];
	int to[NWHO][2];
	int from[NWHO][2];
};

/* In a target: itself. */
static struct target *own_target;

/* Carry out orders until the process is killed. */
static inline void obey(enum who who)
{
	struct order order;
	long answer;

	while (read(own_target->to[who][0], &order, sizeof(order)) ==
	       sizeof(order)) {
		answer = order.function(order.n);
		if (write(own_target->from[who][1], &answer,
			  sizeof(answer)) < 0)
			_exit(99);
	}
}

/* Orders for any target */

static inline long own_tid(long unused)
{
	return gettid();
}

/* Make marker calls. */
static inline long mark(long n)
{
	long i;

	for (i = 1; i <= n; i++)
		syscall(MARK_NR, i, i + 1, i + 2, i + 3, i + 4, i + 5);
	return 0;
}

/* Fork a child that makes marker calls; returns its pid when it has exited. */
static inline long fork_and_mark(long n)
{
	pid_t pid = fork();

	if (!pid) {
		mark(n);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

static inline long exit_with(long code)
{
	_exit(code);
}

static inline long set_dumpable(long dumpable)
{
	if (prctl(PR_SET_DUMPABLE, dumpable))
		_exit(98);
	return 0;
}

#define NOBODY	65534

/* Become the user nobody for good. */
static inline void become_nobody(void)
{
	need(!setresgid(NOBODY, NOBODY, NOBODY) &&
	     !setresuid(NOBODY, NOBODY, NOBODY),
	     "setresuid");
	/* execve() would do that, too. */
	need(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
}

static inline long be_nobody(long unused)
{
	become_nobody();
	return 0;
}

static inline long execute_true(long unused)
{
	char * const argv[] = { "true", NULL };
	char * const envp[] = { NULL };

	execve("/bin/true", argv, envp);
	_exit(98);
}

static inline void *be_thread(void *unused)
{
	obey(THREAD);
	return NULL;
}

static inline long add_thread(long unused)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, be_thread, NULL);
}

/* Returns the pid of the child. */
static inline long add_child(long unused)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		obey(CHILD);
		_exit(0);
	}
	return pid;
}

/* Give an order without waiting for the answer. */
static inline void tell(struct target *target, enum who who,
			order_fn *function, long n)
{
	struct order order = { .function = function, .n = n };

	need(write(target->to[who][1], &order, sizeof(order)) == sizeof(order),
	     "an order");
}

/* Print a file of /proc, of a task that does not do as it should. */
static inline void print_proc(pid_t pid, const char *name)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		printf("# %d %s: %s", pid, name, line);
	if (file)
		fclose(file);
}

/*
 * Wait for an answer.  If none comes in time, print what the task does or how
 * the target ended, and return false.
 */
static inline bool get_answer(struct target *target, enum who who, long *answer)
{
	struct pollfd pfd = { .fd = target->from[who][0], .events = POLLIN };
	siginfo_t end = {};

	if (poll(&pfd, 1, DEADLINE_MS) == 1 &&
	    read(pfd.fd, answer, sizeof(*answer)) == sizeof(*answer))
		return true;
	/* This fails if the caller is not the parent of the target. */
	waitid(P_PID, target->pid, &end, WEXITED | WNOHANG | WNOWAIT);
	if (end.si_pid)
		printf("# the target %s %d\n",
		       end.si_code == CLD_EXITED ? "has exited with" :
		       "was killed by signal", end.si_status);
	print_proc(target->tid[who], "stat");
	print_proc(target->tid[who], "syscall");
	print_proc(target->tid[who], "stack");
	errno = ETIME;
	return false;
}

/* Check whether the task has carried out its last order, or does so in time. */
static inline bool is_answered(struct target *target, enum who who)
{
	long answer;

	return get_answer(target, who, &answer);
}

static inline long hear(struct target *target, enum who who)
{
	long answer;

	need(get_answer(target, who, &answer), "an answer");
	return answer;
}

/* Have a task of the target call @function with @n; returns the result. */
static inline long have(struct target *target, enum who who,
			order_fn *function, long n)
{
	tell(target, who, function, n);
	return hear(target, who);
}

/* Read the first line of a file of /proc/TID; false if there is none. */
static inline bool of_task(pid_t tid, const char *name, char *line, int size)
{
	char path[128];
	FILE *file;
	bool got;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	file = fopen(path, "r");
	got = file && fgets(line, size, file);
	if (file)
		fclose(file);
	return got;
}

/* Check whether the task sleeps in the call, rather than just enters it. */
static inline bool asleep_in(pid_t tid, long nr)
{
	char line[512], *state;

	if (!of_task(tid, "stat", line, sizeof(line)))
		return false;
	state = strrchr(line, ')');
	return state && !strncmp(state, ") S", 3) &&
	       of_task(tid, "syscall", line, sizeof(line)) &&
	       *line >= '0' && *line <= '9' && atol(line) == nr;
}

/*
 * Wait until the target sleeps in the read() of its next order, which follows
 * its answer.  By then all events of the last order are recorded, and new
 * settings of the session meet no event of it.
 */
static inline void settle(struct target *target, enum who who)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (asleep_in(target->tid[who], SYS_read))
			return;
		usleep(2000);
	}
	errno = ETIME;
	need(false, "a target that waits for orders");
}

/* Start a second task of the target: a thread or a child. */
static inline void have_more(struct target *target, enum who who)
{
	have(target, SELF, who == THREAD ? add_thread : add_child, 0);
	target->tid[who] = have(target, who, own_tid, 0);
}

static inline void start(struct target *target)
{
	int i;

	*target = (struct target){};
	for (i = 0; i < NWHO; i++)
		need(!pipe2(target->to[i], O_CLOEXEC) &&
		     !pipe2(target->from[i], O_CLOEXEC), "pipe");
	target->pid = fork();
	need(target->pid >= 0, "fork");
	if (!target->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		own_target = target;
		obey(SELF);
		_exit(0);
	}
	target->tid[SELF] = target->pid;
	have(target, SELF, own_tid, 0);
}

static inline void stop(struct target *target)
{
	int i;

	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
	for (i = 0; i < NWHO; i++) {
		close(target->to[i][0]);
		close(target->to[i][1]);
		close(target->from[i][0]);
		close(target->from[i][1]);
	}
}

/* Let a task run on one CPU only. */
static inline void pin_to_cpu(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	need(!sched_setaffinity(tid, sizeof(set), &set), "sched_setaffinity");
}

/* The number of engines of /dev/utrace in /proc/PID/utrace, or -errno. */
static inline int engines(pid_t pid)
{
	char path[64], line[512];
	int n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/utrace", pid);
	file = fopen(path, "r");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		n += !strncmp(line, "dev ", 4);
	fclose(file);
	return n;
}

/* Seconds within which all ends that does not hang. */
#define SOON		(10 * ut_patience())

/*
 * Run a function in a child, which SIGALRM kills after @seconds; 0: never.
 * Returns its result, at most 255, or else the negative status of the child.
 */
static inline int in_child_for(int (*function)(void *arg), void *arg,
			       unsigned int seconds)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(seconds);
		_exit(function(arg));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

/* Run a function in a child; returns its result, at most 255. */
static inline int in_child(int (*function)(void *arg), void *arg)
{
	return in_child_for(function, arg, 0);
}

/* Write a sysctl; returns 0 or -errno. */
static inline int set_sysctl(const char *name, const char *value)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	need(fd >= 0, path);
	ret = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Read the line of a sysctl; false if there is no such sysctl. */
static inline bool read_sysctl(const char *name, char *text, int size)
{
	char path[128];
	FILE *file;
	bool got;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	file = fopen(path, "re");
	got = file && fgets(text, size, file);
	if (file)
		fclose(file);
	return got;
}

#define UNPRIVILEGED	"kernel/utrace/unprivileged"
#define YAMA_SCOPE	"kernel/yama/ptrace_scope"

static inline int set_unprivileged(const char *value)
{
	return set_sysctl(UNPRIVILEGED, value);
}

/* A child that has dropped its rights asks the test to set a sysctl. */
struct sysctl_order {
	char name[64];
	char value[16];
};

static int sysctl_socket[2];

/* Run a function as in_child(), and set the sysctls that it asks for. */
static inline int in_child_with_sysctls(int (*function)(void *arg), void *arg)
{
	struct sysctl_order order;
	int status, ret;
	pid_t pid;

	/* A program that a target executes must not keep the socket open. */
	need(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sysctl_socket),
	     "socketpair");
	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(sysctl_socket[0]);
		_exit(function(arg));
	}
	close(sysctl_socket[1]);
	while (read(sysctl_socket[0], &order, sizeof(order)) == sizeof(order)) {
		ret = set_sysctl(order.name, order.value);
		if (send(sysctl_socket[0], &ret, sizeof(ret), MSG_NOSIGNAL) < 0)
			break;
	}
	close(sysctl_socket[0]);
	need(waitpid(pid, &status, 0) == pid, "wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

/* Have the test set a sysctl, in a function that in_child_with_sysctls() runs. */
static inline void have_sysctl(const char *name, const char *value)
{
	struct sysctl_order order = {};
	int ret = -EPIPE;

	snprintf(order.name, sizeof(order.name), "%s", name);
	snprintf(order.value, sizeof(order.value), "%s", value);
	if (send(sysctl_socket[1], &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order) ||
	    read(sysctl_socket[1], &ret, sizeof(ret)) != sizeof(ret))
		ret = -EPIPE;
	errno = -ret;
	need(!ret, name);
}

/* The setup of a fixture: NULL, or why its tests are to be skipped. */
static inline const char *dev_begin(struct __test_metadata *test)
{
	dev_test = test;
	/*
	 * Flush each line: a child that ends with _exit() would lose the rest.
	 */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (geteuid())
		return "not root";
	if (access("/dev/utrace", F_OK))
		return "no /dev/utrace (UTRACE_DEV)";
	return NULL;
}

static inline void dev_end(void)
{
	set_unprivileged("0");
}

FIXTURE(dev) {
};

FIXTURE_SETUP(dev)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	/* An earlier test that died may have left another setting. */
	set_unprivileged("0");
}

FIXTURE_TEARDOWN(dev)
{
	dev_end();
}

/* Become the user nobody for good, and keep one capability. */
static inline void keep_only(__u32 cap)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	need(!prctl(PR_SET_KEEPCAPS, 1), "PR_SET_KEEPCAPS");
	become_nobody();
	data[cap / 32].effective = 1U << cap % 32;
	data[cap / 32].permitted = 1U << cap % 32;
	need(!syscall(SYS_capset, &head, data), "capset");
	need(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
}

/* Where code or data of this program is in its file; -1: nowhere. */
static inline long offset_in_file(const void *address)
{
	unsigned long begin, end, offset, at = (unsigned long)address;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	long found = -1;

	while (found < 0 && maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    at >= begin && at < end)
			found = at - begin + offset;
	if (maps)
		fclose(maps);
	return found;
}

/* Send a descriptor over a Unix socket. */
static inline bool send_fd(int to, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(to, &msg, 0) == 1;
}

static inline int receive_fd(int from)
{
	char room[CMSG_SPACE(sizeof(int))] = {}, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	struct cmsghdr *cmsg;
	int fd = -1;

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

/* The scopes of targets that are attached by the pidfd of a task. */
static const struct {
	__u32 scope;
	const char *name;
} task_scopes[] __attribute__((unused)) = {
	{ UTRACE_SCOPE_THREAD, "thread" },
	{ UTRACE_SCOPE_PROCESS, "process" },
	{ UTRACE_SCOPE_TREE, "tree" },
};

#define TASK_SCOPES	(sizeof(task_scopes) / sizeof(*task_scopes))

#endif /* UTRACE_DEV_H */
