/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - pins: a task names the set that it walks
 *
 * A pin is a hazard pointer that one task writes.  A pass over a system call
 * cannot afford a full barrier, so the task has compiler barriers only.  A
 * function that publishes a set, takes events away or looks for a running
 * callback calls utrace_membarrier() between its own store and its load; this stands
 * in for the barrier that the task leaves out:
 *
 *	task				other task
 *	pinned = set			utrace_set = new
 *	(compiler barrier)		utrace_membarrier()
 *	still task->utrace_set?		is the old set pinned?
 *
 * At least one of the two sees the store of the other.  bench/pin compiles this
 * header in user space, too.
 */
#ifndef _KERNEL_UTRACE_PIN_H
#define _KERNEL_UTRACE_PIN_H

struct utrace_set;

/**
 * utrace_pin_try() - pin a set if it is still the published one
 * @pinned: the pin of the task
 * @set: what @published was a moment ago; NULL can be pinned too
 * @published: where sets are published
 *
 * After a successful pin the task sees all that was written before
 * utrace_switch() published the set with a release store.
 *
 * Context: The task that owns the pin.
 * Return:
 * * true - @set is pinned
 * * false - @published has changed; the caller sets the pin again under
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
 * The caller reads utrace::flags after this, for what others left for the task
 * to do.
 *
 * Context: The task that owns the pin.
 */
static __always_inline void utrace_pin_drop(struct utrace_set **pinned)
{
	/* All that the walk read comes before its end. */
	smp_store_release(pinned, NULL);
	barrier(); /* Unpin before the flags; pairs with utrace_membarrier(). */
}

#endif /* _KERNEL_UTRACE_PIN_H */
