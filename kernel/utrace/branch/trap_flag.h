/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: the trap flag on processors with FRED and without it
 *
 * FRED changes what the processor does with the trap flag in two places.  The
 * caller passes @fred, so KUnit can test both kinds of processors on any
 * machine.
 */
#ifndef _KERNEL_UTRACE_BRANCH_TRAP_FLAG_H
#define _KERNEL_UTRACE_BRANCH_TRAP_FLAG_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * utrace_branch_has_trapped_first() - check for a trap before an instruction
 * @fred: the kernel uses FRED
 * @software: the thread came to user mode from an event that an instruction had
 *	caused, for example SYSCALL
 * @next: address of the next instruction at that time
 * @ip: address of the thread at the trap
 *
 * With FRED the processor traps on the return from such an event, before it
 * executes an instruction, if the trap flag is set then (FRED specification,
 * ERETU: the bit of software events in the frame).
 *
 * Context: Any.
 * Return: true if the thread has not executed the instruction.
 */
static __always_inline bool
utrace_branch_has_trapped_first(bool fred, bool software, unsigned long next,
				unsigned long ip)
{
	return fred && software && ip == next;
}

/**
 * utrace_branch_has_saved_flags() - check whether R11 has the saved flags
 * @fred: the kernel uses FRED
 * @r11: register R11 in the system call or at its end
 * @flags: the flags of the thread
 *
 * SYSCALL saves the flags in R11.  With FRED it leaves R11 alone, so R11
 * belongs to the program even if its value looks like the flags.
 *
 * Context: Any.
 * Return: true if R11 shows the program the trap flag of @flags.
 */
static __always_inline bool
utrace_branch_has_saved_flags(bool fred, unsigned long r11, unsigned long flags)
{
	return !fred && r11 == flags;
}

#endif /* _KERNEL_UTRACE_BRANCH_TRAP_FLAG_H */
