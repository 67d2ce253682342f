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

#define BTS_RECORD	sizeof(struct utrace_branch)

/* Streams */

/**
 * utrace_bts_stream_init() - initialize a stream
 * @stream: filled in
 * @level: level that the consumer wants
 * @entries: entry points of the kernel; kept by the caller
 * @buffer: ring for the filtered records; kept by the caller
 * @pause: makes the thread wait while @buffer is full, see struct bts_stream;
 *	or NULL
 *
 * Context: Any.
 * Return:
 * * 0 - the stream can be added
 * * -EINVAL - @pause is set but the stream is not of user mode, or @buffer is
 *   not continuous
 */
int utrace_bts_stream_init(struct bts_stream *stream, enum bts_level level,
			   const struct bts_entries *entries,
			   struct bts_buffer *buffer,
			   void (*pause)(struct bts_stream *stream))
{
	if (pause && (level != BTS_LEVEL_USER || buffer->overwrite))
		return -EINVAL;
	*stream = (struct bts_stream){
		.view = {
			.entries = entries,
			.level = level,
		},
		.buffer = buffer,
		.pause = pause,
	};
	INIT_LIST_HEAD(&stream->list);
	utrace_bts_view_begin(&stream->view);
	return 0;
}

/**
 * utrace_bts_stream_finish() - end a stream of a thread or a CPU
 * @stream: one of its streams, which was removed
 *
 * Context: Where nothing else writes to the stream.
 */
void utrace_bts_stream_finish(struct bts_stream *stream)
{
	utrace_bts_view_finish(&stream->view, stream->buffer);
	utrace_bts_buffer_settle(stream->buffer);
}

/**
 * utrace_bts_streams_gap() - report a gap in all streams of a list
 * @streams: list of struct bts_stream
 * @cause: cause of the gap
 *
 * Context: With interrupts off, on the CPU that has the streams; or NMI.
 */
void utrace_bts_streams_gap(struct list_head *streams,
			    enum utrace_branch_loss cause)
{
	struct bts_stream *stream;

	list_for_each_entry(stream, streams, list)
		utrace_bts_view_gap(&stream->view, cause, stream->buffer);
}

static void bts_gap(struct list_head *streams, enum utrace_branch_loss cause)
{
	if (streams)
		utrace_bts_streams_gap(streams, cause);
}

static void bts_filter(struct list_head *streams,
		       const struct utrace_branch *records, unsigned int n)
{
	struct bts_stream *stream;

	list_for_each_entry(stream, streams, list)
		utrace_bts_view_filter(&stream->view, records, n,
				       stream->buffer);
}

/* The records */

static struct utrace_branch *bts_records(const struct bts_store *store)
{
	return (struct utrace_branch *)(unsigned long)store->base;
}

/* Number of records that a window has room for. */
static unsigned int bts_size(const struct bts_store *store)
{
	return (store->max - store->base) / BTS_RECORD;
}

/*
 * Get the number of records in the window.  @full: set if the window is full,
 * so that records may be missing, or if the index is invalid.
 */
static unsigned int bts_count(const struct bts_store *store, bool *full)
{
	u64 index = READ_ONCE(store->index);

	*full = index < store->base || index >= store->max ||
		(index - store->base) % BTS_RECORD;
	if (index < store->base)
		return 0;
	return (min(index, store->max) - store->base) / BTS_RECORD;
}

/*
 * Filter the window for all consumers.  The TASK record of a context switch is
 * for streams of the CPU only.  If the running thread has streams, it can only
 * be the first record, since the switch has drained the window.
 */
static void bts_drain(struct bts_window *window)
{
	struct bts_store *store = window->store;
	const struct utrace_branch *records = bts_records(store);
	unsigned int n, skip;
	bool full;

	n = bts_count(store, &full);
	if (n) {
		bts_filter(&window->streams, records, n);
		skip = UTRACE_BRANCH_TYPE(records->info) == UTRACE_BRANCH_TASK;
		if (window->thread)
			bts_filter(window->thread, records + skip, n - skip);
	}
	WRITE_ONCE(store->index, store->base);
	if (!full)
		return;
	bts_gap(&window->streams, UTRACE_LOSS_HARDWARE);
	bts_gap(window->thread, UTRACE_LOSS_HARDWARE);
}

/* The threshold */

/* Number of raw records that may come before a continuous ring is full. */
static unsigned int bts_room(const struct bts_window *window,
			     const struct bts_stream *stream)
{
	u64 room = utrace_bts_buffer_room(stream->buffer);
	unsigned int size = bts_size(window->store) - window->margin;
	u64 kept = window->margin * (stream->pause ? 2 : 1) + BTS_RESERVE;

	room = min_t(u64, room - min(room, kept), size);
	return room < min(size, window->ops->least ?: BTS_FLOOR) ? 0 : room;
}

/* Limit the records until the next interrupt for a list of streams. */
static unsigned int bts_plan_streams(struct bts_window *window,
				     struct list_head *streams,
				     unsigned int threshold)
{
	struct bts_stream *stream;
	unsigned int room;

	list_for_each_entry(stream, streams, list) {
		/* A paused stream has reserved room for what can still come. */
		if (stream->buffer->overwrite || stream->paused)
			continue;
		room = bts_room(window, stream);
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
static bool bts_plan(struct bts_window *window)
{
	struct bts_store *store = window->store;
	unsigned int threshold = bts_size(store) - window->margin;

	threshold = bts_plan_streams(window, &window->streams, threshold);
	if (window->thread)
		threshold = bts_plan_streams(window, window->thread, threshold);
	WRITE_ONCE(store->threshold, store->base + threshold * BTS_RECORD);
	return (window->thread || !list_empty(&window->streams)) &&
	       !window->off;
}

/* Check whether the processor has reached the threshold. */
static bool bts_is_reached(const struct bts_store *store)
{
	return READ_ONCE(store->index) >= READ_ONCE(store->threshold);
}

/* Begin to change the window. */
static void bts_begin(struct bts_window *window)
{
	WRITE_ONCE(window->busy, true);
	barrier();	/* Before any change, for an NMI. */
	if (!window->on)
		return;
	window->ops->disable(window);
	window->on = false;
	if (bts_is_reached(window->store))
		window->owed = true;
}

/* End a change: continue to record, if any stream wants that. */
static void bts_end(struct bts_window *window)
{
	bool on = bts_plan(window);

	if (bts_is_reached(window->store)) {
		bts_drain(window);
		on = bts_plan(window);
	}
	window->on = on;
	barrier();	/* After all changes, for an NMI. */
	WRITE_ONCE(window->busy, false);
	if (on)
		window->ops->enable(window);
}

/* Windows */

/**
 * utrace_bts_window_init() - initialize the window of a CPU
 * @window: filled in
 * @store: kept by the caller.  Base and max must describe memory of at least
 *	BTS_WINDOW_MIN records that the processor can write to; the other
 *	members are filled in
 * @ops: the processor
 *
 * Context: Any; the source is off.
 */
void utrace_bts_window_init(struct bts_window *window, struct bts_store *store,
			    const struct bts_source_ops *ops)
{
	*window = (struct bts_window){
		.store = store,
		.ops = ops,
		.margin = min(bts_size(store) / 2, BTS_MARGIN),
	};
	INIT_LIST_HEAD(&window->streams);
	store->index = store->base;
	store->threshold = store->max - window->margin * BTS_RECORD;
}

/**
 * utrace_bts_window_interrupt() - handle an interrupt at the threshold
 * @window: the window of this CPU
 *
 * Context: NMI, or with interrupts off, on the CPU of the window.
 * Return: false if the interrupt had another cause.
 */
bool utrace_bts_window_interrupt(struct bts_window *window)
{
	bool reached = bts_is_reached(window->store);
	bool ours = reached || window->owed;

	window->owed = false;
	/* The code that is changing the window drains it. */
	if (!reached || READ_ONCE(window->busy))
		return ours;
	bts_begin(window);
	window->owed = false;
	bts_drain(window);
	bts_end(window);
	return true;
}

/**
 * utrace_bts_window_drain() - filter the recorded records for all consumers
 * @window: the window of this CPU
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_bts_window_drain(struct bts_window *window)
{
	bts_begin(window);
	bts_drain(window);
	bts_end(window);
}

/* Write the record of a context switch; the source is off. */
static void bts_write_task(struct bts_window *window,
			   const struct utrace_branch *task)
{
	struct bts_store *store = window->store;
	unsigned int n;
	bool full;

	n = bts_count(store, &full);
	/* This record must not make the window look full. */
	if (full || n + 1 == bts_size(store)) {
		bts_drain(window);
		n = 0;
	}
	bts_records(store)[n] = *task;
	WRITE_ONCE(store->index, store->index + BTS_RECORD);
}

/**
 * utrace_bts_window_switch() - handle a context switch
 * @window: the window of this CPU
 * @thread: list of struct bts_stream of the next thread; NULL if it has none
 * @task: %UTRACE_BRANCH_TASK, for streams of the CPU
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_bts_window_switch(struct bts_window *window,
			      struct list_head *thread,
			      const struct utrace_branch *task)
{
	if (thread && list_empty(thread))
		thread = NULL;
	if (!thread && !window->thread && list_empty(&window->streams))
		return;
	bts_begin(window);
	if (thread || window->thread)
		bts_drain(window);
	window->thread = thread;
	if (window->off)
		bts_gap(thread, UTRACE_LOSS_OFF);
	if (!list_empty(&window->streams))
		bts_write_task(window, task);
	bts_end(window);
}

/**
 * utrace_bts_window_add() - start a stream
 * @window: the window of this CPU
 * @stream: from utrace_bts_stream_init()
 * @thread: list of struct bts_stream of the running thread; NULL: the stream is
 *	one of the CPU
 *
 * The caller may add a stream to the list of a thread that is not running, if
 * the stream does not wait or its ring has at least BTS_WAIT_MIN records.
 *
 * Context: With interrupts off, on the CPU of the window.
 * Return:
 * * 0 - the stream begins
 * * -EINVAL - the stream waits, but is one of the CPU or its ring is too small
 */
int utrace_bts_window_add(struct bts_window *window, struct bts_stream *stream,
			  struct list_head *thread)
{
	if (stream->pause && (!thread || !bts_room(window, stream)))
		return -EINVAL;
	bts_begin(window);
	bts_drain(window);
	if (thread)
		window->thread = thread;
	list_add_tail(&stream->list, thread ?: &window->streams);
	if (window->off)
		utrace_bts_view_gap(&stream->view, UTRACE_LOSS_OFF,
				    stream->buffer);
	bts_end(window);
	return 0;
}

/**
 * utrace_bts_window_remove() - stop a stream
 * @window: the window of this CPU
 * @stream: one of the CPU, or of the running thread
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_bts_window_remove(struct bts_window *window,
			      struct bts_stream *stream)
{
	bts_begin(window);
	bts_drain(window);
	list_del_init(&stream->list);
	stream->paused = false;
	if (window->thread && list_empty(window->thread))
		window->thread = NULL;
	bts_end(window);
}

/**
 * utrace_bts_window_is_empty() - check whether the window is empty
 * @window: the window of this CPU
 *
 * Context: With interrupts off, on the CPU of the window.
 * Return: true if it has no record, or only that of a context switch.
 */
bool utrace_bts_window_is_empty(const struct bts_window *window)
{
	const struct bts_store *store = window->store;

	return READ_ONCE(store->index) <= store->base + BTS_RECORD;
}

/**
 * utrace_bts_window_resume() - check whether a thread may run user code again
 * @window: the window of this CPU
 * @stream: a stream of the running thread
 *
 * Context: With interrupts off, on the CPU of the window; the thread is about
 * to return to user mode.
 * Return: false if the stream is full, so the thread must wait for its reader.
 */
bool utrace_bts_window_resume(struct bts_window *window,
			      struct bts_stream *stream)
{
	if (!stream->paused)
		return true;
	if (!bts_room(window, stream))
		return false;
	bts_begin(window);
	bts_drain(window);
	stream->paused = !bts_room(window, stream);
	bts_end(window);
	return !stream->paused;
}

/**
 * utrace_bts_window_off() - turn recording off or on
 * @window: the window of this CPU
 * @off: true to record nothing, false to continue
 *
 * Each stream that exists while recording is off reports a gap.
 *
 * Context: With interrupts off, on the CPU of the window.
 */
void utrace_bts_window_off(struct bts_window *window, bool off)
{
	bts_begin(window);
	bts_drain(window);
	if (off && !window->off) {
		bts_gap(&window->streams, UTRACE_LOSS_OFF);
		bts_gap(window->thread, UTRACE_LOSS_OFF);
	}
	window->off = off;
	bts_end(window);
}

/**
 * utrace_bts_window_end() - stop recording, before the window is freed
 * @window: the window of this CPU, which has no streams of the CPU
 *
 * If the running thread is recorded, its streams report a gap.
 *
 * Context: With interrupts off, on the CPU of the window.  The window must not
 * be used afterwards.
 */
void utrace_bts_window_end(struct bts_window *window)
{
	bts_begin(window);
	bts_drain(window);
	bts_gap(window->thread, UTRACE_LOSS_OFF);
	window->thread = NULL;
}
