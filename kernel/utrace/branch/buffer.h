/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: a ring in memory that cannot be swapped out
 *
 * The writer may be an NMI, so it takes no locks, does not wait and wakes up
 * nobody.  One reader may read at the same time, on any CPU.
 *
 * A ring is continuous unless it overwrites.  A writer drops records that do
 * not fit in a continuous ring.
 */
#ifndef _KERNEL_UTRACE_BRANCH_BUFFER_H
#define _KERNEL_UTRACE_BRANCH_BUFFER_H

#include <linux/types.h>
#include <linux/utrace_branch.h>

/* Number of causes in enum utrace_branch_loss. */
#define BRANCH_LOSSES	(UTRACE_LOSS_EDGE + 1)

/**
 * struct branch_buffer - a ring of records
 * @records: memory of @size records; constant
 * @size: number of records, a power of 2; constant
 * @overwrite: a full ring overwrites its oldest records; constant
 * @owners: the ring overwrites and may get %UTRACE_BRANCH_TASK records, so
 *	@owner is used; constant
 * @lost: records that were dropped but not reported in the stream yet.  Used by
 *	the writer
 * @gaps: bit mask of causes of gaps that were not reported in the stream yet.
 *	Used by the writer
 * @counts: by cause, number of lost records or of gaps.  Written by the writer;
 *	readers of status use READ_ONCE().  The reader writes
 *	%UTRACE_LOSS_OVERWRITTEN, which counts what was reported
 * @head: records ever written; store-release by the writer
 * @tail: number of the oldest record that is there.  Written by the reader with
 *	store-release, if @overwrite by the writer
 * @version: odd while the writer of an overwriting ring changes @tail and
 *	@owner
 * @owner: the last %UTRACE_BRANCH_TASK before @tail; zeros if there was none
 * @read: number of the next record for the reader.  Used by the reader
 * @owed: the reader has not read @owner yet.  Used by the reader
 */
struct branch_buffer {
	struct utrace_branch *records;
	u64 size;
	bool overwrite;
	bool owners;
	u64 lost;
	u32 gaps;
	u64 counts[BRANCH_LOSSES];
	u64 head;
	u64 tail;
	u32 version;
	struct utrace_branch owner;
	u64 read;
	bool owed;
};

/**
 * struct branch_cursor - state of the reader after it takes the copied records
 * @read: branch_buffer.read afterwards
 * @owed: branch_buffer.owed afterwards
 * @lost: number of overwritten records in the copied %UTRACE_BRANCH_LOST
 */
struct branch_cursor {
	u64 read;
	bool owed;
	u64 lost;
};

/* Make a record that reports missing records. */
static inline struct utrace_branch
utrace_branch_loss_record(enum utrace_branch_type type, u64 n,
			  enum utrace_branch_loss cause)
{
	return (struct utrace_branch){ n, 0, type | (u64)cause << 8 };
}

int utrace_branch_buffer_init(struct branch_buffer *buffer,
			      struct utrace_branch *records, u64 size,
			      bool overwrite, bool owners);

/* The writer. */
void utrace_branch_buffer_write(struct branch_buffer *buffer,
				const struct utrace_branch *records,
				unsigned int n);
void utrace_branch_buffer_gap(struct branch_buffer *buffer,
			      enum utrace_branch_loss cause);
bool utrace_branch_buffer_write_losses(struct branch_buffer *buffer);
u64 utrace_branch_buffer_room(const struct branch_buffer *buffer);

static inline void utrace_branch_buffer_put(struct branch_buffer *buffer,
					    u64 from, u64 to, u64 info)
{
	const struct utrace_branch record = { from, to, info };

	utrace_branch_buffer_write(buffer, &record, 1);
}

/* The reader. */
bool utrace_branch_buffer_has(const struct branch_buffer *buffer);
unsigned int utrace_branch_buffer_copy(const struct branch_buffer *buffer,
				       struct utrace_branch *records,
				       unsigned int n,
				       struct branch_cursor *cursor);
void utrace_branch_buffer_take(struct branch_buffer *buffer,
			       const struct branch_cursor *cursor);
unsigned int utrace_branch_buffer_peek(const struct branch_buffer *buffer,
				       const struct utrace_branch **records,
				       unsigned int n);
void utrace_branch_buffer_skip(struct branch_buffer *buffer, unsigned int n);
u64 utrace_branch_buffer_gaps(const struct branch_buffer *buffer);

#endif /* _KERNEL_UTRACE_BRANCH_BUFFER_H */
