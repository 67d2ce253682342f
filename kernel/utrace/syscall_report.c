// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - reports of the entry and the exit of a system call: the slow pass
 *
 * Order at entry: ptrace's stop, engines, seccomp, sys_enter, audit; at exit
 * the reverse.  A skipped call is not shown to seccomp and those behind it,
 * and still gets its exit report.  What most engines need is in syscall_fast.c.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>

#include <asm/syscall.h>

#include "syscall_filter.h"
#include "syscall_pass.h"

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
 * @pass: the slow pass that is about to end
 *
 * Not with something pending for an engine of the set, nor with a newer set.
 * Who makes either true later sets UTRACE_TASK_SLOW itself: utrace_switch(),
 * holds and steps, and fast passes that leave an engine out.
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
		u->flags |= UTRACE_TASK_SLOW;
	else
		u->flags &= ~UTRACE_TASK_SLOW;
}

/* Entry: what is left of a pass, from position @first of its order on. */
void utrace_entry_rest(struct utrace_pass *pass, unsigned int first,
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
				  utrace_tell_unpaired(u, at.engine, at.slot),
				  at.engine, regs);
		utrace_pass_answer(pass, at.engine, at.slot, ret,
				   UTRACE_SYSCALL_MASK);
	}
	utrace_settle(pass);
	utrace_pass_end(pass);
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

/* One slow pass over those who want the entry. */
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

bool utrace_entry_slow(struct pt_regs *regs, u32 run)
{
	u32 result = run;

	/* Of the system only, and they are gone since the work bit was seen. */
	if (!utrace_adopt(UTRACE_EVENT(SYSCALL_ENTRY)))
		return run == UTRACE_SYSCALL_ABORT;
	utrace_entry_pass(regs, &result);
	return utrace_entry_finish(current->utrace, regs, run, result);
}

/**
 * __utrace_syscall_skipped - the same for a call that is not made
 * @regs: its registers
 *
 * Context: The task itself, no locks held.  PTRACE_SYSEMU is in force.
 * Return: true.
 */
bool __utrace_syscall_skipped(struct pt_regs *regs)
{
	return utrace_entry_slow(regs, UTRACE_SYSCALL_ABORT);
}

/* Had the filter its say at the entry already? */
static bool utrace_was_asked(struct utrace_engine *engine, bool fresh)
{
	return !fresh &&
	       (READ_ONCE(engine->flags) & UTRACE_EVENT(SYSCALL_ENTRY));
}

/*
 * Exit: what is left of a pass, from position @first of its order on.  @entered are
 * the slots that saw the entry.
 */
void utrace_exit_rest(struct utrace_pass *pass, unsigned int first,
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
	utrace_settle(pass);
	utrace_pass_end(pass);
}

void utrace_exit_slow(struct pt_regs *regs)
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
