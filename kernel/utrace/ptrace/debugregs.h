/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - ownership of the debug registers of a task
 */
#ifndef _KERNEL_UTRACE_PTRACE_DEBUGREGS_H
#define _KERNEL_UTRACE_PTRACE_DEBUGREGS_H

struct ptracer;

void ptracer_drop_debugregs(struct ptracer *p);

#endif /* _KERNEL_UTRACE_PTRACE_DEBUGREGS_H */
