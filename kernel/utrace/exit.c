// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the end of a task: exit, death and reaping
 *
 * EXIT is reported in do_exit(), while the task still has its memory and files;
 * DEATH in exit_notify(), when the parent may already know; REAP in
 * release_task().  The parent may reap a task whose DEATH pass is running, so
 * the task has UTRACE_TASK_DYING from its EXIT hook to the end of the DEATH
 * pass, and release_task() waits until that flag is cleared.  The reaper then
 * runs the REAP pass in the place of the task.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait_bit.h>

#include "pass.h"

/*
 * wait() reports the status of a group exit, not the status of a thread.
 * Change the status of the group to @new if it is @old, the former status of
 * this thread.
 */
static void utrace_change_group_code(long old, long new)
{
	struct signal_struct *sig = current->signal;

	guard(spinlock_irq)(&current->sighand->siglock);
	if ((sig->flags & SIGNAL_GROUP_EXIT) && sig->group_exit_code == old)
		sig->group_exit_code = new;
}

/**
 * utrace_is_killed() - does SIGKILL, or the execve() of another thread, end current?
 *
 * Context: The task itself, with siglock held.
 * Return: true if so.  Then no engine may hold the task.
 */
bool utrace_is_killed(void)
{
	struct signal_struct *sig = current->signal;

	lockdep_assert_held(&current->sighand->siglock);

	if (sig->group_exec_task && sig->group_exec_task != current)
		return true;
	return (sig->flags & SIGNAL_GROUP_EXIT) &&
	       (sig->group_exit_code & 0x7f) == SIGKILL;
}

/*
 * Make the EXIT pass, and stop if an engine holds the task.  Returns the wait
 * status, which engines may have changed; engines of the system get a copy.
 */
static long utrace_exit_pass(struct utrace *u, long orig_code)
{
	struct utrace_pass pass;
	long code = orig_code, seen;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_EXIT), 0))
		return code;
	utrace_no_exit(&pass);
	utrace_pass_for_each(&pass, at) {
		bool system = utrace_engine_is_system(at.engine);
		u32 ret;

		if (!utrace_pass_wants(&pass, at.engine, at.slot,
				       UTRACE_EVENT(EXIT)))
			continue;
		seen = code;
		ret = utrace_call(&pass, at.engine, report_exit,
				  pass.action |
				  utrace_tell_unpaired(u, at.engine, at.slot),
				  at.engine, orig_code, system ? &seen : &code);
		utrace_pass_answer(&pass, at.engine, at.slot, ret, 0);
	}
	utrace_pass_end(&pass);
	if (code != orig_code)
		utrace_change_group_code(orig_code, code);
	if (READ_ONCE(u->hold))
		utrace_stop(u, UTRACE_STOP_FIRM);
	return code;
}

/**
 * __utrace_report_exit() - report EXIT, and make release_task() wait for DEATH
 * @code: the wait status
 *
 * Sets UTRACE_TASK_DYING, which __utrace_report_death() clears.
 *
 * Context: The task itself, in do_exit(), no locks held.  May sleep, and stops
 * while an engine holds the task.
 * Return: the wait status, which engines may have changed.
 */
long __utrace_report_exit(long code)
{
	const unsigned long last = UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH) |
				   UTRACE_EVENT(REAP);
	struct utrace *u;
	bool killed;

	/* A bare task needs a struct utrace only if one of @last is wanted. */
	if (!current->utrace &&
	    (!(current->utrace_events & last) || !utrace_adopt(last)))
		return code;
	u = current->utrace;
	/* A callback oopsed, and the task exits from within its pass. */
	if (unlikely(u->pinned))
		utrace_unpin(u);
	/* A callback of the EXIT pass oopsed: do not call it again. */
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_DYING))
		return code;
	scoped_guard(spinlock_irq, &current->sighand->siglock)
		killed = utrace_is_killed();
	scoped_guard(spinlock_irqsave, &u->lock) {
		/* release_task() waits from here to the end of DEATH. */
		u->flags |= UTRACE_TASK_DYING;
		if (killed)
			u->flags |= UTRACE_TASK_KILLED;
	}
	/*
	 * A thread that exits by itself while a signal kills its process may
	 * be the one that reports this signal.
	 */
	if (current->utrace_events & UTRACE_EVENT(SIGNAL_TERM))
		utrace_report_killer(code & 0x7f);
	/* The last time at which utrace_ask() can ask: later there is no mm. */
	if (current->utrace_events & UTRACE_WORD_RENEW)
		utrace_renew();
	if (current->utrace_events & UTRACE_EVENT(EXIT))
		code = utrace_exit_pass(u, code);
	return code;
}

/*
 * Call one engine in the REAP pass.  utrace_heavy() may pass over the CPU of
 * the reaper, which need not have a set with the engine.  So the REAP pass has
 * full barriers where a pass of the task itself has compiler barriers.
 */
static void utrace_reap_call(struct task_struct *task, struct utrace *u,
			     struct utrace_engine *engine)
{
	u64 since;

	/* ->now before the flags of both; pairs with utrace_heavy(). */
	smp_store_mb(u->now, engine);
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_WAITER))
		utrace_told(u);
	if (!(READ_ONCE(engine->flags) & UTRACE_EVENT(REAP)) ||
	    !engine->ops->report_reap)
		return;
	since = utrace_time();
	engine->ops->report_reap(engine, task);
	utrace_account(engine, since);
}

/*
 * Call the engines of @set that want REAP now: the task has no later event at
 * which it could renew the set.  Then end the engines whose scope has no task
 * any more.  The leader is the last thread of a process that is reaped.
 */
static void utrace_report_reap(struct task_struct *task, struct utrace *u,
			       struct utrace_set *set)
{
	bool last = thread_group_leader(task);
	u8 order[UTRACE_NSLOTS];
	unsigned int i, n;

	utrace_count_lost(set, UTRACE_EVENT(REAP));
	n = utrace_order(set, _UTRACE_EVENT_REAP, NULL, order);
	for (i = 0; i < n; i++)
		if (!(u->muted & BIT_ULL(order[i])))
			utrace_reap_call(task, u, set->engine[order[i]]);
	/* Before u->flags, in utrace_reap_end(); pairs with utrace_heavy(). */
	smp_store_mb(u->now, NULL);
	utrace_set_for_each(set, UTRACE_LIST_ALL, at) {
		unsigned int scope = utrace_engine_state(at.engine) &
				     UTRACE_STATE_SCOPE;

		if (!scope || (scope == UTRACE_STATE_PROCESS && last))
			utrace_engine_end(at.engine);
	}
}

/*
 * End the REAP pass: take the set away, leave the cast, unpin the set, and wake
 * barriers that wait for the pass.
 */
static void utrace_reap_end(struct task_struct *task, struct utrace *u)
{
	struct utrace_member *member;

	scoped_guard(spinlock_irqsave, &u->lock) {
		WRITE_ONCE(task->utrace_set, NULL);
		member = u->member;
		u->member = NULL;
	}
	utrace_member_leave(member);
	if (member)
		kfree_rcu(member, rcu);
	/* ->pinned before the flags; pairs with utrace_heavy(). */
	smp_store_mb(u->pinned, NULL);
	if (READ_ONCE(u->flags) & (UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER))
		utrace_told(u);
}

/*
 * Claim a dead task, run its REAP pass and drop its set.  Returns false if the
 * task is DYING again: its death report has begun meanwhile.
 *
 * From REAPED on the task gets no other set.  The reaper pins the set for the
 * task, which stays a member of its cast until the pass is over, so that a
 * barrier or a detach finds the task and sees that a callback may be running.
 */
static bool utrace_reap(struct task_struct *task, struct utrace *u)
{
	struct utrace_set *set;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_DYING)
			return false;
		u->flags |= UTRACE_TASK_REAPED;
		u->hold = 0;
		u->reaper = current;
		set = task->utrace_set;
		/* The pin before engines' flags; pairs with utrace_heavy(). */
		smp_store_mb(u->pinned, set);
		WRITE_ONCE(task->utrace_events, 0);
	}
	if (set)
		utrace_report_reap(task, u, set);
	utrace_reap_end(task, u);
	utrace_set_put(set);
	return true;
}

/**
 * __utrace_release_task() - report REAP when the death report is over
 * @task: the task
 *
 * No engine is told of REAP before the DEATH pass is over, and during that pass
 * the task stays in the lists in which barriers look for it.  The wait ends
 * because callbacks do not wait for user space.
 *
 * Context: The reaper, in release_task(); may sleep.  No locks are held but
 * those that @report_reap of struct utrace_engine_ops names.
 */
void __utrace_release_task(struct task_struct *task)
{
	/* Memory reclaim may wait for a kernel thread that reaps @task. */
	unsigned int noio = memalloc_noio_save();
	struct utrace *u = task->utrace;

	do {
		wait_var_event(&u->flags,
			       !(READ_ONCE(u->flags) & UTRACE_TASK_DYING));
	} while (!utrace_reap(task, u));
	memalloc_noio_restore(noio);
}

/* The @signal of report_death for the current task. */
static int utrace_death_signal(bool autoreap)
{
	if (autoreap)
		return -1;
	if (delay_group_leader(current))
		return -2;
	return current->exit_signal;
}

static void utrace_death_pass(bool group_dead, int signal)
{
	struct utrace_pass pass;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_DEATH), 0))
		return;
	utrace_pass_for_each(&pass, at) {
		u32 ret;

		if (!utrace_pass_wants(&pass, at.engine, at.slot,
				       UTRACE_EVENT(DEATH)))
			continue;
		ret = utrace_call(&pass, at.engine, report_death, at.engine,
				  group_dead, signal);
		if (utrace_resume_action(ret) == UTRACE_DETACH)
			utrace_detach_later(at.engine);
	}
	/* A dead task does not stop or step: the answers are not applied. */
	utrace_pass_leave(&pass);
}

/**
 * __utrace_report_death() - report DEATH, and let release_task() go on
 * @group_dead: the task is the last thread of its process
 * @autoreap: the task reaps itself
 *
 * Context: The task itself, in exit_notify(), no locks held.  May sleep.  The
 * reaper may have claimed the task already, if its first engine came after
 * EXIT.
 */
void __utrace_report_death(bool group_dead, bool autoreap)
{
	struct utrace *u = current->utrace;
	bool wanted;

	scoped_guard(spinlock_irqsave, &u->lock) {
		wanted = !(u->flags & UTRACE_TASK_REAPED) &&
			 (current->utrace_events & UTRACE_EVENT(DEATH));
		/*
		 * DYING is not set yet if the first engine came after the exit
		 * report.  DEAD is set in the same hold of the lock in which
		 * the word is read: utrace_add_late() adds DEATH before, or
		 * finds DEAD and refuses.
		 */
		u->flags |= UTRACE_TASK_DYING | UTRACE_TASK_DEAD;
	}

	if (wanted)
		utrace_death_pass(group_dead, utrace_death_signal(autoreap));

	scoped_guard(spinlock_irqsave, &u->lock)
		u->flags &= ~UTRACE_TASK_DYING;
	/* Flags and ->exit_state before waiters, see prepare_to_wait_event(). */
	smp_mb();
	wake_up_var(&u->flags);
	/* utrace_freeze() waits in vain for a stop. */
	wake_up_var(&u->hold);
}
