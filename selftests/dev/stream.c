// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: a stream that loses nothing
 *
 * Tasks that wait for the reader, readers that stall, stop and go, the order of
 * the records of several CPUs, and the records of a session about its targets.
 */
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "stream.h"

TEST_F(dev, nothing_lost)
{
	struct target target;
	struct tally tally;
	int fd;

	start(&target);
	fd = stopping_session(target.pid, UTRACE_SCOPE_PROCESS, CALL_BITS);
	new_tally(&tally);
	tell(&target, SELF, mark, MANY);
	holds(is_held(target.pid), "the target waits for the reader");
	holds(info(fd).parked > 0 && info(fd).parked <= 8,
	      "few records are parked");
	is(0, info(fd).lost, "none is lost");
	holds(read_until_answer(fd, &target, SELF, &tally),
	      "it goes on when the reader reads");
	is(MANY, tally.enter, "all entries");
	is(MANY, tally.exit, "all exits");
	is(0, info(fd).lost + tally.lost, "and none is lost");
	is(0, info(fd).parked, "no record is left parked");
	holds(info(fd).waits > 0, "the target had to wait (%llu times)",
	      info(fd).waits);
	holds(tally.good, "in order");
	close(fd);
	stop(&target);
}

static void on_alarm(int sig)
{
}

/* Have a timer send signals, or none if @usec is 0. */
static long set_timer(long usec)
{
	struct itimerval often = {
		.it_interval.tv_usec = usec, .it_value.tv_usec = usec,
	};
	struct sigaction action = {
		.sa_handler = on_alarm, .sa_flags = SA_RESTART,
	};

	sigaction(SIGALRM, &action, NULL);
	return setitimer(ITIMER_REAL, &often, NULL);
}

/* Signals come at every step of a target that waits again and again. */
TEST_F(dev, signals_while_waiting)
{
	struct target target;
	struct tally tally;
	int fd;

	start(&target);
	fd = session();
	need(!setup_full(fd, SMALL, UTRACE_FULL_DEFAULT), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, ALL_EVENTS, UTRACE_CAPTURE_STRINGS, NULL, 0),
	     "choose");
	new_tally(&tally);
	tell(&target, SELF, set_timer, 1000);
	holds(read_until_answer(fd, &target, SELF, &tally), "a timer");
	tell(&target, SELF, mark, 10 * MANY);
	holds(read_until_answer(fd, &target, SELF, &tally), "calls");
	tell(&target, SELF, set_timer, 0);
	holds(read_until_answer(fd, &target, SELF, &tally), "no timer");
	holds(tally.enter >= 10 * MANY, "all entries");
	holds(tally.records > tally.enter + tally.exit + 10, "and signals");
	is(0, info(fd).lost + tally.lost, "nothing is lost");
	holds(tally.good, "in order");
	close(fd);
	stop(&target);
}

/* Stops of job control follow each other while the reader stalls. */
TEST_F(dev, stops_while_waiting)
{
	struct target target;
	struct tally tally;
	int fd, i;

	start(&target);
	fd = session();
	need(!setup_full(fd, SMALL, UTRACE_FULL_DEFAULT), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	choose_mark(fd, CALL_BITS | UTRACE_REC_BIT(SIGNAL));
	new_tally(&tally);
	tell(&target, SELF, mark, MANY);
	need(is_held(target.pid), "a target that waits");
	for (i = 0; i < 50; i++) {
		kill(target.pid, SIGSTOP);
		usleep(2000);
		kill(target.pid, SIGCONT);
		usleep(2000);
	}
	holds(read_until_answer(fd, &target, SELF, &tally), "it goes on");
	is(MANY, tally.enter, "all entries");
	is(0, info(fd).lost + tally.lost, "nothing is lost");
	holds(tally.good, "in order");
	close(fd);
	stop(&target);
}

/* A task that waits is open to ptrace(2), signals and SIGKILL. */
TEST_F(dev, held_is_open)
{
	struct target target;
	struct tally tally;
	int fd, status;

	start(&target);
	fd = stopping_session(target.pid, UTRACE_SCOPE_PROCESS,
			      CALL_BITS | UTRACE_REC_BIT(EXIT));
	tell(&target, SELF, mark, MANY);
	need(is_held(target.pid), "a target that waits");
	is(0, ptrace(PTRACE_ATTACH, target.pid, 0, 0), "ptrace attaches");
	holds(waitpid(target.pid, &status, 0) == target.pid &&
	      WIFSTOPPED(status), "and stops it");
	is(0, ptrace(PTRACE_DETACH, target.pid, 0, 0), "and goes");
	holds(is_held(target.pid), "the target waits as before");
	kill(target.pid, SIGKILL);
	holds(waitpid(target.pid, &status, 0) == target.pid &&
	      WIFSIGNALED(status), "SIGKILL ends it");
	new_tally(&tally);
	take(fd);
	add_up(&tally);
	is(1, count(UTRACE_REC_EXIT, target.pid), "its end is recorded");
	is(0, info(fd).lost, "nothing is lost");
	holds(tally.good, "in order");
	close(fd);
	stop(&target);
}

static int read_once(void *arg)
{
	int fd = *(int *)arg;

	take(fd);
	return records_size ? 0 : 1;
}

/*
 * The reader exits: the target goes on.  Another process becomes the reader by
 * reading.
 */
TEST_F(dev, reader_goes)
{
	struct pollfd pfd = { .events = POLLIN };
	struct target target;
	int fd, copy;

	start(&target);
	fd = stopping_session(target.pid, UTRACE_SCOPE_PROCESS, CALL_BITS);
	/* This child has the session open, and does not read. */
	have_more(&target, CHILD);
	copy = dup(fd);
	tell(&target, SELF, mark, MANY);
	need(is_held(target.pid), "a target that waits");
	close(copy);
	usleep(20000);
	holds(is_held(target.pid), "one of two descriptors is closed: it waits");
	is(0, in_child(read_once, &fd), "another process reads, and ends");
	holds(is_answered(&target, SELF), "the target goes on then");
	holds(info(fd).lost > 0, "without a reader, records are lost");
	take(fd);
	tell(&target, SELF, mark, MANY);
	holds(is_held(target.pid), "who reads again is the reader again");
	while (info(fd).parked || !poll(&pfd, 1, 0)) {
		pfd.fd = target.from[SELF][0];
		take(fd);
	}
	holds(is_answered(&target, SELF), "and lets it go");
	close(fd);
	stop(&target);
}

/* Check that each gap in the numbers of the only task has a LOST before it. */
static bool gaps_are_told(__u32 number)
{
	struct utrace_rec *rec;
	__u64 lost = 0;

	for_each_record(rec) {
		if (rec->type == UTRACE_REC_LOST)
			lost += ((struct utrace_rec_lost *)rec)->lost;
		if (!rec->task)
			continue;
		if (rec->number != number + lost + 1)
			return false;
		number = rec->number;
		lost = 0;
	}
	return true;
}

/*
 * Records are lost while there is no reader.  A reader comes, and the next
 * record without room waits for it: the LOST comes before that record.
 */
TEST_F(dev, reader_comes_late)
{
	struct pollfd pfd = { .events = POLLIN };
	struct target target;
	int fd;

	start(&target);
	pin_to_cpu(target.pid, 0);
	fd = stopping_session(target.pid, UTRACE_SCOPE_PROCESS, CALL_BITS);
	have(&target, SELF, mark, 1);
	is(0, in_child(read_once, &fd), "a reader comes and goes");
	have(&target, SELF, mark, MANY);
	holds(info(fd).lost > 0, "then records are lost");
	pfd.fd = fd;
	is(1, poll(&pfd, 1, 0), "poll() makes this process the reader");
	tell(&target, SELF, mark, MANY);
	holds(is_held(target.pid), "the target waits for it");
	take(fd);
	holds(gaps_are_told(2), "the LOST is where the records are missing");
	close(fd);
	stop(&target);
}

/* The last descriptor is closed while the target waits. */
TEST_F(dev, session_ends)
{
	struct target target;
	int fd;

	start(&target);
	fd = stopping_session(target.pid, UTRACE_SCOPE_TREE, CALL_BITS);
	tell(&target, SELF, mark, MANY);
	need(is_held(target.pid), "a target that waits");
	close(fd);
	holds(is_answered(&target, SELF), "the target goes on");
	is(0, engines(target.pid), "no engine is left");
	stop(&target);
}

TEST_F(dev, no_deadlock)
{
	struct target target;
	int fd = session();

	need(!setup_full(fd, SMALL, UTRACE_FULL_STOP), "setup");
	is(-EDEADLK, attach(fd, getpid(), UTRACE_SCOPE_PROCESS),
	   "ATTACH: the reader itself is EDEADLK");
	is(-EDEADLK, attach(fd, getppid(), UTRACE_SCOPE_TREE),
	   "ATTACH: a tree with the reader");
	is(-EOPNOTSUPP, attach_system(fd), "ATTACH: the system cannot wait");
	start(&target);
	holds(attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0, "ATTACH: a child");
	is(1, info(fd).targets, "INFO: one target");
	close(fd);
	stop(&target);
}

/* The reader is stopped: the targets wait, and go on afterwards. */
static int stalling_reader(void *arg)
{
	struct target *target = arg;
	struct tally tally;
	int fd = stopping_session(target->pid, UTRACE_SCOPE_TREE, CALL_BITS);

	new_tally(&tally);
	tell(target, SELF, mark, MANY);
	raise(SIGSTOP);
	if (!read_until_answer(fd, target, SELF, &tally))
		return 1;
	return tally.good && tally.enter == MANY && !info(fd).lost ? 0 : 2;
}

TEST_F(dev, reader_is_stopped)
{
	struct target target;
	int status;
	pid_t pid;

	start(&target);
	pid = fork();
	if (!pid)
		_exit(stalling_reader(&target));
	need(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status),
	     "a reader that stops");
	holds(is_held(target.pid), "the target waits");
	kill(pid, SIGCONT);
	holds(waitpid(pid, &status, 0) == pid && !status,
	      "nothing is lost, and all is in order (%d)", status);
	stop(&target);
}

/* Move a task from CPU to CPU until its number becomes 0. */
static void *migrate(void *arg)
{
	pid_t *of = arg, tid;
	int i;

	for (i = 0; (tid = __atomic_load_n(of, __ATOMIC_RELAXED)); i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(i % sysconf(_SC_NPROCESSORS_ONLN), &set);
		sched_setaffinity(tid, sizeof(set), &set);
	}
	return NULL;
}

/* A task that changes its CPU all the time: its records stay in order. */
TEST_F(dev, order)
{
	struct target target;
	struct tally tally;
	pthread_t thread;
	pid_t tid;
	int fd;

	start(&target);
	fd = stopping_session(target.pid, UTRACE_SCOPE_TREE, CALL_BITS);
	tid = target.pid;
	need(!pthread_create(&thread, NULL, migrate, &tid), "thread");
	new_tally(&tally);
	tell(&target, SELF, mark, 20000);
	holds(read_until_answer(fd, &target, SELF, &tally), "read");
	__atomic_store_n(&tid, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	is(20000, tally.enter, "all entries");
	is(20000, tally.exit, "all exits");
	is(0, info(fd).lost, "nothing is lost");
	holds(tally.good, "in order");
	close(fd);
	stop(&target);
}

TEST_F(dev, whole_calls)
{
	static const __u32 calls[] = { MARK_NR, SYS_exit_group };
	struct utrace_rec_sys_call *call;
	struct utrace_rec_sys_enter *enter;
	struct target target;
	int fd, i;

	start(&target);
	fd = session();
	need(!setup(fd, 0), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	is(-EINVAL, choose(fd, UTRACE_REC_BIT(SYS_CALL) | CALL_BITS, 0, NULL, 0),
	   "EVENTS: whole calls and their entries are EINVAL");
	need(!choose(fd, UTRACE_REC_BIT(SYS_CALL) | UTRACE_REC_BIT(EXIT), 0,
		     calls, 2), "choose");
	have(&target, SELF, mark, 3);
	settle(&target, SELF);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_CALL, target.pid), "a record for each call");
	is(0, count(UTRACE_REC_SYS_ENTER, 0), "no entries");
	call = (void *)find(UTRACE_REC_SYS_CALL, target.pid);
	for (i = 0; call && i < 6 && call->args[i] == (__u64)i + 1; i++)
		;
	is(6, i, "its arguments");
	is(getpid(), call ? call->ret : -1, "its result");
	holds(call && call->began && call->began <= call->head.time,
	      "it began before its end");
	/* exit_group() does not come back. */
	tell(&target, SELF, exit_with, 3);
	waitpid(target.pid, NULL, 0);
	take(fd);
	enter = (void *)find(UTRACE_REC_SYS_ENTER, target.pid);
	holds(enter && enter->nr == SYS_exit_group &&
	      enter->head.flags & UTRACE_REC_F_IN_FLIGHT &&
	      enter->began <= enter->head.time && enter->args[0] == 3,
	      "the call in which it died is recorded");
	is(1, count(UTRACE_REC_EXIT, target.pid), "then its end");
	holds(enter && enter < (struct utrace_rec_sys_enter *)
	      find(UTRACE_REC_EXIT, 0), "in that order");
	close(fd);
}

/* Targets that overlap: each event is recorded once. */
TEST_F(dev, overlap)
{
	struct target target;
	int fd, process, thread;

	start(&target);
	fd = session();
	need(!setup(fd, 0), "setup");
	process = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	thread = attach(fd, target.pid, UTRACE_SCOPE_THREAD);
	need(process > 0 && thread > 0 &&
	     attach(fd, target.pid, UTRACE_SCOPE_TREE) > 0 &&
	     attach_system(fd) > 0, "attach");
	choose_mark(fd, CALL_BITS | UTRACE_REC_BIT(FORK));
	have(&target, SELF, mark, 5);
	settle(&target, SELF);
	take(fd);
	is(5, marks(UTRACE_REC_SYS_ENTER, target.pid), "entries, each once");
	is(5, marks(UTRACE_REC_SYS_EXIT, target.pid), "exits, each once");
	have(&target, SELF, fork_and_mark, 0);
	settle(&target, SELF);
	take(fd);
	is(1, count(UTRACE_REC_FORK, target.pid), "a fork, once");
	is(0, detach(fd, process), "one target goes");
	have(&target, SELF, mark, 5);
	settle(&target, SELF);
	take(fd);
	is(5, marks(UTRACE_REC_SYS_ENTER, target.pid), "still once");
	close(fd);
	stop(&target);
}

TEST_F(dev, settings_of_targets)
{
	static const __u32 calls[] = { MARK_NR };
	struct utrace_ioc_events arg = {
		.events = CALL_BITS, .calls = (uintptr_t)calls, .ncalls = 1,
	};
	struct target one, two;
	int fd, first, second;
	struct utrace_rec *rec;

	start(&one);
	start(&two);
	fd = session();
	first = attach(fd, one.pid, UTRACE_SCOPE_PROCESS);
	second = attach(fd, two.pid, UTRACE_SCOPE_PROCESS);
	arg.target = second;
	is(0, command(fd, UTRACE_IOC_EVENTS, &arg), "EVENTS: of one target");
	is(1, arg.settings, "the first settings");
	have(&one, SELF, mark, 2);
	have(&two, SELF, mark, 2);
	is(4, take(fd), "only that one is recorded");
	is(2, marks(UTRACE_REC_SYS_ENTER, two.pid), "by its settings");
	arg.target = first;
	arg.settings = 0;
	arg.events = UTRACE_REC_BIT(SYS_EXIT);
	need(!command(fd, UTRACE_IOC_EVENTS, &arg), "choose");
	is(2, arg.settings, "the second settings");
	have(&one, SELF, mark, 1);
	is(1, take(fd), "exits of the other one");
	rec = find(UTRACE_REC_SYS_EXIT, one.pid);
	holds(rec && rec->settings == 2 && rec->target == (__u32)first,
	      "the record says by which settings, for which target");
	arg.target = 77;
	arg.settings = 0;
	is(-ENOENT, command(fd, UTRACE_IOC_EVENTS, &arg),
	   "EVENTS: no such target");
	close(fd);
	stop(&one);
	stop(&two);
}

/* Wait for the end of the stream; read() waits for it. */
static int ends(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	ssize_t n;

	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	records_size = 0;
	while ((n = read(fd, records + records_size,
			 sizeof(records) - records_size)) > 0)
		records_size += n;
	fcntl(fd, F_SETFL, flags);
	return n;
}

static long outlive_parent(long unused)
{
	return prctl(PR_SET_PDEATHSIG, 0);
}

TEST_F(dev, end_of_stream)
{
	struct pollfd pfd = { .events = POLLIN };
	struct utrace_rec_target_end *end;
	struct target target;
	pid_t zombie;
	int fd, id;

	start(&target);
	have_more(&target, CHILD);
	have(&target, CHILD, outlive_parent, 0);
	fd = session();
	id = attach(fd, target.pid, UTRACE_SCOPE_TREE);
	need(id > 0, "attach");
	choose_mark(fd, UTRACE_REC_BIT(EXIT));
	pfd.fd = fd;
	tell(&target, SELF, exit_with, 3);
	is(1, poll(&pfd, 1, DEADLINE_MS), "poll() wakes");
	is(POLLIN, pfd.revents, "a child lives: no POLLHUP");
	take(fd);
	is(0, count(UTRACE_REC_TARGET_END, 0), "nor a TARGET_END");
	tell(&target, CHILD, exit_with, 3);
	is(0, ends(fd), "the child ends: read() returns 0");
	end = (void *)find(UTRACE_REC_TARGET_END, 0);
	holds(end && end->why == UTRACE_END_EXITED &&
	      end->head.target == (__u32)id && !end->lost,
	      "TARGET_END says why");
	poll(&pfd, 1, 0);
	is(POLLHUP, pfd.revents, "poll(): POLLHUP");
	is(0, info(fd).targets, "INFO: no target is left");
	is(0, detach(fd, id), "DETACH takes it away");
	stop(&target);

	/* A zombie is a target that has ended. */
	zombie = fork();
	if (!zombie)
		_exit(0);
	need(!waitid(P_PID, zombie, NULL, WEXITED | WNOWAIT), "a zombie");
	id = attach(fd, zombie, UTRACE_SCOPE_PROCESS);
	holds(id == -ESRCH || (id > 0 && !ends(fd)),
	      "a zombie does not hang the reader (%d)", id);
	waitpid(zombie, NULL, 0);
	close(fd);
}

TEST_HARNESS_MAIN
