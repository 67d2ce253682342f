// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: look-up of words and of owners' shares
 *
 * The words of an address space are a tree in the order of marker_compare().
 */
#include <linux/rbtree.h>
#include <linux/sched.h>

#include "find.h"
#include "marker.h"
#include "mm.h"

static struct marker_word *marker_word_of(struct rb_node *node,
					  enum marker_tree tree)
{
	return tree == MARKER_DIRTY ?
	       rb_entry_safe(node, struct marker_word, dirty) :
	       rb_entry_safe(node, struct marker_word, node);
}

static struct marker_word *marker_next_of(struct marker_word *word,
					  enum marker_tree tree)
{
	return marker_word_of(rb_next(tree == MARKER_DIRTY ? &word->dirty :
							     &word->node), tree);
}

/* The first word of a tree at a place or after it, or NULL. */
static struct marker_word *marker_from(const struct marker_mm *memory,
				       enum marker_tree tree,
				       const struct marker_place *place)
{
	const struct rb_root *root = tree == MARKER_DIRTY ? &memory->dirty :
							    &memory->words;
	struct marker_word *word = marker_word_of(root->rb_node, tree);
	struct marker_word *found = NULL;
	struct rb_node *node;

	while (word) {
		node = tree == MARKER_DIRTY ? &word->dirty : &word->node;
		if (marker_compare(&word->place, place) < 0) {
			word = marker_word_of(node->rb_right, tree);
		} else {
			found = word;
			word = marker_word_of(node->rb_left, tree);
		}
	}
	return found;
}

/**
 * utrace_marker_from() - find the first word of a range
 * @memory: the address space; marker_mm.lock is held
 * @addr: begin of the range
 *
 * Context: Any.
 * Return: the first word whose address is >= @addr, or NULL.
 */
struct marker_word *utrace_marker_from(const struct marker_mm *memory,
				       unsigned long addr)
{
	const struct marker_place place = { .addr = addr };

	lockdep_assert_held(&memory->lock);

	return marker_from(memory, MARKER_ALL, &place);
}

/*
 * Visit up to MARKER_PIECE words.  Returns true if words are left, from *@at
 * on.
 */
static bool marker_visit_piece(struct marker_mm *memory, enum marker_tree tree,
			       struct marker_place *at, unsigned long last,
			       bool (*fn)(struct marker_mm *memory,
					  struct marker_word *word, void *arg),
			       void *arg, bool *found)
{
	struct marker_word *word = marker_from(memory, tree, at), *next;
	unsigned int n = MARKER_PIECE;

	lockdep_assert_held(&memory->lock);

	for (; word && word->place.addr <= last; word = next) {
		if (!n--) {
			*at = word->place;
			return true;
		}
		next = marker_next_of(word, tree);
		*found = fn(memory, word, arg);
		if (*found)
			return false;
	}
	return false;
}

/**
 * utrace_marker_visit() - call a function for each word of a range
 * @memory: the address space
 * @tree: all words or the dirty ones
 * @from: where to begin; NULL: at the first word
 * @last: last address of the range
 * @fn: called for each word with marker_mm.lock held; may erase the word, and
 *	no other.  Returns true to end the visit
 * @arg: last argument of @fn
 *
 * The lock is dropped after each %MARKER_PIECE words, so words that are added
 * during the visit may be missed.
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 * Return: true if @fn has returned true.
 */
bool utrace_marker_visit(struct marker_mm *memory, enum marker_tree tree,
			 const struct marker_place *from, unsigned long last,
			 bool (*fn)(struct marker_mm *memory,
				    struct marker_word *word, void *arg),
			 void *arg)
{
	struct marker_place at = {};
	bool found = false, more;

	if (from)
		at = *from;
	do {
		scoped_guard(spinlock, &memory->lock)
			more = marker_visit_piece(memory, tree, &at, last, fn,
						  arg, &found);
		if (more)
			cond_resched();
	} while (more);
	return found;
}

static bool marker_dirty_is_less(struct rb_node *node, const struct rb_node *of)
{
	return marker_compare(&rb_entry(node, struct marker_word, dirty)->place,
			      &rb_entry(of, struct marker_word, dirty)->place) < 0;
}

/**
 * utrace_marker_touch() - mark a word as dirty
 * @memory: the address space; marker_mm.lock is held
 * @word: the word
 *
 * Context: Any.
 */
void utrace_marker_touch(struct marker_mm *memory, struct marker_word *word)
{
	lockdep_assert_held(&memory->lock);

	if (RB_EMPTY_NODE(&word->dirty))
		rb_add(&word->dirty, &memory->dirty, marker_dirty_is_less);
}

/**
 * utrace_marker_untouch() - mark a word as clean
 * @memory: the address space; marker_mm.lock is held
 * @word: the word, which has the wanted value or cannot get it
 *
 * Context: Any.
 */
void utrace_marker_untouch(struct marker_mm *memory, struct marker_word *word)
{
	lockdep_assert_held(&memory->lock);

	if (RB_EMPTY_NODE(&word->dirty))
		return;
	rb_erase(&word->dirty, &memory->dirty);
	RB_CLEAR_NODE(&word->dirty);
}

static int marker_is_beside(struct rb_node *a, const struct rb_node *b)
{
	return marker_compare(&rb_entry(a, struct marker_word, node)->place,
			      &rb_entry(b, struct marker_word, node)->place);
}

/* Update ->followed of a word, which may be NULL. */
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
 * @memory: the address space, which has no word at this place; marker_mm.lock
 *	is held
 * @word: the word, whose place and list of shares are filled in
 *
 * Context: Any.
 */
void utrace_marker_insert(struct marker_mm *memory, struct marker_word *word)
{
	lockdep_assert_held(&memory->lock);

	word->since = memory->sequence;
	RB_CLEAR_NODE(&word->dirty);
	write_seqcount_begin(&memory->turns);
	/* Never finds a word: the caller has checked. */
	rb_find_add_rcu(&word->node, &memory->words, marker_is_beside);
	write_seqcount_end(&memory->turns);
	marker_note_next(word);
	marker_note_next(marker_previous(word));
}

/**
 * utrace_marker_erase() - remove a word, and free it
 * @memory: the address space; marker_mm.lock is held
 * @word: the word, which has no shares
 *
 * Context: Any but NMI.
 */
void utrace_marker_erase(struct marker_mm *memory, struct marker_word *word)
{
	struct marker_word *previous = marker_previous(word);

	lockdep_assert_held(&memory->lock);

	utrace_marker_untouch(memory, word);
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
 * @memory: the address space; marker_mm.lock is held
 * @place: the word, as its owner names it (%UTRACE_WORD_BIT64 is allowed)
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
 * @memory: the address space; marker_mm.lock is held
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

/* The shares of user_events, by user_event and then by the owner's event */

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
 * utrace_marker_index() - make writes of a user_event find a share
 * @share: the share, which is not leaving and has no site; marker_mm.lock is
 *	held
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
 * utrace_marker_unindex() - undo utrace_marker_index()
 * @share: the share; marker_mm.lock is held
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
 * utrace_marker_next_of() - find the next share of a user_event
 * @memory: the address space; marker_mm.lock is held
 * @user_event: the user_event, as user_events identifies it
 * @last: the owner's event of the share that was found last, or NULL
 *
 * Context: Any.
 * Return: a share of the next owner's event, which is not leaving; or NULL.
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
