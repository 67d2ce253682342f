// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a program whose way through its functions is known
 *
 * Usage: walker calls|jump|signal|crash|threads|wait
 *
 * report.sh records it, and knows these functions by their names.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not inlined, and not left by a jump instead of a call and a return. */
#define FUNCTION __attribute__((noipa, optimize("no-optimize-sibling-calls")))

static jmp_buf back;

FUNCTION void inner(int n)
{
	while (n--)
		asm volatile("");
}

FUNCTION void outer(int n)
{
	inner(n);
	inner(n);
	asm volatile("");
}

/* 10 calls of outer(), 20 of inner(), and 100 jumps back in each of these. */
FUNCTION void calls(void)
{
	int i;

	for (i = 0; i < 10; i++)
		outer(101);
}

FUNCTION void thrower(void)
{
	inner(50);
	longjmp(back, 1);
}

FUNCTION void after_jump(void)
{
	inner(50);
}

FUNCTION void jump(void)
{
	if (!setjmp(back))
		thrower();
	after_jump();
}

FUNCTION void handler(int number)
{
	inner(50);
}

FUNCTION void after_signal(void)
{
	inner(50);
}

FUNCTION void interrupted(void)
{
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	after_signal();
}

FUNCTION void victim(int *p)
{
	*p = 1;
}

FUNCTION void way_to_victim(void)
{
	inner(50);
	victim((int *)0x10);
	asm volatile("");
}

static void *thread(void *arg)
{
	calls();
	return arg;
}

static void threads(void)
{
	pthread_t ids[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

/* Until there is a line, then crash. */
static void wait_to_crash(void)
{
	char line[16];

	if (read(STDIN_FILENO, line, sizeof(line)) > 0)
		way_to_victim();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} ways[] = {
		{ "calls", calls }, { "jump", jump }, { "signal", interrupted },
		{ "crash", way_to_victim }, { "threads", threads },
		{ "wait", wait_to_crash }, {}
	};
	int i;

	for (i = 0; argc > 1 && ways[i].name; i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].function();
	return 0;
}
