/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - options that run and attach have in common
 */
#ifndef UTRACE_OPTIONS_H
#define UTRACE_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "calls.h"
#include "text.h"

/**
 * struct options - options of the user, set by options_parse()
 * @text: how records are written
 * @calls: -e trace=: system calls to show
 * @chosen: -e trace= was given, so @calls is valid
 * @follow: -f: trace new processes, too
 * @summary: -c: print a summary and no calls
 * @summary_too: -C: print calls and a summary
 * @paths: -y: show the paths behind file descriptors
 * @output: -o: file to write to; NULL for standard error
 * @pids: -p: processes to attach to; never freed
 * @npids: number of elements of @pids
 */
struct options {
	struct text text;
	struct calls calls;
	bool chosen;
	bool follow;
	bool summary;
	bool summary_too;
	bool paths;
	const char *output;
	pid_t *pids;
	unsigned int npids;
};

int options_parse(struct options *options, int argc, char **argv, bool attach);

#endif /* UTRACE_OPTIONS_H */
