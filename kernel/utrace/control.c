// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - control and examine: requests of an engine to its tasks
 *
 * utrace_control() writes its request into struct utrace of each task and makes
 * the task pass the safe point, where the task serves the request; the caller
 * waits for nothing.  An examination uses the count of context switches to
 * detect whether a held task has run between its begin and its end.
 */
#include <linux/export.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "builtin.h"
#include "detach.h"
#include "scope.h"
#include "wake.h"

/*
 * The request of utrace_control() to each task, how many tasks got it, and how
 * many of them were not stopped yet.  On the stack of the caller.
 */
struct utrace_request {
	enum utrace_resume_action action;
	unsigned int tasks;
	unsigned int running;
};

/* Check whether this task can stop at the safe point. */
static bool utrace_can_stop(struct task_struct *task)
{
	return !(task->flags & (PF_EXITING | PF_USER_WORKER));
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
	u->block &= ~bit;
	u->flags |= UTRACE_TASK_SLOW;
	req->tasks++;
	/*
	 * Set the hold before reading JOBCTL_UTRACE.  utrace_stop() clears that
	 * bit before it reads the hold: so the task stays stopped, or it is
	 * counted as running here.
	 */
	smp_mb();
	if (!utrace_task_stopped(task)) {
		req->running++;
		/*
		 * As in utrace of 2010, an engine with QUIESCE is called before
		 * the task stops, and can decline by another answer.
		 */
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
	unsigned int after;
	u64 step;

	/* No call could end the hold of a detached engine. */
	if (utrace_is_dead(task) || utrace_engine_detached(engine))
		return 0;
	if (action == UTRACE_STOP)
		return utrace_ask_stop(engine, task, u, bit, req);

	req->tasks++;
	step = u->step & ~bit;
	u->block &= ~bit;
	if (action == UTRACE_SINGLESTEP || action == UTRACE_BLOCKSTEP) {
		step |= bit;
		u->flags |= UTRACE_TASK_SLOW;
	}
	if (action == UTRACE_BLOCKSTEP)
		u->block |= bit;
	WRITE_ONCE(u->step, step);
	u->resume = min_t(u8, u->resume, action);
	/* Wake the task if this was the last hold. */
	after = u->hold & bit ? UTRACE_AFTER_WAKE : 0;
	utrace_end_hold(u, bit);
	if (action == UTRACE_INTERRUPT)
		after |= UTRACE_AFTER_INTERRUPT;
	if (action < UTRACE_RESUME)
		after |= UTRACE_AFTER_NOTIFY;
	return after;
}

/* Returns 0 if the engine may ask for this action, else an error. */
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
		/* An engine without QUIESCE would not get the report. */
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
 * utrace_control() - stop, resume, interrupt, step or detach
 * @target: one task of the engine, to which the caller has a reference; NULL
 *	for all tasks of the engine
 * @engine: the engine; the caller has a reference, or is a callback of it
 * @action: what to do
 *
 * %UTRACE_STOP: the task stops before it runs user code again, and stays so
 * until the engine lets go by another action, an answer or a detach.  An engine
 * with QUIESCE is called before, and declines by any answer but STOP.  A system
 * call in which the task sleeps is not interrupted.  With @target NULL, threads
 * and processes that inherit the engine later start stopped, until another
 * action follows with @target NULL.
 *
 * %UTRACE_REPORT, %UTRACE_INTERRUPT: the task reports QUIESCE, or SIGNAL with
 * %UTRACE_SIGNAL_REPORT, before it runs user code again; INTERRUPT interrupts a
 * sleep as a signal would.
 *
 * %UTRACE_SINGLESTEP, %UTRACE_BLOCKSTEP: the task makes one step.
 * %UTRACE_RESUME: the engine only lets go of the task.
 *
 * %UTRACE_DETACH: detaches the whole engine, also if @target is one task.
 * Passes that begin after this do not call the engine.
 *
 * By each action but STOP the engine lets go of the task.  Threads that never
 * run user code (PF_USER_WORKER) do not stop, interrupt or step.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.  Callbacks may call
 * it.  A detach of an engine of the system takes tasklist_lock.
 * Return:
 * * 0 - done; for STOP, all tasks that the call names are stopped already
 * * -EINPROGRESS - for STOP: done, but at least one task is not stopped yet
 * * -EINPROGRESS - for DETACH: done, but a callback of the engine may be
 *   running in another task, which utrace_barrier() waits for; or another call
 *   detaches the engine at the same time.  In atomic context, and always on SMP
 *   without PREEMPT_COUNT, it is not known whether a callback runs
 * * -EINVAL - @action is unknown, or is REPORT or a step and the engine does
 *   not want QUIESCE
 * * -EOPNOTSUPP - this machine cannot step, or the engine is of the system and
 *   @action is not DETACH
 * * -ESRCH - the engine is detached, @target is not in its scope, or all tasks
 *   that the call names are dead; for STOP also if all of them are exiting or
 *   never run user code
 */
int utrace_control(struct task_struct *target, struct utrace_engine *engine,
		   enum utrace_resume_action action)
{
	struct utrace_request req = { .action = action };
	int ret;

	if (utrace_engine_detached(engine))
		return -ESRCH;
	ret = utrace_check_action(engine, action);
	if (ret)
		return ret;
	if (action == UTRACE_DETACH) {
		if (!utrace_addresses(engine, target))
			return -ESRCH;
		return utrace_detach(engine) ? -EINPROGRESS : 0;
	}

	if (!target) {
		/*
		 * Set before the walk: a child that the walk does not reach
		 * sees this in utrace_inherit_hold().
		 */
		if (action == UTRACE_STOP)
			atomic_or(UTRACE_STATE_HOLD_ALL, &engine->state);
		else
			atomic_andnot(UTRACE_STATE_HOLD_ALL, &engine->state);
	}
	/* Visits no task if @target is not in the scope of the engine. */
	utrace_visit_members(engine, target, utrace_ask_one, &req);
	if (!req.tasks)
		return -ESRCH;
	return req.running ? -EINPROGRESS : 0;
}
EXPORT_SYMBOL_GPL(utrace_control);

/* Examine */

static unsigned int utrace_check_hold(struct utrace_engine *engine,
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

	utrace_visit_members(engine, target, utrace_check_hold, &holds);
	return holds;
}

/*
 * Wait until a stopped task is off its CPU.  Returns a number that identifies
 * this sleep of the task, or 0 if the task is not stopped.
 */
static unsigned long utrace_sleep_count(struct task_struct *task)
{
	if (!utrace_task_stopped(task))
		return 0;
	return wait_task_inactive(task, __TASK_TRACED | __TASK_STOPPED);
}

/**
 * utrace_prepare_examine() - begin to examine a task that the engine holds
 * @target: the task; the caller has a reference
 * @engine: the engine; the caller has a reference
 * @exam: filled in, for utrace_finish_examine()
 *
 * Waits until the task is off its CPU, so that its registers are in memory.
 * Nothing keeps the task from continuing, for example after SIGKILL;
 * utrace_finish_examine() detects that.  A task can always examine itself.
 *
 * Context: Process context, sleeps.
 * Return:
 * * 0 - the task is stopped and off its CPU, or is current
 * * -EINVAL - the engine does not hold the task
 * * -ESRCH - the engine is detached, or @target is NULL, dead or not in the
 *   scope of the engine
 * * -EAGAIN - the task is not stopped yet, or no longer stopped
 */
int utrace_prepare_examine(struct task_struct *target,
			   struct utrace_engine *engine,
			   struct utrace_examiner *exam)
{
	might_sleep();
	if (target == current)
		return 0;
	if (!target || !utrace_addresses(engine, target) ||
	    utrace_is_dead(target))
		return -ESRCH;
	if (!utrace_holds(engine, target))
		return -EINVAL;
	exam->ncsw = utrace_sleep_count(target);
	return exam->ncsw ? 0 : -EAGAIN;
}
EXPORT_SYMBOL_GPL(utrace_prepare_examine);

/**
 * utrace_finish_examine() - check whether the task was stopped all the time
 * @target: as for utrace_prepare_examine()
 * @engine: as for utrace_prepare_examine()
 * @exam: filled in by utrace_prepare_examine()
 *
 * Context: Process context, sleeps.
 * Return:
 * * 0 - the task has not run since utrace_prepare_examine(), or is current
 * * -EAGAIN - the task has run, so what was read may be wrong
 * * -EINVAL - the engine no longer holds the task
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
