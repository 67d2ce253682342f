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
 * (UTRACE_REC_DETACHED), and always of the task's end.  The reader does not
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
#include <linux/slab.h>

#include "../task_data.h"
#include "session.h"

/**
 * struct session_task - what a target's engine knows of a task
 * @data: by which the task finds this structure.  Its owner is the target; NULL
 *	once the target has ended.  Written under session_tasks_lock.
 * @list: entry in session_target.tasks while there is an owner.  Under
 *	session_tasks_lock.
 * @cred: credentials of the task when it was last asked about, counted.  Only
 *	the task uses it.
 * @key: session_key() at that time.  Only the task uses it.
 * @hidden: the answer of that time.  Only the task uses it.
 *
 * The task makes the structure at the first event that the target's engine
 * reports, and frees it at its own end, or when it adds another one and finds
 * the owner gone.
 */
struct session_task {
	struct utrace_task_data data;
	struct list_head list;
	const struct cred *cred;
	unsigned int key;
	bool hidden;
};

/*
 * Protects session_target.tasks of all targets, and the owner of each entry,
 * against the end of a target (utrace_dev_forget_tasks()) and the end of a task
 * (session_put_task()) at the same time.  No lock is taken inside
 * session_tasks_lock.  Interrupts are off, since a task may be freed in a
 * softirq.
 */
static DEFINE_SPINLOCK(session_tasks_lock);	/* interrupts are off */

static bool session_is_capable(const struct cred *cred,
			       struct user_namespace *ns)
{
	return !security_capable(cred, ns, CAP_SYS_PTRACE, CAP_OPT_NOAUDIT);
}

/*
 * Open-coded ptrace_may_access() to the current task, for @cred instead of
 * current's credentials.  Security modules are called under task_lock(), as
 * there.  They are not to audit a refusal: the process that they would name is
 * the traced one, and not the reader.
 */
static bool session_cred_may_trace_current(const struct cred *cred)
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

/* What else the answer depends on, beside the credentials. */
static unsigned int session_key(void)
{
	struct mm_struct *mm = current->mm;

	return (mm ? get_dumpable(mm) : SUID_DUMP_USER) << 1 |
	       READ_ONCE(utrace_dev_unprivileged);
}

/* The task frees what is known of it; see struct session_task. */
static void session_put_task(struct utrace_task_data *data)
{
	struct session_task *task =
		container_of(data, struct session_task, data);

	scoped_guard(spinlock_irqsave, &session_tasks_lock)
		if (data->owner)
			list_del(&task->list);
	put_cred(task->cred);
	kfree(task);
}

/* Make the structure for the current task; NULL: no memory. */
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

/* Tasks that are removed in one section with interrupts off. */
#define SESSION_TASKS_AT_ONCE	32

/*
 * Remove some tasks from a target that ends.  Return true if there may be more.
 */
static bool session_forget_some(struct session_target *target)
{
	struct session_task *task;
	unsigned int n;

	guard(spinlock_irqsave)(&session_tasks_lock);
	for (n = 0; n < SESSION_TASKS_AT_ONCE; n++) {
		task = list_first_entry_or_null(&target->tasks,
						struct session_task, list);
		if (!task)
			return false;
		list_del(&task->list);
		/*
		 * utrace_task_data_find() matches no more; the task frees the
		 * structure.
		 */
		WRITE_ONCE(task->data.owner, NULL);
	}
	return true;
}

/**
 * utrace_dev_forget_tasks() - remove all tasks from a target that ends
 * @target: the target; no callback of its engine runs or will run
 *
 * Context: Any but NMI.  Takes session_tasks_lock.
 */
void utrace_dev_forget_tasks(struct session_target *target)
{
	while (session_forget_some(target))
		;
}

/*
 * Ask about the current task and keep the answer in @task; NULL: nothing is
 * known of it yet.  The reader is told when the task becomes hidden.  Without
 * memory the answer is not kept and the reader not told; the next event asks
 * again.
 */
static bool session_ask(struct session_target *target,
			struct session_task *task)
{
	const struct cred *opener = target->session->cred;
	/*
	 * Read before the question: a change that comes meanwhile makes the key
	 * differ at the next event, which asks again.
	 */
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
 * utrace_dev_sees() - may an event of the current task be recorded?
 * @target: the target whose engine has called back
 *
 * If the task becomes hidden, it writes a UTRACE_REC_DETACHED.
 *
 * Context: A callback, in the task itself; may sleep.  Takes task_lock(),
 * session_tasks_lock and session_ring.lock.
 * Return:
 * * true - the session may see the task
 * * false - the task is hidden
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
