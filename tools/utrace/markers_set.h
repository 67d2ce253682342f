/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the markers that are traced, and their sites
 */
#ifndef UTRACE_MARKERS_SET_H
#define UTRACE_MARKERS_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "markers_elf.h"

struct histogram;
struct markers_options;

/**
 * struct marker - a marker as people know it
 * @name: "PROVIDER:NAME"
 * @hits: how often it was hit; known when the trace is over
 * @skipped: hits among them that were those of this command
 * @histogram: of the argument that the options say, NULL if no hit had it
 */
struct marker {
	char *name;
	__u64 hits;
	__u64 skipped;
	struct histogram *histogram;
};

/**
 * struct site - a place in a file, of which the kernel makes a breakpoint
 * @marker: number of its marker
 * @fd: the file
 * @device: where the file is
 * @inode: number of its inode
 * @armed: the kernel has it
 * @at: offsets, flags and arguments; the names are NULL
 */
struct site {
	unsigned int marker;
	int fd;
	__u64 device;
	__u64 inode;
	bool armed;
	struct marker_site at;
};

/**
 * struct marker_set - the markers that are traced
 * @markers: the markers
 * @nmarkers: number of elements of @markers
 * @markers_size: elements that there is memory for
 * @sites: the sites of all of them; the number of an element is the id of its
 *	records
 * @nsites: number of elements of @sites
 * @sites_size: elements that there is memory for
 */
struct marker_set {
	struct marker *markers;
	size_t nmarkers;
	size_t markers_size;
	struct site *sites;
	size_t nsites;
	size_t sites_size;
};

void marker_set_find(struct marker_set *set,
		     const struct markers_options *options);

#endif /* UTRACE_MARKERS_SET_H */
