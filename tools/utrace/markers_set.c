// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the markers that are traced, and their sites
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "intern.h"
#include "markers_histogram.h"
#include "markers_set.h"
#include "pairs.h"
#include "screen.h"

/* The number of the marker of a site. */
static unsigned int add_marker(struct marker_set *set, const char *provider,
			       const char *name_)
{
	char *name, *blank;
	unsigned int n;

	if (asprintf(&name, "%s:%s", provider, name_) < 0)
		fail("memory", "there is not enough");
	/* A file may have any name, also one that clears the screen. */
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
 * marker_set_add() - add a site
 * @set: the set
 * @provider: who has made its marker, as in struct marker_site
 * @name: the name of its marker
 *
 * Return: the site, which has only its marker yet; valid until the next call.
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
 * marker_set_histogram() - the histogram of the marker of a site
 * @set: the markers
 * @site: the site
 *
 * Return: the histogram, which is empty at first.
 */
struct histogram *marker_set_histogram(struct marker_set *set,
				       const struct site *site)
{
	struct marker *marker = &set->markers[site->marker];

	if (!marker->histogram)
		marker->histogram = calloc(1, sizeof(*marker->histogram));
	if (!marker->histogram)
		fail("memory", "there is not enough");
	return marker->histogram;
}
