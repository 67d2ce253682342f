// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: how many sites a user may have
 *
 * The sysctl user.max_utrace_sites limits the sites that a user has armed by all
 * descriptors, and in user namespaces of his.  The number of another user is his own.
 */
#include <sched.h>

#include "sites.h"

#define LIMIT		"user/max_utrace_sites"
#define SITES		3

/* Places without a semaphore in common. */
static const enum place places[SITES + 1] = { HIT, TWELVE, GUARDED, PLAIN };

static void obey_here(struct target *target, struct order *order)
{
	obey_sites(target, order);
}

/* Arm one place more; returns 0 or -errno. */
static int arm_another(struct tracer *tracer, enum place place)
{
	struct utrace_ioc_marker arg = marker_of(place);

	return try_arm(tracer->fd, &arg);
}

/* As many sites as the user may have, by two descriptors. */
static void fill(struct tracer tracers[2], struct target *target)
{
	int i;

	for (i = 0; i < 2; i++)
		trace(&tracers[i], target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < SITES; i++)
		is(0, arm_another(&tracers[i % 2], places[i]), "a site");
	is(-EUSERS, arm_another(&tracers[0], PLAIN), "one more");
	is(-EUSERS, arm_another(&tracers[1], PLAIN), "by the other descriptor");
	is(-EUSERS, arm_another(&tracers[1], HIT), "at a place that has a site");
}

/* Each site has its hits, and the place without one has none. */
static void is_traced(struct tracer tracers[2], struct target *target)
{
	int i;

	for (i = 0; i < SITES; i++) {
		hit(target, places[i], 3);
		are_hits(&tracers[i % 2], target, places[i], 3, "hits");
	}
	hit(target, PLAIN, 3);
	are_none(&tracers[0], "hits of what was refused");
	are_none(&tracers[1], "by either");
}

/* What could not be armed does not count. */
static void fail_often(struct target *target)
{
	struct utrace_ioc_marker arg = marker_of(HIT);
	struct tracer tracer;
	int i;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arg.offset = 1ULL << 40;
	for (i = 0; i < 2 * SITES; i++)
		is(-EINVAL, try_arm(tracer.fd, &arg), "behind the end of the file");
	untrace(&tracer);
}

static int fill_and_empty(void *arg)
{
	struct tracer tracers[2];
	struct target target;

	become_nobody();
	start_sites(&target);
	fail_often(&target);
	fill(tracers, &target);
	is_traced(tracers, &target);
	disarm_place(&tracers[0], HIT);
	need(until(!arm_another(&tracers[1], PLAIN)), "a site that was free");
	is(-EUSERS, arm_another(&tracers[0], HIT), "and no other");
	untrace(&tracers[0]);
	untrace(&tracers[1]);
	trace(&tracers[0], target.pid, UTRACE_SCOPE_PROCESS);
	need(until(!arm_another(&tracers[0], HIT)), "after the end of both");
	untrace(&tracers[0]);
	stop(&target);
	return dev_test->exit_code;
}

static void map_user(void)
{
	static const char map[] = "0 65534 1";
	int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);

	need(fd >= 0 && write(fd, map, strlen(map)) > 0, "uid_map");
	close(fd);
}

/* A namespace has a limit of its own, which is no way out. */
static int fill_in_namespace(void *arg)
{
	struct tracer tracers[2];
	struct target target;

	become_nobody();
	if (unshare(CLONE_NEWUSER)) {
		holds(true, "no user namespaces (%d)", errno);
		return dev_test->exit_code;
	}
	map_user();
	start_sites(&target);
	fill(tracers, &target);
	untrace(&tracers[0]);
	untrace(&tracers[1]);
	stop(&target);
	return dev_test->exit_code;
}

/* Root arms what it likes while the user can arm no more. */
static int fill_and_wait(void *arg)
{
	struct tracer tracers[2];
	struct target target;

	become_nobody();
	start_sites(&target);
	fill(tracers, &target);
	stage->number[8] = 1;
	need(until(stage->number[9]), "the other user");
	untrace(&tracers[0]);
	untrace(&tracers[1]);
	stop(&target);
	return dev_test->exit_code;
}

static void as_nobody(int (*function)(void *arg), const char *text)
{
	is(0, in_child(function, NULL), text);
}

/* The test's own targets are those of a user without privileges. */
FIXTURE(limits) {
	char before[32];
};

FIXTURE_SETUP(limits)
{
	const char *why = dev_begin(_metadata);
	char number[16];
	int fd;

	if (why)
		SKIP(return, "%s", why);
	fd = open("/proc/sys/" LIMIT, O_RDONLY | O_CLOEXEC);
	need(fd >= 0 && read(fd, self->before, sizeof(self->before) - 1) > 0,
	     LIMIT);
	close(fd);
	snprintf(number, sizeof(number), "%d", SITES);
	need(!set_sysctl(LIMIT, number), LIMIT);
	allow_users();
	make_libraries();
}

FIXTURE_TEARDOWN(limits)
{
	set_sysctl(LIMIT, self->before);
	set_unprivileged("0");
	remove_libraries();
	dev_end();
}

TEST_F(limits, all_descriptors)
{
	as_nobody(fill_and_empty, "a user without privileges");
}

TEST_F(limits, user_namespace)
{
	as_nobody(fill_in_namespace, "a user in a namespace");
}

/* The test forks the user, and is itself the other one. */
TEST_F(limits, another_user)
{
	struct tracer tracer;
	struct target target;
	pid_t pid = fork_tracer();
	int i;

	if (!pid)
		_exit(fill_and_wait(NULL));
	need(until(stage->number[8]), "the user without privileges");
	start_sites(&target);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < SITES; i++)
		is(0, arm_another(&tracer, places[i]), "a site of root's");
	is(-EUSERS, arm_another(&tracer, PLAIN), "root's limit");
	for (i = 0; i < SITES; i++) {
		hit(&target, places[i], 3);
		are_hits(&tracer, &target, places[i], 3, "hits");
	}
	untrace(&tracer);
	stop(&target);
	stage->number[9] = 1;
	is(0, status_of(pid), "the user");
}

TEST_HARNESS_MAIN
