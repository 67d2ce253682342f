/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - holds, and waking and interrupting a task
 */
#ifndef _KERNEL_UTRACE_WAKE_H
#define _KERNEL_UTRACE_WAKE_H

#include "internal.h"

/*
 * Check whether an engine holds the current task.  If none does, the task sees
 * the steps that were requested before the last hold ended.
 */
static inline bool utrace_is_held(const struct utrace *u)
{
	/* Read the holds before the steps; pairs with utrace_end_hold(). */
	return smp_load_acquire(&u->hold);
}

/* End the holds @bits of a task, whose ->step was written before. */
static inline void utrace_end_hold(struct utrace *u, u64 bits)
{
	lockdep_assert_held(&u->lock);
	/* Write the steps before the holds; pairs with utrace_is_held(). */
	smp_store_release(&u->hold, u->hold & ~bits);
}

void utrace_wake_unheld(struct task_struct *task, struct utrace *u);
void utrace_interrupt(struct task_struct *task);
void utrace_trap_group_stopped(struct task_struct *task);

/*
 * The bits that make a task take part in the present group stop.  siglock is
 * held.
 */
static inline unsigned long utrace_group_stop_bits(struct task_struct *task)
{
	return JOBCTL_STOP_PENDING | (task->jobctl & JOBCTL_STOP_SIGMASK ?: SIGSTOP);
}

#endif /* _KERNEL_UTRACE_WAKE_H */
