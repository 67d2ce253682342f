// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - a task brings its set up to date
 *
 * The task has two events.  Meanwhile another thread renames it, which may turn
 * the verdict of a match; an engine's wishes change; and a controller attaches
 * another engine, or one of the system comes or goes.  A set remembers ->seq of
 * the engine and the number of the system's table when it was made.
 *
 * When all is quiet, the set, the verdict and the word of the task are what was
 * wished for last, or REBUILD is set.  An engine of the system that the walk of
 * its detach has taken out does not come back.
 */
#include "explore.h"

enum var { SET, MUTED, WORD, NAME, SEQ, WISHES, SYSTEM, SYSGEN, U_LOCK };
static const char *const vars[] = {
	"utrace_set", "muted", "word", "name", "seq", "flags",
	"system table", "sysgen", "u->lock",
};

#define STALE	"the task is not up to date, and is not going to be"
#define BACK	"a detached engine of the system is published"
#define LOST	"an attached engine is not in the set"

#define REBUILD		0x80	/* in a word; the rest are the wishes */

/* A set is what it was made of. */
#define SET_SEQ		0x01
#define SET_WISHES	0x02
#define SET_SYSGEN	0x04
#define SET_SYSTEM	0x08	/* an engine of the system is in it */
#define SET_OTHER	0x10	/* and the one that a controller attached */

/* What a variant has. */
enum {
	ATTACH		= 1 << 0,	/* of another engine */
	SYSTEM_ATTACH	= 1 << 1,
	SYSTEM_DETACH	= 1 << 2,
	SYSTEM_IN	= 1 << 12,	/* the task's set at first */
	/* Mutants. */
	CLEAR_LATE	= 1 << 3,	/* REBUILD, after the match was asked */
	SEQ_LATE	= 1 << 4,	/* read after the flags */
	SEQ_PLAIN	= 1 << 5,	/* written without release */
	WORD_WHOLE	= 1 << 6,	/* REBUILD is overwritten */
	NO_OLD		= 1 << 7,	/* still the set it began with? */
	NO_SYSGEN	= 1 << 8,	/* of today? */
	NO_COMPARE	= 1 << 9,	/* of seqs by a controller */
	GIVES_UP	= 1 << 10,	/* REBUILD stays off */
	WALK_EARLY	= 1 << 11,	/* before the table changes */
	TABLE_FIRST	= 1 << 13,	/* read before its number */
	SYSGEN_FIRST	= 1 << 14,	/* written before the table */
};

struct state {
	struct machine m;
	struct {
		__u8 old;
		__u8 new;
		__u8 verdict;
		__u8 events;
		__u8 tries;
		__u8 done;
	} task;
	__u8 built;		/* by the controller */
	__u8 gone;		/* the walk of a system detach is over */
};

static __u8 word_of(__u8 set, __u8 muted)
{
	__u8 word = 0;

	if ((set & SET_WISHES) && !muted)
		word |= SET_WISHES;
	return word | (set & (SET_SYSTEM | SET_OTHER));
}

/* u->lock is held. */
static void publish(struct state *s, __u8 set, __u8 muted)
{
	__u8 rebuild = has(WORD_WHOLE) ? 0 : load(WORD) & REBUILD;

	if (s->gone && (set & SET_SYSTEM))
		fail(BACK);
	store_release(SET, set);
	store(MUTED, muted);
	store(WORD, word_of(set, muted) | rebuild);
}

static void want_rebuild(void)
{
	store(WORD, load(WORD) | REBUILD);
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

/* u->lock is held. */
static void renewed(struct state *s)
{
	bool current_table = !!(s->task.new & SET_SYSGEN) == load(SYSGEN);

	if ((load(SET) != s->task.old && !has(NO_OLD)) ||
	    (!current_table && !has(NO_SYSGEN))) {
		if (!has(GIVES_UP))
			want_rebuild();
		return;
	}
	publish(s, s->task.new, s->task.verdict);
	if (has(CLEAR_LATE))
		store(WORD, load(WORD) & ~REBUILD);
	s->task.done = 1;
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	for (; s->task.events < 2; s->task.events++) {
		s->task.done = 0;
		s->task.tries = 0;
		STEP("event: REBUILD?");
		if (!(load(WORD) & REBUILD))
			continue;
		for (; s->task.tries < 2 && !s->task.done; s->task.tries++) {
			LOCK(U_LOCK);
			STEP("REBUILD off, old = utrace_set");
			if (!has(CLEAR_LATE))
				store(WORD, load(WORD) & ~REBUILD);
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
			/* As good as before: what it had is kept. */
			if (!((s->task.old ^ s->task.new) &
			      (SET_SEQ | SET_SYSGEN)))
				s->task.new = s->task.old;
			LOCK(U_LOCK);
			STEP("publish if nothing came between");
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
	STEP("REBUILD");
	want_rebuild();
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
	STEP("the new wishes and REBUILD");
	store(WORD, load(WORD) | SET_WISHES | REBUILD);
	UNLOCK(U_LOCK);
	END;
}

/* u->lock is held.  A task that is not up to date yet does the rest. */
static void publish_other(struct state *s)
{
	bool changed = !!(s->built & SET_SEQ) != load(SEQ);

	publish(s, s->built, load(MUTED));
	if (changed && !has(NO_COMPARE))
		want_rebuild();
}

/* u->lock is held. */
static void walk_system(struct state *s)
{
	__u8 set = load(SET);

	if (has(SYSTEM_ATTACH)) {
		want_rebuild();
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
		STEP("walk: REBUILD, or another set");
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
	s->m.mem[WORD] = REBUILD;
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
	if (in_memory(WORD) & REBUILD)
		return;
	read_seq(&wanted);
	read_wishes(&wanted);
	read_system(&wanted);
	/* The number may be older than the table: that costs one more renewal. */
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
	{ "renewal with REBUILD cleared after asking", false, CLEAR_LATE,
	  STALE },
	{ "renewal with seq read after the flags", false, SEQ_LATE, STALE },
	{ "renewal, PSO, with a plain store to seq", true, SEQ_PLAIN, STALE },
	{ "renewal with the whole word written", false, WORD_WHOLE,
	  STALE },
	{ "renewal of whatever is published", false, ATTACH | NO_OLD, LOST },
	{ "renewal without sysgen looked at", false, SYSTEM_DETACH | NO_SYSGEN,
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
	{ "renewal that gives up without REBUILD", false,
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
