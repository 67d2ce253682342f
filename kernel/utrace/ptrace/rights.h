/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - permission to share a task with other tracers, and their number
 */
#ifndef _KERNEL_UTRACE_PTRACE_RIGHTS_H
#define _KERNEL_UTRACE_PTRACE_RIGHTS_H

#include <linux/ptrace.h>
#include <linux/types.h>

struct ptracer;

/* Options that only a first tracer may set, since others could undo them. */
#define PTRACER_ONLY_FIRST	(PTRACE_O_TRACESECCOMP | PTRACE_O_SUSPEND_SECCOMP)

extern int ptrace_max_tracers;

bool ptracer_intrudes(struct ptracer *p);

#endif /* _KERNEL_UTRACE_PTRACE_RIGHTS_H */
