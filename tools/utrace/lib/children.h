/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - children of the command
 */
#ifndef UTRACE_LIB_CHILDREN_H
#define UTRACE_LIB_CHILDREN_H

#include <sys/types.h>

void child_keep(pid_t pid);
int child_wait(pid_t pid);
pid_t child_reap(int *status);

#endif /* UTRACE_LIB_CHILDREN_H */
