// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the records of events other than calls
 *
 * If a record is parked for lack of room, the task waits for the reader at the
 * next safe point (hold.c).
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utrace.h>

#include "count.h"
#include "record.h"

/**
 * utrace_dev_clone() - record the creation of a task
 * @action: not used
 * @engine: engine of the target
 * @clone_flags: the flags, with the exit signal in the low byte
 * @child: the new task, which does not run yet
 *
 * Context: report_clone of @engine; may sleep.
 * Return: %UTRACE_RESUME.  If records are parked, the safe point holds the
 * task.
 */
u32 utrace_dev_clone(u32 action, struct utrace_engine *engine,
		     unsigned long clone_flags, struct task_struct *child)
{
	struct utrace_rec_fork rec = {};
	struct session_writer w;
	unsigned long signal;

	if (!session_begin(&w, engine, _UTRACE_EVENT_CLONE) ||
	    !session_claim(&w))
		return UTRACE_RESUME;
	session_flush_entry(&w);
	rec.child_task = task_pid(child)->ino;
	rec.child_pid = task_tgid_nr_ns(child, w.target->session->ns);
	rec.child_tid = task_pid_nr_ns(child, w.target->session->ns);
	/* A valid signal does not have the bit of CLONE_NEWTIME. */
	rec.flags = clone_flags & ~(CSIGNAL & ~CLONE_NEWTIME);
	/*
	 * -1 of a thread is no valid signal.  With CLONE_PARENT the parent may
	 * exit and change it.
	 */
	signal = READ_ONCE(child->exit_signal);
	rec.exit_signal = valid_signal(signal) ? signal : 0;
	utrace_dev_write(&w, UTRACE_REC_FORK, 0, &rec.head + 1,
			 sizeof(rec) - sizeof(rec.head));
	session_end(&w, NULL);
	return UTRACE_RESUME;
}

/**
 * utrace_dev_exec() - record an execve() with the program and its arguments
 * @action: not used
 * @engine: engine of the target
 * @fmt: not used
 * @bprm: not used
 * @regs: not used
 *
 * If the task is hidden, this writes no record and only updates the ids.
 * Nothing is recorded if the memory has become undumpable while it was read.
 *
 * Context: report_exec of @engine; may sleep.
 * Return: %UTRACE_RESUME.  If records are parked, the safe point holds the
 * task.
 */
u32 utrace_dev_exec(u32 action, struct utrace_engine *engine,
		    const struct linux_binfmt *fmt,
		    const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct utrace_capture capture = {};
	struct utrace_rec_exec *rec;
	struct session_items items;
	struct session_writer w;
	u64 old_task;
	s32 old_tid;

	if (!session_begin(&w, engine, _UTRACE_EVENT_EXEC))
		return UTRACE_RESUME;
	/* The entry is flushed with the old ids and the rights at the entry. */
	session_flush_entry(&w);
	old_task = w.task->id;
	old_tid = w.task->ids.tid;
	utrace_dev_task_rename(w.task);
	if (!session_claim(&w))
		goto out;
	utrace_dev_capture_init(&capture, w.target, 0);
	utrace_capture_program(&capture, w.target->session->cred->user_ns);
	if (!utrace_viewer_may_see_memory(w.target->viewer))
		goto out;
	session_items(w.target, &items, &capture);
	if (utrace_dev_reserve(&w, UTRACE_REC_EXEC, items.flags,
			       sizeof(*rec) + items.size)) {
		rec = (void *)w.rec;
		rec->old_task = old_task;
		rec->old_tid = old_tid;
		rec->reserved = 0;
		session_copy_items(&w, sizeof(*rec), &items);
		utrace_dev_commit(&w);
	}
out:
	session_end(&w, &capture);
	return UTRACE_RESUME;
}

/* Get the value of utrace_rec_exit.exec_tid. */
static s32 session_exec_tid(const struct session_target *target)
{
	struct pid *pid = utrace_superseded_by();
	s32 tid = pid_nr_ns(pid, target->session->ns);

	put_pid(pid);
	return tid;
}

/**
 * utrace_dev_exit() - record the exit of a task
 * @action: not used
 * @engine: engine of the target
 * @orig_code: not used
 * @code: the wait status
 *
 * The task is not held, so this does not call session_end().
 *
 * Context: report_exit of @engine; may sleep.
 * Return: %UTRACE_RESUME.
 */
u32 utrace_dev_exit(u32 action, struct utrace_engine *engine,
		    long orig_code, long *code)
{
	struct utrace_rec_exit rec = {};
	struct session_writer w;
	u16 flags = 0;

	if (!session_begin(&w, engine, _UTRACE_EVENT_EXIT))
		return UTRACE_RESUME;
	/*
	 * The reader always gets a record of a task's end, without the exit
	 * status if the task is hidden.
	 */
	if (session_claim(&w)) {
		session_flush_entry(&w);
		rec.code = *code;
		rec.exec_tid = session_exec_tid(w.target);
	} else {
		w.task->claimed = true;
		flags = UTRACE_REC_F_HIDDEN;
	}
	utrace_dev_write(&w, UTRACE_REC_EXIT, flags, &rec.head + 1,
			 sizeof(rec) - sizeof(rec.head));
	return UTRACE_RESUME;
}

/**
 * utrace_dev_death() - count the death of a task
 * @engine: engine of the target
 * @group_dead: not used
 * @signal: not used
 *
 * Writes no record.  The next read(2) or poll(2) checks whether the target has
 * tasks left; a waiting reader is woken for that.
 *
 * Context: report_death of @engine; may sleep.
 * Return: %UTRACE_RESUME, which the core ignores.
 */
u32 utrace_dev_death(struct utrace_engine *engine, bool group_dead,
		     int signal)
{
	struct session_target *target = engine->data;
	struct utrace_task_data *data = utrace_task_data_find(target->session);

	if (data)
		utrace_dev_count_death(container_of(data, struct session_task,
						    data));
	utrace_dev_check_ends_soon(target->session);
	return UTRACE_RESUME;
}

/**
 * utrace_dev_signal() - record a signal that the task has dequeued
 * @action: the signal action so far, which is kept
 * @engine: engine of the target
 * @regs: not used
 * @info: info of the signal
 * @orig_ka: the action that the program has set; NULL: a report without a
 *	signal, which is not recorded
 * @return_ka: not used
 *
 * The answer ends a previous hold of the task.  If records are parked, the task
 * is held again at the safe point.  A signal that ends the process is not
 * delayed.  An engine wants all of UTRACE_EVENT_SIGNAL_SEEN or none of it, so
 * _UTRACE_EVENT_SIGNAL stands for any of its events.
 *
 * Context: report_signal of @engine; may sleep.
 * Return: %UTRACE_RESUME and the signal action of @action.
 */
u32 utrace_dev_signal(u32 action, struct utrace_engine *engine,
		      struct pt_regs *regs, kernel_siginfo_t *info,
		      const struct k_sigaction *orig_ka,
		      struct k_sigaction *return_ka)
{
	u32 answer = UTRACE_RESUME | utrace_signal_action(action);
	struct utrace_rec_signal *rec;
	struct session_writer w;

	if (!orig_ka || !session_begin(&w, engine, _UTRACE_EVENT_SIGNAL) ||
	    !session_claim(&w))
		return answer;
	session_flush_entry(&w);
	BUILD_BUG_ON(sizeof(rec->info) != sizeof(siginfo_t));
	if (utrace_dev_reserve(&w, UTRACE_REC_SIGNAL, 0, sizeof(*rec))) {
		rec = (void *)w.rec;
		copy_siginfo_to_external((siginfo_t *)rec->info, info);
		rec->handler = (unsigned long)orig_ka->sa.sa_handler;
		rec->flags = orig_ka->sa.sa_flags;
		utrace_dev_commit(&w);
	}
	session_end(&w, NULL);
	return answer;
}

/**
 * utrace_dev_jobctl() - record a stop or continuation of the process
 * @action: has %UTRACE_JCTL_AGAIN if the task has reported this stop before
 * @engine: engine of the target
 * @type: CLD_STOPPED or CLD_CONTINUED
 * @notify: the code that the parent gets, or 0
 *
 * A stop has one record, however often it is reported.  A task that takes part
 * in one stop after another does not reach the safe point in between.  So the
 * report that a stop is over (CLD_CONTINUED) sets the hold, and the task stops
 * in get_signal().  A hold that was set before would end with the answer to
 * this report.
 *
 * Context: report_jctl of @engine; may sleep.
 * Return: %UTRACE_INTERRUPT if a stop is over and the task must wait for the
 * reader, else %UTRACE_RESUME.
 */
u32 utrace_dev_jobctl(u32 action, struct utrace_engine *engine, int type,
		      int notify)
{
	struct utrace_rec_jobctl rec = {
		.type = type,
		.notify = notify,
	};
	struct session_writer w;

	if (!session_begin(&w, engine, _UTRACE_EVENT_JCTL))
		return UTRACE_RESUME;
	if (!(w.now & SESSION_NO_JOBCTL) && !(action & UTRACE_JCTL_AGAIN) &&
	    session_claim(&w)) {
		if (type == CLD_STOPPED)
			rec.signal = utrace_stop_signal();
		session_flush_entry(&w);
		utrace_dev_write(&w, UTRACE_REC_JOBCTL, 0, &rec.head + 1,
				 sizeof(rec) - sizeof(rec.head));
	}
	session_end(&w, NULL);
	return type == CLD_CONTINUED && utrace_dev_hold(w.task) ?
	       UTRACE_INTERRUPT : UTRACE_RESUME;
}
