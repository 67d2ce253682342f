// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_count_call: the numbers of a task
 *
 * Random calls are counted, and compared with the simplest possible model.
 */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../../decode/table.h"
#include "../../syscall_current.h"
#include "fixture.h"

/* Numbers that are counted: those below are calls, this one is invalid. */
#define MODEL_CALLS	60
#define MODEL_SLOTS	(MODEL_CALLS + 1)

/* Number of errnos, more than a count distinguishes. */
#define MODEL_ERRNOS	(2 * UTRACE_COUNT_ERRNOS)

/* The numbers that a naive reader of a log of all calls computes. */
struct model {
	struct utrace_count_numbers of[MODEL_SLOTS];
};

/* Number of significant bits of @n. */
static unsigned int model_bits(u64 n)
{
	unsigned int bits = 0;

	for (; n; n /= 2)
		bits++;
	return bits;
}

static void model_error(struct utrace_count_numbers *m, int err)
{
	unsigned int i;

	m->errors++;
	for (i = 0; i < UTRACE_COUNT_ERRNOS && m->err[i]; i++) {
		if (m->err[i] == err) {
			m->errno_calls[i]++;
			return;
		}
	}
	if (i == UTRACE_COUNT_ERRNOS) {
		m->errno_other++;
		return;
	}
	m->err[i] = err;
	m->errno_calls[i] = 1;
}

static void model_call(struct utrace_count_numbers *m, long ret, u64 duration,
		       s64 cpu)
{
	unsigned int bits = model_bits(duration);

	if (!m->calls || duration < m->min)
		m->min = duration;
	if (!m->calls || duration > m->max)
		m->max = duration;
	m->calls++;
	m->total += duration;
	m->bucket[bits < 31 ? bits : 31]++;
	if (cpu >= 0) {
		m->cpu += cpu;
		m->cpu_calls++;
	}
	if (ret < 0 && ret >= -4095)
		model_error(m, -ret);
}

/* Count a random call in the counts and in the model. */
static void random_call(struct utrace_counts *counts,
			struct utrace_count_task *task, struct model *model,
			struct rnd_state *rnd)
{
	unsigned int slot = prandom_u32_state(rnd) % MODEL_SLOTS;
	unsigned int nr = slot, r = prandom_u32_state(rnd);
	u64 duration = (u64)prandom_u32_state(rnd) << 8 >> r % 41;
	s64 cpu = r & BIT(10) ? duration / 2 : UTRACE_COUNT_NO_CPU;
	long ret = r >> 12;

	/* Use any invalid number, or the one that represents all of them. */
	if (slot == MODEL_CALLS)
		nr = r & BIT(11) ? UTRACE_SYSCALL_NONE : 5000 + r % 1000;
	if (r % 3 == 0)
		ret = -(1 + ret % MODEL_ERRNOS);
	/* Often repeat the last call. */
	for (r %= 4; r; r--) {
		utrace_count_call(counts, task, nr, ret, duration, cpu);
		model_call(&model->of[slot], ret, duration, cpu);
	}
}

static void check_rows(struct kunit *test, const struct model *model,
		       unsigned int piece)
{
	unsigned int slot, n = 0;

	for (slot = 0; slot < MODEL_SLOTS; slot++)
		n += model->of[slot].calls != 0;
	KUNIT_ASSERT_EQ(test, count_rows(test, piece), n);
	for (slot = 0; slot < MODEL_SLOTS; slot++) {
		const struct utrace_count_row *row;

		if (!model->of[slot].calls)
			continue;
		row = count_row_of(test, task_pid(current),
				   slot < MODEL_CALLS ? slot : UTRACE_SYSCALL_NONE);
		KUNIT_EXPECT_MEMEQ(test, &row->numbers, &model->of[slot],
				   sizeof(row->numbers));
		KUNIT_EXPECT_STREQ(test, row->comm, current->comm);
		KUNIT_EXPECT_EQ(test, row->alive, 1U);
	}
}

static void numbers_are_those_of_the_model(struct kunit *test)
{
	static const unsigned int pieces[] = { 1, 2, 7, MODEL_SLOTS, 100 };
	struct count_test *t = test->priv;
	struct utrace_count_task *task = count_new_task(t);
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct rnd_state rnd;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_ASSERT_NOT_NULL(test, model);
	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 20; i++)
		random_call(&t->counts, task, model, &rnd);
	check_rows(test, model, 3);
	for (i = 0; i < 30000; i++)
		random_call(&t->counts, task, model, &rnd);
	for (i = 0; i < ARRAY_SIZE(pieces); i++)
		check_rows(test, model, pieces[i]);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&t->counts.lost), 0L);
	KUNIT_EXPECT_EQ(test, t->counts.ncounts, MODEL_SLOTS);
	utrace_count_put_task(task);
}

/* Check which numbers the kernel's table has, as the model assumes. */
static void model_has_calls(struct kunit *test)
{
	unsigned int nr;

	for (nr = 0; nr < MODEL_CALLS; nr++)
		KUNIT_EXPECT_NOT_NULL(test, utrace_call_of(nr));
	for (nr = 5000; nr < 6000; nr++)
		KUNIT_EXPECT_NULL(test, utrace_call_of(nr));
}

/* Compare each epoch with a separate model. */
static void epochs_begin_at_zero(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_task *task = count_new_task(t);
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct rnd_state rnd;
	unsigned int epoch, i;

	KUNIT_ASSERT_NOT_NULL(test, task);
	KUNIT_ASSERT_NOT_NULL(test, model);
	prandom_seed_state(&rnd, 2);
	for (epoch = 0; epoch < 20; epoch++) {
		for (i = 0; i < 10 * epoch; i++)
			random_call(&t->counts, task, model, &rnd);
		check_rows(test, model, 5);
		utrace_counts_clear(&t->counts);
		memset(model, 0, sizeof(*model));
		KUNIT_EXPECT_EQ(test, count_rows(test, 5), 0U);
	}
	utrace_count_put_task(task);
}

static void errnos_overflow(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_task *task = count_new_task(t);
	const struct utrace_count_numbers *numbers;
	int err, i;

	KUNIT_ASSERT_NOT_NULL(test, task);
	/* The first errno occurs once, the second twice, and so on. */
	for (err = 1; err <= UTRACE_COUNT_ERRNOS + 2; err++)
		for (i = 0; i < err; i++)
			utrace_count_call(&t->counts, task, 3, -err, 1, 0);
	utrace_count_call(&t->counts, task, 3, -4095, 1, 0);
	utrace_count_call(&t->counts, task, 3, -4096, 1, 0);
	utrace_count_call(&t->counts, task, 3, LONG_MIN, 1, 0);
	count_rows(test, 1);
	numbers = &count_row_of(test, task_pid(current), 3)->numbers;
	for (i = 0; i < UTRACE_COUNT_ERRNOS; i++) {
		KUNIT_EXPECT_EQ(test, numbers->err[i], i + 1);
		KUNIT_EXPECT_EQ(test, numbers->errno_calls[i], i + 1);
	}
	KUNIT_EXPECT_EQ(test, numbers->errno_other,
			2U * UTRACE_COUNT_ERRNOS + 3 + 1);
	KUNIT_EXPECT_EQ(test, numbers->calls, numbers->errors + 2);
	utrace_count_put_task(task);
}

static void buckets_have_their_bounds(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_task *task = count_new_task(t);
	const struct utrace_count_numbers *numbers;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, task);
	utrace_count_call(&t->counts, task, 0, 0, 0, 0);
	for (i = 0; i < 64; i++)
		utrace_count_call(&t->counts, task, 0, 0, 1ULL << i, 0);
	count_rows(test, 1);
	numbers = &count_row_of(test, task_pid(current), 0)->numbers;
	for (i = 0; i < UTRACE_COUNT_BUCKETS - 1; i++)
		KUNIT_EXPECT_EQ(test, numbers->bucket[i], 1U);
	KUNIT_EXPECT_EQ(test, numbers->bucket[i], 64U - 30);
	KUNIT_EXPECT_EQ(test, numbers->min, 0ULL);
	KUNIT_EXPECT_EQ(test, numbers->max, 1ULL << 63);
	utrace_count_put_task(task);
}

static void small_numbers_stay_at_their_maximum(struct kunit *test)
{
	struct count_test *t = test->priv;
	struct utrace_count_task *task = count_new_task(t);
	struct utrace_count_numbers *numbers;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, task);
	utrace_count_call(&t->counts, task, 1, -EINTR, 100, 0);
	numbers = &(*utrace_count_recent(task, 1))->numbers;
	numbers->bucket[7] = U32_MAX - 1;
	numbers->errno_calls[0] = U32_MAX - 1;
	for (i = 0; i < 3; i++)
		utrace_count_call(&t->counts, task, 1, -EINTR, 100, 0);
	KUNIT_EXPECT_EQ(test, numbers->bucket[7], U32_MAX);
	KUNIT_EXPECT_EQ(test, numbers->errno_calls[0], U32_MAX);
	KUNIT_EXPECT_EQ(test, numbers->errors, 4ULL);
	KUNIT_EXPECT_EQ(test, numbers->calls, 4ULL);
	utrace_count_put_task(task);
}

static struct kunit_case count_call_cases[] = {
	KUNIT_CASE(model_has_calls),
	KUNIT_CASE(numbers_are_those_of_the_model),
	KUNIT_CASE(epochs_begin_at_zero),
	KUNIT_CASE(errnos_overflow),
	KUNIT_CASE(buckets_have_their_bounds),
	KUNIT_CASE(small_numbers_stay_at_their_maximum),
	{}
};

static struct kunit_suite count_call_suite = {
	.name = "utrace_count_call",
	.init = count_init,
	.exit = count_exit,
	.test_cases = count_call_cases,
};

kunit_test_suite(count_call_suite);

MODULE_DESCRIPTION("KUnit suite for counts of system calls");
MODULE_LICENSE("GPL");
