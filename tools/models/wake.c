// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - the reader of /dev/utrace: sleep, wake, hold, release
 *
 * A task writes records to a ring with one slot.  A record without room is
 * parked if the session has a reader, otherwise dropped and counted.  A task
 * with parked records holds itself at the safe point.  A reader takes the
 * records, resumes the task, sleeps if there are no records, and may close.
 * Another reader may open, and SIGKILL may be sent.  The stop itself is one
 * step here; stop.c explores it.
 *
 * The properties: a reader does not sleep while there is a record.  A task is
 * held only while there is a reader, and not after its records were taken or
 * SIGKILL came.  It does not continue before that.  No record is dropped while
 * there is a reader, and each record that is not dropped is delivered once.
 */
#include "explore.h"

enum var {
	OPEN, HEAD, TAIL, PARKED, HOLD, KILLED, ARMED, PARK_LOCK, MUTEX,
	/* For each of two readers. */
	SLEEPING, ASLEEP = SLEEPING + 2, NVARS = ASLEEP + 2,
};

static const char *const vars[NVARS] = {
	"open", "head", "tail", "parked", "hold", "SIGKILL", "timer armed",
	"park_lock", "mutex", "sleeping of reader 1", "sleeping of reader 2",
	"state of reader 1", "state of reader 2",
};

#define TASK		0
#define NRECORDS	4	/* the last one is EXIT */

#define WAKE	"a reader sleeps though there is a record"
#define HELD	"a task is held forever"
#define RUNS	"a task runs though its records are parked"
#define DROPS	"a record is dropped though there is a reader"
#define FREED	"use of a freed task"

/* Bits of a variant. */
enum {
	SECOND		= 1 << 0,	/* another reader opens */
	CLOSES		= 1 << 1,	/* reader 1 may close */
	KILL		= 1 << 2,	/* SIGKILL comes */
	TIMER		= 1 << 3,	/* a timer wakes the reader */
	STALLS		= 1 << 4,	/* reader 1 never reads again */
	LOCKED		= 1 << 5,	/* hold and RESUME under park_lock */
	/* Mutants. */
	NO_MB_OPEN	= 1 << 6,	/* none between open = 0 and sleeping */
	NO_MB_SLEEP	= 1 << 7,	/* none from sleeping to the check */
	SLEEP_LATE	= 1 << 8,	/* the check precedes sleeping = 1 */
	ONE_FLAG	= 1 << 9,	/* readers share the flag sleeping */
	LOOK_HEAD	= 1 << 10,	/* a check of the ring alone */
	NO_LOOK		= 1 << 11,	/* hold without a second check */
	LOOK_EARLY	= 1 << 12,	/* the second check precedes the hold */
	NO_LOOP		= 1 << 13,	/* after a stop the task continues */
	RESUME_EARLY	= 1 << 14,	/* RESUME precedes the take */
	NO_RELEASE	= 1 << 15,	/* the last reader releases no task */
	RELEASE_EARLY	= 1 << 16,	/* it does before it unregisters */
	ONE_READER	= 1 << 17,	/* the session tracks one reader */
	DISARM_LATE	= 1 << 18,	/* the timer wakes, then is disarmed */
	NO_REF		= 1 << 19,	/* a parked record pins no task */
	KILL_IGNORED	= 1 << 20,	/* the stop continues despite SIGKILL */
	RESUME_LATE	= 1 << 21,	/* LOCKED, but RESUME after it */
};

struct state {
	struct machine m;
	struct {
		__u8 made;
		__u8 room;
		__u8 look;
	} task;
	struct reader {
		__u8 leaves;
		__u8 open;
		__u8 got;
		__u8 look;
		__u8 resume;
	} reader[2];
	/* Under park_lock. */
	__u8 parked;		/* records in the list */
	__u8 readers;		/* bits of readers */

	__u8 present;		/* bits of readers that have not left */
	__u8 dropped;
	__u8 delivered;
};

/* Model control() on the task: u->lock is a full barrier on both sides. */
static void control(bool hold)
{
	fence();
	store(HOLD, hold);
	fence();
}

static void resume(void)
{
	if (has(NO_REF) && done(TASK))
		fail(FREED);
	control(false);
}

static unsigned int sleeping(unsigned int reader)
{
	return SLEEPING + (has(ONE_FLAG) ? 0 : reader);
}

static void wake_readers(void)
{
	fence();
	store(ASLEEP, 0);
	store(ASLEEP + 1, 0);
	fence();
}

/* The task. */

/* Park the record, or drop it.  park_lock is held. */
static void park(struct state *s)
{
	if (s->readers) {
		store(PARKED, ++s->parked);
		return;
	}
	s->dropped++;
	if (s->present)
		fail(DROPS);
}

/* Check whether the task must be held.  park_lock is held. */
static bool to_hold(const struct state *s)
{
	return s->parked && s->readers;
}

/*
 * The task continues without a check after the stop.  A reader that opens after
 * the last one has closed may find such a task.
 */
static void leave_stop(const struct state *s)
{
	if (to_hold(s) && !load(KILLED) && !has(CLOSES))
		fail(RUNS);
}

static void close_ring(void)
{
	store(OPEN, 0);
	if (!has(NO_MB_OPEN))
		fence();
}

/* Wake the reader, or arm the timer, which wakes it. */
static void wake(void)
{
	if (!load(SLEEPING) && !load(SLEEPING + 1))
		return;
	if (!has(TIMER))
		wake_readers();
	else if (!load(ARMED))
		store(ARMED, 1);
}

/* The next record after SIGKILL is EXIT. */
static void next_record(struct state *s)
{
	s->task.look = 0;
	s->task.room = 0;
	s->task.made++;
	if (load(KILLED) && s->task.made < NRECORDS)
		s->task.made = NRECORDS - 1;
}

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	while (s->task.made < NRECORDS) {
		STEP("open = 1, smp_mb(), room?");
		store(OPEN, 1);
		fence();
		s->task.room = load(HEAD) == load(TAIL);
		if (s->task.room) {
			STEP("record, head, open = 0, smp_mb()");
			store_release(HEAD, load(HEAD) + 1);
			close_ring();
		} else {
			LOCK(PARK_LOCK);
			STEP("a reader? then park");
			park(s);
			UNLOCK(PARK_LOCK);
			STEP("open = 0, smp_mb()");
			close_ring();
		}
		STEP("sleeping? then wake");
		wake();
		if (s->task.made == NRECORDS - 1)
			break;
		if (has(LOCKED)) {
			LOCK(PARK_LOCK);
			STEP("safe point: parked, and a reader? then hold");
			if (to_hold(s))
				control(true);
			UNLOCK(PARK_LOCK);
			AWAIT("held", !load(HOLD) || load(KILLED));
			leave_stop(s);
		}
		while (!has(LOCKED)) {
			STEP("safe point: parked?");
			if (!load(PARKED))
				break;
			if (!has(LOOK_EARLY)) {
				STEP("hold");
				control(true);
			}
			s->task.look = 1;
			if (!has(NO_LOOK)) {
				LOCK(PARK_LOCK);
				STEP("still parked, and a reader?");
				s->task.look = to_hold(s);
				UNLOCK(PARK_LOCK);
			}
			if (has(LOOK_EARLY) && s->task.look) {
				STEP("hold");
				control(true);
			}
			if (!s->task.look) {
				STEP("RESUME of itself");
				control(false);
				break;
			}
			AWAIT("held",
			      !load(HOLD) ||
			      (load(KILLED) && !has(KILL_IGNORED)));
			if (load(KILLED))
				break;
			if (has(NO_LOOP)) {
				leave_stop(s);
				break;
			}
		}
		STEP("continues, or dies");
		next_record(s);
	}
	STEP("is freed");
	next_record(s);
	END;
}

/* Readers. */

/* Take the visible records of the ring, which no writer may have open. */
static void take_from_ring(struct state *s, struct reader *r)
{
	__u8 n = load(HEAD) - load(TAIL);

	if (r->open || !n)
		return;
	s->delivered += n;
	store_release(TAIL, load(HEAD));
	r->got = 1;
}

/* Resume the task: at once, or after park_lock was dropped. */
static void let_go(struct reader *r)
{
	if (has(LOCKED) && !has(RESUME_LATE))
		resume();
	else
		r->resume = 1;
}

/* Take the parked records.  park_lock is held. */
static void take_parked(struct state *s, struct reader *r)
{
	if (s->parked) {
		s->delivered += s->parked;
		s->parked = 0;
		store(PARKED, 0);
		r->got = 1;
		let_go(r);
	}
}

/* Model prepare_to_wait(). */
static void fall_asleep(unsigned int me)
{
	store(ASLEEP + me - 1, 1);
	store(sleeping(me - 1), 1);
	if (!has(NO_MB_SLEEP))
		fence();
}

/* Model finish_wait(). */
static void wake_up(unsigned int me)
{
	store(ASLEEP + me - 1, 0);
	store(sleeping(me - 1), 0);
}

static void comes(struct state *s, unsigned int me)
{
	s->present |= me;
	if (has(ONE_READER))
		s->readers = me;
	else
		s->readers |= me;
}

/*
 * Close the reader.  The last one resumes the task; its parked records stay in
 * the list for a later reader.  park_lock is held.
 */
static void goes(struct state *s, unsigned int me)
{
	struct reader *r = &s->reader[me - 1];
	bool was = s->readers & me;

	s->readers &= ~me;
	if (was && !s->readers && s->parked)
		let_go(r);
}

static void reading(struct state *s, unsigned int me)
{
	struct reader *r = &s->reader[me - 1];

	BEGIN;
	LOCK(PARK_LOCK);
	STEP("become a reader");
	comes(s, me);
	UNLOCK(PARK_LOCK);
	for (;;) {
		STEP("read, or close");
		r->got = 0;
		r->leaves = has(CLOSES) && me == 1 ? choose(2) : 0;
		if (r->leaves)
			break;
		AWAIT("does not stall", !has(STALLS) || me != 1);
		LOCK(MUTEX);
		STEP("open?");
		r->open = load(OPEN);
		STEP("head? then take, tail");
		take_from_ring(s, r);
		r->open = 0;
		STEP("parked?");
		r->look = load(PARKED);
		if (r->look) {
			if (has(RESUME_EARLY)) {
				STEP("RESUME");
				resume();
			}
			LOCK(PARK_LOCK);
			STEP("take the parked records");
			take_parked(s, r);
			UNLOCK(PARK_LOCK);
			STEP("RESUME");
			if (r->resume && !has(RESUME_EARLY))
				resume();
			r->resume = 0;
			r->look = 0;
		}
		UNLOCK(MUTEX);
		if (r->got)
			continue;
		if (!has(SLEEP_LATE)) {
			STEP("sleeping = 1, smp_mb()");
			fall_asleep(me);
		}
		STEP("head?");
		r->look = load(HEAD) != load(TAIL);
		STEP("parked?");
		r->look |= load(PARKED) && !has(LOOK_HEAD);
		if (has(SLEEP_LATE) && !r->look) {
			STEP("sleeping = 1, smp_mb()");
			fall_asleep(me);
		}
		if (!r->look) {
			STEP("schedule()");
			r->leaves = has(CLOSES) && me == 1 ? choose(2) : 0;
			if (load(ASLEEP + me - 1) && !r->leaves) {
				cannot_go_on();
				return;
			}
		}
		STEP("sleeping = 0");
		r->look = 0;
		wake_up(me);
		if (r->leaves)
			break;
	}
	if (has(RELEASE_EARLY)) {
		STEP("RESUME");
		resume();
	}
	STEP("the last descriptor is closed");
	s->present &= ~me;
	LOCK(PARK_LOCK);
	STEP("unregister; what is held?");
	goes(s, me);
	UNLOCK(PARK_LOCK);
	STEP("RESUME");
	if (r->resume && !has(NO_RELEASE) && !has(RELEASE_EARLY))
		resume();
	r->resume = 0;
	END;
}

static void second(struct state *s, unsigned int me)
{
	if (has(SECOND))
		reading(s, me);
	else
		next_step(THREAD_DONE, "done");
}

/* Send SIGKILL, or fire the timer. */
static void other(struct state *s, unsigned int me)
{
	BEGIN;
	if (has(KILL)) {
		STEP("SIGKILL");
		fence();
		store(KILLED, 1);
		fence();
	}
	while (has(TIMER)) {
		AWAIT("timer", in_memory(ARMED));
		if (!has(DISARM_LATE)) {
			STEP("disarm");
			store(ARMED, 0);
		}
		STEP("wake");
		wake_readers();
		if (has(DISARM_LATE)) {
			STEP("disarm");
			store(ARMED, 0);
		}
	}
	END;
}

static void init(struct state *s)
{
}

static void at_end(struct state *s)
{
	bool reads = s->present & ~(has(STALLS) ? 1 : 0);

	if (reads && (s->parked || in_memory(HEAD) != in_memory(TAIL)))
		fail(WAKE);
	if (!done(TASK))
		fail(HELD);
	if (s->delivered + s->dropped + s->parked + in_memory(HEAD) -
	    in_memory(TAIL) > NRECORDS)
		fail("a record is delivered twice");
}

static const struct thread threads[] = {
	{ "task", task },
	{ "reader 1", reading },
	{ "reader 2", second },
	{ "other", other },
	{}
};

static const struct variant variants[] = {
	{ "wake", false, 0, NULL },
	{ "wake, PSO", true, 0, NULL },
	{ "wake by a timer", false, TIMER, NULL },
	{ "wake, the reader may close", false, CLOSES, NULL },
	{ "wake, the reader may close, SIGKILL", false, CLOSES | KILL, NULL },
	{ "wake, a reader opens and one may close", false, SECOND | CLOSES,
	  NULL },
	{ "wake, a reader opens and one may close, SIGKILL", false,
	  SECOND | CLOSES | KILL, NULL },
	{ "wake, the reader stalls, SIGKILL", false, STALLS | KILL, NULL },
	{ "hold under park_lock", false, LOCKED, NULL },
	{ "hold under park_lock, SIGKILL", false, LOCKED | KILL | CLOSES, NULL },
	{ "hold under park_lock, a reader opens and one may close", false,
	  LOCKED | SECOND | CLOSES, NULL },
	{ "hold under park_lock, two readers", false, LOCKED | SECOND, NULL },
	{ "wake without barrier after open = 0", false, NO_MB_OPEN, WAKE },
	{ "wake without barrier after sleeping = 1", false, NO_MB_SLEEP, WAKE },
	{ "wake with sleeping set after the check", false, SLEEP_LATE, WAKE },
	{ "wake with a check of the ring alone", false, LOOK_HEAD, WAKE },
	{ "wake with one flag for two sleepers", false,
	  SECOND | CLOSES | ONE_FLAG, WAKE },
	{ "wake by a timer that is disarmed too late", false,
	  TIMER | DISARM_LATE, WAKE },
	{ "hold without a second check", false, NO_LOOK, HELD },
	{ "hold after the second check", false, LOOK_EARLY, HELD },
	{ "hold without a check after the stop", false, NO_LOOP, RUNS },
	{ "hold with RESUME before the records are taken", false, RESUME_EARLY,
	  HELD },
	{ "hold by a reader that closes without release", false,
	  CLOSES | NO_RELEASE, HELD },
	{ "hold by a reader that releases before it closes", false,
	  CLOSES | RELEASE_EARLY, HELD },
	{ "hold in a session that knows one reader", false,
	  SECOND | CLOSES | ONE_READER, DROPS },
	{ "hold under park_lock with RESUME after it", false,
	  LOCKED | RESUME_LATE, RUNS },
	{ "hold without reference on the task", false, KILL | NO_REF, FREED },
	{ "hold in spite of SIGKILL", false, STALLS | KILL | KILL_IGNORED,
	  HELD },
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
