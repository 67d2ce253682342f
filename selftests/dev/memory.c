// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace without memory
 *
 * The test repeats open(2), each ioctl, read(2) and close(2): the first
 * allocation of the call fails, then the second, until the call makes fewer
 * allocations.  There are also events of tasks for which there is no memory.
 *
 * Only documented errors may come, nothing may be left half done, charges of
 * the user must be taken back, and each event is recorded or counted as missed.
 * The user has a limit of one engine and one ring, so a charge that stays makes
 * the next call fail.  Leaks are left to the kernel's leak detector.
 *
 * Without fault injection (the debug kernel has it) the tests are skipped.
 */
#include <limits.h>
#include <sched.h>
#include <sys/resource.h>

#include "../fail_nth.h"
#include "dev.h"

#define ENGINES		"user/max_utrace_engines"
#define RING		small_rings()
/* The number of pauses of 20 ms until a detached engine must be gone. */
#define TRIES		(200 * ut_patience())

/* A path that is opened only while the session may not see the task. */
#define SECRET		"/what-nobody-is-to-see"

/* The test's own fail-nth, opened early so that the open cannot fail. */
static int nth_fd;

static int nth_open(pid_t tid)
{
	int nth = fail_nth_open(tid);

	need(nth >= 0, "fail-nth");
	return nth;
}

/* Check whether the call made as many allocations as were armed. */
static bool nth_used(int nth)
{
	int left = fail_nth_left(nth);

	need(left >= 0, "fail-nth");
	return !left;
}

/* The session and the target of the current call. */
static int fd = -1, pidfd;
static __u32 scope, id;
static struct target *victim;

/*
 * One call.
 *
 * @name: for messages
 * @prepare: prepares the call; no allocation fails
 * @call: makes the call, with fail-nth armed; 0 or -errno
 * @good: checks the state for this result, and restores that before the call
 * @may: a documented result other than 0 and -ENOMEM
 * @never_fails: the only result is 0
 */
struct op {
	const char *name;
	void (*prepare)(void);
	int (*call)(void);
	bool (*good)(int ret);
	int may;
	bool never_fails;
};

static bool documented(const struct op *op, int ret, bool used)
{
	if (!ret)
		return true;
	/* The call may fail only if an allocation failed. */
	return used && !op->never_fails &&
	       (ret == -ENOMEM || (op->may && ret == op->may));
}

static void fail_each(const struct op *op)
{
	int n, ret, tries = 0, failed = 0, bad = 0, half = 0;
	bool used = true;

	for (n = 1; n < FAIL_NTH_MOST && used; n++) {
		/* Prepare once for all tries with this number. */
		if (!tries)
			op->prepare();
		need(fail_nth_arm(nth_fd, n), "fail-nth");
		ret = op->call();
		used = nth_used(nth_fd);
		/*
		 * The engine of the previous round is still charged; try again.
		 */
		if (ret == -EUSERS && tries++ < TRIES) {
			usleep(20000);
			used = true;
			n--;
			continue;
		}
		tries = 0;
		failed += !!ret;
		if (!documented(op, ret, used)) {
			printf("# %s: allocation %d: %d\n", op->name, n, ret);
			bad++;
		}
		if (!op->good(ret)) {
			printf("# %s: half done after allocation %d: %d\n",
			       op->name, n, ret);
			half++;
		}
	}
	holds(!used, "%s: %d allocations, of which %d make it fail", op->name,
	      n - 2, failed);
	is(0, bad, "  errors as documented");
	is(0, half, "  and nothing is half done");
}

static void nothing(void)
{
}

/* Check that the target has no engine and makes no records. */
static bool is_left_alone(void)
{
	if (engines(victim->pid))
		return false;
	have(victim, SELF, 'm', 1);
	return !take(fd);
}

static bool is_recorded(void)
{
	have(victim, SELF, 'm', 2);
	return take(fd) == 4 && marks(UTRACE_REC_SYS_ENTER, victim->pid) == 2;
}

/* Open a session with a ring, as soon as the previous ring is not charged. */
static void new_session(void)
{
	int tries, ret = -1;

	fd = session();
	for (tries = 0; tries < TRIES && ret; tries++) {
		if (tries)
			usleep(20000);
		ret = setup(fd, RING);
	}
	errno = -ret;
	need(!ret, "a ring");
	need(!choose_marks(fd), "choose");
}

/* Attach an engine, as soon as the previous one is not charged. */
static void attach_again(void)
{
	int tries, ret = -EUSERS;

	for (tries = 0; tries < TRIES && ret == -EUSERS; tries++) {
		if (tries)
			usleep(20000);
		ret = scope == UTRACE_SCOPE_SYSTEM
			      ? attach_system(fd)
			      : attach_fd(fd, pidfd, scope);
	}
	errno = -ret;
	need(ret > 0, "attach");
	id = ret;
}

/* open(2). */

static int call_open(void)
{
	fd = try_session();
	return fd < 0 ? fd : 0;
}

static bool good_open(int ret)
{
	if (ret)
		fd = session();
	return !close(fd);
}

/* SETUP. */

static void prepare_setup(void)
{
	fd = session();
}

static int call_setup(void)
{
	return setup(fd, RING);
}

static bool good_setup(int ret)
{
	bool good = rings(fd) == (ret ? 0 : RING);

	good = setup(fd, RING) == (ret ? 0 : -EBUSY) && good;
	good = rings(fd) == RING && good;
	close(fd);
	return good;
}

/* INFO. */

static int call_info(void)
{
	struct utrace_ioc_info arg = {};

	return command(fd, UTRACE_IOC_INFO, &arg);
}

static bool good_info(int ret)
{
	return rings(fd) == RING;
}

/* EVENTS. */

static int call_events(void)
{
	static const __u32 calls[] = { SYS_openat, SYS_getuid };

	return choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(EXEC),
		      ALL_CAPTURES, calls, 2);
}

static bool good_events(int ret)
{
	bool good = true;

	if (ret)
		return is_recorded();
	have(victim, SELF, 'm', 1);
	good = !take(fd);
	return !choose_marks(fd) && is_recorded() && good;
}

/* IN_FLIGHT. */

static int call_in_flight(void)
{
	struct utrace_ioc_in_flight arg = {};

	return command(fd, UTRACE_IOC_IN_FLIGHT, &arg);
}

static bool good_in_flight(int ret)
{
	return !take(fd) && is_recorded();
}

/* ATTACH and DETACH. */

static struct utrace_ioc_attach attach_arg;

static void prepare_attach(void)
{
	attach_arg = (struct utrace_ioc_attach){
		.where.fd = scope == UTRACE_SCOPE_SYSTEM ? -1 : pidfd,
		.where.scope = scope,
	};
}

static int call_attach(void)
{
	return command(fd, UTRACE_IOC_ATTACH, &attach_arg);
}

/* A detached target writes no records, and a second DETACH is refused. */
static bool good_detach(int ret)
{
	__u64 before = info(fd).records;

	return !ret && detach(fd, id) == -ENOENT && is_left_alone() &&
	       info(fd).records == before;
}

static bool good_attach(int ret)
{
	bool good;

	if (ret)
		return !attach_arg.id && is_left_alone();
	id = attach_arg.id;
	good = is_recorded();
	return good_detach(detach(fd, id)) && good;
}

static int call_detach(void)
{
	return detach(fd, id);
}

/* The first ATTACH of a session makes the ring. */
static void prepare_first_attach(void)
{
	fd = session();
	need(!choose_marks(fd), "choose");
	prepare_attach();
}

static bool good_first_attach(int ret)
{
	__u64 size = rings(fd);
	bool good = size == 1 << 20 || (ret && !size);

	good = good_attach(ret) && good;
	if (ret) {
		attach_again();
		good = is_recorded() && good_detach(detach(fd, id)) && good;
	}
	close(fd);
	return good;
}

/* close(2). */

static void prepare_close(void)
{
	new_session();
	attach_again();
}

static int call_close(void)
{
	return close(fd) ? -errno : 0;
}

static bool good_close(int ret)
{
	have(victim, SELF, 'm', 1);
	return !ret && !engines(victim->pid);
}

/* read(2) to pages that do not exist before the call. */

static char *page;
static ssize_t got;
static __u64 last;	/* number of the last record read */

static void prepare_read(void)
{
	last = info(fd).records;
	have(victim, SELF, 'm', 2);
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(page != MAP_FAILED, "mmap");
}

static int call_read(void)
{
	got = read(fd, page + 4000, 4096);
	return got < 0 ? -errno : 0;
}

/* Check that no record is missing and none was read twice. */
static bool good_read(int ret)
{
	struct utrace_rec *rec;
	bool good = true;
	size_t size = 0;

	if (!ret) {
		size = got;
		memcpy(records, page + 4000, size);
	}
	munmap(page, 8192);
	while ((got = read(fd, records + size, sizeof(records) - size)) > 0)
		size += got;
	records_size = size;
	for_each_record(rec)
		good = good && rec->number == ++last;
	return good && marks(UTRACE_REC_SYS_ENTER, victim->pid) == 2 &&
	       marks(UTRACE_REC_SYS_EXIT, victim->pid) == 2 &&
	       last == info(fd).records;
}

static const struct op opening = {
	"open", nothing, call_open, good_open,
};

static const struct op setting_up = {
	"SETUP", prepare_setup, call_setup, good_setup,
};

static const struct op informing = {
	"INFO", nothing, call_info, good_info, .never_fails = true,
};

static const struct op choosing = {
	"EVENTS", nothing, call_events, good_events,
};

static const struct op telling = {
	"IN_FLIGHT", nothing, call_in_flight, good_in_flight,
};

static const struct op reading = {
	"read", prepare_read, call_read, good_read, .may = -EFAULT,
};

static const struct op first_attaching = {
	"ATTACH to the system, with a ring", prepare_first_attach, call_attach,
	good_first_attach,
};

static const struct {
	struct op attach, detach, close;
} of_scope[] = {
	[UTRACE_SCOPE_THREAD] = {
		{ "ATTACH to a thread", prepare_attach, call_attach,
		  good_attach },
		{ "DETACH from a thread", attach_again, call_detach,
		  good_detach, .never_fails = true },
		{ "close, of a thread", prepare_close, call_close, good_close,
		  .never_fails = true },
	},
	[UTRACE_SCOPE_PROCESS] = {
		{ "ATTACH to a process", prepare_attach, call_attach,
		  good_attach },
		{ "DETACH from a process", attach_again, call_detach,
		  good_detach, .never_fails = true },
		{ "close, of a process", prepare_close, call_close, good_close,
		  .never_fails = true },
	},
	[UTRACE_SCOPE_TREE] = {
		{ "ATTACH to a tree", prepare_attach, call_attach,
		  good_attach },
		{ "DETACH from a tree", attach_again, call_detach,
		  good_detach, .never_fails = true },
		{ "close, of a tree", prepare_close, call_close, good_close,
		  .never_fails = true },
	},
	[UTRACE_SCOPE_SYSTEM] = {
		{ "ATTACH to the system", prepare_attach, call_attach,
		  good_attach },
		{ "DETACH from the system", attach_again, call_detach,
		  good_detach, .never_fails = true },
		{ "close, of the system", prepare_close, call_close, good_close,
		  .never_fails = true },
	},
};

static void fail_scope(__u32 which)
{
	scope = which;
	new_session();
	fail_each(&of_scope[which].attach);
	fail_each(&of_scope[which].detach);
	close(fd);
	fail_each(&of_scope[which].close);
}

static void begin(struct target *target)
{
	start(target);
	victim = target;
	pidfd = pidfd_of(target->pid, 0);
	nth_fd = nth_open(0);
}

static void end(struct target *target)
{
	close(nth_fd);
	close(pidfd);
	stop(target);
}

/* Events. */

/* Shared with a target that works without system calls of its own. */
static struct shared {
	_Atomic int go, done;	/* marker calls to make, and made */
	_Atomic int left;	/* of its fail-nth; 0: an allocation failed */
} *shared;

/* Start a target that stays in user mode and makes only marker calls. */
static pid_t start_bare(void)
{
	pid_t pid;
	int n;

	*shared = (struct shared){ .done = -1 };
	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (pid) {
		while (shared->done)
			usleep(2000);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (n = 0; ; n++) {
		while (shared->go < n)
			;
		if (n)
			mark(1);
		shared->done = n;
	}
}

static bool have_bare_mark(int n)
{
	int i;

	shared->go = n;
	for (i = 0; i < DEADLINE_MS / 2 && shared->done < n; i++)
		usleep(2000);
	return shared->done == n;
}

/* The first event of a task under system scope needs memory. */
static int missed_as_root(void *arg)
{
	int n, told, nth, lost = 0, wrong = 0, fell = 0;
	bool used = true, good = true;
	__u64 missed = 0, now;

	fd = session();
	need(!choose_marks(fd), "choose");
	scope = UTRACE_SCOPE_SYSTEM;
	for (n = 1; n < FAIL_NTH_MOST && used && good; n++) {
		pid_t pid = start_bare();

		attach_again();
		nth = nth_open(pid);
		need(fail_nth_arm(nth, n), "fail-nth");
		good = have_bare_mark(1);
		used = nth_used(nth);
		good = have_bare_mark(2) && good;
		take(fd);
		told = marks(UTRACE_REC_SYS_ENTER, pid) +
		       marks(UTRACE_REC_SYS_EXIT, pid);
		now = info(fd).missed + info(fd).lost;
		lost += 4 - told;
		if (now - missed != (__u64)(4 - told)) {
			printf("# allocation %d: %d of 4 recorded, %lld missed or lost\n",
			       n, told, (long long)(now - missed));
			wrong++;
		}
		fell += now < missed;
		missed = now;
		/* The count of missed events stays when the engine goes. */
		need(!detach(fd, id), "detach");
		fell += info(fd).missed + info(fd).lost != missed;
		close(nth);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	holds(!used && good, "missed: %d allocations of two calls", n - 2);
	holds(lost > 0, "missed: events without a record (%d)", lost);
	is(0, wrong, "missed: each is counted, and no other");
	is(lost, missed, "missed: INFO has the sum, with those lost");
	is(0, fell, "missed: it never falls, with a DETACH neither");
	holds(info(fd).missed && info(fd).lost,
	      "missed: for want of the core's memory and of the session's");
	close(fd);
	return 0;
}

/* A task is hidden when it should be, with or without memory. */
static int target_nth;

static void hide(struct target *target, struct order *order)
{
	switch (order->what) {
	case 'o':
		target_nth = fail_nth_open(0);
		break;
	case 'd':
		prctl(PR_SET_DUMPABLE, order->n);
		break;
	case 'h':
		prctl(PR_SET_DUMPABLE, 0);
		if (!fail_nth_arm(target_nth, order->n))
			_exit(1);
		mark(1);
		open(SECRET, O_RDONLY);
		shared->left = fail_nth_left(target_nth);
		if (shared->left < 0)
			_exit(1);
		mark(1);
		break;
	}
}

static int hidden_as_nobody(void *arg)
{
	static const __u32 calls[] = { MARK_NR, SYS_openat };
	int n, shown = 0, told = 0, again = 0;
	struct target target;
	__u64 hidden = 0;

	become_nobody();
	start_with(&target, hide);
	have(&target, SELF, 'o', 0);
	pidfd = pidfd_of(target.pid, 0);
	fd = session();
	need(!setup(fd, RING), "setup");
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER), UTRACE_CAPTURE_STRINGS,
		     calls, 2),
	     "choose");
	scope = UTRACE_SCOPE_PROCESS;
	shared->left = 0;
	for (n = 1; n < FAIL_NTH_MOST && !shared->left; n++) {
		attach_again();
		have(&target, SELF, 'h', n);
		take(fd);
		shown += count(UTRACE_REC_SYS_ENTER, 0) ||
			 memmem(records, records_size, SECRET, strlen(SECRET));
		told += count(UTRACE_REC_HIDDEN, target.pid);
		hidden = info(fd).hidden;
		have(&target, SELF, 'd', 1);
		have(&target, SELF, 'm', 3);
		take(fd);
		again += marks(UTRACE_REC_SYS_ENTER, target.pid) == 3;
		need(!detach(fd, id), "detach");
	}
	holds(n > 2 && shared->left, "hidden: %d allocations", n - 2);
	is(0, shown, "hidden: never a byte of it");
	is(n - 1, told, "hidden: one HIDDEN each time");
	is(told, hidden, "hidden: INFO counts as many");
	is(n - 1, again, "hidden: shown again when it may be");
	close(fd);
	stop(&target);
	return 0;
}

/* Records that find no room in their ring, and no large piece of memory either. */

/* The calls of one order; the ring of a CPU has room for three. */
#define LONG_CALLS	20

/* Orders: 'o': open fail-nth; 'r': let the n-th allocation of each rename(2) fail. */
static void rename_long(struct target *target, struct order *order)
{
	static char path[PATH_MAX];
	int i, left;

	if (order->what == 'o') {
		target_nth = fail_nth_open(0);
		return;
	}
	memset(path, 'x', sizeof(path) - 1);
	for (i = 0; i < LONG_CALLS; i++) {
		if (!fail_nth_arm(target_nth, order->n))
			_exit(1);
		syscall(SYS_rename, path, path);
		left = fail_nth_left(target_nth);
		if (left < 0)
			_exit(1);
		shared->done += !left;
	}
}

/* Read whenever the target waits, until it answers; returns how many calls. */
static int read_when_parked(struct target *target)
{
	struct pollfd pfd = { .fd = target->from[SELF][0], .events = POLLIN };
	int told = 0, i;

	for (i = 0; i < DEADLINE_MS / 2 && !poll(&pfd, 1, 2); i++)
		if (info(fd).parked) {
			take(fd);
			told += count(UTRACE_REC_SYS_CALL, target->pid);
		}
	need(hear(target, SELF) >= 0, "an answer");
	settle(target, SELF);
	take(fd);
	return told + count(UTRACE_REC_SYS_CALL, target->pid);
}

/*
 * A record that needs more than a page is parked in single pages where no more are free in
 * a row.  Only allocations of more than a page fail: the first one of a call is the buffer
 * of its capture, so that the record is short, and the second one is to park the record.
 */
static int parked_as_root(void *arg)
{
	static const __u32 calls[] = { SYS_rename };
	struct utrace_ioc_events events = {
		.events = UTRACE_REC_BIT(SYS_CALL),
		.capture = UTRACE_CAPTURE_STRINGS,
		.calls = (uintptr_t)calls,
		.ncalls = 1,
		.string_size = UTRACE_ITEM_SIZE_MAX,
	};
	struct target target;
	int n, told = 0;

	need(fail_nth_write("failslab/ignore-gfp-wait", "Y") &&
	     fail_nth_write("fail_page_alloc/min-order", "1"), "debugfs");
	start_with(&target, rename_long);
	pin_to_cpu(target.pid, 0);
	have(&target, SELF, 'o', 0);
	fd = session();
	need(!setup_full(fd, RING, UTRACE_FULL_DEFAULT), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!command(fd, UTRACE_IOC_EVENTS, &events), "choose");
	for (n = 1; n <= 3; n++) {
		shared->done = 0;
		tell(&target, SELF, 'r', n);
		told += read_when_parked(&target);
		printf("#   allocation %d of more than a page: %d of %d calls\n",
		       n, shared->done, LONG_CALLS);
		/* There is no third one, unless a cache needs a new slab. */
		holds(shared->done || n > 2, "parked: it fails");
	}
	holds(info(fd).waits, "parked: the target has waited");
	is(3 * LONG_CALLS, told, "parked: all calls are recorded");
	is(0, info(fd).lost, "parked: and nothing is lost");
	close(fd);
	stop(&target);
	return 0;
}

/* The calls of a user with limits of one engine and one ring. */
static int calls_as_nobody(void *arg)
{
	/* The ring, and two pages that go with it. */
	struct rlimit limit = { RING + 8192, RING + 8192 };
	struct target target;
	__u32 which;

	need(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
	become_nobody();
	begin(&target);
	fail_each(&opening);
	fail_each(&setting_up);
	for (which = UTRACE_SCOPE_THREAD; which <= UTRACE_SCOPE_TREE; which++)
		fail_scope(which);
	new_session();
	scope = UTRACE_SCOPE_PROCESS;
	attach_again();
	fail_each(&informing);
	fail_each(&choosing);
	fail_each(&telling);
	fail_each(&reading);
	close(fd);
	end(&target);
	return 0;
}

static int calls_as_root(void *arg)
{
	struct target target;

	begin(&target);
	fail_scope(UTRACE_SCOPE_SYSTEM);
	fail_each(&first_attaching);
	end(&target);
	return 0;
}

FIXTURE(memory) {
};

FIXTURE_SETUP(memory)
{
	const char *why = dev_begin(_metadata) ?: fail_nth_why_not();

	if (why)
		SKIP(return, "%s", why);
	need(fail_nth_enable(true) && fail_nth_enable_highmem(true), "debugfs");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(shared != MAP_FAILED, "mmap");
	set_unprivileged("1");
	need(!set_sysctl(ENGINES, "1"), ENGINES);
}

FIXTURE_TEARDOWN(memory)
{
	need(!set_sysctl(ENGINES, "1024"), ENGINES);
	fail_nth_enable_highmem(false);
	fail_nth_enable(false);
	dev_end();
}

TEST_F(memory, calls_of_a_user)
{
	is(0, in_child(calls_as_nobody, NULL), "calls of a user");
}

TEST_F(memory, calls_of_root)
{
	is(0, in_child(calls_as_root, NULL), "calls of root");
}

TEST_F(memory, missed)
{
	is(0, in_child(missed_as_root, NULL), "events that are missed");
}

TEST_F(memory, hidden)
{
	is(0, in_child(hidden_as_nobody, NULL), "a task that is hidden");
}

TEST_F(memory, parked)
{
	is(0, in_child(parked_as_root, NULL), "records that wait");
}

TEST_HARNESS_MAIN
