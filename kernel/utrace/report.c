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
static void utrace_pass_leave(struct utrace_pass *pass)
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
			u->flags |= UTRACE_TASK_LONG;
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
	struct utrace_engine *engine;					\
	struct utrace_pass pass;					\
	unsigned int i, slot;						\
									\
	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_##event), \
			       0))					\
		break;							\
	utrace_pass_for_each(&pass, i, slot, engine) {			\
		u32 ret;						\
									\
		if (!utrace_pass_wants(&pass, engine, slot,		\
				       UTRACE_EVENT(event)))		\
			continue;					\
		ret = utrace_call(&pass, engine, op, pass.action,	\
				  engine, __VA_ARGS__);			\
		utrace_pass_answer(&pass, engine, slot, ret, 0);	\
	}								\
	utrace_pass_end(&pass);						\
} while (0)

/* The pass of the safe point: somebody asked for a report. */
void utrace_report_quiesce(struct utrace *u)
{
	struct utrace_engine *engine;
	struct utrace_pass pass;
	unsigned int i, slot;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_QUIESCE), 0))
		return;
	utrace_pass_for_each(&pass, i, slot, engine)
		utrace_pass_wants(&pass, engine, slot, 0);
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

/* Exit, death and reaping. */

/* wait() tells the status of a group exit, not that of the thread. */
static void utrace_change_group_code(long old, long new)
{
	struct signal_struct *sig = current->signal;

	guard(spinlock_irq)(&current->sighand->siglock);
	if ((sig->flags & SIGNAL_GROUP_EXIT) && sig->group_exit_code == old)
		sig->group_exit_code = new;
}

/* Dies by SIGKILL, or for another thread's execve(): not to be kept waiting. */
static bool utrace_is_killed(void)
{
	struct signal_struct *sig = current->signal;

	guard(spinlock_irq)(&current->sighand->siglock);
	if (sig->group_exec_task && sig->group_exec_task != current)
		return true;
	return (sig->flags & SIGNAL_GROUP_EXIT) &&
	       (sig->group_exit_code & 0x7f) == SIGKILL;
}

static long utrace_exit_pass(struct utrace *u, long orig_code)
{
	struct utrace_engine *engine;
	struct utrace_pass pass;
	unsigned int i, slot;
	long code = orig_code, seen;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_EXIT), 0))
		return code;
	utrace_no_exit(&pass);
	utrace_pass_for_each(&pass, i, slot, engine) {
		u32 ret;

		if (!utrace_pass_wants(&pass, engine, slot,
				       UTRACE_EVENT(EXIT)))
			continue;
		seen = code;
		ret = utrace_call(&pass, engine, report_exit,
				  pass.action |
				  utrace_tell_unpaired(u, engine, slot),
				  engine, orig_code,
				  utrace_engine_is_system(engine) ? &seen : &code);
		utrace_pass_answer(&pass, engine, slot, ret, 0);
	}
	utrace_pass_end(&pass);
	if (code != orig_code)
		utrace_change_group_code(orig_code, code);
	if (READ_ONCE(u->hold))
		utrace_stop(u, UTRACE_STOP_FIRM);
	return code;
}

long __utrace_report_exit(long code)
{
	const unsigned long last = UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH) |
				   UTRACE_EVENT(REAP);
	bool killed = utrace_is_killed();
	struct utrace *u;

	/* For what is still to come of it; or nobody is interested. */
	if (!current->utrace &&
	    (!(current->utrace_events & last) || !utrace_adopt(last)))
		return code;
	u = current->utrace;
	/* A callback died of an oops in the middle of its pass. */
	if (unlikely(u->pinned))
		utrace_unpin(u);
	/* That oops brings the task here again, and would do so for ever. */
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_DYING))
		return code;
	scoped_guard(spinlock_irqsave, &u->lock) {
		/* Until the death report is done. */
		u->flags |= UTRACE_TASK_DYING;
		if (killed)
			u->flags |= UTRACE_TASK_KILLED;
	}
	/* A thread that exits by itself while a signal kills its process. */
	if (current->utrace_events & UTRACE_EVENT(SIGNAL_TERM))
		utrace_report_killer(code & 0x7f);
	/* As long as matches can be asked. */
	if (current->utrace_events & UTRACE_WORD_REBUILD)
		utrace_renew();
	if (current->utrace_events & UTRACE_EVENT(EXIT))
		code = utrace_exit_pass(u, code);
	return code;
}

/*
 * The reaper may be a task that nobody traces, which utrace_heavy() passes over, so
 * it has full barriers of its own where a task has none.
 */
static void utrace_reap_call(struct task_struct *task, struct utrace *u,
			     struct utrace_engine *engine)
{
	u64 since;

	smp_store_mb(u->now, engine); /* Before the flags of both. */
	if (unlikely(READ_ONCE(u->flags) & UTRACE_TASK_WAITER))
		utrace_told(u);
	if (!(READ_ONCE(engine->flags) & UTRACE_EVENT(REAP)) ||
	    !engine->ops->report_reap)
		return;
	since = utrace_time();
	engine->ops->report_reap(engine, task);
	utrace_account(engine, since);
}

/* By what the engines want now: there is no later event to renew the set at. */
static void utrace_report_reap(struct task_struct *task, struct utrace *u,
			       struct utrace_set *set)
{
	bool last = thread_group_leader(task);
	struct utrace_engine *engine;
	u8 order[UTRACE_NSLOTS];
	unsigned int i, n, slot;

	utrace_count_lost(set, UTRACE_EVENT(REAP));
	n = utrace_order(set, _UTRACE_EVENT_REAP, NULL, order);
	for (i = 0; i < n; i++)
		if (!(u->muted & BIT_ULL(order[i])))
			utrace_reap_call(task, u, set->engine[order[i]]);
	smp_store_mb(u->now, NULL); /* Before a look at the flags. */
	utrace_for_each(set, UTRACE_LIST_ALL, i, slot, engine) {
		unsigned int scope = utrace_engine_state(engine) &
				     UTRACE_STATE_SCOPE;

		if (!scope || (scope == UTRACE_STATE_PROCESS && last))
			utrace_engine_end(engine);
	}
}

/* The pass is over: the task has no set any more, and is no member. */
static void utrace_reap_end(struct task_struct *task, struct utrace *u)
{
	struct utrace_member *member;

	scoped_guard(spinlock_irqsave, &u->lock) {
		WRITE_ONCE(task->utrace_set, NULL);
		member = u->member;
		u->member = NULL;
	}
	utrace_member_leave(member);
	if (member)
		kfree_rcu(member, rcu);
	smp_store_mb(u->pinned, NULL); /* Before a look at the flags. */
	if (READ_ONCE(u->flags) & (UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER))
		utrace_told(u);
}

/*
 * Drop all engines of a task that is gone for good.  The reaper runs the pass
 * in the task's place, with the set pinned so that barriers wait for it; the
 * task is still where they look, and its engines are its members until then.
 * False if the task has begun to report its death.
 */
static bool utrace_reap(struct task_struct *task, struct utrace *u)
{
	struct utrace_set *set;

	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_DYING)
			return false;
		u->flags |= UTRACE_TASK_REAPED;
		u->hold = 0;
		u->reaper = current;
		set = task->utrace_set;
		smp_store_mb(u->pinned, set); /* Before what is read of it. */
		WRITE_ONCE(task->utrace_events, 0);
	}
	if (set)
		utrace_report_reap(task, u, set);
	utrace_reap_end(task, u);
	utrace_set_put(set);
	return true;
}

/*
 * Nobody hears of the reaping before the death report is over, and while it
 * runs the task must stay where barriers look for it.  Callbacks do not wait
 * for user space, so this ends.
 */
void __utrace_release_task(struct task_struct *task)
{
	/* The reaper may be a kernel thread that memory waits for. */
	unsigned int noio = memalloc_noio_save();
	struct utrace *u = task->utrace;

	do {
		wait_var_event(&u->flags,
			       !(READ_ONCE(u->flags) & UTRACE_TASK_DYING));
	} while (!utrace_reap(task, u));
	memalloc_noio_restore(noio);
}

/* What the parent of the current, dead task is sent. */
static int utrace_death_signal(bool autoreap)
{
	if (autoreap)
		return -1;
	if (delay_group_leader(current))
		return -2;
	return current->exit_signal;
}

static void utrace_death_pass(bool group_dead, int signal)
{
	struct utrace_engine *engine;
	struct utrace_pass pass;
	unsigned int i, slot;

	if (!utrace_pass_begin(&pass, UTRACE_LIST(_UTRACE_EVENT_DEATH), 0))
		return;
	utrace_pass_for_each(&pass, i, slot, engine) {
		u32 ret;

		if (!utrace_pass_wants(&pass, engine, slot,
				       UTRACE_EVENT(DEATH)))
			continue;
		ret = utrace_call(&pass, engine, report_death, engine,
				  group_dead, signal);
		if (utrace_resume_action(ret) == UTRACE_DETACH)
			utrace_detach_later(engine);
	}
	/* Nothing can follow for this task: the answers have no effect. */
	utrace_pass_leave(&pass);
}

void __utrace_report_death(bool group_dead, bool autoreap)
{
	struct utrace *u = current->utrace;
	bool wanted;

	scoped_guard(spinlock_irqsave, &u->lock) {
		wanted = !(u->flags & UTRACE_TASK_REAPED) &&
			 (current->utrace_events & UTRACE_EVENT(DEATH));
		/*
		 * DYING is missing if the first engine came after the exit
		 * report.  From DEAD on it is too late to ask for DEATH, see
		 * utrace_add_late().
		 */
		u->flags |= UTRACE_TASK_DYING | UTRACE_TASK_DEAD;
	}

	if (wanted)
		utrace_death_pass(group_dead, utrace_death_signal(autoreap));

	scoped_guard(spinlock_irqsave, &u->lock)
		u->flags &= ~UTRACE_TASK_DYING;
	smp_mb(); /* Pairs with the one in prepare_to_wait_event(). */
	wake_up_var(&u->flags);
}
