// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - cost of attach and detach of engines that cover many threads
 *
 * Rows are instructions, or bytes, for each thread: for a process engine, and
 * for an engine of the system beside the arming of the same threads for
 * tracepoints.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

/* Start a thread that sleeps, in assembly, so that it needs no stack. */
static void add_thread(void)
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		     CLONE_THREAD | CLONE_SYSVSEM;
	long ret = SYS_clone;

	asm volatile("xor %%r10d, %%r10d\n\t"
		     "xor %%r8d, %%r8d\n\t"
		     "syscall\n\t"
		     "test %%rax, %%rax\n\t"
		     "jnz 2f\n"
		     "1:	mov %[pause], %%eax\n\t"
		     "syscall\n\t"
		     "jmp 1b\n"
		     "2:"
		     : "+a" (ret)
		     : "D" (flags), "S" (0L), "d" (0L), [pause] "i" (SYS_pause)
		     : "rcx", "r8", "r10", "r11", "memory");
	if (ret < 0) {
		errno = -ret;
		die("thread");
	}
}

double slab(const char *cache, double *size)
{
	char line[512], name[64];
	double objs;
	FILE *f = fopen("/proc/slabinfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %lf %*u %lf", name, &objs, size) == 3 &&
		    !strcmp(name, cache)) {
			fclose(f);
			return objs;
		}
	errno = 0;
	die(cache);
	return 0;
}

pid_t threads(int n)
{
	pid_t pid;
	int i;

	*shared = 0;
	pid = fork();
	if (!pid) {
		for (i = 1; i < n; i++)
			add_thread();
		*shared = n;
		for (;;)
			pause();
	}
	while (*shared != n)
		usleep(1000);
	usleep(100000);
	return pid;
}

void attach_rows(int n)
{
	double size, before = slab("utrace", &size);
	char said[64], name[64];
	pid_t pid = threads(n);

	must(control("scope %d", pid), "scope");
	reply(said, sizeof(said));
	snprintf(name, sizeof(name), "attach_thread_cost_%d", n);
	say(name, atof(said) / n);
	snprintf(name, sizeof(name), "attach_bytes_%d", n);
	say(name, (slab("utrace", &size) - before) * size / n);
	must(control("detach"), "detach");
	reply(said, sizeof(said));
	snprintf(name, sizeof(name), "detach_thread_cost_%d", n);
	say(name, atof(said) / n);
	end(pid);
}

/* Cover @n threads by an engine of the system, and arm them for tracepoints. */
void system_rows(int n)
{
	double size, before;
	char said[64], name[64];
	pid_t pid = threads(n);

	/* Let the tasks of earlier rows be freed. */
	usleep(100000);
	before = slab("utrace", &size);
	must(control("system"), "system");
	reply(said, sizeof(said));
	snprintf(name, sizeof(name), "system_attach_%d", n);
	say(name, atof(said) / n);
	snprintf(name, sizeof(name), "system_allocs_%d", n);
	say(name, (slab("utrace", &size) - before) / n);
	must(control("detach"), "detach");
	reply(said, sizeof(said));
	snprintf(name, sizeof(name), "system_detach_%d", n);
	say(name, atof(said) / n);
	must(control("probes 1"), "probes");
	reply(said, sizeof(said));
	snprintf(name, sizeof(name), "tracepoint_arm_%d", n);
	say(name, atof(said) / n);
	must(control("probes 0"), "probes off");
	end(pid);
}
