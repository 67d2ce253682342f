// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - one pass over the set of a task: calls, and the merging of answers
 *
 * utrace_pass_begin() renews the set if needed and pins it.  Its caller walks
 * the list of one event and calls the engines that still want the event.
 * utrace_pass_end() applies the answers and unpins the set.
 *
 * An answer has two parts, which merge apart: the resume actions merge to the
 * smallest one, and what an engine says about the event (a signal or a system
 * call) replaces what an earlier engine said.  So an answer to QUIESCE, which
 * has only a resume action, changes nothing about the event.
 */
#include <linux/binfmts.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>

#include "builtin.h"
#include "pass.h"
#include "syscall_filter.h"

#include <trace/events/utrace_core.h>

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
/* The lower half of the word has the events, and four UTRACE_WORD_* bits. */
static_assert(_UTRACE_NEVENTS + 3 < 32 && BITS_PER_LONG == 64);

DEFINE_STATIC_KEY_FALSE(utrace_stats);

/* In ns.  A callback that takes longer may wait for user space: a bug. */
#define UTRACE_SLOW_CALLBACK	NSEC_PER_SEC

/**
 * __utrace_account() - count a callback, and warn if it was slow
 * @engine: the engine, kept by the pinned set
 * @since: utrace_time() before the callback, 0 if callbacks were not timed then
 *
 * Counts while kernel.utrace.stats is 1, warns with CONFIG_UTRACE_DEBUG.
 *
 * Context: The task that made the callback, with the set still pinned.
 */
void __utrace_account(struct utrace_engine *engine, u64 since)
{
	u64 took = since ? ktime_get_ns() - since : 0;

	if (IS_ENABLED(CONFIG_UTRACE_DEBUG) && took > UTRACE_SLOW_CALLBACK)
		pr_warn_ratelimited("utrace: a callback of engine %*pE took %llu ms in task %d\n",
				    (int)strlen(engine->info->name),
				    engine->info->name, took / NSEC_PER_MSEC,
				    current->pid);
	if (!static_branch_unlikely(&utrace_stats))
		return;
	atomic64_inc(&engine->info->calls);
	atomic64_add(took, &engine->info->nsec);
}

/**
 * utrace_pass_leave() - unpin the set without applying the answers
 * @pass: the pass, after utrace_pass_begin()
 *
 * Context: The task itself.  May call ->release() of an engine that was
 * detached meanwhile.
 */
void utrace_pass_leave(struct utrace_pass *pass)
{
	utrace_unpin(pass->u);
	if (unlikely(current->flags & PF_KTHREAD))
		memalloc_noio_restore(pass->noio);
}

/*
 * Prepare a pass over a set that could not be renewed; this takes no memory.
 * The pass calls those engines of the set that want the event now; their
 * matches are asked here.  Engines of the system that are not in the set lose
 * the event.
 */
static void utrace_pass_live(struct utrace_pass *pass, unsigned int event)
{
	utrace_count_lost(pass->set, BIT(event));
	if (!pass->set)
		return;
	pass->muted = utrace_ask(pass->set, pass->set);
	pass->order = pass->live;
	pass->n = utrace_order(pass->set, event, NULL, pass->live);
}

/**
 * utrace_pass_begin() - pin the set of the current task for a pass
 * @pass: filled in
 * @list: UTRACE_LIST() of the event
 * @result: what becomes of the event if no engine says otherwise
 *
 * Gives a bare task a struct utrace, and renews the set if its engines want
 * something else.
 *
 * Context: The task itself, with no set pinned.  May sleep for memory.  No
 * locks are held but those that @report_creds of struct utrace_engine_ops
 * names.
 * Return:
 * * true - the caller walks @pass, then calls utrace_pass_end() or
 *   utrace_pass_leave()
 * * false - the pass has pinned nothing: the task has no set, no engine wants
 *   events of the task, there was no memory for a struct utrace, or the task is
 *   in another pass
 */
bool utrace_pass_begin(struct utrace_pass *pass, unsigned int list, u32 result)
{
	struct utrace_set *set;
	struct utrace *u;
	bool live;

	if (!utrace_adopt(BIT(list - 1)))
		return false;
	u = current->utrace;
	/*
	 * A callback has caused an event of its own task.  The end of a second
	 * pass would unpin the set that the first one walks.
	 */
	if (WARN_ON_ONCE(u->pinned))
		return false;
	live = current->utrace_events & UTRACE_WORD_RENEW && !utrace_renew();

	set = utrace_pin(u);
	pass->u = u;
	pass->set = set;
	pass->action = UTRACE_RESUME;
	pass->resume = UTRACE_RESUME;
	pass->result = result;
	pass->muted = READ_ONCE(u->muted);
	pass->stop = 0;
	pass->here = 0;
	pass->called = 0;
	pass->held = 0;
	pass->stepped = 0;
	pass->step = 0;
	pass->block = 0;
	if (unlikely(current->flags & PF_KTHREAD))
		pass->noio = memalloc_noio_save();
	/*
	 * utrace_stop() reports JCTL in the midst of a stop.  Answers to that
	 * report do not end a hold.
	 */
	if (likely(!u->held_since)) {
		pass->held = READ_ONCE(u->hold);
		pass->stepped = READ_ONCE(u->step);
	}
	if (unlikely(live))
		utrace_pass_live(pass, list - UTRACE_LIST(0));
	if (unlikely(!set)) {
		utrace_pass_leave(pass);
		return false;
	}
	if (likely(!live)) {
		pass->order = &set->order[set->start[list]];
		pass->n = set->start[list + 1] - set->start[list];
	}
	return true;
}

/*
 * Write holds, steps and the smallest resume action to struct utrace, and send
 * the task past the safe point, which serves them.
 */
static void utrace_pass_apply(struct utrace_pass *pass)
{
	struct utrace *u = pass->u;

	scoped_guard(spinlock_irqsave, &u->lock) {
		/*
		 * An engine that was detached during the pass gets no hold and
		 * no step, since it could not end them.  A detach that is
		 * marked after this look takes the lock later, in
		 * utrace_drop_hold() or utrace_turn(), and drops them.
		 */
		u64 there = utrace_set_present(pass->set, current->utrace_set);
		/*
		 * An engine that was called gives up a hold and a step that it
		 * had when the pass began, unless it answers so again.  It
		 * keeps what utrace_control() has set since.
		 */
		u64 called = pass->called & there;
		u64 step = u->step & ~(called & pass->stepped);
		u64 single = pass->step & there;
		u64 block = pass->block & there;

		u->hold = (u->hold & ~(called & pass->held)) |
			  (pass->stop & there);
		u->step = step | single | block;
		u->block = ((u->block & step) | block) & ~single;
		u->resume = min_t(u8, u->resume, pass->resume);
		if (u->hold || u->step)
			u->flags |= UTRACE_TASK_SLOW;
	}
	trace_utrace_report(current, pass->action, pass->result);
	if (pass->resume == UTRACE_INTERRUPT)
		utrace_interrupt(current);
	set_thread_flag(TIF_NOTIFY_RESUME);
}

/**
 * utrace_pass_end() - apply the answers and unpin the set
 * @pass: the pass, after utrace_pass_begin()
 *
 * Context: The task itself, as for utrace_pass_begin().  May call ->release()
 * of an engine that was detached meanwhile.
 */
void utrace_pass_end(struct utrace_pass *pass)
{
	if (unlikely(pass->action != UTRACE_RESUME ||
		     pass->called & (pass->held | pass->stepped)))
		utrace_pass_apply(pass);
	utrace_pass_leave(pass);
}

/**
 * utrace_pass_end_report() - end the pass of a requested report or of a signal
 * @pass: the pass, after utrace_pass_begin()
 *
 * Does as utrace_pass_end(), but ignores the answers REPORT and INTERRUPT: an
 * engine that gives them each time would have the task report for ever.
 *
 * Context: As utrace_pass_end().
 */
void utrace_pass_end_report(struct utrace_pass *pass)
{
	if (pass->resume < UTRACE_SINGLESTEP)
		pass->resume = UTRACE_RESUME;
	utrace_pass_end(pass);
}

/**
 * utrace_pass_step() - begin a step that an engine has answered in a system call
 * @pass: the pass, after utrace_pass_end()
 *
 * Context: The task itself, no locks held.
 */
void utrace_pass_step(struct utrace_pass *pass)
{
	if (unlikely(pass->step | pass->block))
		utrace_arm_in_call(pass->u);
}

/**
 * utrace_pass_stop_here() - stop at the event, if an engine has asked for that
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

/**
 * utrace_pass_answer() - merge the answer of one engine
 * @pass: the pass
 * @engine: the engine that has answered, kept by the pinned set
 * @slot: the slot of @engine
 * @ret: the answer
 * @mask: the bits of @ret that are about the event; 0 leaves the event alone
 *
 * Context: The task itself, with the set pinned.  Does not sleep.
 */
void utrace_pass_answer(struct utrace_pass *pass, struct utrace_engine *engine,
			unsigned int slot, u32 ret, u32 mask)
{
	enum utrace_resume_action action = utrace_resume_action(ret);
	u64 bit = BIT_ULL(slot);

	if (utrace_engine_is_system(engine)) {
		/* All that counts of its answers is DETACH. */
		if (action == UTRACE_DETACH)
			utrace_detach_later(engine);
		return;
	}
	if (mask)
		pass->result = (pass->result & ~mask) | (ret & mask);
	pass->called |= bit;
	if (likely(action == UTRACE_RESUME))
		return;

	switch (action) {
	case UTRACE_STOP:
		pass->stop |= bit;
		if (ret & UTRACE_STOP_HERE)
			pass->here |= bit;
		pass->action = UTRACE_STOP;
		break;
	case UTRACE_BLOCKSTEP:
	case UTRACE_SINGLESTEP:
		if (!arch_has_single_step())
			break;
		if (action == UTRACE_SINGLESTEP)
			pass->step |= bit;
		else
			pass->block |= bit;
		fallthrough;
	case UTRACE_INTERRUPT:
	case UTRACE_REPORT:
		/*
		 * ->resume leaves STOP out: this action is served when the task
		 * goes on after a stop for another engine.
		 */
		pass->resume = min(pass->resume, action);
		pass->action = min(pass->action, action);
		break;
	case UTRACE_DETACH:
		utrace_detach_later(engine);
		break;
	default:
		pr_warn_once("utrace: engine %*pE answered %#x, which is no resume action; taken for RESUME\n",
			     (int)strlen(engine->info->name),
			     engine->info->name, ret);
	}
}

/**
 * utrace_pass_enter() - begin with the next engine of a pass
 * @pass: the pass
 * @engine: the engine, kept by the pinned set
 * @slot: the slot of @engine
 *
 * Context: The task itself, with the set pinned.  May call ->release() of an
 * engine that was detached meanwhile.
 * Return:
 * * true - the caller reads the flags of @engine and may call it
 * * false - @engine rejects the task
 */
bool utrace_pass_enter(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot)
{
	if (unlikely(pass->muted & BIT_ULL(slot)))
		return false;
	utrace_enter(pass->u, engine);
	return true;
}

/**
 * utrace_pass_wants() - is an engine to be called for an event?
 * @pass: the pass
 * @engine: the engine, kept by the pinned set
 * @slot: the slot of @engine
 * @event: the bit of the event; 0 for a report that was asked for
 *
 * Calls report_quiesce first if the engine wants QUIESCE.  The flags are read
 * again after that call, in which the engine may ask for @event.
 *
 * Context: As utrace_pass_begin(), but with the set pinned.
 * Return:
 * * true - the caller calls @engine
 * * false - @engine does not want @event, is detached (its flags are 0) or
 *   rejects the task; or @event is 0, and report_quiesce is the only callback
 */
bool utrace_pass_wants(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot, unsigned long event)
{
	unsigned long flags;

	if (!utrace_pass_enter(pass, engine, slot))
		return false;
	flags = READ_ONCE(engine->flags);
	if (unlikely(flags & UTRACE_EVENT(QUIESCE)) &&
	    engine->ops->report_quiesce) {
		u32 ret = utrace_call(pass, engine, report_quiesce,
				      pass->action, engine, event);

		utrace_pass_answer(pass, engine, slot, ret, 0);
		flags = READ_ONCE(engine->flags);
	}
	return flags & event;
}

/* Does the pass over the current event call this engine? */
static bool utrace_is_called(struct utrace_engine *engine, unsigned int slot,
			     unsigned int event)
{
	if (READ_ONCE(current->utrace->muted) & BIT_ULL(slot) ||
	    !(READ_ONCE(engine->flags) & BIT(event)))
		return false;
	return !(BIT(event) & UTRACE_EVENT_SYSCALL) ||
	       utrace_filter_passes(engine, current_pt_regs());
}

/**
 * utrace_was_called() - was an engine of the same client called before?
 * @engine: the engine, whose callback this is
 * @event: number of the event
 * @same: do two engines with the same ops belong together?  Called under RCU
 *	with an engine that was attached when the RCU section began, and with
 *	@engine
 *
 * For a client that wants to be told once of an event of a task that several of
 * its engines cover.  Changes of another engine that come in the midst of the
 * pass may make both engines be told.
 *
 * Context: The callback of @engine for @event, in the task itself.
 * Return: true if the present pass calls an engine like @engine before it.
 */
bool utrace_was_called(const struct utrace_engine *engine, unsigned int event,
		       bool (*same)(const struct utrace_engine *a,
				    const struct utrace_engine *b))
{
	guard(rcu)();
	utrace_set_for_each(current->utrace->pinned, UTRACE_LIST(event), at) {
		if (at.engine == engine)
			return false;
		if (utrace_is_called(at.engine, at.slot, event) &&
		    at.engine->ops == engine->ops && same(at.engine, engine))
			return true;
	}
	return false;
}

/*
 * Make a pass whose callbacks take (action, engine, ...) and answer only with a
 * resume action, and then call @after with the pass.
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
 * At CLONE the task stops when it has started the child: a debugger may wait for
 * the child before it lets the task go.
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

/* For events at which locks are held. */
static void utrace_pass_goes_on(struct utrace_pass *pass)
{
}

/* For JCTL, whose caller stops. */
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
	/* clone(2) takes any low byte.  CLONE_NEWTIME, a bit of it, is for clone3(2). */
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
	UTRACE_REPORT_PASS(CREDS, utrace_pass_goes_on, 0, report_creds, bprm);
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
 * Report JCTL; @flags are for @action of the callbacks.  Returns true if an
 * engine has asked for a stop at the event itself, unless the task is in a stop
 * already.
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
 * @notify: what the parent is told, or 0
 *
 * Context: The task itself, no locks held.  May sleep.
 */
void __utrace_report_jctl(int type, int notify)
{
	utrace_jctl_pass(type, notify, 0);
}

/**
 * utrace_report_stop() - report that the task is about to stop for job control
 * @notify: what the parent is told, or 0
 * @again: the task has reported the stop before
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
