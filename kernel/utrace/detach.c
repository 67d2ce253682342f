// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - detach: an engine is removed from its tasks
 *
 * The walk follows the casts that have the engine, not the scope.  Each such
 * cast is replaced before its first task gets another set: children then
 * inherit a set without the engine (utrace_cast::next), so the walk comes to an
 * end however fast tasks are born.  An engine of the system is in no cast; its
 * tasks are found by a look at all sets.
 */
#include <linux/memcontrol.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "walk.h"

/*
 * Keep a task for a round.  Returns true if there is no room for another one.
 */
static bool utrace_uncover_found(struct utrace_walk *walk,
				 struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	/*
	 * A task that is being reaped leaves its cast by itself.  REAPED is
	 * never cleared; if it is set after this, utrace_turn() does nothing.
	 */
	if (u && !(data_race(u->flags) & UTRACE_TASK_REAPED) &&
	    tryget_task_struct(task))
		walk->task[walk->found++] = task;
	return walk->found == walk->max;
}

/*
 * Find tasks whose set has no cast, and has this engine of the system: they
 * would keep the set and an event word until their next event.  Tasks with a
 * cast renew their sets then.
 */
static void utrace_uncover_find_system(struct utrace_walk *walk)
{
	struct utrace_engine *engine = walk->change.engine;
	struct task_struct *p, *t;
	struct utrace_set *set;

	guard(rcu)();
	for_each_process_thread(p, t) {
		/* RCU keeps the set; its engines are only compared. */
		set = READ_ONCE(t->utrace_set);
		if (set && !set->cast && utrace_set_slot(set, engine) >= 0 &&
		    utrace_uncover_found(walk, t))
			return;
	}
}

/*
 * Get a reference to the cast that follows @cast in the engine's roles, or to
 * the first one if @cast is NULL.  Drops the reference to @cast.  NULL at the
 * end.
 */
static struct utrace_cast *utrace_cast_after(struct utrace_engine *engine,
					     struct utrace_cast *cast)
{
	struct list_head *roles = &engine->info->roles;
	struct utrace_cast *next = NULL;
	struct list_head *node = roles;
	unsigned int i;

	for (i = 0; cast && i < cast->nroles; i++)
		if (cast->role[i].engine == engine)
			node = &cast->role[i].list;
	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		for (node = node->next; node != roles && !next;
		     node = node->next) {
			next = list_entry(node, struct utrace_role, list)->cast;
			if (!refcount_inc_not_zero(&next->ref))
				next = NULL;
		}
	}
	utrace_cast_put(cast);
	return next;
}

/*
 * Replace all casts that have the engine: from here on no child inherits it.
 * Returns 0 or -ENOMEM.
 */
static int utrace_uncover_make(struct utrace_walk *walk)
{
	struct utrace_engine *engine = walk->change.engine;
	struct utrace_cast *cast = NULL;

	while ((cast = utrace_cast_after(engine, cast))) {
		struct utrace_successor *succ;

		if (cast->replaced)
			continue;
		succ = utrace_change_make(&walk->change, cast, false);
		if (IS_ERR(succ)) {
			utrace_cast_put(cast);
			return PTR_ERR(succ);
		}
	}
	return 0;
}

/* Find tasks that still have the engine, as many as there is room for. */
static void utrace_uncover_find(struct utrace_walk *walk)
{
	struct utrace_engine *engine = walk->change.engine;
	struct utrace_member *member;
	struct utrace_role *role;

	if (utrace_engine_is_system(engine)) {
		utrace_uncover_find_system(walk);
		return;
	}
	if (!(utrace_engine_state(engine) & UTRACE_STATE_SCOPE)) {
		if (utrace_covers(engine, engine->task))
			utrace_uncover_found(walk, engine->task);
		return;
	}
	guard(rcu)();
	list_for_each_entry_rcu(role, &engine->info->roles, list) {
		list_for_each_entry_rcu(member, &role->cast->members, list) {
			if (utrace_uncover_found(walk, member->task))
				return;
		}
	}
}

/*
 * Look once for tasks that still have the engine.  Returns 0 or -ENOMEM.
 *
 * utrace_change_mutex keeps attaches and detaches from making casts with the
 * engine, and children do not inherit it from the casts that exist.  So if the
 * look finds no task, no task has the engine, and none will get it.
 */
static int utrace_uncover_look(struct utrace_walk *walk)
{
	int ret;

	utrace_walk_drop_tasks(walk);
	utrace_change_begin(&walk->change, false);
	ret = utrace_uncover_make(walk);
	if (!ret)
		utrace_uncover_find(walk);
	utrace_change_end(&walk->change);
	return ret;
}

/*
 * Drop what children of the engine's tasks were to inherit: no task has a cast
 * with the engine any more, so no child inherits from one.
 */
static void utrace_uncover_casts(struct utrace_engine *engine)
{
	struct utrace_role *role;

	/* utrace_change_make() reads ->next of a replaced cast. */
	guard(mutex)(&utrace_change_mutex);
	guard(rcu)();
	list_for_each_entry_rcu(role, &engine->info->roles, list)
		utrace_set_put(xchg(&role->cast->next, NULL));
}

/*
 * A detach must not fail, and what it makes takes the place of what attaches
 * were charged with.  So from here on nobody is charged with what the current
 * task allocates; set_active_memcg() with the answer ends that.
 */
static struct mem_cgroup *utrace_charge_nobody(void)
{
#ifdef CONFIG_MEMCG
	return set_active_memcg(root_mem_cgroup);
#else
	return NULL;
#endif
}

/**
 * utrace_uncover() - remove a detached engine from all tasks and casts
 * @engine: the engine; the caller has a count in utrace_engine_info::core
 *
 * Counts the running callbacks first, while the casts still lead to their
 * tasks.  Without memory it tries again at each tick; meanwhile casts keep the
 * engine, and no pass calls it.
 *
 * Context: May sleep.  Takes utrace_change_mutex for one round at a time, and
 * tasklist_lock for an engine of the system.
 */
void utrace_uncover(struct utrace_engine *engine)
{
	struct mem_cgroup *charged;
	struct utrace_walk walk;
	int ret;

	utrace_count_inside(engine);
	charged = utrace_charge_nobody();
	if (utrace_engine_is_system(engine)) {
		utrace_system_change(engine);
		utrace_system_tell();
	}
	utrace_walk_init(&walk, engine);
	/* Two pages; a detach must not fail. */
	walk.task = kvmalloc_array(UTRACE_ROUND, sizeof(*walk.task),
				   GFP_KERNEL | __GFP_NOFAIL);
	walk.max = UTRACE_ROUND;
	do {
		ret = utrace_uncover_look(&walk);
		if (!ret && !walk.found)
			break;
		ret = ret ?: utrace_rounds(&walk, false);
		if (ret)
			schedule_timeout_uninterruptible(1);
	} while (true);
	set_active_memcg(charged);
	utrace_uncover_casts(engine);
	utrace_walk_destroy(&walk);
}
