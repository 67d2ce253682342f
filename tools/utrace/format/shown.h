/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - which arguments of a call are printed, in which order
 */
#ifndef UTRACE_FORMAT_SHOWN_H
#define UTRACE_FORMAT_SHOWN_H

#include "decode/table.h"

/**
 * struct shown - the arguments of a call that are printed
 * @n: number of arguments
 * @entry: number of those that are known at the entry
 * @arg: their numbers, in the order of the output
 * @name: text before each, or NULL
 * @type: how it is printed if not as the row says, else UTRACE_ARG_NONE
 */
struct shown {
	unsigned int n;
	unsigned int entry;
	struct {
		unsigned int arg;
		const char *name;
		enum utrace_arg_type type;
	} args[UTRACE_CALL_ARGS];
};

bool shown_find(struct shown *shown, const struct utrace_call *call,
		const unsigned long args[6], enum utrace_abi abi);

#endif /* UTRACE_FORMAT_SHOWN_H */
