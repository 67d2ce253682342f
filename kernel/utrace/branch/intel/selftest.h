/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: self-test of a processor that records branches
 */
#ifndef _KERNEL_UTRACE_BRANCH_SELFTEST_H
#define _KERNEL_UTRACE_BRANCH_SELFTEST_H

#include "../window.h"

/* Number of known branches in one iteration of the test loop. */
#define BTS_TEST_ROUND	4

struct bts_test;

/**
 * struct bts_test_ops - the processor or its replacement in a test
 * @enable: start to record branches
 * @disable: stop to record branches
 * @run: take the known branches @rounds times, except for the last branch of
 *	the last iteration, and fill in bts_test.round
 */
struct bts_test_ops {
	void (*enable)(struct bts_test *test);
	void (*disable)(struct bts_test *test);
	void (*run)(struct bts_test *test, unsigned int rounds);
};

/**
 * enum bts_fault - faults that the self-test finds
 * @BTS_FAULT_NONE: no fault
 * @BTS_FAULT_STORE: the window is too small or not a whole number of records
 * @BTS_FAULT_NOTHING: nothing was recorded
 * @BTS_FAULT_INDEX: the index is not at a record of the window
 * @BTS_FAULT_ADDRESS: a record has an address that is not the kernel's
 * @BTS_FAULT_INFO: a record has bits that have no meaning
 * @BTS_FAULT_ORDER: the known branches are missing or in the wrong order
 * @BTS_FAULT_STOP: branches were recorded while recording was disabled
 * @BTS_FAULT_SILENT: no interrupt came after the threshold
 * @BTS_FAULT_LATE: the window was full before the interrupt came
 * @BTS_FAULT_BEYOND: records were written beyond the window
 */
enum bts_fault {
	BTS_FAULT_NONE,
	BTS_FAULT_STORE,
	BTS_FAULT_NOTHING,
	BTS_FAULT_INDEX,
	BTS_FAULT_ADDRESS,
	BTS_FAULT_INFO,
	BTS_FAULT_ORDER,
	BTS_FAULT_STOP,
	BTS_FAULT_SILENT,
	BTS_FAULT_LATE,
	BTS_FAULT_BEYOND,
};

#define BTS_FAULTS	(BTS_FAULT_BEYOND + 1)

/**
 * struct bts_test - a test of one CPU
 * @ops: the processor
 * @store: the window of the CPU.  The test changes all members but base and max
 * @round: the known branches, in their order
 * @records: number of records from the run with known branches
 * @late: number of records from the threshold to the interrupt
 * @interrupts: number of interrupts since the threshold was reached
 *
 * Used by the CPU itself, with interrupts off or in the interrupt.
 */
struct bts_test {
	const struct bts_test_ops *ops;
	struct branch_store *store;
	struct utrace_branch round[BTS_TEST_ROUND];
	unsigned int records;
	unsigned int late;
	unsigned int interrupts;
};

enum bts_fault utrace_bts_test(struct bts_test *test);
bool utrace_bts_test_interrupt(struct bts_test *test);
const char *utrace_bts_fault_text(enum bts_fault fault);

#endif /* _KERNEL_UTRACE_BRANCH_SELFTEST_H */
