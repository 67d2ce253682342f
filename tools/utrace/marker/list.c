// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace markers list': the SDT markers of files, and user_events
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/target.h"
#include "elf.h"
#include "files.h"
#include "lib/fail.h"
#include "lib/files.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "lib/screen.h"
#include "list.h"
#include "markers.h"

/* The status if there are no markers. */
#define STATUS_NONE	1

/* Maximum characters of a name that are shown. */
#define NAME_MOST	1000

/* Columns between the names and the arguments. */
#define MIDDLE		20

/* With less room than this, print the arguments below the name, indented. */
#define ITEMS_LEAST	24
#define ITEMS_INDENT	4

/* Maximum characters of an argument. */
#define ITEM_SIZE	80

/**
 * struct listed - the markers of a file with one name
 * @name: "PROVIDER:NAME"
 * @sites: number of these markers
 * @semaphores: number of these markers that have a semaphore
 * @args: the arguments of the first marker
 * @types: bit n: the type of argument n differs between these markers
 * @places: bit n: the place of argument n differs between these markers
 */
struct listed {
	char *name;
	unsigned int sites;
	unsigned int semaphores;
	struct marker_args args;
	unsigned int types;
	unsigned int places;
};

/**
 * struct list - the lists of all files
 * @all: the names of the current file
 * @n: number of elements of @all
 * @size: allocated elements of @all
 * @names: names of the markers, numbered as the elements of @all
 * @title: print the paths of files
 * @markers: number of names in all files
 * @sites: number of markers in all files
 * @files: number of files with markers
 * @varying: the text has a "*"
 * @unknown: the text has a "?"
 */
struct list {
	struct listed *all;
	size_t n;
	size_t size;
	struct pairs names;
	bool title;
	size_t markers;
	size_t sites;
	unsigned int files;
	bool varying;
	bool unknown;
};

/* Collecting */

static struct listed *find(struct list *list, const char *name)
{
	unsigned int n = pairs_add(&list->names, intern_number(name), 0);
	struct listed *listed;

	if (n < list->n)
		return &list->all[n];
	list->all = grow(list->all, list->n, &list->size, sizeof(*list->all));
	listed = &list->all[list->n++];
	*listed = (struct listed){ .name = checked(strdup(name)) };
	return listed;
}

/* Note in which arguments two markers of one name differ. */
static void compare_args(struct listed *listed, const struct marker_args *args)
{
	struct marker_args *first = &listed->args;
	unsigned int i;

	for (i = 0; i < first->n || i < args->n; i++) {
		const struct marker_arg *a = &first->arg[i], *b = &args->arg[i];

		if (i >= first->n || i >= args->n || strcmp(a->type, b->type))
			listed->types |= 1 << i;
		else if (memcmp(&a->where, &b->where, sizeof(a->where)))
			listed->places |= 1 << i;
	}
	if (first->n < args->n)
		first->n = args->n;
}

static void take_site(const struct marker_site *site, void *data)
{
	struct list *list = data;
	char *name = xasprintf("%s:%s", site->provider, site->name);
	struct listed *listed = find(list, name);

	free(name);
	if (!listed->sites)
		listed->args = site->args;
	else
		compare_args(listed, &site->args);
	listed->sites++;
	listed->semaphores += !!site->semaphore;
}

/* Printing */

static int compare(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Print the title of a table that comes after @before tables. */
void list_print_title(const char *title, unsigned int before)
{
	printf("%s%s%s%s\n", before ? "\n" : "", style(STYLE_HEAD),
	       shorten(title, screen_width()), style(STYLE_PLAIN));
}

/* Print the names of columns; @width: columns of the names of markers. */
void list_print_header(int width, const char *n, const char *state,
		       const char *items)
{
	printf("%s%-*s  %5s  %-9s  %s%s\n", style(STYLE_HEAD), width,
	       "PROVIDER:NAME", n, state, items, style(STYLE_PLAIN));
}

/* Print @last and begin the items.  Returns the column of the items. */
static int begin_items(int width, const char *last)
{
	if (screen_width() - width - MIDDLE >= ITEMS_LEAST) {
		printf("%-9s  ", last);
		return width + MIDDLE;
	}
	printf("%s\n%*s", last, ITEMS_INDENT, "");
	return ITEMS_INDENT;
}

/* Print the items, on further lines if one line has no room. */
static void print_items(const struct list_row *row, int column)
{
	int at = column, n;
	unsigned int i;

	for (i = 0; i < row->nitems; i++) {
		bool last = i + 1 == row->nitems;

		n = strlen(row->items[i]) + !last;
		if (i && at + 1 + n > screen_width()) {
			printf("\n%*s", column, "");
			at = column;
		} else if (i) {
			putchar(' ');
			at++;
		}
		printf("%s%s", row->items[i], last ? "" : ",");
		at += n;
	}
}

/* Print a row; @width: columns of the names of markers. */
void list_print_row(const struct list_row *row, int width)
{
	const char *name = shorten(row->name, NAME_MOST);

	printf("%-*s  %5u  ", padding(name, width), name, row->n);
	if (row->nitems)
		print_items(row, begin_items(width, row->state));
	else
		printf("%s", row->state);
	putchar('\n');
}

/* Print an argument as text, such as "s32 [rsp+16]". */
static void describe(struct list *list, const struct listed *listed,
		     unsigned int i, char *text, size_t size)
{
	const struct marker_arg *arg = &listed->args.arg[i];
	bool types = listed->types & 1 << i, places = listed->places & 1 << i;
	char place[64];

	list->varying |= types || places;
	if (types) {
		snprintf(text, size, "*");
		return;
	}
	if (places) {
		snprintf(text, size, "%s *", arg->type);
		return;
	}
	list->unknown |= !arg->known;
	marker_arg_place(arg, place, sizeof(place));
	if (strcmp(arg->type, "?"))
		snprintf(text, size, "%s %s", arg->type, place);
	else
		snprintf(text, size, "?");
}

static void print_marker(struct list *list, const struct listed *listed,
			 int width)
{
	char texts[UTRACE_MARKER_ARGS][ITEM_SIZE];
	const char *items[UTRACE_MARKER_ARGS];
	struct list_row row = {
		.name = listed->name,
		.n = listed->sites,
		.state = "some",
		.items = items,
		.nitems = listed->args.n,
	};
	unsigned int i;

	if (!listed->semaphores)
		row.state = "no";
	else if (listed->semaphores == listed->sites)
		row.state = "yes";
	for (i = 0; i < row.nitems; i++) {
		describe(list, listed, i, texts[i], sizeof(texts[i]));
		items[i] = texts[i];
	}
	list_print_row(&row, width);
}

/*
 * Return the width of the names.  Users copy names, so they are never
 * shortened.
 */
static int name_width(const struct list *list)
{
	int width = strlen("PROVIDER:NAME"), n;
	size_t i;

	for (i = 0; i < list->n; i++) {
		n = strlen(list->all[i].name);
		if (width < n)
			width = n;
	}
	return width;
}

static void print_file(struct list *list, const char *path)
{
	int width = name_width(list);
	size_t i;

	qsort(list->all, list->n, sizeof(*list->all), compare);
	if (list->title)
		list_print_title(path, list->files);
	list_print_header(width, "COUNT", "SEMAPHORE", "ARGUMENTS");
	for (i = 0; i < list->n; i++) {
		print_marker(list, &list->all[i], width);
		list->sites += list->all[i].sites;
		free(list->all[i].name);
	}
	list->markers += list->n;
	list->files++;
	list->n = 0;
	pairs_clear(&list->names);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/*
 * Print the sums.  @mapped: number of files of a process, 0 if files were
 * named; @events: number of its user_events
 */
static void print_summary(const struct list *list, unsigned int mapped,
			  size_t events)
{
	printf("\n%s%zu name%s of %zu marker%s", style(STYLE_DIM),
	       list->markers, plural(list->markers), list->sites,
	       plural(list->sites));
	if (mapped)
		printf(", in %u of %u mapped files", list->files, mapped);
	else if (list->title)
		printf(", in %u file%s", list->files, plural(list->files));
	if (events)
		printf("; %zu user_event%s", events, plural(events));
	printf("%s\n", style(STYLE_PLAIN));
	if (list->varying)
		printf("%s*: differs between these markers%s\n", style(STYLE_DIM),
		       style(STYLE_PLAIN));
	if (list->unknown)
		printf("%s?: cannot be read: floating point, or memory at a symbol%s\n",
		       style(STYLE_DIM), style(STYLE_PLAIN));
}

/* Files */

static bool take_mapped(const char *path, int fd, void *data)
{
	struct list *list = data;
	const char *why;
	bool damaged;

	why = marker_sites(path, fd, NULL, take_site, list, &damaged);
	if (list->n)
		print_file(list, path);
	/* A file that is mapped as code need not be an ELF file. */
	if (damaged)
		say(path, why);
	return false;
}

/* List a file.  Returns the status of the command for this file alone. */
static int list_file(struct list *list, const char *path)
{
	int fd = file_open(path);
	bool damaged, some;
	const char *why;

	if (fd < 0) {
		say(path, marker_file_why_not(errno));
		return STATUS_FAILED;
	}
	why = marker_sites(path, fd, NULL, take_site, list, &damaged);
	close(fd);
	some = list->n;
	if (some)
		print_file(list, path);
	if (why) {
		say(path, why);
		return STATUS_FAILED;
	}
	if (some)
		return 0;
	fprintf(stderr, "utrace: %s has no SDT markers; its libraries may have "
		"some ('utrace markers list -p PID'), and its functions can be "
		"traced ('utrace markers trace --help')\n", path);
	return STATUS_NONE;
}

static int list_process(struct list *list, pid_t pid)
{
	unsigned int mapped = marker_files_of_process(pid, take_mapped, list);
	size_t events = list_user_events(process_of(pid), list->files);

	if (list->files || events) {
		print_summary(list, mapped, events);
		return 0;
	}
	fprintf(stderr, "utrace: process %d has no SDT markers in the %u files "
		"that it has mapped as code, and no user_events are listed; its "
		"functions can be traced ('utrace markers trace --help')\n",
		pid, mapped);
	return STATUS_NONE;
}

/* List markers.  Returns the status of the command. */
int markers_list(const struct markers_options *options)
{
	static struct list list;
	int worst = 0, status;
	unsigned int i;

	screen_begin(stdout);
	list.title = options->pid || options->n > 1;
	if (options->pid)
		return list_process(&list, options->pid);
	for (i = 0; i < options->n; i++) {
		status = list_file(&list, options->names[i]);
		if (worst < status)
			worst = status;
	}
	if (list.files)
		print_summary(&list, 0, 0);
	return worst;
}
