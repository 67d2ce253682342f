// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - options of a trace
 *
 * Options that strace also has keep their letter and their meaning.  strace.c
 * has the options of strace that are missing here.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "decode/print.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "options.h"
#include "strace.h"
#include "unit.h"

/* Limits of --buffer-size, see struct utrace_ioc_setup. */
#define BUFFER_MIN	(64UL << 10)
#define BUFFER_MAX	(64UL << 20)

/* The largest column of -a.  A line has room for as many blanks. */
#define COLUMN_MAX	4096

/* Keys of long options that have no letter. */
enum {
	KEY_EXE = 0x100,
	KEY_CGROUP,
	KEY_UNIT,
	KEY_DROP,
	KEY_BUFFER,
	KEY_NOTHING,
	KEY_ALL,
	KEY_HEX,
};

static const struct argp_option our_options[] = {
	{ "attach", 'p', "PID", 0,
	  "Trace this process or thread; may be given more than once, or as a list" },
	{ "all", KEY_ALL, NULL, 0, "Trace all processes" },
	{ "exe", KEY_EXE, "PATH", 0, "Trace processes that run this file" },
	{ "cgroup", KEY_CGROUP, "PATH", 0, "Trace processes of this cgroup" },
	{ "unit", KEY_UNIT, "NAME", 0, "Trace processes of this systemd unit" },
	{ "drop", KEY_DROP, NULL, 0,
	  "Drop and count records instead of making tasks wait" },
	{ "buffer-size", KEY_BUFFER, "SIZE", 0,
	  "Size of the buffer for records, from 64K to 64M (16M)" },
	{ "follow-forks", 'f', NULL, 0, "Also trace new threads and processes" },
	{ "user", 'u', "USER", 0, "Execute the program as this user" },
	{ "env", 'E', "VAR[=VALUE]", 0, "Set a variable for the program, or remove it" },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE instead of standard error, or to a shell command with | or ! before it" },
	{ "output-append-mode", 'A', NULL, 0, "Append to the FILE of -o" },
	{ "trace", 'e', "trace=SET", 0,
	  "Only these system calls: names, %file, %desc, %process, %memory, "
	  "%network, %signal, /REGEX, separated by commas; ! before it: all other "
	  "calls" },
	{ "summary-only", 'c', NULL, 0, "Count calls, errors and time instead of showing calls" },
	{ "summary", 'C', NULL, 0, "Show calls and also count them" },
	{ "string-limit", 's', "N", 0,
	  "Show at most N bytes of data that calls read and write (32), up to "
	  "4096" },
	{ "columns", 'a', "COLUMN", 0,
	  "Column at which the results of calls begin (40)" },
	{ "const-print-style", 'X', "STYLE", 0,
	  "Constants: abbrev (by name), raw (as numbers) or verbose (both)" },
	{ NULL, 'x', NULL, 0,
	  "Strings with bytes that are no text in base 16; -xx: all strings" },
	{ "strings-in-hex", KEY_HEX, "WHICH", OPTION_ARG_OPTIONAL,
	  "Bytes in base 16: none, non-ascii-chars, non-ascii (-x), all (-xx)" },
	{ "absolute-timestamps", 't', NULL, 0,
	  "Time of day before each line; -tt: with microseconds, -ttt: as seconds" },
	{ "relative-timestamps", 'r', NULL, 0, "Time since the line before" },
	{ "syscall-times", 'T', NULL, 0, "Show the duration of each call" },
	{ "successful-only", 'z', NULL, 0, "Only calls that do not fail" },
	{ "failed-only", 'Z', NULL, 0, "Only calls that fail" },
	{ "quiet", 'q', NULL, 0,
	  "No lines about attach and detach; -qq: nor about the ends of tasks" },
	{ "no-abbrev", 'v', NULL, 0, "Show environments of execve()" },
	{ "decode-fds", 'y', NULL, 0, "Show the paths of file descriptors" },
	{ "interruptible", 'I', "N", 0,
	  "When signals end the trace: 1 at once, 2 after a detach (default), 3 "
	  "never (default of -o FILE PROGRAM), 4 nor does Ctrl-Z stop it" },
	{ NULL, 'V', NULL, OPTION_HIDDEN },
	{ NULL, 'h', NULL, OPTION_HIDDEN },
	/* Accepted and ignored: the command always does what these turn on. */
	{ "seccomp-bpf", KEY_NOTHING, NULL, OPTION_HIDDEN },
	{ "summary-wall-clock", 'w', NULL, OPTION_HIDDEN },
	{}
};

static void add_pids(struct argp_state *state, struct options *options, char *list)
{
	char *word, *end;
	long pid;

	while ((word = strsep(&list, ", \t\n"))) {
		if (!*word)
			continue;
		errno = 0;
		pid = strtol(word, &end, 10);
		if (errno || *end || pid <= 0 || pid > INT_MAX)
			argp_error(state, "'%s' is not the number of a process", word);
		options->pids = checked(reallocarray(options->pids,
						     options->npids + 1,
						     sizeof(pid_t)));
		options->pids[options->npids++] = pid;
	}
}

static void add_env(struct options *options, char *variable)
{
	options->env = checked(reallocarray(options->env, options->nenv + 1,
					    sizeof(char *)));
	options->env[options->nenv++] = variable;
}

static void parse_set(struct argp_state *state, struct options *options,
		      const char *arg)
{
	const char *set = arg, *equals = strchr(arg, '='), *wrong;

	if (equals && strncmp(arg, "trace=", 6) && strncmp(arg, "t=", 2)) {
		wrong = strace_qualifier(arg, equals - arg);
		if (wrong)
			argp_error(state, "%s", wrong);
		argp_error(state, "there is no -e %.*s=; -e trace=SET is there",
			   (int)(equals - arg), arg);
	}
	if (equals)
		set = equals + 1;
	wrong = calls_parse(&options->calls, set);
	if (wrong)
		argp_error(state, "-e %s: %s", arg, wrong);
	options->chosen = true;
}

/* Parse a number of bytes, which may end with K or M. */
static size_t parse_size(struct argp_state *state, const char *arg)
{
	char *end;
	unsigned long size = strtoul(arg, &end, 10);

	if (*end == 'K' || *end == 'M')
		size *= *end++ == 'K' ? 1 << 10 : 1 << 20;
	if (!isdigit((unsigned char)*arg) || *end || size < BUFFER_MIN || size > BUFFER_MAX)
		argp_error(state, "--buffer-size=%s: use a size from 64K to 64M", arg);
	return size;
}

static void parse_interruptible(struct argp_state *state, struct options *options,
				const char *arg)
{
	static const char *const names[] = {
		[INTERRUPT_ANYWHERE] = "anywhere", [INTERRUPT_WAITING] = "waiting",
		[INTERRUPT_NEVER] = "never", [INTERRUPT_NEVER_TSTP] = "never_tstp",
	};
	enum interruptible i;

	for (i = INTERRUPT_ANYWHERE; i <= INTERRUPT_NEVER_TSTP; i++)
		if (!strcmp(arg, names[i]) || (arg[0] == '0' + (int)i && !arg[1]))
			options->interruptible = i;
	if (!options->interruptible)
		argp_error(state, "-I %s: give a number from 1 to 4", arg);
}

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
 * Parse a column.  Until 0.1 -a had no argument and traced all processes, so an
 * argument that is no number may come from a script of that time.
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
			   "non-ascii-chars, non-ascii or all",
			   arg);
	utrace_style.hex = i;
}

/*
 * Parse the options for the format of lines.  Returns whether @key is one of
 * these.
 */
static bool parse_text(int key, char *arg, struct argp_state *state,
		       struct text *text)
{
	switch (key) {
	case 'a':
		text->column = parse_column(state, arg);
		return true;
	case 'X':
		parse_constants(state, arg);
		return true;
	case 'x':
		utrace_style.hex = utrace_style.hex == UTRACE_HEX_STRINGS ?
				   UTRACE_HEX_ALL : UTRACE_HEX_STRINGS;
		return true;
	case KEY_HEX:
		parse_hex(state, arg);
		return true;
	case 's':
		text->max_string = parse_limit(state, arg);
		return true;
	case 't':
		if (text->time == TEXT_RELATIVE)
			argp_error(state, "-t and -r are two ways to show the time; give one");
		if (text->time < TEXT_EPOCH)
			text->time++;
		return true;
	case 'r':
		if (text->time != TEXT_NO_TIME && text->time != TEXT_RELATIVE)
			argp_error(state, "-t and -r are two ways to show the time; give one");
		text->time = TEXT_RELATIVE;
		return true;
	case 'T':
		text->durations = true;
		return true;
	case 'v':
		text->verbose = true;
		return true;
	case 'z':
	case 'Z':
		text->succeeded |= key == 'z';
		text->failed |= key == 'Z';
		if (text->succeeded && text->failed)
			argp_error(state, "-z and -Z together leave nothing to show; give one");
		return true;
	}
	return false;
}

/*
 * Parse the options for targets and events.  Returns whether @key is one of
 * these.
 */
static bool parse_target(int key, char *arg, struct argp_state *state,
			 struct options *options)
{
	switch (key) {
	case 'p':
		add_pids(state, options, arg);
		return true;
	case KEY_ALL:
		options->all = true;
		return true;
	case KEY_EXE:
		if (options->exe)
			argp_error(state, "--exe: give only one");
		options->exe = arg;
		return true;
	case KEY_DROP:
		options->drop = true;
		return true;
	case KEY_BUFFER:
		options->buffer = parse_size(state, arg);
		return true;
	case KEY_CGROUP:
	case KEY_UNIT:
		if (options->cgroup)
			argp_error(state, "--cgroup and --unit: give only one");
		options->cgroup = key == KEY_UNIT ? unit_cgroup(arg) : arg;
		return true;
	case 'f':
		if (options->follow)
			argp_error(state, "no -ff; the nearest is -f -o FILE, with pids");
		options->follow = true;
		return true;
	case 'u':
		options->user = arg;
		return true;
	case 'E':
		add_env(options, arg);
		return true;
	case 'e':
		parse_set(state, options, arg);
		return true;
	}
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (parse_text(key, arg, state, &options->text) ||
	    parse_target(key, arg, state, options))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		break;
	case 'o':
		options->output = arg;
		break;
	case 'A':
		options->append = true;
		break;
	case 'c':
		options->summary = true;
		break;
	case 'C':
		options->summary_too = true;
		break;
	case 'q':
		options->quiet++;
		break;
	case 'y':
		if (options->paths)
			argp_error(state, "no -yy; the nearest is -y");
		options->paths = true;
		break;
	case 'I':
		parse_interruptible(state, options, arg);
		break;
	case 'w':
	case KEY_NOTHING:
		break;
	case 'V':
		printf("utrace %s\n", VERSION);
		exit(0);
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_strace(int key, char *arg, struct argp_state *state)
{
	const char *instead = strace_instead(key);

	(void)arg;
	if (!instead)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "%s", instead);
	return 0;
}

/* Check whether there are targets other than a program to execute. */
bool options_attach(const struct options *options)
{
	return options->npids || options->all || options->exe || options->cgroup;
}

static void check(const struct options *options, enum command command)
{
	const char *program = options->program[0];

	if (options->all && program)
		fail("--all", "it traces all programs, so give none");
	if (command == COMMAND_RUN && !program)
		fail("run", "which program? 'utrace run PROGRAM'");
	if (command == COMMAND_ATTACH && (program || !options_attach(options)))
		fail("attach", "give -p PID, --all, --exe, --cgroup or --unit");
	if (!program && !options_attach(options))
		fail("which program or process?",
		     "'utrace PROGRAM' or 'utrace -p PID'; see 'utrace --help'");
	if (!program && (options->user || options->nenv))
		fail("-u and -E", "they are about a program, so give one");
}

/* Check whether a short option takes an argument. */
static bool takes_argument(char letter)
{
	const struct argp_option *option;

	for (option = our_options; option->name || option->key; option++)
		if (option->key == letter)
			return option->arg;
	return false;
}

/*
 * Check whether the options end with -a without an argument, which has traced
 * all processes once.  getopt() would only say that the argument is missing.
 */
static bool is_old_all(int argc, char **argv)
{
	const char *letter;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		for (letter = argv[i] + 1; *letter; letter++) {
			if (*letter == '-' || takes_argument(*letter))
				break;
		}
		if (*letter == 'a' && !letter[1] && i == argc - 1)
			return true;
		if (*letter && *letter != '-' && !letter[1])
			i++;
	}
	return false;
}

/**
 * options_parse() - parse the options, and the program after them
 * @options: filled in
 * @argc: number of words
 * @argv: words; the first one is the command, its pointer is replaced
 * @command: the command that the first word names
 *
 * The command ends with a message if an option is wrong.
 */
void options_parse(struct options *options, int argc, char **argv,
		   enum command command)
{
	static char name[32] = "utrace";
	struct argp strace = { strace_options, parse_strace };
	struct argp_child children[] = { { &strace }, {} };
	struct argp argp = {
		.options = our_options,
		.parser = parse,
		.args_doc = "PROGRAM [ARG...]\n-p PID...",
		.doc = "Trace a program from its start and end with its status; "
		       "or trace running processes, until they end or Ctrl-C.",
		.children = children,
	};
	int first = argc;

	*options = (struct options){
		.text = { .max_string = 32, .column = 40 },
	};
	if (command != COMMAND_NONE)
		snprintf(name, sizeof(name), "utrace %s", argv[0]);
	argv[0] = name;
	argp_err_exit_status = STATUS_FAILED;
	if (is_old_all(argc, argv))
		fail("-a", "give a column, as to strace; --all traces all processes");
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, &first, options);
	options->program = argv + first;
	check(options, command);
	if (!options->interruptible)
		options->interruptible = options->output && options->program[0] ?
					 INTERRUPT_NEVER : INTERRUPT_WAITING;
	if (options->output && options->program[0] && !options->quiet)
		options->quiet = 1;
	options->text.quiet = options->quiet > 1;
	options->text.pids = options->follow || options->npids > 1 ||
			     options->all || options->exe || options->cgroup ||
			     (options->npids && options->program[0]);
}
