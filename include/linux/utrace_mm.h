/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the hooks that memory management calls
 *
 * Each hook is behind a static key that is off unless memory has words
 * (kernel/utrace/marker/memory.c).  Without CONFIG_UTRACE_MARKERS all hooks are
 * empty.
 */
#ifndef _LINUX_UTRACE_MM_H
#define _LINUX_UTRACE_MM_H

#include <linux/bitops.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/mm_types.h>
#include <uapi/linux/sched.h>

/*
 * A bit of mm_struct.flags: the memory has words.  fork(2) does not copy it,
 * and the kernel uses the low 32 bits (linux/sched/coredump.h).
 */
#define UTRACE_MMF_WORDS	63

struct marker_mm;

/**
 * struct utrace_hold - a range of memory in which no words are written
 * @list: entry in the list of holds of @memory, under its lock
 * @memory: the words of the memory, a counted reference; NULL: there are none
 * @start: begin of the range
 * @end: end of the range
 *
 * The caller has the hold on its stack, from utrace_hold() to utrace_release().
 * Only @list changes between these calls.
 */
struct utrace_hold {
	struct list_head list;
	struct marker_mm *memory;
	unsigned long start;
	unsigned long end;
};

#ifdef CONFIG_UTRACE_MARKERS

extern struct static_key_false_deferred utrace_mm_used;

int __utrace_dup_mm(struct mm_struct *old, struct mm_struct *new);
void __utrace_dup_mm_end(struct mm_struct *old);
int __utrace_mm_copied(struct mm_struct *mm);
void __utrace_mmap(struct mm_struct *mm, unsigned long start,
		   unsigned long end);
void __utrace_munmap(struct mm_struct *mm, unsigned long start,
		     unsigned long end);
void utrace_hold(struct mm_struct *mm, struct utrace_hold *hold,
		 unsigned long start, unsigned long end, bool lost);
void utrace_release(struct utrace_hold *hold);
void __utrace_drop_mm(struct mm_struct *mm);

static __always_inline bool utrace_mm_is_used(const struct mm_struct *mm)
{
	return static_branch_unlikely(&utrace_mm_used.key) &&
	       test_bit(UTRACE_MMF_WORDS, &mm->flags);
}

#else

static inline bool utrace_mm_is_used(const struct mm_struct *mm)
{
	return false;
}

static inline int __utrace_dup_mm(struct mm_struct *old, struct mm_struct *new)
{
	return 0;
}

static inline void __utrace_dup_mm_end(struct mm_struct *old) { }
static inline int __utrace_mm_copied(struct mm_struct *mm)
{
	return 0;
}

static inline void __utrace_mmap(struct mm_struct *mm, unsigned long start,
				 unsigned long end) { }
static inline void __utrace_munmap(struct mm_struct *mm, unsigned long start,
				   unsigned long end) { }
static inline void utrace_hold(struct mm_struct *mm, struct utrace_hold *hold,
			       unsigned long start, unsigned long end,
			       bool lost) { }
static inline void utrace_release(struct utrace_hold *hold) { }
static inline void __utrace_drop_mm(struct mm_struct *mm) { }

#endif

/*
 * Called before @old is copied to @new.  mmap_lock of both is held for writing.
 */
static inline int utrace_dup_mm(struct mm_struct *old, struct mm_struct *new)
{
	return utrace_mm_is_used(old) ? __utrace_dup_mm(old, new) : 0;
}

/*
 * Called when the copy of the pages of @old has ended or failed.  mmap_lock is
 * held for writing.
 */
static inline void utrace_dup_mm_end(struct mm_struct *old)
{
	if (utrace_mm_is_used(old))
		__utrace_dup_mm_end(old);
}

/*
 * Called for @mm of a new task, which is not visible yet.  Unless @clone_flags
 * say that the task shares the memory, remove the words that the copy must not
 * contain.
 */
static inline int utrace_mm_copied(struct mm_struct *mm, unsigned long clone_flags)
{
	return utrace_mm_is_used(mm) && !(clone_flags & CLONE_VM) ?
	       __utrace_mm_copied(mm) : 0;
}

/* Called when memory was mapped.  mmap_lock is held for writing. */
static inline void utrace_mmap(struct mm_struct *mm, unsigned long start,
			       unsigned long end)
{
	if (utrace_mm_is_used(mm))
		__utrace_mmap(mm, start, end);
}

/*
 * Called before private pages are unmapped, or after they were moved elsewhere.
 * mmap_lock or the lock of the mapping is held.
 */
static inline void utrace_munmap(struct mm_struct *mm, unsigned long start,
				 unsigned long end)
{
	if (utrace_mm_is_used(mm))
		__utrace_munmap(mm, start, end);
}

/* Called when @mm has lost its last user. */
static inline void utrace_drop_mm(struct mm_struct *mm)
{
	if (utrace_mm_is_used(mm))
		__utrace_drop_mm(mm);
}

#endif /* _LINUX_UTRACE_MM_H */
