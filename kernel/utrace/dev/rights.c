// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what a session may see of a task
 *
 * target.c checks rights once, when a session is attached.  From then on each
 * callback asks about the current task, before it captures anything: may both
 * the opener of the session and the process that attached it trace this task as
 * it is now?  The answer is kept with the task (struct session_task) and is
 * asked for again only when something differs on which it depends: the task's
 * credentials, the dumpability of its memory, or kernel.utrace.unprivileged.
 * So a program that becomes set-id or undumpable is hidden from its next event
 * on, and is seen again when it may be traced again.
 *
 * The reader is told each time that a task becomes hidden
 * (UTRACE_REC_HIDDEN), and always of the task's end.  The reader does not
 * learn the number of events that are kept back, since that number would reveal
 * what a hidden program does, as /proc/PID/io once did.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/coredump.h>
#include <linux/sched/task.h>
#include <linux/security.h>

#include "write.h"

/* In utrace_task_data.key beside session_key(): the task is hidden. */
#define SESSION_KEY_HIDDEN	BIT(3)

/* A task without memory is like one whose memory may be dumped by its user. */
static u64 session_key(const struct session_target *target)
{
	return current->mm ? session_key_of(target, current->mm) :
			     target->key + SUID_DUMP_USER;
}

/* Does the key of @task have the answer for the current task as it is now? */
static bool session_is_known(const struct session_target *target,
			     const struct session_task *task)
{
	return task->cred == current_real_cred() &&
	       (task->data.key & ~SESSION_KEY_HIDDEN) == session_key(target);
}

static bool session_is_capable(const struct cred *cred,
			       struct user_namespace *ns)
{
	return !security_capable(cred, ns, CAP_SYS_PTRACE, CAP_OPT_NOAUDIT);
}

/**
 * utrace_dev_may_trace_current() - may credentials trace the current task?
 * @cred: the credentials
 *
 * Open-coded ptrace_may_access() to the current task, for @cred instead of
 * current's credentials.  Security modules are called under task_lock(), as
 * there.  They are not to audit a refusal: the process that they would name is
 * the traced one, and not the reader.
 *
 * Context: A callback, in the task itself; may sleep.  Takes task_lock().
 * Return: true if programs with @cred may trace the task as it is now.
 */
bool utrace_dev_may_trace_current(const struct cred *cred)
{
	const struct cred *of = current_real_cred(), *old;
	struct mm_struct *mm = current->mm;
	bool may;

	if (!READ_ONCE(utrace_dev_unprivileged) &&
	    !session_is_capable(cred, &init_user_ns))
		return false;
	may = uid_eq(cred->uid, of->euid) && uid_eq(cred->uid, of->suid) &&
	      uid_eq(cred->uid, of->uid) && gid_eq(cred->gid, of->egid) &&
	      gid_eq(cred->gid, of->sgid) && gid_eq(cred->gid, of->gid);
	if (!may && !session_is_capable(cred, of->user_ns))
		return false;
	if (mm && get_dumpable(mm) != SUID_DUMP_USER &&
	    !session_is_capable(cred, mm->user_ns))
		return false;
	/*
	 * Security modules take current->cred for the subject and ->real_cred
	 * for the object.
	 */
	old = override_creds(cred);
	task_lock(current);
	may = !security_ptrace_access_check(current,
					    PTRACE_MODE_ATTACH_REALCREDS |
					    PTRACE_MODE_NOAUDIT);
	task_unlock(current);
	revert_creds(old);
	return may;
}

/* May programs with @cred see the current task as one of @target? */
static bool session_cred_sees(const struct session_target *target,
			      const struct cred *cred)
{
	if (!target->all)
		return utrace_dev_may_trace_current(cred);
	return READ_ONCE(utrace_dev_unprivileged) ||
	       session_is_capable(cred, &init_user_ns);
}

/*
 * Ask about the current task and keep the answer in @task.  The reader is told
 * when the task becomes hidden.
 */
static bool session_ask(struct session_target *target,
			struct session_task *task)
{
	const struct cred *opener = target->session->cred;
	/*
	 * Read before the question: a change that comes meanwhile makes the key
	 * differ at the next event, which asks again.
	 */
	u64 key = session_key(target);
	bool hidden;

	hidden = !session_cred_sees(target, opener) ||
		 (target->cred != opener &&
		  !session_cred_sees(target, target->cred));
	if (task->cred != current_real_cred()) {
		put_cred(task->cred);
		task->cred = get_cred(current_real_cred());
	}
	task->data.key = hidden ? key | SESSION_KEY_HIDDEN : key;
	task->number.target = target->id;
	if (!hidden && task->told == target->cred)
		task->told = NULL;
	if (!hidden)
		return true;
	utrace_dev_unhold(task);
	/* Another target, which is asked first, may have told it already. */
	if (!task->told || (task->first && task->told != target->cred)) {
		task->told = target->cred;
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
 * Context: A callback, in the task itself; may sleep.  Takes task_lock() and
 * utrace_session.park_lock.
 * Return:
 * * true - the session may see the task
 * * false - the task is hidden
 */
bool utrace_dev_sees(struct session_target *target, struct session_task *task)
{
	if (likely(session_is_known(target, task)))
		return !(task->data.key & SESSION_KEY_HIDDEN);
	return session_ask(target, task);
}

/**
 * utrace_dev_may_see() - may what was captured be recorded?
 * @target: the target whose engine has called back; utrace_dev_sees() was true
 *
 * The task's memory can become undumpable while it is captured: by
 * prctl(PR_SET_DUMPABLE) of another thread, or by a change of credentials of
 * another task that shares the memory.
 *
 * Context: A callback, in the task itself; does not sleep.
 * Return:
 * * true - the memory is dumpable, or the session may see undumpable memory
 * * false - what was captured must be dropped
 */
bool utrace_dev_may_see(const struct session_target *target)
{
	struct mm_struct *mm = current->mm;

	if (target->all || !mm || likely(get_dumpable(mm) == SUID_DUMP_USER))
		return true;
	return session_is_capable(target->session->cred, mm->user_ns) &&
	       session_is_capable(target->cred, mm->user_ns);
}

/* May current's credentials trace @task as it is now? */
static bool session_caller_may(struct task_struct *task)
{
	if (!READ_ONCE(utrace_dev_unprivileged) && !capable(CAP_SYS_PTRACE))
		return false;
	return ptrace_may_access(task, PTRACE_MODE_ATTACH_REALCREDS);
}

/**
 * utrace_dev_may_trace() - may the caller and an opener of the device trace?
 * @opener: credentials of the opener
 * @task: the task
 *
 * ptrace_may_access() is called for both, since security modules may compare
 * more than ids.
 *
 * Context: Process context.  Takes task_lock() of @task.
 * Return: true if both may trace @task.
 */
bool utrace_dev_may_trace(const struct cred *opener, struct task_struct *task)
{
	const struct cred *old;
	bool may;

	if (!session_caller_may(task))
		return false;
	old = override_creds(opener);
	may = session_caller_may(task);
	revert_creds(old);
	return may;
}

/* May @cred trace @task as it is now? */
static bool session_cred_may_trace(const struct cred *cred,
				   struct task_struct *task)
{
	const struct cred *old;
	bool may;

	/* ptrace_may_access() lets each process look at its own threads. */
	if (same_thread_group(task, current))
		return rcu_access_pointer(task->real_cred) ==
		       current_real_cred() && utrace_dev_may_trace_current(cred);
	if (!READ_ONCE(utrace_dev_unprivileged) &&
	    !session_is_capable(cred, &init_user_ns))
		return false;
	old = override_creds(cred);
	may = ptrace_may_access(task, PTRACE_MODE_ATTACH_REALCREDS |
				      PTRACE_MODE_NOAUDIT);
	revert_creds(old);
	return may;
}

/**
 * utrace_dev_may_tell() - may another task tell of a task of a target?
 * @target: the target
 * @task: the task
 *
 * The answer holds until the task runs, or its memory becomes undumpable.
 *
 * Context: Process context, with exec_update_lock of @task held.  Takes
 * task_lock() of @task.
 * Return:
 * * true - the opener of the session and the process that attached it may both
 *   trace @task
 * * false - @task is hidden
 */
bool utrace_dev_may_tell(const struct session_target *target,
			 struct task_struct *task)
{
	const struct cred *opener = target->session->cred;

	if (target->all)
		return true;
	return session_cred_may_trace(opener, task) &&
	       (target->cred == opener ||
		session_cred_may_trace(target->cred, task));
}
