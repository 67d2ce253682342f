/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: sources that record a CPU
 *
 * Such a source writes raw records of all branches of a CPU to memory, and
 * interrupts before this memory is full, as the branch trace store of a
 * processor does.  At most one source is in use.
 */
#ifndef _KERNEL_UTRACE_BRANCH_SOURCE_H
#define _KERNEL_UTRACE_BRANCH_SOURCE_H

#include "window.h"

/**
 * struct branch_source - a source that records a CPU
 * @id: enum utrace_branch_source
 * @ops: see struct branch_source_ops
 * @entries: entry points of the kernel
 * @begin: prepare a CPU and set @store to the addresses of its window.  Base
 *	and max must describe memory that the processor can write to.  The
 *	source owns both until @end.  Returns -EBUSY if another user holds what
 *	the source needs, or another error
 * @end: release what @begin has prepared
 *
 * @begin and @end are called in process context and may sleep; the CPU is
 *	online at @begin.  Constant.
 */
struct branch_source {
	u8 id;
	struct branch_source_ops ops;
	struct branch_entries entries;
	int (*begin)(unsigned int cpu, struct branch_store **store);
	void (*end)(unsigned int cpu);
};

/* cpu.c */
void utrace_branch_source_add(const struct branch_source *source);
bool utrace_branch_cpu_interrupt(void);
void utrace_branch_cpus_off(bool off);

#endif /* _KERNEL_UTRACE_BRANCH_SOURCE_H */
