// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system call entry and exit, and the filters of engines
 *
 * Order at entry: ptrace's stop, engines, seccomp, sys_enter, audit; at exit
 * the reverse.  A skipped call is not shown to seccomp and those behind it,
 * and still gets its exit report.
 */
#include <linux/compat.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "internal.h"

/* x32 calls share the native table and have this bit in their number. */
#ifdef __X32_SYSCALL_BIT
#define UTRACE_NR_MASK		(~__X32_SYSCALL_BIT)
#else
#define UTRACE_NR_MASK		(~0U)
#endif

/**
 * struct utrace_syscall_filter - the system calls an engine wants
 * @rcu: for readers in passes
 * @others: also those with a number outside the native table, -1 among them,
 *	and those of another table
 * @nr: the native table
 */
struct utrace_syscall_filter {
	struct rcu_head rcu;
	bool others;
	DECLARE_BITMAP(nr, NR_syscalls);
};

static bool utrace_native_syscall(void)
{
#ifdef CONFIG_COMPAT
	return !in_ia32_syscall();
#else
	return true;
#endif
}

/* Does @engine want the call that the task is in? */
static bool utrace_filter_passes(struct utrace_engine *engine,
				 struct pt_regs *regs)
{
	struct utrace_syscall_filter *filter;
	unsigned int nr;

	guard(rcu)();
	filter = rcu_dereference(engine->filter);
	if (likely(!filter))
		return true;

	nr = (unsigned int)syscall_get_nr(current, regs);
	if (nr != -1U)
		nr &= UTRACE_NR_MASK;
	if (nr >= NR_syscalls || !utrace_native_syscall())
		return filter->others;
	return test_bit(nr, filter->nr);
}

/**
 * utrace_set_syscall_filter - choose the system calls an engine is told of
 * @engine: the engine; the caller has a reference
 * @nrs: numbers of the native table; -1 stands for every number outside the
 *	table and for every call of another table.  On x86 the flag of the
 *	x32 ABI is ignored.
 * @n: elements of @nrs; 0 removes the filter
 *
 * Holds for entries reported from now on.  An exit is reported exactly if
 * the entry was; without an entry, the number decides.
 *
 * Context: May sleep.
 * Return: 0; -EINVAL: a number is outside the table and not -1, nothing is
 * changed; -ENOMEM; -ESRCH: the engine is detached.
 */
int utrace_set_syscall_filter(struct utrace_engine *engine, const int *nrs,
			      unsigned int n)
{
	struct utrace_syscall_filter *filter = NULL;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (nrs[i] < -1 || nrs[i] >= (int)NR_syscalls)
			return -EINVAL;
	if (utrace_engine_detached(engine))
		return -ESRCH;
	if (n) {
		filter = kzalloc(sizeof(*filter), GFP_KERNEL_ACCOUNT);
		if (!filter)
			return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		if (nrs[i] < 0)
			filter->others = true;
		else
			__set_bit(nrs[i], filter->nr);
	}
	filter = unrcu_pointer(xchg(&engine->filter, RCU_INITIALIZER(filter)));
	if (filter)
		kfree_rcu(filter, rcu);
	return 0;
}
EXPORT_SYMBOL_GPL(utrace_set_syscall_filter);

/* One pass over those who want the entry; true if it is to be reported again. */
static bool utrace_entry_pass(struct pt_regs *regs, u32 *result)
{
	struct utrace *u = utrace_of(current);
	struct utrace_engine *engine;
	struct utrace_pass pass;
	unsigned int i, slot;

	if (!utrace_pass_begin(&pass, *result))
		return false;
	u->entered = 0;
	if (READ_ONCE(u->fresh)) {
		scoped_guard(spinlock_irqsave, &u->lock)
			u->fresh = 0;
	}
	utrace_for_each(pass.set, UTRACE_LIST(_UTRACE_EVENT_SYSCALL_ENTRY), i,
			slot, engine) {
		u32 ret;

		if (!utrace_filter_passes(engine, regs) ||
		    !utrace_pass_wants(&pass, engine, slot,
				       UTRACE_EVENT(SYSCALL_ENTRY)))
			continue;
		u->entered |= BIT_ULL(slot);
		ret = utrace_call(&pass, engine, report_syscall_entry,
				  pass.action | pass.result, engine, regs);
		utrace_pass_answer(&pass, engine, slot, ret,
				   UTRACE_SYSCALL_MASK);
	}
	utrace_pass_end(&pass);
	*result = pass.result;
	if (likely(!READ_ONCE(u->hold)))
		return false;

	utrace_stop(u, UTRACE_STOP_FIRM);
	if (fatal_signal_pending(current)) {
		*result = UTRACE_SYSCALL_ABORT;
		return false;
	}
	return READ_ONCE(u->resume) <= UTRACE_REPORT;
}

/**
 * __utrace_syscall_entry - the task is about to make a system call
 * @regs: its registers
 * @skip: the call will not be made (PTRACE_SYSEMU)
 *
 * Return: true if the call is to be skipped.
 */
bool __utrace_syscall_entry(struct pt_regs *regs, bool skip)
{
	u32 run = skip ? UTRACE_SYSCALL_ABORT : UTRACE_SYSCALL_RUN;
	u32 result = run;

	/* What was asked for stays pending: engines may be left out here. */
	while (utrace_entry_pass(regs, &result))
		result = run | UTRACE_SYSCALL_RESUMED;
	return skip || (result & UTRACE_SYSCALL_MASK) == UTRACE_SYSCALL_ABORT;
}

/* Had the filter its say at the entry already? */
static bool utrace_was_asked(struct utrace_engine *engine, bool fresh)
{
	return !fresh && (engine->flags & UTRACE_EVENT(SYSCALL_ENTRY));
}

/**
 * __utrace_syscall_exit - the task comes back from a system call
 * @regs: its registers, with the result
 */
void __utrace_syscall_exit(struct pt_regs *regs)
{
	struct utrace_engine *engine;
	struct utrace_pass pass;
	unsigned int i, slot;
	u64 entered, fresh;

	if (!utrace_pass_begin(&pass, 0))
		return;
	fresh = READ_ONCE(pass.u->fresh);
	entered = pass.u->entered & ~fresh;
	pass.u->entered = 0;
	utrace_for_each(pass.set, UTRACE_LIST(_UTRACE_EVENT_SYSCALL_EXIT), i,
			slot, engine) {
		bool paired = entered & BIT_ULL(slot);
		u32 ret;

		if (!paired && rcu_access_pointer(engine->filter) &&
		    (utrace_was_asked(engine, fresh & BIT_ULL(slot)) ||
		     !utrace_filter_passes(engine, regs)))
			continue;
		if (!utrace_pass_wants(&pass, engine, slot,
				       UTRACE_EVENT(SYSCALL_EXIT)))
			continue;
		ret = utrace_call(&pass, engine, report_syscall_exit,
				  pass.action |
				  (paired ? 0 : UTRACE_SYSCALL_UNPAIRED),
				  engine, regs);
		utrace_pass_answer(&pass, engine, slot, ret, 0);
	}
	utrace_pass_end(&pass);
}
