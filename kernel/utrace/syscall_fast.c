// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the fast pass over the entry and the exit of a system call
 *
 * For engines that look at every call and answer "go on": the fast pass calls
 * them and does nothing else.  A filter, QUIESCE, whatever is pending for the
 * task, and accounting need the slow pass of syscall_report.c; so does the rest
 * of a fast pass when an engine answers something else.  UTRACE_WORD_FAST says
 * that a set can do with the fast one, UTRACE_TASK_SLOW that a task cannot, see
 * utrace_settle().
 */
#ifdef CONFIG_GENERIC_ENTRY
#include <linux/entry-common.h>
#endif
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <asm/syscall.h>

#include "syscall_filter.h"
#include "syscall_pass.h"

/* The next pass has a set without an engine that does not want the event any more. */
static void utrace_left_out(struct utrace *u)
{
	guard(spinlock_irqsave)(&u->lock);
	u->flags |= UTRACE_TASK_SLOW;
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

/* The pass that a fast one over the list of @event turns into. */
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

/* Is there nothing in the set that only the slow pass looks at? */
static __always_inline bool utrace_is_fast(unsigned long word)
{
	return word & UTRACE_WORD_FAST &&
	       !static_branch_unlikely(&utrace_stats);
}

/* A call of a fast pass, which keeps account only to find slow callbacks. */
#define utrace_fast_call(engine, op, regs)				\
({									\
	u64 __since = IS_ENABLED(CONFIG_UTRACE_DEBUG) ? utrace_time() : 0; \
	u32 __ret = (engine)->ops->op(UTRACE_RESUME, engine, regs);	\
	if (IS_ENABLED(CONFIG_UTRACE_DEBUG))				\
		utrace_account(engine, __since);			\
	__ret;								\
})

/*
 * The pin of a fast pass, see utrace_pin().  False if another set was published
 * meanwhile, or if something is pending; the slow pass pins once more, and that
 * in the right way.  A set that came since the last slow pass, or none, has the
 * flag with it.
 */
static __always_inline bool utrace_fast_pin(struct utrace *u,
					    struct utrace_set *set)
{
	if (unlikely(!utrace_pin_try(&u->pinned, set, &current->utrace_set)))
		return false;
	/* One look behind the set, without the lock. */
	return likely(!(data_race(u->flags) & UTRACE_TASK_SLOW));
}

static noinline bool utrace_entry_not_fast(struct utrace *u)
{
	utrace_unpin(u);
	return utrace_entry_slow(current_pt_regs(), UTRACE_SYSCALL_RUN);
}

/* An engine answered more than "go on": the slow pass does the rest. */
static noinline bool utrace_entry_turns_slow(struct utrace *u, unsigned int i,
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
	return utrace_entry_finish(u, regs, UTRACE_SYSCALL_RUN, pass.result);
}

/*
 * The end of a fast pass, see utrace_unpin(); true if somebody waits for it,
 * or one of @flags is set.
 */
static __always_inline bool utrace_fast_unpin(struct utrace *u, u16 flags)
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
	return utrace_entry_finish(u, current_pt_regs(), UTRACE_SYSCALL_RUN,
				UTRACE_SYSCALL_RUN);
}

/*
 * A fast pass left out the engine at @at of the order, which does not want the
 * event any more.
 */
static noinline void utrace_entry_left_out(struct utrace *u, const u8 *at)
{
	u->entered &= ~BIT_ULL(*at);
	utrace_left_out(u);
}

/* A fast pass over any number of engines. */
static noinline bool utrace_fast_entry_all(struct utrace *u)
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
		ret = utrace_fast_call(engine, report_syscall_entry, regs);
		if (unlikely(ret != UTRACE_RESUME))
			return utrace_entry_turns_slow(u, at - set->order, ret);
	}
	/* What the last callback did is done. */
	smp_store_release(&u->now, NULL);
	return utrace_fast_unpin(u, UTRACE_TASK_SLOW) &&
	       utrace_entry_told(u);
}

/* How a fast pass over an entry ended. */
enum utrace_entry {
	UTRACE_ENTRY_QUIET,	/* one engine was called, nothing else was done */
	UTRACE_ENTRY_RUN,	/* anything, the task may have stopped */
	UTRACE_ENTRY_SKIP,	/* the call is not made */
};

static __always_inline enum utrace_entry utrace_fast_outcome(bool skip)
{
	return skip ? UTRACE_ENTRY_SKIP : UTRACE_ENTRY_RUN;
}

/*
 * Written for one engine that looks at every call: no instruction here is for
 * anything else.
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
	/* Lockless, as all passes read them. */
	if (unlikely(!(data_race(engine->flags) & UTRACE_EVENT(SYSCALL_ENTRY))))
		return utrace_fast_outcome(utrace_fast_entry_all(u));
	ret = utrace_fast_call(engine, report_syscall_entry, regs);
	if (unlikely(ret != UTRACE_RESUME)) {
		first = UTRACE_FIRST(u->pinned, _UTRACE_EVENT_SYSCALL_ENTRY);
		return utrace_fast_outcome(utrace_entry_turns_slow(u, first, ret));
	}
	if (utrace_fast_unpin(u, UTRACE_TASK_SLOW))
		return utrace_fast_outcome(utrace_entry_told(u));
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

	if (utrace_is_fast(word))
		return utrace_fast_entry(regs) == UTRACE_ENTRY_SKIP;
	if (utrace_call_is_filtered(word, regs))
		return false;
	return utrace_entry_slow(regs, UTRACE_SYSCALL_RUN);
}

#ifdef CONFIG_GENERIC_ENTRY
/* By the end of a slow pass others may want the call as well. */
static noinline long utrace_alone_end(struct pt_regs *regs, bool skip)
{
	return skip ? -1 : syscall_utrace_entered(regs);
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

	if (likely(utrace_is_fast(word)))
		return utrace_alone_fast(regs);
	if (utrace_call_is_filtered(word, regs))
		return syscall_get_nr(current, regs);
	return utrace_alone_slow(regs);
}
#endif

static noinline void utrace_exit_not_fast(struct utrace *u)
{
	utrace_unpin(u);
	utrace_exit_slow(current_pt_regs());
}

static noinline void utrace_exit_turns_slow(struct utrace *u, unsigned int i,
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

/* A fast pass over any number of engines. */
static noinline void utrace_fast_exit_all(struct utrace *u)
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
		ret = utrace_fast_call(engine, report_syscall_exit, regs);
		if (unlikely(ret != UTRACE_RESUME))
			return utrace_exit_turns_slow(u, at - set->order, ret);
	}
	utrace_unpin(u);
}

/**
 * __utrace_syscall_exit - the task comes back from a system call
 * @regs: its registers, with the result
 *
 * In a fast pass this is for all of them the exit of a call whose entry they
 * saw: a set of which some want exits only has no UTRACE_WORD_FAST.
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
	/* Lockless, as all passes read them. */
	if (unlikely(!(data_race(engine->flags) & UTRACE_EVENT(SYSCALL_EXIT))))
		return utrace_fast_exit_all(u);
	ret = utrace_fast_call(engine, report_syscall_exit, regs);
	if (unlikely(ret != UTRACE_RESUME))
		return utrace_exit_turns_slow(u, UTRACE_FIRST(u->pinned,
					      _UTRACE_EVENT_SYSCALL_EXIT), ret);
	if (utrace_fast_unpin(u, 0))
		utrace_told(u);
}
