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

#include <linux/array_size.h>

#include "cmd/output.h"
#include "format/paths.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "options.h"
#include "options_text.h"
#include "strace.h"
#include "unit.h"

/* Limits of --buffer-size, see struct utrace_ioc_setup. */
#define BUFFER_MIN	(64UL << 10)
#define BUFFER_MAX	(64UL << 20)

#define OPTIONAL	OPTION_ARG_OPTIONAL

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
	  "Size of the buffer for records, from 64K to 64M" },
	{ "detach-on", 'b', "CALL", 0,
	  "Do not trace a task any more after this call; only execve" },
	{ NULL, 'D', NULL, 0,
	  "The command becomes the program, and a grandchild traces it; -DD: in a "
	  "process group of its own, -DDD: in a session of its own" },
	{ "daemonize", KEY_DAEMON, "HOW", OPTIONAL,
	  "As -D: grandchild (-D), pgroup (-DD) or session (-DDD)" },
	{ "follow-forks", 'f', NULL, 0, "Also trace new threads and processes" },
	{ "user", 'u', "USER", 0, "Execute the program as this user" },
	{ "env", 'E', "VAR[=VALUE]", 0, "Set a variable for the program, or remove it" },
	{ "output", 'o', "FILE", 0,
	  "Write to FILE instead of standard error, or to a shell command with | or ! before it" },
	{ "output-separately", KEY_SEPARATELY, NULL, 0,
	  "A file for each task: the FILE of -o with its number (-ff: and -f)" },
	{ "output-append-mode", 'A', NULL, 0, "Append to the FILE of -o" },
	{ NULL, 'e', "NAME=SET", 0,
	  "The option --NAME=SET, such as -e trace=read; SET alone means "
	  "trace=SET" },
	{ "trace", KEY_TRACE, "SET", 0,
	  "Only these system calls: names, numbers, %file, %desc, %process and "
	  "other groups, /REGEX, separated by commas; ! before it: all other "
	  "calls" },
	{ "summary-only", 'c', NULL, 0, "Count calls, errors and time instead of showing calls" },
	{ "summary", 'C', NULL, 0, "Show calls and also count them" },
	{ "summary-columns", 'U', "COLUMNS", 0,
	  "Columns of the summary: time-percent, total-time, min-time, max-time, "
	  "avg-time, calls, errors, name, p50-time, p99-time; errnos: errors by "
	  "name; all" },
	{ "summary-sort-by", 'S', "COLUMN", 0,
	  "Sort the summary by time (default), min-time, max-time, avg-time, "
	  "calls, errors, name, nothing" },
	{ "summary-syscall-overhead", 'O', "TIME", 0,
	  "Subtract this from the time of each call" },
	{ "summary-wall-clock", 'w', NULL, 0,
	  "The summary has the time that passes (always)" },
	{ "interruptible", 'I', "N", 0,
	  "When signals end the trace: 1 at once, 2 after a detach (default), 3 "
	  "never (default of -o FILE PROGRAM), 4 nor does Ctrl-Z stop it" },
	{ "debug", 'd', NULL, 0, "Show what is asked of the kernel" },
	{ "tips", KEY_TIPS, "ID,FORMAT", OPTIONAL,
	  "Show a tip at the end: a number or random; none, compact or full" },
	{ "version", 'V', NULL, 0, "Print the version" },
	{ NULL, 'h', NULL, 0, "Print this list" },
	/* Accepted and ignored: the command always does what these turn on. */
	{ "seccomp-bpf", KEY_NOTHING, NULL, 0, "No effect, for scripts of strace" },
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

static void parse_calls(struct argp_state *state, struct options *options,
			const char *set)
{
	const char *wrong = calls_parse(&options->calls, set);

	if (wrong)
		argp_error(state, "-e trace=%s: %s", set, wrong);
	options->chosen = true;
	options->text.left_out = ~options->calls.unpacked;
}

/* Parse -e NAME=SET as the long option of that name, or its short form. */
static void parse_qualifier(struct argp_state *state, struct options *options,
			    char *arg)
{
	static const struct {
		const char *name;
		int key;
	} names[] = {
		{ "trace", KEY_TRACE }, { "t", KEY_TRACE },
		{ "signal", KEY_SIGNAL }, { "signals", KEY_SIGNAL },
		{ "s", KEY_SIGNAL }, { "status", KEY_STATUS },
		{ "quiet", KEY_QUIET }, { "silent", KEY_QUIET },
		{ "silence", KEY_QUIET }, { "q", KEY_QUIET },
		{ "abbrev", KEY_ABBREV }, { "a", KEY_ABBREV },
		{ "verbose", KEY_VERBOSE }, { "v", KEY_VERBOSE },
		{ "raw", KEY_RAW }, { "x", KEY_RAW },
		{ "decode-pids", KEY_DECODE_PIDS },
		{ "decode-pid", KEY_DECODE_PIDS },
		{ "read", KEY_READ }, { "reads", KEY_READ }, { "r", KEY_READ },
		{ "write", KEY_WRITE }, { "writes", KEY_WRITE },
		{ "w", KEY_WRITE }, { "decode-fds", KEY_DECODE_FDS },
		{ "decode-fd", KEY_DECODE_FDS },
	};
	char *equals = strchr(arg, '=');
	const char *instead;
	size_t i;

	if (!equals || strchr("!/?%", *arg)) {
		parse_calls(state, options, arg);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i].name) != (size_t)(equals - arg) ||
		    strncmp(arg, names[i].name, equals - arg))
			continue;
		if (names[i].key == KEY_TRACE)
			parse_calls(state, options, equals + 1);
		else
			text_argp.parser(names[i].key, equals + 1, state);
		return;
	}
	instead = strace_qualifier(arg, equals - arg);
	if (instead)
		argp_error(state, "%s", instead);
	argp_error(state, "there is no -e %.*s=; -e trace=SET is there",
		   (int)(equals - arg), arg);
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

/* Parse --daemonize.  @arg is NULL if it has no argument. */
static enum daemon parse_daemon(struct argp_state *state, const char *arg)
{
	static const char *const words[] = {
		[DAEMON_GRANDCHILD] = "grandchild",
		[DAEMON_PGROUP] = "pgroup",
		[DAEMON_SESSION] = "session",
	};
	enum daemon i;

	if (!arg)
		return DAEMON_GRANDCHILD;
	for (i = DAEMON_GRANDCHILD; i <= DAEMON_SESSION; i++)
		if (!strcmp(arg, words[i]))
			return i;
	argp_error(state, "--daemonize=%s: give grandchild, pgroup or session", arg);
	return DAEMON_NONE;
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
	/* A second word of strace for 1. */
	if (!strcmp(arg, "always"))
		options->interruptible = INTERRUPT_ANYWHERE;
	if (!options->interruptible)
		argp_error(state, "-I %s: give a number from 1 to 4", arg);
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
	case 'b':
		if (strcmp(arg, "execve"))
			argp_error(state, "-b %s: only execve is there", arg);
		options->detach_on_execve = true;
		return true;
	case 'D':
		if (options->daemon < DAEMON_SESSION)
			options->daemon++;
		return true;
	case KEY_DAEMON:
		options->daemon = parse_daemon(state, arg);
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
		options->separately |= options->follow;
		options->follow = true;
		return true;
	case 'u':
		options->user = arg;
		return true;
	case 'E':
		add_env(options, arg);
		return true;
	case 'e':
		parse_qualifier(state, options, arg);
		return true;
	case KEY_TRACE:
		parse_calls(state, options, arg);
		return true;
	}
	return false;
}

/* Parse the options for the summary. */
static void parse_table(int key, const char *arg, struct argp_state *state,
			struct summary_options *table)
{
	const char *wrong;

	if (key == 'U')
		wrong = summary_columns(table, arg);
	else if (key == 'S')
		wrong = summary_sort(table, arg);
	else
		wrong = summary_overhead(table, arg);
	if (wrong)
		argp_error(state, "-%c %s: %s", key, arg, wrong);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (parse_target(key, arg, state, options))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		state->child_inputs[1] = options;
		break;
	case 'o':
		options->output = arg;
		break;
	case 'A':
		options->append = true;
		break;
	case 'd':
		options->debug = true;
		break;
	case KEY_TIPS:
		if (!tips_parse(&options->tips, arg))
			argp_error(state, "--tips=%s: give a number or random, and none, "
				   "compact or full", arg);
		break;
	case KEY_SEPARATELY:
		options->separately = true;
		break;
	case 'c':
		options->summary = true;
		break;
	case 'C':
		options->summary_too = true;
		break;
	case 'U':
	case 'S':
	case 'O':
		parse_table(key, arg, state, &options->table);
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

	if (options->separately && output_is_command(options->output))
		fail("-ff", "a shell command of -o reads one log, so give a file");
	if (options->daemon && !program)
		fail("-D", "it is about a program, so give one");
	if (options->daemon && options_attach(options))
		fail("-D and -p", "a grandchild traces either a program or processes; give one");
	if (options->summary && options->summary_too)
		fail("-c and -C", "one shows no calls, the other does; give one");
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

static bool has_argument(const struct argp_option *option, char letter)
{
	for (; option->name || option->key; option++)
		if (option->key == letter)
			return option->arg;
	return false;
}

/* Check whether a short option takes an argument. */
static bool takes_argument(char letter)
{
	return has_argument(our_options, letter) ||
	       has_argument(text_argp.options, letter) ||
	       has_argument(strace_options, letter);
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
	struct argp_child children[] = { { &text_argp }, { &strace }, {} };
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
		.text = TEXT_DEFAULT,
		.table = { .sort = SUMMARY_TOTAL },
	};
	summary_columns(&options->table,
			"time-percent,total-time,avg-time,calls,errors");
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
	if (options->output && options->program[0] && !options->nquiet)
		options->text.quiet |= QUIET_ATTACH;
	if (options->separately && options->output)
		options->text.separately = options->output;
	options->text.append = options->append;
	paths_resolve(&options->text);
	/* With -f on a terminal, the tasks that there are at a time decide. */
	options->text.pids = (options->follow && (options->output || options->npids)) ||
			     options->npids > 1 || options->all ||
			     options->exe || options->cgroup ||
			     (options->npids && options->program[0]);
}
