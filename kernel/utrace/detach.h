/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - detach: remove an engine from its tasks
 */
#ifndef _KERNEL_UTRACE_DETACH_H
#define _KERNEL_UTRACE_DETACH_H

#include "internal.h"

void utrace_uncover_work(struct work_struct *work);
void utrace_finish_detach(struct utrace_engine *engine);
bool utrace_detach(struct utrace_engine *engine);
void utrace_detach_later(struct utrace_engine *engine);
void utrace_detach_now(struct utrace_engine *engine);
void utrace_engine_end(struct utrace_engine *engine);

#endif /* _KERNEL_UTRACE_DETACH_H */
