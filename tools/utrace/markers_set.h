/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the markers that are traced
 */
#ifndef UTRACE_MARKERS_SET_H
#define UTRACE_MARKERS_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "markers_elf.h"
#include "pairs.h"

struct histogram;
struct markers_options;
struct user_format;

/**
 * struct marker - a marker as people know it
 * @name: "PROVIDER:NAME", or "user:NAME"
 * @armed: the kernel has one of its sites
 * @hits: how often it was hit; known when the trace is over
 * @missed: returns that the kernel has not seen; known likewise
 * @skipped: hits among them that were those of this command
 * @histogram: of the argument that the options say, NULL if no hit had it
 * @field: name of what @histogram is of, NULL if it is an argument
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
 * struct site - a place in a file, of which the kernel makes a breakpoint, or a
 *	user_event
 * @marker: number of its marker
 * @user_event: name of the user_event, NULL for a place; a user_event has no
 *	file, and nothing in @at
 * @format: what is known of the user_event's records, or NULL
 * @looked: when @format was last looked for, by the clock of records
 * @fd: the file
 * @armed: the kernel has it
 * @at: offsets, flags and arguments; the names are NULL
 */
struct site {
	unsigned int marker;
	char *user_event;
	struct user_format *format;
	__u64 looked;
	int fd;
	bool armed;
	struct marker_site at;
};

/**
 * struct marker_set - the markers that are traced
 * @markers: the markers
 * @nmarkers: number of elements of @markers
 * @markers_size: elements that there is memory for
 * @names: names of markers; the number of one is that of its marker
 * @places: the places of sites: file and flags, offset
 * @user_events: names of the sites that are user_events
 * @sites: the sites of all of them; the number of an element is the cookie of its
 *	records
 * @nsites: number of elements of @sites
 * @sites_size: elements that there is memory for
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

/* markers_find.c */
void marker_set_find(struct marker_set *set,
		     const struct markers_options *options);

/* markers_user_find.c */
const char *user_event_of(const char *text);
bool marker_set_add_user_events(struct marker_set *set, const char *text);
size_t marker_set_armed_user_events(const struct marker_set *set);
void marker_set_check_formats(const struct marker_set *set);
void marker_set_read_formats(struct marker_set *set);

/* markers_set.c */
struct site *marker_set_add(struct marker_set *set, const char *provider,
			    const char *name);
struct histogram *marker_set_histogram(struct marker_set *set,
				       const struct site *site);

#endif /* UTRACE_MARKERS_SET_H */
