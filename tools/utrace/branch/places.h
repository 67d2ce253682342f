/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - places in programs, and the functions that they are in
 */
#ifndef UTRACE_BRANCH_PLACES_H
#define UTRACE_BRANCH_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct space;

/**
 * struct function - a function
 * @name: its name; "[no symbol]" for all functions of an object without a
 *	symbol
 * @object: number of the object
 * @start: its first address, in the addresses of the object
 */
struct function {
	const char *name;
	unsigned int object;
	__u64 start;
};

/**
 * struct place - an address in an object
 * @address: the address, in the addresses of the object
 * @function: number of the function
 * @file: source file, or NULL; valid if @searched
 * @line: line of @file
 * @searched: @file was looked for
 */
struct place {
	__u64 address;
	unsigned int function;
	const char *file;
	int line;
	bool searched;
};

unsigned int place_of(struct space *space, __u64 address);
struct place *place_get(unsigned int n);
size_t places_count(void);
bool place_is_entry(const struct place *place);
bool place_find_line(struct place *place);
const char *place_text(const struct place *place);

unsigned int function_of_program(const char *program);
const struct function *function_get(unsigned int n);
size_t functions_count(void);

#endif /* UTRACE_BRANCH_PLACES_H */
