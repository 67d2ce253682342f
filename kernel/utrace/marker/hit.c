// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: hits of sites, and who is told
 *
 * A hit is told where the breakpoint traps: the registers are those of the marker
 * there, and no signal has been delivered in between.  uprobes holds up the end of all
 * other probes meanwhile, so nothing here waits for user space: an argument whose
 * memory is not there is missing, and a record without room is parked with its task,
 * which waits at the safe point.
 *
 * An event that a hit has found is kept until the handler returns, see
 * utrace_marker_after_hits().  Memory, words, shares and owners are kept by the ordinary
 * RCU.
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
#include "fetch.h"
#include "marker.h"

/* A struct utrace_marker_hit is the body of a UTRACE_REC_MARKER. */
static_assert(offsetof(struct utrace_marker_hit, args) +
	      sizeof(struct utrace_rec) == sizeof(struct utrace_rec_marker));

/* Fill in what an owner is told of a hit.  Returns how many bytes are used. */
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
 * May an owner be told of a hit of the current task?  With @now, without sleeping: false
 * also if that is not known.  Arguments are fetched before this question, since a program
 * may become one that hides its memory at any time.
 */
static bool marker_is_visible(struct marker_owner *owner, bool now)
{
	/* The arguments before the rights; pairs with the exchange in set_dumpable(). */
	smp_rmb();
	if (!now)
		return utrace_marker_may_tell(owner);
	if (owner->target)
		return utrace_dev_knows_current(owner->target);
	return !owner->viewer || utrace_viewer_knows(owner->viewer);
}

/* Count a hit, and sort it if the event has a histogram. */
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

/* Tell the owner of an event of a hit, and sleep if need be. */
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

/* Returns false if the rights are not known, or the record has no room. */
static __always_inline bool marker_record_now(struct marker_event *event,
					      unsigned long ip,
					      const struct pt_regs *regs)
{
	/* The bytes that are used are filled in. */
	struct utrace_marker_hit hit __uninitialized;
	size_t size;

	size = marker_fill(&hit, event, ip, regs);
	if (!utrace_dev_record_now(event->owner->target, UTRACE_REC_MARKER,
				   &hit, size))
		return false;
	atomic64_inc(&event->hits);
	return true;
}

/* As marker_tell(), without sleeping.  Returns false if that cannot be. */
static __always_inline bool marker_tell_now(struct marker_event *event,
					    unsigned long ip,
					    const struct pt_regs *regs)
{
	if (likely(event->how == MARKER_RECORD))
		return marker_record_now(event, ip, regs);
	return event->how == MARKER_COUNT && marker_count(event, regs, true);
}

/* Call the client of an event, which was found under RCU: the call keeps the owner. */
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

/* Likewise, tell the owner by functions that may sleep. */
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

/* Tell the owner of an event, which was found under RCU, of a hit. */
static __always_inline void marker_hit(struct marker_event *event,
				       unsigned long ip, struct pt_regs *regs)
	__releases(RCU)
{
	atomic_inc(&event->busy);
	/* The count before the look; pairs with utrace_marker_event_end(). */
	smp_mb__after_atomic();
	if (unlikely(marker_event_is_over(event)) ||
	    marker_tell_now(event, ip, regs))
		rcu_read_unlock();
	else if (event->how == MARKER_CALL)
		marker_call(event, ip, regs);
	else
		marker_tell_later(event, ip, regs);
	/* What was told before the count; pairs with utrace_marker_event_end(). */
	smp_mb__before_atomic();
	atomic_dec(&event->busy);
}

/* Tell the owner of an event that a return was not seen, as it is told of hits. */
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

/* Likewise, unless the event, which was found under RCU, is over. */
static void marker_miss(struct marker_event *event) __releases(RCU)
{
	struct marker_owner *owner = event->owner;
	bool kept = kref_get_unless_zero(&owner->ref);

	rcu_read_unlock();
	if (!kept)
		return;
	atomic_inc(&event->busy);
	/* The count before the look, as in marker_hit(). */
	smp_mb__after_atomic();
	if (!marker_event_is_over(event))
		marker_tell_missed(event);
	/* What was told before the count, as in marker_hit(). */
	smp_mb__before_atomic();
	atomic_dec(&event->busy);
	utrace_marker_owner_put(owner);
}

/* The first word of a site with a semaphore at @from or behind that somebody wants, or NULL. */
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
 * Are all owners of a wanted word known to have the right to the current task, which maps
 * the file?  If not, the word becomes dirty, and *@ask gets the engine of one of them.
 */
static bool marker_is_known(struct marker_mm *memory, struct marker_word *word,
			    struct utrace_engine **ask)
{
	const struct marker_share *share;

	/*
	 * Whoever installs the breakpoint just now has the right.  The hits are told only to
	 * owners who have it.
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

/**
 * utrace_marker_wants() - does memory want the breakpoint of a site?
 * @memory: the words
 * @site: the site
 *
 * Context: Process context.  Takes marker_mm.lock.
 * Return: true if an owner wants it.
 */
bool utrace_marker_wants(struct marker_mm *memory, struct marker_site *site)
{
	guard(spinlock)(&memory->lock);
	return marker_wanted_from(memory, site, 0);
}

/**
 * utrace_marker_next_semaphore() - find the next semaphore of a site that memory may have
 * @memory: the words
 * @site: the site
 * @from: an offset in the file
 *
 * The current task may map the file in its own memory.  For an owner who is not known to have
 * the right to the task, the task passes its safe point before it runs user code: there it asks,
 * and installs the breakpoint, or removes those that it has.
 *
 * Context: Process context.  Takes marker_mm.lock.
 * Return: the offset of the semaphore that an owner wants, 0 if he wants a breakpoint without
 * one; or -1 if nobody wants one at @from or behind, or is known to have the right.
 */
loff_t utrace_marker_next_semaphore(struct marker_mm *memory,
				    struct marker_site *site, loff_t from)
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
	/* If the task only shares the memory, others have to look. */
	if (utrace_control(current, ask, UTRACE_REPORT))
		utrace_marker_ask_later(memory);
	utrace_engine_put(ask);
	return next;
}

/**
 * struct marker_cursor - which owners have been told of a hit
 * @semaphore: the words of the site with a lower one are done
 * @number: of the word with this semaphore, the shares are done up to this number
 * @is_last: there were no others, as mostly, so nothing is looked up again
 */
struct marker_cursor {
	loff_t semaphore;
	u64 number;
	bool is_last;
};

/*
 * Find the next word of a site in the current task's memory, without a lock.  Called under
 * RCU, which keeps the word.  A tree that was turned meanwhile is searched again.
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
 * Find the event of the next owner that wants a site in the current task's memory, and set
 * the cursor to its share.  Called under RCU, which keeps the event and its owner.  Returns
 * false if there is none.
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
 * Tell each owner that wants a site in the current task's memory of a hit, or with @is_missed
 * of a return that will not be seen.  Returns false if there is none.
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

/**
 * utrace_marker_hit() - tell all owners that want a site of a hit
 * @site: the site
 * @ip: address of the site
 * @regs: the registers there
 *
 * No lock is taken, and no reference where nothing has to sleep.
 *
 * Context: The task that has hit the site, in a handler of uprobes.
 * Return: 0 if an owner wants the site, else %UPROBE_HANDLER_REMOVE.
 */
int utrace_marker_hit(struct marker_site *site, unsigned long ip,
		      struct pt_regs *regs)
{
	return marker_tell_all(site, false, ip, regs) ? 0 :
							UPROBE_HANDLER_REMOVE;
}

/**
 * utrace_marker_missed() - note that the return of a function will not be seen
 * @site: the site, at the entry of the function
 *
 * Context: The task that has entered the function, where uprobes calls
 * uprobe_consumer.ret_missed.
 */
void utrace_marker_missed(struct marker_site *site)
{
	marker_tell_all(site, true, 0, NULL);
}

/**
 * utrace_marker_missed_everywhere() - note a missed return for owners of the system
 * @events: their events at the site
 *
 * Context: As utrace_marker_missed().
 */
void utrace_marker_missed_everywhere(const struct list_head *events)
{
	struct marker_event *event;

	list_for_each_entry_rcu(event, events, everywhere, true) {
		if (event->owner->process == task_tgid(current))
			continue;
		rcu_read_lock();
		marker_miss(event);
	}
}

/**
 * utrace_marker_hit_everywhere() - tell owners of the system of a hit
 * @events: their events at the site
 * @ip: address of the site
 * @regs: the registers there
 *
 * An owner is not told of the process that has made it, whose hits would make records
 * without an end.
 *
 * Context: The task that has hit the site, in a handler of uprobes, in whose section
 * of RCU the events stay.
 */
void utrace_marker_hit_everywhere(const struct list_head *events,
				  unsigned long ip, struct pt_regs *regs)
{
	struct marker_event *event;

	/* The handler's section of uprobes keeps the events. */
	list_for_each_entry_rcu(event, events, everywhere, true)
		if (event->owner->process != task_tgid(current))
			marker_tell(event, ip, regs);
}
