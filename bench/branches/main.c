// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - the core of the branch engine, in a user program
 *
 * Usage: branches [SEED [ROUNDS [SECONDS]]]
 *
 * The program is built from files of the kernel.  It tests them on random
 * machines (kunit/branch), tests rings beside a writer on another CPU and
 * beside a signal handler, which replaces the NMI, and measures the time of a
 * filter.  The output is TAP, with the row of the measurement.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "../../kunit/branch/lab.h"
#include "copy.h"

/* Seconds of each test of a ring. */
#define RING_SECONDS	2

static unsigned int results, failures;

static bool result(bool good, const char *name)
{
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++results, name);
	fflush(stdout);
	failures += !good;
	return good;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Random machines */

static void print_counts(const struct lab_counts *counts)
{
	printf("# judged: %llu records of %llu streams\n",
	       (unsigned long long)counts->records,
	       (unsigned long long)counts->streams);
	printf("# interrupts: %llu, of these %llu in exact windows of %u\n",
	       (unsigned long long)counts->interrupts,
	       (unsigned long long)counts->least, BRANCH_WINDOW_MIN);
	printf("# branches: %llu alike with other windows, %llu with a filter\n",
	       (unsigned long long)counts->windows,
	       (unsigned long long)counts->filters);
}

static void test_properties(u64 seed, unsigned long rounds, double seconds)
{
	double end = now() + seconds;
	struct lab *lab = calloc(1, sizeof(*lab));
	unsigned long done = 0;
	bool good = lab;

	while (good && done < rounds && (now() < end || !done))
		good = lab_round(lab, seed + done++);
	result(good, "properties of random machines");
	printf("# %lu rounds from seed %llu on; SEED=%llu ROUNDS=1 makes the last one\n",
	       done, (unsigned long long)seed,
	       (unsigned long long)(seed + done - 1));
	/* A test that judged nothing proves nothing. */
	result(lab && lab_has_judged(lab, done), "each property is judged");
	if (lab)
		print_counts(&lab->counts);
	free(lab);
}

/* Rings.  Every eighth record is of the kind that names an owner. */

#define RING_SIZE	64

static struct branch_buffer ring;
static struct utrace_branch ring_records[RING_SIZE];
static bool ring_over;

static struct utrace_branch ring_record(u64 number)
{
	return (struct utrace_branch){
		number, number * 0x9e3779b97f4a7c15ULL,
		number % 8 ? UTRACE_BRANCH : UTRACE_BRANCH_TASK
	};
}

/* Write a few records; the first one of all has the number 0. */
static void ring_write(void)
{
	static u64 number, seed;
	struct utrace_branch some[90];
	unsigned int i, n = 1 + lab_random(&seed) % 90;

	if (!ring.head && !ring.lost)
		number = 0;
	for (i = 0; i < n; i++)
		some[i] = ring_record(number++);
	utrace_branch_buffer_write(&ring, some, n);
}

static bool is_record(const struct utrace_branch *record, u64 number)
{
	const struct utrace_branch right = ring_record(number);

	return !memcmp(record, &right, sizeof(right));
}

/* Check @n records that a reader has got.  Returns false if one is wrong. */
static bool ring_check(const struct utrace_branch *records, unsigned int n,
		       u64 *next, u64 *lost)
{
	static bool owner_comes;
	unsigned int i;

	if (!*next)
		owner_comes = false;
	for (i = 0; i < n; i++) {
		if (UTRACE_BRANCH_TYPE(records[i].info) == UTRACE_BRANCH_LOST) {
			*next += records[i].from;
			*lost += records[i].from;
			owner_comes = ring.overwrite;
		} else if (owner_comes) {
			if (!is_record(&records[i], (*next - 1) & ~7ULL))
				return false;
			owner_comes = false;
		} else if (!is_record(&records[i], (*next)++)) {
			return false;
		}
	}
	return true;
}

/* Read until the time is over.  Returns false if something was wrong. */
static bool ring_read(u64 *next, u64 *lost)
{
	double end = now() + RING_SECONDS;
	struct utrace_branch some[RING_SIZE + 2];
	struct branch_cursor cursor;
	bool good = true;
	unsigned int n, turn = 0;

	*next = 0;
	*lost = 0;
	while (good && (++turn % 64 || now() < end)) {
		n = utrace_branch_buffer_copy(&ring, some,
					      1 + turn % (RING_SIZE + 2),
					      &cursor);
		utrace_branch_buffer_take(&ring, &cursor);
		good = ring_check(some, n, next, lost);
	}
	return good;
}

static void *ring_thread(void *unused)
{
	while (!READ_ONCE(ring_over))
		ring_write();
	return unused;
}

static void ring_signal(int signal)
{
	ring_write();
}

static void ring_report(bool good, const char *name, u64 next, u64 lost)
{
	/* A test that lost nothing proves nothing. */
	result(good && lost && next > 100 * RING_SIZE, name);
	printf("# %llu records, of which %llu were lost\n",
	       (unsigned long long)next, (unsigned long long)lost);
}

static void test_ring_thread(bool overwrite, const char *name)
{
	pthread_t thread;
	u64 next, lost;
	bool good;

	utrace_branch_buffer_init(&ring, ring_records, RING_SIZE, overwrite,
				  true);
	ring_over = false;
	if (pthread_create(&thread, NULL, ring_thread, NULL)) {
		result(false, name);
		return;
	}
	good = ring_read(&next, &lost);
	WRITE_ONCE(ring_over, true);
	pthread_join(thread, NULL);
	ring_report(good, name, next, lost);
}

static void test_ring_signal(bool overwrite, const char *name)
{
	const struct itimerval often = { { 0, 20 }, { 0, 20 } }, never = {};
	struct sigaction action = { .sa_handler = ring_signal };
	u64 next, lost;
	bool good;

	utrace_branch_buffer_init(&ring, ring_records, RING_SIZE, overwrite,
				  true);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	good = ring_read(&next, &lost);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	/* Signals are slow, so that the reader loses little. */
	result(good && next > 100 * RING_SIZE, name);
	printf("# %llu records, of which %llu were lost\n",
	       (unsigned long long)next, (unsigned long long)lost);
}

/* The measurement */

#define WINDOW		2560	/* 60 KiB */
#define BENCH_RING	65536	/* 1.5 MiB, the power of 2 after 1 MiB */
#define BLOCKS		401
#define WINDOWS		400	/* of a block */

static const struct branch_entry bench_entry[] = {
	{ LAB_KERNEL | 0x10, 0, BRANCH_ENTRY_TRANSPARENT },
	{ LAB_KERNEL | 0x30, UTRACE_PC_SYSCALL, BRANCH_ENTRY_SYSCALL },
};

static const struct branch_entries bench_entries = { bench_entry, 2 };

/*
 * A stream of a program that computes: 50 to 5000 branches in user mode, then
 * a system call or an interrupt with 10 to 50 branches in the kernel.
 */
static void make_stream(struct utrace_branch *records, unsigned int n)
{
	unsigned int left = 0, i;
	bool kernel = true;
	u64 at = 0, to, seed = 1, random;

	for (i = 0; i < n; i++) {
		random = lab_random(&seed);
		if (left) {
			left--;
			to = kernel ? LAB_KERNEL + 0x1000 + (random & 0xffff) :
			     0x400000 + (random & 0xffffff);
		} else if (kernel) {
			kernel = false;
			left = 50 + random % 4951;
			to = 0x400000 + (random & 0xffffff);
		} else {
			kernel = true;
			left = 10 + random % 41;
			to = bench_entry[random & 1].address;
		}
		records[i] = (struct utrace_branch){ at, to, 0 };
		at = to + (random >> 60);
	}
}

struct bench {
	struct utrace_branch *stream;
	struct utrace_branch *ring;
	struct branch_view view;
	struct branch_buffer buffer;
	u64 at;
};

static double copy_block(struct bench *bench)
{
	double begun = now();
	unsigned int i, first;

	for (i = 0; i < WINDOWS; i++) {
		const struct utrace_branch *from = bench->stream +
						   i % 16 * WINDOW;
		u64 at = bench->at & (BENCH_RING - 1);

		first = min((u64)WINDOW, BENCH_RING - at);
		bench_copy(bench->ring + at, from, first * sizeof(*from));
		bench_copy(bench->ring, from + first,
			   (WINDOW - first) * sizeof(*from));
		bench->at += WINDOW;
	}
	return now() - begun;
}

static double filter_block(struct bench *bench)
{
	double begun = now();
	unsigned int i;

	for (i = 0; i < WINDOWS; i++) {
		utrace_branch_view_filter(&bench->view,
					  bench->stream + i % 16 * WINDOW,
					  WINDOW, &bench->buffer);
		utrace_branch_buffer_skip(&bench->buffer, bench->buffer.head -
							  bench->buffer.tail);
	}
	return now() - begun;
}

/*
 * Compare the best blocks of both, which take turns: other programs on the
 * machine make blocks slower, never faster.
 */
static void test_ratio(void)
{
	double copy = 1e9, filter = 1e9, t, ratio;
	struct bench bench = {
		.stream = malloc(16 * WINDOW * sizeof(*bench.stream)),
		.ring = calloc(BENCH_RING, sizeof(*bench.ring)),
		.view = {
			.entries = &bench_entries,
			.level = BRANCH_LEVEL_USER,
		},
	};
	unsigned int i;

	if (!bench.stream || !bench.ring) {
		result(false, "there is memory");
		return;
	}
	make_stream(bench.stream, 16 * WINDOW);
	utrace_branch_buffer_init(&bench.buffer, bench.ring, BENCH_RING, false,
				  false);
	for (i = 0; i < BLOCKS; i++) {
		t = copy_block(&bench);
		copy = min(copy, t);
		t = filter_block(&bench);
		filter = min(filter, t);
	}
	ratio = copy / filter;
	result(ratio >= 0.55, "bts_filter_ratio is at least 0.55");
	printf("# copy %.2f GB/s, filter %.2f GB/s\n",
	       WINDOWS * WINDOW * 24. / copy / 1e9,
	       WINDOWS * WINDOW * 24. / filter / 1e9);
	printf("row bts_filter_ratio %.3f\n", ratio);
	free(bench.stream);
	free(bench.ring);
}

int main(int argc, char **argv)
{
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : ~0UL;
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 10;

	printf("TAP version 13\n");
	test_properties(seed, rounds, seconds);
	test_ring_thread(true, "last records beside another CPU");
	test_ring_signal(true, "last records beside an interrupt");
	test_ring_thread(false, "all records beside another CPU");
	test_ring_signal(false, "all records beside an interrupt");
	test_ratio();
	printf("1..%u\n", results);
	return failures > 0;
}
