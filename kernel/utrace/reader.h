/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process that reads a descriptor
 *
 * Tasks may be held until a process has read their records.  They are let go
 * when that process can no longer read: it has died, or has no descriptor left.
 */
#ifndef _KERNEL_UTRACE_READER_H
#define _KERNEL_UTRACE_READER_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock_types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct pid;
struct utrace_reader;

/**
 * struct utrace_reader_ops - functions of the owner of a reader
 * @began: called when another process has become the reader
 * @ended: called when no process is the reader
 * @tryget: take a reference to the owner, unless the last one is gone.  Called
 *	with the lock of a wait queue held and interrupts off
 * @put: drop that reference.  Called in process context, or as @tryget is; then
 *	it is not the last one
 * @sync: end targets whose tasks have exited, and let tasks continue for which
 *	a mapped tail has made room
 * @over: return true if no further record can be added.  Must not sleep
 * @has: return true if there is a record, even if read(2) cannot return it yet.
 *	Must not sleep
 * @ready: return true if read(2) need not wait.  The condition of wait_event(),
 *	so it must not sleep
 * @read: copy records to user memory, with @read_lock held; returns how many
 *	bytes, or an error if none
 *
 * All but @tryget, @put, @over, @has and @ready are called in process context
 * and may sleep.
 */
struct utrace_reader_ops {
	void (*began)(struct utrace_reader *reader, struct pid *process);
	void (*ended)(struct utrace_reader *reader);
	bool (*tryget)(struct utrace_reader *reader);
	void (*put)(struct utrace_reader *reader);
	void (*sync)(struct utrace_reader *reader);
	bool (*over)(struct utrace_reader *reader);
	bool (*has)(struct utrace_reader *reader);
	bool (*ready)(struct utrace_reader *reader);
	ssize_t (*read)(struct utrace_reader *reader, char __user *to,
			size_t size);
};

/**
 * struct utrace_reader - the process that reads a descriptor
 * @ops: constant
 * @lock: the owner's lock, which protects @process; constant
 * @process: the process that last read, polled, mapped or opened, counted;
 *	NULL: that process has closed the descriptor or has died.  Only compared
 *	without @lock
 * @death: in the wait queue of @process, which is woken when all its threads
 *	are dead
 * @work: ends the reading of a dead @process; has a reference by @ops while it
 *	is pending
 * @read_lock: serializes read(2); held while records are copied to user memory
 * @wait: tasks that wait for a record
 *
 * @read_lock is outside of all locks of the owner.  The lock of the wait queue
 *	of @process is inside @lock.  The waker of that queue may hold
 *	tasklist_lock, so @lock is not taken there: the work takes it.
 */
struct utrace_reader {
	const struct utrace_reader_ops *ops;
	spinlock_t *lock;	/* the owner's */
	struct pid *process;
	wait_queue_entry_t death;
	struct work_struct work;
	struct mutex read_lock;	/* serializes read(2) */
	wait_queue_head_t wait;
};

void utrace_reader_init(struct utrace_reader *reader, spinlock_t *lock,
			const struct utrace_reader_ops *ops);
void utrace_reader_start(struct utrace_reader *reader);
void utrace_reader_be(struct utrace_reader *reader, struct file *file);
void utrace_reader_flush(struct utrace_reader *reader, struct file *file,
			 fl_owner_t id);
void utrace_reader_end(struct utrace_reader *reader);
ssize_t utrace_reader_read(struct utrace_reader *reader, struct file *file,
			   char __user *to, size_t size);
__poll_t utrace_reader_poll(struct utrace_reader *reader, struct file *file,
			    struct poll_table_struct *table);
struct pid *utrace_reader_get(struct utrace_reader *reader);

#endif /* _KERNEL_UTRACE_READER_H */
