// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - system calls whose barriers bench/barriers counts
 *
 * The program makes calls with and without an engine pair in turns, until
 * bench/barriers ends the guest.  bench/barriers distinguishes the two kinds by
 * the address of the loop that makes the call.
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

/* The two loops are the same but for the nop, and must stay two functions. */
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
	/* Without a difference the compiler would merge the two loops. */
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
