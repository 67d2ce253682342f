// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - one pass over a task's set: calls, and the merging of answers
 *
 * The resume actions of all engines merge to the smallest, the answers about
 * the event replace each other in the order of the calls.  The two are kept
 * apart, so that an engine which only says how the task goes on does not undo
 * what another said about the event.
 */
#include <linux/binfmts.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>

#include "internal.h"

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
/* The word has UTRACE_WORD_REBUILD and the like beside them. */
static_assert(_UTRACE_NEVENTS + 3 < 32 && BITS_PER_LONG == 64);

DEFINE_STATIC_KEY_FALSE(utrace_stats);

/* Callbacks do not wait for user space; one that takes longer may well do. */
#define UTRACE_SLOW_CALLBACK	NSEC_PER_SEC

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

/* The end of what utrace_pass_begin() began. */
void utrace_pass_leave(struct utrace_pass *pass)
{
	/* May call ->release(). */
	utrace_unpin(pass->u);
	if (unlikely(current->flags & PF_KTHREAD))
		memalloc_noio_restore(pass->noio);
}

/*
 * The set could not be brought up to date: the pass calls those engines of it that
 * want the event now, and the verdicts are asked for it, which takes no memory.
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
 * utrace_pass_begin - pin the set of the current task for a pass
 * @pass: filled in
 * @list: UTRACE_LIST() of the event
 * @result: what becomes of the event if no engine says otherwise
 *
 * Context: The task itself, no locks held.
 * Return: true if there is a set to walk; utrace_pass_end() must follow.
 */
bool utrace_pass_begin(struct utrace_pass *pass, unsigned int list, u32 result)
{
	struct utrace_set *set;
	struct utrace *u;
	bool live;

	if (!utrace_adopt(BIT(list - 1)))
		return false;
	u = current->utrace;
	/* A callback that makes its own task report would unpin our set. */
	if (WARN_ON_ONCE(u->pinned))
		return false;
	live = current->utrace_events & UTRACE_WORD_REBUILD && !utrace_renew();

	set = utrace_pin(u);
	pass->u = u;
	pass->set = set;
	pass->action = UTRACE_RESUME;
	pass->resume = UTRACE_RESUME;
	pass->result = result;
	pass->muted = READ_ONCE(u->muted);
	pass->stop = 0;
	pass->called = 0;
	pass->before = 0;
	pass->step = 0;
	pass->block = 0;
	if (unlikely(current->flags & PF_KTHREAD))
		pass->noio = memalloc_noio_save();
	/* A report made while it is held does not end the hold. */
	if (likely(!u->held_since))
		pass->before = READ_ONCE(u->hold) | READ_ONCE(u->step);
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

/* What the answers leave to be done before user mode. */
static void utrace_pass_apply(struct utrace_pass *pass)
{
	struct utrace *u = pass->u;

	scoped_guard(spinlock_irqsave, &u->lock) {
		/*
		 * An engine that was detached since gets nothing: nobody could
		 * let go of the task again.  A detach that comes now drops the
		 * holds after us.
		 */
		u64 there = utrace_set_present(pass->set, current->utrace_set);
		/*
		 * Who answers something else gives up what it had asked for
		 * when the pass began, not what control() asked for since.
		 */
		u64 gone = pass->called & pass->before & there;

		u->hold = (u->hold & ~gone) | (pass->stop & there);
		u->step = (u->step & ~gone) | (pass->step & there);
		u->block = (u->block & ~gone) | (pass->block & there);
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
 * utrace_pass_end - apply the answers and unpin the set
 * @pass: the pass
 *
 * A barrier that waited for the pass returns after this.
 *
 * Context: The task itself, no locks held.
 */
void utrace_pass_end(struct utrace_pass *pass)
{
	if (unlikely(pass->action != UTRACE_RESUME ||
		     pass->called & pass->before))
		utrace_pass_apply(pass);
	utrace_pass_leave(pass);
}

/**
 * utrace_pass_end_report - the end of a report asked for, or of a signal's
 * @pass: the pass
 *
 * REPORT and INTERRUPT as answers to such a report would have the task report
 * for ever instead of going on; they are not heard.
 *
 * Context: The task itself, no locks held.
 */
void utrace_pass_end_report(struct utrace_pass *pass)
{
	if (pass->resume < UTRACE_SINGLESTEP)
		pass->resume = UTRACE_RESUME;
	utrace_pass_end(pass);
}

/**
 * utrace_pass_answer - take in the answer of one engine
 * @pass: the pass
 * @engine: who answered
 * @slot: its slot
 * @ret: the answer
 * @mask: bits of @ret that are about the event; 0 leaves the event alone
 *
 * Context: The task itself, no locks held.
 */
void utrace_pass_answer(struct utrace_pass *pass, struct utrace_engine *engine,
			unsigned int slot, u32 ret, u32 mask)
{
	enum utrace_resume_action action = utrace_resume_action(ret);
	u64 bit = BIT_ULL(slot);

	if (utrace_engine_is_system(engine)) {
		/* It observes. */
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
		pass->action = UTRACE_STOP;
		break;
	case UTRACE_BLOCKSTEP:
	case UTRACE_SINGLESTEP:
		if (!arch_has_single_step())
			break;
		pass->step |= bit;
		if (action == UTRACE_BLOCKSTEP)
			pass->block |= bit;
		fallthrough;
	case UTRACE_INTERRUPT:
	case UTRACE_REPORT:
		/* Kept for when it goes on, where another says STOP. */
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
 * utrace_pass_enter - the next engine of a pass
 * @pass: the pass
 * @engine: the engine
 * @slot: its slot
 *
 * Context: The task itself.
 * Return: false if the engine rejects the task; else its flags may be read and
 * what they ask for be called.
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
 * utrace_pass_wants - is an engine to be called for an event?
 * @pass: the pass
 * @engine: the engine
 * @slot: its slot
 * @event: the event's bit
 *
 * Reports QUIESCE before that if the engine asked for it.  The flags are
 * read again afterwards because the engine may ask for the very event there.
 *
 * Context: The task itself.  No locks held, save for CREDS, see there.
 * Return: true if so.  False too for an engine that was detached since the
 * set was published: its flags are 0.
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

/*
 * A pass whose callbacks take (action, engine, ...) and say nothing about the
 * event but how the task goes on.
 */
#define UTRACE_REPORT_PASS(event, op, ...)				\
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
		ret = utrace_call(&pass, at.engine, op, pass.action,	\
				  at.engine, __VA_ARGS__);		\
		utrace_pass_answer(&pass, at.engine, at.slot, ret, 0);	\
	}								\
	utrace_pass_end(&pass);						\
} while (0)

/* The pass of the safe point: somebody asked for a report. */
void utrace_report_quiesce(struct utrace *u)
{
	struct utrace_pass pass;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_QUIESCE), 0))
		return;
	utrace_pass_for_each(&pass, at)
		utrace_pass_wants(&pass, at.engine, at.slot, 0);
	utrace_pass_end_report(&pass);
}

/* The flags as the program gave them, with the signal in the low byte. */
void __utrace_report_clone(const struct kernel_clone_args *args,
			   struct task_struct *child)
{
	unsigned long clone_flags = args->flags | (args->exit_signal & CSIGNAL);

	UTRACE_REPORT_PASS(CLONE, report_clone, clone_flags, child);
}

void __utrace_report_vfork_done(pid_t child)
{
	UTRACE_REPORT_PASS(VFORK_DONE, report_vfork_done, child);
}

void __utrace_report_creds(const struct linux_binprm *bprm)
{
	UTRACE_REPORT_PASS(CREDS, report_creds, bprm);
}

void __utrace_report_exec(const struct linux_binprm *bprm)
{
	struct pt_regs *regs = current_pt_regs();

	UTRACE_REPORT_PASS(EXEC, report_exec, NULL, bprm, regs);
}

void __utrace_report_jctl(int type, int notify)
{
	UTRACE_REPORT_PASS(JCTL, report_jctl, type, notify);
}
