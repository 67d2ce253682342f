// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what a session knows of each task
 *
 * A task makes its struct session_task at the first event that any target of
 * the session reports, and finds it at each event after that.  The task drops
 * it at its own end, or when it adds another one and finds the session gone.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "count.h"

/*
 * Protects utrace_session.tasks of all sessions, and the owner of each entry,
 * against the end of a session (utrace_dev_forget_tasks()) and the end of a
 * task (session_put_data()) at the same time.  No lock is taken inside
 * session_tasks_lock.
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
 * @task: what a session knows of a task
 *
 * Context: Any but NMI.
 */
void utrace_dev_task_put(struct session_task *task)
{
	kref_put(&task->ref, session_free_task);
}

/* The task drops what is known of it; may run in a softirq. */
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
 * utrace_dev_task_rename() - take the ids that the current task has now
 * @task: what a session knows of the current task, which is new, or has called
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
 * utrace_dev_task() - find what a session knows of the current task, or make it
 * @target: a target of the session, whose engine has called back
 *
 * Context: A callback, in the task itself; may sleep.  Takes session_tasks_lock
 * for a task that is new.
 * Return:
 * * the structure - valid in the callback
 * * NULL - there is no memory
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
 * Remove some tasks from a session that ends.  Return true if there may be
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
		 * utrace_task_data_find() matches no more; the task drops the
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
