/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: sources that record what a CPU does
 *
 * Such a source writes raw records of all that happens on a CPU to memory that it
 * is given, and interrupts before that is full, as the branch trace store of a
 * processor does.  There is one of them at most.
 */
#ifndef _KERNEL_UTRACE_BTS_SOURCE_H
#define _KERNEL_UTRACE_BTS_SOURCE_H

#include "window.h"

/**
 * struct bts_source - a source that records what a CPU does
 * @id: enum utrace_branch_source
 * @ops: see struct bts_source_ops
 * @entries: where the kernel is entered
 * @begin: get ready on a CPU, and set @store to the addresses of its window, of
 *	which base and max are those of memory that the processor can write to.
 *	All of that is the source's and stays until @end.  Returns -EBUSY if
 *	somebody else uses what the source needs, or another error
 * @end: the CPU is recorded no more
 *
 * @begin and @end are called in process context and may sleep; the CPU is online
 * at @begin.  Constant.
 */
struct bts_source {
	u8 id;
	struct bts_source_ops ops;
	struct bts_entries entries;
	int (*begin)(unsigned int cpu, struct bts_store **store);
	void (*end)(unsigned int cpu);
};

/* cpu.c */
void utrace_bts_source_add(const struct bts_source *source);
bool utrace_bts_cpu_interrupt(void);
void utrace_bts_cpus_off(bool off);

#endif /* _KERNEL_UTRACE_BTS_SOURCE_H */
