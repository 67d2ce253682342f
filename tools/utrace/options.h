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
 * struct options - what the user wants
 * @text: how records are written
 * @calls: -e trace=
 * @chosen: it was given
 * @follow: -f
 * @summary: -c, and no text
 * @summary_too: -C, both
 * @paths: -y
 * @output: -o
 * @pids: -p
 * @npids: how many
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
