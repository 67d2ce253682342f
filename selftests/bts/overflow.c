// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: events while a thread waits for room
 *
 * The ring is full and nobody reads.  The thread runs no code of its program,
 * is shown as waiting, and SIGKILL ends it in any case.
 */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "../cgroup.h"
#include "tasks.h"

/* The size of the smallest ring. */
#define SMALL	512

/* How long a thread that should not run is watched. */
#define QUIET_US	(200000 * ut_patience())

struct shared {
	_Atomic long rounds;
	_Atomic int stop;
	int pair[2];
};

static struct shared *shared;

/* Take a descriptor from the test, and read from it. */
static long read_own_branches(long unused)
{
	static struct utrace_branch some[100];
	int fd = receive_fd(shared->pair[1]);

	while (fd >= 0 && !shared->stop) {
		shared->rounds++;
		if (read(fd, some, sizeof(some)) < 0)
			break;
	}
	return 0;
}

static long count_on(long unused)
{
	while (!shared->stop)
		shared->rounds++;
	return 0;
}

static long count_rounds(long n)
{
	while (n--)
		shared->rounds++;
	return 0;
}

/* Take a descriptor from the test, and keep it. */
static long keep_descriptor(long unused)
{
	return receive_fd(shared->pair[1]);
}

static void begin(struct target *target)
{
	int pair[2];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(shared != MAP_FAILED, "memory");
	need(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "sockets");
	memcpy(shared->pair, pair, sizeof(pair));
	start(target);
}

/* Check that the counter does not change. */
static bool stands(void)
{
	long rounds = shared->rounds;

	usleep(QUIET_US);
	return rounds == shared->rounds;
}

static bool goes_on(void)
{
	long rounds = shared->rounds;
	int i;

	for (i = 0; i < DEADLINE_MS && rounds == shared->rounds; i++)
		usleep(1000);
	return rounds != shared->rounds;
}

/* The reader that the task waits for, as /proc says; 0 if it does not wait. */
static pid_t awaited(pid_t tid)
{
	char path[64], line[256], whom[32];
	pid_t pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/utrace", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "branches %*s %*s %*s %*s %*s %*s %*s %31s",
			   whom) == 1 && !strncmp(whom, "pid:", 4))
			pid = atoi(whom + 4);
	if (file)
		fclose(file);
	return pid;
}

static bool waits(pid_t tid)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2 && !awaited(tid); i++)
		usleep(2000);
	return awaited(tid);
}

/* A target that counts, and waits for this process to read. */
static int stall(struct target *target, __u32 scope, bool threads)
{
	int fd;

	begin(target);
	if (threads)
		have_more(target, THREAD);
	fd = consumer_of(target->pid, (struct utrace_ioc_branches){
			 .where.scope = scope, .capacity = SMALL });
	tell(target, SELF, count_on, 0);
	need(waits(target->pid), "a thread that waits");
	return fd;
}

/* Read until the thread has run a bit, then let it end. */
static void read_to_the_end(struct target *target, int fd, struct trace *all)
{
	long rounds = shared->rounds;

	while (shared->rounds - rounds < 2000)
		read_on(fd, all, all->n + 1);
	shared->stop = 1;
	tell(target, SELF, exit_with, 0);
	read_on(fd, all, SIZE_MAX);
}

/* The records of a thread that has ended after a wait. */
static void check_whole(const struct trace *all, int lost)
{
	static struct tasks tasks;

	split(all, &tasks);
	holds(are_whole(&tasks), "the trace is whole");
	is(lost, count_type(all, UTRACE_BRANCH_LOST),
	   "the number of LOST records");
	free_tasks(&tasks);
}

/* Wait for the end of the process within the limit, and store its @status. */
static bool has_ended(pid_t pid, int *status)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		usleep(2000);
	}
	return false;
}

TEST_F(dev, stands)
{
	struct trace all = {};
	struct target target;
	int fd;

	fd = stall(&target, UTRACE_SCOPE_PROCESS, false);
	is(getpid(), awaited(target.pid), "the thread waits for this process");
	holds(stands(), "the thread runs no code of its program");
	read_to_the_end(&target, fd, &all);
	is(0, awaited(target.pid), "the thread no longer waits");
	check_whole(&all, 0);
	close(fd);
	stop(&target);
}

/* One thread waits; another thread of the process executes, exits or forks. */
TEST_F(dev, exec_of_another_thread)
{
	struct trace all = {};
	struct target target;
	int fd, status = -1;

	fd = stall(&target, UTRACE_SCOPE_THREAD, true);
	tell(&target, THREAD, execute_true, 0);
	holds(has_ended(target.pid, &status), "the program is executed");
	is(0, status, "the program ends normally");
	read_on(fd, &all, SIZE_MAX);
	check_whole(&all, 0);
	close(fd);
}

TEST_F(dev, exit_of_another_thread)
{
	struct trace all = {};
	struct target target;
	int fd, status = -1;

	fd = stall(&target, UTRACE_SCOPE_THREAD, true);
	tell(&target, THREAD, exit_with, 7);
	holds(has_ended(target.pid, &status), "the process ends");
	is(7 << 8, status, "it has the status of the other thread");
	read_on(fd, &all, SIZE_MAX);
	check_whole(&all, 0);
	close(fd);
}

TEST_F(dev, fork_of_another_thread)
{
	struct trace all = {};
	struct target target;
	int fd;

	fd = stall(&target, UTRACE_SCOPE_THREAD, true);
	have(&target, THREAD, fork_and_mark, 10);
	holds(true, "another thread forks, and waits for its child");
	is(getpid(), awaited(target.pid), "the thread still waits");
	holds(stands(), "the thread runs no code of its program");
	read_to_the_end(&target, fd, &all);
	check_whole(&all, 0);
	close(fd);
	stop(&target);
}

/* All threads and children share the ring, and all make progress. */
TEST_F(dev, fork_in_the_same_ring)
{
	struct trace all = {};
	struct target target;
	int fd;

	fd = stall(&target, UTRACE_SCOPE_TREE, true);
	tell(&target, THREAD, fork_and_mark, 10);
	while (count_type(&all, UTRACE_BRANCH_START) < 3)
		read_on(fd, &all, all.n + 1);
	read_to_the_end(&target, fd, &all);
	is(3, count_type(&all, UTRACE_BRANCH_START),
	   "two threads and a child begin");
	is(count_type(&all, UTRACE_BRANCH_START),
	   count_type(&all, UTRACE_BRANCH_END), "each START has its END");
	close(fd);
	stop(&target);
}

/*
 * Two threads share a ring.  One waits for room while the other executes a program
 * and takes over its pid.  The records of the first thread come first.
 */
TEST_F(dev, exec_in_the_same_ring)
{
	struct trace all = {};
	struct target target;
	int fd, status = -1;

	fd = stall(&target, UTRACE_SCOPE_PROCESS, true);
	tell(&target, THREAD, execute_true, 0);
	/* The ring is not empty before the end. */
	read_for(fd, &all, SIZE_MAX, 0);
	holds(has_ended(target.pid, &status), "the program is executed");
	is(0, status, "the program ends normally");
	is(1, count_from(&all, UTRACE_PC_EXEC), "one execve() is recorded");
	check_whole(&all, 0);
	close(fd);
}

/* Kill the target at several moments of the wait. */
TEST_F(dev, kill)
{
	struct trace all = {};
	struct target target;
	int i, fd, status = -1;

	for (i = 0; i < 5; i++) {
		fd = stall(&target, UTRACE_SCOPE_PROCESS, i & 1);
		usleep(i * 3000);
		if (i & 1)
			tell(&target, THREAD, count_rounds, 10000);
		kill(target.pid, SIGKILL);
		holds(has_ended(target.pid, &status) && status == SIGKILL,
		      "SIGKILL ends the thread");
		all.n = 0;
		read_on(fd, &all, SIZE_MAX);
		holds(all.n > SMALL, "the END comes after the earlier records");
		check_whole(&all, 0);
		is(count_type(&all, UTRACE_BRANCH_START),
		   count_type(&all, UTRACE_BRANCH_END),
		   "each START has its END");
		close(fd);
	}
}

/* Job control does not make a waiting thread run, and stops one with room. */
TEST_F(dev, job_control)
{
	struct trace all = {};
	struct target target;
	int fd, status = 0;
	size_t n;

	fd = stall(&target, UTRACE_SCOPE_PROCESS, false);
	kill(target.pid, SIGSTOP);
	holds(stands(), "a stopped thread runs no code");
	kill(target.pid, SIGCONT);
	holds(stands(), "a continued thread without room runs no code");
	kill(target.pid, SIGSTOP);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	/* Room, up to where the thread is stopped. */
	do {
		n = all.n;
		read_on(fd, &all, SIZE_MAX);
		usleep(QUIET_US / 4);
	} while (all.n > n);
	holds(waitpid(target.pid, &status, WUNTRACED | WNOHANG) == target.pid &&
	      WIFSTOPPED(status), "the parent sees the stop");
	holds(stands(), "a thread with room is stopped");
	kill(target.pid, SIGCONT);
	fcntl(fd, F_SETFL, 0);
	read_to_the_end(&target, fd, &all);
	check_whole(&all, 0);
	close(fd);
	stop(&target);
}

TEST_F(dev, freezer)
{
	const char *why = ut_cg_make(NULL);
	struct trace all = {};
	struct target target;
	int fd, i;

	if (why)
		SKIP(return, "%s", why);
	fd = stall(&target, UTRACE_SCOPE_PROCESS, false);
	need(!ut_cg_add(target.pid), "cgroup.procs");
	need(!ut_cg_write("cgroup.freeze", "1"), "cgroup.freeze");
	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (ut_cg_is("cgroup.events", "frozen", 1))
			break;
		usleep(2000);
	}
	holds(ut_cg_is("cgroup.events", "frozen", 1), "the cgroup is frozen");
	read_on(fd, &all, SMALL / 2);
	holds(stands(), "a frozen thread runs no code");
	need(!ut_cg_write("cgroup.freeze", "0"), "cgroup.freeze");
	read_to_the_end(&target, fd, &all);
	check_whole(&all, 0);
	close(fd);
	stop(&target);
	ut_cg_remove();
}

/* A debugger attaches while the thread waits, and sees it in its program. */
TEST_F(dev, debugger)
{
	struct user_regs_struct regs = {};
	struct trace all = {};
	struct target target;
	int fd, i, status = 0;

	fd = stall(&target, UTRACE_SCOPE_PROCESS, false);
	need(!ptrace(PTRACE_SEIZE, target.pid, 0, 0), "seize");
	need(!ptrace(PTRACE_INTERRUPT, target.pid, 0, 0), "interrupt");
	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (waitpid(target.pid, &status, WNOHANG) == target.pid)
			break;
		usleep(2000);
	}
	holds(WIFSTOPPED(status), "a debugger stops the thread");
	holds(!ptrace(PTRACE_GETREGS, target.pid, 0, &regs) &&
	      !IS_PSEUDO(regs.rip), "the debugger reads user registers");
	ptrace(PTRACE_DETACH, target.pid, 0, 0);
	holds(stands(), "without room the thread runs no code after that");
	is(getpid(), awaited(target.pid), "the thread still waits");
	read_to_the_end(&target, fd, &all);
	check_whole(&all, 0);
	close(fd);
	stop(&target);
}

/* The reader is another process, which dies. */
TEST_F(dev, reader_dies)
{
	struct target target;
	int pipes[2];
	pid_t reader;
	char byte;

	begin(&target);
	need(!pipe(pipes), "pipe");
	reader = fork();
	if (!reader) {
		consumer_of(target.pid, (struct utrace_ioc_branches){
			    .capacity = SMALL });
		_exit(write(pipes[1], "", 1) != 1 || pause());
	}
	need(read(pipes[0], &byte, 1) == 1, "reader");
	tell(&target, SELF, count_on, 0);
	holds(waits(target.pid), "the thread waits");
	is(reader, awaited(target.pid), "it waits for the reader");
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	holds(goes_on(), "it goes on when the reader is dead");
	stop(&target);
}

/* The thread itself has the last descriptor. */
TEST_F(dev, own_descriptor)
{
	struct target target;
	int fd, status;

	begin(&target);
	fd = consumer_of(target.pid, (struct utrace_ioc_branches){
			 .capacity = SMALL });
	need(send_fd(shared->pair[0], fd), "descriptor");
	have(&target, SELF, keep_descriptor, 0);
	tell(&target, SELF, count_on, 0);
	holds(waits(target.pid), "the thread waits for the test");
	close(fd);
	holds(goes_on(), "it goes on when the test has closed its descriptor");
	kill(target.pid, SIGKILL);
	holds(has_ended(target.pid, &status), "it can be killed");
}

/* The thread reads its own records, which makes more of them. */
TEST_F(dev, reads_itself)
{
	struct target target;
	int fd, status;

	begin(&target);
	fd = consumer_of(target.pid, (struct utrace_ioc_branches){
			 .capacity = SMALL });
	need(send_fd(shared->pair[0], fd), "descriptor");
	tell(&target, SELF, read_own_branches, 0);
	holds(goes_on(), "the thread reads");
	usleep(QUIET_US);
	kill(target.pid, SIGKILL);
	holds(has_ended(target.pid, &status), "it can be killed");
	close(fd);
}

struct reader {
	int fd;
	struct trace trace;
};

static void *read_all(void *arg)
{
	struct reader *reader = arg;
	struct utrace_branch some[500];
	ssize_t got;

	while ((got = read(reader->fd, some, sizeof(some))) > 0)
		reader->trace.n += got / sizeof(some[0]);
	return NULL;
}

/* A consumer gets each record, or it is counted as lost. */
TEST_F(dev, drops_are_counted)
{
	struct reader waiting = {};
	struct trace some = {};
	struct target target;
	pthread_t thread;
	size_t i, lost = 0;
	int fd;

	begin(&target);
	waiting.fd = consumer_of(target.pid, (struct utrace_ioc_branches){
				 .capacity = SMALL });
	fd = consumer_of(target.pid, (struct utrace_ioc_branches){
			 .capacity = SMALL, .full = UTRACE_FULL_DROP });
	need(!pthread_create(&thread, NULL, read_all, &waiting), "thread");
	for (i = 0; i < 5; i++) {
		have(&target, SELF, count_rounds, 3000 + i);
		read_on(fd, &some, some.n + 1 + i * 100);
	}
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &some, SIZE_MAX);
	pthread_join(thread, NULL);
	for (i = 0; i < some.n; i++)
		if (type_of(&some.records[i]) == UTRACE_BRANCH_LOST)
			lost += some.records[i].from;
	printf("#   %zu records, %zu of the other, %zu lost in %zu places\n",
	       some.n, waiting.trace.n, lost,
	       count_type(&some, UTRACE_BRANCH_LOST));
	holds(lost > 5000, "records are lost");
	is(waiting.trace.n - count_type(&some, UTRACE_BRANCH_TASK),
	   some.n - count_type(&some, UTRACE_BRANCH_LOST) -
	   count_type(&some, UTRACE_BRANCH_TASK) + lost,
	   "each lost record is counted");
	check_whole(&some, count_type(&some, UTRACE_BRANCH_LOST));
	close(fd);
	close(waiting.fd);
	stop(&target);
}

TEST_HARNESS_MAIN
