/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - siginfo of a signal, as text
 */
#ifndef UTRACE_FORMAT_SIGINFO_H
#define UTRACE_FORMAT_SIGINFO_H

#include <signal.h>

struct seq_buf;

void siginfo_print(struct seq_buf *s, const siginfo_t *info);

#endif /* UTRACE_FORMAT_SIGINFO_H */
