// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - barriers: finding running callbacks and waiting for them
 *
 * Before a task reads the flags of an engine, it stores the engine in
 * utrace::now; after the callback it stores another engine or NULL.  In a fast
 * pass over one engine, the pin replaces ->now.  A function that removes events
 * or detaches the engine, and then calls utrace_membarrier(), finds every task
 * that may still be in a callback that began because of the old flags:
 *
 *	task				other task
 *	now = engine			engine->flags = fewer
 *	(compiler barrier)		utrace_membarrier()
 *	engine->flags?			now == engine?
 *
 * To wait for the end, the other task sets UTRACE_TASK_WAITER, calls
 * utrace_membarrier() again and checks once more.  If the task is still in the
 * callback then, it sees WAITER when it leaves the callback, before it enters
 * the next one (utrace_callback_done()).  tools/models checks this protocol.
 */
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait_bit.h>

#include "barrier.h"
#include "detach.h"
#include "engine.h"
#include "publish.h"
#include "scope.h"
#include "set.h"

/**
 * utrace_task_in_callback() - check whether a task may be in a callback
 * @engine: the engine
 * @task: the task
 * @u: struct utrace of @task
 *
 * Context: @u->lock is held.
 * Return:
 * * true - @task may be in a callback of @engine, or was a moment ago
 * * false - after utrace_membarrier(): @task is in no callback of @engine that
 *   began because of flags which the caller replaced before that call.  Without
 *   it the stores of @task may not be visible yet
 */
static bool utrace_task_in_callback(struct utrace_engine *engine,
				    struct task_struct *task, struct utrace *u)
{
	struct utrace_set *set = READ_ONCE(u->pinned);
	struct utrace_engine *now;

	lockdep_assert_held(&u->lock);

	/* utrace_pin() is about to replace the pin of any other set. */
	if (!set || (set != task->utrace_set && set != u->deferred))
		return false;
	/* A fast pass over a list with one engine leaves ->now NULL. */
	now = READ_ONCE(u->now);
	if (now || !(set->events & UTRACE_WORD_FAST))
		return now == engine;
	return set->sole_entry == engine || set->sole_exit == engine;
}

/*
 * Check whether current is the task, or the reaper that runs its REAP pass.
 * @u->lock is held.
 */
static bool utrace_is_own(struct task_struct *task, struct utrace *u)
{
	return (u->reaper ?: task) == current;
}

/*
 * Set *@arg if a task other than current may be in a callback.  Called after
 * utrace_membarrier().
 */
static unsigned int utrace_check_callback(struct utrace_engine *engine,
					  struct task_struct *task,
					  struct utrace *u, u64 bit, void *arg)
{
	if (!utrace_is_own(task, u) && utrace_task_in_callback(engine, task, u))
		*(bool *)arg = true;
	return 0;
}

/*
 * Set *@arg if there is a task other than current.  Called without
 * utrace_membarrier(): the stores of a pass may not be visible yet, so any such
 * task may be in a callback.
 */
static unsigned int utrace_check_other(struct utrace_engine *engine,
				       struct task_struct *task,
				       struct utrace *u, u64 bit, void *arg)
{
	/* The stores of a reaper are visible, since it has full barriers. */
	if (!utrace_is_own(task, u) &&
	    (!u->reaper || utrace_task_in_callback(engine, task, u)))
		*(bool *)arg = true;
	return 0;
}

/**
 * utrace_is_running() - check whether callbacks for removed events may run
 * @engine: the engine, from whose flags the caller has removed events; the
 *	caller has a reference, or is a callback of it
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock for a system
 * engine.
 * Return:
 * * true - a callback may be running in another task.  A caller that cannot
 *   wait for other CPUs gets true if the engine has a task other than current
 * * false - no callback for the removed events is running in another task
 */
bool utrace_is_running(struct utrace_engine *engine)
{
	bool running = false;

	if (!IS_ENABLED(CONFIG_SMP) || preemptible()) {
		utrace_membarrier(engine);
		utrace_visit_tasks(engine, utrace_check_callback, &running);
	} else {
		smp_mb(); /* The flags before ->pinned and ->now of reapers. */
		utrace_visit_tasks(engine, utrace_check_other, &running);
	}
	return running;
}

/* Counting the tasks in callbacks at a detach */

/**
 * struct utrace_count - result of a walk over the tasks of a detached engine
 * @drop: engines that were taken from utrace::left of a task; the caller drops
 *	a count in utrace_engine_info::core of each
 * @n: number of elements of @drop
 * @any: at least one task was in a callback
 * @again: @drop was full, so another walk is needed
 * @back: number of counts of the engine that were taken back from tasks
 *
 * On the stack of utrace_count_callbacks(); filled in under utrace->lock of
 * each task.
 */
struct utrace_count {
	struct utrace_engine *drop[8];
	unsigned int n;
	bool any;
	bool again;
	unsigned int back;
};

/*
 * First walk: if a task may be in a callback, store the engine in ->left with a
 * count, which utrace_callback_done() drops when the callback ends.
 */
static unsigned int utrace_give_count(struct utrace_engine *engine,
				      struct task_struct *task,
				      struct utrace *u, u64 bit, void *arg)
{
	struct utrace_count *count = arg;

	if (!utrace_task_in_callback(engine, task, u) || u->left == engine)
		return 0;
	if (u->left && count->n == ARRAY_SIZE(count->drop)) {
		count->again = true;
		return 0;
	}
	/*
	 * A task is in one callback at a time, so the callback of the engine in
	 * ->left is over.  Drop its count in place of utrace_callback_done().
	 */
	if (u->left)
		count->drop[count->n++] = u->left;
	u->left = utrace_core_tryget(engine) ? engine : NULL;
	u->flags |= UTRACE_TASK_WAITER;
	count->any = true;
	return 0;
}

/*
 * Second walk: a task that is still in the callback after another
 * utrace_membarrier() sees WAITER when it leaves.  A task that has left may
 * have missed WAITER, so its count is taken back.
 */
static unsigned int utrace_take_count(struct utrace_engine *engine,
				      struct task_struct *task,
				      struct utrace *u, u64 bit, void *arg)
{
	struct utrace_count *count = arg;

	if (u->left == engine && !utrace_task_in_callback(engine, task, u)) {
		u->left = NULL;
		count->back++;
	}
	return 0;
}

/**
 * utrace_count_callbacks() - count the running callbacks of a detached engine
 * @engine: the engine, which is still in the domains of its tasks; the caller
 *	has a count in utrace_engine_info::core
 *
 * Adds one count to utrace_engine_info::core for each task that is in a
 * callback of the engine; the task drops the count when the callback ends.  So
 * core becomes 0 no earlier than the end of the last of these callbacks.
 *
 * Context: Process context, no spinlock held.  Takes tasklist_lock for a system
 * engine.
 */
void utrace_count_callbacks(struct utrace_engine *engine)
{
	struct utrace_count count = {};

	/* After a failed attach there are no callbacks: no event was set. */
	if (utrace_engine_state(engine) & UTRACE_STATE_UNBORN)
		return;
	utrace_membarrier(engine);
	do {
		count.again = false;
		utrace_visit_tasks(engine, utrace_give_count, &count);
		while (count.n)
			utrace_core_put(count.drop[--count.n]);
	} while (count.again);
	if (!count.any)
		return;
	utrace_membarrier(engine);
	utrace_visit_tasks(engine, utrace_take_count, &count);
	while (count.back--)
		utrace_core_put(engine);
}

/* Barriers */

/**
 * struct utrace_wait - state of a barrier
 * @state: how the caller sleeps, TASK_*
 * @own: the caller is in a callback of the engine
 * @any: another task was in a callback of the engine
 * @deadlock: the caller is in a callback, and would wait for a task that waits
 *	in a barrier in a callback
 * @callback: the caller is in a callback of any engine
 * @task: the task to wait for, with a reference; or NULL
 * @passes: utrace::passes of @task when it was found
 *
 * On the stack of the caller; filled in under utrace->lock of each task.
 */
struct utrace_wait {
	unsigned int state;
	bool own;
	bool any;
	bool deadlock;
	bool callback;
	struct task_struct *task;
	u32 passes;
};

/* First walk: set WAITER for tasks in a callback of the engine. */
static unsigned int utrace_wait_mark(struct utrace_engine *engine,
				     struct task_struct *task,
				     struct utrace *u, u64 bit, void *arg)
{
	struct utrace_wait *wait = arg;

	if (!utrace_task_in_callback(engine, task, u))
		return 0;
	if (utrace_is_own(task, u)) {
		wait->own = true;
		return 0;
	}
	u->flags |= UTRACE_TASK_WAITER;
	wait->any = true;
	if (wait->callback && u->flags & UTRACE_TASK_WAITS)
		wait->deadlock = true;
	return 0;
}

/* Later walks: find a task with WAITER that is still in the callback. */
static unsigned int utrace_wait_find(struct utrace_engine *engine,
				     struct task_struct *task,
				     struct utrace *u, u64 bit, void *arg)
{
	struct utrace_wait *wait = arg;

	if (wait->task || utrace_is_own(task, u) ||
	    !(u->flags & UTRACE_TASK_WAITER) ||
	    !utrace_task_in_callback(engine, task, u))
		return 0;
	wait->passes = u->passes;
	wait->task = get_task_struct(task);
	return 0;
}

/*
 * Sleep until @condition is true; whoever makes it true calls
 * wake_up_var(@var).  The value is 0, or -ERESTARTSYS or -EINTR according to
 * @wait_state.
 */
#define utrace_wait_var(wait_state, var, condition)			\
({									\
	int __ret = 0;							\
									\
	if ((wait_state) == TASK_INTERRUPTIBLE)				\
		__ret = wait_var_event_interruptible(var, condition);	\
	else if ((wait_state) == TASK_KILLABLE)				\
		__ret = wait_var_event_killable(var, condition) ?	\
			-EINTR : 0;					\
	else								\
		wait_var_event(var, condition);				\
	__ret;								\
})

/*
 * Check whether the task is still in the callback.  WAITER may be that of
 * another barrier, set when the task had already left but its stores were not
 * visible yet; utrace_membarrier() makes them visible.
 */
static bool utrace_wait_confirm(struct utrace_engine *engine,
				struct utrace_wait *wait)
{
	struct utrace *u = wait->task->utrace;

	utrace_membarrier(engine);
	guard(spinlock_irqsave)(&u->lock);
	return u->passes == wait->passes &&
	       utrace_task_in_callback(engine, wait->task, u);
}

static bool utrace_wait_over(struct utrace_wait *wait)
{
	/* Number before stores; pairs with utrace_callback_done(). */
	return smp_load_acquire(&wait->task->utrace->passes) != wait->passes;
}

/*
 * Wait for the callbacks that are running now, not for later ones of a busy
 * task: the first walk sets WAITER, which is cleared at the end of the
 * callback.  Returns 0, -EDEADLK or the error of utrace_wait_var().
 */
static int utrace_wait_callbacks(struct utrace_engine *engine,
				 struct utrace_wait *wait)
{
	int ret = 0;

	utrace_membarrier(engine);
	utrace_visit_tasks(engine, utrace_wait_mark, wait);
	if (wait->deadlock)
		return -EDEADLK;
	if (!wait->any)
		return 0;
	while (!ret) {
		u32 *passes;

		wait->task = NULL;
		utrace_visit_tasks(engine, utrace_wait_find, wait);
		if (!wait->task)
			break;
		passes = &wait->task->utrace->passes;
		if (utrace_wait_confirm(engine, wait))
			ret = utrace_wait_var(wait->state, passes,
					      utrace_wait_over(wait));
		put_task_struct(wait->task);
	}
	return ret;
}

/* Wait until the core has dropped all references to a detached engine. */
static int utrace_wait_gone(struct utrace_engine *engine, unsigned int state)
{
	return utrace_wait_var(state, &engine->info->core,
			       utrace_core_gone(engine));
}

/**
 * utrace_in_callback() - check whether current is in a callback
 *
 * Context: Process context.
 * Return:
 * * true - current has a set pinned
 * * false - current has no set pinned, also in the REAP pass of another task
 */
bool utrace_in_callback(void)
{
	return current->utrace && READ_ONCE(current->utrace->pinned);
}

/* Set or clear UTRACE_TASK_WAITS: current waits in a barrier in a callback. */
static void utrace_mark_waits(bool waits)
{
	struct utrace *u = current->utrace;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (waits)
			u->flags |= UTRACE_TASK_WAITS;
		else
			u->flags &= ~UTRACE_TASK_WAITS;
	}
	/*
	 * The store of this flag before the loads of other tasks' flags in
	 * utrace_wait_mark().  If two callbacks wait for each other, at least
	 * one of them sees the flag of the other.
	 */
	smp_mb();
}

/*
 * Wait until the core drops its references to a detached engine.  The tasks in
 * its callbacks can no longer be found, and one of them may wait for the
 * callback that calls this, so a callback must not wait here.
 */
static int utrace_wait_detached(struct utrace_engine *engine,
				struct utrace_wait *wait)
{
	if (!utrace_engine_detached(engine) || utrace_core_gone(engine))
		return 0;
	/* The caller's own callback keeps one count until it returns. */
	if (wait->own)
		return atomic_read(&engine->info->core) == 1 ? 0 : -EDEADLK;
	return wait->callback ? -EDEADLK :
				utrace_wait_gone(engine, wait->state);
}

/* Common part of the barriers.  The caller sleeps in @state. */
static int utrace_do_barrier(struct utrace_engine *engine, unsigned int state)
{
	struct utrace_wait wait = {
		.state = state,
		.callback = utrace_in_callback(),
	};
	bool gone;
	int ret;

	might_sleep();
	if (wait.callback) {
		utrace_mark_waits(true);
		scoped_guard(spinlock_irqsave, &current->utrace->lock)
			wait.own = utrace_task_in_callback(engine, current,
							   current->utrace);
	}
	gone = utrace_engine_detached(engine) && utrace_core_gone(engine);
	ret = gone ? 0 : utrace_wait_callbacks(engine, &wait);
	/*
	 * utrace_finish_detach() cannot be interrupted by a signal.  So outside
	 * of a callback, an interruptible caller leaves it to the work item.
	 */
	if (wait.callback || state == TASK_UNINTERRUPTIBLE)
		utrace_finish_detach(engine);
	if (!ret)
		ret = utrace_wait_detached(engine, &wait);
	if (wait.callback)
		utrace_mark_waits(false);
	return ret ?: gone ? -ESRCH : 0;
}

/**
 * utrace_barrier() - wait for running callbacks of an engine
 * @target: not used; may be stale
 * @engine: the engine; the caller has a reference
 *
 * Waits for the callbacks of this engine that are running now in tasks other
 * than current.
 *
 * After a detach, and once this has returned 0 or -ESRCH, no callback of the
 * engine runs or will run in another task, and the core has no reference to the
 * engine except that of the caller's own callback.  Only ->release() is still
 * to be called, by the last utrace_engine_put().
 *
 * The caller must not hold a lock that one of the callbacks takes.  A callback
 * may call this for another engine.  The call fails with -EDEADLK if the wait
 * could last forever: a task in a callback of that engine is in a barrier too,
 * or the engine is detached and a callback of it is running.
 *
 * Context: Process context, sleeps.  Takes tasklist_lock for a system engine,
 * and utrace_change_mutex if the caller is in a callback.
 * Return:
 * * 0 - all callbacks that were running have ended
 * * -ESRCH - all callbacks have ended, and the detach was complete before the
 *   call
 * * -ERESTARTSYS - a signal has ended the wait
 * * -EDEADLK - the caller is in a callback, and the wait could last forever
 */
int utrace_barrier(struct task_struct *target, struct utrace_engine *engine)
{
	return utrace_do_barrier(engine, TASK_INTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(utrace_barrier);

/**
 * utrace_barrier_killable() - utrace_barrier() that only SIGKILL interrupts
 * @engine: the engine; the caller has a reference
 *
 * For clients that serve user space.
 *
 * Context: As utrace_barrier().
 * Return:
 * * 0 - all callbacks that were running have ended
 * * -ESRCH - all callbacks have ended, and the detach was complete before the
 *   call
 * * -EINTR - the caller has a fatal signal pending
 * * -EDEADLK - the caller is in a callback, and the wait could last forever
 */
int utrace_barrier_killable(struct utrace_engine *engine)
{
	return utrace_do_barrier(engine, TASK_KILLABLE);
}
EXPORT_SYMBOL_GPL(utrace_barrier_killable);

/**
 * utrace_barrier_sync() - utrace_barrier() that does not fail
 * @engine: the engine; the caller has a reference
 *
 * For module_exit().  No signal ends the wait.  The wait is finite, since
 * callbacks do not wait for user space.  In a callback the function warns and
 * does not wait.
 *
 * Context: Process context, sleeps.  Not in a callback.  Takes
 * utrace_change_mutex, and tasklist_lock for a system engine.
 */
void utrace_barrier_sync(struct utrace_engine *engine)
{
	if (!WARN_ON_ONCE(utrace_in_callback()))
		utrace_do_barrier(engine, TASK_UNINTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(utrace_barrier_sync);

/**
 * utrace_engine_shutdown() - detach an engine, wait, and drop the reference
 * @engine: the engine; the call consumes the caller's reference
 *
 * For module_exit(), which calls this for each engine of the module, also if
 * all its tasks are dead or it is already detached.  When this returns, no
 * callback of the engine runs.
 *
 * The caller must not hold a lock that one of the callbacks takes.  In a
 * callback the function warns and does not wait.
 *
 * Context: As utrace_barrier_sync().
 */
void utrace_engine_shutdown(struct utrace_engine *engine)
{
	utrace_detach_now(engine);
	utrace_barrier_sync(engine);
	utrace_engine_put(engine);
}
EXPORT_SYMBOL_GPL(utrace_engine_shutdown);
