// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command markers: its options
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "markers.h"

enum {
	KEY_COUNT = 0x100,
	KEY_HISTOGRAM,
	KEY_ARGS,
	KEY_DROP,
	KEY_FORCE,
};

static const char usage[] =
	"Usage: utrace markers list FILE...\n"
	"  or:  utrace markers list -p PID\n"
	"  or:  utrace markers trace [OPTION...] MARKER... -- PROGRAM [ARG...]\n"
	"  or:  utrace markers trace [OPTION...] -p PID MARKER...\n"
	"  or:  utrace markers trace [OPTION...] -a MARKER...\n"
	"  or:  utrace markers status [PID...]\n"
	"Trace the SDT markers, functions and user_events of one program, and of no\n"
	"other process; or markers and functions of all processes.\n"
	"\n"
	"  list      list the markers of files, or of a process\n"
	"  trace     show the hits of markers, count them, or make histograms\n"
	"  status    list the processes in which markers are armed\n"
	"\n"
	"'utrace markers COMMAND --help' lists the options of a command.\n";

static const struct argp_option list_options[] = {
	{ "pid", 'p', "PID", 0,
	  "The files that this process has mapped as code, and its user_events" },
	{ NULL, 'h', NULL, OPTION_HIDDEN },
	{}
};

static const struct argp_option trace_options[] = {
	{ "pid", 'p', "PID", 0, "Trace this process with all its threads" },
	{ "follow-forks", 'f', NULL, 0, "Also trace new processes" },
	{ "all", 'a', NULL, 0,
	  "Trace all processes; records are dropped and counted if there is no "
	  "room" },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard error" },
	{ "count", KEY_COUNT, NULL, 0, "Count hits instead of showing them" },
	{ "histogram", KEY_HISTOGRAM, "N", 0,
	  "Show a histogram of argument N, or of field N of user_events, instead "
	  "of hits" },
	{ "args", KEY_ARGS, "N", 0, "Show the first N arguments of functions (0)" },
	{ "drop", KEY_DROP, NULL, 0,
	  "Drop and count records instead of making tasks wait" },
	{ "force", KEY_FORCE, NULL, 0,
	  "Also trace returns in programs of Go, which may crash them" },
	{ NULL, 'h', NULL, OPTION_HIDDEN },
	{}
};

static const struct argp_option status_options[] = {
	{ NULL, 'h', NULL, OPTION_HIDDEN },
	{}
};

/* Parse a number from @least to @most. */
static unsigned int parse_number(struct argp_state *state, const char *option,
				 const char *arg, unsigned int least,
				 unsigned int most)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || *end || !isdigit((unsigned char)*arg) || n < least ||
	    n > most)
		argp_error(state, "%s %s: give a number from %u to %u", option,
			   arg, least, most);
	return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct markers_options *options = state->input;

	switch (key) {
	case 'p':
		options->pid = parse_number(state, "-p", arg, 1, INT_MAX);
		break;
	case 'f':
		options->follow = true;
		break;
	case 'a':
		options->all = true;
		break;
	case 'o':
		options->output = arg;
		break;
	case KEY_COUNT:
		options->count = true;
		break;
	case KEY_HISTOGRAM:
		/* Accept "arg2" as well, as lines of hits print it. */
		if (!strncmp(arg, "arg", 3))
			arg += 3;
		options->histogram = parse_number(state, "--histogram", arg, 1,
						  UTRACE_MARKER_ARGS);
		break;
	case KEY_ARGS:
		options->args = parse_number(state, "--args", arg, 0,
					     MARKER_CALL_ARGS);
		break;
	case KEY_DROP:
		options->drop = true;
		break;
	case KEY_FORCE:
		options->force = true;
		break;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	case ARGP_KEY_ARG:
		options->names[options->n++] = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int main_list(struct markers_options *options, int argc, char **argv)
{
	struct argp argp = {
		.options = list_options,
		.parser = parse,
		.args_doc = "FILE...\n-p PID",
		.doc = "List the SDT markers of programs and libraries, or of all files "
		       "that a process has mapped as code: provider and name, "
		       "number of markers of this name, whether there is a "
		       "semaphore, and the arguments with their types and "
		       "registers.  For the user_events of a process, list the "
		       "number of registrations, the state for ftrace and "
		       "perf, and the fields; tracefs must be readable.\v"
		       "The status is 1 if there are none, 125 if a file cannot be "
		       "read.",
	};

	argp_parse(&argp, argc, argv, 0, NULL, options);
	if (!options->pid && !options->n)
		fail("markers list", "of which file or process? give FILE or -p PID");
	if (options->pid && options->n)
		fail("markers list", "give FILE or -p PID, not both");
	return markers_list(options);
}

/* Find the "--" before the program.  Returns the number of words before it. */
static int split(struct markers_options *options, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		argv[i] = NULL;
		options->launch.program = argv + i + 1;
		return i;
	}
	options->launch.program = argv + argc;
	return argc;
}

static void check_trace(const struct markers_options *options)
{
	int given = !!options->launch.program[0] + !!options->pid + options->all;

	if (!given)
		fail("markers trace",
		     "which program or process? give -- PROGRAM, -p PID or -a");
	if (given > 1)
		fail("markers trace",
		     "give one of -- PROGRAM, -p PID and -a, not several");
	if (!options->n)
		fail("markers trace",
		     "which markers? 'utrace markers list' lists them, and '*:*' "
		     "selects all");
	if (options->count && options->histogram)
		fail("markers trace", "give --count or --histogram, not both");
}

static int main_trace(struct markers_options *options, int argc, char **argv)
{
	struct argp argp = {
		.options = trace_options,
		.parser = parse,
		.args_doc = "MARKER... -- PROGRAM [ARG...]\n-p PID MARKER...\n"
			    "-a MARKER...",
		.doc = "Trace markers of a program and end with its status; or of "
		       "a running process, until it ends or Ctrl-C; or of all "
		       "processes, until Ctrl-C.  Other processes are not "
		       "affected, and a debugger may trace the process at the "
		       "same time.\vA MARKER is one of\n"
		       "\n"
		       "  PROVIDER:NAME         markers of PROGRAM, or of all files of PID\n"
		       "  FILE:PROVIDER:NAME    markers of a program or library\n"
		       "  FILE:FUNCTION         entries of a function; FILE has a '/'\n"
		       "  FILE:FUNCTION%return  its returns; arg1 is what it returns\n"
		       "  user:NAME             writes of a user_event, which "
		       "need not be registered yet\n"
		       "\n"
		       "with * and ? for any characters, but not in FILE.  "
		       "Markers of libraries of PROGRAM, and all markers with -a, "
		       "need a FILE.  Wildcards of user: match user_events that "
		       "are registered now.",
	};

	argc = split(options, argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, options);
	check_trace(options);
	return markers_trace(options);
}

static int main_status(struct markers_options *options, int argc, char **argv)
{
	struct argp argp = {
		.options = status_options,
		.parser = parse,
		.args_doc = "[PID...]",
		.doc = "List the processes with armed words or markers, each with "
		       "the process that has armed them, and 'all' for markers of "
		       "all processes; then the user_events that processes have "
		       "registered, with their state for ftrace and perf, if "
		       "tracefs is readable.",
	};

	argp_parse(&argp, argc, argv, 0, NULL, options);
	return markers_status(options);
}

static const struct {
	const char *name;
	const char *full;
	int (*function)(struct markers_options *options, int argc, char **argv);
} commands[] = {
	{ "list", "utrace markers list", main_list },
	{ "trace", "utrace markers trace", main_trace },
	{ "status", "utrace markers status", main_status },
};

/* Run the command markers.  Returns its status, unless a signal ends it. */
int markers_main(int argc, char **argv)
{
	static struct markers_options options;
	const char *name = argc > 1 ? argv[1] : "--help";
	size_t i;

	argp_err_exit_status = STATUS_FAILED;
	options.names = checked(calloc(argc, sizeof(*options.names)));
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(name, commands[i].name))
			continue;
		argv[1] = (char *)commands[i].full;
		return commands[i].function(&options, argc - 1, argv + 1);
	}
	if (strcmp(name, "--help") && strcmp(name, "-h"))
		fail(name, "'list', 'trace' or 'status'? see 'utrace markers --help'");
	fputs(usage, argc > 1 ? stdout : stderr);
	return argc > 1 ? 0 : STATUS_FAILED;
}
