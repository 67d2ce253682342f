// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace branches report': print a report of a file of branches
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/array_size.h>
#include <linux/utrace_branch.h>

#include "branches.h"
#include "file.h"
#include "flame.h"
#include "lib/progress.h"
#include "lib/screen.h"
#include "objects.h"
#include "places.h"
#include "symbols.h"
#include "tables.h"
#include "tally.h"

static void count(struct branches_reader *reader, struct tally *tally)
{
	const struct utrace_branch *records;
	size_t i, n;

	progress_begin(true);
	while ((n = branches_read(reader, &records))) {
		for (i = 0; i < n; i++) {
			tally_take(tally, &records[i]);
			/*
			 * Reading symbols may take long, even for a few
			 * records.
			 */
			if (!(i % 1024) && progress_is_due())
				progress_show("utrace: %llu branches, %llu %% of the file",
					      tally->branches, reader->total ?
					      reader->at * 100 / reader->total : 0);
		}
	}
	progress_end();
}

static void print_about(const struct branches_reader *reader)
{
	time_t time = reader->about.time;
	char when[64] = "";
	struct tm tm;

	if (localtime_r(&time, &tm))
		strftime(when, sizeof(when), "%F %T", &tm);
	printf("%s%s%s\n", style(STYLE_HEAD),
	       shorten(reader->about.command, screen_width()), style(STYLE_PLAIN));
	printf("%s, recorded %s", shorten(reader->path, 40), when);
	if (reader->complete)
		printf(", in %llu.%llu s", reader->end.duration / 1000,
		       reader->end.duration / 100 % 10);
	putchar('\n');
}

/* Print warnings about the numbers. */
static void print_warnings(const struct branches_reader *reader,
			   const struct tally *tally)
{
	const char *warn = style(STYLE_WARN), *plain = style(STYLE_PLAIN);

	if (!reader->complete)
		printf("%sThe file is incomplete%s: the recording was killed, or "
		       "the file was truncated.\n", warn, plain);
	if (tally->gaps)
		printf("%sLost: %llu branches%s, in %llu gap%s.  All numbers are too "
		       "small.\n", warn, tally->lost, plain, tally->gaps,
		       tally->gaps == 1 ? "" : "s");
	if (tally->hidden)
		printf("%sHidden: %llu time%s%s a task had privileges that you do "
		       "not have.\n", warn, tally->hidden,
		       tally->hidden == 1 ? "" : "s", plain);
	if (reader->copied)
		printf("Mappings of some short processes are those of their parents.\n");
}

static void print_totals(const struct tally *tally)
{
	printf("%llu branches of %zu task%s, %s\n", tally->branches,
	       tally->task_ids.n, tally->task_ids.n == 1 ? "" : "s",
	       tally->gaps ? "some lost" : "none lost");
}

/* Print the files that have no symbols, with the reason. */
static void print_no_symbols(const struct tally *tally)
{
	const struct function *function;
	bool heading = false;
	size_t i;

	for (i = 0; i < functions_count() && i < tally->nfunctions; i++) {
		function = function_get(i);
		if (function->object < OBJECT_FIRST || function->start ||
		    !tally->functions[i].branches ||
		    !symbols_why_not(function->object))
			continue;
		if (!heading)
			printf("\n%sWithout symbols%s\n", style(STYLE_HEAD),
			       style(STYLE_PLAIN));
		heading = true;
		printf("  %s: %s\n",
		       shorten(objects_get(function->object)->path, 500),
		       symbols_why_not(function->object));
	}
}

/* Print the report.  Returns the status of the command. */
int branches_report(const struct branches_options *options)
{
	struct branches_reader reader;
	struct tally tally;

	screen_begin(stdout);
	branches_open(&reader, options->file);
	tally_begin(&tally);
	count(&reader, &tally);
	print_about(&reader);
	print_totals(&tally);
	print_warnings(&reader, &tally);
	if (tally.branches) {
		report_functions(&tally, options->functions);
		report_edges(&tally, options->edges);
		if (options->source)
			report_lines(&tally, options->edges ?: 10);
		report_kernel(&tally);
		report_tasks(&tally);
		print_no_symbols(&tally);
	}
	if (options->flame)
		flame_write(options->flame, &tally.tree, reader.about.command);
	return 0;
}
