// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - user_events: other users of a bit, memory that changes
 * under a word, and the file user_events_processes
 *
 * The tests of the fixture events are for any kernel with user_events.
 */
#include <linux/userfaultfd.h>

#include "events.h"

/* A word in memory that comes and goes. */
#define IN_PLACE	(PLACE + 16)

#define ENGINES		"/proc/sys/user/max_utrace_engines"

/* A memfd; each of its 32 bits is this number. */
static int file = -1;
#define OF_THE_FILE	0x07070707

static int uffd = -1;		/* of the target */

static bool map_page(int flags, int fd)
{
	return mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | flags, fd,
		    0) == PLACE;
}

/* Let userfaultfd(2) have the page at PLACE; nobody serves it. */
static int register_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register arg = {
		.range = { (uintptr_t)PLACE, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	return uffd < 0 || ioctl(uffd, UFFDIO_API, &api) ||
	       ioctl(uffd, UFFDIO_REGISTER, &arg) ? -1 : 0;
}

static int serve_page(void)
{
	struct uffdio_zeropage arg = { .range = { (uintptr_t)PLACE, PAGE } };

	return ioctl(uffd, UFFDIO_ZEROPAGE, &arg);
}

/* The new page at PLACE. */
enum place { ANON, OF_FILE, SHARED, UNMAPPED, GIVEN_UP, UFFD, SERVED };

static long make_place(long place)
{
	switch (place) {
	case ANON:
		return map_page(MAP_PRIVATE | MAP_ANONYMOUS, -1) ? 0 : -1;
	case OF_FILE:
		return map_page(MAP_PRIVATE, file) ? 0 : -1;
	case SHARED:
		return map_page(MAP_SHARED, file) ? 0 : -1;
	case UNMAPPED:
		return munmap(PLACE, PAGE);
	case GIVEN_UP:
		return madvise(PLACE, PAGE, MADV_DONTNEED);
	case UFFD:
		return register_uffd();
	case SERVED:
		return serve_page();
	}
	return -1;
}

/* Register @n bits of the words from WORD on; returns 0 or -errno. */
static long register_bits(long n)
{
	int i, ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = register_word(0, WORD + i / 32 * 4, 4, i % 32);
	return ret;
}

/* Count the bits that are set. */
static long count_bits(long n)
{
	int i, set = 0;

	for (i = 0; i < n; i += 32)
		set += __builtin_popcount(load(WORD + i / 32 * 4, 4));
	return set;
}

/*
 * In a child: count the bits each time that number[0] grows.  number[1]: the sum.
 * number[2]: how many have counted, or have been born at first.
 */
static void count_on(int n)
{
	long round = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->number[2]++;
	while (!shared->quit) {
		if (shared->number[0] == round) {
			usleep(1000);
			continue;
		}
		round = shared->number[0];
		shared->number[1] += count_bits(n);
		shared->number[2]++;
	}
	_exit(0);
}

/* Map private memory at PLACE, and load the word at once. */
static long map_over(long unused)
{
	long ret = make_place(ANON);

	shared->seen = load(IN_PLACE, 4);
	return ret;
}

static long fork_counter(long bits)
{
	if (!fork())
		count_on(bits);
	return 0;
}

/* End the thread; there is no answer. */
static long exit_thread(long unused)
{
	return syscall(SYS_exit, 0);
}

static void place_becomes(struct target *target, enum place place)
{
	need(!have(target, SELF, make_place, place), "memory at PLACE");
}

static __u64 sees(struct target *target)
{
	return look(target, WORD, 4);
}

/* The bit is there while anybody wants it. */
TEST_F(traced, tracers_beside_ftrace)
{
	struct target target;
	unsigned int dice = 1;
	int fd[2], i, who, wrong = 0;
	bool on[3] = {};

	start_words(&target);
	have_word(&target, 0);
	for (i = 0; i < 2; i++)
		fd[i] = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < times(200) && !wrong; i++) {
		dice = dice * 1103515245 + 12345;
		who = (dice >> 16) % 3;
		on[who] = !on[who];
		if (who == 2)
			enable(0, on[who]);
		else if (on[who])
			arm(fd[who], WORD, UTRACE_WORD_BIT32, BIT);
		else
			disarm(fd[who], WORD, UTRACE_WORD_BIT32, BIT);
		wrong += sees(&target) !=
			 (on[0] || on[1] || on[2] ? BIT_SET : 0);
	}
	holds(!wrong, "step %d: tracers %d and %d, ftrace %d", i, on[0], on[1],
	      on[2]);
	close(fd[0]);
	close(fd[1]);
	is(on[2] ? BIT_SET : 0, sees(&target), "the tracers are gone");
	stop(&target);
}

TEST_F(traced, unregistered_beside_a_tracer)
{
	struct target target;
	int fd;

	start_words(&target);
	have_word(&target, 0);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	enable(0, true);
	arm(fd, WORD, UTRACE_WORD_BIT32, BIT);
	have_unregistered(&target, WORD, 4, BIT);
	is(BIT_SET, shared->seen, "the tracer's bit stays");
	is(UTRACE_ARM_STATE_ARMED, word_state(fd, target.pid, WORD),
	   "and is in the list");
	disarm(fd, WORD, UTRACE_WORD_BIT32, BIT);
	is(0, sees(&target), "until it is disarmed");
	arm(fd, WORD, UTRACE_WORD_BIT32, BIT);
	have_word(&target, 0);
	close(fd);
	is(BIT_SET, sees(&target), "registered again, without the tracer");
	enable(0, false);
	is(0, sees(&target), "and disabled");
	stop(&target);
}

/* A target has a bit for one purpose, and says so. */
TEST_F(traced, word_and_event_of_one_bit)
{
	struct target target;
	int fd;

	start_words(&target);
	have_word(&target, 0);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, UTRACE_WORD_BIT32, BIT);
	is(-EEXIST, try_arm_event(fd, 0, 0),
	   "no event whose bit is a word of the target");
	is(0, counts_of(fd, NULL, 0), "nothing of the event is left");
	is(BIT_SET, sees(&target), "the word stays");
	disarm(fd, WORD, UTRACE_WORD_BIT32, BIT);
	is(0, sees(&target), "until it is disarmed");
	arm_event(fd, 0, 0);
	is(-EEXIST, word_arm(fd, WORD, UTRACE_WORD_BIT32, BIT),
	   "no word that is a bit of an event");
	is(BIT_SET, sees(&target), "the event stays");
	close(fd);
	is(0, sees(&target), "until the session is closed");
	stop(&target);
}

/* Register the word of a target while its user may have no more engines. */
static int register_without_room(struct target *target)
{
	int before = set_number(ENGINES, 0), ret;

	ret = order_event(target, SELF, register_ordered, 0, WORD, 4, BIT);
	set_number(ENGINES, before);
	return before < 0 ? before : ret;
}

/* The bit works as on a kernel without utrace, and ARM fails with EUSERS. */
TEST_F(traced, registered_without_an_engine)
{
	struct target target;
	int fd;

	start_words(&target);
	is(0, register_without_room(&target), "the word is registered");
	enable(0, true);
	holds(until(sees(&target) == BIT_SET), "ftrace has the bit");
	enable(0, false);
	holds(until(!sees(&target)), "and takes it back");
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	is(-EUSERS, try_arm_event(fd, 0, 0), "a tracer is refused");
	is(0, counts_of(fd, NULL, 0), "nothing of the event is left");
	is(0, sees(&target), "and the bit is not set");
	close(fd);
	stop(&target);
}

/* The number of threads of a process. */
static int threads_of(pid_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &st) ? -1 : (int)st.st_nlink - 2;
}

/* Check that the program sees the bit all the time for a second. */
static void stays_set(struct target *target, const void *word, const char *text)
{
	long end = now_ms() + 1000 * ut_patience();
	__u64 always = BIT_SET;

	while (now_ms() < end) {
		always &= look(target, word, 4);
		usleep(5000);
	}
	is(BIT_SET, always, text);
}

static void end_thread(struct target *target)
{
	tell(target, THREAD, exit_thread, 0);
	need(until(threads_of(target->pid) == 1), "the end of the thread");
}

/* The kernel no longer writes a word that was unregistered. */
static void is_left_alone(struct target *target, const void *word)
{
	put(target, (void *)word, 4, 0);
	enable(0, false);
	enable(0, true);
	is(0, look(target, word, 4), "the word is no longer written");
}

/*
 * A thread that is older than the first registration of its process has registrations of
 * its own, which end with the thread.  As on any kernel, the bits do not change then.
 */
TEST_F(traced, thread_that_ends)
{
	const void *word = WORD + PAGE;
	struct target target;

	start_words(&target);
	have_more(&target, THREAD);
	have_word(&target, 0);
	is(0, order_event(&target, THREAD, register_ordered, 0, word, 4, BIT),
	   "the thread registers a word");
	enable(0, true);
	is(BIT_SET, look(&target, word, 4), "which is set");
	end_thread(&target);
	stays_set(&target, word, "it stays set after the thread");
	is(BIT_SET, sees(&target), "so does that of the process");
	enable(0, false);
	is(0, sees(&target), "which is cleared with the event");
	is_left_alone(&target, word);
	stop(&target);
}

/* A target in which nobody but a thread registers the word, and a process for the event. */
static void start_thread(struct target *keeper, struct target *target)
{
	start_words(keeper);
	have_word(keeper, 0);
	start_words(target);
	have_more(target, THREAD);
}

static void have_word_of_thread(struct target *target)
{
	is(0, order_event(target, THREAD, register_ordered, 0, WORD, 4, BIT),
	   "the thread registers a word");
}

TEST_F(traced, only_thread_that_registers_ends)
{
	struct target keeper, target;

	start_thread(&keeper, &target);
	enable(0, true);
	have_word_of_thread(&target);
	is(BIT_SET, shared->seen, "the bit is there when REG returns");
	end_thread(&target);
	stays_set(&target, WORD, "it stays set after the thread");
	is_left_alone(&target, WORD);
	stop(&target);
	stop(&keeper);
}

/* A tracer arms the bit as a word, or by the name of the event, beside ftrace. */
static void check_tracer_of_thread(bool by_name)
{
	struct target keeper, target;
	int fd;

	start_thread(&keeper, &target);
	enable(0, true);
	have_word_of_thread(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	if (by_name)
		arm_event(fd, 0, 0);
	else
		arm(fd, WORD, UTRACE_WORD_BIT32, BIT);
	is(1, words_total(fd), by_name ? "armed by name" : "armed as a word");
	end_thread(&target);
	stays_set(&target, WORD, "the bit stays set after the thread");
	if (by_name)
		disarm_event(fd, 0);
	else
		disarm(fd, WORD, UTRACE_WORD_BIT32, BIT);
	stays_set(&target, WORD, "and after the tracer");
	close(fd);
	is_left_alone(&target, WORD);
	enable(0, false);
	stop(&target);
	stop(&keeper);
}

TEST_F(traced, thread_that_ends_beside_a_tracer)
{
	check_tracer_of_thread(false);
	check_tracer_of_thread(true);
}

/* With a tracer alone, the bit stays clear once nothing is registered. */
TEST_F(traced, thread_that_ends_under_a_tracer)
{
	struct target keeper, target;
	int fd;

	start_thread(&keeper, &target);
	have_word_of_thread(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(fd, 0, 0);
	is(BIT_SET, sees(&target), "armed");
	end_thread(&target);
	holds(until(!sees(&target)), "the bit is cleared after the thread");
	holds(until(!words_total(fd)), "and the tracer has no word");
	enable(0, true);
	is(0, sees(&target), "nor does ftrace set the bit");
	enable(0, false);
	close(fd);
	stop(&target);
	stop(&keeper);
}

/* A child starts with the registrations of the thread that has created it. */
TEST_F(traced, child_of_a_thread)
{
	struct target target;

	start_words(&target);
	have_more(&target, THREAD);
	have_word(&target, 0);
	enable(0, true);
	target.tid[CHILD] = have(&target, THREAD, add_child, 0);
	is(BIT_SET, sees(&target), "the parent's bit");
	is(0, look_as(&target, CHILD, WORD, 4),
	   "a thread without registrations has a child without the bit");
	enable(0, false);
	enable(0, true);
	is(0, look_as(&target, CHILD, WORD, 4), "whose memory is left alone");
	stop(&target);
}

/* As kernel/utrace/marker/marker.h has it: bits of a process and its descendants. */
#define MOST_BITS	65536
/* Registering checks all bits that the process has registered. */
#define BITS		4096
#define CHILDREN	(MOST_BITS / BITS)

/* The number of bits that are set in the target and all its children. */
static int set_in_all(struct target *target)
{
	shared->number[1] = 0;
	shared->number[2] = 0;
	shared->number[0]++;
	need(until(shared->number[2] == CHILDREN), "counts of all children");
	return shared->number[1] + have(target, SELF, count_bits, BITS);
}

/* Bits beyond the limit are not set; the bits within the limit work. */
TEST_F_TIMEOUT(traced, too_many_bits, LONG_TIMEOUT)
{
	struct target target;
	int i, fd;

	if (setting("SLOW"))
		SKIP(return, "takes too long on this kernel (SLOW)");
	start_words(&target);
	is(0, have(&target, SELF, register_bits, BITS), "all are registered");
	shared->number[0] = 0;
	shared->number[2] = 0;
	for (i = 0; i < CHILDREN; i++)
		have(&target, SELF, fork_counter, BITS);
	need(until(shared->number[2] == CHILDREN), "children");
	fd = open_enable(0);
	for (i = 0; i < 4; i++) {
		need(!switch_event(fd, !(i % 2)), "a switch");
		is(i % 2 ? 0 : MOST_BITS, set_in_all(&target), "bits are set");
	}
	close(fd);
	shared->quit = 1;
	stop(&target);
	shared->quit = 0;
}

static void make_file(void)
{
	__u32 page[PAGE / 4];
	size_t i;

	for (i = 0; i < PAGE / 4; i++)
		page[i] = OF_THE_FILE;
	file = memfd_create("file", 0);
	need(file >= 0 && write(file, page, PAGE) == PAGE, "memfd");
}

static __u64 in_the_file(void)
{
	__u32 value = 0;

	need(pread(file, &value, 4, IN_PLACE - PLACE) == 4, "the file");
	return value;
}

/* Check the bit in shared memory, and that nothing else has changed. */
static void is_shared(struct target *target, bool on)
{
	unsigned long long word = OF_THE_FILE | (on ? BIT_SET : 0);

	is(word, look(target, IN_PLACE, 4), on ? "the bit is set" : "cleared");
	is(word, in_the_file(), "in the file, too");
}

/* A word may lie in shared memory, which children of fork(2) share. */
TEST_F(events, shared_mapping)
{
	struct target target;
	int i;

	make_file();
	start_words(&target);
	place_becomes(&target, SHARED);
	have_registered(&target, 0, IN_PLACE, 4, BIT);
	for (i = 0; i < 4; i++) {
		enable(0, !(i % 2));
		is_shared(&target, !(i % 2));
	}
	enable(0, true);
	place_becomes(&target, UNMAPPED);
	enable(0, false);
	place_becomes(&target, SHARED);
	for (i = 0; i < 4; i++) {
		enable(0, !(i % 2));
		is_shared(&target, !(i % 2));
	}
	stop(&target);
}

/* A tracer of one process has the bit in shared memory while ftrace has it, too. */
static void has_shared(struct target *target, int fd, bool on)
{
	is_shared(target, on);
	is(on ? UTRACE_ARM_STATE_ARMED : UTRACE_ARM_STATE_FAILED,
	   word_state(fd, target->pid, IN_PLACE), "  the state of the tracer");
	is(on ? 0 : EOPNOTSUPP, word_error, "  and its reason");
}

static void start_shared(struct target *target)
{
	make_file();
	start_words(target);
	place_becomes(target, SHARED);
	have_registered(target, 0, IN_PLACE, 4, BIT);
}

/* Private memory over the shared one: the tracer has the bit there, and only there. */
static void check_mapped_over(struct target *target, int fd)
{
	need(!have(target, SELF, map_over, 0), "memory at PLACE");
	is(BIT_SET, shared->seen, "mapped over: the bit is there at once");
	is(UTRACE_ARM_STATE_ARMED, word_state(fd, target->pid, IN_PLACE),
	   "  the state of the tracer");
	is(OF_THE_FILE, in_the_file(), "  the file is not changed");
	disarm_event(fd, 0);
	is(0, look(target, IN_PLACE, 4), "  disarmed");
}

TEST_F(traced, shared_mapping_tracer_first)
{
	struct target target;
	int fd, i;

	start_shared(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(fd, 0, 0);
	has_shared(&target, fd, false);
	for (i = 0; i < 4; i++) {
		enable(0, !(i % 2));
		has_shared(&target, fd, !(i % 2));
	}
	check_mapped_over(&target, fd);
	close(fd);
	stop(&target);
}

TEST_F(traced, shared_mapping_ftrace_first)
{
	struct target target;
	int fd;

	start_shared(&target);
	enable(0, true);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm_event(fd, 0, 0);
	has_shared(&target, fd, true);
	enable(0, false);
	has_shared(&target, fd, false);
	enable(0, true);
	has_shared(&target, fd, true);
	disarm_event(fd, 0);
	is_shared(&target, true);
	arm_event(fd, 0, 0);
	enable(0, false);
	has_shared(&target, fd, false);
	check_mapped_over(&target, fd);
	close(fd);
	stop(&target);
}

/* The session may be closed in either state. */
TEST_F(traced, shared_mapping_without_the_tracer)
{
	struct target target;
	int fd, on;

	start_shared(&target);
	for (on = 1; on >= 0; on--) {
		enable(0, true);
		fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
		arm_event(fd, 0, 0);
		enable(0, on);
		has_shared(&target, fd, on);
		close(fd);
		is_shared(&target, on);
		enable(0, false);
		is_shared(&target, false);
	}
	stop(&target);
}

/* As word_and_event_of_one_bit, with a bit that cannot be written. */
TEST_F(traced, word_and_event_of_one_bit_that_fails)
{
	struct target target;
	int fd;

	make_file();
	start_words(&target);
	place_becomes(&target, SHARED);
	have_registered(&target, 0, IN_PLACE, 4, BIT);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	fails(EOPNOTSUPP, fd, IN_PLACE, UTRACE_WORD_BIT32, BIT, "a word");
	is(-EEXIST, try_arm_event(fd, 0, 0), "no event beside the word");
	disarm(fd, IN_PLACE, UTRACE_WORD_BIT32, BIT);
	arm_event(fd, 0, 0);
	is(UTRACE_ARM_STATE_FAILED, word_state(fd, target.pid, IN_PLACE),
	   "an event");
	is(-EEXIST, word_arm(fd, IN_PLACE, UTRACE_WORD_BIT32, BIT),
	   "no word beside the event");
	close(fd);
	stop(&target);
}

/* Private memory at the address is the word. */
TEST_F(events, private_mapping)
{
	struct target target;

	make_file();
	start_words(&target);
	place_becomes(&target, ANON);
	have_registered(&target, 0, IN_PLACE, 4, BIT);
	enable(0, true);
	place_becomes(&target, UNMAPPED);
	enable(0, false);
	place_becomes(&target, ANON);
	enable(0, true);
	is(BIT_SET, look(&target, IN_PLACE, 4), "new memory is the word");
	enable(0, false);
	is(0, look(&target, IN_PLACE, 4), "as the old one was");
	place_becomes(&target, OF_FILE);
	enable(0, true);
	is(OF_THE_FILE | BIT_SET, look(&target, IN_PLACE, 4),
	   "a private copy of the file is, too");
	is(OF_THE_FILE, in_the_file(), "but not the file");
	stop(&target);
}

TEST_F(traced, processes_file)
{
	struct target target;
	struct stat st;

	start_words(&target);
	is(0, stat(PROCESSES, &st), "user_events_processes");
	is(0440, st.st_mode & 07777, "its mode");
	is(-ENOENT, process_state(0, target.pid), "no line");
	place_becomes(&target, ANON);
	have_registered(&target, 0, IN_PLACE, 4, BIT);
	is(IS_OFF, process_state(0, target.pid), "off");
	enable(0, true);
	holds(is_enabled(0, target.pid), "enabled");
	look(&target, IN_PLACE, 4);
	is(IS_ENABLED, process_state(0, target.pid), "also after a look");
	place_becomes(&target, UNMAPPED);
	enable(0, false);
	enable(0, true);
	is(IS_FAILED, process_state(0, target.pid), "failed");
	is(EFAULT, word_error, "as nothing is mapped");
	place_becomes(&target, ANON);
	is(BIT_SET, look(&target, IN_PLACE, 4), "there is memory again");
	is(IS_ENABLED, process_state(0, target.pid), "enabled");
	have_registered(&target, 0, WORD, 4, BIT);
	is(-EEXIST, process_state(0, target.pid), "two registrations");
	have_unregistered(&target, WORD, 4, BIT);
	is(IS_ENABLED, process_state(0, target.pid), "one of them is over");
	enable(0, false);
	is(IS_OFF, process_state(0, target.pid), "off");
	have_registered(&target, 1, WORD, 4, BIT);
	have_unregistered(&target, IN_PLACE, 4, BIT);
	is(-ENOENT, process_state(0, target.pid), "no line");
	is(IS_OFF, process_state(1, target.pid), "another event");
	stop(&target);
	is(-ENOENT, process_state(1, target.pid), "the process is over");
}

TEST_F(traced, processes_of_a_fork)
{
	struct target target;
	int state = -1;
	pid_t whose;

	start_words(&target);
	have_word(&target, 0);
	enable(0, true);
	have_more(&target, CHILD);
	is(2, process_lines(0, 0, &state, &whose), "parent and child");
	holds(is_enabled(0, target.pid), "the parent");
	holds(is_enabled(0, target.tid[CHILD]), "the child");
	is(0, order_event(&target, CHILD, unregister_ordered, 0, WORD, 4, BIT),
	   "the child unregisters");
	is(1, process_lines(0, 0, &state, &whose), "one is left");
	is(target.pid, whose, "which is the parent");
	stop(&target);
}

TEST_F(traced, word_of_userfaultfd)
{
	struct target target;

	start_words(&target);
	place_becomes(&target, ANON);
	have_registered(&target, 0, IN_PLACE, 4, BIT);
	place_becomes(&target, GIVEN_UP);
	if (have(&target, SELF, make_place, UFFD)) {
		stop(&target);
		SKIP(return, "no userfaultfd(2) (USERFAULTFD)");
	}
	enable(0, true);
	is(IS_FAILED, process_state(0, target.pid), "a page nobody serves");
	is(EBUSY, word_error, "with the reason");
	settle(&target, SELF);
	place_becomes(&target, SERVED);
	enable(0, false);
	enable(0, true);
	is(BIT_SET, look(&target, IN_PLACE, 4), "enabled when it is there");
	is(IS_ENABLED, process_state(0, target.pid), "as the file says");
	stop(&target);
}

/* The first process of a pid namespace sees itself, and nobody outside. */
static int be_first(void *arg)
{
	int state = -1, lines;
	pid_t whose = 0;

	is(1, syscall(SYS_getpid), "a new pid namespace");
	is(0, register_word(0, WORD, 4, BIT), "a word");
	lines = process_lines(0, 0, &state, &whose);
	is(1, lines, "the only line");
	is(1, whose, "is its own");
	return dev_test->exit_code;
}

static int enter_namespace(void *arg)
{
	if (unshare(CLONE_NEWPID))
		return 94;
	return in_child(be_first, NULL);
}

TEST_F(traced, processes_in_a_namespace)
{
	struct target target;

	start_words(&target);
	have_word(&target, 0);
	is(0, in_child(enter_namespace, NULL), "inside");
	is(IS_OFF, process_state(0, target.pid), "and outside");
	stop(&target);
}

TEST_HARNESS_MAIN
