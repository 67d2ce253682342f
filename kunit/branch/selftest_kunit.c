// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite utrace_bts_selftest: faults of processors that the self-test
 * finds
 *
 * The processor is emulated and has one fault at a time.
 */
#include <kunit/test.h>
#include <kunit/test-bug.h>

#include "../../branch/intel/selftest.h"
#include "fake.h"

/* Size of the window in records. */
#define MACHINE_RECORDS	(2 * BRANCH_MARGIN + 100)

/* Records from the threshold to the interrupt of a faultless processor. */
#define MACHINE_SKID	23

enum machine_fault {
	MACHINE_SOUND,
	MACHINE_NOISY,
	MACHINE_PREDICTS,
	MACHINE_SLOW,
	MACHINE_ODD_SIZE,
	MACHINE_SMALL,
	MACHINE_NO_MEMORY,
	MACHINE_DEAD,
	MACHINE_UNALIGNED,
	MACHINE_BEFORE,
	MACHINE_USER_FROM,
	MACHINE_USER_TO,
	MACHINE_ODD_INFO,
	MACHINE_SWAPS,
	MACHINE_FORGETS,
	MACHINE_TWICE,
	MACHINE_WRONG,
	MACHINE_RUNS_ON,
	MACHINE_SILENT,
	MACHINE_LATE,
	MACHINE_BEYOND,
};

/**
 * struct machine - a processor to test
 * @fake: the processor
 * @test: the self-test
 * @records: the window, and memory for records beyond it
 * @fault: the fault of the processor
 * @n: number of branches so far
 * @kept: a branch that is recorded after the next one
 */
struct machine {
	struct branch_fake fake;
	struct bts_test test;
	struct utrace_branch records[MACHINE_RECORDS + 8];
	enum machine_fault fault;
	unsigned int n;
	struct utrace_branch kept;
};

static struct machine *machine_of(struct bts_test *test)
{
	return container_of(test, struct machine, test);
}

static void machine_store(struct machine *m, struct utrace_branch branch)
{
	struct branch_store *store = &m->fake.store;

	if (m->fault == MACHINE_BEYOND && m->fake.on &&
	    store->index == store->max)
		store->index += sizeof(branch);
	branch_fake_store(&m->fake, &branch);
	if (branch_fake_due(&m->fake) && m->fault != MACHINE_SILENT &&
	    m->fault != MACHINE_BEYOND)
		KUNIT_EXPECT_TRUE(kunit_get_current_test(),
				  utrace_bts_test_interrupt(&m->test));
}

/* Record a branch, with the fault of the processor. */
static void machine_branch(struct machine *m, struct utrace_branch branch)
{
	bool now = ++m->n == 10;

	if (m->fault == MACHINE_NOISY && m->n % 3 == 0)
		machine_store(m, (struct utrace_branch){ ~0xfffULL, ~0xeffULL });
	if (m->fault == MACHINE_PREDICTS && m->n % 2)
		branch.info = UTRACE_BRANCH_PREDICTED;
	if (now && m->fault == MACHINE_USER_FROM)
		branch.from = 0x401000;
	if (now && m->fault == MACHINE_USER_TO)
		branch.to &= ~(1ULL << 60);
	if (now && m->fault == MACHINE_ODD_INFO)
		branch.info = 1ULL << 63;
	if (now && m->fault == MACHINE_WRONG)
		branch.from += 2;
	if (now && m->fault == MACHINE_FORGETS)
		return;
	if (now && m->fault == MACHINE_SWAPS) {
		m->kept = branch;
		return;
	}
	machine_store(m, branch);
	if (now && m->fault == MACHINE_TWICE)
		machine_store(m, branch);
	if (m->kept.from) {
		machine_store(m, m->kept);
		m->kept.from = 0;
	}
}

static void machine_enable(struct bts_test *test)
{
	struct machine *m = machine_of(test);

	m->fake.on = m->fault != MACHINE_DEAD;
}

static void machine_disable(struct bts_test *test)
{
	struct machine *m = machine_of(test);

	if (m->fault != MACHINE_RUNS_ON)
		m->fake.on = false;
	if (m->fault == MACHINE_UNALIGNED)
		m->fake.store.index += 8;
	if (m->fault == MACHINE_BEFORE)
		m->fake.store.index = m->fake.store.base - 24;
}

static void machine_run(struct bts_test *test, unsigned int rounds)
{
	unsigned int i, n = rounds * BTS_TEST_ROUND - 1;

	for (i = 0; i < n; i++)
		machine_branch(machine_of(test),
			       test->round[i % BTS_TEST_ROUND]);
}

static const struct bts_test_ops machine_ops = {
	.enable		= machine_enable,
	.disable	= machine_disable,
	.run		= machine_run,
};

static struct machine *machine_make(struct kunit *test,
				    enum machine_fault fault)
{
	struct machine *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	branch_fake_init(&m->fake, m->records, MACHINE_RECORDS);
	m->fault = fault;
	m->fake.skid = MACHINE_SKID;
	if (fault == MACHINE_SLOW)
		m->fake.skid = BRANCH_MARGIN - 1;
	if (fault == MACHINE_LATE)
		m->fake.skid = BRANCH_MARGIN;
	if (fault == MACHINE_ODD_SIZE)
		m->fake.store.max -= 8;
	if (fault == MACHINE_SMALL)
		m->fake.store.max -= 100 * sizeof(m->records[0]);
	if (fault == MACHINE_NO_MEMORY)
		m->fake.store.base = 0;
	m->test.ops = &machine_ops;
	m->test.store = &m->fake.store;
	for (i = 0; i < BTS_TEST_ROUND; i++)
		m->test.round[i] = (struct utrace_branch){
			0xffffffff81000000ULL + 16 * i,
			0xffffffff81000000ULL + 16 * (i + 1) % 64,
		};
	return m;
}

/* The result of the self-test for each processor. */
static const struct selftest_case {
	enum machine_fault fault;
	enum bts_fault found;
	const char *name;
} selftest_cases[] = {
	{ MACHINE_SOUND, BTS_FAULT_NONE, "a sound processor" },
	{ MACHINE_NOISY, BTS_FAULT_NONE, "other branches in between" },
	{ MACHINE_PREDICTS, BTS_FAULT_NONE, "predicted branches" },
	{ MACHINE_SLOW, BTS_FAULT_NONE, "an interrupt just in time" },
	{ MACHINE_ODD_SIZE, BTS_FAULT_STORE, "a part of a record at the end" },
	{ MACHINE_SMALL, BTS_FAULT_STORE, "a small window" },
	{ MACHINE_NO_MEMORY, BTS_FAULT_STORE, "no window" },
	{ MACHINE_DEAD, BTS_FAULT_NOTHING, "no records" },
	{ MACHINE_UNALIGNED, BTS_FAULT_INDEX, "an index within a record" },
	{ MACHINE_BEFORE, BTS_FAULT_INDEX, "an index before the window" },
	{ MACHINE_USER_FROM, BTS_FAULT_ADDRESS, "a branch from user mode" },
	{ MACHINE_USER_TO, BTS_FAULT_ADDRESS, "an address that cannot be" },
	{ MACHINE_ODD_INFO, BTS_FAULT_INFO, "odd bits" },
	{ MACHINE_SWAPS, BTS_FAULT_ORDER, "two records that are swapped" },
	{ MACHINE_FORGETS, BTS_FAULT_ORDER, "a record that is missing" },
	{ MACHINE_TWICE, BTS_FAULT_ORDER, "a record that comes twice" },
	{ MACHINE_WRONG, BTS_FAULT_ORDER, "a record with a wrong address" },
	{ MACHINE_RUNS_ON, BTS_FAULT_STOP, "a processor that does not stop" },
	{ MACHINE_SILENT, BTS_FAULT_SILENT, "no interrupt" },
	{ MACHINE_LATE, BTS_FAULT_LATE, "an interrupt too late" },
	{ MACHINE_BEYOND, BTS_FAULT_BEYOND, "a record beyond the window" },
};

KUNIT_ARRAY_PARAM_DESC(selftest, selftest_cases, name);

static void fault_is_found(struct kunit *test)
{
	const struct selftest_case *c = test->param_value;
	struct machine *m = machine_make(test, c->fault);

	KUNIT_EXPECT_EQ(test, utrace_bts_test(&m->test), c->found);
	KUNIT_EXPECT_EQ(test, m->fake.on, c->fault == MACHINE_RUNS_ON);
}

/* Check the figures for the report. */
static void numbers_are_right(struct kunit *test)
{
	struct machine *m = machine_make(test, MACHINE_SOUND);

	KUNIT_EXPECT_EQ(test, utrace_bts_test(&m->test), BTS_FAULT_NONE);
	KUNIT_EXPECT_EQ(test, m->test.records, 31U);
	KUNIT_EXPECT_EQ(test, m->test.late, (unsigned int)MACHINE_SKID);
	KUNIT_EXPECT_EQ(test, m->test.interrupts, 1U);
	KUNIT_EXPECT_EQ(test, m->records[MACHINE_RECORDS].from, 0ULL);
}

/* An interrupt with another cause is not handled. */
static void other_interrupts_are_left(struct kunit *test)
{
	struct machine *m = machine_make(test, MACHINE_SOUND);

	m->fake.store.index = m->fake.store.base;
	m->fake.on = true;
	KUNIT_EXPECT_FALSE(test, utrace_bts_test_interrupt(&m->test));
	KUNIT_EXPECT_TRUE(test, m->fake.on);
	KUNIT_EXPECT_EQ(test, m->test.interrupts, 0U);
}

static void each_fault_has_a_text(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < BTS_FAULTS; i++)
		KUNIT_EXPECT_NOT_NULL(test, utrace_bts_fault_text(i));
	KUNIT_EXPECT_STREQ(test, utrace_bts_fault_text(BTS_FAULTS), "?");
}

static struct kunit_case selftest_kunit_cases[] = {
	KUNIT_CASE_PARAM(fault_is_found, selftest_gen_params),
	KUNIT_CASE(numbers_are_right),
	KUNIT_CASE(other_interrupts_are_left),
	KUNIT_CASE(each_fault_has_a_text),
	{}
};

static struct kunit_suite selftest_suite = {
	.name = "utrace_bts_selftest",
	.test_cases = selftest_kunit_cases,
};

kunit_test_suite(selftest_suite);

MODULE_DESCRIPTION("KUnit suite for the self-test of branch trace stores");
MODULE_LICENSE("GPL");
