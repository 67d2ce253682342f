/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - types and functions that the files of the core share
 *
 * A cast says which engines cover a task, a set says what the task must call,
 * and struct utrace keeps the state of one task.  Casts and sets are immutable
 * except for the members that their kernel-doc names; so a task walks a set
 * that it has pinned (pin.h) without a lock.
 *
 * Lock order, outermost first:
 *
 *   signal->cred_guard_mutex
 *     signal->exec_update_lock
 *       utrace_in_use_mutex	the static key of the safe point
 *         cpu_hotplug_lock, jump_label_mutex
 *       utrace_change_mutex	which engines cover which tasks
 *         tasklist_lock
 *           sighand->siglock	jobctl bits and the state of a stop
 *             utrace_engine_lock	flags and state of every engine
 *               utrace_bare_lock	the words of tasks without struct utrace
 *                 utrace->lock	the published set and what is per task
 *                   utrace_cast->lock	the members of a cast
 *
 * An attach and a detach hold utrace_change_mutex for one round at a time; no
 * hook takes it.  The last four locks are spinlocks that are taken with
 * interrupts off.  The first two locks are the only ones that may be held while
 * a callback runs: see @report_creds and @report_reap of struct
 * utrace_engine_ops.
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

#include "pin.h"

/*
 * Slots of a set.  Engines of casts have the slots below UTRACE_SYSTEM_SLOT,
 * engines of the system have the others, so that neither kind can take the
 * slots of the other.  A cast whose engines leave no more than
 * UTRACE_KEPT_SLOTS slots takes privileged engines only, see
 * utrace_is_crowded().
 */
#define UTRACE_NSLOTS		64
#define UTRACE_SYSTEM_SLOT	UTRACE_MAX_ENGINES
#define UTRACE_KEPT_SLOTS	8

static_assert(UTRACE_MAX_ENGINES + UTRACE_MAX_SYSTEM == UTRACE_NSLOTS);

/*
 * Bits of utrace_engine::state.  A detach sets DETACHED, utrace_control() sets
 * and clears HOLD_ALL, a failed attach sets UNBORN, a successful attach clears
 * ATTACHING.  All other bits are set before the engine covers a task, and stay.
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
 * The engine has these callbacks.  utrace_set_fill() looks here and not at
 * ->ops, which may be gone while a set still has the engine.
 */
#define UTRACE_STATE_HAS_ENTRY	BIT(10)
#define UTRACE_STATE_HAS_EXIT	BIT(11)
#define UTRACE_STATE_PRIVILEGED	BIT(12)	/* may take kept slots, see limit.c */
#define UTRACE_STATE_ATTACHING	BIT(13)	/* utrace_find() skips the engine */

/*
 * In the event word, beside the events: the set is older than what an engine
 * wants, or a verdict may have changed.  The next pass calls utrace_renew()
 * first.
 */
#define UTRACE_WORD_RENEW	BIT(_UTRACE_NEVENTS)
/*
 * In the event word: no engine of the set needs the slow pass for system calls,
 * and the task has a struct utrace.  Never set together with RENEW.
 */
#define UTRACE_WORD_FAST	BIT(_UTRACE_NEVENTS + 1)
/*
 * In the event word of a bare task: the matches of all engines of the system
 * reject the task.  No event tests this bit.  It makes the word non-zero, so
 * that utrace_fork() writes the word of a child, which has verdicts of its own.
 */
#define UTRACE_WORD_REJECTED	BIT(_UTRACE_NEVENTS + 2)
/*
 * In the event word: a mutator, an enforcer or an engine of last resort wants
 * SIGNAL_TERM or SIGNAL_CORE, so complete_signal() must not kill the whole
 * group when such a signal is sent.  Never set in the word of a bare task.
 */
#define UTRACE_WORD_FATAL	BIT(_UTRACE_NEVENTS + 3)
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

/*
 * Lists of a set: the first has all slots in the order of attach, those of the
 * system last; each other list has, for one event, the slots to be called in
 * the order of the calls.
 */
#define UTRACE_LIST_ALL		0
#define UTRACE_LIST(event)	((event) + 1)
#define UTRACE_NLISTS		(_UTRACE_NEVENTS + 1)

struct utrace_set;
struct utrace_successor;

/* The part of a cast that a new thread or process inherits. */
enum utrace_heir {
	UTRACE_HEIR_THREAD,	/* process and tree scope */
	UTRACE_HEIR_PROCESS,	/* tree scope */
	UTRACE_NHEIRS
};

/**
 * struct utrace_role - an engine's place in a cast
 * @list: entry in utrace_engine_info::roles; changed under utrace_engine_lock,
 *	read under RCU
 * @engine: the engine; the cast has a reference to its memory
 * @cast: the cast that has this role
 * @slot: the slot of @engine in every set that is made for @cast
 */
struct utrace_role {
	struct list_head list;
	struct utrace_engine *engine;
	struct utrace_cast *cast;
	u8 slot;
};

/**
 * struct utrace_cast - the engines that cover a task, without the system's
 * @ref: references: one for each set made for the cast, for each cast that has
 *	it as @heir, for each utrace_successor of it, and those that functions
 *	hold while they work on it
 * @lock: protects changes of @members
 * @members: a struct utrace_member for each task that has a set of the cast;
 *	empty unless @listed.  Changed under @lock, read under RCU
 * @latest: the last set made for the cast, not counted.  Read under RCU by
 *	utrace_set_latest(), cleared by the last utrace_set_put() of that set
 * @heir: by enum utrace_heir, the cast of a child, counted; NULL if a child
 *	inherits no engine; the cast itself, not counted, if a child inherits
 *	all
 * @next: a set of the cast that replaces this one, counted; NULL if no engine
 *	is left.  Valid once @replaced is set, until utrace_uncover_casts()
 *	drops it when no task has the cast any more.  Changed under
 *	utrace_change_mutex
 * @replaced: an engine of the cast is detached, and children get @next.  Set
 *	once, under utrace_change_mutex; utrace_heir() reads it with acquire
 * @listed: an engine of the cast has process or tree scope, so that its tasks
 *	are in @members
 * @succ: the successor of the cast in the round that is going on, else NULL;
 *	under utrace_change_mutex
 * @rcu: frees the cast when readers of @members and of utrace_role::list are
 *	done
 * @nroles: number of elements of @role
 * @role: the engines, in the order of attach
 *
 * Immutable except for @ref, @members, @latest, @next, @replaced and @succ.
 * Attach and detach make casts, a fork hands them on; no other event makes one.
 */
struct utrace_cast {
	refcount_t ref;
	spinlock_t lock;	/* innermost lock, interrupts off */
	struct list_head members;
	struct utrace_set __rcu *latest;
	struct utrace_cast *heir[UTRACE_NHEIRS];
	struct utrace_set *next;
	bool replaced;
	bool listed;
	struct utrace_successor *succ;
	struct rcu_head rcu;
	unsigned int nroles;
	struct utrace_role role[] __counted_by(nroles);
};

/**
 * struct utrace_member - a task's entry in the list of its cast
 * @list: entry in utrace_cast::members, or empty if the cast is not listed;
 *	changed under utrace_cast::lock, read under RCU
 * @task: the task, not counted: the entry leaves the list when the task is
 *	reaped
 * @cast: the cast whose list has the entry; the set of the task has a reference
 *	to it
 * @rcu: frees the entry when readers of the list are done
 */
struct utrace_member {
	struct list_head list;
	struct task_struct *task;
	struct utrace_cast *cast;
	struct rcu_head rcu;
};

/**
 * struct utrace_set - what a task must call, in lists for its passes
 * @ref: references: one for each task that has the set as ->utrace_set or as
 *	utrace::deferred, for each set that has it as @heir, for each cast that
 *	has it as @next, for each utrace_successor, and those that functions
 *	hold while they work on it
 * @nslots: number of elements of @engine and @seq
 * @start: by list, the index in @order where the list begins and where the list
 *	before it ends
 * @events: the event word of a task with the set, if no engine rejects the task
 * @asked: the events that engines with a match want
 * @sysgen: utrace_system_gen, read before the engines of the system were
 * @kthread: the set is for kernel threads; such a set has no @cast
 * @members: slots that have an engine
 * @matched: slots whose engine has a match
 * @entry: slots in the list of SYSCALL_ENTRY
 * @exit: slots in the list of SYSCALL_EXIT
 * @sole_entry: the one engine in the list of SYSCALL_ENTRY.  If there is none
 *	or more than one, an engine that wants nothing, so that the fast pass
 *	needs no NULL check
 * @sole_exit: likewise for SYSCALL_EXIT
 * @cast: the cast that the set was made for, counted; NULL if the set has
 *	engines of the system only
 * @heir: by enum utrace_heir, the set of a child, counted; NULL if a child
 *	inherits no engine; the set itself, not counted, if @cast is its own
 *	heir
 * @rcu: frees the set when readers under RCU are done
 * @order: slots, list after list
 * @seq: by slot, utrace_engine::seq, read before the flags of the engine
 * @engine: by slot, the engine; @cast has a reference to the memory of its
 *	engines, the set has one to that of each engine of the system
 *
 * Immutable except for @ref.  A newer set for the same cast may exist, made
 * from what its engines want now.  An engine keeps its slot in every set of
 * every cast that follows.
 *
 * A task that has the set pinned reads it without a lock.  Any other reader has
 * a reference, or holds utrace->lock of a task that has the set.  Under RCU
 * alone a reader may compare engines and try to take a reference, no more.
 */
struct utrace_set {
	refcount_t ref;
	unsigned int nslots;
	u16 start[UTRACE_NLISTS + 1];
	unsigned long events;
	unsigned long asked;
	unsigned int sysgen;
	bool kthread;
	u64 members;
	u64 matched;
	u64 entry;
	u64 exit;
	struct utrace_engine *sole_entry;
	struct utrace_engine *sole_exit;
	struct utrace_cast *cast;
	struct utrace_set *heir[UTRACE_NHEIRS];
	struct rcu_head rcu;
	u8 *order;
	u32 *seq;
	struct utrace_engine *engine[] __counted_by(nslots);
};

/* Bits of utrace::flags, changed under utrace->lock. */
#define UTRACE_TASK_WAITER	BIT(0)	/* tell when the callback ends */
#define UTRACE_TASK_DEFERRED	BIT(1)	/* ->deferred is to be dropped */
#define UTRACE_TASK_DYING	BIT(2)	/* from EXIT to the end of DEATH */
#define UTRACE_TASK_REAPED	BIT(3)	/* claimed by the reaper: no new set */
#define UTRACE_TASK_KILLED	BIT(4)	/* must not stop any more */
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
#define UTRACE_TASK_STOP_TOLD	BIT(18)	/* has reported the group stop; set under siglock */

/**
 * struct utrace - what the core keeps for one task
 * @lock: protects the set and the word of the task, and changes of what is
 *	marked "under @lock" here
 * @flags: UTRACE_TASK_*; changed under @lock
 * @resume: the smallest resume action that was asked for and is not served yet,
 *	UTRACE_RESUME if there is none; under @lock
 * @where: which kind of stop the present or last one is, enum utrace_stop_where;
 *	written by the task under siglock
 * @passes: how often the end of a callback was told to waiting tasks;
 *	incremented under @lock, waited for by wait_var_event()
 * @held_since: when the present stop began, in seconds of ktime_get_seconds(),
 *	or 0; written by the task, read by /proc
 * @pinned: the set that a pass walks, or NULL; written by the task, in the REAP
 *	pass by the reaper
 * @now: the engine whose callback may be running, or NULL; written as @pinned
 *	is.  A fast pass over a set with one engine in the list leaves it NULL
 * @deferred: a set that was replaced while it may have been pinned; the pass
 *	drops this reference.  Under @lock
 * @hold: slots of the engines that hold the task; under @lock
 * @step: slots of the engines that asked for a step; under @lock
 * @block: those slots of @step for which the next branch is soon enough; under
 *	@lock
 * @entered: slots whose engines saw the entry of the present system call; only
 *	the task uses it, but for utrace_blocked_in_call()
 * @fresh: slots that got another engine, or whose engine ceased to be muted,
 *	after the pass of that entry began; under @lock
 * @unpaired: slots whose engines saw an entry and no exit yet; only the task
 *	uses it
 * @muted: slots whose match rejects the task; under @lock.  Changed by the
 *	task, or together with the set
 * @reaper: the task that runs the REAP pass, or NULL; under @lock
 * @task_data: what clients keep for the task (task_data.c); only the task uses
 *	it, but for utrace_blocked_data()
 * @member: the entry of the task in the list of its cast, NULL if it needs
 *	none; under @lock
 * @left: a detached engine whose callback the task is in, or NULL.
 *	utrace_told() drops the count in utrace_engine_info::core that comes
 *	with it.  Under @lock
 * @looked: instruction pointer of the task when the client that follows all steps
 *	was called last; only the task uses it
 * @tracers: the further tracers of the task by ptrace(2) (ptrace/ptracer.h), under
 *	@lock, read under RCU
 * @newborn: those of a task that this task is creating; only the task uses it
 *
 * Allocated when a first engine covers the task, for a bare task at its first
 * event; freed with the task.
 */
struct utrace {
	spinlock_t lock;	/* only utrace_cast::lock is inside */
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
	unsigned long looked;
	struct hlist_head tracers;
	struct hlist_head newborn;
};

#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC)
static_assert(sizeof(struct utrace) <= 160);
#endif

#define UTRACE_NAME_LEN		32

/**
 * struct utrace_engine_info - the part of an engine that no pass looks at
 * @uncover: the work item that takes the engine out of all casts after a detach
 * @engine: the engine itself
 * @core: the core's own count of references: one for being attached, one for
 *	each task that was in a callback when the engine was detached, and short
 *	ones, as utrace_rejects() takes.  All of them have one reference of
 *	utrace_engine::kref together.  The last one is dropped under
 *	utrace_engine_lock
 * @shell: references to the memory of the engine: one for all of
 *	utrace_engine::kref, one for each cast with the engine, for an engine of
 *	the system one for each set, and short ones of readers under RCU
 * @roles: the engine's utrace_role in each cast; changed under
 *	utrace_engine_lock, read under RCU
 * @attaching: entry in the list of exclusive engines that are being attached,
 *	or empty; under utrace_engine_lock
 * @lost: number of events that did not come to this engine of the system
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
	struct list_head roles;
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

extern struct mutex utrace_change_mutex;
extern spinlock_t utrace_engine_lock;

struct cred;
struct ucounts;
struct utrace_task_data;
struct utrace_match;

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
 * Observers and engines of the system cannot change what becomes of signals
 * that end a process.
 */
static inline bool utrace_engine_observes(struct utrace_engine *engine)
{
	return utrace_engine_is_system(engine) ||
	       utrace_engine_class(engine) == UTRACE_CLASS_OBSERVER;
}

/*
 * The bits that an engine which wants @events adds to the words of its tasks.
 */
static inline unsigned long utrace_engine_word(struct utrace_engine *engine,
					       unsigned long events)
{
	if ((events & UTRACE_EVENT_FATAL) && !utrace_engine_observes(engine))
		events |= UTRACE_WORD_FATAL;
	return events;
}

/*
 * An engine of kernel code, or one whose opener and attacher have
 * CAP_SYS_PTRACE in the initial user namespace.
 */
static inline bool utrace_engine_is_privileged(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_PRIVILEGED;
}

/* Has @task begun its death report, or died, or is it too late for the report? */
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

/*
 * Write the event word of a task, and compute the work bit from it.  No other
 * function sets the work bit, so an attach and a detach at the same time cannot
 * leave it different from what the word says.  The caller holds utrace->lock of
 * the task, or utrace_bare_lock for a bare task, unless the task is not visible
 * yet.
 */
static inline void utrace_write_word(struct task_struct *task,
				     unsigned long events)
{
	WRITE_ONCE(task->utrace_events, events);
	if (events & UTRACE_EVENT_SYSCALL)
		set_task_syscall_work(task, SYSCALL_UTRACE);
	else
		clear_task_syscall_work(task, SYSCALL_UTRACE);
}

/* engine.c */
bool utrace_core_tryget(struct utrace_engine *engine);
void utrace_core_put(struct utrace_engine *engine);
bool utrace_core_gone(struct utrace_engine *engine);
void utrace_shell_get(struct utrace_engine *engine);
bool utrace_shell_tryget(struct utrace_engine *engine);
void utrace_shell_put(struct utrace_engine *engine);
void utrace_engine_touch(struct utrace_engine *engine);
pid_t utrace_engine_pid(struct utrace_engine *engine);
unsigned int utrace_state_of_flags(int flags);
struct utrace_engine *
utrace_engine_alloc(struct task_struct *target, int flags,
		    const struct utrace_engine_ops *ops, void *data,
		    work_func_t uncover);

/* set_events.c */
void utrace_engine_changed(struct utrace_engine *engine, unsigned long added);

/* cast.c */
struct utrace_cast *utrace_cast_get(struct utrace_cast *cast);
struct utrace_set * __must_check utrace_cast_drop(struct utrace_cast *cast);
void utrace_cast_put(struct utrace_cast *cast);
struct utrace_member *utrace_member_alloc(gfp_t gfp);
unsigned int utrace_member_alloc_bulk(gfp_t gfp, unsigned int n,
				      struct utrace_member **member);
void utrace_member_join(struct utrace_member *member, struct task_struct *task,
			struct utrace_cast *cast);
void utrace_member_leave(struct utrace_member *member);

/* publish.c */
void utrace_heavy(struct utrace_engine *engine);
struct utrace_set *utrace_switch(struct task_struct *task, struct utrace *u,
				 struct utrace_set *set, u64 same, u64 muted,
				 bool ask);

/**
 * utrace_take_deferred() - take the deferred set of a task
 * @u: struct utrace of a task that does not have the deferred set pinned
 *
 * Context: @u->lock is held.  Called by the task itself, by its reaper, or by
 * utrace_sweep() when a look after utrace_heavy() has shown no pin.
 * Return:
 * * the set, whose reference passes to the caller
 * * NULL - no set is deferred
 */
static inline struct utrace_set *utrace_take_deferred(struct utrace *u)
{
	struct utrace_set *drop = u->deferred;

	lockdep_assert_held(&u->lock);

	u->deferred = NULL;
	u->flags &= ~UTRACE_TASK_DEFERRED;
	return drop;
}

/* static_key.c */
void utrace_in_use_get(void);
void utrace_in_use_put(void);

/* limit.c */
int utrace_charge_engine(struct utrace_engine *engine,
			 const struct cred *opener);
void utrace_uncharge_engine(struct utrace_engine *engine);
bool utrace_same_user(const struct utrace_engine *a,
		      const struct utrace_engine *b);

/* scope.c */
/* What utrace_visit_members() does when it has released utrace->lock. */
#define UTRACE_AFTER_NOTIFY	BIT(0)	/* send the task past the safe point */
#define UTRACE_AFTER_INTERRUPT	BIT(1)	/* report from get_signal() */
#define UTRACE_AFTER_STOPPED	BIT(2)	/* likewise if job control stopped it */
#define UTRACE_AFTER_WAKE	BIT(3)	/* wake the task if nobody holds it */

typedef unsigned int (*utrace_member_fn)(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg);
bool utrace_addresses(struct utrace_engine *engine, struct task_struct *target);
void utrace_visit_members(struct utrace_engine *engine,
			  struct task_struct *target, utrace_member_fn fn,
			  void *arg);
void utrace_visit_tasks(struct utrace_engine *engine, utrace_member_fn fn,
			void *arg);

/* detach.c */
void utrace_uncover_work(struct work_struct *work);
void utrace_finish_detach(struct utrace_engine *engine);
bool utrace_detach(struct utrace_engine *engine);
void utrace_detach_later(struct utrace_engine *engine);
void utrace_detach_now(struct utrace_engine *engine);
void utrace_engine_end(struct utrace_engine *engine);

/* scope_system.c */
/**
 * struct utrace_system - the table of the engines of the system
 * @rcu: frees the table when readers under RCU are done
 * @slots: slots in use, counted from 0; UTRACE_SYSTEM_SLOT is added in a set
 * @all: the slots in use, in the order of attach
 * @n: number of elements of @all
 * @engine: by slot, the engine
 *
 * Immutable.  A change makes a copy and publishes it under utrace_engine_lock;
 * readers are under RCU and take a reference to the memory of an engine
 * (utrace_shell_tryget()) before they leave it.
 */
struct utrace_system {
	struct rcu_head rcu;
	u32 slots;
	u8 all[UTRACE_MAX_SYSTEM];
	unsigned int n;
	struct utrace_engine *engine[UTRACE_MAX_SYSTEM];
};

extern struct utrace_system __rcu *utrace_system;
extern unsigned int utrace_system_gen;
bool utrace_system_reaches(struct utrace_engine *engine, bool kthread);
void utrace_system_tell(void);
void utrace_system_recount(void);
int utrace_system_change(struct utrace_engine *engine);

/* set.c */
struct utrace_set *utrace_set_get(struct utrace_set *set);
void utrace_set_put(struct utrace_set *set);
int utrace_set_slot(const struct utrace_set *set,
		    const struct utrace_engine *engine);
u64 utrace_set_same(const struct utrace_set *old,
		    const struct utrace_set *new);
u64 utrace_set_present(const struct utrace_set *old,
		       const struct utrace_set *set);
struct utrace_set *utrace_set_latest(struct utrace_cast *cast, bool kthread);
bool utrace_set_is_current(const struct utrace_set *set);
unsigned int utrace_order(const struct utrace_set *set, unsigned int event,
			  const u16 *wants, u8 *order);

/**
 * struct utrace_place - the position of a walk over a list of engines
 * @i: index in the list
 * @slot: the slot at that index
 * @engine: the engine in that slot, kept by the set
 */
struct utrace_place {
	unsigned int i;
	unsigned int slot;
	struct utrace_engine *engine;
};

static __always_inline bool utrace_place_in(const struct utrace_set *set,
					    const u8 *order, unsigned int n,
					    struct utrace_place *at)
{
	if (at->i >= n)
		return false;
	at->slot = order[at->i];
	at->engine = set->engine[at->slot];
	return true;
}

/*
 * Walk a list of a set in the order of the calls.  The loop declares @at, a
 * struct utrace_place.
 */
#define utrace_set_for_each(set, list, at)				\
	for (struct utrace_place at = { .i = (set)->start[list] };	\
	     utrace_place_in(set, (set)->order,				\
			     (set)->start[(list) + 1], &at);		\
	     at.i++)

/* task.c */
struct utrace *utrace_alloc(gfp_t gfp);
unsigned int utrace_alloc_bulk(gfp_t gfp, unsigned int n, struct utrace **u);
void utrace_free(struct utrace *u);
void utrace_set_word(struct task_struct *task, unsigned long events);
unsigned long utrace_word_of(const struct utrace_set *set, u64 muted);
unsigned long utrace_word_now(struct task_struct *task, struct utrace *u);
extern spinlock_t utrace_bare_lock;
extern unsigned long utrace_kthread_events;
bool utrace_install(struct task_struct *task, struct utrace *u);
unsigned long utrace_bare_events_of(unsigned int task_flags);
unsigned long utrace_bare_events(struct task_struct *task);
bool utrace_refresh_bare(struct task_struct *task);
void utrace_want_renewal(struct task_struct *task);

/* task_data.c */
extern struct utrace_task_data utrace_task_data_end;
void utrace_task_data_drop(struct utrace *u);

/* renew.c */
u64 utrace_ask(const struct utrace_set *set, const struct utrace_set *old);
bool utrace_renew(void);
void utrace_count_lost(const struct utrace_set *set, unsigned long events);
bool __utrace_adopt(unsigned long events);

/**
 * utrace_adopt() - give the current task a struct utrace if an engine wants it
 * @events: UTRACE_EVENT() bits, of which the event to be reported is one;
 *	without memory it is counted as lost
 *
 * Context: The task itself, may sleep.
 * Return:
 * * true - the task has a struct utrace
 * * false - it has none: no engine wants its events, all reject it, or there is
 *   no memory
 */
static inline bool utrace_adopt(unsigned long events)
{
	return likely(current->utrace) || __utrace_adopt(events);
}

/* match.c */
#ifdef CONFIG_UTRACE_MATCH
bool utrace_rejects(struct utrace_engine *engine);
void utrace_match_put(struct utrace_match *match);
#else
static inline bool utrace_rejects(struct utrace_engine *engine)
{
	return false;
}

static inline void utrace_match_put(struct utrace_match *match)
{
}
#endif

/* barrier.c */
bool utrace_is_running(struct utrace_engine *engine);
void utrace_count_inside(struct utrace_engine *engine);
bool utrace_in_callback(void);

/* syscall_filter.c */
void utrace_filter_free(struct utrace_syscall_filter *filter);
u64 utrace_filter_calls(struct utrace_engine *engine);

/* signal.c */
void utrace_report_killer(int code);

/* stop.c */
enum utrace_stop_where {
	UTRACE_STOP_FIRM,	/* ptrace waits until engines let go */
	UTRACE_STOP_PERMEABLE,	/* ends for ptrace traps and signals */
	UTRACE_STOP_TRAPS,	/* ends for ptrace traps only */
	UTRACE_STOP_SERVES,	/* serves ptrace traps, and goes on */
	UTRACE_STOP_JCTL,	/* as PERMEABLE, and JCTL was just reported */
};

/*
 * Check whether an engine holds the current task.  If none does, the task sees the steps that
 * were asked for before the last hold has ended.
 */
static inline bool utrace_is_held(const struct utrace *u)
{
	/* The holds before the steps; pairs with utrace_end_hold(). */
	return smp_load_acquire(&u->hold);
}

/* End the holds @bits of a task, whose ->step was written before. */
static inline void utrace_end_hold(struct utrace *u, u64 bits)
{
	lockdep_assert_held(&u->lock);
	/* The steps before the holds; pairs with utrace_is_held(). */
	smp_store_release(&u->hold, u->hold & ~bits);
}

/* Why a stop has ended. */
enum utrace_stop_end {
	UTRACE_LET_GO,		/* no engine holds the task any more */
	UTRACE_LEFT,		/* for ptrace; an engine still holds the task */
	UTRACE_BROKEN,		/* the task may not stop, or is killed */
};

enum utrace_stop_end utrace_stop(struct utrace *u,
				 enum utrace_stop_where where);
void __utrace_stay_frozen(void);

/* wake.c */
void utrace_wake(struct task_struct *task, struct utrace *u);
void utrace_interrupt(struct task_struct *task);
void utrace_interrupt_stopped(struct task_struct *task);

/* The bits that have a task take part in the present group stop.  siglock is held. */
static inline unsigned long utrace_group_stop_bits(struct task_struct *task)
{
	return JOBCTL_STOP_PENDING | (task->jobctl & JOBCTL_STOP_SIGMASK ?: SIGSTOP);
}

/* step.c */
bool utrace_has_moved(const struct utrace *u, struct pt_regs *regs);
void utrace_arm_step(struct utrace *u);
void utrace_arm_in_call(struct utrace *u);
void utrace_step_handler(void);

#endif /* _KERNEL_UTRACE_INTERNAL_H */
