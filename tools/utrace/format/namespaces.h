/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - numbers of tasks in pid namespaces
 */
#ifndef UTRACE_FORMAT_NAMESPACES_H
#define UTRACE_FORMAT_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

/* The kernel nests no more pid namespaces, see MAX_PID_NS_LEVEL. */
#define PID_LEVELS	33

/**
 * struct pid_numbers - the numbers of a task in the pid namespaces that it is in
 * @of: the numbers, from the namespace of this command on; first those of the
 *	task, then those of its process, process group and session
 * @n: number of namespaces
 * @innermost: name of the last one
 */
struct pid_numbers {
	int of[4][PID_LEVELS];
	int n;
	char innermost[32];
};

bool pid_numbers_read(struct pid_numbers *numbers, pid_t pid);
pid_t pid_of_pidfd(const char *task, int fd);
pid_t pid_in_proc(pid_t pid);
pid_t pid_from_namespace_of(pid_t tid, pid_t pid);

#endif /* UTRACE_FORMAT_NAMESPACES_H */
