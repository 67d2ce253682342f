// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: what is wanted of words
 *
 * Who waits for whom when a word is armed:
 *
 *	armer				thread of the process
 *	want++, dirty			passes its safe point
 *	asks each thread to report	dirty? then writes the word
 *	interrupts the CPUs		runs user code
 *
 * A thread that the armer did not find in the list of threads was put there later
 * by another thread, whose report of the clone then finds the memory dirty and
 * writes the word before the new thread runs.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/utrace.h>

#include "../utrace_dev.h"
#include "marker.h"

static bool marker_is_same(const struct marker_place *a,
			   const struct marker_place *b)
{
	return a->addr == b->addr && a->site == b->site &&
	       a->kind == b->kind && a->bit == b->bit;
}

/* The place of a word; the machine is little-endian. */
static struct marker_place marker_of_word(const struct marker_place *named)
{
	struct marker_place place = *named;

	if (place.kind == UTRACE_WORD_BIT64) {
		place.kind = UTRACE_WORD_BIT32;
		place.addr += place.bit / 32 * sizeof(u32);
		place.bit %= 32;
	}
	return place;
}

static struct marker_word *marker_find(const struct marker_mm *memory,
				       const struct marker_place *place)
{
	struct marker_word *word;

	lockdep_assert_held(&memory->lock);

	list_for_each_entry(word, &memory->words, list)
		if (marker_is_same(&word->place, place))
			return word;
	return NULL;
}

static struct marker_share *marker_find_share(const struct marker_word *word,
					      const struct marker_owner *owner)
{
	struct marker_share *share;

	list_for_each_entry(share, &word->shares, of_word)
		if (share->owner == owner)
			return share;
	return NULL;
}

/* Shares */

/*
 * Has the owner taken back this place already, so that the loop which does so need
 * not find another share of it?
 */
static bool marker_is_late(const struct marker_owner *owner,
			   const struct marker_place *place)
{
	lockdep_assert_held(&owner->lock);

	return owner->closed || (place->event &&
				 utrace_marker_event_is_over(place->event));
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
	list_add_tail(&share->of_word, &word->shares);
	memory->nshares++;
	guard(spinlock)(&owner->lock);
	share->leaving = leaving || marker_is_late(owner, place);
	list_add_tail(&share->of_owner, share->leaving ? &owner->leaving :
							 &owner->shares);
	owner->nshares++;
	if (!share->leaving)
		word->want++;
}

/* A share that was leaving stays, for what the owner calls by this name. */
static void marker_rename_share(struct marker_share *share,
				const struct marker_place *place)
{
	if (place->event)
		utrace_marker_event_get(place->event);
	if (share->place.event)
		utrace_marker_event_put(share->place.event);
	share->place = *place;
}

static void marker_remove_share(struct marker_share *share,
				struct list_head *gone)
{
	lockdep_assert_held(&share->mm->lock);

	share->mm->nshares--;
	if (!share->leaving)
		share->word->want--;
	scoped_guard(spinlock, &share->owner->lock) {
		list_del(&share->of_owner);
		share->owner->nshares--;
	}
	list_move(&share->of_word, gone);
}

static void marker_remove_word(struct marker_word *word)
{
	list_del(&word->list);
	kfree(word);
}

/**
 * utrace_marker_free() - free shares
 * @gone: the shares, without their words
 *
 * Context: Any but NMI, without locks of markers.
 */
void utrace_marker_free(struct list_head *gone)
{
	struct marker_share *share, *next;

	list_for_each_entry_safe(share, next, gone, of_word) {
		struct marker_owner *owner = share->owner;

		if (share->place.event)
			utrace_marker_event_put(share->place.event);
		kfree(share);
		utrace_marker_tell(owner);
		utrace_marker_detach_if_done(owner);
		utrace_marker_owner_put(owner);
	}
}

/* Can nothing more be done for a share that is leaving? */
static bool marker_is_over(const struct marker_word *word)
{
	return marker_is_settled(word) || (word->error && !word->busy);
}

/**
 * utrace_marker_clean() - see what is left after words were written
 * @memory: the words
 * @gone: gets the shares that have left, for utrace_marker_free()
 *
 * Context: Any but NMI.  Takes marker_mm.lock.
 */
void utrace_marker_clean(struct marker_mm *memory, struct list_head *gone)
{
	struct marker_share *share, *next_share;
	struct marker_word *word, *next;
	bool dirty = false;

	guard(spinlock)(&memory->lock);
	list_for_each_entry_safe(word, next, &memory->words, list) {
		if (!marker_is_over(word)) {
			dirty = true;
			continue;
		}
		list_for_each_entry_safe(share, next_share, &word->shares,
					 of_word) {
			if (share->leaving)
				marker_remove_share(share, gone);
			else
				utrace_marker_tell(share->owner);
		}
		if (list_empty(&word->shares))
			marker_remove_word(word);
	}
	WRITE_ONCE(memory->dirty, dirty);
}

/**
 * utrace_marker_drop() - drop all words, since their memory is gone
 * @memory: the words; nobody finds them any more
 *
 * Context: Process context.  Takes marker_mm.lock.
 */
void utrace_marker_drop(struct marker_mm *memory)
{
	struct marker_share *share, *next_share;
	struct marker_word *word, *next;
	LIST_HEAD(gone);

	scoped_guard(spinlock, &memory->lock) {
		list_for_each_entry_safe(word, next, &memory->words, list) {
			list_for_each_entry_safe(share, next_share,
						 &word->shares, of_word)
				marker_remove_share(share, &gone);
			marker_remove_word(word);
		}
		WRITE_ONCE(memory->dirty, false);
	}
	utrace_marker_free(&gone);
}

/* Asking threads */

static void marker_nothing(void *unused)
{
}

/*
 * Have all threads of the owner's process pass the safe point before they run user
 * code again.  An interrupt of all CPUs that run them makes sure that this has
 * begun: a thread that is in user mode now has got the flag of the safe point, and
 * one that comes to user mode later sees it.
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
	 * The flags before the look at the CPUs; pairs with the barrier that
	 * switch_mm() is for tasks that come to a CPU.
	 */
	smp_mb();
	on_each_cpu_mask(mm_cpumask(mm), marker_nothing, NULL, true);
}

/**
 * utrace_marker_ask_all() - have all tasks of an owner pass the safe point, some time
 * @owner: the owner
 *
 * Context: Any but NMI, without locks of markers.
 */
void utrace_marker_ask_all(struct marker_owner *owner)
{
	struct utrace_engine *engine = utrace_marker_engine_get(owner);

	if (!engine)
		return;
	/* -ESRCH: all tasks are dead. */
	(void)!utrace_control(NULL, engine, UTRACE_REPORT);
	utrace_engine_put(engine);
}

/* Arming */

/**
 * utrace_marker_state() - how far a word has come
 * @share: a share of the word, which stays: marker_mm.lock is held, or
 *	marker_owner.lock of its owner; with the latter alone the state may be
 *	changing
 * @error: gets the reason of %UTRACE_WORD_FAILED, an errno, or 0
 *
 * Context: Any.
 * Return: enum utrace_word_state.
 */
u32 utrace_marker_state(const struct marker_share *share, int *error)
{
	const struct marker_word *word = share->word;
	bool leaving, settled;
	int why;

	/* With the owner's lock alone the answer may be old, see above. */
	leaving = data_race(share->leaving);
	/* Likewise. */
	settled = data_race(marker_is_settled(word));
	/* Likewise. */
	why = data_race(word->error);
	*error = 0;
	if (leaving)
		return UTRACE_WORD_LEAVING;
	if (settled)
		return UTRACE_WORD_ARMED;
	*error = -why;
	return why ? UTRACE_WORD_FAILED : UTRACE_WORD_PENDING;
}

/* May the owner write to the memory of a thread?  Returns the memory. */
static struct mm_struct *marker_mm_of_thread(struct marker_owner *owner,
					     struct task_struct *thread)
{
	struct rw_semaphore *lock = &thread->signal->exec_update_lock;
	struct mm_struct *mm;

	if (down_read_killable(lock))
		return ERR_PTR(-EINTR);
	if (utrace_dev_may_trace(owner->opener, thread))
		mm = get_task_mm(thread) ?: ERR_PTR(-ESRCH);
	else
		mm = ERR_PTR(-EPERM);
	up_read(lock);
	return mm;
}

/* A thread of a process that has memory, or the leader if none has. */
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
	return get_task_struct(leader);
}

static struct mm_struct *marker_mm_of(struct marker_owner *owner)
{
	struct task_struct *thread = marker_thread_of(owner->process);
	struct mm_struct *mm;

	if (!thread)
		return ERR_PTR(-ESRCH);
	mm = marker_mm_of_thread(owner, thread);
	put_task_struct(thread);
	return mm;
}

/*
 * Note that an owner wants a word.  @new and @share are used, or stay with the
 * caller.  Returns 0 or -EEXIST.
 */
static int marker_want(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place,
		       struct marker_word **new, struct marker_share **share)
{
	struct marker_place of_word = marker_of_word(place);
	struct marker_word *word;
	struct marker_share *old;

	guard(spinlock)(&memory->lock);
	word = marker_find(memory, &of_word);
	if (!word) {
		word = no_free_ptr(*new);
		word->place = of_word;
		INIT_LIST_HEAD(&word->shares);
		list_add_tail(&word->list, &memory->words);
	}
	old = marker_find_share(word, owner);
	/* A thread of the process may have been first with an event. */
	if (old && !old->leaving && !word->error)
		return place->event && place->event == old->place.event ?
		       0 : -EEXIST;
	word->error = 0;
	WRITE_ONCE(memory->dirty, true);
	if (old && old->leaving) {
		guard(spinlock)(&owner->lock);
		if (marker_is_late(owner, place))
			return 0;
		old->leaving = false;
		marker_rename_share(old, place);
		list_move_tail(&old->of_owner, &owner->shares);
		word->want++;
	} else if (!old) {
		marker_add_share(no_free_ptr(*share), place, word, memory,
				 owner, false);
	}
	return 0;
}

/* The state of an owner's word, for utrace_marker_arm(). */
static int marker_look(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place, u32 *state, int *error)
{
	struct marker_place of_word = marker_of_word(place);
	struct marker_share *share = NULL;
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	word = marker_find(memory, &of_word);
	if (word)
		share = marker_find_share(word, owner);
	if (!share)
		return -ESRCH;
	*state = utrace_marker_state(share, error);
	return 0;
}

static int marker_arm(struct marker_mm *memory, struct marker_owner *owner,
		      const struct marker_place *place)
{
	struct marker_word *word = kzalloc(sizeof(*word), GFP_KERNEL_ACCOUNT);
	struct marker_share *share = kzalloc(sizeof(*share),
					     GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (word && share)
		ret = marker_want(memory, owner, place, &word, &share);
	kfree(share);
	kfree(word);
	return ret;
}

/**
 * utrace_marker_arm() - arm a word of an owner's process
 * @owner: the owner; its mutex is held
 * @place: the word
 * @state: gets how far the word has come, enum utrace_word_state
 * @error: gets the reason of %UTRACE_WORD_FAILED, an errno, or 0
 *
 * When this returns, no instruction of the process is executed without the new
 * value, unless the word has failed.
 *
 * Context: Process context; sleeps, but does not wait for the process, except for the
 * end of an execve(2) that is going on, or, for a site, for its mmap_lock.  Both waits
 * end if the caller is killed.
 * Return:
 * * 0 - the word is armed, or will be, or has failed
 * * -EEXIST - the owner has armed it already
 * * -EPERM - the owner may not trace the process any more
 * * -ESRCH - the process is gone
 * * -ENOSPC - the owner has too many words
 * * -EINTR - the caller is being killed
 * * -ENOMEM - there is no memory
 */
int utrace_marker_arm(struct marker_owner *owner,
		      const struct marker_place *place, u32 *state, int *error)
{
	struct marker_mm *memory;
	struct mm_struct *mm;
	int ret;

	lockdep_assert_held(&owner->mutex);

	if (READ_ONCE(owner->nshares) >= MARKER_MAX_SHARES)
		return -ENOSPC;
	mm = marker_mm_of(owner);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	memory = utrace_marker_mm_get(mm, owner->process);
	ret = memory ? marker_arm(memory, owner, place) : -ENOMEM;
	if (!ret) {
		utrace_marker_settle_for(memory, false);
		if (READ_ONCE(memory->dirty))
			marker_ask(owner, mm);
		ret = marker_look(memory, owner, place, state, error);
	}
	if (memory)
		utrace_marker_mm_put(memory);
	mmput(mm);
	return ret;
}

/**
 * utrace_marker_arm_current() - arm a place in the current task's memory
 * @owner: the owner
 * @place: the place
 *
 * Nothing is written before utrace_marker_settle().  Without memory nothing is armed.
 *
 * Context: A callback, in the task itself; sleeps.
 */
void utrace_marker_arm_current(struct marker_owner *owner,
			       const struct marker_place *place)
{
	struct marker_mm *memory = utrace_marker_mm_get(current->mm,
							task_tgid(current));

	if (!memory)
		return;
	/* -EEXIST: another thread was first. */
	(void)!marker_arm(memory, owner, place);
	utrace_marker_mm_put(memory);
}

/* Disarming */

/*
 * Find memory in which an owner has a word, or any if @place is NULL.  Returns the
 * memory, with a reference, or NULL.
 */
static struct marker_mm *marker_find_memory(struct marker_owner *owner,
					    const struct marker_place *place)
{
	struct marker_share *share;

	guard(spinlock)(&owner->lock);
	list_for_each_entry(share, &owner->shares, of_owner)
		if ((!place || marker_is_same(&share->word->place, place)) &&
		    utrace_marker_mm_tryget(share->mm))
			return share->mm;
	return NULL;
}

/* An owner wants a word of some memory no more, or none of them. */
static void marker_leave(struct marker_mm *memory, struct marker_owner *owner,
			 const struct marker_place *place)
{
	struct marker_share *share;
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	list_for_each_entry(word, &memory->words, list) {
		if (place && !marker_is_same(&word->place, place))
			continue;
		share = marker_find_share(word, owner);
		if (!share || share->leaving)
			continue;
		word->want--;
		word->error = 0;
		WRITE_ONCE(memory->dirty, true);
		guard(spinlock)(&owner->lock);
		share->leaving = true;
		list_move_tail(&share->of_owner, &owner->leaving);
	}
}

/* Take back what was armed, in all memory; returns true if there was something. */
static bool marker_disarm(struct marker_owner *owner,
			  const struct marker_place *place)
{
	struct marker_mm *memory;
	bool found = false;

	while ((memory = marker_find_memory(owner, place))) {
		found = true;
		marker_leave(memory, owner, place);
		if (mmget_not_zero(memory->mm)) {
			utrace_marker_settle_for(memory, false);
			mmput(memory->mm);
		}
		utrace_marker_mm_put(memory);
	}
	if (found)
		utrace_marker_ask_all(owner);
	return found;
}

/**
 * utrace_marker_disarm() - take back a word of an owner, in all processes
 * @owner: the owner; its mutex is held
 * @place: the word
 *
 * Context: Process context; sleeps, but does not wait for a process, except for the
 * mmap_lock of one that has a site, until the caller is killed.
 * Return: 0, or -ENOENT if the owner has no such word.
 */
int utrace_marker_disarm(struct marker_owner *owner,
			 const struct marker_place *place)
{
	struct marker_place of_word = marker_of_word(place);

	lockdep_assert_held(&owner->mutex);

	return marker_disarm(owner, &of_word) ? 0 : -ENOENT;
}

/**
 * utrace_marker_disarm_all() - take back all words of an owner
 * @owner: the owner, which is closed
 *
 * Its engine is detached when all threads concerned have written the words.
 *
 * Context: Process context; sleeps, but does not wait for a process, except for the
 * mmap_lock of one that has a site, until the caller is killed.
 */
void utrace_marker_disarm_all(struct marker_owner *owner)
{
	scoped_guard(spinlock, &owner->lock)
		owner->closed = true;
	marker_disarm(owner, NULL);
	utrace_marker_detach_if_done(owner);
}

/* What changes in the memory */

/* What fork(2) copies of what was added to a word. */
static int marker_copied(struct mm_struct *mm, const struct marker_word *word)
{
	struct vm_area_struct *vma;

	if (marker_is_site(&word->place))
		return word->applied;
	vma = vma_lookup(mm, word->place.addr);
	return vma && !(vma->vm_flags & (VM_DONTCOPY | VM_WIPEONFORK)) ?
	       word->applied : 0;
}

/**
 * utrace_marker_inherit() - give words to memory that fork(2) copies
 * @parent: the words of the memory that is copied
 * @child: has no words yet
 * @words: as many empty words as @parent has shares
 * @shares: likewise, empty shares
 *
 * The copy has what was added to the words.  Owners that do not follow have a
 * share that leaves at once, so that somebody takes their part back.
 *
 * Context: dup_mmap(), with mmap_lock of both held for writing, and
 * marker_mm.lock of @parent.
 */
void utrace_marker_inherit(struct marker_mm *parent, struct marker_mm *child,
			   struct list_head *words, struct list_head *shares)
{
	struct marker_word *word, *copy;
	struct marker_share *share, *new;

	lockdep_assert_held(&parent->lock);

	/* Nobody else knows @child; marker_add_share() asks for the lock. */
	spin_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	list_for_each_entry(word, &parent->words, list) {
		copy = list_first_entry(words, struct marker_word, list);
		list_move_tail(&copy->list, &child->words);
		copy->place = word->place;
		copy->applied = marker_copied(parent->mm, word);
		copy->foreign = word->foreign;
		INIT_LIST_HEAD(&copy->shares);
		list_for_each_entry(share, &word->shares, of_word) {
			new = list_first_entry(shares, struct marker_share,
					       of_word);
			list_del(&new->of_word);
			marker_add_share(new, &share->place, copy, child,
					 share->owner,
					 share->leaving ||
						 !share->owner->follow);
		}
		/* The breakpoint may be there or not: have it changed in any case. */
		if (word->busy)
			copy->applied = !marker_wanted(copy);
		child->dirty = true;
	}
	spin_unlock(&child->lock);
}

/* Have the words of a range looked at again, at the next safe point. */
static void marker_look_again(struct marker_mm *memory, unsigned long start,
			      unsigned long end, bool lost)
{
	struct marker_share *share;
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	list_for_each_entry(word, &memory->words, list) {
		if (marker_is_site(&word->place) ||
		    word->place.addr < start || word->place.addr >= end ||
		    !(lost || word->error))
			continue;
		if (lost)
			word->applied = 0;
		word->error = 0;
		WRITE_ONCE(memory->dirty, true);
		list_for_each_entry(share, &word->shares, of_word) {
			struct utrace_engine *engine =
				utrace_marker_engine_get(share->owner);

			if (!engine)
				continue;
			/* -ESRCH: the tasks of this owner are dead. */
			(void)!utrace_control(NULL, engine, UTRACE_REPORT);
			utrace_engine_put(engine);
		}
	}
}

/**
 * utrace_marker_retry() - memory was mapped: words that have failed are tried again
 * @memory: the words
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: Process context, with mmap_lock held for writing.
 */
void utrace_marker_retry(struct marker_mm *memory, unsigned long start,
			 unsigned long end)
{
	marker_look_again(memory, start, end, false);
}

/**
 * utrace_marker_forget() - memory is unmapped, and with it what was added to words
 * @memory: the words
 * @start: begin of the range
 * @end: end of the range
 *
 * Context: Process context, with mmap_lock or the i_mmap_lock of a file held.
 */
void utrace_marker_forget(struct marker_mm *memory, unsigned long start,
			  unsigned long end)
{
	marker_look_again(memory, start, end, true);
}

/* Sites */

/**
 * utrace_marker_wants() - does memory want the breakpoint of a site?
 * @memory: the words
 * @site: the site
 *
 * Context: Process context.  Takes marker_mm.lock.
 * Return: true if an owner wants it.
 */
bool utrace_marker_wants(struct marker_mm *memory,
			 const struct marker_site *site)
{
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	list_for_each_entry(word, &memory->words, list)
		if (word->place.site == site)
			return word->want;
	return false;
}

/*
 * Owner number @n of those that want a site, and its event, both with references; or
 * NULL.
 */
static struct marker_owner *marker_nth_owner(struct marker_mm *memory,
					     const struct marker_site *site,
					     unsigned int n,
					     struct marker_event **event)
{
	struct marker_share *share;
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	list_for_each_entry(word, &memory->words, list) {
		if (word->place.site != site)
			continue;
		list_for_each_entry(share, &word->shares, of_word) {
			if (share->leaving || n--)
				continue;
			kref_get(&share->owner->ref);
			*event = share->place.event;
			utrace_marker_event_get(*event);
			return share->owner;
		}
	}
	return NULL;
}

/**
 * utrace_marker_hit() - tell all owners that want a site of a hit
 * @memory: the words of the current task's memory
 * @site: the site
 * @ip: address of the site
 * @regs: the registers there
 *
 * Context: The task that has hit the site, in a handler of uprobes.
 * Return: true if an owner was told.
 */
bool utrace_marker_hit(struct marker_mm *memory, struct marker_site *site,
		       unsigned long ip, struct pt_regs *regs)
{
	struct marker_event *event;
	struct marker_owner *owner;
	unsigned int n = 0;

	while ((owner = marker_nth_owner(memory, site, n, &event))) {
		utrace_marker_tell_hit(owner, event, ip, regs);
		utrace_marker_event_put(event);
		utrace_marker_owner_put(owner);
		n++;
	}
	return n;
}
