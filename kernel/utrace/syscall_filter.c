// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the system calls that an engine wants
 *
 * A filter is a bitmap of all numbers.  The words of tasks say by the low five
 * bits of numbers which calls no engine of the set wants, so that most of the
 * others end with a look at the word.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "builtin.h"
#include "syscall_filter.h"

/* The same for a number that an engine asks for. */
static unsigned int utrace_chosen_bit(unsigned int nr)
{
	return utrace_filter_bit(nr & ~UTRACE_SYSCALL_IA32,
				 nr & UTRACE_SYSCALL_IA32);
}

/* The bit of UTRACE_WORD_UNWANTED for a number. */
static u64 utrace_call_bit(unsigned int nr)
{
	return BIT_ULL(32 + (nr & 31));
}

/**
 * utrace_filter_calls - the calls that an engine may want
 * @engine: the engine
 *
 * Context: Any.
 * Return: the bits of all numbers that its filter may let pass, in the place of
 * UTRACE_WORD_UNWANTED.
 */
u64 utrace_filter_calls(struct utrace_engine *engine)
{
	struct utrace_syscall_filter *filter;
	unsigned int nr;
	u64 calls = 0;

	guard(rcu)();
	filter = rcu_dereference(engine->filter);
	if (!filter || test_bit(UTRACE_FILTER_OTHERS, filter->calls))
		return UTRACE_WORD_UNWANTED;
	for_each_set_bit(nr, filter->calls, UTRACE_FILTER_OTHERS)
		calls |= utrace_call_bit(nr < NR_syscalls ? nr :
					 nr - NR_syscalls);
	return calls;
}

/**
 * utrace_filter_free - a filter is in use no more, but for readers by RCU
 * @filter: the filter, or NULL
 *
 * Context: Any.
 */
void utrace_filter_free(struct utrace_syscall_filter *filter)
{
	if (filter)
		kfree_rcu(filter, rcu);
}

/**
 * utrace_check_calls - are these numbers for utrace_set_syscall_filter()?
 * @nrs: the numbers
 * @n: how many
 *
 * Context: Any.
 * Return: 0; -EINVAL: one of them is not.
 */
int utrace_check_calls(const int *nrs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (nrs[i] != -1 &&
		    utrace_chosen_bit(nrs[i]) == UTRACE_FILTER_OTHERS)
			return -EINVAL;
	return 0;
}

/**
 * utrace_set_syscall_filter - choose the system calls an engine is told of
 * @engine: the engine; the caller has a reference
 * @nrs: numbers of the native table, or of the 32-bit one with
 *	%UTRACE_SYSCALL_IA32; -1 stands for every number that is in neither.
 *	The flag of the x32 ABI is ignored.
 * @n: elements of @nrs; 0 removes the filter
 *
 * Holds for entries reported from now on.  An exit is reported exactly if
 * the entry was; without an entry, the number decides.
 *
 * Context: May sleep.
 * Return: 0; -EINVAL: a number is outside its table and not -1, or this
 * kernel has no 32-bit table; nothing is changed; -ENOMEM; -ESRCH: the engine
 * is detached.
 */
int utrace_set_syscall_filter(struct utrace_engine *engine, const int *nrs,
			      unsigned int n)
{
	struct utrace_syscall_filter *filter = NULL;
	unsigned int i;

	if (utrace_check_calls(nrs, n))
		return -EINVAL;
	if (utrace_engine_detached(engine))
		return -ESRCH;
	if (n) {
		filter = kzalloc(sizeof(*filter), GFP_KERNEL_ACCOUNT);
		if (!filter)
			return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		__set_bit(utrace_chosen_bit(nrs[i]), filter->calls);
	filter = unrcu_pointer(xchg(&engine->filter, RCU_INITIALIZER(filter)));
	utrace_filter_free(filter);
	/* Whether there is one is part of what a set says. */
	scoped_guard(spinlock_irqsave, &utrace_engine_lock)
		utrace_engine_touch(engine);
	utrace_engine_changed(engine, 0);
	return 0;
}
EXPORT_SYMBOL_GPL(utrace_set_syscall_filter);
