// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - detach: check for a running callback of the engine
 *
 * A task makes passes over a set with the engines E and F.  It stores to ->now
 * the engine whose callback it is in, except in a fast pass, which calls E
 * alone.  E is detached: the detacher checks whether a callback of E runs, and
 * waits for the end of such a callback.  A worker drops the core's references;
 * if the task is in a callback of E at that time, the worker gives it its own
 * reference (->core).  Concurrently another thread waits for F, or detaches F.
 *
 * The properties: once the result for the detacher is "not running", no
 * callback of E begins, and the stores of the last one are visible.  release()
 * is called exactly once, never while a callback runs, even if the callback of
 * F never ends.
 */
#include "explore.h"

enum var { PINNED, NOW, E_FLAGS, F_FLAGS, FLAGS, PASSES, CORE, U_LOCK, DATA };
static const char *const vars[] = {
	"pinned", "now", "flags of E", "flags of F", "u->flags", "passes",
	"u->core", "u->lock", "a store of E's callback",
};

#define FLAG_WAITER	1
#define TASK		0
#define DETACHER	1
#define WORKER		2
#define OTHER		3

enum { NOBODY, E, F };

/* Bits of a variant. */
enum {
	/*
	 * Fast passes over E and a slow pass over F; otherwise each over both.
	 */
	SHORT		= 1 << 0,
	/* The other threads. */
	ATOMIC		= 1 << 1,	/* no check or wait by the detacher */
	WORKS		= 1 << 2,	/* the worker drops core references */
	F_BARRIER	= 1 << 3,	/* another thread waits for F */
	F_DETACH	= 1 << 4,	/* another thread detaches F */
	F_BLOCKS	= 1 << 5,	/* the callback of F may never end */
	/* Mutants. */
	NO_MEMBARRIER	= 1 << 6,	/* no membarrier before a check */
	NO_SECOND	= 1 << 7,	/* no second one by the detacher */
	NO_SECOND_WORK	= 1 << 8,	/* no second one by the worker */
	NO_TEST		= 1 << 9,	/* no test of WAITER before F */
	NO_FIRST_TEST	= 1 << 10,	/* no such test if F is called first */
	ANY_WAITER	= 1 << 11,	/* any WAITER counts as its own */
	CORE_NONE	= 1 << 12,	/* a task in E gets no reference */
	CORE_LOST	= 1 << 13,	/* u->core is overwritten */
	NOW_LATE	= 1 << 14,	/* the flags are read before now */
	NOW_PLAIN	= 1 << 15,	/* now is stored without release */
	NOW_SURE	= 1 << 16,	/* now == NULL means no callback */
	PASSES_PLAIN	= 1 << 17,	/* passes is stored without release */
	CORE_KEPT	= 1 << 21,	/* u->core of a task that left stays */
	/* The task is a reaper, which no membarrier interrupts. */
	REAPER		= 1 << 18,
	NO_MB_NOW	= 1 << 19,	/* no smp_mb() after pinned or now */
	NO_MB_UNPIN	= 1 << 20,	/* no smp_mb() after the unpin */
};

struct state {
	struct machine m;
	struct {
		__u8 flags;
		__u8 drop;
		__u8 looked;
		__u8 passes;
		__u8 calls;	/* number of E's callbacks so far */
		__u8 f_calls;	/* number of F's callbacks so far */
		__u8 in;	/* the task is in a callback of E */
		__u8 in_f;	/* the task is in a callback of F */
	} task;
	struct look {
		__u8 inside;
		__u8 passes;
		__u8 drop;
	} look[4];
	__u8 queued;	/* the work of the detach is queued */
	__u8 told;	/* the detacher has found no callback of E */
	__u8 f_call;	/* number of the callback of F to wait for */
	__u8 core[3];	/* the core's references, by engine */
	__u8 released[3];	/* release() was called, by engine */
	__u8 stuck;	/* the callback of F never ends */
};

static void core_put(struct state *s, __u8 *engine)
{
	fence();
	if (*engine && !s->core[*engine]) {
		fail("a reference of the core is dropped twice");
	} else if (*engine && !--s->core[*engine]) {
		s->released[*engine] = 1;
		if (*engine == E && (s->task.in || in_flight(TASK, DATA)))
			fail("release() while a callback runs");
		if (*engine == F && s->task.in_f)
			fail("release() while a callback runs");
	}
	*engine = NOBODY;
}

static void not_running(struct state *s)
{
	s->told = 1;
	if (s->task.in || in_flight(TASK, DATA))
		fail("the result is \"not running\" while a callback runs");
}

/* The task. */

static void callback_begins(struct state *s)
{
	s->task.in = 1;
	if (s->told)
		fail("a callback begins after the result \"not running\"");
	if (s->released[E])
		fail("a callback begins after release()");
}

static void set_now(__u8 engine)
{
	if (has(NOW_PLAIN))
		store(NOW, engine);
	else
		store_release(NOW, engine);
}

/* The full barrier of a reaper, in one step with the store before it. */
static void reaper_fence(unsigned int not)
{
	if (has(REAPER) && !has(not))
		fence();
}

/*
 * Wake the waiting barriers.  u->lock is held.  passes is stored with release,
 * since a barrier that sleeps until passes changes takes no lock.
 */
static void tell(struct state *s)
{
	s->task.drop = load(CORE);
	store(CORE, NOBODY);
	store(FLAGS, load(FLAGS) & ~FLAG_WAITER);
	if (has(PASSES_PLAIN))
		store(PASSES, load(PASSES) + 1);
	else
		store_release(PASSES, load(PASSES) + 1);
}

static bool is_short(const struct state *s)
{
	return has(SHORT) && s->task.passes != 1;
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	while (s->task.passes < (has(F_BLOCKS) ? 2 : 3)) {
		STEP("pinned = set");
		store(PINNED, 1);
		reaper_fence(NO_MB_NOW);
		if (has(SHORT) && !is_short(s))
			goto f;
		if (!is_short(s) && !has(NOW_LATE)) {
			STEP("now = E");
			set_now(E);
			reaper_fence(NO_MB_NOW);
			STEP("WAITER?");
			s->task.flags = load(FLAGS);
			if (s->task.flags & FLAG_WAITER) {
				LOCK(U_LOCK);
				STEP("complete the waits, take u->core");
				tell(s);
				UNLOCK(U_LOCK);
				STEP("drop what was u->core");
				core_put(s, &s->task.drop);
			}
		}
		STEP("flags of E");
		s->task.looked = load(E_FLAGS);
		if (!is_short(s) && has(NOW_LATE)) {
			STEP("now = E");
			set_now(E);
		}
		if (s->task.looked) {
			STEP("callback of E begins");
			callback_begins(s);
			STEP("callback of E stores and returns");
			s->task.in = 0;
			store(DATA, ++s->task.calls);
		}
		if (is_short(s))
			goto out;
f:
		STEP("now = F");
		set_now(F);
		reaper_fence(NO_MB_NOW);
		STEP("WAITER?");
		s->task.flags = load(FLAGS);
		if ((s->task.flags & FLAG_WAITER) && !has(NO_TEST) &&
		    !(has(SHORT) && has(NO_FIRST_TEST))) {
			LOCK(U_LOCK);
			STEP("complete the waits, take u->core");
			tell(s);
			UNLOCK(U_LOCK);
			STEP("drop what was u->core");
			core_put(s, &s->task.drop);
		}
		STEP("flags of F");
		s->task.looked = load(F_FLAGS);
		if (s->task.looked) {
			STEP("callback of F begins");
			s->task.in_f = 1;
			s->task.f_calls++;
			if (s->released[F])
				fail("a callback begins after release()");
			STEP("callback of F returns, or never");
			s->stuck = has(F_BLOCKS) && choose(2);
			if (s->stuck)
				AWAIT("in the callback of F forever", false);
			s->task.in_f = 0;
		}
		STEP("now = NULL");
		set_now(NOBODY);
out:
		STEP("pinned = NULL");
		store_release(PINNED, 0);
		reaper_fence(NO_MB_UNPIN);
		STEP("WAITER?");
		s->task.flags = load(FLAGS);
		if (s->task.flags & FLAG_WAITER) {
			LOCK(U_LOCK);
			STEP("complete the waits, take u->core");
			tell(s);
			UNLOCK(U_LOCK);
			STEP("drop what was u->core");
			core_put(s, &s->task.drop);
		}
		s->task.passes++;
	}
	END;
}

/* The other threads. */

/*
 * Check whether the task may be in a callback of the engine.  u->lock is held.
 */
static bool inside(__u8 engine)
{
	if (!load(PINNED))
		return false;
	if (load(NOW) == engine)
		return true;
	return engine == E && has(SHORT) && !load(NOW) && !has(NOW_SURE);
}

/*
 * Check for the first time: mark the task if it is in a callback.  u->lock is
 * held.
 */
static void look(struct state *s, struct look *l, __u8 engine)
{
	l->inside = inside(engine);
	if (!l->inside)
		return;
	l->passes = load(PASSES);
	store(FLAGS, load(FLAGS) | FLAG_WAITER);
}

/*
 * Check whether the task is in a callback and marked.  u->lock is held.
 * Another barrier may have set the mark, which the task has not seen yet.
 * After one more membarrier the task sees the mark.
 */
static void find(struct look *l, __u8 engine)
{
	l->inside = (load(FLAGS) & FLAG_WAITER) && inside(engine);
	l->passes = load(PASSES);
}

/*
 * Check whether the task has been in the callback all the time.  u->lock is
 * held.  If passes is unchanged the task has not called tell(), so WAITER was
 * set all the time.
 */
static void look_again(struct look *l, __u8 engine)
{
	l->inside = load(PASSES) == l->passes && inside(engine);
}

static void detacher(struct state *s, unsigned int me)
{
	struct look *l = &s->look[me];

	BEGIN;
	STEP("flags of E = 0");
	store(E_FLAGS, 0);
	STEP("smp_mb()");
	fence();
	if (has(ATOMIC))
		goto queue;
	STEP("membarrier: IPI");
	if (!has(NO_MEMBARRIER | REAPER))
		fence_on(TASK);
	LOCK(U_LOCK);
	STEP("in a callback of E? then WAITER");
	look(s, l, E);
	UNLOCK(U_LOCK);
	if (!l->inside)
		not_running(s);
queue:
	STEP("queue the work");
	fence();
	s->queued = 1;
	if (has(ATOMIC) || !l->inside)
		goto out;
	STEP("second membarrier: IPI");
	if (!has(NO_SECOND | REAPER))
		fence_on(TASK);
	LOCK(U_LOCK);
	STEP("in a callback of E and WAITER? then passes");
	find(l, E);
	UNLOCK(U_LOCK);
	if (l->inside && !has(ANY_WAITER)) {
		STEP("membarrier for the third time: smp_mb()");
		fence();
		STEP("membarrier for the third time: IPI");
		if (!has(NO_SECOND | REAPER))
			fence_on(TASK);
		LOCK(U_LOCK);
		STEP("in a callback of E and passes unchanged?");
		look_again(l, E);
		UNLOCK(U_LOCK);
	}
	if (l->inside)
		AWAIT("sleep until passes changes", load(PASSES) != l->passes);
	STEP("the barrier returns");
	not_running(s);
out:
	END;
}

/*
 * If the task is in a callback, give it a reference to drop when it leaves.
 * u->lock is held.  If there is a reference of another engine, the task has
 * left that engine, and the caller drops the reference.
 */
static void give_core(struct state *s, struct look *l, __u8 engine)
{
	look(s, l, engine);
	if (!l->inside || load(CORE) == engine || has(CORE_NONE))
		return;
	if (!has(CORE_LOST))
		l->drop = load(CORE);
	store(CORE, engine);
	s->core[engine]++;
}

/*
 * Take the reference back if the task left before it saw the mark.  u->lock is
 * held.
 */
static void take_core_back(struct look *l, __u8 engine)
{
	if (load(CORE) == engine && !inside(engine)) {
		l->drop = engine;
		store(CORE, NOBODY);
	}
}

/* Execute the work of a detach: drop the core's references. */
static void worker(struct state *s, unsigned int me)
{
	struct look *l = &s->look[me];
	__u8 engine = me == WORKER ? E : F;

	BEGIN;
	if (engine == E) {
		AWAIT("begin the work on E", s->queued);
	} else {
		STEP("flags of F = 0");
		store(F_FLAGS, 0);
	}
	STEP("membarrier: smp_mb()");
	fence();
	STEP("membarrier: IPI");
	if (!has(NO_MEMBARRIER | REAPER))
		fence_on(TASK);
	LOCK(U_LOCK);
	STEP("in a callback? then WAITER and u->core");
	give_core(s, l, engine);
	UNLOCK(U_LOCK);
	if (l->inside) {
		STEP("drop what was u->core");
		core_put(s, &l->drop);
		STEP("second membarrier: IPI");
		if (!has(NO_SECOND_WORK | REAPER))
			fence_on(TASK);
		LOCK(U_LOCK);
		STEP("not in a callback, u->core still? then take it back");
		if (!has(CORE_KEPT))
			take_core_back(l, engine);
		UNLOCK(U_LOCK);
		STEP("drop what was u->core");
		core_put(s, &l->drop);
	}
	STEP("drop the reference for being attached");
	l->drop = engine;
	core_put(s, &l->drop);
	END;
}

static void barrier_on_f(struct state *s, unsigned int me)
{
	struct look *l = &s->look[me];

	BEGIN;
	STEP("membarrier: smp_mb()");
	fence();
	s->f_call = s->task.in_f ? s->task.f_calls : 0;
	STEP("membarrier: IPI");
	fence_on(TASK);
	LOCK(U_LOCK);
	STEP("in a callback of F? then WAITER");
	look(s, l, F);
	UNLOCK(U_LOCK);
	if (l->inside) {
		STEP("second membarrier: smp_mb()");
		fence();
		STEP("second membarrier: IPI");
		fence_on(TASK);
		LOCK(U_LOCK);
		STEP("in a callback of F and passes unchanged?");
		look_again(l, F);
		UNLOCK(U_LOCK);
		if (l->inside)
			AWAIT("sleep until passes changes",
			      load(PASSES) != l->passes);
	}
	STEP("the barrier on F returns");
	if (s->task.in_f && s->task.f_calls == s->f_call)
		fail("the callback of F runs that was to be waited for");
	END;
}

/* Threads that the variant does not use are done at once. */
static void maybe_worker(struct state *s, unsigned int me)
{
	if (has(WORKS))
		worker(s, me);
	else
		next_step(THREAD_DONE, "done");
}

static void other(struct state *s, unsigned int me)
{
	if (has(F_BARRIER))
		barrier_on_f(s, me);
	else if (has(F_DETACH))
		worker(s, me);
	else
		next_step(THREAD_DONE, "done");
}

static void init(struct state *s)
{
	s->m.mem[E_FLAGS] = 1;
	s->m.mem[F_FLAGS] = 1;
	s->core[E] = 1;
	s->core[F] = 1;
}

static void landed(struct state *s, __u8 var, __u8 val)
{
	if (var == DATA && (s->told || s->released[E]))
		fail("a store of a callback lands when it is over");
}

static void at_end(struct state *s)
{
	if (!s->stuck && !done(TASK))
		fail("the task does not continue");
	if (!done(DETACHER))
		fail("the barrier sleeps forever");
	if (has(WORKS) && !s->released[E])
		fail("release() is never called");
	if (has(F_DETACH) && !s->stuck && !s->released[F])
		fail("release() is never called");
	if (has(F_BARRIER) && !s->stuck && !done(OTHER))
		fail("the barrier on F sleeps forever");
}

static const struct thread threads[] = {
	{ "task", task },
	{ "detacher", detacher },
	{ "worker", maybe_worker },
	{ "other", other },
	{}
};

#define RUNS	"the result is \"not running\" while a callback runs"
#define SLEEPS	"the barrier sleeps forever"
#define NEVER	"release() is never called"

static const struct variant variants[] = {
	{ "detach", false, 0, NULL },
	{ "detach, PSO", true, 0, NULL },
	{ "detach, F blocks", false, F_BLOCKS | WORKS, NULL },
	{ "detach, F blocks, PSO", true, F_BLOCKS | WORKS, NULL },
	{ "detach, short", false, SHORT | WORKS, NULL },
	{ "detach, short, F blocks, PSO", true, SHORT | WORKS | F_BLOCKS, NULL },
	{ "detach, barrier on F", false, F_BARRIER | F_BLOCKS, NULL },
	{ "detach, atomic, barrier on F", false,
	  ATOMIC | WORKS | F_BARRIER | F_BLOCKS, NULL },
	{ "detach, atomic, barrier on F, PSO", true,
	  ATOMIC | WORKS | F_BARRIER | F_BLOCKS, NULL },
	{ "detach of both", false, ATOMIC | WORKS | F_DETACH, NULL },
	{ "detach, reaper", false, REAPER | WORKS, NULL },
	{ "detach, reaper, short, PSO", true, REAPER | SHORT | WORKS, NULL },
	{ "detach without membarrier", false, NO_MEMBARRIER, RUNS },
	{ "detach, short, without membarrier", false, SHORT | NO_MEMBARRIER,
	  RUNS },
	{ "detach, short, that ignores the pinned set", false, SHORT | NOW_SURE,
	  RUNS },
	{ "detach with now after the flags", false, NOW_LATE, RUNS },
	{ "detach, PSO, with plain stores to now", true, NOW_PLAIN, RUNS },
	{ "detach, PSO, with a plain store to passes", true, PASSES_PLAIN, RUNS },
	{ "detach without second membarrier", false, NO_SECOND | F_BLOCKS,
	  SLEEPS },
	{ "detach, worker without second membarrier", false,
	  ATOMIC | WORKS | NO_SECOND_WORK | F_BLOCKS, NEVER },
	{ "detach without WAITER tested between engines", false,
	  NO_TEST | F_BLOCKS, SLEEPS },
	{ "detach, short, without WAITER tested before the first", false,
	  SHORT | NO_FIRST_TEST | F_BLOCKS, SLEEPS },
	{ "detach with any WAITER taken for its own", false,
	  F_BARRIER | F_BLOCKS | ANY_WAITER, SLEEPS },
	{ "detach, worker that takes nothing back", false,
	  ATOMIC | WORKS | F_BLOCKS | CORE_KEPT, NEVER },
	{ "detach without a reference for the callback", false,
	  WORKS | CORE_NONE, "release() while a callback runs" },
	{ "detach of both with u->core overwritten", false,
	  ATOMIC | WORKS | F_DETACH | CORE_LOST, NEVER },
	{ "detach, reaper, without barrier after now", false,
	  REAPER | NO_MB_NOW, RUNS },
	{ "detach, reaper, without barrier after its end", false,
	  REAPER | SHORT | NO_MB_UNPIN, SLEEPS },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= 4,
	.init		= init,
	.landed		= landed,
	.end		= at_end,
	.variants	= variants,
};
