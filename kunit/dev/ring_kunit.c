// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_session_ring: the ring of /dev/utrace
 *
 * Records are written to a ring and read from it, and compared with a model.
 */
#include <kunit/test.h>
#include <linux/mman.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../../dev/session.h"

/* Size of the user memory that is read into. */
#define PIECE		SZ_16K

/* A record is a header and bytes that are computed from its number. */
struct ring_test {
	struct session_ring ring;
	unsigned long user;
	u8 *copy;
	u8 items[4096];
};

static int ring_init(struct kunit *test)
{
	struct ring_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	spin_lock_init(&t->ring.lock);
	t->copy = kunit_kmalloc(test, PIECE, GFP_KERNEL);
	if (!t->copy)
		return -ENOMEM;
	t->user = kunit_vm_mmap(test, NULL, 0, PIECE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (!t->user || IS_ERR_VALUE(t->user))
		return -ENOMEM;
	return utrace_dev_ring_make(&t->ring, SZ_64K, CLOCK_MONOTONIC);
}

static void ring_exit(struct kunit *test)
{
	struct ring_test *t = test->priv;

	if (t)
		utrace_dev_ring_free(&t->ring);
}

/* Byte @i of record @seq; a reader checks it. */
static u8 byte_of(u64 seq, size_t i)
{
	return seq * 31 + i;
}

/*
 * Write a record with @items bytes behind its header; false if it did not fit.
 */
static bool put(struct ring_test *t, size_t items)
{
	u64 seq = t->ring.seq + 1;
	struct utrace_rec rec = { .type = UTRACE_REC_EXEC, .tid = items };
	struct utrace_dev_parts parts = {
		.head = &rec,
		.head_size = sizeof(rec),
		.items = t->items,
		.items_size = items,
	};
	size_t i;

	for (i = 0; i < items; i++)
		t->items[i] = byte_of(seq, i);
	return utrace_dev_ring_write(&t->ring, &parts);
}

static ssize_t take(struct ring_test *t, size_t size)
{
	ssize_t n = utrace_dev_ring_read(&t->ring, (char __user *)t->user, size);

	if (n > 0 && copy_from_user(t->copy, (void __user *)t->user, n))
		return -EFAULT;
	return n;
}

/*
 * Check the records that were read, from number @seq on; returns the next
 * number.
 */
static u64 check(struct kunit *test, ssize_t n, u64 seq)
{
	struct ring_test *t = test->priv;
	ssize_t at = 0;
	int i;

	while (at < n) {
		const struct utrace_rec *rec = (void *)(t->copy + at);
		const struct utrace_rec_lost *lost = (const void *)rec;

		KUNIT_ASSERT_EQ(test, rec->size % 8, 0U);
		KUNIT_ASSERT_GE(test, rec->size, (u32)sizeof(*rec));
		KUNIT_ASSERT_LE(test, at + rec->size, n);
		at += rec->size;
		if (rec->type == UTRACE_REC_LOST) {
			KUNIT_ASSERT_GT(test, lost->lost, 0ULL);
			seq += lost->lost;
			KUNIT_ASSERT_EQ(test, rec->seq, seq - 1);
			continue;
		}
		KUNIT_ASSERT_EQ(test, (int)rec->type, UTRACE_REC_EXEC);
		KUNIT_ASSERT_EQ(test, rec->seq, seq);
		for (i = 0; i < rec->tid; i++)
			KUNIT_ASSERT_EQ(test, ((const u8 *)(rec + 1))[i],
					byte_of(seq, i));
		seq++;
	}
	return seq;
}

static void sizes_are_checked(struct kunit *test)
{
	struct session_ring ring = {};

	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(&ring, SZ_32K, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(&ring, SZ_128M, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(&ring, SZ_64K + 8, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(&ring, SZ_64K, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring.size, (size_t)0);
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(&ring, 0, CLOCK_BOOTTIME), 0);
	KUNIT_EXPECT_EQ(test, ring.size, (size_t)SZ_1M);
	utrace_dev_ring_free(&ring);
}

static void records_come_back(struct kunit *test)
{
	struct ring_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, utrace_dev_ring_has(&t->ring));
	KUNIT_EXPECT_EQ(test, take(t, PIECE), 0);
	KUNIT_EXPECT_TRUE(test, put(t, 5));
	KUNIT_EXPECT_TRUE(test, put(t, 0));
	KUNIT_EXPECT_TRUE(test, utrace_dev_ring_has(&t->ring));
	KUNIT_EXPECT_EQ(test, take(t, PIECE), 32 + 8 + 32);
	KUNIT_EXPECT_EQ(test, check(test, 72, 1), 3ULL);
	KUNIT_EXPECT_FALSE(test, utrace_dev_ring_has(&t->ring));
}

/* Only whole records are read; a buffer that is too small gets none. */
static void no_record_is_cut(struct kunit *test)
{
	struct ring_test *t = test->priv;

	put(t, 100);
	put(t, 100);
	KUNIT_EXPECT_EQ(test, take(t, 135), -EINVAL);
	KUNIT_EXPECT_EQ(test, take(t, 136 + 135), 136);
	KUNIT_EXPECT_EQ(test, check(test, 136, 1), 2ULL);
	KUNIT_EXPECT_EQ(test, take(t, 136), 136);
	KUNIT_EXPECT_EQ(test, check(test, 136, 2), 3ULL);
}

/* A record whose copy failed is read the next time. */
static void fault_loses_nothing(struct kunit *test)
{
	struct ring_test *t = test->priv;

	put(t, 16);
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_read(&t->ring, NULL, PIECE),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, take(t, PIECE), 48);
	KUNIT_EXPECT_EQ(test, check(test, 48, 1), 2ULL);
}

/* A full ring keeps its records and counts those that are lost. */
static void full_ring_counts(struct kunit *test)
{
	struct ring_test *t = test->priv;
	unsigned int there = 0, n;
	u64 seq = 1;

	while (put(t, 32))
		there++;
	KUNIT_EXPECT_EQ(test, there, SZ_64K / 64);
	for (n = 0; n < 9; n++)
		KUNIT_EXPECT_FALSE(test, put(t, 32));
	KUNIT_EXPECT_EQ(test, t->ring.lost, 10ULL);
	/* The next record needs room for the count of lost records, too. */
	KUNIT_EXPECT_EQ(test, take(t, 64), 64);
	seq = check(test, 64, seq);
	KUNIT_EXPECT_FALSE(test, put(t, 32));
	KUNIT_EXPECT_EQ(test, take(t, 64), 64);
	seq = check(test, 64, seq);
	KUNIT_EXPECT_TRUE(test, put(t, 32));
	for (;;) {
		ssize_t size = take(t, PIECE);

		if (!size)
			break;
		seq = check(test, size, seq);
	}
	KUNIT_EXPECT_EQ(test, seq, t->ring.seq + 1);
	KUNIT_EXPECT_EQ(test, seq, (u64)there + 11 + 2);
	KUNIT_EXPECT_EQ(test, t->ring.lost, 11ULL);
}

/* Every number is read or counted as lost, whatever the sizes are. */
static void any_sizes(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct rnd_state random;
	unsigned int round, i;
	u64 seq = 1, got = 0;

	prandom_seed_state(&random, 6);
	for (round = 0; round < 3000; round++) {
		u32 r = prandom_u32_state(&random);

		for (i = 0; i < r % 64; i++)
			got += put(t, (r >> 8) % 64 ? (r >> 6) % 200 : 3000);
		if (r & BIT(20)) {
			ssize_t n = take(t, 4096 + (r >> 10) % (PIECE - 4096));

			KUNIT_ASSERT_GE(test, n, (ssize_t)0);
			seq = check(test, n, seq);
		}
	}
	for (;;) {
		ssize_t n = take(t, PIECE);

		if (!n)
			break;
		seq = check(test, n, seq);
	}
	/* The next record reports those that were lost at the end. */
	KUNIT_EXPECT_TRUE(test, put(t, 8));
	seq = check(test, take(t, PIECE), seq);
	KUNIT_EXPECT_EQ(test, seq, t->ring.seq + 1);
	KUNIT_EXPECT_EQ(test, t->ring.seq, got + 1 + t->ring.lost);
	KUNIT_EXPECT_GT(test, t->ring.lost, 0ULL);
	KUNIT_EXPECT_GT(test, t->ring.head, 4ULL * SZ_64K);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(sizes_are_checked),
	KUNIT_CASE(records_come_back),
	KUNIT_CASE(no_record_is_cut),
	KUNIT_CASE(fault_loses_nothing),
	KUNIT_CASE(full_ring_counts),
	KUNIT_CASE(any_sizes),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "utrace_session_ring",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);

MODULE_DESCRIPTION("KUnit suite for the ring of /dev/utrace");
MODULE_LICENSE("GPL");
