/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - feed functions of the command with damaged input
 */
#ifndef UTRACE_TESTS_FUZZ_H
#define UTRACE_TESTS_FUZZ_H

#include <stddef.h>

/*
 * The function under test, which each target has.  It runs in a process of its own and
 * may end that, as fail() does.  @data has a NUL behind its @n bytes.
 */
void fuzz_one(char *data, size_t n);

/* A descriptor of a file that has these bytes. */
int fuzz_file(const char *data, size_t n);

#endif /* UTRACE_TESTS_FUZZ_H */
