// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace markers trace': the hits of markers, and user_events
 *
 * Hits are shown as lines, as counts or as histograms.  The markers of a
 * program are armed before its execve(), in the child that waits to execute it;
 * the kernel arms them wherever their files are mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/array_size.h>
#include <linux/utrace.h>

#include "arm.h"
#include "cmd/output.h"
#include "cmd/signals.h"
#include "cmd/target.h"
#include "dev/session.h"
#include "dev/stream.h"
#include "format/record.h"
#include "lib/fail.h"
#include "lib/out.h"
#include "lib/screen.h"
#include "markers.h"
#include "report.h"
#include "set.h"

/* Timeout of one wait for records. */
#define IDLE_MS		100

/**
 * struct tracing - a trace of markers
 * @options: options of the user
 * @target: the process
 * @arming: how markers are armed
 * @set: the markers
 * @stream: the records
 * @out: where hits are printed
 * @width: columns of the names of markers
 * @began: when the trace began, by the clock of records
 * @ended: all tasks have exited
 * @hidden: how often a task was hidden
 */
struct tracing {
	struct markers_options *options;
	struct target target;
	struct marker_arming arming;
	struct marker_set set;
	struct stream *stream;
	struct out *out;
	int width;
	__u64 began;
	bool ended;
	unsigned int hidden;
};

/* Records */

/*
 * Check whether a record is about the child before it has executed the program.
 * The child may use the same libraries, whose functions may be traced.
 */
static bool is_before_program(struct tracing *tracing,
			      const struct utrace_rec *rec)
{
	struct target *target = &tracing->target;

	if (!target->starting)
		return false;
	if (record_is_lost(rec) ||
	    (rec->tid == target->pid &&
	     (record_is_exec(rec) || record_is_hidden(rec))))
		target->starting = false;
	return target->starting && rec->tid == target->pid;
}

static void take_hit(struct tracing *tracing,
		     const struct utrace_rec_marker *rec)
{
	struct marker_set *set = &tracing->set;
	__u64 time = rec->head.time;

	if (rec->cookie >= set->nsites)
		return;
	if (is_before_program(tracing, &rec->head)) {
		set->markers[set->sites[rec->cookie].marker].skipped++;
		return;
	}
	time = time > tracing->began ? time - tracing->began : 0;
	markers_print_hit(tracing->out, set, rec, time, tracing->width);
}

static void take_user_event(struct tracing *tracing,
			    const struct utrace_rec_user_event *rec)
{
	const struct markers_options *options = tracing->options;
	struct marker_set *set = &tracing->set;
	__u64 time = rec->head.time;

	is_before_program(tracing, &rec->head);
	if (rec->cookie >= set->nsites)
		return;
	if (options->histogram) {
		markers_add_user_event(set, rec, options->histogram);
		return;
	}
	time = time > tracing->began ? time - tracing->began : 0;
	markers_print_user_event(tracing->out, set, rec, time, tracing->width);
}

static void take_record(void *data, const struct utrace_rec *rec)
{
	struct tracing *tracing = data;

	record_check_number(rec);
	if (rec->type == UTRACE_REC_MARKER)
		take_hit(tracing, (const void *)rec);
	else if (rec->type == UTRACE_REC_USER_EVENT)
		take_user_event(tracing, (const void *)rec);
	else
		is_before_program(tracing, rec);
	if (record_is_hidden(rec))
		tracing->hidden++;
}

static bool take_records(struct tracing *tracing)
{
	size_t n = stream_take(tracing->stream, take_record, tracing);

	output_show();
	return n;
}

/* The trace */

/* Begin with the process or the program of the options, if there is one. */
static void begin_target(struct tracing *tracing)
{
	struct markers_options *options = tracing->options;

	if (options->all) {
		tracing->target = (struct target){
			.status = -1,
			.signals = signals_set_up(INTERRUPT_WAITING),
		};
		return;
	}
	target_begin(&tracing->target, options->pid, &options->launch);
	/* -p may be a thread. */
	options->pid = tracing->target.launched ? 0 : tracing->target.pid;
}

static void set_up(struct tracing *tracing)
{
	const struct markers_options *options = tracing->options;
	const struct utrace_ioc_events events = {
		.events = UTRACE_REC_BIT(EXEC),
	};
	int session;

	/* A file may be a pipe without a reader, which a signal can end. */
	if (!output_is_command(options->output))
		tracing->out = output_open(options->output, false);
	begin_target(tracing);
	marker_set_find(&tracing->set, options);
	if (output_is_command(options->output))
		tracing->out = output_open(options->output, false);
	/* If all processes are traced, no task may wait for this command. */
	session = session_open(0, options->drop || options->all);
	if (session < 0)
		fail("/dev/utrace", session_why_not(errno));
	fcntl(session, F_SETFL, O_NONBLOCK);
	tracing->stream = stream_open(session);
	if (session_choose(session, &events))
		fail("choosing events", session_why_not(errno));
	tracing->arming.session = session;
	tracing->arming.count = options->count;
	tracing->arming.histogram = options->histogram;
	tracing->width = markers_name_width(&tracing->set);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void note_begin(const struct tracing *tracing, size_t armed)
{
	size_t events = marker_set_armed_user_events(&tracing->set);
	char sites[64] = "", more[64] = "", where[32] = "all processes";

	armed -= events;
	if (armed)
		snprintf(sites, sizeof(sites), "%zu marker%s", armed,
			 plural(armed));
	if (events)
		snprintf(more, sizeof(more), "%s%zu user_event%s",
			 armed ? " and " : "", events, plural(events));
	if (!tracing->options->all)
		snprintf(where, sizeof(where), "process %d",
			 tracing->target.pid);
	output_note("tracing %s%s in %s; Ctrl-C ends that", sites, more, where);
}

static void begin(struct tracing *tracing)
{
	const struct target *target = &tracing->target;
	size_t armed;

	if (tracing->options->all)
		marker_attach_all(&tracing->arming);
	else
		marker_attach(&tracing->arming, target->pid,
			      tracing->options->follow);
	armed = marker_arm(&tracing->arming, &tracing->set);
	if (!tracing->options->count)
		marker_set_check_formats(&tracing->set);
	marker_set_read_formats(&tracing->set);
	tracing->began = stream_now(tracing->stream);
	if (!target->launched)
		note_begin(tracing, armed);
	target_go(&tracing->target);
}

/*
 * Check whether the trace has ended.  Always wait for a program, whose status
 * is that of the command.
 */
static bool is_over(const struct tracing *tracing)
{
	const struct target *target = &tracing->target;

	if (target->interrupted)
		return true;
	if (target->launched && target->status < 0)
		return false;
	return tracing->ended ||
	       (target->launched && !tracing->options->follow);
}

static void wait_for_records(struct tracing *tracing)
{
	const struct target *target = &tracing->target;
	struct pollfd fds[] = {
		/* Do not poll the session after its last record. */
		{ .fd = tracing->ended ? -1 : tracing->arming.session,
		  .events = POLLIN | POLLPRI },
		{ .fd = target->signals, .events = POLLIN },
		/* The reader of a pipe may exit while nothing is printed. */
		{ .fd = target->launched ? -1 : tracing->out->fd },
	};

	poll(fds, ARRAY_SIZE(fds), IDLE_MS);
	if ((fds[0].revents & (POLLHUP | POLLIN)) == POLLHUP)
		tracing->ended = true;
	/* A pipe says POLLERR, a socket or a terminal POLLHUP. */
	if (fds[2].revents & (POLLERR | POLLHUP))
		output_hang_up();
	/*
	 * The format of a user_event may be gone after the program has ended,
	 * so read it now.
	 */
	if (fds[0].revents & POLLPRI) {
		marker_look_at_words(&tracing->arming);
		marker_set_read_formats(&tracing->set);
	}
}

/* Handle records until the trace ends or the output has failed. */
static void follow(struct tracing *tracing)
{
	while (!is_over(tracing) && !output_failed()) {
		if (!take_records(tracing)) {
			/* Write all text before the command sleeps. */
			out_flush(tracing->out);
			wait_for_records(tracing);
		}
		target_take_signals(&tracing->target);
	}
	/* A pipe without a reader has also raised SIGPIPE. */
	target_take_signals(&tracing->target);
}

/* Handle the records that are left.  Another signal ends that. */
static void drain(struct tracing *tracing)
{
	bool child = false;

	while (!output_failed()) {
		bool some = take_records(tracing);

		if (!some && stream_is_empty(tracing->stream))
			break;
		/* An available record may have a time later than the clock. */
		if (!some)
			usleep(1000);
		if (!signals_take(tracing->target.signals, &child))
			continue;
		output_note("interrupted again; the remaining hits are not shown");
		break;
	}
}

static void detach(struct tracing *tracing)
{
	marker_read_hits(&tracing->arming, &tracing->set);
	target_let_go(&tracing->target);
	drain(tracing);
}

/* The end */

/*
 * The kernel has counted all hits, even those before the execve(): subtract
 * them.
 */
static void leave_out_skipped(struct marker_set *set)
{
	size_t i;

	for (i = 0; i < set->nmarkers; i++)
		if (set->markers[i].hits >= set->markers[i].skipped)
			set->markers[i].hits -= set->markers[i].skipped;
}

/* Print how many returns were missed.  Returns their number. */
static unsigned long long report_missed(const struct marker_set *set)
{
	unsigned long long all = 0;
	size_t i;

	for (i = 0; i < set->nmarkers; i++) {
		if (!set->markers[i].missed)
			continue;
		all += set->markers[i].missed;
		output_note("%s: %llu more returns were not seen, because a "
			    "thread was more than 64 calls deep or memory was "
			    "short; trace the entry of the function to see all "
			    "calls", set->markers[i].name,
			    (unsigned long long)set->markers[i].missed);
	}
	return all;
}

static void report_lost(const struct tracing *tracing)
{
	unsigned long long missed = report_missed(&tracing->set);
	unsigned long long lost = session_lost(tracing->arming.session);

	/*
	 * If hits are recorded, a return that was not seen also counts as lost.
	 */
	if (!tracing->options->count && !tracing->options->histogram)
		lost -= lost < missed ? lost : missed;
	if (lost)
		output_note("%llu records were lost: the buffer was full; use "
			    "fewer MARKERs, or --count, to avoid this", lost);
	if (tracing->hidden)
		output_note("a task has got privileges that you do not have, %u "
			    "times; its hits are not recorded then",
			    tracing->hidden);
}

/* Print the results to the output, and everything else to standard error. */
static void print_end(struct tracing *tracing)
{
	const struct markers_options *options = tracing->options;
	struct out errors;

	leave_out_skipped(&tracing->set);
	if (!options->output)
		screen_begin(stderr);
	if (options->histogram)
		markers_print_histograms(tracing->out, &tracing->set,
					 options->histogram);
	if (options->count)
		markers_print_counts(tracing->out, &tracing->set);
	output_close();
	if (!options->count) {
		screen_begin(stderr);
		out_begin(&errors, STDERR_FILENO);
		markers_print_counts(&errors, &tracing->set);
		out_end(&errors);
	}
	report_lost(tracing);
}

/* Trace markers.  Returns the status of the command. */
int markers_trace(struct markers_options *options)
{
	static struct tracing tracing;

	tracing.options = options;
	set_up(&tracing);
	begin(&tracing);
	follow(&tracing);
	detach(&tracing);
	print_end(&tracing);
	return target_end(&tracing.target, output_failed());
}
