// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the markers that are traced
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "lib/screen.h"
#include "set.h"

/* Return the number of a name, and add the name if it is new. */
static unsigned int add_marker(struct marker_set *set, const char *provider,
			       const char *name_)
{
	char *name = xasprintf("%s:%s", provider, name_), *blank;
	unsigned int n;

	/* A file may have any name, even one that clears the screen. */
	make_printable(name);
	/* A name is one word of a line. */
	for (blank = name; (blank = strchr(blank, ' '));)
		*blank = '?';
	n = pairs_add(&set->names, intern_number(name), 0);
	if (n < set->nmarkers) {
		free(name);
		return n;
	}
	set->markers = grow(set->markers, set->nmarkers, &set->markers_size,
			    sizeof(*set->markers));
	set->markers[set->nmarkers] = (struct marker){ .name = name };
	return set->nmarkers++;
}

/**
 * marker_set_add() - add a marker
 * @set: the set
 * @provider: the provider, as in struct marker_site
 * @name: the name of the marker
 *
 * Return: the marker, with only @marker set; valid until the next call.
 */
struct site *marker_set_add(struct marker_set *set, const char *provider,
			    const char *name)
{
	struct site *site;

	set->sites = grow(set->sites, set->nsites, &set->sites_size,
			  sizeof(*set->sites));
	site = &set->sites[set->nsites++];
	*site = (struct site){
		.marker = add_marker(set, provider, name),
		.fd = -1,
	};
	return site;
}

/**
 * marker_set_histogram() - get the histogram of the name of a marker
 * @set: the markers
 * @site: the marker
 *
 * Return: the histogram, which is empty at first.
 */
struct histogram *marker_set_histogram(struct marker_set *set,
				       const struct site *site)
{
	struct marker *marker = &set->markers[site->marker];

	if (!marker->histogram)
		marker->histogram = checked(calloc(1, sizeof(struct histogram)));
	return marker->histogram;
}
