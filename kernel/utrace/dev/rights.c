// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what a session may see of a task
 *
 * Rights are checked when a session is attached, see target.c.  From then on
 * each task is asked about itself, with each event: may both who opened the session
 * and who attached it trace this task as it is now?  The answer is kept with the
 * task, and asked for anew only when something differs that it depends on: the
 * task's credentials, whether its memory may be dumped, kernel.utrace.unprivileged.
 * So a program that becomes set-id, or undumpable, is hidden from the next event on,
 * before anything is captured, and comes back when it may be traced again.
 *
 * The reader is told once each time that a task becomes hidden
 * (UTRACE_REC_DETACHED), and of its end in any case.  How many events are kept
 * back meanwhile is not told: it would tell what a program does that nobody may look
 * into, as /proc/PID/io once did.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/coredump.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "../task_data.h"
#include "session.h"

/**
 * struct session_task - what a target's engine knows of a task
 * @data: how the task finds it; its owner is the target, under session_tasks_lock
 * @list: in session_target.tasks, as long as it has an owner
 * @cred: the task's credentials when it was asked, counted; with the following
 *	the task's own
 * @key: session_key() of then
 * @hidden: the answer
 *
 * Belongs to the task, which frees it.
 */
struct session_task {
	struct utrace_task_data data;
	struct list_head list;
	const struct cred *cred;
	unsigned int key;
	bool hidden;
};

/* The tasks of every target: a task may end while its target does. */
static DEFINE_SPINLOCK(session_tasks_lock);	/* a leaf, interrupts off */

static bool session_is_capable(const struct cred *cred, struct user_namespace *ns)
{
	return !security_capable(cred, ns, CAP_SYS_PTRACE, CAP_OPT_NOAUDIT);
}

/*
 * An open-coded ptrace_may_access(current) for @cred in the place of current's own
 * credentials, under task_lock() as there, which security modules rely on.  They are
 * asked without audit: the reader wants to know, and the reader is not here.
 */
static bool session_cred_may_trace_current(const struct cred *cred)
{
	const struct cred *of = current_real_cred(), *old;
	struct mm_struct *mm = current->mm;
	bool may;

	if (!READ_ONCE(utrace_dev_unprivileged) && !session_is_capable(cred, &init_user_ns))
		return false;
	may = uid_eq(cred->uid, of->euid) && uid_eq(cred->uid, of->suid) &&
	      uid_eq(cred->uid, of->uid) && gid_eq(cred->gid, of->egid) &&
	      gid_eq(cred->gid, of->sgid) && gid_eq(cred->gid, of->gid);
	if (!may && !session_is_capable(cred, of->user_ns))
		return false;
	if (mm && get_dumpable(mm) != SUID_DUMP_USER &&
	    !session_is_capable(cred, mm->user_ns))
		return false;
	/* Modules ask for the credentials of current, the object's are ->real_cred. */
	old = override_creds(cred);
	task_lock(current);
	may = !security_ptrace_access_check(current, PTRACE_MODE_ATTACH_REALCREDS |
					    PTRACE_MODE_NOAUDIT);
	task_unlock(current);
	revert_creds(old);
	return may;
}

/* What the answer depends on, apart from the credentials. */
static unsigned int session_key(void)
{
	struct mm_struct *mm = current->mm;

	return (mm ? get_dumpable(mm) : SUID_DUMP_USER) << 1 |
	       READ_ONCE(utrace_dev_unprivileged);
}

static void session_put_task(struct utrace_task_data *data)
{
	struct session_task *task = container_of(data, struct session_task, data);

	scoped_guard(spinlock_irqsave, &session_tasks_lock)
		if (data->owner)
			list_del(&task->list);
	put_cred(task->cred);
	kfree(task);
}

/* NULL without memory. */
static struct session_task *session_new_task(struct session_target *target)
{
	struct session_task *task = kzalloc(sizeof(*task), GFP_KERNEL_ACCOUNT);

	if (!task)
		return NULL;
	task->cred = get_cred(current_real_cred());
	task->data.owner = target;
	task->data.put = session_put_task;
	utrace_task_data_add(&task->data);
	scoped_guard(spinlock_irqsave, &session_tasks_lock)
		list_add(&task->list, &target->tasks);
	return task;
}

/* How many are let go of with interrupts off. */
#define SESSION_TASKS_AT_ONCE	32

static bool session_forget_some(struct session_target *target)
{
	struct session_task *task;
	unsigned int n;

	guard(spinlock_irqsave)(&session_tasks_lock);
	for (n = 0; n < SESSION_TASKS_AT_ONCE; n++) {
		task = list_first_entry_or_null(&target->tasks, struct session_task,
						list);
		if (!task)
			return false;
		list_del(&task->list);
		/* The task frees it, at its end or when it gets another one. */
		WRITE_ONCE(task->data.owner, NULL);
	}
	return true;
}

/**
 * utrace_dev_forget_tasks - a target ends
 * @target: the target; none of its callbacks runs, nor will
 *
 * Context: Any but NMI.
 */
void utrace_dev_forget_tasks(struct session_target *target)
{
	while (session_forget_some(target))
		;
}

/* The reader is told when the answer changes to the worse. */
static bool session_ask(struct session_target *target, struct session_task *task)
{
	const struct cred *opener = target->session->cred;
	/* Before the question: what changes meanwhile is asked about next time. */
	unsigned int key = session_key();
	bool hidden;

	hidden = !session_cred_may_trace_current(opener) ||
		 (target->cred != opener &&
		  !session_cred_may_trace_current(target->cred));
	task = task ?: session_new_task(target);
	if (!task)
		return !hidden;
	if (task->cred != current_real_cred()) {
		put_cred(task->cred);
		task->cred = get_cred(current_real_cred());
	}
	task->key = key;
	if (hidden && !task->hidden)
		utrace_dev_hide(target);
	task->hidden = hidden;
	return !hidden;
}

/**
 * utrace_dev_sees - may an event of the current task be recorded?
 * @target: whose engine is called
 *
 * Writes UTRACE_REC_DETACHED if it may not from now on.
 *
 * Context: A callback, in the task itself.  May sleep.
 * Return: true if so.
 */
bool utrace_dev_sees(struct session_target *target)
{
	struct session_task *task;
	struct utrace_task_data *data;

	if (target->all)
		return true;
	data = utrace_task_data_find(target);
	task = data ? container_of(data, struct session_task, data) : NULL;
	if (likely(task && task->cred == current_real_cred() &&
		   task->key == session_key()))
		return !task->hidden;
	return session_ask(target, task);
}

/**
 * utrace_dev_may_see - may what was captured of the current task be recorded?
 * @target: whose engine is called; utrace_dev_sees() it
 *
 * The memory may cease to be dumpable while something is captured: by
 * prctl(PR_SET_DUMPABLE) of another thread, or when a task that shares it becomes
 * another user.
 *
 * Context: A callback, in the task itself.
 * Return: true if so.
 */
bool utrace_dev_may_see(const struct session_target *target)
{
	struct mm_struct *mm = current->mm;

	if (target->all || !mm || likely(get_dumpable(mm) == SUID_DUMP_USER))
		return true;
	return session_is_capable(target->session->cred, mm->user_ns) &&
	       session_is_capable(target->cred, mm->user_ns);
}
