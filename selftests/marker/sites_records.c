// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: functions that return, the order of records, full
 * rings, targets that are stopped, and sessions that end
 */
#include "sites.h"

#define RETURNED	(COOKIE(PLACES) + 1)

/* A function that probed_call() calls waits for the test. */
static long wait_inside(long n)
{
	stage->number[0]++;
	while (stage->number[1] < n)
		usleep(1000);
	return n;
}

static long fork_inside(long n)
{
	pid_t pid = plain_fork();

	if (pid)
		stage->number[2] = pid;
	return pid;
}

/* probed_call() returns in the child, too.  Returns the status of the child. */
static long return_twice(long unused)
{
	int status = -1;
	long pid;

	pid = loaded[0].function[CALL]((long)fork_inside, 0) - 1;
	if (!pid)
		_exit(7);
	waitpid(pid, &status, 0);
	return status;
}

/* Wait within probed_call(). */
static long call_and_wait(long n)
{
	return loaded[0].function[CALL]((long)wait_inside, n);
}

/* Hits between two marker calls. */
static long hit_between_marks(long n)
{
	mark(1);
	hit_here(n);
	return mark(1);
}

/* The return of a function, with its result. */
static struct marker return_of(enum place place)
{
	struct marker arg = marker_of(place);

	arg.site.flags = UTRACE_MARKER_F_RETURN;
	arg.cookie = RETURNED;
	keep_args(&arg, 1);
	arg.site.args[0] = (struct utrace_marker_arg){
		.size = -8,
		.kind = UTRACE_ARG_REG,
		.reg = PERF_REG_X86_AX,
		.index = UTRACE_ARG_NO_REG,
	};
	return arg;
}

/* The number of records with this id and this address. */
static int hits_with(__u64 id, enum place place)
{
	struct utrace_rec_marker *hit;
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec) {
		hit = (void *)rec;
		n += rec->type == UTRACE_REC_MARKER && hit->cookie == id &&
		     hit->ip == stage->bias[0] + site[place].address;
	}
	return n;
}

/* Check that entries and right returns of probed_add() alternate. */
static bool alternate(int n)
{
	struct utrace_rec_marker *hit;
	struct utrace_rec *rec;
	int i = 0;

	for_each_record(rec) {
		hit = (void *)rec;
		if (hit->cookie != (i % 2 ? RETURNED : COOKIE(ADD)))
			return false;
		if (i % 2 && (hit->nargs != 1 ||
			      hit_args(hit)[0] != (__u64)(A + B + i / 2)))
			return false;
		i++;
	}
	return i == 2 * n;
}

TEST_F(sites, entry_and_return)
{
	struct target *target = &self->target;
	struct marker arg = return_of(ADD);
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, ADD);
	arg.id = arm_marker(&tracer, arg);
	is(-EEXIST, try_arm(&tracer, &arg), "the return armed twice");
	hit(target, ADD, 10);
	is(A + B + 9, stage->result, "the result of the function");
	is(20, gather(tracer.session, 20), "entries and returns");
	is(10, hits_with(COOKIE(ADD), ADD), "entries, at the address");
	is(10, hits_with(RETURNED, ADD), "returns, with the same address");
	holds(alternate(10), "one by one, with results");
	is(10, hits_of(&tracer, COOKIE(ADD)), "entries are counted");
	is(10, hits_of(&tracer, RETURNED), "returns are counted");
	disarm_place(&tracer, ADD);
	hit(target, ADD, 5);
	is(5, gather(tracer.session, 5), "returns only");
	is(5, hits_with(RETURNED, ADD), "with the address of the function");
	arm_place(&tracer, ADD);
	disarm_marker(&tracer, arg.id);
	hit(target, ADD, 5);
	is(5, gather(tracer.session, 5), "entries only");
	is(5, hits_with(COOKIE(ADD), ADD), "with the address of the function");
	arg.flags = UTRACE_ARM_F_COUNT;
	arg.cookie++;
	arm_marker(&tracer, arg);
	hit(target, ADD, 5);
	is(5, gather(tracer.session, 5), "returns are not recorded");
	is(5, hits_of(&tracer, RETURNED + 1), "but counted");
	untrace(&tracer);
	hit(target, ADD, 5);
	is(A + B + 4, stage->result, "closed: the result of the function");
}

/* Each call of a function that calls itself returns. */
TEST_F(sites, recursion)
{
	struct target *target = &self->target;
	struct utrace_rec *rec;
	struct tracer tracer;
	long result = B;
	int good = 0;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&tracer, return_of(DOWN));
	stage->a = 20;
	hit(target, DOWN, 1);
	is(B + 20, stage->result, "the result");
	is(21, gather(tracer.session, 21), "returns");
	for_each_record(rec)
		good += (long)hit_args((void *)rec)[0] ==
			result++;
	is(21, good, "from within, with their results");
	untrace(&tracer);
}

/* The kernel awaits 64 returns of a thread; it counts those that it will not see. */
TEST_F(sites, deep_recursion)
{
	struct marker arg = return_of(DOWN);
	struct target *target = &self->target;
	struct utrace_hit_count row[2] = {};
	struct tracer tracer;
	__u32 n;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arg.id = arm_marker(&tracer, arg);
	stage->a = 100;
	hit(target, DOWN, 1);
	is(B + 100, stage->result, "the result");
	is(64, gather(tracer.session, 64), "returns");
	is(1, marker_counts(&tracer, row, 1, &n), "markers");
	is(64, row[0].hits, "counted");
	is(37, row[0].missed, "returns that were not seen");
	is(37, info(tracer.session).lost, "and are lost for the reader");
	is(0, try_disarm(&tracer, &arg), "DISARM");
	arg.flags = UTRACE_ARM_F_COUNT;
	arm_marker(&tracer, arg);
	hit(target, DOWN, 1);
	is(1, marker_counts(&tracer, row, 1, &n), "markers");
	is(64, row[0].hits, "returns that are counted only");
	is(37, row[0].missed, "and those that were not seen");
	is(37, info(tracer.session).lost, "which are no lost records");
	untrace(&tracer);
}

/* The target is in the n-th call of a function, until end_call(). */
static void begin_call(struct target *target, int n)
{
	tell(target, SELF, call_and_wait, n);
	need(until(stage->number[0] == n), "a call");
}

static void end_call(struct target *target, int n, const char *text)
{
	stage->number[1] = n;
	is(n + 1, hear(target, SELF), text);
}

/* The test arms and disarms while the function runs. */
TEST_F(sites, disarmed_inside)
{
	struct target *target = &self->target;
	struct tracer tracer;
	__u32 id;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	begin_call(target, 1);
	id = arm_marker(&tracer, return_of(CALL));
	end_call(target, 1, "armed inside: the function returns");
	are_none(&tracer, "  and that is no hit");
	begin_call(target, 2);
	disarm_marker(&tracer, id);
	end_call(target, 2, "disarmed inside: it returns");
	are_none(&tracer, "  and that is no hit");
	id = arm_marker(&tracer, return_of(CALL));
	begin_call(target, 3);
	disarm_marker(&tracer, id);
	arm_marker(&tracer, return_of(CALL));
	end_call(target, 3, "disarmed and armed inside: it returns");
	gather(tracer.session, 0);
	begin_call(target, 4);
	freeze(target->pid);
	untrace(&tracer);
	thaw(target->pid);
	end_call(target, 4, "closed inside: it returns");
}

/* A function returns in two processes. */
static void check_fork_inside(struct target *target, __u32 scope, int hits)
{
	struct tracer tracer;

	trace(&tracer, target->pid, scope);
	arm_marker(&tracer, return_of(CALL));
	is(7 << 8, have(target, SELF, return_twice, 0), "the child returns, and goes on");
	is(hits, gather(tracer.session, hits), "returns");
	is(1, count(UTRACE_REC_MARKER, target->pid), "one by the parent");
	is(hits - 1, count(UTRACE_REC_MARKER, stage->number[2]),
	   "and by the child");
	is(hits, hits_of(&tracer, RETURNED), "counted");
	untrace(&tracer);
}

TEST_F(sites, fork_inside)
{
	check_fork_inside(&self->target, UTRACE_SCOPE_PROCESS, 1);
	check_fork_inside(&self->target, UTRACE_SCOPE_TREE, 2);
}

/* Records of hits are in order with records of system calls. */
TEST_F(sites, order)
{
	static const int types[] = {
		UTRACE_REC_SYS_ENTER, UTRACE_REC_SYS_EXIT, UTRACE_REC_MARKER,
		UTRACE_REC_MARKER, UTRACE_REC_MARKER, UTRACE_REC_SYS_ENTER,
		UTRACE_REC_SYS_EXIT,
	};
	struct target *target = &self->target;
	struct utrace_rec *rec, *last = NULL;
	struct tracer tracer;
	int i = 0, good = 0;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	need(!choose_marks(tracer.session), "choose");
	arm_place(&tracer, HIT);
	settle(target, SELF);
	stage->place = HIT;
	have(target, SELF, hit_between_marks, 3);
	settle(target, SELF);
	is(3, gather(tracer.session, 3), "hits");
	for_each_record(rec) {
		good += i < 7 && rec->type == types[i] &&
			(!last || (rec->number == last->number + 1 &&
				   rec->time > last->time &&
				   rec->task == last->task));
		last = rec;
		i++;
	}
	is(7, i, "records");
	is(7, good, "in the order of events");
	is(3, good_hits(&tracer, target->pid, target->pid, HIT, 0),
	   "hits that are right");
	untrace(&tracer);
}

/* The events that the session has chosen have no bit of markers. */
TEST_F(sites, settings)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is(0, choose(tracer.session, 0, 0, NULL, 0), "no event is chosen");
	arm_place(&tracer, HIT);
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits come unasked");
	untrace(&tracer);
}

/* Rings. */

#define HITS	MANY

/* The task waits for a reader, who takes his time. */
TEST_F(sites, slow_reader)
{
	struct target *target = &self->target;
	int n = 0, held = 0, good = 0, now;
	struct pollfd pfd[2];
	struct tracer tracer;

	trace_full(&tracer, target->pid, UTRACE_SCOPE_PROCESS, SMALL,
		   UTRACE_FULL_STOP);
	arm_place(&tracer, HIT);
	pfd[0] = (struct pollfd){ tracer.session, POLLIN, 0 };
	pfd[1] = (struct pollfd){ target->from[SELF][0], POLLIN, 0 };
	pin_to_cpu(target->pid, 0);
	stage->place = HIT;
	tell(target, SELF, hit_here, HITS);
	while (!(pfd[1].revents & POLLIN)) {
		/* The reader waits for the first times, until the task does. */
		if (held < 3)
			held += is_held(target->pid);
		if (poll(pfd, 2, DEADLINE_MS) <= 0)
			break;
		now = gather(tracer.session, 0);
		good += good_hits(&tracer, target->pid, target->pid, HIT, n);
		n += now;
	}
	hear(target, SELF);
	now = gather(tracer.session, HITS - n);
	good += good_hits(&tracer, target->pid, target->pid, HIT, n);
	is(3, held, "the task has waited");
	is(HITS, n + now, "hits");
	is(HITS, good, "that are right");
	is(HITS, hits_of(&tracer, COOKIE(HIT)), "counted");
	is(0, info(tracer.session).lost, "none is lost");
	untrace(&tracer);
}

TEST_F(sites, full_rings)
{
	struct target *target = &self->target;
	struct utrace_rec *rec, *last = NULL;
	unsigned long lost = 0;
	struct tracer tracer;
	int n, good;

	trace_full(&tracer, target->pid, UTRACE_SCOPE_PROCESS, SMALL,
		   UTRACE_FULL_DROP);
	arm_place(&tracer, HIT);
	pin_to_cpu(target->pid, 0);
	hit(target, HIT, HITS);
	n = gather(tracer.session, 1);
	good = good_hits(&tracer, target->pid, target->pid, HIT, 0);
	holds(n > 100 && n < HITS, "%d hits of %d have found room", n, HITS);
	is(n, good, "they are right, and the first ones");
	is(HITS - n, info(tracer.session).lost, "all others are lost");
	is(HITS, hits_of(&tracer, COOKIE(HIT)), "all are counted");
	hit(target, HIT, 1);
	is(1, gather(tracer.session, 1), "one more");
	for_each_record(rec) {
		last = rec->type == UTRACE_REC_MARKER ? rec : last;
		if (rec->type == UTRACE_REC_LOST)
			lost += ((struct utrace_rec_lost *)rec)->lost;
	}
	is(HITS - n, lost, "LOST tells how many were lost");
	is(HITS + 1, last ? last->number : 0, "the number has a gap");
	untrace(&tracer);
}

/* Each thread that waits is let go when its target or the session ends. */
TEST_F(sites, closed_while_the_task_waits)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	for (i = 0; i < 4; i++) {
		trace_full(&tracer, target->pid, UTRACE_SCOPE_PROCESS, SMALL,
			   UTRACE_FULL_STOP);
		arm_place(&tracer, HIT);
		stage->place = HIT;
		tell(target, SELF, hit_here, HITS);
		holds(is_held(target->pid), "the task waits");
		if (i % 2)
			disarm_place(&tracer, HIT);
		if (i / 2)
			leave(&tracer);
		untrace(&tracer);
		holds(is_answered(target, SELF), "the task goes on");
		is(0, semaphore(target, HIT), "the semaphore");
	}
}

/* Targets that are stopped. */

TEST_F(sites, armed_while_stopped)
{
	struct target *target = &self->target;
	struct tracer tracer;
	void *at = (void *)(uintptr_t)stage->semaphore_at[HIT];

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	freeze(target->pid);
	stage->place = HIT;
	tell(target, SELF, hit_here, 1);
	arm_place(&tracer, HIT);
	is(1, read_word(target->pid, at, 2), "the semaphore while stopped");
	are_none(&tracer, "hits while stopped");
	thaw(target->pid);
	hear(target, SELF);
	are_hits(&tracer, target, HIT, 1, "the first hit after SIGCONT");
	freeze(target->pid);
	tell(target, SELF, hit_here, 5);
	disarm_place(&tracer, HIT);
	is(0, read_word(target->pid, at, 2), "disarmed while stopped");
	thaw(target->pid);
	hear(target, SELF);
	are_none(&tracer, "hits after SIGCONT");
	freeze(target->pid);
	arm_place(&tracer, HIT);
	untrace(&tracer);
	is(0, read_word(target->pid, at, 2), "closed while stopped");
	thaw(target->pid);
	hit(target, HIT, 5);
	is(0, semaphore(target, HIT), "as the target sees");
}

/* Ends. */

/* DETACH disarms the markers of the target, and no others. */
TEST_F(sites, detached)
{
	struct target *target = &self->target;
	struct marker arg = marker_of(HIT);
	struct tracer tracer, other;
	__u32 filled;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	trace_by(&other, tracer.session, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	arm_place(&tracer, GUARDED);
	arm_place(&other, PLAIN);
	is(2, word_engines(target->pid), "each target has an engine");
	is(0, detach(tracer.session, tracer.target), "DETACH");
	is(0, semaphore(target, HIT), "a semaphore");
	is(0, semaphore(target, GUARDED), "and another one");
	holds(until(word_engines(target->pid) == 1), "  and the engine");
	hit(target, HIT, 5);
	are_none(&tracer, "hits of a target that is detached");
	is(-ENOENT, disarm_id(tracer.session, tracer.ids[HIT]), "DISARM");
	is(-ENOENT, marker_counts(&tracer, NULL, 0, &filled), "READ");
	is(-ENOENT, list_of(tracer.session, tracer.target, NULL, 0, &filled),
	   "LIST");
	is(-ENOENT, try_arm(&tracer, &arg), "ARM for that target");
	tracer.target = 77;
	is(-ENOENT, try_arm(&tracer, &arg), "ARM for no target");
	hit(target, PLAIN, 5);
	are_hits(&other, target, PLAIN, 5, "hits of the other target");
	is(5, hits_of(&other, COOKIE(PLAIN)), "are counted");
	untrace(&other);
	holds(until(!word_engines(target->pid) && !engines(target->pid)),
	      "no engine is left");
}

/* A duplicate of the descriptor keeps the session and its markers. */
TEST_F(sites, last_close)
{
	struct target *target = &self->target;
	struct tracer tracer, copy;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	copy = tracer;
	copy.session = dup(tracer.session);
	need(copy.session >= 0, "dup");
	untrace(&tracer);
	is(1, semaphore(target, HIT), "one of two descriptors is closed");
	hit(target, HIT, 5);
	are_hits(&copy, target, HIT, 5, "hits");
	arm_place(&copy, GUARDED);
	disarm_place(&copy, HIT);
	is(0, semaphore(target, HIT), "disarmed by the other one");
	untrace(&copy);
	is(0, semaphore(target, GUARDED), "and closed");
	hit(target, HIT, 5);
	holds(until(!word_engines(target->pid) && !engines(target->pid)),
	      "no engine is left");
}

TEST_F(sites, dead_target)
{
	struct marker arg = marker_of(PLAIN);
	struct target *target = &self->target;
	struct utrace_rec *end;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	hit(target, HIT, 5);
	stop(target);
	is(5, gather(tracer.session, 5), "hits before the end");
	end = find(UTRACE_REC_TARGET_END, 0);
	if (!end)
		until((gather(tracer.session, 0),
		       end = find(UTRACE_REC_TARGET_END, 0)));
	holds(end && !next_record(end), "then TARGET_END");
	is(5, hits_of(&tracer, COOKIE(HIT)), "the count stays");
	holds(until(poll_words(tracer.session, 0) & POLLHUP), "POLLHUP");
	is(-ESRCH, try_arm(&tracer, &arg), "ARM");
	untrace(&tracer);
	start_sites(target);
}

/* A word and a marker of one target have one semaphore. */
TEST_F(sites, word_and_marker)
{
	struct target *target = &self->target;
	struct tracer tracer;
	void *at = (void *)(uintptr_t)stage->semaphore_at[HIT];

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm(tracer.session, at, UTRACE_WORD_COUNT16, 0);
	is(1, semaphore(target, HIT), "a word");
	arm_place(&tracer, HIT);
	is(2, semaphore(target, HIT), "a word and a marker");
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "hits");
	disarm(tracer.session, at, UTRACE_WORD_COUNT16, 0);
	is(1, semaphore(target, HIT), "a marker");
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "hits");
	arm(tracer.session, at, UTRACE_WORD_COUNT16, 0);
	disarm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "a word again");
	untrace(&tracer);
	is(0, semaphore(target, HIT), "nothing");
	is(0, other_semaphores(target, HIT), "nor has a neighbour changed");
}

/* An ioctl with an argument that is longer or shorter than the kernel's. */
#define ARM_OF(longer)		_IOWR(0xBC, 0x07, longer)
#define DISARM_OF(longer)	_IOWR(0xBC, 0x08, longer)
#define SHORTER(nr, size)	_IOC(_IOC_READ | _IOC_WRITE, 0xBC, nr, (size) - 8)

/* A structure may be longer if the bytes that the kernel does not know are 0. */
TEST_F(sites, longer_structure)
{
	struct { struct utrace_ioc_arm arg; __u64 more; } longer = {};
	struct { struct utrace_ioc_disarm arg; __u64 more; } longer_disarm = {};
	struct marker marker = marker_of(HIT);
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	longer.arg = arm_of(&tracer, &marker);
	longer.more = 1;
	is(-E2BIG, command(tracer.session, ARM_OF(longer), &longer),
	   "a member that the kernel lacks");
	is(-EINVAL, command(tracer.session,
			    SHORTER(0x07, UTRACE_IOC_ARM_SIZE_VER0), &longer.arg),
	   "an argument that is too short");
	is(0, semaphore(target, HIT), "is not armed");
	longer.more = 0;
	is(0, command(tracer.session, ARM_OF(longer), &longer),
	   "the same member as 0");
	is(1, semaphore(target, HIT), "is armed");
	longer_disarm.arg.id = longer.arg.id;
	longer_disarm.more = 1;
	is(-E2BIG, command(tracer.session, DISARM_OF(longer_disarm), &longer_disarm),
	   "DISARM: a member that the kernel lacks");
	is(-EINVAL, command(tracer.session,
			    SHORTER(0x08, UTRACE_IOC_DISARM_SIZE_VER0),
			    &longer_disarm), "  and one that is too short");
	is(1, semaphore(target, HIT), "  is not disarmed");
	longer_disarm.more = 0;
	is(0, command(tracer.session, DISARM_OF(longer_disarm), &longer_disarm),
	   "  the same member as 0");
	is(0, semaphore(target, HIT), "  is disarmed");
	untrace(&tracer);
}

/* The structure of the marker grows in the same way. */
TEST_F(sites, longer_site)
{
	struct { struct utrace_marker site; __u64 more; } longer = {};
	struct marker marker = marker_of(HIT);
	struct target *target = &self->target;
	struct utrace_ioc_arm arg;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	longer.site = marker.site;
	longer.more = 1;
	arg = arm_of(&tracer, &marker);
	arg.spec = (uintptr_t)&longer;
	arg.spec_size = sizeof(longer);
	is(-E2BIG, command(tracer.session, UTRACE_IOC_ARM, &arg),
	   "a member that the kernel lacks");
	is(0, semaphore(target, HIT), "is not armed");
	longer.more = 0;
	is(0, command(tracer.session, UTRACE_IOC_ARM, &arg), "the same member as 0");
	is(1, semaphore(target, HIT), "is armed");
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "hits");
	untrace(&tracer);
}

/* The markers armed for the target of @scope, by /proc/PID/fdinfo, or -1. */
static int armed_of(int fd, const char *scope)
{
	char path[64], line[256], of[16];
	int armed = -1, n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	need(file, path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "utrace-markers: %*u %15s %d", of, &n) == 2 &&
		    !strcmp(of, scope))
			armed = n;
	fclose(file);
	return armed;
}

TEST_F(sites, fdinfo)
{
	struct target *target = &self->target;
	struct tracer tracer, other;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	trace_by(&other, tracer.session, target->pid, UTRACE_SCOPE_TREE);
	is(-1, armed_of(tracer.session, "process"), "a target before ARM");
	arm_place(&tracer, HIT);
	arm_place(&tracer, PLAIN);
	arm_place(&other, HIT);
	is(2, armed_of(tracer.session, "process"), "armed for a process");
	is(1, armed_of(tracer.session, "tree"), "  and for a tree");
	disarm_place(&tracer, HIT);
	is(1, armed_of(tracer.session, "process"), "disarmed");
	leave(&tracer);
	is(-1, armed_of(tracer.session, "process"), "detached");
	is(1, armed_of(tracer.session, "tree"), "  and the other target");
	untrace(&tracer);
}

TEST_HARNESS_MAIN
