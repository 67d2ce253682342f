/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the core's state of a task and of an engine
 *
 * A domain (domain.h) lists the engines that cover a task, a set (set.h) lists
 * the callbacks that the task must make, and struct utrace keeps the state of
 * one task.  Domains and sets are immutable except for the members that their
 * kernel-doc names; so a task walks a set that it has pinned (pin.h) without a
 * lock.
 *
 * Lock order, outermost first:
 *
 *   signal->cred_guard_mutex
 *     signal->exec_update_lock
 *       utrace_in_use_mutex	the static key of the safe point
 *         cpu_hotplug_lock, jump_label_mutex
 *       utrace_change_mutex	which engines cover which tasks
 *       utrace_ptrace_link_mutex	see design.rst
 *         tasklist_lock
 *           sighand->siglock	jobctl bits and the state of a stop
 *             utrace_engine_lock	flags and state of every engine
 *               utrace_bare_lock	the words of tasks without struct utrace
 *                 utrace->lock	the published set and what is per task
 *                   utrace_domain->lock	the members of a domain
 *
 * An attach and a detach hold utrace_change_mutex for one batch at a time.  Of
 * the hooks, only utrace_ptrace_born() takes it.  The last four locks are
 * spinlocks that are taken with interrupts off.  The first two locks are the
 * only ones that may be held while a callback runs: see @report_creds and
 * @report_reap of struct utrace_engine_ops.
 */
#ifndef _KERNEL_UTRACE_INTERNAL_H
#define _KERNEL_UTRACE_INTERNAL_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/utrace.h>
#include <linux/utrace_hooks.h>
#include <linux/workqueue.h>

struct ucounts;
struct utrace_match;
struct utrace_member;
struct utrace_set;
struct utrace_task_data;

/*
 * Bits of utrace_engine::state.  A detach sets DETACHED, utrace_control() sets
 * and clears HOLD_ALL, a failed attach sets UNBORN, a successful attach clears
 * ATTACHING.  All other bits are constant once the engine covers a task.
 */
#define UTRACE_STATE_DETACHED	BIT(0)	/* set under utrace_engine_lock */
#define UTRACE_STATE_HOLD_ALL	BIT(1)	/* tasks that inherit it start held */
#define UTRACE_STATE_OWN_EVENTS	BIT(2)
#define UTRACE_STATE_PROCESS	BIT(3)
#define UTRACE_STATE_TREE	BIT(4)
#define UTRACE_STATE_UNBORN	BIT(5)	/* attach failed: no ->release() */
#define UTRACE_STATE_SYSTEM	BIT(6)
#define UTRACE_STATE_KTHREAD	BIT(7)	/* covers kernel threads too */
#define UTRACE_STATE_SCOPE	(UTRACE_STATE_PROCESS | UTRACE_STATE_TREE | \
				 UTRACE_STATE_SYSTEM)
#define UTRACE_STATE_CLASS_SHIFT 8
#define UTRACE_STATE_CLASS	(BIT(8) | BIT(9))	/* enum utrace_class */
/*
 * The engine has these callbacks.  utrace_set_fill() reads these bits and not
 * ->ops, which may be freed while a set still contains the engine.
 */
#define UTRACE_STATE_HAS_ENTRY	BIT(10)
#define UTRACE_STATE_HAS_EXIT	BIT(11)
#define UTRACE_STATE_PRIVILEGED	BIT(12)	/* may take kept slots, see limit.c */
#define UTRACE_STATE_ATTACHING	BIT(13)	/* utrace_find() skips the engine */

/*
 * The low bits of the event word are the events.  The four bits below are the
 * highest ones of its lower half, so that a new event moves none of them.
 */

/*
 * In the event word: the events, filter or match of an engine changed after the
 * set was built, or a verdict may have changed.  The next pass calls
 * utrace_renew() first.
 */
#define UTRACE_WORD_RENEW	BIT(28)
/*
 * In the event word: no engine of the set needs the slow pass for system calls,
 * and the task has a struct utrace.  Never set together with RENEW.
 */
#define UTRACE_WORD_FAST	BIT(29)
/*
 * In the event word of a bare task: the matches of all engines of the system
 * reject the task.  No event tests this bit.  It makes the word non-zero, so
 * that utrace_fork() writes the word of a child, which needs verdicts of its
 * own.
 */
#define UTRACE_WORD_REJECTED	BIT(30)
/*
 * In the event word: a mutator, an enforcer or an engine of last resort wants
 * SIGNAL_TERM or SIGNAL_CORE, so complete_signal() must not kill the whole
 * group when such a signal is sent.  Never set in the word of a bare task.
 */
#define UTRACE_WORD_FATAL	BIT(31)
/*
 * The upper half of the event word has one bit for each value of the low five
 * bits of a system call's number.  Where a bit is set, no engine of the set
 * wants these calls, see utrace_filter_calls().  Never set together with
 * RENEW.
 */
#define UTRACE_WORD_UNWANTED	GENMASK_ULL(63, 32)

/* Events of signals that end a process. */
#define UTRACE_EVENT_FATAL	(UTRACE_EVENT(SIGNAL_TERM) | \
				 UTRACE_EVENT(SIGNAL_CORE))

/* The events that kernel threads report. */
#define UTRACE_EVENT_KTHREAD	(UTRACE_EVENT(CLONE) | UTRACE_EVENT(EXIT) | \
				 UTRACE_EVENT(DEATH) | UTRACE_EVENT(REAP))

/* The class in the flags of an attach, shifted down to 0..3. */
#define UTRACE_CLASS_OF(flags) \
	(((flags) & UTRACE_ATTACH_CLASS_MASK) >> UTRACE_ATTACH_CLASS_SHIFT)

enum utrace_class {
	UTRACE_CLASS_MUTATOR	 = UTRACE_CLASS_OF(UTRACE_ATTACH_MUTATOR),
	UTRACE_CLASS_OBSERVER	 = UTRACE_CLASS_OF(UTRACE_ATTACH_OBSERVER),
	UTRACE_CLASS_ENFORCER	 = UTRACE_CLASS_OF(UTRACE_ATTACH_ENFORCER),
	UTRACE_CLASS_LAST_RESORT = UTRACE_CLASS_OF(UTRACE_ATTACH_LAST_RESORT),
};

/* Bits of utrace::flags, changed under utrace->lock. */
#define UTRACE_TASK_WAITER	BIT(0)	/* wake waiters after the callback */
#define UTRACE_TASK_DEFERRED	BIT(1)	/* ->deferred is to be dropped */
#define UTRACE_TASK_DYING	BIT(2)	/* from EXIT to the end of DEATH */
#define UTRACE_TASK_REAPED	BIT(3)	/* reaper owns it: no new set */
#define UTRACE_TASK_KILLED	BIT(4)	/* must not stop again */
#define UTRACE_TASK_STEPPING	BIT(5)	/* trap flag set for an engine */
#define UTRACE_TASK_STEPPED	BIT(6)	/* report the end of a step */
#define UTRACE_TASK_HANDLER	BIT(7)	/* report the frame of a handler */
#define UTRACE_TASK_PTRACE_STEP	BIT(8)	/* trap flag set for ptrace */
#define UTRACE_TASK_AT_HANDLER	BIT(9)	/* set HANDLER at the next frame */
#define UTRACE_TASK_SLOW	BIT(10)	/* no fast pass for system calls */
#define UTRACE_TASK_WAITS	BIT(11)	/* a callback waits in a barrier */
#define UTRACE_TASK_DEAD	BIT(12)	/* too late to add DEATH */
#define UTRACE_TASK_FOLLOWED	BIT(13)	/* a client follows all steps */
#define UTRACE_TASK_ARMED	BIT(14)	/* trap flag set for that client */
#define UTRACE_TASK_CLONED	BIT(15)	/* stop when the child has started */
#define UTRACE_TASK_STEPPED_CALL BIT(16) /* with STEPPED: at the end of a call */
#define UTRACE_TASK_LISTENED	BIT(17)	/* utrace_ignore_group_stop() ended PTRACE_LISTEN */
#define UTRACE_TASK_STOP_REPORTED	BIT(18)	/* reported; under siglock */

/**
 * struct utrace - the core's state of one task
 * @lock: protects the set and the word of the task, and changes of the members
 *	that are marked "under @lock"
 * @flags: UTRACE_TASK_*; changed under @lock
 * @resume: the smallest resume action that was requested and is not served yet,
 *	UTRACE_RESUME if there is none; under @lock
 * @where: kind of the present or last stop, enum utrace_stop_where; written by
 *	the task under siglock
 * @passes: how often waiting tasks were woken at the end of a callback;
 *	incremented under @lock, waited for by wait_var_event()
 * @held_since: when the present stop began, in seconds of ktime_get_seconds(),
 *	or 0.  It stays set while the task reports JCTL during the stop, see
 *	utrace_in_stop().  Written by the task, read by /proc
 * @pinned: the set that a pass walks, or NULL; written by the task, in the REAP
 *	pass by the reaper
 * @now: the engine whose callback may be running, or NULL; written by the task,
 *	in the REAP pass by the reaper.  A fast pass over a set with one engine
 *	in the list leaves it NULL
 * @deferred: a set that was replaced while it may have been pinned; the pass
 *	drops this reference.  Under @lock
 * @hold: slots of the engines that hold the task; under @lock
 * @step: slots of the engines that requested a step; under @lock
 * @block: slots of the engines that requested a block step, a subset of @step;
 *	under @lock
 * @entered: slots whose engines saw the entry of the present system call; only
 *	the task uses it, except for utrace_blocked_in_call()
 * @fresh: slots that another engine has taken, or whose engine ceased to be
 *	muted, since the pass over the entry of the present system call began;
 *	under @lock
 * @unpaired: slots whose engines saw an entry and no exit yet; only the task
 *	uses it
 * @muted: slots whose match rejects the task; under @lock.  Changed by the
 *	task, or by whoever changes the set
 * @reaper: the task that runs the REAP pass, or NULL; under @lock
 * @task_data: data of clients for the task (task_data.c); only the task uses
 *	it, except for utrace_blocked_data()
 * @member: the entry of the task in the list of its domain, NULL if it needs
 *	none; under @lock
 * @left: a detached engine whose callback the task is in, or NULL.  Has one
 *	reference in utrace_engine_info::core, which utrace_callback_done()
 *	drops.  Under @lock
 * @followed_ip: instruction pointer of the task at the last call of the client
 *	that follows all steps; only the task uses it
 * @tracers: the further tracers of the task by ptrace(2) (ptrace/ptracer.h),
 *	under @lock, read under RCU
 * @newborn: the further tracers of a task that this task is creating; only the
 *	task uses it
 *
 * Allocated when a first engine covers the task, for a bare task at its first
 * event; freed with the task.
 */
struct utrace {
	spinlock_t lock;	/* only utrace_domain::lock is inside */
	u32 flags;
	u8 resume;
	u8 where;
	u32 passes;
	u32 held_since;
	struct utrace_set *pinned;
	struct utrace_engine *now;
	struct utrace_set *deferred;
	u64 hold;
	u64 step;
	u64 block;
	u64 entered;
	u64 fresh;
	u64 unpaired;
	u64 muted;
	struct task_struct *reaper;
	struct utrace_task_data *task_data;
	struct utrace_member *member;
	struct utrace_engine *left;
	unsigned long followed_ip;
	struct hlist_head tracers;
	struct hlist_head newborn;
};

/* With these options, a spinlock_t has more than 4 bytes. */
#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC) && \
	!defined(CONFIG_PREEMPT_RT)
static_assert(sizeof(struct utrace) <= 160);
#endif

#define UTRACE_NAME_LEN		32

/**
 * struct utrace_engine_info - the part of an engine that no pass reads
 * @uncover: work item that removes the engine from all domains after a detach
 * @engine: the engine itself
 * @core: the core's own count of references: one for being attached, one for
 *	each task that was in a callback when the engine was detached, and
 *	short-lived ones, for example of utrace_rejects().  Together they
 *	account for one reference of utrace_engine::kref.  The last one is
 *	dropped under utrace_engine_lock
 * @shell: references to the memory of the engine: one for all references of
 *	utrace_engine::kref, one for each domain with the engine, for an engine
 *	of the system one for each set, and short-lived ones of readers under
 *	RCU
 * @links: the engine's utrace_link in each domain; changed under
 *	utrace_engine_lock, read under RCU
 * @attaching: entry in the list of exclusive engines that are being attached,
 *	or empty; under utrace_engine_lock
 * @lost: number of events that were not reported to this engine of the system
 * @calls: number of callbacks made while kernel.utrace.stats was set
 * @nsec: nanoseconds that these callbacks took
 * @match: the match of the engine, counted, or NULL; changed under
 *	utrace_engine_lock, dropped with the last reference to the engine, read
 *	under RCU
 * @name: name of the engine, copied from ops at attach because ops may be gone
 * @owner: name of the module that has the callbacks, or "kernel"
 * @on_behalf: the process that /proc shows instead of @owner, counted, or NULL;
 *	set once
 * @ucounts: the user who is charged with the engine, NULL for an engine of
 *	kernel code; set before the engine covers a task
 * @uid: the uid of @ucounts, or INVALID_UID; valid until the memory is freed
 * @rcu: frees the engine when readers under RCU are done
 */
struct utrace_engine_info {
	struct work_struct uncover;
	struct utrace_engine *engine;
	atomic_t core;
	refcount_t shell;
	struct list_head links;
	struct list_head attaching;
	atomic_long_t lost;
	atomic64_t calls;
	atomic64_t nsec;
	struct utrace_match __rcu *match;
	char name[UTRACE_NAME_LEN];
	char owner[MODULE_NAME_LEN];
	struct pid *on_behalf;
	struct ucounts *ucounts;
	kuid_t uid;
	struct rcu_head rcu;
};

static inline unsigned int utrace_engine_state(struct utrace_engine *engine)
{
	return atomic_read(&engine->state);
}

static inline enum utrace_class utrace_state_class(unsigned int state)
{
	return (state & UTRACE_STATE_CLASS) >> UTRACE_STATE_CLASS_SHIFT;
}

static inline enum utrace_class
utrace_engine_class(struct utrace_engine *engine)
{
	return utrace_state_class(utrace_engine_state(engine));
}

static inline bool utrace_engine_is_system(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_SYSTEM;
}

/*
 * Check whether an engine only observes signals that end a process: observers
 * and engines of the system cannot change them.
 */
static inline bool utrace_engine_observes(struct utrace_engine *engine)
{
	return utrace_engine_is_system(engine) ||
	       utrace_engine_class(engine) == UTRACE_CLASS_OBSERVER;
}

/* Get the bits that an engine which wants @events adds to its tasks' words. */
static inline unsigned long utrace_engine_word(struct utrace_engine *engine,
					       unsigned long events)
{
	if ((events & UTRACE_EVENT_FATAL) && !utrace_engine_observes(engine))
		events |= UTRACE_WORD_FATAL;
	return events;
}

/*
 * Check for an engine of kernel code, or one whose opener and attacher have
 * CAP_SYS_PTRACE in the initial user namespace.
 */
static inline bool utrace_engine_is_privileged(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_PRIVILEGED;
}

/*
 * Check whether @task has begun its death report, or has died, or can no longer
 * make the report.
 */
static inline bool utrace_is_dead(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	return READ_ONCE(task->exit_state) ||
	       (u && READ_ONCE(u->flags) & UTRACE_TASK_DEAD);
}

static inline bool utrace_engine_detached(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_DETACHED;
}

#endif /* _KERNEL_UTRACE_INTERNAL_H */
