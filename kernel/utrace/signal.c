// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - signals: reports from get_signal()
 *
 * get_signal() calls the engines after ptrace, if ptrace lets the signal
 * through, and before the task acts on the signal.  The answers are merged into
 * a signal number and a k_sigaction, which get_signal() uses instead of those
 * of the program.  siglock is dropped for the pass, so a signal that is not
 * acted on at once goes back to its queue.
 *
 * A signal that kills the process when it is sent is never taken from its
 * queue.  One thread reports it to observers, see utrace_report_killer().
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

#include "builtin.h"
#include "detach.h"
#include "pass.h"
#include "stop.h"
#include "wake.h"

static_assert(!(UTRACE_GROUP_UNREPORTED &
		(SIGNAL_STOP_MASK | SIGNAL_GROUP_EXIT | SIGNAL_CLD_MASK |
		 SIGNAL_UNKILLABLE)));

/*
 * Call an engine that must not change the signal.  The engine gets a copy of
 * the signal, and of its answers only DETACH counts.
 */
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
 * Check whether an answer keeps the signal until the engine lets the task go.
 * No engine may delay a signal that the kernel forces, nor stop a worker of the
 * kernel.
 */
static bool utrace_keeps(u32 ret, const struct k_sigaction *orig_ka)
{
	return utrace_resume_action(ret) == UTRACE_STOP &&
	       (ret & UTRACE_STOP_HERE) &&
	       !(current->flags & PF_USER_WORKER) &&
	       !(orig_ka && (orig_ka->sa.sa_flags & SA_IMMUTABLE));
}

/**
 * utrace_signal_of() - get what a signal does by the action of the program
 * @signr: the number of a signal
 * @ka: filled in with the action of the program
 *
 * For a callback that replaces one signal by another.
 *
 * Context: The task itself, without siglock, which is taken.
 * Return: UTRACE_SIGNAL_*, for the answer of the callback.
 */
u32 utrace_signal_of(int signr, struct k_sigaction *ka)
{
	unsigned int event;

	spin_lock_irq(&current->sighand->siglock);
	*ka = unrcu_pointer(current->sighand)->action[signr - 1];
	spin_unlock_irq(&current->sighand->siglock);
	return utrace_classify(signr, ka, &event);
}

/*
 * Call one engine with a signal or a report.  An engine without report_signal
 * is called with report_quiesce instead, as in the interface of 2010.  @flags
 * is UTRACE_SIGNAL_RESUMED or 0.  Returns true if the engine keeps the signal:
 * it is called again, and its answer does not count yet.
 */
static bool utrace_signal_call(struct utrace_pass *pass,
			       struct utrace_engine *engine, unsigned int slot,
			       unsigned long event, u32 flags,
			       struct ksignal *ksig,
			       const struct k_sigaction *orig_ka)
{
	struct pt_regs *regs = current_pt_regs();
	u32 before = pass->result, ret;
	struct ksignal first;

	if (utrace_engine_is_system(engine) ||
	    ((event & UTRACE_EVENT_FATAL) && utrace_engine_observes(engine))) {
		utrace_signal_observe(pass, engine, event, ksig, orig_ka);
	} else if (engine->ops->report_signal) {
		first.ka = ksig->ka;
		copy_siginfo(&first.info, &ksig->info);
		ret = utrace_call(pass, engine, report_signal,
				  pass->action | pass->result | flags, engine,
				  regs, &ksig->info, orig_ka, &ksig->ka);
		utrace_pass_answer(pass, engine, slot, ret,
				   UTRACE_SIGNAL_MASK | UTRACE_SIGNAL_HOLD);
		if (utrace_keeps(ret, orig_ka)) {
			/* Discard the first answer. */
			pass->result = before;
			ksig->ka = first.ka;
			copy_siginfo(&ksig->info, &first.info);
			return true;
		}
	} else {
		ret = utrace_call(pass, engine, report_quiesce, pass->action,
				  engine, event);
		utrace_pass_answer(pass, engine, slot, ret, 0);
	}
	return false;
}

/**
 * struct utrace_kept - state of a signal report that stops may interrupt
 * @event: the bit of the event; 0 for a report
 * @limited: only the engines in the slots of @only are called
 * @only: see @limited
 * @set: the set in which the keeper was found, the engine that keeps the
 *	signal; counted, NULL if there is no keeper
 * @left: slots of @set that have not answered: those of the keeper and of the
 *	engines after it
 * @keeper: the slot of the keeper in @set
 */
struct utrace_kept {
	unsigned long event;
	bool limited;
	u64 only;
	struct utrace_set *set;
	u64 left;
	unsigned int keeper;
};

/* Note that the engine at place @at of the pass keeps the signal. */
static void utrace_keep(struct utrace_pass *pass, struct utrace_kept *kept,
			const struct utrace_place *at)
{
	unsigned int i;

	kept->set = utrace_set_get(pass->set);
	kept->keeper = at->slot;
	kept->left = 0;
	for (i = at->i; i < pass->n; i++)
		kept->left |= BIT_ULL(pass->order[i]);
}

/*
 * Call the engines that want the event or QUIESCE, up to one that keeps the
 * signal.  Returns true if there is such an engine.
 *
 * After a stop the walk begins at the keeper, or if the set no longer contains
 * the keeper, at the first remaining engine after it.  An engine that was added
 * during the stop and precedes that one is not called: the engines that have
 * answered already could not react to its answer.
 */
static bool utrace_signal_walk(struct utrace_pass *pass,
			       struct utrace_kept *kept, struct ksignal *ksig,
			       const struct k_sigaction *orig_ka)
{
	struct utrace_set *old = kept->set;
	u64 same = old ? utrace_set_same(old, pass->set) : ~0ULL;
	bool reached = !old;

	kept->only &= same;
	kept->set = NULL;
	utrace_pass_for_each(pass, at) {
		u64 bit = BIT_ULL(at.slot);
		bool resumed = old && at.slot == kept->keeper && (same & bit);

		reached |= (bool)(kept->left & same & bit);
		if (!reached || (kept->limited && !(kept->only & bit)) ||
		    !utrace_pass_enter(pass, at.engine, at.slot))
			continue;
		if (!(READ_ONCE(at.engine->flags) &
		      (kept->event | UTRACE_EVENT(QUIESCE))))
			continue;
		if (utrace_signal_call(pass, at.engine, at.slot, kept->event,
				       resumed ? UTRACE_SIGNAL_RESUMED : 0,
				       ksig, orig_ka)) {
			utrace_keep(pass, kept, &at);
			break;
		}
	}
	utrace_set_put(old);
	return kept->set;
}

/*
 * Make a pass over the engines that want @event or QUIESCE.  If @only is not 0,
 * only engines in these slots are called.  For each engine that keeps the
 * signal, a stop interrupts the pass.  The pass then continues with a second
 * call of that engine, over the set that the task has by then.  Returns false
 * if there is no set to walk.
 */
static bool utrace_signal_pass(struct utrace_pass *pass, unsigned int list,
			       unsigned long event, u64 only,
			       struct ksignal *ksig,
			       const struct k_sigaction *orig_ka, u32 result)
{
	struct utrace_kept kept = {
		.event = event,
		.limited = only,
		.only = only,
	};
	bool keeps;

	if (!utrace_pass_begin(pass, list, result))
		return false;
	do {
		keeps = utrace_signal_walk(pass, &kept, ksig, orig_ka);
		result = pass->result;
		utrace_pass_end_report(pass);
		if (!keeps)
			return true;
		if (utrace_stop(current->utrace, UTRACE_STOP_SERVES) ==
		    UTRACE_BROKEN)
			break;
		if (!utrace_pass_begin(pass, list, result))
			break;
		/* Keep what was requested during the stop. */
		pass->held = 0;
		pass->stepped = 0;
	} while (true);

	utrace_set_put(kept.set);
	pass->result = result;
	pass->stop = 0;
	return true;
}

/*
 * End the process by a signal, with a core dump if @core.  The engines have
 * answered TERM or CORE, which is not the default action of the signal, and
 * get_signal() could take the default action only.  siglock is held and
 * released here.  Does not return.
 */
static void utrace_die(struct ksignal *ksig, bool core)
{
	int signr = ksig->info.si_signo;

	spin_unlock_irq(&current->sighand->siglock);
	/* get_signal() does the same before it ends the process. */
	if (unlikely(cgroup_task_frozen(current)))
		cgroup_leave_frozen(true);
	current->flags |= PF_SIGNALED;
	if (core) {
		proc_coredump_connector(current);
		do_coredump(&ksig->info);
	}
	do_group_exit(signr);
}

/*
 * Check whether the default action of @signr ends the process, with a core dump
 * if @core and without one if not.
 */
static bool utrace_default_is(int signr, bool core)
{
	return !sig_kernel_ignore(signr) && !sig_kernel_stop(signr) &&
	       sig_kernel_coredump(signr) == core;
}

/**
 * __utrace_wants_ignored() - check whether to queue an ignored signal
 * @task: a task with an engine that wants SIGNAL_IGN
 *
 * The init of a pid namespace ignores each signal that it has no handler for.
 * SIGSTOP would stop it if it were queued, so nothing is queued for an init.
 *
 * Context: siglock of @task is held.
 * Return:
 * * true - the signal is queued
 * * false - @task is an init; the signal is dropped
 */
bool __utrace_wants_ignored(struct task_struct *task)
{
	return !(task->signal->flags & SIGNAL_UNKILLABLE);
}

/**
 * utrace_signal_act() - turn the merged answers into a signal to deliver
 * @result: UTRACE_SIGNAL_*
 * @ksig: contains the info and the action as the engines left them; its number
 *	is filled in
 * @orig_ka: a copy of the action that the program has set; NULL if there was no
 *	signal
 * @ka: the action of the program itself, in sighand_struct
 *
 * Context: siglock is held.
 * Return:
 * * the action to apply: @ka, or that in @ksig
 * * NULL - the signal is ignored
 */
static struct k_sigaction *utrace_signal_act(u32 result, struct ksignal *ksig,
					     const struct k_sigaction *orig_ka,
					     struct k_sigaction *ka)
{
	int signr = ksig->info.si_signo;
	struct k_sigaction *own;
	bool core = false;

	if (WARN_ONCE(!valid_signal(signr) || !signr,
		      "utrace: an engine made signal %d\n", signr)) {
		signr = SIGTRAP;
		ksig->info.si_signo = signr;
	}

	ksig->sig = signr;
	own = &current->sighand->action[signr - 1];
	switch (utrace_signal_action(result)) {
	case UTRACE_SIGNAL_DELIVER:
		/* An unchanged action: get_signal() may reset @ka itself. */
		if (orig_ka && ka == own &&
		    !memcmp(orig_ka, &ksig->ka, sizeof(ksig->ka)))
			return ka;
		/* get_signal() would reset the copy, so reset it here. */
		if (own->sa.sa_handler != ksig->ka.sa.sa_handler && ka)
			own = ka;
		if ((own->sa.sa_flags & SA_ONESHOT) &&
		    own->sa.sa_handler == ksig->ka.sa.sa_handler &&
		    own->sa.sa_handler != SIG_IGN)
			own->sa.sa_handler = SIG_DFL;
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
		/* SIGTTIN and SIGTTOU stop the process in the same way. */
		if (!sig_kernel_stop(signr) || signr == SIGSTOP)
			ksig->sig = SIGTSTP;
		break;
	default:
		return NULL;
	}
	ksig->ka.sa.sa_handler = SIG_DFL;
	return &ksig->ka;
}

/* Check whether this result runs a handler of the program now. */
static bool utrace_runs_handler(u32 result, const struct k_sigaction *ka)
{
	return utrace_signal_action(result) == UTRACE_SIGNAL_DELIVER &&
	       !(result & UTRACE_SIGNAL_HOLD) &&
	       ka->sa.sa_handler != SIG_DFL && ka->sa.sa_handler != SIG_IGN;
}

/*
 * Check whether a stop at this signal ended for ptrace while an engine still
 * held the task.  If so, the task must not act on the signal yet, since the
 * signal may end the process.
 */
static bool utrace_ptrace_passes(const struct utrace_pass *pass,
				 enum utrace_stop_end end)
{
	return end == UTRACE_LEFT && current->ptrace &&
	       utrace_signal_action(pass->result) != UTRACE_SIGNAL_DELIVER &&
	       utrace_signal_action(pass->result) != UTRACE_SIGNAL_IGN &&
	       !fatal_signal_pending(current);
}

/*
 * Check whether the signal must go back to its queue.  It may have been blocked
 * while siglock was dropped, or the task is being killed.  ptrace_signal() does
 * the same.
 */
static bool utrace_requeue(int signr)
{
	return sigismember(&current->blocked, signr) ||
	       fatal_signal_pending(current);
}

/*
 * Queue the signal again, for the thread or the process as @type says.  siglock
 * is held.
 */
static void utrace_put_back(struct ksignal *ksig, enum pid_type type)
{
	send_signal_locked(ksig->info.si_signo, &ksig->info, current, type);
}

/*
 * Act on the merged answers to a signal, or put the signal back.  siglock is
 * held.  Returns as __utrace_signal().
 */
static struct k_sigaction *utrace_signal_decide(u32 result,
						struct ksignal *ksig,
						enum pid_type type,
						const struct k_sigaction *orig,
						struct k_sigaction *ka)
{
	enum utrace_signal_action action = utrace_signal_action(result);

	if (result & UTRACE_SIGNAL_HOLD) {
		utrace_put_back(ksig, PIDTYPE_PID);
		/*
		 * A stop takes place now, other actions at the next delivery.
		 */
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
 * __utrace_signal() - report a signal that get_signal() has dequeued
 * @ksig: contains the number and the info of the signal; its number is set to
 *	the one to deliver
 * @type: the queue that the signal came from, PIDTYPE_PID or PIDTYPE_TGID
 * @ka: the action of the program, in sighand_struct
 *
 * Context: The task itself, with siglock held, which is dropped and taken
 * again.  Sleeps, and stops while an engine holds the task.
 * Return:
 * * the action to apply: @ka, or that in @ksig
 * * NULL - the signal is ignored, or was put back to a queue
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
	enum utrace_stop_end end = UTRACE_LET_GO;

	if (!(current->utrace_events & BIT(event)) || signr == SIGKILL)
		return ka;

	ksig->ka = orig;
	/*
	 * SIGCONT clears this bit, and do_signal_stop() then does not stop.  If
	 * there is a tracer, ptrace_signal() has set it.
	 */
	if (!current->ptrace)
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
		/*
		 * This stop does not end for another signal.  Otherwise the
		 * task would put the present signal back and dequeue it first
		 * again, in a loop.
		 */
		where = UTRACE_STOP_TRAPS;
	}
	if (pass.stop && utrace_runs_handler(pass.result, &ksig->ka)) {
		/*
		 * The task stops when the frame of the handler is set up:
		 * __utrace_signal_handler() asks for a report then.
		 */
		scoped_guard(spinlock_irqsave, &current->utrace->lock)
			current->utrace->flags |= UTRACE_TASK_AT_HANDLER;
	} else if (pass.stop) {
		end = utrace_stop(current->utrace, where);
	}

	spin_lock_irq(&current->sighand->siglock);
	if (utrace_ptrace_passes(&pass, end)) {
		/* ptrace sees the signal before the task acts on it. */
		utrace_put_back(ksig, type);
		return NULL;
	}
	return utrace_signal_decide(pass.result, ksig, type, &orig, ka);
}

/* Check for an unblocked @signr in the queue of @task.  siglock is held. */
static bool utrace_was_sent(struct task_struct *task, int signr)
{
	return sigismember(&task->pending.signal, signr) &&
	       !sigismember(&task->blocked, signr);
}

/*
 * Check whether the current thread must report @signr, which killed the
 * process.  A signal that was sent to one thread is reported by that thread,
 * unless the thread is exiting already.  @code is the signal that the current
 * thread dies of, or 0.  If no thread dies of the signal, since all call
 * exit(), the last thread reports it, as wait(2) of the parent reports it.
 * siglock is held.
 */
static bool utrace_is_reporter(int signr, int code)
{
	struct task_struct *t;

	if (utrace_was_sent(current, signr))
		return true;
	if (signr != code && current->signal->quick_threads)
		return false;
	for_other_threads(current, t)
		if (utrace_was_sent(t, signr) && !(t->flags & PF_EXITING))
			return false;
	return true;
}

/*
 * Fill in *@info for the signal that killed the process.  Its entry is the last
 * one with this number in the queue, since prepare_signal() drops what is sent
 * later; if signalfd has taken the entry away, *@info contains only the number.
 * siglock is held.
 */
static void utrace_killer_info(int signr, kernel_siginfo_t *info)
{
	struct sigpending *pending = &current->signal->shared_pending;
	struct sigqueue *q;

	if (utrace_was_sent(current, signr) ||
	    !sigismember(&pending->signal, signr))
		pending = &current->pending;
	/* As in collect_signal(), if there was no memory for an entry. */
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

/*
 * Claim the report of the signal that killed the process, and fill in *@ksig.
 * Returns true in one thread only: siglock protects UTRACE_GROUP_UNREPORTED.
 */
static bool utrace_claim_killer(struct ksignal *ksig, int code)
{
	struct signal_struct *signal = current->signal;
	int signr;

	guard(spinlock_irq)(&current->sighand->siglock);
	signr = signal->group_exit_code & 0x7f;
	if (!(signal->flags & UTRACE_GROUP_UNREPORTED) || !signr ||
	    !valid_signal(signr) || signr == SIGKILL ||
	    !utrace_is_reporter(signr, code))
		return false;
	signal->flags &= ~UTRACE_GROUP_UNREPORTED;
	ksig->sig = signr;
	ksig->ka = unrcu_pointer(current->sighand)->action[signr - 1];
	utrace_killer_info(signr, &ksig->info);
	return true;
}

/**
 * utrace_report_killer() - report a signal that killed the process when sent
 * @code: the signal that the current thread dies of, or 0
 *
 * complete_signal() has killed the group and set UTRACE_GROUP_UNREPORTED, so no
 * thread takes the signal from its queue.  complete_signal() kills the group at
 * once only if no engine wants to change the signal (UTRACE_WORD_FATAL), so
 * this function calls observers and engines of the system only.  A signal that
 * was sent to one thread is reported by that thread, any other signal by the
 * first thread that dies of the signal, or by the last thread if there is none,
 * see utrace_is_reporter().
 *
 * Context: The task itself, no locks held.  May sleep.
 */
void utrace_report_killer(int code)
{
	const unsigned long wanted = UTRACE_EVENT(SIGNAL_TERM) |
				     UTRACE_EVENT(QUIESCE);
	struct k_sigaction orig;
	struct utrace_pass pass;
	struct ksignal ksig;
	bool ours = false;

	if (!(READ_ONCE(current->signal->flags) & UTRACE_GROUP_UNREPORTED) ||
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

/* Report the end of a step, only to the engines that asked for the step. */
static void utrace_report_step(struct ksignal *ksig, struct utrace *u,
			       bool call, struct utrace_pass *pass)
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
	/* As in user_single_step_report() of x86. */
	ksig->info.si_code = call ? TRAP_BRKPT : TRAP_TRACE;
	ksig->info.si_addr = (void __user *)instruction_pointer(regs);
	utrace_signal_pass(pass, UTRACE_LIST(_UTRACE_EVENT_QUIESCE), 0, who,
			   ksig, NULL, UTRACE_SIGNAL_IGN);
}

/*
 * Request @resume again, which a signal delays.  The task serves the request
 * when get_signal() has acted on the signal.
 */
static void utrace_resume_later(struct utrace *u,
				enum utrace_resume_action resume)
{
	scoped_guard(spinlock_irqsave, &u->lock)
		u->resume = min_t(u8, u->resume, resume);
	set_thread_flag(TIF_NOTIFY_RESUME);
	if (resume == UTRACE_INTERRUPT)
		utrace_interrupt(current);
}

/**
 * __utrace_signal_trap() - report from get_signal() for JOBCTL_TRAP_UTRACE
 * @ksig: filled in, with the action, if an engine generates a signal
 *
 * Reports the end of a step, the frame of a handler, or makes the report that
 * UTRACE_INTERRUPT or UTRACE_REPORT requested.
 *
 * Context: The task itself, with siglock held, which is dropped and taken
 * again.  Sleeps, and stops while an engine holds the task.
 * Return:
 * * true - get_signal() delivers the signal in @ksig
 * * false - there is no signal
 */
bool __utrace_signal_trap(struct ksignal *ksig)
{
	struct utrace *u = current->utrace;
	struct utrace_pass pass = { .result = UTRACE_SIGNAL_IGN };
	u32 initial = UTRACE_SIGNAL_IGN;
	enum utrace_resume_action resume;
	bool step, call, handler, held, later = false;

	current->jobctl &= ~JOBCTL_TRAP_UTRACE;
	/*
	 * An engine may generate a stop signal.  do_signal_stop() acts on it
	 * unless a SIGCONT is sent from here on.
	 */
	current->jobctl |= JOBCTL_STOP_DEQUEUED;
	if (!u || (current->flags & PF_USER_WORKER))
		return false;
	spin_unlock_irq(&current->sighand->siglock);

	scoped_guard(spinlock_irqsave, &u->lock) {
		step = u->flags & UTRACE_TASK_STEPPED;
		call = u->flags & UTRACE_TASK_STEPPED_CALL;
		handler = u->flags & UTRACE_TASK_HANDLER;
		resume = u->resume;
		held = u->hold;
		u->flags &= ~(UTRACE_TASK_STEPPED | UTRACE_TASK_STEPPED_CALL |
			      UTRACE_TASK_HANDLER);
		u->resume = UTRACE_RESUME;
	}
	memset(&ksig->ka, 0, sizeof(ksig->ka));
	clear_siginfo(&ksig->info);
	if (step)
		utrace_report_step(ksig, u, call, &pass);
	/*
	 * If an engine has turned the step into a signal, that signal is
	 * delivered first, and a requested report is made later.  Otherwise a
	 * requested report is made now.  A report is also made if there is
	 * neither a step nor a hold.  A hold alone needs none:
	 * utrace_trap_group_stopped() has set the trap, and the engine knows
	 * that the task is stopped.
	 */
	if (utrace_signal_action(pass.result) != UTRACE_SIGNAL_IGN) {
		later = true;
	} else if (resume <= UTRACE_REPORT || handler || !(step || held)) {
		initial = handler ? UTRACE_SIGNAL_HANDLER :
				    UTRACE_SIGNAL_REPORT;
		clear_siginfo(&ksig->info);
		pass.result = initial;
		utrace_signal_pass(&pass, UTRACE_LIST(_UTRACE_EVENT_QUIESCE),
				   0, 0, ksig, NULL, initial);
	}
	if (utrace_is_held(u))
		utrace_stop(u, UTRACE_STOP_PERMEABLE);
	if (later && resume != UTRACE_RESUME)
		utrace_resume_later(u, resume);

	spin_lock_irq(&current->sighand->siglock);
	/* The result changes only if an engine generates a signal. */
	if (utrace_signal_action(pass.result) == initial ||
	    !ksig->info.si_signo)
		return false;
	return utrace_signal_act(pass.result, ksig, NULL, NULL);
}

/**
 * __utrace_signal_handler() - end a step when the frame of a handler is set up
 * @stepping: ptrace or an engine was stepping the task
 *
 * The step ends at the first instruction of the handler.  If an engine asked
 * for the step, or for a stop at this signal, the task reports
 * %UTRACE_SIGNAL_HANDLER.
 *
 * Context: The task itself, no locks held.
 * Return:
 * * true - the caller must report to ptrace, which asked for the step
 * * false - the caller must not report to ptrace
 */
bool __utrace_signal_handler(bool stepping)
{
	const u32 set_for_us = UTRACE_TASK_STEPPING | UTRACE_TASK_ARMED;
	struct utrace *u = current->utrace;
	bool ptrace = stepping, report, ours, followed;

	scoped_guard(spinlock_irqsave, &u->lock) {
		ours = u->flags & set_for_us;
		followed = u->flags & UTRACE_TASK_FOLLOWED;
		/*
		 * The engine may have requested the step in the stop at the
		 * signal.
		 */
		report = u->step || (u->flags & (UTRACE_TASK_STEPPING |
						 UTRACE_TASK_AT_HANDLER));
		if (ours)
			ptrace = u->flags & UTRACE_TASK_PTRACE_STEP;
		u->step = 0;
		u->block = 0;
		/* The safe point sets the trap flag again. */
		if (u->flags & UTRACE_TASK_ARMED)
			set_thread_flag(TIF_NOTIFY_RESUME);
		u->flags &= ~(UTRACE_TASK_AT_HANDLER | set_for_us);
		if (report)
			u->flags |= UTRACE_TASK_HANDLER;
	}
	/* x86 has cleared the trap flag already, UML has not. */
	if (ours && !ptrace)
		user_disable_single_step(current);
	/* Also after a stop for ptrace, and after another handler's frame. */
	if (followed)
		utrace_step_handler();
	if (report)
		utrace_interrupt(current);
	return ptrace;
}
