// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - steps of a task
 *
 * ptrace and the engines share the trap flag of a task.  ptrace changes it only
 * while the task is in a ptrace stop, so the flag at the end of such a stop is
 * what ptrace wants.  The engines set it at the safe point, and when a stop in
 * the midst of a system call ends: the trap then comes at the end of the call,
 * before the task executes an instruction.
 *
 * An engine that asks for a step gets a report of its end from get_signal().
 * That costs thousands of instructions, so a built-in client may follow all
 * steps of a task instead: the trap calls it, and leaves the trap flag set.
 *
 * Not only the program changes its instruction pointer: a task may abort a
 * sequence of rseq, restart a system call, or have an instruction emulated,
 * after the client was called.  So the exit to user mode compares the
 * instruction pointer with the one that the client has seen, and the safe point
 * calls the client again if they differ.
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

/* The client's function for each step of a followed task. */
DEFINE_STATIC_CALL(utrace_step, no_step);

/**
 * utrace_follow_with() - register the function for followed steps
 * @step: called in the task itself, and may sleep.  Returns true unless the
 *	trap comes from a trap flag that the program has set itself
 *
 * There can be only one such client.
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
static bool utrace_call_follower(struct utrace *u, enum utrace_step_why why)
{
	struct pt_regs *regs = current_pt_regs();
	bool ours = static_call(utrace_step)(regs, why);

	u->followed_ip = instruction_pointer(regs);
	return ours;
}

/**
 * utrace_has_moved() - check for an instruction pointer unseen by the client
 * @u: struct utrace of the current task
 * @regs: its registers
 *
 * While the task steps an instruction of uprobes out of line, its registers are
 * not those of the program.
 *
 * Context: The task itself, on its way to user mode; does not sleep.
 * Return: true if the task is followed, and the safe point has to call the
 * client again.
 */
bool utrace_has_moved(const struct utrace *u, struct pt_regs *regs)
{
	if (!(READ_ONCE(u->flags) & UTRACE_TASK_ARMED) ||
	    instruction_pointer(regs) == u->followed_ip)
		return false;
#ifdef CONFIG_UPROBES
	if (current->utask && current->utask->active_uprobe)
		return false;
#endif
	return true;
}

/**
 * __utrace_exit_moved() - utrace_has_moved() if there may be no struct utrace
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
 * utrace_follow_steps() - start or stop following the current task's steps
 * @on: start at the next return to user mode; false: stop
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
 * __utrace_ptrace_stopped() - update who wants a step after a ptrace stop
 *
 * Each function that ends a ptrace stop clears JOBCTL_TRACED, so no client has
 * the task frozen.
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
		 * The tracer has set or cleared the trap flag; a detach clears
		 * it.  Only if the tracer has died, the flag is unchanged: the
		 * trap may come at the end of a system call, before the safe
		 * point.
		 */
		if (current->ptrace || !step)
			u->flags &= ~(UTRACE_TASK_STEPPING | UTRACE_TASK_ARMED);
		if (step && current->ptrace)
			u->flags |= UTRACE_TASK_PTRACE_STEP;
		/*
		 * With LISTENING, utrace_ignore_group_stop() may have ended the
		 * stop.
		 */
		if (!(current->jobctl & JOBCTL_LISTENING))
			u->flags &= ~UTRACE_TASK_LISTENED;
		if (u->step || u->flags & UTRACE_TASK_FOLLOWED)
			set_thread_flag(TIF_NOTIFY_RESUME);
	}
}

/* Check whether the program has set the trap flag itself. */
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
 * Set the trap flag for the engines that have requested a step, and if @follow
 * for the client that follows all steps.
 */
static void utrace_arm(struct utrace *u, bool follow)
{
	bool block, again = false, own;
	struct pt_regs *regs = current_pt_regs();

	/*
	 * Lockless: a step that is requested together with the end of a hold is
	 * seen, see utrace_is_held().  After any other utrace_control(),
	 * set_notify_resume() makes the task pass the safe point again.  Only
	 * the task itself sets FOLLOWED.
	 */
	if (!READ_ONCE(u->step) &&
	    !(follow && READ_ONCE(u->flags) & UTRACE_TASK_FOLLOWED))
		return;
	own = utrace_own_trap_flag();
	scoped_guard(spinlock_irqsave, &u->lock) {
		/* utrace_control() and a detach drop a step. */
		if (!u->step && !(follow && u->flags & UTRACE_TASK_FOLLOWED))
			return;
		/*
		 * The trap flag is not set for utrace.  If it is set, ptrace
		 * has set it.
		 */
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
	 * The function above clears TIF_FORCED_TF if the next instruction may
	 * change the trap flag.  The client detects that itself.
	 */
	if (READ_ONCE(u->flags) & UTRACE_TASK_ARMED && !own)
		set_thread_flag(TIF_FORCED_TF);
#endif
	if (again)
		utrace_call_follower(u, UTRACE_STEP_AGAIN);
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
 * utrace_arm_in_call() - update the trap flag after a stop in a system call
 * @u: struct utrace of the current task
 *
 * Sets the trap flag if an engine has requested a step in the stop, and clears
 * it if all requests of an earlier stop in the call were withdrawn.
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
 * utrace_step_is_queued() - check whether a step's trap is a SIGTRAP too
 *
 * That is so if the program has set the trap flag itself.  If ptrace steps the
 * task, too, the SIGTRAP is for the first tracer, which may take it.
 *
 * Context: The report of the step.
 * Return: true if the SIGTRAP reports the step to engines that want signals.
 */
bool utrace_step_is_queued(void)
{
	return sigismember(&current->pending.signal, SIGTRAP) &&
	       !(READ_ONCE(current->utrace->flags) & UTRACE_TASK_PTRACE_STEP);
}

/**
 * utrace_step_handler() - call the client when a handler's frame is set up
 *
 * Context: The task itself, no locks held, with %UTRACE_TASK_FOLLOWED set.
 */
void utrace_step_handler(void)
{
	utrace_call_follower(current->utrace, UTRACE_STEP_HANDLER);
}

/**
 * __utrace_step_dispatched() - call the client after syscall user dispatch
 *
 * Engines and ptrace do not see a call that syscall user dispatch has turned
 * into a SIGSYS.  The client that follows all steps does, since the instruction
 * was executed.
 *
 * Context: The task itself, no locks held, at the end of the call.
 */
void __utrace_step_dispatched(void)
{
	struct utrace *u = current->utrace;

	if (READ_ONCE(u->flags) & UTRACE_TASK_ARMED)
		utrace_call_follower(u, UTRACE_STEP_SYSCALL);
}

/*
 * Handle the trap of a step that an engine or ptrace has requested, or that the
 * program makes itself.
 */
static noinline bool utrace_step_asked(struct utrace *u, enum utrace_step_why why,
				       bool followed, bool ours)
{
	bool engines, others;

#ifdef TIF_FORCED_TF
	/* A program that has set the trap flag itself gets its SIGTRAP. */
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
 * * false - no engine has asked for it, or ptrace or the program steps the task
 *   too; SIGTRAP is queued
 */
bool __utrace_step_trap(enum utrace_step_why why)
{
	struct utrace *u = current->utrace;
	bool ours;

	if (!(READ_ONCE(u->flags) & UTRACE_TASK_ARMED))
		return utrace_step_asked(u, why, false, true);
	ours = utrace_call_follower(u, why);
	/* Most followed steps were not requested by an engine or ptrace. */
	if (likely(!(READ_ONCE(u->flags) & (UTRACE_TASK_STEPPING |
					    UTRACE_TASK_PTRACE_STEP))))
		return ours;
	return utrace_step_asked(u, why, true, ours);
}
