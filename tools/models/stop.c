// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - stop against wake
 *
 * A task stops while ->hold has a bit, under siglock and in a loop.  Two
 * engines request stops and resume the task, and SIGKILL may be sent.
 *
 * The properties: a task that no engine holds, or that was killed, does not
 * sleep forever (no wakeup is lost).  A task that is held at the end does not
 * run.  If utrace_control() returns "stopped" to an engine, the task does not
 * run until that engine resumes it.
 */
#include "explore.h"

enum var { HOLD, JOBCTL, STATE, KILLED, NOTIFY, U_LOCK, SIGLOCK };
static const char *const vars[] = {
	"hold", "jobctl", "state", "SIGKILL", "TIF_NOTIFY_RESUME", "u->lock",
	"siglock",
};

enum { TASK_RUNNING, TASK_TRACED };

#define LOST	"a wake is lost"
#define TOLD	"a task runs after the result \"stopped\""

/* Bits of a variant. */
enum {
	KILL		= 1 << 0,	/* SIGKILL comes */
	STAYS		= 1 << 1,	/* engine 2 does not resume the task */
	/* Mutants. */
	HOLD_EARLY	= 1 << 2,	/* hold is read before siglock */
	JOBCTL_EARLY	= 1 << 3,	/* jobctl is read, then hold cleared */
	JOBCTL_UNLOCKED	= 1 << 4,	/* jobctl is read without siglock */
	KILL_EARLY	= 1 << 5,	/* SIGKILL is read before siglock */
	NO_MB_STOP	= 1 << 6,	/* none between jobctl and hold */
	NO_MB_ASK	= 1 << 7,	/* none between hold and jobctl */
	NO_LOOP		= 1 << 8,	/* any wake ends the stop */
	NO_NOTIFY	= 1 << 9,	/* a running task is not notified */
};

struct state {
	struct machine m;
	struct {
		__u8 looked;
		__u8 hold;
		__u8 killed;
		__u8 runs;	/* the task runs user code */
		__u8 entries;	/* times it reached the safe point by itself */
	} task;
	struct engine {
		__u8 looked;
		__u8 rounds;
	} engine[2];
	__u8 told;		/* bits of engines with the result "stopped" */
};

static void look(struct state *s)
{
	s->task.hold = load(HOLD);
	s->task.looked = 1;
}

static void go_on(struct state *s)
{
	s->task.runs = 1;
	if (s->told && !in_memory(KILLED))
		fail(TOLD);
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	for (;;) {
		STEP("runs");
		go_on(s);
		/*
		 * The task reaches this once by itself, and whenever it is
		 * notified.
		 */
		AWAIT("safe point", in_memory(NOTIFY) || s->task.entries < 1);
		s->task.entries += !in_memory(NOTIFY);
		STEP("TIF_NOTIFY_RESUME off");
		fence();
		store(NOTIFY, 0);
		fence();
		s->task.looked = 0;
		STEP("hold?");
		if (!load(HOLD))
			continue;
		if (has(HOLD_EARLY))
			look(s);
		if (has(KILL_EARLY)) {
			STEP("SIGKILL?");
			s->task.killed = load(KILLED);
		}
		LOCK(SIGLOCK);
		for (;;) {
			STEP("hold? SIGKILL?");
			if (!s->task.looked || !has(HOLD_EARLY))
				look(s);
			s->task.looked = 0;
			if (!has(KILL_EARLY))
				s->task.killed = load(KILLED);
			if (!s->task.hold || s->task.killed)
				break;
			STEP("JOBCTL_UTRACE, TASK_TRACED");
			store(JOBCTL, 1);
			store(STATE, TASK_TRACED);
			s->task.runs = 0;
			UNLOCK(SIGLOCK);
			AWAIT("schedule()", load(STATE) == TASK_RUNNING);
			LOCK(SIGLOCK);
			STEP("JOBCTL_UTRACE off");
			store(JOBCTL, 0);
			if (!has(NO_MB_STOP)) {
				STEP("smp_mb()");
				fence();
			}
			if (has(NO_LOOP))
				break;
		}
		UNLOCK(SIGLOCK);
		if (s->task.killed)
			break;
	}
	STEP("dies");
	s->task.runs = 0;
	END;
}

static void engine(struct state *s, unsigned int me)
{
	struct engine *e = &s->engine[me - 1];

	BEGIN;
	/* Engine 1 does this twice, engine 2 once. */
	for (; e->rounds < 2; e->rounds += me) {
		LOCK(U_LOCK);
		STEP("hold |= bit");
		store(HOLD, load(HOLD) | me);
		if (!has(NO_MB_ASK)) {
			STEP("smp_mb()");
			fence();
		}
		STEP("JOBCTL_UTRACE?");
		e->looked = load(JOBCTL);
		if (e->looked) {
			s->told |= me;
			if (s->task.runs)
				fail(TOLD);
		}
		UNLOCK(U_LOCK);
		if (!e->looked && !has(NO_NOTIFY)) {
			STEP("TIF_NOTIFY_RESUME, kick");
			fence();
			store(NOTIFY, 1);
			fence();
		}
		if (has(STAYS) && me == 2)
			break;

		if (has(JOBCTL_EARLY)) {
			STEP("JOBCTL_UTRACE?");
			e->looked = load(JOBCTL);
		}
		LOCK(U_LOCK);
		STEP("hold &= ~bit");
		s->told &= ~me;
		store(HOLD, load(HOLD) & ~me);
		UNLOCK(U_LOCK);
		STEP("hold?");
		if (load(HOLD))
			continue;
		if (!has(JOBCTL_EARLY)) {
			if (has(JOBCTL_UNLOCKED)) {
				STEP("JOBCTL_UTRACE?");
				e->looked = load(JOBCTL);
			} else {
				e->looked = 1;
			}
		}
		if (!e->looked)
			continue;
		LOCK(SIGLOCK);
		STEP("JOBCTL_UTRACE and no hold? then wake");
		if (load(JOBCTL) && !load(HOLD))
			store(STATE, TASK_RUNNING);
		UNLOCK(SIGLOCK);
	}
	END;
}

static void killer(struct state *s, unsigned int me)
{
	BEGIN;
	if (has(KILL)) {
		LOCK(SIGLOCK);
		STEP("SIGKILL, wake");
		store(KILLED, 1);
		if (load(STATE) == TASK_TRACED)
			store(STATE, TASK_RUNNING);
		UNLOCK(SIGLOCK);
		STEP("TIF_SIGPENDING, kick");
		fence();
		store(NOTIFY, 1);
		fence();
	}
	END;
}

static void init(struct state *s)
{
}

static void at_end(struct state *s)
{
	if (!done(1) || !done(2) || !done(3))
		fail("deadlock");
	if (in_memory(STATE) == TASK_TRACED &&
	    (!in_memory(HOLD) || in_memory(KILLED)))
		fail(LOST);
	if (s->task.runs && in_memory(HOLD) && !in_memory(KILLED))
		fail("a task runs that is held");
}

static const struct thread threads[] = {
	{ "task", task },
	{ "engine 1", engine },
	{ "engine 2", engine },
	{ "SIGKILL", killer },
	{}
};

static const struct variant variants[] = {
	{ "stop", false, 0, NULL },
	{ "stop, PSO", true, 0, NULL },
	{ "stop, one engine holds on", false, STAYS, NULL },
	{ "stop, SIGKILL", false, KILL, NULL },
	{ "stop, SIGKILL, PSO", true, KILL | STAYS, NULL },
	{ "stop with hold read before siglock", false, HOLD_EARLY, LOST },
	{ "stop with jobctl read before hold is cleared", false, JOBCTL_EARLY,
	  LOST },
	{ "stop with jobctl read without siglock", false, JOBCTL_UNLOCKED,
	  LOST },
	{ "stop with SIGKILL read before siglock", false,
	  KILL | STAYS | KILL_EARLY, LOST },
	{ "stop without barrier between jobctl and hold", false, NO_MB_STOP,
	  TOLD },
	{ "stop without barrier between hold and jobctl", false, NO_MB_ASK,
	  TOLD },
	{ "stop without a loop", false, NO_LOOP, TOLD },
	{ "stop of a task that is not notified", false, STAYS | NO_NOTIFY,
	  "a task runs that is held" },
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
