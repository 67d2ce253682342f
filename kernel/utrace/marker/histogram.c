// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: histograms of the values of an argument
 *
 * A hit increments a bucket chosen by the logarithm of the value, where the
 * breakpoint traps.
 */
#include <linux/bitops.h>
#include <linux/slab.h>
#include <uapi/linux/utrace.h>

#include "marker.h"

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
