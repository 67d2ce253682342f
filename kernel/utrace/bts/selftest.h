/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: does a processor record as it should?
 */
#ifndef _KERNEL_UTRACE_BTS_SELFTEST_H
#define _KERNEL_UTRACE_BTS_SELFTEST_H

#include "window.h"

/* The known branches: one round of them, again and again. */
#define BTS_TEST_ROUND	4

struct bts_test;

/**
 * struct bts_test_ops - the processor, or what stands for it
 * @enable: record branches from here on
 * @disable: record none
 * @run: take the branches of bts_test.round, @rounds times; of the last round all
 *	but the last one
 */
struct bts_test_ops {
	void (*enable)(struct bts_test *test);
	void (*disable)(struct bts_test *test);
	void (*run)(struct bts_test *test, unsigned int rounds);
};

/**
 * enum bts_fault - what is wrong with a processor
 * @BTS_FAULT_NONE: nothing
 * @BTS_FAULT_STORE: the window has no room, or does not end at the end of a record
 * @BTS_FAULT_NOTHING: nothing was recorded
 * @BTS_FAULT_INDEX: the index is not at a record of the window
 * @BTS_FAULT_ADDRESS: a record has an address that is not the kernel's
 * @BTS_FAULT_INFO: a record has bits that have no meaning
 * @BTS_FAULT_ORDER: the branches that were taken are not there in their order
 * @BTS_FAULT_STOP: branches were recorded when it was disabled
 * @BTS_FAULT_SILENT: there was no interrupt at the threshold
 * @BTS_FAULT_LATE: the window was full before the interrupt came
 * @BTS_FAULT_BEYOND: something was recorded beyond the window
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
 * @store: its window; all of it but the base and the end is the test's
 * @round: the known branches, in their order
 * @records: number of records that the known branches have made
 * @late: number of records from the threshold to the interrupt
 * @interrupts: number of interrupts since the threshold was reached
 *
 * The CPU itself uses it, with interrupts off, and in the interrupt.
 */
struct bts_test {
	const struct bts_test_ops *ops;
	struct bts_store *store;
	struct utrace_branch round[BTS_TEST_ROUND];
	unsigned int records;
	unsigned int late;
	unsigned int interrupts;
};

enum bts_fault utrace_bts_test(struct bts_test *test);
bool utrace_bts_test_interrupt(struct bts_test *test);
const char *utrace_bts_fault_text(enum bts_fault fault);

#endif /* _KERNEL_UTRACE_BTS_SELFTEST_H */
