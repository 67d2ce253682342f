/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - shared code of the suites of the branch engine
 */
#ifndef _KERNEL_UTRACE_TESTS_BRANCH_SUITE_H
#define _KERNEL_UTRACE_TESTS_BRANCH_SUITE_H

#include <kunit/test.h>

#include "lab.h"

#define LOST(n, cause)	{ n, 0, UTRACE_BRANCH_LOST | UTRACE_LOSS_##cause << 8 }
#define GAP(cause)	{ 0, 0, UTRACE_BRANCH_GAP | UTRACE_LOSS_##cause << 8 }
#define TASK(n)		{ n, n, UTRACE_BRANCH_TASK }

#define SUITE_RING	1024

/**
 * struct suite_reader - a reader of a ring
 * @got: records that it got
 */
struct suite_reader {
	struct utrace_branch got[SUITE_RING + 2];
};

/* Read up to @n records.  Returns their number. */
static inline unsigned int suite_read(struct suite_reader *reader,
				      struct branch_buffer *buffer,
				      unsigned int n)
{
	struct branch_cursor cursor;

	n = utrace_branch_buffer_copy(buffer, reader->got, n, &cursor);
	utrace_branch_buffer_take(buffer, &cursor);
	return n;
}

/* Check that the reader gets these records and no others. */
static inline void suite_expect(struct kunit *test, struct suite_reader *reader,
				struct branch_buffer *buffer,
				const struct utrace_branch *records,
				unsigned int n)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, suite_read(reader, buffer, SUITE_RING + 2), n);
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, reader->got[i].from, records[i].from);
		KUNIT_EXPECT_EQ(test, reader->got[i].to, records[i].to);
		KUNIT_EXPECT_EQ(test, reader->got[i].info, records[i].info);
	}
}

#endif /* _KERNEL_UTRACE_TESTS_BRANCH_SUITE_H */
