/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - steps of a task
 */
#ifndef _KERNEL_UTRACE_STEP_H
#define _KERNEL_UTRACE_STEP_H

#include "internal.h"

bool utrace_has_moved(const struct utrace *u, struct pt_regs *regs);
void utrace_arm_step(struct utrace *u);
void utrace_arm_in_call(struct utrace *u);
void utrace_step_handler(void);

#endif /* _KERNEL_UTRACE_STEP_H */
