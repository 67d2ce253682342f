/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: threads that CPUs record
 *
 * A consumer may have its threads recorded by the source of CPUs (source.h)
 * instead of by single steps.
 */
#ifndef _KERNEL_UTRACE_BTS_TRACK_H
#define _KERNEL_UTRACE_BTS_TRACK_H

#include <linux/irq_work.h>

#include "bts.h"
#include "window.h"

/**
 * struct bts_track - what CPUs record of a thread for one consumer; or what a thread
 *	that has made single steps has left to it
 * @link: the thread is followed by the consumer; entry in bts_thread.tracked while
 *	CPUs record it
 * @stream: what the consumer wants; entry in bts_thread.streams.  Likewise
 * @stage: where CPUs write it.  Its reader has bts_consumer.lock
 * @thread: the thread; NULL once that has ended and has left its stage to the
 *	consumer.  Written under bts_consumer.lock
 * @recounted: records of which @stage has told that they were lost, and that were
 *	added to bts_link.lost.  Under bts_consumer.lock
 * @of_consumer: entry in bts_consumer.tracks.  Under bts_consumer.lock
 * @tell: has @stage emptied
 *
 * The thread makes it, and frees it unless it is left to the consumer.  Of @link,
 * what only the thread uses for single steps is under bts_consumer.lock here.
 */
struct bts_track {
	struct bts_link link;
	struct bts_stream stream;
	struct bts_buffer stage;
	struct bts_thread *thread;
	u64 recounted;
	struct list_head of_consumer;
	struct irq_work tell;
};

/* track.c */
bool utrace_bts_is_tracked(const struct bts_thread *thread,
			   const struct bts_consumer *consumer);
void utrace_bts_track_begin(struct bts_thread *thread,
			    struct bts_consumer *consumer);
void utrace_bts_track_stop(struct bts_thread *thread,
			   struct bts_consumer *consumer);
void utrace_bts_track_exec(struct bts_thread *thread,
			   struct bts_consumer *consumer);
void utrace_bts_track_end(struct bts_thread *thread,
			  struct bts_consumer *consumer);
bool utrace_bts_leave_rest(struct bts_thread *thread, struct bts_link *link);
bool utrace_bts_move_former(struct bts_link *link);
void utrace_bts_tracks_tell(struct list_head *streams);
void utrace_bts_tracks_close(struct bts_consumer *consumer);
void utrace_bts_tracks_sync(struct bts_consumer *consumer);
void utrace_bts_tracks_work(struct work_struct *work);
void utrace_bts_tracks_info(struct bts_consumer *consumer,
			    struct utrace_ioc_branch_info *info);
void utrace_bts_asked(struct callback_head *work);

/* cpu.c */
int utrace_bts_cpus_get(void);
void utrace_bts_cpus_put(void);
const struct bts_entries *utrace_bts_cpu_entries(void);
void utrace_bts_cpu_track(struct bts_stream *stream, struct list_head *streams);
void utrace_bts_cpu_untrack(struct bts_stream *stream);
void utrace_bts_cpu_drain(void);
bool utrace_bts_cpu_resume(struct bts_stream *stream);
void utrace_bts_cpus_drain(void);

#endif /* _KERNEL_UTRACE_BTS_TRACK_H */
