// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: delivery of hits of sites
 *
 * A hit is delivered where the breakpoint traps: the registers there are those
 * of the marker, and no signal has been delivered in between.  While a handler
 * runs, uprobes cannot complete the removal of any other probe, so nothing here
 * waits for user space: an argument whose memory is not present is omitted, and
 * a record that has no room is stored with its task, which waits at the safe
 * point.
 *
 * utrace_marker_after_hits() frees an event only after the handlers that may
 * have found it have returned.  Address spaces, words, shares and owners are
 * protected by ordinary RCU.
 */
#include <linux/rbtree.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/seqlock.h>
#include <linux/uprobes.h>
#include <linux/utrace.h>
#include <linux/utrace_markers.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"
#include "../viewer.h"
#include "event.h"
#include "fetch.h"
#include "find.h"
#include "hit.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "site.h"

/* A struct utrace_marker_hit is the body of a UTRACE_REC_MARKER. */
static_assert(offsetof(struct utrace_marker_hit, args) +
	      sizeof(struct utrace_rec) == sizeof(struct utrace_rec_marker));

/* Fill in a hit.  Returns how many bytes are used. */
static __always_inline size_t marker_fill(struct utrace_marker_hit *hit,
					  const struct marker_event *event,
					  unsigned long ip,
					  const struct pt_regs *regs)
{
	unsigned int i, nargs = event->nargs;
	u32 faulted = 0;

	hit->cookie = event->cookie;
	hit->ip = ip;
	hit->nargs = nargs;
	hit->args_offset = sizeof(struct utrace_rec_marker);
	for (i = 0; i < nargs; i++)
		if (unlikely(!marker_fetch(&event->args[i], regs,
					   &hit->args[i])))
			faulted |= BIT(i);
	hit->faulted = faulted;
	return offsetof(struct utrace_marker_hit, args) + i * sizeof(u64);
}

/*
 * Check whether a hit of the current task may be delivered to an owner.  With
 * @now, this does not sleep, and returns false if the answer is not cached.
 * The caller must fetch the arguments first, since the program may hide its
 * memory at any time.
 */
static bool marker_is_visible(struct marker_owner *owner, bool now)
{
	/*
	 * Read the arguments before the permission; pairs with the exchange in
	 * set_dumpable().
	 */
	smp_rmb();
	if (!now)
		return utrace_marker_may_tell(owner);
	if (owner->target)
		return utrace_dev_knows_current(owner->target);
	return !owner->viewer || utrace_viewer_knows(owner->viewer);
}

/* Count a hit, also in the histogram if the event has one. */
static noinline bool marker_count(struct marker_event *event,
				  const struct pt_regs *regs, bool now)
{
	bool readable = false;
	u64 value = 0;

	if (event->histogram)
		readable = marker_fetch(&event->args[0], regs, &value);
	if (!marker_is_visible(event->owner, now))
		return false;
	if (event->histogram)
		utrace_marker_histogram_add(event, readable, value);
	atomic64_inc(&event->hits);
	return true;
}

/* Count or record a hit.  May sleep. */
static void marker_tell(struct marker_event *event, unsigned long ip,
			const struct pt_regs *regs)
{
	struct utrace_marker_hit hit;
	size_t size;

	if (event->how == MARKER_COUNT) {
		marker_count(event, regs, false);
		return;
	}
	size = marker_fill(&hit, event, ip, regs);
	if (utrace_dev_record(event->owner->target, UTRACE_REC_MARKER, &hit,
			      size))
		atomic64_inc(&event->hits);
}

/*
 * Record a hit without sleeping.  Returns false if the permission is not cached
 * or the ring has no room.
 */
static __always_inline bool marker_record_now(struct marker_event *event,
					      unsigned long ip,
					      const struct pt_regs *regs)
{
	/* marker_fill() writes all bytes that are used. */
	struct utrace_marker_hit hit __uninitialized;
	size_t size;

	size = marker_fill(&hit, event, ip, regs);
	if (!utrace_dev_record_now(event->owner->target, UTRACE_REC_MARKER,
				   &hit, size))
		return false;
	atomic64_inc(&event->hits);
	return true;
}

/* marker_tell() without sleeping.  Returns false if that is not possible. */
static __always_inline bool marker_tell_now(struct marker_event *event,
					    unsigned long ip,
					    const struct pt_regs *regs)
{
	if (likely(event->how == MARKER_RECORD))
		return marker_record_now(event, ip, regs);
	return event->how == MARKER_COUNT && marker_count(event, regs, true);
}

/*
 * Call the client of an event that was found under RCU.  The reference of the
 * call keeps the owner.
 */
static void marker_call(struct marker_event *event, unsigned long ip,
			struct pt_regs *regs) __releases(RCU)
{
	struct marker_owner *owner = event->owner;
	struct utrace_marker_hit hit __uninitialized;
	bool called = utrace_marker_call_begin(owner);

	rcu_read_unlock();
	if (!called)
		return;
	marker_fill(&hit, event, ip, regs);
	atomic64_inc(&event->hits);
	if (owner->client->hit)
		owner->client->hit(owner->data, &hit, regs);
	utrace_marker_call_end(owner);
}

/*
 * Call marker_tell(), which may sleep, for an event that was found under RCU.
 */
static noinline void marker_tell_later(struct marker_event *event,
				       unsigned long ip, struct pt_regs *regs)
	__releases(RCU)
{
	struct marker_owner *owner = event->owner;
	bool kept = kref_get_unless_zero(&owner->ref);

	rcu_read_unlock();
	if (!kept)
		return;
	marker_tell(event, ip, regs);
	utrace_marker_owner_put(owner);
}

/* Deliver a hit to the owner of an event that was found under RCU. */
static __always_inline void marker_hit(struct marker_event *event,
				       unsigned long ip, struct pt_regs *regs)
	__releases(RCU)
{
	atomic_inc(&event->busy);
	/* Increment before the check; pairs with utrace_marker_event_end(). */
	smp_mb__after_atomic();
	if (unlikely(marker_event_is_over(event)) ||
	    marker_tell_now(event, ip, regs))
		rcu_read_unlock();
	else if (event->how == MARKER_CALL)
		marker_call(event, ip, regs);
	else
		marker_tell_later(event, ip, regs);
	/*
	 * Deliver before the decrement; pairs with utrace_marker_event_end().
	 */
	smp_mb__before_atomic();
	atomic_dec(&event->busy);
}

/* Deliver a missed return to the owner of an event, with the rules of a hit. */
static void marker_tell_missed(struct marker_event *event)
{
	struct marker_owner *owner = event->owner;

	if (event->how == MARKER_CALL) {
		if (!utrace_marker_call_begin(owner))
			return;
		atomic64_inc(&event->missed);
		if (owner->client->missed)
			owner->client->missed(owner->data, event->cookie);
		utrace_marker_call_end(owner);
		return;
	}
	if (!utrace_marker_may_tell(owner))
		return;
	atomic64_inc(&event->missed);
	if (event->how == MARKER_RECORD)
		utrace_dev_lose(owner->target);
}

/*
 * Deliver a missed return for an event that was found under RCU, unless the
 * event is disarmed.
 */
static void marker_miss(struct marker_event *event) __releases(RCU)
{
	struct marker_owner *owner = event->owner;
	bool kept = kref_get_unless_zero(&owner->ref);

	rcu_read_unlock();
	if (!kept)
		return;
	atomic_inc(&event->busy);
	/* Increment before the check, as in marker_hit(). */
	smp_mb__after_atomic();
	if (!marker_event_is_over(event))
		marker_tell_missed(event);
	/* Deliver before the decrement, as in marker_hit(). */
	smp_mb__before_atomic();
	atomic_dec(&event->busy);
	utrace_marker_owner_put(owner);
}

/*
 * Check whether a word precedes the words of @site whose semaphore is >= @from.
 */
static bool marker_is_before(const struct marker_word *word,
			     const struct marker_site *site, loff_t from)
{
	const struct marker_place *place = &word->place;

	if (place->addr)
		return false;
	return place->site == site ? place->semaphore < from :
				     place->site < site;
}

/*
 * Find the first word of a site whose semaphore is >= @from, or NULL.  The
 * caller must hold marker_mm.lock or be in an RCU section.  In the latter case
 * a concurrent rotation of the tree may hide words.
 */
static inline struct marker_word *
marker_site_from(const struct marker_mm *memory, const struct marker_site *site,
		 loff_t from)
{
	struct rb_node *node = rcu_dereference_raw(memory->words.rb_node);
	struct marker_word *word, *found = NULL;

	while (node) {
		word = rb_entry(node, struct marker_word, node);
		if (marker_is_before(word, site, from)) {
			node = rcu_dereference_raw(node->rb_right);
		} else {
			found = word;
			node = rcu_dereference_raw(node->rb_left);
		}
	}
	return found && found->place.site == site ? found : NULL;
}

/*
 * Find the first word of a site that has a semaphore >= @from and is wanted, or
 * NULL.
 */
static struct marker_word *marker_wanted_from(const struct marker_mm *memory,
					      const struct marker_site *site,
					      loff_t from)
{
	struct marker_word *word;

	lockdep_assert_held(&memory->lock);

	while ((word = marker_site_from(memory, site, from)) && !word->want)
		from = word->place.semaphore + 1;
	return word;
}

/*
 * Check whether all owners of a wanted word are known to have permission to
 * trace the current task, which maps the file.  If not, this marks the word as
 * dirty, and *@ask gets the engine of one of them.
 */
static bool marker_is_known(struct marker_mm *memory, struct marker_word *word,
			    struct utrace_engine **ask)
{
	const struct marker_share *share;

	/*
	 * Whoever is installing the breakpoint has the permission.  Hits are
	 * delivered only to owners that have it.
	 */
	if (memory->mm != current->mm || word->busy)
		return true;
	list_for_each_entry(share, &word->shares, of_word) {
		if (share->leaving || utrace_viewer_knows(share->owner->viewer))
			continue;
		word->unsure = true;
		utrace_marker_touch(memory, word);
		if (!*ask)
			*ask = utrace_marker_engine_get(share->owner);
		return false;
	}
	return true;
}

/* Check whether an owner wants the breakpoint of a site in an address space. */
static bool site_is_wanted(struct marker_mm *memory,
			   const struct marker_site *site)
{
	guard(spinlock)(&memory->lock);
	return marker_wanted_from(memory, site, 0);
}

/*
 * Find the next semaphore of a site >= @from that an owner wants and is known to
 * have permission for.  Returns its offset, 0 for a breakpoint without a
 * semaphore, or -1 if there is none.
 *
 * The current task may be mapping the file in its own memory.  If an owner is
 * not known to have permission to trace the task, the task passes its safe
 * point before it runs user code.  There it checks the permission, and installs
 * the breakpoint or removes those that it has.
 */
static loff_t site_next_semaphore(struct marker_mm *memory,
				  const struct marker_site *site, loff_t from)
{
	struct utrace_engine *ask = NULL;
	struct marker_word *word;
	loff_t next = -1;

	scoped_guard(spinlock, &memory->lock) {
		while ((word = marker_wanted_from(memory, site, from)) &&
		       !marker_is_known(memory, word, &ask))
			from = word->place.semaphore + 1;
		if (word)
			next = word->place.semaphore;
	}
	if (!ask)
		return next;
	/*
	 * The task may only share the memory: then other tasks have to check.
	 */
	if (utrace_control(current, ask, UTRACE_REPORT))
		utrace_marker_ask_later(memory);
	utrace_engine_put(ask);
	return next;
}

/**
 * struct marker_cursor - the owners to which a hit was delivered
 * @semaphore: words of the site with a lower semaphore are done
 * @number: shares of the word with this semaphore are done up to this number
 * @is_last: there are no others (the common case), so nothing is looked up
 *	again
 */
struct marker_cursor {
	loff_t semaphore;
	u64 number;
	bool is_last;
};

/*
 * Find the next word of a site in the current address space, without a lock.
 * The caller must be in an RCU section, which keeps the word.  Searches again
 * if the tree was changed in between.
 */
static __always_inline struct marker_word *
marker_peek_site(const struct marker_site *site, loff_t from)
{
	struct marker_mm *memory = utrace_marker_mm_peek(current->mm);
	struct marker_word *word;
	unsigned int turn;

	if (!memory)
		return NULL;
	do {
		turn = read_seqcount_begin(&memory->turns);
		word = marker_site_from(memory, site, from);
	} while (read_seqcount_retry(&memory->turns, turn));
	return word;
}

/*
 * Find the event of the next owner that wants a site in the current address
 * space, and set the cursor to its share.  The caller must be in an RCU
 * section, which keeps the event and its owner.  Returns false if there is
 * none.
 */
static __always_inline bool marker_next_event(const struct marker_site *site,
					      struct marker_cursor *cursor,
					      struct marker_event **event)
{
	struct marker_share *share;
	struct marker_word *word;

	while ((word = marker_peek_site(site, cursor->semaphore))) {
		if (word->place.semaphore != cursor->semaphore)
			cursor->number = 0;
		cursor->semaphore = word->place.semaphore;
		list_for_each_entry_rcu(share, &word->shares, of_word) {
			if (share->number <= cursor->number)
				continue;
			/* Pairs with marker_return_share(). */
			if (smp_load_acquire(&share->leaving))
				continue;
			cursor->number = share->number;
			cursor->is_last = !READ_ONCE(word->followed) &&
					  READ_ONCE(share->of_word.next) ==
						  &word->shares;
			*event = READ_ONCE(share->place.event);
			return true;
		}
		cursor->semaphore++;
		cursor->number = 0;
	}
	return false;
}

/*
 * Deliver a hit, or with @is_missed a missed return, to each owner that wants a
 * site in the current address space.  Returns false if there is none.
 */
static __always_inline bool marker_tell_all(const struct marker_site *site,
					    bool is_missed, unsigned long ip,
					    struct pt_regs *regs)
{
	struct marker_cursor cursor = {};
	struct marker_event *event;
	bool any = false;

	while (!cursor.is_last) {
		rcu_read_lock();
		if (!marker_next_event(site, &cursor, &event)) {
			rcu_read_unlock();
			break;
		}
		any = true;
		if (is_missed)
			marker_miss(event);
		else
			marker_hit(event, ip, regs);
	}
	return any;
}

/*
 * Deliver a hit at @ip to all owners that want a site.  Takes no lock, and takes
 * references only where it may sleep.  Returns 0 if an owner wants the site,
 * else UPROBE_HANDLER_REMOVE.
 */
static int site_hit(const struct marker_site *site, unsigned long ip,
		    struct pt_regs *regs)
{
	return marker_tell_all(site, false, ip, regs) ? 0 :
							UPROBE_HANDLER_REMOVE;
}

/* The handlers of sites of processes */

static struct marker_site *site_of(struct uprobe_consumer *consumer)
{
	return container_of(consumer, struct marker_site, consumer);
}

/* The lowest semaphore >= @from that the address space wants, or -1. */
static loff_t site_next(struct uprobe_consumer *consumer, struct mm_struct *mm,
			loff_t from)
{
	struct marker_mm *memory = utrace_marker_mm_find(mm);
	loff_t next;

	if (!memory)
		return -1;
	next = site_next_semaphore(memory, site_of(consumer), from);
	utrace_marker_mm_put(memory);
	return next;
}

/*
 * Called by uprobes: check whether an address space wants the breakpoint.
 * mmap_lock is held.
 */
static bool site_filter(struct uprobe_consumer *consumer, struct mm_struct *mm)
{
	return site_next(consumer, mm, 0) >= 0;
}

/* Called by uprobes: iterate over the wanted semaphores.  mmap_lock is held. */
static loff_t site_next_ref_ctr(struct uprobe_consumer *consumer,
				struct mm_struct *mm, loff_t last)
{
	return max(site_next(consumer, mm, last + 1), 0);
}

static int site_handler(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	return site_hit(site_of(consumer), instruction_pointer(regs), regs);
}

/* Handle the entry of a function whose return is the hit. */
static int site_entry_handler(struct uprobe_consumer *consumer,
			      struct pt_regs *regs)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	bool wants;

	if (!memory)
		return UPROBE_HANDLER_REMOVE;
	/* An owner that may no longer see the task does not get the return. */
	wants = site_is_wanted(memory, site_of(consumer));
	utrace_marker_mm_put(memory);
	return wants ? 0 : UPROBE_HANDLER_REMOVE;
}

static int site_ret_handler(struct uprobe_consumer *consumer,
			    unsigned long function, struct pt_regs *regs)
{
	site_hit(site_of(consumer), function, regs);
	return 0;
}

/* Handle the entry of a function whose return will not be seen. */
static void site_ret_missed(struct uprobe_consumer *consumer)
{
	marker_tell_all(site_of(consumer), true, 0, NULL);
}

/* The handlers of sites of all processes */

/*
 * Deliver a hit to the owners of the system.  Skips the process that created the
 * owner: each of its hits could cause further records without end.
 */
static void all_hit(const struct marker_site *site, unsigned long ip,
		    struct pt_regs *regs)
{
	struct marker_event *event;

	/*
	 * The caller is a handler of uprobes, whose RCU section keeps the
	 * events.
	 */
	list_for_each_entry_rcu(event, &site->events, everywhere, true)
		if (event->owner->process != task_tgid(current))
			marker_tell(event, ip, regs);
}

static int all_handler(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	all_hit(site_of(consumer), instruction_pointer(regs), regs);
	return 0;
}

static int all_ret_handler(struct uprobe_consumer *consumer,
			   unsigned long function, struct pt_regs *regs)
{
	all_hit(site_of(consumer), function, regs);
	return 0;
}

static void all_ret_missed(struct uprobe_consumer *consumer)
{
	const struct marker_site *site = site_of(consumer);
	struct marker_event *event;

	list_for_each_entry_rcu(event, &site->events, everywhere, true) {
		if (event->owner->process == task_tgid(current))
			continue;
		rcu_read_lock();
		marker_miss(event);
	}
}

/* The callbacks for uprobes, by marker_site_key.everywhere and .is_return. */
const struct uprobe_consumer utrace_marker_consumers[2][2] = {
	{
		{
			.filter		= site_filter,
			.next_ref_ctr	= site_next_ref_ctr,
			.handler	= site_handler,
		}, {
			.filter		= site_filter,
			.next_ref_ctr	= site_next_ref_ctr,
			.handler	= site_entry_handler,
			.ret_handler	= site_ret_handler,
			.ret_missed	= site_ret_missed,
		},
	}, {
		{
			.handler	= all_handler,
		}, {
			.ret_handler	= all_ret_handler,
			.ret_missed	= all_ret_missed,
		},
	},
};
