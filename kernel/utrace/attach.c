// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - attach: an engine is added to the tasks of its scope
 *
 * A walk finds the tasks of the scope that do not have the engine yet, and
 * rounds give them sets with the engine (round.c).  The attach is complete when
 * a walk finds no such task.  Where tasks are created faster than rounds can
 * cover them, the last round is made with tasklist_lock held, so that no task
 * is born meanwhile.
 */
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "walk.h"

/* Walks that may find tasks, before tasklist_lock is held for a round. */
#define UTRACE_WALKS		3

/*
 * Does a task still lack the engine?  Called under RCU, which keeps the set,
 * and without utrace->lock: a later walk finds what changes after this look,
 * and utrace_turn() looks again under the lock.
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
	 * REAPED is never cleared.  If it is set after this, utrace_turn() does
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
 * ->found_one of all walks but the last: keep the task for a round, and count
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
 * the last round, tasklist_lock is held.
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
static void utrace_walk_look(struct utrace_walk *walk, bool last)
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
		utrace_walk_look(walk, false);
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
 * ->found_one of the last round, with utrace_change_mutex and tasklist_lock
 * held: no cast changes and no task is born.  Gives the task the successor of
 * its cast at once, with one of the spares.  Counts the task as missed if all
 * spares are taken.
 *
 * ->may() is not asked about tasks that were born after utrace_walk_find(),
 * just as it is not asked about tasks that inherit the engine.
 */
static void utrace_last_turn(struct utrace_walk *walk, struct task_struct *task)
{
	struct utrace_successor *succ = NULL;
	struct utrace_cast *cast;
	struct utrace_turn *turn;

	if (walk->taken < walk->nspares) {
		cast = utrace_cast_of(task);
		succ = utrace_change_find(&walk->change, cast, false);
		utrace_cast_put(cast);
	}
	/* No spares, or a cast that utrace_last_make() has not met. */
	if (!succ) {
		walk->missed++;
		return;
	}
	turn = &walk->turn[walk->taken++];
	turn->task = get_task_struct(task);
	utrace_turn(turn, succ->set);
}

/* Make the successors for the tasks that were found.  Returns 0 or an error. */
static int utrace_last_make(struct utrace_walk *walk)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < walk->found && !ret; i++) {
		struct utrace_cast *cast = utrace_cast_of(walk->task[i]);

		ret = PTR_ERR_OR_ZERO(utrace_change_make(&walk->change, cast,
							 false));
		utrace_cast_put(cast);
	}
	return ret;
}

/*
 * The last round, between utrace_change_begin() and utrace_change_end(), with
 * spares at hand.  Returns 0 or an error; tasks that were left out are in
 * ->missed.
 */
static int utrace_last_locked(struct utrace_walk *walk)
{
	int ret = utrace_last_make(walk);
	unsigned int i;

	if (ret)
		return ret;
	walk->found_one = utrace_last_turn;
	utrace_walk_look(walk, true);
	utrace_walk_settle(walk, walk->taken);
	for (i = 0; i < walk->taken; i++)
		put_task_struct(walk->turn[i].task);
	return 0;
}

/*
 * Allocate spares for @n tasks, which are not known yet.  Returns 0 or -ENOMEM.
 */
static int utrace_last_spares(struct utrace_walk *walk, unsigned int n)
{
	int ret = utrace_walk_turns(walk, n);

	walk->nspares = 0;
	while (!ret && walk->nspares < n) {
		unsigned int more = n - walk->nspares;
		struct utrace_turn *turn = &walk->turn[walk->nspares++];

		ret = utrace_turn_init(walk, turn, NULL, more);
		if (!ret)
			turn->member = utrace_walk_member(walk, more);
		if (!turn->member)
			ret = -ENOMEM;
	}
	return ret;
}

/*
 * Try the last round with spares for @n tasks.  Returns 0 or an error; tasks
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
	utrace_drop_spares(walk->turn, walk->nspares);
	return ret;
}

/*
 * Cover all remaining tasks in one round, since new tasks are born as fast as
 * rounds cover them.  Tries again with more spares if the spares did not
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
		ret = utrace_walk_ask(walk) ?: utrace_rounds(walk, true);
		if (ret)
			return ret;
		/* A thread engine needs no second look. */
		if (!(utrace_engine_state(walk->change.engine) &
		      UTRACE_STATE_SCOPE))
			return 0;
	}
	return utrace_cover_last(walk);
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
 * round at a time.
 * Return:
 * * 0 - all tasks of the scope have the engine
 * * -ENOSPC - a task has no slot left
 * * -ENOMEM - no memory
 * * -EPERM - @may refused a task
 * * -EINTR - the caller has a fatal signal pending
 * * -ESRCH - all tasks of the scope are reaped
 */
int utrace_cover(struct utrace_engine *engine, struct task_struct *target,
		 bool (*may)(struct task_struct *task, void *data), void *data)
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
int utrace_cover_newborn(struct utrace_engine *engine)
{
	struct utrace_walk walk;
	int ret;

	utrace_walk_init(&walk, engine);
	walk.target = engine->task;
	do {
		ret = utrace_walk_find(&walk) ?: utrace_rounds(&walk, false);
	} while (utrace_cover_again(&walk, &ret, true));
	utrace_walk_destroy(&walk);
	return ret;
}
