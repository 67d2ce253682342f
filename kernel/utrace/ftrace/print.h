/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: records as text
 */
#ifndef _KERNEL_UTRACE_FTRACE_PRINT_H
#define _KERNEL_UTRACE_FTRACE_PRINT_H

#include <linux/types.h>

struct seq_buf;

void utrace_ftrace_print_entry(struct seq_buf *s, u64 nr,
			       const unsigned long *args, const void *items,
			       size_t used);
void utrace_ftrace_print_exit(struct seq_buf *s, u64 nr, long ret,
			      s64 duration, const void *items, size_t used);
void utrace_ftrace_print_fork(struct seq_buf *s, pid_t child,
			      unsigned long flags);
void utrace_ftrace_print_exec(struct seq_buf *s, const char *filename,
			      const void *items, size_t used);
void utrace_ftrace_print_end(struct seq_buf *s, int code, pid_t exec_pid);
void utrace_ftrace_print_signal(struct seq_buf *s, int sig, int code,
				pid_t sender, const void *items, size_t used);
void utrace_ftrace_print_jobctl(struct seq_buf *s, int type, int sig);

#endif /* _KERNEL_UTRACE_FTRACE_PRINT_H */
