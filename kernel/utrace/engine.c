// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - an engine's life: attach, find, detach
 *
 * References to an engine: those of clients, and one for the core.  The core
 * counts its own, for being attached and for each task that is in a callback
 * after a detach, so that a barrier can tell when it has none left and nothing but
 * the client's own put can call ->release().  Casts and sets only have a reference
 * to the memory: a set that a task has pinned for the sake of another engine keeps
 * no module from being unloaded.
 *
 * A detach marks the engine and takes its events away at once; it disappears
 * from the casts in a work item, or in a barrier whose caller cannot wait for that,
 * or at once in utrace_engine_shutdown().
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

/* For the ends of detaches, none of which waits for a callback. */
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
		return pid_nr(engine->tgid);	/* 0 for the system */
	return engine->task->pid;
}

/* Nobody has the engine, nor a set or cast with it. */
static void utrace_engine_free(struct rcu_head *rcu)
{
	struct utrace_engine_info *info =
		container_of(rcu, struct utrace_engine_info, rcu);

	kmem_cache_free(utrace_engine_cache, info->engine);
	kfree(info);
	utrace_in_use_put();
}

void utrace_shell_get(struct utrace_engine *engine)
{
	refcount_inc(&engine->info->shell);
}

/* For who has RCU only. */
bool utrace_shell_tryget(struct utrace_engine *engine)
{
	return refcount_inc_not_zero(&engine->info->shell);
}

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
 * utrace_engine_release - the last reference to an engine is gone
 * @kref: the engine's
 *
 * Use utrace_engine_put().
 *
 * Context: That of the last put.  Calls ops->release().
 */
void utrace_engine_release(struct kref *kref)
{
	struct utrace_engine *engine = container_of(kref, struct utrace_engine,
						    kref);
	struct utrace_syscall_filter *filter;
	struct utrace_match *match;

	/* In this order: of one that was never attached the ops may be gone. */
	if (!(utrace_engine_state(engine) & UTRACE_STATE_UNBORN) &&
	    engine->ops->release)
		engine->ops->release(engine->data);
	/* Readers by RCU may be there, as long as sets have the engine. */
	match = unrcu_pointer(xchg(&engine->info->match, NULL));
	utrace_match_put(match);
	filter = unrcu_pointer(xchg(&engine->filter, NULL));
	utrace_filter_free(filter);
	utrace_uncharge_engine(engine);
	utrace_shell_put(engine);
}
EXPORT_SYMBOL_GPL(utrace_engine_release);

/**
 * utrace_core_tryget - keep an engine from its end
 * @engine: an engine to whose memory the caller has a reference
 *
 * Context: Any.
 * Return: false if the core has none left.
 */
bool utrace_core_tryget(struct utrace_engine *engine)
{
	return atomic_inc_not_zero(&engine->info->core);
}

/*
 * Both counts are dropped under the lock: a waiter that sees ->core at 0 may have
 * the last reference itself then.
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
	smp_mb(); /* Pairs with the one in prepare_to_wait_event(). */
	wake_up_var(core);
	if (last)
		utrace_engine_release(&engine->kref);
}

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
 * utrace_set_owner - show a process as the owner of an engine
 * @engine: the engine; the caller has a reference
 * @owner: the process
 *
 * Once for an engine.  /proc shows it without an owner until then.
 *
 * Context: Any.
 */
void utrace_set_owner(struct utrace_engine *engine, struct pid *owner)
{
	/* /proc may show the engine now; pairs with utrace_get_row(). */
	smp_store_release(&engine->info->on_behalf, get_pid(owner));
}

/* Name and owner, for display: nobody reads @ops for that later. */
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
 * A new engine with the references of its attacher and of being attached.  No
 * target: the system.
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
	/* For the core as a whole, which begins with being attached. */
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
	/* The same scope, and attached to this target: not inherited. */
	if ((utrace_engine_state(engine) & UTRACE_STATE_SCOPE) != scope)
		return false;
	return !scope || engine->tgid == task_tgid(target);
}

/* The first engine of @target that matches, with a reference. */
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
		/* Nobody may use one before its attacher has it. */
		if (utrace_engine_state(at.engine) & UTRACE_STATE_ATTACHING ||
		    !utrace_matches(at.engine, target, flags, ops, data))
			continue;
		/* A set may have one that came to its end. */
		if (kref_get_unless_zero(&at.engine->kref))
			return at.engine;
	}
	return NULL;
}

/* Exclusive engines that are being attached; under utrace_engine_lock. */
static LIST_HEAD(utrace_attaching);

/* Is an engine on its way to @target that an exclusive one does not tolerate? */
static bool utrace_is_attaching(struct task_struct *target, int flags,
				const struct utrace_engine_ops *ops, void *data)
{
	struct utrace_engine_info *info;

	guard(rcu)();	/* for task_tgid() */
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

/* From here on others see that this one is to be the only one; or -EEXIST. */
static int utrace_claim(struct utrace_engine *engine, struct task_struct *target,
			int flags)
{
	struct utrace_engine *other;

	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		if (utrace_is_attaching(target, flags, engine->ops, engine->data))
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

/* A new engine, which acts for @opener; see utrace_attach_for(). */
static struct utrace_engine *
utrace_attach_new(const struct cred *opener, struct task_struct *target, int flags,
		  const struct utrace_engine_ops *ops, void *data,
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
	/* Found from here on, or not at all; before it leaves the list. */
	if (!ret)
		atomic_andnot(UTRACE_STATE_ATTACHING, &engine->state);
	utrace_unclaim(engine);
	if (ret) {
		/* The client keeps its data, nothing is to be released. */
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
 * utrace_attach_task - attach an engine to a task, or find one
 * @target: the task; the caller has a reference, or it is current, or the
 *	child in report_clone
 * @flags: UTRACE_ATTACH_*: what matches, whether to create, scope and class
 * @ops: callbacks; stay as they are until the engine is released
 * @data: for the client
 *
 * Without %UTRACE_ATTACH_CREATE the first matching engine of @target is
 * returned.  With it a new one is attached, which wants no event yet; it is
 * called from the next pass on, never for the event that is being reported.
 * Matching looks at engines of the same scope attached to the same target,
 * or at all with %UTRACE_ATTACH_ANY_SCOPE.
 *
 * A process engine covers all threads of @target's thread group, a tree
 * engine also the processes that are its descendants now, and both whatever
 * their tasks create later.
 *
 * There is no check of permissions: that is up to the caller.
 *
 * Context: Process context, may sleep.  May be called from callbacks.  Takes
 * utrace_change_mutex and tasklist_lock, and cpus_read_lock().
 * Return: the engine with a reference for the caller; -EINVAL: unknown flags,
 * both scopes, or @ops is NULL; -EPERM: @target is a kernel thread; -ENOENT:
 * none matches; -EEXIST: one matches %UTRACE_ATTACH_EXCLUSIVE, or such a one is
 * being attached; -ESRCH: @target is reaped or being reaped; -ENOSPC: a task of
 * the scope has %UTRACE_MAX_ENGINES already; -EINTR: the caller is to die;
 * -ENOMEM.
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
 * utrace_attach_pid - utrace_attach_task() for a pid
 * @pid: a pid on which the caller has a reference
 * @flags: see utrace_attach_task()
 * @ops: see utrace_attach_task()
 * @data: see utrace_attach_task()
 *
 * Context: As utrace_attach_task().
 * Return: as utrace_attach_task(), and -ESRCH if no task has @pid.
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
	ret = utrace_charge_engine(engine, opener) ?: utrace_system_add(engine);
	if (ret) {
		/* The client keeps its data, nothing is to be released. */
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
 * utrace_attach_system - attach an engine to every user task
 * @flags: class, %UTRACE_ATTACH_OWN_EVENTS and %UTRACE_ATTACH_KTHREAD
 * @ops: callbacks; stay as they are until the engine is released
 * @data: for the client
 *
 * Covers every user task that there is and that there will be, pid 1 and those
 * of all namespaces included; kernel threads only on request, and of them CLONE,
 * EXIT, DEATH and REAP.  It observes: its answers
 * about signals and system calls are not heard, nor any resume action but
 * %UTRACE_DETACH, and utrace_control() only detaches it.  It cannot ask for
 * SIGNAL_IGN: a signal that is queued though it is ignored breaks off sleeps.
 * DEATH and REAP come from tasks that had not begun to exit when they were asked
 * for.
 *
 * A task that has its first event allocates a little memory; if there is none
 * the event is lost, see utrace_lost_events().
 *
 * There is no check of permissions: that is up to the caller.
 *
 * Context: Process context, may sleep.  May be called from callbacks.
 * Return: the engine with a reference for the caller; -EINVAL: other flags, or
 * @ops is NULL; -ENOSPC: there are %UTRACE_MAX_SYSTEM; -ENOMEM.
 */
struct utrace_engine *
utrace_attach_system(int flags, const struct utrace_engine_ops *ops, void *data)
{
	return utrace_attach_to_system(NULL, flags, ops, data);
}
EXPORT_SYMBOL_GPL(utrace_attach_system);

/**
 * utrace_attach_for - attach a new engine that acts for a program
 * @opener: credentials of who opened the session; in force is what they and those
 *	of the caller have in common
 * @target: see utrace_attach_task(); NULL: the system
 * @flags: as for utrace_attach_task() with %UTRACE_ATTACH_CREATE, or as for
 *	utrace_attach_system()
 * @ops: see utrace_attach_task()
 * @data: see utrace_attach_task()
 * @may: asked about each task of the scope that is found, before it is covered; may
 *	sleep.  Tasks that are born meanwhile or later are not asked about.  NULL: all
 *	of them may be.
 * @arg: for @may
 *
 * The engine counts for the user, see utrace_charge_engine(), until it is released.
 *
 * Context: As utrace_attach_task().
 * Return: as utrace_attach_task() and utrace_attach_system(), and -EUSERS: the
 * user has too many engines; -EPERM: @may refused; -ENOSPC: the user has too many
 * on one task.
 */
struct utrace_engine *
utrace_attach_for(const struct cred *opener, struct task_struct *target, int flags,
		  const struct utrace_engine_ops *ops, void *data,
		  bool (*may)(struct task_struct *task, void *arg), void *arg)
{
	if (!target)
		return utrace_attach_to_system(opener, flags, ops, data);
	if (target->flags & PF_KTHREAD)
		return ERR_PTR(-EPERM);
	return utrace_attach_new(opener, target, flags, ops, data, may, arg);
}

/* From here on nobody calls the engine; true for the one who did it. */
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

	u->hold &= ~bit;
	u->step &= ~bit;
	u->block &= ~bit;
	return held ? UTRACE_AFTER_WAKE : 0;
}

/* Let go of the tasks now; the rest in a work item. */
static void utrace_detach_rest(struct utrace_engine *engine)
{
	if (!utrace_engine_is_system(engine))
		utrace_visit_members(engine, NULL, utrace_drop_hold, NULL);
	queue_work(utrace_wq, &engine->info->uncover);
}

/**
 * utrace_detach_later - detach an engine, and leave the end of it to others
 * @engine: the engine
 *
 * Context: Any but NMI, without siglock.  Does not sleep.
 */
void utrace_detach_later(struct utrace_engine *engine)
{
	if (utrace_mark_detached(engine))
		utrace_detach_rest(engine);
}

/**
 * utrace_detach - the same, by a caller that has to know more
 * @engine: the engine
 *
 * Context: As utrace_detach_later().
 * Return: true if a callback may still be running, see utrace_is_running().
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
 * utrace_detach_now - the same by one who can wait for it
 * @engine: the engine
 *
 * Spares the way through a worker, two context switches.
 *
 * Context: Process context, sleeps.  Takes utrace_change_mutex.
 */
void utrace_detach_now(struct utrace_engine *engine)
{
	if (!utrace_mark_detached(engine))
		return;
	/* Its holds go with it. */
	utrace_uncover(engine);
	utrace_core_put(engine);
}

/**
 * utrace_engine_end - the last task of an engine's scope was reaped
 * @engine: the engine
 *
 * Context: That of the reaper.
 */
void utrace_engine_end(struct utrace_engine *engine)
{
	if (utrace_mark_detached(engine))
		utrace_core_put(engine);
}
