/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the fixture of most tests
 *
 * The setup opens the device; a test spawns @t itself.  The teardown fails the
 * test if an engine was not released, and kills all targets.
 */
#ifndef UTRACE_FIXTURE_H
#define UTRACE_FIXTURE_H

#include "target.h"

FIXTURE(utrace) {
	struct ut_target t;
	int status;
};

FIXTURE_SETUP(utrace)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(utrace)
{
	EXPECT_EQ(0, ut_close());
	if (self->t.sh)
		self->t.sh->quit = 1;
	ut_kill_targets();
}

#endif /* UTRACE_FIXTURE_H */
