// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - an engine comes to its tasks
 *
 * The tasks that a walk finds take the engine in rounds, see round.c.  A look for
 * tasks holds tasklist_lock if the scope is a tree, or if it is the last one.
 *
 * An attach is complete when a walk finds every task of the scope covered.  It
 * misses nobody: each thread's children are looked at, zombie leaders' too;
 * reparenting and births need tasklist_lock for writing; children of covered tasks
 * inherit, whatever flags they are created with.  A task that left the tree, or was
 * born outside of it, by the doing of one that was not covered yet came before the
 * attach.
 *
 * The threads of a process are walked under RCU, after utrace_tasklist_barrier().
 * Suppose that thread X is not covered and the walk did not meet it.  Then X was
 * added to the end of the list after the walk had got there, by a thread Y that was
 * not covered either.  Either the walk met Y, which counts as a newcomer, or Y was
 * created in the same way, and so on back to a thread that was in the list at the
 * barrier.  A dead thread is passed by: all that it created were in the list before
 * it died, and the walk reads where the list goes on after it saw that.
 *
 * Where tasks are created faster than covered, the last round is made with
 * tasklist_lock held.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "walk.h"

/* Walks that may find newcomers before births are stopped for one. */
#define UTRACE_WALKS		3

/*
 * Is a task still to be given the engine?  Asked without its lock: what changes
 * meanwhile is found by a later walk, or by the task's turn.
 */
static bool utrace_walk_wants(struct utrace_walk *walk, struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);
	struct utrace_set *set;

	if (!u)
		return READ_ONCE(task->exit_state) != EXIT_DEAD;
	set = READ_ONCE(task->utrace_set);
	if (set && set == walk->known)
		return false;
	/* Set once and for all; a task that is met before takes its turn in vain. */
	if (data_race(u->flags) & UTRACE_TASK_REAPED)
		return false;
	if (utrace_set_slot(set, walk->change.engine) < 0)
		return true;
	walk->known = set;
	return false;
}

/* The usual thing to do: keep it for a round. */
static void utrace_walk_keep(struct utrace_walk *walk, struct task_struct *task)
{
	if (walk->found < walk->max)
		walk->task[walk->found] = get_task_struct(task);
	walk->found++;
}

static void utrace_walk_process(struct utrace_walk *walk,
				struct task_struct *process)
{
	struct task_struct *t;

	for_each_thread(process, t) {
		if (utrace_walk_wants(walk, t))
			walk->found_one(walk, t);
		/*
		 * The state of @t before what comes next; pairs with tasklist_lock, under
		 * which the children of @t were added before it died.
		 */
		smp_rmb();
	}
}

/* The first child of the threads of a process that come after @t; or NULL. */
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

/* What follows @p in a walk over all below @top, parents first; NULL at the end. */
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

/* The tasks of a process, or of a tree; for the latter tasklist_lock is held. */
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

/* One look for tasks that are not covered; the last, and any at a tree, has no births. */
static void utrace_walk_look(struct utrace_walk *walk, bool last)
{
	unsigned int scope = utrace_engine_state(walk->change.engine) &
			     UTRACE_STATE_SCOPE;

	guard(rcu)();	/* For the sets that are looked at, too. */
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

/* Room for @max tasks; 0 or -ENOMEM. */
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

/* One look with room for all of them; 0 or -ENOMEM. */
static int utrace_walk_find(struct utrace_walk *walk)
{
	unsigned int max = walk->max;

	if (!max && utrace_engine_state(walk->change.engine) & UTRACE_STATE_SCOPE)
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

/* Ask about all that were found; 0 or an error. */
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
 * The last round: births are stopped, and so are changes of casts.  Each task takes
 * a turn with its spares, as far as they go.  Those that were born since the tasks
 * were found are not asked about, as those that are born later are not.
 */
static void utrace_last_turn(struct utrace_walk *walk, struct task_struct *task)
{
	struct utrace_successor *succ = NULL;
	struct utrace_cast *cast;
	struct utrace_turn *turn;

	if (walk->taken < walk->nspares) {
		cast = utrace_cast_of(task);
		succ = utrace_change_find(&walk->change, cast);
		utrace_cast_put(cast);
	}
	/* Somebody changed its cast since the tasks were found, or no spares. */
	if (!succ) {
		walk->missed++;
		return;
	}
	turn = &walk->turn[walk->taken++];
	turn->task = get_task_struct(task);
	utrace_turn(turn, succ->set);
}

/* Make what follows the casts of the tasks that were found; 0 or an error. */
static int utrace_last_make(struct utrace_walk *walk)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < walk->found && !ret; i++) {
		struct utrace_cast *cast = utrace_cast_of(walk->task[i]);

		ret = PTR_ERR_OR_ZERO(utrace_change_make(&walk->change, cast));
		utrace_cast_put(cast);
	}
	return ret;
}

/* With the mutex and the spares; 0 or an error. */
static int utrace_last_locked(struct utrace_walk *walk)
{
	unsigned int noio = memalloc_noio_save(), i;
	int ret;

	utrace_change_begin(&walk->change);
	ret = utrace_last_make(walk);
	if (!ret) {
		walk->found_one = utrace_last_turn;
		utrace_walk_look(walk, true);
		utrace_walk_settle(walk, walk->taken);
		for (i = 0; i < walk->taken; i++)
			put_task_struct(walk->turn[i].task);
	}
	utrace_change_end(&walk->change);
	memalloc_noio_restore(noio);
	return ret;
}

/* Spares for @n tasks, which are not known yet; 0 or -ENOMEM. */
static int utrace_last_spares(struct utrace_walk *walk, unsigned int n)
{
	int ret = utrace_walk_turns(walk, n);

	walk->nspares = 0;
	while (!ret && walk->nspares < n) {
		unsigned int more = n - walk->nspares;
		struct utrace_turn *turn = &walk->turn[walk->nspares++];

		ret = utrace_turn_init(walk, turn, NULL, more);
		if (!ret)
			turn->member = utrace_walk_member(walk, GFP_KERNEL_ACCOUNT,
							  more);
		if (!turn->member)
			ret = -ENOMEM;
	}
	return ret;
}

/* One try with spares for @n tasks; 0 or an error, and ->missed. */
static int utrace_last_try(struct utrace_walk *walk, unsigned int n)
{
	int ret = utrace_last_spares(walk, n);

	walk->taken = 0;
	walk->missed = 0;
	if (!ret)
		ret = mutex_lock_killable(&utrace_change_mutex);
	if (!ret) {
		ret = utrace_last_locked(walk);
		mutex_unlock(&utrace_change_mutex);
	}
	utrace_drop_members(walk->turn, walk->nspares);
	utrace_drop_spares(walk->turn, walk->nspares);
	return ret;
}

/* Tasks are created as fast as they are covered: those that are left, at once. */
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
		/* One task needs no second look. */
		if (!(utrace_engine_state(walk->change.engine) &
		      UTRACE_STATE_SCOPE))
			return 0;
	}
	return utrace_cover_last(walk);
}

/**
 * utrace_cover - put a new engine into the casts of all tasks of its scope
 * @engine: the engine; no event is asked for yet
 * @target: the task where its scope begins
 * @may: asked about the tasks that are found, by @data, before they are covered;
 *	NULL: all of them may be.  Nobody asks about tasks that are born from then on
 * @data: for @may
 *
 * Context: May sleep.  Takes utrace_change_mutex for one round at a time.
 * Return: 0; -ENOSPC: a task has no slot left; -ENOMEM; -EPERM: @may refused;
 * -EINTR: SIGKILL; -ESRCH: there is nobody, all are reaped.  On error the caller
 * detaches the engine.
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
	for (;;) {
		ret = utrace_cover_walk(&walk);
		if (ret != -ENOSPC || !utrace_change_make_room(&walk.change))
			break;
		/* Somebody else may be at it. */
		schedule_timeout_killable(1);
		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
	}
	utrace_walk_destroy(&walk);
	return ret ?: walk.covered ? 0 : -ESRCH;
}
