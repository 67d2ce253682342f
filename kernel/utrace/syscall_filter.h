/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the filters of engines as the passes over a system call look at them
 */
#ifndef _KERNEL_UTRACE_SYSCALL_FILTER_H
#define _KERNEL_UTRACE_SYSCALL_FILTER_H

#include <linux/bitmap.h>
#include <linux/rcupdate.h>

#include <asm/unistd.h>

#include "internal.h"
#include "syscall_current.h"

/* Calls in the 32-bit table. */
#ifdef CONFIG_IA32_EMULATION
#define UTRACE_IA32_CALLS	IA32_NR_syscalls
#else
#define UTRACE_IA32_CALLS	0
#endif

/* Bits of a filter: the native table, the 32-bit one, and all other numbers. */
#define UTRACE_FILTER_OTHERS	(NR_syscalls + UTRACE_IA32_CALLS)
#define UTRACE_FILTER_BITS	(UTRACE_FILTER_OTHERS + 1)

static_assert(NR_syscalls < UTRACE_SYSCALL_IA32);
static_assert(UTRACE_IA32_CALLS < UTRACE_SYSCALL_IA32);

/**
 * struct utrace_syscall_filter - the system calls an engine wants
 * @rcu: for readers in passes
 * @calls: see utrace_filter_bit()
 */
struct utrace_syscall_filter {
	struct rcu_head rcu;
	DECLARE_BITMAP(calls, UTRACE_FILTER_BITS);
};

/* Which bit stands for call @nr of the 32-bit or of the native table? */
static inline unsigned int utrace_filter_bit(unsigned int nr, bool ia32)
{
	if (ia32)
		return nr < UTRACE_IA32_CALLS ? NR_syscalls + nr :
						UTRACE_FILTER_OTHERS;
#ifdef __X32_SYSCALL_BIT
	nr &= ~__X32_SYSCALL_BIT;
#endif
	return nr < NR_syscalls ? nr : UTRACE_FILTER_OTHERS;
}

/* Does @engine want the call that the task is in? */
static inline bool utrace_filter_passes(struct utrace_engine *engine,
					struct pt_regs *regs)
{
	struct utrace_syscall_filter *filter;

	guard(rcu)();
	filter = rcu_dereference(engine->filter);
	if (likely(!filter))
		return true;
	return test_bit(utrace_filter_bit(syscall_get_nr(current, regs),
					  utrace_in_ia32_syscall()),
			filter->calls);
}

/*
 * Is the call that the task is in one that nobody can want?  Where a bit says so
 * there is a struct utrace.  The flag of the x32 ABI is none of the bits that
 * are looked at.
 */
static __always_inline bool utrace_call_is_filtered(unsigned long word,
						    struct pt_regs *regs)
{
	u32 unwanted = word >> 32;

	return unwanted >> (syscall_get_nr(current, regs) & 31) & 1 &&
	       !current->utrace->entered;
}

#endif /* _KERNEL_UTRACE_SYSCALL_FILTER_H */
