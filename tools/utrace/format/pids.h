/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - numbers of tasks, with their names for -Y
 */
#ifndef UTRACE_FORMAT_PIDS_H
#define UTRACE_FORMAT_PIDS_H

#include <stdbool.h>
#include <sys/types.h>

struct seq_buf;

/* -Y: pid_print_name() prints names. */
extern bool pid_names;

void pid_print_name(struct seq_buf *s, pid_t pid);

#endif /* UTRACE_FORMAT_PIDS_H */
