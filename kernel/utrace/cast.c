// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - casts: which engines cover a task, those of the system aside
 *
 * A cast has no say in what its engines want at the moment: that is what sets
 * are made for, which any task may renew at any event.  Casts change only when
 * an engine comes or goes, by those who attach and detach, and stay when sets
 * change; so a walk that gives each task the successor of its cast comes to an
 * end however busy the tasks are.
 *
 * A task that has an engine of process or tree scope is a member of its cast.
 * It moves to newer casts only, and is in the list of the new one before it
 * leaves that of the old one; roles are appended to the list of their engine.  So
 * whoever walks the roles of an engine and the members of each cast by RCU meets
 * every task that was there when the walk began.  Children that join meanwhile
 * look themselves whether anything has changed, see __utrace_fork().
 */
#include <linux/rculist.h>
#include <linux/slab.h>

#include "internal.h"

/* Whoever changes which engines cover which tasks holds this, for a round. */
DEFINE_MUTEX(utrace_change_mutex);

struct utrace_cast *utrace_cast_get(struct utrace_cast *cast)
{
	if (cast)
		refcount_inc(&cast->ref);
	return cast;
}

/**
 * utrace_cast_drop - drop a reference, and leave the rest to utrace_set_put()
 * @cast: the cast, or NULL
 *
 * Where many engines are detached at a time, casts that nobody has keep each other
 * in a row as long as a task can have engines, too long for the stack.
 *
 * Context: Any but NMI, without utrace_engine_lock and those inside of it.
 * Return: the set that took the place of the cast, with the reference of the cast,
 * if that was freed; or NULL.
 */
struct utrace_set *utrace_cast_drop(struct utrace_cast *cast)
{
	struct utrace_set *next;
	unsigned int i;

	if (!cast || !refcount_dec_and_test(&cast->ref))
		return NULL;
	scoped_guard(spinlock_irqsave, &utrace_engine_lock)
		for (i = 0; i < cast->nroles; i++)
			list_del_rcu(&cast->role[i].list);
	for (i = 0; i < UTRACE_NHEIRS; i++)
		if (cast->heir[i] != cast)
			utrace_cast_put(cast->heir[i]);
	next = xchg(&cast->next, NULL);
	for (i = 0; i < cast->nroles; i++)
		utrace_shell_put(cast->role[i].engine);
	kfree_rcu(cast, rcu);
	return next;
}

/**
 * utrace_cast_put - drop a reference
 * @cast: the cast, or NULL
 *
 * Context: Any but NMI, without utrace_engine_lock and those inside of it.
 */
void utrace_cast_put(struct utrace_cast *cast)
{
	if (cast)
		utrace_set_put(utrace_cast_drop(cast));
}

/**
 * utrace_cast_has - is an engine in a cast?
 * @cast: the cast, or NULL
 * @engine: the engine, only compared
 *
 * Context: Any; the caller has a reference on @cast, or RCU.
 * Return: true if so.
 */
static bool utrace_cast_has(const struct utrace_cast *cast,
			    const struct utrace_engine *engine)
{
	unsigned int i;

	for (i = 0; cast && i < cast->nroles; i++)
		if (cast->role[i].engine == engine)
			return true;
	return false;
}

/* Members */

static struct kmem_cache *utrace_member_cache __ro_after_init;

static int __init utrace_cast_init(void)
{
	utrace_member_cache = KMEM_CACHE(utrace_member, SLAB_PANIC);
	return 0;
}
core_initcall(utrace_cast_init);

/* To be freed by kfree(), or kfree_rcu(). */
struct utrace_member *utrace_member_alloc(gfp_t gfp)
{
	struct utrace_member *member = kmem_cache_alloc(utrace_member_cache, gfp);

	if (member)
		INIT_LIST_HEAD(&member->list);
	return member;
}

/* @n at a time; returns @n, or 0 without memory. */
unsigned int utrace_member_alloc_bulk(gfp_t gfp, unsigned int n,
				      struct utrace_member **member)
{
	unsigned int i;

	n = kmem_cache_alloc_bulk(utrace_member_cache, gfp, n, (void **)member);
	for (i = 0; i < n; i++)
		INIT_LIST_HEAD(&member[i]->list);
	return n;
}

/**
 * utrace_member_join - a task is in the list of a cast from here on
 * @member: of the task, in no list
 * @task: the task
 * @cast: the cast, or NULL
 *
 * Context: Interrupts are off.  Takes @cast's lock.
 */
void utrace_member_join(struct utrace_member *member, struct task_struct *task,
			struct utrace_cast *cast)
{
	if (!cast || !cast->listed)
		return;
	member->task = task;
	member->cast = cast;
	lockdep_assert_irqs_disabled();
	guard(spinlock)(&cast->lock);
	list_add_tail_rcu(&member->list, &cast->members);
}

/**
 * utrace_member_leave - and from here on it is not
 * @member: of the task, in a list or not; or NULL.  To be freed by
 *	kfree_rcu().
 *
 * Context: Any but NMI.  The caller's task has, or had until now, a set of the
 * cast.
 */
void utrace_member_leave(struct utrace_member *member)
{
	if (!member || list_empty(&member->list))
		return;
	guard(spinlock_irqsave)(&member->cast->lock);
	list_del_rcu(&member->list);
}

/* Successors */

static bool utrace_inherits(struct utrace_engine *engine,
			    enum utrace_heir heir)
{
	unsigned int scope = UTRACE_STATE_TREE;

	if (heir == UTRACE_HEIR_THREAD)
		scope |= UTRACE_STATE_PROCESS;

	return utrace_engine_state(engine) & scope;
}

/**
 * struct utrace_roster - the engines of a cast that is being made
 * @n: how many
 * @slots: in use
 * @role: the engines, and their slots
 */
struct utrace_roster {
	unsigned int n;
	u64 slots;
	struct {
		struct utrace_engine *engine;
		u8 slot;
	} role[UTRACE_MAX_ENGINES];
};

/* Engines of one user without further rights on one task. */
#define UTRACE_MAX_OF_USER	16

/* What an ordinary user's engine finds taken, though there are slots left. */
static bool utrace_is_crowded(const struct utrace_roster *roster,
			      struct utrace_engine *engine)
{
	unsigned int i, same = 0;

	if (utrace_engine_is_privileged(engine))
		return false;
	for (i = 0; i < roster->n; i++) {
		struct utrace_engine *other = roster->role[i].engine;

		same += !utrace_engine_is_privileged(other) &&
			utrace_same_user(other, engine);
	}
	return same >= UTRACE_MAX_OF_USER ||
	       roster->n >= UTRACE_MAX_ENGINES - UTRACE_KEPT_SLOTS;
}

static void utrace_roster_set(struct utrace_roster *roster,
			      struct utrace_engine *engine, unsigned int slot)
{
	roster->role[roster->n].engine = engine;
	roster->role[roster->n++].slot = slot;
	roster->slots |= BIT_ULL(slot);
}

/* Is there no slot because an engine is detached that has yet to be removed? */
static void utrace_roster_blame(const struct utrace_roster *roster,
				struct utrace_change *change)
{
	unsigned int i;

	for (i = 0; i < roster->n && !change->going; i++) {
		struct utrace_engine *engine = roster->role[i].engine;

		if (utrace_engine_detached(engine) && utrace_core_tryget(engine))
			change->going = engine;
	}
}

/**
 * utrace_change_make_room - remove a detached engine that is in the way
 * @change: the change, after -ENOSPC
 *
 * Context: May sleep.  Takes utrace_change_mutex.
 * Return: false if there was none.
 */
bool utrace_change_make_room(struct utrace_change *change)
{
	struct utrace_engine *going = change->going;

	change->going = NULL;
	if (!going)
		return false;
	/* A callback may hold what a ->release() that is under way waits for. */
	if (!utrace_in_callback())
		utrace_finish_detach(going);
	utrace_core_put(going);
	return !utrace_in_callback();
}

/*
 * Those of @cast, and the engine behind them, or without it if it is detached.  Other
 * engines that are detached stay: as long as nobody has looked for callbacks of
 * theirs, their tasks have to be found by their casts.
 */
static int utrace_roster_fill(struct utrace_roster *roster,
			      const struct utrace_cast *cast,
			      struct utrace_change *change)
{
	struct utrace_engine *engine = change->engine;
	unsigned int i;

	roster->n = 0;
	roster->slots = 0;
	for (i = 0; cast && i < cast->nroles; i++) {
		const struct utrace_role *role = &cast->role[i];

		if (role->engine != engine)
			utrace_roster_set(roster, role->engine, role->slot);
	}
	if (utrace_engine_detached(engine))
		return 0;
	if (roster->n == UTRACE_MAX_ENGINES || utrace_is_crowded(roster, engine)) {
		utrace_roster_blame(roster, change);
		return -ENOSPC;
	}
	utrace_roster_set(roster, engine, ffz(roster->slots));
	return 0;
}

/* Tasks of many have it, so nobody's memory cgroup pays. */
static struct utrace_cast *utrace_cast_make(const struct utrace_roster *roster)
{
	struct utrace_cast *cast;
	unsigned int i;

	cast = kzalloc(struct_size(cast, role, roster->n), GFP_KERNEL);
	if (!cast)
		return NULL;
	refcount_set(&cast->ref, 1);
	spin_lock_init(&cast->lock);
	INIT_LIST_HEAD(&cast->members);
	cast->nroles = roster->n;
	guard(spinlock_irqsave)(&utrace_engine_lock);
	for (i = 0; i < roster->n; i++) {
		struct utrace_role *role = &cast->role[i];

		role->engine = roster->role[i].engine;
		role->slot = roster->role[i].slot;
		role->cast = cast;
		cast->listed |= utrace_inherits(role->engine, UTRACE_HEIR_THREAD);
		utrace_shell_get(role->engine);
		list_add_tail_rcu(&role->list, &role->engine->info->roles);
	}
	return cast;
}

/* How many of a roster does a child get? */
static unsigned int utrace_roster_heirs(const struct utrace_roster *roster,
					enum utrace_heir heir)
{
	unsigned int i, n = 0;

	for (i = 0; i < roster->n; i++)
		n += utrace_inherits(roster->role[i].engine, heir);
	return n;
}

/* Is a part for children to be the same as before? */
static bool utrace_part_stays(struct utrace_engine *engine,
			      struct utrace_cast *part, enum utrace_heir heir)
{
	if (utrace_engine_detached(engine))
		return !utrace_cast_has(part, engine);
	return !utrace_inherits(engine, heir);
}

/* Give @cast, which follows @old, its parts for children. */
static int utrace_cast_heirs(struct utrace_change *change,
			     struct utrace_cast *cast, struct utrace_cast *old,
			     const struct utrace_roster *roster)
{
	enum utrace_heir heir;

	for (heir = 0; heir < UTRACE_NHEIRS; heir++) {
		unsigned int n = utrace_roster_heirs(roster, heir);
		struct utrace_cast *part = old ? old->heir[heir] : NULL;
		struct utrace_successor *succ;

		if (n && n == cast->nroles) {
			cast->heir[heir] = cast;
		} else if (n && utrace_part_stays(change->engine, part, heir)) {
			cast->heir[heir] = utrace_cast_get(part);
		} else if (n) {
			succ = utrace_change_make(change, part);
			if (IS_ERR(succ))
				return PTR_ERR(succ);
			cast->heir[heir] = succ->set ?
					   utrace_cast_get(succ->set->cast) : NULL;
		}
	}
	return 0;
}

/* The set of the cast that follows @cast; NULL if there is none, or an error. */
static struct utrace_set *utrace_cast_follow(struct utrace_change *change,
					     struct utrace_cast *cast)
{
	struct utrace_roster roster;
	struct utrace_cast *next = NULL;
	struct utrace_set *set;
	int ret;

	ret = utrace_roster_fill(&roster, cast, change);
	if (ret)
		return ERR_PTR(ret);
	if (roster.n) {
		next = utrace_cast_make(&roster);
		ret = next ? utrace_cast_heirs(change, next, cast, &roster) :
			     -ENOMEM;
	}
	set = ret ? ERR_PTR(ret) : utrace_set_latest(next, false);
	utrace_cast_put(next);
	return set;
}

static bool utrace_set_has_detached(const struct utrace_set *set)
{
	struct utrace_cast *cast = set ? set->cast : NULL;
	unsigned int i;

	for (i = 0; cast && i < cast->nroles; i++)
		if (utrace_engine_detached(cast->role[i].engine))
			return true;
	return false;
}

/* From here on children are born with what follows. */
static void utrace_cast_replace(struct utrace_cast *cast,
				struct utrace_set *set)
{
	if (cast->replaced)
		return;
	cast->next = utrace_set_get(set);
	smp_store_release(&cast->replaced, true); /* Pairs with utrace_fork(). */
}

/**
 * utrace_change_make - make what follows a cast
 * @change: the change, begun
 * @cast: the cast, or NULL
 *
 * If an engine is removed, children of tasks with @cast get what follows from
 * here on.
 *
 * Context: May sleep.  utrace_change_mutex is held.
 * Return: it, which @change keeps; -ENOSPC: there is no slot for the engine;
 * -ENOMEM.
 */
struct utrace_successor *utrace_change_make(struct utrace_change *change,
					    struct utrace_cast *cast)
{
	struct utrace_successor *succ = utrace_change_find(change, cast);
	struct utrace_set *set;
	bool remove;

	lockdep_assert_held(&utrace_change_mutex);

	if (succ)
		return succ;
	succ = kmalloc(sizeof(*succ), GFP_KERNEL);
	if (!succ)
		return ERR_PTR(-ENOMEM);
	remove = utrace_engine_detached(change->engine);
	if (remove && cast && cast->replaced &&
	    !(cast->next && utrace_cast_has(cast->next->cast, change->engine)))
		set = utrace_set_get(cast->next);
	else
		set = utrace_cast_follow(change, cast);
	if (IS_ERR(set)) {
		kfree(succ);
		return ERR_CAST(set);
	}
	succ->cast = utrace_cast_get(cast);
	succ->set = set;
	list_add_tail(&succ->list, &change->list);
	if (!cast)
		change->bare = succ;
	else
		cast->succ = succ;
	if (remove && utrace_cast_has(cast, change->engine))
		utrace_cast_replace(cast, set);
	return succ;
}

/**
 * utrace_change_find - what follows a cast
 * @change: the change, begun
 * @cast: the cast, or NULL
 *
 * Context: utrace_change_mutex is held.
 * Return: what utrace_change_make() made; NULL if it was not called.
 */
struct utrace_successor *utrace_change_find(struct utrace_change *change,
					    struct utrace_cast *cast)
{
	lockdep_assert_held(&utrace_change_mutex);

	return cast ? cast->succ : change->bare;
}

void utrace_change_init(struct utrace_change *change,
			struct utrace_engine *engine)
{
	change->engine = engine;
	change->going = NULL;
	INIT_LIST_HEAD(&change->list);
	change->bare = NULL;
}

static void utrace_successor_drop(struct utrace_change *change,
				  struct utrace_successor *succ)
{
	if (change->bare == succ)
		change->bare = NULL;
	list_del(&succ->list);
	utrace_set_put(succ->set);
	utrace_cast_put(succ->cast);
	kfree(succ);
}

/**
 * utrace_change_begin - begin a round
 * @change: the change
 *
 * What was made in earlier rounds is good still, save for casts of which an
 * engine was detached: whoever removes that engine may be past them.  So it is with
 * engines of the system in what bare tasks are to be given.
 *
 * Context: utrace_change_mutex is held until utrace_change_end().
 */
void utrace_change_begin(struct utrace_change *change)
{
	struct utrace_successor *succ, *next;

	lockdep_assert_held(&utrace_change_mutex);

	list_for_each_entry_safe(succ, next, &change->list, list) {
		if (utrace_set_has_detached(succ->set) ||
		    (!succ->cast && succ->set && !utrace_set_is_current(succ->set)))
			utrace_successor_drop(change, succ);
		else if (succ->cast)
			succ->cast->succ = succ;
	}
}

/**
 * utrace_change_end - end a round
 * @change: the change
 *
 * Context: utrace_change_mutex is held.
 */
void utrace_change_end(struct utrace_change *change)
{
	struct utrace_successor *succ;

	lockdep_assert_held(&utrace_change_mutex);

	list_for_each_entry(succ, &change->list, list)
		if (succ->cast)
			succ->cast->succ = NULL;
}

/**
 * utrace_change_destroy - let go of what was made
 * @change: the change
 *
 * Context: Process context.
 */
void utrace_change_destroy(struct utrace_change *change)
{
	struct utrace_successor *succ, *next;

	list_for_each_entry_safe(succ, next, &change->list, list)
		utrace_successor_drop(change, succ);
	if (change->going)
		utrace_core_put(change->going);
}
