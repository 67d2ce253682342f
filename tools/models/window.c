// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - branches: an NMI that drains the window of a CPU
 *
 * The processor writes the records of a thread to the window of its CPU.  When
 * the threshold is reached, an NMI is raised, up to SKID records later.  The
 * NMI copies the records to a buffer that is pinned, and so does the thread
 * when it leaves the CPU, with interrupts off.  There are three kinds of
 * consumers:
 *
 * LAST: the buffer contains the last records.  A reader on another CPU copies
 * one and then checks whether the record was overwritten during the copy.
 * DROP: the buffer is a ring.  Records without room are counted, and the count
 * is written to the ring before the next record.  PAUSE: the buffer is the
 * stage of the thread, which the thread copies to a ring at the safe point,
 * where it may wait (room.c).  Before the stage is full, the NMI requests
 * the safe point.  The program makes up to KICK more records before the
 * self-IPI of the NMI is delivered.
 *
 * The properties: the processor loses no record; no record is read half
 * written; each is delivered once and in order, or counted; the stage has room;
 * the thread is not paused forever; no buffer is used after it was freed.
 */
#include <string.h>

#include "explore.h"

enum var {
	HEAD, TAIL, BUFFER, NOTIFY,
	/* Both halves of each of two slots. */
	SLOT, NVARS = SLOT + 4,
};

static const char *const vars[NVARS] = {
	"head", "tail", "pointer to the buffer", "TIF_NOTIFY_RESUME",
	"slot 0", "slot 0, second half", "slot 1", "slot 1, second half",
};

#define SLOTS		2	/* of LAST and DROP */
#define RING		2	/* records of the ring of PAUSE */
#define WINDOW		4
#define STAGE		6
#define SKID		1
#define KICK		1
#define MARGIN		(SKID + KICK)
#define NRECORDS	(has(PAUSE) ? 7 : 4)
#define LOST_RECORD	0x80	/* with the count */
#define NEVER		0xff	/* a threshold */

#define MISSED	"the processor misses a record"
#define TORN	"a record is read that is not whole"
#define ORDER	"a record is missing and not counted, or there twice"
#define FULL	"the stage overflows"
#define STUCK	"the thread is paused forever"
#define FREED	"use of a buffer that was freed"

/* Bits of a variant. */
enum {
	LAST		= 1 << 0,
	DROP		= 1 << 1,
	PAUSE		= 1 << 2,
	MOVES		= 1 << 3,	/* the thread goes to CPU 1 once */
	CLOSES		= 1 << 4,	/* the reader may free the buffer */
	NOTIFIES	= 1 << 5,	/* other code requests the safe point */
	/* Mutants. */
	TAIL_LATE	= 1 << 6,	/* tail is stored after the record */
	TAIL_ONCE	= 1 << 7,	/* the reader does not check again */
	NO_WMB		= 1 << 8,	/* none between tail and the record */
	PLAIN_HEAD	= 1 << 9,	/* head has no release */
	TAIL_EARLY	= 1 << 10,	/* the ring's tail precedes the copy */
	LOST_LATER	= 1 << 11,	/* a record without its LOST */
	NO_BUSY		= 1 << 12,	/* the NMI drains in a drain */
	NO_DRAIN	= 1 << 13,	/* no drain when leaving a CPU */
	NO_ARM		= 1 << 14,	/* not armed on another CPU */
	NO_GRACE	= 1 << 15,	/* freed at once */
	GRACE_EARLY	= 1 << 16,	/* pointer after the grace period */
	OFF_AT_NMI	= 1 << 17,	/* a pause ends the recording */
	NO_KICK		= 1 << 18,	/* a pause sends no interrupt */
	FREE_ALL	= 1 << 19,	/* the threshold may fill the stage */
	NO_MARGIN	= 1 << 20,	/* the threshold may fill the window */
	CLEAR_LATE	= 1 << 21,	/* NOTIFY = 0 after the check */
	OLD_CPU		= 1 << 22,	/* armed where the safe point began */
	FORGETS		= 1 << 23,	/* a move checks no stage */
};

enum where { USER, KERNEL, SAFE };

struct state {
	struct machine m;
	struct window {
		__u8 record[WINDOW];
		__u8 n;
		__u8 on;
		__u8 threshold;
		__u8 pending;		/* the NMI is on its way */
		__u8 late;		/* records since then */
		__u8 busy;		/* the thread drains */
		__u8 i;
		__u8 buffer;		/* BUFFER when the drain began */
	} window[2];
	struct task {
		__u8 cpu;
		__u8 where;
		__u8 made;
		__u8 moved;
		__u8 paused;
		__u8 kick;		/* an interrupt is on its way */
		__u8 late;		/* records since then */
		__u8 look;
		__u8 n;
		__u8 stage[STAGE];
		__u8 was;		/* the CPU where the safe point began */
	} task;
	__u8 nmi;			/* the CPU that is in the NMI + 1 */
	__u8 head;			/* the writer's own */
	__u8 lost;
	__u8 freed;
	__u8 notified;
	__u8 ring;			/* records in the ring of PAUSE */
	__u8 last;			/* number of the last one there */
	struct reader {
		__u8 next;
		__u8 pos;
		__u8 half[2];
		__u8 closes;
		__u8 number;		/* of the last record */
	} reader;
};

/* Buffers. */

static void write_slot(struct state *s, __u8 val)
{
	store(SLOT + s->head % SLOTS * 2, val);
	store(SLOT + s->head % SLOTS * 2 + 1, val);
	s->head++;
}

static void publish(struct state *s)
{
	if (has(PLAIN_HEAD))
		store(HEAD, s->head);
	else
		store_release(HEAD, s->head);
}

/* Write a record; tail moves before the oldest record is overwritten. */
static void write_last(struct state *s, __u8 val)
{
	bool full = s->head >= SLOTS;

	if (full && !has(TAIL_LATE))
		store(TAIL, s->head - SLOTS + 1);
	if (full && !has(NO_WMB) && !has(TAIL_LATE))
		fence();
	write_slot(s, val);
	if (full && has(TAIL_LATE))
		store(TAIL, s->head - SLOTS);
	publish(s);
}

/* Write a record and the count before it, both or neither. */
static void write_drop(struct state *s, __u8 val)
{
	unsigned int room = SLOTS - (__u8)(s->head - load(TAIL));

	if (room < 1 + (s->lost && !has(LOST_LATER))) {
		s->lost++;
		return;
	}
	if (s->lost && room > 1) {
		write_slot(s, LOST_RECORD | s->lost);
		s->lost = 0;
	}
	write_slot(s, val);
	publish(s);
}

static void write_stage(struct state *s, __u8 val)
{
	if (s->task.n == STAGE)
		fail(FULL);
	else
		s->task.stage[s->task.n++] = val;
}

/* Windows.  Interrupts are off. */

static bool drain_begin(struct state *s, unsigned int cpu)
{
	struct window *w = &s->window[cpu];

	w->i = 0;
	w->on = 0;
	w->buffer = load(BUFFER);
	return w->n;
}

/* Copy one record.  Returns false after the last one. */
static bool drain_one(struct state *s, unsigned int cpu)
{
	struct window *w = &s->window[cpu];
	__u8 val = w->record[w->i++];

	if (w->buffer && s->freed)
		fail(FREED);
	if (has(PAUSE))
		write_stage(s, val);
	if (w->buffer && has(LAST))
		write_last(s, val);
	if (w->buffer && has(DROP))
		write_drop(s, val);
	if (w->i < w->n)
		return true;
	memset(w->record, 0, sizeof(w->record));
	w->n = 0;
	w->i = 0;
	w->buffer = 0;
	return false;
}

/*
 * Return the threshold for the free room in the stage; 0: the thread must
 * pause.
 */
static __u8 threshold(const struct state *s)
{
	unsigned int free = has(PAUSE) ? STAGE - s->task.n : WINDOW;
	unsigned int window = WINDOW - (has(NO_MARGIN) ? 0 : MARGIN);

	if (!has(FREE_ALL))
		free = free > MARGIN ? free - MARGIN : 0;
	return free < window && !has(NO_MARGIN) ? free : window;
}

static void arm(struct state *s, unsigned int cpu)
{
	s->window[cpu].threshold = threshold(s);
	s->window[cpu].on = 1;
}

/* Make the thread pass the safe point; the window has room until then. */
static void pause(struct state *s, unsigned int cpu)
{
	struct window *w = &s->window[cpu];

	s->task.paused = 1;
	w->threshold = NEVER;
	w->on = !has(OFF_AT_NMI);
	store(NOTIFY, 1);
	fence();
	s->task.kick = !has(NO_KICK);
	s->task.late = 0;
}

static void nmi(struct state *s, unsigned int me)
{
	unsigned int cpu = s->nmi ? s->nmi - 1 : s->window[1].pending;
	struct window *w = &s->window[cpu];

	run_on(cpu);
	BEGIN;
	for (;;) {
		AWAIT("NMI", w->pending);
		w->pending = 0;
		w->late = 0;
		if ((w->busy && !has(NO_BUSY)) || w->n < w->threshold)
			continue;
		s->nmi = cpu + 1;
		STEP("NMI: the buffer?");
		drain_begin(s, cpu);
		do
			STEP("NMI: copy a record");
		while (drain_one(s, cpu));
		STEP("NMI: arm, or pause");
		if (threshold(s))
			arm(s, cpu);
		else
			pause(s, cpu);
		s->nmi = 0;
	}
	END;
}

/* The thread. */

/* Let the program generate a record. */
static void step(struct state *s)
{
	struct task *t = &s->task;
	struct window *w = &s->window[t->cpu];

	t->made++;
	if (!w->on || w->n == WINDOW) {
		fail(MISSED);
		return;
	}
	w->record[w->n++] = t->made;
	w->late += w->pending;
	t->late += t->kick;
	if (w->n >= w->threshold)
		w->pending = 1;
}

/*
 * Check whether the program may continue.  It may not if an interrupt is due
 * now.
 */
static bool may_step(const struct state *s)
{
	const struct window *w = &s->window[s->task.cpu];

	return s->task.made < NRECORDS && !(w->pending && w->late >= SKID) &&
	       !(s->task.kick && s->task.late >= KICK);
}

static bool moves(const struct state *s)
{
	return has(MOVES) && !s->task.moved;
}

/* Check for an entry to the kernel; other entries change nothing. */
static bool enters_kernel(const struct state *s)
{
	const struct task *t = &s->task;

	return t->made == NRECORDS || t->kick || s->window[t->cpu].pending ||
	       load(NOTIFY) || moves(s);
}

/* Move the thread to the other CPU. */
static void move(struct state *s)
{
	struct task *t = &s->task;

	fence_on(t->cpu);
	s->window[t->cpu].on = 0;
	t->cpu = !t->cpu;
	t->moved = 1;
	if (t->paused || has(NO_ARM))
		return;
	if (threshold(s) || has(FORGETS)) {
		arm(s, t->cpu);
		return;
	}
	t->paused = 1;
	store(NOTIFY, 1);
	fence();
}

/* Move a record of the stage to the ring, if there is room. */
static void deliver(struct state *s)
{
	struct task *t = &s->task;

	if (t->stage[0] != s->last + 1)
		fail(ORDER);
	s->last = t->stage[0];
	memmove(t->stage, t->stage + 1, --t->n);
	t->stage[t->n] = 0;
	s->ring++;
}

static void thread(struct state *s, unsigned int me)
{
	struct task *t = &s->task;
	struct window *w = &s->window[t->cpu];

	if (s->nmi == t->cpu + 1) {
		cannot_go_on();
		return;
	}
	run_on(t->cpu);
	BEGIN;
	for (;;) {
		while (t->where == USER) {
			STEP("step of the program, or an interrupt");
			if (may_step(s) && !choose(2)) {
				step(s);
				continue;
			}
			if (!enters_kernel(s)) {
				cannot_go_on();
				return;
			}
			t->where = KERNEL;
			t->kick = 0;
			t->late = 0;
		}
		/* The thread drains before it waits, moves or ends. */
		STEP("interrupts off; another CPU?");
		t->look = t->where == SAFE || t->made == NRECORDS ? 2 :
			  moves(s) && choose(2) ? 1 : 0;
		if (t->look && !(has(NO_DRAIN) && t->look == 1)) {
			w->busy = 1;
			if (drain_begin(s, t->cpu))
				do
					STEP("copy a record");
				while (drain_one(s, t->cpu));
			STEP("drained");
			w->busy = 0;
		}
		if (t->look == 1)
			move(s);
		t->look = 0;
		while (t->n && (t->where == SAFE || t->made == NRECORDS)) {
			AWAIT("copy from the stage to the ring, or move",
			      s->ring < RING || moves(s));
			if (s->ring < RING)
				deliver(s);
			else
				move(s);
		}
		if (t->made == NRECORDS)
			break;
		if (t->where == SAFE) {
			STEP("arm");
			t->paused = 0;
			arm(s, has(OLD_CPU) ? t->was : t->cpu);
			t->where = KERNEL;
		}
		if (has(CLEAR_LATE)) {
			STEP("paused?");
			t->look = t->paused;
		}
		STEP("TIF_NOTIFY_RESUME? then off");
		if (!load(NOTIFY)) {
			t->where = USER;
		} else {
			store(NOTIFY, 0);
			fence();
			if (!has(CLEAR_LATE)) {
				STEP("paused?");
				t->look = t->paused;
			}
			t->where = t->look ? SAFE : KERNEL;
			t->was = t->cpu;
		}
		t->look = 0;
	}
	END;
}

/* The reader. */

static void got(struct state *s)
{
	struct reader *r = &s->reader;

	if (r->half[0] != r->half[1] || !r->half[0])
		fail(TORN);
	else if (r->half[0] & LOST_RECORD)
		r->number += r->half[0] & ~LOST_RECORD;
	else if (r->half[0] <= r->number ||
		 (has(DROP) && r->half[0] != r->number + 1) ||
		 (has(LAST) && r->half[0] != r->pos + 1))
		fail(ORDER);
	else
		r->number = r->half[0];
}

static bool thread_is_over(const struct state *s)
{
	return done(0) && !s->m.buf[0].n && !s->m.buf[1].n;
}

static void reading(struct state *s, unsigned int me)
{
	struct reader *r = &s->reader;

	BEGIN;
	if (!has(LAST | DROP))
		goto end;
	for (;;) {
		AWAIT("head?", load(HEAD) != r->next || thread_is_over(s) ||
		      has(CLOSES));
		r->closes = has(CLOSES) ? choose(2) : 0;
		if (r->closes)
			break;
		if (load(HEAD) == r->next) {
			if (thread_is_over(s))
				goto end;
			cannot_go_on();
			return;
		}
		if (has(LAST)) {
			STEP("tail?");
			r->pos = load(TAIL) > r->next ? load(TAIL) : r->next;
		} else {
			r->pos = r->next;
			if (has(TAIL_EARLY))
				store_release(TAIL, r->pos + 1);
		}
		STEP("copy the first half");
		r->half[0] = load(SLOT + r->pos % SLOTS * 2);
		STEP("copy the second half");
		r->half[1] = load(SLOT + r->pos % SLOTS * 2 + 1);
		STEP("tail as before?");
		if (!has(LAST) || load(TAIL) <= r->pos || has(TAIL_ONCE)) {
			got(s);
			r->next = r->pos + 1;
			if (has(DROP) && !has(TAIL_EARLY))
				store_release(TAIL, r->next);
		}
		r->pos = 0;
		memset(r->half, 0, sizeof(r->half));
	}
	if (has(GRACE_EARLY))
		AWAIT("grace period", !s->nmi && !s->window[0].busy &&
		      !s->window[1].busy);
	STEP("no buffer, smp_mb()");
	store(BUFFER, 0);
	fence();
	if (!has(NO_GRACE) && !has(GRACE_EARLY))
		AWAIT("grace period", !s->nmi && !s->window[0].busy &&
		      !s->window[1].busy);
	STEP("free the buffer");
	s->freed = 1;
end:
	END;
}

/* Model the reader of PAUSE, and other code that requests the safe point. */
static void other(struct state *s, unsigned int me)
{
	bool notifies = has(NOTIFIES) && !s->notified;

	BEGIN;
	for (;;) {
		AWAIT("take a record, or TIF_NOTIFY_RESUME and kick",
		      s->ring || notifies);
		if (s->ring && (!notifies || choose(2))) {
			s->ring--;
		} else {
			store(NOTIFY, 1);
			fence();
			s->notified = 1;
		}
	}
	END;
}

static void init(struct state *s)
{
	s->m.mem[BUFFER] = 1;
	arm(s, 0);
}

static void at_end(struct state *s)
{
	if (!done(0))
		fail(STUCK);
	if (has(PAUSE) && s->last != s->task.made)
		fail(ORDER);
	if (has(DROP) && !s->reader.closes &&
	    s->reader.number + s->lost != s->task.made)
		fail(ORDER);
	if (has(LAST) && !s->reader.closes && s->reader.number != s->task.made)
		fail(ORDER);
}

static const struct thread threads[] = {
	{ "thread", thread },
	{ "NMI", nmi },
	{ "reader", reading },
	{ "other", other },
	{}
};

static const struct variant variants[] = {
	{ "window, last", false, LAST, NULL },
	{ "window, last, the thread moves", false, LAST | MOVES, NULL },
	{ "window, last, PSO", true, LAST | MOVES, NULL },
	{ "window, last, the reader may close", false, LAST | MOVES | CLOSES,
	  NULL },
	{ "window, drop", false, DROP, NULL },
	{ "window, drop, the thread moves", false, DROP | MOVES, NULL },
	{ "window, drop, PSO", true, DROP | MOVES, NULL },
	{ "window, drop, the reader may close", false, DROP | MOVES | CLOSES,
	  NULL },
	{ "window, pause", false, PAUSE, NULL },
	{ "window, pause, others request the safe point", false,
	  PAUSE | NOTIFIES, NULL },
	{ "window, pause, the thread moves", false, PAUSE | MOVES | NOTIFIES,
	  NULL },
	{ "window, pause, PSO", true, PAUSE | MOVES | NOTIFIES, NULL },
	{ "window, pause, and last beside it", false, PAUSE | LAST | MOVES,
	  NULL },
	{ "window, pause, and drop beside it", false, PAUSE | DROP | MOVES,
	  NULL },
	{ "window, last, with tail after the record", false, LAST | TAIL_LATE,
	  TORN },
	{ "window, last, with one check of tail", false, LAST | TAIL_ONCE,
	  TORN },
	{ "window, last, PSO, without barrier after tail", true, LAST | NO_WMB,
	  TORN },
	{ "window, last, PSO, with head without release", true,
	  LAST | PLAIN_HEAD, TORN },
	{ "window, drop, PSO, with head without release", true,
	  DROP | PLAIN_HEAD, TORN },
	{ "window, drop, with tail before the copy", false, DROP | TAIL_EARLY,
	  TORN },
	{ "window, drop, with a record without its LOST", false,
	  DROP | LOST_LATER, ORDER },
	{ "window with an NMI that drains in a drain", false,
	  LAST | MOVES | NO_BUSY, ORDER },
	{ "window that is not drained when the thread moves", false,
	  DROP | MOVES | NO_DRAIN, ORDER },
	{ "window that is not armed after a move", false, LAST | MOVES | NO_ARM,
	  MISSED },
	{ "window with a buffer freed at once", false, LAST | CLOSES | NO_GRACE,
	  FREED },
	{ "window with a grace period before the buffer is hidden", false,
	  DROP | CLOSES | GRACE_EARLY, FREED },
	{ "window, pause, that ends the recording in the NMI", false,
	  PAUSE | OFF_AT_NMI, MISSED },
	{ "window, pause, without an interrupt after the NMI", false,
	  PAUSE | NO_KICK, FULL },
	{ "window, pause, with a threshold that may fill the stage", false,
	  PAUSE | FREE_ALL, FULL },
	{ "window, pause, with a threshold that may fill the window", false,
	  PAUSE | NO_MARGIN, MISSED },
	{ "window, pause, with TIF_NOTIFY_RESUME cleared late", false,
	  PAUSE | NOTIFIES | CLEAR_LATE, FULL },
	{ "window, pause, armed on the CPU where the safe point began", false,
	  PAUSE | MOVES | OLD_CPU, MISSED },
	{ "window, pause, armed by a move that checks no stage", false,
	  PAUSE | MOVES | FORGETS, FULL },
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
