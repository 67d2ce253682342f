/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a thread that sleeps in poll(2) or read(2) until it is woken
 *
 * The calls have no limit of time: when such a limit is over, poll(2) looks once more, and so
 * finds what it was not woken for.
 */
#ifndef UTRACE_DEV_ASLEEP_H
#define UTRACE_DEV_ASLEEP_H

#include "dev.h"

/**
 * struct asleep - a thread that sleeps
 * @fd: the descriptor
 * @events: what poll(2) waits for; 0: the thread calls read(2) instead
 * @thread: the thread
 * @tid: its id; 0: it does not run yet
 * @result: revents of poll(2), or what read(2) has returned
 * @woken: when the call has returned, in ns of CLOCK_MONOTONIC; 0: it has not
 */
struct asleep {
	int fd;
	short events;
	pthread_t thread;
	pid_t tid;
	long result;
	__u64 woken;
};

static inline __u64 asleep_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static inline void *asleep_run(void *arg)
{
	struct asleep *asleep = arg;
	struct pollfd pfd = { .fd = asleep->fd, .events = asleep->events };
	static char buffer[UTRACE_RING_MIN];

	__atomic_store_n(&asleep->tid, gettid(), __ATOMIC_RELEASE);
	if (!asleep->events)
		asleep->result = syscall(SYS_read, pfd.fd, buffer, sizeof(buffer));
	else if (syscall(SYS_poll, &pfd, 1, -1) == 1)
		asleep->result = pfd.revents;
	__atomic_store_n(&asleep->woken, asleep_clock(), __ATOMIC_RELEASE);
	return NULL;
}

/* Start the thread, and wait until it sleeps.  It may outlive the caller. */
static inline void fall_asleep(struct asleep *asleep, int fd, short events)
{
	long nr = events ? SYS_poll : SYS_read;
	pid_t tid;
	int i;

	*asleep = (struct asleep){ .fd = fd, .events = events, .result = -1 };
	/* read(2) is to wait, too. */
	need(!fcntl(fd, F_SETFL, 0), "F_SETFL");
	need(!pthread_create(&asleep->thread, NULL, asleep_run, asleep), "thread");
	for (i = 0; i < DEADLINE_MS / 2; i++) {
		tid = __atomic_load_n(&asleep->tid, __ATOMIC_ACQUIRE);
		if (tid && asleep_in(tid, nr))
			return;
		usleep(2000);
	}
	errno = ETIME;
	need(false, "a thread that sleeps");
}

/* Wait until the call has returned.  False: the thread sleeps on. */
static inline bool is_woken(struct asleep *asleep)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (__atomic_load_n(&asleep->woken, __ATOMIC_ACQUIRE)) {
			pthread_join(asleep->thread, NULL);
			return true;
		}
		usleep(2000);
	}
	return false;
}

#endif /* UTRACE_DEV_ASLEEP_H */
