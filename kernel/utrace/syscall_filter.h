/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - how the passes over a system call check the filters of engines
 *
 * A number has its bit in the part of the native table or of the 32-bit table.
 * One more bit is for all numbers that are in neither.
 */
#ifndef _KERNEL_UTRACE_SYSCALL_FILTER_H
#define _KERNEL_UTRACE_SYSCALL_FILTER_H

#include <linux/bitmap.h>
#include <linux/rcupdate.h>

#include <asm/unistd.h>

#include "internal.h"
#include "syscall_current.h"

/* Number of calls in the 32-bit table, 0 if this kernel has none. */
#ifdef CONFIG_IA32_EMULATION
#define UTRACE_IA32_CALLS	IA32_NR_syscalls
#else
#define UTRACE_IA32_CALLS	0
#endif

/* Bits of a filter: native table, 32-bit table, one bit for other numbers. */
#define UTRACE_FILTER_OTHERS	(NR_syscalls + UTRACE_IA32_CALLS)
#define UTRACE_FILTER_BITS	(UTRACE_FILTER_OTHERS + 1)

static_assert(NR_syscalls < UTRACE_SYSCALL_IA32);
static_assert(UTRACE_IA32_CALLS < UTRACE_SYSCALL_IA32);

/**
 * struct utrace_syscall_filter - the system calls that an engine wants
 * @rcu: frees the filter when readers under RCU are done
 * @calls: a bit for each number, by utrace_filter_bit()
 *
 * Immutable once utrace_engine::filter points to it; that pointer is changed by
 * xchg() and read under RCU.
 */
struct utrace_syscall_filter {
	struct rcu_head rcu;
	DECLARE_BITMAP(calls, UTRACE_FILTER_BITS);
};

/* The bit of a filter for call @nr of the 32-bit or of the native table. */
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

/* The bit of a filter for an element of utrace_set_syscall_filter()'s @nrs. */
static inline unsigned int utrace_chosen_bit(unsigned int nr)
{
	return utrace_filter_bit(nr & ~UTRACE_SYSCALL_IA32,
				 nr & UTRACE_SYSCALL_IA32);
}

/* Check whether the filter of @engine passes the current system call. */
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
 * Check the event word: true if no engine of the set wants the current system
 * call.  Only the word of a task with a struct utrace has such a bit.  If
 * engines saw the entry, the exit must still be reported to them, since the set
 * or the number may have changed since the entry.  The flag of the x32 ABI is
 * not among the low five bits.
 */
static __always_inline bool utrace_call_is_filtered(unsigned long word,
						    struct pt_regs *regs)
{
	u32 unwanted = word >> 32;

	return unwanted >> (syscall_get_nr(current, regs) & 31) & 1 &&
	       !current->utrace->entered;
}

void utrace_filter_free(struct utrace_syscall_filter *filter);
u64 utrace_filter_calls(struct utrace_engine *engine);

#endif /* _KERNEL_UTRACE_SYSCALL_FILTER_H */
