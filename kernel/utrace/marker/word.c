// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: words, and the shares that owners have of them
 *
 * A word is wanted as long as it has shares that are not leaving.  A share that
 * is no longer wanted stays until its word reflects that.  Until then the share
 * is "leaving".  Nothing here writes a word (write.c).
 */
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "event.h"
#include "find.h"
#include "follow.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "word.h"

/* Words and shares that are allocated before locks are taken */

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

/* Take a word out of a stock that has one. */
static struct marker_word *marker_take_word(struct marker_stock *stock)
{
	struct marker_word *word = list_first_entry(&stock->words,
						    struct marker_word, spare);

	list_del(&word->spare);
	stock->nwords--;
	INIT_LIST_HEAD(&word->shares);
	return word;
}

/* Take a share out of a stock that has one. */
static struct marker_share *marker_take_share(struct marker_stock *stock)
{
	struct marker_share *share = list_first_entry(&stock->shares,
						      struct marker_share, of_word);

	list_del(&share->of_word);
	stock->nshares--;
	return share;
}

/* Shares */

/*
 * Check whether the owner has already disarmed this place, in which case the
 * walk that did so need not find another share of it.
 */
static bool marker_is_late(const struct marker_owner *owner,
			   const struct marker_place *place)
{
	lockdep_assert_held(&owner->lock);

	return owner->closed || (place->event &&
				 marker_event_is_over(place->event));
}

/*
 * Count a new share, or one that was leaving, in ->want of its word.  A hit may
 * have removed a breakpoint that nobody wanted for a while, whatever ->applied
 * says.
 */
static void marker_count_in(struct marker_share *share)
{
	struct marker_word *word = share->word;

	if (!word->want++ && marker_is_site(&word->place))
		word->unsure = true;
	if (share->owner->kernel) {
		word->want_ours++;
		word->foreign = false;
	}
	utrace_marker_index(share);
}

/* Fill in a share and add it to its word and its owner. */
static void marker_add_share(struct marker_share *share,
			     const struct marker_place *place,
			     struct marker_word *word, struct marker_mm *memory,
			     struct marker_owner *owner, bool leaving)
{
	lockdep_assert_held(&memory->lock);

	share->place = *place;
	if (place->event)
		utrace_marker_event_get(place->event);
	share->word = word;
	share->mm = memory;
	share->owner = owner;
	kref_get(&owner->ref);
	share->number = ++memory->numbers;
	memory->nshares++;
	guard(spinlock)(&owner->lock);
	share->leaving = leaving || marker_is_late(owner, place);
	list_add_tail(&share->of_owner, share->leaving ? &owner->leaving :
							 &owner->shares);
	owner->nshares++;
	if (owner->kernel)
		word->ours++;
	if (!share->leaving)
		marker_count_in(share);
	/* Hits may find the share from here on. */
	list_add_tail_rcu(&share->of_word, &word->shares);
}

/* Reuse a share that was leaving, for the place as the owner names it now. */
static void marker_return_share(struct marker_share *share,
				const struct marker_place *place)
{
	struct marker_event *event = share->place.event;

	if (place->event)
		utrace_marker_event_get(place->event);
	/*
	 * Hits read the event of a site concurrently; the rest of the place
	 * stays the same.
	 */
	if (marker_is_site(place))
		WRITE_ONCE(share->place.event, place->event);
	else
		share->place = *place;
	/* Store the event before ->leaving; pairs with marker_next_event(). */
	smp_store_release(&share->leaving, false);
	marker_count_in(share);
	if (event)
		utrace_marker_event_put(event);
}

/*
 * Subtract a share, which was counted, from the wanted value of its word, with
 * marker_mm.lock held.
 */
static void marker_count_out(struct marker_share *share)
{
	lockdep_assert_held(&share->mm->lock);

	share->word->want--;
	if (share->owner->kernel)
		share->word->want_ours--;
	utrace_marker_unindex(share);
}

/**
 * utrace_marker_leave_share() - make a share leave
 * @share: the share, which is not leaving; marker_mm.lock is held
 *
 * Context: Any but NMI.  Takes marker_owner.lock.
 */
void utrace_marker_leave_share(struct marker_share *share)
{
	lockdep_assert_held(&share->mm->lock);

	marker_count_out(share);
	share->word->error = 0;
	utrace_marker_touch(share->mm, share->word);
	guard(spinlock)(&share->owner->lock);
	WRITE_ONCE(share->leaving, true);
	list_move_tail(&share->of_owner, &share->owner->leaving);
}

static void marker_remove_share(struct marker_share *share,
				struct list_head *gone)
{
	lockdep_assert_held(&share->mm->lock);

	share->mm->nshares--;
	if (!share->leaving)
		marker_count_out(share);
	if (share->owner->kernel)
		share->word->ours--;
	scoped_guard(spinlock, &share->owner->lock) {
		list_del(&share->of_owner);
		share->owner->nshares--;
	}
	list_add(&share->of_owner, gone);
	list_del_rcu(&share->of_word);
}

/**
 * utrace_marker_state() - get the state of a word for its owner
 * @share: a share of the word.  The caller must hold marker_mm.lock, or
 *	marker_owner.lock of its owner; with the latter alone the state may be
 *	changing
 * @error: gets the reason of %UTRACE_ARM_STATE_FAILED, an errno, or 0
 *
 * Context: Any.
 * Return: enum utrace_arm_state.
 */
u32 utrace_marker_state(const struct marker_share *share, int *error)
{
	const struct marker_word *word = share->word;
	bool leaving, settled;
	int why;

	/* With the owner's lock alone the value may be stale, see above. */
	leaving = data_race(share->leaving);
	/* Stale, as above. */
	settled = data_race(marker_is_settled(word) && !marker_is_refused(word));
	/* Stale, as above. */
	why = data_race(marker_error(word));
	*error = 0;
	if (leaving)
		return UTRACE_ARM_STATE_LEAVING;
	if (settled)
		return UTRACE_ARM_STATE_ARMED;
	*error = -why;
	return why ? UTRACE_ARM_STATE_FAILED : UTRACE_ARM_STATE_PENDING;
}

/* Wanting */

/*
 * Add an owner's share of a word.  Returns 0, -EEXIST, or -EAGAIN if @stock
 * lacks a word or a share.
 */
static int marker_want(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place,
		       struct marker_stock *stock)
{
	struct marker_word *word;
	struct marker_share *old;

	if (!stock->nwords || !stock->nshares)
		return -EAGAIN;
	guard(spinlock)(&memory->lock);
	word = utrace_marker_find(memory, place);
	if (!word) {
		word = marker_take_word(stock);
		word->place = marker_of_word(place);
		utrace_marker_insert(memory, word);
	}
	old = utrace_marker_find_share(word, owner);
	if (old && !old->leaving && place->event != old->place.event)
		return -EEXIST;
	/* Another thread may have been first, as in utrace_marker_want(). */
	if (old && !old->leaving && !marker_error(word))
		return place->event ? 0 : -EEXIST;
	word->error = 0;
	utrace_marker_touch(memory, word);
	if (old && old->leaving) {
		guard(spinlock)(&owner->lock);
		if (marker_is_late(owner, place))
			return 0;
		marker_return_share(old, place);
		list_move_tail(&old->of_owner, &owner->shares);
	} else if (!old) {
		marker_add_share(marker_take_share(stock), place, word, memory,
				 owner, false);
	}
	return 0;
}

/*
 * Check whether an owner has armed a word for the same event, without an error.
 */
static bool marker_has(struct marker_mm *memory,
		       const struct marker_owner *owner,
		       const struct marker_place *place)
{
	struct marker_share *share;

	guard(spinlock)(&memory->lock);
	share = utrace_marker_share_at(memory, owner, place);
	return share && !share->leaving && !marker_error(share->word) &&
	       share->place.event == place->event;
}

/**
 * utrace_marker_want() - add an owner's share of a word
 * @memory: the address space
 * @owner: the owner
 * @place: the word
 *
 * Nothing is written yet.
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 * Return:
 * * 0 - the owner wants the word now; with an event, another thread may have
 *   added the share
 * * -EEXIST - the owner wants the word already, for another event, or without
 *   an event and the word has not failed
 * * -ENOMEM - out of memory
 */
int utrace_marker_want(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place)
{
	struct marker_stock stock = MARKER_STOCK_INIT(stock);
	int ret = -ENOMEM;

	/* Another thread of the process may have armed the same event first. */
	if (marker_has(memory, owner, place))
		return place->event ? 0 : -EEXIST;
	if (!utrace_marker_stock_fill(&stock, 1, 1))
		ret = marker_want(memory, owner, place, &stock);
	utrace_marker_stock_free(&stock);
	return ret;
}

/**
 * utrace_marker_want_from() - utrace_marker_want() without an allocation
 * @stock: what a word and a share are taken from
 * @memory: the address space
 * @owner: the owner
 * @place: the word
 *
 * Context: Process context; does not sleep.  Takes marker_mm.lock.
 * Return:
 * * 0 - the owner wants the word now; with an event, another thread may have
 *   added the share
 * * -EEXIST - as for utrace_marker_want()
 * * -EAGAIN - @stock has no word, or no share
 */
int utrace_marker_want_from(struct marker_stock *stock,
			    struct marker_mm *memory,
			    struct marker_owner *owner,
			    const struct marker_place *place)
{
	/* Another thread may have been first, as in utrace_marker_want(). */
	if (marker_has(memory, owner, place))
		return place->event ? 0 : -EEXIST;
	return marker_want(memory, owner, place, stock);
}

/* Leaving */

/**
 * utrace_marker_matches() - check whether a share belongs to a word or an event
 * @share: the share; marker_mm.lock or marker_owner.lock is held
 * @place: the word or the event; NULL matches any share
 *
 * Context: Any.
 * Return: true if it does.
 */
bool utrace_marker_matches(const struct marker_share *share,
			   const struct marker_place *place)
{
	struct marker_place of_word;

	if (!place)
		return true;
	if (place->kind == MARKER_EVENT)
		return share->place.event == place->event;
	of_word = marker_of_word(place);
	/* A program after an execve(2) may have the word with another id. */
	return share->place.id == place->id &&
	       !marker_compare(&share->word->place, &of_word);
}

/* What an owner no longer wants: a word, an event, or everything. */
struct marker_leave {
	struct marker_owner *owner;
	const struct marker_place *place;
};

static bool marker_leave_word(struct marker_mm *memory,
			      struct marker_word *word, void *arg)
{
	struct marker_leave *leave = arg;
	struct marker_share *share;

	share = utrace_marker_find_share(word, leave->owner);
	if (share && !share->leaving &&
	    utrace_marker_matches(share, leave->place))
		utrace_marker_leave_share(share);
	return false;
}

static void marker_leave_at(struct marker_mm *memory,
			    const struct marker_place *place,
			    struct marker_leave *leave)
{
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	word = utrace_marker_find(memory, place);
	if (word)
		marker_leave_word(memory, word, leave);
}

/**
 * utrace_marker_leave() - make shares of an owner in one address space leave
 * @memory: the address space
 * @owner: the owner
 * @place: the word, or an event of the owner; NULL: all words of the owner
 *
 * Nothing is written yet.
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_leave(struct marker_mm *memory, struct marker_owner *owner,
			 const struct marker_place *place)
{
	struct marker_leave leave = { .owner = owner, .place = place };

	if (place && place->kind != MARKER_EVENT) {
		marker_leave_at(memory, place, &leave);
		return;
	}
	if (place && place->event->site) {
		const struct marker_place site = marker_of_event(place->event);

		marker_leave_at(memory, &site, &leave);
		return;
	}
	utrace_marker_visit(memory, MARKER_ALL, NULL, ULONG_MAX,
			    marker_leave_word, &leave);
	if (place)
		return;
	/*
	 * The shares leave now, so a process that follows the owner must arm
	 * them again.
	 */
	guard(spinlock)(&memory->lock);
	utrace_marker_unfollow(memory, owner);
}

/* Make the owner's share leave, and leave the bit as it is to the program. */
static bool marker_abandon_word(struct marker_mm *memory,
				struct marker_word *word, void *owner)
{
	struct marker_share *share = utrace_marker_find_share(word, owner);

	if (!share || share->leaving)
		return false;
	utrace_marker_leave_share(share);
	word->foreign = word->applied;
	/*
	 * Other shares that want the bit find it set, so nothing changes for
	 * them.
	 */
	if (!marker_wanted(word))
		word->applied = 0;
	return false;
}

/**
 * utrace_marker_abandon() - make shares of bits leave, but leave the bits set
 * @memory: the address space
 * @owner: the owner, of bits only
 * @place: the bit; NULL: all bits of the owner
 *
 * A bit whose share was already leaving and that is still set is cleared.
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_abandon(struct marker_mm *memory, struct marker_owner *owner,
			   const struct marker_place *place)
{
	struct marker_word *word;

	if (!place) {
		utrace_marker_visit(memory, MARKER_ALL, NULL, ULONG_MAX,
				    marker_abandon_word, owner);
		return;
	}
	guard(spinlock)(&memory->lock);
	word = utrace_marker_find(memory, place);
	if (word)
		marker_abandon_word(memory, word, owner);
}

/* Removing */

/**
 * utrace_marker_free() - free shares
 * @gone: the shares; their words are not freed
 *
 * Context: Process context, without locks of markers; sleeps.
 */
void utrace_marker_free(struct list_head *gone)
{
	struct marker_share *share, *next;

	list_for_each_entry_safe(share, next, gone, of_owner) {
		struct marker_owner *owner = share->owner;

		cond_resched();
		if (share->place.event)
			utrace_marker_event_put(share->place.event);
		kfree_rcu(share, rcu);
		utrace_marker_tell(owner);
		utrace_marker_detach_if_done(owner);
		utrace_marker_owner_put(owner);
	}
}

/* Check whether a share that is leaving can be removed. */
static bool marker_is_over(const struct marker_word *word)
{
	return marker_is_settled(word) || (word->error && !word->busy);
}

/*
 * Remove the leaving shares of a dirty word if it has the wanted value or
 * cannot get it.
 */
static bool marker_clean_word(struct marker_mm *memory,
			      struct marker_word *word, void *arg)
{
	struct marker_share *share, *next;
	struct list_head *gone = arg;

	if (!marker_is_over(word))
		return false;
	list_for_each_entry_safe(share, next, &word->shares, of_word) {
		if (share->leaving)
			marker_remove_share(share, gone);
		else
			utrace_marker_tell(share->owner);
	}
	utrace_marker_untouch(memory, word);
	if (list_empty(&word->shares))
		utrace_marker_erase(memory, word);
	return false;
}

/**
 * utrace_marker_clean() - remove leaving shares after words were written
 * @memory: the address space
 * @gone: gets the removed shares, for utrace_marker_free()
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_clean(struct marker_mm *memory, struct list_head *gone)
{
	utrace_marker_visit(memory, MARKER_DIRTY, NULL, ULONG_MAX,
			    marker_clean_word, gone);
}

static bool marker_drop_word(struct marker_mm *memory,
			     struct marker_word *word, void *arg)
{
	struct marker_share *share, *next;

	list_for_each_entry_safe(share, next, &word->shares, of_word)
		marker_remove_share(share, arg);
	utrace_marker_erase(memory, word);
	return false;
}

/**
 * utrace_marker_drop() - drop all words of an address space that is being freed
 * @memory: the address space, which is no longer in the table
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_drop(struct marker_mm *memory)
{
	LIST_HEAD(gone);

	utrace_marker_visit(memory, MARKER_ALL, NULL, ULONG_MAX,
			    marker_drop_word, &gone);
	utrace_marker_free(&gone);
}

/* Fork */

/*
 * The part of ->applied that fork(2) copies.  Shared memory is not copied, and
 * the child must not undo there what the parent wants.
 */
static int marker_copied(struct mm_struct *mm, const struct marker_word *word)
{
	const vm_flags_t others = VM_DONTCOPY | VM_WIPEONFORK | VM_MAYSHARE;
	struct vm_area_struct *vma;

	if (marker_is_site(&word->place))
		return word->applied;
	vma = vma_lookup(mm, word->place.addr);
	return vma && !(vma->vm_flags & others) ? word->applied : 0;
}

struct marker_heritage {
	struct marker_mm *child;
	struct marker_place *from;
	struct marker_stock *stock;
	struct marker_owner *owner;	/* of the share that was copied last */
	bool follows;			/* @owner follows to the child */
};

/* Copy the share of an owner to the child's word @copy. */
static void marker_inherit_share(struct marker_heritage *heritage,
				 const struct marker_share *share,
				 struct marker_word *copy)
{
	if (share->owner != heritage->owner)
		heritage->follows = utrace_marker_follows(share->owner);
	heritage->owner = share->owner;
	/*
	 * The user_events of the child are known only after its birth, so
	 * leave.
	 */
	marker_add_share(marker_take_share(heritage->stock), &share->place, copy,
			 heritage->child, share->owner,
			 share->leaving || !heritage->follows ||
			 share->place.user_event);
}

/* Copy a word of the parent.  Returns true if the stock is too small for it. */
static bool marker_inherit_word(struct marker_mm *parent,
				struct marker_word *word, void *arg)
{
	struct marker_heritage *heritage = arg;
	struct marker_stock *stock = heritage->stock;
	struct marker_mm *child = heritage->child;
	struct marker_share *share;
	struct marker_word *copy;

	stock->need = list_count_nodes(&word->shares);
	*heritage->from = word->place;
	if (!stock->nwords || stock->nshares < stock->need)
		return true;
	copy = marker_take_word(stock);
	copy->place = word->place;
	/*
	 * The child is known only to tasks that mark its pages as lost together
	 * with those of the parent.
	 */
	spin_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	utrace_marker_insert(child, copy);
	copy->applied = marker_copied(parent->mm, word);
	copy->shared = word->shared;
	copy->foreign = word->foreign;
	copy->written = word->written;
	list_for_each_entry(share, &word->shares, of_word)
		marker_inherit_share(heritage, share, copy);
	copy->unsure = false;
	if (!marker_is_site(&word->place))
		copy->unsure = word->unsure;
	else if (word->busy || word->unsure)
		/* The breakpoint may exist or not: force a change. */
		copy->applied = !marker_wanted(copy);
	utrace_marker_touch(child, copy);
	spin_unlock(&child->lock);
	return false;
}

/**
 * utrace_marker_inherit() - copy words to an address space that fork(2) creates
 * @parent: the address space that is copied
 * @child: the copy, which has the words of @parent before @from
 * @from: the first word to be copied; changed to the first one that was not, if
 *	any
 * @stock: the words and shares to use
 *
 * The copied memory contains what was added to the words.  A share of an owner
 * that does not follow the current task is leaving from the beginning, so that
 * its part is subtracted.
 *
 * Context: dup_mmap(), with mmap_lock of both held for writing.  marker_mm.copy
 * of @parent is @child, so that losses of pages of @parent count for @child as
 * well.  Sleeps.  Takes marker_mm.lock of both.
 * Return: true if @stock was too small for the word at @from.
 */
bool utrace_marker_inherit(struct marker_mm *parent, struct marker_mm *child,
			   struct marker_place *from, struct marker_stock *stock)
{
	struct marker_heritage heritage = {
		.child = child,
		.from = from,
		.stock = stock,
	};
	const struct marker_place at = *from;

	return utrace_marker_visit(parent, MARKER_ALL, &at, ULONG_MAX,
				   marker_inherit_word, &heritage);
}
