// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: writing words
 *
 * A word is changed with mmap_lock held, together with ->applied, which records
 * what was added to it.  So fork(2), which holds that lock for writing, copies
 * both or neither.  The program itself, which takes no lock, and uprobes may
 * write the same word concurrently.  So the change is a compare-and-exchange of
 * the 32 bits around the word, by the kernel's mapping of the page.
 *
 * Whoever requests a change tries at once with the pages that are in memory,
 * and does not wait for the process.  If a page of a file is removed at that
 * moment, it is read again; a tracer may have to wait for that, but user_events
 * does not.  The rest is written by threads of the process, each of which comes
 * here before it runs user code again.  They may have to wait for a page, as
 * for any of their pages, but not for userfaultfd(2): the thread that would
 * serve the page may be the one that waits.
 *
 * Nothing is written for an owner that may not change the memory now, because
 * the program has become one that the owner may not trace.  A writer for its
 * own owner has checked the permission; threads check it for all owners.  What
 * such an owner had added is subtracted only if the 32 bits around it are as
 * the kernel last wrote them, and the owner does not learn whether they were.
 */
#include <linux/highmem.h>
#include <linux/hugetlb_inline.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>
#include <linux/utrace_mm.h>

#include "../viewer.h"
#include "find.h"
#include "follow.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "site.h"
#include "word.h"
#include "write.h"

/*
 * Maximum number of attempts of a thread to write the words of one page.  The
 * parent tries as often for a child, since threads of a child that has no
 * engine of the owner never come here.
 */
#define MARKER_TRIES	64

/*
 * Maximum number of times that a thread checks permissions.  The cached answers
 * may become invalid while it writes.  Words that it then skips may have owners
 * that still have permission.
 */
#define MARKER_ASKS	8

/* Maximum number of attempts of a compare-and-exchange of the 32 bits. */
#define MARKER_RACES	1000

enum marker_writer {
	MARKER_SELF,	/* a thread of the process, at its safe point */
	MARKER_OTHER,	/* another process, which waits for sites only */
	MARKER_NOWAIT,	/* another process, which waits for nothing */
	MARKER_PARENT,	/* the parent of a new process, only subtracts */
};

/**
 * struct marker_by - the writer of words, and its permissions
 * @writer: the writer
 * @owner: for %MARKER_OTHER and %MARKER_NOWAIT: the owner on whose behalf words
 *	are written, which may change the memory.  Words without a share of it
 *	are left to threads of the process, which check permissions
 * @unseen: for %MARKER_OTHER and %MARKER_NOWAIT: the process has no threads
 *	left that would write such words, so a value that is as the kernel wrote
 *	it is subtracted
 * @nofault: for %MARKER_NOWAIT: do not copy pages either, since the caller
 *	holds locks that other tasks need.  A copy is charged to the process,
 *	whose memory cgroup may have to reclaim for it
 */
struct marker_by {
	enum marker_writer writer;
	struct marker_owner *owner;
	bool unseen;
	bool nofault;
};

/* Check whether a writer waits for pages, and for memory for them. */
static bool marker_waits(const struct marker_by *by)
{
	return by->writer == MARKER_SELF || by->writer == MARKER_PARENT;
}

/*
 * Check whether all owners whose shares of a word are to be added or subtracted
 * may change the memory now.  A writer that may change it anyway, as the owner
 * of another share of the word, may subtract for the other owners.
 */
static bool marker_is_allowed(const struct marker_word *word,
			      const struct marker_by *by)
{
	/* A breakpoint that exists may still be missing in a mapping. */
	const bool adds = marker_is_site(&word->place) ? word->want :
			  word->applied < marker_wanted(word);
	const struct marker_share *share;

	if (!marker_waits(by))
		return utrace_marker_find_share(word, by->owner);
	list_for_each_entry(share, &word->shares, of_word)
		if (share->leaving != adds &&
		    !utrace_viewer_knows(share->owner->viewer))
			return false;
	return true;
}

/* The address of the 32 bits that are changed. */
static unsigned long marker_cell(const struct marker_place *place)
{
	return ALIGN_DOWN(place->addr, sizeof(u32));
}

/* Add @delta to the count in the bits @mask of @old. */
static int marker_add(u32 old, u32 mask, int delta, u32 *new)
{
	unsigned int shift = __ffs(mask);
	s64 count = (s64)((old & mask) >> shift) + delta;

	if (count < 0 || count > mask >> shift)
		return -ERANGE;
	*new = (old & ~mask) | (u32)count << shift;
	return 0;
}

/*
 * Record the value that the kernel wrote in all words of these 32 bits: at most
 * 35, of which 32 are bits.
 */
static void marker_note_written(struct marker_mm *memory, unsigned long cell,
				u32 written)
{
	struct marker_word *word = utrace_marker_from(memory, cell);

	for (; word && word->place.addr < cell + sizeof(u32);
	     word = marker_next(word))
		word->written = written;
}

/*
 * Compute the new value of the 32 bits @old for a word.  Returns 0 or -ERANGE.
 */
static int marker_new(const struct marker_word *word, u32 old, u32 *new)
{
	const struct marker_place *place = &word->place;
	int wanted = marker_wanted(word);
	u32 mask = GENMASK(30, 0);

	if (marker_is_bit(place)) {
		mask = BIT(place->bit);
		*new = wanted ? old | mask : old & ~mask;
		return 0;
	}
	if (place->kind == UTRACE_WORD_COUNT16)
		mask = place->addr & 2 ? GENMASK(30, 16) : GENMASK(14, 0);
	return marker_add(old, mask, wanted - word->applied, new);
}

/*
 * Write a word at @cell.  Does not clear a bit that the program has set.
 * Returns 0, -ERANGE or -EAGAIN.
 */
static int marker_write(struct marker_mm *memory, struct marker_word *word,
			u32 *cell)
{
	unsigned int races = MARKER_RACES;
	u32 old = READ_ONCE(*cell), new;
	int ret;

	if (marker_is_bit(&word->place) && !marker_wanted(word) &&
	    word->foreign)
		return 0;

	do {
		if (!races--)
			return -EAGAIN;
		ret = marker_new(word, old, &new);
		if (ret)
			return ret;
	} while (!try_cmpxchg(cell, &old, new));
	word->foreign = marker_is_bit(&word->place) && marker_wanted(word) &&
			!word->ours && old == new;
	marker_note_written(memory, marker_cell(&word->place), new);
	return 0;
}

/*
 * Subtract for an owner that may no longer see the memory, if all 32 bits are
 * as the kernel last wrote them.  Otherwise the program has changed them, and
 * they are left alone.  The result is not reported, so nobody learns which was
 * the case.
 */
static void marker_write_unseen(struct marker_mm *memory,
				struct marker_word *word, u32 *cell)
{
	u32 old = word->written, new;

	if (word->foreign)
		return;
	if (!marker_new(word, old, &new) && try_cmpxchg(cell, &old, new))
		marker_note_written(memory, marker_cell(&word->place), new);
}

/*
 * Record why a word cannot get the wanted value.  Owners of events try again at
 * the next report.
 */
static void marker_fail(struct marker_mm *memory, struct marker_word *word,
			int error)
{
	const struct marker_share *share;

	word->error = error;
	list_for_each_entry(share, &word->shares, of_word)
		if (share->place.event)
			utrace_marker_unfollow(memory, share->owner);
}

/* Check whether a word in memory must be written. */
static bool marker_is_due(const struct marker_word *word)
{
	return !marker_is_settled(word) && !word->error &&
	       !marker_is_site(&word->place);
}

/*
 * Check whether a word is left to threads of the process.  What a parent
 * subtracts is in a page of the child's own, so it does not wait for a file
 * system.
 */
static bool marker_leaves(const struct marker_word *word,
			  const struct marker_by *by)
{
	if (!marker_waits(by) && !marker_is_allowed(word, by))
		return !by->unseen || word->applied <= marker_wanted(word);
	/*
	 * user_events settles its words once it knows the registrations of the
	 * child.
	 */
	return by->writer == MARKER_PARENT &&
	       (word->ours || word->applied <= marker_wanted(word));
}

/* Call @fn for the dirty words of a page; see utrace_marker_visit(). */
static bool marker_visit_page(struct marker_mm *memory, unsigned long at,
			      bool (*fn)(struct marker_mm *memory,
					 struct marker_word *word, void *arg),
			      void *arg)
{
	const struct marker_place from = { .addr = at };

	return utrace_marker_visit(memory, MARKER_DIRTY, &from,
				   at + PAGE_SIZE - 1, fn, arg);
}

/*
 * A page with words that @by is to write.  @seen is marker_mm.sequence at the
 * search: a page that is got later is recent enough for words whose ->since is
 * not above it.
 */
struct marker_page {
	const struct marker_by *by;
	unsigned long at;
	u64 seen;
};

static bool marker_look_page(struct marker_mm *memory, struct marker_word *word,
			     void *arg)
{
	struct marker_page *page = arg;

	if (!marker_is_due(word) || marker_leaves(word, page->by))
		return false;
	page->at = word->place.addr & PAGE_MASK;
	page->seen = memory->sequence;
	return true;
}

/*
 * Find the first page >= @page->at with words to write.  Returns false if there
 * is none.
 */
static bool marker_next_page(struct marker_mm *memory, struct marker_page *page)
{
	const struct marker_place from = { .addr = page->at };

	return utrace_marker_visit(memory, MARKER_DIRTY, &from, ULONG_MAX,
				   marker_look_page, page);
}

static bool marker_takes_word_back(struct marker_mm *memory,
				   struct marker_word *word, void *unused)
{
	return marker_is_due(word) && word->applied > marker_wanted(word);
}

/* Check whether a word of this page must be subtracted from. */
static bool marker_takes_back(struct marker_mm *memory, unsigned long at)
{
	return marker_visit_page(memory, at, marker_takes_word_back, NULL);
}

/*
 * Check whether a word may be written in a mapping with @flags.  Returns 0 or
 * an error.
 */
static int marker_may_write(const struct marker_word *word, vm_flags_t flags)
{
	if (flags & VM_MAYSHARE && !word->ours)
		return -EOPNOTSUPP;
	/* In a read-only mapping, values are only subtracted. */
	return !(flags & VM_WRITE) && word->applied < marker_wanted(word) ?
	       -EACCES : 0;
}

/*
 * Check whether the page of a word is being removed, so that nothing may be
 * written yet.
 */
static bool marker_is_held(const struct marker_mm *memory,
			   const struct marker_word *word)
{
	const struct utrace_hold *hold;

	list_for_each_entry(hold, &memory->holds, list)
		if (word->place.addr >= hold->start &&
		    word->place.addr < hold->end)
			return true;
	return false;
}

struct marker_write {
	const struct marker_page *page;
	vm_flags_t flags;	/* of the mapping */
	void *map;		/* the page; NULL: it cannot be written */
	int error;		/* why it cannot be written */
	int again;		/* gets -EAGAIN if a word must be retried */
};

/* Write a word.  Returns 0, the reason why it cannot be written, or -EAGAIN. */
static int marker_try_write(struct marker_mm *memory, struct marker_word *word,
			    struct marker_write *write, bool allowed)
{
	void *cell;
	int ret;

	if (word->since > write->page->seen)
		return -EAGAIN;
	if (!write->map)
		return write->error;
	ret = marker_may_write(word, write->flags);
	if (ret)
		return ret;
	cell = write->map + offset_in_page(marker_cell(&word->place));
	if (allowed)
		return marker_write(memory, word, cell);
	marker_write_unseen(memory, word, cell);
	return 0;
}

static bool marker_write_word(struct marker_mm *memory,
			      struct marker_word *word, void *arg)
{
	struct marker_write *write = arg;
	bool allowed;
	int ret;

	if (marker_is_bit(&word->place)) {
		word->shared = write->flags & VM_MAYSHARE;
		word->unsure = false;
	}
	if (!marker_is_due(word) || marker_is_held(memory, word) ||
	    marker_leaves(word, write->page->by))
		return false;
	allowed = marker_is_allowed(word, write->page->by);
	/*
	 * An owner has lost permission since utrace_marker_settle() checked it:
	 * add nothing.
	 */
	if (!allowed && word->applied <= marker_wanted(word))
		return false;
	ret = marker_try_write(memory, word, write, allowed);
	if (!ret)
		word->applied = marker_wanted(word);
	else if (ret == -EAGAIN)
		write->again = ret;
	else
		marker_fail(memory, word, ret);
	return false;
}

/*
 * Write all words of a page that must be written, or record why they cannot be.
 * Returns 0, or -EAGAIN if a word has changed too often or its page was removed
 * after the search.  Words that are held back are left to utrace_release(),
 * which sends threads here.
 */
static int marker_write_page(struct marker_mm *memory,
			     const struct marker_page *at, struct page *page,
			     vm_flags_t flags)
{
	struct marker_write write = {
		.page = at,
		.flags = flags,
		.error = PTR_ERR_OR_ZERO(page),
	};

	if (!write.error)
		write.map = kmap_local_page(page);
	marker_visit_page(memory, at->at, marker_write_word, &write);
	if (write.map)
		kunmap_local(write.map);
	return write.again;
}

static bool marker_give_word_up(struct marker_mm *memory,
				struct marker_word *word, void *error)
{
	if (marker_is_due(word))
		marker_fail(memory, word, *(int *)error);
	return false;
}

/* Give up on the words of a page after too many attempts, with @error. */
static void marker_give_up(struct marker_mm *memory, unsigned long at,
			   int error)
{
	marker_visit_page(memory, at, marker_give_word_up, &error);
}

static bool marker_word_is_ours(struct marker_mm *memory,
				struct marker_word *word, void *unused)
{
	return marker_is_due(word) && word->ours;
}

/*
 * Check whether this page has a word to write that the program has given to the
 * kernel.
 */
static bool marker_is_ours(struct marker_mm *memory, unsigned long at)
{
	return marker_visit_page(memory, at, marker_word_is_ours, NULL);
}

/* Check whether the page is present, so that at most a copy must be made. */
static bool marker_is_present(struct mm_struct *mm, unsigned long at)
{
	struct page *page;

	if (get_user_pages_remote(mm, at, 1, FOLL_NOFAULT, &page, NULL) != 1)
		return false;
	put_page(page);
	return true;
}

/*
 * Get the page of a read-only mapping of hugetlbfs, for which a copy cannot be
 * forced.  If the page is exclusive to the process, no copy is needed.  Returns
 * the page, with a reference, or -EACCES.
 */
static struct page *marker_get_own_huge(struct mm_struct *mm, unsigned long at)
{
	struct page *page;

	if (get_user_pages_remote(mm, at, 1, FOLL_NOFAULT, &page, NULL) != 1)
		return ERR_PTR(-EACCES);
	/* It stays exclusive: fork(2) takes mmap_lock for writing. */
	if (PageAnon(page) && PageAnonExclusive(page))
		return page;
	put_page(page);
	return ERR_PTR(-EACCES);
}

/*
 * Get a page for writing, with mmap_lock held for reading.  Returns the page,
 * with a reference, or
 * * -EFAULT, -EACCES, -EOPNOTSUPP, -EBUSY - the words there cannot be written
 * * -EAGAIN - a thread of the process has to get the page by a page fault
 */
static struct page *marker_get_page(struct marker_mm *memory,
				    struct vm_area_struct *vma,
				    unsigned long at, const struct marker_by *by)
{
	struct mm_struct *mm = memory->mm;
	unsigned int flags = FOLL_WRITE;
	struct page *page;
	long got = 0;
	bool try;

	if (!vma)
		return ERR_PTR(-EFAULT);
	if (vma->vm_flags & VM_MAYSHARE) {
		if (!marker_is_ours(memory, at))
			return ERR_PTR(-EOPNOTSUPP);
		if (!(vma->vm_flags & VM_WRITE))
			return ERR_PTR(-EACCES);
		/*
		 * Only the thread itself waits for the file system of the page.
		 */
		if (by->writer != MARKER_SELF)
			flags |= FOLL_NOFAULT;
	} else if (!(vma->vm_flags & VM_WRITE)) {
		if (!marker_takes_back(memory, at))
			return ERR_PTR(-EACCES);
		if (is_vm_hugetlb_page(vma))
			return marker_get_own_huge(mm, at);
		/* The word was in memory that the program could write to. */
		flags |= FOLL_FORCE;
	}
	/* This does not wait for userfaultfd(2), even without FOLL_NOWAIT. */
	if (by->writer != MARKER_PARENT)
		flags |= FOLL_NOWAIT;
	/*
	 * The page may be removed before it is got, which would ask the file
	 * system.
	 */
	if (by->nofault ||
	    (by->writer == MARKER_NOWAIT && !vma_is_anonymous(vma)))
		flags |= FOLL_NOFAULT;
	try = marker_waits(by) || marker_is_present(mm, at);
	if (try)
		got = get_user_pages_remote(mm, at, 1, flags, &page, NULL);
	if (got == 1)
		return page;
	/*
	 * Threads of the process make the copy that this writer must not make.
	 */
	if (!marker_waits(by) && try && flags & FOLL_NOFAULT)
		return ERR_PTR(-EAGAIN);
	/* No task can read the word, so there is nothing to subtract. */
	if (by->writer == MARKER_PARENT && (got == -EFAULT || got == -EHWPOISON))
		return ERR_PTR(-EFAULT);
	return ERR_PTR(userfaultfd_armed(vma) ? -EBUSY : -EAGAIN);
}

/*
 * Write the words of a page, with mmap_lock held for reading.  Returns 0 if
 * they are written or cannot be, and -EAGAIN if a page fault must get the page
 * or if the page has changed too often.
 */
static int marker_settle_page(struct marker_mm *memory,
			      const struct marker_page *at)
{
	struct mm_struct *mm = memory->mm;
	struct vm_area_struct *vma;
	struct page *page;
	int ret;

	/* After a failed fork(2), mappings of the parent may be left. */
	vma = check_stable_address_space(mm) ? NULL : vma_lookup(mm, at->at);
	page = marker_get_page(memory, vma, at->at, at->by);
	if (IS_ERR(page) && PTR_ERR(page) == -EAGAIN)
		return -EAGAIN;
	ret = marker_write_page(memory, at, page, vma ? vma->vm_flags : 0);
	if (!IS_ERR(page)) {
		set_page_dirty_lock(page);
		put_page(page);
	}
	return ret;
}

/*
 * Take mmap_lock for writing and downgrade it: an madvise(2) that began before
 * the memory had words, and so holds no range, has finished then.
 */
static bool marker_enter(struct marker_mm *memory, enum marker_writer writer)
{
	if (writer == MARKER_SELF ? mmap_write_lock_killable(memory->mm) :
				    !mmap_write_trylock(memory->mm))
		return false;
	WRITE_ONCE(memory->entered, true);
	mmap_write_downgrade(memory->mm);
	return true;
}

/*
 * Take mmap_lock for reading.  Returns false if nothing more can be done now.
 */
static bool marker_lock(struct marker_mm *memory, enum marker_writer writer)
{
	switch (writer) {
	case MARKER_SELF:
		return READ_ONCE(memory->entered) ?
		       !mmap_read_lock_killable(memory->mm) :
		       marker_enter(memory, writer);
	case MARKER_OTHER:
	case MARKER_NOWAIT:
		return READ_ONCE(memory->entered) ?
		       mmap_read_trylock(memory->mm) :
		       marker_enter(memory, writer);
	case MARKER_PARENT:
		/* A parent that is killed has no child. */
		return !mmap_read_lock_killable(memory->mm);
	}
	return false;
}

/*
 * Get a page by a page fault, without mmap_lock.  Returns 0, -EFAULT if the
 * fault has failed (for example after the end of a file), or -EINTR if the task
 * was killed.  In the last case mmap_lock is dropped.
 */
static int marker_fault_in(struct mm_struct *mm, unsigned long at)
{
	size_t left;

	mmap_read_unlock(mm);
	left = fault_in_safe_writeable((const char __user *)at, 1);
	cond_resched();
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	return left ? -EFAULT : 0;
}

/*
 * Write all words that must be written.  Called with mmap_lock held for
 * reading.  Returns false if the task was killed; the lock is dropped then.
 */
static bool marker_settle_words(struct marker_mm *memory,
				const struct marker_by *by)
{
	struct marker_page page = { .by = by };
	unsigned int tries = MARKER_TRIES;
	int fault = 0;

	while (marker_next_page(memory, &page)) {
		bool again = marker_settle_page(memory, &page) &&
			     marker_waits(by);

		if (again && tries--) {
			if (by->writer == MARKER_SELF)
				fault = marker_fault_in(memory->mm, page.at);
			if (fault == -EINTR)
				return false;
			continue;
		}
		if (again && by->writer == MARKER_SELF)
			marker_give_up(memory, page.at, fault ?: -EAGAIN);
		page.at += PAGE_SIZE;
		/*
		 * This was the last page, where words can be wanted but never
		 * exist.
		 */
		if (!page.at)
			break;
		tries = MARKER_TRIES;
	}
	return true;
}

/* A site that @by is to change, and whether to install or to remove it. */
struct marker_next {
	const struct marker_by *by;
	struct marker_place place;
	bool add;
};

static bool marker_look_site(struct marker_mm *memory, struct marker_word *word,
			     void *arg)
{
	struct marker_next *next = arg;

	if (!marker_is_site(&word->place) || marker_is_settled(word) ||
	    word->error ||
	    (word->want && (next->by->writer == MARKER_NOWAIT ||
			    !marker_is_allowed(word, next->by))))
		return false;
	next->place = word->place;
	next->add = word->want;
	word->busy = true;
	word->unsure = false;
	return true;
}

/*
 * Find the next site whose breakpoints must be installed or removed, from the
 * last one on.  Writers that do not wait only remove.  The word counts as
 * unsettled until marker_site_is_done().  Returns false if there is none.
 */
static bool marker_next_site(struct marker_mm *memory, struct marker_next *next)
{
	const struct marker_place from = next->place;

	/* Sites have no address. */
	return utrace_marker_visit(memory, MARKER_DIRTY, &from, 0,
				   marker_look_site, next);
}

static void marker_site_is_done(struct marker_mm *memory,
				const struct marker_place *place, bool add,
				int error)
{
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	word = utrace_marker_find(memory, place);
	if (!word)
		return;
	word->busy = false;
	if (!error) {
		word->applied = add;
		return;
	}
	/* Some of several mappings may have been changed. */
	word->unsure = true;
	if (error != -EINTR)
		marker_fail(memory, word, error);
}

static bool marker_lock_sites(struct marker_mm *memory,
			      enum marker_writer writer)
{
	return writer == MARKER_NOWAIT ?
	       mutex_trylock(&memory->install_lock) :
	       !mutex_lock_killable(&memory->install_lock);
}

/* Returns 0, -EINTR if other tasks must retry, or another error. */
static int marker_change_site(struct marker_mm *memory,
			      const struct marker_place *place, bool add,
			      enum marker_writer writer)
{
	if (writer == MARKER_NOWAIT)
		return utrace_marker_site_try_remove(place->site, memory->mm);
	return utrace_marker_site_apply(place, memory->mm, add);
}

static void marker_settle_sites(struct marker_mm *memory,
				const struct marker_by *by)
{
	struct marker_next next = { .by = by };
	int ret;

	/* If the task was killed, threads of the process do the rest. */
	if (!marker_lock_sites(memory, by->writer))
		return;
	while (!fatal_signal_pending(current) &&
	       marker_next_site(memory, &next)) {
		ret = marker_change_site(memory, &next.place, next.add,
					 by->writer);
		marker_site_is_done(memory, &next.place, next.add, ret);
		if (ret == -EINTR)
			break;
	}
	mutex_unlock(&memory->install_lock);
}

static void marker_settle_dirty(struct marker_mm *memory,
				const struct marker_by *by, bool sites)
{
	if (marker_lock(memory, by->writer) && marker_settle_words(memory, by))
		mmap_read_unlock(memory->mm);
	if (sites)
		marker_settle_sites(memory, by);
}

static void marker_clean(struct marker_mm *memory)
{
	LIST_HEAD(gone);

	utrace_marker_clean(memory, &gone);
	utrace_marker_free(&gone);
}

static void marker_settle(struct marker_mm *memory, const struct marker_by *by,
			  bool sites)
{
	if (!marker_is_dirty(memory))
		return;
	marker_settle_dirty(memory, by, sites);
	marker_clean(memory);
}

/*
 * Check whether a word has a leaving share whose owner does not follow to the
 * child.
 */
static bool marker_is_left_by_stranger(const struct marker_word *word)
{
	const struct marker_share *share;

	list_for_each_entry(share, &word->shares, of_word)
		if (share->leaving && !utrace_marker_follows(share->owner))
			return true;
	return false;
}

static bool marker_is_left(struct marker_mm *memory, struct marker_word *word,
			   void *by)
{
	if (marker_is_site(&word->place) ?
	    word->want || marker_is_settled(word) :
	    !marker_is_due(word) || marker_leaves(word, by))
		return false;
	return marker_is_left_by_stranger(word);
}

/*
 * Check whether a parent still has something to subtract.  An owner that
 * follows has an engine in the child, so its shares may leave there.
 */
static bool marker_has_left(struct marker_mm *memory, struct marker_by *by)
{
	return utrace_marker_visit(memory, MARKER_DIRTY, NULL, ULONG_MAX,
				   marker_is_left, by);
}

/*
 * Check for all owners whether they may change the current address space now.
 * The shares of those that may not leave.
 */
static void marker_ask_rights(struct marker_mm *memory)
{
	struct marker_owner *owner = NULL;

	while ((owner = utrace_marker_next_owner(memory, owner)))
		if (!utrace_marker_may_trace(owner))
			utrace_marker_leave(memory, owner, NULL);
}

/*
 * Check whether a word was skipped because a cached permission has become
 * invalid.
 */
static bool marker_is_unasked(struct marker_mm *memory,
			      struct marker_word *word, void *by)
{
	bool due = marker_is_site(&word->place) ?
		   word->want && !word->error && !marker_is_settled(word) :
		   marker_is_due(word) && !marker_is_held(memory, word);

	return due && !marker_is_allowed(word, by);
}

/**
 * utrace_marker_settle() - write the words of the current address space
 * @memory: the address space
 *
 * Context: The task itself, at its safe point or in another callback; sleeps
 * for page faults.  Takes mmap_lock.
 */
void utrace_marker_settle(struct marker_mm *memory)
{
	struct marker_by by = { .writer = MARKER_SELF };
	unsigned int tries = MARKER_ASKS;

	if (!marker_is_dirty(memory))
		return;
	do {
		marker_ask_rights(memory);
		marker_settle(memory, &by, true);
	} while (--tries && utrace_marker_visit(memory, MARKER_DIRTY, NULL,
						ULONG_MAX, marker_is_unasked, &by));
}

/**
 * utrace_marker_settle_for() - write what can be written at once
 * @memory: the address space
 * @owner: the owner on whose behalf; the caller has checked that it may change
 *	the memory.  NULL: nothing is added for any owner
 * @unseen: without an owner: subtract values that are as the kernel wrote them,
 *	because the process has no thread that would do it
 * @sites: install and remove breakpoints as well
 *
 * For words this does not wait for the process.  For sites it waits for other
 * installers and for mmap_lock, until the caller is killed.  Words that cannot
 * be written now stay dirty.
 *
 * Context: Process context; sleeps.  Tries to take mmap_lock; with @sites takes
 * marker_mm.install_lock and, for writing, mmap_lock.  The caller keeps the
 * memory alive.
 */
void utrace_marker_settle_for(struct marker_mm *memory,
			      struct marker_owner *owner, bool unseen,
			      bool sites)
{
	const struct marker_by by = {
		.writer = MARKER_OTHER,
		.owner = owner,
		.unseen = unseen,
	};

	marker_settle(memory, &by, sites);
}

/**
 * utrace_marker_settle_child() - disarm in a child for owners that do not
 * follow
 * @memory: the address space of a child of the current task, which does not run
 *	yet
 *
 * Context: Process context; sleeps for memory.  Takes mmap_lock.
 * Return: 0, or -ENOMEM if something is left.
 */
int utrace_marker_settle_child(struct marker_mm *memory)
{
	struct marker_by by = { .writer = MARKER_PARENT };
	int ret = 0;

	if (!marker_is_dirty(memory))
		return 0;
	marker_ask_rights(memory);
	marker_settle_dirty(memory, &by, true);
	/* Retry: the last other owner of a word may have left in between. */
	if (marker_has_left(memory, &by)) {
		marker_settle_dirty(memory, &by, true);
		if (marker_has_left(memory, &by))
			ret = -ENOMEM;
	}
	marker_clean(memory);
	return ret;
}

/**
 * utrace_marker_settle_words() - write what can be written without any wait for
 * the process
 * @memory: the address space
 * @owner: as for utrace_marker_settle_for()
 * @unseen: as for utrace_marker_settle_for()
 * @sites: also remove breakpoints, if that is possible at once
 *
 * Unlike utrace_marker_settle_for(), this waits for nothing of the process: the
 * last close(2) of a descriptor may be that of a task that exits, or of a
 * kernel thread, and nobody could end its wait.
 *
 * Context: Process context; sleeps for memory.  Tries to take mmap_lock.  The
 * caller keeps the memory alive.
 */
void utrace_marker_settle_words(struct marker_mm *memory,
				struct marker_owner *owner, bool unseen,
				bool sites)
{
	const struct marker_by by = {
		.writer = MARKER_NOWAIT,
		.owner = owner,
		.unseen = unseen,
		/* user_events may hold event_mutex. */
		.nofault = owner && owner->kernel,
	};

	marker_settle(memory, &by, sites);
}
