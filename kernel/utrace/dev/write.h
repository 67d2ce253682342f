/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sessions of /dev/utrace: how a record is written, inline
 *
 * Two records are written for each system call, so their way into the ring is
 * inlined here.  Everything that happens seldom is in ring.c, which also
 * explains the order of the stores.
 */
#ifndef _KERNEL_UTRACE_DEV_WRITE_H
#define _KERNEL_UTRACE_DEV_WRITE_H

#include <linux/cred.h>
#include <linux/minmax.h>
#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/sched/coredump.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include "session.h"

/*
 * What the rights of a target to the current task depend on, beside the task's
 * credentials: the target, kernel.utrace.unprivileged, and whether the memory is
 * dumpable.  The number of the target is the upper half.  A task without memory
 * is like one whose memory may be dumped by its user.
 */
static __always_inline u64 session_key(const struct session_target *target)
{
	struct mm_struct *mm = current->mm;
	unsigned long dumpable = mm ? READ_ONCE(mm->flags) & MMF_DUMPABLE_MASK :
				      SUID_DUMP_USER;

	return (u64)target->id << 32 | dumpable |
	       READ_ONCE(utrace_dev_unprivileged) << 2;
}

/* Is session_task.hidden the answer for the current task as it is now? */
static __always_inline bool
session_is_known(const struct session_target *target,
		 const struct session_task *task)
{
	return task->cred == current_real_cred() &&
	       task->key == session_key(target);
}

/*
 * Begin to write in the ring of this CPU; preemption is off from here to
 * session_ring_close().
 */
static __always_inline struct session_ring *
session_ring_open(struct utrace_session *session)
{
	struct session_ring *ring;

	preempt_disable();
	ring = &session->ring[raw_smp_processor_id()];
	WRITE_ONCE(ring->told->open, 1);
	smp_mb();	/* ->open before the clock is read, see ring.c. */
	return ring;
}

static __always_inline void session_ring_close(struct session_ring *ring)
{
	/* ->head before ->open, and both before the look for a sleeper. */
	smp_store_mb(ring->told->open, 0);
}

/* The time of a record that is being written, see ring.c. */
static __always_inline u64 session_record_time(const struct session_ring *ring,
					       const struct session_task *task)
{
	return max3(ktime_get_ns(), ring->told->last + 1, task->last + 1);
}

static_assert(MMF_DUMPABLE_MASK < 1 << 2);

/* What follows utrace_rec.task in a header, 8 bytes at a time. */
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
 * Fill in the header of a record, wherever the record is.  The members that are
 * kept for the task are copied 8 bytes at a time.
 */
static __always_inline void
session_fill_head(struct utrace_rec *rec, struct session_ring *ring,
		  struct session_task *task, u16 type, size_t size, u64 now,
		  u16 flags, u64 time)
{
	struct session_head_end *end = (void *)rec +
				       offsetof(struct utrace_rec, pid);

	rec->size = size;
	rec->type = type;
	rec->items = 0;
	rec->time = time;
	rec->task = task->id;
	end->ids = task->ids;
	task->number.last++;
	end->number = task->number;
	end->settings_cpu_flags = session_settings_of(now) | ring->cpu |
				  (u64)flags << 48;
	task->last = time;
	WRITE_ONCE(ring->told->last, time);
}

static __always_inline void *session_ring_at(const struct utrace_session *session,
					     const struct session_ring *ring,
					     u64 position)
{
	return ring->data + (position & (session->ring_size - 1));
}

/* The bytes up to the end of the ring's memory. */
static __always_inline size_t
session_ring_left(const struct utrace_session *session,
		  const struct session_ring *ring)
{
	return session->ring_size - (ring->head & (session->ring_size - 1));
}

/*
 * Write to a ring that has room, and nothing to tell before.  On success the
 * ring is left open, and preemption off.  False: nothing was done;
 * utrace_dev_reserve() may do it.  The caller has found that
 * session_task.number.target is the number of @target.
 */
static __always_inline bool
session_reserve_fast(const struct session_target *target,
		     struct session_task *task, u16 type, size_t size, u64 now,
		     struct session_ring **open, void **to)
{
	struct session_ring *ring = session_ring_open(target->session);

	if (unlikely(ring->at + size > ring->limit)) {
		session_ring_close(ring);
		preempt_enable();
		return false;
	}
	*open = ring;
	*to = ring->at;
	session_fill_head(*to, ring, task, type, size, now, 0,
			  session_record_time(ring, task));
	return true;
}

/* A record of @size bytes is written at the ring's ->at. */
static __always_inline void
session_commit_fast(struct utrace_session *session, struct session_ring *ring,
		    size_t size)
{
	struct utrace_ring *told = ring->told;

	/* UTRACE_IOC_INFO reads the number at any time. */
	data_race(ring->records++);
	ring->at += size;
	ring->head += size;
	/* The record before ->head, see ring.c. */
	smp_store_release(&told->head, ring->head);
	/* As session_ring_close(). */
	smp_store_mb(told->open, 0);
	/*
	 * A reader puts itself on ->wait before it looks at the ring.  The full
	 * barrier is above.
	 */
	if (unlikely(waitqueue_active(&session->wait)))
		utrace_dev_wake(session, ring);
	preempt_enable();
}

#endif /* _KERNEL_UTRACE_DEV_WRITE_H */
