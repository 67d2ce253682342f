// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: threads that would escape from their consumer
 *
 * Instructions that hide the trap flag from the next trap, debuggers that stop
 * the thread in its system calls, and ends that come before a begin.
 */
#include <sys/ptrace.h>

#include "../silent.h"
#include "branches.h"

/* Rounds of the loop that has to be seen. */
#define ROUNDS	1000

/* A vsyscall hides a POPF: the trap comes one instruction after the call. */
static long hide_by_vsyscall(long n)
{
	asm volatile("sub $128, %%rsp\n"
		     "pushfq\n"
		     "mov $0xffffffffff600400, %%rax\n"
		     "xor %%edi, %%edi\n"
		     "call *%%rax\n"
		     "popfq\n"
		     "1: dec %0\n"
		     "jnz 1b\n"
		     "add $128, %%rsp\n"
		     : "+b"(n) :: "rax", "rcx", "rdi", "r11", "memory", "cc");
	return n;
}

static long hide_by_uprobe(long n)
{
	asm volatile("sub $128, %%rsp\n"
		     "pushfq\n"
		     ".globl probed_popf\n"
		     "probed_popf: popfq\n"
		     "1: dec %0\n"
		     "jnz 1b\n"
		     "add $128, %%rsp\n"
		     : "+b"(n) :: "memory", "cc");
	return n;
}

extern const char probed_popf[];

/* All branches of a target that carries out an order and exits. */
static void all_of(struct trace *all, order_fn *order)
{
	struct target target;
	int fd;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, order, ROUNDS);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, all, SIZE_MAX);
	close(fd);
	stop(&target);
}

TEST_F(dev, vsyscall)
{
	struct trace all = {};

	if (!has_vsyscalls())
		SKIP(return, "no vsyscalls");
	all_of(&all, hide_by_vsyscall);
	holds(all.n > ROUNDS, "%zu records", all.n);
	holds(is_gapless(&all), "the trace has no gap");
}

TEST_F(dev, probed_popf)
{
	struct trace all = {};

	set_uprobe(0, probed_popf);
	enable_uprobes();
	all_of(&all, hide_by_uprobe);
	remove_uprobes(1);
	holds(all.n > ROUNDS, "%zu records", all.n);
	holds(is_gapless(&all), "the trace has no gap");
}

/* Trace the system calls of a process until it has exited. */
static void trace_calls(pid_t pid)
{
	int status, signal = 0;

	for (;;) {
		need(!ptrace(PTRACE_SYSCALL, pid, 0, signal), "PTRACE_SYSCALL");
		need(waitpid(pid, &status, 0) == pid, "wait");
		if (!WIFSTOPPED(status))
			break;
		signal = status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80) ?
			 0 : WSTOPSIG(status);
	}
	is(0, status, "the program ends normally");
}

/* A debugger that stops the thread in each call, and at its execve(). */
TEST_F(dev, traced_calls)
{
	struct trace all = {};
	struct target target;
	int fd, status;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 10);
	settle(&target, SELF);
	need(!ptrace(PTRACE_SEIZE, target.pid, 0,
		     PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC), "seize");
	need(!ptrace(PTRACE_INTERRUPT, target.pid, 0, 0), "interrupt");
	need(waitpid(target.pid, &status, 0) == target.pid, "stop");
	tell(&target, SELF, mark, 20);
	tell(&target, SELF, execute_true, 0);
	trace_calls(target.pid);
	read_on(fd, &all, SIZE_MAX);
	holds(count_from(&all, UTRACE_PC_SYSCALL) > 30, "%zu calls return",
	      count_from(&all, UTRACE_PC_SYSCALL));
	is(1, count_from(&all, UTRACE_PC_EXEC), "one program begins");
	/* The call that the interrupt has broken off is made again. */
	holds(count_from(&all, UTRACE_PC_ASYNC) <= 2, "%zu moves by the debugger",
	      count_from(&all, UTRACE_PC_ASYNC));
	holds(is_gapless(&all), "the trace has no gap");
	close(fd);
}

/* The thread dies in the system call in which the attach has met it. */
TEST_F(dev, dies_before_it_joins)
{
	struct pollfd over = { .events = POLLIN };
	struct target target;
	struct trace all = {};

	start(&target);
	settle(&target, SELF);
	over.fd = consumer(target.pid, UTRACE_SCOPE_PROCESS,
			   UTRACE_FULL_DEFAULT, 0);
	need(over.fd >= 0, "UTRACE_IOC_BRANCHES");
	stop(&target);
	is(1, poll(&over, 1, DEADLINE_MS), "the reader wakes up");
	holds(over.revents & POLLHUP, "poll() reports the end");
	if (over.revents & POLLHUP)
		read_on(over.fd, &all, SIZE_MAX);
	is(0, all.n, "there are no records");
	close(over.fd);
}

#define ENGINES	"user/max_utrace_engines"

/* The consumer is closed while the thread sleeps; the thread is killed before it steps. */
TEST_F(dev, killed_after_the_reader)
{
	struct target target;
	int i, fd = 0;

	need(!set_sysctl(ENGINES, "20"), "the limit of engines");
	for (i = 0; i < 60 && fd >= 0; i++) {
		start(&target);
		fd = consumer(target.pid, UTRACE_SCOPE_THREAD,
			      UTRACE_FULL_DEFAULT, 0);
		if (fd >= 0)
			have(&target, SELF, make_branches, 10);
		settle(&target, SELF);
		close(fd);
		stop(&target);
		/* Engines are freed after a grace period. */
		usleep(20000);
	}
	need(!set_sysctl(ENGINES, "1024"), "the limit of engines");
	is(60, i, "no engine is left over");
	holds(fd >= 0,
	      "the last consumer is opened: %s", strerror(fd < 0 ? -fd : 0));
}

/* A reader whose memory never appears, and one that does not wait. */
TEST_F(dev, reader_that_is_stuck)
{
	struct utrace_branch one;
	struct target target;
	pid_t pid;
	int fd;

	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 0);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	have(&target, SELF, make_branches, 1000);
	pid = fork();
	if (!pid)
		_exit(read(fd, silent_uffd(), 4096) < 0);
	while (!asleep_in(pid, SYS_read))
		usleep(2000);
	need(!fcntl(fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
	is(-1, read(fd, &one, sizeof(one)), "a read without waiting fails");
	is(EAGAIN, errno, "it fails with EAGAIN");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is(sizeof(one), read(fd, &one, sizeof(one)), "a read of a record");
	is(UTRACE_BRANCH_TASK, type_of(&one), "it is the first record");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
