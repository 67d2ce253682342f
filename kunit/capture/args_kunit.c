// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_capture: memory that arguments point to
 *
 * A capture is filled from user memory that ends at an unmapped page.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/un.h>

#include "fixture.h"

/* Strings and memory. */

static void string_is_taken(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	const char __user *from;
	unsigned int i;

	/* The string may begin at any address. */
	for (i = 0; i < 16; i++) {
		from = capture_poke(test, f->user + i, "hello", 6);
		capture_begin(f);
		utrace_capture_string(&f->c, 3, from);
		KUNIT_EXPECT_EQ(test, capture_items(f), 1);
		EXPECT_ITEM(test, 0, STRING, 3, 5, 5, 0);
		EXPECT_DATA(test, 0, "hello");
		capture_expect_sound(test);
	}
}

static void string_over_two_pages(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long middle = f->user + PAGE_SIZE;
	const char __user *from;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		from = capture_poke(test, middle - i, "0123456789", 11);
		capture_begin(f);
		utrace_capture_string(&f->c, 0, from);
		EXPECT_ITEM(test, 0, STRING, 0, 10, 10, 0);
		EXPECT_DATA(test, 0, "0123456789");
	}
}

/* The NUL is the last mapped byte; the test varies where the string begins. */
static void string_ends_with_memory(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	const char __user *from;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		from = capture_fill(test, f->end - i - 1, 'x', i + 1);
		capture_poke(test, f->end - 1, "", 1);
		capture_begin(f);
		utrace_capture_string(&f->c, 0, from);
		EXPECT_ITEM(test, 0, STRING, 0, i, i, 0);
		capture_expect_sound(test);
	}
}

/* Without a NUL before the end of the memory, the mapped part is captured. */
static void string_runs_out_of_memory(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	const char __user *from;
	unsigned int i;

	for (i = 1; i < 20; i++) {
		from = capture_fill(test, f->end - i, 'x', i);
		capture_begin(f);
		utrace_capture_string(&f->c, 0, from);
		EXPECT_ITEM(test, 0, STRING, 0, i, i, FAULTED);
		capture_expect_filled(test, 0, 'x');
		capture_expect_sound(test);
	}
}

static void string_is_truncated(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	char __user *from = capture_fill(test, f->user, 'x', 2 * PAGE_SIZE);

	capture_begin(f);
	utrace_capture_string(&f->c, 0, from);
	EXPECT_ITEM(test, 0, STRING, 0, ITEM_DATA, ITEM_DATA, TRUNCATED);
	/* Capture a string that just fits, and one of unknown length. */
	capture_begin(f);
	capture_poke(test, f->user + ITEM_DATA, "", 1);
	utrace_capture_string(&f->c, 0, from);
	EXPECT_ITEM(test, 0, STRING, 0, ITEM_DATA, ITEM_DATA, 0);
	utrace_capture_string(&f->c, 0, (char __user *)f->end - ITEM_DATA);
	EXPECT_ITEM(test, 1, STRING, 0, ITEM_DATA, ITEM_DATA, FAULTED);
	capture_expect_sound(test);
}

static void bytes_are_taken(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	void __user *from = capture_poke(test, f->user + 1, "a\0b", 3);

	capture_begin(f);
	utrace_capture_bytes(&f->c, 5, from, 3);
	utrace_capture_bytes(&f->c, 4, from, 0);
	EXPECT_ITEM(test, 0, BYTES, 5, 3, 3, 0);
	EXPECT_DATA(test, 0, "a\0b");
	EXPECT_ITEM(test, 1, BYTES, 4, 0, 0, 0);
	capture_expect_sound(test);
}

static void bytes_run_out_of_memory(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	const void __user *from;
	unsigned int i;

	for (i = 1; i < 20; i++) {
		from = capture_fill(test, f->end - i, 'y', i);
		capture_begin(f);
		utrace_capture_bytes(&f->c, 0, from, 100);
		EXPECT_ITEM(test, 0, BYTES, 0, i, 100, FAULTED);
		capture_expect_filled(test, 0, 'y');
		capture_expect_sound(test);
	}
}

/* Bytes without room are in a page that cannot be read, or can. */
static void bytes_are_cut_at_the_end(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	void __user *from = capture_fill(test, f->end - 16, 'y', 16);

	capture_begin_sized(f, HEADER + 8);
	utrace_capture_bytes(&f->c, 0, from + 8, 9);
	EXPECT_ITEM(test, 0, BYTES, 0, 8, 9, FAULTED);
	capture_begin_sized(f, HEADER + 8);
	utrace_capture_bytes(&f->c, 0, from, 16);
	EXPECT_ITEM(test, 0, BYTES, 0, 8, 16, TRUNCATED);
}

static void bytes_of_any_length(struct kunit *test)
{
	static const size_t len[] = {
		ITEM_DATA + 1, U16_MAX, INT_MAX, UINT_MAX, LONG_MAX, SIZE_MAX,
	};
	struct fixture *f = capture_begin_user(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		capture_begin(f);
		utrace_capture_bytes(&f->c, 0, (void __user *)f->user + i,
				     len[i]);
		EXPECT_ITEM(test, 0, BYTES, 0, ITEM_DATA, len[i], TRUNCATED);
		capture_expect_sound(test);
	}
}

/* Capture a call of the native ABI. */
static void take_entry(struct fixture *f, const struct utrace_call *call,
		       const unsigned long args[6], unsigned int what)
{
	utrace_capture_entry(&f->c, call, UTRACE_ABI_NATIVE, args, what);
}

static void take_exit(struct fixture *f, const struct utrace_call *call,
		      const unsigned long args[6], long result,
		      unsigned int what)
{
	utrace_capture_exit(&f->c, call, UTRACE_ABI_NATIVE, args, result, what);
}

static const struct utrace_call everything_in = {
	.name = "everything_in",
	.nargs = 6,
	.arg = {
		{ UTRACE_ARG_PATH },
		{ UTRACE_ARG_ARGV },
		{ UTRACE_ARG_IN, 5 },
		{ UTRACE_ARG_IN, 5 },
		{ UTRACE_ARG_SOCKADDR, 5 },
		{ UTRACE_ARG_SIZE },
	},
};

static const struct utrace_call everything_out = {
	.name = "everything_out",
	.nargs = 6,
	.arg = {
		{ UTRACE_ARG_OUT, UTRACE_LEN_FIXED | 16 },
		{ UTRACE_ARG_OUT, 5 },
		{ UTRACE_ARG_OUT, UTRACE_LEN_RESULT },
		{ UTRACE_ARG_OUT, 5 },
		{ UTRACE_ARG_OUT_SOCKADDR, 4 },
		{ UTRACE_ARG_SIZE },
	},
};

static void hostile_pointers(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	const unsigned long from[] = {
		f->end, 1, ~0UL, ~0UL - 7, (unsigned long)f, PAGE_OFFSET,
		TASK_SIZE, TASK_SIZE - 1, 1UL << 47, 1UL << 62, 1UL << 63,
	};
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		const unsigned long args[6] = {
			from[i], from[i], from[i], from[i], from[i], 16,
		};

		capture_begin(f);
		take_entry(f, &everything_in, args, ALL);
		EXPECT_ITEM(test, 0, STRING, 0, 0, 0, FAULTED);
		EXPECT_ITEM(test, 1, ARGV, 1, 0, 0, FAULTED | UTRACE_ITEM_F_OPEN);
		EXPECT_ITEM(test, 2, BYTES, 2, 0, 16, FAULTED);
		EXPECT_ITEM(test, 3, BYTES, 3, 0, 16, FAULTED);
		EXPECT_ITEM(test, 4, SOCKADDR, 4, 0, 16, FAULTED);
		n = capture_items(f);
		KUNIT_EXPECT_EQ(test, n, 5);
		take_exit(f, &everything_out, args, 16, ALL);
		/* Neither length nor address was captured. */
		KUNIT_EXPECT_EQ(test, capture_items(f), n + 4);
		for (; n < capture_items(f); n++)
			KUNIT_EXPECT_EQ(test, capture_nth(test, n)->flags,
					FAULTED);
		capture_expect_sound(test);
	}
	capture_begin(f);
	utrace_capture_string(&f->c, 0, NULL);
	utrace_capture_bytes(&f->c, 0, NULL, SIZE_MAX);
	EXPECT_ITEM(test, 0, STRING, 0, 0, 0, FAULTED);
	EXPECT_ITEM(test, 1, BYTES, 0, 0, SIZE_MAX, FAULTED);
}

/* Room. */

/* Buffers of all sizes are filled until nothing more fits. */
static void full_to_the_byte(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	const char __user *from = capture_fill(test, f->user, 'x', 100);
	unsigned int size, i;

	capture_poke(test, f->user + 100, "", 1);
	for (size = 0; size <= 600; size++) {
		capture_begin_sized(f, size);
		KUNIT_EXPECT_EQ(test, f->c.size, size / 8 * 8);
		for (i = 0; i < 40 && !f->c.lost; i++)
			utrace_capture_string(&f->c, 0, from);
		KUNIT_EXPECT_EQ(test, f->c.lost, 1);
		KUNIT_EXPECT_LT(test, f->c.size - f->c.used, HEADER);
		KUNIT_EXPECT_EQ(test, capture_items(f), i - 1);
		capture_expect_sound(test);
	}
	capture_begin_sized(f, SIZE_MAX);
	KUNIT_EXPECT_EQ(test, f->c.size, UTRACE_CAPTURE_SIZE);
}

static void item_of_what_room_is_left(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	void __user *from = capture_poke(test, f->user, "0123456789abcdef", 17);

	capture_begin_sized(f, 2 * HEADER + 8);
	utrace_capture_string(&f->c, 0, from);
	EXPECT_ITEM(test, 0, STRING, 0, 16, 16, 0);
	/* 8 bytes are left, which is less than a header. */
	utrace_capture_string(&f->c, 0, from);
	KUNIT_EXPECT_EQ(test, f->c.lost, 1);

	capture_begin_sized(f, HEADER + 8);
	utrace_capture_string(&f->c, 0, from);
	EXPECT_ITEM(test, 0, STRING, 0, 8, 8, TRUNCATED);
	EXPECT_DATA(test, 0, "01234567");
	capture_begin_sized(f, HEADER);
	utrace_capture_bytes(&f->c, 0, from, 16);
	EXPECT_ITEM(test, 0, BYTES, 0, 0, 16, TRUNCATED);
	capture_begin_sized(f, HEADER + 8);
	utrace_capture_creds(&f->c, &init_user_ns);
	KUNIT_EXPECT_EQ(test, f->c.lost, 1);
	KUNIT_EXPECT_EQ(test, f->c.used, 0);
	capture_expect_sound(test);
}

static void lost_does_not_wrap(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);

	capture_begin_sized(f, 0);
	f->c.lost = U16_MAX - 1;
	utrace_capture_creds(&f->c, &init_user_ns);
	utrace_capture_creds(&f->c, &init_user_ns);
	KUNIT_EXPECT_EQ(test, f->c.lost, U16_MAX);
}

/* System calls. */

/* Rows of the table: the array is argument 1, its length argument 2. */
static const struct utrace_call *row(unsigned int nr)
{
	return utrace_call_of(nr);
}

/* Write ten entries to @to: "ab", an empty one, "cde", and seven times "f". */
static void poke_iovecs(struct kunit *test, unsigned long to)
{
	struct fixture *f = capture_fixture(test);
	char __user *text = capture_poke(test, f->user, "abcdef", 6);
	struct iovec iov[10] = {
		{ text, 2 }, { NULL, 0 }, { text + 2, 3 },
	};
	unsigned int i;

	for (i = 3; i < ARRAY_SIZE(iov); i++)
		iov[i] = (struct iovec) { text + 5, 1 };
	capture_poke(test, to, iov, sizeof(iov));
}

#define IOVECS(n)	((n) * sizeof(struct iovec))

static void iovecs_are_followed(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { -1, f->user + 512, 4 };

	poke_iovecs(test, args[1]);
	capture_begin(f);
	take_entry(f, row(__NR_writev), args, ALL);
	EXPECT_ITEM(test, 0, STRUCT, 1, IOVECS(4), IOVECS(4), 0);
	/* The null pointer has no item. */
	KUNIT_EXPECT_EQ(test, capture_items(f), 4);
	EXPECT_DATA(test, 1, "ab");
	EXPECT_DATA(test, 2, "cde");
	EXPECT_DATA(test, 3, "f");
	KUNIT_EXPECT_EQ(test, capture_nth(test, 2)->parent, 2);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 2)->index, 2U);
	capture_expect_sound(test);
}

/* A call that reads less than there is room for, and one that fails. */
static void iovecs_end_with_result(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { -1, f->user + 512, 4 };

	poke_iovecs(test, args[1]);
	capture_begin(f);
	f->c.exit = true;
	take_exit(f, row(__NR_readv), args, 4, ALL);
	KUNIT_EXPECT_EQ(test, capture_items(f), 4);
	EXPECT_DATA(test, 1, "ab");
	EXPECT_DATA(test, 2, "cd");
	KUNIT_EXPECT_EQ(test, capture_nth(test, 3)->len, 0);
	capture_begin(f);
	f->c.exit = true;
	take_exit(f, row(__NR_readv), args, -EINVAL, ALL);
	EXPECT_ITEM(test, 0, STRUCT, 1, IOVECS(4), IOVECS(4),
		    UTRACE_ITEM_F_OUT);
	KUNIT_EXPECT_EQ(test, capture_items(f), 1);
	capture_expect_sound(test);
}

static void iovecs_without_number(struct kunit *test)
{
	static const unsigned long count[] = { 100, 1024, INT_MAX, ULONG_MAX };
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { -1, f->user + 512 };
	unsigned int i;

	poke_iovecs(test, args[1]);
	for (i = 0; i < ARRAY_SIZE(count); i++) {
		capture_begin(f);
		args[2] = count[i];
		take_entry(f, row(__NR_writev), args, ALL);
		KUNIT_EXPECT_EQ(test, capture_nth(test, 0)->len,
				ALIGN_DOWN(ITEM_DATA, 8));
		KUNIT_EXPECT_EQ(test, capture_nth(test, 0)->flags, TRUNCATED);
		EXPECT_DATA(test, 1, "ab");
		capture_expect_sound(test);
	}
}

/* sethostname() takes 64 bytes, kexec_load() 16 segments. */
static void refused_lengths_are_left_out(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long name[6] = { f->user, 64 }, segments[6] = { 0, 17, f->user };

	capture_begin(f);
	take_entry(f, row(__NR_sethostname), name, ALL);
	EXPECT_ITEM(test, 0, BYTES, 0, 64, 64, 0);
	name[1]++;
	capture_begin(f);
	take_entry(f, row(__NR_sethostname), name, ALL);
	take_entry(f, row(__NR_kexec_load), segments, ALL);
	KUNIT_EXPECT_EQ(test, f->c.used, 0);
}

/* Entries have lengths beyond all memory, and an array is not fully mapped. */
static void iovecs_that_lie(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	struct iovec iov[2] = {
		{ (void __user *)f->user, SIZE_MAX - 1 },
		{ (void __user *)f->user, SIZE_MAX },
	};
	unsigned long args[6] = { -1, f->end - sizeof(iov), 3 };

	capture_poke(test, args[1], iov, sizeof(iov));
	capture_begin(f);
	take_entry(f, row(__NR_writev), args, ALL);
	EXPECT_ITEM(test, 0, STRUCT, 1, IOVECS(2), IOVECS(3), FAULTED);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->len, ITEM_DATA);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 2)->len, ITEM_DATA);

	iov[0].iov_len = 4;
	iov[1] = (struct iovec) { (void __user *)f->end - 1, 4 };
	capture_poke(test, args[1], iov, sizeof(iov));
	capture_begin(f);
	take_entry(f, row(__NR_writev), args, ALL);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->len, 4);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 2)->len, 1);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 2)->flags, FAULTED);
	capture_expect_sound(test);
}

/* A length of 32 bits is what the call takes: its upper half is ignored. */
static void length_of_32_bits(struct kunit *test)
{
	const struct utrace_call *call = utrace_call_of(__NR_sethostname);
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { f->user, 5 | 1UL << 32 };

	capture_poke(test, args[0], "hello", 5);
	capture_begin(f);
	take_entry(f, call, args, ALL);
	EXPECT_ITEM(test, 0, BYTES, 0, 5, 5, 0);
	EXPECT_DATA(test, 0, "hello");

	/* The call refuses a longer name before it reads it. */
	args[1] = 65;
	capture_begin(f);
	take_entry(f, call, args, ALL);
	KUNIT_EXPECT_EQ(test, capture_items(f), 0);
}

/* A structure without a pointer: a member says how much memory follows it. */
static void memory_after_structure(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	struct rand_pool_info pool = { .entropy_count = 1, .buf_size = 5 };
	unsigned long args[6] = { -1, RNDADDENTROPY, f->user };
	const unsigned int what = ALL | UTRACE_CAPTURE_STRUCTS;

	capture_poke(test, args[2], &pool, sizeof(pool));
	capture_poke(test, args[2] + sizeof(pool), "bytes", 5);
	capture_begin(f);
	take_entry(f, utrace_call_by_command(__NR_ioctl, args), args, what);
	EXPECT_ITEM(test, 0, STRUCT, 2, sizeof(pool), sizeof(pool), 0);
	EXPECT_DATA(test, 1, "bytes");
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->parent, 1);
	KUNIT_EXPECT_EQ(test, capture_items(f), 2);

	/* The memory ends before what the member says. */
	pool.buf_size = -1;
	args[2] = f->end - sizeof(pool) - 3;
	capture_poke(test, args[2], &pool, sizeof(pool));
	capture_begin(f);
	take_entry(f, utrace_call_by_command(__NR_ioctl, args), args, what);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->len, 3);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->flags, FAULTED);
	args[2] = f->end - sizeof(pool);
	capture_poke(test, args[2], &pool, sizeof(pool));
	capture_begin(f);
	take_entry(f, utrace_call_by_command(__NR_ioctl, args), args, what);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->len, 0);
	capture_expect_sound(test);
}

static void argv_is_taken(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	char __user *text = capture_poke(test, f->user, "ls\0-l\0", 7);
	char __user *argv[] = { text, text + 3, text + 6, NULL };
	unsigned long args[6] = { 0, f->user + 512 };

	capture_poke(test, args[1], argv, sizeof(argv));
	capture_begin(f);
	take_entry(f, &everything_in, args, ALL);
	EXPECT_ITEM(test, 0, ARGV, 1, 7, 7, 0);
	EXPECT_DATA(test, 0, "ls\0-l\0\0");
	KUNIT_EXPECT_EQ(test, capture_nth(test, 0)->index, 3);

	/* A truncated string has a NUL as well. */
	capture_begin_sized(f, HEADER + 8);
	capture_poke(test, f->user, "0123456789", 11);
	take_entry(f, &everything_in, args, ALL);
	EXPECT_ITEM(test, 0, ARGV, 1, 8, 8, TRUNCATED);
	EXPECT_DATA(test, 0, "0123456\0");

	/* Two strings fill the capture, and a third one has no room. */
	capture_begin_sized(f, HEADER + 8);
	capture_poke(test, f->user, "abc\0def", 8);
	argv[1] = text + 4;
	capture_poke(test, args[1], argv, sizeof(argv));
	take_entry(f, &everything_in, args, ALL);
	EXPECT_ITEM(test, 0, ARGV, 1, 8, 8, TRUNCATED);
	EXPECT_DATA(test, 0, "abc\0def\0");
	/* All are counted. */
	KUNIT_EXPECT_EQ(test, capture_nth(test, 0)->index, 3);
	capture_expect_sound(test);
}

/* An array without an end is bounded by the room, even with empty strings. */
static void argv_without_end(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	char __user *text = capture_poke(test, f->user, "", 1);
	unsigned long args[6] = { 0, f->user + 8 };
	unsigned long at;

	for (at = args[1]; at < f->end; at += sizeof(text))
		capture_poke(test, at, &text, sizeof(text));
	capture_begin(f);
	take_entry(f, &everything_in, args, ALL);
	EXPECT_ITEM(test, 0, ARGV, 1, ITEM_DATA, ITEM_DATA, TRUNCATED | OPEN);
	args[1] = f->end - 2 * sizeof(text);
	take_entry(f, &everything_in, args, ALL);
	EXPECT_ITEM(test, 1, ARGV, 1, 2, 2, FAULTED | OPEN);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->index, 2);
	capture_expect_sound(test);
}

static const int bad_length[] = { -1, INT_MIN };

static void sockaddrs_of_entry(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { [4] = f->user, [5] = 16 };
	unsigned int i;

	capture_begin(f);
	take_entry(f, &everything_in, args, ALL);
	EXPECT_ITEM(test, 0, SOCKADDR, 4, 16, 16, 0);
	/* The kernel uses the lower half of the length only. */
	args[5] = 1UL << 32 | 8;
	take_entry(f, &everything_in, args, ALL);
	EXPECT_ITEM(test, 1, SOCKADDR, 4, 8, 8, 0);
	for (i = 0; i < ARRAY_SIZE(bad_length); i++) {
		args[5] = bad_length[i];
		take_entry(f, &everything_in, args, ALL);
	}
	KUNIT_EXPECT_EQ(test, capture_items(f), 2);
}

/*
 * The longest address that the kernel accepts; it exceeds any AF_UNIX address.
 */
static void longest_sockaddr(struct kunit *test)
{
	const size_t most = sizeof(struct sockaddr_storage);
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { [4] = f->end - most, [5] = most };

	BUILD_BUG_ON(sizeof(struct sockaddr_un) >=
		     sizeof(struct sockaddr_storage));
	capture_fill(test, args[4], AF_UNIX, most);
	capture_begin(f);
	take_entry(f, &everything_in, args, UTRACE_CAPTURE_SOCKETS);
	EXPECT_ITEM(test, 0, SOCKADDR, 4, most, most, 0);
	capture_expect_filled(test, 0, AF_UNIX);
	capture_expect_sound(test);

	/* The last byte of the address is not mapped. */
	args[4]++;
	take_entry(f, &everything_in, args, UTRACE_CAPTURE_SOCKETS);
	EXPECT_ITEM(test, 1, SOCKADDR, 4, most - 1, most, FAULTED);
	capture_expect_sound(test);
	/* The room is too small for the whole address. */
	args[4]--;
	capture_begin_sized(f, HEADER + most - 8);
	take_entry(f, &everything_in, args, UTRACE_CAPTURE_SOCKETS);
	EXPECT_ITEM(test, 0, SOCKADDR, 4, most - 8, most, TRUNCATED);
	capture_expect_filled(test, 0, AF_UNIX);
	capture_expect_sound(test);
	/* Of a longer address, which the kernel rejects, this is the first part. */
	args[5] = INT_MAX;
	capture_begin(f);
	take_entry(f, &everything_in, args, UTRACE_CAPTURE_SOCKETS);
	EXPECT_ITEM(test, 0, SOCKADDR, 4, most, most, 0);
}

static const struct utrace_call accept_call = {
	.name = "accept",
	.nargs = 3,
	.arg = {
		{ UTRACE_ARG_FD },
		{ UTRACE_ARG_OUT_SOCKADDR, 2 },
	},
};

static void sockaddrs_of_exit(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { -1, f->user, f->user + 512 };
	unsigned int i;
	int len = 12;

	capture_begin(f);
	capture_poke(test, args[2], &len, sizeof(len));
	take_exit(f, &accept_call, args, 3, ALL);
	EXPECT_ITEM(test, 0, SOCKADDR, 1, 12, 12, 0);
	for (i = 0; i < ARRAY_SIZE(bad_length); i++) {
		capture_poke(test, args[2], &bad_length[i], sizeof(int));
		take_exit(f, &accept_call, args, 3, ALL);
	}
	args[2] = 0;
	take_exit(f, &accept_call, args, 3, ALL);
	KUNIT_EXPECT_EQ(test, capture_items(f), 1);
}

static void out_after_success_only(struct kunit *test)
{
	static const long error[] = { -1, -EINTR, -512, -4095 };
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = { f->user, f->user, f->user, [5] = 5 };
	unsigned int i;

	capture_begin(f);
	for (i = 0; i < ARRAY_SIZE(error); i++)
		take_exit(f, &everything_out, args, error[i], ALL);
	KUNIT_EXPECT_EQ(test, capture_items(f), 0);
	take_exit(f, &everything_out, args, 7, ALL);
	EXPECT_ITEM(test, 0, BYTES, 0, 16, 16, 0);
	EXPECT_ITEM(test, 1, BYTES, 1, 5, 5, 0);
	EXPECT_ITEM(test, 2, BYTES, 2, 7, 7, 0);
	KUNIT_EXPECT_EQ(test, capture_items(f), 3);
	/* A result with the upper bit set is neither an error nor a length. */
	capture_begin(f);
	take_exit(f, &everything_out, args, LONG_MIN, ALL);
	EXPECT_ITEM(test, 2, BYTES, 2, 0, 0, 0);
	/*
	 * Memory that is captured at the entry is not captured again at the
	 * exit.
	 */
	capture_begin(f);
	take_exit(f, &everything_in, args, 7, ALL);
	take_entry(f, &everything_out, args, ALL);
	KUNIT_EXPECT_EQ(test, capture_items(f), 0);
}

static void what_is_asked_for(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long args[6] = {
		f->user, f->user, f->user, f->user, f->user, 1,
	};
	static const struct {
		unsigned int what, items;
	} row[] = {
		{ 0, 0 },
		{ UTRACE_CAPTURE_STRINGS, 2 },
		{ UTRACE_CAPTURE_BUFFERS, 2 },
		{ UTRACE_CAPTURE_SOCKETS, 1 },
		{ UTRACE_CAPTURE_FILES, 0 },
		{ UTRACE_CAPTURE_ARGS, 5 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		capture_begin(f);
		take_entry(f, &everything_in, args, row[i].what);
		KUNIT_EXPECT_EQ(test, capture_items(f), row[i].items);
	}
	/* Pass null pointers, and a call that is not in the table. */
	capture_begin(f);
	memset(args, 0, sizeof(args));
	take_entry(f, &everything_in, args, ALL);
	take_exit(f, &everything_out, args, 0, ALL);
	take_entry(f, &(struct utrace_call) {}, args, ALL);
	KUNIT_EXPECT_EQ(test, capture_items(f), 0);
}

/* The iterator. */

static void walk_garbage(struct kunit *test, size_t used, u16 len)
{
	struct fixture *f = capture_fixture(test);
	struct utrace_item *first = (struct utrace_item *)f->data;
	const struct utrace_item *item = NULL;
	unsigned int n = 0;

	memset(f->data, 0xff, sizeof(f->data));
	first->len = len;
	while ((item = utrace_item_next(f->data, used, item))) {
		KUNIT_EXPECT_TRUE(test, item->data + item->len <=
				  f->data + used);
		n++;
	}
	/* There is no second item: its length of 0xffff exceeds the capture. */
	KUNIT_EXPECT_EQ(test, n, used >= HEADER + len);
}

static void next_on_garbage(struct kunit *test)
{
	unsigned int used, len;

	for (used = 0; used < 64; used++) {
		for (len = 0; len < 80; len++)
			walk_garbage(test, used, len);
		walk_garbage(test, used, U16_MAX);
	}
}

static struct kunit_case capture_cases[] = {
	KUNIT_CASE(string_is_taken),
	KUNIT_CASE(string_over_two_pages),
	KUNIT_CASE(string_ends_with_memory),
	KUNIT_CASE(string_runs_out_of_memory),
	KUNIT_CASE(string_is_truncated),
	KUNIT_CASE(bytes_are_taken),
	KUNIT_CASE(bytes_run_out_of_memory),
	KUNIT_CASE(bytes_are_cut_at_the_end),
	KUNIT_CASE(bytes_of_any_length),
	KUNIT_CASE(hostile_pointers),
	KUNIT_CASE(full_to_the_byte),
	KUNIT_CASE(item_of_what_room_is_left),
	KUNIT_CASE(lost_does_not_wrap),
	KUNIT_CASE(iovecs_are_followed),
	KUNIT_CASE(iovecs_end_with_result),
	KUNIT_CASE(iovecs_without_number),
	KUNIT_CASE(refused_lengths_are_left_out),
	KUNIT_CASE(iovecs_that_lie),
	KUNIT_CASE(length_of_32_bits),
	KUNIT_CASE(memory_after_structure),
	KUNIT_CASE(argv_is_taken),
	KUNIT_CASE(argv_without_end),
	KUNIT_CASE(sockaddrs_of_entry),
	KUNIT_CASE(longest_sockaddr),
	KUNIT_CASE(sockaddrs_of_exit),
	KUNIT_CASE(out_after_success_only),
	KUNIT_CASE(what_is_asked_for),
	KUNIT_CASE(next_on_garbage),
	{}
};

static struct kunit_suite capture_suite = {
	.name = "utrace_capture",
	.init = capture_fixture_init,
	.test_cases = capture_cases,
};

kunit_test_suite(capture_suite);

MODULE_DESCRIPTION("KUnit suite for what utrace takes of system calls");
MODULE_LICENSE("GPL");
