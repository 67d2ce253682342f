// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: arming the events of an owner in all of its processes
 *
 * A process looks at the events of an owner at its safe point, where it comes often, while
 * events change rarely.  So each change of an event has a number, which grows for all
 * owners together; the owner has that of its last change, and the memory of a process
 * those up to which it has followed some owners.  Where the two are equal there is nothing
 * to do.
 *
 *	armer				thread of the process
 *	adds the event			reads the owner's number
 *	changes the owner's number	walks the events
 *	asks each thread to report	notes the number that it has read
 */
#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "marker.h"

static atomic64_t changes;	/* of all events; the number of the last one */

/**
 * utrace_marker_renew() - have all processes of the owner look at an event
 * @event: the event, which is in the owner's list; marker_owner.lock is held
 *
 * The caller asks the processes to report after that.
 *
 * Context: Any.
 */
void utrace_marker_renew(struct marker_event *event)
{
	struct marker_owner *owner = event->owner;

	lockdep_assert_held(&owner->lock);

	event->changed = atomic64_inc_return(&changes);
	WRITE_ONCE(owner->event_changed, event->changed);
}

/**
 * utrace_marker_has_followed() - has the current process followed all changes of an owner?
 * @owner: the owner
 *
 * Context: Any.
 * Return: true if utrace_marker_follow() has nothing to do.
 */
bool utrace_marker_has_followed(const struct marker_owner *owner)
{
	const u64 changed = READ_ONCE(owner->event_changed);
	struct marker_mm *memory;
	unsigned int i;

	guard(rcu)();
	memory = utrace_marker_mm_peek(current->mm);
	if (!memory)
		return false;
	/* A number is that of one owner only, so it does without the owner. */
	for (i = 0; i < MARKER_FOLLOWED; i++)
		if (READ_ONCE(memory->followed[i].changed) == changed)
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
 * utrace_marker_unfollow() - let memory follow again
 * @memory: the words; marker_mm.lock is held
 * @owner: the owner; NULL: all owners
 *
 * A word has failed, or the owner has lost its words, and may get them back.
 *
 * Context: Any.
 */
void utrace_marker_unfollow(struct marker_mm *memory,
			    const struct marker_owner *owner)
{
	struct marker_followed *followed;
	unsigned int i;

	for (i = 0; i < MARKER_FOLLOWED; i++) {
		followed = &memory->followed[i];
		if (!owner || followed->owner == owner->number)
			WRITE_ONCE(followed->changed, 0);
	}
}

/* Up to which change the current process has followed an owner. */
static u64 marker_followed_until(const struct marker_owner *owner)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct marker_followed *followed;
	u64 changed = 0;

	if (!memory)
		return 0;
	scoped_guard(spinlock, &memory->lock) {
		followed = marker_followed_of(memory, owner);
		if (followed)
			changed = followed->changed;
	}
	utrace_marker_mm_put(memory);
	return changed;
}

/*
 * Note that the current process has followed an owner.  With more owners than there are
 * entries, one of them is followed anew each time.
 */
static void marker_note_followed(const struct marker_owner *owner, u64 changed)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct marker_followed *followed;

	if (!memory)
		return;
	scoped_guard(spinlock, &memory->lock) {
		followed = marker_followed_of(memory, owner);
		if (!followed)
			followed = &memory->followed[memory->nfollowed++ %
						     MARKER_FOLLOWED];
		followed->owner = owner->number;
		WRITE_ONCE(followed->changed, changed);
	}
	utrace_marker_mm_put(memory);
}

/*
 * The next event behind @last, or the first if @last is NULL.  Drops the reference to
 * @last, and takes one to the result.  Returns NULL if there is none; then *@all is
 * cleared if @last was disarmed, so that there may be more.
 */
static struct marker_event *marker_next_to_follow(struct marker_owner *owner,
						  struct marker_event *last,
						  u64 *changed, bool *all)
{
	struct marker_event *next = NULL;

	scoped_guard(spinlock, &owner->lock) {
		if (!last)
			next = list_first_entry_or_null(&owner->events,
							struct marker_event, list);
		else if (marker_event_is_over(last))
			*all = false;
		else if (!list_is_last(&last->list, &owner->events))
			next = list_next_entry(last, list);
		if (next) {
			utrace_marker_event_get(next);
			*changed = next->changed;
		}
	}
	if (last)
		utrace_marker_event_put(last);
	return next;
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
 * Events that have not changed since the process has followed last are passed over.  An
 * event that is disarmed meanwhile may end this before the last one: whoever disarms
 * asks the process to report again.
 *
 * Context: A callback, in the task itself; sleeps.
 */
void utrace_marker_follow(struct marker_owner *owner)
{
	const u64 until = READ_ONCE(owner->event_changed);
	const u64 from = marker_followed_until(owner);
	struct marker_event *event = NULL;
	bool all = true;
	u64 changed;

	while ((event = marker_next_to_follow(owner, event, &changed, &all)))
		/* Without memory the process goes on without the event. */
		if (changed > from && !marker_follow_event(owner, event))
			all = false;
	if (all)
		marker_note_followed(owner, until);
}
