// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_bts_lab: rings and random machines
 *
 * Random machines are compared with a model, also from the hard interrupt of a
 * timer, where lockdep would detect a lock and might_sleep() a wait.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "suite.h"

/**
 * struct lab_test - state of a test
 * @buffer: a ring
 * @ring: memory of the ring
 * @many: other records
 * @reader: records that were read
 */
struct lab_test {
	struct branch_buffer buffer;
	struct utrace_branch ring[SUITE_RING];
	struct utrace_branch many[SUITE_RING];
	struct suite_reader reader;
};

static int lab_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct lab_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

/* Rings */

static void ring_sizes_are_checked(struct kunit *test)
{
	static const u64 wrong[] = { 0, 1, 3, 6, SUITE_RING - 1, SUITE_RING + 1 };
	struct lab_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ(test,
				utrace_branch_buffer_init(&t->buffer, t->ring,
							  wrong[i], false,
							  false), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_init(&t->buffer, t->ring,
							2, false, false), 0);
	KUNIT_EXPECT_FALSE(test, utrace_branch_buffer_has(&t->buffer));
	suite_expect(test, &t->reader, &t->buffer, NULL, 0);
}

/* Records that do not fit are counted at the place where they are missing. */
static void full_ring_counts(struct kunit *test)
{
	static const struct utrace_branch want[] = {
		{ 2, 2 }, { 3, 3 }, LOST(3, FULL), { 7, 7 }
	};
	struct lab_test *t = test->priv;
	struct branch_buffer *buffer = &t->buffer;
	unsigned int i;

	utrace_branch_buffer_init(buffer, t->ring, 4, false, false);
	for (i = 0; i < 6; i++)
		utrace_branch_buffer_put(buffer, i, i, 0);
	KUNIT_EXPECT_EQ(test, buffer->counts[UTRACE_LOSS_FULL], 2ULL);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_room(buffer), 0ULL);
	KUNIT_EXPECT_FALSE(test, utrace_branch_buffer_write_losses(buffer));
	utrace_branch_buffer_put(buffer, 6, 6, 0);
	KUNIT_EXPECT_EQ(test, suite_read(&t->reader, buffer, 2), 2U);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_room(buffer), 1ULL);
	utrace_branch_buffer_put(buffer, 7, 7, 0);
	suite_expect(test, &t->reader, buffer, want, ARRAY_SIZE(want));
	KUNIT_EXPECT_EQ(test, buffer->counts[UTRACE_LOSS_FULL], 3ULL);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_room(buffer), 4ULL);
}

/* Each cause is reported and counted separately. */
static void causes_are_apart(struct kunit *test)
{
	static const struct utrace_branch want[] = {
		GAP(EDGE), { 1, 1 }, LOST(2, FULL), GAP(OFF), GAP(HARDWARE)
	};
	struct lab_test *t = test->priv;
	struct branch_buffer *buffer = &t->buffer;
	const struct utrace_branch some[3] = { { 1, 1 }, { 2, 2 }, { 3, 3 } };

	utrace_branch_buffer_init(buffer, t->ring, 2, false, false);
	utrace_branch_buffer_gap(buffer, UTRACE_LOSS_EDGE);
	utrace_branch_buffer_write(buffer, some, 3);
	utrace_branch_buffer_gap(buffer, UTRACE_LOSS_HARDWARE);
	utrace_branch_buffer_gap(buffer, UTRACE_LOSS_OFF);
	suite_expect(test, &t->reader, buffer, want, 2);
	KUNIT_EXPECT_FALSE(test, utrace_branch_buffer_write_losses(buffer));
	suite_expect(test, &t->reader, buffer, want + 2, 2);
	KUNIT_EXPECT_TRUE(test, utrace_branch_buffer_write_losses(buffer));
	suite_expect(test, &t->reader, buffer, want + 4, 1);
	KUNIT_EXPECT_EQ(test, buffer->counts[UTRACE_LOSS_FULL], 2ULL);
	KUNIT_EXPECT_EQ(test, buffer->counts[UTRACE_LOSS_EDGE], 1ULL);
	KUNIT_EXPECT_EQ(test, buffer->counts[UTRACE_LOSS_OFF], 1ULL);
	KUNIT_EXPECT_EQ(test, buffer->counts[UTRACE_LOSS_HARDWARE], 1ULL);
}

/* The reader of a ring that overwrites gets the loss and then the owner. */
static void last_records_have_an_owner(struct kunit *test)
{
	static const struct utrace_branch want[] = {
		LOST(4, OVERWRITTEN), TASK(2), { 4, 4 }, { 5, 5 }, { 6, 6 },
		{ 7, 7 }
	};
	struct lab_test *t = test->priv;
	struct branch_buffer *buffer = &t->buffer;
	unsigned int i;

	utrace_branch_buffer_init(buffer, t->ring, 4, true, true);
	for (i = 0; i < 8; i++)
		utrace_branch_buffer_put(buffer, i, i,
					 i == 1 || i == 2 ? UTRACE_BRANCH_TASK :
					 UTRACE_BRANCH);
	KUNIT_EXPECT_TRUE(test, utrace_branch_buffer_has(buffer));
	/* A reader that reads one record at a time gets the same. */
	KUNIT_EXPECT_EQ(test, suite_read(&t->reader, buffer, 1), 1U);
	KUNIT_EXPECT_EQ(test, t->reader.got[0].from, 4ULL);
	suite_expect(test, &t->reader, buffer, want + 1, ARRAY_SIZE(want) - 1);
	KUNIT_EXPECT_EQ(test, buffer->counts[UTRACE_LOSS_OVERWRITTEN], 4ULL);
	KUNIT_EXPECT_FALSE(test, utrace_branch_buffer_has(buffer));
	utrace_branch_buffer_put(buffer, 8, 8, 0);
	suite_expect(test, &t->reader, buffer, &(const struct utrace_branch){ 8, 8 }, 1);
}

/* More records than the ring can hold are written at once. */
static void last_records_of_many(struct kunit *test)
{
	struct lab_test *t = test->priv;
	struct branch_buffer *buffer = &t->buffer;
	unsigned int i;

	for (i = 0; i < SUITE_RING; i++)
		t->many[i] = (struct utrace_branch){ i, i };
	utrace_branch_buffer_init(buffer, t->ring, 8, true, false);
	utrace_branch_buffer_write(buffer, t->many, SUITE_RING);
	KUNIT_EXPECT_EQ(test, suite_read(&t->reader, buffer, SUITE_RING), 9U);
	KUNIT_EXPECT_EQ(test, t->reader.got[0].from, (u64)SUITE_RING - 8);
	KUNIT_EXPECT_EQ(test, t->reader.got[1].from, (u64)SUITE_RING - 8);
	KUNIT_EXPECT_EQ(test, t->reader.got[8].from, (u64)SUITE_RING - 1);
}

/* Records are read in place, up to the end of the memory. */
static void records_are_peeked(struct kunit *test)
{
	struct lab_test *t = test->priv;
	struct branch_buffer *buffer = &t->buffer;
	const struct utrace_branch *records;
	unsigned int i;

	utrace_branch_buffer_init(buffer, t->ring, 8, false, false);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_peek(buffer, &records, 8),
			0U);
	for (i = 0; i < 8; i++)
		utrace_branch_buffer_put(buffer, i, i, 0);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_peek(buffer, &records, 5),
			5U);
	utrace_branch_buffer_skip(buffer, 5);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_room(buffer), 5ULL);
	utrace_branch_buffer_put(buffer, 8, 8, 0);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_peek(buffer, &records, 8),
			3U);
	KUNIT_EXPECT_EQ(test, records->from, 5ULL);
	utrace_branch_buffer_skip(buffer, 3);
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_peek(buffer, &records, 8),
			1U);
	KUNIT_EXPECT_EQ(test, records->from, 8ULL);
	utrace_branch_buffer_skip(buffer, 1);
	KUNIT_EXPECT_FALSE(test, utrace_branch_buffer_has(buffer));
}

/* Random machines */

/* Numbers of rounds in process context and from the timer. */
#define ROUNDS		200
#define TIMER_ROUNDS	20

static void lab_free(void *lab)
{
	vfree(lab);
}

static struct lab *make_lab(struct kunit *test)
{
	struct lab *lab = vzalloc(sizeof(*lab));

	KUNIT_ASSERT_NOT_NULL(test, lab);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, lab_free, lab),
			0);
	return lab;
}

static void properties_hold(struct kunit *test)
{
	struct lab *lab = make_lab(test);
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		KUNIT_ASSERT_TRUE_MSG(test, lab_round(lab, i),
				      "see the log for details");
		cond_resched();
	}
	KUNIT_EXPECT_TRUE_MSG(test, lab_has_judged(lab, ROUNDS),
			      "a property was tested too rarely");
}

/**
 * struct lab_timer - a timer that works in hard interrupt context
 * @timer: the timer
 * @lab: runs a round each time; NULL: the timer writes to @buffer
 * @buffer: a ring, which the thread of the test reads
 * @rounds: number of rounds to run
 * @done: number of rounds that were run
 * @bad: number of rounds with an error
 * @next: number of the next record
 * @some: memory of records
 */
struct lab_timer {
	struct hrtimer timer;
	struct lab *lab;
	struct branch_buffer *buffer;
	unsigned int rounds;
	unsigned int done;
	unsigned int bad;
	u64 next;
	struct utrace_branch some[40];
};

static void lab_timer_write(struct lab_timer *t)
{
	unsigned int i, n = 1 + t->done % ARRAY_SIZE(t->some);

	for (i = 0; i < n; i++, t->next++)
		t->some[i] = (struct utrace_branch){ t->next, ~t->next, 0 };
	utrace_branch_buffer_write(t->buffer, t->some, n);
}

static enum hrtimer_restart lab_timer_run(struct hrtimer *timer)
{
	struct lab_timer *t = container_of(timer, struct lab_timer, timer);

	t->bad += !in_hardirq() || !irqs_disabled();
	if (t->lab)
		t->bad += !lab_round(t->lab, 1000 + t->done);
	else
		lab_timer_write(t);
	WRITE_ONCE(t->done, t->done + 1);
	if (t->done >= t->rounds || t->bad)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime((t->lab ? 1000 : 50) *
					       NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void lab_timer_stop(void *t)
{
	hrtimer_cancel(&((struct lab_timer *)t)->timer);
}

static void start_timer(struct kunit *test, struct lab_timer *t)
{
	hrtimer_init(&t->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	t->timer.function = lab_timer_run;
	hrtimer_start(&t->timer, ns_to_ktime(50 * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_HARD);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, lab_timer_stop,
							t), 0);
}

/* P12: the core takes no locks, does not sleep, and wakes no task. */
static void properties_hold_in_interrupts(struct kunit *test)
{
	struct lab_timer *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->lab = make_lab(test);
	t->rounds = TIMER_ROUNDS;
	start_timer(test, t);
	while (hrtimer_active(&t->timer))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, t->done, TIMER_ROUNDS);
	KUNIT_EXPECT_EQ_MSG(test, t->bad, 0U, "see the log for details");
	KUNIT_EXPECT_TRUE_MSG(test, lab_has_judged(t->lab, TIMER_ROUNDS),
			      "a property was tested too rarely");
}

/* Check @n records, starting with number @next.  Returns the next number. */
static u64 check_records(struct kunit *test, const struct utrace_branch *got,
			 unsigned int n, u64 next)
{
	for (; n; n--, got++) {
		if (got->info) {
			next += got->from;
			continue;
		}
		KUNIT_ASSERT_EQ(test, got->from, next);
		KUNIT_ASSERT_EQ(test, got->to, ~next);
		next++;
	}
	return next;
}

/*
 * A reader that a writer interrupts never gets a torn record.  The reader
 * copies all the time, and rarely consumes what it has copied, so most
 * interrupts come during a copy.
 */
static void interrupt_writes_while_read(struct kunit *test)
{
	struct lab_timer *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned long end = jiffies + 2 * HZ;
	struct lab_test *c = test->priv;
	struct branch_buffer *buffer = &c->buffer;
	struct branch_cursor cursor;
	u64 next = 0, seen;
	unsigned int i, n;

	KUNIT_ASSERT_NOT_NULL(test, t);
	utrace_branch_buffer_init(buffer, c->ring, 16, true, false);
	t->buffer = buffer;
	t->rounds = 5000;
	start_timer(test, t);
	for (i = 0; hrtimer_active(&t->timer) && time_before(jiffies, end); i++) {
		n = utrace_branch_buffer_copy(buffer, c->reader.got, 17,
					      &cursor);
		seen = check_records(test, c->reader.got, n, next);
		if (!(i % 1024)) {
			utrace_branch_buffer_take(buffer, &cursor);
			next = seen;
			cond_resched();
		}
	}
	KUNIT_EXPECT_EQ(test, t->bad, 0U);
	KUNIT_EXPECT_GT(test, t->done, 50U);
	KUNIT_EXPECT_GT(test, buffer->counts[UTRACE_LOSS_OVERWRITTEN], 0ULL);
}

static struct kunit_case lab_cases[] = {
	KUNIT_CASE(ring_sizes_are_checked),
	KUNIT_CASE(full_ring_counts),
	KUNIT_CASE(causes_are_apart),
	KUNIT_CASE(last_records_have_an_owner),
	KUNIT_CASE(last_records_of_many),
	KUNIT_CASE(records_are_peeked),
	KUNIT_CASE(properties_hold),
	KUNIT_CASE(properties_hold_in_interrupts),
	KUNIT_CASE(interrupt_writes_while_read),
	{}
};

static struct kunit_suite lab_suite = {
	.name = "utrace_bts_lab",
	.init = lab_init,
	.test_cases = lab_cases,
};

kunit_test_suite(lab_suite);

MODULE_DESCRIPTION("KUnit suite for rings and random machines of branches");
MODULE_LICENSE("GPL");
