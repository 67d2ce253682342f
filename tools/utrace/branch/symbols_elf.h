/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - functions and source lines of a file, by elfutils
 */
#ifndef UTRACE_BRANCH_SYMBOLS_ELF_H
#define UTRACE_BRANCH_SYMBOLS_ELF_H

#include <linux/types.h>

#include "objects.h"
#include "symbols.h"

struct source;

void source_build_id(int fd, struct build_id *id);
struct source *source_open(const struct object *object, const char **why);
void source_close(struct source *source);
__u64 source_address(const struct source *source, __u64 offset);
void source_find(struct source *source, __u64 address, struct symbol *symbol);
const char *source_line_of(const struct source *source, __u64 address, int *line);

#endif /* UTRACE_BRANCH_SYMBOLS_ELF_H */
