/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - markers: words in the memory of processes
 *
 * A program tests a word in its memory before it makes an event: a bit, or a
 * count of those that want the event.  A struct marker_owner, which is a
 * descriptor of a tracer, has shares of such words.  What all shares of a word
 * want is added up in struct marker_word, of which each copy of the memory has
 * its own: so a word belongs to a struct mm_struct, by way of a struct
 * marker_mm.
 *
 * A change of what is wanted marks the memory as dirty.  Whoever makes it writes the
 * word if its page is in memory, and else sends the threads past the safe point, where
 * the first of them writes the word (write.c).  Each
 * word remembers what was added to it, so that what is taken away later is just
 * that, also in memory that fork(2) has copied (mm.c).
 *
 * Lock order, outermost first:
 *
 *   marker_owner.mutex		serializes the ioctls of a descriptor
 *     sites_lock		the list of sites, in site.c
 *     exec_update_lock		of the process, while its rights are looked at
 *     marker_mm.sites_lock	breakpoints are installed and removed
 *       locks of uprobes
 *     mmap_lock		held for reading while a word is written, and for
 *				writing while fork(2) copies the memory; it is
 *				inside of the locks of uprobes, too.  Where pages
 *				of a file are unmapped, i_mmap_lock is held instead
 *       marker_mm.lock		the words, and what was written
 *         marker_owner.lock	the lists of shares
 *         locks of the core	utrace_control()
 *       table_lock		the table of struct marker_mm, in mm.c
 *
 * sites_lock is also taken alone, by the work item that frees an event.
 */
#ifndef _KERNEL_UTRACE_MARKER_MARKER_H
#define _KERNEL_UTRACE_MARKER_MARKER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/utrace_marker.h>

struct cred;
struct file;
struct marker_event;
struct marker_site;
struct mm_struct;
struct pid;
struct pid_namespace;
struct pt_regs;
struct task_struct;
struct utrace_engine;
struct utrace_engine_ops;
struct utrace_session;

/*
 * With so many shares, those included that fork(2) has added, a descriptor arms no
 * more words.
 */
#define MARKER_MAX_SHARES	65536

/* In the place of enum utrace_word_kind: a breakpoint, see site.c. */
#define MARKER_SITE	0xff

/**
 * struct marker_place - which word, or which part of one
 * @addr: address of the word, as the program gave it; 0 for %MARKER_SITE
 * @site: the site, which the events of its shares keep; else NULL
 * @event: in marker_share.place, of a site: what the owner is told, counted; else
 *	NULL
 * @kind: enum utrace_word_kind or %MARKER_SITE
 * @bit: number of the bit; else 0
 *
 * The place of a struct marker_word has no %UTRACE_WORD_BIT64: whoever names a bit in
 * 64 bits means the same bit as others who name it in 32.
 */
struct marker_place {
	unsigned long addr;
	struct marker_site *site;
	struct marker_event *event;
	u8 kind;
	u8 bit;
};

/**
 * struct marker_word - a word in the memory of a process
 * @list: entry in marker_mm.words
 * @place: where; constant
 * @shares: struct marker_share, at least one
 * @want: number of shares that are not leaving
 * @applied: what was added to the word in this memory: for a bit or a site 0 or 1
 * @busy: for a site: the breakpoint is being changed, so @applied is not known
 * @foreign: for a bit: the program had it set already, so nothing is taken back
 * @error: why the word is not what is wanted, -errno; 0: not yet, or it is
 *
 * All members but the constant ones are under marker_mm.lock.  @applied changes
 * together with the word, under mmap_lock held for reading; so whoever has that
 * lock for writing finds the two equal.  For a site it changes after the breakpoint,
 * under marker_mm.sites_lock.
 */
struct marker_word {
	struct list_head list;
	struct marker_place place;
	struct list_head shares;
	int want;
	int applied;
	bool busy;
	bool foreign;
	int error;
};

/**
 * struct marker_share - one owner's part of a word
 * @of_word: entry in marker_word.shares, under marker_mm.lock
 * @of_owner: entry in marker_owner.shares or, if @leaving, in
 *	marker_owner.leaving; under marker_owner.lock
 * @word: the word; constant
 * @place: the word as the owner has named it last; under marker_mm.lock and
 *	marker_owner.lock
 * @mm: what has the word; constant
 * @owner: the owner, counted; constant
 * @leaving: the owner wants the word no more, but the word does not show that
 *	yet; under marker_mm.lock
 */
struct marker_share {
	struct list_head of_word;
	struct list_head of_owner;
	struct marker_word *word;
	struct marker_place place;
	struct marker_mm *mm;
	struct marker_owner *owner;
	bool leaving;
};

/**
 * struct marker_mm - memory that has words
 * @node: entry in the table, under table_lock, read under RCU
 * @mm: the memory, counted as by mmgrab(): the last mmput() takes the entry out of
 *	the table.  Constant
 * @ref: one reference for the table, one for each caller that found it
 * @lock: protects @words, @pid and what is in the words; innermost but for
 *	marker_owner.lock and locks of the core
 * @words: struct marker_word
 * @sites_lock: serializes those who install and remove breakpoints
 * @nshares: number of shares of all words.  Under @lock; read without it as a
 *	hint
 * @dirty: a word may differ from what is wanted.  Under @lock; read without it
 * @pid: the process, in which the memory was when it got words, counted; NULL:
 *	the child does not run yet
 * @rcu: frees it when readers of the table are done
 */
struct marker_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	refcount_t ref;
	spinlock_t lock;	/* words, and what was written */
	struct list_head words;
	struct mutex sites_lock;	/* breakpoints */
	unsigned int nshares;
	bool dirty;
	struct pid *pid;
	struct rcu_head rcu;
};

/**
 * struct marker_owner - who wants words: a descriptor
 * @ref: one reference for the descriptor, one for the engine, one for each share,
 *	one for each hit that is being told
 * @mutex: serializes the ioctls
 * @lock: protects @shares, @leaving, @nshares, @events, @closed and @engine
 * @shares: struct marker_share that are not leaving
 * @leaving: those that are
 * @nshares: number of elements of both
 * @events: struct marker_event, see event.c
 * @nevents: number of elements of @events.  Written under @mutex and @lock
 * @closed: the descriptor is closed
 * @changed: the state of a word has changed since the last list was given.
 *	Without a lock
 * @follow: children of fork(2) get the words, too; constant
 * @engine: the engine, with a reference; NULL once it is detached
 * @target: engine of the target that hits are recorded for, counted; or NULL.
 *	Constant
 * @process: the process that has the words, counted; constant
 * @opener: credentials of the opener of the device, counted; constant
 * @cred: those of the process that has made the descriptor, likewise
 * @ns: pid namespace of the opener, counted; constant
 * @wait: those that poll
 * @free: frees the owner; the last reference may be that of a hit, in a handler of
 *	uprobes
 */
struct marker_owner {
	struct kref ref;
	struct mutex mutex;	/* serializes ioctls */
	spinlock_t lock;	/* innermost */
	struct list_head shares;
	struct list_head leaving;
	unsigned int nshares;
	struct list_head events;
	unsigned int nevents;
	bool closed;
	bool changed;
	bool follow;
	struct utrace_engine *engine;
	struct utrace_engine *target;
	struct pid *process;
	const struct cred *opener;
	const struct cred *cred;
	struct pid_namespace *ns;
	wait_queue_head_t wait;
	struct work_struct free;
};

static inline bool marker_is_bit(const struct marker_place *place)
{
	return place->kind == UTRACE_WORD_BIT32;
}

static inline bool marker_is_site(const struct marker_place *place)
{
	return place->kind == MARKER_SITE;
}

/* What a word should have been added, if all goes well. */
static inline int marker_wanted(const struct marker_word *word)
{
	return marker_is_bit(&word->place) || marker_is_site(&word->place) ?
	       !!word->want : word->want;
}

static inline bool marker_is_settled(const struct marker_word *word)
{
	return !word->busy && word->applied == marker_wanted(word);
}

/* mm.c */
struct marker_mm *utrace_marker_mm_find(struct mm_struct *mm);
struct marker_mm *utrace_marker_mm_get(struct mm_struct *mm, struct pid *pid);
bool utrace_marker_mm_tryget(struct marker_mm *memory);
void utrace_marker_mm_put(struct marker_mm *memory);
void utrace_marker_mm_born(struct marker_mm *memory, struct pid *pid);

/* word.c */
u32 utrace_marker_state(const struct marker_share *share, int *error);
int utrace_marker_arm(struct marker_owner *owner,
		      const struct marker_place *place, u32 *state, int *error);
int utrace_marker_disarm(struct marker_owner *owner,
			 const struct marker_place *place);
void utrace_marker_disarm_all(struct marker_owner *owner);
void utrace_marker_arm_current(struct marker_owner *owner,
			       const struct marker_place *place);
void utrace_marker_ask_all(struct marker_owner *owner);
bool utrace_marker_wants(struct marker_mm *memory,
			 const struct marker_site *site);
bool utrace_marker_hit(struct marker_mm *memory, struct marker_site *site,
		       unsigned long ip, struct pt_regs *regs);
void utrace_marker_inherit(struct marker_mm *parent, struct marker_mm *child,
			   struct list_head *words, struct list_head *shares);
void utrace_marker_retry(struct marker_mm *memory, unsigned long start,
			 unsigned long end);
void utrace_marker_forget(struct marker_mm *memory, unsigned long start,
			  unsigned long end);
void utrace_marker_drop(struct marker_mm *memory);
void utrace_marker_clean(struct marker_mm *memory, struct list_head *gone);
void utrace_marker_free(struct list_head *gone);

/* write.c */
void utrace_marker_settle(struct marker_mm *memory);
void utrace_marker_settle_for(struct marker_mm *memory, bool child);

/* owner.c */
struct marker_owner *utrace_marker_owner_new(struct utrace_session *session,
					     struct task_struct *task,
					     bool follow, u32 target);
void utrace_marker_owner_put(struct marker_owner *owner);
struct utrace_engine *utrace_marker_engine_get(struct marker_owner *owner);
void utrace_marker_detach_if_done(struct marker_owner *owner);
void utrace_marker_tell(struct marker_owner *owner);

/* file.c */
int utrace_marker_file_make(struct utrace_session *session, void *arg);

/* marker_engine.c */
extern const struct utrace_engine_ops utrace_marker_ops;

#ifdef CONFIG_UTRACE_SITES

/* site.c */
struct marker_site *utrace_marker_site_get(struct file *file, loff_t offset,
					   loff_t semaphore, bool is_return);
void utrace_marker_site_put(struct marker_site *site, struct list_head *gone);
void utrace_marker_sites_free(struct list_head *gone);
bool utrace_marker_site_is(const struct marker_site *site,
			   const struct file *file, u64 offset, bool is_return);
int utrace_marker_site_apply(struct marker_site *site, struct mm_struct *mm,
			     bool add);

/* event.c */
void utrace_marker_event_get(struct marker_event *event);
void utrace_marker_event_put(struct marker_event *event);
bool utrace_marker_event_is_over(const struct marker_event *event);
void utrace_marker_tell_hit(struct marker_owner *owner,
			    struct marker_event *event, unsigned long ip,
			    struct pt_regs *regs);
int utrace_marker_event_arm(struct marker_owner *owner,
			    const struct utrace_ioc_marker *arg,
			    struct file *file);
int utrace_marker_event_disarm(struct marker_owner *owner,
			       const struct utrace_ioc_marker *arg,
			       struct file *file);
void utrace_marker_follow(struct marker_owner *owner);
u32 utrace_marker_counts(struct marker_owner *owner,
			 struct utrace_marker_count *counts, u32 *n);
void utrace_marker_events_free(struct marker_owner *owner);

#else

static inline int utrace_marker_site_apply(struct marker_site *site,
					   struct mm_struct *mm, bool add)
{
	return -EOPNOTSUPP;
}

static inline void utrace_marker_event_get(struct marker_event *event) { }
static inline void utrace_marker_event_put(struct marker_event *event) { }

static inline bool
utrace_marker_event_is_over(const struct marker_event *event)
{
	return false;
}

static inline void utrace_marker_tell_hit(struct marker_owner *owner,
					  struct marker_event *event,
					  unsigned long ip,
					  struct pt_regs *regs) { }

static inline int utrace_marker_event_arm(struct marker_owner *owner,
					  const struct utrace_ioc_marker *arg,
					  struct file *file)
{
	return -EOPNOTSUPP;
}

static inline int utrace_marker_event_disarm(struct marker_owner *owner,
					     const struct utrace_ioc_marker *arg,
					     struct file *file)
{
	return -ENOENT;
}

static inline void utrace_marker_follow(struct marker_owner *owner) { }

static inline u32 utrace_marker_counts(struct marker_owner *owner,
				       struct utrace_marker_count *counts,
				       u32 *n)
{
	*n = 0;
	return 0;
}

static inline void utrace_marker_events_free(struct marker_owner *owner) { }

#endif

#endif /* _KERNEL_UTRACE_MARKER_MARKER_H */
