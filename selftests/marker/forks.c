// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: children and other programs
 *
 * A child loads the words before it does anything else, and writes what it
 * has seen to memory that it shares with the test.
 */
#include <sys/mman.h>

#include "words.h"

#define BIT		UTRACE_WORD_BIT32
#define COUNT		UTRACE_WORD_COUNT16

#define BIT_SET		0x80000000

/* A bit that is only the tracer's, and a count that the program has, too. */
#define WORD		(area + PAGE)
#define SEMAPHORE	(area + PAGE + 66)
#define OWN_COUNT	7

/* What the test asks of a child of the target. */
enum ask { NOTHING, LOOK, ADD, MAP, LEAVE };

struct birth {
	_Atomic pid_t pid;
	_Atomic __u64 word, semaphore;		/* the last values that it has loaded */
	_Atomic int ask;
};

#define BIRTHS	16

static struct birth *births;

static void see(struct birth *own, const void *word, const void *semaphore)
{
	own->word = load(word, 4);
	own->semaphore = load(semaphore, 2);
}

/* Load both words, as the first thing in a child; they may be at PLACE. */
static void be_born(int i, bool at_place)
{
	see(&births[i], at_place ? PLACE : WORD,
	    at_place ? PLACE + 66 : SEMAPHORE);
	births[i].pid = syscall(SYS_getpid);
}

/* Serve the test until it says LEAVE, or exits. */
static void live(int i, bool at_place)
{
	struct birth *own = &births[i];
	int left = 4 * DEADLINE_MS;

	for (; own->ask != LEAVE && left; left--, usleep(1000)) {
		if (own->ask == NOTHING)
			continue;
		if (own->ask == MAP &&
		    mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE)
			break;
		if (own->ask == ADD)
			add_to(at_place ? PLACE + 66 : SEMAPHORE, 2, 2);
		see(own, at_place ? PLACE : WORD,
		    at_place ? PLACE + 66 : SEMAPHORE);
		own->ask = NOTHING;
	}
	_exit(0);
}

/* A child that ends with its parent. */
static long fork_one(long i)
{
	if (plain_fork())
		return 0;
	be_born(i, false);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	live(i, false);
	return 0;
}

/* A child that ends with its parent and loads PLACE, which may be unmapped. */
static long fork_at_place(long is_there)
{
	if (plain_fork())
		return 0;
	if (is_there)
		be_born(0, true);
	births[0].pid = syscall(SYS_getpid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	live(0, true);
	return 0;
}

/* Each child has a child. */
static void fork_deep(int i, int depth)
{
	if (plain_fork())
		return;
	be_born(i, false);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (depth > 1)
		fork_deep(i + 1, depth - 1);
	live(i, false);
}

/* A process that does not end with its parent, whose memory it may share. */
static int be_lasting(void *unused)
{
	be_born(0, false);
	live(0, false);
	return 0;
}

/* If the caller has only the memory of the target, it may have no engine of the tracer. */
static int fork_lasting(void *unused)
{
	if (!plain_fork())
		be_lasting(NULL);
	return 0;
}

static void run_true(void)
{
	char * const argv[] = { "true", NULL };
	char * const envp[] = { NULL };
	int status = -1;
	pid_t pid = vfork();

	if (!pid) {
		execve("/bin/true", argv, envp);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	shared->result = status;
}

/* number[]: programs that have failed, and all. */
static long execute_many(long unused)
{
	while (!shared->quit) {
		unsigned int phase = shared->phase;

		run_true();
		judge(0, phase, load(WORD, 4), 0, BIT_SET);
		shared->number[0] += !!shared->result;
		watch(0, WORD, 4, 0, BIT_SET);
		shared->number[1]++;
	}
	return 0;
}

/*
 * Each child loads the words at once and 1 ms later; they have the program's part only.
 * number[]: children, those that were right, and the parent's loads of the bit.
 */
static long fork_many(long n)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < n; i++) {
		shared->number[2] += load(WORD, 4) == BIT_SET;
		pid = plain_fork();
		if (!pid) {
			bool good = !load(WORD, 4) &&
				    load(SEMAPHORE, 2) == OWN_COUNT;

			usleep(1000);
			_exit(!(good && !load(WORD, 4) &&
				load(SEMAPHORE, 2) == OWN_COUNT));
		}
		if (pid > 0 && waitpid(pid, &status, 0) == pid && !status)
			shared->number[1]++;
		shared->number[0]++;
	}
	return 0;
}

/* A child of a batch: load the words at once, and again when nothing is armed. */
static void be_in_batch(unsigned int phase, int batch)
{
	__u64 count;

	judge(0, phase, load(WORD, 4), 0, BIT_SET);
	count = load(SEMAPHORE, 2);
	shared->number[3] += count != OWN_COUNT && count != OWN_COUNT + 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->number[4]++;
	while (shared->number[5] < batch)
		usleep(1000);
	_exit(load(WORD, 4) || load(SEMAPHORE, 2) != OWN_COUNT);
}

#define BATCH	10

/*
 * Children that keep the words.  number[]: 0: batches that are complete.  1:
 * children that were right in the end.  3: wrong counts.  4: children that have
 * looked.  5: batches that may leave.  6: batches that may begin.
 */
static long fork_batches(long n)
{
	unsigned int phase;
	int i, j, status;

	for (i = 1; i <= n; i++) {
		while (shared->number[6] < i)
			usleep(1000);
		for (j = 0; j < BATCH; j++) {
			phase = shared->phase;
			if (!plain_fork())
				be_in_batch(phase, i);
		}
		shared->number[0] = i;
		for (j = 0; j < BATCH; j++)
			if (wait(&status) > 0 && !status)
				shared->number[1]++;
	}
	return 0;
}

static long map_place(long advice)
{
	if (mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE ||
	    madvise(PLACE, PAGE, advice))
		_exit(94);
	store(PLACE + 66, 2, OWN_COUNT);
	return 0;
}

static long fork_generations(long depth)
{
	fork_deep(0, depth);
	return 0;
}

/* @run is the address of a run_fn. */
static long begin_lasting(long run)
{
	return ((run_fn *)run)(be_lasting, NULL);
}

static long begin_fork_lasting(long run)
{
	return ((run_fn *)run)(fork_lasting, NULL);
}

static void start_here(struct target *target)
{
	births = mmap(NULL, BIRTHS * sizeof(*births), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(births != MAP_FAILED, "mmap");
	start_words(target);
	put(target, SEMAPHORE, 2, OWN_COUNT);
}

/* Have a child do something; births[i] has the values that it loads then. */
static void ask_child(int i, enum ask what)
{
	births[i].ask = what;
	need(until(births[i].ask == NOTHING), "an answer of the child");
}

/* Check the values that a child has loaded: the tracers' part, and the program's own. */
static void has_seen(int i, bool bit, int tracers, int own, const char *text)
{
	is(bit ? BIT_SET : 0, births[i].word, text);
	is(tracers + own, births[i].semaphore, "  and so is the count");
}

static void has_born(int i)
{
	need(until(births[i].pid), "a child");
}

static int open_and_arm(struct target *target, __u32 scope)
{
	int fd = words_open(target->pid, scope);

	arm(fd, WORD, BIT, 31);
	arm(fd, SEMAPHORE, COUNT, 0);
	return fd;
}

/* A child of fork(2) has the words, or starts without them. */
static void check_fork(__u32 scope)
{
	bool kept = scope == UTRACE_SCOPE_TREE;
	struct utrace_armed row;
	struct target target;
	int fd;

	start_here(&target);
	fd = open_and_arm(&target, scope);
	have(&target, SELF, fork_one, 0);
	has_born(0);
	has_seen(0, kept, kept, OWN_COUNT, "the first look of the child");
	is(BIT_SET, look(&target, WORD, 4), "the parent has the bit");
	is(OWN_COUNT + 1, look(&target, SEMAPHORE, 2), "and the count");
	is(kept ? 4 : 2, words_total(fd), "words in the list");
	is(kept, find_word(fd, births[0].pid, WORD, &row), "also the child's");
	ask_child(0, ADD);
	has_seen(0, kept, kept, OWN_COUNT + 2, "the child counts itself");
	disarm(fd, WORD, BIT, 31);
	disarm(fd, SEMAPHORE, COUNT, 0);
	ask_child(0, LOOK);
	has_seen(0, false, 0, OWN_COUNT + 2, "taken back in the child");
	is(0, look(&target, WORD, 4), "and in the parent");
	is(OWN_COUNT, look(&target, SEMAPHORE, 2), "with another count");
	is(0, words_total(fd), "no words in the list");
	close(fd);
	stop(&target);
}

TEST_F(dev, fork_keeps)
{
	check_fork(UTRACE_SCOPE_TREE);
}

TEST_F(dev, fork_starts_without)
{
	check_fork(UTRACE_SCOPE_PROCESS);
}

/* The end of the descriptor, in all descendants. */
TEST_F(dev, deep_forks)
{
	struct target target;
	int fd, i;

	start_here(&target);
	fd = open_and_arm(&target, UTRACE_SCOPE_TREE);
	have(&target, SELF, fork_generations, 4);
	for (i = 0; i < 4; i++) {
		has_born(i);
		has_seen(i, true, 1, OWN_COUNT, "a descendant keeps the bit");
	}
	is(10, words_total(fd), "words in the list");
	close(fd);
	for (i = 0; i < 4; i++) {
		ask_child(i, LOOK);
		has_seen(i, false, 0, OWN_COUNT, "and has the bit no more");
	}
	is(0, look(&target, WORD, 4), "nor has the first one");
	stop(&target);
}

/* With a process scope descendants start without the words, and lose nothing later. */
TEST_F(dev, deep_forks_without)
{
	struct target target;
	int fd, i;

	start_here(&target);
	fd = open_and_arm(&target, UTRACE_SCOPE_PROCESS);
	have(&target, SELF, fork_generations, 3);
	for (i = 0; i < 3; i++) {
		has_born(i);
		has_seen(i, false, 0, OWN_COUNT, "a descendant has no bit");
	}
	close(fd);
	for (i = 0; i < 3; i++) {
		ask_child(i, LOOK);
		has_seen(i, false, 0, OWN_COUNT, "as after the end");
	}
	is(0, look(&target, WORD, 4), "the first one has the bit no more");
	is(OWN_COUNT, look(&target, SEMAPHORE, 2), "and its own count");
	stop(&target);
}

TEST_F(dev, both_scopes)
{
	struct target target;
	int tree, process;

	start_here(&target);
	tree = open_and_arm(&target, UTRACE_SCOPE_TREE);
	process = open_and_arm(&target, UTRACE_SCOPE_PROCESS);
	have(&target, SELF, fork_one, 0);
	has_born(0);
	has_seen(0, true, 1, OWN_COUNT, "the child has the words of one");
	is(OWN_COUNT + 2, look(&target, SEMAPHORE, 2), "the parent of both");
	disarm(tree, WORD, BIT, 31);
	disarm(tree, SEMAPHORE, COUNT, 0);
	ask_child(0, LOOK);
	has_seen(0, false, 0, OWN_COUNT, "the child has none");
	is(BIT_SET, look(&target, WORD, 4), "the parent of the other one");
	is(OWN_COUNT + 1, look(&target, SEMAPHORE, 2), "and that count");
	have(&target, SELF, fork_one, 1);
	has_born(1);
	has_seen(1, false, 0, OWN_COUNT, "a child starts without");
	close(process);
	close(tree);
	is(0, look(&target, WORD, 4), "the parent has none");
	is(OWN_COUNT, look(&target, SEMAPHORE, 2), "nor a count");
	ask_child(1, LOOK);
	has_seen(1, false, 0, OWN_COUNT, "nor the child");
	stop(&target);
}

/* A child of a page of which it has nothing, or zeros. */
static void check_advice(__u32 scope, int advice)
{
	bool kept = scope == UTRACE_SCOPE_TREE;
	bool wiped = advice == MADV_WIPEONFORK;
	struct target target;
	int fd;

	start_here(&target);
	have(&target, SELF, map_place, advice);
	fd = words_open(target.pid, scope);
	arm(fd, PLACE, BIT, 31);
	arm(fd, PLACE + 66, COUNT, 0);
	have(&target, SELF, fork_at_place, wiped);
	has_born(0);
	if (!wiped)
		ask_child(0, MAP);
	has_seen(0, kept, kept, 0, wiped ? "the first look" : "a new page");
	is(OWN_COUNT + 1, look(&target, PLACE + 66, 2), "the parent has more");
	close(fd);
	ask_child(0, LOOK);
	has_seen(0, false, 0, 0, "taken back");
	is(OWN_COUNT, look(&target, PLACE + 66, 2), "and in the parent");
	is(0, look(&target, PLACE, 4), "and there is no bit");
	stop(&target);
}

TEST_F(dev, wiped_page)
{
	check_advice(UTRACE_SCOPE_TREE, MADV_WIPEONFORK);
}

TEST_F(dev, wiped_page_starts_without)
{
	check_advice(UTRACE_SCOPE_PROCESS, MADV_WIPEONFORK);
}

TEST_F(dev, missing_page)
{
	check_advice(UTRACE_SCOPE_TREE, MADV_DONTFORK);
}

TEST_F(dev, missing_page_starts_without)
{
	check_advice(UTRACE_SCOPE_PROCESS, MADV_DONTFORK);
}

/* A process shares the memory of the target, by vfork(2) or CLONE_VM. */
static void check_shared(__u32 scope, run_fn *run)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = open_and_arm(&target, scope);
	tell(&target, SELF, begin_lasting, (long)run);
	has_born(0);
	has_seen(0, true, 1, OWN_COUNT, "the memory is the same");
	is(2, words_total(fd), "one set of words");
	disarm(fd, WORD, BIT, 31);
	disarm(fd, SEMAPHORE, COUNT, 0);
	ask_child(0, LOOK);
	has_seen(0, false, 0, OWN_COUNT, "taken back");
	arm(fd, SEMAPHORE, COUNT, 0);
	arm(fd, WORD, BIT, 31);
	ask_child(0, LOOK);
	has_seen(0, true, 1, OWN_COUNT, "armed again");
	births[0].ask = LEAVE;
	hear(&target, SELF);
	have(&target, SELF, reap, 0);
	is(BIT_SET, look(&target, WORD, 4), "the child's end takes nothing");
	close(fd);
	is(0, look(&target, WORD, 4), "but that of the descriptor");
	is(OWN_COUNT, look(&target, SEMAPHORE, 2), "and the count");
	stop(&target);
}

TEST_F(dev, vfork)
{
	check_shared(UTRACE_SCOPE_PROCESS, run_in_vfork);
	check_shared(UTRACE_SCOPE_TREE, run_in_vfork);
}

TEST_F(dev, clone_vm)
{
	check_shared(UTRACE_SCOPE_PROCESS, run_in_clone);
	check_shared(UTRACE_SCOPE_TREE, run_in_clone);
}

/* The copy of the memory is made by a process that only has the memory. */
static void check_grandchild(__u32 scope, run_fn *run)
{
	bool kept = scope == UTRACE_SCOPE_TREE;
	struct target target;
	int fd;

	start_here(&target);
	fd = open_and_arm(&target, scope);
	have(&target, SELF, begin_fork_lasting, (long)run);
	has_born(0);
	has_seen(0, kept, kept, OWN_COUNT, "the first look of the grandchild");
	is(kept ? 4 : 2, words_total(fd), "words in the list");
	is(BIT_SET, look(&target, WORD, 4), "the target has the bit");
	close(fd);
	ask_child(0, LOOK);
	has_seen(0, false, 0, OWN_COUNT, "closed: the grandchild");
	is(0, look(&target, WORD, 4), "closed: the target");
	births[0].ask = LEAVE;
	have(&target, SELF, reap, 0);
	stop(&target);
}

TEST_F(dev, fork_of_a_vfork)
{
	check_grandchild(UTRACE_SCOPE_PROCESS, run_in_vfork);
	check_grandchild(UTRACE_SCOPE_TREE, run_in_vfork);
}

TEST_F(dev, fork_of_a_clone_vm)
{
	check_grandchild(UTRACE_SCOPE_PROCESS, run_in_clone);
	check_grandchild(UTRACE_SCOPE_TREE, run_in_clone);
}

/* The copy of the memory is made by a process that nobody traces, and that has the memory. */
static void check_child_of_sharer(__u32 scope)
{
	struct target target;
	int fd, i;

	start_here(&target);
	have(&target, SELF, begin_lasting, (long)run_in_clone);
	has_born(0);
	fd = words_open(births[0].pid, scope);
	arm(fd, WORD, BIT, 31);
	arm(fd, SEMAPHORE, COUNT, 0);
	have(&target, SELF, fork_one, 1);
	has_born(1);
	has_seen(1, false, 0, OWN_COUNT, "the first look of a child that is not traced");
	is(BIT_SET, look(&target, WORD, 4), "the shared memory has the bit");
	ask_child(0, LOOK);
	has_seen(0, true, 1, OWN_COUNT, "the process that is traced");
	is(2, words_total(fd), "words in the list");
	close(fd);
	is(0, look(&target, WORD, 4), "closed: the shared memory");
	for (i = 0; i < 2; i++) {
		births[i].ask = LEAVE;
		have(&target, SELF, reap, 0);
	}
	stop(&target);
}

TEST_F(dev, child_of_an_untraced_sharer)
{
	check_child_of_sharer(UTRACE_SCOPE_PROCESS);
	check_child_of_sharer(UTRACE_SCOPE_TREE);
}

/* The process ends, and its memory does not. */
static void check_survivor(__u32 scope)
{
	struct target target;
	int fd;

	need(!prctl(PR_SET_CHILD_SUBREAPER, 1), "subreaper");
	start_here(&target);
	fd = open_and_arm(&target, scope);
	have(&target, SELF, begin_lasting, (long)run_in_clone);
	has_born(0);
	tell(&target, SELF, exit_with, 0);
	is(0, status_of(target.pid), "the process has ended");
	close(fd);
	ask_child(0, LOOK);
	has_seen(0, false, 0, OWN_COUNT, "its memory has no words");
	births[0].ask = LEAVE;
	is(0, status_of(births[0].pid), "as seen by the other process");
	stop(&target);
}

TEST_F(dev, survivor_with_the_memory)
{
	check_survivor(UTRACE_SCOPE_PROCESS);
	check_survivor(UTRACE_SCOPE_TREE);
}

/* Another program: its memory at the address has none of the words. */
static void check_exec(__u32 scope, enum who who)
{
	struct target target;
	int fd;

	start_here(&target);
	shared->number[0] = 0;
	shared->number[1] = NOTHING;
	have(&target, SELF, map_place, MADV_NORMAL);
	if (who == THREAD)
		have_more(&target, THREAD);
	fd = words_open(target.pid, scope);
	arm(fd, PLACE, BIT, 31);
	arm(fd, PLACE + 66, COUNT, 0);
	tell(&target, who, become_program, (long)"look");
	need(until(shared->number[0] == 1), "another program");
	is(0, shared->seen, "the program has no bit");
	is(OWN_COUNT, shared->value, "and only its own count");
	is(0, words_total(fd), "the words are gone");
	arm(fd, PLACE, BIT, 31);
	arm(fd, PLACE + 66, COUNT, 0);
	shared->number[1] = LOOK;
	need(until(shared->number[1] == NOTHING), "an answer");
	is(BIT_SET, shared->seen, "words can be armed in the program");
	is(OWN_COUNT + 1, shared->value, "and counts");
	close(fd);
	shared->number[1] = LOOK;
	need(until(shared->number[1] == NOTHING), "an answer");
	is(0, shared->seen, "and are taken back");
	is(OWN_COUNT, shared->value, "with the counts");
	stop(&target);
}

/* The program that was executed. */
static int be_executed(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != PLACE)
		return 1;
	add_to(PLACE + 66, 2, OWN_COUNT);
	for (;; usleep(1000)) {
		if (shared->number[0] && shared->number[1] == NOTHING)
			continue;
		shared->seen = load(PLACE, 4);
		shared->value = load(PLACE + 66, 2);
		if (!shared->number[0])
			shared->number[0] = 1;
		else
			shared->number[1] = NOTHING;
	}
}

TEST_F(dev, exec)
{
	check_exec(UTRACE_SCOPE_PROCESS, SELF);
	check_exec(UTRACE_SCOPE_TREE, SELF);
}

TEST_F(dev, exec_of_a_thread)
{
	check_exec(UTRACE_SCOPE_PROCESS, THREAD);
	check_exec(UTRACE_SCOPE_TREE, THREAD);
}

/* Children execute programs while a word of the parent is toggled. */
TEST_F_TIMEOUT(dev, exec_storm, LONG_TIMEOUT)
{
	const int programs = times(100);
	struct target target;
	int fd, i, ret = 0;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_TREE);
	tell(&target, SELF, execute_many, 0);
	for (i = 0; shared->number[1] < programs && !ret; i++)
		ret = toggle(fd, WORD, BIT, 31, i % 50 ? NO_WAIT : FOR_A_LOOK);
	is(0, ret, "the bit is toggled");
	shared->quit = 1;
	hear(&target, SELF);
	is(0, shared->number[0], "no program has failed");
	are_good_looks("the parent");
	is(0, words_total(fd), "no word is left");
	close(fd);
	stop(&target);
}

/* How often toggle_until() has toggled the words. */
static long toggles;

/* Toggle both words until number[0] is reached.  The phase is of the bit. */
static int toggle_until(int fd, long reached)
{
	int ret = 0;

	while (shared->number[0] < reached && !ret) {
		if (!is_given(word_arm(fd, SEMAPHORE, COUNT, 0)))
			return -EPROTO;
		ret = toggle(fd, WORD, BIT, 31, NO_WAIT) ?:
		      word_disarm(fd, SEMAPHORE, COUNT, 0);
		toggles++;
	}
	return ret;
}

/* A batch whose children are all forked while the words are there. */
static void calm_batch(int fd, int batch)
{
	arm(fd, SEMAPHORE, COUNT, 0);
	arm(fd, WORD, BIT, 31);
	shared->phase += IN;
	shared->number[6] = batch;
	need(until(shared->number[4] == batch * BATCH), "first looks");
	shared->phase++;
	disarm(fd, WORD, BIT, 31);
	disarm(fd, SEMAPHORE, COUNT, 0);
	shared->phase++;
}

/* No child of the storm has anything of the words at any time. */
TEST_F_TIMEOUT(dev, fork_storm_without, LONG_TIMEOUT)
{
	const int forks = times_if_fast(4000);
	struct target target;
	int fd;

	start_here(&target);
	fd = open_and_arm(&target, UTRACE_SCOPE_PROCESS);
	tell(&target, SELF, fork_many, forks);
	need(until(shared->number[0] >= 10), "forks while the words are there");
	disarm(fd, WORD, BIT, 31);
	disarm(fd, SEMAPHORE, COUNT, 0);
	is(0, toggle_until(fd, forks), "the words are toggled");
	holds(toggles >= forks, "%ld times", toggles);
	hear(&target, SELF);
	is(forks, shared->number[0], "children were there");
	is(forks, shared->number[1], "and each has seen nothing of the words");
	holds(shared->number[2] >= 10, "which the parent had: %ld times",
	      shared->number[2]);
	is(0, look(&target, WORD, 4), "the parent has no bit in the end");
	is(OWN_COUNT, look(&target, SEMAPHORE, 2), "nor a count");
	close(fd);
	stop(&target);
}

/* Each child has the words as they were, and none in the end. */
TEST_F_TIMEOUT(dev, fork_storm_with, LONG_TIMEOUT)
{
	const int batches = times_if_fast(600);
	struct target target;
	int fd, i, ret = 0;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_TREE);
	tell(&target, SELF, fork_batches, batches);
	for (i = 1; i <= batches && !ret; i++) {
		if (i % 8 == 1) {
			calm_batch(fd, i);
		} else {
			shared->number[6] = i;
			ret = toggle_until(fd, i);
		}
		need(until(shared->number[4] == i * BATCH), "first looks");
		if (i == batches)
			holds(until(!words_total(fd)), "no word is left");
		shared->number[5] = i;
	}
	is(0, ret, "the words are toggled");
	holds(toggles >= 10 * batches, "%ld times", toggles);
	hear(&target, SELF);
	are_good_looks("children, at first");
	is(0, shared->number[3], "counts at first");
	is(batches * BATCH, shared->number[1], "no child has one in the end");
	is(0, look(&target, WORD, 4), "the parent has no bit in the end");
	is(OWN_COUNT, look(&target, SEMAPHORE, 2), "nor a count");
	close(fd);
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
