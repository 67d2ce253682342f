// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: functions of consumers for followed threads
 *
 * They check whether a consumer may see the thread and whether the thread may
 * wait for the reader, write single records, and wake up the reader.  attach.c
 * makes, attaches and closes consumers, read.c reads from them.
 */
#include <linux/kref.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include "../viewer.h"
#include "consumer.h"
#include "ring.h"

static void branch_consumer_last(struct kref *ref)
{
	schedule_work(&container_of(ref, struct bts_consumer, ref)->free);
}

/**
 * utrace_branch_consumer_put() - drop a reference to a consumer
 * @consumer: the consumer
 *
 * Context: Any.
 */
void utrace_branch_consumer_put(struct bts_consumer *consumer)
{
	kref_put(&consumer->ref, branch_consumer_last);
}

/**
 * utrace_branch_notify() - wake up the reader of a consumer
 * @consumer: the consumer, which has records or whose tasks have ended
 *
 * Context: Process context, or an interrupt.  Takes bts_consumer.wait_lock.
 */
void utrace_branch_notify(struct bts_consumer *consumer)
{
	if (wq_has_sleeper(&consumer->reader.wait))
		wake_up_interruptible_poll(&consumer->reader.wait, EPOLLIN |
					   EPOLLRDNORM | EPOLLHUP);
	if (!READ_ONCE(consumer->ready))
		return;
	guard(spinlock_irqsave)(&consumer->wait_lock);
	if (!consumer->closed)
		consumer->ready(consumer, consumer->data);
}

/**
 * utrace_branch_may_see() - check whether a consumer may see current now
 * @consumer: the consumer
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.wait_lock.
 * Return: true if the consumer may see the thread.
 */
bool utrace_branch_may_see(struct bts_consumer *consumer)
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

/**
 * utrace_branch_is_read() - check whether current may wait for the reader
 * @consumer: the consumer
 *
 * A process that has inherited the descriptor may be followed itself and must
 * not wait for itself.  The first process of the machine never waits for a
 * process.
 *
 * Context: The task itself.
 * Return: true if the consumer has a reader that the thread may wait for.
 */
bool utrace_branch_is_read(const struct bts_consumer *consumer)
{
	struct pid *reader = READ_ONCE(consumer->reader.process);

	/* Without a viewer the reader is in the kernel. */
	if (!consumer->viewer)
		return !READ_ONCE(consumer->closed);
	return reader && reader != task_tgid(current) && !is_global_init(current);
}

/**
 * utrace_branch_write_one() - write one record to the ring of a consumer
 * @consumer: the consumer
 * @from: member of struct utrace_branch
 * @to: member of struct utrace_branch
 * @info: member of struct utrace_branch
 *
 * Context: Process context, with bts_consumer.lock held; may sleep.
 * Return: false if it does not fit.
 */
bool utrace_branch_write_one(struct bts_consumer *consumer, u64 from, u64 to,
			     u64 info)
{
	struct utrace_branch record = { from, to, info };

	return utrace_branch_ring_write(&consumer->ring, &record, 1);
}

/**
 * utrace_branch_pid() - get the pid of the current thread for a consumer
 * @consumer: the consumer
 *
 * Context: The task itself.
 * Return: the pid in the pid namespace of the consumer, as in
 * %UTRACE_BRANCH_TASK.
 */
u64 utrace_branch_pid(const struct bts_consumer *consumer)
{
	return (u64)task_tgid_nr_ns(current, consumer->ns) << 32 |
	       task_pid_nr_ns(current, consumer->ns);
}

/**
 * utrace_branch_write_task() - write a TASK record if another thread wrote last
 * @consumer: the consumer
 * @pid: the pid of the thread, see utrace_branch_pid()
 * @ino: inode number of the pidfd of the thread
 *
 * Context: Process context, with bts_consumer.lock held; may sleep.
 * Return: false if it does not fit.
 */
bool utrace_branch_write_task(struct bts_consumer *consumer, u64 pid, u64 ino)
{
	if (consumer->last == ino)
		return true;
	if (!utrace_branch_write_one(consumer, pid, ino, UTRACE_BRANCH_TASK))
		return false;
	consumer->last = ino;
	return true;
}

/**
 * utrace_branch_hidden() - report that a consumer may not see current
 * @consumer: the consumer, which has not followed the thread yet
 *
 * Does nothing if a thread has written a record before.  So only the first
 * thread is reported, not the threads that hidden programs start.
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 */
void utrace_branch_hidden(struct bts_consumer *consumer)
{
	scoped_guard(mutex, &consumer->lock) {
		if (consumer->last)
			return;
		if (!utrace_branch_write_task(consumer,
					      utrace_branch_pid(consumer),
					      task_pid(current)->ino) ||
		    !utrace_branch_write_one(consumer, 0, 0,
					     UTRACE_BRANCH_HIDDEN))
			utrace_branch_ring_lose(&consumer->ring, 1);
	}
	utrace_branch_notify(consumer);
}

/**
 * utrace_branch_missed() - count a loss for a thread that cannot be followed
 * @consumer: the consumer that would follow the thread
 *
 * Context: Process context; may sleep.  Takes bts_consumer.lock.
 */
void utrace_branch_missed(struct bts_consumer *consumer)
{
	scoped_guard(mutex, &consumer->lock)
		utrace_branch_ring_lose(&consumer->ring, 1);
	utrace_branch_notify(consumer);
}
