// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - forks of a process without words, while another process has
 * some
 *
 * A fork is measured together with the exit of the child and the wait for it.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/utrace_marker.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "markers.h"

static unsigned long fork_cost(void)
{
	unsigned long begun = tsc();
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return tsc() - begun;
}

/* While another process has words and markers */

#define FORKS	150

static void fork_rows(const char *name)
{
	int i;

	for (i = 0; i < FORKS; i++)
		say(name, fork_cost());
}

static void wait_for(int go)
{
	char c;

	must(read(go, &c, 1) == 1, "a byte of the parent");
}

/*
 * A process that opens a session for itself, arms words, and then markers; each
 * step waits for a byte.
 */
static pid_t owner_of_words(int go)
{
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	map_file();
	wait_for(go);
	owner = own(getpid(), 0);
	wait_for(go);
	for (i = 0; i < WORDS; i++)
		arm_word(MAPPED(word[i]));
	wait_for(go);
	for (i = 0; i < SITES; i++)
		arm_site(i, UTRACE_ARM_F_COUNT);
	for (;;)
		pause();
}

static void tell(int go)
{
	must(write(go, "", 1) == 1, "pipe");
	usleep(100000);
}

/*
 * The process that forks has the same descriptors before and after.  Each
 * marker has raised the semaphore.
 */
void forks(void)
{
	pid_t other;
	int go[2];

	must(!pipe(go), "pipe");
	other = owner_of_words(go[0]);
	must(other > 0, "fork");
	usleep(100000);
	fork_rows("fork_plain");
	tell(go[1]);
	fork_rows("fork_engine");
	tell(go[1]);
	fork_rows("fork_words");
	tell(go[1]);
	must(value_at(other, MAPPED(word[WORDS - 1])) == 1 &&
	     value_at(other, MAPPED(semaphore)) == SITES,
	     "the words and the semaphore of the other process");
	fork_rows("fork_markers");
	end(other);
}

/* While perf has as many probes in another process, and nobody has an engine */

/* A process that has perf arm its markers when a byte comes. */
static pid_t owner_of_probes(int go)
{
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	map_file();
	wait_for(go);
	for (i = 0; i < SITES; i++)
		perf_arm(0, i);
	for (;;)
		pause();
}

void forks_beside_perf(void)
{
	pid_t other;
	int go[2];

	must(!pipe(go), "pipe");
	other = owner_of_probes(go[0]);
	must(other > 0, "fork");
	usleep(100000);
	fork_rows("fork_idle");
	tell(go[1]);
	must(value_at(other, MAPPED(semaphore)) == SITES,
	     "the semaphore of the other process");
	fork_rows("fork_perf");
	end(other);
}

/* While another process arms and disarms a marker */

/* Forks of one row, and the number of processes that map the file. */
#define MANY		1000
#define MAPPERS		100

/* The longest time between two forks, in microseconds. */
#define NAP		10000

/**
 * struct seen - statistics of the forks of a row
 * @amid: forks that began while the other process was about to run
 * @held: forks in which the other process ran, since the fork waited for it
 */
struct seen {
	int amid;
	int held;
};

/* A process that arms and disarms a marker without an end. */
static pid_t armer(void (*loop)(long n))
{
	struct sched_param param = {};
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid)
		return pid;
	must(!sched_setscheduler(0, SCHED_OTHER, &param), "SCHED_OTHER");
	loop(LONG_MAX);
	_exit(0);
}

/* Check whether a process runs, or would run if there were another CPU. */
static bool is_running(pid_t pid)
{
	char name[32], state = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	file = fopen(name, "r");
	must(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1, name);
	fclose(file);
	return state == 'R';
}

static unsigned long cpu_time_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	must(!clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &time),
	     "the CPU time of another process");
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static unsigned long fork_beside(pid_t other, struct seen *seen)
{
	unsigned long before, cost;

	seen->amid += is_running(other);
	before = cpu_time_of(other);
	cost = fork_cost();
	seen->held += cpu_time_of(other) != before;
	return cost;
}

static int compare(const void *a, const void *b)
{
	const unsigned long *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/*
 * Print the cost that 99 of 100 forks do not exceed.  The process sleeps before
 * each fork, for times that are the same in every boot, and takes the CPU away
 * from @other at any point of an arming, as the process runs as SCHED_FIFO and
 * the kernel is preempted.  So @other runs in a fork only if that has to wait
 * for it.  Nobody arms if @other is 0.
 */
static struct seen p99_row(const char *name, pid_t other)
{
	static unsigned long costs[MANY];
	struct seen seen = {};
	int i;

	srand48(1);
	for (i = 0; i < MANY; i++) {
		usleep(lrand48() % NAP);
		costs[i] = other ? fork_beside(other, &seen) : fork_cost();
	}
	qsort(costs, MANY, sizeof(*costs), compare);
	say(name, costs[MANY * 99 / 100 - 1]);
	return seen;
}

/* A row is refused unless enough forks come amid an arming. */
static void arming_rows(const char *what, void (*loop)(long n))
{
	pid_t other = armer(loop);
	struct seen seen;
	char name[64];

	snprintf(name, sizeof(name), "fork_p99_arming_%s", what);
	seen = p99_row(name, other);
	must(seen.amid >= MANY / 50, "the other process arms");
	snprintf(name, sizeof(name), "fork_amid_arming_%s", what);
	say(name, seen.amid);
	snprintf(name, sizeof(name), "fork_held_by_arming_%s", what);
	say(name, seen.held);
	end(other);
}

/* One session is open in all rows, so they differ by the arming only. */
void forks_while_arming(void)
{
	static struct crowd crowd;

	grow_crowd(&crowd, MAPPERS, map_file);
	owner = own(crowd.pids[0], 0);
	p99_row("fork_p99", 0);
	arming_rows("site", sites_loop);
	add_probe();
	arming_rows("tracefs", tracefs_loop);
	remove_probe();
	end_crowd(&crowd);
}
