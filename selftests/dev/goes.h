/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - readers that can no longer read
 *
 * Another process keeps a descriptor and never reads, so that the file is not released.
 */
#ifndef UTRACE_DEV_GOES_H
#define UTRACE_DEV_GOES_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>

#include "dev.h"

/**
 * enum goes - how a reader ends
 * @GOES_IN_A_CALL: a thread waits in read(2) while another one closes the descriptor
 * @GOES_TO_EPOLL: it has only a descriptor of epoll, by which it polls
 * @GOES_DEAD: it dies, while another process shares its table of descriptors
 * @GOES_CLOSED: such a process closes the descriptor
 */
enum goes {
	GOES_IN_A_CALL,
	GOES_TO_EPOLL,
	GOES_DEAD,
	GOES_CLOSED,
	GOES_WAYS,
};

static const char *const goes_text[] = {
	"a thread reads, another closes",
	"it polls through epoll",
	"it dies, and leaves its table of descriptors",
	"who shares its table of descriptors closes",
};

/* In memory that all processes share. */
struct goes_shared {
	_Atomic int ready;
	_Atomic int go;
};

static struct goes_shared *goes;

static void goes_until(_Atomic int *flag)
{
	while (!*flag)
		usleep(1000);
}

static void *goes_read(void *fd)
{
	static char buffer[1 << 16];

	if (read(*(int *)fd, buffer, sizeof(buffer)) < 0)
		perror("# read");
	for (;;)
		pause();
	return NULL;
}

static void goes_poll(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	poll(&pfd, 1, 0);
}

/* The other process that uses the same table. */
static int goes_share(void *fd)
{
	prctl(PR_SET_PDEATHSIG, 0);
	goes_until(&goes->go);
	close(*(int *)fd);
	for (;;)
		pause();
	return 0;
}

static void goes_as_reader(int fd, enum goes how)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	struct epoll_event event = { .events = EPOLLIN };
	pthread_t thread;
	int ep;

	switch (how) {
	case GOES_IN_A_CALL:
		need(!fcntl(fd, F_SETFL, 0), "a descriptor that waits");
		need(!pthread_create(&thread, NULL, goes_read, &fd), "a thread");
		usleep(200000);
		close(fd);
		goes->ready = 1;
		break;
	case GOES_TO_EPOLL:
		ep = epoll_create1(EPOLL_CLOEXEC);
		need(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event), "epoll");
		close(fd);
		goes->ready = 1;
		for (;;)
			epoll_wait(ep, &event, 1, 10);
	case GOES_DEAD:
	case GOES_CLOSED:
		goes_poll(fd);
		need(clone(goes_share, stack + sizeof(stack), CLONE_FILES | SIGCHLD,
			   &fd) > 0, "clone");
		goes->ready = 1;
		break;
	default:
		break;
	}
	for (;;)
		pause();
}

/**
 * struct goes_reader - a process that reads, and one that only keeps a descriptor
 */
struct goes_reader {
	pid_t reader;
	pid_t keeper;
};

/* Make a process the reader; the caller has no descriptor then. */
static struct goes_reader goes_begin(int fd, enum goes how)
{
	struct goes_reader r;
	int i;

	goes = mmap(NULL, sizeof(*goes), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(goes != MAP_FAILED, "memory");
	fflush(stdout);
	r.keeper = fork();
	if (!r.keeper)
		for (;;)
			pause();
	r.reader = fork();
	if (!r.reader) {
		/* A group of its own, for goes_end(). */
		setpgid(0, 0);
		goes_as_reader(fd, how);
	}
	for (i = 0; i < DEADLINE_MS && !goes->ready; i++)
		usleep(1000);
	need(goes->ready, "a reader");
	close(fd);
	return r;
}

/* Let it end; a task that waits goes on. */
static void goes_now(const struct goes_reader *r, enum goes how)
{
	if (how == GOES_DEAD)
		kill(r->reader, SIGKILL);
	goes->go = how == GOES_CLOSED;
}

static void goes_end(const struct goes_reader *r)
{
	kill(-r->reader, SIGKILL);
	kill(r->keeper, SIGKILL);
	waitpid(r->reader, NULL, 0);
	waitpid(r->keeper, NULL, 0);
	munmap(goes, sizeof(*goes));
}

#endif /* UTRACE_DEV_GOES_H */
