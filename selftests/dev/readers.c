// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: which tasks wait, for which reader
 *
 * A task whose records find no room waits for the process that reads, while
 * there is one, and only if the session may trace the task.
 */
#include <sched.h>

#include "goes.h"
#include "left.h"
#include "orphans.h"
#include "stream.h"

#define STACK	(64 << 10)

/* Make a session that a task waits for, by marker calls. */
static int start_waiting(struct target *target)
{
	int fd;

	start(target);
	fd = stopping_session(target->pid, UTRACE_SCOPE_PROCESS, CALL_BITS);
	tell(target, SELF, mark, MANY);
	need(is_held(target->pid), "a target that waits");
	return fd;
}

/* Become the reader, and exit without reading. */
static int read_and_end(void *arg)
{
	struct pollfd pfd = { .fd = *(int *)arg, .events = POLLIN };

	poll(&pfd, 1, 0);
	_exit(0);
}

/*
 * The reader dies, but a process that shares its descriptor table keeps the session
 * open.  When that process closes the session, no process is the reader.
 */
static int shared_descriptors(void *arg)
{
	static char stack[STACK] __attribute__((aligned(16)));
	struct target target;
	int fd, pidfd, i;
	rlim_t least;
	pid_t pid;

	if (arg)
		become_nobody();
	least = arg ? left_memlock() : 0;
	for (i = 0; i < 4; i++) {
		fd = start_waiting(&target);
		pidfd = pidfd_of(target.pid, 0);
		pid = clone(read_and_end, stack + STACK, CLONE_FILES | SIGCHLD,
			    &fd);
		need(pid > 0 && waitpid(pid, NULL, 0) == pid, "clone");
		close(fd);
		holds(is_answered(&target, SELF),
		      "the task goes on when the session is closed");
		holds(left_no_engine(target.pid), "no engine is left");
		close(pidfd);
		stop(&target);
	}
	if (arg)
		holds(left_no_rings(least), "and no memory of rings");
	return dev_test->exit_code;
}

TEST_F(dev, shared_descriptors)
{
	set_unprivileged("1");
	is(0, in_child(shared_descriptors, ""), "of nobody");
}

/* A reader that can no longer read holds no task. */
TEST_F(dev, reader_that_goes)
{
	struct goes_reader reader;
	struct target target;
	enum goes how;
	int fd;

	for (how = 0; how < GOES_WAYS; how++) {
		start(&target);
		fd = stopping_session(target.pid, UTRACE_SCOPE_PROCESS, CALL_BITS);
		reader = goes_begin(fd, how);
		tell(&target, SELF, mark, MANY);
		if (how == GOES_DEAD || how == GOES_CLOSED)
			need(is_held(target.pid), "a target that waits");
		goes_now(&reader, how);
		holds(is_answered(&target, SELF), "%s: the task goes on",
		      goes_text[how]);
		stop(&target);
		goes_end(&reader);
	}
}

/* The session that targets have inherited. */
static int inherited;

static long poll_session(long unused)
{
	struct pollfd pfd = { .fd = inherited, .events = POLLIN };

	return poll(&pfd, 1, 0);
}

static long fork_children(long n)
{
	while (n-- > 0) {
		pid_t pid = vfork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/**
 * struct full - a session with a full ring
 * @fd: the session
 * @filler: its first target, which waits
 * @target: its second target, on the same CPU
 * @id: the number of the second target
 */
struct full {
	int fd;
	struct target filler;
	struct target target;
	int id;
};

/* Fill the ring of a session that records some calls. */
static void fill(struct full *full, const __u32 *calls, __u32 ncalls)
{
	full->fd = session();
	inherited = full->fd;
	need(!setup_full(full->fd, SMALL, UTRACE_FULL_DEFAULT), "setup");
	start(&full->filler);
	start(&full->target);
	pin_to_cpu(full->filler.pid, 0);
	pin_to_cpu(full->target.pid, 0);
	need(attach(full->fd, full->filler.pid, UTRACE_SCOPE_PROCESS) > 0,
	     "attach");
	full->id = attach(full->fd, full->target.pid, UTRACE_SCOPE_TREE);
	need(full->id > 0, "attach");
	need(!choose(full->fd, CALL_BITS, 0, calls, ncalls), "choose");
	have(&full->target, SELF, mark, 1);
	settle(&full->target, SELF);
	tell(&full->filler, SELF, mark, MANY);
	need(is_held(full->filler.pid), "a full ring");
}

static void finish(struct full *full)
{
	close(full->fd);
	stop(&full->filler);
	stop(&full->target);
}

/* A task that would wait becomes the reader itself. */
TEST_F(dev, waits_for_itself)
{
	static const __u32 calls[] = { MARK_NR, SYS_poll };
	struct full full;

	fill(&full, calls, 2);
	tell(&full.target, SELF, poll_session, 0);
	holds(is_answered(&full.target, SELF),
	      "the reader does not wait for itself");
	holds(is_held(full.filler.pid), "the other one waits still");
	finish(&full);
}

/* The session may no longer see the task. */
static int hidden_is_not_held(void *arg)
{
	static const __u32 calls[] = { MARK_NR, SYS_prctl };
	struct full full;

	become_nobody();
	fill(&full, calls, 2);
	tell(&full.target, SELF, set_dumpable, 0);
	holds(is_answered(&full.target, SELF),
	      "a task that has become hidden in a call does not wait");
	tell(&full.target, SELF, mark, 10);
	holds(is_answered(&full.target, SELF),
	      "nor does it later");
	take(full.fd);
	is(1, count(UTRACE_REC_HIDDEN, full.target.pid), "there is one HIDDEN");
	is(1, marks(UTRACE_REC_SYS_ENTER, full.target.pid),
	   "but for its calls before");
	finish(&full);
	return dev_test->exit_code;
}

TEST_F(dev, hidden_is_not_held)
{
	set_unprivileged("1");
	is(0, in_child(hidden_is_not_held, NULL), "nobody");
}

/* The first process of the machine never waits: it has orphans to reap. */
TEST_F(dev, first_process)
{
	struct utrace_ioc_info now;
	bool reaped = true;
	int fd, i;

	if (!orphans_go_to_first())
		SKIP(return, "a subreaper gets orphans");
	fd = stopping_session(1, UTRACE_SCOPE_PROCESS, CALL_BITS);
	need(!choose(fd, CALL_BITS, 0, NULL, 0), "choose");
	for (i = 0; i < 200 && reaped && !info(fd).lost; i++)
		reaped = orphans_are_reaped(20);
	holds(reaped, "orphans are reaped");
	now = info(fd);
	holds(now.lost > 0, "records without room are lost");
	is(0, now.parked, "none waits for the reader");
	is(0, now.waits, "nor does the process");
	close(fd);
}

/* Detach one of two targets of a task that is held. */
static void detach_one(bool first, __u64 events)
{
	static const __u32 calls[] = { MARK_NR };
	const int rounds = 50;
	struct full full;
	int id;

	fill(&full, calls, 1);
	need(!choose(full.fd, events, 0, calls, 1), "choose");
	id = attach(full.fd, full.target.pid, UTRACE_SCOPE_PROCESS);
	need(id > 0, "attach");
	tell(&full.target, SELF, mark, rounds);
	need(is_held(full.target.pid), "a task that waits");
	is(0, detach(full.fd, first ? full.id : id), "its target goes");
	holds(is_held(full.target.pid), "it waits for the other one");
	/* Time for calls that do not wait. */
	usleep(100000);
	records_size = 0;
	while (marks(UTRACE_REC_SYS_EXIT, full.target.pid) < rounds + 1) {
		ssize_t n = read(full.fd, records + records_size,
				 sizeof(records) - records_size);

		if (n < 0 && info(full.fd).lost)
			break;
		if (n > 0)
			records_size += n;
		else
			usleep(1000);
	}
	is(events & UTRACE_REC_BIT(SYS_ENTER) ? rounds + 1 : 1,
	   marks(UTRACE_REC_SYS_ENTER, full.target.pid), "all entries");
	is(rounds + 1, marks(UTRACE_REC_SYS_EXIT, full.target.pid), "all exits");
	is(0, info(full.fd).lost, "nothing is lost");
	finish(&full);
}

TEST_F(dev, detached_holder)
{
	detach_one(true, CALL_BITS);
	detach_one(false, CALL_BITS);
	/* Without entries, another target has the first parked record. */
	detach_one(true, UTRACE_REC_BIT(SYS_EXIT));
	detach_one(false, UTRACE_REC_BIT(SYS_EXIT));
}

/* Exits do not wait for the reader, so the number of parked exits is limited. */
TEST_F(dev, exits_without_room)
{
	static const __u32 calls[] = { MARK_NR };
	const unsigned int most = 4096, exits = most + 100;
	struct utrace_ioc_events arg = { .events = UTRACE_REC_BIT(EXIT) };
	struct utrace_ioc_info now;
	struct full full;
	unsigned int i;

	fill(&full, calls, 1);
	arg.target = full.id;
	need(!command(full.fd, UTRACE_IOC_EVENTS, &arg), "choose");
	/* In pieces, since each answer has a deadline. */
	for (i = 0; i < exits; i += 100)
		have(&full.target, SELF, fork_children,
		     exits - i < 100 ? exits - i : 100);
	now = info(full.fd);
	is(most, now.parked, "exits that wait for the reader");
	holds(now.lost >= exits - most && now.lost < exits,
	      "the others are counted");
	take(full.fd);
	is(exits, count(UTRACE_REC_EXIT, 0) + now.lost, "each one is one of these");
	finish(&full);
}

TEST_HARNESS_MAIN
