/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: the source that steps
 */
#ifndef _KERNEL_UTRACE_BRANCH_STEP_H
#define _KERNEL_UTRACE_BRANCH_STEP_H

#include <linux/types.h>

#include "../builtin.h"

struct branch_thread;
struct pt_regs;
struct task_struct;

void utrace_branch_fetch(struct branch_thread *thread,
			 const struct pt_regs *regs);
bool utrace_branch_step(struct pt_regs *regs, enum utrace_step_why why);
void utrace_branch_end_call(struct branch_thread *thread);
void utrace_branch_hide_from_child(struct task_struct *child);

#endif /* _KERNEL_UTRACE_BRANCH_STEP_H */
