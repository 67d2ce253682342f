/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what the two passes over a system call share
 */
#ifndef _KERNEL_UTRACE_SYSCALL_PASS_H
#define _KERNEL_UTRACE_SYSCALL_PASS_H

#include "internal.h"

/* syscall_report.c */
bool utrace_entry_slow(struct pt_regs *regs, u32 run);
void utrace_entry_rest(struct utrace_pass *pass, unsigned int first,
		       struct pt_regs *regs);
bool utrace_entry_finish(struct utrace *u, struct pt_regs *regs, u32 run,
			 u32 result);
void utrace_exit_slow(struct pt_regs *regs);
void utrace_exit_rest(struct utrace_pass *pass, unsigned int first, u64 entered,
		      u64 fresh, struct pt_regs *regs);

#endif /* _KERNEL_UTRACE_SYSCALL_PASS_H */
