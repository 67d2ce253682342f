// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what an engine does to its tasks from outside: control, barrier,
 * examine
 */
#include <linux/export.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "internal.h"

/* What utrace_control() asks of each task, and what it learns. */
struct utrace_request {
	enum utrace_resume_action action;
	unsigned int tasks;
	unsigned int running;
};

/* Does it make sense to wait for this task to stop or to report? */
static bool utrace_can_stop(struct task_struct *task)
{
	return !(task->flags & (PF_EXITING | PF_USER_WORKER)) &&
	       !task->exit_state;
}

static unsigned int utrace_ask_stop(struct utrace_engine *engine,
				    struct task_struct *task,
				    struct utrace *u, u64 bit,
				    struct utrace_request *req)
{
	if (!utrace_can_stop(task))
		return 0;
	u->hold |= bit;
	u->step &= ~bit;
	u->flags |= UTRACE_TASK_LONG;
	req->tasks++;
	if (!utrace_task_stopped(task)) {
		req->running++;
		/* As in 2010: it is told, and may answer otherwise. */
		if (READ_ONCE(engine->flags) & UTRACE_EVENT(QUIESCE))
			u->resume = min_t(u8, u->resume, UTRACE_REPORT);
	}
	return UTRACE_AFTER_NOTIFY | UTRACE_AFTER_STOPPED;
}

static unsigned int utrace_ask_one(struct utrace_engine *engine,
				   struct task_struct *task,
				   struct utrace *u, u64 bit, void *arg)
{
	struct utrace_request *req = arg;
	enum utrace_resume_action action = req->action;
	unsigned int after = UTRACE_AFTER_WAKE;

	/* After a detach nobody could let go of the task again. */
	if (task->exit_state || utrace_engine_detached(engine))
		return 0;
	if (action == UTRACE_STOP)
		return utrace_ask_stop(engine, task, u, bit, req);

	req->tasks++;
	u->hold &= ~bit;
	u->step &= ~bit;
	u->block &= ~bit;
	if (action == UTRACE_SINGLESTEP || action == UTRACE_BLOCKSTEP) {
		u->step |= bit;
		u->flags |= UTRACE_TASK_LONG;
	}
	if (action == UTRACE_BLOCKSTEP)
		u->block |= bit;
	u->resume = min_t(u8, u->resume, action);
	if (action == UTRACE_INTERRUPT)
		after |= UTRACE_AFTER_INTERRUPT;
	if (action < UTRACE_RESUME)
		after |= UTRACE_AFTER_NOTIFY;
	return after;
}

/* May this action be asked for? */
static int utrace_check_action(struct utrace_engine *engine,
			       enum utrace_resume_action action)
{
	if (utrace_engine_is_system(engine) && action < UTRACE_DETACH)
		return -EOPNOTSUPP;
	switch (action) {
	case UTRACE_BLOCKSTEP:
	case UTRACE_SINGLESTEP:
		if (!arch_has_single_step())
			return -EOPNOTSUPP;
		fallthrough;
	case UTRACE_REPORT:
		/* It would not be told. */
		return READ_ONCE(engine->flags) & UTRACE_EVENT(QUIESCE) ?
		       0 : -EINVAL;
	case UTRACE_STOP:
	case UTRACE_INTERRUPT:
	case UTRACE_RESUME:
	case UTRACE_DETACH:
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * utrace_control - stop, resume, interrupt, step or detach
 * @target: one task of the engine, or NULL for all of them
 * @engine: the engine; the caller has a reference, or is its callback
 * @action: what to do
 *
 * %UTRACE_STOP: the task stops before it runs user code again and stays so
 * until the engine lets go by another action, an answer or a detach.  An
 * engine with QUIESCE is asked before, and declines by any answer but STOP.
 * A system call the task sleeps in is not broken off.  With @target NULL,
 * threads and processes that are created meanwhile start stopped.
 *
 * %UTRACE_REPORT, %UTRACE_INTERRUPT: the task reports QUIESCE, or SIGNAL with
 * %UTRACE_SIGNAL_REPORT, before it runs user code again; INTERRUPT breaks off
 * a sleep as a signal would.
 *
 * %UTRACE_SINGLESTEP, %UTRACE_BLOCKSTEP: once.  %UTRACE_RESUME: only let go.
 *
 * %UTRACE_DETACH: always of the whole engine.  It is not called any more by
 * passes that begin after this.
 *
 * Every action but STOP lets go of the task.  Threads that never run user
 * code (PF_USER_WORKER) do not stop, interrupt or step.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.  May be called from
 * callbacks.
 * Return: 0; -EINPROGRESS for STOP: not stopped yet; -EINPROGRESS for DETACH:
 * done, but a callback may be running, utrace_barrier() waits for it;
 * -EINVAL: no such action, or REPORT or a step without QUIESCE in the
 * engine's events; -EOPNOTSUPP: this machine cannot step, or the engine is the
 * system's and @action is not DETACH; -ESRCH: the engine
 * is detached, @target is not in its scope, or all the tasks meant are dead;
 * for STOP also if they are exiting or never run user code.
 */
int utrace_control(struct task_struct *target, struct utrace_engine *engine,
		   enum utrace_resume_action action)
{
	struct utrace_request req = { .action = action };
	int ret;

	if (!utrace_addresses(engine, target))
		return -ESRCH;
	ret = utrace_check_action(engine, action);
	if (ret)
		return ret;
	if (action == UTRACE_DETACH)
		return utrace_detach(engine) ? -EINPROGRESS : 0;

	if (!target) {
		/* Before the walk: who is born meanwhile inherits it. */
		if (action == UTRACE_STOP)
			atomic_or(UTRACE_STATE_HOLD_ALL, &engine->state);
		else
			atomic_andnot(UTRACE_STATE_HOLD_ALL, &engine->state);
	}
	utrace_visit_members(engine, target, utrace_ask_one, &req);
	if (!req.tasks)
		return -ESRCH;
	return req.running ? -EINPROGRESS : 0;
}
EXPORT_SYMBOL_GPL(utrace_control);

/* Barrier. */

/**
 * struct utrace_wait - the wait of a barrier
 * @engine: whose passes are waited for
 * @mark: the first look, which marks them
 * @own: the caller runs one itself
 * @task: where there is one, counted; or NULL
 * @passes: utrace::passes of @task then
 */
struct utrace_wait {
	struct utrace_engine *engine;
	bool mark;
	bool own;
	struct task_struct *task;
	u32 passes;
};

static bool utrace_pass_has(struct utrace *u, struct task_struct *task,
			    struct utrace_engine *engine)
{
	struct utrace_set *set = READ_ONCE(u->pinned);

	lockdep_assert_held(&u->lock);

	/* The pin of a set that is neither is about to be corrected. */
	if (!set || (set != task->utrace_set && set != u->deferred))
		return false;
	return utrace_set_slot(set, engine) >= 0;
}

static void utrace_find_pass(struct task_struct *task,
			     struct utrace_wait *wait)
{
	struct utrace *u = READ_ONCE(task->utrace);

	if (wait->task && !wait->mark)
		return;
	guard(spinlock_irqsave)(&u->lock);
	if (!utrace_pass_has(u, task, wait->engine))
		return;
	if ((u->reaper ?: task) == current) {
		wait->own = true;
		return;
	}
	if (!wait->mark && !(u->flags & UTRACE_TASK_WAITER))
		return;
	u->flags |= UTRACE_TASK_WAITER;
	smp_mb(); /* Pairs with utrace_unpin(): the flag or the pin. */
	if (!READ_ONCE(u->pinned) || wait->task)
		return;
	wait->passes = u->passes;
	wait->task = get_task_struct(task);
}

/*
 * Find a task to wait for.  Not by membership but by the pins: a detached
 * engine is in no published set any more.
 */
static bool utrace_find_wait(struct utrace_wait *wait)
{
	unsigned int scope = utrace_engine_state(wait->engine) &
			     UTRACE_STATE_SCOPE;
	struct task_struct *p, *t;

	wait->task = NULL;
	if (!scope) {
		utrace_find_pass(wait->engine->task, wait);
		return wait->task;
	}
	read_lock(&tasklist_lock);
	for_each_process_thread(p, t)
		if (READ_ONCE(t->utrace))
			utrace_find_pass(t, wait);
	read_unlock(&tasklist_lock);
	return wait->task;
}

static bool utrace_pass_over(struct utrace_wait *wait)
{
	return READ_ONCE(wait->task->utrace->passes) != wait->passes;
}

/*
 * The passes to wait for are those that run now, not the ones that follow on
 * a busy task.  The first look marks them all, the mark goes with the pass.
 */
static int utrace_wait_passes(struct utrace_wait *wait, bool interruptible)
{
	int ret = 0;

	smp_mb(); /* What the caller changed before the pins. */
	while (!ret && utrace_find_wait(wait)) {
		struct utrace *u = wait->task->utrace;

		if (interruptible)
			ret = wait_event_interruptible(u->wait,
						       utrace_pass_over(wait));
		else
			wait_event(u->wait, utrace_pass_over(wait));
		put_task_struct(wait->task);
		wait->mark = false;
	}
	return ret;
}

/* Bring a detach to its end without waiting for a worker to have time. */
static void utrace_finish_detach(struct utrace_engine *engine)
{
	if (!utrace_engine_detached(engine) ||
	    !cancel_work_sync(&engine->info->uncover))
		return;
	/* Not run before and not going to: the core's reference is ours. */
	utrace_uncover(engine);
	utrace_core_put(engine);
}

static int utrace_do_barrier(struct utrace_engine *engine, bool interruptible)
{
	struct utrace_wait wait = { .engine = engine, .mark = true };
	bool gone;
	int ret;

	might_sleep();
	gone = utrace_engine_detached(engine) && utrace_core_gone(engine);
	utrace_finish_detach(engine);
	ret = utrace_wait_passes(&wait, interruptible);
	if (ret)
		return ret;
	/* A callback of its own has the engine until it returns. */
	if (utrace_engine_detached(engine) && !wait.own)
		utrace_wait_gone(engine);
	return gone ? -ESRCH : 0;
}

/**
 * utrace_barrier - wait until no callback of an engine is running
 * @target: not looked at; may be stale
 * @engine: the engine; the caller has a reference
 *
 * Waits for the passes that are running in all tasks of the engine and that
 * include it, except one of the calling task.  After a detach, and once this
 * returned 0 or -ESRCH, no callback of the engine runs or will run, and the
 * references the core had are dropped: what is left is ->release(), called
 * by the last utrace_engine_put().
 *
 * Must not be called under a lock that one of the callbacks takes.
 *
 * Context: Process context, sleeps.
 * Return: 0; -ESRCH: the same, the engine had been detached completely
 * before; -ERESTARTSYS: interrupted by a signal.
 */
int utrace_barrier(struct task_struct *target, struct utrace_engine *engine)
{
	return utrace_do_barrier(engine, true);
}
EXPORT_SYMBOL_GPL(utrace_barrier);

/**
 * utrace_barrier_sync - utrace_barrier() for module_exit()
 * @engine: the engine; the caller has a reference
 *
 * Cannot be interrupted and does not fail.  Ends because callbacks do not
 * wait for user space.
 *
 * Context: Process context, sleeps.
 */
void utrace_barrier_sync(struct utrace_engine *engine)
{
	utrace_do_barrier(engine, false);
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
 * Must not be called from a callback, or under a lock that one of them takes.
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

/* Examine. */

static unsigned int utrace_look_hold(struct utrace_engine *engine,
				     struct task_struct *task,
				     struct utrace *u, u64 bit, void *arg)
{
	*(bool *)arg = u->hold & bit;
	return 0;
}

static bool utrace_holds(struct utrace_engine *engine,
			 struct task_struct *target)
{
	bool holds = false;

	utrace_visit_members(engine, target, utrace_look_hold, &holds);
	return holds;
}

/* As a number that says which sleep it is, or 0. */
static unsigned long utrace_sleep_count(struct task_struct *task)
{
	if (!utrace_task_stopped(task))
		return 0;
	return wait_task_inactive(task, __TASK_TRACED | __TASK_STOPPED);
}

/**
 * utrace_prepare_examine - begin to look at a task that the engine holds
 * @target: the task; the caller has a reference
 * @engine: the engine; the caller has a reference
 * @exam: filled in, for utrace_finish_examine()
 *
 * Waits until the task is off its CPU, so that its registers are in memory.
 * It is not prevented from going on, for example by SIGKILL; whether it did
 * is what utrace_finish_examine() tells.
 *
 * Context: Process context, sleeps.
 * Return: 0; -EINVAL: the engine does not hold the task; -ESRCH: the engine
 * is detached, @target is not in its scope or is dead; -EAGAIN: it is not
 * stopped yet, or not any more.
 */
int utrace_prepare_examine(struct task_struct *target,
			   struct utrace_engine *engine,
			   struct utrace_examiner *exam)
{
	might_sleep();
	if (target == current)
		return 0;
	if (!target || !utrace_addresses(engine, target) || target->exit_state)
		return -ESRCH;
	if (!utrace_holds(engine, target))
		return -EINVAL;
	exam->ncsw = utrace_sleep_count(target);
	return exam->ncsw ? 0 : -EAGAIN;
}
EXPORT_SYMBOL_GPL(utrace_prepare_examine);

/**
 * utrace_finish_examine - was the task stopped all the time?
 * @target: as for utrace_prepare_examine()
 * @engine: as for utrace_prepare_examine()
 * @exam: from utrace_prepare_examine()
 *
 * Context: Process context, sleeps.
 * Return: 0: what was read since is true; -EAGAIN: the task ran, it is not;
 * -EINVAL: the engine does not hold the task any more.
 */
int utrace_finish_examine(struct task_struct *target,
			  struct utrace_engine *engine,
			  struct utrace_examiner *exam)
{
	might_sleep();
	if (target == current)
		return 0;
	if (!exam->ncsw || utrace_sleep_count(target) != exam->ncsw)
		return -EAGAIN;
	return utrace_holds(engine, target) ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(utrace_finish_examine);
