// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - barriers: which callback a task is in, and waiting for its end
 *
 * A task writes the engine to utrace::now before it reads what the engine
 * wants, and writes another one or NULL after the callback; a fast pass over
 * one engine has the pin instead.  A function that took events away, or
 * detached the engine, and then called utrace_membarrier() finds every task that may
 * still be in a callback because of what the engine wanted before:
 *
 *	task				other task
 *	now = engine			engine->flags = fewer
 *	(compiler barrier)		utrace_membarrier()
 *	engine->flags?			now == engine?
 *
 * To hear of the end, the other task sets UTRACE_TASK_WAITER, calls
 * utrace_membarrier() again and looks once more.  A task that is still in the
 * callback then sees WAITER when it leaves, before it enters the next one
 * (utrace_callback_done()).  tools/models checks this protocol.
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
 * utrace_task_in_callback() - may a task be in a callback of an engine?
 * @engine: the engine
 * @task: the task
 * @u: struct utrace of @task
 *
 * After utrace_membarrier(), false means that the task is in no callback that began
 * because of what the engine wanted before.
 *
 * Context: @u->lock is held.
 * Return:
 * * true - @task may be in a callback of @engine, or was a moment ago
 * * false - @task is in none
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

/* With @u->lock held: does current, the task or its reaper, run this pass? */
static bool utrace_is_own(struct task_struct *task, struct utrace *u)
{
	return (u->reaper ?: task) == current;
}

/* Called after utrace_membarrier(): is a task other than current in a callback? */
static unsigned int utrace_check_callback(struct utrace_engine *engine,
					  struct task_struct *task,
					  struct utrace *u, u64 bit, void *arg)
{
	if (!utrace_is_own(task, u) && utrace_task_in_callback(engine, task, u))
		*(bool *)arg = true;
	return 0;
}

/*
 * Called without utrace_membarrier(): the stores of a pass may not be visible yet,
 * so each task other than current counts as being in a callback.
 */
static unsigned int utrace_check_other(struct utrace_engine *engine,
				       struct task_struct *task,
				       struct utrace *u, u64 bit, void *arg)
{
	/* The stores of a reaper are visible: it has full barriers. */
	if (!utrace_is_own(task, u) &&
	    (!u->reaper || utrace_task_in_callback(engine, task, u)))
		*(bool *)arg = true;
	return 0;
}

/**
 * utrace_is_running() - may a callback run because of former events?
 * @engine: the engine, from whose flags the caller has taken events; the caller
 *	has a reference, or is a callback of it
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock for an engine of
 * the system.
 * Return:
 * * true - a callback may be running in another task.  A caller that cannot
 *   wait for other CPUs gets true if the engine has a task other than current
 * * false - no callback that began because of the former events is running in
 *   another task
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
 * struct utrace_count - what a walk over the tasks of a detached engine counts
 * @drop: engines whose count was still in utrace::left of a task; a reference
 *	of the core to each is to be dropped
 * @n: number of elements of @drop
 * @any: at least one task was in a callback
 * @again: @drop was full, so that another walk is needed
 * @back: number of counts of the engine that were taken back from tasks
 *
 * On the stack of utrace_count_callbacks(); filled in under utrace->lock of each
 * task.
 */
struct utrace_count {
	struct utrace_engine *drop[8];
	unsigned int n;
	bool any;
	bool again;
	unsigned int back;
};

/*
 * First walk: give a task that may be in a callback a count of the engine in
 * ->left, which utrace_callback_done() drops when the callback ends.
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
	 * The callback that ->left counts is over, as a task is in one at a
	 * time.  Its count is dropped here in place of utrace_callback_done().
	 */
	if (u->left)
		count->drop[count->n++] = u->left;
	u->left = utrace_core_tryget(engine) ? engine : NULL;
	u->flags |= UTRACE_TASK_WAITER;
	count->any = true;
	return 0;
}

/*
 * Second walk: a task that is still inside after another utrace_membarrier() sees
 * WAITER when it leaves.  One that has left may have missed WAITER, so its
 * count is taken back.
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
 * @engine: the engine, whose tasks still have their domains; the caller has a
 *	count in utrace_engine_info::core
 *
 * Adds to utrace_engine_info::core one count for each task that is in a
 * callback of the engine; the task drops the count when the callback ends.  So
 * core becomes 0 with the last of these callbacks, at the earliest.
 *
 * Context: Process context, no spinlock held.  Takes tasklist_lock for an
 * engine of the system.
 */
void utrace_count_callbacks(struct utrace_engine *engine)
{
	struct utrace_count count = {};

	/* After a failed attach there are no callbacks: it wanted no event. */
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
 * struct utrace_wait - state of the wait in a barrier
 * @state: how the caller sleeps, TASK_*
 * @own: the caller is in a callback of the engine itself
 * @any: another task was in a callback of the engine
 * @deadlock: the caller is in a callback, and so is a task that it would wait
 *	for and that waits in a barrier
 * @callback: the caller is in a callback, of whatever engine
 * @task: the task that is waited for, with a reference; or NULL
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

/* First walk: mark the tasks in a callback of the engine with WAITER. */
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

/* Later walks: find one task that is still in a callback that was marked. */
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
 * Sleep until @condition is true, which wake_up_var(@var) is called for.  The
 * value is 0, -ERESTARTSYS or -EINTR, as @wait_state says.
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
 * Is the task that was found still in that callback?  WAITER may have been set
 * by another barrier when the task had left already, and the store by which it
 * left was not visible yet; utrace_membarrier() makes it visible.
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
	/* The number before what the callback did; pairs with utrace_callback_done(). */
	return smp_load_acquire(&wait->task->utrace->passes) != wait->passes;
}

/*
 * Wait for the callbacks that run now, and not for those that follow on a busy
 * task: the first walk marks the tasks, and the mark ends with the callback.
 * Returns 0, -EDEADLK or the error of utrace_wait_var().
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

/* Wait until the core has no reference to a detached engine any more. */
static int utrace_wait_gone(struct utrace_engine *engine, unsigned int state)
{
	return utrace_wait_var(state, &engine->info->core,
			       utrace_core_gone(engine));
}

/**
 * utrace_in_callback() - is the caller in a callback?
 *
 * Context: Process context.
 * Return:
 * * true - current has a set pinned
 * * false - it has none, or is the reaper of another task and in its pass
 */
bool utrace_in_callback(void)
{
	return current->utrace && READ_ONCE(current->utrace->pinned);
}

/* Say that a callback of current waits in a barrier, or no longer does. */
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
	 * The own flag before those of other tasks in utrace_wait_mark().  Of
	 * two callbacks that wait for each other, both of which run this, at
	 * least one sees the flag of the other.
	 */
	smp_mb();
}

/*
 * Wait for the core's references to a detached engine.  The tasks of its
 * callbacks cannot be found any more, and one of them may wait for the callback
 * that calls this: a callback does not wait here.
 */
static int utrace_wait_detached(struct utrace_engine *engine,
				struct utrace_wait *wait)
{
	if (!utrace_engine_detached(engine) || utrace_core_gone(engine))
		return 0;
	/* The caller's own callback has one count until it returns. */
	if (wait->own)
		return atomic_read(&engine->info->core) == 1 ? 0 : -EDEADLK;
	return wait->callback ? -EDEADLK :
				utrace_wait_gone(engine, wait->state);
}

/* The barriers: @state says how the caller sleeps. */
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
	 * Outside of a callback, a caller whose wait a signal may end leaves
	 * the detach to the work item: no signal ends utrace_finish_detach().
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
 * utrace_barrier() - wait until no callback of an engine is running
 * @target: not used; may be stale
 * @engine: the engine; the caller has a reference
 *
 * Waits for the callbacks of this engine that are running now in all tasks,
 * except one of the calling task.  Callbacks of other engines are not waited
 * for.
 *
 * After a detach, and once this has returned 0 or -ESRCH, no callback of the
 * engine runs or will run in another task, and the core has no reference to the
 * engine but that of the caller's own callback.  What is left is ->release(),
 * which the last utrace_engine_put() calls.
 *
 * A caller must hold no lock that one of the callbacks takes.  A callback may
 * call this for another engine; it is refused with -EDEADLK if the wait could
 * last for ever: a task in a callback of that engine is in a barrier too, or
 * the engine is detached and a callback of it is running.
 *
 * Context: Process context, sleeps.  Takes tasklist_lock for an engine of the
 * system, and utrace_change_mutex if the caller is in a callback.
 * Return:
 * * 0 - no callback that was running is running any more
 * * -ESRCH - likewise, and the detach was complete before the call
 * * -ERESTARTSYS - a signal has ended the wait
 * * -EDEADLK - the caller is in a callback, and the wait could last for ever
 */
int utrace_barrier(struct task_struct *target, struct utrace_engine *engine)
{
	return utrace_do_barrier(engine, TASK_INTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(utrace_barrier);

/**
 * utrace_barrier_killable() - utrace_barrier() that only SIGKILL ends early
 * @engine: the engine; the caller has a reference
 *
 * For clients that serve user space.
 *
 * Context: As utrace_barrier().
 * Return:
 * * 0 - no callback that was running is running any more
 * * -ESRCH - likewise, and the detach was complete before the call
 * * -EINTR - the caller has a fatal signal pending
 * * -EDEADLK - the caller is in a callback, and the wait could last for ever
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
 * For module_exit().  No signal ends the wait; it comes to an end because
 * callbacks do not wait for user space.  In a callback the function warns and
 * does not wait.
 *
 * Context: Process context, sleeps.  Not in a callback.  Takes
 * utrace_change_mutex, and tasklist_lock for an engine of the system.
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
 * For module_exit(), which calls this for each engine of the module, whatever
 * its scope is, whether its tasks live, and whether it is detached already.
 * When this returns, no callback of the engine runs.
 *
 * A caller must hold no lock that one of the callbacks takes.  In a callback
 * the function warns and does not wait.
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
