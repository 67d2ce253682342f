/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the stop of a task
 */
#ifndef _KERNEL_UTRACE_STOP_H
#define _KERNEL_UTRACE_STOP_H

#include "internal.h"

enum utrace_stop_where {
	UTRACE_STOP_FIRM,	/* ptrace waits until engines let go */
	UTRACE_STOP_PERMEABLE,	/* ends for ptrace traps and signals */
	UTRACE_STOP_TRAPS,	/* ends for ptrace traps only */
	UTRACE_STOP_SERVES,	/* serves ptrace traps, then continues */
	UTRACE_STOP_JCTL,	/* as PERMEABLE, after a report of JCTL */
};

/* Why a stop ended. */
enum utrace_stop_end {
	UTRACE_LET_GO,		/* no engine holds the task */
	UTRACE_LEFT,		/* for ptrace; an engine still holds the task */
	UTRACE_BROKEN,		/* the task may not stop, or is killed */
};

enum utrace_stop_end utrace_stop(struct utrace *u,
				 enum utrace_stop_where where);

/* freeze.c */
void __utrace_stay_frozen(void);

#endif /* _KERNEL_UTRACE_STOP_H */
