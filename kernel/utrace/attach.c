// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - an engine comes to its tasks, and goes from them
 *
 * Both go in rounds.  In a round the tasks that were found get the successor of
 * their cast; memory is had, and clients are asked, before any lock is taken.
 * utrace_change_mutex is held for one round at a time, and tasklist_lock only to
 * find tasks, which is a walk over pointers.
 *
 * An attach is complete when a walk finds every task of the scope covered.  It
 * misses nobody: each thread's children are looked at, zombie leaders' too;
 * reparenting and births need tasklist_lock for writing; children of covered tasks
 * inherit, whatever flags they are created with.  A task that left the tree, or was
 * born outside of it, by the doing of one that was not covered yet came before the
 * attach.  Where tasks are created faster than covered, the last round is made with
 * tasklist_lock held.
 */
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "internal.h"

/* Walks that may find newcomers before births are stopped for one. */
#define UTRACE_WALKS		3

/**
 * struct utrace_walk - an engine comes to its tasks, or goes from them
 * @change: what becomes of their casts
 * @target: where the scope begins
 * @found_one: what is done with each task that is found to want the engine
 * @may: asked about each task before it is covered, with @data; or NULL
 * @data: for @may
 * @task: what was found, counted
 * @found: how many; may be more than @max
 * @max: elements of @task
 * @asked: of @task, those that @may was asked about
 * @turn: of a round
 * @nturns: elements of @turn
 * @covered: tasks that have got the engine
 * @kthread: for kernel threads that an engine of the system leaves, counted
 */
struct utrace_walk {
	struct utrace_change change;
	struct task_struct *target;
	void (*found_one)(struct utrace_walk *walk, struct task_struct *task);
	bool (*may)(struct task_struct *task, void *data);
	void *data;
	struct task_struct **task;
	unsigned int found;
	unsigned int max;
	unsigned int asked;
	struct utrace_turn *turn;
	unsigned int nturns;
	unsigned int covered;
	struct utrace_set *kthread;
};

static void utrace_walk_init(struct utrace_walk *walk,
			     struct utrace_engine *engine)
{
	*walk = (struct utrace_walk) {};
	utrace_change_init(&walk->change, engine);
}

static void utrace_walk_drop_tasks(struct utrace_walk *walk)
{
	while (walk->found) {
		walk->found--;
		if (walk->found < walk->max)
			put_task_struct(walk->task[walk->found]);
	}
}

static void utrace_walk_destroy(struct utrace_walk *walk)
{
	utrace_walk_drop_tasks(walk);
	kvfree(walk->task);
	kvfree(walk->turn);
	utrace_set_put(walk->kthread);
	utrace_change_destroy(&walk->change);
}

/* Finding tasks */

/* Is a task still to be given the engine? */
static bool utrace_walk_wants(struct utrace_walk *walk, struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	if (!u)
		return READ_ONCE(task->exit_state) != EXIT_DEAD;
	guard(spinlock_irqsave)(&u->lock);
	return !(u->flags & UTRACE_TASK_REAPED) &&
	       utrace_set_slot(task->utrace_set, walk->change.engine) < 0;
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

	for_each_thread(process, t)
		if (utrace_walk_wants(walk, t))
			walk->found_one(walk, t);
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

/* One look for those that are not covered. */
static void utrace_walk_look(struct utrace_walk *walk)
{
	unsigned int scope = utrace_engine_state(walk->change.engine) &
			     UTRACE_STATE_SCOPE;
	struct task_struct *top, *p;

	if (!scope) {
		if (utrace_walk_wants(walk, walk->target))
			walk->found_one(walk, walk->target);
		return;
	}
	guard(read_lock)(&tasklist_lock);
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

/* The same with room for all of them; 0 or -ENOMEM. */
static int utrace_walk_find(struct utrace_walk *walk)
{
	unsigned int max;

	walk->found_one = utrace_walk_keep;
	for (;;) {
		utrace_walk_drop_tasks(walk);
		utrace_walk_look(walk);
		if (walk->found <= walk->max)
			return 0;
		max = walk->found + walk->found / 8;
		utrace_walk_drop_tasks(walk);
		kvfree(walk->task);
		walk->max = 0;
		walk->task = kvmalloc_array(max, sizeof(*walk->task),
					    GFP_KERNEL);
		if (!walk->task)
			return -ENOMEM;
		walk->max = max;
	}
}

/* A round */

/* Turns for @n tasks; 0 or -ENOMEM. */
static int utrace_walk_turns(struct utrace_walk *walk, unsigned int n)
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

static void utrace_drop_spares(struct utrace_turn *turn, unsigned int n)
{
	while (n--)
		if (turn[n].u)
			utrace_free(turn[n].u);
}

/* What a task of the round may need, before any lock; 0 or -ENOMEM. */
static int utrace_turn_init(struct utrace_turn *turn, struct task_struct *task)
{
	*turn = (struct utrace_turn) { .task = task };
	if (task && READ_ONCE(task->utrace))
		return 0;
	turn->u = utrace_alloc(GFP_KERNEL_ACCOUNT);
	return turn->u ? 0 : -ENOMEM;
}

/* The cast of a task, counted; it changes under the mutex only. */
static struct utrace_cast *utrace_cast_of(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	lockdep_assert_held(&utrace_change_mutex);

	if (!u)
		return NULL;
	guard(spinlock_irqsave)(&u->lock);
	/* Nothing comes of a turn of a task that is being reaped. */
	if (!task->utrace_set || u->flags & UTRACE_TASK_REAPED)
		return NULL;
	return utrace_cast_get(task->utrace_set->cast);
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

/* What this task is to be given, and what is needed for that; 0 or an error. */
static int utrace_turn_prepare(struct utrace_walk *walk,
			       struct utrace_turn *turn)
{
	struct utrace_cast *cast;
	int ret;

	if (turn->task->flags & PF_KTHREAD)
		return utrace_kthread_prepare(walk, turn);
	cast = utrace_cast_of(turn->task);
	ret = utrace_change_make(&walk->change, cast);
	if (!ret)
		turn->set = utrace_change_find(&walk->change, cast)->set;
	utrace_cast_put(cast);
	if (ret || !turn->set || !utrace_cast_has_members(turn->set->cast))
		return ret;
	turn->member = utrace_member_alloc(GFP_KERNEL);
	return turn->member ? 0 : -ENOMEM;
}

/*
 * The first set of a task that is being reaped came too late for the hook in
 * release_task() if exit_state was EXIT_DEAD before.  Whoever writes that has
 * tasklist_lock for writing, or uses cmpxchg(), and looks for a struct utrace
 * after it; so the task is seen here, or the set there.
 */
static void utrace_take_back(struct utrace_turn *turn)
{
	struct utrace *u = turn->task->utrace;
	struct utrace_member *member;

	if (READ_ONCE(turn->task->exit_state) != EXIT_DEAD)
		return;
	scoped_guard(spinlock_irqsave, &u->lock) {
		if (u->flags & UTRACE_TASK_REAPED)
			return;
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
	turn->done = false;
}

static void utrace_take_back_dead(struct utrace_turn *turn, unsigned int n)
{
	unsigned int i;

	smp_mb(); /* The sets before exit_state, see utrace_take_back(). */
	read_lock(&tasklist_lock);
	for (i = 0; i < n; i++)
		if (turn[i].done && !turn[i].old)
			utrace_take_back(&turn[i]);
	read_unlock(&tasklist_lock);
}

/* The end of a round in which the turns were taken. */
static void utrace_walk_settle(struct utrace_walk *walk, unsigned int n)
{
	bool first = false;
	unsigned int i;

	for (i = 0; i < n; i++)
		first |= walk->turn[i].done && !walk->turn[i].old;
	if (first)
		utrace_take_back_dead(walk->turn, n);
	for (i = 0; i < n; i++)
		walk->covered += walk->turn[i].done;
	utrace_sweep(walk->turn, n);
}

static void utrace_drop_members(struct utrace_turn *turn, unsigned int n)
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
		ret = utrace_turn_prepare(walk, &walk->turn[i]);
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
		ret = utrace_turn_init(&walk->turn[i], walk->task[first + i]);
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

/* All that were found, in rounds. */
static int utrace_rounds(struct utrace_walk *walk, bool killable)
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

/* Attach */

static bool utrace_walk_may(struct utrace_walk *walk)
{
	unsigned int i;

	for (i = 0; walk->may && i < walk->found; i++)
		if (!walk->may(walk->task[i], walk->data))
			return false;
	return true;
}

/* Was a task there when they were asked?  Few are left by then. */
static bool utrace_last_asked(struct utrace_walk *walk, struct task_struct *task)
{
	unsigned int i;

	for (i = 0; i < walk->asked; i++)
		if (walk->task[i] == task)
			return true;
	return !walk->may;
}

/*
 * The last round: births are stopped, and so are changes of casts.  Each task takes
 * a turn with its spares, as far as they go.
 */
static void utrace_last_turn(struct utrace_walk *walk, struct task_struct *task)
{
	struct utrace_successor *succ;
	struct utrace_cast *cast;
	struct utrace_turn *turn;

	if (walk->found++ >= walk->nturns)
		return;
	if (!utrace_last_asked(walk, task)) {
		walk->found += walk->nturns;
		return;
	}
	turn = &walk->turn[walk->found - 1];
	cast = utrace_cast_of(task);
	succ = utrace_change_find(&walk->change, cast);
	utrace_cast_put(cast);
	turn->task = get_task_struct(task);
	if (succ)
		utrace_turn(turn, succ->set);
	else	/* Somebody changed it since the tasks were found; once more. */
		walk->found += walk->nturns;
}

/* Make what follows the casts of the tasks that were found; 0 or an error. */
static int utrace_last_make(struct utrace_walk *walk)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < walk->found && !ret; i++) {
		struct utrace_cast *cast = utrace_cast_of(walk->task[i]);

		ret = utrace_change_make(&walk->change, cast);
		utrace_cast_put(cast);
	}
	return ret;
}

/* With the mutex and spares for @n tasks; how many more would be needed? */
static int utrace_last_locked(struct utrace_walk *walk, unsigned int n)
{
	unsigned int noio = memalloc_noio_save(), i;
	int ret;

	utrace_change_begin(&walk->change);
	ret = utrace_last_make(walk);
	if (!ret) {
		walk->asked = walk->found;
		walk->found = 0;
		walk->found_one = utrace_last_turn;
		utrace_walk_look(walk);
		ret = walk->found > n ? walk->found - n : 0;
		walk->found = walk->asked;
		utrace_walk_settle(walk, n);
		for (i = 0; i < n; i++)
			if (walk->turn[i].task)
				put_task_struct(walk->turn[i].task);
	}
	utrace_change_end(&walk->change);
	memalloc_noio_restore(noio);
	return ret;
}

/* One try with spares for @n tasks, of the kind of utrace_last_locked(). */
static int utrace_last_try(struct utrace_walk *walk, unsigned int n)
{
	unsigned int i;
	int ret;

	ret = utrace_walk_turns(walk, n);
	if (ret)
		return ret;
	walk->nturns = n;
	for (i = 0; i < n && !ret; i++) {
		ret = utrace_turn_init(&walk->turn[i], NULL);
		if (ret)
			continue;
		walk->turn[i].member = utrace_member_alloc(GFP_KERNEL_ACCOUNT);
		ret = walk->turn[i].member ? 0 : -ENOMEM;
	}
	n = i;
	if (!ret)
		ret = mutex_lock_killable(&utrace_change_mutex);
	if (!ret) {
		ret = utrace_last_locked(walk, n);
		mutex_unlock(&utrace_change_mutex);
	}
	utrace_drop_members(walk->turn, n);
	utrace_drop_spares(walk->turn, n);
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
		if (!utrace_walk_may(walk))
			return -EPERM;
		n = max(n, 2 * walk->found);
		ret = utrace_last_try(walk, n);
		if (ret > 0)
			n += 2 * ret;
		if (fatal_signal_pending(current))
			return -EINTR;
	} while (ret > 0);
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
		if (!utrace_walk_may(walk))
			return -EPERM;
		ret = utrace_rounds(walk, true);
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
 * @may: asked about each task, by @data, before it is covered; NULL: all of them
 *	may be
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

/* Detach */

/* True if there is no room for more. */
static bool utrace_uncover_found(struct utrace_walk *walk,
				 struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);
	bool reaped = true;

	/* One that is being reaped leaves by itself. */
	if (u) {
		guard(spinlock_irqsave)(&u->lock);
		reaped = u->flags & UTRACE_TASK_REAPED;
	}
	if (!reaped && tryget_task_struct(task))
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
		int ret;

		if (cast->replaced)
			continue;
		ret = utrace_change_make(&walk->change, cast);
		if (ret) {
			utrace_cast_put(cast);
			return ret;
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
	struct task_struct *some[32];
	struct utrace_walk walk;
	int ret;

	utrace_count_inside(engine);
	if (utrace_engine_is_system(engine)) {
		utrace_system_remove(engine);
		utrace_system_tell();
	}
	utrace_walk_init(&walk, engine);
	walk.task = kvmalloc_array(UTRACE_ROUND, sizeof(*walk.task), GFP_KERNEL);
	walk.max = UTRACE_ROUND;
	if (!walk.task) {
		walk.task = some;
		walk.max = ARRAY_SIZE(some);
	}
	do {
		ret = utrace_uncover_look(&walk);
		if (!ret && !walk.found)
			break;
		ret = ret ?: utrace_rounds(&walk, false);
		if (ret)
			schedule_timeout_uninterruptible(1);
	} while (true);
	utrace_uncover_casts(engine);
	if (walk.task == some)
		walk.task = NULL;
	utrace_walk_destroy(&walk);
}
