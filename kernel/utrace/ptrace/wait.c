// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what wait(2) tells the further tracers of a task
 *
 * A stop and the end of a task are written into the ptracer, and __do_wait()
 * looks there.  So each tracer reads them by itself: nobody has to wait for a
 * further tracer before a dead task can be reaped, and the end can be read when
 * the task is long gone.
 *
 * The end of a leader is told when its whole group is dead, as for the first
 * tracer.  If the tracer is of the process of the parent, it reaps the zombie, as a
 * first tracer does, and the ptracer ends with the task; but not if the parent
 * ignores SIGCHLD, when there is no zombie.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched/cputime.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/wait_bit.h>
#include <uapi/linux/wait.h>

#include "../../exit.h"
#include "ptracer.h"

/**
 * ptracer_notify() - send SIGCHLD to a tracer, and wake it if it waits
 * @p: the ptracer
 * @task: its task
 * @why: CLD_*
 * @status: si_status of the signal
 *
 * Context: No locks held.
 */
void ptracer_notify(struct ptracer *p, struct task_struct *task, int why,
		    int status)
{
	guard(read_lock)(&tasklist_lock);
	/* A dead tracer has none; it leaves its tasks, or has. */
	if (p->tracer->sighand)
		do_notify_status(task, p->tracer, why, status);
}

/* The end of tasks */

/* si_code of a wait status. */
static int ptracer_why(int status)
{
	if (!(status & 0x7f))
		return CLD_EXITED;
	return status & 0x80 ? CLD_DUMPED : CLD_KILLED;
}

static int ptracer_si_status(int status)
{
	return status & 0x7f ?: status >> 8;
}

/*
 * Is a tracer told by the wait(2) of a parent?  True if @p is of the process of the
 * parent, and the parent is told the end of @task as that of a child, now or when the
 * first tracer has read the end.  tasklist_lock is held.
 */
static bool ptracer_parent_tells(struct ptracer *p, struct task_struct *task)
{
	struct task_struct *parent;

	if (!thread_group_leader(task))
		return false;
	parent = rcu_dereference_protected(task->real_parent,
					   lockdep_is_held(&tasklist_lock));
	if (!same_thread_group(parent, p->tracer))
		return false;
	return task->ptrace ? !utrace_parent_ignores(task) :
			      task->exit_state != EXIT_DEAD;
}

/* Write down how @task has ended.  Returns the wait status. */
static int ptracer_publish(struct ptracer *p, struct task_struct *task)
{
	struct signal_struct *sig = task->signal;
	int status = sig->flags & SIGNAL_GROUP_EXIT ? sig->group_exit_code :
						      task->exit_code;

	ptracer_keep_pid(p);
	guard(spinlock_irqsave)(&p->lock);
	p->status = status;
	p->state = PTRACER_ENDED;
	return status;
}

/*
 * Tell a tracer how its task has ended.  A tracer that reaps the zombie is told with
 * the parent, and woken in case that a first tracer has to read the end before.
 * tasklist_lock is held for writing.
 */
static void ptracer_tell_end(struct ptracer *p, struct task_struct *task)
{
	bool parent = ptracer_parent_tells(p, task);
	int status = parent ? 0 : ptracer_publish(p, task);

	/* A dead tracer has none; it leaves its tasks, or has. */
	if (!p->tracer->sighand)
		return;
	if (parent)
		__wake_up_parent(task, p->tracer);
	else
		do_notify_status(task, p->tracer, ptracer_why(status),
				 ptracer_si_status(status));
}

static bool ptracer_die(struct ptracer *p, void *arg)
{
	struct task_struct *task = arg;
	struct pid *pgrp;

	scoped_guard(spinlock_irqsave, &p->lock) {
		p->state = PTRACER_DEAD;
		p->unread = false;
		pgrp = p->pgrp;
		p->pgrp = get_task_pid(task, PIDTYPE_PGID);
	}
	put_pid(pgrp);
	/* __utrace_ptrace_attached() may wait; the state before the waiter. */
	smp_mb();
	wake_up_var(&p->state);
	if (!delay_group_leader(task))
		ptracer_tell_end(p, task);
	return false;
}

/**
 * __utrace_ptrace_died() - tell the further tracers of a task that it has died
 * @task: the task, a zombie.  If it is a leader, and other threads are left, its
 *	tracers are told when the last of these is released
 *
 * Context: tasklist_lock is held for writing, so that nobody reaps the task before.
 */
void __utrace_ptrace_died(struct task_struct *task)
{
	lockdep_assert_held_write(&tasklist_lock);

	ptracer_any_of_task(task, ptracer_die, task);
}

/* Job control */

static bool ptracer_set_continued(struct ptracer *p, void *arg)
{
	guard(spinlock_irqsave)(&p->lock);
	p->continued = ptracer_lives(p);
	return false;
}

/**
 * __utrace_ptrace_continued() - SIGCONT has ended a stop of job control
 * @why: CLD_CONTINUED, or CLD_STOPPED if the stop was not complete
 *
 * The tracers of all threads can read it by WCONTINUED, each by itself.  SIGCHLD is
 * for the tracers of the leader, as for a first tracer.
 *
 * Context: A thread of the process, with tasklist_lock held for reading.
 */
void __utrace_ptrace_continued(int why)
{
	struct task_struct *leader = current->group_leader, *t;
	struct task_struct *tracers[PTRACER_MAX];
	unsigned int i, n;
	int status = SIGCONT;

	/* As do_notify_parent_cldstop() has it. */
	if (why == CLD_STOPPED)
		status = current->signal->group_exit_code & 0x7f;
	for_each_thread(current, t)
		ptracer_any_of_task(t, ptracer_set_continued, NULL);
	n = ptracer_get_further(leader, tracers);
	for (i = 0; i < n; i++)
		if (tracers[i]->sighand)
			do_notify_status(leader, tracers[i], why, status);
	ptracer_put_all(tracers, n);
}

static bool ptracer_set_trap(struct ptracer *p, void *any)
{
	guard(spinlock_irqsave)(&p->lock);
	if (!(p->flags & PT_SEIZED) || !ptracer_lives(p))
		return false;
	p->trap = true;
	*(bool *)any = true;
	return false;
}

/**
 * __utrace_ptrace_trap_notify() - SIGCONT is sent to a task
 * @task: the task, stopped or not
 *
 * The tracers with PTRACE_SEIZE are told by a trap, as by ptrace_trap_notify().
 *
 * Context: siglock of @task is held.
 */
void __utrace_ptrace_trap_notify(struct task_struct *task)
{
	bool any = false;

	lockdep_assert_held(&task->sighand->siglock);

	ptracer_any_of_task(task, ptracer_set_trap, &any);
	if (any)
		utrace_ask_report_locked(task);
}

/* wait(2) */

/* A wait status: the task was continued. */
#define PTRACER_CONTINUED	0xffff

/**
 * struct ptracer_news - what a call of wait(2) tells
 * @wo: the call
 * @code: the wait status of a dead task, PTRACER_CONTINUED, or the code of a stop
 * @why: CLD_*
 */
struct ptracer_news {
	struct wait_opts *wo;
	int code;
	int why;
};

/* The pid by which wait(2) means the task.  p->lock is held. */
static struct pid *ptracer_pid(struct ptracer *p, enum pid_type type)
{
	if (p->state < PTRACER_DEAD)
		return task_pid_type(p->task, type);
	return type == PIDTYPE_PGID ? p->pgrp : p->pid;
}

/* Is @p one of those that the call is about?  p->lock is held. */
static bool ptracer_is_meant(struct ptracer *p, const struct wait_opts *wo)
{
	if (wo->wo_flags & __WNOTHREAD ? p->tracer != current :
	    !same_thread_group(p->tracer, current))
		return false;
	return wo->wo_type == PIDTYPE_MAX ||
	       ptracer_pid(p, wo->wo_type) == wo->wo_pid;
}

/* Take the end of a task, unless WNOWAIT is given.  p->lock is held. */
static bool ptracer_take_end(struct ptracer *p, struct ptracer_news *news)
{
	struct wait_opts *wo = news->wo;

	/* Another thread has read the end: there is nothing to wait for. */
	if (p->state == PTRACER_READ)
		return false;
	/* As wait_task_zombie() has it. */
	if (p->state == PTRACER_ENDED && !(wo->wo_flags & WEXITED))
		return false;
	if (wo->wo_flags & (WEXITED | WCONTINUED))
		wo->notask_error = 0;
	if (p->state != PTRACER_ENDED)
		return false;
	news->code = p->status;
	news->why = ptracer_why(p->status);
	if (!(wo->wo_flags & WNOWAIT))
		p->state = PTRACER_READ;
	return true;
}

/* Has @p something to tell?  If so, it is told now, unless WNOWAIT is given. */
static bool ptracer_take_news(struct ptracer *p, void *arg)
{
	struct ptracer_news *news = arg;
	struct wait_opts *wo = news->wo;

	guard(spinlock_irqsave)(&p->lock);
	if (!ptracer_is_meant(p, wo))
		return false;
	if (p->state >= PTRACER_DEAD)
		return ptracer_take_end(p, news);
	wo->notask_error = 0;
	if (p->unread) {
		news->code = p->code;
		news->why = CLD_TRAPPED;
		p->unread = wo->wo_flags & WNOWAIT;
		return true;
	}
	if (p->continued && wo->wo_flags & WCONTINUED) {
		news->code = PTRACER_CONTINUED;
		news->why = CLD_CONTINUED;
		p->continued = wo->wo_flags & WNOWAIT;
		return true;
	}
	return false;
}

/*
 * The task that @pid means, if it is there.  The caller is under RCU.
 */
static struct ptracer *ptracer_find_by_pid(struct ptracer_news *news)
{
	struct pid *pid = news->wo->wo_pid;
	struct task_struct *task = pid_task(pid, PIDTYPE_PID);
	struct ptracer *p = NULL;

	if (task)
		p = ptracer_of_task(task, ptracer_take_news, news);
	return p ?: ptracer_of_end(pid, ptracer_take_news, news);
}

static struct ptracer *ptracer_find_news(struct ptracer_news *news)
{
	guard(rcu)();
	if (news->wo->wo_type == PIDTYPE_PID)
		return ptracer_find_by_pid(news);
	return ptracer_of_process(current, ptracer_take_news, news);
}

static bool ptracer_news_are_end(const struct ptracer_news *news)
{
	return news->why != CLD_TRAPPED && news->why != CLD_CONTINUED;
}

/* The wait status, as wait4(2) stores it. */
static int ptracer_wait_status(const struct ptracer_news *news)
{
	return news->why == CLD_TRAPPED ? news->code << 8 | 0x7f : news->code;
}

/* The status, as waitid(2) stores it. */
static int ptracer_waitid_status(const struct ptracer_news *news)
{
	if (news->why == CLD_CONTINUED)
		return SIGCONT;
	return news->why == CLD_TRAPPED ? news->code :
					  ptracer_si_status(news->code);
}

/* Fill in the results of the call.  Returns the pid of the task. */
static pid_t ptracer_fill(struct ptracer *p, const struct ptracer_news *news)
{
	struct wait_opts *wo = news->wo;
	struct waitid_info *info = wo->wo_info;
	struct rusage *rusage = wo->wo_rusage;
	pid_t pid;

	/* A task that was reaped has no pid any more. */
	pid = ptracer_news_are_end(news) ? pid_vnr(p->pid) :
					   task_pid_vnr(p->task);
	if (rusage)
		getrusage(p->task, RUSAGE_BOTH, rusage);
	wo->wo_stat = ptracer_wait_status(news);
	if (!info)
		return pid;
	info->cause = news->why;
	info->status = ptracer_waitid_status(news);
	info->pid = pid;
	info->uid = from_kuid_munged(current_user_ns(), task_uid(p->task));
	return pid;
}

/**
 * __utrace_ptrace_wait() - the part of wait(2) for the further tracers
 * @wo: the call.  ->notask_error becomes 0 if a task may have news later
 *
 * Context: Process context, no locks held.  The caller may have set its state to
 * TASK_INTERRUPTIBLE.
 * Return: the pid of the task whose news are told, or 0.
 */
long __utrace_ptrace_wait(struct wait_opts *wo)
{
	struct ptracer_news news = { .wo = wo };
	struct ptracer *p __free(ptracer_put) = ptracer_find_news(&news);
	pid_t pid;

	if (!p)
		return 0;
	sched_annotate_sleep();
	pid = ptracer_fill(p, &news);
	if (ptracer_news_are_end(&news) && !(wo->wo_flags & WNOWAIT))
		ptracer_forget(p);
	return pid;
}

/*
 * Is the task of @p a zombie that the caller can reap as its tracer?  If there is a
 * first tracer, that is to read the end before.
 */
static bool ptracer_is_zombie(struct ptracer *p, void *arg)
{
	struct task_struct *task = p->task, *parent;

	/* Cheap, for a tracer with many tasks: tasklist_lock is held. */
	if (READ_ONCE(p->state) != PTRACER_DEAD)
		return false;
	if (!pid_alive(task) || task->exit_state != EXIT_ZOMBIE ||
	    task->ptrace || delay_group_leader(task))
		return false;
	parent = rcu_dereference_protected(task->real_parent,
					   lockdep_is_held(&tasklist_lock));
	if (!same_thread_group(parent, p->tracer))
		return false;
	guard(spinlock_irqsave)(&p->lock);
	return ptracer_is_meant(p, arg);
}

static struct ptracer *ptracer_find_zombie(struct wait_opts *wo)
{
	struct task_struct *task;

	if (wo->wo_type != PIDTYPE_PID)
		return ptracer_of_process(current, ptracer_is_zombie, wo);
	guard(rcu)();
	task = pid_task(wo->wo_pid, PIDTYPE_PID);
	return task ? ptracer_of_task(task, ptracer_is_zombie, wo) : NULL;
}

/**
 * __utrace_ptrace_reap() - tell the end of a child that the caller traces
 * @wo: the call of wait(2)
 *
 * A tracer reads the end of a child of its process by any wait(2), whatever the exit
 * signal is and whichever thread is the parent.
 *
 * Context: Process context, with tasklist_lock held for reading.
 * Return: as wait_consider_task(): if not 0, tasklist_lock was released.
 */
int __utrace_ptrace_reap(struct wait_opts *wo)
{
	struct ptracer *p = ptracer_find_zombie(wo);
	int ret;

	if (!p)
		return 0;
	ret = wait_consider_task(wo, 1, p->task);
	ptracer_put(p);
	return ret;
}
