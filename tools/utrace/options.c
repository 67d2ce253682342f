// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - options that run and attach have in common
 *
 * An option that strace has, too, has the letter and the meaning of strace's.
 */
#include <argp.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "trace.h"

static const struct argp_option run_options[] = {
	{ "follow-forks", 'f', NULL, 0, "Trace the processes that it creates, too" },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard error" },
	{ "trace", 'e', "trace=SET", 0,
	  "Only these system calls: names, %file, %desc, %process, %memory, "
	  "%network, %signal, /REGEX, with commas between; ! before it: all others" },
	{ "summary-only", 'c', NULL, 0, "Count calls, errors and time instead of showing calls" },
	{ "summary", 'C', NULL, 0, "Show calls and count them, too" },
	{ "string-limit", 's', "N", 0, "Show at most N bytes of what calls read and write (32)" },
	{ "absolute-timestamps", 't', NULL, 0,
	  "Time of day before each line; -tt: with microseconds, -ttt: as seconds" },
	{ "relative-timestamps", 'r', NULL, 0, "Time since the line before" },
	{ "syscall-times", 'T', NULL, 0, "Show at the end of a call how long it took" },
	{ "successful-only", 'z', NULL, 0, "Only calls that do not fail" },
	{ "failed-only", 'Z', NULL, 0, "Only calls that fail" },
	{ "quiet", 'q', NULL, 0, "No lines about the ends of tasks" },
	{ "no-abbrev", 'v', NULL, 0, "Environments of execve() too" },
	{ "decode-fds", 'y', NULL, 0, "Paths behind file descriptors" },
	{}
};

static const struct argp_option attach_options[] = {
	{ "attach", 'p', "PID", 0,
	  "Trace this process; may be given more than once, or as a list" },
	{}
};

static void add_pids(struct argp_state *state, struct options *options, char *list)
{
	char *word, *end;
	long pid;

	while ((word = strsep(&list, ", \t\n"))) {
		if (!*word)
			continue;
		pid = strtol(word, &end, 10);
		if (*end || pid <= 0)
			argp_error(state, "'%s' is not the number of a process", word);
		options->pids = reallocarray(options->pids, options->npids + 1,
					     sizeof(pid_t));
		if (!options->pids)
			abort();
		options->pids[options->npids++] = pid;
	}
}

static void parse_set(struct argp_state *state, struct options *options,
		      const char *arg)
{
	const char *set = arg, *equals = strchr(arg, '='), *wrong;

	if (equals) {
		set = equals + 1;
		if (strncmp(arg, "trace=", 6) && strncmp(arg, "t=", 2))
			argp_error(state, "there is no -e %.*s=; -e trace=SET is there",
				   (int)(equals - arg), arg);
	}
	wrong = calls_parse(&options->calls, set);
	if (wrong)
		argp_error(state, "-e %s: %s", arg, wrong);
	options->chosen = true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct text *text = &options->text;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		if (state->child_inputs)
			state->child_inputs[0] = options;
		break;
	case 'f':
		options->follow = true;
		break;
	case 'o':
		options->output = arg;
		break;
	case 'e':
		parse_set(state, options, arg);
		break;
	case 'c':
		options->summary = true;
		break;
	case 'C':
		options->summary_too = true;
		break;
	case 's':
		text->max_string = strtoul(arg, &end, 10);
		if (*end || !isdigit(*arg))
			argp_error(state, "-s %s: give a number of bytes", arg);
		break;
	case 't':
		if (text->time == TEXT_RELATIVE)
			argp_error(state, "-t and -r are two ways to show the time; give one");
		if (text->time < TEXT_EPOCH)
			text->time++;
		break;
	case 'r':
		if (text->time != TEXT_NO_TIME && text->time != TEXT_RELATIVE)
			argp_error(state, "-t and -r are two ways to show the time; give one");
		text->time = TEXT_RELATIVE;
		break;
	case 'T':
		text->durations = true;
		break;
	case 'q':
		text->quiet = true;
		break;
	case 'y':
		options->paths = true;
		break;
	case 'v':
		text->verbose = true;
		break;
	case 'p':
		add_pids(state, options, arg);
		break;
	case 'z':
	case 'Z':
		text->succeeded |= key == 'z';
		text->failed |= key == 'Z';
		if (text->succeeded && text->failed)
			argp_error(state, "-z and -Z together leave nothing to show; give one");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Parse the options.  Returns the index of the first word after the options. */
int options_parse(struct options *options, int argc, char **argv, bool attach)
{
	struct argp common = { run_options, parse };
	struct argp_child children[] = { { &common }, {} };
	struct argp argp = {
		.options = attach ? attach_options : NULL,
		.parser = parse,
		.args_doc = attach ? "-p PID..." : "PROGRAM [ARG...]",
		.doc = attach ? "Trace processes that run, until they end or Ctrl-C." :
				"Trace a program from its start; ends as it does.",
		.children = children,
	};
	int first = argc;
	char name[32];

	*options = (struct options){ .text.max_string = 32 };
	snprintf(name, sizeof(name), "utrace %s", argv[0]);
	argv[0] = name;
	argp_err_exit_status = STATUS_FAILED;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, &first, options);
	return first;
}
