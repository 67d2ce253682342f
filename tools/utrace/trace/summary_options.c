// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - options of a summary of system calls
 *
 * The functions return NULL, or what is wrong, which is valid until the next
 * call.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>

#include "lib/memory.h"
#include "summary.h"

/* Words for columns.  strace has several for some. */
static const struct {
	const char *word;
	enum summary_column column;
} words[] = {
	{ "time-percent", SUMMARY_PERCENT }, { "time_percent", SUMMARY_PERCENT },
	{ "total-time", SUMMARY_TOTAL }, { "total_time", SUMMARY_TOTAL },
	{ "time", SUMMARY_TOTAL },
	{ "min-time", SUMMARY_MIN }, { "min_time", SUMMARY_MIN },
	{ "shortest", SUMMARY_MIN },
	{ "max-time", SUMMARY_MAX }, { "max_time", SUMMARY_MAX },
	{ "longest", SUMMARY_MAX },
	{ "avg-time", SUMMARY_AVERAGE }, { "avg_time", SUMMARY_AVERAGE },
	{ "calls", SUMMARY_CALLS }, { "count", SUMMARY_CALLS },
	{ "errors", SUMMARY_ERRORS }, { "error", SUMMARY_ERRORS },
	{ "p50-time", SUMMARY_P50 }, { "p99-time", SUMMARY_P99 },
	{ "name", SUMMARY_NAME }, { "syscall", SUMMARY_NAME },
	{ "syscall-name", SUMMARY_NAME }, { "syscall_name", SUMMARY_NAME },
	{ "nothing", SUMMARY_NOTHING }, { "none", SUMMARY_NOTHING },
};

/* Find the column of a word.  Returns SUMMARY_COLUMNS if it has none. */
static enum summary_column column_of(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].word, word))
			return words[i].column;
	return SUMMARY_COLUMNS;
}

static bool has_column(const struct summary_options *options,
		       enum summary_column column)
{
	unsigned int i;

	for (i = 0; i < options->ncolumns; i++)
		if (options->column[i] == column)
			return true;
	return false;
}

static const char *add_column(struct summary_options *options, const char *word)
{
	enum summary_column column = column_of(word);
	static char *wrong;

	if (!strcmp(word, "errnos")) {
		options->errnos = true;
		return NULL;
	}
	free(wrong);
	wrong = NULL;
	if (column >= SUMMARY_COLUMNS)
		wrong = xasprintf("there is no column '%s'", word);
	else if (has_column(options, column))
		wrong = xasprintf("'%s' is there twice", word);
	else
		options->column[options->ncolumns++] = column;
	return wrong;
}

/* Parse the columns of -U.  The name comes last if it is not given. */
const char *summary_columns(struct summary_options *options, const char *list)
{
	char *text, *rest, *word;
	const char *wrong = NULL;

	if (!strcmp(list, "all"))
		list = "time-percent,total-time,avg-time,min-time,max-time,calls,errors,"
		       "p50-time,p99-time,errnos,name";
	options->ncolumns = 0;
	options->errnos = false;
	text = checked(strdup(list));
	rest = text;
	while (!wrong && (word = strsep(&rest, ",")))
		wrong = add_column(options, word);
	free(text);
	if (!has_column(options, SUMMARY_NAME))
		options->column[options->ncolumns++] = SUMMARY_NAME;
	return wrong;
}

/* Parse the word of -S. */
const char *summary_sort(struct summary_options *options, const char *word)
{
	enum summary_column column = column_of(word);

	if (column == SUMMARY_COLUMNS || column == SUMMARY_PERCENT ||
	    column == SUMMARY_P50 || column == SUMMARY_P99)
		return "give time, min-time, max-time, avg-time, calls, errors, "
		       "name or nothing";
	options->sort = column;
	return NULL;
}

/* Parse the time of -O: a number with s, ms, us (the default) or ns. */
const char *summary_overhead(struct summary_options *options, const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "", 1e3 }, { "ns", 1 } };
	char *end;
	double number = strtod(text, &end);
	size_t i;

	if (end != text && number >= 0 && number < 1e9) {
		for (i = 0; i < ARRAY_SIZE(units); i++) {
			if (strcmp(end, units[i].unit))
				continue;
			options->overhead = number * units[i].ns;
			return NULL;
		}
	}
	return "give a time with s, ms, us or ns";
}
