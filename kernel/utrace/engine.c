// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - engines: their references, from creation to release
 *
 * Clients have references to an engine, and the core has one.  The core counts
 * its own uses separately (utrace_engine_info::core): one for being attached,
 * and one for each task that was in a callback at the detach.  So a barrier can
 * detect that the core has no reference left.  After that only a put of the
 * client can call ->release().  Domains and sets have references to the memory
 * only (utrace_engine_info::shell): a set that a task has pinned because of
 * another engine does not keep a module from being unloaded.
 *
 * attach.c and detach.c, which change the tasks of an engine, use this file.
 */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/mutex.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "builtin.h"
#include "engine.h"
#include "limit.h"
#include "match.h"
#include "syscall_filter.h"

#define CREATE_TRACE_POINTS
#include <trace/events/utrace_core.h>

DEFINE_SPINLOCK(utrace_engine_lock);

static struct kmem_cache *utrace_engine_cache __ro_after_init;

static int __init utrace_engine_init(void)
{
	utrace_engine_cache = KMEM_CACHE(utrace_engine,
					 SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(utrace_engine_init);

/*
 * The static key of the safe point
 *
 * A task whose C library has registered with rseq gets TIF_NOTIFY_RESUME at
 * every context switch, and so passes the safe point each time.  While no
 * engine exists, a static key takes the test of the event word out of the safe
 * point.  Tasks pass the other hooks less often, so these hooks have no key.
 *
 * Patching interrupts all CPUs.  The key is switched back a second after the
 * last engine was freed, so that a program which attaches and detaches in a
 * loop does not cause a patch each time.
 */

/* True while no engine exists: __utrace_resume() is not called then. */
DEFINE_STATIC_KEY_TRUE(utrace_unused);

/*
 * Number of engines whose memory exists.  Incremented from 0 only under the
 * mutex, and after the key is switched, so that no engine exists without the
 * safe point.
 */
static atomic_t utrace_engines;
static DEFINE_MUTEX(utrace_in_use_mutex);

/*
 * Switch the key back, unless an engine was created since the last one was
 * freed.
 */
static void utrace_mark_unused(struct work_struct *work)
{
	guard(mutex)(&utrace_in_use_mutex);
	if (!atomic_read(&utrace_engines))
		static_branch_enable(&utrace_unused);
}

static DECLARE_DELAYED_WORK(utrace_unused_work, utrace_mark_unused);

/*
 * Count an engine that is about to exist.  When this returns, each task with an
 * event word passes the safe point.  May sleep.  The first engine takes
 * utrace_in_use_mutex and, inside of it, cpus_read_lock() and jump_label_mutex
 * for the patching.
 */
static void utrace_in_use_get(void)
{
	might_sleep();
	if (atomic_inc_not_zero(&utrace_engines))
		return;
	guard(mutex)(&utrace_in_use_mutex);
	static_branch_disable(&utrace_unused);
	atomic_inc(&utrace_engines);
}

/*
 * Count an engine as freed.  No set contains the engine, so no task needs the
 * safe point for it.
 */
static void utrace_in_use_put(void)
{
	if (atomic_dec_and_test(&utrace_engines))
		mod_delayed_work(system_wq, &utrace_unused_work, HZ);
}

/**
 * utrace_engine_touch() - invalidate the sets of an engine
 * @engine: the engine, after a change of its events, filter or match
 *
 * Context: utrace_engine_lock is held.
 */
void utrace_engine_touch(struct utrace_engine *engine)
{
	lockdep_assert_held(&utrace_engine_lock);

	/* Write the change before the number; pairs with utrace_set_fill(). */
	smp_store_release(&engine->seq, engine->seq + 1);
}

/**
 * utrace_engine_pid() - get the pid of an engine, for trace events
 * @engine: the engine; the caller has a reference
 *
 * Context: Any.
 * Return: the pid of its task or process; 0 for the system.
 */
pid_t utrace_engine_pid(struct utrace_engine *engine)
{
	if (utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		return pid_nr(engine->tgid);	/* system: 0 */
	return engine->task->pid;
}

/* After the last shell reference, when readers under RCU are done. */
static void utrace_engine_free(struct rcu_head *rcu)
{
	struct utrace_engine_info *info =
		container_of(rcu, struct utrace_engine_info, rcu);

	kmem_cache_free(utrace_engine_cache, info->engine);
	kfree(info);
	utrace_in_use_put();
}

/**
 * utrace_shell_get() - take a reference to the memory of an engine
 * @engine: the engine; the caller keeps it by another reference
 *
 * Context: Any.
 */
void utrace_shell_get(struct utrace_engine *engine)
{
	refcount_inc(&engine->info->shell);
}

/**
 * utrace_shell_tryget() - take a reference to the memory under RCU
 * @engine: the engine, found under RCU
 *
 * Context: Any, under rcu_read_lock().
 * Return: false if the memory is about to be freed.
 */
bool utrace_shell_tryget(struct utrace_engine *engine)
{
	return refcount_inc_not_zero(&engine->info->shell);
}

/**
 * utrace_shell_put() - drop a reference to the memory of an engine
 * @engine: the engine
 *
 * Context: Any but NMI.
 */
void utrace_shell_put(struct utrace_engine *engine)
{
	struct utrace_engine_info *info = engine->info;

	if (!refcount_dec_and_test(&info->shell))
		return;
	if (utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		put_pid(engine->tgid);
	else
		put_task_struct(engine->task);
	put_pid(info->on_behalf);
	call_rcu(&info->rcu, utrace_engine_free);
}

/**
 * utrace_engine_release() - end an engine after its last reference
 * @kref: utrace_engine::kref
 *
 * Clients call utrace_engine_put() instead.
 *
 * Context: That of the last put.  Calls ->release() unless the attach had
 * failed.
 */
void utrace_engine_release(struct kref *kref)
{
	struct utrace_engine *engine = container_of(kref, struct utrace_engine,
						    kref);
	struct utrace_syscall_filter *filter;
	struct utrace_match *match;

	/* Test UNBORN first: after a failed attach ->ops may be invalid. */
	if (!(utrace_engine_state(engine) & UTRACE_STATE_UNBORN) &&
	    engine->ops->release)
		engine->ops->release(engine->data);
	/*
	 * RCU frees both, since a pass over a set with the engine may read
	 * them.
	 */
	match = unrcu_pointer(xchg(&engine->info->match, NULL));
	utrace_match_put(match);
	filter = unrcu_pointer(xchg(&engine->filter, NULL));
	utrace_filter_free(filter);
	utrace_uncharge_engine(engine);
	utrace_shell_put(engine);
}
EXPORT_SYMBOL_GPL(utrace_engine_release);

/**
 * utrace_core_tryget() - take one of the core's references to an engine
 * @engine: the engine; the caller has a reference to its memory
 *
 * Context: Any.
 * Return: false if the core has no reference left, which is final.
 */
bool utrace_core_tryget(struct utrace_engine *engine)
{
	return atomic_inc_not_zero(&engine->info->core);
}

/**
 * utrace_core_put() - drop one of the core's references to an engine
 * @engine: the engine
 *
 * The last one drops the core's reference in utrace_engine::kref too.  Both
 * counts change under the lock: a waiter that sees ->core == 0 may then have
 * the last reference in ->kref.
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 * May call ->release().
 */
void utrace_core_put(struct utrace_engine *engine)
{
	atomic_t *core = &engine->info->core;
	unsigned long flags;
	bool last;

	if (!atomic_dec_and_lock_irqsave(core, &utrace_engine_lock, flags))
		return;
	last = refcount_dec_and_test(&engine->kref.refcount);
	spin_unlock_irqrestore(&utrace_engine_lock, flags);
	smp_mb(); /* ->core before the waiter check, see wait_var_event(). */
	wake_up_var(core);
	if (last)
		utrace_engine_release(&engine->kref);
}

/**
 * utrace_core_gone() - check whether the core has dropped all its references
 * @engine: the engine; the caller has a reference
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 * Return: true if all are dropped.  Then utrace_core_put() no longer accesses
 * the engine, unless it has the last reference.
 */
bool utrace_core_gone(struct utrace_engine *engine)
{
	guard(spinlock_irqsave)(&utrace_engine_lock);
	return !atomic_read(&engine->info->core);
}

/**
 * utrace_set_owner() - show a process as the owner of an engine
 * @engine: the engine; the caller has a reference
 * @owner: the process; the engine takes a reference
 *
 * Called once for an engine.  Until then /proc shows the name of the module.
 *
 * Context: Any.
 */
void utrace_set_owner(struct utrace_engine *engine, struct pid *owner)
{
	/* /proc may read at the same time; pairs with utrace_get_row(). */
	smp_store_release(&engine->info->on_behalf, get_pid(owner));
}

/* Copy name and owner for display, since @ops may be freed later. */
static void utrace_engine_label(struct utrace_engine_info *info,
				const struct utrace_engine_ops *ops)
{
	struct module *owner = ops->owner;

	guard(preempt)();
	if (!owner)
		owner = __module_address((unsigned long)ops);
	strscpy(info->owner, owner ? module_name(owner) : "kernel");
	strscpy(info->name, ops->name && *ops->name ? ops->name : info->owner);
}

/**
 * utrace_state_of_flags() - get scope and class from the flags of an attach
 * @flags: UTRACE_ATTACH_*
 *
 * Context: Any.
 * Return: UTRACE_STATE_* bits.
 */
unsigned int utrace_state_of_flags(int flags)
{
	unsigned int state = UTRACE_CLASS_OF(flags) << UTRACE_STATE_CLASS_SHIFT;

	if (flags & UTRACE_ATTACH_TREE)
		state |= UTRACE_STATE_TREE;
	else if (flags & UTRACE_ATTACH_PROCESS)
		state |= UTRACE_STATE_PROCESS;
	if (flags & UTRACE_ATTACH_OWN_EVENTS)
		state |= UTRACE_STATE_OWN_EVENTS;
	if (flags & UTRACE_ATTACH_KTHREAD)
		state |= UTRACE_STATE_KTHREAD;
	return state;
}

static unsigned int utrace_state_of_ops(const struct utrace_engine_ops *ops)
{
	return (ops->report_syscall_entry ? UTRACE_STATE_HAS_ENTRY : 0) |
	       (ops->report_syscall_exit ? UTRACE_STATE_HAS_EXIT : 0);
}

/**
 * utrace_engine_alloc() - create an engine
 * @target: the task where its scope begins; NULL: the system
 * @flags: UTRACE_ATTACH_*
 * @ops: callbacks
 * @data: the client's data
 * @uncover: completes a detach, in a work item
 *
 * Context: As utrace_attach_task().
 * Return:
 * * the engine, with one reference for the caller, and one of the core for
 *   being attached
 * * -ENOMEM - no memory
 * * -ESRCH - @target is reaped
 */
struct utrace_engine *
utrace_engine_alloc(struct task_struct *target, int flags,
		    const struct utrace_engine_ops *ops, void *data,
		    work_func_t uncover)
{
	struct utrace_engine_info *info __free(kfree) =
		kzalloc(sizeof(*info), GFP_KERNEL_ACCOUNT);
	struct utrace_engine *engine;

	if (!info)
		return ERR_PTR(-ENOMEM);
	engine = kmem_cache_zalloc(utrace_engine_cache, GFP_KERNEL);
	if (!engine)
		return ERR_PTR(-ENOMEM);

	if (!target) {
		engine->tgid = NULL;
	} else if (flags & UTRACE_ATTACH_SCOPE_MASK) {
		scoped_guard(rcu)
			engine->tgid = get_pid(task_tgid(target));
		if (!engine->tgid) {
			kmem_cache_free(utrace_engine_cache, engine);
			return ERR_PTR(-ESRCH);
		}
	} else {
		engine->task = get_task_struct(target);
	}
	kref_init(&engine->kref);
	/* The core's one reference, for all in ->core. */
	kref_get(&engine->kref);
	atomic_set(&info->core, 1);
	refcount_set(&info->shell, 1);
	INIT_LIST_HEAD(&info->links);
	INIT_LIST_HEAD(&info->attaching);
	atomic_set(&engine->state, utrace_state_of_flags(flags) |
		   utrace_state_of_ops(ops) |
		   (target ? UTRACE_STATE_ATTACHING : UTRACE_STATE_SYSTEM));
	engine->ops = ops;
	engine->data = data;
	INIT_WORK(&info->uncover, uncover);
	info->engine = engine;
	utrace_engine_label(info, ops);
	engine->info = no_free_ptr(info);
	utrace_in_use_get();
	return engine;
}
