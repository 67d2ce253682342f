// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: the last records of a thread
 *
 * A thread that has entered a system call and does not return from it has the
 * call as its last branch.  One that was killed before the call has not.
 */
#include "../dev/goes.h"
#include "../dev/orphans.h"
#include "tasks.h"

/* The size of the smallest ring. */
#define SMALL	512

static _Atomic long *rounds;

/* Make the call at the label last_call. */
static __attribute__((noinline, noclone)) void call(long nr, long arg)
{
	asm volatile("last_call: syscall"
		     : "+a"(nr) : "D"(arg) : "rcx", "r11", "memory");
}

/* End by this call, whose argument is 0. */
static long end_by_call(long nr)
{
	call(nr, 0);
	return 0;
}

static long loop_without_calls(long unused)
{
	for (;;)
		++*rounds;
	return 0;
}

static long loop_with_calls(long unused)
{
	for (;;) {
		++*rounds;
		call(SYS_getuid, 0);
	}
	return 0;
}

static int begin(struct target *target, __u64 records)
{
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(rounds != MAP_FAILED, "memory");
	start(target);
	return consumer_of(target->pid, (struct utrace_ioc_branches){
			   .where.scope = UTRACE_SCOPE_PROCESS, .capacity = records });
}

static void wait_in(pid_t tid, long nr)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2 && !asleep_in(tid, nr); i++)
		usleep(2000);
	need(asleep_in(tid, nr), "a thread in the call");
}

/* Read all records, and check whether the END is in the call. */
static void check_end(int fd, bool called)
{
	static struct tasks tasks;
	const struct utrace_branch *end;
	struct trace all = {};

	read_on(fd, &all, SIZE_MAX);
	split(&all, &tasks);
	holds(are_whole(&tasks), "the trace is whole");
	need(all.n > 2, "records");
	end = &all.records[all.n - 1];
	is(UTRACE_BRANCH_END, type_of(end), "the last record is END");
	is(called, is_end_of_call(end), "the END is in a call");
	if (called)
		holds(end->from == address_of(last_call),
		      "the END is in the last call");
	free_tasks(&tasks);
	free(all.records);
	close(fd);
}

/* An end by the call itself. */
static void check_exit(long nr)
{
	struct target target;
	int fd = begin(&target, 0);

	tell(&target, SELF, end_by_call, nr);
	check_end(fd, true);
	stop(&target);
}

TEST_F(dev, exit)
{
	check_exit(SYS_exit);
	check_exit(SYS_exit_group);
}

/* Killed while it sleeps, by signals that dump no core. */
TEST_F(dev, killed_in_a_call)
{
	const int signals[] = { SIGKILL, SIGTERM };
	struct target target;
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		fd = begin(&target, 0);
		tell(&target, SELF, end_by_call, SYS_pause);
		wait_in(target.pid, SYS_pause);
		kill(target.pid, signals[i]);
		check_end(fd, true);
		stop(&target);
	}
}

/* A call that was made again after a stop by job control is one, too. */
TEST_F(dev, killed_in_a_call_that_is_made_again)
{
	struct target target;
	int fd, status;

	fd = begin(&target, 0);
	tell(&target, SELF, end_by_call, SYS_pause);
	wait_in(target.pid, SYS_pause);
	kill(target.pid, SIGSTOP);
	need(waitpid(target.pid, &status, WUNTRACED) == target.pid, "stop");
	kill(target.pid, SIGCONT);
	wait_in(target.pid, SYS_pause);
	kill(target.pid, SIGKILL);
	check_end(fd, true);
	stop(&target);
}

static void wait_for_rounds(void)
{
	long before = *rounds;
	int i;

	for (i = 0; i < DEADLINE_MS / 2 && *rounds < before + 10; i++)
		usleep(2000);
	need(*rounds >= before + 10, "a thread that runs");
}

TEST_F(dev, killed_in_user_mode)
{
	struct target target;
	int fd;

	fd = begin(&target, 0);
	tell(&target, SELF, loop_without_calls, 0);
	wait_for_rounds();
	kill(target.pid, SIGKILL);
	check_end(fd, false);
	stop(&target);
}

/*
 * The thread waits for room in front of a call, and is killed there: it has not
 * made the call.
 */
TEST_F(dev, killed_before_a_call)
{
	struct utrace_ioc_branch_info info = {};
	struct target target;
	int fd, i;

	fd = begin(&target, SMALL);
	tell(&target, SELF, loop_with_calls, 0);
	for (i = 0; i < DEADLINE_MS / 2 && !info.waiting; i++) {
		need(!ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info), "info");
		usleep(2000);
	}
	is(1, info.waiting, "the thread waits");
	kill(target.pid, SIGKILL);
	check_end(fd, false);
	stop(&target);
}

/* A reader that can no longer read holds no task. */
TEST_F(dev, reader_that_goes)
{
	struct goes_reader reader;
	struct target target;
	enum goes how;
	long before;
	int fd, i;

	for (how = 0; how < GOES_WAYS; how++) {
		fd = begin(&target, SMALL);
		reader = goes_begin(fd, how);
		tell(&target, SELF, loop_with_calls, 0);
		/* The ring is full by then; with other ways nobody is held from the start. */
		usleep(500000);
		before = *rounds;
		usleep(100000);
		if (how == GOES_DEAD || how == GOES_CLOSED)
			need(*rounds == before, "a thread that waits");
		goes_now(&reader, how);
		before = *rounds + 2 * SMALL;
		for (i = 0; i < DEADLINE_MS / 2 && *rounds <= before; i++)
			usleep(2000);
		holds(*rounds > before,
		      "the thread goes on: %s", goes_text[how]);
		kill(target.pid, SIGKILL);
		stop(&target);
		goes_end(&reader);
	}
}

/* The first process of the machine never waits: it has orphans to reap. */
TEST_F(dev, first_process)
{
	struct utrace_ioc_branch_info info = {};
	struct utrace_branch some[SMALL];
	bool reaped = true;
	int fd, i;

	if (!orphans_go_to_first())
		SKIP(return, "a subreaper gets orphans");
	fd = consumer_of(1, (struct utrace_ioc_branches){
			 .where.scope = UTRACE_SCOPE_PROCESS, .capacity = SMALL });
	for (i = 0; i < 100 && reaped && info.written < SMALL; i++) {
		reaped = orphans_are_reaped(5);
		need(!ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info), "info");
	}
	is(SMALL, info.written, "the ring is full");
	holds(reaped && orphans_are_reaped(20), "orphans are reaped");
	need(!ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info), "info");
	is(0, info.waiting, "no thread waits for the reader");
	need(read(fd, some, sizeof(some)) == sizeof(some), "a full ring");
	/* The loss is recorded before the next record that has room. */
	for (i = 0; i < 100 && reaped && !info.lost; i++) {
		reaped = orphans_are_reaped(1);
		need(!ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info), "info");
	}
	holds(info.lost > 0, "records without room are lost");
	close(fd);
}

TEST_HARNESS_MAIN
