// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - new members of a domain while an engine's events change
 *
 * A change of events and a STOP of all tasks walk over the lists of members
 * under RCU.  Concurrently a child is created that inherits from a set that was
 * built before the change, and a controller moves another task to a newer
 * domain.  A walk visits the list of the newer domain after that of the older
 * one.
 *
 * The property: the walks miss no member.  Both tasks have RENEW or a set that
 * was built after the change, and both are held, by the walk or by their own
 * check.
 */
#include "explore.h"

enum var {
	SEQ, HOLD_ALL, CHILD_LINKED, IN_OLD, IN_NEW,
	/* For each of CHILD and MOVED. */
	RENEW, HOLD = RENEW + 2, U_LOCK = HOLD + 2,
};

static const char *const vars[] = {
	"seq", "HOLD_ALL", "child in a list", "task in the old list",
	"task in the new list", "RENEW of the child", "RENEW of the task",
	"hold of the child", "hold of the task", "u->lock of the child",
	"u->lock of the task",
};

#define CHILD	0
#define MOVED	1
#define MISSED	"a member is missed"

/* Bits of a variant, all of them mutants. */
enum {
	NO_MB_CHILD	= 1 << 0,	/* none after the child is linked */
	NO_MB_WALK	= 1 << 1,	/* none before the walk */
	LOOK_EARLY	= 1 << 2,	/* the check precedes the link */
	UNLINK_EARLY	= 1 << 3,	/* unlink precedes link */
	LINK_PLAIN	= 1 << 4,	/* link and unlink have no release */
	NEWEST_FIRST	= 1 << 5,	/* a walk begins at the newest domain */
	NO_LOOK		= 1 << 6,	/* the controller ignores seq */
};

struct state {
	struct machine m;
	__u8 looked;		/* bit 0: seq, bit 1: HOLD_ALL, for the child */
	__u8 set_seq[2];	/* seq of the sets of CHILD and MOVED */
	__u8 found;		/* bits of the walks that found MOVED */
};

/* Change the word and the hold of task @i, whose u->lock is held. */
static void told(unsigned int i, bool renew, bool hold)
{
	if (renew)
		store(RENEW + i, 1);
	if (hold)
		store(HOLD + i, 1);
}

static void child(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("inherit a set");
	s->set_seq[CHILD] = load(SEQ);
	if (has(LOOK_EARLY)) {
		STEP("seq? HOLD_ALL?");
		s->looked = load(SEQ) | load(HOLD_ALL) << 1;
	}
	STEP("link");
	store_release(CHILD_LINKED, 1);
	if (!has(NO_MB_CHILD)) {
		STEP("smp_mb()");
		fence();
	}
	if (!has(LOOK_EARLY)) {
		STEP("seq?");
		s->looked = load(SEQ);
		STEP("HOLD_ALL?");
		s->looked |= load(HOLD_ALL) << 1;
	}
	STEP("RENEW if it is another, hold");
	told(CHILD, (s->looked & 1) != s->set_seq[CHILD], s->looked & 2);
	END;
}

/* Move the task MOVED to a newer domain. */
static void controller(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("build a set");
	s->set_seq[MOVED] = load(SEQ);
	LOCK(U_LOCK + MOVED);
	STEP("publish it");
	store(RENEW + MOVED, 0);
	UNLOCK(U_LOCK + MOVED);
	if (has(UNLINK_EARLY)) {
		STEP("unlink from the old list");
		store(IN_OLD, 0);
	}
	STEP("link to the new list");
	if (has(LINK_PLAIN))
		store(IN_NEW, 1);
	else
		store_release(IN_NEW, 1);
	if (!has(UNLINK_EARLY)) {
		STEP("unlink from the old list");
		if (has(LINK_PLAIN))
			store(IN_OLD, 0);
		else
			store_release(IN_OLD, 0);
	}
	STEP("smp_mb()");
	fence();
	if (!has(NO_LOOK)) {
		LOCK(U_LOCK + MOVED);
		STEP("RENEW if seq is another");
		told(MOVED, load(SEQ) != s->set_seq[MOVED], false);
		UNLOCK(U_LOCK + MOVED);
	}
	END;
}

static void visit(unsigned int me, unsigned int i)
{
	told(i, me == 2, me == 3);
}

/* Model utrace_set_events() in thread 2, a STOP of all tasks in thread 3. */
static void changer(struct state *s, unsigned int me)
{
	__u8 *found = &s->found;
	__u8 bit = me == 2 ? 1 : 2;

	BEGIN;
	STEP("seq, or HOLD_ALL");
	store_release(me == 2 ? SEQ : HOLD_ALL, 1);
	if (!has(NO_MB_WALK)) {
		STEP("smp_mb()");
		fence();
	}
	STEP("is the child in a list?");
	if (load(CHILD_LINKED)) {
		LOCK(U_LOCK + CHILD);
		STEP("RENEW, or hold");
		visit(me, CHILD);
		UNLOCK(U_LOCK + CHILD);
	}
	STEP("is the task in the first list?");
	*found |= load(has(NEWEST_FIRST) ? IN_NEW : IN_OLD) ? bit : 0;
	if (!(*found & bit)) {
		STEP("is the task in the second list?");
		*found |= load(has(NEWEST_FIRST) ? IN_OLD : IN_NEW) ? bit : 0;
	}
	if (*found & bit) {
		LOCK(U_LOCK + MOVED);
		STEP("RENEW, or hold");
		visit(me, MOVED);
		UNLOCK(U_LOCK + MOVED);
	}
	END;
}

static void init(struct state *s)
{
	s->m.mem[IN_OLD] = 1;
}

static void at_end(struct state *s)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (!done(i))
			fail("deadlock");
	for (i = CHILD; i <= MOVED; i++)
		if ((!in_memory(RENEW + i) && !s->set_seq[i]) ||
		    !in_memory(HOLD + i))
			fail(MISSED);
}

static const struct thread threads[] = {
	{ "child", child },
	{ "controller", controller },
	{ "set_events", changer },
	{ "STOP of all", changer },
	{}
};

static const struct variant variants[] = {
	{ "members", false, 0, NULL },
	{ "members, PSO", true, 0, NULL },
	{ "members without barrier of the child", false, NO_MB_CHILD, MISSED },
	{ "members without barrier before the walk", false, NO_MB_WALK,
	  MISSED },
	{ "members with a check before the child is linked", false, LOOK_EARLY,
	  MISSED },
	{ "members with unlink before link", false, UNLINK_EARLY, MISSED },
	{ "members, PSO, with plain stores to the lists", true, LINK_PLAIN,
	  MISSED },
	{ "members with domains walked newest first", false, NEWEST_FIRST,
	  MISSED },
	{ "members with a controller that ignores seq", false, NO_LOOK,
	  MISSED },
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
