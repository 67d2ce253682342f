// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the user_events that the user has named
 *
 * No program need have registered a name without wildcards yet.  Its format is
 * read as soon as it exists.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "lib/fail.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "set.h"
#include "tracefs.h"
#include "user.h"
#include "user_format.h"

/* Return NAME of "user:NAME", or NULL if @text has another form. */
const char *user_event_of(const char *text)
{
	const char *name = text + strlen(USER_PREFIX);

	if (strncmp(text, USER_PREFIX, strlen(USER_PREFIX)) || strchr(name, ':'))
		return NULL;
	if (!*name || strpbrk(name, "/ ;"))
		fail(text, "give user:NAME, with the name of a user_event and "
		     "without its fields");
	return name;
}

static void add(struct marker_set *set, const char *name)
{
	size_t before = set->user_events.n;
	struct site *site;

	if (pairs_add(&set->user_events, intern_number(name), 0) < before)
		return;
	site = marker_set_add(set, "user", name);
	site->user_event = checked(strdup(name));
}

/* A search: the events that match @pattern are added to @set. */
struct matches {
	struct marker_set *set;
	const char *pattern;
	bool some;
};

static void take_event(const char *name, void *data)
{
	struct matches *matches = data;

	if (fnmatch(matches->pattern, name, 0))
		return;
	matches->some = true;
	add(matches->set, name);
}

/**
 * marker_set_add_user_events() - add user_events to the markers
 * @set: the markers
 * @text: user:NAME, where NAME may have * and ?
 *
 * The command ends with a message if it cannot look up wildcards.
 *
 * Return: whether there are any such events.
 */
bool marker_set_add_user_events(struct marker_set *set, const char *text)
{
	const char *name = user_event_of(text);
	struct matches matches = { .set = set, .pattern = name };

	if (!strpbrk(name, "*?[\\")) {
		add(set, name);
		return true;
	}
	if (!user_events_read(take_event, &matches))
		return matches.some;
	if (errno == EACCES || errno == EPERM)
		fail(text, "you may not read " TRACEFS ", which has the names: run "
		     "this as root, or give names without * and ?");
	fail(text, tracefs_why_not(errno));
}

/* Return the number of armed user_events. */
size_t marker_set_armed_user_events(const struct marker_set *set)
{
	size_t i, n = 0;

	for (i = 0; i < set->nsites; i++)
		n += set->sites[i].user_event && set->sites[i].armed;
	return n;
}

/* Print a message if fields cannot be shown. */
void marker_set_check_formats(const struct marker_set *set)
{
	if (marker_set_armed_user_events(set) && access(TRACEFS "/events", R_OK))
		say("the fields of user_events are shown as bytes",
		    tracefs_why_not(errno));
}

/* Read the formats that did not exist before. */
void marker_set_read_formats(struct marker_set *set)
{
	struct site *site;

	for (site = set->sites; site < set->sites + set->nsites; site++)
		if (site->user_event && !site->format)
			site->format = user_format_read(site->user_event);
}
