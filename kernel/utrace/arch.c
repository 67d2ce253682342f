// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what asm/syscall.h lacks: changing a system call
 */
#include <linux/compat.h>
#include <linux/export.h>
#include <linux/ptrace.h>

#include <asm/syscall.h>

#include "internal.h"

#ifdef CONFIG_UML

static unsigned long *utrace_syscall_arg(struct pt_regs *regs, unsigned int i)
{
	struct uml_pt_regs *r = &regs->regs;

	switch (i) {
	case 0:
		return &UPT_SYSCALL_ARG1(r);
	case 1:
		return &UPT_SYSCALL_ARG2(r);
	case 2:
		return &UPT_SYSCALL_ARG3(r);
	case 3:
		return &UPT_SYSCALL_ARG4(r);
	case 4:
		return &UPT_SYSCALL_ARG5(r);
	case 5:
		return &UPT_SYSCALL_ARG6(r);
	default:
		return NULL;
	}
}

static void utrace_set_nr(struct pt_regs *regs, int nr)
{
	UPT_SYSCALL_NR(&regs->regs) = nr;
}

#else /* X86_64 */

static unsigned long *utrace_syscall_arg(struct pt_regs *regs, unsigned int i)
{
#ifdef CONFIG_IA32_EMULATION
	if (in_ia32_syscall()) {
		switch (i) {
		case 0:
			return &regs->bx;
		case 1:
			return &regs->cx;
		case 2:
			return &regs->dx;
		case 3:
			return &regs->si;
		case 4:
			return &regs->di;
		case 5:
			return &regs->bp;
		default:
			return NULL;
		}
	}
#endif
	switch (i) {
	case 0:
		return &regs->di;
	case 1:
		return &regs->si;
	case 2:
		return &regs->dx;
	case 3:
		return &regs->r10;
	case 4:
		return &regs->r8;
	case 5:
		return &regs->r9;
	default:
		return NULL;
	}
}

static void utrace_set_nr(struct pt_regs *regs, int nr)
{
	regs->orig_ax = nr;
}

#endif

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
	unsigned long *arg = utrace_syscall_arg(regs, i);

	return arg ? *arg : 0;
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
	unsigned long *arg = utrace_syscall_arg(regs, i);

	if (arg)
		*arg = value;
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
	utrace_set_nr(regs, nr);
}
EXPORT_SYMBOL_GPL(utrace_syscall_set_nr);
