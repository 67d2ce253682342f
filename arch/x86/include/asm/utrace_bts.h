/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: the branch trace store of processors of Intel
 */
#ifndef _ASM_X86_UTRACE_BTS_H
#define _ASM_X86_UTRACE_BTS_H

#include <linux/types.h>

struct debug_store;

#ifdef CONFIG_UTRACE_BTS_INTEL

/* Called by perf, kernel/utrace/branch/intel/cpu_test.c */
bool utrace_ds_interrupt(void);

/* arch/x86/events/intel/utrace_bts.c */
int utrace_ds_hold(void);
void utrace_ds_release(void);
bool utrace_ds_is_held(void);
struct debug_store *utrace_ds_store(unsigned int cpu);
void utrace_ds_restore(unsigned int cpu);
void utrace_ds_enable(void);
void utrace_ds_disable(void);
void utrace_ds_pause(void);
void utrace_ds_resume(void);
void utrace_ds_emergency_stop(void);
bool utrace_ds_is_there(void);

#else /* CONFIG_UTRACE_BTS_INTEL */

static inline bool utrace_ds_interrupt(void)
{
	return false;
}

static inline bool utrace_ds_is_held(void)
{
	return false;
}

static inline void utrace_ds_pause(void)
{
}

static inline void utrace_ds_resume(void)
{
}

static inline void utrace_ds_emergency_stop(void)
{
}

#endif /* CONFIG_UTRACE_BTS_INTEL */

#endif /* _ASM_X86_UTRACE_BTS_H */
