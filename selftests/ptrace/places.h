/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - one tracer in each place among the tracers of a task
 *
 * The variants of a test differ in the place of one tracer.  The expected
 * results are those of a sole tracer on a kernel without utrace.  So the
 * variant "sole" is the reference for the other variants.
 */
#ifndef UTRACE_PLACES_H
#define UTRACE_PLACES_H

#include "two.h"

FIXTURE_VARIANT(tracers) {
	int attach;	/* the number of tracers, in the order p, s, s2 */
	bool leaves;	/* the first tracer leaves after the attaches */
	int one;	/* the number of the tracer that is tested */
	int other;	/* the number of the other tracer, -1: none */
	bool both;	/* the other tracer makes the same requests */
};

/* The data of the variant, for functions of a test. */
#define two_variant _fixture_variant_tracers

static inline struct two_tracer *place_tracer(struct two_data *self, int i)
{
	struct two_tracer *tr[] = { &self->p, &self->s, &self->s2 };

	return i < 0 ? NULL : tr[i];
}

/* Attach the tracers of the variant to the task, which runs. */
static inline bool place_seize(struct two_data *self,
			       const struct two_variant *variant, long of_one,
			       long of_other)
{
	pid_t pid = self->t.pid;
	long options;
	int i;

	for (i = 0; i < variant->attach; i++) {
		options = i == variant->one ? of_one :
			  i == variant->other ? of_other : 0;
		if (two_seize(place_tracer(self, i), pid, options))
			return false;
	}
	return !variant->leaves || two_leave(&self->p, pid);
}

/* The unpatched kernel has this variant only. */
FIXTURE_VARIANT_ADD(tracers, sole) { .attach = 1, .one = 0, .other = -1 };

FIXTURE_VARIANT_ADD(tracers, first_beside_a_further)
{
	.attach = 2, .one = 0, .other = 1,
};

FIXTURE_VARIANT_ADD(tracers, further_beside_the_first)
{
	.attach = 2, .one = 1, .other = 0,
};

FIXTURE_VARIANT_ADD(tracers, further_alone)
{
	.attach = 2, .leaves = true, .one = 1, .other = -1,
};

FIXTURE_VARIANT_ADD(tracers, older_of_two_further)
{
	.attach = 3, .leaves = true, .one = 1, .other = 2,
};

FIXTURE_VARIANT_ADD(tracers, newer_of_two_further)
{
	.attach = 3, .leaves = true, .one = 2, .other = 1,
};

#endif /* UTRACE_PLACES_H */
