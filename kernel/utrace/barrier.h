/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - finding running callbacks and waiting for them
 */
#ifndef _KERNEL_UTRACE_BARRIER_H
#define _KERNEL_UTRACE_BARRIER_H

#include <linux/types.h>

struct utrace_engine;

bool utrace_is_running(struct utrace_engine *engine);
void utrace_count_callbacks(struct utrace_engine *engine);
bool utrace_in_callback(void);

#endif /* _KERNEL_UTRACE_BARRIER_H */
