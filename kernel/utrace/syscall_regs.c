// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the registers of the current system call, for engines
 */
#include <linux/export.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/utrace.h>

#include <asm/syscall.h>

#define UTRACE_SYSCALL_ARGS	6

/**
 * utrace_syscall_get_arg() - get an argument of the current system call
 * @regs: as given to report_syscall_entry or report_syscall_exit
 * @i: number of the argument, from 0 to 5
 *
 * Context: A callback, in the task itself.  Does not sleep.
 * Return: the argument; 0 if @i is larger than 5.
 */
unsigned long utrace_syscall_get_arg(struct pt_regs *regs, unsigned int i)
{
	unsigned long args[UTRACE_SYSCALL_ARGS];

	syscall_get_arguments(current, regs, args);
	return i < UTRACE_SYSCALL_ARGS ? args[i] : 0;
}
EXPORT_SYMBOL_GPL(utrace_syscall_get_arg);

/**
 * utrace_syscall_set_arg() - change an argument of the current system call
 * @regs: as given to report_syscall_entry
 * @i: number of the argument, from 0 to 5; a larger @i changes nothing
 * @value: the new argument
 *
 * Context: A callback, in the task itself.  Does not sleep.
 */
void utrace_syscall_set_arg(struct pt_regs *regs, unsigned int i,
			    unsigned long value)
{
	unsigned long args[UTRACE_SYSCALL_ARGS];

	if (i >= UTRACE_SYSCALL_ARGS)
		return;
	syscall_get_arguments(current, regs, args);
	args[i] = value;
	syscall_set_arguments(current, regs, args);
}
EXPORT_SYMBOL_GPL(utrace_syscall_set_arg);

/**
 * utrace_syscall_set_nr() - make the current task do another system call
 * @regs: as given to report_syscall_entry
 * @nr: number of a call of the same table; -1: the task makes no call and gets
 *	-ENOSYS.  seccomp sees the number -1, while it does not see a call that
 *	%UTRACE_SYSCALL_ABORT skips
 *
 * Context: A callback, in the task itself.  Does not sleep.
 */
void utrace_syscall_set_nr(struct pt_regs *regs, int nr)
{
	syscall_set_nr(current, regs, nr);
}
EXPORT_SYMBOL_GPL(utrace_syscall_set_nr);
