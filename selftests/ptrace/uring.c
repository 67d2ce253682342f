// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - io_uring waits for the tracee of a further tracer
 *
 * IORING_OP_WAITID asks as waitid() does, and has to be woken as it is.  The
 * test itself is the further tracer.
 */
#include <linux/io_uring.h>

#include "two.h"

#define OP_WAITID	50	/* IORING_OP_WAITID, of headers of 6.7 */

struct ring {
	int fd;
	char *sq;
	char *cq;
	struct io_uring_sqe *sqe;
	struct io_uring_params params;
};

static void *map_ring(struct ring *r, off_t at, size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
			 at);

	return map == MAP_FAILED ? NULL : map;
}

/* A ring of one entry, or false if the kernel has none. */
static bool open_ring(struct ring *r)
{
	memset(r, 0, sizeof(*r));
	r->fd = syscall(SYS_io_uring_setup, 1, &r->params);
	if (r->fd < 0)
		return false;
	r->sq = map_ring(r, IORING_OFF_SQ_RING, 4096);
	r->cq = map_ring(r, IORING_OFF_CQ_RING, 4096);
	r->sqe = map_ring(r, IORING_OFF_SQES, sizeof(*r->sqe));
	return r->sq && r->cq && r->sqe;
}

/* Begin to wait for @pid; the kernel fills in *@info. */
static bool begin_wait(struct ring *r, pid_t pid, int options, siginfo_t *info)
{
	unsigned int *tail = (void *)(r->sq + r->params.sq_off.tail);
	unsigned int *array = (void *)(r->sq + r->params.sq_off.array);

	memset(r->sqe, 0, sizeof(*r->sqe));
	memset(info, 0, sizeof(*info));
	r->sqe->opcode = OP_WAITID;
	r->sqe->fd = pid;
	r->sqe->len = P_PID;
	r->sqe->file_index = options;
	r->sqe->addr2 = (unsigned long)info;
	array[0] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0) == 1;
}

/* The result of the wait; 1 if there is none until the deadline. */
static int end_wait(struct ring *r)
{
	unsigned int *head = (void *)(r->cq + r->params.cq_off.head);
	unsigned int *tail = (void *)(r->cq + r->params.cq_off.tail);
	struct io_uring_cqe *cqes = (void *)(r->cq + r->params.cq_off.cqes);
	int res;

	/* A system call gives the kernel the chance to complete the request. */
	if (!ut_until(syscall(SYS_io_uring_enter, r->fd, 0, 0,
			      IORING_ENTER_GETEVENTS, NULL, 0) >= 0 &&
		      __atomic_load_n(tail, __ATOMIC_ACQUIRE) != *head))
		return 1;
	res = cqes[*head & (r->params.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return res;
}

static bool is_pending(struct ring *r)
{
	unsigned int *head = (void *)(r->cq + r->params.cq_off.head);
	unsigned int *tail = (void *)(r->cq + r->params.cq_off.tail);

	return ut_stays(__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head);
}

TEST_F(tracers, stop_and_end)
{
	struct two_tracer parent_of_t = {};
	struct ut_target *t = &self->t;
	siginfo_t info;
	struct ring r;

	if (!open_ring(&r))
		SKIP(return, "no io_uring (IO_URING)");
	ASSERT_TRUE(two_start_parent(&parent_of_t, 0, t, actor));
	ASSERT_TRUE(two_begin(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));

	/* The stop comes after the wait has begun. */
	ASSERT_TRUE(begin_wait(&r, t->pid, WSTOPPED | WEXITED, &info));
	EXPECT_TRUE(is_pending(&r));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
	ASSERT_EQ(0, end_wait(&r));
	EXPECT_EQ(t->pid, info.si_pid);
	EXPECT_EQ(CLD_TRAPPED, info.si_code);
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));

	ASSERT_TRUE(begin_wait(&r, t->pid, WEXITED, &info));
	EXPECT_TRUE(is_pending(&r));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(0, end_wait(&r));
	EXPECT_EQ(t->pid, info.si_pid);
	EXPECT_EQ(CLD_EXITED, info.si_code);
	EXPECT_EQ(ACTOR_CODE, info.si_status);

	/* There is nothing more to wait for. */
	ASSERT_TRUE(begin_wait(&r, t->pid, WEXITED, &info));
	EXPECT_EQ(-ECHILD, end_wait(&r));
	close(r.fd);
}

TEST_HARNESS_MAIN
