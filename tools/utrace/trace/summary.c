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
 * @max: longest duration in ns
 * @durations: number of calls by duration, as in struct utrace_call_count
 */
struct count {
	__u32 nr;
	__u64 calls;
	__u64 errors;
	__u64 total;
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

/* Printing */

static const char line[] =
	"------ ----------- ----------- --------- --------- "
	"--------- --------- --------- ----------------\n";

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
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

static void print_errors(FILE *out, __u64 errors)
{
	if (errors)
		fprintf(out, " %9llu", errors);
	else
		fprintf(out, " %9s", "");
}

static void print_count(FILE *out, const struct count *count, __u64 total)
{
	fprintf(out, "%6.2f %11.6f %11llu %9llu",
		total ? 100.0 * count->total / total : 0.0, count->total / 1e9,
		count->calls ? count->total / count->calls / 1000 : 0,
		count->calls);
	print_errors(out, count->errors);
	fprintf(out, " %9.1f %9.1f %9.1f ", percentile(count, 50) / 1e3,
		percentile(count, 99) / 1e3, count->max / 1e3);
	print_name(out, count->nr);
}

static void print_counts(FILE *out, const struct summary *sum)
{
	struct count all = {};
	size_t i, k;

	for (i = 0; i < sum->ncounts; i++) {
		const struct count *count = &sum->count[i];

		all.calls += count->calls;
		all.errors += count->errors;
		all.total += count->total;
		if (count->max > all.max)
			all.max = count->max;
		for (k = 0; k < UTRACE_CALL_DURATIONS; k++)
			all.durations[k] += count->durations[k];
	}
	fprintf(out, "%% time     seconds  usecs/call     calls    errors  "
		"p50 usec  p99 usec  max usec syscall\n%s", line);
	for (i = 0; i < sum->ncounts; i++)
		print_count(out, &sum->count[i], all.total);
	fprintf(out, "%s100.00 %11.6f %11llu %9llu", line, all.total / 1e9,
		all.calls ? all.total / all.calls / 1000 : 0, all.calls);
	print_errors(out, all.errors);
	fprintf(out, " %9.1f %9.1f %9.1f total\n",
		percentile(&all, 50) / 1e3, percentile(&all, 99) / 1e3,
		all.max / 1e3);
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

/**
 * summary_print() - print the counts of the kernel
 * @session: descriptor of a session that has counted calls
 * @out: the output
 *
 * The calls that took longest come first, then the most frequent errors.
 */
void summary_print(int session, FILE *out)
{
	struct summary sum = {};

	while (!read_counts(session, &sum))
		;
	if (sum.ncounts)
		qsort(sum.count, sum.ncounts, sizeof(*sum.count),
		      compare_counts);
	if (sum.nfailures)
		qsort(sum.failure, sum.nfailures, sizeof(*sum.failure),
		      compare_failures);
	print_counts(out, &sum);
	print_failures(out, &sum);
	if (sum.lost)
		fprintf(out, "\n"
			"Incomplete: %llu calls were not counted for lack of "
			"room; use -e trace=SET.\n", sum.lost);
	free(sum.count);
	free(sum.failure);
}
