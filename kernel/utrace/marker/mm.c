// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: memory that has words
 *
 * A table finds the words of a struct mm_struct.  The kernel's memory management
 * tells when memory is copied, mapped, unmapped and freed, as it tells uprobes;
 * these hooks are behind a static key that is off while no memory has words, and
 * behind a bit of the memory that has them.
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
 * On while a struct marker_mm exists, and for a second after that, since patching
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
 * utrace_marker_mm_put() - drop a reference to words
 * @memory: the words
 *
 * Context: Any but NMI.
 */
void utrace_marker_mm_put(struct marker_mm *memory)
{
	if (refcount_dec_and_test(&memory->ref))
		marker_mm_free(memory);
}

/**
 * utrace_marker_mm_tryget() - take a reference to words
 * @memory: the words, which are in a list of an owner whose lock is held
 *
 * Context: Any.
 * Return: false if the memory is gone.
 */
bool utrace_marker_mm_tryget(struct marker_mm *memory)
{
	return refcount_inc_not_zero(&memory->ref);
}

/**
 * utrace_marker_mm_peek() - find the words of memory, without a reference
 * @mm: the memory; the caller keeps it alive
 *
 * Context: Under RCU.
 * Return: the words, which stay as long as RCU is held, or NULL if the memory has none.
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
 * utrace_marker_mm_find() - find the words of memory
 * @mm: the memory; the caller keeps it alive
 *
 * Context: Any but NMI.
 * Return: the words, with a reference, or NULL if the memory has none.
 */
struct marker_mm *utrace_marker_mm_find(struct mm_struct *mm)
{
	struct marker_mm *memory;

	guard(rcu)();
	memory = utrace_marker_mm_peek(mm);
	return memory && utrace_marker_mm_tryget(memory) ? memory : NULL;
}

/* The caller has counted the new one in the static key. */
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

/* Returns false if the memory has words already. */
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
 * utrace_marker_mm_get() - find the words of memory, or let it have some
 * @mm: the memory; the caller has a reference, as of mmget()
 * @pid: the process that has it
 *
 * Context: Process context; sleeps.
 * Return: the words, with a reference, or NULL if there is no memory.
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
 * utrace_marker_mm_born() - say which process has memory that fork(2) has copied
 * @memory: its words
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
 * @nwords: how many words it is to have at least
 * @nshares: how many shares
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
 * Copy the words of @parent in parts.  Before the first part, @child becomes the copy, which
 * loses what @parent loses.  Returns 0 or -ENOMEM.
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
 * __utrace_dup_mm() - memory is about to be copied
 * @old: the memory
 * @new: the copy, which is empty yet
 *
 * Until __utrace_dup_mm_end(), @new loses what @old loses.  If the copy fails, the last
 * mmput() of @new forgets its words.
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
	/* @parent counts already, so that no lock is taken for patching. */
	if (!WARN_ON_ONCE(!static_key_fast_inc_not_disabled(&utrace_mm_used.key.key)))
		child = marker_mm_new(new);
	if (child) {
		/* No madvise(2) begins here before the hooks are on. */
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
 * __utrace_dup_mm_end() - memory was copied, or that has failed
 * @old: the memory
 *
 * From here on the copy does not lose what @old loses.
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
 * Pages are charged to the memory cgroup of the owner of @mm; a new task is in the root
 * cgroup until cgroup_post_fork().  Returns the owner of before.
 */
static struct task_struct *marker_be_owner(struct mm_struct *mm,
					   struct task_struct *task)
{
	struct task_struct *before = NULL;

#ifdef CONFIG_MEMCG
	/* Nobody else changes it while no task was seen that has @mm. */
	before = rcu_replace_pointer(mm->owner, task, true);
#endif
	return before;
}

/**
 * __utrace_mm_copied() - a new task has memory that was copied
 * @mm: the memory, in which no task runs yet
 *
 * Owners that do not follow have no engine there, so the parent takes back what was copied
 * of theirs.  This cannot be done in dup_mmap(): filters of perf look at the memory of
 * the new task.
 *
 * Context: copy_process(); sleeps.
 * Return: 0, or -ENOMEM, if the copy has to be dropped.
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
 * __utrace_mmap() - memory was mapped
 * @mm: the memory
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: mmap(2), mremap(2), brk(2) and the growth of a stack, with mmap_lock held for
 * writing.
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
 * __utrace_munmap() - private pages are about to be unmapped, or were moved elsewhere
 * @mm: the memory
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: munmap(2), mmap(2) over a mapping, mremap(2) or %UFFDIO_MOVE, with mmap_lock
 * or the lock of the mapping held.
 */
void __utrace_munmap(struct mm_struct *mm, unsigned long start,
		     unsigned long end)
{
	struct marker_mm *memory;

	/* All of it goes; __utrace_drop_mm() has done what is to be done. */
	if (!atomic_read(&mm->mm_users))
		return;
	memory = utrace_marker_mm_find(mm);
	if (!memory)
		return;
	utrace_marker_forget(memory, start, end);
	utrace_marker_mm_put(memory);
}

/**
 * utrace_hold() - write nothing to a range until utrace_release()
 * @mm: the memory
 * @hold: the range, filled in here
 * @start: begin of the range
 * @end: end of the range
 * @lost: all pages of the range go
 *
 * For callers that take pages away from a mapping beside writers: a page that a writer
 * finds may be the old one or the new one.
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
 * utrace_release() - write to a range again
 * @hold: the range
 *
 * What could not be written meanwhile is written at the next safe point.
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
 * __utrace_drop_mm() - memory has no user any more
 * @mm: the memory
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
