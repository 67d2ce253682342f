// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - reports of the entry and the exit of a system call: the slow pass
 *
 * The order at an entry is: user dispatch, ptrace's stop, engines, seccomp,
 * sys_enter, audit; the exit has the reverse order.  A call that an engine
 * skips bypasses seccomp, sys_enter and audit, and has an exit report.
 *
 * Three bitmaps of slots pair exits with entries.  ->entered: engines that saw
 * the entry of the present call.  ->fresh: slots that another engine has taken
 * since then.  ->unpaired: engines that saw an entry without exit.
 *
 * Most calls need only the fast pass of syscall_fast.c.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>

#include <asm/syscall.h>

#include "pass.h"
#include "renew.h"
#include "stop.h"
#include "syscall_filter.h"

/**
 * utrace_no_exit() - note which engines saw an entry whose exit never came
 * @pass: a pass over the next entry or over EXIT, before its first callback
 *
 * Moves the slots from ->entered to ->unpaired, except for slots that another
 * engine has taken since the entry.
 *
 * Context: The task itself, with the set of @pass pinned.  Takes utrace->lock.
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
		/*
		 * This pass does not call engines that were added after its set
		 * was pinned: their slots stay fresh.
		 */
		u->fresh = set ? set->members &
				 ~utrace_set_same(pass->set, set) : U64_MAX;
	}
	u->unpaired |= u->entered;
	u->entered = 0;
}

/**
 * utrace_take_unpaired() - consume the unpaired flag of an engine
 * @u: struct utrace of the current task
 * @engine: an engine that is about to be called, kept by the pinned set
 * @slot: the slot of @engine
 *
 * Context: The task itself, with a set pinned.
 * Return:
 * * UTRACE_SYSCALL_UNPAIRED - @engine saw an entry whose exit never came; a
 *   flag for @action of the callback, returned once for each such entry
 * * 0 - there is no such entry, or @engine does not want SYSCALL_EXIT
 */
u32 utrace_take_unpaired(struct utrace *u, struct utrace_engine *engine,
			 unsigned int slot)
{
	if (likely(!(u->unpaired & BIT_ULL(slot))))
		return 0;
	u->unpaired &= ~BIT_ULL(slot);
	return READ_ONCE(engine->flags) & UTRACE_EVENT(SYSCALL_EXIT) ?
	       UTRACE_SYSCALL_UNPAIRED : 0;
}

/**
 * utrace_recalc_slow() - decide whether the next pass can be a fast one
 * @pass: a slow pass over a system call that is about to end
 *
 * Clears UTRACE_TASK_SLOW unless something is pending for an engine of the set,
 * or the task has another set already.  All code that makes one of these true
 * later sets UTRACE_TASK_SLOW in the same critical section of utrace->lock:
 * utrace_switch(), utrace_control(), utrace_pass_apply(), utrace_mute() and
 * utrace_left_out().
 *
 * Context: The task itself, with the set pinned.  Takes utrace->lock.
 */
static void utrace_recalc_slow(struct utrace_pass *pass)
{
	struct utrace_set *set = pass->set;
	struct utrace *u = pass->u;

	guard(spinlock_irqsave)(&u->lock);
	if (u->hold || u->step || u->fresh ||
	    (u->unpaired & (set->entry | set->exit)) ||
	    set != current->utrace_set)
		u->flags |= UTRACE_TASK_SLOW;
	else
		u->flags &= ~UTRACE_TASK_SLOW;
}

/**
 * utrace_entry_call_from() - continue a slow pass over an entry, and end it
 * @pass: the pass, after utrace_no_exit()
 * @first: index in utrace_pass::order of the first engine to call
 * @regs: registers of the current task
 *
 * Ends the pass.
 *
 * Context: The task itself, with the set pinned, no locks held.  May sleep.
 */
void utrace_entry_call_from(struct utrace_pass *pass, unsigned int first,
			    struct pt_regs *regs)
{
	struct utrace *u = pass->u;

	utrace_pass_for_each_from(pass, at, first) {
		u32 ret;

		if (!utrace_filter_passes(at.engine, regs) ||
		    !utrace_pass_wants(pass, at.engine, at.slot,
				       UTRACE_EVENT(SYSCALL_ENTRY)))
			continue;
		u->entered |= BIT_ULL(at.slot);
		ret = utrace_call(pass, at.engine, report_syscall_entry,
				  pass->action | pass->result |
				  utrace_take_unpaired(u, at.engine, at.slot),
				  at.engine, regs);
		utrace_pass_answer(pass, at.engine, at.slot, ret,
				   UTRACE_SYSCALL_MASK);
	}
	utrace_recalc_slow(pass);
	utrace_pass_end(pass);
	utrace_pass_step(pass);
}

/*
 * Stop after a pass over the entry if an engine holds the task.  Returns true
 * if a report was asked for during the stop: then the entry is reported again.
 */
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

/*
 * Make one slow pass over the engines that want the entry.  *@result is the
 * outcome for the call, with flags for the callbacks; the answers change it.
 */
static void utrace_entry_pass(struct pt_regs *regs, u32 *result)
{
	struct utrace *u = current->utrace;
	struct utrace_pass pass;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_SYSCALL_ENTRY),
			       *result))
		return;
	/*
	 * The entry is reported again after a stop.  It is the same call, so no
	 * engine has missed an exit.
	 */
	if (*result & UTRACE_SYSCALL_RESUMED)
		u->entered = 0;
	utrace_no_exit(&pass);
	utrace_entry_call_from(&pass, 0, regs);
	*result = pass.result;
}

/**
 * utrace_entry_finish() - stop after an entry, and report the entry again
 * @u: struct utrace of the current task
 * @regs: registers of the current task
 * @run: UTRACE_SYSCALL_RUN, or UTRACE_SYSCALL_ABORT under PTRACE_SYSEMU
 * @result: the outcome for the call by the answers of the first pass
 *
 * ->resume stays as it is: this report reaches only the engines that want the
 * entry, the safe point reports to all that want QUIESCE.
 *
 * Context: The task itself, with no set pinned, no locks held.  Sleeps.
 * Return:
 * * true - the call is skipped
 * * false - the call is made
 */
bool utrace_entry_finish(struct utrace *u, struct pt_regs *regs, u32 run,
			 u32 result)
{
	while (utrace_entry_stop(u, &result)) {
		result = run | UTRACE_SYSCALL_RESUMED;
		utrace_entry_pass(regs, &result);
	}
	return run == UTRACE_SYSCALL_ABORT ||
	       (result & UTRACE_SYSCALL_MASK) == UTRACE_SYSCALL_ABORT;
}

/**
 * utrace_entry_slow() - report an entry by the slow pass
 * @regs: registers of the current task
 * @run: as for utrace_entry_finish()
 *
 * Context: As utrace_entry_finish().
 * Return:
 * * true - the call is skipped
 * * false - the call is made
 */
bool utrace_entry_slow(struct pt_regs *regs, u32 run)
{
	u32 result = run;

	/*
	 * Only engines of the system cover a task without struct utrace.
	 * Either these no longer want the task, or there is no memory.
	 */
	if (!utrace_adopt(UTRACE_EVENT(SYSCALL_ENTRY)))
		return run == UTRACE_SYSCALL_ABORT;
	utrace_entry_pass(regs, &result);
	return utrace_entry_finish(current->utrace, regs, run, result);
}

/**
 * __utrace_syscall_skipped() - report the entry of a call that ptrace skips
 * @regs: registers of the current task
 *
 * Context: The task itself, under PTRACE_SYSEMU, no locks held.  Sleeps.
 * Return: true, since engines cannot have the call made.
 */
bool __utrace_syscall_skipped(struct pt_regs *regs)
{
	return utrace_entry_slow(regs, UTRACE_SYSCALL_ABORT);
}

/*
 * Check whether the filter of @engine was checked at the entry.  If so, and the
 * engine wants entries but saw none, its filter rejected the call, and the exit
 * is not reported either.  @fresh: the engine got its slot after the entry.
 */
static bool utrace_was_asked(struct utrace_engine *engine, bool fresh)
{
	return !fresh &&
	       (READ_ONCE(engine->flags) & UTRACE_EVENT(SYSCALL_ENTRY));
}

/**
 * utrace_exit_call_from() - continue a slow pass over an exit, and end it
 * @pass: the pass
 * @first: index in utrace_pass::order of the first engine to call
 * @entered: slots whose engines saw the entry
 * @fresh: slots that another engine has taken since the entry
 * @regs: registers of the current task
 *
 * Context: The task itself, with the set pinned, no locks held.  Sleeps, and
 * may stop after the pass.
 */
void utrace_exit_call_from(struct utrace_pass *pass, unsigned int first,
			   u64 entered, u64 fresh, struct pt_regs *regs)
{
	utrace_pass_for_each_from(pass, at, first) {
		u64 bit = BIT_ULL(at.slot);
		bool paired = entered & bit;
		u32 ret;

		if (!paired && rcu_access_pointer(at.engine->filter) &&
		    (utrace_was_asked(at.engine, fresh & bit) ||
		     !utrace_filter_passes(at.engine, regs)))
			continue;
		if (!utrace_pass_wants(pass, at.engine, at.slot,
				       UTRACE_EVENT(SYSCALL_EXIT)))
			continue;
		pass->u->unpaired &= ~bit;
		ret = utrace_call(pass, at.engine, report_syscall_exit,
				  pass->action |
				  (paired ? 0 : UTRACE_SYSCALL_UNPAIRED),
				  at.engine, regs);
		utrace_pass_answer(pass, at.engine, at.slot, ret, 0);
	}
	utrace_recalc_slow(pass);
	utrace_pass_end(pass);
	utrace_pass_stop_here(pass);
}

/**
 * utrace_exit_slow() - report an exit by the slow pass
 * @regs: registers of the current task, with the result of the call
 *
 * Context: The task itself, with no set pinned, no locks held.  May sleep.
 */
void utrace_exit_slow(struct pt_regs *regs)
{
	struct utrace_pass pass;
	u64 entered, fresh;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_SYSCALL_EXIT), 0))
		return;
	fresh = READ_ONCE(pass.u->fresh);
	entered = pass.u->entered & ~fresh;
	pass.u->entered = 0;
	/*
	 * Each of these engines misses an exit until the pass has called it.
	 * An engine that wants no exits misses none.
	 */
	pass.u->unpaired |= entered & pass.set->exit;
	utrace_exit_call_from(&pass, 0, entered, fresh, regs);
}
