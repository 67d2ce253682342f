// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - user_events without memory
 *
 * The calls are those of tracers and of ftrace, and of the target, which also forks
 * and executes programs.  A call that fails has changed nothing, and one that works has
 * done all.
 */
#include "events.h"
#include "memory.h"

/*
 * The bits of event 0 are the highest bit of WORD, in which the target has counted
 * before, and a bit of OTHER_WORD, in another page.
 */
#define OWN_COUNT	7
#define OTHER_WORD	(area + 3 * PAGE)
#define OTHER_BIT	40
#define BOTH		3

static struct tracer tracer;
static int enable_fd;
static __u32 scope;

/* A process that has registered the event all the time. */
static struct target keeper;

/* The bits that are set, 1 and 2; 4: something else is in the words. */
static int bits_here(void)
{
	__u64 bit = 1ULL << OTHER_BIT;
	__u64 one = load(WORD, 4), two = load(OTHER_WORD, 8);
	bool strange = (one & ~(__u64)BIT_SET) != OWN_COUNT || two & ~bit;

	return (one & BIT_SET ? 1 : 0) + (two & bit ? 2 : 0) + (strange ? 4 : 0);
}

static int write_here(void)
{
	long ret = write_event(0, make_payload(), 8);

	return ret == 8 ? 0 : ret;
}

static int register_first(void)
{
	return register_word(0, WORD, 4, BIT);
}

static int register_other(void)
{
	return register_word(0, OTHER_WORD, 8, OTHER_BIT);
}

/*
 * A child loads the bits at once, then each time that number[1] is another
 * step, and ends if that is below 0.  number[]: 4: the bits at first, and
 * 1 << 8.  5: the bits now.  6: what a write of the event gives.  7: the last
 * step.
 */
static void be_child(void)
{
	long step = 0;

	shared->number[4] = bits_here() | 1 << 8;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (step >= 0) {
		if (shared->number[1] == step) {
			usleep(1000);
			continue;
		}
		step = shared->number[1];
		shared->number[5] = bits_here();
		shared->number[6] = write_here();
		shared->number[7] = step;
	}
	_exit(0);
}

static int fork_here(void)
{
	pid_t pid = plain_fork();

	if (!pid)
		be_child();
	return pid < 0 ? -errno : pid;
}

/*
 * Make the call whose address is in shared::value, when the file of events is
 * open, with the @n-th allocation failing.
 */
static long fail_with_events(long n)
{
	data_file();
	return fail_here(n, (void *)(uintptr_t)shared->value);
}

static long execute_here(long n)
{
	return execute_failing(n, "/proc/self/exe", "register");
}

static long load_bits(long unused)
{
	return bits_here();
}

/* The state of the target */

static int bits(void)
{
	return have(&target, SELF, load_bits, 0);
}

/* The bits of the event that the list shows for a process, and that are given. */
static int rows_of(pid_t pid)
{
	struct utrace_armed rows[16];
	int i, n, sum = 0;
	__u32 total;

	n = word_list(tracer.session, rows, 16, &total);
	for (i = 0; i < n; i++)
		sum += rows[i].pid == pid && is_given(rows[i].state);
	return sum;
}

/*
 * The registrations of a process in states from @first to @last; those that have
 * failed had no memory.
 */
static int lines_of(pid_t pid, int first, int last)
{
	char line[512], name[256], text[32];
	FILE *file = fopen(PROCESSES, "re");
	int of, error, state, got, n = 0;

	need(file, PROCESSES);
	while (fgets(line, sizeof(line), file)) {
		error = 0;
		got = sscanf(line, "%255s %d %31s %d", name, &of, text, &error);
		if (got < 3 || strcmp(name, event[0].name) || of != pid)
			continue;
		state = parse_state(text, error);
		n += state >= first && state <= last &&
		     (!error || error == ENOMEM);
	}
	fclose(file);
	return n;
}

static int registered(pid_t pid)
{
	return lines_of(pid, IS_OFF, IS_FAILED);
}

/* The bits that ftrace has; the rest is off, or failed for lack of memory. */
static int enabled(pid_t pid)
{
	return lines_of(pid, IS_ENABLED, IS_PENDING);
}

static int count_bits(int bits)
{
	return bits & 4 ? -EPROTO : __builtin_popcount(bits);
}

static int event_arm(void)
{
	return try_arm_event(tracer.session, 0, 0);
}

static int event_disarm(void)
{
	return try_disarm_event(tracer.session, 0);
}

static void have_other(void)
{
	have_registered(&target, 0, OTHER_WORD, 8, OTHER_BIT);
}

/* Check the bits, rows and records of the event: all are there, or none. */
static bool event_has(bool armed)
{
	return bits() == (armed ? BOTH : 0) &&
	       rows_of(target.pid) == (armed ? 2 : 0) &&
	       counts_of(tracer.session, NULL, 0) == armed &&
	       have_written(&target, SELF, 0, 8) == (armed ? 8 : -EBADF) &&
	       gather(&tracer, 0) == armed;
}

static bool event_works(void)
{
	bool good = !event_arm() && event_has(true);

	return !event_disarm() && event_has(false) &&
	       until(!words_total(tracer.session)) && good;
}

/* Calls */

/* The result of a call that the target makes, with an allocation failing. */
static int in_target(void)
{
	shared->value = failing.c->arg;
	return call_in_target(fail_with_events);
}

static void event_armed(void)
{
	arm_event(tracer.session, 0, 0);
}

/* Check that the event is armed or not; then disarm it, and check that it can be armed. */
static bool good_event(bool armed)
{
	bool good = event_has(armed);

	good = event_disarm() == (armed ? 0 : -ENOENT) && good;
	return event_has(false) && event_works() && good;
}

static bool good_arm(int ret)
{
	return good_event(!ret);
}

static bool good_disarm(int ret)
{
	return good_event(ret);
}

/* The records that the session had lost before the last look of good_write(). */
static __u64 lost_before;

static void open_session(void)
{
	trace(&tracer, target.pid, scope);
	lost_before = 0;
}

/* A new session, whose first ARM makes an engine. */
static void anew(void)
{
	untrace(&tracer);
	open_session();
}

static int call_detach(void)
{
	return detach(tracer.session, tracer.target);
}

static bool good_detach(int ret)
{
	bool good = !bits();

	anew();
	return good_event(false) && good;
}

static int call_close(void)
{
	return close(tracer.session) ? -errno : 0;
}

static bool good_close(int ret)
{
	bool good = !bits();

	open_session();
	return good_event(false) && good;
}

static bool good_write(int ret)
{
	__u64 lost = info(tracer.session).lost - lost_before;
	bool good = gather(&tracer, 0) + (int)lost == !ret;

	lost_before += lost;
	return event_has(true) && !event_disarm() && event_has(false) && good;
}

/* The other bit is registered with an allocation failing, while the event is armed. */
static bool good_register(int ret)
{
	bool good = registered(target.pid) == 1 + !ret;
	int now = bits();

	good = count_bits(now) == rows_of(target.pid) && now & 1 && good;
	if (ret)
		have_other();
	else if (now != BOTH)
		good = !event_disarm() && !event_arm() && good;
	good = event_has(true) && !event_disarm() && event_has(false) && good;
	have_unregistered(&target, OTHER_WORD, 8, OTHER_BIT);
	return registered(target.pid) == 1 && good;
}

/* Fixture */

FIXTURE(memory) {
};

FIXTURE_SETUP(memory)
{
	const char *why = has_utrace() ? events_begin(_metadata) :
			  "no /dev/utrace (UTRACE_DEV)";

	why = memory_begin(why);
	if (why)
		SKIP(return, "%s", why);
	setenv("EVENT", event[0].name, 1);
	start_words(&keeper);
	have_word(&keeper, 0);
	enable_fd = open_enable(0);
	start_words(&target);
	put(&target, WORD, 2, OWN_COUNT);
}

FIXTURE_TEARDOWN(memory)
{
	stop(&target);
	is(0, look(&keeper, WORD, 4), "the word of another process");
	stop(&keeper);
	close(enable_fd);
	fail_nth_end();
	events_end();
	dev_end();
}

static void begin(__u32 which)
{
	scope = which;
	have_word(&target, 0);
	trace(&tracer, target.pid, scope);
}

static void end(void)
{
	untrace(&tracer);
	is(0, bits(), "closed: no bit is set");
	holds(until(!word_engines(target.pid)), "and no engine is left");
}

static void fail_scope(__u32 which)
{
	static const struct fail_case ops[] = {
		{ "first ARM", anew, event_arm, good_arm },
		{ "ARM", NULL, event_arm, good_arm },
		{ "DISARM", event_armed, event_disarm, good_disarm },
		{ "DETACH", event_armed, call_detach, good_detach,
		  .never_fails = true },
		{ "close", event_armed, call_close, good_close,
		  .never_fails = true },
	};

	begin(which);
	have_other();
	fail_calls(ops, ARRAY_SIZE(ops));
	end();
}

TEST_F(memory, calls_for_a_process)
{
	fail_scope(UTRACE_SCOPE_PROCESS);
}

TEST_F(memory, calls_for_a_tree)
{
	fail_scope(UTRACE_SCOPE_TREE);
}

TEST_F(memory, writing)
{
	static const struct fail_case c = {
		"write", event_armed, in_target, good_write, .elsewhere = true,
		.arg = (long)write_here,
	};

	begin(UTRACE_SCOPE_PROCESS);
	have_other();
	fail_calls(&c, 1);
	end();
}

TEST_F(memory, registering)
{
	static const struct fail_case c = {
		"REG", event_armed, in_target, good_register, .elsewhere = true,
		.arg = (long)register_other,
	};

	begin(UTRACE_SCOPE_PROCESS);
	fail_calls(&c, 1);
	end();
}

/* ftrace */

static int call_enable(void)
{
	return switch_event(enable_fd, true);
}

static int call_disable(void)
{
	return switch_event(enable_fd, false);
}

static void event_enabled(void)
{
	enable(0, true);
}

/* Check that the bits fit the file, and can be cleared and set again. */
static bool good_switch(bool on)
{
	bool good = registered(target.pid) == 2 &&
		    count_bits(bits()) == enabled(target.pid) &&
		    lines_of(target.pid, IS_OFF, IS_OFF) == (on ? 0 : 2);

	good = !call_disable() && until(!bits()) && good;
	good = !call_enable() && until(bits() == BOTH) && good;
	return !call_disable() && until(!bits()) && good;
}

static bool good_enable(int ret)
{
	return good_switch(!ret);
}

static bool good_disable(int ret)
{
	return good_switch(ret);
}

TEST_F(memory, enabling)
{
	static const struct fail_case ops[] = {
		{ "enable", NULL, call_enable, good_enable },
		{ "disable", event_enabled, call_disable, good_disable },
	};

	have_word(&target, 0);
	have_other();
	fail_calls(ops, ARRAY_SIZE(ops));
	is(0, bits(), "no bit is set");
}

/* A process that has registered nothing yet. */
static void fresh(void)
{
	stop(&target);
	start_words(&target);
	put(&target, WORD, 2, OWN_COUNT);
	enable(0, true);
}

static int without_engine;

/* A process without an engine has the bit for ftrace, and not for a tracer. */
static bool good_first(int ret)
{
	bool good = registered(target.pid) == !ret;
	int armed;

	good = count_bits(bits()) == enabled(target.pid) && good;
	good = !lines_of(target.pid, IS_OFF, IS_OFF) && good;
	if (ret)
		have_word(&target, 0);
	good = !call_disable() && until(!bits()) && good;
	good = !call_enable() && until(bits() == 1) && good;
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	armed = event_arm();
	without_engine += armed == -EUSERS;
	good = (!armed || armed == -EUSERS) && good;
	good = !call_disable() && until(bits() == !armed) && good;
	untrace(&tracer);
	return until(!bits()) && good;
}

TEST_F(memory, registering_for_the_first_time)
{
	static const struct fail_case c = {
		"REG", fresh, in_target, good_first, .elsewhere = true,
		.arg = (long)register_first,
	};

	fail_calls(&c, 1);
	holds(without_engine > 0, "%d processes have no engine", without_engine);
}

/* Forks */

/* Who wants the bits of the parent. */
static enum who_wants { FTRACE, PROCESS, TREE } who;
static int without;

/* Let the child look again; returns the bits, or -EPROTO. */
static int child_looks(void)
{
	long step = shared->number[1] + 1;

	shared->number[1] = step;
	return until(shared->number[7] == step) ? (int)shared->number[5] :
						  -EPROTO;
}

/* The bits go, and come back if they are registered. */
static bool child_follows(bool has_words)
{
	int again = has_words && who != PROCESS ? BOTH : 0;
	bool good;

	good = !(who == FTRACE ? call_disable() : event_disarm());
	good = !child_looks() && shared->number[6] == -EBADF && good;
	good = !(who == FTRACE ? call_enable() : event_arm()) && good;
	return child_looks() == again && good;
}

/* A child has the registrations and the right bits, or neither. */
static bool check_child(pid_t pid)
{
	int lines = registered(pid), now = child_looks(), want = 0;
	bool good = lines == 0 || lines == 2;

	if (who == FTRACE)
		want = enabled(pid);
	else if (who == TREE)
		want = rows_of(pid);
	good = shared->number[4] == (now | 1 << 8) && count_bits(now) == want &&
	       good;
	good = (lines || !now) && good;
	good = shared->number[6] == (who == FTRACE || (who == TREE && now) ?
				     0 : -EBADF) && good;
	if (!good)
		printf("# %d registered, bits %lx, then %d, %d wanted, write %ld\n",
		       lines, shared->number[4], now, want, shared->number[6]);
	good = child_follows(lines) && good;
	shared->number[1] = -1;
	have(&target, SELF, reap, 0);
	return good;
}

static void clear_numbers(void)
{
	int i;

	for (i = 0; i < 8; i++)
		shared->number[i] = 0;
}

/* The child that was forked, which has looked. */
static pid_t forked;

static int call_fork(void)
{
	forked = in_target();
	if (forked < 0)
		return forked;
	need(until(shared->number[4]), "the child");
	return 0;
}

/* The parent is as before, and the child as it should be. */
static bool good_fork(int ret)
{
	if (ret)
		return true;
	without += !registered(forked);
	return check_child(forked) && bits() == BOTH;
}

static void fail_forks(enum who_wants whose)
{
	static const struct fail_case c = {
		"fork", clear_numbers, call_fork, good_fork, .elsewhere = true,
		.may = -EAGAIN, .least = 6, .arg = (long)fork_here,
	};

	have_other();
	who = whose;
	if (who == FTRACE)
		enable(0, true);
	else
		arm_event(tracer.session, 0, 0);
	holds(fail_one(&c), "a fork fails, or makes a child that is right");
	holds(without > 0, "%d children have no registrations", without);
}

TEST_F(memory, forks_with_ftrace)
{
	have_word(&target, 0);
	fail_forks(FTRACE);
	enable(0, false);
	is(0, bits(), "disabled");
}

TEST_F(memory, forks_that_start_without)
{
	begin(UTRACE_SCOPE_PROCESS);
	fail_forks(PROCESS);
	end();
}

TEST_F(memory, forks_that_keep)
{
	begin(UTRACE_SCOPE_TREE);
	fail_forks(TREE);
	end();
}

/*
 * On any kernel: a child has the registrations, or no bit, and so no bit is left of an
 * event that is disabled.  A work queue may take the bit back, which takes a moment.
 */
static bool good_any_fork(int ret)
{
	int i, now = 1;

	if (ret)
		return true;
	enable(0, false);
	for (i = 0; i < 1000 && now == 1; i++)
		now = child_looks();
	need(now == 0 || now == 1, "a look of the child");
	enable(0, true);
	shared->number[1] = -1;
	have(&target, SELF, reap, 0);
	return !now;
}

TEST_F(events, forks_without_memory)
{
	static const struct fail_case c = {
		"fork", clear_numbers, call_fork, good_any_fork,
		.elsewhere = true, .may = -EAGAIN, .least = 6,
		.arg = (long)fork_here,
	};
	const char *why = memory_begin(NULL);

	if (why)
		SKIP(return, "%s", why);
	start_words(&target);
	put(&target, WORD, 2, OWN_COUNT);
	have_word(&target, 0);
	enable(0, true);
	holds(fail_one(&c), "no child keeps a bit");
	enable(0, false);
	stop(&target);
	fail_nth_end();
}

/* Programs */

static int begun;

static int call_program(void)
{
	have(&target, SELF, execute_here, failing.n);
	failing.left = shared->number[0];
	return 0;
}

/* The program finds the event armed if it begins, and its write is recorded. */
static bool good_program(int ret)
{
	bool good;

	if (shared->number[1]) {
		begun++;
		good = shared->number[1] == (1 | 1 << 8) && !shared->result &&
		       !shared->number[2] && gather(&tracer, 0) == 1;
	} else {
		good = !failing.left && shared->number[4] && !gather(&tracer, 0);
	}
	if (!good)
		printf("# error %ld, status %lx, REG %ld, bits %lx\n",
		       shared->number[3], shared->number[4], shared->result,
		       shared->number[1]);
	return good;
}

TEST_F(memory, programs)
{
	static const struct fail_case c = {
		"execve", clear_numbers, call_program, good_program,
		.elsewhere = true, .stride = STRIDE,
	};

	begin(UTRACE_SCOPE_TREE);
	arm_event(tracer.session, 0, 0);
	holds(fail_one(&c), "a program has the bit, or does not begin");
	holds(begun > 5, "%d programs begin", begun);
	end();
}

/* The program.  number[]: 1: the bits, and 1 << 8.  2: what a write gives. */
static int be_registering(const char *number)
{
	share_again(number);
	snprintf(event[0].name, sizeof(event[0].name), "%s", getenv("EVENT"));
	store(WORD, 4, OWN_COUNT);
	shared->result = register_first();
	shared->number[1] = bits_here() | 1 << 8;
	shared->number[2] = write_here();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "register"))
		return be_registering(argv[2]);
	return test_harness_run(argc, argv);
}
