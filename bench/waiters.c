// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - the cost for other processes while a tracer waits for many
 * tracees
 *
 * Two processes trace TRACEES tasks each, one as their first tracer, the other
 * as a further one.  WAITERS threads of one of the two call wait(2) all the
 * time.  Neither is the parent of the tasks, and none of the tasks has anything
 * to report.
 *
 * The program is process 1 of the guest.  On one CPU, whose clock counts
 * instructions, a row is the longest stretch for which tasklist_lock is held
 * during the waits.  "tasklist" in the environment is the address of the lock.
 * Without it there are four CPUs, and a row is the time in which a bystander
 * forks, and its child exits and is reaped.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rows.h"

#define TRACEES		800
#define WAITERS		3
#define ROUNDS		6
#define ROUND_NS	4000000000L
#define WATCH		"/sys/module/utrace_watch/parameters/do"

enum kind { FIRST, FURTHER, KINDS };

static const char *const names[KINDS] = { "first", "further" };

/* Memory that the processes share. */
static struct shared {
	_Atomic int waiting;	/* the kind of tracer that calls wait(2) now, or KINDS */
	_Atomic int ready;	/* steps of setting up that are done */
	pid_t tracee[KINDS][TRACEES];
} *shared;

static void until_ready(int steps)
{
	while (shared->ready < steps)
		usleep(1000);
}

static void seize_all(enum kind kind)
{
	int i;

	for (i = 0; i < TRACEES; i++)
		must(!ptrace(PTRACE_SEIZE, shared->tracee[kind][i], 0, 0), "seize");
}

/*
 * The parent of all tasks is the first tracer of those that get a further
 * tracer.
 */
static void be_parent(void)
{
	int i, kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < TRACEES; i++) {
			pid_t pid = fork();

			must(pid >= 0, "fork");
			while (!pid)
				pause();
			shared->tracee[kind][i] = pid;
		}
	}
	seize_all(FURTHER);
	shared->ready++;
	for (;;)
		pause();
}

static void *wait_again(void *arg)
{
	const int *kind = arg;
	int status;

	for (;;) {
		if (shared->waiting == *kind)
			must(!waitpid(-1, &status, WNOHANG | __WALL), "no news");
		else
			usleep(1000);
	}
	return NULL;
}

static void be_tracer(int kind)
{
	pthread_t thread;
	int i;

	seize_all(kind);
	/* A tracer waits for the tasks of all threads of its process. */
	for (i = 0; i < WAITERS; i++)
		must(!pthread_create(&thread, NULL, wait_again, &kind), "thread");
	shared->ready++;
	for (;;)
		pause();
}

static void set_up(void)
{
	int kind;

	mount("none", "/proc", "proc", 0, NULL);
	mount("none", "/sys", "sysfs", 0, NULL);
	write_file("/proc/sys/kernel/ptrace_max_tracers", "2");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	shared->waiting = KINDS;
	if (!fork())
		be_parent();
	until_ready(1);
	for (kind = 0; kind < KINDS; kind++) {
		if (!fork())
			be_tracer(kind);
		until_ready(2 + kind);
	}
}

static void say_of(const char *row, enum kind kind, double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", row, names[kind]);
	say(name, value);
}

/* Print how long tasklist_lock was held at most while a tracer waits. */
static void hold_row(enum kind kind, const char *tasklist)
{
	char text[1024] = "", command[64];
	int fd;

	snprintf(command, sizeof(command), "tasklist %s", tasklist);
	write_file(WATCH, command);
	shared->waiting = kind;
	sleep(2);
	shared->waiting = KINDS;
	write_file(WATCH, "done");
	fd = open(WATCH, O_RDONLY);
	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, WATCH);
	close(fd);
	printf("%s at %s\n", names[kind], text);
	say_of("wait_hold", kind, atof(text));
}

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The time that a fork, an exit and a wait take while a tracer waits. */
static double bystander(enum kind kind)
{
	long begun, n;

	shared->waiting = kind;
	begun = now();
	for (n = 0; now() - begun < ROUND_NS; n++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "bystander");
	}
	shared->waiting = KINDS;
	return (double)(now() - begun) / n;
}

/* The two kinds take turns, since the speed of the machine changes. */
static void bystander_rows(void)
{
	double sum[KINDS + 1] = {};
	int i, kind;

	for (i = 0; i < ROUNDS; i++)
		for (kind = 0; kind <= KINDS; kind++)
			sum[kind] += bystander(kind) / ROUNDS;
	for (kind = 0; kind < KINDS; kind++)
		say_of("wait_bystander", kind, sum[kind]);
	say("wait_bystander_alone", sum[KINDS]);
}

int main(void)
{
	const char *tasklist = getenv("tasklist");
	int kind;

	set_up();
	if (tasklist) {
		load_module("/utrace_watch.ko", "");
		for (kind = 0; kind < KINDS; kind++)
			hold_row(kind, tasklist);
	} else {
		bystander_rows();
	}
	all_said();
	return 0;
}
