// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_bts_core: views and windows
 *
 * The cases here are written by hand; lab_kunit.c has random ones.
 */
#include "suite.h"

#define K(offset)	(LAB_KERNEL + (offset))
#define IRQ		K(0x10)
#define SYSCALL		K(0x30)
#define UD		K(0x40)
#define PC_UD		UTRACE_PC_EXCEPTION(6)

#define CALL		(UTRACE_BR_SYSCALL << 8)
#define RETURN		(UTRACE_BR_SYSRET << 8)
static const struct branch_entry core_entry[] = {
	{ IRQ, 0, BRANCH_ENTRY_TRANSPARENT },
	{ SYSCALL, UTRACE_PC_SYSCALL, BRANCH_ENTRY_SYSCALL },
	{ UD, PC_UD, BRANCH_ENTRY_EXCEPTION },
};

static const struct branch_entries core_entries = {
	core_entry, ARRAY_SIZE(core_entry)
};

#define WINDOW	300
#define RING	SUITE_RING

/**
 * struct core_test - state of a test
 * @fake: an emulated processor
 * @records: memory of its window
 * @buffer: rings of two streams
 * @stream: the streams
 * @ring: memory of the rings
 * @reader: records that were read
 * @thread: streams of a thread
 * @paused: number of calls of core_pause()
 */
struct core_test {
	struct branch_fake fake;
	struct utrace_branch records[WINDOW];
	struct branch_buffer buffer[2];
	struct branch_stream stream[2];
	struct utrace_branch ring[2][RING];
	struct suite_reader reader;
	struct list_head thread;
	unsigned int paused;
};

/* Only stream 0 of a test waits. */
static void core_pause(struct branch_stream *stream)
{
	container_of(stream, struct core_test, stream[0])->paused++;
}

static int core_init(struct kunit *test)
{
	struct core_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	INIT_LIST_HEAD(&t->thread);
	return 0;
}

/* Set up a processor with a window of @n records. */
static void make_fake(struct kunit *test, unsigned int n)
{
	struct core_test *t = test->priv;

	branch_fake_init(&t->fake, t->records, n);
}

/* Set up stream @i, with a ring of @size records. */
static void make_stream(struct kunit *test, unsigned int i,
			enum branch_level level, unsigned int size,
			bool overwrite, bool wait)
{
	struct core_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, utrace_branch_buffer_init(&t->buffer[i],
							t->ring[i], size,
							overwrite, true), 0);
	KUNIT_ASSERT_EQ(test,
			utrace_branch_stream_init(&t->stream[i], level,
						  &core_entries, &t->buffer[i],
						  wait ? core_pause : NULL), 0);
}

static void add(struct kunit *test, unsigned int i, bool of_thread)
{
	struct core_test *t = test->priv;

	KUNIT_ASSERT_EQ(test,
			utrace_branch_window_add(&t->fake.window, &t->stream[i],
						 of_thread ? &t->thread : NULL),
			0);
}

/* Make the processor record @n branches in user mode, with interrupts. */
static void run(struct core_test *t, unsigned int n)
{
	struct utrace_branch branch = { 0x1000, 0x1000, 0 };

	while (n--) {
		branch_fake_store(&t->fake, &branch);
		if (branch_fake_due(&t->fake))
			utrace_branch_window_interrupt(&t->fake.window);
	}
}

static unsigned int records_in_window(const struct core_test *t)
{
	return (t->fake.store.index - t->fake.store.base) /
	       sizeof(struct utrace_branch);
}

static unsigned int threshold(const struct core_test *t)
{
	return (t->fake.store.threshold - t->fake.store.base) /
	       sizeof(struct utrace_branch);
}

static unsigned int read(struct core_test *t, struct branch_buffer *buffer)
{
	return suite_read(&t->reader, buffer, RING);
}

static void expect(struct kunit *test, struct branch_buffer *buffer,
		   const struct utrace_branch *records, unsigned int n)
{
	struct core_test *t = test->priv;

	suite_expect(test, &t->reader, buffer, records, n);
}

/* Views */

/**
 * struct view_case - expected result of a view
 * @what: description of the case
 * @level: level that the consumer wants
 * @finish: the thread ends after the records
 * @n: number of elements of @raw
 * @raw: raw records
 * @n_want: number of elements of @want
 * @want: records that the consumer must get
 */
struct view_case {
	const char *what;
	enum branch_level level;
	bool finish;
	unsigned int n;
	struct utrace_branch raw[6];
	unsigned int n_want;
	struct utrace_branch want[6];
};

static const struct view_case view_cases[] = {
	{
		"an interrupt is not recorded", BRANCH_LEVEL_USER, .n = 5,
		.raw = { { 1, 2 }, { 3, IRQ }, { IRQ, K(9) }, { K(9), 3 },
			 { 4, 5, UTRACE_BRANCH_PREDICTED } },
		.n_want = 2,
		.want = { { 1, 2 }, { 4, 5, UTRACE_BRANCH_PREDICTED } },
	}, {
		"an unknown entry is not recorded", BRANCH_LEVEL_USER, .n = 3,
		.raw = { { 3, K(0x99) }, { K(9), 3 }, { 4, 5 } },
		.n_want = 1, .want = { { 4, 5 } },
	}, {
		"an interrupt that moves the thread", BRANCH_LEVEL_USER, .n = 3,
		.raw = { { 3, IRQ }, { K(9), 8 }, { 9, 7 } },
		.n_want = 3,
		.want = { { 3, UTRACE_PC_ASYNC }, { UTRACE_PC_ASYNC, 8 },
			  { 9, 7 } },
	}, {
		"a system call", BRANCH_LEVEL_USER, .n = 3,
		.raw = { { 3, SYSCALL, UTRACE_BRANCH_PREDICTED },
			 { K(0), K(5) }, { K(9), 5 } },
		.n_want = 2,
		.want = { { 3, UTRACE_PC_SYSCALL,
			    CALL | UTRACE_BRANCH_PREDICTED },
			  { UTRACE_PC_SYSCALL, 5, RETURN } },
	}, {
		"an exception that returns to its instruction", BRANCH_LEVEL_USER,
		.n = 2, .raw = { { 3, UD }, { K(9), 3 } },
		.n_want = 2, .want = { { 3, PC_UD }, { PC_UD, 3 } },
	}, {
		"a stream that begins in the kernel", BRANCH_LEVEL_USER, .n = 3,
		.raw = { { K(1), K(2) }, { K(9), 3 }, { 4, 5 } },
		.n_want = 2, .want = { { UTRACE_PC_KERNEL, 3 }, { 4, 5 } },
	}, {
		"the entry into the kernel is missing", BRANCH_LEVEL_USER, .n = 2,
		.raw = { { 1, 2 }, { K(9), 8 } }, .n_want = 3,
		.want = { { 1, 2 }, GAP(EDGE), { UTRACE_PC_KERNEL, 8 } },
	}, {
		"the exit from the kernel is missing", BRANCH_LEVEL_USER, .n = 2,
		.raw = { { 3, SYSCALL }, { 7, 8 } }, .n_want = 3,
		.want = { { 3, UTRACE_PC_SYSCALL, CALL }, GAP(EDGE), { 7, 8 } },
	}, {
		"the exit before a second entry is missing", BRANCH_LEVEL_USER,
		.n = 3, .raw = { { 3, IRQ }, { 7, SYSCALL }, { K(9), 8 } },
		.n_want = 3,
		.want = { GAP(EDGE), { 7, UTRACE_PC_SYSCALL, CALL },
			  { UTRACE_PC_SYSCALL, 8, RETURN } },
	}, {
		"entry and exit are missing", BRANCH_LEVEL_USER, .n = 3,
		.raw = { { 1, 2 }, { K(1), K(2) }, { 1, 2 } }, .n_want = 3,
		.want = { { 1, 2 }, GAP(EDGE), { 1, 2 } },
	}, {
		"the thread dies in an interrupt", BRANCH_LEVEL_USER,
		.finish = true, .n = 1, .raw = { { 3, IRQ } },
		.n_want = 1, .want = { { 3, UTRACE_PC_ASYNC } },
	}, {
		"the thread dies in a system call", BRANCH_LEVEL_USER,
		.finish = true, .n = 1, .raw = { { 3, SYSCALL } },
		.n_want = 1, .want = { { 3, UTRACE_PC_SYSCALL, CALL } },
	}, {
		"a source with pseudo-addresses", BRANCH_LEVEL_USER, .n = 4,
		.raw = { { 3, UTRACE_PC_SYSCALL, CALL },
			 { UTRACE_PC_EXEC, 9, RETURN },
			 { 9, UTRACE_PC_ASYNC }, { UTRACE_PC_SIGNAL, 9 } },
		.n_want = 4,
		.want = { { 3, UTRACE_PC_SYSCALL, CALL },
			  { UTRACE_PC_EXEC, 9, RETURN },
			  { 9, UTRACE_PC_ASYNC }, { UTRACE_PC_SIGNAL, 9 } },
	}, {
		"another task", BRANCH_LEVEL_USER, .n = 5,
		.raw = { { 3, IRQ }, TASK(7), { K(9), 8 }, { 8, SYSCALL },
			 TASK(9) },
		.n_want = 5,
		.want = { { 3, UTRACE_PC_ASYNC }, TASK(7),
			  { UTRACE_PC_KERNEL, 8 },
			  { 8, UTRACE_PC_SYSCALL, CALL }, TASK(9) },
	}, {
		"records that no source emits", BRANCH_LEVEL_USER, .n = 2,
		.raw = { { K(1), K(2), 0xf }, { K(3), 4, UTRACE_BRANCH_LOST } },
	}, {
		"the kernel", BRANCH_LEVEL_KERNEL, .n = 5,
		.raw = { { 1, 2 }, { 3, IRQ }, TASK(7), { K(1), K(2) },
			 { K(9), 3 } },
		.n_want = 4,
		.want = { { 3, IRQ }, TASK(7), { K(1), K(2) }, { K(9), 3 } },
	}, {
		"both", BRANCH_LEVEL_BOTH, .n = 4,
		.raw = { { 1, 2 }, { 3, IRQ, 0x10 }, TASK(7), { K(9), 3 } },
		.n_want = 4,
		.want = { { 1, 2 }, { 3, IRQ, 0x10 }, TASK(7), { K(9), 3 } },
	},
};

static void view_filters(struct kunit *test)
{
	const struct view_case *c = test->param_value;
	struct core_test *t = test->priv;
	struct branch_view view = {
		.entries = &core_entries,
		.level = c->level,
	};

	utrace_branch_buffer_init(&t->buffer[0], t->ring[0], RING, false,
				  false);
	utrace_branch_view_begin(&view);
	utrace_branch_view_filter(&view, c->raw, c->n, &t->buffer[0]);
	if (c->finish)
		utrace_branch_view_finish(&view, &t->buffer[0]);
	expect(test, &t->buffer[0], c->want, c->n_want);
}

static void view_desc(const struct view_case *c, char *desc)
{
	strscpy(desc, c->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(view, view_cases, view_desc);

/*
 * A record of another kind is found at each position among records of user
 * mode, which are scanned eight at a time.
 */
static void every_place_is_seen(struct kunit *test)
{
	static const struct utrace_branch odd[] = {
		TASK(1), { 1, K(1) }, { K(1), 1 }, { K(1), K(2) },
		{ 1, 1, UTRACE_BRANCH_LOST }
	};
	struct core_test *t = test->priv;
	struct branch_view view = { .level = BRANCH_LEVEL_USER };
	struct utrace_branch raw[20] = {};
	unsigned int i, j, n;

	for (i = 0; i < ARRAY_SIZE(raw) * ARRAY_SIZE(odd); i++) {
		utrace_branch_buffer_init(&t->buffer[0], t->ring[0], RING,
					  false, false);
		utrace_branch_view_begin(&view);
		raw[i % ARRAY_SIZE(raw)] = odd[i / ARRAY_SIZE(raw)];
		utrace_branch_view_filter(&view, raw, ARRAY_SIZE(raw),
					  &t->buffer[0]);
		raw[i % ARRAY_SIZE(raw)] = raw[(i + 1) % ARRAY_SIZE(raw)];
		n = read(t, &t->buffer[0]);
		for (j = 0; j < n; j++) {
			const struct utrace_branch *got = &t->reader.got[j];

			KUNIT_EXPECT_NE(test, got->from, K(1));
			KUNIT_EXPECT_NE(test, got->to, K(1));
			KUNIT_EXPECT_NE(test, got->to, K(2));
			KUNIT_EXPECT_NE(test, got->info,
					(u64)UTRACE_BRANCH_LOST);
			if (got->info == UTRACE_BRANCH_TASK)
				KUNIT_EXPECT_EQ(test, j, i);
		}
		if (i < ARRAY_SIZE(raw))
			KUNIT_EXPECT_EQ(test, view.where,
					i == 19 ? BRANCH_WHERE_UNKNOWN :
					BRANCH_WHERE_USER);
	}
}

/* Windows */

/* Handle an interrupt whose entry and exit are recorded, too. */
static void interrupt_with_branches(struct core_test *t)
{
	const struct utrace_branch in = { 0x1000, K(1) };
	const struct utrace_branch out = { K(2), 0x1000 };

	t->fake.masked = true;
	branch_fake_store(&t->fake, &in);
	utrace_branch_window_interrupt(&t->fake.window);
	t->fake.masked = false;
	branch_fake_store(&t->fake, &out);
}

/* Record @n branches and those of the interrupts.  Returns their number. */
static unsigned int run_with_branches(struct kunit *test, unsigned int n)
{
	const struct utrace_branch branch = { 0x1000, 0x1000 };
	struct core_test *t = test->priv;
	unsigned int i, made = n;

	for (i = 0; i < n; i++) {
		branch_fake_store(&t->fake, &branch);
		if (!branch_fake_due(&t->fake))
			continue;
		interrupt_with_branches(t);
		made += 2;
		KUNIT_EXPECT_EQ(test, records_in_window(t), 1U);
		KUNIT_EXPECT_FALSE(test, branch_fake_due(&t->fake));
	}
	return made;
}

/* The branches of the interrupt fit in a small window, and nothing is lost. */
static void small_windows(struct kunit *test)
{
	struct core_test *t = test->priv;
	unsigned int n, made;

	for (n = BRANCH_WINDOW_MIN; n < BRANCH_WINDOW_MIN + 4; n++) {
		make_fake(test, n);
		make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, false, false);
		add(test, 0, false);
		made = run_with_branches(test, 3 * n);
		KUNIT_EXPECT_GT(test, made, 3 * n);
		utrace_branch_window_drain(&t->fake.window);
		KUNIT_EXPECT_EQ(test, read(t, &t->buffer[0]), made);
		KUNIT_EXPECT_EQ(test,
				t->buffer[0].counts[UTRACE_LOSS_HARDWARE],
				0ULL);
		utrace_branch_window_remove(&t->fake.window, &t->stream[0]);
		KUNIT_EXPECT_FALSE(test, t->fake.on);
	}
}

/* If the processor has filled its window, records may be missing. */
static void full_window_is_a_gap(struct kunit *test)
{
	static const struct utrace_branch want[] = {
		{ 0x1000, 0x1000 }, { 0x1000, 0x1000 }, { 0x1000, 0x1000 },
		{ 0x1000, 0x1000 }, GAP(HARDWARE)
	};
	struct core_test *t = test->priv;
	unsigned int i;

	make_fake(test, 4);
	make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, false, false);
	add(test, 0, false);
	/* The threshold is the end, and the interrupt comes late. */
	t->fake.store.threshold = t->fake.store.max;
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, branch_fake_store(&t->fake, want), i < 4);
	KUNIT_EXPECT_TRUE(test, branch_fake_due(&t->fake));
	KUNIT_EXPECT_TRUE(test,
			  utrace_branch_window_interrupt(&t->fake.window));
	KUNIT_EXPECT_EQ(test, records_in_window(t), 0U);
	expect(test, &t->buffer[0], want, ARRAY_SIZE(want));
}

/* Nothing is read at an invalid index. */
static void wrong_index_is_a_gap(struct kunit *test)
{
	static const long wrong[] = { -24, -1, 1, 23, 4 * 24 + 1, 5 * 24, 6000 };
	struct core_test *t = test->priv;
	unsigned int i, n;

	make_fake(test, 4);
	make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, false, false);
	add(test, 0, false);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		t->fake.store.index = t->fake.store.base + wrong[i];
		utrace_branch_window_drain(&t->fake.window);
		KUNIT_EXPECT_EQ(test, t->fake.store.index, t->fake.store.base);
		n = read(t, &t->buffer[0]);
		KUNIT_EXPECT_EQ(test, n, wrong[i] < 24 ? 1U : 5U);
		KUNIT_EXPECT_EQ(test, UTRACE_BRANCH_TYPE(t->reader.got[n - 1].info),
				(u64)UTRACE_BRANCH_GAP);
	}
}

/* A processor in circular mode continues at the start of its window. */
static void circle_wraps(struct kunit *test)
{
	struct core_test *t = test->priv;

	make_fake(test, 4);
	t->fake.store.threshold = t->fake.store.max + 1;
	t->fake.on = true;
	run(t, 4);
	KUNIT_EXPECT_EQ(test, t->fake.store.index, t->fake.store.base);
	run(t, 5);
	KUNIT_EXPECT_EQ(test, records_in_window(t), 1U);
	KUNIT_EXPECT_FALSE(test, branch_fake_due(&t->fake));
}

static void empty_drain(struct kunit *test)
{
	struct core_test *t = test->priv;

	make_fake(test, WINDOW);
	utrace_branch_window_drain(&t->fake.window);
	KUNIT_EXPECT_FALSE(test, t->fake.on);
	KUNIT_EXPECT_FALSE(test,
			   utrace_branch_window_interrupt(&t->fake.window));
	utrace_branch_window_switch(&t->fake.window, &t->thread, NULL);
	make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, true, false);
	add(test, 0, false);
	KUNIT_EXPECT_TRUE(test, t->fake.on);
	utrace_branch_window_drain(&t->fake.window);
	KUNIT_EXPECT_TRUE(test, t->fake.on);
	expect(test, &t->buffer[0], NULL, 0);
}

/* The continuous ring with the least room decides, unless it is full. */
static void threshold_is_planned(struct kunit *test)
{
	struct core_test *t = test->priv;
	const unsigned int most = WINDOW - WINDOW / 2;

	make_fake(test, WINDOW);
	make_stream(test, 0, BRANCH_LEVEL_BOTH, 2, true, false);
	add(test, 0, false);
	KUNIT_EXPECT_EQ(test, threshold(t), most);
	make_stream(test, 1, BRANCH_LEVEL_BOTH, 256, false, false);
	add(test, 1, false);
	KUNIT_EXPECT_EQ(test, threshold(t), 256U - WINDOW / 2 - BRANCH_RESERVE);
	run(t, 30);
	utrace_branch_window_drain(&t->fake.window);
	KUNIT_EXPECT_EQ(test, threshold(t),
			256U - WINDOW / 2 - BRANCH_RESERVE - 30);
	run(t, 40 - BRANCH_RESERVE);
	utrace_branch_window_drain(&t->fake.window);
	/* Less than BRANCH_FLOOR is free. */
	KUNIT_EXPECT_EQ(test, utrace_branch_buffer_room(&t->buffer[1]), 188ULL);
	KUNIT_EXPECT_EQ(test, threshold(t), most);
	KUNIT_EXPECT_EQ(test, t->paused, 0U);
	read(t, &t->buffer[1]);
	utrace_branch_window_drain(&t->fake.window);
	KUNIT_EXPECT_EQ(test, threshold(t), 256U - WINDOW / 2 - BRANCH_RESERVE);
}

static void wait_is_checked(struct kunit *test)
{
	struct core_test *t = test->priv;
	struct branch_stream *stream = &t->stream[0];
	struct branch_buffer *buffer = &t->buffer[0];

	make_fake(test, WINDOW);
	make_stream(test, 0, BRANCH_LEVEL_USER, 256, false, true);
	KUNIT_EXPECT_EQ(test, utrace_branch_window_add(&t->fake.window, stream,
						       &t->thread), -EINVAL);
	make_stream(test, 0, BRANCH_LEVEL_USER, 512, false, true);
	KUNIT_EXPECT_EQ(test, utrace_branch_window_add(&t->fake.window, stream,
						       NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, utrace_branch_stream_init(stream,
							BRANCH_LEVEL_BOTH, NULL,
							buffer, core_pause),
			-EINVAL);
	buffer->overwrite = true;
	KUNIT_EXPECT_EQ(test, utrace_branch_stream_init(stream,
							BRANCH_LEVEL_USER, NULL,
							buffer, core_pause),
			-EINVAL);
}

/*
 * A stream that waits is paused, and none of its records is lost, though its
 * thread continues for a while.  Other streams continue.  The test removes both
 * streams while one is paused.
 */
static void stream_is_paused(struct kunit *test)
{
	struct core_test *t = test->priv;
	struct branch_window *window = &t->fake.window;
	unsigned int done;

	make_fake(test, WINDOW);
	make_stream(test, 0, BRANCH_LEVEL_USER, 512, false, true);
	add(test, 0, true);
	for (done = 0; !t->paused && done < 1000; done++)
		run(t, 1);
	KUNIT_EXPECT_EQ(test, t->paused, 1U);
	run(t, window->margin);
	done += window->margin;
	KUNIT_EXPECT_EQ(test, t->paused, 1U);
	utrace_branch_window_drain(window);
	KUNIT_EXPECT_FALSE(test, utrace_branch_window_resume(window,
							     &t->stream[0]));
	make_stream(test, 1, BRANCH_LEVEL_BOTH, RING, false, false);
	add(test, 1, false);
	KUNIT_EXPECT_TRUE(test, t->fake.on);
	KUNIT_EXPECT_EQ(test, t->paused, 1U);
	KUNIT_EXPECT_EQ(test, read(t, &t->buffer[0]), done);
	KUNIT_EXPECT_TRUE(test, t->stream[0].paused);
	KUNIT_EXPECT_TRUE(test, utrace_branch_window_resume(window,
							    &t->stream[0]));
	run(t, 1000);
	KUNIT_EXPECT_EQ(test, t->paused, 2U);
	utrace_branch_window_remove(window, &t->stream[0]);
	KUNIT_EXPECT_PTR_EQ(test, window->thread, NULL);
	KUNIT_EXPECT_TRUE(test, t->fake.on);
	utrace_branch_window_remove(window, &t->stream[1]);
	KUNIT_EXPECT_FALSE(test, t->fake.on);
}

/* A switch to a thread without streams costs a CPU stream one record. */
static void task_is_recorded(struct kunit *test)
{
	static const struct utrace_branch want[] = {
		TASK(1), { 0x1000, 0x1000 }, TASK(2), TASK(3),
		{ 0x1000, 0x1000 }
	};
	struct core_test *t = test->priv;
	struct branch_window *window = &t->fake.window;
	struct utrace_branch task = TASK(1);

	make_fake(test, WINDOW);
	make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, false, false);
	make_stream(test, 1, BRANCH_LEVEL_BOTH, RING, false, false);
	add(test, 0, false);
	list_add_tail(&t->stream[1].list, &t->thread);
	utrace_branch_window_switch(window, NULL, &task);
	run(t, 1);
	KUNIT_EXPECT_EQ(test, records_in_window(t), 2U);
	task.from = 2;
	task.to = 2;
	utrace_branch_window_switch(window, NULL, &task);
	KUNIT_EXPECT_EQ(test, records_in_window(t), 3U);
	task.from = 3;
	task.to = 3;
	utrace_branch_window_switch(window, &t->thread, &task);
	KUNIT_EXPECT_EQ(test, records_in_window(t), 1U);
	run(t, 1);
	utrace_branch_window_switch(window, NULL, &task);
	expect(test, &t->buffer[0], want, ARRAY_SIZE(want));
	/* The stream of the thread contains only the branches of the thread. */
	expect(test, &t->buffer[1], want + 1, 1);
}

/* Records of context switches alone never make the window look full. */
static void tasks_fill_the_window(struct kunit *test)
{
	struct core_test *t = test->priv;
	struct utrace_branch task = TASK(1);
	unsigned int n, i;

	for (n = BRANCH_WINDOW_MIN; n < 9; n++) {
		make_fake(test, n);
		make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, false, false);
		add(test, 0, false);
		for (i = 0; i < 100; i++)
			utrace_branch_window_switch(&t->fake.window, NULL,
						    &task);
		utrace_branch_window_drain(&t->fake.window);
		KUNIT_EXPECT_EQ(test, read(t, &t->buffer[0]), 100U);
	}
}

/* An NMI that comes while the CPU changes the window does not touch it. */
static void interrupt_of_a_change(struct kunit *test)
{
	struct core_test *t = test->priv;
	struct branch_window *window = &t->fake.window;

	make_fake(test, 4);
	make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, false, false);
	add(test, 0, false);
	t->fake.skid = 10;
	run(t, 3);
	window->busy = true;
	KUNIT_EXPECT_TRUE(test, utrace_branch_window_interrupt(window));
	KUNIT_EXPECT_EQ(test, records_in_window(t), 3U);
	window->busy = false;
	KUNIT_EXPECT_TRUE(test, utrace_branch_window_interrupt(window));
	KUNIT_EXPECT_EQ(test, records_in_window(t), 0U);
}

/* An interrupt for records that were drained already is accepted once. */
static void interrupt_comes_late(struct kunit *test)
{
	struct core_test *t = test->priv;
	struct branch_window *window = &t->fake.window;

	make_fake(test, 4);
	make_stream(test, 0, BRANCH_LEVEL_BOTH, RING, false, false);
	add(test, 0, false);
	KUNIT_EXPECT_FALSE(test, utrace_branch_window_interrupt(window));
	t->fake.skid = 10;
	run(t, 3);
	utrace_branch_window_drain(window);
	utrace_branch_window_drain(window);
	KUNIT_EXPECT_TRUE(test, utrace_branch_window_interrupt(window));
	KUNIT_EXPECT_FALSE(test, utrace_branch_window_interrupt(window));
}

static void off_is_a_gap(struct kunit *test)
{
	static const struct utrace_branch want[] = {
		{ 0x1000, 0x1000 }, GAP(OFF), { 0x1000, 0x1000 }
	};
	struct core_test *t = test->priv;
	struct branch_window *window = &t->fake.window;

	make_fake(test, WINDOW);
	make_stream(test, 0, BRANCH_LEVEL_USER, RING, true, false);
	make_stream(test, 1, BRANCH_LEVEL_USER, RING, true, false);
	add(test, 0, false);
	list_add_tail(&t->stream[1].list, &t->thread);
	run(t, 1);
	utrace_branch_window_off(window, true);
	utrace_branch_window_off(window, true);
	run(t, 5);
	KUNIT_EXPECT_FALSE(test, t->fake.on);
	utrace_branch_window_off(window, false);
	run(t, 1);
	utrace_branch_window_drain(window);
	expect(test, &t->buffer[0], want, ARRAY_SIZE(want));
	/* A thread that is switched in now gets a gap, too. */
	utrace_branch_window_off(window, true);
	utrace_branch_window_switch(window, &t->thread, want);
	expect(test, &t->buffer[1], want + 1, 1);
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE_PARAM(view_filters, view_gen_params),
	KUNIT_CASE(every_place_is_seen),
	KUNIT_CASE(small_windows),
	KUNIT_CASE(full_window_is_a_gap),
	KUNIT_CASE(wrong_index_is_a_gap),
	KUNIT_CASE(circle_wraps),
	KUNIT_CASE(empty_drain),
	KUNIT_CASE(threshold_is_planned),
	KUNIT_CASE(wait_is_checked),
	KUNIT_CASE(stream_is_paused),
	KUNIT_CASE(task_is_recorded),
	KUNIT_CASE(tasks_fill_the_window),
	KUNIT_CASE(interrupt_of_a_change),
	KUNIT_CASE(interrupt_comes_late),
	KUNIT_CASE(off_is_a_gap),
	{}
};

static struct kunit_suite core_suite = {
	.name = "utrace_bts_core",
	.init = core_init,
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);

MODULE_DESCRIPTION("KUnit suite for views and windows of branches");
MODULE_LICENSE("GPL");
