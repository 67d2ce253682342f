// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: no count is lost, and no load misses an armed word
 *
 * Threads of the target change a word without a pause, or load it, while
 * tracers arm and disarm parts of the same 32 bits.
 */
#include "blows.h"

#define COUNT16		UTRACE_WORD_COUNT16

#define WORD		(area + PAGE)
#define CELL		(area + PAGE + 256)
#define TRACERS		3

#define HUGE		(2UL << 20)

/* Pages of which each has a word that nobody has touched before it is armed. */
#define FRESH		256
#define FRESH_WORD(at)	(PLACE + (at) + 16)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

/* How the first thread replaces the page of the word in parallel. */
static enum { NOTHING, FORKS, HUGE_PAGES } beside;

static void fork_once(void)
{
	pid_t pid = plain_fork();

	if (!pid) {
		shared->number[6] += load(WORD, 4) >> 31;
		_exit(0);
	}
	if (pid < 0)
		_exit(94);
	waitpid(pid, NULL, 0);
}

/* Collapse pages to a huge page, and split it again. */
static void remake_huge_page(void)
{
	if (madvise(PLACE, HUGE, MADV_COLLAPSE) && errno == EINVAL)
		_exit(93);
	if (madvise(PLACE + HUGE / 2, PAGE, MADV_DONTNEED))
		_exit(92);
}

/* Blows and the rest.  number[]: 6: bits that a child has.  7: rounds. */
static long strike_all(long unused)
{
	pthread_t threads[STRIKERS];

	begin_blows(threads);
	while (beside != NOTHING && !shared->quit) {
		if (beside == FORKS)
			fork_once();
		else
			remake_huge_page();
		shared->number[7]++;
	}
	end_blows(threads);
	return 0;
}

/* Memory that is to become a huge page, if there are some. */
static long map_huge(long unused)
{
	if (mmap(PLACE, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE ||
	    madvise(PLACE, HUGE, MADV_HUGEPAGE))
		return false;
	memset(PLACE, 0, HUGE);
	return !madvise(PLACE, HUGE, MADV_COLLAPSE);
}

/* Bodies of threads: one loads the word 200 times, the other one until the test ends. */
static void *watch_some(void *watcher)
{
	int i;

	for (i = 0; i < 200; i++)
		watch((long)watcher, WORD, 4, 0, 0x80000000);
	return NULL;
}

static void *watch_on(void *watcher)
{
	while (!shared->quit)
		watch((long)watcher, WORD, 4, 0, 0x80000000);
	return NULL;
}

/* Make threads that end. */
static void *make_threads(void *watcher)
{
	pthread_t thread;

	while (!shared->quit) {
		if (pthread_create(&thread, NULL, watch_some, watcher))
			_exit(95);
		pthread_join(thread, NULL);
		shared->number[0]++;
	}
	return NULL;
}

/*
 * Spin without a system call, and load the word of each page as soon as the
 * test says that it is armed.  number[]: 0: the page whose word is armed, as an
 * offset.  1: that of the last word that was loaded.
 *
 * number[0] is the offset to load from, so that no jump is between the two
 * loads, see linger().  The first page has no word.
 */
static long look_at_fresh(long unused)
{
	long at, last = 0;
	__u64 seen;

	while (last < FRESH * PAGE) {
		linger();
		at = shared->number[0];
		seen = load(FRESH_WORD(at), 4);
		if (at == last)
			continue;
		shared->missed += seen != 0x80000000;
		shared->looks++;
		shared->number[1] = at;
		last = at;
	}
	return 0;
}

static long map_fresh(long unused)
{
	const size_t size = (FRESH + 1) * PAGE;

	shared->number[0] = 0;
	shared->number[1] = 0;
	return mmap(PLACE, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == PLACE &&
	       (!madvise(PLACE, size, MADV_NOHUGEPAGE) || errno == EINVAL);
}

static void run(void *(*function)(void *number), int n)
{
	pthread_t threads[WATCHERS];
	long i;

	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, function, (void *)i))
			_exit(95);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static long watch_in_new_threads(long unused)
{
	run(make_threads, 2);
	return 0;
}

static long watch_in_threads(long unused)
{
	run(watch_on, WATCHERS);
	return 0;
}

static void start_blows(struct target *target, struct blows even,
			struct blows odd)
{
	blows[0] = even;
	blows[1] = odd;
	start_words(target);
	if (beside == HUGE_PAGES)
		need(have(target, SELF, map_huge, 0), "a huge page");
	put(target, even.at, even.size, even.start);
	if (odd.at != even.at)
		put(target, odd.at, odd.size, odd.start);
	tell(target, SELF, strike_all, 0);
}

/* The end: each count is the sum of what its threads have counted. */
static void check_sums(struct target *target)
{
	__u64 sum[2] = { blows[0].start, blows[1].start };
	int i, both = blows[0].at != blows[1].at;

	need(until(shared->looks > 100), "counts of the threads");
	shared->quit = 1;
	hear(target, SELF);
	holds(true, "%ld thousands of counts", shared->looks);
	for (i = 0; i < STRIKERS; i++)
		sum[i % 2 & both] += shared->number[i];
	for (i = 0; i <= both; i++) {
		if (blows[i].size == 2)
			sum[i] = (__u16)sum[i];
		is(sum[i], look(target, blows[i].at, blows[i].size),
		   "the count is the sum of all threads");
	}
}

/*
 * Arm a word that threads may not let the kernel write; returns whether that
 * has worked, and counts in @busy how often it has not.
 */
static bool try_arm(int fd, void *at, __u32 kind, __u32 bit, int *busy)
{
	int state = word_arm(fd, at, kind, bit);

	if (state == UTRACE_ARM_STATE_FAILED && word_error == EAGAIN)
		++*busy;
	else if (!is_given(state))
		need(false, "ARM");
	return state == UTRACE_ARM_STATE_ARMED;
}

/* Check whether the first thread has forked or made huge pages often enough. */
static bool is_enough_beside(void)
{
	return beside == NOTHING || shared->number[7] > 10;
}

/* Toggle a word; @size and @mask: what of the memory is only the tracer's. */
static void toggle_under_blows(struct target *target, void *at, __u32 kind,
			       __u32 bit, int size, __u64 mask)
{
	const int toggles = times_if_fast(beside == NOTHING ? 25000 : 5000);
	int i, fd, busy = 0, wrong = 0, errors = 0;

	fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < toggles || (!errors && !is_enough_beside()); i++) {
		if (try_arm(fd, at, kind, bit, &busy) && mask && !(i % 500))
			wrong += (read_word(target->pid, at, size) & mask) !=
				 1ULL << bit;
		errors += !!word_disarm(fd, at, kind, bit);
	}
	is(0, errors, "each DISARM works");
	is(0, wrong, "what is armed is there");
	holds(busy < i / 10, "%d of %d could not be armed", busy, i);
	check_sums(target);
	holds(until(!words_total(fd)), "no word is left");
	close(fd);
}

TEST_F_TIMEOUT(dev, bit_above_a_count, LONG_TIMEOUT)
{
	const struct blows low = { WORD, 4, 1 << 20, 0 };
	struct target target;

	start_blows(&target, low, low);
	toggle_under_blows(&target, WORD, UTRACE_WORD_BIT32, 31, 4, 1U << 31);
	stop(&target);
}

/* The count carries from the low half of the 64 bits into the high half, and back. */
TEST_F_TIMEOUT(dev, bit_above_a_long_count, LONG_TIMEOUT)
{
	const struct blows low = { WORD, 8, 1 << 16, 0xffff0000 };
	struct target target;

	start_blows(&target, low, low);
	toggle_under_blows(&target, WORD, UTRACE_WORD_BIT64, 63, 8, 1ULL << 63);
	stop(&target);
}

/* The program's counts are in the other half of the 32 bits, and wrap. */
TEST_F_TIMEOUT(dev, count_beside_a_count, LONG_TIMEOUT)
{
	const struct blows half = { WORD + 2, 2, 1 << 20, 0 };
	struct target target;

	start_blows(&target, half, half);
	toggle_under_blows(&target, WORD, COUNT16, 0, 2, 0xffff);
	is(0, look(&target, WORD, 2), "the count of the tracer is 0");
	stop(&target);
}

TEST_F_TIMEOUT(dev, count_below_a_count, LONG_TIMEOUT)
{
	const struct blows half = { WORD, 2, 1 << 20, 0x8000 };
	struct target target;

	start_blows(&target, half, half);
	toggle_under_blows(&target, WORD + 2, COUNT16, 0, 2, 0xffff);
	is(0, look(&target, WORD + 2, 2), "the count of the tracer is 0");
	stop(&target);
}

/* All count the same. */
TEST_F_TIMEOUT(dev, one_count, LONG_TIMEOUT)
{
	const struct blows same = { WORD, 2, 5000, 0x8000 };
	struct target target;

	start_blows(&target, same, same);
	toggle_under_blows(&target, WORD, COUNT16, 0, 2, 0);
	is(0, look(&target, WORD + 2, 2), "the other half is 0");
	stop(&target);
}

/* Each fork gives the word to the child, too, until one of them writes. */
TEST_F_TIMEOUT(dev, count_while_forking, LONG_TIMEOUT)
{
	const struct blows low = { WORD, 4, 1 << 20, 0 };
	struct target target;

	beside = FORKS;
	start_blows(&target, low, low);
	toggle_under_blows(&target, WORD, UTRACE_WORD_BIT32, 31, 4, 1U << 31);
	holds(is_enough_beside(), "%ld forks", shared->number[7]);
	is(0, shared->number[6], "no child has the bit");
	stop(&target);
}

TEST_F_TIMEOUT(dev, count_in_a_huge_page, LONG_TIMEOUT)
{
	const struct blows low = { PLACE + 16, 4, 1 << 20, 0 };
	struct target target;

	if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
		SKIP(return, "no huge pages (TRANSPARENT_HUGEPAGE)");
	beside = HUGE_PAGES;
	start_blows(&target, low, low);
	toggle_under_blows(&target, PLACE + 16, UTRACE_WORD_BIT32, 31, 4,
			   1U << 31);
	holds(is_enough_beside(), "%ld times a huge page", shared->number[7]);
	stop(&target);
}

/*
 * A tracer that arms and disarms until it is killed: a bit and a count that all
 * tracers share, and a bit of its own.
 */
static void be_tracer(struct target *target, int own)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS), busy = 0;
	bool all, one, count, check;
	__u64 value;

	for (;;) {
		check = !(shared->number[4 + own]++ % 64);
		all = try_arm(fd, WORD, UTRACE_WORD_BIT32, 31, &busy);
		one = try_arm(fd, WORD, UTRACE_WORD_BIT32, 27 + own, &busy);
		count = try_arm(fd, CELL + 2, COUNT16, 0, &busy);
		if (check) {
			value = read_word(target->pid, WORD, 4);
			shared->missed += all && !(value & 1U << 31);
			shared->missed += one && !(value & 1U << (27 + own));
			value = read_word(target->pid, CELL + 2, 2);
			shared->strange += value > TRACERS;
			shared->missed += count && !value;
		}
		disarm(fd, CELL + 2, COUNT16, 0);
		disarm(fd, WORD, UTRACE_WORD_BIT32, 27 + own);
		disarm(fd, WORD, UTRACE_WORD_BIT32, 31);
		if (check && !words_total(fd)) {
			value = read_word(target->pid, WORD, 4);
			shared->stale += !!(value & 1U << (27 + own));
		}
	}
}

TEST_F_TIMEOUT(dev, several_tracers, LONG_TIMEOUT)
{
	const int toggles = times_if_fast(10000);
	struct target target;
	pid_t tracer[TRACERS];
	int i;

	start_blows(&target, (struct blows){ WORD, 4, 1 << 20, 0 },
		    (struct blows){ CELL, 2, 1 << 20, 0 });
	for (i = 0; i < TRACERS; i++) {
		fflush(stdout);
		tracer[i] = fork();
		need(tracer[i] >= 0, "fork");
		if (!tracer[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			be_tracer(&target, i);
		}
	}
	/* A tracer that has ended is seen below. */
	for (i = 0; i < TRACERS; i++)
		while (shared->number[4 + i] < toggles && !kill(tracer[i], 0) &&
		       !waitpid(tracer[i], NULL, WNOHANG))
			usleep(1000);
	for (i = 0; i < TRACERS; i++) {
		holds(shared->number[4 + i] >= toggles, "tracer %d: %ld rounds",
		      i, shared->number[4 + i]);
		kill(tracer[i], SIGKILL);
		waitpid(tracer[i], NULL, 0);
	}
	holds(until(!(read_word(target.pid, WORD, 4) >> 27)),
	      "with the tracers their bits have gone");
	holds(until(!read_word(target.pid, CELL + 2, 2)), "and their counts");
	check_sums(&target);
	is(0, look(&target, CELL + 2, 2), "as seen by the program");
	is(0, shared->missed, "what a tracer has armed was there");
	is(0, shared->stale, "its bit was not there when disarmed");
	is(0, shared->strange, "there were no more counts than tracers");
	stop(&target);
}

/* Threads load a word that is toggled; each toggle waits for a load. */
static void check_threads(order_fn *order, int toggles)
{
	struct target target;
	int fd, i, ret = 0;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	tell(&target, SELF, order, 0);
	for (i = 0; i < toggles && !ret; i++)
		ret = toggle(fd, WORD, UTRACE_WORD_BIT32, 31, FOR_A_LOOK);
	is(0, ret, "the bit is toggled");
	is(toggles, i, "so many times");
	shared->quit = 1;
	hear(&target, SELF);
	are_good_looks("threads");
	close(fd);
	stop(&target);
}

TEST_F_TIMEOUT(dev, threads_that_begin, LONG_TIMEOUT)
{
	check_threads(watch_in_new_threads, times_if_fast(2000));
	holds(shared->number[0] > 10, "%ld threads", shared->number[0]);
}

TEST_F_TIMEOUT(dev, threads_in_user_mode, LONG_TIMEOUT)
{
	check_threads(watch_in_threads, times_if_fast(4000));
}

/*
 * Arm a word of each fresh page, and say so.  Returns how many were not written by ARM
 * itself, or -1.
 */
static int arm_fresh(struct target *target, int fd)
{
	int i, state, pending = 0;

	need(have(target, SELF, map_fresh, 0), "fresh pages");
	tell(target, SELF, look_at_fresh, 0);
	for (i = 1; i <= FRESH; i++) {
		unsigned char *at = FRESH_WORD(i * PAGE);

		state = word_arm(fd, at, UTRACE_WORD_BIT32, 31);
		/* Nothing comes in between: the promise holds from here on. */
		shared->number[0] = i * PAGE;
		if (!is_given(state))
			return -1;
		pending += state == UTRACE_ARM_STATE_PENDING;
		if (!until(shared->number[1] == (long)(i * PAGE)) ||
		    word_disarm(fd, at, UTRACE_WORD_BIT32, 31))
			return -1;
	}
	hear(target, SELF);
	return pending;
}

/*
 * A thread that is in user mode while a word is armed whose page is not there sees the
 * word from then on, and not some time after: ARM has interrupted the thread.
 */
TEST_F_TIMEOUT(dev, fresh_pages, LONG_TIMEOUT)
{
	const int rounds = times_if_fast(20);
	int i, fd, n = 0, pending = 0;
	struct target target;

	start_words(&target);
	pin_to_cpu(target.pid, 0);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		pin_to_cpu(0, 1);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < rounds && n >= 0; i++) {
		n = arm_fresh(&target, fd);
		pending += n;
	}
	holds(n >= 0, "words are armed and taken back");
	is(rounds * FRESH, shared->looks, "each was looked at");
	holds(pending > 0, "%d were pending when ARM returned", pending);
	is(0, shared->missed, "no first look has missed the word");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
