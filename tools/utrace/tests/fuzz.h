/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - run functions of the command with damaged input
 */
#ifndef UTRACE_TESTS_FUZZ_H
#define UTRACE_TESTS_FUZZ_H

#include <stddef.h>

/*
 * Call the function under test; each fuzz_*.c has its own.  It runs in a child,
 * which it may end, as fail() does.  A NUL follows the @n bytes of @data.
 */
void fuzz_one(char *data, size_t n);

/* Return a descriptor of a file that has these bytes. */
int fuzz_file(const char *data, size_t n);

#endif /* UTRACE_TESTS_FUZZ_H */
