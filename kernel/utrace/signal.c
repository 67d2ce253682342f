// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - signals: reports from get_signal()
 *
 * Engines come after ptrace, once it decided to deliver, and before the
 * disposition is acted on.  What they answer is turned into a signal number
 * and a k_sigaction, which get_signal() then treats like any other.
 */
#include <linux/cgroup.h>
#include <linux/cn_proc.h>
#include <linux/coredump.h>
#include <linux/ptrace.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/signal.h>

#include "internal.h"

static_assert(!(UTRACE_GROUP_UNTOLD &
		(SIGNAL_STOP_MASK | SIGNAL_GROUP_EXIT | SIGNAL_CLD_MASK |
		 SIGNAL_UNKILLABLE)));

/* What a program's handling of a signal amounts to. */
static u32 utrace_classify(int signr, const struct k_sigaction *ka,
			   unsigned int *event)
{
	if (ka->sa.sa_handler == SIG_IGN ||
	    (ka->sa.sa_handler == SIG_DFL && sig_kernel_ignore(signr))) {
		*event = _UTRACE_EVENT_SIGNAL_IGN;
		return UTRACE_SIGNAL_IGN;
	}
	if (ka->sa.sa_handler != SIG_DFL) {
		*event = _UTRACE_EVENT_SIGNAL;
		return UTRACE_SIGNAL_DELIVER;
	}
	if (sig_kernel_coredump(signr)) {
		*event = _UTRACE_EVENT_SIGNAL_CORE;
		return UTRACE_SIGNAL_CORE;
	}
	if (sig_kernel_stop(signr)) {
		*event = _UTRACE_EVENT_SIGNAL_STOP;
		return signr == SIGSTOP ? UTRACE_SIGNAL_STOP :
					  UTRACE_SIGNAL_TSTP;
	}
	*event = _UTRACE_EVENT_SIGNAL_TERM;
	return UTRACE_SIGNAL_TERM;
}

/* What an observer writes is a copy; of its answers only DETACH is heard. */
static void utrace_signal_observe(struct utrace_pass *pass,
				  struct utrace_engine *engine,
				  unsigned long event,
				  const struct ksignal *ksig,
				  const struct k_sigaction *orig_ka)
{
	struct pt_regs *regs = current_pt_regs();
	struct ksignal seen = *ksig;
	u32 ret;

	if (engine->ops->report_signal)
		ret = utrace_call(pass, engine, report_signal,
				  pass->action | pass->result, engine, regs,
				  &seen.info, orig_ka, &seen.ka);
	else
		ret = utrace_call(pass, engine, report_quiesce, pass->action,
				  engine, event);
	if (utrace_resume_action(ret) == UTRACE_DETACH)
		utrace_detach_later(engine);
}

/*
 * Call one engine with a signal or a report.  An engine without
 * report_signal is told by report_quiesce, as in 2010.
 */
static void utrace_signal_call(struct utrace_pass *pass,
			       struct utrace_engine *engine, unsigned int slot,
			       unsigned long event, struct ksignal *ksig,
			       const struct k_sigaction *orig_ka)
{
	struct pt_regs *regs = current_pt_regs();
	u32 ret;

	if (utrace_engine_is_system(engine) ||
	    ((event & UTRACE_EVENT_FATAL) && utrace_engine_observes(engine))) {
		utrace_signal_observe(pass, engine, event, ksig, orig_ka);
	} else if (engine->ops->report_signal) {
		ret = utrace_call(pass, engine, report_signal,
				  pass->action | pass->result, engine, regs,
				  &ksig->info, orig_ka, &ksig->ka);
		utrace_pass_answer(pass, engine, slot, ret,
				   UTRACE_SIGNAL_MASK | UTRACE_SIGNAL_HOLD);
	} else {
		ret = utrace_call(pass, engine, report_quiesce, pass->action,
				  engine, event);
		utrace_pass_answer(pass, engine, slot, ret, 0);
	}
}

/*
 * One pass over the engines that want @event or QUIESCE.  @only, if not 0,
 * says which slots.
 */
static bool utrace_signal_pass(struct utrace_pass *pass, unsigned int list,
			       unsigned long event, u64 only,
			       struct ksignal *ksig,
			       const struct k_sigaction *orig_ka, u32 result)
{
	if (!utrace_pass_begin(pass, list, result))
		return false;
	utrace_pass_for_each(pass, at) {
		unsigned long wants;

		if (only && !(only & BIT_ULL(at.slot)))
			continue;
		if (!utrace_pass_enter(pass, at.engine, at.slot))
			continue;
		wants = READ_ONCE(at.engine->flags);
		if (wants & (event | UTRACE_EVENT(QUIESCE)))
			utrace_signal_call(pass, at.engine, at.slot, event,
					   ksig, orig_ka);
	}
	utrace_pass_end_report(pass);
	return true;
}

/* A signal that engines made fatal is reported by its own number. */
static void utrace_die(struct ksignal *ksig, bool core)
{
	int signr = ksig->info.si_signo;

	spin_unlock_irq(&current->sighand->siglock);
	/* As get_signal() does. */
	if (unlikely(cgroup_task_frozen(current)))
		cgroup_leave_frozen(true);
	current->flags |= PF_SIGNALED;
	if (core) {
		proc_coredump_connector(current);
		do_coredump(&ksig->info);
	}
	do_group_exit(signr);
}

static bool utrace_default_is(int signr, bool core)
{
	return !sig_kernel_ignore(signr) && !sig_kernel_stop(signr) &&
	       sig_kernel_coredump(signr) == core;
}

/**
 * __utrace_wants_ignored - is a signal that a task ignores to be queued for it?
 * @task: a task with an engine that wants such signals
 *
 * Not for an init, which ignores what it has no handler for: once in its queue,
 * SIGSTOP would stop it.
 *
 * Context: siglock of @task is held.
 * Return: true if so.
 */
bool __utrace_wants_ignored(struct task_struct *task)
{
	return !(task->signal->flags & SIGNAL_UNKILLABLE);
}

/**
 * utrace_signal_act - turn what the engines decided into a signal to deliver
 * @result: UTRACE_SIGNAL_*
 * @ksig: with the signal's info and what the engines made of its action; its
 *	number is filled in
 * @orig_ka: what the program set up; NULL if there was no signal
 * @ka: where it did that
 *
 * Context: siglock is held.
 * Return: the action, @ka or that in @ksig; NULL if nothing is to be done.
 */
static struct k_sigaction *utrace_signal_act(u32 result, struct ksignal *ksig,
					     const struct k_sigaction *orig_ka,
					     struct k_sigaction *ka)
{
	int signr = ksig->info.si_signo;
	bool core = false;

	if (WARN_ONCE(!valid_signal(signr) || !signr,
		      "utrace: an engine made signal %d\n", signr)) {
		signr = SIGTRAP;
		ksig->info.si_signo = signr;
	}

	ksig->sig = signr;
	switch (utrace_signal_action(result)) {
	case UTRACE_SIGNAL_DELIVER:
		/* An unchanged action: SA_ONESHOT acts on the real one. */
		if (orig_ka && ka == &current->sighand->action[signr - 1] &&
		    !memcmp(orig_ka, &ksig->ka, sizeof(ksig->ka)))
			return ka;
		/* get_signal() would reset the copy it delivers by. */
		if (orig_ka && (ksig->ka.sa.sa_flags & SA_ONESHOT) &&
		    ka->sa.sa_handler != SIG_IGN)
			ka->sa.sa_handler = SIG_DFL;
		ksig->ka.sa.sa_flags &= ~SA_ONESHOT;
		return &ksig->ka;
	case UTRACE_SIGNAL_CORE:
		core = true;
		fallthrough;
	case UTRACE_SIGNAL_TERM:
		if (!utrace_default_is(signr, core)) {
			utrace_die(ksig, core);
			return NULL;
		}
		break;
	case UTRACE_SIGNAL_STOP:
		ksig->sig = SIGSTOP;
		break;
	case UTRACE_SIGNAL_TSTP:
		/* SIGTTIN and SIGTTOU are of this kind, and stay what they are. */
		if (!sig_kernel_stop(signr) || signr == SIGSTOP)
			ksig->sig = SIGTSTP;
		break;
	default:
		return NULL;
	}
	ksig->ka.sa.sa_handler = SIG_DFL;
	return &ksig->ka;
}

static bool utrace_runs_handler(u32 result, const struct k_sigaction *ka)
{
	return utrace_signal_action(result) == UTRACE_SIGNAL_DELIVER &&
	       !(result & UTRACE_SIGNAL_HOLD) &&
	       ka->sa.sa_handler != SIG_DFL && ka->sa.sa_handler != SIG_IGN;
}

/*
 * Did a stop at this signal end only because a debugger came?  The hold is
 * still in force then, and the signal may be about to kill.
 */
static bool utrace_ptrace_passes(const struct utrace_pass *pass)
{
	return current->ptrace && READ_ONCE(current->utrace->hold) &&
	       utrace_signal_action(pass->result) != UTRACE_SIGNAL_DELIVER &&
	       utrace_signal_action(pass->result) != UTRACE_SIGNAL_IGN &&
	       !fatal_signal_pending(current);
}

/* Must the signal wait for another time, as after a ptrace stop? */
static bool utrace_requeue(int signr)
{
	return sigismember(&current->blocked, signr) ||
	       fatal_signal_pending(current);
}

/* It comes again: from the queue it came from, or as the thread's own. */
static void utrace_put_back(struct ksignal *ksig, enum pid_type type)
{
	send_signal_locked(ksig->info.si_signo, &ksig->info, current, type);
}

/* What is done about a signal; see __utrace_signal(). */
static struct k_sigaction *utrace_signal_decide(u32 result,
						struct ksignal *ksig,
						enum pid_type type,
						const struct k_sigaction *orig,
						struct k_sigaction *ka)
{
	enum utrace_signal_action action = utrace_signal_action(result);

	if (result & UTRACE_SIGNAL_HOLD) {
		utrace_put_back(ksig, PIDTYPE_PID);
		/* What else was answered holds for now. */
		if (action != UTRACE_SIGNAL_STOP && action != UTRACE_SIGNAL_TSTP)
			return NULL;
	} else if (action != UTRACE_SIGNAL_IGN &&
		   utrace_requeue(ksig->info.si_signo)) {
		utrace_put_back(ksig, type);
		return NULL;
	}
	return utrace_signal_act(result, ksig, orig, ka);
}

/**
 * __utrace_signal - report a signal that was dequeued
 * @ksig: with its info; the number to go on with is filled in
 * @type: from which queue it came
 * @ka: the program's action
 *
 * Context: siglock is held; released and taken again.
 * Return: the action to go on with; NULL if there is no signal any more.
 */
struct k_sigaction *__utrace_signal(struct ksignal *ksig, enum pid_type type,
				    struct k_sigaction *ka)
{
	int signr = ksig->sig;
	struct k_sigaction orig = *ka;
	struct utrace_pass pass;
	unsigned int event;
	u32 initial = utrace_classify(signr, &orig, &event);
	enum utrace_stop_where where = UTRACE_STOP_PERMEABLE;
	bool stopped = false;

	if (!(current->utrace_events & BIT(event)) || signr == SIGKILL)
		return ka;

	ksig->ka = orig;
	/* SIGCONT clears it while siglock is not held; see ptrace_signal(). */
	current->jobctl |= JOBCTL_STOP_DEQUEUED;
	spin_unlock_irq(&current->sighand->siglock);

	if (!utrace_signal_pass(&pass, UTRACE_LIST(event), BIT(event), 0, ksig,
				&orig, initial)) {
		pass.result = initial;
		pass.stop = 0;
	}
	if (orig.sa.sa_flags & SA_IMMUTABLE) {
		pass.result = initial;
		ksig->ka = orig;
		ksig->info.si_signo = signr;
		/* Put back, it would be taken before any other, for ever. */
		where = UTRACE_STOP_TRAPS;
	}
	if (pass.stop && utrace_runs_handler(pass.result, &ksig->ka)) {
		/* The stop, with a report, comes when the frame is there. */
		scoped_guard(spinlock_irqsave, &current->utrace->lock)
			current->utrace->flags |= UTRACE_TASK_AT_HANDLER;
	} else if (pass.stop) {
		utrace_stop(current->utrace, where);
		stopped = true;
	}

	spin_lock_irq(&current->sighand->siglock);
	if (stopped && utrace_ptrace_passes(&pass)) {
		/* ptrace has to see it before anything comes of it. */
		utrace_put_back(ksig, type);
		return NULL;
	}
	return utrace_signal_decide(pass.result, ksig, type, &orig, ka);
}

/* Was @signr sent to this very thread, and may have killed the process? */
static bool utrace_was_sent(struct task_struct *task, int signr)
{
	return sigismember(&task->pending.signal, signr) &&
	       !sigismember(&task->blocked, signr);
}

/*
 * Is the current thread to tell of the signal that killed the process?  If that
 * was sent to a thread, the thread itself tells of it.  @code is the signal that
 * the current thread dies of, or 0.
 */
static bool utrace_is_teller(int signr, int code)
{
	struct task_struct *t;

	if (utrace_was_sent(current, signr))
		return true;
	if (signr != code)
		return false;
	for_other_threads(current, t)
		if (utrace_was_sent(t, signr) && !(t->flags & PF_EXITING))
			return false;
	return true;
}

/*
 * The information of that signal, if it is in a queue still: signalfd could
 * take it away.  The last entry is the one, since none can come after it.
 */
static void utrace_killer_info(int signr, kernel_siginfo_t *info)
{
	struct sigpending *pending = &current->signal->shared_pending;
	struct sigqueue *q;

	if (utrace_was_sent(current, signr) ||
	    !sigismember(&pending->signal, signr))
		pending = &current->pending;
	/* As collect_signal() has it where there was no memory for it. */
	clear_siginfo(info);
	info->si_signo = signr;
	list_for_each_entry_reverse(q, &pending->list, list) {
		if (q->info.si_signo != signr)
			continue;
		copy_siginfo(info, &q->info);
		if (info->si_code == SI_TIMER)
			info->si_sys_private = 0;
		break;
	}
}

/* Take it upon the current thread to tell of that signal; true for one only. */
static bool utrace_claim_killer(struct ksignal *ksig, int code)
{
	struct signal_struct *signal = current->signal;
	int signr;

	guard(spinlock_irq)(&current->sighand->siglock);
	signr = signal->group_exit_code & 0x7f;
	if (!(signal->flags & UTRACE_GROUP_UNTOLD) || !signr ||
	    !valid_signal(signr) || signr == SIGKILL ||
	    !utrace_is_teller(signr, code))
		return false;
	signal->flags &= ~UTRACE_GROUP_UNTOLD;
	ksig->sig = signr;
	ksig->ka = unrcu_pointer(current->sighand)->action[signr - 1];
	utrace_killer_info(signr, &ksig->info);
	return true;
}

/**
 * utrace_report_killer - a signal killed the process when it was sent
 * @code: the signal that the current thread dies of, or 0
 *
 * No thread takes such a signal from its queue.  Engines that may change what
 * it does were not there, or it would not have killed like that; observers are
 * told by the first thread that comes along, or by the one that it was sent to.
 *
 * Context: The task itself, no locks held.
 */
void utrace_report_killer(int code)
{
	const unsigned long wanted = UTRACE_EVENT(SIGNAL_TERM) |
				     UTRACE_EVENT(QUIESCE);
	struct k_sigaction orig;
	struct utrace_pass pass;
	struct ksignal ksig;
	bool ours = false;

	if (!(READ_ONCE(current->signal->flags) & UTRACE_GROUP_UNTOLD) ||
	    !utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_SIGNAL_TERM),
			       UTRACE_SIGNAL_TERM))
		return;
	utrace_pass_for_each(&pass, at) {
		if (!utrace_pass_enter(&pass, at.engine, at.slot) ||
		    !(READ_ONCE(at.engine->flags) & wanted) ||
		    !utrace_engine_observes(at.engine))
			continue;
		if (!ours) {
			ours = utrace_claim_killer(&ksig, code);
			if (!ours)
				break;
			orig = ksig.ka;
		}
		utrace_signal_observe(&pass, at.engine,
				      UTRACE_EVENT(SIGNAL_TERM), &ksig, &orig);
	}
	utrace_pass_end(&pass);
}

/* A step that engines asked for: only they are told. */
static void utrace_report_step(struct ksignal *ksig, struct utrace *u,
			       struct utrace_pass *pass)
{
	struct pt_regs *regs = current_pt_regs();
	u64 who;

	scoped_guard(spinlock_irqsave, &u->lock) {
		who = u->step;
		u->step = 0;
		u->block = 0;
	}
	if (!who)
		return;
	ksig->info.si_signo = SIGTRAP;
	ksig->info.si_code = TRAP_TRACE;
	ksig->info.si_addr = (void __user *)instruction_pointer(regs);
	utrace_signal_pass(pass, UTRACE_LIST(_UTRACE_EVENT_QUIESCE), 0, who,
			   ksig, NULL, UTRACE_SIGNAL_IGN);
}

/**
 * __utrace_signal_trap - a report from get_signal() was asked for
 * @ksig: filled in, action included, if an engine makes a signal of its own
 *
 * Context: siglock is held; released and taken again.
 * Return: true if there is a signal to go on with.
 */
bool __utrace_signal_trap(struct ksignal *ksig)
{
	struct utrace *u = current->utrace;
	struct utrace_pass pass = { .result = UTRACE_SIGNAL_IGN };
	u32 initial = UTRACE_SIGNAL_IGN;
	bool step, handler, report, held;

	current->jobctl &= ~JOBCTL_TRAP_UTRACE;
	if (!u || (current->flags & PF_USER_WORKER))
		return false;
	spin_unlock_irq(&current->sighand->siglock);

	scoped_guard(spinlock_irqsave, &u->lock) {
		step = u->flags & UTRACE_TASK_STEPPED;
		handler = u->flags & UTRACE_TASK_HANDLER;
		report = u->resume <= UTRACE_REPORT;
		held = u->hold;
		u->flags &= ~(UTRACE_TASK_STEPPED | UTRACE_TASK_HANDLER);
		u->resume = UTRACE_RESUME;
	}
	memset(&ksig->ka, 0, sizeof(ksig->ka));
	clear_siginfo(&ksig->info);
	if (step)
		utrace_report_step(ksig, u, &pass);
	/*
	 * One that made a signal of the step has it delivered first.  A task
	 * that is held since job control stopped it reports nothing: its engine
	 * was told that it is stopped.
	 */
	if (utrace_signal_action(pass.result) == UTRACE_SIGNAL_IGN &&
	    (report || handler || !(step || held))) {
		initial = handler ? UTRACE_SIGNAL_HANDLER :
				    UTRACE_SIGNAL_REPORT;
		clear_siginfo(&ksig->info);
		pass.result = initial;
		utrace_signal_pass(&pass, UTRACE_LIST(_UTRACE_EVENT_QUIESCE),
				   0, 0, ksig, NULL, initial);
	}
	if (READ_ONCE(u->hold))
		utrace_stop(u, UTRACE_STOP_PERMEABLE);

	spin_lock_irq(&current->sighand->siglock);
	/* Only an engine that made a signal says anything but what it got. */
	if (utrace_signal_action(pass.result) == initial ||
	    !ksig->info.si_signo)
		return false;
	return utrace_signal_act(pass.result, ksig, NULL, NULL);
}

/**
 * __utrace_signal_handler - the frame of a signal handler was set up
 * @stepping: the task was being stepped, by whomever
 *
 * The step ends at the first instruction of the handler.  If an engine asked
 * for it, or for a stop at this signal, it is told.
 *
 * Context: The task itself, no locks held.
 * Return: true if ptrace is to be told too.
 */
bool __utrace_signal_handler(bool stepping)
{
	struct utrace *u = current->utrace;
	bool ptrace = stepping, report, ours;

	scoped_guard(spinlock_irqsave, &u->lock) {
		ours = u->flags & UTRACE_TASK_STEPPING;
		report = ours || (u->flags & UTRACE_TASK_AT_HANDLER);
		if (ours) {
			ptrace = u->flags & UTRACE_TASK_PTRACE_STEP;
			u->step = 0;
			u->block = 0;
		}
		u->flags &= ~(UTRACE_TASK_AT_HANDLER | UTRACE_TASK_STEPPING);
		if (report)
			u->flags |= UTRACE_TASK_HANDLER;
	}
	/* UML leaves that to the tracer. */
	if (ours && !ptrace)
		user_disable_single_step(current);
	if (report)
		utrace_interrupt(current);
	return ptrace;
}
