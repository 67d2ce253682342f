// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: address spaces that have words
 *
 * A hash table finds the struct marker_mm of a struct mm_struct.  Memory
 * management calls hooks when memory is copied, mapped, unmapped and freed, as
 * it does for uprobes.  The hooks are behind a static key, which is off while
 * no address space has words, and behind a flag of the mm_struct.
 */
#include <linux/hashtable.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/utrace_mm.h>

#include "marker.h"

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

/* The caller has incremented the static key for the new object. */
static struct marker_mm *marker_mm_new(struct mm_struct *mm)
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
	INIT_WORK(&memory->ask, utrace_marker_ask_work);
	return memory;
}

/* Returns false if the mm_struct has a struct marker_mm already. */
static bool marker_mm_add(struct marker_mm *memory)
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
		memory = marker_mm_new(mm);
		if (!memory)
			break;
		memory->pid = get_pid(pid);
		if (marker_mm_add(memory))
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

/* Fork */

/**
 * utrace_marker_stock_free() - free what is left of a stock
 * @stock: the stock
 *
 * Context: Any.
 */
void utrace_marker_stock_free(struct marker_stock *stock)
{
	struct marker_word *word, *next_word;
	struct marker_share *share, *next;

	list_for_each_entry_safe(word, next_word, &stock->words, spare)
		kfree(word);
	list_for_each_entry_safe(share, next, &stock->shares, of_word)
		kfree(share);
}

/**
 * utrace_marker_stock_fill() - allocate words and shares
 * @stock: the stock
 * @nwords: minimum number of words in the stock afterwards
 * @nshares: minimum number of shares in the stock afterwards
 *
 * Context: Process context; sleeps.  Charges the memory to the current task.
 * Return: 0 or -ENOMEM.
 */
int utrace_marker_stock_fill(struct marker_stock *stock, unsigned int nwords,
			     unsigned int nshares)
{
	struct marker_share *share;
	struct marker_word *word;

	for (; stock->nwords < nwords; stock->nwords++) {
		word = kzalloc(sizeof(*word), GFP_KERNEL_ACCOUNT);
		if (!word)
			return -ENOMEM;
		list_add(&word->spare, &stock->words);
	}
	for (; stock->nshares < nshares; stock->nshares++) {
		share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
		if (!share)
			return -ENOMEM;
		list_add(&share->of_word, &stock->shares);
	}
	return 0;
}

/*
 * Copy the words of @parent in parts.  Before the first part, @child is entered
 * as the copy, so that pages that @parent loses are lost for @child as well.
 * Returns 0 or -ENOMEM.
 */
static int marker_dup(struct marker_mm *parent, struct marker_mm *child)
{
	struct marker_stock stock = MARKER_STOCK_INIT(stock);
	struct marker_place from = {};
	int ret;

	refcount_inc(&child->ref);
	scoped_guard(spinlock, &parent->lock)
		parent->copy = child;
	do {
		ret = utrace_marker_stock_fill(&stock, MARKER_PIECE,
					       max(stock.need, MARKER_PIECE));
	} while (!ret && utrace_marker_inherit(parent, child, &from, &stock));
	utrace_marker_stock_free(&stock);
	return ret;
}

/**
 * __utrace_dup_mm() - copy the words for fork(2)
 * @old: the address space that is about to be copied
 * @new: the copy, which is still empty
 *
 * Until __utrace_dup_mm_end(), each loss of a page of @old counts for @new as
 * well.  If the copy fails, the last mmput() of @new drops its words.
 *
 * Context: dup_mmap(), with mmap_lock of both held for writing; sleeps.
 * Return: 0 or -ENOMEM.
 */
int __utrace_dup_mm(struct mm_struct *old, struct mm_struct *new)
{
	struct marker_mm *parent = utrace_marker_mm_find(old);
	struct marker_mm *child = NULL;
	int ret = -ENOMEM;

	mmap_assert_write_locked(old);

	if (!parent)
		return 0;
	/* @parent holds the key enabled, so this takes no lock for patching. */
	if (!WARN_ON_ONCE(!static_key_fast_inc_not_disabled(&utrace_mm_used.key.key)))
		child = marker_mm_new(new);
	if (child) {
		/*
		 * No madvise(2) of the copy begins before the hooks are
		 * enabled.
		 */
		child->entered = true;
		ret = marker_dup(parent, child);
		if (!RB_EMPTY_ROOT(&child->words))
			marker_mm_add(child);
		utrace_marker_mm_put(child);
	}
	utrace_marker_mm_put(parent);
	return ret;
}

/**
 * __utrace_dup_mm_end() - end what __utrace_dup_mm() began
 * @old: the address space that was copied, or whose copy has failed
 *
 * From here on, losses of pages of @old do not affect the copy.
 *
 * Context: dup_mmap(), with mmap_lock held for writing.
 */
void __utrace_dup_mm_end(struct mm_struct *old)
{
	struct marker_mm *parent = utrace_marker_mm_find(old);
	struct marker_mm *child;

	mmap_assert_write_locked(old);

	if (!parent)
		return;
	scoped_guard(spinlock, &parent->lock) {
		child = parent->copy;
		parent->copy = NULL;
	}
	if (child)
		utrace_marker_mm_put(child);
	utrace_marker_mm_put(parent);
}

/*
 * Make @task the owner of @mm.  Pages are charged to the memory cgroup of the
 * owner, and a new task is in the root cgroup until cgroup_post_fork().
 * Returns the previous owner.
 */
static struct task_struct *marker_be_owner(struct mm_struct *mm,
					   struct task_struct *task)
{
	struct task_struct *before = NULL;

#ifdef CONFIG_MEMCG
	/* No other task changes the owner before a task with @mm is visible. */
	before = rcu_replace_pointer(mm->owner, task, true);
#endif
	return before;
}

/**
 * __utrace_mm_copied() - disarm in the copied memory of a new task
 * @mm: the copy, in which no task runs yet
 *
 * Owners that do not follow have no engine in the child, so the parent disarms
 * their words in the copy.  This cannot be done in dup_mmap(), because filters
 * of perf look at the memory of the new task.
 *
 * Context: copy_process(); sleeps.
 * Return: 0, or -ENOMEM, if the caller must drop the copy.
 */
int __utrace_mm_copied(struct mm_struct *mm)
{
	struct marker_mm *memory = utrace_marker_mm_find(mm);
	struct task_struct *child;
	int ret;

	if (!memory)
		return 0;
	child = marker_be_owner(mm, current);
	ret = utrace_marker_settle_child(memory);
	marker_be_owner(mm, child);
	utrace_marker_mm_put(memory);
	return ret;
}

/* Mapping and unmapping */

/**
 * __utrace_mmap() - retry failed words after memory was mapped
 * @mm: the address space
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: mmap(2), mremap(2), brk(2) and the growth of a stack, with mmap_lock
 * held for writing.
 */
void __utrace_mmap(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct marker_mm *memory = utrace_marker_mm_find(mm);

	if (!memory)
		return;
	utrace_marker_retry(memory, start, end);
	utrace_marker_mm_put(memory);
}

/**
 * __utrace_munmap() - forget words of unmapped or moved pages
 * @mm: the address space
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: munmap(2), mmap(2) over a mapping, mremap(2) or %UFFDIO_MOVE, with
 * mmap_lock or the lock of the mapping held.
 */
void __utrace_munmap(struct mm_struct *mm, unsigned long start,
		     unsigned long end)
{
	struct marker_mm *memory;

	/*
	 * The whole address space is being freed: __utrace_drop_mm() has
	 * handled it.
	 */
	if (!atomic_read(&mm->mm_users))
		return;
	memory = utrace_marker_mm_find(mm);
	if (!memory)
		return;
	utrace_marker_forget(memory, start, end);
	utrace_marker_mm_put(memory);
}

/**
 * utrace_hold() - prevent writes to a range until utrace_release()
 * @mm: the address space
 * @hold: the range, filled in here
 * @start: begin of the range
 * @end: end of the range
 * @lost: all pages of the range are lost
 *
 * For callers that remove pages from a mapping while writers may run: a page
 * that a writer finds may be the old one or the new one.
 *
 * Context: madvise(2), the truncation of a file, or %UFFDIO_MOVE.
 */
void utrace_hold(struct mm_struct *mm, struct utrace_hold *hold,
		 unsigned long start, unsigned long end, bool lost)
{
	hold->start = start;
	hold->end = end;
	hold->memory = utrace_marker_mm_find(mm);
	if (hold->memory)
		utrace_marker_hold(hold->memory, hold, lost);
}

/**
 * utrace_release() - allow writes to a range again
 * @hold: the range
 *
 * Words that were held back are written at the next safe point.
 *
 * Context: As utrace_hold().
 */
void utrace_release(struct utrace_hold *hold)
{
	if (!hold->memory)
		return;
	utrace_marker_release(hold->memory, hold);
	utrace_marker_mm_put(hold->memory);
}

/**
 * __utrace_drop_mm() - drop the words of an mm_struct that has no users left
 * @mm: the address space
 *
 * Context: The last mmput(); process context.
 */
void __utrace_drop_mm(struct mm_struct *mm)
{
	struct marker_mm *memory = utrace_marker_mm_find(mm);

	if (!memory)
		return;
	scoped_guard(spinlock, &table_lock)
		hash_del_rcu(&memory->node);
	utrace_marker_mm_put(memory);
	utrace_marker_drop(memory);
	utrace_marker_mm_put(memory);
}
