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
#define UTRACE_X32_BIT		__X32_SYSCALL_BIT
#else
#define UTRACE_X32_BIT		0
#endif

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
static unsigned int utrace_filter_bit(unsigned int nr, bool ia32)
{
	if (ia32)
		return nr < UTRACE_IA32_CALLS ? NR_syscalls + nr :
						UTRACE_FILTER_OTHERS;
	nr &= ~UTRACE_X32_BIT;
	return nr < NR_syscalls ? nr : UTRACE_FILTER_OTHERS;
}

static bool utrace_in_ia32_syscall(void)
{
#ifdef CONFIG_IA32_EMULATION
	return in_ia32_syscall();
#else
	return false;
#endif
}

/* Does @engine want the call that the task is in? */
static bool utrace_filter_passes(struct utrace_engine *engine,
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

/* The same for a number that an engine asks for. */
static unsigned int utrace_chosen_bit(unsigned int nr)
{
	return utrace_filter_bit(nr & ~UTRACE_SYSCALL_IA32,
				 nr & UTRACE_SYSCALL_IA32);
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

	for (i = 0; i < n; i++)
		if (nrs[i] != -1 &&
		    utrace_chosen_bit(nrs[i]) == UTRACE_FILTER_OTHERS)
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
	if (filter)
		kfree_rcu(filter, rcu);
	return 0;
}
EXPORT_SYMBOL_GPL(utrace_set_syscall_filter);

/**
 * utrace_no_exit - remember whose entries have had no exit
 * @pass: with which the current task begins another call or its own end
 *
 * Context: The task itself, no locks held.
 */
void utrace_no_exit(struct utrace_pass *pass)
{
	struct utrace *u = pass->u;

	if (READ_ONCE(u->fresh)) {
		struct utrace_set *set;

		guard(spinlock_irqsave)(&u->lock);
		set = current->utrace_set;
		u->entered &= ~u->fresh;
		u->unpaired &= ~u->fresh;
		/* Who came after the set was pinned is not told by this pass. */
		u->fresh = set ? set->members &
				 ~utrace_set_same(pass->set, set) : 0;
	}
	u->unpaired |= u->entered;
	u->entered = 0;
}

/**
 * utrace_tell_unpaired - does an engine wait for an exit that never comes?
 * @u: of the current task
 * @engine: the engine, which is told now
 * @slot: its slot
 *
 * Context: The task itself.
 * Return: a flag for @action, or 0.
 */
u32 utrace_tell_unpaired(struct utrace *u, struct utrace_engine *engine,
			 unsigned int slot)
{
	if (likely(!(u->unpaired & BIT_ULL(slot))))
		return 0;
	u->unpaired &= ~BIT_ULL(slot);
	return READ_ONCE(engine->flags) & UTRACE_EVENT(SYSCALL_EXIT) ?
	       UTRACE_SYSCALL_UNPAIRED : 0;
}

/* One pass over those who want the entry; true if it is to be reported again. */
static bool utrace_entry_pass(struct pt_regs *regs, u32 *result)
{
	struct utrace *u = current->utrace;
	struct utrace_engine *engine;
	struct utrace_pass pass;
	unsigned int i, slot;

	if (!utrace_pass_begin(&pass, *result))
		return false;
	/* Told again after a stop, the call is still the same. */
	if (*result & UTRACE_SYSCALL_RESUMED)
		u->entered = 0;
	utrace_no_exit(&pass);
	utrace_for_each(pass.set, UTRACE_LIST(_UTRACE_EVENT_SYSCALL_ENTRY), i,
			slot, engine) {
		u32 ret;

		if (!utrace_filter_passes(engine, regs) ||
		    !utrace_pass_wants(&pass, engine, slot,
				       UTRACE_EVENT(SYSCALL_ENTRY)))
			continue;
		u->entered |= BIT_ULL(slot);
		ret = utrace_call(&pass, engine, report_syscall_entry,
				  pass.action | pass.result |
				  utrace_tell_unpaired(u, engine, slot),
				  engine, regs);
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
 * Context: The task itself, no locks held.
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
	return !fresh &&
	       (READ_ONCE(engine->flags) & UTRACE_EVENT(SYSCALL_ENTRY));
}

/**
 * __utrace_syscall_exit - the task comes back from a system call
 * @regs: its registers, with the result
 *
 * Context: The task itself, no locks held.
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
	/* Until they are told. */
	pass.u->unpaired |= entered;
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
		pass.u->unpaired &= ~BIT_ULL(slot);
		ret = utrace_call(&pass, engine, report_syscall_exit,
				  pass.action |
				  (paired ? 0 : UTRACE_SYSCALL_UNPAIRED),
				  engine, regs);
		utrace_pass_answer(&pass, engine, slot, ret, 0);
	}
	utrace_pass_end(&pass);
}
