// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: owners of shares of words
 *
 * An owner has an engine on its process, or on the tree of its process.  An
 * owner of the system has none.  After an owner is closed, its engine stays
 * until the owner has no shares left, since threads write words in callbacks of
 * the engine.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/utrace.h>

#include "../builtin.h"
#include "../utrace_dev.h"
#include "../viewer.h"
#include "event.h"
#include "marker.h"
#include "owner.h"

static atomic64_t owners;	/* number of owners since boot */

/* Free an owner that no hit can find any longer. */
static void marker_owner_free(struct work_struct *work)
{
	struct marker_owner *owner = container_of(to_rcu_work(work),
						  struct marker_owner, free);

	if (owner->target)
		utrace_engine_put(owner->target);
	put_pid(owner->process);
	put_pid(owner->user);
	put_pid_ns(owner->ns);
	utrace_viewer_put(owner->viewer);
	kfree(owner);
}

/* Free the events at once, since markers count against a limit of the user. */
static void marker_owner_end(struct work_struct *work)
{
	struct marker_owner *owner = container_of(work, struct marker_owner,
						  end);

	WARN_ON_ONCE(owner->engine || owner->nshares);
	utrace_marker_events_free(owner);
	queue_rcu_work(system_wq, &owner->free);
}

static void marker_owner_last(struct kref *ref)
{
	/*
	 * Freeing the events of an owner of the system waits for locks of
	 * processes.
	 */
	queue_work(system_unbound_wq,
		   &container_of(ref, struct marker_owner, ref)->end);
}

/**
 * utrace_marker_owner_alloc() - allocate an owner without an engine
 * @task: a task of its process
 * @ns: the pid namespace for the numbers of processes
 *
 * Context: Process context; sleeps.
 * Return: the owner, with a reference, or NULL.
 */
struct marker_owner *utrace_marker_owner_alloc(struct task_struct *task,
					       struct pid_namespace *ns)
{
	struct marker_owner *owner = kzalloc(sizeof(*owner),
					     GFP_KERNEL_ACCOUNT);

	if (!owner)
		return NULL;
	owner->number = atomic64_inc_return(&owners);
	kref_init(&owner->ref);
	mutex_init(&owner->mutex);
	spin_lock_init(&owner->lock);
	INIT_LIST_HEAD(&owner->shares);
	INIT_LIST_HEAD(&owner->leaving);
	INIT_LIST_HEAD(&owner->events);
	INIT_LIST_HEAD(&owner->armed);
	INIT_WORK(&owner->end, marker_owner_end);
	INIT_RCU_WORK(&owner->free, marker_owner_free);
	owner->process = get_task_pid(task, PIDTYPE_TGID);
	owner->ns = get_pid_ns(ns);
	return owner;
}

/**
 * utrace_marker_owner_put() - drop a reference to an owner
 * @owner: the owner
 *
 * Context: Any but NMI.
 */
void utrace_marker_owner_put(struct marker_owner *owner)
{
	kref_put(&owner->ref, marker_owner_last);
}

/**
 * utrace_marker_engine_get() - get the engine of an owner
 * @owner: the owner
 *
 * Context: Any but NMI.  Takes marker_owner.lock.
 * Return: the engine, with a reference; NULL if it is detached.
 */
struct utrace_engine *utrace_marker_engine_get(struct marker_owner *owner)
{
	guard(spinlock)(&owner->lock);
	if (owner->engine)
		utrace_engine_get(owner->engine);
	return owner->engine;
}

/**
 * utrace_marker_follows() - check whether an owner follows the current task to
 * its child
 * @owner: the owner, which has a share in the current address space
 *
 * The current task may share the address space with a task that the owner
 * traces, and not be traced itself.
 *
 * Context: fork(2).  Takes marker_owner.lock and utrace->lock.
 * Return: true if the child gets the engine of the owner, and the owner is not
 * one of the kernel.
 */
bool utrace_marker_follows(struct marker_owner *owner)
{
	struct utrace_engine *engine;
	bool covers;

	if (!owner->follow || owner->kernel)
		return false;
	engine = utrace_marker_engine_get(owner);
	if (!engine)
		return false;
	covers = utrace_covers(engine, current);
	utrace_engine_put(engine);
	return covers;
}

/**
 * utrace_marker_detach_if_done() - detach the engine of a closed owner without
 * shares
 * @owner: the owner
 *
 * Does nothing if the owner is not closed, or still has shares.
 *
 * Context: Any but NMI, without locks of markers.  Takes marker_owner.lock.
 */
void utrace_marker_detach_if_done(struct marker_owner *owner)
{
	struct utrace_engine *engine;
	int ret;

	scoped_guard(spinlock, &owner->lock) {
		if (!owner->closed || owner->nshares || !owner->engine)
			return;
		engine = owner->engine;
		owner->engine = NULL;
	}
	ret = utrace_control(NULL, engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS && ret != -ESRCH);
	utrace_engine_put(engine);
}

/**
 * utrace_marker_ask_all() - make all tasks of an owner pass the safe point
 * @owner: the owner
 * @now: before they run user code again; else at some later time
 *
 * Context: Process context, without locks of markers.
 */
void utrace_marker_ask_all(struct marker_owner *owner, bool now)
{
	struct utrace_engine *engine = utrace_marker_engine_get(owner);

	if (!engine)
		return;
	/*
	 * Store the wanted value before the list of tasks is read; pairs with
	 * the barrier in marker_clone().
	 */
	smp_mb();
	/* -ESRCH: all tasks are dead. */
	(void)!utrace_control(NULL, engine, UTRACE_REPORT);
	if (now)
		utrace_interrupt_cpus(engine);
	utrace_engine_put(engine);
}

/**
 * utrace_marker_tell() - notify the reader of a session that a state may have
 * changed
 * @owner: the owner
 *
 * Does nothing if the owner does not belong to a target, or if the target has
 * ended.
 *
 * Context: Any but NMI.
 */
void utrace_marker_tell(struct marker_owner *owner)
{
	if (owner->target &&
	    atomic_cmpxchg(&owner->changed, MARKER_KNOWN, MARKER_CHANGED) ==
	    MARKER_KNOWN)
		utrace_dev_notify_change(owner->target);
}

/**
 * utrace_marker_may_trace() - check whether an owner may trace the current task
 * @owner: the owner
 *
 * Context: The task itself; may sleep.  Takes marker_owner.lock.
 * Return: true if the owner may trace the task as it is now.
 */
bool utrace_marker_may_trace(struct marker_owner *owner)
{
	struct pid *user;
	bool may;

	if (likely(utrace_viewer_knows(owner->viewer)))
		return true;
	scoped_guard(spinlock, &owner->lock)
		user = get_pid(owner->user);
	may = utrace_viewer_sees(owner->viewer, user);
	put_pid(user);
	return may;
}

/**
 * utrace_marker_may_tell() - check whether hits of the current task may be
 * delivered to an owner
 * @owner: the owner
 *
 * Context: The task itself.
 * Return: true if the owner may trace the task as it is now.
 */
bool utrace_marker_may_tell(struct marker_owner *owner)
{
	return owner->target ? utrace_dev_sees_current(owner->target) :
			       utrace_marker_may_trace(owner);
}

/*
 * Advance @cursor by up to MARKER_PIECE shares, and remove it at the end of the
 * list.  Returns true if shares are left or @fn returned true.
 */
static bool marker_move_cursor(struct list_head *shares,
			       struct marker_share *cursor,
			       bool (*fn)(struct marker_share *share, void *arg),
			       void *arg, bool *found)
{
	unsigned int n = MARKER_PIECE;
	struct marker_share *share;

	if (!cursor->of_owner.next)
		list_add(&cursor->of_owner, shares);
	while (n-- && !list_is_last(&cursor->of_owner, shares)) {
		share = list_next_entry(cursor, of_owner);
		list_move(&cursor->of_owner, &share->of_owner);
		/* A cursor of another walk has no owner. */
		*found = share->owner && fn(share, arg);
		if (*found)
			return true;
	}
	if (!list_is_last(&cursor->of_owner, shares))
		return true;
	list_del(&cursor->of_owner);
	return false;
}

/**
 * utrace_marker_next_share() - find the next share of an owner
 * @owner: the owner
 * @shares: marker_owner.shares or .leaving
 * @cursor: zeroed at first; keeps the position in the list, and stays linked
 *	until this returns false
 * @fn: called for each share with marker_owner.lock held; returns true to stop
 *	at the share
 * @arg: last argument of @fn
 *
 * The lock is dropped after each %MARKER_PIECE shares, so shares that are added
 * or removed during the walk may be found or not.
 *
 * Context: Process context; sleeps.  Takes marker_owner.lock.
 * Return: true if @fn has returned true.
 */
bool utrace_marker_next_share(struct marker_owner *owner,
			      struct list_head *shares,
			      struct marker_share *cursor,
			      bool (*fn)(struct marker_share *share, void *arg),
			      void *arg)
{
	bool found = false, more;

	do {
		scoped_guard(spinlock, &owner->lock)
			more = marker_move_cursor(shares, cursor, fn, arg, &found);
		if (more)
			cond_resched();
	} while (more && !found);
	return found;
}

/**
 * utrace_marker_call_begin() - begin a callback of the client of an owner
 * @owner: the owner
 *
 * Context: Any but NMI.
 * Return: true if the client may be called, after which the caller must call
 * utrace_marker_call_end(); false if the client has detached or the owner has
 * none.
 */
bool utrace_marker_call_begin(struct marker_owner *owner)
{
	return owner->client && refcount_inc_not_zero(&owner->calls);
}

/**
 * utrace_marker_call_end() - end a callback of the client of an owner
 * @owner: the owner
 *
 * Context: Any but NMI.
 */
void utrace_marker_call_end(struct marker_owner *owner)
{
	if (refcount_dec_and_test(&owner->calls))
		complete(&owner->called);
}
