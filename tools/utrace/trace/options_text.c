// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - options for the text of a trace
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>

#include "decode/print.h"
#include "format/calls.h"
#include "format/paths.h"
#include "format/pids.h"
#include "lib/memory.h"
#include "options.h"
#include "options_text.h"
#include "sets.h"

/* The largest column of -a.  A line has room for as many blanks. */
#define COLUMN_MAX	4096

#define OPTIONAL	OPTION_ARG_OPTIONAL

static const struct argp_option text_options[] = {
	{ "string-limit", 's', "N", 0,
	  "Show at most N bytes of data that calls read and write (32), up to "
	  "4096" },
	{ "columns", 'a', "COLUMN", 0,
	  "Column at which the results of calls begin (40)" },
	{ "const-print-style", 'X', "STYLE", 0,
	  "Constants: abbrev (by name), raw (as numbers) or verbose (both)" },
	{ NULL, 'x', NULL, 0,
	  "Strings with bytes that are no text in base 16; -xx: all strings" },
	{ "strings-in-hex", KEY_HEX, "WHICH", OPTIONAL,
	  "Bytes in base 16: none, non-ascii-chars, non-ascii (-x), all (-xx)" },
	{ NULL, 't', NULL, 0,
	  "Time of day before each line; -tt: with microseconds, -ttt: as seconds" },
	{ "absolute-timestamps", KEY_CLOCK, "FORMAT,PRECISION", OPTIONAL,
	  "Time before each line: none, time (of day) or unix; s, ms, us or ns" },
	{ "timestamps", KEY_CLOCK, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ NULL, 'r', NULL, 0, "Time since the line before" },
	{ "relative-timestamps", KEY_RELATIVE, "PRECISION", OPTIONAL,
	  "Time since the line before, in s, ms, us or ns (us)" },
	{ NULL, 'T', NULL, 0, "Show the duration of each call" },
	{ "syscall-times", KEY_DURATIONS, "PRECISION", OPTIONAL,
	  "Show the duration of each call, in s, ms, us or ns (us)" },
	{ "syscall-number", 'n', NULL, 0, "Show the number of each call" },
	{ "instruction-pointer", 'i', NULL, 0,
	  "Show the address at which each call was made" },
	{ NULL, 'k', NULL, 0,
	  "Show the stack after each call, by frame pointers; -kk: with source "
	  "lines" },
	{ "stack-traces", KEY_STACKS, "WHAT", OPTIONAL,
	  "Show the stack after each call: symbol (-k) or source (-kk)" },
	{ "stack-trace", KEY_STACKS, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ "successful-only", 'z', NULL, 0, "Only calls that do not fail" },
	{ "failed-only", 'Z', NULL, 0, "Only calls that fail" },
	{ "status", KEY_STATUS, "SET", 0,
	  "Only calls that end so: successful, failed, unfinished, unavailable, "
	  "detached" },
	{ "signal", KEY_SIGNAL, "SET", 0, "Show only these signals" },
	{ "signals", KEY_SIGNAL, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ NULL, 'q', NULL, 0,
	  "No lines about attach and detach; -qq: nor about tasks that exit; "
	  "-qqq: none at all" },
	{ "quiet", KEY_QUIET, "SET", OPTIONAL,
	  "No such lines: attach, exit, path-resolution, personality, "
	  "thread-execve" },
	{ "silent", KEY_QUIET, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ "silence", KEY_QUIET, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ "trace-path", 'P', "PATH", 0,
	  "Only calls with this path or a descriptor of it; may be repeated" },
	{ NULL, 'y', NULL, 0,
	  "Show the paths of file descriptors; -yy: also sockets, devices and "
	  "pidfds" },
	{ "decode-fds", KEY_DECODE_FDS, "SET", OPTIONAL,
	  "What to show of file descriptors: path, socket, dev, pidfd (path)" },
	{ "decode-fd", KEY_DECODE_FDS, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ "read", KEY_READ, "SET", 0,
	  "Dump the bytes that are read from these descriptors" },
	{ "reads", KEY_READ, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ "write", KEY_WRITE, "SET", 0,
	  "Dump the bytes that are written to these descriptors" },
	{ "writes", KEY_WRITE, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	{ "no-abbrev", 'v', NULL, 0,
	  "Show structures whole, and environments of execve()" },
	{ "abbrev", KEY_ABBREV, "SET", 0,
	  "Shorten the structures of these system calls only" },
	{ "verbose", KEY_VERBOSE, "SET", 0,
	  "Show the structures of these system calls only, not their addresses" },
	{ "raw", KEY_RAW, "SET", 0,
	  "Show arguments of these system calls as numbers in base 16" },
	{ NULL, 'Y', NULL, 0, "Show the names of tasks" },
	{ "decode-pids", KEY_DECODE_PIDS, "SET", OPTIONAL,
	  "What to show of numbers of tasks: comm (names), pidns (numbers in "
	  "this pid namespace)" },
	{ "decode-pid", KEY_DECODE_PIDS, NULL, OPTION_ALIAS | OPTION_HIDDEN },
	/* The name of --decode-pids=pidns in strace 5.9. */
	{ "pidns-translation", KEY_PIDNS, NULL, OPTION_HIDDEN },
	{}
};

/*
 * Parse a limit.  If it is more than the kernel captures, reduce it and print a
 * message.
 */
static unsigned int parse_limit(struct argp_state *state, const char *arg)
{
	char *end;
	unsigned long size = strtoul(arg, &end, 10);

	if (*end || !isdigit((unsigned char)*arg))
		argp_error(state, "-s %s: give a number of bytes", arg);
	if (size <= UTRACE_ITEM_SIZE_MAX)
		return size;
	fprintf(stderr, "utrace: -s %s: at most %d bytes are shown\n",
		arg, UTRACE_ITEM_SIZE_MAX);
	return UTRACE_ITEM_SIZE_MAX;
}

/*
 * Parse a column.  Before, -a had no argument and traced all processes, so an
 * argument that is no number may come from an old script.
 */
static unsigned int parse_column(struct argp_state *state, const char *arg)
{
	char *end;
	unsigned long column = strtoul(arg, &end, 10);

	if (*end || !isdigit((unsigned char)*arg) || column > COLUMN_MAX)
		argp_error(state, "-a %s: give a column, as to strace; --all traces all processes",
			   arg);
	return column;
}

/*
 * Find @word in a list of words that ends with NULL.  Returns its index, or -1.
 */
static int index_of(const char *const *words, const char *word)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

static void parse_constants(struct argp_state *state, const char *arg)
{
	static const char *const words[] = { "abbrev", "raw", "verbose", NULL };
	int i = index_of(words, arg);

	if (i < 0)
		argp_error(state, "-X %s: give raw, abbrev or verbose", arg);
	utrace_style.constants = i;
}

/* Parse --strings-in-hex.  @arg is NULL if the option has no argument. */
static void parse_hex(struct argp_state *state, const char *arg)
{
	static const char *const words[] = {
		"none", "non-ascii-chars", "non-ascii", "all", NULL
	};
	int i = arg ? index_of(words, arg) : UTRACE_HEX_ALL;

	if (i < 0)
		argp_error(state, "--strings-in-hex=%s: give none, "
			   "non-ascii-chars, non-ascii or all", arg);
	utrace_style.hex = i;
}

/* Parse --stack-traces.  @arg is NULL if it has no argument. */
static void parse_stacks(struct argp_state *state, struct text *text,
			 const char *arg)
{
	static const char *const words[] = { "symbol", "source", NULL };
	int i = arg ? index_of(words, arg) : 0;

	if (i < 0)
		argp_error(state, "--stack-traces=%s: give symbol or source", arg);
	text->stacks = true;
	text->lines = i;
}

/* Times */

/* Parse a precision.  Returns its number of digits, or -1. */
static int digits_of(const char *arg)
{
	static const char *const words[] = { "s", "ms", "us", "ns", NULL };
	int i = index_of(words, arg);

	return i < 0 ? i : 3 * i;
}

/* Parse the precision of an option.  @arg may be NULL: microseconds. */
static unsigned int parse_precision(struct argp_state *state, const char *option,
				    const char *arg)
{
	int digits = arg ? digits_of(arg) : 6;

	if (digits < 0)
		argp_error(state, "%s=%s: give s, ms, us or ns", option, arg);
	return digits;
}

/* Check whether @word begins with @name, and skip that. */
static bool skip(const char **word, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(*word, name, n))
		return false;
	*word += n;
	return true;
}

/* Parse one word of --absolute-timestamps.  Returns false if it is none. */
static bool parse_clock_word(struct text *text, const char *word)
{
	static const char *const clocks[] = { "none", "time", "unix", NULL };
	bool clock = skip(&word, "format:");
	bool precision = !clock && skip(&word, "precision:");
	int i = precision ? -1 : index_of(clocks, word);
	int digits = clock ? -1 : digits_of(word);

	if (i >= 0)
		text->clock = i;
	if (digits >= 0)
		text->clock_digits = digits;
	return i >= 0 || digits >= 0;
}

/*
 * Parse --absolute-timestamps.  @arg is NULL if it has no argument: "time".  A
 * format or precision that it lacks is that of the option before, as in strace.
 */
static void parse_clock(struct argp_state *state, struct text *text,
			const char *arg)
{
	char *words = strdupa(arg ?: "time"), *word;

	if (!text->clock)
		text->clock = TEXT_TIME_OF_DAY;
	while ((word = strsep(&words, ",")))
		if (!parse_clock_word(text, word))
			argp_error(state, "--absolute-timestamps=%s: give none, time or "
				   "unix, and s, ms, us or ns", arg);
}

/* Add one -t. */
static void add_clock(struct text *text)
{
	if (!text->clock)
		text->clock = TEXT_TIME_OF_DAY;
	else if (!text->clock_digits)
		text->clock_digits = 6;
	else
		text->clock = TEXT_UNIX_TIME;
}

/* Sets */

/* Parse the options that take a set. */
static void parse_set(int key, const char *arg, struct argp_state *state,
		      struct text *text)
{
	static const struct set_word statuses[] = {
		{ "successful", STATUS_SUCCESSFUL },
		{ "failed", STATUS_FAILING },
		{ "unfinished", STATUS_UNFINISHED },
		{ "unavailable", STATUS_UNAVAILABLE },
		{ "detached", STATUS_DETACHED },
		{}
	};
	static const struct set_word pid_details[] = {
		{ "comm", 1 },
		{ "pidns", 2 },
		{}
	};
	static const struct set_word details[] = {
		{ "path", DECODE_PATH },
		{ "socket", DECODE_SOCKET },
		{ "dev", DECODE_DEV },
		{ "pidfd", DECODE_PIDFD },
		{}
	};
	static const struct set_word lines[] = {
		{ "attach", QUIET_ATTACH },
		{ "exit", QUIET_EXIT },
		{ "exits", QUIET_EXIT },
		{ "path-resolution", QUIET_PATH },
		{ "path-resolve", QUIET_PATH },
		{ "personality", QUIET_ABI },
		{ "thread-execve", QUIET_EXECVE },
		{ "superseded", QUIET_EXECVE },
		{}
	};
	const char *wrong = NULL, *name = "", *member = NULL;
	unsigned int numbers = 0;

	switch (key) {
	case KEY_STATUS:
		wrong = set_of_words(&text->status, statuses, arg);
		name = "status";
		break;
	case KEY_DECODE_PIDS:
		wrong = set_of_words(&numbers, pid_details, arg ?: "comm");
		name = "decode-pids";
		pids.names = numbers & 1;
		pids.namespaces = numbers & 2;
		break;
	case KEY_DECODE_FDS:
		wrong = set_of_words(&text->decode, details, arg ?: "path");
		name = "decode-fds";
		break;
	case KEY_QUIET:
		wrong = set_of_words(&text->quiet, lines,
				     arg ?: "attach,personality");
		name = "quiet";
		break;
	case KEY_SIGNAL:
		wrong = set_of_signals(&text->signals, arg);
		name = "signal";
		break;
	case KEY_READ:
		text->dumps = true;
		wrong = set_of_numbers(&text->read, arg);
		name = "read";
		member = "descriptor";
		break;
	case KEY_WRITE:
		text->dumps = true;
		wrong = set_of_numbers(&text->write, arg);
		name = "write";
		member = "descriptor";
		break;
	}
	if (wrong)
		argp_error(state, "-e %s=%s: invalid %s '%s'", name, arg,
			   member ?: name, wrong);
}

/* Set the status of -z or -Z.  The last one takes effect, as in strace. */
static void only_status(struct text *text, unsigned int status)
{
	if (text->status != STATUS_ALL && text->status != status)
		fputs("utrace: only the last one of -z and -Z takes effect; see -e status=\n",
		      stderr);
	text->status = status;
}

/* Add one -q. */
static void add_quiet(struct options *options)
{
	static const unsigned int quiet[] = {
		QUIET_ATTACH | QUIET_ABI, QUIET_EXIT, QUIET_ALL,
	};

	if (options->nquiet < ARRAY_SIZE(quiet))
		options->text.quiet |= quiet[options->nquiet++];
}

/* Options that say when lines are printed. */
static error_t parse_lines(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct text *text = &options->text;

	switch (key) {
	case 'z':
		only_status(text, STATUS_SUCCESSFUL);
		break;
	case 'Z':
		only_status(text, STATUS_FAILING);
		break;
	case 'q':
		add_quiet(options);
		break;
	case KEY_QUIET:
		options->nquiet++;
		parse_set(key, arg, state, text);
		break;
	case KEY_STATUS:
	case KEY_SIGNAL:
	case KEY_DECODE_PIDS:
	case KEY_DECODE_FDS:
	case KEY_READ:
	case KEY_WRITE:
		parse_set(key, arg, state, text);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Options for the times of lines. */
static error_t parse_times(int key, char *arg, struct argp_state *state)
{
	struct text *text = &((struct options *)state->input)->text;

	switch (key) {
	case 't':
		add_clock(text);
		break;
	case KEY_CLOCK:
		parse_clock(state, text, arg);
		break;
	case 'r':
	case KEY_RELATIVE:
		text->relative = true;
		text->relative_digits =
			parse_precision(state, "--relative-timestamps", arg);
		break;
	case 'T':
	case KEY_DURATIONS:
		text->durations = true;
		text->duration_digits =
			parse_precision(state, "--syscall-times", arg);
		break;
	default:
		return parse_lines(key, arg, state);
	}
	return 0;
}

/* Parse a set of calls, which is never freed. */
static const struct calls *parse_calls(struct argp_state *state, const char *name,
				       const char *arg)
{
	struct calls *calls = checked(calloc(1, sizeof(*calls)));
	const char *wrong = calls_parse(calls, arg);

	if (wrong)
		argp_error(state, "-e %s=%s: %s", name, arg, wrong);
	return calls;
}

/* Options for sets of calls. */
static error_t parse_call_sets(int key, char *arg, struct argp_state *state)
{
	struct text *text = &((struct options *)state->input)->text;

	switch (key) {
	case KEY_ABBREV:
		text->abbrev = parse_calls(state, "abbrev", arg);
		break;
	case KEY_VERBOSE:
		text->structs = parse_calls(state, "verbose", arg);
		break;
	case KEY_RAW:
		text->raw = parse_calls(state, "raw", arg);
		break;
	default:
		return parse_times(key, arg, state);
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct text *text = &((struct options *)state->input)->text;

	switch (key) {
	case 'a':
		text->column = parse_column(state, arg);
		break;
	case 's':
		text->max_string = parse_limit(state, arg);
		break;
	case 'X':
		parse_constants(state, arg);
		break;
	case 'x':
		utrace_style.hex = utrace_style.hex < UTRACE_HEX_STRINGS ?
				   UTRACE_HEX_STRINGS : UTRACE_HEX_ALL;
		break;
	case KEY_HEX:
		parse_hex(state, arg);
		break;
	case 'n':
		text->numbers = true;
		break;
	case 'i':
		text->ip = true;
		break;
	case 'P':
		paths_add(text, arg);
		break;
	case 'y':
		text->decode = text->decode ? DECODE_ALL : DECODE_PATH;
		break;
	case 'k':
		text->lines |= text->stacks;
		text->stacks = true;
		break;
	case KEY_STACKS:
		parse_stacks(state, text, arg);
		break;
	case 'v':
		text->verbose = true;
		text->abbrev = NULL;
		break;
	case KEY_PIDNS:
		pids.namespaces = true;
		break;
	case 'Y':
		pids.names = true;
		break;
	default:
		return parse_call_sets(key, arg, state);
	}
	return 0;
}

const struct argp text_argp = { text_options, parse };
