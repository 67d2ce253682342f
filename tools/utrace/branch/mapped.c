// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - read the mappings of running processes
 *
 * Records have addresses without mappings, so /proc/PID/maps is read when a
 * program begins, and when a record has an address in no known mapping.  By
 * then the process may have run on, as far as the ring has room, or may be
 * gone.  A forked process that is gone gets the mappings of its parent: a
 * process that has code at the address where the child began.
 *
 * New code at an address that is in a known mapping is not noticed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/utrace_branch.h>

#include "file.h"
#include "lib/files.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "mapped.h"
#include "objects.h"
#include "spaces.h"
#include "symbols.h"

#define PAGE	4096ULL

/* Objects by device and inode number, so that no file is opened twice. */
static struct pairs inodes;
static unsigned int *inode_objects;
static size_t inodes_size;

/* The vdso is in no file.  32-bit programs have another vdso, below 4 GiB. */
static unsigned int add_vdso(pid_t tid, __u64 start, __u64 end)
{
	bool small = end <= 1ULL << 32;
	const char *path = small ? "[vdso32]" : "[vdso]";
	unsigned int n = objects_add(path, NULL);
	struct iovec to, from;

	if (objects_get(n)->image || end - start > 64 * PAGE)
		return n;
	to = (struct iovec){ malloc(end - start), end - start };
	from = (struct iovec){ (void *)(unsigned long)start, end - start };
	if (to.iov_base && process_vm_readv(tid, &to, 1, &from, 1, 0) ==
			   (ssize_t)(end - start))
		objects_set_image(n, to.iov_base, to.iov_len);
	else
		free(to.iov_base);
	return n;
}

static unsigned int add_file(pid_t tid, const struct maps_line *maps)
{
	unsigned int n = inodes.n, i;
	struct build_id id;
	int fd;

	i = pairs_add(&inodes, maps->device, maps->inode);
	if (i < n && !strcmp(objects_get(inode_objects[i])->path, maps->path))
		return inode_objects[i];
	fd = file_open_mapped(tid, maps);
	symbols_build_id(fd, &id);
	if (fd >= 0)
		close(fd);
	if (i == n)
		inode_objects = grow(inode_objects, n, &inodes_size,
				     sizeof(*inode_objects));
	inode_objects[i] = objects_add(maps->path, &id);
	return inode_objects[i];
}

/* Parse a line of /proc/PID/maps.  Returns whether it is a mapping of code. */
static bool parse_line(char *line, pid_t tid, struct mapping *mapping)
{
	struct maps_line maps;

	if (!maps_parse(&maps, line) || !maps.is_code)
		return false;
	*mapping = (struct mapping){ maps.start, maps.end, maps.offset,
				     OBJECT_UNKNOWN };
	if (*maps.path == '/')
		mapping->object = add_file(tid, &maps);
	else if (!strcmp(maps.path, "[vdso]"))
		mapping->object = add_vdso(tid, maps.start, maps.end);
	else
		mapping->object = objects_add(*maps.path ? maps.path : "[anon]",
					      NULL);
	return true;
}

/**
 * mapped_read() - read the mappings of a process
 * @space: its address space
 * @tid: a task of the process
 *
 * Return: true if a mapping was not known before.
 */
bool mapped_read(struct space *space, pid_t tid)
{
	char path[32], *line = NULL;
	struct mapping mapping;
	size_t size = 0;
	bool new = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0)
		if (parse_line(line, tid, &mapping))
			new |= space_add(space, &mapping);
	if (file)
		fclose(file);
	free(line);
	return new;
}

static bool copy(struct space *space, __u64 address)
{
	const struct space *like = space_like(space, address);
	size_t i;

	if (!like)
		return false;
	space->program = like->program;
	for (i = 0; i < like->n; i++)
		space_add(space, &like->maps[i]);
	return true;
}

/**
 * mapped_begin() - start the address space of a new program or process
 * @mapped: the task whose records are being read
 * @address: the address at which the task continues
 *
 * Return: true, since the address space is a new one.
 */
bool mapped_begin(struct mapped *mapped, unsigned long long address)
{
	char link[32], program[BRANCHES_PATH];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", mapped->tid);
	n = readlink(link, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	mapped->space = space_begin(mapped->pid, n > 0 ? program : "?");
	mapped->flags = BRANCHES_NEW;
	if (!mapped_read(mapped->space, mapped->tid) &&
	    address < UTRACE_PC_BASE && copy(mapped->space, address))
		mapped->flags |= BRANCHES_COPIED;
	return true;
}

/*
 * Read the mappings to find an address.  Returns whether a new mapping was
 * found.
 */
static bool look_for(struct mapped *mapped, __u64 address)
{
	struct space *space = mapped->space;
	size_t n = space->missed.n;

	if (address >= UTRACE_PC_BASE || space_find(space, address) ||
	    pairs_add(&space->missed, address / PAGE, 0) < n)
		return false;
	mapped->flags = 0;
	return mapped_read(space, mapped->tid);
}

/**
 * mapped_learn() - read the mappings that a record needs
 * @mapped: the task whose records are being read
 * @record: the record
 *
 * Return: true if @mapped->space has changed, see @mapped->flags.
 */
bool mapped_learn(struct mapped *mapped, const struct utrace_branch *record)
{
	bool changed;

	if (!mapped->space)
		mapped->space = space_of(mapped->pid);
	switch (UTRACE_BRANCH_TYPE(record->info)) {
	case UTRACE_BRANCH_TASK:
		mapped->pid = record->from >> 32;
		mapped->tid = record->from;
		mapped->space = space_of(mapped->pid);
		return false;
	case UTRACE_BRANCH_START:
		/* The first thread exists as long as its process. */
		if (mapped->tid == mapped->pid || !mapped->space->n)
			return mapped_begin(mapped, record->to);
		return false;
	case UTRACE_BRANCH:
		/*
		 * The parent does not have the code of a program that has
		 * begun.
		 */
		if (record->from == UTRACE_PC_EXEC)
			return mapped_begin(mapped, UTRACE_PC_EXEC);
		changed = look_for(mapped, record->from);
		return look_for(mapped, record->to) || changed;
	default:
		return false;
	}
}
