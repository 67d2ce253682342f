// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a process with many threads
 *
 * Usage: threads THREADS CALLS
 *
 * The program starts threads, prints the id of the last one and waits for a
 * line.  Then each thread calls getuid() CALLS times, and the program prints
 * "done" and waits for another line.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static long calls;
static pid_t last;

static void *work(void *arg)
{
	long i;

	if (arg)
		last = gettid();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < calls; i++)
		syscall(SYS_getuid);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	long i, n = argc > 1 ? atol(argv[1]) : 1;
	pthread_attr_t attr;
	pthread_t thread;

	calls = argc > 2 ? atol(argv[2]) : 1;
	pthread_barrier_init(&barrier, NULL, n + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < n; i++) {
		if (pthread_create(&thread, &attr, work,
				   i == n - 1 ? &last : NULL)) {
			perror("pthread_create");
			return 1;
		}
	}
	pthread_barrier_wait(&barrier);
	dprintf(1, "%d\n", last);
	getchar();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	dprintf(1, "done\n");
	getchar();
	return 0;
}
