// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: several users of one place
 *
 * Users are tracers of /dev/utrace, events of tracefs, which see the hits of
 * all processes, and perf events.  A semaphore is 1 as long as there is a user:
 * the kernel's uprobes have one breakpoint for all.
 */
#include "sites_events.h"

/* number[]: 0: stop.  1: loads of the semaphore.  2: those that were not 1. */
static long watch_semaphore(long unused)
{
	while (!stage->number[0]) {
		stage->number[2] += own_semaphore(HIT) != 1;
		stage->number[1]++;
	}
	return 0;
}

/* number[]: 3: the child's semaphore.  Returns its status. */
static long fork_one(long hits)
{
	pid_t pid = plain_fork();
	int status = -1;

	if (!pid) {
		stage->number[3] = own_semaphore(HIT);
		hit_here(hits);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* Tracers. */

TEST_F(sites, two_tracers)
{
	struct target *target = &self->target;
	struct tracer first, second;
	int i;

	for (i = 0; i < 4; i++) {
		trace(&first, target->pid, UTRACE_SCOPE_PROCESS);
		trace(&second, target->pid, i / 2 ? UTRACE_SCOPE_TREE :
		      UTRACE_SCOPE_PROCESS);
		arm_place(&first, HIT);
		arm_place(&second, HIT);
		is(1, semaphore(target, HIT), "two tracers, one semaphore");
		hit(target, HIT, 5);
		are_hits(&first, target, HIT, 5, "the first one's hits");
		are_hits(&second, target, HIT, 5, "the second one's");
		if (i % 2)
			disarm_place(&first, HIT);
		else
			leave(&first);
		is(1, semaphore(target, HIT), "the first one leaves");
		hit(target, HIT, 3);
		are_none(&first, "and has no hits");
		are_hits(&second, target, HIT, 3, "the second one has");
		disarm_place(&second, HIT);
		is(0, semaphore(target, HIT), "the second one leaves");
		hit(target, HIT, 3);
		are_none(&second, "and has no hits");
		untrace(&first);
		untrace(&second);
	}
}

/* Two targets of one session are two users, too. */
TEST_F(sites, two_targets)
{
	struct target *target = &self->target;
	struct marker arg = marker_of(HIT);
	struct tracer tracer, second;
	struct utrace_rec *rec;
	int kinds[2] = {};

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	trace_by(&second, tracer.session, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	arg.cookie = 7;
	keep_args(&arg, 1);
	arg.id = arm_marker(&second, arg);
	holds(arg.id != tracer.ids[HIT], "ids %u and %u", tracer.ids[HIT], arg.id);
	is(1, semaphore(target, HIT), "one semaphore");
	hit(target, HIT, 5);
	is(10, gather(tracer.session, 10), "each hit is recorded for both");
	for_each_record(rec) {
		struct utrace_rec_marker *one = (void *)rec;

		kinds[0] += rec->target == tracer.target &&
			    one->cookie == COOKIE(HIT) && one->nargs == 3;
		kinds[1] += rec->target == second.target &&
			    one->cookie == 7 && one->nargs == 1;
	}
	is(5, kinds[0], "with the cookie and the arguments of the first");
	is(5, kinds[1], "and of the second");
	is(5, hits_of(&tracer, COOKIE(HIT)), "counted for the first");
	is(5, hits_of(&second, 7), "and for the second");
	is(-ENOENT, hits_of(&second, COOKIE(HIT)), "which has only its own");
	leave(&tracer);
	is(1, semaphore(target, HIT), "the first one is detached");
	hit(target, HIT, 5);
	is(5, gather(tracer.session, 5), "hits");
	is(10, hits_of(&second, 7), "of the second");
	/* An id names an armed marker, whichever target has it. */
	disarm_marker(&tracer, arg.id);
	is(0, semaphore(target, HIT), "the second one is disarmed");
	untrace(&tracer);
}

#define TRACERS	8

/* Each turn has three hits, with the same arguments. */
static void are_hits_of_turns(struct tracer *tracer, struct target *target,
			      int turns)
{
	struct utrace_rec_marker *hit;
	struct utrace_rec *rec;
	int n = 0, good = 0;

	gather(tracer->session, 3 * turns);
	for_each_record(rec) {
		hit = (void *)rec;
		good += is_hit(tracer, hit, target->pid, target->pid, HIT,
			       n++ % 3);
	}
	is(3 * turns, n, "hits");
	is(3 * turns, good, "  which are right");
}

TEST_F(sites, many_tracers)
{
	struct target *target = &self->target;
	struct tracer tracer[TRACERS];
	int i, n;

	for (i = 0; i < TRACERS; i++) {
		trace(&tracer[i], target->pid, i % 2 ? UTRACE_SCOPE_TREE :
		      UTRACE_SCOPE_PROCESS);
		arm_place(&tracer[i], HIT);
	}
	is(1, semaphore(target, HIT), "all tracers");
	hit(target, HIT, 3);
	/* They leave in another order than they have come. */
	for (n = 1; n <= TRACERS; n++) {
		struct tracer *leaving = &tracer[n * 3 % TRACERS];

		is(3 * n, hits_of(leaving, COOKIE(HIT)), "counted");
		are_hits_of_turns(leaving, target, n);
		untrace(leaving);
		is(n < TRACERS, semaphore(target, HIT), "after one has left");
		hit(target, HIT, 3);
	}
}

/* Two processes with one tracer each. */
TEST_F(sites, two_processes)
{
	struct target *target = &self->target, other;
	struct tracer first, second;

	start_sites(&other);
	trace(&first, target->pid, UTRACE_SCOPE_PROCESS);
	trace(&second, other.pid, UTRACE_SCOPE_PROCESS);
	arm_place(&first, HIT);
	arm_place(&second, HIT);
	is(1, semaphore(target, HIT), "the first one's semaphore");
	is(1, semaphore(&other, HIT), "the second one's semaphore");
	hit(&other, HIT, 5);
	are_none(&first, "hits of the second are none of the first");
	is(5, gather(second.session, 5), "but the second's");
	disarm_place(&first, HIT);
	is(0, semaphore(target, HIT), "the first one is disarmed");
	is(1, semaphore(&other, HIT), "the second one is not");
	hit(target, HIT, 5);
	are_none(&second, "hits of the first are none of the second");
	arm_place(&first, HIT);
	untrace(&second);
	is(1, semaphore(target, HIT), "the first one is armed again");
	is(0, semaphore(&other, HIT), "the second one is closed");
	hit(&other, HIT, 5);
	are_none(&first, "hits of the second");
	untrace(&first);
	stop(&other);
}

/* number[]: 4: what has been armed. */
static pid_t start_tracer(struct target *target, __u32 scope)
{
	struct tracer tracer;
	pid_t pid = fork_tracer();

	if (pid)
		return pid;
	trace(&tracer, target->pid, scope);
	arm_place(&tracer, HIT);
	arm_place(&tracer, PLAIN);
	stage->number[4]++;
	for (;;)
		pause();
}

TEST_F(sites, killed_tracer)
{
	struct target *target = &self->target;
	struct tracer tracer;
	pid_t killed;
	int i;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	/* From the first ARM on a tracer has the engine that is looked for below. */
	arm_place(&tracer, GUARDED);
	for (i = 0; i < 4; i++) {
		if (i % 2)
			arm_place(&tracer, HIT);
		stage->number[4] = 0;
		killed = start_tracer(target, i / 2 ? UTRACE_SCOPE_TREE :
				      UTRACE_SCOPE_PROCESS);
		need(until(stage->number[4]), "another tracer");
		is(1, semaphore(target, HIT), "the semaphore");
		need(!kill(killed, SIGKILL), "SIGKILL");
		is(SIGKILL, status_of(killed), "the other one is killed");
		holds(until(semaphore(target, HIT) == i % 2),
		      "%d tracers are left", i % 2);
		holds(until(word_engines(target->pid) == 1), "one engine");
		hit(target, HIT, 5);
		hit(target, PLAIN, 5);
		if (!(i % 2))
			continue;
		are_hits(&tracer, target, HIT, 5, "hits");
		disarm_place(&tracer, HIT);
		is(0, semaphore(target, HIT), "the last one leaves");
	}
	untrace(&tracer);
}

/* An event is there before the tracer, and after it. */
TEST_F(sites, event_before_and_after)
{
	struct target *target = &self->target;
	struct tracer tracer;

	if (!has_tracefs())
		SKIP(return, NO_TRACEFS);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	begin_event('p', HIT);
	is(1, semaphore(target, HIT), "an event");
	hit(target, HIT, 5);
	is(5, event_hits('p'), "its hits");
	are_none(&tracer, "the tracer's hits");
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "an event and a tracer");
	hit(target, HIT, 5);
	is(10, event_hits('p'), "hits of the event go on");
	are_hits(&tracer, target, HIT, 5, "the tracer has hits");
	disarm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "the event alone");
	hit(target, HIT, 5);
	is(15, event_hits('p'), "hits of the event go on");
	are_none(&tracer, "the tracer's hits");
	end_event('p');
	is(0, semaphore(target, HIT), "nobody");
	hit(target, HIT, 5);
	untrace(&tracer);
}

/* An event comes and goes while the marker is armed. */
TEST_F(sites, event_comes_and_goes)
{
	struct target *target = &self->target, other;
	struct tracer tracer;
	int i;

	if (!has_tracefs())
		SKIP(return, NO_TRACEFS);
	start_sites(&other);
	have(target, SELF, look_around, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	need(!add_event('p', HIT, site[HIT].semaphore), "uprobe_events");
	for (i = 1; i <= 3; i++) {
		need(!switch_event('p', true), "enable the event");
		is(1, semaphore(target, HIT), "an event and a tracer");
		is(1, semaphore(&other, HIT), "the event in another process");
		hit(&other, HIT, 5);
		are_none(&tracer, "hits of another process");
		hit(target, HIT, 5);
		are_hits(&tracer, target, HIT, 5, "hits of the tracer");
		is(10 * i, event_hits('p'), "hits of the event");
		need(!switch_event('p', false), "disable the event");
		is(1, semaphore(target, HIT), "the tracer alone");
		is(0, semaphore(&other, HIT), "nobody in the other process");
		hit(target, HIT, 5);
		are_hits(&tracer, target, HIT, 5, "hits of the tracer");
	}
	remove_event('p');
	untrace(&tracer);
	is(0, semaphore(target, HIT), "nobody");
	stop(&other);
}

/* One of them is always there, so the semaphore is never 0. */
TEST_F(sites, semaphore_with_two_users)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	if (!has_tracefs())
		SKIP(return, NO_TRACEFS);
	have_more(target, THREAD);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	begin_event('p', HIT);
	tell(target, THREAD, watch_semaphore, 0);
	need(until(stage->number[1]), "a look");
	for (i = 0; i < times(20); i++) {
		arm_place(&tracer, HIT);
		need(!switch_event('p', false), "disable the event");
		need(!switch_event('p', true), "enable the event");
		if (i % 2) {
			disarm_place(&tracer, HIT);
			continue;
		}
		trace_anew(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	}
	stage->number[0] = 1;
	hear(target, THREAD);
	holds(stage->number[1] > 0, "%ld looks", stage->number[1]);
	is(0, stage->number[2], "looks at a semaphore that is not 1");
	end_event('p');
	is(0, semaphore(target, HIT), "nobody");
	untrace(&tracer);
}

/* The children of a process that is traced alone have the event. */
TEST_F(sites, event_and_children)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	if (!has_tracefs())
		SKIP(return, NO_TRACEFS);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	begin_event('p', HIT);
	stage->place = HIT;
	for (i = 1; i <= 3; i++) {
		is(0, have(target, SELF, fork_one, 5), "the end of a child");
		is(1, stage->number[3], "its semaphore");
		is(5 * i, event_hits('p'), "hits of the event");
		are_none(&tracer, "hits of the tracer");
	}
	end_event('p');
	is(0, have(target, SELF, fork_one, 5), "the end of a child");
	is(0, stage->number[3], "its semaphore without an event");
	is(1, semaphore(target, HIT), "that of the parent");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the parent");
	untrace(&tracer);
}

/* Each user of a place has the semaphore that he names, and keeps nobody out. */
TEST_F(sites, event_with_another_semaphore)
{
	struct target *target = &self->target, bystander;
	struct marker arg = marker_of(HIT);
	struct tracer tracer, other, third;

	if (!has_tracefs())
		SKIP(return, NO_TRACEFS);
	start_sites(&bystander);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	trace(&other, target->pid, UTRACE_SCOPE_PROCESS);
	trace(&third, target->pid, UTRACE_SCOPE_PROCESS);
	arg.site.semaphore = site[TWELVE].semaphore;
	arm_marker(&other, arg);
	arg.site.semaphore = 0;
	arm_marker(&third, arg);
	is(0, semaphore(target, HIT), "the semaphore of nobody");
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "the right semaphore");
	is(1, semaphore(target, TWELVE), "and that of another tracer");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the right one");
	is(5, gather(other.session, 5), "of the other one");
	is(5, gather(third.session, 5), "of the one without");
	/* An event of all processes, without a semaphore: nobody's is raised elsewhere. */
	need(!add_event('p', HIT, 0), "uprobe_events");
	need(!switch_event('p', true), "the event");
	have(&bystander, SELF, look_around, 0);
	is(0, semaphore(&bystander, TWELVE), "a semaphore that another user has named");
	is(0, semaphore(&bystander, HIT), "the right one");
	need(!switch_event('p', false), "the event");
	remove_event('p');
	disarm_place(&tracer, HIT);
	is(0, semaphore(target, HIT), "disarmed");
	is(1, semaphore(target, TWELVE), "the other tracer has his");
	untrace(&tracer);
	untrace(&other);
	is(0, semaphore(target, TWELVE), "disarmed by the end of the tracer");
	hit(target, HIT, 5);
	is(5, gather(third.session, 5), "the one without is left");
	untrace(&third);
	stop(&bystander);
}

TEST_F(sites, events_of_a_function)
{
	struct target *target = &self->target;
	struct marker arg = marker_of(ADD);
	struct tracer tracer;
	__u32 id;

	if (!has_tracefs())
		SKIP(return, NO_TRACEFS);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	begin_event('p', ADD);
	begin_event('r', ADD);
	arm_place(&tracer, ADD);
	arg.site.flags = UTRACE_MARKER_F_RETURN;
	arg.cookie++;
	id = arm_marker(&tracer, arg);
	hit(target, ADD, 5);
	is(A + B + 4, stage->result, "the result of the function");
	is(10, gather(tracer.session, 10), "entries and returns of the tracer");
	is(5, event_hits('p'), "entries of an event");
	is(5, event_hits('r'), "returns of an event");
	end_event('r');
	hit(target, ADD, 5);
	is(10, gather(tracer.session, 10), "when the event of returns is gone");
	begin_event('r', ADD);
	disarm_marker(&tracer, id);
	hit(target, ADD, 5);
	is(5, gather(tracer.session, 5), "entries");
	is(5, event_hits('r'), "when the tracer wants no returns");
	untrace(&tracer);
	hit(target, ADD, 5);
	is(10, event_hits('r'), "when the tracer is gone");
	end_event('r');
	end_event('p');
}

TEST_F(sites, perf)
{
	struct target *target = &self->target, other;
	struct tracer tracer;
	int own, others;

	start_sites(&other);
	have(target, SELF, look_around, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	others = open_perf(other.pid, perf_of(HIT));
	if (others < 0) {
		untrace(&tracer);
		stop(&other);
		SKIP(return, "no uprobes of perf");
	}
	is(1, semaphore(&other, HIT), "perf in another process");
	is(0, semaphore(target, HIT), "not in the target");
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "a tracer");
	hit(target, HIT, 5);
	hit(&other, HIT, 7);
	are_hits(&tracer, target, HIT, 5, "hits of the tracer");
	is(7, perf_hits(others), "hits of perf");
	own = open_perf(target->pid, perf_of(HIT));
	need(own >= 0, "perf in the target");
	is(1, semaphore(target, HIT), "perf and a tracer");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the tracer");
	is(5, perf_hits(own), "hits of perf");
	close(others);
	is(0, semaphore(&other, HIT), "perf leaves the other process");
	disarm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "the tracer leaves");
	hit(target, HIT, 5);
	is(10, perf_hits(own), "hits of perf");
	are_none(&tracer, "hits of the tracer");
	arm_place(&tracer, HIT);
	close(own);
	is(1, semaphore(target, HIT), "perf leaves");
	untrace(&tracer);
	is(0, semaphore(target, HIT), "nobody");
	stop(&other);
}

TEST_HARNESS_MAIN
