// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - steps of a task
 *
 * ptrace and the engines share the trap flag of a task.  ptrace changes it only
 * while the task is in a ptrace stop, so the flag at the end of such a stop is
 * what ptrace wants.  The engines set it at the safe point, and when a stop in the
 * midst of a system call ends: the trap then comes at the end of the call, before the
 * task makes an instruction.
 *
 * An engine that asks for a step is told of its end by a report from
 * get_signal().  That costs thousands of instructions, so a client that is built
 * in may follow all steps of a task instead: the trap calls it, and leaves the
 * trap flag set.
 *
 * Not only the program changes its instruction pointer: a task may leave a sequence of
 * rseq, restart a system call, or have an instruction emulated, after the client has
 * looked at it.  So the way to user mode compares, and the safe point has the client look
 * again.
 */
#include <linux/init.h>
#include <linux/ptrace.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/static_call.h>

#include "builtin.h"
#include "step.h"
#include "wake.h"

static bool no_step(struct pt_regs *regs, enum utrace_step_why why)
{
	return true;
}

/* What the client does at each step of a task that is followed. */
DEFINE_STATIC_CALL(utrace_step, no_step);

/**
 * utrace_follow_with() - say what is to be done at each followed step
 * @step: called in the task itself, and may sleep.  Returns true unless the
 *	program has set the trap flag itself and the trap is due to that
 *
 * There is one such client.
 *
 * Context: An initcall.
 */
void __init utrace_follow_with(bool (*step)(struct pt_regs *regs,
					    enum utrace_step_why why))
{
	WARN_ON(static_call_query(utrace_step) != no_step);
	static_call_update(utrace_step, step);
}

/* Call the client that follows all steps, and note the instruction pointer. */
static bool utrace_look(struct utrace *u, enum utrace_step_why why)
{
	struct pt_regs *regs = current_pt_regs();
	bool ours = static_call(utrace_step)(regs, why);

	u->looked = instruction_pointer(regs);
	return ours;
}

/**
 * utrace_has_moved() - check for another instruction pointer than the client has seen
 * @u: struct utrace of the current task
 * @regs: its registers
 *
 * While the task steps an instruction of uprobes out of line, its registers are not those
 * of the program.
 *
 * Context: The task itself, on its way to user mode; does not sleep.
 * Return: true if the task is followed, and the safe point has to call the client again.
 */
bool utrace_has_moved(const struct utrace *u, struct pt_regs *regs)
{
	if (!(READ_ONCE(u->flags) & UTRACE_TASK_ARMED) ||
	    instruction_pointer(regs) == u->looked)
		return false;
#ifdef CONFIG_UPROBES
	if (current->utask && current->utask->active_uprobe)
		return false;
#endif
	return true;
}

/**
 * __utrace_exit_moved() - utrace_has_moved() for a task that may have no struct utrace
 * @regs: registers of the current task
 *
 * Context: The task itself, on its way to user mode, with interrupts off.
 * Return: true if the task has to pass the safe point.
 */
bool __utrace_exit_moved(struct pt_regs *regs)
{
	struct utrace *u = current->utrace;

	return u && utrace_has_moved(u, regs);
}

/**
 * utrace_follow_steps() - follow the steps of the current task, or no longer
 * @on: follow them from the next return to user mode on
 *
 * Context: A callback in the task itself, or the function for a step.
 */
void utrace_follow_steps(bool on)
{
	struct utrace *u = current->utrace;
	bool off;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (on)
			u->flags |= UTRACE_TASK_FOLLOWED;
		else
			u->flags &= ~(UTRACE_TASK_FOLLOWED | UTRACE_TASK_ARMED);
		off = !(u->flags & (UTRACE_TASK_FOLLOWED | UTRACE_TASK_STEPPING |
				    UTRACE_TASK_PTRACE_STEP));
	}
	if (on)
		set_thread_flag(TIF_NOTIFY_RESUME);
	else if (off)
		user_disable_single_step(current);
}

/**
 * __utrace_ptrace_stopped() - note at the end of a ptrace stop who wants a step
 *
 * Each function that ends a ptrace stop clears JOBCTL_TRACED, so no client has the task
 * frozen.
 *
 * Context: The task itself, with siglock held.  Takes utrace->lock.
 */
void __utrace_ptrace_stopped(void)
{
	struct utrace *u = current->utrace;
	bool step;

	/* The end of the stop clears JOBCTL_PTRACE_FROZEN. */
	utrace_wake_freeze_waiters(current);
	step = test_thread_flag(TIF_SINGLESTEP);
	scoped_guard(spinlock_irqsave, &u->lock) {
		u->flags &= ~UTRACE_TASK_PTRACE_STEP;
		/*
		 * The tracer has changed the trap flag, also by a detach, which clears
		 * it.  Only if the tracer is dead, the flag is as it was: the trap may
		 * come at the end of a system call, before the safe point.
		 */
		if (current->ptrace || !step)
			u->flags &= ~(UTRACE_TASK_STEPPING | UTRACE_TASK_ARMED);
		if (step && current->ptrace)
			u->flags |= UTRACE_TASK_PTRACE_STEP;
		/* With LISTENING, utrace_ignore_group_stop() may have ended this stop. */
		if (!(current->jobctl & JOBCTL_LISTENING))
			u->flags &= ~UTRACE_TASK_LISTENED;
		if (u->step || u->flags & UTRACE_TASK_FOLLOWED)
			set_thread_flag(TIF_NOTIFY_RESUME);
	}
}

/* Has the program set the trap flag itself? */
static bool utrace_own_trap_flag(void)
{
#ifdef TIF_FORCED_TF
	return current_pt_regs()->flags & X86_EFLAGS_TF &&
	       !test_thread_flag(TIF_FORCED_TF);
#else
	return false;
#endif
}

/*
 * Set the trap flag for the engines that have asked for a step, and if @follow for the
 * client that follows all steps.
 */
static void utrace_arm(struct utrace *u, bool follow)
{
	bool block, again = false, own;
	struct pt_regs *regs = current_pt_regs();

	/*
	 * Without the lock: a step that is asked for with the end of a hold is seen, see
	 * utrace_is_held().  After any other utrace_control(), set_notify_resume() has the
	 * task pass the safe point again.  Only the task itself sets FOLLOWED.
	 */
	if (!READ_ONCE(u->step) &&
	    !(follow && READ_ONCE(u->flags) & UTRACE_TASK_FOLLOWED))
		return;
	own = utrace_own_trap_flag();
	scoped_guard(spinlock_irqsave, &u->lock) {
		/* utrace_control() and a detach drop a step. */
		if (!u->step && !(follow && u->flags & UTRACE_TASK_FOLLOWED))
			return;
		/* The flag is not set for an engine, so it is as ptrace has left it. */
		if (!(u->flags & (UTRACE_TASK_STEPPING | UTRACE_TASK_ARMED))) {
			u->flags &= ~UTRACE_TASK_PTRACE_STEP;
			if (current->ptrace && test_thread_flag(TIF_SINGLESTEP))
				u->flags |= UTRACE_TASK_PTRACE_STEP;
		}
		if (u->step)
			u->flags |= UTRACE_TASK_STEPPING;
		if (follow && u->flags & UTRACE_TASK_FOLLOWED) {
			again = !(u->flags & UTRACE_TASK_ARMED) ||
				utrace_has_moved(u, regs);
			u->flags |= UTRACE_TASK_ARMED;
		}
		block = u->step == u->block &&
			!(u->flags & (UTRACE_TASK_PTRACE_STEP |
				      UTRACE_TASK_FOLLOWED));
	}
	if (block && arch_has_block_step())
		user_enable_block_step(current);
	else
		user_enable_single_step(current);
#ifdef TIF_FORCED_TF
	/*
	 * The flag was cleared if the next instruction may change the trap
	 * flag.  The client notices that itself.
	 */
	if (READ_ONCE(u->flags) & UTRACE_TASK_ARMED && !own)
		set_thread_flag(TIF_FORCED_TF);
#endif
	if (again)
		utrace_look(u, UTRACE_STEP_AGAIN);
}

/**
 * utrace_arm_step() - set the trap flag if an engine has asked for a step
 * @u: struct utrace of the current task, which returns to user mode
 *
 * A block step is made only if no engine wants a single step, nor ptrace any
 * step, and steps are not followed.
 *
 * Context: The task itself, no locks held.  Takes @u->lock.
 */
void utrace_arm_step(struct utrace *u)
{
	utrace_arm(u, true);
}

/**
 * utrace_arm_in_call() - a stop in the midst of a system call has ended
 * @u: struct utrace of the current task
 *
 * Sets the trap flag if an engine has asked for a step in the stop, and clears it if
 * the engines that have asked in an earlier stop of the call have changed their minds.
 *
 * Context: The task itself, no locks held.  Reads user memory.
 */
void utrace_arm_in_call(struct utrace *u)
{
	bool off = false;

	if (utrace_is_held(u) || current->flags & PF_EXITING)
		return;
	if (READ_ONCE(u->step)) {
		utrace_arm(u, false);
		return;
	}
	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->step || !(u->flags & UTRACE_TASK_STEPPING))
			return;
		u->flags &= ~UTRACE_TASK_STEPPING;
		off = !(u->flags & (UTRACE_TASK_PTRACE_STEP |
				    UTRACE_TASK_ARMED));
	}
	if (off)
		user_disable_single_step(current);
}

/**
 * utrace_step_is_queued() - is the trap of a step queued as a SIGTRAP as well?
 *
 * It is if the program has set the trap flag itself.  If ptrace steps the task, too,
 * the SIGTRAP is for the first tracer, which may take it.
 *
 * Context: The report of the step.
 * Return: true if the SIGTRAP is the report to those who see signals.
 */
bool utrace_step_is_queued(void)
{
	return sigismember(&current->pending.signal, SIGTRAP) &&
	       !(READ_ONCE(current->utrace->flags) & UTRACE_TASK_PTRACE_STEP);
}

/**
 * utrace_step_handler() - the frame of a signal handler is set up
 *
 * Context: The task itself, no locks held, with %UTRACE_TASK_FOLLOWED set.
 */
void utrace_step_handler(void)
{
	utrace_look(current->utrace, UTRACE_STEP_HANDLER);
}

/**
 * __utrace_step_dispatched() - a system call was given back to the program
 *
 * Engines and ptrace do not see a call that syscall user dispatch has turned into a
 * SIGSYS.  The client that follows all steps does: the instruction was made.
 *
 * Context: The task itself, no locks held, at the end of the call.
 */
void __utrace_step_dispatched(void)
{
	struct utrace *u = current->utrace;

	if (READ_ONCE(u->flags) & UTRACE_TASK_ARMED)
		utrace_look(u, UTRACE_STEP_SYSCALL);
}

/* The trap of a step that an engine or ptrace has asked for, or the program makes. */
static noinline bool utrace_step_asked(struct utrace *u, enum utrace_step_why why,
				       bool followed, bool ours)
{
	bool engines, others;

#ifdef TIF_FORCED_TF
	/* The program has set the trap flag itself and gets its SIGTRAP. */
	if (!followed)
		ours = test_thread_flag(TIF_FORCED_TF);
#endif
	scoped_guard(spinlock_irqsave, &u->lock) {
		engines = u->flags & UTRACE_TASK_STEPPING;
		others = u->flags & UTRACE_TASK_PTRACE_STEP;
		u->flags &= ~UTRACE_TASK_STEPPING;
		if (engines)
			u->flags |= UTRACE_TASK_STEPPED;
		if (engines && why == UTRACE_STEP_SYSCALL)
			u->flags |= UTRACE_TASK_STEPPED_CALL;
	}
	if (engines)
		utrace_interrupt(current);
	else if (!followed)
		return false;
	if (others || !ours)
		return false;
	if (!(READ_ONCE(u->flags) & UTRACE_TASK_ARMED))
		user_disable_single_step(current);
	return true;
}

/**
 * __utrace_step_trap() - handle the trap at the end of a step
 * @why: %UTRACE_STEP_TRAP or %UTRACE_STEP_SYSCALL
 *
 * If an engine has asked for the step, get_signal() reports its end.
 *
 * Context: The task itself, without siglock.  May sleep.
 * Return:
 * * true - only utrace has asked for the step; no SIGTRAP is queued
 * * false - utrace has not, or ptrace or the program steps the task too; SIGTRAP
 *   is queued
 */
bool __utrace_step_trap(enum utrace_step_why why)
{
	struct utrace *u = current->utrace;
	bool ours;

	if (!(READ_ONCE(u->flags) & UTRACE_TASK_ARMED))
		return utrace_step_asked(u, why, false, true);
	ours = utrace_look(u, why);
	/* Nothing else was asked for, as at most steps that are followed. */
	if (likely(!(READ_ONCE(u->flags) & (UTRACE_TASK_STEPPING |
					    UTRACE_TASK_PTRACE_STEP))))
		return ours;
	return utrace_step_asked(u, why, true, ours);
}
