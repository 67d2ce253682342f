// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: a ring in memory that cannot be swapped out
 *
 * In a continuous ring the writer reads @tail before it writes a record, and
 * the reader writes @tail after it has read the record.  In a ring that
 * overwrites, the writer moves @tail past a record before it overwrites it, and
 * the reader checks @tail after it has read:
 *
 *	writer				reader
 *	tail += n			read head
 *	smp_wmb()			copy
 *	write n records			smp_rmb()
 *	head += n, release		read tail; valid if <= start
 *
 * So a record that was partly overwritten is never returned.
 */
#include <asm/barrier.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/processor.h>
#include <linux/string.h>

#include "buffer.h"

/**
 * utrace_branch_buffer_init() - initialize a ring
 * @buffer: filled in
 * @records: memory of the ring, which the caller keeps until nobody uses the
 *	ring
 * @size: number of records, a power of 2, at least 2
 * @overwrite: a full ring overwrites its oldest records
 * @owners: the ring gets records of several tasks, so it must remember which
 *	task the oldest record belongs to
 *
 * Context: Any.
 * Return:
 * * 0 - the ring is empty
 * * -EINVAL - @size is no power of 2, or less than 2
 */
int utrace_branch_buffer_init(struct branch_buffer *buffer,
			      struct utrace_branch *records, u64 size,
			      bool overwrite, bool owners)
{
	if (size < 2 || size & (size - 1))
		return -EINVAL;
	*buffer = (struct branch_buffer){
		.records = records,
		.size = size,
		.overwrite = overwrite,
		.owners = overwrite && owners,
	};
	return 0;
}

/* The writer */

/* Number of free records, of which pending losses may need some. */
static u64 branch_free(const struct branch_buffer *buffer)
{
	/* Pairs with utrace_branch_buffer_take(): these records were read. */
	return buffer->size - (buffer->head - smp_load_acquire(&buffer->tail));
}

/* Find the last TASK record before number @end. */
static const struct utrace_branch *
branch_find_owner(const struct branch_buffer *buffer, u64 begin, u64 end)
{
	const struct utrace_branch *record;

	while (end > begin) {
		record = &buffer->records[--end & (buffer->size - 1)];
		if (UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH_TASK)
			return record;
	}
	return NULL;
}

/* Drop the oldest records, up to number @tail. */
static void branch_overwrite(struct branch_buffer *buffer, u64 tail)
{
	const struct utrace_branch *owner = NULL;

	if (buffer->owners)
		owner = branch_find_owner(buffer, buffer->tail, tail);
	WRITE_ONCE(buffer->version, buffer->version + 1);
	smp_wmb();	/* Pairs with branch_oldest(). */
	if (owner)
		buffer->owner = *owner;
	WRITE_ONCE(buffer->tail, tail);
	smp_wmb();	/* Pairs with branch_oldest(). */
	WRITE_ONCE(buffer->version, buffer->version + 1);
	smp_wmb();	/* Pairs with utrace_branch_buffer_copy(). */
}

/* Copy @n records into the ring.  The caller has checked that they fit. */
static void branch_append(struct branch_buffer *buffer,
			  const struct utrace_branch *records, unsigned int n)
{
	u64 at = buffer->head & (buffer->size - 1);
	unsigned int first = min_t(u64, n, buffer->size - at);

	memcpy(buffer->records + at, records, first * sizeof(*records));
	memcpy(buffer->records, records + first,
	       (n - first) * sizeof(*records));
	/* Pairs with utrace_branch_buffer_copy(). */
	smp_store_release(&buffer->head, buffer->head + n);
}

/* Write records to a ring that overwrites, at most its size at a time. */
static void branch_write_over(struct branch_buffer *buffer,
			      const struct utrace_branch *records,
			      unsigned int n)
{
	unsigned int part;
	u64 tail;

	for (; n; n -= part, records += part) {
		part = min_t(u64, n, buffer->size);
		tail = buffer->head + part - min(buffer->head + part,
						 buffer->size);
		if (tail > buffer->tail)
			branch_overwrite(buffer, tail);
		branch_append(buffer, records, part);
	}
}

/**
 * utrace_branch_buffer_write_losses() - write the pending records of losses
 * @buffer: a ring
 *
 * Must be called once more when the writer has finished and the reader has made
 * room.
 *
 * Context: The writer, or the reader when there is no writer.
 * Return: true if no loss is pending.
 */
bool utrace_branch_buffer_write_losses(struct branch_buffer *buffer)
{
	struct utrace_branch record;
	unsigned int cause;

	while (buffer->lost || buffer->gaps) {
		if (!buffer->overwrite && !branch_free(buffer))
			return false;
		if (buffer->lost) {
			record = utrace_branch_loss_record(UTRACE_BRANCH_LOST,
							   buffer->lost,
							   UTRACE_LOSS_FULL);
			buffer->lost = 0;
		} else {
			cause = __builtin_ctz(buffer->gaps);
			record = utrace_branch_loss_record(UTRACE_BRANCH_GAP, 0,
							   cause);
			buffer->gaps &= buffer->gaps - 1;
		}
		if (buffer->overwrite)
			branch_write_over(buffer, &record, 1);
		else
			branch_append(buffer, &record, 1);
	}
	return true;
}

/**
 * utrace_branch_buffer_write() - write records
 * @buffer: a ring
 * @records: the records, not in the ring
 * @n: number of records
 *
 * Records that do not fit are lost.  A record with their number is written in
 * their place as soon as it fits.
 *
 * Context: Any, NMI included; one writer at a time.
 */
void utrace_branch_buffer_write(struct branch_buffer *buffer,
				const struct utrace_branch *records,
				unsigned int n)
{
	unsigned int kept = 0;

	if (buffer->overwrite) {
		branch_write_over(buffer, records, n);
		return;
	}
	if (likely(!buffer->lost && !buffer->gaps) ||
	    utrace_branch_buffer_write_losses(buffer))
		kept = min_t(u64, n, branch_free(buffer));
	if (kept)
		branch_append(buffer, records, kept);
	if (likely(kept == n))
		return;
	buffer->lost += n - kept;
	WRITE_ONCE(buffer->counts[UTRACE_LOSS_FULL],
		   buffer->counts[UTRACE_LOSS_FULL] + n - kept);
}

/**
 * utrace_branch_buffer_gap() - report that records are missing
 * @buffer: a ring
 * @cause: %UTRACE_LOSS_OFF, %UTRACE_LOSS_HARDWARE or %UTRACE_LOSS_EDGE
 *
 * Gaps with the same cause between two records may be merged into one.
 *
 * Context: Any, NMI included; one writer at a time.
 */
void utrace_branch_buffer_gap(struct branch_buffer *buffer,
			      enum utrace_branch_loss cause)
{
	WRITE_ONCE(buffer->counts[cause], buffer->counts[cause] + 1);
	buffer->gaps |= 1U << cause;
	utrace_branch_buffer_write_losses(buffer);
}

/**
 * utrace_branch_buffer_room() - number of records that fit
 * @buffer: a ring
 *
 * Context: The writer.
 * Return: number of records that can be written without a loss.
 */
u64 utrace_branch_buffer_room(const struct branch_buffer *buffer)
{
	u64 room, owed;

	if (buffer->overwrite)
		return buffer->size;
	room = branch_free(buffer);
	owed = !!buffer->lost + hweight32(buffer->gaps);
	return room - min(room, owed);
}

/* The reader */

/* Get number and owner of the oldest record of a ring that overwrites. */
static u64 branch_oldest(const struct branch_buffer *buffer,
			 struct utrace_branch *owner)
{
	u32 version;
	u64 tail;

	for (;;) {
		version = READ_ONCE(buffer->version);
		smp_rmb();	/* Pairs with branch_overwrite(). */
		tail = READ_ONCE(buffer->tail);
		/* A torn copy is read again. */
		*owner = data_race(buffer->owner);
		smp_rmb();	/* Pairs with branch_overwrite(). */
		if (!(version & 1) && version == READ_ONCE(buffer->version))
			return tail;
		cpu_relax();
	}
}

/* Copy up to @n records, starting with number @read.  Returns their number. */
static unsigned int branch_copy_out(const struct branch_buffer *buffer,
				    u64 read, struct utrace_branch *records,
				    unsigned int n)
{
	/* Pairs with branch_append(). */
	u64 head = smp_load_acquire(&buffer->head);
	u64 at = read & (buffer->size - 1);
	unsigned int first;

	n = head > read ? min_t(u64, n, head - read) : 0;
	first = min_t(u64, n, buffer->size - at);
	/* The caller drops records that are overwritten during the copy. */
	data_race(memcpy(records, buffer->records + at,
			 first * sizeof(*records)));
	/* The caller drops these, too. */
	data_race(memcpy(records + first, buffer->records,
			 (n - first) * sizeof(*records)));
	return n;
}

/* Try to read a ring that overwrites; 0 if the writer was faster. */
static unsigned int branch_copy_once(const struct branch_buffer *buffer,
				     struct utrace_branch *records,
				     unsigned int n,
				     struct branch_cursor *cursor)
{
	struct utrace_branch owner;
	unsigned int got = 0, copied;
	u64 tail = branch_oldest(buffer, &owner);

	*cursor = (struct branch_cursor){ buffer->read, buffer->owed, 0 };
	if (tail > cursor->read) {
		cursor->lost = tail - cursor->read;
		records[got++] =
			utrace_branch_loss_record(UTRACE_BRANCH_LOST,
						  cursor->lost,
						  UTRACE_LOSS_OVERWRITTEN);
		cursor->read = tail;
		cursor->owed = true;
	}
	if (!UTRACE_BRANCH_TYPE(owner.info))
		cursor->owed = false;
	if (cursor->owed && got < n) {
		records[got++] = owner;
		cursor->owed = false;
	}
	copied = branch_copy_out(buffer, cursor->read, records + got, n - got);
	smp_rmb();	/* Pairs with branch_overwrite(). */
	if (READ_ONCE(buffer->tail) <= cursor->read) {
		cursor->read += copied;
		got += copied;
	}
	return got;
}

/**
 * utrace_branch_buffer_has() - check whether there is something to read
 * @buffer: a ring
 *
 * Context: The reader.
 * Return: true if utrace_branch_buffer_copy() would return records.
 */
bool utrace_branch_buffer_has(const struct branch_buffer *buffer)
{
	return READ_ONCE(buffer->head) != buffer->read || buffer->owed;
}

/**
 * utrace_branch_buffer_copy() - copy the next records without consuming them
 * @buffer: a ring
 * @records: filled in
 * @n: maximum number of records, at least 1
 * @cursor: for utrace_branch_buffer_take(), which consumes what was copied
 *
 * If records were overwritten since the last call, %UTRACE_BRANCH_LOST with
 * their number comes first, and then the %UTRACE_BRANCH_TASK that the next
 * record belongs to.
 *
 * Context: The reader; any but NMI.  Retries while a writer on another CPU
 * overwrites the ring.
 * Return: number of records that were copied; 0 if the ring is empty.
 */
unsigned int utrace_branch_buffer_copy(const struct branch_buffer *buffer,
				       struct utrace_branch *records,
				       unsigned int n,
				       struct branch_cursor *cursor)
{
	unsigned int got;

	if (!buffer->overwrite) {
		got = branch_copy_out(buffer, buffer->read, records, n);
		*cursor = (struct branch_cursor){ .read = buffer->read + got };
		return got;
	}
	do {
		got = branch_copy_once(buffer, records, n, cursor);
	} while (!got && READ_ONCE(buffer->tail) > cursor->read);
	return got;
}

/**
 * utrace_branch_buffer_take() - consume the records that were copied
 * @buffer: a ring
 * @cursor: from utrace_branch_buffer_copy()
 *
 * Context: The reader; any but NMI.
 */
void utrace_branch_buffer_take(struct branch_buffer *buffer,
			       const struct branch_cursor *cursor)
{
	u64 *overwritten = &buffer->counts[UTRACE_LOSS_OVERWRITTEN];

	buffer->read = cursor->read;
	buffer->owed = cursor->owed;
	WRITE_ONCE(*overwritten, *overwritten + cursor->lost);
	if (!buffer->overwrite)
		/* Pairs with branch_free(): the records have been read. */
		smp_store_release(&buffer->tail, cursor->read);
}

/**
 * utrace_branch_buffer_peek() - get a pointer to the next records
 * @buffer: a continuous ring
 * @records: set to the records, which stay until utrace_branch_buffer_skip()
 * @n: maximum number of records
 *
 * Context: The reader; any but NMI.
 * Return: number of contiguous records at @records; 0 if the ring is empty.
 */
unsigned int utrace_branch_buffer_peek(const struct branch_buffer *buffer,
				       const struct utrace_branch **records,
				       unsigned int n)
{
	/* Pairs with branch_append(). */
	u64 head = smp_load_acquire(&buffer->head);
	u64 at = buffer->read & (buffer->size - 1);

	*records = buffer->records + at;
	return min_t(u64, n, min(head - buffer->read, buffer->size - at));
}

/**
 * utrace_branch_buffer_skip() - consume records that were read in place
 * @buffer: a continuous ring
 * @n: number of records, at most what utrace_branch_buffer_peek() has returned
 *
 * Context: The reader; any but NMI.
 */
void utrace_branch_buffer_skip(struct branch_buffer *buffer, unsigned int n)
{
	const struct branch_cursor cursor = { .read = buffer->read + n };

	utrace_branch_buffer_take(buffer, &cursor);
}

/**
 * utrace_branch_buffer_gaps() - number of gaps of all causes
 * @buffer: a ring
 *
 * Context: Any.
 * Return: number of gaps so far.
 */
u64 utrace_branch_buffer_gaps(const struct branch_buffer *buffer)
{
	return READ_ONCE(buffer->counts[UTRACE_LOSS_OFF]) +
	       READ_ONCE(buffer->counts[UTRACE_LOSS_HARDWARE]) +
	       READ_ONCE(buffer->counts[UTRACE_LOSS_EDGE]);
}
