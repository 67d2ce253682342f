/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: settings of an instance
 */
#ifndef _KERNEL_UTRACE_FTRACE_SETTINGS_H
#define _KERNEL_UTRACE_FTRACE_SETTINGS_H

#include <linux/bits.h>
#include <linux/types.h>
#include <linux/utrace.h>

#include "../decode/table.h"

struct process_targets;
struct process_trace;
struct process_words;

/**
 * enum process_event - events that an instance may record or count
 * @PROCESS_SYS_ENTER: trace event utrace_sys_enter
 * @PROCESS_SYS_EXIT: trace event utrace_sys_exit
 * @PROCESS_FORK: trace event utrace_fork
 * @PROCESS_EXEC: trace event utrace_exec
 * @PROCESS_EXIT: trace event utrace_exit
 * @PROCESS_SIGNAL: trace event utrace_signal
 * @PROCESS_JOBCTL: trace event utrace_jobctl
 * @PROCESS_NRECORDS: number of the events above, which have records
 * @PROCESS_STAT: system calls are counted in process/stat; has no record
 * @PROCESS_CPU: the CPU time of the counted calls is measured; has no record
 * @PROCESS_NEVENTS: number of all events
 */
enum process_event {
	PROCESS_SYS_ENTER,
	PROCESS_SYS_EXIT,
	PROCESS_FORK,
	PROCESS_EXEC,
	PROCESS_EXIT,
	PROCESS_SIGNAL,
	PROCESS_JOBCTL,
	PROCESS_NRECORDS,
	PROCESS_STAT = PROCESS_NRECORDS,
	PROCESS_CPU,
	PROCESS_NEVENTS
};

/* Kinds of targets; each is a row of the table in targets.c. */
enum process_target_type {
	PROCESS_COMMS,
	PROCESS_EXES,
	PROCESS_UIDS,
	PROCESS_CGROUPS,
	PROCESS_NTARGETS
};

/* Words of the file stacks. */
enum process_stack {
	PROCESS_STACK_NONE,
	PROCESS_STACK_FRAMES,
	PROCESS_STACK_RAW,
	PROCESS_NSTACKS
};

/*
 * Size of a bitmap of system calls.  Its first half is for the numbers of the
 * native table, its second half for those of the 32-bit table.
 */
#define PROCESS_CALLS	1024

/**
 * struct process_settings - what an instance follows and records
 * @events: BIT() of enum process_event
 * @args: UTRACE_CAPTURE_ bits for the arguments of system calls
 * @stack: kind of stack that is captured
 * @chosen: only the system calls in @calls are followed
 * @calls: system calls that are followed if @chosen
 * @entry_args: system calls with something to capture at the entry; all calls
 *	if a stack is captured.  Derived from @args and @stack.
 * @exit_args: system calls with something to capture at the exit.  Derived from
 *	@args.
 * @targets: the targets of each kind, counted; NULL: none
 *
 * A write to a file of the folder process/ changes a copy of the settings.  The
 * copy replaces the settings once the engine follows it; see settings.c.
 */
struct process_settings {
	unsigned long events;
	unsigned int args;
	enum process_stack stack;
	bool chosen;
	DECLARE_BITMAP(calls, PROCESS_CALLS);
	DECLARE_BITMAP(entry_args, PROCESS_CALLS);
	DECLARE_BITMAP(exit_args, PROCESS_CALLS);
	struct process_targets *targets[PROCESS_NTARGETS];
};

/*
 * Index of a call in the bitmaps of calls; @nr is as for utrace_call_of().
 * Numbers without their own bit share the last bit of their half, which no call
 * uses.
 */
static inline unsigned int process_call_bit(unsigned int nr)
{
	unsigned int bit = nr & ~(UTRACE_SYSCALL_IA32 | UTRACE_X32_BIT);

	if (bit >= PROCESS_CALLS / 2)
		bit = PROCESS_CALLS / 2 - 1;
	return nr & UTRACE_SYSCALL_IA32 ? PROCESS_CALLS / 2 + bit : bit;
}

/* Number of the call of a bit. */
static inline unsigned int process_call_nr(unsigned int bit)
{
	return bit < PROCESS_CALLS / 2 ? bit :
	       (bit - PROCESS_CALLS / 2) | UTRACE_SYSCALL_IA32;
}

void utrace_ftrace_init_settings(struct process_settings *settings);
int utrace_ftrace_apply(struct process_trace *pt,
			const struct process_settings *settings);
int utrace_ftrace_change(struct process_trace *pt, struct process_words *words);

#endif /* _KERNEL_UTRACE_FTRACE_SETTINGS_H */
