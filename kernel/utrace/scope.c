// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - scopes: which tasks an engine covers
 *
 * A thread engine names its task, a process engine the struct pid of the
 * thread group, which moves to the survivor of an execve().  A tree has no
 * list of its members: a task belongs to it if the engine is in its set.
 * Children inherit under tasklist_lock (for writing) and the parent's
 * siglock, so a round that finds everybody covered has missed nobody who is a
 * descendant then.  A task whose last ancestor in the tree exits between two
 * rounds is reparented and not found, like those that were before the attach.
 */
#include <linux/resume_user_mode.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * struct utrace_walk - a walk that gives tasks another set
 * @engine: added to each set, or left out of it if it is detached
 * @known: @set is what replaces @old
 * @old: counted
 * @set: counted
 * @want: a set was met that is neither, it is @wanted
 * @wanted: counted; may be NULL
 * @stuck: tasks that could not be given a set for want of something
 * @bare: of those, the ones without a struct utrace
 * @covered: tasks that are as they should be
 * @nspare: elements of @spare
 * @spare: struct utrace for tasks that have none
 *
 * What is missing cannot be allocated under the locks of the walk.  The walk
 * counts it and is repeated until nothing was missing.
 */
struct utrace_walk {
	struct utrace_engine *engine;
	bool known;
	struct utrace_set *old;
	struct utrace_set *set;
	bool want;
	struct utrace_set *wanted;
	unsigned int stuck;
	unsigned int bare;
	unsigned int covered;
	unsigned int nspare;
	void **spare;
};

/*
 * The first set of a task that is being reaped came too late for the hook in
 * release_task() if exit_state was EXIT_DEAD before: one of the two sees the
 * other, since utrace_publish() and the change of exit_state are both full
 * barriers.  Take the set back unless the hook has it.
 */
static bool utrace_take_back(struct task_struct *task, struct utrace *u,
			     struct utrace_set **drop)
{
	struct utrace_set *set;

	if (READ_ONCE(task->exit_state) != EXIT_DEAD)
		return false;
	guard(spinlock_irqsave)(&u->lock);
	if (u->flags & UTRACE_TASK_REAPED)
		return false;
	u->flags |= UTRACE_TASK_REAPED;
	set = task->utrace_set;
	task->utrace_set = NULL;
	WRITE_ONCE(task->utrace_events, 0);
	/* The task may be in the pass of its death. */
	*drop = utrace_defer(u, set);
	return true;
}

/* The struct utrace of a task, one of the spares if it has none; or NULL. */
static struct utrace *utrace_walk_utrace(struct utrace_walk *walk,
					 struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	if (u)
		return u;
	if (!walk->nspare) {
		walk->bare++;
		walk->stuck++;
		return NULL;
	}
	u = walk->spare[walk->nspare - 1];
	if (!utrace_install(task, u))
		return task->utrace;
	walk->nspare--;
	return u;
}

/*
 * Only this walk publishes now.  What comes back is a set on which the walk
 * has a reference too, so this is not the last one.
 */
static void utrace_walk_publish(struct utrace_walk *walk,
				struct task_struct *task, struct utrace *u,
				bool first)
{
	struct utrace_set *drop;
	bool back;

	drop = utrace_publish(task, u, utrace_set_get(walk->set));
	/* It comes back if the task was reaped meanwhile. */
	back = drop == walk->set || (first && utrace_take_back(task, u, &drop));
	if (!back)
		walk->covered++;
	if (drop)
		refcount_dec(&drop->ref);
}

static void utrace_walk_one(struct utrace_walk *walk, struct task_struct *task)
{
	bool remove = utrace_engine_detached(walk->engine);
	struct utrace_set *set;
	struct utrace *u;

	/* Without one it has no set either. */
	if (remove && !READ_ONCE(task->utrace))
		return;
	u = utrace_walk_utrace(walk, task);
	if (!u)
		return;
	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return;
		set = task->utrace_set;
		if ((utrace_set_slot(set, walk->engine) >= 0) != remove) {
			/* What it was to rebuild for may be gone. */
			if (remove && !set)
				utrace_set_word(task, utrace_bare_events(task));
			walk->covered++;
			return;
		}
		if (!walk->known || set != walk->old) {
			walk->stuck++;
			if (!walk->want)
				walk->wanted = utrace_set_get(set);
			walk->want = true;
			return;
		}
	}
	utrace_walk_publish(walk, task, u, !set);
}

static bool utrace_is_descendant(struct task_struct *task, struct pid *tgid)
{
	struct task_struct *p;

	for (p = task; p->pid;
	     p = rcu_dereference_protected(p->real_parent,
					   lockdep_is_held(&tasklist_lock)))
		if (task_tgid(p) == tgid)
			return true;
	return false;
}

/* One round.  Removing looks at everybody: members may be anywhere. */
static void utrace_walk_round(struct utrace_walk *walk)
{
	struct utrace_engine *engine = walk->engine;
	unsigned int scope = utrace_engine_state(engine) & UTRACE_STATE_SCOPE;
	bool remove = utrace_engine_detached(engine);
	struct task_struct *p, *t;

	walk->stuck = 0;
	walk->bare = 0;
	walk->covered = 0;
	read_lock(&tasklist_lock);
	if (!scope) {
		utrace_walk_one(walk, engine->task);
	} else if (scope == UTRACE_STATE_PROCESS) {
		p = pid_task(engine->tgid, PIDTYPE_TGID);
		if (p)
			for_each_thread(p, t)
				utrace_walk_one(walk, t);
	} else {
		for_each_process(p) {
			if (!remove && !utrace_is_descendant(p, engine->tgid))
				continue;
			for_each_thread(p, t)
				utrace_walk_one(walk, t);
		}
	}
	read_unlock(&tasklist_lock);
}

static bool utrace_has_detached(const struct utrace_set *set)
{
	struct utrace_engine *engine;
	unsigned int i, slot;

	if (!set)
		return false;
	utrace_for_each(set, UTRACE_LIST_ALL, i, slot, engine)
		if (utrace_engine_detached(engine))
			return true;
	return false;
}

/* Get what the last round lacked.  Not fewer spares than it counted. */
static int utrace_walk_supply(struct utrace_walk *walk)
{
	struct utrace_set *set;

	if (walk->bare) {
		unsigned int i, n = walk->bare + 4;
		void **spare = kvcalloc(n, sizeof(*spare), GFP_KERNEL);

		if (!spare)
			return -ENOMEM;
		kvfree(walk->spare);
		walk->spare = spare;
		for (i = 0; i < n; i++) {
			spare[i] = utrace_alloc(GFP_KERNEL_ACCOUNT);
			if (!spare[i])
				return -ENOMEM;
			walk->nspare++;
		}
	}
	if (!walk->want)
		return 0;

	set = utrace_set_build(walk->wanted,
			       utrace_engine_detached(walk->engine) ?
			       NULL : walk->engine);
	if (IS_ERR(set))
		return PTR_ERR(set);
	swap(walk->old, walk->wanted);
	swap(walk->set, set);
	walk->known = true;
	walk->want = false;
	/*
	 * The last put of an engine calls ->release().  What is known stays
	 * true without the mutex, unless an engine of it was detached: the walk
	 * that took it out of all sets did not see this one.
	 */
	mutex_unlock(&utrace_mutex);
	utrace_set_put(set);
	utrace_set_put(walk->wanted);
	walk->wanted = NULL;
	mutex_lock(&utrace_mutex);
	if (utrace_has_detached(walk->set))
		walk->known = false;
	return 0;
}

static int utrace_walk(struct utrace_walk *walk)
{
	/* As utrace_rebuild(), which waits for this. */
	unsigned int noio = memalloc_noio_save();
	int ret;

	mutex_lock(&utrace_mutex);
	do {
		utrace_walk_round(walk);
		ret = walk->stuck ? utrace_walk_supply(walk) : 0;
	} while (!ret && walk->stuck);
	mutex_unlock(&utrace_mutex);
	memalloc_noio_restore(noio);

	while (walk->nspare)
		utrace_free(walk->spare[--walk->nspare]);
	kvfree(walk->spare);
	utrace_set_put(walk->wanted);
	utrace_set_put(walk->old);
	utrace_set_put(walk->set);
	return ret;
}

/**
 * utrace_cover - put a new engine into the sets of all tasks of its scope
 * @engine: the engine; no event is asked for yet
 *
 * Context: May sleep.  Takes utrace_mutex and tasklist_lock.
 * Return: 0; -ENOSPC: a task has no slot left; -ENOMEM; -ESRCH: there is
 * nobody, all are reaped.  On error the caller detaches the engine.
 */
int utrace_cover(struct utrace_engine *engine)
{
	struct utrace_walk walk = { .engine = engine };
	int ret = utrace_walk(&walk);

	return ret ?: walk.covered ? 0 : -ESRCH;
}

/**
 * utrace_uncover - take a detached engine out of all sets
 * @engine: the engine, on which the caller has a reference
 *
 * Context: May sleep.  Takes utrace_mutex and tasklist_lock.
 */
void utrace_uncover(struct utrace_engine *engine)
{
	if (utrace_engine_is_system(engine)) {
		utrace_system_remove(engine);
		utrace_system_tell(0);
	}
	/* Without memory the sets keep the engine, which is never called. */
	do {
		struct utrace_walk walk = { .engine = engine };

		if (!utrace_walk(&walk))
			break;
		cond_resched();
	} while (true);
	utrace_memo_drop();
}

/* Is @task, on which the caller has a reference, in the engine's scope? */
static bool utrace_covers(struct utrace_engine *engine, struct task_struct *task)
{
	unsigned int scope = utrace_engine_state(engine) & UTRACE_STATE_SCOPE;
	struct utrace *u;

	if (!scope)
		return task == engine->task;
	if (scope == UTRACE_STATE_SYSTEM)
		return !(task->flags & PF_KTHREAD) ||
		       utrace_engine_state(engine) & UTRACE_STATE_KTHREAD;
	u = READ_ONCE(task->utrace);
	if (!u)
		return false;
	guard(spinlock_irqsave)(&u->lock);
	return utrace_set_slot(task->utrace_set, engine) >= 0;
}

/**
 * utrace_addresses - does this pair of arguments name tasks of an engine?
 * @engine: the engine
 * @target: what the client gave: a task on which it has a reference, or NULL
 *
 * Context: Any but NMI.  Takes @target's utrace->lock.
 * Return: false if the engine is detached, or @target is not in its scope.
 */
bool utrace_addresses(struct utrace_engine *engine, struct task_struct *target)
{
	if (utrace_engine_detached(engine))
		return false;
	return !target || utrace_covers(engine, target);
}

/* Call @fn for a task if the engine is in its set. */
static void utrace_member(struct utrace_engine *engine,
			  struct task_struct *task, utrace_member_fn fn,
			  void *arg)
{
	struct utrace *u = READ_ONCE(task->utrace);
	unsigned int after = 0;

	if (!u)
		return;
	scoped_guard(spinlock_irqsave, &u->lock) {
		int slot = utrace_set_slot(task->utrace_set, engine);

		if (slot >= 0)
			after = fn(engine, task, u, BIT_ULL(slot), arg);
	}
	if (after & UTRACE_AFTER_INTERRUPT)
		utrace_interrupt(task);
	if (after & UTRACE_AFTER_STOPPED)
		utrace_interrupt_stopped(task);
	if (after & UTRACE_AFTER_NOTIFY)
		set_notify_resume(task);
	if (after & UTRACE_AFTER_WAKE)
		utrace_wake(task, u);
}

/**
 * utrace_visit_members - call a function for the tasks of a scope
 * @engine: the engine
 * @target: one task of it, or NULL for all
 * @fn: called under the task's utrace->lock with the engine's slot as a bit;
 *	returns what is to be done when the lock is released, UTRACE_AFTER_*
 * @arg: for @fn
 *
 * A task that the engine joins or leaves meanwhile may be missed, except that
 * children are not: tasklist_lock is held for all.
 *
 * Context: Any but NMI.  Takes tasklist_lock for process and tree scope.
 */
void utrace_visit_members(struct utrace_engine *engine,
			  struct task_struct *target, utrace_member_fn fn,
			  void *arg)
{
	unsigned int scope = utrace_engine_state(engine) & UTRACE_STATE_SCOPE;
	struct task_struct *p, *t;

	if (!scope)
		target = engine->task;
	if (target) {
		utrace_member(engine, target, fn, arg);
		return;
	}

	read_lock(&tasklist_lock);
	if (scope == UTRACE_STATE_PROCESS) {
		p = pid_task(engine->tgid, PIDTYPE_TGID);
		if (p)
			for_each_thread(p, t)
				utrace_member(engine, t, fn, arg);
	} else {
		for_each_process_thread(p, t)
			utrace_member(engine, t, fn, arg);
	}
	read_unlock(&tasklist_lock);
}
