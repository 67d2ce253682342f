// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - rounds: tasks that were found get the successor of their cast
 *
 * Memory of tasks is had before any lock is taken; that of casts and sets, and
 * places in the lists of casts, with utrace_change_mutex, which is held for one round
 * at a time.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "walk.h"

/**
 * utrace_walk_init - begin to bring an engine to tasks, or to take it from them
 * @walk: to be set up
 * @engine: the engine
 *
 * Context: Any.
 */
void utrace_walk_init(struct utrace_walk *walk, struct utrace_engine *engine)
{
	*walk = (struct utrace_walk) {};
	utrace_change_init(&walk->change, engine);
}

/**
 * utrace_walk_drop_tasks - forget the tasks that were found
 * @walk: with a reference to each
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
 * utrace_walk_destroy - the end of a walk
 * @walk: after utrace_walk_init()
 *
 * Context: May sleep, no locks held.
 */
void utrace_walk_destroy(struct utrace_walk *walk)
{
	struct utrace_pool *pool = &walk->pool;

	utrace_walk_drop_tasks(walk);
	kvfree(walk->task);
	kvfree(walk->turn);
	utrace_set_put(walk->kthread);
	while (pool->nu)
		utrace_free(pool->u[--pool->nu]);
	while (pool->nmembers)
		kfree(pool->member[--pool->nmembers]);
	utrace_change_destroy(&walk->change);
}

/**
 * utrace_walk_turns - make room for the turns of a round
 * @walk: the walk
 * @n: how many tasks take one
 *
 * Context: May sleep.
 * Return: 0, or -ENOMEM.
 */
int utrace_walk_turns(struct utrace_walk *walk, unsigned int n)
{
	if (n <= walk->nturns)
		return 0;
	kvfree(walk->turn);
	walk->nturns = 0;
	walk->turn = kvmalloc_array(n, sizeof(*walk->turn), GFP_KERNEL);
	if (!walk->turn)
		return -ENOMEM;
	walk->nturns = n;
	return 0;
}

/**
 * utrace_drop_spares - free what turns did not need, before or after them
 * @turn: the turns
 * @n: how many
 *
 * Context: Any, utrace_change_mutex not held.
 */
void utrace_drop_spares(struct utrace_turn *turn, unsigned int n)
{
	while (n--)
		if (turn[n].u)
			utrace_free(turn[n].u);
}

/* A struct utrace, one of at most @more that are needed; or NULL. */
static struct utrace *utrace_walk_u(struct utrace_walk *walk, unsigned int more)
{
	struct utrace_pool *pool = &walk->pool;

	if (!pool->nu)
		pool->nu = utrace_alloc_bulk(GFP_KERNEL_ACCOUNT,
					     min(more, UTRACE_BULK), pool->u);
	return pool->nu ? pool->u[--pool->nu] : NULL;
}

/**
 * utrace_walk_member - memory for a membership
 * @walk: the walk
 * @gfp: how to allocate it, and others with it, if none is left
 * @more: how many are needed at most, this one included
 *
 * Context: As @gfp says.
 * Return: it, or NULL.
 */
struct utrace_member *utrace_walk_member(struct utrace_walk *walk, gfp_t gfp,
					 unsigned int more)
{
	struct utrace_pool *pool = &walk->pool;

	if (!pool->nmembers)
		pool->nmembers = utrace_member_alloc_bulk(gfp, min(more, UTRACE_BULK),
							  pool->member);
	return pool->nmembers ? pool->member[--pool->nmembers] : NULL;
}

/**
 * utrace_turn_init - have what a task of a round may need, before any lock
 * @walk: the walk
 * @turn: to be set up
 * @task: the task; NULL if that is not known yet
 * @more: how many turns are set up, this one included
 *
 * Context: May sleep.
 * Return: 0, or -ENOMEM.
 */
int utrace_turn_init(struct utrace_walk *walk, struct utrace_turn *turn,
		     struct task_struct *task, unsigned int more)
{
	*turn = (struct utrace_turn) { .task = task };
	if (task && READ_ONCE(task->utrace))
		return 0;
	turn->u = utrace_walk_u(walk, more);
	return turn->u ? 0 : -ENOMEM;
}

static noinline struct utrace_cast *utrace_cast_of_u(struct task_struct *task,
						     struct utrace *u)
{
	guard(spinlock_irqsave)(&u->lock);
	/* Nothing comes of a turn of a task that is being reaped. */
	if (!task->utrace_set || u->flags & UTRACE_TASK_REAPED)
		return NULL;
	return utrace_cast_get(task->utrace_set->cast);
}

/**
 * utrace_cast_of - the cast of a task
 * @task: the task
 *
 * Context: utrace_change_mutex is held, under which it changes.
 * Return: the cast with a reference; NULL: none, or the task is being reaped.
 */
struct utrace_cast *utrace_cast_of(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	lockdep_assert_held(&utrace_change_mutex);

	return u ? utrace_cast_of_u(task, u) : NULL;
}

/* What kernel threads have without the engine; 0 or -ENOMEM. */
static int utrace_kthread_prepare(struct utrace_walk *walk,
				  struct utrace_turn *turn)
{
	struct utrace_set *set;

	if (!walk->kthread) {
		set = utrace_set_latest(NULL, true);
		if (IS_ERR(set))
			return PTR_ERR(set);
		walk->kthread = set;
	}
	turn->set = walk->kthread;
	return 0;
}

/*
 * What this task is to be given, one of @more, and what is needed for that; 0 or an
 * error.
 */
static int utrace_turn_prepare(struct utrace_walk *walk, struct utrace_turn *turn,
			       unsigned int more)
{
	struct utrace_successor *succ;
	struct utrace_cast *cast;

	if (turn->task->flags & PF_KTHREAD)
		return utrace_kthread_prepare(walk, turn);
	cast = utrace_cast_of(turn->task);
	succ = utrace_change_make(&walk->change, cast);
	utrace_cast_put(cast);
	if (IS_ERR(succ))
		return PTR_ERR(succ);
	turn->set = succ->set;
	cast = turn->set ? turn->set->cast : NULL;
	if (!cast || !cast->listed)
		return 0;
	turn->member = utrace_walk_member(walk, GFP_KERNEL, more);
	return turn->member ? 0 : -ENOMEM;
}

/*
 * The first set of a task that is being reaped came too late for the hook in
 * release_task() if exit_state was EXIT_DEAD before.  Whoever writes that has
 * tasklist_lock for writing, or uses cmpxchg(), and looks for a struct utrace
 * after it; so the task is seen here, or the set there.
 */
static bool utrace_take_back(struct utrace_turn *turn)
{
	struct utrace *u = turn->task->utrace;
	struct utrace_member *member;

	if (READ_ONCE(turn->task->exit_state) != EXIT_DEAD)
		return false;
	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return false;
		u->flags |= UTRACE_TASK_REAPED;
		turn->old = turn->task->utrace_set;
		WRITE_ONCE(turn->task->utrace_set, NULL);
		WRITE_ONCE(turn->task->utrace_events, 0);
		/* The task may be in the pass of its death, over this set or before. */
		if (!(u->flags & UTRACE_TASK_DEFERRED)) {
			u->deferred = turn->old;
			u->flags |= UTRACE_TASK_DEFERRED;
			turn->pinned = true;
		}
		member = u->member;
		u->member = NULL;
	}
	utrace_member_leave(member);
	turn->member = member;
	return true;
}

/* How many of @n turns were in vain. */
static unsigned int utrace_take_back_dead(struct utrace_turn *turn, unsigned int n)
{
	unsigned int i, dead = 0;

	smp_mb(); /* The sets before exit_state, see utrace_take_back(). */
	utrace_tasklist_barrier();
	for (i = 0; i < n; i++)
		if (turn[i].done && !turn[i].old)
			dead += utrace_take_back(&turn[i]);
	return dead;
}

/**
 * utrace_walk_settle - the end of a round in which the turns were taken
 * @walk: the walk
 * @n: how many turns
 *
 * Context: May sleep.  utrace_change_mutex is held.
 */
void utrace_walk_settle(struct utrace_walk *walk, unsigned int n)
{
	bool first = false;
	unsigned int i;

	for (i = 0; i < n; i++) {
		first |= walk->turn[i].done && !walk->turn[i].old;
		walk->covered += walk->turn[i].done;
	}
	if (first)
		walk->covered -= utrace_take_back_dead(walk->turn, n);
	utrace_sweep(walk->turn, n);
}

/**
 * utrace_drop_members - free the memberships that turns did not use
 * @turn: the turns
 * @n: how many
 *
 * Context: Any.
 */
void utrace_drop_members(struct utrace_turn *turn, unsigned int n)
{
	while (n--) {
		kfree(turn[n].member);
		turn[n].member = NULL;
	}
}

/* With the mutex: @n of the tasks found, from @first on. */
static int utrace_round_locked(struct utrace_walk *walk, unsigned int n)
{
	unsigned int noio = memalloc_noio_save(), i;
	int ret = 0;

	utrace_change_begin(&walk->change);
	for (i = 0; i < n && !ret; i++)
		ret = utrace_turn_prepare(walk, &walk->turn[i], n - i);
	if (ret) {
		utrace_drop_members(walk->turn, i);
	} else {
		for (i = 0; i < n; i++)
			utrace_turn(&walk->turn[i], walk->turn[i].set);
		utrace_walk_settle(walk, n);
	}
	utrace_change_end(&walk->change);
	memalloc_noio_restore(noio);
	return ret;
}

static int utrace_lock_changes(bool killable)
{
	if (killable)
		return mutex_lock_killable(&utrace_change_mutex);
	mutex_lock(&utrace_change_mutex);
	return 0;
}

static int utrace_round(struct utrace_walk *walk, unsigned int first,
			unsigned int n, bool killable)
{
	unsigned int i;
	int ret = utrace_walk_turns(walk, n);

	if (ret)
		return ret;
	for (i = 0; i < n && !ret; i++)
		ret = utrace_turn_init(walk, &walk->turn[i],
				       walk->task[first + i], n - i);
	n = i;
	if (!ret)
		ret = utrace_lock_changes(killable);
	if (!ret) {
		ret = utrace_round_locked(walk, n);
		mutex_unlock(&utrace_change_mutex);
	}
	utrace_drop_spares(walk->turn, n);
	return ret;
}

/**
 * utrace_rounds - give all that were found the successor of their cast
 * @walk: the walk
 * @killable: come back at SIGKILL
 *
 * Context: May sleep.  Takes utrace_change_mutex for one round at a time.
 * Return: 0; -ENOMEM; -ENOSPC: a task has no slot left; -EINTR: SIGKILL.
 */
int utrace_rounds(struct utrace_walk *walk, bool killable)
{
	unsigned int first, n;
	int ret = 0;

	for (first = 0; first < walk->found && !ret; first += n) {
		n = min(walk->found - first, (unsigned int)UTRACE_ROUND);
		ret = utrace_round(walk, first, n, killable);
		if (!ret && killable && fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	return ret;
}
