/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: address spaces that have words */
#ifndef _KERNEL_UTRACE_MARKER_MM_H
#define _KERNEL_UTRACE_MARKER_MM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct marker_owner;
struct mm_struct;
struct pid;

/*
 * Number of owners for which a struct marker_mm records how far it has
 * followed.
 */
#define MARKER_FOLLOWED	8

/**
 * struct marker_followed - how far a process has armed the events of an owner
 * @owner: marker_owner.number
 * @number: marker_event.number up to which the process has armed them; 0: none.
 *	May be read without a lock
 *
 * Protected by marker_mm.lock.
 */
struct marker_followed {
	u64 owner;
	u64 number;
};

/**
 * struct marker_mm - an address space that has words
 * @node: entry in the table; under table_lock, read under RCU
 * @mm: the struct mm_struct, counted by mmgrab(); the last mmput() removes the
 *	entry from the table.  Constant
 * @ref: one reference for the table, one for each caller that found it, one for
 *	each hold, one for marker_mm.copy, and one for @ask
 * @lock: protects @words, @pid and the members of the words; innermost but for
 *	marker_owner.lock, locks of the core and, in fork(2), the lock of the
 *	copy
 * @words: struct marker_word, in the order of marker_compare()
 * @events: struct marker_share of user_events, by user_event and then by event,
 *	see find.c.  Under @lock
 * @turns: changes when @words does, so that hits look up their word without
 *	@lock
 * @install_lock: serializes the installation and removal of breakpoints
 * @nshares: number of shares of all words.  Under @lock; read without it as a
 *	hint
 * @numbers: the highest marker_share.number.  Under @lock
 * @sequence: incremented when pages appear or have gone.  Under @lock
 * @holds: struct utrace_hold: ranges that are not written because their pages
 *	are being removed.  Under @lock
 * @copy: the address space to which fork(2) is copying this one, counted, or
 *	NULL.  Under @lock
 * @entered: a writer has held mmap_lock for writing, so each madvise(2) that is
 *	in progress holds its range.  Set once, with mmap_lock held
 * @dirty: the words that may differ from the wanted value or have shares that
 *	are leaving, in the order of marker_compare().  Under @lock; whether it
 *	is empty is read without
 * @followed: how far the process has followed some owners, see follow.c.  Under
 *	@lock
 * @unfollowed: number of calls of utrace_marker_unfollow().  Under @lock
 * @ask: sends the tasks of the owners of @dirty past their safe point, for
 *	callers of another process; holds a reference to the struct marker_mm
 * @pid: the process that had the address space when it got words, counted;
 *	NULL: the child does not run yet
 * @rcu: frees the structure when readers of the table have finished
 */
struct marker_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	refcount_t ref;
	spinlock_t lock;	/* words, and what was written */
	struct rb_root words;
	struct rb_root events;
	seqcount_spinlock_t turns;
	struct mutex install_lock;	/* breakpoints */
	unsigned int nshares;
	u64 numbers;
	u64 sequence;
	struct list_head holds;
	struct marker_mm *copy;
	bool entered;
	struct rb_root dirty;
	struct marker_followed followed[MARKER_FOLLOWED];
	u64 unfollowed;
	struct work_struct ask;
	struct pid *pid;
	struct rcu_head rcu;
};

/*
 * Check whether words may differ from the wanted value.  Without marker_mm.lock
 * the answer may be stale.
 */
static inline bool marker_is_dirty(const struct marker_mm *memory)
{
	return !RB_EMPTY_ROOT(&memory->dirty);
}

struct marker_mm *utrace_marker_mm_peek(struct mm_struct *mm);
struct marker_mm *utrace_marker_mm_find(struct mm_struct *mm);
struct marker_mm *utrace_marker_mm_get(struct mm_struct *mm, struct pid *pid);
bool utrace_marker_mm_tryget(struct marker_mm *memory);
void utrace_marker_mm_put(struct marker_mm *memory);
struct marker_mm *utrace_marker_mm_new(struct mm_struct *mm);
bool utrace_marker_mm_add(struct marker_mm *memory);
void utrace_marker_mm_remove(struct marker_mm *memory);
void utrace_marker_mm_born(struct marker_mm *memory, struct pid *pid);
struct marker_owner *utrace_marker_next_owner(struct marker_mm *memory,
					      struct marker_owner *last);
void utrace_marker_ask_later(struct marker_mm *memory);
void utrace_marker_ask_owners(struct marker_mm *memory, unsigned long start,
			      unsigned long end);

#endif /* _KERNEL_UTRACE_MARKER_MM_H */
