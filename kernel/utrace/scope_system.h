/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the table of system engines
 */
#ifndef _KERNEL_UTRACE_SCOPE_SYSTEM_H
#define _KERNEL_UTRACE_SCOPE_SYSTEM_H

#include "internal.h"

/**
 * struct utrace_system - the table of system engines
 * @rcu: frees the table when readers under RCU are done
 * @slots: slots in use, counted from 0; UTRACE_SYSTEM_SLOT is added in a set
 * @all: the slots in use, in the order of attach
 * @n: number of elements of @all
 * @engine: by slot, the engine
 *
 * Immutable.  A change makes a copy and publishes it under utrace_engine_lock.
 * Readers are under RCU; a reader that uses an engine after rcu_read_unlock()
 * takes a reference to its memory (utrace_shell_tryget()).
 */
struct utrace_system {
	struct rcu_head rcu;
	u32 slots;
	u8 all[UTRACE_MAX_SYSTEM];
	unsigned int n;
	struct utrace_engine *engine[UTRACE_MAX_SYSTEM];
};

extern struct utrace_system __rcu *utrace_system;
extern unsigned int utrace_system_gen;
bool utrace_system_reaches(struct utrace_engine *engine, bool kthread);
void utrace_system_refresh(void);
void utrace_system_recount(void);
int utrace_system_change(struct utrace_engine *engine);

#endif /* _KERNEL_UTRACE_SCOPE_SYSTEM_H */
