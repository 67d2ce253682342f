/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a process of many threads that all carry out one order
 */
#ifndef UTRACE_DEV_POOL_H
#define UTRACE_DEV_POOL_H

#include <limits.h>
#include <linux/futex.h>

#include "dev.h"

#define POOL_MOST	2000

/**
 * struct pool - what the test and the threads share
 * @turn: a futex: the number of orders so far
 * @arrived: threads that wait for an order
 * @order: the last order
 * @n: number of threads
 * @tid: the threads
 */
struct pool {
	_Atomic int turn;
	_Atomic int arrived;
	struct order order;
	int n;
	_Atomic int tid[POOL_MOST];
};

static struct pool *pool;

/* Make a pool of @n threads, for pool_start() by this process or a child. */
static inline void pool_make(int n)
{
	pool = mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(pool != MAP_FAILED, "memory");
	pool->n = n;
}

static inline void *pool_thread(void *arg)
{
	int me = (long)arg, turn = pool->turn;

	pool->tid[me] = gettid();
	for (;;) {
		pool->arrived++;
		while (pool->turn == turn)
			syscall(SYS_futex, &pool->turn, FUTEX_WAIT, turn,
				NULL, NULL, 0);
		turn = pool->turn;
		pool->order.function(pool->order.n);
	}
	return NULL;
}

static inline void pool_be(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	long i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (i = 0; i < pool->n; i++)
		if (pthread_create(&thread, &attr, pool_thread, (void *)i))
			_exit(1);
	for (;;)
		pause();
}

/* Wait until all threads wait for an order. */
static inline void pool_wait(void)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2 && pool->arrived != pool->n; i++)
		usleep(2000);
	errno = ETIME;
	need(pool->arrived == pool->n, "threads that wait for an order");
}

/* Start the process; returns its pid when all threads wait. */
static inline pid_t pool_start(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid)
		pool_be();
	pool_wait();
	return pid;
}

/* Give an order to the threads; pool_wait() waits until all have carried it out. */
static inline void pool_begin(order_fn *function, long n)
{
	pool->order = (struct order){ .function = function, .n = n };
	pool->arrived = 0;
	pool->turn++;
	syscall(SYS_futex, &pool->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif /* UTRACE_DEV_POOL_H */
