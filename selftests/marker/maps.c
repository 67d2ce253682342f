// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: memory that is mapped, unmapped, given up and moved
 *
 * The target loads the word as soon as a call has returned to user mode.
 */
#include <linux/userfaultfd.h>

#include "words.h"

#define BIT_SET		0x80000000

/* The words of these tests are at PLACE, or moved to ELSEWHERE. */
#define WORD		(PLACE + 16)
#define SEMAPHORE	(PLACE + 66)
#define ELSEWHERE	(PLACE + (1UL << 30))

#define HUGE		(2UL << 20)

/* Each 16 bits of the file are this number. */
#define OF_THE_FILE	7
#define PATTERN		0x5a

/* What is mapped. */
enum what { ANON, READ_ONLY, SHARED, OF_FILE };

static int file;		/* a memfd */
static int uffd = -1;		/* of the target */

/* Map a page at PLACE, instead of what was there. */
static long map_place(long what)
{
	const int prot = PROT_READ | (what == READ_ONLY ? 0 : PROT_WRITE);
	const int kind = what == SHARED ? MAP_SHARED : MAP_PRIVATE;

	if (mmap(PLACE, PAGE, prot, MAP_FIXED | kind |
		 (what == OF_FILE ? 0 : MAP_ANONYMOUS),
		 what == OF_FILE ? file : -1, 0) != PLACE)
		return -1;
	return 0;
}

static long map_next(long unused)
{
	return mmap(PLACE + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0;
}

/* Memory where the kernel makes huge pages, and does so at once. */
static long map_huge(long unused)
{
	if (mmap(PLACE, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE ||
	    madvise(PLACE, HUGE, MADV_HUGEPAGE))
		return -1;
	memset(PLACE, 0, HUGE);
	return 0;
}

/* A page of hugetlbfs, which the process has alone. */
static long map_hugetlb(long unused)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED;

	return mmap(PLACE, HUGE, PROT_READ | PROT_WRITE, flags, -1, 0) == PLACE ? 0 : -1;
}

static int move(void *from, void *to)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;

	return mremap(from, PAGE, PAGE, flags, to) == to ? 0 : -1;
}

/* Move a page that has the program's own count to PLACE. */
static long move_to_place(long unused)
{
	if (mmap(ELSEWHERE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != ELSEWHERE)
		return -1;
	store(ELSEWHERE + 66, 2, OF_THE_FILE);
	return move(ELSEWHERE, PLACE);
}

/* Have the mapping before PLACE grow, so that PLACE belongs to it. */
static long grow_to_place(long unused)
{
	unsigned char *before = PLACE - PAGE;

	if (mmap(before, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != before)
		return -1;
	return mremap(before, PAGE, 2 * PAGE, 0) == before ? 0 : -1;
}

/* Bytes of the page that are not those of the pattern. */
static long count_changes(long unused)
{
	unsigned int i, n = 0;

	for (i = 0; i < PAGE; i++)
		n += PLACE[i] != PATTERN;
	return n;
}

/* userfaultfd(2), of PLACE */

static long register_place(long mode)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = mode == UFFDIO_REGISTER_MODE_WP ?
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP : 0,
	};
	struct uffdio_register arg = {
		.range = { (uintptr_t)PLACE, PAGE },
		.mode = mode,
	};

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	return uffd < 0 || ioctl(uffd, UFFDIO_API, &api) ||
	       ioctl(uffd, UFFDIO_REGISTER, &arg) ? -1 : 0;
}

/* How many threads wait, or have had to. */
static long count_messages(long unused)
{
	struct uffd_msg msg;
	int n = 0;

	while (read(uffd, &msg, sizeof(msg)) == sizeof(msg))
		n++;
	return n;
}

static long copy_to_place(long unused)
{
	static __u16 page[PAGE / 2] __attribute__((aligned(PAGE)));
	struct uffdio_copy arg = {
		.dst = (uintptr_t)PLACE,
		.src = (uintptr_t)page,
		.len = PAGE,
	};
	size_t i;

	for (i = 0; i < PAGE / 2; i++)
		page[i] = OF_THE_FILE;
	return ioctl(uffd, UFFDIO_COPY, &arg);
}

static long protect_place(long protect)
{
	struct uffdio_writeprotect arg = {
		.range = { (uintptr_t)PLACE, PAGE },
		.mode = protect ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	return ioctl(uffd, UFFDIO_WRITEPROTECT, &arg);
}

/* The page is given up or mapped over repeatedly; the target loads the word each time. */

enum loss { GIVEN_UP, MAPPED_OVER };

static int lose(enum loss loss)
{
	if (loss == GIVEN_UP)
		return madvise(PLACE, PAGE, MADV_DONTNEED);
	return map_place(ANON);
}

/* number[0]: how often the page was lost. */
static long lose_and_look(long loss)
{
	while (!shared->quit) {
		unsigned int phase = shared->phase;

		if (lose(loss))
			return -1;
		judge(0, phase, load(WORD, 4), 0, BIT_SET);
		shared->number[0]++;
	}
	return 0;
}

static long protect_huge(long protection)
{
	return mprotect(PLACE, HUGE, protection);
}

static long unmap_place(long unused)
{
	return munmap(PLACE, PAGE);
}

static long advise(long advice)
{
	return madvise(PLACE, PAGE, advice);
}

static long protect(long protection)
{
	return mprotect(PLACE, PAGE, protection);
}

static long move_away(long unused)
{
	return move(PLACE, ELSEWHERE);
}

static long fill_place(long unused)
{
	memset(PLACE, PATTERN, PAGE);
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

static void make_and_see(struct target *target, order_fn *call, long n,
			 __u64 word, __u64 semaphore, const char *text)
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

static void start_here(struct target *target)
{
	__u16 page[PAGE / 2];
	size_t i;

	for (i = 0; i < PAGE / 2; i++)
		page[i] = OF_THE_FILE;
	file = memfd_create("file", MFD_CLOEXEC);
	need(file >= 0 && write(file, page, PAGE) == PAGE, "memfd");
	start_words(target);
}

static void arm_both(int fd)
{
	arm(fd, WORD, UTRACE_WORD_BIT32, 31);
	arm(fd, SEMAPHORE, UTRACE_WORD_COUNT16, 0);
}

static void disarm_both(int fd)
{
	is(0, word_disarm(fd, WORD, UTRACE_WORD_BIT32, 31), "DISARM");
	is(0, word_disarm(fd, SEMAPHORE, UTRACE_WORD_COUNT16, 0), "  of the count");
}

/* Arm both words, which fail for this reason. */
static void both_fail(int error, int fd, const char *text)
{
	fails(error, fd, WORD, UTRACE_WORD_BIT32, 31, text);
	fails(error, fd, SEMAPHORE, UTRACE_WORD_COUNT16, 0, "  and so does the count");
}

/* Check the state and the error of the word in the list. */
static void has_state(int fd, pid_t pid, enum utrace_arm_state state,
		      int error)
{
	is(state, word_state(fd, pid, WORD), "the state in the list");
	is(error, word_error, "  and its reason");
}

/* New memory is never changed for words that were disarmed. */
static void check_unmapped(bool close_it)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, ANON);
	arm_both(fd);
	sees(&target, BIT_SET, 1, "armed");
	make_unseen(&target, unmap_place, 0);
	has_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EFAULT);
	if (!close_it)
		disarm_both(fd);
	else
		close(fd);
	make_and_see(&target, map_place, ANON, 0, 0, "new memory");
	make(&target, fill_place, 0);
	if (!close_it)
		close(fd);
	is(0, have(&target, SELF, count_changes, 0), "not a byte of the memory is changed");
	stop(&target);
}

TEST_F(dev, unmapped_while_armed)
{
	check_unmapped(false);
	check_unmapped(true);
}

/* A word is armed in whatever memory is mapped at its address. */
TEST_F(dev, mapped_again)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, ANON);
	arm_both(fd);
	make_unseen(&target, unmap_place, 0);
	make_and_see(&target, map_place, ANON, BIT_SET, 1, "mapped again");
	has_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
	make_and_see(&target, map_place, ANON, BIT_SET, 1, "mapped over");
	make_and_see(&target, map_place, OF_FILE, BIT_SET | 0x70007, 8, "a file");
	make_and_see(&target, map_next, 0, BIT_SET | 0x70007, 8, "the next page");
	make_and_see(&target, advise, MADV_NORMAL, BIT_SET | 0x70007, 8, "advice");
	disarm_both(fd);
	sees(&target, 0x70007, 7, "what the file has");
	make_and_see(&target, map_place, ANON, 0, 0, "without a word");
	arm_both(fd);
	make_and_see(&target, map_place, OF_FILE, BIT_SET | 0x70007, 8, "a file");
	close(fd);
	sees(&target, 0x70007, 7, "what the file has");
	stop(&target);
}

/* What makes memory at an address where none was. */
TEST_F(dev, mapped_later)
{
	static const struct {
		order_fn *call;
		int arg;
		int own;
		const char *text;
	} ways[] = {
		{ map_place, ANON, 0, "mmap" },
		{ map_place, OF_FILE, OF_THE_FILE, "mmap of a file" },
		{ move_to_place, 0, OF_THE_FILE, "mremap to there" },
		{ grow_to_place, 0, 0, "mremap of what is before" },
	};
	struct target target;
	__u64 word;
	size_t i;
	int fd;

	start_here(&target);
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		word = ways[i].arg == OF_FILE ? 0x70007 : 0;
		fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
		both_fail(EFAULT, fd, "nothing is mapped");
		make_and_see(&target, ways[i].call, ways[i].arg, BIT_SET | word,
			     ways[i].own + 1, ways[i].text);
		has_state(fd, target.pid, UTRACE_ARM_STATE_ARMED, 0);
		is(-EEXIST, word_arm(fd, WORD, UTRACE_WORD_BIT32, 31), "armed now");
		disarm_both(fd);
		sees(&target, word, ways[i].own, "taken back");
		make_unseen(&target, unmap_place, 0);
		close(fd);
	}
	stop(&target);
}

/* Arm a word again that has failed; the kernel may have done so itself. */
static void arm_again(int fd, pid_t pid, const void *at, __u32 kind, __u32 bit)
{
	int state = word_arm(fd, at, kind, bit);

	if (state == -EEXIST)
		is(UTRACE_ARM_STATE_ARMED, word_state(fd, pid, at), "armed already");
	else
		holds(is_given(state), "armed again (%d)", state);
}

TEST_F(dev, read_only)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, READ_ONLY);
	both_fail(EACCES, fd, "memory that is read-only");
	sees(&target, 0, 0, "and not changed");
	make(&target, protect, PROT_READ | PROT_WRITE);
	arm_again(fd, target.pid, WORD, UTRACE_WORD_BIT32, 31);
	arm_again(fd, target.pid, SEMAPHORE, UTRACE_WORD_COUNT16, 0);
	sees(&target, BIT_SET, 1, "armed");
	make_and_see(&target, protect, PROT_READ, BIT_SET, 1, "read-only again");
	disarm_both(fd);
	sees(&target, 0, 0, "taken back in memory that is read-only");
	make_and_see(&target, protect, PROT_READ | PROT_WRITE, 0, 0, "writable");
	is(0, words_total(fd), "no word is left");
	arm_both(fd);
	make_and_see(&target, protect, PROT_READ, BIT_SET, 1, "read-only at last");
	close(fd);
	sees(&target, 0, 0, "taken back with the descriptor");
	stop(&target);
}

/* The page is given up: the program's values are lost, but the tracer's word is not. */
TEST_F(dev, given_up)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, ANON);
	arm_both(fd);
	add(&target, SEMAPHORE, 2, 5);
	make_and_see(&target, advise, MADV_DONTNEED, BIT_SET, 1, "given up");
	make_and_see(&target, advise, MADV_DONTNEED, BIT_SET, 1, "and again");
	make_and_see(&target, advise, MADV_PAGEOUT, BIT_SET, 1, "paged out");
	make_and_see(&target, advise, MADV_COLD, BIT_SET, 1, "cold");
	add(&target, SEMAPHORE, 2, 3);
	disarm_both(fd);
	sees(&target, 0, 3, "taken back");
	make_and_see(&target, advise, MADV_DONTNEED, 0, 0, "given up for good");
	make_and_see(&target, map_place, OF_FILE, 0x70007, 7, "a file");
	arm_both(fd);
	add(&target, SEMAPHORE, 2, 3);
	make_and_see(&target, advise, MADV_DONTNEED, BIT_SET | 0x70007, 8,
		     "a page of the file");
	close(fd);
	sees(&target, 0x70007, 7, "taken back");
	stop(&target);
}

/* mremap(2) moves the count with the memory; the word stays at its address. */
TEST_F(dev, moved)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, ANON);
	arm_both(fd);
	make_unseen(&target, move_away, 0);
	has_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EFAULT);
	make_and_see(&target, map_place, ANON, BIT_SET, 1, "new memory");
	disarm_both(fd);
	sees(&target, 0, 0, "taken back there");
	is(BIT_SET, look(&target, ELSEWHERE + 16, 4), "what was moved stays");
	is(1, look(&target, ELSEWHERE + 66, 2), "  and so is the count");
	close(fd);
	stop(&target);
}

TEST_F(dev, shared_mapping)
{
	struct target target;
	int fd;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, SHARED);
	both_fail(EOPNOTSUPP, fd, "memory that is shared");
	sees(&target, 0, 0, "and not changed");
	make_and_see(&target, map_place, ANON, BIT_SET, 1, "private memory there");
	make_and_see(&target, map_place, SHARED, 0, 0, "and shared memory again");
	has_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EOPNOTSUPP);
	disarm_both(fd);
	sees(&target, 0, 0, "is not changed");
	close(fd);
	stop(&target);
}

/* The process has a copy of the page, and nobody else sees the word. */
TEST_F(dev, page_of_a_file)
{
	__u16 own[PAGE / 2];
	struct target target;
	__u16 *mapped;
	size_t i, n = 0;
	int fd;

	start_here(&target);
	mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	need(mapped != MAP_FAILED, "mmap");
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make_unseen(&target, map_place, OF_FILE);
	settle(&target, SELF);
	arm_both(fd);
	sees(&target, BIT_SET | 0x70007, 8, "armed before the first look");
	need(pread(file, own, PAGE, 0) == PAGE, "pread");
	for (i = 0; i < PAGE / 2; i++)
		n += own[i] != OF_THE_FILE || mapped[i] != OF_THE_FILE;
	is(0, n, "the file is not changed");
	disarm_both(fd);
	sees(&target, 0x70007, 7, "taken back");
	munmap(mapped, PAGE);
	close(fd);
	stop(&target);
}

/* Kilobytes of huge pages at PLACE. */
static long huge_pages(pid_t pid)
{
	char path[32], line[512];
	unsigned long begin, end;
	bool here = false;
	long size = 0, n;
	FILE *smaps;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	smaps = fopen(path, "r");
	need(smaps, path);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			here = begin == (uintptr_t)PLACE;
		else if (here && sscanf(line, "AnonHugePages: %ld", &n) == 1)
			size = n;
	}
	fclose(smaps);
	return size;
}

TEST_F(dev, huge_page)
{
	static unsigned char want[HUGE], seen[HUGE];
	struct target target;
	int fd;

	start_here(&target);
	if (have(&target, SELF, map_huge, 0) || !huge_pages(target.pid)) {
		stop(&target);
		SKIP(return, "no huge page (TRANSPARENT_HUGEPAGE)");
	}
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm_both(fd);
	arm(fd, PLACE + HUGE - 2, UTRACE_WORD_COUNT16, 0);
	sees(&target, BIT_SET, 1, "armed");
	store(want + 16, 4, BIT_SET);
	store(want + 66, 2, 1);
	store(want + HUGE - 2, 2, 1);
	read_memory(target.pid, PLACE, seen, HUGE);
	holds(!memcmp(want, seen, HUGE), "nothing else is changed");
	make_and_see(&target, advise, MADV_DONTNEED, BIT_SET, 1, "a piece goes");
	close(fd);
	sees(&target, 0, 0, "taken back");
	is(0, look(&target, PLACE + HUGE - 2, 2), "at the end, too");
	stop(&target);
}

#define HUGETLB_PAGES	"/proc/sys/vm/nr_hugepages"

/* Let the kernel have two pages of hugetlbfs more, or take them away again. */
static bool set_hugetlb_pages(int more)
{
	char number[16] = "", path[] = HUGETLB_PAGES;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, number, sizeof(number) - 1);
		close(fd);
	}
	if (n <= 0)
		return false;
	snprintf(number, sizeof(number), "%d", atoi(number) + 2 * more);
	return !set_sysctl("vm/nr_hugepages", number);
}

/* As read_only; the kernel has no FOLL_FORCE for a page of hugetlbfs. */
static void check_hugetlb(struct target *target)
{
	int fd = words_open(target->pid, UTRACE_SCOPE_PROCESS);

	put(target, SEMAPHORE, 2, 5);
	arm_both(fd);
	sees(target, BIT_SET, 6, "armed");
	make_and_see(target, protect_huge, PROT_READ, BIT_SET, 6, "read-only");
	disarm_both(fd);
	sees(target, 0, 5, "taken back in memory that is read-only");
	is(0, words_total(fd), "no word is left");
	both_fail(EACCES, fd, "armed in memory that is read-only");
	sees(target, 0, 5, "which is not changed");
	make(target, protect_huge, PROT_READ | PROT_WRITE);
	arm_again(fd, target->pid, WORD, UTRACE_WORD_BIT32, 31);
	arm_again(fd, target->pid, SEMAPHORE, UTRACE_WORD_COUNT16, 0);
	make_and_see(target, protect_huge, PROT_READ, BIT_SET, 6, "read-only again");
	close(fd);
	sees(target, 0, 5, "taken back with the descriptor");
	make_and_see(target, protect_huge, PROT_READ | PROT_WRITE, 0, 5, "writable");
}

TEST_F(dev, page_of_hugetlbfs)
{
	struct target target;
	bool has;

	if (!set_hugetlb_pages(1))
		SKIP(return, "no hugetlbfs (HUGETLBFS)");
	start_here(&target);
	has = !have(&target, SELF, map_hugetlb, 0);
	if (has)
		check_hugetlb(&target);
	stop(&target);
	set_hugetlb_pages(-1);
	if (!has)
		SKIP(return, "no page of hugetlbfs (HUGETLBFS)");
}

/* No task waits for userfaultfd to bring the page. */
static void nobody_waits(struct target *target)
{
	is(0, have(target, SELF, count_messages, 0), "the target goes on, and nobody waits");
}

TEST_F(dev, page_of_userfaultfd)
{
	struct target target;
	int fd;

	start_here(&target);
	make_unseen(&target, map_place, ANON);
	if (have(&target, SELF, register_place, UFFDIO_REGISTER_MODE_MISSING)) {
		stop(&target);
		SKIP(return, "no userfaultfd(2) (USERFAULTFD)");
	}
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	both_fail(EBUSY, fd, "a page that is not there");
	nobody_waits(&target);
	both_fail(EBUSY, fd, "tried again");
	disarm_both(fd);
	nobody_waits(&target);
	both_fail(EBUSY, fd, "and again");
	make_unseen(&target, copy_to_place, 0);
	arm_again(fd, target.pid, WORD, UTRACE_WORD_BIT32, 31);
	arm_again(fd, target.pid, SEMAPHORE, UTRACE_WORD_COUNT16, 0);
	sees(&target, BIT_SET | 0x70007, 8, "armed when the page is there");
	make_unseen(&target, advise, MADV_DONTNEED);
	nobody_waits(&target);
	has_state(fd, target.pid, UTRACE_ARM_STATE_FAILED, EBUSY);
	close(fd);
	nobody_waits(&target);
	make_and_see(&target, copy_to_place, 0, 0x70007, 7, "a page without the word");
	stop(&target);
}

TEST_F(dev, page_protected_by_userfaultfd)
{
	struct target target;
	int fd;

	start_here(&target);
	make(&target, map_place, ANON);
	put(&target, SEMAPHORE, 2, 5);
	if (have(&target, SELF, register_place, UFFDIO_REGISTER_MODE_WP)) {
		stop(&target);
		SKIP(return, "no protection by userfaultfd(2) (USERFAULTFD)");
	}
	make_unseen(&target, protect_place, 1);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	both_fail(EBUSY, fd, "a page that is protected");
	nobody_waits(&target);
	sees(&target, 0, 5, "and not changed");
	make(&target, protect_place, 0);
	arm_again(fd, target.pid, WORD, UTRACE_WORD_BIT32, 31);
	arm_again(fd, target.pid, SEMAPHORE, UTRACE_WORD_COUNT16, 0);
	sees(&target, BIT_SET, 6, "armed when it is not protected");
	make_and_see(&target, protect_place, 1, BIT_SET, 6, "protected again");
	disarm_both(fd);
	nobody_waits(&target);
	close(fd);
	nobody_waits(&target);
	stop(&target);
}

/* The page is given up or mapped over; the word is set when the call returns. */
static void lose_page(enum loss loss, int toggles)
{
	const int rounds = times(2000);
	struct target target;
	int fd, i, ret = 0;

	start_here(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	make(&target, map_place, ANON);
	if (!toggles) {
		arm(fd, WORD, UTRACE_WORD_BIT32, 31);
		shared->phase += IN;
	}
	tell(&target, SELF, lose_and_look, loss);
	for (i = 0; i < toggles && !ret; i++)
		ret = toggle(fd, WORD, UTRACE_WORD_BIT32, 31, i % 16 ? NO_WAIT : FOR_A_LOOK);
	is(0, ret, "the word is toggled, or has no need of that");
	holds(until(shared->number[0] >= rounds), "the page goes %ld times",
	      shared->number[0]);
	shared->quit = 1;
	is(0, hear(&target, SELF), "its calls have worked");
	are_good_looks("the target");
	close(fd);
	is(0, look(&target, WORD, 4), "the word is not there in the end");
	stop(&target);
}

TEST_F_TIMEOUT(dev, always_there_after_madvise, LONG_TIMEOUT)
{
	lose_page(GIVEN_UP, 0);
}

TEST_F_TIMEOUT(dev, always_there_after_mmap, LONG_TIMEOUT)
{
	lose_page(MAPPED_OVER, 0);
}

TEST_F_TIMEOUT(dev, toggled_under_madvise, LONG_TIMEOUT)
{
	lose_page(GIVEN_UP, times(2000));
}

TEST_F_TIMEOUT(dev, toggled_under_mmap, LONG_TIMEOUT)
{
	lose_page(MAPPED_OVER, times(2000));
}

TEST_HARNESS_MAIN
