// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system call entry and exit, and the filters of engines
 *
 * Order at entry: ptrace's stop, engines, seccomp, sys_enter, audit; at exit
 * the reverse.  A skipped call is not shown to seccomp and those behind it,
 * and still gets its exit report.
 *
 * There are two passes for each.  The short one is for engines that look at
 * every call and answer "go on": it calls them and does nothing else.  Who has
 * a filter or wants QUIESCE, whatever is pending for the task, and accounting
 * need the long one; so does the rest of a short pass when an engine answers
 * something else.  UTRACE_WORD_SHORT says that a set can do with the
 * short one, UTRACE_TASK_LONG that a task cannot, see utrace_settle().
 */
#include <linux/compat.h>
#ifdef CONFIG_GENERIC_ENTRY
#include <linux/entry-common.h>
#endif
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "client.h"
#include "internal.h"
#include "syscall_now.h"
#include "syscall_table.h"

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
				 ~utrace_set_same(pass->set, set) : U64_MAX;
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

/**
 * utrace_settle - may the next pass be short?
 * @pass: the long pass that is about to end
 *
 * Not with something pending for an engine of the set, nor with a newer set.
 * Who makes either true later sets UTRACE_TASK_LONG itself: utrace_switch(),
 * holds and steps, and short passes that leave an engine out.
 *
 * Context: The task itself, no locks held.
 */
static void utrace_settle(struct utrace_pass *pass)
{
	struct utrace_set *set = pass->set;
	struct utrace *u = pass->u;

	guard(spinlock_irqsave)(&u->lock);
	if (u->hold || u->step || u->fresh ||
	    (u->unpaired & (set->entry | set->exit)) ||
	    set != current->utrace_set)
		u->flags |= UTRACE_TASK_LONG;
	else
		u->flags &= ~UTRACE_TASK_LONG;
}

/* The next pass has a set without an engine that does not want the event any more. */
static void utrace_left_out(struct utrace *u)
{
	guard(spinlock_irqsave)(&u->lock);
	u->flags |= UTRACE_TASK_LONG;
	utrace_set_word(current, current->utrace_events | UTRACE_WORD_REBUILD);
}

/* Positions in the list of an event, and what is there. */
#define UTRACE_FIRST(set, event)	((set)->start[UTRACE_LIST(event)])
#define UTRACE_END(set, event)		((set)->start[UTRACE_LIST(event) + 1])

/* The slots that come after position @i in the list of an event. */
static u64 utrace_slots_behind(const struct utrace_set *set, unsigned int event,
			       unsigned int i)
{
	u64 slots = 0;

	while (++i < UTRACE_END(set, event))
		slots |= BIT_ULL(set->order[i]);
	return slots;
}

/* Entry: what is left of a pass, from position @i of its order on. */
static void utrace_entry_rest(struct utrace_pass *pass, unsigned int i,
			      struct pt_regs *regs)
{
	struct utrace *u = pass->u;

	for (; i < pass->n; i++) {
		unsigned int slot = pass->order[i];
		struct utrace_engine *engine = pass->set->engine[slot];
		u32 ret;

		if (!utrace_filter_passes(engine, regs) ||
		    !utrace_pass_wants(pass, engine, slot,
				       UTRACE_EVENT(SYSCALL_ENTRY)))
			continue;
		u->entered |= BIT_ULL(slot);
		ret = utrace_call(pass, engine, report_syscall_entry,
				  pass->action | pass->result |
				  utrace_tell_unpaired(u, engine, slot),
				  engine, regs);
		utrace_pass_answer(pass, engine, slot, ret,
				   UTRACE_SYSCALL_MASK);
	}
	utrace_settle(pass);
	utrace_pass_end(pass);
}

/* The pass that a short one over the list of @event turns into. */
static void utrace_pass_continue(struct utrace_pass *pass, struct utrace *u,
				 unsigned int event)
{
	struct utrace_set *set = u->pinned;

	*pass = (struct utrace_pass) {
		.u	= u,
		.set	= set,
		.order	= &set->order[UTRACE_FIRST(set, event)],
		.n	= UTRACE_END(set, event) - UTRACE_FIRST(set, event),
		.muted	= READ_ONCE(u->muted),
		.action	= UTRACE_RESUME,
		.resume	= UTRACE_RESUME,
	};
}

/* After a pass over the entry: true if it is to be reported again. */
static bool utrace_entry_stop(struct utrace *u, u32 *result)
{
	if (likely(!READ_ONCE(u->hold)))
		return false;

	utrace_stop(u, UTRACE_STOP_FIRM);
	if (fatal_signal_pending(current)) {
		*result = UTRACE_SYSCALL_ABORT;
		return false;
	}
	return READ_ONCE(u->resume) <= UTRACE_REPORT;
}

/* One long pass over those who want the entry. */
static void utrace_entry_pass(struct pt_regs *regs, u32 *result)
{
	struct utrace *u = current->utrace;
	struct utrace_pass pass;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_SYSCALL_ENTRY),
			       *result))
		return;
	/* Told again after a stop, the call is still the same. */
	if (*result & UTRACE_SYSCALL_RESUMED)
		u->entered = 0;
	utrace_no_exit(&pass);
	utrace_entry_rest(&pass, 0, regs);
	*result = pass.result;
}

/*
 * Stops that follow the entry, and its reports after them.  What was asked for
 * stays pending: engines may be left out here.  True if the call is skipped.
 */
static bool utrace_entry_end(struct utrace *u, struct pt_regs *regs, u32 run,
			     u32 result)
{
	while (utrace_entry_stop(u, &result)) {
		result = run | UTRACE_SYSCALL_RESUMED;
		utrace_entry_pass(regs, &result);
	}
	return run == UTRACE_SYSCALL_ABORT ||
	       (result & UTRACE_SYSCALL_MASK) == UTRACE_SYSCALL_ABORT;
}

static noinline bool utrace_long_entry(struct pt_regs *regs, u32 run)
{
	u32 result = run;

	/* Of the system only, and they are gone since the work bit was seen. */
	if (!utrace_adopt(UTRACE_EVENT(SYSCALL_ENTRY)))
		return run == UTRACE_SYSCALL_ABORT;
	utrace_entry_pass(regs, &result);
	return utrace_entry_end(current->utrace, regs, run, result);
}

/* Is there nothing in the set that only the long pass looks at? */
static __always_inline bool utrace_is_short(unsigned long word)
{
	return word & UTRACE_WORD_SHORT &&
	       !static_branch_unlikely(&utrace_stats);
}

/* A call of a short pass, which keeps account only to find slow callbacks. */
#define utrace_short_call(engine, op, regs)				\
({									\
	u64 __since = IS_ENABLED(CONFIG_UTRACE_DEBUG) ? utrace_time() : 0; \
	u32 __ret = (engine)->ops->op(UTRACE_RESUME, engine, regs);	\
	if (IS_ENABLED(CONFIG_UTRACE_DEBUG))				\
		utrace_account(engine, __since);			\
	__ret;								\
})

/*
 * The pin of a short pass, see utrace_pin().  False if another set was published
 * meanwhile, or if something is pending; the long pass pins once more, and that
 * in the right way.  A set that came since the last long pass, or none, has the
 * flag with it.
 */
static __always_inline bool utrace_pin_short(struct utrace *u,
					     struct utrace_set *set)
{
	if (unlikely(!utrace_pin_try(&u->pinned, set, &current->utrace_set)))
		return false;
	/* One look behind the set, without the lock. */
	return likely(!(data_race(u->flags) & UTRACE_TASK_LONG));
}

static noinline bool utrace_entry_not_short(struct utrace *u)
{
	utrace_unpin(u);
	return utrace_long_entry(current_pt_regs(), UTRACE_SYSCALL_RUN);
}

/* An engine answered more than "go on": the long pass does the rest. */
static noinline bool utrace_entry_turns_long(struct utrace *u, unsigned int i,
					     u32 ret)
{
	struct pt_regs *regs = current_pt_regs();
	struct utrace_pass pass;
	unsigned int slot;

	utrace_pass_continue(&pass, u, _UTRACE_EVENT_SYSCALL_ENTRY);
	pass.result = UTRACE_SYSCALL_RUN;
	slot = pass.set->order[i];
	/* So far; it has those already that are to come. */
	u->entered &= ~utrace_slots_behind(pass.set, _UTRACE_EVENT_SYSCALL_ENTRY, i);
	utrace_pass_answer(&pass, pass.set->engine[slot], slot, ret,
			   UTRACE_SYSCALL_MASK);
	utrace_entry_rest(&pass, i + 1 - UTRACE_FIRST(pass.set,
						      _UTRACE_EVENT_SYSCALL_ENTRY),
			  regs);
	return utrace_entry_end(u, regs, UTRACE_SYSCALL_RUN, pass.result);
}

/*
 * The end of a short pass, see utrace_unpin(); true if somebody waits for it,
 * or one of @flags is set.
 */
static __always_inline bool utrace_short_unpin(struct utrace *u, u16 flags)
{
	utrace_pin_drop(&u->pinned);
	/*
	 * One look, without the lock: whoever defers or waits looks at the pin
	 * after utrace_heavy(), and a hold that comes later is met at the safe
	 * point.
	 */
	return unlikely(data_race(u->flags) &
			(flags | UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER));
}

static noinline bool utrace_entry_told(struct utrace *u)
{
	utrace_told(u);
	return utrace_entry_end(u, current_pt_regs(), UTRACE_SYSCALL_RUN,
				UTRACE_SYSCALL_RUN);
}

/*
 * A short pass left out the engine at @at of the order, which does not want the
 * event any more.
 */
static noinline void utrace_entry_left_out(struct utrace *u, const u8 *at)
{
	u->entered &= ~BIT_ULL(*at);
	utrace_left_out(u);
}

/* A short pass over any number of engines. */
static noinline bool utrace_short_entries(struct utrace *u)
{
	struct pt_regs *regs = current_pt_regs();
	struct utrace_set *set = u->pinned;
	const u8 *at = &set->order[UTRACE_FIRST(set, _UTRACE_EVENT_SYSCALL_ENTRY)];
	const u8 *end = &set->order[UTRACE_END(set, _UTRACE_EVENT_SYSCALL_ENTRY)];

	for (; at < end; at++) {
		struct utrace_engine *engine = set->engine[*at];
		u32 ret;

		utrace_enter(u, engine);
		/* Lockless, as all passes read them. */
		if (unlikely(!(data_race(engine->flags) &
			       UTRACE_EVENT(SYSCALL_ENTRY)))) {
			utrace_entry_left_out(u, at);
			continue;
		}
		ret = utrace_short_call(engine, report_syscall_entry, regs);
		if (unlikely(ret != UTRACE_RESUME))
			return utrace_entry_turns_long(u, at - set->order, ret);
	}
	/* What the last callback did is done. */
	smp_store_release(&u->now, NULL);
	return utrace_short_unpin(u, UTRACE_TASK_LONG) &&
	       utrace_entry_told(u);
}

/* How a short pass over an entry ended. */
enum utrace_entry {
	UTRACE_ENTRY_QUIET,	/* one engine was called, nothing else was done */
	UTRACE_ENTRY_RUN,	/* anything, the task may have stopped */
	UTRACE_ENTRY_SKIP,	/* the call is not made */
};

static __always_inline enum utrace_entry utrace_entry_ended(bool skip)
{
	return skip ? UTRACE_ENTRY_SKIP : UTRACE_ENTRY_RUN;
}

/*
 * Written for one engine that looks at every call: no instruction here is for
 * anything else.
 */
static __always_inline enum utrace_entry utrace_short_entry(struct pt_regs *regs)
{
	struct utrace *u = current->utrace;
	struct utrace_set *set = READ_ONCE(current->utrace_set);
	struct utrace_engine *engine;
	unsigned int first;
	u32 ret;

	if (unlikely(!utrace_pin_short(u, set)))
		return utrace_entry_ended(utrace_entry_not_short(u));
	u->entered = set->entry;
	engine = set->sole_entry;
	/* Lockless, as all passes read them. */
	if (unlikely(!(data_race(engine->flags) & UTRACE_EVENT(SYSCALL_ENTRY))))
		return utrace_entry_ended(utrace_short_entries(u));
	ret = utrace_short_call(engine, report_syscall_entry, regs);
	if (unlikely(ret != UTRACE_RESUME)) {
		first = UTRACE_FIRST(u->pinned, _UTRACE_EVENT_SYSCALL_ENTRY);
		return utrace_entry_ended(utrace_entry_turns_long(u, first, ret));
	}
	if (utrace_short_unpin(u, UTRACE_TASK_LONG))
		return utrace_entry_ended(utrace_entry_told(u));
	return UTRACE_ENTRY_QUIET;
}

/**
 * __utrace_syscall_entry - the task is about to make a system call
 * @regs: its registers
 *
 * Context: The task itself, no locks held.
 * Return: true if the call is to be skipped.
 */
bool __utrace_syscall_entry(struct pt_regs *regs)
{
	unsigned long word = READ_ONCE(current->utrace_events);

	if (utrace_is_short(word))
		return utrace_short_entry(regs) == UTRACE_ENTRY_SKIP;
	if (utrace_call_is_filtered(word, regs))
		return false;
	return utrace_long_entry(regs, UTRACE_SYSCALL_RUN);
}

#ifdef CONFIG_GENERIC_ENTRY
/* By the end of a long pass others may want the call as well. */
static noinline long utrace_entered(struct pt_regs *regs, bool skip)
{
	return skip ? -1 : syscall_utrace_entered(regs);
}

static noinline long utrace_long_enter(struct pt_regs *regs)
{
	return utrace_entered(regs, utrace_long_entry(regs, UTRACE_SYSCALL_RUN));
}

static noinline long utrace_short_enter(struct pt_regs *regs)
{
	enum utrace_entry ended = utrace_short_entry(regs);

	if (likely(ended == UTRACE_ENTRY_QUIET))
		return syscall_get_nr(current, regs);
	return utrace_entered(regs, ended == UTRACE_ENTRY_SKIP);
}

/**
 * __utrace_syscall_enter_alone - the same where nobody but engines wants the call
 * @regs: its registers
 *
 * Both passes are functions of their own, so that a call which is filtered
 * needs no frame.
 *
 * Context: The task itself, no locks held.
 * Return: the number of the call to make, or -1.
 */
long __utrace_syscall_enter_alone(struct pt_regs *regs)
{
	unsigned long word = READ_ONCE(current->utrace_events);

	if (likely(utrace_is_short(word)))
		return utrace_short_enter(regs);
	if (utrace_call_is_filtered(word, regs))
		return syscall_get_nr(current, regs);
	return utrace_long_enter(regs);
}
#endif

/**
 * __utrace_syscall_skipped - the same for a call that is not made
 * @regs: its registers
 *
 * Context: The task itself, no locks held.  PTRACE_SYSEMU is in force.
 * Return: true.
 */
bool __utrace_syscall_skipped(struct pt_regs *regs)
{
	return utrace_long_entry(regs, UTRACE_SYSCALL_ABORT);
}

/* Had the filter its say at the entry already? */
static bool utrace_was_asked(struct utrace_engine *engine, bool fresh)
{
	return !fresh &&
	       (READ_ONCE(engine->flags) & UTRACE_EVENT(SYSCALL_ENTRY));
}

/*
 * Exit: what is left of a pass, from position @i of its order on.  @entered are
 * the slots that saw the entry.
 */
static void utrace_exit_rest(struct utrace_pass *pass, unsigned int i,
			     u64 entered, u64 fresh, struct pt_regs *regs)
{
	for (; i < pass->n; i++) {
		unsigned int slot = pass->order[i];
		struct utrace_engine *engine = pass->set->engine[slot];
		bool paired = entered & BIT_ULL(slot);
		u32 ret;

		if (!paired && rcu_access_pointer(engine->filter) &&
		    (utrace_was_asked(engine, fresh & BIT_ULL(slot)) ||
		     !utrace_filter_passes(engine, regs)))
			continue;
		if (!utrace_pass_wants(pass, engine, slot,
				       UTRACE_EVENT(SYSCALL_EXIT)))
			continue;
		pass->u->unpaired &= ~BIT_ULL(slot);
		ret = utrace_call(pass, engine, report_syscall_exit,
				  pass->action |
				  (paired ? 0 : UTRACE_SYSCALL_UNPAIRED),
				  engine, regs);
		utrace_pass_answer(pass, engine, slot, ret, 0);
	}
	utrace_settle(pass);
	utrace_pass_end(pass);
}

static noinline void utrace_long_exit(struct pt_regs *regs)
{
	struct utrace_pass pass;
	u64 entered, fresh;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_SYSCALL_EXIT), 0))
		return;
	fresh = READ_ONCE(pass.u->fresh);
	entered = pass.u->entered & ~fresh;
	pass.u->entered = 0;
	/* Until they are told; who does not ask for exits misses none. */
	pass.u->unpaired |= entered & pass.set->exit;
	utrace_exit_rest(&pass, 0, entered, fresh, regs);
}

static noinline void utrace_exit_not_short(struct utrace *u)
{
	utrace_unpin(u);
	utrace_long_exit(current_pt_regs());
}

static noinline void utrace_exit_turns_long(struct utrace *u, unsigned int i,
					    u32 ret)
{
	struct utrace_pass pass;
	unsigned int slot;

	utrace_pass_continue(&pass, u, _UTRACE_EVENT_SYSCALL_EXIT);
	slot = pass.set->order[i];
	/* Until they are told. */
	u->unpaired |= utrace_slots_behind(pass.set, _UTRACE_EVENT_SYSCALL_EXIT, i);
	utrace_pass_answer(&pass, pass.set->engine[slot], slot, ret, 0);
	utrace_exit_rest(&pass, i + 1 - UTRACE_FIRST(pass.set,
						     _UTRACE_EVENT_SYSCALL_EXIT),
			 pass.set->exit, 0, current_pt_regs());
}

/* It is to be told if it wants exits again. */
static noinline void utrace_exit_left_out(struct utrace *u, const u8 *at)
{
	u->unpaired |= BIT_ULL(*at);
	utrace_left_out(u);
}

/* A short pass over any number of engines. */
static noinline void utrace_short_exits(struct utrace *u)
{
	struct pt_regs *regs = current_pt_regs();
	struct utrace_set *set = u->pinned;
	const u8 *at = &set->order[UTRACE_FIRST(set, _UTRACE_EVENT_SYSCALL_EXIT)];
	const u8 *end = &set->order[UTRACE_END(set, _UTRACE_EVENT_SYSCALL_EXIT)];

	for (; at < end; at++) {
		struct utrace_engine *engine = set->engine[*at];
		u32 ret;

		utrace_enter(u, engine);
		/* Lockless, as all passes read them. */
		if (unlikely(!(data_race(engine->flags) &
			       UTRACE_EVENT(SYSCALL_EXIT)))) {
			utrace_exit_left_out(u, at);
			continue;
		}
		ret = utrace_short_call(engine, report_syscall_exit, regs);
		if (unlikely(ret != UTRACE_RESUME))
			return utrace_exit_turns_long(u, at - set->order, ret);
	}
	utrace_unpin(u);
}

/**
 * __utrace_syscall_exit - the task comes back from a system call
 * @regs: its registers, with the result
 *
 * In a short pass this is for all of them the exit of a call whose entry they
 * saw: a set of which some want exits only has no UTRACE_WORD_SHORT.
 *
 * Context: The task itself, no locks held.
 */
void __utrace_syscall_exit(struct pt_regs *regs)
{
	unsigned long word = READ_ONCE(current->utrace_events);
	struct utrace_engine *engine;
	struct utrace_set *set;
	struct utrace *u;
	u32 ret;

	if (unlikely(!utrace_is_short(word))) {
		if (!utrace_call_is_filtered(word, regs))
			utrace_long_exit(regs);
		return;
	}
	u = current->utrace;
	set = READ_ONCE(current->utrace_set);
	if (unlikely(!utrace_pin_short(u, set) || u->entered != set->entry))
		return utrace_exit_not_short(u);
	u->entered = 0;
	engine = set->sole_exit;
	/* Lockless, as all passes read them. */
	if (unlikely(!(data_race(engine->flags) & UTRACE_EVENT(SYSCALL_EXIT))))
		return utrace_short_exits(u);
	ret = utrace_short_call(engine, report_syscall_exit, regs);
	if (unlikely(ret != UTRACE_RESUME))
		return utrace_exit_turns_long(u, UTRACE_FIRST(u->pinned,
					      _UTRACE_EVENT_SYSCALL_EXIT), ret);
	if (utrace_short_unpin(u, 0))
		utrace_told(u);
}
