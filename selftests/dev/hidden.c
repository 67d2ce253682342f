// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: records of what a reader cannot see
 *
 * A record reports that the reader may no longer trace a task, that an item could
 * not be captured, or an id that the reader's user namespace does not map.
 */
#include <sched.h>
#include <sys/stat.h>

#include "../fail_nth.h"
#include "dev.h"

/* A path that is opened only while the session may not see the task. */
#define SECRET	"/what-nobody-is-to-see"

/* A text longer than an item, and a name; three names make a longer path. */
static char text[600], name[200];

/*
 * A call whose four arguments fill a capture, which leaves no room for a stack.
 */
static long fill_capture(long unused)
{
	int fd, i;

	memset(text, 'x', sizeof(text) - 1);
	memset(name, 'y', sizeof(name) - 1);
	if (chdir("/tmp"))
		_exit(1);
	for (i = 0; i < 3; i++)
		if (mkdir(name, 0700) || chdir(name))
			_exit(1);
	fd = open(".", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !syscall(SYS_renameat2, fd, text, fd, text, 0))
		_exit(1);
	close(fd);
	for (i = 0; i < 3; i++)
		if (chdir("..") || rmdir(name))
			_exit(1);
	return 0;
}

static long open_secret(long unused)
{
	return open(SECRET, O_RDONLY);
}

/* The @n-th allocation of the open() fails. */
static long open_failing(long n)
{
	int nth = fail_nth_open(0);

	if (!fail_nth_arm(nth, n))
		_exit(1);
	open(SECRET, O_RDONLY);
	if (fail_nth_left(nth) < 0)
		_exit(1);
	return close(nth);
}

/*
 * Append records until the EXIT of a task is there; false if it does not come.
 */
static bool await_exit(int fd, pid_t tid)
{
	ssize_t n;
	int i;

	for (i = 0; i < DEADLINE_MS / 20; i++) {
		n = read(fd, records + records_size,
			 sizeof(records) - records_size);
		if (n > 0) {
			records_size += n;
			continue;
		}
		if (find(UTRACE_REC_EXIT, tid))
			return true;
		usleep(20000);
	}
	return false;
}

static bool has_secret(void)
{
	return memmem(records, records_size, SECRET, strlen(SECRET));
}

static struct utrace_rec_exit *exit_of(pid_t tid)
{
	return (void *)find(UTRACE_REC_EXIT, tid);
}

/* A session of nobody, and a process of nobody that is dumpable or not. */
static void test_undumpable(void)
{
	struct target target;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!choose(fd, ALL_EVENTS, ALL_CAPTURES, NULL, 0),
	     "choose");
	have(&target, SELF, mark, 2);
	have(&target, SELF, set_dumpable, 0);
	have(&target, SELF, mark, 5);
	have(&target, SELF, open_secret, 0);
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, target.pid),
	   "undumpable: marks before it, no others");
	is(1, count(UTRACE_REC_HIDDEN, target.pid), "undumpable: one HIDDEN");
	is(1, info(fd).hidden, "undumpable: INFO counts it");
	holds(!has_secret(), "undumpable: not a byte of what it opens");
	have(&target, SELF, mark, 5);
	is(0, take(fd), "undumpable: nothing, as long as it is");
	have(&target, SELF, set_dumpable, 1);
	have(&target, SELF, mark, 3);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_ENTER, target.pid),
	   "dumpable again: recorded");
	is(0, count(UTRACE_REC_HIDDEN, 0),
	   "dumpable again: nothing is hidden");
	have(&target, SELF, set_dumpable, 0);
	tell(&target, SELF, exit_with, 7);
	records_size = 0;
	holds(await_exit(fd, target.pid), "undumpable: its EXIT");
	is(1, count(UTRACE_REC_HIDDEN, target.pid),
	   "undumpable: one HIDDEN again");
	is(2, info(fd).hidden, "undumpable: INFO counts two");
	is(UTRACE_REC_F_HIDDEN,
	   exit_of(target.pid) ? exit_of(target.pid)->head.flags : -1,
	   "undumpable: EXIT says that it is hidden");
	is(0, exit_of(target.pid) ? exit_of(target.pid)->code : -1,
	   "undumpable: and not how it ended");
	close(fd);
	stop(&target);
}

/* The first check of permission for the process is at its exit. */
static void test_only_exit(void)
{
	struct target target;
	pid_t child;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!choose(fd, UTRACE_REC_BIT(EXIT) | UTRACE_REC_BIT(FORK), 0, NULL,
		     0),
	     "choose");
	have(&target, SELF, set_dumpable, 0);
	child = have(&target, SELF, fork_and_mark, 3);
	tell(&target, SELF, exit_with, 7);
	records_size = 0;
	holds(await_exit(fd, target.pid), "only EXIT: it comes");
	is(1, count(UTRACE_REC_HIDDEN, target.pid),
	   "only EXIT: HIDDEN before it");
	is(0, count(UTRACE_REC_FORK, 0), "only EXIT: its fork is hidden");
	is(1, count(UTRACE_REC_EXIT, child),
	   "only EXIT: that of its child comes, too");
	close(fd);
	stop(&target);
}

/*
 * Calls of a hidden task leave nothing.  With two targets the newer one is called first
 * at entries, the older one at exits.
 */
static void test_calls(bool whole, bool two)
{
	__u64 bits = whole ? UTRACE_REC_BIT(SYS_CALL) :
		     UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT);
	struct target target;
	int fd;

	printf("#   %s, %s\n", whole ? "whole calls" : "entries and exits",
	       two ? "two targets" : "one target");
	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	if (two)
		need(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!choose(fd, bits, 0, NULL, 0), "choose");
	have(&target, SELF, set_dumpable, 0);
	take(fd);
	is(1, count(UTRACE_REC_HIDDEN, target.pid), "calls: one HIDDEN");
	have(&target, SELF, mark, 100);
	is(0, take(fd), "calls: nothing, as long as it is hidden");
	have(&target, SELF, set_dumpable, 1);
	have(&target, SELF, mark, 3);
	take(fd);
	is(3, marks(whole ? UTRACE_REC_SYS_CALL : UTRACE_REC_SYS_ENTER,
		    target.pid), "calls: recorded when it is seen again");
	is(1, info(fd).hidden, "calls: INFO counts one");
	close(fd);
	stop(&target);
}

static int undumpable_as_nobody(void *arg)
{
	become_nobody();
	test_undumpable();
	test_only_exit();
	test_calls(false, false);
	test_calls(false, true);
	test_calls(true, false);
	test_calls(true, true);
	return 0;
}

/* CAP_SYS_PTRACE lets a session see a process that is not dumpable. */
TEST_F(dev, undumpable_by_root)
{
	struct target target;
	int fd;

	start(&target);
	have(&target, SELF, be_nobody, 0);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, ALL_EVENTS, ALL_CAPTURES, NULL, 0),
	     "choose");
	have(&target, SELF, set_dumpable, 0);
	have(&target, SELF, mark, 3);
	have(&target, SELF, open_secret, 0);
	tell(&target, SELF, exit_with, 7);
	records_size = 0;
	holds(await_exit(fd, target.pid), "undumpable, by root: its EXIT");
	is(3, marks(UTRACE_REC_SYS_ENTER, 0), "undumpable, by root: marks");
	holds(has_secret(), "undumpable, by root: what it opens");
	is(0, info(fd).hidden, "undumpable, by root: nothing is hidden");
	is(7 << 8, exit_of(target.pid) ? exit_of(target.pid)->code : -1,
	   "undumpable, by root: how it ended");
	is(0, exit_of(target.pid) ? exit_of(target.pid)->head.flags : -1,
	   "undumpable, by root: EXIT has no flag");
	close(fd);
	stop(&target);
}

/* Switch dumpability as fast as possible, while another thread makes calls. */
static void *flap(void *arg)
{
	int i;

	for (i = 0; i < 2000; i++)
		prctl(PR_SET_DUMPABLE, i & 1);
	return NULL;
}

static int flap_as_nobody(void *arg)
{
	pid_t pid;
	int fd, status;

	become_nobody();
	fd = session();
	need(!setup(fd, 1 << 20), "setup");
	/*
	 * The child makes marker calls beside a thread that switches
	 * dumpability.
	 */
	need(attach(fd, getpid(), UTRACE_SCOPE_TREE) > 0, "attach");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		pthread_t thread;

		pthread_create(&thread, NULL, flap, NULL);
		mark(1000);
		pthread_join(thread, NULL);
		_exit(0);
	}
	need(!choose_marks(fd), "choose");
	waitpid(pid, &status, 0);
	take(fd);
	is(0, info(fd).lost, "flapping: no record is lost");
	is(info(fd).hidden, count(UTRACE_REC_HIDDEN, 0),
	   "flapping: a HIDDEN for each time that it is hidden");
	return 0;
}

/* Missing items. */

/*
 * The sum of the items that the last item of each record says are missing; -1
 * if such an item is not the last of its record.
 */
static long missing_items(void)
{
	struct utrace_rec *rec;
	long sum = 0;

	for_each_record(rec) {
		struct utrace_item *item;
		size_t at, end = rec->size;

		for (at = rec->items; at && at < end;
		     at += sizeof(*item) + ((item->len + 7) & ~7)) {
			item = (void *)((char *)rec + at);
			if (item->kind != UTRACE_ITEM_MISSING)
				continue;
			if (at + sizeof(*item) != end || item->len ||
			    item->arg != UTRACE_ITEM_NO_ARG || !item->whole)
				return -1;
			sum += item->whole;
		}
	}
	return sum;
}

TEST_F(dev, no_room)
{
	struct target target;
	long sum;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER), ALL_CAPTURES, NULL,
		     0),
	     "choose");
	have(&target, SELF, mark, 1);
	take(fd);
	is(0, missing_items(), "room for all: nothing is missing");
	is(0, info(fd).uncaptured, "room for all: INFO says so");
	have(&target, SELF, fill_capture, 0);
	take(fd);
	sum = missing_items();
	holds(sum > 0, "no room: the record says how many are missing (%ld)",
	      sum);
	is(sum, info(fd).uncaptured, "no room: INFO has the sum");
	close(fd);
	stop(&target);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	     path);
	close(fd);
}

/*
 * Each allocation of a traced open() fails in turn: missing items are reported.
 */
TEST_F(dev, no_memory)
{
	static const __u32 opens[] = { SYS_open, SYS_openat };
	int fd, i, said = 0, silent = 0, records_missing = 0;
	const char *why = fail_nth_begin(false);
	struct target target;
	long sum = 0;

	if (why)
		SKIP(return, "%s", why);
	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
		     UTRACE_CAPTURE_STRINGS, opens, 2), "choose");
	for (i = 1; i <= 12; i++) {
		long now;

		have(&target, SELF, open_failing, i);
		take(fd);
		now = missing_items();
		/*
		 * The open() of fail-nth, and the open() whose allocation
		 * fails.
		 */
		records_missing += count(UTRACE_REC_SYS_ENTER, 0) != 2;
		records_missing += count(UTRACE_REC_SYS_EXIT, 0) != 2;
		if (!has_secret())
			now > 0 ? said++ : silent++;
		sum += now;
	}
	holds(said > 0, "no memory: the record says so (%d of %d)", said,
	      i - 1);
	is(0, silent, "no memory: never without a word");
	is(0, records_missing, "no memory: each record is there");
	is(sum, info(fd).uncaptured, "no memory: INFO has the sum");
	close(fd);
	stop(&target);
	fail_nth_end();
}

/* Ids of the reader's user namespace. */

static struct utrace_item_creds *creds_of_exec(int fd, struct target *target)
{
	struct utrace_item *item;
	struct utrace_rec *rec;
	size_t at;

	records_size = 0;
	if (!await_exit(fd, target->pid))
		return NULL;
	rec = find(UTRACE_REC_EXEC, target->pid);
	if (!rec)
		return NULL;
	for (at = rec->items; at && at < rec->size;
	     at += sizeof(*item) + ((item->len + 7) & ~7)) {
		item = (void *)((char *)rec + at);
		if (item->kind == UTRACE_ITEM_CREDS)
			return (void *)item->data;
	}
	return NULL;
}

static void test_ids(bool inside)
{
	struct utrace_item_creds *creds;
	struct target target;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, UTRACE_REC_BIT(EXEC) | UTRACE_REC_BIT(EXIT), 0, NULL,
		     0),
	     "choose");
	tell(&target, SELF, execute_true, 0);
	creds = creds_of_exec(fd, &target);
	is(inside ? 0 : NOBODY, creds ? creds->uid : 0x5555,
	   inside ? "ids: in a namespace where nobody is root"
		  : "ids: of nobody");
	is(inside ? 0 : NOBODY, creds ? creds->egid : 0x5555,
	   "ids: of the group");
	close(fd);
	stop(&target);
}

static int ids_as_nobody(void *arg)
{
	become_nobody();
	test_ids(false);
	need(!unshare(CLONE_NEWUSER), "unshare");
	need(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", "0 65534 1");
	write_file("/proc/self/gid_map", "0 65534 1");
	test_ids(true);
	return 0;
}

TEST_F(dev, of_nobody)
{
	set_unprivileged("1");
	is(0, in_child(undumpable_as_nobody, NULL), "nobody");
	is(0, in_child(flap_as_nobody, NULL), "nobody, flapping");
	is(0, in_child(ids_as_nobody, NULL), "ids");
}

TEST_HARNESS_MAIN
