// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_capture_size: captures of clients that
 * allow long items
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uio.h>

#include <asm/unistd.h>

#include "fixture.h"

/* Room of the small buffer and of the large one. */
#define SMALL		(UTRACE_CAPTURE_SIZE - HEADER)
#define LARGE		(15 * 1024 - HEADER)

/* Begin a capture with items of these sizes, as a client does. */
static struct utrace_capture *begin(struct kunit *test, size_t strings,
				    size_t buffers, size_t most)
{
	struct utrace_capture *c = &capture_fixture(test)->c;

	*c = (struct utrace_capture) {
		.size = SMALL,
		.most = most,
		.strings = strings,
		.buffers = buffers,
	};
	return c;
}

static void expect(struct kunit *test, const struct utrace_item *item,
		   char with, size_t len, size_t whole, unsigned int flags)
{
	KUNIT_ASSERT_NOT_NULL(test, item);
	KUNIT_EXPECT_EQ(test, (size_t)item->len, len);
	KUNIT_EXPECT_EQ(test, (size_t)item->whole, whole);
	KUNIT_EXPECT_EQ(test, (unsigned int)item->flags, flags);
	KUNIT_EXPECT_NULL(test, memchr_inv(item->data, with, len));
}

static const struct utrace_item *next(const struct utrace_capture *c,
				      const struct utrace_item *item)
{
	return utrace_item_next(c->data, c->used, item);
}

/* Two paths that fill a page of user memory each, with the NUL. */
static void poke_paths(struct kunit *test, unsigned long args[6])
{
	struct fixture *f = capture_begin_user(test);

	BUILD_BUG_ON(PATH_MAX != PAGE_SIZE);
	args[0] = f->user;
	args[1] = f->user + PATH_MAX;
	capture_fill(test, args[0], 'a', PATH_MAX - 1);
	capture_fill(test, args[1], 'b', PATH_MAX - 1);
}

static void longest_paths(struct kunit *test)
{
	unsigned long args[6] = {};
	const struct utrace_item *item;
	struct utrace_capture *c;

	poke_paths(test, args);
	c = begin(test, UTRACE_ITEM_SIZE_MAX, UTRACE_ITEM_SIZE, LARGE);
	utrace_capture_call(c, __NR_rename, args, ALL);
	item = next(c, NULL);
	expect(test, item, 'a', PATH_MAX - 1, PATH_MAX - 1, 0);
	item = next(c, item);
	expect(test, item, 'b', PATH_MAX - 1, PATH_MAX - 1, 0);
	KUNIT_EXPECT_NULL(test, next(c, item));
	KUNIT_EXPECT_EQ(test, (size_t)c->size, LARGE);
	KUNIT_EXPECT_EQ(test, c->lost, 0);
	utrace_capture_free(c);
}

/*
 * The first path fills the small buffer, so there is no room for the second
 * one.
 */
static void second_path_has_no_room(struct kunit *test)
{
	unsigned long args[6] = {};
	struct utrace_capture *c;

	poke_paths(test, args);
	capture_poke(test, args[0] + SMALL - HEADER, "", 1);
	c = begin(test, UTRACE_ITEM_SIZE_MAX, UTRACE_ITEM_SIZE, LARGE);
	utrace_capture_call(c, __NR_rename, args, ALL);
	expect(test, next(c, NULL), 'a', SMALL - HEADER, SMALL - HEADER, 0);
	expect(test, next(c, next(c, NULL)), 'b', PATH_MAX - 1, PATH_MAX - 1,
	       0);
	KUNIT_EXPECT_EQ(test, c->lost, 0);
	utrace_capture_free(c);
}

/* A client that allows no larger buffer gets what fits into the small one. */
static void large_buffer_is_not_allowed(struct kunit *test)
{
	unsigned long args[6] = {};
	const struct utrace_item *item;
	struct utrace_capture *c;

	poke_paths(test, args);
	c = begin(test, UTRACE_ITEM_SIZE, UTRACE_ITEM_SIZE, SMALL);
	utrace_capture_call(c, __NR_rename, args, ALL);
	item = next(c, NULL);
	expect(test, item, 'a', UTRACE_ITEM_SIZE, UTRACE_ITEM_SIZE, TRUNCATED);
	item = next(c, item);
	expect(test, item, 'b', UTRACE_ITEM_SIZE, UTRACE_ITEM_SIZE, TRUNCATED);
	utrace_capture_free(c);

	c = begin(test, UTRACE_ITEM_SIZE_MAX, UTRACE_ITEM_SIZE, SMALL);
	utrace_capture_call(c, __NR_rename, args, ALL);
	item = next(c, NULL);
	expect(test, item, 'a', SMALL - HEADER, SMALL - HEADER, TRUNCATED);
	KUNIT_EXPECT_NULL(test, next(c, item));
	KUNIT_EXPECT_EQ(test, c->lost, 1);
	utrace_capture_free(c);
}

/* Use the small buffer if all fits, or if any buffer would truncate it. */
static void small_buffer_is_kept(struct kunit *test)
{
	unsigned long args[6] = {};
	struct utrace_capture *c;

	poke_paths(test, args);
	capture_poke(test, args[0] + 1000, "", 1);
	capture_poke(test, args[1] + 900, "", 1);
	c = begin(test, UTRACE_ITEM_SIZE_MAX, UTRACE_ITEM_SIZE, LARGE);
	utrace_capture_call(c, __NR_rename, args, ALL);
	expect(test, next(c, NULL), 'a', 1000, 1000, 0);
	expect(test, next(c, next(c, NULL)), 'b', 900, 900, 0);
	KUNIT_EXPECT_EQ(test, (size_t)c->size, SMALL);
	utrace_capture_free(c);

	args[1] = args[0];
	args[2] = 1000;
	c = begin(test, UTRACE_ITEM_SIZE_MAX, 32, LARGE);
	utrace_capture_call(c, __NR_write, args, UTRACE_CAPTURE_BUFFERS);
	expect(test, next(c, NULL), 'a', 32, 1000, TRUNCATED);
	KUNIT_EXPECT_EQ(test, (size_t)c->size, SMALL);
	utrace_capture_free(c);
}

static void memory_that_is_written(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { 1, f->user, UTRACE_ITEM_SIZE_MAX };
	struct utrace_capture *c;

	capture_fill(test, f->user, 'w', 2 * PAGE_SIZE);
	c = begin(test, UTRACE_ITEM_SIZE, UTRACE_ITEM_SIZE_MAX, LARGE);
	utrace_capture_call(c, __NR_write, args, UTRACE_CAPTURE_BUFFERS);
	expect(test, next(c, NULL), 'w', args[2], args[2], 0);
	utrace_capture_free(c);

	args[2] = 2 * PAGE_SIZE;
	c = begin(test, UTRACE_ITEM_SIZE, UTRACE_ITEM_SIZE_MAX, LARGE);
	utrace_capture_result(c, __NR_read, args, args[2],
			      UTRACE_CAPTURE_BUFFERS);
	expect(test, next(c, NULL), 'w', UTRACE_ITEM_SIZE_MAX, args[2],
	       TRUNCATED | UTRACE_ITEM_F_OUT);
	utrace_capture_free(c);
}

/* With long structures, more entries of an array are read. */
static void many_iovecs(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { 1, f->user + PAGE_SIZE, 40 };
	struct iovec iov = { (void __user *)f->user, 100 };
	const struct utrace_item *item = NULL;
	struct utrace_capture *c;
	unsigned int i;

	capture_fill(test, f->user, 'v', 100);
	for (i = 0; i < 40; i++)
		capture_poke(test, args[1] + i * sizeof(iov), &iov,
			     sizeof(iov));
	c = begin(test, UTRACE_ITEM_SIZE_MAX, UTRACE_ITEM_SIZE, LARGE);
	utrace_capture_call(c, __NR_writev, args, UTRACE_CAPTURE_BUFFERS);
	item = next(c, item);
	KUNIT_EXPECT_EQ(test, (size_t)item->len, 40 * sizeof(iov));
	for (i = 0; i < 40; i++) {
		item = next(c, item);
		expect(test, item, 'v', 100, 100, 0);
	}
	utrace_capture_free(c);
}

/* The stacks have room after arguments that fill the small buffer. */
static void stacks_behind_long_paths(struct kunit *test)
{
	const struct utrace_item *item;
	unsigned long args[6] = {};
	struct pt_regs regs = {};
	struct utrace_capture *c;

	poke_paths(test, args);
	capture_poke(test, args[0] + 1000, "", 1);
	capture_poke(test, args[1] + 960, "", 1);
	c = begin(test, UTRACE_ITEM_SIZE_MAX, UTRACE_ITEM_SIZE, LARGE);
	utrace_capture_call(c, __NR_rename, args, ALL);
	KUNIT_EXPECT_EQ(test, (size_t)c->size, SMALL);
	utrace_capture_stacks(c, &regs, UTRACE_CAPTURE_STACK |
					UTRACE_CAPTURE_RAW_STACK);
	KUNIT_EXPECT_EQ(test, c->lost, 0);
	item = next(c, NULL);
	expect(test, item, 'a', 1000, 1000, 0);
	item = next(c, item);
	expect(test, item, 'b', 960, 960, 0);
	item = next(c, next(c, item));
	KUNIT_ASSERT_NOT_NULL(test, item);
	KUNIT_EXPECT_EQ(test, (int)item->kind, UTRACE_ITEM_RAW_STACK);
	utrace_capture_free(c);
}

static struct kunit_case capture_size_cases[] = {
	KUNIT_CASE(longest_paths),
	KUNIT_CASE(second_path_has_no_room),
	KUNIT_CASE(large_buffer_is_not_allowed),
	KUNIT_CASE(small_buffer_is_kept),
	KUNIT_CASE(memory_that_is_written),
	KUNIT_CASE(many_iovecs),
	KUNIT_CASE(stacks_behind_long_paths),
	{}
};

static struct kunit_suite capture_size_suite = {
	.name = "utrace_capture_size",
	.init = capture_fixture_init,
	.test_cases = capture_size_cases,
};

kunit_test_suite(capture_size_suite);

MODULE_DESCRIPTION("KUnit suite for the sizes of what utrace captures");
MODULE_LICENSE("GPL");
