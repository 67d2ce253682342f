// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: tasks that wait for the reader
 *
 * A task with a parked record (park.c) is held as soon as it comes to a place
 * where a hold does no harm: at the safe point, or in get_signal().  So
 * SIGKILL, the freezer and ptrace see an ordinary held task, and the task never
 * waits at the entry of a system call or during a clone or an execve.
 *
 * A hold begins and ends under park_lock, in one section with the check for
 * parked records.  So no end comes too early for its hold, or too late for the
 * next hold.
 *
 * A task is held only while the session has a reader: the process that last
 * called read(2), poll(2) or mmap(2), or else the opener, until it closes its
 * last descriptor of the session or dies.  Another process that has the session
 * open, such as a program that has inherited the descriptor, may never read.
 * So without a reader, records without room are lost and counted, until some
 * process reads.
 *
 * Not held are tasks that are hidden from the session, tasks of the reader, and
 * tasks that exit.
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/utrace.h>

#include "session.h"

/* A released task and the engine that held it; both counted. */
struct session_released {
	struct task_struct *task;
	struct utrace_engine *holder;
};

/* Tasks that a walk visits in one section with park_lock held. */
#define SESSION_STEPS		64

/*
 * A walk over utrace_session.waiting, which may have any length.  @at is the
 * current entry; session_let_go() moves it back when the entry leaves the list.
 * Under utrace_session.park_lock.
 */
struct session_walk {
	struct list_head list;
	struct list_head *at;
};

/*
 * Let a task go.  The hold ends under park_lock, so it cannot be one for a
 * record that the task parks later.
 */
static struct session_released session_let_go(struct session_task *task)
{
	struct session_released released = { task->task, task->holder };
	struct session_walk *walk;
	int ret;

	lockdep_assert_held(&task->session->park_lock);

	if (!released.holder)
		return released;
	task->holder = NULL;
	list_for_each_entry(walk, &task->session->walks, list)
		if (walk->at == &task->waiting)
			walk->at = task->waiting.prev;
	list_del(&task->waiting);
	/* The engine may be detached or the task dead: both end the hold. */
	ret = utrace_control(released.task, released.holder, UTRACE_RESUME);
	WARN_ON_ONCE(ret && ret != -ESRCH);
	return released;
}

/* Drop the references of a released task, without park_lock. */
static void session_drop_released(struct session_released released)
{
	if (!released.holder)
		return;
	utrace_engine_put(released.holder);
	put_task_struct(released.task);
}

/**
 * utrace_dev_unpark() - free a parked record that was read
 * @session: the session
 * @parked: the record, from utrace_session.taken
 *
 * Lets the task go if the record was its last one.
 *
 * Context: Process context, under utrace_reader.read_lock.  Takes
 * utrace_session.park_lock.
 */
void utrace_dev_unpark(struct utrace_session *session,
		       struct session_parked *parked)
{
	struct session_task *task = parked->task;
	struct session_released released = {};

	list_del(&parked->list);
	scoped_guard(spinlock, &session->park_lock) {
		utrace_dev_count_parked(session, -1);
		if (task) {
			WRITE_ONCE(task->parked, task->parked - 1);
			if (!task->parked)
				released = session_let_go(task);
		}
	}
	kvfree(parked);
	if (!task)
		return;
	session_drop_released(released);
	utrace_dev_task_put(task);
}

/*
 * Get the engine that may hold the current task, counted; NULL if none may.
 * The task may have become hidden since its records were parked, for example by
 * execve().
 */
static struct utrace_engine *session_holder(struct session_task *task)
{
	struct utrace_engine *holder;

	scoped_guard(spinlock, &task->session->park_lock) {
		holder = task->holder;
		if (!holder)
			return NULL;
		utrace_engine_get(holder);
	}
	if (task_tgid(current) != READ_ONCE(task->session->reader.process) &&
	    utrace_dev_sees(holder->data, task))
		return holder;
	utrace_engine_put(holder);
	utrace_dev_unhold(task);
	return NULL;
}

/**
 * utrace_dev_hold() - hold the current task while it has parked records
 * @task: the session's state of the current task; the caller keeps the session
 *
 * The task stops at the next place where it checks for a hold, see above.
 *
 * Context: The task itself, where it may stop soon: not in a system call.  May
 * sleep.  Takes utrace_session.park_lock.
 * Return:
 * * true - the task will stop
 * * false - nothing is parked, there is no reader, or the task is of the
 *   reader, is hidden from the session, or exits
 */
bool utrace_dev_hold(struct session_task *task)
{
	struct utrace_engine *holder;
	int ret = -ESRCH;

	if (!READ_ONCE(task->parked) || current->flags & PF_EXITING)
		return false;
	holder = session_holder(task);
	if (!holder)
		return false;
	scoped_guard(spinlock, &task->session->park_lock)
		if (task->holder == holder)
			ret = utrace_control(current, holder, UTRACE_STOP);
	utrace_engine_put(holder);
	/* -ESRCH: the records were read, or the engine is detached. */
	if (ret != -EINPROGRESS)
		return false;
	atomic64_inc(&task->session->waits);
	return true;
}

/**
 * utrace_dev_unhold() - let the current task run without waiting for its reader
 * @task: the session's state of the current task
 *
 * Its records stay parked.
 *
 * Context: The task itself.  Takes utrace_session.park_lock.
 */
void utrace_dev_unhold(struct session_task *task)
{
	struct session_released released;

	scoped_guard(spinlock, &task->session->park_lock)
		released = session_let_go(task);
	session_drop_released(released);
}

/* Task work: runs at the safe point, or before a signal is taken. */
static void session_hold_work(struct callback_head *work)
{
	struct session_task *task = container_of(work, struct session_task,
						 work);
	struct utrace_session *session = task->session;

	task->working = false;
	utrace_dev_hold(task);
	utrace_dev_task_put(task);
	utrace_dev_put(session);
}

/**
 * __utrace_dev_hold_soon() - hold the current task at the safe point
 * @task: the session's state of the current task, which has parked records
 *
 * Context: A callback, in the task itself.
 */
void __utrace_dev_hold_soon(struct session_task *task)
{
	if (task->working)
		return;
	init_task_work(&task->work, session_hold_work);
	if (task_work_add(current, &task->work, TWA_RESUME))
		return;
	task->working = true;
	kref_get(&task->ref);
	kref_get(&task->session->ref);
}

/* Check whether to let a waiting task go.  Under utrace_session.park_lock. */
typedef bool (*session_filter_t)(const struct session_task *task,
			       const void *of);

static bool session_is_any(const struct session_task *task, const void *of)
{
	return true;
}

static bool session_is_of_process(const struct session_task *task,
				  const void *of)
{
	return task_tgid(task->task) == of;
}

static bool session_is_held_by(const struct session_task *task, const void *of)
{
	return task->holder == of;
}

/*
 * Visit some tasks, up to the first match, and let that go.  Its records stay
 * parked.  Returns false at the end of the list.
 */
static bool session_let_some_go(struct utrace_session *session,
				struct session_walk *walk,
				session_filter_t which, const void *of)
{
	struct session_released released = {};
	struct session_task *task;
	bool more = true;
	unsigned int i;

	scoped_guard(spinlock, &session->park_lock)
		for (i = 0; i < SESSION_STEPS && more && !released.holder;
		     i++) {
			walk->at = walk->at->next;
			more = walk->at != &session->waiting;
			task = list_entry(walk->at, struct session_task,
					  waiting);
			if (more && which(task, of))
				released = session_let_go(task);
		}
	session_drop_released(released);
	return more;
}

static void session_let_all_go(struct utrace_session *session,
			       session_filter_t which, const void *of)
{
	struct session_walk walk = { .at = &session->waiting };

	scoped_guard(spinlock, &session->park_lock)
		list_add(&walk.list, &session->walks);
	while (session_let_some_go(session, &walk, which, of))
		cond_resched();
	scoped_guard(spinlock, &session->park_lock)
		list_del(&walk.list);
}

/**
 * utrace_dev_let_go() - let tasks go that wait for their reader
 * @session: the session
 * @process: the process of these tasks; NULL: all
 *
 * Their records stay parked.
 *
 * Context: Process context; may sleep.  Takes utrace_session.park_lock.
 */
void utrace_dev_let_go(struct utrace_session *session, struct pid *process)
{
	session_let_all_go(session,
			   process ? session_is_of_process : session_is_any,
			   process);
}

/**
 * utrace_dev_gone() - let the tasks of a detached target go
 * @target: the target
 *
 * At its next parked record, a task may be held by the engine of another target
 * that covers it.
 *
 * Context: Process context; may sleep.  Takes utrace_session.park_lock.
 */
void utrace_dev_gone(struct session_target *target)
{
	struct utrace_session *session = target->session;

	scoped_guard(spinlock, &session->park_lock)
		WRITE_ONCE(target->gone, true);
	session_let_all_go(session, session_is_held_by, target->engine);
}

/**
 * utrace_dev_park_free() - free the parked records of a session that ends
 * @session: a session without targets and without a reader
 *
 * Context: May sleep.
 */
void utrace_dev_park_free(struct utrace_session *session)
{
	struct session_parked *parked, *next;

	utrace_dev_take_parked(session);
	list_for_each_entry_safe(parked, next, &session->taken, list) {
		utrace_dev_unpark(session, parked);
		cond_resched();
	}
}
