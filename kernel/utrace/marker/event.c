// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: events
 *
 * An owner has a struct marker_event for each marker (arm.c) and each
 * user_event (user_event.c) that it has armed.  The shares of an event may be
 * in the address spaces of many processes.
 *
 * An event counts its hits.  With a histogram, a hit also increments a bucket
 * chosen by the logarithm of the value of an argument, where the breakpoint
 * traps.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/path.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/utrace_words.h>
#include <uapi/linux/utrace.h>

#include "event.h"
#include "owner.h"
#include "site.h"

/* Maximum number of events of an owner. */
#define MARKER_MAX_EVENTS	1024

static atomic64_t events;	/* of all owners since boot */

#ifdef CONFIG_USER_EVENTS

/* On while an owner has a user_event, and for a second longer. */
DEFINE_STATIC_KEY_DEFERRED_FALSE(utrace_user_events_used, HZ);

static void marker_name_drop(struct marker_event *event)
{
	static_branch_slow_dec_deferred(&utrace_user_events_used);
	kfree(event->name);
}

#else

static void marker_name_drop(struct marker_event *event) { }

#endif

static void marker_event_free_rcu(struct rcu_head *rcu)
{
	struct marker_event *event = container_of(rcu, struct marker_event, rcu);

	kfree(event->histogram);
	kfree(event);
}

/*
 * The last share is gone, so no address space has a breakpoint for the event.
 */
static void marker_event_free(struct kref *ref)
{
	struct marker_event *event = container_of(ref, struct marker_event,
						  ref);

	if (event->site)
		utrace_marker_site_drop(event->site);
	path_put(&event->path);
	utrace_marker_uncharge(event);
	if (event->name)
		marker_name_drop(event);
	/*
	 * A hit that found the event earlier may still be about to deliver it.
	 */
	utrace_marker_after_hits(&event->rcu, marker_event_free_rcu);
}

static void marker_event_work(struct work_struct *work)
{
	marker_event_free(&container_of(work, struct marker_event, free)->ref);
}

static void marker_event_last(struct kref *ref)
{
	queue_work(system_unbound_wq,
		   &container_of(ref, struct marker_event, ref)->free);
}

/**
 * utrace_marker_event_get() - take a reference to an event
 * @event: the event
 *
 * Context: Any.
 */
void utrace_marker_event_get(struct marker_event *event)
{
	kref_get(&event->ref);
}

/**
 * utrace_marker_event_put() - drop a reference to an event
 * @event: the event
 *
 * Context: Any but NMI.
 */
void utrace_marker_event_put(struct marker_event *event)
{
	kref_put(&event->ref, marker_event_last);
}

/**
 * utrace_marker_event_drop() - drop a reference to an event, and free it
 * synchronously
 * @event: the event
 *
 * Context: Process context; sleeps.  The end of a site of all processes takes
 * the mmap_lock of each process that has the file mapped.
 */
void utrace_marker_event_drop(struct marker_event *event)
{
	kref_put(&event->ref, marker_event_free);
}

static enum marker_how marker_how_of(const struct marker_owner *owner, u32 flags)
{
	if (flags & (UTRACE_ARM_F_COUNT | UTRACE_ARM_F_HISTOGRAM))
		return MARKER_COUNT;
	if (owner->client)
		return MARKER_CALL;
	return owner->target ? MARKER_RECORD : MARKER_COUNT;
}

/**
 * utrace_marker_event_new() - create an event
 * @owner: the owner; its mutex is held
 * @request: its parameters
 *
 * Context: Process context; sleeps.
 * Return: the event, which is not in the list yet and whose other members the
 * caller fills in; or
 * * -ENOSPC - the owner has too many events
 * * -ENOMEM - out of memory
 */
struct marker_event *
utrace_marker_event_new(struct marker_owner *owner,
			const struct marker_request *request)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	if (owner->nevents >= MARKER_MAX_EVENTS)
		return ERR_PTR(-ENOSPC);
	event = kzalloc(sizeof(*event), GFP_KERNEL_ACCOUNT);
	if (!event)
		return ERR_PTR(-ENOMEM);
	kref_init(&event->ref);
	INIT_WORK(&event->free, marker_event_work);
	event->owner = owner;
	event->cookie = request->cookie;
	event->id = request->id;
	event->how = marker_how_of(owner, request->flags);
	return event;
}

/* Give a new event its number, with marker_owner.lock held. */
static void marker_number(struct marker_owner *owner, struct marker_event *event)
{
	lockdep_assert_held(&owner->lock);

	event->number = atomic64_inc_return(&events);
	WRITE_ONCE(owner->newest, event->number);
}

/**
 * utrace_marker_event_add() - add an event to the list of its owner
 * @owner: the owner; its mutex is held
 * @event: the event; its reference passes to the list
 *
 * Context: Process context.  Takes marker_owner.lock.
 */
void utrace_marker_event_add(struct marker_owner *owner,
			     struct marker_event *event)
{
	lockdep_assert_held(&owner->mutex);

	guard(spinlock)(&owner->lock);
	marker_number(owner, event);
	list_add_tail(&event->list, &owner->events);
	owner->nevents++;
}

/* Find the first event of an owner that was added after @last. */
static struct marker_event *marker_event_after(struct marker_owner *owner,
					       const struct marker_event *last)
{
	struct marker_event *event;

	list_for_each_entry(event, &owner->events, list)
		if (event->number > last->number)
			return event;
	return NULL;
}

/**
 * utrace_marker_next_event() - find the next event of an owner
 * @owner: the owner
 * @last: the event that was found last, or NULL; consumes the reference
 *
 * Context: Any but NMI.  Takes marker_owner.lock.
 * Return: the event, with a reference, or NULL.
 */
struct marker_event *utrace_marker_next_event(struct marker_owner *owner,
					      struct marker_event *last)
{
	struct marker_event *next = NULL;

	scoped_guard(spinlock, &owner->lock) {
		if (!last)
			next = list_first_entry_or_null(&owner->events,
							struct marker_event,
							list);
		else if (marker_event_is_over(last))
			next = marker_event_after(owner, last);
		else if (!list_is_last(&last->list, &owner->events))
			next = list_next_entry(last, list);
		if (next)
			utrace_marker_event_get(next);
	}
	if (last)
		utrace_marker_event_put(last);
	return next;
}

/**
 * utrace_marker_counts() - read the hit counts of an owner's events
 * @owner: the owner
 * @id: id of a single marker or user_event; 0: all
 * @counts: gets the counts
 * @n: number of elements of @counts; changed to how many are filled in
 *
 * Context: Process context.  Takes marker_owner.lock.
 * Return: the number of matching events.
 */
u32 utrace_marker_counts(struct marker_owner *owner, u32 id,
			 struct utrace_hit_count *counts, u32 *n)
{
	struct marker_event *event = NULL;
	u32 total = 0, i = 0;

	while ((event = utrace_marker_next_event(owner, event))) {
		if (id && event->id != id)
			continue;
		total++;
		if (i == *n)
			continue;
		counts[i++] = (struct utrace_hit_count){
			.cookie = event->cookie,
			.hits = atomic64_read(&event->hits),
			.missed = atomic64_read(&event->missed),
			.id = event->id,
		};
	}
	*n = i;
	return total;
}

/**
 * utrace_marker_events_free() - drop the events of an owner that is being freed
 * @owner: the owner, which has no shares left
 *
 * Context: Process context; sleeps, see utrace_marker_event_drop().
 */
void utrace_marker_events_free(struct marker_owner *owner)
{
	struct marker_event *event, *next;

	list_for_each_entry_safe(event, next, &owner->events, list)
		utrace_marker_event_drop(event);
}

/* Histograms of the values of an argument */

/**
 * utrace_marker_histogram_new() - allocate the histogram of an event
 * @event: the event, which hits cannot find yet
 *
 * Context: Process context; sleeps.
 * Return: 0 or -ENOMEM.
 */
int utrace_marker_histogram_new(struct marker_event *event)
{
	event->histogram = kcalloc(UTRACE_BUCKETS,
				   sizeof(*event->histogram),
				   GFP_KERNEL_ACCOUNT);
	return event->histogram ? 0 : -ENOMEM;
}

static unsigned int histogram_bucket(bool is_signed, u64 value)
{
	if (is_signed && (s64)value < 0)
		return UTRACE_BUCKET_NEGATIVE;
	/* fls64() is 0 for 0, and 1 for 1. */
	return UTRACE_BUCKET_ZERO + fls64(value);
}

/**
 * utrace_marker_histogram_add() - count a hit in the histogram
 * @event: the event
 * @readable: @value could be read
 * @value: value of the argument, extended to 64 bits
 *
 * Context: Any.
 */
void utrace_marker_histogram_add(struct marker_event *event, bool readable,
				 u64 value)
{
	unsigned int bucket = UTRACE_BUCKET_UNREADABLE;

	if (readable)
		bucket = histogram_bucket(event->args[0].is_signed, value);
	atomic64_inc(&event->histogram[bucket]);
}

/**
 * utrace_marker_histogram_read() - read a histogram
 * @owner: the owner
 * @id: id of the marker
 * @buckets: gets %UTRACE_BUCKETS numbers
 *
 * Context: Process context.  Takes marker_owner.lock.
 * Return: 0, or -ENOENT if the owner has no such marker with a histogram.
 */
int utrace_marker_histogram_read(struct marker_owner *owner, u32 id,
				 u64 *buckets)
{
	struct marker_event *event;
	unsigned int i;

	guard(spinlock)(&owner->lock);
	list_for_each_entry(event, &owner->events, list) {
		if (event->id != id || !event->histogram)
			continue;
		for (i = 0; i < UTRACE_BUCKETS; i++)
			buckets[i] = atomic64_read(&event->histogram[i]);
		return 0;
	}
	return -ENOENT;
}
