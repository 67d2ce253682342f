// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words without memory
 *
 * The test repeats each call, and forks of the target: the first allocation
 * fails, then the second, until the call makes fewer allocations.  A call that
 * fails has changed nothing, and one that works has done all.
 */
#include "../fail_nth.h"
#include "words.h"

#define COUNT		UTRACE_WORD_COUNT16

/* The word, which the program has counted in before. */
#define WORD		(area + PAGE)
#define OWN_COUNT	7

static struct target target;
static int fd, nth_fd;
static __u32 scope;

/* A child of the target, with which the target shares its pages. */
static pid_t twin;

/*
 * Fork with the n-th allocation failing.  The child loads at once, then when
 * number[1] is set, and ends.  number[]: 0: allocations left.  2 and 3: what
 * the child has seen, and 1 << 16.
 */
static void fork_failing(int n)
{
	int nth = fail_nth_open(0);
	pid_t pid;

	if (!fail_nth_arm(nth, n))
		_exit(99);
	pid = plain_fork();
	if (!pid) {
		shared->number[2] = load(WORD, 2) | 1 << 16;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!shared->number[1])
			usleep(1000);
		shared->number[3] = load(WORD, 2) | 1 << 16;
		_exit(0);
	}
	shared->result = pid < 0 ? -errno : pid;
	shared->number[0] = fail_nth_left(nth);
	close(nth);
}

/* Orders: 'f': fork.  'r': reap.  'B' and 'K': a twin comes and goes. */
static void obey_here(struct target *target, struct order *order)
{
	switch (order->what) {
	case 'f':
		fork_failing(order->n);
		break;
	case 'r':
		wait(NULL);
		break;
	case 'B':
		twin = fork();
		if (!twin) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		break;
	case 'K':
		if (!twin)
			break;
		kill(twin, SIGKILL);
		waitpid(twin, NULL, 0);
		twin = 0;
		break;
	default:
		obey_words(target, order);
	}
}

/* Check that the target sees so many tracers. */
static bool has(unsigned int tracers)
{
	return look(&target, WORD, 2) == OWN_COUNT + tracers;
}

/*
 * One call.
 *
 * @name: for messages
 * @armed: the word is armed before
 * @call: makes the call, with fail-nth armed; 0 or -errno
 * @good: checks the state for this result, and restores that before the call
 * @never_fails: the only result is 0
 */
struct op {
	const char *name;
	bool armed;
	int (*call)(void);
	bool (*good)(int ret);
	bool never_fails;
};

static bool good_arm(int ret)
{
	if (ret)
		return !words_total(fd) && has(0) &&
		       is_given(word_arm(fd, WORD, COUNT, 0)) && has(1) &&
		       !word_disarm(fd, WORD, COUNT, 0) && has(0);
	return words_total(fd) == 1 && has(1) &&
	       !word_disarm(fd, WORD, COUNT, 0) && has(0);
}

static int call_arm(void)
{
	int state = word_arm(fd, WORD, COUNT, 0);

	return state <= 0 ? state : state == UTRACE_ARM_STATE_PENDING ? 0 : -EPROTO;
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
	int all = scope == UTRACE_SCOPE_TREE ? 2 : 1;	/* with the twin */

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
 * The twin sleeps, and may have to write its word itself when it wakes up, for which the
 * engine stays.
 */
static bool good_close(int ret)
{
	bool good = has(0);

	have(&target, SELF, 'K', 0);
	good = until(!word_engines(target.pid)) && good;
	fd = words_open(target.pid, scope);
	return good;
}

/* The first ARM of a target, which makes the engine of words. */

static int new_fd;

static int call_first_arm(void)
{
	int state = word_arm(new_fd, WORD, COUNT, 0);

	return state <= 0 ? state : state == UTRACE_ARM_STATE_PENDING ? 0 : -EPROTO;
}

/* The next call is that of another session. */
static bool good_first_arm(int ret)
{
	bool good = true;

	if (ret)
		good = !words_total(new_fd) && has(0) &&
		       is_given(word_arm(new_fd, WORD, COUNT, 0));
	good = has(1) && good;
	close(new_fd);
	good = has(0) && good;
	new_fd = words_open(target.pid, scope);
	return good;
}

static bool is_documented(const struct op *op, int ret, bool used)
{
	return !ret || (ret == -ENOMEM && used && !op->never_fails);
}

static void fail_each(const struct op *op)
{
	int n, ret, left, failed = 0, bad = 0, half = 0;
	bool used = true;

	for (n = 1; n < FAIL_NTH_MOST && used; n++) {
		if (op->armed)
			arm(fd, WORD, COUNT, 0);
		have(&target, SELF, 'B', 0);
		settle(&target, SELF);
		need(fail_nth_arm(nth_fd, n), "fail-nth");
		ret = op->call();
		left = fail_nth_left(nth_fd);
		need(left >= 0, "fail-nth");
		used = !left;
		failed += !!ret;
		if (!is_documented(op, ret, used)) {
			printf("# %s: allocation %d: %d\n", op->name, n, ret);
			bad++;
		}
		if (!op->good(ret)) {
			printf("# %s: half done after allocation %d: %d\n",
			       op->name, n, ret);
			half++;
		}
		have(&target, SELF, 'K', 0);
	}
	holds(!used, "%s: %d allocations, of which %d make it fail", op->name,
	      n - 2, failed);
	is(0, bad, "  errors as documented");
	is(0, half, "  and nothing is half done");
}

FIXTURE(memory) {
};

FIXTURE_SETUP(memory)
{
	const char *why = dev_begin(_metadata) ?: fail_nth_why_not();

	if (why)
		SKIP(return, "%s", why);
	need(fail_nth_enable(true) && fail_nth_enable_highmem(true), "debugfs");
	need(fail_nth_without_rseq(), "rseq");
	nth_fd = fail_nth_open(0);
	need(nth_fd >= 0, "fail-nth");
	start_words(&target, obey_here);
	put(&target, WORD, 2, OWN_COUNT);
}

FIXTURE_TEARDOWN(memory)
{
	stop(&target);
	close(nth_fd);
	fail_nth_enable_highmem(false);
	fail_nth_enable(false);
	dev_end();
}

/* In a tree the twin shares the page, else the twin has a page of its own. */
static void fail_calls(void)
{
	static const struct op ops[] = {
		{ "DISARM", true, call_disarm, good_disarm, .never_fails = true },
		{ "LIST", true, call_list, good_list },
		{ "close", true, call_close, good_close, .never_fails = true },
	};
	size_t i;

	fd = words_open(target.pid, scope);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		fail_each(&ops[i]);
	close(fd);
}

TEST_F(memory, arming)
{
	static const struct op op = { "ARM", false, call_arm, good_arm };

	scope = UTRACE_SCOPE_PROCESS;
	fd = words_open(target.pid, scope);
	fail_each(&op);
	close(fd);
}

TEST_F(memory, calls_for_a_process)
{
	scope = UTRACE_SCOPE_PROCESS;
	fail_calls();
}

TEST_F(memory, calls_for_a_tree)
{
	scope = UTRACE_SCOPE_TREE;
	fail_calls();
}

static void fail_first_arms(void)
{
	static const struct op op = {
		"the first ARM", false, call_first_arm, good_first_arm,
	};

	new_fd = words_open(target.pid, scope);
	fail_each(&op);
	close(new_fd);
	holds(until(!word_engines(target.pid)), "no engine is left");
}

TEST_F(memory, first_arming_of_a_process)
{
	scope = UTRACE_SCOPE_PROCESS;
	fail_first_arms();
}

TEST_F(memory, first_arming_of_a_tree)
{
	scope = UTRACE_SCOPE_TREE;
	fail_first_arms();
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
	have(&target, SELF, 'r', 0);
	return is_given(word_arm(fd, WORD, COUNT, 0)) && good;
}

/* A fork fails, or makes a child that is right. */
static void fail_forks(void)
{
	int n, i, failed = 0, bad = 0, wrong = 0;
	bool used = true;

	fd = words_open(target.pid, scope);
	arm(fd, WORD, COUNT, 0);
	for (n = 1; n < FAIL_NTH_MOST && used; n++) {
		for (i = 0; i < 4; i++)
			shared->number[i] = 0;
		have(&target, SELF, 'f', n);
		need(shared->number[0] >= 0, "fail-nth");
		used = !shared->number[0];
		if (shared->result < 0) {
			failed++;
			bad += !used || (shared->result != -ENOMEM &&
					 shared->result != -EAGAIN);
		} else if (!check_child(scope == UTRACE_SCOPE_TREE)) {
			printf("# allocation %d: the child has %ld, then %ld\n",
			       n, shared->number[2] & 0xffff,
			       shared->number[3] & 0xffff);
			wrong++;
		}
		wrong += !has(1) || !until(words_total(fd) == 1);
	}
	holds(!used, "fork: %d allocations, of which %d make it fail", n - 2,
	      failed);
	holds(failed > 5, "some do");
	is(0, bad, "with the errors of fork");
	is(0, wrong, "the parent is as before, and the child as it should be");
	close(fd);
	is(OWN_COUNT, look(&target, WORD, 2), "the word is taken back");
}

TEST_F(memory, forks_that_start_without)
{
	scope = UTRACE_SCOPE_PROCESS;
	fail_forks();
}

TEST_F(memory, forks_that_keep)
{
	scope = UTRACE_SCOPE_TREE;
	fail_forks();
}

TEST_HARNESS_MAIN
