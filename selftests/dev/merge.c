// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the command utrace: the order of records of several rings
 *
 * tools/utrace/dev/stream.c reads rings that this test writes in the place of the
 * kernel, by the rules in Documentation/trace/utrace/dev.rst.  Its system calls
 * are the functions below.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../harness.h"

#include <linux/utrace.h>

#define RINGS		4
#define RING_SIZE	4096
#define STEPS		200000
#define MOST_PARKED	64

struct page {
	struct utrace_map map;
	struct utrace_map_ring ring[RINGS];
} __attribute__((aligned(4096)));

/**
 * struct kernel - stand-in for the kernel
 * @told: page that programs map to read
 * @data: rings that programs map to read
 * @tails: page that programs map to write
 * @clock: the time
 * @written: by ring: what ->head becomes when the record that is being written
 *	is visible; the ring is open if it is another number
 * @parked: times of records that have no room, in order
 */
static struct kernel {
	struct page told;
	char data[RINGS][RING_SIZE];
	struct utrace_map_tail tails[4096 / sizeof(struct utrace_map_tail)];
	__u64 clock;
	__u64 written[RINGS];
	__u64 parked[MOST_PARKED];
} kernel __attribute__((aligned(4096)));

static __u64 last_given, given, made, disorder;

static int fake_ioctl(int fd, unsigned long cmd, ...)
{
	struct utrace_ioc_info *info;
	va_list args;

	va_start(args, cmd);
	info = va_arg(args, struct utrace_ioc_info *);
	va_end(args);
	info->rings = RINGS;
	info->ring_size = RING_SIZE;
	kernel.told.map = (struct utrace_map){
		.header_size = sizeof(struct utrace_map),
		.ring_stride = sizeof(struct utrace_map_ring),
		.rings = RINGS,
		.unit = 1,
		.data_offset = offsetof(struct kernel, data),
		.data_size = RING_SIZE,
	};
	return 0;
}

static void *fake_mmap(void *at, size_t size, int prot, int flags, int fd,
		       off_t offset)
{
	return offset == UTRACE_MAP_TAILS ? (void *)kernel.tails :
					    (void *)&kernel.told;
}

/* Give one record that has no room. */
static ssize_t fake_read(int fd, void *to, size_t size)
{
	struct utrace_rec rec = { .size = sizeof(rec), .type = UTRACE_REC_EXIT };
	__u64 *n = &kernel.told.map.parked;

	if (!*n) {
		errno = EAGAIN;
		return -1;
	}
	rec.time = kernel.parked[0];
	memmove(kernel.parked, kernel.parked + 1, --*n * sizeof(*kernel.parked));
	memcpy(to, &rec, sizeof(rec));
	return sizeof(rec);
}

static int fake_clock_gettime(clockid_t clock, struct timespec *time)
{
	*time = (struct timespec){ .tv_nsec = kernel.clock };
	return 0;
}

#define ioctl		fake_ioctl
#define mmap		fake_mmap
#define read		fake_read
#define clock_gettime	fake_clock_gettime
#include <dev/stream.c>
#undef clock_gettime
#undef read
#undef mmap
#undef ioctl
#include <lib/memory.c>

void fail(const char *what, const char *why)
{
	printf("# %s: %s\n", what, why);
	exit(KSFT_FAIL);
}

/* Begin to write a record: it has its time, and is not visible. */
static void begin(unsigned int ring)
{
	struct utrace_map_ring *told = &kernel.told.ring[ring];
	struct utrace_rec *rec;
	__u64 at = told->head;

	if (told->open)
		return;
	rec = (void *)&kernel.data[ring][at % RING_SIZE];
	if (RING_SIZE - at % RING_SIZE < sizeof(*rec)) {
		rec->size = RING_SIZE - at % RING_SIZE;
		rec->type = UTRACE_REC_PAD;
		at += rec->size;
		rec = (void *)kernel.data[ring];
	}
	if (at + sizeof(*rec) - kernel.tails[ring].tail > RING_SIZE)
		return;
	told->open = 1;
	rec->size = sizeof(*rec);
	rec->type = UTRACE_REC_EXIT;
	rec->time = ++kernel.clock;
	/* The kernel stores ->last between the opening and the record. */
	if (random() % 2)
		told->last = rec->time;
	kernel.written[ring] = at + sizeof(*rec);
	made++;
}

/* Make it visible. */
static void end(unsigned int ring)
{
	struct utrace_map_ring *told = &kernel.told.ring[ring];

	if (!told->open)
		return;
	told->head = kernel.written[ring];
	told->last = ((struct utrace_rec *)
		      &kernel.data[ring][(told->head - sizeof(struct utrace_rec))
					 % RING_SIZE])->time;
	told->open = 0;
}

static void park(void)
{
	if (kernel.told.map.parked == MOST_PARKED)
		return;
	kernel.parked[kernel.told.map.parked++] = ++kernel.clock;
	made++;
}

static void take(void *data, const struct utrace_rec *rec)
{
	disorder += rec->time <= last_given;
	last_given = rec->time;
	given++;
}

FIXTURE(merge) {
};

FIXTURE_SETUP(merge)
{
}

FIXTURE_TEARDOWN(merge)
{
}

TEST_F(merge, order)
{
	struct stream *stream = stream_open(-1);
	unsigned int i, ring;

	srandom(1);
	for (i = 0; i < STEPS; i++) {
		/* For a while only some rings are used. */
		ring = random() % RINGS | (i >> 12) % RINGS;
		switch (random() % 8) {
		case 0 ... 2:
			begin(ring);
			break;
		case 3 ... 5:
			end(ring);
			break;
		case 6:
			park();
			break;
		case 7:
			stream_take(stream, take, NULL);
		}
	}
	for (ring = 0; ring < RINGS; ring++)
		end(ring);
	while (stream_take(stream, take, NULL))
		;
	printf("# %llu records\n", made);
	EXPECT_LT(STEPS / 8, made);
	EXPECT_EQ(made, given);
	EXPECT_EQ(0, disorder);
}

TEST_HARNESS_MAIN
