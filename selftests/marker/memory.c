// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words without memory
 *
 * A call that fails has changed nothing, and one that works has done all; so has
 * a fork of the target.
 */
#include "memory.h"

#define COUNT		UTRACE_WORD_COUNT16

/* The word, which the program has counted in before. */
#define WORD		(area + PAGE)
#define OWN_COUNT	7

static int fd;
static __u32 scope;

/*
 * A child that was forked loads at once, then when number[1] is set, and ends.
 * number[]: 2 and 3: what the child has seen, and 1 << 16.
 */
static int fork_here(void)
{
	pid_t pid = plain_fork();

	if (!pid) {
		shared->number[2] = load(WORD, 2) | 1 << 16;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!shared->number[1])
			usleep(1000);
		shared->number[3] = load(WORD, 2) | 1 << 16;
		_exit(0);
	}
	return pid < 0 ? -errno : 0;
}

static long fork_failing(long n)
{
	return fail_here(n, fork_here);
}

/* Check that the target sees the counts of that number of tracers. */
static bool has(unsigned int tracers)
{
	return look(&target, WORD, 2) == OWN_COUNT + tracers;
}

static int arm_state;	/* result of the last ARM */

/*
 * ARM makes a copy of the page that the target shares with its child.  If there is no
 * memory for that, the target makes the copy.
 */
static int arm_result(int state)
{
	arm_state = state;
	if (state == UTRACE_ARM_STATE_ARMED || state == UTRACE_ARM_STATE_PENDING)
		return 0;
	return state < 0 ? state : -EPROTO;
}

/* ARM is done at once if none of its allocations failed. */
static bool state_fits(int ret)
{
	return ret || !failing.left || arm_state == UTRACE_ARM_STATE_ARMED;
}

static bool good_arm(int ret)
{
	if (ret)
		return !words_total(fd) && has(0) &&
		       is_given(word_arm(fd, WORD, COUNT, 0)) && has(1) &&
		       !word_disarm(fd, WORD, COUNT, 0) && has(0);
	return state_fits(ret) && words_total(fd) == 1 && has(1) &&
	       !word_disarm(fd, WORD, COUNT, 0) && has(0);
}

static int call_arm(void)
{
	return arm_result(word_arm(fd, WORD, COUNT, 0));
}

static void armed(void)
{
	arm(fd, WORD, COUNT, 0);
}

static int call_disarm(void)
{
	return word_disarm(fd, WORD, COUNT, 0);
}

static bool good_disarm(int ret)
{
	if (ret)
		return has(1) && !word_disarm(fd, WORD, COUNT, 0) && has(0);
	return has(0) && word_disarm(fd, WORD, COUNT, 0) == -ENOENT;
}

static int call_list(void)
{
	struct utrace_armed rows[4];
	__u32 total;
	int n = word_list(fd, rows, 4, &total);
	int all = scope == UTRACE_SCOPE_TREE ? 2 : 1;	/* with the child */

	return n < 0 ? n : n == all && (int)total == all ? 0 : -EPROTO;
}

static bool good_list(int ret)
{
	return has(1) && !word_disarm(fd, WORD, COUNT, 0) && has(0);
}

static int call_close(void)
{
	return close(fd) ? -errno : 0;
}

/*
 * The child sleeps, and may have to write its word itself when it wakes up, for which the
 * engine stays.
 */
static bool good_close(int ret)
{
	bool good = has(0);

	end_child();
	good = until(!word_engines(target.pid)) && good;
	fd = words_open(target.pid, scope);
	return good;
}

/* The first ARM of a target, which makes the engine of words. */

static int new_fd;

static int call_first_arm(void)
{
	return arm_result(word_arm(new_fd, WORD, COUNT, 0));
}

/* The next call is that of another session. */
static bool good_first_arm(int ret)
{
	bool good = state_fits(ret);

	if (ret)
		good = !words_total(new_fd) && has(0) &&
		       is_given(word_arm(new_fd, WORD, COUNT, 0));
	good = has(1) && good;
	close(new_fd);
	good = has(0) && good;
	new_fd = words_open(target.pid, scope);
	return good;
}

FIXTURE(memory) {
};

FIXTURE_SETUP(memory)
{
	const char *why = memory_begin(dev_begin(_metadata));

	if (why)
		SKIP(return, "%s", why);
	start_words(&target);
	put(&target, WORD, 2, OWN_COUNT);
}

FIXTURE_TEARDOWN(memory)
{
	stop(&target);
	fail_nth_end();
	dev_end();
}

static void begin(__u32 which)
{
	scope = which;
	fd = words_open(target.pid, scope);
}

TEST_F(memory, arming)
{
	static const struct fail_case c = { "ARM", NULL, call_arm, good_arm };

	begin(UTRACE_SCOPE_PROCESS);
	fail_calls(&c, 1);
	close(fd);
}

/* In a tree the child shares the page, else the child has a page of its own. */
static void fail_armed(__u32 which)
{
	static const struct fail_case ops[] = {
		{ "DISARM", armed, call_disarm, good_disarm, .never_fails = true },
		{ "LIST", armed, call_list, good_list },
		{ "close", armed, call_close, good_close, .never_fails = true },
	};

	begin(which);
	fail_calls(ops, ARRAY_SIZE(ops));
	close(fd);
}

TEST_F(memory, calls_for_a_process)
{
	fail_armed(UTRACE_SCOPE_PROCESS);
}

TEST_F(memory, calls_for_a_tree)
{
	fail_armed(UTRACE_SCOPE_TREE);
}

static void fail_first_arms(__u32 which)
{
	static const struct fail_case c = {
		"the first ARM", NULL, call_first_arm, good_first_arm,
	};

	scope = which;
	new_fd = words_open(target.pid, scope);
	fail_calls(&c, 1);
	close(new_fd);
	holds(until(!word_engines(target.pid)), "no engine is left");
}

TEST_F(memory, first_arming_of_a_process)
{
	fail_first_arms(UTRACE_SCOPE_PROCESS);
}

TEST_F(memory, first_arming_of_a_tree)
{
	fail_first_arms(UTRACE_SCOPE_TREE);
}

static void prepare_fork(void)
{
	int i;

	for (i = 0; i < 4; i++)
		shared->number[i] = 0;
}

static int call_fork(void)
{
	return call_in_target(fork_failing);
}

/* A child that was forked: at first, and when the word is disarmed. */
static bool check_child(bool kept)
{
	const long want = OWN_COUNT | 1 << 16;
	bool good;

	good = until(shared->number[2]) && shared->number[2] == want + kept;
	good = !word_disarm(fd, WORD, COUNT, 0) && has(0) && good;
	shared->number[1] = 1;
	good = until(shared->number[3]) && shared->number[3] == want && good;
	have(&target, SELF, reap, 0);
	if (!good)
		printf("# the child has %ld, then %ld\n",
		       shared->number[2] & 0xffff, shared->number[3] & 0xffff);
	return is_given(word_arm(fd, WORD, COUNT, 0)) && good;
}

/* The parent is as before, and the child as it should be. */
static bool good_fork(int ret)
{
	bool good = ret || check_child(scope == UTRACE_SCOPE_TREE);

	return has(1) && until(words_total(fd) == 1) && good;
}

static void fail_forks(__u32 which)
{
	static const struct fail_case c = {
		"fork", prepare_fork, call_fork, good_fork, .elsewhere = true,
		.may = -EAGAIN, .least = 6,
	};

	begin(which);
	armed();
	holds(fail_one(&c), "a fork fails, or makes a child that is right");
	close(fd);
	is(OWN_COUNT, look(&target, WORD, 2), "the word is taken back");
}

TEST_F(memory, forks_that_start_without)
{
	fail_forks(UTRACE_SCOPE_PROCESS);
}

TEST_F(memory, forks_that_keep)
{
	fail_forks(UTRACE_SCOPE_TREE);
}

TEST_HARNESS_MAIN
