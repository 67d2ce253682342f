// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - detach: remove an engine from its tasks
 *
 * A detach marks the engine as detached and clears its events at once.  A work
 * item then removes the engine from the domains.  An uninterruptible barrier, a
 * barrier in a callback and utrace_engine_shutdown() do not leave that to the
 * work item.
 *
 * The walk follows the domains that have the engine, not the scope.  Each such
 * domain is replaced before its first task gets another set: from then on
 * children inherit a set without the engine (utrace_domain::next), so the walk
 * ends, however fast tasks are created.  A system engine is in no domain; its
 * tasks are found by checking the sets of all tasks.
 */
#include <linux/memcontrol.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "barrier.h"
#include "builtin.h"
#include "detach.h"
#include "engine.h"
#include "scope.h"
#include "scope_system.h"
#include "set.h"
#include "wake.h"
#include "walk.h"

#include <trace/events/utrace_core.h>

/* Runs utrace_uncover_work(), which never waits for a callback. */
static struct workqueue_struct *utrace_wq __ro_after_init;

static int __init utrace_detach_init(void)
{
	utrace_wq = alloc_workqueue("utrace", WQ_UNBOUND, 0);
	return utrace_wq ? 0 : -ENOMEM;
}
core_initcall(utrace_detach_init);

/* Add a task to the walk.  Returns true if there is no room for another one. */
static bool utrace_uncover_found(struct utrace_walk *walk,
				 struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	/*
	 * The reaper removes a task from its domain.  REAPED is never cleared;
	 * if it is set after this, utrace_update_task() does nothing.
	 */
	if (u && !(data_race(u->flags) & UTRACE_TASK_REAPED) &&
	    tryget_task_struct(task))
		walk->task[walk->found++] = task;
	return walk->found == walk->max;
}

/*
 * Find tasks whose set has this system engine and no domain: they would keep
 * the set and an event word until their next event.  Tasks with a domain renew
 * their sets then.
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
		if (set && !set->domain && utrace_set_slot(set, engine) >= 0 &&
		    utrace_uncover_found(walk, t))
			return;
	}
}

/*
 * Get a reference to the domain after @domain in the list of the engine's
 * links, or to the first one if @domain is NULL.  Consumes the reference to
 * @domain.  NULL at the end of the list.
 */
static struct utrace_domain *utrace_domain_after(struct utrace_engine *engine,
						 struct utrace_domain *domain)
{
	struct list_head *links = &engine->info->links;
	struct utrace_domain *next = NULL;
	struct list_head *node = links;
	unsigned int i;

	for (i = 0; domain && i < domain->nlinks; i++)
		if (domain->link[i].engine == engine)
			node = &domain->link[i].list;
	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		for (node = node->next; node != links && !next;
		     node = node->next) {
			next = list_entry(node, struct utrace_link,
					  list)->domain;
			if (!refcount_inc_not_zero(&next->ref))
				next = NULL;
		}
	}
	utrace_domain_put(domain);
	return next;
}

/*
 * Replace all domains that have the engine, so that no later child inherits it.
 * Returns 0 or -ENOMEM.
 */
static int utrace_uncover_make(struct utrace_walk *walk)
{
	struct utrace_engine *engine = walk->change.engine;
	struct utrace_domain *domain = NULL;

	while ((domain = utrace_domain_after(engine, domain))) {
		struct utrace_successor *succ;

		if (domain->replaced)
			continue;
		succ = utrace_change_make(&walk->change, domain, false);
		if (IS_ERR(succ)) {
			utrace_domain_put(domain);
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
	struct utrace_link *link;

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
	list_for_each_entry_rcu(link, &engine->info->links, list) {
		list_for_each_entry_rcu(member, &link->domain->members, list) {
			if (utrace_uncover_found(walk, member->task))
				return;
		}
	}
}

/*
 * Walk once over the tasks that still have the engine.  Returns 0 or -ENOMEM.
 *
 * While utrace_change_mutex is held, no attach or detach makes domains with the
 * engine, and children do not inherit it from the existing domains.  So if the
 * walk finds no task, no task has the engine or will get it.
 */
static int utrace_uncover_walk(struct utrace_walk *walk)
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
 * Drop ->next of the domains with the engine: no task has such a domain now, so
 * no child inherits from one.
 */
static void utrace_uncover_domains(struct utrace_engine *engine)
{
	struct utrace_link *link;

	/* utrace_change_make() reads ->next of a replaced domain. */
	guard(mutex)(&utrace_change_mutex);
	guard(rcu)();
	list_for_each_entry_rcu(link, &engine->info->links, list)
		utrace_set_put(xchg(&link->domain->next, NULL));
}

/*
 * Charge later allocations of the current task to the root memory cgroup: a
 * detach must not fail, and its allocations replace what attaches were charged
 * for.  The caller passes the returned value to set_active_memcg() in the end.
 */
static struct mem_cgroup *utrace_charge_root(void)
{
#ifdef CONFIG_MEMCG
	return set_active_memcg(root_mem_cgroup);
#else
	return NULL;
#endif
}

/**
 * utrace_uncover() - remove a detached engine from all tasks and domains
 * @engine: the engine; the caller has a count in utrace_engine_info::core
 *
 * Counts the running callbacks first, while their tasks can be found through
 * the domains.  Without memory it tries again at each tick; until then the
 * engine stays in domains, but no pass calls it.
 *
 * Context: May sleep.  Takes utrace_change_mutex for one batch at a time, and
 * tasklist_lock for a system engine.
 */
static void utrace_uncover(struct utrace_engine *engine)
{
	struct mem_cgroup *charged;
	struct utrace_walk walk;
	int ret;

	utrace_count_callbacks(engine);
	charged = utrace_charge_root();
	if (utrace_engine_is_system(engine)) {
		utrace_system_change(engine);
		utrace_system_refresh();
	}
	utrace_walk_init(&walk, engine);
	/* Two pages; a detach must not fail. */
	walk.task = kvmalloc_array(UTRACE_BATCH, sizeof(*walk.task),
				   GFP_KERNEL | __GFP_NOFAIL);
	walk.max = UTRACE_BATCH;
	do {
		ret = utrace_uncover_walk(&walk);
		if (!ret && !walk.found)
			break;
		ret = ret ?: utrace_run_batches(&walk, false);
		if (ret)
			schedule_timeout_uninterruptible(1);
	} while (true);
	set_active_memcg(charged);
	utrace_uncover_domains(engine);
	utrace_walk_destroy(&walk);
}

/* Detaching */

/**
 * utrace_uncover_work() - complete a detach in a work item
 * @work: utrace_engine_info::uncover
 *
 * Drops the core's count for being attached.
 *
 * Context: A work item.
 */
void utrace_uncover_work(struct work_struct *work)
{
	struct utrace_engine_info *info =
		container_of(work, struct utrace_engine_info, uncover);

	utrace_uncover(info->engine);
	utrace_core_put(info->engine);
}

/**
 * utrace_finish_detach() - complete a detach, unless the work item has done so
 * @engine: the engine; the caller has a reference, or a count in
 *	utrace_engine_info::core
 *
 * Waits for the work item if it is running.  Does nothing if the engine is not
 * detached.
 *
 * Context: May sleep.  Takes utrace_change_mutex.
 */
void utrace_finish_detach(struct utrace_engine *engine)
{
	if (!utrace_engine_detached(engine) ||
	    !cancel_work_sync(&engine->info->uncover))
		return;
	/* The work item is cancelled, so its count in ->core is ours. */
	utrace_uncover(engine);
	utrace_core_put(engine);
}

/*
 * Mark an engine as detached, so that no later pass calls it.  Returns true for
 * the caller that has marked it, which must complete the detach.
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
	/* A failed attach has no trace event. */
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
 * Drop the holds and steps of a detached engine before its tasks get other
 * sets, which may have to wait for memory.  /proc/PID/utrace does not show a
 * detached engine, so no line would explain such a hold.  A callback that
 * answers later sees DETACHED under utrace->lock and adds no hold.
 *
 * The caller holds neither siglock nor utrace->lock: the walk takes
 * utrace->lock of one task at a time, and siglock after it to wake the task.
 */
static void utrace_drop_holds(struct utrace_engine *engine)
{
	if (!utrace_engine_is_system(engine))
		utrace_visit_members(engine, NULL, utrace_drop_hold, NULL);
}

/*
 * Drop the holds, and queue the work item, which completes the detach and drops
 * the core's count for being attached.
 */
static void utrace_queue_uncover(struct utrace_engine *engine)
{
	utrace_drop_holds(engine);
	queue_work(utrace_wq, &engine->info->uncover);
}

/**
 * utrace_detach_later() - detach an engine without checking for callbacks
 * @engine: the engine; the caller has a reference, or is a callback of it
 *
 * A work item completes the detach.  Does nothing if the engine is detached.
 *
 * Context: Any but NMI, without siglock.  Does not sleep.
 */
void utrace_detach_later(struct utrace_engine *engine)
{
	if (utrace_mark_detached(engine))
		utrace_queue_uncover(engine);
}

/**
 * utrace_detach() - detach an engine and check for running callbacks
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
	utrace_queue_uncover(engine);
	return running;
}

/**
 * utrace_detach_now() - detach an engine and complete the detach
 * @engine: the engine; the caller has a reference
 *
 * Saves the two context switches of a work item.  Does nothing if the engine is
 * detached.
 *
 * Context: Process context, may sleep.  Takes utrace_change_mutex.
 */
void utrace_detach_now(struct utrace_engine *engine)
{
	if (!utrace_mark_detached(engine))
		return;
	utrace_drop_holds(engine);
	utrace_uncover(engine);
	utrace_core_put(engine);
}

/**
 * utrace_engine_end() - detach an engine that covers no task
 * @engine: an engine in the set that the reaper has pinned, whose last task is
 *	being reaped; or one that was never attached
 *
 * Context: The reaper, in the REAP pass of that task, or process context.  May
 * call ->release().
 */
void utrace_engine_end(struct utrace_engine *engine)
{
	if (utrace_mark_detached(engine))
		utrace_core_put(engine);
}
