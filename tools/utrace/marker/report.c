// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - print hits, counts and histograms of markers
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/seq_buf.h>
#include <linux/utrace.h>

#include "decode/print.h"
#include "histogram.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "lib/out.h"
#include "lib/screen.h"
#include "report.h"
#include "set.h"
#include "user_format.h"

/* Maximum width that names are padded to. */
#define NAME_MOST	32

/* Maximum characters of an argument, and of the text before the name. */
#define ARG_SIZE	40
#define HEAD_SIZE	64

/* Maximum bytes shown of a user_event without a format, and of an escape. */
#define RAW_MOST	64
#define RAW_SIZE	(4 * RAW_MOST + 64)

/* Maximum characters shown of the name of a field. */
#define FIELD_MOST	64

/* Interval between two attempts to read a missing format, in ns. */
#define TRY_AGAIN	100000000

/* Lines */

/* Return the width that names of markers are padded to in lines. */
int markers_name_width(const struct marker_set *set)
{
	int width = 0, n;
	size_t i;

	for (i = 0; i < set->nmarkers; i++) {
		n = strlen(set->markers[i].name);
		if (n <= NAME_MOST && width < n)
			width = n;
	}
	return width;
}

/* Check whether an argument could be read at a hit. */
static bool is_read(const struct site *site,
		    const struct utrace_rec_marker *rec, unsigned int i)
{
	return i < rec->nargs && i < site->at.args.n &&
	       site->at.args.arg[i].known && !(rec->faulted & 1U << i);
}

static bool is_signed(const struct site *site, unsigned int i)
{
	return site->at.args.arg[i].where.size < 0;
}

static int put_arg(char *to, const struct site *site,
		   const struct utrace_rec_marker *rec, unsigned int i)
{
	const __u64 *args = (const void *)rec + rec->args_offset;

	if (!is_read(site, rec, i))
		return sprintf(to, " arg%u=?", i + 1);
	return sprintf(to, is_signed(site, i) ? " arg%u=%lld" : " arg%u=%llu",
		       i + 1, args[i]);
}

/* Print the text before the arguments. */
static int put_head(char *to, const struct utrace_rec *head, const char *name,
		    __u64 time, int width)
{
	return sprintf(to, "%5llu.%06llu %7d %-*s", time / 1000000000,
		       time / 1000 % 1000000, head->tid, width, name);
}

/**
 * markers_print_hit() - print a hit as a line
 * @out: the output
 * @set: the markers
 * @rec: the hit
 * @time: ns since the trace began
 * @width: markers_name_width()
 */
void markers_print_hit(struct out *out, const struct marker_set *set,
		       const struct utrace_rec_marker *rec, __u64 time,
		       int width)
{
	const struct site *site = &set->sites[rec->cookie];
	const char *name = set->markers[site->marker].name;
	unsigned int i;
	char *line;
	int n;

	if (!site->at.args.n)
		width = 0;
	line = out_room(out, HEAD_SIZE + NAME_MOST + strlen(name) +
			UTRACE_MARKER_ARGS * ARG_SIZE);
	n = put_head(line, &rec->head, name, time, width);
	for (i = 0; i < site->at.args.n; i++)
		n += put_arg(line + n, site, rec, i);
	line[n++] = '\n';
	out_add(out, n);
}

/*
 * Find the format of a record, and read it from tracefs if it is not known yet.
 */
static const struct user_variant *
variant_of(struct site *site, const struct utrace_rec_user_event *rec)
{
	const struct user_variant *variant =
		user_format_choose(site->format, rec);
	struct user_format *now;

	if (variant || (site->tried &&
			rec->head.time - site->tried < TRY_AGAIN))
		return variant;
	site->tried = rec->head.time;
	now = user_format_read(site->user_event);
	if (!now)
		return NULL;
	user_format_free(site->format);
	site->format = now;
	return user_format_choose(now, rec);
}

/* Return the data of a record without a format, as a C string literal. */
static const char *raw_text(const struct utrace_rec_user_event *rec)
{
	static char text[RAW_SIZE];
	struct seq_buf s = { .buffer = text, .size = sizeof(text) };
	__u32 shown = rec->data_size < RAW_MOST ? rec->data_size : RAW_MOST;

	seq_buf_printf(&s, "size=%u data=", rec->size);
	utrace_print_string(&s, (const char *)rec + rec->data_offset, shown);
	seq_buf_puts(&s, shown < rec->size ? "..." : "");
	text[s.len] = '\0';
	return text;
}

/**
 * markers_print_user_event() - print a user_event as a line
 * @out: the output
 * @set: the markers
 * @rec: the record
 * @time: ns since the trace began
 * @width: markers_name_width()
 */
void markers_print_user_event(struct out *out, struct marker_set *set,
			      const struct utrace_rec_user_event *rec,
			      __u64 time, int width)
{
	struct site *site = &set->sites[rec->cookie];
	const struct user_variant *variant = variant_of(site, rec);
	const char *name = set->markers[site->marker].name, *text, *more = "";
	char *line;
	int n;

	text = variant ? user_variant_text(variant, rec) : raw_text(rec);
	if (variant && rec->data_size < rec->size)
		more = " ...";
	if (!*text)
		width = 0;
	line = out_room(out, HEAD_SIZE + NAME_MOST + strlen(name) +
			strlen(text) + strlen(more));
	n = put_head(line, &rec->head, name, time, width);
	n += sprintf(line + n, "%s%s%s\n", *text ? " " : "", text, more);
	out_add(out, n);
}

static void note_field(struct marker *marker, const struct user_variant *variant,
		       unsigned int n)
{
	const char *name = user_variant_name(variant, n);

	if (!marker->field && name)
		marker->field = checked(strdup(name));
}

/* Add field @n of a user_event, from 1, to the histogram of the marker. */
void markers_add_user_event(struct marker_set *set,
			    const struct utrace_rec_user_event *rec,
			    unsigned int n)
{
	struct site *site = &set->sites[rec->cookie];
	const struct user_variant *variant = variant_of(site, rec);
	struct histogram *histogram = marker_set_histogram(set, site);
	bool has_sign;
	__u64 value;

	if (variant)
		note_field(&set->markers[site->marker], variant, n);
	if (variant && user_variant_number(variant, rec, n, &value, &has_sign))
		histogram_add(histogram, value, has_sign);
	else
		histogram->buckets[UTRACE_BUCKET_UNREADABLE]++;
}

/* Tables */

/* A FILE that writes to a buffer of text. */
struct text_file {
	char *text;
	size_t size;
	FILE *file;
};

static FILE *begin(struct text_file *to)
{
	to->file = open_memstream(&to->text, &to->size);
	if (!to->file)
		fail("the report", strerror(errno));
	return to->file;
}

static void end(struct text_file *to, struct out *out)
{
	if (fclose(to->file))
		fail("the report", strerror(errno));
	memcpy(out_room(out, to->size), to->text, to->size);
	out_add(out, to->size);
	free(to->text);
}

static int compare(const void *a, const void *b)
{
	const struct marker *x = *(const struct marker *const *)a;
	const struct marker *y = *(const struct marker *const *)b;

	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * Return the *@n armed markers, ordered by hits.  The caller frees the array.
 */
static const struct marker **sorted(const struct marker_set *set, size_t *n)
{
	const struct marker **all = checked(calloc(set->nmarkers, sizeof(*all)));
	size_t i;

	*n = 0;
	for (i = 0; i < set->nmarkers; i++)
		if (set->markers[i].armed)
			all[(*n)++] = &set->markers[i];
	qsort(all, *n, sizeof(*all), compare);
	return all;
}

/* Print how often each marker was hit. */
void markers_print_counts(struct out *out, const struct marker_set *set)
{
	size_t i, n;
	const struct marker **all = sorted(set, &n);
	struct text_file to;
	FILE *file = begin(&to);

	fprintf(file, "%s%10s  %s%s\n", style(STYLE_HEAD), "HITS", "MARKER",
		style(STYLE_PLAIN));
	for (i = 0; i < n && all[i]->hits; i++)
		fprintf(file, "%10llu  %s\n", all[i]->hits, all[i]->name);
	if (i + 1 == n)
		fprintf(file, "%10u  %s\n", 0, all[i]->name);
	else if (i < n)
		fprintf(file, "%s%10u  %zu %smarkers%s\n", style(STYLE_DIM), 0,
			n - i, i ? "other " : "", style(STYLE_PLAIN));
	end(&to, out);
	free(all);
}

static void print_histogram(FILE *file, const struct marker *marker,
			    unsigned int n)
{
	const struct histogram *histogram = marker->histogram;
	__u64 unreadable;

	if (!histogram)
		return;
	fprintf(file, "%s%s ", style(STYLE_HEAD), marker->name);
	if (marker->field)
		fputs(shorten(marker->field, FIELD_MOST), file);
	else
		fprintf(file, "arg%u", n);
	fprintf(file, "%s, %llu values", style(STYLE_PLAIN),
		histogram_values(histogram));
	unreadable = histogram->buckets[UTRACE_BUCKET_UNREADABLE];
	if (unreadable)
		fprintf(file, ", and %llu that could not be read", unreadable);
	fputc('\n', file);
	histogram_print(histogram, file);
	fputc('\n', file);
}

/* Print a histogram of argument @n for each marker. */
void markers_print_histograms(struct out *out, const struct marker_set *set,
			      unsigned int n)
{
	size_t i, armed;
	const struct marker **all = sorted(set, &armed);
	struct text_file to;
	FILE *file = begin(&to);

	for (i = 0; i < armed; i++)
		print_histogram(file, all[i], n);
	end(&to, out);
	free(all);
}
