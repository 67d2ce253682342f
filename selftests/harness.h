/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - kselftest_harness.h with a longer limit for each test
 *
 * Every test in C includes this file for the harness.  PATIENCE in the
 * environment multiplies the limit.
 */
#ifndef UTRACE_HARNESS_H
#define UTRACE_HARNESS_H

#include "../kselftest_harness.h"
#include "patience.h"

/*
 * The limit of one test in seconds: TEST_F() expands to this macro.  The limit
 * is much less than that of the program (settings), so that the remaining tests
 * still run after one that hangs.
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(120 * ut_patience())

#endif /* UTRACE_HARNESS_H */
