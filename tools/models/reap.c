// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - attach against reaping
 *
 * Two controllers, one at a time, give a task its first engines while the task
 * is reaped.  The reaper's hook ignores a task without a struct utrace.  A
 * controller that published the first set too late for the hook takes the set
 * back.  The reaper writes EXIT_DEAD by cmpxchg(), a full barrier, or with
 * tasklist_lock held for writing, which is no full barrier.  So the controller
 * takes and releases that lock before it reads EXIT_DEAD.
 *
 * The properties: no set is left on a task that was reaped, no set is dropped
 * twice, and the reaping is reported to an engine whose attach succeeded.
 */
#include "explore.h"

enum var {
	UTRACE, UTRACE_SET, REAPED, EXIT_DEAD, U_LOCK, MUTEX, TASKLIST_LOCK,
};

static const char *const vars[] = {
	"utrace", "utrace_set", "REAPED", "EXIT_DEAD", "u->lock", "mutex",
	"tasklist_lock",
};

#define LEFT	"a set is left on a task that was reaped"
#define DEAF	"an attached engine gets no report of the reaping"

/* Bits of a variant; all but ONE and LOCKED are mutants. */
enum {
	NO_MB_REAPER	= 1 << 0,	/* no barrier after EXIT_DEAD */
	NO_MB_PUBLISH	= 1 << 1,	/* none after publishing */
	NO_REAPED	= 1 << 2,	/* publish despite REAPED */
	NO_REAPED_BACK	= 1 << 3,	/* take back despite REAPED */
	NO_TAKE_BACK	= 1 << 4,	/* take no set back */
	TAKE_ANY	= 1 << 5,	/* also take a later set back */
	ONE		= 1 << 6,	/* only one controller */
	LOCKED		= 1 << 7,	/* EXIT_DEAD under tasklist_lock */
	NO_TASKLIST	= 1 << 8,	/* controllers do not take it */
};

struct state {
	struct machine m;
	struct {
		__u8 looked;
		__u8 set;	/* the previous set */
	} controller[2];
	__u8 attached;	/* engines, as bits; a set is such bits as well */
	__u8 told;	/* engines that got the report */
	__u8 reaps;	/* the reaper was the first to set REAPED */
	__u8 dropped;	/* number of sets that were dropped */
	__u8 made;	/* number of sets that were built */
};

/* Publish a set with one more engine, unless REAPED.  u->lock is held. */
static void publish(struct state *s, unsigned int me)
{
	if (load(REAPED) && !has(NO_REAPED))
		return;
	s->made++;
	s->controller[me].set = load(UTRACE_SET);
	s->dropped += s->controller[me].set != 0;
	store_release(UTRACE_SET, s->controller[me].set | 1 << me);
	s->attached |= 1 << me;
}

/* Take the set back, unless the reaper has done so.  u->lock is held. */
static void take_back(struct state *s, unsigned int me)
{
	if (load(REAPED) && !has(NO_REAPED_BACK))
		return;
	store(REAPED, 1);
	s->attached &= ~(1 << me);
	s->dropped++;
	store(UTRACE_SET, 0);
}

static void controller(struct state *s, unsigned int me)
{
	BEGIN;
	if (me && has(ONE))
		goto out;
	LOCK(MUTEX);
	STEP("no utrace? then one");
	if (!load(UTRACE))
		store_release(UTRACE, 1);
	LOCK(U_LOCK);
	STEP("utrace_set = new unless REAPED");
	publish(s, me);
	UNLOCK(U_LOCK);
	if (!has(NO_MB_PUBLISH)) {
		STEP("smp_mb()");
		fence();
	}
	if ((s->controller[me].set && !has(TAKE_ANY)) || has(NO_TAKE_BACK) ||
	    !(s->attached & (1 << me)))
		goto unlock;
	if (!has(NO_TASKLIST)) {
		LOCK(TASKLIST_LOCK);
		UNLOCK(TASKLIST_LOCK);
	}
	STEP("EXIT_DEAD?");
	s->controller[me].looked = load(EXIT_DEAD);
	if (s->controller[me].looked) {
		LOCK(U_LOCK);
		STEP("take it back unless REAPED");
		take_back(s, me);
		UNLOCK(U_LOCK);
	}
unlock:
	UNLOCK(MUTEX);
out:
	END;
}

/* Report to the engines of the set, and drop it.  u->lock is held. */
static void reap(struct state *s)
{
	__u8 set = load(UTRACE_SET);

	s->reaps = !load(REAPED);
	store(REAPED, 1);
	if (!s->reaps)
		return;
	s->told |= set;
	s->dropped += set != 0;
	store(UTRACE_SET, 0);
}

static void reaper(struct state *s, unsigned int me)
{
	BEGIN;
	if (has(LOCKED))
		LOCK(TASKLIST_LOCK);
	STEP("EXIT_DEAD");
	store(EXIT_DEAD, 1);
	if (has(LOCKED))
		UNLOCK(TASKLIST_LOCK);
	if (!has(NO_MB_REAPER) && !has(LOCKED)) {
		STEP("smp_mb()");
		fence();
	}
	STEP("a struct utrace?");
	if (load(UTRACE)) {
		LOCK(U_LOCK);
		STEP("REAPED, take the set, report");
		reap(s);
		UNLOCK(U_LOCK);
	}
	END;
}

static void init(struct state *s)
{
}

static void at_end(struct state *s)
{
	if (!done(0) || !done(1) || !done(2))
		fail("deadlock");
	if (in_memory(UTRACE_SET))
		fail(LEFT);
	if (s->dropped != s->made)
		fail("a set is dropped twice, or never");
	if (s->attached & ~s->told)
		fail(DEAF);
}

static const struct thread threads[] = {
	{ "controller 1", controller },
	{ "controller 2", controller },
	{ "reaper", reaper },
	{}
};

static const struct variant variants[] = {
	{ "reaping", false, 0, NULL },
	{ "reaping, PSO", true, 0, NULL },
	{ "reaping, tasklist_lock", false, LOCKED, NULL },
	{ "reaping, tasklist_lock, PSO", true, LOCKED, NULL },
	{ "reaping without barrier of the reaper", false, NO_MB_REAPER, LEFT },
	{ "reaping, tasklist_lock, taken by the reaper alone", false,
	  LOCKED | NO_TASKLIST, LEFT },
	{ "reaping, PSO, without barrier after publishing", true,
	  ONE | NO_MB_PUBLISH, LEFT },
	{ "reaping with nothing taken back", false, NO_TAKE_BACK, LEFT },
	{ "reaping with more than a first set taken back", false, TAKE_ANY,
	  DEAF },
	{ "reaping with publishing that ignores REAPED", false, NO_REAPED,
	  LEFT },
	{ "reaping with taking back that ignores REAPED", false, NO_REAPED_BACK,
	  "a set is dropped twice, or never" },
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
