/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sessions of /dev/utrace: the inlined path that writes a record
 *
 * Each system call writes two records, so the path into the ring is inlined
 * here.  Slow paths are in ring.c, which also explains the order of the stores.
 */
#ifndef _KERNEL_UTRACE_DEV_WRITE_H
#define _KERNEL_UTRACE_DEV_WRITE_H

#include <linux/minmax.h>
#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include "session.h"

/*
 * Look up the session's state of current, if the cached answer allows it.  The
 * entry must be the first in the task's data list, be keyed for @target, and
 * hold a valid answer that the task may be seen.  Sets @task and returns true
 * then, and session_task.number.target is the id of @target.  Returns false if
 * the caller must take the slow path.  The caller is in a system call, so
 * current has an mm.
 */
static __always_inline bool
session_seen_task(const struct session_target *target,
		  struct session_task **task)
{
	struct utrace_task_data *data;
	bool found = utrace_task_data_keyed(target->key, &data);

	*task = container_of(data, struct session_task, data);
	return found && utrace_viewed_seen(&(*task)->viewed, current->mm);
}

/*
 * Open the ring of this CPU for writing.  Preemption is off from here to
 * session_ring_close(), so no spinlock_t may be taken in between.
 */
static __always_inline struct session_ring *
session_ring_open(struct utrace_session *session)
{
	struct session_ring *ring;

	preempt_disable();
	ring = &session->ring[raw_smp_processor_id()];
	WRITE_ONCE(ring->header->open, 1);
	smp_mb();	/* ->open before the clock is read, see ring.c. */
	return ring;
}

/* End the writing of a record.  Preemption stays off. */
static __always_inline void session_ring_shut(struct session_ring *ring)
{
	/*
	 * ->head before ->open, and both before the check for sleeping readers.
	 */
	smp_store_mb(ring->header->open, 0);
}

static __always_inline void session_ring_close(struct session_ring *ring)
{
	session_ring_shut(ring);
	preempt_enable();
}

/* The time for the record that is being written, see ring.c. */
static __always_inline u64 session_record_time(const struct session_ring *ring,
					       const struct session_task *task)
{
	u64 time = ktime_get_ns();
	const struct utrace_map_ring *header = ring->header;

	if (unlikely(time <= header->last || time <= task->last))
		time = max(READ_ONCE(header->last), READ_ONCE(task->last)) + 1;
	return time;
}

/* Store the time of a record. */
static __always_inline void session_set_time(struct utrace_rec *rec,
					     struct utrace_map_ring *header,
					     struct session_task *task,
					     u64 time)
{
	rec->time = time;
	task->last = time;
	WRITE_ONCE(header->last, time);
}

/* The members of a header after utrace_rec.task, 8 bytes at a time. */
struct session_head_end {
	typeof_member(struct session_task, ids) ids;
	typeof_member(struct session_task, number) number;
	u64 settings_cpu_flags;
};

static_assert(offsetof(struct utrace_rec, pid) +
	      sizeof(struct session_head_end) == sizeof(struct utrace_rec));
static_assert(offsetof(struct utrace_rec, cpu) ==
	      offsetof(struct utrace_rec, settings) + 4);

/*
 * Fill in the header of a record except its time.  The record is in a ring, and
 * @cpu is session_ring.cpu; or it is to be parked, and @cpu is 0.  Members that
 * are cached per task are copied 8 bytes at a time.
 */
static __always_inline void
session_fill_head(struct utrace_rec *rec, u64 cpu, struct session_task *task,
		  u16 type, size_t size, u64 now, u16 flags)
{
	struct session_head_end *end = (void *)rec +
				       offsetof(struct utrace_rec, pid);

	rec->size = size;
	rec->type = type;
	rec->items = 0;
	rec->task = task->id;
	end->ids = task->ids;
	task->number.last++;
	end->number = task->number;
	end->settings_cpu_flags = session_settings_of(now) | cpu |
				  (u64)flags << 48;
}

static __always_inline void *session_ring_at(const struct utrace_session *session,
					     const struct session_ring *ring,
					     u64 position)
{
	return ring->data + (position & (session->ring_size - 1));
}

/* Bytes from the write position to the end of the ring's memory. */
static __always_inline size_t
session_ring_left(const struct utrace_session *session,
		  const struct session_ring *ring)
{
	return session->ring_size - (ring->head & (session->ring_size - 1));
}

/*
 * Check whether a record of @size bytes fits at ->at of an open ring.  False
 * also if LOST records must be written first.
 */
static __always_inline bool session_has_room(const struct session_ring *ring,
					     size_t size)
{
	return likely(ring->at + size <= ring->limit);
}

/* Make the record at ->at visible to readers. */
static __always_inline void session_ring_advance(struct session_ring *ring,
						 struct utrace_map_ring *header,
						 size_t size)
{
	/* UTRACE_IOC_INFO reads the number without a lock. */
	data_race(ring->records++);
	ring->at += size;
	ring->head += size;
	/* The record before ->head, see ring.c. */
	smp_store_release(&header->head, ring->head);
}

/* session_ring_advance() and session_ring_close(), and wake readers. */
static __always_inline void
session_publish(struct utrace_session *session, struct session_ring *ring,
		struct utrace_map_ring *header, size_t size)
{
	session_ring_advance(ring, header, size);
	/* As in session_ring_shut(). */
	smp_store_mb(header->open, 0);
	/*
	 * A reader adds itself to reader.wait before it checks the ring; this
	 * pairs with the full barrier above.
	 */
	if (unlikely(waitqueue_active(&session->reader.wait)))
		utrace_dev_wake(session, ring);
	else
		preempt_enable();
}

/*
 * Set the time of the record of @size bytes at ->at, whose other members are
 * filled in, and make the record visible.  If @began is not 0, the time is also
 * stored at that offset in the record.
 */
static __always_inline void session_commit_fast(struct session_task *task,
						struct session_ring *ring,
						size_t size, size_t began)
{
	u64 time = session_record_time(ring, task);
	struct utrace_map_ring *header = ring->header;
	void *rec = ring->at;

	if (began)
		*(u64 *)(rec + began) = time;
	session_set_time(rec, header, task, time);
	session_publish(task->session, ring, header, size);
}

#endif /* _KERNEL_UTRACE_DEV_WRITE_H */
