/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what only clients that are built in may use
 *
 * Clients in kernel/utrace/ that act on behalf of a process use these functions
 * beside those of <linux/utrace.h>.  None of them is exported to modules.
 */
#ifndef _KERNEL_UTRACE_BUILTIN_H
#define _KERNEL_UTRACE_BUILTIN_H

struct cred;
struct pid;
struct task_struct;
struct utrace_engine;
struct utrace_engine_ops;

int utrace_check_calls(const int *nrs, unsigned int n);
unsigned long utrace_engine_lost(const struct utrace_engine *engine);
void utrace_set_owner(struct utrace_engine *engine, struct pid *owner);
struct utrace_engine *
utrace_attach_for(const struct cred *opener, struct task_struct *target,
		  int flags, const struct utrace_engine_ops *ops, void *data,
		  bool (*may)(struct task_struct *task, void *arg), void *arg);

#endif /* _KERNEL_UTRACE_BUILTIN_H */
