// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - user_events: storms, and processes that do their worst
 *
 * Toggles of an event wait for nobody, and no process sees the former state of
 * its event after a toggle, whatever it does.  A kernel without the engine of
 * words fails the tests of toggles and forks, and that of silent arguments.
 */
#include "events.h"
#include "../cgroup.h"
#include "../silent.h"

/* A word in memory that an executed program maps again. */
#define IN_PLACE	(PLACE + 16)
#define PATTERN		0x05050505

/* Memory that makes each fork(2) take longer: a few ms, or many. */
#define BALLAST		((unsigned char *)0x300000000UL)
#define SOME		(8UL << 20)
#define MUCH		(128UL << 20)

/* Each thread that registers has its own word, in a page of its own. */
#define OWN_WORD(i)	(area + (4 + (i)) * PAGE + 8 * (i))
#define FORKERS		2

static bool map_ballast(unsigned long size)
{
	if (mmap(BALLAST, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != BALLAST)
		return false;
	/* Small pages are copied one by one. */
	madvise(BALLAST, size, MADV_NOHUGEPAGE);
	for (; size; size -= PAGE)
		BALLAST[size - PAGE] = 1;
	return true;
}

/*
 * Load a word until no toggle runs during the load; then it has the state of
 * the event.  Returns false if each load met a toggle.
 */
static bool look_calmly(int watcher, const void *at, __u64 out, __u64 in)
{
	long end = now_ms() + DEADLINE_MS / 2;
	unsigned int phase;
	__u64 value;

	while (now_ms() < end) {
		phase = shared->phase;
		value = load(at, 4);
		if (phase % 2 || phase != shared->phase) {
			sched_yield();
			continue;
		}
		judge(watcher, phase, value, out, in);
		return true;
	}
	return false;
}

/* The child loads the word, then writes the event; EBADF: it is disabled. */
static void be_child(int watcher)
{
	bool calm = look_calmly(watcher, WORD, 0, BIT_SET);
	long ret = write_event(0, "1234", 4);

	if (ret != 4 && ret != -EBADF)
		shared->strange++;
	_exit(calm ? 0 : 90);
}

/* number[]: 0: children.  1: those that have not seen the event calm. */
static void *fork_on(void *watcher)
{
	int status;
	pid_t pid;

	while (!shared->quit) {
		pid = plain_fork();
		if (!pid)
			be_child((long)watcher);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			_exit(94);
		shared->number[1] += !!status;
		shared->number[0]++;
	}
	return NULL;
}

/*
 * Register a word of this thread and unregister it repeatedly.  number[]: 2:
 * rounds.  3: errors.  4: bits after UNREG.
 */
static void *register_on(void *watcher)
{
	const long i = (long)watcher;
	unsigned char *at = OWN_WORD(i);

	while (!shared->quit) {
		shared->number[3] += !!register_word(0, at, 4, BIT);
		look_calmly(i, at, 0, BIT_SET);
		shared->number[3] += !!unregister_word(at, BIT);
		shared->number[4] += load(at, 4) != 0;
		shared->number[2]++;
	}
	return NULL;
}

/*
 * A child that is forked while threads register: those words that it has are
 * as the event is.  number[5]: bits after UNREG.  number[6]: bits of words that
 * the child has not.
 */
static void be_child_of_threads(int watcher)
{
	int i, ret;

	for (i = 0; i < 2; i++) {
		ret = unregister_word(OWN_WORD(i), BIT);
		if (!load(OWN_WORD(i), 4))
			continue;
		if (ret)
			shared->number[6]++;
		else
			shared->number[5]++;
	}
	be_child(watcher);
}

static void *fork_beside(void *watcher)
{
	int status;
	pid_t pid;

	while (!shared->quit) {
		pid = plain_fork();
		if (!pid)
			be_child_of_threads((long)watcher);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			_exit(94);
		shared->number[1] += !!status;
		shared->number[0]++;
	}
	return NULL;
}

/* Children that register a word and are killed. */
static void *kill_on(void *watcher)
{
	pid_t pid;

	while (!shared->quit) {
		pid = plain_fork();
		if (!pid) {
			register_word(0, OWN_WORD((long)watcher), 4, BIT);
			for (;;)
				look_calmly((long)watcher, WORD, 0, BIT_SET);
		}
		usleep(shared->number[0] * 37 % 1500);
		kill(pid, SIGKILL);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(94);
		shared->number[0]++;
	}
	return NULL;
}

/* Fork with much memory repeatedly.  number[]: 0: forks.  7: ms in these. */
static long fork_much(long unused)
{
	long before;
	pid_t pid;

	while (!shared->quit) {
		before = now_ms();
		pid = plain_fork();
		if (!pid)
			_exit(0);
		shared->number[7] += now_ms() - before;
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(94);
		shared->number[0]++;
	}
	return 0;
}

static void run(void *(*first)(void *), void *(*second)(void *), int n)
{
	pthread_t threads[WATCHERS];
	long i;

	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, i < n / 2 ? first :
				   second, (void *)i))
			_exit(95);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* The calls that hang: their arguments are in a page that never arrives. */
enum hang { STRUCT, NAME, ENABLE_WORD, UNREG, DEL, HANGS };

static const char * const hang_names[HANGS] = {
	"REG with its structure", "REG with its name", "REG with its word",
	"UNREG", "DEL",
};

static long hang(enum hang how, unsigned char *page)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = BIT,
		.enable_size = 4,
		.enable_addr = (uintptr_t)(how == ENABLE_WORD ? page : WORD),
		.name_args = (uintptr_t)(how == NAME ? (char *)page :
					 event[1].name),
	};

	switch (how) {
	case STRUCT:
		return command(data_file(), DIAG_IOCSREG, page);
	case NAME:
	case ENABLE_WORD:
		return command(data_file(), DIAG_IOCSREG, &reg);
	case UNREG:
		return command(data_file(), DIAG_IOCSUNREG, page);
	case DEL:
		return command(data_file(), DIAG_IOCSDEL, page);
	default:
		return 0;
	}
}

/* Hang; number[0] is set before the call, and number[1] after it. */
static long hang_here(long how)
{
	unsigned char *page = silent_uffd();

	shared->number[1] = 0;
	shared->number[0] = page ? 1 : -1;
	if (page)
		hang(how, page);
	shared->number[1] = 1;
	return 0;
}

/* Register a word in a page of userfaultfd(2) that is never served afterwards. */
static long silence_word(long unused)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register arg = {
		.range = { (uintptr_t)PLACE, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC), ret;

	if (mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE)
		return -errno;
	ret = register_word(0, IN_PLACE, 4, BIT);
	if (ret)
		return ret;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &arg))
		return -ENOSYS;
	return madvise(PLACE, PAGE, MADV_DONTNEED) ? -errno : 0;
}

/* Pages with a bit each: more than what each CPU charges ahead. */
#define PAGES		1024
#define IN_PAGE(i)	(PLACE + (i) * PAGE + 16)

/* Register a bit in each page; the result is that of the last one. */
static long register_pages(long unused)
{
	long i, ret = 0;

	if (mmap(PLACE, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE)
		return -errno;
	/* Small pages are charged one by one. */
	madvise(PLACE, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES && !ret; i++)
		ret = register_word(0, IN_PAGE(i), 4, BIT);
	return ret;
}

static long count_set_pages(long unused)
{
	long i, n = 0;

	for (i = 0; i < PAGES; i++)
		n += load(IN_PAGE(i), 4) == BIT_SET;
	return n;
}

/* A fork that takes long; the child looks when the event is enabled. */
static long fork_slowly(long unused)
{
	pid_t pid = plain_fork();

	if (!pid) {
		until(shared->phase % 4 == IN);
		judge(0, shared->phase, load(WORD, 4), 0, BIT_SET);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		_exit(94);
	return 0;
}

static long take_memory(long bytes)
{
	if (!map_ballast(bytes))
		_exit(93);
	return 0;
}

static long fork_by_threads(long unused)
{
	run(fork_on, fork_on, FORKERS);
	return 0;
}

static long register_by_threads(long unused)
{
	run(register_on, register_on, WATCHERS);
	return 0;
}

static long register_and_fork(long unused)
{
	run(register_on, fork_beside, WATCHERS);
	return 0;
}

static long fork_and_kill(long unused)
{
	run(kill_on, kill_on, FORKERS);
	return 0;
}

/* Who switches the event: its file, or a session. */
static int enable_fd = -1, session_fd = -1;

static int switch_once(bool on)
{
	if (session_fd < 0)
		return switch_event(enable_fd, on);
	return on ? try_arm_event(session_fd, 0, 0) :
		    try_disarm_event(session_fd, 0);
}

/*
 * Toggle the event, with pauses, until number[@what] reaches @enough and the event was
 * toggled often enough, whatever the speed of the machine.
 */
static void toggle_through(int what, long enough)
{
	const int least = times_if_fast(50);
	long seen = -1, end = 0;
	int i, ret = 0;

	for (i = 0; !ret && (shared->number[what] < enough || i < least); i++) {
		if (shared->number[what] != seen)
			end = now_ms() + DEADLINE_MS;
		seen = shared->number[what];
		need(now_ms() < end, "a storm that goes on");
		shared->phase++;
		ret = switch_once(true);
		shared->phase++;
		usleep(i * 1310 % 4000);
		shared->phase++;
		ret = ret ?: switch_once(false);
		shared->phase++;
		usleep(i * 1770 % 4000);
	}
	is(0, ret, "the event is toggled");
	holds(i >= least, "%d times within %ld rounds", i,
	      shared->number[what]);
}

/* Start a target with a registered word, and give it an order. */
static void start_storm(struct target *target, order_fn *order)
{
	start_words(target);
	have_word(target, 0);
	enable_fd = open_enable(0);
	have(target, SELF, take_memory, SOME);
	tell(target, SELF, order, 0);
}

static void end_storm(struct target *target, const char *what)
{
	shared->quit = 1;
	hear(target, SELF);
	are_good_looks(what);
	is(0, look(target, WORD, 4), "no bit is left");
	stop(target);
}

static void check_children(long enough)
{
	holds(shared->number[0] >= enough, "%ld children", shared->number[0]);
	is(0, shared->number[1], "each has seen the event stand still");
}

TEST_F_TIMEOUT(events, fork_storm, LONG_TIMEOUT)
{
	const int forks = times_if_fast(1000);
	struct target target;

	start_storm(&target, fork_by_threads);
	toggle_through(0, forks);
	end_storm(&target, "children, at first");
	check_children(forks);
}

/* Toggles while the memory of the process is copied. */
TEST_F_TIMEOUT(events, toggle_within_fork, LONG_TIMEOUT)
{
	struct target target;
	int i;

	start_words(&target);
	have_word(&target, 0);
	have(&target, SELF, take_memory, MUCH);
	for (i = 0; i < times(12); i++) {
		tell(&target, SELF, fork_slowly, 0);
		usleep(i % 12 * 2000);
		shared->phase++;
		enable(0, true);
		shared->phase++;
		hear(&target, SELF);
		shared->phase++;
		enable(0, false);
		shared->phase++;
	}
	are_good_looks("children");
	stop(&target);
}

TEST_F_TIMEOUT(events, kill_storm, LONG_TIMEOUT)
{
	const int kills = times_if_fast(500);
	struct target target;

	start_storm(&target, fork_and_kill);
	toggle_through(0, kills);
	end_storm(&target, "children that are killed");
	holds(shared->number[0] >= kills, "%ld children", shared->number[0]);
}

TEST_F_TIMEOUT(events, register_storm, LONG_TIMEOUT)
{
	const int rounds = times_if_fast(4000);
	struct target target;

	start_storm(&target, register_by_threads);
	toggle_through(2, rounds);
	end_storm(&target, "threads, after REG");
	holds(shared->number[2] >= rounds, "%ld rounds", shared->number[2]);
	is(0, shared->number[3], "no error");
	is(0, shared->number[4], "no bit after UNREG");
}

TEST_F_TIMEOUT(events, register_beside_forks, LONG_TIMEOUT)
{
	const int forks = times_if_fast(800);
	struct target target;

	start_storm(&target, register_and_fork);
	toggle_through(0, forks);
	end_storm(&target, "threads and children");
	check_children(forks);
	holds(shared->number[2] > 20, "%ld rounds", shared->number[2]);
	is(0, shared->number[3], "no error");
	is(0, shared->number[4], "no bit after UNREG");
	is(0, shared->number[5], "nor after that of a child");
	holds(true, "%ld times a child had the bit of a word it had not",
	      shared->number[6]);
}

/* The program that executes itself, until the test says quit. */
static int be_storm(void)
{
	int i;

	snprintf(event[0].name, sizeof(event[0].name), "%s", getenv("EVENT"));
	if (mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != PLACE)
		return 92;
	store(IN_PLACE, 4, PATTERN);
	/* The word of the former program must not be written. */
	for (i = 0; i < 1000; i++)
		shared->strange += load(IN_PLACE, 4) != PATTERN;
	if (register_word(0, IN_PLACE, 4, BIT))
		return 91;
	if (!look_calmly(0, IN_PLACE, PATTERN, PATTERN | BIT_SET))
		return 90;
	if (++shared->number[0] % 2 && unregister_word(IN_PLACE, BIT))
		return 89;
	if (!shared->quit)
		exec_self("storm");
	return 0;
}

TEST_F_TIMEOUT(events, exec_storm, LONG_TIMEOUT)
{
	const int programs = times_if_fast(100);
	struct target target, keeper;

	setenv("EVENT", event[0].name, 1);
	/* The event is not to end between two programs. */
	start_words(&keeper);
	have_word(&keeper, 0);
	enable_fd = open_enable(0);
	start_words(&target);
	tell(&target, SELF, become_program, (long)"storm");
	toggle_through(0, programs);
	shared->quit = 1;
	is(0, status_of(target.pid), "the last program");
	holds(shared->number[0] >= programs, "%ld programs", shared->number[0]);
	are_good_looks("programs");
	stop(&keeper);
}

/* A tracer arms the event, and disarms it, in a process and its children. */
TEST_F_TIMEOUT(traced, armed_fork_storm, LONG_TIMEOUT)
{
	const int forks = times_if_fast(1000);
	struct tracer tracer;
	struct target target;

	start_words(&target);
	have_word(&target, 0);
	have(&target, SELF, take_memory, SOME);
	trace(&tracer, target.pid, UTRACE_SCOPE_TREE);
	session_fd = tracer.session;
	tell(&target, SELF, fork_by_threads, 0);
	toggle_through(0, forks);
	end_storm(&target, "children, at first");
	check_children(forks);
	holds(until(!words_total(tracer.session)), "no word is left");
	holds(gather(&tracer, 0) > 0, "%d events",
	      count(UTRACE_REC_USER_EVENT, 0));
	untrace(&tracer);
}

TEST_F_TIMEOUT(traced, armed_register_storm, LONG_TIMEOUT)
{
	const int rounds = times_if_fast(4000);
	struct tracer tracer;
	struct target target;

	start_words(&target);
	have_word(&target, 0);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	session_fd = tracer.session;
	tell(&target, SELF, register_by_threads, 0);
	toggle_through(2, rounds);
	end_storm(&target, "threads, after REG");
	holds(shared->number[2] >= rounds, "%ld rounds", shared->number[2]);
	is(0, shared->number[3], "no error");
	is(0, shared->number[4], "no bit after UNREG");
	untrace(&tracer);
}

/* A process that uses user_events while another one hangs; number[2]: the last step. */
static int be_bystander(void)
{
	char command_text[160];
	int i;

	shared->number[2] = 1;
	if (register_word(0, WORD, 4, BIT))
		return 1;
	shared->number[2] = 2;
	for (i = 0; i < 2; i++)
		if (switch_event(open_enable(0), !i) ||
		    load(WORD, 4) != (i ? 0 : BIT_SET))
			return 2;
	shared->number[2] = 3;
	if (unregister_word(WORD, BIT))
		return 3;
	shared->number[2] = 4;
	if (read_all(TRACING "/user_events_status") <= 0)
		return 4;
	shared->number[2] = 5;
	snprintf(command_text, sizeof(command_text), "u:%s", event[2].name);
	if (write_file(TRACING "/dynamic_events", command_text) ||
	    read_all(TRACING "/dynamic_events") <= 0)
		return 5;
	shared->number[2] = 6;
	if (command(data_file(), DIAG_IOCSDEL, event[2].name))
		return 6;
	shared->number[2] = 7;
	return close(data_fd) ? 7 : 0;
}

static const char * const steps[] = {
	"nothing", "REG", "enable", "UNREG", "user_events_status",
	"dynamic_events", "DEL", "close",
};

/* Check that the bystander needs no more than 3 s. */
static void check_bystander(void)
{
	long end = now_ms() + 3000 * ut_patience();
	int status = -1;
	pid_t pid, ended = 0;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(be_bystander());
	}
	while (!ended && now_ms() < end) {
		usleep(2000);
		ended = waitpid(pid, &status, WNOHANG);
	}
	holds(ended == pid, "  another process goes on (%s)",
	      steps[shared->number[2]]);
	if (ended == pid)
		is(0, status, "  and all works");
	else
		kill(pid, SIGKILL);
}

/*
 * A call has to wait for arguments that the kernel reads.  It may wait for the page of a
 * word, or not.
 */
static bool has_to_wait(enum hang how)
{
	return how != ENABLE_WORD;
}

static bool check_hang(enum hang how)
{
	struct target target;
	bool can;

	start_words(&target);
	shared->number[0] = 0;
	tell(&target, SELF, hang_here, how);
	need(until(shared->number[0]), "a call");
	can = shared->number[0] > 0;
	if (can) {
		if (has_to_wait(how))
			holds(until(asleep_in(target.pid, SYS_ioctl)),
			      "%s waits", hang_names[how]);
		usleep(50000);
		check_bystander();
		holds(!shared->number[1] || !has_to_wait(how), "  %s %s",
		      hang_names[how], shared->number[1] ? "has not waited" :
		      "waits all the time");
	}
	kill(target.pid, SIGKILL);
	is(SIGKILL, status_of(target.pid), "  SIGKILL ends it");
	stop(&target);
	return can;
}

/* A process that hangs in a call of user_events holds up nobody. */
TEST_F(events, silent_arguments)
{
	int i;

	for (i = 0; i < HANGS; i++)
		if (!check_hang(i))
			SKIP(return, "no userfaultfd(2) (USERFAULTFD)");
}

/* A word that nobody can write does not hold up the toggle. */
TEST_F(events, silent_word)
{
	struct target target, other;
	long before, ret;
	int i, wrong = 0;

	start_words(&other);
	have_word(&other, 0);
	start_words(&target);
	ret = have(&target, SELF, silence_word, 0);
	if (ret == -ENOSYS) {
		stop(&target);
		SKIP(return, "no userfaultfd(2) (USERFAULTFD)");
	}
	is(0, ret, "a word that nobody serves");
	before = now_ms();
	for (i = 0; i < 20; i++) {
		enable(0, !(i % 2));
		wrong += look(&other, WORD, 4) != (i % 2 ? 0 : BIT_SET);
	}
	holds(now_ms() - before < DEADLINE_MS / 4, "20 toggles take %ld ms",
	      now_ms() - before);
	is(0, wrong, "another process sees each one");
	settle(&target, SELF);
	stop(&target);
	stop(&other);
}

static int by_size(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

#define SWITCHES	30

/* A process that copies its memory all the time does not hold up the toggle. */
TEST_F(events, toggle_beside_long_forks)
{
	int took[SWITCHES], i, mean;
	struct target target;
	long before;

	start_words(&target);
	have_word(&target, 0);
	enable_fd = open_enable(0);
	have(&target, SELF, take_memory, MUCH);
	tell(&target, SELF, fork_much, 0);
	need(until(shared->number[0] >= 3), "forks");
	for (i = 0; i < SWITCHES; i++) {
		before = now_ms();
		need(!switch_event(enable_fd, !(i % 2)), "a switch");
		took[i] = now_ms() - before;
		usleep(i * 700);
	}
	shared->quit = 1;
	hear(&target, SELF);
	mean = shared->number[7] / shared->number[0];
	qsort(took, SWITCHES, sizeof(took[0]), by_size);
	/* With less than 20 ms the scheduler has too great a part. */
	holds(took[SWITCHES / 2] < mean / 2 || mean < 20,
	      "a fork takes %d ms, a switch %d ms, at most %d", mean,
	      took[SWITCHES / 2], took[SWITCHES - 1]);
	stop(&target);
}

/* The charge of the memory cgroup, in pages. */
static long charged(void)
{
	char text[32];

	need(ut_read_file(text, sizeof(text), "%s/memory.current", ut_cg) > 0,
	     "memory.current");
	return atol(text) / PAGE;
}

/* The cgroup may take a few pages more before its tasks are throttled. */
static void limit_cgroup(long pages)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", pages * PAGE);
	need(!ut_cg_write("memory.high", text), "memory.high");
}

/*
 * A process in the cgroup shares all pages of its bits with a child that has none of the
 * registrations, since a thread without any has created the child.
 */
static void start_in_cgroup(struct target *target)
{
	start_words(target);
	need(!ut_cg_add(target->pid), "the cgroup");
	have_more(target, THREAD);
	need(!have(target, SELF, register_pages, 0), "words in pages");
	target->tid[CHILD] = have(target, THREAD, add_child, 0);
	have(target, CHILD, own_tid, 0);
	settle(target, CHILD);
	settle(target, SELF);
}

/* Writing to enable copies no page of a process; the process copies them when it runs. */
static void check_charges(struct target *target)
{
	long before, grown;
	int fd;

	start_in_cgroup(target);
	fd = open_enable(0);
	freeze(target->pid);
	before = charged();
	limit_cgroup(before + 16);
	need(!switch_event(fd, true), "a switch");
	grown = charged() - before;
	holds(grown < PAGES / 4, "the process is charged for %ld of %d pages", grown,
	      PAGES);
	/* The process must not be throttled. */
	need(!ut_cg_write("memory.high", "max"), "memory.high");
	thaw(target->pid);
	is(PAGES, have(target, SELF, count_set_pages, 0), "the process goes on with all bits");
	grown = charged() - before;
	holds(grown >= PAGES / 2, "and is charged for %ld pages", grown);
	need(!switch_event(fd, false), "a switch");
	is(0, have(target, SELF, count_set_pages, 0), "no bit is left");
	close(fd);
	stop(target);
}

TEST_F(events, pages_of_a_memory_cgroup)
{
	const char *why = ut_cg_make("+memory");
	struct target target;

	if (why)
		SKIP(return, "%s", why);
	check_charges(&target);
	ut_cg_remove();
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "storm")) {
		share_again(argv[2]);
		return be_storm();
	}
	return test_harness_run(argc, argv);
}
