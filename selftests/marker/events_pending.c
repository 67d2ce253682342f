// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - user_events: when the bit is written
 *
 * A bit whose page is in memory is written at once, whatever the process does.  Else it
 * is pending until a thread of the process runs.
 */
#include "events.h"

/* The word of these tests has a page of its own; the page before is always present. */
#define OWN_WORD	(PLACE + PAGE + 16)
#define OTHER_BITS	0x05050505

/* What has become of the page before the event is enabled. */
enum deed { KEPT, FORKED, GIVEN_UP };

static const char * const deed_texts[] = {
	"a page that is there", "a page that a child has, too",
	"a page that was given up",
};

/* A child that has the page as long as its parent lives; number[2] is its pid. */
static void fork_beside(void)
{
	pid_t pid = plain_fork();

	if (pid) {
		shared->number[2] = pid;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* Register the word, in pages that are new. */
static long make_word(long unused)
{
	if (mmap(PLACE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE)
		return -errno;
	store(PLACE, 4, 1);
	store(OWN_WORD, 4, OTHER_BITS);
	return register_word(0, OWN_WORD, 4, BIT);
}

static long do_deed(long deed)
{
	if (deed == FORKED)
		fork_beside();
	return deed == GIVEN_UP && madvise(PLACE + PAGE, PAGE, MADV_DONTNEED) ?
	       -errno : 0;
}

/*
 * Spin without a system call, and load the word as soon as the test says that
 * the event is enabled.  number[]: 0: 0, or PAGE while the event is enabled.
 * 1: the last value that the thread has read.
 *
 * number[0] is the offset to load from, so that no jump is between the two
 * loads, see linger().
 */
static long spin(long unused)
{
	long at, last = 0;
	__u64 seen;

	while (!shared->quit) {
		linger();
		at = shared->number[0];
		seen = load(PLACE + at + 16, 4);
		if (at == last)
			continue;
		if (at) {
			shared->missed += seen != BIT_SET;
			shared->looks++;
		}
		shared->number[1] = at;
		last = at;
	}
	return 0;
}

static long protect(long protection)
{
	return mprotect(PLACE + PAGE, PAGE, protection) ? -errno : 0;
}

static void make(struct target *target, enum who who, order_fn *call, int n)
{
	long ret = have(target, who, call, n);

	errno = -ret;
	need(!ret, "a call of the target");
}

static void start_here(struct target *target)
{
	start_words(target);
	make(target, SELF, make_word, 0);
}

static __u64 sees(struct target *target)
{
	return look(target, OWN_WORD, 4);
}

/* Wait until the target sleeps, and stop it if @stopped. */
static void rest(struct target *target, bool stopped)
{
	settle(target, SELF);
	if (stopped)
		freeze(target->pid);
}

static void go_on(struct target *target, bool stopped)
{
	if (stopped)
		thaw(target->pid);
}

/* Check the state of the target in the file, and the word in its memory. */
static void is_known(struct target *target, enum process_state state,
		     __u64 word, const char *text)
{
	is(state, process_state(0, target->pid), text);
	is(word, read_word(target->pid, OWN_WORD, 4), "  as the memory has it");
}

/*
 * The bit is in memory when the write to enable returns.  The exception is a page that is
 * shared with a child of fork(2): only the process copies it, when it runs.
 */
static void check_at_once(enum deed deed, bool stopped)
{
	const bool copies = deed == FORKED;
	const enum process_state on = copies ? IS_PENDING : IS_ENABLED;
	const __u64 word = copies ? OTHER_BITS : BIT_SET | OTHER_BITS;
	struct target target;

	start_here(&target);
	holds(true, "%s, %s", deed_texts[deed], stopped ? "stopped" : "asleep");
	make(&target, SELF, do_deed, deed);
	rest(&target, stopped);
	is_known(&target, IS_OFF, OTHER_BITS, "off");
	enable(0, true);
	is_known(&target, on, word, copies ? "pending" : "enabled");
	enable(0, false);
	is_known(&target, IS_OFF, OTHER_BITS, "off again");
	enable(0, true);
	is_known(&target, on, word, copies ? "and pending" : "and enabled");
	go_on(&target, stopped);
	is(BIT_SET | OTHER_BITS, sees(&target), "as the program sees");
	is_known(&target, IS_ENABLED, BIT_SET | OTHER_BITS, "which is known");
	enable(0, false);
	is(OTHER_BITS, sees(&target), "until it is disabled");
	if (copies)
		is(OTHER_BITS, read_word(shared->number[2], OWN_WORD, 4),
		   "the child, too");
	stop(&target);
}

static bool lacks_processes(void)
{
	return access(PROCESSES, F_OK);
}

#define NO_PROCESSES	"no user_events_processes (UTRACE_MARKERS)"

TEST_F(events, at_once)
{
	if (lacks_processes())
		SKIP(return, NO_PROCESSES);
	check_at_once(KEPT, false);
	check_at_once(KEPT, true);
	check_at_once(FORKED, false);
	check_at_once(FORKED, true);
}

/* Only the target can write the bit, and the target does nothing. */
static void check_pending(bool stopped)
{
	struct target target;

	start_here(&target);
	make(&target, SELF, do_deed, GIVEN_UP);
	rest(&target, stopped);
	is(IS_OFF, process_state(0, target.pid), "off");
	enable(0, true);
	is(IS_PENDING, process_state(0, target.pid), "pending");
	is(0, word_error, "  without a reason");
	usleep(10000);
	is(IS_PENDING, process_state(0, target.pid), "still pending");
	enable(0, false);
	is(IS_OFF, process_state(0, target.pid), "off before it was written");
	enable(0, true);
	is_known(&target, IS_PENDING, 0, "pending again");
	go_on(&target, stopped);
	is(BIT_SET, sees(&target), "the program sees it");
	is_known(&target, IS_ENABLED, BIT_SET, "enabled");
	make(&target, SELF, do_deed, GIVEN_UP);
	is_known(&target, IS_ENABLED, BIT_SET, "and given up");
	enable(0, false);
	stop(&target);
}

TEST_F(events, pending)
{
	if (lacks_processes())
		SKIP(return, NO_PROCESSES);
	check_pending(false);
	check_pending(true);
}

/* A bit that is to be cleared, in a page that the program may not read. */
TEST_F(events, hidden)
{
	struct target target;

	if (lacks_processes())
		SKIP(return, NO_PROCESSES);
	start_here(&target);
	enable(0, true);
	make(&target, SELF, protect, PROT_NONE);
	rest(&target, true);
	enable(0, false);
	is_known(&target, IS_OFF, BIT_SET | OTHER_BITS, "off, but not cleared");
	enable(0, true);
	is_known(&target, IS_ENABLED, BIT_SET | OTHER_BITS, "enabled");
	enable(0, false);
	go_on(&target, true);
	have(&target, SELF, own_tid, 0);
	is_known(&target, IS_OFF, OTHER_BITS, "off when the target has run");
	stop(&target);
}

/* The list of a tracer says what the file says of ftrace. */
static void has_state(struct tracer *tracer, pid_t pid,
		      enum utrace_arm_state state, const char *text)
{
	is(state, word_state(tracer->session, pid, OWN_WORD), text);
	is(0, word_error, "  without a reason");
	is(IS_OFF, process_state(0, pid), "  and ftrace has not enabled it");
}

static void check_armed(bool stopped)
{
	struct target target;
	struct tracer tracer;

	start_here(&target);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	rest(&target, stopped);
	arm_event(tracer.session, 0, 0);
	has_state(&tracer, target.pid, UTRACE_ARM_STATE_ARMED, "armed at once");
	is(BIT_SET | OTHER_BITS, read_word(target.pid, OWN_WORD, 4), "  there");
	disarm_event(tracer.session, 0);
	is(0, words_total(tracer.session), "taken back at once");
	is(OTHER_BITS, read_word(target.pid, OWN_WORD, 4), "  not there");
	go_on(&target, stopped);
	make(&target, SELF, do_deed, GIVEN_UP);
	rest(&target, stopped);
	arm_event(tracer.session, 0, 0);
	has_state(&tracer, target.pid, UTRACE_ARM_STATE_PENDING, "pending");
	is(0, read_word(target.pid, OWN_WORD, 4), "  not there");
	go_on(&target, stopped);
	is(BIT_SET, sees(&target), "the program sees it");
	has_state(&tracer, target.pid, UTRACE_ARM_STATE_ARMED, "armed");
	make(&target, SELF, protect, PROT_NONE);
	rest(&target, stopped);
	disarm_event(tracer.session, 0);
	has_state(&tracer, target.pid, UTRACE_ARM_STATE_LEAVING, "leaving");
	is(BIT_SET, read_word(target.pid, OWN_WORD, 4), "  still there");
	go_on(&target, stopped);
	have(&target, SELF, own_tid, 0);
	is(0, words_total(tracer.session), "gone when the target has run");
	is(0, read_word(target.pid, OWN_WORD, 4), "  not there");
	untrace(&tracer);
	stop(&target);
}

TEST_F(traced, armed)
{
	check_armed(false);
	check_armed(true);
}

/* Enable the event, say so, and have the thread look.  Returns 0 or an error. */
static int enable_and_look(int fd)
{
	int ret = switch_event(fd, true);

	/* Nothing comes in between: the promise holds from here on. */
	shared->number[0] = PAGE;
	if (!until(shared->number[1] == (long)PAGE))
		return -ETIME;
	shared->number[0] = 0;
	if (!until(!shared->number[1]))
		return -ETIME;
	return ret ?: switch_event(fd, false);
}

/*
 * A thread that is in user mode while the event is enabled sees the bit from then on,
 * although the page of the word is not there.
 */
TEST_F_TIMEOUT(events, busy_thread, LONG_TIMEOUT)
{
	const int rounds = times_if_fast(400);
	int i, fd, ret = 0;
	struct target target;

	if (lacks_processes())
		SKIP(return, NO_PROCESSES);
	start_here(&target);
	have_more(&target, THREAD);
	pin_to_cpu(target.pid, 0);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		pin_to_cpu(target.tid[THREAD], 1);
		pin_to_cpu(0, 1);
	}
	fd = open_enable(0);
	tell(&target, SELF, spin, 0);
	for (i = 0; i < rounds && !ret; i++) {
		make(&target, THREAD, do_deed, GIVEN_UP);
		ret = enable_and_look(fd);
	}
	is(0, ret, "the event is switched");
	shared->quit = 1;
	hear(&target, SELF);
	is(rounds, shared->looks, "each time the thread has looked");
	is(0, shared->missed, "no first look has missed the bit");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN
