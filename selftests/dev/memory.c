// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace without memory
 *
 * The calls are open(2), each ioctl, read(2) and close(2).  There are also
 * events of tasks for which there is no memory.
 *
 * Charges of the user must be taken back, and each event is recorded or counted
 * as missed.  The user has a limit of one engine and one ring, so a charge that
 * stays makes the next call fail.
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

/* The session and the target of the current call. */
static int fd = -1, pidfd;
static __u32 scope, id;
static struct target *victim;

/* Check that the target has no engine and makes no records. */
static bool is_left_alone(void)
{
	if (engines(victim->pid))
		return false;
	have(victim, SELF, mark, 1);
	return !take(fd);
}

static bool is_recorded(void)
{
	have(victim, SELF, mark, 2);
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
	have(victim, SELF, mark, 1);
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
	have(victim, SELF, mark, 1);
	return !ret && !engines(victim->pid);
}

/* read(2) to pages that do not exist before the call. */

static char *page;
static ssize_t got;
static __u64 last;	/* number of the last record read */

static void prepare_read(void)
{
	last = info(fd).records;
	have(victim, SELF, mark, 2);
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

static const struct fail_case opening[] = {
	{ "open", NULL, call_open, good_open },
	{ "SETUP", prepare_setup, call_setup, good_setup },
};

static const struct fail_case others[] = {
	{ "INFO", NULL, call_info, good_info, .never_fails = true },
	{ "EVENTS", NULL, call_events, good_events },
	{ "IN_FLIGHT", NULL, call_in_flight, good_in_flight },
	{ "read", prepare_read, call_read, good_read, .may = -EFAULT },
};

static const struct fail_case first_attaching = {
	"ATTACH to the system, with a ring", prepare_first_attach, call_attach,
	good_first_attach,
};

/* Of one scope; the last one opens its sessions itself. */
static const struct fail_case attaching[] = {
	{ "ATTACH", prepare_attach, call_attach, good_attach },
	{ "DETACH", attach_again, call_detach, good_detach,
	  .never_fails = true },
};

static const struct fail_case closing = {
	"close", prepare_close, call_close, good_close, .never_fails = true,
};

static void fail_scope(__u32 which, const char *name)
{
	scope = which;
	new_session();
	holds(fail_each(attaching), "ATTACH and DETACH, %s", name);
	close(fd);
	holds(fail_one(&closing), "close, %s", name);
}

static void begin(struct target *target)
{
	start(target);
	victim = target;
	pidfd = pidfd_of(target->pid, 0);
	fail_again = -EUSERS;
	fail_tries = TRIES;
}

static void end(struct target *target)
{
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

/* The bare target of a try, the counts so far, and the events without a record. */
static pid_t bare;
static __u64 missed;
static int unrecorded, fell;

static void prepare_missed(void)
{
	bare = start_bare();
	attach_again();
}

static int call_missed(void)
{
	fail_need(have_bare_mark(1), "a marker call");
	return 0;
}

static bool good_missed(int ret)
{
	bool good = have_bare_mark(2);
	__u64 now, before = missed;
	int told;

	take(fd);
	told = marks(UTRACE_REC_SYS_ENTER, bare) +
	       marks(UTRACE_REC_SYS_EXIT, bare);
	now = info(fd).missed + info(fd).lost;
	unrecorded += 4 - told;
	if (now - before != (__u64)(4 - told)) {
		printf("# %d of 4 recorded, %lld missed or lost\n", told,
		       (long long)(now - before));
		good = false;
	}
	fell += now < before;
	missed = now;
	/* The count of missed events stays when the engine is freed. */
	need(!detach(fd, id), "detach");
	fell += info(fd).missed + info(fd).lost != missed;
	kill(bare, SIGKILL);
	waitpid(bare, NULL, 0);
	return good;
}

/* The first event of a task under system scope needs memory. */
static int missed_as_root(void *arg)
{
	static const struct fail_case c = {
		"two calls", prepare_missed, call_missed, good_missed,
		.of = &bare,
	};

	fd = session();
	need(!choose_marks(fd), "choose");
	scope = UTRACE_SCOPE_SYSTEM;
	holds(fail_one(&c), "missed: each is counted, and no other");
	holds(unrecorded > 0, "missed: events without a record (%d)",
	      unrecorded);
	is(unrecorded, missed, "missed: INFO has the sum, with those lost");
	is(0, fell, "missed: it never falls, with a DETACH neither");
	holds(info(fd).missed && info(fd).lost,
	      "missed: for want of the core's memory and of the session's");
	close(fd);
	return 0;
}

/* A task is hidden when it should be, with or without memory. */
static int target_nth;

static long open_nth(long unused)
{
	target_nth = fail_nth_open(0);
	return 0;
}

/* Become hidden; the @n-th allocation after that fails. */
static long hide_failing(long n)
{
	prctl(PR_SET_DUMPABLE, 0);
	if (!fail_nth_arm(target_nth, n))
		_exit(1);
	mark(1);
	open(SECRET, O_RDONLY);
	shared->left = fail_nth_left(target_nth);
	if (shared->left < 0)
		_exit(1);
	return mark(1);
}

static struct target shy;

static int call_hidden(void)
{
	have(&shy, SELF, hide_failing, failing.n);
	failing.left = shared->left;
	return 0;
}

/* Never a byte of it, one HIDDEN each time, and shown again when it may be. */
static bool good_hidden(int ret)
{
	bool shown;
	int once, again;

	take(fd);
	shown = count(UTRACE_REC_SYS_ENTER, 0) ||
		memmem(records, records_size, SECRET, strlen(SECRET));
	once = count(UTRACE_REC_HIDDEN, shy.pid);
	have(&shy, SELF, set_dumpable, 1);
	have(&shy, SELF, mark, 3);
	take(fd);
	again = marks(UTRACE_REC_SYS_ENTER, shy.pid);
	need(!detach(fd, id), "detach");
	if (!shown && once == 1 && again == 3)
		return true;
	printf("# %sshown, %d HIDDEN, %d marks\n", shown ? "" : "not ", once,
	       again);
	return false;
}

static int hidden_as_nobody(void *arg)
{
	static const struct fail_case c = {
		"hidden", attach_again, call_hidden, good_hidden,
		.elsewhere = true,
	};
	static const __u32 calls[] = { MARK_NR, SYS_openat };

	become_nobody();
	start(&shy);
	have(&shy, SELF, open_nth, 0);
	pidfd = pidfd_of(shy.pid, 0);
	fd = session();
	need(!setup(fd, RING), "setup");
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER), UTRACE_CAPTURE_STRINGS,
		     calls, 2),
	     "choose");
	scope = UTRACE_SCOPE_PROCESS;
	holds(fail_one(&c), "hidden: whatever allocation fails");
	holds(failing.allocations > 0, "hidden: some do");
	is(failing.n, info(fd).hidden, "hidden: INFO counts one for each");
	close(fd);
	stop(&shy);
	return 0;
}

/* Records that find no room in their ring, and no large piece of memory either. */

/* The calls of one order; the ring of a CPU has room for three. */
#define LONG_CALLS	20

/* The @n-th allocation of each rename(2) fails. */
static long rename_long(long n)
{
	static char path[PATH_MAX];
	int i, left;

	memset(path, 'x', sizeof(path) - 1);
	for (i = 0; i < LONG_CALLS; i++) {
		if (!fail_nth_arm(target_nth, n))
			_exit(1);
		syscall(SYS_rename, path, path);
		left = fail_nth_left(target_nth);
		if (left < 0)
			_exit(1);
		shared->done += !left;
	}
	return 0;
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
	hear(target, SELF);
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
	start(&target);
	pin_to_cpu(target.pid, 0);
	have(&target, SELF, open_nth, 0);
	fd = session();
	need(!setup_full(fd, RING, UTRACE_FULL_DEFAULT), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!command(fd, UTRACE_IOC_EVENTS, &events), "choose");
	for (n = 1; n <= 3; n++) {
		shared->done = 0;
		tell(&target, SELF, rename_long, n);
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
	size_t i;

	need(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
	become_nobody();
	begin(&target);
	holds(fail_each(opening), "open and SETUP");
	for (i = 0; i < TASK_SCOPES; i++)
		fail_scope(task_scopes[i].scope, task_scopes[i].name);
	new_session();
	scope = UTRACE_SCOPE_PROCESS;
	attach_again();
	holds(fail_each(others), "INFO, EVENTS, IN_FLIGHT and read");
	close(fd);
	end(&target);
	return 0;
}

static int calls_as_root(void *arg)
{
	struct target target;

	begin(&target);
	fail_scope(UTRACE_SCOPE_SYSTEM, "system");
	holds(fail_one(&first_attaching), "the first ATTACH");
	end(&target);
	return 0;
}

FIXTURE(memory) {
};

FIXTURE_SETUP(memory)
{
	const char *why = dev_begin(_metadata) ?: fail_nth_begin(true);

	if (why)
		SKIP(return, "%s", why);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(shared != MAP_FAILED, "mmap");
	set_unprivileged("1");
	need(!set_sysctl(ENGINES, "1"), ENGINES);
}

FIXTURE_TEARDOWN(memory)
{
	need(!set_sysctl(ENGINES, "1024"), ENGINES);
	fail_nth_end();
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
