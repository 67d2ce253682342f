// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - io_uring and further tracers
 *
 * IORING_OP_WAITID asks as waitid() does, and has to be woken as it is.  A
 * thread that the kernel makes for a ring has no further tracer.
 */
#include "two.h"

#include "../ring.h"

#define OP_WAITID	50	/* IORING_OP_WAITID, of headers of 6.7 */

/* A ring, or false if the kernel has none. */
static bool open_ring(struct ring *r)
{
	return ring_setup(r, 0) && ring_map(r);
}

/* Begin to wait for @pid; the kernel fills in *@info. */
static bool begin_wait(struct ring *r, pid_t pid, int options, siginfo_t *info)
{
	memset(r->sqe, 0, sizeof(*r->sqe));
	memset(info, 0, sizeof(*info));
	r->sqe->opcode = OP_WAITID;
	r->sqe->fd = pid;
	r->sqe->len = P_PID;
	r->sqe->file_index = options;
	r->sqe->addr2 = (unsigned long)info;
	ring_push(r);
	return syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0) == 1;
}

static bool is_pending(struct ring *r)
{
	return ut_stays(!ring_has_result(r));
}

/* The test itself is the further tracer. */
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
	ASSERT_EQ(0, ring_pop(&r));
	EXPECT_EQ(t->pid, info.si_pid);
	EXPECT_EQ(CLD_TRAPPED, info.si_code);
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));

	ASSERT_TRUE(begin_wait(&r, t->pid, WEXITED, &info));
	EXPECT_TRUE(is_pending(&r));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(0, ring_pop(&r));
	EXPECT_EQ(t->pid, info.si_pid);
	EXPECT_EQ(CLD_EXITED, info.si_code);
	EXPECT_EQ(ACTOR_CODE, info.si_status);

	/* There is nothing more to wait for. */
	ASSERT_TRUE(begin_wait(&r, t->pid, WEXITED, &info));
	EXPECT_EQ(-ECHILD, ring_pop(&r));
	close(r.fd);
}

/* Function of a target. */
static int polled(struct ut_target *t)
{
	ring_setup_polled(t);
	return ut_pauses(t);
}

/*
 * The thread of the kernel makes no reports, so it could not report stops to a
 * further tracer.  It can have a first one, as without utrace.
 */
TEST_F(tracers, thread_of_the_kernel)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	struct ring *r = ring_new(t);
	pid_t worker;

	ASSERT_NE(NULL, r);
	ASSERT_TRUE(ut_spawn(t, polled));
	ASSERT_TRUE(ut_hear(t));
	if (r->fd < 0)
		SKIP(return, "no ring with a thread (IO_URING): %s",
		     strerror(-r->fd));
	worker = ring_thread(t->pid, 0);
	ASSERT_LT(0, worker);
	ASSERT_TRUE(ring_take(r, t->pid));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(p, worker, 0));
	/* The same tracer may trace the thread that made the ring. */
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(s, worker, 0));
	EXPECT_EQ(-EPERM, two_ptrace(s, PTRACE_ATTACH, worker, 0));
	EXPECT_EQ(-ECHILD, two_poll(s, worker));
	EXPECT_TRUE(ring_serves(r));
}

TEST_HARNESS_MAIN
