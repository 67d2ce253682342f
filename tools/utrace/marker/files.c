// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - files that may have markers
 *
 * The files of a process are the files that it has mapped as code, see
 * lib/files.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/engines.h"
#include "dev/session.h"
#include "files.h"
#include "lib/fail.h"
#include "lib/files.h"
#include "lib/pairs.h"

/* What /proc/PID/maps appends to the path of a deleted file. */
#define GONE	" (deleted)"

/* Explain an error of file_open() for a file that the user has named. */
const char *marker_file_why_not(int error)
{
	return error == ENOENT ?
	       "there is no such file; give its path, as $(command -v NAME)" :
	       file_why_not(error);
}

/*
 * Check whether a path of /proc/PID/maps is this path, even if the file was
 * deleted.
 */
bool marker_file_is(const char *mapped, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(mapped, path, n) &&
	       (!mapped[n] || !strcmp(mapped + n, GONE));
}

/* Set *@data to the thread if it has not ended. */
static void take_living(pid_t pid, pid_t tid, void *data)
{
	(void)pid;
	if (task_state(tid) != 'Z')
		*(pid_t *)data = tid;
}

/*
 * Find a living thread: the first one may have exited, and has no memory then.
 */
static pid_t living_thread(pid_t pid)
{
	pid_t living = pid;

	if (task_state(pid) == 'Z')
		tasks_of(pid, take_living, &living);
	return living;
}

static FILE *open_maps(pid_t pid, const char *what)
{
	char path[32];
	FILE *file;

	if (!task_state(pid))
		fail(what, "there is no such process");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		fail(what, session_why_not(errno));
	return file;
}

/**
 * marker_files_of_process() - find the files that a process has mapped as code
 * @pid: the process
 * @function: called once for each file
 * @data: its argument
 *
 * If a file cannot be opened, print a message and skip it.  The command ends
 * with a message if the maps of the process cannot be read or have no file.
 *
 * Return: the number of files, at least 1.
 */
unsigned int marker_files_of_process(pid_t pid, marker_file_function *function,
				     void *data)
{
	struct maps_line mapping;
	struct pairs seen = {};
	unsigned int before;
	char *line = NULL, what[32];
	size_t size = 0;
	FILE *maps;
	int fd;

	snprintf(what, sizeof(what), "process %d", pid);
	pid = living_thread(pid);
	maps = open_maps(pid, what);
	errno = 0;
	while (getline(&line, &size, maps) > 0) {
		before = seen.n;
		if (!maps_parse(&mapping, line) || !mapping.is_code ||
		    *mapping.path != '/' ||
		    pairs_add(&seen, mapping.device, mapping.inode) < before)
			continue;
		fd = file_open_mapped(pid, &mapping);
		if (fd < 0)
			say(mapping.path, file_why_not(errno));
		else if (!function(mapping.path, fd, data))
			close(fd);
	}
	free(line);
	fclose(maps);
	if (!seen.n)
		fail(what, task_state(pid) == 'Z' ?
		     "it has ended; its parent has not waited for it yet" :
		     "it has no program: it is a kernel thread, or is exiting");
	before = seen.n;
	pairs_clear(&seen);
	return before;
}
