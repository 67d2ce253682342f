// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: calls that are counted in the kernel
 */
#include "dev.h"

#define MOST	20000

static struct utrace_call_count rows[MOST];

/* Read all counts in pieces of @piece rows; returns the number of rows. */
static int read_counts(int fd, unsigned int piece, __u64 *lost)
{
	struct utrace_ioc_counts arg = {};
	unsigned int n = 0;

	do {
		arg.rows.at = (uintptr_t)(rows + n);
		arg.rows.n = piece;
		arg.rows.size = sizeof(*rows);
		need(!command(fd, UTRACE_IOC_COUNTS, &arg), "UTRACE_IOC_COUNTS");
		n += arg.rows.n;
	} while (arg.rows.n == piece && n + piece <= MOST);
	if (lost)
		*lost = arg.lost;
	return n;
}

static struct utrace_call_count *count_of(int n, pid_t tid, __u32 nr)
{
	int i;

	for (i = 0; i < n; i++)
		if (rows[i].tid == tid && rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

static int choose_counts(int fd, __u64 events, __u32 count)
{
	struct utrace_ioc_events arg = { .events = events, .count = count };

	return command(fd, UTRACE_IOC_EVENTS, &arg);
}

static long fail_to_close(long n)
{
	long i;

	for (i = 0; i < n; i++)
		syscall(SYS_close, i % 2 ? -1 : 99999);
	return 0;
}

static long sleep_ms(long ms)
{
	return usleep(ms * 1000);
}

TEST_F(dev, counts)
{
	struct utrace_call_count *count;
	struct target target;
	__u64 lost;
	int fd, n, i;
	__u64 sum = 0;

	start(&target);
	fd = session();
	need(!setup(fd, 0), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	is(-EINVAL, choose_counts(fd, 0, UTRACE_COUNT_CPU),
	   "EVENTS: the CPU time alone");
	is(-EINVAL, choose_counts(fd, 0, (UTRACE_COUNT_CALLS | UTRACE_COUNT_CPU) + 1),
	   "EVENTS: what is not there");
	is(0, choose_counts(fd, 0, (UTRACE_COUNT_CALLS | UTRACE_COUNT_CPU)), "EVENTS: count");
	have(&target, SELF, mark, 1000);
	have(&target, SELF, fail_to_close, 10);
	have(&target, SELF, sleep_ms, 50);
	settle(&target, SELF);
	is(0, take(fd), "no records");
	n = read_counts(fd, 3, &lost);
	is(0, lost, "nothing is lost");
	is(n, read_counts(fd, MOST, NULL), "as many rows in one piece");
	count = count_of(n, target.pid, MARK_NR);
	is(1000, count ? count->calls : -1, "each call is counted");
	holds(count && count->min <= count->max && count->total >= count->max,
	      "least %llu, most %llu, sum %llu of durations",
	      count ? count->min : 0, count ? count->max : 0,
	      count ? count->total : 0);
	is(0, count ? count->errors : -1, "no call has failed");
	is(1000, count ? count->cpu_calls : -1, "each call has its CPU time");
	holds(count && count->pid == target.pid && count->alive,
	      "the counts are of a task that lives");
	for (i = 0; count && i < UTRACE_CALL_DURATIONS; i++)
		sum += count->durations[i];
	is(1000, sum, "each call has its duration");
	count = count_of(n, target.pid, SYS_close);
	holds(count && count->errors == 10 && count->err[0] == EBADF &&
	      count->errno_calls[0] == 10 && !count->err[1],
	      "errors by errno");
	count = count_of(n, target.pid, SYS_clock_nanosleep);
	holds(count && count->max >= 50000000 && count->cpu < count->total,
	      "a sleep lasts, and takes no CPU time");
	stop(&target);
	n = read_counts(fd, MOST, NULL);
	count = count_of(n, target.pid, MARK_NR);
	holds(count && !count->alive && count->calls == 1000,
	      "the counts of a dead task stay");
	close(fd);
}

/* Counts beside records, and for targets that overlap. */
TEST_F(dev, counts_and_records)
{
	struct utrace_call_count *of;
	struct target target;
	int fd, n;

	start(&target);
	fd = session();
	need(!setup(fd, 0), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0 &&
	     attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!choose_counts(fd, UTRACE_REC_BIT(SYS_EXIT), UTRACE_COUNT_CALLS),
	     "choose");
	have(&target, SELF, mark, 100);
	settle(&target, SELF);
	take(fd);
	is(100, marks(UTRACE_REC_SYS_EXIT, target.pid), "each call is recorded");
	is(0, count(UTRACE_REC_SYS_ENTER, 0), "but no entries");
	n = read_counts(fd, MOST, NULL);
	of = count_of(n, target.pid, MARK_NR);
	is(100, of ? of->calls : -1, "and counted, once");
	is(0, of ? of->cpu_calls : -1, "without its CPU time");
	close(fd);
	stop(&target);
}

/* Sixteen children of 6250 calls each. */
TEST_F(dev, hundred_thousand)
{
	struct target target;
	__u64 sum = 0, lost;
	int fd, n, i, exits = 0;
	pid_t pid[16];

	start(&target);
	fd = session();
	need(!setup_full(fd, 64 << 10, UTRACE_FULL_STOP), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!choose_counts(fd, UTRACE_REC_BIT(SYS_EXIT) | UTRACE_REC_BIT(EXIT),
			    UTRACE_COUNT_CALLS), "choose");
	for (i = 0; i < 16; i++) {
		tell(&target, SELF, fork_and_mark, 6250);
		do {
			take(fd);
			exits += marks(UTRACE_REC_SYS_EXIT, 0);
		} while (!count(UTRACE_REC_EXIT, 0));
		pid[i] = find(UTRACE_REC_EXIT, 0)->tid;
		hear(&target, SELF);
	}
	is(100000, exits, "exactly 100 000 in the records");
	is(0, info(fd).lost, "and none is lost");
	n = read_counts(fd, MOST, &lost);
	for (i = 0; i < n; i++)
		sum += rows[i].nr == MARK_NR ? rows[i].calls : 0;
	is(100000, sum, "exactly 100 000 in the counts");
	is(0, lost, "and none is lost there");
	holds(pid[0] != pid[15], "of sixteen processes");
	close(fd);
	stop(&target);
}

/* Calls of many kinds, all of which fail. */
static const __u32 kinds[] = {
	SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_lseek, SYS_ioctl,
	SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_dup, SYS_sendto,
	SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_shutdown, SYS_bind,
	SYS_listen, SYS_getsockname, SYS_getpeername, SYS_fcntl, SYS_flock,
	SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_getdents, SYS_fchdir,
	SYS_fchmod, SYS_fchown, SYS_fstatfs,
};

#define KINDS	(sizeof(kinds) / sizeof(*kinds))

static void call_many_kinds(void)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		syscall(kinds[i], -1, 0, 0, 0, 0, 0);
}

/* Have children make calls of many kinds, one after the other. */
static long fork_many_kinds(long children)
{
	pid_t pid;

	while (children-- > 0) {
		pid = fork();
		if (!pid) {
			mark(3);
			call_many_kinds();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* More processes than a session has room for: only sums are left of some. */
TEST_F(dev, more_than_there_is_room)
{
	struct utrace_ioc_counts arg = {};
	struct utrace_call_count *sum;
	__u64 marks = 0, failed = 0, lost;
	struct target target;
	int fd, n, i, alone = 0;

	start(&target);
	fd = session();
	need(!setup(fd, 0), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!choose_counts(fd, 0, UTRACE_COUNT_CALLS), "choose");
	/* Each order has its deadline. */
	for (i = 0; i < 3; i++)
		have(&target, SELF, fork_many_kinds, 200);
	n = read_counts(fd, 1000, &lost);
	holds(n > 15000 && n <= 16384, "as many rows as there is room for");
	is(0, lost, "each call is counted");
	for (i = 0; i < n; i++) {
		marks += rows[i].nr == MARK_NR ? rows[i].calls : 0;
		failed += rows[i].nr == SYS_fstatfs ? rows[i].errors : 0;
		alone += rows[i].nr == MARK_NR && rows[i].task;
	}
	is(1800, marks, "all calls of all processes");
	is(600, failed, "and all errors");
	sum = count_of(n, 0, MARK_NR);
	need(sum, "a row that is a sum");
	is(0, sum->task, "is that of no task");
	is(0, sum->pid, "nor of a process");
	is('\0', sum->comm[0], "has no name");
	is(1800 - 3 * alone, sum->calls, "and has the calls that no other row has");
	arg.rows.size = sizeof(*rows);
	need(!command(fd, UTRACE_IOC_COUNTS, &arg), "COUNTS: no rows");
	is(n, arg.rows.total, "the number of rows");
	is(600 - alone, arg.merged, "COUNTS gives the number of these tasks");
	close(fd);
	stop(&target);
}

/* Children that have made their calls, in memory that they share with the test. */
static int *ready;

/*
 * Fork children that make calls of many kinds and live on.  They wait for each
 * other by calls of other kinds.
 */
static long fork_living(long children)
{
	long before = __atomic_load_n(ready, __ATOMIC_ACQUIRE), i;

	for (i = 0; i < children; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		call_many_kinds();
		__atomic_fetch_add(ready, 1, __ATOMIC_RELEASE);
		while (pause())
			;
	}
	while (__atomic_load_n(ready, __ATOMIC_ACQUIRE) < before + children)
		usleep(1000);
	return 0;
}

/* Living tasks fill the room of a session: the calls beyond that are lost. */
TEST_F(dev, more_than_living_tasks_have_room_for)
{
	const int children = 600, most = 16384;
	struct utrace_ioc_events choice = {
		.count = UTRACE_COUNT_CALLS,
		.calls = (uintptr_t)kinds,
		.ncalls = KINDS,
	};
	struct target target;
	__u64 counted = 0, lost;
	int fd, n, i;

	ready = mmap(NULL, sizeof(*ready), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(ready != MAP_FAILED, "shared memory");
	start(&target);
	fd = session();
	need(!setup(fd, 0), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!command(fd, UTRACE_IOC_EVENTS, &choice), "EVENTS");
	/* The target gets its own counts, of read() and write(), while there is room. */
	have(&target, SELF, own_tid, 0);
	have(&target, SELF, own_tid, 0);
	n = read_counts(fd, MOST, &lost);
	holds(n <= 2 && !lost, "no call is lost while there is room");
	/* Each order has its deadline. */
	for (i = 0; i < 6; i++)
		have(&target, SELF, fork_living, children / 6);
	n = read_counts(fd, 1000, &lost);
	is(most, n, "as many rows as there is room for");
	for (i = 0; i < n; i++)
		counted += rows[i].tid != target.pid ? rows[i].calls : 0;
	is((long)children * KINDS - counted, lost, "lost: the calls that are in no row");
	holds(lost > 0, "which are some");
	close(fd);
	stop(&target);
	munmap(ready, sizeof(*ready));
}

TEST_HARNESS_MAIN
