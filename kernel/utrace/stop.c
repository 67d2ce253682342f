// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - stops and the safe point, in the task itself
 *
 * What other tasks do to a stopped task is in wake.c.
 *
 * A stopped task is TASK_TRACED with JOBCTL_UTRACE and without JOBCTL_TRACED,
 * so that ptrace(2) does not take the stop for one of its own.  utrace_stop()
 * is a loop under siglock, since several events wake the task: SIGKILL, the end
 * of the last hold, a group stop to take part in, and a trap of ptrace, for
 * which a permeable stop ends.  A function that ends a hold clears the bit in
 * ->hold and then checks JOBCTL_UTRACE under siglock.  The task checks ->hold
 * and sets JOBCTL_UTRACE in one critical section of siglock, so that no wake-up
 * is lost:
 *
 *	task				another task
 *	lock siglock			hold &= ~bit
 *	hold == 0? then leave		utrace_wake_unheld(): lock siglock
 *	set JOBCTL_UTRACE, TASK_TRACED	JOBCTL_UTRACE? then wake
 *	unlock				unlock
 */
#include <linux/cgroup.h>
#include <linux/ptrace.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>
#include <linux/uprobes.h>

#include "builtin.h"
#include "pass.h"
#include "renew.h"
#include "stop.h"
#include "wake.h"

#include <trace/events/utrace_core.h>

/**
 * utrace_may_not_stop() - check whether current must not stop for engines
 *
 * Context: The task itself.
 * Return: true if the task is being killed, or is a worker that never runs user
 * code.
 */
bool utrace_may_not_stop(void)
{
	return fatal_signal_pending(current) ||
	       (READ_ONCE(current->utrace->flags) & UTRACE_TASK_KILLED) ||
	       (current->flags & PF_USER_WORKER);
}

/* Check whether a stop of kind @where may end for ptrace. */
static bool utrace_ends_for_ptrace(enum utrace_stop_where where)
{
	return where != UTRACE_STOP_FIRM && where != UTRACE_STOP_SERVES;
}

/*
 * Check whether the stop ends for ptrace, because of a trap or a signal that
 * the tracer has to see.  A task that the cgroup freezer stops checks for
 * signals when the cgroup freezer lets it go.  siglock is held.
 */
static bool utrace_ptrace_trap(enum utrace_stop_where where)
{
	lockdep_assert_held(&current->sighand->siglock);

	if (!utrace_ends_for_ptrace(where) || !current->ptrace)
		return false;
	signal_utrace_recalc();
	return (current->jobctl & JOBCTL_PENDING_MASK) ||
	       (where != UTRACE_STOP_TRAPS &&
		!(current->jobctl & JOBCTL_TRAP_FREEZE) &&
		signal_pending(current));
}

/*
 * Make the ptrace stop for a trap, or for a group stop, in the midst of a stop
 * in get_signal() that is about a signal.  siglock is held; if this returns
 * true, it was dropped and taken again.
 */
static bool utrace_serve_trap(enum utrace_stop_where where)
{
	lockdep_assert_held(&current->sighand->siglock);

	if (where != UTRACE_STOP_SERVES || !current->ptrace)
		return false;
	/*
	 * As in do_signal_stop().  The tracer may detach while engines are
	 * called.
	 */
	if (current->jobctl & JOBCTL_STOP_PENDING) {
		if (!utrace_before_group_stop() || !current->ptrace)
			return true;
		task_set_jobctl_pending(current, JOBCTL_TRAP_STOP);
	}
	if (!(current->jobctl & JOBCTL_TRAP_MASK))
		return false;
	signal_utrace_trap();
	return true;
}

/*
 * Stop, as do_signal_stop() does, for the group stop that the task took part in
 * while engines held it.  Does nothing if the group stop is over, or a tracer
 * lets the task run in spite of it.  An attach sets ->ptrace before it takes
 * siglock to check whether the task is stopped, so the trap is set here for
 * PTRACE_ATTACH, too.  siglock is held.
 */
static void utrace_stop_for_group(void)
{
	if (!utrace_group_stops(current) || (current->jobctl & JOBCTL_UTRACE_RUNS))
		return;
	if (current->ptrace)
		task_set_jobctl_pending(current, JOBCTL_TRAP_STOP);
	else
		task_set_jobctl_pending(current, utrace_group_stop_bits(current));
}

/*
 * Consume the request for one more report.  It comes from utrace_stop_again(),
 * or from utrace_stop() if engines got the report in a stop.  siglock is held.
 */
static bool utrace_take_jctl_again(void)
{
	bool again = current->jobctl & JOBCTL_UTRACE_AGAIN;

	current->jobctl &= ~JOBCTL_UTRACE_AGAIN;
	return again;
}

/*
 * Note that the task is about to report the group stop.  Returns whether it has
 * reported it before.  Without a struct utrace nothing is noted.  siglock is
 * held.
 */
static bool utrace_note_group_stop(void)
{
	struct utrace *u = READ_ONCE(current->utrace);
	bool reported;

	if (!u)
		return false;
	guard(spinlock)(&u->lock);
	reported = u->flags & UTRACE_TASK_STOP_REPORTED;
	u->flags |= UTRACE_TASK_STOP_REPORTED;
	return reported;
}

/**
 * utrace_stop_signal() - find the signal that stops the process
 *
 * Context: The JCTL report of current with CLD_STOPPED.  Takes siglock.
 * Return: the number of the signal, or 0 if it is not known.
 */
int utrace_stop_signal(void)
{
	guard(spinlock_irq)(&current->sighand->siglock);
	return current->jobctl & JOBCTL_STOP_SIGMASK;
}

/**
 * __utrace_before_group_stop() - report JCTL before taking part in a group stop
 *
 * Context: The task itself, with siglock held, which is dropped and taken
 * again.  May sleep.
 * Return:
 * * true - a group stop is pending: this one, or one that began while siglock
 *   was dropped
 * * false - SIGCONT or SIGKILL has ended the group stop, or a tracer lets the
 *   task run.  Another group stop may be pending that was not reported yet
 */
bool __utrace_before_group_stop(void)
{
	bool left, last;

	lockdep_assert_held(&current->sighand->siglock);

	/*
	 * A task that only engines of the system cover needs a struct utrace.
	 */
	if (!current->utrace) {
		spin_unlock_irq(&current->sighand->siglock);
		utrace_adopt(0);
		spin_lock_irq(&current->sighand->siglock);
		if (!(current->jobctl & JOBCTL_STOP_PENDING))
			return false;
	}
	last = (current->jobctl & JOBCTL_STOP_CONSUME) &&
	       current->signal->group_stop_count == 1;
	utrace_take_jctl_again();
	/* This bit of a tracer applied to an earlier group stop. */
	current->jobctl &= ~JOBCTL_UTRACE_RUNS;
	do {
		bool again = utrace_note_group_stop();

		spin_unlock_irq(&current->sighand->siglock);
		left = utrace_report_stop(last ? CLD_STOPPED : 0, again) &&
		       utrace_stop(current->utrace, UTRACE_STOP_JCTL) == UTRACE_LEFT;
		spin_lock_irq(&current->sighand->siglock);
		/*
		 * The first tracer, for which the stop ended, may have
		 * detached.
		 */
		left = left && !current->ptrace;
		/*
		 * Repeat for reports that were requested while the task was
		 * stopped.
		 */
	} while ((utrace_take_jctl_again() || left) && utrace_group_stops(current) &&
		 !(current->jobctl & JOBCTL_UTRACE_RUNS));
	return (current->jobctl & JOBCTL_STOP_PENDING) &&
	       (current->ptrace || !(current->jobctl & JOBCTL_UTRACE_RUNS));
}

/**
 * utrace_stop() - stay stopped while an engine holds the task
 * @u: struct utrace of the current task
 * @where: the kind of stop.  Some kinds end when ptrace needs the task.  The
 *	hold then stays, and the task comes to the safe point before it runs
 *	user code
 *
 * Reports JCTL if the task takes part in a group stop while it is held.
 * Returns at once if no engine holds the task.
 *
 * Context: The task itself, no locks held.  Sleeps.  No set is pinned, so that
 * barriers do not wait for the end of the stop.
 * Return: why the stop has ended.
 */
enum utrace_stop_end utrace_stop(struct utrace *u,
				 enum utrace_stop_where where)
{
	bool joined = false, reported = where == UTRACE_STOP_JCTL;
	enum utrace_stop_end end = UTRACE_LET_GO;

	spin_lock_irq(&current->sighand->siglock);
	WRITE_ONCE(u->held_since, max_t(u32, ktime_get_seconds(), 1));
	u->where = where;
	trace_utrace_stop(current, u->hold);
	while (utrace_is_held(u) && !utrace_may_not_stop()) {
		bool notify = false;

		/*
		 * In a firm stop the trap comes only when the engines let go,
		 * so release the waiting PTRACE_ATTACH now.  In other stops the
		 * task makes the trap itself, which ends JOBCTL_TRAPPING.
		 */
		if (where == UTRACE_STOP_FIRM)
			task_clear_jobctl_trapping(current);
		if (joined && current->ptrace) {
			utrace_stop_for_group();
			joined = false;
		}
		if (utrace_ptrace_trap(where))
			break;
		if (utrace_serve_trap(where))
			continue;
		if (!current->ptrace &&
		    (current->jobctl & JOBCTL_STOP_PENDING)) {
			if (!reported && utrace_wants_jctl()) {
				__utrace_before_group_stop();
				reported = true;
				/*
				 * Engines that got this report in a stop get it
				 * once more.
				 */
				if (where == UTRACE_STOP_JCTL)
					current->jobctl |= JOBCTL_UTRACE_AGAIN;
				continue;
			}
			notify = signal_utrace_group_stop();
			joined = true;
		}
		reported = false;
		current->jobctl |= JOBCTL_UTRACE;
		set_special_state(TASK_TRACED);
		utrace_wake_freeze_waiters(current);
		spin_unlock_irq(&current->sighand->siglock);

		if (notify)
			signal_utrace_notify_stop();
		cgroup_enter_frozen();
		schedule();
		cgroup_leave_frozen(true);

		spin_lock_irq(&current->sighand->siglock);
		if (unlikely(current->jobctl & JOBCTL_UTRACE_FROZEN))
			__utrace_stay_frozen();
		current->jobctl &= ~JOBCTL_UTRACE;
		/*
		 * Clear JOBCTL_UTRACE before reading ->hold.  Pairs with
		 * utrace_ask_stop(): either that function sees that the task is
		 * not stopped, or the task sees the hold.
		 */
		smp_mb();
	}
	/* Read ->hold once: it may change until siglock is released. */
	if (utrace_is_held(u))
		end = utrace_may_not_stop() ? UTRACE_BROKEN : UTRACE_LEFT;
	if (end == UTRACE_LEFT)
		set_thread_flag(TIF_NOTIFY_RESUME);
	else if (end == UTRACE_BROKEN)
		utrace_wake_freeze_waiters(current);
	/*
	 * The ptrace trap follows at once only after a stop that ends for
	 * ptrace, and after JCTL.  After other stops the task may sleep first,
	 * and PTRACE_ATTACH must not wait for that.
	 */
	if (where != UTRACE_STOP_JCTL &&
	    (end != UTRACE_LEFT || !utrace_ends_for_ptrace(where)))
		task_clear_jobctl_trapping(current);
	if (joined)
		utrace_stop_for_group();
	signal_utrace_recalc();
	WRITE_ONCE(u->held_since, 0);
	trace_utrace_resume(current);
	spin_unlock_irq(&current->sighand->siglock);
	if (end == UTRACE_LET_GO && where == UTRACE_STOP_FIRM)
		utrace_arm_in_call(u);
	return end;
}

/**
 * utrace_in_stop() - check whether this callback is made during a stop
 *
 * A task that is held reports JCTL when it takes part in a group stop.
 *
 * Context: A callback in the task itself.
 * Return: true if the callback is made during a stop.
 */
bool utrace_in_stop(void)
{
	return current->utrace->held_since;
}

/**
 * __utrace_stop_or_step() - stop at a place that is not the safe point
 *
 * Context: The task itself, no locks held.  Sleeps.
 */
void __utrace_stop_or_step(void)
{
	struct utrace *u = current->utrace;

	if (!u)
		return;
	if (utrace_is_held(u))
		utrace_stop(u, UTRACE_STOP_FIRM);
	else
		utrace_arm_in_call(u);
}

/**
 * __utrace_clone_stop() - stop after a clone, if that was asked for
 * @vfork: the task is about to wait for the child, so any hold counts
 *
 * Context: The task itself, in kernel_clone(), no locks held.  Sleeps.
 */
void __utrace_clone_stop(bool vfork)
{
	struct utrace *u = current->utrace;

	if (READ_ONCE(u->flags) & UTRACE_TASK_CLONED) {
		scoped_guard(spinlock_irqsave, &u->lock)
			u->flags &= ~UTRACE_TASK_CLONED;
	} else if (!vfork) {
		return;
	}
	__utrace_stop_or_step();
}

/**
 * __utrace_freezer_stop() - stop for an engine, and not for the cgroup freezer
 *
 * If an engine must first be asked whether it still wants the stop,
 * __utrace_signal_trap() asks it, since the task does not reach the safe point
 * before the thaw.
 *
 * Context: The task itself, in get_signal(), with siglock held.  Sleeps.
 * Return: true if siglock was dropped, so the caller must check everything
 * again.
 */
bool __utrace_freezer_stop(void)
{
	struct utrace *u = current->utrace;

	lockdep_assert_held(&current->sighand->siglock);

	if (!READ_ONCE(u->hold) || utrace_may_not_stop())
		return false;
	if (READ_ONCE(u->resume) <= UTRACE_REPORT) {
		current->jobctl |= JOBCTL_TRAP_UTRACE;
		spin_unlock_irq(&current->sighand->siglock);
		return true;
	}
	spin_unlock_irq(&current->sighand->siglock);
	utrace_stop(u, UTRACE_STOP_PERMEABLE);
	return true;
}

/*
 * Check for work at the safe point.  @regs is NULL where the task does not go
 * to user mode.
 */
static bool utrace_pending(struct utrace *u, struct pt_regs *regs)
{
	u32 follow;

	if (READ_ONCE(u->resume) != UTRACE_RESUME || READ_ONCE(u->hold) ||
	    (READ_ONCE(u->step) &&
	     !(READ_ONCE(u->flags) & UTRACE_TASK_STEPPING)))
		return true;
	/* Without FOLLOWED there is no ARMED. */
	follow = READ_ONCE(u->flags) & (UTRACE_TASK_FOLLOWED | UTRACE_TASK_ARMED);
	return unlikely(follow) && (follow == UTRACE_TASK_FOLLOWED ||
				    (regs && utrace_has_moved(u, regs)));
}

/**
 * __utrace_resume() - the safe point, on the way to user mode
 * @regs: registers of the current task; NULL where the task does not go to user
 *	mode: before it enters a guest of KVM, and in waits of io_uring
 *
 * Reports QUIESCE if that was asked for, stops while an engine holds the task,
 * and starts a step.
 *
 * Context: The task itself, no locks held.  Sleeps.
 */
void __utrace_resume(struct pt_regs *regs)
{
	struct utrace *u = current->utrace;
	enum utrace_resume_action resume;

	if (!u || !utrace_pending(u, regs))
		return;

	if (!regs) {
		/* get_signal() reports, on the way to user mode. */
		utrace_interrupt(current);
		return;
	}
#ifdef CONFIG_UPROBES
	/*
	 * The task steps an instruction out of line, and its registers are not
	 * those of the program.  utrace_uprobe_done() comes back here.
	 */
	if (current->utask && current->utask->active_uprobe)
		return;
#endif
	scoped_guard(spinlock_irqsave, &u->lock) {
		resume = u->resume;
		/*
		 * get_signal() makes the report of INTERRUPT, also in a stop.
		 */
		if (resume != UTRACE_INTERRUPT)
			u->resume = UTRACE_RESUME;
	}
	if (resume <= UTRACE_REPORT)
		utrace_report_quiesce();
	if (utrace_is_held(u))
		utrace_stop(u, UTRACE_STOP_PERMEABLE);
	utrace_arm_step(u);
}
