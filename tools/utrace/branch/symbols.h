/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - functions and source lines of mapped files
 */
#ifndef UTRACE_BRANCH_SYMBOLS_H
#define UTRACE_BRANCH_SYMBOLS_H

#include <stdbool.h>

#include <linux/types.h>

#include "objects.h"

/**
 * struct symbol - a function
 * @name: its name, never freed
 * @start: its first address, as the file has it
 */
struct symbol {
	const char *name;
	__u64 start;
};

void symbols_build_id(int fd, struct build_id *id);
__u64 symbols_find(unsigned int object, __u64 offset, struct symbol *symbol);
const char *symbols_line(unsigned int object, __u64 address, int *line);
const char *symbols_why_not(unsigned int object);

#endif /* UTRACE_BRANCH_SYMBOLS_H */
