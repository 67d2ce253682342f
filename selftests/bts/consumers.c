// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: consumers, their rings and their readers
 */
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "branches.h"

/* Check whether the target has carried out its order. */
static bool is_told(struct target *target, enum who who)
{
	struct pollfd answer = { .fd = target->from[who][0], .events = POLLIN };

	return poll(&answer, 1, 0) > 0;
}

/* The state of a task in /proc/PID/stat. */
static int state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	need(file && fscanf(file, "%*d %*s %c", &state) == 1, path);
	fclose(file);
	return state;
}

/* Check that /proc/PID/utrace names @reader, for which the task waits. */
static bool awaits(pid_t pid, pid_t reader)
{
	char path[32], line[256], whom[32], want[32];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/utrace", pid);
	snprintf(want, sizeof(want), "pid:%d", reader);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "branches %*s %*s %*s %*s %*s %*s %*s %31s",
			   whom) == 1)
			found = !strcmp(whom, want);
	fclose(file);
	return found;
}

/* Start a task whose ring is full and that makes more records. */
static int start_waiting(struct target *target)
{
	int fd;

	start(target);
	fd = consumer(target->pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 1);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	tell(target, SELF, make_branches, 20000);
	usleep(300000 * ut_patience());
	holds(!is_told(target, SELF), "the task waits for room");
	is('t', state_of(target->pid), "the task sleeps in a trace stop");
	holds(awaits(target->pid, getpid()),
	      "/proc names the reader it waits for");
	return fd;
}

/* BRANCH_INFO of a consumer. */
static struct utrace_ioc_branch_info told(int fd)
{
	struct utrace_ioc_branch_info info;

	need(!ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info), "BRANCH_INFO");
	return info;
}

TEST_F(dev, refused)
{
	struct utrace_ioc_branches arg = {
		.where = { .scope = UTRACE_SCOPE_THREAD, .fd = -1 },
	};
	struct target target;
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC);

	start(&target);
	is(-EBADF, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: no descriptor");
	is(-EINVAL, consumer(target.pid, UTRACE_SCOPE_SYSTEM, 0, 0),
	   "refused: the system");
	is(-EINVAL, consumer(target.pid, 0, 0, 0), "refused: no scope");
	is(-EINVAL, consumer(target.pid, UTRACE_SCOPE_THREAD, 4, 0),
	   "refused: an unknown policy");
	is(-EINVAL, consumer(target.pid, UTRACE_SCOPE_THREAD, 0,
			     1ULL << 40), "refused: a ring without bounds");
	arg.where.reserved = 1;
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a reserved member");
	close(dev);
	stop(&target);
}

/* A process that would wait for its own reads, and one that does not wait. */
TEST_F(dev, itself)
{
	int fd;

	is(-EDEADLK, consumer(getpid(), UTRACE_SCOPE_THREAD, UTRACE_FULL_DEFAULT,
			      0), "refused: itself");
	is(-EDEADLK, consumer(getpid(), UTRACE_SCOPE_TREE, UTRACE_FULL_DEFAULT,
			      0), "refused: itself, with its children");
	fd = consumer(getpid(), UTRACE_SCOPE_THREAD, UTRACE_FULL_OVERWRITE, 0);
	holds(fd >= 0, "a process gets its own last branches");
	close(fd);
}

/* A user without privileges, whose process becomes one that he may not see. */
static int see_less(void)
{
	struct target target;
	struct trace all = {};
	int fd;

	become_nobody();
	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 300);
	have(&target, SELF, set_dumpable, 0);
	have(&target, SELF, make_branches, 3000);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	is(1, count_type(&all, UTRACE_BRANCH_HIDDEN), "one HIDDEN");
	is(0, count_type(&all, UTRACE_BRANCH_END), "no END");
	is(UTRACE_BRANCH_HIDDEN, type_of(&all.records[all.n - 1]),
	   "the last record is HIDDEN");
	holds(all.n > 300 && all.n < 3000,
	      "the branches before that are recorded");
	return dev_test->exit_code;
}

TEST_F(dev, hidden)
{
	int status;
	pid_t pid;

	need(!set_unprivileged("1"), "the sysctl");
	need(!chmod("/dev/utrace", 0666), "the device");
	pid = fork();
	if (!pid)
		exit(see_less());
	need(waitpid(pid, &status, 0) == pid, "wait");
	is(0, status, "the checks of a user without privileges");
	set_unprivileged("0");
}

/* A read into memory that cannot be written takes nothing. */
TEST_F(dev, bad_memory)
{
	const size_t size = sizeof(struct utrace_branch);
	struct trace all = {};
	struct target target;
	ssize_t got;
	char *end;
	int fd;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 1000);
	end = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(end != MAP_FAILED && !munmap(end + 2 * 4096, 4096), "mmap");
	end += 2 * 4096;
	is(-1, read(fd, end, 4096), "a read without memory fails");
	is(EFAULT, errno, "it fails with EFAULT");
	got = read(fd, end - 300 * size, 1000 * size);
	holds(got > 0 && got <= 300 * (ssize_t)size,
	      "a read with memory for some records");
	all.n = got / size;
	all.records = malloc(got);
	memcpy(all.records, end - 300 * size, got);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	holds(all.n > 1000 && type_of(all.records) == UTRACE_BRANCH_TASK &&
	      is_gapless(&all), "each record is read");
	close(fd);
	stop(&target);
}

/* One consumer keeps all branches, the other the last ones. */
TEST_F(dev, last_of_all)
{
	struct trace all = {}, last = {};
	struct target target;
	int fd, fd_last;
	bool same = true;
	size_t i, n;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT,
		      1 << 16);
	fd_last = consumer(target.pid, UTRACE_SCOPE_PROCESS,
			   UTRACE_FULL_OVERWRITE, 512);
	need(fd >= 0 && fd_last >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 5000);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	read_on(fd_last, &last, SIZE_MAX);
	holds(all.n > 5000, "one consumer has all branches");
	is(514, last.n, "the other has the last branches");
	is(UTRACE_BRANCH_LOST, type_of(&last.records[0]),
	   "the first record is LOST");
	is(all.n - 512, last.records[0].from, "LOST has their number");
	is(all.n - 512, told(fd_last).overwritten,
	   "BRANCH_INFO has their number, too");
	is(UTRACE_LOSS_OVERWRITTEN, UTRACE_BRANCH_LOSS(last.records[0].info),
	   "LOST has the cause");
	is(UTRACE_BRANCH_TASK, type_of(&last.records[1]),
	   "TASK names their task");
	n = all.n < 512 ? all.n : 512;
	for (i = 1; i <= n; i++)
		same &= !memcmp(&all.records[all.n - i],
				&last.records[last.n - i],
				sizeof(all.records[0]));
	holds(same, "the last branches are the end of all");
	holds(is_gapless(&all), "the trace has no gap");
	stop(&target);
	close(fd);
	close(fd_last);
}

/* The reader takes some records of a thread; records of another thread replace the rest. */
TEST_F(dev, last_of_threads)
{
	struct target target;
	struct trace last = {};
	int fd;

	start(&target);
	have_more(&target, THREAD);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_OVERWRITE, 1);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 400);
	settle(&target, SELF);
	read_on(fd, &last, 1);
	holds(last.n > 1 && type_of(&last.records[0]) == UTRACE_BRANCH_TASK,
	      "records of the first thread");
	last.n = 0;
	have(&target, THREAD, make_branches, 2000);
	settle(&target, THREAD);
	read_on(fd, &last, 514);
	is(514, last.n, "the last records of the other thread");
	is(UTRACE_BRANCH_LOST, type_of(&last.records[0]),
	   "the first record is LOST");
	holds(last.records[0].from >= 2000 - 512, "%llu earlier records",
	      last.records[0].from);
	is(UTRACE_BRANCH_TASK, type_of(&last.records[1]), "TASK names a task");
	is(target.tid[THREAD], last.records[1].from & 0xffffffff,
	   "it is the other thread");
	close(fd);
	stop(&target);
}

/* A thread that executes a program has the pid of its process from then on. */
TEST_F(dev, exec_of_a_thread)
{
	struct target target;
	struct trace all = {};
	int fd;

	start(&target);
	have_more(&target, THREAD);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 400);
	have(&target, THREAD, make_branches, 400);
	tell(&target, THREAD, execute_true, 0);
	read_on(fd, &all, SIZE_MAX);
	is(3, count_type(&all, UTRACE_BRANCH_START),
	   "two threads and the program begin");
	is(2, count_type(&all, UTRACE_BRANCH_END),
	   "the leader and the program end");
	is(UTRACE_BRANCH_END, type_of(&all.records[all.n - 1]),
	   "the last record is END");
	is(1, count_from(&all, UTRACE_PC_EXEC), "one execve() is recorded");
	close(fd);
	stop(&target);
}

/* The ring is small and its reader slow: the task waits, and nothing is lost. */
TEST_F(dev, waits_for_the_reader)
{
	struct target target;
	struct trace all = {};
	size_t before;
	int fd;

	fd = start_waiting(&target);
	is(512, told(fd).capacity, "the size of the ring");
	is(512, told(fd).written, "the ring is full");
	is(1, told(fd).waiting, "one thread waits");
	while (all.n < 20000) {
		before = all.n;
		read_on(fd, &all, before + 1);
		if (before / 4000 != all.n / 4000)
			usleep(50000);
	}
	hear(&target, SELF);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	is(0, count_type(&all, UTRACE_BRANCH_LOST), "nothing is lost");
	is(0, told(fd).lost, "BRANCH_INFO reports no loss");
	is(all.n, told(fd).written, "BRANCH_INFO has the number of records");
	holds(is_gapless(&all), "the trace has no gap");
	is(1, count_type(&all, UTRACE_BRANCH_END), "one END");
	close(fd);
	stop(&target);
}

/* A task stops waiting for room when its reader closes the descriptor. */
TEST_F(dev, reader_goes)
{
	struct target target;
	int fd;

	fd = start_waiting(&target);
	close(fd);
	holds(is_answered(&target, SELF), "and goes on");
	stop(&target);
}

/* The reader closes the descriptor, but another process has a copy. */
TEST_F(dev, inherited)
{
	struct target target;
	pid_t pid;
	int fd;

	fd = start_waiting(&target);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	close(fd);
	holds(is_answered(&target, SELF), "the task goes on");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	stop(&target);
}

/* SIGKILL ends the wait for room. */
TEST_F(dev, killed_while_waiting)
{
	struct target target;
	struct trace all = {};
	int fd, status;

	fd = start_waiting(&target);
	kill(target.pid, SIGKILL);
	is(target.pid, waitpid(target.pid, &status, 0), "the task dies");
	read_on(fd, &all, SIZE_MAX);
	holds(all.n > 513 && all.n < 513 + 200,
	      "records that had no room are read, too");
	is(UTRACE_BRANCH_END, type_of(&all.records[all.n - 1]),
	   "the last record is END");
	is(0, count_type(&all, UTRACE_BRANCH_LOST), "nothing is lost");
	holds(is_gapless(&all), "the trace has no gap");
	close(fd);
}

/* Sleep until the pipe is closed, then branch in an endless loop. */
static void *wait_for_room(void *from)
{
	char end;

	if (read(*(int *)from, &end, 1))
		return NULL;
	for (;;)
		asm volatile("mov $100, %%eax; 1: dec %%eax; jnz 1b" : : :
			     "eax");
	return NULL;
}

/*
 * The kernel keeps a limited number of records of threads that end while the ring
 * is full: most of the ENDs are read, and the rest are counted as lost.
 */
TEST_F(dev, many_are_killed_while_waiting)
{
	struct utrace_ioc_branch_info info;
	struct trace all = {};
	const int threads = 700;
	int fd, i, status, go[2], made[2];
	pthread_attr_t small;
	pthread_t thread;
	char done;
	pid_t pid;

	need(!pipe(go) && !pipe(made), "pipe");
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		for (i = 0; i < threads; i++)
			if (pthread_create(&thread, &small, wait_for_room, go))
				_exit(1);
		close(made[1]);
		pause();
	}
	close(made[1]);
	need(!read(made[0], &done, 1), "the threads are there");
	fd = consumer(pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 1);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	close(go[1]);
	for (i = 0; i < 1000 * ut_patience(); i++) {
		info = told(fd);
		if (info.waiting >= threads - 10)
			break;
		usleep(20000);
	}
	holds(info.waiting >= threads - 10, "%u threads wait", info.waiting);
	kill(pid, SIGKILL);
	need(waitpid(pid, &status, 0) == pid, "waitpid");
	read_on(fd, &all, SIZE_MAX);
	holds(count_type(&all, UTRACE_BRANCH_END) >= 512 &&
	      count_type(&all, UTRACE_BRANCH_END) < threads, "%zu ends",
	      count_type(&all, UTRACE_BRANCH_END));
	is(UTRACE_BRANCH_LOST, type_of(&all.records[all.n - 1]),
	   "the other records are lost");
	is(told(fd).lost, all.records[all.n - 1].from, "LOST has their number");
	close(fd);
}

static long loop_and_fault(long n)
{
	make_branches(n);
	asm volatile("ud2");
	return 0;
}

/* Records before a signal can be read while a debugger stops the task there. */
TEST_F(dev, before_a_fault)
{
	struct target target;
	struct trace all = {};
	int fd, status;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	need(!ptrace(PTRACE_SEIZE, target.pid, 0, 0), "seize");
	tell(&target, SELF, loop_and_fault, 20);
	need(waitpid(target.pid, &status, 0) == target.pid, "waitpid");
	is(SIGILL << 8 | 0x7f, status, "the debugger gets the signal");
	need(!fcntl(fd, F_SETFL, O_NONBLOCK), "F_SETFL");
	read_on(fd, &all, SIZE_MAX);
	holds(all.n > 20 && all.records[all.n - 1].to != UTRACE_PC_SYSCALL,
	      "all branches are recorded");
	holds(is_gapless(&all), "the trace has no gap");
	kill(target.pid, SIGKILL);
	waitpid(target.pid, &status, 0);
	close(fd);
}

/* A debugger attaches, steps and detaches; another one dies. */
TEST_F(dev, debuggers)
{
	struct target target;
	struct trace all = {};
	int fd, i, status;
	pid_t pid;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 10);
	need(!ptrace(PTRACE_ATTACH, target.pid, 0, 0), "attach");
	/* The first step ends the system call in which the task waits. */
	tell(&target, SELF, make_branches, 20);
	for (i = 0; i < 5; i++) {
		need(waitpid(target.pid, &status, 0) == target.pid, "stop");
		need(!ptrace(i < 4 ? PTRACE_SINGLESTEP : PTRACE_DETACH,
			     target.pid, 0, 0), "step or detach");
	}
	hear(&target, SELF);
	have(&target, SELF, make_branches, 3000);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_SEIZE, target.pid, 0, 0);
		ptrace(PTRACE_INTERRUPT, target.pid, 0, 0);
		waitpid(target.pid, &status, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	have(&target, SELF, make_branches, 3000);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	holds(all.n > 6000, "the consumer gets further records");
	holds(is_gapless(&all), "the trace has no gap");
	waitpid(target.pid, &status, 0);
	is(0, status, "the program ends normally");
	close(fd);
}

/* A consumer of a tree has the records of all its tasks. */
TEST_F(dev, threads)
{
	struct target target;
	struct trace all = {};
	size_t i, tasks = 0;
	int fd;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_TREE, UTRACE_FULL_DEFAULT,
		      1 << 18);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have_more(&target, THREAD);
	have_more(&target, CHILD);
	have(&target, THREAD, make_branches, 1000);
	have(&target, CHILD, make_branches, 1000);
	have(&target, SELF, make_branches, 1000);
	tell(&target, CHILD, exit_with, 0);
	usleep(100000);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	is(3, count_type(&all, UTRACE_BRANCH_START), "two threads and a child begin");
	is(3, count_type(&all, UTRACE_BRANCH_END),
	   "two threads and a child end");
	for (i = 0; i < all.n; i++)
		tasks += type_of(&all.records[i]) == UTRACE_BRANCH_TASK &&
			 all.records[i].from >> 32 == target.pid;
	holds(tasks >= 2, "TASK records name the tasks");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
