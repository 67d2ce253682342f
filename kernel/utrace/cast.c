// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - casts: which engines cover a task, without those of the system
 *
 * A cast does not depend on which events its engines want; sets do (set.c), and
 * any task may renew its set at any event.  Only an attach or a detach makes
 * casts.  So a walk that gives each task the successor of its cast comes to an
 * end however busy the tasks are.
 *
 * A task that is covered by an engine of process or tree scope is a member of
 * its cast.  The task moves to newer casts only, and joins the list of the new
 * cast before it leaves that of the old one.  The roles of an engine are in the
 * order in which its casts were made.  So a walk under RCU over the roles of an
 * engine and the members of each cast meets every task that was there when the
 * walk began.  A child that joins during the walk checks for changes itself,
 * see utrace_inherit_word().
 */
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cast.h"
#include "change.h"
#include "engine.h"
#include "limit.h"
#include "set.h"

/* Held, for one round at a time, to change which engines cover which tasks. */
DEFINE_MUTEX(utrace_change_mutex);

/**
 * utrace_cast_get() - take a reference
 * @cast: the cast, or NULL; the caller keeps it by another reference or a lock
 *
 * Context: Any.
 * Return: @cast.
 */
struct utrace_cast *utrace_cast_get(struct utrace_cast *cast)
{
	if (cast)
		refcount_inc(&cast->ref);
	return cast;
}

/**
 * utrace_cast_drop() - drop a reference, without the one to the next set
 * @cast: the cast, or NULL
 *
 * For utrace_set_put(), which frees a row of replaced casts in a loop.  Where
 * many engines were detached, each cast of such a row has a reference to the
 * next one, and a recursion would be too deep for the stack.
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 * Return:
 * * @next of the cast, with its reference, if the cast was freed and had one
 * * NULL - otherwise
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
 * utrace_cast_put() - drop a reference
 * @cast: the cast, or NULL
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 */
void utrace_cast_put(struct utrace_cast *cast)
{
	if (cast)
		utrace_set_put(utrace_cast_drop(cast));
}

/**
 * utrace_cast_has() - is an engine in a cast?
 * @cast: the cast, or NULL; the caller has a reference, or is under RCU
 * @engine: the engine, which is only compared
 *
 * Context: Any.
 * Return: true if @engine has a role in @cast.
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
	utrace_member_cache = KMEM_CACHE(utrace_member,
					 SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(utrace_cast_init);

/**
 * utrace_member_alloc() - allocate an entry for the list of a cast
 * @gfp: how to allocate it
 *
 * Context: As @gfp says.
 * Return:
 * * the entry, which is in no list; the caller frees it with kfree(), or once
 *   it was in a list with kfree_rcu()
 * * NULL - no memory
 */
struct utrace_member *utrace_member_alloc(gfp_t gfp)
{
	struct utrace_member *member = kmem_cache_alloc(utrace_member_cache, gfp);

	if (member)
		INIT_LIST_HEAD(&member->list);
	return member;
}

/**
 * utrace_member_alloc_bulk() - allocate entries for the lists of casts
 * @gfp: how to allocate them
 * @n: number of entries
 * @member: filled in; see utrace_member_alloc()
 *
 * Context: As @gfp says.
 * Return:
 * * @n - done
 * * 0 - no memory, nothing is allocated
 */
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
 * utrace_member_join() - add a task to the members of a cast
 * @member: the entry of the task, in no list
 * @task: the task; the caller makes sure that the entry leaves the list before
 *	the task is freed
 * @cast: the cast, kept by the set that the task has or gets; NULL, or a cast
 *	that is not listed: nothing is done
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
 * utrace_member_leave() - remove a task from the members of its cast
 * @member: the entry, in a list or not, or NULL; the caller frees it with
 *	kfree_rcu() if it was in a list
 *
 * Context: Any but NMI.  The caller keeps the cast from being freed, by a
 * reference to a set of the cast, or by the successor of the cast in a round.
 */
void utrace_member_leave(struct utrace_member *member)
{
	if (!member || list_empty(&member->list))
		return;
	guard(spinlock_irqsave)(&member->cast->lock);
	list_del_rcu(&member->list);
}

/* Successors of casts */

static bool utrace_inherits(struct utrace_engine *engine,
			    enum utrace_heir heir)
{
	unsigned int scope = UTRACE_STATE_TREE;

	if (heir == UTRACE_HEIR_THREAD)
		scope |= UTRACE_STATE_PROCESS;

	return utrace_engine_state(engine) & scope;
}

/* The largest number of unprivileged engines of one user on one task. */
#define UTRACE_MAX_OF_USER	16

/*
 * Must an unprivileged engine be refused beside the engines of @cast, although
 * there are slots left?  UTRACE_KEPT_SLOTS slots are left to privileged
 * engines, and one user has no more than UTRACE_MAX_OF_USER.
 */
static bool utrace_is_crowded(const struct utrace_cast *cast,
			      struct utrace_engine *engine)
{
	unsigned int i, same = 0;

	if (utrace_engine_is_privileged(engine))
		return false;
	for (i = 0; i < cast->nroles; i++) {
		struct utrace_engine *other = cast->role[i].engine;

		same += !utrace_engine_is_privileged(other) &&
			utrace_same_user(other, engine);
	}
	return same >= UTRACE_MAX_OF_USER ||
	       cast->nroles >= UTRACE_MAX_ENGINES - UTRACE_KEPT_SLOTS;
}

/*
 * For utrace_change_make_room(): if an engine of the cast is detached, and is
 * not removed yet, its slot will soon be free.
 */
static void utrace_cast_blame(const struct utrace_cast *cast,
			      struct utrace_change *change)
{
	unsigned int i;

	for (i = 0; i < cast->nroles && !change->going; i++) {
		struct utrace_engine *engine = cast->role[i].engine;

		if (utrace_engine_detached(engine) &&
		    utrace_core_tryget(engine))
			change->going = engine;
	}
}

/* With utrace_engine_lock held, write an engine to role @i of a new cast. */
static void utrace_role_set(struct utrace_cast *cast, unsigned int i,
			    struct utrace_engine *engine, unsigned int slot)
{
	struct utrace_role *role = &cast->role[i];

	role->engine = engine;
	role->slot = slot;
	role->cast = cast;
	cast->listed |= utrace_inherits(engine, UTRACE_HEIR_THREAD);
	utrace_shell_get(engine);
	list_add_tail_rcu(&role->list, &engine->info->roles);
}

/*
 * Make a cast, which who attaches is charged with, of the engines of @old, with
 * the engine of @change added, or without it if it is detached.  Other detached
 * engines stay: utrace_count_inside() finds the tasks that are in callbacks of
 * these engines by their casts.  Returns NULL if no engine is left, -ENOSPC or
 * -ENOMEM as an error pointer.
 */
static struct utrace_cast *utrace_cast_make(struct utrace_change *change,
					    const struct utrace_cast *old)
{
	struct utrace_engine *engine = change->engine;
	bool add = !utrace_engine_detached(engine);
	bool had = utrace_cast_has(old, engine);
	unsigned int i, n = old ? old->nroles : 0;
	struct utrace_cast *cast;
	u64 slots = 0;

	if (add && !had && old && (n == UTRACE_MAX_ENGINES ||
				   utrace_is_crowded(old, engine))) {
		utrace_cast_blame(old, change);
		return ERR_PTR(-ENOSPC);
	}
	n += add - had;
	if (!n)
		return NULL;
	cast = kzalloc(struct_size(cast, role, n), GFP_KERNEL_ACCOUNT);
	if (!cast)
		return ERR_PTR(-ENOMEM);
	refcount_set(&cast->ref, 1);
	spin_lock_init(&cast->lock);
	INIT_LIST_HEAD(&cast->members);
	cast->nroles = n;
	guard(spinlock_irqsave)(&utrace_engine_lock);
	for (i = 0, n = 0; old && i < old->nroles; i++) {
		const struct utrace_role *role = &old->role[i];

		if (role->engine == engine)
			continue;
		utrace_role_set(cast, n++, role->engine, role->slot);
		slots |= BIT_ULL(role->slot);
	}
	if (add)
		utrace_role_set(cast, n, engine, ffz(slots));
	return cast;
}

/* How many engines of a cast does a child inherit? */
static unsigned int utrace_count_heirs(const struct utrace_cast *cast,
				       enum utrace_heir heir)
{
	unsigned int i, n = 0;

	for (i = 0; i < cast->nroles; i++)
		n += utrace_inherits(cast->role[i].engine, heir);
	return n;
}

/* Can an heir of the old cast be the heir of the new one, too? */
static bool utrace_part_stays(struct utrace_engine *engine,
			      struct utrace_cast *part, enum utrace_heir heir)
{
	if (utrace_engine_detached(engine))
		return !utrace_cast_has(part, engine);
	return !utrace_inherits(engine, heir);
}

/* Give @cast, which follows @old, its heirs.  Returns 0 or an error. */
static int utrace_cast_heirs(struct utrace_change *change,
			     struct utrace_cast *cast, struct utrace_cast *old)
{
	enum utrace_heir heir;

	for (heir = 0; heir < UTRACE_NHEIRS; heir++) {
		unsigned int n = utrace_count_heirs(cast, heir);
		struct utrace_cast *part = old ? old->heir[heir] : NULL;
		struct utrace_successor *succ;

		if (n && n == cast->nroles) {
			cast->heir[heir] = cast;
		} else if (n && utrace_part_stays(change->engine, part, heir)) {
			cast->heir[heir] = utrace_cast_get(part);
		} else if (n) {
			succ = utrace_change_make(change, part, false);
			if (IS_ERR(succ))
				return PTR_ERR(succ);
			cast->heir[heir] = succ->set ?
					   utrace_cast_get(succ->set->cast) :
					   NULL;
		}
	}
	return 0;
}

/*
 * Make the cast that follows @cast, and a set for it.  Returns NULL if no
 * engine is left, -ENOSPC or -ENOMEM as an error pointer.
 */
static struct utrace_set *utrace_cast_follow(struct utrace_change *change,
					     struct utrace_cast *cast,
					     bool kthread)
{
	struct utrace_cast *next = utrace_cast_make(change, cast);
	struct utrace_set *set;
	int ret;

	if (IS_ERR(next))
		return ERR_CAST(next);
	ret = next ? utrace_cast_heirs(change, next, cast) : 0;
	set = ret ? ERR_PTR(ret) : utrace_set_latest(next, kthread);
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

/*
 * From here on a child of a task with @cast gets @set, or a set that replaced
 * it, see utrace_heir().
 */
static void utrace_cast_replace(struct utrace_cast *cast,
				struct utrace_set *set)
{
	if (cast->replaced)
		return;
	cast->next = utrace_set_get(set);
	smp_store_release(&cast->replaced, true); /* For utrace_heir(). */
}

/* utrace_change_make() for a cast that has no successor yet. */
static noinline struct utrace_successor *
utrace_successor_make(struct utrace_change *change, struct utrace_cast *cast,
		      bool kthread)
{
	bool remove = utrace_engine_detached(change->engine);
	struct utrace_successor *succ;
	struct utrace_set *set;

	succ = kmalloc(sizeof(*succ), GFP_KERNEL);
	if (!succ)
		return ERR_PTR(-ENOMEM);
	if (remove && cast && cast->replaced &&
	    !(cast->next && utrace_cast_has(cast->next->cast, change->engine)))
		set = utrace_set_get(cast->next);
	else
		set = utrace_cast_follow(change, cast, kthread);
	if (IS_ERR(set)) {
		kfree(succ);
		return ERR_CAST(set);
	}
	succ->cast = utrace_cast_get(cast);
	succ->kthread = kthread;
	succ->set = set;
	list_add_tail(&succ->list, &change->list);
	if (!cast)
		change->bare[kthread] = succ;
	else
		cast->succ = succ;
	if (remove && utrace_cast_has(cast, change->engine))
		utrace_cast_replace(cast, set);
	return succ;
}

/**
 * utrace_change_make() - make the successor of a cast
 * @change: the change, after utrace_change_begin()
 * @cast: the cast, to which the caller has a reference; NULL for tasks without
 *	one
 * @kthread: the tasks are kernel threads; only without @cast
 *
 * If the engine of @change is being removed, children of tasks with @cast get
 * the successor from here on.
 *
 * Context: May sleep.  utrace_change_mutex is held.
 * Return:
 * * the successor, which belongs to @change and may have been made before
 * * -ENOSPC - @cast has no slot for the engine
 * * -ENOMEM - no memory
 */
struct utrace_successor *utrace_change_make(struct utrace_change *change,
					    struct utrace_cast *cast,
					    bool kthread)
{
	return utrace_change_find(change, cast, kthread) ?:
	       utrace_successor_make(change, cast, kthread);
}

/**
 * utrace_change_find() - look up the successor of a cast
 * @change: the change, after utrace_change_begin()
 * @cast: the cast, to which the caller has a reference; NULL for tasks without
 *	one
 * @kthread: the tasks are kernel threads; only without @cast
 *
 * Context: utrace_change_mutex is held.
 * Return:
 * * the successor that utrace_change_make() made for @cast
 * * NULL - none was made
 */
struct utrace_successor *utrace_change_find(struct utrace_change *change,
					    struct utrace_cast *cast,
					    bool kthread)
{
	lockdep_assert_held(&utrace_change_mutex);

	return cast ? cast->succ : change->bare[kthread];
}

static void utrace_successor_drop(struct utrace_change *change,
				  struct utrace_successor *succ)
{
	if (!succ->cast)
		change->bare[succ->kthread] = NULL;
	list_del(&succ->list);
	utrace_set_put(succ->set);
	utrace_cast_put(succ->cast);
	kfree(succ);
}

/**
 * utrace_change_begin() - begin a round
 * @change: the change, in no round
 * @killable: give up if the caller has a fatal signal pending
 *
 * Successors of earlier rounds are used again, with two exceptions.  A
 * successor that has a detached engine is dropped: the walk that removes this
 * engine may be over, and a task that got this successor now would keep the
 * engine.  A successor for tasks without a cast is dropped if its set is out of
 * date.
 *
 * Context: May sleep.  Takes utrace_change_mutex, until utrace_change_end();
 * memory is allocated without input and output meanwhile.
 * Return:
 * * 0 - done
 * * -EINTR - @killable, and the caller has a fatal signal pending
 */
int utrace_change_begin(struct utrace_change *change, bool killable)
{
	struct utrace_successor *succ, *next;

	if (!killable)
		mutex_lock(&utrace_change_mutex);
	else if (mutex_lock_killable(&utrace_change_mutex))
		return -EINTR;
	change->noio = memalloc_noio_save();
	list_for_each_entry_safe(succ, next, &change->list, list) {
		if (utrace_set_has_detached(succ->set) ||
		    (!succ->cast && succ->set &&
		     !utrace_set_is_current(succ->set)))
			utrace_successor_drop(change, succ);
		else if (succ->cast)
			succ->cast->succ = succ;
	}
	return 0;
}

/**
 * utrace_change_end() - end a round
 * @change: the change, which keeps its successors
 *
 * Context: After utrace_change_begin(), by the same task.  Releases
 * utrace_change_mutex.
 */
void utrace_change_end(struct utrace_change *change)
{
	struct utrace_successor *succ;

	list_for_each_entry(succ, &change->list, list)
		if (succ->cast)
			succ->cast->succ = NULL;
	memalloc_noio_restore(change->noio);
	mutex_unlock(&utrace_change_mutex);
}

/**
 * utrace_change_destroy() - free the successors of a change
 * @change: the change, in no round
 *
 * Context: May sleep, without utrace_change_mutex.
 */
void utrace_change_destroy(struct utrace_change *change)
{
	struct utrace_successor *succ, *next;

	list_for_each_entry_safe(succ, next, &change->list, list)
		utrace_successor_drop(change, succ);
	if (change->going)
		utrace_core_put(change->going);
}
