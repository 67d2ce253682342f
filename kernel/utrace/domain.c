// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - domains: which engines cover a task, except system engines
 *
 * Sets (set.c) depend on the events that engines want, so any task may renew
 * its set at any event.  Domains do not: only an attach or a detach makes them.
 * So a walk that moves each task to the successor of its domain ends, however
 * busy the tasks are.
 *
 * If an engine of process or tree scope covers a task, the task is in the list
 * of members of its domain.  A task only moves to newer domains, and joins the
 * new list before it leaves the old one.  The links of an engine are in the
 * order in which its domains were made.  So a walk under RCU over the links of
 * an engine and the members of each domain finds every task that was a member
 * when the walk began.  A child that joins during the walk checks for changes
 * itself, see utrace_inherit_word().
 */
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "domain.h"
#include "change.h"
#include "engine.h"
#include "limit.h"
#include "set.h"

/* Serializes changes of domains.  Held for one batch of tasks at a time. */
DEFINE_MUTEX(utrace_change_mutex);

/**
 * utrace_domain_get() - take a reference
 * @domain: the domain, or NULL; another reference or a lock of the caller keeps
 *	it
 *
 * Context: Any.
 * Return: @domain.
 */
struct utrace_domain *utrace_domain_get(struct utrace_domain *domain)
{
	if (domain)
		refcount_inc(&domain->ref);
	return domain;
}

/**
 * utrace_domain_drop() - drop a reference, but not the one to the next set
 * @domain: the domain, or NULL
 *
 * For utrace_set_put().  After many detaches there may be a long chain of
 * replaced domains, each with a reference to the next one.  utrace_set_put()
 * frees the chain in a loop, since recursion could overflow the stack.
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 * Return:
 * * utrace_domain::next, with its reference, if the domain was freed
 * * NULL - the domain was not freed, or had no next set
 */
struct utrace_set *utrace_domain_drop(struct utrace_domain *domain)
{
	struct utrace_set *next;
	unsigned int i;

	if (!domain || !refcount_dec_and_test(&domain->ref))
		return NULL;
	scoped_guard(spinlock_irqsave, &utrace_engine_lock)
		for (i = 0; i < domain->nlinks; i++)
			list_del_rcu(&domain->link[i].list);
	for (i = 0; i < UTRACE_NCHILDREN; i++)
		if (domain->inherited[i] != domain)
			utrace_domain_put(domain->inherited[i]);
	next = xchg(&domain->next, NULL);
	for (i = 0; i < domain->nlinks; i++)
		utrace_shell_put(domain->link[i].engine);
	kfree_rcu(domain, rcu);
	return next;
}

/**
 * utrace_domain_put() - drop a reference
 * @domain: the domain, or NULL
 *
 * Context: Any but NMI, without utrace_engine_lock and the locks inside of it.
 */
void utrace_domain_put(struct utrace_domain *domain)
{
	if (domain)
		utrace_set_put(utrace_domain_drop(domain));
}

/**
 * utrace_domain_has() - check whether an engine is in a domain
 * @domain: the domain, or NULL; the caller has a reference, or is under RCU
 * @engine: the engine, which is only compared
 *
 * Context: Any.
 * Return: true if @engine has a link in @domain.
 */
static bool utrace_domain_has(const struct utrace_domain *domain,
			      const struct utrace_engine *engine)
{
	unsigned int i;

	for (i = 0; domain && i < domain->nlinks; i++)
		if (domain->link[i].engine == engine)
			return true;
	return false;
}

/* Members */

static struct kmem_cache *utrace_member_cache __ro_after_init;

static int __init utrace_domain_init(void)
{
	utrace_member_cache = KMEM_CACHE(utrace_member,
					 SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(utrace_domain_init);

/**
 * utrace_member_alloc() - allocate an entry for the list of a domain
 * @gfp: how to allocate it
 *
 * Context: As @gfp says.
 * Return:
 * * the entry, which is in no list.  The caller frees it with kfree(), or with
 *   kfree_rcu() if it has been in a list
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
 * utrace_member_alloc_bulk() - allocate entries for the lists of domains
 * @gfp: how to allocate them
 * @n: number of entries
 * @member: filled in; see utrace_member_alloc()
 *
 * Context: As @gfp says.
 * Return: @n, or 0 if there is no memory for all of them.
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
 * utrace_member_join() - add a task to the members of a domain
 * @member: the entry of the task, in no list
 * @task: the task; the caller must remove the entry before the task is freed
 * @domain: the domain, kept by the set that the task has or gets; or NULL
 *
 * Does nothing if @domain is NULL or not listed.
 *
 * Context: utrace->lock of the task or tasklist_lock is held, with interrupts
 * off unless PREEMPT_RT is set.  Takes @domain's lock.
 */
void utrace_member_join(struct utrace_member *member, struct task_struct *task,
			struct utrace_domain *domain)
{
	if (!domain || !domain->listed)
		return;
	member->task = task;
	member->domain = domain;
	guard(spinlock)(&domain->lock);
	list_add_tail_rcu(&member->list, &domain->members);
}

/**
 * utrace_member_leave() - remove a task from the members of its domain
 * @member: the entry, or NULL; it need not be in a list.  If it was, the caller
 *	frees it with kfree_rcu()
 *
 * Context: Any but NMI.  A reference to a set of the domain, or the successor
 * of the domain in a batch, keeps the domain.
 */
void utrace_member_leave(struct utrace_member *member)
{
	if (!member || list_empty(&member->list))
		return;
	guard(spinlock_irqsave)(&member->domain->lock);
	list_del_rcu(&member->list);
}

/* Successors of domains */

static bool utrace_inherits(struct utrace_engine *engine,
			    enum utrace_child kind)
{
	unsigned int scope = UTRACE_STATE_TREE;

	if (kind == UTRACE_CHILD_THREAD)
		scope |= UTRACE_STATE_PROCESS;

	return utrace_engine_state(engine) & scope;
}

/* The largest number of unprivileged engines of one user on one task. */
#define UTRACE_MAX_OF_USER	16

/*
 * Check whether an unprivileged engine must not be added to @domain although
 * there are free slots: UTRACE_KEPT_SLOTS slots are reserved for privileged
 * engines, and a user may have at most UTRACE_MAX_OF_USER engines.
 */
static bool utrace_is_crowded(const struct utrace_domain *domain,
			      struct utrace_engine *engine)
{
	unsigned int i, same = 0;

	if (utrace_engine_is_privileged(engine))
		return false;
	for (i = 0; i < domain->nlinks; i++) {
		struct utrace_engine *other = domain->link[i].engine;

		same += !utrace_engine_is_privileged(other) &&
			utrace_same_user(other, engine);
	}
	return same >= UTRACE_MAX_OF_USER ||
	       domain->nlinks >= UTRACE_MAX_ENGINES - UTRACE_KEPT_SLOTS;
}

/*
 * If an engine of @domain is detached, store it in ->going with a count in
 * utrace_engine_info::core: utrace_change_make_room() completes the detach,
 * which frees the slot.
 */
static void utrace_domain_find_detached(const struct utrace_domain *domain,
					struct utrace_change *change)
{
	unsigned int i;

	for (i = 0; i < domain->nlinks && !change->going; i++) {
		struct utrace_engine *engine = domain->link[i].engine;

		if (utrace_engine_detached(engine) &&
		    utrace_core_tryget(engine))
			change->going = engine;
	}
}

/* Set link @i of a new domain.  utrace_engine_lock is held. */
static void utrace_link_set(struct utrace_domain *domain, unsigned int i,
			    struct utrace_engine *engine, unsigned int slot)
{
	struct utrace_link *link = &domain->link[i];

	link->engine = engine;
	link->slot = slot;
	link->domain = domain;
	domain->listed |= utrace_inherits(engine, UTRACE_CHILD_THREAD);
	utrace_shell_get(engine);
	list_add_tail_rcu(&link->list, &engine->info->links);
}

/*
 * Make a domain of the engines of @old, with the engine of @change added, or
 * without it if it is detached.  The memory is charged to the caller.  Other
 * detached engines stay: utrace_count_callbacks() finds the tasks in callbacks
 * of such an engine by its domains.  Returns NULL if no engine is left, or
 * -ENOSPC or -ENOMEM as an error pointer.
 */
static struct utrace_domain *utrace_domain_make(struct utrace_change *change,
						const struct utrace_domain *old)
{
	struct utrace_engine *engine = change->engine;
	bool add = !utrace_engine_detached(engine);
	bool had = utrace_domain_has(old, engine);
	unsigned int i, n = old ? old->nlinks : 0;
	struct utrace_domain *domain;
	u64 slots = 0;

	if (add && !had && old && (n == UTRACE_MAX_ENGINES ||
				   utrace_is_crowded(old, engine))) {
		utrace_domain_find_detached(old, change);
		return ERR_PTR(-ENOSPC);
	}
	n += add - had;
	if (!n)
		return NULL;
	domain = kzalloc(struct_size(domain, link, n), GFP_KERNEL_ACCOUNT);
	if (!domain)
		return ERR_PTR(-ENOMEM);
	refcount_set(&domain->ref, 1);
	spin_lock_init(&domain->lock);
	INIT_LIST_HEAD(&domain->members);
	domain->nlinks = n;
	guard(spinlock_irqsave)(&utrace_engine_lock);
	for (i = 0, n = 0; old && i < old->nlinks; i++) {
		const struct utrace_link *link = &old->link[i];

		if (link->engine == engine)
			continue;
		utrace_link_set(domain, n++, link->engine, link->slot);
		slots |= BIT_ULL(link->slot);
	}
	if (add)
		utrace_link_set(domain, n, engine, ffz(slots));
	return domain;
}

/* Count the engines of a domain that a child inherits. */
static unsigned int utrace_count_inherited(const struct utrace_domain *domain,
					   enum utrace_child kind)
{
	unsigned int i, n = 0;

	for (i = 0; i < domain->nlinks; i++)
		n += utrace_inherits(domain->link[i].engine, kind);
	return n;
}

/*
 * Check whether @part, which children of @kind inherit from the old domain, is
 * also what they inherit from the new one.
 */
static bool utrace_inherited_is_same(struct utrace_engine *engine,
				     struct utrace_domain *part,
				     enum utrace_child kind)
{
	if (utrace_engine_detached(engine))
		return !utrace_domain_has(part, engine);
	return !utrace_inherits(engine, kind);
}

/* Fill in ->inherited of @domain, which replaces @old.  Returns 0 or -errno. */
static int utrace_domain_add_inherited(struct utrace_change *change,
				       struct utrace_domain *domain,
				       struct utrace_domain *old)
{
	enum utrace_child kind;

	for (kind = 0; kind < UTRACE_NCHILDREN; kind++) {
		unsigned int n = utrace_count_inherited(domain, kind);
		struct utrace_domain *part = old ? old->inherited[kind] : NULL;
		struct utrace_successor *succ;

		if (n && n == domain->nlinks) {
			domain->inherited[kind] = domain;
		} else if (n && utrace_inherited_is_same(change->engine, part,
							 kind)) {
			domain->inherited[kind] = utrace_domain_get(part);
		} else if (n) {
			succ = utrace_change_make(change, part, false);
			if (IS_ERR(succ))
				return PTR_ERR(succ);
			domain->inherited[kind] = succ->set ?
				utrace_domain_get(succ->set->domain) : NULL;
		}
	}
	return 0;
}

/*
 * Make a domain that replaces @domain, and a set for it.  Returns the set; NULL
 * if no engine is left; or -ENOSPC or -ENOMEM as an error pointer.
 */
static struct utrace_set *utrace_domain_make_next(struct utrace_change *change,
						  struct utrace_domain *domain,
						  bool kthread)
{
	struct utrace_domain *next = utrace_domain_make(change, domain);
	struct utrace_set *set;
	int ret;

	if (IS_ERR(next))
		return ERR_CAST(next);
	ret = next ? utrace_domain_add_inherited(change, next, domain) : 0;
	set = ret ? ERR_PTR(ret) : utrace_set_latest(next, kthread);
	utrace_domain_put(next);
	return set;
}

static bool utrace_set_has_detached(const struct utrace_set *set)
{
	struct utrace_domain *domain = set ? set->domain : NULL;
	unsigned int i;

	for (i = 0; domain && i < domain->nlinks; i++)
		if (utrace_engine_detached(domain->link[i].engine))
			return true;
	return false;
}

/*
 * Let children that tasks with @domain create from now on inherit @set, or the
 * set that has replaced it, see utrace_inherited_set().
 */
static void utrace_domain_replace(struct utrace_domain *domain,
				  struct utrace_set *set)
{
	if (domain->replaced)
		return;
	domain->next = utrace_set_get(set);
	/* Pairs with utrace_inherited_set(). */
	smp_store_release(&domain->replaced, true);
}

/* Slow path of utrace_change_make(): the domain has no successor yet. */
static noinline struct utrace_successor *
utrace_successor_make(struct utrace_change *change,
		      struct utrace_domain *domain, bool kthread)
{
	bool remove = utrace_engine_detached(change->engine);
	struct utrace_successor *succ;
	struct utrace_set *set;

	succ = kmalloc(sizeof(*succ), GFP_KERNEL);
	if (!succ)
		return ERR_PTR(-ENOMEM);
	if (remove && domain && domain->replaced &&
	    !(domain->next &&
	      utrace_domain_has(domain->next->domain, change->engine)))
		set = utrace_set_get(domain->next);
	else
		set = utrace_domain_make_next(change, domain, kthread);
	if (IS_ERR(set)) {
		kfree(succ);
		return ERR_CAST(set);
	}
	succ->domain = utrace_domain_get(domain);
	succ->kthread = kthread;
	succ->set = set;
	list_add_tail(&succ->list, &change->list);
	if (!domain)
		change->bare[kthread] = succ;
	else
		domain->succ = succ;
	if (remove && utrace_domain_has(domain, change->engine))
		utrace_domain_replace(domain, set);
	return succ;
}

/**
 * utrace_change_make() - look up or make the successor of a domain
 * @change: the change, after utrace_change_begin()
 * @domain: the domain, to which the caller has a reference; NULL for tasks
 *	without one
 * @kthread: the tasks are kernel threads; only without @domain
 *
 * If the engine of @change is being removed, later children of tasks with
 * @domain inherit from the successor.
 *
 * Context: May sleep.  utrace_change_mutex is held.
 * Return:
 * * the successor, which belongs to @change
 * * -ENOSPC - @domain has no slot for the engine
 * * -ENOMEM - no memory
 */
struct utrace_successor *utrace_change_make(struct utrace_change *change,
					    struct utrace_domain *domain,
					    bool kthread)
{
	return utrace_change_find(change, domain, kthread) ?:
	       utrace_successor_make(change, domain, kthread);
}

/**
 * utrace_change_find() - look up the successor of a domain
 * @change: the change, after utrace_change_begin()
 * @domain: the domain, to which the caller has a reference; NULL for tasks
 *	without one
 * @kthread: the tasks are kernel threads; only without @domain
 *
 * Context: utrace_change_mutex is held.
 * Return:
 * * the successor that utrace_change_make() made for @domain
 * * NULL - none was made
 */
struct utrace_successor *utrace_change_find(struct utrace_change *change,
					    struct utrace_domain *domain,
					    bool kthread)
{
	lockdep_assert_held(&utrace_change_mutex);

	return domain ? domain->succ : change->bare[kthread];
}

static void utrace_successor_drop(struct utrace_change *change,
				  struct utrace_successor *succ)
{
	if (!succ->domain)
		change->bare[succ->kthread] = NULL;
	list_del(&succ->list);
	utrace_set_put(succ->set);
	utrace_domain_put(succ->domain);
	kfree(succ);
}

/**
 * utrace_change_begin() - begin a batch
 * @change: the change, in no batch
 * @killable: give up if the caller has a fatal signal pending
 *
 * Successors made in previous batches are reused, with two exceptions.  A
 * successor that has a detached engine is dropped: the walk that removes the
 * engine may be over, so a task that got this successor would keep the engine.
 * A successor for tasks without a domain is dropped if its set is out of date.
 *
 * Context: May sleep.  Returns with utrace_change_mutex held; until
 * utrace_change_end() releases it, memory is allocated as with GFP_NOIO.
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
		    (!succ->domain && succ->set &&
		     !utrace_set_is_current(succ->set)))
			utrace_successor_drop(change, succ);
		else if (succ->domain)
			succ->domain->succ = succ;
	}
	return 0;
}

/**
 * utrace_change_end() - end a batch
 * @change: the change; its successors are kept for the next batch
 *
 * Context: After utrace_change_begin(), by the same task.  Releases
 * utrace_change_mutex.
 */
void utrace_change_end(struct utrace_change *change)
{
	struct utrace_successor *succ;

	list_for_each_entry(succ, &change->list, list)
		if (succ->domain)
			succ->domain->succ = NULL;
	memalloc_noio_restore(change->noio);
	mutex_unlock(&utrace_change_mutex);
}

/**
 * utrace_change_destroy() - free the successors of a change
 * @change: the change, in no batch
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
