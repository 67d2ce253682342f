// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - whose callback a task is in, and waiting for the end of it
 *
 * A task says whose callback it may be in (utrace::now) before it looks at what
 * the engine wants, and takes the word back after it; in a pass over a set with
 * one engine only, the pin says it.  So whoever took events away, or detached the
 * engine, and then called utrace_heavy(), finds every task that may still be in a
 * callback because of what was before:
 *
 *	task				other
 *	now = engine			engine->flags = less
 *	(compiler barrier)		utrace_heavy()
 *	engine->flags?			now == engine?
 *
 * To be told of the end, the other marks the task, has a second heavy barrier and
 * looks again.  If the task is in the callback still, and has not told since, it
 * will see the mark when it leaves, which it does before it enters the next one.
 * tools/models explores all of this.
 */
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait_bit.h>

#include "internal.h"

/**
 * utrace_is_inside - may a task be in a callback of an engine?
 * @engine: the engine
 * @task: the task
 * @u: its struct utrace
 *
 * Context: @u->lock is held.
 * Return: true if so; errs for an instant, and only to this side.
 */
static bool utrace_is_inside(struct utrace_engine *engine,
			     struct task_struct *task, struct utrace *u)
{
	struct utrace_set *set = READ_ONCE(u->pinned);
	struct utrace_engine *now;

	lockdep_assert_held(&u->lock);

	/* The pin of a set that is neither is about to be corrected. */
	if (!set || (set != task->utrace_set && set != u->deferred))
		return false;
	now = READ_ONCE(u->now);
	if (now || !(set->events & UTRACE_WORD_FAST))
		return now == engine;
	return set->sole_entry == engine || set->sole_exit == engine;
}

/* Is it current that runs the pass of a task? */
static bool utrace_is_own(struct task_struct *task, struct utrace *u)
{
	return (u->reaper ?: task) == current;
}

static unsigned int utrace_look_inside(struct utrace_engine *engine,
				       struct task_struct *task,
				       struct utrace *u, u64 bit, void *arg)
{
	if (!utrace_is_own(task, u) && utrace_is_inside(engine, task, u))
		*(bool *)arg = true;
	return 0;
}

static unsigned int utrace_look_other(struct utrace_engine *engine,
				      struct task_struct *task,
				      struct utrace *u, u64 bit, void *arg)
{
	/* A reaper has full barriers of its own: what it is in can be seen. */
	if (!utrace_is_own(task, u) &&
	    (!u->reaper || utrace_is_inside(engine, task, u)))
		*(bool *)arg = true;
	return 0;
}

/**
 * utrace_is_running - may a callback be running by what an engine wanted before?
 * @engine: the engine, whose flags the caller has changed
 *
 * Context: Any but NMI, without siglock.
 * Return: true if one may be running in another task; where the caller cannot
 * wait for other CPUs, also if there is another task.
 */
bool utrace_is_running(struct utrace_engine *engine)
{
	bool running = false;

	if (!IS_ENABLED(CONFIG_SMP) || preemptible()) {
		utrace_heavy(engine);
		utrace_visit_tasks(engine, utrace_look_inside, &running);
	} else {
		smp_mb(); /* The flags before the look at what a reaper is in. */
		utrace_visit_tasks(engine, utrace_look_other, &running);
	}
	return running;
}

/* Counting those inside */

/**
 * struct utrace_count - counts of callbacks, handed to their tasks
 * @drop: counts of engines that a task has left and not told of yet
 * @n: elements of @drop
 * @any: a task was in a callback
 * @again: there was no room in @drop
 * @back: counts that were taken back
 */
struct utrace_count {
	struct utrace_engine *drop[8];
	unsigned int n;
	bool any;
	bool again;
	unsigned int back;
};

/* The task drops the count when it leaves, if it is seen to be inside again below. */
static unsigned int utrace_give_count(struct utrace_engine *engine,
				      struct task_struct *task,
				      struct utrace *u, u64 bit, void *arg)
{
	struct utrace_count *count = arg;

	if (!utrace_is_inside(engine, task, u) || u->left == engine)
		return 0;
	if (u->left && count->n == ARRAY_SIZE(count->drop)) {
		count->again = true;
		return 0;
	}
	/* Of a callback that is over; the task is about to tell, or was. */
	if (u->left)
		count->drop[count->n++] = u->left;
	u->left = utrace_core_tryget(engine) ? engine : NULL;
	u->flags |= UTRACE_TASK_WAITER;
	count->any = true;
	return 0;
}

/* Those that still have it and are inside will see the mark when they leave. */
static unsigned int utrace_take_count(struct utrace_engine *engine,
				      struct task_struct *task,
				      struct utrace *u, u64 bit, void *arg)
{
	struct utrace_count *count = arg;

	if (u->left == engine && !utrace_is_inside(engine, task, u)) {
		u->left = NULL;
		count->back++;
	}
	return 0;
}

/**
 * utrace_count_inside - the core counts the callbacks of a detached engine
 * @engine: the engine, on which the caller has the core's reference
 *
 * Each task that is in one drops its count when it leaves; so the core's reference
 * goes with the last of them.
 *
 * Context: Process context, no spinlock held.
 */
void utrace_count_inside(struct utrace_engine *engine)
{
	struct utrace_count count = {};

	/* One that never was attached never wanted anything. */
	if (utrace_engine_state(engine) & UTRACE_STATE_UNBORN)
		return;
	utrace_heavy(engine);
	do {
		count.again = false;
		utrace_visit_tasks(engine, utrace_give_count, &count);
		while (count.n)
			utrace_core_put(count.drop[--count.n]);
	} while (count.again);
	if (!count.any)
		return;
	utrace_heavy(engine);
	utrace_visit_tasks(engine, utrace_take_count, &count);
	while (count.back--)
		utrace_core_put(engine);
}

/* Barrier. */

/**
 * struct utrace_wait - the wait of a barrier
 * @state: how the caller sleeps, TASK_*
 * @own: the caller runs a callback of the engine itself
 * @any: there is something to wait for
 * @deadlock: a task in such a callback waits in a barrier, as the caller does
 * @callback: the caller is in a callback, of whatever engine
 * @task: where one is waited for, counted; or NULL
 * @passes: utrace::passes of @task when it was found
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

static unsigned int utrace_wait_mark(struct utrace_engine *engine,
				     struct task_struct *task,
				     struct utrace *u, u64 bit, void *arg)
{
	struct utrace_wait *wait = arg;

	if (!utrace_is_inside(engine, task, u))
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

static unsigned int utrace_wait_find(struct utrace_engine *engine,
				     struct task_struct *task,
				     struct utrace *u, u64 bit, void *arg)
{
	struct utrace_wait *wait = arg;

	if (wait->task || utrace_is_own(task, u) ||
	    !(u->flags & UTRACE_TASK_WAITER) ||
	    !utrace_is_inside(engine, task, u))
		return 0;
	wait->passes = u->passes;
	wait->task = get_task_struct(task);
	return 0;
}

/* Sleep until *@var is not @old any more, in the way the caller can. */
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
 * Is the task that was found in the callback still?  The mark may be one of another
 * barrier, which came when the task had left already and its word was not out.
 */
static bool utrace_wait_confirm(struct utrace_engine *engine,
				struct utrace_wait *wait)
{
	struct utrace *u = wait->task->utrace;

	utrace_heavy(engine);
	guard(spinlock_irqsave)(&u->lock);
	return u->passes == wait->passes &&
	       utrace_is_inside(engine, wait->task, u);
}

static bool utrace_wait_over(struct utrace_wait *wait)
{
	/* What the callback did is seen after this; pairs with utrace_told(). */
	return smp_load_acquire(&wait->task->utrace->passes) != wait->passes;
}

/*
 * The callbacks to wait for are those that run now, not the ones that follow on
 * a busy task.  The first look marks them all, the mark goes with the callback.
 */
static int utrace_wait_callbacks(struct utrace_engine *engine,
				 struct utrace_wait *wait)
{
	int ret = 0;

	utrace_heavy(engine);
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
 * utrace_finish_detach - bring a detach to its end, unless a worker is at it
 * @engine: the engine; the caller has a reference, or one of the core
 *
 * Waits for the worker if that has begun.
 *
 * Context: May sleep.  Takes utrace_change_mutex.
 */
void utrace_finish_detach(struct utrace_engine *engine)
{
	if (!utrace_engine_detached(engine) ||
	    !cancel_work_sync(&engine->info->uncover))
		return;
	/* Not run before and not going to: the core's reference is ours. */
	utrace_uncover(engine);
	utrace_core_put(engine);
}

/**
 * utrace_in_callback - is the caller in a callback?
 *
 * Context: Process context.
 * Return: false also for the reaper of another task.
 */
bool utrace_in_callback(void)
{
	return current->utrace && READ_ONCE(current->utrace->pinned);
}

/* The others see that this task waits, or this task sees that they do. */
static void utrace_say_waits(bool waits)
{
	struct utrace *u = current->utrace;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (waits)
			u->flags |= UTRACE_TASK_WAITS;
		else
			u->flags &= ~UTRACE_TASK_WAITS;
	}
	smp_mb(); /* The flag before a look at the flags of others. */
}

/*
 * A detached engine's callbacks cannot be found by their tasks any more, so it is
 * not known whether one of them waits for the caller.
 */
static int utrace_wait_detached(struct utrace_engine *engine,
				struct utrace_wait *wait)
{
	if (!utrace_engine_detached(engine) || utrace_core_gone(engine))
		return 0;
	/* A callback of its own has the engine until it returns. */
	if (wait->own)
		return atomic_read(&engine->info->core) == 1 ? 0 : -EDEADLK;
	return wait->callback ? -EDEADLK : utrace_wait_gone(engine, wait->state);
}

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
		utrace_say_waits(true);
		scoped_guard(spinlock_irqsave, &current->utrace->lock)
			wait.own = utrace_is_inside(engine, current,
						    current->utrace);
	}
	gone = utrace_engine_detached(engine) && utrace_core_gone(engine);
	ret = gone ? 0 : utrace_wait_callbacks(engine, &wait);
	/* A caller that can be killed leaves that to the worker. */
	if (wait.callback || state == TASK_UNINTERRUPTIBLE)
		utrace_finish_detach(engine);
	if (!ret)
		ret = utrace_wait_detached(engine, &wait);
	if (wait.callback)
		utrace_say_waits(false);
	return ret ?: gone ? -ESRCH : 0;
}

/**
 * utrace_barrier - wait until no callback of an engine is running
 * @target: not looked at; may be stale
 * @engine: the engine; the caller has a reference
 *
 * Waits for the callbacks of this engine that are running in all tasks, except
 * one of the calling task; callbacks of other engines are not waited for.  After a
 * detach, and once this returned 0 or -ESRCH, no callback of the engine runs or
 * will run, and the references the core had are dropped: what is left is
 * ->release(), called by the last utrace_engine_put().
 *
 * Must not be called under a lock that one of the callbacks takes.  A callback may
 * call it for another engine, and is refused if that could last for ever: a task
 * in a callback of that engine is in a barrier too, or the engine is detached and
 * a callback of it is running.
 *
 * Context: Process context, sleeps.
 * Return: 0; -ESRCH: the same, the engine had been detached completely
 * before; -ERESTARTSYS: interrupted by a signal; -EDEADLK: called by a callback,
 * and it might never return.
 */
int utrace_barrier(struct task_struct *target, struct utrace_engine *engine)
{
	return utrace_do_barrier(engine, TASK_INTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(utrace_barrier);

/**
 * utrace_barrier_killable - utrace_barrier() for those who serve user space
 * @engine: the engine; the caller has a reference
 *
 * Only SIGKILL ends it early.
 *
 * Context: Process context, sleeps.
 * Return: 0; -ESRCH: the same, the engine had been detached completely before;
 * -EINTR: the caller is to die; -EDEADLK: as utrace_barrier().
 */
int utrace_barrier_killable(struct utrace_engine *engine)
{
	return utrace_do_barrier(engine, TASK_KILLABLE);
}
EXPORT_SYMBOL_GPL(utrace_barrier_killable);

/**
 * utrace_barrier_sync - utrace_barrier() for module_exit()
 * @engine: the engine; the caller has a reference
 *
 * Cannot be interrupted and does not fail.  Ends because callbacks do not
 * wait for user space.  Not for callbacks: there it warns and does not wait.
 *
 * Context: Process context, sleeps.
 */
void utrace_barrier_sync(struct utrace_engine *engine)
{
	if (!WARN_ON_ONCE(utrace_in_callback()))
		utrace_do_barrier(engine, TASK_UNINTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(utrace_barrier_sync);

/**
 * utrace_engine_shutdown - detach an engine, and be done with it
 * @engine: an engine on which the caller has a reference, which it gives up
 *
 * What module_exit() does for each engine of the module: detach it unless that
 * was done before, whatever its scope and whether or not its tasks live; wait
 * until no callback runs; drop the reference.
 *
 * Must not be called from a callback, where it warns and does not wait, or under a
 * lock that one of them takes.
 *
 * Context: Process context, sleeps.
 */
void utrace_engine_shutdown(struct utrace_engine *engine)
{
	utrace_detach_now(engine);
	utrace_barrier_sync(engine);
	utrace_engine_put(engine);
}
EXPORT_SYMBOL_GPL(utrace_engine_shutdown);
