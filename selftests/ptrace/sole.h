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
	bool user;	/* the tracee belongs to a user without rights */
};

FIXTURE_VARIANT_ADD(tracers, first) { .further = false };
FIXTURE_VARIANT_ADD(tracers, further) { .further = true };

#define sole_variant	FIXTURE_VARIANT(tracers)

/*
 * Call these before and after a tracer attaches to @pid.  In the variant
 * "further", @before is the first tracer, and leaves at the end.
 */
static inline bool sole_begin(const sole_variant *variant,
			      struct two_tracer *before, pid_t pid)
{
	return !variant->further || !two_seize(before, pid, 0);
}

static inline bool sole_end(const sole_variant *variant,
			    struct two_tracer *before, pid_t pid)
{
	return !variant->further || variant->beside || two_leave(before, pid);
}

/* Let @s trace @pid as the variant says; 0 or -errno. */
static inline long sole_seize(struct two_data *self,
			      const sole_variant *variant, pid_t pid,
			      long options)
{
	long ret;

	if (!sole_begin(variant, &self->p, pid))
		return -EIO;
	ret = two_seize(&self->s, pid, options);
	if (ret || sole_end(variant, &self->p, pid))
		return ret;
	return -EIO;
}

/* Elements of ut_shared.value that a follower counts. */
enum {
	SOLE_EVENTS,		/* of the tasks that start children */
	SOLE_CHILDREN,		/* first stops of their children */
	SOLE_SIGNALS,
};

/* Function of a target: trace t->arg and all that it starts, and pass all. */
static inline int sole_follows(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	int status;
	pid_t pid;

	if (ptrace(PTRACE_SEIZE, t->arg, 0, PASS_FOLLOWS))
		return 97;
	ut_say(t);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status))
			continue;
		if (status == TWO_TRAP && pid != t->arg)
			sh->value[SOLE_CHILDREN]++;
		else if (status >> 16 && status >> 16 != PTRACE_EVENT_STOP)
			sh->value[SOLE_EVENTS]++;
		else if (!(status >> 16))
			sh->value[SOLE_SIGNALS]++;
		pass_stop(pid, status);
	}
	return 0;
}

/* Let @follower trace the target of the test as the variant says. */
static inline bool sole_follow(struct two_data *self,
			       const sole_variant *variant,
			       struct ut_target *follower)
{
	pid_t pid = self->t.pid;

	follower->arg = pid;
	return sole_begin(variant, &self->p, pid) &&
	       ut_spawn(follower, sole_follows) && ut_hear(follower) &&
	       sole_end(variant, &self->p, pid);
}

#endif /* UTRACE_SOLE_H */
