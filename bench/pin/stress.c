// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - pins against publishing, on the machine itself
 *
 * One thread, the task, pins, walks and unpins a set by kernel/utrace/pin.h.
 * At the same time, another thread publishes a new set, defers the old set to
 * the task, and takes the old set back if the task has not pinned it.
 * membarrier(2) replaces utrace_membarrier().  No set may be freed while it is
 * walked, and no set may be left behind.  The second test leaves membarrier(2)
 * out and must fail; on a machine where it does not, the first test proves
 * nothing.
 */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shims.h"

/*
 * Seconds of the first test; the second test takes four times as long at most.
 */
#define BOUND	5

struct utrace_set {
	bool freed;
};

/* The words that the two threads share, each in a cache line of its own. */
static struct utrace_set sets[2] __attribute__((aligned(64)));
static struct utrace_set *published __attribute__((aligned(64)));
static struct utrace_set *pinned __attribute__((aligned(64)));
static struct utrace_set *deferred __attribute__((aligned(64)));
static unsigned long turn[2][8] __attribute__((aligned(64)));
static bool over, heavy_is_off;

static unsigned long walked_freed, left_behind;

static void heavy(void)
{
	smp_mb();	/* utrace_membarrier() has it on every machine. */
	if (!heavy_is_off)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* Take the deferred set and free it.  The exchange lets one thread take it. */
static void take_deferred(void)
{
	struct utrace_set *old;

	old = __atomic_exchange_n(&deferred, NULL, __ATOMIC_SEQ_CST);
	if (old)
		WRITE_ONCE(old->freed, true);
}

/* A CPU for each thread: on one CPU the threads would hardly ever overlap. */
static cpu_set_t cpu[2];

static bool two_cpus(void)
{
	int i, found = 0;
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof(all), &all))
		return false;
	for (i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &cpu[found++]);
	return found == 2;
}

/*
 * Wait for the other thread at the start of a round.  Returns false at the
 * end.
 */
static bool meet(int me, unsigned long round)
{
	int spins = 0;

	__atomic_store_n(&turn[me][0], round, __ATOMIC_SEQ_CST);
	while (READ_ONCE(turn[!me][0]) < round && !READ_ONCE(over))
		if (++spins > 2000)
			sched_yield();
	return !READ_ONCE(over);
}

/* A random number of spins, mostly few, at times longer than membarrier(2). */
static unsigned int some(unsigned int *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8 & 0xffff) >> (*seed >> 24) % 16;
}

static void idle(unsigned int *seed)
{
	unsigned int n;

	for (n = some(seed); n; n--)
		barrier();
}

/* The task: pins, walks and unpins once in each round. */
static void *task(void *unused)
{
	unsigned long round;
	unsigned int seed = 1;

	sched_setaffinity(0, sizeof(cpu[0]), &cpu[0]);
	for (round = 1; meet(0, 2 * round - 1); round++) {
		struct utrace_set *set;
		unsigned int looks;

		idle(&seed);
		set = READ_ONCE(published);
		/* Idle as if an interrupt came between the load and the pin. */
		if (round & 1)
			idle(&seed);
		if (utrace_pin_try(&pinned, set, &published))
			for (looks = some(&seed); looks; looks--)
				walked_freed += READ_ONCE(set->freed);
		utrace_pin_drop(&pinned);
		if (READ_ONCE(deferred))
			take_deferred();
		if (!meet(0, 2 * round))
			break;
	}
	return unused;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Publish @new and defer @old; take it back unless the task has pinned it. */
static void publish(struct utrace_set *old, struct utrace_set *new)
{
	smp_store_release(&published, new);	/* For utrace_pin_try(). */
	WRITE_ONCE(deferred, old);
	heavy();
	if (READ_ONCE(pinned) != old)
		take_deferred();
}

/* Make rounds for @seconds, or until one goes wrong.  Returns how many. */
static unsigned long storm(double seconds)
{
	double end = now() + seconds;
	unsigned long round;
	unsigned int seed = 7;
	pthread_t other;

	walked_freed = 0;
	left_behind = 0;
	over = false;
	deferred = NULL;
	memset(turn, 0, sizeof(turn));
	if (pthread_create(&other, NULL, task, NULL))
		return 0;
	for (round = 1;; round++) {
		struct utrace_set *old = &sets[round & 1];
		struct utrace_set *new = &sets[!(round & 1)];

		old->freed = false;
		new->freed = false;
		published = old;
		if (!meet(1, 2 * round - 1))
			break;
		idle(&seed);
		publish(old, new);
		if (!meet(1, 2 * round))
			break;
		left_behind += !old->freed;
		deferred = NULL;
		if (walked_freed || left_behind || now() > end)
			break;
	}
	WRITE_ONCE(over, true);
	pthread_join(other, NULL);
	return round;
}

static void report(int nr, bool ok, const char *what, unsigned long rounds)
{
	printf("%s %d %s\n# %lu rounds, %lu reads of a freed set, %lu left behind\n",
	       ok ? "ok" : "not ok", nr, what, rounds, walked_freed, left_behind);
}

static int skip(const char *why)
{
	printf("ok 1 pins # SKIP %s\nok 2 pins without membarrier(2) # SKIP %s\n",
	       why, why);
	return 0;
}

int main(void)
{
	unsigned long rounds, mutant;

	printf("TAP version 13\n1..2\n");
	if (!two_cpus())
		return skip("there is one CPU");
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
		    0, 0))
		return skip("there is no membarrier(2)");
	sched_setaffinity(0, sizeof(cpu[1]), &cpu[1]);
	rounds = storm(BOUND);
	if (walked_freed || left_behind || !rounds) {
		report(1, false, "pins", rounds);
		return 1;
	}
	heavy_is_off = true;
	mutant = storm(4 * BOUND);
	if (!walked_freed && !left_behind) {
		fprintf(stderr, "%lu rounds, and %lu without\n", rounds, mutant);
		return skip("the machine does not show what the barrier is for");
	}
	printf("ok 1 pins\n# %lu rounds\n", rounds);
	report(2, true, "pins without membarrier(2) go wrong", mutant);
	return 0;
}
