// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - histograms of the values of an argument
 *
 * A line of the histogram has the values from one power of 2 to the next.
 */
#include "histogram.h"

/* Columns of the longest bar. */
#define BAR	50

static unsigned int bucket_of(__u64 value, bool is_signed)
{
	if (is_signed && (__s64)value < 0)
		return UTRACE_BUCKET_NEGATIVE;
	if (!value)
		return UTRACE_BUCKET_ZERO;
	return UTRACE_BUCKET_POSITIVE + 63 - __builtin_clzll(value);
}

/* Add a value. */
void histogram_add(struct histogram *histogram, __u64 value, bool is_signed)
{
	histogram->buckets[bucket_of(value, is_signed)]++;
}

/* Add a histogram of the kernel. */
void histogram_add_all(struct histogram *histogram, const __u64 *buckets)
{
	unsigned int i;

	for (i = 0; i < UTRACE_BUCKETS; i++)
		histogram->buckets[i] += buckets[i];
}

/* Return the number of values that could be read. */
__u64 histogram_values(const struct histogram *histogram)
{
	unsigned int i;
	__u64 n = 0;

	for (i = UTRACE_BUCKET_NEGATIVE; i < UTRACE_BUCKETS; i++)
		n += histogram->buckets[i];
	return n;
}

/* Print 2 to the power of @n, such as "512" or "64K". */
static void power(unsigned int n, char *text, size_t size)
{
	static const char units[] = " KMGTPE";

	if (n < 10)
		snprintf(text, size, "%u", 1 << n);
	else
		snprintf(text, size, "%u%c", 1 << n % 10, units[n / 10]);
}

static void label_of(unsigned int bucket, char *text, size_t size)
{
	unsigned int n = bucket - UTRACE_BUCKET_POSITIVE;
	char from[8], to[8];

	if (bucket == UTRACE_BUCKET_NEGATIVE) {
		snprintf(text, size, "(..., 0)");
	} else if (bucket <= UTRACE_BUCKET_POSITIVE) {
		snprintf(text, size, "[%u]", bucket - UTRACE_BUCKET_ZERO);
	} else {
		power(n, from, sizeof(from));
		power(n + 1, to, sizeof(to));
		snprintf(text, size, "[%s, %s)", from, to);
	}
}

static void print_bucket(const struct histogram *histogram, unsigned int bucket,
			 __u64 most, FILE *out)
{
	__u64 n = histogram->buckets[bucket];
	int length = (double)n / most * BAR, i;
	char label[24];

	label_of(bucket, label, sizeof(label));
	fprintf(out, "%-14s %10llu |", label, n);
	for (i = 0; i < BAR; i++)
		fputc(i < length ? '@' : ' ', out);
	fputs("|\n", out);
}

/* Print a histogram, from its first line with a value to the last one. */
void histogram_print(const struct histogram *histogram, FILE *out)
{
	unsigned int i, first = UTRACE_BUCKETS, last = 0;
	__u64 most = 0;

	for (i = UTRACE_BUCKET_NEGATIVE; i < UTRACE_BUCKETS; i++) {
		__u64 n = histogram->buckets[i];

		if (!n)
			continue;
		if (first == UTRACE_BUCKETS)
			first = i;
		last = i;
		if (most < n)
			most = n;
	}
	for (i = first; i <= last && most; i++)
		print_bucket(histogram, i, most, out);
}
