// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: records without room
 *
 * A record that finds no room is parked: it goes to a list of the session
 * together with its task, which is then held (hold.c).  The reader merges
 * parked records with those of the rings by time, and then lets the task go.
 */
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/utrace.h>

#include "session.h"

/*
 * Maximum number of parked records of a task.  Between two places where the
 * task can be held there may be: the entry; a clone or an execve and its
 * records; the exit; a signal; a stop of job control and its end.  The EXIT
 * record of the task has its own memory (session_task.spare).
 */
#define SESSION_MAX_PARKED	8

/*
 * Parked records of a session above which EXIT records are lost: a task that
 * exits does not wait, and new tasks take its place.  4096 of them take 3 MiB.
 */
#define SESSION_MAX_EXITS	4096

/*
 * Check whether the current task may wait.  Threads that never run user code
 * and the init process of the machine are never held, and the reader would wait
 * for itself.
 */
static bool session_can_wait(const struct utrace_session *session)
{
	struct pid *reader = READ_ONCE(session->reader.process);

	return reader && reader != task_tgid(current) &&
	       !is_global_init(current) &&
	       !(current->flags & (PF_KTHREAD | PF_USER_WORKER));
}

/**
 * utrace_dev_may_wait() - check whether a record without room may be parked
 * @w: the record, with @target and @task
 * @type: its type
 *
 * Context: The task whose record it is.
 * Return:
 * * true - the record is parked if there is memory
 * * false - the record is lost
 */
bool utrace_dev_may_wait(const struct session_writer *w, u16 type)
{
	const struct utrace_session *session = w->target->session;

	return w->target->stop && session_can_wait(session) &&
	       (type == UTRACE_REC_EXIT ?
		READ_ONCE(session->nparked) < SESSION_MAX_EXITS :
		READ_ONCE(w->task->parked) < SESSION_MAX_PARKED);
}

/**
 * utrace_dev_parked_new() - allocate memory for a record to be parked
 * @size: bytes of the record
 *
 * A record may have 16 KiB.  kvzalloc() uses single pages if memory is
 * fragmented, so nothing is reclaimed for a contiguous area.  The memory is
 * zeroed, since the reader gets all bytes of the record.
 *
 * Context: Process context; may sleep.
 * Return:
 * * the memory, with ->first and ->size of the record alone - to be freed by
 *   kvfree(), or passed to utrace_dev_park()
 * * NULL - out of memory
 */
struct session_parked *utrace_dev_parked_new(size_t size)
{
	struct session_parked *parked = kvzalloc(struct_size(parked, data, size),
						 GFP_KERNEL_ACCOUNT);

	if (parked) {
		parked->first = parked->data;
		parked->size = size;
	}
	return parked;
}

/* Insert a record into a list sorted by time. */
static void session_park_in(struct list_head *list,
			    struct session_parked *parked)
{
	struct session_parked *before;

	/* Tasks park at almost the same times, so the place is near the end. */
	list_for_each_entry_reverse(before, list, list)
		if (before->time <= parked->time)
			break;
	list_add(&parked->list, &before->list);
}

/**
 * utrace_dev_count_parked() - change the number of parked records
 * @session: the session; its park_lock is held
 * @n: the difference
 *
 * Context: Any but NMI.
 */
void utrace_dev_count_parked(struct utrace_session *session, int n)
{
	struct utrace_map *map = session->shared;

	WRITE_ONCE(session->nparked, session->nparked + n);
	WRITE_ONCE(map->parked, session->nparked);
}

static void session_park_locked(struct utrace_session *session,
				struct session_parked *parked)
{
	lockdep_assert_held(&session->park_lock);

	session_park_in(&session->parked, parked);
	utrace_dev_count_parked(session, 1);
}

/*
 * Make the engine of @target the holder of @task, unless the task has a holder
 * that is attached.  A detached engine stays the holder until utrace_dev_gone()
 * releases the task.  The detach keeps a reference to the engine until then, so
 * the put below is not the last one.
 */
static void session_choose_holder(struct session_task *task,
				  const struct session_target *target)
{
	struct utrace_session *session = task->session;

	lockdep_assert_held(&session->park_lock);

	if (!session->reader.process || target->gone)
		return;
	if (!task->holder) {
		list_add_tail(&task->waiting, &session->waiting);
		get_task_struct(task->task);
	} else if (utrace_engine_detached(task->holder)) {
		utrace_engine_put(task->holder);
	} else {
		return;
	}
	task->holder = target->engine;
	utrace_engine_get(task->holder);
}

/**
 * utrace_dev_park() - park a record of the current task
 * @w: the record, complete, in @w->parked
 *
 * Context: Task context with preemption off, under utrace_session.park_lock.
 */
void utrace_dev_park(struct session_writer *w)
{
	struct session_task *task = w->task;

	w->parked->task = task;
	kref_get(&task->ref);
	session_park_locked(w->target->session, w->parked);
	WRITE_ONCE(task->parked, task->parked + 1);
	if (w->rec->type != UTRACE_REC_EXIT)
		session_choose_holder(task, w->target);
}

/**
 * utrace_dev_hold_again() - hold a task that may park no more records
 * @w: a record that is lost, with @target and @task
 *
 * The target whose engine held the task may have been detached since the task
 * parked its last record.
 *
 * Context: The task whose record it is.  Takes utrace_session.park_lock.
 */
void utrace_dev_hold_again(const struct session_writer *w)
{
	struct utrace_session *session = w->target->session;

	if (!w->target->stop || !session_can_wait(session))
		return;
	guard(spinlock)(&session->park_lock);
	if (w->task->parked)
		session_choose_holder(w->task, w->target);
}

/*
 * Compute a time after those of all records in the rings, which may be later
 * than a clock that stands still.
 */
static u64 session_time_behind(const struct utrace_session *session)
{
	u64 time = ktime_get_ns();
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		time = max(time,
			   READ_ONCE(session->ring[cpu].header->last) + 1);
	return time;
}

/**
 * utrace_dev_park_end() - park the TARGET_END record of a target
 * @target: the target; consumes @target->end
 *
 * The time of the record is after those of all records of the target's tasks.
 *
 * Context: Process context.  Takes utrace_session.park_lock.
 */
void utrace_dev_park_end(struct session_target *target)
{
	struct utrace_session *session = target->session;
	struct utrace_rec_target_end *rec = (void *)target->end->data;

	guard(spinlock)(&session->park_lock);
	/* With the lock held, so that no reader has returned later records. */
	rec->head.time = session_time_behind(session);
	target->end->time = rec->head.time;
	session_park_locked(session, target->end);
	target->end = NULL;
}

/**
 * utrace_dev_take_parked() - hand the parked records to the reader
 * @session: the session
 *
 * Moves them to utrace_session.taken.  Their tasks stay held until
 * utrace_dev_unpark().
 *
 * Context: Process context, under utrace_reader.read_lock; may sleep.  Takes
 * utrace_session.park_lock.
 */
void utrace_dev_take_parked(struct utrace_session *session)
{
	struct session_parked *parked, *next;
	LIST_HEAD(list);

	if (!READ_ONCE(session->nparked))
		return;
	scoped_guard(spinlock, &session->park_lock)
		list_splice_init(&session->parked, &list);
	list_for_each_entry_safe(parked, next, &list, list) {
		session_park_in(&session->taken, parked);
		cond_resched();
	}
}
