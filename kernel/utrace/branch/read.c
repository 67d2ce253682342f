// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: reading from a consumer
 *
 * A reader copies records piece by piece and consumes each piece after that.
 * Then the threads that wait for room continue.
 */
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include "../builtin.h"
#include "../viewer.h"
#include "consumer.h"
#include "cpu.h"
#include "read.h"
#include "ring.h"
#include "thread.h"
#include "track.h"

/**
 * utrace_branch_consumer_copy() - copy the next records without consuming them
 * @consumer: the consumer
 * @piece: filled in except for the pointer to its memory
 * @n: maximum number of records, at least 1
 *
 * If the ring is empty, first moves records to it: those that exited threads
 * have left, and those in the windows of CPUs that record the threads.
 *
 * Context: Process context; may sleep.  Takes bts_consumer.lock.
 * Return: see utrace_branch_ring_copy().
 */
int utrace_branch_consumer_copy(struct bts_consumer *consumer,
				struct branch_piece *piece, unsigned int n)
{
	/* Also before losses are reported, which come after all records. */
	if (!consumer->cpu &&
	    READ_ONCE(consumer->ring.head) == READ_ONCE(consumer->ring.next))
		utrace_branch_tracks_sync(consumer);
	guard(mutex)(&consumer->lock);
	if (consumer->cpu)
		return utrace_branch_cpu_copy(consumer, piece, n);
	return utrace_branch_ring_copy(&consumer->ring, piece, n);
}

/**
 * utrace_branch_consumer_take() - consume the records that were copied
 * @consumer: the consumer
 * @piece: from utrace_branch_consumer_copy()
 *
 * Context: Process context; may sleep.  Takes bts_consumer.lock.
 */
void utrace_branch_consumer_take(struct bts_consumer *consumer,
				 const struct branch_piece *piece)
{
	guard(mutex)(&consumer->lock);
	if (consumer->cpu)
		utrace_branch_cpu_take(consumer, piece);
	else
		utrace_branch_ring_take(&consumer->ring, piece);
}

/**
 * utrace_branch_consumer_has() - check whether there is something to read
 * @consumer: the consumer
 *
 * Context: Any.
 * Return: true if the ring has something for the reader.
 */
bool utrace_branch_consumer_has(const struct bts_consumer *consumer)
{
	return consumer->cpu ? utrace_branch_cpu_has(consumer) :
			       utrace_branch_ring_has(&consumer->ring);
}

/**
 * utrace_branch_consumer_is_over() - check whether a stream has ended
 * @consumer: the consumer
 *
 * Context: Process context.
 * Return: true if all tasks have ended, or the CPU is offline.  Records may
 * still be unread.
 */
bool utrace_branch_consumer_is_over(const struct bts_consumer *consumer)
{
	if (consumer->cpu)
		return utrace_branch_cpu_is_over(consumer);
	/* Exited threads may have left records. */
	return !utrace_has_living(consumer->engine) &&
	       list_empty(&consumer->tracks);
}

/* Reading by programs */

/* Make waiting threads check whether the new reader is their own process. */
static void branch_reader_began(struct utrace_reader *reader,
				struct pid *process)
{
	utrace_branch_let_go(branch_of_reader(reader));
}

static void branch_reader_ended(struct utrace_reader *reader)
{
	utrace_branch_let_go(branch_of_reader(reader));
}

static bool branch_reader_tryget(struct utrace_reader *reader)
{
	return kref_get_unless_zero(&branch_of_reader(reader)->ref);
}

static void branch_reader_put(struct utrace_reader *reader)
{
	utrace_branch_consumer_put(branch_of_reader(reader));
}

/* A program that reads mapped memory may have made room. */
static void branch_reader_sync(struct utrace_reader *reader)
{
	struct bts_consumer *consumer = branch_of_reader(reader);
	struct branch_ring *ring = &consumer->ring;
	bool room;

	if (!ring->shared)
		return;
	scoped_guard(mutex, &consumer->lock) {
		utrace_branch_ring_sync(ring);
		room = ring->head - ring->tail < ring->size;
	}
	if (room)
		utrace_branch_let_go(consumer);
}

static bool branch_reader_over(struct utrace_reader *reader)
{
	return utrace_branch_consumer_is_over(branch_of_reader(reader));
}

static bool branch_reader_has(struct utrace_reader *reader)
{
	return utrace_branch_consumer_has(branch_of_reader(reader));
}

static bool branch_reader_ready(struct utrace_reader *reader)
{
	return utrace_branch_consumer_has(branch_of_reader(reader)) ||
	       utrace_branch_consumer_is_over(branch_of_reader(reader));
}

/*
 * Copy records to user memory through the memory of @piece.  Records are
 * consumed once the program has got them.  Returns their number, or an error if
 * none.
 */
static ssize_t branch_copy_pieces(struct bts_consumer *consumer,
				  char __user *to, size_t records,
				  struct branch_piece *piece)
{
	const size_t size = sizeof(*piece->records);
	ssize_t done = 0;
	int n;

	do {
		n = utrace_branch_consumer_copy(consumer, piece,
						min_t(size_t, records - done,
						      BRANCH_PIECE));
		if (n <= 0)
			break;
		if (copy_to_user(to + done * size, piece->records, n * size)) {
			n = -EFAULT;
			break;
		}
		utrace_branch_consumer_take(consumer, piece);
		done += n;
		cond_resched();
	} while (done < records && !signal_pending(current));
	return done ?: n;
}

/* Copy records to a program that has at least room for one at @to. */
static ssize_t branch_reader_read(struct utrace_reader *reader, char __user *to,
				  size_t size)
{
	struct bts_consumer *consumer = branch_of_reader(reader);
	const size_t one = sizeof(struct utrace_branch);
	struct branch_piece piece;
	ssize_t ret;

	/* No thread checks the permission for a CPU, so the reader does. */
	if (consumer->cpu && !utrace_viewer_is_enabled(consumer->viewer))
		return -EPERM;
	piece.records = kmalloc_array(BRANCH_PIECE, one, GFP_KERNEL);
	if (!piece.records)
		return -ENOMEM;
	ret = branch_copy_pieces(consumer, to, size / one, &piece);
	kfree(piece.records);
	if (ret > 0)
		utrace_branch_let_go(consumer);
	return ret < 0 ? ret : ret * one;
}

const struct utrace_reader_ops utrace_branch_reader_ops = {
	.began	= branch_reader_began,
	.ended	= branch_reader_ended,
	.tryget	= branch_reader_tryget,
	.put	= branch_reader_put,
	.sync	= branch_reader_sync,
	.over	= branch_reader_over,
	.has	= branch_reader_has,
	.ready	= branch_reader_ready,
	.read	= branch_reader_read,
};
