// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - attach to a tree while its processes fork and end
 *
 * A controller attaches an engine to a process and all its descendants.  It
 * collects them in one critical section of tasklist_lock, publishes without the
 * lock, and checks in one critical section that there are no new processes
 * ("certifies").  After some rounds it publishes with the lock held.
 * Concurrently processes fork, also with CLONE_PARENT, and end, so that their
 * children are reparented to the nearest subreaper or to init.  All of this
 * happens under locks, one after the other, so the model has no store buffers.
 *
 * The property: when the attach has ended, the engine covers each process in
 * the tree.
 */
#include "explore.h"

#define NTASKS		7
#define INIT		0
#define OUTSIDE		1
#define TARGET		2
#define ACTIONS		4
#define ROUNDS		2

/* Bits of a variant. */
enum {
	SUBREAPER	= 1 << 0,	/* the target is a subreaper */
	/* Mutants. */
	NO_CERTIFY	= 1 << 1,	/* there is no second check */
	BATCHES		= 1 << 2,	/* the lock is taken for each parent */
	HEIR_EARLY	= 1 << 3,	/* fork reads before it takes locks */
	NO_LAST		= 1 << 4,	/* no last round with the lock held */
};

struct state {
	struct machine m;
	__u8 parent[NTASKS];
	__u8 alive;		/* processes, as bits, as are the next four */
	__u8 covered;
	__u8 todo;		/* collected: they get the engine */
	__u8 seen;		/* whose children were checked */
	__u8 bad;		/* new processes found by BATCHES */
	__u8 rounds;
	__u8 attached;
	__u8 actions;
	struct {
		__u8 creator;
		__u8 like;	/* the fork has CLONE_PARENT */
		__u8 heir;	/* the engine, as HEIR_EARLY has read it */
	} birth[2];
};

static bool is_alive(const struct state *s, unsigned int task)
{
	return s->alive & (1 << task);
}

static bool below(const struct state *s, unsigned int task, unsigned int top)
{
	while (task != top && task != INIT)
		task = s->parent[task];
	return task == top;
}

static __u8 tree(const struct state *s)
{
	unsigned int i;
	__u8 tasks = 0;

	for (i = 0; i < NTASKS; i++)
		if (is_alive(s, i) && below(s, i, TARGET))
			tasks |= 1 << i;
	return tasks;
}

static __u8 children(const struct state *s, unsigned int parent)
{
	unsigned int i;
	__u8 tasks = 0;

	for (i = OUTSIDE; i < NTASKS; i++)
		if (is_alive(s, i) && s->parent[i] == parent)
			tasks |= 1 << i;
	return tasks;
}

static unsigned int first_of(__u8 tasks)
{
	return __builtin_ctz(tasks);
}

static void check(const struct state *s)
{
	if (s->attached && (tree(s) & ~s->covered))
		fail("a process of the tree is missed");
}

/* End the attach. */
static void over(struct state *s)
{
	s->attached = 1;
	check(s);
}

static void controller(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("collect the tree");
	s->todo = tree(s);
again:
	while (s->todo) {
		STEP("publish to one of them, unless it was reaped");
		s->covered |= s->alive & s->todo & -s->todo;
		s->todo &= s->todo - 1;
	}
	if (has(NO_CERTIFY)) {
		STEP("done");
		over(s);
	} else if (has(BATCHES)) {
		STEP("certify the target");
		s->bad = !is_alive(s, TARGET) ? 0 :
			 ~s->covered & (1 << TARGET);
		s->seen = 1 << TARGET;
		while (s->seen) {
			STEP("certify the children of one");
			s->todo = children(s, first_of(s->seen));
			s->bad |= s->todo & ~s->covered;
			s->seen &= s->seen - 1;
			s->seen |= s->todo;
			s->todo = 0;
		}
		STEP("done unless there are newcomers");
		s->todo = s->bad & s->alive;
		s->bad = 0;
		if (!s->todo)
			over(s);
	} else {
		STEP("certify: newcomers?");
		s->todo = tree(s) & ~s->covered;
		if (!s->todo || (++s->rounds == ROUNDS && !has(NO_LAST))) {
			s->covered |= s->todo;
			s->todo = 0;
			over(s);
		}
		if (s->rounds > ROUNDS)
			fail("an attach that forks keep from ending");
	}
	if (!s->attached)
		goto again;
	END;
}

/* End a process, and reap it. */
static void task_ends(struct state *s)
{
	unsigned int task = OUTSIDE + choose(NTASKS - OUTSIDE);
	unsigned int reaper, i;

	if (!is_alive(s, task) || task == OUTSIDE || task == TARGET ||
	    s->birth[0].creator == task || s->birth[1].creator == task) {
		cannot_go_on();
		return;
	}
	s->alive &= ~(1 << task);
	reaper = has(SUBREAPER) && below(s, task, TARGET) ? TARGET : INIT;
	for (i = OUTSIDE; i < NTASKS; i++)
		if (s->parent[i] == task)
			s->parent[i] = reaper;
	s->parent[task] = INIT;
	s->covered &= ~(1 << task);
	s->actions++;
	check(s);
}

static void end_some(struct state *s, unsigned int me)
{
	BEGIN;
	while (s->actions < ACTIONS) {
		AWAIT("a process ends", s->actions < ACTIONS);
		task_ends(s);
	}
	END;
}

/* Model clone() up to where the child becomes visible. */
static void birth_begins(struct state *s, unsigned int nr)
{
	unsigned int creator = OUTSIDE + choose(2 * (NTASKS - OUTSIDE));

	s->birth[nr].like = creator >= NTASKS;
	if (s->birth[nr].like)
		creator -= NTASKS - OUTSIDE;
	if (!is_alive(s, creator)) {
		cannot_go_on();
		return;
	}
	s->birth[nr].creator = creator;
	s->birth[nr].heir = !!(s->covered & (1 << creator));
	s->actions++;
}

/* Add the child, under tasklist_lock and the creator's u->lock. */
static void birth(struct state *s, unsigned int nr)
{
	unsigned int creator = s->birth[nr].creator;
	unsigned int child = first_of(~s->alive);
	bool heir = s->covered & (1 << creator);

	if (child >= NTASKS) {
		cannot_go_on();
		return;
	}
	s->alive |= 1 << child;
	s->parent[child] = s->birth[nr].like ? s->parent[creator] : creator;
	if (has(HEIR_EARLY) ? s->birth[nr].heir : heir)
		s->covered |= 1 << child;
	s->birth[nr].creator = INIT;
	s->birth[nr].heir = 0;
	s->birth[nr].like = 0;
	check(s);
}

static void fork_some(struct state *s, unsigned int me)
{
	BEGIN;
	while (s->actions < ACTIONS) {
		AWAIT("a process forks, or is about to", s->actions < ACTIONS);
		birth_begins(s, me - 2);
		STEP("the child is there");
		birth(s, me - 2);
	}
	END;
}

static void init(struct state *s)
{
	/* init - outside - target - a child - a grandchild */
	s->alive = 0x1f;
	s->parent[OUTSIDE] = INIT;
	s->parent[TARGET] = OUTSIDE;
	s->parent[3] = TARGET;
	s->parent[4] = 3;
}

static void at_end(struct state *s)
{
	if (!s->attached)
		fail("the attach does not end");
}

static const char *const vars[] = {};

static const struct thread threads[] = {
	{ "controller", controller },
	{ "ends", end_some },
	{ "forks", fork_some },
	{ "forks too", fork_some },
	{}
};

#define MISSED	"a process of the tree is missed"

static const struct variant variants[] = {
	{ "tree", false, 0, NULL },
	{ "tree of a subreaper", false, SUBREAPER, NULL },
	{ "tree without certification", false, NO_CERTIFY, MISSED },
	{ "tree certified in batches", false, SUBREAPER | BATCHES, MISSED },
	{ "tree with the engine read before the locks", false, HEIR_EARLY,
	  MISSED },
	{ "tree without a last round under the lock", false, NO_LAST,
	  "an attach that forks keep from ending" },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= 0,
	.init		= init,
	.end		= at_end,
	.variants	= variants,
};
