/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a task with two engines, of which the first keeps signals
 */
#ifndef UTRACE_KEEP_H
#define UTRACE_KEEP_H

#include "fixture.h"

static struct ut_shared *shared;

static inline void on_signal(int sig)
{
	shared->value[sig == SIGUSR1 ? 0 : 1]++;
}

static inline int target(struct ut_target *t)
{
	shared = t->sh;
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	ut_say(t);
	ut_spin(t);
	return 0;
}

#define KEEPS	(UT_STOP | UT_PASS | UT_STOP_HERE)

/* Have the engine answer @answer to the next @n reports of this kind. */
static inline bool set_rule(int id, enum ut_event event, int nr, int n, __u32 answer)
{
	struct ut_rule rule = {
		.id = id, .event = event, .match = nr, .count = n,
		.answer = answer,
	};

	return !ut_ioctl(UT_IOC_RULE, &rule);
}

/* Have the engine keep the next signal of this kind, and send the signal. */
static inline bool keep(int id, pid_t pid, enum ut_event event, int sig)
{
	return set_rule(id, event, sig, 1, KEEPS) && !kill(pid, sig) &&
	       ut_held(pid);
}

/*
 * Check that the engine was called @n times, and that each call but the first
 * one had UTRACE_SIGNAL_RESUMED.
 */
static inline bool was_called(int id, int event, int nr, int n)
{
	int found = ut_matches(0, id, event, UT_ANY, nr), i = -1, k;

	if (found != n)
		printf("# engine %d: %d calls, not %d\n", id, found, n);
	for (k = 0; k < found; k++) {
		i = ut_find(i + 1, id, event, UT_ANY, nr);
		if (!(ut_rec[i].action & UT_SIGNAL_RESUMED) == !k)
			continue;
		printf("# engine %d, call %d: action %#x\n", id, k,
		       ut_rec[i].action);
		return false;
	}
	return found == n;
}

#define had_signal(id, sig, n)	was_called(id, UT_ANY, sig, n)

/* Check that the handler of SIGUSR1 runs once and does not run again. */
static inline bool handled_once(struct ut_target *t)
{
	return ut_until(t->sh->value[0] == 1) && ut_stays(t->sh->value[0] == 1);
}

/* The data of the fixtures, for functions of a test. */
#define keep_data	_test_data_keep
#define group_data	_test_data_keep_group

FIXTURE(keep) {
	struct ut_target t;
	int status;
	int id;		/* keeps signals */
	int after;	/* is called after it */
};

FIXTURE_SETUP(keep)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn(&self->t, target));
	ASSERT_TRUE(ut_hear(&self->t));
	self->id = ut_attach(self->t.pid, 0, UT_SIGNAL_ALL | UT_BIT(JCTL));
	ASSERT_LT(0, self->id);
	self->after = ut_attach(self->t.pid, 0, UT_SIGNAL_ALL);
	ASSERT_LT(0, self->after);
}

FIXTURE_TEARDOWN(keep)
{
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

#endif /* UTRACE_KEEP_H */
