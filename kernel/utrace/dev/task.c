// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what a session knows of each task, and may
 * see of it
 *
 * A task makes its struct session_task at the first event that any target of
 * the session reports, and finds it at each event after that.  The task drops
 * it at its own end, or when it adds another one and finds the session gone.
 *
 * target.c checks rights once, when a session is attached.  From then on each callback
 * asks whether the viewer of the target may see the current task as it is now (viewer.c),
 * before it captures anything.  The answer is kept with the task (struct session_task).
 * So a program that becomes set-id or undumpable is hidden from its next event on, and is
 * seen again when it may be traced again.
 *
 * The reader is told each time that a task becomes hidden
 * (UTRACE_REC_HIDDEN), and always of the task's end.  The reader does not
 * learn the number of events that are kept back, since that number would reveal
 * what a hidden program does, as /proc/PID/io once did.
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

/*
 * Find the last answer about the current task for a target.  A task that several targets
 * cover keeps an answer for each viewer.  Without memory for it nothing is kept, and the
 * reader is not told.
 */
static struct utrace_viewed *session_viewed(struct session_target *target,
					    struct session_task *task)
{
	struct utrace_viewed *viewed;

	/* The answer in @task is that for another target. */
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
 * Ask about the current task and keep the answer.  The reader is told when the task becomes
 * hidden from a target, once if it becomes hidden from several targets at one event.
 */
static noinline bool session_ask(struct session_target *target,
				 struct session_task *task)
{
	struct utrace_viewed *viewed = session_viewed(target, task);
	bool seen = current->mm && utrace_viewed_seen(viewed, current->mm);
	struct pid *reader;

	/* utrace_reader_get() takes a lock of the session, which all its tasks share. */
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
 * utrace_dev_sees() - may an event of the current task be recorded?
 * @target: the target whose engine has called back
 * @task: what the session knows of the current task
 *
 * If the task becomes hidden, it writes a UTRACE_REC_HIDDEN.
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
