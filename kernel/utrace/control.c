// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what an engine does to its tasks from outside: control, examine
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
	u->flags |= UTRACE_TASK_SLOW;
	req->tasks++;
	/* Pairs with utrace_stop(): the hold, or that it is not stopped. */
	smp_mb();
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
		u->flags |= UTRACE_TASK_SLOW;
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
 * done, but a callback of the engine is running in another task, or may be where
 * that cannot be known (in atomic context, and everywhere on SMP without
 * PREEMPT_COUNT); utrace_barrier() waits for it;
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
