// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the merged stream of records, for read(2)
 *
 * read(2) merges the rings of the CPUs and the list of parked records by the
 * times of the records.  A reader that simply visited one ring after the other
 * could miss a record A in a ring that it has just left, and find a record B
 * that the same task wrote later, after a migration.  So each read returns only
 * records up to a bound, and no record that is not yet visible can have a time
 * below the bound; ring.c says how the writers guarantee that.  While nothing
 * is being written there is no bound.
 */
#include <linux/align.h>
#include <linux/poll.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "session.h"

/**
 * struct session_source - the source of the next record
 * @ring: the ring; NULL: the record is parked, or there is none
 * @parked: the record; NULL if it is in a ring, or if there is none
 * @time: its time; U64_MAX if there is none
 * @next: time up to which the following records of @ring come before those of
 *	all other sources
 */
struct session_source {
	struct session_ring *ring;
	struct session_parked *parked;
	u64 time;
	u64 next;
};

/*
 * Check whether there is a record to read.  Another reader may take it first.
 */
static bool session_has(struct utrace_session *session)
{
	/* Pairs with utrace_dev_ring_make(). */
	struct session_ring *ring = smp_load_acquire(&session->ring);
	unsigned int cpu;

	if (READ_ONCE(session->nparked))
		return true;
	for (cpu = 0; ring && cpu < nr_cpu_ids; cpu++)
		if (READ_ONCE(ring[cpu].header->head) !=
		    READ_ONCE(*ring[cpu].tail))
			return true;
	return false;
}

/*
 * Check that nothing has changed since session_bound() read the rings: no ring
 * is being written, and nothing is parked that session_bound() has not taken.
 * Heads only grow, so at one moment between the two passes all rings had
 * exactly the visible records.
 */
static bool session_is_still(struct utrace_session *session)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct session_ring *ring = &session->ring[cpu];

		/* As in session_bound(). */
		if (smp_load_acquire(&ring->header->open))
			return false;
		/* As in session_bound(). */
		if (smp_load_acquire(&ring->header->head) != ring->visible)
			return false;
	}
	/*
	 * After the checks of ->open: a record is parked before its ring is
	 * closed, and does not change ->head.
	 */
	guard(spinlock)(&session->park_lock);
	return list_empty(&session->parked);
}

/*
 * Compute the bound, store how far each ring may be read, and take the parked
 * records.  See ring.c for the order.  A record that is parked later has a time
 * after the bound: a writer parks a record before it closes its ring.  If the
 * ring is found closed, the record is among the parked ones; if it is found
 * open, ->last limits the bound.
 */
static u64 session_bound(struct utrace_session *session)
{
	u64 bound = ktime_get_ns();
	unsigned int cpu;

	smp_mb();	/* The clock before ->open. */
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct session_ring *ring = &session->ring[cpu];
		/* Pairs with session_ring_shut() and session_publish(). */
		bool open = smp_load_acquire(&ring->header->open);
		u64 last = READ_ONCE(ring->header->last);

		/* Pairs with session_ring_advance(). */
		ring->visible = smp_load_acquire(&ring->header->head);
		if (open)
			bound = min(bound, last);
	}
	utrace_dev_take_parked(session);
	/*
	 * A clock that stands still must not hold records back: all visible
	 * records were written before any other record.
	 */
	return session_is_still(session) ? U64_MAX : bound;
}

static struct utrace_rec *session_rec_at(const struct utrace_session *session,
					 const struct session_ring *ring,
					 u64 at)
{
	return ring->data + (at & (session->ring_size - 1));
}

/* Release the bytes before @tail to the writer. */
static void session_consume(struct session_ring *ring, u64 tail)
{
	ring->first = tail;
	/*
	 * Pairs with smp_load_acquire() in session_ring_fits(): the records are
	 * read before the writer reuses their bytes.
	 */
	smp_store_release(ring->tail, tail);
}

/*
 * Bytes of the record at @at, or 0 if there is none that may be read.  A
 * program that maps the tails during a read(2) may release the ring to its
 * writer, which may then write anything here.  So whatever is found must lie
 * within the ring.
 */
static size_t session_rec_size(const struct utrace_session *session,
			       const struct session_ring *ring, u64 at)
{
	const struct utrace_rec *rec = session_rec_at(session, ring, at);
	u64 left = session->ring_size - (at & (session->ring_size - 1));
	size_t size;

	/* A wrong size may have led beyond ->visible. */
	if ((s64)(ring->visible - at) <= 0)
		return 0;
	left = min(left, ring->visible - at);
	size = READ_ONCE(rec->size);
	if (!size || size > left || !IS_ALIGNED(size, 8) ||
	    (size < sizeof(*rec) && READ_ONCE(rec->type) != UTRACE_REC_PAD))
		return 0;
	return size;
}

/* Find the first record of a ring that may be read, or NULL. */
static struct utrace_rec *session_ring_first(struct utrace_session *session,
					     struct session_ring *ring)
{
	struct utrace_rec *rec;
	size_t size;

	while ((size = session_rec_size(session, ring, ring->first))) {
		rec = session_rec_at(session, ring, ring->first);
		if (size >= sizeof(*rec) &&
		    READ_ONCE(rec->type) != UTRACE_REC_PAD)
			return rec;
		session_consume(ring, ring->first + size);
	}
	return NULL;
}

/*
 * Update @source for a ring or list whose first record has this time.  Returns
 * true if it is the earliest so far.
 */
static bool session_is_earlier(struct session_source *source, u64 time)
{
	if (time >= source->time) {
		source->next = min(source->next, time);
		return false;
	}
	source->next = source->time;
	source->time = time;
	return true;
}

/* Find the earliest record. */
static void session_find(struct utrace_session *session,
			 struct session_source *source)
{
	struct session_parked *parked =
		list_first_entry_or_null(&session->taken, struct session_parked,
					 list);
	bool mapped = session->mapped;
	struct utrace_rec *rec;
	unsigned int cpu;

	*source = (struct session_source){ .time = U64_MAX, .next = U64_MAX };
	if (parked && session_is_earlier(source, parked->time))
		source->parked = parked;
	for (cpu = 0; cpu < nr_cpu_ids && !mapped; cpu++) {
		rec = session_ring_first(session, &session->ring[cpu]);
		if (!rec || !session_is_earlier(source, rec->time))
			continue;
		source->parked = NULL;
		source->ring = &session->ring[cpu];
	}
}

/*
 * Bytes of the next records from @source that fit into @size bytes and are
 * contiguous: up to ->visible, to a UTRACE_REC_PAD or to the end of the ring;
 * with no time after @bound.
 */
static size_t session_ring_piece(const struct utrace_session *session,
				 const struct session_source *source,
				 u64 bound, size_t size)
{
	const struct session_ring *ring = source->ring;
	size_t left = session->ring_size -
		      (ring->first & (session->ring_size - 1));
	const struct utrace_rec *rec;
	size_t bytes = 0, one;

	bound = min(bound, source->next);
	while (bytes < left) {
		one = session_rec_size(session, ring, ring->first + bytes);
		rec = session_rec_at(session, ring, ring->first + bytes);
		if (one < sizeof(*rec) || rec->type == UTRACE_REC_PAD ||
		    rec->time > bound || bytes + one > size)
			break;
		bytes += one;
	}
	return bytes;
}

/* Returns the bytes written to @to, -EINVAL or -EFAULT. */
static ssize_t session_take_ring(struct utrace_session *session,
				 const struct session_source *source, u64 bound,
				 char __user *to, size_t size)
{
	struct session_ring *ring = source->ring;
	size_t piece = session_ring_piece(session, source, bound, size);

	if (!piece)
		return -EINVAL;
	if (copy_to_user(to, session_rec_at(session, ring, ring->first), piece))
		return -EFAULT;
	session_consume(ring, ring->first + piece);
	return piece;
}

/* Like session_take_ring(), for a parked record. */
static ssize_t session_take_parked(struct utrace_session *session,
				   struct session_parked *parked,
				   char __user *to, size_t size)
{
	size_t bytes = parked->size;

	if (bytes > size)
		return -EINVAL;
	if (copy_to_user(to, parked->first, bytes))
		return -EFAULT;
	utrace_dev_unpark(session, parked);
	return bytes;
}

/*
 * Copy records of a session to user memory, with utrace_reader.read_lock held,
 * and let the tasks go that waited for these records to be read.  Returns the
 * bytes written, whole records only; 0 if there are no records, or none may be
 * returned yet; -EINVAL if @size is too small for the next record; or -EFAULT,
 * which consumes no further record.
 */
static ssize_t session_read(struct utrace_session *session, char __user *to,
			    size_t size)
{
	struct session_source source;
	size_t done = 0;
	ssize_t ret = 0;
	u64 bound;

	/* Pairs with utrace_dev_ring_make(). */
	if (!smp_load_acquire(&session->ring))
		return 0;
	bound = session_bound(session);
	/* A program that merges mapped rings orders all records itself. */
	if (session->mapped)
		bound = U64_MAX;
	while (ret >= 0) {
		done += ret;
		session_find(session, &source);
		if (source.time > bound || source.time == U64_MAX)
			return done;
		if (source.parked)
			ret = session_take_parked(session, source.parked,
						  to + done, size - done);
		else
			ret = session_take_ring(session, &source, bound,
						to + done, size - done);
	}
	return done ?: ret;
}

/* The session as a struct utrace_reader */

static struct utrace_session *session_of_reader(struct utrace_reader *reader)
{
	return container_of(reader, struct utrace_session, reader);
}

/* Let the threads of the new reader go: they would wait for their process. */
static void session_reader_began(struct utrace_reader *reader,
				 struct pid *process)
{
	utrace_dev_let_go(session_of_reader(reader), process);
}

static void session_reader_ended(struct utrace_reader *reader)
{
	utrace_dev_let_go(session_of_reader(reader), NULL);
}

static bool session_reader_tryget(struct utrace_reader *reader)
{
	return kref_get_unless_zero(&session_of_reader(reader)->ref);
}

static void session_reader_put(struct utrace_reader *reader)
{
	utrace_dev_put(session_of_reader(reader));
}

static void session_reader_sync(struct utrace_reader *reader)
{
	utrace_dev_check_ends(session_of_reader(reader));
}

static bool session_reader_over(struct utrace_reader *reader)
{
	return utrace_dev_is_over(session_of_reader(reader));
}

static bool session_reader_has(struct utrace_reader *reader)
{
	return session_has(session_of_reader(reader));
}

static bool session_reader_ready(struct utrace_reader *reader)
{
	struct utrace_session *session = session_of_reader(reader);

	return session_has(session) || READ_ONCE(session->check_ends) ||
	       utrace_dev_is_over(session);
}

static ssize_t session_reader_read(struct utrace_reader *reader,
				   char __user *to, size_t size)
{
	return session_read(session_of_reader(reader), to, size);
}

const struct utrace_reader_ops utrace_dev_reader_ops = {
	.began	= session_reader_began,
	.ended	= session_reader_ended,
	.tryget	= session_reader_tryget,
	.put	= session_reader_put,
	.sync	= session_reader_sync,
	.over	= session_reader_over,
	.has	= session_reader_has,
	.ready	= session_reader_ready,
	.read	= session_reader_read,
};
