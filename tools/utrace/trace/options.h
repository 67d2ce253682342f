/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - options of a trace
 */
#ifndef UTRACE_TRACE_OPTIONS_H
#define UTRACE_TRACE_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/launch.h"
#include "cmd/signals.h"
#include "format/calls.h"
#include "format/text.h"
#include "summary.h"
#include "tips.h"

/**
 * struct options - options of the user, set by options_parse()
 * @text: how records are written
 * @calls: -e trace=: system calls to show
 * @chosen: -e trace= was given, so @calls is valid
 * @follow: -f: trace new threads and processes as well
 * @detach_on_execve: -b execve: no trace of a task after its execve()
 * @daemon: -D: a grandchild traces the program
 * @debug: -d: show what is asked of the kernel
 * @tips: --tips: the tip at the end
 * @summary: -c: print a summary and no calls
 * @table: how the summary is printed
 * @summary_too: -C: print calls and a summary
 * @output: -o: file to write to; NULL for standard error
 * @append: -A: append to the file
 * @separately: -ff: a file for each task
 * @nquiet: number of options -q and --quiet
 * @interruptible: -I: when the command can be interrupted
 * @pids: -p: tasks to attach to; never freed
 * @npids: number of elements of @pids
 * @all: --all: attach to all tasks
 * @drop: --drop: tasks do not wait for this command, and records may be lost
 * @buffer: --buffer-size: bytes of all rings, 0 for the default
 * @exe: --exe: attach to the processes that execute this file, or NULL
 * @cgroup: --cgroup or --unit: attach to the processes in this cgroup, or NULL
 * @user: -u: user to execute the program as, or NULL
 * @env: -E: VAR=VALUE to set and VAR to remove, in their order; never freed
 * @nenv: number of elements of @env
 * @program: words of the program to execute, terminated by NULL; @program[0] is
 *	NULL if there is no program
 */
struct options {
	struct text text;
	struct calls calls;
	bool chosen;
	bool follow;
	bool detach_on_execve;
	enum daemon daemon;
	bool debug;
	struct tips tips;
	bool summary;
	bool summary_too;
	struct summary_options table;
	const char *output;
	bool append;
	bool separately;
	unsigned int nquiet;
	enum interruptible interruptible;
	pid_t *pids;
	unsigned int npids;
	bool all;
	bool drop;
	size_t buffer;
	const char *exe;
	const char *cgroup;
	const char *user;
	char **env;
	unsigned int nenv;
	char **program;
};

/* The command word before the options. */
enum command {
	COMMAND_NONE,
	COMMAND_RUN,
	COMMAND_ATTACH,
};

void options_parse(struct options *options, int argc, char **argv,
		   enum command command);
bool options_attach(const struct options *options);

#endif /* UTRACE_TRACE_OPTIONS_H */
