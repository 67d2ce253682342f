// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - branches: a thread without room for its records
 *
 * A thread collects records in its stage, and copies them to the rings of one
 * or two consumers.  Records without room stay in the stage.  Then the thread
 * requests a report, and at the safe point copies again and holds itself if
 * there is still no room.  A reader takes a record and then resumes the thread.
 * Readers may close their descriptors, the program may become the reader
 * itself, and SIGKILL, ptrace and a loss of rights may occur.  A critical
 * section is one step, and with LATER the release of its lock lands later.
 * utrace->lock is a full barrier.  stop.c explores the stop itself.
 *
 * The properties: a consumer gets the records in order, and each is delivered
 * or counted.  None is lost while the thread lives and the consumer waits and
 * has a reader, except an END without room.  The program does not continue
 * before such a consumer has all records that must be copied.  The thread is
 * not held after its reader has made room or has left, and no reader sleeps
 * while there is a record.
 */
#include "explore.h"

enum var {
	/* For each of two consumers. */
	HEAD, TAIL = HEAD + 2, LOST = TAIL + 2, READER = LOST + 2,
	CLOSED = READER + 2, RING_LOCK = CLOSED + 2, WAIT_LOCK = RING_LOCK + 2,
	/* For each of two readers. */
	ASLEEP = WAIT_LOCK + 2, DEAD = ASLEEP + 2, NVARS,
};

static const char *const vars[NVARS] = {
	"head of A", "head of B", "tail of A", "tail of B", "lost of A",
	"lost of B", "reader of A", "reader of B", "closed of A",
	"closed of B", "lock of A", "lock of B", "wait_lock of A",
	"wait_lock of B", "state of reader 1", "state of reader 2",
	"exit_state",
};

#define NRECORDS	(has(TWO) ? 3 : 5)	/* before END */
#define RING		2	/* records of a ring */
#define FULL		2	/* records of the stage that are copied */
/* Records that the stage has room for. */
#define STAGE		(has(NO_SPARE) ? FULL : FULL + 1)
#define LOST_RECORD	0x80	/* with the count */
#define PROGRAM		3	/* the reader, beside readers 1 and 2 */

#define ORDER	"a record is missing and not counted"
#define DROPS	"a record is lost though the consumer waits"
#define RUNS	"the program makes a step though a consumer waits"
#define HELD	"the thread is held forever"
#define WAKE	"a reader sleeps though there is a record"
#define COUNT	"a record is neither delivered nor counted"
#define LIST	"a link is in the list twice"
#define FREED	"use of something freed"

/* Bits of a variant. */
enum {
	TWO		= 1 << 0,	/* two consumers, each with a reader */
	SECOND		= 1 << 1,	/* two processes read consumer A */
	CLOSES		= 1 << 2,	/* reader 1 may close */
	CLOSES_2	= 1 << 3,	/* reader 2 may close */
	STALLS		= 1 << 4,	/* reader 1 may stop reading */
	NO_STOP		= 1 << 5,	/* consumer A does not wait */
	KILL		= 1 << 6,	/* SIGKILL comes */
	TRAP		= 1 << 7,	/* ptrace ends a stop once */
	HIDE		= 1 << 8,	/* the readers lose their rights */
	SLEEPS		= 1 << 9,	/* the program sleeps after a copy */
	SELF		= 1 << 10,	/* the program also polls A once */
	LATER		= 1 << 11,	/* releases of locks land later */
	/* Mutants. */
	ROOM_EARLY	= 1 << 12,	/* room is checked, then wait_lock */
	FLUSH_EARLY	= 1 << 13,	/* a reader resumes before it closes */
	FLUSH_UNLOCKED	= 1 << 14,	/* a close ends any current reader */
	HIDE_HELD	= 1 << 15,	/* a thread that leaves stays held */
	NO_AGAIN	= 1 << 16,	/* a thread in the list holds itself */
	NO_REPORT	= 1 << 17,	/* no report after a hold */
	NO_SOON		= 1 << 18,	/* no report when there is no room */
	NO_CLOSED	= 1 << 19,	/* threads hold for a closed consumer */
	STAYS_LISTED	= 1 << 20,	/* a thread dies in the list */
	KEEPS		= 1 << 21,	/* a killed thread counts nothing */
	ALL_AS_ONE	= 1 << 22,	/* one reader's read counts for all */
	NO_MB_WAKE	= 1 << 23,	/* none between head and the check */
	NO_MB_SLEEP	= 1 << 24,	/* none between asleep and the check */
	OVER_LATE	= 1 << 25,	/* the reader checks for the end last */
	NO_DEATH	= 1 << 26,	/* the end wakes no reader */
	WAITS_SELF	= 1 << 27,	/* the thread waits for its program */
	NO_SPARE	= 1 << 28,	/* a full stage is copied */
};

enum where { USER, SAFE, PASS, AT_HANDLER };

struct state {
	struct machine m;
	/* utrace->lock and siglock. */
	__u8 hold;		/* bits of consumers */
	__u8 report;
	__u8 detached;		/* bits of consumers */
	__u8 killed;
	__u8 trap;
	__u8 hidden;
	struct consumer {
		__u8 slot[RING];	/* number of a record + 1 */
		__u8 waiting;		/* the thread is in the list */
		__u8 files;		/* bits of readers with a descriptor */
		__u8 freed;		/* the file has put the engine */
		/* For the checks. */
		__u8 reader;		/* reads, and has not begun to close */
		__u8 next;		/* number of the next record */
		__u8 hidden;
	} consumer[2];
	struct task {
		__u8 where;
		__u8 made;
		__u8 n;			/* records of the stage */
		__u8 left;		/* of them at the last copy */
		__u8 may_wait;
		__u8 held;		/* hold when the pass began */
		__u8 engine;		/* engine of the present callback */
		__u8 room;
		__u8 polls;
		__u8 i;
	} task;
	struct link {
		__u8 there;
		__u8 sent;
		__u8 lost;
	} link[2];
	struct process {
		__u8 over;
		__u8 got;
		__u8 look;
		__u8 stays;
		__u8 closes;
	} process[2];
};

static unsigned int consumers(void)
{
	return has(TWO) ? 2 : 1;
}

/* Get the consumer of a reader. */
static unsigned int consumer_of(unsigned int reader)
{
	return has(TWO) && reader == 2;
}

static bool waits(unsigned int c)
{
	return c || !has(NO_STOP);
}

/* The lock that is held in this step. */
static __u8 taken;

static bool take_lock(__u8 lock)
{
	taken = lock;
	return try_lock(lock);
}

static void unlock(void)
{
	store_release(taken, 0);
	if (!has(LATER))
		fence();
}

/* Execute a step that holds a lock from begin to end. */
#define UNDER(lock, what, code)						\
	do {								\
		AWAIT(what, take_lock(lock));				\
		code;							\
		unlock();						\
	} while (0)

/*
 * Model utrace_control() on the thread.  Returns false if the engine is
 * detached.
 */
static bool control(struct state *s, unsigned int c, bool hold, bool report)
{
	fence();
	if (s->consumer[c].freed)
		fail(FREED);
	if (s->detached & 1 << c)
		return false;
	s->hold = hold ? s->hold | 1 << c : s->hold & ~(1 << c);
	s->report |= report;
	return true;
}

static void wake_readers(unsigned int c)
{
	fence();
	store(ASLEEP + c, 0);
	if (has(SECOND))
		store(ASLEEP + 1, 0);
	fence();
}

/* Model wq_has_sleeper() and wake_up(). */
static void wake_sleepers(unsigned int c)
{
	if (!has(NO_MB_WAKE))
		fence();
	if (load(ASLEEP + c) || (has(SECOND) && load(ASLEEP + 1)))
		wake_readers(c);
}

/* The thread. */

static bool room(unsigned int c)
{
	return (__u8)(load(HEAD + c) - load(TAIL + c)) < RING;
}

static bool write_one(struct state *s, unsigned int c, __u8 val)
{
	if (!room(c))
		return false;
	s->consumer[c].slot[load(HEAD + c) % RING] = val;
	store(HEAD + c, load(HEAD + c) + 1);
	return true;
}

/* Write LOST before the records.  RING_LOCK is held. */
static bool write_before(struct state *s, unsigned int c)
{
	struct link *l = &s->link[c];

	if (l->lost && write_one(s, c, LOST_RECORD | l->lost))
		l->lost = 0;
	return !l->lost;
}

/* Copy the stage, as far as there is room. */
static void copy(struct state *s, unsigned int c)
{
	struct link *l = &s->link[c];
	struct task *t = &s->task;

	if (write_before(s, c))
		while (l->sent < t->n &&
		       write_one(s, c, t->made - t->n + l->sent + 1))
			l->sent++;
}

static void lose(struct state *s, unsigned int c)
{
	struct link *l = &s->link[c];
	struct task *t = &s->task;

	if (l->sent < t->n && waits(c) && !s->killed && s->consumer[c].reader)
		fail(DROPS);
	l->lost += t->n - l->sent;
	l->sent = t->n;
}

/* Check whether the thread waits for a reader other than its own process. */
static bool has_reader(unsigned int c)
{
	__u8 reader = load(READER + c);

	return reader && (reader != PROGRAM || has(WAITS_SELF));
}

/* Keep the remaining records, or lose them if the thread cannot wait. */
static void keep_or_lose(struct state *s, unsigned int c)
{
	if (waits(c) && s->task.may_wait && has_reader(c))
		return;
	if (!has(KEEPS) || !s->killed)
		lose(s, c);
}

/* Write END, the last record. */
static void write_end(struct state *s, unsigned int c)
{
	if (!write_before(s, c) || !write_one(s, c, s->task.made + 1))
		store(LOST + c, load(LOST + c) + s->link[c].lost + 1);
}

static void put(struct state *s)
{
	struct task *t = &s->task;
	unsigned int c;

	for (c = 0; t->n == STAGE && c < 2; c++) {
		lose(s, c);
		s->link[c].sent = 0;
	}
	if (t->n == STAGE)
		t->n = 0;
	t->n++;
	t->made++;
}

/* Let the program execute a step, which is a branch. */
static void step(struct state *s)
{
	struct task *t = &s->task;
	unsigned int c;

	for (c = 0; c < 2; c++)
		if (t->left && s->link[c].there && s->link[c].sent < t->left &&
		    waits(c) && !s->killed && !in_memory(CLOSED + c))
			fail(RUNS);
	put(s);
	t->left = 0;
}

/* Move undelivered records to the start of the stage. */
static void move_stage(struct state *s)
{
	struct task *t = &s->task;
	__u8 least = t->n;
	unsigned int c;

	for (c = 0; c < 2; c++)
		if (s->link[c].there && s->link[c].sent < least &&
		    !has(ALL_AS_ONE))
			least = s->link[c].sent;
	for (c = 0; c < 2; c++)
		if (s->link[c].there)
			s->link[c].sent -= s->link[c].sent < least ?
					   s->link[c].sent : least;
	t->n -= least;
	t->left = t->n;
	t->i = 0;
}

/* End the wait of the thread.  WAIT_LOCK is held. */
static void stop_waiting(struct state *s, unsigned int c)
{
	if (s->consumer[c].waiting && !load(CLOSED + c) && !has(HIDE_HELD))
		control(s, c, false, false);
	if (!has(STAYS_LISTED))
		s->consumer[c].waiting = 0;
	s->link[c] = (struct link){};
}

/* Hold the thread, unless there is room.  WAIT_LOCK is held. */
static void wait_for_room(struct state *s, unsigned int c)
{
	struct consumer *consumer = &s->consumer[c];
	bool again;

	if (load(CLOSED + c) && !has(NO_CLOSED))
		return;
	again = (consumer->waiting && !has(NO_AGAIN)) || !has_reader(c) ||
		(has(ROOM_EARLY) ? s->task.room : room(c));
	if (!control(s, c, !again, again || !has(NO_REPORT)))
		return;
	if (!again && consumer->waiting)
		fail(LIST);
	consumer->waiting = !again;
}

/* Model utrace_branch_wait_soon().  WAIT_LOCK is held. */
static void request_report(struct state *s, unsigned int c)
{
	if (!load(CLOSED + c))
		control(s, c, false, true);
}

static bool is_followed(const struct state *s)
{
	return s->link[0].there || s->link[1].there;
}

static void thread(struct state *s, unsigned int me)
{
	struct task *t = &s->task;

	BEGIN;
	for (;;) {
		if (t->where == USER) {
			if (s->killed || !is_followed(s) || t->made >= NRECORDS)
				break;
			if (has(SELF) && !t->polls) {
				STEP("poll(2), or not yet");
				t->polls = choose(2);
				if (t->polls)
					UNDER(WAIT_LOCK, "become the reader",
					      store(READER, PROGRAM));
			}
			AWAIT("step of the program",
			      !has(SLEEPS) || t->made < FULL);
			step(s);
			if (t->n < FULL && t->made < NRECORDS)
				continue;
		} else if (t->where == SAFE) {
			STEP("safe point: a report?");
			t->where = s->report ? PASS : SAFE;
			t->held = s->hold;
			s->report = 0;
		}
		/* Each callback, the step and the frame of a handler copy. */
		while (t->where != SAFE && t->engine < consumers()) {
			for (t->i = 0; t->i < consumers(); t->i++) {
				if (!s->link[t->i].there)
					continue;
				STEP("SIGKILL? closed, or hidden?");
				t->may_wait = !s->killed;
				if (load(CLOSED + t->i) || s->hidden) {
					s->consumer[t->i].hidden = s->hidden;
					UNDER(WAIT_LOCK + t->i, "leave",
					      stop_waiting(s, t->i));
					continue;
				}
				if (s->link[t->i].sent == t->n)
					continue;
				UNDER(RING_LOCK + t->i, "copy", copy(s, t->i));
				STEP("wake; no room, no reader? then count");
				wake_sleepers(t->i);
				keep_or_lose(s, t->i);
			}
			move_stage(s);
			if (!is_followed(s))
				t->n = 0;
			if (t->where != PASS)
				break;
			if (s->link[t->engine].there &&
			    s->link[t->engine].sent < t->n) {
				if (has(ROOM_EARLY)) {
					STEP("room?");
					t->room = room(t->engine);
				}
				UNDER(WAIT_LOCK + t->engine, "room? else hold",
				      wait_for_room(s, t->engine));
				t->room = 0;
			}
			t->engine++;
		}
		t->may_wait = 0;
		t->engine = 0;
		if (t->where == PASS) {
			STEP("end of the pass");
			s->hold &= ~t->held;
		} else if (t->where != SAFE) {
			for (t->i = 0; t->i < consumers(); t->i++) {
				if (s->link[t->i].sent == t->n || has(NO_SOON))
					continue;
				UNDER(WAIT_LOCK + t->i, "request a report",
				      request_report(s, t->i));
			}
			t->i = 0;
			t->where = SAFE;
			continue;
		}
		t->held = 0;
		AWAIT("held", !s->hold || s->killed || s->trap);
		t->where = s->report || s->hold ? SAFE : USER;
		if (s->killed) {
			t->where = USER;
		} else if (s->hold) {
			/* Perhaps for a signal with a handler. */
			s->trap = 0;
			t->where = choose(2) ? AT_HANDLER : SAFE;
			if (t->where == AT_HANDLER)
				put(s);
		}
	}
	t->may_wait = has(KEEPS);
	for (t->i = 0; t->i < consumers(); t->i++) {
		if (!s->link[t->i].there)
			continue;
		UNDER(RING_LOCK + t->i, "copy", copy(s, t->i));
		STEP("count, wake");
		keep_or_lose(s, t->i);
		wake_sleepers(t->i);
		UNDER(RING_LOCK + t->i, "END", write_end(s, t->i));
		UNDER(WAIT_LOCK + t->i, "leave", stop_waiting(s, t->i));
		wake_readers(t->i);
	}
	STEP("dies, wakes the readers");
	t->made++;
	store(DEAD, 1);
	for (t->i = 0; t->i < consumers() && !has(NO_DEATH); t->i++)
		wake_readers(t->i);
	fence();
	END;
}

/* Readers. */

/* Take the next record, in the order of the numbers.  RING_LOCK is held. */
static bool take(struct state *s, unsigned int c)
{
	struct consumer *consumer = &s->consumer[c];
	__u8 tail = load(TAIL + c), *slot = &consumer->slot[tail % RING];

	if (load(HEAD + c) == tail) {
		consumer->next += load(LOST + c);
		if (!load(LOST + c))
			return false;
		store(LOST + c, 0);
		return true;
	}
	if (*slot & LOST_RECORD)
		consumer->next += *slot & ~LOST_RECORD;
	else if (*slot != ++consumer->next)
		fail(ORDER);
	*slot = 0;
	store(TAIL + c, tail + 1);
	return true;
}

static bool has_record(unsigned int c)
{
	return load(HEAD + c) != load(TAIL + c) || load(LOST + c);
}

/* Resume the thread if it waits.  WAIT_LOCK is held. */
static void let_go(struct state *s, unsigned int c)
{
	if (!s->consumer[c].waiting)
		return;
	s->consumer[c].waiting = 0;
	if (done(0))
		fail(FREED);
	control(s, c, false, false);
}

/* Begin to close the descriptor of the process. */
static void begin_close(struct state *s, unsigned int me)
{
	struct consumer *consumer = &s->consumer[consumer_of(me)];

	s->process[me - 1].closes = 1;
	s->process[me - 1].look = load(READER + consumer_of(me)) == me;
	if (consumer->reader == me)
		consumer->reader = 0;
}

/* Unregister the process as the reader.  WAIT_LOCK is held. */
static void end_reading(struct state *s, unsigned int me)
{
	unsigned int c = consumer_of(me);

	if (load(READER + c) == me || has(FLUSH_UNLOCKED))
		store(READER + c, 0);
}

/* Choose whether a reader closes, or stalls, in this step. */
static unsigned int leaves(unsigned int me)
{
	return has(me == 1 ? CLOSES | STALLS : CLOSES_2) ? choose(2) : 0;
}

static void reading(struct state *s, unsigned int me)
{
	struct process *p = &s->process[me - 1];
	unsigned int c = consumer_of(me);

	BEGIN;
	for (;;) {
		STEP("read: the reader? over?  Or close");
		p->got = 0;
		p->over = load(DEAD);
		if (leaves(me))
			break;
		if (load(READER + c) != me) {
			UNDER(WAIT_LOCK + c, "become the reader",
			      store(READER + c, me));
		}
		UNDER(RING_LOCK + c, "take", p->got = take(s, c));
		if (has(OVER_LATE)) {
			STEP("over?");
			p->over = load(DEAD);
		}
		if (p->got)
			UNDER(WAIT_LOCK + c, "resume", let_go(s, c));
		if (p->got)
			continue;
		if (p->over)
			goto end;
		STEP("asleep, smp_mb()");
		store(ASLEEP + me - 1, 1);
		if (!has(NO_MB_SLEEP))
			fence();
		STEP("a record, or over?");
		p->look = has_record(c) || load(DEAD);
		STEP("schedule()");
		p->stays = !leaves(me);
		if (!p->look && load(ASLEEP + me - 1) && p->stays) {
			cannot_go_on();
			return;
		}
		p->look = 0;
		store(ASLEEP + me - 1, 0);
		if (!p->stays)
			break;
	}
	p->look = 0;
	if (has(STALLS))
		goto end;
	STEP("flush: the reader?");
	begin_close(s, me);
	if (p->look && has(FLUSH_EARLY))
		UNDER(WAIT_LOCK + c, "resume", let_go(s, c));
	if (p->look)
		UNDER(WAIT_LOCK + c, "no reader", end_reading(s, me));
	if (p->look && !has(FLUSH_EARLY))
		UNDER(WAIT_LOCK + c, "resume", let_go(s, c));
	STEP("the last descriptor?");
	s->consumer[c].files &= ~me;
	if (!s->consumer[c].files && !has(FLUSH_EARLY)) {
		UNDER(WAIT_LOCK + c, "closed", store(CLOSED + c, 1));
		UNDER(WAIT_LOCK + c, "no reader", store(READER + c, 0));
		UNDER(WAIT_LOCK + c, "resume", let_go(s, c));
		STEP("detach");
		s->detached |= 1 << c;
		s->hold &= ~(1 << c);
		STEP("put the engine");
		s->consumer[c].freed = 1;
	}
end:
	p->got = 0;
	p->over = 0;
	p->look = 0;
	END;
}

static void second(struct state *s, unsigned int me)
{
	if (has(SECOND | TWO))
		reading(s, me);
	else
		next_step(THREAD_DONE, "done");
}

/* Cause SIGKILL, a ptrace trap, and a loss of rights. */
static void other(struct state *s, unsigned int me)
{
	BEGIN;
	if (has(TRAP)) {
		STEP("a trap of ptrace");
		s->trap = 1;
	}
	if (has(HIDE)) {
		STEP("the readers lose their rights");
		s->hidden = 1;
	}
	if (has(KILL)) {
		STEP("SIGKILL");
		s->killed = 1;
	}
	END;
}

static void landed(struct state *s, __u8 var, __u8 val)
{
	if (var != READER && var != READER + 1)
		return;
	if (val == PROGRAM)
		s->consumer[var - READER].reader = 0;
	else if (val && !s->process[val - 1].closes)
		s->consumer[var - READER].reader = val;
}

static void init(struct state *s)
{
	unsigned int c;

	for (c = 0; c < consumers(); c++) {
		s->link[c].there = 1;
		s->m.mem[READER + c] = c + 1;
		s->consumer[c].reader = c + 1;
		s->consumer[c].files = has(SECOND) ? 3 : c + 1;
		if (has(SELF))
			s->consumer[c].files |= 1 << PROGRAM;
	}
}

static void at_end(struct state *s)
{
	unsigned int c;

	if (has(STALLS) && !done(0) && s->consumer[0].waiting &&
	    in_memory(HEAD) - in_memory(TAIL) == RING)
		return;
	for (c = 0; c < 2; c++) {
		unsigned int of = consumer_of(c + 1);

		if (in_memory(ASLEEP + c) &&
		    (in_memory(HEAD + of) != in_memory(TAIL + of) ||
		     in_memory(LOST + of) || in_memory(DEAD)))
			fail(WAKE);
	}
	if (!done(0) && !has(SLEEPS))
		fail(s->hold ? HELD : "deadlock");
	for (c = 0; c < consumers(); c++)
		if (s->consumer[c].reader && !s->consumer[c].hidden &&
		    !has(SLEEPS) && !(has(STALLS) && !c) &&
		    s->consumer[c].next != s->task.made)
			fail(COUNT);
}

static const struct thread threads[] = {
	{ "thread", thread },
	{ "reader 1", reading },
	{ "reader 2", second },
	{ "other", other },
	{}
};

static const struct variant variants[] = {
	{ "branches", false, LATER, NULL },
	{ "branches, the program sleeps", false, LATER | SLEEPS, NULL },
	{ "branches, PSO", true, LATER, NULL },
	{ "branches, the reader may close", false, CLOSES, NULL },
	{ "branches, the reader may close, SIGKILL", false, CLOSES | KILL,
	  NULL },
	{ "branches, the reader may close, PSO", true, LATER | CLOSES, NULL },
	{ "branches, ptrace, SIGKILL", false, TRAP | KILL, NULL },
	{ "branches, ptrace, the reader may close", false, TRAP | CLOSES,
	  NULL },
	{ "branches, the reader stalls, SIGKILL", false, STALLS | KILL, NULL },
	{ "branches, rights are lost, ptrace", false, HIDE | TRAP, NULL },
	{ "branches, two readers", false, SECOND, NULL },
	{ "branches, two readers of which one may close", false,
	  SECOND | CLOSES, NULL },
	{ "branches, two readers that may close", false,
	  SECOND | CLOSES | CLOSES_2, NULL },
	{ "branches, the program polls, too", false, SELF, NULL },
	{ "branches, the program polls, too, the reader may close", false,
	  SELF | CLOSES, NULL },
	{ "branches for two", false, TWO, NULL },
	{ "branches for two, PSO", true, TWO, NULL },
	{ "branches for two, ptrace", false, TWO | TRAP, NULL },
	{ "branches for two, SIGKILL", false, TWO | KILL, NULL },
	{ "branches for two, one may close", false, TWO | CLOSES, NULL },
	{ "branches for two, one stalls", false, TWO | STALLS, NULL },
	{ "branches for two, one stalls and drops", false,
	  TWO | STALLS | NO_STOP, NULL },
	{ "branches for two, rights are lost", false, TWO | HIDE, NULL },
	{ "branches with a check for room before wait_lock", false, ROOM_EARLY,
	  HELD },
	{ "branches with a reader that resumes before it closes", false,
	  CLOSES | FLUSH_EARLY, HELD },
	{ "branches with a reader that closes for another one", false,
	  SECOND | CLOSES | FLUSH_UNLOCKED, DROPS },
	{ "branches of a program that is its own reader", false,
	  SELF | CLOSES | WAITS_SELF, HELD },
	{ "branches with a hold that outlives the link", false,
	  TWO | HIDE | HIDE_HELD, HELD },
	{ "branches with a hold in spite of the last one", false,
	  TRAP | NO_AGAIN, LIST },
	{ "branches without a report after a hold", false, NO_REPORT, RUNS },
	{ "branches without a report before a hold", false, NO_SOON, RUNS },
	{ "branches without room for the frame of a handler", false,
	  TRAP | NO_SPARE, DROPS },
	{ "branches with a hold for a closed consumer", false,
	  CLOSES | NO_CLOSED, FREED },
	{ "branches of a thread that dies in the list", false,
	  KILL | STAYS_LISTED, FREED },
	{ "branches of a killed thread that are not counted", false,
	  KILL | KEEPS, ORDER },
	{ "branches for two that are kept for the faster one", false,
	  TWO | ALL_AS_ONE, ORDER },
	{ "branches without barrier after head", false,
	  LATER | SLEEPS | NO_MB_WAKE, WAKE },
	{ "branches without barrier before a check of head", false,
	  LATER | SLEEPS | NO_MB_SLEEP, WAKE },
	{ "branches with the check for the end after records", false, OVER_LATE,
	  COUNT },
	{ "branches of a thread whose end wakes no reader", false, NO_DEATH,
	  WAKE },
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
