// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - main() of the command utrace
 *
 * The command traces programs by /dev/utrace and prints what they do in the
 * manner of strace.  trace.c has the commands run and attach.
 */
#include <stdio.h>
#include <string.h>

#include "trace.h"

static const char usage[] =
	"Usage: utrace COMMAND [OPTION...]\n"
	"Follow programs without stopping them, also those that are being debugged.\n"
	"\n"
	"  run [OPTION...] [--] PROGRAM [ARG...]   trace a program from its start\n"
	"  attach [OPTION...] -p PID...            trace processes that run\n"
	"\n"
	"'utrace COMMAND --help' lists the options of a command.\n";

static const struct {
	const char *name;
	int (*function)(int argc, char **argv);
} commands[] = {
	{ "run", cmd_run },
	{ "attach", cmd_attach },
};

int main(int argc, char **argv)
{
	size_t i, n = sizeof(commands) / sizeof(*commands);

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
	fprintf(stderr, "utrace: there is no command '%s'; 'utrace --help' lists them\n",
		argv[1]);
	return STATUS_FAILED;
}
