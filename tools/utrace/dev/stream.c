// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - read the records of a session from its mapped rings
 *
 * The kernel writes a ring for each CPU.  The records of all rings are merged
 * by their times, by the rules in Documentation/trace/utrace/dev.rst, and
 * handled in place.  Records that had no room in a ring are returned by read(2)
 * and are merged as well.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/fail.h"
#include "lib/memory.h"
#include "stream.h"

/* Size of the buffer of read(); any record fits. */
#define READ_SIZE	(64 * 1024)

/* Minimum number of bytes that are given back to the kernel at once. */
#define GIVE_SIZE	(16 * 1024)

/* A time that no record has. */
#define NEVER		(~0ULL)

/**
 * struct ring - the records of one CPU
 * @header: the header of the ring, written by the kernel
 * @tail: up to where this program has read, written by it
 * @data: the memory of the ring
 * @size: bytes of @data, a power of 2
 * @head: ->head of @header, as read last
 * @at: position up to which records were handled
 * @time: time of the record at @at, NEVER if there is none before @head
 */
struct ring {
	const struct utrace_map_ring *header;
	struct utrace_map_tail *tail;
	const char *data;
	size_t size;
	__u64 head;
	__u64 at;
	__u64 time;
};

/**
 * struct parked - a record that had no room in a ring
 * @time: its time
 * @order: number of the record in the order of read(2)
 * @rec: a copy
 */
struct parked {
	__u64 time;
	__u64 order;
	struct utrace_rec *rec;
};

/**
 * struct stream - the records of a session
 * @session: descriptor of the session
 * @map: the header of the mapping, written by the kernel
 * @ring: the rings
 * @nrings: number of elements of @ring
 * @parked: pending records that had no room, sorted by time and @order
 * @nparked: number of elements of @parked
 * @room: allocated elements of @parked
 * @order: number of records that read(2) has returned
 * @offset: offset of the clock of this program from the clock of records, in ns
 */
struct stream {
	int session;
	const struct utrace_map *map;
	struct ring *ring;
	unsigned int nrings;
	struct parked *parked;
	size_t nparked;
	size_t room;
	__u64 order;
	long long offset;
};

static void *map_area(int session, size_t size, int prot, off_t offset)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED, session, offset);

	if (at == MAP_FAILED)
		fail("mapping the records", strerror(errno));
	return at;
}

/*
 * Return the offset of the time namespace, in ns; records have the time of the
 * kernel.
 */
static long long clock_offset(void)
{
	long long seconds, offset = 0;
	char line[128];
	long ns;
	FILE *file = fopen("/proc/self/timens_offsets", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "monotonic %lld %ld", &seconds, &ns) == 2)
			offset = seconds * 1000000000LL + ns;
	if (file)
		fclose(file);
	return offset;
}

/**
 * stream_open() - begin to read the records of a session
 * @session: descriptor of a session whose rings can be mapped; non-blocking
 *
 * Return: the stream; freed when the command ends.
 */
struct stream *stream_open(int session)
{
	struct stream *stream = checked(calloc(1, sizeof(*stream)));
	struct utrace_ioc_info info = {};
	const struct utrace_map *map;
	struct utrace_map_tail *tail;
	unsigned int i;

	if (ioctl(session, UTRACE_IOC_INFO, &info))
		fail("/dev/utrace", strerror(errno));
	stream->ring = checked(calloc(info.rings, sizeof(*stream->ring)));
	stream->session = session;
	stream->offset = clock_offset();
	stream->nrings = info.rings;
	map = map_area(session, info.map_size, PROT_READ, UTRACE_MAP_RINGS);
	tail = map_area(session, info.tails_size, PROT_READ | PROT_WRITE,
			UTRACE_MAP_TAILS);
	stream->map = map;
	for (i = 0; i < map->rings; i++)
		stream->ring[i] = (struct ring){
			.header = (const void *)map + map->header_size +
				  i * map->ring_stride,
			.tail = tail + i,
			.data = (const char *)map + map->data_offset +
				i * map->data_size,
			.size = map->data_size,
		};
	return stream;
}

/* The bound of a merge, and the records of each ring */

/* Return the time by the clock of records. */
__u64 stream_now(const struct stream *stream)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec - stream->offset;
}

/*
 * Read the head of each ring.  Returns the time up to which no record can be
 * missing.
 */
static __u64 read_heads(struct stream *stream)
{
	__u64 bound = stream_now(stream);
	unsigned int i;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < stream->nrings; i++) {
		const struct utrace_map_ring *header = stream->ring[i].header;
		bool open = __atomic_load_n(&header->open, __ATOMIC_ACQUIRE);
		__u64 last = __atomic_load_n(&header->last, __ATOMIC_ACQUIRE);

		stream->ring[i].head = __atomic_load_n(&header->head,
						       __ATOMIC_ACQUIRE);
		if (open && last < bound)
			bound = last;
	}
	return bound;
}

/*
 * Check that no record was written since read_heads() or parked since
 * take_parked().
 */
static bool is_still(const struct stream *stream)
{
	unsigned int i;

	for (i = 0; i < stream->nrings; i++) {
		const struct ring *ring = &stream->ring[i];

		if (__atomic_load_n(&ring->header->open, __ATOMIC_ACQUIRE) ||
		    __atomic_load_n(&ring->header->head, __ATOMIC_ACQUIRE) !=
		    ring->head)
			return false;
	}
	/* After the rings: a record is parked before its ring is closed. */
	return !__atomic_load_n(&stream->map->parked, __ATOMIC_ACQUIRE);
}

/**
 * stream_is_empty() - check whether all records were handled
 * @stream: the stream, after the recording was stopped
 *
 * Return: false if a record could not be handled yet, or is being written.
 */
bool stream_is_empty(const struct stream *stream)
{
	unsigned int i;

	for (i = 0; i < stream->nrings; i++)
		if (stream->ring[i].at != stream->ring[i].head)
			return false;
	return !stream->nparked && is_still(stream);
}

/* Records without room */

static void keep(struct stream *stream, const struct utrace_rec *rec)
{
	struct parked *parked;

	stream->parked = grow(stream->parked, stream->nparked, &stream->room,
			      sizeof(*stream->parked));
	parked = &stream->parked[stream->nparked++];
	*parked = (struct parked){
		.time = rec->time,
		.order = stream->order++,
		.rec = checked(malloc(rec->size)),
	};
	memcpy(parked->rec, rec, rec->size);
}

static int compare(const void *a, const void *b)
{
	const struct parked *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/*
 * Read the records that had no room, at least up to the time @bound.  The tasks
 * of these records continue and may park more, so do not wait for all of them.
 */
static void take_parked(struct stream *stream, __u64 bound)
{
	static char buffer[READ_SIZE] __attribute__((aligned(8)));
	const struct utrace_rec *rec;
	__u64 time = 0;
	ssize_t n, at;

	if (!__atomic_load_n(&stream->map->parked, __ATOMIC_ACQUIRE))
		return;
	do {
		n = read(stream->session, buffer, sizeof(buffer));
		for (at = 0; at < n; at += rec->size) {
			rec = (const void *)(buffer + at);
			keep(stream, rec);
			time = rec->time;
		}
	} while (n > 0 && time <= bound);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail("reading /dev/utrace", strerror(errno));
	qsort(stream->parked, stream->nparked, sizeof(*stream->parked),
	      compare);
}

/* The merge */

static const struct utrace_rec *rec_at(const struct ring *ring)
{
	return (const void *)(ring->data + (ring->at & (ring->size - 1)));
}

/* Find the time of the next record of a ring. */
static void find_next(struct ring *ring)
{
	const struct utrace_rec *rec;

	while (ring->at != ring->head) {
		rec = rec_at(ring);
		if (rec->type != UTRACE_REC_PAD) {
			ring->time = rec->time;
			return;
		}
		/* This record may have no more than size and type. */
		ring->at += rec->size;
	}
	ring->time = NEVER;
}

/*
 * Find the ring with the oldest record.  Lowers @until to the time of the next
 * record of another ring.
 */
static struct ring *find_first(struct stream *stream, __u64 *until)
{
	struct ring *first = &stream->ring[0], *other;
	unsigned int i;

	for (i = 1; i < stream->nrings; i++) {
		other = &stream->ring[i];
		if (other->time < first->time) {
			other = first;
			first = &stream->ring[i];
		}
		if (other->time < *until)
			*until = other->time;
	}
	return first;
}

/* Return the room of handled records to the kernel. */
static void give(struct ring *ring)
{
	__atomic_store_n(&ring->tail->tail, ring->at, __ATOMIC_RELEASE);
}

/* Handle the records of a ring up to the time @until. */
static size_t take_ring(struct ring *ring, __u64 until, stream_take_t take,
			void *data)
{
	__u64 given = ring->at;
	size_t n = 0;

	do {
		const struct utrace_rec *rec = rec_at(ring);

		take(data, rec);
		ring->at += rec->size;
		if (ring->at - given >= GIVE_SIZE) {
			give(ring);
			given = ring->at;
		}
		find_next(ring);
		n++;
	} while (ring->time <= until && ring->time != NEVER);
	give(ring);
	return n;
}

/*
 * Handle the records of all sources up to the time @bound.  @used is the number
 * of parked records that were handled.
 */
static size_t merge(struct stream *stream, __u64 bound, size_t *used,
		    stream_take_t take, void *data)
{
	size_t n = 0;

	for (;;) {
		__u64 parked = *used < stream->nparked ?
			       stream->parked[*used].time : NEVER;
		__u64 until = parked < bound ? parked : bound;
		struct ring *ring = find_first(stream, &until);

		if (parked < ring->time && parked <= bound) {
			take(data, stream->parked[*used].rec);
			free(stream->parked[(*used)++].rec);
			n++;
		} else if (ring->time <= bound && ring->time != NEVER) {
			n += take_ring(ring, until, take, data);
		} else {
			return n;
		}
	}
}

/**
 * stream_take() - handle the records that are complete, in their order
 * @stream: the stream
 * @take: called for each record
 * @data: first argument of @take
 *
 * A record is handled only when no older record can follow.
 *
 * Return: the number of records.
 */
size_t stream_take(struct stream *stream, stream_take_t take, void *data)
{
	__u64 bound = read_heads(stream);
	size_t used = 0, n;
	unsigned int i;

	take_parked(stream, bound);
	if (is_still(stream))
		bound = NEVER;
	for (i = 0; i < stream->nrings; i++)
		find_next(&stream->ring[i]);
	n = merge(stream, bound, &used, take, data);
	stream->nparked -= used;
	memmove(stream->parked, stream->parked + used,
		stream->nparked * sizeof(*stream->parked));
	return n;
}
