/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - a capture to fill, and user memory to fill it from
 *
 * Guard bytes surround the capture's memory, so each check detects writes
 * outside of it.
 */
#ifndef _UTRACE_TESTS_CAPTURE_FIXTURE_H
#define _UTRACE_TESTS_CAPTURE_FIXTURE_H

#include <kunit/test.h>

#include "../../capture/capture.h"
#include "../../decode/items.h"
#include "../../decode/table.h"

#define HEADER		sizeof(struct utrace_item)
#define ITEM_DATA	UTRACE_ITEM_SIZE
#define NO_ARG		UTRACE_ITEM_NO_ARG
#define TRUNCATED	UTRACE_ITEM_F_TRUNCATED
#define FAULTED		UTRACE_ITEM_F_FAULTED
#define OPEN		UTRACE_ITEM_F_OPEN
#define ALL		UTRACE_CAPTURE_ARGS

/**
 * struct fixture - a capture and its surroundings
 * @c: the capture
 * @before: guard bytes before @data
 * @data: the capture's memory
 * @behind: guard bytes after @data
 * @user: address of two pages of user memory
 * @end: end address of these pages, where nothing is mapped
 */
struct fixture {
	struct utrace_capture c;
	u8 before[64];
	u8 data[UTRACE_CAPTURE_SIZE] __aligned(8);
	u8 behind[64];
	unsigned long user;
	unsigned long end;
};

static inline struct fixture *capture_fixture(struct kunit *test)
{
	return test->priv;
}

int capture_fixture_init(struct kunit *test);

/*
 * Reset the capture; capture_begin_user() also maps user memory, or ends the
 * test.
 */
void capture_begin(struct fixture *f);
void capture_begin_sized(struct fixture *f, size_t size);
struct fixture *capture_begin_user(struct kunit *test);

/* Write user memory, and return its address. */
void __user *capture_poke(struct kunit *test, unsigned long to,
			  const void *from, size_t n);
void __user *capture_fill(struct kunit *test, unsigned long to, char with,
			  size_t n);

/*
 * Get the number of items, and the @n-th item, from 0; the test ends without
 * it.
 */
unsigned int capture_items(struct fixture *f);
const struct utrace_item *capture_nth(struct kunit *test, unsigned int n);

void capture_expect_sound(struct kunit *test);
void capture_expect_item(struct kunit *test, unsigned int n,
			 const struct utrace_item *want);
void capture_expect_data(struct kunit *test, unsigned int n, size_t at,
			 const void *data, size_t len);
void capture_expect_filled(struct kunit *test, unsigned int n, char with);
void capture_expect_all(struct kunit *test, unsigned int n, const void *data,
			size_t len);

#define EXPECT_ITEM(test, n, k, a, l, w, f)				\
	capture_expect_item(test, n, &(struct utrace_item) {		\
		.kind = UTRACE_ITEM_##k, .arg = (a), .len = (l),	\
		.whole = (w), .flags = (f) })

/* Compare all bytes of an item; the NUL of the literal does not count. */
#define EXPECT_DATA(test, n, literal)					\
	capture_expect_all(test, n, literal, sizeof(literal) - 1)

#endif /* _UTRACE_TESTS_CAPTURE_FIXTURE_H */
