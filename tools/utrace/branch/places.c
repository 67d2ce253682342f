// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - places in programs, and the functions that they are in
 *
 * A place is identified by its object and the address there, so it is the same
 * in all processes.  Places and functions are numbered, so that callers can
 * count them in arrays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/utrace_branch.h>

#include "lib/intern.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "objects.h"
#include "places.h"
#include "spaces.h"
#include "symbols.h"

static struct pairs place_pairs, function_pairs;
static struct place *places;
static struct function *functions;
static size_t places_size, functions_size;

/* A cache of places, by address and serial number of the address space. */
static struct pairs known;
static unsigned int *known_places;
static size_t known_size;

/* Names of pseudo-addresses. */
static const struct {
	__u64 pc;
	const char *name;
} pseudo[] = {
	{ UTRACE_PC_ASYNC, "[moved]" },
	{ UTRACE_PC_SYSCALL, "[system call]" },
	{ UTRACE_PC_SIGNAL, "[signal]" },
	{ UTRACE_PC_SIGRETURN, "[sigreturn]" },
	{ UTRACE_PC_EXEC, "[exec]" },
};

static void name_pseudo(__u64 address, struct symbol *symbol)
{
	size_t i;

	symbol->name = "[kernel]";
	symbol->start = address;
	for (i = 0; i < ARRAY_SIZE(pseudo); i++)
		if (pseudo[i].pc == address)
			symbol->name = pseudo[i].name;
}

static unsigned int add_function(unsigned int object, const struct symbol *symbol)
{
	unsigned int n = function_pairs.n;
	unsigned int i = pairs_add(&function_pairs, object, symbol->start);

	if (i < n)
		return i;
	functions = grow(functions, n, &functions_size, sizeof(*functions));
	functions[n] = (struct function){
		.name = symbol->name,
		.object = object,
		.start = symbol->start,
	};
	return n;
}

static unsigned int add_place(unsigned int object, __u64 address,
			      const struct symbol *symbol)
{
	unsigned int n = place_pairs.n, i = pairs_add(&place_pairs, object, address);

	if (i < n)
		return i;
	places = grow(places, n, &places_size, sizeof(*places));
	places[n] = (struct place){
		.address = address,
		.function = add_function(object, symbol),
	};
	return n;
}

static unsigned int find_place(struct space *space, __u64 address)
{
	struct symbol symbol = { .name = "[unknown]" };
	const struct mapping *mapping;

	if (address >= UTRACE_PC_BASE) {
		name_pseudo(address, &symbol);
		return add_place(OBJECT_KERNEL, address, &symbol);
	}
	mapping = space_find(space, address);
	if (!mapping)
		return add_place(OBJECT_UNKNOWN, address, &symbol);
	address = symbols_find(mapping->object,
			       address - mapping->start + mapping->offset,
			       &symbol);
	return add_place(mapping->object, address, &symbol);
}

/**
 * place_of() - get the number of a place
 * @space: an address space
 * @address: an address there, or a pseudo-address
 *
 * Return: the number.
 */
unsigned int place_of(struct space *space, __u64 address)
{
	size_t n = known.n, i = pairs_add(&known, space->serial, address);

	if (i < n)
		return known_places[i];
	known_places = grow(known_places, n, &known_size, sizeof(*known_places));
	known_places[n] = find_place(space, address);
	return known_places[n];
}

/* Return a place, valid until the next place_of(). */
struct place *place_get(unsigned int n)
{
	return &places[n];
}

size_t places_count(void)
{
	return place_pairs.n;
}

/* Check whether a place is the first instruction of a function. */
bool place_is_entry(const struct place *place)
{
	const struct function *function = &functions[place->function];

	return function->object >= OBJECT_FIRST && function->start &&
	       function->start == place->address;
}

/* Find the source line of a place.  Returns false if there is none. */
bool place_find_line(struct place *place)
{
	const struct function *function = &functions[place->function];
	const char *file = NULL;

	if (!place->searched && function->object >= OBJECT_FIRST)
		file = symbols_line(function->object, place->address,
				    &place->line);
	if (file)
		place->file = intern(file);
	place->searched = true;
	return place->file;
}

/*
 * Return a place as text: function, or else object, and offset if it is not 0.
 * Valid until the next call but one.
 */
const char *place_text(const struct place *place)
{
	const struct function *function = &functions[place->function];
	static char text[2][1024];
	static unsigned int i;

	if (function->object == OBJECT_KERNEL || place_is_entry(place))
		return function->name;
	i ^= 1;
	if (function->object == OBJECT_UNKNOWN)
		snprintf(text[i], sizeof(text[i]), "%#llx", place->address);
	else
		snprintf(text[i], sizeof(text[i]), "%s+%#llx",
			 function->start ? function->name :
			 object_name(function->object),
			 place->address - function->start);
	return text[i];
}

/* Return the number of a pseudo-function for a program, by its path. */
unsigned int function_of_program(const char *program)
{
	const char *slash = strrchr(program, '/');
	struct symbol symbol = { .name = slash && slash[1] ? slash + 1 : program };

	symbol.start = intern_number(symbol.name);
	return add_function(OBJECT_PROGRAM, &symbol);
}

/* Return a function, valid until the next place_of(). */
const struct function *function_get(unsigned int n)
{
	return &functions[n];
}

size_t functions_count(void)
{
	return function_pairs.n;
}
