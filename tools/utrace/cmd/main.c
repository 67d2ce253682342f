// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - main() of the command utrace
 *
 * The command traces programs by /dev/utrace and prints their events in the
 * style of strace (trace/trace.c).  ps.c has the command ps, branch/branches.c
 * the command branches, and marker/markers.c the command markers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/array_size.h>

#include "branch/branches.h"
#include "lib/fail.h"
#include "marker/markers.h"
#include "output.h"
#include "ps.h"
#include "trace/trace.h"

static const char usage[] =
	"Usage: utrace [OPTION...] PROGRAM [ARG...]\n"
	"       utrace [OPTION...] -p PID...\n"
	"       utrace COMMAND ...\n"
	"Follow programs without stopping them, even while being debugged.\n"
	"\n"
	"  run [OPTION...] [--] PROGRAM [ARG...]   trace a program from its start\n"
	"  attach [OPTION...] -p PID...            trace running processes\n"
	"  ps [PID...]                             list who traces what\n"
	"  branches record|report|--last N ...     record the branches of programs\n"
	"  markers list|trace|status ...           SDT markers and functions of\n"
	"                                          programs\n"
	"\n"
	"'utrace COMMAND --help' lists the options of a command; without a command\n"
	"they are those of run and attach.  Put '--' or 'run' before\n"
	"a program that has the name of a command.\n";

static int cmd_run(int argc, char **argv)
{
	return trace_main(argc, argv, COMMAND_RUN);
}

static int cmd_attach(int argc, char **argv)
{
	return trace_main(argc, argv, COMMAND_ATTACH);
}

static const struct {
	const char *name;
	int (*function)(int argc, char **argv);
} commands[] = {
	{ "run", cmd_run },
	{ "attach", cmd_attach },
	{ "ps", ps_main },
	{ "branches", branches_main },
	{ "markers", markers_main },
};

/* Fail if the output could not be written. */
static void check_stdout(void)
{
	if (!ferror(stdout) && !fflush(stdout))
		return;
	say("standard output", strerror(errno));
	_exit(STATUS_FAILED);
}

int main(int argc, char **argv)
{
	size_t i, n = ARRAY_SIZE(commands);

	output_reserve();
	atexit(check_stdout);
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage, argc < 2 ? stderr : stdout);
		return argc < 2 ? STATUS_FAILED : 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("utrace %s\n", VERSION);
		return 0;
	}
	for (i = 0; i < n; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].function(argc - 1, argv + 1);
	return trace_main(argc, argv, COMMAND_NONE);
}
