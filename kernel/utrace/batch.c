// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - batches: tasks move to the successors of their domains
 *
 * A batch gives another set to up to UTRACE_BATCH tasks that a walk has found.
 * First it allocates a struct utrace for each task that has none, without a
 * lock.  Then it takes utrace_change_mutex, makes the successors of the domains
 * and allocates the list entries for all its tasks, and gives each task its
 * set.  The last step cannot fail, so a batch that fails has changed no task.
 *
 * The mutex is held for one batch at a time, so concurrent attaches and
 * detaches need not wait for the whole walk.
 */
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "set.h"
#include "task.h"
#include "walk.h"

/**
 * utrace_walk_init() - set up a walk for an attach or a detach
 * @walk: filled in
 * @engine: the engine to be added, or removed if it is detached; the caller has
 *	a reference
 *
 * Context: Any.
 */
void utrace_walk_init(struct utrace_walk *walk, struct utrace_engine *engine)
{
	*walk = (struct utrace_walk) { .change.engine = engine };
	INIT_LIST_HEAD(&walk->change.list);
}

/**
 * utrace_walk_drop_tasks() - drop the references to the tasks found
 * @walk: the walk
 *
 * Context: Any.
 */
void utrace_walk_drop_tasks(struct utrace_walk *walk)
{
	unsigned int n = min(walk->found, walk->max);

	while (n)
		put_task_struct(walk->task[--n]);
	walk->found = 0;
}

/**
 * utrace_walk_destroy() - end a walk and free its resources
 * @walk: the walk, after utrace_walk_init()
 *
 * Context: May sleep, without utrace_change_mutex.
 */
void utrace_walk_destroy(struct utrace_walk *walk)
{
	struct utrace_pool *pool = &walk->pool;

	utrace_walk_drop_tasks(walk);
	kvfree(walk->task);
	kvfree(walk->update);
	while (pool->nu)
		utrace_free(pool->u[--pool->nu]);
	while (pool->nmembers)
		kfree(pool->member[--pool->nmembers]);
	utrace_change_destroy(&walk->change);
}

/**
 * utrace_walk_alloc_updates() - allocate the updates of a batch
 * @walk: the walk
 * @n: number of tasks in the batch
 *
 * Context: May sleep.
 * Return:
 * * 0 - utrace_walk::update has at least @n elements
 * * -ENOMEM - no memory
 */
int utrace_walk_alloc_updates(struct utrace_walk *walk, unsigned int n)
{
	if (n <= walk->nupdates)
		return 0;
	kvfree(walk->update);
	walk->nupdates = 0;
	walk->update = kvmalloc_array(n, sizeof(*walk->update), GFP_KERNEL);
	if (!walk->update)
		return -ENOMEM;
	walk->nupdates = n;
	return 0;
}

/**
 * utrace_drop_spares() - free the spare memory that updates did not use
 * @update: the updates, after utrace_update_init(); after utrace_batch_finish()
 *	if they were used
 * @n: number of updates
 *
 * Context: Any, without utrace_change_mutex.
 */
void utrace_drop_spares(struct utrace_update *update, unsigned int n)
{
	while (n--) {
		if (update[n].u)
			utrace_free(update[n].u);
		if (!update[n].done)
			kfree(update[n].member);
	}
}

/*
 * Get a struct utrace.  The batch needs up to @more of them, this one included.
 * NULL without memory.
 */
static struct utrace *utrace_walk_u(struct utrace_walk *walk, unsigned int more)
{
	struct utrace_pool *pool = &walk->pool;

	if (!pool->nu)
		pool->nu = utrace_alloc_bulk(GFP_KERNEL_ACCOUNT,
					     min(more, UTRACE_BULK), pool->u);
	return pool->nu ? pool->u[--pool->nu] : NULL;
}

/**
 * utrace_walk_member() - get memory for the entry of a task in a domain's list
 * @walk: the walk
 * @more: upper bound of the entries that the batch still needs, this one
 *	included
 *
 * Context: May sleep.
 * Return:
 * * the entry, which is in no list; the caller frees it with kfree()
 * * NULL - no memory
 */
struct utrace_member *utrace_walk_member(struct utrace_walk *walk,
					 unsigned int more)
{
	struct utrace_pool *pool = &walk->pool;

	if (!pool->nmembers)
		pool->nmembers =
			utrace_member_alloc_bulk(GFP_KERNEL,
						 min(more, UTRACE_BULK),
						 pool->member);
	return pool->nmembers ? pool->member[--pool->nmembers] : NULL;
}

/**
 * utrace_update_init() - set up an update with a spare struct utrace
 * @walk: the walk
 * @update: filled in
 * @task: the task, to which the caller has a reference; NULL if it is not known
 *	yet
 * @more: number of updates that are still to be set up, this one included
 *
 * Context: May sleep.  Called without utrace_change_mutex.
 * Return:
 * * 0 - @update has a spare, or @task has a struct utrace already
 * * -ENOMEM - no memory
 */
int utrace_update_init(struct utrace_walk *walk, struct utrace_update *update,
		       struct task_struct *task, unsigned int more)
{
	*update = (struct utrace_update){ .task = task };
	if (task && READ_ONCE(task->utrace))
		return 0;
	update->u = utrace_walk_u(walk, more);
	return update->u ? 0 : -ENOMEM;
}

static noinline struct utrace_domain *
utrace_domain_of_u(struct task_struct *task, struct utrace *u)
{
	guard(spinlock_irqsave)(&u->lock);
	/* utrace_update_task() does nothing for a task that is being reaped. */
	if (!task->utrace_set || u->flags & UTRACE_TASK_REAPED)
		return NULL;
	return utrace_domain_get(task->utrace_set->domain);
}

/**
 * utrace_domain_of() - get the domain of a task
 * @task: the task; the caller has a reference, or RCU keeps it
 *
 * Context: utrace_change_mutex is held, so no attach or detach gives @task
 * another domain.
 * Return:
 * * the domain, with a reference for the caller
 * * NULL - @task has no domain, or is being reaped
 */
struct utrace_domain *utrace_domain_of(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	lockdep_assert_held(&utrace_change_mutex);

	return u ? utrace_domain_of_u(task, u) : NULL;
}

/*
 * Find the set that a task is to get, and allocate its entry for the list of
 * the domain.  @more updates are still to be prepared, this one included.
 * Returns 0 or an error.
 */
static int utrace_update_prepare(struct utrace_walk *walk,
				 struct utrace_update *update,
				 unsigned int more)
{
	struct utrace_domain *domain = utrace_domain_of(update->task);
	struct utrace_successor *succ;

	succ = utrace_change_make(&walk->change, domain,
				  update->task->flags & PF_KTHREAD);
	utrace_domain_put(domain);
	if (IS_ERR(succ))
		return PTR_ERR(succ);
	update->set = succ->set;
	domain = update->set ? update->set->domain : NULL;
	if (!domain || !domain->listed)
		return 0;
	update->member = utrace_walk_member(walk, more);
	return update->member ? 0 : -ENOMEM;
}

/*
 * Take the first set of a task back if the task is EXIT_DEAD, unless the reaper
 * does so.  Returns true if the set was taken back.
 *
 * release_task() reads ->utrace after exit_state has become EXIT_DEAD, which is
 * written by cmpxchg() or with tasklist_lock held for writing.  Here ->utrace
 * and the set are written first, and exit_state is read after the barriers of
 * utrace_take_back_dead().  So the reaper finds the struct utrace, or this
 * function sees EXIT_DEAD.  If both happen, the first of the two that sets
 * REAPED under utrace->lock takes the set.
 */
static bool utrace_take_back(struct utrace_update *update)
{
	struct utrace *u = update->task->utrace;
	struct utrace_member *member;

	if (READ_ONCE(update->task->exit_state) != EXIT_DEAD)
		return false;
	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return false;
		u->flags |= UTRACE_TASK_REAPED;
		update->old = update->task->utrace_set;
		WRITE_ONCE(update->task->utrace_set, NULL);
		WRITE_ONCE(update->task->utrace_events, 0);
		/* Not pinned: the last pass ended before EXIT_DEAD. */
		member = u->member;
		u->member = NULL;
	}
	utrace_member_leave(member);
	update->member = member;
	return true;
}

/*
 * Take back the first sets of tasks that are EXIT_DEAD.  Returns the number of
 * sets that were taken back.
 */
static unsigned int utrace_take_back_dead(struct utrace_update *update,
					  unsigned int n)
{
	unsigned int i, dead = 0;

	/*
	 * ->utrace and the sets before exit_state; pairs with release_task(),
	 * see utrace_take_back().
	 */
	smp_mb();
	utrace_tasklist_barrier();
	for (i = 0; i < n; i++)
		if (update[i].done && !update[i].old)
			dead += utrace_take_back(&update[i]);
	return dead;
}

/**
 * utrace_batch_finish() - complete a batch after the tasks got their sets
 * @walk: the walk; the tasks are added to ->covered
 * @n: number of updates that were used
 *
 * Takes the sets back from tasks that have died since, and drops the old sets.
 *
 * Context: May sleep.  utrace_change_mutex is held.
 */
void utrace_batch_finish(struct utrace_walk *walk, unsigned int n)
{
	bool first = false;
	unsigned int i;

	for (i = 0; i < n; i++) {
		first |= walk->update[i].done && !walk->update[i].old;
		walk->covered += walk->update[i].done;
	}
	if (first)
		walk->covered -= utrace_take_back_dead(walk->update, n);
	utrace_update_drop_old(walk->update, n);
}

/*
 * Give the tasks of the first @n updates their sets, between
 * utrace_change_begin() and utrace_change_end().  Returns 0, or an error if no
 * task got its set.
 */
static int utrace_run_batch_locked(struct utrace_walk *walk, unsigned int n)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = utrace_update_prepare(walk, &walk->update[i], n - i);
	if (!ret) {
		for (i = 0; i < n; i++)
			utrace_update_task(&walk->update[i],
					   walk->update[i].set);
		utrace_batch_finish(walk, n);
	}
	return ret;
}

/* Run a batch over @n tasks found, from @first on.  Returns 0 or an error. */
static int utrace_run_batch(struct utrace_walk *walk, unsigned int first,
			    unsigned int n, bool killable)
{
	unsigned int i;
	int ret = utrace_walk_alloc_updates(walk, n);

	if (ret)
		return ret;
	for (i = 0; i < n && !ret; i++)
		ret = utrace_update_init(walk, &walk->update[i],
					 walk->task[first + i], n - i);
	n = i;
	if (!ret)
		ret = utrace_change_begin(&walk->change, killable);
	if (!ret) {
		ret = utrace_run_batch_locked(walk, n);
		utrace_change_end(&walk->change);
	}
	utrace_drop_spares(walk->update, n);
	return ret;
}

/**
 * utrace_run_batches() - give another set to each task found
 * @walk: the walk
 * @killable: end early if the caller has a fatal signal pending
 *
 * Context: May sleep.  Takes utrace_change_mutex for one batch at a time.
 * Return:
 * * 0 - all tasks that are not being reaped have got their sets
 * * -ENOMEM - no memory
 * * -ENOSPC - a task has no slot left
 * * -EINTR - @killable, and the caller has a fatal signal pending
 */
int utrace_run_batches(struct utrace_walk *walk, bool killable)
{
	unsigned int first, n;
	int ret = 0;

	for (first = 0; first < walk->found && !ret; first += n) {
		n = min(walk->found - first, (unsigned int)UTRACE_BATCH);
		ret = utrace_run_batch(walk, first, n, killable);
		if (!ret && killable && fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	return ret;
}
