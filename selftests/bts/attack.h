/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - programs that try to escape from their consumer
 *
 * Each attack runs once alone and once followed.  Both runs must see the same
 * values.  After an attack the program makes visible loops, and each of their
 * jumps must have one record.
 */
#ifndef UTRACE_BRANCH_ATTACK_H
#define UTRACE_BRANCH_ATTACK_H

#include <ucontext.h>

#include "tasks.h"

#define TF		0x100

/* Rounds of a visible loop. */
#define ROUNDS		100

#define SEEN		32

/* In memory that all processes of the test share. */
struct attack {
	_Atomic long loops;
	long seen[SEEN];
	/* Addresses, which may differ from run to run. */
	unsigned long page;
	/* Threads that execute a program, and take over another pid. */
	long without_end;
};

static struct attack *attack;

static __attribute__((noinline, noclone)) void visible(void)
{
	long n = ROUNDS;

	attack->loops++;
	asm volatile("1:	dec %0\n"
		     "visible_jump:	jnz 1b\n" : "+r"(n) :: "cc");
}

static inline long flags(void)
{
	long flags;

	asm volatile("pushfq; pop %0" : "=r"(flags) :: "memory");
	return flags;
}

/* A page of code that can be written and executed, below 4 GiB. */
static inline unsigned char *code_page(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (page == MAP_FAILED)
		_exit(90);
	return page;
}

static inline void take_signal(int signal, int flags,
			       void (*handler)(int signal, siginfo_t *info,
					       void *context))
{
	struct sigaction action = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | flags,
	};

	if (sigaction(signal, &action, NULL))
		_exit(91);
}

static inline greg_t *reg(void *context, int i)
{
	return &((ucontext_t *)context)->uc_mcontext.gregs[i];
}

/* The process of an attack: wait for the test, then do it. */
static inline void attack_now(void (*run)(void), int go)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &byte, 1) < 0)
		_exit(92);
	close(go);
	run();
	visible();
	_exit(0);
}

/* Count the jumps that were made, without those that were interrupted. */
static inline size_t count_jumps(const struct trace *trace, __u64 from)
{
	size_t i, n = 0;

	for (i = 0; i < trace->n; i++)
		n += type_of(&trace->records[i]) == UTRACE_BRANCH &&
		     trace->records[i].from == from &&
		     !IS_PSEUDO(trace->records[i].to);
	return n;
}

/*
 * QEMU before 8.1 takes what IRET and far returns of a program read from the
 * stack for accesses of the kernel, which SMAP forbids.
 */
static inline bool far_returns_work(void)
{
	return !is_emulated() || !cpu_has("flags", " smap");
}

static inline void check_trace(const struct trace *trace)
{
	static struct tasks tasks;

	split(trace, &tasks);
	holds(are_whole(&tasks), "the traces of %zu tasks are whole", tasks.n);
	is(0, count_type(trace, UTRACE_BRANCH_LOST), "nothing is lost");
	is(attack->loops * (ROUNDS - 1),
	   count_jumps(trace, address_of(visible_jump)),
	   "each visible jump has its record");
	is(count_type(trace, UTRACE_BRANCH_START),
	   count_type(trace, UTRACE_BRANCH_END) + attack->without_end,
	   "each START has its END");
	free_tasks(&tasks);
}

/* Run the attack, followed if there is a @trace; returns its status. */
static inline int attack_once(void (*run)(void), struct trace *trace)
{
	int fd = -1, status, go[2];
	pid_t pid;

	need(!pipe(go), "pipe");
	memset(attack, 0, sizeof(*attack));
	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		close(go[1]);
		attack_now(run, go[0]);
	}
	close(go[0]);
	if (trace)
		fd = consumer_of(pid, (struct utrace_ioc_branches){
				 .where.scope = UTRACE_SCOPE_TREE });
	close(go[1]);
	if (trace) {
		read_on(fd, trace, SIZE_MAX);
		close(fd);
	}
	need(waitpid(pid, &status, __WALL) == pid, "wait");
	/* Without the bit of a core dump. */
	return status & 0xff7f;
}

FIXTURE(attack) {
};

/* An attack, its status, and a check of its records. */
FIXTURE_VARIANT(attack) {
	void (*run)(void);
	int status;
	void (*check)(const struct trace *trace);
	bool far_return;
};

FIXTURE_SETUP(attack)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	attack = mmap(NULL, sizeof(*attack), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(attack != MAP_FAILED, "memory");
}

FIXTURE_TEARDOWN(attack)
{
	dev_end();
}

TEST_F(attack, alone_and_followed)
{
	struct trace trace = {};
	long alone[SEEN];
	int i;

	if (variant->far_return && !far_returns_work())
		SKIP(return, "the emulator makes no far returns");
	is(variant->status, attack_once(variant->run, NULL),
	   "the status alone");
	memcpy(alone, attack->seen, sizeof(alone));
	is(variant->status, attack_once(variant->run, &trace),
	   "the status with a consumer");
	for (i = 0; i < SEEN; i++)
		if (alone[i] != attack->seen[i])
			holds(false,
			      "with a consumer it sees %lx instead of %lx (%d)",
			      attack->seen[i], alone[i], i);
	check_trace(&trace);
	if (variant->check)
		variant->check(&trace);
	free(trace.records);
}

#endif /* UTRACE_BRANCH_ATTACK_H */
