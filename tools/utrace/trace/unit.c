// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the cgroup of a unit of systemd
 *
 * The directory of a unit has the name of the unit and is somewhere below
 * /sys/fs/cgroup.  systemd need not run.
 */
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/memory.h"
#include "unit.h"

#define CGROUPS	"/sys/fs/cgroup"

/*
 * Check whether a directory has the name of a unit, with or without ".service".
 */
static bool is_unit(const char *folder, const char *unit)
{
	size_t n = strlen(unit);

	return !strncmp(folder, unit, n) &&
	       (!folder[n] || !strcmp(folder + n, ".service"));
}

/**
 * unit_cgroup() - find the cgroup of a unit
 * @unit: name, such as "cron.service" or "cron"
 *
 * The command ends with a message if there is no such unit, or more than one.
 *
 * Return: the path of its directory, never freed.
 */
const char *unit_cgroup(const char *unit)
{
	char *const roots[] = { CGROUPS, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL, NULL);
	char *path = NULL;
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		if (entry->fts_info != FTS_D || !entry->fts_level ||
		    !is_unit(entry->fts_name, unit))
			continue;
		if (path) {
			fprintf(stderr, "utrace: --unit=%s: there are %s and %s; "
				"give one as --cgroup=\n", unit, path, entry->fts_path);
			exit(STATUS_FAILED);
		}
		path = checked(strdup(entry->fts_path));
		fts_set(fts, entry, FTS_SKIP);
	}
	if (fts)
		fts_close(fts);
	if (!path)
		fail(unit, "no unit of that name runs: there is no such directory "
			   "below "
		     CGROUPS);
	return path;
}
