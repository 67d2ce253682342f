/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - publishing another set for a task
 */
#ifndef _KERNEL_UTRACE_PUBLISH_H
#define _KERNEL_UTRACE_PUBLISH_H

#include "internal.h"

void utrace_membarrier(struct utrace_engine *engine);
struct utrace_set *utrace_switch(struct task_struct *task, struct utrace *u,
				 struct utrace_set *set, u64 same, u64 muted,
				 bool ask);

/**
 * utrace_take_deferred() - take the deferred set of a task
 * @u: struct utrace of a task that does not have the deferred set pinned
 *
 * Context: @u->lock is held.  Called by the task itself, by its reaper, or by
 * utrace_update_drop_old(), which has checked the pin after
 * utrace_membarrier().
 * Return: the set, with its reference; or NULL if no set is deferred.
 */
static inline struct utrace_set *utrace_take_deferred(struct utrace *u)
{
	struct utrace_set *drop = u->deferred;

	lockdep_assert_held(&u->lock);

	u->deferred = NULL;
	u->flags &= ~UTRACE_TASK_DEFERRED;
	return drop;
}

#endif /* _KERNEL_UTRACE_PUBLISH_H */
