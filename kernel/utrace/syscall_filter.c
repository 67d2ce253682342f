// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the system calls that an engine wants
 *
 * A filter is a bitmap with a bit for each number of a system call.  A pass
 * checks it before it calls the engine.  The event word of a task has one bit
 * for each value of the low five bits of a number (UTRACE_WORD_UNWANTED): where
 * it is set, no engine of the set wants such calls, and no pass is made.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "builtin.h"
#include "syscall_filter.h"

/* The bit of UTRACE_WORD_UNWANTED for a number. */
static u64 utrace_call_bit(unsigned int nr)
{
	return BIT_ULL(32 + (nr & 31));
}

/**
 * utrace_filter_calls() - get the classes of system calls that an engine may
 *	want
 * @engine: the engine; the caller has a reference to its memory
 *
 * Context: Any.
 * Return: a bit of UTRACE_WORD_UNWANTED for each class with a number that the
 * filter lets pass; all bits if there is no filter, or if it lets numbers pass
 * that are in no table.
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
 * utrace_filter_free() - free a filter when readers under RCU are done
 * @filter: a filter that is no longer any engine's, or NULL
 *
 * Context: Any.
 */
void utrace_filter_free(struct utrace_syscall_filter *filter)
{
	if (filter)
		kfree_rcu(filter, rcu);
}

/**
 * utrace_check_calls() - check numbers for utrace_set_syscall_filter()
 * @nrs: the numbers
 * @n: number of elements of @nrs
 *
 * Context: Any.
 * Return:
 * * 0 - all are valid
 * * -EINVAL - a number is outside its table and not %UTRACE_SYSCALL_NONE, or
 *   this kernel has no 32-bit table
 */
int utrace_check_calls(const int *nrs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (nrs[i] != UTRACE_SYSCALL_NONE &&
		    utrace_chosen_bit(nrs[i]) == UTRACE_FILTER_OTHERS)
			return -EINVAL;
	return 0;
}

/**
 * __utrace_wants_call() - utrace_wants_call() for an engine with a filter
 * @engine: see utrace_wants_call()
 * @regs: see utrace_wants_call()
 *
 * Context: As utrace_wants_call().
 * Return: As utrace_wants_call().
 */
bool __utrace_wants_call(struct utrace_engine *engine, struct pt_regs *regs)
{
	return utrace_filter_passes(engine, regs);
}

/**
 * utrace_chooses_call() - check whether an engine's filter passes a number
 * @engine: the engine; the caller has a reference
 * @nr: a number as utrace_current_call() returns it
 *
 * Context: Any.
 * Return: true if it does, or if @engine has no filter.
 */
bool utrace_chooses_call(struct utrace_engine *engine, unsigned int nr)
{
	struct utrace_syscall_filter *filter;

	guard(rcu)();
	filter = rcu_dereference(engine->filter);
	return !filter || test_bit(utrace_chosen_bit(nr), filter->calls);
}
