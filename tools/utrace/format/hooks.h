/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - members of structures that a type in decode/tables/ cannot describe
 */
#ifndef UTRACE_FORMAT_HOOKS_H
#define UTRACE_FORMAT_HOOKS_H

#include "structs.h"

void structs_print_sigset(struct seq_buf *s, const void *data, size_t len);
void structs_print_date(struct seq_buf *s, __s64 seconds, __u64 nsec,
			const char *before, const char *after);

#endif /* UTRACE_FORMAT_HOOKS_H */
