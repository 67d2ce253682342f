// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - is a callback of this engine running?
 *
 * A task makes passes over a set with the engines E and F, and says in ->now
 * whose callback it is in, unless the pass is a fast one, which calls E alone.
 * E is detached: the caller is told whether its callback runs, and waits for
 * the end of one that does; a worker drops the core's references, of which the
 * task gets one (->core) if it is inside E by then.  Meanwhile another waits
 * for F, or F is detached too.
 *
 * Told "not running" means so: no callback begins afterwards, and what the last
 * one stored can be seen.  release() comes once, never while a callback runs,
 * and does come, also when the callback of F never ends.
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

/* What a variant has. */
enum {
	/* The set: E and F in each pass, or E in fast ones, F in others. */
	SHORT		= 1 << 0,
	/* The others, beside the task. */
	ATOMIC		= 1 << 1,	/* nobody waits for the end */
	WORKS		= 1 << 2,	/* the core's references go */
	F_BARRIER	= 1 << 3,
	F_DETACH	= 1 << 4,
	F_BLOCKS	= 1 << 5,	/* and may do so for ever */
	/* Mutants. */
	NO_HEAVY	= 1 << 6,
	NO_SECOND	= 1 << 7,	/* heavy barrier, after WAITER */
	NO_SECOND_WORK	= 1 << 8,
	NO_TEST		= 1 << 9,	/* of WAITER between engines */
	NO_FIRST_TEST	= 1 << 10,	/* before the first engine */
	ANY_WAITER	= 1 << 11,	/* will do, whoever set it */
	CORE_NONE	= 1 << 12,	/* for the task inside */
	CORE_LOST	= 1 << 13,	/* one engine's for the other's */
	NOW_LATE	= 1 << 14,	/* after the flags were read */
	NOW_PLAIN	= 1 << 15,	/* no release at a change */
	NOW_SURE	= 1 << 16,	/* NULL: no fast pass considered */
	PASSES_PLAIN	= 1 << 17,	/* no release */
	CORE_KEPT	= 1 << 21,	/* by a task that left */
	/* The task is a reaper, which no heavy barrier interrupts. */
	REAPER		= 1 << 18,
	NO_MB_NOW	= 1 << 19,	/* after it stores pinned or now */
	NO_MB_UNPIN	= 1 << 20,
};

struct state {
	struct machine m;
	struct {
		__u8 flags;
		__u8 drop;
		__u8 looked;
		__u8 passes;
		__u8 calls;	/* of E, to know which one is meant */
		__u8 f_calls;
		__u8 in;
		__u8 in_f;
	} task;
	struct look {
		__u8 inside;
		__u8 passes;
		__u8 drop;
	} look[4];
	__u8 queued;
	__u8 told;	/* that E is not running */
	__u8 f_call;	/* that is to be waited for */
	__u8 core[3];
	__u8 released[3];
	__u8 stuck;
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
		fail("told that nothing runs while a callback does");
}

/* The task. */

static void callback_begins(struct state *s)
{
	s->task.in = 1;
	if (s->told)
		fail("a callback begins after it was told that none runs");
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

/* In the step of the store before: nobody interrupts this CPU. */
static void reaper_fence(unsigned int not)
{
	if (has(REAPER) && !has(not))
		fence();
}

/* u->lock is held.  Who sleeps for passes to change takes no lock. */
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
				AWAIT("in the callback of F for ever", false);
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

/* The others. */

/* u->lock is held. */
static bool inside(__u8 engine)
{
	if (!load(PINNED))
		return false;
	if (load(NOW) == engine)
		return true;
	return engine == E && has(SHORT) && !load(NOW) && !has(NOW_SURE);
}

/* u->lock is held. */
static void look(struct state *s, struct look *l, __u8 engine)
{
	l->inside = inside(engine);
	if (!l->inside)
		return;
	l->passes = load(PASSES);
	store(FLAGS, load(FLAGS) | FLAG_WAITER);
}

/*
 * u->lock is held.  The mark may be that of another, which the task has not seen
 * yet; it will have after one more heavy barrier.
 */
static void find(struct look *l, __u8 engine)
{
	l->inside = (load(FLAGS) & FLAG_WAITER) && inside(engine);
	l->passes = load(PASSES);
}

/* u->lock is held.  Nobody was told since, so WAITER was set all the time. */
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
	STEP("heavy: IPI");
	if (!has(NO_HEAVY | REAPER))
		fence_on(TASK);
	LOCK(U_LOCK);
	STEP("inside E? then WAITER");
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
	STEP("heavy again: IPI");
	if (!has(NO_SECOND | REAPER))
		fence_on(TASK);
	LOCK(U_LOCK);
	STEP("inside E and WAITER? then passes");
	find(l, E);
	UNLOCK(U_LOCK);
	if (l->inside && !has(ANY_WAITER)) {
		STEP("heavy for the third time: smp_mb()");
		fence();
		STEP("heavy for the third time: IPI");
		if (!has(NO_SECOND | REAPER))
			fence_on(TASK);
		LOCK(U_LOCK);
		STEP("inside E and not told?");
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
 * u->lock is held.  If the task is inside, it gets a reference to drop when it
 * leaves.  An engine that has one there was left already.
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

/* u->lock is held.  The task may have left before it could see the mark. */
static void take_core_back(struct look *l, __u8 engine)
{
	if (load(CORE) == engine && !inside(engine)) {
		l->drop = engine;
		store(CORE, NOBODY);
	}
}

/* The work of a detach: the core's references go. */
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
	STEP("heavy: smp_mb()");
	fence();
	STEP("heavy: IPI");
	if (!has(NO_HEAVY | REAPER))
		fence_on(TASK);
	LOCK(U_LOCK);
	STEP("inside? then WAITER and u->core");
	give_core(s, l, engine);
	UNLOCK(U_LOCK);
	if (l->inside) {
		STEP("drop what was u->core");
		core_put(s, &l->drop);
		STEP("heavy again: IPI");
		if (!has(NO_SECOND_WORK | REAPER))
			fence_on(TASK);
		LOCK(U_LOCK);
		STEP("not inside, u->core still? then take it back");
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
	STEP("heavy: smp_mb()");
	fence();
	s->f_call = s->task.in_f ? s->task.f_calls : 0;
	STEP("heavy: IPI");
	fence_on(TASK);
	LOCK(U_LOCK);
	STEP("inside F? then WAITER");
	look(s, l, F);
	UNLOCK(U_LOCK);
	if (l->inside) {
		STEP("heavy again: smp_mb()");
		fence();
		STEP("heavy again: IPI");
		fence_on(TASK);
		LOCK(U_LOCK);
		STEP("inside F and not told?");
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

/* Those that a variant is without have nothing to do. */
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
		fail("the task does not go on");
	if (!done(DETACHER))
		fail("the barrier sleeps for ever");
	if (has(WORKS) && !s->released[E])
		fail("release() never comes");
	if (has(F_DETACH) && !s->stuck && !s->released[F])
		fail("release() never comes");
	if (has(F_BARRIER) && !s->stuck && !done(OTHER))
		fail("the barrier on F sleeps for ever");
}

static const struct thread threads[] = {
	{ "task", task },
	{ "detacher", detacher },
	{ "worker", maybe_worker },
	{ "other", other },
	{}
};

#define BEGINS	"a callback begins after it was told that none runs"
#define RUNS	"told that nothing runs while a callback does"
#define SLEEPS	"the barrier sleeps for ever"
#define NEVER	"release() never comes"

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
	{ "detach without heavy barrier", false, NO_HEAVY, RUNS },
	{ "detach, short, without heavy barrier", false, SHORT | NO_HEAVY,
	  RUNS },
	{ "detach, short, with the set not looked at", false, SHORT | NOW_SURE,
	  RUNS },
	{ "detach with now after the flags", false, NOW_LATE, RUNS },
	{ "detach, PSO, with plain stores to now", true, NOW_PLAIN, RUNS },
	{ "detach, PSO, with a plain store to passes", true, PASSES_PLAIN, RUNS },
	{ "detach without second heavy barrier", false, NO_SECOND | F_BLOCKS,
	  SLEEPS },
	{ "detach, worker without second heavy barrier", false,
	  ATOMIC | WORKS | NO_SECOND_WORK | F_BLOCKS, NEVER },
	{ "detach without WAITER tested between engines", false,
	  NO_TEST | F_BLOCKS, SLEEPS },
	{ "detach, short, without WAITER tested before the first", false,
	  SHORT | NO_FIRST_TEST | F_BLOCKS, SLEEPS },
	{ "detach with any WAITER taken for its own", false,
	  F_BARRIER | F_BLOCKS | ANY_WAITER, SLEEPS },
	{ "detach, worker that takes nothing back", false,
	  ATOMIC | WORKS | F_BLOCKS | CORE_KEPT, NEVER },
	{ "detach without a reference for the task inside", false,
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
