/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the engine of a further tracer by ptrace(2)
 */
#ifndef _KERNEL_UTRACE_PTRACE_ENGINE_H
#define _KERNEL_UTRACE_PTRACE_ENGINE_H

#include <linux/signal_types.h>
#include <linux/types.h>

#include "ptracer.h"

struct task_struct;
struct utrace_engine_ops;

extern const struct utrace_engine_ops ptracer_ops;

void ptracer_report_stop(struct ptracer *p, struct task_struct *task,
			 enum ptracer_stop stop, int code, int why,
			 unsigned long message, const kernel_siginfo_t *info);
void ptracer_trap(struct ptracer *p, struct task_struct *task);
bool ptracer_trap_is_due(struct ptracer *p);
bool ptracer_listens_in_group_stop(const struct ptracer *p);
bool ptracer_take_made(struct ptracer *p, kernel_siginfo_t *info);
bool ptracer_group_stops(struct task_struct *task);

#endif /* _KERNEL_UTRACE_PTRACE_ENGINE_H */
