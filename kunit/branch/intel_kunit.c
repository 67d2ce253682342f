// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite utrace_bts_intel: parts of the source that need no Intel
 * processor
 */
#include <kunit/test.h>

#include <linux/string.h>

#include <asm/idtentry.h>
#include <asm/insn.h>
#include <asm/proto.h>
#include <asm/trapnr.h>

#include "../../branch/buffer.h"
#include "../../branch/intel/intel.h"

/* An instruction of a program, and the next one. */
#define HERE	0x401000ULL
#define NEXT	0x401002ULL

/* Records of a consumer of user mode for one entry into the kernel and back. */
struct intel_way {
	struct utrace_branch ring[4];
	struct branch_buffer buffer;
	struct branch_view view;
};

static void __init intel_go(struct kunit *test, const void *function, u64 back,
			    struct intel_way *way)
{
	u64 address = (unsigned long)function;
	struct utrace_branch records[] = {
		{ HERE, address }, { address + 8, back },
	};
	static struct branch_entries entries;

	utrace_bts_intel_entries(&entries);
	memset(way, 0, sizeof(*way));
	utrace_branch_buffer_init(&way->buffer, way->ring, 4, false, false);
	way->view.level = BRANCH_LEVEL_USER;
	way->view.entries = &entries;
	utrace_branch_view_begin(&way->view);
	utrace_branch_view_filter(&way->view, records, 2, &way->buffer);
}

/* Expect both records of an entry with a pseudo-address. */
static void __init intel_expect(struct kunit *test, const void *function, u64 pc,
				enum utrace_branch_kind in,
				enum utrace_branch_kind out)
{
	struct intel_way way;

	intel_go(test, function, NEXT, &way);
	KUNIT_ASSERT_EQ(test, way.buffer.head, 2ULL);
	KUNIT_EXPECT_EQ(test, way.ring[0].from, HERE);
	KUNIT_EXPECT_EQ(test, way.ring[0].to, pc);
	KUNIT_EXPECT_EQ(test, UTRACE_BRANCH_KIND(way.ring[0].info), (u64)in);
	KUNIT_EXPECT_EQ(test, way.ring[1].from, pc);
	KUNIT_EXPECT_EQ(test, way.ring[1].to, NEXT);
	KUNIT_EXPECT_EQ(test, UTRACE_BRANCH_KIND(way.ring[1].info), (u64)out);
}

static void __init syscalls_are_listed(struct kunit *test)
{
	static const void * const entries[] __initconst = {
		entry_SYSCALL_64,
#ifdef CONFIG_IA32_EMULATION
		entry_SYSENTER_compat, entry_SYSCALL_compat,
		asm_int80_emulation,
#endif
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++)
		intel_expect(test, entries[i], UTRACE_PC_SYSCALL,
			     UTRACE_BR_SYSCALL, UTRACE_BR_SYSRET);
}

struct intel_exception {
	const void *function;
	unsigned int vector;
};

static void __init exceptions_are_listed(struct kunit *test)
{
	static const struct intel_exception entries[] __initconst = {
		{ asm_exc_divide_error, 0 }, { asm_exc_int3, 3 },
		{ asm_exc_overflow, 4 }, { asm_exc_bounds, 5 },
		{ asm_exc_invalid_op, 6 }, { asm_exc_stack_segment, 12 },
		{ asm_exc_general_protection, 13 },
		{ asm_exc_coprocessor_error, 16 },
		{ asm_exc_alignment_check, 17 },
		{ asm_exc_simd_coprocessor_error, 19 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++)
		intel_expect(test, entries[i].function,
			     UTRACE_PC_EXCEPTION(entries[i].vector),
			     UTRACE_BR_UNKNOWN, UTRACE_BR_UNKNOWN);
}

/* They are recorded only if they move the thread. */
static void __init interrupts_are_not_listed(struct kunit *test)
{
	static const void * const entries[] __initconst = {
		asm_common_interrupt, asm_exc_page_fault, asm_exc_nmi,
		asm_exc_debug, asm_exc_device_not_available,
	};
	struct intel_way way;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		intel_go(test, entries[i], HERE, &way);
		KUNIT_EXPECT_EQ(test, way.buffer.head, 0ULL);
		intel_go(test, entries[i], NEXT, &way);
		KUNIT_ASSERT_EQ(test, way.buffer.head, 2ULL);
		KUNIT_EXPECT_EQ(test, way.ring[0].to, UTRACE_PC_ASYNC);
		KUNIT_EXPECT_EQ(test, way.ring[1].from, UTRACE_PC_ASYNC);
	}
}

/* The known branches are branch instructions, each reached from the last. */
static void __init known_branches_are_there(struct kunit *test)
{
	struct bts_test t = {};
	struct insn insn;
	unsigned int i;

	utrace_bts_intel_test_ops.run(&t, 5);
	for (i = 0; i < BTS_TEST_ROUND; i++) {
		const struct utrace_branch *branch = &t.round[i];
		void *from = (void *)(unsigned long)branch->from;

		KUNIT_ASSERT_EQ(test, insn_decode_kernel(&insn, from), 0);
		KUNIT_EXPECT_EQ(test, insn.opcode.bytes[0],
				i == BTS_TEST_ROUND - 1 ? 0x75 : 0xeb);
		KUNIT_EXPECT_EQ(test, branch->to, branch->from + insn.length +
				(s64)insn.immediate.value);
	}
	KUNIT_EXPECT_EQ(test, t.round[0].to, t.round[1].from);
	KUNIT_EXPECT_EQ(test, t.round[1].to, t.round[2].from);
	KUNIT_EXPECT_GT(test, t.round[3].from, t.round[2].to);
	KUNIT_EXPECT_EQ(test, t.round[3].to, t.round[0].from);
}

static struct kunit_case intel_cases[] __refdata = {
	KUNIT_CASE(syscalls_are_listed),
	KUNIT_CASE(exceptions_are_listed),
	KUNIT_CASE(interrupts_are_not_listed),
	KUNIT_CASE(known_branches_are_there),
	{}
};

static struct kunit_suite intel_suite = {
	.name = "utrace_bts_intel",
	.test_cases = intel_cases,
};

/* The table is sorted by a function that is freed after boot. */
kunit_test_init_section_suite(intel_suite);

MODULE_DESCRIPTION("KUnit suite for processors of Intel as a source of branches");
MODULE_LICENSE("GPL");
