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

/*
 * A fixture with variants, FIXTURE_VARIANT(fixture_name), that has the data, the
 * setup and the teardown of the fixture @base.  The data are self->base.
 */
#define FIXTURE_LIKE(base_name, fixture_name)				\
	struct _test_data_##fixture_name;				\
									\
	FIXTURE(fixture_name) {						\
		FIXTURE_DATA(base_name) base;				\
	};								\
									\
	FIXTURE_SETUP(fixture_name)					\
	{								\
		base_name##_setup(_metadata, &self->base, NULL);	\
	}								\
									\
	FIXTURE_TEARDOWN(fixture_name)					\
	{								\
		base_name##_teardown(_metadata, &self->base, NULL);	\
	}

#endif /* UTRACE_HARNESS_H */
