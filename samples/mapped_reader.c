// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the system calls of a process until it ends, from mapped rings:
 * mapped_reader PID
 *
 * Numbers in brackets are those of the rules in
 * Documentation/userspace-api/utrace.rst.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/utrace.h>

/*
 * A ring, or the records that read(2) has returned: the bytes from @at to @end,
 * by @mask.  @told is the ring's header, which the kernel writes.
 */
struct source {
	const struct utrace_map_ring *told;
	char *data;
	__u64 at, end, mask;
};

static int session;
static struct utrace_ioc_info info;
static const struct utrace_map *header;
static struct utrace_map_tail *tail;
static struct source *source;		/* one for each CPU, and for read(2) */

static void map(void)
{
	unsigned int cpu;
	char *area;

	if (ioctl(session, UTRACE_IOC_INFO, &info))
		err(2, "UTRACE_IOC_INFO");
	area = mmap(NULL, info.map_size, PROT_READ, MAP_SHARED, session,
		    UTRACE_MAP_RINGS);
	tail = mmap(NULL, info.tails_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    session, UTRACE_MAP_TAILS);
	source = calloc(info.rings + 1, sizeof(*source));
	if (area == MAP_FAILED || tail == MAP_FAILED || !source)
		err(2, "the rings");
	header = (void *)area;
	for (cpu = 0; cpu < info.rings; cpu++) {
		source[cpu].told = (void *)(area + header->header_size +
					    cpu * header->ring_stride);
		source[cpu].data = area + header->data_offset +
				   cpu * header->data_size;
		source[cpu].mask = header->data_size - 1;
	}
	source[info.rings].mask = ~0ULL;
}

static void print_call(__s32 tid, __u32 nr, const __u64 *args)
{
	printf("%d %u(%#llx, %#llx, %#llx, %#llx, %#llx, %#llx) = ", tid, nr,
	       args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* As in reader.c, which prints more types. */
static void print(const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *enter = (const void *)rec;
	const struct utrace_rec_sys_call *call = (const void *)rec;
	const struct utrace_rec_target_end *end = (const void *)rec;

	if (rec->type == UTRACE_REC_SYS_CALL) {
		print_call(rec->tid, call->nr, call->args);
		printf("%lld\n", call->ret);
	} else if (rec->type == UTRACE_REC_SYS_ENTER) {
		print_call(rec->tid, enter->nr, enter->args);
		puts("?");
	} else if (rec->type == UTRACE_REC_TARGET_END && end->lost) {
		errx(1, "%llu records were lost", end->lost);
	}
}

/* Return the next record of a source, or NULL. */
static const struct utrace_rec *first(struct source *s)
{
	const struct utrace_rec *rec;

	for (; s->at != s->end; s->at += rec->size) {
		rec = (void *)(s->data + (s->at & s->mask));
		if (rec->type != UTRACE_REC_PAD)
			return rec;
	}
	return NULL;
}

/* Print the records of all sources up to a time, in the order of time. */
static void merge(__u64 bound)
{
	const struct utrace_rec *rec, *next;
	struct source *from = NULL;
	unsigned int i;

	do {
		for (next = NULL, i = 0; i <= info.rings; i++) {
			rec = first(&source[i]);
			if (!rec || rec->time > bound ||
			    (next && rec->time >= next->time))
				continue;
			next = rec;
			from = &source[i];
		}
		if (next) {
			print(next);
			from->at += next->size;
		}
	} while (next);
}

/* Sort in the record at @at, after the last record of a source. */
static void sort_in(struct source *s, __u64 at)
{
	const struct utrace_rec *rec = (void *)(s->data + at), *before;
	static char copy[UTRACE_RING_MIN];
	__u64 to, size = rec->size;

	for (to = s->at; to < at; to += before->size) {
		before = (void *)(s->data + to);
		if (before->time > rec->time)
			break;
	}
	memcpy(copy, rec, size);
	memmove(s->data + to + size, s->data + to, at - to);
	memcpy(s->data + to, copy, size);
}

/*
 * Read the records that are in no ring, up to one that is later than the bound.
 */
static void read_parked(__u64 bound)
{
	struct source *s = &source[info.rings];
	const struct utrace_rec *rec;
	ssize_t size, length;
	__u64 time = 0;

	if (s->at == s->end) {
		s->at = 0;
		s->end = 0;
	}
	while (time <= bound) {
		s->data = realloc(s->data, s->end + UTRACE_RING_MIN);
		if (!s->data)
			err(2, "realloc");
		size = read(session, s->data + s->end, UTRACE_RING_MIN);
		if (size < 0 && errno != EAGAIN)
			err(2, "read");
		if (size <= 0)
			return;
		for (; size > 0; size -= length) {
			rec = (void *)(s->data + s->end);
			length = rec->size;
			time = rec->time;
			sort_in(s, s->end);
			s->end += length;
		}
	}
}

static bool is_still(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < info.rings; cpu++)
		if (__atomic_load_n(&source[cpu].told->open, __ATOMIC_ACQUIRE) ||
		    __atomic_load_n(&source[cpu].told->head, __ATOMIC_ACQUIRE) !=
		    source[cpu].end)
			return false;
	return !__atomic_load_n(&header->parked, __ATOMIC_ACQUIRE);
}

static void take(void)
{
	struct timespec now;
	unsigned int cpu;
	__u64 bound, last;
	bool open;

	clock_gettime(CLOCK_MONOTONIC, &now);				/* (1) */
	bound = now.tv_sec * 1000000000ULL + now.tv_nsec;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (cpu = 0; cpu < info.rings; cpu++) {				/* (2) */
		open = __atomic_load_n(&source[cpu].told->open, __ATOMIC_ACQUIRE);
		last = __atomic_load_n(&source[cpu].told->last, __ATOMIC_ACQUIRE);
		source[cpu].end = __atomic_load_n(&source[cpu].told->head,
						  __ATOMIC_ACQUIRE);
		if (open && last < bound)
			bound = last;
	}
	if (__atomic_load_n(&header->parked, __ATOMIC_ACQUIRE))		/* (3) */
		read_parked(bound);
	merge(is_still() ? ~0ULL : bound);				/* (4, 5) */
	for (cpu = 0; cpu < info.rings; cpu++)				/* (6) */
		__atomic_store_n(&tail[cpu].tail, source[cpu].at,
				 __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	struct utrace_ioc_events events = {
		.events = UTRACE_REC_BIT(SYS_CALL) | UTRACE_REC_BIT(EXIT),
	};
	struct utrace_ioc_attach attach = {
		.where.scope = UTRACE_SCOPE_PROCESS,
	};
	struct utrace_ioc_setup setup = { .flags = UTRACE_SETUP_F_MAPPED };
	struct pollfd pfd = { .events = POLLIN };

	session = open("/dev/utrace", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (session < 0)
		err(2, "/dev/utrace");
	attach.where.fd = syscall(SYS_pidfd_open, argc > 1 ? atoi(argv[1]) : 0, 0);
	if (attach.where.fd < 0 || ioctl(session, UTRACE_IOC_SETUP, &setup) ||
	    ioctl(session, UTRACE_IOC_EVENTS, &events) ||
	    ioctl(session, UTRACE_IOC_ATTACH, &attach))
		err(2, "mapped_reader PID");
	map();
	pfd.fd = session;
	while (pfd.revents != POLLHUP) {
		if (poll(&pfd, 1, -1) < 0)
			err(2, "poll");
		take();
	}
	return fflush(stdout) ? 2 : 0;
}
