// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace markers list': the user_events of a process
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "lib/screen.h"
#include "list.h"
#include "tracefs.h"
#include "user.h"
#include "user_format.h"

/* Maximum characters shown of the type and the name of a field. */
#define FIELD_MOST	200

/**
 * struct registered - a user_event of the process
 * @event: its name in tracefs
 * @name: "user:NAME"
 * @state: its state, or "*" if registrations differ
 * @n: how often the process has registered it
 */
struct registered {
	char *event;
	char *name;
	char state[USER_STATE_SIZE];
	unsigned int n;
};

/**
 * struct user_list - the user_events of a process
 * @pid: the process
 * @all: the events
 * @n: number of elements of @all
 * @size: allocated elements of @all
 * @events: their names in tracefs, numbered as the elements of @all
 * @varying: registrations of an event differ
 */
struct user_list {
	pid_t pid;
	struct registered *all;
	size_t n;
	size_t size;
	struct pairs events;
	bool varying;
};

static void add(struct user_list *list, const struct user_registration *reg)
{
	struct registered *new;

	list->all = grow(list->all, list->n, &list->size, sizeof(*list->all));
	new = &list->all[list->n++];
	*new = (struct registered){
		.event = checked(strdup(reg->event)),
		.name = xasprintf(USER_PREFIX "%s", reg->name),
		.n = 1,
	};
	memcpy(new->state, reg->state, sizeof(new->state));
}

static void take_registration(const struct user_registration *reg, void *data)
{
	struct user_list *list = data;
	struct registered *known;
	unsigned int n;

	if (reg->pid != list->pid)
		return;
	n = pairs_add(&list->events, intern_number(reg->event), 0);
	if (n == list->n) {
		add(list, reg);
		return;
	}
	known = &list->all[n];
	known->n++;
	if (strcmp(known->state, reg->state)) {
		snprintf(known->state, sizeof(known->state), "*");
		list->varying = true;
	}
}

/* The fields of an event, as texts. */
struct fields {
	const char **texts;
	size_t n;
	size_t size;
};

static void take_field(const char *text, void *data)
{
	struct fields *fields = data;

	fields->texts = grow(fields->texts, fields->n, &fields->size,
			     sizeof(*fields->texts));
	fields->texts[fields->n++] = checked(strdup(shorten(text, FIELD_MOST)));
}

static void print_event(const struct registered *event, int width)
{
	struct user_format *format = user_format_read_event(event->event);
	struct list_row row = {
		.name = event->name,
		.n = event->n,
		.state = event->state,
	};
	struct fields fields = {};

	if (format)
		user_format_fields(format, take_field, &fields);
	user_format_free(format);
	row.items = fields.texts;
	row.nitems = fields.n;
	list_print_row(&row, width);
	while (fields.n)
		free((char *)fields.texts[--fields.n]);
	free(fields.texts);
}

static int compare(const void *a, const void *b)
{
	const struct registered *x = a, *y = b;

	return strcmp(x->event, y->event);
}

static void print_events(const struct user_list *list)
{
	int width = strlen("PROVIDER:NAME"), n;
	size_t i;

	for (i = 0; i < list->n; i++) {
		n = strlen(list->all[i].name);
		if (width < n)
			width = n;
	}
	list_print_header(width, "WORDS", "STATE", "FIELDS");
	for (i = 0; i < list->n; i++)
		print_event(&list->all[i], width);
	if (list->varying)
		printf("%s*: differs from word to word%s\n", style(STYLE_DIM),
		       style(STYLE_PLAIN));
}

/**
 * list_user_events() - print the user_events that a process has registered
 * @pid: the process
 * @before: number of tables that were printed before
 *
 * If tracefs cannot be read, print only a message.
 *
 * Return: the number of events.
 */
size_t list_user_events(pid_t pid, unsigned int before)
{
	struct user_list list = { .pid = pid };
	size_t i;

	if (user_registrations_read(take_registration, &list))
		say("user_events are not listed", tracefs_why_not(errno));
	if (!list.n)
		return 0;
	qsort(list.all, list.n, sizeof(*list.all), compare);
	list_print_title("user_events", before);
	print_events(&list);
	for (i = 0; i < list.n; i++) {
		free(list.all[i].event);
		free(list.all[i].name);
	}
	free(list.all);
	pairs_clear(&list.events);
	return list.n;
}
