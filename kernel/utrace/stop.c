// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - stopping a task, letting it go, interrupting and stepping it
 *
 * A stop is TASK_TRACED with JOBCTL_UTRACE and without JOBCTL_TRACED, so that
 * ptrace(2) does not take it for one of its own.  It is entered under siglock
 * and in a loop, since many may wake the task: SIGKILL, the last engine that
 * held it, a group stop to take part in, and ptrace, for a trap that a
 * permeable stop lets through.  Who wants it to go on clears ->hold first and
 * looks for JOBCTL_UTRACE under siglock second, the task does the reverse:
 *
 *	task				utrace_wake()
 *	lock siglock			hold &= ~bit
 *	hold == 0? then leave		lock siglock
 *	set TASK_TRACED, UTRACE		JOBCTL_UTRACE? then wake
 *	unlock				unlock
 */
#include <linux/cgroup.h>
#include <linux/ptrace.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>
#include <linux/uprobes.h>

#include "internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/utrace_core.h>

/* Must not, or need not, be held here. */
static bool utrace_may_not_stop(struct utrace *u)
{
	return fatal_signal_pending(current) ||
	       (READ_ONCE(u->flags) & UTRACE_TASK_KILLED) ||
	       (current->flags & PF_USER_WORKER);
}

/* Is there something that ptrace or its tracer waits for? */
static bool utrace_ptrace_trap(enum utrace_stop_where where)
{
	if (where == UTRACE_STOP_FIRM || !current->ptrace)
		return false;
	signal_utrace_recalc();
	return (current->jobctl & JOBCTL_PENDING_MASK) ||
	       (where == UTRACE_STOP_PERMEABLE && signal_pending(current));
}

/* Is the group of the current task stopped, or about to be? */
static bool utrace_group_stops(void)
{
	struct signal_struct *sig = current->signal;

	return sig->group_stop_count || (sig->flags & SIGNAL_STOP_STOPPED);
}

/*
 * A tracer came after the task had joined a group stop.  PTRACE_SEIZE has a
 * task in TASK_STOPPED trap, but does not know that a task which engines hold
 * took part too.  PTRACE_ATTACH queued a SIGSTOP, which does the same.
 */
static void utrace_trap_seized(void)
{
	if ((current->ptrace & PT_SEIZED) && utrace_group_stops())
		task_set_jobctl_pending(current, JOBCTL_TRAP_STOP);
}

/*
 * The end of a stop, with siglock held.  A group stop that is in force, or
 * that the task took part in while it was held, still applies.
 */
static void utrace_stop_leave(bool joined)
{
	if (joined && !current->ptrace && utrace_group_stops())
		task_set_jobctl_pending(current, JOBCTL_STOP_PENDING |
					(current->jobctl & JOBCTL_STOP_SIGMASK));
	else if (joined)
		utrace_trap_seized();
	signal_utrace_recalc();
}

/*
 * Engines are told before the task takes part in a group stop.  siglock is held
 * and is dropped for that, so anything may have come up then; false if nothing
 * is left of the stop.
 */
bool __utrace_tell_group_stop(void)
{
	bool last = (current->jobctl & JOBCTL_STOP_CONSUME) &&
		    current->signal->group_stop_count == 1;

	spin_unlock_irq(&current->sighand->siglock);
	utrace_report_jctl(CLD_STOPPED, last ? CLD_STOPPED : 0);
	spin_lock_irq(&current->sighand->siglock);
	return current->jobctl & JOBCTL_STOP_PENDING;
}

/**
 * utrace_stop - stay stopped while an engine holds the task
 * @u: of the current task
 * @where: whether a ptrace trap may be let through here; it then returns
 *	with the hold in force and asks for the safe point again
 *
 * Context: The task itself, no locks held.  No set is pinned, so barriers do
 * not wait for the stop.
 */
void utrace_stop(struct utrace *u, enum utrace_stop_where where)
{
	bool joined = false, told = false;

	spin_lock_irq(&current->sighand->siglock);
	u->held_since = max_t(u32, ktime_get_seconds(), 1);
	trace_utrace_stop(current, u->hold);
	while (READ_ONCE(u->hold) && !utrace_may_not_stop(u)) {
		bool notify = false;

		/* PTRACE_ATTACH waits for this bit, and need not. */
		task_clear_jobctl_trapping(current);
		if (joined && current->ptrace) {
			utrace_trap_seized();
			joined = false;
		}
		if (utrace_ptrace_trap(where))
			break;
		if (!current->ptrace &&
		    (current->jobctl & JOBCTL_STOP_PENDING)) {
			if (!told && utrace_wants_jctl()) {
				__utrace_tell_group_stop();
				told = true;
				continue;
			}
			notify = signal_utrace_group_stop();
			joined = true;
		}
		told = false;
		current->jobctl |= JOBCTL_UTRACE;
		set_special_state(TASK_TRACED);
		spin_unlock_irq(&current->sighand->siglock);

		if (notify)
			signal_utrace_notify_stop();
		cgroup_enter_frozen();
		schedule();
		cgroup_leave_frozen(true);

		spin_lock_irq(&current->sighand->siglock);
		current->jobctl &= ~JOBCTL_UTRACE;
		/* Pairs with utrace_ask_stop(): the bit or the hold. */
		smp_mb();
	}
	if (READ_ONCE(u->hold) && !utrace_may_not_stop(u))
		set_thread_flag(TIF_NOTIFY_RESUME);
	utrace_stop_leave(joined);
	u->held_since = 0;
	trace_utrace_resume(current);
	spin_unlock_irq(&current->sighand->siglock);
}

/**
 * utrace_wake - let a task go on if no engine holds it any more
 * @task: the task
 * @u: its struct utrace, whose ->hold may have become 0
 *
 * Context: Any but NMI, without siglock and @u->lock.
 */
void utrace_wake(struct task_struct *task, struct utrace *u)
{
	unsigned long flags;

	if (READ_ONCE(u->hold) || !lock_task_sighand(task, &flags))
		return;
	if ((task->jobctl & JOBCTL_UTRACE) && !READ_ONCE(u->hold))
		wake_up_state(task, __TASK_TRACED);
	unlock_task_sighand(task, &flags);
}

/*
 * SIGKILL came for a process that is dying already.  The signal itself is
 * dropped because a group exit is under way; threads that engines hold in
 * their EXIT report must not outlive it.
 */
void __utrace_kill_group(struct task_struct *task)
{
	struct task_struct *t;

	lockdep_assert_held(&task->sighand->siglock);

	for_each_thread(task, t) {
		struct utrace *u = READ_ONCE(t->utrace);

		if (!u)
			continue;
		scoped_guard(spinlock_irqsave, &u->lock)
			u->flags |= UTRACE_TASK_KILLED;
		if (t->jobctl & JOBCTL_UTRACE)
			wake_up_state(t, __TASK_TRACED);
	}
}

/*
 * The OOM killer sends no SIGKILL to a process that is dying already, it counts
 * on its end.
 */
void __utrace_oom_victim(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	__utrace_kill_group(task);
	unlock_task_sighand(task, &flags);
}

/*
 * The current thread dies because another one or a signal said so.  siglock is
 * held.
 */
void __utrace_mark_killed(void)
{
	int signr = current->signal->group_exit_code & 0x7f;
	struct utrace *u = current->utrace;

	if (u) {
		scoped_guard(spinlock_irqsave, &u->lock)
			u->flags |= UTRACE_TASK_KILLED;
	}
	if (!(current->signal->flags & UTRACE_GROUP_UNTOLD) ||
	    !(current->utrace_events & UTRACE_EVENT(SIGNAL_TERM)))
		return;
	spin_unlock_irq(&current->sighand->siglock);
	if (unlikely(cgroup_task_frozen(current)))
		cgroup_leave_frozen(true);
	utrace_report_killer(signr);
	spin_lock_irq(&current->sighand->siglock);
}

/* Stopped by anybody: it does not run before it is woken on purpose. */
bool utrace_task_stopped(struct task_struct *task)
{
	return READ_ONCE(task->jobctl) &
	       (JOBCTL_STOPPED | JOBCTL_TRACED | JOBCTL_UTRACE);
}

/**
 * utrace_interrupt - have a task report from get_signal()
 * @task: the task
 *
 * A jobctl trap breaks off every interruptible sleep, those of io_uring
 * included, and cannot be mistaken for a signal.  A dying task is left alone:
 * TIF_SIGPENDING would cut its core dump short.
 *
 * Context: Any but NMI, without siglock.
 */
void utrace_interrupt(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	if (!(task->flags & (PF_EXITING | PF_DUMPCORE | PF_USER_WORKER)) &&
	    !(task->signal->flags & SIGNAL_GROUP_EXIT)) {
		task->jobctl |= JOBCTL_TRAP_UTRACE;
		signal_wake_up(task, 0);
	}
	unlock_task_sighand(task, &flags);
}

/*
 * A task in a job control stop is held when SIGCONT comes, not before: the
 * trap is what it finds first then.
 */
void utrace_interrupt_stopped(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	if (task->jobctl & JOBCTL_STOPPED) {
		task->jobctl |= JOBCTL_TRAP_UTRACE;
		set_tsk_thread_flag(task, TIF_SIGPENDING);
	}
	unlock_task_sighand(task, &flags);
}

/* Where a task is not on its way to user mode and an engine may hold it. */
void __utrace_stop_if_held(void)
{
	struct utrace *u = current->utrace;

	if (u && READ_ONCE(u->hold))
		utrace_stop(u, UTRACE_STOP_FIRM);
}

/*
 * Stepping.  The trap flag of a task has two owners, ptrace and the engines.
 * ptrace sets or clears it while the task sits in a ptrace stop and nowhere
 * else, so what it is at the end of one is what ptrace wants; the engines set
 * it at the safe point.
 */

/* The end of a ptrace stop; siglock is held. */
void __utrace_ptrace_stopped(void)
{
	struct utrace *u = current->utrace;
	bool step = test_thread_flag(TIF_SINGLESTEP);

	scoped_guard(spinlock_irqsave, &u->lock) {
		u->flags &= ~UTRACE_TASK_PTRACE_STEP;
		/* The tracer died and left the flag as it was. */
		if (!current->ptrace)
			return;
		u->flags &= ~UTRACE_TASK_STEPPING;
		if (step)
			u->flags |= UTRACE_TASK_PTRACE_STEP;
		if (u->step)
			set_thread_flag(TIF_NOTIFY_RESUME);
	}
}

/**
 * utrace_arm_step - run one instruction, or up to the next branch
 * @u: of the current task, about to return to user mode
 *
 * A block step is only made if nobody, ptrace included, wants less.
 *
 * Context: The task itself, no locks held.
 */
static void utrace_arm_step(struct utrace *u)
{
	bool block;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (!u->step)
			return;
		if (!(u->flags & UTRACE_TASK_STEPPING)) {
			u->flags &= ~UTRACE_TASK_PTRACE_STEP;
			if (current->ptrace && test_thread_flag(TIF_SINGLESTEP))
				u->flags |= UTRACE_TASK_PTRACE_STEP;
		}
		u->flags |= UTRACE_TASK_STEPPING;
		block = u->step == u->block &&
			!(u->flags & UTRACE_TASK_PTRACE_STEP);
	}
	if (block && arch_has_block_step())
		user_enable_block_step(current);
	else
		user_enable_single_step(current);
}

/**
 * __utrace_step_trap - the current task finished a step
 *
 * Context: The task itself, without siglock.
 * Return: true if an engine and nobody else asked for it: no signal is to be
 * queued, the engine is told by the report that follows.
 */
bool __utrace_step_trap(void)
{
	struct utrace *u = current->utrace;
	bool engines, others;

	scoped_guard(spinlock_irqsave, &u->lock) {
		engines = u->flags & UTRACE_TASK_STEPPING;
		others = u->flags & UTRACE_TASK_PTRACE_STEP;
		u->flags &= ~UTRACE_TASK_STEPPING;
		if (engines)
			u->flags |= UTRACE_TASK_STEPPED;
	}
	if (!engines)
		return false;
	utrace_interrupt(current);
#ifdef TIF_FORCED_TF
	/* The program steps itself and has a handler for it. */
	others |= !test_thread_flag(TIF_FORCED_TF);
#endif
	if (others)
		return false;
	user_disable_single_step(current);
	return true;
}

/* Is there anything to be done before user mode? */
static bool utrace_pending(struct utrace *u)
{
	return READ_ONCE(u->resume) != UTRACE_RESUME || READ_ONCE(u->hold) ||
	       (READ_ONCE(u->step) &&
		!(READ_ONCE(u->flags) & UTRACE_TASK_STEPPING));
}

/**
 * __utrace_resume - the safe point, on the way to user mode
 * @regs: registers of the task; NULL where it does not go to user mode after
 *	all, that is for a guest of KVM and in io_uring's waits
 *
 * Context: The task itself, no locks held.
 */
void __utrace_resume(struct pt_regs *regs)
{
	struct utrace *u = current->utrace;
	enum utrace_resume_action resume;

	if (!u || !utrace_pending(u))
		return;

	if (!regs) {
		/* Have it come back to user mode for this. */
		utrace_interrupt(current);
		return;
	}
#ifdef CONFIG_UPROBES
	/* Out of line: its registers are not the program's. */
	if (current->utask && current->utask->active_uprobe)
		return;
#endif
	scoped_guard(spinlock_irqsave, &u->lock) {
		resume = u->resume;
		u->resume = UTRACE_RESUME;
	}
	if (resume <= UTRACE_REPORT)
		utrace_report_quiesce(u);
	if (READ_ONCE(u->hold))
		utrace_stop(u, UTRACE_STOP_PERMEABLE);
	utrace_arm_step(u);
}
