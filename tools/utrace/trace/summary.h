/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a summary of system calls (-c)
 */
#ifndef UTRACE_TRACE_SUMMARY_H
#define UTRACE_TRACE_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/types.h>

/* Columns of the table, which are also what -S sorts by. */
enum summary_column {
	SUMMARY_PERCENT,
	SUMMARY_TOTAL,
	SUMMARY_MIN,
	SUMMARY_MAX,
	SUMMARY_AVERAGE,
	SUMMARY_CALLS,
	SUMMARY_ERRORS,
	SUMMARY_P50,
	SUMMARY_P99,
	SUMMARY_NAME,
	SUMMARY_COLUMNS,
	SUMMARY_NOTHING,	/* -S: by the numbers of calls */
};

/**
 * struct summary_options - how the summary is printed
 * @column: -U: columns of the table
 * @ncolumns: number of elements of @column
 * @errnos: -U: also print a table of errors by name
 * @sort: -S: what the rows are sorted by
 * @overhead: -O: ns that are subtracted from each call
 */
struct summary_options {
	enum summary_column column[SUMMARY_COLUMNS];
	unsigned int ncolumns;
	bool errnos;
	enum summary_column sort;
	__u64 overhead;
};

const char *summary_columns(struct summary_options *options, const char *list);
const char *summary_sort(struct summary_options *options, const char *word);
const char *summary_overhead(struct summary_options *options, const char *text);
void summary_print(int session, const struct summary_options *options, FILE *out);

#endif /* UTRACE_TRACE_SUMMARY_H */
