// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - tracers that examine a task in nested stops, and SIGKILL
 *
 * The task stops for its first tracer, and then for an engine of a further one.
 * Each of the two tracers accesses the registers of the task once; the further
 * one then resumes the task, and the first one may.  A group stop and the thaw
 * of a cgroup may wake the task, and then SIGKILL may come, at any time.  A
 * client of freeze.c sets FROZEN, the first tracer sets PTRACE_FROZEN and waits
 * until FROZEN is clear.  All of that is under siglock.  Functions that wake
 * tasks skip a frozen task; utrace_thaw() wakes it.
 *
 * In other variants a second further tracer replaces the first one; or the
 * first tracer is killed, which ends its wait and its tracing; or the task
 * reports a second stop to the further tracer as soon as that tracer has
 * resumed it.
 *
 * The properties: the task neither runs nor leaves its stops while a tracer
 * accesses it, the tracers do not access it at the same time, a stop for a
 * further tracer lasts until that tracer ends it, and all threads end.
 */
#include "explore.h"

enum var {
	SIGLOCK, FROZEN, PTRACE_FROZEN, AWAITED, TRACED, UTRACE, HOLD, KILLED,
	STATE, LEFT, NOTE, WOKEN, WOKEN_2, WORKS, WORKS_2,
};

static const char *const vars[] = {
	"siglock", "JOBCTL_UTRACE_FROZEN", "JOBCTL_PTRACE_FROZEN",
	"JOBCTL_UTRACE_AWAITED", "JOBCTL_TRACED", "JOBCTL_UTRACE", "hold",
	"SIGKILL", "__state", "left", "JOBCTL_UTRACE_WOKEN", "tracer 1 is woken",
	"tracer 2 is woken", "tracer 1 works", "tracer 2 works",
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
#define RUNS		"the task runs while a tracer works on it"
#define LOST		"the task leaves a stop that the tracer has not ended"
#define BOTH		"two tracers work at the same time"
#define STUCK		"a thread waits forever"

/* Bits of a variant. */
enum {
	TWO_FURTHER	= 1 << 0,	/* no first tracer, two further ones */
	DIES		= 1 << 1,	/* the first tracer is killed */
	AGAIN		= 1 << 2,	/* the task reports a second stop */
	IN_PLACE	= 1 << 19,	/* tracer 2 has no hold at first */
	/* Mutants. */
	NO_LOOK		= 1 << 3,	/* utrace_stop() ignores FROZEN */
	NO_ALONE	= 1 << 4,	/* the first one does not wait */
	NO_ASK		= 1 << 5,	/* clients ignore PTRACE_FROZEN */
	NO_THAWED	= 1 << 6,	/* the first one wakes no client */
	NO_STAND	= 1 << 7,	/* a stop wakes no client */
	NO_WAKE		= 1 << 8,	/* a thaw does not wake TASK_IDLE */
	NO_TURN		= 1 << 9,	/* clients ignore FROZEN */
	/* One function wakes a frozen task. */
	HELD_WAKES	= 1 << 10,	/* utrace_wake_from_stop() does */
	KILL_WAKES	= 1 << 11,	/* signal_wake_up() does */
	PTRACE_WAKES	= 1 << 12,	/* ptrace_signal_wake_up() does */
	UNFREEZE_WAKES	= 1 << 13,	/* ptrace_unfreeze_traced() does */
	CGROUP_WAKES	= 1 << 20,	/* cgroup_freeze_task() does */
	/* The thaw. */
	NO_NOTE		= 1 << 14,	/* it ignores WOKEN */
	NO_FATAL	= 1 << 15,	/* it ignores SIGKILL */
	NO_ENDED	= 1 << 16,	/* the end of a ptrace stop sets no WOKEN */
	NO_OTHER	= 1 << 17,	/* it wakes a task of the first one */
	THAW_FIRST	= 1 << 18,	/* it precedes the drop of the hold */
};

struct state {
	struct machine m;
	__u8 again[3];		/* a further tracer has to try again */
	__u8 gone[3];		/* the task is dead for a further tracer */
	__u8 waits;		/* the first tracer has to wait */
	__u8 killed;		/* the first tracer is killed */
	/* Under siglock. */
	__u8 untraced;		/* the first tracer has detached */
	/* Under ptracer->lock. */
	__u8 stopped[3];	/* a further tracer has not ended the stop */
};

/* The functions below are called in steps that have siglock. */

/*
 * Without this check, the stores of a thaw would not fit into the store buffer.
 */
static void clear(enum var var)
{
	if (load(var))
		store(var, 0);
}

static void wake(unsigned int state)
{
	if (load(STATE) != state)
		return;
	store(STATE, RUNNING);
	if (load(WORKS) || load(WORKS_2))
		fail(RUNS);
}

/*
 * Check whether a waker leaves the task to utrace_thaw().  With @mutant it
 * never does.
 */
static bool skips(unsigned int mutant)
{
	return load(FROZEN) && !has(mutant);
}

static void wake_held(void)
{
	if (!load(UTRACE))
		return;
	if (skips(HELD_WAKES))
		store(NOTE, 1);
	else
		wake(TASK_TRACED);
}

/* Model signal_wake_up() with a fatal signal. */
static void signal_wake_up(void)
{
	if (load(PTRACE_FROZEN) || skips(KILL_WAKES))
		return;
	clear(TRACED);
	clear(UTRACE);
	wake(TASK_TRACED);
}

/* Model ptrace_signal_wake_up() that ends a ptrace stop. */
static void ptrace_signal_wake_up(void)
{
	store(TRACED, 0);
	if (!skips(PTRACE_WAKES))
		wake(TASK_TRACED);
	else if (!has(NO_ENDED))
		store(NOTE, 1);
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

static void leave(const struct state *s)
{
	store(LEFT, 1);
	if (load(WORKS) || load(WORKS_2))
		fail(LEAVES);
	if ((s->stopped[TRACER_1] || s->stopped[TRACER_2]) && !load(KILLED))
		fail(LOST);
	tell_thawed();
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	LOCK(SIGLOCK);
	STEP("ptrace_stop()");
	if (!load(KILLED) && !s->untraced && !has(TWO_FURTHER))
		stand(TRACED);
	UNLOCK(SIGLOCK);
	AWAIT("schedule()", load(STATE) == RUNNING);
	LOCK(SIGLOCK);
	clear(PTRACE_FROZEN);
	STEP("end of ptrace_stop()");
	clear(TRACED);
	tell_thawed();
	if (has(AGAIN) && !s->stopped[TRACER_2] && !load(KILLED)) {
		UNLOCK(SIGLOCK);
		STEP("report a second stop to tracer 2");
		s->stopped[TRACER_2] = 1;
		LOCK(SIGLOCK);
		STEP("answer STOP");
		store(HOLD, load(HOLD) | HOLD_OF(TRACER_2));
	}
	while (load(HOLD) && !load(KILLED)) {
		STEP("utrace_stop()");
		stand(UTRACE);
		UNLOCK(SIGLOCK);
		AWAIT("schedule()", load(STATE) == RUNNING);
		LOCK(SIGLOCK);
		while (load(FROZEN) && !has(NO_LOOK)) {
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
	leave(s);
	UNLOCK(SIGLOCK);
	STEP("sleep elsewhere");
	store(STATE, TASK_IDLE);
	END;
}

/* Begin an access of a tracer to the task. */
static void work(unsigned int me)
{
	store(WORKS_OF(me), 1);
	if (load(LEFT))
		fail(LEAVES);
	if (load(STATE) == RUNNING)
		fail(RUNS);
	if (load(WORKS_OF(OTHER(me))))
		fail(BOTH);
}

static void unfreeze_traced(void)
{
	store(PTRACE_FROZEN, 0);
	if (load(KILLED)) {
		clear(TRACED);
		if (!skips(UNFREEZE_WAKES))
			wake(TASK_TRACED);
	}
	if (!has(NO_THAWED))
		tell_thawed();
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
		while (s->waits && !s->killed && !has(NO_ALONE)) {
			STEP("prepare to wait");
			store(WOKEN, 0);
			LOCK(SIGLOCK);
			STEP("utrace_is_thawed()");
			s->waits = load(FROZEN);
			if (s->waits)
				store(AWAITED, 1);
			UNLOCK(SIGLOCK);
			if (s->waits) {
				STEP("sleep [0] until this tracer is killed [1]");
				s->killed = has(DIES) ? choose(2) : 0;
				if (!s->killed && !load(WOKEN)) {
					cannot_go_on();
					return;
				}
			}
		}
		if (!s->killed) {
			STEP("work");
			work(me);
			STEP("work is done");
			store(WORKS, 0);
			LOCK(SIGLOCK);
			STEP("ptrace_resume() [1] or not [0]");
			if (choose(2)) {
				store(TRACED, 0);
				wake(TASK_TRACED);
			}
			UNLOCK(SIGLOCK);
		}
		LOCK(SIGLOCK);
		STEP("ptrace_unfreeze_traced()");
		unfreeze_traced();
		UNLOCK(SIGLOCK);
	}
	if (has(DIES)) {
		LOCK(SIGLOCK);
		STEP("__ptrace_unlink()");
		s->untraced = 1;
		if (load(TRACED))
			ptrace_signal_wake_up();
		UNLOCK(SIGLOCK);
	}
	END;
}

/* Model utrace_try_freeze(). */
static void try_freeze(struct state *s, unsigned int me)
{
	s->again[me] = 0;
	s->gone[me] = load(KILLED) || load(LEFT);
	if (s->gone[me])
		return;
	if (has(IN_PLACE) && !load(UTRACE) && !load(TRACED)) {
		s->gone[me] = 1;
	} else if ((load(FROZEN) && !has(NO_TURN)) ||
	    (load(PTRACE_FROZEN) && !has(NO_ASK)) ||
	    !(load(UTRACE) || load(TRACED))) {
		store(AWAITED, 1);
		s->again[me] = 1;
	} else {
		store(FROZEN, 1);
	}
}

/* Model utrace_thaw_wakes(). */
static bool thaw_wakes(void)
{
	if (load(TRACED) && load(PTRACE_FROZEN) && !has(NO_OTHER))
		return false;
	return (load(NOTE) && !has(NO_NOTE)) || (load(KILLED) && !has(NO_FATAL));
}

static void thaw(void)
{
	if (thaw_wakes()) {
		if (load(KILLED))
			clear(TRACED);
		wake(TASK_TRACED);
	}
	store(FROZEN, 0);
	clear(NOTE);
	if (!has(NO_WAKE))
		wake(TASK_IDLE);
	tell_thawed();
}

/* Model utrace_control(): the tracer drops its hold. */
static void drop_hold(unsigned int me)
{
	store(HOLD, load(HOLD) & ~HOLD_OF(me));
	if (!load(HOLD))
		wake_held();
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
		work(me);
		STEP("work is done");
		store(WORKS_OF(me), 0);
		if (has(THAW_FIRST)) {
			LOCK(SIGLOCK);
			STEP("utrace_thaw()");
			s->stopped[me] = 0;
			thaw();
			UNLOCK(SIGLOCK);
		}
	}
	LOCK(SIGLOCK);
	STEP("utrace_control(): no hold");
	if (!has(THAW_FIRST))
		s->stopped[me] = 0;
	drop_hold(me);
	UNLOCK(SIGLOCK);
	if (!s->gone[me] && !has(THAW_FIRST)) {
		LOCK(SIGLOCK);
		STEP("utrace_thaw()");
		thaw();
		UNLOCK(SIGLOCK);
	}
	END;
}

static void tracer_1(struct state *s, unsigned int me)
{
	if (has(TWO_FURTHER))
		further(s, me);
	else
		first(s, me);
}

/* Choose which of these occur: a group stop, the thaw of a cgroup, SIGKILL. */
static void killer(struct state *s, unsigned int me)
{
	BEGIN;
	LOCK(SIGLOCK);
	STEP("utrace_wake_from_stop() for a group stop [1] or not [0]");
	if (choose(2))
		wake_held();
	UNLOCK(SIGLOCK);
	LOCK(SIGLOCK);
	STEP("cgroup_freeze_task() for a thaw [1] or not [0]");
	/* wake_up_process() does not wake TASK_TRACED. */
	if (choose(2) && !skips(CGROUP_WAKES))
		wake(TASK_IDLE);
	UNLOCK(SIGLOCK);
	LOCK(SIGLOCK);
	STEP("send SIGKILL [1] or not [0]");
	if (choose(2)) {
		store(KILLED, 1);
		signal_wake_up();
	}
	UNLOCK(SIGLOCK);
	END;
}

static void init(struct state *s)
{
	if (has(IN_PLACE))
		return;
	s->m.mem[HOLD] = HOLD_OF(TRACER_2);
	s->stopped[TRACER_2] = 1;
	if (has(TWO_FURTHER)) {
		s->m.mem[HOLD] |= HOLD_OF(TRACER_1);
		s->stopped[TRACER_1] = 1;
	}
}

/*
 * Without SIGKILL, the first tracer may check before the task stops, or may not
 * resume the task, which then waits for another request of that tracer.  In the
 * second stop the task waits for another request of the further tracer.
 */
static void at_end(struct state *s)
{
	bool stands = in_memory(TRACED) ||
		      (in_memory(UTRACE) && s->stopped[TRACER_2]);
	bool waits_for_tracer = stands && in_memory(STATE) == TASK_TRACED &&
				!in_memory(KILLED) && done(1) && done(2);

	if (!waits_for_tracer && !(done(0) && done(1) && done(2) && done(3)))
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
	{ "freeze with a first tracer that is killed", false, DIES, NULL },
	{ "freeze with a first tracer that is killed, PSO", true, DIES, NULL },
	{ "freeze with a second stop", false, AGAIN, NULL },
	{ "freeze with a second stop, PSO", true, AGAIN, NULL },
	{ "freeze with a second stop and a first tracer that is killed", false,
	  AGAIN | DIES, NULL },
	{ "freeze in the stop of the first tracer", false, IN_PLACE, NULL },
	{ "freeze in the stop of the first tracer, PSO", true, IN_PLACE, NULL },
	{ "freeze in the stop of the first tracer with SIGKILL that wakes", false,
	  IN_PLACE | KILL_WAKES, RUNS },
	{ "freeze in a stop of the first tracer without check of PTRACE_FROZEN",
	  false, IN_PLACE | NO_ASK, BOTH },
	{ "freeze with utrace_stop() that ignores FROZEN", false, NO_LOOK,
	  LEAVES },
	{ "freeze with a first tracer that does not wait", false, NO_ALONE,
	  BOTH },
	{ "freeze without a check of PTRACE_FROZEN", false, NO_ASK, BOTH },
	{ "freeze with a first tracer that wakes no client", false, NO_THAWED,
	  STUCK },
	{ "freeze with a stop that wakes no client", false, NO_STAND, STUCK },
	{ "freeze with a thaw that does not wake TASK_IDLE", false, NO_WAKE,
	  STUCK },
	{ "freeze with utrace_wake_from_stop() that wakes", false, HELD_WAKES, RUNS },
	{ "freeze with SIGKILL that wakes", false, KILL_WAKES, RUNS },
	{ "freeze with the thaw of a cgroup that wakes", false, CGROUP_WAKES, RUNS },
	{ "freeze with the end of a ptrace stop that wakes", false,
	  DIES | PTRACE_WAKES, RUNS },
	{ "freeze with ptrace_unfreeze_traced() that wakes", false,
	  UNFREEZE_WAKES, RUNS },
	{ "freeze with ptrace_unfreeze_traced() that wakes, the tracer is killed",
	  false, DIES | UNFREEZE_WAKES, RUNS },
	{ "freeze with a thaw that ignores WOKEN", false, NO_NOTE, STUCK },
	{ "freeze with a thaw that ignores SIGKILL", false, NO_FATAL, STUCK },
	{ "freeze without a note of the end of a ptrace stop", false,
	  DIES | NO_ENDED, STUCK },
	{ "freeze with a thaw that wakes for the first tracer", false, NO_OTHER,
	  RUNS },
	{ "freeze with a thaw before the hold is dropped", false,
	  AGAIN | THAW_FIRST, LOST },
	{ "freeze by two further tracers", false, TWO_FURTHER, NULL },
	{ "freeze by two further tracers, PSO", true, TWO_FURTHER, NULL },
	{ "freeze by two further tracers that ignore FROZEN", false,
	  TWO_FURTHER | NO_TURN, BOTH },
	{ "freeze by two further tracers with a thaw that does not wake TASK_IDLE",
	  false, TWO_FURTHER | NO_WAKE, STUCK },
	{ "freeze by two further tracers with utrace_wake_from_stop() that wakes",
	  false, TWO_FURTHER | HELD_WAKES, RUNS },
	{ "freeze by two further tracers with SIGKILL that wakes", false,
	  TWO_FURTHER | KILL_WAKES, RUNS },
	{ "freeze by two further tracers with a thaw that ignores WOKEN", false,
	  TWO_FURTHER | NO_NOTE, STUCK },
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
