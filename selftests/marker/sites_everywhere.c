// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers that are armed in all processes, and histograms
 */
#include "sites.h"

/* A semaphore after close(2) of a descriptor of the system, which does not wait for it. */
#define has_gone(semaphore, text) is(true, until(!(semaphore)), text)

/*
 * stage->number[]: 0: not 0 to stop.  1: hits or children so far.  2: children that did
 * not end well.
 */

/* Hit until told to stop. */
static void hit_on(void)
{
	while (!stage->number[0]) {
		hit_once(0);
		stage->number[1]++;
	}
}

/* Fork until told to stop; each child hits once. */
static void fork_on(void)
{
	int status;
	pid_t pid;

	while (!stage->number[0]) {
		pid = fork();
		if (!pid) {
			hit_once(0);
			_exit(0);
		}
		status = -1;
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			stage->number[2]++;
		stage->number[1]++;
	}
}

static void obey_here(struct target *target, struct order *order)
{
	switch (order->what) {
	case 'W':
		hit_on();
		break;
	case 'F':
		fork_on();
		break;
	case 'n':
		become_nobody();
		break;
	default:
		obey_sites(target, order);
	}
}

/* Ask for a descriptor of the system; returns that, or -errno. */
static int try_everywhere(int session, __u32 target)
{
	struct utrace_ioc_words arg = {
		.pidfd = -1,
		.scope = UTRACE_SCOPE_SYSTEM,
		.target = target,
	};
	int ret = ioctl(session, UTRACE_IOC_WORDS, &arg);

	return ret < 0 ? -errno : ret;
}

static void trace_everywhere(struct tracer *tracer)
{
	int ret;

	tracer->session = session();
	need(!setup_full(tracer->session, 1 << 20, UTRACE_FULL_DROP), "setup");
	ret = attach_system(tracer->session);
	errno = -ret;
	need(ret > 0, "attach");
	tracer->target = ret;
	tracer->fd = try_everywhere(tracer->session, tracer->target);
	errno = -tracer->fd;
	need(tracer->fd >= 0, "UTRACE_IOC_WORDS");
}

/* The instruction of a marker without a breakpoint. */
#define NOP	0x90

/* Two processes are hit; each loads the library at the same address. */
static void hit_both(struct target *a, struct target *b, int n)
{
	hit(a, HIT, n);
	hit(b, HIT, n);
}

static void are_of_both(struct tracer *tracer, struct target *a,
			struct target *b, int n, const char *text)
{
	is(2 * n, gather(tracer->session, 2 * n), text);
	is(n, good_hits(tracer, a->pid, a->pid, HIT, 0), "  of the first process");
	is(n, good_hits(tracer, b->pid, b->pid, HIT, 0), "  and of the second");
}

TEST_F(sites, everywhere)
{
	struct target *target = &self->target, other = {}, late = {};
	struct tracer tracer;

	start_sites(&other);
	trace_everywhere(&tracer);
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "a semaphore");
	is(1, semaphore(&other, HIT), "and that of another process");
	hit_both(target, &other, 5);
	are_of_both(&tracer, target, &other, 5, "hits");
	arm_place(&tracer, BORN);
	start_sites(&late);
	is(1, stage->born, "a process that comes later: a semaphore at its birth");
	is(1, semaphore(&late, HIT), "  and another one");
	is(1, gather(tracer.session, 1), "  and a hit");
	hit(&late, HIT, 5);
	are_hits(&tracer, &late, HIT, 5, "its hits");
	is(15, hits_of(&tracer, ID(HIT)), "all are counted");
	disarm_place(&tracer, HIT);
	is(0, semaphore(target, HIT), "disarmed");
	is(0, semaphore(&other, HIT), "  in all");
	is(0, semaphore(&late, HIT), "  in the last one");
	hit_both(target, &late, 5);
	are_none(&tracer, "no hits");
	untrace(&tracer);
	stop(&other);
	stop(&late);
}

/* The process that has made the descriptor does not trace itself. */
TEST_F(sites, not_the_tracer)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace_everywhere(&tracer);
	arm_place(&tracer, HIT);
	load_library(0);
	is(1, own_semaphore(HIT), "the tracer's own semaphore");
	stage->library = 0;
	stage->place = HIT;
	hit_here(5);
	are_none(&tracer, "hits by the tracer");
	is(0, hits_of(&tracer, ID(HIT)), "nor are they counted");
	have(target, SELF, 'b', 0);
	hit(target, HIT, 2);
	are_hits(&tracer, target, HIT, 2, "hits by others");
	untrace(&tracer);
	has_gone(own_semaphore(HIT), "disarmed");
	unload_library(0);
}

/* A tracer of one process and one of all are two users of the place. */
TEST_F(sites, together)
{
	struct target *target = &self->target, other = {};
	struct tracer all, one;
	int i;

	start_sites(&other);
	for (i = 0; i < 4; i++) {
		trace(&one, target->pid, UTRACE_SCOPE_PROCESS);
		trace_everywhere(&all);
		if (i % 2)
			arm_place(&one, HIT);
		arm_place(&all, HIT);
		if (i % 2 == 0)
			arm_place(&one, HIT);
		is(1, semaphore(target, HIT), "one semaphore for both");
		hit_both(target, &other, 3);
		are_of_both(&all, target, &other, 3, "hits of all");
		are_hits(&one, target, HIT, 3, "hits of one");
		if (i / 2) {
			disarm_place(&all, HIT);
			is(1, semaphore(target, HIT), "all has left");
			is(0, semaphore(&other, HIT), "  which the other shows");
			hit_both(target, &other, 3);
			are_hits(&one, target, HIT, 3, "hits of one");
			are_none(&all, "hits of all");
		} else {
			disarm_place(&one, HIT);
			is(1, semaphore(target, HIT), "one has left");
			hit_both(target, &other, 3);
			are_of_both(&all, target, &other, 3, "hits of all");
			are_none(&one, "hits of one");
		}
		untrace(&one);
		untrace(&all);
		has_gone(semaphore(target, HIT), "both have left");
		has_gone(semaphore(&other, HIT), "  which the other shows");
	}
	stop(&other);
}

/* Returns of functions, and a place without a semaphore. */
TEST_F(sites, functions_everywhere)
{
	struct utrace_ioc_marker arg = marker_of(ADD);
	struct target *target = &self->target;
	struct tracer tracer;

	arg.flags = UTRACE_MARKER_RETURN;
	trace_everywhere(&tracer);
	arm_marker(&tracer, arg);
	arm_place(&tracer, PLAIN);
	hit(target, ADD, 4);
	is(4, gather(tracer.session, 4), "returns");
	is(A + 3 + B, stage->result, "the function works");
	hit(target, PLAIN, 5);
	are_hits(&tracer, target, PLAIN, 5, "hits");
	untrace(&tracer);
	hit(target, ADD, 4);
	is(A + 3 + B, stage->result, "the function works after that");
}

TEST_F(sites, refused)
{
	struct utrace_ioc_marker arg = marker_of(HIT);
	struct utrace_ioc_words words = { .scope = UTRACE_SCOPE_SYSTEM };
	struct target *target = &self->target;
	struct tracer tracer, one;
	struct utrace_ioc_user_event event = { .name = (uintptr_t)"event" };

	trace(&one, target->pid, UTRACE_SCOPE_PROCESS);
	trace_everywhere(&tracer);
	words.target = tracer.target;
	words.pidfd = 0;
	is(-EINVAL, command(tracer.session, UTRACE_IOC_WORDS, &words),
	   "a descriptor that is not -1");
	is(-ENOENT, try_everywhere(tracer.session, 0), "no target");
	is(-ENOENT, try_everywhere(tracer.session, 77), "an unknown target");
	is(-ENOENT, try_everywhere(one.session, one.target),
	   "a target of one process");
	is(-EOPNOTSUPP, word_arm(tracer.fd, area, UTRACE_WORD_BIT32, 0),
	   "a word");
	is(-EOPNOTSUPP, word_disarm(tracer.fd, area, UTRACE_WORD_BIT32, 0),
	   "DISARM of a word");
	is(-EOPNOTSUPP, command(tracer.fd, UTRACE_IOC_USER_EVENT_ARM, &event),
	   "a user_event");
	is(0, words_total(tracer.fd), "the list of words");
	is(0, poll_words(tracer.fd, 0), "poll");
	is(-ENOENT, try_disarm(tracer.fd, &arg), "DISARM of nothing");
	arm_place(&tracer, HIT);
	is(-EEXIST, try_arm(tracer.fd, &arg), "ARM of what is armed");
	arg.offset = 0x7fffffff;
	is(-EINVAL, try_arm(tracer.fd, &arg), "a place behind the file");
	is(1, semaphore(target, HIT), "all that has changed nothing");
	is(0, detach(tracer.session, tracer.target), "DETACH");
	hit(target, HIT, 5);
	are_none(&tracer, "hits of a target that is detached");
	untrace(&one);
	untrace(&tracer);
	has_gone(semaphore(target, HIT), "closed");
}

static int make_descriptor(struct tracer *tracer)
{
	return try_everywhere(tracer->session, tracer->target);
}

static int arm_hit(struct tracer *tracer)
{
	struct utrace_ioc_marker arg = marker_of(HIT);

	return try_arm(tracer->fd, &arg);
}

/* The wait status of a user without privileges, who exits with the errno of @try. */
static int as_nobody(int (*try)(struct tracer *tracer), struct tracer *tracer)
{
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (!pid) {
		become_nobody();
		_exit(-try(tracer));
	}
	return status_of(pid);
}

/* Privileges are needed of the caller, whoever has opened what the caller uses. */
TEST_F(sites, rights)
{
	struct tracer tracer;

	set_unprivileged("1");
	trace_everywhere(&tracer);
	is(EPERM << 8, as_nobody(make_descriptor, &tracer),
	   "a descriptor for nobody, with a session of root's");
	is(EPERM << 8, as_nobody(arm_hit, &tracer),
	   "a marker, with a descriptor of root's");
	untrace(&tracer);
	set_unprivileged("0");
}

/*
 * A process whose semaphore cannot be raised is passed over, and one that has written 0
 * to its semaphore loses the breakpoint nevertheless.
 */
TEST_F(sites, semaphores_of_others)
{
	struct target *target = &self->target, other = {};
	struct tracer tracer;
	void *at;

	start_sites(&other);
	trace_everywhere(&tracer);
	at = (void *)(uintptr_t)stage->semaphore_at[HIT];
	write_word(other.pid, at, 2, 0xfffe);
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "armed in spite of another process");
	hit_both(target, &other, 3);
	is(3, gather(tracer.session, 3), "which has no hits");
	disarm_place(&tracer, HIT);
	is(0xfffe, semaphore(&other, HIT), "and its semaphore as it was");
	write_word(other.pid, at, 2, 0);
	arm_place(&tracer, HIT);
	is(1, semaphore(&other, HIT), "armed in both");
	write_word(other.pid, at, 2, 0);
	disarm_place(&tracer, HIT);
	is(0, semaphore(&other, HIT), "disarmed, and never below 0");
	is(NOP, byte_at(other.pid, HIT), "without a breakpoint");
	hit_both(target, &other, 3);
	are_none(&tracer, "hits");
	untrace(&tracer);
	stop(&other);
}

/* A child and a process that forks all the time have what is armed. */
TEST_F(sites, forks_everywhere)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	stage->number[0] = 0;
	stage->place = GUARDED;
	trace_everywhere(&tracer);
	tell(target, SELF, 'F', 0);
	for (i = 0; i < times(100); i++) {
		arm_place(&tracer, GUARDED);
		gather(tracer.session, 1);
		disarm_place(&tracer, GUARDED);
	}
	stage->number[0] = 1;
	need(hear(target, SELF) > 0, "the target");
	is(0, stage->number[2], "no child has died of that");
	holds(stage->number[1] > 0, "%ld children", stage->number[1]);
	is(0, semaphore(target, GUARDED), "the semaphore");
	gather(tracer.session, 0);
	hit(target, GUARDED, 5);
	are_none(&tracer, "hits after DISARM");
	untrace(&tracer);
}

/* A descriptor is closed while its marker is hit, before the session or after it. */
TEST_F(sites, closed_while_hit)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	stage->number[0] = 0;
	stage->place = HIT;
	tell(target, SELF, 'W', 0);
	for (i = 0; i < times(20); i++) {
		trace_everywhere(&tracer);
		arm_place(&tracer, HIT);
		gather(tracer.session, 1);
		if (i % 2)
			close(tracer.session);
		close(tracer.fd);
		if (i % 2 == 0)
			close(tracer.session);
	}
	stage->number[0] = 1;
	need(hear(target, SELF) > 0, "the target");
	has_gone(semaphore(target, HIT), "the semaphore");
}

/* Histograms. */

static int try_histogram(int fd, __u64 id, __u64 *buckets, __u32 n)
{
	struct utrace_ioc_marker_histogram arg = {
		.id = id,
		.buckets = (uintptr_t)buckets,
		.n = n,
		.total = 0x5a5a5a5a,
	};
	int ret = command(fd, UTRACE_IOC_MARKER_HISTOGRAM, &arg);

	if (!ret)
		is(UTRACE_MARKER_BUCKETS, arg.total, "all buckets");
	return ret ?: (int)arg.n;
}

/* The marker HIT, sorted by an argument. */
static struct utrace_ioc_marker histogram_of(unsigned int argument)
{
	struct utrace_ioc_marker arg = marker_of(HIT);

	arg.flags = UTRACE_MARKER_HISTOGRAM;
	arg.args[0] = arg.args[argument];
	arg.nargs = 1;
	return arg;
}

static __u64 sum(const __u64 *buckets)
{
	__u64 all = 0;
	int i;

	for (i = 0; i < UTRACE_MARKER_BUCKETS; i++)
		all += buckets[i];
	return all;
}

/* Hit once with this first argument. */
static void hit_with(struct target *target, long a)
{
	stage->a = a;
	hit(target, HIT, 1);
}

static void check_histogram(struct target *target, struct tracer *tracer)
{
	static const struct { long value; int bucket; } cases[] = {
		{ 0, UTRACE_MARKER_ZERO },
		{ 1, UTRACE_MARKER_POSITIVE },
		{ 2, UTRACE_MARKER_POSITIVE + 1 },
		{ 3, UTRACE_MARKER_POSITIVE + 1 },
		{ 4, UTRACE_MARKER_POSITIVE + 2 },
		{ 0x3fffffffffffffff, UTRACE_MARKER_POSITIVE + 61 },
		{ 0x4000000000000000, UTRACE_MARKER_POSITIVE + 62 },
		{ -1, UTRACE_MARKER_NEGATIVE },
		{ LONG_MIN, UTRACE_MARKER_NEGATIVE },
	};
	__u64 before[UTRACE_MARKER_BUCKETS], after[UTRACE_MARKER_BUCKETS];
	int i;

	arm_marker(tracer, histogram_of(0));
	is(1, semaphore(target, HIT), "a histogram has the semaphore");
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++) {
		is(UTRACE_MARKER_BUCKETS,
		   try_histogram(tracer->fd, ID(HIT), before, 1000), "read");
		hit_with(target, cases[i].value);
		try_histogram(tracer->fd, ID(HIT), after, 1000);
		is(before[cases[i].bucket] + 1, after[cases[i].bucket],
		   "the bucket of the value");
		is(sum(before) + 1, sum(after), "  and no other");
	}
	are_none(tracer, "records");
	is(i, hits_of(tracer, ID(HIT)), "counted");
	stage->a = A;
}

TEST_F(sites, histogram)
{
	__u64 buckets[UTRACE_MARKER_BUCKETS + 1] = {};
	struct utrace_ioc_marker arg = histogram_of(0);
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	check_histogram(target, &tracer);
	is(-ENOENT, try_histogram(tracer.fd, ID(ADD), buckets, 1), "ENOENT");
	is(-EFAULT, try_histogram(tracer.fd, ID(HIT), (void *)8, 1), "EFAULT");
	is(0, try_histogram(tracer.fd, ID(HIT), (void *)8, 0), "no room");
	is(3, try_histogram(tracer.fd, ID(HIT), buckets, 3), "some room");
	is(0, buckets[3], "  and no more is written");
	disarm_marker(&tracer, arg);
	is(-ENOENT, try_histogram(tracer.fd, ID(HIT), buckets, 1), "disarmed");
	arg.nargs = 0;
	is(-EINVAL, try_arm(tracer.fd, &arg), "without an argument");
	arg.nargs = 2;
	is(-EINVAL, try_arm(tracer.fd, &arg), "with two");
	arm_place(&tracer, HIT);
	is(-ENOENT, try_histogram(tracer.fd, ID(HIT), buckets, 1),
	   "of a marker without a histogram");
	untrace(&tracer);
}

TEST_F(sites, histogram_everywhere)
{
	struct tracer tracer;

	trace_everywhere(&tracer);
	check_histogram(&self->target, &tracer);
	untrace(&tracer);
}

/* A value that cannot be read, and one without a sign. */
TEST_F(sites, histogram_of_memory)
{
	__u64 buckets[UTRACE_MARKER_BUCKETS] = {};
	struct utrace_ioc_marker arg = histogram_of(0);
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arg.args[0].size = 8;
	arm_marker(&tracer, arg);
	hit_with(target, -1);
	try_histogram(tracer.fd, ID(HIT), buckets, UTRACE_MARKER_BUCKETS);
	is(1, buckets[UTRACE_MARKER_POSITIVE + 63], "a highest bit");
	disarm_marker(&tracer, arg);
	arg.args[0] = (struct utrace_marker_arg){
		.size = 8,
		.kind = UTRACE_MARKER_MEM,
		.reg = UTRACE_MARKER_NO_REG,
		.index = UTRACE_MARKER_NO_REG,
		.disp = 16,
	};
	arm_marker(&tracer, arg);
	hit_with(target, 1);
	try_histogram(tracer.fd, ID(HIT), buckets, UTRACE_MARKER_BUCKETS);
	is(1, buckets[UTRACE_MARKER_UNREADABLE], "memory that is not there");
	is(1, sum(buckets), "  and nothing else");
	untrace(&tracer);
}

TEST_HARNESS_MAIN
