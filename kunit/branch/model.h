/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - a model of what each consumer of branches should get
 */
#ifndef _KERNEL_UTRACE_TESTS_BRANCH_MODEL_H
#define _KERNEL_UTRACE_TESTS_BRANCH_MODEL_H

#include <linux/types.h>
#include <linux/utrace_branch.h>

#include "../../branch/view.h"

/**
 * enum branch_event_type - kinds of events on a machine
 * @BRANCH_EVENT_BRANCH: a branch
 * @BRANCH_EVENT_TASK: a switch to another thread
 * @BRANCH_EVENT_GAP: branches were not recorded for a time
 */
enum branch_event_type {
	BRANCH_EVENT_BRANCH,
	BRANCH_EVENT_TASK,
	BRANCH_EVENT_GAP,
};

/**
 * struct branch_event - one entry of the diary of a machine
 * @record: the branch, or the record of a task
 * @pc: for a branch into the kernel by an instruction, the pseudo-address of
 *	the entry; else 0
 * @syscall: the branch is a system call
 * @type: enum branch_event_type
 * @cpu: number of the CPU
 * @thread: number of the thread
 * @cause: cause of a gap
 * @threads: the gap is in the streams of the thread only
 * @stored: the branch was recorded
 */
struct branch_event {
	struct utrace_branch record;
	u64 pc;
	bool syscall;
	u8 type;
	u8 cpu;
	u8 thread;
	u8 cause;
	bool threads;
	bool stored;
};

/**
 * struct branch_wanted - description of a consumer
 * @level: level that it wants
 * @of_cpu: it follows a CPU, else a thread
 * @id: number of the CPU or thread
 * @begin: number of its first event
 * @end: number of the first event after its last one
 * @off: recording was off when it was added
 * @finished: the thread has ended
 * @ideal: include branches that were not recorded
 */
struct branch_wanted {
	enum branch_level level;
	bool of_cpu;
	u8 id;
	unsigned int begin;
	unsigned int end;
	bool off;
	bool finished;
	bool ideal;
};

unsigned int branch_model(const struct branch_event *events,
			  const struct branch_wanted *wanted,
			  struct utrace_branch *records, unsigned int n);

#endif /* _KERNEL_UTRACE_TESTS_BRANCH_MODEL_H */
