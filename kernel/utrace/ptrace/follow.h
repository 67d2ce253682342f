/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - further tracers follow a task to the tasks that it creates
 */
#ifndef _KERNEL_UTRACE_PTRACE_FOLLOW_H
#define _KERNEL_UTRACE_PTRACE_FOLLOW_H

int ptracer_clone_event(unsigned long clone_flags);

#endif /* _KERNEL_UTRACE_PTRACE_FOLLOW_H */
