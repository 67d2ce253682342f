// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: disarming in all processes of an owner
 */
#include <linux/delay.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "../viewer.h"
#include "disarm.h"
#include "event.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "site.h"
#include "word.h"
#include "write.h"

/* The place for which marker_disarm() searches, and the address space found. */
struct marker_search {
	const struct marker_place *place;
	struct marker_mm *memory;
};

static bool marker_look_memory(struct marker_share *share, void *arg)
{
	struct marker_search *search = arg;

	if (!utrace_marker_matches(share, search->place) ||
	    !utrace_marker_mm_tryget(share->mm))
		return false;
	search->memory = share->mm;
	return true;
}

/* A thread that uses an address space, with a reference, or NULL. */
static struct task_struct *marker_user_of(struct marker_mm *memory)
{
	struct task_struct *leader, *t;
	struct pid *process;

	scoped_guard(spinlock, &memory->lock)
		process = get_pid(memory->pid);
	scoped_guard(rcu) {
		leader = process ? pid_task(process, PIDTYPE_TGID) : NULL;
		put_pid(process);
		if (!leader)
			return NULL;
		for_each_thread(leader, t)
			if (READ_ONCE(t->mm) == memory->mm)
				return get_task_struct(t);
	}
	return NULL;
}

/*
 * Check whether an owner is known to have permission to change an address space
 * now.  If not, threads of the process check before they disarm: this does not
 * wait for an execve(2) in progress.  Sets *@unseen if there are no threads.
 */
static bool marker_may_change(struct marker_owner *owner,
			      struct marker_mm *memory, bool *unseen)
{
	struct rw_semaphore *lock;
	struct task_struct *thread;
	bool may = false;

	*unseen = false;
	if (!owner->viewer)
		return true;
	thread = marker_user_of(memory);
	if (!thread) {
		*unseen = true;
		return false;
	}
	lock = &thread->signal->exec_update_lock;
	if (down_read_trylock(lock)) {
		may = READ_ONCE(thread->mm) == memory->mm &&
		      utrace_viewer_may_noaudit(owner->viewer, thread);
		up_read(lock);
	}
	put_task_struct(thread);
	return may;
}

static void marker_disarm_in(struct marker_owner *owner,
			     struct marker_mm *memory,
			     const struct marker_place *place)
{
	const bool sites = place && place->event && place->event->site;
	struct marker_owner *by;
	bool unseen;

	/*
	 * As user_events does without words: a user that goes leaves its bits
	 * set.
	 */
	if (owner->kernel)
		utrace_marker_abandon(memory, owner, place);
	else
		utrace_marker_leave(memory, owner, place);
	if (!mmget_not_zero(memory->mm))
		return;
	by = marker_may_change(owner, memory, &unseen) ? owner : NULL;
	if (sites)
		utrace_marker_settle_for(memory, by, unseen, true);
	else
		utrace_marker_settle_words(memory, by, unseen, !place);
	mmput_async(memory->mm);
}

/*
 * Disarm in all address spaces.  Returns true if there was something to disarm.
 * The shares that are found leave the list, except those of an address space
 * that is being freed.  So the walk continues at its cursor.
 */
static bool marker_disarm(struct marker_owner *owner,
			  const struct marker_place *place)
{
	struct marker_search search = { .place = place };
	struct marker_share cursor = {};
	bool found = false;

	while (utrace_marker_next_share(owner, &owner->shares, &cursor,
					marker_look_memory, &search)) {
		found = true;
		marker_disarm_in(owner, search.memory, place);
		utrace_marker_mm_put(search.memory);
	}
	if (found)
		utrace_marker_ask_all(owner, false);
	return found;
}

/**
 * utrace_marker_disarm() - disarm a word or an event of an owner in all
 * processes
 * @owner: the owner; its mutex is held
 * @place: the word, or all words of an event
 *
 * Context: Process context; sleeps, but does not wait for a process, except for
 * the mmap_lock of one that has a site, until the caller is killed.
 * Return: 0, or -ENOENT if the owner has no such word.
 */
int utrace_marker_disarm(struct marker_owner *owner,
			 const struct marker_place *place)
{
	lockdep_assert_held(&owner->mutex);

	return marker_disarm(owner, place) ? 0 : -ENOENT;
}

/**
 * utrace_marker_event_end() - disarm an event in all address spaces, and drop
 * it
 * @owner: the owner; its mutex is held
 * @event: its event; the reference of the list is dropped
 *
 * Waits for deliveries of hits in progress, until the caller is killed.  For a
 * module it waits in any case.  Writes of a user_event may still be delivered
 * afterwards.
 *
 * Context: Process context; sleeps.
 */
void utrace_marker_event_end(struct marker_owner *owner,
			     struct marker_event *event)
{
	struct marker_place place = {
		.kind = MARKER_EVENT,
		.event = event,
	};

	scoped_guard(spinlock, &owner->lock) {
		list_del_init(&event->list);
		owner->nevents--;
	}
	if (owner->system) {
		utrace_marker_end_everywhere(event);
	} else {
		/* -ENOENT: no address space has it. */
		(void)!utrace_marker_disarm(owner, &place);
	}
	/*
	 * Remove the event from the list before ->busy is read; pairs with
	 * marker_hit().
	 */
	smp_mb();
	/*
	 * A grace period of uprobes would also depend on handlers of other
	 * consumers.
	 */
	while (atomic_read_acquire(&event->busy) &&
	       (owner->client || !fatal_signal_pending(current)))
		usleep_range(100, 500);
	utrace_marker_event_drop(event);
}

/**
 * utrace_marker_disarm_all() - disarm all words of an owner
 * @owner: the owner, which is closed here
 *
 * The engine is detached once all affected threads have written the words.
 *
 * Context: Process context; sleeps, but does not wait for a process.  For an
 * owner of the system, this waits for hits in progress.
 */
void utrace_marker_disarm_all(struct marker_owner *owner)
{
	scoped_guard(spinlock, &owner->lock)
		owner->closed = true;
	if (owner->system)
		utrace_marker_end_all_everywhere(owner);
	marker_disarm(owner, NULL);
	utrace_marker_detach_if_done(owner);
}
