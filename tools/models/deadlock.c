// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - deadlocks of barriers in callbacks
 *
 * Each of three tasks is in a callback of an engine and may call a barrier on
 * any engine there.  The barrier waits until no other task is in a callback of
 * that engine.  A task sets TASK_WAITS before it searches for such tasks, and
 * its barrier is refused if one of them has TASK_WAITS as well.
 *
 * The properties: all three tasks end, and a barrier is not refused if no other
 * task waits.
 */
#include "explore.h"

#define NTASKS		3

enum var {
	WAITS,					/* for each task */
	IN		= WAITS + NTASKS,	/* engine of its callback */
	U_LOCK		= IN + NTASKS,
};

static const char *const vars[] = {
	"TASK_WAITS of 1", "TASK_WAITS of 2", "TASK_WAITS of 3",
	"now of 1", "now of 2", "now of 3",
	"u->lock of 1", "u->lock of 2", "u->lock of 3",
};

/* Bits of a variant. */
enum {
	ONE_ENGINE	= 1 << 0,	/* all tasks are in one engine */
	TWO_ENGINES	= 1 << 1,	/* two tasks are in one engine */
	ALONE		= 1 << 2,	/* only one task calls a barrier */
	LOCKLESS	= 1 << 3,	/* a check takes no u->lock */
	/* Mutants. */
	LOOK_EARLY	= 1 << 4,	/* checks precede TASK_WAITS */
	NO_MB		= 1 << 5,	/* no smp_mb() after TASK_WAITS */
	NO_REFUSAL	= 1 << 6,	/* no barrier is refused */
};

struct state {
	struct machine m;
	struct waiter {
		__u8 target;	/* engine of the barrier; 0: no barrier */
		__u8 inside;	/* tasks to wait for, as bits */
		__u8 refused;
		__u8 i;		/* the task to check */
	} task[NTASKS];
};

/*
 * Check whether to wait for task ->i, and whether it waits.  The u->lock of
 * that task is held, unless LOCKLESS; the lock makes a full barrier
 * unnecessary.
 */
static void look(struct waiter *w)
{
	if (load(IN + w->i) != w->target)
		return;
	w->inside |= 1 << w->i;
	if (load(WAITS + w->i) && !has(NO_REFUSAL))
		w->refused = 1;
}

static bool all_left(const struct waiter *w)
{
	unsigned int i;

	for (i = 0; i < NTASKS; i++)
		if ((w->inside & (1 << i)) && load(IN + i) == w->target)
			return false;
	return true;
}

static void task(struct state *s, unsigned int me)
{
	struct waiter *w = &s->task[me];

	BEGIN;
	STEP("barrier on an engine, or none");
	if (!has(ALONE) || !me)
		w->target = choose(NTASKS + 1);
	if (!w->target)
		goto out;
	if (!has(LOOK_EARLY)) {
		LOCK(U_LOCK + me);
		STEP("TASK_WAITS");
		store(WAITS + me, 1);
		UNLOCK(U_LOCK + me);
		if (!has(NO_MB)) {
			STEP("smp_mb()");
			fence();
		}
	}
	for (w->i = 0; w->i < NTASKS; w->i++) {
		if (w->i == me)
			continue;
		if (!has(LOCKLESS))
			LOCK(U_LOCK + w->i);
		STEP("in a callback? TASK_WAITS?");
		look(w);
		if (!has(LOCKLESS))
			UNLOCK(U_LOCK + w->i);
	}
	if (has(LOOK_EARLY)) {
		LOCK(U_LOCK + me);
		STEP("TASK_WAITS");
		store(WAITS + me, 1);
		UNLOCK(U_LOCK + me);
	}
	if (!w->refused)
		AWAIT("sleep until they left", all_left(w));
	if (w->refused && has(ALONE))
		fail("refused without another waiter");
	LOCK(U_LOCK + me);
	STEP("no TASK_WAITS");
	store(WAITS + me, 0);
	UNLOCK(U_LOCK + me);
out:
	STEP("the callback returns");
	store_release(IN + me, 0);
	w->inside = 0;
	END;
}

static void init(struct state *s)
{
	unsigned int i;

	for (i = 0; i < NTASKS; i++)
		s->m.mem[IN + i] = has(ONE_ENGINE) ? 1 :
				   has(TWO_ENGINES) ? 1 + i / 2 : 1 + i;
}

static void at_end(struct state *s)
{
	if (!done(0) || !done(1) || !done(2))
		fail("tasks wait for each other");
}

static const struct thread threads[] = {
	{ "task 1", task },
	{ "task 2", task },
	{ "task 3", task },
	{}
};

#define CYCLE	"tasks wait for each other"

static const struct variant variants[] = {
	{ "barriers in callbacks", false, 0, NULL },
	{ "barriers in callbacks, PSO", true, 0, NULL },
	{ "barriers in callbacks of two engines", false, TWO_ENGINES, NULL },
	{ "barriers in callbacks of one engine", false, ONE_ENGINE, NULL },
	{ "barrier in a callback, one alone", false, ALONE, NULL },
	{ "barriers in callbacks, locks alone, PSO", true, NO_MB, NULL },
	{ "barriers in callbacks, barrier alone", false, LOCKLESS, NULL },
	{ "barriers in callbacks, never refused", false, NO_REFUSAL, CYCLE },
	{ "barriers in callbacks with checks before TASK_WAITS", false,
	  LOOK_EARLY, CYCLE },
	{ "barriers in callbacks with neither", false, LOCKLESS | NO_MB,
	  CYCLE },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= NTASKS,
	.init		= init,
	.end		= at_end,
	.variants	= variants,
};
