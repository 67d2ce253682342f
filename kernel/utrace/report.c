// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - reports of the events that have no file of their own
 *
 * Most callbacks return only a resume action, and share one macro for the pass.
 */
#include <linux/binfmts.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>

#include "builtin.h"
#include "pass.h"
#include "stop.h"

static_assert(UTRACE_EVENT(REAP) == UTRACE_HOOK_REAP);
static_assert(UTRACE_EVENT(CLONE) == UTRACE_HOOK_CLONE);
static_assert(UTRACE_EVENT(EXEC) == UTRACE_HOOK_EXEC);
static_assert(UTRACE_EVENT(EXIT) == UTRACE_HOOK_EXIT);
static_assert((UTRACE_EVENT_SIGNAL_ALL) == UTRACE_HOOK_SIGNALS);
static_assert(UTRACE_EVENT(SIGNAL_IGN) == UTRACE_HOOK_IGN);
static_assert(UTRACE_WORD_FATAL == UTRACE_HOOK_FATAL);
static_assert(UTRACE_EVENT(JCTL) == UTRACE_HOOK_JCTL);
static_assert(UTRACE_EVENT(VFORK_DONE) == UTRACE_HOOK_VFORK_DONE);
static_assert(UTRACE_EVENT(CREDS) == UTRACE_HOOK_CREDS);
/* No event has one of the UTRACE_WORD_* bits. */
static_assert(BIT(_UTRACE_NEVENTS) <= UTRACE_WORD_RENEW && BITS_PER_LONG == 64);

/**
 * utrace_pass_stop_here() - stop at the event if an engine has requested that
 * @pass: the pass, after utrace_pass_end()
 *
 * Context: The task itself, no locks held.  Sleeps.
 */
void utrace_pass_stop_here(struct utrace_pass *pass)
{
	if (unlikely(pass->here))
		utrace_stop(pass->u, UTRACE_STOP_FIRM);
	else
		utrace_pass_step(pass);
}

/*
 * Make the pass of @event: call @op, a member of struct utrace_engine_ops, of
 * each engine that wants the event.  @flags are or-ed to its first argument,
 * the second one is the engine, and the variable arguments follow.  @op returns
 * only a resume action.  Then evaluate "@after(&pass)": @after is a function,
 * or (void) for nothing.
 */
#define UTRACE_REPORT_PASS(event, after, flags, op, ...)		\
do {									\
	struct utrace_pass pass;					\
									\
	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_##event), \
			       0))					\
		break;							\
	utrace_pass_for_each(&pass, at) {				\
		u32 ret;						\
									\
		if (!utrace_pass_wants(&pass, at.engine, at.slot,	\
				       UTRACE_EVENT(event)))		\
			continue;					\
		ret = utrace_call(&pass, at.engine, op,			\
				  pass.action | (flags), at.engine,	\
				  __VA_ARGS__);				\
		utrace_pass_answer(&pass, at.engine, at.slot, ret, 0);	\
	}								\
	utrace_pass_end(&pass);						\
	after(&pass);							\
} while (0)

/*
 * At CLONE the task stops when it has started the child: a debugger may wait
 * for the child before it lets the task go.
 */
static void utrace_pass_stop_cloned(struct utrace_pass *pass)
{
	if (likely(!pass->here)) {
		utrace_pass_step(pass);
		return;
	}
	guard(spinlock_irqsave)(&pass->u->lock);
	pass->u->flags |= UTRACE_TASK_CLONED;
}

/* For the @after of JCTL: the caller of the report makes the stop. */
static bool utrace_pass_is_here(struct utrace_pass *pass)
{
	return pass->here;
}

/**
 * utrace_report_quiesce() - call engines with QUIESCE at the safe point
 *
 * This is the report that an engine requested by UTRACE_REPORT, INTERRUPT or
 * STOP.
 *
 * Context: The task itself, at the safe point, no locks held.  May sleep.
 */
void utrace_report_quiesce(void)
{
	struct utrace_pass pass;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_QUIESCE), 0))
		return;
	utrace_pass_for_each(&pass, at)
		utrace_pass_wants(&pass, at.engine, at.slot, 0);
	utrace_pass_end_report(&pass);
}

/**
 * __utrace_report_clone() - report CLONE
 * @args: the arguments of the clone.  The callbacks get its flags, with the
 *	exit signal of the child in the low byte, or 0 if it is no signal
 * @child: the new task, which does not run yet
 *
 * Context: The task itself, in kernel_clone(), no locks held.  May sleep.
 */
void __utrace_report_clone(const struct kernel_clone_args *args,
			   struct task_struct *child)
{
	/*
	 * clone(2) takes any low byte.  CLONE_NEWTIME, a bit of it, is for
	 * clone3(2).
	 */
	unsigned long clone_flags = args->flags |
		(valid_signal(args->exit_signal) ? args->exit_signal : 0);

	UTRACE_REPORT_PASS(CLONE, utrace_pass_stop_cloned, 0, report_clone,
			   clone_flags, child);
}

/**
 * __utrace_report_vfork_done() - report VFORK_DONE
 * @child: pid of the child in the initial pid namespace
 *
 * Context: The task itself, in kernel_clone(), no locks held.  Sleeps, and may
 * stop.
 */
void __utrace_report_vfork_done(pid_t child)
{
	UTRACE_REPORT_PASS(VFORK_DONE, utrace_pass_stop_here, 0,
			   report_vfork_done, child);
}

/**
 * __utrace_report_creds() - report CREDS
 * @bprm: the program that is executed; its credentials are committed
 *
 * Context: The task itself, in begin_new_exec(), under cred_guard_mutex and
 * exec_update_lock.  May sleep.
 */
void __utrace_report_creds(const struct linux_binprm *bprm)
{
	/* Do not stop here: the caller holds locks. */
	UTRACE_REPORT_PASS(CREDS, (void), 0, report_creds, bprm);
}

/**
 * __utrace_report_exec() - report EXEC
 * @bprm: the program that the task runs now
 *
 * Context: The task itself, in exec_binprm(), no locks held.  Sleeps, and may
 * stop.
 */
void __utrace_report_exec(const struct linux_binprm *bprm)
{
	struct pt_regs *regs = current_pt_regs();

	UTRACE_REPORT_PASS(EXEC, utrace_pass_stop_here, 0, report_exec, NULL,
			   bprm, regs);
}

/*
 * Report JCTL; @flags are or-ed to @action of the callbacks.  Returns true if
 * an engine has requested a stop at the event itself, and the task is not
 * stopped already.
 */
static bool utrace_jctl_pass(int type, int notify, u32 flags)
{
	bool in_stop = current->utrace && utrace_in_stop();
	bool here = false;

	UTRACE_REPORT_PASS(JCTL, here |= utrace_pass_is_here, flags,
			   report_jctl, type, notify);
	return here && !in_stop;
}

/**
 * __utrace_report_jctl() - report JCTL
 * @type: CLD_STOPPED or CLD_CONTINUED
 * @notify: the code that the parent gets, or 0
 *
 * Context: The task itself, no locks held.  May sleep.
 */
void __utrace_report_jctl(int type, int notify)
{
	utrace_jctl_pass(type, notify, 0);
}

/**
 * utrace_report_stop() - report that the task is about to stop for job control
 * @notify: the code that the parent gets, or 0
 * @again: the task has reported this stop before
 *
 * Context: The task itself, no locks held.  May sleep.
 * Return: true if the caller has to call utrace_stop() for an engine that wants
 * the task to stop here.
 */
bool utrace_report_stop(int notify, bool again)
{
	return utrace_jctl_pass(CLD_STOPPED, notify,
				again ? UTRACE_JCTL_AGAIN : 0);
}
