// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - files that processes and files of records name
 *
 * A path from a process or a file may name anything: a device with side effects
 * on open(2), a FIFO without a writer, a file of another user.  So a path is
 * opened for reading only after it is known to be a regular file, and a mapped
 * file is identified by its device and inode.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "memory.h"

/* Bytes to map of a file; the kernel rounds them up to a page. */
#define SOME	1

/**
 * maps_parse() - parse a line of /proc/PID/maps
 * @maps: filled in
 * @line: the line, whose newline is removed
 *
 * Return: false if the line has another format.
 */
bool maps_parse(struct maps_line *maps, char *line)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char access[5];
	int path;

	path = strcspn(line, "\n");
	line[path] = '\0';
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end,
		   access, &offset, &major, &minor, &inode, &path) < 7 ||
	    strlen(access) != 4)
		return false;
	*maps = (struct maps_line){
		.start = start,
		.end = end,
		.offset = offset,
		.device = (__u64)major << 32 | minor,
		.inode = inode,
		.is_code = access[2] == 'x',
		.path = line + path,
	};
	return start < end;
}

/*
 * Find the line of /proc/self/maps that has an address.  Returns false if there
 * is none.
 */
static bool find_own_line(const void *address, struct maps_line *maps)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long at = (unsigned long)address;
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	while (file && !found && getline(&line, &size, file) > 0)
		found = maps_parse(maps, line) && maps->start <= at &&
			at < maps->end;
	maps->path = NULL;
	free(line);
	if (file)
		fclose(file);
	return found;
}

/*
 * Get the device and the inode of a file as /proc/PID/maps shows them.  On
 * btrfs, overlayfs and some other file systems fstat(2) returns different ones,
 * so map the file to read them.  Returns false if it cannot be mapped.
 */
static bool identify(int fd, struct maps_line *maps)
{
	void *at = mmap(NULL, SOME, PROT_READ, MAP_PRIVATE, fd, 0);
	bool found;

	if (at == MAP_FAILED)
		return false;
	found = find_own_line(at, maps);
	munmap(at, SOME);
	return found;
}

/*
 * Open a file for reading that was opened with O_PATH, if it is a regular file.
 */
static int open_regular(int place)
{
	struct stat stat_;
	char path[32];

	if (fstat(place, &stat_))
		return -1;
	if (!S_ISREG(stat_.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/*
 * Open a regular file for reading, by its path.  Sets @maps as maps_parse()
 * would for a mapping of the file.
 */
static int open_file(const char *path, struct maps_line *maps)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd, error;

	if (place < 0)
		return -1;
	fd = open_regular(place);
	error = errno;
	close(place);
	/*
	 * Regular files that cannot be mapped are in /proc, /sys and the like.
	 */
	if (fd >= 0 && !identify(fd, maps)) {
		close(fd);
		fd = -1;
		error = EISDIR;
	}
	errno = error;
	return fd;
}

/**
 * file_open() - open a regular file for reading
 * @path: its path, which is not trusted
 *
 * Return: the descriptor, or -1 with errno, see file_why_not().
 */
int file_open(const char *path)
{
	struct maps_line maps;

	return open_file(path, &maps);
}

/**
 * file_open_mapped() - open a file that a process has mapped
 * @pid: the process, or one of its tasks
 * @maps: the mapping
 *
 * /proc/PID/map_files has the file itself, but needs privileges.  Without them
 * the file is looked up by its path, from the root directory of the process, or
 * from that of this command if the process is gone.  The path may name another
 * file by now, after a mount or a rename.
 *
 * Return: the descriptor, or -1 with errno, see file_why_not().
 */
int file_open_mapped(pid_t pid, const struct maps_line *maps)
{
	struct maps_line is;
	int fd = -1, error = 0;
	char *paths[3];
	size_t i;

	paths[0] = xasprintf("/proc/%d/map_files/%llx-%llx", pid, maps->start,
			     maps->end);
	paths[1] = xasprintf("/proc/%d/root%s", pid, maps->path);
	paths[2] = checked(strdup(maps->path));
	for (i = 0; i < 3 && fd < 0; i++) {
		fd = open_file(paths[i], &is);
		if (fd < 0 && error != ESTALE)
			error = errno;
		if (fd < 0 || (is.device == maps->device &&
			       is.inode == maps->inode))
			continue;
		close(fd);
		fd = -1;
		error = ESTALE;
	}
	for (i = 0; i < 3; i++)
		free(paths[i]);
	errno = error;
	return fd;
}

/* Explain an error of file_open() or file_open_mapped(). */
const char *file_why_not(int error)
{
	switch (error) {
	case EISDIR:
		return "it is not a regular file; give a program or a library";
	case ESTALE:
		return "the mapped file is gone, and another file has its path; run "
		       "this as root to read the mapped one";
	default:
		return strerror(error);
	}
}
