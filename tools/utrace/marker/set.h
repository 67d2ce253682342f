/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the markers that are traced
 */
#ifndef UTRACE_MARKER_SET_H
#define UTRACE_MARKER_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "elf.h"
#include "lib/pairs.h"

struct histogram;
struct markers_options;
struct user_format;

/**
 * struct marker - the markers with one name
 * @name: "PROVIDER:NAME", or "user:NAME"
 * @armed: one of them is armed
 * @hits: number of hits, set at the end of the trace
 * @missed: number of returns that were not seen, set at the end of the trace
 * @skipped: number of @hits by this command itself
 * @histogram: histogram of the argument of the option --histogram, NULL if no
 *	hit had it
 * @field: name of the field that @histogram is of, NULL for an argument
 */
struct marker {
	char *name;
	bool armed;
	__u64 hits;
	__u64 missed;
	__u64 skipped;
	struct histogram *histogram;
	char *field;
};

/**
 * struct site - one marker, with a place in a file, or a user_event
 * @marker: number of its name
 * @user_event: name of the user_event, NULL for a place; a user_event has no
 *	file, and nothing in @at
 * @format: the format of the user_event's records, or NULL
 * @tried: time of the last attempt to read @format, by the clock of records
 * @fd: the file
 * @armed: the marker or user_event is armed
 * @at: offsets, flags and arguments; the names are NULL
 */
struct site {
	unsigned int marker;
	char *user_event;
	struct user_format *format;
	__u64 tried;
	int fd;
	bool armed;
	struct marker_site at;
};

/**
 * struct marker_set - the markers that are traced
 * @markers: the names
 * @nmarkers: number of elements of @markers
 * @markers_size: allocated elements
 * @names: names of markers, numbered as the elements of @markers
 * @places: the places of @sites: file and flags, offset
 * @user_events: names of the elements of @sites that are user_events
 * @sites: the markers and user_events; the index of an element is the cookie of
 *	its records
 * @nsites: number of elements of @sites
 * @sites_size: allocated elements
 */
struct marker_set {
	struct marker *markers;
	size_t nmarkers;
	size_t markers_size;
	struct pairs names;
	struct pairs places;
	struct pairs user_events;
	struct site *sites;
	size_t nsites;
	size_t sites_size;
};

/* find.c */
void marker_set_find(struct marker_set *set,
		     const struct markers_options *options);

/* user_find.c */
const char *user_event_of(const char *text);
bool marker_set_add_user_events(struct marker_set *set, const char *text);
size_t marker_set_armed_user_events(const struct marker_set *set);
void marker_set_check_formats(const struct marker_set *set);
void marker_set_read_formats(struct marker_set *set);

/* set.c */
struct site *marker_set_add(struct marker_set *set, const char *provider,
			    const char *name);
struct histogram *marker_set_histogram(struct marker_set *set,
				       const struct site *site);

#endif /* UTRACE_MARKER_SET_H */
