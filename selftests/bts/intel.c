// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: the records of a processor of Intel
 *
 * The processor must record the branches that single steps find in the same
 * run, and from the end of one branch the program goes straight on to the next.
 * Where there is no such processor, the tests run with the other sources, which
 * shows that they hold there.
 */
#include <sys/syscall.h>

#include "tasks.h"

#define RECORDS		0x40000

/* Records of a CPU that are checked. */
#define CPU_RECORDS	100000

static int ask(struct utrace_where where, __u32 source)
{
	struct utrace_ioc_branches arg = {
		.where = where,
		.source = source,
		.levels = UTRACE_LEVEL_USER,
		.capacity = RECORDS,
	};
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), ret;

	need(dev >= 0, "/dev/utrace");
	ret = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	ret = ret < 0 ? -errno : ret;
	close(dev);
	return ret;
}

static int ask_of(pid_t pid, __u32 source)
{
	int pidfd = pidfd_of(pid, 0);
	int ret = ask((struct utrace_where){
			.scope = UTRACE_SCOPE_PROCESS,
			.fd = pidfd,
		}, source);

	close(pidfd);
	return ret;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Calls, jumps, code of libc and system calls. */
static void work(void)
{
	int some[40];
	unsigned int i, round;

	for (round = 0; round < 16; round++) {
		for (i = 0; i < 40; i++)
			some[i] = i * 7919 % 31;
		qsort(some, 40, sizeof(some[0]), compare);
		syscall(SYS_getppid);
	}
}

/* A process that stops, and then works. */
static pid_t start_work(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		work();
		_exit(0);
	}
	need(pid > 0, "fork");
	need(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status),
	     "stop");
	return pid;
}

/* Keep branches within user mode only; returns the number of system calls. */
static size_t keep_user(struct trace *trace)
{
	size_t i, n = 0, calls = 0;

	for (i = 0; i < trace->n; i++) {
		const struct utrace_branch *r = &trace->records[i];

		if (type_of(r) != UTRACE_BRANCH)
			continue;
		calls += r->to == UTRACE_PC_SYSCALL;
		if (!IS_PSEUDO(r->from) && !IS_PSEUDO(r->to))
			trace->records[n++] = *r;
	}
	trace->n = n;
	return calls;
}

/* The number of the first branch that differs, or -1. */
static long differs_at(const struct trace *a, const struct trace *b)
{
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++)
		if (a->records[i].from != b->records[i].from ||
		    a->records[i].to != b->records[i].to)
			break;
	if (i == a->n && i == b->n)
		return -1;
	printf("#   branch %zu of %zu and %zu\n", i, a->n, b->n);
	if (i < a->n && i < b->n)
		printf("#   %llx -> %llx, not %llx -> %llx\n",
		       b->records[i].from, b->records[i].to,
		       a->records[i].from, a->records[i].to);
	return i;
}

FIXTURE(intel) {
};

FIXTURE_VARIANT(intel) {
	__u32 tasks;
	__u32 cpus;
	const char *why;
};

FIXTURE_VARIANT_ADD(intel, processor) {
	.tasks = UTRACE_BRANCH_SOURCE_INTEL,
	.cpus = UTRACE_BRANCH_SOURCE_INTEL,
	.why = "no CONFIG_UTRACE_BTS_INTEL, or no such processor",
};

FIXTURE_VARIANT_ADD(intel, others) {
	.tasks = UTRACE_BRANCH_SOURCE_STEP,
	.cpus = UTRACE_BRANCH_SOURCE_EMULATED,
	.why = "no CONFIG_UTRACE_BTS_EMULATED",
};

FIXTURE_SETUP(intel)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(intel)
{
	dev_end();
}

TEST_F(intel, as_single_steps)
{
	struct trace steps = {}, records = {};
	pid_t pid = start_work();
	int fd, step_fd, status;
	size_t calls;

	fd = ask_of(pid, variant->tasks);
	if (fd == -EOPNOTSUPP) {
		kill(pid, SIGKILL);
		SKIP(return, "%s", variant->why);
	}
	step_fd = ask_of(pid, UTRACE_BRANCH_SOURCE_STEP);
	is(true, fd >= 0 && step_fd >= 0, "two consumers");
	kill(pid, SIGCONT);
	need(waitpid(pid, &status, 0) == pid, "waitpid");
	is(0, status, "the program ends normally");
	read_on(fd, &records, RECORDS);
	read_on(step_fd, &steps, RECORDS);
	is(0, count_type(&records, UTRACE_BRANCH_LOST) +
	   count_type(&records, UTRACE_BRANCH_GAP), "nothing is missing");
	calls = keep_user(&steps);
	is(calls, keep_user(&records),
	   "both have the same number of system calls");
	holds(calls >= 16, "at least 16 system calls");
	holds(steps.n > 10000, "many branches");
	is(-1, differs_at(&steps, &records), "each branch is the same");
	close(fd);
	close(step_fd);
	free(steps.records);
	free(records.records);
}

TEST_F(intel, cpu_goes_straight_on)
{
	struct trace trace = {};
	size_t i, wrong = 0;
	__u64 at = 0;
	pid_t pid;
	int fd;

	fd = ask((struct utrace_where){ .scope = UTRACE_SCOPE_CPU, .fd = -1 },
		 variant->cpus);
	if (fd == -EOPNOTSUPP)
		SKIP(return, "%s", variant->why);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	pid = fork();
	if (!pid) {
		cpu_set_t set;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&set);
		CPU_SET(0, &set);
		sched_setaffinity(0, sizeof(set), &set);
		for (;;)
			work();
	}
	read_on(fd, &trace, CPU_RECORDS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (i = 0; i < trace.n; i++) {
		const struct utrace_branch *r = &trace.records[i];

		if (type_of(r) == UTRACE_BRANCH && at && !follows(r, at))
			wrong++;
		at = type_of(r) == UTRACE_BRANCH ? r->to : 0;
	}
	holds(trace.n >= CPU_RECORDS, "records come");
	is(0, wrong, "each branch follows the previous one");
	is(0, count_type(&trace, UTRACE_BRANCH_GAP), "the trace has no gap");
	close(fd);
	free(trace.records);
}

TEST_HARNESS_MAIN
