/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - how much longer than usual this machine takes
 *
 * Limits by the clock exist to end what hangs.  They are multiplied by PATIENCE
 * from the environment, so that a busy or emulated machine does not exceed
 * them.
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
