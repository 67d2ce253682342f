/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - numbers of tasks, with their names for -Y
 */
#ifndef UTRACE_FORMAT_PIDS_H
#define UTRACE_FORMAT_PIDS_H

#include <stdbool.h>
#include <sys/types.h>

struct seq_buf;

/* What numbers of tasks are: -Y, --decode-pids=. */
struct pids {
	bool names;		/* names of tasks */
	bool namespaces;	/* numbers in the pid namespace of the command */
};

extern struct pids pids;

void pid_print_name(struct seq_buf *s, pid_t pid);
void pid_explain(struct seq_buf *s, pid_t pid);
void pid_set_task(pid_t tid);
void pid_add_task(pid_t tid);

#endif /* UTRACE_FORMAT_PIDS_H */
