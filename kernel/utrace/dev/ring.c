// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the ring of records
 *
 * Traced tasks write, one after the other; one reader at a time reads.  What
 * was not read is never overwritten: a record without room is lost, and counted,
 * and the next one that has room comes behind a UTRACE_REC_LOST.
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

/* Bytes of a ring. */
#define SESSION_RING_MIN		SZ_64K
#define SESSION_RING_MAX		SZ_64M

/* In the place of a position. */
#define SESSION_RING_FULL		U64_MAX

/*
 * The memory counts for the user who asks for it, with the buffers of perf and
 * io_uring and up to the same RLIMIT_MEMLOCK: nothing of it can be swapped out.  It
 * counts for the user and not for an address space, since a session may outlive
 * all processes of the user.
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

/**
 * utrace_dev_ring_make - give a ring its memory
 * @ring: a ring that has none
 * @size: bytes; 0 for the default
 * @clock: of the records' times
 *
 * Context: May sleep.
 * Return: 0; -EINVAL: no such size or clock; -ENOMEM: there is none, or the user has
 * no more that may be locked, and the caller no CAP_IPC_LOCK.
 */
int utrace_dev_ring_make(struct session_ring *ring, size_t size, enum utrace_clock clock)
{
	int ret;

	if (!size)
		size = SESSION_RING_DEFAULT;
	if (!is_power_of_2(size) || size < SESSION_RING_MIN || size > SESSION_RING_MAX ||
	    clock > UTRACE_F_BOOTTIME)
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
	/* UTRACE_IOC_INFO reads it at any time. */
	WRITE_ONCE(ring->size, size);
	return 0;
}

/**
 * utrace_dev_ring_free - give the memory back
 * @ring: a ring that nobody uses any more
 *
 * Context: Any but interrupts.
 */
void utrace_dev_ring_free(struct session_ring *ring)
{
	vfree(ring->data);
	session_ring_uncharge(ring, ring->size);
}

static u64 session_time(enum utrace_clock clock)
{
	switch (clock) {
	case UTRACE_F_REALTIME:
		return ktime_get_real_ns();
	case UTRACE_F_BOOTTIME:
		return ktime_get_boottime_ns();
	case UTRACE_F_MONOTONIC:
		break;
	}
	return ktime_get_ns();
}

static void *session_ring_at(struct session_ring *ring, u64 position)
{
	return ring->data + (position & (ring->size - 1));
}

/*
 * Where a record of @size bytes goes that comes behind @head, SESSION_RING_FULL if
 * there is no room.  It is in one piece.
 */
static u64 session_ring_reserve(struct session_ring *ring, u64 head, size_t size)
{
	size_t left = ring->size - (head & (ring->size - 1));
	u64 at = left < size ? head + left : head;

	/* The reader has taken what was there; pairs with utrace_dev_ring_read(). */
	if (at + size - smp_load_acquire(&ring->tail) > ring->size)
		return SESSION_RING_FULL;
	if (at != head) {
		struct utrace_rec *pad = session_ring_at(ring, head);

		/* There may be 8 bytes only. */
		pad->size = left;
		pad->type = UTRACE_REC_PAD;
	}
	return at;
}

/* Where a record goes, and before it one that tells of those that are lost. */
static u64 session_ring_place(struct session_ring *ring, size_t size, u64 *lost_at)
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
 * utrace_dev_ring_write - write a record
 * @ring: the ring
 * @parts: its parts; size, number and time are filled in
 *
 * Context: A task that may be preempted.
 * Return: false if there was no room, which is counted.
 */
bool utrace_dev_ring_write(struct session_ring *ring, const struct session_parts *parts)
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
	/* After the record; pairs with utrace_dev_ring_read(). */
	smp_store_release(&ring->head, at + size);
	return true;
}

/**
 * utrace_dev_ring_has - is there something to read?
 * @ring: the ring
 *
 * Context: Any.
 * Return: true if so.
 */
bool utrace_dev_ring_has(struct session_ring *ring)
{
	return READ_ONCE(ring->head) != READ_ONCE(ring->tail);
}

/* The bytes of whole records from @from on, at most @size of them, in a piece. */
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
 * utrace_dev_ring_read - take records
 * @ring: the ring; the caller is the only reader
 * @to: where they go
 * @size: bytes of @to
 *
 * Context: May sleep.
 * Return: bytes that were written, of whole records, 0 if there are none;
 * -EINVAL: @size is too small for the next one; -EFAULT, then it is still there.
 */
ssize_t utrace_dev_ring_read(struct session_ring *ring, char __user *to, size_t size)
{
	/* Records are there; pairs with utrace_dev_ring_write(). */
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
	/* Before they are overwritten; pairs with session_ring_reserve(). */
	smp_store_release(&ring->tail, tail);
	return done;
}
