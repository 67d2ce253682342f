// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - time that pins take on the machine itself
 *
 * A count of instructions does not show that a locked instruction takes longer.
 * This program times the pins of the two passes of a system call.  The pins of
 * kernel/utrace/pin.h and pins with full barriers take turns in one run.  The
 * program prints the medians in nanoseconds as lines "NAME VALUE".
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

/* The words of a task that a pin reads and writes. */
static struct {
	struct utrace_set *published;
	struct utrace_set *pinned;
} task __attribute__((aligned(64)));

static struct utrace_set set;

static __always_inline bool pin_full(struct utrace_set **pinned,
				     struct utrace_set *set,
				     struct utrace_set **published)
{
	smp_store_mb(*pinned, set);	/* Pairs with one after publishing. */
	return set == READ_ONCE(*published);
}

static __always_inline void drop_full(struct utrace_set **pinned)
{
	smp_store_mb(*pinned, NULL);	/* Before reading the deferred set. */
}

/* Pin and unpin once, as one pass does. */
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

/* Nanoseconds that the pins of a pair of passes take, entry and exit. */
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
