// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: self-test of a processor that records branches
 *
 * A CPU takes known branches and checks what was recorded.  Other branches may
 * be recorded between them: those of the functions that enable and disable, and
 * of an NMI.
 */
#include <linux/array_size.h>
#include <linux/compiler.h>

#include "selftest.h"

#define BTS_RECORD	sizeof(struct utrace_branch)

/* Iterations of the known branches whose records are checked. */
#define BTS_TEST_ROUNDS	8

/* Number of known records from these iterations. */
#define BTS_TEST_RECORDS	(BTS_TEST_ROUNDS * BTS_TEST_ROUND - 1)

/* Branches to take beyond a full window, to detect records beyond it. */
#define BTS_TEST_MORE	64

static unsigned int bts_test_size(const struct branch_store *store)
{
	return (store->max - store->base) / BTS_RECORD;
}

static bool bts_test_has_room(const struct branch_store *store)
{
	return store->base && store->base < store->max &&
	       (store->max - store->base) % BTS_RECORD == 0 &&
	       bts_test_size(store) > 2 * BRANCH_MARGIN;
}

/* Empty the window, and set the threshold as windows do. */
static void bts_test_reset(struct branch_store *store)
{
	WRITE_ONCE(store->index, store->base);
	WRITE_ONCE(store->threshold, store->max - BRANCH_MARGIN * BTS_RECORD);
}

/* Bits 63 to 56 of a kernel address are set, also with five-level paging. */
static bool bts_test_is_kernel(u64 address)
{
	return (s64)address >> 56 == -1;
}

static enum bts_fault bts_test_record(const struct utrace_branch *record)
{
	if (!bts_test_is_kernel(record->from) ||
	    !bts_test_is_kernel(record->to))
		return BTS_FAULT_ADDRESS;
	if (record->info & ~(u64)UTRACE_BRANCH_PREDICTED)
		return BTS_FAULT_INFO;
	return BTS_FAULT_NONE;
}

/* Index of a known branch; BTS_TEST_ROUND for other branches. */
static unsigned int bts_test_find(const struct bts_test *test,
				  const struct utrace_branch *record)
{
	unsigned int i;

	for (i = 0; i < BTS_TEST_ROUND; i++)
		if (record->from == test->round[i].from &&
		    record->to == test->round[i].to)
			break;
	return i;
}

/* Check @n records. */
static enum bts_fault bts_test_records(const struct bts_test *test,
				       const struct utrace_branch *record,
				       unsigned int n)
{
	unsigned int seen = 0, known;
	enum bts_fault fault;

	for (; n; n--, record++) {
		fault = bts_test_record(record);
		if (fault)
			return fault;
		known = bts_test_find(test, record);
		if (known == BTS_TEST_ROUND)
			continue;
		if (known != seen % BTS_TEST_ROUND)
			return BTS_FAULT_ORDER;
		seen++;
	}
	return seen == BTS_TEST_RECORDS ? BTS_FAULT_NONE : BTS_FAULT_ORDER;
}

/* Test that known branches are recorded. */
static enum bts_fault bts_test_known(struct bts_test *test)
{
	struct branch_store *store = test->store;
	u64 index;

	bts_test_reset(store);
	test->ops->enable(test);
	test->ops->run(test, BTS_TEST_ROUNDS);
	test->ops->disable(test);
	index = READ_ONCE(store->index);
	if (index == store->base)
		return BTS_FAULT_NOTHING;
	if (index < store->base || index > store->max ||
	    (index - store->base) % BTS_RECORD)
		return BTS_FAULT_INDEX;
	test->records = (index - store->base) / BTS_RECORD;
	return bts_test_records(test,
				(const void *)(unsigned long)store->base,
				test->records);
}

/* Test that nothing is recorded while recording is disabled. */
static enum bts_fault bts_test_stop(struct bts_test *test)
{
	u64 index = READ_ONCE(test->store->index);

	test->ops->run(test, BTS_TEST_ROUNDS);
	return READ_ONCE(test->store->index) == index ? BTS_FAULT_NONE :
	       BTS_FAULT_STOP;
}

/* Test that an interrupt comes before the window is full. */
static enum bts_fault bts_test_threshold(struct bts_test *test)
{
	struct branch_store *store = test->store;
	unsigned int rounds = (bts_test_size(store) + BTS_TEST_MORE) /
			      BTS_TEST_ROUND;

	WRITE_ONCE(test->interrupts, 0);
	bts_test_reset(store);
	test->ops->enable(test);
	for (; rounds && !READ_ONCE(test->interrupts); rounds--)
		test->ops->run(test, 2);
	test->ops->disable(test);
	if (READ_ONCE(store->index) > store->max)
		return BTS_FAULT_BEYOND;
	if (!test->interrupts)
		return BTS_FAULT_SILENT;
	return READ_ONCE(store->index) == store->max ? BTS_FAULT_LATE :
	       BTS_FAULT_NONE;
}

/**
 * utrace_bts_test() - test whether a processor records branches correctly
 * @test: ops and store are filled in; bts_test_ops.run fills in round
 *
 * Context: On the CPU itself, with interrupts off.
 * Return: the first fault.  Recording is disabled in any case.
 */
enum bts_fault utrace_bts_test(struct bts_test *test)
{
	enum bts_fault fault;

	test->records = 0;
	test->late = 0;
	test->interrupts = 0;
	if (!bts_test_has_room(test->store))
		return BTS_FAULT_STORE;
	fault = bts_test_known(test);
	if (!fault)
		fault = bts_test_stop(test);
	if (!fault)
		fault = bts_test_threshold(test);
	return fault;
}

/**
 * utrace_bts_test_interrupt() - handle an interrupt during a test
 * @test: the test of this CPU
 *
 * Context: NMI, or with interrupts off.
 * Return: false if the interrupt had another cause.
 */
bool utrace_bts_test_interrupt(struct bts_test *test)
{
	struct branch_store *store = test->store;

	if (READ_ONCE(store->index) < READ_ONCE(store->threshold))
		return false;
	test->ops->disable(test);
	test->late = (READ_ONCE(store->index) - store->threshold) / BTS_RECORD;
	WRITE_ONCE(test->interrupts, test->interrupts + 1);
	return true;
}

static const char * const bts_fault_texts[BTS_FAULTS] = {
	[BTS_FAULT_NONE]	= "ok",
	[BTS_FAULT_STORE]	= "the memory for records has a wrong size",
	[BTS_FAULT_NOTHING]	= "nothing was recorded",
	[BTS_FAULT_INDEX]	= "the index is not at a record",
	[BTS_FAULT_ADDRESS]	= "a record has an address that is not the kernel's",
	[BTS_FAULT_INFO]	= "a record has bits that have no meaning",
	[BTS_FAULT_ORDER]	= "known branches are not recorded in their order",
	[BTS_FAULT_STOP]	= "branches are recorded when it is switched off",
	[BTS_FAULT_SILENT]	= "no interrupt comes at the threshold",
	[BTS_FAULT_LATE]	= "the memory is full before the interrupt comes",
	[BTS_FAULT_BEYOND]	= "something is recorded beyond the memory",
};

/**
 * utrace_bts_fault_text() - get a description of a fault
 * @fault: from utrace_bts_test()
 *
 * Context: Any.
 * Return: the text, without a full stop.
 */
const char *utrace_bts_fault_text(enum bts_fault fault)
{
	return fault < BTS_FAULTS ? bts_fault_texts[fault] : "?";
}
