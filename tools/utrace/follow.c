// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - follow tasks until they have ended
 *
 * stream.c hands over records in the order of their times; text.c prints
 * them.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <asm/unistd.h>
#include <linux/array_size.h>

#include "out.h"
#include "output.h"
#include "record.h"
#include "session.h"
#include "stream.h"
#include "trace.h"

/* After this time without a record the unfinished call is shown. */
#define IDLE_MS		100

/* Say that a task is followed that its parent has created. */
static void notice_child(const struct trace *trace,
			 const struct utrace_rec *rec)
{
	pid_t child = record_child(rec);

	if (child && trace->options.follow && !trace->options.quiet)
		output_note("Process %d attached", child);
}

/* Say once that requests of io_uring are not system calls, so not shown. */
static void notice_uring(struct trace *trace, const struct utrace_rec *rec)
{
	if (trace->uring || !record_is_success(rec, __NR_io_uring_setup))
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
	    (record_task(rec) == trace->child &&
	     (record_is_exec(rec) || record_is_hidden(rec))))
		trace->starting = false;
	return trace->starting && record_task(rec) == trace->child &&
	       !record_is_end(rec) && !record_is_call(rec, "execve");
}

static void take_record(void *data, const struct utrace_rec *rec)
{
	struct trace *trace = data;

	notice_child(trace, rec);
	if (is_before_program(trace, rec) || trace->mute)
		return;
	notice_uring(trace, rec);
	record_check_number(rec);
	if (!trace->options.summary)
		text_record(&trace->options.text, rec);
}

/* Nanoseconds from the clock of records to CLOCK_REALTIME. */
static long long realtime_offset(const struct trace *trace)
{
	__u64 now = stream_now(trace->stream);
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	return real.tv_sec * 1000000000LL + real.tv_nsec - now;
}

/* Handle the records that there are.  Returns whether there were some. */
static bool take_records(struct trace *trace)
{
	size_t n;

	trace->options.text.realtime = realtime_offset(trace);
	n = stream_take(trace->stream, take_record, trace);
	output_show();
	return n;
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
	return trace->mute || trace->ended ||
	       (trace->child && !options->follow && !options->npids);
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

/* Wait for something to do; after some time show the unfinished call. */
static void wait_for_records(struct trace *trace)
{
	struct pollfd fds[] = {
		/* It is not waited for once no record can come any more. */
		{ .fd = trace->ended ? -1 : trace->session, .events = POLLIN },
		{ .fd = trace->signals, .events = POLLIN },
		/*
		 * The reader of a pipe may end while nothing is printed.  A
		 * program that was launched goes on until something is.
		 */
		{ .fd = trace->child ? -1 : trace->options.text.out->fd },
	};

	if (!poll(fds, ARRAY_SIZE(fds), IDLE_MS) && !trace->options.summary)
		text_idle(&trace->options.text);
	if ((fds[0].revents & (POLLHUP | POLLIN)) == POLLHUP)
		trace->ended = true;
	/* A pipe says POLLERR, a socket or a terminal POLLHUP. */
	if (fds[2].revents & (POLLERR | POLLHUP))
		output_hang_up();
}

/* Handle records until the trace is over. */
void trace_follow(struct trace *trace)
{
	while (!is_over(trace)) {
		if (!take_records(trace)) {
			/* Before the command sleeps, all text is written. */
			out_flush(trace->options.text.out);
			wait_for_records(trace);
		}
		take_signals(trace);
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

	for (;;) {
		bool some = take_records(trace);

		if (trace->mute || (!some && stream_is_empty(trace->stream)))
			break;
		/* A record that is there may be later than the clock. */
		if (!some)
			usleep(1000);
		if (!signals_take(trace->signals, &child))
			continue;
		output_note("interrupted again; the remaining records are not shown");
		break;
	}
}
