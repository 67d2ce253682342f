// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: wanted values of words
 *
 * Ordering between a task that arms a word and the threads of the process:
 *
 *	armer				thread of the process
 *	want++, dirty			passes its safe point
 *	asks each thread to report	dirty? then writes the word
 *	interrupts the CPUs		runs user code
 *
 * If the armer did not find a thread in the list of threads, another thread
 * added it later.  The clone report of that other thread finds the address
 * space dirty and writes the word before the new thread runs.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/utrace.h>
#include <linux/utrace_mm.h>

#include "../builtin.h"
#include "../utrace_dev.h"
#include "marker.h"

/* Shares */

/*
 * Check whether the owner has already disarmed this place, in which case the
 * walk that did so need not find another share of it.
 */
static bool marker_is_late(const struct marker_owner *owner,
			   const struct marker_place *place)
{
	lockdep_assert_held(&owner->lock);

	return owner->closed || (place->event &&
				 marker_event_is_over(place->event));
}

/*
 * Count a new share, or one that was leaving, in ->want of its word.  A hit may
 * have removed a breakpoint that nobody wanted for a while, whatever ->applied
 * says.
 */
static void marker_count_in(struct marker_share *share)
{
	struct marker_word *word = share->word;

	if (!word->want++ && marker_is_site(&word->place))
		word->unsure = true;
	if (share->owner->kernel) {
		word->want_ours++;
		word->foreign = false;
	}
	utrace_marker_index(share);
}

/* Fill in a share and add it to its word and its owner. */
static void marker_add_share(struct marker_share *share,
			     const struct marker_place *place,
			     struct marker_word *word, struct marker_mm *memory,
			     struct marker_owner *owner, bool leaving)
{
	lockdep_assert_held(&memory->lock);

	share->place = *place;
	if (place->event)
		utrace_marker_event_get(place->event);
	share->word = word;
	share->mm = memory;
	share->owner = owner;
	kref_get(&owner->ref);
	share->number = ++memory->numbers;
	memory->nshares++;
	guard(spinlock)(&owner->lock);
	share->leaving = leaving || marker_is_late(owner, place);
	list_add_tail(&share->of_owner, share->leaving ? &owner->leaving :
							 &owner->shares);
	owner->nshares++;
	if (owner->kernel)
		word->ours++;
	if (!share->leaving)
		marker_count_in(share);
	/* Hits may find the share from here on. */
	list_add_tail_rcu(&share->of_word, &word->shares);
}

/* Reuse a share that was leaving, for the place as the owner names it now. */
static void marker_return_share(struct marker_share *share,
				const struct marker_place *place)
{
	struct marker_event *event = share->place.event;

	if (place->event)
		utrace_marker_event_get(place->event);
	/*
	 * Hits read the event of a site concurrently; the rest of the place
	 * stays the same.
	 */
	if (marker_is_site(place))
		WRITE_ONCE(share->place.event, place->event);
	else
		share->place = *place;
	/* Store the event before ->leaving; pairs with marker_next_event(). */
	smp_store_release(&share->leaving, false);
	marker_count_in(share);
	if (event)
		utrace_marker_event_put(event);
}

static void marker_remove_share(struct marker_share *share,
				struct list_head *gone)
{
	lockdep_assert_held(&share->mm->lock);

	share->mm->nshares--;
	if (!share->leaving)
		utrace_marker_count_out(share);
	if (share->owner->kernel)
		share->word->ours--;
	scoped_guard(spinlock, &share->owner->lock) {
		list_del(&share->of_owner);
		share->owner->nshares--;
	}
	list_add(&share->of_owner, gone);
	list_del_rcu(&share->of_word);
}

/**
 * utrace_marker_free() - free shares
 * @gone: the shares; their words are not freed
 *
 * Context: Process context, without locks of markers; sleeps.
 */
void utrace_marker_free(struct list_head *gone)
{
	struct marker_share *share, *next;

	list_for_each_entry_safe(share, next, gone, of_owner) {
		struct marker_owner *owner = share->owner;

		cond_resched();
		if (share->place.event)
			utrace_marker_event_put(share->place.event);
		kfree_rcu(share, rcu);
		utrace_marker_tell(owner);
		utrace_marker_detach_if_done(owner);
		utrace_marker_owner_put(owner);
	}
}

/* Check whether a share that is leaving can be removed. */
static bool marker_is_over(const struct marker_word *word)
{
	return marker_is_settled(word) || (word->error && !word->busy);
}

/*
 * Remove the leaving shares of a dirty word if it has the wanted value or
 * cannot get it.
 */
static bool marker_clean_word(struct marker_mm *memory,
			      struct marker_word *word, void *arg)
{
	struct marker_share *share, *next;
	struct list_head *gone = arg;

	if (!marker_is_over(word))
		return false;
	list_for_each_entry_safe(share, next, &word->shares, of_word) {
		if (share->leaving)
			marker_remove_share(share, gone);
		else
			utrace_marker_tell(share->owner);
	}
	utrace_marker_untouch(memory, word);
	if (list_empty(&word->shares))
		utrace_marker_erase(memory, word);
	return false;
}

/**
 * utrace_marker_clean() - remove leaving shares after words were written
 * @memory: the address space
 * @gone: gets the removed shares, for utrace_marker_free()
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_clean(struct marker_mm *memory, struct list_head *gone)
{
	utrace_marker_visit(memory, MARKER_DIRTY, NULL, ULONG_MAX,
			    marker_clean_word, gone);
}

static bool marker_drop_word(struct marker_mm *memory,
			     struct marker_word *word, void *arg)
{
	struct marker_share *share, *next;

	list_for_each_entry_safe(share, next, &word->shares, of_word)
		marker_remove_share(share, arg);
	utrace_marker_erase(memory, word);
	return false;
}

/**
 * utrace_marker_drop() - drop all words of an address space that is being freed
 * @memory: the address space, which is no longer in the table
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 */
void utrace_marker_drop(struct marker_mm *memory)
{
	LIST_HEAD(gone);

	utrace_marker_visit(memory, MARKER_ALL, NULL, ULONG_MAX,
			    marker_drop_word, &gone);
	utrace_marker_free(&gone);
}

/* Asking threads */

static void marker_nothing(void *unused)
{
}

/*
 * Make all threads of the owner's process pass the safe point before they run
 * user code again.  The IPI to all CPUs that run them makes this take effect: a
 * thread that is in user mode now has got the flag of the safe point, and one
 * that returns to user mode later sees it.
 */
static void marker_ask(struct marker_owner *owner, struct mm_struct *mm)
{
	struct utrace_engine *engine = utrace_marker_engine_get(owner);
	struct task_struct *process, *t;

	if (!engine)
		return;
	scoped_guard(rcu) {
		process = pid_task(owner->process, PIDTYPE_TGID);
		if (process)
			/* -ESRCH: the thread is dead. */
			for_each_thread(process, t)
				(void)!utrace_control(t, engine, UTRACE_REPORT);
	}
	utrace_engine_put(engine);
	/*
	 * Set the flags before mm_cpumask() is read; pairs with the barrier of
	 * switch_mm() for tasks that are switched in.
	 */
	smp_mb();
	on_each_cpu_mask(mm_cpumask(mm), marker_nothing, NULL, true);
}

/* Arming */

/**
 * utrace_marker_state() - get the state of a word for its owner
 * @share: a share of the word.  The caller must hold marker_mm.lock, or
 *	marker_owner.lock of its owner; with the latter alone the state may be
 *	changing
 * @error: gets the reason of %UTRACE_ARM_STATE_FAILED, an errno, or 0
 *
 * Context: Any.
 * Return: enum utrace_arm_state.
 */
u32 utrace_marker_state(const struct marker_share *share, int *error)
{
	const struct marker_word *word = share->word;
	bool leaving, settled;
	int why;

	/* With the owner's lock alone the value may be stale, see above. */
	leaving = data_race(share->leaving);
	/* Stale, as above. */
	settled = data_race(marker_is_settled(word) && !marker_is_refused(word));
	/* Stale, as above. */
	why = data_race(marker_error(word));
	*error = 0;
	if (leaving)
		return UTRACE_ARM_STATE_LEAVING;
	if (settled)
		return UTRACE_ARM_STATE_ARMED;
	*error = -why;
	return why ? UTRACE_ARM_STATE_FAILED : UTRACE_ARM_STATE_PENDING;
}

/*
 * Get the address space of a thread if the owner may write to it.  Returns it
 * or an error.  Does not wait for an execve(2) in progress, which the program
 * can delay without limit.
 */
static struct mm_struct *marker_mm_of_thread(struct marker_owner *owner,
					     struct task_struct *thread)
{
	struct rw_semaphore *lock = &thread->signal->exec_update_lock;
	struct mm_struct *mm;

	if (!down_read_trylock(lock))
		return ERR_PTR(-EAGAIN);
	if (utrace_viewer_may_attach(owner->viewer, thread))
		mm = get_task_mm(thread) ?: ERR_PTR(-ESRCH);
	else
		mm = ERR_PTR(-EPERM);
	up_read(lock);
	return mm;
}

/* Find a thread of a process that has an mm, or NULL. */
static struct task_struct *marker_thread_of(struct pid *process)
{
	struct task_struct *leader, *t;

	guard(rcu)();
	leader = pid_task(process, PIDTYPE_TGID);
	if (!leader)
		return NULL;
	for_each_thread(leader, t)
		if (READ_ONCE(t->mm))
			return get_task_struct(t);
	return NULL;
}

static struct mm_struct *marker_mm_of(struct marker_owner *owner)
{
	struct mm_struct *mm = ERR_PTR(-ESRCH);
	struct task_struct *thread;

	/*
	 * A thread that exits has no mm any longer, so the next search skips
	 * it.
	 */
	while (mm == ERR_PTR(-ESRCH) &&
	       (thread = marker_thread_of(owner->process))) {
		mm = marker_mm_of_thread(owner, thread);
		put_task_struct(thread);
	}
	return mm;
}

/* Take a word out of a stock that has one. */
static struct marker_word *marker_take_word(struct marker_stock *stock)
{
	struct marker_word *word = list_first_entry(&stock->words,
						    struct marker_word, spare);

	list_del(&word->spare);
	stock->nwords--;
	INIT_LIST_HEAD(&word->shares);
	return word;
}

/* Take a share out of a stock that has one. */
static struct marker_share *marker_take_share(struct marker_stock *stock)
{
	struct marker_share *share = list_first_entry(&stock->shares,
						      struct marker_share, of_word);

	list_del(&share->of_word);
	stock->nshares--;
	return share;
}

/*
 * Add an owner's share of a word.  Returns 0, -EEXIST, or -EAGAIN if @stock
 * lacks a word or a share.
 */
static int marker_want(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place,
		       struct marker_stock *stock)
{
	struct marker_word *word;
	struct marker_share *old;

	if (!stock->nwords || !stock->nshares)
		return -EAGAIN;
	guard(spinlock)(&memory->lock);
	word = utrace_marker_find(memory, place);
	if (!word) {
		word = marker_take_word(stock);
		word->place = marker_of_word(place);
		utrace_marker_insert(memory, word);
	}
	old = utrace_marker_find_share(word, owner);
	if (old && !old->leaving && place->event != old->place.event)
		return -EEXIST;
	/* Another thread may have been first, as in utrace_marker_want(). */
	if (old && !old->leaving && !marker_error(word))
		return place->event ? 0 : -EEXIST;
	word->error = 0;
	utrace_marker_touch(memory, word);
	if (old && old->leaving) {
		guard(spinlock)(&owner->lock);
		if (marker_is_late(owner, place))
			return 0;
		marker_return_share(old, place);
		list_move_tail(&old->of_owner, &owner->shares);
	} else if (!old) {
		marker_add_share(marker_take_share(stock), place, word, memory,
				 owner, false);
	}
	return 0;
}

static int marker_look(struct marker_mm *memory, struct marker_owner *owner,
		       struct marker_place *place, u32 *state, int *error)
{
	struct marker_share *share;

	guard(spinlock)(&memory->lock);
	share = utrace_marker_share_at(memory, owner, place);
	if (!share)
		return -ESRCH;
	*state = utrace_marker_state(share, error);
	place->id = share->place.id;
	place->cookie = share->place.cookie;
	return 0;
}

/*
 * Check whether an owner has armed a word for the same event, without an error.
 */
static bool marker_has(struct marker_mm *memory,
		       const struct marker_owner *owner,
		       const struct marker_place *place)
{
	struct marker_share *share;

	guard(spinlock)(&memory->lock);
	share = utrace_marker_share_at(memory, owner, place);
	return share && !share->leaving && !marker_error(share->word) &&
	       share->place.event == place->event;
}

/**
 * utrace_marker_want() - add an owner's share of a word
 * @memory: the address space
 * @owner: the owner
 * @place: the word
 *
 * Nothing is written yet.
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 * Return:
 * * 0 - the owner wants the word now; with an event, another thread may have
 *   added the share
 * * -EEXIST - the owner wants the word already, for another event, or without
 *   an event and the word has not failed
 * * -ENOMEM - out of memory
 */
int utrace_marker_want(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place)
{
	struct marker_stock stock = MARKER_STOCK_INIT(stock);
	int ret = -ENOMEM;

	/* Another thread of the process may have armed the same event first. */
	if (marker_has(memory, owner, place))
		return place->event ? 0 : -EEXIST;
	if (!utrace_marker_stock_fill(&stock, 1, 1))
		ret = marker_want(memory, owner, place, &stock);
	utrace_marker_stock_free(&stock);
	return ret;
}

/**
 * utrace_marker_want_from() - utrace_marker_want() without an allocation
 * @stock: what a word and a share are taken from
 * @memory: the address space
 * @owner: the owner
 * @place: the word
 *
 * Context: Process context; does not sleep.  Takes marker_mm.lock.
 * Return:
 * * 0 - the owner wants the word now; with an event, another thread may have
 *   added the share
 * * -EEXIST - as for utrace_marker_want()
 * * -EAGAIN - @stock has no word, or no share
 */
int utrace_marker_want_from(struct marker_stock *stock,
			    struct marker_mm *memory,
			    struct marker_owner *owner,
			    const struct marker_place *place)
{
	/* Another thread may have been first, as in utrace_marker_want(). */
	if (marker_has(memory, owner, place))
		return place->event ? 0 : -EEXIST;
	return marker_want(memory, owner, place, stock);
}

/**
 * utrace_marker_begin() - begin to arm words of an owner's process
 * @owner: the owner; its mutex is held
 * @mm: gets the memory of the process, for utrace_marker_finish()
 *
 * Context: Process context; sleeps, but does not wait for the process.
 * Return: the address space, with a reference; or
 * * -EAGAIN - an execve(2) is in progress, so the present address space will be
 *   dropped
 * * -EPERM - the owner may no longer trace the process
 * * -ESRCH - the process is gone
 * * -ENOSPC - the owner has too many words
 * * -ENOMEM - out of memory
 */
struct marker_mm *utrace_marker_begin(struct marker_owner *owner,
				      struct mm_struct **mm)
{
	struct marker_mm *memory;

	lockdep_assert_held(&owner->mutex);

	if (READ_ONCE(owner->nshares) >= MARKER_MAX_SHARES)
		return ERR_PTR(-ENOSPC);
	*mm = marker_mm_of(owner);
	if (IS_ERR(*mm))
		return ERR_CAST(*mm);
	memory = utrace_marker_mm_get(*mm, owner->process);
	if (memory)
		return memory;
	mmput_async(*mm);
	return ERR_PTR(-ENOMEM);
}

/*
 * Write the words of an owner's process, and with @sites install its
 * breakpoints.  When this returns, the process executes no instruction before
 * the new values are in effect, except for words that have failed or are held
 * (utrace_hold()).
 */
static void marker_settle_process(struct marker_owner *owner,
				  struct marker_mm *memory, bool sites)
{
	utrace_marker_settle_for(memory, owner, false, sites);
	if (marker_is_dirty(memory))
		marker_ask(owner, memory->mm);
}

/**
 * utrace_marker_finish() - end what utrace_marker_begin() has begun
 * @owner: the owner
 * @memory: the address space; the reference is dropped
 * @mm: what utrace_marker_begin() has stored; the reference is dropped
 *
 * Context: Process context; sleeps.
 */
void utrace_marker_finish(struct marker_owner *owner, struct marker_mm *memory,
			  struct mm_struct *mm)
{
	marker_settle_process(owner, memory, false);
	utrace_marker_mm_put(memory);
	/*
	 * The last mmput() may wait for a device that the process has mapped.
	 */
	mmput_async(mm);
}

/**
 * utrace_marker_arm() - arm a word of an owner's process
 * @owner: the owner; its mutex is held
 * @place: the word.  If the owner has armed it before and it has failed, this
 *	gets the id and cookie of that time
 * @state: gets enum utrace_arm_state
 * @error: gets the reason of %UTRACE_ARM_STATE_FAILED, an errno, or 0
 *
 * When this returns, the process executes no instruction before the new value
 * is in effect, unless the word has failed or is held.
 *
 * Context: Process context; sleeps.  Does not wait for the process, except for
 * its mmap_lock in case of a site.  That wait ends if the caller is killed.
 * Return:
 * * 0 - see @state: the word is armed, pending or has failed
 * * -EAGAIN - an execve(2) is in progress, so the present address space will be
 *   dropped
 * * -EEXIST - the owner has armed the word already
 * * -EPERM - the owner may no longer trace the process
 * * -ESRCH - the process is gone
 * * -ENOSPC - the owner has too many words
 * * -ENOMEM - out of memory
 */
int utrace_marker_arm(struct marker_owner *owner, struct marker_place *place,
		      u32 *state, int *error)
{
	struct mm_struct *mm;
	struct marker_mm *memory = utrace_marker_begin(owner, &mm);
	int ret;

	if (IS_ERR(memory))
		return PTR_ERR(memory);
	ret = utrace_marker_want(memory, owner, place);
	if (!ret) {
		marker_settle_process(owner, memory, marker_is_site(place));
		ret = marker_look(memory, owner, place, state, error);
	}
	utrace_marker_mm_put(memory);
	mmput_async(mm);
	return ret;
}

/**
 * utrace_marker_arm_current() - arm a place in the current address space
 * @owner: the owner
 * @place: the place
 *
 * Nothing is written before utrace_marker_settle().
 *
 * Context: A callback, in the task itself; sleeps.
 * Return: 0, -EEXIST or -ENOMEM, as utrace_marker_want().
 */
int utrace_marker_arm_current(struct marker_owner *owner,
			      const struct marker_place *place)
{
	struct marker_mm *memory = utrace_marker_mm_get(current->mm,
							task_tgid(current));
	int ret;

	if (!memory)
		return -ENOMEM;
	ret = utrace_marker_want(memory, owner, place);
	utrace_marker_mm_put(memory);
	return ret;
}

/* Changes of the memory */

/*
 * The part of ->applied that fork(2) copies.  Shared memory is not copied, and
 * the child must not undo there what the parent wants.
 */
static int marker_copied(struct mm_struct *mm, const struct marker_word *word)
{
	const vm_flags_t others = VM_DONTCOPY | VM_WIPEONFORK | VM_MAYSHARE;
	struct vm_area_struct *vma;

	if (marker_is_site(&word->place))
		return word->applied;
	vma = vma_lookup(mm, word->place.addr);
	return vma && !(vma->vm_flags & others) ? word->applied : 0;
}

struct marker_heritage {
	struct marker_mm *child;
	struct marker_place *from;
	struct marker_stock *stock;
	struct marker_owner *owner;	/* of the share that was copied last */
	bool follows;			/* @owner follows to the child */
};

/* Copy the share of an owner to the child's word @copy. */
static void marker_inherit_share(struct marker_heritage *heritage,
				 const struct marker_share *share,
				 struct marker_word *copy)
{
	if (share->owner != heritage->owner)
		heritage->follows = utrace_marker_follows(share->owner);
	heritage->owner = share->owner;
	/*
	 * The user_events of the child are known only after its birth, so
	 * leave.
	 */
	marker_add_share(marker_take_share(heritage->stock), &share->place, copy,
			 heritage->child, share->owner,
			 share->leaving || !heritage->follows ||
			 share->place.user_event);
}

/* Copy a word of the parent.  Returns true if the stock is too small for it. */
static bool marker_inherit_word(struct marker_mm *parent,
				struct marker_word *word, void *arg)
{
	struct marker_heritage *heritage = arg;
	struct marker_stock *stock = heritage->stock;
	struct marker_mm *child = heritage->child;
	struct marker_share *share;
	struct marker_word *copy;

	stock->need = list_count_nodes(&word->shares);
	*heritage->from = word->place;
	if (!stock->nwords || stock->nshares < stock->need)
		return true;
	copy = marker_take_word(stock);
	copy->place = word->place;
	/*
	 * The child is known only to tasks that mark its pages as lost together
	 * with those of the parent.
	 */
	spin_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	utrace_marker_insert(child, copy);
	copy->applied = marker_copied(parent->mm, word);
	copy->shared = word->shared;
	copy->foreign = word->foreign;
	copy->written = word->written;
	list_for_each_entry(share, &word->shares, of_word)
		marker_inherit_share(heritage, share, copy);
	copy->unsure = false;
	if (!marker_is_site(&word->place))
		copy->unsure = word->unsure;
	else if (word->busy || word->unsure)
		/* The breakpoint may exist or not: force a change. */
		copy->applied = !marker_wanted(copy);
	utrace_marker_touch(child, copy);
	spin_unlock(&child->lock);
	return false;
}

/**
 * utrace_marker_inherit() - copy words to an address space that fork(2) creates
 * @parent: the address space that is copied
 * @child: the copy, which has the words of @parent before @from
 * @from: the first word to be copied; changed to the first one that was not, if
 *	any
 * @stock: the words and shares to use
 *
 * The copied memory contains what was added to the words.  A share of an owner
 * that does not follow the current task is leaving from the beginning, so that
 * its part is subtracted.
 *
 * Context: dup_mmap(), with mmap_lock of both held for writing.  marker_mm.copy
 * of @parent is @child, so that losses of pages of @parent count for @child as
 * well.  Sleeps.  Takes marker_mm.lock of both.
 * Return: true if @stock was too small for the word at @from.
 */
bool utrace_marker_inherit(struct marker_mm *parent, struct marker_mm *child,
			   struct marker_place *from, struct marker_stock *stock)
{
	struct marker_heritage heritage = {
		.child = child,
		.from = from,
		.stock = stock,
	};
	const struct marker_place at = *from;

	return utrace_marker_visit(parent, MARKER_ALL, &at, ULONG_MAX,
				   marker_inherit_word, &heritage);
}

/* Search for the owner with the lowest address above @last. */
struct marker_owners {
	const struct marker_owner *last;
	struct marker_owner *next;
};

/* Take an owner of a word if it is the best candidate so far. */
static bool marker_look_owner(struct marker_mm *memory,
			      struct marker_word *word, void *arg)
{
	struct marker_owners *owners = arg;
	struct marker_owner *old = owners->next;
	struct marker_share *share;

	list_for_each_entry(share, &word->shares, of_word)
		if (share->owner > owners->last &&
		    (!owners->next || share->owner < owners->next))
			owners->next = share->owner;
	if (owners->next == old)
		return false;
	kref_get(&owners->next->ref);
	if (old)
		utrace_marker_owner_put(old);
	return false;
}

/* utrace_marker_next_owner() for the words of a range. */
static struct marker_owner *marker_next_owner(struct marker_mm *memory,
					      struct marker_owner *last,
					      unsigned long start,
					      unsigned long last_addr)
{
	const struct marker_place from = { .addr = start };
	struct marker_owners owners = { .last = last };

	utrace_marker_visit(memory, MARKER_DIRTY, &from, last_addr,
			    marker_look_owner, &owners);
	if (last)
		utrace_marker_owner_put(last);
	return owners.next;
}

/**
 * utrace_marker_next_owner() - find the next owner of a dirty word
 * @memory: the address space
 * @last: the owner that was found last, or NULL; consumes the reference.
 *	Owners are found in the order of their addresses
 *
 * Context: Process context; sleeps.  Takes marker_mm.lock.
 * Return: the owner, with a reference, or NULL.
 */
struct marker_owner *utrace_marker_next_owner(struct marker_mm *memory,
					      struct marker_owner *last)
{
	return marker_next_owner(memory, last, 0, ULONG_MAX);
}

/*
 * Make the tasks of the owners of dirty words up to @last_addr pass the safe
 * point.
 */
static void marker_ask_now(struct marker_mm *memory, unsigned long start,
			   unsigned long last_addr)
{
	struct marker_owner *owner = NULL;

	while ((owner = marker_next_owner(memory, owner, start, last_addr))) {
		struct utrace_engine *engine = utrace_marker_engine_get(owner);

		if (!engine)
			continue;
		/* -ESRCH: the tasks of this owner are dead. */
		(void)!utrace_control(NULL, engine, UTRACE_REPORT);
		utrace_engine_put(engine);
	}
}

/**
 * utrace_marker_ask_work() - make tasks of the owners of all dirty words pass
 * the safe point
 * @work: marker_mm.ask
 *
 * Context: A work item; sleeps.
 */
void utrace_marker_ask_work(struct work_struct *work)
{
	struct marker_mm *memory = container_of(work, struct marker_mm, ask);

	marker_ask_now(memory, 0, ULONG_MAX);
	utrace_marker_mm_put(memory);
}

/**
 * utrace_marker_ask_later() - queue utrace_marker_ask_work()
 * @memory: the address space; the caller has a reference
 *
 * Context: Any but NMI.
 */
void utrace_marker_ask_later(struct marker_mm *memory)
{
	refcount_inc(&memory->ref);
	if (!queue_work(system_unbound_wq, &memory->ask))
		utrace_marker_mm_put(memory);
}

/*
 * Make the tasks of the owners of dirty words in a range pass the safe point.
 * A truncation visits all mappings of all processes with locks held, and cannot
 * be killed.  So for another address space this queues a work item, which asks
 * once for many mappings.
 */
static void marker_ask_owners(struct marker_mm *memory, unsigned long start,
			      unsigned long end)
{
	if (memory->mm == current->mm)
		marker_ask_now(memory, start, end - 1);
	else if (marker_is_dirty(memory))
		utrace_marker_ask_later(memory);
}

/*
 * Check whether a word has a leaving share, which utrace_marker_clean() is to
 * remove.
 */
static bool marker_has_leaving(const struct marker_word *word)
{
	const struct marker_share *share;

	list_for_each_entry(share, &word->shares, of_word)
		if (share->leaving)
			return true;
	return false;
}

/* Mark a word for another attempt if it needs a write or has leaving shares. */
static void marker_look_again(struct marker_mm *memory, struct marker_word *word)
{
	word->since = memory->sequence;
	if (word->shared) {
		word->shared = false;
		word->unsure = true;
	}
	if (marker_is_settled(word) && !marker_has_leaving(word))
		return;
	word->error = 0;
	utrace_marker_touch(memory, word);
}

static bool marker_retry_word(struct marker_mm *memory,
			      struct marker_word *word, void *unused)
{
	if (!marker_is_site(&word->place))
		marker_look_again(memory, word);
	return false;
}

static bool marker_lose_word(struct marker_mm *memory,
			     struct marker_word *word, void *unused)
{
	if (marker_is_site(&word->place))
		return false;
	word->applied = 0;
	if (!marker_is_settled(word))
		utrace_marker_touch(memory, word);
	return false;
}

static bool marker_forget_word(struct marker_mm *memory,
			       struct marker_word *word, void *unused)
{
	if (marker_is_site(&word->place))
		return false;
	word->applied = 0;
	marker_look_again(memory, word);
	return false;
}

/* Increment marker_mm.sequence, then call @fn for the words of a range. */
static void marker_visit_range(struct marker_mm *memory, unsigned long start,
			       unsigned long end,
			       bool (*fn)(struct marker_mm *memory,
					  struct marker_word *word, void *arg))
{
	const struct marker_place from = { .addr = start };

	scoped_guard(spinlock, &memory->lock)
		memory->sequence++;
	utrace_marker_visit(memory, MARKER_ALL, &from, end - 1, fn, NULL);
}

/*
 * If fork(2) has copied words of @memory but not yet the pages, the loss counts
 * for the copy as well.  Words that fork(2) copies from here on have lost it
 * already.
 */
static void marker_lose_copy(struct marker_mm *memory, unsigned long start,
			     unsigned long end)
{
	struct marker_mm *copy;

	scoped_guard(spinlock, &memory->lock) {
		copy = memory->copy;
		if (copy)
			refcount_inc(&copy->ref);
	}
	if (!copy)
		return;
	marker_visit_range(copy, start, end, marker_lose_word);
	utrace_marker_mm_put(copy);
}

/**
 * utrace_marker_retry() - retry failed words after memory was mapped
 * @memory: the address space
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: Process context, with mmap_lock held for writing.
 */
void utrace_marker_retry(struct marker_mm *memory, unsigned long start,
			 unsigned long end)
{
	marker_visit_range(memory, start, end, marker_retry_word);
	marker_ask_owners(memory, start, end);
}

/**
 * utrace_marker_forget() - note that pages of a range, and the values in them,
 * are lost
 * @memory: the address space
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: Process context, with a lock of __utrace_munmap() held.
 */
void utrace_marker_forget(struct marker_mm *memory, unsigned long start,
			  unsigned long end)
{
	marker_visit_range(memory, start, end, marker_forget_word);
	marker_lose_copy(memory, start, end);
	marker_ask_owners(memory, start, end);
}

/**
 * utrace_marker_hold() - prevent writes to a range until
 * utrace_marker_release()
 * @memory: the address space
 * @hold: the range
 * @lost: the pages of the range, and the values in them, are lost
 *
 * Context: Process context.
 */
void utrace_marker_hold(struct marker_mm *memory, struct utrace_hold *hold,
			bool lost)
{
	scoped_guard(spinlock, &memory->lock)
		list_add(&hold->list, &memory->holds);
	if (!lost)
		return;
	marker_visit_range(memory, hold->start, hold->end, marker_lose_word);
	marker_lose_copy(memory, hold->start, hold->end);
}

/**
 * utrace_marker_release() - allow writes to a range again
 * @memory: the address space
 * @hold: the range, of utrace_marker_hold()
 *
 * Context: Process context.
 */
void utrace_marker_release(struct marker_mm *memory, struct utrace_hold *hold)
{
	/*
	 * Do this before the end of the hold: a writer that has the old page
	 * must see that marker_mm.sequence has grown.
	 */
	marker_visit_range(memory, hold->start, hold->end, marker_retry_word);
	scoped_guard(spinlock, &memory->lock)
		list_del(&hold->list);
	marker_ask_owners(memory, hold->start, hold->end);
}
