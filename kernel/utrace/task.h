/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - struct utrace and the event word of a task
 */
#ifndef _KERNEL_UTRACE_TASK_H
#define _KERNEL_UTRACE_TASK_H

#include "internal.h"

/*
 * Write the event word of a task, and the work bit that depends on it.  No
 * other function writes the work bit, so after a concurrent attach and detach
 * it still matches the word.  The caller holds utrace->lock of the task, or
 * utrace_bare_lock for a bare task, unless the task is not visible yet.
 */
static inline void utrace_write_word(struct task_struct *task,
				     unsigned long events)
{
	WRITE_ONCE(task->utrace_events, events);
	if (events & UTRACE_EVENT_SYSCALL)
		set_task_syscall_work(task, SYSCALL_UTRACE);
	else
		clear_task_syscall_work(task, SYSCALL_UTRACE);
}

struct utrace *utrace_alloc(gfp_t gfp);
unsigned int utrace_alloc_bulk(gfp_t gfp, unsigned int n, struct utrace **u);
void utrace_free(struct utrace *u);
void utrace_set_word(struct task_struct *task, unsigned long events);
unsigned long utrace_word_of(const struct utrace_set *set, u64 muted);
unsigned long utrace_word_now(struct task_struct *task, struct utrace *u);

extern spinlock_t utrace_bare_lock;
extern unsigned long utrace_kthread_events;
bool utrace_install(struct task_struct *task, struct utrace *u);
unsigned long utrace_bare_events_of(unsigned int task_flags);
unsigned long utrace_bare_events(struct task_struct *task);
bool utrace_refresh_bare(struct task_struct *task);
void utrace_want_renewal(struct task_struct *task);

#endif /* _KERNEL_UTRACE_TASK_H */
