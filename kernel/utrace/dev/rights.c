// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what a session may see of a task
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
#include <linux/pid.h>

#include "write.h"

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
	task->viewed.told = true;
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
		viewed->told = false;
		task->told = false;
		return true;
	}
	utrace_dev_unhold(task);
	if (viewed->told)
		return false;
	viewed->told = true;
	if (task->first || !task->told) {
		task->told = true;
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
