/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the command markers
 */
#ifndef UTRACE_MARKER_MARKERS_H
#define UTRACE_MARKER_MARKERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/launch.h"

/**
 * struct markers_options - options of the user
 * @launch: the program to be executed; @launch.program[0] is NULL if there is
 *	none
 * @pid: -p: the process to attach to, 0 for none
 * @names: FILEs of list, MARKERs of trace, PIDs of status; never freed
 * @n: number of elements of @names
 * @output: -o: file to write to; NULL for standard error
 * @follow: -f: trace new processes as well
 * @all: -a: trace all processes
 * @drop: --drop: the tasks do not wait, and records may be lost
 * @force: --force: trace returns in programs of Go
 * @count: --count: show counts instead of hits
 * @histogram: --histogram: number of the argument, from 1; 0 for none
 * @args: --args: arguments of functions to show
 */
struct markers_options {
	struct launch launch;
	pid_t pid;
	char **names;
	unsigned int n;
	const char *output;
	bool follow;
	bool all;
	bool drop;
	bool force;
	bool count;
	unsigned int histogram;
	unsigned int args;
};

int markers_main(int argc, char **argv);
int markers_list(const struct markers_options *options);
int markers_trace(struct markers_options *options);
int markers_status(const struct markers_options *options);

#endif /* UTRACE_MARKER_MARKERS_H */
