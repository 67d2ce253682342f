// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: a ring in memory that is always there
 *
 * In a continuous ring the writer reads @tail before it writes to a place, and
 * the reader writes @tail after it has read the place.  In a ring that
 * overwrites, the writer moves @tail past a place before it writes there, and
 * the reader looks at @tail after it has read:
 *
 *	writer				reader
 *	tail += n			look at head
 *	smp_wmb()			copy
 *	write n records			smp_rmb()
 *	head += n, release		look at tail: still less? then good
 *
 * So no record that is returned was overwritten in part.
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
 * utrace_bts_buffer_init() - make a ring
 * @buffer: filled in
 * @records: memory of the ring, which the caller keeps until nobody uses the ring
 * @size: number of records, a power of 2, at least 2
 * @overwrite: the oldest records make room for others
 * @owners: the ring is to remember whose the oldest records are, of several
 *	tasks
 *
 * Context: Any.
 * Return:
 * * 0 - the ring is empty
 * * -EINVAL - @size is no power of 2, or less than 2
 */
int utrace_bts_buffer_init(struct bts_buffer *buffer,
			   struct utrace_branch *records, u64 size,
			   bool overwrite, bool owners)
{
	if (size < 2 || size & (size - 1))
		return -EINVAL;
	*buffer = (struct bts_buffer){
		.records = records,
		.size = size,
		.overwrite = overwrite,
		.owners = overwrite && owners,
	};
	return 0;
}

/* The writer */

/* Records that fit in without telling of losses first. */
static u64 bts_free(const struct bts_buffer *buffer)
{
	/* Pairs with utrace_bts_buffer_take(): the places were read. */
	return buffer->size - (buffer->head - smp_load_acquire(&buffer->tail));
}

/* Find the last record before number @end that says whose the next ones are. */
static const struct utrace_branch *
bts_find_owner(const struct bts_buffer *buffer, u64 begin, u64 end)
{
	const struct utrace_branch *record;

	while (end > begin) {
		record = &buffer->records[--end & (buffer->size - 1)];
		if (UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH_TASK)
			return record;
	}
	return NULL;
}

/* The oldest records up to number @tail make room. */
static void bts_overwrite(struct bts_buffer *buffer, u64 tail)
{
	const struct utrace_branch *owner = NULL;

	if (buffer->owners)
		owner = bts_find_owner(buffer, buffer->tail, tail);
	WRITE_ONCE(buffer->version, buffer->version + 1);
	smp_wmb();	/* Pairs with bts_oldest(). */
	if (owner)
		buffer->owner = *owner;
	WRITE_ONCE(buffer->tail, tail);
	smp_wmb();	/* Likewise. */
	WRITE_ONCE(buffer->version, buffer->version + 1);
	smp_wmb();	/* Pairs with utrace_bts_buffer_look(). */
}

/* Copy @n records into the ring, for which there is room. */
static void bts_append(struct bts_buffer *buffer,
		       const struct utrace_branch *records, unsigned int n)
{
	u64 at = buffer->head & (buffer->size - 1);
	unsigned int first = min_t(u64, n, buffer->size - at);

	memcpy(buffer->records + at, records, first * sizeof(*records));
	memcpy(buffer->records, records + first,
	       (n - first) * sizeof(*records));
	/* Pairs with utrace_bts_buffer_look(). */
	smp_store_release(&buffer->head, buffer->head + n);
}

/* Write records to a ring that overwrites, as many as it has at a time. */
static void bts_write_over(struct bts_buffer *buffer,
			   const struct utrace_branch *records, unsigned int n)
{
	unsigned int part;
	u64 tail;

	for (; n; n -= part, records += part) {
		part = min_t(u64, n, buffer->size);
		tail = buffer->head + part - min(buffer->head + part,
						 buffer->size);
		if (tail > buffer->tail)
			bts_overwrite(buffer, tail);
		bts_append(buffer, records, part);
	}
}

/**
 * utrace_bts_buffer_settle() - tell in the stream what it does not tell of yet
 * @buffer: a ring
 *
 * Called for the last time when no more records come, and the reader has made
 * room.
 *
 * Context: The writer, or the reader when there is no writer any more.
 * Return: true if the stream tells of all losses.
 */
bool utrace_bts_buffer_settle(struct bts_buffer *buffer)
{
	struct utrace_branch record;
	unsigned int cause;

	while (buffer->lost || buffer->gaps) {
		if (!buffer->overwrite && !bts_free(buffer))
			return false;
		if (buffer->lost) {
			record = utrace_bts_loss(UTRACE_BRANCH_LOST,
						 buffer->lost,
						 UTRACE_LOSS_FULL);
			buffer->lost = 0;
		} else {
			cause = __builtin_ctz(buffer->gaps);
			record = utrace_bts_loss(UTRACE_BRANCH_GAP, 0, cause);
			buffer->gaps &= buffer->gaps - 1;
		}
		if (buffer->overwrite)
			bts_write_over(buffer, &record, 1);
		else
			bts_append(buffer, &record, 1);
	}
	return true;
}

/**
 * utrace_bts_buffer_write() - write records
 * @buffer: a ring
 * @records: the records, not in the ring
 * @n: number of records
 *
 * Records for which there is no room are lost, and the stream tells how many at
 * their place, as soon as there is room for that.
 *
 * Context: Any, NMI included; one writer at a time.
 */
void utrace_bts_buffer_write(struct bts_buffer *buffer,
			     const struct utrace_branch *records,
			     unsigned int n)
{
	unsigned int kept = 0;

	if (buffer->overwrite) {
		bts_write_over(buffer, records, n);
		return;
	}
	if (likely(!buffer->lost && !buffer->gaps) ||
	    utrace_bts_buffer_settle(buffer))
		kept = min_t(u64, n, bts_free(buffer));
	if (kept)
		bts_append(buffer, records, kept);
	if (likely(kept == n))
		return;
	buffer->lost += n - kept;
	WRITE_ONCE(buffer->counts[UTRACE_LOSS_FULL],
		   buffer->counts[UTRACE_LOSS_FULL] + n - kept);
}

/**
 * utrace_bts_buffer_gap() - say that records are missing
 * @buffer: a ring
 * @cause: %UTRACE_LOSS_OFF, %UTRACE_LOSS_HARDWARE or %UTRACE_LOSS_EDGE
 *
 * Gaps between two records that have the same cause may become one.
 *
 * Context: Any, NMI included; one writer at a time.
 */
void utrace_bts_buffer_gap(struct bts_buffer *buffer,
			   enum utrace_branch_loss cause)
{
	WRITE_ONCE(buffer->counts[cause], buffer->counts[cause] + 1);
	buffer->gaps |= 1U << cause;
	utrace_bts_buffer_settle(buffer);
}

/**
 * utrace_bts_buffer_room() - how many records find room?
 * @buffer: a ring
 *
 * Context: The writer.
 * Return: number of records that can be written without a loss.
 */
u64 utrace_bts_buffer_room(const struct bts_buffer *buffer)
{
	u64 room, owed;

	if (buffer->overwrite)
		return buffer->size;
	room = bts_free(buffer);
	owed = !!buffer->lost + hweight32(buffer->gaps);
	return room - min(room, owed);
}

/* The reader */

/* The oldest record of a ring that overwrites, and whose it is. */
static u64 bts_oldest(const struct bts_buffer *buffer,
		      struct utrace_branch *owner)
{
	u32 version;
	u64 tail;

	for (;;) {
		version = READ_ONCE(buffer->version);
		smp_rmb();	/* Pairs with bts_overwrite(). */
		tail = READ_ONCE(buffer->tail);
		/* What is half written is read again. */
		*owner = data_race(buffer->owner);
		smp_rmb();	/* Likewise. */
		if (!(version & 1) && version == READ_ONCE(buffer->version))
			return tail;
		cpu_relax();
	}
}

/* Copy up to @n records from number @read on.  Returns how many. */
static unsigned int bts_copy_out(const struct bts_buffer *buffer, u64 read,
				 struct utrace_branch *records, unsigned int n)
{
	/* Pairs with bts_append(). */
	u64 head = smp_load_acquire(&buffer->head);
	u64 at = read & (buffer->size - 1);
	unsigned int first;

	n = head > read ? min_t(u64, n, head - read) : 0;
	first = min_t(u64, n, buffer->size - at);
	/* What was overwritten meanwhile is dropped by the caller. */
	data_race(memcpy(records, buffer->records + at,
			 first * sizeof(*records)));
	/* Likewise. */
	data_race(memcpy(records + first, buffer->records,
			 (n - first) * sizeof(*records)));
	return n;
}

/* Look at a ring that overwrites, once; 0 if the writer was faster. */
static unsigned int bts_look_once(const struct bts_buffer *buffer,
				  struct utrace_branch *records,
				  unsigned int n, struct bts_look *look)
{
	struct utrace_branch owner;
	unsigned int got = 0, copied;
	u64 tail = bts_oldest(buffer, &owner);

	*look = (struct bts_look){ buffer->read, buffer->owed, 0 };
	if (tail > look->read) {
		look->lost = tail - look->read;
		records[got++] = utrace_bts_loss(UTRACE_BRANCH_LOST, look->lost,
						 UTRACE_LOSS_OVERWRITTEN);
		look->read = tail;
		look->owed = true;
	}
	if (!UTRACE_BRANCH_TYPE(owner.info))
		look->owed = false;
	if (look->owed && got < n) {
		records[got++] = owner;
		look->owed = false;
	}
	copied = bts_copy_out(buffer, look->read, records + got, n - got);
	smp_rmb();	/* Pairs with bts_overwrite(). */
	if (READ_ONCE(buffer->tail) <= look->read) {
		look->read += copied;
		got += copied;
	}
	return got;
}

/**
 * utrace_bts_buffer_has() - is there something to read?
 * @buffer: a ring
 *
 * Context: The reader.
 * Return: true if utrace_bts_buffer_look() would find something.
 */
bool utrace_bts_buffer_has(const struct bts_buffer *buffer)
{
	return READ_ONCE(buffer->head) != buffer->read || buffer->owed;
}

/**
 * utrace_bts_buffer_look() - copy what comes next
 * @buffer: a ring
 * @records: filled in
 * @n: number of records at most, at least 1
 * @look: for utrace_bts_buffer_take(), which takes what was copied
 *
 * If records were overwritten since the last look, %UTRACE_BRANCH_LOST with
 * their number comes first, and then the %UTRACE_BRANCH_TASK that the next
 * record belongs to.
 *
 * Context: The reader; any but NMI.  Tries again while a writer on another CPU
 * overwrites the ring.
 * Return: number of records that were copied; 0: nothing is there.
 */
unsigned int utrace_bts_buffer_look(const struct bts_buffer *buffer,
				    struct utrace_branch *records,
				    unsigned int n, struct bts_look *look)
{
	unsigned int got;

	if (!buffer->overwrite) {
		got = bts_copy_out(buffer, buffer->read, records, n);
		*look = (struct bts_look){ .read = buffer->read + got };
		return got;
	}
	do {
		got = bts_look_once(buffer, records, n, look);
	} while (!got && READ_ONCE(buffer->tail) > look->read);
	return got;
}

/**
 * utrace_bts_buffer_take() - the reader has got what it has looked at
 * @buffer: a ring
 * @look: from utrace_bts_buffer_look()
 *
 * Context: The reader; any but NMI.
 */
void utrace_bts_buffer_take(struct bts_buffer *buffer,
			    const struct bts_look *look)
{
	u64 *overwritten = &buffer->counts[UTRACE_LOSS_OVERWRITTEN];

	buffer->read = look->read;
	buffer->owed = look->owed;
	WRITE_ONCE(*overwritten, *overwritten + look->lost);
	if (!buffer->overwrite)
		/* Pairs with bts_free(): the records were read before. */
		smp_store_release(&buffer->tail, look->read);
}

/**
 * utrace_bts_buffer_peek() - find what comes next, without a copy
 * @buffer: a continuous ring
 * @records: set to the records, which stay until utrace_bts_buffer_skip()
 * @n: number of records at most
 *
 * Context: The reader; any but NMI.
 * Return: number of records that stand there one after another; 0: nothing is
 * there.
 */
unsigned int utrace_bts_buffer_peek(const struct bts_buffer *buffer,
				    const struct utrace_branch **records,
				    unsigned int n)
{
	/* Pairs with bts_append(). */
	u64 head = smp_load_acquire(&buffer->head);
	u64 at = buffer->read & (buffer->size - 1);

	*records = buffer->records + at;
	return min_t(u64, n, min(head - buffer->read, buffer->size - at));
}

/**
 * utrace_bts_buffer_skip() - the reader has used records where they were
 * @buffer: a continuous ring
 * @n: number of records, which utrace_bts_buffer_peek() has found
 *
 * Context: The reader; any but NMI.
 */
void utrace_bts_buffer_skip(struct bts_buffer *buffer, unsigned int n)
{
	const struct bts_look look = { .read = buffer->read + n };

	utrace_bts_buffer_take(buffer, &look);
}

/**
 * utrace_bts_buffer_gaps() - the number of gaps of all causes
 * @buffer: a ring
 *
 * Context: Any.
 * Return: their number so far.
 */
u64 utrace_bts_buffer_gaps(const struct bts_buffer *buffer)
{
	return READ_ONCE(buffer->counts[UTRACE_LOSS_OFF]) +
	       READ_ONCE(buffer->counts[UTRACE_LOSS_HARDWARE]) +
	       READ_ONCE(buffer->counts[UTRACE_LOSS_EDGE]);
}
