// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - an engine's life: attach, find, choose events, detach
 *
 * References to an engine: those of clients, and one for the core.  The core
 * counts its own, for being attached and for every set the engine is in, so
 * that a barrier can tell when it has none left and nothing but the client's
 * own put can call ->release().
 *
 * A detach marks the engine and takes its events away at once; it disappears
 * from the sets in a work item, or in utrace_barrier() if that comes first, or
 * at once in utrace_engine_shutdown().
 */
#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "client.h"
#include "internal.h"

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

static pid_t utrace_engine_pid(struct utrace_engine *engine)
{
	if (utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		return pid_nr(engine->tgid);	/* 0 for the system */
	return engine->task->pid;
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

	/* In this order: of one that was never attached the ops may be gone. */
	if (!(utrace_engine_state(engine) & UTRACE_STATE_UNBORN) &&
	    engine->ops->release)
		engine->ops->release(engine->data);
	if (utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		put_pid(engine->tgid);
	else
		put_task_struct(engine->task);
	utrace_match_put(engine->info->match);
	kfree(rcu_dereference_protected(engine->filter, true));
	put_pid(engine->info->on_behalf);
	kfree(engine->info);
	kmem_cache_free(utrace_engine_cache, engine);
}
EXPORT_SYMBOL_GPL(utrace_engine_release);

static DECLARE_WAIT_QUEUE_HEAD(utrace_gone);

void utrace_core_get(struct utrace_engine *engine)
{
	atomic_inc(&engine->info->core);
}

/* Whoever sees the count at 0 may find that the last reference is its own. */
void utrace_core_put(struct utrace_engine *engine)
{
	unsigned long flags;
	bool last;

	if (!atomic_dec_and_lock_irqsave(&engine->info->core,
					 &utrace_engine_lock, flags))
		return;
	last = refcount_dec_and_test(&engine->kref.refcount);
	spin_unlock_irqrestore(&utrace_engine_lock, flags);
	wake_up_all(&utrace_gone);
	if (last)
		utrace_engine_release(&engine->kref);
}

bool utrace_core_gone(struct utrace_engine *engine)
{
	guard(spinlock_irqsave)(&utrace_engine_lock);
	return !atomic_read(&engine->info->core);
}

/* Wait until the core has no reference to a detached engine any more. */
void utrace_wait_gone(struct utrace_engine *engine)
{
	wait_event(utrace_gone, utrace_core_gone(engine));
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
 * Once for an engine, before anybody else knows it.
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
	unsigned int state = (flags & UTRACE_ATTACH_CLASS_MASK) >> 12;

	state <<= UTRACE_STATE_CLASS_SHIFT;
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
	atomic_set(&engine->state, utrace_state_of_flags(flags) |
		   (target ? 0 : UTRACE_STATE_SYSTEM));
	engine->ops = ops;
	engine->data = data;
	INIT_WORK(&info->uncover, utrace_uncover_work);
	info->engine = engine;
	utrace_engine_label(info, ops);
	engine->info = no_free_ptr(info);
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
	struct utrace_engine *engine;
	unsigned int i, slot;

	if (!u)
		return NULL;
	guard(rcu)();
	guard(spinlock_irqsave)(&u->lock);
	if (!target->utrace_set)
		return NULL;
	utrace_for_each(target->utrace_set, UTRACE_LIST_ALL, i, slot, engine) {
		if (!utrace_matches(engine, target, flags, ops, data))
			continue;
		utrace_engine_get(engine);
		return engine;
	}
	return NULL;
}

/* Serialises look-up and attach of exclusive engines. */
static DEFINE_MUTEX(utrace_attach_mutex);

static struct utrace_engine *
utrace_attach_new(struct task_struct *target, int flags,
		  const struct utrace_engine_ops *ops, void *data)
{
	struct utrace_engine *engine, *other = NULL;
	int ret = 0;

	engine = utrace_engine_alloc(target, flags, ops, data);
	if (IS_ERR(engine))
		return engine;

	mutex_lock(&utrace_attach_mutex);
	if (flags & UTRACE_ATTACH_EXCLUSIVE)
		other = utrace_find(target, flags, ops, data);
	ret = other ? -EEXIST : utrace_cover(engine);
	mutex_unlock(&utrace_attach_mutex);

	if (other)
		utrace_engine_put(other);
	if (ret) {
		/* The client keeps its data, nothing is to be released. */
		atomic_or(UTRACE_STATE_UNBORN, &engine->state);
		utrace_detach(engine);
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
 * utrace_mutex and tasklist_lock.
 * Return: the engine with a reference for the caller; -EINVAL: unknown flags,
 * both scopes, or @ops is NULL; -EPERM: @target is a kernel thread; -ENOENT:
 * none matches; -EEXIST: one matches %UTRACE_ATTACH_EXCLUSIVE; -ESRCH:
 * @target is reaped or being reaped; -ENOSPC: it has %UTRACE_MAX_ENGINES
 * already; -ENOMEM.
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
	return utrace_attach_new(target, flags, ops, data);
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
 * Context: Process context, may sleep.  May be called from callbacks.  Takes
 * utrace_mutex.
 * Return: the engine with a reference for the caller; -EINVAL: other flags, or
 * @ops is NULL; -ENOSPC: there are %UTRACE_MAX_ENGINES; -ENOMEM.
 */
struct utrace_engine *
utrace_attach_system(int flags, const struct utrace_engine_ops *ops, void *data)
{
	struct utrace_engine *engine;
	int ret;

	if (flags & ~UTRACE_ATTACH_OF_SYSTEM || !ops)
		return ERR_PTR(-EINVAL);
	engine = utrace_engine_alloc(NULL, flags, ops, data);
	if (IS_ERR(engine))
		return engine;
	ret = utrace_system_add(engine);
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
EXPORT_SYMBOL_GPL(utrace_attach_system);

/* From here on nobody calls the engine; true for the one who did it. */
static bool utrace_mark_detached(struct utrace_engine *engine)
{
	guard(spinlock_irqsave)(&utrace_engine_lock);
	if (utrace_engine_detached(engine))
		return false;
	atomic_or(UTRACE_STATE_DETACHED, &engine->state);
	WRITE_ONCE(engine->flags, 0);
	if (utrace_engine_is_system(engine))
		utrace_system_recount();
	atomic_long_inc(&utrace_generation);
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

/* Is a pass over a set that has the engine running in another task? */
static unsigned int utrace_in_pass(struct utrace_engine *engine,
				   struct task_struct *task,
				   struct utrace *u, u64 bit, void *arg)
{
	if ((u->reaper ?: task) != current && READ_ONCE(u->pinned))
		*(bool *)arg = true;
	return 0;
}

/**
 * utrace_detach - detach an engine from all its tasks
 * @engine: the engine
 *
 * Context: Any but NMI, without siglock.  Does not sleep.
 * Return: true if a callback may still be running.
 */
bool utrace_detach(struct utrace_engine *engine)
{
	bool running = false;

	if (!utrace_mark_detached(engine))
		return true;
	smp_mb(); /* The flags before the pins; pairs with utrace_pin(). */
	utrace_visit_members(engine, NULL, utrace_in_pass, &running);
	utrace_visit_members(engine, NULL, utrace_drop_hold, NULL);
	queue_work(system_unbound_wq, &engine->info->uncover);
	return running;
}

/**
 * utrace_detach_now - the same by one who can wait for it
 * @engine: the engine
 *
 * Spares the way through a worker, two context switches.
 *
 * Context: Process context, sleeps.  Takes utrace_mutex.
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

static unsigned int utrace_add_to_member(struct utrace_engine *engine,
					 struct task_struct *task,
					 struct utrace *u, u64 bit, void *arg)
{
	if (!(u->flags & UTRACE_TASK_REAPED))
		utrace_set_word(task, task->utrace_events |
				*(unsigned long *)arg | UTRACE_WORD_REBUILD);
	return 0;
}

/**
 * utrace_want_rebuild - a task is to build another set at its next event
 * @task: a task with a struct utrace
 * @added: events that are new
 *
 * Context: Any but NMI.  Takes utrace->lock.
 */
void utrace_want_rebuild(struct task_struct *task, unsigned long added)
{
	guard(spinlock_irqsave)(&task->utrace->lock);
	utrace_add_to_member(NULL, task, task->utrace, 0, &added);
}

/**
 * utrace_engine_changed - an engine wants something else than its sets say
 * @engine: the engine
 * @added: event bits that are new
 *
 * Every task with such a set builds another one at its next event.
 *
 * Context: Any but NMI, without siglock.
 */
void utrace_engine_changed(struct utrace_engine *engine, unsigned long added)
{
	if (utrace_engine_is_system(engine))
		utrace_system_tell(added | UTRACE_WORD_REBUILD);
	else
		utrace_visit_members(engine, NULL, utrace_add_to_member, &added);
}

/* Too late for a thread engine to change what its dying task reports? */
static bool utrace_too_late(struct utrace_engine *engine, unsigned long events)
{
	const unsigned long late = UTRACE_EVENT(DEATH) | UTRACE_EVENT(QUIESCE);
	unsigned long changed = engine->flags ^ events;
	struct task_struct *task = engine->task;

	if (utrace_engine_state(engine) & UTRACE_STATE_SCOPE)
		return false;
	if (!task->exit_state)
		return false;
	if (changed & events & late)
		return true;
	/* Taking it away while the death report runs. */
	return (changed & late) &&
	       (READ_ONCE(task->utrace->flags) & UTRACE_TASK_DYING) &&
	       task != current;
}

/**
 * utrace_set_events - choose the events an engine is told of
 * @target: one task of the engine, or NULL; the events are those of all
 * @engine: the engine; the caller has a reference, or is its callback
 * @events: UTRACE_EVENT() bits, in place of the former ones
 *
 * Acts on all tasks of the engine.  Holds from the next pass on; in
 * report_quiesce for the event that is about to be reported.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.  May be called from
 * callbacks.
 * Return: 0: and where bits were taken away, their callbacks do not run any
 * more; -EINPROGRESS: done, but a callback may be running in a task of the
 * engine, utrace_barrier() waits for it; -EALREADY: nothing changed, because
 * the task is dead and DEATH or QUIESCE would be newly set, or its death
 * report is running; -EINVAL: unknown bits; -ESRCH: the engine is detached or
 * @target is not in its scope.
 */
int utrace_set_events(struct task_struct *target, struct utrace_engine *engine,
		      unsigned long events)
{
	unsigned long added, gone;
	bool running = false;

	if (events & ~UTRACE_EVENT_ALL ||
	    (utrace_engine_is_system(engine) &&
	     events & UTRACE_EVENT(SIGNAL_IGN)))
		return -EINVAL;
	if (!utrace_addresses(engine, target))
		return -ESRCH;

	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		if (utrace_engine_detached(engine))
			return -ESRCH;
		if (utrace_too_late(engine, events))
			return -EALREADY;
		added = events & ~engine->flags;
		gone = engine->flags & ~events;
		WRITE_ONCE(engine->flags, events);
		if (utrace_engine_is_system(engine))
			utrace_system_recount();
		if (added | gone)
			atomic_long_inc(&utrace_generation);
	}
	/*
	 * Sets with too many engines in a list only cost time, so for events
	 * that are gone nothing is done; the next new set leaves them out.
	 */
	if (added)
		utrace_engine_changed(engine, added);
	if (gone) {
		smp_mb(); /* The flags before the pins. */
		utrace_visit_members(engine, NULL, utrace_in_pass, &running);
	}
	return running ? -EINPROGRESS : 0;
}
EXPORT_SYMBOL_GPL(utrace_set_events);
