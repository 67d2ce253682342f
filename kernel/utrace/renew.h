/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a task renews its set, or takes its first one
 */
#ifndef _KERNEL_UTRACE_RENEW_H
#define _KERNEL_UTRACE_RENEW_H

#include "set.h"

u64 utrace_ask(const struct utrace_set *set, const struct utrace_set *old);
bool utrace_renew(void);
void utrace_count_lost(const struct utrace_set *set, unsigned long events);
bool __utrace_adopt(unsigned long events);

/**
 * utrace_adopt() - give the current task a struct utrace if an engine wants it
 * @events: UTRACE_EVENT() bits that include the event to be reported, which is
 *	counted as lost if there is no memory
 *
 * Context: The task itself, may sleep.
 * Return:
 * * true - the task has a struct utrace
 * * false - the task has none: no engine wants its events, all engines reject
 *   the task, or there is no memory
 */
static inline bool utrace_adopt(unsigned long events)
{
	return likely(current->utrace) || __utrace_adopt(events);
}

#endif /* _KERNEL_UTRACE_RENEW_H */
