// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - wait(2) for the further tracers of a task
 *
 * The stops and the end of a task are stored in the ptracer, where __do_wait()
 * finds them.  So each tracer reads them independently: a dead task can be
 * reaped before a further tracer has read the end, and the end can be read
 * after that.
 *
 * The end of a leader is reported when its whole group is dead, as for the
 * first tracer.  If the tracer is in the process of the parent, it reaps the
 * zombie, as a first tracer does, and the ptracer ends with the task.  This
 * does not apply if the parent ignores SIGCHLD, since then there is no zombie.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/resource.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <uapi/linux/wait.h>

#include "../../exit.h"
#include "ptracer.h"
#include "wait.h"

/* tasklist_lock is held. */
static void ptracer_notify_locked(struct ptracer *p, struct task_struct *task,
				  int why, int status)
{
	lockdep_assert_held(&tasklist_lock);

	/*
	 * A dead tracer has no sighand.  It has left its tasks or is about to.
	 */
	if (p->tracer->sighand)
		do_notify_status(task, p->tracer, why, status);
}

/**
 * ptracer_send_sigchld() - send SIGCHLD to a tracer, and wake it up if it waits
 * @p: the ptracer
 * @task: its task
 * @why: CLD_*
 * @status: si_status of the signal
 *
 * Context: No locks held.
 */
void ptracer_send_sigchld(struct ptracer *p, struct task_struct *task, int why,
			  int status)
{
	guard(read_lock)(&tasklist_lock);
	ptracer_notify_locked(p, task, why, status);
}

/* The end of tasks */

/* Get the si_code for a wait status. */
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

/* Check for a tracer in the parent's process.  tasklist_lock is held. */
static bool ptracer_is_of_parent(struct ptracer *p, struct task_struct *task)
{
	struct task_struct *parent;

	parent = rcu_dereference_protected(task->real_parent,
					   lockdep_is_held(&tasklist_lock));
	return same_thread_group(parent, p->tracer);
}

/*
 * Check whether the wait(2) of the parent reports the end of @task to the
 * tracer.  True if the tracer is in the process of the parent, and the parent
 * gets the end as that of a child, now or when the first tracer has read it.
 * tasklist_lock is held.
 */
static bool ptracer_parent_reports_end(struct ptracer *p,
				       struct task_struct *task)
{
	if (!thread_group_leader(task) || !ptracer_is_of_parent(p, task))
		return false;
	return task->ptrace ? !utrace_parent_ignores(task) :
			      task->exit_state != EXIT_DEAD;
}

/* Store how @task has ended.  Returns the wait status. */
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
 * Report the end of the task to a tracer.  A tracer that reaps the zombie gets
 * the SIGCHLD of the parent.  It is only woken up here: if do_notify_parent()
 * has notified a first tracer in another process instead, the tracer cannot
 * reap the zombie yet, but a wait(2) for stops has nothing left to wait for.
 * do_notify_parent() wakes the tracer again when the first tracer has read the
 * end or leaves.  tasklist_lock is held for writing.
 */
static void ptracer_report_end(struct ptracer *p, struct task_struct *task)
{
	int status;

	if (ptracer_parent_reports_end(p, task)) {
		__wake_up_parent(task, p->tracer);
		return;
	}
	status = ptracer_publish(p, task);
	ptracer_notify_locked(p, task, ptracer_why(status),
			      ptracer_si_status(status));
}

static void ptracer_task_died(struct ptracer *p, struct task_struct *task)
{
	struct pid *pgrp;

	scoped_guard(spinlock_irqsave, &p->lock) {
		p->state = PTRACER_DEAD;
		p->unread = false;
		pgrp = p->pgrp;
		p->pgrp = get_task_pid(task, PIDTYPE_PGID);
	}
	put_pid(pgrp);
	if (!delay_group_leader(task))
		ptracer_report_end(p, task);
}

/**
 * __utrace_ptrace_died() - report the death of a task to its further tracers
 * @task: the task, a zombie.  If it is a leader and other threads are left, the
 *	end is reported when the last of these is released
 *
 * Context: tasklist_lock is held for writing, so nobody reaps the task before.
 */
void __utrace_ptrace_died(struct task_struct *task)
{
	struct ptracer *p;

	lockdep_assert_held_write(&tasklist_lock);

	guard(rcu)();
	ptracer_for_each(p, task)
		ptracer_task_died(p, task);
}

/* Job control */

/**
 * __utrace_ptrace_continued() - report that SIGCONT has ended a group stop
 * @why: CLD_CONTINUED, or CLD_STOPPED if the stop was not complete
 *
 * Each tracer of each thread can read this by WCONTINUED.  SIGCHLD is sent only
 * to the tracers of the leader, as for a first tracer.
 *
 * Context: A thread of the process, with tasklist_lock held for reading.
 */
void __utrace_ptrace_continued(int why)
{
	struct task_struct *leader = current->group_leader, *t;
	struct ptracer *p;
	int status = SIGCONT;

	lockdep_assert_held_read(&tasklist_lock);

	/* As in do_notify_parent_cldstop(). */
	if (why == CLD_STOPPED)
		status = current->signal->group_exit_code & 0x7f;
	guard(rcu)();
	for_each_thread(current, t) {
		ptracer_for_each(p, t) {
			guard(spinlock_irqsave)(&p->lock);
			p->continued = ptracer_lives(p);
		}
	}
	ptracer_for_each(p, leader)
		ptracer_notify_locked(p, leader, why, status);
}

static bool ptracer_set_notify(struct ptracer *p, bool stops)
{
	guard(spinlock_irqsave)(&p->lock);
	if (!(stops || p->flags & PT_SEIZED) || !ptracer_lives(p))
		return false;
	p->notify = true;
	p->runs &= !stops;
	return true;
}

/**
 * __utrace_ptrace_trap_notify() - request a trap at a group stop or SIGCONT
 * @task: the task, stopped or not
 * @stops: true if a group stop begins, false if SIGCONT is sent
 *
 * The trap is like that of ptrace_trap_notify().  SIGCONT is reported only to
 * tracers with PTRACE_SEIZE.
 *
 * Context: siglock of @task is held.  If @stops, by the thread that begins the stop.
 */
void __utrace_ptrace_trap_notify(struct task_struct *task, bool stops)
{
	struct ptracer *p;
	bool any = false;

	lockdep_assert_held(&task->sighand->siglock);

	scoped_guard(rcu)
		ptracer_for_each(p, task)
			any |= ptracer_set_notify(p, stops);
	if (any)
		utrace_ask_report_locked(task);
	if (!any || !stops)
		return;
	/* do_signal_stop() keeps the old signal of a task in TASK_STOPPED. */
	if (task->jobctl & JOBCTL_STOPPED)
		task->jobctl = (task->jobctl & ~JOBCTL_STOP_SIGMASK) |
			       (current->jobctl & JOBCTL_STOP_SIGMASK);
	utrace_stop_again(task);
}

/* wait(2) */

/* Wait status of a task that was continued. */
#define PTRACER_CONTINUED	0xffff

/**
 * struct ptracer_news - result of a call of wait(2)
 * @wo: the call
 * @code: the wait status of a dead task, PTRACER_CONTINUED, or the code of a
 *	stop
 * @why: CLD_*
 * @pid: the pid of the task in the namespace of the caller
 * @zombie: a task may be a zombie that the caller can reap
 */
struct ptracer_news {
	struct wait_opts *wo;
	int code;
	int why;
	pid_t pid;
	bool zombie;
};

/* Get the pid by which wait(2) selects the task.  p->lock is held. */
static struct pid *ptracer_pid(struct ptracer *p, enum pid_type type)
{
	if (p->state < PTRACER_DEAD)
		return task_pid_type(p->task, type);
	return type == PIDTYPE_PGID ? p->pgrp : p->pid;
}

/* Check whether the call selects @p.  p->lock is held. */
static bool ptracer_is_meant(struct ptracer *p, const struct wait_opts *wo)
{
	if (wo->wo_flags & __WNOTHREAD ? p->tracer != current :
	    !same_thread_group(p->tracer, current))
		return false;
	return wo->wo_type == PIDTYPE_MAX ||
	       ptracer_pid(p, wo->wo_type) == wo->wo_pid;
}

/* Consume the end of a task, unless WNOWAIT is given.  p->lock is held. */
static bool ptracer_take_end(struct ptracer *p, struct ptracer_news *news)
{
	struct wait_opts *wo = news->wo;

	/* Another thread has read the end: there is nothing to wait for. */
	if (p->state == PTRACER_READ)
		return false;
	/* As in wait_task_zombie(). */
	if (p->state == PTRACER_ENDED && !(wo->wo_flags & WEXITED))
		return false;
	if (wo->wo_flags & (WEXITED | WCONTINUED))
		wo->notask_error = 0;
	news->zombie |= p->state == PTRACER_DEAD;
	if (p->state != PTRACER_ENDED)
		return false;
	news->code = p->status;
	news->why = ptracer_why(p->status);
	if (!(wo->wo_flags & WNOWAIT))
		p->state = PTRACER_READ;
	return true;
}

/* Consume a stop or a SIGCONT, unless WNOWAIT is given.  p->lock is held. */
static bool ptracer_take_stop(struct ptracer *p, struct ptracer_news *news)
{
	struct wait_opts *wo = news->wo;

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

/* Consume news of @p, unless WNOWAIT is given.  False if there are none. */
static bool ptracer_take_news(struct ptracer *p, void *arg)
{
	struct ptracer_news *news = arg;

	guard(spinlock_irqsave)(&p->lock);
	if (!ptracer_is_meant(p, news->wo) ||
	    !(p->state < PTRACER_DEAD ? ptracer_take_stop(p, news) :
					ptracer_take_end(p, news)))
		return false;
	news->pid = pid_vnr(p->pid);
	return true;
}

/* Find news of a single task, which lives or has died.  Under RCU. */
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

/* Get the wait status, as wait4(2) stores it. */
static int ptracer_wait_status(const struct ptracer_news *news)
{
	return news->why == CLD_TRAPPED ? news->code << 8 | 0x7f : news->code;
}

/* Get the status, as waitid(2) stores it. */
static int ptracer_waitid_status(const struct ptracer_news *news)
{
	if (news->why == CLD_CONTINUED)
		return SIGCONT;
	return news->why == CLD_TRAPPED ? news->code :
					  ptracer_si_status(news->code);
}

/* Fill in the results of the call. */
static void ptracer_fill(struct ptracer *p, const struct ptracer_news *news)
{
	struct wait_opts *wo = news->wo;
	struct waitid_info *info = wo->wo_info;
	struct rusage *rusage = wo->wo_rusage;

	if (rusage)
		getrusage(p->task, RUSAGE_BOTH, rusage);
	wo->wo_stat = ptracer_wait_status(news);
	if (!info)
		return;
	info->cause = news->why;
	info->status = ptracer_waitid_status(news);
	info->pid = news->pid;
	info->uid = from_kuid_munged(current_user_ns(), task_uid(p->task));
}

/*
 * Check whether the task of @p is a zombie that the caller can reap as its
 * tracer.  It cannot as long as the task has a first tracer in another process,
 * which must read the end before.  A first tracer in the parent's process
 * shares the end with the other threads, as in wait_consider_task(): nobody
 * would wake them when such a tracer exits.
 */
static bool ptracer_is_zombie(struct ptracer *p, void *arg)
{
	struct task_struct *task = p->task;

	/* A cheap check first: many tasks, with tasklist_lock held. */
	if (READ_ONCE(p->state) != PTRACER_DEAD)
		return false;
	if (!pid_alive(task) || task->exit_state != EXIT_ZOMBIE ||
	    ptrace_reparented(task) || delay_group_leader(task) ||
	    !ptracer_is_of_parent(p, task))
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

/*
 * Report the end of a child that the caller traces.  A tracer reads it by any
 * wait(2), whatever the exit signal is and whichever thread is the parent.
 */
static long ptracer_reap_zombie(struct wait_opts *wo)
{
	struct ptracer *p;
	long ret = 0;

	read_lock(&tasklist_lock);
	p = ptracer_find_zombie(wo);
	if (p)
		ret = wait_consider_task(wo, 1, p->task);
	/* Else wait_consider_task() has released the lock. */
	if (!ret)
		read_unlock(&tasklist_lock);
	if (p)
		ptracer_put(p);
	return ret;
}

/**
 * __utrace_ptrace_wait() - handle wait(2) for the further tracers
 * @wo: the call.  ->notask_error becomes 0 if a task may have news later
 *
 * Context: Process context, no locks held.  The caller may have set its state to
 * TASK_INTERRUPTIBLE.
 * Return: the pid of the reported task, 0 if there is none, or an error of
 * wait_consider_task().
 */
long __utrace_ptrace_wait(struct wait_opts *wo)
{
	struct ptracer_news news = { .wo = wo };
	struct ptracer *p __free(ptracer_put) = ptracer_find_news(&news);

	if (!p)
		return news.zombie ? ptracer_reap_zombie(wo) : 0;
	sched_annotate_sleep();
	ptracer_fill(p, &news);
	if (ptracer_news_are_end(&news) && !(wo->wo_flags & WNOWAIT))
		ptracer_forget(p);
	return news.pid;
}
