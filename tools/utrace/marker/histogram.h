/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - how the values of an argument are spread
 */
#ifndef UTRACE_MARKER_HISTOGRAM_H
#define UTRACE_MARKER_HISTOGRAM_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/utrace_marker.h>

/**
 * struct histogram - values, sorted by their logarithm
 * @buckets: number of values by enum utrace_bucket, as the kernel has them
 */
struct histogram {
	__u64 buckets[UTRACE_BUCKETS];
};

void histogram_add(struct histogram *histogram, __u64 value, bool is_signed);
void histogram_add_all(struct histogram *histogram, const __u64 *buckets);
__u64 histogram_values(const struct histogram *histogram);
void histogram_print(const struct histogram *histogram, FILE *out);

#endif /* UTRACE_MARKER_HISTOGRAM_H */
