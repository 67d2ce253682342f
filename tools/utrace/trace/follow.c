// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - follow tasks until they end
 *
 * dev/stream.c returns the records in the order of their times; format/text.c
 * prints them.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <asm/unistd.h>
#include <linux/array_size.h>

#include "cmd/output.h"
#include "dev/session.h"
#include "dev/stream.h"
#include "format/record.h"
#include "lib/children.h"
#include "lib/out.h"
#include "trace.h"

/* Time without a record after which the unfinished call is shown. */
#define IDLE_MS		100

/* Print that a new child of a task is followed. */
static void notice_child(const struct trace *trace,
			 const struct utrace_rec *rec)
{
	pid_t child = record_child(rec);

	if (child && trace->options.follow && !(trace->options.text.quiet & QUIET_ATTACH))
		output_note("Process %d attached", child);
}

/*
 * Print once that requests of io_uring are not system calls and are not shown.
 */
static void notice_uring(struct trace *trace, const struct utrace_rec *rec)
{
	if (trace->uring || !record_is_success(rec, __NR_io_uring_setup))
		return;
	trace->uring = true;
	output_note("process %d uses io_uring: its requests are not shown here; "
		    "the trace events of io_uring show them", rec->pid);
}

/*
 * Check whether a record is about the child before it has executed the program.
 * The call of execve() is shown, and if it fails, the exit.
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

/* Trace a task no more, after its execve(); see -b. */
static void detach_task(const struct trace *trace, const struct utrace_rec *rec)
{
	if (!trace->options.summary)
		text_detach(&trace->options.text, rec);
	if (!(trace->options.text.quiet & QUIET_ATTACH))
		output_note("Process %d detached", rec->tid);
}

static void take_record(void *data, const struct utrace_rec *rec)
{
	struct trace *trace = data;
	bool starting = trace->starting;

	notice_child(trace, rec);
	if (is_before_program(trace, rec) || trace->mute)
		return;
	if (trace->options.detach_on_execve && !starting && record_is_exec(rec))
		detach_task(trace, rec);
	notice_uring(trace, rec);
	record_check_number(rec);
	if (!trace->options.summary)
		text_record(&trace->options.text, rec);
}

/* Return the offset of CLOCK_REALTIME from the clock of records, in ns. */
static long long realtime_offset(const struct trace *trace)
{
	__u64 now = stream_now(trace->stream);
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	return real.tv_sec * 1000000000LL + real.tv_nsec - now;
}

/* Handle all available records.  Returns false if there were none. */
static bool take_records(struct trace *trace)
{
	size_t n;

	trace->options.text.realtime = realtime_offset(trace);
	n = stream_take(trace->stream, take_record, trace);
	output_show();
	return n;
}

/* With -f, the end of a child that the program has cloned is in the log. */
static void take_child(struct trace *trace, pid_t pid, int status)
{
	if (pid == trace->child && !trace->daemon)
		trace->status = status;
	else if (!trace->options.follow && !(trace->options.text.quiet & QUIET_EXIT))
		output_note("Exit of unknown pid %d ignored", pid);
}

static void take_signals(struct trace *trace)
{
	bool child = false;
	int signal = signals_take(trace->signals, &child), status;
	pid_t pid;

	if (signal)
		trace->interrupted = signal;
	while (child && (pid = child_reap(&status)))
		take_child(trace, pid, status);
}

/*
 * Check whether the trace has ended, by a signal or because no followed task is
 * left.  Always wait for the program, whose status is that of the command.
 */
static bool is_over(struct trace *trace)
{
	const struct options *options = &trace->options;

	if (trace->interrupted)
		return true;
	if (trace->child && !trace->daemon && trace->status < 0)
		return false;
	return trace->mute || trace->ended ||
	       (trace->child && !trace->daemon && !options->follow && !options->npids);
}

/* Stop recording if the output has failed: the records could not be written. */
static void check_output(struct trace *trace)
{
	struct utrace_ioc_events nothing = {};

	if (trace->mute || !output_failed())
		return;
	trace->mute = true;
	/*
	 * If the output is a pipe without a reader, SIGPIPE is pending as well.
	 */
	take_signals(trace);
	session_choose(trace->session, &nothing);
}

/* Wait for records or signals.  After IDLE_MS, show the unfinished call. */
static void wait_for_records(struct trace *trace)
{
	struct pollfd fds[] = {
		/* Do not poll the session after its last record. */
		{ .fd = trace->ended ? -1 : trace->session, .events = POLLIN },
		{ .fd = trace->signals, .events = POLLIN },
		/*
		 * The reader of a pipe may exit while nothing is printed.  A
		 * program that was launched runs on until something is printed.
		 */
		{ .fd = trace->child && !trace->daemon ? -1 : trace->options.text.out->fd },
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
			/* Write all text before the command sleeps. */
			text_flush(&trace->options.text);
			wait_for_records(trace);
		}
		take_signals(trace);
		check_output(trace);
	}
}

/*
 * After the recording has stopped, handle the records that are left in the
 * rings.  Another signal ends that.  If the trace was interrupted, do not reap
 * the program: its new parent gets the status.
 */
void trace_drain(struct trace *trace)
{
	bool child;

	for (;;) {
		bool some = take_records(trace);

		if (trace->mute || (!some && stream_is_empty(trace->stream)))
			break;
		/* An available record may have a time later than the clock. */
		if (!some)
			usleep(1000);
		if (!signals_take(trace->signals, &child))
			continue;
		output_note("interrupted again; the remaining records are not shown");
		break;
	}
}
