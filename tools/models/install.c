// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - a task gets its first set while it forks
 *
 * A fork copies the members of the parent, in any order.  After a read barrier
 * it tests whether the parent has a struct utrace, and clears the child's
 * copies if so.  Concurrently a controller gives the parent a struct utrace,
 * and then a set and a word.  In this model the copies are loaded in any order,
 * and without the read barrier the load of the test may come before them.
 *
 * The properties: a child whose copies are not cleared has at most the word of
 * a bare parent, which the fork recomputes.  A struct utrace that the fork
 * finds is initialised.
 */
#include "explore.h"

enum var { UTRACE, READY, SET, WORD, BARE_LOCK, U_LOCK };
static const char *const vars[] = {
	"utrace", "what is in it", "utrace_set", "word", "utrace_bare_lock",
	"u->lock",
};

#define NOT_READY	"a struct utrace is used that is not ready"
#define KEEPS		"the child keeps what is its parent's"

/* Values of the word: of a bare task, and of a task with a set. */
enum { BARE = 1, OF_SET };

/* The loads of a fork; ASK is the test of the parent's utrace. */
enum { COPY_UTRACE, COPY_SET, COPY_WORD, ASK, NLOADS };

/* Bits of a variant, all of them mutants. */
enum {
	UTRACE_PLAIN	= 1 << 0,	/* utrace is stored without release */
	UTRACE_LATE	= 1 << 1,	/* utrace is stored after the set */
	NO_MB		= 1 << 2,	/* no smp_mb() before the set */
	NO_RMB		= 1 << 3,	/* no smp_rmb() in the fork */
	ASK_FIRST	= 1 << 4,	/* the fork tests before it copies */
};

struct state {
	struct machine m;
	__u8 loaded;		/* loads that were made, as bits */
	__u8 got[NLOADS];
};

static bool is_loaded(const struct state *s, unsigned int which)
{
	return s->loaded & (1 << which);
}

/*
 * Check whether the fork may execute this load now.  COPY_UTRACE always
 * precedes ASK, since loads of one variable keep their order.
 */
static bool may_load(const struct state *s, unsigned int which)
{
	if (is_loaded(s, which))
		return false;
	if (has(ASK_FIRST))
		return which == ASK || is_loaded(s, ASK);
	if (which != ASK)
		return true;
	if (has(NO_RMB))
		return is_loaded(s, COPY_UTRACE);
	return s->loaded == (1 << ASK) - 1;
}

static void load_one(struct state *s)
{
	static const __u8 var[NLOADS] = { UTRACE, SET, WORD, UTRACE };
	unsigned int which = choose(NLOADS);

	if (!may_load(s, which)) {
		cannot_go_on();
		return;
	}
	s->loaded |= 1 << which;
	s->got[which] = load(var[which]);
}

static void parent(struct state *s, unsigned int me)
{
	BEGIN;
	while (s->loaded != (1 << NLOADS) - 1) {
		STEP("copy utrace [0], utrace_set [1], word [2]; utrace? [3]");
		load_one(s);
	}
	if (s->got[ASK]) {
		STEP("what may a child inherit?");
		if (!load(READY))
			fail(NOT_READY);
	} else {
		STEP("the child is as it was copied");
		if (s->got[COPY_UTRACE] || s->got[COPY_SET] ||
		    s->got[COPY_WORD] != BARE)
			fail(KEEPS);
	}
	END;
}

static void store_utrace(void)
{
	if (has(UTRACE_PLAIN))
		store(UTRACE, 1);
	else
		store_release(UTRACE, 1);
}

static void controller(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("make a struct utrace");
	store(READY, 1);
	if (!has(UTRACE_LATE)) {
		LOCK(BARE_LOCK);
		STEP("utrace");
		store_utrace();
		UNLOCK(BARE_LOCK);
	}
	LOCK(U_LOCK);
	/* The release store of utrace does not order the stores after it. */
	if (!has(NO_MB)) {
		STEP("smp_mb()");
		fence();
	}
	STEP("utrace_set");
	store_release(SET, 1);
	STEP("word");
	store(WORD, OF_SET);
	UNLOCK(U_LOCK);
	if (has(UTRACE_LATE)) {
		STEP("utrace");
		store_utrace();
	}
	END;
}

static void init(struct state *s)
{
	s->m.mem[WORD] = BARE;
}

static void at_end(struct state *s)
{
	if (!done(0) || !done(1))
		fail("deadlock");
}

static const struct thread threads[] = {
	{ "parent", parent },
	{ "controller", controller },
	{}
};

static const struct variant variants[] = {
	{ "install", false, 0, NULL },
	{ "install, PSO", true, 0, NULL },
	{ "install, PSO, with a plain store of utrace", true, UTRACE_PLAIN,
	  NOT_READY },
	{ "install with utrace after the set", false, UTRACE_LATE, KEEPS },
	{ "install, PSO, without barrier before the set", true, NO_MB, KEEPS },
	{ "install without smp_rmb()", false, NO_RMB, KEEPS },
	{ "install with a parent that is asked first", false, ASK_FIRST,
	  KEEPS },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= 2,
	.init		= init,
	.end		= at_end,
	.variants	= variants,
};
