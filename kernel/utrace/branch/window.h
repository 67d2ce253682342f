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
#define BTS_MARGIN	170

/*
 * Records of the smallest window.  Two are before its threshold: the branch out
 * of the interrupt, and one more, without which the interrupt would come again
 * at once and nothing else would be recorded.  Two are after the threshold: the
 * branch into the interrupt, and one that is never written, since a full window
 * counts as a loss.  If the interrupt of a source takes more branches, the
 * window needs this many more before the threshold and as many after it.
 */
#define BTS_WINDOW_MIN	4

/*
 * A continuous ring with less free records than this counts as full, unless its
 * source sets another limit: otherwise it would fill up too often.
 */
#define BTS_FLOOR	64

/* The largest limit that a source may set, see struct bts_source_ops. */
#define BTS_LEAST_MAX	512

/* Extra records that a view of user mode may emit per batch of raw records. */
#define BTS_RESERVE	2

/* The smallest ring of a stream that waits for its reader, with BTS_FLOOR. */
#define BTS_WAIT_MIN	512

/**
 * struct bts_store - addresses of a window, laid out as in the debug store
 * @base: the first record
 * @index: where the next record is written
 * @max: the end of the last record
 * @threshold: the processor interrupts when @index reaches this address
 */
struct bts_store {
	u64 base;
	u64 index;
	u64 max;
	u64 threshold;
};

/**
 * struct bts_stream - a stream and its consumer
 * @list: entry in bts_window.streams, or in the list of a thread
 * @view: filter for the consumer
 * @buffer: ring for the filtered records; constant
 * @pause: called when @buffer is nearly full.  It must make the thread pass its
 *	safe point, after which the thread may run no user code until
 *	utrace_bts_window_resume() returns true.  Called with interrupts off or
 *	in an NMI.  NULL: the stream does not wait.  Constant
 * @paused: the thread must wait
 *
 * Members that are not constant are used by the CPU that the stream is on.
 */
struct bts_stream {
	struct list_head list;
	struct bts_view view;
	struct bts_buffer *buffer;
	void (*pause)(struct bts_stream *stream);
	bool paused;
};

struct bts_window;

/**
 * struct bts_source_ops - the processor or its replacement in a test
 * @enable: start to record branches.  Must be idempotent: an NMI may have
 *	enabled the source first
 * @disable: stop to record branches; bts_store.index is up to date afterwards
 * @least: minimum of records between two interrupts; 0: BTS_FLOOR.  Must exceed
 *	the branches on the way out of one interrupt and into the next.
 *	Otherwise a CPU with a nearly full ring would only handle interrupts
 *
 * @enable and @disable are called with interrupts off or from an NMI.
 */
struct bts_source_ops {
	void (*enable)(struct bts_window *window);
	void (*disable)(struct bts_window *window);
	unsigned int least;
};

/**
 * struct bts_window - the window of a CPU
 * @store: the addresses, which the processor reads and writes while recording
 * @ops: the processor; constant
 * @margin: BTS_MARGIN, or less for a small window; constant
 * @streams: struct bts_stream of the CPU
 * @thread: list of struct bts_stream of the running thread; NULL if it has none
 * @off: nothing may be recorded
 * @on: the source was enabled
 * @busy: the CPU is changing the window, so an interrupt must not
 * @owed: the threshold was reached, but a change of the window came before the
 *	interrupt
 *
 * Used by the CPU itself with interrupts off, and by its NMI unless @busy.
 */
struct bts_window {
	struct bts_store *store;
	const struct bts_source_ops *ops;
	unsigned int margin;
	struct list_head streams;
	struct list_head *thread;
	bool off;
	bool on;
	bool busy;
	bool owed;
};

int utrace_bts_stream_init(struct bts_stream *stream, enum bts_level level,
			   const struct bts_entries *entries,
			   struct bts_buffer *buffer,
			   void (*pause)(struct bts_stream *stream));
void utrace_bts_stream_finish(struct bts_stream *stream);
void utrace_bts_streams_gap(struct list_head *streams,
			    enum utrace_branch_loss cause);

void utrace_bts_window_init(struct bts_window *window, struct bts_store *store,
			    const struct bts_source_ops *ops);
bool utrace_bts_window_interrupt(struct bts_window *window);
void utrace_bts_window_drain(struct bts_window *window);
void utrace_bts_window_switch(struct bts_window *window,
			      struct list_head *thread,
			      const struct utrace_branch *task);
int utrace_bts_window_add(struct bts_window *window, struct bts_stream *stream,
			  struct list_head *thread);
void utrace_bts_window_remove(struct bts_window *window,
			      struct bts_stream *stream);
bool utrace_bts_window_is_empty(const struct bts_window *window);
bool utrace_bts_window_resume(struct bts_window *window,
			      struct bts_stream *stream);
void utrace_bts_window_off(struct bts_window *window, bool off);
void utrace_bts_window_end(struct bts_window *window);

#endif /* _KERNEL_UTRACE_BRANCH_WINDOW_H */
