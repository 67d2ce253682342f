// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what the records of all events share
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/utrace.h>

#include "../decode/items.h"
#include "record.h"

/*
 * Do both engines belong to one session?  Called under RCU, which keeps the
 * targets of the engines.
 */
static bool session_is_same(const struct utrace_engine *a,
			    const struct utrace_engine *b)
{
	const struct session_target *x = a->data, *y = b->data;

	return x->session == y->session;
}

/**
 * utrace_dev_is_unclaimed() - is an event left to this target of several?
 * @task: what the session knows of the current task
 * @engine: the engine of the target, which has called back
 * @event: number of the event
 *
 * A target that is called first may not record the event: it only counts calls,
 * or may not see the task.  It has to ask nevertheless.
 *
 * Context: A callback, in the task itself.
 * Return: true if no other target has recorded the event.
 */
bool utrace_dev_is_unclaimed(struct session_task *task,
			     const struct utrace_engine *engine,
			     unsigned int event)
{
	task->first = !utrace_was_called(engine, event, session_is_same);
	if (task->first)
		task->claimed = false;
	return !task->claimed;
}

/**
 * utrace_dev_write() - write a record that has no items
 * @w: @target, @task and @now are filled in
 * @type: enum utrace_rec_type
 * @flags: UTRACE_F_ bits
 * @body: what stands behind the header
 * @size: bytes of @body, a multiple of 8
 *
 * Context: As utrace_dev_reserve().
 */
void utrace_dev_write(struct session_writer *w, u16 type, u16 flags,
		      const void *body, size_t size)
{
	if (!utrace_dev_reserve(w, type, flags, sizeof(*w->rec) + size))
		return;
	memcpy(w->rec + 1, body, size);
	utrace_dev_commit(w);
}

/**
 * utrace_dev_hide() - tell the reader that the current task is hidden
 * @target: the target whose engine has called back
 * @task: what the session knows of the current task
 *
 * Counts it in utrace_session.hidden and writes a UTRACE_REC_HIDDEN, after the
 * entry of a call that the task was seen in.
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
	session_begin_other(&w);
	utrace_dev_write(&w, UTRACE_REC_HIDDEN, 0, NULL, 0);
	session_end(&w, NULL);
}

/*
 * Append a UTRACE_ITEM_MISSING with the number of items that found no room or
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
	items->flags |= UTRACE_F_INCOMPLETE;
	atomic64_add(capture->lost, &target->session->uncaptured);
}

/**
 * utrace_dev_describe() - make a capture ready for a record
 * @target: the target that the record is made for
 * @items: what the record needs of the capture
 * @capture: items were captured, or would have been
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
		if (item->flags & UTRACE_ITEM_TRUNCATED)
			items->flags |= UTRACE_F_TRUNCATED;
		if (item->flags & UTRACE_ITEM_FAULTED)
			items->flags |= UTRACE_F_FAULTED;
	}
	if (capture->lost)
		session_count_missing(target, items, capture);
}

/**
 * utrace_dev_capture_init() - begin a capture with the sizes of the settings
 * @capture: the capture; a buffer is allocated when it is needed
 * @target: the target that the record is made for
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
