// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - freeze a stopped task while a client works on it
 *
 * A client that accesses the registers of a stopped task must keep the task
 * from running.  SIGKILL, or a tracer that resumes the task, could wake it.
 * When the task is switched out again, the kernel saves the bases of its
 * segments and its protection keys over the values that the client has written.
 * utrace_freeze() sets a bit in the jobctl word.  Functions that wake a task
 * from a stop do not wake a frozen task; they set JOBCTL_UTRACE_WOKEN, and
 * utrace_thaw() wakes the task.  A task that was woken just before it was
 * frozen checks the bit before it leaves the stop, and sleeps again:
 *
 *	task				client			waker
 *	set TASK_TRACED and a		lock siglock		lock siglock
 *	  mark of a stop		mark of a stop? then	FROZEN? then
 *	unlock siglock			  set FROZEN		  set WOKEN
 *	schedule()			unlock			else wake
 *	lock siglock			wait_task_inactive()	unlock
 *	FROZEN? then sleep on		... registers ...
 *					lock siglock, clear
 *					  FROZEN, wake
 *
 * A fatal signal does not set WOKEN: utrace_thaw() tests for one.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait_bit.h>

#include "builtin.h"
#include "stop.h"

/* The states that a frozen task may be in. */
#define UTRACE_FROZEN_STATES	(__TASK_TRACED | TASK_UNINTERRUPTIBLE | \
				 TASK_FROZEN)

/**
 * __utrace_wake_freeze_waiters() - wake clients that wait to freeze a task
 * @task: the task, with JOBCTL_UTRACE_AWAITED
 *
 * The task is in a stop now, or is thawed, or is being killed.
 *
 * The lock of the queue in which the clients wait is taken inside of siglock.
 *
 * Context: siglock of @task is held.
 */
void __utrace_wake_freeze_waiters(struct task_struct *task)
{
	lockdep_assert_held(&task->sighand->siglock);

	task->jobctl &= ~JOBCTL_UTRACE_AWAITED;
	wake_up_var(&task->utrace->hold);
}

/**
 * __utrace_stay_frozen() - do not leave a stop before the task is thawed
 *
 * Context: The task itself, with siglock held, which is dropped and taken
 * again.  Sleeps.
 */
void __utrace_stay_frozen(void)
{
	lockdep_assert_held(&current->sighand->siglock);

	while (current->jobctl & JOBCTL_UTRACE_FROZEN) {
		__set_current_state(TASK_IDLE | TASK_FREEZABLE);
		spin_unlock_irq(&current->sighand->siglock);
		schedule();
		spin_lock_irq(&current->sighand->siglock);
	}
	__set_current_state(TASK_RUNNING);
}

/*
 * Check whether a stopped task is at a place where another stop may be
 * reported: at a signal, at the end of get_signal() or in a group stop, and not
 * in the midst of a system call.  siglock is held.
 */
static bool utrace_is_safe(struct task_struct *task)
{
	const kernel_siginfo_t *info = task->last_siginfo;
	u8 where = task->utrace->where;

	if (!(task->jobctl & JOBCTL_TRACED))
		return where == UTRACE_STOP_PERMEABLE ||
		       where == UTRACE_STOP_SERVES || where == UTRACE_STOP_JCTL;
	if (!info)
		return true;
	/* A system call, or an event of ptrace_do_notify(). */
	if (info->si_signo == SIGTRAP && (info->si_code & 0x7f) == SIGTRAP)
		return info->si_code >> 8 == PTRACE_EVENT_STOP;
	return true;
}

/*
 * Check whether the task is on its way to the group stop of its process, which
 * has stopped.  It is not if a further tracer lets it run.  siglock is held.
 */
static bool utrace_comes_to_group_stop(struct task_struct *task)
{
	return (task->jobctl & JOBCTL_PENDING_MASK) && !(task->flags & PF_EXITING) &&
	       (task->signal->flags & SIGNAL_STOP_STOPPED) &&
	       !(task->jobctl & JOBCTL_UTRACE_RUNS);
}

/*
 * Check whether the task sleeps on its way to a group stop.  A task that a
 * first tracer has let run may sleep there without limit, as in vfork(2), so
 * the caller gives up.  A callback may sleep for a moment, so the task has to
 * sleep in two calls, a tick apart.  *@asleep is the result of the previous
 * call, false at first.
 */
static bool utrace_sleeps_on(struct task_struct *task, bool *asleep)
{
	bool before = *asleep;
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return false;
	*asleep = (READ_ONCE(task->__state) & (TASK_UNINTERRUPTIBLE | TASK_FROZEN)) &&
		  !(task->jobctl & (JOBCTL_UTRACE_FROZEN | JOBCTL_PTRACE_FROZEN));
	unlock_task_sighand(task, &flags);
	return before && *asleep;
}

/*
 * Make a task in TASK_STOPPED report JCTL once more.  Returns -EAGAIN if the
 * task does so, or is on its way to the group stop, else -EBUSY.
 */
static int utrace_report_group_stop(struct task_struct *task)
{
	utrace_stop_again(task);
	return utrace_comes_to_group_stop(task) ? -EAGAIN : -EBUSY;
}

/*
 * Freeze a task that is in a stop.  Returns -EAGAIN if the task is not in a
 * stop yet, or is frozen for another client; without @safe, AWAITED is set
 * then.  With @safe, returns -EBUSY if the task is not in a stop and not on its
 * way to a group stop, or is not at a safe place.  Returns -ESRCH if the task
 * is dead or is being killed, or if its process exits and the task has not come
 * to its exit report.
 */
static int utrace_try_freeze(struct task_struct *task, bool safe)
{
	unsigned long flags;
	int ret = 0;

	if (!lock_task_sighand(task, &flags))
		return -ESRCH;
	if (__fatal_signal_pending(task) || utrace_is_dead(task) ||
	    READ_ONCE(task->utrace->flags) & UTRACE_TASK_KILLED)
		ret = -ESRCH;
	else if ((task->signal->flags & SIGNAL_GROUP_EXIT) &&
		 !(READ_ONCE(task->utrace->flags) & UTRACE_TASK_DYING))
		/* The exit has ended the stop; the next stop is at EXIT. */
		ret = -ESRCH;
	else if (task->jobctl & (JOBCTL_UTRACE_FROZEN | JOBCTL_PTRACE_FROZEN))
		ret = -EAGAIN;
	else if (!(task->jobctl & (JOBCTL_UTRACE | JOBCTL_TRACED)))
		ret = safe ? utrace_report_group_stop(task) : -EAGAIN;
	else if (safe && !utrace_is_safe(task))
		ret = -EBUSY;
	if (!ret)
		task->jobctl |= JOBCTL_UTRACE_FROZEN;
	else if (ret == -EAGAIN && !safe)
		task->jobctl |= JOBCTL_UTRACE_AWAITED;
	unlock_task_sighand(task, &flags);
	return ret;
}

/*
 * Wait for a stop of the task in which no other client has it frozen, and
 * freeze it.
 */
static int utrace_freeze_at_stop(struct utrace *u, struct task_struct *task)
{
	int ret = -EAGAIN, killed;

	killed = wait_var_event_killable(&u->hold,
					 (ret = utrace_try_freeze(task, false)) != -EAGAIN);
	return killed ?: ret;
}

static int utrace_wait_freeze(struct task_struct *task, bool safe)
{
	struct utrace *u = READ_ONCE(task->utrace);
	bool asleep = false;
	int ret;

	if (!u)
		return -ESRCH;
	for (;;) {
		/*
		 * With @safe, poll: a task that sleeps on its way to a stop
		 * wakes no client.
		 */
		ret = safe ? utrace_try_freeze(task, true) : utrace_freeze_at_stop(u, task);
		if (ret != -EAGAIN) {
			if (ret || wait_task_inactive(task, UTRACE_FROZEN_STATES))
				return ret;
			/*
			 * The task was woken, for a group stop say, and stops
			 * again.
			 */
			utrace_thaw(task);
		} else if (utrace_sleeps_on(task, &asleep)) {
			return -EBUSY;
		}
		/*
		 * The task may need the CPU of the caller; with @safe, the
		 * interval of the poll.
		 */
		schedule_timeout_killable(1);
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;
	}
}

/**
 * utrace_freeze() - freeze a task where it is stopped
 * @task: the task, to which the caller has a reference.  An engine of the
 *	caller holds the task, or has answered %UTRACE_STOP in a pass that may
 *	not be over yet
 *
 * Waits until the task is stopped and off its CPU, and until another client has
 * thawed it.  From then on the caller has exclusive access to the task, its
 * registers included, until utrace_thaw().  The caller must call that soon,
 * since it delays SIGKILL.
 *
 * Context: Process context, sleeps.
 * Return:
 * * 0 - done
 * * -ESRCH - the task is dead or is being killed, or its process exits and the
 *   task has not come to its exit report
 * * -ERESTARTSYS - the caller is being killed
 */
int utrace_freeze(struct task_struct *task)
{
	return utrace_wait_freeze(task, false);
}

/**
 * utrace_freeze_if_safe() - freeze a task if it is stopped at a safe place
 * @task: the task, to which the caller has a reference
 *
 * As utrace_freeze(), but does not freeze a task in the midst of a system call.
 * Waits only if another client has the task frozen, or if the task is in a
 * group stop or on its way there.  A task in TASK_STOPPED cannot be frozen, so
 * it reports JCTL once more, and the stop at that report is a safe place.
 * Polls once a tick.
 *
 * Context: Process context, sleeps.
 * Return:
 * * 0 - done
 * * -EBUSY - the task runs, or sleeps on its way to the group stop, or is
 *   stopped in the midst of a system call or an event
 * * -ESRCH - the task is dead or is being killed, or its process exits and the
 *   task has not come to its exit report
 * * -ERESTARTSYS - the caller is being killed
 */
int utrace_freeze_if_safe(struct task_struct *task)
{
	return utrace_wait_freeze(task, true);
}

/**
 * __utrace_in_group_stop() - check whether engines hold a task in a group stop
 * @task: the task
 *
 * Context: siglock of @task is held.
 * Return: true if they do.  The task is not TASK_STOPPED then.
 */
bool __utrace_in_group_stop(struct task_struct *task)
{
	lockdep_assert_held(&task->sighand->siglock);

	return (task->jobctl & JOBCTL_UTRACE) &&
	       (task->signal->flags & SIGNAL_STOP_STOPPED) &&
	       !(task->jobctl & JOBCTL_UTRACE_RUNS);
}

/* Check whether engines hold the task in a stop that serves no trap. */
static bool utrace_is_firm(struct task_struct *task)
{
	return (task->jobctl & JOBCTL_UTRACE) && task->utrace->where == UTRACE_STOP_FIRM;
}

/*
 * Check whether the task is on its way to a group stop, and in no other stop.
 */
static bool utrace_group_stop_is_near(struct task_struct *task)
{
	unsigned long flags;
	bool near;

	if (!lock_task_sighand(task, &flags))
		return false;
	near = utrace_comes_to_group_stop(task) && !(task->jobctl & JOBCTL_TRACED) &&
	       !utrace_is_firm(task);
	unlock_task_sighand(task, &flags);
	return near;
}

/**
 * __utrace_await_group_stop() - wait for a task's imminent group stop
 * @task: the task, which the caller has attached to as its first tracer
 *
 * ptrace itself waits, by JOBCTL_TRAPPING, for a task that was in TASK_STOPPED
 * or that engines held in a group stop.
 *
 * Context: Process context, sleeps.
 */
void __utrace_await_group_stop(struct task_struct *task)
{
	bool asleep = false;

	while (utrace_group_stop_is_near(task) && !utrace_sleeps_on(task, &asleep) &&
	       !fatal_signal_pending(current))
		schedule_timeout_killable(1);
}

/* Returns true if no client has the task frozen, else sets AWAITED. */
static bool utrace_is_thawed(struct task_struct *task)
{
	unsigned long flags;
	bool thawed;

	if (!lock_task_sighand(task, &flags))
		return true;
	thawed = !(task->jobctl & JOBCTL_UTRACE_FROZEN);
	if (!thawed)
		task->jobctl |= JOBCTL_UTRACE_AWAITED;
	unlock_task_sighand(task, &flags);
	return thawed;
}

/**
 * utrace_await_thaw() - wait until a client has thawed a task
 * @task: the task, to which the caller has a reference.  JOBCTL_PTRACE_FROZEN
 *	is set, so that no client freezes it again
 *
 * Context: Process context, sleeps.
 * Return: 0, or -ERESTARTSYS if the caller is being killed.
 */
int utrace_await_thaw(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	/*
	 * The caller has taken siglock to set JOBCTL_PTRACE_FROZEN, so this
	 * sees the bit of a client that was first.
	 */
	if (!u || !(READ_ONCE(task->jobctl) & JOBCTL_UTRACE_FROZEN))
		return 0;
	return wait_var_event_killable(&u->hold, utrace_is_thawed(task));
}

/*
 * Check whether a thawed task must be woken.  The first tracer may have frozen
 * the task as well, and then wakes the task itself.
 */
static bool utrace_thaw_wakes(struct task_struct *task)
{
	const unsigned long ptrace = JOBCTL_TRACED | JOBCTL_PTRACE_FROZEN;

	if ((task->jobctl & ptrace) == ptrace)
		return false;
	return (task->jobctl & JOBCTL_UTRACE_WOKEN) ||
	       __fatal_signal_pending(task);
}

static void utrace_thaw_locked(struct task_struct *task)
{
	unsigned int state = TASK_UNINTERRUPTIBLE;

	if (utrace_thaw_wakes(task)) {
		/* As in signal_wake_up(). */
		if (__fatal_signal_pending(task))
			task->jobctl &= ~JOBCTL_TRACED;
		state |= TASK_WAKEKILL | __TASK_TRACED;
	}
	task->jobctl &= ~(JOBCTL_UTRACE_FROZEN | JOBCTL_UTRACE_WOKEN);
	wake_up_state(task, state);
	utrace_wake_freeze_waiters(task);
}

/**
 * utrace_thaw() - end the freeze of utrace_freeze()
 * @task: the task
 *
 * Context: Process context, without siglock.
 */
void utrace_thaw(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	if (task->jobctl & JOBCTL_UTRACE_FROZEN)
		utrace_thaw_locked(task);
	unlock_task_sighand(task, &flags);
}
