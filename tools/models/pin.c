// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - pin, publish, defer, and drop of a set
 *
 * A task walks its sets and also renews its set itself.  Concurrently two
 * controllers publish other sets; or one does, and an engine is detached.  The
 * task has only compiler barriers.  Controllers and the detacher execute a
 * membarrier between their store and their load.  The address of a set is
 * reused as soon as its last reference is dropped.
 *
 * The properties: no thread uses a set that has no reference, and no reference
 * is dropped twice or lost.  When the detacher has found that no callback of
 * the engine runs, no callback runs or begins.
 */
#include "explore.h"

enum var {
	UTRACE_SET, PINNED, DEFERRED, FLAGS, U_LOCK, MUTEX, WALK, E_FLAGS,
};

static const char *const vars[] = {
	"utrace_set", "pinned", "deferred", "flags", "u->lock", "mutex",
	"last store of the walk", "flags of the engine",
};

#define FLAG_DEFERRED	1
#define FREED	"use of a freed set"
#define TWICE	"a reference is dropped twice"
#define RUNS	"the result is \"not running\" while a callback runs"

#define NSETS		4
#define TASK		0

/* Bits of a variant; all but BEGIN_BARE, DETACH and TAKE_BACK are mutants. */
enum {
	NO_MEMBARRIER	= 1 << 0,	/* no membarrier */
	DEFER_LATE	= 1 << 1,	/* defer after the membarrier */
	NO_LOOK		= 1 << 2,	/* utrace_set is not read after a pin */
	LOOK_EARLY	= 1 << 3,	/* a compiler moves it before the pin */
	UNPIN_PLAIN	= 1 << 4,	/* unpin without release */
	FLAG_EARLY	= 1 << 5,	/* DEFERRED is read before the unpin */
	SWEEP_ANY	= 1 << 6,	/* sweep does not read deferred */
	SWEEP_UNLOCKED	= 1 << 7,	/* sweep without the mutex */
	BEGIN_BARE	= 1 << 8,	/* the task has no set at first */
	DETACH		= 1 << 9,	/* a detach, and one controller */
	LOOK_PUBLISHED	= 1 << 10,	/* a detacher ignores deferred */
	LOOK_ANY	= 1 << 11,	/* a detacher reads any address */
	TAKE_BACK	= 1 << 12,	/* a first set is taken back */
	TAKE_OVER	= 1 << 13,	/* the take-back overwrites deferred */
};

struct state {
	struct machine m;
	__u8 ref[NSETS + 1];
	struct {
		__u8 set;
		__u8 new;
		__u8 drop[2];
		__u8 looked;
		__u8 flags;
		__u8 passes;
	} task;
	struct controller {
		__u8 old;
		__u8 drop;
		__u8 confirmed;
		__u8 rounds;
	} controller[2];
	__u8 running;	/* a callback of the engine runs */
	__u8 told;	/* the detacher has found no callback */
};

/* References. */

static __u8 new_set(struct state *s)
{
	__u8 set;

	for (set = 1; set <= NSETS; set++) {
		if (!s->ref[set]) {
			s->ref[set] = 1;
			return set;
		}
	}
	cannot_go_on();
	return 0;
}

static void touch(struct state *s, __u8 set)
{
	if (set && !s->ref[set])
		fail(FREED);
}

static void get(struct state *s, __u8 set)
{
	touch(s, set);
	if (set)
		s->ref[set]++;
}

/* Drop a reference, with a full barrier like refcount_dec_and_test(). */
static void put(struct state *s, __u8 *set)
{
	fence();
	if (*set && !s->ref[*set])
		fail(TWICE);
	else if (*set)
		s->ref[*set]--;
	*set = 0;
}

/* The task. */

/* Take the deferred set; the caller drops it.  u->lock is held. */
static __u8 take_deferred(void)
{
	__u8 set = load(DEFERRED);

	if (set) {
		store(DEFERRED, 0);
		store(FLAGS, load(FLAGS) & ~FLAG_DEFERRED);
	}
	return set;
}

static void look(struct state *s)
{
	s->task.looked = has(NO_LOOK) || load(UTRACE_SET) == s->task.set;
}

static void unpin(void)
{
	if (has(UNPIN_PLAIN))
		store(PINNED, 0);
	else
		store_release(PINNED, 0);
}

/*
 * Publish the task's own new set, unless the published set has changed.  The
 * caller drops the old set and the deferred one.  u->lock is held.
 */
static void publish_own(struct state *s)
{
	if (load(UTRACE_SET) != s->task.set) {
		s->task.drop[0] = s->task.new;
		return;
	}
	s->task.drop[0] = load(UTRACE_SET);
	store_release(UTRACE_SET, s->task.new);
	s->task.drop[1] = take_deferred();
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	while (s->task.passes < 3) {
		STEP("set = utrace_set");
		s->task.set = load(UTRACE_SET);
		if (has(LOOK_EARLY)) {
			STEP("still utrace_set?");
			look(s);
		}
		STEP("pinned = set");
		store(PINNED, s->task.set);
		if (!has(LOOK_EARLY)) {
			STEP("still utrace_set?");
			look(s);
		}
		if (!s->task.looked) {
			LOCK(U_LOCK);
			STEP("pin what is published, take what is deferred");
			s->task.set = load(UTRACE_SET);
			store(PINNED, s->task.set);
			s->task.drop[0] = take_deferred();
			UNLOCK(U_LOCK);
			STEP("drop the deferred set");
			put(s, &s->task.drop[0]);
		}
		STEP("walk: flags of the engine, callback");
		touch(s, s->task.set);
		s->running = s->task.set && load(E_FLAGS);
		if (s->running && s->told)
			fail(RUNS);
		STEP("the last store of the walk");
		s->running = 0;
		touch(s, s->task.set);
		store(WALK, s->task.set);
		if (has(FLAG_EARLY)) {
			STEP("DEFERRED?");
			s->task.flags = load(FLAGS);
		}
		STEP("pinned = NULL");
		unpin();
		if (!has(FLAG_EARLY)) {
			STEP("DEFERRED?");
			s->task.flags = load(FLAGS);
		}
		if (s->task.flags & FLAG_DEFERRED) {
			LOCK(U_LOCK);
			STEP("take the deferred set");
			s->task.drop[0] = take_deferred();
			UNLOCK(U_LOCK);
			STEP("drop the deferred set");
			put(s, &s->task.drop[0]);
		}
		if (++s->task.passes != 2 || has(TAKE_BACK))
			continue;

		LOCK(U_LOCK);
		STEP("get the published set, to renew it");
		s->task.set = load(UTRACE_SET);
		get(s, s->task.set);
		UNLOCK(U_LOCK);
		STEP("build its successor");
		s->task.new = new_set(s);
		LOCK(U_LOCK);
		STEP("publish it unless the published set has changed");
		publish_own(s);
		UNLOCK(U_LOCK);
		STEP("drop the references");
		s->task.new = 0;
		put(s, &s->task.set);
		put(s, &s->task.drop[0]);
		put(s, &s->task.drop[1]);
	}
	s->task.set = 0;
	END;
}

/* Controllers. */

/*
 * Publish a new set and defer the old one.  u->lock is held.  If a set is
 * already deferred, sweep() has found it pinned.  So the task has not pinned
 * the old set, which is dropped at once.
 */
static void publish(struct state *s, struct controller *c)
{
	__u8 new = has(TAKE_BACK) && !c->rounds ? 0 : new_set(s);

	c->old = load(UTRACE_SET);
	store_release(UTRACE_SET, new);
	c->confirmed = load(FLAGS) & FLAG_DEFERRED;
	if (c->confirmed) {
		c->drop = c->old;
		c->old = 0;
	} else if (c->old && !has(DEFER_LATE)) {
		store(DEFERRED, c->old);
		store(FLAGS, load(FLAGS) | FLAG_DEFERRED);
	}
}

/* Take the set of a dead task back.  u->lock is held. */
static void take_back(struct controller *c)
{
	__u8 set = load(UTRACE_SET);

	store_release(UTRACE_SET, 0);
	if ((load(FLAGS) & FLAG_DEFERRED) && !has(TAKE_OVER)) {
		c->drop = set;
		return;
	}
	c->old = set;
	store(DEFERRED, set);
	store(FLAGS, load(FLAGS) | FLAG_DEFERRED);
}

/*
 * Take the deferred set back unless the task has it pinned.  u->lock is held.
 */
static void sweep(struct controller *c)
{
	bool pinned = load(PINNED) == c->old;

	if (has(DEFER_LATE)) {
		if (pinned) {
			store(DEFERRED, c->old);
			store(FLAGS, load(FLAGS) | FLAG_DEFERRED);
		} else {
			c->drop = c->old;
		}
	} else if (!pinned && (load(DEFERRED) == c->old || has(SWEEP_ANY))) {
		store(DEFERRED, 0);
		store(FLAGS, load(FLAGS) & ~FLAG_DEFERRED);
		c->drop = c->old;
	}
	c->old = 0;
}

static void controller(struct state *s, unsigned int me)
{
	struct controller *c = &s->controller[me - 1];

	BEGIN;
	while (c->rounds < 2) {
		LOCK(MUTEX);
		LOCK(U_LOCK);
		STEP("utrace_set = new, deferred = old, DEFERRED");
		publish(s, c);
		UNLOCK(U_LOCK);
		if (has(TAKE_BACK) && c->rounds) {
			LOCK(U_LOCK);
			STEP("take the set back, to be deferred or dropped");
			take_back(c);
			UNLOCK(U_LOCK);
		}
		if (has(SWEEP_UNLOCKED))
			UNLOCK(MUTEX);
		if (c->old) {
			STEP("membarrier: smp_mb()");
			fence();
			STEP("membarrier: IPI");
			if (!has(NO_MEMBARRIER))
				fence_on(TASK);
			LOCK(U_LOCK);
			STEP("drop the deferred set unless it is pinned");
			sweep(c);
			UNLOCK(U_LOCK);
		}
		STEP("drop the old set");
		put(s, &c->drop);
		if (!has(SWEEP_UNLOCKED))
			UNLOCK(MUTEX);
		/* Controller 1 does this twice, controller 2 once. */
		c->rounds += me;
	}
	END;
}

/* Check for a pass over a set with the engine.  u->lock is held. */
static void look_for_pass(struct state *s)
{
	__u8 set = load(PINNED);

	if (!set)
		goto none;
	if (!has(LOOK_ANY) && set != load(UTRACE_SET) &&
	    (set != load(DEFERRED) || has(LOOK_PUBLISHED)))
		goto none;
	/* The detacher reads which engines are in the set. */
	touch(s, set);
	return;
none:
	s->told = 1;
	if (s->running)
		fail(RUNS);
}

static void detacher(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("flags of the engine = 0");
	store(E_FLAGS, 0);
	STEP("membarrier: smp_mb()");
	fence();
	STEP("membarrier: IPI");
	if (!has(NO_MEMBARRIER))
		fence_on(TASK);
	LOCK(U_LOCK);
	STEP("is a pass over a set with the engine?");
	look_for_pass(s);
	UNLOCK(U_LOCK);
	END;
}

static void second(struct state *s, unsigned int me)
{
	if (has(DETACH))
		detacher(s, me);
	else if (has(TAKE_BACK))
		next_step(THREAD_DONE, "done");
	else
		controller(s, me);
}

static void init(struct state *s)
{
	s->m.mem[E_FLAGS] = 1;
	if (has(BEGIN_BARE))
		return;
	s->m.mem[UTRACE_SET] = 1;
	s->ref[1] = 1;
}

static void landed(struct state *s, __u8 var, __u8 val)
{
	if (var == WALK && val && !s->ref[val])
		fail("a store of the walk lands in a freed set");
}

static void at_end(struct state *s)
{
	__u8 set;

	if (!done(0) || !done(1) || !done(2))
		fail("deadlock");
	if (in_memory(FLAGS) || in_memory(DEFERRED))
		fail("a deferred set is left");
	for (set = 1; set <= NSETS; set++)
		if (s->ref[set] != (in_memory(UTRACE_SET) == set))
			fail("a reference is lost");
}

static const struct thread threads[] = {
	{ "task", task },
	{ "controller 1", controller },
	{ "controller 2", second },
	{}
};

static const struct variant variants[] = {
	{ "pin", false, 0, NULL },
	{ "pin, PSO", true, 0, NULL },
	{ "pin, no set at first", false, BEGIN_BARE, NULL },
	{ "pin and detach", false, DETACH, NULL },
	{ "pin and detach, PSO", true, DETACH, NULL },
	{ "pin and a set taken back", false, TAKE_BACK, NULL },
	{ "pin without membarrier", false, NO_MEMBARRIER, FREED },
	{ "pin with DEFERRED after the membarrier", false, DEFER_LATE, FREED },
	{ "pin without a check after it", false, NO_LOOK, FREED },
	{ "pin with the check moved before it", false, LOOK_EARLY, FREED },
	{ "pin with DEFERRED read before the end", false, FLAG_EARLY, FREED },
	{ "pin, PSO, without release at the end", true, UNPIN_PLAIN,
	  "a store of the walk lands in a freed set" },
	{ "pin with a drop that does not check deferred", false, SWEEP_ANY,
	  TWICE },
	{ "pin with a drop after the mutex", false, SWEEP_UNLOCKED, FREED },
	{ "pin and a set taken back over a deferred one", false,
	  TAKE_BACK | TAKE_OVER, "a reference is lost" },
	{ "pin and detach that checks the published set", false,
	  DETACH | LOOK_PUBLISHED, RUNS },
	{ "pin and detach that reads any pinned address", false,
	  DETACH | LOOK_ANY, FREED },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= 3,
	.init		= init,
	.landed		= landed,
	.end		= at_end,
	.variants	= variants,
};
