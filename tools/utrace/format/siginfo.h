/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - siginfo of a signal, as text
 */
#ifndef UTRACE_FORMAT_SIGINFO_H
#define UTRACE_FORMAT_SIGINFO_H

#include <signal.h>

#include <linux/types.h>

struct seq_buf;

void siginfo_print_arch(struct seq_buf *s, __u32 arch);
void siginfo_print_nr(struct seq_buf *s, __u32 arch, __u64 nr);
void siginfo_print(struct seq_buf *s, const siginfo_t *info);

#endif /* UTRACE_FORMAT_SIGINFO_H */
