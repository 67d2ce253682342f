// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the ring of records
 *
 * Traced tasks write records under ring->lock.  One reader at a time reads them
 * without that lock, under utrace_session.read_lock.  No unread record is
 * overwritten: a record without room is lost and counted, and the next record
 * that has room is preceded by a UTRACE_REC_LOST.
 *
 * Two pairs of barriers connect the sides:
 *
 *	writer (utrace_dev_ring_write)	reader (utrace_dev_ring_read)
 *	tail: acquire			head: acquire
 *	write the record		read the records
 *	head: release			tail: release
 *
 * The reader that finds a new head sees the records before it.  The writer that
 * finds a new tail may reuse the bytes before it, as the reader is done with
 * them.
 */
#include <linux/align.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "session.h"

/* Smallest and largest ring in bytes. */
#define SESSION_RING_MIN		SZ_64K
#define SESSION_RING_MAX		SZ_64M

/* Stands for "there is no room" in the place of a position. */
#define SESSION_RING_FULL		U64_MAX

/*
 * Charge the ring to the user of the caller, since its memory cannot be
 * swapped out.  The limit is RLIMIT_MEMLOCK, together with the buffers of perf
 * and io_uring.  The user is charged and not an address space, as a session may
 * outlive all processes of the user.  Return 0 or -ENOMEM.
 */
static int session_ring_charge(struct session_ring *ring, size_t size)
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
	ring->user = get_uid(user);
	return 0;
}

static void session_ring_uncharge(struct session_ring *ring, size_t size)
{
	if (!ring->user)
		return;
	atomic_long_sub(size >> PAGE_SHIFT, &ring->user->locked_vm);
	free_uid(ring->user);
	ring->user = NULL;
}

static bool session_is_clock(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
	       clock == CLOCK_BOOTTIME;
}

/**
 * utrace_dev_ring_make() - give a ring its memory
 * @ring: a ring that has none; utrace_session.lock is held
 * @size: bytes, a power of 2; 0: SESSION_RING_DEFAULT
 * @clock: clock of the records' times
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the ring has its memory
 * * -EINVAL - there is no such size or clock
 * * -ENOMEM - there is no memory, or it would exceed RLIMIT_MEMLOCK of the user
 *   and the caller has no CAP_IPC_LOCK
 */
int utrace_dev_ring_make(struct session_ring *ring, size_t size,
			 clockid_t clock)
{
	int ret;

	if (!size)
		size = SESSION_RING_DEFAULT;
	if (!is_power_of_2(size) || size < SESSION_RING_MIN ||
	    size > SESSION_RING_MAX || !session_is_clock(clock))
		return -EINVAL;
	ret = session_ring_charge(ring, size);
	if (ret)
		return ret;
	ring->data = __vmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!ring->data) {
		session_ring_uncharge(ring, size);
		return -ENOMEM;
	}
	ring->clock = clock;
	/* UTRACE_IOC_INFO reads the size without utrace_session.lock. */
	WRITE_ONCE(ring->size, size);
	return 0;
}

/**
 * utrace_dev_ring_free() - free the memory of a ring
 * @ring: a ring that has neither writers nor a reader any more
 *
 * Context: Any but interrupts; see vfree().
 */
void utrace_dev_ring_free(struct session_ring *ring)
{
	vfree(ring->data);
	session_ring_uncharge(ring, ring->size);
}

static u64 session_time(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
		return ktime_get_real_ns();
	case CLOCK_BOOTTIME:
		return ktime_get_boottime_ns();
	default:
		return ktime_get_ns();
	}
}

static void *session_ring_at(struct session_ring *ring, u64 position)
{
	return ring->data + (position & (ring->size - 1));
}

/*
 * Find room for a record of @size bytes behind @head.  A record does not wrap:
 * if the bytes up to the end of the ring are too few, a UTRACE_REC_PAD fills
 * them.  Return the position, or SESSION_RING_FULL.
 */
static u64 session_ring_reserve(struct session_ring *ring, u64 head,
				size_t size)
{
	size_t left = ring->size - (head & (ring->size - 1));
	u64 at = left < size ? head + left : head;

	/*
	 * Pairs with smp_store_release() in utrace_dev_ring_read(): the reader
	 * is done with the bytes before tail.
	 */
	if (at + size - smp_load_acquire(&ring->tail) > ring->size)
		return SESSION_RING_FULL;
	if (at != head) {
		struct utrace_rec *pad = session_ring_at(ring, head);

		/* 8 bytes may be all that is left: write size and type only. */
		pad->size = left;
		pad->type = UTRACE_REC_PAD;
	}
	return at;
}

/*
 * Find room for a record, and before it for a UTRACE_REC_LOST if records were
 * lost: then *@lost_at is the place of that one.  Return the position of the
 * record, or SESSION_RING_FULL.
 */
static u64 session_ring_place(struct session_ring *ring, size_t size,
			      u64 *lost_at)
{
	u64 head = ring->head;

	*lost_at = SESSION_RING_FULL;
	if (ring->missed) {
		*lost_at = session_ring_reserve(ring, head,
						sizeof(struct utrace_rec_lost));
		if (*lost_at == SESSION_RING_FULL)
			return SESSION_RING_FULL;
		head = *lost_at + sizeof(struct utrace_rec_lost);
	}
	return session_ring_reserve(ring, head, size);
}

static void session_ring_put_lost(struct session_ring *ring, u64 at, u64 time)
{
	struct utrace_rec_lost *rec = session_ring_at(ring, at);

	*rec = (struct utrace_rec_lost){
		.head = {
			.size = sizeof(*rec),
			.type = UTRACE_REC_LOST,
			.seq = ring->seq,
			.time = time,
		},
		.lost = ring->missed,
	};
	ring->missed = 0;
}

/**
 * utrace_dev_ring_write() - write a record
 * @ring: a ring that has its memory
 * @parts: parts of the record; its size, number and time are filled in
 *
 * Context: Task context with preemption on; does not sleep.  Takes
 * session_ring.lock.
 * Return:
 * * true - the record is in the ring
 * * false - there was no room; the record is counted as lost
 */
bool utrace_dev_ring_write(struct session_ring *ring,
			   const struct utrace_dev_parts *parts)
{
	size_t size = ALIGN(parts->head_size + parts->items_size, 8);
	struct utrace_rec *rec = parts->head;
	u64 at, lost_at, time;
	void *to;

	guard(spinlock)(&ring->lock);
	time = session_time(ring->clock);
	at = session_ring_place(ring, size, &lost_at);
	if (at == SESSION_RING_FULL) {
		ring->seq++;
		ring->missed++;
		ring->lost++;
		return false;
	}
	if (lost_at != SESSION_RING_FULL)
		session_ring_put_lost(ring, lost_at, time);
	rec->size = size;
	rec->seq = ++ring->seq;
	rec->time = time;
	to = session_ring_at(ring, at);
	memcpy(to, rec, parts->head_size);
	memcpy(to + parts->head_size, parts->items, parts->items_size);
	/*
	 * Pairs with smp_load_acquire() in utrace_dev_ring_read(): the record
	 * is complete before the reader finds it.
	 */
	smp_store_release(&ring->head, at + size);
	return true;
}

/**
 * utrace_dev_ring_has() - is there a record to read?
 * @ring: the ring
 *
 * Context: Any.
 * Return: true if so; another reader may take the record first.
 */
bool utrace_dev_ring_has(struct session_ring *ring)
{
	return READ_ONCE(ring->head) != READ_ONCE(ring->tail);
}

/*
 * Bytes of the whole records at @from, as many as fit into @size bytes and are
 * in one piece of memory: up to @head, to a UTRACE_REC_PAD or to the end of the
 * ring.
 */
static size_t session_ring_piece(struct session_ring *ring, u64 from, u64 head,
				 size_t size)
{
	size_t bytes = 0, left = ring->size - (from & (ring->size - 1));
	const struct utrace_rec *rec;

	while (from + bytes != head && bytes < left) {
		rec = session_ring_at(ring, from + bytes);
		if (rec->type == UTRACE_REC_PAD || bytes + rec->size > size)
			break;
		bytes += rec->size;
	}
	return bytes;
}

/**
 * utrace_dev_ring_read() - take records out of a ring
 * @ring: the ring; the caller is its only reader
 * @to: destination in user memory
 * @size: bytes of @to
 *
 * Context: Process context; may fault and sleep.
 * Return:
 * * the number of bytes written, all of whole records; 0: there are no records
 * * -EINVAL - @size is too small for the next record
 * * -EFAULT - @to cannot be written; the next record stays in the ring
 */
ssize_t utrace_dev_ring_read(struct session_ring *ring, char __user *to,
			     size_t size)
{
	/*
	 * Pairs with smp_store_release() in utrace_dev_ring_write(): records
	 * before head are complete.
	 */
	u64 head = smp_load_acquire(&ring->head), tail = ring->tail;
	size_t done = 0, piece;

	while (tail != head) {
		const struct utrace_rec *rec = session_ring_at(ring, tail);

		if (rec->type == UTRACE_REC_PAD) {
			tail += rec->size;
			continue;
		}
		piece = session_ring_piece(ring, tail, head, size - done);
		if (!piece) {
			if (!done)
				return -EINVAL;
			break;
		}
		if (copy_to_user(to + done, rec, piece)) {
			if (!done)
				return -EFAULT;
			break;
		}
		done += piece;
		tail += piece;
	}
	/*
	 * Pairs with smp_load_acquire() in session_ring_reserve(): the records
	 * are read before a writer reuses their bytes.
	 */
	smp_store_release(&ring->tail, tail);
	return done;
}
