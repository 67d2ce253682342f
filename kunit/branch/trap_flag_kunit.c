// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite utrace_bts_trap_flag: steps with FRED and without it
 */
#include <kunit/test.h>

#include "../../branch/trap_flag.h"

/* An instruction of a program, and the next one. */
#define HERE	0x401000UL
#define NEXT	0x401002UL

/* Flags of a program: the trap flag and others. */
#define FLAGS	0x346UL

/* After a system call the first trap comes before the next instruction. */
static void fred_traps_first(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, utrace_branch_has_trapped_first(true, true,
								HERE, HERE));
}

/* The thread is elsewhere, or came from an interrupt and jumped to itself. */
static void fred_makes_an_instruction(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_trapped_first(true, true,
								 HERE, NEXT));
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_trapped_first(true, false,
								 HERE, HERE));
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_trapped_first(true, false,
								 HERE, NEXT));
}

/* Without FRED each trap comes after an instruction, even a jump to itself. */
static void others_make_an_instruction(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_trapped_first(false, true,
								 HERE, HERE));
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_trapped_first(false, true,
								 HERE, NEXT));
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_trapped_first(false, false,
								 HERE, HERE));
}

/* With FRED, R11 belongs to the program, even if it equals the flags. */
static void fred_leaves_r11(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_saved_flags(true, FLAGS,
							       FLAGS));
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_saved_flags(true, HERE,
							       FLAGS));
}

/* INT 0x80 saves no flags in R11, so another value belongs to the program. */
static void others_save_flags_in_r11(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, utrace_branch_has_saved_flags(false, FLAGS,
							      FLAGS));
	KUNIT_EXPECT_FALSE(test, utrace_branch_has_saved_flags(false, HERE,
							       FLAGS));
}

static struct kunit_case trap_flag_cases[] = {
	KUNIT_CASE(fred_traps_first),
	KUNIT_CASE(fred_makes_an_instruction),
	KUNIT_CASE(others_make_an_instruction),
	KUNIT_CASE(fred_leaves_r11),
	KUNIT_CASE(others_save_flags_in_r11),
	{}
};

static struct kunit_suite trap_flag_suite = {
	.name = "utrace_bts_trap_flag",
	.test_cases = trap_flag_cases,
};

kunit_test_suite(trap_flag_suite);

MODULE_DESCRIPTION("KUnit suite for the trap flag on processors with FRED and without it");
MODULE_LICENSE("GPL");
