// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - follow tasks until they have ended
 *
 * A session of /dev/utrace hands over records in the order in which they were
 * written; text.c and summary.c print them.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"
#include "out.h"
#include "output.h"
#include "record.h"
#include "session.h"
#include "summary.h"
#include "trace.h"

/* Bytes that one read() takes. */
#define READ_SIZE	(256 * 1024)

#define N_OF(array)	(sizeof(array) / sizeof(*(array)))

/* After this time without a record the unfinished call is shown. */
#define IDLE_MS		100

/* Seconds between two searches for tasks whose exit was not recorded. */
#define SEARCH_SECONDS	1

/*
 * Update the followed tasks: a task with a record is one, until the record is
 * its exit.
 */
static void update_tasks(struct trace *trace, const struct utrace_rec *rec)
{
	pid_t tid = record_task(rec), child = record_child(rec);

	if (record_is_end(rec))
		tasks_remove(&trace->tasks, tid);
	else if (tid)
		tasks_add(&trace->tasks, tid);
	if (!child || !trace->options.follow)
		return;
	tasks_add(&trace->tasks, child);
	if (!trace->options.quiet)
		output_note("Process %d attached", child);
}

/* Say once that requests of io_uring are not system calls, so not shown. */
static void notice_uring(struct trace *trace, const struct utrace_rec *rec)
{
	if (trace->uring || !record_succeeded(rec) ||
	    !record_is_call(rec, "io_uring_setup"))
		return;
	trace->uring = true;
	output_note("process %d uses io_uring: what it does by that is not "
		    "seen here, but by the trace events of io_uring",
		    record_process(rec));
}

/*
 * Is a record about what the child does before it is the program?  The call of
 * execve() and the exit, if that fails, are shown.
 */
static bool is_before_program(struct trace *trace, const struct utrace_rec *rec)
{
	if (!trace->starting)
		return false;
	if (record_is_lost(rec) ||
	    (record_task(rec) == trace->child && record_is_exec(rec)))
		trace->starting = false;
	return trace->starting && record_task(rec) == trace->child &&
	       !record_is_end(rec) && !record_is_call(rec, "execve");
}

static void take_record(struct trace *trace, const struct utrace_rec *rec)
{
	update_tasks(trace, rec);
	if (is_before_program(trace, rec) || trace->mute)
		return;
	notice_uring(trace, rec);
	if (trace->options.summary || trace->options.summary_too)
		summary_record(rec);
	if (!trace->options.summary)
		text_record(&trace->options.text, rec);
}

/* Nanoseconds from CLOCK_MONOTONIC to CLOCK_REALTIME. */
static long long realtime_offset(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (real.tv_sec - mono.tv_sec) * 1000000000LL + real.tv_nsec -
	       mono.tv_nsec;
}

/*
 * Read and handle some records.  Returns the bytes read, 0 if there are none.
 */
static size_t take_records(struct trace *trace)
{
	static char buffer[READ_SIZE] __attribute__((aligned(8)));
	ssize_t n = read(trace->session, buffer, sizeof(buffer));
	size_t at, left, size;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail("reading /dev/utrace", strerror(errno));
	left = n > 0 ? n : 0;
	trace->options.text.realtime = realtime_offset();
	for (at = 0; left; at += size, left -= size) {
		size = record_size(buffer + at, left);
		if (!size)
			fail("reading /dev/utrace",
			     "a record has an invalid size; this command may be too old");
		take_record(trace, (const void *)(buffer + at));
	}
	output_show();
	return at;
}

static void take_signals(struct trace *trace)
{
	bool child = false;
	int signal = signals_take(trace->signals, &child), status;

	if (signal)
		trace->interrupted = signal;
	if (child && trace->child && trace->status < 0 &&
	    waitpid(trace->child, &status, WNOHANG) == trace->child)
		trace->status = status;
}

/* Has the last followed task ended? */
static bool is_empty(struct trace *trace)
{
	if (!tasks_empty(&trace->tasks))
		return false;
	/* Tasks that exist since before the attach may have had no record. */
	if (trace->options.follow && options_attach(&trace->options))
		tasks_add_covered(&trace->tasks);
	return tasks_empty(&trace->tasks);
}

/*
 * Is the trace over, because of a signal or as no followed task is left?  The
 * program is waited for in any case, as its status is that of the command.
 */
static bool is_over(struct trace *trace)
{
	const struct options *options = &trace->options;

	if (trace->interrupted)
		return true;
	if (trace->child && trace->status < 0)
		return false;
	if (trace->mute || (trace->child && !options->follow && !options->npids))
		return true;
	if (options->all || options->exe || options->cgroup)
		return false;
	return is_empty(trace);
}

/* Stop recording if the output has failed: nobody could read the records. */
static void check_output(struct trace *trace)
{
	struct utrace_ioc_events nothing = {};

	if (trace->mute || !output_failed())
		return;
	trace->mute = true;
	/* If the output is a pipe without a reader, SIGPIPE has come as well. */
	take_signals(trace);
	session_choose(trace->session, &nothing);
}

static void search_dead(struct trace *trace)
{
	static time_t last;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - last < SEARCH_SECONDS)
		return;
	last = now.tv_sec;
	tasks_remove_dead(&trace->tasks);
}

/* Handle records until the trace is over. */
void trace_follow(struct trace *trace)
{
	struct pollfd fds[] = {
		{ .fd = trace->session, .events = POLLIN },
		{ .fd = trace->signals, .events = POLLIN },
		/*
		 * The reader of a pipe may end while nothing is printed.  A
		 * program that was launched goes on until something is.
		 */
		{ .fd = trace->child ? -1 : trace->options.text.out->fd },
	};

	while (!is_over(trace)) {
		/* Before the command sleeps, all text is written. */
		if (!poll(fds, N_OF(fds), 0))
			out_flush(trace->options.text.out);
		if (!poll(fds, N_OF(fds), IDLE_MS)) {
			search_dead(trace);
			if (!trace->options.summary)
				text_idle(&trace->options.text);
		}
		if (fds[2].revents & POLLERR)
			output_hang_up();
		take_signals(trace);
		if (!trace->interrupted)
			take_records(trace);
		check_output(trace);
	}
}

/*
 * Handle the records that are in the ring, after the recording has stopped.  A
 * further signal ends that.  If the trace was interrupted, the status of the
 * program is for a parent that gets the orphan.
 */
void trace_drain(struct trace *trace)
{
	bool child;

	while (!trace->mute && take_records(trace)) {
		if (!signals_take(trace->signals, &child))
			continue;
		output_note("interrupted again; the remaining records are not shown");
		break;
	}
}
