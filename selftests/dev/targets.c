// SPDX-License-Identifier: GPL-2.0
/* utrace selftests - /dev/utrace: scopes, and the namespace of a session */
#include <sched.h>
#include <sys/un.h>

#include "dev.h"

TEST_F(dev, scopes)
{
	struct target target;
	pid_t later;
	int fd, pidfd;

	start(&target);
	have_more(&target, THREAD);
	have_more(&target, CHILD);

	pidfd = pidfd_of(target.tid[THREAD], O_EXCL);
	fd = session();
	holds(attach_fd(fd, pidfd, UTRACE_SCOPE_THREAD) > 0,
	      "thread: by a pidfd of it");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 1);
	have(&target, THREAD, mark, 2);
	have(&target, CHILD, mark, 4);
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, target.tid[THREAD]),
	   "thread: it is there");
	is(2, marks(UTRACE_REC_SYS_ENTER, 0), "thread: nobody else is");
	is(target.pid, find(UTRACE_REC_SYS_ENTER, 0)->pid,
	   "thread: of its process");
	close(fd);

	fd = session();
	need(attach_fd(fd, pidfd, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 1);
	have(&target, THREAD, mark, 2);
	have(&target, CHILD, mark, 4);
	have(&target, SELF, fork_and_mark, 8);
	take(fd);
	is(1, marks(UTRACE_REC_SYS_ENTER, target.pid),
	   "process: the first thread");
	is(2, marks(UTRACE_REC_SYS_ENTER, target.tid[THREAD]),
	   "process: the other one");
	is(3, marks(UTRACE_REC_SYS_ENTER, 0), "process: no children");
	close(fd);
	close(pidfd);

	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 1);
	have(&target, THREAD, mark, 2);
	have(&target, CHILD, mark, 4);
	later = have(&target, SELF, fork_and_mark, 8);
	take(fd);
	is(1, marks(UTRACE_REC_SYS_ENTER, target.pid),
	   "tree: the first thread");
	is(2, marks(UTRACE_REC_SYS_ENTER, target.tid[THREAD]),
	   "tree: the other one");
	is(4, marks(UTRACE_REC_SYS_ENTER, target.tid[CHILD]),
	   "tree: a child that was alive");
	is(8, marks(UTRACE_REC_SYS_ENTER, later), "tree: a child that comes");
	is(15, marks(UTRACE_REC_SYS_ENTER, 0), "tree: nobody else");
	later = have(&target, CHILD, fork_and_mark, 16);
	take(fd);
	is(16, marks(UTRACE_REC_SYS_ENTER, later),
	   "tree: a child of the child");
	close(fd);
	stop(&target);

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have_more(&target, THREAD);
	have(&target, THREAD, mark, 5);
	take(fd);
	is(5, marks(UTRACE_REC_SYS_ENTER, target.tid[THREAD]),
	   "process: a thread that comes");
	close(fd);
	stop(&target);
}

TEST_F(dev, system)
{
	struct target target;
	int fd;

	start(&target);
	fd = session();
	holds(attach_system(fd) > 0, "system: root may");
	need(!choose_marks(fd), "choose");
	mark(7);
	have(&target, SELF, mark, 3);
	have(&target, SELF, fork_and_mark, 2);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_ENTER, target.pid), "system: who was there");
	holds(marks(UTRACE_REC_SYS_ENTER, 0) >= 5, "system: who came");
	is(0, marks(UTRACE_REC_SYS_ENTER, getpid()), "system: not the caller");
	close(fd);
	stop(&target);
}

TEST_F(dev, close)
{
	struct target target;
	int fd, copy;

	start(&target);
	fd = session();
	is(0, engines(target.pid), "before: no engine");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	is(1, engines(target.pid), "attached: one");
	copy = dup(fd);
	close(fd);
	is(1, engines(target.pid), "one descriptor of two is closed: still");
	have(&target, SELF, mark, 3);
	is(6, take(copy), "it still records");
	close(copy);
	is(0, engines(target.pid), "the last one is closed: none");
	tell(&target, SELF, mark, 3);
	holds(is_answered(&target, SELF), "the target goes on");
	stop(&target);
}

TEST_F(dev, several)
{
	static struct utrace_rec_sys_enter first[64];
	int fds[8], i, n = 0, same = 0;
	struct target target;
	struct utrace_rec *rec;

	start(&target);
	settle(&target, SELF);
	for (i = 0; i < 8; i++) {
		fds[i] = session();
		need(attach(fds[i], target.pid,
			    i % 2 ? UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS) >
			     0,
		     "attach");
		need(!choose(fds[i], UTRACE_REC_BIT(SYS_ENTER), 0, NULL, 0),
		     "choose");
	}
	is(8, engines(target.pid), "eight sessions on one process");
	have(&target, SELF, mark, 5);
	/* After this the target makes no further call. */
	settle(&target, SELF);
	for (i = 0; i < 8; i++) {
		int k = 0;
		bool good = true;

		take(fds[i]);
		for_each_record(rec) {
			struct utrace_rec_sys_enter *enter = (void *)rec;

			if (!i && n < 64)
				first[n++] = *enter;
			else if (k < n)
				good = good && enter->nr == first[k].nr &&
				       !memcmp(enter->args, first[k].args,
					       sizeof(enter->args));
			k++;
		}
		same += good && k == n && marks(UTRACE_REC_SYS_ENTER, 0) == 5;
	}
	/*
	 * The read of the order, five marker calls, the answer, and the next
	 * read.
	 */
	holds(n >= 7 && n < 64, "the first has %d calls", n);
	is(8, same, "all have the same calls");
	close(fds[0]);
	is(7, engines(target.pid), "one is closed");
	have(&target, SELF, mark, 2);
	take(fds[5]);
	is(2, marks(UTRACE_REC_SYS_ENTER, 0), "the others go on");
	for (i = 1; i < 8; i++)
		close(fds[i]);
	is(0, engines(target.pid), "all are closed");
	stop(&target);
}

static int read_in_child(void *fd)
{
	return take(*(int *)fd);
}

static int receive_in_child(void *socket)
{
	int fd = receive_fd(*(int *)socket);
	char byte;

	if (fd < 0 || read(*(int *)socket, &byte, 1) != 1)
		return 200;
	return take(fd);
}

TEST_F(dev, handed_on)
{
	struct target target;
	int fd, pair[2], status;
	pid_t pid;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 3);
	is(6, in_child(read_in_child, &fd), "a child reads");
	is(0, take(fd), "what is read is gone");
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(fd);
		close(pair[0]);
		_exit(receive_in_child(&pair[1]));
	}
	need(send_fd(pair[0], fd), "send");
	close(fd);
	have(&target, SELF, mark, 4);
	is(1, engines(target.pid), "sent to somebody: it goes on");
	need(write(pair[0], "", 1) == 1, "write");
	waitpid(pid, &status, 0);
	is(8, WEXITSTATUS(status), "he reads");
	is(0, engines(target.pid), "he has ended: so has the session");
	close(pair[0]);
	close(pair[1]);
	stop(&target);
}

/* Process 1 of a pid namespace: which tasks it can attach to. */
static int in_namespace(void *arg)
{
	int *pair = arg, fd = session(), outside;
	struct target target;
	struct utrace_rec_fork *forked;
	struct utrace_rec *rec;
	pid_t child;
	char byte;

	start(&target);
	if (target.pid == 1 || getpid() != 1)
		return 1;
	if (attach(fd, target.pid, UTRACE_SCOPE_PROCESS) < 0 ||
	    choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(FORK), 0,
		   NULL, 0))
		return 2;
	child = have(&target, SELF, fork_and_mark, 1);
	take(fd);
	rec = find(UTRACE_REC_SYS_ENTER, target.pid);
	forked = (void *)find(UTRACE_REC_FORK, target.pid);
	if (!rec || rec->pid != target.pid)
		return 3;
	if (!forked || forked->child_pid != child || forked->child_tid != child)
		return 4;
	close(fd);
	/* The process outside has attached this session to a task out there. */
	outside = session();
	if (!send_fd(pair[1], outside) || read(pair[1], &byte, 1) != 1)
		return 5;
	take(outside);
	rec = find(UTRACE_REC_SYS_ENTER, 0);
	if (marks(UTRACE_REC_SYS_ENTER, 0) != 3)
		return 6;
	if (rec->pid || rec->tid)
		return 7;
	stop(&target);
	return 0;
}

static int to_namespace(void *pair)
{
	if (unshare(CLONE_NEWPID))
		return 100;
	return in_child(in_namespace, pair);
}

TEST_F(dev, namespace)
{
	struct target target;
	int pair[2], fd, status;
	pid_t pid;

	start(&target);
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		_exit(to_namespace(pair));
	}
	close(pair[1]);
	fd = receive_fd(pair[0]);
	if (fd >= 0) {
		need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0,
		     "attach");
		need(!choose_marks(fd), "choose");
		have(&target, SELF, mark, 3);
		need(write(pair[0], "", 1) == 1, "write");
	}
	waitpid(pid, &status, 0);
	is(0, WEXITSTATUS(status),
	   "ids are those of the opener's namespace, 0 if it has none");
	if (fd >= 0)
		close(fd);
	close(pair[0]);
	stop(&target);
}

/* The number of records of task @tid that were made for target @id. */
static int made_for(int id, pid_t tid)
{
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec)
		n += rec->tid == tid && (int)rec->target == id;
	return n;
}

/* Number of all records of task @tid. */
static int records_of(pid_t tid)
{
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec)
		n += rec->tid == tid;
	return n;
}

/* Memory that the test shares with a target that runs user code without calls. */
struct busy {
	int there;
	int go;
};

static struct busy *busy;

/* Run user code until the test says go, then make marker calls. */
static long run_user_code(long n)
{
	__atomic_store_n(&busy->there, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&busy->go, __ATOMIC_ACQUIRE))
		;
	return mark(n);
}

/*
 * Detach target @old, if there is one, and attach the system, while a task runs
 * user code: so the task's next event is an entry, not the exit of a call that
 * it has entered before.  All its records have the id of the new target.
 * Returns the id.
 */
static int attach_to_busy(int fd, int old, struct target *target,
			  const char *what)
{
	int i, id, n;

	*busy = (struct busy){};
	tell(target, SELF, run_user_code, 10);
	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (__atomic_load_n(&busy->there, __ATOMIC_ACQUIRE))
			break;
		usleep(2000);
	}
	take(fd);
	need(!old || !detach(fd, old), "detach");
	id = attach_system(fd);
	need(id > 0, "attach");
	__atomic_store_n(&busy->go, 1, __ATOMIC_RELEASE);
	hear(target, SELF);
	settle(target, SELF);
	take(fd);
	n = records_of(target->pid);
	holds(n >= 10 && n == made_for(id, target->pid),
	      "%s: target %d, %d of %d records are made for it", what, id,
	      made_for(id, target->pid), n);
	return id;
}

/*
 * The whole system is attached, detached, and attached anew: a task that the
 * session knows gets records of the new target.
 */
static void attach_anew(__u64 events, __u32 count, const char *what)
{
	struct utrace_ioc_events choice = { .events = events, .count = count };
	struct target target;
	int fd, id;

	start(&target);
	fd = session();
	need(!setup(fd, 16 << 20), "setup");
	need(!command(fd, UTRACE_IOC_EVENTS, &choice), "UTRACE_IOC_EVENTS");
	id = attach_to_busy(fd, 0, &target, what);
	attach_to_busy(fd, id, &target, what);
	is(0, info(fd).lost, "nothing is lost");
	close(fd);
	stop(&target);
}

TEST_F(dev, target_of_record)
{
	const __u64 apart = UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT);
	const __u64 whole = UTRACE_REC_BIT(SYS_CALL);

	busy = mmap(NULL, sizeof(*busy), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(busy != MAP_FAILED, "shared memory");
	attach_anew(apart, 0, "entries and exits");
	attach_anew(whole, 0, "whole calls");
	attach_anew(apart, UTRACE_COUNT_CALLS, "counts, entries and exits");
	attach_anew(whole, UTRACE_COUNT_CALLS, "counts and whole calls");
}

static void choose_for(int fd, int id, __u64 events, __u32 count)
{
	static const __u32 mark[] = { MARK_NR };
	struct utrace_ioc_events arg = {
		.target = id,
		.events = events,
		.count = count,
		.calls = (uintptr_t)mark,
		.ncalls = 1,
	};

	need(!command(fd, UTRACE_IOC_EVENTS, &arg), "EVENTS of a target");
}

/* Two targets have different settings: each records only its own events. */
TEST_F(dev, left_to_the_other)
{
	struct target target;
	int fd, first, second, status;

	start(&target);
	fd = session();
	need(!setup(fd, 0), "setup");
	first = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	second = attach(fd, target.pid, UTRACE_SCOPE_THREAD);
	need(first > 0 && second > 0, "attach");
	choose_for(fd, first, 0, UTRACE_COUNT_CALLS);
	choose_for(fd, second, UTRACE_REC_BIT(SYS_CALL), 0);
	have(&target, SELF, mark, 5);
	settle(&target, SELF);
	take(fd);
	is(5, marks(UTRACE_REC_SYS_CALL, 0), "one counts, the other records");
	choose_for(fd, first, UTRACE_REC_BIT(SIGNAL), 0);
	choose_for(fd, second, UTRACE_REC_BIT(JOBCTL), 0);
	kill(target.pid, SIGSTOP);
	waitpid(target.pid, &status, WUNTRACED);
	kill(target.pid, SIGCONT);
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	take(fd);
	is(2, count(UTRACE_REC_JOBCTL, 0), "one has signals, the other stops");
	close(fd);
	stop(&target);
}

static struct { int fd; pid_t pid; } of_nobody;

static int attach_as_nobody(void *arg)
{
	become_nobody();
	return attach(of_nobody.fd, of_nobody.pid, UTRACE_SCOPE_TREE) < 0;
}

/* The process that has attached one target may no longer see the task. */
TEST_F(dev, hidden_from_one)
{
	struct target target;
	int fd;

	set_unprivileged("1");
	start(&target);
	have(&target, SELF, be_nobody, 0);
	fd = session();
	need(!setup(fd, 0), "setup");
	of_nobody.fd = fd;
	of_nobody.pid = target.pid;
	need(!in_child(attach_as_nobody, NULL), "a target of nobody");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 2);
	have(&target, SELF, set_dumpable, 0);
	have(&target, SELF, mark, 3);
	settle(&target, SELF);
	take(fd);
	is(5, marks(UTRACE_REC_SYS_ENTER, 0), "root sees all calls");
	is(5, marks(UTRACE_REC_SYS_EXIT, 0), "and their exits");
	is(1, count(UTRACE_REC_HIDDEN, 0), "one HIDDEN, for nobody's target");
	close(fd);
	stop(&target);
}

/* Check that times never decrease and the last record is a TARGET_END. */
static bool ends_well(void)
{
	struct utrace_rec *rec, *last = NULL;

	for_each_record(rec) {
		if (last && rec->time < last->time)
			return false;
		last = rec;
	}
	return last && last->type == UTRACE_REC_TARGET_END;
}

/* Also where the clock does not advance, and records have later times. */
TEST_F(dev, end_is_last)
{
	struct pollfd pfd = {};
	struct target target;
	int i, well = 0;

	for (i = 0; i < 20; i++) {
		start(&target);
		pfd.fd = session();
		need(attach(pfd.fd, target.pid, UTRACE_SCOPE_PROCESS) > 0,
		     "attach");
		need(!choose(pfd.fd, ALL_EVENTS, 0, NULL, 0), "choose");
		have(&target, SELF, mark, 50);
		tell(&target, SELF, exit_with, 0);
		poll(&pfd, 1, DEADLINE_MS);
		take(pfd.fd);
		well += ends_well();
		close(pfd.fd);
		stop(&target);
	}
	is(20, well, "no record comes behind the end of its target");
}

/* Marker calls that fill the smallest rings by far, and a few more. */
#define MANY	3000
#define FEW	10

static struct utrace_rec_target_end *end_of(int id)
{
	struct utrace_rec *rec;

	for_each_record(rec)
		if (rec->type == UTRACE_REC_TARGET_END && (int)rec->target == id)
			return (void *)rec;
	return NULL;
}

static bool is_of_no_task(const struct utrace_rec *rec)
{
	return !rec->task && !rec->pid && !rec->tid && !rec->number &&
	       !rec->settings && !rec->cpu && !rec->flags && !rec->items;
}

/*
 * Two targets share a ring.  The first one fills it, so no record of the second one finds
 * room.
 */
TEST_F(dev, end_tells_losses)
{
	struct utrace_rec_target_end *end;
	struct target first, second;
	int fd, ids[2];
	__u64 lost;

	start(&first);
	start(&second);
	pin_to_cpu(first.pid, 0);
	pin_to_cpu(second.pid, 0);
	fd = session();
	need(!setup_full(fd, small_rings(), UTRACE_FULL_DROP), "setup");
	ids[0] = attach(fd, first.pid, UTRACE_SCOPE_PROCESS);
	ids[1] = attach(fd, second.pid, UTRACE_SCOPE_PROCESS);
	need(ids[0] > 0 && ids[1] > 0 && !choose_marks(fd), "attach");
	have(&first, SELF, mark, MANY);
	have(&second, SELF, mark, FEW);
	is(0, detach(fd, ids[0]), "DETACH of the first target");
	take(fd);
	end = end_of(ids[0]);
	need(end, "the end of a target");
	lost = end->lost;
	is(UTRACE_END_DETACHED, end->why, "detached: why");
	is(2 * MANY - marks(UTRACE_REC_SYS_ENTER, first.pid) -
	   marks(UTRACE_REC_SYS_EXIT, first.pid), lost,
	   "detached: each record that was not read is lost");
	holds(lost > 0, "detached: some are");
	holds(is_of_no_task(&end->head) && !end->reserved,
	      "detached: the record is of no task");
	holds(!end_of(ids[1]), "the other target goes on");
	stop(&second);
	take(fd);
	end = end_of(ids[1]);
	need(end, "the end of a target");
	is(UTRACE_END_EXITED, end->why, "exited: why");
	is(2 * FEW, end->lost, "exited: all its records are lost");
	is(lost + end->lost, info(fd).lost, "INFO has the sum");
	close(fd);
	stop(&first);
}

TEST_HARNESS_MAIN
