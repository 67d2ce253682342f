/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - tests for a sole tracer, first or further
 *
 * The tracer is @s.  In the variant "further" @p was the first tracer, and has
 * left.  What a test expects of the variant "first" is what a kernel without
 * utrace does.
 */
#ifndef UTRACE_SOLE_H
#define UTRACE_SOLE_H

#include "two.h"

FIXTURE_VARIANT(tracers) {
	bool further;
	bool beside;	/* @p stays */
};

FIXTURE_VARIANT_ADD(tracers, first)
{
	.further = false,
};

FIXTURE_VARIANT_ADD(tracers, further)
{
	.further = true,
};

#define sole_variant	FIXTURE_VARIANT(tracers)

/* Let @tr trace @pid as the variant says, with @before as the first tracer. */
static inline long sole_seize_by(const sole_variant *variant,
				 struct two_tracer *before,
				 struct two_tracer *tr, pid_t pid, long options)
{
	long ret = variant->further ? two_seize(before, pid, 0) : 0;

	ret = ret ?: two_seize(tr, pid, options);
	if (ret || !variant->further || variant->beside)
		return ret;
	return two_leave(before, pid) ? 0 : -EIO;
}

static inline long sole_seize(struct two_data *self,
			      const sole_variant *variant, pid_t pid,
			      long options)
{
	return sole_seize_by(variant, &self->p, &self->s, pid, options);
}

#endif /* UTRACE_SOLE_H */
