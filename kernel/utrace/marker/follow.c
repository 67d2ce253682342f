// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: which events of an owner a process has armed
 *
 * A process checks the events of an owner at its safe point, which it passes
 * often, while events are added rarely.  So each event has a number, which
 * grows over the events of all owners.  The owner stores the number of its
 * newest event.  The address space of a process stores the number up to which
 * it has followed some owners.  If the two are equal there is nothing to do.
 *
 *	armer				thread of the process
 *	adds the event			reads the number of the newest one
 *	changes the owner's number	walks the events
 *	asks each thread to report	stores the number that it has read
 *
 * If a process registers a user_event, or if a word in its memory fails, its
 * numbers are reset, so that it arms all events again.
 */
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "follow.h"
#include "mm.h"
#include "owner.h"

/*
 * Check whether @memory records how far the current process has followed.
 * Other processes that share the memory have their own user_events; they follow
 * at each report.
 */
static bool marker_is_of_current(const struct marker_mm *memory)
{
	return READ_ONCE(memory->pid) == task_tgid(current);
}

/*
 * Check whether the current process, whose address space is @memory, has armed
 * all events of an owner.
 */
static bool marker_has_followed(const struct marker_mm *memory,
				const struct marker_owner *owner)
{
	const u64 newest = READ_ONCE(owner->newest);
	unsigned int i;

	if (!memory || !marker_is_of_current(memory))
		return false;
	/* No two owners have an event with the same number. */
	for (i = 0; i < MARKER_FOLLOWED; i++)
		if (READ_ONCE(memory->followed[i].number) == newest)
			return true;
	return false;
}

/**
 * utrace_marker_todo() - check what the current process has to do for an owner
 * @owner: the owner
 *
 * This is almost always nothing, so the address space is looked up only once
 * and without a reference.
 *
 * Context: A task that has an mm; does not sleep.
 * Return: %MARKER_FOLLOW if the caller must arm the events of the owner,
 * %MARKER_SETTLE if it must call utrace_marker_settle(), both, or 0.
 */
unsigned int utrace_marker_todo(const struct marker_owner *owner)
{
	const struct marker_mm *memory;
	unsigned int todo = 0;

	guard(rcu)();
	memory = utrace_marker_mm_peek(current->mm);
	if (READ_ONCE(owner->nevents) && !marker_has_followed(memory, owner))
		todo |= MARKER_FOLLOW;
	if (memory && marker_is_dirty(memory))
		todo |= MARKER_SETTLE;
	return todo;
}

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
 * utrace_marker_unfollow() - make the next report arm all events of owners
 * again
 * @memory: the address space; marker_mm.lock is held
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

/*
 * Find an entry for a new owner: an unused one, or a random one.  Owners report
 * in the same order each time, so any fixed order of replacement could always
 * replace the entry that is needed next.
 */
static struct marker_followed *marker_replace_followed(struct marker_mm *memory)
{
	unsigned int i;

	for (i = 0; i < MARKER_FOLLOWED; i++)
		if (!memory->followed[i].number)
			return &memory->followed[i];
	return &memory->followed[get_random_u32_below(MARKER_FOLLOWED)];
}

/**
 * utrace_marker_begin_walk() - begin to arm events of an owner in the current
 * process
 * @owner: the owner
 * @walk: zeroed; gets the state
 *
 * Context: Process context.  Takes marker_mm.lock.
 */
void utrace_marker_begin_walk(const struct marker_owner *owner,
			      struct marker_walk *walk)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct marker_followed *followed;

	if (!memory)
		return;
	scoped_guard(spinlock, &memory->lock) {
		if (!marker_is_of_current(memory))
			break;
		followed = marker_followed_of(memory, owner);
		if (followed)
			walk->from = followed->number;
		walk->unfollowed = memory->unfollowed;
	}
	utrace_marker_mm_put(memory);
}

/**
 * utrace_marker_end_walk() - record that the current process has followed an
 * owner
 * @owner: the owner
 * @walk: from utrace_marker_begin_walk()
 * @number: marker_event.number of the newest event that is armed
 *
 * Does nothing if utrace_marker_unfollow() was called since the walk began.
 *
 * Context: Process context.  Takes marker_mm.lock.
 */
void utrace_marker_end_walk(const struct marker_owner *owner,
			    const struct marker_walk *walk, u64 number)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct marker_followed *followed;

	if (!memory)
		return;
	scoped_guard(spinlock, &memory->lock) {
		if (!marker_is_of_current(memory) ||
		    memory->unfollowed != walk->unfollowed)
			break;
		followed = marker_followed_of(memory, owner);
		if (!followed)
			followed = marker_replace_followed(memory);
		followed->owner = owner->number;
		WRITE_ONCE(followed->number, number);
	}
	utrace_marker_mm_put(memory);
}
