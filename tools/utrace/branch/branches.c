// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command branches: its options
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "lib/fail.h"

#define DATA	"branches.data"

/* More are not useful, and would need GiB of memory. */
#define LAST_MAX	10000000

enum {
	KEY_DROP = 0x100,
	KEY_LAST,
	KEY_EDGES,
	KEY_FUNCTIONS,
	KEY_FLAME,
	KEY_SOURCE,
};

static const struct argp_option record_options[] = {
	{ "pid", 'p', "PID", 0, "Record this process with all its threads" },
	{ "output", 'o', "FILE", 0, "Write to FILE (" DATA ")" },
	{ "follow-forks", 'f', NULL, 0, "Also record new processes" },
	{ "drop", KEY_DROP, NULL, 0,
	  "Drop and count records instead of making tasks wait" },
	{ "records", 'n', "RECORDS", 0,
	  "Capacity of the ring in records (8192)" },
	{ NULL, 'h', NULL, OPTION_HIDDEN },
	{}
};

static const struct argp_option last_options[] = {
	{ "last", KEY_LAST, "N", 0, "Keep the last N branches" },
	{ "pid", 'p', "PID", 0, "Watch this process with all its threads" },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard error" },
	{ NULL, 'h', NULL, OPTION_HIDDEN },
	{}
};

static const struct argp_option report_options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE (" DATA ")" },
	{ "edges", KEY_EDGES, "N", 0, "Show the N hottest edges (10); 0: none" },
	{ "functions", KEY_FUNCTIONS, "N", 0,
	  "Show the N functions with the most branches (20); 0: all" },
	{ "flame", KEY_FLAME, "FILE", 0, "Write a flame graph to FILE, as SVG" },
	{ "source", KEY_SOURCE, NULL, 0, "Also show the hottest source lines" },
	{ NULL, 'h', NULL, OPTION_HIDDEN },
	{}
};

/* Parse a number from @least to @most. */
static __u64 parse_number(struct argp_state *state, const char *option,
			  const char *arg, __u64 least, __u64 most)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (errno || *end || !isdigit((unsigned char)*arg) || n < least || n > most)
		argp_error(state, "%s %s: give a number from %llu to %llu",
			   option, arg, least, most);
	return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct branches_options *options = state->input;

	switch (key) {
	case 'p':
		options->pid = parse_number(state, "-p", arg, 1, INT_MAX);
		break;
	case 'o':
	case 'i':
		options->file = arg;
		break;
	case 'f':
		options->follow = true;
		break;
	case 'n':
		options->ring = parse_number(state, "-n", arg, 1, 1 << 30);
		break;
	case KEY_DROP:
		options->drop = true;
		break;
	case KEY_LAST:
		options->last = parse_number(state, "--last", arg, 1, LAST_MAX);
		break;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
	struct branches_options *options = state->input;

	switch (key) {
	case KEY_EDGES:
		options->edges = parse_number(state, "--edges", arg, 0, INT_MAX);
		break;
	case KEY_FUNCTIONS:
		options->functions = parse_number(state, "--functions", arg, 0,
						  INT_MAX);
		break;
	case KEY_FLAME:
		options->flame = arg;
		break;
	case KEY_SOURCE:
		options->source = true;
		break;
	case ARGP_KEY_ARG:
		if (options->file)
			argp_error(state, "give one file, not '%s' and '%s'",
				   options->file, arg);
		options->file = arg;
		break;
	default:
		return parse(key, arg, state);
	}
	return 0;
}

/* Save the command line for the report, as one line. */
static void keep_command(struct branches_options *options, int argc, char **argv)
{
	size_t n = snprintf(options->command, sizeof(options->command), "utrace");
	int i;

	for (i = 0; i < argc && n < sizeof(options->command); i++)
		n += snprintf(options->command + n, sizeof(options->command) - n,
			      " %s", argv[i]);
}

/* Parse the options of a command that runs a program, or attaches. */
static void parse_run(struct branches_options *options, int argc, char **argv,
		      struct argp *argp, const char *name)
{
	bool last = argp->options == last_options;
	int first = argc;

	argv[0] = (char *)name;
	argp_parse(argp, argc, argv, ARGP_IN_ORDER, &first, options);
	options->launch.program = argv + first;
	if (last && !options->last)
		fail("branches",
		     "'record', 'report', 'test' or '--last N'? see 'utrace branches --help'");
	if (!options->pid && !argv[first])
		fail(name + strlen("utrace "),
		     "which program or process? give PROGRAM or -p PID");
	if (options->pid && argv[first])
		fail(name + strlen("utrace "),
		     "give a program or -p PID, not both");
}

static int main_record(struct branches_options *options, int argc, char **argv)
{
	struct argp argp = {
		.options = record_options,
		.parser = parse,
		.args_doc = "PROGRAM [ARG...]\n-p PID",
		.doc = "Record all branches of a program and end with its status; "
		       "or those of a running process, until it ends or Ctrl-C.  "
		       "The program runs in single steps, several hundred times "
		       "slower.",
	};

	parse_run(options, argc, argv, &argp, "utrace branches record");
	options->file = options->file ?: DATA;
	return branches_record(options);
}

static int main_report(struct branches_options *options, int argc, char **argv)
{
	struct argp argp = {
		.options = report_options,
		.parser = parse_report,
		.args_doc = "[FILE]",
		.doc = "Show the functions of a recorded program, and the hottest "
		       "branches between two places.",
	};

	argv[0] = (char *)"utrace branches report";
	options->edges = 10;
	options->functions = 20;
	argp_parse(&argp, argc, argv, 0, NULL, options);
	options->file = options->file ?: DATA;
	return branches_report(options);
}

static int main_test(struct branches_options *options, int argc, char **argv)
{
	static const struct argp_option none[] = {
		{ NULL, 'h', NULL, OPTION_HIDDEN },
		{}
	};
	struct argp argp = {
		.options = none,
		.parser = parse,
		.doc = "Test whether each CPU of this machine records branches "
		       "correctly, and print a report.  Only root may run it.  "
		       "The status is 0 if all do, 1 if the machine cannot record "
		       "branches, 2 if the branch trace store is in use, 3 if a "
		       "CPU records wrong branches, and 125 if the test could not "
		       "be run.",
	};

	argv[0] = (char *)"utrace branches test";
	argp_parse(&argp, argc, argv, 0, NULL, options);
	return branches_test();
}

static int main_last(struct branches_options *options, int argc, char **argv)
{
	struct argp argp = {
		.options = last_options,
		.parser = parse,
		.args_doc = "--last N PROGRAM [ARG...]\n--last N -p PID",
		.doc = "Keep the last branches of a program, and print them when "
		       "it ends or at Ctrl-C.  'utrace branches record' keeps all "
		       "branches, and 'utrace branches report' shows them; both "
		       "have --help.  'utrace branches test' checks whether the "
		       "processor can record branches itself.",
	};

	parse_run(options, argc, argv, &argp, "utrace branches");
	return branches_last(options);
}

/* Run the command branches.  Returns its status, unless a signal ends it. */
int branches_main(int argc, char **argv)
{
	static struct branches_options options;

	argp_err_exit_status = STATUS_FAILED;
	keep_command(&options, argc, argv);
	if (argc > 1 && !strcmp(argv[1], "record"))
		return main_record(&options, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "report"))
		return main_report(&options, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "test"))
		return main_test(&options, argc - 1, argv + 1);
	return main_last(&options, argc, argv);
}
