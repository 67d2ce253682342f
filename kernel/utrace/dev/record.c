// SPDX-License-Identifier: GPL-2.0
/* utrace - sessions of /dev/utrace: functions for the records of all events */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/utrace.h>

#include "../decode/items.h"
#include "record.h"

/*
 * Check whether two engines belong to one session.  Called under RCU, which
 * keeps the targets of the engines.
 */
static bool session_is_same(const struct utrace_engine *a,
			    const struct utrace_engine *b)
{
	const struct session_target *x = a->data, *y = b->data;

	return x->session == y->session;
}

/**
 * utrace_dev_is_unclaimed() - check whether no target has recorded an event yet
 * @task: the session's state of the current task
 * @engine: the engine of the target, which has called back
 * @event: number of the event
 *
 * Every target must call this, even one that does not record the event because
 * it only counts calls or may not see the task: the first call of an event
 * resets session_task.claimed and .reported.
 *
 * Context: A callback, in the task itself.
 * Return: true if no other target of the session has recorded the event.
 */
bool utrace_dev_is_unclaimed(struct session_task *task,
			     const struct utrace_engine *engine,
			     unsigned int event)
{
	task->first = !utrace_was_called(engine, event, session_is_same);
	if (task->first) {
		task->claimed = false;
		task->reported = false;
	}
	return !task->claimed;
}

/**
 * utrace_dev_write() - write a record that has no items
 * @w: @target, @task and @now are filled in
 * @type: enum utrace_rec_type
 * @flags: UTRACE_REC_F_ bits
 * @body: the bytes after the header
 * @size: bytes of @body, a multiple of 8
 *
 * Context: As for utrace_dev_reserve().
 */
void utrace_dev_write(struct session_writer *w, u16 type, u16 flags,
		      const void *body, size_t size)
{
	if (!utrace_dev_reserve(w, type, flags, sizeof(*w->rec) + size))
		return;
	memcpy(w->rec + 1, body, size);
	utrace_dev_commit(w);
}

/*
 * Let a target of the system cover the current task: a task without a previous
 * event gets its struct utrace.  The reader of the session is left out, since
 * the records of its own events would never end.  Returns false if the task is
 * left out, or without memory, which counts as a lost record.
 */
static noinline bool session_take_current(struct session_target *target)
{
	if (READ_ONCE(target->session->reader.process) == task_tgid(current))
		return false;
	if (utrace_adopt_current())
		return true;
	utrace_dev_lost(target);
	return false;
}

static bool session_has_current(struct session_target *target,
				struct utrace_engine *engine)
{
	if (unlikely(target->by_match))
		return session_take_current(target);
	return current->utrace && utrace_covers(engine, current);
}

/*
 * Begin with an event of a client for the current task.  Returns false if the
 * target is detached or does not cover the task, or the session may not see the
 * task.
 */
static bool session_begin_client(struct session_writer *w,
				 struct utrace_engine *engine)
{
	struct session_target *target = engine->data;

	*w = (struct session_writer){ .target = target };
	/* Pairs with session_adopt() and utrace_dev_update_several(). */
	w->now = smp_load_acquire(&target->now);
	if (READ_ONCE(target->gone) || !session_has_current(target, engine))
		return false;
	w->task = utrace_dev_task(target);
	if (w->task)
		return utrace_dev_sees(target, w->task);
	utrace_dev_lost(target);
	return false;
}

/**
 * utrace_dev_sees_current() - check whether a target may see the current task
 * @engine: engine of the target, see struct utrace_dev_arming
 *
 * Context: The task itself, on its way to user mode; may sleep for memory.
 * Return: true if the target covers the task, and the session may see the task.
 */
bool utrace_dev_sees_current(struct utrace_engine *engine)
{
	struct session_writer w;

	return session_begin_client(&w, engine);
}

/**
 * utrace_dev_record() - write a record of a client for the current task
 * @engine: engine of the target, see struct utrace_dev_arming
 * @type: enum utrace_rec_type
 * @body: the bytes after the header
 * @size: bytes of @body, a multiple of 8
 *
 * Writes nothing if utrace_dev_sees_current() is false.  A record that finds no
 * room is lost and counted, or is parked, and then the task waits at its safe
 * point.
 *
 * Context: As for utrace_dev_sees_current().
 * Return: the result of utrace_dev_sees_current().
 */
bool utrace_dev_record(struct utrace_engine *engine, u16 type, const void *body,
		       size_t size)
{
	struct session_writer w;

	if (!session_begin_client(&w, engine))
		return false;
	session_flush_entry(&w);
	utrace_dev_write(&w, type, 0, body, size);
	session_end(&w, NULL);
	return true;
}

/**
 * utrace_dev_lose() - count a record that a client cannot make
 * @engine: engine of the target
 *
 * Context: As for utrace_dev_sees_current().
 */
void utrace_dev_lose(struct utrace_engine *engine)
{
	struct session_writer w;

	if (session_begin_client(&w, engine))
		utrace_dev_lost(w.target);
}

/*
 * Check whether the cached answer allows a target to see the current task.  The
 * answer holds while the task's state is the same, until the target is
 * detached.  Sets @task on success.
 */
static __always_inline bool
session_knows_current(const struct session_target *target,
		      struct session_task **task)
{
	struct utrace_task_data *data;

	/* A target of the system must exclude its reader. */
	if (!current->utrace || target->by_match || READ_ONCE(target->gone))
		return false;
	if (!utrace_task_data_keyed(target->key, &data)) {
		data = utrace_task_data_search(target->session);
		if (!data || data->key != target->key)
			return false;
	}
	*task = container_of(data, struct session_task, data);
	return utrace_viewed_seen(&(*task)->viewed, current->mm);
}

/**
 * utrace_dev_knows_current() - check the cached answer about current
 * @engine: engine of the target, see struct utrace_dev_arming
 *
 * Context: The task itself, which has memory; does not sleep.
 * Return: true if the target may see the task; false if the caller must call
 * utrace_dev_sees_current().
 */
bool utrace_dev_knows_current(const struct utrace_engine *engine)
{
	struct session_task *task;

	return session_knows_current(engine->data, &task);
}

/*
 * Copy a body of @size bytes 8 at a time.  Bodies are so small that memcpy()
 * would take longer.
 */
static __always_inline void session_copy_body(u64 *to, const u64 *from,
					      size_t size)
{
	for (; size; size -= sizeof(*to))
		*to++ = *from++;
}

/**
 * utrace_dev_record_now() - fast path of utrace_dev_record()
 * @engine: engine of the target, see struct utrace_dev_arming
 * @type: enum utrace_rec_type
 * @body: the bytes after the header.  The caller has read memory of the task
 *	before, since rights are checked here
 * @size: bytes of @body, a multiple of 8
 *
 * Succeeds only if the answer about the task is cached and the ring has room.
 *
 * Context: The task itself, which has memory; does not sleep.
 * Return: true if the record is written; false if the caller must call
 * utrace_dev_record().
 */
bool utrace_dev_record_now(const struct utrace_engine *engine, u16 type,
			   const void *body, size_t size)
{
	const struct session_target *target = engine->data;
	size_t whole = sizeof(struct utrace_rec) + size;
	struct session_task *task;
	struct session_ring *ring;
	u64 now;

	/*
	 * The body before the rights; pairs with the exchange in
	 * set_dumpable().
	 */
	smp_rmb();
	/* Pairs with session_adopt() and utrace_dev_update_several(). */
	now = smp_load_acquire(&target->now);
	if (!session_knows_current(target, &task) ||
	    unlikely(task->entry.kept))
		return false;
	ring = session_ring_open(task->session);
	if (unlikely(!session_has_room(ring, whole))) {
		session_ring_close(ring);
		return false;
	}
	session_fill_head(ring->at, ring->cpu, task, type, whole, now, 0);
	session_copy_body(ring->at + sizeof(struct utrace_rec), body, size);
	session_commit_fast(task, ring, whole, 0);
	return true;
}

/**
 * utrace_dev_hide() - write a UTRACE_REC_HIDDEN for the current task
 * @target: the target whose engine has called back
 * @task: the session's state of the current task
 *
 * Writes the kept entry of a call first, at which the task was still visible.
 * Counts the record in utrace_session.hidden.
 *
 * Context: A callback, in the task itself; may sleep.
 */
void utrace_dev_hide(struct session_target *target, struct session_task *task)
{
	struct session_writer w = {
		.target = target,
		.task = task,
		.now = READ_ONCE(target->now),
	};

	atomic64_inc(&target->session->hidden);
	session_flush_entry(&w);
	utrace_dev_write(&w, UTRACE_REC_HIDDEN, 0, NULL, 0);
	session_end(&w, NULL);
}

/*
 * Append a UTRACE_ITEM_MISSING with the number of items that lacked room or
 * memory.  Without a buffer it becomes the only item.
 */
static void session_count_missing(const struct session_target *target,
				  struct session_items *items,
				  const struct utrace_capture *capture)
{
	items->missing = (struct utrace_item){
		.kind = UTRACE_ITEM_MISSING,
		.arg = UTRACE_ITEM_NO_ARG,
		.whole = capture->lost,
	};
	if (capture->data)
		memcpy(capture->data + capture->used, &items->missing,
		       sizeof(items->missing));
	else
		items->data = &items->missing;
	items->size += sizeof(items->missing);
	items->flags |= UTRACE_REC_F_INCOMPLETE;
	atomic64_add(capture->lost, &target->session->uncaptured);
}

/**
 * utrace_dev_describe() - prepare a capture for a record
 * @target: the target of the record
 * @items: filled in for the record
 * @capture: the capture, with captured or lost items
 *
 * Context: A callback, in the task itself; does not sleep.
 */
void utrace_dev_describe(const struct session_target *target,
			 struct session_items *items,
			 const struct utrace_capture *capture)
{
	const struct utrace_item *item = NULL;

	items->data = capture->data;
	items->size = capture->used;
	while ((item = utrace_item_next(capture->data, capture->used, item))) {
		if (item->flags & UTRACE_ITEM_F_TRUNCATED)
			items->flags |= UTRACE_REC_F_TRUNCATED;
		if (item->flags & UTRACE_ITEM_F_FAULTED)
			items->flags |= UTRACE_REC_F_FAULTED;
	}
	if (capture->lost)
		session_count_missing(target, items, capture);
}

/**
 * utrace_dev_capture_init() - begin a capture with the sizes of the settings
 * @capture: the capture; its buffer is allocated when needed
 * @target: the target of the record
 * @before: bytes of the items that come before these in the record
 *
 * Context: Any.
 */
void utrace_dev_capture_init(struct utrace_capture *capture,
			     const struct session_target *target,
			     size_t before)
{
	size_t strings = READ_ONCE(target->strings);
	size_t buffers = READ_ONCE(target->buffers);
	size_t room = SESSION_ITEMS_MOST - before;

	*capture = (struct utrace_capture) {
		.size = min(room, SESSION_CAPTURE_SIZE),
		.strings = strings,
		.buffers = buffers,
	};
	capture->most = max(strings, buffers) > UTRACE_ITEM_SIZE ?
			min(room, SESSION_CAPTURE_MOST) : capture->size;
}

/**
 * utrace_dev_flush_entry() - write a kept entry as a record
 * @w: @target, @task and @now are filled in; the task has an entry
 *
 * An entry kept by previous settings stays kept for the exit of its call.
 * Whether that exit is yet to come is not known: the settings in between may
 * not have wanted exits.
 *
 * Context: A callback, in the task itself; may sleep.
 */
void utrace_dev_flush_entry(struct session_writer *w)
{
	struct session_entry *entry = &w->task->entry;
	struct utrace_rec_sys_enter *rec;
	struct session_items items;

	if (!session_entry_is_of_now(w->target, w->task, w->now))
		return;
	session_fetch_entry(w->task);
	session_items(w->target, &items, &entry->capture);
	if (utrace_dev_reserve(w, UTRACE_REC_SYS_ENTER,
			       items.flags | UTRACE_REC_F_IN_FLIGHT,
			       sizeof(*rec) + items.size)) {
		rec = (void *)w->rec;
		rec->nr = entry->nr;
		rec->asked = entry->asked;
		rec->began = entry->began;
		memcpy(rec->args, entry->args, sizeof(rec->args));
		session_copy_items(w, sizeof(*rec), &items);
		utrace_dev_commit(w);
	}
	session_drop_entry(entry);
}
