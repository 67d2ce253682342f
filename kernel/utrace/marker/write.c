// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: writing words
 *
 * A word is changed under mmap_lock, together with the note of what was added to
 * it; so fork(2), which holds that lock for writing, copies both or neither.  Other
 * writers change the same word meanwhile: the program itself, which takes no lock,
 * and uprobes.  So the change is a compare-and-exchange of the 32 bits around it,
 * by the kernel's mapping of the page.
 *
 * Whoever wants a change tries at once, with pages that are in memory, and does not
 * wait for the process; but a page of a file that goes in that moment is read again,
 * for which a tracer may have to wait, and user_events does not.  What is left is
 * written by threads of the process, each of which comes here before it runs user
 * code again.  These may have to wait for a page, as for any other page of theirs,
 * but not for userfaultfd(2): the thread that would serve the page may be the one
 * that waits.
 *
 * Nothing is written for an owner who may not change the memory now, as the program has
 * become one that he may not trace.  Whoever writes for his process has asked; threads ask
 * about all owners.  What such an owner had is taken back only if the 32 bits around it
 * stand as the kernel has left them, and he is told nothing of that.
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

#include "marker.h"

/*
 * How often a thread tries to write the words of one page.  The parent does so for a
 * child, too: threads of a child that has no engine of the owner never come here.
 */
#define MARKER_TRIES	64

/*
 * How often a thread asks about rights: the answers may change while it writes, and the owners
 * of words that it then leaves out may have the right still.
 */
#define MARKER_ASKS	8

/* How often the 32 bits may change under a compare-and-exchange. */
#define MARKER_RACES	1000

/* Who writes. */
enum marker_writer {
	MARKER_SELF,	/* a thread of the process, at its safe point */
	MARKER_OTHER,	/* another process, which waits for sites only */
	MARKER_NOWAIT,	/* another process, which waits for nothing */
	MARKER_PARENT,	/* the parent of a process that does not run yet takes back */
};

/**
 * struct marker_by - by whom words are written
 * @writer: who writes
 * @owner: for %MARKER_OTHER and %MARKER_NOWAIT: the owner on whose behalf, who may change
 *	the memory; others' words are left to threads of the process, which ask
 * @unseen: likewise: the process has no threads any more that would do that, so what
 *	stands as it was written is taken back
 * @nofault: for %MARKER_NOWAIT: no page is copied either, since the caller has locks that
 *	others need: a copy is charged to the process, whose memory cgroup may have to
 *	reclaim for it
 */
struct marker_by {
	enum marker_writer writer;
	struct marker_owner *owner;
	bool unseen;
	bool nofault;
};

/* Does a writer wait for pages, and for memory for them? */
static bool marker_waits(const struct marker_by *by)
{
	return by->writer == MARKER_SELF || by->writer == MARKER_PARENT;
}

/*
 * Have all owners whose parts of a word are to be added or taken back the right to change
 * the memory now?  Whoever may change it anyhow, as the owner of another share of the word,
 * may take back for the others.
 */
static bool marker_is_allowed(const struct marker_word *word,
			      const struct marker_by *by)
{
	/* A breakpoint that is there already may be missing in a mapping. */
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
 * Note what the kernel has written last, for all words that are in these 32 bits: at most 35,
 * of which 32 are bits.
 */
static void marker_note_written(struct marker_mm *memory, unsigned long cell,
				u32 written)
{
	struct marker_word *word = utrace_marker_from(memory, cell);

	for (; word && word->place.addr < cell + sizeof(u32);
	     word = marker_next(word))
		word->written = written;
}

/* What the 32 bits @old have to be for a word.  Returns 0 or -ERANGE. */
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
 * Write a word at @cell.  A bit that the program has set is left to the program.
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
 * Take back a word for an owner who may not see the memory any more: only what stands as
 * the kernel has written it last, all 32 bits.  What the program has there by now is not
 * touched, and nobody learns whether this was so.
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

/* Note why a word cannot be what is wanted; owners of events try again at the next report. */
static void marker_fail(struct marker_mm *memory, struct marker_word *word,
			int error)
{
	const struct marker_share *share;

	word->error = error;
	list_for_each_entry(share, &word->shares, of_word)
		if (share->place.event)
			utrace_marker_unfollow(memory, share->owner);
}

/* Is a word to be written in memory? */
static bool marker_is_due(const struct marker_word *word)
{
	return !marker_is_settled(word) && !word->error &&
	       !marker_is_site(&word->place);
}

/*
 * Is it left to threads of the process to write a word?  What a parent takes back is in a
 * page of the child's own, for which it does not wait for a file system.
 */
static bool marker_leaves(const struct marker_word *word,
			  const struct marker_by *by)
{
	if (!marker_waits(by) && !marker_is_allowed(word, by))
		return !by->unseen || word->applied <= marker_wanted(word);
	/* user_events settles its words when it knows what the child has registered. */
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
 * A page with words that @by is to write.  Pages that are got from now on are new enough for
 * words until @seen.
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

/* Find the first page at @page->at or behind.  Returns false if there is none. */
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

/* Is something to be taken back from a word of this page? */
static bool marker_takes_back(struct marker_mm *memory, unsigned long at)
{
	return marker_visit_page(memory, at, marker_takes_word_back, NULL);
}

/* May a word be written to a mapping with @flags?  Returns 0 or an error. */
static int marker_may_write(const struct marker_word *word, vm_flags_t flags)
{
	if (flags & VM_MAYSHARE && !word->ours)
		return -EOPNOTSUPP;
	/* In a mapping that is read-only, words are only taken back. */
	return !(flags & VM_WRITE) && word->applied < marker_wanted(word) ?
	       -EACCES : 0;
}

/* Is the page of a word going, so that nothing is written until it has gone? */
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

/* How the words of a page are written. */
struct marker_write {
	const struct marker_page *page;
	vm_flags_t flags;	/* of the mapping */
	void *map;		/* the page; NULL: they cannot be written */
	int error;		/* why */
	int again;		/* gets -EAGAIN if a word is to be tried again */
};

/* Write a word.  Returns 0, why it cannot be written, or -EAGAIN. */
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
	/* An owner has lost the right since utrace_marker_settle() asked: add nothing. */
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
 * Write all words of a page that are to be written, or say why they cannot be.
 * Returns 0, or -EAGAIN if a word has changed too often meanwhile, or its page has gone
 * since it was looked for.  For a word that is held back, utrace_marker_release() asks
 * threads.
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

/* Words of a page were tried too often, which is an @error. */
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

/* Is a word of this page to be written that the program has given to the kernel? */
static bool marker_is_ours(struct marker_mm *memory, unsigned long at)
{
	return marker_visit_page(memory, at, marker_word_is_ours, NULL);
}

/* Is the page there, so that at most a copy has to be made of it? */
static bool marker_is_present(struct mm_struct *mm, unsigned long at)
{
	struct page *page;

	if (get_user_pages_remote(mm, at, 1, FOLL_NOFAULT, &page, NULL) != 1)
		return false;
	put_page(page);
	return true;
}

/*
 * Get the page of a read-only mapping of hugetlbfs, which cannot be forced to make a copy:
 * if the page is the process's own, and fork(2) has not shared it, it needs none.  Returns the
 * page, with a reference, or -EACCES.
 */
static struct page *marker_get_own_huge(struct mm_struct *mm, unsigned long at)
{
	struct page *page;

	if (get_user_pages_remote(mm, at, 1, FOLL_NOFAULT, &page, NULL) != 1)
		return ERR_PTR(-EACCES);
	/* It stays so: fork(2) takes mmap_lock for writing. */
	if (PageAnon(page) && PageAnonExclusive(page))
		return page;
	put_page(page);
	return ERR_PTR(-EACCES);
}

/*
 * Get a page to write to, with mmap_lock held for reading.  Returns the page, with
 * a reference, or
 * -EFAULT, -EACCES, -EOPNOTSUPP, -EBUSY: the words there cannot be written;
 * -EAGAIN: a thread of the process has to get the page by a page fault.
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
		/* Others do not wait for the file system that has the page. */
		if (by->writer != MARKER_SELF)
			flags |= FOLL_NOFAULT;
	} else if (!(vma->vm_flags & VM_WRITE)) {
		if (!marker_takes_back(memory, at))
			return ERR_PTR(-EACCES);
		if (is_vm_hugetlb_page(vma))
			return marker_get_own_huge(mm, at);
		/* The program had the word in memory that it could write to. */
		flags |= FOLL_FORCE;
	}
	/* Without FOLL_NOWAIT, too, this does not wait for userfaultfd(2). */
	if (by->writer != MARKER_PARENT)
		flags |= FOLL_NOWAIT;
	/* The page may go before it is got, and a file system is asked for it. */
	if (by->nofault ||
	    (by->writer == MARKER_NOWAIT && !vma_is_anonymous(vma)))
		flags |= FOLL_NOFAULT;
	try = marker_waits(by) || marker_is_present(mm, at);
	if (try)
		got = get_user_pages_remote(mm, at, 1, flags, &page, NULL);
	if (got == 1)
		return page;
	/* Threads make the copy that this writer does not make. */
	if (!marker_waits(by) && try && flags & FOLL_NOFAULT)
		return ERR_PTR(-EAGAIN);
	/* Nobody can read the word, so there is nothing to be taken back. */
	if (by->writer == MARKER_PARENT && (got == -EFAULT || got == -EHWPOISON))
		return ERR_PTR(-EFAULT);
	return ERR_PTR(userfaultfd_armed(vma) ? -EBUSY : -EAGAIN);
}

/*
 * Write the words of a page, with mmap_lock held for reading.  Returns 0 if they are
 * written or cannot be, and -EAGAIN if the page has to be got by a page fault, or
 * has changed too often.
 */
static int marker_settle_page(struct marker_mm *memory,
			      const struct marker_page *at)
{
	struct mm_struct *mm = memory->mm;
	struct vm_area_struct *vma;
	struct page *page;
	int ret;

	/* A fork that has failed leaves mappings of the parent. */
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
 * Take mmap_lock for writing, and keep it for reading: an madvise(2) that has begun
 * before the memory had words, and so holds none back, is over then.
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

/* Take mmap_lock for reading.  Returns false if there is no more to be done now. */
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
		/* If the parent is killed, there is no child. */
		return !mmap_read_lock_killable(memory->mm);
	}
	return false;
}

/*
 * Get a page by a page fault, without mmap_lock.  Returns 0, -EFAULT if that has failed,
 * as behind the end of a file, or -EINTR if the task is killed: the lock is dropped then.
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
 * Write all words that are to be written.  Called with mmap_lock held for reading.
 * Returns false if the task is killed meanwhile; the lock is dropped then.
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
		/* That was the last page, where words may be wanted, but never are. */
		if (!page.at)
			break;
		tries = MARKER_TRIES;
	}
	return true;
}

/* A site that @by is to change, and how. */
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
 * Find the next site whose breakpoints are to be installed or removed, from the last one on;
 * those who do not wait only remove them.  Until marker_site_is_done() nobody takes the word
 * for settled.  Returns false if there is none.
 */
static bool marker_next_site(struct marker_mm *memory, struct marker_next *next)
{
	const struct marker_place from = next->place;

	/* Sites are words without an address. */
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
	/* Of several mappings, some may have been changed. */
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

/* Returns 0, -EINTR if that is left to others, or another error. */
static int marker_change_site(struct marker_mm *memory,
			      const struct marker_place *place, bool add,
			      enum marker_writer writer)
{
	if (writer == MARKER_NOWAIT)
		return utrace_marker_site_try_remove(place->site, memory->mm);
	return utrace_marker_site_apply(place, memory->mm, add);
}

/* Install and remove the breakpoints that are wanted or not wanted any more. */
static void marker_settle_sites(struct marker_mm *memory,
				const struct marker_by *by)
{
	struct marker_next next = { .by = by };
	int ret;

	/* For a task that is killed, the threads of the process do what is left. */
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

/* True if a word has a share that only the parent of a child takes back. */
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
 * True if a parent has to take something back.  An owner that follows the child has an engine
 * there, and may just leave.
 */
static bool marker_has_left(struct marker_mm *memory, struct marker_by *by)
{
	return utrace_marker_visit(memory, MARKER_DIRTY, NULL, ULONG_MAX,
				   marker_is_left, by);
}

/*
 * Ask whether the owners may change the current task's memory as it is now.  The shares of
 * those who may not leave.
 */
static void marker_ask_rights(struct marker_mm *memory)
{
	struct marker_owner *owner = NULL;

	while ((owner = utrace_marker_next_owner(memory, owner)))
		if (!utrace_marker_may_trace(owner))
			utrace_marker_leave(memory, owner, NULL);
}

/* Was a word left out because an answer about rights has become invalid? */
static bool marker_is_unasked(struct marker_mm *memory,
			      struct marker_word *word, void *by)
{
	bool due = marker_is_site(&word->place) ?
		   word->want && !word->error && !marker_is_settled(word) :
		   marker_is_due(word) && !marker_is_held(memory, word);

	return due && !marker_is_allowed(word, by);
}

/**
 * utrace_marker_settle() - write the words of the current task's memory
 * @memory: its words
 *
 * Context: The task itself, at its safe point or in another callback; sleeps for
 * page faults.  Takes mmap_lock.
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
 * utrace_marker_settle_for() - write what words can be written at once
 * @memory: the words
 * @owner: on whose behalf; the caller has made sure that he may change the memory.  NULL:
 *	nothing is added for anybody
 * @unseen: without an owner: take back what stands as it was written, as no thread will
 * @sites: install and remove breakpoints, too
 *
 * For words this does not wait for the process that has the memory.  For sites it waits for
 * other installers and for mmap_lock, until the caller is killed.  What cannot be written
 * now stays as it is, and the memory stays dirty.
 *
 * Context: Process context; sleeps.  Tries to take mmap_lock; with @sites takes
 * marker_mm.install_lock and, for writing, mmap_lock.  The caller keeps the memory alive.
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
 * utrace_marker_settle_child() - take back what a child should not have
 * @memory: the words of a child of the current task, which does not run yet
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
	/* Once more: the last other owner of a word may have left meanwhile. */
	if (marker_has_left(memory, &by)) {
		marker_settle_dirty(memory, &by, true);
		if (marker_has_left(memory, &by))
			ret = -ENOMEM;
	}
	marker_clean(memory);
	return ret;
}

/**
 * utrace_marker_settle_words() - write what words can be written at once
 * @memory: the words
 * @owner: as for utrace_marker_settle_for()
 * @unseen: likewise
 * @sites: remove breakpoints, too, if that can be done at once
 *
 * As utrace_marker_settle_for(), but this waits for nothing of the process: the last
 * close(2) of a descriptor may be that of a task that exits, or of a kernel thread, whose
 * wait nobody would end.
 *
 * Context: Process context; sleeps for memory.  Tries to take mmap_lock.  The caller
 * keeps the memory alive.
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
