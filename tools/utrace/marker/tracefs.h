/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - files of tracefs
 */
#ifndef UTRACE_MARKER_TRACEFS_H
#define UTRACE_MARKER_TRACEFS_H

#include <stdio.h>

#define TRACEFS	"/sys/kernel/tracing"

FILE *tracefs_open(const char *name);
const char *tracefs_why_not(int error);

#endif /* UTRACE_MARKER_TRACEFS_H */
