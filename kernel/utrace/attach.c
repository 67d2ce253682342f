// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - attach and find: an engine is added to the tasks of its scope
 *
 * A walk finds the tasks of the scope that do not have the engine yet, and
 * batches give them sets with the engine (batch.c).  The attach is complete when
 * a walk finds no such task.  Where tasks are created faster than batches can
 * cover them, the last batch is made with tasklist_lock held, so that no task
 * is born meanwhile.
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

/* Walks that may find tasks, before tasklist_lock is held for a batch. */
#define UTRACE_WALKS		3

/*
 * Does a task still lack the engine?  Called under RCU, which keeps the set,
 * and without utrace->lock: a later walk finds what changes after this look,
 * and utrace_update_task() looks again under the lock.
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
	 * REAPED is never cleared.  If it is set after this, utrace_update_task() does
	 * nothing.
	 */
	if (data_race(u->flags) & UTRACE_TASK_REAPED)
		return false;
	if (utrace_set_slot(set, walk->change.engine) < 0)
		return true;
	walk->known = set;
	return false;
}

/*
 * ->found_one of all walks but the last: keep the task for a batch, and count
 * those for which there is no room.
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
 * Births are excluded if tasklist_lock is held.  Else the walk is under RCU,
 * after utrace_tasklist_barrier(), and misses no thread either.  Suppose that
 * thread X lacks the engine and was not met.  Threads are added to the end of
 * the list, so X was added after the walk had been there, and by a thread Y
 * that lacked the engine too, or X would have inherited it.  If the walk met Y,
 * it found a task, and another walk follows.  If not, Y was added in the same
 * way as X, and so on, back to a thread that was in the list at the barrier.
 *
 * A thread that is dead when it is met is not counted as found.  All threads
 * that it created were in the list before it died, so the walk meets them.
 */
static void utrace_walk_process(struct utrace_walk *walk,
				struct task_struct *process)
{
	struct task_struct *t;

	for_each_thread(process, t) {
		if (utrace_walk_wants(walk, t))
			walk->found_one(walk, t);
		/*
		 * The state of @t before the next thread in the list.  @t added
		 * threads with tasklist_lock held before it died, so if it is
		 * seen dead, these are seen, too.
		 */
		smp_rmb();
	}
}

/*
 * With tasklist_lock held: the first child of those threads of @process that
 * come after @t in the list, or of all its threads if @t is NULL.  NULL if
 * there is none.
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
 * With tasklist_lock held: the process after @p in a walk over @top and all its
 * descendants, parents before children.  NULL at the end.
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
 * Look once for tasks of the scope that lack the engine.  No task is born
 * during the look if it is the last one, or if the scope is a tree.
 */
static void utrace_walk_once(struct utrace_walk *walk, bool last)
{
	unsigned int scope = utrace_engine_state(walk->change.engine) &
			     UTRACE_STATE_SCOPE;

	guard(rcu)();	/* Keeps tasks, and the sets that are looked at. */
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

/* Forget the tasks found and make room for @max.  Returns 0 or -ENOMEM. */
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

/*
 * Look until there is room for all tasks that are found.  Returns 0 or -ENOMEM.
 */
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

/* Ask ->may() about each task that was found.  Returns 0, -EPERM or -EINTR. */
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
 * held: no domain changes and no task is born.  Gives the task the successor of
 * its domain at once, with one of the spares.  Counts the task as missed if all
 * spares are taken.
 *
 * ->may() is not asked about tasks that were born after utrace_walk_find(),
 * just as it is not asked about tasks that inherit the engine.
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
	/* No spares, or a domain that utrace_last_make() has not met. */
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
 * The last batch, between utrace_change_begin() and utrace_change_end(), with
 * spares at hand.  Returns 0 or an error; tasks that were left out are in
 * ->missed.
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

/*
 * Allocate spares for @n tasks, which are not known yet.  Returns 0 or -ENOMEM.
 */
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
 * Try the last batch with spares for @n tasks.  Returns 0 or an error; tasks
 * that were left out are in ->missed.
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
 * Cover all remaining tasks in one batch, since new tasks are born as fast as
 * batches cover them.  Tries again with more spares if the spares did not
 * suffice.  Returns 0 or an error.
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
 * For a tree such a walk misses no task: tasklist_lock excludes births and
 * reparenting, the walk looks at the children of every thread, those of zombies
 * included, and a child of a covered task inherits the engine whatever its
 * clone flags are.  A task without the engine may leave the tree by the exit of
 * its parent, and its child may be born outside of the tree by CLONE_PARENT.
 * Both happen only before the attach is complete.
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
		/* A thread engine needs no second look. */
		if (!(utrace_engine_state(walk->change.engine) &
		      UTRACE_STATE_SCOPE))
			return 0;
	}
	return utrace_cover_last(walk);
}

/**
 * utrace_change_make_room() - remove a detached engine that takes a slot
 * @change: the change, after utrace_change_make() returned -ENOSPC
 *
 * The call removes nothing if the caller is in a callback: the detach may have
 * to wait for a ->release() that waits for what the callback holds.
 *
 * Context: May sleep.  Takes utrace_change_mutex.
 * Return:
 * * true - a detached engine was found, and the caller can try again
 * * false - there was none, or the caller is in a callback
 */
static bool utrace_change_make_room(struct utrace_change *change)
{
	struct utrace_engine *going = change->going;

	change->going = NULL;
	if (!going)
		return false;
	/*
	 * A callback may hold a lock that the work item's ->release() waits
	 * for.
	 */
	if (!utrace_in_callback())
		utrace_finish_detach(going);
	utrace_core_put(going);
	return !utrace_in_callback();
}

/*
 * Should a try that returned *@ret be repeated?  If so, waits before.  A
 * newborn waits for memory, too.
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
 * @may: asks about each task that a walk finds, before the task is covered; may
 *	sleep.  Tasks that inherit the engine, or that are born between the last
 *	two walks, are not asked about.  NULL: all tasks may be covered
 * @data: second argument of @may
 *
 * If this fails, some tasks may have the engine; the caller detaches it.
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
 * utrace_cover_newborn() - add a new engine to the task that it is for
 * @engine: the engine, of the scope of a thread, which wants no event yet; the caller
 *	has a reference
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
				  data, utrace_uncover_work);
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
