/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - pins: hazard pointers for the sets that tasks walk
 *
 * Only the task itself writes its pin.  A full barrier in each system call
 * would be too expensive, so the task has only compiler barriers.  A function
 * that publishes a set, removes events or checks for a running callback calls
 * utrace_membarrier() between its store and its load, which executes the full
 * barrier in the place of the task:
 *
 *	task				other task
 *	pinned = set			utrace_set = new
 *	(compiler barrier)		utrace_membarrier()
 *	still task->utrace_set?		is the old set pinned?
 *
 * At least one of the two sees the store of the other.  bench/pin also compiles
 * this header, in user space.
 */
#ifndef _KERNEL_UTRACE_PIN_H
#define _KERNEL_UTRACE_PIN_H

struct utrace_set;

/**
 * utrace_pin_try() - pin a set if it is still the published one
 * @pinned: the pin of the task
 * @set: the value of *@published that the caller has read; may be NULL
 * @published: where sets are published
 *
 * After a successful pin the task sees all stores before the release store by
 * which utrace_switch() published the set.
 *
 * Context: The task that owns the pin.
 * Return:
 * * true - @set is pinned
 * * false - *@published has changed; the caller sets the pin again under
 *   utrace->lock, or drops the pin
 */
static __always_inline bool utrace_pin_try(struct utrace_set **pinned,
					   struct utrace_set *set,
					   struct utrace_set **published)
{
	WRITE_ONCE(*pinned, set);
	barrier(); /* Pin before the load; pairs with utrace_membarrier(). */
	/* A plain load, so that it can be an operand of the comparison. */
	if (unlikely(set != data_race(*published)))
		return false;
	smp_acquire__after_ctrl_dep();
	return true;
}

/**
 * utrace_pin_drop() - drop the pin at the end of a walk
 * @pinned: the pin of the task
 *
 * The caller reads utrace::flags after this, for work that other tasks have
 * left to the task.
 *
 * Context: The task that owns the pin.
 */
static __always_inline void utrace_pin_drop(struct utrace_set **pinned)
{
	/* The loads of the walk before its end. */
	smp_store_release(pinned, NULL);
	barrier(); /* Unpin before the flags; pairs with utrace_membarrier(). */
}

#endif /* _KERNEL_UTRACE_PIN_H */
