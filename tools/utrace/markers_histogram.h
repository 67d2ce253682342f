/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - how the values of an argument are spread
 */
#ifndef UTRACE_MARKERS_HISTOGRAM_H
#define UTRACE_MARKERS_HISTOGRAM_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/types.h>

/* One for negative values, one for 0, and one for each highest bit. */
#define HISTOGRAM_BUCKETS	66

/**
 * struct histogram - values, sorted by their logarithm
 * @buckets: number of values by their highest bit
 * @values: number of values
 * @unreadable: number of hits whose value could not be read
 */
struct histogram {
	__u64 buckets[HISTOGRAM_BUCKETS];
	__u64 values;
	__u64 unreadable;
};

void histogram_add(struct histogram *histogram, __u64 value, bool is_signed);
void histogram_print(const struct histogram *histogram, FILE *out);

#endif /* UTRACE_MARKERS_HISTOGRAM_H */
