// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - failures of the command itself
 */
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"

/* Print a message, one line on standard error. */
void say(const char *what, const char *why)
{
	fprintf(stderr, "utrace: %s: %s\n", what, why);
}

/* Print a message and end the command. */
void fail(const char *what, const char *why)
{
	say(what, why);
	exit(STATUS_FAILED);
}
