// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - files that may have markers
 *
 * The files of a process are those that it has mapped as code.  Their paths are
 * seen from its root directory, which may be that of a container; a file that
 * was replaced since is there by /proc/PID/map_files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines.h"
#include "fail.h"
#include "markers_files.h"
#include "pairs.h"
#include "session.h"

/* What /proc/PID/maps puts behind the path of a file that is gone. */
#define GONE	" (deleted)"

/* Open a file for reading.  Returns its descriptor, or -1 with errno. */
int marker_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat_;

	if (fd < 0 || (!fstat(fd, &stat_) && S_ISREG(stat_.st_mode)))
		return fd;
	close(fd);
	errno = EISDIR;
	return -1;
}

/* What an error of marker_file_open() means. */
const char *marker_file_why_not(int error)
{
	switch (error) {
	case ENOENT:
		return "there is no such file; give its path, as $(command -v NAME)";
	case EISDIR:
		return "this is no regular file; give a program or a library";
	default:
		return strerror(error);
	}
}

/* Is a path that /proc/PID/maps shows that of this file, also if the file is gone? */
bool marker_file_is(const char *mapped, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(mapped, path, n) &&
	       (!mapped[n] || !strcmp(mapped + n, GONE));
}

/**
 * struct mapping_line - what a line of /proc/PID/maps tells of a file
 * @range: its addresses, as /proc/PID/map_files has them
 * @path: its path
 * @device: where it is
 * @inode: number of its inode
 */
struct mapping_line {
	char range[40];
	const char *path;
	__u64 device;
	__u64 inode;
};

/* Returns whether a line tells of a file that is mapped as code. */
static bool parse_line(char *line, struct mapping_line *mapping)
{
	unsigned long long inode;
	unsigned int major, minor;
	char access[5];
	int path;

	line[strcspn(line, "\n")] = '\0';
	path = strlen(line);
	if (sscanf(line, "%39s %4s %*x %x:%x %llu %n", mapping->range, access,
		   &major, &minor, &inode, &path) < 5)
		return false;
	mapping->path = line + path;
	mapping->device = (__u64)major << 32 | minor;
	mapping->inode = inode;
	return access[2] == 'x' && line[path] == '/';
}

static int open_mapped(pid_t pid, const struct mapping_line *mapping)
{
	size_t n = strlen(mapping->path), gone = strlen(GONE);
	char *path;
	int fd = -1;

	if (n <= gone || strcmp(mapping->path + n - gone, GONE)) {
		if (asprintf(&path, "/proc/%d/root%s", pid, mapping->path) < 0)
			fail("memory", "there is not enough");
		fd = marker_file_open(path);
		free(path);
	}
	if (fd >= 0)
		return fd;
	if (asprintf(&path, "/proc/%d/map_files/%s", pid, mapping->range) < 0)
		fail("memory", "there is not enough");
	fd = marker_file_open(path);
	free(path);
	return fd;
}

/* Let *@data be a thread that has not ended. */
static void take_living(pid_t pid, pid_t tid, void *data)
{
	(void)pid;
	if (task_state(tid) != 'Z')
		*(pid_t *)data = tid;
}

/* The first thread of a process may have ended, and has no memory then. */
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
 * marker_files_of_process() - the files that a process has mapped as code
 * @pid: the process
 * @function: is called for each file once
 * @data: its argument
 *
 * A file that cannot be opened is told and left out.  The command ends with a
 * message if the process cannot be looked into, or has mapped no file.
 *
 * Return: the number of files, at least 1.
 */
unsigned int marker_files_of_process(pid_t pid, marker_file_function *function,
				     void *data)
{
	struct mapping_line mapping;
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
		if (!parse_line(line, &mapping) ||
		    pairs_add(&seen, mapping.device, mapping.inode) < before)
			continue;
		fd = open_mapped(pid, &mapping);
		if (fd < 0)
			say(mapping.path, strerror(errno));
		else if (!function(mapping.path, fd, data))
			close(fd);
	}
	free(line);
	fclose(maps);
	if (!seen.n)
		fail(what, task_state(pid) == 'Z' ?
		     "it has ended; its parent has not waited for it yet" :
		     "it has mapped no program: it is a thread of the kernel, or ends");
	before = seen.n;
	pairs_clear(&seen);
	return before;
}
