/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - options of strace that this command does not have
 */
#ifndef UTRACE_TRACE_STRACE_H
#define UTRACE_TRACE_STRACE_H

#include <argp.h>
#include <stddef.h>

extern const struct argp_option strace_options[];

const char *strace_instead(int key);
const char *strace_qualifier(const char *name, size_t n);

#endif /* UTRACE_TRACE_STRACE_H */
