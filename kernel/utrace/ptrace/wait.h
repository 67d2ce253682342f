/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - wait(2) for the further tracers of a task
 */
#ifndef _KERNEL_UTRACE_PTRACE_WAIT_H
#define _KERNEL_UTRACE_PTRACE_WAIT_H

struct ptracer;
struct task_struct;

void ptracer_send_sigchld(struct ptracer *p, struct task_struct *task, int why,
			  int status);

#endif /* _KERNEL_UTRACE_PTRACE_WAIT_H */
