// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a trace from its options to its status
 *
 * attach.c adds the tasks that exist, cmd/launch.c starts the program, and
 * follow.c handles their records until all have ended.  As strace does, the
 * command ends with the status of the program.  A signal makes it detach,
 * forward the signal to the program, and die by the signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/launch.h"
#include "cmd/output.h"
#include "dev/session.h"
#include "dev/stream.h"
#include "lib/fail.h"
#include "lib/out.h"
#include "summary.h"
#include "tasks.h"
#include "trace.h"

/*
 * Remove the numbers of the 32-bit table, which come last.  A kernel without
 * that table rejects them.
 */
static void leave_out_ia32(struct calls *calls)
{
	while (calls->n && calls->nr[calls->n - 1] & UTRACE_NR_IA32)
		calls->n--;
}

static int choose_calls(const struct trace *trace)
{
	const struct options *options = &trace->options;
	struct utrace_ioc_events events = {
		.events = UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT) |
			  UTRACE_REC_BIT(FORK) | UTRACE_REC_BIT(EXEC) |
			  UTRACE_REC_BIT(EXIT) | UTRACE_REC_BIT(SIGNAL) |
			  UTRACE_REC_BIT(JOBCTL),
		.capture = UTRACE_CAPTURE_STRINGS | UTRACE_CAPTURE_BUFFERS |
			   UTRACE_CAPTURE_SOCKETS | UTRACE_CAPTURE_STRUCTS,
		.calls = options->calls.n ? (uintptr_t)options->calls.nr : 0,
		.ncalls = options->calls.n,
		/*
		 * Names of files are shown whole, memory up to the limit of -s.
		 */
		.string_size = UTRACE_ITEM_SIZE_MAX,
		/* 0 would mean the default. */
		.buffer_size = options->text.dumps ? UTRACE_ITEM_SIZE_MAX :
			       options->text.max_string ?: 1,
	};

	/* An empty list means all calls to the kernel. */
	bool none = options->chosen && !options->calls.n;

	if (none || options->summary)
		events.events &= ~(UTRACE_REC_BIT(SYS_ENTER) |
				   UTRACE_REC_BIT(SYS_EXIT));
	if (options->text.decode || options->text.npaths)
		events.capture |= UTRACE_CAPTURE_FILES;
	if (options->text.ip || options->text.stacks)
		events.capture |= UTRACE_CAPTURE_STACK;
	if (options->summary)
		events.capture = 0;
	if (!none && (options->summary || options->summary_too))
		events.count = UTRACE_COUNT_CALLS;
	if (options->debug)
		output_note("events %#llx, captures %#llx, %u calls, counts %#x, "
			    "strings of %u and memory of %u bytes", events.events,
			    events.capture, events.ncalls, events.count,
			    events.string_size, events.buffer_size);
	return session_choose(trace->session, &events);
}

static void choose(struct trace *trace)
{
	if (!choose_calls(trace))
		return;
	if (errno == EINVAL && trace->options.chosen) {
		leave_out_ia32(&trace->options.calls);
		if (!choose_calls(trace))
			return;
	}
	fail("choosing events", session_why_not(errno));
}

static void set_up(struct trace *trace)
{
	struct options *options = &trace->options;

	const char *output = options->text.separately ? NULL : options->output;

	/* A file may be a pipe without a reader, which a signal can end. */
	if (!output_is_command(output))
		options->text.out = output_open(output, options->append);
	trace->signals = signals_set_up(options->interruptible);
	if (output_is_command(output))
		options->text.out = output_open(output, options->append);
	trace->session = session_open(options->buffer, options->drop);
	if (trace->session < 0 && options->buffer > 1 << 20 && errno == EPERM)
		fail("--buffer-size", "more than 1M needs root");
	if (trace->session < 0)
		fail("/dev/utrace", session_why_not(errno));
	fcntl(trace->session, F_SETFL, O_NONBLOCK);
	trace->stream = stream_open(trace->session);
	choose(trace);
}

static void report_lost(const struct trace *trace)
{
	unsigned long long lost = session_lost(trace->session);

	if (lost)
		output_note("%llu records were lost: the buffer was full; use -e "
			    "trace=SET to record fewer calls", lost);
}

static void say_detached(pid_t tid, void *data)
{
	const struct trace *trace = data;

	if (tid != trace->child || trace->daemon)
		output_note("Process %d detached", tid);
}

/*
 * Print which tasks are detached, if their attach was printed; with --all, --exe
 * and --cgroup it was not.  The program is one of them even if the signal that
 * interrupts the trace has just killed it.
 */
static void notice_detach(struct trace *trace)
{
	if (!trace->interrupted || trace->options.text.quiet & QUIET_ATTACH)
		return;
	if (trace->child && trace->status < 0 && !trace->daemon)
		output_note("Process %d detached", trace->child);
	tasks_followed(say_detached, trace);
}

/* Stop recording.  Existing records can still be read. */
static void detach(struct trace *trace)
{
	struct utrace_ioc_events nothing = {};

	session_choose(trace->session, &nothing);
	notice_detach(trace);
	/* Forward the signal to the program even if a terminal has sent it. */
	if (trace->interrupted && trace->child && !trace->daemon &&
	    trace->status < 0) {
		kill(trace->child, SIGCONT);
		kill(trace->child, trace->interrupted);
	}
	trace_drain(trace);
}

static void print_summary(const struct trace *trace, struct out *out)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		fail("the summary", strerror(errno));
	summary_print(trace->session, &trace->options.table, file);
	if (fclose(file))
		fail("the summary", strerror(errno));
	memcpy(out_room(out, size), text, size);
	out_add(out, size);
	free(text);
}

static void print_end(struct trace *trace)
{
	struct text *text = &trace->options.text;

	if (!trace->options.summary)
		text_end(text);
	if (trace->options.summary || trace->options.summary_too)
		print_summary(trace, text->out);
	output_close();
	report_lost(trace);
	tips_show(&trace->options.tips);
}

static void prepare_launch(struct trace *trace)
{
	const struct options *options = &trace->options;

	trace->launch = (struct launch){
		.program = options->program,
		.user = options->user,
		.env = options->env,
		.nenv = options->nenv,
	};
	if (!options->daemon)
		return;
	launch_daemon(&trace->launch, options->daemon);
	trace->daemon = true;
}

/* Add the program.  Without -f only its first thread is traced. */
static void launch(struct trace *trace)
{
	const struct options *options = &trace->options;

	if (!trace->daemon)
		launch_prepare(&trace->launch);
	trace->child = trace->launch.child;
	trace->starting = true;
	if (session_attach(trace->session, trace->child, options->follow ?
			   UTRACE_SCOPE_TREE : UTRACE_SCOPE_THREAD))
		fail("attaching to the program", session_why_not(errno));
	launch_go(&trace->launch);
	if (trace->daemon && !(options->text.quiet & QUIET_ATTACH))
		output_note("Process %d attached", trace->child);
}

/**
 * trace_main() - trace a program or running processes
 * @argc: number of words
 * @argv: the words; the first one is not an option
 * @command: the command that the first word names
 *
 * Return: the status of the command, unless a signal ends it.
 */
int trace_main(int argc, char **argv, enum command command)
{
	static struct trace trace = { .status = -1 };
	bool failed;

	options_parse(&trace.options, argc, argv, command);
	prepare_launch(&trace);
	set_up(&trace);
	if (options_attach(&trace.options))
		trace_attach(&trace);
	if (trace.options.program[0])
		launch(&trace);
	trace_follow(&trace);
	detach(&trace);
	print_end(&trace);
	failed = output_failed();
	if (trace.interrupted) {
		signals_die_of(trace.interrupted);
		return 128 + trace.interrupted;
	}
	if (failed)
		return STATUS_FAILED;
	return trace.child && !trace.daemon ? launch_end_like(trace.status) : 0;
}
