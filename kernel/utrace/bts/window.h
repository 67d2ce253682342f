/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: the memory that a processor records its branches in
 *
 * A window is one CPU's.  The processor writes raw records to it.  Before it is
 * full, and wherever the streams change, each consumer gets what it wants of
 * them, and the window is empty again.
 */
#ifndef _KERNEL_UTRACE_BTS_WINDOW_H
#define _KERNEL_UTRACE_BTS_WINDOW_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/utrace_branch.h>

#include "buffer.h"
#include "core.h"

/*
 * Records between the threshold and the end of a window, and in a ring when the
 * threshold is reached: the processor goes on until the interrupt comes.  A
 * thread whose ring is full then goes on until a second interrupt takes it to
 * its safe point, for which its ring has as many records more.
 */
#define BTS_MARGIN	170

/*
 * Records of the least window.  Two are before its threshold: the branch out of
 * the interrupt, and one more, else the interrupt would come again at once, and
 * nothing else would be recorded.  Two are behind it: the branch into the
 * interrupt, and one that is never written, since a full window is a loss.  A
 * source whose interrupt takes more branches needs as many more on each side.
 */
#define BTS_WINDOW_MIN	4

/*
 * A continuous ring with less free than this counts as full, if its source does not
 * say otherwise: it would be full too often.
 */
#define BTS_FLOOR	64

/* The most that a source may need instead, see struct bts_source_ops. */
#define BTS_LEAST_MAX	512

/* What a user view makes beyond the number of raw records. */
#define BTS_RESERVE	2

/* The smallest ring of a stream that waits for its reader, with BTS_FLOOR. */
#define BTS_WAIT_MIN	512

/**
 * struct bts_store - addresses in a window, as the debug store has them
 * @base: the first record
 * @index: where the next record is written
 * @max: the end of the last record
 * @threshold: the processor interrupts when @index gets here
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
 * @view: what the consumer wants
 * @buffer: where the consumer gets it; constant
 * @pause: called when @buffer is nearly full: the thread has to come to its safe
 *	point, and runs no user code after that until utrace_bts_window_resume()
 *	has said true.  Interrupts are off, or it is an NMI.  NULL: the stream
 *	does not wait.  Constant
 * @paused: the thread has to wait
 *
 * The CPU on which the stream is uses what is not constant.
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
 * struct bts_source_ops - the processor, or what stands for it
 * @enable: record branches from here on
 * @disable: record none; bts_store.index is right afterwards
 * @least: records from one interrupt to the next, at least; 0: BTS_FLOOR.  More
 *	than the way out of an interrupt and into another one takes: otherwise a
 *	CPU with a ring that is nearly full would do nothing but interrupts
 *
 * Both are called with interrupts off or from an NMI.  @enable may be called when
 * the source is on already: an NMI has been faster.
 */
struct bts_source_ops {
	void (*enable)(struct bts_window *window);
	void (*disable)(struct bts_window *window);
	unsigned int least;
};

/**
 * struct bts_window - what one CPU records
 * @store: the addresses, which the processor reads and writes while recording
 * @ops: the processor; constant
 * @margin: see BTS_MARGIN; less for a small window.  Constant
 * @streams: struct bts_stream of the CPU
 * @thread: list of struct bts_stream of the thread that runs; NULL if it has
 *	none
 * @off: nothing may be recorded
 * @on: the source was enabled
 * @busy: the CPU changes the window, so that an interrupt must not
 * @owed: the threshold was reached, but a change came before the interrupt
 *
 * Only the CPU itself uses it, with interrupts off; the NMI does unless @busy.
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

#endif /* _KERNEL_UTRACE_BTS_WINDOW_H */
