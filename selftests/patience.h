/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many times longer than usual things take on this machine: limits by the
 * clock are there to end what hangs, and are multiplied by it.
 */
#ifndef UTRACE_PATIENCE_H
#define UTRACE_PATIENCE_H

#include <stdlib.h>

static inline int ut_patience(void)
{
	const char *text = getenv("PATIENCE");
	int n = text ? atoi(text) : 1;

	return n > 1 ? n : 1;
}

#endif /* UTRACE_PATIENCE_H */
