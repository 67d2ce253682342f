/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: events */
#ifndef _KERNEL_UTRACE_MARKER_EVENT_H
#define _KERNEL_UTRACE_MARKER_EVENT_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/path.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/linux/utrace_marker.h>

#include "fetch.h"
#include "marker.h"

struct marker_owner;
struct marker_site;
struct ucounts;
struct utrace_hit_count;

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

#endif /* _KERNEL_UTRACE_MARKER_EVENT_H */
