// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: delivery from a thread to its consumers
 *
 * A thread copies the records that it has collected to the rings of its
 * consumers when enough of them are there, before a system call, before a
 * signal and when it exits.  Each time it checks again whether the consumer may
 * see it.
 */
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/task_work.h>

#include "consumer.h"
#include "deliver.h"
#include "ring.h"
#include "thread.h"
#include "track.h"

/* Write the records that the consumer wants, as far as they fit. */
static void branch_write_stage(struct branch_thread *thread,
			       struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;
	const struct utrace_branch *record;

	if (consumer->levels & UTRACE_LEVEL_USER) {
		link->sent +=
			utrace_branch_ring_write(&consumer->ring,
						 thread->stage + link->sent,
						 thread->n - link->sent);
		return;
	}
	for (; link->sent < thread->n; link->sent++) {
		record = &thread->stage[link->sent];
		if (utrace_branch_wants(consumer, record) &&
		    !utrace_branch_ring_write(&consumer->ring, record, 1))
			return;
	}
}

/*
 * Deliver to one consumer, as far as the records fit.  The rest is lost unless
 * the thread waits for the reader of the consumer.
 */
static void branch_deliver_to(struct branch_thread *thread,
			      struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;
	bool failed;

	while (link->sent < thread->n &&
	       !utrace_branch_wants(consumer, &thread->stage[link->sent]))
		link->sent++;
	if (link->sent == thread->n)
		return;
	scoped_guard(mutex, &consumer->lock) {
		if (utrace_branch_write_before(link))
			branch_write_stage(thread, link);
		failed = consumer->ring.failed;
	}
	utrace_branch_notify(consumer);
	if (link->sent == thread->n)
		return;
	/* Waiting for the reader does not help if there is no memory. */
	if (consumer->stop && !failed && utrace_branch_is_read(consumer))
		return;
	utrace_branch_lose_rest(thread, link);
}

/* Leave a consumer that may not see the thread; drop undelivered records. */
static void branch_hide(struct branch_thread *thread, struct branch_link *link)
{
	if (!utrace_branch_write_last(link, 0, UTRACE_BRANCH_HIDDEN))
		utrace_branch_lose_last(link);
	utrace_branch_leave(thread, link);
}

/**
 * utrace_branch_still_sees() - check again whether a consumer may see current
 * @thread: the current thread
 * @link: its link to the consumer
 *
 * If not, the consumer stops following the thread, and @link is freed.
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 * Return: true if the consumer may see the thread.
 */
bool utrace_branch_still_sees(struct branch_thread *thread,
			      struct branch_link *link)
{
	if (utrace_branch_may_see(link->consumer))
		return true;
	branch_hide(thread, link);
	return false;
}

/**
 * utrace_branch_deliver() - deliver the collected records to all consumers
 * @thread: the current thread
 *
 * Records that do not fit stay with the thread, if it waits for the reader of
 * the consumer.
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock of each.
 */
void utrace_branch_deliver(struct branch_thread *thread)
{
	struct branch_link *link, *next;
	unsigned int least = thread->n;

	list_for_each_entry_safe(link, next, &thread->links, list) {
		if (READ_ONCE(link->consumer->closed)) {
			utrace_branch_leave(thread, link);
			continue;
		}
		if (!utrace_branch_still_sees(thread, link))
			continue;
		branch_deliver_to(thread, link);
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
static bool branch_write_end(struct branch_thread *thread,
			     struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;

	if (link->sent == thread->n &&
	    utrace_branch_write_last(link, thread->insn.ip, UTRACE_BRANCH_END))
		return true;
	return consumer->stop && utrace_branch_is_read(consumer) &&
	       utrace_branch_leave_rest(thread, link);
}

/**
 * utrace_branch_end() - end the stream of the current thread, which exits
 * @thread: the thread
 * @link: its link to a consumer, which may see the thread; the function frees
 *	the link
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 */
void utrace_branch_end(struct branch_thread *thread, struct branch_link *link)
{
	branch_deliver_to(thread, link);
	if (!branch_write_end(thread, link)) {
		utrace_branch_lose_rest(thread, link);
		utrace_branch_lose_last(link);
	}
	utrace_branch_leave(thread, link);
}

/* Deliver before the thread takes a signal, passes its safe point or exits. */
static void branch_flush_work(struct callback_head *work)
{
	struct branch_thread *thread = container_of(work, struct branch_thread,
						    flush);

	thread->flushes = false;
	if (!thread->n || list_empty(&thread->links))
		return;
	utrace_branch_deliver(thread);
	if (thread->n)
		utrace_branch_wait_soon(thread);
}

/**
 * utrace_branch_flush_soon() - deliver before the current thread takes a signal
 * @thread: the thread
 *
 * A debugger may stop the thread there for long, or the signal may kill it.
 * get_signal() runs task work before it dequeues signals.  Queuing the work
 * wakes up nobody and sets no flag, so it costs nothing until then.
 *
 * Context: The task itself.
 */
void utrace_branch_flush_soon(struct branch_thread *thread)
{
	init_task_work(&thread->flush, branch_flush_work);
	/* This fails if the thread exits, and then it delivers at its exit. */
	thread->flushes = !task_work_add(current, &thread->flush, TWA_NONE);
}
