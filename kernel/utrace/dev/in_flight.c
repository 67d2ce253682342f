// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the calls that tasks are blocked in
 *
 * A task that waits in a system call writes no record until the call is over.
 * For UTRACE_IOC_IN_FLIGHT, the caller writes the record of the entry on behalf
 * of each such task.  The task is not disturbed.
 *
 * The record is correct at its time, since the task cannot run while the record
 * is written:
 *
 *	caller				task
 *	rights, then:			blocked, N switches
 *	lock pi_lock
 *	blocked still, N switches?	(a waker waits for pi_lock)
 *	open the ring
 *	time = clock
 *	write the record, close
 *	unlock pi_lock			woken
 *					open a ring, time = clock
 *					write the exit of the call, close
 *
 * The exit is recorded after the unlock, so its clock is not before that of the
 * caller.  If the session has a record of the task, the time of the next one is
 * later even if the clock stands still (session_task.last).  The same lock
 * orders the caller's reads of the task's data after the task's stores.
 *
 * The rights are those of the task at the time of the record.  An execve()
 * changes them under exec_update_lock, which the caller holds.  All other
 * changes but one are made by the task itself, which would have to run; then
 * the number of switches differs.  The exception: another task may make the
 * memory undumpable, so that is compared too.
 */
#include <linux/audit.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/utrace.h>
#include <linux/wait.h>

#include <asm/syscall.h>

#include "../blocked.h"
#include "../builtin.h"
#include "../syscall_current.h"
#include "session.h"

/* A task of a target; counted. */
struct session_covered {
	struct task_struct *task;
	struct session_target *target;
	u64 slot;
};

/**
 * struct session_tasks - the tasks of the targets of a command
 * @covered: sorted by task, then by id of the target; a target may be listed
 *	twice for a task
 * @n: number of tasks found; if more than @max, there was no room for the rest
 * @max: number of elements of @covered
 * @target: the target whose tasks are being added
 */
struct session_tasks {
	struct session_covered *covered;
	unsigned int n;
	unsigned int max;
	struct session_target *target;
};

/**
 * struct session_blocked - the state of a blocked task at the first check
 * @covered: the task
 * @switches: number of its voluntary context switches, as wait_task_inactive()
 *	returns it
 * @mm: its memory; only compared
 * @dumpable: dumpability of @mm
 * @rec: the record
 */
struct session_blocked {
	const struct session_covered *covered;
	unsigned long switches;
	struct mm_struct *mm;
	int dumpable;
	struct utrace_rec_sys_enter rec;
};

/* Results for one task. */
enum session_in_flight {
	SESSION_NOT_RECORDED,	/* not in a call that is recorded */
	SESSION_RECORDED,	/* recorded */
	SESSION_RECORD_LOST,	/* lost */
	SESSION_TASK_BUSY,	/* the task executes another program */
};

static int session_dumpable(struct mm_struct *mm)
{
	return mm ? get_dumpable(mm) : SUID_DUMP_USER;
}

/*
 * Check whether the task has stayed off its CPU since @blocked was filled in.
 * The caller holds pi_lock, so the answer stays valid.  A held, traced or
 * stopped task is in no call, or at a place before or after the call that is
 * not recorded.
 */
static bool session_is_blocked(struct task_struct *task,
			       const struct session_blocked *blocked)
{
	const unsigned int not = __TASK_STOPPED | __TASK_TRACED |
				 TASK_RTLOCK_WAIT | TASK_WAKING | TASK_NEW |
				 TASK_DEAD;
	unsigned int state = READ_ONCE(task->__state);

	return state && !(state & not) && !READ_ONCE(task->on_rq) &&
	       (task->nvcsw | LONG_MIN) == blocked->switches &&
	       !task->exit_state &&
	       !(task->flags & (PF_EXITING | PF_POSTCOREDUMP)) &&
	       task->mm == blocked->mm &&
	       session_dumpable(task->mm) == blocked->dumpable;
}

/* Like utrace_current_call(), for a blocked task. */
static u32 session_blocked_nr(struct task_struct *task, struct pt_regs *regs)
{
	u32 nr = syscall_get_nr(task, regs);

	if (nr & UTRACE_SYSCALL_IA32)
		return UTRACE_SYSCALL_NONE;
#ifdef CONFIG_IA32_EMULATION
	if (syscall_get_arch(task) == AUDIT_ARCH_I386)
		nr |= UTRACE_SYSCALL_IA32;
#endif
	return nr;
}

/*
 * Check whether the task is in a call: after the report of the entry, and not
 * yet back from the call.  x86 and UML set the result to -ENOSYS at the entry.
 * A call may also return that, so the session must have seen the entry of the
 * call and not its exit, or have no record of the task at all.
 */
static bool session_is_in_call(const struct session_covered *covered,
			       const struct session_task *known,
			       struct pt_regs *regs)
{
	struct task_struct *task = covered->task;

	return syscall_get_nr(task, regs) >= 0 &&
	       syscall_get_error(task, regs) == -ENOSYS &&
	       !utrace_blocked_in_report(task) &&
	       (!known || utrace_blocked_in_call(task, covered->slot));
}

/* Check whether the session records the entry of such calls. */
static bool session_wants(const struct session_target *target, u32 nr)
{
	return target->settings->events & (UTRACE_REC_BIT(SYS_ENTER) |
					   UTRACE_REC_BIT(SYS_CALL)) &&
	       utrace_chooses_call(target->engine, nr);
}

/* Fill in the header with the ids that the task's own records have. */
static void session_fill_foreign(struct utrace_rec *head,
				 const struct session_covered *covered,
				 const struct session_task *known)
{
	struct task_struct *task = covered->task;
	struct session_target *target = covered->target;
	struct pid_namespace *ns = target->session->ns;

	*head = (struct utrace_rec){
		.size = sizeof(struct utrace_rec_sys_enter),
		.type = UTRACE_REC_SYS_ENTER,
		.target = target->id,
		.settings = session_settings_of(target->now),
		.flags = UTRACE_REC_F_IN_FLIGHT | UTRACE_REC_F_UNNUMBERED,
	};
	if (known) {
		head->task = known->id;
		head->pid = known->ids.pid;
		head->tid = known->ids.tid;
		return;
	}
	head->task = task_pid(task)->ino;
	head->pid = task_tgid_nr_ns(task, ns);
	head->tid = task_pid_nr_ns(task, ns);
}

static void session_fill_call(struct utrace_rec_sys_enter *rec, u32 nr,
			      struct task_struct *task, struct pt_regs *regs,
			      u64 began)
{
	unsigned int i;

	rec->nr = nr;
	rec->asked = nr == UTRACE_SYSCALL_NONE ? syscall_get_nr(task, regs) : 0;
	rec->began = began;
	syscall_get_arguments(task, regs, (unsigned long *)rec->args);
	for (i = 0; i < 6 && nr & UTRACE_SYSCALL_IA32; i++)
		rec->args[i] = (u32)rec->args[i];
}

/*
 * Write the record of a blocked task.  Called by task_call_func() with pi_lock
 * of the task held.  Returns enum session_in_flight.
 */
static int session_record_blocked(struct task_struct *task, void *arg)
{
	struct session_blocked *blocked = arg;
	const struct session_covered *covered = blocked->covered;
	struct session_target *target = covered->target;
	struct pt_regs *regs = task_pt_regs(task);
	struct session_task *known = NULL;
	struct utrace_task_data *data;
	u64 began = 0;
	u32 nr;

	if (!session_is_blocked(task, blocked))
		return SESSION_NOT_RECORDED;
	guard(rcu)();
	data = utrace_blocked_data(task, target->session);
	if (data)
		known = container_of(data, struct session_task, data);
	if (!session_is_in_call(covered, known, regs))
		return SESSION_NOT_RECORDED;
	nr = session_blocked_nr(task, regs);
	if (!session_wants(target, nr))
		return SESSION_NOT_RECORDED;
	session_fill_foreign(&blocked->rec.head, covered, known);
	if (known && session_entry_is_of_now(target, known, target->now))
		began = known->entry.began;
	session_fill_call(&blocked->rec, nr, task, regs, began);
	return utrace_dev_write_for(target, &blocked->rec.head, known) ?
	       SESSION_RECORDED : SESSION_RECORD_LOST;
}

/*
 * Check the rights to a task, and write its record if it is blocked.  The
 * caller holds exec_update_lock and a reference to the stack.
 */
static enum session_in_flight
session_record_if_visible(const struct session_covered *covered)
{
	struct session_blocked blocked = { .covered = covered };
	struct task_struct *task = covered->task;
	unsigned int state = READ_ONCE(task->__state);

	if (!state)
		return SESSION_NOT_RECORDED;
	blocked.switches = wait_task_inactive(task, state);
	if (!blocked.switches)
		return SESSION_NOT_RECORDED;
	task_lock(task);
	blocked.mm = task->mm;
	blocked.dumpable = session_dumpable(task->mm);
	task_unlock(task);
	if (!utrace_viewer_may_noaudit(covered->target->viewer, task))
		return SESSION_NOT_RECORDED;
	return task_call_func(task, session_record_blocked, &blocked);
}

/*
 * Does not wait for a task that executes another program: that may take
 * forever, and other users of the session wait for the caller.
 */
static enum session_in_flight
session_record_task(const struct session_covered *covered)
{
	struct task_struct *task = covered->task;
	enum session_in_flight ret = SESSION_TASK_BUSY;

	if (task == current || task->flags & (PF_KTHREAD | PF_USER_WORKER) ||
	    !READ_ONCE(task->__state) || READ_ONCE(task->exit_state) ||
	    !try_get_task_stack(task))
		return SESSION_NOT_RECORDED;
	if (down_read_trylock(&task->signal->exec_update_lock)) {
		ret = session_record_if_visible(covered);
		up_read(&task->signal->exec_update_lock);
	}
	put_task_stack(task);
	return ret;
}

/* Tasks */

static void session_add_task(struct task_struct *task, u64 slot, void *arg)
{
	struct session_tasks *tasks = arg;

	if (tasks->n < tasks->max)
		tasks->covered[tasks->n] = (struct session_covered){
			.task = get_task_struct(task),
			.target = tasks->target,
			.slot = slot,
		};
	tasks->n++;
}

/* Add the tasks of target @id, or of all targets if @id is 0. */
static void session_add_tasks(struct session_tasks *tasks,
			      struct utrace_session *session, u32 id)
{
	struct session_target *target;

	list_for_each_entry(target, &session->targets, list) {
		if (target->by_match || (id && target->id != id))
			continue;
		tasks->target = target;
		utrace_visit_covered(target->engine, session_add_task, tasks);
	}
}

static void session_drop_tasks(struct session_tasks *tasks)
{
	unsigned int n = min(tasks->n, tasks->max);

	while (n) {
		put_task_struct(tasks->covered[--n].task);
		cond_resched();
	}
	kvfree(tasks->covered);
	*tasks = (struct session_tasks){};
}

/* sort() holds no lock, and users choose the number of tasks. */
static int session_compare_covered(const void *a, const void *b)
{
	const struct session_covered *x = a, *y = b;

	cond_resched();
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->target->id != y->target->id)
		return x->target->id < y->target->id ? -1 : 1;
	return 0;
}

/*
 * Collect the tasks, with room for some that are forked during the walk.
 * Returns 0, -ENOMEM or -EINTR.
 */
static int session_collect(struct session_tasks *tasks,
			   struct utrace_session *session, u32 id)
{
	session_add_tasks(tasks, session, id);
	while (tasks->n > tasks->max) {
		unsigned int max = tasks->n + tasks->n / 8 + 8;

		session_drop_tasks(tasks);
		if (fatal_signal_pending(current))
			return -EINTR;
		tasks->covered = kvmalloc_array(max, sizeof(*tasks->covered),
						GFP_KERNEL_ACCOUNT);
		if (!tasks->covered)
			return -ENOMEM;
		tasks->max = max;
		session_add_tasks(tasks, session, id);
	}
	sort(tasks->covered, tasks->n, sizeof(*tasks->covered),
	     session_compare_covered, NULL);
	return 0;
}

/* Record each task once, for its first target that records the call. */
static int session_record_tasks(const struct session_tasks *tasks,
				struct utrace_ioc_in_flight *arg)
{
	const struct task_struct *done = NULL;
	enum session_in_flight ret;
	unsigned int i;

	for (i = 0; i < tasks->n; i++) {
		const struct session_covered *covered = &tasks->covered[i];

		if (covered->task == done)
			continue;
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = session_record_task(covered);
		if (ret != SESSION_NOT_RECORDED)
			done = covered->task;
		arg->written += ret == SESSION_RECORDED;
		arg->lost += ret == SESSION_RECORD_LOST;
		arg->busy += ret == SESSION_TASK_BUSY;
		cond_resched();
	}
	return 0;
}

/**
 * utrace_dev_in_flight() - %UTRACE_IOC_IN_FLIGHT
 * @session: the session; its lock is held
 * @data: struct utrace_ioc_in_flight; the numbers of records are stored there
 *
 * Context: Process context; may sleep.  Takes exec_update_lock and task_lock()
 * of the tasks.
 * Return: 0, or an error of UTRACE_IOC_IN_FLIGHT.
 */
int utrace_dev_in_flight(struct utrace_session *session, void *data)
{
	struct utrace_ioc_in_flight *arg = data;
	struct session_tasks tasks = {};
	struct session_target *target;
	int ret;

	lockdep_assert_held(&session->lock);

	if (arg->flags || arg->reserved)
		return -EINVAL;
	arg->written = 0;
	arg->lost = 0;
	arg->busy = 0;
	if (arg->target) {
		target = utrace_dev_target(session, arg->target);
		if (!target)
			return -ENOENT;
		if (target->by_match)
			return -EOPNOTSUPP;
	}
	ret = session_collect(&tasks, session, arg->target) ?:
	      session_record_tasks(&tasks, arg);
	session_drop_tasks(&tasks);
	/* The rings were closed by a full barrier. */
	if ((arg->written || arg->lost) && waitqueue_active(&session->reader.wait))
		utrace_dev_wake_soon(session, true);
	return ret;
}
