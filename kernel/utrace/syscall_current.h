/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - number and arguments of the system call that the current task is in
 *
 * A number of the 32-bit table has the bit UTRACE_SYSCALL_IA32 set, as it has
 * in utrace_set_syscall_filter().
 */
#ifndef _KERNEL_UTRACE_SYSCALL_CURRENT_H
#define _KERNEL_UTRACE_SYSCALL_CURRENT_H

#include <linux/sched.h>
#include <linux/utrace.h>

#include <asm/syscall.h>

/* Check whether the current system call is one of the 32-bit table. */
static inline bool utrace_in_ia32_syscall(void)
{
#ifdef CONFIG_IA32_EMULATION
	return in_ia32_syscall();
#else
	return false;
#endif
}

/**
 * utrace_current_call() - the number of the current system call
 * @regs: registers of the current task
 *
 * A program may ask for any number.  A number with the IA32 bit set would alias
 * the 32-bit table; %UTRACE_SYSCALL_NONE is returned for it.
 *
 * Context: The task itself, in a system call.
 * Return: the number, or-ed with %UTRACE_SYSCALL_IA32 if the call is one of the
 * 32-bit table; or %UTRACE_SYSCALL_NONE.
 */
static inline unsigned int utrace_current_call(struct pt_regs *regs)
{
	unsigned int nr = syscall_get_nr(current, regs);

	if (unlikely(nr & UTRACE_SYSCALL_IA32))
		return UTRACE_SYSCALL_NONE;
	return utrace_in_ia32_syscall() ? nr | UTRACE_SYSCALL_IA32 : nr;
}

/**
 * utrace_current_asked() - the current system call, for any number
 * @regs: registers of the current task
 *
 * Context: The task itself, in a system call.
 * Return: utrace_current_call(); if that is %UTRACE_SYSCALL_NONE, the number
 * that the program asked for is in the upper half.
 */
static inline u64 utrace_current_asked(struct pt_regs *regs)
{
	u64 nr = utrace_current_call(regs);

	if (unlikely(nr == UTRACE_SYSCALL_NONE))
		nr |= (u64)(u32)syscall_get_nr(current, regs) << 32;
	return nr;
}

/**
 * utrace_current_args() - the arguments of the current system call
 * @regs: registers of the current task
 * @args: filled in with what the system call sees
 *
 * A call of the 32-bit table sees the lower halves of the registers.  int $0x80
 * from 64-bit code leaves the upper halves as they were.
 *
 * Context: The task itself, in a system call.
 */
static inline void utrace_current_args(struct pt_regs *regs, unsigned long args[6])
{
	unsigned int i;

	syscall_get_arguments(current, regs, args);
	for (i = 0; i < 6 && utrace_in_ia32_syscall(); i++)
		args[i] = (u32)args[i];
}

/*
 * utrace_current_args() for a call that is not one of the 32-bit table.
 * syscall_get_arguments() would check the table again.
 */
static __always_inline void utrace_native_args(struct pt_regs *regs,
					       unsigned long args[6])
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
#else
	syscall_get_arguments(current, regs, args);
#endif
}

#endif /* _KERNEL_UTRACE_SYSCALL_CURRENT_H */
