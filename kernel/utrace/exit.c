// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the end of a task: exit, death and reaping
 *
 * EXIT is reported in do_exit(), while the task still has its memory and files;
 * DEATH at the end of do_exit(), just before exit_notify() notifies the parent;
 * REAP in release_task(), by the reaper on behalf of the task.  So no reaper
 * waits for a report: a task can be reaped only after its DEATH pass.
 */
#include <linux/cgroup.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait_bit.h>

#include "builtin.h"
#include "detach.h"
#include "pass.h"
#include "renew.h"
#include "stop.h"

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

/*
 * Check whether SIGKILL, or the execve() of another thread, ends current.  If
 * so, no engine may hold the task.  siglock is held.
 */
static bool utrace_is_killed(void)
{
	struct signal_struct *sig = current->signal;

	lockdep_assert_held(&current->sighand->siglock);

	if (sig->group_exec_task && sig->group_exec_task != current)
		return true;
	return (sig->flags & SIGNAL_GROUP_EXIT) &&
	       (sig->group_exit_code & 0x7f) == SIGKILL;
}

/**
 * __utrace_mark_killed() - mark the current thread as killed with its process
 *
 * Called by get_signal() if a group exit or the execve() of another thread ends
 * the current thread.  Ends the present holds, as a group exit ends the stops
 * of ptrace(2), and reports the signal that killed the process unless that is
 * done.  SIGKILL and an execve() forbid further stops; otherwise the thread can
 * be held once more, at EXIT.
 *
 * Context: The task itself, with siglock held, which may be dropped and taken
 * again.  May sleep.
 */
void __utrace_mark_killed(void)
{
	int signr = current->signal->group_exit_code & 0x7f;
	struct utrace *u = current->utrace;

	if (u) {
		bool killed = utrace_is_killed();

		scoped_guard(spinlock_irqsave, &u->lock) {
			u->hold = 0;
			if (killed)
				u->flags |= UTRACE_TASK_KILLED;
		}
		/* The task does not stop again before its exit. */
		utrace_wake_freeze_waiters(current);
	}
	if (!(current->signal->flags & UTRACE_GROUP_UNREPORTED) ||
	    !(current->utrace_events & UTRACE_EVENT(SIGNAL_TERM)))
		return;
	spin_unlock_irq(&current->sighand->siglock);
	if (unlikely(cgroup_task_frozen(current)))
		cgroup_leave_frozen(true);
	utrace_report_killer(signr);
	spin_lock_irq(&current->sighand->siglock);
}

/**
 * utrace_superseded_by() - find the thread whose execve(2) replaces current
 *
 * If a thread that is not the leader of its process calls execve(2), all other
 * threads exit, and the thread gets the pid of the leader.
 *
 * Context: The EXIT report of current.  Takes siglock.
 * Return: the pid of this thread before that, counted; NULL if there is no such
 * thread or current is not the leader.
 */
struct pid *utrace_superseded_by(void)
{
	struct signal_struct *sig = current->signal;

	if (!thread_group_leader(current))
		return NULL;
	/*
	 * The thread clears ->group_exec_task before it can exit.  It gives up
	 * if a signal ends the process.
	 */
	guard(spinlock_irq)(&current->sighand->siglock);
	if (!sig->group_exec_task || sig->flags & SIGNAL_GROUP_EXIT)
		return NULL;
	return get_pid(task_pid(sig->group_exec_task));
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
				  utrace_take_unpaired(u, at.engine, at.slot),
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
 * __utrace_report_exit() - report EXIT
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
	unsigned long last = UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH) |
			     UTRACE_EVENT(REAP);
	struct utrace *u;
	bool killed;

	/* For utrace_report_killer(). */
	if (READ_ONCE(current->signal->flags) & UTRACE_GROUP_UNREPORTED)
		last |= UTRACE_EVENT(SIGNAL_TERM);
	/* A bare task needs a struct utrace only if one of @last is wanted. */
	if (!current->utrace &&
	    (!(current->utrace_events & last) || !utrace_adopt(last)))
		return code;
	u = current->utrace;
	/* A callback oopsed, and the task exits in the midst of its pass. */
	if (unlikely(u->pinned))
		utrace_unpin(u);
	/* A callback of the EXIT pass oopsed: do not call it again. */
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_DYING))
		return code;
	scoped_guard(spinlock_irq, &current->sighand->siglock)
		killed = utrace_is_killed();
	scoped_guard(spinlock_irqsave, &u->lock) {
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
	/* The last chance of utrace_ask(): later there is no mm. */
	if (current->utrace_events & UTRACE_WORD_RENEW)
		utrace_renew();
	if (current->utrace_events & UTRACE_EVENT(EXIT))
		code = utrace_exit_pass(u, code);
	return code;
}

/*
 * Call one engine in the REAP pass.  utrace_membarrier() may skip the CPU of
 * the reaper, whose own set need not contain the engine.  So the REAP pass has
 * full barriers where a pass of the task itself has compiler barriers.
 */
static void utrace_reap_call(struct task_struct *task, struct utrace *u,
			     struct utrace_engine *engine)
{
	u64 since;

	/*
	 * Set ->now before reading the flags of the task and of the engine;
	 * pairs with utrace_membarrier().
	 */
	smp_store_mb(u->now, engine);
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_WAITER))
		utrace_callback_done(u);
	if (!(READ_ONCE(engine->flags) & UTRACE_EVENT(REAP)) ||
	    !engine->ops->report_reap)
		return;
	since = utrace_time();
	engine->ops->report_reap(engine, task);
	utrace_account(engine, since);
}

/*
 * Call the engines of @set that want REAP now: the task has no later event at
 * which it could renew the set.  Then end the engines whose scope contains no
 * task any longer.  The leader is the last thread of a process that is reaped.
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
	/*
	 * Before utrace_reap_end() reads u->flags; pairs with
	 * utrace_membarrier().
	 */
	smp_store_mb(u->now, NULL);
	utrace_set_for_each(set, UTRACE_LIST_ALL, at) {
		unsigned int scope = utrace_engine_state(at.engine) &
				     UTRACE_STATE_SCOPE;

		if (!scope || (scope == UTRACE_STATE_PROCESS && last))
			utrace_engine_end(at.engine);
	}
}

/*
 * End the REAP pass: clear the task's set, leave the domain, unpin the set, and
 * wake barriers that wait for the pass.
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
	/*
	 * Clear ->pinned before reading the flags; pairs with
	 * utrace_membarrier().
	 */
	smp_store_mb(u->pinned, NULL);
	if (READ_ONCE(u->flags) & (UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER))
		utrace_callback_done(u);
}

/*
 * Claim a dead task, run its REAP pass and drop its set.
 *
 * From REAPED on the task gets no other set.  The reaper pins the set for the
 * task, which stays a member of its domain until the pass is over, so that a
 * barrier or a detach finds the task and sees that a callback may be running.
 */
static void utrace_reap(struct task_struct *task, struct utrace *u)
{
	struct utrace_set *set;

	scoped_guard(spinlock_irqsave, &u->lock) {
		u->flags |= UTRACE_TASK_REAPED;
		u->hold = 0;
		u->reaper = current;
		set = task->utrace_set;
		/*
		 * Pin before reading engines' flags; pairs with
		 * utrace_membarrier().
		 */
		smp_store_mb(u->pinned, set);
		WRITE_ONCE(task->utrace_events, 0);
	}
	if (set)
		utrace_report_reap(task, u, set);
	utrace_reap_end(task, u);
	utrace_set_put(set);
}

/**
 * __utrace_release_task() - report REAP
 * @task: the task
 *
 * Context: The reaper, in release_task(); may sleep.  No locks are held but
 * those that @report_reap of struct utrace_engine_ops names.
 */
void __utrace_release_task(struct task_struct *task)
{
	/* Memory reclaim may wait for a kernel thread that reaps @task. */
	unsigned int noio = memalloc_noio_save();

	utrace_reap(task, task->utrace);
	memalloc_noio_restore(noio);
}

/**
 * utrace_parent_ignores() - check whether a task leaves no zombie
 * @task: the leader of a process, not reaped yet
 *
 * As in do_notify_parent(), for a task that ptrace(2) does not trace.
 *
 * Context: Any but NMI.  Takes siglock of the parent.
 * Return: true if the parent ignores the SIGCHLD of its children.
 */
bool utrace_parent_ignores(struct task_struct *task)
{
	struct task_struct *parent;
	const struct sigaction *sa;
	unsigned long flags;
	bool ignores;

	if (task->exit_signal != SIGCHLD)
		return false;
	guard(rcu)();
	parent = rcu_dereference(task->real_parent);
	if (!lock_task_sighand(parent, &flags))
		return false;
	sa = &unrcu_pointer(parent->sighand)->action[SIGCHLD - 1].sa;
	ignores = sa->sa_handler == SIG_IGN || sa->sa_flags & SA_NOCLDWAIT;
	unlock_task_sighand(parent, &flags);
	return ignores;
}

/* The @signal of report_death for the current task, by its present state. */
static int utrace_death_signal(void)
{
	if (!thread_group_leader(current))
		return -1;
	if (delay_group_leader(current))
		return -2;
	if (!current->ptrace && utrace_parent_ignores(current))
		return -1;
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
 * __utrace_report_death() - report DEATH
 * @group_dead: the task is the last thread of its process
 *
 * Context: The task itself, in do_exit(), no locks held.  May sleep.
 */
void __utrace_report_death(bool group_dead)
{
	struct utrace *u = current->utrace;
	bool wanted;

	scoped_guard(spinlock_irqsave, &u->lock) {
		wanted = current->utrace_events & UTRACE_EVENT(DEATH);
		/*
		 * DYING is not set yet if the first engine was attached after
		 * the exit report.  DEAD is set in the same hold of the lock in
		 * which the word is read: utrace_add_late() adds DEATH before,
		 * or finds DEAD and refuses.
		 */
		u->flags |= UTRACE_TASK_DYING | UTRACE_TASK_DEAD;
	}

	if (wanted)
		utrace_death_pass(group_dead, utrace_death_signal());

	scoped_guard(spinlock_irqsave, &u->lock)
		u->flags &= ~UTRACE_TASK_DYING;
	/* Set DEAD before checking for waiters, see prepare_to_wait_event(). */
	smp_mb();
	/* From here on utrace_freeze() must not wait for a stop. */
	wake_up_var(&u->hold);
}
