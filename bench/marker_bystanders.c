// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - what others pay while a user has as many sites as he may
 *
 * The sites are in a file that everybody maps, as all programs map the C library, and in
 * a process that sleeps.  Each row is measured without the sites and with them in turns;
 * the sites come and go in between.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/utrace.h>
#include <linux/utrace_marker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "markers.h"

#define CROWDED		"/crowded"
#define PROBE		TRACING "/events/bench/crowded/enable"

/* What user.max_utrace_sites is, and what one descriptor may have. */
#define ALL		4096
#define EACH		1024

/*
 * The file has nops in lines of this size, and a return at its end.  Each but the last line
 * has a site.  At the place that is hit, so many descriptors each have one, too, with a
 * semaphore of its own, and so has this process.
 */
#define LINE		16
#define LINES		(ALL - OTHERS - 1)
#define OTHERS		40
#define SIZE		((LINES + 1) * LINE)
#define HIT		(SIZE - 2 * LINE)

#define TURNS		3

static void make_crowded(void)
{
	static unsigned char nops[SIZE];
	int fd = open(CROWDED, O_WRONLY | O_CREAT, 0755);

	memset(nops, 0x90, SIZE);
	nops[SIZE - 1] = 0xc3;
	must(fd >= 0 && write(fd, nops, SIZE) == SIZE, CROWDED);
	close(fd);
}

static char *map_crowded(void)
{
	int fd = open(CROWDED, O_RDONLY);
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	must(at != MAP_FAILED, CROWDED);
	close(fd);
	return at;
}

static void hold_crowded(void)
{
	map_crowded();
}

/* The sites */

static int sessions[ALL / EACH], owners[ALL / EACH];
static int other_sessions[OTHERS], others[OTHERS];

/* Places of before are free again some time after close(2). */
static void arm(int owner, struct utrace_ioc_marker *arg)
{
	int tries = 1000;

	while (ioctl(owner, UTRACE_IOC_MARKER_ARM, arg)) {
		must(errno == EUSERS && tries--, "a site more");
		usleep(10000);
	}
}

/* Another descriptor, which has room of its own, can arm nothing. */
static void check_limit(pid_t pid, struct utrace_ioc_marker *arg)
{
	int session = open_session(), owner = words_of(session, pid, 0);

	arg->offset = LINES * LINE;
	must(ioctl(owner, UTRACE_IOC_MARKER_ARM, arg) && errno == EUSERS,
	     "no site more");
	close(owner);
	close(session);
}

static void arm_all(pid_t pid)
{
	struct utrace_ioc_marker arg = {
		.fd = open(CROWDED, O_RDONLY),
		.flags = UTRACE_MARKER_COUNT,
	};
	int i;

	for (i = 0; i < LINES; i++) {
		int n = i / EACH;

		if (!(i % EACH)) {
			sessions[n] = open_session();
			owners[n] = words_of(sessions[n], pid, 0);
		}
		arg.offset = i * LINE;
		arm(owners[n], &arg);
	}
	arg.offset = HIT;
	for (i = 0; i < OTHERS; i++) {
		other_sessions[i] = open_session();
		others[i] = words_of(other_sessions[i], pid, 0);
		arg.semaphore = 2 * i + 2;
		arm(others[i], &arg);
	}
	arg.semaphore = 0;
	check_limit(pid, &arg);
	close(arg.fd);
}

static void disarm_all(void)
{
	int n;

	for (n = 0; n < ALL / EACH; n++) {
		close(owners[n]);
		close(sessions[n]);
	}
	for (n = 0; n < OTHERS; n++) {
		close(others[n]);
		close(other_sessions[n]);
	}
}

/* What the others do */

static void maps(long n)
{
	while (n--)
		munmap(map_crowded(), SIZE);
}

/* A program that maps the file, from fork(2) to wait(2). */
static void programs(long n)
{
	char *const args[] = { "/markers", "crowded", NULL };
	char *const none[] = { NULL };

	while (n--) {
		pid_t pid = fork();

		if (!pid) {
			execve(args[0], args, none);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

/* The program. */
void be_crowded(void)
{
	((void (*)(void))(map_crowded() + SIZE - 1))();
	_exit(0);
}

static void registrations(long n)
{
	while (n--) {
		write_file(PROBE, "1");
		write_file(PROBE, "0");
	}
}

/* The process has a marker of its own there. */
static char *hit_at;

static void site_hits(long n)
{
	while (n--)
		((void (*)(void))(hit_at + HIT))();
}

static void trace_self(void)
{
	struct utrace_ioc_marker arg = {
		.fd = open(CROWDED, O_RDONLY),
		.offset = HIT,
		.flags = UTRACE_MARKER_COUNT,
	};

	hit_at = map_crowded();
	arm(words_of(open_session(), getpid(), 0), &arg);
	close(arg.fd);
}

static void rows(const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "crowd_map_%s", name);
	say(full, per_op(tsc, maps, 10, 10));
	snprintf(full, sizeof(full), "crowd_program_%s", name);
	say(full, per_op(tsc, programs, 5, 10));
	snprintf(full, sizeof(full), "crowd_register_%s", name);
	say(full, per_op(cpu_time, registrations, 1, 3));
	snprintf(full, sizeof(full), "crowd_hit_%s", name);
	say(full, per_op(tsc, site_hits, 10, 10));
}

void bystander_sites(void)
{
	char probe[64];
	pid_t pid;
	int i;

	make_crowded();
	/* A place that has a site. */
	snprintf(probe, sizeof(probe), "p:bench/crowded %s:%#x", CROWDED, LINE);
	write_file(TRACING "/uprobe_events", probe);
	pid = sleeper(hold_crowded);
	trace_self();
	for (i = 0; i < TURNS; i++) {
		rows("without");
		arm_all(pid);
		rows("with");
		disarm_all();
	}
	write_file(TRACING "/uprobe_events", "-:bench/crowded");
	end(pid);
}
