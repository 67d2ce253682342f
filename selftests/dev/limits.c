// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the limits of a user of /dev/utrace
 *
 * The limits are for engines (user.max_utrace_engines) and for the memory of
 * rings (RLIMIT_MEMLOCK).  Each charge is taken back once, however the session
 * ends.
 */
#include <sched.h>
#include <sys/resource.h>

#include "dev.h"

#define ENGINES		"user/max_utrace_engines"
#define RING		small_rings()
/* What counts for it: two more pages, see uapi/linux/utrace.h. */
#define CHARGED		(RING + 2 * 4096)

/* The limits that the tests set. */
#define MAX_ENGINES	3
#define MAX_RINGS	4

/* The number of pauses of 20 ms until a charge must be taken back. */
#define TRIES		(200 * ut_patience())

/* The scopes of one process, each of which makes a target of its own. */
static const __u32 scopes[] = {
	UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
};

static int small_session(void)
{
	int fd = session();

	need(!setup(fd, RING), "setup");
	return fd;
}

/*
 * The number of engines that can be had in the end: an engine counts until it
 * is released, which may be some time after its detach.
 */
static int most_engines(struct target *target, struct target *other)
{
	int fd = small_session(), more = small_session(), n, tries, ret = 0;

	for (tries = 0; tries < TRIES; tries++) {
		for (n = 0; n < MAX_ENGINES; n++) {
			ret = attach(fd, target->pid, scopes[n]);
			if (ret < 0)
				break;
		}
		if (n == MAX_ENGINES)
			break;
		close(fd);
		fd = small_session();
		usleep(20000);
	}
	/* One more engine is refused. */
	ret = attach(more, other->pid, UTRACE_SCOPE_PROCESS);
	close(fd);
	close(more);
	return tries == TRIES ? -1 : ret == -EUSERS ? MAX_ENGINES : ret;
}

/* Attach with all scopes to a target, as soon as the limit allows that. */
static void attach_three(int fd, struct target *target, int *ids)
{
	int i, id, tries;

	for (i = 0; i < MAX_ENGINES; i++) {
		for (tries = 0; tries < TRIES; tries++) {
			id = attach(fd, target->pid, scopes[i]);
			if (id != -EUSERS)
				break;
			usleep(20000);
		}
		need(id > 0, "attach");
		if (ids)
			ids[i] = id;
	}
}

static int killed_opener(void *arg)
{
	struct target *target = arg;

	attach_three(small_session(), target, NULL);
	kill(getpid(), SIGKILL);
	return 1;
}

static void test_engine_count(struct target *target, struct target *other)
{
	int fd = small_session(), more = small_session();
	int ids[MAX_ENGINES], dead, i, id, tries;
	struct target gone;
	pid_t later;

	attach_three(fd, target, NULL);
	is(-EUSERS, attach(fd, other->pid, UTRACE_SCOPE_PROCESS),
	   "the fourth engine is EUSERS");
	is(-EUSERS, attach(more, other->pid, UTRACE_SCOPE_PROCESS),
	   "of another session too");
	is(0, engines(other->pid), "what is refused leaves no engine");
	need(!choose_marks(fd), "choose");
	later = have(target, SELF, fork_and_mark, 2);
	holds(later > 0, "a fork of who is traced does not fail for it");
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, later), "the child is traced");
	close(fd);
	is(MAX_ENGINES, most_engines(target, other),
	   "closed: none is counted");

	fd = small_session();
	for (i = 0; i < 20; i++) {
		for (tries = 0; tries < TRIES; tries++) {
			id = attach(fd, target->pid, UTRACE_SCOPE_PROCESS);
			if (id != -EUSERS)
				break;
			usleep(20000);
		}
		if (id < 0 || detach(fd, id))
			break;
	}
	is(20, i, "attached and detached 20 times");
	is(MAX_ENGINES, most_engines(target, other),
	   "detached: none is counted");

	start(&gone);
	dead = pidfd_of(gone.pid, 0);
	stop(&gone);
	for (i = 0;
	     i < 20 && attach_fd(fd, dead, UTRACE_SCOPE_PROCESS) == -ESRCH; i++)
		;
	is(20, i, "20 attaches fail");
	close(dead);
	is(MAX_ENGINES, most_engines(target, other), "failed: none is counted");

	is(-SIGKILL, in_child(killed_opener, target), "an opener is killed");
	is(MAX_ENGINES, most_engines(target, other),
	   "killed: none is counted");

	/* The task of the targets ends, and the session stays. */
	start(&gone);
	attach_three(more, &gone, ids);
	stop(&gone);
	for (i = 0; i < 3; i++)
		detach(more, ids[i]);
	is(MAX_ENGINES, most_engines(target, other),
	   "its task is dead: none is counted");
	close(fd);
	close(more);
}

static int engines_as_nobody(void *arg)
{
	struct target target, other;

	become_nobody();
	start(&target);
	start(&other);
	test_engine_count(&target, &other);
	stop(&target);
	stop(&other);
	return 0;
}

/*
 * The number of engines in a user namespace of the caller's own.  With pipes
 * the engines are kept until the other side says to end.
 */
static int engines_in_namespace(void *arg)
{
	struct target target;
	int *pipes = arg, fd, i, ret = 0;
	char byte;

	become_nobody();
	if (unshare(CLONE_NEWUSER) || prctl(PR_SET_DUMPABLE, 1))
		return 100;
	start(&target);
	fd = small_session();
	for (i = 0;
	     i < MAX_ENGINES && (ret = attach(fd, target.pid, scopes[i])) > 0;
	     i++)
		;
	if (ret < 0 && ret != -EUSERS)
		i = 101;
	if (pipes && (write(pipes[1], "", 1) != 1 || read(pipes[1], &byte, 1)))
		i = 102;
	stop(&target);
	return i;
}

/* One user makes two user namespaces. */
static void test_namespaces(void)
{
	int pair[2], status;
	char byte;
	pid_t pid;

	is(MAX_ENGINES, in_child(engines_in_namespace, NULL),
	   "a namespace gets three");
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	/*
	 * Engines of the namespace may be charged for a moment after its end.
	 */
	usleep(500000 * ut_patience());
	pid = fork();
	if (!pid) {
		close(pair[0]);
		_exit(engines_in_namespace(pair));
	}
	close(pair[1]);
	need(read(pair[0], &byte, 1) == 1, "a namespace with engines");
	is(0, in_child(engines_in_namespace, NULL),
	   "a second one of the same user gets none");
	close(pair[0]);
	waitpid(pid, &status, 0);
	is(MAX_ENGINES << 8, status, "the first one has three");
}

TEST_F(dev, engines)
{
	struct target target;
	char line[32] = {};
	int fd = open("/proc/sys/" ENGINES, O_RDONLY | O_CLOEXEC);

	set_unprivileged("1");
	need(fd >= 0 && read(fd, line, sizeof(line) - 1) > 0, ENGINES);
	close(fd);
	is(1024, atoi(line), "user.max_utrace_engines is 1024");
	need(!set_sysctl(ENGINES, "3"), ENGINES);
	is(0, in_child(engines_as_nobody, NULL), "engines of a user");
	test_namespaces();
	/* Engines of root are counted separately. */
	start(&target);
	fd = small_session();
	attach_three(fd, &target, NULL);
	is(-EUSERS, attach_system(fd),
	   "root has a limit, too, and the system counts");
	close(fd);
	stop(&target);
	need(!set_sysctl(ENGINES, "1024"), ENGINES);
}

/* The memory of rings. */

static void limit_memory(rlim_t bytes)
{
	struct rlimit limit = { bytes, bytes };

	need(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
}

/* The number of rings that can be had in the end; all are closed again. */
static int most_rings(void)
{
	int fds[MAX_RINGS + 2], n, i, ret = 0, tries;

	for (tries = 0; tries < TRIES; tries++) {
		for (n = 0; n < MAX_RINGS + 1; n++) {
			fds[n] = session();
			ret = setup(fds[n], RING);
			if (ret) {
				close(fds[n]);
				break;
			}
		}
		for (i = 0; i < n; i++)
			close(fds[i]);
		if (n >= MAX_RINGS)
			break;
		usleep(20000);
	}
	return n == MAX_RINGS && ret != -ENOMEM ? -1 : n;
}

static int rings_and_send(void *arg)
{
	int *pair = arg, fds[MAX_RINGS], i;

	for (i = 0; i < MAX_RINGS; i++)
		fds[i] = small_session();
	return !send_fd(pair[1], fds[0]);
}

static void test_ring_count(void)
{
	int fds[MAX_RINGS], i, fd, pair[2];
	struct target target;

	/* Start the target first, or it would inherit the sessions. */
	start(&target);
	is(MAX_RINGS, most_rings(), "as many rings as RLIMIT_MEMLOCK allows");
	for (i = 0; i < MAX_RINGS; i++)
		fds[i] = small_session();
	fd = session();
	is(-ENOMEM, setup(fd, RING),
	   "a ring too many is ENOMEM");
	is(0, info(fd).ring_size, "and is none");
	is(-ENOMEM, attach(fd, target.pid, UTRACE_SCOPE_PROCESS),
	   "ATTACH makes none either");
	close(fds[0]);
	is(0, setup(fd, RING),
	   "one is closed: there is room for one");
	close(fd);
	for (i = 1; i < MAX_RINGS; i++)
		close(fds[i]);
	is(MAX_RINGS, most_rings(), "closed: none is counted");

	for (i = 0; i < 1000; i++)
		close(small_session());
	is(MAX_RINGS, most_rings(), "1000 times made and closed");

	fd = small_session();
	for (i = 0; i < 100 && setup(fd, RING) == -EBUSY; i++)
		;
	close(fd);
	fd = session();
	for (; i < 200 && setup(fd, (64 << 10) - 1) == -EINVAL; i++)
		;
	for (; i < 300 && setup_full(fd, RING, 77) == -EINVAL; i++)
		;
	close(fd);
	is(300, i, "300 refused");
	is(MAX_RINGS, most_rings(), "refused: none is counted");

	fd = small_session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 2000);
	close(fd);
	is(MAX_RINGS, most_rings(),
	   "closed while attached and full: none is counted");

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	is(0, in_child(rings_and_send, pair), "four, one of which is sent");
	fd = session();
	for (i = 0; i < MAX_RINGS - 1; i++)
		fds[i] = small_session();
	is(-ENOMEM, setup(fd, RING),
	   "what is on its way is counted");
	close(receive_fd(pair[0]));
	is(0, setup(fd, RING),
	   "received and closed: it is not");
	close(fd);
	for (i = 0; i < MAX_RINGS - 1; i++)
		close(fds[i]);
	is(MAX_RINGS, most_rings(), "and none is");
	stop(&target);
}

static int rings_as_nobody(void *arg)
{
	limit_memory(MAX_RINGS * CHARGED);
	become_nobody();
	test_ring_count();
	return 0;
}

static int rings_in_namespace(void *arg)
{
	limit_memory(MAX_RINGS * CHARGED);
	become_nobody();
	if (unshare(CLONE_NEWUSER))
		return 100;
	return most_rings();
}

static int rings_as_root(void *arg)
{
	int i;

	limit_memory(0);
	for (i = 0; i < 16; i++)
		small_session();
	return i;
}

TEST_F(dev, rings)
{
	set_unprivileged("1");
	is(0, in_child(rings_as_nobody, NULL), "rings of a user");
	is(MAX_RINGS, in_child(rings_in_namespace, NULL),
	   "CAP_IPC_LOCK in a namespace does not count");
	is(16, in_child(rings_as_root, NULL), "CAP_IPC_LOCK: no limit");
}

/* More than 1 MiB of rings, with and without CAP_SYS_RESOURCE. */

#define LARGE		(1024 << 10)

static int setup_once(__u64 size)
{
	int fd = session(), ret = setup(fd, size);

	close(fd);
	return ret;
}

static int large_as_nobody(void *arg)
{
	limit_memory(RLIM_INFINITY);
	become_nobody();
	is(0, setup_once(LARGE), "1 MiB needs no right");
	is(-EPERM, setup_once(LARGE + 1), "a byte more is EPERM");
	is(-EPERM, setup_once(64 << 20), "so is the maximum");
	need(!unshare(CLONE_NEWUSER), "unshare");
	is(-EPERM, setup_once(LARGE + 1),
	   "CAP_SYS_RESOURCE in a namespace does not count");
	return dev_test->exit_code;
}

static int large_with_capability(void *arg)
{
	limit_memory(RLIM_INFINITY);
	keep_only(CAP_SYS_RESOURCE);
	is(0, setup_once(LARGE + 1), "a byte more than 1 MiB");
	is(0, setup_once(2 << 20), "2 MiB");
	return dev_test->exit_code;
}

TEST_F(dev, large_rings)
{
	set_unprivileged("1");
	is(0, in_child(large_as_nobody, NULL), "rings of a user");
	is(0, in_child(large_with_capability, NULL), "rings with CAP_SYS_RESOURCE");
}

TEST_HARNESS_MAIN
