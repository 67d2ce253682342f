// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - a task renews its set
 *
 * The task has two events.  Concurrently another thread renames the task, which
 * changes the verdict of a match; the events that an engine wants (wishes)
 * change; and a controller attaches another engine, or attaches or detaches an
 * engine of the system.  A set contains the ->seq of the engine and the number
 * of the system's table that were read when it was built.
 *
 * The properties: when all threads have ended, the set, the verdict and the
 * word of the task match the last changes, or the word has RENEW.  An engine of
 * the system is not added again once the walk of its detach has removed it.
 */
#include "explore.h"

enum var { SET, MUTED, WORD, NAME, SEQ, WISHES, SYSTEM, SYSGEN, U_LOCK };
static const char *const vars[] = {
	"utrace_set", "muted", "word", "name", "seq", "flags",
	"system table", "sysgen", "u->lock",
};

#define STALE	"the task stays out of date"
#define BACK	"a detached engine of the system is published"
#define LOST	"an attached engine is not in the set"

#define RENEW		0x80	/* a bit of the word; the others are SET_... */

/* A set, as bits: the values it was built from. */
#define SET_SEQ		0x01
#define SET_WISHES	0x02
#define SET_SYSGEN	0x04
#define SET_SYSTEM	0x08	/* the set contains the system's engine */
#define SET_OTHER	0x10	/* the set contains the attached engine */

/* Bits of a variant. */
enum {
	ATTACH		= 1 << 0,	/* another engine is attached */
	SYSTEM_ATTACH	= 1 << 1,	/* one of the system is attached */
	SYSTEM_DETACH	= 1 << 2,	/* one of the system is detached */
	SYSTEM_IN	= 1 << 12,	/* which the first set contains */
	/* Mutants. */
	CLEAR_LATE	= 1 << 3,	/* RENEW is cleared after the match */
	SEQ_LATE	= 1 << 4,	/* seq is read after the flags */
	SEQ_PLAIN	= 1 << 5,	/* seq is stored without release */
	WORD_WHOLE	= 1 << 6,	/* publishing overwrites RENEW */
	NO_OLD		= 1 << 7,	/* publish over any set */
	NO_SYSGEN	= 1 << 8,	/* publish an old table's set */
	NO_COMPARE	= 1 << 9,	/* a controller ignores seq */
	GIVES_UP	= 1 << 10,	/* RENEW stays clear after a failure */
	WALK_EARLY	= 1 << 11,	/* walk before the table changes */
	TABLE_FIRST	= 1 << 13,	/* table is read before its number */
	SYSGEN_FIRST	= 1 << 14,	/* number is written before the table */
};

struct state {
	struct machine m;
	struct {
		__u8 old;	/* the set when the renewal began */
		__u8 new;	/* the set to publish */
		__u8 verdict;
		__u8 events;
		__u8 tries;
		__u8 done;	/* the renewal has published */
	} task;
	__u8 built;		/* the set that the controller built */
	__u8 gone;		/* the walk of a system detach is over */
};

static __u8 word_of(__u8 set, __u8 muted)
{
	__u8 word = 0;

	if ((set & SET_WISHES) && !muted)
		word |= SET_WISHES;
	return word | (set & (SET_SYSTEM | SET_OTHER));
}

/* Publish a set with its word, and keep RENEW.  u->lock is held. */
static void publish(struct state *s, __u8 set, __u8 muted)
{
	__u8 renew = has(WORD_WHOLE) ? 0 : load(WORD) & RENEW;

	if (s->gone && (set & SET_SYSTEM))
		fail(BACK);
	store_release(SET, set);
	store(MUTED, muted);
	store(WORD, word_of(set, muted) | renew);
}

static void want_renewal(void)
{
	store(WORD, load(WORD) | RENEW);
}

static void read_seq(__u8 *set)
{
	if (load(SEQ))
		*set |= SET_SEQ;
}

static void read_wishes(__u8 *set)
{
	if (load(WISHES))
		*set |= SET_WISHES;
}

static void read_sysgen(__u8 *set)
{
	if (load(SYSGEN))
		*set |= SET_SYSGEN;
}

static void read_system(__u8 *set)
{
	if (load(SYSTEM))
		*set |= SET_SYSTEM;
}

/* Publish the task's own set, unless it is out of date.  u->lock is held. */
static void renewed(struct state *s)
{
	bool current_table = !!(s->task.new & SET_SYSGEN) == load(SYSGEN);

	if ((load(SET) != s->task.old && !has(NO_OLD)) ||
	    (!current_table && !has(NO_SYSGEN))) {
		if (!has(GIVES_UP))
			want_renewal();
		return;
	}
	publish(s, s->task.new, s->task.verdict);
	if (has(CLEAR_LATE))
		store(WORD, load(WORD) & ~RENEW);
	s->task.done = 1;
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	for (; s->task.events < 2; s->task.events++) {
		s->task.done = 0;
		s->task.tries = 0;
		STEP("event: RENEW?");
		if (!(load(WORD) & RENEW))
			continue;
		for (; s->task.tries < 2 && !s->task.done; s->task.tries++) {
			LOCK(U_LOCK);
			STEP("RENEW off, old = utrace_set");
			if (!has(CLEAR_LATE))
				store(WORD, load(WORD) & ~RENEW);
			s->task.old = load(SET);
			UNLOCK(U_LOCK);
			STEP("ask the match");
			s->task.verdict = load(NAME);
			s->task.new = s->task.old & SET_OTHER;
			if (!has(TABLE_FIRST)) {
				STEP("the number of the system's table");
				read_sysgen(&s->task.new);
			}
			STEP("the table of the system");
			read_system(&s->task.new);
			if (has(TABLE_FIRST)) {
				STEP("the number of the system's table");
				read_sysgen(&s->task.new);
			}
			if (!has(SEQ_LATE)) {
				STEP("seq");
				read_seq(&s->task.new);
			}
			STEP("flags");
			read_wishes(&s->task.new);
			if (has(SEQ_LATE)) {
				STEP("seq");
				read_seq(&s->task.new);
			}
			/* The numbers of the old set are the same: keep it. */
			if (!((s->task.old ^ s->task.new) &
			      (SET_SEQ | SET_SYSGEN)))
				s->task.new = s->task.old;
			LOCK(U_LOCK);
			STEP("publish unless the set has changed");
			renewed(s);
			UNLOCK(U_LOCK);
		}
		s->task.old = 0;
		s->task.new = 0;
	}
	END;
}

static void renamer(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("another name");
	store(NAME, 1);
	LOCK(U_LOCK);
	STEP("RENEW");
	want_renewal();
	UNLOCK(U_LOCK);
	END;
}

static void changer(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("flags");
	store(WISHES, 1);
	STEP("seq");
	if (has(SEQ_PLAIN))
		store(SEQ, 1);
	else
		store_release(SEQ, 1);
	LOCK(U_LOCK);
	STEP("the new wishes and RENEW");
	store(WORD, load(WORD) | SET_WISHES | RENEW);
	UNLOCK(U_LOCK);
	END;
}

/*
 * Publish the controller's set.  u->lock is held.  If seq has changed since the
 * set was built, RENEW makes the task renew it.
 */
static void publish_other(struct state *s)
{
	bool changed = !!(s->built & SET_SEQ) != load(SEQ);

	publish(s, s->built, load(MUTED));
	if (changed && !has(NO_COMPARE))
		want_renewal();
}

/* Update the task in the walk for the system's engines.  u->lock is held. */
static void walk_system(struct state *s)
{
	__u8 set = load(SET);

	if (has(SYSTEM_ATTACH)) {
		want_renewal();
		return;
	}
	if (set & SET_SYSTEM)
		publish(s, (set & ~SET_SYSTEM) | SET_SYSGEN, load(MUTED));
	else
		store(WORD, load(WORD) & ~SET_SYSTEM);
	s->gone = 1;
}

static void controller(struct state *s, unsigned int me)
{
	BEGIN;
	if (has(ATTACH)) {
		STEP("the number of the system's table");
		s->built = SET_OTHER;
		read_sysgen(&s->built);
		STEP("the table of the system");
		read_system(&s->built);
		STEP("seq");
		read_seq(&s->built);
		STEP("flags");
		read_wishes(&s->built);
		LOCK(U_LOCK);
		STEP("publish, compare seq");
		publish_other(s);
		UNLOCK(U_LOCK);
	}
	if (has(SYSTEM_ATTACH | SYSTEM_DETACH)) {
		if (has(SYSGEN_FIRST)) {
			STEP("its number");
			store_release(SYSGEN, 1);
		}
		if (!has(WALK_EARLY)) {
			STEP("another table of the system");
			store_release(SYSTEM, has(SYSTEM_ATTACH));
			STEP("its number");
			store_release(SYSGEN, 1);
		}
		LOCK(U_LOCK);
		STEP("walk: RENEW, or another set");
		walk_system(s);
		UNLOCK(U_LOCK);
		if (has(WALK_EARLY)) {
			STEP("another table of the system");
			store_release(SYSTEM, has(SYSTEM_ATTACH));
			STEP("its number");
			store_release(SYSGEN, 1);
		}
	}
	END;
}

static void init(struct state *s)
{
	s->m.mem[WORD] = RENEW;
	s->m.mem[SYSTEM] = has(SYSTEM_DETACH);
	if (has(SYSTEM_IN))
		s->m.mem[SET] = SET_SYSTEM;
}

static void at_end(struct state *s)
{
	__u8 set = in_memory(SET), wanted = in_memory(SET) & SET_OTHER;

	if (!done(0) || !done(1) || !done(2) || !done(3))
		fail("deadlock");
	if (has(ATTACH) && !(set & SET_OTHER))
		fail(LOST);
	if (in_memory(WORD) & RENEW)
		return;
	read_seq(&wanted);
	read_wishes(&wanted);
	read_system(&wanted);
	/* A number that is older than the table only costs one more renewal. */
	set &= ~SET_SYSGEN;
	if (set != wanted || in_memory(MUTED) != in_memory(NAME) ||
	    in_memory(WORD) != word_of(set, in_memory(MUTED)))
		fail(STALE);
}

static const struct thread threads[] = {
	{ "task", task },
	{ "renamer", renamer },
	{ "changer", changer },
	{ "controller", controller },
	{}
};

static const struct variant variants[] = {
	{ "renewal", false, 0, NULL },
	{ "renewal beside attach", false, ATTACH, NULL },
	{ "renewal beside attach, PSO", true, ATTACH, NULL },
	{ "renewal beside system attach", false, SYSTEM_ATTACH, NULL },
	{ "renewal beside system detach", false, SYSTEM_DETACH, NULL },
	{ "renewal beside system detach, PSO", true, SYSTEM_DETACH, NULL },
	{ "renewal beside attach and system detach", false,
	  ATTACH | SYSTEM_DETACH | SYSTEM_IN, NULL },
	{ "renewal beside attach and system detach, PSO", true,
	  ATTACH | SYSTEM_DETACH, NULL },
	{ "renewal with RENEW cleared after asking", false, CLEAR_LATE,
	  STALE },
	{ "renewal with seq read after the flags", false, SEQ_LATE, STALE },
	{ "renewal, PSO, with a plain store to seq", true, SEQ_PLAIN, STALE },
	{ "renewal with the whole word written", false, WORD_WHOLE,
	  STALE },
	{ "renewal that publishes over any set", false, ATTACH | NO_OLD, LOST },
	{ "renewal that ignores sysgen", false, SYSTEM_DETACH | NO_SYSGEN,
	  BACK },
	{ "renewal with the table read before its number", false,
	  SYSTEM_DETACH | TABLE_FIRST, BACK },
	{ "renewal with the number written before the table", false,
	  SYSTEM_DETACH | SYSGEN_FIRST, BACK },
	{ "renewal beside a detach that walks first", false,
	  SYSTEM_DETACH | WALK_EARLY,
	  BACK },
	{ "renewal beside an attach that compares no seq", false,
	  ATTACH | NO_COMPARE, STALE },
	{ "renewal that gives up without RENEW", false,
	  ATTACH | SYSTEM_DETACH | GIVES_UP, STALE },
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
