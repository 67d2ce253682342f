// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: disarming
 *
 * A share that is no longer wanted stays until its word reflects that.  Until
 * then the share is "leaving".
 */
#include <linux/delay.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "marker.h"
#include "site.h"

/*
 * Check whether a share belongs to the word or to the event of @place.  NULL
 * matches any share.
 */
static bool marker_matches(const struct marker_share *share,
			   const struct marker_place *place)
{
	struct marker_place of_word;

	if (!place)
		return true;
	if (place->kind == MARKER_EVENT)
		return share->place.event == place->event;
	of_word = marker_of_word(place);
	/* A program after an execve(2) may have the word with another id. */
	return share->place.id == place->id &&
	       marker_is_same(&share->word->place, &of_word);
}

/* The place for which marker_disarm() searches, and the address space found. */
struct marker_search {
	const struct marker_place *place;
	struct marker_mm *memory;
};

static bool marker_look_memory(struct marker_share *share, void *arg)
{
	struct marker_search *search = arg;

	if (!marker_matches(share, search->place) ||
	    !utrace_marker_mm_tryget(share->mm))
		return false;
	search->memory = share->mm;
	return true;
}

/**
 * utrace_marker_count_out() - subtract a share from the wanted value of its
 * word
 * @share: the share, which was counted; marker_mm.lock is held
 *
 * Context: Any.
 */
void utrace_marker_count_out(struct marker_share *share)
{
	lockdep_assert_held(&share->mm->lock);

	share->word->want--;
	if (share->owner->kernel)
		share->word->want_ours--;
	utrace_marker_unindex(share);
}

/**
 * utrace_marker_leave_share() - make a share leave
 * @share: the share, which is not leaving; marker_mm.lock is held
 *
 * Context: Any but NMI.  Takes marker_owner.lock.
 */
void utrace_marker_leave_share(struct marker_share *share)
{
	lockdep_assert_held(&share->mm->lock);

	utrace_marker_count_out(share);
	share->word->error = 0;
	utrace_marker_touch(share->mm, share->word);
	guard(spinlock)(&share->owner->lock);
	WRITE_ONCE(share->leaving, true);
	list_move_tail(&share->of_owner, &share->owner->leaving);
}

/* What an owner no longer wants: a word, an event, or everything. */
struct marker_leave {
	struct marker_owner *owner;
	const struct marker_place *place;
};

static bool marker_leave_word(struct marker_mm *memory,
			      struct marker_word *word, void *arg)
{
	struct marker_leave *leave = arg;
	struct marker_share *share;

	share = utrace_marker_find_share(word, leave->owner);
	if (share && !share->leaving && marker_matches(share, leave->place))
		utrace_marker_leave_share(share);
	return false;
}

static void marker_leave_at(struct marker_mm *memory,
			    const struct marker_place *place,
			    struct marker_leave *leave)
{
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	word = utrace_marker_find(memory, place);
	if (word)
		marker_leave_word(memory, word, leave);
}

/**
 * utrace_marker_leave() - make shares of an owner in one address space leave
 * @memory: the address space
 * @owner: the owner
 * @place: the word, or an event of the owner; NULL: all words of the owner
 *
 * Nothing is written yet.
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_leave(struct marker_mm *memory, struct marker_owner *owner,
			 const struct marker_place *place)
{
	struct marker_leave leave = { .owner = owner, .place = place };

	if (place && place->kind != MARKER_EVENT) {
		marker_leave_at(memory, place, &leave);
		return;
	}
	if (place && place->event->site) {
		const struct marker_place site = marker_of_event(place->event);

		marker_leave_at(memory, &site, &leave);
		return;
	}
	utrace_marker_visit(memory, MARKER_ALL, NULL, ULONG_MAX,
			    marker_leave_word, &leave);
	if (place)
		return;
	/*
	 * The shares leave now, so a process that follows the owner must arm
	 * them again.
	 */
	guard(spinlock)(&memory->lock);
	utrace_marker_unfollow(memory, owner);
}

/* Make the owner's share leave, and leave the bit as it is to the program. */
static bool marker_abandon_word(struct marker_mm *memory,
				struct marker_word *word, void *owner)
{
	struct marker_share *share = utrace_marker_find_share(word, owner);

	if (!share || share->leaving)
		return false;
	utrace_marker_leave_share(share);
	word->foreign = word->applied;
	/*
	 * Other shares that want the bit find it set, so nothing changes for
	 * them.
	 */
	if (!marker_wanted(word))
		word->applied = 0;
	return false;
}

/**
 * utrace_marker_abandon() - make shares of bits leave, but leave the bits set
 * @memory: the address space
 * @owner: the owner, of bits only
 * @place: the bit; NULL: all bits of the owner
 *
 * A bit whose share was already leaving and that is still set is cleared.
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_abandon(struct marker_mm *memory, struct marker_owner *owner,
			   const struct marker_place *place)
{
	struct marker_word *word;

	if (!place) {
		utrace_marker_visit(memory, MARKER_ALL, NULL, ULONG_MAX,
				    marker_abandon_word, owner);
		return;
	}
	guard(spinlock)(&memory->lock);
	word = utrace_marker_find(memory, place);
	if (word)
		marker_abandon_word(memory, word, owner);
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
		      utrace_viewer_may_tell(owner->viewer, thread);
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
