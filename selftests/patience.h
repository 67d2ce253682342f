/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - how much longer than usual this machine takes
 *
 * Limits by the clock exist to end what hangs.  They are multiplied by PATIENCE
 * from the environment, so that a busy or emulated machine does not exceed
 * them.  SLOW=1 says that the kernel is slow, and a test may do less.
 */
#ifndef UTRACE_PATIENCE_H
#define UTRACE_PATIENCE_H

#include <stdbool.h>
#include <stdlib.h>

static inline int ut_patience(void)
{
	const char *text = getenv("PATIENCE");
	int n = text ? atoi(text) : 1;

	return n > 1 ? n : 1;
}

static inline bool ut_is_slow(void)
{
	const char *text = getenv("SLOW");

	return text && atoi(text);
}

#endif /* UTRACE_PATIENCE_H */
