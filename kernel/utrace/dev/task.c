// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: per-task state, and checks of rights
 *
 * A task creates its struct session_task at its first event for any target of
 * the session, and looks it up at later events.  The task drops it when it
 * exits, or when it adds another one and finds that the session is gone.
 *
 * target.c checks rights once, at the attach.  After that, each callback checks
 * whether the viewer of the target may see the current task as it is now
 * (viewer.c), before it captures anything.  The answer is cached per task
 * (struct session_task).  A program that becomes set-id or undumpable is
 * therefore hidden from its next event on, and visible again when it may be
 * traced again.
 *
 * The reader gets a UTRACE_REC_HIDDEN each time that a task becomes hidden, and
 * always gets a record of the task's end.  It does not get the number of
 * withheld events: that number would reveal what a hidden program does, as
 * /proc/PID/io once did.
 */

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "count.h"

/*
 * Protects utrace_session.tasks of all sessions and the owner of each entry.
 * The end of a session (utrace_dev_forget_tasks()) may race with the end of a
 * task (session_put_data()).  No lock is taken inside session_tasks_lock.
 */
static DEFINE_SPINLOCK(session_tasks_lock);	/* interrupts are off */

static void session_free_task(struct kref *ref)
{
	struct session_task *task = container_of(ref, struct session_task, ref);

	utrace_dev_count_put(task);
	utrace_capture_free(&task->entry.capture);
	kvfree(task->spare);
	put_cred(task->viewed.cred);
	kfree(task);
}

/**
 * utrace_dev_task_put() - drop a reference
 * @task: the session's state of a task
 *
 * Context: Any but NMI.
 */
void utrace_dev_task_put(struct session_task *task)
{
	kref_put(&task->ref, session_free_task);
}

/* The task drops its entry; may run in a softirq. */
static void session_put_data(struct utrace_task_data *data)
{
	struct session_task *task =
		container_of(data, struct session_task, data);

	scoped_guard(spinlock_irqsave, &session_tasks_lock)
		if (data->owner)
			list_del(&task->list);
	utrace_dev_task_put(task);
}

/**
 * utrace_dev_task_rename() - update the cached ids of the current task
 * @task: the session's state of the current task, which is new, or has called
 *	execve() while it was not the leader of its process
 *
 * Context: A callback, in the task itself.
 */
void utrace_dev_task_rename(struct session_task *task)
{
	task->id = task_pid(current)->ino;
	task->ids.pid = task_tgid_nr_ns(current, task->session->ns);
	task->ids.tid = task_pid_nr_ns(current, task->session->ns);
}

static struct session_task *session_new_task(struct utrace_session *session)
{
	struct session_task *task = kzalloc(sizeof(*task), GFP_KERNEL_ACCOUNT);

	if (!task)
		return NULL;
	task->spare = utrace_dev_parked_new(sizeof(struct utrace_rec_exit));
	if (!task->spare) {
		kfree(task);
		return NULL;
	}
	kref_init(&task->ref);
	task->session = session;
	task->task = current;
	utrace_dev_task_rename(task);
	task->data.owner = session;
	task->data.put = session_put_data;
	utrace_task_data_add(&task->data);
	scoped_guard(spinlock_irqsave, &session_tasks_lock)
		list_add(&task->list, &session->tasks);
	return task;
}

/**
 * utrace_dev_task() - look up or create the session's state of the current task
 * @target: a target of the session, whose engine has called back
 *
 * Context: A callback, in the task itself; may sleep.  Takes session_tasks_lock
 * to create the state.
 * Return:
 * * the state - valid in the callback
 * * NULL - out of memory
 */
struct session_task *utrace_dev_task(struct session_target *target)
{
	struct utrace_task_data *data = utrace_task_data_find(target->session);

	if (likely(data))
		return container_of(data, struct session_task, data);
	return session_new_task(target->session);
}

/* Tasks that are removed in one section with interrupts off. */
#define SESSION_TASKS_AT_ONCE	32

/*
 * Remove some tasks from a session that ends.  Returns true if there may be
 * more.
 */
static bool session_forget_some(struct utrace_session *session)
{
	struct session_task *task;
	unsigned int n;

	guard(spinlock_irqsave)(&session_tasks_lock);
	for (n = 0; n < SESSION_TASKS_AT_ONCE; n++) {
		task = list_first_entry_or_null(&session->tasks,
						struct session_task, list);
		if (!task)
			return false;
		list_del(&task->list);
		/*
		 * utrace_task_data_find() no longer matches; the task drops the
		 * structure.
		 */
		WRITE_ONCE(task->data.owner, NULL);
	}
	return true;
}

/**
 * utrace_dev_forget_tasks() - remove all tasks from a session that ends
 * @session: the session; no callback of its engines runs or will run
 *
 * Context: May sleep.  Takes session_tasks_lock, for some tasks at a time.
 */
void utrace_dev_forget_tasks(struct utrace_session *session)
{
	while (session_forget_some(session))
		cond_resched();
}

/*
 * Find the cached answer about the current task for a target.  A task that
 * several targets cover keeps an answer for each viewer.  Without memory for
 * that, the answer is not cached and no HIDDEN record is written.
 */
static struct utrace_viewed *session_viewed(struct session_target *target,
					    struct session_task *task)
{
	struct utrace_viewed *viewed;

	/* The answer in @task may be that for another target. */
	if (task->data.key && task->data.key != target->key)
		task->several = true;
	if (!task->several)
		return &task->viewed;
	task->viewed.state = 0;
	task->viewed.reported = true;
	viewed = utrace_viewer_viewed(target->viewer);
	return viewed ?: &task->viewed;
}

/*
 * Slow path of utrace_dev_sees(): check the rights and cache the answer.
 * Writes a HIDDEN record when the task becomes hidden, only one if it becomes
 * hidden from several targets at one event.
 */
static noinline bool session_ask(struct session_target *target,
				 struct session_task *task)
{
	struct utrace_viewed *viewed = session_viewed(target, task);
	bool seen = current->mm && utrace_viewed_seen(viewed, current->mm);
	struct pid *reader;

	/*
	 * utrace_reader_get() takes a lock that all tasks of the session share.
	 */
	if (!seen) {
		reader = utrace_reader_get(&target->session->reader);
		seen = utrace_viewer_ask(target->viewer, reader, viewed);
		put_pid(reader);
	}
	task->data.key = target->key;
	task->number.target = target->id;
	if (seen) {
		viewed->reported = false;
		task->reported = false;
		return true;
	}
	utrace_dev_unhold(task);
	if (viewed->reported)
		return false;
	viewed->reported = true;
	if (task->first || !task->reported) {
		task->reported = true;
		utrace_dev_hide(target, task);
	}
	return false;
}

/**
 * utrace_dev_sees() - check whether events of current may be recorded
 * @target: the target whose engine has called back
 * @task: the session's state of the current task
 *
 * Writes a UTRACE_REC_HIDDEN if the task becomes hidden.
 *
 * Context: A callback, in the task itself; may sleep.  Takes
 * utrace_session.park_lock.
 * Return:
 * * true - the session may see the task
 * * false - the task is hidden
 */
bool utrace_dev_sees(struct session_target *target, struct session_task *task)
{
	if (likely(task->data.key == target->key && current->mm)) {
		if (likely(utrace_viewed_seen(&task->viewed, current->mm)))
			return true;
		if (session_hides(target, task))
			return false;
	}
	return session_ask(target, task);
}
