/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - results of a program that tests functions of the command
 *
 * Each such program is one source.
 */
#ifndef UTRACE_TESTS_CHECK_H
#define UTRACE_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>

static bool failed;

/* The command frees much of its memory only by its end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void holds(bool right, const char *text)
{
	printf("%sok %s\n", right ? "" : "not ", text);
	failed |= !right;
}

#endif /* UTRACE_TESTS_CHECK_H */
