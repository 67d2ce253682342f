// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: ids, kinds, several tracers, lists
 */
#include "words.h"
#include "../dev/asleep.h"

#define BIT		UTRACE_WORD_BIT32
#define COUNT16		UTRACE_WORD_COUNT16
#define COUNT32		UTRACE_WORD_COUNT32

#define BIT_SET		0x80000000

/* The word that most tests arm; no other word of area is in its page. */
#define WORD		(area + PAGE)
#define OTHER		(area + PAGE + 64)

/* Pages of the file of this program. */
static unsigned char in_file[3 * PAGE] __attribute__((aligned(PAGE))) = { 1 };

TEST_F(dev, twice)
{
	struct target target;
	int fd, other;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	other = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	is(-ENOENT, word_disarm(fd, WORD, BIT, 31), "not armed yet");
	arm(fd, WORD, BIT, 31);
	is(-EEXIST, word_arm(fd, WORD, BIT, 31), "armed already");
	is(-ENOENT, word_disarm(other, WORD, BIT, 31), "another has not");
	is(-ENOENT, word_disarm(fd, WORD, UTRACE_WORD_BIT32, 30),
	   "another bit");
	is(-ENOENT, word_disarm(fd, WORD + 4, BIT, 31), "another address");
	is(1, words_total(fd), "there is one word");
	arm(fd, WORD, UTRACE_WORD_BIT32, 0);
	is(0x80000001, look(&target, WORD, 4), "two bits of one word");
	disarm(fd, WORD, BIT, 31);
	is(-ENOENT, word_disarm(fd, WORD, BIT, 31), "disarmed already");
	is(1, look(&target, WORD, 4), "the other bit stays");
	arm(fd, WORD, BIT, 31);
	is(0x80000001, look(&target, WORD, 4), "armed again");
	close(other);
	close(fd);
	is(0, look(&target, WORD, 4), "and taken back");
	stop(&target);
}

/* The session gives each id once. */
TEST_F(dev, ids)
{
	struct target target;
	__u32 first, second, third, failed, again;
	int fd, other;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	other = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	need(word_arm_for(fd, WORD_TARGET, WORD, BIT, 31, &first) >= 0 &&
	     word_arm_for(fd, WORD_TARGET, OTHER, BIT, 31, &second) >= 0, "ARM");
	holds(first && second && first != second, "ids %u and %u", first, second);
	is(-ENOENT, disarm_id(other, first), "another session has not armed it");
	is(BIT_SET, look(&target, WORD, 4), "  so it stays");
	is(0, disarm_id(fd, first), "DISARM of the first one");
	is(0, look(&target, WORD, 4), "  takes it back");
	is(BIT_SET, look(&target, OTHER, 4), "  and nothing else");
	is(-ENOENT, disarm_id(fd, first), "  which is not done twice");
	need(word_arm_for(fd, WORD_TARGET, WORD, BIT, 31, &third) >= 0, "ARM");
	holds(third && third != first && third != second, "the next id is %u", third);
	is(-ENOENT, disarm_id(fd, first), "the old id is not that of the same word");
	is(BIT_SET, look(&target, WORD, 4), "  which stays");
	is(UTRACE_ARM_STATE_FAILED, word_arm_for(fd, WORD_TARGET, PLACE, BIT, 31, &failed),
	   "a word that fails");
	holds(failed && failed != first && failed != second && failed != third,
	      "  has an id, too: %u", failed);
	is(UTRACE_ARM_STATE_FAILED, word_arm_for(fd, WORD_TARGET, PLACE, BIT, 31, &again),
	   "  fails again");
	is(failed, again, "  and keeps its id");
	is(3, words_total(fd), "there are three words");
	is(0, disarm_id(fd, failed), "  of which this is disarmed");
	is(-ENOENT, disarm_id(fd, failed), "  once");
	is(2, words_total(fd), "  and two are left");
	close(other);
	close(fd);
	is(0, look(&target, WORD, 4), "closed");
	is(0, look(&target, OTHER, 4), "with all words");
	stop(&target);
}

/* Returns the number of rows that LIST has for a target, or -errno. */
static int total_of(int fd, __u32 target)
{
	__u32 total;

	return list_of(fd, target, NULL, 0, &total) ?: (int)total;
}

/* Each target of a session has its own words. */
TEST_F(dev, two_targets_of_a_session)
{
	struct utrace_armed row = {};
	struct target target;
	__u32 own, word, count, kept, total;
	int fd, second;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	second = attach(fd, target.pid, UTRACE_SCOPE_TREE);
	need(second > 0, "a second target");
	is(0, word_engines(target.pid), "no engine for words yet");
	need(word_arm_for(fd, WORD_TARGET, WORD, COUNT16, 0, &own) >= 0, "ARM");
	is(1, word_engines(target.pid), "one with the first ARM");
	need(word_arm_for(fd, second, WORD, COUNT16, 0, &count) >= 0 &&
	     word_arm_for(fd, second, OTHER, BIT, 31, &word) >= 0, "ARM");
	is(2, word_engines(target.pid), "and one for the other target");
	is(2, look(&target, WORD, 2), "each target has added 1");
	is(-EEXIST, word_arm_for(fd, second, WORD, COUNT16, 0, &kept), "armed already");
	holds(own != count && count != word && own != word, "ids %u, %u and %u", own,
	      count, word);
	is(1, total_of(fd, WORD_TARGET), "the first target has one word");
	is(2, total_of(fd, second), "the second one has two");
	is(1, word_list(fd, &row, 1, &total), "the list of the first");
	is(own, row.id, "  has its id");
	is(0, disarm_id(fd, own), "DISARM");
	is(1, look(&target, WORD, 2), "  leaves the count of the other");
	is(0, total_of(fd, WORD_TARGET), "  and no word in the list");
	need(word_arm_for(fd, WORD_TARGET, WORD, COUNT16, 0, &own) >= 0 &&
	     word_arm_for(fd, WORD_TARGET, OTHER, BIT, 31, &kept) >= 0, "ARM");
	is(2, look(&target, WORD, 2), "armed again");
	is(0, detach(fd, second), "DETACH");
	is(1, look(&target, WORD, 2), "  takes back a count");
	is(BIT_SET, look(&target, OTHER, 4), "  but not the bit of the other target");
	is(-ENOENT, disarm_id(fd, count), "  its ids are gone");
	is(-ENOENT, total_of(fd, second), "  and so is its list");
	is(-ENOENT, word_arm_for(fd, second, WORD, COUNT16, 0, &count), "  nor ARM");
	holds(until(word_engines(target.pid) == 1), "  and its engine");
	is(0, detach(fd, WORD_TARGET), "DETACH of the other target");
	is(0, look(&target, WORD, 2), "  takes back the count");
	is(0, look(&target, OTHER, 4), "  and the bit");
	is(-ENOENT, disarm_id(fd, own), "  its ids are gone, too");
	holds(until(!word_engines(target.pid)), "  and its engine");
	close(fd);
	stop(&target);
}

/* The process has ended: poll(2) reports POLLHUP, and ARM fails with ESRCH. */
TEST_F(dev, process_gone)
{
	struct target target;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_TREE);
	arm(fd, WORD, BIT, 31);
	is(0, poll_words(fd, 0) & POLLHUP, "no POLLHUP before the end");
	stop(&target);
	holds(until(poll_words(fd, 0) & POLLHUP), "POLLHUP when it has ended");
	is(-ESRCH, word_arm(fd, OTHER, BIT, 31), "ARM says so");
	holds(until(!words_total(fd)), "no words are left");
	is(0, close(fd), "close");
}

/* A user may not arm words in the memory of another one. */
static int arm_foreign(void *arg)
{
	struct target *target = arg;

	become_nobody();
	return -try_words(target->pid, UTRACE_SCOPE_PROCESS);
}

TEST_F(dev, foreign_process)
{
	struct target target;

	allow_users();
	start_words(&target);
	is(EPERM, in_child(arm_foreign, &target), "another user's process");
	is(0, look(&target, WORD, 4), "which is as before");
	stop(&target);
	set_unprivileged("0");
}

/* One word among memory that no one may change; @before: the word's value. */
static void check_kind(struct target *target, unsigned char *at, __u32 kind,
		       __u32 bit, int size, __u64 before, __u64 added)
{
	unsigned char *page = (void *)((uintptr_t)at & ~(PAGE - 1));
	unsigned char want[PAGE], seen[PAGE];
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);

	memset(want, 0xff, PAGE);
	store(want + (at - page), size, before);
	write_memory(target->pid, page, want, PAGE);
	arm(fd, at, kind, bit);
	is(before + added, look(target, at, size), "  the program sees it");
	store(want + (at - page), size, before + added);
	read_memory(target->pid, page, seen, PAGE);
	holds(!memcmp(want, seen, PAGE), "  all else is as before");
	disarm(fd, at, kind, bit);
	is(before, look(target, at, size), "  and it is taken back");
	store(want + (at - page), size, before);
	read_memory(target->pid, page, seen, PAGE);
	holds(!memcmp(want, seen, PAGE), "  and nothing else");
	close(fd);
}

TEST_F(dev, bits)
{
	static const __u32 some[] = { 0, 1, 15, 16, 30, 31, 32, 33, 62, 63 };
	struct target target;
	size_t i;
	__u64 one;

	start_words(&target);
	for (i = 0; i < ARRAY_SIZE(some); i++) {
		one = 1ULL << some[i];
		holds(true, "bit %u", some[i]);
		check_kind(&target, WORD + PAGE - 8, UTRACE_WORD_BIT64, some[i],
			   8, ~one, one);
		check_kind(&target, WORD, UTRACE_WORD_BIT64, some[i], 8, 0,
			   one);
		if (some[i] >= 32)
			continue;
		check_kind(&target, WORD + PAGE - 4, UTRACE_WORD_BIT32, some[i],
			   4, (__u32)~one, one);
		check_kind(&target, WORD, UTRACE_WORD_BIT32, some[i], 4, 0,
			   one);
	}
	stop(&target);
}

/* The highest bit is not the count's, and nothing carries into it. */
TEST_F(dev, counts)
{
	static const __u64 values[] = { 0, 5, 0x7ffd, 0x8000, 0x8005, 0xfffd };
	struct target target;
	size_t i, at;

	start_words(&target);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		holds(true, "a count at %#llx", values[i]);
		for (at = 0; at < 8; at += 2)
			check_kind(&target, WORD + at, COUNT16, 0, 2, values[i],
				   1);
		check_kind(&target, WORD + PAGE - 2, COUNT16, 0, 2, values[i],
			   1);
		check_kind(&target, WORD, COUNT32, 0, 4, values[i], 1);
		check_kind(&target, WORD + PAGE - 4, COUNT32, 0, 4,
			   values[i] << 16 | 0xffff, 1);
	}
	stop(&target);
}

/* The program counts in the same word. */
TEST_F(dev, counts_of_the_program)
{
	struct target target;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	add(&target, WORD, 2, 3);
	arm(fd, WORD, COUNT16, 0);
	arm(fd, OTHER, COUNT32, 0);
	is(4, look(&target, WORD, 2), "the program's 3, and 1");
	add(&target, WORD, 2, 2);
	add(&target, OTHER, 4, 100);
	is(6, look(&target, WORD, 2), "and 2 more");
	disarm(fd, WORD, COUNT16, 0);
	is(5, look(&target, WORD, 2), "the program's 5 stay");
	add(&target, WORD, 2, -5);
	is(0, look(&target, WORD, 2), "until the program takes them back");
	is(0, look(&target, WORD + 2, 2), "and there was no carry");
	is(101, look(&target, OTHER, 4), "in 32 bits, too");
	close(fd);
	is(100, look(&target, OTHER, 4), "with the end of the session");
	stop(&target);
}

TEST_F(dev, several_tracers)
{
	struct target target;
	int fd[3], i;

	start_words(&target);
	for (i = 0; i < 3; i++) {
		fd[i] = words_open(target.pid, UTRACE_SCOPE_PROCESS);
		arm(fd[i], WORD, COUNT16, 0);
		arm(fd[i], OTHER, BIT, 31);
		arm(fd[i], OTHER, UTRACE_WORD_BIT32, i);
		is(i + 1, look(&target, WORD, 2), "counts add up");
		is(0x80000000 | ((2 << i) - 1), look(&target, OTHER, 4),
		   "bits");
	}
	disarm(fd[1], WORD, COUNT16, 0);
	disarm(fd[1], OTHER, BIT, 31);
	disarm(fd[1], OTHER, UTRACE_WORD_BIT32, 1);
	is(2, look(&target, WORD, 2), "one count less");
	is(0x80000005, look(&target, OTHER, 4), "two have the bit");
	close(fd[0]);
	is(1, look(&target, WORD, 2), "one is left");
	is(0x80000004, look(&target, OTHER, 4), "which has the bit");
	arm(fd[1], OTHER, BIT, 31);
	close(fd[2]);
	is(0, look(&target, WORD, 2), "none is left");
	is(0x80000000, look(&target, OTHER, 4), "but of the bit");
	close(fd[1]);
	is(0, look(&target, OTHER, 4), "and then of that");
	stop(&target);
}

/* One bit by two names: neither name may take it from the other. */
TEST_F(dev, bit_of_two_kinds)
{
	struct target target;
	int fd, other;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	other = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD + 4, UTRACE_WORD_BIT32, 3);
	arm(other, WORD, UTRACE_WORD_BIT64, 35);
	is(8, look(&target, WORD + 4, 4), "a bit of 32 and of 64");
	disarm(fd, WORD + 4, UTRACE_WORD_BIT32, 3);
	is(8, look(&target, WORD + 4, 4), "stays for the other one");
	disarm(other, WORD, UTRACE_WORD_BIT64, 35);
	is(0, look(&target, WORD + 4, 4), "and is taken back");
	close(other);
	close(fd);
	stop(&target);
}

/* Only what was added is taken back. */
TEST_F(dev, bit_of_the_program)
{
	struct target target;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	put(&target, WORD, 4, 0x80000000);
	arm(fd, WORD, BIT, 31);
	is(0x80000000, look(&target, WORD, 4), "a bit that is set already");
	disarm(fd, WORD, BIT, 31);
	is(0x80000000, look(&target, WORD, 4), "is the program's");
	close(fd);
	stop(&target);
}

TEST_F(dev, last_copy)
{
	struct target target;
	int fd, copy;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	copy = dup(fd);
	arm(fd, WORD, BIT, 31);
	arm(fd, OTHER, COUNT16, 0);
	close(fd);
	is(0x80000000, look(&target, WORD, 4), "a copy is left");
	is(-EEXIST, word_arm(copy, WORD, BIT, 31), "which has the words");
	close(copy);
	is(0, look(&target, WORD, 4), "the last copy takes back a bit");
	is(0, look(&target, OTHER, 2), "and a count");
	stop(&target);
}

/* A tracer in a process of its own, which is killed. */
static pid_t start_tracer(struct target *target)
{
	pid_t pid;
	int fd;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, COUNT16, 0);
	arm(fd, OTHER, BIT, 31);
	shared->number[0]++;
	for (;;)
		pause();
}

TEST_F(dev, tracer_is_killed)
{
	struct target target;
	pid_t tracer[2];
	int i;

	start_words(&target);
	for (i = 0; i < 2; i++) {
		tracer[i] = start_tracer(&target);
		need(until(shared->number[0] == i + 1), "a tracer");
	}
	is(2, look(&target, WORD, 2), "two tracers");
	for (i = 0; i < 2; i++) {
		kill(tracer[i], SIGKILL);
		is(SIGKILL, status_of(tracer[i]), "one is killed");
		holds(until(look(&target, WORD, 2) == 1U - i), "a count goes");
		holds(until(look(&target, OTHER, 4) == (i ? 0 : 0x80000000)),
		      "the bit with the last one");
	}
	stop(&target);
}

/* A count that would leave its range fails, and changes nothing. */
TEST_F(dev, highest_count)
{
	struct target target;
	int fd, other;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	other = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	put(&target, WORD, 4, 0xfffeffff);
	put(&target, OTHER, 4, 0x7fffffff);
	fails(ERANGE, fd, WORD, COUNT16, 0, "32767, and the bit above");
	fails(ERANGE, fd, OTHER, COUNT32, 0, "2^31 - 1");
	arm(fd, WORD + 2, COUNT16, 0);
	is(0xffffffff, look(&target, WORD, 4), "32767 is the highest");
	fails(ERANGE, other, WORD + 2, COUNT16, 0, "for another one, too");
	is(0xffffffff, look(&target, WORD, 4), "nothing is changed");
	is(0x7fffffff, look(&target, OTHER, 4), "nor there");
	is(0, word_disarm(fd, WORD, COUNT16, 0), "a word that has failed");
	is(0, word_disarm(fd, OTHER, COUNT32, 0), "can be disarmed");
	is(0, word_disarm(other, WORD + 2, COUNT16, 0), "by each session");
	is(0xffffffff, look(&target, WORD, 4), "nothing to take back");
	is(0x7fffffff, look(&target, OTHER, 4), "nor there");
	disarm(fd, WORD + 2, COUNT16, 0);
	is(0xfffeffff, look(&target, WORD, 4), "but of the armed one");
	fails(ERANGE, fd, WORD, COUNT16, 0, "again");
	put(&target, WORD, 2, 0x8010);
	arm(fd, WORD, COUNT16, 0);
	is(0x8011, look(&target, WORD, 2), "armed when there is room");
	close(other);
	close(fd);
	is(0x8010, look(&target, WORD, 2), "and taken back");
	stop(&target);
}

/* The program overwrites the tracer's part of the word. */
TEST_F(dev, lowest_count)
{
	struct target target;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, COUNT16, 0);
	arm(fd, WORD + 2, COUNT16, 0);
	arm(fd, OTHER, COUNT32, 0);
	arm(fd, OTHER + 4, BIT, 31);
	put(&target, WORD, 4, 0x80000000);
	put(&target, OTHER, 4, 0x80000000);
	put(&target, OTHER + 4, 4, 0);
	disarm(fd, WORD, COUNT16, 0);
	is(0x80000000, look(&target, WORD, 4), "0 stays");
	disarm(fd, WORD + 2, COUNT16, 0);
	is(0x80000000, look(&target, WORD, 4), "also below a bit");
	close(fd);
	is(0x80000000, look(&target, OTHER, 4), "and in 32 bits");
	is(0, look(&target, OTHER + 4, 4), "a bit that is not there");
	stop(&target);
}

/* Memory that is present is written at once; see words_states.c, too. */
TEST_F(dev, stopped)
{
	struct target target;
	int fd;

	start_words(&target);
	put(&target, WORD, 4, 7);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	freeze(target.pid);
	is(UTRACE_ARM_STATE_ARMED, word_arm(fd, WORD, COUNT16, 0),
	   "armed while the process is stopped");
	is(8, read_word(target.pid, WORD, 2), "and there at once");
	is(UTRACE_ARM_STATE_ARMED, word_state(fd, target.pid, WORD),
	   "as the list says");
	thaw(target.pid);
	is(8, look(&target, WORD, 2), "the program sees it");
	freeze(target.pid);
	disarm(fd, WORD, COUNT16, 0);
	is(7, read_word(target.pid, WORD, 2), "taken back at once");
	thaw(target.pid);
	is(7, look(&target, WORD, 2), "and the program sees that");
	freeze(target.pid);
	arm(fd, WORD, COUNT16, 0);
	disarm(fd, WORD, COUNT16, 0);
	arm(fd, WORD, COUNT16, 0);
	is(8, read_word(target.pid, WORD, 2), "armed at last");
	close(fd);
	is(7, read_word(target.pid, WORD, 2), "closed");
	thaw(target.pid);
	is(7, look(&target, WORD, 2), "all at once");
	stop(&target);
}

static long give_up(long advice)
{
	return madvise(WORD, PAGE, advice) ? -errno : 0;
}

/*
 * A word in a page that is not in memory, or not the target's own.  The kernel may have
 * mapped it together with others, so the state is one of two.
 */
static void check_page(struct target *target, unsigned char *at, __u64 before,
		       bool stopped)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);
	int state;

	settle(target, SELF);
	if (stopped)
		freeze(target->pid);
	state = word_arm(fd, at, COUNT32, 0);
	holds(is_given(state), "  armed (state %d)", state);
	if (state == UTRACE_ARM_STATE_ARMED)
		is(before + 1, read_word(target->pid, at, 4), "  at once");
	if (stopped)
		thaw(target->pid);
	is(before + 1, look(target, at, 4), "  the program sees it");
	is(UTRACE_ARM_STATE_ARMED, word_state(fd, target->pid, at), "  it is armed");
	is(0, load(at, 4), "  the test's own memory is as before");
	disarm(fd, at, COUNT32, 0);
	is(before, look(target, at, 4), "  and taken back");
	close(fd);
}

TEST_F(dev, pages_that_are_not_there)
{
	struct target target;
	int i;

	for (i = 0; i < 2; i++) {
		start_words(&target);
		holds(true, "a page of 0 that was never touched");
		check_page(&target, area + (8 + i) * PAGE, 0, i);
		holds(true, "a page of the file that was never touched");
		check_page(&target, in_file + (1 + i) * PAGE, 0, i);
		holds(true, "a page that was given up");
		put(&target, WORD, 4, 9);
		is(0, have(&target, SELF, give_up, MADV_DONTNEED), "  MADV_DONTNEED");
		check_page(&target, WORD, 0, i);
		holds(true, "a page that may be in swap");
		put(&target, WORD, 4, 9);
		is(0, have(&target, SELF, give_up, MADV_PAGEOUT), "  MADV_PAGEOUT");
		check_page(&target, WORD, 9, i);
		stop(&target);
	}
}

/* A session is closed before its words were written. */
TEST_F(dev, taken_back_before_written)
{
	struct target target;
	int fd;

	start_words(&target);
	settle(&target, SELF);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, COUNT16, 0);
	arm(fd, in_file + PAGE, COUNT16, 0);
	disarm(fd, WORD, COUNT16, 0);
	close(fd);
	is(0, look(&target, WORD, 2), "a word that is disarmed");
	is(0, look(&target, in_file + PAGE, 2), "and one that is not");
	stop(&target);
}

TEST_F(dev, list)
{
	struct utrace_armed rows[4], row;
	struct target target;
	__u32 total, id;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	is(0, word_list(fd, rows, 4, &total), "no words yet");
	is(0, total, "and so is the total");
	put(&target, WORD, 4, 0);
	arm(fd, WORD, BIT, 31);
	arm(fd, WORD + 6, COUNT16, 0);
	fails(EFAULT, fd, PLACE, UTRACE_WORD_BIT64, 40, "a word that fails");
	memset(rows, 0x5a, sizeof(rows));
	is(2, word_list(fd, rows, 2, &total), "room for two words");
	is(3, total, "of three");
	is(0x5a5a5a5a, rows[2].bit, "no more than two are written");
	is(0, word_list(fd, NULL, 0, &total), "room for none");
	is(3, total, "of three");
	is(-EFAULT, word_list(fd, (void *)8, 1, &total), "no memory");
	is(3, word_list(fd, rows, 4, &total), "all");
	look(&target, WORD, 4);
	need(find_word(fd, target.pid, WORD, &row), "the first word");
	is(UTRACE_ARM_WORD, row.type, "a word");
	holds(row.id && row.cookie == (uintptr_t)WORD, "with an id and its cookie");
	is(UTRACE_WORD_BIT32, row.kind, "a bit");
	is(31, row.bit, "number 31");
	is(UTRACE_ARM_STATE_ARMED, row.state, "is armed");
	is(0, row.error, "without an error");
	id = row.id;
	need(find_word(fd, target.pid, WORD + 6, &row), "the second word");
	is(UTRACE_WORD_COUNT16, row.kind, "a count");
	holds(row.id && row.id != id, "has another id");
	holds(row.cookie == (uintptr_t)WORD + 6, "and its own cookie");
	is(0, row.bit, "has no bit");
	is(UTRACE_ARM_STATE_ARMED, row.state, "is armed");
	need(find_word(fd, target.pid, PLACE, &row), "the third word");
	is(UTRACE_WORD_BIT64, row.kind, "a bit of 64");
	is(40, row.bit, "number 40");
	is(UTRACE_ARM_STATE_FAILED, row.state, "has failed");
	is(EFAULT, row.error, "with a reason");
	is(0, row.reserved, "nothing else");
	fails(EFAULT, fd, PLACE, UTRACE_WORD_BIT64, 40, "tried again");
	is(0, word_disarm(fd, PLACE, UTRACE_WORD_BIT64, 40), "and disarmed");
	disarm(fd, WORD, BIT, 31);
	look(&target, WORD, 4);
	is(1, words_total(fd), "one is left");
	close(fd);
	stop(&target);
}

/* The events of poll(2) for records. */
static int poll_records(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0 ? pfd.revents : 0;
}

TEST_F(dev, poll)
{
	struct target target;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	fails(EFAULT, fd, PLACE, BIT, 31, "a word without memory");
	settle(&target, SELF);
	is(1, words_total(fd), "the list is read");
	is(0, poll_words(fd, 0), "nothing has changed since then");
	have(&target, SELF, map_new_page, 0);
	is(POLLPRI, poll_words(fd, DEADLINE_MS), "memory is mapped there");
	is(POLLPRI, poll_words(fd, 0), "until the list is read");
	is(0, poll_records(fd), "but not as records are");
	is(UTRACE_ARM_STATE_ARMED, word_state(fd, target.pid, PLACE), "it is armed");
	settle(&target, SELF);
	is(1, words_total(fd), "the list is read");
	is(0, poll_words(fd, 0), "nothing has changed since then");
	kill(target.pid, SIGKILL);
	holds(until(poll_words(fd, 0) & POLLHUP), "the process has ended");
	stop(&target);
	close(fd);
}

/* Its thread may sleep on when the test has failed. */
static struct asleep asleep;

/* A change wakes a poll(2) that waits without a limit of time. */
TEST_F(dev, poll_is_woken)
{
	struct target target;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	fails(EFAULT, fd, PLACE, BIT, 31, "a word without memory");
	settle(&target, SELF);
	is(1, words_total(fd), "the list is read");
	fall_asleep(&asleep, fd, POLLPRI);
	have(&target, SELF, map_new_page, 0);
	if (!holds(is_woken(&asleep), "memory is mapped there, which wakes poll()"))
		return;
	is(POLLPRI, asleep.result, "POLLPRI");
	close(fd);
	stop(&target);
}

/* LIST of one target does not clear POLLPRI of another target. */
TEST_F(dev, poll_of_two_targets)
{
	struct target target;
	int fd, second;
	__u32 id;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	second = attach(fd, target.pid, UTRACE_SCOPE_TREE);
	need(second > 0, "a second target");
	fails(EFAULT, fd, PLACE, BIT, 31, "a word without memory");
	is(UTRACE_ARM_STATE_FAILED, word_arm_for(fd, second, PLACE, BIT, 31, &id),
	   "of each target");
	settle(&target, SELF);
	is(1, total_of(fd, WORD_TARGET), "a list is read");
	is(1, total_of(fd, second), "and the other one");
	is(0, poll_words(fd, 0), "nothing has changed since then");
	have(&target, SELF, map_new_page, 0);
	is(POLLPRI, poll_words(fd, DEADLINE_MS), "memory is mapped there");
	is(1, total_of(fd, WORD_TARGET), "a list is read");
	is(POLLPRI, poll_words(fd, 0), "the other one has news");
	is(1, total_of(fd, second), "it is read");
	is(0, poll_words(fd, 0), "nothing has changed since then");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
