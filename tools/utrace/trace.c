// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the commands run and attach: follow tasks and print what they do
 *
 * A session of /dev/utrace hands over records in the order in which they were
 * written; text.c and summary.c print them.  The trace ends when the program
 * or all followed tasks have ended, or by SIGINT or SIGTERM.  The command then
 * prints the records that are in the ring.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "session.h"
#include "summary.h"
#include "trace.h"

/* Bytes that one read() takes, and bytes of the kernel's ring. */
#define READ_SIZE	(256 * 1024)
#define RING_SIZE	(16 * 1024 * 1024)

/* After this time without a record the unfinished call is shown. */
#define IDLE_MS		100

/**
 * struct trace - a trace that goes on
 * @options: options of the user
 * @session: descriptor of the session of /dev/utrace
 * @signals: signalfd of SIGCHLD, SIGINT and SIGTERM
 * @mask: blocked signals before @signals blocked these
 * @child: the child of the command run; 0 for attach
 * @status: wait status of @child, -1 as long as the child runs
 * @skip: the child has not executed the program yet, so its calls are our own
 * @alive: numbers of followed tasks that have not exited, a tree of tsearch()
 * @dead: number of a task that forget_dead() has found, 0 for none
 * @over: SIGINT or SIGTERM came
 * @uring: the message about io_uring was printed
 * @offset: realtime_offset() when records were read last
 */
struct trace {
	struct options options;
	int session;
	int signals;
	sigset_t mask;
	pid_t child;
	int status;
	bool skip;
	void *alive;
	pid_t dead;
	bool over;
	bool uring;
	__s64 offset;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "utrace: %s: %s\n", what, why);
	exit(STATUS_FAILED);
}

/* Tasks that are followed */

static int compare_tids(const void *a, const void *b)
{
	return (int)(intptr_t)a - (int)(intptr_t)b;
}

static void add_task(struct trace *trace, pid_t tid)
{
	if (!tsearch((void *)(intptr_t)tid, &trace->alive, compare_tids))
		abort();
}

static void remove_task(struct trace *trace, pid_t tid)
{
	tdelete((void *)(intptr_t)tid, &trace->alive, compare_tids);
}

/* For check_task(), since twalk() hands over no argument. */
static struct trace *walked;

static void check_task(const void *node, VISIT visit, int depth)
{
	pid_t tid = (intptr_t)*(void *const *)node;

	if ((visit == postorder || visit == leaf) && kill(tid, 0) && errno == ESRCH)
		walked->dead = tid;
}

/*
 * Remove tasks from @alive that do not exist any more: the record of an exit
 * may have been lost, or have another number.
 */
static void forget_dead(struct trace *trace)
{
	walked = trace;
	do {
		trace->dead = 0;
		twalk(trace->alive, check_task);
		if (trace->dead)
			remove_task(trace, trace->dead);
	} while (trace->dead);
}

/*
 * Update @alive: a task with a record is followed, until the record is its
 * exit.
 */
static void keep_alive(struct trace *trace, const struct utrace_rec *rec)
{
	const struct utrace_rec_fork *fork = (const void *)rec;

	if (rec->type == UTRACE_REC_EXIT)
		remove_task(trace, rec->tid);
	else if (rec->tid && rec->type != UTRACE_REC_HIDDEN)
		add_task(trace, rec->tid);
	if (rec->type == UTRACE_REC_FORK &&
	    (trace->options.follow || fork->flags & CLONE_THREAD))
		add_task(trace, fork->child_tid);
}

/* Records */

/* Say once that requests of io_uring are not system calls, so not shown. */
static void notice_uring(struct trace *trace, const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_exit *exit = (const void *)rec;
	const char *name;

	if (trace->uring || rec->type != UTRACE_REC_SYS_EXIT || exit->ret < 0)
		return;
	name = call_name(exit->nr);
	if (!name || strcmp(name, "io_uring_setup"))
		return;
	trace->uring = true;
	fprintf(stderr, "utrace: process %d uses io_uring: what it does by that is "
		"not seen here, but by the trace events of io_uring\n", rec->pid);
}

/* Is a record of the child, before it is the program, about its execve()? */
static bool is_attempt(const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *enter = (const void *)rec;
	const struct utrace_rec_sys_exit *exit = (const void *)rec;
	const char *name = NULL;

	if (rec->type == UTRACE_REC_SYS_ENTER)
		name = call_name(enter->nr);
	else if (rec->type == UTRACE_REC_SYS_EXIT)
		name = call_name(exit->nr);
	return rec->type == UTRACE_REC_EXIT || (name && !strcmp(name, "execve"));
}

/* Nanoseconds from CLOCK_MONOTONIC, which records have, to CLOCK_REALTIME. */
static __s64 realtime_offset(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (real.tv_sec - mono.tv_sec) * 1000000000LL + real.tv_nsec - mono.tv_nsec;
}

static void take_record(struct trace *trace, struct utrace_rec *rec)
{
	if (trace->options.text.time != TEXT_NO_TIME &&
	    trace->options.text.time != TEXT_RELATIVE)
		rec->time += trace->offset;
	keep_alive(trace, rec);
	if (rec->type == UTRACE_REC_EXEC)
		trace->skip = false;
	if (trace->skip && !is_attempt(rec))
		return;
	notice_uring(trace, rec);
	if (trace->options.summary || trace->options.summary_too)
		summary_record(rec);
	if (!trace->options.summary)
		text_record(&trace->options.text, rec);
}

/*
 * Read and handle some records.  Returns the bytes read, 0 if there are none.
 */
static size_t take_records(struct trace *trace)
{
	static char buffer[READ_SIZE] __attribute__((aligned(8)));
	ssize_t n = read(trace->session, buffer, sizeof(buffer)), at;
	struct utrace_rec *rec;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail("reading /dev/utrace", strerror(errno));
	trace->offset = realtime_offset();
	for (at = 0; at < n; at += rec->size) {
		rec = (void *)(buffer + at);
		if (rec->size < sizeof(*rec) || rec->size > n - at)
			fail("reading /dev/utrace",
			     "a record has an invalid size; this command may be too old");
		take_record(trace, rec);
	}
	return n > 0 ? n : 0;
}

static void take_signals(struct trace *trace)
{
	struct signalfd_siginfo info;
	int status;

	while (read(trace->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			trace->over = true;
		else if (trace->child &&
			 waitpid(trace->child, &status, WNOHANG) == trace->child)
			trace->status = status;
	}
}

/* Is the trace over, because of a signal or as no followed task is left? */
static bool is_over(const struct trace *trace)
{
	if (trace->over)
		return true;
	if (trace->child && trace->status >= 0 && !trace->options.follow)
		return true;
	return !trace->alive && (!trace->child || trace->status >= 0);
}

/* Stop the recording and handle the records that are in the ring by then. */
static void drain(struct trace *trace)
{
	struct utrace_ioc_events nothing = {};

	session_choose(trace->session, &nothing);
	trace->over = false;
	while (take_records(trace)) {
		take_signals(trace);
		if (!trace->over)
			continue;
		fputs("utrace: interrupted again; the remaining records are not shown\n", stderr);
		break;
	}
}

static void follow(struct trace *trace)
{
	struct pollfd fds[] = {
		{ .fd = trace->session, .events = POLLIN },
		{ .fd = trace->signals, .events = POLLIN },
	};

	do {
		if (!poll(fds, 2, IDLE_MS)) {
			forget_dead(trace);
			if (!trace->options.summary)
				text_idle(&trace->options.text);
		}
		take_signals(trace);
		if (!is_over(trace))
			take_records(trace);
	} while (!is_over(trace));
	drain(trace);
	if (!trace->options.summary)
		text_end(&trace->options.text);
	if (trace->options.summary || trace->options.summary_too)
		summary_print(trace->options.text.out);
	fflush(trace->options.text.out);
}

/* Setting up */

static void choose(struct trace *trace)
{
	struct options *options = &trace->options;
	struct utrace_ioc_events events = {
		.events = UTRACE_REC_ALL,
		.capture = UTRACE_CAPTURE_STRINGS | UTRACE_CAPTURE_BUFFERS | UTRACE_CAPTURE_SOCKETS,
		.calls = options->calls.n ? (uintptr_t)options->calls.nr : 0,
		.ncalls = options->calls.n,
	};

	if (options->chosen && !options->calls.n)
		events.events &= ~(UTRACE_REC_BIT(SYS_ENTER) |
				   UTRACE_REC_BIT(SYS_EXIT));
	if (options->paths)
		events.capture |= UTRACE_CAPTURE_FILES;
	if (options->summary)
		events.capture = 0;
	if (!session_choose(trace->session, &events))
		return;
	/*
	 * A kernel without a 32-bit table refuses such numbers, which come
	 * last.
	 */
	while (errno == EINVAL && events.ncalls &&
	       options->calls.nr[events.ncalls - 1] & UTRACE_REC_IA32)
		events.ncalls--;
	if (session_choose(trace->session, &events))
		fail("choosing events", session_why_not(errno));
}

static void set_up(struct trace *trace)
{
	struct options *options = &trace->options;
	sigset_t set;

	options->text.out = stderr;
	if (options->output) {
		options->text.out = fopen(options->output, "we");
		if (!options->text.out)
			fail(options->output, strerror(errno));
	}
	options->text.pids = options->follow || options->npids > 1;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &trace->mask);
	trace->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	trace->session = session_open(RING_SIZE);
	if (trace->session < 0)
		fail("/dev/utrace", session_why_not(errno));
	fcntl(trace->session, F_SETFL, O_NONBLOCK);
}

static void report_lost(const struct trace *trace)
{
	unsigned long long lost = session_lost(trace->session);

	if (lost)
		fprintf(stderr, "utrace: %llu records were lost: the buffer was full; "
			"-e trace=SET makes less of them\n", lost);
}

/* run */

/* In the child: wait until it is traced, then become the program. */
static void become(char **argv, int go, const sigset_t *mask)
{
	char byte;
	int error;

	sigprocmask(SIG_SETMASK, mask, NULL);
	if (read(go, &byte, 1) != 1)
		_exit(STATUS_FAILED);
	execvp(argv[0], argv);
	error = errno;
	dprintf(STDERR_FILENO, "utrace: %s: %s\n", argv[0], strerror(error));
	_exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/* End as the program ended: with its status, or by its signal. */
static int end_like(int status)
{
	sigset_t set;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return STATUS_FAILED;
	/*
	 * The program has written a core file if it should; write no second
	 * one.
	 */
	setrlimit(RLIMIT_CORE, &(struct rlimit){});
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int cmd_run(int argc, char **argv)
{
	struct trace trace = { .status = -1, .skip = true };
	int first = options_parse(&trace.options, argc, argv, false);
	int go[2];

	if (first >= argc)
		fail("run", "which program? 'utrace run PROGRAM'");
	set_up(&trace);
	if (pipe2(go, O_CLOEXEC))
		fail("pipe", strerror(errno));
	trace.child = fork();
	if (trace.child < 0)
		fail("fork", strerror(errno));
	if (!trace.child) {
		close(go[1]);
		become(argv + first, go[0], &trace.mask);
	}
	close(go[0]);
	add_task(&trace, trace.child);
	if (session_attach(trace.session, trace.child, trace.options.follow ?
			   UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS))
		fail("attaching to the program", session_why_not(errno));
	choose(&trace);
	if (write(go[1], "", 1) != 1)
		fail("starting the program", strerror(errno));
	close(go[1]);
	follow(&trace);
	report_lost(&trace);
	/*
	 * After SIGINT or SIGTERM the program goes on untraced; wait for its
	 * end.
	 */
	close(trace.session);
	sigprocmask(SIG_SETMASK, &trace.mask, NULL);
	if (trace.status < 0 && waitpid(trace.child, &trace.status, 0) < 0)
		return STATUS_FAILED;
	return end_like(trace.status);
}

/* attach */

static void add_threads(struct trace *trace, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (atoi(entry->d_name))
			add_task(trace, atoi(entry->d_name));
	closedir(dir);
}

int cmd_attach(int argc, char **argv)
{
	struct trace trace = { .status = -1 };
	int first = options_parse(&trace.options, argc, argv, true);
	unsigned int i;
	char what[32];

	if (first < argc || !trace.options.npids)
		fail("attach", "give the numbers of processes, each with -p");
	set_up(&trace);
	choose(&trace);
	for (i = 0; i < trace.options.npids; i++) {
		pid_t pid = trace.options.pids[i];

		snprintf(what, sizeof(what), "process %d", pid);
		if (session_attach(trace.session, pid, trace.options.follow ?
				   UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS))
			fail(what, session_why_not(errno));
		add_threads(&trace, pid);
	}
	follow(&trace);
	report_lost(&trace);
	return 0;
}
