// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: bits that the kernel itself sets
 *
 * A part of the kernel (user_events) has an owner of words without a target.
 * The owner has an engine on the process that has asked for it, and on all its
 * descendants, which inherit the words together with the memory.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/smp.h>
#include <linux/utrace.h>
#include <linux/utrace_words.h>

#include "disarm.h"
#include "engine.h"
#include "find.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "word.h"
#include "write.h"

/* Number of attempts of utrace_words_reset() to get a page. */
#define WORDS_TRIES	10

/*
 * Find the owner that a parent or another thread of the current process has
 * created, or NULL.  So a process has one engine for this, however many
 * programs it executes.
 */
static struct marker_owner *words_of_parent(void)
{
	struct utrace_engine *engine;
	struct marker_owner *words;

	engine = utrace_attach_task(current, UTRACE_ATTACH_MATCH_OPS |
				    UTRACE_ATTACH_ANY_SCOPE,
				    &utrace_marker_kernel_ops, NULL);
	if (IS_ERR(engine))
		return NULL;
	words = utrace_words_get(engine->data);
	utrace_engine_put(engine);
	return words;
}

/**
 * utrace_words_new() - get an owner for setting bits in the current process
 *
 * Context: Process context; sleeps.
 * Return: a handle for the other functions, to be released by
 * utrace_words_put(); NULL if the user or the process has too many engines, or
 * out of memory.
 */
struct marker_owner *utrace_words_new(void)
{
	struct marker_owner *words = words_of_parent();

	if (!words)
		words = utrace_marker_owner_of_kernel();
	return IS_ERR(words) ? NULL : words;
}

/**
 * utrace_words_get() - take a reference
 * @words: what utrace_words_new() has returned
 *
 * Context: Any.
 * Return: @words, or NULL if the last reference is gone.
 */
struct marker_owner *utrace_words_get(struct marker_owner *words)
{
	return refcount_inc_not_zero(&words->users) ? words : NULL;
}

/**
 * utrace_words_put() - drop a reference
 * @words: what utrace_words_new() has returned
 *
 * The last reference leaves all bits as they are.
 *
 * Context: Process context; sleeps, but waits for no process.
 */
void utrace_words_put(struct marker_owner *words)
{
	if (!refcount_dec_and_test(&words->users))
		return;
	utrace_marker_disarm_all(words);
	utrace_marker_owner_put(words);
}

/*
 * Check whether there is room to want a bit.  A bit that is wanted already
 * needs none.
 */
static bool words_have_room(const struct marker_owner *words,
			    struct marker_mm *memory,
			    const struct marker_place *place)
{
	if (READ_ONCE(words->nshares) < MARKER_MAX_SHARES)
		return true;
	guard(spinlock)(&memory->lock);
	return utrace_marker_share_at(memory, words, place);
}

/* Want a bit.  Returns false if there is no room or no memory. */
static bool words_add(struct marker_owner *words, struct marker_mm *memory,
		      const struct marker_place *place)
{
	/* -EEXIST: it is wanted already. */
	return words_have_room(words, memory, place) &&
	       utrace_marker_want(memory, words, place) != -ENOMEM;
}

/**
 * utrace_words_want() - want a bit, or no longer want it
 * @words: what utrace_words_new() has returned
 * @mm: address space of a process that has called utrace_words_new(), or of a
 *	descendant; the caller has counted it by mmgrab()
 * @pid: the process that uses it
 * @bit: the bit
 * @on: want the bit
 *
 * Nothing is written before utrace_words_settle().  If there is no memory for
 * the bit, or if @words has 65536 other bits, it is not wanted.  Its state is
 * %UTRACE_BIT_FAILED then, with ENOMEM.
 *
 * Context: Process context; sleeps.
 */
void utrace_words_want(struct marker_owner *words, struct mm_struct *mm,
		       struct pid *pid, const struct utrace_bit *bit, bool on)
{
	struct marker_place place = marker_of_bit(bit);
	struct marker_mm *memory;

	if (!mmget_not_zero(mm))
		return;
	memory = on ? utrace_marker_mm_get(mm, pid) : utrace_marker_mm_find(mm);
	if (memory)
		utrace_marker_mm_born(memory, pid);
	if (on && (!memory || !words_add(words, memory, &place)))
		WRITE_ONCE(words->lacking, true);
	else if (memory && !on)
		utrace_marker_leave(memory, words, &place);
	if (memory)
		utrace_marker_mm_put(memory);
	mmput_async(mm);
}

/**
 * utrace_words_leave() - no longer want any bit of an address space
 * @words: what utrace_words_new() has returned
 * @mm: the address space; the caller has counted it by mmgrab()
 *
 * Nothing is written before utrace_words_settle().
 *
 * Context: Process context; sleeps.
 */
void utrace_words_leave(struct marker_owner *words, struct mm_struct *mm)
{
	struct marker_mm *memory = utrace_marker_mm_find(mm);

	if (!memory)
		return;
	utrace_marker_leave(memory, words, NULL);
	utrace_marker_mm_put(memory);
}

/**
 * utrace_words_abandon() - no longer want a bit, but leave it as it is
 * @words: what utrace_words_new() has returned
 * @mm: the address space; the caller has counted it by mmgrab()
 * @bit: the bit
 *
 * If the bit was no longer wanted before, but is still set,
 * utrace_words_settle() clears it.
 *
 * Context: Process context; sleeps.
 */
void utrace_words_abandon(struct marker_owner *words, struct mm_struct *mm,
			  const struct utrace_bit *bit)
{
	struct marker_place place = marker_of_bit(bit);
	struct marker_mm *memory = utrace_marker_mm_find(mm);

	if (!memory)
		return;
	utrace_marker_abandon(memory, words, &place);
	utrace_marker_mm_put(memory);
}

/*
 * Write what can be written at once.  Returns true if threads must write the
 * rest.
 */
static bool words_write(struct marker_owner *words, struct mm_struct *mm)
{
	struct marker_mm *memory;
	bool left = false;

	if (!mmget_not_zero(mm))
		return false;
	memory = utrace_marker_mm_find(mm);
	if (memory) {
		utrace_marker_settle_words(memory, words, false, false);
		left = marker_is_dirty(memory);
		utrace_marker_mm_put(memory);
	}
	mmput_async(mm);
	return left;
}

/**
 * utrace_words_settle() - write the wanted bits
 * @words: what utrace_words_new() has returned
 * @mm: the address space; the caller has counted it by mmgrab()
 *
 * When this returns, no user code runs in this address space until the bits
 * that can be written are written, except for those that are held
 * (utrace_hold()).
 *
 * Context: Process context; sleeps for memory, but waits for no process.
 */
void utrace_words_settle(struct marker_owner *words, struct mm_struct *mm)
{
	if (words_write(words, mm))
		utrace_marker_ask_all(words, true);
}

/**
 * utrace_words_write() - write what can be written at once in one of several
 * address spaces
 * @words: what utrace_words_new() has returned
 * @mm: one of the address spaces; the caller has counted it by mmgrab()
 *
 * This is the first half of utrace_words_settle().  The second half asks all
 * processes of @words, which takes time in proportion to their number.
 * utrace_words_ask() does it once for all address spaces.
 *
 * Context: As utrace_words_settle().  The caller serializes the calls of this
 * and of utrace_words_ask().
 */
void utrace_words_write(struct marker_owner *words, struct mm_struct *mm)
{
	if (words_write(words, mm))
		words->left = true;
}

/**
 * utrace_words_ask() - make threads write what utrace_words_write() could not
 * @words: what utrace_words_new() has returned
 *
 * After this, all address spaces for which utrace_words_write() was called are
 * as after utrace_words_settle().  May be called for each of them: only the
 * first call asks.
 *
 * Context: As utrace_words_write().
 */
void utrace_words_ask(struct marker_owner *words)
{
	if (!words->left)
		return;
	words->left = false;
	utrace_marker_ask_all(words, true);
}

/**
 * utrace_words_state() - get the state of a bit
 * @words: what utrace_words_new() has returned
 * @mm: the address space; the caller has counted it by mmgrab()
 * @bit: the bit
 * @error: gets why the bit cannot be set, an errno, or 0
 *
 * Context: Any but NMI.
 * Return: enum utrace_bit_state.
 */
enum utrace_bit_state utrace_words_state(struct marker_owner *words,
					 struct mm_struct *mm,
					 const struct utrace_bit *bit,
					 int *error)
{
	static const u8 states[] = {
		[UTRACE_ARM_STATE_ARMED]	= UTRACE_BIT_SET,
		[UTRACE_ARM_STATE_PENDING]	= UTRACE_BIT_PENDING,
		[UTRACE_ARM_STATE_FAILED]	= UTRACE_BIT_FAILED,
		[UTRACE_ARM_STATE_LEAVING]	= UTRACE_BIT_OFF,
	};
	struct marker_mm *memory = utrace_marker_mm_find(mm);
	struct marker_place place = marker_of_bit(bit);
	struct marker_share *share = NULL;
	u32 state = UTRACE_ARM_STATE_LEAVING;

	*error = 0;
	if (memory) {
		scoped_guard(spinlock, &memory->lock) {
			share = utrace_marker_share_at(memory, words, &place);
			if (share)
				state = utrace_marker_state(share, error);
		}
		utrace_marker_mm_put(memory);
	}
	if (!share && READ_ONCE(words->lacking)) {
		*error = ENOMEM;
		state = UTRACE_ARM_STATE_FAILED;
	}
	return states[state];
}

/*
 * Note that a bit in the current address space is being cleared.  Returns false
 * if it is wanted.
 */
static bool words_note_cleared(const struct marker_place *place)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct marker_word *word;
	bool wanted;

	if (!memory)
		return true;
	scoped_guard(spinlock, &memory->lock) {
		word = utrace_marker_find(memory, place);
		wanted = word && marker_wanted(word);
		if (!word)
			break;
		/* The program gives the bit to the kernel again. */
		word->foreign = false;
		if (!wanted)
			word->applied = 0;
	}
	utrace_marker_mm_put(memory);
	return !wanted;
}

/*
 * Check whether the page of a bit is in memory, and with @clear clear the bit
 * unless it is wanted.  mmap_lock is held for writing, so no other task writes
 * words.  Returns 0 or -EAGAIN.
 */
static int words_clear(unsigned long addr, const struct marker_place *place,
		       bool clear)
{
	struct page *page;
	void *map;

	mmap_assert_write_locked(current->mm);

	if (get_user_pages_remote(current->mm, addr, 1,
				  FOLL_WRITE | FOLL_NOFAULT, &page, NULL) != 1)
		return -EAGAIN;
	if (clear && words_note_cleared(place)) {
		map = kmap_local_page(page);
		atomic_andnot(BIT(place->bit % 32), map + offset_in_page(addr));
		kunmap_local(map);
		set_page_dirty_lock(page);
	}
	put_page(page);
	return 0;
}

/**
 * utrace_words_reset() - clear a bit of the current process unless it is wanted
 * @bit: the bit
 * @clear: clear it; else only check whether its word is writable
 *
 * Context: Process context; sleeps for page faults, which user space can delay
 * without limit, so the caller must not hold locks that other tasks need.
 * Return: 0, -EFAULT if the word is not writable, or -EINTR if the task was
 * killed.
 */
int utrace_words_reset(const struct utrace_bit *bit, bool clear)
{
	struct marker_place place = marker_of_bit(bit);
	unsigned long addr = bit->addr + bit->bit / 32 * sizeof(u32);
	unsigned int tries = WORDS_TRIES;
	int ret;

	while (tries--) {
		if (fault_in_safe_writeable((const char __user *)addr,
					    sizeof(u32)))
			return -EFAULT;
		if (mmap_write_lock_killable(current->mm))
			return -EINTR;
		ret = words_clear(addr, &place, clear);
		mmap_write_unlock(current->mm);
		if (!ret)
			return 0;
	}
	return -EFAULT;
}
