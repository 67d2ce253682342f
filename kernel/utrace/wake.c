// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - waking and interrupting a task
 *
 * These functions run in any task, and call no engine.  stop.c implements the
 * stop, and describes how both sides synchronize.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "builtin.h"
#include "wake.h"

/* The end of a stop */

/**
 * utrace_task_stopped() - check for a group stop, or a stop by ptrace or utrace
 * @task: the task; the caller has a reference, or is under RCU
 *
 * Context: Any.
 * Return: true if @task is stopped.  Without siglock the answer may be out of
 * date.
 */
bool utrace_task_stopped(struct task_struct *task)
{
	return READ_ONCE(task->jobctl) &
	       (JOBCTL_STOPPED | JOBCTL_TRACED | JOBCTL_UTRACE);
}

/**
 * utrace_wake_unheld() - wake a task that no engine holds
 * @task: the task; the caller has a reference, or is under RCU
 * @u: struct utrace of @task; the caller has cleared bits in ->hold
 *
 * Context: Any but NMI, without siglock and @u->lock.  Takes siglock.
 */
void utrace_wake_unheld(struct task_struct *task, struct utrace *u)
{
	unsigned long flags;

	if (READ_ONCE(u->hold) || !lock_task_sighand(task, &flags))
		return;
	if (!READ_ONCE(u->hold))
		utrace_wake_from_stop(task);
	unlock_task_sighand(task, &flags);
}

/**
 * __utrace_kill_group() - end the stops of a process, and forbid new ones
 * @task: a thread of the process
 *
 * prepare_signal() drops SIGKILL if a group exit is under way.  This function
 * ends the stops of threads that engines hold after the EXIT report, so that
 * SIGKILL kills these threads too.
 *
 * Context: siglock of @task is held.  Takes utrace->lock of each thread.
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
		utrace_wake_from_stop(t);
	}
}

/**
 * __utrace_oom_victim() - end the stops of a process that the OOM killer chose
 * @task: a thread of the process
 *
 * The OOM killer sends no SIGKILL to a process that is dying already, but waits
 * for its death.
 *
 * Context: Any but NMI, without siglock.  Takes siglock.
 */
void __utrace_oom_victim(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	__utrace_kill_group(task);
	unlock_task_sighand(task, &flags);
}

/* Requested reports */

static void utrace_interrupt_locked(struct task_struct *task)
{
	lockdep_assert_held(&task->sighand->siglock);

	if ((task->flags & (PF_EXITING | PF_DUMPCORE | PF_USER_WORKER)) ||
	    (task->signal->flags & SIGNAL_GROUP_EXIT))
		return;
	task->jobctl |= JOBCTL_TRAP_UTRACE;
	signal_wake_up(task, 0);
}

/**
 * utrace_interrupt() - make a task report from get_signal()
 * @task: the task; the caller has a reference, or is under RCU
 *
 * Sets a jobctl trap, which interrupts every interruptible sleep, those of
 * io_uring included, and cannot be mistaken for a signal.  Does nothing to a
 * dying task, since TIF_SIGPENDING would cut its core dump short.
 *
 * Context: Any but NMI, without siglock.  Takes siglock.
 */
void utrace_interrupt(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	utrace_interrupt_locked(task);
	unlock_task_sighand(task, &flags);
}

/**
 * utrace_trap_group_stopped() - set the trap of a task in a group stop
 * @task: the task, which an engine holds; the caller has a reference, or is
 *	under RCU
 *
 * The hold exists already.  When SIGCONT has woken the task, the trap leads it
 * to the hold in get_signal().  Does nothing to a task that is not in a group
 * stop.
 *
 * Context: Any but NMI, without siglock.  Takes siglock.
 */
void utrace_trap_group_stopped(struct task_struct *task)
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

/**
 * utrace_ask_report() - make a task report from get_signal() soon
 * @task: the task, which an engine of the caller covers; the caller has a
 *	reference
 *
 * Like utrace_control() with %UTRACE_INTERRUPT, but ends no engine's hold.
 *
 * Context: Any but NMI, without siglock.  Takes siglock.
 */
void utrace_ask_report(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	utrace_ask_report_locked(task);
	unlock_task_sighand(task, &flags);
}

/**
 * utrace_ask_report_locked() - utrace_ask_report() with siglock held
 * @task: the task, which has a struct utrace
 *
 * Context: siglock of @task is held.
 */
void utrace_ask_report_locked(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	scoped_guard(spinlock_irqsave, &u->lock)
		u->resume = UTRACE_INTERRUPT;
	utrace_interrupt_locked(task);
}

/* Group stops */

/**
 * __utrace_forget_group_stop() - mark the next group stop as not reported
 * @task: a task for which a group stop begins, or to which SIGCONT is sent
 *
 * Context: siglock of @task is held.  Takes utrace->lock.
 */
void __utrace_forget_group_stop(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	lockdep_assert_held(&task->sighand->siglock);

	guard(spinlock)(&u->lock);
	u->flags &= ~UTRACE_TASK_STOP_REPORTED;
}

/**
 * utrace_stop_again() - make a task report its present group stop
 * @task: the task
 *
 * The task leaves TASK_STOPPED, reports JCTL, at which an engine may hold it,
 * and takes part in the same group stop again, without notifying its parent.  A
 * task that is on its way into the stop reports JCTL once more.  Does nothing
 * to a task that is not in a group stop.
 *
 * Context: siglock of @task is held.
 */
void utrace_stop_again(struct task_struct *task)
{
	lockdep_assert_held(&task->sighand->siglock);

	if (task->jobctl & JOBCTL_STOP_PENDING) {
		task->jobctl |= JOBCTL_UTRACE_AGAIN;
		return;
	}
	if (!(task->jobctl & JOBCTL_STOPPED) ||
	    !task_set_jobctl_pending(task, utrace_group_stop_bits(task)))
		return;
	task->jobctl &= ~JOBCTL_STOPPED;
	wake_up_state(task, __TASK_STOPPED);
}

/**
 * utrace_ignore_group_stop() - let a task run in spite of a group stop
 * @task: the task, which the caller has frozen
 *
 * When engines let the task go, the task runs, though its process stays in the
 * group stop, as after PTRACE_CONT of a first tracer.  A first tracer that
 * listens (PTRACE_LISTEN) does not keep the task.  The next group stop ends
 * this.
 *
 * Context: Any but NMI, without siglock and utrace->lock, both of which are
 * taken.
 */
void utrace_ignore_group_stop(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	task->jobctl |= JOBCTL_UTRACE_RUNS;
	/*
	 * utrace_rejoin_group_stop() may have set STOP_PENDING.  A new stop has
	 * set CONSUME as well.
	 */
	if (!(task->jobctl & JOBCTL_STOP_CONSUME))
		task_clear_jobctl_pending(task, JOBCTL_STOP_PENDING);
	if (task->jobctl & JOBCTL_LISTENING) {
		scoped_guard(spinlock, &task->utrace->lock)
			task->utrace->flags |= UTRACE_TASK_LISTENED;
		ptrace_signal_wake_up(task, true);
	}
	unlock_task_sighand(task, &flags);
}

/**
 * utrace_rejoin_group_stop() - undo utrace_ignore_group_stop()
 * @task: the task; a tracer has detached from it, or listens (PTRACE_LISTEN)
 *
 * The task takes part in the group stop again, as after __ptrace_unlink().  A
 * task with a first tracer does not, since that tracer may have resumed it,
 * unless utrace_ignore_group_stop() has ended PTRACE_LISTEN of that tracer.
 *
 * Context: siglock of @task is held.
 */
void utrace_rejoin_group_stop(struct task_struct *task)
{
	lockdep_assert_held(&task->sighand->siglock);

	if (!(task->jobctl & JOBCTL_UTRACE_RUNS))
		return;
	task->jobctl &= ~JOBCTL_UTRACE_RUNS;
	if (!(task->flags & PF_EXITING) &&
	    (!task->ptrace || READ_ONCE(task->utrace->flags) & UTRACE_TASK_LISTENED) &&
	    utrace_group_stops(task) &&
	    task_set_jobctl_pending(task, utrace_group_stop_bits(task))) {
		signal_wake_up(task, 0);
		utrace_wake_from_stop(task);
	}
}
