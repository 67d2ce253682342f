// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the program that debuggers work on
 *
 * debuggee run		call work() three times in each of two threads
 * debuggee serve DIR	write the pid to DIR/pid, and call work() in two threads
 *			until the file DIR/stop is there
 * debuggee leak	lose memory, and exit with 0
 *
 * The exit code is 7, or 1 for an error.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *dir;
static int work_count;

/* A debugger has a breakpoint here, and strace sees the system call. */
__attribute__((noinline)) static int work(int n)
{
	__atomic_fetch_add(&work_count, 1, __ATOMIC_RELAXED);
	return n + getppid();
}

static int is_over(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/stop", dir);
	return !access(path, F_OK);
}

static void *worker(void *arg)
{
	int i;

	for (i = 0; dir ? !is_over() : i < 3; i++) {
		work(i);
		usleep(10000);
	}
	return arg;
}

static int run(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, NULL))
		return 1;
	worker(NULL);
	pthread_join(thread, NULL);
	return 7;
}

static int serve(void)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", dir);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d\n", getpid()) < 0 || fclose(f))
		return 1;
	return run();
}

/* The compiler must not see that the memory is never used. */
static void lose(void)
{
	asm volatile ("" : : "r" (malloc(100)) : "memory");
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "serve")) {
		dir = argv[2];
		return serve();
	}
	if (argc > 1 && !strcmp(argv[1], "leak")) {
		lose();
		return 0;
	}
	return run();
}
