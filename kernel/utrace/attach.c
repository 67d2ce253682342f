// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - attach and find: add an engine to the tasks of its scope
 *
 * A walk finds the tasks of the scope that do not have the engine, and batches
 * give them sets with the engine (batch.c).  The attach is complete when a walk
 * finds no such task.  If tasks are created faster than batches can cover them,
 * the last batch runs with tasklist_lock held, so that no task is created
 * during it.
 */
#include <linux/export.h>
#include <linux/list.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "barrier.h"
#include "builtin.h"
#include "detach.h"
#include "engine.h"
#include "limit.h"
#include "scope_system.h"
#include "set.h"
#include "walk.h"

#include <trace/events/utrace_core.h>

/* Walks that may find tasks before a batch runs with tasklist_lock held. */
#define UTRACE_WALKS		3

/*
 * Check whether a task lacks the engine.  Called under RCU, which keeps the
 * set, and without utrace->lock: a later walk finds later changes, and
 * utrace_update_task() checks again under the lock.
 */
static bool utrace_walk_wants(struct utrace_walk *walk,
			      struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);
	struct utrace_set *set;

	if (!u)
		return READ_ONCE(task->exit_state) != EXIT_DEAD;
	set = READ_ONCE(task->utrace_set);
	if (set && set == walk->known)
		return false;
	/*
	 * REAPED is never cleared.  If it is set after this,
	 * utrace_update_task() does nothing.
	 */
	if (data_race(u->flags) & UTRACE_TASK_REAPED)
		return false;
	if (utrace_set_slot(set, walk->change.engine) < 0)
		return true;
	walk->known = set;
	return false;
}

/*
 * ->found_one of all walks but the last: add the task to the walk.  Counts
 * tasks for which there is no room, too.
 */
static void utrace_walk_keep(struct utrace_walk *walk, struct task_struct *task)
{
	if (walk->found < walk->max)
		walk->task[walk->found] = get_task_struct(task);
	walk->found++;
}

/*
 * Call ->found_one() for each thread of a process that lacks the engine.
 *
 * If tasklist_lock is held, no thread is created during the walk.  Otherwise
 * the walk is under RCU, after utrace_tasklist_barrier(), and does not miss a
 * thread either.  Suppose that it misses thread X, which lacks the engine.
 * Threads are added at the end of the list, so X was added after the walk had
 * passed there.  Its creator Y lacked the engine too, or X would have inherited
 * it.  If the walk found Y, another walk follows.  If not, Y was added like X,
 * and so on, back to a thread that was in the list at the barrier.
 *
 * A thread that is dead when the walk reaches it is not counted.  All threads
 * that it created were added to the list before it died, so the walk finds
 * them.
 */
static void utrace_walk_process(struct utrace_walk *walk,
				struct task_struct *process)
{
	struct task_struct *t;

	for_each_thread(process, t) {
		if (utrace_walk_wants(walk, t))
			walk->found_one(walk, t);
		/*
		 * Read the state of @t before the next list entry.  @t added
		 * threads with tasklist_lock held before it died, so if the
		 * walk sees it dead, it sees these threads, too.
		 */
		smp_rmb();
	}
}

/*
 * Find the first child of the threads of @process that come after @t in the
 * list, or of all its threads if @t is NULL.  NULL if there is no child.
 * tasklist_lock is held.
 */
static struct task_struct *utrace_child_after(struct task_struct *process,
					      struct task_struct *t)
{
	struct list_head *threads = &process->signal->thread_head;
	struct list_head *node = t ? t->thread_node.next : threads->next;

	for (; node != threads; node = node->next) {
		t = list_entry(node, struct task_struct, thread_node);
		if (!list_empty(&t->children))
			return list_first_entry(&t->children,
						struct task_struct, sibling);
	}
	return NULL;
}

/*
 * Get the process after @p in a walk over @top and all its descendants, parents
 * before children.  NULL at the end.  tasklist_lock is held.
 */
static struct task_struct *utrace_process_after(struct task_struct *p,
						struct task_struct *top)
{
	struct task_struct *next = utrace_child_after(p, NULL), *parent;

	while (!next && p != top) {
		parent = rcu_dereference_protected(p->real_parent,
						   lockdep_is_held(&tasklist_lock));
		if (!list_is_last(&p->sibling, &parent->children))
			return list_next_entry(p, sibling);
		p = parent->group_leader;
		next = utrace_child_after(p, parent);
	}
	return next;
}

/*
 * Walk the scope of a process or tree engine, under RCU.  For a tree, and in
 * the last batch, tasklist_lock is held.
 */
static void utrace_walk_scope(struct utrace_walk *walk, unsigned int scope)
{
	struct task_struct *top, *p;

	top = pid_task(walk->change.engine->tgid, PIDTYPE_TGID);
	if (!top)
		return;
	utrace_walk_process(walk, top);
	if (scope != UTRACE_STATE_TREE)
		return;
	for (p = utrace_process_after(top, top); p;
	     p = utrace_process_after(p, top))
		utrace_walk_process(walk, p);
}

/*
 * Walk once over the scope and find tasks that lack the engine.  tasklist_lock
 * is held, so that no task is created, if the scope is a tree or if @last.
 */
static void utrace_walk_once(struct utrace_walk *walk, bool last)
{
	unsigned int scope = utrace_engine_state(walk->change.engine) &
			     UTRACE_STATE_SCOPE;

	guard(rcu)();	/* Keeps the tasks and their sets. */
	walk->known = NULL;
	if (!scope) {
		if (utrace_walk_wants(walk, walk->target))
			walk->found_one(walk, walk->target);
	} else if (scope == UTRACE_STATE_PROCESS && !last) {
		utrace_tasklist_barrier();
		utrace_walk_scope(walk, scope);
	} else {
		guard(read_lock)(&tasklist_lock);
		utrace_walk_scope(walk, scope);
	}
}

/* Drop the tasks found and make room for @max.  Returns 0 or -ENOMEM. */
static int utrace_walk_room(struct utrace_walk *walk, unsigned int max)
{
	utrace_walk_drop_tasks(walk);
	kvfree(walk->task);
	walk->max = 0;
	walk->task = kvmalloc_array(max, sizeof(*walk->task), GFP_KERNEL);
	if (!walk->task)
		return -ENOMEM;
	walk->max = max;
	return 0;
}

/* Walk until there is room for all tasks found.  Returns 0 or -ENOMEM. */
static int utrace_walk_find(struct utrace_walk *walk)
{
	unsigned int max = walk->max;

	if (!max &&
	    utrace_engine_state(walk->change.engine) & UTRACE_STATE_SCOPE)
		max = data_race(get_nr_threads(walk->target)); /* a guess */
	max = max ?: 1;
	walk->found_one = utrace_walk_keep;
	for (;;) {
		if (max > walk->max && utrace_walk_room(walk, max))
			return -ENOMEM;
		utrace_walk_drop_tasks(walk);
		utrace_walk_once(walk, false);
		if (walk->found <= walk->max)
			return 0;
		max = walk->found + walk->found / 8;
	}
}

/* Call ->may() for each task found.  Returns 0, -EPERM or -EINTR. */
static int utrace_walk_ask(struct utrace_walk *walk)
{
	unsigned int i;

	for (i = 0; walk->may && i < walk->found; i++) {
		if (!walk->may(walk->task[i], walk->data))
			return -EPERM;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/*
 * ->found_one of the last batch, with utrace_change_mutex and tasklist_lock
 * held, so that no task gets another domain and no task is created.  Gives the
 * task the successor of its domain at once, with a spare update.  Counts the
 * task as missed if there is no spare update or no successor.
 *
 * ->may() is not called for tasks created after utrace_walk_find(), as it is
 * not called for tasks that inherit the engine.
 */
static void utrace_last_update(struct utrace_walk *walk,
			       struct task_struct *task)
{
	struct utrace_successor *succ = NULL;
	struct utrace_domain *domain;
	struct utrace_update *update;

	if (walk->taken < walk->nspares) {
		domain = utrace_domain_of(task);
		succ = utrace_change_find(&walk->change, domain, false);
		utrace_domain_put(domain);
	}
	/* No spares, or utrace_last_make() has not found this domain. */
	if (!succ) {
		walk->missed++;
		return;
	}
	update = &walk->update[walk->taken++];
	update->task = get_task_struct(task);
	utrace_update_task(update, succ->set);
}

/* Make the successors for the tasks that were found.  Returns 0 or an error. */
static int utrace_last_make(struct utrace_walk *walk)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < walk->found && !ret; i++) {
		struct utrace_domain *domain = utrace_domain_of(walk->task[i]);

		ret = PTR_ERR_OR_ZERO(utrace_change_make(&walk->change, domain,
							 false));
		utrace_domain_put(domain);
	}
	return ret;
}

/*
 * Run the last batch, between utrace_change_begin() and utrace_change_end(),
 * with spares allocated.  Returns 0 or an error.  ->missed is the number of
 * tasks that did not get the engine.
 */
static int utrace_last_locked(struct utrace_walk *walk)
{
	int ret = utrace_last_make(walk);
	unsigned int i;

	if (ret)
		return ret;
	walk->found_one = utrace_last_update;
	utrace_walk_once(walk, true);
	utrace_batch_finish(walk, walk->taken);
	for (i = 0; i < walk->taken; i++)
		put_task_struct(walk->update[i].task);
	return 0;
}

/* Allocate spares for @n tasks not known yet.  Returns 0 or -ENOMEM. */
static int utrace_last_spares(struct utrace_walk *walk, unsigned int n)
{
	int ret = utrace_walk_alloc_updates(walk, n);

	walk->nspares = 0;
	while (!ret && walk->nspares < n) {
		unsigned int more = n - walk->nspares;
		struct utrace_update *update = &walk->update[walk->nspares++];

		ret = utrace_update_init(walk, update, NULL, more);
		if (!ret)
			update->member = utrace_walk_member(walk, more);
		if (!update->member)
			ret = -ENOMEM;
	}
	return ret;
}

/*
 * Try the last batch with spares for @n tasks.  Returns 0 or an error.
 * ->missed is the number of tasks that did not get the engine.
 */
static int utrace_last_try(struct utrace_walk *walk, unsigned int n)
{
	int ret = utrace_last_spares(walk, n);

	walk->taken = 0;
	walk->missed = 0;
	if (!ret)
		ret = utrace_change_begin(&walk->change, true);
	if (!ret) {
		ret = utrace_last_locked(walk);
		utrace_change_end(&walk->change);
	}
	utrace_drop_spares(walk->update, walk->nspares);
	return ret;
}

/*
 * Cover all remaining tasks in one batch, since new tasks are created as fast
 * as batches cover them.  Tries again with more spares if they did not suffice.
 * Returns 0 or an error.
 */
static int utrace_cover_last(struct utrace_walk *walk)
{
	unsigned int n = 16;
	int ret;

	do {
		ret = utrace_walk_find(walk);
		if (ret || !walk->found)
			return ret;
		ret = utrace_walk_ask(walk);
		if (ret)
			return ret;
		n = max(n, 2 * walk->found);
		ret = utrace_last_try(walk, n);
		n += 2 * walk->missed;
		if (fatal_signal_pending(current))
			return -EINTR;
	} while (!ret && walk->missed);
	return ret;
}

/*
 * Walk until a walk finds no task that lacks the engine.  Returns 0 or an
 * error.
 *
 * For a tree such a walk misses no task: tasklist_lock excludes forks and
 * reparenting, the walk visits the children of every thread, including zombies,
 * and a child of a covered task inherits the engine whatever its clone flags
 * are.  A task without the engine may leave the tree when its parent exits, or
 * create a child outside of the tree by CLONE_PARENT, only before the attach is
 * complete.
 */
static int utrace_cover_walk(struct utrace_walk *walk)
{
	unsigned int i;
	int ret;

	for (i = 0; i < UTRACE_WALKS; i++) {
		ret = utrace_walk_find(walk);
		if (ret || !walk->found)
			return ret;
		ret = utrace_walk_ask(walk) ?: utrace_run_batches(walk, true);
		if (ret)
			return ret;
		/* A thread engine needs no second walk. */
		if (!(utrace_engine_state(walk->change.engine) &
		      UTRACE_STATE_SCOPE))
			return 0;
	}
	return utrace_cover_last(walk);
}

/**
 * utrace_change_make_room() - remove a detached engine that occupies a slot
 * @change: the change, after utrace_change_make() returned -ENOSPC
 *
 * Does nothing if the caller is in a callback: the detach may wait for a
 * ->release() that waits for a lock that the callback holds.
 *
 * Context: May sleep.  Takes utrace_change_mutex.
 * Return:
 * * true - a detached engine was found, so the caller can try again
 * * false - there was none, or the caller is in a callback
 */
static bool utrace_change_make_room(struct utrace_change *change)
{
	struct utrace_engine *going = change->going;

	change->going = NULL;
	if (!going)
		return false;
	/* A callback may hold a lock that the work item's ->release() takes. */
	if (!utrace_in_callback())
		utrace_finish_detach(going);
	utrace_core_put(going);
	return !utrace_in_callback();
}

/*
 * Check whether to repeat a try that returned *@ret, after a sleep of a tick.
 * The attach to a newborn task also waits for memory.  Sets *@ret to -EINTR if
 * the caller is being killed.
 */
static bool utrace_cover_again(struct utrace_walk *walk, int *ret, bool newborn)
{
	if (!(newborn && *ret == -ENOMEM) &&
	    (*ret != -ENOSPC || !utrace_change_make_room(&walk->change)))
		return false;
	/* Another task may be completing a detach, or freeing memory. */
	schedule_timeout_killable(1);
	if (!fatal_signal_pending(current))
		return true;
	*ret = -EINTR;
	return false;
}

/**
 * utrace_cover() - add a new engine to all tasks of its scope
 * @engine: the engine, which wants no event yet; the caller has a reference
 * @target: the task where the scope begins; the caller has a reference
 * @may: permission check for each task that a walk finds, before the task gets
 *	the engine; may sleep.  Not called for tasks that inherit the engine or
 *	are created between the last two walks.  NULL: all tasks are permitted
 * @data: second argument of @may
 *
 * If this fails, some tasks may have the engine; the caller must detach it.
 *
 * Context: May sleep.  Takes tasklist_lock, and utrace_change_mutex for one
 * batch at a time.
 * Return:
 * * 0 - all tasks of the scope have the engine
 * * -ENOSPC - a task has no slot left
 * * -ENOMEM - no memory
 * * -EPERM - @may refused a task
 * * -EINTR - the caller has a fatal signal pending
 * * -ESRCH - all tasks of the scope are reaped
 */
static int utrace_cover(struct utrace_engine *engine, struct task_struct *target,
			bool (*may)(struct task_struct *task, void *data),
			void *data)
{
	struct utrace_walk walk;
	int ret;

	utrace_walk_init(&walk, engine);
	walk.target = target;
	walk.may = may;
	walk.data = data;
	do {
		ret = utrace_cover_walk(&walk);
	} while (utrace_cover_again(&walk, &ret, false));
	utrace_walk_destroy(&walk);
	return ret ?: walk.covered ? 0 : -ESRCH;
}

/**
 * utrace_cover_newborn() - add a new thread engine to its task
 * @engine: the engine, which wants no event yet; the caller has a reference
 *
 * Waits for memory.
 *
 * Context: May sleep.  Takes utrace_change_mutex.
 * Return:
 * * 0 - done, or @engine is detached
 * * -ENOSPC - the task has no slot left
 * * -EINTR - the caller would wait, and has a fatal signal pending
 */
static int utrace_cover_newborn(struct utrace_engine *engine)
{
	struct utrace_walk walk;
	int ret;

	utrace_walk_init(&walk, engine);
	walk.target = engine->task;
	do {
		ret = utrace_walk_find(&walk) ?:
		      utrace_run_batches(&walk, false);
	} while (utrace_cover_again(&walk, &ret, true));
	utrace_walk_destroy(&walk);
	return ret;
}

/* Attaching */

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

/* Get a reference to the first engine of @target that matches. */
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
		/* Only the attaching task uses an engine during its attach. */
		if (utrace_engine_state(at.engine) & UTRACE_STATE_ATTACHING ||
		    !utrace_matches(at.engine, target, flags, ops, data))
			continue;
		/* The engine in a set may have no reference left. */
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
 * Check whether a matching exclusive engine is being attached to @target, so
 * that an exclusive attach with these arguments must fail.  A tree engine that
 * is being attached to an ancestor of @target does not count, as if the attach
 * to @target had come first.  utrace_engine_lock is held.
 */
static bool utrace_is_attaching(struct task_struct *target, int flags,
				const struct utrace_engine_ops *ops, void *data)
{
	struct utrace_engine_info *info;

	guard(rcu)();	/* Keeps what task_tgid() returns. */
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
 * Claim @target for an exclusive engine, so that another exclusive attach that
 * matches fails.  Returns 0, or -EEXIST if such an attach has claimed @target
 * or an engine of @target matches.
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

/* Attach a new engine on behalf of @opener, see utrace_attach_for(). */
static struct utrace_engine *
utrace_attach_new(const struct cred *opener, struct task_struct *target,
		  int flags, const struct utrace_engine_ops *ops, void *data,
		  bool (*may)(struct task_struct *task, void *arg), void *arg)
{
	struct utrace_engine *engine;
	int ret;

	engine = utrace_engine_alloc(target, flags, ops, data,
				     utrace_uncover_work);
	if (IS_ERR(engine))
		return engine;
	ret = utrace_charge_engine(engine, opener);
	if (!ret && flags & UTRACE_ATTACH_EXCLUSIVE)
		ret = utrace_claim(engine, target, flags);
	if (!ret)
		ret = utrace_cover(engine, target, may, arg);
	/*
	 * From here on utrace_find() returns the engine.  Clear the bit before
	 * the engine leaves the list, so that utrace_claim() finds it in the
	 * list or by utrace_find().
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
 * @ops: callbacks, which the client must keep unchanged until the engine is
 *	released
 * @data: the client's data; the core passes it to ->release()
 *
 * Without %UTRACE_ATTACH_CREATE the first matching engine of @target is
 * returned.  An engine matches if it has the same scope and was attached to the
 * same target, or, with %UTRACE_ATTACH_ANY_SCOPE, whatever its scope is.
 *
 * With %UTRACE_ATTACH_CREATE a new engine is attached, which wants no event
 * yet.  Only passes that begin later can call it, not the pass of an event that
 * is being reported.
 *
 * A process engine covers all threads of @target's thread group.  A tree engine
 * also covers the current descendants of the process, except those that leave
 * the tree because a parent exits before the attach is complete.  Both cover
 * all tasks that their tasks create later.
 *
 * The caller must check permissions.
 *
 * Context: Process context, may sleep.  Callbacks may call it.  Takes
 * utrace_change_mutex and tasklist_lock, and cpus_read_lock() for the first
 * engine that exists, so a caller must not hold any of them.
 * Return:
 * * the engine, with a reference for the caller
 * * -EINVAL - unknown flags, two scopes, or CREATE without @ops
 * * -EPERM - CREATE, and @target is a kernel thread
 * * -ENOENT - without CREATE, and no engine matches
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
	engine = utrace_engine_alloc(NULL, flags, ops, data,
				     utrace_uncover_work);
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
 * @ops: callbacks, which the client must keep unchanged until the engine is
 *	released
 * @data: the client's data; the core passes it to ->release()
 *
 * The engine covers every existing and future user task, including pid 1 and
 * the tasks of all namespaces.  With %UTRACE_ATTACH_KTHREAD it also covers
 * kernel threads, which report CLONE, EXIT, DEATH and REAP.
 *
 * A system engine is an observer.  Its answers about signals and system calls
 * have no effect, nor has any resume action except %UTRACE_DETACH, and
 * utrace_control() can only detach it.  It cannot set SIGNAL_IGN: an ignored
 * signal that is queued for SIGNAL_IGN interrupts sleeps.
 *
 * DEATH and REAP are reported for tasks that had not begun to exit when the
 * engine set these events.  At its first event a task allocates a little
 * memory; if there is none, the event is lost, see utrace_lost_events().
 *
 * The caller must check permissions.
 *
 * Context: Process context, may sleep.  Callbacks may call it.  Takes
 * cpus_read_lock() for the first engine that exists, so the caller must not
 * hold it.
 * Return:
 * * the engine, with a reference for the caller
 * * -EINVAL - other flags, or @ops is NULL
 * * -ENOSPC - there are %UTRACE_MAX_SYSTEM system engines
 * * -ENOMEM - no memory
 */
struct utrace_engine *
utrace_attach_system(int flags, const struct utrace_engine_ops *ops, void *data)
{
	return utrace_attach_to_system(NULL, flags, ops, data);
}
EXPORT_SYMBOL_GPL(utrace_attach_system);

/**
 * utrace_attach_for() - attach a new engine on behalf of a program
 * @opener: credentials of the task that opened the session, kept by the caller;
 *	the engine is privileged if both @opener and the caller are.  NULL: the
 *	engine is one of kernel code
 * @target: see utrace_attach_task(); NULL: attach a system engine
 * @flags: without @target as for utrace_attach_system(), else as for
 *	utrace_attach_task(): %UTRACE_ATTACH_CREATE is implied, and flags are
 *	not checked
 * @ops: see utrace_attach_task(); not NULL
 * @data: see utrace_attach_task()
 * @may: permission check for each task of the scope before it gets the engine;
 *	may sleep.  Not called for tasks that are created during or after the
 *	attach, nor for a system engine.  NULL: all tasks are permitted
 * @arg: second argument of @may
 *
 * The engine is charged to the user until it is released, see
 * utrace_charge_engine().
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
 * @engine: a thread engine of the current task
 * @data: the client's data
 *
 * The new engine has the callbacks, the class and the privilege of @engine.  No
 * user is charged for it.
 *
 * Context: Process context, may sleep.
 * Return: the engine, with a reference for the caller, who passes it to
 * utrace_engine_set_task() or utrace_engine_abandon(); or -ENOMEM.
 */
struct utrace_engine *utrace_engine_like(struct utrace_engine *engine,
					 void *data)
{
	const unsigned int same = UTRACE_STATE_CLASS | UTRACE_STATE_OWN_EVENTS |
				  UTRACE_STATE_PRIVILEGED;
	struct utrace_engine *new;

	new = utrace_engine_alloc(current, UTRACE_ATTACH_CREATE, engine->ops,
				  data, utrace_uncover_work);
	if (IS_ERR(new))
		return new;
	atomic_or(utrace_engine_state(engine) & same, &new->state);
	new->info->uid = engine->info->uid;
	return new;
}

/**
 * utrace_engine_set_task() - set the task of an engine
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
 * @engine: the engine, from utrace_engine_like(); the call consumes the
 *	caller's reference
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
 * @engine: the engine, after utrace_engine_set_task(); the caller has a
 *	reference.  Its owner may detach it at any time
 *
 * The creator of the task waits, also for memory; only a fatal signal ends the
 * wait.
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
