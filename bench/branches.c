// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - single steps, by a consumer of branches and by ptrace
 *
 * The program is process 1 of a guest whose clock counts instructions.  A child
 * runs blocks of code of known length.  A row is the difference between two
 * blocks of which one has more of something than the other, so their common
 * instructions do not count.  A block takes fewer instructions than there are
 * between two ticks of the timer, and the least of many runs counts.  A row is
 * refused unless each branch has its record, and none is lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/utrace.h>
#include <linux/utrace_branch.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <x86intrin.h>

#include "rows.h"

#define DEVICE		"/dev/utrace"
#define RUNS		40

/*
 * A thread copies its records to the ring when 152 of them are there.  So with
 * this many branches, or twice as many, a block has one or two such copies,
 * wherever in between the block begins.
 */
#define ROUNDS		152

/* The child stores the cost of a block here. */
static double *shared;

/* Where a block begins is a multiple of this, so no page ends within a block. */
#define CODE_SIZE	1024

/* A loop has less bytes than this, and other code may come after it. */
#define LOOP_SIZE	64

/* The blocks to measure: the child runs one of them at a time. */
typedef unsigned long (*block)(void);

/*
 * Straight code.  A thread remembers 64 instructions, by the address modulo 64,
 * and so none of a block that is at least twice as long.
 */
#define STRAIGHT(n)							\
static __attribute__((noinline, aligned(CODE_SIZE)))			\
unsigned long straight_##n(void)					\
{									\
	unsigned long begun = __rdtsc();				\
									\
	asm volatile(".rept " #n "\n\tnop\n\t.endr");			\
	return __rdtsc() - begun;					\
}

STRAIGHT(128)
STRAIGHT(256)

/* A loop of @nops and two more instructions, all of which are remembered. */
#define LOOP(nops, rounds)						\
static __attribute__((noinline, aligned(CODE_SIZE)))			\
unsigned long loop_##nops##_##rounds(void)				\
{									\
	unsigned long begun = __rdtsc();				\
	/* The last branch is not taken. */				\
	unsigned int n = rounds * ROUNDS + 1;				\
									\
	asm volatile("1:\n\t.rept " #nops "\n\tnop\n\t.endr\n\t"	\
		     "dec %0\n\tjnz 1b" : "+r" (n) : : "cc");		\
	return __rdtsc() - begun;					\
}

LOOP(4, 1)
LOOP(4, 2)
LOOP(12, 2)

static double least_of(block run)
{
	double least = 0;
	int i;

	for (i = 0; i < RUNS; i++) {
		double cost = run();

		if (!i || cost < least)
			least = cost;
	}
	return least;
}

/* ptrace */

/*
 * Instructions for a step by ptrace of a child in straight code, with those of
 * the tracer.  A tracer that looks for branches must at least read the
 * @registers.
 */
static double ptrace_step(bool registers)
{
	struct user_regs_struct regs;
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		shared[0] = least_of(straight_128);
		shared[1] = least_of(straight_256);
		_exit(0);
	}
	must(pid > 0, "fork");
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (registers)
			ptrace(PTRACE_GETREGS, pid, 0, &regs);
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	}
	must(WIFEXITED(status) && !WEXITSTATUS(status), "the stepped child");
	return (shared[1] - shared[0]) / 128;
}

/* Consumers */

/* A child that is followed, and runs its block for each byte of the pipe. */
struct followed {
	pid_t pid;
	int go[2], done[2];
	int consumer;
};

/* The records of a consumer. */
struct found {
	/* Records of conditional jumps of the block, and of system calls. */
	long branches, calls;
	/* Records that say that records are missing. */
	long gaps;
};

static int consumer(pid_t pid, __u32 full, __u64 capacity)
{
	struct utrace_ioc_branches arg = {
		.where.scope = UTRACE_SCOPE_THREAD,
		.full = full,
		.capacity = capacity,
	};
	int dev = open(DEVICE, O_RDWR | O_CLOEXEC), fd;

	must(dev >= 0, DEVICE);
	arg.where.fd = syscall(SYS_pidfd_open, pid, 0);
	must(arg.where.fd >= 0, "pidfd_open");
	fd = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	must(fd >= 0, "UTRACE_IOC_BRANCHES");
	must(!fcntl(fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
	close(arg.where.fd);
	close(dev);
	return fd;
}

static struct followed follow(block run, __u32 full, __u64 capacity)
{
	struct followed f;
	char c;

	must(!pipe(f.go) && !pipe(f.done), "pipe");
	f.pid = fork();
	while (!f.pid) {
		must(read(f.go[0], &c, 1) == 1, "a block is to be run");
		*shared = run();
		must(write(f.done[1], &c, 1) == 1, "a block was run");
	}
	must(f.pid > 0, "fork");
	f.consumer = consumer(f.pid, full, capacity);
	return f;
}

static double run_once(const struct followed *f)
{
	char c = 0;

	must(write(f->go[1], &c, 1) == 1 && read(f->done[0], &c, 1) == 1,
	     "a run of a block");
	return *shared;
}

static void forget(const struct followed *f)
{
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	close(f->consumer);
	close(f->go[0]);
	close(f->go[1]);
	close(f->done[0]);
	close(f->done[1]);
	/* Wait until the engine is gone. */
	usleep(100000);
}

static bool is_jump(const struct utrace_branch *r, block run)
{
	return r->from - (unsigned long)run < LOOP_SIZE &&
	       UTRACE_BRANCH_KIND(r->info) == UTRACE_BR_COND;
}

/* Read all records of a child that has run a block. */
static struct found drain(const struct followed *f, block run)
{
	static struct utrace_branch records[1000];
	struct found found = {};
	ssize_t got;

	while ((got = read(f->consumer, records, sizeof(records))) > 0) {
		const struct utrace_branch *r = records;

		for (; r < records + got / sizeof(*r); r++) {
			found.gaps += UTRACE_BRANCH_TYPE(r->info) ==
				      UTRACE_BRANCH_LOST;
			if (UTRACE_BRANCH_TYPE(r->info) != UTRACE_BRANCH)
				continue;
			found.branches += is_jump(r, run);
			found.calls += r->to == UTRACE_PC_SYSCALL;
		}
	}
	must(got < 0 && errno == EAGAIN, "read(2) of a consumer");
	return found;
}

/*
 * Instructions of a block of which a consumer has all records.  The ring is read
 * after each run, so there is always room, and after a few runs all of its
 * memory is there.
 */
static double all(block run, long jumps)
{
	struct followed f = follow(run, UTRACE_FULL_DROP, 1024);
	double least = 0;
	int i;

	for (i = 0; i < RUNS; i++) {
		double cost = run_once(&f);
		struct found found = drain(&f, run);

		/* The call that ends a run is among the records of the next. */
		must(found.branches == jumps && (found.calls || !i) &&
		     !found.gaps, "a record for each branch");
		if (!i || cost < least)
			least = cost;
	}
	forget(&f);
	return least;
}

/* As all(), for a consumer that keeps the last records; nobody reads them. */
static double overwritten(block run, long jumps)
{
	struct followed f = follow(run, UTRACE_FULL_OVERWRITE, 512);
	struct found found;
	double least = 0;
	int i;

	for (i = 0; i < RUNS; i++) {
		double cost = run_once(&f);

		/* The ring is full after four runs. */
		if (i <= 4 || cost < least)
			least = cost;
	}
	found = drain(&f, run);
	must(found.branches >= jumps && found.gaps == 1,
	     "the last records, and the number of earlier ones");
	forget(&f);
	return least;
}

/* Rows of ptrace and of a consumer that gets all records. */
static void step_rows(void)
{
	say("ptrace_step", ptrace_step(false));
	say("ptrace_step_regs", ptrace_step(true));
	say("step_new", (all(straight_256, 0) - all(straight_128, 0)) / 128);
}

/* The cost of a branch beyond that of a step. */
static void branch_rows(void)
{
	double one = all(loop_4_1, ROUNDS);
	double two = all(loop_4_2, 2 * ROUNDS);
	double longer = all(loop_12_2, 2 * ROUNDS);
	double step = (longer - two) / (2 * ROUNDS + 1) / 8;

	say("step_known", step);
	say("branch_record", (two - one) / ROUNDS - 6 * step);
	one = overwritten(loop_4_1, ROUNDS);
	two = overwritten(loop_4_2, 2 * ROUNDS);
	say("branch_last", (two - one) / ROUNDS - 6 * step);
}

int main(void)
{
	must(!mount("none", "/dev", "devtmpfs", 0, NULL), "/dev");
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	step_rows();
	branch_rows();
	all_said();
	return 0;
}
