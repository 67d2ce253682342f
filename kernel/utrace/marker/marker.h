/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - markers: words in the memory of processes
 *
 * A program tests a word in its memory before it emits an event: a bit, or a
 * count of the consumers of the event.  A struct marker_owner (a target of a
 * session, a module or a part of the kernel) has shares of such words.  A
 * struct marker_word sums up what all shares of one word want.  Each address
 * space has its own words, in a struct marker_mm.
 *
 * A change of the wanted value marks the word as dirty.  The task that makes
 * the change writes the word if its page is in memory.  Otherwise it sends the
 * threads of the process past the safe point, where the first of them writes
 * the word (write.c).  Each word records what was added to it, so that exactly
 * this is subtracted later, also in memory that fork(2) has copied (memory.c).
 *
 * Lock order, outermost first:
 *
 *   marker_owner.mutex		serializes ARM and DISARM of a target
 *     exec_update_lock		of the process, for permission checks
 *     marker_mm.install_lock	breakpoints are installed and removed
 *       dup_mmap_sem		of uprobes, for sites of all processes
 *     mmap_lock		for reading while a word is written, for writing
 *				while breakpoints change or fork(2) copies the
 *				memory.  While a file is truncated, i_mmap_lock
 *				is held instead; UFFDIO_MOVE may hold
 *				neither
 *       uprobe.consumer_rwsem	while uprobes asks which breakpoints are wanted
 *       marker_mm.lock		the words, and what was written; inside it the
 *				lock of the copy that fork(2) makes
 *         marker_owner.lock	the lists of shares
 *         locks of the core	utrace_control()
 *       table_lock		the table of struct marker_mm, in mm.c
 *
 * Hits of sites read under RCU what marker_mm.lock protects (hit.c).
 *
 * utrace_session.lock is outside of marker_owner.lock and of the locks of the
 * core, since the owner is looked up and created under it.  It is never held
 * together with marker_owner.mutex.
 *
 * sites_lock (site.c) is taken alone.  user_events holds its own locks around
 * all of these but marker_owner.mutex: event_mutex, and inside of it
 * user_event_mm.words_lock.  marker_owner.mutex is outside of words_lock.
 *
 * Programs decide how many words there are, so marker_mm.lock and
 * marker_owner.lock are dropped after MARKER_PIECE of them
 * (utrace_marker_visit(), utrace_marker_next_share()).
 */
#ifndef _KERNEL_UTRACE_MARKER_MARKER_H
#define _KERNEL_UTRACE_MARKER_MARKER_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/utrace_words.h>
#include <uapi/linux/utrace_marker.h>

struct marker_event;
struct marker_mm;
struct marker_owner;
struct marker_site;

/*
 * The limit of a target, of shares (including those that fork(2) has added) and
 * of ids.
 */
#define MARKER_MAX_SHARES	65536

/* Number of words or shares that are visited before a spinlock is dropped. */
#define MARKER_PIECE	64

/* Used as enum utrace_word_kind: a breakpoint, see site.c. */
#define MARKER_SITE	0xff

/*
 * Used as enum utrace_word_kind in searches: all words of marker_place.event.
 */
#define MARKER_EVENT	0xfe

/**
 * struct marker_place - a word, or one bit of a word
 * @addr: address of the word, as the program gave it; 0 for %MARKER_SITE
 * @site: the site, which is kept by the events of its shares; NULL for a word
 * @semaphore: for a site: file offset of the SDT semaphore to increment, or 0
 * @event: in marker_share.place of a site or a user_event: the event that is
 *	delivered to the owner, counted; else NULL
 * @user_event: in marker_share.place of a user_event: the event, as user_events
 *	identifies it; else NULL
 * @cookie: in marker_share.place of a word: see struct utrace_ioc_arm; else 0
 * @id: in marker_share.place of a word: see struct utrace_ioc_arm; else 0
 * @kind: enum utrace_word_kind, %MARKER_SITE or %MARKER_EVENT
 * @bit: number of the bit; else 0
 *
 * The place of a struct marker_word never has the kind %UTRACE_WORD_BIT64.  So
 * a bit is the same word, whether an owner names it in 64 or in 32 bits.
 */
struct marker_place {
	unsigned long addr;
	struct marker_site *site;
	loff_t semaphore;
	struct marker_event *event;
	const void *user_event;
	u64 cookie;
	u32 id;
	u8 kind;
	u8 bit;
};

/**
 * struct marker_word - a word in the memory of a process
 * @node: entry in marker_mm.words
 * @spare: entry in marker_stock.words, before the word is used
 * @dirty: entry in marker_mm.dirty, or an empty node
 * @rcu: frees the word when hits have finished
 * @place: where the word is; constant
 * @shares: struct marker_share, at least one
 * @want: number of shares that are not leaving
 * @ours: number of shares of kernel owners, to which the program has given the
 *	bit.  Includes those that are leaving, so that the bit is cleared in
 *	shared memory as well
 * @want_ours: number of those of @ours that are not leaving
 * @applied: what was added to the word in this address space: 0 or 1 for a bit
 *	or a site
 * @busy: for a site: the breakpoint is being changed, so @applied is not known
 * @unsure: for a site: @applied may be wrong, because nobody wanted the
 *	breakpoint for a while, because a change of it has failed, or because a
 *	mapping was added while the owner's permission was not known.  For a
 *	bit: @shared may be wrong, because something was mapped there
 * @foreign: for a bit: the program had set the bit before, or keeps it, so the
 *	bit is not cleared
 * @shared: for a bit: the memory was shared at the last check, so only
 *	@want_ours counts
 * @written: the 32 bits around the word as the kernel last wrote them
 * @error: why the word does not have the wanted value, -errno; 0 if it has, or
 *	if no attempt has failed
 * @followed: the next word belongs to the same site; hits read it without the
 *	lock
 * @since: marker_mm.sequence when the word was added, or when its page may last
 *	have gone: a page that a writer got before this may be a stale one
 *
 * Members that are not constant are protected by marker_mm.lock.  Hits of sites
 * read @node and @shares, which may be empty by then, under RCU.  @applied
 * changes together with the word, with mmap_lock held for reading, so whoever
 * holds mmap_lock for writing finds the two equal.  For a site it changes after
 * the breakpoint, under marker_mm.install_lock.
 */
struct marker_word {
	union {
		struct rb_node node;
		struct list_head spare;
	};
	struct rb_node dirty;
	struct marker_place place;
	struct list_head shares;
	int want;
	int ours;
	int want_ours;
	int applied;
	bool busy;
	bool unsure;
	bool foreign;
	bool shared;
	u32 written;
	int error;
	bool followed;
	u64 since;
	struct rcu_head rcu;
};

/**
 * struct marker_share - one owner's share of a word
 * @of_word: entry in marker_word.shares, under marker_mm.lock; read by hits
 *	under RCU
 * @of_owner: entry in marker_owner.shares or, if @leaving, in
 *	marker_owner.leaving; under marker_owner.lock.  Finally entry in a list
 *	of shares to free
 * @word: the word; constant
 * @place: the word as the owner named it last; under marker_mm.lock and
 *	marker_owner.lock.  Hits read the event of a site without them
 * @mm: the address space of the word; constant
 * @owner: the owner, counted; constant
 * @of_event: entry in marker_mm.events if the share is of a user_event and not
 *	leaving
 * @number: unique in @mm, and ascending in the order of creation; constant
 * @leaving: the owner no longer wants the word, but the word does not reflect
 *	that yet; under marker_mm.lock, read by hits without
 * @rcu: frees the share when hits have finished
 */
struct marker_share {
	struct list_head of_word;
	struct list_head of_owner;
	struct marker_word *word;
	struct marker_place place;
	struct marker_mm *mm;
	struct marker_owner *owner;
	struct rb_node of_event;
	u64 number;
	bool leaving;
	struct rcu_head rcu;
};

static inline bool marker_is_bit(const struct marker_place *place)
{
	return place->kind == UTRACE_WORD_BIT32;
}

static inline bool marker_is_site(const struct marker_place *place)
{
	return place->kind == MARKER_SITE;
}

/*
 * The place of the struct marker_word of @named.  The machine is little-endian.
 */
static inline struct marker_place
marker_of_word(const struct marker_place *named)
{
	struct marker_place place = *named;

	place.event = NULL;
	if (place.kind == UTRACE_WORD_BIT64) {
		place.kind = UTRACE_WORD_BIT32;
		place.addr += place.bit / 32 * sizeof(u32);
		place.bit %= 32;
	}
	return place;
}

static inline struct marker_place marker_of_bit(const struct utrace_bit *bit)
{
	return (struct marker_place){
		.addr = bit->addr,
		.kind = bit->size == sizeof(u64) ? UTRACE_WORD_BIT64 :
						   UTRACE_WORD_BIT32,
		.bit = bit->bit,
	};
}

/* Compare words by address first, so that the words of a page are adjacent. */
static inline int marker_compare(const struct marker_place *a,
				 const struct marker_place *b)
{
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->semaphore != b->semaphore)
		return a->semaphore < b->semaphore ? -1 : 1;
	return ((int)a->kind << 8 | a->bit) - ((int)b->kind << 8 | b->bit);
}

static inline struct marker_word *marker_next(struct marker_word *word)
{
	return rb_entry_safe(rb_next(&word->node), struct marker_word, node);
}

/* The value that should currently be added to the word. */
static inline int marker_wanted(const struct marker_word *word)
{
	if (word->shared)
		return !!word->want_ours;
	return marker_is_bit(&word->place) || marker_is_site(&word->place) ?
	       !!word->want : word->want;
}

/*
 * Check whether a bit stays clear because its memory may be shared with other
 * processes.  Bits of kernel owners are set there anyway.
 */
static inline bool marker_is_refused(const struct marker_word *word)
{
	return word->shared && !word->want_ours;
}

/*
 * Why a word does not have the wanted value: -errno, or 0 if it has or soon may
 * have.
 */
static inline int marker_error(const struct marker_word *word)
{
	return marker_is_refused(word) ? -EOPNOTSUPP : word->error;
}

static inline bool marker_is_settled(const struct marker_word *word)
{
	return !word->busy && !word->unsure &&
	       word->applied == marker_wanted(word);
}

#endif /* _KERNEL_UTRACE_MARKER_MARKER_H */
