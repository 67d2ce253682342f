// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: mapped rings
 *
 * What may be mapped and how, a reader of the mapped rings, and a program that
 * writes nonsense where the kernel reads how far it has read.
 */
#include "dev.h"

#define SMALL	(64 << 10)
#define MANY	3000

/* The areas of one session. */
struct areas {
	struct utrace_map *map;
	struct utrace_map_ring *ring;
	char *data;
	struct utrace_map_tail *tail;
	size_t rings_size;
	size_t tails_size;
	size_t ring_size;
	unsigned int cpus;
};

static void sizes(int fd, struct areas *areas)
{
	struct utrace_ioc_info arg = info(fd);

	areas->cpus = arg.rings;
	areas->ring_size = arg.ring_size;
	areas->rings_size = arg.map_size;
	areas->tails_size = arg.tails_size;
}

static int try_map(int fd, size_t size, int prot, int flags, off_t offset)
{
	void *at = mmap(NULL, size, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, size);
	return 0;
}

static void map(int fd, struct areas *areas)
{
	sizes(fd, areas);
	areas->map = mmap(NULL, areas->rings_size, PROT_READ, MAP_SHARED, fd,
			  UTRACE_MAP_RINGS);
	need(areas->map != MAP_FAILED, "mmap of the rings");
	areas->ring = (void *)areas->map + areas->map->header_size;
	areas->data = (char *)areas->map + areas->map->data_offset;
	areas->tail = mmap(NULL, areas->tails_size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, UTRACE_MAP_TAILS);
	need(areas->tail != MAP_FAILED, "mmap of the tails");
}

static void unmap(struct areas *areas)
{
	munmap(areas->map, areas->rings_size);
	munmap(areas->tail, areas->tails_size);
}

TEST_F(dev, what_is_mapped)
{
	const int rw = PROT_READ | PROT_WRITE;
	int fd = session();
	struct areas a;
	void *at;

	is(-ENXIO, try_map(fd, 4096, PROT_READ, MAP_SHARED, UTRACE_MAP_RINGS),
	   "without rings: ENXIO");
	need(!setup_mapped(fd, SMALL, UTRACE_FULL_DROP), "setup");
	sizes(fd, &a);
	is(0, try_map(fd, a.rings_size, PROT_READ, MAP_SHARED,
		      UTRACE_MAP_RINGS), "the rings, to read");
	is(-EPERM, try_map(fd, a.rings_size, rw, MAP_SHARED, UTRACE_MAP_RINGS),
	   "the rings, to write: EPERM");
	is(-EINVAL, try_map(fd, a.rings_size, PROT_READ, MAP_PRIVATE,
			    UTRACE_MAP_RINGS), "a private mapping: EINVAL");
	is(-EINVAL, try_map(fd, a.rings_size + 4096, PROT_READ, MAP_SHARED,
			    UTRACE_MAP_RINGS), "more than there is: EINVAL");
	is(-EINVAL, try_map(fd, 4096, PROT_READ, MAP_SHARED, UTRACE_MAP_RINGS),
	   "a part: EINVAL");
	is(-EINVAL, try_map(fd, 4096, PROT_READ, MAP_SHARED, 4096),
	   "another offset: EINVAL");
	is(-EPERM, try_map(fd, a.tails_size, rw | PROT_EXEC, MAP_SHARED,
			   UTRACE_MAP_TAILS), "the tails, to execute: EPERM");
	is(-EINVAL, try_map(fd, a.tails_size + 4096, rw, MAP_SHARED,
			    UTRACE_MAP_TAILS), "too many tails: EINVAL");
	is(-EINVAL, try_map(fd, a.tails_size, PROT_READ, MAP_SHARED,
			    UTRACE_MAP_TAILS),
	   "tails that cannot be written: EINVAL");
	at = mmap(NULL, a.rings_size, PROT_READ, MAP_SHARED, fd,
		  UTRACE_MAP_RINGS);
	holds(mprotect(at, a.rings_size, rw) == -1 && errno == EACCES,
	      "mprotect() makes the rings no more writable");
	munmap(at, a.rings_size);
	close(fd);
	fd = open("/dev/utrace", O_RDONLY | O_CLOEXEC);
	need(!setup_mapped(fd, SMALL, UTRACE_FULL_DROP), "setup");
	is(0, try_map(fd, a.rings_size, PROT_READ, MAP_SHARED,
		      UTRACE_MAP_RINGS), "open to read: the rings");
	is(-EACCES, try_map(fd, a.tails_size, rw, MAP_SHARED, UTRACE_MAP_TAILS),
	   "open to read: the tails: EACCES");
	close(fd);
}

/* The mapped record that comes next in a ring, or NULL. */
static struct utrace_rec *next_in(struct areas *a, unsigned int cpu,
				  __u64 *at, __u64 head)
{
	struct utrace_rec *rec;

	while (*at != head) {
		rec = (void *)(a->data + cpu * a->ring_size +
			       (*at & (a->ring_size - 1)));
		if (rec->type != UTRACE_REC_PAD)
			return rec;
		*at += rec->size;
	}
	return NULL;
}

/*
 * Copy the records of all rings, and those of read(2), to the records of dev.h, in
 * any order; returns their number.
 */
static int take_mapped(int fd, struct areas *a)
{
	size_t size = 0;
	unsigned int cpu;
	int n = 0;
	ssize_t got;

	for (cpu = 0; cpu < a->cpus; cpu++) {
		__u64 head = __atomic_load_n(&a->ring[cpu].head,
					     __ATOMIC_ACQUIRE);
		__u64 at = a->tail[cpu].tail;
		struct utrace_rec *rec;

		while ((rec = next_in(a, cpu, &at, head))) {
			memcpy(records + size, rec, rec->size);
			size += rec->size;
			at += rec->size;
			n++;
		}
		__atomic_store_n(&a->tail[cpu].tail, at, __ATOMIC_RELEASE);
	}
	while (a->map->parked &&
	       (got = read(fd, records + size, sizeof(records) - size)) > 0)
		size += got;
	records_size = size;
	return n;
}

/* A session that is not set up for it is not mapped, and read(2) gives its records. */
TEST_F(dev, not_mapped)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct target target;
	int fd = session(), other = session();
	struct areas a;

	start(&target);
	need(!setup(fd, SMALL), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	is(0, info(fd).map_size + info(fd).tails_size, "nothing is to be mapped");
	need(!setup_mapped(other, SMALL, UTRACE_FULL_DROP), "setup");
	sizes(other, &a);
	close(other);
	is(-EINVAL, try_map(fd, a.rings_size, PROT_READ, MAP_SHARED,
			    UTRACE_MAP_RINGS), "the rings: EINVAL");
	is(-EINVAL, try_map(fd, a.tails_size, rw, MAP_SHARED, UTRACE_MAP_TAILS),
	   "the tails: EINVAL");
	have(&target, SELF, mark, 2);
	is(4, take(fd), "read() gives the records");
	close(fd);
	stop(&target);
}

TEST_F(dev, reader)
{
	struct pollfd pfd = { .events = POLLIN };
	struct target target;
	struct areas a;
	int enter = 0, exit = 0, fd, i;

	start(&target);
	fd = session();
	need(!setup_mapped(fd, SMALL, UTRACE_FULL_STOP), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	map(fd, &a);
	have(&target, SELF, mark, 1);
	is(-1, read(fd, records, sizeof(records)),
	   "read() gives nothing from the rings");
	is(2, take_mapped(fd, &a), "they have the records");
	tell(&target, SELF, mark, MANY);
	for (i = 0; i < DEADLINE_MS / 2 && !info(fd).parked; i++)
		usleep(2000);
	pfd.fd = target.from[SELF][0];
	for (i = 0; i < DEADLINE_MS && poll(&pfd, 1, 1) != 1; i++) {
		take_mapped(fd, &a);
		enter += marks(UTRACE_REC_SYS_ENTER, 0);
		exit += marks(UTRACE_REC_SYS_EXIT, 0);
	}
	hear(&target, SELF);
	take_mapped(fd, &a);
	enter += marks(UTRACE_REC_SYS_ENTER, 0);
	exit += marks(UTRACE_REC_SYS_EXIT, 0);
	is(MANY, enter, "all entries");
	is(MANY, exit, "all exits");
	holds(info(fd).waits > 0, "the target had to wait");
	is(0, info(fd).lost, "nothing is lost");
	unmap(&a);
	close(fd);
	stop(&target);
}

/* A process that a reader has forked does not have the mappings. */
static int touch(void *tail)
{
	__atomic_store_n((__u64 *)tail, 1, __ATOMIC_RELAXED);
	return 0;
}

/*
 * Wrong tails make this session lose records and have no other effect: the target
 * goes on, and the session records again when the tails are right.
 */
TEST_F(dev, hostile)
{
	static const __u64 bad[] = {
		1, 8, 4096, ~0ULL, ~7ULL, 1ULL << 63, (1ULL << 63) - 8,
		0x123456789abcdef0,
	};
	struct target target;
	unsigned int i, cpu;
	struct areas a;
	int fd;

	start(&target);
	fd = session();
	need(!setup_mapped(fd, SMALL, UTRACE_FULL_DROP), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	map(fd, &a);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (cpu = 0; cpu < a.cpus; cpu++)
			a.tail[cpu].tail = a.ring[cpu].head + bad[i];
		have(&target, SELF, mark, MANY);
		holds(read(fd, records, sizeof(records)) == -1 &&
		      errno == EAGAIN, "tails of head + %llx: the target goes on",
		      bad[i]);
		for (cpu = 0; cpu < a.cpus; cpu++)
			a.tail[cpu].tail = bad[i];
		have(&target, SELF, mark, MANY);
	}
	for (cpu = 0; cpu < a.cpus; cpu++)
		a.tail[cpu].tail = a.ring[cpu].head;
	have(&target, SELF, mark, 1);
	holds(take_mapped(fd, &a) >= 2 && marks(UTRACE_REC_SYS_ENTER, 0) == 1,
	      "right tails: records come again");
	holds(madvise(a.tail, a.tails_size, MADV_DOFORK) && errno == EINVAL,
	      "madvise() does not have fork() copy the tails");
	is(-SIGSEGV, in_child(touch, &a.tail[0].tail), "a child does not have the mapping");
	unmap(&a);
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
