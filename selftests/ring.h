/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a ring of io_uring for one request
 */
#ifndef UTRACE_RING_H
#define UTRACE_RING_H

#include <dirent.h>
#include <linux/io_uring.h>

#include "target.h"

struct ring {
	int fd;			/* or -errno */
	char *sq;
	char *cq;
	struct io_uring_sqe *sqe;
	struct io_uring_params params;
};

/* Make a ring without its memory, or return false if the kernel has none. */
static inline bool ring_setup(struct ring *r, unsigned int flags)
{
	memset(r, 0, sizeof(*r));
	r->params.flags = flags;
	r->fd = syscall(SYS_io_uring_setup, 1, &r->params);
	if (r->fd < 0)
		r->fd = -errno;
	return r->fd >= 0;
}

static inline void *ring_part(struct ring *r, off_t at, size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
			 at);

	return map == MAP_FAILED ? NULL : map;
}

static inline bool ring_map(struct ring *r)
{
	r->sq = ring_part(r, IORING_OFF_SQ_RING, 4096);
	r->cq = ring_part(r, IORING_OFF_CQ_RING, 4096);
	r->sqe = ring_part(r, IORING_OFF_SQES, sizeof(*r->sqe));
	return r->sq && r->cq && r->sqe;
}

/* Make *r->sqe the next request. */
static inline void ring_push(struct ring *r)
{
	unsigned int *tail = (void *)(r->sq + r->params.sq_off.tail);
	unsigned int *array = (void *)(r->sq + r->params.sq_off.array);

	array[0] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

static inline bool ring_has_result(struct ring *r)
{
	unsigned int *head = (void *)(r->cq + r->params.cq_off.head);
	unsigned int *tail = (void *)(r->cq + r->params.cq_off.tail);

	return __atomic_load_n(tail, __ATOMIC_ACQUIRE) != *head;
}

/*
 * Take the result of a request; 1 if there is none until the deadline.  The
 * system call lets the kernel complete the request, and wakes the thread that
 * makes requests with IORING_SETUP_SQPOLL.
 */
static inline int ring_pop(struct ring *r)
{
	unsigned int *head = (void *)(r->cq + r->params.cq_off.head);
	struct io_uring_cqe *cqes = (void *)(r->cq + r->params.cq_off.cqes);
	unsigned int flags = IORING_ENTER_GETEVENTS;
	int res;

	if (r->params.flags & IORING_SETUP_SQPOLL)
		flags = IORING_ENTER_SQ_WAKEUP;
	if (!ut_until(syscall(SYS_io_uring_enter, r->fd, 0, 0, flags, NULL,
			      0) >= 0 && ring_has_result(r)))
		return 1;
	res = cqes[*head & (r->params.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return res;
}

/*
 * A ring with a thread of the kernel (IORING_SETUP_SQPOLL), which the target
 * makes and the test uses.  t->arg of the target is the ring, in memory that
 * both share.
 */
static inline struct ring *ring_new(struct ut_target *t)
{
	struct ring *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	t->arg = (long)r;
	return r == MAP_FAILED ? NULL : r;
}

/* In the target. */
static inline void ring_setup_polled(struct ut_target *t)
{
	ring_setup((struct ring *)t->arg, IORING_SETUP_SQPOLL);
	ut_say(t);
}

/* In the test: map the ring that the target has made. */
static inline bool ring_take(struct ring *r, pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);

	r->fd = syscall(SYS_pidfd_getfd, pidfd, r->fd, 0);
	close(pidfd);
	return r->fd >= 0 && ring_map(r);
}

/* Check that the thread of the kernel makes a request. */
static inline bool ring_serves(struct ring *r)
{
	memset(r->sqe, 0, sizeof(*r->sqe));
	r->sqe->opcode = IORING_OP_NOP;
	ring_push(r);
	return !ring_pop(r);
}

/* A thread of @pid that is neither its leader nor @not; 0 if there is none. */
static inline pid_t ring_thread(pid_t pid, pid_t not)
{
	struct dirent *entry;
	pid_t tid, found = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		tid = atoi(entry->d_name);
		if (tid > 0 && tid != pid && tid != not)
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

#endif /* UTRACE_RING_H */
