/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the system call that the current task is in
 */
#ifndef _KERNEL_UTRACE_SYSCALL_CURRENT_H
#define _KERNEL_UTRACE_SYSCALL_CURRENT_H

#include <linux/sched.h>
#include <linux/utrace.h>

#include <asm/syscall.h>

/* What takes the place of a number that is none: without the flag of a table. */
#define UTRACE_NO_CALL	(UTRACE_SYSCALL_IA32 - 1)

/* Is it of the 32-bit table? */
static inline bool utrace_in_ia32_syscall(void)
{
#ifdef CONFIG_IA32_EMULATION
	return in_ia32_syscall();
#else
	return false;
#endif
}

/*
 * Its number, or-ed with UTRACE_SYSCALL_IA32 if it is of the 32-bit table.  A
 * program may ask for any number: one that looks like the flag is none.
 */
static inline unsigned int utrace_current_call(struct pt_regs *regs)
{
	unsigned int nr = syscall_get_nr(current, regs);

	if (unlikely(nr & UTRACE_SYSCALL_IA32))
		return UTRACE_NO_CALL;
	return utrace_in_ia32_syscall() ? nr | UTRACE_SYSCALL_IA32 : nr;
}

/*
 * Its arguments as it sees them: int $0x80 from 64-bit code leaves in the upper
 * halves of the registers what was there.
 */
static inline void utrace_current_args(struct pt_regs *regs, unsigned long args[6])
{
	unsigned int i;

	syscall_get_arguments(current, regs, args);
	for (i = 0; i < 6 && utrace_in_ia32_syscall(); i++)
		args[i] = (u32)args[i];
}

#endif /* _KERNEL_UTRACE_SYSCALL_CURRENT_H */
