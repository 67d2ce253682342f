// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - user_events: words that the file enable changes
 *
 * The tests are for any kernel with user_events.  A kernel without the engine
 * of words changes a word that is in no page of the process, or in one that
 * fork(2) has write-protected, some time after the write to enable: there the
 * tests of such pages fail.
 */
#include "blows.h"
#include "events.h"

/* A word in memory that comes and goes. */
#define IN_PLACE	(PLACE + 16)

/* Pages with a word each, which fork(2) leaves to parent and child. */
#define PAGES		64
#define IN_PAGE(i)	(PLACE + (i) * PAGE + 4 * (i))

/* Pages of the file of this program. */
static unsigned char in_file[3 * PAGE] __attribute__((aligned(PAGE))) = { 1 };

/* What the test asks of a child of the target. */
enum ask { NOTHING, LOOK, WRITE, UNREGISTER, LEAVE };

struct child {
	_Atomic pid_t pid;
	_Atomic int ask;
	_Atomic long result;
	_Atomic __u64 seen;
};

static struct child *child;

/* Load the word at once, then serve the test until it exits. */
static void live(void)
{
	int left = 4 * DEADLINE_MS;

	child->seen = load(WORD, 4);
	child->pid = syscall(SYS_getpid);
	for (; child->ask != LEAVE && left; left--, usleep(1000)) {
		if (child->ask == NOTHING)
			continue;
		if (child->ask == WRITE)
			child->result = write_event(0, "12345678", 8);
		if (child->ask == UNREGISTER)
			child->result = unregister_word(WORD, BIT);
		child->seen = load(WORD, 4);
		child->ask = NOTHING;
	}
	_exit(0);
}

/* A child that ends with its parent. */
static long fork_one(long unused)
{
	if (plain_fork())
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	live();
	return 0;
}

static int share_memory(void *unused)
{
	live();
	return 0;
}

/* Load the words of all pages, until the test ends the round. */
static void watch_pages(int watcher, long round)
{
	__u64 all, any;
	unsigned int phase;
	int i;

	while (shared->number[6] < round) {
		phase = shared->phase;
		all = load(IN_PAGE(0), 4);
		any = all;
		for (i = 1; i < PAGES; i++) {
			all &= load(IN_PAGE(i), 4);
			any |= load(IN_PAGE(i), 4);
		}
		judge(watcher, phase, phase % 4 == IN ? all : any, 0, BIT_SET);
	}
}

/* Each round has a child, whose pages are the parent's until one writes. */
static long fork_rounds(long rounds)
{
	long round;
	pid_t pid;

	for (round = 1; round <= rounds; round++) {
		pid = plain_fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			shared->number[5] = round;
			watch_pages(1, round);
			_exit(0);
		}
		watch_pages(0, round);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static bool map_pages(int pages)
{
	return mmap(PLACE, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == PLACE;
}

/* Register a word in each page; the result is that of the last one. */
static long register_pages(long unused)
{
	long i, ret = 0;

	if (!map_pages(PAGES))
		return -errno;
	for (i = 0; i < PAGES && !ret; i++)
		ret = register_word(0, IN_PAGE(i), 4, BIT);
	return ret;
}

static void *watch_on(void *watcher)
{
	while (!shared->quit)
		watch((long)watcher, WORD, 4, 0, BIT_SET);
	return NULL;
}

/* Threads count in the bits below the event's. */
static long strike_all(long unused)
{
	pthread_t threads[STRIKERS];

	begin_blows(threads);
	end_blows(threads);
	return 0;
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

/* @run is the address of a run_fn. */
static long begin_sharer(long run)
{
	return ((run_fn *)run)(share_memory, NULL);
}

static long watch_by_threads(long unused)
{
	run(watch_on, WATCHERS);
	return 0;
}

/* Advice for the pages of area and of the file. */
static long advise(long advice)
{
	return madvise(area, sizeof(area), advice) |
	       madvise(in_file, sizeof(in_file), advice);
}

static void start_here(struct target *target)
{
	child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(child != MAP_FAILED, "mmap");
	start_words(target);
}

static void ask_child(enum ask what)
{
	child->ask = what;
	need(until(child->ask == NOTHING), "an answer of the child");
}

static __u64 sees(struct target *target)
{
	return look(target, WORD, 4);
}

/* One bit of a word whose other bits are @before. */
static void check_bit(struct target *target, unsigned char *at, int size,
		      int bit, __u64 before)
{
	__u64 one = 1ULL << bit;

	put(target, at, size, before);
	have_registered(target, 0, at, size, bit);
	is(before, shared->seen, "a word that is registered");
	enable(0, true);
	is(before | one, look(target, at, size), "  enabled");
	is(-EADDRINUSE, order_event(target, SELF, register_ordered, 0, at, size, bit),
	   "  registered once more");
	enable(0, false);
	is(before, look(target, at, size), "  disabled");
	enable(0, true);
	have_unregistered(target, at, size, bit);
	is(before, shared->seen, "  unregistered while enabled");
	is(-ENOENT, order_event(target, SELF, unregister_ordered, 0, at, size, bit),
	   "  unregistered once more");
	have_registered(target, 0, at, size, bit);
	is(before | one, shared->seen, "  registered while enabled");
	have_unregistered(target, at, size, bit);
	enable(0, false);
	is(before, look(target, at, size), "  no longer registered");
}

TEST_F(events, bits)
{
	static const int bits[] = { 0, 1, 30, 31, 32, 63 };
	struct target target;
	size_t i;

	start_here(&target);
	/* The event is not to end with the word. */
	have_word(&target, 0);
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		__u64 one = 1ULL << bits[i];

		holds(true, "bit %d", bits[i]);
		check_bit(&target, area + 2 * PAGE - 8, 8, bits[i], ~one);
		check_bit(&target, area + 2 * PAGE, 8, bits[i], 0);
		if (bits[i] >= 32)
			continue;
		check_bit(&target, area + 2 * PAGE - 4, 4, bits[i],
			  (__u32)~one);
		check_bit(&target, area + 2 * PAGE + 4, 4, bits[i], 0);
	}
	stop(&target);
}

/* Several events in one word, and several words of one event. */
TEST_F(events, several_events)
{
	struct target target;
	int i;

	start_here(&target);
	for (i = 0; i < EVENTS; i++) {
		have_registered(&target, i, WORD, 4, 10 + i);
		have_registered(&target, i, WORD + 64, 8, 40 + i);
	}
	enable(0, true);
	enable(2, true);
	is(5 << 10, sees(&target), "bits of two events of three");
	is(5ULL << 40, look(&target, WORD + 64, 8), "and in another word");
	is(4, have_written(&target, SELF, 0, 4), "one can be written");
	is(-EBADF, have_written(&target, SELF, 1, 4), "the other one not");
	enable(0, false);
	enable(1, true);
	is(6 << 10, sees(&target), "bits of two others");
	is(6ULL << 40, look(&target, WORD + 64, 8), "and in another word");
	enable(1, false);
	enable(2, false);
	is(0, sees(&target), "no bit");
	stop(&target);
}

/* The memory of a stopped process has the word, and its line says so. */
static void is_in_memory(pid_t pid, __u64 want, const char *text)
{
	is(want, read_word(pid, WORD, 4), text);
	if (!access(PROCESSES, F_OK))
		is(want ? IS_ENABLED : IS_OFF, process_state(0, pid),
		   "  as user_events_processes says");
}

TEST_F(events, stopped)
{
	struct target target;

	start_here(&target);
	have_word(&target, 0);
	freeze(target.pid);
	enable(0, true);
	is_in_memory(target.pid, BIT_SET, "enabled while stopped");
	thaw(target.pid);
	is(BIT_SET, sees(&target), "as the program sees");
	freeze(target.pid);
	enable(0, false);
	is_in_memory(target.pid, 0, "disabled while stopped");
	thaw(target.pid);
	is(0, sees(&target), "as the program sees");
	freeze(target.pid);
	enable(0, true);
	enable(0, false);
	enable(0, true);
	is_in_memory(target.pid, BIT_SET, "enabled at last");
	thaw(target.pid);
	is(BIT_SET, sees(&target), "as the program sees");
	stop(&target);
}

TEST_F(events, busy_loops)
{
	long end = end_of_toggles();
	struct target target;
	int fd, n = 0, ret = 0;

	start_here(&target);
	have_word(&target, 0);
	fd = open_enable(0);
	tell(&target, SELF, watch_by_threads, 0);
	for (; !ret && n < times(2000) && now_ms() < end; n++)
		ret = toggle_event(fd, FOR_A_LOOK);
	is(0, ret, "the event is toggled");
	holds(n > 10, "%d times", n);
	shared->quit = 1;
	hear(&target, SELF);
	are_good_looks("threads");
	stop(&target);
}

/* Words in pages that are given up, or may be in swap. */
static void check_advice(int advice, bool stopped)
{
	unsigned char * const at[] = { area + 8 * PAGE, in_file + PAGE };
	struct target target;
	int i, on;

	start_here(&target);
	for (i = 0; i < 2; i++)
		have_registered(&target, 0, at[i], 4, BIT);
	for (on = 1; on >= 0; on--) {
		is(0, have(&target, SELF, advise, advice),
		   on ? "madvise" : "madvise, enabled");
		settle(&target, SELF);
		if (stopped)
			freeze(target.pid);
		enable(0, on);
		if (stopped)
			thaw(target.pid);
		for (i = 0; i < 2; i++)
			is(on ? BIT_SET : 0, look(&target, at[i], 4),
			   i ? "  a page of the file" : "  a page");
	}
	stop(&target);
}

TEST_F(events, pages_that_are_not_there)
{
	check_advice(MADV_DONTNEED, false);
	check_advice(MADV_DONTNEED, true);
	check_advice(MADV_PAGEOUT, false);
	check_advice(MADV_PAGEOUT, true);
}

static bool both_have_looked(void)
{
	unsigned int phase = shared->phase;

	return shared->looked[0] == phase && shared->looked[1] == phase;
}

/* The words are in pages that are write-protected, in parent and child. */
TEST_F(events, pages_after_fork)
{
	const int rounds = times(40);
	struct target target;
	int fd, i;

	start_here(&target);
	need(!have(&target, SELF, register_pages, 0), "words");
	fd = open_enable(0);
	tell(&target, SELF, fork_rounds, rounds);
	for (i = 1; i <= rounds; i++) {
		need(until(shared->number[5] == i), "a child");
		need(until(both_have_looked()), "looks while disabled");
		shared->phase++;
		need(!switch_event(fd, true), "enable");
		shared->phase++;
		need(until(both_have_looked()), "looks while enabled");
		shared->phase++;
		need(!switch_event(fd, false), "disable");
		shared->phase++;
		need(until(both_have_looked()), "looks while disabled again");
		shared->number[6] = i;
	}
	hear(&target, SELF);
	are_good_looks("parents and children");
	stop(&target);
}

TEST_F(events, fork_keeps)
{
	struct target target;

	start_here(&target);
	have_word(&target, 0);
	enable(0, true);
	have(&target, SELF, fork_one, 0);
	need(until(child->pid), "a child");
	is(BIT_SET, child->seen, "the first look of the child");
	ask_child(WRITE);
	is(8, child->result, "the child writes an event");
	enable(0, false);
	ask_child(WRITE);
	is(0, child->seen, "disabled");
	is(-EBADF, child->result, "and not written");
	is(0, sees(&target), "nor has the parent a bit");
	enable(0, true);
	ask_child(UNREGISTER);
	is(0, child->result, "unregistered in the child");
	is(0, child->seen, "which has no bit");
	is(BIT_SET, sees(&target), "and the parent keeps it");
	enable(0, false);
	enable(0, true);
	ask_child(LOOK);
	is(0, child->seen, "the child's word is no longer written");
	ask_child(UNREGISTER);
	is(-ENOENT, child->result, "nor is it registered");
	stop(&target);
}

/* A process shares the memory of the target, by vfork(2) or CLONE_VM. */
static void check_shared(run_fn *run)
{
	struct target target;

	start_here(&target);
	have_word(&target, 0);
	tell(&target, SELF, begin_sharer, (long)run);
	need(until(child->pid), "a child");
	is(0, child->seen, "the memory is the same");
	enable(0, true);
	ask_child(WRITE);
	is(BIT_SET, child->seen, "enabled");
	is(8, child->result, "and written");
	enable(0, false);
	ask_child(LOOK);
	is(0, child->seen, "disabled");
	enable(0, true);
	child->ask = LEAVE;
	hear(&target, SELF);
	have(&target, SELF, reap, 0);
	is(BIT_SET, sees(&target), "the child's end takes nothing");
	enable(0, false);
	is(0, sees(&target), "but disabling does");
	stop(&target);
}

TEST_F(events, vfork)
{
	check_shared(run_in_vfork);
}

TEST_F(events, clone_vm)
{
	check_shared(run_in_clone);
}

/* The program that was executed: number[1] is its order. */
static int be_executed(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(event[0].name, sizeof(event[0].name), "%s", getenv("EVENT"));
	if (mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != PLACE)
		return 1;
	shared->seen = load(IN_PLACE, 4);
	shared->number[0] = 1;
	for (;; usleep(1000)) {
		if (shared->number[1] == NOTHING)
			continue;
		if (shared->number[1] == WRITE)
			shared->result = register_word(0, IN_PLACE, 4, BIT);
		shared->seen = load(IN_PLACE, 4);
		shared->number[1] = NOTHING;
	}
}

static __u64 ask_program(enum ask what)
{
	shared->number[1] = what;
	need(until(shared->number[1] == NOTHING), "an answer of the program");
	return shared->seen;
}

/* A new program has no registered words, even at the same address. */
TEST_F(events, exec)
{
	struct target target;

	setenv("EVENT", event[0].name, 1);
	start_here(&target);
	have(&target, SELF, map_new_page, 0);
	have_registered(&target, 0, IN_PLACE, 4, BIT);
	enable(0, true);
	is(BIT_SET, look(&target, IN_PLACE, 4), "a word");
	tell(&target, SELF, become_program, (long)"look");
	need(until(shared->number[0]), "another program");
	is(0, shared->seen, "the program has no bit");
	enable(0, false);
	/* An event without users is deleted. */
	is(0, ask_program(LOOK), "nor when the event is disabled");
	is(0, ask_program(WRITE), "it registers its own word");
	is(0, shared->result, "which works");
	enable(0, true);
	is(BIT_SET, ask_program(LOOK), "and is enabled");
	enable(0, false);
	is(0, ask_program(LOOK), "and disabled");
	stop(&target);
}

/* Threads count in the bits below; each count is kept. */
TEST_F_TIMEOUT(events, counts_below_the_bit, LONG_TIMEOUT)
{
	const int most = times(5000);
	long end = end_of_toggles();
	int fd, i, n, wrong = 0, errors = 0;
	struct target target;
	__u64 sum = 0;

	blows[0] = (struct blows){ WORD, 4, 1 << 20, 0 };
	blows[1] = blows[0];
	start_here(&target);
	have_word(&target, 0);
	fd = open_enable(0);
	tell(&target, SELF, strike_all, 0);
	for (n = 0; n < most && now_ms() < end; n++) {
		errors += !!switch_event(fd, true);
		if (!(n % 16))
			wrong += !(read_word(target.pid, WORD, 4) & BIT_SET);
		errors += !!switch_event(fd, false);
	}
	need(until(shared->looks > 100), "counts of the threads");
	shared->quit = 1;
	hear(&target, SELF);
	holds(n > 20, "%d times on and off", n);
	is(0, errors, "without an error");
	is(0, wrong, "an enabled event has its bit");
	holds(true, "%ld thousands of counts", shared->looks);
	for (i = 0; i < STRIKERS; i++)
		sum += shared->number[i];
	is(sum, sees(&target), "the count is the sum of all threads");
	stop(&target);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "look")) {
		share_again(argv[2]);
		return be_executed();
	}
	return test_harness_run(argc, argv);
}
