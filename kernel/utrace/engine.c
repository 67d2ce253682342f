// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - an engine's life: attach, find, detach
 *
 * Clients have references to an engine, and the core has one.  The core counts
 * its own uses apart (utrace_engine_info::core): one for being attached, and
 * one for each task that was in a callback at the detach.  So a barrier can
 * tell when the core has none left, and only the client's own put can call
 * ->release().  Casts and sets have references to the memory only
 * (utrace_engine_info::shell): a set that a task has pinned because of another
 * engine does not keep a module from being unloaded.
 *
 * A detach marks the engine and takes its events away at once.  A work item
 * takes the engine out of the casts, as do a barrier whose caller cannot wait
 * for the work item, and utrace_engine_shutdown().
 */
#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "internal.h"

#include <trace/events/utrace_core.h>

DEFINE_SPINLOCK(utrace_engine_lock);

static struct kmem_cache *utrace_engine_cache __ro_after_init;

/* Runs utrace_uncover_work(), which never waits for a callback. */
static struct workqueue_struct *utrace_wq __ro_after_init;

static int __init utrace_engine_init(void)
{
	utrace_engine_cache = KMEM_CACHE(utrace_engine,
					 SLAB_PANIC | SLAB_ACCOUNT);
	utrace_wq = alloc_workqueue("utrace", WQ_UNBOUND, 0);
	return utrace_wq ? 0 : -ENOMEM;
}
core_initcall(utrace_engine_init);

static pid_t utrace_engine_pid(struct utrace_engine *engine)
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
 * utrace_engine_release() - end an engine whose last reference is gone
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

	/* UNBORN is tested first: after a failed attach ->ops may be gone. */
	if (!(utrace_engine_state(engine) & UTRACE_STATE_UNBORN) &&
	    engine->ops->release)
		engine->ops->release(engine->data);
	/*
	 * RCU frees both: a pass over a set with the engine may look at them.
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
	smp_mb(); /* ->core before a look for waiters, see wait_var_event(). */
	wake_up_var(core);
	if (last)
		utrace_engine_release(&engine->kref);
}

/**
 * utrace_core_gone() - has the core no reference to an engine any more?
 * @engine: the engine; the caller has a reference
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 * Return: true if all are dropped.  Then utrace_core_put() does not touch the
 * engine any more, unless it has the last reference.
 */
bool utrace_core_gone(struct utrace_engine *engine)
{
	guard(spinlock_irqsave)(&utrace_engine_lock);
	return !atomic_read(&engine->info->core);
}

static void utrace_uncover_work(struct work_struct *work)
{
	struct utrace_engine_info *info =
		container_of(work, struct utrace_engine_info, uncover);

	utrace_uncover(info->engine);
	utrace_core_put(info->engine);
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
	/* /proc may look at the same time; pairs with utrace_get_row(). */
	smp_store_release(&engine->info->on_behalf, get_pid(owner));
}

/* Copy name and owner for display, since @ops may be gone later. */
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

static unsigned int utrace_state_of_flags(int flags)
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

/*
 * Make an engine with one reference for the caller, and one of the core for
 * being attached.  Without @target it is an engine of the system.
 */
static struct utrace_engine *
utrace_engine_alloc(struct task_struct *target, int flags,
		    const struct utrace_engine_ops *ops, void *data)
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
	INIT_LIST_HEAD(&info->roles);
	INIT_LIST_HEAD(&info->attaching);
	atomic_set(&engine->state, utrace_state_of_flags(flags) |
		   utrace_state_of_ops(ops) |
		   (target ? UTRACE_STATE_ATTACHING : UTRACE_STATE_SYSTEM));
	engine->ops = ops;
	engine->data = data;
	INIT_WORK(&info->uncover, utrace_uncover_work);
	info->engine = engine;
	utrace_engine_label(info, ops);
	engine->info = no_free_ptr(info);
	utrace_in_use_get();
	return engine;
}

static bool utrace_matches(struct utrace_engine *engine,
			   struct task_struct *target, int flags,
			   const struct utrace_engine_ops *ops, void *data)
{
	unsigned int scope = utrace_state_of_flags(flags) & UTRACE_STATE_SCOPE;

	if (utrace_engine_detached(engine) || utrace_engine_is_system(engine))
		return false;
	if ((flags & UTRACE_ATTACH_MATCH_OPS) && engine->ops != ops)
		return false;
	if ((flags & UTRACE_ATTACH_MATCH_DATA) && engine->data != data)
		return false;
	if (flags & UTRACE_ATTACH_ANY_SCOPE)
		return true;
	/*
	 * Only the same scope matches; an inherited tree engine has another
	 * tgid.
	 */
	if ((utrace_engine_state(engine) & UTRACE_STATE_SCOPE) != scope)
		return false;
	return !scope || engine->tgid == task_tgid(target);
}

/*
 * Find the first engine of @target that matches; returns it with a reference.
 */
static struct utrace_engine *
utrace_find(struct task_struct *target, int flags,
	    const struct utrace_engine_ops *ops, void *data)
{
	struct utrace *u = READ_ONCE(target->utrace);

	if (!u)
		return NULL;
	guard(rcu)();
	guard(spinlock_irqsave)(&u->lock);
	if (!target->utrace_set)
		return NULL;
	utrace_set_for_each(target->utrace_set, UTRACE_LIST_ALL, at) {
		/*
		 * Until its attach is over, only the attaching task may use an
		 * engine.
		 */
		if (utrace_engine_state(at.engine) & UTRACE_STATE_ATTACHING ||
		    !utrace_matches(at.engine, target, flags, ops, data))
			continue;
		/* A set may have an engine whose last reference is gone. */
		if (kref_get_unless_zero(&at.engine->kref))
			return at.engine;
	}
	return NULL;
}

/*
 * utrace_engine_info::attaching of exclusive engines that are being attached;
 * under utrace_engine_lock.
 */
static LIST_HEAD(utrace_attaching);

/*
 * With utrace_engine_lock held: is an exclusive engine being attached to
 * @target that another exclusive attach with these arguments has to yield to?
 * A tree engine that is being attached to an ancestor of @target does not
 * count, as if the attach to @target had come first.
 */
static bool utrace_is_attaching(struct task_struct *target, int flags,
				const struct utrace_engine_ops *ops, void *data)
{
	struct utrace_engine_info *info;

	guard(rcu)();	/* RCU keeps what task_tgid() returns. */
	list_for_each_entry(info, &utrace_attaching, attaching) {
		struct utrace_engine *engine = info->engine;
		unsigned int scope = utrace_engine_state(engine) &
				     UTRACE_STATE_SCOPE;

		if (utrace_matches(engine, target, flags, ops, data) &&
		    (scope ? engine->tgid == task_tgid(target) :
			     engine->task == target))
			return true;
	}
	return false;
}

/*
 * Claim @target for an exclusive engine: another exclusive attach that would
 * match fails from here on.  Returns -EEXIST if another attach did the same, or
 * if an engine of @target matches.
 */
static int utrace_claim(struct utrace_engine *engine,
			struct task_struct *target, int flags)
{
	struct utrace_engine *other;

	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		if (utrace_is_attaching(target, flags, engine->ops,
					engine->data))
			return -EEXIST;
		other = utrace_find(target, flags, engine->ops, engine->data);
		if (!other)
			list_add(&engine->info->attaching, &utrace_attaching);
	}
	if (!other)
		return 0;
	utrace_engine_put(other);
	return -EEXIST;
}

static void utrace_unclaim(struct utrace_engine *engine)
{
	guard(spinlock_irqsave)(&utrace_engine_lock);
	list_del_init(&engine->info->attaching);
}

/* Attach a new engine that acts for @opener, see utrace_attach_for(). */
static struct utrace_engine *
utrace_attach_new(const struct cred *opener, struct task_struct *target,
		  int flags, const struct utrace_engine_ops *ops, void *data,
		  bool (*may)(struct task_struct *task, void *arg), void *arg)
{
	struct utrace_engine *engine;
	int ret;

	engine = utrace_engine_alloc(target, flags, ops, data);
	if (IS_ERR(engine))
		return engine;
	ret = utrace_charge_engine(engine, opener);
	if (!ret && flags & UTRACE_ATTACH_EXCLUSIVE)
		ret = utrace_claim(engine, target, flags);
	if (!ret)
		ret = utrace_cover(engine, target, may, arg);
	/*
	 * utrace_find() returns the engine from here on.  This comes before the
	 * engine leaves the list, so that utrace_claim() finds it in the list
	 * or by utrace_find().
	 */
	if (!ret)
		atomic_andnot(UTRACE_STATE_ATTACHING, &engine->state);
	utrace_unclaim(engine);
	if (ret) {
		/* The client keeps its data: ->release() is not called. */
		atomic_or(UTRACE_STATE_UNBORN, &engine->state);
		utrace_detach_later(engine);
		utrace_engine_put(engine);
		return ERR_PTR(ret);
	}
	trace_utrace_attach(engine, engine->info->name,
			    utrace_engine_pid(engine),
			    utrace_engine_state(engine));
	return engine;
}

/**
 * utrace_attach_task() - attach an engine to a task, or find one
 * @target: the task; the caller has a reference, or it is current, or the child
 *	in report_clone
 * @flags: UTRACE_ATTACH_*: what matches, whether to create, scope and class
 * @ops: callbacks, which the client keeps unchanged until the engine is
 *	released
 * @data: the client's data; the core hands it to ->release()
 *
 * Without %UTRACE_ATTACH_CREATE the first matching engine of @target is
 * returned.  Engines match if they have the same scope and were attached to the
 * same target, or with %UTRACE_ATTACH_ANY_SCOPE whatever their scope.
 *
 * With %UTRACE_ATTACH_CREATE a new engine is attached, which wants no event
 * yet.  Passes that begin later call it; the event that is being reported does
 * not.
 *
 * A process engine covers all threads of @target's thread group.  A tree engine
 * also covers the processes that are its descendants now, but for those that
 * the end of a parent takes out of the tree before the attach is complete.
 * Both cover what their tasks create later.
 *
 * There is no check of permissions: that is up to the caller.
 *
 * Context: Process context, may sleep.  Callbacks may call it.  Takes
 * utrace_change_mutex and tasklist_lock, and cpus_read_lock() for the first
 * engine that exists, so a caller must not hold any of them.
 * Return:
 * * the engine, with a reference for the caller
 * * -EINVAL - unknown flags, two scopes, or CREATE without @ops
 * * -EPERM - CREATE, and @target is a kernel thread
 * * -ENOENT - no engine matches, without CREATE
 * * -EEXIST - CREATE with %UTRACE_ATTACH_EXCLUSIVE, and an engine matches or
 *   another exclusive engine that matches is being attached
 * * -ESRCH - CREATE, and @target is reaped or being reaped
 * * -ENOSPC - a task of the scope has %UTRACE_MAX_ENGINES already
 * * -EINTR - the caller has a fatal signal pending
 * * -ENOMEM - no memory
 */
struct utrace_engine *
utrace_attach_task(struct task_struct *target, int flags,
		   const struct utrace_engine_ops *ops, void *data)
{
	struct utrace_engine *engine;

	if (flags & ~UTRACE_ATTACH_ALL ||
	    (flags & UTRACE_ATTACH_SCOPE_MASK) == UTRACE_ATTACH_SCOPE_MASK)
		return ERR_PTR(-EINVAL);

	if (!(flags & UTRACE_ATTACH_CREATE)) {
		engine = utrace_find(target, flags, ops, data);
		return engine ?: ERR_PTR(-ENOENT);
	}

	if (!ops)
		return ERR_PTR(-EINVAL);
	if (target->flags & PF_KTHREAD)
		return ERR_PTR(-EPERM);
	return utrace_attach_new(NULL, target, flags, ops, data, NULL, NULL);
}
EXPORT_SYMBOL_GPL(utrace_attach_task);

/**
 * utrace_attach_pid() - utrace_attach_task() for a pid
 * @pid: a pid to which the caller has a reference
 * @flags: see utrace_attach_task()
 * @ops: see utrace_attach_task()
 * @data: see utrace_attach_task()
 *
 * Context: As utrace_attach_task().
 * Return:
 * * the engine, or an error of utrace_attach_task()
 * * -ESRCH - no task has @pid
 */
struct utrace_engine *
utrace_attach_pid(struct pid *pid, int flags,
		  const struct utrace_engine_ops *ops, void *data)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	struct utrace_engine *engine = ERR_PTR(-ESRCH);

	if (task) {
		engine = utrace_attach_task(task, flags, ops, data);
		put_task_struct(task);
	}
	return engine;
}
EXPORT_SYMBOL_GPL(utrace_attach_pid);

static struct utrace_engine *
utrace_attach_to_system(const struct cred *opener, int flags,
			const struct utrace_engine_ops *ops, void *data)
{
	struct utrace_engine *engine;
	int ret;

	if (flags & ~UTRACE_ATTACH_OF_SYSTEM || !ops)
		return ERR_PTR(-EINVAL);
	engine = utrace_engine_alloc(NULL, flags, ops, data);
	if (IS_ERR(engine))
		return engine;
	ret = utrace_charge_engine(engine, opener) ?:
	      utrace_system_change(engine);
	if (ret) {
		/* The client keeps its data: ->release() is not called. */
		atomic_or(UTRACE_STATE_UNBORN, &engine->state);
		utrace_core_put(engine);
		utrace_engine_put(engine);
		return ERR_PTR(ret);
	}
	trace_utrace_attach(engine, engine->info->name, 0,
			    utrace_engine_state(engine));
	return engine;
}

/**
 * utrace_attach_system() - attach an engine to every user task
 * @flags: class, %UTRACE_ATTACH_OWN_EVENTS and %UTRACE_ATTACH_KTHREAD
 * @ops: callbacks, which the client keeps unchanged until the engine is
 *	released
 * @data: the client's data; the core hands it to ->release()
 *
 * The engine covers every user task that there is and that there will be, pid 1
 * and the tasks of all namespaces included.  With %UTRACE_ATTACH_KTHREAD it
 * also covers kernel threads, which report CLONE, EXIT, DEATH and REAP.
 *
 * An engine of the system is an observer.  Its answers about signals and system
 * calls have no effect, nor has any resume action but %UTRACE_DETACH, and
 * utrace_control() can only detach it.  It cannot ask for SIGNAL_IGN: a signal
 * that is queued although it is ignored breaks off sleeps.
 *
 * DEATH and REAP are reported for tasks that had not begun to exit when the
 * engine asked for these events.  At its first event a task allocates a little
 * memory; if there is none, the event is lost, see utrace_lost_events().
 *
 * There is no check of permissions: that is up to the caller.
 *
 * Context: Process context, may sleep.  Callbacks may call it.  Takes
 * cpus_read_lock() for the first engine that exists, so a caller must not hold
 * it.
 * Return:
 * * the engine, with a reference for the caller
 * * -EINVAL - other flags, or @ops is NULL
 * * -ENOSPC - there are %UTRACE_MAX_SYSTEM engines of the system
 * * -ENOMEM - no memory
 */
struct utrace_engine *
utrace_attach_system(int flags, const struct utrace_engine_ops *ops, void *data)
{
	return utrace_attach_to_system(NULL, flags, ops, data);
}
EXPORT_SYMBOL_GPL(utrace_attach_system);

/**
 * utrace_attach_for() - attach a new engine that acts for a program
 * @opener: credentials of the task that opened the session, kept by the caller;
 *	the engine is privileged if @opener and the caller both are.  NULL: the
 *	engine acts for the kernel
 * @target: see utrace_attach_task(); NULL: the system
 * @flags: without @target as for utrace_attach_system(), else as for
 *	utrace_attach_task(): %UTRACE_ATTACH_CREATE is implied, and no flag is
 *	refused
 * @ops: see utrace_attach_task(); not NULL
 * @data: see utrace_attach_task()
 * @may: asks, before a task of the scope is covered, whether it may be; may
 *	sleep.  Tasks that are born meanwhile or later are not asked about, nor
 *	any task for the system.  NULL: all tasks may be covered
 * @arg: second argument of @may
 *
 * The engine is charged to the user, see utrace_charge_engine(), until it is
 * released.
 *
 * Context: As utrace_attach_task().
 * Return:
 * * the engine, or an error of utrace_attach_task() or utrace_attach_system()
 * * -EUSERS - the user has too many engines
 * * -EPERM - @may refused a task
 * * -ENOSPC - the engine is not privileged, and on a task of the scope the user
 *   has too many engines or only slots for privileged engines are left
 */
struct utrace_engine *
utrace_attach_for(const struct cred *opener, struct task_struct *target,
		  int flags, const struct utrace_engine_ops *ops, void *data,
		  bool (*may)(struct task_struct *task, void *arg), void *arg)
{
	if (!target)
		return utrace_attach_to_system(opener, flags, ops, data);
	if (target->flags & PF_KTHREAD)
		return ERR_PTR(-EPERM);
	return utrace_attach_new(opener, target, flags, ops, data, may, arg);
}

/**
 * utrace_engine_like() - make an engine for a task that current will create
 * @engine: an engine of the current task with the scope of a thread
 * @data: the client's data
 *
 * The new engine has the callbacks, the class and the rights of @engine, and is
 * charged to nobody.
 *
 * Context: Process context, may sleep.
 * Return: the engine, with a reference for the caller, for utrace_engine_set_task() or
 * utrace_engine_abandon(); or -ENOMEM.
 */
struct utrace_engine *utrace_engine_like(struct utrace_engine *engine,
					 void *data)
{
	const unsigned int same = UTRACE_STATE_CLASS | UTRACE_STATE_OWN_EVENTS |
				  UTRACE_STATE_PRIVILEGED;
	struct utrace_engine *new;

	new = utrace_engine_alloc(current, UTRACE_ATTACH_CREATE, engine->ops,
				  data);
	if (IS_ERR(new))
		return new;
	atomic_or(utrace_engine_state(engine) & same, &new->state);
	new->info->uid = engine->info->uid;
	return new;
}

/**
 * utrace_engine_set_task() - say which task an engine is for
 * @engine: the engine, from utrace_engine_like()
 * @child: the task, which was just created and does not run yet
 *
 * Context: Any.
 */
void utrace_engine_set_task(struct utrace_engine *engine, struct task_struct *child)
{
	put_task_struct(engine->task);
	engine->task = get_task_struct(child);
}

/**
 * utrace_engine_abandon() - drop an engine that was never attached
 * @engine: the engine, from utrace_engine_like(), whose reference is put
 *
 * The client keeps its data: ->release() is not called.
 *
 * Context: Process context.
 */
void utrace_engine_abandon(struct utrace_engine *engine)
{
	atomic_or(UTRACE_STATE_UNBORN, &engine->state);
	utrace_engine_end(engine);
	utrace_engine_put(engine);
}

/**
 * utrace_attach_newborn() - attach an engine to a task that was just created
 * @engine: the engine, after utrace_engine_set_task(); the caller has a reference.  Its
 *	owner may detach it at any time
 *
 * The creator waits here, also for memory, and only a fatal signal ends that.
 *
 * Context: The creator of the task, before the task runs.  Sleeps.  As
 * utrace_attach_task().
 * Return:
 * * 0 - done
 * * -ENOSPC - the task has no slot left for @engine
 * * -EINTR - the caller would wait, and has a fatal signal pending
 * * -ESRCH - @engine is detached
 */
int utrace_attach_newborn(struct utrace_engine *engine)
{
	int ret = utrace_cover_newborn(engine);

	if (!ret && utrace_engine_detached(engine))
		ret = -ESRCH;
	if (ret)
		return ret;
	atomic_andnot(UTRACE_STATE_ATTACHING, &engine->state);
	trace_utrace_attach(engine, engine->info->name,
			    utrace_engine_pid(engine),
			    utrace_engine_state(engine));
	return 0;
}

/*
 * Mark an engine as detached: no pass that begins later calls it.  Returns true
 * for the one caller that has marked it, and has to complete the detach.
 */
static bool utrace_mark_detached(struct utrace_engine *engine)
{
	guard(spinlock_irqsave)(&utrace_engine_lock);
	if (utrace_engine_detached(engine))
		return false;
	atomic_or(UTRACE_STATE_DETACHED, &engine->state);
	WRITE_ONCE(engine->flags, 0);
	utrace_engine_touch(engine);
	if (utrace_engine_is_system(engine))
		utrace_system_recount();
	/* No trace event has recorded an attach that failed. */
	if (!(utrace_engine_state(engine) & UTRACE_STATE_UNBORN))
		trace_utrace_detach(engine, engine->info->name,
				    utrace_engine_pid(engine),
				    utrace_engine_state(engine));
	return true;
}

static unsigned int utrace_drop_hold(struct utrace_engine *engine,
				     struct task_struct *task,
				     struct utrace *u, u64 bit, void *arg)
{
	bool held = u->hold & bit;

	u->step &= ~bit;
	u->block &= ~bit;
	utrace_end_hold(u, bit);
	return held ? UTRACE_AFTER_WAKE : 0;
}

/*
 * Drop the holds and steps of a detached engine, and leave the rest to a work
 * item, which drops the core's reference for being attached.
 */
static void utrace_detach_rest(struct utrace_engine *engine)
{
	if (!utrace_engine_is_system(engine))
		utrace_visit_members(engine, NULL, utrace_drop_hold, NULL);
	queue_work(utrace_wq, &engine->info->uncover);
}

/**
 * utrace_detach_later() - detach an engine without looking for callbacks
 * @engine: the engine; the caller has a reference, or is a callback of it
 *
 * A work item completes the detach.  Does nothing if the engine is detached.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.
 */
void utrace_detach_later(struct utrace_engine *engine)
{
	if (utrace_mark_detached(engine))
		utrace_detach_rest(engine);
}

/**
 * utrace_detach() - detach an engine and look for running callbacks
 * @engine: the engine; the caller has a reference, or is a callback of it
 *
 * A work item completes the detach.
 *
 * Context: As utrace_detach_later().
 * Return: true if a callback may be running in another task, see
 * utrace_is_running(), or if the engine was detached before the call.
 */
bool utrace_detach(struct utrace_engine *engine)
{
	bool running;

	if (!utrace_mark_detached(engine))
		return true;
	running = utrace_is_running(engine);
	utrace_detach_rest(engine);
	return running;
}

/**
 * utrace_detach_now() - detach an engine and complete the detach
 * @engine: the engine; the caller has a reference
 *
 * Saves the two context switches that a work item costs.  Does nothing if the
 * engine is detached.
 *
 * Context: Process context, may sleep.  Takes utrace_change_mutex.
 */
void utrace_detach_now(struct utrace_engine *engine)
{
	if (!utrace_mark_detached(engine))
		return;
	/* Holds are dropped when the tasks get sets without the engine. */
	utrace_uncover(engine);
	utrace_core_put(engine);
}

/**
 * utrace_engine_end() - end an engine that no task has any more
 * @engine: an engine in the set that the reaper has pinned, whose last task is being
 *	reaped; or one that was never attached
 *
 * Context: The reaper, in the REAP pass of that task, or process context.  May call
 * ->release().
 */
void utrace_engine_end(struct utrace_engine *engine)
{
	if (utrace_mark_detached(engine))
		utrace_core_put(engine);
}
