// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the commands run and attach: follow tasks and print what they do
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

/* Bytes that are read at a time, and of the kernel's buffer. */
#define READ_SIZE	(256 * 1024)
#define RING_SIZE	(16 * 1024 * 1024)

/* How long nothing may happen before a call that is not over is shown. */
#define IDLE_MS		100

/**
 * struct trace - a trace that goes on
 * @options: what the user wants
 * @session: of /dev/utrace
 * @signals: signalfd of SIGCHLD, SIGINT and SIGTERM
 * @mask: of signals, as it was
 * @child: of run, 0 for attach
 * @status: how it ended, -1 as long as it has not
 * @skip: run: the child is not the program yet, what it does is ours
 * @alive: numbers of tasks that are followed and have not exited, for tsearch()
 * @dead: for forget_dead()
 * @over: the user has had enough
 * @uring: a program was seen to use io_uring
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

/* The end of a task may have been lost, or seen under another number. */
static struct trace *walked;

static void check_task(const void *node, VISIT visit, int depth)
{
	pid_t tid = (intptr_t)*(void *const *)node;

	if ((visit == postorder || visit == leaf) && kill(tid, 0) && errno == ESRCH)
		walked->dead = tid;
}

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

/* Whoever has an event is followed, until the event is its last. */
static void keep_alive(struct trace *trace, const struct utrace_rec *rec)
{
	const struct utrace_rec_fork *fork = (const void *)rec;

	if (rec->type == UTRACE_REC_EXIT)
		remove_task(trace, rec->tid);
	else if (rec->type != UTRACE_REC_LOST && rec->type != UTRACE_REC_DETACHED)
		add_task(trace, rec->tid);
	if (rec->type == UTRACE_REC_FORK &&
	    (trace->options.follow || fork->flags & CLONE_THREAD))
		add_task(trace, fork->child_tid);
}

/* Records */

/* What programs do by io_uring is done by no system call of theirs. */
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

/* Before the child is the program: is it about the execve() that makes it so? */
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

static void take_record(struct trace *trace, struct utrace_rec *rec)
{
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

/* Some of what there is; how much, 0 for nothing. */
static size_t take_records(struct trace *trace)
{
	static char buffer[READ_SIZE] __attribute__((aligned(8)));
	ssize_t n = read(trace->session, buffer, sizeof(buffer)), at;
	struct utrace_rec *rec;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail("reading /dev/utrace", strerror(errno));
	for (at = 0; at < n; at += rec->size) {
		rec = (void *)(buffer + at);
		if (rec->size < sizeof(*rec) || rec->size > n - at)
			fail("reading /dev/utrace", "the kernel's records are not known");
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

/* Is there nobody left who could do something? */
static bool is_over(const struct trace *trace)
{
	if (trace->over)
		return true;
	if (trace->child && trace->status >= 0 && !trace->options.follow)
		return true;
	return !trace->alive && (!trace->child || trace->status >= 0);
}

/* What happened before the end is there by now, if no more comes. */
static void drain(struct trace *trace)
{
	struct utrace_ioc_events nothing = {};

	session_choose(trace->session, &nothing);
	trace->over = false;
	while (take_records(trace)) {
		take_signals(trace);
		if (!trace->over)
			continue;
		fputs("utrace: stopped once more, what is left is not shown\n", stderr);
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
		.events = UTRACE_F_EVENTS_ALL,
		.capture = UTRACE_F_STRINGS | UTRACE_F_BUFFERS | UTRACE_F_SOCKETS,
		.calls = options->calls.n ? (uintptr_t)options->calls.nr : 0,
		.ncalls = options->calls.n,
	};

	if (options->chosen && !options->calls.n)
		events.events &= ~(UTRACE_F_EVENT(SYS_ENTER) |
				   UTRACE_F_EVENT(SYS_EXIT));
	if (options->paths)
		events.capture |= UTRACE_F_FILES;
	if (options->summary)
		events.capture = 0;
	if (!session_choose(trace->session, &events))
		return;
	/* The kernel may have no 32-bit table; its calls come last. */
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
	trace->session = session_open(RING_SIZE, options->text.time == TEXT_NO_TIME ||
				      options->text.time == TEXT_RELATIVE ?
				      UTRACE_F_MONOTONIC : UTRACE_F_REALTIME);
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

/* End as the program did. */
static int end_like(int status)
{
	sigset_t set;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return STATUS_FAILED;
	/* The program has left its core file, if it was to. */
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
			   UTRACE_F_TREE : UTRACE_F_PROCESS))
		fail("attaching to the program", session_why_not(errno));
	choose(&trace);
	if (write(go[1], "", 1) != 1)
		fail("starting the program", strerror(errno));
	close(go[1]);
	follow(&trace);
	report_lost(&trace);
	/* It goes on alone, with the signals that it would have without us. */
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
				   UTRACE_F_TREE : UTRACE_F_PROCESS))
			fail(what, session_why_not(errno));
		add_threads(&trace, pid);
	}
	follow(&trace);
	report_lost(&trace);
	return 0;
}
