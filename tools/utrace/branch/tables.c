// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - tables of a report about branches
 *
 * Lines are shortened to the width of the terminal; lines to a file or a pipe
 * are not shortened.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/utrace_branch.h>

#include "lib/memory.h"
#include "lib/screen.h"
#include "objects.h"
#include "places.h"
#include "source.h"
#include "spaces.h"
#include "tables.h"
#include "tally.h"

/* A counted element: its number and its count. */
struct ranked {
	size_t n;
	__u64 count;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/**
 * struct ranking - counted elements in their order
 * @all: the elements
 * @n: number of elements that have a count
 * @shown: number of elements to show
 */
struct ranking {
	struct ranked *all;
	size_t n;
	size_t shown;
};

static void ranking_begin(struct ranking *ranking, size_t n)
{
	*ranking = (struct ranking){
		.all = checked(calloc(n ?: 1, sizeof(*ranking->all))),
	};
}

static void ranking_add(struct ranking *ranking, size_t n, __u64 count)
{
	if (count)
		ranking->all[ranking->n++] = (struct ranked){ n, count };
}

/* Sort the elements, to show the first @most, or all if that is 0. */
static void ranking_sort(struct ranking *ranking, unsigned int most)
{
	qsort(ranking->all, ranking->n, sizeof(*ranking->all), compare);
	ranking->shown = most && most < ranking->n ? most : ranking->n;
}

static double percent(__u64 count, const struct tally *tally)
{
	return tally->branches ? 100.0 * count / tally->branches : 0;
}

static void print_heading(const char *text)
{
	printf("\n%s%s%s\n", style(STYLE_HEAD), text, style(STYLE_PLAIN));
}

/* Print the sum of the elements that a table does not show. */
static void print_rest(const struct ranking *ranking, const struct tally *tally,
		       const char *what)
{
	__u64 count = 0;
	size_t i;

	for (i = ranking->shown; i < ranking->n; i++)
		count += ranking->all[i].count;
	if (count)
		printf("%11llu %5.1f%%  %s%zu more %s%s\n", count,
		       percent(count, tally), style(STYLE_DIM),
		       ranking->n - ranking->shown, what, style(STYLE_PLAIN));
}

/* Print the functions with the most branches; @most of them, 0: all. */
void report_functions(const struct tally *tally, unsigned int most)
{
	struct ranking ranking;
	int room = screen_width() - 31, name;
	size_t i;

	/* The module gets a third of the columns that the numbers leave. */
	name = room > 1000 ? 40 : room * 2 / 3;
	ranking_begin(&ranking, functions_count());
	for (i = 0; i < functions_count(); i++)
		ranking_add(&ranking, i, tally->functions[i].branches);
	ranking_sort(&ranking, most);
	print_heading("   Branches      %      Calls  Function");
	for (i = 0; i < ranking.shown; i++) {
		const struct ranked *ranked = &ranking.all[i];
		const struct function *function = function_get(ranked->n);
		const char *text = shorten(function->name,
					   room > 1000 ? room : name);

		printf("%11llu %5.1f%% %10llu  %-*s %s%s%s\n", ranked->count,
		       percent(ranked->count, tally),
		       tally->functions[ranked->n].calls, padding(text, name),
		       text, style(STYLE_DIM),
		       shorten(object_name(function->object), room - name - 1),
		       style(STYLE_PLAIN));
	}
	print_rest(&ranking, tally, "functions");
	free(ranking.all);
}

/* Return the name of a kind of branch. */
const char *report_kind(unsigned int kind)
{
	static const char *const kinds[] = {
		[UTRACE_BR_UNKNOWN] = "?", [UTRACE_BR_COND] = "cond",
		[UTRACE_BR_UNCOND] = "jump", [UTRACE_BR_IND] = "ijump",
		[UTRACE_BR_CALL] = "call", [UTRACE_BR_IND_CALL] = "icall",
		[UTRACE_BR_RET] = "ret", [UTRACE_BR_SYSCALL] = "sys",
		[UTRACE_BR_SYSRET] = "back",
	};

	return kind < ARRAY_SIZE(kinds) ? kinds[kind] : "?";
}

static void print_edge_lines(const struct tally_edge *edge)
{
	struct place *from = place_get(edge->places.from);
	struct place *to = place_get(edge->places.to);
	int half = (screen_width() - 28 - 4) / 2;

	if (!place_find_line(from) && !place_find_line(to))
		return;
	place_find_line(to);
	printf("%27s%s%s -> ", "", style(STYLE_DIM),
	       shorten(source_text(from), half));
	printf("%s%s\n", shorten(source_text(to), half), style(STYLE_PLAIN));
}

/* Print the edges with the highest counts. */
void report_edges(const struct tally *tally, unsigned int most)
{
	struct ranking ranking;
	int half = (screen_width() - 28 - 4) / 2;
	size_t i;

	if (!most)
		return;
	ranking_begin(&ranking, tally->edge_pairs.n);
	for (i = 0; i < tally->edge_pairs.n; i++)
		ranking_add(&ranking, i, tally->edges[i].taken);
	ranking_sort(&ranking, most);
	print_heading("      Taken      %  Kind   From -> to");
	for (i = 0; i < ranking.shown; i++) {
		const struct tally_edge *edge = &tally->edges[ranking.all[i].n];
		const char *from = shorten(place_text(place_get(edge->places.from)),
					   half);

		printf("%11llu %5.1f%%  %-5s  %s -> ", edge->taken,
		       percent(edge->taken, tally), report_kind(edge->kind), from);
		printf("%s\n", shorten(place_text(place_get(edge->places.to)), half));
		print_edge_lines(edge);
	}
	print_rest(&ranking, tally, "edges");
	free(ranking.all);
}

/* A source line and its branches. */
struct lines {
	struct pairs pairs;
	__u64 *counts;
	size_t counts_size;
};

/* Names of files are interned, so compare pointers. */
static void count_line(struct lines *lines, const struct place *place, __u64 taken)
{
	size_t n = lines->pairs.n;
	size_t i = pairs_add(&lines->pairs, (unsigned long)place->file, place->line);

	if (i == n) {
		lines->counts = grow(lines->counts, n, &lines->counts_size,
				     sizeof(*lines->counts));
		lines->counts[n] = 0;
	}
	lines->counts[i] += taken;
}

static void print_line(const struct pair *pair, __u64 count,
		       const struct tally *tally)
{
	const char *file = (const char *)(unsigned long)pair->a;
	struct place place = { .file = file, .line = pair->b };
	const char *text = source_line(file, pair->b);
	const char *where = shorten(source_text(&place), 30);

	printf("%11llu %5.1f%%  %-*s %s%s%s\n", count, percent(count, tally),
	       padding(where, 20), where, style(STYLE_DIM),
	       text ? shorten(text, screen_width() - 42) : "", style(STYLE_PLAIN));
}

/* Print the source lines with the most branches. */
void report_lines(const struct tally *tally, unsigned int most)
{
	struct lines lines = {};
	struct ranking ranking;
	struct place *place;
	size_t i;

	for (i = 0; i < tally->edge_pairs.n; i++) {
		place = place_get(tally->edges[i].places.from);
		if (place_find_line(place))
			count_line(&lines, place, tally->edges[i].taken);
	}
	ranking_begin(&ranking, lines.pairs.n);
	for (i = 0; i < lines.pairs.n; i++)
		ranking_add(&ranking, i, lines.counts[i]);
	ranking_sort(&ranking, most);
	print_heading("   Branches      %  Source line");
	if (!ranking.n)
		printf("%20sno program or library has debugging information (-g)\n", "");
	for (i = 0; i < ranking.shown; i++)
		print_line(&lines.pairs.pairs[ranking.all[i].n],
			   ranking.all[i].count, tally);
	print_rest(&ranking, tally, "lines");
	free(ranking.all);
}

/* Print how often tasks entered and left the kernel. */
void report_kernel(const struct tally *tally)
{
	static const struct {
		__u64 pc;
		bool into;
		const char *name;
	} rows[] = {
		{ UTRACE_PC_SYSCALL, true, "system calls" },
		{ UTRACE_PC_SIGNAL, false, "handlers of signals" },
		{ UTRACE_PC_SIGRETURN, false, "returns from handlers" },
		{ UTRACE_PC_EXEC, false, "programs started by execve()" },
		{ UTRACE_PC_ASYNC, false,
		  "moves by a debugger, or restarts of a system call" },
	};
	__u64 counts[ARRAY_SIZE(rows)] = {};
	size_t i, k;

	for (i = 0; i < tally->edge_pairs.n; i++) {
		const struct tally_edge *edge = &tally->edges[i];

		for (k = 0; k < ARRAY_SIZE(rows); k++) {
			unsigned int n = rows[k].into ? edge->places.to :
					 edge->places.from;
			const struct place *place = place_get(n);

			if (function_get(place->function)->object == OBJECT_KERNEL &&
			    place->address == rows[k].pc)
				counts[k] += edge->taken;
		}
	}
	print_heading("      Times  Kernel");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (counts[i])
			printf("%11llu  %s\n", counts[i], rows[i].name);
}

/* Print the tasks, if there are several. */
void report_tasks(const struct tally *tally)
{
	struct ranking ranking;
	const struct tally_task *task;
	size_t i;

	if (tally->task_ids.n < 2)
		return;
	ranking_begin(&ranking, tally->task_ids.n);
	for (i = 0; i < tally->task_ids.n; i++)
		ranking_add(&ranking, i, tally->tasks[i].branches);
	ranking_sort(&ranking, 10);
	print_heading("   Branches      %       Task  Program");
	for (i = 0; i < ranking.shown; i++) {
		task = &tally->tasks[ranking.all[i].n];
		printf("%11llu %5.1f%% %10u  %s\n", task->branches,
		       percent(task->branches, tally), (__u32)task->id.a,
		       shorten(function_get(task->stack.root)->name, 40));
	}
	print_rest(&ranking, tally, "tasks");
	free(ranking.all);
}
