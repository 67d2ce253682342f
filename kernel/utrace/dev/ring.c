// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the rings of records, and their writers
 *
 * Each CPU has a ring.  A task writes into the ring of its CPU with preemption
 * off, and never from an interrupt.  So a ring has one writer at a time and
 * needs no lock.  Unread records are never overwritten.  A record that finds no
 * room is lost and counted, or parked (park.c).  Before the next record that has
 * room, the writer adds a UTRACE_REC_LOST for each target that has lost records.
 *
 * With PREEMPT_RT, a spinlock_t must not be taken with preemption off.  So a
 * writer wakes readers after its ring is closed, and takes park_lock before it
 * opens the ring.
 *
 * A task may migrate between two records, so the reader (stream.c) merges the
 * rings by time.  The time of a record is read from the clock, but is always
 * later than that of the last record of the ring and of the task: some machines
 * have a clock that stands still for milliseconds.
 *
 * Barriers connect a writer with the reader:
 *
 *	writer				reader
 *	open = 1			now = clock
 *	full barrier			full barrier
 *	time = clock			open: acquire
 *	tail: acquire			last, head: acquire
 *	write the record, last		read the records
 *	head: release			tail: release
 *	open = 0, full barrier
 *	a sleeper? then wake
 *
 * The members of a record other than the time may be written before the clock
 * is read: no reader accesses the record before @head is stored.
 *
 * If the reader finds @open clear and misses the record of a writer, that
 * record gets a time of @now or later.  If the reader finds @open set, the
 * record that is being written gets a time of @last or later.  A reader that
 * loads a new @head sees the records before it; a writer that loads a new @tail
 * may reuse the bytes before it.
 */
#include <linux/align.h>
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "write.h"

/* Smallest and largest size of all rings together, in bytes. */
#define SESSION_RINGS_MIN		SZ_64K
#define SESSION_RINGS_MAX		SZ_64M

/* Default and largest delay before a waiting reader is woken, in ns. */
#define SESSION_DELAY_DEFAULT		(10 * NSEC_PER_MSEC)
#define SESSION_DELAY_MAX		NSEC_PER_SEC

/*
 * The smallest ring has room for the largest record, the LOST records before it
 * (one struct utrace_rec_lost for each element of ->losses), and a
 * UTRACE_REC_PAD that is almost as large.
 */
static_assert(2 * (UTRACE_DEV_RECORD_SIZE + SESSION_RING_LOSSES *
		   sizeof(struct utrace_rec_lost)) <= UTRACE_RING_MIN);

/*
 * Charge the rings to the user of the caller, since their memory cannot be
 * swapped out.  The limit is RLIMIT_MEMLOCK, shared with the buffers of perf
 * and io_uring.  The user is charged, not an address space, since a session may
 * outlive all processes of the user.  Returns 0 or -ENOMEM.
 */
static int session_ring_charge(struct utrace_session *session, size_t size)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user = current_user();
	long used, sum;

	if (capable(CAP_IPC_LOCK))
		return 0;
	used = atomic_long_read(&user->locked_vm);
	do {
		sum = used + (size >> PAGE_SHIFT);
		if (sum > limit)
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &used, sum));
	session->user = get_uid(user);
	return 0;
}

static void session_ring_uncharge(struct utrace_session *session, size_t size)
{
	if (!session->user)
		return;
	atomic_long_sub(size >> PAGE_SHIFT, &session->user->locked_vm);
	free_uid(session->user);
	session->user = NULL;
}

/* Bytes of the ring of each CPU, if all rings together take @all bytes. */
static size_t session_ring_part(size_t all)
{
	return max_t(size_t, rounddown_pow_of_two(all / num_possible_cpus()),
		     UTRACE_RING_MIN);
}

/*
 * Update ->at and ->limit from ->head and ->seen.  Free memory counts up to the
 * end of the ring's memory at most.  With lost records, here and in
 * utrace_dev_lost(), ->limit leaves no room, so that the next record takes the
 * slow path, which writes the LOST records first.
 */
static void session_ring_limit(const struct utrace_session *session,
			       struct session_ring *ring)
{
	u64 unread = ring->head - ring->seen;
	/* A program may have stored any tail. */
	u64 room = session->ring_size - min_t(u64, unread, session->ring_size);

	ring->at = session_ring_at(session, ring, ring->head);
	ring->limit = ring->at + min(room, session_ring_left(session, ring));
	if (ring->nlosses)
		ring->limit = ring->data;
}

/* Allocate the rings of utrace_session.ring_size each.  NULL: no memory. */
static struct session_ring *session_rings_alloc(struct utrace_session *session)
{
	struct session_ring *ring;
	struct utrace_map_ring *header;
	unsigned int cpu;

	ring = kvcalloc(nr_cpu_ids, sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return NULL;
	if (utrace_dev_shared_make(session)) {
		kvfree(ring);
		return NULL;
	}
	header = session->shared + sizeof(struct utrace_map);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		ring[cpu].cpu = (u64)cpu << 32;
		ring[cpu].header = &header[cpu];
		ring[cpu].tail = &session->tails[cpu].tail;
		ring[cpu].data = session->shared + utrace_dev_data_offset() +
				 cpu * session->ring_size;
		session_ring_limit(session, &ring[cpu]);
	}
	return ring;
}

/* Bytes charged to the user. */
static size_t session_ring_charged(const struct utrace_session *session)
{
	return utrace_dev_rings_size(session) + utrace_dev_tails_size();
}

/**
 * utrace_dev_ring_make() - allocate the rings of a session
 * @session: a session without rings; the caller holds its lock, or is its only
 *	user
 * @setup: the argument of UTRACE_IOC_SETUP, or the defaults
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the session has rings
 * * -EINVAL - the size, the delay or the policy is not valid
 * * -ENOMEM - out of memory, or RLIMIT_MEMLOCK of the user would be exceeded
 *   and the caller lacks CAP_IPC_LOCK
 */
int utrace_dev_ring_make(struct utrace_session *session,
			 const struct utrace_ioc_setup *setup)
{
	u64 size = setup->rings_size ?: SESSION_RING_DEFAULT;
	u64 delay = setup->delay ?: SESSION_DELAY_DEFAULT;
	struct session_ring *ring;
	int ret;

	if (size < SESSION_RINGS_MIN || size > SESSION_RINGS_MAX ||
	    delay > SESSION_DELAY_MAX || setup->full > UTRACE_FULL_DROP)
		return -EINVAL;
	session->ring_size = session_ring_part(size);
	session->delay = nsecs_to_jiffies(delay) ?: 1;
	session->full = setup->full;
	session->mapped = setup->flags & UTRACE_SETUP_F_MAPPED;
	ret = session_ring_charge(session, session_ring_charged(session));
	if (ret)
		return ret;
	ring = session_rings_alloc(session);
	if (!ring) {
		session_ring_uncharge(session, session_ring_charged(session));
		return -ENOMEM;
	}
	/* Readers without the lock see what was set above. */
	smp_store_release(&session->ring, ring);
	return 0;
}

/**
 * utrace_dev_ring_free() - free the rings of a session
 * @session: a session without writers and readers
 *
 * Context: Any but interrupts; see vfree().
 */
void utrace_dev_ring_free(struct utrace_session *session)
{
	if (!session->ring)
		return;
	utrace_dev_shared_free(session);
	kvfree(session->ring);
	session_ring_uncharge(session, session_ring_charged(session));
}

/**
 * utrace_dev_wake_soon() - wake the waiting readers
 * @session: the session
 * @now: wake them at once; else after utrace_session.delay
 *
 * The caller has issued a full barrier between the store that the readers wait
 * for and its check of utrace_reader.wait.  This function does not check the
 * queue.
 *
 * Context: Any but NMI.  With PREEMPT_RT, preemption must be on.
 */
void utrace_dev_wake_soon(struct utrace_session *session, bool now)
{
	if (now)
		wake_up_interruptible_poll(&session->reader.wait, SESSION_WAKE);
	/*
	 * The timer function clears ->armed, has a full barrier, and then
	 * wakes.  If ->armed is still set here, that wake-up is yet to come.
	 */
	else if (!atomic_read(&session->armed) &&
		 !atomic_xchg(&session->armed, 1))
		mod_timer(&session->wake, jiffies + session->delay);
}

/**
 * utrace_dev_check_ends_soon() - request a check for targets that have ended
 * @session: the session, of which a task has died
 *
 * Wakes waiting readers, which call utrace_dev_check_ends().
 *
 * Context: A callback; does not sleep.
 */
void utrace_dev_check_ends_soon(struct utrace_session *session)
{
	WRITE_ONCE(session->check_ends, true);
	smp_mb();	/* ->check_ends before the check for a sleeper. */
	if (waitqueue_active(&session->reader.wait))
		utrace_dev_wake_soon(session, false);
}

/* Check whether all bytes before @end - utrace_session.ring_size were read. */
static bool session_ring_fits(const struct utrace_session *session,
			      struct session_ring *ring, u64 end)
{
	if (likely(end - ring->seen <= session->ring_size))
		return true;
	/*
	 * Pairs with the release of the tail by the reader, see above.  A wrong
	 * tail from a program makes the ring seem full, or gives up records
	 * that the program has not read.
	 */
	ring->seen = smp_load_acquire(ring->tail);
	return end - ring->seen <= session->ring_size;
}

/*
 * Find room for @size contiguous bytes.  If too few bytes are left before the
 * end of the ring, a UTRACE_REC_PAD fills them.  Returns false if there is no
 * room.
 */
static bool session_ring_place(const struct utrace_session *session,
			       struct session_ring *ring, size_t size)
{
	size_t left = session_ring_left(session, ring);
	u64 at = left < size ? ring->head + left : ring->head;

	if (!session_ring_fits(session, ring, at + size))
		return false;
	if (at != ring->head) {
		struct utrace_rec *pad = session_ring_at(session, ring,
							 ring->head);

		/* Only 8 bytes may be left: write size and type only. */
		pad->size = left;
		pad->type = UTRACE_REC_PAD;
		ring->head = at;
	}
	return true;
}

/*
 * Write a UTRACE_REC_LOST at @to for each target in ->losses, and clear
 * ->losses.  Returns the address after the last one.
 */
static void *session_fill_lost(struct session_ring *ring, void *to, u64 time)
{
	struct utrace_rec_lost *rec = to;
	unsigned int i;

	for (i = 0; i < ring->nlosses; i++, rec++)
		*rec = (struct utrace_rec_lost){
			.head = {
				.size = sizeof(*rec),
				.type = UTRACE_REC_LOST,
				.time = time,
				.target = ring->losses[i].target,
				.cpu = ring->cpu >> 32,
			},
			.lost = ring->losses[i].lost,
		};
	ring->nlosses = 0;
	return rec;
}

/*
 * Find room for a record of @size bytes and the LOST records before it.
 * Returns false if there is none.
 */
static bool session_ring_begin(const struct utrace_session *session,
			       struct session_ring *ring, size_t size)
{
	size_t lost = ring->nlosses * sizeof(struct utrace_rec_lost);

	return session_ring_place(session, ring, size + lost);
}

/*
 * Write the LOST records where session_ring_begin() has found room.  The next
 * record goes to ->at.
 */
static void session_ring_put_lost(const struct utrace_session *session,
				  struct session_ring *ring, u64 time)
{
	void *at = session_ring_at(session, ring, ring->head);

	ring->head += session_fill_lost(ring, at, time) - at;
	session_ring_limit(session, ring);
}

/* Count a lost record in ->losses, for the next UTRACE_REC_LOST. */
static void session_ring_lose(struct session_ring *ring,
			      struct session_target *of)
{
	u32 target = of->id;
	unsigned int i;

	atomic64_inc(&of->lost);
	WRITE_ONCE(ring->lost, ring->lost + 1);
	for (i = 0; i < ring->nlosses; i++)
		if (ring->losses[i].target == target)
			break;
	if (i >= SESSION_RING_LOSSES - 1) {
		i = SESSION_RING_LOSSES - 1;
		target = 0;
	}
	if (i == ring->nlosses)
		ring->losses[ring->nlosses++] =
			(struct session_loss){ target, 0 };
	ring->losses[i].lost++;
	ring->limit = ring->data;
}

/**
 * utrace_dev_lost() - count a lost record
 * @target: the target of the record
 *
 * Context: Task context with preemption on; does not sleep.
 */
void utrace_dev_lost(struct session_target *target)
{
	struct session_ring *ring = session_ring_open(target->session);

	session_ring_lose(ring, target);
	session_ring_close(ring);
}

/*
 * Find room in the ring of this CPU.  On success the ring stays open, with
 * preemption off, and ->rec is filled in.  On failure the ring is closed.
 */
static bool session_reserve_once(struct session_writer *w, u16 type, u16 flags,
				 size_t size)
{
	struct utrace_session *session = w->target->session;
	struct session_ring *ring = session_ring_open(session);
	u64 time;

	w->task->number.target = w->target->id;
	if (unlikely(!session_ring_begin(session, ring, size))) {
		session_ring_close(ring);
		return false;
	}
	time = session_record_time(ring, w->task);
	session_ring_put_lost(session, ring, time);
	w->ring = ring;
	w->parked = NULL;
	w->size = size;
	w->rec = ring->at;
	session_fill_head(w->rec, ring->cpu, w->task, type, size, w->now, flags);
	session_set_time(w->rec, ring->header, w->task, time);
	return true;
}

/* Allocate memory to park a record.  An EXIT uses the spare of its task. */
static struct session_parked *session_parked_for(struct session_writer *w,
						 u16 type, size_t size)
{
	struct session_parked *parked;

	if (type != UTRACE_REC_EXIT)
		return utrace_dev_parked_new(size);
	parked = w->task->spare;
	w->task->spare = NULL;
	return parked;
}

/*
 * The ring has no room.  Allocate memory to park the record, or count it as
 * lost.
 */
static noinline bool session_reserve_slow(struct session_writer *w, u16 type,
					  u16 flags, size_t size)
{
	if (utrace_dev_may_wait(w, type)) {
		w->parked = session_parked_for(w, type, size);
		if (w->parked) {
			w->rec = (void *)w->parked->data;
			session_fill_head(w->rec, 0, w->task, type, size,
					  w->now, flags);
			/* Until the commit; callers copy it (->began). */
			w->rec->time = ktime_get_ns();
			return true;
		}
	}
	w->task->number.last++;
	utrace_dev_lost(w->target);
	if (type != UTRACE_REC_EXIT && READ_ONCE(w->task->parked))
		utrace_dev_hold_again(w);
	return false;
}

/**
 * utrace_dev_reserve() - begin to write a record of the current task
 * @w: the caller fills in @target, @task and @now; this function the rest
 * @type: enum utrace_rec_type
 * @flags: UTRACE_REC_F_ bits
 * @size: bytes of the record, a multiple of 8, UTRACE_DEV_RECORD_SIZE at most
 *
 * A record that finds no room is parked, or counted as lost.  utrace_dev_commit()
 * gives a parked record a later time.
 *
 * Context: Task context with preemption on; may sleep.  After true the caller
 * must not sleep: preemption is off unless the record is to be parked.
 * Return:
 * * true - the caller must fill in @w->rec after the header and call
 *   utrace_dev_commit()
 * * false - the record is lost
 */
bool utrace_dev_reserve(struct session_writer *w, u16 type, u16 flags,
			size_t size)
{
	return likely(session_reserve_once(w, type, flags, size)) ||
	       session_reserve_slow(w, type, flags, size);
}

/**
 * utrace_dev_wake() - wake the readers that wait for records of a ring
 * @session: the session
 * @ring: the ring of this CPU, which the caller has just closed
 *
 * Wakes them at once if the ring is half full, as far as its writer knows.
 *
 * Context: Preemption is off.  Turns preemption on.
 */
void utrace_dev_wake(struct utrace_session *session, struct session_ring *ring)
{
	const size_t half = session->ring_size / 2;
	bool full = ring->head - ring->seen > half;

	if (full) {
		/* As in session_ring_fits(). */
		ring->seen = smp_load_acquire(ring->tail);
		full = ring->head - ring->seen > half;
	}
	preempt_enable();
	utrace_dev_wake_soon(session, full);
}

/*
 * Complete a record that is to be parked: the time, the CPU, and the LOST
 * records of the ring.  They go before the record into the same memory, since
 * the reader may return the parked record before the next record of the ring.
 */
static void session_ring_park(struct session_ring *ring,
			      struct session_writer *w)
{
	size_t lost = ring->nlosses * sizeof(struct utrace_rec_lost);
	struct session_parked *parked = w->parked;

	parked->time = session_record_time(ring, w->task);
	parked->first = (void *)parked->data - lost;
	parked->size += lost;
	session_fill_lost(ring, parked->first, parked->time);
	session_ring_limit(w->target->session, ring);
	w->rec->cpu = ring->cpu >> 32;
	session_set_time(w->rec, ring->header, w->task, parked->time);
	/* As in session_ring_advance(). */
	data_race(ring->records++);
}

/**
 * utrace_dev_commit() - finish a record of the current task
 * @w: as utrace_dev_reserve() has left it, with the record written
 *
 * Context: Task context as utrace_dev_reserve() has left it; turns preemption
 * on.  Takes utrace_session.park_lock if the record is parked.
 */
void utrace_dev_commit(struct session_writer *w)
{
	struct utrace_session *session = w->target->session;
	struct session_ring *ring;

	if (likely(!w->parked)) {
		session_publish(session, w->ring, w->ring->header, w->size);
		return;
	}
	/*
	 * The record is in the list before the ring is closed, see
	 * session_bound().
	 */
	scoped_guard(spinlock, &session->park_lock) {
		ring = session_ring_open(session);
		session_ring_park(ring, w);
		utrace_dev_park(w);
		session_ring_close(ring);
	}
	/* As in session_publish(). */
	if (waitqueue_active(&session->reader.wait))
		utrace_dev_wake_soon(session, true);
}

/**
 * utrace_dev_write_for() - write a record about a task that cannot run
 * @target: the target of the record
 * @rec: the record, complete except for its time and CPU
 * @task: the session's state of the task, or NULL
 *
 * The time is later than that of the task's last record, and its next record is
 * later still, see session_record_time().  Without @task, only the clock orders
 * the next record.
 *
 * A record that finds no room is counted as lost.  The caller must wake the
 * readers.
 *
 * Context: Any but interrupts.  The caller keeps the task from running.
 * Return:
 * * true - the record is in the ring of this CPU
 * * false - the record is lost
 */
bool utrace_dev_write_for(struct session_target *target, struct utrace_rec *rec,
			  struct session_task *task)
{
	struct utrace_session *session = target->session;
	struct session_ring *ring = session_ring_open(session);
	struct utrace_map_ring *header = ring->header;
	bool room = session_ring_begin(session, ring, rec->size);

	if (room) {
		rec->time = max3(ktime_get_ns(), header->last + 1,
				 task ? task->last + 1 : 0);
		rec->cpu = ring->cpu >> 32;
		if (task)
			task->last = rec->time;
		session_ring_put_lost(session, ring, rec->time);
		memcpy(ring->at, rec, rec->size);
		WRITE_ONCE(header->last, rec->time);
		session_ring_advance(ring, header, rec->size);
	} else {
		session_ring_lose(ring, target);
	}
	session_ring_close(ring);
	return room;
}
