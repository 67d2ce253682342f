// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - calls for bench/barriers to look at, until the guest is ended
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

static inline void one_call(void)
{
	long nr = SYS_getppid;

	asm volatile("syscall" : "+a" (nr) : : "rcx", "r11", "memory");
}

/* Two loops, so that the address tells which of them a call is of. */
__attribute__((noinline, noclone))
static void plain_calls(void)
{
	int i;

	for (i = 0; i < 100; i++)
		one_call();
}

__attribute__((noinline, noclone))
static void traced_calls(void)
{
	int i;

	for (i = 0; i < 100; i++)
		one_call();
	/* Else the compiler makes one of them. */
	asm volatile("nop");
}

void calls_to_look_at(void)
{
	printf("calls plain %p traced %p\n", plain_calls, traced_calls);
	fflush(stdout);
	for (;;) {
		must(control("engines pair %d 1", getpid()), "pair");
		traced_calls();
		must(control("detach"), "detach");
		plain_calls();
	}
}
