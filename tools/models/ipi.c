// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - the membarrier, and a task that migrates
 *
 * The membarrier reads the current task of each CPU, under the lock of the run
 * queue, and interrupts the CPU if that task is traced.  The task stores to A
 * and then loads B, and moves between two CPUs at any time; the scheduler has
 * no other barriers than its locks and ->on_cpu.  The membarrier does not
 * interrupt a task whose set lacks the engine.  With RENEWS such a task gives
 * itself a set with the engine, and executes a full barrier after that.
 *
 * The property: the task sees the store of the caller of the membarrier, or the
 * caller sees the store of the task.
 */
#include "explore.h"

enum var { A, B, RQ0, RQ1, CURR0, CURR1, ON_CPU, UTRACE, SET };
static const char *const vars[] = {
	"A", "B", "lock of rq 0", "lock of rq 1", "curr of CPU 0",
	"curr of CPU 1", "on_cpu", "utrace", "utrace_set",
};

#define CALLER		2
#define SWITCHES	3

/* Bits of a variant; all but RENEWS are mutants. */
enum {
	NO_LOCK		= 1 << 0,	/* curr is read without the lock */
	NO_MEMBARRIER	= 1 << 1,	/* no CPU is interrupted */
	NO_MB		= 1 << 2,	/* no smp_mb() before curr is read */
	ONE_CPU		= 1 << 3,	/* only the task's last CPU */
	RENEWS		= 1 << 4,	/* the task has no set at first */
	NO_MB_RENEW	= 1 << 5,	/* no smp_mb() after the new set */
};

/* The steps of the task, in this order. */
enum { HAS_UTRACE, HAS_SET, HAS_MB, STORES_A, LOOKS_AT_B, NOTHING };

struct state {
	struct machine m;
	__u8 op;	/* the next step of the task */
	__u8 switches;
	__u8 moves[2];	/* the task leaves this CPU now */
	__u8 cpu;	/* the last CPU of the task */
	__u8 target;	/* the CPU that the caller is about to interrupt */
	__u8 curr;	/* the target must be interrupted */
	__u8 task_sees;
	__u8 caller_sees;
};

static void task_goes_on(struct state *s)
{
	switch (s->op++) {
	case HAS_UTRACE:
		store_release(UTRACE, 1);
		break;
	case HAS_SET:
		store_release(SET, 1);
		break;
	case HAS_MB:
		if (!has(NO_MB_RENEW))
			fence();
		break;
	case STORES_A:
		store(A, 1);
		break;
	case LOOKS_AT_B:
		s->task_sees = load(B);
		break;
	}
}

static bool may_pick(const struct state *s)
{
	return s->op < NOTHING && s->switches < SWITCHES && try_lock(ON_CPU);
}

/* Model a CPU: the scheduler, and the task while it runs here. */
static void cpu(struct state *s, unsigned int me)
{
	BEGIN;
	for (;;) {
		AWAIT("pick the task", may_pick(s));
		s->cpu = me;
		s->switches++;
		LOCK(RQ0 + me);
		STEP("curr = task");
		store(CURR0 + me, 1);
		UNLOCK(RQ0 + me);
		do {
			STEP("task: its set, A = 1, then B?; or a switch");
			s->moves[me] = choose(2);
			if (!s->moves[me])
				task_goes_on(s);
		} while (!s->moves[me] && s->op < NOTHING);
		if (!s->moves[me])
			break;
		LOCK(RQ0 + me);
		STEP("curr = idle");
		store(CURR0 + me, 0);
		STEP("on_cpu = 0");
		store_release(ON_CPU, 0);
		UNLOCK(RQ0 + me);
	}
	END;
}

static void caller(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("B = 1");
	store(B, 1);
	s->target = has(ONE_CPU) ? s->cpu : 0;
	if (!has(NO_MB)) {
		STEP("smp_mb()");
		fence();
	}
	for (; s->target < 2; s->target++) {
		if (has(NO_MEMBARRIER))
			continue;
		if (!has(NO_LOCK))
			LOCK(RQ0 + s->target);
		STEP("curr?");
		s->curr = load(CURR0 + s->target);
		if (!has(NO_LOCK))
			UNLOCK(RQ0 + s->target);
		if (s->curr && has(RENEWS)) {
			STEP("does the task have a struct utrace?");
			s->curr = load(UTRACE);
		}
		if (s->curr && has(RENEWS)) {
			STEP("and a set with the engine?");
			s->curr = load(SET);
		}
		STEP("IPI if that is the task");
		if (s->curr)
			fence_on(s->target);
		if (has(ONE_CPU))
			break;
	}
	STEP("smp_mb()");
	fence();
	STEP("A?");
	s->caller_sees = load(A);
	END;
}

static void init(struct state *s)
{
	s->op = has(RENEWS) ? HAS_UTRACE : STORES_A;
}

static void at_end(struct state *s)
{
	if (!done(CALLER))
		fail("deadlock");
	if (s->op == NOTHING && !s->task_sees && !s->caller_sees)
		fail("neither sees the other's store");
}

static const struct thread threads[] = {
	{ "CPU 0", cpu },
	{ "CPU 1", cpu },
	{ "caller", caller },
	{}
};

#define NEITHER	"neither sees the other's store"

static const struct variant variants[] = {
	{ "membarrier", false, 0, NULL },
	{ "membarrier, PSO", true, 0, NULL },
	{ "membarrier beside a renewal", false, RENEWS, NULL },
	{ "membarrier beside a renewal, PSO", true, RENEWS, NULL },
	{ "membarrier without an IPI", false, NO_MEMBARRIER, NEITHER },
	{ "membarrier without the lock of the run queue", false, NO_LOCK,
	  NEITHER },
	{ "membarrier to the task's last CPU alone", false, ONE_CPU, NEITHER },
	{ "membarrier, PSO, without barrier before", true, NO_MB, NEITHER },
	{ "membarrier beside a renewal without barrier of its own", false,
	  RENEWS | NO_MB_RENEW, NEITHER },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= 3,
	.init		= init,
	.end		= at_end,
	.variants	= variants,
};
