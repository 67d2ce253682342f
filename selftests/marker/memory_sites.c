// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers without memory
 *
 * The calls are those of a tracer, and forks, hits and programs of the target.  A call
 * that fails has changed nothing, and one that works has done all.
 *
 * The marker shares its semaphore with a second one, which another tracer has armed
 * in the target and its children all the time.  So a semaphore that is raised or
 * lowered once too often is seen in any case.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "memory.h"
#include "sites.h"

/* The semaphore of the marker in main(). */
unsigned short utrace_test_main_semaphore __attribute__((section(".probes")));

static struct tracer tracer, other;
static __u32 scope;

/* What is armed: FIRST or, with UTRACE_MARKER_F_RETURN, ADD. */
static struct marker marker;
static enum place place;

/* Another process has the marker, too, so that its site stays. */
static struct target bystander;
static struct tracer keeper;

/* The path of the copy of this program, in the target, too. */
static const char *path_of_copy(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/program", folder);
	return path;
}

/* The semaphore of this process at first and at last, with a hit in between. */
static int hit_and_look(void)
{
	int first = own_semaphore(FIRST);

	hit_once(0);
	return first | own_semaphore(FIRST) << 4 | 1 << 8;
}

#define SEEN(semaphore)	((semaphore) | (semaphore) << 4 | 1 << 8)

/*
 * A child that was forked loads at once, then when number[1] is set, and ends.
 * number[]: 2 and 3: what the child has seen.
 */
static int fork_here(void)
{
	pid_t pid = plain_fork();

	if (!pid) {
		stage->number[2] = hit_and_look();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!stage->number[1])
			usleep(1000);
		stage->number[3] = hit_and_look();
		_exit(0);
	}
	return pid < 0 ? -errno : pid;
}

static long fork_failing(long n)
{
	return fail_here(n, fork_here);
}

static long reap_child(long pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	stage->number[4] = pid;
	stage->number[5] = status;
	return 0;
}

/*
 * Have a new child hit the marker with the n-th allocation failing, and once more.
 * number[]: 0: allocations left.  1: results that are right.
 */
static long hit_failing(long n)
{
	pid_t pid = plain_fork();
	int nth = fail_nth_open(0);
	long result;

	if (!pid) {
		if (!fail_nth_arm(nth, n))
			_exit(99);
		result = hit_once(0);
		stage->number[0] = fail_nth_left(nth);
		stage->number[1] += result == stage->result;
		stage->number[1] += hit_once(1) == stage->result +
				    (stage->place == ADD);
		_exit(0);
	}
	close(nth);
	return reap_child(pid);
}

static long execute_here(long n)
{
	stage->number[4] = execute_failing(n, path_of_copy(), "run");
	stage->number[5] = shared->number[4];
	return 0;
}

/* The state of the target */

static long count_of(void)
{
	return hits_of(&tracer, marker.cookie);
}

/* Records that the session lost before the last call of told(), and since then. */
static __u64 lost_before;
static int lost;

/* Count the records of a task since the last call, with those that are lost. */
static int told(pid_t tid)
{
	__u64 now = info(tracer.session).lost;

	gather(tracer.session, 0);
	lost = (int)(now - lost_before);
	lost_before = now;
	return count(UTRACE_REC_MARKER, tid) + lost;
}

/* Check that a hit is counted and recorded just when the marker is armed. */
static bool is_told(bool armed)
{
	bool recorded = armed && !(marker.flags & UTRACE_ARM_F_HISTOGRAM);
	long before = count_of(), after;
	int records;

	told(0);
	hit(&target, place, 1);
	records = told(0);
	after = count_of();
	if (records == recorded && after == (armed ? before + 1 : -ENOENT) &&
	    good_hits(&tracer, target.pid, target.pid, place, 0) == recorded)
		return true;
	printf("# %d records, and %ld hits after %ld\n", records, after, before);
	return false;
}

/* Check the semaphores before and after a hit. */
static bool has(bool armed)
{
	const int want = 1 + (armed && place == FIRST);
	int first = semaphore(&target, FIRST);
	bool good = is_told(armed);
	int last = semaphore(&target, FIRST);
	int others = other_semaphores(&target, FIRST);

	if (first == want && last == want && !others)
		return good;
	printf("# semaphores %d and %d instead of %d, others %d\n", first, last,
	       want, others);
	return false;
}

/* The child sleeps, and so does not raise what is armed after it came. */
static bool child_has(bool armed)
{
	int want = 1 + (armed && place == FIRST);
	void *at = (void *)(uintptr_t)stage->semaphore_at[FIRST];
	int got = read_word(target.tid[CHILD], at, 2);

	if (got != want)
		printf("# semaphore %d of the child instead of %d\n", got, want);
	return got == want;
}

/* Disarm the marker, which is armed or not. */
static bool leaves(bool armed)
{
	int ret = try_disarm(&tracer, &marker);

	return has(false) && ret == (armed ? 0 : -ENOENT);
}

static bool works(void)
{
	bool good = !try_arm(&tracer, &marker);

	good = has(true) && good;
	return leaves(true) && good;
}

/* Calls */

static int call_arm(void)
{
	return try_arm(&tracer, &marker);
}

static bool good_arm(int ret)
{
	bool good = has(!ret);

	good = leaves(!ret) && good;
	good = child_has(false) && good;
	return works() && good;
}

static int call_disarm(void)
{
	return try_disarm(&tracer, &marker);
}

static bool good_disarm(int ret)
{
	bool follows = scope == UTRACE_SCOPE_TREE;
	bool good = has(ret);

	good = child_has(ret && follows) && good;
	good = leaves(ret) && good;
	good = child_has(false) && good;
	return works() && good;
}

static int call_counts(void)
{
	struct utrace_hit_count counts[4];
	__u32 filled;
	int n = marker_counts(&tracer, counts, 4, &filled);

	return n < 0 ? n : n == 1 && filled == 1 ? 0 : -EPROTO;
}

static bool good_counts(int ret)
{
	bool good = has(true);

	return leaves(true) && good;
}

/* A new target of the session, whose first ARM makes an engine. */
static void anew(void)
{
	trace_anew(&tracer, target.pid, scope);
}

static int call_detach(void)
{
	return detach(tracer.session, tracer.target);
}

static bool nothing_is_left(void)
{
	bool good = has(false);

	good = child_has(false) && good;
	return works() && good;
}

static bool good_detach(int ret)
{
	trace_by(&tracer, tracer.session, target.pid, scope);
	return nothing_is_left();
}

static int call_close(void)
{
	return close(tracer.session) ? -errno : 0;
}

static bool good_close(int ret)
{
	trace(&tracer, target.pid, scope);
	lost_before = 0;
	return nothing_is_left();
}

static void armed(void)
{
	marker.id = arm_marker(&tracer, marker);
}

static const struct fail_case ops_arm[] = {
	{ "first ARM", anew, call_arm, good_arm },
	{ "ARM", NULL, call_arm, good_arm },
};

static const struct fail_case ops_armed[] = {
	{ "DISARM", armed, call_disarm, good_disarm },
	{ "READ", armed, call_counts, good_counts },
	{ "DETACH", armed, call_detach, good_detach, .never_fails = true },
	{ "close", armed, call_close, good_close, .never_fails = true },
};

static void fail_arm(void)
{
	fail_calls(ops_arm, ARRAY_SIZE(ops_arm));
}

static void fail_armed(void)
{
	fail_calls(ops_armed, ARRAY_SIZE(ops_armed));
}

/* Fixture */

static void choose_marker(enum place which)
{
	place = which;
	marker = marker_of(which);
}

static void choose_histogram(void)
{
	choose_marker(FIRST);
	marker.flags = UTRACE_ARM_F_HISTOGRAM;
	keep_args(&marker, 1);
}

static void choose_return(void)
{
	choose_marker(ADD);
	marker.site.flags = UTRACE_MARKER_F_RETURN;
}

static void begin(__u32 which)
{
	scope = which;
	trace(&tracer, target.pid, scope);
}

static void end(void)
{
	untrace(&tracer);
	tracer.session = -1;
	is(1, semaphore(&target, FIRST), "closed: the other tracer's semaphore");
	untrace(&other);
	is(0, semaphore(&target, FIRST), "both are closed: none is left");
	holds(until(!word_engines(target.pid)), "and no engine");
}

FIXTURE(memory) {
};

FIXTURE_SETUP(memory)
{
	const char *why = memory_begin(dev_begin(_metadata));

	if (why)
		SKIP(return, "%s", why);
	make_libraries();
	start_sites(&target);
	trace(&other, target.pid, UTRACE_SCOPE_TREE);
	arm_place(&other, SECOND);
	choose_marker(FIRST);
}

FIXTURE_TEARDOWN(memory)
{
	stop(&target);
	remove_libraries();
	fail_nth_end();
	dev_end();
}

/* Tests */

TEST_F(memory, arming)
{
	begin(UTRACE_SCOPE_PROCESS);
	fail_arm();
	end();
}

TEST_F(memory, arming_a_tree)
{
	begin(UTRACE_SCOPE_TREE);
	fail_arm();
	end();
}

TEST_F(memory, arming_a_histogram)
{
	begin(UTRACE_SCOPE_PROCESS);
	choose_histogram();
	fail_arm();
	end();
}

TEST_F(memory, arming_a_return)
{
	begin(UTRACE_SCOPE_PROCESS);
	choose_return();
	fail_arm();
	end();
}

TEST_F(memory, calls_for_a_process)
{
	begin(UTRACE_SCOPE_PROCESS);
	fail_armed();
	end();
}

TEST_F(memory, calls_for_a_tree)
{
	begin(UTRACE_SCOPE_TREE);
	fail_armed();
	end();
}

/* The site stays, and with it the breakpoint that a call could not remove. */
TEST_F(memory, calls_beside_another_process)
{
	start_sites(&bystander);
	trace(&keeper, bystander.pid, UTRACE_SCOPE_PROCESS);
	arm_place(&keeper, FIRST);
	begin(UTRACE_SCOPE_PROCESS);
	fail_arm();
	fail_armed();
	is(1, semaphore(&bystander, FIRST), "the other process");
	hit(&bystander, FIRST, 3);
	are_hits(&keeper, &bystander, FIRST, 3, "its hits");
	untrace(&keeper);
	/* The process has descriptors of this one. */
	stop(&bystander);
	end();
}

/* Forks */

/* The child's view, and its hit, at first and when the marker is disarmed. */
static bool check_child(pid_t pid, bool kept)
{
	bool good;

	good = until(stage->number[2]) && stage->number[2] == SEEN(1 + kept);
	good = told(pid) == kept && good;
	good = leaves(true) && good;
	stage->number[1] = 1;
	good = until(stage->number[3]) && stage->number[3] == SEEN(1) && good;
	have(&target, SELF, reap_child, -1);
	good = !stage->number[5] && !told(pid) && good;
	return !try_arm(&tracer, &marker) && good;
}

static void clear_numbers(void)
{
	int i;

	for (i = 0; i < 8; i++) {
		shared->number[i] = 0;
		stage->number[i] = 0;
	}
	stage->place = place;
	stage->result = failing.c->arg;
}

/* The child that was forked, or -errno. */
static pid_t forked;

static int call_fork(void)
{
	forked = call_in_target(fork_failing);
	return forked < 0 ? forked : 0;
}

/* The parent is as before, and the child as it should be. */
static bool good_fork(int ret)
{
	bool good = ret || check_child(forked, scope == UTRACE_SCOPE_TREE);

	if (has(true) && good)
		return true;
	printf("# result %d, the child has %lx, then %lx, and status %lx\n",
	       forked, stage->number[2], stage->number[3], stage->number[5]);
	return false;
}

/* A fork fails, or makes a child that is right. */
static void fail_forks(__u32 which)
{
	static const struct fail_case c = {
		"fork", clear_numbers, call_fork, good_fork, .elsewhere = true,
		.may = -EAGAIN, .least = 6,
	};

	begin(which);
	armed();
	holds(fail_one(&c), "a fork fails, or makes a child that is right");
	end();
}

TEST_F(memory, forks_that_start_without)
{
	fail_forks(UTRACE_SCOPE_PROCESS);
}

TEST_F(memory, forks_that_keep)
{
	fail_forks(UTRACE_SCOPE_TREE);
}

/* Hits */

/* The least and most records of two hits; the count of hits before them. */
static int least, most;
static long count_before;

static void prepare_hit(void)
{
	clear_numbers();
	count_before = count_of();
}

/* A child hits the marker with an allocation failing, and again. */
static int call_hit(void)
{
	have(&target, SELF, hit_failing, failing.n);
	failing.left = stage->number[0];
	return 0;
}

/* The hits are recorded, and the program goes on. */
static bool good_hit(int ret)
{
	const bool used = !failing.left;
	long hits = count_of() - count_before;
	int records = told(stage->number[4]);

	/* Without memory for the task its hit is not counted. */
	if (stage->number[1] == 2 && !stage->number[5] &&
	    hits == records - lost && records >= (used ? least : 2) &&
	    records <= (used ? most : 2))
		return true;
	printf("# results %ld, status %lx, %ld hits, %d records\n",
	       stage->number[1], stage->number[5], hits, records);
	return false;
}

/* The function of the marker has this result. */
static void fail_hits(long result, int at_least, int at_most)
{
	const struct fail_case c = {
		"hit", prepare_hit, call_hit, good_hit, .elsewhere = true,
		.arg = result,
	};

	least = at_least;
	most = at_most;
	begin(UTRACE_SCOPE_TREE);
	armed();
	told(0);
	holds(fail_one(&c), "hits are recorded, and the program goes on");
	end();
}

TEST_F(memory, hits)
{
	fail_hits(B, 2, 2);
}

/*
 * The instruction is one that is executed elsewhere; without memory for that uprobes
 * has the breakpoint hit once more.
 */
TEST_F(memory, hits_of_a_function)
{
	choose_marker(ADD);
	fail_hits(A + B, 2, 3);
}

/* Without memory to note the call, uprobes does not notice the return. */
TEST_F(memory, hits_of_a_return)
{
	choose_return();
	fail_hits(A + B, 1, 3);
}

/* Programs */

static void make_program(void)
{
	struct sdt_site all[4];
	int fd;

	copy_file("/proc/self/exe", path_of_copy(), 0755);
	fd = open(path_of_copy(), O_RDONLY | O_CLOEXEC);
	need(fd >= 0 && sdt_read(path_of_copy(), all, 4) == 1 &&
	     all[0].semaphore, "the marker in main()");
	marker = marker_at(&all[0], fd, COOKIE(PLACES));
}

static int begun, without;

static int call_program(void)
{
	have(&target, SELF, execute_here, failing.n);
	failing.left = shared->number[0];
	return 0;
}

/* The semaphore is raised if a hit is recorded; a program may not begin. */
static bool good_program(int ret)
{
	const bool used = !failing.left;
	int raised = shared->number[1] & 0xff;
	int hits = told(stage->number[4]);
	bool good;

	begun += !!shared->number[1];
	without += shared->number[1] == 1 << 8;
	if (shared->number[1])
		good = raised <= 1 && hits == raised && (raised || used) &&
		       !stage->number[5];
	else
		good = !hits && used && stage->number[5];
	if (!good)
		printf("# error %ld, status %lx, the program has %lx\n",
		       shared->number[3], stage->number[5], shared->number[1]);
	return good;
}

TEST_F(memory, programs)
{
	static const struct fail_case c = {
		"execve", clear_numbers, call_program, good_program,
		.elsewhere = true, .stride = STRIDE,
	};

	make_program();
	begin(UTRACE_SCOPE_TREE);
	armed();
	told(0);
	holds(fail_one(&c), "a program has both the semaphore and a hit, or neither");
	holds(begun > 5, "%d programs begin", begun);
	holds(without < begun, "of which %d are without the marker", without);
	unlink(path_of_copy());
	end();
}

/* The program.  number[]: 1: the semaphore in main(), and 1 << 8. */
int main(int argc, char **argv)
{
	int raised = load(&utrace_test_main_semaphore, 2);

	STAP_PROBE1(utrace_test, main, argc);
	if (argc != 3 || strcmp(argv[1], "run"))
		return test_harness_run(argc, argv);
	share_again(argv[2]);
	shared->number[1] = raised | 1 << 8;
	return 0;
}
