// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: arming the events of an owner in all of its processes
 *
 * A process looks at the events of an owner at its safe point, where it comes often, while
 * events are added rarely.  So each event has a number, which grows for all owners
 * together.  The owner knows that of its newest event, and the memory of a process those
 * up to which it has followed some owners.  Where the two are equal there is nothing to do.
 *
 *	armer				thread of the process
 *	adds the event			reads the number of the newest one
 *	changes the owner's number	walks the events
 *	asks each thread to report	notes the number that it has read
 *
 * A process that registers a user_event, or in whose memory a word has failed, forgets how
 * far it has followed, and begins anew.
 */
#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "marker.h"

static atomic64_t events;	/* of all owners that there ever were */

/**
 * utrace_marker_number() - give a new event its number
 * @owner: the owner; its lock is held until the event is in its list
 * @event: the event
 *
 * Context: Any.
 */
void utrace_marker_number(struct marker_owner *owner, struct marker_event *event)
{
	lockdep_assert_held(&owner->lock);

	event->number = atomic64_inc_return(&events);
	WRITE_ONCE(owner->newest, event->number);
}

/**
 * utrace_marker_has_followed() - has the current process armed all events of an owner?
 * @owner: the owner
 *
 * Context: Any.
 * Return: true if utrace_marker_follow() has nothing to do.
 */
bool utrace_marker_has_followed(const struct marker_owner *owner)
{
	const u64 newest = READ_ONCE(owner->newest);
	struct marker_mm *memory;
	unsigned int i;

	guard(rcu)();
	memory = utrace_marker_mm_peek(current->mm);
	if (!memory)
		return false;
	/* The number is that of one owner only. */
	for (i = 0; i < MARKER_FOLLOWED; i++)
		if (READ_ONCE(memory->followed[i].number) == newest)
			return true;
	return false;
}

/* The entry of an owner, or NULL. */
static struct marker_followed *marker_followed_of(struct marker_mm *memory,
						  const struct marker_owner *owner)
{
	unsigned int i;

	lockdep_assert_held(&memory->lock);

	for (i = 0; i < MARKER_FOLLOWED; i++)
		if (memory->followed[i].owner == owner->number)
			return &memory->followed[i];
	return NULL;
}

/**
 * utrace_marker_unfollow() - let memory follow owners anew
 * @memory: the words; marker_mm.lock is held
 * @owner: the owner; NULL: all owners
 *
 * Context: Any.
 */
void utrace_marker_unfollow(struct marker_mm *memory,
			    const struct marker_owner *owner)
{
	struct marker_followed *followed;
	unsigned int i;

	lockdep_assert_held(&memory->lock);

	memory->unfollowed++;
	for (i = 0; i < MARKER_FOLLOWED; i++) {
		followed = &memory->followed[i];
		if (!owner || followed->owner == owner->number)
			WRITE_ONCE(followed->number, 0);
	}
}

/* Where a walk of the events of an owner begins. */
struct marker_walk {
	u64 from;	/* up to this number the process has followed before */
	u64 unfollowed;	/* marker_mm.unfollowed at the begin */
};

static void marker_begin_walk(const struct marker_owner *owner,
			      struct marker_walk *walk)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct marker_followed *followed;

	if (!memory)
		return;
	scoped_guard(spinlock, &memory->lock) {
		followed = marker_followed_of(memory, owner);
		if (followed)
			walk->from = followed->number;
		walk->unfollowed = memory->unfollowed;
	}
	utrace_marker_mm_put(memory);
}

/*
 * Note that the current process has followed an owner, unless it is to begin anew since the
 * walk has begun.  With more owners than there are entries, one of them is followed anew
 * each time.
 */
static void marker_note_followed(const struct marker_owner *owner,
				 const struct marker_walk *walk, u64 number)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct marker_followed *followed;

	if (!memory)
		return;
	scoped_guard(spinlock, &memory->lock) {
		if (memory->unfollowed != walk->unfollowed)
			break;
		followed = marker_followed_of(memory, owner);
		if (!followed)
			followed = &memory->followed[memory->nfollowed++ %
						     MARKER_FOLLOWED];
		followed->owner = owner->number;
		WRITE_ONCE(followed->number, number);
	}
	utrace_marker_mm_put(memory);
}

/* Arm an event in the current process.  Returns false if there is no memory for that. */
static bool marker_follow_event(struct marker_owner *owner,
				struct marker_event *event)
{
	struct marker_place place = marker_of_event(event);

	if (!event->site)
		return utrace_marker_arm_name(owner, event) != -ENOMEM;
	return utrace_marker_arm_current(owner, &place) != -ENOMEM;
}

/**
 * utrace_marker_follow() - arm the events of an owner in the current process
 * @owner: the owner, whose engine covers the process
 *
 * Events that the process has followed already are passed over.  An event that is disarmed
 * meanwhile may end this before the last one: whoever disarms asks the process to report
 * again.
 *
 * Context: A callback, in the task itself; sleeps.
 */
void utrace_marker_follow(struct marker_owner *owner)
{
	const u64 newest = READ_ONCE(owner->newest);
	struct marker_event *event = NULL;
	struct marker_walk walk = {};
	bool lost = false;

	marker_begin_walk(owner, &walk);
	while ((event = utrace_marker_next_event(owner, event, &lost)))
		/* Without memory the process goes on without the event. */
		if (event->number > walk.from && !marker_follow_event(owner, event))
			lost = true;
	if (!lost)
		marker_note_followed(owner, &walk, newest);
}
