// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - a capture to fill, and user memory to fill it from
 *
 * See fixture.h.  test->priv of each case is a struct fixture.
 */
#include <linux/align.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fixture.h"

#define GUARD	0xa5

void capture_begin_sized(struct fixture *f, size_t size)
{
	memset(f->before, GUARD, sizeof(f->before));
	memset(f->data, GUARD, sizeof(f->data));
	memset(f->behind, GUARD, sizeof(f->behind));
	utrace_capture_init(&f->c, f->data, size);
}

void capture_begin(struct fixture *f)
{
	capture_begin_sized(f, sizeof(f->data));
}

/* Map user memory only for the cases that need it. */
struct fixture *capture_begin_user(struct kunit *test)
{
	struct fixture *f = capture_fixture(test);

	f->user = kunit_vm_mmap(test, NULL, 0, 3 * PAGE_SIZE,
				PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, f->user, 0UL);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(f->user));
	f->end = f->user + 2 * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, vm_munmap(f->end, PAGE_SIZE), 0);
	return f;
}

void __user *capture_poke(struct kunit *test, unsigned long to,
			  const void *from, size_t n)
{
	void __user *at = (void __user *)to;

	KUNIT_ASSERT_EQ(test, copy_to_user(at, from, n), 0UL);
	return at;
}

void __user *capture_fill(struct kunit *test, unsigned long to, char with,
			  size_t n)
{
	char *from = kunit_kmalloc(test, n, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, from);
	memset(from, with, n);
	return capture_poke(test, to, from, n);
}

/*
 * Check the rules that apply to every capture: form, padding and guard bytes.
 */
void capture_expect_sound(struct kunit *test)
{
	struct fixture *f = capture_fixture(test);
	const struct utrace_item *item = NULL;
	unsigned int before = 0;
	size_t at = 0, end;

	KUNIT_EXPECT_LE(test, f->c.used, f->c.size);
	KUNIT_EXPECT_EQ(test, f->c.used % 8, 0);
	while ((item = utrace_item_next(f->data, f->c.used, item))) {
		KUNIT_EXPECT_PTR_EQ(test, (const u8 *)item, f->data + at);
		/* The pointer to the data is in an earlier item, or nowhere. */
		KUNIT_EXPECT_LE(test, item->parent, before++);
		if (!item->parent) {
			KUNIT_EXPECT_EQ(test, item->field, 0);
			/* It counts the strings of an array. */
			if (item->kind != UTRACE_ITEM_ARGV)
				KUNIT_EXPECT_EQ(test, item->index, 0);
		}
		end = ALIGN(item->len, 8);
		KUNIT_EXPECT_LE(test, end, UTRACE_ITEM_SIZE);
		KUNIT_EXPECT_NULL(test, memchr_inv(item->data + item->len, 0,
						   end - item->len));
		at += HEADER + end;
	}
	KUNIT_EXPECT_EQ(test, at, f->c.used);
	KUNIT_EXPECT_NULL(test, memchr_inv(f->data + f->c.size, GUARD,
					   sizeof(f->data) - f->c.size));
	KUNIT_EXPECT_NULL(test, memchr_inv(f->before, GUARD,
					   sizeof(f->before)));
	KUNIT_EXPECT_NULL(test, memchr_inv(f->behind, GUARD,
					   sizeof(f->behind)));
}

unsigned int capture_items(struct fixture *f)
{
	const struct utrace_item *item = NULL;
	unsigned int n = 0;

	while ((item = utrace_item_next(f->data, f->c.used, item)))
		n++;
	return n;
}

const struct utrace_item *capture_nth(struct kunit *test, unsigned int n)
{
	struct fixture *f = capture_fixture(test);
	const struct utrace_item *item = NULL;

	do {
		item = utrace_item_next(f->data, f->c.used, item);
		KUNIT_ASSERT_NOT_NULL_MSG(test, item, "an item is missing");
	} while (n--);
	return item;
}

void capture_expect_item(struct kunit *test, unsigned int n,
			 const struct utrace_item *want)
{
	const struct utrace_item *item = capture_nth(test, n);

	KUNIT_EXPECT_EQ(test, item->kind, want->kind);
	KUNIT_EXPECT_EQ(test, item->arg, want->arg);
	KUNIT_EXPECT_EQ(test, item->flags, want->flags);
	KUNIT_EXPECT_EQ(test, item->len, want->len);
	KUNIT_EXPECT_EQ(test, item->whole, want->whole);
}

/* Compare bytes of the @n-th item, from offset @at on. */
void capture_expect_data(struct kunit *test, unsigned int n, size_t at,
			 const void *data, size_t len)
{
	const struct utrace_item *item = capture_nth(test, n);

	KUNIT_ASSERT_LE(test, at + len, item->len);
	KUNIT_EXPECT_MEMEQ(test, item->data + at, data, len);
}

void capture_expect_filled(struct kunit *test, unsigned int n, char with)
{
	const struct utrace_item *item = capture_nth(test, n);

	KUNIT_EXPECT_NULL(test, memchr_inv(item->data, with, item->len));
}

void capture_expect_all(struct kunit *test, unsigned int n, const void *data,
			size_t len)
{
	KUNIT_EXPECT_EQ(test, capture_nth(test, n)->len, len);
	capture_expect_data(test, n, 0, data, len);
}

int capture_fixture_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	test->priv = f;
	capture_begin(f);
	return 0;
}

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
