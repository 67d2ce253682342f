/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - mappings of code in processes
 */
#ifndef UTRACE_BRANCH_SPACES_H
#define UTRACE_BRANCH_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/types.h>

#include "lib/pairs.h"

/**
 * struct mapping - a mapping of code
 * @start: first address
 * @end: first address after it
 * @offset: offset of @start in the object
 * @object: number of the object
 */
struct mapping {
	__u64 start;
	__u64 end;
	__u64 offset;
	unsigned int object;
};

/* The kernel allows 65530 mappings in a process. */
#define MAPPINGS_MAX	65536

/**
 * struct space - the address space of a process
 * @pid: the process
 * @program: path of the program that the process runs, or "?"; never freed
 * @serial: a number that no other space has, and that changes with the mappings
 * @maps: mappings by their addresses; they do not overlap
 * @n: number of elements of @maps
 * @size: number of allocated elements of @maps
 * @last: the mapping that was found last
 * @missed: pages without a mapping that were looked up since the last change
 */
struct space {
	pid_t pid;
	const char *program;
	unsigned int serial;
	struct mapping *maps;
	size_t n;
	size_t size;
	size_t last;
	struct pairs missed;
};

struct space *space_of(pid_t pid);
struct space *space_begin(pid_t pid, const char *program);
const struct mapping *space_find(struct space *space, __u64 address);
bool space_add(struct space *space, const struct mapping *mapping);
const struct space *space_like(const struct space *space, __u64 address);

#endif /* UTRACE_BRANCH_SPACES_H */
