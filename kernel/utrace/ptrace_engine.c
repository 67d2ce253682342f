// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the engine of a further tracer by ptrace(2)
 *
 * The callbacks here turn events of a task into stops of ptrace(2): the task
 * stores what to report, notifies the tracer, and stops until the tracer
 * resumes it.  If the task is stopped already, a request of the tracer may also
 * report a stop.  The first tracer of a task has no engine.
 *
 *	RUNNING --- event, reported by the task --> STOPPED
 *	STOPPED --- PTRACE_CONT and its like -----> RUNNING
 *	STOPPED --- PTRACE_LISTEN ----------------> LISTENING
 *	LISTENING - PTRACE_INTERRUPT, group stop -> STOPPED
 *	STOPPED --- PTRACE_DETACH ----------------> LEAVING
 *	any state - the task has died -------------> DEAD, then ENDED
 *	ENDED ----- wait(2) -----------------------> READ
 *
 * A signal is kept (UTRACE_STOP_HERE) until the tracer has decided about it, so
 * further tracers and other engines see it one after the other.  All other
 * events are reported to the tracers of a task at once, and the task continues
 * when all of them have resumed it.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal.h>

#include "ptrace/engine.h"
#include "ptrace/follow.h"
#include "ptrace/ptracer.h"
#include "ptrace/wait.h"

/* The bits of an action that a callback without a decision must return. */
#define PTRACER_ECHO	(UTRACE_SIGNAL_MASK | UTRACE_SIGNAL_HOLD)

/**
 * ptracer_report_stop() - report a stop to a tracer
 * @p: the ptracer
 * @task: its task, which is about to stop, or is stopped
 * @stop: kind of the stop
 * @code: wait status, shifted right by 8 bits
 * @why: CLD_TRAPPED or CLD_STOPPED, for the SIGCHLD
 * @message: for PTRACE_GETEVENTMSG
 * @info: for PTRACE_GETSIGINFO; NULL if the stop is not for a signal
 *
 * Context: Process context, no locks held.
 */
void ptracer_report_stop(struct ptracer *p, struct task_struct *task,
			 enum ptracer_stop stop, int code, int why,
			 unsigned long message, const kernel_siginfo_t *info)
{
	scoped_guard(spinlock_irqsave, &p->lock) {
		if (p->state >= PTRACER_LEAVING)
			return;
		p->state = PTRACER_STOPPED;
		p->unread = true;
		/* Any stop satisfies PTRACE_INTERRUPT. */
		p->trap = false;
		p->stop = stop;
		p->step = UTRACE_RESUME;	/* Any stop ends a step. */
		p->code = code;
		p->signr = 0;
		p->message = message;
		if (info)
			copy_siginfo(&p->info, info);
		else
			p->info.si_signo = 0;
	}
	ptracer_send_sigchld(p, task, why, code & 0x7f);
}

/* Report an event of ptrace(2) whose message is a number. */
static void ptracer_report_event(struct ptracer *p, int event,
				 unsigned long message)
{
	ptracer_report_stop(p, current, PTRACER_DROPS, SIGTRAP | event << 8,
			    CLD_TRAPPED, message, NULL);
}

/* Store @pid in a member of @p, with a reference of its own. */
static void ptracer_set_pid(struct ptracer *p, struct pid **member,
			    struct pid *pid)
{
	struct pid *old = get_pid(pid);

	scoped_guard(spinlock_irqsave, &p->lock)
		swap(*member, old);
	put_pid(old);
}

/* Report an event whose message is a pid.  The reader translates it. */
static void ptracer_report_pid(struct ptracer *p, int event, struct pid *pid)
{
	ptracer_set_pid(p, &p->message_pid, pid);
	ptracer_report_event(p, event, 0);
}

static bool ptracer_is_stopped(struct ptracer *p)
{
	guard(spinlock_irqsave)(&p->lock);
	return p->state == PTRACER_STOPPED;
}

/* Check for a listening tracer without a group stop: the task stays held. */
static bool ptracer_listens_and_holds(const struct ptracer *p)
{
	lockdep_assert_held(&p->lock);

	return p->state == PTRACER_LISTENING && ptracer_code_is_trap(p);
}

/*
 * Get the return value of a callback that reports nothing: the task continues
 * as the tracer wants it.  A task that the tracer has in a stop is here for
 * other tracers only, and a requested step must still be made.  UTRACE_RESUME
 * would end either.
 */
static u32 ptracer_answer(struct ptracer *p)
{
	guard(spinlock_irqsave)(&p->lock);
	return p->state == PTRACER_STOPPED || ptracer_listens_and_holds(p) ?
	       UTRACE_STOP : p->step;
}

/**
 * ptracer_group_stops() - check whether a group stop is in force or under way
 * @task: a task of the process; it may run, see utrace_ignore_group_stop()
 *
 * Context: Any.  Takes siglock.
 * Return: true if there is a group stop.
 */
bool ptracer_group_stops(struct task_struct *task)
{
	unsigned long flags;
	bool stops;

	if (!lock_task_sighand(task, &flags))
		return false;
	stops = utrace_group_stops(task);
	unlock_task_sighand(task, &flags);
	return stops;
}

/* Get the signal of the group stop; SIGTRAP without one.  siglock is held. */
static int ptracer_stop_signal(struct task_struct *task)
{
	int signr = task->jobctl & JOBCTL_STOP_SIGMASK;

	return utrace_group_stops(task) ? signr ?: SIGSTOP : SIGTRAP;
}

/**
 * ptracer_trap() - report PTRACE_EVENT_STOP, or a group stop
 * @p: the ptracer.  Without PTRACE_SEIZE the stop is a group stop
 * @task: its task: the current task, or one that is in a stop
 *
 * Context: Process context, no locks held.  Takes siglock.
 */
void ptracer_trap(struct ptracer *p, struct task_struct *task)
{
	unsigned long flags;
	int signr;

	if (!lock_task_sighand(task, &flags))
		return;
	signr = ptracer_stop_signal(task);
	/* SIGCONT has ended the group stop in between. */
	if (signr == SIGTRAP && !(p->flags & PT_SEIZED))
		signr = SIGSTOP;
	/* With siglock held, so that no group stop begins in between. */
	scoped_guard(spinlock, &p->lock) {
		p->notify = false;
		/* A reported group stop hides WCONTINUED of the last one. */
		p->continued &= signr == SIGTRAP;
	}
	unlock_task_sighand(task, &flags);
	if (p->flags & PT_SEIZED)
		signr |= PTRACE_EVENT_STOP << 8;
	ptracer_report_stop(p, task, PTRACER_DROPS, signr, CLD_STOPPED, 0,
			    NULL);
}

/* Signals */

/**
 * ptracer_listens_in_group_stop() - check for PTRACE_LISTEN in a group stop
 * @p: the ptracer
 *
 * Context: Any.  ptracer::lock is held.
 * Return: true if the tracer listens, after a group stop.
 */
bool ptracer_listens_in_group_stop(const struct ptracer *p)
{
	lockdep_assert_held(&p->lock);

	return p->state == PTRACER_LISTENING && !ptracer_code_is_trap(p);
}

/**
 * ptracer_trap_is_due() - check whether ptracer_trap() must be called
 * @p: the ptracer.  Without PTRACE_SEIZE, a group stop that is over is no
 *	longer reported
 *
 * Context: Any.  Takes siglock.
 * Return: true if it must; false also if the task is in a stop for the tracer.
 */
bool ptracer_trap_is_due(struct ptracer *p)
{
	unsigned long flags;
	bool due = false;

	if (!lock_task_sighand(p->task, &flags))
		return false;
	scoped_guard(spinlock, &p->lock) {
		bool job = utrace_group_stops(p->task);

		if (p->state == PTRACER_STOPPED)
			break;
		/* Without PTRACE_SEIZE no end of a group stop is reported. */
		if (!job && !(p->flags & PT_SEIZED))
			p->notify = false;
		/* The tracer still listens if another one lets the task run. */
		due = p->trap || p->notify ||
		      (!job && ptracer_listens_in_group_stop(p));
	}
	unlock_task_sighand(p->task, &flags);
	return due;
}

/**
 * ptracer_take_made() - consume a signal that tracing has made for this tracer
 * @p: the ptracer
 * @info: filled in
 *
 * The info is as in kernel/ptrace.c: SIGSTOP comes from the kernel, the
 * SIGTRAP of execve() from the task itself.
 *
 * Context: Any.
 * Return: false if there is none, or the task is in a stop for the tracer.
 */
bool ptracer_take_made(struct ptracer *p, kernel_siginfo_t *info)
{
	guard(spinlock_irqsave)(&p->lock);
	if (!p->made || p->state == PTRACER_STOPPED)
		return false;
	clear_siginfo(info);
	info->si_signo = __ffs(p->made);
	p->made &= ~BIT(info->si_signo);
	if (info->si_signo == SIGSTOP) {
		info->si_code = SI_KERNEL;
	} else {
		guard(rcu)();
		info->si_code = SI_USER;
		info->si_pid = task_tgid_nr_ns(p->task,
					       task_active_pid_ns(p->task));
		info->si_uid = from_kuid_munged(task_cred_xxx(p->task, user_ns),
						task_uid(p->task));
	}
	return true;
}

/* Check whether the tracer needs one more report. */
static bool ptracer_has_more(struct ptracer *p)
{
	guard(spinlock_irqsave)(&p->lock);
	return p->trap || p->notify || p->made || ptracer_listens_in_group_stop(p);
}

/* Consume the step that the tracer has requested. */
static bool ptracer_take_step(struct ptracer *p)
{
	enum utrace_resume_action step;

	guard(spinlock_irqsave)(&p->lock);
	step = p->step;
	p->step = UTRACE_RESUME;
	return step != UTRACE_RESUME;
}

/* Keep a signal, and report it to the tracer. */
static u32 ptracer_keep(struct ptracer *p, const kernel_siginfo_t *info)
{
	ptracer_report_stop(p, current, PTRACER_ANSWERS, info->si_signo,
			    CLD_TRAPPED, 0, info);
	return UTRACE_STOP | UTRACE_STOP_HERE;
}

/* Fill in *@info for a signal that the tracer has replaced. */
static void ptracer_new_info(struct ptracer *p, int signr,
			     kernel_siginfo_t *info)
{
	clear_siginfo(info);
	info->si_signo = signr;
	info->si_code = SI_USER;
	guard(rcu)();
	info->si_pid = task_pid_vnr(p->tracer);
	info->si_uid = from_kuid_munged(current_user_ns(), task_uid(p->tracer));
}

/*
 * Apply the decision of the tracer about a signal: drop it, pass it on, or
 * replace it.  A signal that was made in a report has no @orig_ka.  If it is
 * dropped, the report continues.  If it is blocked, it is queued, since the
 * core would deliver it.
 */
static u32 ptracer_decide(struct ptracer *p, u32 action, kernel_siginfo_t *info,
			  const struct k_sigaction *orig_ka,
			  struct k_sigaction *return_ka)
{
	int was = info->si_signo, signr;
	u32 resume = UTRACE_RESUME;

	scoped_guard(spinlock_irqsave, &p->lock) {
		p->stop = PTRACER_DROPS;
		signr = p->signr;
		if (p->state == PTRACER_LEAVING)
			resume = UTRACE_DETACH;
		if (signr)
			copy_siginfo(info, &p->info);
	}
	if (!signr)
		return resume | (orig_ka ? UTRACE_SIGNAL_IGN :
					   action & PTRACER_ECHO);
	if (signr != info->si_signo)
		ptracer_new_info(p, signr, info);
	if (orig_ka && signr == was)
		return resume | (action & PTRACER_ECHO);
	if (!orig_ka && sigismember(&current->blocked, signr)) {
		send_sig_info(signr, info, current);
		return resume | UTRACE_SIGNAL_IGN;
	}
	return resume | utrace_signal_of(signr, return_ka);
}

/*
 * Handle a report of get_signal() without a signal from a queue.  An engine
 * that was called before may have turned it into a signal.
 */
static u32 ptracer_report(struct ptracer *p, u32 action, kernel_siginfo_t *info)
{
	u32 echo = action & PTRACER_ECHO;
	kernel_siginfo_t made;

	switch (utrace_signal_action(action)) {
	case UTRACE_SIGNAL_HANDLER:
		if (ptracer_take_step(p)) {
			ptracer_report_stop(p, current, PTRACER_DROPS, SIGTRAP,
					    CLD_TRAPPED, 0, NULL);
			return UTRACE_STOP | echo;
		}
		fallthrough;
	case UTRACE_SIGNAL_REPORT:
		if (ptracer_take_made(p, &made))
			return ptracer_keep(p, &made);
		if (!ptracer_trap_is_due(p))
			return ptracer_answer(p) | echo;
		ptracer_trap(p, current);
		return UTRACE_STOP | echo;
	case UTRACE_SIGNAL_IGN:
		if (info->si_signo == SIGTRAP && ptracer_take_step(p) &&
		    !utrace_step_is_queued())
			return ptracer_keep(p, info);
		/* Another tracer may have turned a report into this signal. */
		if (ptracer_has_more(p))
			utrace_ask_report(current);
		return ptracer_answer(p) | echo;
	default:
		return ptracer_keep(p, info);
	}
}

/* Check whether an engine that was called before has dropped the signal. */
static bool ptracer_is_dropped(u32 action, int signr,
			       const struct k_sigaction *orig_ka)
{
	unsigned int event;

	return utrace_signal_action(action) == UTRACE_SIGNAL_IGN &&
	       utrace_classify(signr, orig_ka, &event) != UTRACE_SIGNAL_IGN;
}

static u32 ptracer_signal(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs, kernel_siginfo_t *info,
			  const struct k_sigaction *orig_ka,
			  struct k_sigaction *return_ka)
{
	struct ptracer *p = engine->data;

	/* Signals that the kernel forces are not reported. */
	if (orig_ka && (orig_ka->sa.sa_flags & SA_IMMUTABLE))
		return ptracer_answer(p) | (action & PTRACER_ECHO);
	/*
	 * A signal waits in a stop that the tracer has not ended, also if the
	 * first tracer or another signal came in between.  At a report without
	 * a signal the pass goes on, and the task stops after it, where signals
	 * are reported to the first tracer.
	 */
	if (ptracer_is_stopped(p)) {
		if (utrace_signal_action(action) == UTRACE_SIGNAL_REPORT &&
		    p->stop != PTRACER_ANSWERS)
			return UTRACE_STOP | (action & PTRACER_ECHO);
		return UTRACE_STOP | UTRACE_STOP_HERE;
	}
	if (p->stop == PTRACER_ANSWERS)
		return ptracer_decide(p, action, info, orig_ka, return_ka);
	if (READ_ONCE(p->state) == PTRACER_LEAVING)
		return UTRACE_DETACH | (action & PTRACER_ECHO);
	if (!orig_ka)
		return ptracer_report(p, action, info);
	if (ptracer_is_dropped(action, info->si_signo, orig_ka))
		return ptracer_answer(p) | (action & PTRACER_ECHO);
	scoped_guard(spinlock_irqsave, &p->lock) {
		if (ptracer_listens_and_holds(p))
			return UTRACE_STOP | UTRACE_STOP_HERE;
	}
	return ptracer_keep(p, info);
}

/* The task is about to take part in a group stop, or SIGCONT has ended one. */
static u32 ptracer_jctl(u32 action, struct utrace_engine *engine, int type,
			int notify)
{
	struct ptracer *p = engine->data;

	/*
	 * A stop that the tracer has not ended continues here, and not in the
	 * group stop, in which the task could not be frozen.
	 */
	if (ptracer_is_stopped(p))
		return UTRACE_STOP | UTRACE_STOP_HERE;
	/* In a stop for another engine, ptracer::notify reports it later. */
	if (type != CLD_STOPPED || utrace_in_stop() ||
	    (current->flags & PF_EXITING))
		return ptracer_answer(p);
	scoped_guard(spinlock_irqsave, &p->lock) {
		if (ptracer_listens_in_group_stop(p) && !p->trap && !p->notify)
			return UTRACE_RESUME;
	}
	ptracer_trap(p, current);
	return UTRACE_STOP | UTRACE_STOP_HERE;
}

/* System calls */

static u32 ptracer_syscall(struct ptracer *p, unsigned long message)
{
	int code = p->flags & PT_TRACESYSGOOD ? SIGTRAP | 0x80 : SIGTRAP;

	ptracer_report_stop(p, current, PTRACER_SENDS, code, CLD_TRAPPED,
			    message, NULL);
	return UTRACE_STOP | UTRACE_STOP_HERE;
}

static u32 ptracer_syscall_entry(u32 action, struct utrace_engine *engine,
				 struct pt_regs *regs)
{
	u32 echo = action & UTRACE_SYSCALL_MASK;

	if (action & UTRACE_SYSCALL_RESUMED)
		return ptracer_answer(engine->data) | echo;
	return echo | ptracer_syscall(engine->data,
				      PTRACE_EVENTMSG_SYSCALL_ENTRY);
}

static u32 ptracer_syscall_exit(u32 action, struct utrace_engine *engine,
				struct pt_regs *regs)
{
	return ptracer_syscall(engine->data, PTRACE_EVENTMSG_SYSCALL_EXIT);
}

/* Creation, execve() and end of tasks */

/* A child that the tracer follows is traced since its creation. */
static u32 ptracer_clone(u32 action, struct utrace_engine *engine,
			 unsigned long clone_flags, struct task_struct *child)
{
	struct ptracer *p = engine->data;
	int event = ptracer_clone_event(clone_flags);

	if (clone_flags & CLONE_VFORK)
		ptracer_set_pid(p, &p->vfork_pid, task_pid(child));
	if (clone_flags & CLONE_UNTRACED || !ptracer_wants(p, event) ||
	    !__utrace_ptrace_traces(p->tracer, child))
		return ptracer_answer(p);
	ptracer_report_pid(p, event, task_pid(child));
	return UTRACE_STOP | UTRACE_STOP_HERE;
}

static u32 ptracer_vfork_done(u32 action, struct utrace_engine *engine,
			      pid_t child_pid)
{
	struct ptracer *p = engine->data;

	if (!ptracer_wants(p, PTRACE_EVENT_VFORK_DONE))
		return ptracer_answer(p);
	/*
	 * The tracer has attached after vfork(2).  The pid of the child may be
	 * free already.
	 */
	if (!p->vfork_pid) {
		guard(rcu)();
		ptracer_set_pid(p, &p->vfork_pid,
				find_pid_ns(child_pid, &init_pid_ns));
	}
	ptracer_report_pid(p, PTRACE_EVENT_VFORK_DONE, p->vfork_pid);
	return UTRACE_STOP | UTRACE_STOP_HERE;
}

static u32 ptracer_exec(u32 action, struct utrace_engine *engine,
			const struct linux_binfmt *fmt,
			const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct ptracer *p = engine->data;
	struct pid *pid;

	action = ptracer_answer(p);
	scoped_guard(spinlock_irqsave, &p->lock) {
		/* The previous pid, see __utrace_ptrace_exchanged(). */
		pid = p->old_pid ?: get_pid(p->pid);
		p->old_pid = NULL;
		if (!(p->flags & PT_SEIZED) &&
		    !ptracer_wants(p, PTRACE_EVENT_EXEC))
			p->made |= BIT(SIGTRAP);
	}
	if (ptracer_wants(p, PTRACE_EVENT_EXEC)) {
		ptracer_report_pid(p, PTRACE_EVENT_EXEC, pid);
		action = UTRACE_STOP | UTRACE_STOP_HERE;
	} else if (p->made) {
		utrace_ask_report(current);
	}
	put_pid(pid);
	return action;
}

static u32 ptracer_exit(u32 action, struct utrace_engine *engine,
			long orig_code, long *code)
{
	struct ptracer *p = engine->data;

	/* A group exit has ended the stop in which the tracer detached. */
	if (READ_ONCE(p->state) == PTRACER_LEAVING)
		return UTRACE_DETACH;
	/* The task would not stop, so a request of the tracer would fail. */
	if (!ptracer_wants(p, PTRACE_EVENT_EXIT) || utrace_may_not_stop()) {
		/* wait(2) must not report the stop that the exit has ended. */
		guard(spinlock_irqsave)(&p->lock);
		p->state = PTRACER_RUNNING;
		p->unread = false;
		return UTRACE_RESUME;
	}
	ptracer_report_event(p, PTRACE_EVENT_EXIT, *code);
	return UTRACE_STOP | UTRACE_STOP_HERE;
}

/*
 * The parent has reaped the task, or the tracer has as a thread of the parent's
 * process; or another thread has replaced the dead leader by execve().  A
 * ptracer whose end was reported stays.
 */
static void ptracer_reaped(struct utrace_engine *engine, struct task_struct *task)
{
	struct ptracer *p = engine->data;

	if (READ_ONCE(p->state) < PTRACER_ENDED)
		ptracer_end_quietly(p, task);
}

static struct pid *ptracer_held_for(struct utrace_engine *engine)
{
	struct ptracer *p = engine->data;

	return get_task_pid(p->tracer, PIDTYPE_TGID);
}

const struct utrace_engine_ops ptracer_ops = {
	.report_signal		= ptracer_signal,
	.report_jctl		= ptracer_jctl,
	.report_syscall_entry	= ptracer_syscall_entry,
	.report_syscall_exit	= ptracer_syscall_exit,
	.report_clone		= ptracer_clone,
	.report_vfork_done	= ptracer_vfork_done,
	.report_exec		= ptracer_exec,
	.report_exit		= ptracer_exit,
	.report_reap		= ptracer_reaped,
	.release		= ptracer_free,
	.held_for		= ptracer_held_for,
	.name			= "ptrace",
};
