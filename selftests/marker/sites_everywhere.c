// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers that are armed in all processes, and histograms
 */
#include "sites.h"

/* A semaphore after the end of a target of the system, which does not wait for it. */
#define has_gone(semaphore, text) is(true, until(!(semaphore)), text)

/*
 * stage->number[]: 0: not 0 to stop.  1: hits or children so far.  2: children that did
 * not end well.
 */

/* Hit until number[0] is set. */
static long hit_on(long unused)
{
	while (!stage->number[0]) {
		hit_once(0);
		stage->number[1]++;
	}
	return 0;
}

/* Fork until number[0] is set; each child hits once. */
static long fork_on(long unused)
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
	return 0;
}

static void trace_everywhere(struct tracer *tracer)
{
	int ret;

	*tracer = (struct tracer){ .session = session() };
	need(!setup_full(tracer->session, 1 << 20, UTRACE_FULL_DROP), "setup");
	ret = attach_system(tracer->session);
	errno = -ret;
	need(ret > 0, "attach");
	tracer->target = ret;
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
	is(15, hits_of(&tracer, COOKIE(HIT)), "all are counted");
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

/* The process that has armed the marker does not trace itself. */
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
	is(0, hits_of(&tracer, COOKIE(HIT)), "nor are they counted");
	have(target, SELF, look_around, 0);
	hit(target, HIT, 2);
	are_hits(&tracer, target, HIT, 2, "hits by others");
	untrace(&tracer);
	has_gone(own_semaphore(HIT), "disarmed");
	unload_library(0);
}

/* In a child: arm the marker HIT, and hit it when number[0] is set. */
static void arm_and_hit(struct tracer *tracer)
{
	arm_place(tracer, HIT);
	load_library(0);
	stage->number[1] = own_semaphore(HIT);
	need(until(stage->number[0]), "the order to hit");
	hit_here(5);
}

/* One process arms the marker, and another one reads the session. */
TEST_F(sites, not_the_tracer_nor_the_reader)
{
	struct target *target = &self->target;
	struct tracer tracer;
	pid_t pid;

	stage->number[0] = 0;
	stage->number[1] = 0;
	stage->library = 0;
	stage->place = HIT;
	trace_everywhere(&tracer);
	pid = fork_tracer();
	if (!pid) {
		arm_and_hit(&tracer);
		_exit(0);
	}
	is(1, until(stage->number[1] == 1), "the semaphore of the process that arms");
	are_none(&tracer, "hits before the order");
	stage->number[0] = 1;
	is(0, status_of(pid), "the process that has armed ends well");
	is(0, hits_of(&tracer, COOKIE(HIT)), "its hits are not counted");
	load_library(0);
	is(1, own_semaphore(HIT), "the reader's own semaphore");
	hit_here(5);
	is(0, hits_of(&tracer, COOKIE(HIT)), "hits by the reader are not counted");
	are_none(&tracer, "hits by the two");
	have(target, SELF, look_around, 0);
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
	struct marker arg = marker_of(ADD);
	struct target *target = &self->target;
	struct tracer tracer;

	arg.site.flags = UTRACE_MARKER_F_RETURN;
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

/* Arm something whose address differs from process to process; returns 0 or -errno. */
static int try_other(struct tracer *tracer, __u32 type, const void *spec, __u32 size)
{
	struct utrace_ioc_arm arg = {
		.target = tracer->target,
		.type = type,
		.spec = (uintptr_t)spec,
		.spec_size = size,
	};

	return command(tracer->session, UTRACE_IOC_ARM, &arg);
}

static void check_refused(struct tracer *tracer, const char *text)
{
	const struct utrace_word word = {
		.addr = (uintptr_t)area, .kind = UTRACE_WORD_BIT32,
	};
	const struct utrace_user_event event = { .name = (uintptr_t)"event" };

	holds(true, "%s", text);
	is(-EOPNOTSUPP, try_other(tracer, UTRACE_ARM_WORD, &word, sizeof(word)),
	   "  a word");
	is(-EOPNOTSUPP, try_other(tracer, UTRACE_ARM_USER_EVENT, &event, sizeof(event)),
	   "  a user_event");
}

TEST_F(sites, refused)
{
	struct marker arg = marker_of(HIT);
	struct target *target = &self->target;
	struct tracer tracer, one;
	__u32 total;

	trace(&one, target->pid, UTRACE_SCOPE_PROCESS);
	trace_everywhere(&tracer);
	check_refused(&tracer, "the system has no");
	is(0, list_of(tracer.session, tracer.target, NULL, 0, &total), "the list");
	is(0, total, "  has no word");
	is(0, poll_words(tracer.session, 0), "poll");
	is(-ENOENT, try_disarm(&tracer, &arg), "DISARM of nothing");
	arm_place(&tracer, HIT);
	check_refused(&tracer, "nor with a marker");
	is(-EEXIST, try_arm(&tracer, &arg), "ARM of what is armed");
	is(-ENOENT, disarm_id(one.session, tracer.ids[HIT]),
	   "DISARM by another session");
	arg.site.offset = 0x7fffffff;
	is(-EINVAL, try_arm(&tracer, &arg), "a place behind the file");
	is(1, semaphore(target, HIT), "all that has changed nothing");
	is(0, detach(tracer.session, tracer.target), "DETACH");
	hit(target, HIT, 5);
	are_none(&tracer, "hits of a target that is detached");
	has_gone(semaphore(target, HIT), "detached");
	untrace(&one);
	untrace(&tracer);
}

static int try_attach(struct tracer *tracer)
{
	int ret = attach_system(tracer->session);

	return ret < 0 ? ret : 0;
}

static int arm_hit(struct tracer *tracer)
{
	struct marker arg = marker_of(HIT);

	return try_arm(tracer, &arg);
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

/* The caller of ATTACH and ARM needs privileges, whoever opened the session. */
TEST_F(sites, rights)
{
	struct tracer tracer, fresh = { .session = session() };

	set_unprivileged("1");
	trace_everywhere(&tracer);
	is(EPERM << 8, as_nobody(try_attach, &fresh),
	   "ATTACH by nobody, with a session of root's");
	is(EPERM << 8, as_nobody(arm_hit, &tracer),
	   "a marker, with a target of root's");
	arm_place(&tracer, HIT);
	disarm_place(&tracer, HIT);
	is(EPERM << 8, as_nobody(arm_hit, &tracer),
	   "the same marker, when root has armed it before");
	untrace(&fresh);
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

/* Children have the marker, while a process forks all the time. */
TEST_F(sites, forks_everywhere)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	stage->number[0] = 0;
	stage->place = GUARDED;
	trace_everywhere(&tracer);
	tell(target, SELF, fork_on, 0);
	for (i = 0; i < times(100); i++) {
		arm_place(&tracer, GUARDED);
		gather(tracer.session, 1);
		disarm_place(&tracer, GUARDED);
	}
	stage->number[0] = 1;
	hear(target, SELF);
	is(0, stage->number[2], "no child has died of that");
	holds(stage->number[1] > 0, "%ld children", stage->number[1]);
	is(0, semaphore(target, GUARDED), "the semaphore");
	gather(tracer.session, 0);
	hit(target, GUARDED, 5);
	are_none(&tracer, "hits after DISARM");
	untrace(&tracer);
}

/* A target is detached while its marker is hit, or its session is closed. */
TEST_F(sites, ended_while_hit)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	stage->number[0] = 0;
	stage->place = HIT;
	tell(target, SELF, hit_on, 0);
	for (i = 0; i < times(20); i++) {
		trace_everywhere(&tracer);
		arm_place(&tracer, HIT);
		gather(tracer.session, 1);
		if (i % 2)
			leave(&tracer);
		untrace(&tracer);
	}
	stage->number[0] = 1;
	hear(target, SELF);
	has_gone(semaphore(target, HIT), "the semaphore");
}

/* Histograms. */

/* Read a histogram; returns how many buckets are filled in, or -errno. */
static int try_histogram(struct tracer *tracer, __u32 id, __u64 *buckets, __u32 n)
{
	struct utrace_rows rows = {
		.at = (uintptr_t)buckets, .n = n, .size = sizeof(*buckets),
	};
	int ret = try_read(tracer, UTRACE_HITS_HISTOGRAM, id, &rows);

	if (ret >= 0)
		is(UTRACE_BUCKETS, ret, "all buckets");
	return ret < 0 ? ret : (int)rows.n;
}

/* The marker HIT, sorted by an argument. */
static struct marker histogram_of(unsigned int argument)
{
	struct marker arg = marker_of(HIT);

	arg.flags = UTRACE_ARM_F_HISTOGRAM;
	arg.site.args[0] = arg.site.args[argument];
	keep_args(&arg, 1);
	return arg;
}

static __u64 sum(const __u64 *buckets)
{
	__u64 all = 0;
	int i;

	for (i = 0; i < UTRACE_BUCKETS; i++)
		all += buckets[i];
	return all;
}

/* Hit once with this first argument. */
static void hit_with(struct target *target, long a)
{
	stage->a = a;
	hit(target, HIT, 1);
}

/* Returns the id of the histogram. */
static __u32 check_histogram(struct target *target, struct tracer *tracer)
{
	static const struct { long value; int bucket; } cases[] = {
		{ 0, UTRACE_BUCKET_ZERO },
		{ 1, UTRACE_BUCKET_POSITIVE },
		{ 2, UTRACE_BUCKET_POSITIVE + 1 },
		{ 3, UTRACE_BUCKET_POSITIVE + 1 },
		{ 4, UTRACE_BUCKET_POSITIVE + 2 },
		{ 0x3fffffffffffffff, UTRACE_BUCKET_POSITIVE + 61 },
		{ 0x4000000000000000, UTRACE_BUCKET_POSITIVE + 62 },
		{ -1, UTRACE_BUCKET_NEGATIVE },
		{ LONG_MIN, UTRACE_BUCKET_NEGATIVE },
	};
	__u64 before[UTRACE_BUCKETS], after[UTRACE_BUCKETS];
	__u32 id;
	int i;

	id = arm_marker(tracer, histogram_of(0));
	is(1, semaphore(target, HIT), "a histogram has the semaphore");
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++) {
		is(UTRACE_BUCKETS,
		   try_histogram(tracer, id, before, 1000), "read");
		hit_with(target, cases[i].value);
		try_histogram(tracer, id, after, 1000);
		is(before[cases[i].bucket] + 1, after[cases[i].bucket],
		   "the bucket of the value");
		is(sum(before) + 1, sum(after), "  and no other");
	}
	are_none(tracer, "records");
	is(i, hits_of(tracer, COOKIE(HIT)), "counted");
	stage->a = A;
	return id;
}

TEST_F(sites, histogram)
{
	__u64 buckets[UTRACE_BUCKETS + 1] = {};
	struct marker arg = histogram_of(0);
	struct target *target = &self->target;
	struct tracer tracer;
	__u32 id;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is(-ENOENT, try_histogram(&tracer, 1, buckets, 1), "nothing is armed");
	id = check_histogram(target, &tracer);
	is(-ENOENT, try_histogram(&tracer, id + 1, buckets, 1), "another id");
	is(-EINVAL, try_histogram(&tracer, 0, buckets, 1), "no id");
	is(-EFAULT, try_histogram(&tracer, id, (void *)8, 1), "EFAULT");
	is(0, try_histogram(&tracer, id, (void *)8, 0), "no room");
	is(3, try_histogram(&tracer, id, buckets, 3), "some room");
	is(0, buckets[3], "  and no more is written");
	disarm_marker(&tracer, id);
	is(-ENOENT, try_histogram(&tracer, id, buckets, 1), "disarmed");
	arg = histogram_of(0);
	keep_args(&arg, 0);
	is(-EINVAL, try_arm(&tracer, &arg), "without an argument");
	arg = marker_of(HIT);
	arg.flags = UTRACE_ARM_F_HISTOGRAM;
	keep_args(&arg, 2);
	is(-EINVAL, try_arm(&tracer, &arg), "with two");
	arm_place(&tracer, HIT);
	is(-ENOENT, try_histogram(&tracer, tracer.ids[HIT], buckets, 1),
	   "of a marker without a histogram");
	arg = marker_of(PLAIN);
	arg.flags = UTRACE_ARM_F_COUNT;
	id = arm_marker(&tracer, arg);
	is(-ENOENT, try_histogram(&tracer, id, buckets, 1),
	   "of one that is counted");
	untrace(&tracer);
}

/* Several histograms with one cookie, which their ids tell apart. */
TEST_F(sites, histograms)
{
	static const enum place places[] = { HIT, GUARDED, PLAIN };
	__u64 buckets[UTRACE_BUCKETS];
	struct target *target = &self->target;
	struct tracer tracer;
	struct marker arg;
	__u32 ids[3];
	int i;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < 3; i++) {
		arg = marker_of(places[i]);
		arg.flags = UTRACE_ARM_F_HISTOGRAM;
		arg.cookie = 7;
		keep_args(&arg, 1);
		ids[i] = arm_marker(&tracer, arg);
	}
	stage->a = 1;
	for (i = 0; i < 3; i++)
		hit(target, places[i], i + 1);
	for (i = 0; i < 3; i++) {
		need(try_histogram(&tracer, ids[i], buckets, UTRACE_BUCKETS) ==
		     UTRACE_BUCKETS, "UTRACE_IOC_HITS");
		is(i + 1, sum(buckets), "the hits of one");
		is(1, buckets[UTRACE_BUCKET_POSITIVE], "  by their values: 1");
		is(i, buckets[UTRACE_BUCKET_POSITIVE + 1], "  and more");
	}
	disarm_marker(&tracer, ids[1]);
	is(-ENOENT, try_histogram(&tracer, ids[1], buckets, 1), "one is disarmed");
	is(1, try_histogram(&tracer, ids[2], buckets, 1), "and the next one is not");
	untrace(&tracer);
}

/* READ of a histogram with one thing changed is refused. */
#define READ_REFUSED(error, text, ...)					\
({									\
	__u64 row[2];							\
	struct utrace_ioc_hits arg = {					\
		.rows = { .at = (uintptr_t)row, .n = 1,			\
			  .size = sizeof(*row) },			\
		.target = tracer.target,				\
		.id = id,						\
		.what = UTRACE_HITS_HISTOGRAM,				\
	};								\
									\
	__VA_ARGS__;							\
	is(-(error), command(tracer.session, UTRACE_IOC_HITS, &arg), text);	\
})

TEST_F(sites, refused_histogram)
{
	__u64 pairs[4] = { 1, 1, 1, 1 };
	struct utrace_rows rows = {
		.at = (uintptr_t)pairs, .n = 2, .size = 2 * sizeof(*pairs),
	};
	struct target *target = &self->target;
	struct tracer tracer;
	__u32 id;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	id = arm_marker(&tracer, histogram_of(0));
	READ_REFUSED(EINVAL, "rows without a size", arg.rows.size = 0);
	READ_REFUSED(EINVAL, "rows that are too small", arg.rows.size = 4);
	READ_REFUSED(E2BIG, "rows of more than 4096 bytes", arg.rows.size = 4104);
	READ_REFUSED(EINVAL, "reserved of the rows", arg.rows.reserved = 1);
	READ_REFUSED(EINVAL, "reserved", arg.reserved = 1);
	READ_REFUSED(ENOENT, "an unknown target", arg.target = 77);
	READ_REFUSED(0, "without a change HITS is good", arg.rows.total = 7);
	is(UTRACE_BUCKETS, try_read(&tracer, UTRACE_HITS_HISTOGRAM, id, &rows),
	   "rows that are longer than a bucket");
	is(2, rows.n, "  are filled in");
	is(0, pairs[0] | pairs[1] | pairs[2] | pairs[3], "  with zeros behind it");
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
	__u64 buckets[UTRACE_BUCKETS] = {};
	struct marker arg = histogram_of(0);
	struct target *target = &self->target;
	struct tracer tracer;
	__u32 id;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arg.site.args[0].size = 8;
	id = arm_marker(&tracer, arg);
	hit_with(target, -1);
	try_histogram(&tracer, id, buckets, UTRACE_BUCKETS);
	is(1, buckets[UTRACE_BUCKET_POSITIVE + 63], "a highest bit");
	disarm_marker(&tracer, id);
	arg.site.args[0] = (struct utrace_marker_arg){
		.size = 8,
		.kind = UTRACE_ARG_MEM,
		.reg = UTRACE_ARG_NO_REG,
		.index = UTRACE_ARG_NO_REG,
		.disp = 16,
	};
	id = arm_marker(&tracer, arg);
	hit_with(target, 1);
	try_histogram(&tracer, id, buckets, UTRACE_BUCKETS);
	is(1, buckets[UTRACE_BUCKET_UNREADABLE], "memory that is not there");
	is(1, sum(buckets), "  and nothing else");
	untrace(&tracer);
}

TEST_HARNESS_MAIN
