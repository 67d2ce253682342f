/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - calls with the paths of -P
 */
#ifndef UTRACE_FORMAT_PATHS_H
#define UTRACE_FORMAT_PATHS_H

#include <stdbool.h>

#include <linux/utrace.h>

#include "text.h"

void paths_add(struct text *text, const char *path);
void paths_resolve(struct text *text);
bool paths_match(const struct text *text, const struct utrace_rec *rec);

#endif /* UTRACE_FORMAT_PATHS_H */
