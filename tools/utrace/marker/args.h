/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - arguments of markers
 */
#ifndef UTRACE_MARKER_ARGS_H
#define UTRACE_MARKER_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/utrace_marker.h>

/* Registers that have arguments of functions. */
#define MARKER_CALL_ARGS	6

/**
 * struct marker_arg - an argument of a marker
 * @where: size and place, as the kernel takes them; the number 0 if not @known
 * @known: the kernel can read the argument
 * @type: its type for people, as "s32", "u64" or "f64"
 */
struct marker_arg {
	struct utrace_marker_arg where;
	bool known;
	char type[6];
};

/**
 * struct marker_args - the arguments of a marker
 * @n: number of elements of @arg that are used
 * @arg: the arguments
 */
struct marker_args {
	unsigned int n;
	struct marker_arg arg[UTRACE_MARKER_ARGS];
};

void marker_args_parse(struct marker_args *args, const char *text,
		       unsigned int size);
void marker_args_of_call(struct marker_args *args, unsigned int n,
			 unsigned int size);
void marker_args_of_return(struct marker_args *args, unsigned int size);
const char *marker_register(unsigned int number);
void marker_arg_place(const struct marker_arg *arg, char *text, size_t size);

#endif /* UTRACE_MARKER_ARGS_H */
