/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - passes: the report of one event to the engines of a task
 *
 * A pass pins the set of the task, calls each engine that wants the event, in
 * the order of the set's list, and merges their answers.
 */
#ifndef _KERNEL_UTRACE_PASS_H
#define _KERNEL_UTRACE_PASS_H

#include <linux/jump_label.h>
#include <linux/timekeeping.h>

#include "pin.h"
#include "set.h"
#include "step.h"

struct pt_regs;

DECLARE_STATIC_KEY_FALSE(utrace_stats);

struct utrace_set *utrace_pin(struct utrace *u);
void utrace_callback_done(struct utrace *u);

/**
 * utrace_enter() - announce that a callback of an engine may run
 * @u: struct utrace of the current task
 * @engine: the engine; the caller reads its flags after this
 *
 * The store to @u->now comes before the load of the flags.  utrace_set_events()
 * and utrace_detach() store the flags, call utrace_membarrier() and load
 * @u->now.  So the task sees the new flags, or the other side sees the engine
 * in @u->now.
 *
 * Wakes tasks that wait for the end of the previous callback, since the
 * callback of @engine may take long.
 *
 * Context: The task itself, with a set pinned.  May call ->release() of an
 * engine that was detached during the pass.
 */
static __always_inline void utrace_enter(struct utrace *u,
					 struct utrace_engine *engine)
{
	/* The previous callback's stores come before the store that ends it. */
	smp_store_release(&u->now, engine);
	barrier(); /* ->now before the flags; pairs with utrace_membarrier(). */
	/*
	 * Lockless: the setter of WAITER calls utrace_membarrier(), then reads
	 * ->now.
	 */
	if (unlikely(data_race(u->flags) & UTRACE_TASK_WAITER))
		utrace_callback_done(u);
}

/**
 * utrace_unpin() - end the walk over the pinned set
 * @u: struct utrace of the current task
 *
 * Context: The task itself.  May call ->release() of an engine that was
 * detached during the walk.
 */
static __always_inline void utrace_unpin(struct utrace *u)
{
	/* The last callback's stores come before the store that ends it. */
	smp_store_release(&u->now, NULL);
	utrace_pin_drop(&u->pinned);
	/*
	 * Lockless: the setter of a flag calls utrace_membarrier(), then reads
	 * ->pinned.
	 */
	if (unlikely(data_race(u->flags) &
		     (UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER)))
		utrace_callback_done(u);
}

/**
 * struct utrace_pass - one pass over the set of the current task
 * @u: struct utrace of the current task
 * @set: the set, pinned
 * @order: the slots to call, in the order of the calls; part of @set, or @live
 * @n: number of elements of @order
 * @action: smallest resume action answered so far, an argument of the next
 *	callback
 * @resume: smallest resume action answered so far, except STOP
 * @result: what the answers so far say about the event, with flags; an argument
 *	of the next callback
 * @muted: slots that the pass skips because their match rejects the task
 * @stop: slots that answered STOP
 * @here: those slots of @stop that want the task to stop at the event
 * @called: slots of the engines that were called, without system engines
 * @held: slots that held the task when the pass began
 * @stepped: slots that had asked for a step when the pass began
 * @step: slots that answered SINGLESTEP
 * @block: slots that answered BLOCKSTEP.  A slot may be in @step and @block if
 *	its engine was called for QUIESCE and for the event
 * @noio: for memalloc_noio_restore(), in a kernel thread
 * @live: buffer for @order in a pass over a set that could not be renewed
 *
 * On the stack of the task; no lock is needed.
 */
struct utrace_pass {
	struct utrace *u;
	struct utrace_set *set;
	const u8 *order;
	unsigned int n;
	enum utrace_resume_action action;
	enum utrace_resume_action resume;
	u32 result;
	u64 muted;
	u64 stop;
	u64 here;
	u64 called;
	u64 held;
	u64 stepped;
	u64 step;
	u64 block;
	unsigned int noio;
	u8 live[UTRACE_NSLOTS];
};

/* pass.c */
bool utrace_pass_begin(struct utrace_pass *pass, unsigned int list, u32 result);
void utrace_pass_leave(struct utrace_pass *pass);
void utrace_pass_end(struct utrace_pass *pass);
void utrace_pass_end_report(struct utrace_pass *pass);
bool utrace_pass_enter(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot);
bool utrace_pass_wants(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot, unsigned long event);
void utrace_pass_answer(struct utrace_pass *pass, struct utrace_engine *engine,
			unsigned int slot, u32 ret, u32 mask);

/* report.c */
void utrace_pass_stop_here(struct utrace_pass *pass);
void utrace_report_quiesce(void);
bool utrace_report_stop(int notify, bool again);

/**
 * utrace_pass_step() - begin a step that an engine requested in a system call
 * @pass: the pass, after utrace_pass_end()
 *
 * Context: The task itself, no locks held.
 */
static inline void utrace_pass_step(struct utrace_pass *pass)
{
	if (unlikely(pass->step | pass->block))
		utrace_arm_in_call(pass->u);
}

/* Walk the slots to call in a pass, from index @first on. */
#define utrace_pass_for_each_from(pass, at, first)			\
	for (struct utrace_place at = { .i = (first) };			\
	     utrace_place_in((pass)->set, (pass)->order, (pass)->n, &at); \
	     at.i++)

#define utrace_pass_for_each(pass, at)	utrace_pass_for_each_from(pass, at, 0)

/* Check whether callbacks are timed. */
static inline bool utrace_timed(void)
{
	return IS_ENABLED(CONFIG_UTRACE_DEBUG) ||
	       static_branch_unlikely(&utrace_stats);
}

static inline u64 utrace_time(void)
{
	return utrace_timed() ? ktime_get_ns() : 0;
}

void __utrace_account(struct utrace_engine *engine, u64 since);

/* Account for a callback that began when utrace_time() returned @since. */
static inline void utrace_account(struct utrace_engine *engine, u64 since)
{
	if (utrace_timed())
		__utrace_account(engine, since);
}

/*
 * Make one callback and account for it.  The value is the answer of the engine;
 * if the engine does not have the callback, RESUME and the result so far.
 */
#define utrace_call(pass, engine, op, ...)				\
({									\
	u64 __since = utrace_time();					\
	u32 __ret = UTRACE_RESUME | (pass)->result;			\
	if ((engine)->ops->op)						\
		__ret = (engine)->ops->op(__VA_ARGS__);			\
	utrace_account(engine, __since);				\
	__ret;								\
})

/* syscall_report.c */
bool utrace_entry_slow(struct pt_regs *regs, u32 run);
void utrace_entry_call_from(struct utrace_pass *pass, unsigned int first,
			    struct pt_regs *regs);
bool utrace_entry_finish(struct utrace *u, struct pt_regs *regs, u32 run,
			 u32 result);
void utrace_exit_slow(struct pt_regs *regs);
void utrace_exit_call_from(struct utrace_pass *pass, unsigned int first,
			   u64 entered, u64 fresh, struct pt_regs *regs);
void utrace_no_exit(struct utrace_pass *pass);
u32 utrace_take_unpaired(struct utrace *u, struct utrace_engine *engine,
			 unsigned int slot);

/* signal.c */
void utrace_report_killer(int code);

#endif /* _KERNEL_UTRACE_PASS_H */
