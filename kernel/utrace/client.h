/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - for clients that are built in and act on behalf of a process
 */
#ifndef _KERNEL_UTRACE_CLIENT_H
#define _KERNEL_UTRACE_CLIENT_H

struct pid;
struct utrace_engine;

int utrace_check_calls(const int *nrs, unsigned int n);
void utrace_set_owner(struct utrace_engine *engine, struct pid *owner);

#endif /* _KERNEL_UTRACE_CLIENT_H */
