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

/* hooks_process.c */
void whole_clone_args(const struct element *e);
void whole_comm(const struct element *e);
void whole_user_desc(const struct element *e);
void arg_ambient_cap(const struct arg_text *a);
void arg_futex_op(const struct arg_text *a);
void arg_long_signal(const struct arg_text *a);
void arg_mce_policy(const struct arg_text *a);
void arg_pidtype(const struct arg_text *a);
void arg_ptracer(const struct arg_text *a);
void arg_uint(const struct arg_text *a);
void arg_vector_length(const struct arg_text *a);
void arg_xint(const struct arg_text *a);

/* hooks_signal.c */
void whole_siginfo(const struct element *e);
void whole_sigset(const struct element *e);

#endif /* UTRACE_FORMAT_HOOKS_H */
