// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: address spaces that have words
 *
 * A hash table finds the struct marker_mm of a struct mm_struct.  The tasks of
 * the owners of dirty words can be sent past their safe point, where they write
 * the words.
 */
#include <linux/hashtable.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/utrace.h>
#include <linux/utrace_mm.h>
#include <linux/workqueue.h>

#include "find.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"

static DEFINE_HASHTABLE(marker_table, 8);
static DEFINE_SPINLOCK(table_lock);	/* innermost */

/*
 * On while a struct marker_mm exists, and for a second longer, since patching
 * interrupts all CPUs.
 */
DEFINE_STATIC_KEY_DEFERRED_FALSE(utrace_mm_used, HZ);

static void marker_mm_free(struct marker_mm *memory)
{
	mmdrop(memory->mm);
	put_pid(memory->pid);
	static_branch_slow_dec_deferred(&utrace_mm_used);
	kfree_rcu(memory, rcu);
}

/**
 * utrace_marker_mm_put() - drop a reference to an address space
 * @memory: the address space
 *
 * Context: Any but NMI.
 */
void utrace_marker_mm_put(struct marker_mm *memory)
{
	if (refcount_dec_and_test(&memory->ref))
		marker_mm_free(memory);
}

/**
 * utrace_marker_mm_tryget() - take a reference unless the last one is gone
 * @memory: the address space; the caller found it by a share, and holds
 *	marker_owner.lock
 *
 * Context: Any.
 * Return: false if the last reference is gone.
 */
bool utrace_marker_mm_tryget(struct marker_mm *memory)
{
	return refcount_inc_not_zero(&memory->ref);
}

/**
 * utrace_marker_mm_peek() - look up a struct marker_mm, without a reference
 * @mm: the mm_struct; the caller keeps it alive
 *
 * Context: An RCU section.
 * Return: the struct marker_mm, which is valid within the RCU section; NULL if
 * @mm has no words.
 */
struct marker_mm *utrace_marker_mm_peek(struct mm_struct *mm)
{
	struct marker_mm *memory;

	hash_for_each_possible_rcu(marker_table, memory, node,
				   (unsigned long)mm)
		if (memory->mm == mm)
			return memory;
	return NULL;
}

/**
 * utrace_marker_mm_find() - look up a struct marker_mm
 * @mm: the mm_struct; the caller keeps it alive
 *
 * Context: Any but NMI.
 * Return: the struct marker_mm, with a reference; NULL if @mm has no words.
 */
struct marker_mm *utrace_marker_mm_find(struct mm_struct *mm)
{
	struct marker_mm *memory;

	guard(rcu)();
	memory = utrace_marker_mm_peek(mm);
	return memory && utrace_marker_mm_tryget(memory) ? memory : NULL;
}

/* Asking the tasks of owners */

/* Search for the owner with the lowest address above @last. */
struct marker_owners {
	const struct marker_owner *last;
	struct marker_owner *next;
};

/* Take an owner of a word if it is the best candidate so far. */
static bool marker_look_owner(struct marker_mm *memory,
			      struct marker_word *word, void *arg)
{
	struct marker_owners *owners = arg;
	struct marker_owner *old = owners->next;
	struct marker_share *share;

	list_for_each_entry(share, &word->shares, of_word)
		if (share->owner > owners->last &&
		    (!owners->next || share->owner < owners->next))
			owners->next = share->owner;
	if (owners->next == old)
		return false;
	kref_get(&owners->next->ref);
	if (old)
		utrace_marker_owner_put(old);
	return false;
}

/* utrace_marker_next_owner() for the words of a range. */
static struct marker_owner *marker_next_owner(struct marker_mm *memory,
					      struct marker_owner *last,
					      unsigned long start,
					      unsigned long last_addr)
{
	const struct marker_place from = { .addr = start };
	struct marker_owners owners = { .last = last };

	utrace_marker_visit(memory, MARKER_DIRTY, &from, last_addr,
			    marker_look_owner, &owners);
	if (last)
		utrace_marker_owner_put(last);
	return owners.next;
}

/**
 * utrace_marker_next_owner() - find the next owner of a dirty word
 * @memory: the address space
 * @last: the owner that was found last, or NULL; consumes the reference.
 *	Owners are found in the order of their addresses
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 * Return: the owner, with a reference, or NULL.
 */
struct marker_owner *utrace_marker_next_owner(struct marker_mm *memory,
					      struct marker_owner *last)
{
	return marker_next_owner(memory, last, 0, ULONG_MAX);
}

/*
 * Make the tasks of the owners of dirty words up to @last_addr pass the safe
 * point.
 */
static void marker_ask_now(struct marker_mm *memory, unsigned long start,
			   unsigned long last_addr)
{
	struct marker_owner *owner = NULL;

	while ((owner = marker_next_owner(memory, owner, start, last_addr))) {
		struct utrace_engine *engine = utrace_marker_engine_get(owner);

		if (!engine)
			continue;
		/* -ESRCH: the tasks of this owner are dead. */
		(void)!utrace_control(NULL, engine, UTRACE_REPORT);
		utrace_engine_put(engine);
	}
}

/* Make tasks of the owners of all dirty words pass the safe point. */
static void marker_ask_work(struct work_struct *work)
{
	struct marker_mm *memory = container_of(work, struct marker_mm, ask);

	marker_ask_now(memory, 0, ULONG_MAX);
	utrace_marker_mm_put(memory);
}

/**
 * utrace_marker_ask_later() - queue a work item that makes the tasks of the
 * owners of all dirty words pass the safe point
 * @memory: the address space; the caller has a reference
 *
 * Context: Any but NMI.
 */
void utrace_marker_ask_later(struct marker_mm *memory)
{
	refcount_inc(&memory->ref);
	if (!queue_work(system_unbound_wq, &memory->ask))
		utrace_marker_mm_put(memory);
}

/**
 * utrace_marker_ask_owners() - make the tasks of the owners of dirty words in a
 * range pass the safe point
 * @memory: the address space
 * @start: begin of the range
 * @end: end of the range
 *
 * A truncation visits all mappings of all processes with locks held, and cannot
 * be killed.  So for another address space this queues a work item, which asks
 * once for many mappings.
 *
 * Context: Process context; sleeps.
 */
void utrace_marker_ask_owners(struct marker_mm *memory, unsigned long start,
			      unsigned long end)
{
	if (memory->mm == current->mm)
		marker_ask_now(memory, start, end - 1);
	else if (marker_is_dirty(memory))
		utrace_marker_ask_later(memory);
}

/* Creation and removal */

/**
 * utrace_marker_mm_new() - create a struct marker_mm that is not in the table
 * @mm: the mm_struct; the caller has incremented utrace_mm_used for the new
 *	object
 *
 * Context: Process context; sleeps.
 * Return: the struct marker_mm, with a reference; NULL if out of memory.
 */
struct marker_mm *utrace_marker_mm_new(struct mm_struct *mm)
{
	struct marker_mm *memory = kzalloc(sizeof(*memory),
					   GFP_KERNEL_ACCOUNT);

	if (!memory) {
		static_branch_slow_dec_deferred(&utrace_mm_used);
		return NULL;
	}
	mmgrab(mm);
	memory->mm = mm;
	refcount_set(&memory->ref, 1);
	spin_lock_init(&memory->lock);
	memory->words = RB_ROOT;
	memory->dirty = RB_ROOT;
	memory->events = RB_ROOT;
	seqcount_spinlock_init(&memory->turns, &memory->lock);
	INIT_LIST_HEAD(&memory->holds);
	mutex_init(&memory->install_lock);
	INIT_WORK(&memory->ask, marker_ask_work);
	return memory;
}

/**
 * utrace_marker_mm_add() - add a struct marker_mm to the table
 * @memory: the struct marker_mm
 *
 * Context: Process context.
 * Return: false if its mm_struct has a struct marker_mm in the table already.
 */
bool utrace_marker_mm_add(struct marker_mm *memory)
{
	struct marker_mm *other;

	guard(spinlock)(&table_lock);
	hash_for_each_possible(marker_table, other, node,
			       (unsigned long)memory->mm)
		if (other->mm == memory->mm)
			return false;
	refcount_inc(&memory->ref);
	set_bit(UTRACE_MMF_WORDS, &memory->mm->flags);
	hash_add_rcu(marker_table, &memory->node, (unsigned long)memory->mm);
	return true;
}

/**
 * utrace_marker_mm_remove() - remove a struct marker_mm from the table
 * @memory: the struct marker_mm; the reference of the table is dropped, and the
 *	caller has another one
 *
 * Context: Process context.
 */
void utrace_marker_mm_remove(struct marker_mm *memory)
{
	scoped_guard(spinlock, &table_lock)
		hash_del_rcu(&memory->node);
	utrace_marker_mm_put(memory);
}

/**
 * utrace_marker_mm_get() - look up a struct marker_mm, or create it
 * @mm: the mm_struct; the caller has a reference, as of mmget()
 * @pid: the process that uses it
 *
 * Context: Process context; sleeps.
 * Return: the struct marker_mm, with a reference; NULL if out of memory.
 */
struct marker_mm *utrace_marker_mm_get(struct mm_struct *mm, struct pid *pid)
{
	struct marker_mm *memory;

	while (!(memory = utrace_marker_mm_find(mm))) {
		static_branch_deferred_inc(&utrace_mm_used);
		memory = utrace_marker_mm_new(mm);
		if (!memory)
			break;
		memory->pid = get_pid(pid);
		if (utrace_marker_mm_add(memory))
			break;
		utrace_marker_mm_put(memory);
	}
	return memory;
}

/**
 * utrace_marker_mm_born() - record the process of a copied address space
 * @memory: the address space
 * @pid: the process, which does not run yet
 *
 * Context: Process context.  Takes marker_mm.lock.
 */
void utrace_marker_mm_born(struct marker_mm *memory, struct pid *pid)
{
	guard(spinlock)(&memory->lock);
	if (!memory->pid)
		WRITE_ONCE(memory->pid, get_pid(pid));
}
