// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_session_ring: the rings of /dev/utrace
 *
 * The test writes records of dummy tasks on several CPUs, reads them back, and
 * compares them with what it has written.  Kernel threads never wait for a
 * reader, so a full ring loses records here.
 */
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/mman.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../../dev/session.h"

/* Size of the user memory that is read into. */
#define PIECE		SZ_16K

/* Number of dummy tasks and targets. */
#define TASKS		3
#define TARGETS		10

/**
 * struct ring_test - one test
 * @session: a session with the smallest rings
 * @target: targets with ids from 1
 * @task: tasks with ids from 1
 * @user: PIECE bytes of user memory
 * @copy: what was read
 * @got: by task, the number of the last record that was read
 * @time: time of the last record that was read
 * @lost: by target, lost records according to LOST records; 0: of several
 *	targets
 */
struct ring_test {
	struct utrace_session *session;
	struct session_target target[TARGETS];
	struct session_task task[TASKS];
	unsigned long user;
	u8 *copy;
	u32 got[TASKS];
	u64 time;
	u64 lost[TARGETS + 1];
};

static int ring_init(struct kunit *test)
{
	const struct utrace_ioc_setup setup = { .rings_size = SZ_64K };
	struct ring_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int i;

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->copy = kunit_kmalloc(test, PIECE, GFP_KERNEL);
	if (!t->copy)
		return -ENOMEM;
	t->user = kunit_vm_mmap(test, NULL, 0, PIECE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (!t->user || IS_ERR_VALUE(t->user))
		return -ENOMEM;
	t->session = utrace_dev_new(current_cred(), &utrace_dev_reader_ops);
	if (!t->session)
		return -ENOMEM;
	for (i = 0; i < TARGETS; i++) {
		t->target[i].session = t->session;
		t->target[i].id = i + 1;
		t->target[i].stop = true;
	}
	for (i = 0; i < TASKS; i++) {
		t->task[i].session = t->session;
		t->task[i].id = i + 1;
	}
	return utrace_dev_ring_make(t->session, &setup);
}

static void ring_exit(struct kunit *test)
{
	struct ring_test *t = test->priv;

	if (t && t->session)
		utrace_dev_put(t->session);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* Byte @i of record @number of a task; checked when it is read. */
static u8 byte_of(u64 task, u32 number, size_t i)
{
	return task * 7 + number * 31 + i;
}

/*
 * Write a record with @extra bytes, a multiple of 8.  Returns false if it was
 * lost.
 */
static bool put(struct ring_test *t, unsigned int task, unsigned int target,
		size_t extra)
{
	struct session_writer w = {
		.target = &t->target[target],
		.task = &t->task[task],
	};
	u8 *body;
	size_t i;

	if (!utrace_dev_reserve(&w, UTRACE_REC_EXEC, 0,
				sizeof(struct utrace_rec) + extra))
		return false;
	body = (u8 *)(w.rec + 1);
	for (i = 0; i < extra; i++)
		body[i] = byte_of(w.rec->task, w.rec->number, i);
	utrace_dev_commit(&w);
	return true;
}

static ssize_t take(struct ring_test *t, size_t size)
{
	ssize_t n;

	mutex_lock(&t->session->reader.read_lock);
	n = utrace_dev_reader_ops.read(&t->session->reader, (char __user *)t->user, size);
	mutex_unlock(&t->session->reader.read_lock);
	if (n > 0 && copy_from_user(t->copy, (void __user *)t->user, n))
		return -EFAULT;
	return n;
}

static void check_one(struct kunit *test, const struct utrace_rec *rec)
{
	const struct utrace_rec_lost *lost = (const void *)rec;
	struct ring_test *t = test->priv;
	const u8 *body = (const u8 *)(rec + 1);
	size_t i;

	KUNIT_ASSERT_EQ(test, rec->size % 8, 0U);
	KUNIT_ASSERT_GE(test, rec->size, (u32)sizeof(*rec));
	KUNIT_EXPECT_GE(test, rec->time, t->time);
	t->time = rec->time;
	if (rec->type == UTRACE_REC_LOST) {
		KUNIT_ASSERT_LE(test, rec->target, (u32)TARGETS);
		KUNIT_EXPECT_GT(test, lost->lost, 0ULL);
		KUNIT_EXPECT_EQ(test, rec->task, 0ULL);
		t->lost[rec->target] += lost->lost;
		return;
	}
	KUNIT_ASSERT_EQ(test, (int)rec->type, UTRACE_REC_EXEC);
	KUNIT_ASSERT_TRUE(test, rec->task >= 1 && rec->task <= TASKS);
	KUNIT_EXPECT_GT(test, rec->number, t->got[rec->task - 1]);
	t->got[rec->task - 1] = rec->number;
	for (i = 0; i < rec->size - sizeof(*rec); i++)
		if (body[i] != byte_of(rec->task, rec->number, i))
			break;
	KUNIT_EXPECT_EQ(test, i, rec->size - sizeof(*rec));
}

/* Check the @n bytes that were read.  Returns the number of records. */
static u64 check(struct kunit *test, ssize_t n)
{
	struct ring_test *t = test->priv;
	u64 records = 0;
	ssize_t at = 0;

	while (at < n) {
		const struct utrace_rec *rec = (void *)(t->copy + at);

		check_one(test, rec);
		at += rec->size;
		KUNIT_ASSERT_LE(test, at, n);
		records += rec->type != UTRACE_REC_LOST;
	}
	return records;
}

/* Read and check all records.  Returns their number. */
static u64 check_all(struct kunit *test)
{
	u64 records = 0;
	ssize_t n;

	while ((n = take(test->priv, PIECE)) > 0)
		records += check(test, n);
	KUNIT_EXPECT_EQ(test, n, (ssize_t)0);
	return records;
}

static void sizes_are_checked(struct kunit *test)
{
	struct utrace_session *session = utrace_dev_new(current_cred(), &utrace_dev_reader_ops);
	struct utrace_ioc_setup setup = { .rings_size = SZ_32K };

	KUNIT_ASSERT_NOT_NULL(test, session);
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(session, &setup), -EINVAL);
	setup.rings_size = SZ_128M;
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(session, &setup), -EINVAL);
	setup.rings_size = 0;
	setup.full = UTRACE_FULL_DROP + 1;
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(session, &setup), -EINVAL);
	setup.full = 0;
	setup.delay = NSEC_PER_SEC + 1;
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(session, &setup), -EINVAL);
	KUNIT_EXPECT_NULL(test, session->ring);
	setup.delay = 0;
	KUNIT_EXPECT_EQ(test, utrace_dev_ring_make(session, &setup), 0);
	KUNIT_EXPECT_GE(test, session->ring_size, (size_t)UTRACE_RING_MIN);
	utrace_dev_put(session);
}

static void records_come_back(struct kunit *test)
{
	struct ring_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, utrace_dev_reader_ops.has(&t->session->reader));
	KUNIT_EXPECT_EQ(test, take(t, PIECE), 0);
	KUNIT_EXPECT_TRUE(test, put(t, 0, 0, 8));
	KUNIT_EXPECT_TRUE(test, put(t, 0, 0, 0));
	KUNIT_EXPECT_TRUE(test, utrace_dev_reader_ops.has(&t->session->reader));
	KUNIT_EXPECT_EQ(test, take(t, PIECE), 48 + 8 + 48);
	KUNIT_EXPECT_EQ(test, check(test, 104), 2ULL);
	KUNIT_EXPECT_FALSE(test, utrace_dev_reader_ops.has(&t->session->reader));
}

/* Only whole records are read; a buffer that is too small gets none. */
static void no_record_is_cut(struct kunit *test)
{
	struct ring_test *t = test->priv;

	migrate_disable();
	put(t, 0, 0, 88);
	put(t, 0, 0, 88);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, take(t, 135), -EINVAL);
	KUNIT_EXPECT_EQ(test, take(t, 136 + 135), 136);
	KUNIT_EXPECT_EQ(test, check(test, 136), 1ULL);
	KUNIT_EXPECT_EQ(test, take(t, 136), 136);
	KUNIT_EXPECT_EQ(test, check(test, 136), 1ULL);
}

/* A record whose copy failed is read the next time. */
static void fault_loses_nothing(struct kunit *test)
{
	struct ring_test *t = test->priv;

	put(t, 0, 0, 16);
	mutex_lock(&t->session->reader.read_lock);
	KUNIT_EXPECT_EQ(test, utrace_dev_reader_ops.read(&t->session->reader, NULL, PIECE),
			-EFAULT);
	mutex_unlock(&t->session->reader.read_lock);
	KUNIT_EXPECT_EQ(test, take(t, PIECE), 64);
	KUNIT_EXPECT_EQ(test, check(test, 64), 1ULL);
}

/*
 * A program maps the tails during a read(2) and releases the ring to its
 * writer, so read(2) may find anything where a record was.
 */
static void writer_is_faster(struct kunit *test)
{
	static const u32 sizes[] = { 0, 4, 8, 44, SZ_64K, U32_MAX };
	static const u16 types[] = { UTRACE_REC_PAD, UTRACE_REC_EXEC };
	struct ring_test *t = test->priv;
	struct session_ring *ring;
	struct utrace_rec *rec;
	unsigned int i;
	ssize_t got;

	for (i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		migrate_disable();
		ring = &t->session->ring[raw_smp_processor_id()];
		rec = ring->data + (ring->head & (t->session->ring_size - 1));
		put(t, 0, 0, 0);
		put(t, 0, 0, 0);
		migrate_enable();
		rec->size = sizes[i / 2];
		rec->type = types[i % 2];
		got = take(t, PIECE);
		KUNIT_EXPECT_GE(test, got, 0L);
		KUNIT_EXPECT_LE(test, got, 2 * (ssize_t)sizeof(*rec));
		/* Empty the ring for the next iteration. */
		ring->first = ring->head;
		*ring->tail = ring->head;
	}
}

static void run_on(unsigned int cpu)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

/* A full ring keeps its records and counts those that are lost. */
static void full_ring_counts(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 there = 0;
	unsigned int n;

	run_on(cpumask_first(cpu_online_mask));
	while (put(t, 0, 0, 16))
		there++;
	KUNIT_EXPECT_EQ(test, there, (u64)t->session->ring_size / 64);
	for (n = 0; n < 9; n++)
		KUNIT_EXPECT_FALSE(test, put(t, 0, n % 2, 16));
	/* The next record also needs room for two LOST records. */
	KUNIT_EXPECT_EQ(test, take(t, 64), 64);
	check(test, 64);
	KUNIT_EXPECT_FALSE(test, put(t, 0, 0, 16));
	KUNIT_EXPECT_EQ(test, take(t, 128), 128);
	check(test, 128);
	KUNIT_EXPECT_TRUE(test, put(t, 0, 0, 16));
	KUNIT_EXPECT_EQ(test, check_all(test), there - 3 + 1);
	KUNIT_EXPECT_EQ(test, t->got[0], (u32)there + 1 + 9 + 1 + 1);
	KUNIT_EXPECT_EQ(test, t->lost[1], 1ULL + 5 + 1);
	KUNIT_EXPECT_EQ(test, t->lost[2], 4ULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&t->target[1].lost), 4LL);
}

/*
 * If more targets lose records than a ring counts separately, the sum is right.
 */
static void many_targets_lose(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 sum = 0;
	unsigned int i;

	run_on(cpumask_first(cpu_online_mask));
	while (put(t, 0, 0, 16))
		;
	for (i = 0; i < 5 * TARGETS; i++)
		put(t, 0, i % TARGETS, 16);
	check_all(test);
	KUNIT_EXPECT_TRUE(test, put(t, 0, 0, 16));
	check_all(test);
	for (i = 0; i <= TARGETS; i++)
		sum += t->lost[i];
	KUNIT_EXPECT_EQ(test, sum, 5ULL * TARGETS + 1);
	KUNIT_EXPECT_EQ(test, t->lost[1], 6ULL);
	KUNIT_EXPECT_EQ(test, t->lost[0],
			5ULL * (TARGETS - SESSION_RING_LOSSES + 1));
}

/* An empty ring has room for the largest record, wherever its end is. */
static void largest_record_has_room(struct kunit *test)
{
	const size_t most = UTRACE_DEV_RECORD_SIZE - sizeof(struct utrace_rec);
	struct ring_test *t = test->priv;
	unsigned int i;

	run_on(cpumask_first(cpu_online_mask));
	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_TRUE(test, put(t, 0, 0, i % 500 * 8));
		check_all(test);
		KUNIT_ASSERT_TRUE(test, put(t, 1, 1, most));
		check_all(test);
	}
}

/*
 * Every record is read or counted as lost, whatever the sizes and the CPUs are.
 */
static void any_sizes(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 read = 0, wrote = 0, reported = 0, lost = 0;
	struct rnd_state random;
	unsigned int round, i;

	prandom_seed_state(&random, 6);
	for (round = 0; round < 2000; round++) {
		u32 r = prandom_u32_state(&random);

		run_on(cpumask_nth(r % num_online_cpus(), cpu_online_mask));
		for (i = 0; i < r % 64; i++)
			wrote += put(t, (r + i) % TASKS, (r >> 4) % TARGETS,
				     (r >> 8) % 64 ? (r >> 6) % 200 & ~7 :
						     3000);
		if (r & BIT(20)) {
			ssize_t n = take(t, 4096 + (r >> 10) % (PIECE - 4096));

			KUNIT_ASSERT_GE(test, n, (ssize_t)0);
			read += check(test, n);
		}
	}
	read += check_all(test);
	/*
	 * The next record of each ring writes the LOST records of the last
	 * losses.
	 */
	for_each_online_cpu(i) {
		run_on(i);
		wrote += put(t, 0, 0, 8);
	}
	read += check_all(test);
	for (i = 0; i <= TARGETS; i++)
		reported += t->lost[i];
	for (i = 0; i < TARGETS; i++)
		lost += atomic64_read(&t->target[i].lost);
	KUNIT_EXPECT_EQ(test, read, wrote);
	KUNIT_EXPECT_EQ(test, reported, lost);
	KUNIT_EXPECT_GT(test, lost, 0ULL);
	KUNIT_EXPECT_GT(test, t->session->ring[0].head, 4ULL * SZ_64K);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(sizes_are_checked),
	KUNIT_CASE(records_come_back),
	KUNIT_CASE(no_record_is_cut),
	KUNIT_CASE(fault_loses_nothing),
	KUNIT_CASE(writer_is_faster),
	KUNIT_CASE(full_ring_counts),
	KUNIT_CASE(many_targets_lose),
	KUNIT_CASE(largest_record_has_room),
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

MODULE_DESCRIPTION("KUnit suite for the rings of /dev/utrace");
MODULE_LICENSE("GPL");
