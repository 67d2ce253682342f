// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - a program that reads the mapped rings of a session
 *
 * The reader follows the rules of Documentation/trace/utrace/dev.rst: it merges
 * the rings by time and reads the header of each record.  The records are
 * written before, so the row is the reader's own instructions.  The guest has
 * one CPU, and so one ring; the merge is the one for any number.
 */
#define _GNU_SOURCE
#include <linux/utrace.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include <x86intrin.h>

#include "bench.h"

#define MAX_CPUS	8
#define BLOCKS		20
#define BLOCK_CALLS	1000

/* One ring: its data, the next record, the tail, and the head in this round. */
struct source {
	const char *data;
	__u64 mask;
	__u64 at;
	__u64 head;
};

struct reader {
	const struct utrace_map *map;
	const struct utrace_map_ring *ring;
	struct utrace_map_tail *tail;
	struct source source[MAX_CPUS];
	size_t rings_size, tails_size;
	unsigned int cpus;
	/* Statistics: records, and whether any was out of order. */
	long records;
	__u64 time;
	__u32 number;
	bool wrong;
};

static void map(struct reader *r, int fd)
{
	struct utrace_ioc_info info;
	unsigned int cpu;

	must(!ioctl(fd, UTRACE_IOC_INFO, &info), "UTRACE_IOC_INFO");
	r->cpus = info.rings;
	must(r->cpus <= MAX_CPUS, "few CPUs");
	r->rings_size = info.map_size;
	r->tails_size = info.tails_size;
	r->map = mmap(NULL, r->rings_size, PROT_READ,
		      MAP_SHARED | MAP_POPULATE, fd, UTRACE_MAP_RINGS);
	must(r->map != MAP_FAILED, "mmap of the rings");
	r->tail = mmap(NULL, r->tails_size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, fd, UTRACE_MAP_TAILS);
	must(r->tail != MAP_FAILED, "mmap of the tails");
	r->ring = (void *)r->map + r->map->header_size;
	for (cpu = 0; cpu < r->cpus; cpu++)
		r->source[cpu] = (struct source){
			.data = (char *)r->map + r->map->data_offset +
				cpu * r->map->data_size,
			.mask = r->map->data_size - 1,
		};
}

/* Find how far each ring may be read, and up to which time.  Steps 1 to 4. */
static __u64 look(struct reader *r)
{
	bool still = true;
	struct timespec now;
	unsigned int cpu;
	__u64 bound;

	clock_gettime(CLOCK_MONOTONIC, &now);
	bound = now.tv_sec * 1000000000ull + now.tv_nsec;
	atomic_thread_fence(memory_order_seq_cst);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		__u32 open = __atomic_load_n(&r->ring[cpu].open,
					     __ATOMIC_ACQUIRE);
		__u64 last = __atomic_load_n(&r->ring[cpu].last,
					     __ATOMIC_ACQUIRE);

		r->source[cpu].head = __atomic_load_n(&r->ring[cpu].head,
						      __ATOMIC_ACQUIRE);
		if (open && last < bound)
			bound = last;
		still &= !open;
	}
	must(!__atomic_load_n(&r->map->parked, __ATOMIC_ACQUIRE),
	     "no record is parked");
	for (cpu = 0; still && cpu < r->cpus; cpu++)
		still = __atomic_load_n(&r->ring[cpu].head, __ATOMIC_ACQUIRE) ==
			r->source[cpu].head;
	return still ? UINT64_MAX : bound;
}

/* The next record of a ring, or NULL. */
static inline const struct utrace_rec *next(struct source *s)
{
	const struct utrace_rec *rec;

	while (s->at != s->head) {
		rec = (const void *)(s->data + (s->at & s->mask));
		if (rec->type != UTRACE_REC_PAD)
			return rec;
		s->at += rec->size;
	}
	return NULL;
}

/* Take a record: the records of the one task come in order, without a gap. */
static inline void take(struct reader *r, const struct utrace_rec *rec)
{
	r->wrong |= rec->time < r->time || rec->number != r->number + 1 ||
		    (rec->type != UTRACE_REC_SYS_ENTER &&
		     rec->type != UTRACE_REC_SYS_EXIT);
	r->time = rec->time;
	r->number = rec->number;
	r->records++;
}

/* Take the records of a round in the order of their times.  Steps 5 and 6. */
static void merge(struct reader *r, __u64 bound)
{
	const struct utrace_rec *first[MAX_CPUS];
	unsigned int cpu, least;

	for (cpu = 0; cpu < r->cpus; cpu++)
		first[cpu] = next(&r->source[cpu]);
	for (;;) {
		__u64 time = bound;

		for (least = r->cpus, cpu = 0; cpu < r->cpus; cpu++)
			if (first[cpu] && first[cpu]->time <= time) {
				time = first[cpu]->time;
				least = cpu;
			}
		if (least == r->cpus)
			break;
		take(r, first[least]);
		r->source[least].at += first[least]->size;
		first[least] = next(&r->source[least]);
	}
	for (cpu = 0; cpu < r->cpus; cpu++)
		__atomic_store_n(&r->tail[cpu].tail, r->source[cpu].at,
				 __ATOMIC_RELEASE);
}

/*
 * Instructions for a record that a mapped reader takes, the least of several
 * blocks.  @fd is a session that records entries and exits of this task.
 */
double reader_cost(int fd)
{
	struct reader r = {};
	double least = 0;
	int i;

	map(&r, fd);
	for (i = 0; i < BLOCKS; i++) {
		unsigned long begun;
		double cost;
		long records;

		getppids(BLOCK_CALLS);
		records = r.records;
		begun = __rdtsc();
		merge(&r, look(&r));
		begun = __rdtsc() - begun;
		records = r.records - records;
		must(records >= 2 * BLOCK_CALLS, "the records of each call");
		cost = (double)begun / records;
		if (!i || cost < least)
			least = cost;
	}
	must(!r.wrong, "records in order, none lost");
	/* A mapping would keep the session. */
	munmap((void *)r.map, r.rings_size);
	munmap(r.tail, r.tails_size);
	return least;
}
