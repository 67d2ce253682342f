// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - tasks whose records have no room in the ring
 *
 * Another target of the session has filled the ring of the CPU of the test and
 * the reader does not read, so each record of the target is parked.  While it
 * waits, the target gets signals, is stopped, traced, frozen or killed, or
 * executes another program.  The reader must then find every record, in order.
 */
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "../cgroup.h"
#include "stream.h"

/* Signals of a burst, and rounds of job control. */
#define BURST		30

/* Records that one task may have parked, but for that of its exit. */
#define MOST_PARKED	8

/* Bytes that the tasks of a cgroup may have, and those that one wants. */
#define CGROUP_BYTES	(24 << 20)
#define TOO_MANY_BYTES	(64 << 20)

#define EVENTS	(CALL_BITS | UTRACE_REC_BIT(FORK) | UTRACE_REC_BIT(EXEC) | \
		 UTRACE_REC_BIT(EXIT) | UTRACE_REC_BIT(SIGNAL) |	   \
		 UTRACE_REC_BIT(JOBCTL))

/**
 * struct full - a session with a full ring
 * @fd: the session
 * @filler: its first target, which is held
 * @target: its second target, of which no record is parked
 */
struct full {
	int fd;
	struct target filler;
	struct target target;
};

/* Signals that the target has handled, in memory that it shares. */
static int *handled;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_add_fetch(handled, 1, __ATOMIC_RELAXED);
}

/* The folder for core dumps, and how large they may be. */
static char core_folder[32];

#define CORE_SIZE	(1 << 20)

static long dump_core(long unused)
{
	struct rlimit limit = { CORE_SIZE, CORE_SIZE };

	if (chdir(core_folder) || setrlimit(RLIMIT_CORE, &limit))
		_exit(97);
	return syscall(SYS_tgkill, getpid(), gettid(), SIGQUIT);
}

/* Handle the signal of a burst, and block or unblock it. */
static long set_burst(long how)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_RESTART,
	};
	sigset_t burst;

	sigemptyset(&burst);
	sigaddset(&burst, SIGRTMIN);
	sigaction(SIGRTMIN, &action, NULL);
	return sigprocmask(how, &burst, NULL);
}

/*
 * Start the targets and fill the ring.  @more is a second task of the target.
 * Each task has made a call before.
 */
static void fill(struct full *full, enum who more)
{
	handled = mmap(NULL, sizeof(*handled), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(handled != MAP_FAILED, "mmap");
	start(&full->filler);
	pin_to_cpu(full->filler.pid, 0);
	start(&full->target);
	pin_to_cpu(full->target.pid, 0);
	if (more != SELF)
		have_more(&full->target, more);
	full->fd = stopping_session(full->filler.pid, UTRACE_SCOPE_PROCESS,
				    EVENTS);
	need(attach(full->fd, full->target.pid, UTRACE_SCOPE_TREE) > 0,
	     "attach");
	have(&full->target, SELF, mark, 1);
	if (more != SELF)
		have(&full->target, more, mark, 1);
	tell(&full->filler, SELF, mark, MANY);
	need(is_held(full->filler.pid), "a target that waits");
	records_size = 0;
}

/* Read on, and append the records to those read before. */
static void gather(struct full *full)
{
	ssize_t n;

	while ((n = read(full->fd, records + records_size,
			 sizeof(records) - records_size)) > 0)
		records_size += n;
}

/* Read until the task has answered. */
static bool gather_answer(struct full *full, struct target *target,
			  enum who who)
{
	struct pollfd pfd[] = {
		{ .fd = full->fd, .events = POLLIN },
		{ .fd = target->from[who][0], .events = POLLIN },
	};

	while (!(pfd[1].revents & POLLIN)) {
		if (poll(pfd, 2, DEADLINE_MS) <= 0)
			return false;
		gather(full);
	}
	hear(target, who);
	settle(target, who);
	return true;
}

/* Read until the child of the test is dead; returns its status, or -1. */
static int gather_death(struct full *full, pid_t pid)
{
	int status, i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		gather(full);
		if (waitpid(pid, &status, WNOHANG) == pid) {
			gather(full);
			return status;
		}
		usleep(2000);
	}
	return -1;
}

/*
 * Wait until wait(2) reports a change of the child.  If @full is not NULL, read
 * from the session during the wait.  Returns the status, or -1.
 */
static int await_change(struct full *full, pid_t pid, int options)
{
	int status, i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (waitpid(pid, &status, options | WNOHANG) == pid)
			return status;
		if (full)
			gather(full);
		usleep(2000);
	}
	return -1;
}

/* Wait until the child of the test is dead, and do not read; its status, or -1. */
static int await_death(pid_t pid)
{
	return await_change(NULL, pid, 0);
}

/* Few records are parked, and none is lost, while the reader is asleep. */
static void nothing_is_lost(struct full *full, int tasks)
{
	struct utrace_ioc_info now = info(full->fd);

	holds(now.parked > 0 && now.parked <= (__u64)MOST_PARKED * tasks,
	      "few records are parked (%llu)", now.parked);
	is(0, now.lost, "none is lost");
}

/* Read the rest, end the session, and check all records. */
static void finish(struct full *full)
{
	struct tally tally;

	holds(gather_answer(full, &full->filler, SELF),
	      "the task that has filled the ring goes on");
	gather(full);
	new_tally(&tally);
	add_up(&tally);
	is(MANY, marks(UTRACE_REC_SYS_ENTER, full->filler.pid),
	   "all its entries");
	is(0, info(full->fd).parked, "no record is left parked");
	is(0, info(full->fd).lost + tally.lost, "none was lost");
	holds(tally.good, "in order");
	close(full->fd);
	stop(&full->filler);
	stop(&full->target);
	munmap(handled, sizeof(*handled));
}

/* Signals that come at once: no user code runs between their records. */
TEST_F(dev, burst_of_signals)
{
	struct full full;
	int i;

	fill(&full, SELF);
	have(&full.target, SELF, set_burst, SIG_BLOCK);
	for (i = 0; i < BURST; i++)
		kill(full.target.pid, SIGRTMIN);
	tell(&full.target, SELF, set_burst, SIG_UNBLOCK);
	holds(is_held(full.target.pid), "a task with many signals is held");
	nothing_is_lost(&full, 2);
	is(0, *handled, "it has handled no signal");
	holds(gather_answer(&full, &full.target, SELF), "it goes on");
	is(BURST, *handled, "all signals are handled");
	is(BURST, count(UTRACE_REC_SIGNAL, full.target.pid), "and recorded");
	finish(&full);
}

/* Stopped, or held. */
static bool stands(pid_t pid)
{
	char line[512] = "";
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (of_task(pid, "stat", line, sizeof(line)) &&
		    strchr("tT", strrchr(line, ')')[2]))
			return true;
		usleep(2000);
	}
	return false;
}

/*
 * A stop that follows each SIGCONT before the task runs: it is in get_signal()
 * all the time.  The sender has the CPU of the target until it sleeps.
 */
TEST_F(dev, stop_after_stop)
{
	const struct sched_param first = { .sched_priority = 1 }, none = {};
	bool stood = true;
	struct full full;
	int i;

	fill(&full, SELF);
	pin_to_cpu(0, 0);
	need(!sched_setscheduler(0, SCHED_FIFO, &first), "SCHED_FIFO");
	kill(full.target.pid, SIGSTOP);
	for (i = 0; i < BURST && stood; i++) {
		stood = stands(full.target.pid);
		kill(full.target.pid, SIGCONT);
		kill(full.target.pid, SIGSTOP);
	}
	need(!sched_setscheduler(0, SCHED_OTHER, &none), "SCHED_OTHER");
	holds(stood, "the target stops or is held each time");
	holds(is_held(full.target.pid), "a task in stops is held");
	nothing_is_lost(&full, 2);
	kill(full.target.pid, SIGCONT);
	tell(&full.target, SELF, mark, 1);
	holds(gather_answer(&full, &full.target, SELF), "it goes on");
	is(2, marks(UTRACE_REC_SYS_ENTER, full.target.pid), "its call is there");
	finish(&full);
}

/* Wait until the process executes /bin/true. */
static bool is_true(pid_t pid)
{
	char line[64];
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (of_task(pid, "comm", line, sizeof(line)) &&
		    !strcmp(line, "true\n"))
			return true;
		usleep(2000);
	}
	return false;
}

static struct utrace_rec *find_last(int type, pid_t tid)
{
	struct utrace_rec *rec, *last = NULL;

	for_each_record(rec)
		if (rec->type == type && rec->tid == tid)
			last = rec;
	return last;
}

/* @who executes a program while the other one of two threads is held. */
static void test_exec(enum who who)
{
	enum who other = who == SELF ? THREAD : SELF;
	struct utrace_rec_exec *exec;
	struct utrace_rec_exit *exit;
	struct utrace_rec *call;
	struct full full;
	pid_t pid, gone;

	fill(&full, THREAD);
	pid = full.target.pid;
	gone = full.target.tid[other];
	tell(&full.target, other, mark, 3);
	need(is_held(gone), "a thread that waits");
	tell(&full.target, who, execute_true, 0);
	holds(is_true(pid), "a held thread does not delay an execve()");
	holds(is_held(pid), "the new program is held");
	nothing_is_lost(&full, 3);
	is(0, gather_death(&full, pid), "it ends");
	exec = (void *)find(UTRACE_REC_EXEC, pid);
	call = find_last(UTRACE_REC_SYS_ENTER, gone);
	holds(exec && exec->old_tid == full.target.tid[who],
	      "the execve() is recorded");
	holds(call && (void *)call < (void *)exec,
	      "and before it the call of the other thread");
	exit = (void *)find(UTRACE_REC_EXIT, gone);
	is(who == THREAD ? full.target.tid[who] : 0, exit ? exit->exec_tid : -1,
	   "the end of a leader names the thread that takes its place");
	is(2, marks(UTRACE_REC_SYS_ENTER, gone), "which made no further one");
	is(2, count(UTRACE_REC_EXIT, pid) +
	      (gone != pid ? count(UTRACE_REC_EXIT, gone) : 0),
	   "the ends of both tasks are recorded");
	finish(&full);
}

TEST_F(dev, leader_executes)
{
	test_exec(SELF);
}

TEST_F(dev, thread_executes)
{
	test_exec(THREAD);
}

static pid_t child_of(pid_t pid)
{
	char name[64], line[64] = "";

	snprintf(name, sizeof(name), "task/%d/children", pid);
	of_task(pid, name, line, sizeof(line));
	return atoi(line);
}

/* A fork without room: the parent is held, and so is the child. */
TEST_F(dev, fork_without_room)
{
	struct utrace_rec *rec, *first = NULL;
	struct utrace_rec_fork *fork;
	struct full full;
	pid_t child;

	fill(&full, SELF);
	tell(&full.target, SELF, fork_and_mark, 20);
	holds(is_held(full.target.pid), "a task that has forked is held");
	child = child_of(full.target.pid);
	holds(is_held(child), "and so is the child");
	nothing_is_lost(&full, 3);
	holds(gather_answer(&full, &full.target, SELF), "both go on");
	for_each_record(rec)
		if (!first && rec->pid == child)
			first = rec;
	fork = (void *)find(UTRACE_REC_FORK, full.target.pid);
	holds(fork && fork->child_pid == child && &fork->head < first,
	      "the fork comes before the child's calls");
	is(20, marks(UTRACE_REC_SYS_ENTER, child), "all calls of the child");
	is(1, count(UTRACE_REC_EXIT, child), "and its end");
	finish(&full);
}

/* Wait for a stop of the tracee. */
static bool stops_traced(pid_t pid)
{
	int status;

	return waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);
}

/* A debugger can attach to a held task and detach from it. */
TEST_F(dev, seized)
{
	struct full full;
	pid_t pid;

	fill(&full, SELF);
	pid = full.target.pid;
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	is(0, ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD),
	   "PTRACE_SEIZE of a held task");
	is(0, ptrace(PTRACE_INTERRUPT, pid, 0, 0), "PTRACE_INTERRUPT");
	holds(stops_traced(pid), "stops it");
	nothing_is_lost(&full, 2);
	gather(&full);
	is(0, ptrace(PTRACE_SYSCALL, pid, 0, 0), "read, and to the next call");
	holds(stops_traced(pid), "which it comes to");
	is(0, ptrace(PTRACE_DETACH, pid, 0, 0), "PTRACE_DETACH");
	holds(gather_answer(&full, &full.target, SELF), "it goes on");
	is(4, marks(UTRACE_REC_SYS_ENTER, pid), "all its calls are recorded");
	finish(&full);
}

static bool until_frozen(bool frozen)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (ut_cg_is("cgroup.events", "frozen", frozen))
			return true;
		usleep(2000);
	}
	return false;
}

/* A frozen task that is let go stays frozen. */
TEST_F(dev, frozen)
{
	const char *why = ut_cg_make(NULL);
	struct full full;

	if (why)
		SKIP(return, "%s", why);
	fill(&full, SELF);
	need(!ut_cg_add(full.target.pid), "the cgroup");
	tell(&full.target, SELF, mark, 3);
	need(is_held(full.target.pid), "a target that waits");
	need(!ut_cg_write("cgroup.freeze", "1"), "cgroup.freeze");
	holds(until_frozen(true), "a held task counts as frozen");
	nothing_is_lost(&full, 2);
	holds(gather_answer(&full, &full.filler, SELF), "the reader reads");
	is(2, marks(UTRACE_REC_SYS_ENTER, full.target.pid),
	   "the task is let go, and frozen");
	need(!ut_cg_write("cgroup.freeze", "0"), "cgroup.freeze");
	holds(gather_answer(&full, &full.target, SELF), "thawed it goes on");
	is(4, marks(UTRACE_REC_SYS_ENTER, full.target.pid),
	   "all its calls are recorded");
	tell(&full.filler, SELF, mark, 0);
	finish(&full);
	ut_cg_remove();
}

TEST_F(dev, killed_by_its_cgroup)
{
	const char *why = ut_cg_make(NULL);
	struct full full;
	pid_t pid;

	if (why)
		SKIP(return, "%s", why);
	fill(&full, SELF);
	pid = full.target.pid;
	need(!ut_cg_add(pid), "the cgroup");
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	need(!ut_cg_write("cgroup.kill", "1"), "cgroup.kill");
	is(SIGKILL, await_death(pid), "cgroup.kill ends a held task");
	nothing_is_lost(&full, 2);
	gather(&full);
	is(1, count(UTRACE_REC_EXIT, pid), "its end is recorded");
	is(2, marks(UTRACE_REC_SYS_ENTER, pid), "and its calls before");
	finish(&full);
	ut_cg_remove();
}

/* The freezer of system sleep, in the test mode of /sys/power. */
TEST_F(dev, system_sleep)
{
	struct full full;
	pid_t pid;

	if (access("/sys/power/pm_test", W_OK))
		SKIP(return, "no /sys/power/pm_test (PM_DEBUG)");
	fill(&full, SELF);
	pid = full.target.pid;
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	need(!ut_write_file("/sys/power/pm_test", "freezer"), "pm_test");
	/* The write fails if some task cannot be frozen. */
	is(0, ut_write_file("/sys/power/state", "freeze"),
	   "all tasks can be frozen while one is held");
	ut_write_file("/sys/power/pm_test", "none");
	holds(is_held(pid), "the task is held afterwards");
	nothing_is_lost(&full, 2);
	holds(gather_answer(&full, &full.target, SELF), "it goes on");
	is(4, marks(UTRACE_REC_SYS_ENTER, pid), "all its calls are recorded");
	finish(&full);
}

/* Make a folder for core dumps; false if the kernel writes them elsewhere. */
static bool make_core_folder(void)
{
	char pattern[256];

	if (ut_read_file(pattern, sizeof(pattern),
			 "/proc/sys/kernel/core_pattern") <= 0 ||
	    strcmp(pattern, "core\n"))
		return false;
	snprintf(core_folder, sizeof(core_folder), "/tmp/utrace-core.XXXXXX");
	need(mkdtemp(core_folder), core_folder);
	return true;
}

/* The core is called core, or core.PID (kernel.core_uses_pid). */
static void remove_core_folder(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/core", core_folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/core.%d", core_folder, pid);
	unlink(path);
	rmdir(core_folder);
}

/* A thread dumps core while the first one is held; neither waits for the reader. */
TEST_F(dev, core_dump_by_another_thread)
{
	struct full full;
	int status;
	pid_t pid;

	if (!make_core_folder())
		SKIP(return, "kernel.core_pattern is not a plain \"core\"");
	fill(&full, THREAD);
	pid = full.target.pid;
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	tell(&full.target, THREAD, dump_core, 0);
	status = await_death(pid);
	holds(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT,
	      "a held thread does not delay a fatal signal (%#x)", status);
	holds(status != -1 && WCOREDUMP(status), "with its core dump");
	nothing_is_lost(&full, 3);
	gather(&full);
	is(1, count(UTRACE_REC_SIGNAL, full.target.tid[THREAD]),
	   "the signal is recorded");
	is(1, count(UTRACE_REC_EXIT, full.target.tid[THREAD]),
	   "and the end of the thread");
	is(1, count(UTRACE_REC_EXIT, pid), "and that of the held one");
	is(2, marks(UTRACE_REC_SYS_ENTER, pid), "and its calls before");
	finish(&full);
	remove_core_folder(pid);
}

static bool is_stop(int status)
{
	return status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
}

static bool is_continued(int status)
{
	return status != -1 && WIFCONTINUED(status);
}

/*
 * The only thread is held, so SIGSTOP stays pending.  The parent gets the stop
 * when the task is let go.
 */
TEST_F(dev, stopped_by_job_control)
{
	struct full full;
	int status;
	pid_t pid;

	fill(&full, SELF);
	pid = full.target.pid;
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	kill(pid, SIGSTOP);
	usleep(1000 * UT_QUIET_MS);
	is(0, waitpid(pid, &status, WUNTRACED | WNOHANG),
	   "SIGSTOP to a held task is not reported to the parent");
	holds(is_held(pid), "the task is held still");
	nothing_is_lost(&full, 2);
	holds(is_stop(await_change(&full, pid, WUNTRACED)),
	      "the parent gets the stop when the reader reads");
	is(2, marks(UTRACE_REC_SYS_ENTER, pid), "the task stops at once");
	kill(pid, SIGCONT);
	holds(is_continued(await_change(&full, pid, WCONTINUED)),
	      "the parent gets SIGCONT");
	holds(gather_answer(&full, &full.target, SELF), "the task goes on");
	is(4, marks(UTRACE_REC_SYS_ENTER, pid), "all its calls are recorded");
	finish(&full);
}

/* One of two threads is held: the process stops and goes on without the reader. */
TEST_F(dev, stopped_while_a_thread_is_held)
{
	struct full full;
	pid_t pid;

	fill(&full, THREAD);
	pid = full.target.pid;
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	kill(pid, SIGSTOP);
	holds(is_stop(await_change(NULL, pid, WUNTRACED)),
	      "the parent gets the stop");
	kill(pid, SIGCONT);
	holds(is_continued(await_change(NULL, pid, WCONTINUED)),
	      "and of SIGCONT");
	holds(is_held(pid), "the thread is held still");
	nothing_is_lost(&full, 3);
	holds(gather_answer(&full, &full.target, SELF), "it goes on");
	is(4, marks(UTRACE_REC_SYS_ENTER, pid), "all its calls are recorded");
	tell(&full.target, THREAD, mark, 1);
	holds(gather_answer(&full, &full.target, THREAD), "so does the other one");
	is(2, marks(UTRACE_REC_SYS_ENTER, full.target.tid[THREAD]),
	   "all its calls are recorded");
	finish(&full);
}

/*
 * SIGKILL of the init of a pid namespace kills all its tasks.  The init has filled the
 * ring, and both tasks are held.
 */
TEST_F(dev, killed_with_its_namespace)
{
	struct tally tally;
	struct full full;
	pid_t pid, init;

	if (unshare(CLONE_NEWPID))
		SKIP(return, "no pid namespaces (PID_NS): %s", strerror(errno));
	fill(&full, SELF);
	init = full.filler.pid;
	pid = full.target.pid;
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	kill(init, SIGKILL);
	is(SIGKILL, await_death(pid), "a held task dies with the namespace");
	is(SIGKILL, await_death(init), "and the init that is held itself");
	nothing_is_lost(&full, 2);
	gather(&full);
	new_tally(&tally);
	add_up(&tally);
	is(1, count(UTRACE_REC_EXIT, pid), "the end of the task is recorded");
	is(1, count(UTRACE_REC_EXIT, init), "and that of init");
	is(2, marks(UTRACE_REC_SYS_ENTER, pid), "and the calls before");
	is(0, info(full.fd).lost + tally.lost, "nothing is lost");
	holds(tally.good, "in order");
	close(full.fd);
	stop(&full.filler);
	stop(&full.target);
}

/* Take more memory than the cgroup may have. */
static int take_too_much(void *arg)
{
	char *room;

	(void)arg;
	if (ut_cg_add(getpid()))
		return 1;
	room = mmap(NULL, TOO_MANY_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(room, 1, TOO_MANY_BYTES);
	return 2;
}

/* The cgroup of a held task is out of memory: the task is killed at once. */
TEST_F(dev, out_of_memory)
{
	const char *why = ut_cg_make("+memory");
	struct full full;
	char limit[32];
	pid_t pid;

	if (why)
		SKIP(return, "%s", why);
	fill(&full, SELF);
	pid = full.target.pid;
	snprintf(limit, sizeof(limit), "%d", CGROUP_BYTES);
	need(!ut_cg_write("memory.max", limit) &&
	     !ut_cg_write("memory.oom.group", "1"), "memory.max");
	need(!ut_cg_add(pid), "the cgroup");
	tell(&full.target, SELF, mark, 3);
	need(is_held(pid), "a target that waits");
	is(-SIGKILL, in_child(take_too_much, NULL),
	   "a process that takes too much memory is killed");
	is(SIGKILL, gather_death(&full, pid), "and so is a task that is held");
	is(1, count(UTRACE_REC_EXIT, pid), "its end is recorded");
	is(2, marks(UTRACE_REC_SYS_ENTER, pid), "and its calls before");
	finish(&full);
	ut_cg_remove();
}

TEST_HARNESS_MAIN
