// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - semaphores of markers in which the program counts, too
 *
 * uprobes raises and lowers a semaphore while threads of the program change the same
 * word by atomic instructions.  The tests of events are for any kernel; a kernel whose
 * uprobes add to the semaphore by two accesses to memory fails them.
 */
#include "blows.h"
#include "sites_events.h"

#include <linux/perf_event.h>

#define MOST	5000

/* Count in two semaphores, those of stage::number[0] and [1]. */
static long count_in_semaphores(long unused)
{
	pthread_t threads[STRIKERS];
	int i;

	for (i = 0; i < 2; i++)
		blows[i] = (struct blows){
			.at = (void *)(uintptr_t)stage->semaphore_at[stage->number[i]],
			.size = 2,
			.most = MOST,
		};
	begin_blows(threads);
	end_blows(threads);
	return 0;
}

/* Even threads count in the semaphore of @even, odd ones in that of @odd. */
static void start_counts(struct target *target, enum place even, enum place odd)
{
	need(site[even].semaphore && site[odd].semaphore, "semaphores");
	shared->quit = 0;
	shared->looks = 0;
	stage->number[0] = even;
	stage->number[1] = odd;
	tell(target, SELF, count_in_semaphores, 0);
}

/* End: the semaphores have the sum of the threads' counts, and @more of the kernel. */
static void check_counts(struct target *target, enum place even, enum place odd,
			 int more)
{
	int sum[2] = { more, 0 }, i;

	shared->quit = 1;
	hear(target, SELF);
	holds(shared->looks > 100, "%ld thousands of counts", shared->looks);
	for (i = 0; i < STRIKERS; i++)
		sum[even != odd && i % 2] += shared->number[i];
	is(sum[0], semaphore(target, even), "the semaphore is the sum of all");
	if (even != odd)
		is(sum[1], semaphore(target, odd), "and the other one");
}

/* Find two places with semaphores in the same 32 bits. */
static void find_pair(enum place pair[2])
{
	int i, j;

	for (i = 0; i < PLACES; i++)
		for (j = 0; j < PLACES; j++)
			if (site[i].semaphore &&
			    site[j].semaphore == (site[i].semaphore ^ 2)) {
				pair[0] = i;
				pair[1] = j;
				return;
			}
	need(false, "two semaphores in the same 32 bits");
}

/* Have the event for a process, by perf_event_open(2). */
static int open_event(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event_id('p'),
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	need(fd >= 0, "perf_event_open");
	return fd;
}

/*
 * Raise and lower the semaphore of the target while threads count in it, and in that
 * of @other.  An event of another process lasts, so that uprobes keeps its probe, and
 * need not wait for RCU each time.
 */
static void toggle_event(struct target *target, enum place place,
			 enum place other)
{
	int last, fd, i;

	need(!add_event('p', place, site[place].semaphore), "uprobe_events");
	last = open_event(getpid());
	is(0, semaphore(target, place), "no event");
	fd = open_event(target->pid);
	is(1, semaphore(target, place), "an event");
	close(fd);
	is(0, semaphore(target, place), "the event is gone");
	start_counts(target, place, other);
	for (i = 0; i < times_if_fast(400); i++)
		close(open_event(target->pid));
	fd = open_event(target->pid);
	check_counts(target, place, other, 1);
	close(fd);
	close(last);
	remove_event('p');
}

/* Tests for any kernel that has uprobe events. */
FIXTURE(events) {
	struct target target;
};

FIXTURE_SETUP(events)
{
	dev_test = _metadata;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (geteuid() || !has_tracefs())
		SKIP(return, "not root, or " NO_TRACEFS);
	make_libraries();
	start_sites(&self->target);
}

FIXTURE_TEARDOWN(events)
{
	stop(&self->target);
	remove_libraries();
}

TEST_F_TIMEOUT(events, event_beside_counts, LONG_TIMEOUT)
{
	toggle_event(&self->target, HIT, HIT);
}

TEST_F_TIMEOUT(events, event_beside_counts_of_another, LONG_TIMEOUT)
{
	enum place pair[2];

	find_pair(pair);
	toggle_event(&self->target, pair[0], pair[1]);
}

TEST_F_TIMEOUT(sites, marker_beside_counts, LONG_TIMEOUT)
{
	struct tracer tracer;
	int i;

	trace(&tracer, self->target.pid, UTRACE_SCOPE_PROCESS);
	start_counts(&self->target, HIT, HIT);
	for (i = 0; i < times_if_fast(10000); i++) {
		arm_place(&tracer, HIT);
		disarm_place(&tracer, HIT);
	}
	arm_place(&tracer, HIT);
	check_counts(&self->target, HIT, HIT, 1);
	hit(&self->target, HIT, 5);
	are_hits(&tracer, &self->target, HIT, 5, "hits");
	untrace(&tracer);
}

/* The semaphore of a child is what uprobes takes for a negative number. */
TEST_F(sites, negative)
{
	struct target *target = &self->target;
	struct utrace_armed row = {};
	struct marker marker = marker_of(HIT);
	struct tracer tracer;
	const void *at;
	__u32 total;

	have_more(target, CHILD);
	at = (void *)(uintptr_t)stage->semaphore_at[HIT];
	order_word(target, CHILD, store_word, at, 2, 0x8000);
	trace(&tracer, target->tid[CHILD], UTRACE_SCOPE_PROCESS);
	is(-ERANGE, try_arm(&tracer, &marker), "ARM in the child alone");
	is(0x8000, semaphore_as(target, CHILD, HIT), "which changes nothing");
	untrace(&tracer);
	trace(&tracer, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "ARM in the tree: the parent");
	is(0x8000, semaphore_as(target, CHILD, HIT), "and the child");
	holds(until(poll_words(tracer.session, 0) & POLLPRI), "poll tells of the child");
	is(1, list_of(tracer.session, tracer.target, &row, 1, &total), "the list");
	is(1, total, "has nothing else");
	is(UTRACE_ARM_MARKER, row.type, "a marker");
	holds(row.cookie == COOKIE(HIT), "  with its cookie");
	is(tracer.ids[HIT], row.id, "  and its id");
	is(0, row.addr, "  and no address");
	is(UTRACE_ARM_STATE_FAILED, row.state, "  has failed");
	is(ERANGE, row.error, "  for a reason");
	is(target->tid[CHILD], row.pid, "  in the child");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the parent");
	untrace(&tracer);
	is(0, semaphore(target, HIT), "nobody");
	is(0x8000, semaphore_as(target, CHILD, HIT), "nor in the child");
}

TEST_HARNESS_MAIN
