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
#include "marker.h"

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
		utrace_dev_tell_change(owner->target);
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

/* Creation */

/* @ns is the pid namespace for the numbers of processes. */
static struct marker_owner *marker_owner_alloc(struct task_struct *task,
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

static struct marker_owner *
marker_owner_of_target(struct utrace_session *session,
		       const struct utrace_dev_arming *target,
		       struct task_struct *task)
{
	struct marker_owner *owner = marker_owner_alloc(task,
							utrace_dev_ns(session));

	if (!owner)
		return NULL;
	utrace_engine_get(target->engine);
	owner->target = target->engine;
	owner->viewer = utrace_viewer_get(target->viewer);
	return owner;
}

static bool marker_may_trace(struct task_struct *task, void *data)
{
	struct marker_owner *owner = data;

	return task->exit_state || utrace_viewer_may_attach(owner->viewer, task);
}

/*
 * Attach the engine.  Returns 0 or an error.  After some errors the engine
 * exists, and is detached when the owner is closed.
 */
static int marker_attach(struct marker_owner *owner, struct task_struct *task)
{
	const struct cred *opener = NULL;
	struct utrace_engine *engine;
	int ret;

	if (owner->viewer)
		opener = owner->viewer->opener;
	else if (owner->kernel)
		opener = current_cred();
	engine = utrace_attach_for(opener, task,
				   UTRACE_ATTACH_OBSERVER |
				   UTRACE_ATTACH_OWN_EVENTS |
				   (owner->follow ? UTRACE_ATTACH_TREE :
						    UTRACE_ATTACH_PROCESS),
				   owner->kernel ? &utrace_marker_kernel_ops :
						   &utrace_marker_ops, owner,
				   owner->viewer ? marker_may_trace : NULL, owner);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	/* For ->release(). */
	kref_get(&owner->ref);
	owner->engine = engine;
	utrace_set_owner(engine, task_tgid(current));
	ret = utrace_set_events(NULL, engine, UTRACE_EVENT(QUIESCE) |
					      UTRACE_EVENT(CLONE) |
					      UTRACE_EVENT(EXEC));
	if (ret == -EALREADY)
		return -ESRCH;
	return ret == -EINPROGRESS ? 0 : ret;
}

/* Attach the engine of a new owner.  Drops the owner on failure. */
static struct marker_owner *marker_owner_start(struct marker_owner *owner,
					       struct task_struct *task)
{
	int ret = marker_attach(owner, task);

	if (!ret)
		return owner;
	utrace_marker_disarm_all(owner);
	utrace_marker_owner_put(owner);
	return ERR_PTR(ret);
}

/**
 * utrace_marker_owner_new() - create an owner for a process or a tree
 * @session: the session
 * @target: its target, of %UTRACE_SCOPE_PROCESS or _TREE
 * @task: a task of the process
 *
 * Context: Process context; may sleep.  utrace_session.lock is held.
 * Return: the owner, with a reference that &utrace_dev_owner_ops.end consumes;
 * or
 * * -ESRCH - @task has exited
 * * -EPERM - the caller or the opener of the device may not trace a task
 * * -ENOSPC, -EUSERS - a task or the user has too many engines
 * * -EINTR - the caller was killed
 * * -ENOMEM - out of memory
 */
struct marker_owner *
utrace_marker_owner_new(struct utrace_session *session,
			const struct utrace_dev_arming *target,
			struct task_struct *task)
{
	struct marker_owner *owner = marker_owner_of_target(session, target,
							    task);

	if (!owner)
		return ERR_PTR(-ENOMEM);
	owner->follow = target->scope == UTRACE_SCOPE_TREE;
	return marker_owner_start(owner, task);
}

/**
 * utrace_marker_owner_of_system() - create an owner of markers in all processes
 * @session: the session
 * @target: its target, of %UTRACE_SCOPE_SYSTEM
 *
 * Context: Process context; may sleep.  utrace_session.lock is held.
 * Return: the owner, as utrace_marker_owner_new(); or
 * * -EPERM - the caller or the opener of the device may not trace the system
 * * -ENOMEM - out of memory
 */
struct marker_owner *
utrace_marker_owner_of_system(struct utrace_session *session,
			      const struct utrace_dev_arming *target)
{
	struct marker_owner *owner;

	if (!utrace_viewer_may_see_all(utrace_dev_cred(session)))
		return ERR_PTR(-EPERM);
	owner = marker_owner_of_target(session, target, current);
	if (!owner)
		return ERR_PTR(-ENOMEM);
	owner->system = true;
	return owner;
}

/**
 * utrace_marker_owner_of_kernel() - create an owner for a part of the kernel
 *
 * The words are those of the current process and of its descendants.
 *
 * Context: Process context; may sleep.
 * Return: the owner, with a reference for the caller; -ENOMEM, or an error of
 * utrace_attach_for().
 */
struct marker_owner *utrace_marker_owner_of_kernel(void)
{
	struct marker_owner *owner;

	owner = marker_owner_alloc(current, task_active_pid_ns(current));
	if (!owner)
		return ERR_PTR(-ENOMEM);
	owner->follow = true;
	owner->kernel = true;
	refcount_set(&owner->users, 1);
	return marker_owner_start(owner, current);
}

/**
 * utrace_marker_owner_of_client() - create an owner for a module
 * @task: a task of the process
 * @follow: arm in children of fork(2) as well
 * @client: the callbacks
 * @data: argument of the callbacks
 *
 * Context: Process context; may sleep.
 * Return: the owner, with a reference for the caller; -ENOMEM, or an error of
 * utrace_attach_for().
 */
struct marker_owner *
utrace_marker_owner_of_client(struct task_struct *task, bool follow,
			      const struct utrace_markers_ops *client,
			      void *data)
{
	struct marker_owner *owner;

	owner = marker_owner_alloc(task, task_active_pid_ns(current));
	if (!owner)
		return ERR_PTR(-ENOMEM);
	owner->follow = follow;
	owner->client = client;
	owner->data = data;
	refcount_set(&owner->calls, 1);
	init_completion(&owner->called);
	return marker_owner_start(owner, task);
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
