// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - background load while bench/pairs measures by the clock
 *
 *	load idle N	N threads that sleep
 *	load calls	a hundred system calls every ten milliseconds
 *
 * The program prints "ready" and runs until it is killed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *idle(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void calls(void)
{
	int i;

	for (;;) {
		for (i = 0; i < 100; i++)
			syscall(SYS_getppid);
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	int i, n = argc == 3 && !strcmp(argv[1], "idle") ? atoi(argv[2]) : 0;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (i = 0; i < n; i++) {
		if (pthread_create(&thread, &attr, idle, NULL)) {
			perror("load: thread");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	if (n)
		idle(NULL);
	calls();
	return 0;
}
