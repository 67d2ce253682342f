// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - the cost for other processes while a user has all the sites he
 * may have
 *
 * The sites are in a file that all processes map, like the C library, and in
 * processes that sleep.  Each row is measured without the sites and with them
 * in turns; the sites come and go in between.
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

/* The value of user.max_utrace_sites, and the limit of one owner. */
#define ALL		4096
#define EACH		1024

/*
 * The file has nops in lines of this size, and a return at its end.  Each line
 * but the last has a site.  At the place that is hit OTHERS owners each have a
 * site, too, with a semaphore of its own, and so has this process.
 */
#define LINE		16
#define LINES		(ALL - OTHERS - 1)
#define OTHERS		40
#define SIZE		((LINES + 1) * LINE)
#define HIT		(SIZE - 2 * LINE)

/* Each owner has two engines in its process, which has room for 48. */
#define SLEEPERS	3

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

static struct owner owners[ALL / EACH], others[OTHERS];

static int try_arm(const struct owner *by, const struct utrace_marker *site)
{
	struct utrace_ioc_arm arm = {
		.target = by->target,
		.type = UTRACE_ARM_MARKER,
		.flags = UTRACE_ARM_F_COUNT,
		.spec = (__u64)site,
		.spec_size = sizeof(*site),
	};

	return ioctl(by->session, UTRACE_IOC_ARM, &arm);
}

/* Sites of a session that was closed are free again some time after close(2). */
static void arm(const struct owner *by, const struct utrace_marker *site)
{
	int tries = 1000;

	while (try_arm(by, site)) {
		must(errno == EUSERS && tries--, "one more site");
		usleep(10000);
	}
}

/* Another owner, which is below its own limit, can arm nothing. */
static void check_limit(pid_t pid, struct utrace_marker *site)
{
	const struct owner more = own(pid, 0);

	site->offset = LINES * LINE;
	must(try_arm(&more, site) && errno == EUSERS, "no further site");
	close(more.session);
}

static void arm_all(const pid_t *pids)
{
	struct utrace_marker site = { .fd = open(CROWDED, O_RDONLY) };
	int i;

	for (i = 0; i < LINES; i++) {
		int n = i / EACH;

		if (!(i % EACH))
			owners[n] = own(pids[0], 0);
		site.offset = i * LINE;
		arm(&owners[n], &site);
	}
	site.offset = HIT;
	for (i = 0; i < OTHERS; i++) {
		others[i] = own(pids[i % SLEEPERS], 0);
		site.semaphore = 2 * i + 2;
		arm(&others[i], &site);
	}
	site.semaphore = 0;
	check_limit(pids[0], &site);
	close(site.fd);
}

static void disarm_all(void)
{
	int n;

	for (n = 0; n < ALL / EACH; n++)
		close(owners[n].session);
	for (n = 0; n < OTHERS; n++)
		close(others[n].session);
}

/* Work of the other processes */

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
	const struct utrace_marker site = {
		.fd = open(CROWDED, O_RDONLY),
		.offset = HIT,
	};

	hit_at = map_crowded();
	owner = own(getpid(), 0);
	arm(&owner, &site);
	close(site.fd);
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
	pid_t pids[SLEEPERS];
	char probe[64];
	int i;

	make_crowded();
	/* A place that has a site. */
	snprintf(probe, sizeof(probe), "p:bench/crowded %s:%#x", CROWDED, LINE);
	write_file(TRACING "/uprobe_events", probe);
	for (i = 0; i < SLEEPERS; i++)
		pids[i] = sleeper(hold_crowded);
	trace_self();
	for (i = 0; i < TURNS; i++) {
		rows("without");
		arm_all(pids);
		rows("with");
		disarm_all();
	}
	write_file(TRACING "/uprobe_events", "-:bench/crowded");
	for (i = 0; i < SLEEPERS; i++)
		end(pids[i]);
}
