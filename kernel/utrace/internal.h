/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what the parts of the core share
 *
 * Lock order, outermost first:
 *
 *   signal->cred_guard_mutex
 *     signal->exec_update_lock
 *       utrace_change_mutex	which engines cover which tasks
 *         tasklist_lock
 *           sighand->siglock	jobctl bits and the state of a stop
 *             utrace_engine_lock	flags and state of every engine
 *               utrace_bare_lock	the words of tasks without struct utrace
 *                 utrace->lock	the published set and what is per task
 *                   utrace_cast->lock	the members of a cast
 *
 * utrace_change_mutex is for those who attach and detach, for one round at a
 * time.  No hook takes it, nor any other lock that sleeps.  The last four locks
 * are taken with interrupts off.  No callback runs with any lock held but the
 * first two, see @report_creds and @report_reap.
 */
#ifndef _KERNEL_UTRACE_INTERNAL_H
#define _KERNEL_UTRACE_INTERNAL_H

#include <linux/atomic.h>
#include <linux/jump_label.h>
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
 * Slots of a set.  Those of the system's engines are their own, so that nobody
 * can take them away by filling the others; of the others some are kept for who
 * may trace everybody.
 */
#define UTRACE_NSLOTS		64
#define UTRACE_SYSTEM_SLOT	UTRACE_MAX_ENGINES
#define UTRACE_KEPT_SLOTS	8

static_assert(UTRACE_MAX_ENGINES + UTRACE_MAX_SYSTEM == UTRACE_NSLOTS);

/*
 * Bits of utrace_engine::state.  DETACHED, HOLD_ALL and UNBORN are set later,
 * ATTACHING is taken away, the others are set at attach.
 */
#define UTRACE_STATE_DETACHED	BIT(0)	/* under utrace_engine_lock */
#define UTRACE_STATE_HOLD_ALL	BIT(1)	/* its whole scope is to stop */
#define UTRACE_STATE_OWN_EVENTS	BIT(2)
#define UTRACE_STATE_PROCESS	BIT(3)
#define UTRACE_STATE_TREE	BIT(4)
#define UTRACE_STATE_UNBORN	BIT(5)	/* attaching failed */
#define UTRACE_STATE_SYSTEM	BIT(6)
#define UTRACE_STATE_KTHREAD	BIT(7)	/* kernel threads too */
#define UTRACE_STATE_SCOPE	(UTRACE_STATE_PROCESS | UTRACE_STATE_TREE | \
				 UTRACE_STATE_SYSTEM)
#define UTRACE_STATE_CLASS_SHIFT 8
#define UTRACE_STATE_CLASS	(BIT(8) | BIT(9))	/* enum utrace_class */
/* Callbacks that there are; ops may be gone when a set is built. */
#define UTRACE_STATE_HAS_ENTRY	BIT(10)
#define UTRACE_STATE_HAS_EXIT	BIT(11)
#define UTRACE_STATE_PRIVILEGED	BIT(12)	/* see limit.c */
#define UTRACE_STATE_ATTACHING	BIT(13)	/* not to be found yet */

/*
 * In the event word, beside the events: the task's set is older than the
 * wishes of an engine in it, the next pass builds a new one first.
 */
#define UTRACE_WORD_REBUILD	BIT(_UTRACE_NEVENTS)
/*
 * Also there: no engine of the set needs the slow pass for system calls, and
 * the task has a struct utrace.  Not beside REBUILD.
 */
#define UTRACE_WORD_FAST	BIT(_UTRACE_NEVENTS + 1)
/*
 * Also there, in the word of a task without a struct utrace: the engines of
 * the system have rejected it.  Makes it pass the hook in copy_process(), since
 * a child is asked for itself.
 */
#define UTRACE_WORD_REJECTED	BIT(_UTRACE_NEVENTS + 2)
/*
 * Also there: an engine that may change what a fatal signal does wants
 * SIGNAL_TERM or SIGNAL_CORE, so such a signal does not take the group down
 * when it is sent.  Not in the word of a bare task.
 */
#define UTRACE_WORD_FATAL	BIT(_UTRACE_NEVENTS + 3)
/*
 * The upper half of the word says of system calls, by the low five bits of
 * their numbers, which ones nobody wants: filters, see syscall_report.c.  None
 * beside REBUILD.
 */
#define UTRACE_WORD_UNWANTED	GENMASK_ULL(63, 32)

/* Signals that end a process. */
#define UTRACE_EVENT_FATAL	(UTRACE_EVENT(SIGNAL_TERM) | \
				 UTRACE_EVENT(SIGNAL_CORE))

/* Kernel threads have no others. */
#define UTRACE_EVENT_KTHREAD	(UTRACE_EVENT(CLONE) | UTRACE_EVENT(EXIT) | \
				 UTRACE_EVENT(DEATH) | UTRACE_EVENT(REAP))

/* The class of an engine, as UTRACE_ATTACH_CLASS_MASK has it in its flags. */
#define UTRACE_CLASS_OF(flags) \
	(((flags) & UTRACE_ATTACH_CLASS_MASK) >> UTRACE_ATTACH_CLASS_SHIFT)

enum utrace_class {
	UTRACE_CLASS_MUTATOR	 = UTRACE_CLASS_OF(UTRACE_ATTACH_MUTATOR),
	UTRACE_CLASS_OBSERVER	 = UTRACE_CLASS_OF(UTRACE_ATTACH_OBSERVER),
	UTRACE_CLASS_ENFORCER	 = UTRACE_CLASS_OF(UTRACE_ATTACH_ENFORCER),
	UTRACE_CLASS_LAST_RESORT = UTRACE_CLASS_OF(UTRACE_ATTACH_LAST_RESORT),
};

/* Lists of a set: all engines in the order of attach, then one per event. */
#define UTRACE_LIST_ALL		0
#define UTRACE_LIST(event)	((event) + 1)
#define UTRACE_NLISTS		(_UTRACE_NEVENTS + 1)

struct utrace_set;
struct utrace_successor;

/* Who inherits which part of a cast. */
enum utrace_heir {
	UTRACE_HEIR_THREAD,	/* process and tree scope */
	UTRACE_HEIR_PROCESS,	/* tree scope */
	UTRACE_NHEIRS
};

/**
 * struct utrace_role - an engine's place in a cast
 * @list: in utrace_engine_info::roles; under utrace_engine_lock, read by RCU
 * @engine: the engine, whose memory the cast keeps
 * @cast: the cast
 * @slot: of the engine, in every set made for the cast
 */
struct utrace_role {
	struct list_head list;
	struct utrace_engine *engine;
	struct utrace_cast *cast;
	u8 slot;
};

/**
 * struct utrace_cast - the engines that cover a task, those of the system aside
 * @ref: one for each set made for it, for each cast it is an heir of, and for
 *	whoever makes what follows it
 * @lock: for @members
 * @members: tasks with a set of this cast, if @listed; under @lock, read by RCU
 * @latest: the last set made for it, not counted; see utrace_set_latest()
 * @heir: parts for children; NULL if empty, the cast itself (uncounted) if it is
 *	inherited whole
 * @next: the set of the cast that takes the place of this one for good, counted;
 *	NULL for none.  Holds if @replaced, from before the first member is moved
 *	until the last one is.
 * @replaced: an engine of it is detached, children get @next
 * @listed: it has an engine of process or tree scope, so its tasks are in @members
 * @succ: what follows it, in the round that goes on; under utrace_change_mutex
 * @rcu: for readers of @members and of the roles
 * @nroles: elements of @role
 * @role: the engines, in the order of attach
 *
 * Immutable save for what is said above.  Made by those who attach and detach,
 * never on the path of an event; handed on at fork.
 */
struct utrace_cast {
	refcount_t ref;
	spinlock_t lock;	/* a leaf, interrupts off */
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
 * struct utrace_member - a task in the list of its cast
 * @list: in utrace_cast::members, or empty
 * @task: the task, not counted: it leaves the list when it is reaped
 * @cast: whose list it is
 * @rcu: for readers of the list
 */
struct utrace_member {
	struct list_head list;
	struct task_struct *task;
	struct utrace_cast *cast;
	struct rcu_head rcu;
};

/**
 * struct utrace_set - what a task must call, ready for its passes
 * @ref: one per task that has it published or left to it, per set or cast that
 *	has it for children, and one for whoever is about to publish it
 * @nslots: elements of @engine and @seq
 * @start: where in @order each list begins and the one before it ends
 * @events: the event word of a task with this set that no engine rejects
 * @asked: what engines with a match want
 * @sysgen: of utrace_system_gen when it was made, or before
 * @kthread: it is for kernel threads
 * @members: slots in use
 * @matched: of those, the ones with a match
 * @entry: slots in the list of SYSCALL_ENTRY
 * @exit: slots in the list of SYSCALL_EXIT
 * @sole_entry: the engine in the list of SYSCALL_ENTRY if there is one only,
 *	else one that wants nothing
 * @sole_exit: the same for SYSCALL_EXIT
 * @cast: counted; NULL if only engines of the system are in it
 * @heir: sets for children, made for the heirs of @cast; NULL if there is none,
 *	the set itself (uncounted) if @cast is its own heir
 * @rcu: for utrace_set_latest() and others that only compare
 * @order: slot numbers, list after list
 * @seq: by slot, utrace_engine::seq when the set was made
 * @engine: by slot, the memory is kept by @cast, or by the set if the engine is
 *	the system's; an engine keeps its slot
 *
 * Immutable.  There may be a newer one for the same cast, with what its engines
 * want now.  Readers hold the utrace->lock of a task that has it, or are that
 * task and have it pinned; under RCU alone engines may be compared, no more.
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

/* Bits of utrace::flags, under utrace->lock. */
#define UTRACE_TASK_WAITER	BIT(0)	/* somebody waits for a callback */
#define UTRACE_TASK_DEFERRED	BIT(1)	/* ->deferred is set */
#define UTRACE_TASK_DYING	BIT(2)	/* reaping waits for the death report */
#define UTRACE_TASK_REAPED	BIT(3)	/* no engine any more, never again */
#define UTRACE_TASK_KILLED	BIT(4)	/* never stops again */
#define UTRACE_TASK_STEPPING	BIT(5)	/* single-stepping for an engine */
#define UTRACE_TASK_STEPPED	BIT(6)	/* a step to be reported */
#define UTRACE_TASK_HANDLER	BIT(7)	/* a handler to be reported */
#define UTRACE_TASK_PTRACE_STEP	BIT(8)	/* single-stepping for ptrace */
#define UTRACE_TASK_AT_HANDLER	BIT(9)	/* report when a handler is set up */
#define UTRACE_TASK_SLOW	BIT(10)	/* no fast pass for system calls */
#define UTRACE_TASK_WAITS	BIT(11)	/* in a barrier, called by a callback */
#define UTRACE_TASK_DEAD	BIT(12)	/* too late to ask for DEATH */

/**
 * struct utrace - what the core keeps for one task
 * @lock: see the lock order above
 * @flags: UTRACE_TASK_*; under @lock
 * @resume: smallest resume action asked for; under @lock
 * @passes: callbacks that ended while somebody waited; under @lock, waited for
 *	by wait_var_event()
 * @held_since: when the present stop began, in seconds of ktime_get_seconds(),
 *	or 0; written by the task only, read by /proc
 * @pinned: the set of the running pass; written by the task only, and by its
 *	reaper
 * @now: the engine whose callback may be running; NULL in passes over a set in
 *	which there is one only.  Written as @pinned.
 * @deferred: a replaced set that was pinned then; under @lock
 * @hold: slots of the engines that hold the task; under @lock
 * @step: slots of the engines that asked for a step; under @lock
 * @block: of those, the ones content with the next branch; under @lock
 * @entered: slots that saw the entry of this system call; the task's own
 * @fresh: slots that got their engine after the pass of that entry began;
 *	under @lock
 * @unpaired: slots that saw an entry without an exit; the task's own
 * @muted: slots whose match rejects the task; under @lock, and changed with the
 *	set only, or by the task itself
 * @reaper: who runs the pass of the reaping, else NULL; under @lock
 * @task_data: what clients keep for the task, see task_data.c; the task's own
 * @member: of the cast of the published set; under @lock.  NULL if there is no
 *	need for one.
 * @left: a detached engine whose callback is running, with the core's count of
 *	it: the task drops that when it leaves.  Under @lock.
 *
 * Allocated when an engine first covers the task, freed with the task.
 */
struct utrace {
	spinlock_t lock;	/* outside members' locks only, interrupts off */
	u16 flags;
	u8 resume;
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
};

#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC)
static_assert(sizeof(struct utrace) <= 128);
#endif

#define UTRACE_NAME_LEN		32

/**
 * struct utrace_engine_info - of an engine, what no pass looks at
 * @uncover: takes the engine out of all casts after a detach
 * @engine: whose
 * @core: references of the core: one for being attached, one for each task that
 *	was in a callback when the engine was detached, and short ones of those
 *	that ask its match.  All of them together have one on the engine; 0 is
 *	read under utrace_engine_lock.
 * @shell: references to the memory: one for all those on the engine, one for
 *	each cast or set
 * @roles: casts with the engine; under utrace_engine_lock, read by RCU
 * @attaching: in the list of exclusive engines that are being attached
 * @lost: events of tasks that could not be given a set with the engine
 * @calls: callbacks made, while kernel.utrace_stats is set
 * @nsec: time spent in them
 * @match: which of the tasks it covers it wants, or NULL; under
 *	utrace_engine_lock, read by RCU
 * @name: copied at attach, so that nobody reads ops later
 * @owner: name of the module
 * @on_behalf: process that is shown instead, counted, or NULL; set once
 * @ucounts: the user it acts for, who is charged with it; NULL: kernel code.  Set
 *	before it covers anything
 * @uid: of @ucounts, as long as there is the memory; or invalid
 * @rcu: for readers of the system's engines
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

/**
 * struct utrace_pass - one pass over the set of the current task
 * @u: of current
 * @set: pinned
 * @order: the slots to be called, in the order of the calls
 * @n: elements of @order
 * @muted: slots to be passed over
 * @action: smallest resume action answered so far
 * @resume: the same without STOP
 * @result: event action answered so far, and flags to be shown
 * @stop: slots that answered STOP
 * @called: slots that answered
 * @before: slots that held the task or asked for a step when it began
 * @step: slots that answered SINGLESTEP or BLOCKSTEP
 * @block: slots that answered BLOCKSTEP
 * @noio: of a kernel thread, for memalloc_noio_restore()
 * @live: what @order is in a pass over a set that could not be brought up to date
 */
struct utrace_pass {
	struct utrace *u;
	struct utrace_set *set;
	const u8 *order;
	unsigned int n;
	enum utrace_resume_action action;
	enum utrace_resume_action resume;
	u32 result;
	u64 muted;
	u64 stop;
	u64 called;
	u64 before;
	u64 step;
	u64 block;
	unsigned int noio;
	u8 live[UTRACE_NSLOTS];
};

extern struct mutex utrace_change_mutex;
extern spinlock_t utrace_engine_lock;

DECLARE_STATIC_KEY_FALSE(utrace_stats);

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

static inline enum utrace_class utrace_engine_class(struct utrace_engine *engine)
{
	return utrace_state_class(utrace_engine_state(engine));
}

static inline bool utrace_engine_is_system(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_SYSTEM;
}

/* An observer changes nothing about the signals that end a process. */
static inline bool utrace_engine_observes(struct utrace_engine *engine)
{
	return utrace_engine_is_system(engine) ||
	       utrace_engine_class(engine) == UTRACE_CLASS_OBSERVER;
}

/* What an engine that wants @events puts into the words of its tasks. */
static inline unsigned long utrace_engine_word(struct utrace_engine *engine,
					       unsigned long events)
{
	if ((events & UTRACE_EVENT_FATAL) && !utrace_engine_observes(engine))
		events |= UTRACE_WORD_FATAL;
	return events;
}

/* The kernel's own, or of one with CAP_SYS_PTRACE in the initial user namespace. */
static inline bool utrace_engine_is_privileged(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_PRIVILEGED;
}

static inline bool utrace_engine_detached(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_DETACHED;
}

/*
 * The work bit is a function of the event word and nothing else, so that
 * attach and detach cannot race about it.
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
bool utrace_detach(struct utrace_engine *engine);
void utrace_detach_later(struct utrace_engine *engine);
void utrace_detach_now(struct utrace_engine *engine);
void utrace_engine_end(struct utrace_engine *engine);
void utrace_engine_touch(struct utrace_engine *engine);
void utrace_engine_changed(struct utrace_engine *engine, unsigned long added);

/* cast.c */
/**
 * struct utrace_successor - what follows a cast
 * @list: in utrace_change::list
 * @cast: counted; NULL for tasks that no engine covers but those of the system
 * @set: for the cast that follows, counted; may be NULL
 */
struct utrace_successor {
	struct list_head list;
	struct utrace_cast *cast;
	struct utrace_set *set;
};

/**
 * struct utrace_change - what becomes of casts when an engine comes or goes
 * @engine: the engine that is added, or left out if it is detached
 * @list: what is known of successors
 * @bare: that of no cast, in @list; or NULL
 * @going: a detached engine that takes a slot, with a core's reference; or NULL
 */
struct utrace_change {
	struct utrace_engine *engine;
	struct list_head list;
	struct utrace_successor *bare;
	struct utrace_engine *going;
};

void utrace_change_init(struct utrace_change *change,
			struct utrace_engine *engine);
void utrace_change_begin(struct utrace_change *change);
void utrace_change_end(struct utrace_change *change);
void utrace_change_destroy(struct utrace_change *change);
struct utrace_successor *utrace_change_make(struct utrace_change *change,
					    struct utrace_cast *cast);
struct utrace_successor *utrace_change_find(struct utrace_change *change,
					    struct utrace_cast *cast);
bool utrace_change_make_room(struct utrace_change *change);
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

/**
 * struct utrace_turn - one task of a round
 * @task: counted by the caller
 * @u: a struct utrace for it if it has none, which the caller frees if it is
 *	left over; or NULL
 * @member: the same for utrace::member; afterwards what is to be freed
 * @set: what it is to be given, not counted
 * @old: the set of before, for utrace_sweep()
 * @pinned: @old may be pinned
 * @done: the task was given the set, which may have been taken back since
 */
struct utrace_turn {
	struct task_struct *task;
	struct utrace *u;
	struct utrace_member *member;
	struct utrace_set *set;
	struct utrace_set *old;
	bool pinned;
	bool done;
};

void utrace_turn(struct utrace_turn *turn, struct utrace_set *set);
void utrace_sweep(struct utrace_turn *turns, unsigned int n);

/* in_use.c */
void utrace_in_use_get(void);
void utrace_in_use_put(void);

/* limit.c */
int utrace_charge_engine(struct utrace_engine *engine, const struct cred *opener);
void utrace_uncharge_engine(struct utrace_engine *engine);
bool utrace_same_user(const struct utrace_engine *a, const struct utrace_engine *b);

/* scope.c */
/* What is left to be done for a task when its utrace->lock is released. */
#define UTRACE_AFTER_NOTIFY	BIT(0)	/* have it pass the safe point */
#define UTRACE_AFTER_INTERRUPT	BIT(1)	/* have it report from get_signal() */
#define UTRACE_AFTER_STOPPED	BIT(2)	/* the same if job control stopped it */
#define UTRACE_AFTER_WAKE	BIT(3)	/* it may be held no more */

typedef unsigned int (*utrace_member_fn)(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg);
void utrace_tasklist_barrier(void);
bool utrace_covers(struct utrace_engine *engine, struct task_struct *task);
bool utrace_addresses(struct utrace_engine *engine, struct task_struct *target);
void utrace_visit_members(struct utrace_engine *engine,
			  struct task_struct *target, utrace_member_fn fn,
			  void *arg);
void utrace_visit_tasks(struct utrace_engine *engine, utrace_member_fn fn,
			void *arg);

/* attach.c */
int utrace_cover(struct utrace_engine *engine, struct task_struct *target,
		 bool (*may)(struct task_struct *task, void *data), void *data);

/* uncover.c */
void utrace_uncover(struct utrace_engine *engine);

/* scope_system.c */
/**
 * struct utrace_system - the engines of the system
 * @rcu: for readers
 * @slots: in use, counted from 0
 * @all: those slots in the order of attach
 * @n: elements of @all
 * @engine: by slot, counted from 0
 *
 * Copied on update under utrace_engine_lock; read by RCU.
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
bool utrace_install(struct task_struct *task, struct utrace *u);
unsigned long utrace_bare_events(struct task_struct *task);
void utrace_count_lost(const struct utrace_set *set, unsigned long events);
bool utrace_refresh_bare(struct task_struct *task);
void utrace_system_tell(void);
void utrace_system_recount(void);
int utrace_system_add(struct utrace_engine *engine);
void utrace_system_remove(struct utrace_engine *engine);
bool utrace_adopt(unsigned long events);

/* set.c */
struct utrace *utrace_alloc(gfp_t gfp);
unsigned int utrace_alloc_bulk(gfp_t gfp, unsigned int n, struct utrace **u);
void utrace_free(struct utrace *u);
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
void utrace_set_word(struct task_struct *task, unsigned long events);
unsigned long utrace_word_of(const struct utrace_set *set, u64 muted);
unsigned long utrace_word_now(struct task_struct *task, struct utrace *u);
struct utrace_set *utrace_switch(struct task_struct *task, struct utrace *u,
				 struct utrace_set *set, u64 same, u64 muted,
				 bool ask);
struct utrace_set *utrace_take_deferred(struct utrace *u);
struct utrace_set *utrace_pin(struct utrace *u);
void utrace_told(struct utrace *u);

/* task_data.c */
void utrace_task_data_drop(struct utrace *u);

/* rebuild.c */
u64 utrace_ask(const struct utrace_set *set, const struct utrace_set *old);
bool utrace_renew(void);

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

/**
 * utrace_enter - another engine may be called now
 * @u: of the current task
 * @engine: the engine; its flags are to be read after this
 *
 * Whoever waited for the callback before is told, since this one may take long.
 *
 * Context: The task itself.
 */
static __always_inline void utrace_enter(struct utrace *u,
					 struct utrace_engine *engine)
{
	/* What the callback before did is done. */
	smp_store_release(&u->now, engine);
	barrier();	/* Pairs with utrace_heavy(). */
	/* One look without the lock: whoever sets it looks at ->now then. */
	if (unlikely(data_race(u->flags) & UTRACE_TASK_WAITER))
		utrace_told(u);
}

/**
 * utrace_unpin - end of the walk
 * @u: of the current task
 *
 * Context: The task itself.  May call ->release() of an engine that was detached
 * meanwhile.
 */
static __always_inline void utrace_unpin(struct utrace *u)
{
	/* What the last callback did is done. */
	smp_store_release(&u->now, NULL);
	utrace_pin_drop(&u->pinned);
	/* One look without the lock: whoever sets one looks at the pin then. */
	if (unlikely(data_race(u->flags) &
		     (UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER)))
		utrace_told(u);
}

/* barrier.c */
bool utrace_is_running(struct utrace_engine *engine);
void utrace_count_inside(struct utrace_engine *engine);
bool utrace_in_callback(void);
void utrace_finish_detach(struct utrace_engine *engine);

/* report.c */
bool utrace_pass_begin(struct utrace_pass *pass, unsigned int list, u32 result);
void utrace_pass_leave(struct utrace_pass *pass);
void utrace_pass_end(struct utrace_pass *pass);
void utrace_pass_end_report(struct utrace_pass *pass);
bool utrace_pass_enter(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot);
bool utrace_pass_wants(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot, unsigned long event);
void utrace_pass_answer(struct utrace_pass *pass, struct utrace_engine *engine,
			unsigned int slot, u32 ret, u32 mask);
void utrace_report_quiesce(struct utrace *u);

/**
 * struct utrace_place - where a walk over a list of engines is
 * @i: position in the list
 * @slot: the slot that is there
 * @engine: the engine in that slot
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
 * Walk a list of a set in the order of the calls; the walk declares @at, a struct
 * utrace_place.
 */
#define utrace_set_for_each(set, list, at)				\
	for (struct utrace_place at = { .i = (set)->start[list] };	\
	     utrace_place_in(set, (set)->order, (set)->start[(list) + 1], &at); \
	     at.i++)

/* Walk what a pass is to call, from position @first on. */
#define utrace_pass_for_each_from(pass, at, first)			\
	for (struct utrace_place at = { .i = (first) };			\
	     utrace_place_in((pass)->set, (pass)->order, (pass)->n, &at); \
	     at.i++)

#define utrace_pass_for_each(pass, at)	utrace_pass_for_each_from(pass, at, 0)

/* Is it of interest how long callbacks take? */
static inline bool utrace_timed(void)
{
	return IS_ENABLED(CONFIG_UTRACE_DEBUG) ||
	       static_branch_unlikely(&utrace_stats);
}

static inline u64 utrace_time(void)
{
	return utrace_timed() ? ktime_get_ns() : 0;
}

void __utrace_account(struct utrace_engine *engine, u64 since);

/* A callback that began at utrace_time() @since returned. */
static inline void utrace_account(struct utrace_engine *engine, u64 since)
{
	if (utrace_timed())
		__utrace_account(engine, since);
}

/*
 * Call one callback and keep account of it.  Evaluates to its answer, or to
 * "as before" where the engine left the callback out.
 */
#define utrace_call(pass, engine, op, ...)				\
({									\
	u64 __since = utrace_time();					\
	u32 __ret = UTRACE_RESUME | (pass)->result;			\
	if ((engine)->ops->op)						\
		__ret = (engine)->ops->op(__VA_ARGS__);			\
	utrace_account(engine, __since);				\
	__ret;								\
})

/* syscall_report.c */
void utrace_filter_free(struct utrace_syscall_filter *filter);
u64 utrace_filter_calls(struct utrace_engine *engine);
void utrace_no_exit(struct utrace_pass *pass);
u32 utrace_tell_unpaired(struct utrace *u, struct utrace_engine *engine,
			 unsigned int slot);

/* signal.c */
void utrace_report_killer(int code);

/* stop.c */
enum utrace_stop_where {
	UTRACE_STOP_FIRM,	/* ptrace has to wait */
	UTRACE_STOP_PERMEABLE,	/* ptrace traps are let through */
	UTRACE_STOP_TRAPS,	/* the same, but no signals */
};

void utrace_stop(struct utrace *u, enum utrace_stop_where where);
void utrace_wake(struct task_struct *task, struct utrace *u);
bool utrace_task_stopped(struct task_struct *task);
void utrace_interrupt(struct task_struct *task);
void utrace_interrupt_stopped(struct task_struct *task);

#endif /* _KERNEL_UTRACE_INTERNAL_H */
