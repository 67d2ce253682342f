// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: delivery from a thread to its consumers
 *
 * A thread copies the records that it has collected to the rings of its
 * consumers when enough of them are there, before a system call, before a
 * signal and when it exits.  Each time it checks again whether the consumer may
 * see it.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>

#include "../viewer.h"
#include "bts.h"
#include "track.h"

/**
 * utrace_bts_may_see() - check whether a consumer may see the current thread now
 * @consumer: the consumer
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.wait_lock.
 * Return: true if the consumer may see the thread.
 */
bool utrace_bts_may_see(struct bts_consumer *consumer)
{
	struct pid *reader;
	bool seen;

	if (likely(utrace_viewer_knows(consumer->viewer)))
		return true;
	reader = utrace_reader_get(&consumer->reader);
	seen = utrace_viewer_sees(consumer->viewer, reader);
	put_pid(reader);
	return seen;
}

static bool bts_write_one(struct bts_consumer *consumer, u64 from, u64 to,
			  u64 info)
{
	struct utrace_branch record = { from, to, info };

	return utrace_bts_ring_write(&consumer->ring, &record, 1);
}

/* Get the pid of the current thread in the pid namespace of a consumer. */
static u64 bts_pid(const struct bts_consumer *consumer)
{
	return (u64)task_tgid_nr_ns(current, consumer->ns) << 32 |
	       task_pid_nr_ns(current, consumer->ns);
}

/* Write a TASK record, if another thread has written last. */
static bool bts_write_task(struct bts_consumer *consumer, u64 pid, u64 ino)
{
	if (consumer->last == ino)
		return true;
	if (!bts_write_one(consumer, pid, ino, UTRACE_BRANCH_TASK))
		return false;
	consumer->last = ino;
	return true;
}

/**
 * utrace_bts_write_before() - write the records that precede those of a thread
 * @link: the link of the thread to a consumer
 *
 * Context: Process context, with bts_consumer.lock held.
 * Return: false if they do not fit.
 */
bool utrace_bts_write_before(struct bts_link *link)
{
	struct bts_consumer *consumer = link->consumer;

	lockdep_assert_held(&consumer->lock);
	if (!link->started && !utrace_bts_move_former(link))
		return false;
	if (!bts_write_task(consumer, link->pid, link->ino))
		return false;
	if (!link->started)
		link->started = bts_write_one(consumer, 0, link->start,
					      UTRACE_BRANCH_START);
	if (link->started && link->lost &&
	    bts_write_one(consumer, link->lost, 0, UTRACE_BRANCH_LOST |
			  UTRACE_LOSS_FULL << UTRACE_BRANCH_KIND_SHIFT)) {
		consumer->ring.lost_ever += link->lost;
		link->lost = 0;
	}
	return link->started && !link->lost;
}

/**
 * utrace_bts_wants() - check whether a consumer wants a record of a step
 * @consumer: the consumer
 * @record: the record.  For the kernel a step records only entries and exits
 *
 * Context: Any.
 * Return: true if the consumer wants the record.
 */
bool utrace_bts_wants(const struct bts_consumer *consumer,
		      const struct utrace_branch *record)
{
	return consumer->levels & UTRACE_LEVEL_USER ||
	       record->from >= UTRACE_PC_BASE || record->to >= UTRACE_PC_BASE;
}

/**
 * utrace_bts_lose_rest() - count the undelivered records of a consumer as lost
 * @thread: the current thread
 * @link: its link to the consumer
 *
 * Context: The task itself.
 */
void utrace_bts_lose_rest(struct bts_thread *thread, struct bts_link *link)
{
	for (; link->sent < thread->n; link->sent++)
		link->lost += utrace_bts_wants(link->consumer,
					       &thread->stage[link->sent]);
}

/* Write the records that the consumer wants, as far as they fit. */
static void bts_write_stage(struct bts_thread *thread, struct bts_link *link)
{
	struct bts_consumer *consumer = link->consumer;
	const struct utrace_branch *record;

	if (consumer->levels & UTRACE_LEVEL_USER) {
		link->sent += utrace_bts_ring_write(&consumer->ring,
						    thread->stage + link->sent,
						    thread->n - link->sent);
		return;
	}
	for (; link->sent < thread->n; link->sent++) {
		record = &thread->stage[link->sent];
		if (utrace_bts_wants(consumer, record) &&
		    !utrace_bts_ring_write(&consumer->ring, record, 1))
			return;
	}
}

/*
 * Deliver to one consumer, as far as the records fit.  The rest is lost unless
 * threads wait for the consumer.
 */
static void bts_deliver_to(struct bts_thread *thread, struct bts_link *link)
{
	struct bts_consumer *consumer = link->consumer;
	bool failed;

	while (link->sent < thread->n &&
	       !utrace_bts_wants(consumer, &thread->stage[link->sent]))
		link->sent++;
	if (link->sent == thread->n)
		return;
	scoped_guard(mutex, &consumer->lock) {
		if (utrace_bts_write_before(link))
			bts_write_stage(thread, link);
		failed = consumer->ring.failed;
	}
	utrace_bts_tell(consumer);
	if (link->sent == thread->n)
		return;
	/* Waiting for the reader does not help if there is no memory. */
	if (consumer->stop && !failed && utrace_bts_is_read(consumer))
		return;
	utrace_bts_lose_rest(thread, link);
}

/**
 * utrace_bts_write_last() - write the final record of a thread
 * @link: the link of the thread to a consumer
 * @from: member @from of struct utrace_branch
 * @type: member @info of struct utrace_branch, a type of record
 *
 * Context: Process context.  Takes bts_consumer.lock.
 * Return: false if it does not fit.
 */
bool utrace_bts_write_last(struct bts_link *link, u64 from, u64 type)
{
	guard(mutex)(&link->consumer->lock);
	return utrace_bts_write_before(link) &&
	       bts_write_one(link->consumer, from, 0, type);
}

/**
 * utrace_bts_lose_last() - count the final record and pending losses as lost
 * @link: the link of the thread to a consumer
 *
 * Context: Process context.  Takes bts_consumer.lock.
 */
void utrace_bts_lose_last(struct bts_link *link)
{
	guard(mutex)(&link->consumer->lock);
	utrace_bts_ring_lose(&link->consumer->ring, link->lost + 1);
}

/* The consumer may no longer see the thread, nor its undelivered records. */
static void bts_hide(struct bts_thread *thread, struct bts_link *link)
{
	if (!utrace_bts_write_last(link, 0, UTRACE_BRANCH_HIDDEN))
		utrace_bts_lose_last(link);
	utrace_bts_leave(thread, link);
}

/**
 * utrace_bts_hidden() - report that a consumer may not see the current thread
 * @consumer: the consumer, which has not followed the thread yet
 *
 * Only the first thread of a consumer is reported: the one of the attach.  What
 * hidden programs start is not reported.
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 */
void utrace_bts_hidden(struct bts_consumer *consumer)
{
	scoped_guard(mutex, &consumer->lock) {
		if (consumer->last)
			return;
		if (!bts_write_task(consumer, bts_pid(consumer),
				    task_pid(current)->ino) ||
		    !bts_write_one(consumer, 0, 0, UTRACE_BRANCH_HIDDEN))
			utrace_bts_ring_lose(&consumer->ring, 1);
	}
	utrace_bts_tell(consumer);
}

/**
 * utrace_bts_missed() - count a loss for a thread that cannot be followed
 * @consumer: the consumer that would follow the thread
 *
 * Context: Process context; may sleep.  Takes bts_consumer.lock.
 */
void utrace_bts_missed(struct bts_consumer *consumer)
{
	scoped_guard(mutex, &consumer->lock)
		utrace_bts_ring_lose(&consumer->ring, 1);
	utrace_bts_tell(consumer);
}

/**
 * utrace_bts_link_rename() - update the pid of the current thread in a link
 * @link: link of the thread to a consumer
 * @start: address at which the thread continues
 *
 * execve() may give the thread the pid of its group leader, which has ended.
 * The stream of that pid then begins again.  What was lost under the old pid is
 * reported after the records in the ring, since no record of that pid follows.
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 */
void utrace_bts_link_rename(struct bts_link *link, u64 start)
{
	u64 ino = task_pid(current)->ino;

	if (link->ino == ino)
		return;
	if (link->lost) {
		guard(mutex)(&link->consumer->lock);
		utrace_bts_ring_lose(&link->consumer->ring, link->lost);
		link->lost = 0;
	}
	link->ino = ino;
	link->pid = bts_pid(link->consumer);
	link->start = start;
	link->started = false;
}

/**
 * utrace_bts_deliver() - deliver the collected records to all consumers
 * @thread: the current thread
 *
 * Records that do not fit stay with the thread, if it waits for the consumer.
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock of each.
 */
void utrace_bts_deliver(struct bts_thread *thread)
{
	struct bts_link *link, *next;
	unsigned int least = thread->n;

	list_for_each_entry_safe(link, next, &thread->links, list) {
		if (READ_ONCE(link->consumer->closed)) {
			utrace_bts_leave(thread, link);
			continue;
		}
		if (!utrace_bts_may_see(link->consumer)) {
			bts_hide(thread, link);
			continue;
		}
		bts_deliver_to(thread, link);
		least = min(least, link->sent);
	}
	/* Move undelivered records to the front of the stage. */
	least = min(least, thread->n);
	memmove(thread->stage, thread->stage + least,
		(thread->n - least) * sizeof(*thread->stage));
	thread->n -= least;
	list_for_each_entry(link, &thread->links, list)
		link->sent -= least;
}

/* Write END, or leave it to the consumer with the undelivered records. */
static bool bts_tell_end(struct bts_thread *thread, struct bts_link *link)
{
	struct bts_consumer *consumer = link->consumer;

	if (link->sent == thread->n &&
	    utrace_bts_write_last(link, thread->insn.ip, UTRACE_BRANCH_END))
		return true;
	return consumer->stop && utrace_bts_is_read(consumer) &&
	       utrace_bts_leave_rest(thread, link);
}

/**
 * utrace_bts_end() - end the stream of the current thread, which exits
 * @thread: the thread
 * @link: its link to a consumer; the function frees it
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 */
void utrace_bts_end(struct bts_thread *thread, struct bts_link *link)
{
	if (!utrace_bts_may_see(link->consumer)) {
		bts_hide(thread, link);
		return;
	}
	utrace_bts_end_call(thread);
	bts_deliver_to(thread, link);
	if (!bts_tell_end(thread, link)) {
		utrace_bts_lose_rest(thread, link);
		utrace_bts_lose_last(link);
	}
	utrace_bts_leave(thread, link);
}

/* The thread is about to take a signal, to pass its safe point, or to exit. */
static void bts_flush(struct callback_head *work)
{
	struct bts_thread *thread = container_of(work, struct bts_thread, flush);

	thread->flushes = false;
	if (!thread->n || list_empty(&thread->links))
		return;
	utrace_bts_deliver(thread);
	if (thread->n)
		utrace_bts_wait_soon(thread);
}

/**
 * utrace_bts_flush_soon() - deliver before the current thread takes a signal
 * @thread: the thread
 *
 * A debugger may stop the thread there for long, or the signal may kill it.
 * get_signal() runs task work before it dequeues signals.  Queuing the work
 * wakes up nobody and sets no flag, so it costs nothing until then.
 *
 * Context: The task itself.
 */
void utrace_bts_flush_soon(struct bts_thread *thread)
{
	init_task_work(&thread->flush, bts_flush);
	/* This fails if the thread exits, and then it delivers at its exit. */
	thread->flushes = !task_work_add(current, &thread->flush, TWA_NONE);
}
