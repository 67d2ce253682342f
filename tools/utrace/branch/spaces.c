// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - mappings of code in processes
 *
 * A process gets a new address space at each execve().  Mappings are added and
 * replace those that they overlap.  They are not removed, since records that
 * are read later may have addresses that are no longer mapped.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/memory.h"
#include "spaces.h"

static struct pairs pids;
static struct space **spaces;
static size_t nspaces;
static unsigned int serials;

/* Return the address space of a process.  A new one is empty. */
struct space *space_of(pid_t pid)
{
	unsigned int i = pairs_add(&pids, pid, 0);
	struct space *space;

	if (i < nspaces)
		return spaces[i];
	space = checked(calloc(1, sizeof(*space)));
	spaces = checked(reallocarray(spaces, nspaces + 1, sizeof(*spaces)));
	space->pid = pid;
	space->program = "?";
	space->serial = ++serials;
	spaces[nspaces++] = space;
	return space;
}

/**
 * space_begin() - start the address space of a new program
 * @pid: the process
 * @program: path of the program, which is copied
 *
 * Return: the space, which is empty.
 */
struct space *space_begin(pid_t pid, const char *program)
{
	struct space *space = space_of(pid);

	space->program = checked(strdup(program));
	space->n = 0;
	space->last = 0;
	space->serial = ++serials;
	pairs_clear(&space->missed);
	return space;
}

/* Return the number of the first mapping that ends after an address. */
static size_t search(const struct space *space, __u64 address)
{
	size_t low = 0, high = space->n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (space->maps[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool covers(const struct space *space, size_t i, __u64 address)
{
	return i < space->n && space->maps[i].start <= address &&
	       address < space->maps[i].end;
}

/* Return the mapping of an address, or NULL. */
const struct mapping *space_find(struct space *space, __u64 address)
{
	if (!covers(space, space->last, address))
		space->last = search(space, address);
	return covers(space, space->last, address) ?
	       &space->maps[space->last] : NULL;
}

/* Insert a mapping as number @i. */
static void insert(struct space *space, size_t i, const struct mapping *mapping)
{
	space->maps = grow(space->maps, space->n, &space->size,
			   sizeof(*space->maps));
	memmove(&space->maps[i + 1], &space->maps[i],
		(space->n - i) * sizeof(*space->maps));
	space->maps[i] = *mapping;
	space->n++;
}

/*
 * Remove mappings from @start to @end.  Returns the number for a mapping there.
 */
static size_t clear(struct space *space, __u64 start, __u64 end)
{
	size_t i = search(space, start), last;
	struct mapping *map, rest;

	if (i == space->n)
		return i;
	map = &space->maps[i];
	if (map->start < start) {
		rest = *map;
		map->end = start;
		rest.offset += start - rest.start;
		rest.start = start;
		insert(space, ++i, &rest);
	}
	for (last = i; last < space->n && space->maps[last].end <= end; last++)
		;
	memmove(&space->maps[i], &space->maps[last],
		(space->n - last) * sizeof(*space->maps));
	space->n -= last - i;
	map = &space->maps[i];
	if (i < space->n && map->start < end) {
		map->offset += end - map->start;
		map->start = end;
	}
	return i;
}

/**
 * space_add() - add a mapping
 * @space: the space
 * @mapping: the mapping, which is not empty
 *
 * Return: true if the mapping was not there before.
 */
bool space_add(struct space *space, const struct mapping *mapping)
{
	const struct mapping *old = space_find(space, mapping->start);

	if (old && old->end >= mapping->end && old->object == mapping->object &&
	    old->offset + mapping->start - old->start == mapping->offset)
		return false;
	if (space->n >= MAPPINGS_MAX)
		fail("mappings", "a process has too many");
	insert(space, clear(space, mapping->start, mapping->end), mapping);
	space->serial = ++serials;
	pairs_clear(&space->missed);
	return true;
}

/* Return the newest other space that has a mapping at an address, or NULL. */
const struct space *space_like(const struct space *space, __u64 address)
{
	size_t i;

	for (i = nspaces; i--;)
		if (spaces[i] != space && space_find(spaces[i], address))
			return spaces[i];
	return NULL;
}
