/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - two tracers of an actor, of which one does something
 *
 * In the variant "first" that tracer is the first tracer @p, in the variant
 * "further" the further tracer @s.
 */
#ifndef UTRACE_EITHER_H
#define UTRACE_EITHER_H

#include "two.h"

FIXTURE(either) {
	struct two_data two;
	struct ut_target *t;
	struct two_tracer *one, *other;
};

FIXTURE_VARIANT(either) {
	bool further;
};

FIXTURE_VARIANT_ADD(either, first) { .further = false };
FIXTURE_VARIANT_ADD(either, further) { .further = true };

FIXTURE_SETUP(either)
{
	struct two_data *two = &self->two;

	tracers_setup(_metadata, two, NULL);
	self->t = &two->t;
	self->one = variant->further ? &two->s : &two->p;
	self->other = variant->further ? &two->p : &two->s;
}

FIXTURE_TEARDOWN(either)
{
	tracers_teardown(_metadata, &self->two, NULL);
}

#define either_data _test_data_either

/* Start the actor with both tracers; the options are those of @one. */
static inline bool either_seize(struct either_data *self, long options)
{
	bool further = self->one == &self->two.s;

	return two_seize_both(&self->two, further ? 0 : options,
			      further ? options : 0);
}

#endif /* UTRACE_EITHER_H */
