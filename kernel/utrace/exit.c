// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the end of a task: exit, death and reaping
 *
 * EXIT is reported while everything of the task is still there, DEATH once the
 * parent may know, and REAP when the task is gone for good.  The parent may reap
 * a task that still reports its death; release_task() then waits.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait_bit.h>

#include "internal.h"

/* wait() tells the status of a group exit, not that of the thread. */
static void utrace_change_group_code(long old, long new)
{
	struct signal_struct *sig = current->signal;

	guard(spinlock_irq)(&current->sighand->siglock);
	if ((sig->flags & SIGNAL_GROUP_EXIT) && sig->group_exit_code == old)
		sig->group_exit_code = new;
}

/* Dies by SIGKILL, or for another thread's execve(): not to be kept waiting. */
static bool utrace_is_killed(void)
{
	struct signal_struct *sig = current->signal;

	guard(spinlock_irq)(&current->sighand->siglock);
	if (sig->group_exec_task && sig->group_exec_task != current)
		return true;
	return (sig->flags & SIGNAL_GROUP_EXIT) &&
	       (sig->group_exit_code & 0x7f) == SIGKILL;
}

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

long __utrace_report_exit(long code)
{
	const unsigned long last = UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH) |
				   UTRACE_EVENT(REAP);
	bool killed = utrace_is_killed();
	struct utrace *u;

	/* For what is still to come of it; or nobody is interested. */
	if (!current->utrace &&
	    (!(current->utrace_events & last) || !utrace_adopt(last)))
		return code;
	u = current->utrace;
	/* A callback died of an oops in the middle of its pass. */
	if (unlikely(u->pinned))
		utrace_unpin(u);
	/* That oops brings the task here again, and would do so for ever. */
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_DYING))
		return code;
	scoped_guard(spinlock_irqsave, &u->lock) {
		/* Until the death report is done. */
		u->flags |= UTRACE_TASK_DYING;
		if (killed)
			u->flags |= UTRACE_TASK_KILLED;
	}
	/* A thread that exits by itself while a signal kills its process. */
	if (current->utrace_events & UTRACE_EVENT(SIGNAL_TERM))
		utrace_report_killer(code & 0x7f);
	/* As long as matches can be asked. */
	if (current->utrace_events & UTRACE_WORD_REBUILD)
		utrace_renew();
	if (current->utrace_events & UTRACE_EVENT(EXIT))
		code = utrace_exit_pass(u, code);
	return code;
}

/*
 * The reaper may be a task that nobody traces, which utrace_heavy() passes over, so
 * it has full barriers of its own where a task has none.
 */
static void utrace_reap_call(struct task_struct *task, struct utrace *u,
			     struct utrace_engine *engine)
{
	u64 since;

	smp_store_mb(u->now, engine); /* Before the flags of both. */
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_WAITER))
		utrace_told(u);
	if (!(READ_ONCE(engine->flags) & UTRACE_EVENT(REAP)) ||
	    !engine->ops->report_reap)
		return;
	since = utrace_time();
	engine->ops->report_reap(engine, task);
	utrace_account(engine, since);
}

/* By what the engines want now: there is no later event to renew the set at. */
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
	smp_store_mb(u->now, NULL); /* Before a look at the flags. */
	utrace_set_for_each(set, UTRACE_LIST_ALL, at) {
		unsigned int scope = utrace_engine_state(at.engine) &
				     UTRACE_STATE_SCOPE;

		if (!scope || (scope == UTRACE_STATE_PROCESS && last))
			utrace_engine_end(at.engine);
	}
}

/* The pass is over: the task has no set any more, and is no member. */
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
	smp_store_mb(u->pinned, NULL); /* Before a look at the flags. */
	if (READ_ONCE(u->flags) & (UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER))
		utrace_told(u);
}

/*
 * Drop all engines of a task that is gone for good.  The reaper runs the pass
 * in the task's place, with the set pinned so that barriers wait for it; the
 * task is still where they look, and its engines are its members until then.
 * False if the task has begun to report its death.
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
		smp_store_mb(u->pinned, set); /* Before what is read of it. */
		WRITE_ONCE(task->utrace_events, 0);
	}
	if (set)
		utrace_report_reap(task, u, set);
	utrace_reap_end(task, u);
	utrace_set_put(set);
	return true;
}

/*
 * Nobody hears of the reaping before the death report is over, and while it
 * runs the task must stay where barriers look for it.  Callbacks do not wait
 * for user space, so this ends.
 */
void __utrace_release_task(struct task_struct *task)
{
	/* The reaper may be a kernel thread that memory waits for. */
	unsigned int noio = memalloc_noio_save();
	struct utrace *u = task->utrace;

	do {
		wait_var_event(&u->flags,
			       !(READ_ONCE(u->flags) & UTRACE_TASK_DYING));
	} while (!utrace_reap(task, u));
	memalloc_noio_restore(noio);
}

/* What the parent of the current, dead task is sent. */
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
	/* Nothing can follow for this task: the answers have no effect. */
	utrace_pass_leave(&pass);
}

void __utrace_report_death(bool group_dead, bool autoreap)
{
	struct utrace *u = current->utrace;
	bool wanted;

	scoped_guard(spinlock_irqsave, &u->lock) {
		wanted = !(u->flags & UTRACE_TASK_REAPED) &&
			 (current->utrace_events & UTRACE_EVENT(DEATH));
		/*
		 * DYING is missing if the first engine came after the exit
		 * report.  From DEAD on it is too late to ask for DEATH, see
		 * utrace_add_late().
		 */
		u->flags |= UTRACE_TASK_DYING | UTRACE_TASK_DEAD;
	}

	if (wanted)
		utrace_death_pass(group_dead, utrace_death_signal(autoreap));

	scoped_guard(spinlock_irqsave, &u->lock)
		u->flags &= ~UTRACE_TASK_DYING;
	smp_mb(); /* Pairs with the one in prepare_to_wait_event(). */
	wake_up_var(&u->flags);
}
