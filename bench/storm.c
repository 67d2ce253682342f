// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - waits of forks, execs and renames under engines for each other
 *
 * Workers fork, exec and rename themselves while engines cover them, and the
 * rows say how often the sleeping locks of utrace were taken and waited for.
 * This runs on the kernel bench-locks with four CPUs.  The file /locks has the
 * names of the locks, one a line, as they are in /proc/lock_stat.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define SECONDS	20

/* How often each kind of worker has done its work; shared by all workers. */
static unsigned long *done;

static void count(int kind)
{
	__atomic_fetch_add(&done[kind], 1, __ATOMIC_RELAXED);
}

static void forks(int kind)
{
	for (;; count(kind)) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void execs(int kind)
{
	for (;; count(kind)) {
		pid_t pid = fork();

		if (!pid) {
			execl("/init", "init", "nothing", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

/*
 * A system call follows each rename, since a task asks its matches at an
 * event.
 */
static void renames(int kind)
{
	static const char *const names[] = { "nobody", "somebody" };
	unsigned int i;

	for (i = 0;; i++, count(kind)) {
		prctl(PR_SET_NAME, names[i & 1]);
		getppid();
	}
}

static const struct {
	const char *name;
	void (*work)(int kind);
	int workers;
} storm[] = {
	{ "forks", forks, 4 },
	{ "execs", execs, 3 },
	{ "renames", renames, 3 },
};

#define KINDS	(sizeof(storm) / sizeof(*storm))

static bool is_named(const char *name)
{
	static char locks[4096];
	char line[128];

	if (!*locks)
		read_file("/locks", locks, sizeof(locks));
	snprintf(line, sizeof(line), "\n%s\n", name);
	return strstr(locks, line);
}

/*
 * After "NAME:" a line has con-bounces, contentions, four wait times,
 * acq-bounces, acquisitions, and more that is not read.
 */
static void lock_rows(void)
{
	double contentions, acquisitions, all = 0, all_taken = 0;
	FILE *f = fopen("/proc/lock_stat", "r");
	char line[1024];

	must(f, "/proc/lock_stat");
	while (fgets(line, sizeof(line), f)) {
		char *name = line + strspn(line, " "), *colon = strrchr(line, ':');

		if (!colon || sscanf(colon + 1, "%*f %lf %*f %*f %*f %*f %*f %lf",
				     &contentions, &acquisitions) != 2)
			continue;
		*colon = 0;
		/*
		 * Cut "#N" of a second class with the name, and "/N" of a
		 * subclass.
		 */
		name[strcspn(name, "#/")] = 0;
		if (!is_named(name))
			continue;
		printf("%s: %.0f of %.0f\n", name, contentions, acquisitions);
		all += contentions;
		all_taken += acquisitions;
	}
	fclose(f);
	say("lock_contentions", all);
	say("lock_acquisitions", all_taken);
}

/* Attach engines of the system with and without a match, and a tree engine. */
static void attach_all(void)
{
	write_file(TRACING "/process/events", "%s",
		   "sys_enter sys_exit fork exec exit\n");
	write_file(TRACING "/process/comms", "%s", "nobody\n");
	write_file(TRACING "/current_tracer", "%s", "process");
	must(control("system"), "system");
	must(control("cover tree %d", getpid()), "cover");
	must(control("want"), "want");
}

void storm_rows(void)
{
	pid_t worker[32];
	unsigned int i, n = 0;

	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(done != MAP_FAILED, "mmap");
	attach_all();
	write_file("/proc/lock_stat", "%s", "0");
	write_file("/proc/sys/kernel/lock_stat", "%s", "1");
	for (i = 0; i < KINDS; i++) {
		int left = storm[i].workers;

		while (left--) {
			worker[n] = fork();
			if (!worker[n++])
				storm[i].work(i);
		}
	}
	sleep(SECONDS);
	write_file("/proc/sys/kernel/lock_stat", "%s", "0");
	while (n--)
		end(worker[n]);
	for (i = 0; i < KINDS; i++)
		say(storm[i].name, done[i]);
	lock_rows();
}
