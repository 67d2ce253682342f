/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the tasks that this command follows
 */
#ifndef UTRACE_TRACE_TASKS_H
#define UTRACE_TRACE_TASKS_H

#include <sys/types.h>

typedef void followed_function(pid_t tid, void *data);

void tasks_followed(followed_function *function, void *data);

#endif /* UTRACE_TRACE_TASKS_H */
