// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: finding words, and owners' shares of them
 *
 * The words of a memory are a tree in the order of their addresses.
 */
#include <linux/rbtree.h>

#include "marker.h"

/**
 * utrace_marker_from() - find the first word of a range
 * @memory: the words; marker_mm.lock is held
 * @addr: begin of the range
 *
 * Context: Any.
 * Return: the first word at @addr or behind, or NULL.
 */
struct marker_word *utrace_marker_from(const struct marker_mm *memory,
				       unsigned long addr)
{
	struct rb_node *node = memory->words.rb_node;
	struct marker_word *word, *found = NULL;

	lockdep_assert_held(&memory->lock);

	while (node) {
		word = rb_entry(node, struct marker_word, node);
		if (word->place.addr < addr) {
			node = node->rb_right;
		} else {
			found = word;
			node = node->rb_left;
		}
	}
	return found;
}

static int marker_is_beside(struct rb_node *a, const struct rb_node *b)
{
	return marker_compare(&rb_entry(a, struct marker_word, node)->place,
			      &rb_entry(b, struct marker_word, node)->place);
}

/* Note whether another word of the site of @word, which may be NULL, is behind. */
static void marker_note_next(struct marker_word *word)
{
	const struct marker_word *next;

	if (!word)
		return;
	next = marker_next(word);
	WRITE_ONCE(word->followed, next && word->place.site &&
		   next->place.site == word->place.site);
}

static struct marker_word *marker_previous(struct marker_word *word)
{
	return rb_entry_safe(rb_prev(&word->node), struct marker_word, node);
}

/**
 * utrace_marker_insert() - add a word
 * @memory: the words, none of which has this place; marker_mm.lock is held
 * @word: the word, whose place and list of shares are filled in
 *
 * Context: Any.
 */
void utrace_marker_insert(struct marker_mm *memory, struct marker_word *word)
{
	lockdep_assert_held(&memory->lock);

	word->since = memory->sequence;
	write_seqcount_begin(&memory->turns);
	/* None is found. */
	rb_find_add_rcu(&word->node, &memory->words, marker_is_beside);
	write_seqcount_end(&memory->turns);
	marker_note_next(word);
	marker_note_next(marker_previous(word));
}

/**
 * utrace_marker_erase() - remove a word, and free it
 * @memory: the words; marker_mm.lock is held
 * @word: the word, which has no shares
 *
 * Context: Any but NMI.
 */
void utrace_marker_erase(struct marker_mm *memory, struct marker_word *word)
{
	struct marker_word *previous = marker_previous(word);

	lockdep_assert_held(&memory->lock);

	write_seqcount_begin(&memory->turns);
	rb_erase(&word->node, &memory->words);
	write_seqcount_end(&memory->turns);
	marker_note_next(previous);
	kfree_rcu(word, rcu);
}

static int marker_is_at(const void *place, const struct rb_node *node)
{
	return marker_compare(place,
			      &rb_entry(node, struct marker_word, node)->place);
}

/**
 * utrace_marker_find() - find a word
 * @memory: the words; marker_mm.lock is held
 * @place: the word, as its owner names it
 *
 * Context: Any.
 * Return: the word, or NULL.
 */
struct marker_word *utrace_marker_find(const struct marker_mm *memory,
				       const struct marker_place *place)
{
	struct marker_place of_word = marker_of_word(place);

	lockdep_assert_held(&memory->lock);

	return rb_entry_safe(rb_find(&of_word, &memory->words, marker_is_at),
			     struct marker_word, node);
}

/**
 * utrace_marker_find_share() - find an owner's share of a word
 * @word: the word; marker_mm.lock is held
 * @owner: the owner
 *
 * Context: Any.
 * Return: the share, which may be leaving, or NULL.
 */
struct marker_share *utrace_marker_find_share(const struct marker_word *word,
					      const struct marker_owner *owner)
{
	struct marker_share *share;

	list_for_each_entry(share, &word->shares, of_word)
		if (share->owner == owner)
			return share;
	return NULL;
}

/**
 * utrace_marker_share_at() - find an owner's share of the word at a place
 * @memory: the words; marker_mm.lock is held
 * @owner: the owner
 * @place: the word, as its owner names it
 *
 * Context: Any.
 * Return: the share, which may be leaving, or NULL.
 */
struct marker_share *utrace_marker_share_at(const struct marker_mm *memory,
					    const struct marker_owner *owner,
					    const struct marker_place *place)
{
	const struct marker_word *word = utrace_marker_find(memory, place);

	return word ? utrace_marker_find_share(word, owner) : NULL;
}

/* The shares of user_events, by what programs write and then by who wants it */

static int marker_compare_events(const struct marker_share *share,
				 const void *user_event,
				 const struct marker_event *event)
{
	if (share->place.user_event != user_event)
		return share->place.user_event < user_event ? -1 : 1;
	if (share->place.event != event)
		return share->place.event < event ? -1 : 1;
	return 0;
}

static bool marker_event_is_less(struct rb_node *node, const struct rb_node *of)
{
	const struct marker_share *share, *other;

	share = rb_entry(node, struct marker_share, of_event);
	other = rb_entry(of, struct marker_share, of_event);
	return marker_compare_events(share, other->place.user_event,
				     other->place.event) < 0;
}

/**
 * utrace_marker_index() - let writes of a user_event find a share
 * @share: the share, which is not leaving, and not of an event that has a site;
 *	marker_mm.lock is held
 *
 * Does nothing for a share without a user_event.
 *
 * Context: Any.
 */
void utrace_marker_index(struct marker_share *share)
{
	lockdep_assert_held(&share->mm->lock);

	if (share->place.user_event)
		rb_add(&share->of_event, &share->mm->events, marker_event_is_less);
}

/**
 * utrace_marker_unindex() - have no more writes of a user_event find a share
 * @share: the share, of which utrace_marker_index() was called; marker_mm.lock is held
 *
 * Context: Any.
 */
void utrace_marker_unindex(struct marker_share *share)
{
	lockdep_assert_held(&share->mm->lock);

	if (share->place.user_event)
		rb_erase(&share->of_event, &share->mm->events);
}

/**
 * utrace_marker_next_of() - find who else wants a user_event
 * @memory: the words; marker_mm.lock is held
 * @user_event: the event, in user_events' own terms
 * @last: the event of the owner that was found last, or NULL
 *
 * Context: Any.
 * Return: a share of the next event, which is not leaving; or NULL.
 */
struct marker_share *utrace_marker_next_of(const struct marker_mm *memory,
					   const void *user_event,
					   const struct marker_event *last)
{
	struct rb_node *node = memory->events.rb_node;
	struct marker_share *share, *next = NULL;

	lockdep_assert_held(&memory->lock);

	while (node) {
		share = rb_entry(node, struct marker_share, of_event);
		if (marker_compare_events(share, user_event, last) > 0) {
			next = share;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return next && next->place.user_event == user_event ? next : NULL;
}
