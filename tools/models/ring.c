// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - the rings of /dev/utrace: reserve, commit, merge, drop, park
 *
 * Each CPU has a ring.  A writer disables preemption while its ring is open, so
 * that a CPU has one writer at a time; a task may migrate between two records.
 * The reader merges the rings in the order of time.  A record without room is
 * parked in a list under a lock, or counted, and a LOST record with the count
 * precedes the next record in the ring.  All CPUs have one clock, which may not
 * advance between two reads.
 *
 * The properties: times in the stream never decrease.  If the clock does not
 * advance, records are later than the clock; if nothing is written, they are
 * delivered, and only records that are begun after that may have an earlier
 * time.  The records of a task, and those of a CPU, are delivered in the order
 * in which they were made, each once.  A record is delivered or counted, and
 * the count is at the place of the record.
 */
#include <string.h>

#include "explore.h"

enum var {
	/* For each of two CPUs. */
	OPEN, LAST = OPEN + 2, HEAD = LAST + 2, TAIL = HEAD + 2,
	SLOT = TAIL + 2, PARKED = SLOT + 4, PARK_LOCK,
};

static const char *const vars[] = {
	"open of CPU 0", "open of CPU 1", "last of CPU 0", "last of CPU 1",
	"head of CPU 0", "head of CPU 1", "tail of CPU 0", "tail of CPU 1",
	"slot 0 of CPU 0", "slot 1 of CPU 0", "slot 0 of CPU 1",
	"slot 1 of CPU 1", "parked", "park_lock",
};

#define SIZE		2	/* slots of a ring */
#define NRECORDS	6	/* 0 to 2 are those of X, 3 to 5 those of Y */
#define READER		2
#define ALL_TIME	15
#define LOST_RECORD	0x80	/* with the time << 3, and the count */

#define BACK	"the stream goes back in time"
#define UNWRITTEN "a record is read that was not written"
#define TASK	"the records of a task are not in order"
#define PLACE	"the records of a CPU are not in order"

/* Bits of a variant. */
enum {
	STOP		= 1 << 0,	/* the policy is stop, else drop */
	TWO_EACH	= 1 << 1,	/* two records each, else three and one */
	COMES		= 1 << 2,	/* stop, but the reader opens later */
	THIRD		= 1 << 3,	/* a third pass, and a shorter time */
	STILL		= 1 << 25,	/* without a bound if nothing changes */
	/* Mutants. */
	NO_MB		= 1 << 4,	/* none between open and the clock */
	CLOSE_EARLY	= 1 << 5,	/* open = 0 before head */
	HEAD_EARLY	= 1 << 6,	/* head before the record */
	NO_OPEN		= 1 << 7,	/* the reader ignores open */
	T_LATE		= 1 << 8,	/* the bound is read after the rings */
	NO_TASK_LAST	= 1 << 9,	/* t ignores the task's last record */
	NO_RING_LAST	= 1 << 10,	/* t ignores the ring's last record */
	TIE		= 1 << 11,	/* t may equal the ring's last */
	HEAD_FIRST	= 1 << 12,	/* the reader loads head, then open */
	LAST_LATE	= 1 << 13,	/* the reader loads head, then last */
	PARKED_FIRST	= 1 << 14,	/* the reader loads parked, then open */
	PARKED_NEVER	= 1 << 15,	/* the reader ignores parked records */
	TAIL_EARLY	= 1 << 16,	/* tail precedes the read of records */
	LOST_AFTER	= 1 << 17,	/* LOST after the record */
	LOST_LATER	= 1 << 18,	/* a record without room for its LOST */
	PARK_ALONE	= 1 << 19,	/* a record is parked without a LOST */
	PARK_NO_LAST	= 1 << 20,	/* the ring forgets a parked record */
	PLAIN_HEAD	= 1 << 21,	/* head has no release */
	PLAIN_OPEN	= 1 << 22,	/* open = 0 has no release */
	STILL_RINGS	= 1 << 23,	/* still, parked records ignored */
	STILL_BEFORE	= 1 << 24,	/* parked is loaded before the rings */
};

struct state {
	struct machine m;
	__u8 clock;
	struct record {
		__u8 t;
		__u8 cpu;
		__u8 nr;	/* the records made on this CPU before */
		__u8 missed;	/* LOST that was parked with the record */
		__u8 began;	/* reader.stills when its ring was opened */
	} record[NRECORDS];
	struct task {
		__u8 made;
		__u8 last;
		__u8 cpu;
		__u8 t;
		__u8 began;
	} task[2];
	struct cpu {
		__u8 curr;	/* the task on this CPU + 1 */
		__u8 writes;	/* preemption is off for a writer */
		__u8 made;
		__u8 missed;
	} cpu[2];
	__u8 parked;		/* bits of records, under park_lock */
	__u8 reads;		/* the session has a reader; under park_lock */
	struct reader {
		__u8 passes;
		__u8 bound;
		__u8 open;
		__u8 last;
		__u8 cpu;
		__u8 head[2];
		__u8 tail[2];
		__u8 look;	/* parked was not 0 */
		__u8 still;	/* no change since the rings were read */
		__u8 stills;	/* how often that check was begun */
		__u8 kept;	/* parked records that the reader has taken */
	} reader;
	/* What was delivered. */
	__u8 t;
	__u8 stills;		/* reader.stills at that time */
	__u8 of_task[2];
	__u8 of_cpu[2];
};

/* Read the clock, which may have advanced since the last read. */
static __u8 read_clock(struct state *s)
{
	if (s->clock < (has(THIRD) ? 3 : 4))
		s->clock += choose(2);
	return s->clock;
}

static unsigned int passes(void)
{
	return has(THIRD) ? 3 : 2;
}

static unsigned int makes(unsigned int task)
{
	return has(TWO_EACH) ? 2 : task ? 1 : 3;
}

/* Writers. */

/*
 * Continue the task on this CPU, with preemption off.  A switch has a full
 * barrier.
 */
static void preempt_off(struct state *s, unsigned int me, unsigned int cpu)
{
	struct cpu *c = &s->cpu[cpu];
	unsigned int old = s->task[me].cpu;

	if (c->writes) {
		cannot_go_on();
		return;
	}
	if (c->curr != me + 1) {
		fence_on(cpu);
		if (s->cpu[old].curr == me + 1) {
			fence_on(old);
			s->cpu[old].curr = 0;
		}
	}
	c->curr = me + 1;
	c->writes = 1;
	s->task[me].cpu = cpu;
}

/* Compute the time of the next record. */
static __u8 now(struct state *s, unsigned int me)
{
	struct task *t = &s->task[me];
	__u8 time = read_clock(s), last = load(LAST + t->cpu);

	if (!has(NO_RING_LAST) && time < last + !has(TIE))
		time = last + !has(TIE);
	if (!has(NO_TASK_LAST) && t->made && time <= t->last)
		time = t->last + 1;
	return time;
}

/* Check whether there is room for the record and for LOST before it. */
static bool room(const struct state *s, unsigned int cpu)
{
	unsigned int used = load(HEAD + cpu) - load(TAIL + cpu);

	return used + 1 + (s->cpu[cpu].missed && !has(LOST_LATER)) <= SIZE;
}

static void write_slot(unsigned int cpu, unsigned int pos, __u8 val)
{
	store(SLOT + SIZE * cpu + pos % SIZE, val);
}

static unsigned int id_of(const struct state *s, unsigned int me)
{
	return 3 * me + s->task[me].made;
}

/* Note that the record exists, whether it is written, parked or lost. */
static void make(struct state *s, unsigned int me)
{
	struct task *t = &s->task[me];
	unsigned int id = id_of(s, me);

	s->record[id].t = t->t;
	s->record[id].cpu = t->cpu;
	s->record[id].nr = s->cpu[t->cpu].made++;
	s->record[id].began = t->began;
}

/* Check whether a LOST record must be written before the record. */
static bool with_lost(const struct state *s, unsigned int cpu)
{
	unsigned int used = load(HEAD + cpu) - load(TAIL + cpu);

	return s->cpu[cpu].missed && used + 2 <= SIZE;
}

/* Write the record to the ring, after LOST. */
static void fill(struct state *s, unsigned int me, unsigned int pos)
{
	struct task *t = &s->task[me];
	struct cpu *c = &s->cpu[t->cpu];
	bool lost = with_lost(s, t->cpu);

	write_slot(t->cpu, pos + (lost && !has(LOST_AFTER)), id_of(s, me) + 1);
	if (lost) {
		write_slot(t->cpu, pos + has(LOST_AFTER),
			   LOST_RECORD | t->t << 3 | c->missed);
		c->missed = 0;
	}
}

static void commit(unsigned int cpu, unsigned int slots)
{
	__u8 head = load(HEAD + cpu) + slots;

	if (has(PLAIN_HEAD))
		store(HEAD + cpu, head);
	else
		store_release(HEAD + cpu, head);
}

static void close_ring(unsigned int cpu)
{
	if (has(PLAIN_OPEN))
		store(OPEN + cpu, 0);
	else
		store_release(OPEN + cpu, 0);
}

/* Write the record to the ring.  The stores land one by one. */
static void write_record(struct state *s, unsigned int me)
{
	struct task *t = &s->task[me];
	unsigned int slots = 1 + !!with_lost(s, t->cpu);

	if (has(CLOSE_EARLY))
		close_ring(t->cpu);
	if (has(HEAD_EARLY))
		commit(t->cpu, slots);
	fill(s, me, load(HEAD + t->cpu) - (has(HEAD_EARLY) ? slots : 0));
	store(LAST + t->cpu, t->t);
	t->last = t->t;
	if (!has(HEAD_EARLY))
		commit(t->cpu, slots);
}

/* Park the record, with the count of those lost before.  park_lock is held. */
static void park(struct state *s, unsigned int me)
{
	struct task *t = &s->task[me];
	unsigned int id = id_of(s, me);

	if (!s->reads) {
		s->cpu[t->cpu].missed++;
		return;
	}
	s->parked |= 1 << id;
	store(PARKED, 1);
	if (!has(PARK_ALONE)) {
		s->record[id].missed = s->cpu[t->cpu].missed;
		s->cpu[t->cpu].missed = 0;
	}
	t->last = t->t;
	if (!has(PARK_NO_LAST))
		store(LAST + t->cpu, t->t);
}

/* Close the ring after the record, and let other tasks use the CPU. */
static void preempt_on(struct state *s, unsigned int me)
{
	struct task *t = &s->task[me];

	close_ring(t->cpu);
	s->cpu[t->cpu].writes = 0;
	t->t = 0;
	t->began = 0;
	t->made++;
}

static void writer(struct state *s, unsigned int me)
{
	struct task *t = &s->task[me];

	run_on(t->cpu);
	BEGIN;
	while (t->made < makes(me)) {
		STEP("preemption off on CPU 0 or 1, open = 1, smp_mb()");
		/* The CPUs are equivalent, so the first one of X is CPU 0. */
		preempt_off(s, me, me || t->made ? choose(2) : 0);
		t->began = s->reader.stills;
		run_on(t->cpu);
		store(OPEN + t->cpu, 1);
		if (!has(NO_MB))
			fence();
		STEP("t = max(clock, last + 1, last of the task + 1)");
		t->t = now(s, me);
		make(s, me);
		STEP("room? record, last, head, open = 0");
		if (!has(STOP) || room(s, t->cpu)) {
			if (room(s, t->cpu))
				write_record(s, me);
			else
				s->cpu[t->cpu].missed++;
			preempt_on(s, me);
			continue;
		}
		LOCK(PARK_LOCK);
		STEP("park, unlock, open = 0");
		park(s, me);
		store_release(PARK_LOCK, 0);
		preempt_on(s, me);
	}
	END;
}

/* The reader. */

/* Deliver a LOST record of the CPU at this place of the stream. */
static void deliver_lost(struct state *s, unsigned int cpu, unsigned int n)
{
	s->of_cpu[cpu] += n;
}

static void deliver(struct state *s, unsigned int id)
{
	unsigned int task = id / 3, nr = id % 3 + 1;
	struct record *r = &s->record[id];

	if (r->t < s->t && !(has(STILL) && r->began >= s->stills))
		fail(BACK);
	s->t = r->t;
	s->stills = s->reader.stills;
	if (nr <= s->of_task[task] ||
	    (has(STOP) && !has(COMES) && nr != s->of_task[task] + 1))
		fail(TASK);
	s->of_task[task] = nr;
	deliver_lost(s, r->cpu, r->missed);
	if (r->nr != s->of_cpu[r->cpu]++)
		fail(PLACE);
	memset(r, 0, sizeof(*r));
}

/* Get the time of the first record of a ring, or more than any time. */
static __u8 first_in_ring(const struct state *s, unsigned int cpu, __u8 tail)
{
	__u8 val = load(SLOT + SIZE * cpu + tail % SIZE);

	if (tail == s->reader.head[cpu])
		return ALL_TIME + 1;
	if (val & LOST_RECORD)
		return val >> 3 & ALL_TIME;
	return val ? s->record[val - 1].t : 0;
}

/* Get the first of the records that were parked, or NRECORDS. */
static unsigned int first_kept(const struct state *s)
{
	unsigned int id, first = NRECORDS;

	for (id = 0; id < NRECORDS; id++)
		if ((s->reader.kept & 1 << id) &&
		    (first == NRECORDS ||
		     s->record[id].t < s->record[first].t))
			first = id;
	return first;
}

static void deliver_from_ring(struct state *s, unsigned int cpu, __u8 tail)
{
	__u8 val = load(SLOT + SIZE * cpu + tail % SIZE);

	if (!val)
		fail(UNWRITTEN);
	else if (val & LOST_RECORD)
		deliver_lost(s, cpu, val & 7);
	else
		deliver(s, val - 1);
}

/* Deliver records that are not later than the bound. */
static void merge(struct state *s)
{
	__u8 tail[2] = { s->reader.tail[0], s->reader.tail[1] }, t[2];
	unsigned int kept, cpu;

	for (;;) {
		for (cpu = 0; cpu < 2; cpu++)
			t[cpu] = first_in_ring(s, cpu, tail[cpu]);
		cpu = t[1] < t[0];
		kept = first_kept(s);
		if (kept < NRECORDS && s->record[kept].t < t[cpu]) {
			if (s->record[kept].t > s->reader.bound)
				break;
			s->reader.kept &= ~(1 << kept);
			deliver(s, kept);
			continue;
		}
		if (t[cpu] > s->reader.bound)
			break;
		deliver_from_ring(s, cpu, tail[cpu]++);
	}
	for (cpu = 0; cpu < 2; cpu++)
		if (tail[cpu] != s->reader.tail[cpu])
			store_release(TAIL + cpu, tail[cpu]);
	s->reader.tail[0] = tail[0];
	s->reader.tail[1] = tail[1];
}

/* Check whether all stores of the writers have landed. */
static bool writers_done(const struct state *s)
{
	return done(0) && done(1) && !s->m.buf[0].n && !s->m.buf[1].n;
}

/*
 * Compute the bound: a record that is not visible yet is not earlier than the
 * clock, unless its ring is open.
 */
static void bound(struct state *s)
{
	__u8 t = read_clock(s);

	if (writers_done(s))
		t = ALL_TIME;
	if (!has(T_LATE) || t < s->reader.bound)
		s->reader.bound = t;
}

/* Clear the state of the pass, so that equal states are merged. */
static void end_pass(struct reader *r)
{
	memset(r->head, 0, sizeof(r->head));
	r->bound = 0;
	r->look = 0;
	r->still = 0;
}

static void reading(struct state *s, unsigned int me)
{
	struct reader *r = &s->reader;

	BEGIN;
	for (; r->passes < passes(); r->passes++) {
		AWAIT("the last pass is after all writers",
		      r->passes < passes() - 1 || writers_done(s));
		if (!s->reads) {
			LOCK(PARK_LOCK);
			STEP("become the reader");
			s->reads = 1;
			UNLOCK(PARK_LOCK);
		}
		r->bound = ALL_TIME;
		if (!has(T_LATE)) {
			STEP("T = clock");
			bound(s);
		}
		if (has(PARKED_FIRST)) {
			STEP("parked?");
			r->look = load(PARKED);
		}
		/* For each CPU: open, then last, then head. */
		for (r->cpu = 0; r->cpu < 2; r->cpu++) {
			if (has(HEAD_FIRST)) {
				STEP("head?");
				r->head[r->cpu] = load(HEAD + r->cpu);
			}
			STEP("open?");
			r->open = load(OPEN + r->cpu) && !has(NO_OPEN);
			if (r->open && !has(LAST_LATE)) {
				STEP("last?");
				r->last = load(LAST + r->cpu);
			}
			if (!has(HEAD_FIRST)) {
				STEP("head?");
				r->head[r->cpu] = load(HEAD + r->cpu);
			}
			if (r->open && has(LAST_LATE)) {
				STEP("last?");
				r->last = load(LAST + r->cpu);
			}
			if (r->open && r->last < r->bound)
				r->bound = r->last;
			r->open = 0;
			r->last = 0;
		}
		if (has(T_LATE)) {
			STEP("T = clock");
			bound(s);
		}
		if (!has(PARKED_FIRST)) {
			STEP("parked?");
			r->look = load(PARKED) && !has(PARKED_NEVER);
		}
		if (r->look) {
			LOCK(PARK_LOCK);
			STEP("take the parked records");
			r->kept |= s->parked;
			s->parked = 0;
			store(PARKED, 0);
			UNLOCK(PARK_LOCK);
		}
		r->still = has(STILL);
		if (r->still && has(STILL_BEFORE)) {
			STEP("still nothing parked?");
			r->still = !load(PARKED);
		}
		r->stills += r->still;
		for (r->cpu = 0; r->still && r->cpu < 2; r->cpu++) {
			STEP("still not open?");
			r->still = !load(OPEN + r->cpu);
			if (!r->still)
				break;
			STEP("head as before?");
			r->still = load(HEAD + r->cpu) == r->head[r->cpu];
		}
		r->cpu = 0;
		if (r->still && !has(STILL_BEFORE) && !has(STILL_RINGS)) {
			STEP("still nothing parked?");
			r->still = !load(PARKED);
		}
		if (r->still)
			r->bound = ALL_TIME;
		if (has(TAIL_EARLY)) {
			STEP("tail");
			store_release(TAIL, r->head[0]);
			store_release(TAIL + 1, r->head[1]);
		}
		STEP("merge, tail");
		merge(s);
		end_pass(r);
	}
	END;
}

static void init(struct state *s)
{
	s->clock = 1;
	s->task[1].cpu = 1;
	s->reads = !has(COMES);
}

static void at_end(struct state *s)
{
	unsigned int cpu;

	if (!done(0) || !done(1) || !done(READER))
		fail("deadlock");
	for (cpu = 0; cpu < 2; cpu++)
		if (s->of_cpu[cpu] + s->cpu[cpu].missed != s->cpu[cpu].made)
			fail("a record is lost that was not counted");
}

static const struct thread threads[] = {
	{ "X", writer },
	{ "Y", writer },
	{ "reader", reading },
	{}
};

static const struct variant variants[] = {
	{ "ring, drop", false, 0, NULL },
	{ "ring, drop, three passes", false, THIRD, NULL },
	{ "ring, drop, PSO", true, 0, NULL },
	{ "ring, stop", false, STOP, NULL },
	{ "ring, stop, three passes", false, STOP | THIRD, NULL },
	{ "ring, stop, PSO", true, STOP, NULL },
	{ "ring, stop, two records each", false, STOP | TWO_EACH, NULL },
	{ "ring, stop, the reader opens later", false, STOP | COMES, NULL },
	{ "ring, drop, still", false, STILL, NULL },
	{ "ring, stop, still", false, STOP | STILL, NULL },
	{ "ring, stop, two records each, still", false, STOP | TWO_EACH | STILL,
	  NULL },
	{ "ring without barrier after open = 1", false, NO_MB, BACK },
	{ "ring with open = 0 before head", false, CLOSE_EARLY, BACK },
	{ "ring, PSO, with head without release", true, PLAIN_HEAD, UNWRITTEN },
	{ "ring, PSO, with open = 0 without release", true, PLAIN_OPEN, BACK },
	{ "ring with head before the record", false, HEAD_EARLY, UNWRITTEN },
	{ "ring with a bound that ignores open", false, NO_OPEN, BACK },
	{ "ring with a bound read after the rings", false, T_LATE, BACK },
	{ "ring with times that ignore the task's last", false, NO_TASK_LAST,
	  TASK },
	{ "ring with times that ignore the ring's last", false, NO_RING_LAST,
	  BACK },
	{ "ring with head loaded before open", false, HEAD_FIRST, BACK },
	{ "ring with head loaded before last", false, LAST_LATE, BACK },
	{ "ring, stop, with parked loaded before open", false,
	  STOP | PARKED_FIRST, TASK },
	{ "ring, stop, with parked never loaded", false, STOP | PARKED_NEVER,
	  TASK },
	{ "ring with tail before the records are read", false, TAIL_EARLY,
	  PLACE },
	{ "ring with LOST after the record", false, LOST_AFTER, PLACE },
	{ "ring with a record without room for LOST", false, LOST_LATER,
	  PLACE },
	{ "ring, stop, with a record parked without LOST", false,
	  STOP | COMES | PARK_ALONE, PLACE },
	{ "ring, stop, with a ring that forgets a parked record", false,
	  STOP | COMES | PARK_NO_LAST, PLACE },
	{ "ring, stop, still, with parked loaded once", false,
	  STOP | STILL | STILL_RINGS, BACK },
	{ "ring, stop, still, with parked loaded before the rings", false,
	  STOP | STILL | STILL_BEFORE, BACK },
	{ "ring, stop, with times that tie in a ring", false,
	  STOP | COMES | TIE, PLACE },
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
