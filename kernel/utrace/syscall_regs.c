// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the registers of the current system call, for engines
 */
#include <linux/export.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include <asm/syscall.h>

#include "internal.h"

#define UTRACE_SYSCALL_ARGS	6

/**
 * utrace_syscall_get_arg - an argument of the current task's system call
 * @regs: as given to report_syscall_entry or report_syscall_exit
 * @i: 0 to 5
 *
 * Context: Any.
 * Return: the argument; 0 if there is no such one.
 */
unsigned long utrace_syscall_get_arg(struct pt_regs *regs, unsigned int i)
{
	unsigned long args[UTRACE_SYSCALL_ARGS];

	syscall_get_arguments(current, regs, args);
	return i < UTRACE_SYSCALL_ARGS ? args[i] : 0;
}
EXPORT_SYMBOL_GPL(utrace_syscall_get_arg);

/**
 * utrace_syscall_set_arg - change an argument of the current system call
 * @regs: as given to report_syscall_entry
 * @i: 0 to 5; anything else changes nothing
 * @value: the new one
 *
 * Context: Any.
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
 * utrace_syscall_set_nr - make the current task do another system call
 * @regs: as given to report_syscall_entry
 * @nr: of the same table; -1 for none, which then returns -ENOSYS and is seen
 *	by seccomp, unlike after %UTRACE_SYSCALL_ABORT
 *
 * Context: Any.
 */
void utrace_syscall_set_nr(struct pt_regs *regs, int nr)
{
	syscall_set_nr(current, regs, nr);
}
EXPORT_SYMBOL_GPL(utrace_syscall_set_nr);
