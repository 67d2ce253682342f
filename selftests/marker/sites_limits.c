// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: how many sites a user may have
 *
 * The sysctl user.max_utrace_sites limits the sites that a user has armed by all
 * sessions, including his user namespaces.  Each user is counted separately.  The first
 * ARM for a target needs an engine, and the number of engines is limited, too.
 */
#include <sched.h>

#include "sites.h"

#define LIMIT		"user/max_utrace_sites"
#define ENGINES		"user/max_utrace_engines"
#define SITES		3

/* Places without a semaphore in common. */
static const enum place places[SITES + 1] = { HIT, TWELVE, GUARDED, PLAIN };

/* Arm one place more; returns 0 or -errno. */
static int arm_another(struct tracer *tracer, enum place place)
{
	struct marker arg = marker_of(place);
	int ret = try_arm(tracer, &arg);

	if (!ret)
		tracer->ids[place] = arg.id;
	return ret;
}

/* As many sites as the user may have, by two sessions. */
static void fill(struct tracer tracers[2], struct target *target)
{
	int i;

	for (i = 0; i < 2; i++)
		trace(&tracers[i], target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < SITES; i++)
		is(0, arm_another(&tracers[i % 2], places[i]), "a site");
	is(-EUSERS, arm_another(&tracers[0], PLAIN), "one more");
	is(-EUSERS, arm_another(&tracers[1], PLAIN), "by the other session");
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
	struct marker arg = marker_of(HIT);
	struct tracer tracer;
	int i;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arg.site.offset = 1ULL << 40;
	for (i = 0; i < 2 * SITES; i++)
		is(-EINVAL, try_arm(&tracer, &arg), "behind the end of the file");
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

/* The limit of a namespace does not lift that of its parent. */
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

/* Root can still arm when the user has reached his limit. */
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

static void read_limit(const char *name, char *text, size_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0 && read(fd, text, size - 1) > 0, path);
	close(fd);
}

/* The test's own targets are those of a user without privileges. */
FIXTURE(limits) {
	char before[32];
};

FIXTURE_SETUP(limits)
{
	const char *why = dev_begin(_metadata);
	char number[16];

	if (why)
		SKIP(return, "%s", why);
	read_limit(LIMIT, self->before, sizeof(self->before));
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

TEST_F(limits, all_sessions)
{
	as_nobody(fill_and_empty, "a user without privileges");
}

TEST_F(limits, user_namespace)
{
	as_nobody(fill_in_namespace, "a user in a namespace");
}

/* A child acts as the first user, the test itself as the second. */
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

/* The first ARM for a target makes an engine, which stays when nothing is armed. */
TEST_F(limits, engines_of_a_target)
{
	struct tracer tracer;
	struct target target;
	char before[32] = "";

	start_sites(&target);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	is(0, word_engines(target.pid), "an engine before ARM");
	read_limit(ENGINES, before, sizeof(before));
	need(!set_sysctl(ENGINES, "0"), ENGINES);
	is(-EUSERS, arm_another(&tracer, HIT), "ARM without room for an engine");
	is(0, semaphore(&target, HIT), "  which arms nothing");
	need(!set_sysctl(ENGINES, before), ENGINES);
	is(0, arm_another(&tracer, HIT), "ARM with room");
	is(1, word_engines(target.pid), "  makes an engine");
	is(1, engines(target.pid), "  beside that of the session");
	need(!set_sysctl(ENGINES, "0"), ENGINES);
	is(0, arm_another(&tracer, PLAIN), "a second ARM needs none");
	need(!set_sysctl(ENGINES, before), ENGINES);
	is(1, word_engines(target.pid), "  nor makes one");
	disarm_place(&tracer, HIT);
	disarm_place(&tracer, PLAIN);
	is(1, word_engines(target.pid), "nothing is armed: the engine stays");
	untrace(&tracer);
	holds(until(!word_engines(target.pid) && !engines(target.pid)),
	      "closed: no engine");
	stop(&target);
}

TEST_HARNESS_MAIN
