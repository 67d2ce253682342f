// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: arming words of an owner's process
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
#include <linux/err.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/utrace.h>

#include "../viewer.h"
#include "find.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "process.h"
#include "word.h"
#include "write.h"

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
