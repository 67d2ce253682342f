/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what the parts of the core share
 *
 * Lock order, outermost first:
 *
 *   signal->cred_guard_mutex
 *     signal->exec_update_lock
 *       utrace_mutex		builds and publishes engine sets
 *         tasklist_lock
 *           sighand->siglock	jobctl bits and the state of a stop
 *             utrace_engine_lock	flags and state of every engine
 *               utrace_bare_lock	the words of tasks without struct utrace
 *                 utrace->lock	the published set and what is per task
 *
 * utrace_attach_mutex is outside utrace_mutex.  The last three are taken with
 * interrupts off, the first of them never with another; only wait queues are
 * locked within.  No callback runs with any of them held but the first two,
 * see @report_creds and @report_reap.
 */
#ifndef _KERNEL_UTRACE_INTERNAL_H
#define _KERNEL_UTRACE_INTERNAL_H

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/utrace.h>
#include <linux/utrace_hooks.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/*
 * Bits of utrace_engine::state.  DETACHED, HOLD_ALL and UNBORN are set later,
 * the others at attach.
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

/*
 * In the event word, beside the events: the task's set is older than the
 * wishes of an engine in it, the next pass builds a new one first.
 */
#define UTRACE_WORD_REBUILD	BIT(_UTRACE_NEVENTS)
/*
 * Also there: no engine of the set needs the long pass for system calls, and
 * the task has a struct utrace.  Not beside REBUILD.
 */
#define UTRACE_WORD_SHORT	BIT(_UTRACE_NEVENTS + 1)
/*
 * Also there, in the word of a task without a struct utrace: the engines of
 * the system have rejected it.  Makes it pass the hook in copy_process(), since
 * a child is asked for itself.
 */
#define UTRACE_WORD_REJECTED	BIT(_UTRACE_NEVENTS + 2)
/*
 * The upper half of the word says of system calls, by the low five bits of
 * their numbers, which ones nobody wants: filters, see syscall_report.c.  None
 * beside REBUILD.
 */
#define UTRACE_WORD_UNWANTED	GENMASK_ULL(63, 32)

/* Kernel threads have no others. */
#define UTRACE_EVENT_KTHREAD	(UTRACE_EVENT(CLONE) | UTRACE_EVENT(EXIT) | \
				 UTRACE_EVENT(DEATH) | UTRACE_EVENT(REAP))

/* Lists of a set: all engines in the order of attach, then one per event. */
#define UTRACE_LIST_ALL		0
#define UTRACE_LIST(event)	((event) + 1)
#define UTRACE_NLISTS		(_UTRACE_NEVENTS + 1)

/* Who inherits which subset of a set. */
enum utrace_heir {
	UTRACE_HEIR_THREAD,	/* process and tree scope */
	UTRACE_HEIR_PROCESS,	/* tree scope */
	UTRACE_NHEIRS
};

/**
 * struct utrace_set - the engines a task must call
 * @ref: one per task that has it published, pinned or inherited from
 * @nslots: elements of @engine
 * @start: where in @order each list begins and the one before it ends
 * @events: the event word of a task with this set
 * @asked: what engines with a match want, muted or not
 * @kthread: it is for kernel threads
 * @members: slots in use
 * @muted: of those, the ones whose match rejects the task
 * @entry: slots in the list of SYSCALL_ENTRY
 * @exit: slots in the list of SYSCALL_EXIT
 * @sole_entry: the engine in the list of SYSCALL_ENTRY if there is one only,
 *	else one that wants nothing
 * @sole_exit: the same for SYSCALL_EXIT
 * @heir: subsets for children; NULL if empty, the set itself (uncounted) if
 *	it is inherited whole
 * @order: slot numbers, list after list
 * @engine: engines by slot, counted; an engine keeps its slot in every set
 *	derived from this one
 *
 * Immutable once published.  Built under utrace_mutex.  Readers hold the
 * utrace->lock of a task that has it, or are that task and have it pinned.
 */
struct utrace_set {
	refcount_t ref;
	unsigned int nslots;
	u16 start[UTRACE_NLISTS + 1];
	unsigned long events;
	unsigned long asked;
	bool kthread;
	u64 members;
	u64 muted;
	u64 entry;
	u64 exit;
	struct utrace_engine *sole_entry;
	struct utrace_engine *sole_exit;
	struct utrace_set *heir[UTRACE_NHEIRS];
	u8 *order;
	struct utrace_engine *engine[] __counted_by(nslots);
};

/* Bits of utrace::flags, under utrace->lock. */
#define UTRACE_TASK_WAITER	BIT(0)	/* barriers wait for the pass */
#define UTRACE_TASK_DEFERRED	BIT(1)	/* ->deferred is set */
#define UTRACE_TASK_DYING	BIT(2)	/* reaping waits for the death report */
#define UTRACE_TASK_REAPED	BIT(3)	/* no engine any more, never again */
#define UTRACE_TASK_KILLED	BIT(4)	/* never stops again */
#define UTRACE_TASK_STEPPING	BIT(5)	/* single-stepping for an engine */
#define UTRACE_TASK_STEPPED	BIT(6)	/* a step to be reported */
#define UTRACE_TASK_HANDLER	BIT(7)	/* a handler to be reported */
#define UTRACE_TASK_PTRACE_STEP	BIT(8)	/* single-stepping for ptrace */
#define UTRACE_TASK_AT_HANDLER	BIT(9)	/* report when a handler is set up */
#define UTRACE_TASK_LONG	BIT(10)	/* no short pass for system calls */

/**
 * struct utrace - what the core keeps for one task
 * @lock: see the lock order above
 * @flags: UTRACE_TASK_*; under @lock
 * @resume: smallest resume action asked for; under @lock
 * @passes: passes that ended while somebody waited; under @lock
 * @pinned: the set of the running pass; written by the task only, and by its
 *	reaper
 * @deferred: a replaced set that was pinned then; under @lock
 * @hold: slots of the engines that hold the task; under @lock
 * @step: slots of the engines that asked for a step; under @lock
 * @block: of those, the ones content with the next branch; under @lock
 * @entered: slots that saw the entry of this system call; the task's own
 * @fresh: slots that got their engine after the pass of that entry began;
 *	under @lock
 * @unpaired: slots that saw an entry without an exit; the task's own
 * @held_since: when the present stop began, CLOCK_MONOTONIC; written by the
 *	task only, read by /proc
 * @reaper: who runs the pass of the reaping, else NULL; under @lock
 * @local: what clients keep for the task, see local.c; the task's own
 * @wait: barriers, and the reaper of a task that reports its death
 *
 * Allocated when an engine first covers the task, freed with the task.
 */
struct utrace {
	spinlock_t lock;	/* a leaf, interrupts off */
	u16 flags;
	u8 resume;
	u32 passes;
	struct utrace_set *pinned;
	struct utrace_set *deferred;
	u64 hold;
	u64 step;
	u64 block;
	u64 entered;
	u64 fresh;
	u64 unpaired;
	ktime_t held_since;
	struct task_struct *reaper;
	struct utrace_local *local;
	wait_queue_head_t wait;
};

#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC)
static_assert(sizeof(struct utrace) <= 128);
#endif

#define UTRACE_NAME_LEN		32

/**
 * struct utrace_engine_info - of an engine, what no pass looks at
 * @uncover: takes the engine out of all sets after a detach
 * @engine: whose
 * @core: references of the core: one for being attached, one per set.  All
 *	of them together have one on the engine; 0 is read under
 *	utrace_engine_lock
 * @calls: callbacks made, while kernel.utrace_stats is set
 * @nsec: time spent in them
 * @match: which of the tasks it covers it wants, or NULL; under utrace_mutex
 * @name: copied at attach, so that nobody reads ops later
 * @owner: name of the module
 * @on_behalf: process that is shown instead, counted, or NULL; set once
 */
struct utrace_engine_info {
	struct work_struct uncover;
	struct utrace_engine *engine;
	atomic_t core;
	atomic64_t calls;
	atomic64_t nsec;
	struct utrace_match *match;
	char name[UTRACE_NAME_LEN];
	char owner[MODULE_NAME_LEN];
	struct pid *on_behalf;
};

/**
 * struct utrace_pass - one pass over the set of the current task
 * @u: of current
 * @set: pinned
 * @action: smallest resume action answered so far
 * @resume: the same without STOP
 * @result: event action answered so far, and flags to be shown
 * @stop: slots that answered STOP
 * @called: slots that answered
 * @before: slots that held the task or asked for a step when it began
 * @step: slots that answered SINGLESTEP or BLOCKSTEP
 * @block: slots that answered BLOCKSTEP
 * @noio: of a kernel thread, for memalloc_noio_restore()
 */
struct utrace_pass {
	struct utrace *u;
	struct utrace_set *set;
	enum utrace_resume_action action;
	enum utrace_resume_action resume;
	u32 result;
	u64 stop;
	u64 called;
	u64 before;
	u64 step;
	u64 block;
	unsigned int noio;
};

extern struct mutex utrace_mutex;
extern atomic_long_t utrace_generation;
extern spinlock_t utrace_engine_lock;

DECLARE_STATIC_KEY_FALSE(utrace_stats);

struct utrace_local;
struct utrace_match;

static inline unsigned int utrace_engine_state(struct utrace_engine *engine)
{
	return atomic_read(&engine->state);
}

static inline bool utrace_engine_is_system(struct utrace_engine *engine)
{
	return utrace_engine_state(engine) & UTRACE_STATE_SYSTEM;
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
void utrace_core_get(struct utrace_engine *engine);
void utrace_core_put(struct utrace_engine *engine);
void utrace_wait_gone(struct utrace_engine *engine);
bool utrace_core_gone(struct utrace_engine *engine);
bool utrace_detach(struct utrace_engine *engine);
void utrace_detach_now(struct utrace_engine *engine);
void utrace_engine_end(struct utrace_engine *engine);
void utrace_engine_changed(struct utrace_engine *engine, unsigned long added);

/* scope.c */
/* What is left to be done for a task when its utrace->lock is released. */
#define UTRACE_AFTER_NOTIFY	BIT(0)	/* have it pass the safe point */
#define UTRACE_AFTER_INTERRUPT	BIT(1)	/* have it report from get_signal() */
#define UTRACE_AFTER_STOPPED	BIT(2)	/* the same if job control stopped it */
#define UTRACE_AFTER_WAKE	BIT(3)	/* it may be held no more */

typedef unsigned int (*utrace_member_fn)(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg);
bool utrace_addresses(struct utrace_engine *engine, struct task_struct *target);
void utrace_visit_members(struct utrace_engine *engine,
			  struct task_struct *target, utrace_member_fn fn,
			  void *arg);
int utrace_cover(struct utrace_engine *engine);
void utrace_uncover(struct utrace_engine *engine);

/* system.c */
bool utrace_install(struct task_struct *task, struct utrace *u);
unsigned long utrace_bare_events(struct task_struct *task);
void utrace_count_lost(void);
bool utrace_refresh_bare(struct task_struct *task);
void utrace_system_tell(unsigned long added);
void utrace_system_recount(void);
int utrace_system_add(struct utrace_engine *engine);
void utrace_system_remove(struct utrace_engine *engine);
struct utrace_engine *utrace_system_engine(unsigned int i);
bool utrace_adopt(void);

/* set.c */
struct utrace *utrace_alloc(gfp_t gfp);
void utrace_free(struct utrace *u);

/**
 * struct utrace_roster - who is to be in a set
 * @engine: engines by slot, those that @all names
 * @all: their slots, in the order of attach
 * @n: elements of @all
 * @kthread: it is for kernel threads
 * @used: slots in use
 * @muted: of those, the ones whose match rejects the task
 */
struct utrace_roster {
	struct utrace_engine *engine[UTRACE_MAX_ENGINES];
	u8 all[UTRACE_MAX_ENGINES];
	unsigned int n;
	bool kthread;
	u64 used;
	u64 muted;
};

int utrace_roster_fill(struct utrace_roster *roster,
		       const struct utrace_set *old, struct utrace_engine *add,
		       bool kthread);
struct utrace_set *utrace_set_make(const struct utrace_roster *roster);
struct utrace_set *utrace_set_build(const struct utrace_set *old,
				    struct utrace_engine *add);
struct utrace_set *utrace_set_get(struct utrace_set *set);
void utrace_set_put(struct utrace_set *set);
int utrace_set_slot(const struct utrace_set *set,
		    const struct utrace_engine *engine);
u64 utrace_set_same(const struct utrace_set *old,
		    const struct utrace_set *new);
u64 utrace_set_present(const struct utrace_set *old,
		       const struct utrace_set *set);
void utrace_set_word(struct task_struct *task, unsigned long events);
void utrace_want_rebuild(struct task_struct *task, unsigned long added);
struct utrace_set *utrace_defer(struct utrace *u, struct utrace_set *old);
struct utrace_set *utrace_publish(struct task_struct *task, struct utrace *u,
				  struct utrace_set *set);
struct utrace_set *utrace_pin(struct utrace *u);
void utrace_unpin_told(struct utrace *u);

/* local.c */
void utrace_local_drop(struct utrace *u);

/* rebuild.c */
void utrace_memo_drop(void);
void utrace_rebuild(struct task_struct *task);

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
 * utrace_unpin - end of the walk
 * @u: of the current task, or of the one it reaps
 *
 * Context: The task itself or its reaper.  May call ->release() of an engine
 * that was detached meanwhile.
 */
static __always_inline void utrace_unpin(struct utrace *u)
{
	/* The full barrier pairs with utrace_publish() and with barriers. */
	smp_store_mb(u->pinned, NULL);
	if (unlikely(READ_ONCE(u->flags) &
		     (UTRACE_TASK_DEFERRED | UTRACE_TASK_WAITER)))
		utrace_unpin_told(u);
}

/* report.c */
bool utrace_pass_begin(struct utrace_pass *pass, u32 result);
void utrace_pass_end(struct utrace_pass *pass);
void utrace_pass_end_report(struct utrace_pass *pass);
bool utrace_pass_wants(struct utrace_pass *pass, struct utrace_engine *engine,
		       unsigned int slot, unsigned long event);
void utrace_pass_answer(struct utrace_pass *pass, struct utrace_engine *engine,
			unsigned int slot, u32 ret, u32 mask);
void utrace_report_quiesce(struct utrace *u);

/*
 * Walk the list of an event in the order of the calls.  @i is the position
 * in the list, @slot and @pos, the engine, come out of it.
 */
#define utrace_for_each(set, list, i, slot, pos)			\
	for ((i) = (set)->start[list];					\
	     (i) < (set)->start[(list) + 1] &&				\
		((slot) = (set)->order[i],				\
		 (pos) = (set)->engine[slot], true);			\
	     (i)++)

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
u64 utrace_filter_calls(struct utrace_engine *engine);
void utrace_no_exit(struct utrace_pass *pass);
u32 utrace_tell_unpaired(struct utrace *u, struct utrace_engine *engine,
			 unsigned int slot);

/* stop.c */
enum utrace_stop_where {
	UTRACE_STOP_FIRM,	/* ptrace has to wait */
	UTRACE_STOP_PERMEABLE,	/* ptrace traps are let through */
};

void utrace_stop(struct utrace *u, enum utrace_stop_where where);
void utrace_wake(struct task_struct *task, struct utrace *u);
bool utrace_task_stopped(struct task_struct *task);
void utrace_interrupt(struct task_struct *task);
void utrace_interrupt_stopped(struct task_struct *task);
void utrace_arm_step(struct utrace *u);

#endif /* _KERNEL_UTRACE_INTERNAL_H */
