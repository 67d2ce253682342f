// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: threads that CPUs record
 *
 * The source of CPUs records such a thread wherever it runs.  The window of the
 * CPU (window.c) filters the records for each consumer, and writes them to a
 * stage of the thread for this consumer: in an interrupt that may be an NMI,
 * and when the thread leaves the CPU.  There are three ways from the stage to
 * the ring of the consumer:
 *
 * - A work item moves the records soon after they were written.
 *
 * - If the stage of a stream of user mode is nearly full, the thread is asked
 *   to move the records itself before it runs more user code.  If the ring is
 *   full, too, the thread waits for the reader or counts its records as lost,
 *   as the consumer wants.
 *
 * - A reader that finds nothing drains the windows of all CPUs.
 *
 * A thread that exits leaves its stage to the consumer, if records in it did
 * not fit in the ring.  So does a stepping thread, if it would wait for the
 * reader (bts_consumer.stop).
 *
 * In the kernel a thread cannot wait.  Records that do not fit in its stage
 * there are lost and counted.
 *
 * Readers may observe the whole system (CAP_PERFMON), so the permission to see
 * a thread is not checked at each move, but when the thread joins, when it
 * executes a program, and in the task work that branch_ask() adds.
 */
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/utrace.h>
#include <linux/vmalloc.h>

#include "consumer.h"
#include "cpu.h"
#include "ring.h"
#include "track.h"

/*
 * Records of a stage.  In user mode the thread empties it before it is full; in
 * the kernel it must suffice until the work item runs.
 */
#define BRANCH_TRACK_USER	2048
#define BRANCH_TRACK_KERNEL	16384

static_assert(BRANCH_TRACK_USER >= 2 * BRANCH_MARGIN + BRANCH_RESERVE +
				   BRANCH_LEAST_MAX);

/* Records of a stage that a stepping thread leaves. */
#define BRANCH_TRACK_STEPS	256

/* It must hold all that a thread has not delivered, and END. */
static_assert(BRANCH_TRACK_STEPS > BRANCH_STAGE);

/*
 * Maximum size of the stages that exited threads have left to a consumer, in
 * records: 3 MiB, for 512 stepping threads, or 64 threads that CPUs have
 * recorded in user mode, or 8 in the kernel.
 */
#define BRANCH_LEFT_MAX		(64 * BRANCH_TRACK_USER)

/*
 * Maximum size of the stages of all threads that CPUs record for a consumer, in
 * records: 192 MiB, for 4096 threads in user mode, or 512 in the kernel.
 */
#define BRANCH_STAGED_MAX	(4096 * BRANCH_TRACK_USER)

static struct branch_track *
branch_find_track(const struct branch_thread *thread,
		  const struct bts_consumer *consumer)
{
	struct branch_track *track;

	if (!thread)
		return NULL;
	list_for_each_entry(track, &thread->tracked, link.list)
		if (track->link.consumer == consumer)
			return track;
	return NULL;
}

/**
 * utrace_branch_is_tracked() - check whether CPUs record the current thread
 * @thread: the thread, or NULL
 * @consumer: the consumer for which they would
 *
 * Context: The task itself.
 * Return: true if CPUs record the thread for @consumer.
 */
bool utrace_branch_is_tracked(const struct branch_thread *thread,
			      const struct bts_consumer *consumer)
{
	return branch_find_track(thread, consumer);
}

/* Freeing */

static void branch_track_free(struct branch_track *track)
{
	utrace_branch_consumer_put(track->link.consumer);
	kvfree(track->stage.records);
	kfree(track);
}

static void branch_tracks_free(struct list_head *tracks)
{
	struct branch_track *track, *next;

	list_for_each_entry_safe(track, next, tracks, of_consumer)
		branch_track_free(track);
}

/*
 * Records that did not fit in a stage, without those in branch_track.recounted.
 */
static u64 branch_lost_in_stage(const struct branch_track *track)
{
	return READ_ONCE(track->stage.counts[UTRACE_LOSS_FULL]) -
	       track->recounted;
}

/*
 * Remove a track from its consumer.  From here on the ring counts the losses of
 * the track; bts_consumer.lock is held.
 */
static void branch_track_drop(struct branch_track *track,
			      struct list_head *dropped)
{
	struct bts_consumer *consumer = track->link.consumer;

	lockdep_assert_held(&consumer->lock);
	consumer->ring.lost_ever += branch_lost_in_stage(track);
	consumer->gaps += utrace_branch_buffer_gaps(&track->stage);
	if (track->thread)
		consumer->staged -= track->stage.size;
	else
		consumer->left -= track->stage.size;
	list_move(&track->of_consumer, dropped);
}

/* Losing records of stages */

/* Count the records in a stage as lost; bts_consumer.lock is held. */
static void branch_discard(struct branch_track *track)
{
	const struct utrace_branch *records;
	unsigned int n, i;

	lockdep_assert_held(&track->link.consumer->lock);
	while ((n = utrace_branch_buffer_peek(&track->stage, &records,
					      BRANCH_PIECE))) {
		for (i = 0; i < n; i++) {
			if (UTRACE_BRANCH_TYPE(records[i].info) !=
			    UTRACE_BRANCH_LOST) {
				track->link.lost++;
				continue;
			}
			track->link.lost += records[i].from;
			track->recounted += records[i].from;
		}
		utrace_branch_buffer_skip(&track->stage, n);
	}
}

/*
 * Count the rest of a finished track as lost, including pending losses of its
 * stage; bts_consumer.lock is held.
 */
static void branch_discard_rest(struct branch_track *track)
{
	bool all;

	do {
		all = utrace_branch_buffer_write_losses(&track->stage);
		branch_discard(track);
	} while (!all);
}

/* As above, if no record follows in which the loss could be reported. */
static void branch_lose_rest(struct branch_track *track)
{
	branch_discard_rest(track);
	utrace_branch_ring_lose(&track->link.consumer->ring, track->link.lost);
}

/* Moving records from stages to rings */

/*
 * Check whether the ring lacks anything of a track, except for pending losses
 * of the stage (utrace_branch_buffer_write_losses()).
 */
static bool branch_has_more(const struct branch_track *track)
{
	return track->link.lost || utrace_branch_buffer_has(&track->stage);
}

static bool branch_move_left(struct branch_track *track, bool *done);

/*
 * Move the records of the previous owner of a pid: a thread that calls execve()
 * may have taken over the pid of its group leader, which has left records.
 * Returns false if they do not all fit.
 */
static bool branch_move_former(struct branch_link *link)
{
	struct branch_track *track;
	bool done = true;

	lockdep_assert_held(&link->consumer->lock);
	/* Tracks after @link were left later. */
	list_for_each_entry(track, &link->consumer->tracks, of_consumer) {
		if (&track->link == link || !done)
			break;
		if (!track->thread && track->link.ino == link->ino)
			branch_move_left(track, &done);
	}
	return done;
}

/**
 * utrace_branch_write_before() - write what precedes the records of a thread
 * @link: the link of the thread to a consumer
 *
 * Context: Process context, with bts_consumer.lock held.
 * Return: false if they do not fit.
 */
bool utrace_branch_write_before(struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;

	lockdep_assert_held(&consumer->lock);
	if (!link->started && !branch_move_former(link))
		return false;
	if (!utrace_branch_write_task(consumer, link->pid, link->ino))
		return false;
	if (!link->started)
		link->started = utrace_branch_write_one(consumer, 0,
							link->start,
							UTRACE_BRANCH_START);
	if (link->started && link->lost &&
	    utrace_branch_write_one(consumer, link->lost, 0,
				    UTRACE_BRANCH_LOST | UTRACE_LOSS_FULL <<
				    UTRACE_BRANCH_KIND_SHIFT)) {
		consumer->ring.lost_ever += link->lost;
		link->lost = 0;
	}
	return link->started && !link->lost;
}

/**
 * utrace_branch_write_last() - write the final record of a thread
 * @link: the link of the thread to a consumer
 * @from: member @from of struct utrace_branch
 * @type: member @info of struct utrace_branch, a type of record
 *
 * Context: Process context.  Takes bts_consumer.lock.
 * Return: false if it does not fit.
 */
bool utrace_branch_write_last(struct branch_link *link, u64 from, u64 type)
{
	guard(mutex)(&link->consumer->lock);
	return utrace_branch_write_before(link) &&
	       utrace_branch_write_one(link->consumer, from, 0, type);
}

/**
 * utrace_branch_lose_last() - count the final record and pending losses as lost
 * @link: the link of the thread to a consumer
 *
 * Context: Process context.  Takes bts_consumer.lock.
 */
void utrace_branch_lose_last(struct branch_link *link)
{
	guard(mutex)(&link->consumer->lock);
	utrace_branch_ring_lose(&link->consumer->ring, link->lost + 1);
}

/*
 * Move the records that fit, after those that report losses; bts_consumer.lock
 * is held.  Returns whether anything was moved.
 */
static bool branch_move(struct branch_track *track)
{
	struct bts_consumer *consumer = track->link.consumer;
	const struct utrace_branch *records;
	bool moved = track->link.lost;
	unsigned int n, done;

	lockdep_assert_held(&consumer->lock);
	/* A closed consumer is about to free the records in its ring. */
	if (READ_ONCE(consumer->closed) || !branch_has_more(track) ||
	    !utrace_branch_write_before(&track->link))
		return false;
	while ((n = utrace_branch_buffer_peek(&track->stage, &records,
					      BRANCH_PIECE))) {
		done = utrace_branch_ring_write(&consumer->ring, records, n);
		utrace_branch_buffer_skip(&track->stage, done);
		moved |= done;
		if (done < n)
			break;
	}
	return moved;
}

/*
 * Move the records that an exited thread has left; bts_consumer.lock is held.
 * Returns whether any were moved, and in @done whether none are left.
 */
static bool branch_move_left(struct branch_track *track, bool *done)
{
	bool moved = false;

	/* Pending losses need room in the stage first. */
	do {
		*done = utrace_branch_buffer_write_losses(&track->stage);
		moved |= branch_move(track);
	} while (!*done && !utrace_branch_buffer_has(&track->stage));
	*done &= !branch_has_more(track);
	return moved;
}

static void branch_move_all(struct bts_consumer *consumer)
{
	struct branch_track *track, *next;
	bool moved = false, done;
	LIST_HEAD(dropped);

	scoped_guard(mutex, &consumer->lock)
		list_for_each_entry_safe(track, next, &consumer->tracks,
					 of_consumer) {
			if (track->thread) {
				moved |= branch_move(track);
				continue;
			}
			moved |= branch_move_left(track, &done);
			/* Waiting does not help if there is no memory. */
			if (!done && !consumer->ring.failed)
				continue;
			if (!done)
				branch_lose_rest(track);
			branch_track_drop(track, &dropped);
		}
	if (moved || !list_empty(&dropped))
		utrace_branch_notify(consumer);
	branch_tracks_free(&dropped);
}

/**
 * utrace_branch_tracks_work() - move the records of all threads of a consumer
 * @work: bts_consumer.move
 *
 * Context: A work item.  Takes bts_consumer.lock.
 */
void utrace_branch_tracks_work(struct work_struct *work)
{
	branch_move_all(container_of(work, struct bts_consumer, move));
}

/**
 * utrace_branch_tracks_sync() - move the records of all tracks to the ring
 * @consumer: a consumer of tasks
 *
 * Context: Process context; may sleep.  Interrupts all CPUs if they record for
 * the consumer, and takes bts_consumer.lock.
 */
void utrace_branch_tracks_sync(struct bts_consumer *consumer)
{
	if (consumer->tracked)
		utrace_branch_cpus_drain();
	if (!list_empty(&consumer->tracks))
		branch_move_all(consumer);
}

static void branch_track_notify(struct irq_work *notify)
{
	struct branch_track *track = container_of(notify, struct branch_track,
						  notify);

	queue_work(system_unbound_wq, &track->link.consumer->move);
}

/* Asking threads */

/* Make a thread call branch_asked() before it runs user code. */
static void branch_ask(struct branch_thread *thread,
		       enum task_work_notify_mode how)
{
	if (xchg(&thread->asked, true))
		return;
	/* This fails if the thread exits and so runs no more user code. */
	if (task_work_add(thread->task, &thread->ask, how))
		WRITE_ONCE(thread->asked, false);
	else if (how & TWAF_NO_ALLOC)
		set_tsk_thread_flag(thread->task, TIF_NOTIFY_RESUME);
}

/*
 * A stage is nearly full.  If the thread is about to run on this CPU but is not
 * current yet, the run queue is locked and the thread cannot be woken up;
 * setting the flag is enough.
 */
static void branch_track_pause(struct branch_stream *stream)
{
	struct branch_thread *thread = utrace_branch_track_of(stream)->thread;

	branch_ask(thread, thread->task == current ? TWA_NMI_CURRENT :
						     TWA_NONE | TWAF_NO_ALLOC);
}

/* Check whether the current thread may wait for the reader of a consumer. */
static bool branch_may_wait(const struct bts_consumer *consumer)
{
	return consumer->stop && !consumer->ring.failed &&
	       utrace_branch_is_read(consumer);
}

/*
 * Make room in a stage of the current thread.  Returns false if the thread must
 * wait for the reader.  A killed thread does not wait, nor does it run user
 * code.
 */
static bool branch_make_room(struct branch_track *track)
{
	struct bts_consumer *consumer = track->link.consumer;
	bool moved;

	utrace_branch_cpu_drain();
	scoped_guard(mutex, &consumer->lock) {
		moved = branch_move(track);
		if (track->stream.paused && !branch_may_wait(consumer))
			branch_discard(track);
	}
	if (moved)
		utrace_branch_notify(consumer);
	return utrace_branch_cpu_resume(&track->stream);
}

/* Allocating and freeing */

/* Allocate a track for the current thread; the consumer is charged. */
static struct branch_track *branch_track_alloc(struct bts_consumer *consumer,
					       unsigned int size, u64 start)
{
	struct mem_cgroup *old = set_active_memcg(consumer->ring.memcg);
	struct branch_track *track = kzalloc(sizeof(*track),
					     GFP_KERNEL_ACCOUNT);
	void *records = kvmalloc_array(size, sizeof(struct utrace_branch),
				       GFP_KERNEL_ACCOUNT);

	set_active_memcg(old);
	if (!track || !records) {
		kvfree(records);
		kfree(track);
		return NULL;
	}
	utrace_branch_buffer_init(&track->stage, records, size, false, false);
	utrace_branch_link_init(&track->link, consumer, start);
	return track;
}

/* End the recording and the wait of the current thread for a consumer. */
static void branch_track_finish(struct branch_track *track)
{
	utrace_branch_cpu_untrack(&track->stream);
	utrace_branch_stream_finish(&track->stream);
	utrace_branch_stop_waiting(&track->link);
	list_del(&track->link.list);
	irq_work_sync(&track->notify);
}

/* Free a track that is finished. */
static void branch_track_leave(struct branch_track *track)
{
	LIST_HEAD(dropped);

	scoped_guard(mutex, &track->link.consumer->lock)
		branch_track_drop(track, &dropped);
	/* The last thread may have ended. */
	utrace_branch_notify(track->link.consumer);
	branch_tracks_free(&dropped);
}

/*
 * Leave a track, to which nothing writes, to the consumer.  Returns false if
 * the consumer is closed or has too many, or if its ring gets no memory: then
 * waiting for the reader does not help.
 */
static bool branch_track_hand_over(struct branch_track *track)
{
	struct bts_consumer *consumer = track->link.consumer;

	lockdep_assert_held(&consumer->lock);
	if (READ_ONCE(consumer->closed) || consumer->ring.failed ||
	    consumer->left + track->stage.size > BRANCH_LEFT_MAX)
		return false;
	consumer->left += track->stage.size;
	if (track->thread)
		consumer->staged -= track->stage.size;
	track->thread = NULL;
	if (list_empty(&track->of_consumer))
		list_add_tail(&track->of_consumer, &consumer->tracks);
	return true;
}

/* As above, for a thread that exits: also writes END with @from. */
static bool branch_track_hand_over_end(struct branch_track *track, u64 from)
{
	guard(mutex)(&track->link.consumer->lock);
	if (!branch_track_hand_over(track))
		return false;
	utrace_branch_buffer_put(&track->stage, from, 0, UTRACE_BRANCH_END);
	return true;
}

/**
 * utrace_branch_leave_rest() - leave the undelivered records to a consumer
 * @thread: the current thread, which exits and has made single steps
 * @link: its link to the consumer
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 * Return: false if there is no memory, or the consumer has too many left
 * stages.
 */
bool utrace_branch_leave_rest(struct branch_thread *thread,
			      struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;
	struct branch_track *track = branch_track_alloc(consumer,
							BRANCH_TRACK_STEPS,
							link->start);
	unsigned int i;

	if (!track)
		return false;
	INIT_LIST_HEAD(&track->of_consumer);
	track->link.started = link->started;
	track->link.lost = link->lost;
	for (i = link->sent; i < thread->n; i++)
		if (utrace_branch_wants(consumer, &thread->stage[i]))
			utrace_branch_buffer_write(&track->stage,
						   &thread->stage[i], 1);
	if (branch_track_hand_over_end(track, thread->insn.ip)) {
		branch_move_all(consumer);
		return true;
	}
	branch_track_free(track);
	return false;
}

/* Leave a consumer that may not see the thread; drop undelivered records. */
static void branch_track_hide(struct branch_track *track)
{
	branch_track_finish(track);
	scoped_guard(mutex, &track->link.consumer->lock)
		branch_discard_rest(track);
	if (!utrace_branch_write_last(&track->link, 0, UTRACE_BRANCH_HIDDEN))
		utrace_branch_lose_last(&track->link);
	branch_track_leave(track);
}

/*
 * Handle the tracks of the current thread.  Closed consumers stop following the
 * thread.  Nearly full stages are emptied; if a reader must make room for that,
 * the thread passes its safe point and waits there.
 */
static void branch_asked(struct callback_head *work)
{
	struct branch_thread *thread = container_of(work, struct branch_thread,
						    ask);
	struct branch_track *track, *next;

	/* The thread can be asked again from here on. */
	smp_store_mb(thread->asked, false);
	list_for_each_entry_safe(track, next, &thread->tracked, link.list) {
		if (READ_ONCE(track->link.consumer->closed)) {
			branch_track_finish(track);
			scoped_guard(mutex, &track->link.consumer->lock)
				branch_lose_rest(track);
			branch_track_leave(track);
		} else if (!utrace_branch_may_see(track->link.consumer)) {
			branch_track_hide(track);
		} else if (track->stream.paused && !branch_make_room(track)) {
			utrace_branch_wait_at(&track->link);
		}
	}
}

static struct branch_track *branch_track_new(struct branch_thread *thread,
					     struct bts_consumer *consumer)
{
	bool user = consumer->levels == UTRACE_LEVEL_USER;
	struct branch_track *track = branch_track_alloc(consumer, user ?
							BRANCH_TRACK_USER :
							BRANCH_TRACK_KERNEL,
							UTRACE_PC_KERNEL);

	if (!track)
		return NULL;
	utrace_branch_stream_init(&track->stream, consumer->levels,
				  utrace_branch_cpu_entries(), &track->stage,
				  user ? branch_track_pause : NULL);
	/*
	 * With PREEMPT_RT, a thread runs irq_work that is not hard.  The switch
	 * to that thread would queue the work again.
	 */
	track->notify = IRQ_WORK_INIT_HARD(branch_track_notify);
	track->thread = thread;
	init_task_work(&thread->ask, branch_asked);
	return track;
}

/*
 * Add a track to those of its consumer.  Returns false if the consumer has too
 * many or is closed: utrace_branch_tracks_close() asks only those in the list.
 */
static bool branch_track_enter(struct branch_track *track)
{
	struct bts_consumer *consumer = track->link.consumer;

	guard(mutex)(&consumer->lock);
	if (READ_ONCE(consumer->closed) ||
	    consumer->staged + track->stage.size > BRANCH_STAGED_MAX)
		return false;
	consumer->staged += track->stage.size;
	list_add_tail(&track->of_consumer, &consumer->tracks);
	return true;
}

/**
 * utrace_branch_track_begin() - start to record current for a consumer
 * @thread: data of the thread, or NULL if it has none yet
 * @consumer: the consumer, which does not follow the thread
 *
 * Context: The task itself, at the safe point; may sleep.
 */
void utrace_branch_track_begin(struct branch_thread *thread,
			       struct bts_consumer *consumer)
{
	struct branch_track *track = NULL;

	if (!utrace_branch_may_see(consumer)) {
		utrace_branch_hidden(consumer);
		return;
	}
	if (!thread)
		thread = utrace_branch_thread_new();
	if (thread)
		track = branch_track_new(thread, consumer);
	if (!track || !branch_track_enter(track)) {
		if (track)
			branch_track_free(track);
		if (!READ_ONCE(consumer->closed))
			utrace_branch_missed(consumer);
		return;
	}
	list_add_tail(&track->link.list, &thread->tracked);
	utrace_branch_cpu_track(&track->stream, &thread->streams);
}

/**
 * utrace_branch_track_stop() - make room in a stage or wait for the reader
 * @thread: the current thread
 * @consumer: a consumer for which CPUs record it
 *
 * Called by report_quiesce, see utrace_branch_wait().
 *
 * Context: The task itself, at the safe point; may sleep.
 */
void utrace_branch_track_stop(struct branch_thread *thread,
			      struct bts_consumer *consumer)
{
	struct branch_track *track = branch_find_track(thread, consumer);

	if (!branch_make_room(track))
		utrace_branch_wait(&track->link);
}

/*
 * The current thread has taken over the pid of its group leader.  Leave its
 * records to the consumer under the former pid, and begin a track for the new
 * pid.
 */
static void branch_track_anew(struct branch_thread *thread,
			      struct branch_track *track)
{
	struct bts_consumer *consumer = track->link.consumer;
	bool left, done;

	branch_track_finish(track);
	scoped_guard(mutex, &consumer->lock) {
		branch_move_left(track, &done);
		left = !done && branch_track_hand_over(track);
		if (!left)
			branch_lose_rest(track);
	}
	if (left)
		branch_move_all(consumer);
	else
		branch_track_leave(track);
	utrace_branch_track_begin(thread, consumer);
}

/**
 * utrace_branch_track_exec() - update a track after execve()
 * @thread: the current thread, which has called execve()
 * @consumer: a consumer for which CPUs record it
 *
 * Context: The task itself; may sleep.
 */
void utrace_branch_track_exec(struct branch_thread *thread,
			      struct bts_consumer *consumer)
{
	struct branch_track *track = branch_find_track(thread, consumer);

	if (!utrace_branch_may_see(consumer)) {
		branch_track_hide(track);
		return;
	}
	if (track->link.ino != task_pid(current)->ino)
		branch_track_anew(thread, track);
}

/**
 * utrace_branch_track_end() - end the track of the current thread, which exits
 * @thread: the thread
 * @consumer: a consumer for which CPUs record it
 *
 * Context: The task itself; may sleep.
 */
void utrace_branch_track_end(struct branch_thread *thread,
			     struct bts_consumer *consumer)
{
	struct branch_track *track = branch_find_track(thread, consumer);

	if (!utrace_branch_may_see(consumer)) {
		branch_track_hide(track);
		return;
	}
	branch_track_finish(track);
	scoped_guard(mutex, &consumer->lock)
		branch_move(track);
	if (branch_track_hand_over_end(track, UTRACE_PC_KERNEL)) {
		branch_move_all(consumer);
		return;
	}
	scoped_guard(mutex, &consumer->lock)
		branch_discard_rest(track);
	if (!utrace_branch_write_last(&track->link, UTRACE_PC_KERNEL,
				      UTRACE_BRANCH_END))
		utrace_branch_lose_last(&track->link);
	branch_track_leave(track);
}

/**
 * utrace_branch_tracks_close() - stop recording threads for a consumer
 * @consumer: the consumer, which is closed but not detached yet
 *
 * The threads leave by themselves: before they run user code, or when they
 * exit.  A thread that cannot be asked has already left in report_exit, since
 * the engine is still attached.
 *
 * Context: Process context; may sleep.  Takes bts_consumer.lock.
 */
void utrace_branch_tracks_close(struct bts_consumer *consumer)
{
	struct branch_track *track, *next;
	LIST_HEAD(dropped);

	scoped_guard(mutex, &consumer->lock)
		list_for_each_entry_safe(track, next, &consumer->tracks,
					 of_consumer) {
			if (track->thread) {
				branch_ask(track->thread, TWA_RESUME);
			} else {
				branch_lose_rest(track);
				branch_track_drop(track, &dropped);
			}
		}
	branch_tracks_free(&dropped);
}

/**
 * utrace_branch_tracks_info() - add losses that the ring has not counted yet
 * @consumer: the consumer
 * @info: the losses of the ring are filled in
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_branch_tracks_info(struct bts_consumer *consumer,
			       struct utrace_ioc_branch_info *info)
{
	struct branch_track *track;

	lockdep_assert_held(&consumer->lock);
	info->gaps = consumer->gaps;
	list_for_each_entry(track, &consumer->tracks, of_consumer) {
		info->lost += branch_lost_in_stage(track) + track->link.lost;
		info->gaps += utrace_branch_buffer_gaps(&track->stage);
	}
}
