// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the fast pass over the entry and the exit of a system call
 *
 * The fast pass pins the set, calls the engines that want every call, and
 * unpins the set.  If an engine answers more than RESUME, the slow pass of
 * syscall_report.c continues after that engine.  UTRACE_WORD_FAST in the event
 * word says that no engine of the set has a filter, wants QUIESCE, or wants
 * exits without entries.  UTRACE_TASK_SLOW says that the task has something
 * pending that only the slow pass does, see utrace_recalc_slow().  While
 * kernel.utrace.stats is 1, all calls take the slow pass.
 */
#ifdef CONFIG_GENERIC_ENTRY
#include <linux/entry-common.h>
#endif
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <asm/syscall.h>

#include "pass.h"
#include "syscall_filter.h"
#include "task.h"

/* Where the list of an event begins and ends in utrace_set::order. */
#define UTRACE_FIRST(set, event)	((set)->start[UTRACE_LIST(event)])
#define UTRACE_END(set, event)		((set)->start[UTRACE_LIST(event) + 1])

/* The slots after index @i of utrace_set::order in the list of an event. */
static u64 utrace_slots_behind(const struct utrace_set *set, unsigned int event,
			       unsigned int i)
{
	u64 slots = 0;

	while (++i < UTRACE_END(set, event))
		slots |= BIT_ULL(set->order[i]);
	return slots;
}

/*
 * Fill in a slow pass over the list of @event, which continues a fast pass with
 * the set that the fast pass has pinned.
 */
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

/* Check whether a task with this event word can take the fast pass. */
static __always_inline bool utrace_is_fast(unsigned long word)
{
	return word & UTRACE_WORD_FAST &&
	       !static_branch_unlikely(&utrace_stats);
}

/*
 * Make one callback of a fast pass.  Fast passes do not count callbacks for
 * kernel.utrace.stats, see utrace_is_fast(); with CONFIG_UTRACE_DEBUG they time
 * callbacks to warn of slow ones.
 */
#define utrace_fast_call(engine, op, regs)				\
({									\
	u64 __since = IS_ENABLED(CONFIG_UTRACE_DEBUG) ? utrace_time() : 0; \
	u32 __ret = (engine)->ops->op(UTRACE_RESUME, engine, regs);	\
	if (IS_ENABLED(CONFIG_UTRACE_DEBUG))				\
		utrace_account(engine, __since);			\
	__ret;								\
})

/*
 * Pin @set for a fast pass.  Returns false if another set was published since
 * @set was read, or if the task needs a slow pass.  The caller then unpins the
 * set, and the slow pass pins one by utrace_pin().
 *
 * utrace_switch() sets UTRACE_TASK_SLOW before it publishes a set, or NULL.  So
 * a set that no slow pass has seen is never walked here.
 */
static __always_inline bool utrace_fast_pin(struct utrace *u,
					    struct utrace_set *set)
{
	if (unlikely(!utrace_pin_try(&u->pinned, set, &current->utrace_set)))
		return false;
	/* Lockless, after the set; pairs with utrace_switch(). */
	return likely(!(data_race(u->flags) & UTRACE_TASK_SLOW));
}

/* The fast pass over an entry could not begin: make a slow one. */
static noinline bool utrace_entry_not_fast(struct utrace *u)
{
	utrace_unpin(u);
	return utrace_entry_slow(current_pt_regs(), UTRACE_SYSCALL_RUN);
}

/*
 * The engine at index @i of utrace_set::order has answered more than RESUME to
 * an entry.  Merge its answer, and make the rest of the pass a slow one.
 */
static noinline bool utrace_entry_continue_slow(struct utrace *u,
						unsigned int i, u32 ret)
{
	struct pt_regs *regs = current_pt_regs();
	struct utrace_pass pass;
	unsigned int slot;

	utrace_pass_continue(&pass, u, _UTRACE_EVENT_SYSCALL_ENTRY);
	pass.result = UTRACE_SYSCALL_RUN;
	slot = pass.set->order[i];
	/* The fast pass has put all slots of the list in ->entered. */
	u->entered &= ~utrace_slots_behind(pass.set, _UTRACE_EVENT_SYSCALL_ENTRY, i);
	utrace_pass_answer(&pass, pass.set->engine[slot], slot, ret,
			   UTRACE_SYSCALL_MASK);
	utrace_entry_call_from(&pass, i + 1 -
			       UTRACE_FIRST(pass.set,
					    _UTRACE_EVENT_SYSCALL_ENTRY),
			       regs);
	return utrace_entry_finish(u, regs, UTRACE_SYSCALL_RUN, pass.result);
}

/*
 * Unpin at the end of a fast pass.  Returns true if the caller must call
 * utrace_callback_done() for a deferred set or a waiter, or if one of @flags is
 * set.
 */
static __always_inline bool utrace_fast_unpin(struct utrace *u, u32 flags)
{
	utrace_pin_drop(&u->pinned);
	/*
	 * Lockless: the setter of DEFERRED or WAITER calls utrace_membarrier(),
	 * then reads ->pinned.  The safe point serves a hold that is set after
	 * this check.
	 */
	return unlikely(data_race(u->flags) &
			(flags | UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER));
}

/*
 * After a fast pass over an entry: wake waiters, and stop if an engine holds
 * the task.  Returns true if the call is skipped.
 */
static noinline bool utrace_entry_done(struct utrace *u)
{
	utrace_callback_done(u);
	return utrace_entry_finish(u, current_pt_regs(), UTRACE_SYSCALL_RUN,
				UTRACE_SYSCALL_RUN);
}

/*
 * The engine in slot *@at no longer wants the event, and was not called.  Have
 * the next pass renew the set, so that the list lacks this engine.  An engine
 * that missed an exit gets UTRACE_SYSCALL_UNPAIRED with its next entry.
 */
static noinline void utrace_left_out(struct utrace *u, unsigned int event,
				     const u8 *at)
{
	if (event == _UTRACE_EVENT_SYSCALL_ENTRY)
		u->entered &= ~BIT_ULL(*at);
	else
		u->unpaired |= BIT_ULL(*at);
	guard(spinlock_irqsave)(&u->lock);
	u->flags |= UTRACE_TASK_SLOW;
	utrace_set_word(current, current->utrace_events | UTRACE_WORD_RENEW);
}

/*
 * Call all engines of the list of @event, a constant; the set is pinned.  If an
 * engine answers more than RESUME, return its place in utrace_set::order, and
 * its answer in @ret.  Return NULL if none does.
 */
static __always_inline const u8 *utrace_fast_all(struct utrace *u,
						 struct pt_regs *regs,
						 const unsigned int event,
						 u32 *ret)
{
	struct utrace_set *set = u->pinned;
	const u8 *at = &set->order[UTRACE_FIRST(set, event)];
	const u8 *end = &set->order[UTRACE_END(set, event)];

	for (; at < end; at++) {
		struct utrace_engine *engine = set->engine[*at];

		utrace_enter(u, engine);
		/* Every pass reads the flags of an engine without a lock. */
		if (unlikely(!(data_race(engine->flags) & BIT(event)))) {
			utrace_left_out(u, event, at);
			continue;
		}
		if (event == _UTRACE_EVENT_SYSCALL_ENTRY)
			*ret = utrace_fast_call(engine, report_syscall_entry, regs);
		else
			*ret = utrace_fast_call(engine, report_syscall_exit, regs);
		if (unlikely(*ret != UTRACE_RESUME))
			return at;
	}
	return NULL;
}

/*
 * Make a fast pass over an entry with any number of engines; the set is pinned.
 * Returns true if the call is skipped.
 */
static noinline bool utrace_fast_entry_all(struct utrace *u)
{
	u32 ret;
	const u8 *at = utrace_fast_all(u, current_pt_regs(),
				       _UTRACE_EVENT_SYSCALL_ENTRY, &ret);

	if (at)
		return utrace_entry_continue_slow(u, at - u->pinned->order, ret);
	/* Order the last callback's stores before the store that ends it. */
	smp_store_release(&u->now, NULL);
	return utrace_fast_unpin(u, UTRACE_TASK_SLOW) &&
	       utrace_entry_done(u);
}

/* How a fast pass over an entry ended. */
enum utrace_entry {
	UTRACE_ENTRY_QUIET,	/* make the call; the task has not stopped */
	UTRACE_ENTRY_RUN,	/* make the call; the task may have stopped */
	UTRACE_ENTRY_SKIP,	/* skip the call */
};

/* The outcome of a pass that was more than one quiet callback. */
static __always_inline enum utrace_entry utrace_fast_outcome(bool skip)
{
	return skip ? UTRACE_ENTRY_SKIP : UTRACE_ENTRY_RUN;
}

/*
 * Make a fast pass over an entry.  The code here serves a set with one engine
 * in the list; everything else is in functions that are not inlined.  ->now
 * stays NULL: utrace_task_in_callback() then takes the engine from the pinned
 * set.
 */
static __always_inline enum utrace_entry utrace_fast_entry(struct pt_regs *regs)
{
	struct utrace *u = current->utrace;
	struct utrace_set *set = READ_ONCE(current->utrace_set);
	struct utrace_engine *engine;
	unsigned int first;
	u32 ret;

	if (unlikely(!utrace_fast_pin(u, set)))
		return utrace_fast_outcome(utrace_entry_not_fast(u));
	u->entered = set->entry;
	engine = set->sole_entry;
	/* Lockless, and 0 if the list has no single engine. */
	if (unlikely(!(data_race(engine->flags) & UTRACE_EVENT(SYSCALL_ENTRY))))
		return utrace_fast_outcome(utrace_fast_entry_all(u));
	ret = utrace_fast_call(engine, report_syscall_entry, regs);
	if (unlikely(ret != UTRACE_RESUME)) {
		first = UTRACE_FIRST(u->pinned, _UTRACE_EVENT_SYSCALL_ENTRY);
		return utrace_fast_outcome(utrace_entry_continue_slow(u, first,
								      ret));
	}
	if (utrace_fast_unpin(u, UTRACE_TASK_SLOW))
		return utrace_fast_outcome(utrace_entry_done(u));
	return UTRACE_ENTRY_QUIET;
}

/**
 * __utrace_syscall_entry() - report the entry of a system call
 * @regs: registers of the current task
 *
 * Context: The task itself, no locks held.  May sleep, and stops while an
 * engine holds the task.
 * Return:
 * * true - the call is skipped
 * * false - the call is made
 */
bool __utrace_syscall_entry(struct pt_regs *regs)
{
	unsigned long word = READ_ONCE(current->utrace_events);

	if (utrace_is_fast(word))
		return utrace_fast_entry(regs) == UTRACE_ENTRY_SKIP;
	if (utrace_call_is_filtered(word, regs))
		return false;
	return utrace_entry_slow(regs, UTRACE_SYSCALL_RUN);
}

#ifdef CONFIG_GENERIC_ENTRY
/*
 * After a pass in which the task may have stopped: seccomp, tracepoints and
 * audit may want the call by now, so read the work bits again.
 */
static noinline long utrace_alone_end(struct pt_regs *regs, bool skip)
{
	return skip ? -1 : syscall_trace_enter_rest(regs);
}

static noinline long utrace_alone_slow(struct pt_regs *regs)
{
	return utrace_alone_end(regs, utrace_entry_slow(regs, UTRACE_SYSCALL_RUN));
}

static noinline long utrace_alone_fast(struct pt_regs *regs)
{
	enum utrace_entry ended = utrace_fast_entry(regs);

	if (likely(ended == UTRACE_ENTRY_QUIET))
		return syscall_get_nr(current, regs);
	return utrace_alone_end(regs, ended == UTRACE_ENTRY_SKIP);
}

/**
 * __utrace_syscall_enter_alone() - report an entry that only engines want
 * @regs: registers of the current task
 *
 * The entry code calls this if no work bit but that of utrace is set.  Both
 * passes are functions of their own, so that a call which no engine wants needs
 * no stack frame here.
 *
 * Context: As __utrace_syscall_entry().
 * Return:
 * * the number of the call to make
 * * -1 - the call is skipped
 */
long __utrace_syscall_enter_alone(struct pt_regs *regs)
{
	unsigned long word = READ_ONCE(current->utrace_events);

	if (likely(utrace_is_fast(word)))
		return utrace_alone_fast(regs);
	if (utrace_call_is_filtered(word, regs))
		return syscall_get_nr(current, regs);
	return utrace_alone_slow(regs);
}
#endif

/* The fast pass over an exit could not begin: make a slow one. */
static noinline void utrace_exit_not_fast(struct utrace *u)
{
	utrace_unpin(u);
	utrace_exit_slow(current_pt_regs());
}

/*
 * The engine at index @i of utrace_set::order has answered more than RESUME to
 * an exit.  Merge its answer, and make the rest of the pass a slow one.
 */
static noinline void utrace_exit_continue_slow(struct utrace *u, unsigned int i,
					       u32 ret)
{
	struct utrace_pass pass;
	unsigned int slot;

	utrace_pass_continue(&pass, u, _UTRACE_EVENT_SYSCALL_EXIT);
	slot = pass.set->order[i];
	/* utrace_exit_call_from() clears each bit when it calls the engine. */
	u->unpaired |= utrace_slots_behind(pass.set, _UTRACE_EVENT_SYSCALL_EXIT, i);
	utrace_pass_answer(&pass, pass.set->engine[slot], slot, ret, 0);
	utrace_exit_call_from(&pass, i + 1 -
			      UTRACE_FIRST(pass.set, _UTRACE_EVENT_SYSCALL_EXIT),
			      pass.set->exit, 0, current_pt_regs());
}

/* Make a fast pass over an exit with any number of engines. */
static noinline void utrace_fast_exit_all(struct utrace *u)
{
	u32 ret;
	const u8 *at = utrace_fast_all(u, current_pt_regs(),
				       _UTRACE_EVENT_SYSCALL_EXIT, &ret);

	if (at)
		utrace_exit_continue_slow(u, at - u->pinned->order, ret);
	else
		utrace_unpin(u);
}

/**
 * __utrace_syscall_exit() - report the exit of a system call
 * @regs: registers of the current task, with the result of the call
 *
 * A fast pass calls only engines that saw the entry: a set with an engine that
 * wants exits without entries has no UTRACE_WORD_FAST, and ->entered is
 * compared with all engines that want the entry.
 *
 * Context: The task itself, no locks held.  May sleep.
 */
void __utrace_syscall_exit(struct pt_regs *regs)
{
	unsigned long word = READ_ONCE(current->utrace_events);
	struct utrace_engine *engine;
	struct utrace_set *set;
	struct utrace *u;
	u32 ret;

	if (unlikely(!utrace_is_fast(word))) {
		if (!utrace_call_is_filtered(word, regs))
			utrace_exit_slow(regs);
		return;
	}
	u = current->utrace;
	set = READ_ONCE(current->utrace_set);
	if (unlikely(!utrace_fast_pin(u, set) || u->entered != set->entry))
		return utrace_exit_not_fast(u);
	u->entered = 0;
	engine = set->sole_exit;
	/* Lockless, and 0 if the list has no single engine. */
	if (unlikely(!(data_race(engine->flags) & UTRACE_EVENT(SYSCALL_EXIT))))
		return utrace_fast_exit_all(u);
	ret = utrace_fast_call(engine, report_syscall_exit, regs);
	if (unlikely(ret != UTRACE_RESUME))
		return utrace_exit_continue_slow(u, UTRACE_FIRST(u->pinned,
					      _UTRACE_EVENT_SYSCALL_EXIT), ret);
	if (utrace_fast_unpin(u, 0))
		utrace_callback_done(u);
}
