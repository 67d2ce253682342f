// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - words and markers in the memory of processes: engines of owners
 *
 * A target of /dev/utrace may have words armed in the memory of its processes
 * (marker/armed.c).  The first UTRACE_IOC_ARM creates an owner and attaches an
 * engine for it.  Modules and user_events have owners with an engine as well
 * (marker/client.c, marker/words.c).  An owner of the system has no engine.
 *
 * Threads of the process come here at their safe point and write the words that
 * must be written (marker/write.c).  A task that creates a process disarms in
 * the copy of the memory what the child should not have, before the child runs
 * (marker/memory.c).
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/utrace.h>
#include <uapi/linux/utrace.h>

#include "builtin.h"
#include "marker/disarm.h"
#include "marker/engine.h"
#include "marker/event.h"
#include "marker/follow.h"
#include "marker/marker.h"
#include "marker/mm.h"
#include "marker/owner.h"
#include "marker/process.h"
#include "marker/user_event.h"
#include "marker/write.h"
#include "utrace_dev.h"
#include "viewer.h"

static void marker_settle_current(void)
{
	struct marker_mm *memory;

	if (!current->mm)
		return;
	memory = utrace_marker_mm_find(current->mm);
	if (!memory)
		return;
	utrace_marker_settle(memory);
	utrace_marker_mm_put(memory);
}

/*
 * Arm an event in the current process.  Returns false if the next report must
 * try again.  After -EUSERS it need not: the process never gets an engine for
 * its bits.
 */
static bool marker_follow_event(struct marker_owner *owner,
				struct marker_event *event)
{
	struct marker_place place = marker_of_event(event);
	int ret;

	if (event->site)
		ret = utrace_marker_arm_current(owner, &place);
	else
		ret = utrace_marker_arm_name(owner, event);
	return !ret || ret == -EUSERS;
}

/*
 * Arm the events of an owner in the current process, but those that the process
 * has followed before.  Not inlined, since marker_join() rarely calls it, and
 * would save more registers at each report.
 */
static noinline void marker_follow(struct marker_owner *owner)
{
	const u64 newest = READ_ONCE(owner->newest);
	struct marker_event *event = NULL;
	struct marker_walk walk = {};
	bool all = true;

	utrace_marker_begin_walk(owner, &walk);
	while ((event = utrace_marker_next_event(owner, event)))
		if (event->number > walk.from &&
		    !marker_follow_event(owner, event))
			all = false;
	if (all)
		utrace_marker_end_walk(owner, &walk, newest);
}

/*
 * Arm the owner's events in the current process: it may have existed when they
 * were armed, or have executed another program since.
 */
static void marker_join(struct marker_owner *owner)
{
	unsigned int todo = current->mm ? utrace_marker_todo(owner) : 0;

	if (likely(!todo))
		return;
	if ((todo & MARKER_FOLLOW) && utrace_marker_may_trace(owner))
		marker_follow(owner);
	marker_settle_current();
}

static u32 marker_quiesce(u32 action, struct utrace_engine *engine,
			  unsigned long event)
{
	if (!event)
		marker_join(engine->data);
	return UTRACE_RESUME;
}

static u32 marker_exec(u32 action, struct utrace_engine *engine,
		       const struct linux_binfmt *fmt,
		       const struct linux_binprm *bprm, struct pt_regs *regs)
{
	marker_join(engine->data);
	return UTRACE_RESUME;
}

/*
 * Make the child write its words.  Its copy of the memory lacks what was armed
 * after the copy and what the parent could not write.
 */
static void marker_ask_child(struct utrace_engine *engine,
			     struct task_struct *child)
{
	struct mm_struct *mm = get_task_mm(child);
	struct marker_mm *memory;

	if (!mm)
		return;
	memory = utrace_marker_mm_find(mm);
	if (memory) {
		utrace_marker_mm_born(memory, task_tgid(child));
		/* -ESRCH: the engine does not cover the child. */
		if (marker_is_dirty(memory))
			(void)!utrace_control(child, engine, UTRACE_REPORT);
		utrace_marker_mm_put(memory);
	}
	mmput(mm);
}

static u32 marker_clone(u32 action, struct utrace_engine *engine,
			unsigned long clone_flags, struct task_struct *child)
{
	struct marker_owner *owner = engine->data;

	/*
	 * Add the child to the list of threads before the words are read: a
	 * task that armed one may not have found the child there.  Pairs with
	 * the barriers in marker_ask() and utrace_marker_ask_all().
	 */
	smp_mb();
	if (clone_flags & CLONE_VM)
		marker_settle_current();
	else
		marker_ask_child(engine, child);
	/*
	 * Events that were armed after the memory was copied are missing in the
	 * child.  -ESRCH: the engine does not cover the child.
	 */
	if (!(clone_flags & CLONE_VM) && READ_ONCE(owner->nevents))
		(void)!utrace_control(child, engine, UTRACE_REPORT);
	return UTRACE_RESUME;
}

static void marker_release_engine(void *data)
{
	utrace_marker_owner_put(data);
}

static const struct utrace_engine_ops marker_ops = {
	.report_quiesce	= marker_quiesce,
	.report_clone	= marker_clone,
	.report_exec	= marker_exec,
	.release	= marker_release_engine,
	.name		= "words",
};

/* Engines of kernel owners have separate ops, by which they are found. */
const struct utrace_engine_ops utrace_marker_kernel_ops = {
	.report_quiesce	= marker_quiesce,
	.report_clone	= marker_clone,
	.report_exec	= marker_exec,
	.release	= marker_release_engine,
	.name		= "kernel_words",
};

/* Owners */

static struct marker_owner *
marker_owner_of_target(struct utrace_session *session,
		       const struct utrace_dev_arming *target,
		       struct task_struct *task)
{
	struct marker_owner *owner;

	owner = utrace_marker_owner_alloc(task, utrace_dev_ns(session));
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
						   &marker_ops, owner,
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

	owner = utrace_marker_owner_alloc(current, task_active_pid_ns(current));
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

	owner = utrace_marker_owner_alloc(task, task_active_pid_ns(current));
	if (!owner)
		return ERR_PTR(-ENOMEM);
	owner->follow = follow;
	owner->client = client;
	owner->data = data;
	refcount_set(&owner->calls, 1);
	init_completion(&owner->called);
	return marker_owner_start(owner, task);
}
