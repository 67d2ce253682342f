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

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/utrace_words.h>
#include <linux/workqueue.h>
#include <uapi/linux/utrace_marker.h>

#include "../viewer.h"

struct file;
struct marker_event;
struct marker_site;
struct mm_struct;
struct pid;
struct pid_namespace;
struct pt_regs;
struct task_struct;
struct ucounts;
struct utrace_dev_arming;
struct utrace_engine;
struct utrace_engine_ops;
struct utrace_hold;
struct utrace_markers_ops;
struct utrace_session;

/*
 * The limit of a target, of shares (including those that fork(2) has added) and
 * of ids.
 */
#define MARKER_MAX_SHARES	65536

/* Number of words or shares that are visited before a spinlock is dropped. */
#define MARKER_PIECE	64

/*
 * Number of owners for which a struct marker_mm records how far it has
 * followed.
 */
#define MARKER_FOLLOWED	8

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

/**
 * enum marker_changed - the state of change notifications of an owner
 * @MARKER_KNOWN: no state of a word has changed since the last LIST
 * @MARKER_CHANGED: the state of a word may have changed; the session has
 *	counted it
 * @MARKER_ENDED: the target has ended, so changes are no longer counted
 */
enum marker_changed {
	MARKER_KNOWN,
	MARKER_CHANGED,
	MARKER_ENDED,
};

/**
 * struct marker_request - parameters of a marker or a user_event to arm
 * @cookie: see struct utrace_ioc_arm
 * @id: see struct utrace_ioc_arm; 0 for a module
 * @flags: see struct utrace_ioc_arm
 */
struct marker_request {
	u64 cookie;
	u32 id;
	u32 flags;
};

/**
 * struct marker_owner - an owner of shares of words
 * @ref: one reference for the target, one for the engine, one for each share,
 *	one for each hit that sleeps during delivery, one for each ioctl
 * @mutex: serializes ARM and DISARM
 * @lock: protects @shares, @leaving, @nshares, @events, @nevents, @newest,
 *	@closed, @engine and @user
 * @shares: struct marker_share that are not leaving, and the cursors of
 *	utrace_marker_next_share()
 * @leaving: struct marker_share that are leaving, and cursors
 * @nshares: number of shares in @shares and @leaving
 * @events: struct marker_event, see event.c
 * @nevents: number of elements of @events.  Written under @mutex and @lock
 * @newest: marker_event.number of the event that was added last.  Written under
 *	@lock
 * @number: unique among all owners since boot; constant
 * @closed: the target has ended.  Written under @mutex and @lock
 * @armed: struct marker_armed, see armed.c.  Under @mutex
 * @narmed: number of elements of @armed.  Under @mutex
 * @changed: enum marker_changed.  Changed without a lock
 * @follow: children of fork(2) get the words as well; constant
 * @engine: the engine, with a reference; NULL once it is detached
 * @target: engine of the target for which hits are recorded, counted; NULL for
 *	@client and @kernel.  Constant
 * @process: the process that has the words, counted; for @system the process
 *	that has created the owner.  Constant
 * @viewer: the target's viewer, which decides who may see and change the
 *	processes, counted; constant.  NULL for @client and @kernel
 * @user: the process that made the last ioctl, counted; the argument @reader of
 *	utrace_viewer_ask().  NULL: none.  Under @lock; compared without
 * @ns: pid namespace of the opener, counted; constant
 * @end: frees the events; a work item because the last reference may be that of
 *	a hit, in a handler of uprobes
 * @free: frees the owner when hits have finished
 * @client: callbacks of the module, see client.c; NULL if the owner is not a
 *	module.  Constant
 * @data: argument of the callbacks of @client; constant
 * @calls: one reference for the client, one for each callback that is running
 * @called: completed when @calls is 0
 * @kernel: the owner is a part of the kernel, see words.c; constant
 * @system: the owner has markers in all processes, and no engine; hits of
 *	@process are ignored, see site.c; constant
 * @users: for @kernel: number of users that have not called utrace_words_put()
 * @left: for @kernel: threads have to be asked, see utrace_words_write().
 *	Under a lock of the caller
 * @lacking: for @kernel: a bit could not be wanted for lack of memory or room,
 *	see utrace_words_want().  Set once, without a lock
 */
struct marker_owner {
	struct kref ref;
	struct mutex mutex;	/* serializes ARM and DISARM */
	spinlock_t lock;	/* innermost */
	struct list_head shares;
	struct list_head leaving;
	unsigned int nshares;
	struct list_head events;
	unsigned int nevents;
	u64 newest;
	u64 number;
	bool closed;
	struct list_head armed;
	unsigned int narmed;
	atomic_t changed;
	bool follow;
	struct utrace_engine *engine;
	struct utrace_engine *target;
	struct pid *process;
	struct utrace_viewer *viewer;
	struct pid *user;
	struct pid_namespace *ns;
	struct work_struct end;
	struct rcu_work free;
	const struct utrace_markers_ops *client;
	void *data;
	refcount_t calls;
	struct completion called;
	bool kernel;
	bool system;
	refcount_t users;
	bool left;
	bool lacking;
};

/* Used instead of an offset: no register. */
#define MARKER_NO_OFFSET	U16_MAX

/**
 * struct marker_fetch - a struct utrace_marker_arg, prepared for fast fetching
 * @disp: see struct utrace_marker_arg
 * @reg: offset of the register in struct pt_regs, or %MARKER_NO_OFFSET
 * @index: offset of the index register in struct pt_regs, or %MARKER_NO_OFFSET
 * @kind: see struct utrace_marker_arg
 * @scale: see struct utrace_marker_arg
 * @shift: number of upper bits that the value does not have
 * @is_signed: the value is sign-extended
 */
struct marker_fetch {
	s64 disp;
	u16 reg;
	u16 index;
	u8 kind;
	u8 scale;
	u8 shift;
	bool is_signed;
};

/**
 * enum marker_how - how a hit is delivered, besides being counted
 * @MARKER_COUNT: not at all, or in a bucket of marker_event.histogram
 * @MARKER_CALL: by a callback of the client
 * @MARKER_RECORD: by a record for marker_owner.target
 */
enum marker_how {
	MARKER_COUNT,
	MARKER_CALL,
	MARKER_RECORD,
};

/**
 * struct marker_event - a marker or a user_event that an owner has armed
 * @list: entry in marker_owner.events while the event is armed; written under
 *	marker_owner.mutex and .lock
 * @ref: one reference for the list, one for each share, one for each other user
 *	of the event; hits hold none
 * @free: frees the event in process context
 * @rcu: frees the event when hits have finished
 * @busy: number of hits and missed returns that are being delivered; for owners
 *	of the system only missed returns.  Shares a cache line with the
 *	counters, apart from the members that hits only read
 * @site: the site, counted; NULL for a user_event; constant
 * @path: the file of @site, held so that a look-up of its name finds this
 *	inode; constant
 * @semaphore: offset of the semaphore in the file, or 0; constant
 * @name: name of a user_event, else NULL; constant
 * @owner: the owner, which outlives the list, @everywhere and all shares;
 *	constant
 * @everywhere: for an owner of the system: entry in marker_site.events, see
 *	site.c
 * @cookie: see struct utrace_ioc_arm; constant
 * @id: see struct utrace_ioc_arm; 0 for a module; constant
 * @number: unique among all events since boot, and ascending in the order of
 *	creation; constant
 * @how: how a hit is delivered; constant
 * @histogram: number of hits in each enum utrace_bucket, or NULL.  Constant
 * @ucounts: the user charged for the place (site.c), or NULL.  Constant
 * @nargs: number of elements of @args that are used; constant
 * @args: the arguments; constant
 * @hits: number of hits
 * @missed: number of returns that were not seen
 */
struct marker_event {
	struct list_head list;
	struct kref ref;
	struct work_struct free;
	struct rcu_head rcu;
	struct marker_site *site;
	struct path path;
	loff_t semaphore;
	char *name;
	struct marker_owner *owner;
	struct list_head everywhere;
	u64 cookie;
	u64 number;
	u32 id;
	enum marker_how how;
	atomic64_t *histogram;
	struct ucounts *ucounts;
	unsigned int nargs;
	struct marker_fetch args[UTRACE_MARKER_ARGS];
	atomic_t busy ____cacheline_aligned_in_smp;
	atomic64_t hits;
	atomic64_t missed;
};

/*
 * Check whether an event is disarmed, so that no share may be added for it and
 * no hit is delivered.  Without marker_owner.lock the answer may be stale.
 */
static inline bool marker_event_is_over(const struct marker_event *event)
{
	return list_empty(&event->list);
}

static inline struct marker_place marker_of_event(struct marker_event *event)
{
	return (struct marker_place){
		.kind = MARKER_SITE,
		.site = event->site,
		.semaphore = event->semaphore,
		.event = event,
	};
}

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

static inline bool marker_is_same(const struct marker_place *a,
				  const struct marker_place *b)
{
	return !marker_compare(a, b);
}

static inline struct marker_word *marker_next(struct marker_word *word)
{
	return rb_entry_safe(rb_next(&word->node), struct marker_word, node);
}

/*
 * Check whether words may differ from the wanted value.  Without marker_mm.lock
 * the answer may be stale.
 */
static inline bool marker_is_dirty(const struct marker_mm *memory)
{
	return !RB_EMPTY_ROOT(&memory->dirty);
}

/* Return value of utrace_marker_todo(). */
#define MARKER_FOLLOW	BIT(0)	/* events of the owner */
#define MARKER_SETTLE	BIT(1)	/* words of the address space, of any owner */

/**
 * enum marker_tree - which words utrace_marker_visit() visits
 * @MARKER_ALL: all words
 * @MARKER_DIRTY: those in marker_mm.dirty
 */
enum marker_tree {
	MARKER_ALL,
	MARKER_DIRTY,
};

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

/**
 * struct marker_stock - words and shares that are allocated before locks are
 * taken
 * @words: struct marker_word
 * @shares: struct marker_share
 * @nwords: number of elements of @words
 * @nshares: number of elements of @shares
 * @need: number of shares of the next word that fork(2) is to copy
 */
struct marker_stock {
	struct list_head words;
	struct list_head shares;
	unsigned int nwords;
	unsigned int nshares;
	unsigned int need;
};

#define MARKER_STOCK_INIT(stock)				\
	{							\
		.words = LIST_HEAD_INIT((stock).words),		\
		.shares = LIST_HEAD_INIT((stock).shares),	\
	}

/* mm.c */
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

/* find.c */
struct marker_word *utrace_marker_from(const struct marker_mm *memory,
				       unsigned long addr);
bool utrace_marker_visit(struct marker_mm *memory, enum marker_tree tree,
			 const struct marker_place *from, unsigned long last,
			 bool (*fn)(struct marker_mm *memory,
				    struct marker_word *word, void *arg),
			 void *arg);
void utrace_marker_touch(struct marker_mm *memory, struct marker_word *word);
void utrace_marker_untouch(struct marker_mm *memory, struct marker_word *word);
void utrace_marker_insert(struct marker_mm *memory, struct marker_word *word);
void utrace_marker_erase(struct marker_mm *memory, struct marker_word *word);
struct marker_word *utrace_marker_find(const struct marker_mm *memory,
				       const struct marker_place *place);
struct marker_share *utrace_marker_find_share(const struct marker_word *word,
					      const struct marker_owner *owner);
struct marker_share *utrace_marker_share_at(const struct marker_mm *memory,
					    const struct marker_owner *owner,
					    const struct marker_place *place);
void utrace_marker_index(struct marker_share *share);
void utrace_marker_unindex(struct marker_share *share);
struct marker_share *utrace_marker_next_of(const struct marker_mm *memory,
					   const void *user_event,
					   const struct marker_event *last);

/* word.c */
int utrace_marker_stock_fill(struct marker_stock *stock, unsigned int nwords,
			     unsigned int nshares);
void utrace_marker_stock_free(struct marker_stock *stock);
u32 utrace_marker_state(const struct marker_share *share, int *error);
int utrace_marker_want(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place);
int utrace_marker_want_from(struct marker_stock *stock,
			    struct marker_mm *memory,
			    struct marker_owner *owner,
			    const struct marker_place *place);
bool utrace_marker_matches(const struct marker_share *share,
			   const struct marker_place *place);
void utrace_marker_leave_share(struct marker_share *share);
void utrace_marker_leave(struct marker_mm *memory, struct marker_owner *owner,
			 const struct marker_place *place);
void utrace_marker_abandon(struct marker_mm *memory, struct marker_owner *owner,
			   const struct marker_place *place);
void utrace_marker_clean(struct marker_mm *memory, struct list_head *gone);
void utrace_marker_free(struct list_head *gone);
void utrace_marker_drop(struct marker_mm *memory);
bool utrace_marker_inherit(struct marker_mm *parent, struct marker_mm *child,
			   struct marker_place *from, struct marker_stock *stock);

/* process.c */
struct marker_mm *utrace_marker_begin(struct marker_owner *owner,
				      struct mm_struct **mm);
void utrace_marker_finish(struct marker_owner *owner, struct marker_mm *memory,
			  struct mm_struct *mm);
int utrace_marker_arm(struct marker_owner *owner, struct marker_place *place,
		      u32 *state, int *error);
int utrace_marker_arm_current(struct marker_owner *owner,
			      const struct marker_place *place);

/* disarm.c */
int utrace_marker_disarm(struct marker_owner *owner,
			 const struct marker_place *place);
void utrace_marker_event_end(struct marker_owner *owner,
			     struct marker_event *event);
void utrace_marker_disarm_all(struct marker_owner *owner);

/* write.c */
void utrace_marker_settle(struct marker_mm *memory);
void utrace_marker_settle_for(struct marker_mm *memory,
			      struct marker_owner *owner, bool unseen,
			      bool sites);
int utrace_marker_settle_child(struct marker_mm *memory);
void utrace_marker_settle_words(struct marker_mm *memory,
				struct marker_owner *owner, bool unseen,
				bool sites);

/* owner.c */
struct marker_owner *utrace_marker_owner_alloc(struct task_struct *task,
					       struct pid_namespace *ns);
bool utrace_marker_call_begin(struct marker_owner *owner);
void utrace_marker_call_end(struct marker_owner *owner);
void utrace_marker_owner_put(struct marker_owner *owner);
struct utrace_engine *utrace_marker_engine_get(struct marker_owner *owner);
bool utrace_marker_follows(struct marker_owner *owner);
void utrace_marker_detach_if_done(struct marker_owner *owner);
void utrace_marker_ask_all(struct marker_owner *owner, bool now);
void utrace_marker_tell(struct marker_owner *owner);
bool utrace_marker_may_trace(struct marker_owner *owner);
bool utrace_marker_may_tell(struct marker_owner *owner);
bool utrace_marker_next_share(struct marker_owner *owner,
			      struct list_head *shares,
			      struct marker_share *cursor,
			      bool (*fn)(struct marker_share *share, void *arg),
			      void *arg);

/* marker_engine.c */
extern const struct utrace_engine_ops utrace_marker_kernel_ops;
struct marker_owner *
utrace_marker_owner_new(struct utrace_session *session,
			const struct utrace_dev_arming *target,
			struct task_struct *task);
struct marker_owner *utrace_marker_owner_of_kernel(void);
struct marker_owner *
utrace_marker_owner_of_system(struct utrace_session *session,
			      const struct utrace_dev_arming *target);
struct marker_owner *
utrace_marker_owner_of_client(struct task_struct *task, bool follow,
			      const struct utrace_markers_ops *client,
			      void *data);

/* event.c */
void utrace_marker_event_get(struct marker_event *event);
void utrace_marker_event_put(struct marker_event *event);
void utrace_marker_event_drop(struct marker_event *event);
struct marker_event *
utrace_marker_event_new(struct marker_owner *owner,
			const struct marker_request *request);
void utrace_marker_event_add(struct marker_owner *owner,
			     struct marker_event *event);
struct marker_event *utrace_marker_next_event(struct marker_owner *owner,
					      struct marker_event *last);
u32 utrace_marker_counts(struct marker_owner *owner, u32 id,
			 struct utrace_hit_count *counts, u32 *n);
void utrace_marker_events_free(struct marker_owner *owner);
int utrace_marker_histogram_new(struct marker_event *event);
void utrace_marker_histogram_add(struct marker_event *event, bool readable,
				 u64 value);
int utrace_marker_histogram_read(struct marker_owner *owner, u32 id,
				 u64 *buckets);

/* State of a walk of the events of an owner. */
struct marker_walk {
	u64 from;	/* number up to which the process had followed before */
	u64 unfollowed;	/* marker_mm.unfollowed when the walk began */
};

/* follow.c */
unsigned int utrace_marker_todo(const struct marker_owner *owner);
void utrace_marker_unfollow(struct marker_mm *memory,
			    const struct marker_owner *owner);
void utrace_marker_begin_walk(const struct marker_owner *owner,
			      struct marker_walk *walk);
void utrace_marker_end_walk(const struct marker_owner *owner,
			    const struct marker_walk *walk, u64 number);

#ifdef CONFIG_UTRACE_SITES

/* fetch.c */
bool utrace_marker_arg_is_valid(const struct utrace_marker_arg *arg);
struct marker_fetch utrace_marker_fetch_of(const struct utrace_marker_arg *arg);
bool utrace_marker_fetch_other(const struct marker_fetch *fetch,
			       const struct pt_regs *regs, u64 *to);

/* arm.c */
struct marker_event *
utrace_marker_site_arm(struct marker_owner *owner,
		       const struct marker_request *request,
		       const struct utrace_marker *arg, struct file *file);
int utrace_marker_site_disarm(struct marker_owner *owner,
			      const struct utrace_marker *arg,
			      struct file *file);

#else

static inline struct marker_event *
utrace_marker_site_arm(struct marker_owner *owner,
		       const struct marker_request *request,
		       const struct utrace_marker *arg, struct file *file)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline int utrace_marker_site_disarm(struct marker_owner *owner,
					    const struct utrace_marker *arg,
					    struct file *file)
{
	return -ENOENT;
}

#endif

#ifdef CONFIG_USER_EVENTS

/* user_event.c */
int utrace_marker_arm_name(struct marker_owner *owner,
			   struct marker_event *event);
struct marker_event *
utrace_marker_name_arm(struct marker_owner *owner,
		       const struct marker_request *request, const char *name);
int utrace_marker_name_disarm(struct marker_owner *owner, const char *name);

#else

static inline int utrace_marker_arm_name(struct marker_owner *owner,
					 struct marker_event *event)
{
	return 0;
}

static inline struct marker_event *
utrace_marker_name_arm(struct marker_owner *owner,
		       const struct marker_request *request, const char *name)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline int utrace_marker_name_disarm(struct marker_owner *owner,
					    const char *name)
{
	return -EOPNOTSUPP;
}

#endif

#endif /* _KERNEL_UTRACE_MARKER_MARKER_H */
