// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: consumers of CPUs
 *
 * The branches are those of the emulated source, see emulated.h.
 */
#include <sys/stat.h>

#include "emulated.h"

#define ONLINE		"/sys/devices/system/cpu/cpu1/online"

/* Ask for a consumer; returns its descriptor, or -errno. */
static int consumer_by(int dev, int cpu, __u32 levels, __u32 full, __u64 capacity)
{
	struct utrace_ioc_branches arg = {
		.where = { .scope = UTRACE_SCOPE_CPU, .fd = -1, .cpu = cpu },
		.levels = levels,
		.full = full,
		.capacity = capacity,
		.source = UTRACE_BRANCH_SOURCE_EMULATED,
	};
	int ret = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);

	return ret < 0 ? -errno : ret;
}

static int consumer_of_cpu(int cpu, __u32 levels, __u32 full, __u64 capacity)
{
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), ret;

	need(dev >= 0, "/dev/utrace");
	ret = consumer_by(dev, cpu, levels, full, capacity);
	close(dev);
	return ret;
}

FIXTURE(cpus) {
};

FIXTURE_SETUP(cpus)
{
	const char *why = dev_begin(_metadata);
	int fd;

	if (why)
		SKIP(return, "%s", why);
	fd = consumer_of_cpu(0, BOTH, UTRACE_FULL_DEFAULT, 0);
	if (fd == -EOPNOTSUPP)
		SKIP(return, "no CONFIG_UTRACE_BTS_EMULATED");
	is(true, fd >= 0, "a consumer of CPU 0");
	close(fd);
}

FIXTURE_TEARDOWN(cpus)
{
	dev_end();
}

/* A task that goes to sleep on CPU 0 again and again. */
static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_to_cpu(0, 0);
	for (;;)
		usleep(1000);
}

TEST_F(cpus, all_levels)
{
	int fd = consumer_of_cpu(0, BOTH, UTRACE_FULL_DEFAULT, 0);
	pid_t sleeper = start_sleeper();
	struct trace trace = {};
	struct seen seen = {};

	/* With PREEMPT_RT only a third of the records are branches. */
	read_for(fd, &trace, 100000, 0);
	kill(sleeper, SIGKILL);
	need(waitpid(sleeper, NULL, 0) == sleeper, "wait");
	see(&seen, &trace, BOTH);
	is(0, seen.wrong, "each branch follows the previous one");
	holds(seen.branches > 20000, "%zu branches", seen.branches);
	is(UTRACE_BRANCH_TASK, type_of(&trace.records[0]),
	   "the first record is TASK");
	holds(seen.tasks > 10, "%zu switches to another task", seen.tasks);
	close(fd);
}

TEST_F(cpus, kernel)
{
	struct trace trace = {};
	struct seen seen = {};
	int fd = consumer_of_cpu(0, UTRACE_LEVEL_KERNEL, UTRACE_FULL_DEFAULT, 0);

	read_for(fd, &trace, 10000, 0);
	see(&seen, &trace, UTRACE_LEVEL_KERNEL);
	is(0, seen.wrong, "each branch follows the previous one, in user mode");
	close(fd);
}

/* No address of the kernel; system calls are recorded, interrupts are not. */
TEST_F(cpus, user)
{
	size_t i, wrong = 0, calls = 0, returns = 0;
	struct utrace_branch *record;
	struct trace trace = {};
	int fd = consumer_of_cpu(0, UTRACE_LEVEL_USER, UTRACE_FULL_DEFAULT, 0);

	read_for(fd, &trace, 60000, 0);
	for (i = 0; i < trace.n; i++) {
		record = &trace.records[i];
		if (type_of(record) != UTRACE_BRANCH)
			continue;
		if (record->to == UTRACE_PC_SYSCALL)
			calls++;
		else if (record->from == UTRACE_PC_SYSCALL)
			returns++;
		else
			wrong += is_kernel(record->from) || is_kernel(record->to);
	}
	is(0, wrong, "no address of the kernel");
	holds(calls > 500, "%zu system calls", calls);
	holds(calls - returns <= 1, "each system call returns");
	close(fd);
}

/*
 * A reader that is too slow: missing records are counted where they are
 * missing.
 */
TEST_F(cpus, slow)
{
	struct trace trace = {};
	struct seen seen = {};
	int fd = consumer_of_cpu(0, BOTH, UTRACE_FULL_DEFAULT, 1);

	read_for(fd, &trace, 8000, 50);
	see(&seen, &trace, BOTH);
	holds(seen.lost > 1000, "%llu records are lost", seen.lost);
	is(0, seen.wrong, "no other branch is missing");
	holds(seen.missing < seen.lost / 10,
	      "%llu of these records were no branches",
	      seen.missing);
	close(fd);
}

TEST_F(cpus, last)
{
	struct trace trace = {};
	struct seen seen = {};
	int fd = consumer_of_cpu(0, BOTH, UTRACE_FULL_OVERWRITE, 512);

	usleep(500000);
	read_for(fd, &trace, 400, 0);
	is(UTRACE_BRANCH_LOST, type_of(&trace.records[0]),
	   "the first record is LOST");
	holds(trace.records[0].from > 1000, "%llu earlier records",
	      trace.records[0].from);
	is(UTRACE_BRANCH_TASK, type_of(&trace.records[1]),
	   "TASK names the task of the next records");
	see(&seen, &trace, BOTH);
	is(0, seen.wrong, "each branch follows the previous one");
	close(fd);
}

/* Two consumers of one CPU attach and detach while a third one reads. */
TEST_F(cpus, unaware)
{
	struct trace trace = {};
	struct seen seen = {};
	int fd, status, others[2], i;
	pid_t pid;

	fd = consumer_of_cpu(0, BOTH, UTRACE_FULL_DEFAULT, 1 << 18);
	pid = fork();
	if (!pid) {
		for (i = 0; i < 50; i++) {
			others[0] = consumer_of_cpu(0, UTRACE_LEVEL_KERNEL,
						    UTRACE_FULL_OVERWRITE, 0);
			others[1] = consumer_of_cpu(0, UTRACE_LEVEL_USER,
						    UTRACE_FULL_DEFAULT, 1);
			if (others[0] < 0 || others[1] < 0)
				_exit(1);
			usleep(1000);
			close(others[i & 1]);
			close(others[!(i & 1)]);
		}
		_exit(0);
	}
	read_for(fd, &trace, 20000, 0);
	need(waitpid(pid, &status, 0) == pid, "wait");
	is(0, status, "consumers attach and detach");
	see(&seen, &trace, BOTH);
	is(0, seen.wrong, "the third consumer has no wrong record");
	is(0, seen.lost, "the third consumer loses nothing");
	close(fd);
}

static bool switch_cpu(const char *to)
{
	int fd = open(ONLINE, O_WRONLY);
	bool good = fd >= 0 && write(fd, to, 1) == 1;

	close(fd);
	return good;
}

TEST_F(cpus, offline)
{
	struct pollfd over = { .events = POLLIN };
	struct trace trace = {};
	struct seen seen = {};
	int fd;

	if (access(ONLINE, W_OK))
		SKIP(return, "CPU 1 stays online");
	over.fd = consumer_of_cpu(1, BOTH, UTRACE_FULL_DEFAULT, 1 << 18);
	need(over.fd >= 0, "CPU 1");
	need(switch_cpu("0"), "offline");
	poll(&over, 1, DEADLINE_MS);
	holds(over.revents & POLLHUP, "poll() reports the end");
	read_on(over.fd, &trace, SIZE_MAX);
	see(&seen, &trace, BOTH);
	is(0, seen.wrong, "earlier records can be read");
	is(-ENODEV, consumer_of_cpu(1, BOTH, 0, 0),
	   "refused: the CPU is not online");
	need(switch_cpu("1"), "online");
	close(over.fd);
	fd = consumer_of_cpu(1, BOTH, UTRACE_FULL_DEFAULT, 0);
	holds(fd >= 0, "the CPU can be followed again");
	trace.n = 0;
	read_for(fd, &trace, 1000, 0);
	holds(trace.n >= 1000, "the CPU has branches again");
	close(fd);
}

TEST_F(cpus, refused)
{
	struct utrace_ioc_branches arg = {
		.where = { .scope = UTRACE_SCOPE_CPU, .fd = -1 },
		.full = UTRACE_FULL_STOP,
		.source = UTRACE_BRANCH_SOURCE_EMULATED,
	};
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), fd;

	is(-EOPNOTSUPP, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a CPU that waits");
	arg.full = UTRACE_FULL_DROP;
	arg.source = UTRACE_BRANCH_SOURCE_STEP;
	is(-EOPNOTSUPP, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a CPU by single steps");
	arg.source = UTRACE_BRANCH_SOURCE_ANY;
	is(-EOPNOTSUPP, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: emulated branches, if not asked for");
	arg.where.fd = 0;
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a descriptor beside a CPU");
	arg.where.fd = -1;
	arg.flags = UTRACE_BRANCHES_F_MAPPED;
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a mapped ring");
	arg.flags = 0;
	arg.source = 9;
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: an unknown source");
	is(-ENODEV, consumer_of_cpu(-1, BOTH, 0, 0), "refused: CPU -1");
	is(-ENODEV, consumer_of_cpu(100000, BOTH, 0, 0), "refused: CPU 100000");
	is(-EINVAL, consumer_of_cpu(0, BOTH, 0, 1 << 21),
	   "refused: a ring that is too large");
	is(-EINVAL, consumer_of_cpu(0, 4, 0, 0), "refused: an unknown level");
	fd = consumer_of_cpu(0, BOTH, UTRACE_FULL_DEFAULT, 0);
	holds(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd,
		   UTRACE_MAP_RINGS) == MAP_FAILED && errno == EINVAL,
	      "the ring of a CPU is not mapped");
	close(fd);
	close(dev);
}

static int try_as_nobody(void *unused)
{
	struct utrace_ioc_branches arg = {
		.where.scope = UTRACE_SCOPE_THREAD,
		.full = UTRACE_FULL_OVERWRITE,
		.levels = UTRACE_LEVEL_KERNEL,
	};
	int dev;

	become_nobody();
	is(-EPERM, consumer_of_cpu(0, UTRACE_LEVEL_USER, 0, 0),
	   "refused: a CPU");
	dev = open("/dev/utrace", O_RDWR | O_CLOEXEC);
	arg.where.fd = pidfd_of(getpid(), 0);
	is(-EPERM, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: the kernel's branches");
	arg.levels = UTRACE_LEVEL_USER;
	holds(command(dev, UTRACE_IOC_BRANCHES, &arg) >= 0,
	      "allowed: its own branches");
	return dev_test->exit_code;
}

/* Without privileges, a user has neither CPUs nor the kernel. */
TEST_F(cpus, rights)
{
	need(!set_unprivileged("1"), "the sysctl");
	need(!chmod("/dev/utrace", 0666), "the device");
	is(0, in_child(try_as_nobody, NULL),
	   "the checks of a user without privileges");
	set_unprivileged("0");
}

/* Read something; returns how many bytes, or -errno. */
static ssize_t try_read(int fd)
{
	struct utrace_branch some[256];
	ssize_t got = read(fd, some, sizeof(some));

	return got < 0 ? -errno : got;
}

static int try_with_perfmon(void *unused)
{
	int dev, fd;

	keep_only(CAP_PERFMON);
	/* So that the CPU makes branches. */
	pin_to_cpu(0, 0);
	dev = open("/dev/utrace", O_RDWR | O_CLOEXEC);
	need(dev >= 0, "/dev/utrace");
	fd = consumer_by(dev, 0, BOTH, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	holds(try_read(fd) > 0, "1: a CPU has branches");
	have_sysctl(UNPRIVILEGED, "0");
	is(-EPERM, try_read(fd), "0: a read is refused");
	is(-EPERM, consumer_by(dev, 0, BOTH, UTRACE_FULL_DEFAULT, 0),
	   "0: another consumer of the session is refused");
	have_sysctl(UNPRIVILEGED, "1");
	holds(try_read(fd) > 0, "1: the CPU has branches again");
	close(fd);
	close(dev);
	return dev_test->exit_code;
}

/* CAP_PERFMON does for a CPU, as long as its user may have the device. */
TEST_F(cpus, sysctl)
{
	need(!set_unprivileged("1"), "the sysctl");
	need(!chmod("/dev/utrace", 0666), "the device");
	is(0, in_child_with_sysctls(try_with_perfmon, NULL),
	   "the checks of a user with CAP_PERFMON");
	set_unprivileged("0");
}

TEST_HARNESS_MAIN
