// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: threads that CPUs record
 *
 * The branches are those of the emulated source, see emulated.h, which makes some
 * wherever a thread that is followed runs user code.
 */
#include <sys/stat.h>

#include "emulated.h"
#include "tasks.h"

#define ONLINE	"/sys/devices/system/cpu/cpu1/online"

/* Memory that the tests share with their children. */
static struct {
	unsigned long rounds;
	int stop;
} *shared;

static int track(pid_t pid, struct utrace_ioc_branches arg)
{
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), ret;

	need(dev >= 0, "/dev/utrace");
	if (!arg.source)
		arg.source = UTRACE_BRANCH_SOURCE_EMULATED;
	if (!arg.where.scope)
		arg.where.scope = UTRACE_SCOPE_THREAD;
	arg.where.fd = pidfd_of(pid, 0);
	ret = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	ret = ret < 0 ? -errno : ret;
	close(arg.where.fd);
	close(dev);
	return ret;
}

static int track_levels(pid_t pid, __u32 levels)
{
	int fd = track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_PROCESS, .levels = levels,
			.capacity = 1 << 18,
		});

	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	return fd;
}

/* Rounds of a loop in user mode. */
static void loop(unsigned int n)
{
	while (n--)
		asm volatile("" : "+r"(n));
}

/* Run user code, with a system call now and then. */
static void run(void)
{
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		loop(20000);
		__atomic_add_fetch(&shared->rounds, 1, __ATOMIC_RELAXED);
		getppid();
	}
}

static pid_t start_running(int cpu)
{
	pid_t pid;

	shared->stop = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin_to_cpu(0, cpu);
		run();
		_exit(0);
	}
	need(pid > 0, "fork");
	return pid;
}

static int end(pid_t pid)
{
	int status;

	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	need(waitpid(pid, &status, 0) == pid, "waitpid");
	return status;
}

static struct utrace_ioc_branch_info told(int fd)
{
	struct utrace_ioc_branch_info info;

	need(!ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info), "BRANCH_INFO");
	return info;
}

/* Returns why the tests cannot run, or NULL. */
static const char *begin(struct __test_metadata *test)
{
	const char *why = dev_begin(test);
	int fd;

	if (why)
		return why;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(shared != MAP_FAILED, "memory");
	fd = track(getppid(), (struct utrace_ioc_branches){
			.full = UTRACE_FULL_OVERWRITE });
	if (fd == -EOPNOTSUPP)
		return "no CONFIG_UTRACE_BTS_EMULATED";
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	close(fd);
	return NULL;
}

FIXTURE(tracks) {
};

FIXTURE_SETUP(tracks)
{
	const char *why = begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(tracks)
{
	dev_end();
}

FIXTURE_VARIANT(tracks) {
	__u32 levels;
};

FIXTURE_VARIANT_ADD(tracks, user) { .levels = UTRACE_LEVEL_USER };
FIXTURE_VARIANT_ADD(tracks, kernel) { .levels = UTRACE_LEVEL_KERNEL };
FIXTURE_VARIANT_ADD(tracks, both) { .levels = BOTH };

/* All of a thread, from its START to its END. */
TEST_F(tracks, whole)
{
	struct trace trace = {};
	struct seen seen = {};
	pid_t pid = start_running(0);
	int fd = track_levels(pid, variant->levels);

	read_for(fd, &trace, 20000, 0);
	is(UTRACE_BRANCH_SOURCE_EMULATED, told(fd).source,
	   "the source is the emulated one");
	is(0, end(pid), "the task ends normally");
	read_on(fd, &trace, SIZE_MAX);
	see(&seen, &trace, variant->levels);
	is(UTRACE_BRANCH_TASK, type_of(&trace.records[0]),
	   "the first record is TASK");
	is(UTRACE_BRANCH_START, type_of(&trace.records[1]),
	   "the second record is START");
	is(UTRACE_BRANCH_END, type_of(&trace.records[trace.n - 1]),
	   "the last record is END");
	is(1, seen.tasks, "one task");
	is(0, seen.wrong, "each branch follows the previous one");
	is(0, seen.lost, "nothing is lost");
	holds(seen.branches > 10000, "%zu branches", seen.branches);
	if (variant->levels == UTRACE_LEVEL_USER)
		holds(seen.calls > 100, "%zu entries of the kernel and exits",
		      seen.calls);
	close(fd);
}

/* The last records, while the thread runs and after that. */
TEST_F(tracks, last)
{
	pid_t pid = start_running(0);
	struct utrace_ioc_branches arg = {
		.where.scope = UTRACE_SCOPE_PROCESS,
		.levels = variant->levels,
		.full = UTRACE_FULL_OVERWRITE,
		.capacity = 512,
	};
	struct trace trace = {};
	struct seen seen = {};
	int fd = track(pid, arg);

	usleep(500000);
	read_for(fd, &trace, 400, 0);
	is(UTRACE_BRANCH_LOST, type_of(&trace.records[0]),
	   "the first record is LOST");
	is(UTRACE_BRANCH_TASK, type_of(&trace.records[1]),
	   "TASK names the task of the next records");
	is(0, end(pid), "the task ends");
	read_on(fd, &trace, SIZE_MAX);
	see(&seen, &trace, variant->levels);
	is(0, seen.wrong, "each branch follows the previous one");
	is(1, seen.ends, "one END");
	close(fd);
}

/* A reader that is too slow, of a thread that does not wait. */
TEST_F(tracks, drop)
{
	pid_t pid = start_running(0);
	struct utrace_ioc_branches arg = {
		.where.scope = UTRACE_SCOPE_PROCESS,
		.levels = variant->levels,
		.full = UTRACE_FULL_DROP,
		.capacity = 512,
	};
	struct trace trace = {};
	struct seen seen = {};
	int fd = track(pid, arg), i;

	for (i = 0; i < 300 && told(fd).lost < 1000; i++)
		usleep(10000 * ut_patience());
	read_for(fd, &trace, 8000, 10);
	is(0, end(pid), "the task ends");
	read_on(fd, &trace, SIZE_MAX);
	see(&seen, &trace, variant->levels);
	holds(seen.lost > 1000, "%llu records are lost", seen.lost);
	is(0, seen.wrong, "no other branch is missing");
	close(fd);
}

/* The thread moves from CPU to CPU all the time. */
TEST_F(tracks, migrates)
{
	struct trace trace = {};
	struct seen seen = {};
	pid_t pid;
	int fd, i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	if (variant->levels != BOTH)
		SKIP(return, "each CPU of the source is somewhere else");
	shared->stop = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = 0; !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED); i++) {
			pin_to_cpu(0, i % 2);
			loop(100000);
		}
		_exit(0);
	}
	fd = track_levels(pid, BOTH);
	read_for(fd, &trace, 40000, 0);
	is(0, end(pid), "the task ends");
	read_on(fd, &trace, SIZE_MAX);
	see(&seen, &trace, BOTH);
	is(0, seen.wrong, "each branch follows the previous one of its CPU");
	holds(seen.begun[0] && seen.begun[1], "both CPUs have branches");
	is(1, seen.ends, "one END");
	close(fd);
}

FIXTURE(thread) {
};

FIXTURE_SETUP(thread)
{
	const char *why = begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(thread)
{
	dev_end();
}

/* Check whether the task runs code of the program. */
static bool gets_on(void)
{
	unsigned long before = __atomic_load_n(&shared->rounds,
					       __ATOMIC_RELAXED);

	usleep(200000 * ut_patience());
	return __atomic_load_n(&shared->rounds, __ATOMIC_RELAXED) != before;
}

/* A consumer of user mode with a small ring, for which the task waits. */
static int make_wait(pid_t pid)
{
	int fd = track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_PROCESS, .capacity = 512,
		}), i;

	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	for (i = 0; i < 500 && !told(fd).waiting; i++)
		usleep(10000);
	is(1, told(fd).waiting, "the task waits for room");
	return fd;
}

/* A slow reader: the task waits, and nothing is lost. */
TEST_F(thread, waits)
{
	struct trace trace = {};
	struct seen seen = {};
	pid_t pid = start_running(0);
	int fd = make_wait(pid);
	unsigned long rounds;

	holds(!gets_on(), "the task runs no user code");
	rounds = shared->rounds;
	read_for(fd, &trace, 20000, 5);
	holds(__atomic_load_n(&shared->rounds, __ATOMIC_RELAXED) != rounds,
	      "the task goes on when records are read");
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	read_on(fd, &trace, SIZE_MAX);
	is(0, end(pid), "the task ends");
	see(&seen, &trace, UTRACE_LEVEL_USER);
	is(0, seen.wrong, "each branch follows the previous one");
	is(0, seen.lost, "nothing is lost");
	is(0, told(fd).lost + told(fd).gaps, "BRANCH_INFO reports no loss");
	holds(seen.branches > 10000, "%zu branches", seen.branches);
	close(fd);
}

/* The records that a killed task has left in its stage are not lost. */
TEST_F(thread, killed)
{
	pid_t pid = start_running(0);
	struct trace trace = {};
	struct seen seen = {};
	int fd = make_wait(pid);

	kill(pid, SIGKILL);
	is(SIGKILL, end(pid), "a task that waits is killed");
	read_on(fd, &trace, SIZE_MAX);
	see(&seen, &trace, UTRACE_LEVEL_USER);
	is(0, seen.wrong, "each branch follows the previous one");
	holds(seen.branches > 1000, "%zu branches", seen.branches);
	is(0, seen.lost, "nothing is lost");
	is(1, seen.ends, "one END");
	close(fd);
}

static void *spin(void *unused)
{
	run();
	return NULL;
}

/*
 * More threads than stages are kept for end while nobody reads: the others count
 * what they lose.
 */
TEST_F(thread, heirs)
{
	struct trace trace = {};
	struct seen seen = {};
	pthread_t threads[100];
	struct pollfd over;
	int i, n = 100;
	pid_t pid;

	shared->stop = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = 0; i < n; i++)
			pthread_create(&threads[i], NULL, spin, NULL);
		pause();
	}
	over = (struct pollfd){
		.fd = track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_PROCESS, .capacity = 512,
		}),
		.events = POLLIN,
	};
	need(over.fd >= 0, "UTRACE_IOC_BRANCHES");
	for (i = 0; i < 1000 && told(over.fd).waiting < 80; i++)
		usleep(20000);
	holds(told(over.fd).waiting >= 80, "%d threads wait",
	      told(over.fd).waiting);
	kill(pid, SIGKILL);
	is(SIGKILL, end(pid), "they are killed");
	for (;;) {
		poll(&over, 1, DEADLINE_MS);
		if (!(over.revents & POLLIN))
			break;
		read_on(over.fd, &trace, trace.n + 1);
	}
	is(POLLHUP, over.revents, "poll() reports the end");
	see(&seen, &trace, 0);
	holds(seen.ends >= 64 && seen.ends < 101, "%zu ends", seen.ends);
	holds(seen.lost > 1000 && seen.lost == told(over.fd).lost,
	      "%llu records are lost, and counted", seen.lost);
	close(over.fd);
}

static void *execute(void *unused)
{
	run();
	execl("/bin/true", "true", NULL);
	return NULL;
}

/* The number of records of one task, with those reported as lost. */
static __u64 all_of(const struct task *task)
{
	__u64 n = 0;
	size_t i;

	for (i = 0; task && i < task->trace.n; i++)
		n += type_of(&task->trace.records[i]) == UTRACE_BRANCH_LOST ?
		     task->trace.records[i].from : 1;
	return n;
}

/*
 * A thread executes a program when no record has been read for long, and so
 * takes over the pid of the leader.  Its earlier records keep its former pid.
 */
TEST_F(thread, executes)
{
	static struct tasks tasks;
	struct trace trace = {};
	struct task *leader;
	pthread_t thread;
	__u64 before;
	pid_t pid;
	int fd;

	shared->stop = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, execute, NULL);
		for (;;)
			pause();
	}
	fd = track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_PROCESS,
			.full = UTRACE_FULL_DROP, .capacity = 512,
		});
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	sleep(2 * ut_patience());
	is(0, end(pid), "the program is executed, and ends");
	read_on(fd, &trace, SIZE_MAX);
	split(&trace, &tasks);
	leader = find_task(&tasks, pid);
	is(2, tasks.n, "records of two tasks");
	need(tasks.n == 2 && leader, "the leader");
	before = all_of(&tasks.task[leader == tasks.task]);
	holds(before > 10000, "the thread has done %llu branches", before);
	holds(all_of(leader) < before / 2,
	      "the program has done %llu branches", all_of(leader));
	free_tasks(&tasks);
	free(trace.records);
	close(fd);
}

/*
 * The reader closes its descriptor: the task goes on, with and without a copy.
 */
TEST_F(thread, left)
{
	pid_t pid = start_running(0);
	int fd = make_wait(pid);

	close(fd);
	holds(gets_on(), "the task goes on");
	fd = make_wait(pid);
	close(fd);
	holds(gets_on(), "the task goes on a second time");
	is(0, end(pid), "the task ends normally");
}

/*
 * Several consumers of one thread, one of them by single steps, which see the
 * branches that the program has really taken.
 */
TEST_F(thread, unaware)
{
	struct trace trace = {}, steps = {}, last = {};
	struct seen seen = {}, seen_last = {};
	pid_t pid = start_running(0);
	int fd, others[2];

	fd = track_levels(pid, UTRACE_LEVEL_USER);
	read_for(fd, &trace, 5000, 0);
	/* While it steps, the thread is in the kernel nearly all the time. */
	others[0] = track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_PROCESS,
			.source = UTRACE_BRANCH_SOURCE_STEP,
			.capacity = 1 << 20,
		});
	others[1] = track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_PROCESS,
			.full = UTRACE_FULL_OVERWRITE,
			.levels = BOTH, .capacity = 1024,
		});
	need(others[0] >= 0 && others[1] >= 0, "UTRACE_IOC_BRANCHES");
	read_for(others[0], &steps, 5000, 0);
	close(others[0]);
	read_for(fd, &trace, 10000, 0);
	is(0, end(pid), "the task ends");
	read_on(fd, &trace, SIZE_MAX);
	read_on(others[1], &last, SIZE_MAX);
	see(&seen, &trace, UTRACE_LEVEL_USER);
	see(&seen_last, &last, BOTH);
	is(0, seen.wrong + seen.lost,
	   "one consumer has all branches of user mode");
	is(0, seen_last.wrong, "one has the last branches");
	holds(is_gapless(&steps), "one has the steps, without a gap");
	close(fd);
	close(others[1]);
}

/* A tree of processes that start, execute a program, and end. */
TEST_F(thread, tree)
{
	struct trace trace = {};
	struct seen seen = {};
	pid_t pid;
	int fd, i;

	shared->stop = 0;
	pid = fork();
	if (!pid) {
		while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
			usleep(1000);
		for (i = 0; i < 30; i++) {
			if (!fork()) {
				if (i % 3 == 0)
					execl("/bin/true", "true", NULL);
				if (i % 3 == 1)
					raise(SIGKILL);
				_exit(0);
			}
			if (i % 2)
				wait(NULL);
		}
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	fd = track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_TREE, .levels = BOTH,
		});
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	is(0, end(pid), "the tree ends");
	read_on(fd, &trace, SIZE_MAX);
	see(&seen, &trace, 0);
	holds(seen.starts >= 21 && seen.starts <= 31, "%zu begins", seen.starts);
	is(seen.starts, seen.ends, "each START has its END");
	close(fd);
}

/* Consumers end while their task sleeps, and must have no effect then. */
TEST_F(thread, sleeps)
{
	pid_t pid = fork();
	int fd, i, status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	for (i = 0; i < 100; i++) {
		fd = track(pid, (struct utrace_ioc_branches){
				.where.scope = UTRACE_SCOPE_PROCESS, .levels = i % 4,
			});
		if (fd < 0)
			break;
		close(fd);
	}
	is(100, i, "consumers are opened and closed");
	kill(pid, SIGKILL);
	need(waitpid(pid, &status, 0) == pid, "waitpid");
	is(SIGKILL, status, "the task is killed");
}

static void *come_and_go(void *arg)
{
	int fd;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		fd = track(*(pid_t *)arg, (struct utrace_ioc_branches){
				.where.scope = UTRACE_SCOPE_TREE,
				.levels = rand() % 4,
				.full = rand() % 2 ? UTRACE_FULL_OVERWRITE : 0,
				.capacity = 512,
			});
		usleep(rand() % 3000);
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

/*
 * Consumers are opened and closed at any time of tasks that fork, execute, take
 * signals and move.
 */
TEST_F(thread, storm)
{
	pthread_t threads[3];
	pid_t pid;
	int i, status;

	shared->stop = 0;
	pid = fork();
	if (!pid) {
		signal(SIGALRM, SIG_IGN);
		for (i = 0; !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED); i++) {
			pid_t child = fork();

			if (!child) {
				loop(30000);
				if (i % 3 == 0)
					execl("/bin/true", "true", NULL);
				_exit(0);
			}
			sched_yield();
			if (i % 3 == 1)
				kill(child, i % 2 ? SIGKILL : SIGTERM);
			waitpid(child, NULL, 0);
			pin_to_cpu(0, i % sysconf(_SC_NPROCESSORS_ONLN));
		}
		_exit(0);
	}
	for (i = 0; i < 3; i++)
		need(!pthread_create(&threads[i], NULL, come_and_go, &pid),
		     "thread");
	sleep((ut_is_slow() ? 8 : 4) * ut_patience());
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	need(waitpid(pid, &status, 0) == pid, "waitpid");
	is(0, status, "the tasks end normally");
}

static bool switch_cpu(const char *to)
{
	int fd = open(ONLINE, O_WRONLY);
	bool good = fd >= 0 && write(fd, to, 1) == 1;

	close(fd);
	return good;
}

/* A CPU goes offline and online again while a thread is followed. */
TEST_F(thread, hotplug)
{
	struct trace trace = {};
	struct seen seen = {};
	pid_t pid;
	int fd, i;

	if (access(ONLINE, W_OK))
		SKIP(return, "CPU 1 stays online");
	pid = start_running(1);
	fd = track_levels(pid, BOTH);
	read_for(fd, &trace, 3000, 0);
	for (i = 0; i < 3; i++) {
		need(switch_cpu("0"), "offline");
		read_for(fd, &trace, trace.n + 3000, 0);
		need(switch_cpu("1"), "online");
	}
	is(0, end(pid), "the task ends");
	read_on(fd, &trace, SIZE_MAX);
	see(&seen, &trace, BOTH);
	is(0, seen.wrong, "each branch follows the previous one of its CPU");
	is(1, seen.ends, "one END");
	close(fd);
}

TEST_F(thread, refused)
{
	pid_t pid = start_running(0);

	is(-EOPNOTSUPP, track(pid, (struct utrace_ioc_branches){
			.levels = BOTH, .full = UTRACE_FULL_STOP }),
	   "refused: a task that waits in the kernel");
	is(-EINVAL, track(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_SYSTEM }),
	   "refused: the system scope");
	is(-EOPNOTSUPP, track(pid, (struct utrace_ioc_branches){
			.source = UTRACE_BRANCH_SOURCE_INTEL }),
	   "refused: a source that the CPUs lack");
	is(-EDEADLK, track(getpid(), (struct utrace_ioc_branches){}),
	   "refused: a reader that would wait for itself");
	end(pid);
}

static int try_as_nobody(void *unused)
{
	become_nobody();
	is(-EPERM, track(getpid(), (struct utrace_ioc_branches){
			.full = UTRACE_FULL_OVERWRITE }),
	   "refused: branches by CPU");
	return dev_test->exit_code;
}

TEST_F(thread, rights)
{
	need(!set_unprivileged("1"), "the sysctl");
	need(!chmod("/dev/utrace", 0666), "the device");
	is(0, in_child(try_as_nobody, NULL),
	   "the checks of a user without privileges");
	set_unprivileged("0");
}

TEST_HARNESS_MAIN
