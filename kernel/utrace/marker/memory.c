// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: changes of address spaces that have words
 *
 * Memory management calls hooks when memory is copied, mapped, unmapped and
 * freed, as it does for uprobes.  The hooks are behind a static key, which is
 * off while no address space has words, and behind a flag of the mm_struct.
 */
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/utrace_mm.h>

#include "find.h"
#include "marker.h"
#include "mm.h"
#include "word.h"
#include "write.h"

/* Fork */

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
		child = utrace_marker_mm_new(new);
	if (child) {
		/*
		 * No madvise(2) of the copy begins before the hooks are
		 * enabled.
		 */
		child->entered = true;
		ret = marker_dup(parent, child);
		if (!RB_EMPTY_ROOT(&child->words))
			utrace_marker_mm_add(child);
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

/* Losing and getting pages */

/*
 * Check whether a word has a leaving share, which utrace_marker_clean() is to
 * remove.
 */
static bool marker_has_leaving(const struct marker_word *word)
{
	const struct marker_share *share;

	list_for_each_entry(share, &word->shares, of_word)
		if (share->leaving)
			return true;
	return false;
}

/* Mark a word for another attempt if it needs a write or has leaving shares. */
static void marker_look_again(struct marker_mm *memory, struct marker_word *word)
{
	word->since = memory->sequence;
	if (word->shared) {
		word->shared = false;
		word->unsure = true;
	}
	if (marker_is_settled(word) && !marker_has_leaving(word))
		return;
	word->error = 0;
	utrace_marker_touch(memory, word);
}

static bool marker_retry_word(struct marker_mm *memory,
			      struct marker_word *word, void *unused)
{
	if (!marker_is_site(&word->place))
		marker_look_again(memory, word);
	return false;
}

static bool marker_lose_word(struct marker_mm *memory,
			     struct marker_word *word, void *unused)
{
	if (marker_is_site(&word->place))
		return false;
	word->applied = 0;
	if (!marker_is_settled(word))
		utrace_marker_touch(memory, word);
	return false;
}

static bool marker_forget_word(struct marker_mm *memory,
			       struct marker_word *word, void *unused)
{
	if (marker_is_site(&word->place))
		return false;
	word->applied = 0;
	marker_look_again(memory, word);
	return false;
}

/* Increment marker_mm.sequence, then call @fn for the words of a range. */
static void marker_visit_range(struct marker_mm *memory, unsigned long start,
			       unsigned long end,
			       bool (*fn)(struct marker_mm *memory,
					  struct marker_word *word, void *arg))
{
	const struct marker_place from = { .addr = start };

	scoped_guard(spinlock, &memory->lock)
		memory->sequence++;
	utrace_marker_visit(memory, MARKER_ALL, &from, end - 1, fn, NULL);
}

/*
 * If fork(2) has copied words of @memory but not yet the pages, the loss counts
 * for the copy as well.  Words that fork(2) copies from here on have lost it
 * already.
 */
static void marker_lose_copy(struct marker_mm *memory, unsigned long start,
			     unsigned long end)
{
	struct marker_mm *copy;

	scoped_guard(spinlock, &memory->lock) {
		copy = memory->copy;
		if (copy)
			refcount_inc(&copy->ref);
	}
	if (!copy)
		return;
	marker_visit_range(copy, start, end, marker_lose_word);
	utrace_marker_mm_put(copy);
}

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
	marker_visit_range(memory, start, end, marker_retry_word);
	utrace_marker_ask_owners(memory, start, end);
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
	marker_visit_range(memory, start, end, marker_forget_word);
	marker_lose_copy(memory, start, end);
	utrace_marker_ask_owners(memory, start, end);
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
	struct marker_mm *memory = utrace_marker_mm_find(mm);

	hold->start = start;
	hold->end = end;
	hold->memory = memory;
	if (!memory)
		return;
	scoped_guard(spinlock, &memory->lock)
		list_add(&hold->list, &memory->holds);
	if (!lost)
		return;
	marker_visit_range(memory, hold->start, hold->end, marker_lose_word);
	marker_lose_copy(memory, hold->start, hold->end);
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
	struct marker_mm *memory = hold->memory;

	if (!memory)
		return;
	/*
	 * Do this before the end of the hold: a writer that has the old page
	 * must see that marker_mm.sequence has grown.
	 */
	marker_visit_range(memory, hold->start, hold->end, marker_retry_word);
	scoped_guard(spinlock, &memory->lock)
		list_del(&hold->list);
	utrace_marker_ask_owners(memory, hold->start, hold->end);
	utrace_marker_mm_put(memory);
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
	utrace_marker_mm_remove(memory);
	utrace_marker_drop(memory);
	utrace_marker_mm_put(memory);
}
