// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - what pins cost on the machine itself
 *
 * Counting instructions does not see what a locked one costs.  This program times
 * the two passes of a system call, as far as they are pins: the kernel's own header
 * beside pins with a full barrier each, in turns in one run, and prints the
 * medians in nanoseconds as lines "NAME VALUE".
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "shims.h"

#define BLOCKS	401
#define PAIRS	20000

struct utrace_set {
	unsigned long events;
};

/* The words of a task that pins are about. */
static struct {
	struct utrace_set *published;
	struct utrace_set *pinned;
} task __attribute__((aligned(64)));

static struct utrace_set set;

static __always_inline bool pin_full(struct utrace_set **pinned,
				     struct utrace_set *set,
				     struct utrace_set **published)
{
	smp_store_mb(*pinned, set);	/* Before who published it looks. */
	return set == READ_ONCE(*published);
}

static __always_inline void drop_full(struct utrace_set **pinned)
{
	smp_store_mb(*pinned, NULL);	/* Before the task looks what it was left. */
}

/* The pins of one pass. */
static __always_inline void pass(bool full)
{
	struct utrace_set *s = READ_ONCE(task.published);

	if (!likely(full ? pin_full(&task.pinned, s, &task.published) :
		    utrace_pin_try(&task.pinned, s, &task.published)))
		abort();
	if (full)
		drop_full(&task.pinned);
	else
		utrace_pin_drop(&task.pinned);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Nanoseconds of a pair of passes, entry and exit. */
static __always_inline double block(bool full)
{
	double begun = now();
	int i;

	for (i = 0; i < PAIRS; i++) {
		pass(full);
		pass(full);
	}
	return (now() - begun) / PAIRS;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values)
{
	qsort(values, BLOCKS, sizeof(*values), compare);
	return values[BLOCKS / 2];
}

int main(void)
{
	static double full[BLOCKS], plain[BLOCKS];
	int i;

	task.published = &set;
	for (i = 0; i < BLOCKS; i++) {
		full[i] = block(true);
		plain[i] = block(false);
	}
	printf("pin_symmetric %.3f\n", median(full));
	printf("pin_asymmetric %.3f\n", median(plain));
	return 0;
}
