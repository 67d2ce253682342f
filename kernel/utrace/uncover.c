// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a detached engine goes from its tasks
 *
 * The casts that have it are followed, not the scope: each leaves a successor to
 * children before the first task moves out of it, so that nobody is born with the
 * engine any more.  A system engine has no casts; its tasks are looked for.
 */
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "walk.h"

/* True if there is no room for more. */
static bool utrace_uncover_found(struct utrace_walk *walk,
				 struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	/*
	 * One that is being reaped leaves by itself.  Set once and for all; a task
	 * that is met before takes its turn in vain.
	 */
	if (u && !(data_race(u->flags) & UTRACE_TASK_REAPED) &&
	    tryget_task_struct(task))
		walk->task[walk->found++] = task;
	return walk->found == walk->max;
}

/*
 * Tasks that have a set for the system's engines alone, with this one: else each
 * would keep that, and a word, until it has an event.
 */
static void utrace_uncover_find_system(struct utrace_walk *walk)
{
	struct utrace_engine *engine = walk->change.engine;
	struct task_struct *p, *t;
	struct utrace_set *set;

	guard(rcu)();
	for_each_process_thread(p, t) {
		/* Under RCU a set may be looked at, and engines compared. */
		set = READ_ONCE(t->utrace_set);
		if (set && !set->cast && utrace_set_slot(set, engine) >= 0 &&
		    utrace_uncover_found(walk, t))
			return;
	}
}

/* The cast after @cast that has the engine, counted; @cast is let go. */
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

/* From here on nobody is born with the engine; 0 or -ENOMEM. */
static int utrace_uncover_make(struct utrace_walk *walk)
{
	struct utrace_engine *engine = walk->change.engine;
	struct utrace_cast *cast = NULL;

	while ((cast = utrace_cast_after(engine, cast))) {
		struct utrace_successor *succ;

		if (cast->replaced)
			continue;
		succ = utrace_change_make(&walk->change, cast);
		if (IS_ERR(succ)) {
			utrace_cast_put(cast);
			return PTR_ERR(succ);
		}
	}
	return 0;
}

/* Members of the casts that have the engine still. */
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
 * Some of those that have the engine.  The mutex keeps others from making casts with
 * it; and when all that there are leave a successor to children, finding nobody is
 * proof.  0 or -ENOMEM.
 */
static int utrace_uncover_look(struct utrace_walk *walk)
{
	unsigned int noio;
	int ret;

	utrace_walk_drop_tasks(walk);
	guard(mutex)(&utrace_change_mutex);
	noio = memalloc_noio_save();
	utrace_change_begin(&walk->change);
	ret = utrace_uncover_make(walk);
	if (!ret)
		utrace_uncover_find(walk);
	utrace_change_end(&walk->change);
	memalloc_noio_restore(noio);
	return ret;
}

/*
 * No task has a cast with the engine, nor is any born with one: what was left for
 * children is of no use any more.
 */
static void utrace_uncover_casts(struct utrace_engine *engine)
{
	struct utrace_role *role;

	/* Other rounds read it. */
	guard(mutex)(&utrace_change_mutex);
	guard(rcu)();
	list_for_each_entry_rcu(role, &engine->info->roles, list)
		utrace_set_put(xchg(&role->cast->next, NULL));
}

/**
 * utrace_uncover - take a detached engine out of all casts
 * @engine: the engine, on which the caller has a reference
 *
 * Callbacks that are running are counted first, as long as their tasks can be found.
 * Every cast with the engine leaves a successor to children before the first task
 * moves out of it, so that this comes to an end.  Without memory the casts keep the
 * engine, which is never called, until there is some.
 *
 * Context: May sleep.  Takes utrace_change_mutex for one round at a time; for an
 * engine of the system tasklist_lock.
 */
void utrace_uncover(struct utrace_engine *engine)
{
	struct utrace_walk walk;
	int ret;

	utrace_count_inside(engine);
	if (utrace_engine_is_system(engine)) {
		utrace_system_remove(engine);
		utrace_system_tell();
	}
	utrace_walk_init(&walk, engine);
	/* Two pages; a detach does not fail. */
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
	utrace_uncover_casts(engine);
	utrace_walk_destroy(&walk);
}
