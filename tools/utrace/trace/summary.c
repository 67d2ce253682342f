// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a summary of system calls (-c)
 *
 * The kernel counts the calls of each task, without a record.  The counts of
 * all tasks are added up here when the trace is over.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/utrace.h>

#include "format/calls.h"
#include "lib/fail.h"
#include "summary.h"

/* Number of rows of one read. */
#define ROWS	256

/**
 * struct count - the counts of one system call in all tasks
 * @nr: number of the call
 * @calls: number of calls
 * @errors: number of calls among @calls that have failed
 * @total: sum of the durations in ns
 * @min: shortest duration in ns
 * @max: longest duration in ns
 * @durations: number of calls by duration, as in struct utrace_call_count
 */
struct count {
	__u32 nr;
	__u64 calls;
	__u64 errors;
	__u64 total;
	__u64 min;
	__u64 max;
	__u64 durations[UTRACE_CALL_DURATIONS];
};

/**
 * struct failure - how often a system call has failed in one way
 * @nr: number of the call
 * @error: errno; 0: errors that the kernel did not count by errno
 * @calls: number of calls
 */
struct failure {
	__u32 nr;
	unsigned int error;
	__u64 calls;
};

/**
 * struct summary - the sums of all tasks
 * @count: a count for each system call
 * @ncounts: number of elements of @count
 * @failure: a count for each system call and errno
 * @nfailures: number of elements of @failure
 * @lost: calls that were not counted
 */
struct summary {
	struct count *count;
	size_t ncounts;
	struct failure *failure;
	size_t nfailures;
	__u64 lost;
};

/* Adding up */

static void *one_more(void *array, size_t n, size_t size)
{
	array = reallocarray(array, n + 1, size);
	if (!array)
		fail("the summary", strerror(errno));
	return array;
}

static struct count *count_of(struct summary *sum, __u32 nr)
{
	size_t i;

	for (i = 0; i < sum->ncounts; i++)
		if (sum->count[i].nr == nr)
			return &sum->count[i];
	sum->count = one_more(sum->count, sum->ncounts, sizeof(*sum->count));
	sum->count[sum->ncounts] = (struct count){ .nr = nr };
	return &sum->count[sum->ncounts++];
}

static void add_failure(struct summary *sum, __u32 nr, unsigned int error,
			__u64 calls)
{
	size_t i;

	if (!calls)
		return;
	for (i = 0; i < sum->nfailures; i++)
		if (sum->failure[i].nr == nr && sum->failure[i].error == error)
			break;
	if (i == sum->nfailures) {
		sum->failure = one_more(sum->failure, sum->nfailures,
					sizeof(*sum->failure));
		sum->failure[sum->nfailures++] = (struct failure){
			.nr = nr,
			.error = error,
		};
	}
	sum->failure[i].calls += calls;
}

static void add_row(struct summary *sum, const struct utrace_call_count *row)
{
	struct count *count = count_of(sum, row->nr);
	size_t i;

	if (!count->calls || row->min < count->min)
		count->min = row->min;
	count->calls += row->calls;
	count->errors += row->errors;
	count->total += row->total;
	if (row->max > count->max)
		count->max = row->max;
	for (i = 0; i < UTRACE_CALL_DURATIONS; i++)
		count->durations[i] += row->durations[i];
	for (i = 0; i < UTRACE_CALL_ERRORS; i++)
		add_failure(sum, row->nr, row->err[i], row->errno_calls[i]);
	add_failure(sum, row->nr, 0, row->errno_other);
}

/*
 * Add up all rows.  Returns false if the kernel has merged rows during that, so
 * that some were not read.
 */
static bool read_counts(int session, struct summary *sum)
{
	static struct utrace_call_count rows[ROWS];
	struct utrace_ioc_counts counts = {
		.rows = { .at = (uintptr_t)rows, .size = sizeof(*rows) },
	};
	bool first = true, same = true;
	__u64 merged;
	unsigned int i;

	sum->ncounts = 0;
	sum->nfailures = 0;
	do {
		counts.rows.n = ROWS;
		if (ioctl(session, UTRACE_IOC_COUNTS, &counts))
			fail("reading the counts", strerror(errno));
		for (i = 0; i < counts.rows.n; i++)
			add_row(sum, &rows[i]);
		same = first || counts.merged == merged;
		merged = counts.merged;
		first = false;
	} while (same && counts.rows.n == ROWS);
	sum->lost = counts.lost;
	return same;
}

/* Order */

static const struct summary_options *order;

static int compare_numbers(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

static __u64 average(const struct count *count)
{
	return count->calls ? count->total / count->calls : 0;
}

static int compare_names(const struct count *x, const struct count *y)
{
	const char *a = call_name(x->nr), *b = call_name(y->nr);

	return strcmp(a ? a : "", b ? b : "");
}

/* Compare by the column of -S, and then by the number of the call. */
static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	int by = 0;

	switch (order->sort) {
	case SUMMARY_TOTAL:
		by = compare_numbers(y->total, x->total);
		break;
	case SUMMARY_MIN:
		by = compare_numbers(y->min, x->min);
		break;
	case SUMMARY_MAX:
		by = compare_numbers(y->max, x->max);
		break;
	case SUMMARY_AVERAGE:
		by = compare_numbers(average(y), average(x));
		break;
	case SUMMARY_CALLS:
		by = compare_numbers(y->calls, x->calls);
		break;
	case SUMMARY_ERRORS:
		by = compare_numbers(y->errors, x->errors);
		break;
	case SUMMARY_NAME:
		by = compare_names(x, y);
		break;
	default:
		break;
	}
	return by ? by : compare_numbers(x->nr, y->nr);
}

static int compare_failures(const void *a, const void *b)
{
	const struct failure *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	return (int)x->error - (int)y->error;
}

/* Printing */

/*
 * Return the duration in ns that @percent of the calls do not exceed: a power
 * of 2, the resolution of the kernel, or the longest one.
 */
static __u64 percentile(const struct count *count, unsigned int percent)
{
	__u64 rank = (count->calls * percent + 99) / 100, seen = 0;
	size_t i;

	for (i = 0; i < UTRACE_CALL_DURATIONS - 1; i++) {
		seen += count->durations[i];
		if (seen >= rank && 1ULL << i < count->max)
			return 1ULL << i;
		if (seen >= rank)
			break;
	}
	return count->max;
}

static void print_name(FILE *out, __u32 nr)
{
	const char *name = call_name(nr);

	fprintf(out, "%s%s\n", nr & UTRACE_NR_IA32 ? "i386/" : "",
		name ? name : "(no such call)");
}

/* Columns: their titles, and their widths, which are negative for text. */
static const struct {
	const char *title;
	int width;
} columns[] = {
	[SUMMARY_PERCENT] = { "% time", 6 },
	[SUMMARY_TOTAL] = { "seconds", 11 },
	[SUMMARY_MIN] = { "shortest", 8 },
	[SUMMARY_MAX] = { "longest", 8 },
	[SUMMARY_AVERAGE] = { "usecs/call", 11 },
	[SUMMARY_CALLS] = { "calls", 9 },
	[SUMMARY_ERRORS] = { "errors", 9 },
	[SUMMARY_P50] = { "p50 usec", 9 },
	[SUMMARY_P99] = { "p99 usec", 9 },
	[SUMMARY_NAME] = { "syscall", -16 },
};

static void print_cell(FILE *out, enum summary_column column,
		       const struct count *count, const char *name, __u64 total)
{
	switch (column) {
	case SUMMARY_PERCENT:
		fprintf(out, "%6.2f", !name ? 100.0 : total ?
			100.0 * count->total / total : 0.0);
		break;
	case SUMMARY_TOTAL:
		fprintf(out, "%11.6f", count->total / 1e9);
		break;
	case SUMMARY_MIN:
		fprintf(out, "%8.6f", count->min / 1e9);
		break;
	case SUMMARY_MAX:
		fprintf(out, "%8.6f", count->max / 1e9);
		break;
	case SUMMARY_AVERAGE:
		fprintf(out, "%11llu", average(count) / 1000);
		break;
	case SUMMARY_CALLS:
		fprintf(out, "%9llu", count->calls);
		break;
	case SUMMARY_ERRORS:
		if (count->errors)
			fprintf(out, "%9llu", count->errors);
		else
			fprintf(out, "%9s", "");
		break;
	case SUMMARY_P50:
		fprintf(out, "%9.1f", percentile(count, 50) / 1e3);
		break;
	case SUMMARY_P99:
		fprintf(out, "%9.1f", percentile(count, 99) / 1e3);
		break;
	default:
		break;
	}
}

/* Print a row.  @name is NULL in the last one. */
static void print_row(FILE *out, const struct summary_options *options,
		      const struct count *count, const char *name, __u64 total)
{
	const char *text = name ? name : "total";
	unsigned int i;

	for (i = 0; i < options->ncolumns; i++) {
		if (i)
			putc(' ', out);
		if (options->column[i] != SUMMARY_NAME)
			print_cell(out, options->column[i], count, name, total);
		else if (i + 1 < options->ncolumns)
			fprintf(out, "%-16s", text);
		else
			fputs(text, out);
	}
	putc('\n', out);
}

static void print_count(FILE *out, const struct summary_options *options,
			const struct count *count, __u64 total)
{
	const char *name = call_name(count->nr);
	char text[64];

	snprintf(text, sizeof(text), "%s%s",
		 count->nr & UTRACE_NR_IA32 ? "i386/" : "",
		 name ? name : "(no such call)");
	print_row(out, options, count, text, total);
}

static void print_titles(FILE *out, const struct summary_options *options)
{
	unsigned int i;

	for (i = 0; i < options->ncolumns; i++) {
		int width = columns[options->column[i]].width;

		/* The last title is not filled up with blanks. */
		if (i + 1 == options->ncolumns && width < 0)
			width = 0;
		fprintf(out, "%s%*s", i ? " " : "", width,
			columns[options->column[i]].title);
	}
	putc('\n', out);
}

static void print_line(FILE *out, const struct summary_options *options)
{
	unsigned int i;
	int k;

	for (i = 0; i < options->ncolumns; i++) {
		if (i)
			putc(' ', out);
		for (k = abs(columns[options->column[i]].width); k > 0; k--)
			putc('-', out);
	}
	putc('\n', out);
}

/* Add the counts of a call to the sum of all. */
static void add_count(struct count *all, const struct count *count)
{
	size_t i;

	if (!all->calls || count->min < all->min)
		all->min = count->min;
	all->calls += count->calls;
	all->errors += count->errors;
	all->total += count->total;
	if (count->max > all->max)
		all->max = count->max;
	for (i = 0; i < UTRACE_CALL_DURATIONS; i++)
		all->durations[i] += count->durations[i];
}

static void print_counts(FILE *out, const struct summary_options *options,
			 const struct summary *sum)
{
	struct count all = {};
	size_t i;

	if (!sum->ncounts)
		return;
	for (i = 0; i < sum->ncounts; i++)
		add_count(&all, &sum->count[i]);
	print_titles(out, options);
	print_line(out, options);
	for (i = 0; i < sum->ncounts; i++)
		print_count(out, options, &sum->count[i], all.total);
	print_line(out, options);
	print_row(out, options, &all, NULL, all.total);
}

static void print_failures(FILE *out, const struct summary *sum)
{
	char number[16];
	size_t i;

	if (!sum->nfailures)
		return;
	fputs("\n   errors name             syscall\n"
	      "--------- ---------------- ----------------\n", out);
	for (i = 0; i < sum->nfailures; i++) {
		const struct failure *failure = &sum->failure[i];
		const char *name = strerrorname_np(failure->error);

		snprintf(number, sizeof(number), "errno %u", failure->error);
		if (!failure->error)
			name = "others";
		fprintf(out, "%9llu %-16s ", failure->calls,
			name ? name : number);
		print_name(out, failure->nr);
	}
}

/* Return a duration without the overhead of -O in @calls calls. */
static __u64 without(__u64 ns, __u64 overhead, __u64 calls)
{
	return ns > overhead * calls ? ns - overhead * calls : 0;
}

/* Subtract the overhead of -O. */
static void subtract(struct summary *sum, __u64 overhead)
{
	size_t i;

	for (i = 0; i < sum->ncounts; i++) {
		struct count *count = &sum->count[i];

		count->total = without(count->total, overhead, count->calls);
		count->min = without(count->min, overhead, 1);
		count->max = without(count->max, overhead, 1);
	}
}

/**
 * summary_print() - print the counts of the kernel
 * @session: descriptor of a session that has counted calls
 * @options: columns and order
 * @out: the output
 */
void summary_print(int session, const struct summary_options *options, FILE *out)
{
	struct summary sum = {};

	while (!read_counts(session, &sum))
		;
	subtract(&sum, options->overhead);
	order = options;
	if (sum.ncounts)
		qsort(sum.count, sum.ncounts, sizeof(*sum.count),
		      compare_counts);
	if (sum.nfailures)
		qsort(sum.failure, sum.nfailures, sizeof(*sum.failure),
		      compare_failures);
	print_counts(out, options, &sum);
	if (options->errnos)
		print_failures(out, &sum);
	if (sum.lost)
		fprintf(out, "\n"
			"Incomplete: %llu calls were not counted for lack of "
			"room; use -e trace=SET.\n", sum.lost);
	free(sum.count);
	free(sum.failure);
}
