// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - requests of further tracers by ptrace(2)
 *
 * kernel/ptrace.c finds out whether the caller is the first tracer of the task
 * or a further one.  Most requests need only a stopped task, and are handled in
 * kernel/ptrace.c.  This file handles those that depend on the state that each
 * tracer has for itself: how to resume the task, and what was reported.
 *
 * Only one request at a time works on a task.  During a request of a further
 * tracer the task is frozen (freeze.c).  During a request of the first tracer
 * the task has JOBCTL_PTRACE_FROZEN instead.  A freeze waits until that bit is
 * clear, and the first tracer waits for the thaw (utrace_await_thaw()).
 */
#include <linux/cn_proc.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/ptrace.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
#include <linux/uidgid.h>

#include "debugregs.h"
#include "engine.h"
#include "ptracer.h"
#include "rights.h"

/* Freezing */

static bool ptracer_may_ask(struct ptracer *p)
{
	guard(spinlock_irqsave)(&p->lock);
	/*
	 * execve() may have given another thread the pid by which the tracer
	 * knows its task, and wait(2) has not reported it.  The tracer may mean
	 * the thread that is gone, see looks_like_a_spurious_pid().
	 */
	return p->state == PTRACER_STOPPED &&
	       (!p->unread || p->message_pid == p->pid ||
		p->code != (SIGTRAP | PTRACE_EVENT_EXEC << 8));
}

/**
 * __utrace_ptrace_check() - check for a further tracer, and freeze the task
 * @task: the task
 * @ignore_state: the request does not need a stopped task
 *
 * Context: Process context, sleeps.
 * Return:
 * * 0 - success; without @ignore_state the task is frozen
 * * -ESRCH - the caller is no tracer of @task, or @task is not stopped for it
 * * -ERESTARTSYS - the caller is being killed
 */
int __utrace_ptrace_check(struct task_struct *task, bool ignore_state)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);
	int ret;

	if (!p)
		return -ESRCH;
	if (ignore_state)
		return 0;
	if (READ_ONCE(p->state) != PTRACER_STOPPED)
		return -ESRCH;
	ret = utrace_freeze(task);
	if (ret)
		return ret;
	/*
	 * A group exit may have ended this stop, and the task may be in a stop
	 * for another tracer.
	 */
	if (!ptracer_may_ask(p)) {
		utrace_thaw(task);
		return -ESRCH;
	}
	p->frozen = true;
	return 0;
}

static void ptracer_thaw(struct ptracer *p)
{
	if (p->frozen)
		utrace_thaw(p->task);
	p->frozen = false;
}

/**
 * __utrace_ptrace_thaw() - thaw the task after __utrace_ptrace_check()
 * @task: the task
 *
 * Context: Process context.
 */
void __utrace_ptrace_thaw(struct task_struct *task)
{
	struct ptracer *p __free(ptracer_put) = NULL;

	/* A request that has resumed the task has already thawed it. */
	if (!(READ_ONCE(task->jobctl) & JOBCTL_UTRACE_FROZEN))
		return;
	p = ptracer_find(current, task);
	if (p)
		ptracer_thaw(p);
}

/* Resuming the task */

/*
 * Resume the task.  The hold is dropped while the task is frozen: once thawed,
 * the task could report a new stop, whose hold would be dropped instead.
 */
static void ptracer_release(struct ptracer *p, enum utrace_resume_action action,
			    enum ptracer_stop stop, int signr)
{
	if (stop == PTRACER_SENDS && signr)
		send_sig(signr, p->task, 1);
	ptracer_control(p, action);
	ptracer_thaw(p);
}

/*
 * Check whether the stop is a group stop, or the SIGSTOP of PTRACE_ATTACH was
 * reported in one.  The code of such a stop differs from those of events and
 * system calls: ptracer_report_stop() writes p->code and p->stop together.
 * p->lock is held.
 */
static bool ptracer_reported_group_stop(const struct ptracer *p)
{
	return p->stop != PTRACER_ANSWERS && !ptracer_code_is_trap(p);
}

/* Check for a decision about a signal on which the task has not acted yet. */
static bool ptracer_is_deciding(struct ptracer *p)
{
	guard(spinlock_irqsave)(&p->lock);
	return p->stop == PTRACER_ANSWERS && p->state == PTRACER_RUNNING;
}

/*
 * Report a stop that is due, in a task that is already stopped: for another
 * tracer, for an engine or in a group stop.  Returns false if that is not
 * possible now: the task runs, is stopped in a system call or at an event, or
 * has not acted yet on the decision of the tracer about a signal.
 */
static bool ptracer_stop_in_place(struct ptracer *p)
{
	kernel_siginfo_t made;

	if (utrace_freeze_if_safe(p->task))
		return false;
	if (ptracer_is_deciding(p)) {
		utrace_thaw(p->task);
		return false;
	}
	if (ptracer_take_made(p, &made)) {
		ptracer_control(p, UTRACE_STOP);
		ptracer_report_stop(p, p->task, PTRACER_SENDS, made.si_signo,
				    CLD_TRAPPED, 0, &made);
	} else if (ptracer_trap_is_due(p)) {
		ptracer_control(p, UTRACE_STOP);
		ptracer_trap(p, p->task);
	}
	utrace_thaw(p->task);
	return true;
}

/* PTRACE_CONT, PTRACE_SYSCALL, PTRACE_SINGLESTEP, PTRACE_SINGLEBLOCK */
static int ptracer_resume(struct ptracer *p, bool syscalls,
			  enum utrace_resume_action action, unsigned long signr)
{
	enum ptracer_stop stop;
	bool changed, pending, job;

	if (!valid_signal(signr))
		return -EIO;
	scoped_guard(spinlock_irqsave, &p->lock) {
		/* A group stop that has begun since must be reported first. */
		job = ptracer_reported_group_stop(p) && !p->notify;
		p->state = PTRACER_RUNNING;
		p->unread = false;
		p->signr = signr;
		p->step = action;
		changed = p->syscalls != syscalls;
		p->syscalls = syscalls;
		pending = p->trap || p->notify || p->made;
		stop = p->stop;
	}
	if (changed)
		ptracer_set_events(p);
	if (pending)
		utrace_ask_report(p->task);
	if (job && ptracer_group_stops(p->task)) {
		scoped_guard(spinlock_irqsave, &p->lock)
			p->runs = true;
		utrace_ignore_group_stop(p->task);
	}
	ptracer_release(p, action, stop, signr);
	/* Another tracer may prevent the task from making the report. */
	if (pending)
		ptracer_stop_in_place(p);
	return 0;
}

static int ptracer_step(struct ptracer *p, enum utrace_resume_action action,
			unsigned long signr)
{
	if (!arch_has_single_step() ||
	    (action == UTRACE_BLOCKSTEP && !arch_has_block_step()))
		return -EIO;
	return ptracer_resume(p, false, action, signr);
}

/*
 * PTRACE_DETACH.  From here on the tracer does not trace the task.  In a stop
 * for a signal the engine stays attached nevertheless, until it has returned
 * the decision about the signal.
 */
static int ptracer_detach(struct ptracer *p, unsigned long signr)
{
	enum ptracer_stop stop;

	if (!valid_signal(signr))
		return -EIO;
	scoped_guard(spinlock_irqsave, &p->lock) {
		stop = p->stop;
		p->state = PTRACER_LEAVING;
		p->unread = false;
		p->signr = signr;
	}
	ptracer_drop_debugregs(p);
	ptracer_forget(p);
	ptracer_rejoin_group_stop(p->task);
	ptracer_release(p, stop == PTRACER_ANSWERS ? UTRACE_RESUME : UTRACE_DETACH,
			stop, signr);
	proc_ptrace_connector(p->task, PTRACE_DETACH);
	return 0;
}

/* Report the stop that is set in @p: now, or as soon as the task can. */
static void ptracer_stop_soon(struct ptracer *p)
{
	if (!ptracer_stop_in_place(p))
		utrace_ask_report(p->task);
}

/**
 * __utrace_ptrace_attached() - stop a task after the attach of a further tracer
 * @task: the task, which stops if the request was PTRACE_ATTACH
 *
 * A task in a group stop is stopped for the tracer when the request returns,
 * also with PTRACE_SEIZE, unless another tracer detaches or resumes the task at
 * that moment, or the task sleeps in the kernel on its way to the stop.
 *
 * Context: Process context, sleeps.
 */
void __utrace_ptrace_attached(struct task_struct *task)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	if (!p)
		return;
	if (p->flags & PT_SEIZED) {
		if (!ptracer_group_stops(task) ||
		    !(utrace_task_stopped(task) ||
		      READ_ONCE(task->jobctl) & JOBCTL_PENDING_MASK))
			return;
		scoped_guard(spinlock_irqsave, &p->lock)
			p->trap = true;
	}
	ptracer_stop_soon(p);
}

/* PTRACE_INTERRUPT: request at least one more stop. */
static int ptracer_interrupt(struct ptracer *p)
{
	bool stopped;

	if (!(p->flags & PT_SEIZED))
		return -EIO;
	scoped_guard(spinlock_irqsave, &p->lock) {
		p->trap = true;
		stopped = p->state == PTRACER_STOPPED;
	}
	if (!stopped)
		ptracer_stop_soon(p);
	return 0;
}

/*
 * PTRACE_LISTEN.  In a group stop the tracer drops its hold.  The task stays in
 * the group stop, and reports when SIGCONT ends it.  If SIGCONT has come
 * already, that is reported at once.  In another PTRACE_EVENT_STOP, a group
 * stop that is in force is reported; if there is none, the task stays held.
 */
static int ptracer_listen(struct ptracer *p)
{
	bool job = ptracer_group_stops(p->task), listens;

	scoped_guard(spinlock_irqsave, &p->lock) {
		if (!(p->flags & PT_SEIZED) || p->code >> 8 != PTRACE_EVENT_STOP)
			return -EIO;
		p->state = PTRACER_LISTENING;
		p->runs = false;
		listens = ptracer_listens_in_group_stop(p);
		p->notify |= job && !listens;
	}
	if (!job && listens)
		ptracer_trap(p, p->task);
	if (!job)
		return 0;
	utrace_ask_report(p->task);
	ptracer_rejoin_group_stop(p->task);
	ptracer_release(p, UTRACE_RESUME, PTRACER_DROPS, 0);
	/* A first tracer that listens prevents the task from reporting. */
	if (READ_ONCE(p->notify))
		ptracer_stop_in_place(p);
	return 0;
}

static int ptracer_request(struct ptracer *p, long request, unsigned long data)
{
	switch (request) {
	case PTRACE_INTERRUPT:
		return ptracer_interrupt(p);
	case PTRACE_LISTEN:
		return ptracer_listen(p);
	case PTRACE_DETACH:
		return ptracer_detach(p, data);
	case PTRACE_CONT:
		return ptracer_resume(p, false, UTRACE_RESUME, data);
	case PTRACE_SYSCALL:
		return ptracer_resume(p, true, UTRACE_RESUME, data);
	case PTRACE_SINGLESTEP:
		return ptracer_step(p, UTRACE_SINGLESTEP, data);
#ifdef PTRACE_SINGLEBLOCK
	case PTRACE_SINGLEBLOCK:
		return ptracer_step(p, UTRACE_BLOCKSTEP, data);
#endif
#ifdef PTRACE_SYSEMU
	case PTRACE_SYSEMU:
	case PTRACE_SYSEMU_SINGLESTEP:
		return -EIO;
#endif
	default:
		return -ENOIOCTLCMD;
	}
}

/**
 * utrace_ptrace_request() - handle a request of a further tracer
 * @task: the task, which __utrace_ptrace_check() has checked
 * @request: PTRACE_*
 * @data: the last argument of ptrace(2)
 *
 * Context: Process context, sleeps.
 * Return:
 * * -ENOIOCTLCMD - the caller must handle it like that of a first tracer
 * * -ESRCH - the task has died
 * * -EIO - @data is no signal, the machine cannot step, the request does not
 *   fit the stop, or it is for the first tracer only
 * * 0 - success
 */
int utrace_ptrace_request(struct task_struct *task, long request,
			  unsigned long data)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	return p ? ptracer_request(p, request, data) : -ESRCH;
}

/* Options and the last stop */

/**
 * utrace_ptrace_setoptions() - handle PTRACE_SETOPTIONS of a further tracer
 * @task: the task
 * @data: PTRACE_O_*, checked
 *
 * Context: Process context, sleeps.
 * Return: 0, -EINVAL for options of the first tracer, or -ESRCH.
 */
int utrace_ptrace_setoptions(struct task_struct *task, unsigned long data)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	if (data & PTRACER_ONLY_FIRST)
		return -EINVAL;
	if (!p)
		return -ESRCH;
	scoped_guard(spinlock_irqsave, &p->lock) {
		p->flags &= ~(PTRACE_O_MASK << PT_OPT_FLAG_SHIFT);
		p->flags |= data << PT_OPT_FLAG_SHIFT;
	}
	ptracer_set_events(p);
	return 0;
}

/* A group stop without PTRACE_SEIZE has no siginfo.  p->lock is held. */
static bool ptracer_has_info(const struct ptracer *p)
{
	return p->info.si_signo || p->code >> 8 || ptracer_code_is_trap(p);
}

/* Make the siginfo of a stop without a signal, as ptrace_do_notify(). */
static void ptracer_trap_info(kernel_siginfo_t *info, struct task_struct *task,
			      int code)
{
	clear_siginfo(info);
	info->si_signo = code & 0x7f;
	info->si_code = code;
	info->si_pid = task_pid_nr_ns(task, task_active_pid_ns(task));
	guard(rcu)();
	info->si_uid = from_kuid_munged(task_cred_xxx(task, user_ns),
					task_uid(task));
}

/**
 * utrace_ptrace_getsiginfo() - handle PTRACE_GETSIGINFO of a further tracer
 * @task: the task
 * @info: filled in
 *
 * Context: Process context.
 * Return: 0, -EINVAL in a group stop without PTRACE_SEIZE, or -ESRCH.
 */
int utrace_ptrace_getsiginfo(struct task_struct *task, kernel_siginfo_t *info)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	if (!p)
		return -ESRCH;
	guard(spinlock_irqsave)(&p->lock);
	if (!ptracer_has_info(p))
		return -EINVAL;
	if (p->info.si_signo)
		copy_siginfo(info, &p->info);
	else
		ptracer_trap_info(info, task, p->code);
	return 0;
}

/**
 * utrace_ptrace_setsiginfo() - handle PTRACE_SETSIGINFO of a further tracer
 * @task: the task
 * @info: new siginfo for the signal of the current stop
 *
 * Context: Process context.
 * Return: 0, -EINVAL in a group stop without PTRACE_SEIZE, or -ESRCH.
 */
int utrace_ptrace_setsiginfo(struct task_struct *task,
			     const kernel_siginfo_t *info)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	if (!p)
		return -ESRCH;
	guard(spinlock_irqsave)(&p->lock);
	if (!ptracer_has_info(p))
		return -EINVAL;
	copy_siginfo(&p->info, info);
	return 0;
}

/**
 * utrace_ptrace_message() - handle PTRACE_GETEVENTMSG of a further tracer
 * @task: the task
 *
 * A message that is a pid is translated to the pid namespace of the tracer.
 *
 * Context: Process context.
 * Return: the message, or 0.
 */
unsigned long utrace_ptrace_message(struct task_struct *task)
{
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	if (!p)
		return 0;
	guard(spinlock_irqsave)(&p->lock);
	switch (p->code >> 8) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_VFORK_DONE:
	case PTRACE_EVENT_EXEC:
		return pid_vnr(p->message_pid);
	default:
		return p->message;
	}
}
