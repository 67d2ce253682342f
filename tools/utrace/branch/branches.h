/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the command branches
 */
#ifndef UTRACE_BRANCH_BRANCHES_H
#define UTRACE_BRANCH_BRANCHES_H

#include <stdbool.h>
#include <sys/types.h>

#include <linux/types.h>

#include "cmd/launch.h"

/**
 * struct branches_options - options of the user
 * @launch: the program to be executed; @launch.program[0] is NULL if there is
 *	none
 * @pid: -p: the process to attach to, 0 for none
 * @file: -o: file to write, or NULL; of report: the file to read
 * @follow: -f: record new processes as well
 * @drop: --drop: the tasks do not wait, and records may be lost
 * @ring: -n: capacity of the ring in records, 0 for the default
 * @last: --last: number of branches to keep
 * @edges: --edges: number of edges to show
 * @functions: --functions: number of functions to show
 * @flame: --flame: file for the flame graph, or NULL
 * @source: --source: show source lines
 * @command: the command line
 */
struct branches_options {
	struct launch launch;
	pid_t pid;
	const char *file;
	bool follow;
	bool drop;
	__u64 ring;
	__u64 last;
	unsigned int edges;
	unsigned int functions;
	const char *flame;
	bool source;
	char command[4096];
};

int branches_main(int argc, char **argv);
int branches_record(struct branches_options *options);
int branches_report(const struct branches_options *options);
int branches_last(struct branches_options *options);
int branches_test(void);

#endif /* UTRACE_BRANCH_BRANCHES_H */
