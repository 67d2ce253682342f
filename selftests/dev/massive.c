// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: a process of very many threads, and a long chain
 *
 * Sessions come and go while the tasks work.  Sessions that stay get one record
 * of each task.  The kernel log must have no warning of a CPU that does not
 * schedule, or of a lock.
 */
#include "pool.h"
#include "stream.h"

#define THREADS		2000
#define DEPTH		500
/* On a slow kernel (SLOW=1). */
#define SLOW_THREADS	400
#define SLOW_DEPTH	100

/* How often each thread makes a call, and sessions come and go. */
#define ROUNDS		6

/* Rings of each CPU have room for all records. */
#define RINGS		(32 << 20)

/* The number of records of each task, by its id; PID_MAX_LIMIT is 4194304. */
static unsigned short told[1 << 22];

/* Count the records of a type that take() has read; returns their number. */
static int count_tasks(int type)
{
	struct utrace_rec *rec;

	memset(told, 0, sizeof(told));
	for_each_record(rec)
		if (rec->type == type)
			told[rec->tid % ARRAY_SIZE(told)]++;
	return count(type, 0);
}

/* The number of threads that have @times records. */
static int threads_told(int times)
{
	int i, n = 0;

	for (i = 0; i < pool->n; i++)
		n += told[pool->tid[i]] == times;
	return n;
}

/* The number of tasks with one record. */
static int tasks_told_once(void)
{
	size_t i;
	int n = 0;

	for (i = 0; i < ARRAY_SIZE(told); i++)
		n += told[i] == 1;
	return n;
}

/* A session with large rings, of process @pid, or of the system for 0. */
static int start_session(pid_t pid, __u32 scope)
{
	int fd = session();

	need(!setup(fd, RINGS), "setup");
	need((pid ? attach(fd, pid, scope) : attach_system(fd)) > 0, "attach");
	return fd;
}

/* A session lists the calls in flight, and is closed while it records. */
static void come_and_go(pid_t pid, int round)
{
	__u32 scope = round % 2 ? UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS;
	struct utrace_ioc_in_flight flight = {};
	int fd = session(), all = session(), id;

	id = attach(fd, pid, scope);
	need(id > 0 && attach_system(all) > 0, "attach");
	need(!choose(fd, ALL_EVENTS, 0, NULL, 0) &&
	     !choose(all, ALL_EVENTS, 0, NULL, 0), "choose");
	need(!command(fd, UTRACE_IOC_IN_FLIGHT, &flight), "IN_FLIGHT");
	if (round % 3)
		need(!detach(fd, id), "detach");
	close(fd);
	close(all);
}

/* All targets of a session have ended: read the remaining records. */
static void take_last(int fd)
{
	struct pollfd pfd = { .fd = fd };

	is(1, poll(&pfd, 1, DEADLINE_MS), "the target is over");
	take(fd);
}

/* Each thread is blocked in futex(2), or about to be. */
static void list_threads(pid_t pid)
{
	int i, listed = 0;

	for (i = 0; i < 100 && listed < pool->n; i++) {
		struct utrace_ioc_in_flight flight = {};
		int fd = start_session(pid, UTRACE_SCOPE_PROCESS);

		usleep(20000);
		need(!choose(fd, CALL_BITS, 0, NULL, 0), "choose");
		need(!command(fd, UTRACE_IOC_IN_FLIGHT, &flight), "IN_FLIGHT");
		usleep(20000);
		take(fd);
		count_tasks(UTRACE_REC_SYS_ENTER);
		listed = threads_told(1);
		close(fd);
	}
	is(pool->n, listed, "IN_FLIGHT tells of each thread once");
}

TEST_F(dev, threads)
{
	int own, all, i;
	pid_t pid;

	pool_make(ut_is_slow() ? SLOW_THREADS : THREADS);
	pid = pool_start();
	own = start_session(pid, UTRACE_SCOPE_PROCESS);
	choose_mark(own, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(EXIT));
	all = start_session(0, 0);
	choose_mark(all, UTRACE_REC_BIT(SYS_ENTER));
	for (i = 0; i < ROUNDS; i++) {
		pool_begin(mark, 1);
		come_and_go(pid, i);
		pool_wait();
	}
	list_threads(pid);
	take(own);
	count_tasks(UTRACE_REC_SYS_ENTER);
	is(pool->n, threads_told(ROUNDS), "all calls of each thread");
	take(all);
	count_tasks(UTRACE_REC_SYS_ENTER);
	is(pool->n, threads_told(ROUNDS), "and by the session of the system");
	kill(pid, SIGKILL);
	need(waitpid(pid, NULL, 0) == pid, "wait");
	take_last(own);
	is(pool->n + 1, count_tasks(UTRACE_REC_EXIT), "the end of each thread");
	is(pool->n + 1, tasks_told_once(), "once");
	is(0, info(own).lost + info(all).lost, "nothing is lost");
	is(0, info(all).missed, "or missed");
	close(own);
	close(all);
}

/* A chain of processes: each forks the next one, and the last one reports. */
static void be_chain(int depth, int to)
{
	do
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (--depth && !fork());
	if (!depth && write(to, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

TEST_F(dev, chain)
{
	int depth = ut_is_slow() ? SLOW_DEPTH : DEPTH, fd, pipes[2], go[2], i;
	pid_t pid;
	char byte;

	need(!pipe(pipes) && !pipe(go), "pipe");
	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		be_chain(depth, pipes[1]);
	}
	fd = start_session(pid, UTRACE_SCOPE_TREE);
	need(!choose(fd, UTRACE_REC_BIT(FORK) | UTRACE_REC_BIT(EXIT), 0, NULL,
		     0), "choose");
	need(write(go[1], "", 1) == 1, "go");
	for (i = 0; i < ROUNDS; i++)
		come_and_go(pid, i);
	need(read(pipes[0], &byte, 1) == 1, "a chain");
	kill(pid, SIGKILL);
	need(waitpid(pid, NULL, 0) == pid, "wait");
	take_last(fd);
	is(depth - 1, count_tasks(UTRACE_REC_FORK), "each fork");
	is(depth - 1, tasks_told_once(), "once, by its parent");
	is(depth, count_tasks(UTRACE_REC_EXIT), "the end of each process");
	is(depth, tasks_told_once(), "once");
	is(0, info(fd).lost, "nothing is lost");
	close(fd);
}

TEST_HARNESS_MAIN
