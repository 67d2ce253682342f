/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: the memory to which a processor records its branches
 *
 * Each CPU has its own window, to which the processor writes raw records.
 * Before the window is full, and whenever the streams change, it is drained:
 * each consumer gets the records that it wants.
 */
#ifndef _KERNEL_UTRACE_BRANCH_WINDOW_H
#define _KERNEL_UTRACE_BRANCH_WINDOW_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/utrace_branch.h>

#include "buffer.h"
#include "view.h"

/*
 * Records between the threshold and the end of a window, and free records in a
 * ring when the threshold is reached: the processor records until the interrupt
 * comes.  A thread whose ring is full then runs until a second interrupt makes
 * it pass its safe point, so its ring keeps this many free records twice.
 */
#define BRANCH_MARGIN	170

/*
 * Records of the smallest window.  Two are before its threshold: the branch out
 * of the interrupt, and one more, without which the interrupt would come again
 * at once and nothing else would be recorded.  Two are after the threshold: the
 * branch into the interrupt, and one that is never written, since a full window
 * counts as a loss.  If the interrupt of a source takes more branches, the
 * window needs this many more before the threshold and as many after it.
 */
#define BRANCH_WINDOW_MIN	4

/*
 * A continuous ring with less free records than this counts as full, unless its
 * source sets another limit: otherwise it would fill up too often.
 */
#define BRANCH_FLOOR	64

/* The largest limit that a source may set, see struct branch_source_ops. */
#define BRANCH_LEAST_MAX	512

/* Extra records that a view of user mode may emit per batch of raw records. */
#define BRANCH_RESERVE	2

/*
 * The smallest ring of a stream that waits for its reader, with BRANCH_FLOOR.
 */
#define BRANCH_WAIT_MIN	512

/**
 * struct branch_store - addresses of a window, laid out as in the debug store
 * @base: the first record
 * @index: where the next record is written
 * @max: the end of the last record
 * @threshold: the processor interrupts when @index reaches this address
 */
struct branch_store {
	u64 base;
	u64 index;
	u64 max;
	u64 threshold;
};

/**
 * struct branch_stream - a stream and its consumer
 * @list: entry in branch_window.streams, or in the list of a thread
 * @view: filter for the consumer
 * @buffer: ring for the filtered records; constant
 * @pause: called when @buffer is nearly full.  It must make the thread pass its
 *	safe point, after which the thread may run no user code until
 *	utrace_branch_window_resume() returns true.  Called with interrupts off
 *	or in an NMI.  NULL: the stream does not wait.  Constant
 * @paused: the thread must wait
 *
 * Members that are not constant are used by the CPU that the stream is on.
 */
struct branch_stream {
	struct list_head list;
	struct branch_view view;
	struct branch_buffer *buffer;
	void (*pause)(struct branch_stream *stream);
	bool paused;
};

struct branch_window;

/**
 * struct branch_source_ops - the processor or its replacement in a test
 * @enable: start to record branches.  Must be idempotent: an NMI may have
 *	enabled the source first
 * @disable: stop to record branches; branch_store.index is up to date
 *	afterwards
 * @least: minimum of records between two interrupts; 0: BRANCH_FLOOR.  Must
 *	exceed the branches on the way out of one interrupt and into the next.
 *	Otherwise a CPU with a nearly full ring would only handle interrupts
 *
 * @enable and @disable are called with interrupts off or from an NMI.
 */
struct branch_source_ops {
	void (*enable)(struct branch_window *window);
	void (*disable)(struct branch_window *window);
	unsigned int least;
};

/**
 * struct branch_window - the window of a CPU
 * @store: the addresses, which the processor reads and writes while recording
 * @ops: the processor; constant
 * @margin: BRANCH_MARGIN, or less for a small window; constant
 * @streams: struct branch_stream of the CPU
 * @thread: list of struct branch_stream of the running thread; NULL if it has
 *	none
 * @off: nothing may be recorded
 * @on: the source was enabled
 * @busy: the CPU is changing the window, so an interrupt must not
 * @owed: the threshold was reached, but a change of the window came before the
 *	interrupt
 *
 * Used by the CPU itself with interrupts off, and by its NMI unless @busy.
 */
struct branch_window {
	struct branch_store *store;
	const struct branch_source_ops *ops;
	unsigned int margin;
	struct list_head streams;
	struct list_head *thread;
	bool off;
	bool on;
	bool busy;
	bool owed;
};

int utrace_branch_stream_init(struct branch_stream *stream,
			      enum branch_level level,
			      const struct branch_entries *entries,
			      struct branch_buffer *buffer,
			      void (*pause)(struct branch_stream *stream));
void utrace_branch_stream_finish(struct branch_stream *stream);
void utrace_branch_streams_gap(struct list_head *streams,
			       enum utrace_branch_loss cause);

void utrace_branch_window_init(struct branch_window *window,
			       struct branch_store *store,
			       const struct branch_source_ops *ops);
bool utrace_branch_window_interrupt(struct branch_window *window);
void utrace_branch_window_drain(struct branch_window *window);
void utrace_branch_window_switch(struct branch_window *window,
				 struct list_head *thread,
				 const struct utrace_branch *task);
int utrace_branch_window_add(struct branch_window *window,
			     struct branch_stream *stream,
			     struct list_head *thread);
void utrace_branch_window_remove(struct branch_window *window,
				 struct branch_stream *stream);
bool utrace_branch_window_is_empty(const struct branch_window *window);
bool utrace_branch_window_resume(struct branch_window *window,
				 struct branch_stream *stream);
void utrace_branch_window_off(struct branch_window *window, bool off);
void utrace_branch_window_end(struct branch_window *window);

#endif /* _KERNEL_UTRACE_BRANCH_WINDOW_H */
