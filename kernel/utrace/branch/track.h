/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: threads that CPUs record
 *
 * Used if a consumer has its threads recorded by the source of CPUs (source.h)
 * instead of by single steps.
 */
#ifndef _KERNEL_UTRACE_BRANCH_TRACK_H
#define _KERNEL_UTRACE_BRANCH_TRACK_H

#include <linux/container_of.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/types.h>

#include "buffer.h"
#include "thread.h"
#include "window.h"

struct bts_consumer;
struct utrace_ioc_branch_info;
struct work_struct;

/**
 * struct branch_track - records of one thread for one consumer
 * @link: link of the thread to the consumer; entry in branch_thread.tracked
 *	while CPUs record the thread
 * @stream: filter for the consumer; entry in branch_thread.streams while CPUs
 *	record the thread
 * @stage: ring to which CPUs write the records.  Its reader holds
 *	bts_consumer.lock
 * @thread: the thread; NULL once it has ended and has left its stage to the
 *	consumer.  Written under bts_consumer.lock
 * @recounted: lost records that were read from @stage as %UTRACE_BRANCH_LOST
 *	and added to branch_link.lost.  Under bts_consumer.lock
 * @of_consumer: entry in bts_consumer.tracks.  Under bts_consumer.lock
 * @notify: queues bts_consumer.move, which empties @stage
 *
 * The records are those that CPUs make, or the undelivered records that a
 * stepping thread has left on exit.
 *
 * The thread allocates the track, and frees it unless it is left to the
 * consumer.  The members of @link that only the thread uses for single steps
 * are under bts_consumer.lock here.
 */
struct branch_track {
	struct branch_link link;
	struct branch_stream stream;
	struct branch_buffer stage;
	struct branch_thread *thread;
	u64 recounted;
	struct list_head of_consumer;
	struct irq_work notify;
};

static inline struct branch_track *
utrace_branch_track_of(struct branch_stream *stream)
{
	return container_of(stream, struct branch_track, stream);
}

bool utrace_branch_is_tracked(const struct branch_thread *thread,
			      const struct bts_consumer *consumer);
void utrace_branch_track_begin(struct branch_thread *thread,
			       struct bts_consumer *consumer);
void utrace_branch_track_stop(struct branch_thread *thread,
			      struct bts_consumer *consumer);
void utrace_branch_track_exec(struct branch_thread *thread,
			      struct bts_consumer *consumer);
void utrace_branch_track_end(struct branch_thread *thread,
			     struct bts_consumer *consumer);
bool utrace_branch_write_before(struct branch_link *link);
bool utrace_branch_write_last(struct branch_link *link, u64 from, u64 type);
void utrace_branch_lose_last(struct branch_link *link);
bool utrace_branch_leave_rest(struct branch_thread *thread,
			      struct branch_link *link);
void utrace_branch_tracks_close(struct bts_consumer *consumer);
void utrace_branch_tracks_sync(struct bts_consumer *consumer);
void utrace_branch_tracks_work(struct work_struct *work);
void utrace_branch_tracks_info(struct bts_consumer *consumer,
			       struct utrace_ioc_branch_info *info);

#endif /* _KERNEL_UTRACE_BRANCH_TRACK_H */
