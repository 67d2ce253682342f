// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: the states of a word
 *
 * A word whose page is in memory is written at once, whatever the process does.  Else
 * it is pending, or leaving, until a thread of the process runs.
 */
#include "words.h"

#define COUNT16		UTRACE_WORD_COUNT16
#define COUNT32		UTRACE_WORD_COUNT32

/* The word of these tests has a page of its own, which is never a huge one. */
#define WORD		(PLACE + 16)
#define OTHER		(PLACE + PAGE + 16)

/* Each 32 bits of the file, and the value that the program writes. */
#define OF_THE_FILE	7
#define OWN		9

static int file;		/* a memfd of two pages */

/* What has become of a page before a word is armed in it. */
enum deed { UNTOUCHED, LOOKED_AT, WRITTEN, FORKED, GIVEN_UP };

/**
 * struct page - a page, and the expected value of its word
 * @of_file: it belongs to a private mapping of the file
 * @deed: what the program has done
 * @before: the word before it is armed
 */
struct page {
	const char *text;
	bool of_file;
	enum deed deed;
	__u32 before;
};

static const struct page present[] = {
	{ "a page that was looked at", false, LOOKED_AT, 0 },
	{ "a page that was written", false, WRITTEN, OWN },
	{ "a page that a child has, too", false, FORKED, OWN },
	{ "a page of the file that was looked at", true, LOOKED_AT,
	  OF_THE_FILE },
	{ "a page of the file that was written", true, WRITTEN, OWN },
	{ "a page of the file that a child has, too", true, FORKED, OWN },
};

static const struct page absent[] = {
	{ "a page that was never touched", false, UNTOUCHED, 0 },
	{ "a page that was given up", false, GIVEN_UP, 0 },
	{ "a page of the file that was never touched", true, UNTOUCHED,
	  OF_THE_FILE },
	{ "a page of the file that was given up", true, GIVEN_UP,
	  OF_THE_FILE },
};

/* The state of the target while a word is armed. */
enum how { ASLEEP, STOPPED, BUSY };

static const char * const how_texts[] = { "asleep", "stopped", "busy" };

/* A child that has the page as long as its parent lives; number[0] is its pid. */
static void fork_beside(void)
{
	pid_t pid = plain_fork();

	if (pid) {
		shared->number[0] = pid;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* Map two pages and prepare both; @row: the address of a struct page. */
static long make_pages(long row)
{
	const struct page *page = (const void *)row;
	const int more = page->of_file ? 0 : MAP_ANONYMOUS;

	if (mmap(PLACE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_FIXED | more, page->of_file ? file : -1, 0) != PLACE)
		return -1;
	if (page->deed == UNTOUCHED)
		return 0;
	if (page->deed == LOOKED_AT)
		return load(WORD, 4) == load(OTHER, 4) ? 0 : -1;
	store(WORD, 4, OWN);
	store(OTHER, 4, OWN);
	if (page->deed == FORKED)
		fork_beside();
	return page->deed == GIVEN_UP ?
	       madvise(PLACE, 2 * PAGE, MADV_DONTNEED) : 0;
}

static long protect(long protection)
{
	return mprotect(PLACE, PAGE, protection);
}

/* Stay in user mode. */
static long be_busy(long unused)
{
	while (!shared->quit)
		shared->number[1]++;
	return 0;
}

static void start_here(struct target *target)
{
	__u32 page[PAGE / 4];
	size_t i;

	for (i = 0; i < PAGE / 4; i++)
		page[i] = OF_THE_FILE;
	file = memfd_create("file", MFD_CLOEXEC);
	need(file >= 0 && write(file, page, PAGE) == PAGE &&
	     write(file, page, PAGE) == PAGE, "memfd");
	start_words(target);
}

static void make(struct target *target, order_fn *call, long n)
{
	need(!have(target, SELF, call, n), "a call of the target");
}

/* From here until end_how() the target is asleep, stopped or busy. */
static void begin_how(struct target *target, enum how how)
{
	long before = shared->number[1];

	shared->quit = 0;
	if (how == BUSY) {
		tell(target, SELF, be_busy, 0);
		need(until(shared->number[1] > before), "a busy target");
		return;
	}
	settle(target, SELF);
	if (how == STOPPED)
		freeze(target->pid);
}

static void end_how(struct target *target, enum how how)
{
	shared->quit = 1;
	if (how == STOPPED)
		thaw(target->pid);
	if (how == BUSY)
		hear(target, SELF);
}

/* Check the state of the word in the list, without an error. */
static void has_state(int fd, pid_t pid, const void *at,
		      enum utrace_arm_state state)
{
	is(state, word_state(fd, pid, at), "  as the list says");
	is(0, word_error, "  without a reason");
}

/* Arm a word and take it back: both are in memory when the call returns. */
static void check_present(struct target *target, const struct page *page,
			  enum how how)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);
	pid_t child = page->deed == FORKED ? shared->number[0] : 0;

	begin_how(target, how);
	is(UTRACE_ARM_STATE_ARMED, word_arm(fd, WORD, COUNT32, 0), page->text);
	is(page->before + 1, read_word(target->pid, WORD, 4),
	   "  is written at once");
	has_state(fd, target->pid, WORD, UTRACE_ARM_STATE_ARMED);
	disarm(fd, WORD, COUNT32, 0);
	is(page->before, read_word(target->pid, WORD, 4),
	   "  and taken back at once");
	is(0, words_total(fd), "  so that the list is empty");
	arm(fd, OTHER, COUNT32, 0);
	close(fd);
	is(page->before, read_word(target->pid, OTHER, 4),
	   "  and with the session");
	is(0, word_engines(target->pid), "  which leaves nothing");
	end_how(target, how);
	is(page->before, look(target, WORD, 4), "  as the program sees");
	if (!child)
		return;
	is(page->before, read_word(child, WORD, 4), "  and the child");
	kill(child, SIGKILL);
}

static void check_all_present(enum how how)
{
	struct target target;
	size_t i;

	start_here(&target);
	holds(true, "the target is %s", how_texts[how]);
	for (i = 0; i < ARRAY_SIZE(present); i++) {
		make(&target, make_pages, (long)&present[i]);
		check_present(&target, &present[i], how);
	}
	stop(&target);
}

TEST_F(dev, at_once_if_asleep)
{
	check_all_present(ASLEEP);
}

TEST_F(dev, at_once_if_stopped)
{
	check_all_present(STOPPED);
}

TEST_F(dev, at_once_if_busy)
{
	check_all_present(BUSY);
}

/* Arm a word that nobody writes before the target runs. */
static void check_absent(struct target *target, const struct page *page,
			 enum how how)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);

	begin_how(target, how);
	is(UTRACE_ARM_STATE_PENDING, word_arm(fd, WORD, COUNT32, 0), page->text);
	is(0, word_error, "  is pending");
	has_state(fd, target->pid, WORD, UTRACE_ARM_STATE_PENDING);
	is(-EEXIST, word_arm(fd, WORD, COUNT32, 0), "  and not armed twice");
	usleep(10000);
	has_state(fd, target->pid, WORD, UTRACE_ARM_STATE_PENDING);
	is(0, poll_words(fd, 0), "  which is no news");
	is(page->before, read_word(target->pid, WORD, 4),
	   "  the memory lacks it");
	end_how(target, how);
	is(page->before + 1, look(target, WORD, 4), "  the program sees it");
	is(POLLPRI, poll_words(fd, 0), "  which is news");
	has_state(fd, target->pid, WORD, UTRACE_ARM_STATE_ARMED);
	disarm(fd, WORD, COUNT32, 0);
	is(page->before, look(target, WORD, 4), "  and taken back");
	close(fd);
}

/* A word is taken back that was never written. */
static void check_never(struct target *target, const struct page *page,
			enum how how)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);

	begin_how(target, how);
	is(UTRACE_ARM_STATE_PENDING, word_arm(fd, OTHER, COUNT32, 0), page->text);
	disarm(fd, OTHER, COUNT32, 0);
	is(0, words_total(fd), "  there is nothing to take back");
	is(UTRACE_ARM_STATE_PENDING, word_arm(fd, OTHER, COUNT32, 0),
	   "  pending again");
	close(fd);
	is(0, word_engines(target->pid), "  the session leaves nothing");
	end_how(target, how);
	is(page->before, look(target, OTHER, 4), "  the program sees nothing");
}

static void check_all_absent(enum how how)
{
	struct target target;
	size_t i;

	start_here(&target);
	holds(true, "the target is %s", how_texts[how]);
	for (i = 0; i < ARRAY_SIZE(absent); i++) {
		make(&target, make_pages, (long)&absent[i]);
		check_absent(&target, &absent[i], how);
		make(&target, make_pages, (long)&absent[i]);
		check_never(&target, &absent[i], how);
	}
	stop(&target);
}

TEST_F(dev, pending_while_asleep)
{
	check_all_absent(ASLEEP);
}

TEST_F(dev, pending_while_stopped)
{
	check_all_absent(STOPPED);
}

/* A busy thread may have written the word before ARM returns, or not yet. */
TEST_F(dev, pending_while_busy)
{
	struct target target;
	int fd, state;
	size_t i;

	start_here(&target);
	for (i = 0; i < ARRAY_SIZE(absent); i++) {
		make(&target, make_pages, (long)&absent[i]);
		fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
		begin_how(&target, BUSY);
		state = word_arm(fd, WORD, COUNT32, 0);
		holds(is_given(state), "%s (state %d)", absent[i].text, state);
		holds(until(word_state(fd, target.pid, WORD) ==
			    UTRACE_ARM_STATE_ARMED), "  is armed without a call");
		is(absent[i].before + 1, read_word(target.pid, WORD, 4),
		   "  and in memory");
		end_how(&target, BUSY);
		close(fd);
		is(absent[i].before, look(&target, WORD, 4), "  taken back");
	}
	stop(&target);
}

/*
 * Where the program may not read its page, nobody but the program writes there: the
 * memory keeps a word that is taken back.
 */
static void hide_armed(struct target *target, int fd)
{
	make(target, make_pages, (long)&present[1]);
	arm(fd, WORD, COUNT16, 0);
	is(UTRACE_ARM_STATE_ARMED, word_state(fd, target->pid, WORD), "armed");
	make(target, protect, PROT_NONE);
	is(OWN + 1, read_word(target->pid, WORD, 2), "and then hidden");
}

static void check_leaving(enum how how)
{
	struct utrace_armed row;
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	hide_armed(&target, fd);
	begin_how(&target, how);
	disarm(fd, WORD, COUNT16, 0);
	has_state(fd, target.pid, WORD, UTRACE_ARM_STATE_LEAVING);
	is(1, words_total(fd), "  as the only word");
	is(OWN + 1, read_word(target.pid, WORD, 2), "  the memory has it");
	need(find_word(fd, target.pid, WORD, &row), "a row");
	is(-ENOENT, disarm_id(fd, row.id), "  not taken back twice");
	is(UTRACE_ARM_STATE_ARMED, word_arm(fd, WORD, COUNT16, 0), "armed again");
	has_state(fd, target.pid, WORD, UTRACE_ARM_STATE_ARMED);
	is(-ENOENT, disarm_id(fd, row.id), "  the old id is gone");
	is(OWN + 1, read_word(target.pid, WORD, 2), "  the memory has one");
	disarm(fd, WORD, COUNT16, 0);
	usleep(10000);
	has_state(fd, target.pid, WORD, UTRACE_ARM_STATE_LEAVING);
	end_how(&target, how);
	have(&target, SELF, own_tid, 0);
	is(POLLPRI, poll_words(fd, 0), "news when the target has run");
	is(0, words_total(fd), "  the word is gone");
	is(OWN, read_word(target.pid, WORD, 2), "  and from memory");
	close(fd);
	stop(&target);
}

TEST_F(dev, leaving_while_asleep)
{
	check_leaving(ASLEEP);
}

TEST_F(dev, leaving_while_stopped)
{
	check_leaving(STOPPED);
}

/* The engine of a session that is closed stays as long as the memory has a word. */
TEST_F(dev, leaving_after_the_end)
{
	struct target target;
	int fd, other;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	other = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	hide_armed(&target, fd);
	arm(other, OTHER, COUNT16, 0);
	disarm(other, OTHER, COUNT16, 0);
	is(2, word_engines(target.pid), "two sessions have engines");
	begin_how(&target, STOPPED);
	close(other);
	is(1, word_engines(target.pid), "a session without words leaves");
	close(fd);
	usleep(10000);
	is(1, word_engines(target.pid), "one with a word does not");
	is(OWN + 1, read_word(target.pid, WORD, 2), "  the memory has it");
	end_how(&target, STOPPED);
	have(&target, SELF, own_tid, 0);
	is(OWN, read_word(target.pid, WORD, 2), "gone when the target has run");
	holds(until(!word_engines(target.pid)), "  and so is the engine");
	stop(&target);
}

TEST_HARNESS_MAIN
