// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - tracers that work on a task in stacked stops, and SIGKILL
 *
 * The task stops for its first tracer, and then for an engine of a further one.
 * Each of the two tracers works on the registers of the task once; the further one
 * then lets the task go, and the first one may.  A killer comes at any time.  A
 * client of freeze.c sets FROZEN, the first tracer sets PTRACE_FROZEN and waits
 * until FROZEN is clear.  All of that is under siglock.
 *
 * In other variants a second further tracer is in the place of the first one.
 *
 * The properties: the task does not leave its stops while a tracer works on it,
 * the tracers do not work on it at the same time, and everybody comes to an end.
 */
#include "explore.h"

enum var {
	SIGLOCK, FROZEN, PTRACE_FROZEN, AWAITED, TRACED, UTRACE, HOLD, KILLED,
	STATE, LEFT, WOKEN, WOKEN_2, WORKS, WORKS_2,
};

static const char *const vars[] = {
	"siglock", "JOBCTL_UTRACE_FROZEN", "JOBCTL_PTRACE_FROZEN",
	"JOBCTL_UTRACE_AWAITED", "JOBCTL_TRACED", "JOBCTL_UTRACE", "hold",
	"SIGKILL", "__state", "left", "tracer 1 is woken", "tracer 2 is woken",
	"tracer 1 works", "tracer 2 works",
};

/* Numbers of the threads of tracers, also for the variables above. */
enum { TRACER_1 = 1, TRACER_2 };

#define WOKEN_OF(me)	(WOKEN + (me) - TRACER_1)
#define WORKS_OF(me)	(WORKS + (me) - TRACER_1)
#define OTHER(me)	(TRACER_1 + TRACER_2 - (me))
#define HOLD_OF(me)	(1 << (me))

/* Values of STATE. */
enum { RUNNING, TASK_TRACED, TASK_IDLE };

#define LEAVES		"the task leaves while a tracer works on it"
#define BOTH		"two tracers work at the same time"
#define STUCK		"somebody waits for ever"

/* Bits of a variant, all but the last of them mutants. */
enum {
	NO_LOOK		= 1 << 0,	/* the task does not look at FROZEN */
	NO_ALONE	= 1 << 1,	/* the first one does not wait */
	NO_ASK		= 1 << 2,	/* PTRACE_FROZEN is not looked at */
	NO_THAWED	= 1 << 3,	/* the first one does not tell */
	NO_STAND	= 1 << 4,	/* the task does not tell that it stands */
	NO_WAKE		= 1 << 5,	/* a thaw does not wake the task */
	NO_TURN		= 1 << 6,	/* FROZEN is not looked at */
	TWO_FURTHER	= 1 << 7,	/* no first tracer, two further ones */
};

struct state {
	struct machine m;
	__u8 again[3];		/* a further tracer has to try again */
	__u8 gone[3];		/* the task is dead for a further tracer */
	__u8 waits;		/* the first tracer has to wait */
};

/* The functions below are called in steps that have siglock. */

static void wake(unsigned int state)
{
	if (load(STATE) == state)
		store(STATE, RUNNING);
}

static void tell_thawed(void)
{
	if (!load(AWAITED))
		return;
	store(AWAITED, 0);
	store(WOKEN, 1);
	store(WOKEN_2, 1);
}

static void stand(enum var stop)
{
	store(stop, 1);
	store(STATE, TASK_TRACED);
	if (!has(NO_STAND))
		tell_thawed();
}

static void leave(void)
{
	store(LEFT, 1);
	if (load(WORKS) || load(WORKS_2))
		fail(LEAVES);
	tell_thawed();
}

static bool is_frozen(void)
{
	return load(FROZEN) && !has(NO_LOOK);
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	LOCK(SIGLOCK);
	STEP("ptrace_stop()");
	if (!load(KILLED) && !has(TWO_FURTHER))
		stand(TRACED);
	UNLOCK(SIGLOCK);
	AWAIT("schedule()", load(STATE) == RUNNING);
	LOCK(SIGLOCK);
	while (is_frozen()) {
		STEP("stay frozen in ptrace_stop()");
		store(STATE, TASK_IDLE);
		UNLOCK(SIGLOCK);
		AWAIT("schedule()", load(STATE) == RUNNING);
		LOCK(SIGLOCK);
	}
	STEP("end of ptrace_stop()");
	store(TRACED, 0);
	while (load(HOLD) && !load(KILLED)) {
		STEP("utrace_stop()");
		stand(UTRACE);
		UNLOCK(SIGLOCK);
		AWAIT("schedule()", load(STATE) == RUNNING);
		LOCK(SIGLOCK);
		while (is_frozen()) {
			STEP("stay frozen in utrace_stop()");
			store(STATE, TASK_IDLE);
			UNLOCK(SIGLOCK);
			AWAIT("schedule()", load(STATE) == RUNNING);
			LOCK(SIGLOCK);
		}
		STEP("end of a pass of utrace_stop()");
		store(UTRACE, 0);
	}
	STEP("leave");
	leave();
	UNLOCK(SIGLOCK);
	END;
}

static void first(struct state *s, unsigned int me)
{
	BEGIN;
	LOCK(SIGLOCK);
	STEP("ptrace_freeze_traced()");
	s->waits = load(TRACED) && !load(KILLED);
	if (s->waits)
		store(PTRACE_FROZEN, 1);
	UNLOCK(SIGLOCK);
	if (s->waits) {
		while (s->waits && !has(NO_ALONE)) {
			STEP("prepare to wait");
			store(WOKEN, 0);
			LOCK(SIGLOCK);
			STEP("utrace_is_thawed()");
			s->waits = load(FROZEN);
			if (s->waits)
				store(AWAITED, 1);
			UNLOCK(SIGLOCK);
			if (s->waits)
				AWAIT("sleep", load(WOKEN));
		}
		STEP("work");
		store(WORKS, 1);
		if (load(WORKS_2))
			fail(BOTH);
		STEP("work is done");
		store(WORKS, 0);
		LOCK(SIGLOCK);
		STEP("resume [1] or not [0], ptrace_unfreeze_traced()");
		store(PTRACE_FROZEN, 0);
		if (choose(2) || load(KILLED)) {
			store(TRACED, 0);
			wake(TASK_TRACED);
		}
		if (!has(NO_THAWED))
			tell_thawed();
		UNLOCK(SIGLOCK);
	}
	END;
}

/* What utrace_try_freeze() does. */
static void try_freeze(struct state *s, unsigned int me)
{
	s->again[me] = 0;
	s->gone[me] = load(KILLED) || load(LEFT);
	if (s->gone[me])
		return;
	if ((load(FROZEN) && !has(NO_TURN)) ||
	    (load(PTRACE_FROZEN) && !has(NO_ASK)) ||
	    !(load(UTRACE) || load(TRACED))) {
		store(AWAITED, 1);
		s->again[me] = 1;
	} else {
		store(FROZEN, 1);
	}
}

static void thaw(void)
{
	store(FROZEN, 0);
	if (!has(NO_WAKE))
		wake(TASK_IDLE);
	tell_thawed();
}

static void further(struct state *s, unsigned int me)
{
	BEGIN;
	do {
		STEP("prepare to wait");
		store(WOKEN_OF(me), 0);
		LOCK(SIGLOCK);
		STEP("utrace_try_freeze()");
		try_freeze(s, me);
		UNLOCK(SIGLOCK);
		if (s->again[me])
			AWAIT("sleep", load(WOKEN_OF(me)));
		if (s->gone[me] || s->again[me])
			continue;
		STEP("wait_task_inactive()");
		s->again[me] = load(STATE) == RUNNING;
		if (s->again[me]) {
			LOCK(SIGLOCK);
			STEP("utrace_thaw() of a task that was woken");
			thaw();
			UNLOCK(SIGLOCK);
		}
	} while (s->again[me]);
	if (!s->gone[me]) {
		STEP("work");
		store(WORKS_OF(me), 1);
		if (load(WORKS_OF(OTHER(me))))
			fail(BOTH);
		STEP("work is done");
		store(WORKS_OF(me), 0);
		LOCK(SIGLOCK);
		STEP("utrace_thaw()");
		thaw();
		UNLOCK(SIGLOCK);
	}
	LOCK(SIGLOCK);
	STEP("utrace_control(): no hold");
	store(HOLD, load(HOLD) & ~HOLD_OF(me));
	if (load(UTRACE) && !load(HOLD))
		wake(TASK_TRACED);
	UNLOCK(SIGLOCK);
	END;
}

static void tracer_1(struct state *s, unsigned int me)
{
	if (has(TWO_FURTHER))
		further(s, me);
	else
		first(s, me);
}

/* SIGKILL, by signal_wake_up(); or none. */
static void killer(struct state *s, unsigned int me)
{
	BEGIN;
	LOCK(SIGLOCK);
	STEP("send SIGKILL [1] or not [0]");
	if (choose(2)) {
		store(KILLED, 1);
		if (!load(PTRACE_FROZEN)) {
			store(TRACED, 0);
			wake(TASK_TRACED);
		}
	}
	UNLOCK(SIGLOCK);
	END;
}

static void init(struct state *s)
{
	s->m.mem[HOLD] = HOLD_OF(TRACER_2);
	if (has(TWO_FURTHER))
		s->m.mem[HOLD] |= HOLD_OF(TRACER_1);
}

/*
 * Without SIGKILL the first tracer may look before the task stops, or may not
 * resume the task, which then waits for another request of that tracer.
 */
static void at_end(struct state *s)
{
	bool waits_for_first = in_memory(TRACED) && done(1) &&
			       !in_memory(KILLED) && done(2);

	if (!waits_for_first && !(done(0) && done(1) && done(2) && done(3)))
		fail(STUCK);
}

static const struct thread threads[] = {
	{ "task", task },
	{ "tracer 1", tracer_1 },
	{ "tracer 2", further },
	{ "killer", killer },
	{}
};

static const struct variant variants[] = {
	{ "freeze", false, 0, NULL },
	{ "freeze, PSO", true, 0, NULL },
	{ "freeze with a task that does not look", false, NO_LOOK, LEAVES },
	{ "freeze with a first tracer that does not wait", false, NO_ALONE,
	  BOTH },
	{ "freeze without a look at PTRACE_FROZEN", false, NO_ASK, BOTH },
	{ "freeze with a first tracer that does not tell", false, NO_THAWED,
	  STUCK },
	{ "freeze with a task that does not tell that it stands", false,
	  NO_STAND, STUCK },
	{ "freeze with a thaw that wakes nobody", false, NO_WAKE, STUCK },
	{ "freeze by two further tracers", false, TWO_FURTHER, NULL },
	{ "freeze by two further tracers, PSO", true, TWO_FURTHER, NULL },
	{ "freeze by two further tracers without a look at FROZEN", false,
	  TWO_FURTHER | NO_TURN, BOTH },
	{ "freeze by two further tracers with a thaw that wakes nobody", false,
	  TWO_FURTHER | NO_WAKE, STUCK },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= 4,
	.init		= init,
	.end		= at_end,
	.variants	= variants,
};
