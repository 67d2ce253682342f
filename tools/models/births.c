// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - walks under RCU over a list of tasks, concurrent with births
 *
 * A fork reads the state that its child inherits, and later adds the child at
 * the end of the list; it holds tasklist_lock for writing around both.  A walk
 * over the list runs under RCU, after utrace_tasklist_barrier() has taken
 * tasklist_lock for reading and released it.  Tasks die during the walk.  A
 * task that is removed from the list keeps its pointer to the next task, and a
 * walk that has reached the removed task follows it.
 *
 * Without ATTACH, the events that the engines of the system want (wishes)
 * change, and the walk writes them to the word of each task.  A fork writes
 * the wishes to the child's word, unless the wishes, the creator's word and
 * the copied word are all empty.
 *
 * With ATTACH, an engine is attached to a process: a walk collects threads
 * that are not covered, these are covered, and so on until a walk finds none.
 * A child inherits from its creator.  After some such walks the last walk
 * covers threads as it meets them, with tasklist_lock held.
 *
 * The property: when the walk or the attach has ended, the word of each living
 * task in the list contains the wishes, or the task is covered.
 */
#include "explore.h"

#define NTASKS		5
#define NFIRST		2	/* tasks in the list at the start */
#define HEAD		NTASKS	/* the head of the list */
#define EXITS		3
#define ROUNDS		1

enum var {
	NEXT,				/* for each task, and for the head */
	WORD	= NEXT + NTASKS + 1,	/* for each task; ATTACH: covered? */
	WISHES	= WORD + NTASKS,	/* events of the system's engines */
	TASKLIST_LOCK,
};

static const char *const vars[] = {
	"next of task 0", "next of task 1", "next of task 2", "next of task 3",
	"next of task 4", "head of the list",
	"word of task 0", "word of task 1", "word of task 2", "word of task 3",
	"word of task 4", "wishes", "tasklist_lock",
};

/* Bits of a variant. */
enum {
	ATTACH		= 1 << 0,	/* attach to a process */
	WISHES_GO	= 1 << 1,	/* the wishes become empty */
	/* Mutants. */
	NO_BARRIER	= 1 << 2,	/* no utrace_tasklist_barrier() */
	BARRIER_EARLY	= 1 << 3,	/* the barrier precedes the change */
	AT_HEAD		= 1 << 4,	/* children are added at the head */
	READ_EARLY	= 1 << 5,	/* fork reads before the lock */
	NO_WISHES	= 1 << 6,	/* fork reads only the words */
	NO_COPY		= 1 << 7,	/* fork does not read the copy */
	NO_CERTIFY	= 1 << 8,	/* no second walk */
	LAST_FREE	= 1 << 9,	/* the last walk is without the lock */
	FORGETS		= 1 << 10,	/* a removed task loses its next */
	NEXT_EARLY	= 1 << 11,	/* next is read before the check */
};

struct state {
	struct machine m;
	__u8 runs;		/* running tasks, as bits */
	__u8 dead;		/* dead tasks, as bits */
	__u8 tasks;		/* tasks so far; no number is used again */
	__u8 forks;
	__u8 exits;
	__u8 dying;		/* a dead task that is still in the list */
	struct {
		__u8 creator;	/* number of the task + 1 */
		__u8 child;
		__u8 copy;	/* copy of the creator's word */
		__u8 word;
	} birth[2];
	struct {
		__u8 at;
		__u8 next;
		__u8 found;	/* tasks to cover, as bits */
		__u8 rounds;
		__u8 last;	/* this is the last walk */
		__u8 over;
	} walk;
};

static bool is_dead(const struct state *s, unsigned int task)
{
	return s->dead & (1 << task);
}

static __u8 wanted(void)
{
	return !has(WISHES_GO);
}

/*
 * Check the property.  A task is in the list once the store that links it has
 * landed.
 */
static void check(const struct state *s)
{
	unsigned int i;

	if (!s->walk.over)
		return;
	for (i = in_memory(NEXT + HEAD); i != HEAD; i = in_memory(NEXT + i))
		if (!is_dead(s, i) && in_memory(WORD + i) != wanted())
			fail(has(ATTACH) ? "a thread is not covered" :
					   "a task misses the change");
}

/* End the walk.  fence() makes its stores land, as they do at some time. */
static void over(struct state *s)
{
	fence();
	s->walk.over = 1;
	check(s);
}

/* The walks. */

static void tell_all(struct state *s, unsigned int me)
{
	BEGIN;
	if (!has(BARRIER_EARLY)) {
		STEP("the wishes change");
		store(WISHES, wanted());
	}
	if (!has(NO_BARRIER)) {
		LOCK(TASKLIST_LOCK);
		UNLOCK(TASKLIST_LOCK);
	}
	if (has(BARRIER_EARLY)) {
		STEP("the wishes change");
		store(WISHES, wanted());
	}
	STEP("the first task");
	s->walk.at = load(NEXT + HEAD);
	while (s->walk.at != HEAD) {
		STEP("change its word");
		store(WORD + s->walk.at, load(WISHES));
		STEP("the next task");
		s->walk.at = load(NEXT + s->walk.at);
	}
	STEP("the walk is over");
	over(s);
	END;
}

/* Find, or cover, the current thread of the walk, unless it is dead. */
static void look_at(struct state *s)
{
	if (is_dead(s, s->walk.at) || load(WORD + s->walk.at))
		return;
	/*
	 * The last walk covers a thread at once, so that no further walk is
	 * needed.
	 */
	if (s->walk.last)
		store(WORD + s->walk.at, 1);
	else
		s->walk.found |= 1 << s->walk.at;
}

static void cover_found(struct state *s)
{
	unsigned int task = __builtin_ctz(s->walk.found);

	if (!is_dead(s, task))
		store(WORD + task, 1);
	s->walk.found &= s->walk.found - 1;
}

static void attach_all(struct state *s, unsigned int me)
{
	BEGIN;
	for (;;) {
		if (s->walk.last && !has(LAST_FREE)) {
			LOCK(TASKLIST_LOCK);
		} else if (!has(NO_BARRIER) &&
			   !(has(BARRIER_EARLY) && s->walk.rounds)) {
			LOCK(TASKLIST_LOCK);
			UNLOCK(TASKLIST_LOCK);
		}
		STEP("the first thread");
		s->walk.at = load(NEXT + HEAD);
		while (s->walk.at != HEAD) {
			if (has(NEXT_EARLY)) {
				STEP("the next thread");
				s->walk.next = load(NEXT + s->walk.at);
			}
			STEP("is it covered, or dead?");
			look_at(s);
			if (!has(NEXT_EARLY)) {
				STEP("the next thread");
				s->walk.next = load(NEXT + s->walk.at);
			}
			s->walk.at = s->walk.next;
			s->walk.next = 0;
		}
		if (s->walk.last && !has(LAST_FREE))
			UNLOCK(TASKLIST_LOCK);
		if (!s->walk.found)
			break;
		/*
		 * The last walk finds again the threads that this walk has
		 * found.
		 */
		if (s->walk.rounds++ == ROUNDS) {
			s->walk.found = 0;
			s->walk.last = 1;
			continue;
		}
		/*
		 * The barrier of the next walk precedes the change, which is
		 * too early.
		 */
		if (has(BARRIER_EARLY)) {
			LOCK(TASKLIST_LOCK);
			UNLOCK(TASKLIST_LOCK);
		}
		while (s->walk.found) {
			STEP("cover one of them, unless it is dead");
			cover_found(s);
		}
		if (has(NO_CERTIFY))
			break;
	}
	STEP("the attach is over");
	over(s);
	END;
}

static void walker(struct state *s, unsigned int me)
{
	if (has(ATTACH))
		attach_all(s, me);
	else
		tell_all(s, me);
}

/* Births. */

static __u8 word_of_child(unsigned int creator, __u8 copy)
{
	bool look;

	if (has(ATTACH))
		return load(WORD + creator);
	look = load(WORD + creator);
	look |= copy && !has(NO_COPY);
	look |= load(WISHES) && !has(NO_WISHES);
	return look ? load(WISHES) : copy;
}

/*
 * Choose a task that runs and is not forking.  Returns false if there is none.
 */
static bool choose_task(const struct state *s, unsigned int *task)
{
	*task = choose(NTASKS);
	if ((s->runs & (1 << *task)) && s->birth[0].creator != *task + 1 &&
	    s->birth[1].creator != *task + 1)
		return true;
	cannot_go_on();
	return false;
}

/* Model clone() up to tasklist_lock: the child is a copy of its creator. */
static void birth_begins(struct state *s, unsigned int nr)
{
	unsigned int creator;

	if (!choose_task(s, &creator))
		return;
	s->birth[nr].creator = creator + 1;
	s->forks++;
	if (!has(ATTACH))
		s->birth[nr].copy = load(WORD + creator);
	if (has(READ_EARLY))
		s->birth[nr].word = word_of_child(creator, s->birth[nr].copy);
}

/*
 * Add the child to the list; tasklist_lock is held.  The fence() is for stores
 * to the child alone, which no other thread can see yet.
 */
static void birth(struct state *s, unsigned int nr)
{
	unsigned int child = s->tasks++, last = HEAD;

	while (load(NEXT + last) != HEAD && !has(AT_HEAD))
		last = load(NEXT + last);
	store(WORD + child, s->birth[nr].word);
	store(NEXT + child, load(NEXT + last));
	fence();
	store_release(NEXT + last, child);
	s->birth[nr].child = child;
	s->birth[nr].copy = 0;
	s->birth[nr].word = 0;
}

/*
 * End clone(): creator and child may die from here on.  A thread that sees one
 * of them dead also sees the stores of the fork, since the unlock has landed
 * before.
 */
static void birth_ends(struct state *s, unsigned int nr)
{
	s->runs |= 1 << s->birth[nr].child;
	s->birth[nr].creator = 0;
	s->birth[nr].child = 0;
}

/*
 * Check whether fork number @nr may begin.  The second one begins only during
 * the first one, since the two are equal.  A fork that begins after the end of
 * the walk cannot break the property, and is not modelled.
 */
static bool may_fork(const struct state *s, unsigned int nr)
{
	return s->forks < NTASKS - NFIRST && !s->walk.over &&
	       (!nr || s->birth[0].creator);
}

static void fork_some(struct state *s, unsigned int me)
{
	unsigned int nr = me - 1;

	BEGIN;
	for (;;) {
		AWAIT("a task is about to fork", may_fork(s, nr));
		birth_begins(s, nr);
		LOCK(TASKLIST_LOCK);
		if (!has(READ_EARLY)) {
			STEP("what is the child to have?");
			s->birth[nr].word =
				word_of_child(s->birth[nr].creator - 1,
					      s->birth[nr].copy);
		}
		STEP("the child is in the list");
		birth(s, nr);
		UNLOCK(TASKLIST_LOCK);
		AWAIT("the child runs", !in_flight(me, TASKLIST_LOCK));
		birth_ends(s, nr);
	}
	END;
}

/* Deaths. */

static void task_dies(struct state *s)
{
	unsigned int task;

	if (!choose_task(s, &task))
		return;
	s->runs &= ~(1 << task);
	s->dead |= 1 << task;
	s->dying = task;
	s->exits++;
}

/*
 * Remove the dead task from the list.  tasklist_lock is held, and released
 * here.
 */
static void task_goes(struct state *s)
{
	unsigned int task = s->dying, before = HEAD;

	while (load(NEXT + before) != task)
		before = load(NEXT + before);
	store(NEXT + before, load(NEXT + task));
	if (has(FORGETS))
		store(NEXT + task, HEAD);
	store_release(TASKLIST_LOCK, 0);
	fence();
	s->dying = 0;
}

static void end_some(struct state *s, unsigned int me)
{
	BEGIN;
	for (;;) {
		AWAIT("a task dies", s->exits < EXITS && !s->walk.over);
		task_dies(s);
		AWAIT("it is taken out of the list", try_lock(TASKLIST_LOCK));
		task_goes(s);
	}
	END;
}

static void init(struct state *s)
{
	unsigned int i;

	for (i = 0; i < NTASKS; i++)
		s->m.mem[NEXT + i] = i + 1 < NFIRST ? i + 1 : HEAD;
	s->m.mem[NEXT + HEAD] = 0;
	s->tasks = NFIRST;
	s->runs = (1 << NFIRST) - 1;
	s->m.mem[WISHES] = !wanted();
	for (i = 0; i < NFIRST; i++)
		s->m.mem[WORD + i] = !wanted();
}

static void landed(struct state *s, __u8 var, __u8 val)
{
	if (var <= NEXT + HEAD)
		check(s);
}

static void at_end(struct state *s)
{
	if (!s->walk.over)
		fail("the walk does not end");
}

static const struct thread threads[] = {
	{ "walker", walker },
	{ "forks", fork_some },
	{ "forks too", fork_some },
	{ "ends", end_some },
	{}
};

#define UNTOLD		"a task misses the change"
#define UNCOVERED	"a thread is not covered"

static const struct variant variants[] = {
	{ "births", false, 0, NULL },
	{ "births, PSO", true, 0, NULL },
	{ "births, the wishes become empty", false, WISHES_GO, NULL },
	{ "births and attach", false, ATTACH, NULL },
	{ "births and attach, PSO", true, ATTACH, NULL },
	{ "births without barrier", false, NO_BARRIER, UNTOLD },
	{ "births with the barrier before the change", false, BARRIER_EARLY,
	  UNTOLD },
	{ "births with the wishes read before the lock", false, READ_EARLY,
	  UNTOLD },
	{ "births with a fork that reads only the words", false, NO_WISHES,
	  UNTOLD },
	{ "births with a fork that ignores the copy", false,
	  WISHES_GO | NO_COPY, UNTOLD },
	{ "births with what came next forgotten", false, FORGETS, UNTOLD },
	{ "births and attach without barrier", false, ATTACH | NO_BARRIER,
	  UNCOVERED },
	{ "births and attach with the barrier before the change", false,
	  ATTACH | BARRIER_EARLY, UNCOVERED },
	{ "births and attach with a read before the lock", false,
	  ATTACH | READ_EARLY, UNCOVERED },
	{ "births and attach with children first in the list", false,
	  ATTACH | AT_HEAD, UNCOVERED },
	{ "births and attach with next read before the check", false,
	  ATTACH | NEXT_EARLY, UNCOVERED },
	{ "births and attach without certification", false,
	  ATTACH | NO_CERTIFY, UNCOVERED },
	{ "births and attach with the last walk without the lock", false,
	  ATTACH | LAST_FREE, UNCOVERED },
	{ "births and attach with what came next forgotten", false,
	  ATTACH | FORGETS, UNCOVERED },
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
