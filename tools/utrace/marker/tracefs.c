// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - files of tracefs
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/memory.h"
#include "tracefs.h"

/* Open a file for reading, by its path in tracefs.  Returns NULL with errno. */
FILE *tracefs_open(const char *name)
{
	char *path = xasprintf(TRACEFS "/%s", name);
	FILE *file = fopen(path, "re");
	int error = errno;

	free(path);
	errno = error;
	return file;
}

/*
 * Explain why a file of user_events cannot be read, and what the user can do.
 */
const char *tracefs_why_not(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "you may not read " TRACEFS ": run this as root";
	case ENOENT:
		if (access(TRACEFS "/events", F_OK))
			return "tracefs is not mounted: as root run 'mount -t "
			       "tracefs none " TRACEFS "', or boot a kernel with "
			       "CONFIG_USER_EVENTS";
		return "this kernel has no user_events, or no list of their "
		       "processes: boot one with CONFIG_USER_EVENTS and "
		       "CONFIG_UTRACE_MARKERS";
	default:
		return strerror(error);
	}
}
