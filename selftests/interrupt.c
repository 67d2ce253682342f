// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - UTRACE_INTERRUPT
 *
 * An interrupt ends every interruptible sleep of a thread, and the thread
 * reports.  Calls that can be restarted then go on as if nothing had happened.
 */
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/epoll.h>

#include "fixture.h"

enum sleeper {
	IN_NANOSLEEP,
	IN_FUTEX,
	IN_FUTEX_TIMED,
	IN_EPOLL,
	IN_POLL,
	IN_READ,
	IN_PAUSE,
	IN_WAIT,
	IN_IO_URING,
};

FIXTURE(interrupt) {
	struct ut_target t;
	int status;
};

FIXTURE_VARIANT(interrupt) {
	enum sleeper in;
	/* The call that the target sleeps in, before and after the report. */
	long nr;
	long nr_after;
	/* The call goes on to sleep, or fails with @error. */
	bool restarts;
	int error;
};

FIXTURE_VARIANT_ADD(interrupt, nanosleep)
{
	.in = IN_NANOSLEEP, .nr = SYS_clock_nanosleep,
	.nr_after = SYS_restart_syscall, .restarts = true,
};

FIXTURE_VARIANT_ADD(interrupt, futex)
{
	.in = IN_FUTEX, .nr = SYS_futex, .nr_after = SYS_futex,
	.restarts = true,
};

FIXTURE_VARIANT_ADD(interrupt, futex_timed)
{
	.in = IN_FUTEX_TIMED, .nr = SYS_futex,
	.nr_after = SYS_restart_syscall, .restarts = true,
};

FIXTURE_VARIANT_ADD(interrupt, epoll_wait)
{
	.in = IN_EPOLL, .nr = SYS_epoll_wait, .error = EINTR,
};

FIXTURE_VARIANT_ADD(interrupt, poll)
{
	.in = IN_POLL, .nr = SYS_poll, .nr_after = SYS_restart_syscall,
	.restarts = true,
};

FIXTURE_VARIANT_ADD(interrupt, read)
{
	.in = IN_READ, .nr = SYS_read, .nr_after = SYS_read,
	.restarts = true,
};

FIXTURE_VARIANT_ADD(interrupt, pause)
{
	.in = IN_PAUSE, .nr = SYS_pause, .nr_after = SYS_pause,
	.restarts = true,
};

FIXTURE_VARIANT_ADD(interrupt, wait4)
{
	.in = IN_WAIT, .nr = SYS_wait4, .nr_after = SYS_wait4,
	.restarts = true,
};

FIXTURE_VARIANT_ADD(interrupt, io_uring_enter)
{
	.in = IN_IO_URING, .nr = SYS_io_uring_enter, .error = EINTR,
};

static int do_io_uring(struct ut_target *t)
{
	struct io_uring_params params = {};
	int fd = syscall(SYS_io_uring_setup, 4, &params);

	if (fd < 0) {
		t->sh->value[9] = errno;
		return -1;
	}
	ut_say(t);
	return syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS,
		       NULL, 0);
}

static int do_epoll(struct ut_target *t)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, t->to[0], &ev);
	ut_say(t);
	return syscall(SYS_epoll_wait, fd, &ev, 1, -1);
}

static int do_wait(struct ut_target *t)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ut_await(t);
		_exit(0);
	}
	ut_say(t);
	return syscall(SYS_wait4, pid, NULL, 0, NULL) > 0 ? 0 : -1;
}

/*
 * value[0] is the result, value[1] errno, value[2] says that the call is over.
 */
static int sleeper(struct ut_target *t)
{
	struct timespec ts = { .tv_sec = 3600 };
	struct pollfd pfd = { .fd = t->to[0], .events = POLLIN };
	static int word;
	long ret = 0;
	char c;

	errno = 0;
	if (t->arg != IN_IO_URING && t->arg != IN_EPOLL && t->arg != IN_WAIT)
		ut_say(t);
	switch (t->arg) {
	case IN_NANOSLEEP:
		ret = syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts,
			      NULL);
		break;
	case IN_FUTEX:
		ret = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
		break;
	case IN_FUTEX_TIMED:
		ret = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ts, NULL, 0);
		break;
	case IN_EPOLL:
		ret = do_epoll(t);
		break;
	case IN_POLL:
		ret = syscall(SYS_poll, &pfd, 1, 3600000);
		break;
	case IN_READ:
		ret = syscall(SYS_read, t->to[0], &c, 1);
		break;
	case IN_PAUSE:
		ret = syscall(SYS_pause);
		break;
	case IN_WAIT:
		ret = do_wait(t);
		break;
	case IN_IO_URING:
		ret = do_io_uring(t);
		break;
	}
	t->sh->value[0] = ret;
	t->sh->value[1] = errno;
	t->sh->value[2] = 1;
	if (t->arg == IN_IO_URING && t->sh->value[9])
		ut_say(t);
	ut_spin(t);
	return 0;
}

FIXTURE_SETUP(interrupt)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	self->t.arg = variant->in;
	ASSERT_TRUE(ut_spawn(&self->t, sleeper));
	ASSERT_TRUE(ut_hear(&self->t));
	if (variant->in == IN_IO_URING && self->t.sh->value[9])
		SKIP(return, "no io_uring: %s",
		     strerror(self->t.sh->value[9]));
	ASSERT_TRUE(ut_until(ut_asleep_in(self->t.pid, variant->nr)));
}

FIXTURE_TEARDOWN(interrupt)
{
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

/* After the report the call sleeps again, or has failed with @error. */
static bool goes_on(struct ut_target *t, bool restarts, long nr_after,
		    int error)
{
	if (restarts)
		return ut_until(ut_asleep_in(t->pid, nr_after)) &&
		       !t->sh->value[2];
	return ut_until(t->sh->value[2]) && t->sh->value[0] == -1 &&
	       t->sh->value[1] == error;
}

TEST_F(interrupt, reports)
{
	struct ut_target *t = &self->t;
	int id, i;

	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_control(id, 0, UT_INTERRUPT));
	i = ut_wait(0, id, UT_EV_REPORT, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_REPORT, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_EQ(1, ut_rec[i].val[2]);
	EXPECT_TRUE(goes_on(t, variant->restarts, variant->nr_after,
			    variant->error));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_REPORT, t->pid, UT_ANY));
}

TEST_F(interrupt, stops_and_goes_on)
{
	struct ut_target *t = &self->t;
	int id, i;

	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_REPORT, .count = 1,
			     .answer = UT_STOP | UT_PASS));
	ASSERT_EQ(0, ut_control(id, 0, UT_INTERRUPT));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_EQ(0, t->sh->value[2]);
	i = ut_seen(0, id, UT_EV_REPORT, t->pid, UT_ANY);
	EXPECT_LE(0, i);
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(goes_on(t, variant->restarts, variant->nr_after,
			    variant->error));
}

/* After many interrupts, the event that the target waits for still wakes it. */
TEST_F(interrupt, again_and_again)
{
	struct ut_target *t = &self->t;
	int id, i;

	if (!variant->restarts)
		SKIP(return, "this call fails when it is interrupted");
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	for (i = 0; i < 20; i++) {
		int from;

		ut_pull(0);
		from = ut_nrec;
		ASSERT_EQ(0, ut_control(id, 0, UT_INTERRUPT));
		ASSERT_LE(0, ut_wait(from, id, UT_EV_REPORT, t->pid, UT_ANY));
	}
	EXPECT_EQ(0, t->sh->value[2]);
	if (variant->in != IN_READ && variant->in != IN_POLL &&
	    variant->in != IN_WAIT)
		return;
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->value[2]));
	EXPECT_EQ(variant->in == IN_WAIT ? 0 : 1, t->sh->value[0]);
}

TEST_F(utrace, reports)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_TRUE(ut_runs(t));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_control(id, 0, UT_INTERRUPT));
	ASSERT_LE(0, ut_wait(0, id, UT_EV_REPORT, t->pid, UT_ANY));
	EXPECT_TRUE(ut_runs(t));
}

/* Function of a target: an interrupt works although all signals are blocked. */
static int blocks_all(struct ut_target *t)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	ut_await(t);
	return 0;
}

TEST_F(utrace, with_all_signals_blocked)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, blocks_all));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_control(id, 0, UT_INTERRUPT));
	ASSERT_LE(0, ut_wait(0, id, UT_EV_REPORT, t->pid, UT_ANY));
	EXPECT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
}

/* An interrupt of one thread is not noticed by the other threads. */
TEST_F(utrace, one_thread_of_many)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS,
		       UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_control(id, t->sh->tid[1], UT_INTERRUPT));
	ASSERT_LE(0, ut_wait(0, id, UT_EV_REPORT, t->sh->tid[1], UT_ANY));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_REPORT, t->sh->tid[0], UT_ANY));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_REPORT, t->sh->tid[2], UT_ANY));
	/* Without a task, the engine interrupts all tasks of its scope. */
	ASSERT_EQ(0, ut_control(id, 0, UT_INTERRUPT));
	for (i = 0; i < 3; i++)
		EXPECT_LE(0, ut_wait(0, id, UT_EV_REPORT, t->sh->tid[i],
				     UT_ANY));
}

TEST_HARNESS_MAIN
