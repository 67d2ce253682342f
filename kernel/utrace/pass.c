// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - one pass over the set of a task: callbacks, and merging of answers
 *
 * utrace_pass_begin() renews the set if needed and pins it.  Its caller walks
 * the list of one event and calls the engines that still want the event.
 * utrace_pass_end() applies the answers and unpins the set.
 *
 * An answer has two parts, which are merged separately.  Of the resume actions
 * the smallest one is taken.  What an engine says about the event (a signal or
 * a system call) replaces what a previous engine said.  So an answer to
 * QUIESCE, which has only a resume action, changes nothing about the event.
 *
 * A controller, which is a task that attaches or detaches an engine, may
 * replace the set of a task that is in a pass.  Callbacks sleep, so a task pins
 * the set that it walks:
 *
 *	task (utrace_pin)		controller (utrace_update_task)
 *	pinned = set			lock
 *	(compiler barrier)		task->utrace_set = new, deferred = old
 *	still task->utrace_set?		unlock
 *					utrace_membarrier(), once for a batch
 *					(utrace_update_drop_old)
 *	...				lock
 *	pinned = NULL			is the old set pinned? else take it back
 *	(compiler barrier)		unlock
 *	deferred?
 *
 * At least one of the two sees the other's store.  If the controller finds the
 * old set pinned, the reference stays in ->deferred, and the task drops it when
 * it unpins the set.  If the task has pinned the old set and then finds a newer
 * one, it pins the newer set under utrace->lock.
 */
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/wait_bit.h>

#include "builtin.h"
#include "detach.h"
#include "engine.h"
#include "pass.h"
#include "publish.h"
#include "renew.h"
#include "syscall_filter.h"
#include "wake.h"

#include <trace/events/utrace_core.h>

DEFINE_STATIC_KEY_FALSE(utrace_stats);

/* In ns.  A callback that takes longer may be waiting for user space: a bug. */
#define UTRACE_SLOW_CALLBACK	NSEC_PER_SEC

/* The pin */

/**
 * utrace_pin() - pin the set of the current task
 * @u: struct utrace of the current task
 *
 * An attach or a detach changes the set under @u->lock.  If that happens
 * between the load and the pin, the function pins the new set under this lock,
 * and drops the old set if it was deferred.
 *
 * Context: The task itself, with no set pinned.
 * Return:
 * * the set, valid until utrace_unpin()
 * * NULL - the task has no set
 */
struct utrace_set *utrace_pin(struct utrace *u)
{
	struct utrace_set *set = READ_ONCE(current->utrace_set), *drop;

	if (likely(utrace_pin_try(&u->pinned, set, &current->utrace_set)))
		return set;

	scoped_guard(spinlock_irqsave, &u->lock) {
		set = current->utrace_set;
		WRITE_ONCE(u->pinned, set);
		drop = utrace_take_deferred(u);
	}
	utrace_set_put(drop);
	return set;
}

/**
 * utrace_callback_done() - do pending work at the end of a callback or a walk
 * @u: struct utrace of the current task, or of the task that it reaps
 *
 * Wakes tasks that wait for the end of the callback, drops the count that
 * utrace_count_callbacks() has stored in ->left, and, if the walk is over,
 * drops the deferred set.
 *
 * Context: The task itself or its reaper.  May call ->release() of an engine
 * that was detached during the callback.
 */
void utrace_callback_done(struct utrace *u)
{
	struct utrace_set *drop = NULL;
	struct utrace_engine *left;
	bool waited;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (!u->pinned)
			drop = utrace_take_deferred(u);
		waited = u->flags & UTRACE_TASK_WAITER;
		u->flags &= ~UTRACE_TASK_WAITER;
		/* Callback before number; pairs with utrace_wait_over(). */
		smp_store_release(&u->passes, u->passes + waited);
		left = u->left;
		u->left = NULL;
	}
	utrace_set_put(drop);
	if (waited) {
		smp_mb(); /* Number before waiters, see wait_var_event(). */
		wake_up_var(&u->passes);
	}
	if (left)
		utrace_core_put(left);
}

/* A pass */

/**
 * __utrace_account() - count a callback, and warn if it was slow
 * @engine: the engine, kept by the pinned set
 * @since: utrace_time() before the callback, 0 if it was not timed
 *
 * Counts while kernel.utrace.stats is 1, warns with CONFIG_UTRACE_DEBUG.
 *
 * Context: The task that made the callback, with the set still pinned.
 */
void __utrace_account(struct utrace_engine *engine, u64 since)
{
	u64 took = since ? ktime_get_ns() - since : 0;

	if (IS_ENABLED(CONFIG_UTRACE_DEBUG) && took > UTRACE_SLOW_CALLBACK)
		pr_warn_ratelimited("utrace: a callback of engine %*pE took %llu ms in task %d\n",
				    (int)strlen(engine->info->name),
				    engine->info->name, took / NSEC_PER_MSEC,
				    current->pid);
	if (!static_branch_unlikely(&utrace_stats))
		return;
	atomic64_inc(&engine->info->calls);
	atomic64_add(took, &engine->info->nsec);
}

/**
 * utrace_pass_leave() - unpin the set without applying the answers
 * @pass: the pass, after utrace_pass_begin()
 *
 * Context: The task itself.  May call ->release() of an engine that was
 * detached during the pass.
 */
void utrace_pass_leave(struct utrace_pass *pass)
{
	utrace_unpin(pass->u);
	if (unlikely(current->flags & PF_KTHREAD))
		memalloc_noio_restore(pass->noio);
}

/*
 * Prepare a pass over a set that could not be renewed, without memory.  The
 * pass calls those engines of the set that want the event now and whose
 * matches, evaluated here, do not reject the task.  System engines that are not
 * in the set lose the event.
 */
static void utrace_pass_live(struct utrace_pass *pass, unsigned int event)
{
	utrace_count_lost(pass->set, BIT(event));
	if (!pass->set)
		return;
	pass->muted = utrace_ask(pass->set, pass->set);
	pass->order = pass->live;
	pass->n = utrace_order(pass->set, event, NULL, pass->live);
}

/**
 * utrace_pass_begin() - pin the set of the current task for a pass
 * @pass: filled in
 * @list: UTRACE_LIST() of the event
 * @result: what becomes of the event unless an engine changes it
 *
 * Gives a bare task a struct utrace, and renews the set if it is out of date.
 *
 * Context: The task itself, with no set pinned.  May sleep for memory.  No
 * locks are held except those listed at @report_creds of struct
 * utrace_engine_ops.
 * Return:
 * * true - the caller must walk @pass, and then call utrace_pass_end() or
 *   utrace_pass_leave()
 * * false - no set is pinned: the task has no set, no engine wants events of
 *   the task, there is no memory for a struct utrace, or the task is in another
 *   pass
 */
bool utrace_pass_begin(struct utrace_pass *pass, unsigned int list, u32 result)
{
	struct utrace_set *set;
	struct utrace *u;
	bool live;

	if (!utrace_adopt(BIT(list - 1)))
		return false;
	u = current->utrace;
	/*
	 * A callback has caused an event of its own task.  The end of a second
	 * pass would unpin the set that the first pass walks.
	 */
	if (WARN_ON_ONCE(u->pinned))
		return false;
	live = current->utrace_events & UTRACE_WORD_RENEW && !utrace_renew();

	set = utrace_pin(u);
	pass->u = u;
	pass->set = set;
	pass->action = UTRACE_RESUME;
	pass->resume = UTRACE_RESUME;
	pass->result = result;
	pass->muted = READ_ONCE(u->muted);
	pass->stop = 0;
	pass->here = 0;
	pass->called = 0;
	pass->held = 0;
	pass->stepped = 0;
	pass->step = 0;
	pass->block = 0;
	if (unlikely(current->flags & PF_KTHREAD))
		pass->noio = memalloc_noio_save();
	/*
	 * utrace_stop() reports JCTL during a stop.  Answers to that report do
	 * not end a hold.
	 */
	if (likely(!u->held_since)) {
		pass->held = READ_ONCE(u->hold);
		pass->stepped = READ_ONCE(u->step);
	}
	if (unlikely(live))
		utrace_pass_live(pass, list - UTRACE_LIST(0));
	if (unlikely(!set)) {
		utrace_pass_leave(pass);
		return false;
	}
	if (likely(!live)) {
		pass->order = &set->order[set->start[list]];
		pass->n = set->start[list + 1] - set->start[list];
	}
	return true;
}

/*
 * Write holds, steps and the smallest resume action to struct utrace, and send
 * the task to the safe point, which acts on them.
 */
static void utrace_pass_apply(struct utrace_pass *pass)
{
	struct utrace *u = pass->u;

	scoped_guard(spinlock_irqsave, &u->lock) {
		/*
		 * An engine that was detached during the pass gets no hold and
		 * no step, since it could not end them.  A detach that marks
		 * the engine after this check takes the lock later, in
		 * utrace_drop_hold() or utrace_update_task(), and drops them.
		 */
		u64 there = utrace_set_present(pass->set, current->utrace_set);
		/*
		 * An engine that was called loses the hold and the step that it
		 * had when the pass began, unless it requests them again.  It
		 * keeps what utrace_control() has set since.
		 */
		u64 called = pass->called & there;
		u64 step = u->step & ~(called & pass->stepped);
		u64 single = pass->step & there;
		u64 block = pass->block & there;

		u->hold = (u->hold & ~(called & pass->held)) |
			  (pass->stop & there);
		u->step = step | single | block;
		u->block = ((u->block & step) | block) & ~single;
		u->resume = min_t(u8, u->resume, pass->resume);
		if (u->hold || u->step)
			u->flags |= UTRACE_TASK_SLOW;
	}
	trace_utrace_report(current, pass->action, pass->result);
	if (pass->resume == UTRACE_INTERRUPT)
		utrace_interrupt(current);
	set_thread_flag(TIF_NOTIFY_RESUME);
}

/**
 * utrace_pass_end() - apply the answers and unpin the set
 * @pass: the pass, after utrace_pass_begin()
 *
 * Context: See utrace_pass_begin().  May call ->release() of an engine that was
 * detached during the pass.
 */
void utrace_pass_end(struct utrace_pass *pass)
{
	if (unlikely(pass->action != UTRACE_RESUME ||
		     pass->called & (pass->held | pass->stepped)))
		utrace_pass_apply(pass);
	utrace_pass_leave(pass);
}

/**
 * utrace_pass_end_report() - end the pass of a requested report or of a signal
 * @pass: the pass, after utrace_pass_begin()
 *
 * Like utrace_pass_end(), but ignores the answers REPORT and INTERRUPT: an
 * engine that gives them each time would make the task report forever.
 *
 * Context: See utrace_pass_end().
 */
void utrace_pass_end_report(struct utrace_pass *pass)
{
	if (pass->resume < UTRACE_SINGLESTEP)
		pass->resume = UTRACE_RESUME;
	utrace_pass_end(pass);
}

/**
 * utrace_pass_answer() - merge the answer of one engine
 * @pass: the pass
 * @engine: the engine that has answered, kept by the pinned set
 * @slot: the slot of @engine
 * @ret: the answer
 * @mask: the bits of @ret that are about the event; 0 does not change the
 *	result
 *
 * Context: The task itself, with the set pinned.  Does not sleep.
 */
void utrace_pass_answer(struct utrace_pass *pass, struct utrace_engine *engine,
			unsigned int slot, u32 ret, u32 mask)
{
	enum utrace_resume_action action = utrace_resume_action(ret);
	u64 bit = BIT_ULL(slot);

	if (utrace_engine_is_system(engine)) {
		/* All other answers are ignored. */
		if (action == UTRACE_DETACH)
			utrace_detach_later(engine);
		return;
	}
	if (mask)
		pass->result = (pass->result & ~mask) | (ret & mask);
	pass->called |= bit;
	if (likely(action == UTRACE_RESUME))
		return;

	switch (action) {
	case UTRACE_STOP:
		pass->stop |= bit;
		if (ret & UTRACE_STOP_HERE)
			pass->here |= bit;
		pass->action = UTRACE_STOP;
		break;
	case UTRACE_BLOCKSTEP:
	case UTRACE_SINGLESTEP:
		if (!arch_has_single_step())
			break;
		if (action == UTRACE_SINGLESTEP)
			pass->step |= bit;
		else
			pass->block |= bit;
		fallthrough;
	case UTRACE_INTERRUPT:
	case UTRACE_REPORT:
		/*
		 * ->resume leaves out STOP: it is the action of a task that
		 * resumes after a stop for another engine.
		 */
		pass->resume = min(pass->resume, action);
		pass->action = min(pass->action, action);
		break;
	case UTRACE_DETACH:
		utrace_detach_later(engine);
		break;
	default:
		pr_warn_once("utrace: engine %*pE answered %#x, which is no resume action; taken for RESUME\n",
			     (int)strlen(engine->info->name),
			     engine->info->name, ret);
	}
}

/**
 * utrace_pass_enter() - enter the next engine of a pass
 * @pass: the pass
 * @engine: the engine, kept by the pinned set
 * @slot: the slot of @engine
 *
 * Context: The task itself, with the set pinned.  May call ->release() of an
 * engine that was detached during the pass.
 * Return:
 * * true - the caller reads the flags of @engine and may call it
 * * false - @engine rejects the task
 */
bool utrace_pass_enter(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot)
{
	if (unlikely(pass->muted & BIT_ULL(slot)))
		return false;
	utrace_enter(pass->u, engine);
	return true;
}

/**
 * utrace_pass_wants() - check whether to call an engine for an event
 * @pass: the pass
 * @engine: the engine, kept by the pinned set
 * @slot: the slot of @engine
 * @event: the bit of the event; 0 for a requested report
 *
 * Calls report_quiesce first if the engine wants QUIESCE.  The flags are read
 * again after that call, in which the engine may set @event.
 *
 * Context: See utrace_pass_begin(), but with the set pinned.
 * Return:
 * * true - the caller must call @engine
 * * false - @engine does not want @event, is detached (its flags are 0) or
 *   rejects the task; or @event is 0, and report_quiesce is the only callback
 */
bool utrace_pass_wants(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot, unsigned long event)
{
	unsigned long flags;

	if (!utrace_pass_enter(pass, engine, slot))
		return false;
	flags = READ_ONCE(engine->flags);
	if (unlikely(flags & UTRACE_EVENT(QUIESCE)) &&
	    engine->ops->report_quiesce) {
		u32 ret = utrace_call(pass, engine, report_quiesce,
				      pass->action, engine, event);

		utrace_pass_answer(pass, engine, slot, ret, 0);
		flags = READ_ONCE(engine->flags);
	}
	return flags & event;
}

/* Check whether the pass over the current event calls an engine. */
static bool utrace_is_called(struct utrace_engine *engine, unsigned int slot,
			     unsigned int event)
{
	if (READ_ONCE(current->utrace->muted) & BIT_ULL(slot) ||
	    !(READ_ONCE(engine->flags) & BIT(event)))
		return false;
	return !(BIT(event) & UTRACE_EVENT_SYSCALL) ||
	       utrace_filter_passes(engine, current_pt_regs());
}

/**
 * utrace_was_called() - check whether another engine of a client was called
 * @engine: the engine, in whose callback this is called
 * @event: number of the event
 * @same: returns true if two engines with the same ops belong together.  Called
 *	under RCU with an engine that was attached when the RCU section began,
 *	and with @engine
 *
 * For a client that handles an event only once if several of its engines cover
 * the task.  If another engine changes during the pass, both engines may be
 * called without this returning true.
 *
 * Context: The callback of @engine for @event, in the task itself.
 * Return: true if the current pass calls an engine like @engine before it.
 */
bool utrace_was_called(const struct utrace_engine *engine, unsigned int event,
		       bool (*same)(const struct utrace_engine *a,
				    const struct utrace_engine *b))
{
	guard(rcu)();
	utrace_set_for_each(current->utrace->pinned, UTRACE_LIST(event), at) {
		if (at.engine == engine)
			return false;
		if (utrace_is_called(at.engine, at.slot, event) &&
		    at.engine->ops == engine->ops && same(at.engine, engine))
			return true;
	}
	return false;
}
