/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - pins: a task says which set it walks
 *
 * A pin is a hazard pointer with one writer, the task.  The pass of a system
 * call cannot afford a full barrier, so the two sides are not alike: the task
 * has compiler barriers only, and whoever publishes a set, takes events away or
 * looks for a running callback calls utrace_heavy() between its store and its
 * look, which makes up for the barrier that the task left out:
 *
 *	task				other
 *	pinned = set			utrace_set = new
 *	(compiler barrier)		utrace_heavy()
 *	still task->utrace_set?		is the old set pinned?
 *
 * One of the two sees the other's store.  This header is compiled in user space
 * too, by the program that measures it.
 */
#ifndef _KERNEL_UTRACE_PIN_H
#define _KERNEL_UTRACE_PIN_H

struct utrace_set;

/**
 * utrace_pin_try - pin a set if it is still the published one
 * @pinned: the task's pin
 * @set: what was published a moment ago
 * @published: where sets are published
 *
 * The acquire pairs with the release of the store that publishes: what was
 * written before that is seen with the set.
 *
 * Context: The task that owns the pin.
 * Return: true if @set is pinned; else the pin is to be corrected under the lock
 * of whoever publishes.
 */
static __always_inline bool utrace_pin_try(struct utrace_set **pinned,
					   struct utrace_set *set,
					   struct utrace_set **published)
{
	WRITE_ONCE(*pinned, set);
	barrier();	/* Pairs with utrace_heavy(). */
	/* A plain load, which can be part of the comparison. */
	if (unlikely(set != data_race(*published)))
		return false;
	smp_acquire__after_ctrl_dep();
	return true;
}

/**
 * utrace_pin_drop - the end of a walk
 * @pinned: the task's pin
 *
 * What others left for the task to do is to be read after this.
 *
 * Context: The task that owns the pin.
 */
static __always_inline void utrace_pin_drop(struct utrace_set **pinned)
{
	/* The walk is over for those who see this. */
	smp_store_release(pinned, NULL);
	barrier();	/* Pairs with utrace_heavy(). */
}

#endif /* _KERNEL_UTRACE_PIN_H */
