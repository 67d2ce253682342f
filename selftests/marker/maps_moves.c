// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: pages that go while their mapping stays, and mappings that
 * grow
 *
 * The list of a descriptor never says that a word is armed which the memory lacks.
 */
#include <linux/userfaultfd.h>

#include "words.h"

#define BIT_SET		0x80000000

/*
 * The words of these tests are at PLACE, in the heap, or below a stack.  Pages are moved
 * to ELSEWHERE.
 */
static unsigned char *base = PLACE;

#define WORD		(base + 16)
#define SEMAPHORE	(base + 66)
#define ELSEWHERE	(PLACE + (1UL << 30))

/* Each 16 bits of the file are this number; the second page is that at PLACE. */
#define OF_THE_FILE	7
#define FILE_WORD	(OF_THE_FILE << 16 | OF_THE_FILE)

static int file;		/* a memfd */
static int uffd = -1;		/* of the target */

/* Orders, for the memory of the target */

static long map_page(void *at)
{
	return mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at ? 0 : -1;
}

static long map_file(long unused)
{
	void *at = PLACE - PAGE;

	return mmap(at, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_FIXED, file, 0) == at ? 0 : -1;
}

/* The end of the heap becomes the end of a page.  number[0]: where it is. */
static long begin_heap(long unused)
{
	unsigned long end = (unsigned long)sbrk(0);

	base = (void *)((end + PAGE - 1) & ~(PAGE - 1));
	shared->number[0] = (long)base;
	return brk(base);
}

/* Pages from the words to a stack. */
#define BELOW		32

/* The lowest address of the stack of the first thread, or 0. */
static unsigned long bottom_of_stack(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, bottom = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-", &start) == 1)
			bottom = start;
	if (maps)
		fclose(maps);
	return bottom;
}

/* A mapping that grows like a stack. */
static unsigned long map_stack(void)
{
	void *at = PLACE + BELOW * PAGE;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN;

	return mmap(at, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == at ?
	       (unsigned long)at : 0;
}

/*
 * The words are below the stack of the first thread if @first, or else below one of their
 * own.  number[0]: the page of the words.
 */
static long begin_stack(long first)
{
	unsigned long bottom = first ? bottom_of_stack() : map_stack();

	base = (void *)(bottom - BELOW * PAGE);
	shared->number[0] = (long)base;
	return bottom ? 0 : -1;
}

/* The page of the words becomes part of the stack, in user mode or in a call. */
static long grow_stack(long in_a_call)
{
	if (in_a_call)
		return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, base + 128);
	base[128] = 1;
	return 0;
}

static long leave_mapping(long unused)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;

	return mremap(PLACE, PAGE, PAGE, flags, ELSEWHERE) == ELSEWHERE ? 0 : -1;
}

/* Register ELSEWHERE, and PLACE, too, if @both. */
static long begin_uffd(long both)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_MOVE,
	};
	struct uffdio_register arg = {
		.range = { (uintptr_t)ELSEWHERE, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || map_page(ELSEWHERE) ||
	    ioctl(uffd, UFFDIO_REGISTER, &arg))
		return -1;
	arg.range.start = (uintptr_t)PLACE;
	return both ? ioctl(uffd, UFFDIO_REGISTER, &arg) : 0;
}

static long move_page(long unused)
{
	struct uffdio_move arg = {
		.dst = (uintptr_t)ELSEWHERE,
		.src = (uintptr_t)PLACE,
		.len = PAGE,
	};

	/* The page of the last move. */
	if (madvise(ELSEWHERE, PAGE, MADV_DONTNEED))
		return -1;
	return ioctl(uffd, UFFDIO_MOVE, &arg);
}

static void *be_busy(void *unused)
{
	while (!shared->quit)
		shared->number[3]++;
	return NULL;
}

static long map_place(long unused)
{
	return map_page(PLACE);
}

static long give_up(long unused)
{
	return madvise(PLACE, PAGE, MADV_DONTNEED);
}

/*
 * Lose the page shared::value times by the call @lose, and load both words each time,
 * while another thread is busy; end with a word that is not there.  number[]: 1: losses.
 * 2: words that were not there.  3: of the busy thread.  4: counts that were not those of
 * one tracer.
 */
static long lose_beside(long lose)
{
	pthread_t thread;
	int i, ret = 0;

	if (pthread_create(&thread, NULL, be_busy, NULL))
		return -1;
	for (i = 0; i < shared->value && !ret && !shared->number[2]; i++) {
		ret = ((order_fn *)lose)(0);
		shared->number[2] += load(WORD, 4) != BIT_SET;
		shared->number[4] += load(SEMAPHORE, 2) != 1;
		shared->number[1]++;
	}
	shared->quit = 1;
	pthread_join(thread, NULL);
	return ret;
}

static void *keep_losing(void *lose)
{
	while (!shared->quit) {
		/* A page that a child has shared is moved only once written to. */
		(*PLACE)++;
		shared->number[3] += !((order_fn *)lose)(0);
	}
	return NULL;
}

/*
 * Fork shared::value times while another thread loses the page by the call @lose.
 * number[]: 1: children.  2: those that had not both words.  3: losses.
 */
static long fork_beside(long lose)
{
	pthread_t thread;
	int i, status;
	pid_t pid;

	if (pthread_create(&thread, NULL, keep_losing, (void *)lose))
		return -1;
	for (i = 0; i < shared->value; i++) {
		pid = plain_fork();
		if (!pid)
			_exit(load(WORD, 4) != BIT_SET || load(SEMAPHORE, 2) != 1);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			break;
		shared->number[1]++;
		shared->number[2] += !!status;
	}
	shared->quit = 1;
	pthread_join(thread, NULL);
	return 0;
}

static long truncate_file(long pages)
{
	return ftruncate(file, pages * PAGE);
}

static long set_heap(long pages)
{
	return brk(base + pages * PAGE);
}

static long stay_busy(long unused)
{
	be_busy(NULL);
	return 0;
}

/* Make the call at shared::at, and load both words as soon as it returns. */
static long call_and_see(long n)
{
	long ret = ((order_fn *)shared->at)(n);

	shared->seen = load(WORD, 4);
	shared->value = load(SEMAPHORE, 2);
	return ret;
}

/* Functions of the test */

static void start_here(struct target *target)
{
	__u16 page[PAGE / 2];
	size_t i;

	for (i = 0; i < PAGE / 2; i++)
		page[i] = OF_THE_FILE;
	file = memfd_create("file", MFD_CLOEXEC);
	need(file >= 0 && write(file, page, PAGE) == PAGE &&
	     write(file, page, PAGE) == PAGE, "memfd");
	start_words(target);
}

/* Have the target make a call, which has to work, without a load of the words. */
static void make_unseen(struct target *target, order_fn *call, long n)
{
	need(!have(target, SELF, call, n), "a call of the target");
}

static void make(struct target *target, order_fn *call, long n)
{
	shared->at = (uintptr_t)call;
	make_unseen(target, call_and_see, n);
}

static void make_and_see(struct target *target, order_fn *call, long n, __u64 word,
			 __u64 semaphore, const char *text)
{
	make(target, call, n);
	is(word, shared->seen, text);
	is(semaphore, shared->value, "  and so is the count");
}

static void sees(struct target *target, __u64 word, __u64 semaphore,
		 const char *text)
{
	is(word, look(target, WORD, 4), text);
	is(semaphore, look(target, SEMAPHORE, 2), "  and so is the count");
}

static void arm_both(int fd)
{
	is(UTRACE_ARM_STATE_ARMED, word_arm(fd, WORD, UTRACE_WORD_BIT32, 31),
	   "armed");
	is(UTRACE_ARM_STATE_ARMED, word_arm(fd, SEMAPHORE, UTRACE_WORD_COUNT16, 0),
	   "  and so is the count");
}

static void disarm_both(int fd)
{
	disarm(fd, WORD, UTRACE_WORD_BIT32, 31);
	disarm(fd, SEMAPHORE, UTRACE_WORD_COUNT16, 0);
}

/* Arm both words, which fail for this reason. */
static void both_fail(int error, int fd, const char *text)
{
	fails(error, fd, WORD, UTRACE_WORD_BIT32, 31, text);
	fails(error, fd, SEMAPHORE, UTRACE_WORD_COUNT16, 0,
	      "  and so does the count");
}

/* Check the states and errors of both words in the list. */
static void have_state(int fd, pid_t pid, enum utrace_arm_state state,
		       int error)
{
	is(state, word_state(fd, pid, WORD), "the state in the list");
	is(error, word_error, "  and its reason");
	is(state, word_state(fd, pid, SEMAPHORE), "  and that of the count");
	is(error, word_error, "  and its reason");
}

/* Check whether the list has a word as armed that the memory lacks. */
static bool is_a_lie(int fd, pid_t pid)
{
	return word_state(fd, pid, WORD) == UTRACE_ARM_STATE_ARMED &&
	       !(read_word(pid, WORD, 4) & BIT_SET);
}

/* The heap, which brk(2) changes */

TEST_F(dev, heap)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make_unseen(&target, begin_heap, 0);
	base = (void *)shared->number[0];
	both_fail(EFAULT, fd, "behind the heap");
	make_and_see(&target, set_heap, 1, BIT_SET, 1, "the heap grows");
	have_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
	add(&target, SEMAPHORE, 2, 5);
	make_and_see(&target, set_heap, 2, BIT_SET, 6, "and grows");
	make_unseen(&target, set_heap, 0);
	have_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EFAULT);
	make_and_see(&target, set_heap, 3, BIT_SET, 1, "it has shrunk, and grows");
	have_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
	make_and_see(&target, set_heap, 1, BIT_SET, 1, "shrinks behind the word");
	have_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
	make_unseen(&target, set_heap, 0);
	disarm_both(fd);
	make_and_see(&target, set_heap, 1, 0, 0, "without a word");
	arm_both(fd);
	make_unseen(&target, set_heap, 0);
	close(fd);
	make_and_see(&target, set_heap, 1, 0, 0, "without a descriptor");
	stop(&target);
}

/* Stacks, which grow by page faults */

/* Have words below a stack, where nothing is mapped. */
static int arm_below(struct target *target, bool first)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);

	make_unseen(target, begin_stack, first);
	base = (void *)shared->number[0];
	both_fail(EFAULT, fd, first ? "below the stack of the first thread" :
				      "below a mapping that grows down");
	return fd;
}

static void check_stack(bool first, bool in_a_call)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = arm_below(&target, first);
	make_and_see(&target, grow_stack, in_a_call, BIT_SET, 1,
		     in_a_call ? "the stack grows in a call" : "the stack grows");
	have_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
	add(&target, SEMAPHORE, 2, 5);
	make_and_see(&target, grow_stack, in_a_call, BIT_SET, 6, "and is used");
	disarm_both(fd);
	sees(&target, 0, 5, "taken back");
	close(fd);
	stop(&target);
	base = PLACE;
}

TEST_F(dev, stack)
{
	check_stack(true, false);
	check_stack(true, true);
}

TEST_F(dev, mapping_that_grows_down)
{
	check_stack(false, false);
	check_stack(false, true);
}

/* A disarmed word is not written to the new page of the stack; an armed one is. */
TEST_F(dev, stack_after_the_tracer)
{
	struct target target;
	int fd, other;

	start_here(&target);
	fd = arm_below(&target, true);
	other = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	fails(EFAULT, other, SEMAPHORE, UTRACE_WORD_COUNT16, 0, "another tracer");
	close(fd);
	make_and_see(&target, grow_stack, 0, 0, 1, "the stack grows for one of two");
	close(other);
	sees(&target, 0, 0, "closed");
	stop(&target);
	base = PLACE;
}

/* Truncated files: the program loses its private copy of a page */

TEST_F(dev, truncated)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make_and_see(&target, map_file, 0, FILE_WORD, OF_THE_FILE, "a file");
	arm_both(fd);
	sees(&target, FILE_WORD | BIT_SET, OF_THE_FILE + 1, "both are there");
	make_unseen(&target, truncate_file, 1);
	have_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EFAULT);
	make_and_see(&target, truncate_file, 2, 0, 0, "a page of zeros");
	have_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EFAULT);
	arm_both(fd);
	have_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
	sees(&target, BIT_SET, 1, "armed again");
	make_unseen(&target, truncate_file, 1);
	close(fd);
	make_and_see(&target, truncate_file, 2, 0, 0, "closed");
	stop(&target);
}

/*
 * Another process truncates the file while the target does nothing.  A work item of the
 * kernel asks the target for its safe point, so the target may look before that.
 */
static void check_cut(bool stopped)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make_and_see(&target, map_file, 0, FILE_WORD, OF_THE_FILE, "a file");
	arm_both(fd);
	settle(&target, SELF);
	if (stopped)
		freeze(target.pid);
	need(!ftruncate(file, PAGE), "ftruncate");
	have_state(fd, target.pid, UTRACE_ARM_STATE_PENDING, 0);
	need(!ftruncate(file, 2 * PAGE), "ftruncate");
	have_state(fd, target.pid, UTRACE_ARM_STATE_PENDING, 0);
	if (stopped)
		thaw(target.pid);
	need(until(look(&target, WORD, 4) == BIT_SET), "written without a call of ours");
	sees(&target, BIT_SET, 1, "and it stays");
	have_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
	close(fd);
	sees(&target, 0, 0, "closed");
	stop(&target);
}

TEST_F(dev, truncated_by_another)
{
	check_cut(false);
	check_cut(true);
}

/* The target is in user mode while its page is truncated. */
TEST_F_TIMEOUT(dev, truncated_while_busy, LONG_TIMEOUT)
{
	const int rounds = times_if_fast(1000);
	int fd, i, state, lies = 0, failed = 0;
	struct target target;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_file, 0);
	tell(&target, SELF, stay_busy, 0);
	for (i = 0; i < rounds; i++) {
		state = word_arm(fd, WORD, UTRACE_WORD_BIT32, 31);
		need(is_given(state) || state == -EEXIST, "ARM");
		need(until(word_state(fd, target.pid, WORD) ==
			   UTRACE_ARM_STATE_ARMED), "a word that is armed");
		lies += is_a_lie(fd, target.pid);
		need(!ftruncate(file, PAGE) && !ftruncate(file, 2 * PAGE),
		     "ftruncate");
		lies += is_a_lie(fd, target.pid);
		need(until(word_state(fd, target.pid, WORD) !=
			   UTRACE_ARM_STATE_PENDING), "a word that is tried");
		lies += is_a_lie(fd, target.pid);
		failed += word_state(fd, target.pid, WORD) ==
			  UTRACE_ARM_STATE_FAILED;
	}
	holds(true, "of %d words %d have failed", i, failed);
	is(0, lies, "no word is said to be armed that is not there");
	shared->quit = 1;
	hear(&target, SELF);
	close(fd);
	is(0, look(&target, WORD, 4) & BIT_SET, "closed");
	stop(&target);
}

/* Pages that are moved away, and leave their mapping */

/* What has been moved away stays there. */
static void has_moved(struct target *target, __u64 semaphore)
{
	is(BIT_SET, look(target, ELSEWHERE + 16, 4), "what was moved stays");
	is(semaphore, look(target, ELSEWHERE + 66, 2),
	   "  and so is the count");
}

static void check_moves(struct target *target, order_fn *lose)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);

	arm_both(fd);
	add(target, SEMAPHORE, 2, 5);
	make_and_see(target, lose, 0, BIT_SET, 1, "moved away");
	have_state(fd, target->pid, UTRACE_ARM_STATE_ARMED, 0);
	holds(!is_a_lie(fd, target->pid), "which is no lie");
	has_moved(target, 6);
	make_and_see(target, lose, 0, BIT_SET, 1, "and again");
	has_moved(target, 1);
	disarm_both(fd);
	sees(target, 0, 0, "taken back");
	has_moved(target, 1);
	arm_both(fd);
	make_and_see(target, lose, 0, BIT_SET, 1, "armed again, and moved");
	close(fd);
	sees(target, 0, 0, "closed");
	has_moved(target, 1);
}

TEST_F(dev, mapping_stays)
{
	struct target target;

	start_here(&target);
	make(&target, map_place, 0);
	check_moves(&target, leave_mapping);
	stop(&target);
}

static bool has_uffd(struct target *target, bool both)
{
	make(target, map_place, 0);
	return !have(target, SELF, begin_uffd, both);
}

#define NO_MOVE		"no UFFDIO_MOVE (USERFAULTFD)"

TEST_F(dev, moved_by_userfaultfd)
{
	struct target target;

	start_here(&target);
	if (!has_uffd(&target, false)) {
		stop(&target);
		SKIP(return, NO_MOVE);
	}
	check_moves(&target, move_page);
	stop(&target);
}

/* Nothing brings the page that was moved away. */
TEST_F(dev, moved_out_of_userfaultfd)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, 0);
	arm_both(fd);
	if (have(&target, SELF, begin_uffd, true)) {
		stop(&target);
		SKIP(return, NO_MOVE);
	}
	make_unseen(&target, move_page, 0);
	have_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EBUSY);
	has_moved(&target, 1);
	close(fd);
	has_moved(&target, 1);
	stop(&target);
}

/* One thread loses the page by a call, while another one is in user mode. */
static void check_beside(struct target *target, order_fn *lose)
{
	const int losses = times_if_fast(1000);
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);

	arm_both(fd);
	shared->value = losses;
	make_unseen(target, lose_beside, (long)lose);
	is(0, shared->number[2], "the word is there each time");
	is(0, shared->number[4], "and so is the count");
	is(losses, shared->number[1], "the page has gone so often");
	holds(!is_a_lie(fd, target->pid), "the list is right in the end");
	close(fd);
	sees(target, 0, 0, "closed");
}

TEST_F_TIMEOUT(dev, mapped_over_beside_a_thread, LONG_TIMEOUT)
{
	struct target target;

	start_here(&target);
	make(&target, map_place, 0);
	check_beside(&target, map_place);
	stop(&target);
}

TEST_F_TIMEOUT(dev, given_up_beside_a_thread, LONG_TIMEOUT)
{
	struct target target;

	start_here(&target);
	make(&target, map_place, 0);
	check_beside(&target, give_up);
	stop(&target);
}

TEST_F_TIMEOUT(dev, mapping_stays_beside_a_thread, LONG_TIMEOUT)
{
	struct target target;

	start_here(&target);
	make(&target, map_place, 0);
	check_beside(&target, leave_mapping);
	stop(&target);
}

TEST_F_TIMEOUT(dev, moved_beside_a_thread, LONG_TIMEOUT)
{
	struct target target;

	start_here(&target);
	if (!has_uffd(&target, false)) {
		stop(&target);
		SKIP(return, NO_MOVE);
	}
	check_beside(&target, move_page);
	stop(&target);
}

/* A child has the words, whether fork comes before or after the loss of the page. */
static void check_forks_beside(struct target *target, order_fn *lose)
{
	const int children = times_if_fast(300);
	int fd = words_open(target->pid, UTRACE_SCOPE_TREE);

	arm_both(fd);
	shared->value = children;
	make_unseen(target, fork_beside, (long)lose);
	is(children, shared->number[1], "so many children");
	is(0, shared->number[2], "each has the word and the count");
	holds(shared->number[3], "the page has gone %ld times", shared->number[3]);
	close(fd);
	sees(target, 0, 0, "closed");
}

TEST_F_TIMEOUT(dev, forks_beside_giving_up, LONG_TIMEOUT)
{
	struct target target;

	start_here(&target);
	make(&target, map_place, 0);
	check_forks_beside(&target, give_up);
	stop(&target);
}

TEST_F_TIMEOUT(dev, forks_beside_moves, LONG_TIMEOUT)
{
	struct target target;

	start_here(&target);
	if (!has_uffd(&target, false)) {
		stop(&target);
		SKIP(return, NO_MOVE);
	}
	check_forks_beside(&target, move_page);
	stop(&target);
}

TEST_HARNESS_MAIN
