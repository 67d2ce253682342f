/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - references to an engine
 */
#ifndef _KERNEL_UTRACE_ENGINE_H
#define _KERNEL_UTRACE_ENGINE_H

#include "internal.h"

extern spinlock_t utrace_engine_lock;

bool utrace_core_tryget(struct utrace_engine *engine);
void utrace_core_put(struct utrace_engine *engine);
bool utrace_core_gone(struct utrace_engine *engine);
void utrace_shell_get(struct utrace_engine *engine);
bool utrace_shell_tryget(struct utrace_engine *engine);
void utrace_shell_put(struct utrace_engine *engine);
void utrace_engine_touch(struct utrace_engine *engine);
pid_t utrace_engine_pid(struct utrace_engine *engine);
unsigned int utrace_state_of_flags(int flags);
struct utrace_engine *
utrace_engine_alloc(struct task_struct *target, int flags,
		    const struct utrace_engine_ops *ops, void *data,
		    work_func_t uncover);

#endif /* _KERNEL_UTRACE_ENGINE_H */
