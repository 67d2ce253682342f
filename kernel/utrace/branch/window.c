// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the memory to which a processor records its branches
 *
 * The source is off while the kernel accesses a window, so the kernel's
 * accesses are not recorded.  The processor interrupts before a continuous ring
 * of a stream can be full, or if there is none, when the window is nearly full.
 * If a ring is full nevertheless, records are lost and counted, unless the
 * stream waits: then its thread runs no user code until the reader has made
 * room, and other streams continue.  The thread is stopped with a delay in
 * which its branches are still recorded, and its ring has room for them.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>

#include "window.h"

#define BRANCH_RECORD	sizeof(struct utrace_branch)

/* Streams */

/**
 * utrace_branch_stream_init() - initialize a stream
 * @stream: filled in
 * @level: level that the consumer wants
 * @entries: entry points of the kernel; kept by the caller
 * @buffer: ring for the filtered records; kept by the caller
 * @pause: makes the thread wait while @buffer is full, see struct
 *	branch_stream; or NULL
 *
 * Context: Any.
 * Return:
 * * 0 - the stream can be added
 * * -EINVAL - @pause is set but the stream is not of user mode, or @buffer is
 *   not continuous
 */
int utrace_branch_stream_init(struct branch_stream *stream,
			      enum branch_level level,
			      const struct branch_entries *entries,
			      struct branch_buffer *buffer,
			      void (*pause)(struct branch_stream *stream))
{
	if (pause && (level != BRANCH_LEVEL_USER || buffer->overwrite))
		return -EINVAL;
	*stream = (struct branch_stream){
		.view = {
			.entries = entries,
			.level = level,
		},
		.buffer = buffer,
		.pause = pause,
	};
	INIT_LIST_HEAD(&stream->list);
	utrace_branch_view_begin(&stream->view);
	return 0;
}

/**
 * utrace_branch_stream_finish() - end a stream of a thread or a CPU
 * @stream: one of its streams, which was removed
 *
 * Context: Where nothing else writes to the stream.
 */
void utrace_branch_stream_finish(struct branch_stream *stream)
{
	utrace_branch_view_finish(&stream->view, stream->buffer);
	utrace_branch_buffer_write_losses(stream->buffer);
}

/**
 * utrace_branch_streams_gap() - report a gap in all streams of a list
 * @streams: list of struct branch_stream
 * @cause: cause of the gap
 *
 * Context: With interrupts off, on the CPU that has the streams; or NMI.
 */
void utrace_branch_streams_gap(struct list_head *streams,
			       enum utrace_branch_loss cause)
{
	struct branch_stream *stream;

	list_for_each_entry(stream, streams, list)
		utrace_branch_view_gap(&stream->view, cause, stream->buffer);
}

static void branch_gap(struct list_head *streams, enum utrace_branch_loss cause)
{
	if (streams)
		utrace_branch_streams_gap(streams, cause);
}

static void branch_filter(struct list_head *streams,
			  const struct utrace_branch *records, unsigned int n)
{
	struct branch_stream *stream;

	list_for_each_entry(stream, streams, list)
		utrace_branch_view_filter(&stream->view, records, n,
					  stream->buffer);
}

/* The records */

static struct utrace_branch *branch_records(const struct branch_store *store)
{
	return (struct utrace_branch *)(unsigned long)store->base;
}

/* Number of records that a window has room for. */
static unsigned int branch_size(const struct branch_store *store)
{
	return (store->max - store->base) / BRANCH_RECORD;
}

/*
 * Get the number of records in the window.  @full: set if the window is full,
 * so that records may be missing, or if the index is invalid.
 */
static unsigned int branch_count(const struct branch_store *store, bool *full)
{
	u64 index = READ_ONCE(store->index);

	*full = index < store->base || index >= store->max ||
		(index - store->base) % BRANCH_RECORD;
	if (index < store->base)
		return 0;
	return (min(index, store->max) - store->base) / BRANCH_RECORD;
}

/*
 * Filter the window for all consumers.  The TASK record of a context switch is
 * for streams of the CPU only.  If the running thread has streams, it can only
 * be the first record, since the switch has drained the window.
 */
static void branch_drain(struct branch_window *window)
{
	struct branch_store *store = window->store;
	const struct utrace_branch *records = branch_records(store);
	unsigned int n, skip;
	bool full;

	n = branch_count(store, &full);
	if (n) {
		branch_filter(&window->streams, records, n);
		skip = UTRACE_BRANCH_TYPE(records->info) == UTRACE_BRANCH_TASK;
		if (window->thread)
			branch_filter(window->thread, records + skip, n - skip);
	}
	WRITE_ONCE(store->index, store->base);
	if (!full)
		return;
	branch_gap(&window->streams, UTRACE_LOSS_HARDWARE);
	branch_gap(window->thread, UTRACE_LOSS_HARDWARE);
}

/* The threshold */

/* Number of raw records that may come before a continuous ring is full. */
static unsigned int branch_room(const struct branch_window *window,
				const struct branch_stream *stream)
{
	u64 room = utrace_branch_buffer_room(stream->buffer);
	unsigned int size = branch_size(window->store) - window->margin;
	u64 kept = window->margin * (stream->pause ? 2 : 1) + BRANCH_RESERVE;

	room = min_t(u64, room - min(room, kept), size);
	return room < min(size, window->ops->least ?: BRANCH_FLOOR) ? 0 : room;
}

/* Limit the records until the next interrupt for a list of streams. */
static unsigned int branch_plan_streams(struct branch_window *window,
					struct list_head *streams,
					unsigned int threshold)
{
	struct branch_stream *stream;
	unsigned int room;

	list_for_each_entry(stream, streams, list) {
		/* A paused stream has reserved room for what can still come. */
		if (stream->buffer->overwrite || stream->paused)
			continue;
		room = branch_room(window, stream);
		if (room) {
			threshold = min(threshold, room);
		} else if (stream->pause) {
			stream->paused = true;
			stream->pause(stream);
		}
	}
	return threshold;
}

/* Set the threshold.  Returns whether the source must record. */
static bool branch_plan(struct branch_window *window)
{
	struct branch_store *store = window->store;
	unsigned int threshold = branch_size(store) - window->margin;

	threshold = branch_plan_streams(window, &window->streams, threshold);
	if (window->thread)
		threshold = branch_plan_streams(window, window->thread,
						threshold);
	WRITE_ONCE(store->threshold, store->base + threshold * BRANCH_RECORD);
	return (window->thread || !list_empty(&window->streams)) &&
	       !window->off;
}

/* Check whether the processor has reached the threshold. */
static bool branch_is_reached(const struct branch_store *store)
{
	return READ_ONCE(store->index) >= READ_ONCE(store->threshold);
}

/* Begin to change the window. */
static void branch_begin(struct branch_window *window)
{
	WRITE_ONCE(window->busy, true);
	barrier();	/* Before any change, for an NMI. */
	if (!window->on)
		return;
	window->ops->disable(window);
	window->on = false;
	if (branch_is_reached(window->store))
		window->owed = true;
}

/* End a change: continue to record, if any stream wants that. */
static void branch_end(struct branch_window *window)
{
	bool on = branch_plan(window);

	if (branch_is_reached(window->store)) {
		branch_drain(window);
		on = branch_plan(window);
	}
	window->on = on;
	barrier();	/* After all changes, for an NMI. */
	WRITE_ONCE(window->busy, false);
	if (on)
		window->ops->enable(window);
}

/* Windows */

/**
 * utrace_branch_window_init() - initialize the window of a CPU
 * @window: filled in
 * @store: kept by the caller.  Base and max must describe memory of at least
 *	BRANCH_WINDOW_MIN records that the processor can write to; the other
 *	members are filled in
 * @ops: the processor
 *
 * Context: Any; the source is off.
 */
void utrace_branch_window_init(struct branch_window *window,
			       struct branch_store *store,
			       const struct branch_source_ops *ops)
{
	*window = (struct branch_window){
		.store = store,
		.ops = ops,
		.margin = min(branch_size(store) / 2, BRANCH_MARGIN),
	};
	INIT_LIST_HEAD(&window->streams);
	store->index = store->base;
	store->threshold = store->max - window->margin * BRANCH_RECORD;
}

/**
 * utrace_branch_window_interrupt() - handle an interrupt at the threshold
 * @window: the window of this CPU
 *
 * Context: NMI, or with interrupts off, on the CPU of the window.
 * Return: false if the interrupt had another cause.
 */
bool utrace_branch_window_interrupt(struct branch_window *window)
{
	bool reached = branch_is_reached(window->store);
	bool ours = reached || window->owed;

	window->owed = false;
	/* The code that is changing the window drains it. */
	if (!reached || READ_ONCE(window->busy))
		return ours;
	branch_begin(window);
	window->owed = false;
	branch_drain(window);
	branch_end(window);
	return true;
}

/**
 * utrace_branch_window_drain() - filter the recorded records for all consumers
 * @window: the window of this CPU
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_branch_window_drain(struct branch_window *window)
{
	branch_begin(window);
	branch_drain(window);
	branch_end(window);
}

/* Write the record of a context switch; the source is off. */
static void branch_window_write_task(struct branch_window *window,
				     const struct utrace_branch *task)
{
	struct branch_store *store = window->store;
	unsigned int n;
	bool full;

	n = branch_count(store, &full);
	/* A window that this record fills would count as a loss. */
	if (full || n + 1 == branch_size(store)) {
		branch_drain(window);
		n = 0;
	}
	branch_records(store)[n] = *task;
	WRITE_ONCE(store->index, store->index + BRANCH_RECORD);
}

/**
 * utrace_branch_window_switch() - handle a context switch
 * @window: the window of this CPU
 * @thread: list of struct branch_stream of the next thread; NULL if it has none
 * @task: %UTRACE_BRANCH_TASK, for streams of the CPU
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_branch_window_switch(struct branch_window *window,
				 struct list_head *thread,
				 const struct utrace_branch *task)
{
	if (thread && list_empty(thread))
		thread = NULL;
	if (!thread && !window->thread && list_empty(&window->streams))
		return;
	branch_begin(window);
	if (thread || window->thread)
		branch_drain(window);
	window->thread = thread;
	if (window->off)
		branch_gap(thread, UTRACE_LOSS_OFF);
	if (!list_empty(&window->streams))
		branch_window_write_task(window, task);
	branch_end(window);
}

/**
 * utrace_branch_window_add() - start a stream
 * @window: the window of this CPU
 * @stream: from utrace_branch_stream_init()
 * @thread: list of struct branch_stream of the running thread; NULL: the stream
 *	is one of the CPU
 *
 * The caller may add a stream to the list of a thread that is not running, if
 * the stream does not wait or its ring has at least BRANCH_WAIT_MIN records.
 *
 * Context: With interrupts off, on the CPU of the window.
 * Return:
 * * 0 - the stream begins
 * * -EINVAL - the stream waits, but is one of the CPU or its ring is too small
 */
int utrace_branch_window_add(struct branch_window *window,
			     struct branch_stream *stream,
			     struct list_head *thread)
{
	if (stream->pause && (!thread || !branch_room(window, stream)))
		return -EINVAL;
	branch_begin(window);
	branch_drain(window);
	if (thread)
		window->thread = thread;
	list_add_tail(&stream->list, thread ?: &window->streams);
	if (window->off)
		utrace_branch_view_gap(&stream->view, UTRACE_LOSS_OFF,
				       stream->buffer);
	branch_end(window);
	return 0;
}

/**
 * utrace_branch_window_remove() - stop a stream
 * @window: the window of this CPU
 * @stream: one of the CPU, or of the running thread
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_branch_window_remove(struct branch_window *window,
				 struct branch_stream *stream)
{
	branch_begin(window);
	branch_drain(window);
	list_del_init(&stream->list);
	stream->paused = false;
	if (window->thread && list_empty(window->thread))
		window->thread = NULL;
	branch_end(window);
}

/**
 * utrace_branch_window_is_empty() - check whether the window is empty
 * @window: the window of this CPU
 *
 * Context: With interrupts off, on the CPU of the window.
 * Return: true if it has no record, or only that of a context switch.
 */
bool utrace_branch_window_is_empty(const struct branch_window *window)
{
	const struct branch_store *store = window->store;

	return READ_ONCE(store->index) <= store->base + BRANCH_RECORD;
}

/**
 * utrace_branch_window_resume() - check whether a thread may run user code
 * @window: the window of this CPU
 * @stream: a stream of the running thread
 *
 * Context: With interrupts off, on the CPU of the window; the thread is about
 * to return to user mode.
 * Return: false if the stream is full, so the thread must wait for its reader.
 */
bool utrace_branch_window_resume(struct branch_window *window,
				 struct branch_stream *stream)
{
	if (!stream->paused)
		return true;
	if (!branch_room(window, stream))
		return false;
	branch_begin(window);
	branch_drain(window);
	stream->paused = !branch_room(window, stream);
	branch_end(window);
	return !stream->paused;
}

/**
 * utrace_branch_window_off() - turn recording off or on
 * @window: the window of this CPU
 * @off: true to record nothing, false to continue
 *
 * Each stream that exists while recording is off reports a gap.
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_branch_window_off(struct branch_window *window, bool off)
{
	branch_begin(window);
	branch_drain(window);
	if (off && !window->off) {
		branch_gap(&window->streams, UTRACE_LOSS_OFF);
		branch_gap(window->thread, UTRACE_LOSS_OFF);
	}
	window->off = off;
	branch_end(window);
}

/**
 * utrace_branch_window_end() - stop recording, before the window is freed
 * @window: the window of this CPU, which has no streams of the CPU
 *
 * If the running thread is recorded, its streams report a gap.
 *
 * Context: With interrupts off, on the CPU of the window.  The window must not
 * be used afterwards.
 */
void utrace_branch_window_end(struct branch_window *window)
{
	branch_begin(window);
	branch_drain(window);
	branch_gap(window->thread, UTRACE_LOSS_OFF);
	window->thread = NULL;
}
